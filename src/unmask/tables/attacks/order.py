"""Linkage by row order: released rows may have the order of the source, or of a sorted source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import list_members, ranges
from unmask.core.posterior import Posterior
from unmask.tables.attacks.comparisons import Codes, compare_levels
from unmask.tables.attacks.pairing import find_compatible_pairs, pair, require_rows
from unmask.tables.background import Background, Rng, people_of
from unmask.tables.levels import Missing
from unmask.tables.scales import NUMBERS
from unmask.tables.table import Table

MIN_PROBABILITY = 1e-9
"""Explanations with a lower probability are dropped."""

MAX_GROUP_SIZE = 256
"""Largest group of people with equal ranks that is linked to its rows. Larger groups are believed to be any row."""

N_PROBE_ROWS = 1_000
"""Rows that are compared first, because a wrong order usually fails there."""


@dataclass(frozen=True)
class OrderAttack:
    """Link people to released rows by the order of the rows alone.

    The adversary has the source in its order. They weigh three explanations of the row order, equally likely a priori:

    shuffled : the rows are in random order.
    unshuffled : row i is the person of rank i in the source as it is, reversed, or sorted by a known column, ascending
        or descending. People of equal value are in the order of the source or in any order.
    grouped : the rows of each class are next to each other, in the order of the source or in random order.

    What the adversary knows of people tests an explanation; it does not link. Without an explanation each of the n
    records is believed 1 / n. An order in which each person fits the row of their rank has likelihood 1 / F, against
    1 / n! for chance. F is the number of ways in which people fit rows: prod_c n_c! if classes are disjoint, and at
    most prod_i r_i!^(1 / r_i) in general, with r_i the rows that fit person i (Bregman-Minc). For ranks b whose people
    are in any order, the likelihood is multiplied by prod_b (prod_c n_bc!) / n_b!.

    A release that is sorted by its own cells links no person, because anyone can sort it. People that no row fits
    are taken to be missing from the release. No order is tried if the others are not as many as the rows.

    Assumes: the adversary has the source in its order, and the three explanations are equally likely a priori.

    Fails when: rows were shuffled with a seed that the adversary can guess.

    Examples
    --------
    >>> people = Table.read({"age": [31, 57, 22, 43, 68, 19]}, quasi_identifiers="age")
    >>> belief = OrderAttack()(people, Background(people))
    >>> bool(np.exp(belief.log_probability).min() > 0.99), belief.candidate
    (True, array([0, 1, 2, 3, 4, 5], dtype=int32))

    References
    ----------
    L. M. Bregman, "Some properties of nonnegative matrices and their permanents", 1973.
    """

    reads_order: ClassVar[bool] = True

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002
        """Return the belief about each person of the source, in the order of the source."""
        source = people_of(knowledge, self)
        require_rows(release)
        n_people, unlinked, missing = source.n_rows, scipy.sparse.csr_array((1, release.n_rows)), release.missing
        if is_sorted(release):
            return self._belief(unlinked, n_people, missing, "sorted")
        match = _Match.of(release, source)
        if len(match.people) != release.n_rows:
            return self._belief(unlinked, n_people, missing, "sampled")
        log_chance = np.logaddexp(0.0, np.log(0.5) + match.log_grouped) if match.grouped else 0.0
        explanations = list(_explanations(match))
        total = np.logaddexp.reduce([log_chance, *(explanation.log_weight for explanation in explanations)])
        weights = [float(np.exp(explanation.log_weight - total)) for explanation in explanations]
        likely = [pair for pair in zip(explanations, weights, strict=True) if pair[1] > MIN_PROBABILITY]
        if not likely:
            return self._belief(unlinked, n_people, missing, "chance")
        likeliest_kind = max(likely, key=lambda pair: pair[1])[0].kind
        pairs = [_linked_pairs(explanation, weight) for explanation, weight in likely]
        person, record, probability = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
        place = match.people[person], record
        linked = scipy.sparse.coo_array((probability, place), shape=(n_people, release.n_rows)).tocsr()
        return self._belief(linked, n_people, missing, likeliest_kind, match.people)

    def _belief(
        self,
        linked: scipy.sparse.csr_array,
        n_people: int,
        missing: Missing,
        order: str,
        people: Integers | None = None,
    ) -> Posterior:
        """Return the posterior of the linked pairs. The remaining probability is uniform over all records.

        linked : (n_people, n_rows) probabilities; one empty row if no explanation links anybody
        order  : name of the likeliest explanation
        people : people with a compatible row; None for all
        """
        n = linked.shape[1]
        linked.sum_duplicates()
        length, remainder = np.diff(linked.indptr), 1.0 - np.asarray(linked.sum(axis=1)).reshape(-1)
        remainder = np.where(remainder > 1e-7, remainder, 0.0)  # rounding of the sums
        absent = np.zeros(len(length), dtype=bool)
        if people is not None:
            absent = ~np.isin(np.arange(n_people), people)
        probability = linked.data + np.repeat(remainder, length) / n
        return Posterior.from_entries(
            linked.indptr,
            linked.indices,
            np.log(probability),
            unlisted=np.where(absent, 1.0, remainder * (n - length) / n),
            n_unlisted=np.where(absent, 0, n - length),
            observation=np.zeros(n_people, dtype=np.int64) if people is None else np.arange(n_people),
            n_candidates=n,
            status="model",
            provenance={"attack": repr(self), "missing": missing, "order": order},
        )


class _Explanation(NamedTuple):
    """Explanation of the row order: people and rows with the same group number belong together, in any order.

    kind             : "unshuffled" or "grouped"
    group_of_person  : (n,) group of each person
    group_of_row     : (n,) group of each row
    log_weight       : log(prior * likelihood) relative to a random order
    """

    kind: str
    group_of_person: Integers
    group_of_row: Integers
    log_weight: float


@dataclass(frozen=True, eq=False)
class _Match:
    """People of the source, in its order, and their compatible released rows.

    people      : (n,) rows of the source with a compatible record
    observation : (n,) distinct row of each of them
    klass       : (n,) class of each record
    pairs       : observation * n_classes + class of each compatible pair, sorted
    n_compatible   : (n_observations,) records that are compatible with each observation
    only_class  : (n,) the single compatible class of each person; None if a person has several
    columns     : codes of the people in each known column
    """

    people: Integers
    observation: Integers
    klass: Integers
    n_classes: int
    pairs: Integers
    n_compatible: Integers
    only_class: Integers | None
    columns: tuple[NDArray[np.int32], ...]

    @classmethod
    def of(cls, release: Table, source: Table) -> _Match:
        pairing = pair(source, release)
        observation, klass = find_compatible_pairs(pairing, compare_levels(pairing.columns, missing=release.missing))
        n_classes, n_observations = len(pairing.classes), len(pairing.observed)
        n_compatible = np.bincount(observation, weights=pairing.sizes[klass], minlength=n_observations).astype(np.int64)
        has_record = n_compatible[pairing.observation] > 0
        if release.missing == "excluded":
            missing = np.array([known_column.levels.missing for known_column, _ in pairing.columns])
            has_record &= ~(pairing.observed == missing).any(axis=1)[pairing.observation]
        people = np.flatnonzero(has_record)
        observed = pairing.observation[people].astype(np.int64)
        only = np.full(n_observations, -1, dtype=np.int64)
        only[observation] = klass
        has_one_class = len(observation) == np.count_nonzero(n_compatible)
        return cls(
            people=people,
            observation=observed,
            klass=pairing.klass.astype(np.int64),
            n_classes=n_classes,
            pairs=observation * n_classes + klass,
            n_compatible=n_compatible,
            only_class=only[observed] if has_one_class else None,
            columns=tuple(known_column.codes[people] for known_column, _ in pairing.columns),
        )

    @property
    def n(self) -> int:
        return len(self.klass)

    @cached_property
    def log_fit(self) -> float:
        """log n! - log F: the log-likelihood ratio of an order that fits everybody, relative to a random order."""
        r, log_factorial = self.n_compatible[self.observation], scipy.special.gammaln
        return float(log_factorial(self.n + 1) - np.sum(log_factorial(r + 1) / np.maximum(r, 1)))

    @cached_property
    def grouped(self) -> bool:
        """Return whether the rows of each class are adjacent, and each class has as many compatible people as rows."""
        if self.only_class is None or self.n_classes == self.n:
            return False
        if np.count_nonzero(np.diff(self.klass)) + 1 != self.n_classes:  # runs of rows of one class
            return False
        people, rows = (np.bincount(class_of, minlength=self.n_classes) for class_of in (self.only_class, self.klass))
        return np.array_equal(people, rows)

    @property
    def log_grouped(self) -> float:
        """Log-likelihood ratio of the grouped order, relative to a random order."""
        return self.log_fit - float(scipy.special.gammaln(self.n_classes + 1))

    def all_compatible(self, person: Integers) -> bool:
        """Return whether each person is compatible with the row of their rank.

        person : (n,) person of each rank
        """
        for ranks in (slice(N_PROBE_ROWS), slice(None)):
            pair_of_rank = self.observation[person[ranks]] * self.n_classes + self.klass[ranks]
            place = np.minimum(np.searchsorted(self.pairs, pair_of_rank), len(self.pairs) - 1)
            if not np.array_equal(self.pairs[place], pair_of_rank):
                return False
        return True


def _explanations(match: _Match) -> Iterator[_Explanation]:
    """Yield the explanations that the rows allow."""
    ranks, orders = np.arange(match.n), list(_orders(match))
    for person, block in orders:
        log_ratio, groups = -np.inf, (ranks, ranks)
        if block is None and match.all_compatible(person):
            log_ratio = match.log_fit
        elif block is not None:
            assert match.only_class is not None
            groups = block * match.n_classes + match.only_class[person], block * match.n_classes + match.klass
            log_ratio = _log_ratio_of_ties(match, *groups)
        if log_ratio > -np.inf:
            group_of_person = np.empty(match.n, dtype=np.int64)
            group_of_person[person] = groups[0]
            yield _Explanation("unshuffled", group_of_person, groups[1], log_ratio - np.log(len(orders)))
    if match.grouped:
        assert match.only_class is not None
        by_person, by_row = (
            np.argsort(np.argsort(classes, kind="stable")) for classes in (match.only_class, match.klass)
        )
        yield _Explanation("grouped", by_person, by_row, match.log_grouped + np.log(0.5))


def _orders(match: _Match) -> Iterator[tuple[Integers, Integers | None]]:
    """Yield the candidate orders as (person of each rank, block of each rank).

    The people of a block are in any order. No block is returned (None) if the order of the source breaks ties.
    """
    yield np.arange(match.n), None
    yield np.arange(match.n)[::-1], None
    for codes in match.columns:
        last = int(codes.max(initial=0))
        for value in (codes, last - codes):
            person = list_members(value).astype(np.int64)
            yield person, None
            if match.only_class is not None:
                yield person, np.cumsum(np.diff(value[person], prepend=value[person[:1]]) != 0)


def _log_ratio_of_ties(match: _Match, by_person: Integers, by_row: Integers) -> float:
    """Return the log-likelihood ratio of an order with ties; -inf if people and rows do not match."""
    first_block = slice(np.count_nonzero(by_person < match.n_classes))
    for ranks in (first_block, slice(None)):  # a wrong order usually fails in the first
        if not np.array_equal(np.sort(by_person[ranks]), np.sort(by_row[ranks])):
            return -np.inf
    groups, sizes = np.unique(by_person, return_counts=True)
    blocks, log_factorial = np.bincount(groups // match.n_classes, weights=sizes), scipy.special.gammaln
    return match.log_fit + float(log_factorial(sizes + 1).sum() - log_factorial(blocks + 1).sum())


def _linked_pairs(explanation: _Explanation, weight: float) -> tuple[Integers, Integers, Floats]:
    """Return (person, record, probability) of an explanation, uniform over the records of each group."""
    people = np.argsort(explanation.group_of_person, kind="stable")
    records = np.argsort(explanation.group_of_row, kind="stable")
    _, size = np.unique(explanation.group_of_person, return_counts=True)
    is_small, start = size <= MAX_GROUP_SIZE, np.cumsum(size) - size
    start, size = start[is_small], size[is_small]
    n_pairs = size * size
    pair_position = ranges(np.zeros_like(n_pairs), n_pairs)
    width, begin = np.repeat(size, n_pairs), np.repeat(start, n_pairs)
    return people[begin + pair_position // width], records[begin + pair_position % width], weight / width


# --- sorted releases --------------------------------------------------------------------------------------------------


def is_sorted(table: Table) -> bool:
    """Return whether the rows are sorted by their own cells, by one column and then by others.

    The columns may have any priority, and each is ascending or descending. Cells are compared as values, as text, or as
    numbers. The priority is found greedily: a column can be next if it is monotone within runs of rows that are equal
    in the columns before it.

    >>> is_sorted(Table.read({"a": [1, 2, 1], "b": [3, 3, 4]}, quasi_identifiers=["a", "b"]))
    True
    >>> is_sorted(Table.read({"a": [1, 2, 1], "b": [3, 4, 3]}, quasi_identifiers=["a", "b"]))
    False
    """
    if table.n_rows > N_PROBE_ROWS and not is_sorted(table.take(np.arange(N_PROBE_ROWS))):
        return False
    columns: list[tuple[Codes, Sequence[str]]] = [(item.codes, item.levels.labels) for item in table.columns]
    if table.weight is not None:
        columns.append((np.unique(np.nan_to_num(table.weight, nan=-1.0), return_inverse=True)[1], ()))
    is_equal = np.ones(table.n_rows - 1, dtype=bool)
    while columns:
        monotone = (
            place
            for place, column in enumerate(columns)
            if any(_is_monotone(steps[is_equal]) for steps in _steps_of(*column))
        )
        if (place := next(monotone, None)) is None:
            return False
        is_equal &= np.diff(columns.pop(place)[0]) == 0
    return True


def _is_monotone(steps: Codes) -> bool:
    return bool(not steps.size or steps.min() >= 0 or steps.max() <= 0)


def _steps_of(codes: Codes, labels: Sequence[str]) -> Iterator[Codes]:
    """Yield the steps between adjacent rows, with cells as values, as text, and as numbers."""
    yield np.diff(codes)
    if not labels:
        return
    yield np.diff(np.argsort(np.argsort(np.array(labels, dtype=np.str_), kind="stable"))[codes])
    ends = np.array([NUMBERS.read(label) or (np.nan, np.nan) for label in labels])
    if not np.isnan(ends).any():
        yield np.diff(np.unique(ends, axis=0, return_inverse=True)[1].reshape(-1)[codes])
