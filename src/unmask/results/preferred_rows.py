"""Rows that findings mention: for each release, adversary and target the preferred measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from unmask.results.formats import SHARES
from unmask.results.names import NO_ATTACK
from unmask.results.rows import Row

R = TypeVar("R", bound=Row)

PreferredRows = Mapping[tuple[str, str, str], R]
"""(release, adversary, target) -> the row that findings mention."""

RATIONAL: Final = ("realized_rational_success", "rational_success")
"""Success of an adversary who tries as many candidates as pay."""

SUCCESS: Final = (*RATIONAL, "realized_success", "recall", "success_probability", "breached", "linked_now")
"""Measures of success, the preferred one first: rational before one guess, realized before expected."""

ERRORS: Final = ("realized_error", "estimation_error")
"""Measures of error, for a graded loss or if no success was measured."""


def preferred_rows(rows: Iterable[R], measures: Sequence[str] = SUCCESS) -> dict[tuple[str, str, str], R]:
    """Return (release, adversary, target) -> the row of the first of these measures that was computed.

    >>> preferred_rows([])
    {}
    """
    preferred: dict[tuple[str, str, str], R] = {}
    for row in rows:
        if row.measure in measures and row.target != NO_ATTACK:
            key = (row.release, row.adversary, row.target)
            if key not in preferred or measures.index(row.measure) < measures.index(preferred[key].measure):
                preferred[key] = row
    return preferred


def mentioned_rows(rows: Sequence[R]) -> dict[tuple[str, str, str], R]:
    """Return (release, adversary, target) -> the row that findings of a study mention: success or error.

    It is an error for an adversary with a graded loss, and for all adversaries if no success was measured.
    """
    graded = {(row.adversary, row.target) for row in rows if row.measure in ERRORS and row.unit not in SHARES}
    by_error = preferred_rows((row for row in rows if (row.adversary, row.target) in graded), ERRORS)
    by_success = preferred_rows(row for row in rows if (row.adversary, row.target) not in graded)
    return {**by_success, **by_error} or preferred_rows(rows, ERRORS)
