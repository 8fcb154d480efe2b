"""Sentences about a rational attacker: campaigns, attacks one by one, and the group sizes that escape."""

from __future__ import annotations

import math
from collections.abc import Callable

from unmask.economics.attacker import Attacker
from unmask.economics.audit.facts import CampaignPrice, PriceFacts, ReleasePrice
from unmask.economics.campaigns.bounds import Bounds
from unmask.economics.plans.prices import Thresholds
from unmask.results.formats import number, percent, round_up
from unmask.results.rows import ORIGINAL
from unmask.results.words import join_names, release_name

MAX_NAMES = 3
"""Releases that a sentence names."""


def format_amount(value: float) -> str:
    """Write an amount of money: whole from 100 on, else with at most two decimals.

    >>> format_amount(2519.92), format_amount(3.9381), format_amount(0.0)
    ('2,520', '3.94', '0')
    """
    return number(value) if value == int(value) or abs(value) >= 100 else number(value, 2)


def format_bounds(bounds: Bounds, write: Callable[[float], str] = format_amount) -> str:
    """Write a number that is known between two bounds, once if they read the same.

    >>> format_bounds(Bounds(12.0, 12.0)), format_bounds(Bounds(12.0, 15.0))
    ('12', '12 to 15')
    """
    low, high = map(write, bounds)
    return low if low == high else f"{low} to {high}"


def describe_campaign(campaign: CampaignPrice, targets: str, attacker: Attacker) -> str:
    """Return the gain and success of one campaign against some targets, and the fine that stops it."""
    if campaign.not_run:
        return f"One campaign against {targets} was not computed: {campaign.not_run}."
    payoff, upper = campaign.payoff
    if upper == 0:
        return f"No campaign against {targets} pays."
    if payoff == 0:
        return f"One campaign against {targets} gains at most {format_amount(upper)}. It may not pay at all."
    share, stops = format_bounds(campaign.success, percent), campaign.fines[1]
    change = f"{round_up(stops)} instead of {format_amount(attacker.fine)}"
    fine = change if attacker.fine < stops else round_up(stops)
    stop = f"A fine of {fine} stops every campaign." if stops < math.inf else "No fine is known to stop every campaign."
    return (
        f"One campaign against {targets} gains {format_bounds(campaign.payoff)}. It re-identifies {share} of them, "
        f"if every try that pays is made. {stop}"
    )


def describe_campaigns(facts: PriceFacts) -> str:
    """Return the campaign against the riskiest release, and that the attacker is assumed."""
    prices, source = _protected(facts), facts.source
    if not prices:
        return ""
    worst = prices[0]
    targets = f"all {worst.n:,} people in {release_name(worst.release)}"
    if worst.campaign.payoff[1] == 0 and len(prices) > 1:
        targets = f"all people of any of the {len(prices)} releases"
    sentence = describe_campaign(worst.campaign, targets, source.attacker)
    if source.is_assumed:
        sentence = f"Assumed, not observed ({source.name}): {sentence[0].lower()}{sentence[1:]}"
    gain = format_amount(source.attacker.gain)
    return f"{sentence} A re-identification is worth {gain} to the attacker, in the currency of their profile."


def _protected(facts: PriceFacts) -> list[ReleasePrice]:
    """Return the releases, the riskiest first; without the original, unless there is no other."""
    prices = facts.riskiest_first
    return [price for price in prices if price.release != ORIGINAL] or prices


def describe_safest(facts: PriceFacts) -> str:
    """Return the releases in which no campaign pays, or the one in which a campaign re-identifies least."""
    prices = _protected(facts)
    if len(prices) < 2 or prices[0].campaign.payoff[1] == 0:
        return ""
    spared = [release_name(price.release) for price in facts.releases if price in prices and _is_spared(price)]
    if spared:
        names = f"{len(spared)} of the {len(prices)} releases" if len(spared) > MAX_NAMES else join_names(spared)
        return f"In {names} no campaign pays."
    largest, smallest = prices[0].campaign.success, prices[-1].campaign.success
    if math.isnan(smallest[1]):
        return ""
    if percent(smallest[1]) == percent(largest[1]):
        return f"A campaign re-identifies the same share in all {len(prices)} releases."
    name, share = release_name(prices[-1].release), format_bounds(smallest, percent)
    return f"Of {len(prices)} releases, {name} has the lowest share: a campaign re-identifies {share}."


def _is_spared(price: ReleasePrice) -> bool:
    return price.campaign.payoff[1] == 0


def describe_single_attacks(facts: PriceFacts) -> str:
    """Return how many people of the riskiest release are attacked one by one, and how many are re-identified."""
    worst = _protected(facts)[0]
    if worst.attacked == 0:
        return "" if _is_spared(worst) else describe_attacked(0.0, "")
    if worst.realized is None:
        return describe_attacked(worst.attacked, percent(worst.success))
    return describe_attacked(worst.attacked, f"{percent(worst.realized)} ({percent(worst.success)} expected)")


def describe_attacked(attacked: float, success: str) -> str:
    """Return the shares of people that are attacked and re-identified one by one."""
    if attacked == 0:
        return "One by one, no attack pays: the outside data and the fines are paid for each person."
    return f"One by one, {percent(attacked)} are worth an attack and {success} are re-identified."


def describe_thresholds(thresholds: Thresholds) -> str:
    """Return up to which size a group is attacked, with the outside data at hand too, and tried to the end."""
    exhausted, attacked, sunk = thresholds
    if attacked is not None and attacked <= 1:
        return f"Alone, no group is worth an attack; with the outside data at hand, {_up_to(sunk)}."
    if attacked is None and exhausted is None:
        return "Alone, groups of every size shown are worth an attack. Every candidate is tried."
    fully_tried = min(size for size in (exhausted, attacked) if size is not None)
    at_hand = f"; with the outside data at hand, {_up_to(sunk)}" if attacked is not None else ""
    return f"Alone, {_up_to(attacked)} are worth an attack{at_hand}. Every candidate is tried in {_up_to(fully_tried)}."


def describe_unfined(size: float | None) -> str:
    """Return the size from which no fine is needed; "" if it is unknown.

    >>> describe_unfined(736)
    'No fine is needed for groups of 736 or more, even with the outside data at hand.'
    """
    if size is None:
        return ""
    if size == math.inf:
        return "Without a fine, groups of any size are worth a try."
    return f"No fine is needed for groups of {size:,.0f} or more, even with the outside data at hand."


def _up_to(threshold: int | None) -> str:
    if threshold is None:
        return "groups of every size shown"
    return "no group" if threshold <= 1 else f"groups up to {threshold - 1:,}"
