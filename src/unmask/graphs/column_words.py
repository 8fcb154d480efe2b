"""Names of columns in files of networks: which of them are people, things or attributes of an edge."""

from __future__ import annotations

import re
from typing import Literal

PAIRS = frozenset(
    (
        ("source", "target"), ("from", "to"), ("src", "dst"), ("src", "dest"), ("sender", "receiver"), ("l", "r"),
        ("sender", "recipient"), ("caller", "callee"), ("follower", "followee"), ("start", "end"), ("u", "v"),
        ("i", "j"), ("a", "b"), ("1", "2"), ("ego", "alter"), ("who", "whom"), ("head", "tail"), ("left", "right"),
        ("von", "an"), ("von", "nach"),
    )
)  # fmt: skip
"""Names of the two ends of an edge."""


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENDS = frozenset(word for pair in PAIRS for word in pair if len(word) > 1)  # a letter alone may be an id
_LABELS = _word_set("id ids node vertex user person account name label key")
_PEOPLE = _LABELS | _word_set("""
    friend contact member customer employee manager boss student neighbor neighbour partner colleague actor
    author coauthor follows other patient profile recipient handle people freund kunde
""")
_THINGS = _word_set("""
    item group movie film product event page household hh city town club company organization organisation
    location place venue department team class school community cluster topic hashtag url domain
""")
_ATTRIBUTES = _word_set("""
    time timestamp ts date datetime day week month year hour since when met created weight w strength count n no
    nr calls msgs messages message texts retweets duration dur score similarity distance rating type kind
    relation relationship sign index row edge link tie value rssi lat lon age role note timeset amount number
    freq frequency layer color category probability gewicht datum anzahl
""")
_WEIGHTS = _word_set("weight w count n strength gewicht anzahl")
_SPLIT = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[a-zA-Z])(?=\d)|[\W_]+")

WordClass = Literal["people", "thing", "attribute", "unknown"]


def class_of(name: str) -> WordClass:
    """Return whether a name is one for people, things or attributes of an edge.

    >>> [class_of(name) for name in ("user_id", "household_id", "edge_id", "ToNode", "premium")]
    ['people', 'thing', 'attribute', 'people', 'unknown']
    """
    stem = _stem(name)
    if not _ATTRIBUTES.isdisjoint(stem):
        return "attribute"
    if not _THINGS.isdisjoint(stem):
        return "thing"
    return "unknown" if (_PEOPLE | _ENDS).isdisjoint(_words(name)) else "people"


def is_known(name: str) -> bool:
    """Return whether a name is one that files of networks have."""
    return class_of(name) != "unknown"


def are_ends(name: str, other: str) -> bool:
    """Return whether two names differ in one known pair of words.

    >>> are_ends("from_user", "to_user"), are_ends("playerA", "playerB"), are_ends("user", "friend")
    (True, True, False)
    """
    stems = _stem(name), _stem(other)
    if len(stems[0]) != len(stems[1]):
        return False
    different = [pair for pair in zip(*stems, strict=True) if pair[0] != pair[1]]
    return len(different) == 1 and not PAIRS.isdisjoint((different[0], different[0][::-1]))


def is_weight(name: str) -> bool:
    """Return whether a name is one for how strong an edge is, so that 0 is no edge."""
    return bool(words := _words(name)) and _WEIGHTS.issuperset(words)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _SPLIT.split(name) if word]


def _stem(name: str) -> list[str]:
    return [word for word in _words(name) if word not in _LABELS]
