"""Inference of a sensitive value from all rows: an adversary who learns from a release as from any data, whosever its
rows are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import tee
from typing import Annotated, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.csr_rows import CHUNK
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.ranges import Range, check_ranges
from unmask.tables.attacks.marginal_counts import bins_of, mutual_information, own_bins, shares
from unmask.tables.attacks.pairing import shared_columns
from unmask.tables.attacks.product_sums import multiply_columns
from unmask.tables.background import Background, Rng, hidden_values, prior_of
from unmask.tables.column import classes_of
from unmask.tables.grouping import class_counts, first_of, group
from unmask.tables.table import Table

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]

MAX_PROBABILITIES = 1 << 24
"""Probabilities that a belief may list: people who differ in what is known of them, times values."""

STRENGTHS = (*(2.0**power for power in range(-2, 15)), 1e12)
"""How many rows a belief from fewer columns may weigh; the last one leaves a column out."""


@dataclass(frozen=True)
class BackOff:
    """Attack that infers a sensitive value from all rows of a release, which need not belong to people.

    The belief is a chain of smoothed frequencies. Each column refines the belief of the columns before it:

        p_j(s | x) = (n(x_1 .. x_j, s) + a_j p_(j-1)(s | x)) / (n(x_1 .. x_j) + a_j),  p_0(s) = (n(s) + 1/2) / (n + m/2)

    n counts the rows of the release that agree with the person, and m is the number of values. Columns are ordered by
    their mutual information with the sensitive column. The strength a_j is a power of 2, or so large that the column
    has no effect. It maximizes the leave-one-out likelihood of the rows. A released cell with several values counts for
    each of them in proportion to `population`, or else to the known people. A value that the adversary does not know
    agrees with every cell.

    The release may contain a value too often. The belief is therefore proportional to q(s) p_d(s | x) / p_0(s), with q
    the shares in the population. The half row that p_0 adds for each value is not evidence about anybody: its part of
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
        """Return the belief about the sensitive value of each person known, or of everybody by their own row."""
        if reason := self.refusal(release, knowledge):
            raise UnmaskError(reason)
        secret, population = release.column(self.sensitive), Background.of(knowledge).population
        labels, prior, source = prior_of(secret, population)
        columns, counts = self._counted(release, knowledge, len(labels))
        observation, (p,) = _learned(_tallied(columns, [counts]), [counts], self._strengths(columns, [counts]))
        return Posterior.from_dense(
            _shifted(p, prior, counts),
            prior=prior,
            observation=observation,
            status="model",
            provenance={"attack": repr(self), "prior": source},
            candidate_label=labels,
        )

    def of_rows(
        self, release: Table, shares: Floats, population: Table | None = None
    ) -> tuple[NDArray[np.int64], Floats] | None:
        """Return the beliefs about the value of each row, or combination, of a release from its other cells: which of
        the beliefs, and (n_beliefs, n_values) the beliefs; None where they are too many.

        shares : (n_values,) of the values among the rows asked about, in the place of the population's
        """
        if len(release.classes.sizes) * len(shares) > MAX_PROBABILITIES:
            return None
        columns, counts = self._counted(release, Background(population=population), len(shares))
        observation, (p,) = _learned(_tallied(columns, [counts]), [counts], self._strengths(columns, [counts]))
        return observation, _shifted(p, shares, counts)

    def tuned(self, release: Table, knowledge: Background | None = None) -> BackOff:
        """Return the same with the strengths of a release, for several calls about it."""
        secret = release.column(self.sensitive)
        labels, _, _ = prior_of(secret, Background.of(knowledge).population)
        columns, counts = self._counted(release, knowledge, len(labels))
        return replace(self, strengths=tuple(strength for (strength,) in self._strengths(columns, [counts])))

    def _strengths(
        self, columns: Sequence[Shared], counts: Sequence[scipy.sparse.csr_array]
    ) -> Iterable[Sequence[float]]:
        """Return a_j of each column, by each of some counts."""
        if self.strengths:
            return ([item] * len(counts) for item in self.strengths)
        return _strengths(columns, counts, _tallied([item.itself for item in columns], counts))

    def crossed(self, table: Table, fold: NDArray[np.int64]) -> tuple[tuple[str, ...], Floats]:
        """Return the values, and (n_rows, n_values) what the other folds say of each row, as if they were a release of
        this table; fold : (n_rows,) the fold of each.
        """
        secret = table.column(self.sensitive)
        labels, prior, _ = prior_of(secret, table)
        columns, of_row = _of_classes(list(_shared(table, table, table, self.bins)))
        first_row = first_of(of_row, len(columns[0].row))
        columns = [column._replace(people=column.people[first_row]) for column in columns]
        released = [column.itself for column in columns]
        exact = all(column.equals(item) for column, item in zip(columns, released, strict=True))
        probability, alike = np.empty((table.n_rows, len(labels))), defaultdict(list)
        for mine in (fold == number for number in np.unique(fold)):
            counts_of_others = class_counts(of_row[~mine], len(columns[0].row), secret.codes[~mine], len(labels))
            alike[_order(released, counts_of_others)].append((mine, counts_of_others))
        for order, folds in alike.items():
            first, counts = [columns[j] for j in order], [counts_of_others for _, counts_of_others in folds]
            if exact and not self.strengths:  # what tells the strengths tells the beliefs, too
                again, tallied = tee(_tallied(first, counts))
                strengths: Iterable[Sequence[float]] = _strengths(first, counts, again)
            else:
                tallied, strengths = _tallied(first, counts), self._strengths(first, counts)
            observation, beliefs = _learned(tallied, counts, strengths)
            for (mine, counts_of_others), p in zip(folds, beliefs, strict=True):
                probability[mine] = _shifted(p, prior, counts_of_others)[observation[of_row[mine]]]
        return labels, probability

    def _counted(
        self, release: Table, knowledge: Background | None, n_values: int
    ) -> tuple[list[Shared], scipy.sparse.csr_array]:
        """Return the columns, those that say most of the secret first, with classes of rows in the place of rows; and
        (n_classes, n_values) the rows of each, without missing cells where some of them hide a value.
        """
        background, secret = Background.of(knowledge), release.column(self.sensitive)
        people = release if background.people is None else background.people
        columns, of_row = _of_classes(list(_shared(release, people, background.population, self.bins)))
        n = len(columns[0].row)
        counts = class_counts(of_row, n, secret.codes, n_values, weight=release.counts)
        if hidden_values(release, secret, background.population)[0]:
            counts.data[counts.indices == secret.levels.missing] = 0
            counts.eliminate_zeros()
        return [columns[j] for j in _order([column.itself for column in columns], counts)], counts

    def refusal(self, release: Table, knowledge: Background | None = None) -> str:
        """Return the reason why nothing can be learned about the people known; "" if something can."""
        if release.counts is not None:
            return "an engine counted the table, and this attack learns from its rows"
        background = Background.of(knowledge)
        sides = zip(*shared_columns(release if background.people is None else background.people, release), strict=True)
        differ = max(len(classes_of(side).sizes) for side in sides)
        values = len(prior_of(release.column(self.sensitive), background.population)[0])
        if differ * values <= MAX_PROBABILITIES:
            return ""
        return (
            f"{differ:,} different people and {values:,} values of {self.sensitive!r} are more than "
            f"{MAX_PROBABILITIES:,} probabilities; coarsen it"
        )


class Shared(NamedTuple):
    """A column that is known and released, in bins.

    row, share   : (n_rows,) level of each released row; (n_levels, n_bins) the share of each level in each bin
    people, holds : (n_people,) the number of what is known of each person; (n_numbers, n_bins) 1 where it may be
    """

    row: Codes
    share: scipy.sparse.csr_array
    people: Codes
    holds: scipy.sparse.csr_array

    @property
    def itself(self) -> Shared:
        """Return the same with the released rows for people, each in the bin that has most of its cell."""
        return self._replace(people=bins_of(self.share)[self.row], holds=own_bins(self.share.shape[1]))

    def equals(self, second: Shared) -> bool:
        """Return whether people are known by the same in both: a walk along the columns is then one for both."""
        pairs = zip(
            *((column.people, column.holds.indptr, column.holds.indices) for column in (self, second)), strict=True
        )
        return all(np.array_equal(*pair) for pair in pairs)


def _shared(release: Table, people: Table, population: Table | None, bins: int) -> Iterator[Shared]:
    for known_column, released in shared_columns(people, release):
        general = (
            known_column
            if population is None or known_column.name not in population.names
            else population.column(known_column.name)
        )
        _, share, own_share = shares(general, (released, known_column), bins=bins, missing=release.missing)
        if bool(np.all(np.diff(own_share.indptr) == 1)):
            yield Shared(released.codes, share, bins_of(own_share)[known_column.codes], own_bins(share.shape[1]))
        else:
            holds = own_share.toarray() > 0
            yield Shared(released.codes, share, known_column.codes, scipy.sparse.csr_array(holds.astype(np.float64)))


def _of_classes(columns: Sequence[Shared]) -> tuple[list[Shared], NDArray[np.int32]]:
    """Return the columns with classes of rows in the place of rows, and (n_rows,) the class of each."""
    rows, _, levels = group(
        [column.row.astype(np.int32, copy=False) for column in columns], [column.share.shape[0] for column in columns]
    )
    return [column._replace(row=levels[:, j]) for j, column in enumerate(columns)], rows


def _order(columns: Sequence[Shared], counts: scipy.sparse.csr_array) -> tuple[int, ...]:
    """Return the places of the columns, with the released rows for people, those that say most of the secret first."""
    row, value = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), counts.indices.astype(np.int64)
    information = [
        mutual_information(column.people[row].astype(np.int64), value, weight=counts.data) for column in columns
    ]
    return tuple(np.argsort(-np.array(information), kind="stable").tolist())


def _rows_of(counts: scipy.sparse.csr_array) -> NDArray[np.int64]:
    """Return (n_values,) rows of each value, which the sum of a sparse matrix takes four times as long to tell."""
    return np.bincount(counts.indices, counts.data, minlength=counts.shape[1]).astype(np.int64)


def _overall(counts: scipy.sparse.csr_array) -> Floats:
    """Return p_0, of the rows of classes."""
    n = _rows_of(counts) + 0.5
    return np.asarray(n / n.sum())


def _shifted(p: Floats, shares: Floats, counts: scipy.sparse.csr_array) -> Floats:
    """Return beliefs p that the rows of classes give, moved to other shares of the values."""
    nobodys = 0.5 / (_rows_of(counts) + 0.5)
    shifted = ((1 - nobodys) * p / _overall(counts) + nobodys) * shares
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def _learned(
    tallied: Iterable[Tallied], counts: Sequence[scipy.sparse.csr_array], strengths: Iterable[Sequence[float]]
) -> tuple[NDArray[np.int64], list[Floats]]:
    """Return (n_people,) the observation that each person is, and (n_observations, n_values) what is believed of it by
    each of some counts. tallied, strengths : of each column, one strength for each of the counts
    """
    p = [_overall(item)[None] for item in counts]
    for (step, rows), strength in zip(tallied, strengths, strict=True):
        p = [_backed(n, shorter[step.shorter], item) for n, shorter, item in zip(rows, p, strength, strict=True)]
    return step.observation, p


def _backed(n: Floats, p: Floats, strength: float) -> Floats:
    return np.asarray((n + strength * p) / (n.sum(axis=1, keepdims=True) + strength))


class Step(NamedTuple):
    """People who are alike in the first j columns: what each person is, what that was with one column less, and
    (n_classes, n_alike) how far each class of rows agrees with them.
    """

    observation: NDArray[np.int64]
    shorter: Codes
    agree: scipy.sparse.csc_array


Tallied = tuple[Step, Sequence[Floats]]
"""A step, and by each of some counts (n_alike, n_values) the rows that agree."""


def _tallied(columns: Sequence[Shared], counts: Sequence[scipy.sparse.csr_array]) -> Iterator[Tallied]:
    all_counts = scipy.sparse.csr_array(scipy.sparse.hstack(counts))
    for step in _steps(columns):
        yield step, np.hsplit((step.agree.T @ all_counts).toarray(), len(counts))


def _steps(columns: Sequence[Shared]) -> Iterator[Step]:
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


def _strengths(
    columns: Sequence[Shared], counts: Sequence[scipy.sparse.csr_array], tallied: Iterable[Tallied]
) -> Iterator[Sequence[float]]:
    """Yield a_j of one column after the other, by each of some counts: what makes the values of all rows likeliest,
    each given the others. tallied : of the columns with the released rows for people
    """
    models, weight_of_row = [_ValueModel.of(item) for item in counts], np.ones(len(columns[0].row))
    for item, (step, rows) in zip(columns, tallied, strict=True):
        weight_of_row = weight_of_row * np.maximum.reduceat(item.share.data, item.share.indptr[:-1])[item.row]
        updated = [model.updated(n, step.observation, weight_of_row) for model, n in zip(models, rows, strict=True)]
        models = [model for model, _ in updated]
        yield [strength for _, strength in updated]


class _ValueModel(NamedTuple):
    """The rows of classes by value, those that there are: which class and value, how many, and what all other rows say
    of the value.
    """

    row: Codes
    value: Codes
    times: Floats
    p: Floats

    @classmethod
    def of(cls, counts: scipy.sparse.csr_array) -> Self:
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        return cls(row, counts.indices, counts.data.astype(np.float64), _overall(counts)[counts.indices])

    def updated(self, n: Floats, observation: NDArray[np.int64], weight_of_row: Floats) -> tuple[Self, float]:
        """Return the same with a column more, and its strength. n : of those alike, and (n_classes,) which of them each
        class is; weight_of_row : how far a row agrees with itself
        """
        observation, weight_of_row = observation[self.row], weight_of_row[self.row]
        alike, n_same_value = n.sum(axis=1)[observation] - weight_of_row, n[observation, self.value] - weight_of_row

        def smooth(strength: float, block: slice = slice(None)) -> Floats:
            return np.asarray((n_same_value[block] + strength * self.p[block]) / (alike[block] + strength))

        blocks = [
            slice(start, start + CHUNK) for start in range(0, len(n_same_value), CHUNK)
        ]  # which stay in the cache
        likely = [
            [(self.times[block] * np.log(smooth(candidate, block))).sum() for candidate in STRENGTHS]
            for block in blocks
        ]
        strength_found = STRENGTHS[int(np.argmax(np.sum(likely, axis=0)))]
        return self._replace(p=smooth(strength_found)), strength_found
