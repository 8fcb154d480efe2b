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
from unmask.tables.attacks.learned import BackOff
from unmask.tables.background import Attack, Background, Rng, before
from unmask.tables.counted import Combinations
from unmask.tables.release import Table


@dataclass(frozen=True)
class AttributeInference:
    """What is the target's value of a sensitive column? p(s given y) = sum over records x of p(x given y) [x has
    value s].

    The link is any attack whose candidates are released records; over an equivalence class the answer is the class's
    own histogram, which is exact for an adversary to whom the people of a class are exchangeable: one who learns from
    the other columns who in the class has which value may do better (Kifer 2009).

    Of a target whom no record fits, the release is still data about people like them: what is learned from it is
    believed. An adversary who gave up there would make what a record adds look larger than it is.

    The prior is the histogram of `population`: of the table before protection, of a named population, of people who
    were not released. It is what is believed of a target as far as they may be absent, and neither suppression nor
    sampling moves it. A released value that the population lacks weighs half a person. Without a population the
    release's own histogram stands in for it, and the provenance says so: `prior` is "population" or "release".

    sensitive : the column
    link      : how the adversary finds the target's record
    outside   : what they believe of those whom no record fits; `BackOff(sensitive)` when left out

    Assumes: what `link` assumes, and that sensitive cells were released as they are.

    Fails when: the people of a class can be told apart, or no row is anybody's, as in a synthetic release: there
    `BackOff` learns from all rows.

    >>> told = {"age": ["[20, 29]", "[20, 29]", "[30, 39]"], "ill": ["flu", "none", "flu"]}
    >>> release = Table.read(told, quasi_identifiers="age", sensitive="ill")
    >>> known = Table.read({"age": [24]}, quasi_identifiers="age")
    >>> belief = AttributeInference("ill")(release, Background(known))
    >>> [(one.candidate, one.probability) for one in belief.candidates(0)]
    [('flu', 0.5), ('none', 0.5)]

    Rebollo-Monedero et al. 2012, section V-A1 (l-diversity) and V-B1 (t-closeness). D. Kifer, "Attacks on privacy and
    deFinetti's theorem", SIGMOD 2009.
    """

    sensitive: str
    link: Attack = field(default_factory=ClassAttack)
    outside: BackOff | None = field(default=None, repr=False)

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:
        """The belief about the sensitive value of each person known."""
        return self.through(self.link(release, knowledge, rng=rng), release, knowledge)

    def knowing(self, protection: Any) -> Self:
        """The same, by a link that is told what made the release, where it is one that wants to know."""
        return replace(self, link=self.link.knowing(protection)) if hasattr(self.link, "knowing") else self

    def through(self, link: Posterior, release: Table, knowledge: Background | None = None) -> Posterior:
        """The belief that follows from one about records that is there already, made by `link`."""
        column, known = release.column(self.sensitive), Background.of(knowledge)
        labels, prior, source = before(column, known.population)
        provenance = {"attack": repr(self), "prior": source}
        if isinstance(release, Combinations):
            given = None if known.population is None else prior
            return values(release, column, labels=labels, prior=given, provenance=provenance)
        outside = self._of_nobody(link, release, known, prior)
        return compose(link, column.codes, labels=labels, prior=prior, outside=outside, provenance=provenance)

    def _of_nobody(
        self, link: Posterior, release: Table, known: Background, prior: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """(n_observations, n_values) what is believed of those whom no record fits; None where there are none."""
        seen, first = np.unique(link.observation, return_index=True)
        nobody = (link.row_length[seen] == 0) & (link.n_unlisted[seen] == 0)
        outside = self.outside or BackOff(self.sensitive)
        if known.people is None or not nobody.any() or outside.refusal(release, known):
            return None
        found = np.tile(prior, (link.n_observations, 1))
        found[seen[nobody]] = outside(release, replace(known, people=known.people.take(first[nobody]))).to_dense()
        return found
