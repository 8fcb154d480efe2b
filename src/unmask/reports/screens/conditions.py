"""Conditions as lines of a first screen: state, how far, value, limit, and the distance between them as a drawing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from unmask.policy import Assessment
from unmask.policy.condition import Sign
from unmask.policy.verdict import limit_ratio
from unmask.render.svg import coordinate
from unmask.reports.data import COUNTS
from unmask.reports.findings.verdict import about, amount, called, distance, narrow
from unmask.results import DecisionItem
from unmask.results.suppression import hide_few

FARTHEST = 8.0
"""How many times the limit, or part of it, the strip of a condition reaches."""

BOUND: Mapping[Sign, str] = {"<=": "at most", ">=": "at least", "<": "below", ">": "above"}
"""What is asked of a value, before its limit."""

UNSOURCED = "no source given"
"""What stands for who asks for a condition, where nobody is named."""

SEEN = 6
"""Conditions, or verdicts, that the first screen has room for."""


TOLD = 3
"""Conditions up to which it has room to say what each is about."""


def first(items: Iterable[DecisionItem]) -> tuple[DecisionItem, ...]:
    """Those that the screen has room for, what is missed or open before what is met; of few, what they are about."""
    all_items = list(items)
    selected = all_items if len(all_items) <= SEEN else sorted(all_items, key=lambda item: item.state == "met")
    return tuple(selected[:SEEN] if len(selected) <= TOLD else (replace(item, about="") for item in selected[:SEEN]))


def factor(assessment: Assessment) -> float | None:
    """How many times its limit the value of a condition is; None where that says nothing."""
    closest = assessment.closest
    return None if closest is None else limit_ratio(closest.value, assessment.requirement.require)


def checked(assessment: Assessment, least: int) -> DecisionItem:
    """A condition as a line of the first screen; least : the fewest people that are counted."""
    requirement, closest = assessment.requirement, assessment.closest
    value = "\u2013" if closest is None else amount(assessment, closest.value)
    if closest is not None and requirement.require.measure in COUNTS:
        value = str(hide_few(int(closest.value), least))
    ratio = factor(assessment)
    return DecisionItem(
        state=assessment.state,
        name=called(requirement),
        finding=narrow(assessment) or distance(assessment) or assessment.unknown_reason,
        value=value,
        limit=f"{BOUND[requirement.require.sign]} {amount(assessment, requirement.require.bound)}",
        source=requirement.source or UNSOURCED,
        about=about(assessment),
        ratio=math.nan if ratio is None else ratio,
    )


def draw_ratio(item: DecisionItem) -> str:
    """Return a value next to its limit on a logarithmic line, from an eighth of the limit to eight times it."""
    ratio, state = item.ratio, item.state
    if ratio is None:
        return ""
    dash = ' stroke-dasharray="2 4"' if math.isnan(ratio) else ""
    drawn = [f'<path class="line" d="M0,10H76"{dash}/>', '<path class="limit" d="M38,3V17"/>']
    if not math.isnan(ratio):
        share = math.log(min(max(ratio, 1 / FARTHEST), FARTHEST)) / math.log(FARTHEST)
        x = coordinate(38 + 34 * share)
        drawn += [f'<path class="off" d="M38,10H{x}"/>', f'<circle cx="{x}" cy="10" r="4.5"/>']
    look = f'class="dist {state}" width="76" height="20" viewBox="0 0 76 20" aria-hidden="true"'
    return f"<svg {look}>{''.join(drawn)}</svg>"


def one_sentence(text: str) -> str:
    """The first sentence of a text.

    >>> one_sentence("They find 4.0 % of 20 people. Of 3 releases it is the highest.")
    'They find 4.0 % of 20 people.'
    """
    return re.split(r"(?<=[.!?]) (?=[A-Z\u201c\d])", text)[0]
