"""Tables of the section on linkage: guesses, whole partitions, and the subjects at most risk."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unmask.reports.data import Scope
from unmask.reports.linkage.values import GuessLinkage, Linkage, SubjectRisk
from unmask.reports.linkage.words import ALIASES, WHOLE, score, strongest_first
from unmask.reports.sections import Grid, listing
from unmask.reports.words import lettered, number, percent

PANELS = 4
"""Guesses that have a chart, and a list of subjects, of their own."""

LISTED = 10
"""Subjects in one list."""

CLUSTERS = 8
"""Clusters of one subject that are listed."""


@dataclass(frozen=True)
class Told:
    """A guess with the number of its look, and its name with its letter where letters are used."""

    guess: GuessLinkage
    style: int
    name: str


def told_apart(linkage: Linkage, scope: Scope) -> list[Told]:
    """The guesses, the strongest first, each in the look of its rows; guesses without rows come after all others."""
    styles = dict(scope.styles)
    for guess in linkage.guesses:
        styles.setdefault(guess.name, len(styles))
    return [
        Told(guess, styles[guess.name], lettered(guess.name, styles[guess.name], len(scope.adversaries)))
        for guess in strongest_first(linkage)
    ]


def guess_table(told: Sequence[Told]) -> Grid:
    """Guess by guess: how many subjects are breached, how near the others are, and how unequal they are."""
    views = any(one.guess.partitions > 1 for one in told)
    head = ("Guess", "Clusters", *(("Partitions",) if views else ()))
    rates = ("Breached", "Shuffled", "Clean", "One away", "Median mergings", "Most", "Gini", "Jain", "Kind")
    rows = tuple(
        (
            one.name,
            f"{one.guess.clusters:,}",
            *((f"{one.guess.partitions:,}",) if views else ()),
            *_rates(one.guess),
        )
        for one in told
    )
    return Grid((*head, *rates), (("", rows),))


def _rates(guess: GuessLinkage) -> tuple[str, ...]:
    shares = (percent(share) for share in (guess.breached, guess.guessing, guess.clean, guess.one_away))
    merged = (count(value) for value in (guess.median_mergings, guess.most_mergings))
    return (*shares, *merged, number(guess.gini, 2), number(guess.jain, 2), guess.kind)


def whole_tables(told: Sequence[Told]) -> tuple[Grid, ...]:
    """What is said of the whole partition, a line for each measure that any guess has, known ones first."""
    named = [{ALIASES.get(name, name): value for name, value in one.guess.whole.items()} for one in told]
    known = dict.fromkeys(name for values in named for name in values)
    order = [*(name for name in WHOLE if name in known), *(name for name in known if name not in WHOLE)]
    values = {
        one.name: {name: score(own[name]) if name in own else None for name in order}
        for one, own in zip(told, named, strict=True)
    }
    return tuple(listing(values, WHOLE, "As a whole"))


def subject_tables(told: Sequence[Told]) -> tuple[Grid, ...]:
    """For each of the first guesses the subjects at most risk, and what to merge to link their items."""
    now = ("Linked now", "Lacking", "Foreign", "Foreign share")
    head = ("Subject", "Items", "Pieces", *now, "Mergings", "Slope", "Clusters to merge, in order")
    return tuple(
        Grid(head, (("", tuple(_subject(item) for item in one.guess.worst[:LISTED])),), caption=one.name)
        for one in told
        if one.guess.worst
    )


def _subject(item: SubjectRisk) -> tuple[str, ...]:
    return (
        str(item.number),
        f"{item.items:,}",
        f"{item.pieces:,}",
        percent(item.linked),
        count(item.miss),
        count(item.include),
        percent(item.foreign),
        count(item.mergings),
        number(item.slope, 2),
        listed(item.clusters),
    )


def count(value: float) -> str:
    """Items or mergings: whole numbers as they are, expectations with a decimal.

    >>> count(1204.0), count(1.43)
    ('1,204', '1.4')
    """
    return number(value) if math.isfinite(value) and value == int(value) else number(value, 1)


def listed(clusters: Sequence[int]) -> str:
    """The first numbers, and how many more there are.

    >>> listed([7, 3]), listed(range(10))
    ('7, 3', '0, 1, 2, 3, 4, 5, 6, 7 ... and 2 more')
    """
    if not clusters:
        return "\u2013"
    more = f" ... and {len(clusters) - CLUSTERS:,} more" if len(clusters) > CLUSTERS else ""
    return ", ".join(map(str, clusters[:CLUSTERS])) + more


def subject_notes(linkage: Linkage) -> list[str]:
    """Which subjects and guesses are listed."""
    longest = max(len(guess.worst) for guess in linkage.guesses)
    shown: Mapping[str, bool] = {
        f"The first {LISTED} of the subjects at most risk are listed.": longest > LISTED,
        f"The {PANELS} strongest guesses have a list.": len(linkage.guesses) > PANELS,
    }
    return [text for text, holds in shown.items() if holds] if longest else []
