"""Contributions of quasi-identifiers to the success of an adversary, which show the column to drop or coarsen first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import comb, prod, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.grouping import KEY_LIMIT, count_distinct, count_most_common, pack, rank_keys
from unmask.facts import Contribution
from unmask.tables.attacks.relation import relation_of
from unmask.tables.column import classes_of
from unmask.tables.criteria.diversity import map_error
from unmask.tables.criteria.evaluation import Frame
from unmask.tables.criteria.risk import prosecutor

if TYPE_CHECKING:
    from unmask.tables.table import Table

MAX_EXACT_COLUMNS = 10
"""Largest number of quasi-identifiers for which all subsets are evaluated."""

N_ORDERS = 64
"""Number of orders of the columns that are drawn if there are more columns. The reverse of each order is one of
them.
"""

HASH_FACTOR = np.uint64(11400714819323198485)
"""Odd factor near 2^64 divided by the golden ratio: the first bits of a product are a hash."""

MAX_SHARE_LEFT = 0.75
"""Share of combinations up to which they are copied without the classes left out."""

MAX_ROW_SUBSETS = 1 << 22
"""Largest product of rows and sets of columns that are compared if classes overlap, which takes some seconds."""

IDENTITY = "identity"


def contributions(table: Table) -> tuple[Contribution, ...]:
    """Compute how much each quasi-identifier contributes to the success of an adversary, by Shapley values.

    The adversary knows the columns S of the person of a random record, and that this person is in the table. The
    success is v(S) = (classes of S) / n for identity, and sum_c max_s n_cs / n for a sensitive column. Without any
    column it is 1 / n, and the share of the most common value. If classes overlap (`relation_of`), v(S) is the mean
    over rows of 1 / f and of max_s p_s, where f and p_s count the rows of all classes that a class matches.

    With d columns, the Shapley value of column j is the sum over all S without j of
    |S|! (d - |S| - 1)! / d! (v(S + j) - v(S)). For up to 10 columns it is exact, computed from all 2^d subsets. For
    more columns it is the mean of what the column adds in 64 orders: 32 random orders, which are the same in every run,
    and their reverses. `error` is then the half-width of a 95 % interval; `alone` and `last` are always exact.

    Parameters
    ----------
    table : Table
        Table whose quasi-identifiers are compared.

    Returns
    -------
    tuple of Contribution
        The columns for each target, those with the largest contribution first.

    References
    ----------
    L. S. Shapley, "A value for n-person games", 1953. J. Castro, D. Gomez, J. Tejada, "Polynomial calculation of the
    Shapley value based on sampling", 2009. Rebollo-Monedero et al. 2012 for the error.

    Examples
    --------
    >>> from unmask.tables import Table
    >>> people = Table.read({"sex": ["f", "m"], "town": ["a", "b"]}, quasi_identifiers=["sex", "town"])
    >>> [(one.column, one.shapley, one.alone, one.last) for one in contributions(people)]
    [('sex', 0.25, 0.5, 0.0), ('town', 0.25, 0.5, 0.0)]
    """
    complete = table.complete
    return ColumnGame.of(complete, overlaps=relation_of(complete) is not None).contributions()


def _exact_values(game: ColumnGame) -> dict[str, tuple[Floats, Floats]]:
    """Return the exact Shapley values for each target, with error 0."""
    d, shapley = game.d, {target: np.zeros(game.d) for target in game.targets}
    value = game.values_of_all_subsets()
    for subset in range(1 << d):
        share = d * comb(d - 1, subset.bit_count())
        for j in (j for j in range(d) if not subset >> j & 1):
            for target, values in value.items():
                shapley[target][j] += (values[subset | 1 << j] - values[subset]) / share
    return {target: (values, np.zeros(d)) for target, values in shapley.items()}


def _sampled_values(game: ColumnGame) -> dict[str, tuple[Floats, Floats]]:
    """Return, for each target, the mean Shapley values over pairs of an order and its reverse, and a 95 %
    half-width.
    """
    rng, pairs = np.random.default_rng(0), N_ORDERS // 2
    added = {target: np.zeros((pairs, game.d)) for target in game.targets}
    for i in range(pairs):
        order = rng.permutation(game.d)
        for way in (order, order[::-1]):
            for j, previous, after in game.walk(way.tolist()):
                for target, values in added.items():
                    values[i, j] += (after[target] - previous[target]) / 2
    half_width_factor = float(scipy.special.stdtrit(pairs - 1, 0.975)) / sqrt(pairs)
    return {
        target: (values.mean(axis=0), half_width_factor * values.std(axis=0, ddof=1))
        for target, values in added.items()
    }


class _Combinations(NamedTuple):
    """Combinations of cells in the classes by the columns known so far, without classes of a single combination.

    Further columns do not divide such a class, and every value in it is known.

    key    : (n,) class of each combination, from 0 to space - 1
    codes  : (n,) cells of each column that may become known, and of each sensitive column, by number
    weight : (n,) rows of each combination; None: one each
    n_classes, n_rows : classes left out, and their rows
    """

    key: Integers
    space: int
    codes: Mapping[int, NDArray[np.int32]]
    weight: Integers | None
    n_classes: int = 0
    n_rows: int = 0

    def separate(self) -> _Combinations:
        """Return the combinations without most classes of a single combination.

        A bucket of hashed classes with one combination is such a class. Counting buckets takes a third of the time of
        a sort.
        """
        n = len(self.key)
        if self.space < n:
            return self
        bits = n.bit_length() + 1
        bucket = ((self.key.astype(np.uint64) * HASH_FACTOR) >> np.uint64(64 - bits)).astype(np.int64)
        members = np.zeros(1 << bits, dtype=np.int32)
        np.add.at(members, bucket, np.int32(1))
        is_left = members[bucket] > 1
        others = np.flatnonzero(is_left)
        if len(others) > MAX_SHARE_LEFT * n:
            return self
        n_classes = n_rows = n - len(others)
        weight, codes = self.weight, {j: column[others] for j, column in self.codes.items()}
        if weight is not None:
            n_rows, weight = int(weight[~is_left].sum()), weight[others]
        counted = self.n_classes + n_classes, self.n_rows + n_rows
        return _Combinations(self.key[others], self.space, codes, weight, *counted)

    def merge(self, sizes: Sequence[int]) -> _Combinations:
        """Return the combinations without repetitions, if at least half of them must be repetitions.

        sizes : levels of each column
        """
        columns = list(self.codes)
        key_sizes = [self.space, *(sizes[j] for j in columns)]
        if prod(key_sizes) > len(self.key) // 2:
            return self
        key, weight = count_distinct(*pack([self.key, *self.codes.values()], key_sizes), weight=self.weight)
        codes = {}
        for j in reversed(columns):
            key, codes[j] = np.divmod(key, sizes[j])
        return self._replace(key=key, codes=codes, weight=weight)


class ColumnGame:
    """The success of an adversary by the columns that they know; bit j of a subset is column j.

    Parameters
    ----------
    table : Table
        Evaluated rows whose classes do not overlap; `of` takes any table.

    Examples
    --------
    >>> from unmask.tables import Table
    >>> people = Table.read({"sex": ["f", "m"], "town": ["a", "b"]}, quasi_identifiers=["sex", "town"])
    >>> ColumnGame.of(people).success_without()
    ({'identity': 1.0}, {'sex': {'identity': 1.0}, 'town': {'identity': 1.0}})
    """

    @classmethod
    def of(cls, table: Table, *, overlaps: bool = False) -> ColumnGame:
        """Return the game of complete rows, whose classes may overlap.

        If cells stand for several values, classes of fewer columns overlap.
        """
        opened = (column.counts[column.levels.open(table.missing)].any() for column in table.quasi_identifiers)
        return _Overlapping(table) if overlaps or any(opened) else cls(table)

    def __init__(self, table: Table) -> None:
        columns, secrets, n_entries = table.quasi_identifiers, table.sensitive, len(table.classes.of_row)
        codes, weight = tuple(column.codes for column in (*columns, *secrets)), table.counts
        if weight is None and len(table.classes.sizes) < MAX_SHARE_LEFT * n_entries:  # otherwise most are distinct
            combinations = classes_of([*columns, *secrets])
            codes, weight = tuple(combinations.levels.T), combinations.sizes
        self.d, self.n = len(columns), table.n_rows
        self.names = [column.name for column in columns]
        self.targets = (IDENTITY, *(column.name for column in secrets))
        self._sizes = [len(column.levels) for column in (*columns, *secrets)]
        key = np.zeros(len(codes[0]), dtype=np.int64)
        self._nothing = _Combinations(key, 1, dict(enumerate(codes)), weight)
        self._found: dict[int, dict[str, float]] = {}

    def contributions(self) -> tuple[Contribution, ...]:
        """Return the columns for each target, those with the largest contribution first."""
        contributed: list[Contribution] = []
        values = _exact_values(self) if self.d <= MAX_EXACT_COLUMNS else _sampled_values(self)
        success, without = self.success_without()
        for target, (shapley, error) in values.items():
            nothing = self.value(0)[target]
            for j in np.argsort(-shapley, kind="stable").tolist():
                name, alone = self.names[j], self.value(1 << j)[target] - nothing
                last = success[target] - without[name][target]
                contributed.append(Contribution(target, name, float(shapley[j]), alone, last, float(error[j])))
        return tuple(contributed)

    def success_without(self) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
        """Return the success for each target with all columns, and the success for each target without each column."""
        everything = (1 << self.d) - 1
        return self.value(everything), {name: self.value(everything ^ 1 << j) for j, name in enumerate(self.names)}

    def value(self, subset: int) -> dict[str, float]:
        """Return the success for each target of an adversary who knows the columns of a subset."""
        if subset not in self._found:
            combinations = self._nothing
            for j in (j for j in range(self.d) if subset >> j & 1):
                combinations = self._refine_key(combinations, j)
            self._found[subset] = self._success(combinations)
        return self._found[subset]

    def values_of_all_subsets(self) -> dict[str, Floats]:
        """Return the (2^d,) success of all subsets for each target."""
        self._refine(0, sorted(range(self.d), key=self._sizes.__getitem__, reverse=True), self._nothing)
        return {target: np.array([self.value(i)[target] for i in range(1 << self.d)]) for target in self.targets}

    def _refine(self, subset: int, joining: Sequence[int], combinations: _Combinations) -> None:
        """Store the success of a subset and of all its supersets that add columns of `joining`.

        Columns with many levels are first: they separate most people, and most combinations are equal without them.
        """
        for position, j in enumerate(joining, 1):
            others = {column: codes for column, codes in combinations.codes.items() if column != j}
            self._refine(subset, joining[position:], combinations._replace(codes=others).merge(self._sizes))
            subset, combinations = subset | 1 << j, self._refine_key(combinations, j)
        if subset not in self._found:
            self._found[subset] = self._success(combinations)

    def walk(self, order: Sequence[int]) -> Iterator[tuple[int, dict[str, float], dict[str, float]]]:
        """Yield each column with the success before and after it becomes known, in the given order.

        If the success before equals that of all columns, further columns add nothing, and are not evaluated.
        """
        combinations, previous, everything = self._nothing, self.value(0), self.value((1 << self.d) - 1)
        for j in order:
            current = previous
            if previous[IDENTITY] < everything[IDENTITY]:
                combinations = self._refine_key(combinations, j)
                current = self._success(combinations)
            yield j, previous, current
            previous = current

    def _refine_key(self, combinations: _Combinations, j: int) -> _Combinations:
        """Return the combinations after one more column becomes known."""
        key, space, size = combinations.key, combinations.space, self._sizes[j]
        if space > KEY_LIMIT // size:
            of_row, count, _ = rank_keys(key, space)
            key, space = of_row.astype(np.int64), len(count)
        codes = dict(combinations.codes)
        return combinations._replace(key=key * size + codes.pop(j), space=space * size, codes=codes).separate()

    def _success(self, combinations: _Combinations) -> dict[str, float]:
        key, space = combinations.key, combinations.space
        correct = {
            secret: count_most_common(key, space, combinations.codes[j], self._sizes[j], weight=combinations.weight)
            for j, secret in enumerate(self.targets[1:], self.d)
        }
        n_classes = next(iter(correct.values()))[0] if correct else len(count_distinct(key.copy(), space)[0])
        return {
            IDENTITY: (combinations.n_classes + n_classes) / self.n,
            **{secret: (combinations.n_rows + n_correct) / self.n for secret, (_, n_correct) in correct.items()},
        }


class _Overlapping(ColumnGame):
    """The game if cells may match other cells: a class then has the rows of all classes that it matches."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        subsets = 1 << self.d if self.d <= MAX_EXACT_COLUMNS else N_ORDERS * self.d
        if self.n * subsets > MAX_ROW_SUBSETS:
            raise UnmaskError(
                f"cells of some columns overlap (`*`, wildcards or sets), and {subsets:,} sets of columns of "
                f"{self.n:,} rows are too many to compare; name fewer quasi-identifiers"
            )
        self._table = table

    def value(self, subset: int) -> dict[str, float]:
        if subset and subset not in self._found:
            columns = tuple(column for j, column in enumerate(self._table.quasi_identifiers) if subset >> j & 1)
            frame = Frame.of(replace(self._table, quasi_identifiers=columns))
            success = {IDENTITY: prosecutor(frame.sizes, rows=frame.rows).average}
            for secret in self._table.sensitive:
                places = np.arange(len(secret.levels), dtype=np.int32)
                view, rows = frame.histograms(secret, places, secret.counts)
                success[secret.name] = 1 - map_error(view, rows=rows)
            self._found[subset] = success
        return super().value(subset)

    def values_of_all_subsets(self) -> dict[str, Floats]:
        return {target: np.array([self.value(i)[target] for i in range(1 << self.d)]) for target in self.targets}

    def walk(self, order: Sequence[int]) -> Iterator[tuple[int, dict[str, float], dict[str, float]]]:
        subset = 0
        for j in order:
            yield j, self.value(subset), self.value(subset | 1 << j)
            subset |= 1 << j
