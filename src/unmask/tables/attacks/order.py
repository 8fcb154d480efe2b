"""The order attacker: has the source in its order, or guesses that it was sorted, and tries to undo the release's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.sparse import coo_array

from unmask.core.csr_rows import by_class
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, equal_weights, stored
from unmask.tables.attacks.pairing import Pairing, fits_of, pair, pairs_where
from unmask.tables.attacks.shuffles import SHUFFLES, LastPlaces, Shuffle
from unmask.tables.attacks.sortedness import grouped, sorted_by_content
from unmask.tables.background import Background, Rng, people_of
from unmask.tables.release import Table

NEGLIGIBLE = 1e-9
"""Explanations less likely than this beside all others are left out."""

WIDE = 256
"""People of equal rank and class beyond whom a rank is taken to tell nothing: to hold so many alike is to guess."""

CONFIRMED = 2000
"""Seeds of one shuffle that are confirmed with the whole permutation; where more pass, the release cannot tell them."""


@dataclass(frozen=True)
class OrderAttack:
    """Which released record is this person's, by the order of the rows alone? The adversary has the source in order.

    They weigh how row i of the release came to stand at i:

    shuffled : at random, by a source of chance that nobody can repeat.
    as it was : row i is the person of rank i in the source as it is, reversed, or sorted by a column that they know,
        ascending or descending, people of equal value in the order of the source or in any order.
    seeded : row i is the person of rank p(i) in one of these orders, p the permutation that NumPy's `default_rng`,
        NumPy's RandomState (which pandas uses) or Python's `random` makes from a seed of 0 to `seeds`.
    grouped : the rows of a class stand together, inside in the order of the source or at random.

    These four are alike a priori, and so is what each of them covers. What the adversary knows of people tests an
    explanation, and does not narrow down who is who: without one, each of the n records is believed 1 / n. Given the
    rows, an order of people who all fit the cells at their places has likelihood 1 / F, against 1 / n! for chance, with
    F the number of ways in which people fit rows: prod_c n_c! where classes are disjoint, and in general at most
    prod_i r_i!^(1 / r_i), r_i the rows that fit person i (Bregman-Minc), which is used. With people of equal rank in
    any order, the likelihood is multiplied by prod_b (prod_c n_bc!) / n_b!, over ranks b and classes c.

    A release that is sorted by what its rows say tells no more by its order than by its rows, since anyone can sort
    them: nothing is believed beyond 1 / n, even if the source was sorted, too.

    People whom no row fits were left out of the release; the order is that of the others. Unless these are as many as
    there are rows (a sample was drawn), no order is tried. Other generators, larger seeds, and shuffles of files before
    they were read are not covered.

    Assumes: the adversary has the source in its order, and the four explanations are alike a priori.

    Fails when: rows were shuffled by a generator or a seed that is not tried. That nothing is found proves no good
    shuffle.

    >>> ages = {"age": [31, 57, 22, 43, 68, 19]}
    >>> people = Table.read(ages, quasi_identifiers="age")
    >>> belief = OrderAttack()(people, Background(people))  # released as it was
    >>> bool(np.exp(belief.log_probability).min() > 0.99), belief.candidate
    (True, array([0, 1, 2, 3, 4, 5], dtype=int32))

    L. M. Bregman, "Some properties of nonnegative matrices and their permanents", 1973, for the bound on F.
    """

    seeds: int = 100_000
    reads_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.seeds < 2**32:
            raise UnmaskError(f"seeds is {self.seeds}, expected a largest seed from 0 to {2**32 - 1}")

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """The belief about each person known, who are the source in its order."""
        source = people_of(knowledge, self)
        provenance = {"attack": repr(self), "missing": release.missing}
        if sorted_by_content(release):
            return _guess(release.n_rows, source.n_rows, provenance | {"order": "sorted"})
        scene = _Scene.of(release, source)
        if len(scene.people) != release.n_rows:
            return _guess(release.n_rows, source.n_rows, provenance | {"order": "sampled"})
        found = list(_explanations(scene, self.seeds))
        chance = np.log(0.25)  # of the four, the one that the others are weighed against
        if scene.grouped:
            chance = np.logaddexp(chance, np.log(0.125) + scene.log_grouped)
        total = np.logaddexp.reduce([chance, *(one.log_weight for one in found)])
        kept = [(one, float(np.exp(one.log_weight - total))) for one in found if one.log_weight - total > _LOG_LEAST]
        if not kept:
            return _guess(release.n_rows, source.n_rows, provenance | {"order": "chance"})
        best = max(kept, key=lambda pair: pair[1])[0].kind
        return _belief(scene, kept, source.n_rows, provenance | {"order": best})


_LOG_LEAST = float(np.log(NEGLIGIBLE))

_FEW = 1_000
"""First rows that are looked at before all are: an order that is none of the rows' seldom fits them."""


@dataclass(frozen=True, eq=False)
class _Order:
    """People by rank: `person[rank]`; those of one `block` may stand in any order (blocks ascend with the rank)."""

    person: NDArray[np.int64]
    block: NDArray[np.int64] | None = None

    def at(self, rank: NDArray[np.int64], fits: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether somebody who fits may have each of the ranks; fits : (n,) by person."""
        if self.block is None:
            return fits[self.person[rank]]
        some: NDArray[np.bool_] = np.bincount(self.block, weights=fits[self.person]) > 0
        return some[self.block[rank]]


@dataclass(frozen=True, eq=False)
class _Explanation:
    """How the rows came to stand as they do: row i is the person of rank `rank[i]` in an order; see `_explanations`."""

    kind: str
    order: _Order
    rank: NDArray[np.int64]
    log_weight: float


@dataclass(frozen=True, eq=False)
class _Scene:
    """The release and the people who may be in it, in the order of the source, by distinct rows.

    people : (n,) rows of the source that some record fits
    seen   : (n,) observation of each of them;  klass : (n_rows,) class of each record
    key    : sorted observation * n_classes + class of every pair that fits
    rows   : (n_observations,) records that fit each observation
    only   : (n_observations,) the one class that fits each, or None where some fit several
    known  : for each column that is known, its codes, by person
    """

    people: NDArray[np.int64]
    seen: NDArray[np.int64]
    klass: NDArray[np.int64]
    n_classes: int
    key: NDArray[np.int64]
    rows: NDArray[np.int64]
    only: NDArray[np.int64] | None
    known: tuple[NDArray[np.int32], ...]

    @classmethod
    def of(cls, release: Table, source: Table) -> _Scene:
        pairing = pair(source, release)
        observation, klass = pairs_where(pairing, fits_of(pairing.columns, missing=release.missing))
        n_classes = len(pairing.classes)
        rows = np.bincount(observation, weights=pairing.sizes[klass], minlength=len(pairing.observed)).astype(np.int64)
        inside = rows[pairing.observation] > 0
        if release.missing == "excluded":
            inside &= ~_any_missing(pairing)
        people = np.flatnonzero(inside)
        alone = len(observation) == np.count_nonzero(rows)  # each fits one class
        only = np.full(len(rows), -1, dtype=np.int64)
        only[observation] = klass
        return cls(
            people=people,
            seen=pairing.observation[people].astype(np.int64),
            klass=pairing.klass.astype(np.int64),
            n_classes=n_classes,
            key=observation * n_classes + klass,
            rows=rows,
            only=only if alone else None,
            known=tuple(known.codes[people] for known, _ in pairing.columns),
        )

    @property
    def n(self) -> int:
        """Rows, and people."""
        return len(self.klass)

    @cached_property
    def log_fit(self) -> float:
        """How much likelier a fitting order of people makes the sequence than chance: log n! - log F."""
        r = self.rows[self.seen]
        return float(scipy.special.gammaln(self.n + 1) - np.sum(scipy.special.gammaln(r + 1) / np.maximum(r, 1)))

    @cached_property
    def grouped(self) -> bool:
        """Whether classes stand together, some with rows to order, and each person fits one, as many as it has rows."""
        if self.only is None or self.n_classes == self.n or not grouped(self.klass):
            return False
        return np.array_equal(np.bincount(self.only[self.seen], minlength=self.n_classes), np.bincount(self.klass))

    @property
    def log_grouped(self) -> float:
        """How much likelier the sequence is than by chance, if classes stand together, in any order of classes."""
        return self.log_fit - float(scipy.special.gammaln(self.n_classes + 1))

    def fits(self, person: NDArray[np.int64], row: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each person fits the record beside."""
        if not self.key.size:
            return np.zeros(len(person), dtype=bool)
        wanted = self.seen[person] * self.n_classes + self.klass[row]
        place = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        return np.asarray(self.key[place] == wanted, dtype=bool)

    def fit(self, row: int) -> NDArray[np.bool_]:
        """(n,) the people who fit a record."""
        return self.fits(np.arange(self.n), np.full(self.n, row))

    def orders(self) -> Iterator[_Order]:
        """The orders that the source may have had."""
        every = np.arange(self.n)
        yield _Order(every)
        yield _Order(every[::-1])
        for codes in self.known:
            last = int(codes.max(initial=0))
            for value in (codes, last - codes):
                person = by_class(value, last + 1).astype(np.int64)
                yield _Order(person)
                if self.only is not None:
                    ranked = value[person]
                    yield _Order(person, np.cumsum(np.diff(ranked, prepend=ranked[:1]) != 0))

    def log_explained(self, order: _Order, rank: NDArray[np.int64]) -> float:
        """How much likelier the sequence is than by chance, if row i is the person of rank `rank[i]`; -inf: never."""
        if order.block is None:
            person, every = order.person[rank], np.arange(self.n)
            fit = self.fits(person[:_FEW], every[:_FEW]).all() and self.fits(person, every).all()
            return self.log_fit if fit else -np.inf
        assert self.only is not None
        people = order.block * self.n_classes + self.only[self.seen[order.person]]
        records = order.block[rank] * self.n_classes + self.klass
        groups, sizes = np.unique(people, return_counts=True)
        if not np.array_equal(np.sort(people), np.sort(records)):
            return -np.inf
        blocks = np.bincount(groups // self.n_classes, weights=sizes)
        return self.log_fit + float(scipy.special.gammaln(sizes + 1).sum() - scipy.special.gammaln(blocks + 1).sum())


def _any_missing(pairing: Pairing) -> NDArray[np.bool_]:
    """(n_targets,) people of whom a quasi-identifier is missing, who are left out by the rule "excluded"."""
    gone = [pairing.observed[:, i] == known.levels.missing for i, (known, _) in enumerate(pairing.columns)]
    return np.asarray(np.any(gone, axis=0)[pairing.observation], dtype=bool)


# --- explanations -----------------------------------------------------------------------------------------------------


def _explanations(scene: _Scene, largest: int) -> Iterator[_Explanation]:
    """Every explanation but chance that the rows allow, with log(prior times likelihood / likelihood by chance)."""
    orders, every, found = list(scene.orders()), np.arange(scene.n), False
    for order in orders:
        log_ratio = scene.log_explained(order, every)
        if log_ratio > -np.inf:
            found = found or order.block is None
            yield _Explanation("unshuffled", order, every, log_ratio + np.log(0.25 / len(orders)))
    if scene.grouped:
        yield _Explanation("grouped", *_inside(scene), scene.log_grouped + np.log(0.125))
    n_seeded = len(orders) * len(SHUFFLES) * (largest + 1)
    if found and scene.log_fit > np.log(n_seeded / NEGLIGIBLE):  # explained, and no seed would fit by accident
        return
    prior = np.log(0.25 / n_seeded)
    for shuffle in SHUFFLES:
        passed = list(_passing(scene, orders, shuffle, largest))
        for seed in dict.fromkeys(seed for seed, _ in passed):
            rank = shuffle.permutation(seed, scene.n)
            for order in (order for one, order in passed if one == seed):
                log_ratio = scene.log_explained(order, rank)
                if log_ratio > -np.inf:
                    yield _Explanation("seeded", order, rank, log_ratio + prior)


def _inside(scene: _Scene) -> tuple[_Order, NDArray[np.int64]]:
    """The rows of each class are its people in the order of the source."""
    assert scene.only is not None
    order = _Order(np.argsort(scene.only[scene.seen], kind="stable"))
    rank = np.empty(scene.n, dtype=np.int64)
    rank[np.argsort(scene.klass, kind="stable")] = np.arange(scene.n)
    return order, rank


def _passing(scene: _Scene, orders: list[_Order], shuffle: Shuffle, largest: int) -> list[tuple[int, _Order]]:
    """Seeds and orders whose last places fit; none where more than `CONFIRMED` seeds pass."""
    places = LastPlaces(shuffle, range(largest + 1), scene.n)
    order, seed = np.nonzero(_tested(scene, orders, places))
    if len(np.unique(seed)) > CONFIRMED:
        return []
    return [(int(one), orders[which]) for which, one in zip(order, seed, strict=True)]


def _tested(scene: _Scene, orders: list[_Order], places: LastPlaces) -> NDArray[np.bool_]:
    """(n_orders, n_seeds) whether the people at the last places fit the rows there."""
    alive = np.ones((len(orders), len(places.used)), dtype=bool)
    told = np.arange(len(places.used))
    for row in range(scene.n - 1, 0, -1):
        told, place = places.next(told)
        if not told.size:
            break
        fits = scene.fit(row)
        for which, order in enumerate(orders):
            alive[which, told] &= order.at(place, fits)
        told = told[alive[:, told].any(axis=0)]
    return alive


# --- belief -----------------------------------------------------------------------------------------------------------


def _guess(n_records: int, n_people: int, provenance: dict[str, str]) -> Posterior:
    """Each record is believed 1 / n of everyone."""
    return Posterior(
        indptr=np.array([0, 0]),
        candidate=np.empty(0, dtype=np.int32),
        log_probability=np.empty(0),
        unlisted=np.ones(1),
        n_unlisted=np.array([n_records]),
        observation=np.zeros(n_people, dtype=np.int64),
        weight=equal_weights(n_people),
        n_candidates=n_records,
        log_prior=-float(np.log(n_records)),
        status="model",
        provenance=provenance,
    )


def _belief(
    scene: _Scene, found: list[tuple[_Explanation, float]], n_people: int, provenance: dict[str, str]
) -> Posterior:
    """What the explanations say, weighted, and the rest shared by all records alike."""
    person, record, mass = (np.concatenate(part) for part in zip(*(_said(scene, *one) for one in found), strict=True))
    n = scene.n
    listed = coo_array((mass, (scene.people[person], record)), shape=(n_people, n)).tocsr()
    listed.sum_duplicates()
    length = np.diff(listed.indptr)
    rest = 1.0 - np.asarray(listed.sum(axis=1)).reshape(-1)
    rest = np.where(rest > 1e-7, rest, 0.0)  # what the sums leave of 1
    row = np.repeat(np.arange(n_people), length)
    absent = np.ones(n_people, dtype=bool)
    absent[scene.people] = False
    return Posterior(
        indptr=listed.indptr.astype(np.int64),
        candidate=listed.indices.astype(np.int32),
        log_probability=stored(np.log(listed.data + rest[row] / n)),
        unlisted=np.where(absent, 1.0, rest * (n - length) / n),
        n_unlisted=np.where(absent, 0, n - length),
        observation=np.arange(n_people),
        weight=equal_weights(n_people),
        n_candidates=n,
        log_prior=-float(np.log(n)),
        status="model",
        provenance=provenance,
    )


def _said(
    scene: _Scene, one: _Explanation, weight: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """(person, record, probability) of an explanation; people of one rank and class hold its records alike."""
    every = np.arange(scene.n)
    if one.order.block is None:
        return one.order.person[one.rank], every, np.full(scene.n, weight)
    assert scene.only is not None
    group = one.order.block * scene.n_classes + scene.only[scene.seen[one.order.person]]
    of_record = one.order.block[one.rank] * scene.n_classes + scene.klass
    people, records = one.order.person[np.argsort(group, kind="stable")], np.argsort(of_record, kind="stable")
    _, size = np.unique(group, return_counts=True)
    start, size = (np.cumsum(size) - size)[size <= WIDE], size[size <= WIDE]
    pairs = size * size
    within = np.arange(pairs.sum()) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    width, begin = np.repeat(size, pairs), np.repeat(start, pairs)
    return people[begin + within // width], records[begin + within % width], weight / width
