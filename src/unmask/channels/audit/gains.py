"""Audits of channels by the gain of the adversary, in place of a loss."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from unmask.channels.audit.facts import AttackedChannel, ChannelFacts, measure_channels
from unmask.channels.audit.rows import score_known
from unmask.channels.channel import Channel
from unmask.channels.loss_model import GAIN, GainModel
from unmask.core.arrays import Floats
from unmask.core.posterior import Posterior
from unmask.measures import Measure
from unmask.measures.losses import decision_problem
from unmask.measures.names import expected_gain
from unmask.results import Advice, AtRisk, Block, Chart, Column, Fact, Result, Table
from unmask.results.formats import number
from unmask.results.names import EAVESDROPPER
from unmask.results.words import release_name
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
    gains, outputs = _gain_table(facts, model), _output_table(facts, model)
    return Result(
        title=title,
        kind="Channel audit",
        command="audit channel",
        setting=f"An adversary sees an output of a channel for one of {facts.n_secrets:,} secrets, and answers.",
        headline=_headline(facts, model),
        rows=rows,
        preferred_measures=(),
        facts=(gains, outputs),
        blocks=tuple(_make_blocks(facts, gains, outputs)),
        criteria={
            mechanism.name: {"leakage_bits": mechanism.leakage_bits, "epsilon": mechanism.epsilon}
            for mechanism in facts.mechanisms
        },
        at_risk=_describe_risk(facts, model),
        advice=ADVICE,
        adversaries={EAVESDROPPER: "knows the channel and the prior, and maximizes the expected gain"},
        sample_condition="expected_gain <= 0.5",
        about_people=False,
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

    return Measure(**{**vars(expected_gain), "range": (-math.inf, model.largest)}, self_assessed=gain)


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


def _output_table(facts: ChannelFacts, model: GainModel) -> Table:
    columns = (
        Column("observation", "Output"),
        Column("answer", "Best answer"),
        Column("chance", "Probability", "share"),
        Column("gain", "Gain", "number", unit=GAIN),
        Column("likeliest", "Likeliest secrets", "belief"),
    )
    records = (
        (item.observation, item.answer, item.chance, model.to_gain(item.error), item.likeliest)
        for item in facts.outputs
    )
    return Table.from_records("gain_per_observation", columns, records)


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
    least, most = (f"{release_name(row['name'])} ({number(row['gain'])})" for row in (by_gain[0], by_gain[-1]))
    sentence = f"{most} leaves the largest gain, {least} the smallest." if len(by_gain) > 1 else ""
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
