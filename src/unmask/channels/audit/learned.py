"""Parts that audits of evidence share: the table of what adversaries learn, its block, and the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from unmask.channels.audit.rows import channel_result
from unmask.channels.audit.tables import loss_column
from unmask.results import Advice, AtRisk, Block, Chart, Column, Result, Row, Table
from unmask.results.words import quantity, release_name, wrong_by

LEARNED_NOTE = (
    "The error is measured on lines that the adversary did not learn from, with a 95 % interval. By chance: the error "
    "of the best answer without any output. Announced: the error that the adversary expects."
)

LIMITED = "Other adversaries, or more evidence, may learn more: errors are those of the adversaries named here."
"""Assumption of every audit of evidence."""

EXACT_REASON = "evidence does not show worst cases; they need the channel itself"
"""Reason why exact criteria are not reported."""


def learned_table(rows: Iterable[Row], unit: str) -> Table:
    """Return the error of each adversary on each system, with its interval, chance and the announced error."""
    columns = (
        Column("name", "System"),
        Column("adversary", "Adversary"),
        loss_column("error", "Error", unit),
        loss_column("low", "At least", unit),
        loss_column("high", "At most", unit),
        loss_column("chance", "By chance", unit),
        loss_column("announced", "Announced", unit),
    )
    by_key = {(row.release, row.adversary, row.measure): row for row in rows}
    records = []
    for name, adversary in dict.fromkeys(key[:2] for key in by_key):
        announced = by_key.get((name, adversary, "estimation_error"))
        row = by_key.get((name, adversary, "realized_error"), announced)
        if row is not None:
            expected = None if announced is None else announced.posterior
            records.append((name, adversary, row.posterior, row.low, row.high, row.prior, expected))
    return Table.from_records("learned", columns, records)


def learned_block(table: Table, unit: str) -> Block:
    """Return the block that compares what is learned with chance."""
    title = f"Error of the adversary{'' if unit == 'probability' else f', in {unit}'}"
    chart = Chart(
        "dots", table.name, "error", "name", by="adversary", title=title, baseline="chance", low="low", high="high",
        label=f"{title}, and by chance",
    )  # fmt: skip
    heading = "Errors of adversaries who learn from the evidence"
    return Block(
        "learned", heading, describe_errors(table, unit), (chart,), (table.name,), notes=(LEARNED_NOTE,), open=True
    )


def describe_errors(table: Table, unit: str) -> str:
    """Return the errors of all adversaries on the first system, and the error by chance."""
    first = [row for row in table.rows if row["name"] == table.rows[0]["name"]]
    errors = "; ".join(f"{row['adversary']} {quantity(row['error'], unit)}" for row in first)
    chance = quantity(first[0]["chance"], unit)
    return f"Errors of adversaries on {release_name(first[0]['name'])}: {errors}; without outputs {chance}."


def describe_best(table: Table, unit: str) -> str:
    """Return the smallest error on the first system, as the first sentence of a page."""
    first = [row for row in table.rows if row["name"] == table.rows[0]["name"]]
    smallest = min(first, key=lambda row: row["error"])
    error, chance = wrong_by(smallest["error"], unit), wrong_by(smallest["chance"], unit)
    start = f"From {release_name(smallest['name'])} the adversary \u201c{smallest['adversary']}\u201d is"
    return f"{start} {error}; without any output they would be {chance}."


def evidence_result(
    *,
    title: str,
    setting: str,
    evidence: Table,
    reading: str,
    rows: Sequence[Row],
    unit: str,
    adversaries: Mapping[str, str],
    tables: Sequence[Table] = (),
    blocks: Sequence[Block] = (),
    headline: str = "",
    advice: Advice | None = None,
    sample_condition: str = "realized_error >= 0.5",
    assumptions: Sequence[str] = (),
    cautions: Sequence[str] = (),
    not_run: Sequence[tuple[str, str]] = (),
) -> Result:
    """Return the result of an audit of evidence: what the evidence is, what is learned, then further blocks.

    Parameters
    ----------
    title, setting, headline, sample_condition
        See `Result`; the headline is the smallest error by default.
    evidence : Table
        Form and size of the evidence of each system.
    reading : str
        How the evidence was read, in one sentence.
    rows, adversaries, tables, blocks, advice, assumptions, cautions, not_run
        Parts of the result.
    unit : str
        Unit of the loss.
    """
    learned = learned_table(rows, unit)
    smallest = min((row for row in learned.rows), key=lambda row: row["error"])
    sentence = f"is the smallest error, of the adversary \u201c{smallest['adversary']}\u201d"
    return channel_result(
        title=title,
        setting=setting,
        headline=headline or describe_best(learned, unit),
        rows=tuple(rows),
        facts=(evidence, learned, *tables),
        blocks=(
            Block("evidence", "The evidence", reading, (), (evidence.name,), is_finding=False, open=True),
            learned_block(learned, unit),
            *blocks,
        ),
        at_risk=AtRisk(quantity(smallest["error"], unit), sentence),
        advice=advice,
        adversaries=adversaries,
        sample_condition=sample_condition,
        assumptions=(*assumptions, LIMITED),
        cautions=tuple(cautions),
        not_run=(*not_run, ("epsilon, delta and worst cases", EXACT_REASON)),
    )
