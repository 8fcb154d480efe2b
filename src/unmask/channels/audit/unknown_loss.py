"""Audits of channels if only the largest loss is known: bounds of the privacy that an output can cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from unmask.channels.audit.rows import score_known
from unmask.channels.channel import Channel
from unmask.measures import Measure, information_gain_bits, total_variation
from unmask.measures.bounds import divergence_nats_for_regret
from unmask.measures.leakage import channel_epsilon
from unmask.measures.names import reduction_bound, regret_bound
from unmask.results import Advice, AtRisk, Block, Column, Result, Row, Table
from unmask.results.formats import number
from unmask.results.names import EAVESDROPPER
from unmask.results.words import quantity, release_name

REGRETS = (0.01, 0.05, 0.1, 0.25, 0.5)
"""Bounds of the regret, as shares of the largest loss, whose divergence is in the table."""

ADVICE = Advice(
    "Only the error under a known loss compares mechanisms. If you can state the loss, audit under it:",
    "unmask audit channel CHANNEL.csv --loss loss.csv --report page.html",
)

NOTE = (
    "The error falls by at most dmax TV. An adversary who ignores the output loses at most 2 dmax TV. TV is the total "
    "variation between the belief and the prior. A bound is not a measure of privacy: it ranks no mechanisms."
)

DIVERGENCE_NOTE = (
    "t bounds the divergence of every belief from the prior. Then no adversary who ignores an output loses more than "
    "the cost in this line, dmax sqrt(2 t)."
)


def audit_unknown_loss(
    channels: Mapping[str, Channel],
    dmax: float,
    *,
    unit: str,
    title: str,
    measures: Sequence[Measure] = (),
    assumptions: Sequence[str] = (),
) -> Result:
    """Bound what channels cost under any loss between 0 and dmax.

    Parameters
    ----------
    channels : mapping of Channel
        Channels by name, at least one.
    dmax : float
        Largest loss, above 0.
    unit : str
        Unit of the loss.
    title : str
        Heading of the page.
    measures : sequence of Measure
        Further measures.
    assumptions : sequence of str
        Sentences to add to the assumptions.

    References
    ----------
    Rebollo-Monedero et al. 2012, section V-B, equation (8), with corrected constants; see `unmask.measures.bounds`.
    """
    further = [measure for measure in measures if not measure.needs_truth]
    scored = [*_measure_bounds(dmax, unit), total_variation, information_gain_bits, *further]
    rows = {name: score_known(channel.posterior(), scored, release=name) for name, channel in channels.items()}
    table = _bound_table(rows, unit)
    first = table.rows[0]
    lost = quantity(first["worst_reduction"], unit)
    return Result(
        title=title,
        kind="Channel audit",
        command="audit channel",
        setting=f"The loss of the adversary is unknown; it is at most {quantity(dmax, unit)}.",
        headline=(
            f"An output of {release_name(first['name'])} reduces the error of the best adversary by at most {lost}, "
            f"and by at most {quantity(first['reduction'], unit)} on average."
        ),
        rows=tuple(row for of_channel in rows.values() for row in of_channel),
        preferred_measures=(),
        facts=(table, divergences := _divergence_table(dmax, unit)),
        blocks=(
            Block("bounds", "Bounds for an unknown loss", "", (), (table.name,), notes=(NOTE,), open=True),
            Block(
                "divergences", "Divergence that keeps a bound", "", (), (divergences.name,), notes=(DIVERGENCE_NOTE,)
            ),
        ),
        criteria={
            name: {"leakage_bits": channel.mutual_information(), "epsilon": channel_epsilon(channel.dense())}
            for name, channel in channels.items()
        },
        at_risk=AtRisk(lost, "is the largest possible reduction of the adversary's error by an output"),
        advice=ADVICE,
        adversaries={EAVESDROPPER: "knows the channel and the prior"},
        sample_condition=f"reduction_bound.worst <= {number(dmax / 10)}",
        about_people=False,
        assumptions=("The adversary knows the channel and the prior, and decides best under a loss.", *assumptions),
    )


def _measure_bounds(dmax: float, unit: str) -> tuple[Measure, Measure]:
    """Return dmax TV and 2 dmax TV as measures of a belief."""
    assert total_variation.self_assessed is not None
    variation = total_variation.self_assessed
    return (
        Measure(**vars(replace(reduction_bound, unit=unit)), self_assessed=lambda belief: dmax * variation(belief)),
        Measure(**vars(replace(regret_bound, unit=unit)), self_assessed=lambda belief: 2.0 * dmax * variation(belief)),
    )


def _bound_table(rows: Mapping[str, Sequence[Row]], unit: str) -> Table:
    columns = (
        Column("name", "Mechanism"),
        Column("total_variation", "Total variation", "number"),
        Column("reduction", "Error reduced by at most", "number", unit=unit),
        Column("worst_reduction", "At the most revealing output", "number", unit=unit),
        Column("regret", "Cost of ignoring outputs, at most", "number", unit=unit),
        Column("worst_regret", "At that output", "number", unit=unit),
    )
    records = []
    for name, of_channel in rows.items():
        row = {item.measure: item for item in of_channel}
        bounds = (row[reduction_bound.name], row[regret_bound.name])
        values = [value for bound in bounds for value in (bound.posterior, bound.worst)]
        records.append((name, row[total_variation.name].posterior, *values))
    return Table.from_records("loss_bounds", columns, records)


def _divergence_table(dmax: float, unit: str) -> Table:
    columns = (
        Column("regret", "Cost of ignoring an output, at most", "number", unit=unit),
        Column("t_nats", "Divergence t, at most", "number", unit="nats", places=6),
    )
    regrets = [share * dmax for share in REGRETS]
    records = ((regret, divergence_nats_for_regret(regret, largest=dmax)) for regret in regrets)
    return Table.from_records("divergence_for_regret", columns, records)
