"""Every adversary by every measure: the table, and the notes without which it cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from unmask.findings.row_words import KINDS_OF_VALUE, format_target, gain, measure_line, points, row_estimate
from unmask.measures.rates import ERROR_RATES, RATES, coverage
from unmask.measures.registry import needs_truth, quantity
from unmask.render.page_parts import Fold, Grid, Section, folded, lead, notes, parts
from unmask.results import Row, StudyRow
from unmask.results.formats import estimate
from unmask.results.names import ADOPTERS, FAILURES, LINKAGE, MEMBERSHIP, RARE
from unmask.results.rows import BOUNDS
from unmask.results.scope import Scope
from unmask.results.words import join_names, plural

LEADING = frozenset(
    {
        "success_probability",
        "estimation_error",
        "expected_gain",
        "reduction_bound",
        "regret_bound",
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
"""Quantities that are not folded away."""


COUNTED = frozenset({*(measure.name for measure in RATES), coverage.name, "error_hops", "adopter_recall", "disclosure"})
"""Quantities that count the matches of an attack, without its beliefs."""

NO_VALUE = "\u2013"

SOME_RELEASES = (ADOPTERS, MEMBERSHIP, RARE)
"""Targets of attacks on some releases only, which have no lines for the others."""

LINKED = (
    "The prior of linkage is the value of clusters of the same sizes with shuffled labels. Values are averages over "
    "subjects. "
)

LEADERS = "Success, error, bits and calibration, by adversary and target"

OTHERS = "The other measures: the same beliefs, seen in other ways"

COLUMNS = ("Prior", "Expected", "Realized", "Gain", "Most exposed", "n")

CONTROL = ("Control group", "Added", "Best on control")
"""Columns of what the same attack reaches on the control group, after the realized value."""


def measures_section(scope: Scope) -> Section:
    """Return every adversary by every measure."""
    leading, other_measures = measure_tables(scope)
    explanations = notes(map(scope.replace_people, measure_notes(scope, [*leading, *other_measures])))
    introduction = lead(LINKED + KINDS_OF_VALUE if LINKAGE in scope.targets else KINDS_OF_VALUE)
    content = parts(introduction, folded(LEADERS, leading), Fold(OTHERS, tuple(other_measures)), explanations)
    return Section("measures", "Every adversary by every measure", content, measures_finding(scope))


def measures_finding(scope: Scope) -> str:
    """Return the adversaries whose predictions the truth refutes; otherwise, the number of adversaries and measures."""
    rows = [row for row in scope.result.rows if row.status not in FAILURES]
    refuted = list(dict.fromkeys(row.adversary for row in rows if row.status == "refuted"))
    if refuted:
        return f"The truth refutes the {'belief' if len(refuted) == 1 else 'beliefs'} of {join_names(refuted)}."
    predicted = _attacks((row for row in rows if row.status != "scores"), "success_probability")
    unrefuted = " No belief is refuted."
    is_checked = bool(predicted & _attacks(rows, "realized_success"))
    n_measures = plural(len({row.measure for row in rows}), "measure")
    adversaries = plural(len(scope.adversaries), "adversary", "adversaries")
    return f"{adversaries} and {n_measures}.{unrefuted if is_checked else ''}"


def _attacks(rows: Iterable[Row], measure: str) -> set[tuple[str, str, str]]:
    return {(row.release, row.adversary, row.target) for row in rows if row.measure == measure}


def measure_tables(scope: Scope) -> tuple[list[Grid], list[Grid]]:
    """Return tables of the leading measures and of the other measures, for each target.

    Measures are groups, releases and adversaries rows, and both kinds of value are columns.
    """
    leading = LEADING | {quantity(measure) for measure in scope.result.preferred_measures}
    stems = dict.fromkeys(quantity(row.measure) for row in scope.result.rows)
    first = [stem for stem in stems if stem in leading] or list(stems)
    remaining = [stem for stem in stems if stem not in first]
    return measure_grids(scope, scope.targets, first), measure_grids(scope, scope.targets, remaining)


def paired(rows: Iterable[Row]) -> dict[str, dict[tuple[str, str], dict[bool, Row]]]:
    """Return for each quantity, by release and adversary, the rows of both kinds, in the order of rows."""
    lines_by_quantity: dict[str, dict[tuple[str, str], dict[bool, Row]]] = {}
    for row in rows:
        lines = lines_by_quantity.setdefault(quantity(row.measure), {})
        lines.setdefault((row.release, row.adversary), {})[needs_truth(row.measure)] = row
    return lines_by_quantity


def measure_grids(scope: Scope, targets: Iterable[str], stems: Sequence[str] | None = None) -> list[Grid]:
    """Return a table for each target, of these quantities; of all by default."""
    tables = []
    for target in targets:
        target_rows = [row for row in scope.result.rows if row.target == target]
        lines_by_quantity, attacking = paired(target_rows), {row.adversary for row in target_rows}
        groups = [
            (
                measure_line(stem, next(iter(next(iter(lines_by_quantity[stem].values())).values()))),
                _measure_rows(lines_by_quantity[stem], scope, attacking, every=target not in SOME_RELEASES),
            )
            for stem in (lines_by_quantity if stems is None else stems)
            if stem in lines_by_quantity
        ]
        if groups:
            if stems is None:  # inside a block: only what was measured
                groups = [(line, tuple(row for row in rows if "not run" not in row)) for line, rows in groups]
            else:
                groups.append(("", _idle([name for name in scope.adversaries if name not in attacking], scope)))
            head, caption = (*scope.row_label_heads, *COLUMNS[:3], *CONTROL, *COLUMNS[3:]), format_target(target)
            caption = "Membership of the rarest people" if target == RARE else caption.split(":")[0]
            tables.append(_without_control(Grid(head, tuple(groups), text=len(scope.row_label_heads), caption=caption)))
    return tables


def _without_control(grid: Grid) -> Grid:
    """Return a table without the columns about the control group if these are empty."""
    start = grid.text + 3
    end = start + len(CONTROL)
    if any(cell for _, rows in grid.groups for row in rows for cell in row[start:end]):
        return grid
    groups = tuple((line, tuple((*row[:start], *row[end:]) for row in rows)) for line, rows in grid.groups)
    return replace(grid, head=(*grid.head[:start], *grid.head[end:]), groups=groups)


def _measure_rows(
    pairs: Mapping[tuple[str, str], Pair], scope: Scope, attacking: Set[str], *, every: bool
) -> tuple[tuple[str, ...], ...]:
    """Return the rows of one measure; one row for an adversary without the measure on any release.

    Who does not attack the target at all has none here, but one for the whole table.

    every : whether a release without the measure has a row; one without adopters has none of them
    """
    measured = {adversary for _, adversary in pairs}
    cells = [
        (*scope.row_labels(release, adversary), *_cells(pairs.get((release, adversary), {})))
        for release in scope.releases
        for adversary in scope.adversaries
        if adversary in measured and (every or (release, adversary) in pairs)
    ]
    return (*cells, *_idle([name for name in scope.adversaries if name in attacking - measured], scope))


def _idle(adversaries: Sequence[str], scope: Scope) -> tuple[tuple[str, ...], ...]:
    return tuple((*scope.row_labels("any release", name), *_cells({})) for name in adversaries)


Pair = Mapping[bool, Row]
"""The expected (False) and the realized (True) row of one measure."""


def measure_cells(pair: Pair) -> tuple[str, ...]:
    """Return prior, expected, realized, gain, n, and the most exposed person by the adversary's belief."""
    expected, real = pair.get(False), pair.get(True)
    evaluated = [row for row in (real, expected) if row is not None]
    if not evaluated:
        return ("not run", *("",) * 5)
    valid = [row for row in evaluated if row.status not in FAILURES]
    if not valid:
        return (evaluated[-1].status, *("",) * 5)
    lead, worst = valid[0], valid[-1]
    refuted = " \u2020" if expected is not None and real is not None and expected.status == "refuted" else ""
    return (
        estimate(lead.prior, lead.unit),
        _cell(expected),
        _cell(real) + refuted,
        NO_VALUE if lead.measure in ERROR_RATES else gain(lead),
        estimate(worst.worst, worst.unit),
        " / ".join(dict.fromkeys(map(_count, reversed(valid)))),
    )


def _count(row: Row) -> str:
    """Return the number of targets; of a study with the number of seeds."""
    return f"{row.n:,} \u00d7 {row.seeds:,}" if isinstance(row, StudyRow) else f"{row.n:,}"


def _cells(pair: Pair) -> tuple[str, ...]:
    """Return the cells of a measure, with those about the control group after the realized value."""
    cells, row = measure_cells(pair), pair.get(True)
    if row is None or row.control is None:
        return (*cells[:3], *("",) * len(CONTROL), *cells[3:])
    baseline = "" if row.baseline is None else estimate(row.baseline, row.unit)
    return (
        *cells[:3],
        estimate(row.control, row.unit),
        "" if row.excess is None else points(row),
        baseline,
        *cells[3:],
    )


def _cell(row: Row | None) -> str:
    if row is None:
        return NO_VALUE
    return row.status if row.status in FAILURES else row_estimate(row)


def measure_notes(scope: Scope, tables: Sequence[Grid]) -> list[str]:
    """Return the notes of the table: intervals, kinds of belief, marks and words."""
    result = scope.result
    kinds = dict.fromkeys(row.interval for row in result.rows if row.low is not None)
    drawn = [kind for kind in kinds if not kind.startswith(BOUNDS)]
    notes = [f"Brackets are 95 % intervals over {'; '.join(drawn)}."] if drawn else []
    notes += [f"Brackets are the {kind}." for kind in kinds if kind.startswith(BOUNDS)]
    bare = dict.fromkeys(row.interval for row in result.rows if row.low is None and row.status not in FAILURES)
    if bare:
        reasons = "; ".join(over.removeprefix("none: ") for over in bare if over != "none")
        notes.append("A value without brackets has no interval" + (f": {reasons}." if reasons else "."))
    notes.append("Most exposed: the value for the person with the highest success of the adversary.")
    cells = [cell for table in tables for _, rows in table.groups for row in rows for cell in row]
    if any("\u2020" in cell for cell in cells):
        notes.append("\u2020 The truth refutes the belief, which has lost its status.")
    if any(" / " in row[-1] for table in tables for _, rows in table.groups for row in rows):
        notes.append("n: people behind the expected / behind the realized value.")
    if any("unbounded" in cell for cell in cells):
        notes.append("unbounded: the release proves or excludes something with certainty.")
    rows = [row for row in result.rows if row.status not in FAILURES]
    kind = _by_adversary(scope, ((row.adversary, row.status) for row in rows if row.measure not in COUNTED))
    if kind.keys() - {"exact"}:
        kinds_of_belief = (f"{text} ({names})" if names else text for text, names in kind.items())
        notes.append(f"Kind of belief: {'; '.join(kinds_of_belief)}.")
    notes += dict.fromkeys(
        f"{row.release}, {row.measure}: {row.note}" for row in result.rows if row.note and row.status in FAILURES
    )
    notes_by_text = _by_adversary(scope, ((row.adversary, row.note) for row in rows if row.note))
    return notes + [f"{names}: {text}" if names else text for text, names in notes_by_text.items()]


def _by_adversary(scope: Scope, texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return for each text the names of its adversaries; "" if it is about all of them."""
    adversaries_by_text: dict[str, dict[str, None]] = {}
    for adversary, text in texts:
        adversaries_by_text.setdefault(text, {})[adversary] = None
    return {
        text: "" if names.keys() >= {*scope.adversaries} else ", ".join(names)
        for text, names in adversaries_by_text.items()
    }
