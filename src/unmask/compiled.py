"""Loops, compiled. Import this where a loop is needed: numba takes half a second.

What a loop calls is compiled, too, for each type of its arguments anew: hand over the arrays that are needed, not all.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., object])

numba: Any = importlib.import_module("numba")  # it has no types


def compiled(function: Function) -> Function:
    """The function, compiled when it is first called; kept on disk for the next time where a folder is writable."""
    try:
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # "no locator available": neither this folder nor the home can be written to
        return cast(Function, numba.njit(nogil=True)(function))


@compiled
def copy_into(place: NDArray[Any], values: NDArray[Any]) -> None:
    """Write values to the front of a row. `place[:] = values` says the same, but takes four seconds to compile."""
    for i in range(len(values)):
        place[i] = values[i]
