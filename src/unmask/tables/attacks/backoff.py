"""Attribute inference from all rows of a release, which need not belong to people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import tee
from typing import Annotated, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import CHUNK
from unmask.core.errors import NotRunError
from unmask.core.grouping import class_counts, first_rows_of, group
from unmask.core.posterior import Posterior
from unmask.ranges import Range, check_ranges
from unmask.tables.attacks.marginal_counts import bin_shares, identity_bins, largest_bins, mutual_information
from unmask.tables.attacks.pairing import require_rows, shared_columns
from unmask.tables.attacks.product_sums import multiply_columns
from unmask.tables.background import Background, Prior, Rng, hidden_values, in_general, prior_of
from unmask.tables.column import Column, classes_of
from unmask.tables.levels import Missing
from unmask.tables.table import Table

Codes = NDArray[np.integer]

MAX_PROBABILITIES = 1 << 24
"""Largest number of probabilities in a belief: distinct known people times values."""

STRENGTHS = (*(2.0**power for power in range(-2, 15)), 1e12)
"""Candidates for a_j, the weight in rows of the belief from fewer columns. The last one ignores the column."""


@dataclass(frozen=True)
class BackOff:
    """Attack that infers a sensitive value from all rows of a release, which need not belong to people.

    The belief is a chain of smoothed frequencies. Each column refines the belief of the columns previous_group it:

        p_j(s | x) = (n(x_1 .. x_j, s) + a_j p_(j-1)(s | x)) / (n(x_1 .. x_j) + a_j),  p_0(s) = (n(s) + 1/2) / (n + m/2)

    n counts the rows of the release that agree with the person, and m is the number of values. Columns are ordered by
    their mutual information with the sensitive column. The strength a_j is a power of 2, or so large that the column
    has no effect. It maximizes the leave-one-out likelihood of the rows. A released cell with several values counts for
    each of them in proportion to `population`, or else to the known people. A value that the adversary does not know
    agrees with every cell.

    The release may contain a value too often. The belief is therefore proportional to q(s) p_d(s | x) / p_0(s), with q
    the shares in the population. The half row that p_0 adds for each value is not evidence about a person: its part of
    the ratio counts as 1. No value of the release or the population has probability 0. Missing cells are not counted if
    the release has more of them than the population explains (`hidden_values`). The status is `model`.

    Assumes: people are like the released rows, and columns are informative by the agreement of values.

    Fails when: the sensitive value depends on numbers in a way that bins do not show (`ModelAttribute` may learn it),
        or the release preserves single columns but not their relations.

    Parameters
    ----------
    sensitive : str
        Name of the sensitive column.
    bins : int, optional
        Number of quantiles of the population into which numbers are cut.
    strengths : tuple[float, ...], optional
        a_j of each column, in the order of the columns. The default is estimated from the release.

    References
    ----------
    S. M. Katz, "Estimation of probabilities from sparse data", IEEE TASSP 1987 (backing off); D. J. C. MacKay & L. C.
    B. Peto, "A hierarchical Dirichlet language model", 1995 (this form); M. Saerens, P. Latinne & C. Decaestecker,
    "Adjusting the outputs of a classifier to new a priori probabilities", Neural Computation 2002, equation 2.4.

    Examples
    --------
    >>> rows = {"job": ["smith", "baker"] * 10, "ill": ["yes", "no"] * 10}
    >>> release = Table.read(rows, quasi_identifiers="job", sensitive="ill")
    >>> known = Table.read({"job": ["baker"]}, quasi_identifiers="job")
    >>> belief = BackOff("ill")(release, Background(known))
    >>> [(value.candidate, round(value.probability, 2)) for value in belief.candidates(0)]
    [('no', 0.96), ('yes', 0.04)]
    """

    sensitive: str
    bins: Annotated[int, Range(1)] = 32
    strengths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_ranges(self)
        object.__setattr__(self, "strengths", tuple(self.strengths))

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """Return the belief about each known person; without known people, about the person of each row.

        NotRunError if it has too many probabilities.
        """
        require_rows(release)
        (labels, prior, source), columns, counts = self._count(release, knowledge)
        observation, (p,) = _smooth(_count_agreeing(columns, [counts]), [counts], self._strengths(columns, [counts]))
        return Posterior.from_dense(
            _adjust_prior(p, prior, counts),
            prior=prior,
            observation=observation,
            status="model",
            provenance={"attack": repr(self), "prior": source},
            candidate_label=labels,
        )

    def infer_rows(
        self, release: Table, shares: Floats, population: Table | None = None
    ) -> tuple[Integers, Floats] | None:
        """Return the belief about the sensitive value of each row, from its other cells; None if it has too many
        probabilities.

        shares : (n_values,) prior, which replaces the shares in the population

        Returns the position of the belief of each row, and (n_beliefs, n_values) the beliefs.
        """
        try:
            _, columns, counts = self._count(release, Background(population=population))
        except NotRunError:
            return None
        observation, (p,) = _smooth(_count_agreeing(columns, [counts]), [counts], self._strengths(columns, [counts]))
        return observation, _adjust_prior(p, shares, counts)

    def tune(self, release: Table, knowledge: Background | None = None) -> BackOff:
        """Return the attack with strengths estimated from a release, for several calls on the same release."""
        _, columns, counts = self._count(release, knowledge)
        return replace(self, strengths=tuple(strength for (strength,) in self._strengths(columns, [counts])))

    def _strengths(
        self, columns: Sequence[SharedColumn], counts: Sequence[scipy.sparse.csr_array]
    ) -> Iterable[Sequence[float]]:
        """Return a_j of each column, for each of the counts."""
        if self.strengths:
            return ([item] * len(counts) for item in self.strengths)
        return _estimate_strengths(columns, counts, _count_agreeing([item.itself for item in columns], counts))

    def cross_validate(self, table: Table, fold: Integers) -> tuple[tuple[str, ...], Floats]:
        """Return the values and (n_rows, n_values) beliefs about each row, learned from the other folds.

        fold : (n_rows,) fold of each row
        """
        secret = table.column(self.sensitive)
        labels, prior, _ = prior_of(secret, table)
        columns, of_row = _group_equal_rows(_bin_columns(shared_columns(table, table), table, self.bins, table.missing))
        first_row = first_rows_of(of_row, len(columns[0].row))
        columns = [column._replace(people=column.people[first_row]) for column in columns]
        released = [column.itself for column in columns]
        exact = all(column.equals(item) for column, item in zip(columns, released, strict=True))
        probability, folds_by_order = np.empty((table.n_rows, len(labels))), defaultdict(list)
        for in_fold in (fold == number for number in np.unique(fold)):
            training = class_counts(
                of_row[~in_fold], len(columns[0].row), secret.codes[~in_fold], len(labels)
            ).to_scipy()
            folds_by_order[_order(released, training)].append((in_fold, training))
        for order, folds in folds_by_order.items():
            ordered, counts = [columns[j] for j in order], [training for _, training in folds]
            if exact and not self.strengths:  # one pass over the columns computes strengths and beliefs
                for_strengths, agreeing = tee(_count_agreeing(ordered, counts))
                strengths: Iterable[Sequence[float]] = _estimate_strengths(ordered, counts, for_strengths)
            else:
                agreeing, strengths = _count_agreeing(ordered, counts), self._strengths(ordered, counts)
            observation, beliefs = _smooth(agreeing, counts, strengths)
            for (in_fold, training), p in zip(folds, beliefs, strict=True):
                probability[in_fold] = _adjust_prior(p, prior, training)[observation[of_row[in_fold]]]
        return labels, probability

    def _count(
        self, release: Table, knowledge: Background | None
    ) -> tuple[Prior, list[SharedColumn], scipy.sparse.csr_array]:
        """Return the prior, the columns over classes of equal rows, and the rows of each value.

        The columns are ordered by mutual information. The counts are (n_classes, n_values). Missing cells are not
        counted if some of them were suppressed.
        """
        background, secret = Background.of(knowledge), release.column(self.sensitive)
        totals, prior = release.totals_of(secret), prior_of(secret, background.population)
        pairs = shared_columns(release if background.people is None else background.people, release)
        check_size(pairs, self.sensitive, len(prior[0]))
        columns, of_row = _group_equal_rows(_bin_columns(pairs, background.population, self.bins, release.missing))
        n_classes, n_values = len(columns[0].row), len(prior[0])
        counts = class_counts(of_row, n_classes, secret.codes, n_values, weight=release.counts).to_scipy()
        if hidden_values(secret, totals, background.population)[0]:
            counts.data = np.where(counts.indices == secret.levels.missing, 0, counts.data)  # a copy
            counts.eliminate_zeros()
        return prior, [columns[j] for j in _order([column.itself for column in columns], counts)], counts


def check_size(pairs: Iterable[tuple[Column, Column]], sensitive: str, n_values: int) -> None:
    """Raise NotRunError if a belief has too many probabilities.

    pairs : known and released columns
    """
    n_different = max(len(classes_of(side).sizes) for side in zip(*pairs, strict=True))
    if n_different * n_values > MAX_PROBABILITIES:
        raise NotRunError(
            f"{n_different:,} different people and {n_values:,} values of {sensitive!r} are more than "
            f"{MAX_PROBABILITIES:,} probabilities; coarsen it"
        )


class SharedColumn(NamedTuple):
    """Column that is both known and released, in bins.

    row    : (n_rows,) level of each released row
    share  : (n_levels, n_bins) share of each level in each bin
    people : (n_people,) number of each person's known value
    holds  : (n_numbers, n_bins) 1 for each bin that a known value may be in
    """

    row: Codes
    share: scipy.sparse.csr_array
    people: Codes
    holds: scipy.sparse.csr_array

    @property
    def itself(self) -> SharedColumn:
        """The column with the released rows as people, each in the bin with the largest share of its cell."""
        return self._replace(people=largest_bins(self.share)[self.row], holds=identity_bins(self.share.shape[1]))

    def equals(self, second: SharedColumn) -> bool:
        """Return True if the known values are the same in both columns."""
        pairs = zip(
            *((column.people, column.holds.indptr, column.holds.indices) for column in (self, second)), strict=True
        )
        return all(np.array_equal(*pair) for pair in pairs)


def _bin_columns(
    pairs: Iterable[tuple[Column, Column]], population: Table | None, bins: int, missing: Missing
) -> Iterator[SharedColumn]:
    """Yield the columns that are both known and released, in bins."""
    for known_column, released in pairs:
        columns = in_general(known_column, population), (released, known_column)
        _, share, own_share = bin_shares(*columns, bins=bins, missing=missing)
        if bool(np.all(np.diff(own_share.indptr) == 1)):
            codes: Codes = largest_bins(own_share)[known_column.codes]
            holds = identity_bins(share.shape[1])
        else:
            codes, holds = known_column.codes, scipy.sparse.csr_array((own_share.toarray() > 0).astype(np.float64))
        yield SharedColumn(released.codes, share, codes, holds)


def _group_equal_rows(shared: Iterable[SharedColumn]) -> tuple[list[SharedColumn], NDArray[np.int32]]:
    """Return the columns over classes of equal rows, and (n_rows,) the class of each row."""
    columns = list(shared)
    rows, _, levels = group(
        [column.row.astype(np.int32, copy=False) for column in columns], [column.share.shape[0] for column in columns]
    )
    return [column._replace(row=levels[:, j]) for j, column in enumerate(columns)], rows


def _order(columns: Sequence[SharedColumn], counts: scipy.sparse.csr_array) -> tuple[int, ...]:
    """Return the order of the columns by decreasing mutual information with the sensitive column."""
    row, value = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), counts.indices.astype(np.int64)
    information = [
        mutual_information(column.people[row].astype(np.int64), value, weight=counts.data) for column in columns
    ]
    return tuple(np.argsort(-np.array(information), kind="stable").tolist())


def _count_values(counts: scipy.sparse.csr_array) -> Integers:
    """Return (n_values,) rows with each value. Four times as fast as the sum of the sparse matrix."""
    return np.bincount(counts.indices, counts.data, minlength=counts.shape[1]).astype(np.int64)


def _smoothed_shares(counts: scipy.sparse.csr_array) -> Floats:
    """Return p_0, the shares of the values with half a row added to each."""
    n = _count_values(counts) + 0.5
    return np.asarray(n / n.sum())


def _adjust_prior(p: Floats, shares: Floats, counts: scipy.sparse.csr_array) -> Floats:
    """Return the beliefs p after a change of the prior to `shares`."""
    added = 0.5 / (_count_values(counts) + 0.5)  # part of p_0 that comes from the half row
    adjusted = ((1 - added) * p / _smoothed_shares(counts) + added) * shares
    return np.asarray(adjusted / adjusted.sum(axis=1, keepdims=True))


def _smooth(
    agreeing: Iterable[Agreeing], counts: Sequence[scipy.sparse.csr_array], strengths: Iterable[Sequence[float]]
) -> tuple[Integers, list[Floats]]:
    """Return (n_people,) the observation of each person, and (n_observations, n_values) beliefs for each of the counts.

    agreeing  : for each column, see `Agreeing`
    strengths : for each column, one number for each of the counts
    """
    p = [_smoothed_shares(item)[None] for item in counts]
    for (step, rows), strength in zip(agreeing, strengths, strict=True):
        if len(step.previous_group) > len(p[0]):  # else each group stays as it is
            p = [item[step.previous_group] for item in p]
        for item, n, a in zip(p, rows, strength, strict=True):  # in place: the arrays may be large
            item *= a
            item += n
            item /= n.sum(axis=1, keepdims=True) + a
    return step.observation, p


class Step(NamedTuple):
    """People grouped by the first j columns.

    observation    : (n_people,) group of each person
    previous_group : (n_groups,) group in the first j - 1 columns
    agree          : (n_classes, n_groups) agreement of each class of rows with each group, from 0 to 1
    """

    observation: Integers
    previous_group: Codes
    agree: scipy.sparse.csc_array


Agreeing = tuple[Step, Sequence[Floats]]
"""A step, and for each of the counts (n_groups, n_values) rows that agree with each group."""


def _count_agreeing(columns: Sequence[SharedColumn], counts: Sequence[scipy.sparse.csr_array]) -> Iterator[Agreeing]:
    """Yield for each column the groups of people and the rows that agree with them."""
    all_counts = scipy.sparse.csr_array(scipy.sparse.hstack(counts))
    for step in _steps(columns):
        yield step, np.hsplit((step.agree.T @ all_counts).toarray(), len(counts))


def _steps(columns: Sequence[SharedColumn]) -> Iterator[Step]:
    """Yield the groups of people by the first column, by the first two columns, and so on."""
    observation = np.zeros(len(columns[0].people), dtype=np.int32)
    agree = scipy.sparse.csc_array(np.ones((len(columns[0].row), 1)))
    for column in columns:
        observation, _, pairs = group(
            [observation, column.people.astype(np.int32)], [agree.shape[1], column.holds.shape[0]]
        )
        agree = multiply_columns(
            agree, pairs[:, 0], scipy.sparse.csr_array(column.share @ column.holds.T), column.row, pairs[:, 1]
        )
        yield Step(observation.astype(np.int64), pairs[:, 0], agree)


def _estimate_strengths(
    columns: Sequence[SharedColumn], counts: Sequence[scipy.sparse.csr_array], agreeing: Iterable[Agreeing]
) -> Iterator[Sequence[float]]:
    """Yield the strengths a_j of each column that maximize the leave-one-out likelihood, one for each of the counts.

    agreeing : of the columns, with the released rows as people
    """
    models, weight_of_row = [_ValueModel.of(item) for item in counts], np.ones(len(columns[0].row))
    for item, (step, rows) in zip(columns, agreeing, strict=True):
        weight_of_row = weight_of_row * np.maximum.reduceat(item.share.data, item.share.indptr[:-1])[item.row]
        updates = [model.add_column(n, step.observation, weight_of_row) for model, n in zip(models, rows, strict=True)]
        models = [model for model, _ in updates]
        yield [strength for _, strength in updates]


class _ValueModel(NamedTuple):
    """Leave-one-out beliefs about the values of the released rows.

    row, value, times : class, value and number of rows of each pair that occurs
    p : belief in the value, from all other rows
    """

    row: Codes
    value: Codes
    times: Floats
    p: Floats

    @classmethod
    def of(cls, counts: scipy.sparse.csr_array) -> Self:
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        return cls(row, counts.indices, counts.data.astype(np.float64), _smoothed_shares(counts)[counts.indices])

    def add_column(self, n: Floats, observation: Integers, weight_of_row: Floats) -> tuple[Self, float]:
        """Return the beliefs with one more column, and its strength.

        n             : (n_groups, n_values) rows that agree with each group
        observation   : (n_classes,) group of each class
        weight_of_row : (n_classes,) agreement of a row with itself, which is left out
        """
        observation, weight_of_row = observation[self.row], weight_of_row[self.row]
        n_agreeing = n.sum(axis=1)[observation] - weight_of_row
        n_same_value = n[observation, self.value] - weight_of_row

        def smooth(strength: float, block: slice = slice(None)) -> Floats:
            return np.asarray((n_same_value[block] + strength * self.p[block]) / (n_agreeing[block] + strength))

        starts = range(0, len(n_same_value), CHUNK)  # each block fits into the cache
        blocks = [slice(start, start + CHUNK) for start in starts]
        likelihood = [[(self.times[block] * np.log(smooth(a, block))).sum() for a in STRENGTHS] for block in blocks]
        strength = STRENGTHS[int(np.argmax(np.sum(likelihood, axis=0)))]
        return self._replace(p=smooth(strength)), strength
