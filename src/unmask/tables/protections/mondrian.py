"""Mondrian generalization of tables, with the cuts of `mondrian_cuts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.randomness import secret_unless
from unmask.ranges import Option
from unmask.tables.column import Column
from unmask.tables.protections import mondrian_cuts as kernel
from unmask.tables.protections.base import Released, allow_all, evaluated_rows, format_call, recode, release_rows
from unmask.tables.protections.bound_constraints import (
    ClassConstraints,
    SensitiveColumn,
    bind_sensitive_columns,
    check_whole_table,
)
from unmask.tables.protections.constraints import Constraint
from unmask.tables.protections.cut_tests import Allows
from unmask.tables.protections.recoding import column_axis, merge_cells
from unmask.tables.table import Table


@dataclass(frozen=True)
class Mondrian(ClassConstraints):
    """Multidimensional generalization: boxes of at least k people, with each cell replaced by the values of its box.

    A box is cut along its widest column (width relative to the whole table; ties: column order), at the allowed
    position nearest to the median. A cut is allowed if both halves have k people and satisfy all constraints on every
    sensitive column; see `mondrian_cuts.mondrian`.

    Columns are ordered as follows: numbers and dates by value; ordinal columns by rank; texts by their sorted domain,
    or depth-first along a hierarchy; codes along the tree of their prefixes. Along a tree, the strict form only
    cuts between children of the lowest node that covers the box. Intervals count as their midpoint, sets as the
    mean position of their values; `*` and missing cells come first.

    Numbers become the interval from the smallest to the largest value. Dates become the shortest period that contains
    all of them (month, quarter, year), or an interval of whole months, or of whole years beyond 24 months, so that its
    ends are not dates of people. Codes become their common prefix, `481**`. Other values become their set, written as a
    node of the hierarchy if it is one, and as the lowest node that contains them if `cells` of the table is "nodes". A
    class that mixes missing cells, `*` or a mask with other cells gets `*`.

    Assumes: adversaries know the quasi-identifiers only. Each person has one row, or an identifier joins their rows.

    Fails when: a kept column distinguishes rows of a box; a class shares one sensitive value (use `l` or `t`); most
        rows of a class belong to one person; or the same people are released again in other boxes.

    Parameters
    ----------
    k : int
        Smallest number of people in a class (rows, if every row is a person).
    l : int, optional
        Smallest number of distinct values of a sensitive column in a class (l-diversity).
    t : float, optional
        Largest distance between the sensitive values of a class and of the whole table (t-closeness).
    t_distance : str
        Distance of t-closeness: equal (total variation), ordered or hierarchical (earth mover's), or kl (in nats).
    l_entropy : float, optional
        Smallest effective number of sensitive values in a class, 2 to the entropy in bits (entropy l-diversity).
    l_recursive : (float, int), optional
        C:L, the most common value of a class has fewer than C times the rows of the L-th and all less common values
        (recursive l-diversity).
    delta : float, optional
        Bound of the log ratio of a value's frequency in a class and in the table (delta-disclosure privacy). A class
        that lacks a value of the table fails.
    beta : float, optional
        Largest relative increase of a value's frequency in a class (enhanced beta-likeness).
    alpha : float, optional
        Largest share of one sensitive value in a class ((alpha, k)-anonymity).
    constraints : sequence, optional
        Further constraints, from `unmask.tables.protections`.
    levels : mapping of str to level, optional
        Finest level of a column in a release: bins, a period, a level, hidden characters, or *. See `Generalize`.
        The table is recoded to it before it is cut.
    strict : bool
        Cut between two values of a column, or let rows equal to a cut go to either side. Strict boxes are disjoint, and
        a point with many copies makes a large class. Otherwise rows of equal value may be divided at random, so that
        with k alone every box has k to 2k - 1 rows. Boxes may then overlap; equal boxes form one class of the release.

    References
    ----------
    K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.

    Examples
    --------
    >>> table = Table.read({"age": [30, 31, 50, 51]}, quasi_identifiers="age")
    >>> release, origin = Mondrian(k=2)(table, rng=np.random.default_rng(1))
    >>> release.quasi_identifiers[0].levels.labels, release.classes.sizes
    (('[30, 31]', '[50, 51]'), array([2, 2]))
    """

    strict: Annotated[bool, Option("Protection", "--strict/--relaxed")] = True
    levels: Annotated[Mapping[str, float | str], Option("Protection", "--level", "COLUMN=LEVEL")] = field(
        default_factory=dict, hash=False
    )

    __repr__ = format_call
    allowed_pairs = allow_all

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "levels", dict(self.levels))

    @property
    def reads_values(self) -> bool:
        """True if cuts depend on sensitive values."""
        return bool(self.demands)

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return the release, whose classes have k people and satisfy the constraints, and its origin."""
        rng = secret_unless(rng)
        rows = evaluated_rows(table)
        complete = recode(table.complete, self.levels)
        search = self.search(complete, [complete.totals_of(column) for column in complete.quasi_identifiers])
        if self.strict:
            box, codes, of_row = search.boxes(complete), complete.classes.levels, complete.classes.of_row
        else:
            box, codes, of_row = (
                search.relaxed_boxes(complete, rng=rng),
                complete.codes,
                np.arange(rows.size, dtype=np.int32),
            )
        recoded = [merge_cells(column, box, codes[:, j]) for j, column in enumerate(complete.quasi_identifiers)]
        return release_rows(table, rows, [(levels, code[of_row]) for levels, code in recoded], rng)

    def search(self, table: Table, rows: Sequence[Integers]) -> MondrianSearch:
        """Return the search for cuts of a table.

        rows : for each quasi-identifier, (L,) rows of each level
        """
        return MondrianSearch.of(table, rows, k=self.smallest_class, demands=self.demands)


@dataclass(frozen=True, eq=False)
class MondrianSearch:
    """Search for cuts: the constraints, and the coordinates of the levels of a table.

    rows    : for each quasi-identifier (L,) complete rows of each level
    place, trees, span : coordinates, tree and width of each column, see `recoding.column_axis`
    sensitive_columns  : sensitive columns as the constraints use them
    """

    k: int
    demands: tuple[Constraint, ...]
    rows: tuple[Integers, ...]
    place: tuple[Floats, ...]
    trees: tuple[Integers | None, ...]
    span: Floats
    sensitive_columns: tuple[SensitiveColumn, ...]

    @classmethod
    def of(cls, table: Table, rows: Sequence[Integers], *, k: int, demands: Sequence[Constraint]) -> MondrianSearch:
        """Return the search of a table; raise FailedError if the table as one class violates a constraint.

        rows : for each quasi-identifier, (L,) rows of each level
        """
        sensitive_columns = bind_sensitive_columns(table, demands)
        n_people = int(rows[0].sum()) if table.person is None else table.n_people
        check_whole_table(n_people, k, demands, sensitive_columns)
        axes = [_measure_axis(column, count) for column, count in zip(table.quasi_identifiers, rows, strict=True)]
        place, trees, span = zip(*axes, strict=True)
        return cls(k, tuple(demands), tuple(rows), place, trees, np.array(span), tuple(sensitive_columns))

    @property
    def allows(self) -> list[Allows]:
        """Test of the histograms of each sensitive column."""
        return [sensitive_column.allows(self.demands) for sensitive_column in self.sensitive_columns]

    def boxes(self, table: Table) -> NDArray[np.int32]:
        """Return (J,) the box of each class, by cuts between values.

        table : the whole table, or a part that lies in one box
        """
        histograms = [
            sensitive_column.count_ranks(table.histogram(sensitive_column.column))
            for sensitive_column in self.sensitive_columns
        ]
        return self._cut(table.classes.levels, table.classes.sizes, histograms, table.people)

    def relaxed_boxes(self, table: Table, *, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return (n_rows,) the box of each row, by cuts that may also lie between equal values."""
        histograms = [sensitive_column.rank_rows(table) for sensitive_column in self.sensitive_columns]
        n, person = table.n_rows, table.person
        people = (
            None if person is None else scipy.sparse.csr_array((np.ones(n, dtype=np.int32), person, np.arange(n + 1)))
        )
        return self._cut(table.codes, np.ones(n, dtype=np.int64), histograms, people, rng=rng)

    def _cut(
        self,
        levels: NDArray[np.int32],
        rows: Integers,
        histograms: Sequence[scipy.sparse.csr_array],
        people: scipy.sparse.csr_array | None,
        *,
        rng: np.random.Generator | None = None,
    ) -> NDArray[np.int32]:
        return kernel.mondrian(
            np.stack([place[levels[:, j]] for j, place in enumerate(self.place)], axis=1),
            rows,
            k=self.k,
            span=self.span,
            histograms=histograms,
            allows=self.allows,
            people=people,
            trees=self.trees,
            strict=rng is None,
            rng=rng,
        )


def _measure_axis(column: Column, rows: Integers) -> tuple[Floats, Integers | None, float]:
    """Return the coordinates of a column's levels, their tree, and the width of the levels that occur."""
    used = np.flatnonzero(rows).astype(np.int32)
    place, tree = column_axis(column, used)
    return place, tree, float(np.ptp(place[used]))
