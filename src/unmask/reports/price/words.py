"""How a report speaks of the rational attacker: what he is made of, what he does, and what would stop him."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unmask.reports.data import ORIGINAL, Scope
from unmask.reports.price.values import Price, ReleasePrice
from unmask.reports.words import letter, number, percent, release_name

PARAMETERS = {
    "gain": ("Gain for a right name", "what naming one person correctly is worth to him"),
    "access_cost": ("Price of the outside data", "paid for every person attacked alone; only once in a campaign"),
    "link_cost": ("Cost of linking", "paid to look a person up in the outside data"),
    "exploit_cost": ("Cost per try", "paid for every candidate he tries"),
    "fine": ("Fine", "paid when a try is detected"),
    "max_fines": ("Fines at most", "how often he can be fined for one person; then he is fined no more"),
    "detection_base": ("Caught at the first try", "chance that the first try is detected"),
    "detection_growth": ("Growth of that chance", "by so much the odds of being caught change with every failed try"),
    "detection": ("Caught, try by try", "chance that a try is detected; the last one holds for all later tries"),
    "audit_every": ("Tries looked at", "one try in so many is looked at; the others cannot be detected"),
    "arrest": ("Caught once, the attack ends", "after the fine he tries no further candidate"),
    "prior": ("Person is in the outside data", "chance that the person attacked is in the outside data at all"),
    "confirmation": ("Notices a right name", "chance that he notices that a name is right"),
    "max_tries": ("Tries at most", "candidates he tries for one person at most"),
    "ties": ("Nothing to gain, nothing to lose", "what he does where attacking and walking away are worth the same"),
    "discount": ("Money a step later", "what it is worth today; a step is one access, one link or one try"),
    "gain_delay": ("Delay of the gain", "steps from a try to its gain"),
    "fine_delay": ("Delay of the fine", "steps from a try to its fine"),
    "link_delay": ("Delay of linking", "steps that it takes"),
}
"""Parameter -> name and meaning for readers; others show the name they go by."""

NEUTRAL: Mapping[str, object] = {
    "link_cost": 0,
    "audit_every": 1,
    "arrest": False,
    "confirmation": 1,
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
    if name in ("prior", "confirmation", "discount", "detection"):
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
        return "every try is detected with the same chance"
    tenth, twentieth = (percent(chance) for chance in later)
    return f"{PARAMETERS[name][1]}: {tenth} at the 10th try, {twentieth} at the 20th"


def bounded(text: str, price: ReleasePrice) -> str:
    """A figure of a campaign, called a lower bound where it is one."""
    return text if price.campaign_exact else f"at least {text}"


def several_adversaries(price: Price, scope: Scope) -> bool:
    """Whether it must be said which adversary a price is about."""
    return len(scope.adversaries) > 1 or len({item.adversary for item in price.releases}) > 1


def adversary_mark(adversary: str, scope: Scope) -> str:
    """The letter of an adversary, or the name of one that the rows do not know."""
    return letter(scope.styles[adversary]) if adversary in scope.styles else adversary


def price_findings(price: Price | None, scope: Scope) -> list[str]:
    """One to three sentences: the riskiest release, the safest, and the campaign where it names more people."""
    if price is None or not price.releases:
        return []
    rows = [item for item in price.releases if item.release != ORIGINAL] or list(price.releases)
    worst = max(rows, key=lambda item: (item.success, item.attacked, item.campaign_success))
    rivals = [item for item in rows if item.adversary == worst.adversary]
    found = [_attack(price, worst, rivals, scope), _safest(worst, rivals), _campaign(rivals)]
    return [sentence for sentence in found if sentence]


def _attack(price: Price, worst: ReleasePrice, rivals: Sequence[ReleasePrice], scope: Scope) -> str:
    subject = f"A rational attacker{_knowing(price, worst, scope)}"
    if (gain := amount_of(price, "gain")) is not None:
        subject += f", to whom a right name is worth {amount(gain)},"
    where = release_name(worst.release)
    if worst.attacked == 0:
        any_of = where if len(rivals) == 1 else f"any of the {len(rivals)} releases"
        return f"{subject} attacks nobody in {any_of} one by one: no single attack pays."
    return (
        f"{subject} attacks {percent(worst.attacked)} of {worst.n:,} people in {where} one by one: for each of them he "
        f"tries {number(worst.tries, 1)} candidates and spends {amount(worst.cost)}. {_named(worst)}; "
        f"{stop(price, worst)}."
    )


def _named(item: ReleasePrice) -> str:
    """How many people are named one by one: by several tries each, unlike what other findings are about."""
    if item.realised is None:
        return f"By these tries, not by one guess each, he expects to name {percent(item.success)} of all"
    expected = f"he expects {percent(item.success)}"
    return f"By these tries, not by one guess each, he names {percent(item.realised)} of all ({expected})"


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
    """What fine would keep him away from everybody, as the end of a sentence."""
    if math.isinf(item.stopping_fine):
        return "no fine would stop him altogether"
    now = amount_of(price, "fine")
    instead = f" instead of {amount(now)}" if now is not None and now < item.stopping_fine else ""
    return f"a fine of {least(item.stopping_fine)}{instead} would stop him altogether"


def _safest(worst: ReleasePrice, rivals: Sequence[ReleasePrice]) -> str:
    """How far the other releases go; where nobody is attacked in some of them, which."""
    if len(rivals) < 2 or worst.attacked == 0:
        return ""
    spared = [release_name(item.release) for item in rivals if item.attacked == 0]
    if spared:
        some = f"{len(spared)} of the {len(rivals)} releases" if len(spared) > 3 else _listed(spared)
        return f"In {some} he attacks nobody one by one."
    best = min(rivals, key=lambda item: (item.success, item.attacked))
    if percent(best.success) == percent(worst.success):
        return f"In all {len(rivals)} releases he names as many."
    return (
        f"Of {len(rivals)} releases the lowest is {release_name(best.release)}: there he attacks "
        f"{percent(best.attacked)} and names {percent(best.success)}."
    )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _campaign(rivals: Iterable[ReleasePrice]) -> str:
    """The campaign that matters most: one that pays where no single attack does, else one that names more people."""
    more = [item for item in rivals if percent(item.campaign_success) != percent(item.success)]
    more = [item for item in more if item.campaign_success > item.success]
    alone = [item for item in more if item.attacked == 0]
    if not more:
        return ""
    item = max(alone or more, key=lambda one: one.campaign_success)
    although = "pays although no single attack does: it " if alone else ""
    return (
        f"One campaign against all people in {release_name(item.release)}, the outside data paid once, {although}"
        f"names {percent(item.campaign_success)} and brings him "
        f"{bounded(amount(item.campaign_payoff), item)}."
    )


def thresholds_sentence(price: Price) -> str:
    """Up to which size of the group he tries everybody, attacks, and attacks with the outside data at hand."""
    exhausted, attacked, sunk = price.thresholds
    if attacked is not None and attacked <= 1:
        return f"He attacks no group, and with the outside data at hand {_up_to(sunk)}."
    if attacked is None and exhausted is None:
        return "He attacks groups of every size shown, and tries every candidate."
    both = min(size for size in (exhausted, attacked) if size is not None)
    at_hand = f", and with the outside data at hand {_up_to(sunk)}" if attacked is not None else ""
    comma = "," if at_hand else " and"
    return f"He tries every candidate of {_up_to(both)}{comma} attacks {_up_to(attacked)}{at_hand}."


def _up_to(threshold: int | None) -> str:
    if threshold is None:
        return "groups of every size shown"
    return "no group" if threshold <= 1 else f"groups up to {threshold - 1:,}"
