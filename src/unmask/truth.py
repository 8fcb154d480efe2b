"""What is true of each target: drawn by `knowledge`, met by a belief only in `unmask.audit`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import UnmaskError

UNKNOWN = -1
"""The true candidate of a target is not known; the target takes no part in realized measures."""

ABSENT = -2
"""The target is not among the candidates at all (he is not in the release)."""


@dataclass(frozen=True, eq=False)
class Truth:
    """The true candidate of each target.

    candidate : (n_targets,) int64; a candidate number, `ABSENT`, or `UNKNOWN`.

    >>> Truth([0, 2, ABSENT]).candidate
    array([ 0,  2, -2])
    """

    candidate: NDArray[np.int64]

    def __init__(self, candidate: ArrayLike) -> None:
        array = np.asarray(candidate)
        if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
            raise UnmaskError(
                f"the truth has shape {array.shape} and type {array.dtype}, expected one integer for each target"
            )
        array = array.astype(np.int64)
        if array.size and array.min() < ABSENT:
            raise UnmaskError(
                f"target {int(array.argmin())} has a true candidate below {ABSENT}; "
                f"use ABSENT ({ABSENT}) or UNKNOWN ({UNKNOWN})"
            )
        array.setflags(write=False)
        object.__setattr__(self, "candidate", array)

    def __len__(self) -> int:
        return len(self.candidate)
