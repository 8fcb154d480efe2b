"""Ways to protect a table: each turns a table into a release and says which row every released row came from.

A protection is called with the table and a random generator and returns (release, origin): released row i is row
`origin[i]` of the table. The rows of a release are always shuffled, so that their order tells nothing.

The distribution q of t-closeness and its relatives is that of the table a protection is given, before anything is
generalised or suppressed. k counts rows, not weights. Missing cells: under "own" and "wildcard" a missing cell is a
value of its own, placed before all others (k rows that agree on it are k rows for an adversary who reads it as a
wildcard, too); under "excluded" the protections that form classes drop the rows with a missing quasi-identifier.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.errors import FailedError, UnmaskError
from unmask.tables.cells import EVERYTHING, MISSING, Levels, format_interval, format_set, read_levels
from unmask.tables.constraints import Constraint, DistinctL, KAnonymity, TCloseness, all_allow, bound_of
from unmask.tables.counts import class_counts, group
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.mondrian import mondrian
from unmask.tables.release import Classes, Column, Table

Released = tuple[Table, NDArray[np.int64]]

_CELLS = 1 << 21  # cells of a dense block of histograms


def _call(protection: Any) -> str:
    """The call that rebuilds a protection: its first parameter, and the others where they are not the default."""
    parts = []
    for at, item in enumerate(fields(protection)):
        value = getattr(protection, item.name)
        default = item.default_factory() if item.default_factory is not NO_DEFAULT else item.default
        if at == 0 or value != default:
            parts.append(f"{item.name}={value!r}")
    return f"{type(protection).__name__}({', '.join(parts)})"


@dataclass(frozen=True)
class Mondrian:
    """Multidimensional generalisation: boxes of at least k rows, each cell replaced by what occurs in its box.

    A box is cut at the allowable position nearest its median, along its widest column (width over the width of the
    whole table, ties in column order), as long as both halves hold k rows and satisfy all constraints on every
    sensitive column; see `unmask.tables.mondrian.mondrian`.

    k : rows per class. l : distinct l-diversity. t : t-closeness with the equal distance. constraints : further ones,
        from `unmask.tables.constraints`.
    strict : True cuts between two values of a column, so that boxes are disjoint; a point with many copies makes a
        large class. False also cuts between rows of equal value, at random, so that with k alone every box holds k to
        2k - 1 rows; boxes may then overlap or coincide, and boxes that coincide are one class of the release.

    Order of a column: numeric by value, ordinal by rank, categorical by its domain (sorted text), with a hierarchy
    depth-first along the tree, where the strict form cuts only between children of the lowest node over all values of
    the box. Cells that are intervals take their midpoint, sets the mean place of their values, `*` and missing cells
    come first. Numeric cells become the interval from the smallest to the largest present, the others the set of
    values present (written as a node of the hierarchy where it is one); a class that mixes a missing cell, `*` or a
    masked text with other cells gets `*`.

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

    __repr__ = _call

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", tuple(self.constraints))
        _demands(self.k, self.l, self.t, self.constraints)

    def __call__(self, table: Table, *, rng: np.random.Generator) -> Released:
        """Generalise the table until every class has k rows and satisfies the constraints."""
        k, demands = _demands(self.k, self.l, self.t, self.constraints)
        rows = _rows(table)
        kept = table if rows.size == table.n_rows else table.take(rows)
        secrets = _secrets(kept, demands)
        _check_root(kept, k, demands, secrets)
        points = _points_of_classes(kept) if self.strict else _points_of_rows(kept)
        axes = [_axis(column, points.levels[:, j]) for j, column in enumerate(kept.quasi_identifiers)]
        box = mondrian(
            np.stack([place[points.levels[:, j]] for j, (place, _) in enumerate(axes)], axis=1),
            points.sizes,
            k=k,
            histograms=[secret.histograms(points) for secret in secrets],
            allows=[secret.allows(demands) for secret in secrets],
            trees=[tree for _, tree in axes],
            strict=self.strict,
            rng=rng,
        )
        return _release(
            table,
            rows,
            [_merged(c, box, points.levels[:, j], points.of_row) for j, c in enumerate(kept.quasi_identifiers)],
            rng,
        )


@dataclass(frozen=True)
class Suppress:
    """Drop the rows of every class that is smaller than k or violates a constraint on a sensitive column.

    k, l, t, constraints : as in `Mondrian`. The cells of the rows that stay are not changed; `origin` is shorter than
    the table. It is an error when no class is left.

    >>> table = Table.read({"age": [30, 30, 50]}, quasi_identifiers="age")
    >>> release, origin = Suppress(k=2)(table, rng=np.random.default_rng(1))
    >>> sorted(origin.tolist())
    [0, 1]
    """

    k: int = 10
    l: int | None = None  # noqa: E741 - the literature's name
    t: float | None = None
    constraints: tuple[Constraint, ...] = ()

    __repr__ = _call

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", tuple(self.constraints))
        _demands(self.k, self.l, self.t, self.constraints)

    def __call__(self, table: Table, *, rng: np.random.Generator) -> Released:
        """Keep the rows of the classes that are large and diverse enough."""
        k, demands = _demands(self.k, self.l, self.t, self.constraints)
        rows = _rows(table)
        kept = table if rows.size == table.n_rows else table.take(rows)
        secrets = _secrets(kept, demands)
        classes = kept.classes
        good = classes.sizes >= k
        for secret in secrets:
            good &= secret.good(classes, demands)
        if not good.any():
            most = int(classes.sizes.max(initial=0))
            raise FailedError(
                f"{self!r} would drop all {table.n_rows} rows: none of {classes.sizes.size} classes satisfies it, the "
                f"largest has {most} rows; ask for less, or generalise the quasi-identifiers first"
            )
        origin = rng.permutation(rows[good[classes.of_row]])
        return table.take(origin), origin


@dataclass(frozen=True)
class SuppressCells:
    """Replace cells by `*` in the classes smaller than k, column after column.

    Rule: as long as some rows are in classes smaller than k, take among the columns not used yet the one whose
    suppression in exactly these rows leaves the fewest rows in small classes (ties: column order), write `*` there, and
    form the classes again, `*` being a value of its own. Rows already in large classes are never touched. It ends when
    no small class is left, the columns are used up, or the budget is spent; rows still in small classes stay in the
    release, and its criteria show them.

    columns : names of the quasi-identifiers that may be suppressed, all of them by default.
    rate : largest share of the cells of these columns that may become `*`, 0 to 1. When a step would exceed it, whole
        classes are suppressed from the smallest upwards (ties in class order) as far as the budget goes.

    >>> table = Table.read({"age": [30, 30, 50, 51], "sex": list("mmff")}, quasi_identifiers=["age", "sex"])
    >>> release, origin = SuppressCells(k=2)(table, rng=np.random.default_rng(1))
    >>> release.classes.sizes, release.column("age").levels.labels
    (array([2, 2]), ('*', '30', '50', '51'))
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

    def __call__(self, table: Table, *, rng: np.random.Generator) -> Released:
        """Suppress cells until every class has k rows, or no further cell may be suppressed."""
        rows = _rows(table)
        kept = table if rows.size == table.n_rows else table.take(rows)
        names = [column.name for column in kept.quasi_identifiers]
        places = [_place_of(kept, name) for name in self.columns] or list(range(len(names)))
        starred = [_with_star(column) if j in places else None for j, column in enumerate(kept.quasi_identifiers)]
        codes = _suppress_cells(
            kept.classes, starred, [len(c.levels) for c in kept.quasi_identifiers], places, k=self.k, rate=self.rate
        )
        recoded = [
            (column.levels if star is None else star[0], codes[:, j][kept.classes.of_row])
            for j, (column, star) in enumerate(zip(kept.quasi_identifiers, starred, strict=True))
        ]
        return _release(table, rows, recoded, rng)


@dataclass(frozen=True)
class Generalize:
    """Full-domain recoding: every cell of a column is replaced by its ancestor, or by its bin.

    levels : by quasi-identifier; for a column with a hierarchy a whole number is the level of its ancestors (0 leaves
        the column as it is); otherwise the column must be numeric and the number is the width w of the bins
        [i w, (i + 1) w). Columns not named stay. A missing cell stays missing and `*` stays `*`; an interval that
        crosses bins becomes the union of its bins, a set the union of the ancestors of its values.

    >>> table = Table.read({"age": [30, 34, 50]}, quasi_identifiers="age")
    >>> release, origin = Generalize(levels={"age": 5.0})(table, rng=np.random.default_rng(1))
    >>> release.column("age").levels.labels
    ('[30, 35)', '[50, 55)')
    """

    levels: Mapping[str, float] = field(default_factory=dict, hash=False)

    __repr__ = _call

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", dict(self.levels))

    def __call__(self, table: Table, *, rng: np.random.Generator) -> Released:
        """Recode the columns named."""
        places = {_place_of(table, name): level for name, level in self.levels.items()}
        recoded = [
            _generalised(column, places[j]) if j in places else (column.levels, column.codes)
            for j, column in enumerate(table.quasi_identifiers)
        ]
        return _release(table, np.arange(table.n_rows), recoded, rng)


@dataclass(frozen=True)
class Identity:
    """No protection: the table itself, in a new order.

    >>> table = Table.read({"age": [30, 34, 50]}, quasi_identifiers="age")
    >>> release, origin = Identity()(table, rng=np.random.default_rng(1))
    >>> bool((release.column("age").codes == table.column("age").codes[origin]).all())
    True
    """

    __repr__ = _call

    def __call__(self, table: Table, *, rng: np.random.Generator) -> Released:
        """Shuffle the rows."""
        origin = rng.permutation(table.n_rows)
        return table.take(origin), origin


# --- what is asked for ------------------------------------------------------------------------------------------------


def _demands(
    k: int,
    l: int | None,  # noqa: E741 - the literature's name
    t: float | None,
    constraints: Sequence[Constraint],
) -> tuple[int, tuple[Constraint, ...]]:
    """The number of rows asked for, and the constraints on the sensitive columns."""
    for constraint in constraints:
        if not hasattr(constraint, "allows"):
            raise UnmaskError(f"{constraint!r} is no constraint, expected one of those in unmask.tables.constraints")
    sizes = [KAnonymity(k).k, *(c.k for c in constraints if isinstance(c, KAnonymity))]
    demands = [c for c in constraints if not isinstance(c, KAnonymity)]
    if l is not None:
        demands.append(DistinctL(l))
    if t is not None:
        demands.append(TCloseness(t))
    return max(sizes), tuple(demands)


@dataclass(frozen=True, eq=False)
class _Secret:
    """A sensitive column, its values in rank order."""

    name: str
    codes: NDArray[np.int32]
    overall: NDArray[np.int64]
    paths: NDArray[np.int32] | None

    def histograms(self, points: _Points) -> csr_array:
        if points.of_row is None:
            n, m = self.codes.size, self.overall.size
            return csr_array((np.ones(n, dtype=np.int32), self.codes, np.arange(n + 1)), shape=(n, m))
        return class_counts(points.of_row, points.sizes.size, self.codes, self.overall.size)

    def allows(self, demands: Sequence[Constraint]) -> Callable[[NDArray[Any]], NDArray[np.bool_]]:
        return lambda histogram: all_allow(demands, histogram, self.overall, paths=self.paths)

    def good(self, classes: Classes, demands: Sequence[Constraint]) -> NDArray[np.bool_]:
        counts = class_counts(classes.of_row, classes.sizes.size, self.codes, self.overall.size)
        block = max(1, _CELLS // self.overall.size)
        parts = [self.allows(demands)(counts[at : at + block].toarray()) for at in range(0, classes.sizes.size, block)]
        return np.concatenate(parts)


def _secrets(table: Table, demands: Sequence[Constraint]) -> list[_Secret]:
    """The sensitive columns as far as the constraints need them."""
    if not demands:
        return []
    if not table.sensitive:
        asked = ", ".join(map(repr, demands))
        raise UnmaskError(f"{asked} is asked for, but the table has no sensitive column; name one, or ask for k alone")
    distances = {demand.distance for demand in demands if isinstance(demand, TCloseness)}
    return [_secret(column, distances) for column in table.sensitive]


def _secret(column: Column, distances: set[Any]) -> _Secret:
    levels = column.levels
    used = np.bincount(column.codes, minlength=len(levels)) > 0
    if "ordered" in distances:
        if levels.kind == "categorical" or bool(used[~levels.atomic].any()):
            raise UnmaskError(
                f"the ordered distance is asked for, but sensitive column {column.name!r} has no order, or missing or "
                "generalised cells; declare its order, or choose the distance 'equal'"
            )
        place = levels.low if levels.kind == "numeric" else levels.members.argmax(axis=1)
    else:
        place = np.arange(len(levels))
    order = np.argsort(place, kind="stable")
    rank = np.empty(len(levels), dtype=np.int32)
    rank[order] = np.arange(len(levels), dtype=np.int32)
    codes = rank[column.codes]
    paths = _paths(column, used)[:, order] if "hierarchical" in distances else None
    return _Secret(column.name, codes, np.bincount(codes, minlength=len(levels)), paths)


def _paths(column: Column, used: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Node above each level at heights 0 to H - 1, the root being understood; a missing cell hangs from the root."""
    if column.hierarchy is None:
        raise UnmaskError(
            f"the hierarchical distance is asked for, but sensitive column {column.name!r} has no hierarchy; give one, "
            "or choose the distance 'equal'"
        )
    nodes = _nodes(column.levels, column.hierarchy)
    known = nodes[0] >= 0
    outside = int(np.count_nonzero(used & ~known & (np.arange(used.size) != column.levels.missing)))
    if outside:
        raise UnmaskError(
            f"{outside} values of sensitive column {column.name!r} are not leaves of its hierarchy, expected all to "
            "be; add them to the hierarchy or choose the distance 'equal'"
        )
    return nodes[: len(nodes) - (len(set(column.hierarchy.ancestor[-1])) == 1)]


def _nodes(levels: Levels, hierarchy: Hierarchy) -> NDArray[np.int32]:
    """Node number of every level's ancestors, (levels of the tree, L), in file order; -1 where it is no leaf."""
    leaf_of = {label: at for at, label in enumerate(hierarchy.leaves)}
    leaf = np.array([leaf_of.get(label, -1) for label in levels.labels], dtype=np.intp)
    nodes = np.empty((hierarchy.levels, len(levels)), dtype=np.int32)
    for height, labels in enumerate(hierarchy.ancestor):
        number = {label: at for at, label in enumerate(dict.fromkeys(labels))}
        of_leaf = np.array([*(number[label] for label in labels), -1], dtype=np.int32)
        nodes[height] = of_leaf[leaf]
    return nodes


def _check_root(table: Table, k: int, demands: Sequence[Constraint], secrets: Sequence[_Secret]) -> None:
    """Refuse what not even the whole table as one class satisfies."""
    if table.n_rows < k:
        raise FailedError(f"the table has {table.n_rows} rows, fewer than k = {k}; ask for k of at most {table.n_rows}")
    for secret in secrets:
        whole = secret.overall[None, :]
        for demand in demands:
            if not demand.allows(whole, secret.overall, paths=secret.paths)[0]:
                compares = demand.compares
                attained = float(demand.value(whole, secret.overall, paths=secret.paths)[0])
                raise FailedError(
                    f"{demand!r} cannot be satisfied: the whole table has {compares.quantity} {attained:.6g} on column "
                    f"{secret.name!r}, expected {compares.sense} {bound_of(demand):g}; ask for what it attains"
                )


# --- points and axes --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Points:
    """What the kernel cuts: classes with their sizes, or single rows (`of_row` None)."""

    levels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    of_row: NDArray[np.int32] | None


def _points_of_classes(table: Table) -> _Points:
    return _Points(table.classes.levels, table.classes.sizes, table.classes.of_row)


def _points_of_rows(table: Table) -> _Points:
    codes = np.stack([column.codes for column in table.quasi_identifiers], axis=1)
    return _Points(codes, np.ones(table.n_rows, dtype=np.int64), None)


def _rows(table: Table) -> NDArray[np.int64]:
    """The rows that take part: all, or under "excluded" those without a missing quasi-identifier."""
    if not table.n_rows:
        raise FailedError("the table has 0 rows, expected at least 1; check the file and how it was read")
    if table.missing != "excluded":
        return np.arange(table.n_rows)
    gaps = [column.codes == column.levels.missing for column in table.quasi_identifiers if column.levels.missing >= 0]
    rows = np.flatnonzero(~np.any(gaps, axis=0)) if gaps else np.arange(table.n_rows)
    if not rows.size:
        raise FailedError("every row has a missing quasi-identifier and is excluded; read the table with missing='own'")
    return rows


def _axis(column: Column, codes: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """Coordinate of every level that occurs, and for a hierarchy its tree over the whole-numbered coordinates."""
    levels = column.levels
    used = np.flatnonzero(np.bincount(codes, minlength=len(levels)))
    if levels.kind == "numeric":
        return _numeric_axis(levels, used), None
    along = _depth_first(levels, column.hierarchy) if levels.kind == "categorical" else None
    centre = _centres(levels, along)
    coordinate = np.zeros(len(levels))
    ordered = used[np.argsort(centre[used], kind="stable")]
    coordinate[ordered] = np.arange(used.size)
    if column.hierarchy is None or along is None:
        return coordinate, None
    return coordinate, _tree(_nodes(levels, column.hierarchy)[:, ordered])


def _numeric_axis(levels: Levels, used: NDArray[np.intp]) -> NDArray[np.float64]:
    """Midpoints; the finite end of a half-open interval; `*` and missing one and two mean gaps below the smallest."""
    low, high = levels.low, levels.high
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isinf(low), high, np.where(np.isinf(high), low, low / 2 + high / 2))
    middle[levels.atomic] = low[levels.atomic]
    finite = middle[used][np.isfinite(middle[used])]
    if not finite.size:
        finite = np.zeros(1)
    gap = (finite.max() - finite.min()) / max(np.unique(finite).size - 1, 1) or 1.0
    middle[~np.isfinite(middle)] = finite.min() - gap
    if levels.missing >= 0:
        middle[levels.missing] = finite.min() - 2 * gap
    return middle


def _depth_first(levels: Levels, hierarchy: Hierarchy | None) -> NDArray[np.intp] | None:
    """Place of each value of the domain in the depth-first order of its hierarchy."""
    if hierarchy is None or hierarchy.leaves != levels.domain:
        return None
    place = np.empty(len(levels.domain), dtype=np.intp)
    place[list(hierarchy.order())] = np.arange(place.size)
    return place


def _centres(levels: Levels, along: NDArray[np.intp] | None) -> NDArray[np.float64]:
    """Mean place of the values of each level; `*` -1 and missing -2."""
    place = np.arange(len(levels.domain)) if along is None else along
    centre = np.empty(len(levels))
    exact = levels.atomic
    centre[exact] = place[levels.members[exact].argmax(axis=1)] if exact.any() else 0
    for at in np.flatnonzero(~exact):
        inside = levels.members[at]
        centre[at] = place[inside].mean() if inside.any() and levels.labels[at] != EVERYTHING else -1
    if levels.missing >= 0:
        centre[levels.missing] = -2
    return centre


def _tree(nodes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Ancestors of the coordinates up to one root; a level that is no leaf is a branch of its own below the root."""
    tree = nodes.astype(np.int64)
    alone = np.flatnonzero(tree[0] < 0)
    tree[:, alone] = -1 - np.arange(alone.size)
    return np.concatenate([tree, np.zeros((1, tree.shape[1]), dtype=np.int64)])


# --- recoding ---------------------------------------------------------------------------------------------------------


def _release(
    table: Table,
    rows: NDArray[np.int64],
    recoded: Sequence[tuple[Levels, NDArray[np.int32]]],
    rng: np.random.Generator,
) -> Released:
    """The table with its quasi-identifiers recoded (codes by place in `rows`), its rows shuffled."""
    shuffled = rng.permutation(rows.size)
    origin = rows[shuffled]
    columns = tuple(
        replace(column, codes=codes[shuffled], levels=levels)
        for column, (levels, codes) in zip(table.quasi_identifiers, recoded, strict=True)
    )
    return replace(table.take(origin), quasi_identifiers=columns), origin


def _read(column: Column, texts: Sequence[str]) -> tuple[Levels, NDArray[np.int32]]:
    """Canonical levels of new cells of a column, and the level of each."""
    known = column.levels
    order = known.domain if known.kind == "ordinal" else None
    return read_levels(texts, kind=known.kind, column=column.name, order=order, hierarchy=column.hierarchy)


def _merged(
    column: Column, box: NDArray[np.int32], codes: NDArray[np.int32], of_row: NDArray[np.int32] | None
) -> tuple[Levels, NDArray[np.int32]]:
    """One cell for every box that covers all cells in it; returns the levels and the code of every row."""
    cells = class_counts(box, int(box.max()) + 1, codes, len(column.levels))
    texts, text_of_box = (_hulls if column.levels.kind == "numeric" else _unions)(column.levels, cells)
    levels, code = _read(column, texts)
    of_point = code[text_of_box][box]
    return levels, of_point if of_row is None else of_point[of_row]


def _hulls(levels: Levels, cells: csr_array) -> tuple[list[str], NDArray[np.intp]]:
    """Texts of the intervals from the smallest to the largest value, and the text of every box."""
    begins = cells.indptr[:-1]
    gap = cells.indices == levels.missing
    low = np.minimum.reduceat(np.where(gap, -math.inf, levels.low[cells.indices]), begins)
    high = np.maximum.reduceat(np.where(gap, math.inf, levels.high[cells.indices]), begins)
    lows, low_at = np.unique(low, return_inverse=True)
    highs, high_at = np.unique(high, return_inverse=True)
    empty = gap[begins] & (np.diff(cells.indptr) == 1)
    key = np.where(empty, -1, low_at * highs.size + high_at)
    distinct, text_of_box = np.unique(key, return_inverse=True)
    return [
        MISSING if at < 0 else format_interval(lows[at // highs.size], highs[at % highs.size]) for at in distinct
    ], text_of_box


def _unions(levels: Levels, cells: csr_array) -> tuple[list[str], NDArray[np.intp]]:
    """Texts of the sets of values present, and the text of every box."""
    first, text_of_box = _distinct_sets(cells)
    of_level, value = np.nonzero(levels.members)
    values = np.split(value, np.searchsorted(of_level, np.arange(1, len(levels))))
    vague = {
        at for at in range(len(levels)) if at == levels.missing or levels.labels[at] == EVERYTHING or levels.mask(at)
    }
    texts = []
    for box in first:
        inside = cells.indices[cells.indptr[box] : cells.indptr[box + 1]].tolist()
        if len(inside) == 1:
            texts.append(levels.labels[inside[0]])
        elif vague.intersection(inside):
            texts.append(EVERYTHING)
        else:
            texts.append(format_set(levels.domain[at] for level in inside for at in values[level]))
    return texts, text_of_box


def _distinct_sets(cells: csr_array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """A box of each different set of levels, and the number of the set of every box.

    Boxes walk down a trie of sorted levels together, so the work is the number of entries, whatever their range.
    """
    n_boxes, n_levels = cells.shape
    sizes = np.diff(cells.indptr)
    node = np.zeros(n_boxes, dtype=np.int64)
    n_nodes = 1
    walking = np.arange(n_boxes)
    for depth in range(int(sizes.max(initial=0))):
        walking = walking[sizes[walking] > depth]
        step = node[walking] * n_levels + cells.indices[cells.indptr[walking] + depth]
        _, branch = np.unique(step, return_inverse=True)
        node[walking] = n_nodes + branch
        n_nodes += int(branch.max()) + 1
    _, first, number = np.unique(node, return_index=True, return_inverse=True)
    return first, number


def _place_of(table: Table, name: str) -> int:
    names = [column.name for column in table.quasi_identifiers]
    table.column(name)
    if name not in names:
        raise UnmaskError(f"column {name!r} is no quasi-identifier; choose among {', '.join(names)}")
    return names.index(name)


def _with_star(column: Column) -> tuple[Levels, NDArray[np.int32]]:
    """The levels and `*`: the new levels, and the new code of every old one, that of `*` last."""
    return _read(column, [*column.levels.labels, EVERYTHING])


def _suppress_cells(
    classes: Classes,
    starred: Sequence[tuple[Levels, NDArray[np.int32]] | None],
    n_levels: Sequence[int],
    places: Sequence[int],
    *,
    k: int,
    rate: float,
) -> NDArray[np.int32]:
    """Codes of every class of the table after the greedy suppression, (J, d)."""
    codes = classes.levels.copy()
    widths = list(n_levels)
    for j, star in enumerate(starred):
        if star is not None:
            codes[:, j], widths[j] = star[1][codes[:, j]], len(star[0])
    stars = {j: int(star[1][-1]) for j, star in enumerate(starred) if star is not None}
    weight = classes.sizes

    def regroup(columns: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        of, _, _ = group([np.ascontiguousarray(column) for column in columns.T], widths)
        total = np.bincount(of, weights=weight).astype(np.int64)
        return of, total[of]

    def suppressed(j: int, where: NDArray[np.bool_]) -> NDArray[np.int32]:
        trial = codes.copy()
        trial[where, j] = stars[j]
        return trial

    def violating(columns: NDArray[np.int32]) -> int:
        return int(weight[regroup(columns)[1] < k].sum())

    budget = int(rate * weight.sum() * len(places) + 1e-9)
    left = list(dict.fromkeys(places))
    while left and budget:
        of, total = regroup(codes)
        small = total < k
        if not small.any():
            break
        best = min(left, key=lambda j: violating(suppressed(j, small)))
        left.remove(best)
        chosen = _within_budget(of, total, np.where(codes[:, best] == stars[best], 0, weight), small, budget)
        budget = budget - int(weight[chosen & (codes[:, best] != stars[best])].sum()) if chosen[small].all() else 0
        codes = suppressed(best, chosen)
    return codes


def _within_budget(
    of: NDArray[np.int32],
    total: NDArray[np.int64],
    cost: NDArray[np.int64],
    small: NDArray[np.bool_],
    budget: int,
) -> NDArray[np.bool_]:
    """The small classes, from the smallest upwards, whose cells together fit the budget."""
    size = np.zeros(int(of.max()) + 1, dtype=np.int64)
    size[of] = total
    price = np.bincount(of, weights=cost).astype(np.int64)
    candidates = np.unique(of[small])
    order = candidates[np.argsort(size[candidates], kind="stable")]
    affordable = np.zeros(size.size, dtype=np.bool_)
    affordable[order[np.cumsum(price[order]) <= budget]] = True
    return affordable[of]


def _generalised(column: Column, level: float) -> tuple[Levels, NDArray[np.int32]]:
    """A column recoded to a level of its hierarchy, or to bins of a width."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.integer | np.floating):
        raise UnmaskError(f"the level of column {column.name!r} is {level!r}, expected a number")
    if column.hierarchy is not None and isinstance(level, int | np.integer):
        texts = _ancestors(column, column.hierarchy, int(level))
    elif column.levels.kind == "numeric":
        texts = _bins(column, float(level))
    else:
        raise UnmaskError(
            f"column {column.name!r} cannot be generalised to {level!r}: it is not numeric, expected a hierarchy and a "
            "whole number as its level; give the column a hierarchy"
        )
    levels, code = _read(column, texts)
    return levels, code[column.codes]


def _ancestors(column: Column, hierarchy: Hierarchy, level: int) -> list[str]:
    if not 0 <= level < hierarchy.levels:
        raise UnmaskError(
            f"level {level} of column {column.name!r} does not exist; its hierarchy has levels 0 to "
            f"{hierarchy.levels - 1}"
        )
    texts = [_ancestor(column.levels, at, hierarchy, level) for at in range(len(column.levels))]
    unknown = sum(text is None for text in texts)
    if unknown:
        raise UnmaskError(
            f"{unknown} values of column {column.name!r} are not in its hierarchy; add them or set a width"
        )
    return [text for text in texts if text is not None]


def _ancestor(levels: Levels, at: int, hierarchy: Hierarchy, level: int) -> str | None:
    """The cell that covers the ancestors of all values of a level; None when it has a value the tree does not know."""
    label, upper = levels.labels[at], hierarchy.ancestor[level]
    if label in (MISSING, EVERYTHING):
        return label
    if label in hierarchy.nodes:
        nodes = {upper[leaf] for leaf in hierarchy.nodes[label]}
        return nodes.pop() if len(nodes) == 1 else label  # a node over several of these nodes is their union
    if levels.kind == "numeric" or levels.domain != hierarchy.leaves:
        return None
    return format_set({upper[leaf] for leaf in np.flatnonzero(levels.members[at])})


def _bins(column: Column, width: float) -> list[str]:
    if not (math.isfinite(width) and width > 0):
        raise UnmaskError(f"the bin width of column {column.name!r} is {width!r}, expected a number above 0")
    step = Fraction(repr(width))
    return [
        MISSING if at == column.levels.missing else format_interval(*_bin(float(low), float(high), step))
        for at, (low, high) in enumerate(zip(column.levels.low, column.levels.high, strict=True))
    ]


def _bin(low: float, high: float, step: Fraction) -> tuple[float, float]:
    """From the lower edge of the bin of `low` to below the upper edge of that of `high`, in the decimals as written.

    In binary 0.3 / 0.1 is below 3; as written, 0.3 begins the bin [0.3, 0.4) of width 0.1.
    """
    if not math.isinf(low):
        low = float(Fraction(repr(low)) // step * step)
    if not math.isinf(high):
        high = max(high, math.nextafter(float((Fraction(repr(high)) // step + 1) * step), -math.inf))
    return low, high
