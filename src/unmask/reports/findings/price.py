"""How a report speaks of the rational attacker: who they are, what they do, and what would stop them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unmask.reports.data import ORIGINAL, Scope
from unmask.reports.facts.price import Price, ReleasePrice
from unmask.reports.words import letter
from unmask.results.formats import number, percent
from unmask.results.words import listed, release_name

PARAMETERS = {
    "gain": ("Gain for a re-identification", "what re-identifying one person is worth to the attacker"),
    "access_cost": ("Price of the outside data", "paid for every person attacked alone; only once in a campaign"),
    "link_cost": ("Cost of linking", "paid to look a person up in the outside data"),
    "exploit_cost": ("Cost per try", "paid for every candidate tried"),
    "fine": ("Fine", "paid when a try is detected"),
    "max_fines": (
        "Fines at most",
        "how often they can be fined in a campaign, or for one person attacked alone; then never again",
    ),
    "detection_base": ("Caught at the first try", "probability that the first try is detected"),
    "detection_growth": (
        "Growth of that probability",
        "by so much the odds of being caught change with every failed try",
    ),
    "detection": ("Caught, try by try", "probability that a try is detected; the last one holds for all later tries"),
    "believed_detection": ("Believes to be caught", "the same as the attacker believes, whose plans rest on it"),
    "detection_prior": (
        "Belief about being caught",
        "as if so many tries had been caught, and so many not; they learn from every try how likely it is",
    ),
    "false_alarms": ("False alarms", "probability that a wrong candidate looks like the right one"),
    "false_claim_cost": (
        "Cost of a false claim",
        "paid for claiming a wrong candidate, which ends the attack on a person",
    ),
    "audit_rate": ("Audits", "by so much the probability of being caught is multiplied at every try"),
    "audit_every": ("Tries looked at", "one try in so many is looked at; the others cannot be detected"),
    "arrest": ("Caught once, the attack ends", "after the fine no further candidate is tried"),
    "prior": ("Person is in the outside data", "probability that the person attacked is in the outside data at all"),
    "confirmation": ("Notices success", "probability that a re-identification is noticed"),
    "max_tries": ("Tries at most", "candidates tried for one person at most"),
    "ties": ("Nothing to gain, nothing to lose", "what is done where attacking and walking away are worth the same"),
    "discount": ("Money a step later", "what it is worth today; a step is one access, one link or one try"),
    "gain_delay": ("Delay of the gain", "steps from a try to its gain"),
    "fine_delay": ("Delay of the fine", "steps from a try to its fine"),
    "link_delay": ("Delay of linking", "steps that it takes"),
}
"""Parameter -> name and meaning for readers; others show the name they go by."""

NEUTRAL: Mapping[str, object] = {
    "link_cost": 0,
    "audit_rate": 1,
    "audit_every": 1,
    "arrest": False,
    "confirmation": 1,
    "false_alarms": 0,
    "false_claim_cost": 0,
    "ties": "walk_away",
    "discount": 1,
}
"""Parameters that say nothing at these values, and are left out."""

DELAYS = ("gain_delay", "fine_delay", "link_delay")
"""Parameters that say nothing where money later is worth as much as money now."""


def least(amount: float) -> str:
    """The least amount that suffices: rounded up, since one rounded down would not.

    >>> least(490507.2), least(10_000.0), least(12.341)
    ('490,508', '10,000', '12.35')
    """
    if not math.isfinite(amount):
        return number(amount)
    places = 0 if amount >= 100 or amount == int(amount) else 2
    scale = 10**places
    return number(math.ceil(scale * amount * (1 - 1e-12)) / scale, places)


def amount(value: float) -> str:
    """An amount of money: whole from 100 on, else with at most two decimals.

    >>> amount(2519.92), amount(3.9381), amount(0.0)
    ('2,520', '3.94', '0')
    """
    return number(value) if value == int(value) or abs(value) >= 100 else number(value, 2)


def chance_caught(parameters: Mapping[str, Any], attempt: int) -> float | None:
    """Chance that try number `attempt` is detected, 1 / (1 + exp(-(base + growth * (attempt - 1)))), if both are known.

    >>> round(chance_caught({"detection_base": 0.0, "detection_growth": 0.1}, 1), 3)
    0.5
    """
    base, growth = (parameters.get(name) for name in ("detection_base", "detection_growth"))
    if not isinstance(base, int | float) or not isinstance(growth, int | float):
        return None
    return _logistic(base + growth * (attempt - 1))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def parameter_name(name: str) -> str:
    """A parameter by the name that readers know."""
    return PARAMETERS.get(name, (name.replace("_", " "), ""))[0]


def parameter_value(name: str, value: object) -> str:
    """The value of a parameter as readers take it: amounts, chances in percent, the odds' change in percent.

    >>> parameter_value("fine", 10_000), parameter_value("prior", 0.63).replace("\u00a0", " ")
    ('10,000', '63.0 %')
    >>> parameter_value("max_fines", float("inf")), parameter_value("arrest", True)
    ('without limit', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(parameter_value(name, item) for item in value)
    if not isinstance(value, int | float):
        return {"walk_away": "walks away", "attack": "attacks", "unlimited": "without limit"}.get(
            str(value), str(value)
        )
    if name == "detection_base":
        return percent(_logistic(value))
    if name == "detection_growth":
        growth = math.expm1(min(value, 700.0))
        return ("+" if growth > 0 else "") + percent(growth)
    if name in ("prior", "confirmation", "discount", "detection", "believed_detection", "false_alarms", "recovered"):
        return percent(value)
    return "without limit" if value == math.inf else number(value)


def parameter_rows(parameters: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    """(name, meaning, value) of each parameter, those first that have a name for readers; neutral ones are left out."""
    order = [*(name for name in PARAMETERS if name in parameters), *(n for n in parameters if n not in PARAMETERS)]
    timeless = parameters.get("discount", 1) == 1
    return tuple(
        (parameter_name(name), _meaning(name, parameters), parameter_value(name, parameters[name]))
        for name in order
        if not (name in NEUTRAL and parameters[name] == NEUTRAL[name]) and not (timeless and name in DELAYS)
    )


def _meaning(name: str, parameters: Mapping[str, Any]) -> str:
    later = [chance for attempt in (10, 20) if (chance := chance_caught(parameters, attempt)) is not None]
    if name != "detection_growth" or not later:
        return PARAMETERS.get(name, ("", ""))[1]
    if parameters[name] == 0:
        return "every try is detected with the same probability"
    tenth, twentieth = (percent(chance) for chance in later)
    return f"{PARAMETERS[name][1]}: {tenth} at the 10th try, {twentieth} at the 20th"


def between(low: float, high: float, said: Callable[[float], str]) -> str:
    """A figure that is known between two bounds: once where they read the same.

    >>> between(12.0, 12.0, amount), between(12.0, 15.0, amount)
    ('12', '12 to 15')
    """
    if math.isnan(low):
        return "not reckoned"
    return said(low) if said(low) == said(high) else f"{said(low)} to {said(high)}"


def several_adversaries(price: Price, scope: Scope) -> bool:
    """Whether it must be said which adversary a price is about."""
    return len(scope.adversaries) > 1 or len({item.adversary for item in price.releases}) > 1


def adversary_mark(adversary: str, scope: Scope) -> str:
    """The letter of an adversary, or the name of one that the rows do not know."""
    return letter(scope.styles[adversary]) if adversary in scope.styles else adversary


def findings(price: Price, scope: Scope) -> list[str]:
    """One to three sentences: the campaign against the riskiest release, attacks one by one, the safest release."""
    if not price.releases:
        return []
    rows = [item for item in price.releases if item.release != ORIGINAL] or list(price.releases)
    worst = max(rows, key=reached)
    rivals = [item for item in rows if item.adversary == worst.adversary]
    found = [_campaign(price, worst, rivals, scope), _one_by_one(worst), _safest(worst, rivals)]
    return [sentence for sentence in found if sentence]


def reached(item: ReleasePrice) -> tuple[float, float, float]:
    """How much of a release is reached, for comparisons: no campaign re-identifies more; then one by one."""
    most = item.success if math.isnan(item.campaign_most) else item.campaign_most
    return most, item.success, item.attacked


def _campaign(price: Price, worst: ReleasePrice, rivals: Sequence[ReleasePrice], scope: Scope) -> str:
    """What one attacker gains who faces all people of a release."""
    told = _told_of(price, worst, rivals, scope)
    return f"Assumed, not observed ({price.source}): {told[0].lower()}{told[1:]}" if price.assumed else told


def _told_of(price: Price, worst: ReleasePrice, rivals: Sequence[ReleasePrice], scope: Scope) -> str:
    """The same, whether the attacker is assumed or not."""
    subject = f"A rational attacker{_knowing(price, worst, scope)}"
    if (gain := amount_of(price, "gain")) is not None:
        subject += f", to whom a re-identification is worth {amount(gain)} in the currency of their profile,"
    where = f"all {worst.n:,} people in {release_name(worst.release)}"
    if math.isnan(worst.campaign_payoff):
        return f"What {subject[0].lower()}{subject[1:]} gains with one campaign against {where} was too much to reckon."
    if worst.campaign_upper == 0:
        where = where if len(rivals) == 1 else f"all people of any of the {len(rivals)} releases"
        return f"{subject} attacks nobody: no campaign against {where} pays."
    if worst.campaign_payoff == 0:
        upper = amount(worst.campaign_upper)
        return f"{subject} gains at most {upper} with one campaign against {where}; whether any pays is not settled."
    return (
        f"{subject} gains {between(worst.campaign_payoff, worst.campaign_upper, amount)} with one campaign against "
        f"{where}, the outside data paid once, and expects to re-identify "
        f"{between(worst.campaign_success, worst.campaign_most, percent)} of them, by as many tries as pay for each; "
        f"{stop(price, worst)}."
    )


def shortly(price: Price) -> str:
    """The campaign against the riskiest release in a few words; that the attacker is assumed, where they are."""
    if not price.releases:
        return ""
    rows = [item for item in price.releases if item.release != ORIGINAL] or list(price.releases)
    worst, who = max(rows, key=reached), "An assumed attacker" if price.assumed else "The attacker"
    if worst.campaign_upper == 0:
        return f"{who} attacks nobody: no campaign pays."
    if math.isnan(worst.campaign_payoff) or worst.campaign_payoff == 0:
        return f"{who} gains nothing that is known with a campaign."
    found = between(worst.campaign_success, worst.campaign_most, percent)
    return f"{who} re-identifies {found} of {worst.n:,} people with one campaign that pays."


def _one_by_one(worst: ReleasePrice) -> str:
    """The same people, each attacked as if nobody else were: where it says something else than the campaign."""
    if worst.campaign_upper == 0 and worst.attacked == 0:
        return ""
    alone = "One by one, the outside data and the fines paid for each of them,"
    if worst.attacked == 0:
        return f"{alone} no attack pays."
    expected = "" if worst.realized is None else f" ({percent(worst.success)} expected)"
    reached = percent(worst.success if worst.realized is None else worst.realized) + expected
    return (
        f"{alone} {percent(worst.attacked)} are worth an attack and {reached} are re-identified, with "
        f"{number(worst.tries, 1)} tries and {amount(worst.cost)} spent on each who is attacked."
    )


def _knowing(price: Price, worst: ReleasePrice, scope: Scope) -> str:
    if not several_adversaries(price, scope):
        return ""
    words = scope.words.get(worst.adversary, worst.adversary)
    return f" who {words}" if words != worst.adversary or words.startswith("knows ") else f" ({words})"


def amount_of(price: Price, name: str) -> float | None:
    """The value of a parameter, if it is a number."""
    value = price.parameters.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def stop(price: Price, item: ReleasePrice) -> str:
    """What fine would stop every campaign, as the end of a sentence."""
    if math.isinf(item.campaign_fines[1]):
        return "no fine is known to stop every campaign"
    now = amount_of(price, "fine")
    instead = f" instead of {amount(now)}" if now is not None and now < item.campaign_fines[1] else ""
    return f"a fine of {least(item.campaign_fines[1])}{instead} would stop every campaign"


def _safest(worst: ReleasePrice, rivals: Sequence[ReleasePrice]) -> str:
    """How far the other releases go; where no campaign pays in some of them, which."""
    if len(rivals) < 2 or worst.campaign_upper == 0:
        return ""
    spared = [release_name(item.release) for item in rivals if item.campaign_upper == 0]
    if spared:
        some = f"{len(spared)} of the {len(rivals)} releases" if len(spared) > 3 else listed(spared)
        return f"In {some} no campaign pays."
    best = min(rivals, key=reached)
    if math.isnan(best.campaign_most):
        return ""
    if percent(best.campaign_most) == percent(worst.campaign_most):
        return f"In all {len(rivals)} releases a campaign re-identifies as many."
    share = between(best.campaign_success, best.campaign_most, percent)
    return (
        f"Of {len(rivals)} releases the lowest is {release_name(best.release)}: a campaign re-identifies {share} there."
    )


def thresholds_sentence(thresholds: tuple[int | None, int | None, int | None]) -> str:
    """Up to which size a group alone is tried to the end, attacked, and attacked with the outside data at hand."""
    exhausted, attacked, sunk = thresholds
    alone = "Alone,"
    if attacked is not None and attacked <= 1:
        return f"{alone} no group is worth an attack, and with the outside data at hand {_up_to(sunk)}."
    if attacked is None and exhausted is None:
        return f"{alone} groups of every size shown are worth an attack, and every candidate is tried."
    both = min(size for size in (exhausted, attacked) if size is not None)
    at_hand = f", with the outside data at hand {_up_to(sunk)}" if attacked is not None else ""
    return f"{alone} {_up_to(attacked)} are worth an attack{at_hand}; every candidate is tried in {_up_to(both)}."


def _up_to(threshold: int | None) -> str:
    if threshold is None:
        return "groups of every size shown"
    return "no group" if threshold <= 1 else f"groups up to {threshold - 1:,}"
