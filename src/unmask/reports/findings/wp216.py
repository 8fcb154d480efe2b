"""Findings of singling out and of linkability: what holds of people in the table, and what of control people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.reports.facts.wp216 import BOX, PARTS, SINGLING, WORDS
from unmask.reports.words import points, row_estimate
from unmask.results import Row
from unmask.results.formats import percent
from unmask.results.words import release_name


def asked(rows: Sequence[Row]) -> Iterator[str]:
    """A sentence about the guesses of which it is surest that the release helps, one about boxes, one about parts.

    Each is about the release for which that is most.
    """
    several, rows = len({row.release for row in rows}) > 1, [row for row in rows if row.target in (SINGLING, PARTS)]
    boxes, guesses = ([row for row in rows if _singled(row, box=box)] for box in (True, False))
    linked = [row for row in rows if row.measure == "parts_linked"]
    for found, said in ((guesses, _guessed), (boxes, _in_boxes), (linked, _linked)):
        if found:
            row = max(found, key=_surely)
            whole = next((one for one in rows if one.measure == "singled_out" and _same(one, row)), row)
            where = f"From {release_name(row.release)}, an" if several else "An"
            yield said(where, row, whole)


def _singled(row: Row, *, box: bool) -> bool:
    return row.measure == "singled_out_of_as_many" and (row.adversary == BOX) == box


def _same(one: Row, other: Row) -> bool:
    return (one.release, one.adversary) == (other.release, other.adversary)


def _surely(row: Row) -> tuple[float, float]:
    return -1.0 if row.excess_low is None else row.excess_low, row.posterior


def _guessed(where: str, row: Row, whole: Row) -> str:
    assert row.control is not None
    return (
        f"{where} adversary who {WORDS[row.adversary]} is right with {row_estimate(whole)} of {row.n:,} guesses. "
        f"{of_as_many(percent(row.posterior))}, and {percent(row.control)} a control person: {added(row)}."
    )


def of_as_many(right: str) -> str:
    """The share of guesses that are right of as many people as there are control people, said of the guesses."""
    people = "Asked of as many people in the table as there are control people"
    return f"{people}, {right} of the guesses single out one of them"


def _in_boxes(where: str, row: Row, _: Row) -> str:
    assert row.control is not None
    return (
        f"{where} adversary who {WORDS[row.adversary]} is right for {row_estimate(row)} of {row.n:,} classes, and for "
        f"{percent(row.control)} with control people: {added(row)}."
    )


def _linked(where: str, row: Row, _: Row) -> str:
    said = (
        f"{where} adversary who {WORDS[row.adversary]} is right about {row_estimate(row)} of {row.n:,} people; "
        f"guessing gives {percent(row.prior)}"
    )
    return f"{said}." if row.control is None else f"{said}, and control people {percent(row.control)}: {added(row)}."


def added(row: Row) -> str:
    """What being in the table costs, where its interval shows that it costs anything."""
    if (row.excess_low or 0) > 0:
        return f"being in the table costs {points(row)}"
    return f"nothing shows that being in the table costs ({points(row)})"
