"""Gates of a pipeline: what an audit found that breaks a condition."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from unmask.errors import UnmaskError, nearest
from unmask.measures.registry import CRITERIA, MEASURES, described
from unmask.reports.data import APART, ORIGINAL, ReportData
from unmask.results import Row
from unmask.studies.conditions import FIELDS, Condition

CRITERION = "criterion"
"""What stands before the name of a criterion where a measure has the same."""


def gate_of(text: str) -> Condition:
    """From text; a plain share is one of people re-identified."""
    try:
        share = float(text)
    except ValueError:
        return Condition.parse(text)
    if not 0 <= share <= 1:
        raise UnmaskError(f"{text} is no share from 0 to 1")
    return Condition("success_probability", ">", share, whom="identity")


@dataclass(frozen=True)
class Criterion:
    """A criterion of a release in the place of a measure; nan where it was not run."""

    release: str
    measure: str
    posterior: float
    adversary: str = CRITERION
    target: str = ""


Item = TypeVar("Item", Row, Criterion)


def broken_gates(found: ReportData, gates: tuple[Condition, ...]) -> list[str]:
    """A line for every gate that a release breaks; the table before protection is no release.

    A gate about nothing that the audit has is an error. What it is about and is not known, because it is undefined or
    its adversary failed on the release, breaks it: what is not known is not safe.
    """
    rows = [row for row in found.rows if row.release != ORIGINAL]
    criteria = list(_criteria(found))
    return [line for gate in gates for line in _broken(_meant(gate, rows, criteria), rows, criteria)]


def _criteria(found: ReportData) -> Iterator[Criterion]:
    """The criteria that are numbers in some release, in every release, and those of the subjects."""
    own = {name: values for name, values in found.criteria.items() if name != ORIGINAL}
    numbers = {name for values in own.values() for name, value in values.items() if isinstance(value, int | float)}
    for release, values in own.items():
        for name in (name for name in values if name in numbers):
            value = values[name]
            yield Criterion(release, name, float(value) if isinstance(value, int | float) else math.nan)
    for one in found.subjects:
        yield from (Criterion(*told) for told in one.criteria())


def _meant(gate: Condition, rows: Sequence[Row], criteria: Sequence[Criterion]) -> Condition:
    """The gate, its names resolved; an error where there is nothing that it could be about, or two things."""
    try:
        meant = gate.named([*rows, *criteria])
    except UnmaskError as error:
        raise UnmaskError(f"--fail-above {gate}: {error} ({_known(rows, criteria)})") from None
    of_rows, of_criteria = bool(_asked(meant, rows)), bool(_asked(meant, criteria))
    if not of_rows and not of_criteria:
        raise UnmaskError(f"--fail-above {gate}: nobody took this measure{_words(gate)} ({_known(rows, criteria)})")
    if of_rows and of_criteria:
        raise UnmaskError(
            f"--fail-above {gate}: {gate.measure} is a measure and a criterion; write ADVERSARY:{gate.measure} or "
            f"{CRITERION}:{gate.measure}"
        )
    if of_criteria and gate.field is not None:
        raise UnmaskError(f"--fail-above {gate}: a criterion is one number; leave .{gate.field} out")
    return meant


def _words(gate: Condition) -> str:
    """What the measure of a gate is, if it is one, or the one whose name is nearest."""
    known = described(gate.measure) or CRITERIA.get(gate.measure)
    hint = nearest(gate.measure, [*MEASURES, *CRITERIA])
    return f", {known.meaning}" if known else f"; {hint}" if hint.startswith("did") else ""


def _known(rows: Sequence[Row], criteria: Sequence[Criterion]) -> str:
    """What a gate of this audit may be about."""
    there: dict[str, Sequence[str]] = {
        "the measures": [row.measure for row in rows],
        "each with the fields": FIELDS,
        "the adversaries": [row.adversary for row in rows],
        "the targets": [row.target for row in rows],
        "the criteria": [one.measure for one in criteria],
    }
    listed = (f"{what} {', '.join(dict.fromkeys(names))}" for what, names in there.items() if names)
    return f"the audit has {'; '.join(listed)}"


def _broken(gate: Condition, rows: Sequence[Row], criteria: Sequence[Criterion]) -> Iterator[str]:
    """A line for everything that breaks a gate."""
    asked: list[Row | Criterion] = [*_asked(gate, rows), *_asked(gate, criteria)]
    for item in asked:
        value = gate.value(item)
        if math.isnan(value):
            yield f"{_spoken(gate, item)} is not known, and what is not known is not safe ({gate})"
        elif gate.holds(value):
            yield f"{_spoken(gate, item)} is {value:.6g} ({gate})"
    for release, adversary in _without_result(rows, {row.adversary for row in _asked(gate, rows)}):
        yield f"{release}: {adversary} has no result, and what is not known is not safe ({gate})"


def _asked(gate: Condition, items: Sequence[Item]) -> list[Item]:
    """What a gate is about; adversaries who know what others are to learn are asked about where they are named."""
    return [item for item in items if gate.about(item) and (gate.adversary or item.adversary not in APART)]


def _spoken(gate: Condition, item: Row | Criterion) -> str:
    if isinstance(item, Criterion):
        return f"{item.release}: {item.measure}"
    return f"{item.release}: {item.adversary}, {item.target}: {item.measure}.{gate.field or 'posterior'}"


def _without_result(rows: Sequence[Row], adversaries: set[str]) -> list[tuple[str, str]]:
    """Releases, and who of these adversaries failed on them."""
    attacked = {(row.release, row.adversary) for row in rows}
    return sorted({(release, adversary) for release, _ in attacked for adversary in adversaries} - attacked)
