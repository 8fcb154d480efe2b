"""Suppression of rows and of cells in classes that are small or violate a constraint."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Integers
from unmask.core.errors import FailedError
from unmask.ranges import Range, check_ranges, check_types
from unmask.tables.column import Column
from unmask.tables.grouping import group, sum_rows
from unmask.tables.notation import EVERYTHING
from unmask.tables.protections.base import (
    Released,
    allow_all,
    column_position,
    evaluated_rows,
    format_call,
    release_rows,
    sort_release,
)
from unmask.tables.protections.bound_constraints import ClassConstraints, find_satisfying_classes
from unmask.tables.protections.recoding import Recoded, new_cells
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
        rows = evaluated_rows(table)
        complete = table.complete
        classes = complete.classes
        good = find_satisfying_classes(complete, self.smallest_class, self.demands)
        if not good.any():
            largest, unit = int(complete.class_people.max(initial=0)), "rows" if complete.person is None else "people"
            raise FailedError(
                f"{self!r} would suppress all {table.n_rows} rows, because none of {classes.sizes.size} classes "
                f"satisfies it and the largest has {largest} {unit}; lower k, or generalize the quasi-identifiers first"
            )
        return sort_release(complete.take(good[classes.of_row]), rows[good[classes.of_row]], rng)


@dataclass(frozen=True)
class SuppressCells:
    """Replace cells by `*` in classes smaller than k, one column after the other.

    While rows are in classes smaller than k, the algorithm selects, among the columns not used yet, the column with the
    lowest price for each row that its suppression in exactly these rows moves to a large class (ties: lowest price,
    column order). It writes `*` there and forms the classes again, with `*` as a value of its own. Rows in large
    classes are never changed.

    The algorithm ends when no small class is left, all columns are used, or the budget is spent. Rows that are still in
    small classes stay in the release. Criteria let `*` match every cell. Therefore k holds for these rows if all
    columns may be suppressed and `rate` is 1. `unmask.protect` refuses a release that misses k.

    Assumes: adversaries read `*` as any value.

    Fails when: the star itself is informative, because rows of large classes have none (`MechanismAttack`); or all
        columns are used and some classes stay small.

    Parameters
    ----------
    k : int
        Smallest class size.
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
        rows = evaluated_rows(table)
        complete = table.complete
        names = [column.name for column in complete.quasi_identifiers]
        positions = [column_position(complete, name) for name in self.columns] or list(range(len(names)))
        levels_with_star = [
            add_star(column) if j in positions else None for j, column in enumerate(complete.quasi_identifiers)
        ]
        price = {column_position(complete, name): value for name, value in self.importance.items()}
        codes = suppress_cells(complete, levels_with_star, positions, k=self.k, rate=self.rate, price=price)
        recoded = [
            (column.levels if star is None else star[0], codes[:, j][complete.classes.of_row])
            for j, (column, star) in enumerate(zip(complete.quasi_identifiers, levels_with_star, strict=True))
        ]
        return release_rows(table, rows, recoded, rng)

    def allowed_pairs(self, release: Table, pairing: Pairing, row: Integers, klass: Integers) -> Booleans:
        """Return a mask of the compatible pairs of a person and a class that the protection allows.

        All rows of a class are suppressed in the same columns, which are chosen in a fixed order. Among the rows that
        are compatible with a fully known person, only those with the fewest `*` can be theirs. If a missing cell is any
        value, all rows are allowed: a row with a missing cell is compatible with people of other classes.

        row, klass : observation and class of each pair
        """
        if len(pairing.columns) < len(release.quasi_identifiers) or release.missing == "wildcard":
            return np.ones(row.size, dtype=np.bool_)
        hidden = [cell.levels.suppressed[pairing.classes[:, j]] for j, (_, cell) in enumerate(pairing.columns)]
        stars = np.sum(hidden, axis=0)[klass]
        open_levels = [column.levels.open(release.missing) for column, _ in pairing.columns]
        vague = [levels[pairing.observed[:, j]] for j, levels in enumerate(open_levels)]
        fewest = np.full(len(pairing.observed), len(pairing.columns))
        np.minimum.at(fewest, row, stars)
        return np.asarray(np.any(vague, axis=0)[row] | (stars == fewest[row]))


def add_star(column: Column) -> Recoded:
    """Return the levels with `*` added, and the new code of each old level, then that of `*`."""
    return new_cells(column, [*column.levels.labels, EVERYTHING])


def suppress_cells(
    table: Table,
    levels_with_star: Sequence[Recoded | None],
    positions: Sequence[int],
    *,
    k: int,
    rate: float,
    price: Mapping[int, float],
) -> NDArray[np.int32]:
    """Return the codes of each class after the greedy suppression, (J, d).

    levels_with_star : levels of each column with `*`, see `add_star`; None for columns that are not suppressed
    positions        : columns that may be suppressed
    price            : price of a `*` by column, 1 if it is not named
    """
    classes, people = table.classes, table.people
    codes = classes.levels.copy()
    widths = [len(column.levels) for column in table.quasi_identifiers]
    for j, star in enumerate(levels_with_star):
        if star is not None:
            codes[:, j], widths[j] = star[1][codes[:, j]], len(star[0])
    stars = {j: int(star[1][-1]) for j, star in enumerate(levels_with_star) if star is not None}
    weight = classes.sizes

    def regroup(columns: NDArray[np.int32]) -> tuple[NDArray[np.int32], Integers]:
        class_numbers, _, _ = group([np.ascontiguousarray(column) for column in columns.T], widths)
        if people is None:
            return class_numbers, np.bincount(class_numbers, weights=weight).astype(np.int64)[class_numbers]
        return class_numbers, np.diff(sum_rows(people, class_numbers, int(class_numbers.max()) + 1).indptr)[
            class_numbers
        ]

    def suppressed(j: int, rows: Booleans) -> NDArray[np.int32]:
        trial = codes.copy()
        trial[rows, j] = stars[j]
        return trial

    def violating(columns: NDArray[np.int32]) -> int:
        return int(weight[regroup(columns)[1] < k].sum())

    def rank(j: int, n_fixed: int) -> tuple[float, float]:
        """Return the price for each row in a large class, and the price of the column."""
        return (price.get(j, 1.0) / n_fixed if n_fixed > 0 else math.inf), price.get(j, 1.0)

    budget = int(rate * weight.sum() * len(positions) + 1e-9)
    unused_columns = list(dict.fromkeys(positions))
    while unused_columns and budget:
        class_numbers, total = regroup(codes)
        small = total < k
        if not small.any():
            break
        n_small = int(weight[small].sum())
        chosen_column = min(unused_columns, key=lambda j: rank(j, n_small - violating(suppressed(j, small))))
        unused_columns.remove(chosen_column)
        chosen = _select_within_budget(
            class_numbers, total, np.where(codes[:, chosen_column] == stars[chosen_column], 0, weight), small, budget
        )
        budget = (
            budget - int(weight[chosen & (codes[:, chosen_column] != stars[chosen_column])].sum())
            if chosen[small].all()
            else 0
        )
        codes = suppressed(chosen_column, chosen)
    return codes


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
