"""Suppression of rows and of cells in classes that are small or violate a constraint."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Integers
from unmask.core.errors import FailedError
from unmask.core.grouping import group, sum_rows
from unmask.ranges import Range, check_ranges, check_types
from unmask.tables.column import Column
from unmask.tables.criteria.evaluation import SUBSETS
from unmask.tables.notation import EVERYTHING
from unmask.tables.protections.base import (
    Released,
    allow_all,
    column_position,
    format_call,
    protected_rows,
    release_columns,
    sort_release,
)
from unmask.tables.protections.bound_constraints import ClassConstraints, find_satisfying_classes
from unmask.tables.protections.recoding import write_cells
from unmask.tables.table import Table

if TYPE_CHECKING:
    from unmask.tables.attacks.pairing import Pairing


@dataclass(frozen=True)
class Suppress(ClassConstraints):
    """Suppress the rows of every class that is smaller than k or violates a constraint on a sensitive column.

    The cells of the other rows are not changed, and `origin` is shorter than the table. An error is raised if no class
    remains.

    Assumes: what `Mondrian` assumes. A suppressed person may be missing from every count.

    Fails when: rare people are the purpose of the data, because they are suppressed. A person who is known to be in the
        source and is missing from the release is known to be rare.

    Parameters
    ----------
    k, l, t, t_distance, l_entropy, l_recursive, delta, beta, alpha, constraints
        As in `Mondrian`.

    References
    ----------
    P. Samarati & L. Sweeney, "Protecting privacy when disclosing information: k-anonymity and its enforcement through
    generalization and suppression", 1998.

    Examples
    --------
    >>> table = Table.read({"age": [30, 30, 50]}, quasi_identifiers="age")
    >>> release, origin = Suppress(k=2)(table, rng=np.random.default_rng(1))
    >>> sorted(origin.tolist())
    [0, 1]
    """

    __repr__ = format_call
    allowed_pairs = allow_all

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return the rows in classes that satisfy all constraints, and their origin."""
        complete = protected_rows(table)
        classes = complete.classes
        good = find_satisfying_classes(complete, self.smallest_class, self.demands)
        if not good.any():
            largest, unit = int(complete.class_people.max(initial=0)), "rows" if complete.person is None else "people"
            raise FailedError(
                f"{self!r} would suppress all {table.n_rows} rows, because none of {classes.sizes.size} classes "
                f"satisfies it and the largest has {largest} {unit}; lower k, or generalize the quasi-identifiers first"
            )
        is_released = good[classes.of_row]
        return sort_release(complete.take(is_released), table.complete_rows[is_released], rng)


@dataclass(frozen=True)
class SuppressCells:
    """Replace cells by `*` in classes smaller than k, one column after the other.

    While rows are in classes smaller than k, the algorithm selects, among the columns not used yet, the column with the
    lowest price for each row that its suppression in exactly these rows moves to a large class (ties: lowest price,
    column order). It writes `*` there and forms the classes again, with `*` as a value of its own. Rows in large
    classes are never changed.

    With `k_pairs` or `k_triples` the same is done for the columns of each subset, until no subset has a small class. If
    the largest of the three, as k, has fewer stars by price, it is used instead.

    The algorithm ends when no small class is left, all columns are used, or the budget is spent. Rows that are still in
    small classes stay in the release. Criteria let `*` match every cell. Therefore k holds for these rows if all
    columns may be suppressed and `rate` is 1. `unmask.protect` refuses a release that misses k.

    Assumes: adversaries read `*` as any value.

    Fails when: the star itself is informative, because rows of large classes have none (`MechanismAttack`); or all
        columns are used and some classes stay small.

    Parameters
    ----------
    k : int
        Smallest class size of all quasi-identifiers together.
    k_pairs, k_triples : int
        Smallest class size of every two and every three quasi-identifiers, for adversaries who know no more; k implies
        as much.
    columns : sequence of str, optional
        Quasi-identifiers that may be suppressed. The default is all of them.
    rate : float
        Largest share of the cells of these columns that may become `*`, 0 to 1. If a step would exceed it, whole
        classes are suppressed from the smallest upwards (ties: class order), as far as the budget goes.
    importance : mapping of str to float, optional
        Price of a `*` in a column, 1 for columns that are not named. A column with a high price is used last.

    References
    ----------
    L. Willenborg & T. de Waal, "Elements of statistical disclosure control", 2001, for local suppression.

    Examples
    --------
    >>> table = Table.read({"age": [30, 30, 50, 51], "sex": list("mmff")}, quasi_identifiers=["age", "sex"])
    >>> release, origin = SuppressCells(k=2)(table, rng=np.random.default_rng(1))
    >>> release.classes.sizes, release.column("age").levels.labels
    (array([2, 2]), ('*', '30', '50', '51'))
    """

    k: Annotated[int, Range(1)] = 10
    k_pairs: Annotated[int, Range(1)] = 1
    k_triples: Annotated[int, Range(1)] = 1
    columns: str | tuple[str, ...] = ()
    rate: Annotated[float, Range(0, 1)] = 1.0
    importance: Mapping[str, Annotated[float, Range(0, above=True)]] = field(default_factory=dict, hash=False)

    __repr__ = format_call

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", (self.columns,) if isinstance(self.columns, str) else tuple(self.columns))
        check_ranges(self)
        check_types(type(self), {"importance": self.importance})

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return the release with suppressed cells, and its origin."""
        complete = protected_rows(table)
        names = [column.name for column in complete.quasi_identifiers]
        positions = [column_position(complete, name) for name in self.columns] or range(len(names))
        starred = {j: _add_star(complete.quasi_identifiers[j]) for j in sorted(set(positions))}
        price = {column_position(complete, name): value for name, value in self.importance.items()}
        unchanged = partial(_Suppression.of, complete, starred, rate=self.rate, price=price)
        required = {len(names): self.k}
        for name, size in SUBSETS.items():
            n_columns = min(size, len(names))
            required[n_columns] = max(required.get(n_columns, 1), getattr(self, name))
        codes = suppress_cells(unchanged, required, len(names)).codes
        columns = [
            replace(starred.get(j, column), codes=codes[complete.classes.of_row, j])
            for j, column in enumerate(complete.quasi_identifiers)
        ]
        return release_columns(table, columns, rng)

    def allowed_pairs(self, release: Table, pairing: Pairing, row: Integers, klass: Integers) -> Booleans:
        """Return a mask of the compatible pairs of a person and a class that the protection allows.

        All rows of a class are suppressed in the same columns, which are chosen in a fixed order. Among the rows that
        are compatible with a fully known person, only those with the fewest `*` can be theirs. If a missing cell is any
        value, all rows are allowed: a row with a missing cell is compatible with people of other classes. They are
        allowed, too, if subsets of columns are required, which star the columns in no fixed order.

        row, klass : observation and class of each pair
        """
        has_subsets = max(self.k_pairs, self.k_triples) > 1
        if has_subsets or len(pairing.columns) < len(release.quasi_identifiers) or release.missing == "wildcard":
            return np.ones(row.size, dtype=np.bool_)
        hidden = [cell.levels.suppressed[pairing.classes[:, j]] for j, (_, cell) in enumerate(pairing.columns)]
        stars = np.sum(hidden, axis=0)[klass]
        open_levels = [column.levels.open(release.missing) for column, _ in pairing.columns]
        vague = [levels[pairing.observed[:, j]] for j, levels in enumerate(open_levels)]
        fewest = np.full(len(pairing.observed), len(pairing.columns))
        np.minimum.at(fewest, row, stars)
        return np.asarray(np.any(vague, axis=0)[row] | (stars == fewest[row]))


def _add_star(column: Column) -> Column:
    """Return the distinct cells of a column, then `*`, as the rows of a column."""
    return write_cells(column, [*column.levels.labels, EVERYTHING], np.arange(len(column.levels) + 1))


@dataclass(eq=False)
class _Suppression:
    """Cells of the classes of a table, of which some become `*` step by step.

    codes : (J, d) codes of each class
    widths : number of codes of each column
    stars : code of `*` of each column that may be suppressed
    price : price of a `*` by column, 1 if it is not named
    budget : cells that may still become `*`
    cost : price of all cells that became `*`
    """

    table: Table
    codes: NDArray[np.int32]
    widths: list[int]
    stars: dict[int, int]
    price: Mapping[int, float]
    budget: int
    cost: float = 0.0

    @classmethod
    def of(
        cls, table: Table, starred: Mapping[int, Column], *, rate: float, price: Mapping[int, float]
    ) -> _Suppression:
        """Return the unchanged classes. starred : see `_add_star`, for the columns that may be suppressed"""
        codes, widths = table.classes.levels.copy(), [len(column.levels) for column in table.quasi_identifiers]
        stars = {j: int(column.codes[-1]) for j, column in starred.items()}
        for j, column in starred.items():
            codes[:, j], widths[j] = column.codes[codes[:, j]], len(column.levels)
        return cls(table, codes, widths, stars, price, int(rate * table.classes.sizes.sum() * len(stars) + 1e-9))

    def require(self, k: int, columns: Sequence[int]) -> bool:
        """Suppress cells of small classes of some columns, and return whether a cell changed."""
        weight, cost = self.table.classes.sizes, self.cost
        unused_columns = [j for j in self.stars if j in columns]
        while unused_columns and self.budget:
            class_numbers, total = self._regroup(self.codes, columns)
            small = total < k
            if not small.any():
                break
            n_small = int(weight[small].sum())

            def rank(j: int, small: Booleans = small, n_small: int = n_small) -> tuple[float, float]:
                """Return the price for each row in a large class, and the price of the column."""
                price, total = self.price.get(j, 1.0), self._regroup(self._suppress(j, small), columns)[1]
                n_fixed = n_small - int(weight[total < k].sum())
                return (price / n_fixed if n_fixed > 0 else math.inf), price

            column = min(unused_columns, key=rank)
            unused_columns.remove(column)
            new_stars = np.where(self.codes[:, column] == self.stars[column], 0, weight)
            chosen = _select_within_budget(class_numbers, total, new_stars, small, self.budget)
            n_stars = int(new_stars[chosen].sum())
            self.budget = self.budget - n_stars if chosen[small].all() else 0
            self.cost += n_stars * self.price.get(column, 1.0)
            self.codes = self._suppress(column, chosen)
        return self.cost > cost

    def _regroup(self, codes: NDArray[np.int32], columns: Sequence[int]) -> tuple[NDArray[np.int32], Integers]:
        """Return the number of the class of each entry in some columns, with `*` as a value, and its size."""
        chosen = [np.ascontiguousarray(codes[:, j]) for j in columns]
        class_numbers, _, _ = group(chosen, [self.widths[j] for j in columns])
        people, n_classes = self.table.people, int(class_numbers.max()) + 1
        if people is None:
            sizes = np.bincount(class_numbers, self.table.classes.sizes, n_classes).astype(np.int64)
        else:
            sizes = np.diff(sum_rows(people, class_numbers, n_classes).indptr)
        return class_numbers, sizes[class_numbers]

    def _suppress(self, column: int, rows: Booleans) -> NDArray[np.int32]:
        codes = self.codes.copy()
        codes[rows, column] = self.stars[column]
        return codes


def suppress_cells(unchanged: Callable[[], _Suppression], required: Mapping[int, int], n_columns: int) -> _Suppression:
    """Return the cheaper of two suppressions in which every set of columns has classes of a required size.

    One requires the largest k of all columns, from which it follows for subsets. The other requires k of all columns,
    and then that of the subsets, until none has a small class: a star for one may make a class of another one small.

    required : number of columns -> smallest class of every set of so many columns
    """
    every_column = range(n_columns)
    at_once = unchanged()
    at_once.require(max(required.values()), every_column)
    larger = {size: k for size, k in required.items() if k > required[n_columns]}
    if not larger:
        return at_once
    by_subset, changed = unchanged(), True
    by_subset.require(required[n_columns], every_column)
    while changed:
        changed = False
        for size, k in larger.items():
            for subset in combinations(every_column, size):
                changed |= by_subset.require(k, subset)
    return min(by_subset, at_once, key=lambda suppression: (suppression.budget == 0, suppression.cost))


def _select_within_budget(
    class_numbers: NDArray[np.int32], total: Integers, cost: Integers, small: Booleans, budget: int
) -> Booleans:
    """Return a mask of the small classes, smallest first, whose cells fit the budget together."""
    size = np.zeros(int(class_numbers.max()) + 1, dtype=np.int64)
    size[class_numbers] = total
    price = np.bincount(class_numbers, weights=cost).astype(np.int64)
    candidates = np.unique(class_numbers[small])
    order = candidates[np.argsort(size[candidates], kind="stable")]
    affordable = np.zeros(size.size, dtype=np.bool_)
    affordable[order[np.cumsum(price[order]) <= budget]] = True
    return affordable[class_numbers]
