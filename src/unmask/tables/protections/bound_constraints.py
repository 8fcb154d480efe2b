"""Constraints on the classes of a release, bound to the sensitive columns of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import partial
from typing import Annotated, Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Integers
from unmask.core.csr_rows import CsrRows
from unmask.core.errors import FailedError, UnmaskError
from unmask.ranges import Range, check_types
from unmask.tables.column import Column
from unmask.tables.criteria.histograms import hierarchy_paths, rank_order
from unmask.tables.protections.constraints import (
    AlphaK,
    BetaLikeness,
    Constraint,
    DeltaDisclosure,
    Distance,
    DistinctL,
    EntropyL,
    KAnonymity,
    RecursiveL,
    TCloseness,
    all_allow,
    bound_of,
)
from unmask.tables.table import Table

_CELLS = 1 << 21
"""Cells of a dense block of histograms."""


@dataclass(frozen=True)
class ClassConstraints:
    """Base of the protections that form classes: constraints on every class of the release.

    Parameters
    ----------
    k, l, t, t_distance, l_entropy, l_recursive, delta, beta, alpha, constraints
        As in `Mondrian`.
    """

    k: int = 10
    l: int | None = None  # noqa: E741 - the literature's name
    t: float | None = None
    _: KW_ONLY
    t_distance: Distance = "equal"
    l_entropy: Annotated[float, Range(1)] | None = None
    l_recursive: tuple[float, int] | None = None
    delta: Annotated[float, Range(0, above=True)] | None = None
    beta: Annotated[float, Range(0)] | None = None
    alpha: Annotated[float, Range(0, 1, above=True)] | None = None
    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        """Raise UnmaskError for parameters out of range."""
        names = ("t_distance", "l_entropy", "l_recursive", "delta", "beta", "alpha")
        check_types(type(self), {name: getattr(self, name) for name in names})
        object.__setattr__(self, "constraints", tuple(self.constraints))
        for constraint in self.constraints:
            if not hasattr(constraint, "allows"):
                raise UnmaskError(f"{constraint!r} is not a constraint, expected one of unmask.tables.protections")
        KAnonymity(self.k)  # constraints check their parameters
        self._list_constraints()

    @property
    def smallest_class(self) -> int:
        """Smallest number of people in a class."""
        return max([self.k, *(item.k for item in self.constraints if isinstance(item, KAnonymity))])

    @property
    def demands(self) -> tuple[Constraint, ...]:
        """Constraints on the sensitive columns."""
        return (*(item for item in self.constraints if not isinstance(item, KAnonymity)), *self._list_constraints())

    def _list_constraints(self) -> list[Constraint]:
        """Return the constraints that the parameters define."""
        constraints: list[tuple[Callable[..., Constraint], Any]] = [
            (DistinctL, self.l),
            (partial(TCloseness, distance=self.t_distance), self.t),
            (EntropyL, self.l_entropy),
            (lambda bound: RecursiveL(*bound), self.l_recursive),
            (DeltaDisclosure, self.delta),
            (BetaLikeness, self.beta),
            (AlphaK, self.alpha),
        ]
        return [constraint(bound) for constraint, bound in constraints if bound is not None]

    def without_sensitive_constraints(self) -> Self:
        """Return the protection with its smallest class size as the only constraint."""
        others: dict[str, Any] = {item.name: item.default for item in fields(ClassConstraints) if item.name != "k"}
        return replace(self, **{**others, "k": self.smallest_class})


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """Sensitive column with its levels in rank order.

    rank    : (L,) rank of each level
    overall : (L,) rows of each rank in the whole table
    paths   : hierarchy nodes above each rank, see `Constraint.value`; None if no constraint needs them
    """

    column: Column
    rank: NDArray[np.int32]
    overall: Integers
    paths: NDArray[np.int32] | None

    def count_ranks(self, histogram: CsrRows) -> scipy.sparse.csr_array:
        """Return counts of levels, (J, L), as counts of ranks."""
        return scipy.sparse.csr_array(
            (histogram.data, self.rank[histogram.indices], histogram.indptr), shape=histogram.shape
        )

    def rank_rows(self, table: Table) -> scipy.sparse.csr_array:
        """Return the rank of each row as a histogram, (n_rows, L)."""
        codes = self.rank[table.column(self.column.name).codes]
        n = codes.size
        return scipy.sparse.csr_array((np.ones(n, dtype=np.int32), codes, np.arange(n + 1)), shape=(n, self.rank.size))

    def allows(self, demands: Sequence[Constraint]) -> Callable[[NDArray[Any]], Booleans]:
        """Return a function from histograms, (P, L), to a mask of those that satisfy all constraints, (P,)."""
        return lambda histogram: all_allow(demands, histogram, self.overall, paths=self.paths)

    def satisfied_classes(self, counts: scipy.sparse.csr_array, demands: Sequence[Constraint]) -> Booleans:
        """Return a mask of the classes that satisfy the constraints on this column, (J,).

        counts : (J, L) rows of each rank
        """
        block = max(1, _CELLS // self.overall.size)
        starts = range(0, counts.shape[0], block)
        return np.concatenate([self.allows(demands)(counts[begin : begin + block].toarray()) for begin in starts])


def bind_sensitive_columns(table: Table, demands: Sequence[Constraint]) -> list[SensitiveColumn]:
    """Return the sensitive columns of a table as the constraints need them; none without constraints."""
    if not demands:
        return []
    if not table.sensitive:
        listing = ", ".join(map(repr, demands))
        raise UnmaskError(f"the table has no sensitive column for {listing}; name one, or set k only")
    distances = {demand.distance for demand in demands if isinstance(demand, TCloseness)}
    return [_bind_sensitive_column(column, table.totals_of(column), distances) for column in table.sensitive]


def _bind_sensitive_column(column: Column, rows: Integers, distances: set[Any]) -> SensitiveColumn:
    used = replace(column, codes=np.flatnonzero(rows).astype(np.int32), row_counts=None)
    rank = _rank_levels(used) if "ordered" in distances else np.arange(rows.size, dtype=np.int32)
    overall = np.zeros_like(rows)
    overall[rank] = rows
    return SensitiveColumn(column, rank, overall, _paths(used, rank) if "hierarchical" in distances else None)


def _rank_levels(column: Column) -> NDArray[np.int32]:
    rank = None if ((column.counts > 0) & ~column.levels.atomic).any() else rank_order(column)
    if rank is None:
        raise UnmaskError(
            f"the ordered distance needs an order, but sensitive column {column.name!r} has no order, or missing or "
            "generalized cells; declare its order, or choose the distance 'equal'"
        )
    return rank


def _paths(column: Column, rank: NDArray[np.int32]) -> NDArray[np.int32]:
    paths = hierarchy_paths(column, rank=rank)
    if paths is None:
        raise UnmaskError(
            f"sensitive column {column.name!r} has no hierarchy for the hierarchical distance; give one, "
            "or choose the distance 'equal'"
        )
    return paths


def check_whole_table(
    n_people: int, k: int, demands: Sequence[Constraint], sensitive_columns: Sequence[SensitiveColumn]
) -> None:
    """Raise FailedError if the whole table, as one class, violates a constraint."""
    if n_people < k:
        advice = f"set k to at most {n_people}" if n_people > 1 else "at least 2 people are needed"
        raise FailedError(f"the table has {n_people} people, fewer than k = {k}; {advice}")
    for sensitive_column in sensitive_columns:
        all_rows = sensitive_column.overall[None, :]
        for demand in demands:
            if not demand.allows(all_rows, sensitive_column.overall, paths=sensitive_column.paths)[0]:
                comparison = demand.comparison
                attained = float(demand.value(all_rows, sensitive_column.overall, paths=sensitive_column.paths)[0])
                raise FailedError(
                    f"{comparison.quantity} of {comparison.sense} {bound_of(demand):g} cannot be satisfied: the whole "
                    f"table has {attained:.6g} on column {sensitive_column.column.name!r}; weaken the constraint"
                )


def find_satisfying_classes(
    table: Table, k: int, demands: Sequence[Constraint], *, reference: Table | None = None
) -> Booleans:
    """Return a mask of the classes with k people that satisfy all constraints on every sensitive column, (J,).

    reference : table whose sensitive values are the reference distribution; by default this table
    """
    good = table.class_people >= k
    for sensitive_column in bind_sensitive_columns(table if reference is None else reference, demands):
        good &= sensitive_column.satisfied_classes(
            sensitive_column.count_ranks(table.classes.counts(table.column(sensitive_column.column.name))), demands
        )
    return good
