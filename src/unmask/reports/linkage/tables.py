"""Tables of the section on linkage: guesses and whole partitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from unmask.measures.linkage import WHOLE
from unmask.reports.data import Scope
from unmask.reports.linkage.values import GuessLinkage, Linkage
from unmask.reports.linkage.words import ALIASES, rate, score, strongest_first
from unmask.reports.sections import Grid, listing
from unmask.reports.words import lettered, number, percent

PANELS = 4
"""Guesses that have a chart of their own."""


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
    rates: tuple[str, ...] = (
        "Breached",
        "Shuffled",
        "Clean",
        "One away",
        "Median mergings",
        "Most",
        "Gini",
        "Jain",
        "Kind",
    )
    rates = rates[:3] if all(one.guess.at_least for one in told) else rates
    rows = tuple(
        (
            one.name,
            f"{one.guess.clusters:,}",
            *((f"{one.guess.partitions:,}",) if views else ()),
            *_rates(one.guess)[: len(rates)],
        )
        for one in told
    )
    return Grid((*head, *rates), (("", rows),))


def _rates(guess: GuessLinkage) -> tuple[str, ...]:
    shares = (rate(guess, "breached"), percent(guess.guessing), rate(guess, "clean"), percent(guess.one_away))
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


def count(value: float) -> str:
    """Items or mergings: whole numbers as they are, expectations with a decimal.

    >>> count(1204.0), count(1.43)
    ('1,204', '1.4')
    """
    return number(value) if math.isfinite(value) and value == int(value) else number(value, 1)
