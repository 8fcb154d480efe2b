"""A channel: in how many cases it gives most away, and which mechanism leaves more."""

from __future__ import annotations

import math
from collections.abc import Iterator

from unmask.reports.data import Scope
from unmask.reports.facts.channel import ChannelRisk, MechanismRisk
from unmask.reports.findings.channel import alike, off, quantity
from unmask.reports.parts import Advice, AtRisk, Tried
from unmask.reports.words import percent, plural, release_name


def at_risk(channel: ChannelRisk, scope: Scope) -> AtRisk:  # noqa: ARG001 - as every subject is asked
    """The share of cases in which the observation gives most away, and what is left there."""
    item, unit = channel.spoken_of, channel.unit
    first = next(((error, share) for error, share in channel.spread if alike(error, item.worst)), None)
    worst = f"the adversary is {off(item.worst, unit)} there"
    if first is None or alike(item.worst, item.privacy):
        return AtRisk("All", f"cases alike: {worst}", facts=tuple(_facts(channel)))
    return AtRisk(percent(first[1]), f"of cases show what gives most away: {worst}", facts=tuple(_facts(channel)))


def _facts(channel: ChannelRisk) -> Iterator[tuple[str, str]]:
    first = next(iter(channel.per_observation), None)
    if first is not None and first.likeliest:
        _, chance = first.likeliest[0]
        yield "There", f"the likeliest secret has {percent(chance)}"
    if len(channel.mechanisms) > 1:
        yield "Mechanism", channel.spoken_of.name


def advice(channel: ChannelRisk, scope: Scope) -> Advice | None:
    """The mechanisms that were given, those that leave most first; of a single one, how the best is designed."""
    verdicts = scope.data.verdicts
    known = sorted(channel.mechanisms, key=lambda one: -one.privacy)
    if len(known) > 1:
        heads = ("error left", *(("distortion",) if channel.distorts else ()))
        return Advice("", _design(channel), tuple(_change(one, channel, scope) for one in known[:4]), heads)
    if {one.state for one in verdicts} == {"acceptable"}:
        return None
    reached = channel.reached(channel.spoken_of)
    said = "No change was tried. This finds the mechanism that leaves most within a budget of distortion:"
    if reached is not None and reached >= 1 - 1e-4:
        cost = quantity(channel.spoken_of.distortion, channel.distortion_unit)
        said = f"No mechanism leaves more at a distortion of {cost}; more privacy costs more. At another budget:"
    return Advice(said, _design(channel))


def _design(channel: ChannelRisk) -> str:
    budget = 2 * channel.spoken_of.distortion
    given = f"{budget:.3g}" if math.isfinite(budget) else "BUDGET"
    return f"unmask design --budget {given} -o mechanism.csv"


def _change(one: MechanismRisk, channel: ChannelRisk, scope: Scope) -> Tried:
    own = [verdict for verdict in scope.data.verdicts if verdict.release == one.name]
    missed = sum(verdict.count("missed") for verdict in own)
    told = f"{plural(missed, 'condition')} missed" if missed else "every tested condition met" if own else ""
    state = ("missed" if missed else "met") if own else ""
    cost = (quantity(one.distortion, channel.distortion_unit),) if channel.distorts else ()
    return Tried(release_name(one.name), told, state, (quantity(one.privacy, channel.unit), *cost))
