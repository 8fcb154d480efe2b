"""Mondrian generalization of tables, with the cuts of `mondrian_cuts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.randomness import secret_unless
from unmask.ranges import Option
from unmask.tables.protections.base import Released, allow_all, format_call, protected_rows, recode, release_columns
from unmask.tables.protections.bound_constraints import ClassConstraints, bind_sensitive_columns, check_whole_table
from unmask.tables.protections.mondrian_cuts import mondrian
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
        rng, complete = secret_unless(rng), recode(protected_rows(table), self.levels)
        box = self.boxes(complete, rng=rng)
        codes, of_row = (
            (complete.classes.levels, complete.classes.of_row) if self.strict else (complete.codes, slice(None))
        )
        box_of_row, columns = box[of_row], enumerate(complete.quasi_identifiers)
        merged = [merge_cells(column, box, codes[:, j]).take(box_of_row) for j, column in columns]
        return release_columns(table, merged, rng)

    def boxes(self, table: Table, *, rng: np.random.Generator | None = None) -> NDArray[np.int32]:
        """Return the box of each class, (J,), or of each row, (n_rows,), in the relaxed form.

        FailedError if the table as one class violates a constraint.
        """
        sensitive_columns, k = bind_sensitive_columns(table, self.demands), self.smallest_class
        check_whole_table(table.n_people, k, self.demands, sensitive_columns)
        if self.strict:
            levels, rows, people = table.classes.levels, table.classes.sizes, table.people
            histograms = [item.count_ranks(table.classes.counts(item.column)) for item in sensitive_columns]
        else:
            levels, rows, people = table.codes, np.ones(table.n_rows, dtype=np.int64), None
            histograms = [item.rank_rows(table) for item in sensitive_columns]
            if table.person is not None:
                people = scipy.sparse.csr_array(
                    (np.ones(table.n_rows, dtype=np.int32), table.person, np.arange(table.n_rows + 1))
                )
        coordinates, trees, span = zip(*map(column_axis, table.quasi_identifiers), strict=True)
        return mondrian(
            np.stack([place[levels[:, j]] for j, place in enumerate(coordinates)]).T,
            rows,
            k=k,
            span=np.array(span),
            histograms=histograms,
            allows=[item.allows(self.demands) for item in sensitive_columns],
            people=people,
            trees=trees,
            strict=self.strict,
            rng=rng,
        )
