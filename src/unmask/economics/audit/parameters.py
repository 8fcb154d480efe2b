"""Parameters of attackers in words: names, meanings and values for readers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from unmask.economics.attacker import Attacker
from unmask.results import Column, Table
from unmask.results.formats import number, percent

PARAMETERS: Final[Mapping[str, tuple[str, str]]] = {
    "gain": ("Gain for a re-identification", "worth of one re-identification to the attacker"),
    "access_cost": ("Price of the outside data", "paid for each person attacked alone, and once in a campaign"),
    "link_cost": ("Cost of linking", "paid to look up a person in the outside data"),
    "exploit_cost": ("Cost per try", "paid for each candidate tried"),
    "fine": ("Fine", "paid if a try is detected"),
    "max_fines": ("Maximum number of fines", "in a campaign, or for one person attacked alone; later tries are free"),
    "detection_base": ("Detection at the first try", "probability that the first try is detected"),
    "detection_growth": ("Growth of detection", "change of the odds of detection with every failed try"),
    "detection": ("Detection, try by try", "probability that a try is detected; the last one holds for later tries"),
    "believed_detection": ("Believed detection", "the probability of detection on which the attacker bases their plan"),
    "detection_prior": ("Belief about detection", "detected and undetected tries in advance; each try adds one"),
    "false_alarms": ("False alarms", "probability that a wrong candidate looks like the right one"),
    "false_claim_cost": ("Cost of a false claim", "paid for a wrong candidate; it ends the attack on a person"),
    "audit_rate": ("Audits", "factor of the probability of detection at every try"),
    "audit_every": ("Audited tries", "one try in this many is audited; the others cannot be detected"),
    "arrest": ("Detection ends the attack", "no further candidate is tried after the fine"),
    "prior": ("Person is in the outside data", "probability that the person attacked is in the outside data at all"),
    "confirmation": ("Success is noticed", "probability that the attacker notices a re-identification"),
    "max_tries": ("Maximum number of tries", "candidates tried for one person"),
    "ties": ("If nothing is gained or lost", "decision if an attack is worth nothing"),
    "discount": ("Discount per step", "worth today of money one step later; a step is one access, link or try"),
    "gain_delay": ("Delay of the gain", "steps from a try to its gain"),
    "fine_delay": ("Delay of the fine", "steps from a try to its fine"),
    "link_delay": ("Delay of linking", "steps"),
}
"""Parameter -> name and meaning for readers; others keep their name."""

OPTIONAL: Final = (
    "link_cost", "audit_rate", "audit_every", "arrest", "confirmation", "false_alarms", "false_claim_cost", "ties"
)  # fmt: skip
"""Parameters that have no effect at their default, and are left out then."""

DISCOUNTING: Final = ("discount", "gain_delay", "fine_delay", "link_delay")
"""Parameters that have no effect if the discount is 1."""

PROBABILITIES: Final = (
    "prior", "confirmation", "discount", "detection", "believed_detection", "false_alarms", "recovered"
)  # fmt: skip

VALUES: Final = {"walk_away": "walks away", "attack": "attacks", "unlimited": "unlimited"}


def name_parameter(parameter: str) -> str:
    """Return the name of a parameter for readers."""
    return PARAMETERS.get(parameter, (parameter.replace("_", " "), ""))[0]


def format_parameter(parameter: str, value: object) -> str:
    """Write the value of a parameter: amounts, and probabilities and changes of odds in percent.

    >>> format_parameter("fine", 10_000), format_parameter("prior", 0.63).replace("\u00a0", " ")
    ('10,000', '63.0 %')
    >>> format_parameter("max_fines", float("inf")), format_parameter("arrest", True)
    ('unlimited', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(format_parameter(parameter, item) for item in value)
    if not isinstance(value, int | float):
        return VALUES.get(str(value), str(value))
    if parameter == "detection_base":
        return percent(_logistic(value))
    if parameter == "detection_growth":
        growth = math.expm1(min(value, 700.0))
        return ("+" if growth > 0 else "") + percent(growth)
    if parameter in PROBABILITIES:
        return percent(value)
    return "unlimited" if value == math.inf else number(value)


def parameter_table(name: str, parameters: Mapping[str, Any]) -> Table:
    """Return the name, meaning and value of each parameter that has an effect, the known ones first."""
    columns = (Column("assumption", "Assumption"), Column("meaning", "Meaning"), Column("value", "Value"))
    order = [*(item for item in PARAMETERS if item in parameters), *(parameters.keys() - PARAMETERS.keys())]
    defaults = {item.name: item.default for item in fields(Attacker)}
    without_effect = {key for key in OPTIONAL if key in parameters and parameters[key] == defaults[key]}
    without_effect |= set(DISCOUNTING) if parameters.get("discount", 1) == 1 else set()
    records = (
        (name_parameter(key), _describe(key, parameters), format_parameter(key, parameters[key]))
        for key in order
        if key not in without_effect
    )
    return Table.from_records(name, columns, records)


def _describe(parameter: str, parameters: Mapping[str, Any]) -> str:
    meaning = PARAMETERS.get(parameter, ("", ""))[1]
    if parameter != "detection_growth" or "detection_base" not in parameters:
        return meaning
    base, growth = parameters["detection_base"], parameters["detection_growth"]
    if growth == 0:
        return "every try is detected with the same probability"
    tenth, twentieth = (percent(_logistic(base + growth * (attempt - 1))) for attempt in (10, 20))
    return f"odds grow with each failed try: {tenth} at the 10th try, {twentieth} at the 20th"


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
