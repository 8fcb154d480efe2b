"""Parts of a first screen that an audit wrote in English, in the active language."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from unmask.languages import retranslate
from unmask.results import Advice, Alternative, AtRisk, Decision, DecisionItem, Fact

Item = TypeVar("Item", Decision, DecisionItem, AtRisk, Fact, Advice, Alternative)

UNTRANSLATED = frozenset({"command", "state", "section", "release"})
"""Fields of the first screen whose values are no words for readers."""

LISTED = frozenset({"paragraphs", "figures", "headings"})
"""Fields of the first screen with several texts."""


def retranslate_item(item: Item) -> Item:
    """Return an item with its texts in the active language; commands, states and names of releases are unchanged."""
    texts: dict[str, Any] = {}
    for name, value in vars(item).items():
        if name in LISTED:
            texts[name] = tuple(map(retranslate, value))
        elif isinstance(value, str) and name not in UNTRANSLATED:
            texts[name] = retranslate(value)
    return replace(item, **texts)


def retranslate_risk(risk: AtRisk) -> AtRisk:
    """Return the people at risk, with their facts, in the active language."""
    return replace(retranslate_item(risk), facts=tuple(map(retranslate_item, risk.facts)))
