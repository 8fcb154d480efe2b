"""Audits of channels: the error of the best adversary under a loss, and what they learn."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels.audit.blocks import ADVERSARIES, advise, cautions, describe_risk, headline, make_blocks
from unmask.channels.audit.facts import AttackedChannel, ChannelFacts, measure_channels
from unmask.channels.audit.samples import audit_samples
from unmask.channels.audit.tables import BEST, make_tables
from unmask.channels.channel import Channel
from unmask.channels.loss_model import LossModel, compatible, read_distortion, read_loss_model
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures import estimation_error, realized_error
from unmask.ranges import Range
from unmask.results import AuditResult, Row
from unmask.scoring import REALIZED, SELF_ASSESSED, score

BOUND = "A limit is an upper bound, for an adversary who answers with a secret."
"""Meaning of a limit if the best answer may lie between the secrets."""

ANSWERS: Mapping[str, str] = {
    "hamming": "The adversary answers with one of the secrets.",
    "squared": f"The adversary may answer with any point: the best is the mean of the posterior. {BOUND}",
    "absolute": "The adversary may answer with any point: the best is the median of the posterior in each coordinate.",
    "euclidean": f"The adversary may answer with any point: the best is the geometric median of the posterior. {BOUND}",
    "haversine": (
        f"The adversary may answer with any place on the globe: the best is the posterior's geometric median. {BOUND}"
    ),
}
"""Answers of the best adversary under each named loss."""

UNIFORM = "Every secret counts as likely as any other; where some are likelier, the error may be smaller."
"""Assumption of an audit with a uniform prior."""

LINES = "The adversary answers with a line of the loss; with answers between the lines they would err less."
"""Assumption of an audit whose loss is a matrix."""


def audit(
    release: Channel | Mapping[str, Channel],
    *,
    truth: None = None,
    loss: str | os.PathLike[str] | ArrayLike = "hamming",
    coordinates: os.PathLike[str] | ArrayLike | None = None,
    answers: tuple[str, ...] | None = None,
    distortion: os.PathLike[str] | ArrayLike | None = None,
    unit: str | None = None,
    seed: Annotated[int, Range(0)] = 0,
    limit: bool = True,
    assumptions: Sequence[str] = (),
) -> AuditResult:
    """Attack channels of the same secrets and measure the error of the best adversary.

    Parameters
    ----------
    release : Channel or mapping of Channel
        Channels by name.
    truth : None
        Not allowed: a channel has no truth.
    loss, coordinates, answers, unit
        See `loss_model.read_loss_model`.
    distortion : path or array, optional
        CSV of the user's cost of an output, by default the loss. Or an array, secrets x outputs
    seed : int
        seed of the split of samples into halves
    limit : bool
        draw the limit that no mechanism passes, which may take minutes
    assumptions : sequence of str
        sentences to add to those of every audit

    Returns
    -------
    AuditResult
        Rows, tables and findings.
    """
    if truth is not None:
        raise UnmaskError("a channel says how secrets are shown, and has no truth; leave it out")
    channels = dict(release) if isinstance(release, Mapping) else {"release": release}
    if not channels:
        raise UnmaskError("0 channels were given, expected at least 1")
    first = next(iter(channels.values()))
    model = read_loss_model(loss, first.x_labels, coordinates=coordinates, answers=answers, unit=unit)
    if distortion is not None:
        model = replace(model, distortion=read_distortion(distortion, first), distortion_unit="cost")
    title = f"Audit of {', '.join(channels)}"
    if any(channel.samples is not None for channel in channels.values()):
        return audit_samples(channels, model, score_belief, seed=seed, title=title, assumptions=assumptions)
    return audit_channels(channels, model, limit=limit, title=title, assumptions=assumptions)


def audit_channels(
    channels: Mapping[str, Channel],
    model: LossModel | None = None,
    *,
    title: str = "Audit of a channel",
    limit: bool = True,
    assumptions: Sequence[str] = (),
) -> AuditResult:
    """Audit channels of the same secrets and prior against three adversaries; the first channel in detail.

    Adversaries: Bayes under the loss, Gibbs (answers with a draw from the posterior) and MAP (the likeliest secret).

    Parameters
    ----------
    channels : mapping of Channel
        Channels by name, at least one.
    model : LossModel, optional
        Loss and distortion; by default, every wrong answer costs 1.
    title : str
        Heading of the page.
    limit : bool
        Compute the limit that no mechanism of a distortion passes, which may take minutes.
    assumptions : sequence of str
        Sentences to add to the assumptions.
    """
    model = model or LossModel()
    _check_same_secrets(channels)
    attacked = [AttackedChannel.run(name, channel, model) for name, channel in channels.items()]
    facts, reason = measure_channels(attacked, model, limit=limit)
    rows = tuple(row for item in attacked for row in score_belief(item.belief, model, release=item.name))
    uniform = np.allclose(prior := attacked[0].channel.prior, prior[0], rtol=1e-9, atol=0)
    return describe(
        facts,
        rows,
        title=title,
        assumptions=(
            "The adversary knows the channel and the prior, and decides best under the loss.",
            ANSWERS[model.loss] if isinstance(model.loss, str) else LINES,
            *(f"The adversary {name} {words}." for name, words in ADVERSARIES.items()),
            *([UNIFORM] if uniform else []),
            *assumptions,
        ),
        not_run=(("The limit of privacy at a distortion", reason),) if reason else (),
    )


def describe(
    facts: ChannelFacts,
    rows: tuple[Row, ...],
    *,
    title: str,
    assumptions: tuple[str, ...] = (),
    not_run: tuple[tuple[str, str], ...] = (),
) -> AuditResult:
    """Return the result of facts about channels: tables, findings and what to do next."""
    return AuditResult(
        title=title,
        kind="Channel audit",
        command="audit channel",
        setting=f"An adversary sees an output of a channel for one of {facts.n_secrets:,} secrets, and estimates it.",
        headline=headline(facts),
        rows=rows,
        tables=make_tables(facts),
        blocks=make_blocks(facts),
        criteria=_criteria(facts),
        at_risk=describe_risk(facts),
        advice=advise(facts),
        adversaries={BEST: "knows the channel and the prior"},
        sample_condition="epsilon <= 1",
        about_people=False,
        assumptions=assumptions,
        cautions=cautions(facts),
        not_run=not_run,
    )


def _criteria(facts: ChannelFacts) -> dict[str, dict[str, float]]:
    """Return the values that a policy may set a limit on, by mechanism."""
    shares = {mechanism.name: facts.share_of_limit(mechanism) for mechanism in facts.mechanisms}
    return {
        mechanism.name: {
            "distortion": mechanism.distortion,
            "leakage_bits": mechanism.leakage_bits,
            "epsilon": mechanism.epsilon,
            "share_of_limit": math.nan if (share := shares[mechanism.name]) is None else share,
        }
        for mechanism in facts.mechanisms
    }


def _check_same_secrets(channels: Mapping[str, Channel]) -> None:
    """Raise an error if channels have different secrets or priors."""
    first = next(iter(channels.values()), None)
    if first is None:
        raise UnmaskError("0 channels were given, expected at least 1")
    for name, channel in channels.items():
        same_secrets = channel.n_x == first.n_x and compatible(channel.x_labels, first.x_labels)
        if not same_secrets or not np.allclose(channel.prior, first.prior):
            raise UnmaskError(f"channel {name!r} has other secrets or another prior than the first, expected the same")


def score_belief(
    belief: Posterior,
    model: LossModel,
    *,
    release: str,
    adversary: str = BEST,
    truth: Truth | None = None,
    wants: Callable[[str], bool] = lambda _: True,
) -> tuple[Row, ...]:
    """Measure a belief about one channel: the error under the loss and the measures of all audits.

    Parameters
    ----------
    belief : Posterior
        Belief about the secrets.
    model : LossModel
        Loss of the adversary.
    release, adversary : str
        Names in the rows.
    truth : Truth, optional
        Secrets that were drawn and shown; None if the belief is that of the channel itself.
    wants : callable
        Predicate of the names of the measures to take.
    """
    loss = model.loss if isinstance(model.loss, str) else model.matrix(belief.n_candidates)
    errors = [
        replace(kind(loss, coordinates=model.coordinates), unit=model.unit)
        for kind in (estimation_error, realized_error)
    ]
    under_loss = {measure.name: measure for measure in errors}
    measures = {measure.name: under_loss.get(measure.name, measure) for measure in (*errors, *SELF_ASSESSED, *REALIZED)}
    rows = score(
        belief,
        truth,
        release=release,
        adversary=adversary,
        target="secret",
        drawn_from=None if truth is None else math.inf,
        measures=[
            measure
            for measure in measures.values()
            if wants(measure.name) and (truth is not None or not measure.needs_truth)
        ],
    ).rows
    return rows if truth is not None else tuple(_without_interval(row, belief) for row in rows)


def _without_interval(row: Row, belief: Posterior) -> Row:
    """Return a row without an interval, since the channel is exact, and without a gain that is only rounding."""
    noise = 8 * float(np.finfo(belief.log_probability.dtype).eps) * max(abs(row.prior), abs(row.posterior))
    gain = 0.0 if math.isfinite(noise) and abs(row.gain) <= noise else row.gain
    return replace(row, low=None, high=None, interval="none: the channel is given whole", gain=gain)
