"""The attackers that other tools assume, as corner cases of this one: give them to `price_records` or a table."""

from __future__ import annotations

from dataclasses import replace

from unmask.economics.attacker import Attacker


def one_shot(attacker: Attacker) -> Attacker:
    """The same attacker who may try one candidate only and does not discount: the one-shot game, equation (7).

    They attack where gain prior / g - q_0 fine - access_cost - link_cost - exploit_cost is above 0, and then
    re-identify the target with chance prior / g. Z. Wan et al., "A game theoretic framework for analyzing
    re-identification risk", 2015.
    """
    return replace(attacker, max_tries=1, discount=1.0)


def prosecutor() -> Attacker:
    """Knows that the target is in the data, pays nothing, tries one candidate: success 1 / g in a group of g.

    The mean of it over the records of a file is the marketer's risk.
    """
    return journalist(1.0)


def journalist(prior: float) -> Attacker:
    """Pays nothing and tries one candidate; the target is in the data with chance `prior`: success prior / g.

    >>> from unmask.economics import price_records
    >>> price_records(journalist(0.5), [1, 2, 5]).success_probability
    array([0.5 , 0.25, 0.1 ])
    """
    return Attacker(gain=1.0, max_fines=0, max_tries=1, prior=prior)
