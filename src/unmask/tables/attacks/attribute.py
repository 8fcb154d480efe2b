"""Attribute inference: through whoever the target may be, what is their sensitive value?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unmask.inference import compose
from unmask.posterior import Posterior
from unmask.tables.attacks.classes import ClassAttack
from unmask.tables.attacks.counted import values
from unmask.tables.background import Attack, Background, Rng
from unmask.tables.column import Column
from unmask.tables.counted import Combinations
from unmask.tables.release import Table


@dataclass(frozen=True)
class AttributeInference:
    """What is the target's value of a sensitive column? p(s given y) = sum over records x of p(x given y) [x has
    value s].

    The link is any attack whose candidates are released records; over an equivalence class the answer is the class's
    own histogram, which is exact for an adversary to whom the people of a class are exchangeable: one who learns from
    the other columns who in the class has which value may do better (Kifer 2009).

    The prior is the histogram of `population`: of the table before protection, of a named population, of people who
    were not released. It is what is believed of a target who is believed absent, and neither suppression nor sampling
    moves it. A released value that the population lacks weighs half a person. Without a population the release's own
    histogram stands in for it, and the provenance says so: `prior` is "population" or "release".

    sensitive : the column
    link      : how the adversary finds the target's record

    >>> AttributeInference("diagnosis")
    AttributeInference(sensitive='diagnosis', link=ClassAttack(prior_present=1.0))

    Rebollo-Monedero et al. 2012, section V-A1 (l-diversity) and V-B1 (t-closeness). D. Kifer, "Attacks on privacy and
    deFinetti's theorem", SIGMOD 2009.
    """

    sensitive: str
    link: Attack = field(default_factory=ClassAttack)

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:
        """The belief about the sensitive value of each person known."""
        return self.through(self.link(release, knowledge, rng=rng), release, knowledge)

    def knowing(self, protection: Any) -> Self:
        """The same, by a link that is told what made the release, where it is one that wants to know."""
        return replace(self, link=self.link.knowing(protection)) if hasattr(self.link, "knowing") else self

    def through(self, link: Posterior, release: Table, knowledge: Background | None = None) -> Posterior:
        """The belief that follows from one about records that is there already, made by `link`."""
        column = release.column(self.sensitive)
        labels, prior = column.levels.labels, None
        population = Background.of(knowledge).population
        if population is not None:
            labels, prior = _before(column, population.column(self.sensitive))
        source = "release" if prior is None else "population"
        provenance = {"attack": repr(self), "prior": source}
        if isinstance(release, Combinations):
            return values(release, column, labels=labels, prior=prior, provenance=provenance)
        return compose(link, column.codes, labels=labels, prior=prior, provenance=provenance)


def _before(released: Column, known: Column) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """The values of either column, the released one's first, and the share of people with each before the release."""
    labels = tuple(dict.fromkeys(released.levels.labels + known.levels.labels))
    place = {label: at for at, label in enumerate(labels)}
    people = np.zeros(len(labels))
    people[[place[label] for label in known.levels.labels]] = known.counts
    occurs = np.bincount(released.codes, minlength=len(labels)) > 0
    people[occurs & (people == 0)] = 0.5
    return labels, people / people.sum()
