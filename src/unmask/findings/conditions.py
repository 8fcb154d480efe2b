"""Conditions as lines of a first screen: state, how far, value, limit, and the distance between them as a drawing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from unmask.findings.verdict_words import about, amount, called, distance, narrow
from unmask.policy import Assessment
from unmask.policy.condition import Sign
from unmask.policy.verdict import limit_ratio
from unmask.results import DecisionItem
from unmask.results.names import COUNTS
from unmask.results.suppression import hide_few

BOUND: Mapping[Sign, str] = {"<=": "at most", ">=": "at least", "<": "below", ">": "above"}
"""Sign of a condition -> words before its limit."""

UNSOURCED = "no source given"
"""Words for a condition without a source."""

SEEN = 6
"""Conditions, or verdicts, that the first screen has room for."""


TOLD = 3
"""Conditions up to which it has room to say what each is about."""


def first(items: Iterable[DecisionItem]) -> tuple[DecisionItem, ...]:
    """Return the conditions that the screen has room for, unmet ones first; with their subjects if they are few."""
    all_items = list(items)
    selected = all_items if len(all_items) <= SEEN else sorted(all_items, key=lambda item: item.state == "met")
    return tuple(selected[:SEEN] if len(selected) <= TOLD else (replace(item, about="") for item in selected[:SEEN]))


def factor(assessment: Assessment) -> float | None:
    """Return the ratio of the value of a condition to its limit; None if the ratio has no meaning."""
    closest = assessment.closest
    return None if closest is None else limit_ratio(closest.value, assessment.requirement.require)


def checked(assessment: Assessment, least: int) -> DecisionItem:
    """Return a condition as a line of the first screen; least : the smallest count that is shown."""
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


def one_sentence(text: str) -> str:
    """Return the first sentence of a text.

    >>> one_sentence("They find 4.0 % of 20 people. Of 3 releases it is the highest.")
    'They find 4.0 % of 20 people.'
    """
    return re.split(r"(?<=[.!?]) (?=[A-Z\u201c\d])", text)[0]
