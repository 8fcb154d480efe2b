"""Membership inference attacks that compare the release with people in general."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.grouping import group
from unmask.core.inference import from_scores
from unmask.core.logistic_regression import fit_logistic
from unmask.core.posterior import Posterior
from unmask.ranges import CheckedParameters, Range
from unmask.tables.attacks.marginal_counts import Margins
from unmask.tables.attacks.noisy import find_span, gower
from unmask.tables.attacks.pairing import Pairing, pair, require_rows
from unmask.tables.background import Attack, Background, Rng, people_of
from unmask.tables.column import Column
from unmask.tables.table import Table

LABELS = ("in", "out")
"""Candidates of a belief about membership."""


@dataclass(frozen=True)
class MarginalRatio(CheckedParameters):
    """Membership attack by the margins of the release and of a reference.

    A generator reproduces the margins of the people it was fitted to. Values that are more frequent in the release than
    in the reference therefore indicate members.

        score(x) = mean over sets q of columns of
                   ln((S_q(x) + 1/2) / (|S| + 1)) - ln((R_q(x) + 1/2) / (|R| + 1))

    S_q(x) and R_q(x) are the rows of the release and of the reference that agree with x in the columns q. The reference
    is `population`: people of the same population, without the targets. A released cell with several values counts for
    each of them in proportion to the reference. The status is `scores`; `tables.control.membership.cross_fit`
    calibrates them.

    Assumes: release and reference come from the same population, and the release has its people's values too often.

    Fails when: the reference is from another year or place, because unusual people then look like members; or
        membership shows only in the working of the protection, which `ShadowMembership` uses.

    Parameters
    ----------
    columns : int, optional
        Largest number of columns of a margin.
    sets : int, optional
        Largest number of margins. If there are more, pairs of columns with the largest mutual information are used.
    bins : int, optional
        Number of quantiles of the reference into which numbers are cut.

    References
    ----------
    B. van Breugel et al., "Membership inference attacks against synthetic data through overfitting detection", AISTATS
    2023 (density ratio); S. Golob et al., "Privacy vulnerabilities in marginals-based synthetic data", 2024 (margins).

    Examples
    --------
    >>> release = Table.read({"age": [30, 31, 45]}, quasi_identifiers="age")
    >>> known = Table.read({"age": [30, 50]}, quasi_identifiers="age")
    >>> in_general = Table.read({"age": list(range(20, 60))}, quasi_identifiers="age")
    >>> belief = MarginalRatio()(release, Background(known, in_general))
    >>> [(best.candidate, round(best.probability, 2)) for person in (0, 1) for best in belief.candidates(person)[:1]]
    [('in', 0.91), ('in', 0.67)]
    """

    asks: ClassVar = "membership"

    columns: Annotated[int, Range(1)] = 3
    sets: Annotated[int, Range(1)] = 500
    bins: Annotated[int, Range(1)] = 32

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """Return the scores of the known people as log-odds."""
        people, reference = people_of(knowledge, self), reference_of(knowledge, self)
        require_rows(release, reference)
        return self.score_margins(Margins.of(people, (release, reference), reference, bins=self.bins))

    def score_margins(self, margins: Margins, names: Collection[str] | None = None) -> Posterior:
        """Return the scores of people whose margins are counted already.

        names : names of the known columns; None for all
        """
        of_release, of_reference = margins.log_shares(names, columns=self.columns, sets=self.sets)
        return belief_from_scores(of_release - of_reference, np.arange(len(of_release)), attack_name=repr(self))


@dataclass(frozen=True)
class ClosestRecord:
    """Membership attack by the distance of a person from the closest released record.

    It complements other attacks. It does not prove safety: releases that reveal their members by margins pass it ("the
    DCR delusion"). It needs no reference. Its status is `scores`.

    Assumes: a member's own row, or a similar one, is released.

    Fails when: margins are copied and rows are not; or records are dense, so that every person has a close row.

    References
    ----------
    Z. Yao et al., "The DCR delusion: measuring the privacy risk of synthetic data", 2025.

    Examples
    --------
    >>> release = Table.read({"age": [30, 31, 45]}, quasi_identifiers="age")
    >>> known = Table.read({"age": [30, 50]}, quasi_identifiers="age")
    >>> belief = ClosestRecord()(release, Background(known))
    >>> [belief.candidates(person)[0].candidate for person in (0, 1)], belief.status
    (['in', 'out'], 'scores')
    """

    asks: ClassVar = "membership"

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """Return the scores of the known people as log-odds."""
        pairing = pair(people_of(knowledge, self), release)
        distance = _least_distance(pairing, wildcard=release.missing == "wildcard")
        return belief_from_scores(-distance, pairing.observation, attack_name=repr(self))


PEOPLE_AT_ONCE, CLASSES_AT_ONCE, MAX_COMBINATIONS = 128, 1 << 10, 1 << 10
"""People and classes that are compared in one block, and the largest number of distinct cells in a set of columns."""

PEOPLE_IN_BIT_SET = 1 << 10
"""People in one bit set, which tests for distance 0."""

MAX_DISTANCES = 1 << 22
"""Distances of one column in memory, between levels of people and of the release."""


def find_least_distances(people: Table, *tables: Table) -> list[Floats]:
    """Return the (n_people,) sums of Gower distances over the columns to the closest row of each table.

    A number is divided by its range in all tables together, so that distances to different tables can be compared.
    """
    spans = {}
    for column in (column for column in tables[0].quasi_identifiers if column.levels.kind == "numeric"):
        columns = [table.column(column.name) for table in tables]
        spans[column.name] = find_span(*(_select_used_levels(side, side.codes)[0].levels for side in columns))
    distances = []
    for table in tables:
        pairing = pair(people, table)
        distance = _least_distance(pairing, wildcard=table.missing == "wildcard", spans=spans)
        distances.append(distance[pairing.observation])
    return distances


def _least_distance(pairing: Pairing, *, wildcard: bool, spans: Mapping[str, float] = MappingProxyType({})) -> Floats:
    """Return (n_observations,) the least sum of Gower distances over the columns, among the classes of the release."""
    parts = [(columns, *_distinct(pairing.classes[:, columns])) for columns in _column_sets(pairing.classes)]
    of_class = [part for _, part, _ in parts]
    levels, distances = int(pairing.classes.max()) + 1, []
    for people in _pieces(pairing.observed, MAX_DISTANCES // levels):
        sides = zip(pairing.columns, zip(people.T, pairing.classes.T, strict=True), strict=True)
        columns = [_Distances.of(*side, wildcard=wildcard, span=spans.get(side[0][0].name)) for side in sides]
        sets = [[(columns[j], cells[:, i]) for i, j in enumerate(columns_of_set)] for columns_of_set, _, cells in parts]
        nearest, positions = np.zeros(len(people)), np.arange(len(people))
        blocks = _pieces(positions, PEOPLE_IN_BIT_SET)
        at_zero = np.concatenate([_is_at_distance_zero(sets, of_class, block) for block in blocks])
        for block in _pieces(positions[~at_zero], PEOPLE_AT_ONCE):
            tables = [_sum(distance(cells, block) for distance, cells in columns_of_set) for columns_of_set in sets]
            nearest[block] = _minimum_over_classes(tables, of_class)
        distances.append(nearest)
    return np.concatenate(distances)


def _pieces(rows: NDArray[Any], size: int) -> list[NDArray[Any]]:
    """Split rows into pieces of at most `size` rows."""
    return np.array_split(rows, max(-(-len(rows) // max(size, 1)), 1))


def _is_at_distance_zero(
    sets: Sequence[Sequence[tuple[_Distances, NDArray[np.int32]]]], parts: Sequence[NDArray[np.int32]], people: Integers
) -> Booleans:
    """Return (n_people,) mask of the people at distance 0 from some class.

    Most people have distance 0 if the release is generalized. Bit sets test 128 people in about the time of one
    distance.
    """
    near = (np.bitwise_and.reduce([distance.near(cells, people) for distance, cells in columns]) for columns in sets)
    of_classes = np.bitwise_and.reduce([bits[part] for bits, part in zip(near, parts, strict=True)])
    bits_of_people = np.bitwise_or.reduce(of_classes)
    return np.unpackbits(bits_of_people, count=len(people)).astype(np.bool_)


def _minimum_over_classes(tables: list[Floats], parts: list[NDArray[np.int32]]) -> Floats:
    """Return (n_people,) the least sum over tables, among the classes.

    tables : (n_rows, n_people) distances for each set of columns
    parts  : (n_classes,) row of each class in each table
    """
    minimum = np.full(tables[0].shape[1], np.inf)
    for block in (slice(first, first + CLASSES_AT_ONCE) for first in range(0, len(parts[0]), CLASSES_AT_ONCE)):
        total = _sum(table[part[block]] for table, part in zip(tables, parts, strict=True))
        minimum = np.minimum(minimum, total.min(axis=0))
    return minimum


def _sum(terms: Iterator[Floats]) -> Floats:
    """Return the sum, computed in the memory of the first term."""
    total = next(terms)
    for term in terms:
        total += term
    return total


def _column_sets(classes: NDArray[np.int32]) -> list[list[int]]:
    """Return sets of columns with few distinct combinations of cells, which are compared once."""
    sets: list[list[int]] = [[]]
    for j in np.argsort(classes.max(axis=0), kind="stable").tolist():
        longer = [*sets[-1], j]
        if sets[-1] and len(_distinct(classes[:, longer])[1]) > MAX_COMBINATIONS:
            sets.append([j])
        else:
            sets[-1] = longer
    return sets


def _distinct(codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the distinct row of each row, and the codes of the distinct rows, (n, d)."""
    of_row, _, distinct = group(list(codes.T), (codes.max(axis=0) + 1).tolist())
    return of_row, distinct


class _Distances(NamedTuple):
    """Gower distances of one column.

    table      : (n_released, n_known) distances between the levels that occur
    place      : row of each released level in the table
    known_code : (n_people,) column of each person in the table
    """

    table: Floats
    place: Integers
    known_code: Integers

    @classmethod
    def of(
        cls, columns: tuple[Column, Column], codes: tuple[NDArray[np.int32], ...], *, wildcard: bool, span: float | None
    ) -> Self:
        """Return the distances between two columns.

        columns       : (known column, released column)
        people, cells : codes of the known and of the released column
        wildcard, span : see `gower`
        """
        (known_column, known_place), (released, place) = map(_select_used_levels, columns, codes)
        return cls(gower(known_column, released, wildcard=wildcard, span=span).T, place, known_place[codes[0]])

    def __call__(self, cells: NDArray[np.int32], people: Integers) -> Floats:
        """Return (n_cells, n_people) distances of a selection of released levels and people."""
        return np.asarray(self.table[:, self.known_code[people]][self.place[cells]])

    def near(self, cells: NDArray[np.int32], people: Integers) -> NDArray[np.uint8]:
        """Return bit sets of the distances that are 0."""
        return np.packbits((self.table == 0)[:, self.known_code[people]], axis=1)[self.place[cells]]


def _select_used_levels(column: Column, codes: NDArray[np.int32]) -> tuple[Column, Integers]:
    """Return the column with its used levels only, and (n_levels,) the position of each level among them."""
    used = np.flatnonzero(np.bincount(codes))
    place = np.zeros(len(column.levels), dtype=np.int64)
    place[used] = np.arange(len(used))
    return replace(column, codes=np.arange(len(used), dtype=np.int32), levels=column.levels.select(used)), place


def stack_people(people: Table, reference: Table | None, names: Sequence[str]) -> Table:
    """Return the people, followed by the reference, with the named columns as quasi-identifiers.

    Only used levels are read again, as in a table that contains these rows only.
    """
    sides = [people] if reference is None else [people, reference]
    columns = tuple(_stack_column([side.column(name) for side in sides], people) for name in names)
    stacked = replace(people, weight=None, person=None)
    return replace(stacked, quasi_identifiers=columns, sensitive=(), kept=(), order=tuple(names))


def _stack_column(columns: Sequence[Column], like: Table) -> Column:
    """Return one column with the rows of several columns, one after the other."""
    name, codes = columns[0].name, []
    labels: list[str] = []
    for column in columns:
        used = np.flatnonzero(column.counts)
        place = np.zeros(len(column.levels), dtype=np.int64)
        place[used] = len(labels) + np.arange(len(used))
        labels += [column.levels.labels[level] for level in used.tolist()]
        codes.append(place[column.codes])
    stacked = Table.read({name: labels}, quasi_identifiers=name, like=like, na=()).quasi_identifiers[0]
    return replace(stacked, codes=stacked.codes[np.concatenate(codes)])


def reference_of(knowledge: Background | None, attack: Attack) -> Table:
    """Return the people in general with which an attack compares the release.

    UnmaskError without a population.
    """
    reference = Background.of(knowledge).population
    if reference is None:
        raise UnmaskError(f"{attack!r} needs people in general; give Background(people, population)")
    return reference


def belief_from_scores(score: Floats, observation: NDArray[np.integer], *, attack_name: str) -> Posterior:
    """Return the belief about membership from log-odds scores, with even prior odds.

    score : (n_observations,) log-odds of "in"
    """
    n = len(score)
    belief = from_scores(
        2 * np.arange(n + 1),
        np.tile(np.array([0, 1], dtype=np.int32), n),
        np.stack([score, np.zeros(n)], axis=1).reshape(-1),
        n_candidates=2,
        observation=observation.astype(np.int64),
        provenance={"attack": attack_name},
    )
    return replace(belief, candidate_label=LABELS)


def fit_isotonic(score: Floats, is_member: Booleans) -> tuple[Floats, Floats]:
    """Calibrate scores at even odds by isotonic regression (pool adjacent violators).

    Returns the distinct scores, ascending, and p(in) at each, which does not decrease.

    Members and non-members have equal total weight. A block with m of M members and c of C non-members has the odds (m
    + 2) / (M + 4) : (c + 2) / (C + 4), and the blocks are made monotone again. No p is therefore 0 or 1, and small
    blocks at both ends are not overconfident. On four synthesizers of the Adult data, 2 pseudo-counts give a lower log
    loss on held-out people than 1/2.

    >>> at, p = fit_isotonic(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, False, True]))
    >>> p.round(2)
    array([0.4, 0.5, 0.5, 0.6])

    B. Zadrozny & C. Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD 2002;
    A. Agresti & B. Coull, "Approximate is better than exact for interval estimation of binomial proportions", 1998.
    """
    scores, counts, first = _blocks(score, is_member)
    return scores, np.repeat(_p(np.add.reduceat(counts, first, axis=1)), np.diff(first, append=len(scores)))


def fit_steps(score: Floats, is_member: Booleans) -> tuple[Floats, Floats]:
    """Calibrate scores by a step function with significant steps only.

    Returns the scores at which p(in) rises, and (n_steps + 1,) p between them.

    If scores carry no information about most people, for example those that a bootstrap left out, `fit_isotonic` rises
    by chance. It is then overconfident below a true step. Here, neighboring blocks are merged until a likelihood ratio
    test separates all of them at 5 % (chi^2 with one degree of freedom). The pair with the smallest ratio is merged
    first. A score between two blocks belongs to the nearer one.

    >>> at, p = fit_steps(np.arange(8.0), np.array([False, True, False, True] + 4 * [True]))
    >>> at, p.round(2)
    (array([2.5]), array([0.31, 0.68]))

    M. J. Schell & B. Singh, "The reduced monotonic regression method", JASA 92, 1997.
    """
    scores, counts, first = _blocks(score, is_member)
    blocks = list(zip(*np.add.reduceat(counts, first, axis=1).tolist(), strict=True))
    starts, steps = first.tolist(), [_log_separation(*two) for two in pairwise(blocks)]
    while steps and min(steps) < SIGNIFICANT:
        i = steps.index(min(steps))
        near = slice(max(i - 1, 0), i + 2)
        blocks[i : i + 2] = [(blocks[i][0] + blocks[i + 1][0], blocks[i][1] + blocks[i + 1][1])]
        del starts[i + 1]
        steps[near] = [_log_separation(*two) for two in pairwise(blocks[near])]
    begin = np.array(starts[1:], dtype=np.int64)
    return (scores[begin - 1] + scores[begin]) / 2, _p(np.array(blocks).T)


SIGNIFICANT = 1.92
"""Log-likelihood ratio that separates two blocks: half of the 95 % quantile of chi^2 with one degree of freedom."""


def _blocks(score: Floats, is_member: Booleans) -> tuple[Floats, Floats, Integers]:
    """Return the distinct scores, ascending, the counts at each score, and the first score of each isotonic block.

    The counts, (2, n_scores), are members and non-members.
    """
    from scipy.optimize import isotonic_regression  # not at the top: takes half a second, and only calibration needs it

    scores, score_of_person = np.unique(score, return_inverse=True)
    counts = np.stack(
        [np.bincount(score_of_person, weights=is_chosen) for is_chosen in (is_member, ~is_member)]
    ).astype(np.float64)
    weight = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    regression = isotonic_regression(weight[0] / weight.sum(axis=0), weights=weight.sum(axis=0))
    return scores, counts, np.asarray(regression.blocks[:-1], dtype=np.int64)


def _p(blocks: Floats) -> Floats:
    """Return (n_blocks,) p(in) of blocks with (2, n_blocks) members and non-members; 0.5 for a single block."""
    from scipy.optimize import isotonic_regression

    if blocks.shape[1] == 1:
        return np.array([0.5])
    (members, non_members), (n_members, n_others) = blocks, blocks.sum(axis=1)
    odds = (members + 2) / (non_members + 2) * (n_others + 4) / (n_members + 4)
    return np.asarray(isotonic_regression(odds / (1 + odds), weights=members + non_members).x)


def _log_separation(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the log-likelihood ratio of two blocks against one joint block."""
    merged = (first[0] + second[0], first[1] + second[1])
    return sum(
        n * log(n / sum(block)) * sign for block, sign in ((first, 1), (second, 1), (merged, -1)) for n in block if n
    )


def fit_weights(x: Floats, is_member: Booleans) -> Floats:
    """Return (1 + n_scores,) intercept and weights of a logistic regression of membership on scores.

    x : (n, n_scores). A ridge penalty of weight 1 keeps the weights finite if the scores separate members perfectly.
    """
    n = len(x)
    return fit_logistic(np.column_stack([np.ones(n), x]), is_member.astype(np.float64), np.ones(n), ridge=1 / n)
