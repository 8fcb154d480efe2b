"""Protections of items: new pseudonyms for the items of a population.

A protection is called with a population, whose pseudonyms are the users. It returns (release, solution): the same items
and features under new pseudonyms in random order, and the partition of the released items by user. New pseudonyms are
the numbers 0, 1, ... in a uniformly random permutation, so they disclose only their number. `rng` is for tests and
studies; without it, draws use randomness of the operating system.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition
from unmask.core.randomness import secret_unless
from unmask.linkage.items import Items

Released = tuple[Items, Partition]


@dataclass(frozen=True)
class PerItem:
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

    def __call__(self, population: Items, *, rng: np.random.Generator | None = None) -> Released:
        """Return the release under new pseudonyms, and the solution."""
        rng = secret_unless(rng)
        _users(population)
        return _shuffle(population, np.arange(len(population)), rng)


@dataclass(frozen=True)
class PerPeriod:
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

    length: float

    def __post_init__(self) -> None:
        if not 0 < self.length < np.inf:
            raise UnmaskError(f"the length is {self.length}, expected a number above 0")

    def __call__(self, population: Items, *, rng: np.random.Generator | None = None) -> Released:
        """Return the release under new pseudonyms, and the solution."""
        rng = secret_unless(rng)
        users = _users(population)
        if population.time is None:
            raise UnmaskError("the items have no time, which PerPeriod needs; name it in Items.read(time=...)")
        period = np.floor(population.time / self.length).astype(np.int64)
        return _shuffle(population, _pair_groups(users.code, Partition(period).code), rng)


@dataclass(frozen=True)
class PerContext:
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

    def __call__(self, population: Items, *, rng: np.random.Generator | None = None) -> Released:
        """Return the release under new pseudonyms, and the solution."""
        rng = secret_unless(rng)
        users = _users(population)
        if population.context is None:
            raise UnmaskError("the items have no context, which PerContext needs; name it in Items.read(context=...)")
        return _shuffle(population, _pair_groups(users.code, Partition(population.context).code), rng)


@dataclass(frozen=True)
class Split:
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

    k: int = 2

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UnmaskError(f"k is {self.k}, expected at least 1 pseudonym for each user")

    def __call__(self, population: Items, *, rng: np.random.Generator | None = None) -> Released:
        """Return the release under new pseudonyms, and the solution."""
        rng = secret_unless(rng)
        users = _users(population)
        part = rng.integers(self.k, size=len(population))
        return _shuffle(population, _pair_groups(users.code, part), rng)


def _users(population: Items) -> Partition:
    if population.pseudonym is None:
        raise UnmaskError(
            "the items have no pseudonym, expected the user of each; name it in Items.read(pseudonym=...)"
        )
    return population.partition


def _pair_groups(user: NDArray[np.integer[Any]], group: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return (n,) group numbers of the distinct pairs."""
    combined = user.astype(np.int64) * (int(group.max()) + 1) + group
    return np.unique(combined, return_inverse=True)[1]


def _shuffle(population: Items, group: NDArray[np.int64], rng: np.random.Generator) -> Released:
    """Return the items in random order, with a random pseudonym for each group."""
    labels = rng.permutation(int(group.max()) + 1)
    order = rng.permutation(len(population))
    shuffled = population.take(order)
    assert shuffled.pseudonym is not None
    return replace(shuffled, pseudonym=labels[group[order]]), Partition(shuffled.pseudonym, items=shuffled.ids)
