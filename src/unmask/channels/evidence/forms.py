"""Recognition of the form of a file of evidence: first by the names of its columns, then by its shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.data.event_logs import Lines, check_widths, is_number, standardize_names

Form = Literal["channel", "counts", "samples", "traces", "rounds", "messages"]
"""Form of a file: probabilities, counts of runs, runs, places over time, rounds of a mix, or messages of a mix."""

Evidence = Literal["auto", "channel", "counts", "samples", "traces", "rounds", "messages"]
"""Form of a file, or "auto" to recognize it."""

COLUMNS: Mapping[Form, tuple[str, ...]] = {
    "messages": ("sender", "receiver", "entered", "left"),
    "rounds": ("round", "sender", "receiver"),
    "traces": ("user", "time", "place"),
    "counts": ("secret", "output", "count"),
    "samples": ("secret", "output"),
}
"""Columns of each form that is a list of lines, the form with most columns first."""

CHECK_INS = ("user", "time", "lat", "lon")
"""Columns of check-ins."""

COUNT_NAMES = ("count", "counts", "n", "freq", "frequency", "runs")
"""Names of a column that counts the runs of a secret and an output."""

SECRET_NAMES = ("secret", "secrets", "input", "x", "name", "id")
"""Headers of the column of secret names, in addition to an empty cell."""

MAX_ROUNDING = 1e-3
"""Difference between 1 and the sum of rounded probabilities."""

PERCENT = 100
"""Sum of percentages."""

MATRIX_OR_LIST = (
    "expected a channel (an empty first cell, outputs in columns, secrets in lines) or samples (a first line "
    "secret,output)"
)


def recognize_form(path: Path, lines: Lines) -> Form:
    """Return the form of a file.

    Parameters
    ----------
    path : path
        File, for errors.
    lines : sequence of (int, list of str)
        Its lines, see `read_lines`.

    Raises
    ------
    UnmaskError
        If no form fits, or several: the sentence names the two most likely ones.

    Examples
    --------
    >>> recognize_form(Path("a.csv"), [(1, ["Output", "Secret"]), (2, ["0", "a"])])
    'samples'
    >>> recognize_form(Path("a.csv"), [(1, ["", "y0", "y1"]), (2, ["a", "8", "2"]), (3, ["b", "3", "7"])])
    'counts'
    """
    if len(lines) < 2:
        raise UnmaskError(f"{path.name} has no numbers below a line of names; {MATRIX_OR_LIST}")
    head = standardize_names(lines[0][1])
    if is_check_ins(lines) and "place" not in head:
        raise UnmaskError(
            f"{path.name} has check-ins with coordinates, and traces have a column place; add one with the cell of a "
            'grid, or study noise on the coordinates with a document (see "A location study" in the page on channels)'
        )
    form = next((kind for kind, names in COLUMNS.items() if set(names) <= set(head)), None)
    if form is not None:
        return form
    names = [line[0].strip() for _, line in lines[1:]]
    if is_list(head) and len(set(names)) < len(names):
        return "counts" if len(head) > 2 else "samples"
    return _recognize_matrix(path, lines, head[0], names)


def is_check_ins(lines: Lines) -> bool:
    """Return whether a file has check-ins: columns user, time, lat and lon."""
    return bool(lines) and set(CHECK_INS) <= set(standardize_names(lines[0][1]))


def is_list(head: Sequence[str]) -> bool:
    """Return whether columns of other names may be secret, output and perhaps count."""
    return bool(head[0]) and (len(head) == 2 or (len(head) == 3 and head[2] in COUNT_NAMES))


def _recognize_matrix(path: Path, lines: Lines, corner: str, names: Sequence[str]) -> Form:
    check_widths(path, lines)
    if is_number(corner):
        raise UnmaskError(
            f"the first line of {path.name} is numbers; begin the first line with an empty cell and output names, "
            "or write samples below secret,output"
        )
    check_secrets(path, names)
    for number, line in lines[1:]:
        if not all(map(is_number, line[1:])):
            raise UnmaskError(f"line {number} of {path.name} has a cell that is not a number; {MATRIX_OR_LIST}")
        if not all(0 <= float(cell) < np.inf for cell in line[1:]):
            raise UnmaskError(
                f"line {number} of {path.name} has a cell that is negative or not finite; expected probabilities, or "
                "counts, from 0 on"
            )
    table = np.array([line[1:] for _, line in lines[1:]], dtype=np.float64)
    total = table.sum(axis=1)
    if np.abs(total - 1).max() <= MAX_ROUNDING + 1e-9:
        return "channel"
    is_whole, is_percent = (
        np.array_equal(table, np.floor(table)),
        np.abs(total - PERCENT).max() <= PERCENT * MAX_ROUNDING,
    )
    if is_percent and is_whole:
        raise UnmaskError(
            f"the lines of {path.name} sum to {PERCENT}: counts or percentages; add evidence='counts', or divide "
            "percentages by 100"
        )
    return "counts" if is_whole else "channel"  # whose reader explains sums that are not 1


def check_secrets(path: Path, names: Sequence[str]) -> None:
    """Raise an error for a name of a secret that occurs twice."""
    if len(set(names)) < len(names):
        number = next(i for i, name in enumerate(names, 1) if name in names[: i - 1])
        raise UnmaskError(
            f"the secret of line {number + 1} of {path.name} occurs twice; give each secret once for a channel or "
            "counts, or lines secret,output for samples"
        )
