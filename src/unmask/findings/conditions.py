"""Conditions as lines of a first screen: state, how far, value, limit, and the distance between them as a drawing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from unmask.findings.verdict_words import (
    amount,
    describe_contradiction,
    describe_distance,
    explain_condition,
    name_requirement,
)
from unmask.languages import gettext as _
from unmask.languages import mark, retranslate
from unmask.policy import Assessment
from unmask.policy.condition import Sign
from unmask.results import DecisionItem
from unmask.results.formats import SPACE
from unmask.results.names import COUNTS
from unmask.results.suppression import hide_few

BOUND: Mapping[Sign, str] = {"<=": "\u2264", ">=": "\u2265", "<": "<", ">": ">"}
"""Sign of a condition -> sign before its limit."""

UNSOURCED = mark("no source given")
"""Words for a condition without a source."""

MAX_ITEMS = 6
"""Conditions, or verdicts, of a first screen."""

MAX_EXPLAINED = 1
"""Conditions of a first screen that explains them, with their sources."""


def select_items(items: Iterable[DecisionItem]) -> tuple[DecisionItem, ...]:
    """Return the conditions of the first screen, unmet ones first if there are many; explained if they are few."""
    all_items = list(items)
    selected = all_items if len(all_items) <= MAX_ITEMS else sorted(all_items, key=lambda item: item.state == "met")
    if len(selected) <= MAX_EXPLAINED:
        return tuple(selected)
    return tuple(replace(item, about="", source="") for item in selected[:MAX_ITEMS])


def make_item(assessment: Assessment, smallest_group: int) -> DecisionItem:
    """Return a condition as a line of the first screen; counts below `smallest_group` are hidden."""
    requirement, closest = assessment.requirement, assessment.closest
    value = "\u2013" if closest is None else amount(assessment, closest.value)
    if closest is not None and requirement.require.measure in COUNTS:
        value = str(hide_few(int(closest.value), smallest_group))
    return DecisionItem(
        state=assessment.state,
        name=name_requirement(requirement),
        finding=describe_contradiction(assessment)
        or describe_distance(assessment)
        or retranslate(assessment.unknown_reason),
        value=value,
        limit=f"{BOUND[requirement.require.sign]}{SPACE}{amount(assessment, requirement.require.bound)}",
        source=_(requirement.source or UNSOURCED),
        about=explain_condition(assessment),
        ratio=math.nan if assessment.ratio is None else assessment.ratio,
    )


def first_sentence(text: str) -> str:
    """Return the first sentence of a text.

    >>> first_sentence("They find 4.0 % of 20 people. Of 3 releases it is the highest.")
    'They find 4.0 % of 20 people.'
    """
    return split_sentences(text)[0]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of an English text."""
    return re.split(r"(?<=[.!?]) (?=[A-Z\u201c\d])", text)
