"""Attackers who compete for the same people: the first to re-identify a person is paid, the others are not."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import scipy

from unmask.economics.exploitation import Floats
from unmask.economics.response import NOTHING, Bounds, Raid, Response, chance_of
from unmask.posterior import Posterior

PRECISION: Final = 1e-13
"""Relative width at which the search for the gain of an equilibrium ends."""


def share(named: float, rivals: int) -> float:
    """Part of a gain that one of kappa rivals expects of a person within reach, if each finds them with probability nu.

    (1 - (1 - nu)^kappa) / (kappa nu), and 1 at nu = 0: rivals succeed independently of each other, and any of those who
    do is as likely to be the first.

    >>> share(0.5, 2), share(1.0, 4)
    (0.75, 0.25)
    """
    if not 0 < named < 1:
        return 1 / rivals if named else 1.0
    return float(-np.expm1(rivals * np.log1p(-named)) / (rivals * named))


def contest(raid: Raid, price: float, rivals: int) -> Response:
    """How kappa equal attackers, two or more, answer a release that costs each of them a price; all play alike.

    Behind a belief they have the same outside data: whoever is none of its candidates, with probability 1 - p, is out
    of reach of all of them. Group sizes say nothing of that, the prior is each one's own, and p is 1. Whoever is within
    reach each finds with probability nu, independently.

    Who re-identifies a person is paid s G, with s the `share` at nu; so a plan of all is in equilibrium where it is a
    best campaign against these gains. Such a plan exists and its shares are the only ones: it maximizes the sum over
    people of p G times the integral of s from 0 to nu, less costs, which is concave.

    Where all people are in groups alike and campaigns are solved the answer is exact. By symmetry nu is the same for
    everybody, N people of p m: s falls and N rises with s, so both meet at one gain. At a gain where the best campaign
    changes, or just pays, rivals mix both so that nu is the one of that share.

    Else it is bounded: s is at least the share if everybody is re-identified whom their candidates allow, so each of
    them is left with no less than a lone attacker of that gain, and with no more than one of the gain G.
    """
    if raid.pays(price) is False:
        return Response(False, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)
    found = _met(raid, price, rivals) if len(raid.reachable[0]) == 1 else None
    return found or _bounded(raid, price, rivals)


class _Answer(NamedTuple):
    """The best campaign at a gain: what it leaves, the people and fines of it, and whether the release is taken."""

    left: float
    named: float
    fines: float
    takes: bool


def _answer(raid: Raid, gain: float, price: float) -> _Answer | None:
    """The best answer of one attacker at a gain; None where it is only bounded."""
    one = raid.with_gain(gain)
    if one.worth.low < one.worth.high:
        return None
    takes = bool(one.pays(price))
    left = one.worth.low - price, one.re_identified.low, one.fines.low
    return _Answer(*left, takes) if takes else _Answer(0.0, 0.0, 0.0, takes)


def _met(raid: Raid, price: float, rivals: int) -> Response | None:
    """The equilibrium where all people are alike; None where a campaign on the way is only bounded."""
    (inside,), (people,), (within,) = *raid.reachable, _within(raid)
    gain, reach, most = raid.attacker.gain, float(within * people), float(inside / within)
    low, high = share(most, rivals) * gain, gain
    below, above = _answer(raid, low, price), _answer(raid, high, price)
    while below and above and high - low > PRECISION * high:
        middle = (low + high) / 2
        found = _answer(raid, middle, price)
        if found and share(found.named / reach, rivals) * gain > middle:
            low, below = middle, found
        else:
            high, above = middle, found
    if not below or not above:
        return None
    return _mixed(below, above, _named(low / gain, most, rivals), reach, rivals, raid)


def _within(raid: Raid) -> Floats:
    """(m,) of each kind of group the chance p that a target is within the reach of rivals."""
    inside, _ = raid.reachable
    return inside if isinstance(raid.who, Posterior) else np.ones(len(inside))


def _named(part: float, most: float, rivals: int) -> float:
    """The probability, at most this one, at which the share is this part."""
    if part >= 1 or share(most, rivals) >= part:
        return 0.0 if part >= 1 else most
    return float(scipy.optimize.brentq(lambda nu: share(nu, rivals) - part, 0.0, most, xtol=1e-15))


def _mixed(below: _Answer, above: _Answer, nu: float, reach: float, rivals: int, raid: Raid) -> Response:
    """Rivals mix the best campaigns just below and above a gain, so that each finds a person within reach with nu."""
    jump = above.named - below.named
    weight = min(max((nu * reach - below.named) / jump, 0.0), 1.0) if jump > 0 else 1.0
    takers = rivals * (below.takes + weight * (above.takes - below.takes))
    fines = rivals * (below.fines + weight * (above.fines - below.fines))
    named = -reach * float(np.expm1(rivals * np.log1p(-nu))) if nu < 1 else reach
    left, found, paid, takes = (Bounds(one, one) for one in (below.left, named, fines, takers))
    return Response(True, left, found, paid, chance_of(raid.at_least, found, int(raid.reachable[1].sum())), takes)


def _bounded(raid: Raid, price: float, rivals: int) -> Response:
    """What holds in every equilibrium in which all play alike."""
    (inside, people), gain, fine = raid.reachable, raid.attacker.gain, raid.attacker.fine
    within = _within(raid)
    most = inside / within
    poorer = raid.with_gain(share(float(most.max()), rivals) * gain)
    attacks = True if poorer.pays(price) else None
    every = float(people @ (within * (1 - (1 - most) ** rivals)))
    named = Bounds(poorer.worth.low / gain if attacks else 0.0, every)
    fines = min(raid.attacker.max_fines, gain * float(people @ inside) / fine if fine else 0.0)
    return Response(
        attacks,
        Bounds(max(poorer.worth.low - price, 0.0), max(raid.worth.high - price, 0.0)),
        named,
        Bounds(0.0, rivals * fines),
        chance_of(raid.at_least, named, int(people.sum())),
        Bounds(0.0 if attacks is None else float(rivals), float(rivals)),
    )
