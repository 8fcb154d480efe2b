"""Audits of channels without a loss: by the gain of the adversary, or by the largest loss alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from unmask.channels.audit.facts import AttackedChannel, ChannelFacts, measure_channels
from unmask.channels.audit.rows import channel_result, score_known
from unmask.channels.audit.tables import output_table
from unmask.channels.channel import Channel
from unmask.channels.loss_model import GAIN, GainModel
from unmask.core.arrays import Floats
from unmask.core.posterior import Posterior
from unmask.measures import Measure, information_gain_bits, total_variation
from unmask.measures.bounds import divergence_nats_for_regret
from unmask.measures.leakage import channel_epsilon
from unmask.measures.losses import decision_problem
from unmask.measures.registry import MEASURES
from unmask.results import Advice, AtRisk, Block, Chart, Column, Fact, Result, Row, Table
from unmask.results.formats import number
from unmask.results.names import EAVESDROPPER
from unmask.results.words import quantity, release_name
from unmask.scoring import SELF_ASSESSED

OF_SUCCESS = frozenset({"estimation_error", "success_probability", "min_entropy_bits"})
"""Measures of the probability of a right answer, which an adversary with a gain does not maximize."""

HEADING = "What the best adversary can gain"

FORBIDDEN = "An answer with gain -inf is never chosen while its secret is possible."

ADVICE = Advice(
    "Audit several mechanisms together, and choose one with a small gain:",
    "unmask audit channel A.csv B.csv --gain gain.csv --report page.html",
)

GAINS_NOTE = (
    "Gain is the expected gain of the best answer, on average over the outputs. A gain may be negative, and only its "
    "increase by an output is due to the channel."
)


REGRETS = (0.01, 0.05, 0.1, 0.25, 0.5)
"""Bounds of the regret, as shares of the largest loss, whose divergence is in the table."""

LOSS_ADVICE = Advice(
    "Only the error under a known loss compares mechanisms. If you can state the loss, audit under it:",
    "unmask audit channel CHANNEL.csv --loss loss.csv --report page.html",
)

BOUND_NOTE = (
    "The error falls by at most dmax TV. An adversary who ignores the output loses at most 2 dmax TV. TV is the total "
    "variation between the belief and the prior. A bound is not a measure of privacy: it ranks no mechanisms."
)

DIVERGENCE_NOTE = (
    "t bounds the divergence of every belief from the prior. Then no adversary who ignores an output loses more than "
    "the cost in this line, dmax sqrt(2 t)."
)


def audit_gains(
    channels: Mapping[str, Channel],
    model: GainModel,
    *,
    title: str,
    measures: Sequence[Measure] = (),
    assumptions: Sequence[str] = (),
) -> Result:
    """Audit channels of the same secrets against the adversary who maximizes an expected gain.

    Parameters
    ----------
    channels : mapping of Channel
        Channels by name, at least one; the first in detail.
    model : GainModel
        Gain of each answer for each secret.
    title : str
        Heading of the page.
    measures : sequence of Measure
        Further measures.
    assumptions : sequence of str
        Sentences to add to the assumptions.

    References
    ----------
    Rebollo-Monedero et al. 2012, section IV-C, with the loss -g.
    """
    attacked = [AttackedChannel.run(name, channel, model.loss_model) for name, channel in channels.items()]
    facts, _ = measure_channels(attacked, model.loss_model, limit=False)
    standard = [measure for measure in SELF_ASSESSED if measure.name not in OF_SUCCESS]
    scored = (measure_gain(model), *standard, *(measure for measure in measures if not measure.needs_truth))
    rows = tuple(row for item in attacked for row in score_known(item.belief, scored, release=item.name))
    gains = _gain_table(facts, model)
    outputs = output_table(facts, "gain_per_observation", Column("gain", "Gain", "number", unit=GAIN), model.to_gain)
    return channel_result(
        title=title,
        setting=f"An adversary sees an output of a channel for one of {facts.n_secrets:,} secrets, and answers.",
        headline=_headline(facts, model),
        rows=rows,
        facts=(gains, outputs),
        blocks=tuple(_make_blocks(facts, gains, outputs)),
        criteria=_list_criteria(channels),
        at_risk=_describe_risk(facts, model),
        advice=ADVICE,
        adversaries={EAVESDROPPER: "knows the channel and the prior, and maximizes the expected gain"},
        sample_condition="expected_gain <= 0.5",
        assumptions=(
            "The adversary knows the channel and the prior, and gives the answer of largest expected gain.",
            *((FORBIDDEN,) if model.has_forbidden else ()),
            *assumptions,
        ),
    )


def measure_gain(model: GainModel) -> Measure:
    """Return the measure max_a sum_x p(x given y) g(a, x), the expected gain of the best answer."""

    def gain(belief: Posterior) -> Floats:
        problem = decision_problem(model.loss_model.loss, belief.n_candidates)
        value = model.largest - problem.best(belief)[0]
        return np.where(np.abs(value) <= model.rounding, 0.0, value)

    return Measure(**{**vars(MEASURES["expected_gain"]), "range": (-math.inf, model.largest)}, self_assessed=gain)


# --- tables and sentences --------------------------------------------------------------------------------------------


def _gain_table(facts: ChannelFacts, model: GainModel) -> Table:
    columns = (
        Column("name", "Mechanism"),
        Column("gain", "Gain", "number", unit=GAIN),
        Column("prior", "Without any output", "number", unit=GAIN),
        Column("worst", "At the most revealing output", "number", unit=GAIN),
        Column("leakage_bits", "Leakage", "number", unit="bits"),
        Column("epsilon", "\u03b5", "number", unit="nats"),
    )
    prior = model.to_gain(facts.prior_error)
    records = (
        (item.name, model.to_gain(item.privacy), prior, model.to_gain(item.worst), item.leakage_bits, item.epsilon)
        for item in facts.mechanisms
    )
    return Table.from_records("channel_gains", columns, records)


def _headline(facts: ChannelFacts, model: GainModel) -> str:
    mechanism, prior = facts.first, number(model.to_gain(facts.prior_error))
    gain, worst = (number(model.to_gain(error)) for error in (mechanism.privacy, mechanism.worst))
    start = f"Behind {release_name(mechanism.name)} the best adversary has an expected gain of {gain}"
    if gain == prior:
        return f"{start}, the same as without any output."
    return f"{start}; without any output it would be {prior}. At the most revealing output it is {worst}."


def _make_blocks(facts: ChannelFacts, gains: Table, outputs: Table) -> Iterator[Block]:
    chart = Chart(
        "dots",
        gains.name,
        "gain",
        "name",
        title="Expected gain of the best adversary",
        label="Expected gain of the best adversary behind each mechanism, and without any output",
        baseline="prior",
    )
    by_gain = sorted(gains.rows, key=lambda row: row["gain"])
    smallest, largest = (f"{release_name(row['name'])} ({number(row['gain'])})" for row in (by_gain[0], by_gain[-1]))
    sentence = f"{largest} leaves the largest gain, {smallest} the smallest." if len(by_gain) > 1 else ""
    yield Block("gains", HEADING, sentence, (chart,), (gains.name,), notes=(GAINS_NOTE,), open=True)
    scope = f"{len(outputs.rows):,} of {facts.n_outputs:,} outputs of {facts.first.name}, the largest gain first."
    yield Block("outputs", "The most revealing outputs", "", (), (outputs.name,), scope)


def _describe_risk(facts: ChannelFacts, model: GainModel) -> AtRisk:
    errors = (facts.first.privacy, facts.prior_error, facts.first.worst)
    gain, prior, worst = (number(model.to_gain(error)) for error in errors)
    details = [Fact("Most revealing output", f"an expected gain of {worst}")]
    if len(facts.mechanisms) > 1:
        details.append(Fact("Mechanism", facts.first.name))
    return AtRisk(gain, f"is the expected gain of the best adversary; {prior} without any output", tuple(details))


# --- an unknown loss -------------------------------------------------------------------------------------------------


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
    return channel_result(
        title=title,
        setting=f"The loss of the adversary is unknown; it is at most {quantity(dmax, unit)}.",
        headline=(
            f"An output of {release_name(first['name'])} reduces the error of the best adversary by at most {lost}, "
            f"and by at most {quantity(first['reduction'], unit)} on average."
        ),
        rows=tuple(row for of_channel in rows.values() for row in of_channel),
        facts=(table, divergences := _divergence_table(dmax, unit)),
        blocks=(
            Block("bounds", "Bounds for an unknown loss", "", (), (table.name,), notes=(BOUND_NOTE,), open=True),
            Block(
                "divergences", "Divergence that keeps a bound", "", (), (divergences.name,), notes=(DIVERGENCE_NOTE,)
            ),
        ),
        criteria=_list_criteria(channels),
        at_risk=AtRisk(lost, "is the largest possible reduction of the adversary's error by an output"),
        advice=LOSS_ADVICE,
        adversaries={EAVESDROPPER: "knows the channel and the prior"},
        sample_condition=f"reduction_bound.worst <= {number(dmax / 10)}",
        assumptions=("The adversary knows the channel and the prior, and decides best under a loss.", *assumptions),
    )


def _measure_bounds(dmax: float, unit: str) -> tuple[Measure, Measure]:
    """Return dmax TV and 2 dmax TV as measures of a belief."""
    assert total_variation.self_assessed is not None
    variation = total_variation.self_assessed
    reduction, regret = (replace(MEASURES[name], unit=unit) for name in ("reduction_bound", "regret_bound"))
    return (
        Measure(**vars(reduction), self_assessed=lambda belief: dmax * variation(belief)),
        Measure(**vars(regret), self_assessed=lambda belief: 2.0 * dmax * variation(belief)),
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
        bounds = (row["reduction_bound"], row["regret_bound"])
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


def _list_criteria(channels: Mapping[str, Channel]) -> dict[str, dict[str, float]]:
    return {
        name: {"leakage_bits": channel.mutual_information(), "epsilon": channel_epsilon(channel.dense())}
        for name, channel in channels.items()
    }
