"""List of all subjects for the owner. It contains their names, so it is never part of a report."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, MutableMapping, Sequence

from unmask.core.errors import UnmaskError
from unmask.data.writing import escape_formula
from unmask.linkage.audit.judged_guess import JudgedGuess

COLUMNS = (
    "guess",
    "subject",
    "size",
    "miss",
    "include",
    "combined_error",
    "normalized_error",
    "linked_now",
    "mixed_now",
    "merges",
    "risk_slope",
    "breached",
)

CURVES = "-curves"
"""Suffix of the file of curves."""


def list_subjects(guesses: Sequence[JudgedGuess], texts: MutableMapping[str, str]) -> None:
    """Add the list of subjects and their curves as CSV texts.

    Parameters
    ----------
    guesses : sequence of JudgedGuess
        Guesses with items in memory, so subjects have labels.
    texts : mapping
        Suffix of a file -> its text.
    """
    if any(guess.sensitivity.unlabeled == "unknown" for guess in guesses):
        raise UnmaskError("a list of subjects needs decided items; choose --unlabeled foreign or drop")
    texts[""] = _format_csv([COLUMNS, *(row for guess in guesses for row in _describe_subjects(guess))])
    texts[CURVES] = _format_csv(
        [("guess", "subject", "merges", "linked", "mixed"), *(row for guess in guesses for row in _trace_curves(guess))]
    )


def _describe_subjects(guess: JudgedGuess) -> Iterator[Sequence[object]]:
    """Yield the values of each subject in column order."""
    measured = guess.unlinkability
    start = measured.steps.start
    values = zip(
        measured.size.tolist(),
        measured.miss.tolist(),
        measured.include.tolist(),
        *(errors.tolist() for errors in measured.errors.values()),
        measured.linked_now.tolist(),
        measured.steps.mixed[start].tolist(),
        measured.merges.tolist(),
        measured.risk_slope.tolist(),
        measured.breached.astype(int).tolist(),
        strict=True,
    )
    for subject, row in zip(_label_subjects(guess), values, strict=True):
        yield (escape_formula(guess.name), subject, *map(_format_value, row))


def _trace_curves(guess: JudgedGuess) -> Iterator[Sequence[object]]:
    """Yield the linked and mixed shares of each subject after each merge."""
    steps, labels = guess.unlinkability.steps, _label_subjects(guess)
    points = (steps.subject.tolist(), steps.rank.tolist(), steps.linked.tolist(), steps.mixed.tolist())
    for subject, merges, linked, mixed in zip(*points, strict=True):
        yield escape_formula(guess.name), labels[subject], merges, _format_value(linked), _format_value(mixed)


def _label_subjects(guess: JudgedGuess) -> list[str]:
    return [escape_formula(str(label)) for label in guess.contingency.subjects.tolist()]


def _format_value(value: float) -> str:
    return f"{value:.12g}"


def _format_csv(rows: Iterable[Sequence[object]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()
