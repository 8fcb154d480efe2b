"""Findings of a study as blocks of a page: datasets, sentences, adversaries, missing cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from unmask.findings.conditions import first_sentence
from unmask.findings.row_words import KINDS_OF_VALUE, format_target
from unmask.results import Block, Chart, StudyRow, Table, View
from unmask.results.names import IDENTITY, MEASURES, NO_ATTACK
from unmask.results.rows import RATIONAL as RATIONAL_SUCCESS
from unmask.results.words import plural
from unmask.studies.facts import StudyFacts, Tradeoff
from unmask.studies.parameters import Curves, list_curves
from unmask.studies.sentences import (
    ACCESS,
    CAMPAIGN,
    PAYOFF,
    describe_dataset,
    describe_intervals,
    describe_rational,
    describe_setting,
    describe_target,
)
from unmask.studies.tables import missing_table, protection_table, release_table, tradeoff_table

MAX_CHARTS = 30
"""Largest number of charts on a page: risk against utility first, then curves over parameters."""

MAX_GAPS = 100
"""Largest number of lines about cells without a result."""

POINTS = (
    "Filled points are joined by steps: for the same adversary no other protection is better in both ways. Success is "
    "realized where it was checked, and expected otherwise."
)

MEASURES_NOTE = (
    f"Means over seeds; n is targets times seeds. {KINDS_OF_VALUE} Most exposed is the worst value of any seed's "
    "most exposed target."
)

RATIONAL_MEASURES = (CAMPAIGN, ACCESS, *RATIONAL_SUCCESS, PAYOFF, "rational_tries")
"""Measures of a rational attacker."""

REALIZED = "realized_success"

RATIONAL = (
    "A rational attacker compares gain and cost before each attempt. Attacked and re-identified are shares of all "
    "people; payoff and tries are means over them, money in the currency of the attacker's profile."
)

CONTROL = "Dots are success with people in the table, black ticks with the control group, which is not in the release."

UNBOUNDED = "unbounded: the release rules something out, or confirms it, with certainty; no number bounds that."

UNDEFINED = "undefined: infinite before and after, or no seed has a value."


Part = tuple[Block, tuple[Table, ...]]
"""A block, and its tables."""


def make_blocks(facts: StudyFacts) -> tuple[tuple[Block, ...], tuple[Table, ...]]:
    """Return the findings of a study in page order, and their tables."""
    curves = [(dataset, item) for dataset in facts.datasets for item in list_curves(facts, dataset)]
    drawn = curves[: max(MAX_CHARTS - len(facts.tradeoffs), 0)]
    n_omitted = len(facts.tradeoffs[MAX_CHARTS:]) + len(curves) - len(drawn)
    parts: list[Part] = []
    for place, dataset in enumerate(facts.datasets, 1):
        parts += _list_dataset_parts(facts, dataset, place, [item for name, item in drawn if name == dataset])
    parts += [_sentence_part(facts), *_description_parts(facts), _missing_part(facts, n_omitted)]
    visible = [(block, tables) for block, tables in parts if block.charts or block.tables or block.notes]
    return tuple(block for block, _ in visible), tuple(table for _, tables in visible for table in tables)


def _with_tables(block: Block, *tables: Table) -> Part:
    """Return a block with those of the tables that have rows."""
    filled = tuple(table for table in tables if table.rows)
    return replace(block, tables=tuple(table.name for table in filled)), filled


# --- a dataset -------------------------------------------------------------------------------------------------------


def _list_dataset_parts(facts: StudyFacts, dataset: str, place: int, curves: Sequence[Curves]) -> Iterator[Part]:
    """Yield the blocks of one dataset; if the study has several, headings name the dataset."""
    parts = (
        _tradeoff_part(facts, dataset, place),
        _protection_part(facts, dataset, place),
        _curve_part(place, curves),
        _control_part(facts, dataset, place),
        _rational_part(facts, dataset, place),
        _measure_part(facts, dataset, place),
    )
    several = len(facts.datasets) > 1
    for block, tables in parts:
        heading = f"{dataset}: {block.heading[0].lower()}{block.heading[1:]}" if several else block.heading
        yield replace(block, heading=heading), tables


def _tradeoff_part(facts: StudyFacts, dataset: str, place: int) -> Part:
    tradeoffs = [tradeoff for tradeoff in facts.tradeoffs[:MAX_CHARTS] if tradeoff.dataset == dataset]
    targets = dict.fromkeys(target for _, _, target in facts.mentioned[dataset])
    reached = next((first_sentence(describe_target(facts, dataset, target)) for target in targets), "")
    tables = tuple(tradeoff_table(facts, tradeoff, f"tradeoff_{place}_{i}") for i, tradeoff in enumerate(tradeoffs, 1))
    charts = tuple(map(_draw_tradeoff, tradeoffs, tables))
    block = Block(
        f"dataset-{place}", "Risk against utility", reached, charts,
        introduction=_explain_points(tradeoffs), open=place == 1,
    )  # fmt: skip
    return block, tables


def _protection_part(facts: StudyFacts, dataset: str, place: int) -> Part:
    tradeoffs = facts.tradeoffs_of(dataset)
    sentence = ""
    if tradeoffs:
        n_best, n_compared = len(tradeoffs[0].front), len(tradeoffs[0].compared)
        sentence = f"{n_best} of {n_compared} are on the Pareto front: no other keeps more and risks less."
    is_open = place == 1 and not tradeoffs
    block = Block(f"protections-{place}", "All protections at a glance", sentence, open=is_open)
    return _with_tables(block, protection_table(facts, dataset, f"protections_{place}"))


def _curve_part(place: int, curves: Sequence[Curves]) -> Part:
    charts, sentence = tuple(chart for chart, _ in curves), "What adversaries reach, over each parameter."
    block = Block(f"parameters-{place}", "By parameter", sentence, charts, is_finding=False)
    return block, tuple(table for _, table in curves)


def _control_part(facts: StudyFacts, dataset: str, place: int) -> Part:
    rows = [row for row in facts.rows_of(dataset) if row.measure == REALIZED and row.control is not None]
    charts = tuple(_draw_control(dataset, target) for target in dict.fromkeys(row.target for row in rows))
    return Block(f"control-{place}", "What being in the table adds", "", charts, introduction=CONTROL), ()


def _rational_part(facts: StudyFacts, dataset: str, place: int) -> Part:
    sentence = next((text.rpartition(". ")[2] for text in describe_rational(facts, dataset)), "")
    measures = [row.measure for row in facts.rows_of(dataset) if row.measure in RATIONAL_MEASURES]
    views = _view_measures(dataset, IDENTITY, measures)
    return Block(f"rational-{place}", "What the attack is worth", sentence, (), views, introduction=RATIONAL), ()


def _measure_part(facts: StudyFacts, dataset: str, place: int) -> Part:
    rows = [row for row in facts.rows_of(dataset) if row.measure not in RATIONAL_MEASURES]
    attacked = [row for row in rows if row.target != NO_ATTACK]
    views = [
        view
        for target in dict.fromkeys(row.target for row in attacked)
        for view in _view_measures(dataset, target, [row.measure for row in attacked if row.target == target])
    ]
    release = release_table([row for row in rows if row.target == NO_ATTACK], f"release_{place}")
    block, tables = _with_tables(
        Block(f"measures-{place}", "Every adversary by every measure", MEASURES_NOTE, is_finding=False), release
    )
    return replace(block, tables=(*views, *block.tables), notes=tuple(_note_measures(rows))), tables


def _view_measures(dataset: str, target: str, measures: Sequence[str]) -> tuple[View, ...]:
    selection = {"dataset": dataset, "target": target, "measure": tuple(dict.fromkeys(measures))}
    return (View(MEASURES, where=selection),) * bool(measures)


# --- the whole study -------------------------------------------------------------------------------------------------


def _sentence_part(facts: StudyFacts) -> Part:
    several = len(facts.datasets) > 1
    notes = tuple(
        f"{dataset}: {sentence}" if several else sentence
        for dataset in facts.datasets
        for sentence in describe_dataset(facts, dataset)
    )
    return Block("findings", "All findings", f"{plural(len(notes), 'finding')}.", notes=notes), ()


def _description_parts(facts: StudyFacts) -> Iterator[Part]:
    adversaries = tuple(
        f"{name}: {facts.descriptions.get(('adversaries', name), 'not described in the plan')}" for name in facts.styles
    )
    yield Block("adversaries", "The adversaries", describe_setting(facts), notes=adversaries), ()
    protections = tuple(f"{name}: {text}" for (kind, name), text in facts.descriptions.items() if kind == "protections")
    n_kinds = f"{plural(len(protections), 'kind')}, as planned."
    yield Block("protections", "The protections", n_kinds, notes=protections), ()


def _missing_part(facts: StudyFacts, n_omitted: int) -> Part:
    cells: dict[str, int] = {}
    for gap in facts.gaps:
        cells[gap.status] = cells.get(gap.status, 0) + gap.cells
    counts = "; ".join(f"{plural(n, 'cell')} {status}" for status, n in cells.items())
    were = "more chart was" if n_omitted == 1 else "more charts were"
    note = f"{n_omitted} {were} not drawn, to keep the page small; the tables have the figures."
    notes = (*("None of these is a zero: nothing is known about them.",) * bool(counts), *(note,) * bool(n_omitted))
    block, tables = _with_tables(
        Block("not-run", "What was not run, and what failed", counts, notes=notes), missing_table(facts)
    )
    return replace(block, tables=tuple(View(table.name, limit=MAX_GAPS) for table in tables)), tables


# --- charts and notes ------------------------------------------------------------------------------------------------


def _explain_points(tradeoffs: Sequence[Tradeoff]) -> str:
    """Explain the better direction of the charts (less success, more error) and the points; "" without charts."""
    directions = {tradeoff.direction for tradeoff in tradeoffs}
    if len(directions) > 1:
        return f"Up keeps more; left risks less where success is drawn, right where error is drawn. {POINTS}"
    way = "left" if "high" in directions else "right"
    return f"Up keeps more, {way} risks less. {POINTS}" if directions else ""


def _draw_tradeoff(tradeoff: Tradeoff, table: Table) -> Chart:
    risk = table.column("risk").label
    targets = "; ".join(dict.fromkeys(point.target for point in tradeoff.points))
    return Chart(
        "points", table.name, "risk", "utility", by="series", title=f"{risk} against utility: {targets}",
        label=f"{risk} against utility, {tradeoff.dataset}", style="style", text="name", mark="mark", front=True,
        log="x",
    )  # fmt: skip


def _draw_control(dataset: str, target: str) -> Chart:
    return Chart(
        "dots", MEASURES, "posterior", "release", by="adversary", title=format_target(target), baseline="control",
        low="low", high="high", where={"dataset": dataset, "target": target, "measure": REALIZED},
    )  # fmt: skip


def _note_measures(rows: Sequence[StudyRow]) -> Iterator[str]:
    yield describe_intervals(rows)
    if any(math.isinf(row.posterior) for row in rows):
        yield UNBOUNDED
    if any(math.isnan(value) for row in rows for value in (row.posterior, row.prior, row.gain)):
        yield UNDEFINED
