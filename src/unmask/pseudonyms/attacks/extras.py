"""Libraries that only some attacks need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from unmask.errors import FailedError


def extra(module: str, name: str) -> Any:
    """The module of an optional library, imported when it is used.

    >>> extra("no_such_library", "cluster")
    Traceback (most recent call last):
    unmask.errors.FailedError: no_such_library is not installed; install the extra [cluster] of unmask
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise  # the library is there, something it needs is not
        raise FailedError(f"{library} is not installed; install the extra [{name}] of unmask") from None
