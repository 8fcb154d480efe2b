"""A channel: whose secret it gives away most, by what it shows, and which mechanism leaves more."""

from __future__ import annotations

import math
from collections.abc import Iterator

from unmask.reports.data import Scope
from unmask.reports.facts.channel import ChannelRisk, MechanismRisk
from unmask.reports.findings.channel import alike, off, quantity
from unmask.reports.parts import Advice, AtRisk, Tried
from unmask.reports.words import percent, plural, release_name, short


def at_risk(channel: ChannelRisk, scope: Scope) -> AtRisk | None:  # noqa: ARG001 - as every subject is asked
    """How sure the adversary is of the secret that is given away most."""
    first = next(iter(channel.per_secret), None)
    if first is None:
        return None
    if alike(first.belief, first.prior):
        return AtRisk("Nobody", "is known any better than without seeing anything", facts=tuple(_facts(channel)))
    before = f"{percent(first.prior)} without seeing anything"
    said = f"is how sure the adversary is, on average, {_where(channel)}; {before}"
    return AtRisk(percent(first.belief), said, facts=tuple(_facts(channel)))


def _where(channel: ChannelRisk) -> str:
    """Where the secret is the one that is given away most."""
    if channel.worst_off == channel.secrets:
        return "whatever the secret"
    more = channel.worst_off - 1
    others = f" or one of {plural(more, 'other')}" if more else ""
    return f"where the secret is {short(channel.per_secret[0].secret, 24) or '(empty)'}{others}, the worst-off"


def _facts(channel: ChannelRisk) -> Iterator[tuple[str, str]]:
    item, unit = channel.spoken_of, channel.unit
    share = next((share for error, share in channel.spread if alike(error, item.worst)), None)
    if share is not None and not alike(item.worst, item.privacy):
        yield "Most telling", f"what {percent(share)} of cases show: the adversary is {off(item.worst, unit)} there"
    elif math.isfinite(item.worst):
        yield "Every case", f"the adversary is {off(item.worst, unit)}"
    first = next(iter(channel.per_observation), None)
    if first is not None and first.likeliest:
        yield "There", f"the likeliest secret has {percent(first.likeliest[0][1])}"
    if len(channel.mechanisms) > 1:
        yield "Mechanism", item.name


def advice(channel: ChannelRisk, scope: Scope) -> Advice | None:
    """The mechanisms that were given, those that leave most first, and how the best is designed."""
    verdicts = scope.data.verdicts
    budget, designs = _design(channel)
    command = f"unmask design {channel.asked} --budget {budget} -o mechanism.csv"
    known = sorted(channel.mechanisms, key=lambda one: -one.privacy)
    if len(known) > 1:
        heads = ("error left", *(("distortion",) if channel.distorts else ()))
        said = "" if any(one.state == "acceptable" for one in verdicts) else designs
        return Advice(said, command, tuple(_change(one, channel, scope) for one in known[:4]), heads)
    if {one.state for one in verdicts} == {"acceptable"} or alike(known[0].privacy, channel.prior_error):
        return None
    return Advice(f"No change was tried. {designs}", command)


def _design(channel: ChannelRisk) -> tuple[str, str]:
    """What the best mechanism may distort, and what it then leaves.

    Where the one at hand wastes part of its distortion, as much as that one; else twice that, but no more than what
    hides all, and half of what hides all where it distorts nothing.
    """
    own, unit, most = channel.spoken_of.distortion, channel.distortion_unit, channel.hides_all
    best, reached = channel.limit_at(own), channel.reached(channel.spoken_of)
    if best is not None and reached is not None and reached < 1 - 1e-4:
        gains = f"At the same distortion, {quantity(own, unit)}, the adversary could be {off(best, channel.unit)}"
        return f"{own:.6g}", f"{gains}; this finds the mechanism:"
    more = min(2 * own, most or math.inf) if own > 0 else most and most / 2
    if not more or not math.isfinite(more):
        return "BUDGET", "This finds the mechanism that leaves the most within a budget of distortion:"
    limit = "" if best is None else f"No mechanism leaves more at a distortion of {quantity(own, unit)}. "
    return f"{more:.6g}", f"{limit}This finds the one that leaves the most at a distortion of {quantity(more, unit)}:"


def _change(one: MechanismRisk, channel: ChannelRisk, scope: Scope) -> Tried:
    own = [verdict for verdict in scope.data.verdicts if verdict.release == one.name]
    missed = sum(verdict.count("missed") for verdict in own)
    told = f"{plural(missed, 'condition')} missed" if missed else "every tested condition met" if own else ""
    state = ("missed" if missed else "met") if own else ""
    cost = "unknown" if math.isnan(one.distortion) else quantity(one.distortion, channel.distortion_unit)
    figures = (quantity(one.privacy, channel.unit), *((cost,) if channel.distorts else ()))
    return Tried(release_name(one.name), told, state, figures)
