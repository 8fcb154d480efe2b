"""Protections of items: new pseudonyms for the items of a population.

A protection is called with a population, whose pseudonyms are the users. It returns (release, solution): the same items
and features under new pseudonyms in random order, and the partition of the released items by user. New pseudonyms are
the numbers 0, 1, ... in a uniformly random permutation, so they disclose only their number. `rng` is for tests and
studies; without it, draws use randomness of the operating system.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition
from unmask.core.randomness import secret_unless
from unmask.linkage.items import Items
from unmask.ranges import FINITE, CheckedParameters, Range

Released = tuple[Items, Partition]


class NewPseudonyms(CheckedParameters):
    """Protection that divides the items of each user among new pseudonyms; its subclasses group the items."""

    def group(self, population: Items, rng: np.random.Generator, /) -> NDArray[np.integer[Any]]:
        """Return (n,) a group of each item, from 0; items of a user in one group have the same pseudonym."""
        raise NotImplementedError

    def __call__(self, population: Items, *, rng: np.random.Generator | None = None) -> Released:
        """Return the release under new pseudonyms, and the solution."""
        rng = secret_unless(rng)
        if population.pseudonym is None:
            raise UnmaskError(
                "the items have no pseudonym, expected the user of each; name it in Items.read(pseudonym=...)"
            )
        group = self.group(population, rng)
        pairs = population.partition.code.astype(np.int64) * (int(group.max()) + 1) + group
        number = np.unique(pairs, return_inverse=True)[1]
        labels = rng.permutation(int(number.max()) + 1)
        order = rng.permutation(len(population))
        shuffled = population.take(order)
        users = Partition(population.pseudonym[order], items=shuffled.ids)
        return replace(shuffled, pseudonym=labels[number[order]]), users


@dataclass(frozen=True)
class PerItem(NewPseudonyms):
    """A new pseudonym for each item: no items are linked by a pseudonym.

    Assumes: only the pseudonym links the items of a person.

    Fails when: times, places or other features link them (`Threshold`, `RecordLinkage`).

    Examples
    --------
    >>> population = Items.read({"user": ["a", "a", "b"]}, pseudonym="user")
    >>> release, solution = PerItem()(population, rng=np.random.default_rng(1))
    >>> release.partition.n_clusters, sorted(solution.sizes.tolist())
    (3, [1, 2])

    References
    ----------
    A. Pfitzmann & M. Hansen, "A terminology for talking about privacy by data minimization", 2010, section 11:
    transaction pseudonyms.
    """

    def group(self, population: Items, _rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        """Return (n,) a group of each item, from 0."""
        return np.arange(len(population))


@dataclass(frozen=True)
class PerPeriod(NewPseudonyms):
    """A new pseudonym for each user at the start of each period; periods have equal length.

    Assumes: the behavior of people in one period does not identify them in the next.

    Fails when: habits do not change; or only one person changes pseudonym at a time, because the new one then follows
    the old one.

    Parameters
    ----------
    length : float
        Length of a period, above 0, in the unit of the items' time. Periods begin at its multiples, for all users.

    Examples
    --------
    >>> population = Items.read({"user": ["a"] * 4, "hour": [0, 5, 10, 11]}, pseudonym="user", time="hour")
    >>> release, _ = PerPeriod(10)(population, rng=np.random.default_rng(1))
    >>> release.partition.sizes.tolist()
    [2, 2]

    References
    ----------
    A. R. Beresford & F. Stajano, "Location privacy in pervasive computing", IEEE Pervasive Computing 2(1), 2003.
    """

    length: Annotated[float, FINITE]

    def group(self, population: Items, _rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        """Return (n,) a group of each item, from 0."""
        if population.time is None:
            raise UnmaskError("the items have no time, which PerPeriod needs; name it in Items.read(time=...)")
        return Partition(np.floor(population.time / self.length).astype(np.int64)).code


@dataclass(frozen=True)
class PerContext(NewPseudonyms):
    """A new pseudonym for each user in each context.

    Assumes: features of one context do not occur in another.

    Fails when: an address, a device or a time occurs in several contexts.

    Examples
    --------
    >>> population = Items.read({"user": ["a"] * 3, "shop": ["x", "y", "x"]}, pseudonym="user", context="shop")
    >>> release, _ = PerContext()(population, rng=np.random.default_rng(1))
    >>> sorted(release.partition.sizes.tolist())
    [1, 2]

    References
    ----------
    A. Pfitzmann & M. Hansen, "A terminology for talking about privacy by data minimization", 2010, section 11: role and
    relationship pseudonyms.
    """

    def group(self, population: Items, _rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        """Return (n,) a group of each item, from 0."""
        if population.context is None:
            raise UnmaskError("the items have no context, which PerContext needs; name it in Items.read(context=...)")
        return Partition(population.context).code


@dataclass(frozen=True)
class Split(NewPseudonyms):
    """Identity separation: each user has up to k pseudonyms, and each item is assigned to one of them at random.

    Assumes: the parts of a person's items are not more similar than those of different people.

    Fails when: items are assigned at random, because each part is then a sample of the same habits. Profiles link the
    parts again.

    Parameters
    ----------
    k : int
        Number of pseudonyms of a user, at least 1; fewer if a pseudonym gets no item. With k = 1, users are only
        renamed.

    Examples
    --------
    >>> population = Items.read({"user": ["a"] * 6}, pseudonym="user")
    >>> release, solution = Split(2)(population, rng=np.random.default_rng(1))
    >>> release.partition.n_clusters, solution.n_clusters
    (2, 1)

    References
    ----------
    G. G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, for
    identity separation in networks.
    """

    k: Annotated[int, Range(1)] = 2

    def group(self, population: Items, rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        """Return (n,) a group of each item, from 0."""
        return rng.integers(self.k, size=len(population))
