"""Audits of channels: the error of the best adversary under a loss, and what they learn."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels.audit.blocks import ADVERSARIES, advise, cautions, describe_risk, headline, make_blocks
from unmask.channels.audit.facts import AttackedChannel, ChannelFacts, measure_channels
from unmask.channels.audit.gains import audit_gains, audit_unknown_loss
from unmask.channels.audit.messages import audit_messages
from unmask.channels.audit.rounds import audit_rounds
from unmask.channels.audit.rows import channel_result, score_belief
from unmask.channels.audit.samples import audit_samples
from unmask.channels.audit.tables import make_tables
from unmask.channels.audit.traces import audit_traces
from unmask.channels.channel import Channel
from unmask.channels.evidence.logs import Delay, MessageLog, RoundLog, TraceLog
from unmask.channels.loss_model import LossModel, compatible, read_distortion, read_gain, read_loss_model
from unmask.channels.matrix_files import Prior
from unmask.channels.named_mechanisms import make_channel, parse_mechanism
from unmask.core.errors import UnmaskError
from unmask.languages import gettext as _
from unmask.measures import Measure
from unmask.measures.requested import parse_measures
from unmask.ranges import MeasureNames, Range
from unmask.results import Result, Row
from unmask.results.names import EAVESDROPPER

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

FORBIDDEN = "An answer of infinite loss is never chosen while its secret is possible."
"""Assumption of an audit whose loss forbids answers."""

NO_TRUTH = "a channel has no truth; samples of it have one"
"""Reason why a realized measure of a channel is not run."""

OF_CHANNEL = "it is computed for channels and samples only"
"""Reason why a further measure of traces or rounds is not run."""

LINES = "The adversary answers with a line of the loss; with answers between the lines they would err less."
"""Assumption of an audit whose loss is a matrix."""


System = Channel | TraceLog | RoundLog | MessageLog
"""Releases that an audit of channels takes: a channel, or evidence about a system."""


def audit(
    release: System | Mapping[str, System],
    *,
    truth: None = None,
    loss: str | os.PathLike[str] | ArrayLike = "hamming",
    coordinates: os.PathLike[str] | ArrayLike | None = None,
    answers: tuple[str, ...] | None = None,
    gain: os.PathLike[str] | ArrayLike | None = None,
    dmax: Annotated[float, Range(0, above=True)] | None = None,
    distortion: os.PathLike[str] | ArrayLike | None = None,
    unit: str | None = None,
    mechanism: str | None = None,
    unpaired: bool = False,
    delay: str | None = None,
    measures: MeasureNames = (),
    seed: Annotated[int, Range(0)] = 0,
    limit: bool = True,
    assumptions: Sequence[str] = (),
) -> Result:
    """Attack channels of the same secrets and measure the error of the best adversary.

    Parameters
    ----------
    release : Channel, TraceLog, RoundLog, MessageLog or mapping of these
        Channels or evidence by name, of one kind.
    truth : None
        Not allowed: a channel has no truth.
    loss, coordinates, answers, unit
        See `loss_model.read_loss_model`.
    gain : path or array, optional
        CSV of the gain of each answer (lines) for each secret (columns), in place of a loss (-inf forbids an
        answer). Or an array, answers x secrets
    dmax : float, optional
        largest loss, if nothing else is known of the loss: only bounds of the privacy lost are printed
    distortion : path or array, optional
        CSV of the user's cost of an output, by default the loss. Or an array, secrets x outputs
    mechanism : str, optional
        NAME:KEY=VALUE that makes what is shown of traces, such as RandomizedResponse:epsilon=1:n=4
    unpaired : bool
        print announced measures only, since the lines of rounds do not pair senders with their receivers
    delay : str, optional
        law of the delays of messages: exponential:MEAN or fixed:MAX (default: exponential, with the mean of the log)
    measures : sequence of str
        further measures, such as renyi_entropy_bits:2 or diaz_degree. A policy that names one takes it, too
    seed : int
        seed of the random split of samples or users into halves
    limit : bool
        draw the limit that no mechanism passes, which may take minutes
    assumptions : sequence of str
        sentences to add to those of every audit

    Returns
    -------
    Result
        Rows, tables and findings.
    """
    if truth is not None:
        raise UnmaskError("a channel says how secrets are shown, and has no truth; leave it out")
    systems = dict(release) if isinstance(release, Mapping) else {"release": release}
    first = _check_one_kind(systems)
    texts: dict[str, Any] = {"title": _("Audit of {releases}", releases=", ".join(systems)), "assumptions": assumptions}
    requested = parse_measures(measures)
    if gain is not None or dmax is not None:
        _refuse_stakes(systems, loss, {"gain": gain, "dmax": dmax, "distortion": distortion}, unit)
        channels = cast(Mapping[str, Channel], systems)
        _check_same_secrets(channels)
        texts["measures"] = requested
        if gain is not None:
            result = audit_gains(channels, read_gain(gain, cast(Channel, first).x_labels), **texts)
        else:
            result = audit_unknown_loss(channels, float(dmax or 0.0), unit=unit or "loss", **texts)
        return _leave_out(result, [measure for measure in requested if measure.needs_truth], NO_TRUTH)
    if isinstance(first, RoundLog | MessageLog):
        _refuse(first, loss=None if isinstance(loss, str) and loss == "hamming" else loss, mechanism=mechanism)
    if isinstance(first, RoundLog):
        _refuse(first, delay=delay)
        result = audit_rounds(cast(Mapping[str, RoundLog], systems), unpaired=unpaired, **texts)
        return _leave_out(result, requested, OF_CHANNEL)
    _refuse(first, unpaired=unpaired or None)
    if isinstance(first, MessageLog):
        law = None if delay is None else Delay.parse(delay)
        result = audit_messages(cast(Mapping[str, MessageLog], systems), delay=law, seed=seed, **texts)
        return _leave_out(result, requested, OF_CHANNEL)
    _refuse(first, delay=delay)
    names = first.places if isinstance(first, TraceLog) else first.x_labels
    model = read_loss_model(loss, names, coordinates=coordinates, answers=answers, unit=unit)
    if isinstance(first, TraceLog) or any(getattr(item, "samples", None) is not None for item in systems.values()):
        _refuse_infinite(model)
    if isinstance(first, TraceLog):
        shown_by = None if mechanism is None else _find_mechanism(mechanism, first, coordinates)
        result = audit_traces(cast(Mapping[str, TraceLog], systems), model, mechanism=shown_by, seed=seed, **texts)
        return _leave_out(result, requested, OF_CHANNEL)
    _refuse(first, mechanism=mechanism)
    channels = cast(Mapping[str, Channel], systems)
    if distortion is not None:
        model = replace(model, distortion=read_distortion(distortion, first), distortion_unit="cost")
    if any(channel.samples is not None for channel in channels.values()):
        return audit_samples(channels, model, seed=seed, measures=requested, **texts)
    return audit_channels(channels, model, limit=limit, measures=requested, **texts)


def _leave_out(result: Result, measures: Sequence[Measure], reason: str) -> Result:
    """Return a result with measures that were not run."""
    return replace(result, not_run=(*result.not_run, *((measure.name, reason) for measure in measures)))


def _check_one_kind(systems: Mapping[str, System]) -> System:
    """Return the first system; raise an error unless all are of its kind, traces of the same places."""
    if not systems:
        raise UnmaskError("0 channels were given, expected at least 1")
    first = next(iter(systems.values()))
    for name, system in systems.items():
        if type(system) is not type(first):
            raise UnmaskError(f"{name} has another form than the first system, expected one form; audit them apart")
        if isinstance(system, TraceLog) and isinstance(first, TraceLog) and system.places != first.places:
            raise UnmaskError(f"{name} has other places than the first traces, expected the same; audit them apart")
    return first


def _refuse(system: System, **options: object) -> None:
    """Raise an error for options that do not apply to a system."""
    for name, value in options.items():
        if value is not None:
            kind = {TraceLog: "traces", RoundLog: "rounds", MessageLog: "messages"}.get(type(system), "a channel")
            raise UnmaskError(f"{name} does not apply to {kind}; leave it out")


def _refuse_infinite(model: LossModel) -> None:
    """Raise an error for an infinite loss: a belief that was learned never excludes a secret for certain."""
    if isinstance(model.loss, np.ndarray) and not np.isfinite(model.loss).all():
        raise UnmaskError("a loss is infinite, which needs a channel; give a large number in its place")


def _refuse_stakes(systems: Mapping[str, System], loss: Any, stakes: Mapping[str, Any], unit: str | None) -> None:
    """Raise an error unless exactly one of loss, gain and dmax is given, for channels."""
    given = [name for name, value in stakes.items() if value is not None]
    if not (isinstance(loss, str) and loss == "hamming"):
        given.append("loss")
    if len(given) > 1:
        raise UnmaskError(
            f"{' and '.join(given)} exclude each other, since each describes the adversary; leave one out"
        )
    if any(not isinstance(system, Channel) or system.samples is not None for system in systems.values()):
        raise UnmaskError(f"{given[0]} needs a channel, given samples or a log of events; leave it out")
    if unit is not None and "gain" in given:
        raise UnmaskError("a gain has the unit gain; leave the unit out")


def _find_mechanism(text: str, log: TraceLog, coordinates: Any) -> Channel:
    """Return the channel of a mechanism between the places of traces."""
    if coordinates is not None and not isinstance(coordinates, str | os.PathLike):
        raise UnmaskError("a mechanism by name takes coordinates from a file; give its path")
    places = None if coordinates is None else Path(coordinates)
    return make_channel(parse_mechanism(text), Prior(log.places, log.prior, ""), places)


def audit_channels(
    channels: Mapping[str, Channel],
    model: LossModel | None = None,
    *,
    title: str = "Audit of a channel",
    measures: Sequence[Measure] = (),
    limit: bool = True,
    assumptions: Sequence[str] = (),
) -> Result:
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
    measures : sequence of Measure
        Further measures.
    limit : bool
        Compute the limit that no mechanism of a distortion passes, which may take minutes.
    assumptions : sequence of str
        Sentences to add to the assumptions.
    """
    model = model or LossModel()
    _check_same_secrets(channels)
    attacked = [AttackedChannel.run(name, channel, model) for name, channel in channels.items()]
    facts, reason = measure_channels(attacked, model, limit=limit)
    score_rows = partial(score_belief, model=model, further=measures)
    rows = tuple(row for item in attacked for row in score_rows(item.belief, release=item.name))
    uniform = np.allclose(prior := attacked[0].channel.prior, prior[0], rtol=1e-9, atol=0)
    result = describe(
        facts,
        rows,
        title=title,
        assumptions=(
            "The adversary knows the channel and the prior, and decides best under the loss.",
            ANSWERS[model.loss] if isinstance(model.loss, str) else LINES,
            *(f"Another adversary {words}." for words in ADVERSARIES.values()),
            *([FORBIDDEN] if isinstance(model.loss, np.ndarray) and not np.isfinite(model.loss).all() else []),
            *([UNIFORM] if uniform else []),
            *assumptions,
        ),
        not_run=(("The limit of privacy at a distortion", reason),) if reason else (),
    )
    return _leave_out(result, [measure for measure in measures if measure.needs_truth], NO_TRUTH)


def describe(
    facts: ChannelFacts,
    rows: tuple[Row, ...],
    *,
    title: str,
    assumptions: tuple[str, ...] = (),
    not_run: tuple[tuple[str, str], ...] = (),
) -> Result:
    """Return the result of facts about channels: tables, findings and what to do next."""
    return channel_result(
        title=title,
        setting=f"An adversary sees an output of a channel for one of {facts.n_secrets:,} secrets, and estimates it.",
        headline=headline(facts),
        rows=rows,
        facts=make_tables(facts),
        blocks=make_blocks(facts),
        criteria=_criteria(facts),
        at_risk=describe_risk(facts),
        advice=advise(facts),
        adversaries={EAVESDROPPER: "knows the channel and the prior"},
        sample_condition="epsilon <= 1",
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
