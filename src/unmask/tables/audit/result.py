"""The result of an audit of tables: facts as tables, and findings as blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from unmask.facts import Contribution
from unmask.findings.properties import criteria_block, criteria_table, plane_table, utility_block, utility_table
from unmask.findings.row_words import row_estimate
from unmask.findings.sentences import describe_result, select_leading
from unmask.measures.registry import needs_truth
from unmask.results import Block, Result, Row, Table
from unmask.results.formats import percent
from unmask.results.names import APART, FAILURES, IDENTITY, INSIDER, ORDER_READER
from unmask.results.result import Value
from unmask.results.rows import ORIGINAL, PreferredRows, preferred_rows
from unmask.results.words import join_names, start_with_release
from unmask.tables.audit.attack_scores import Priced
from unmask.tables.audit.calibration import CalibrationBin, calibration_block, calibration_table
from unmask.tables.audit.column_exposure import ColumnExposure, exposure_blocks, exposure_tables
from unmask.tables.audit.column_shapes import ColumnBin, bin_table, shape_block
from unmask.tables.audit.control_comparison import control_blocks
from unmask.tables.audit.equivalence_classes import ClassRisk, class_block, class_table
from unmask.tables.audit.quasi_identifiers import (
    ColumnRisk,
    GeneralizationStep,
    column_risk_block,
    column_risk_table,
    contribution_block,
    contribution_table,
    step_block,
    step_table,
)
from unmask.tables.audit.risk_facts import ValueRisk, value_block, value_table


@dataclass(frozen=True)
class TableFacts:
    """Facts about releases of tables.

    Parameters
    ----------
    criteria, utility : mapping
        Release -> name -> value.
    calibration : sequence of CalibrationBin
        Predicted and actual success of each adversary.
    values : sequence of ValueRisk
        Sensitive values that an adversary infers.
    classes : sequence of ClassRisk
        Equivalence classes, the riskiest first.
    contributions : mapping of Contribution
        Table -> contributions of its quasi-identifiers.
    column_risks : sequence of ColumnRisk
        Success without each quasi-identifier.
    bins : sequence of ColumnBin
        Columns before and after protection.
    exposure : ColumnExposure
        Facts that columns reveal.
    price : Priced
        Attacks of a rational attacker.
    """

    criteria: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    utility: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    calibration: Sequence[CalibrationBin] = ()
    values: Sequence[ValueRisk] = ()
    classes: Sequence[ClassRisk] = ()
    contributions: Mapping[str, Sequence[Contribution]] = field(default_factory=dict)
    column_risks: Sequence[ColumnRisk] = ()
    bins: Sequence[ColumnBin] = ()
    exposure: ColumnExposure = field(default_factory=ColumnExposure)
    price: Priced = field(default_factory=Priced)


SUCCESS = ("realized_success", "success_probability")
"""Measures that findings mention, the preferred one first."""


def make_result(
    title: str, rows: tuple[Row, ...], facts: TableFacts, adversaries: Mapping[str, str] | None = None
) -> Result:
    """Return the result of an audit of tables; `adversaries` are words that complete "an adversary who ..."."""
    tables = make_tables(rows, facts)
    return Result(
        title=title,
        kind="Table audit",
        command="audit",
        setting="",
        headline="",
        rows=rows,
        criteria=facts.criteria,
        preferred_measures=SUCCESS,
        facts=tuple(tables.values()),
        blocks=(*control_blocks(_heads(rows), rows, adversaries or {}), *make_blocks(rows, facts, tables)),
        cautions=facts.price.cautions,
    )


def make_tables(rows: Sequence[Row], facts: TableFacts) -> dict[str, Table]:
    """Return the tables by name, also empty ones."""
    utility = utility_table(facts.utility)
    tables = (
        criteria_table(facts.criteria),
        utility,
        plane_table(_heads(rows).values(), utility),
        column_risk_table(facts.column_risks),
        contribution_table(facts.contributions),
        class_table(facts.classes),
        value_table(facts.values),
        calibration_table(facts.calibration),
        bin_table(facts.bins),
        *exposure_tables(facts.exposure),
        *facts.price.tables,
    )
    return {table.name: table for table in tables}


def make_blocks(rows: Sequence[Row], facts: TableFacts, tables: Mapping[str, Table]) -> Iterator[Block]:
    """Yield the findings in the order of the page."""
    if facts.calibration:
        yield calibration_block(tables["promises"])
    judged_targets = {row.target for row in rows if needs_truth(row.measure) and row.status not in FAILURES}
    if (values := value_block(tables["values"], judged_targets)) is not None:
        yield values
    if tables["contributions"].rows:
        yield contribution_block(tables["contributions"])
    elif facts.column_risks:
        yield column_risk_block(tables["column_risk"])
    if facts.classes:
        yield class_block()
    if facts.bins:
        yield shape_block(facts.bins)
    riskiest, several = riskiest_release(rows), len({row.release for row in rows} - {ORIGINAL}) > 1
    yield from special_blocks(_heads(rows), riskiest, several=several)
    yield from exposure_blocks(facts.exposure, riskiest)
    yield from facts.price.blocks
    if facts.utility:
        yield utility_block(tables["risk_utility"])
    if facts.criteria:
        yield criteria_block(tables["criteria"])


def _heads(rows: Iterable[Row]) -> PreferredRows[Row]:
    return preferred_rows((row for row in rows if row.status not in FAILURES), SUCCESS)


def riskiest_release(rows: Sequence[Row]) -> str:
    """Return the protected release from which most people are re-identified; the first if none is attacked so."""
    heads = list(select_leading(_heads(rows)).values())
    protected = [row for row in heads if row.release != ORIGINAL] or heads
    riskiest = max(protected, key=lambda row: row.posterior if row.target == IDENTITY else -1.0, default=None)
    return "" if riskiest is None else riskiest.release


def add_steps(result: Result, steps: Iterable[GeneralizationStep]) -> Result:
    """Return the result with the steps of generalization that were tried, after the risk by quasi-identifier."""
    table = step_table(steps)
    if not table.rows:
        return result
    names = [block.name for block in result.blocks]
    place = next((names.index(name) + 1 for name in ("where", "values", "promises") if name in names), 0)
    blocks = (*result.blocks[:place], step_block(table), *result.blocks[place:])
    return replace(result, facts=(*result.facts, table), blocks=blocks)


# --- the adversary who reads the row order, and the insider -----------------------------------------------------------


def special_blocks(heads: PreferredRows[Row], release: str, *, several: bool) -> Iterator[Block]:
    """Yield a sentence about each of these adversaries, on one release; none about an order that leads the findings."""
    scored = {key[1:]: row for key, row in heads.items() if key[0] == release}
    order = scored.get((ORDER_READER, IDENTITY))
    if order is not None and (release, ORDER_READER, IDENTITY) not in select_leading(heads):
        sentence = f"an adversary who has the original and reads only the row order {describe_result(order)}."
        yield Block("order", "The row order", start_with_release(sentence, release, several=several))
    insider = [start_with_release(sentence, release, several=several) for sentence in _describe_insider(scored)]
    if insider:
        yield Block("insider", "The insider", " ".join(insider))


def _describe_insider(heads: Mapping[tuple[str, str], Row]) -> Iterator[str]:
    """Yield that sensitive columns are quasi-identifiers of each other for an adversary who knows one."""
    row = heads.get((INSIDER, IDENTITY))
    if row is not None:
        yield f"an insider who also knows the sensitive values {describe_result(row)}."
    inferred = []
    for (adversary, target), row in heads.items():
        scores = [head.posterior for (name, about), head in heads.items() if about == target and name not in APART]
        if adversary == INSIDER and target != IDENTITY and row.posterior > max(scores, default=1.0):
            inferred.append(f"{target} for {row_estimate(row)} of people ({percent(max(scores))} without them)")
    if inferred:
        yield f"an insider who knows the other sensitive values infers {join_names(inferred)}."
