"""Facts about channels as tables of a result."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from unmask.channels.audit.facts import Bound, ChannelFacts, Mechanism
from unmask.measures.registry import SHARES
from unmask.results import Column, Table
from unmask.results.names import EAVESDROPPER

ANSWERS = {"gibbs": "random draw", "map": "likeliest secret"}
"""Decision rule of another adversary -> its label."""


def make_tables(facts: ChannelFacts) -> tuple[Table, ...]:
    """Return every table of an audit of channels."""
    tables = (
        _summary_table(facts),
        mechanism_table(facts),
        error_table(facts),
        _limit_table(facts),
        output_table(facts, "channel_per_observation", loss_column("error", "Error", facts.model.unit)),
        _secret_table(facts),
        _spread_table(facts),
        _bound_table(facts.bounds),
    )
    return tuple(table for table in tables if table.rows)


def loss_column(name: str, label: str, unit: str) -> Column:
    """Return a column of losses or distortions: percent if the unit is a probability."""
    return Column(name, label, "share") if unit in SHARES else Column(name, label, "number", unit=unit)


def _summary_table(facts: ChannelFacts) -> Table:
    model = facts.model
    values = {
        Column("secrets", "Secrets", "number"): facts.n_secrets,
        Column("observations", "Outputs", "number"): facts.n_outputs,
        Column("loss", "Loss"): model.name,
        Column("unit", "Unit"): model.unit,
        Column("distortion_unit", "Unit of the distortion"): model.distortion_unit,
        loss_column("prior_error", "Error without any output", model.unit): facts.prior_error,
        Column("detail", "Mechanism in detail"): facts.first.name,
        Column("worst_off", "Most exposed secrets", "number"): facts.n_most_exposed,
    }
    return Table.from_records("channel", values, [values.values()])


def mechanism_table(facts: ChannelFacts) -> Table:
    """Return distortion, errors, leakage, epsilon and share of the limit of each mechanism."""
    unit, adversaries = facts.model.unit, facts.other_adversaries
    columns = [
        Column("name", "Mechanism"),
        loss_column("distortion", "Distortion", facts.model.distortion_unit),
        loss_column("privacy", "Error on average", unit),
        loss_column("worst", "At the most revealing output", unit),
        *(loss_column(f"error_{name}", f"Error of the {ANSWERS.get(name, name)}", unit) for name in adversaries),
        Column("leakage_bits", "Leakage", "number", unit="bits"),
        Column("epsilon", "\u03b5", "number", unit="nats"),
        Column("share_of_limit", "Share of the limit", "share"),
    ]
    records = ([*_mechanism_record(mechanism, adversaries), _share(mechanism, facts)] for mechanism in facts.mechanisms)
    left_out = {"distortion": not facts.distortion_known, "share_of_limit": not facts.limit}
    table = Table.from_records("channel_mechanisms", columns, records)
    return table.select(column.name for column in columns if not left_out.get(column.name, False))


def _mechanism_record(mechanism: Mechanism, adversaries: Iterable[str]) -> list[object]:
    errors = [mechanism.errors.get(name) for name in adversaries]
    name, distortion, privacy, worst, _, leakage, epsilon = mechanism
    return [name, distortion, privacy, worst, *errors, leakage, epsilon]


def _share(mechanism: Mechanism, facts: ChannelFacts) -> float | None:
    share = facts.share_of_limit(mechanism)
    return 1.0 if share is not None and abs(share - 1) < 1e-4 else share


def error_table(facts: ChannelFacts) -> Table:
    """Return the finite errors of a chart: of each adversary behind each mechanism, then the points of the limit."""
    columns = (
        Column("series", "Adversary"),
        Column("mechanism", "Mechanism"),
        loss_column("distortion", "Distortion", facts.model.distortion_unit),
        loss_column("error", "Error of the adversary", facts.model.unit),
        Column("mark", "Mark"),
    )
    errors = (
        (name, mechanism.name if name == EAVESDROPPER else "", mechanism.distortion, error, mark)
        for mechanism in facts.mechanisms
        for name, error, mark in _errors(mechanism)
    )
    limit = (("the limit", "", distortion, error, "curve") for distortion, error in facts.limit)
    finite = (record for record in (*errors, *limit) if math.isfinite(record[2] + record[3]))
    return Table.from_records("channel_errors", columns, finite)


def _errors(mechanism: Mechanism) -> Iterator[tuple[str, float, str]]:
    yield EAVESDROPPER, mechanism.privacy, "point"
    yield from (
        (ANSWERS.get(name, name), error, "hollow") for name, error in mechanism.errors.items() if error is not None
    )


def _limit_table(facts: ChannelFacts) -> Table:
    columns = (
        loss_column("distortion", "Distortion", facts.model.distortion_unit),
        loss_column("error", "Largest error", facts.model.unit),
    )
    return Table.from_records("channel_limit", columns, facts.limit)


def output_table(facts: ChannelFacts, name: str, value: Column, convert: Callable[[float], float] = float) -> Table:
    """Return the most revealing outputs; `value` is the column of the converted error."""
    columns = (
        Column("observation", "Output"),
        Column("answer", "Best answer"),
        Column("chance", "Probability", "share"),
        value,
        Column("likeliest", "Likeliest secrets", "belief"),
    )
    records = (
        (output.observation, output.answer, output.chance, convert(output.error), output.likeliest)
        for output in facts.outputs
    )
    return Table.from_records(name, columns, records)


def _secret_table(facts: ChannelFacts) -> Table:
    columns = (
        Column("secret", "Secret"),
        Column("prior", "Without any output", "share"),
        Column("belief", "After an output", "share"),
    )
    return Table.from_records("channel_per_secret", columns, facts.secrets)


def _spread_table(facts: ChannelFacts) -> Table:
    columns = (
        loss_column("error", "Error at the output, at most", facts.model.unit),
        Column("share", "Share of cases", "share"),
    )
    return Table.from_records("channel_spread", columns, facts.spread)


def _bound_table(bounds: Iterable[Bound]) -> Table:
    columns = (
        Column("name", "Bound"),
        Column("meaning", "Meaning"),
        Column("unit", "Unit"),
        Column("bound", "Value", "number"),
        Column("truth", "True value", "number"),
        Column("ratio", "Ratio", "number"),
    )
    records = ((row.name, row.meaning, row.unit, row.bound, row.truth, row.ratio) for row in bounds)
    return Table.from_records("channel_bounds", columns, records)
