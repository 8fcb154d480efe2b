"""Every adversary by every measure: the table, and the notes without which it cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unmask.reports.data import ReportData, Scope
from unmask.reports.sections import Grid
from unmask.reports.words import (
    ADOPTERS,
    FAILURES,
    estimate,
    gain,
    letter,
    measure_line,
    needs_truth,
    quantity,
    row_estimate,
    what,
)
from unmask.results import Row

LEADING = frozenset(
    {
        "success",
        "error",
        "effective_set_size",
        "information_gain_bits",
        "total_variation",
        "calibration_error",
        "precision",
        "false_positives",
        "error_hops",
        "coverage",
        "adopter_recall",
        "disclosure",
        "exposed",
    }
)
"""Quantities that every reader sees; those that look at the same belief in other ways are folded away."""


def measure_tables(data: ReportData, scope: Scope) -> tuple[list[Grid], list[Grid]]:
    """Tables for each target, of the leading measures and of the others; of all of them if none is leading.

    Measures are groups, releases and adversaries rows, and both kinds of value are columns.
    """
    leading = LEADING | {quantity(measure) for measure in data.success}
    stems = dict.fromkeys(quantity(row.measure) for row in data.rows)
    first = [stem for stem in stems if stem in leading] or list(stems)
    others = [stem for stem in stems if stem not in first]
    return _tables(data, scope, first), _tables(data, scope, others)


def _tables(data: ReportData, scope: Scope, stems: Sequence[str]) -> list[Grid]:
    found: dict[tuple[str, str, str, str], dict[bool, Row]] = {}
    for row in data.rows:
        found.setdefault((row.target, quantity(row.measure), row.release, row.adversary), {})[
            needs_truth(row.measure)
        ] = row
    head = (*scope.who_head, "Prior", "Self-assessed", "Realized", "Gain", "Worst-off", "n")
    tables = []
    for target in scope.targets:
        groups = []
        for stem in stems:
            own = {key[2:]: rows for key, rows in found.items() if key[:2] == (target, stem)}
            if own:
                row = next(iter(next(iter(own.values())).values()))
                groups.append((measure_line(stem, row), _measure_rows(own, data, scope, target)))
        if groups:
            attacking = {row.adversary for row in data.rows if row.target == target}
            groups.append(("", _idle([name for name in scope.adversaries if name not in attacking], scope)))
            tables.append(Grid(head, tuple(groups), text=len(scope.who_head), caption=what(target).split(":")[0]))
    return tables


def _measure_rows(
    found: Mapping[tuple[str, str], Mapping[bool, Row]], data: ReportData, scope: Scope, target: str
) -> tuple[tuple[str, ...], ...]:
    """The rows of one measure; an adversary for whom it was run on no release has one row.

    Who does not attack the target at all has none here, but one for the whole table; a release without adopters has
    none of them.
    """
    measured = {adversary for _, adversary in found}
    attacking = {row.adversary for row in data.rows if row.target == target}
    cells = [
        (*scope.who(release, adversary), *_measure_cells(found.get((release, adversary), {})))
        for release in scope.releases
        for adversary in scope.adversaries
        if adversary in measured and (target != ADOPTERS or (release, adversary) in found)
    ]
    return (*cells, *_idle([name for name in scope.adversaries if name in attacking - measured], scope))


def _idle(adversaries: Sequence[str], scope: Scope) -> tuple[tuple[str, ...], ...]:
    return tuple((*scope.who("any release", name), *_measure_cells({})) for name in adversaries)


def _measure_cells(rows: Mapping[bool, Row]) -> tuple[str, ...]:
    """Prior, self-assessed, realized, gain, worst-off and n of one measure; worst-off by the adversary's own belief."""
    if not rows:
        return ("not run", "", "", "", "", "")
    own, real = rows.get(False), rows.get(True)
    lead = next((row for row in (real, own) if row is not None and row.status not in FAILURES), None)
    if lead is None:
        return (next(iter(rows.values())).status, "", "", "", "", "")
    worst = own if own is not None and own.status not in FAILURES else lead
    return (
        estimate(lead.prior, lead.unit),
        _cell(own),
        _cell(real) + (" \u2020" if _disagree(own, real) else ""),
        gain(lead),
        estimate(worst.worst, worst.unit),
        " / ".join(
            dict.fromkeys(f"{row.n:,}" for row in (own, real) if row is not None and row.status not in FAILURES)
        ),
    )


def _cell(row: Row | None) -> str:
    if row is None:
        return "\u2013"
    return row.status if row.status in FAILURES else row_estimate(row)


def _disagree(own: Row | None, real: Row | None) -> bool:
    """What the adversary expects is refuted by what came true."""
    return own is not None and real is not None and own.status == "refuted"


BOUNDS = "least and most"
"""How `Row.interval` begins where its ends are no interval but all that is known."""


def measure_notes(data: ReportData, scope: Scope, tables: Sequence[Grid]) -> list[str]:
    """What a reader of the table must know: which intervals, which beliefs, what marks and words mean."""
    kinds = dict.fromkeys(row.interval for row in data.rows if row.low is not None)
    drawn = [kind for kind in kinds if not kind.startswith(BOUNDS)]
    notes = [f"Brackets are 95 % intervals over {'; '.join(drawn)}."] if drawn else []
    notes += [f"Brackets are the {kind}." for kind in kinds if kind.startswith(BOUNDS)]
    bare = dict.fromkeys(row.interval for row in data.rows if row.low is None and row.status not in FAILURES)
    if bare:
        why = "; ".join(over.removeprefix("none: ") for over in bare if over != "none")
        notes.append("A value without brackets has no interval" + (f": {why}." if why else "."))
    notes.append("Worst-off is the person for whom the adversary does best.")
    cells = [cell for table in tables for _, rows in table.groups for row in rows for cell in row]
    if any("\u2020" in cell for cell in cells):
        notes.append("\u2020 The truth refutes what the adversary expects: the belief has lost its status.")
    if any(" / " in row[-1] for table in tables for _, rows in table.groups for row in rows):
        notes.append("n: people behind the self-assessed / behind the realized value.")
    if any("unbounded" in cell for cell in cells):
        notes.append(
            "unbounded: the release rules something out, or confirms it, with certainty; no finite number bounds that."
        )
    beliefs = dict.fromkeys((row.adversary, row.status) for row in data.rows if row.status not in FAILURES)
    if any(status != "exact" for _, status in beliefs):
        said = (
            f"{letter(scope.styles[name])} {status}" if len(scope.adversaries) > 1 else status
            for name, status in beliefs
        )
        notes.append(f"Kind of belief: {', '.join(said)}.")
    notes += dict.fromkeys(
        f"{row.release}, {row.measure}: {row.note}" for row in data.rows if row.note and row.status in FAILURES
    )
    return notes + list(dict.fromkeys(row.note for row in data.rows if row.note and row.status not in FAILURES))
