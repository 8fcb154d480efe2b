"""Ways to protect a table: each turns a table into a release and says which row every released row came from.

A protection is called with the table and returns (release, origin): released row i is row `origin[i]` of the table.
The rows of a release stand in the order of what is released of them, column after column as they are written; which of
several equal rows is whose is drawn at random. So a release is a function of what it says: its bytes do not depend on
the order of the table's rows, and its order tells nothing. `rng` is for tests and studies; without it, chance comes
from the operating system.

The distribution q of t-closeness and its relatives is that of the table a protection is given, before anything is
generalized or suppressed. k counts the people of a class: by `Table.person` where one has several rows, otherwise its
rows; never weights. Missing cells: under "own" and "wildcard" a missing cell is a value of its own, placed before all
others (k rows that agree on it are k rows for an adversary who reads it as a wildcard, too); under "excluded" the
protections that form classes drop the rows with a missing quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import by_class
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.randomness import secret_unless
from unmask.tables.column import Column, classes_of
from unmask.tables.protections.bound_constraints import demands_of, secrets_of
from unmask.tables.protections.constraints import Constraint, KAnonymity
from unmask.tables.protections.mondrian_input import Search
from unmask.tables.protections.recoding import Recoded, generalized, merged
from unmask.tables.protections.suppression import suppress_cells, with_star
from unmask.tables.table import Table

if TYPE_CHECKING:
    from unmask.tables.attacks.pairing import Pairing

Released = tuple[Table, NDArray[np.int64]]


def _call(protection: Any) -> str:
    """Return the call that rebuilds a protection: its first parameter, and others that are not the default."""
    parts = []
    for position, item in enumerate(fields(protection)):
        value = getattr(protection, item.name)
        default = item.default_factory() if item.default_factory is not NO_DEFAULT else item.default
        if position == 0 or value != default:
            parts.append(f"{item.name}={value!r}")
    return f"{type(protection).__name__}({', '.join(parts)})"


def _wherever_cells_agree(
    _protection: Any, _release: Table, _pairing: Pairing, row: NDArray[np.int64], _klass: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Allow all pairs of people and released classes whose cells agree."""
    return np.ones(row.size, dtype=np.bool_)


@dataclass(frozen=True)
class Mondrian:
    """Multidimensional generalization: boxes of at least k people, each cell replaced by what occurs in its box.

    A box is cut at the allowable position nearest its median, along its widest column (width over the width of the
    whole table, ties in column order), as long as both halves hold k people and satisfy all constraints on every
    sensitive column; see `mondrian_cuts.mondrian`.

    k : fewest people of a class; rows where every row is a person
    l : fewest distinct values of a sensitive column in a class
    t : largest distance, of the equal ground, of a class's sensitive values from the whole table's
    constraints : further ones, from `unmask.tables.protections`
    levels : COLUMN=LEVEL, finest released level of quasi-identifiers, as `Generalize` takes them; the table is recoded
        to them before it is cut
    strict : True cuts between two values of a column, so that boxes are disjoint; a point with many copies makes a
        large class. False also cuts between rows of equal value, at random, so that with k alone every box holds k to
        2k - 1 rows; boxes may then overlap or coincide, and boxes that coincide are one class of the release.

    Order of a column: numbers and dates by value, ordinal by rank, text by its domain (sorted), with a hierarchy
    depth-first along the tree, codes along the tree of their beginnings; along a tree the strict form cuts only between
    children of the lowest node over all values of the box. Cells that are intervals take their midpoint, sets the mean
    place of their values, `*` and missing cells come first.

    Numbers become the interval from the smallest to the largest present. Dates become the finest period that holds all
    of them (month, quarter, year), or an interval of whole months, over more than 24 of them of whole years: no date of
    one person stands at its end. Codes become their common beginning, `481**`; the others the set of values present,
    written as a node of the hierarchy where it is one, and as the lowest node above where the table's `cells` are
    "nodes". A class that mixes a missing cell, `*` or, of text, a mask with other cells gets `*`.

    Assumes: quasi-identifiers are all that adversaries know, and each person has one row, or an identifier
    joins their rows.

    Fails when: a column that is kept undoes the boxes, a class shares one sensitive value (ask for `l` or `t`), most
    rows of a class are one person's, or the same people are released again in other boxes.

    >>> table = Table.read({"age": [30, 31, 50, 51]}, quasi_identifiers="age")
    >>> release, origin = Mondrian(k=2)(table, rng=np.random.default_rng(1))
    >>> release.quasi_identifiers[0].levels.labels, release.classes.sizes
    (('[30, 31]', '[50, 51]'), array([2, 2]))

    K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
    """

    k: int = 10
    l: int | None = None  # noqa: E741 - the literature's name
    t: float | None = None
    strict: bool = True
    constraints: tuple[Constraint, ...] = ()
    levels: Mapping[str, float | str] = field(default_factory=dict, hash=False)

    __repr__ = _call
    fits = _wherever_cells_agree

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", tuple(self.constraints))
        object.__setattr__(self, "levels", dict(self.levels))
        demands_of(self.k, self.l, self.t, self.constraints)

    @property
    def reads_values(self) -> bool:
        """True if a cut depends on sensitive values."""
        return self.l is not None or self.t is not None or bool(self.constraints)

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Generalize the table until every class has k people and satisfies the constraints."""
        rng = secret_unless(rng)
        rows = _rows(table)
        complete = _at_levels(table.complete, self.levels)
        _check_sets(complete, self.k)
        search = self.search(complete, [complete.totals_of(column) for column in complete.quasi_identifiers])
        if self.strict:
            box, codes, of_row = search.boxes(complete), complete.classes.levels, complete.classes.of_row
        else:
            box, codes, of_row = search.relaxed(complete, rng=rng), complete.codes, np.arange(rows.size, dtype=np.int32)
        recoded = [merged(column, box, codes[:, j]) for j, column in enumerate(complete.quasi_identifiers)]
        return _release(table, rows, [(levels, code[of_row]) for levels, code in recoded], rng)

    def search(self, table: Table, rows: Sequence[NDArray[np.int64]]) -> Search:
        """Return the parameters of the cuts of a table; rows : for each quasi-identifier, rows of each level."""
        k, demands = demands_of(self.k, self.l, self.t, self.constraints)
        return Search.of(table, rows, k=k, demands=demands)


MAX_SET_BYTES = 1 << 30
"""Memory of released sets of values: one byte for each value of the column and each class."""


def _check_sets(table: Table, k: int) -> None:
    """Raise an error for a column whose released sets of values would exhaust the memory."""
    for column in table.quasi_identifiers:
        levels, n_values = column.levels, len(column.levels.domain)
        in_sets = levels.kind == "categorical" and column.hierarchy is None and not levels.by_prefix
        if in_sets and n_values * (table.n_rows // k) > MAX_SET_BYTES:
            name = column.name
            raise UnmaskError(
                f"column {name!r} has {n_values:,} distinct values, too many for sets of values; give --hierarchy "
                f"{name}=FILE or a coarser column, or leave it out of the quasi-identifiers"
            )


@dataclass(frozen=True)
class Suppress:
    """Drop the rows of every class that is smaller than k or violates a constraint on a sensitive column.

    k, l, t, constraints : as in `Mondrian`. The cells of the rows that stay are not changed; `origin` is shorter than
    the table. It is an error when no class is left.

    Assumes: as `Mondrian` does, and that those who are dropped may be missing from every count.

    Fails when: rare people are what the data are for: they are the ones dropped. Who is known to be in the source,
    and is missing, is known to be rare.

    >>> table = Table.read({"age": [30, 30, 50]}, quasi_identifiers="age")
    >>> release, origin = Suppress(k=2)(table, rng=np.random.default_rng(1))
    >>> sorted(origin.tolist())
    [0, 1]

    P. Samarati & L. Sweeney, "Protecting privacy when disclosing information: k-anonymity and its enforcement through
    generalization and suppression", 1998.
    """

    k: int = 10
    l: int | None = None  # noqa: E741 - the literature's name
    t: float | None = None
    constraints: tuple[Constraint, ...] = ()

    __repr__ = _call
    fits = _wherever_cells_agree

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", tuple(self.constraints))
        demands_of(self.k, self.l, self.t, self.constraints)

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Keep the rows of the classes that are large and diverse enough."""
        k, demands = demands_of(self.k, self.l, self.t, self.constraints)
        rows = _rows(table)
        complete = table.complete
        classes = complete.classes
        good = satisfying(complete, k, demands)
        if not good.any():
            largest, unit = int(complete.class_people.max(initial=0)), "rows" if complete.person is None else "people"
            raise FailedError(
                f"{self!r} would drop all {table.n_rows} rows: none of {classes.sizes.size} classes satisfies it, the "
                f"largest has {largest} {unit}; ask for less, or generalize the quasi-identifiers first"
            )
        return _ordered(complete.take(good[classes.of_row]), rows[good[classes.of_row]], rng)


def satisfying(
    table: Table, k: int, demands: Sequence[Constraint], *, reference: Table | None = None
) -> NDArray[np.bool_]:
    """(J,) which classes of a table have k people and satisfy all demands on every sensitive column.

    reference : the table whose sensitive values classes are compared with, if not this one
    """
    good = table.class_people >= k
    for secret in secrets_of(table if reference is None else reference, demands):
        good &= secret.allowed(secret.moved(table.histogram(table.column(secret.column.name))), demands)
    return good


@dataclass(frozen=True)
class SuppressCells:
    """Replace cells by `*` in the classes smaller than k, column after column.

    Rule: as long as some rows are in classes smaller than k, take among the columns not used yet the one whose
    suppression in exactly these rows leaves the fewest rows in small classes (ties: column order), write `*` there, and
    form the classes again, `*` being a value of its own. Rows already in large classes are never touched. It ends when
    no small class is left, the columns are used up, or the budget is spent; rows still in small classes stay in the
    release. Criteria let `*` meet every cell, so that k holds for them if all columns may be suppressed at rate 1;
    `unmask.protect` refuses a release whose criteria miss k.

    columns : names of the quasi-identifiers that may be suppressed, all of them by default.
    rate : largest share of the cells of these columns that may become `*`, 0 to 1. When a step would exceed it, whole
        classes are suppressed from the smallest upwards (ties in class order) as far as the budget goes.

    Assumes: adversaries read `*` as any value.

    Fails when: the star tells: rows of large classes have none, so a row with stars is one of few (`MechanismAttack`);
    or columns are used up, and some classes stay small.

    >>> table = Table.read({"age": [30, 30, 50, 51], "sex": list("mmff")}, quasi_identifiers=["age", "sex"])
    >>> release, origin = SuppressCells(k=2)(table, rng=np.random.default_rng(1))
    >>> release.classes.sizes, release.column("age").levels.labels
    (array([2, 2]), ('*', '30', '50', '51'))

    L. Willenborg & T. de Waal, "Elements of statistical disclosure control", 2001, for local suppression.
    """

    k: int = 10
    columns: str | tuple[str, ...] = ()
    rate: float = 1.0

    __repr__ = _call

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", (self.columns,) if isinstance(self.columns, str) else tuple(self.columns))
        KAnonymity(self.k)
        if not 0 <= self.rate <= 1:
            raise UnmaskError(f"rate is {self.rate!r}, expected a share between 0 and 1")

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Suppress cells until every class has k people, or no further cell may be suppressed."""
        rows = _rows(table)
        complete = table.complete
        names = [column.name for column in complete.quasi_identifiers]
        places = [_place_of(complete, name) for name in self.columns] or list(range(len(names)))
        starred = [with_star(column) if j in places else None for j, column in enumerate(complete.quasi_identifiers)]
        codes = suppress_cells(complete, starred, places, k=self.k, rate=self.rate)
        recoded = [
            (column.levels if star is None else star[0], codes[:, j][complete.classes.of_row])
            for j, (column, star) in enumerate(zip(complete.quasi_identifiers, starred, strict=True))
        ]
        return _release(table, rows, recoded, rng)

    def fits(
        self, release: Table, pairing: Pairing, row: NDArray[np.int64], klass: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return True for pairs of people and released classes that the rule allows, of those whose cells agree.

        Rows of one class have the same suppressed columns, in a fixed order. So among the rows that fit a fully known
        person, only those with the fewest `*` can be theirs. If a missing cell is any value, all rows fit, because a
        row with a missing cell fits people of other classes.
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


@dataclass(frozen=True)
class Generalize:
    """Full-domain recoding: every cell of a column is replaced by its ancestor, or by its bin.

    levels : by quasi-identifier. For a column with a hierarchy a whole number is the level of its ancestors (0 leaves
        the column as it is); otherwise the level of numbers is the width w of the bins [i w, (i + 1) w), that of dates
        "day", "month", "quarter", "year" or "decade", that of codes how many characters of the longest are hidden. "*"
        makes every cell of any column `*`, missing ones, too. Columns not named stay. At other levels a missing cell
        stays missing and `*` stays `*`; an interval that crosses bins becomes the union of its bins, a set the union of
        the ancestors of its values.

    Assumes: no person is unique at the given levels. The protection does not check this.

    Fails when: a combination stays rare; audit what comes out. Where few are rare, one coarse level for everybody costs
    much.

    >>> table = Table.read({"age": [30, 34, 50]}, quasi_identifiers="age")
    >>> release, origin = Generalize(levels={"age": 5.0})(table, rng=np.random.default_rng(1))
    >>> release.column("age").levels.labels
    ('[30, 35)', '[50, 55)')

    L. Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", IJUFKS 10(5), 2002.
    """

    levels: Mapping[str, float | str] = field(default_factory=dict, hash=False)

    __repr__ = _call
    fits = _wherever_cells_agree

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", dict(self.levels))

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Recode the columns named."""
        recoded = [(column.levels, column.codes) for column in _at_levels(table, self.levels).quasi_identifiers]
        return _release(table, np.arange(table.n_rows), recoded, rng)


def _at_levels(table: Table, levels: Mapping[str, float | str]) -> Table:
    """Recode the named quasi-identifiers to levels."""
    columns = list(table.quasi_identifiers)
    for name, level in levels.items():
        position = _place_of(table, name)
        recoded, codes = generalized(columns[position], level)
        columns[position] = replace(columns[position], levels=recoded, codes=codes)
    return replace(table, quasi_identifiers=tuple(columns))


@dataclass(frozen=True)
class Identity:
    """No protection: the table itself, in the order of its cells.

    Assumes: nothing.

    Fails when: it is released. It is what a study compares all others with.

    >>> table = Table.read({"age": [30, 34, 50]}, quasi_identifiers="age")
    >>> release, origin = Identity()(table, rng=np.random.default_rng(1))
    >>> bool((release.column("age").codes == table.column("age").codes[origin]).all())
    True

    No source: what adversaries reach where nothing was done.
    """

    __repr__ = _call
    fits = _wherever_cells_agree

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Order the rows."""
        return _ordered(table, np.arange(table.n_rows), rng)


# --- what is released -------------------------------------------------------------------------------------------------


def _rows(table: Table) -> NDArray[np.int64]:
    """Return the rows that are protected: all, or under "excluded" those without a missing quasi-identifier."""
    if not table.n_rows:
        raise FailedError("the table has 0 rows, expected at least 1; check the file and how it was read")
    return table.complete_rows


def _release(
    table: Table, rows: NDArray[np.int64], recoded: Sequence[Recoded], rng: np.random.Generator | None
) -> Released:
    """Release rows of the table with recoded quasi-identifiers (codes by position in `rows`)."""
    columns = tuple(
        replace(column, codes=codes, levels=levels)
        for column, (levels, codes) in zip(table.quasi_identifiers, recoded, strict=True)
    )
    return _ordered(replace(table.take(rows), quasi_identifiers=columns), rows, rng)


def _ordered(release: Table, origin: NDArray[np.int64], rng: np.random.Generator | None) -> Released:
    """Sort rows by their released cells, equal ones at random; origin : the source row of each."""
    shuffled = secret_unless(rng).permutation(release.n_rows)
    classes = classes_of(release.written)
    order = shuffled[by_class(classes.of_row[shuffled], len(classes.sizes))]
    return release.take(order), origin[order]


def exact_numbers(column: Column) -> NDArray[np.float64]:
    """Return (L,) the number of each level, nan where a cell is missing."""
    levels = column.levels
    if column.type != "number" or not (levels.atomic | levels.gaps | levels.unknown)[column.counts > 0].all():
        raise UnmaskError(
            f"column {column.name!r} has cells that are no exact numbers; only numbers have a mean, or noise added"
        )
    return levels.low


def _place_of(table: Table, name: str) -> int:
    names = [column.name for column in table.quasi_identifiers]
    table.column(name)
    if name not in names:
        raise UnmaskError(f"column {name!r} is no quasi-identifier; choose among {', '.join(names)}")
    return names.index(name)
