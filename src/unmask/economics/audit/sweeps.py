"""Group sizes that escape at each value of a parameter of the attacker: Figure 10 of Xia et al. 2015."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker
from unmask.economics.audit.parameters import format_parameter, name_parameter
from unmask.economics.deterrence.variations import sweep
from unmask.economics.plans.prices import MAX_TABLE_SIZE, merge_thresholds
from unmask.results import Block, Chart, Column, Table, View

SWEEP: Final = "sweep"
"""Name of the table with a line for each value."""

SWEEP_LINES: Final = "sweep_lines"
"""Name of the table with a row for each point of a chart."""

ESCAPES: Final = {"attacked": "alone", "sunk": "data at hand", "exhausted": "all candidates"}
"""Threshold -> its heading."""

MAX_VALUES: Final = 1000
"""Largest number of values of one parameter."""

Sweep = tuple[str, tuple[float, ...]]
"""A parameter and its values."""

NOTE: Final = (
    "Smallest group that escapes. Alone: no attack on one person pays. Data at hand: none pays even if the outside "
    "data are paid for. All candidates: not every candidate is tried."
)


def parse_sweep(text: str) -> Sweep:
    """Return the parameter and the values of a text such as "fine=0:50000:20", from low to high.

    >>> parse_sweep("fine=0:30:4")
    ('fine', (0, 10, 20, 30))
    """
    number = r"([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)"
    match = re.fullmatch(rf"(\w+)={number}:{number}:(\d{{1,4}})", text.replace(" ", ""))
    if match is None or not 2 <= int(match[4]) <= MAX_VALUES or not float(match[2]) < float(match[3]):
        raise UnmaskError(
            f"{text!r} is not a range of values, expected NAME=LOW:HIGH:NUMBER with 2 to {MAX_VALUES:,} values, such "
            "as fine=0:50000:20"
        )
    values = np.linspace(float(match[2]), float(match[3]), int(match[4])).tolist()
    return match[1], tuple(int(value) if value.is_integer() else value for value in values)


def make_sweep_tables(attackers: Sequence[Attacker], sweeps: Sequence[Sweep]) -> tuple[Table, Table]:
    """Return the thresholds at each value: a line for each value, and a row for each point of a chart."""
    columns = (
        Column("parameter"), Column("value", kind="number"),
        *(Column(name, heading, "number") for name, heading in ESCAPES.items()),
    )  # fmt: skip
    records = [
        {"parameter": parameter, "value": value, **merge_thresholds(thresholds)._asdict()}
        for parameter, values in sweeps
        for value, *thresholds in zip(
            values, *(sweep(attacker, parameter, values) for attacker in attackers), strict=True
        )
    ]
    points = Table.from_records(
        SWEEP_LINES,
        (Column("parameter"), Column("escapes"), Column("value", kind="number"), Column("size", "Group", "number")),
        (
            (record["parameter"], heading, record["value"], record[name])
            for name, heading in ESCAPES.items()
            for record in records
            if record[name] is not None
        ),
    )
    beyond = f"over {MAX_TABLE_SIZE:,}"
    rows = tuple({name: beyond if value is None else value for name, value in record.items()} for record in records)
    return Table(SWEEP, columns, rows), replace(points, page_only=True)


def make_sweep_blocks(attacker: Attacker, table: Table) -> Iterator[Block]:
    """Yield the chart and the table of each parameter."""
    for parameter in dict.fromkeys(table.values("parameter")):
        only = {"parameter": parameter}
        rows, name = table.where(**only).rows, name_parameter(parameter)
        now = getattr(attacker, parameter, None)
        rules = {f"now {format_parameter(parameter, now)}": now} if isinstance(now, int | float) else {}
        chart = Chart(
            "lines", SWEEP_LINES, "value", "size", "escapes", f"Smallest group that escapes: {name.lower()}",
            x_rules={label: value for label, value in rules.items() if rows[0]["value"] <= value <= rows[-1]["value"]},
            where=only,
        )  # fmt: skip
        view = View(SWEEP, ("value", *ESCAPES), only)
        yield Block(f"sweep-{parameter}", name, _describe(parameter, rows), (chart,), (view,), notes=(NOTE,), open=True)


def _describe(parameter: str, rows: Sequence[Mapping[str, float | str]]) -> str:
    low, high = (
        row["attacked"] if isinstance(row["attacked"], str) else f"{row['attacked']:,}" for row in (rows[0], rows[-1])
    )
    first, last = (format_parameter(parameter, row["value"]) for row in (rows[0], rows[-1]))
    sizes = f"on groups of {low} or more at {first}, of {high} or more at {last}"
    return f"{name_parameter(parameter)}: no attack alone pays {sizes}."
