"""What a release still says: loss per cell, sizes of classes, distributions and counts that can be answered from it.

A released cell is read as the set of atomic values it stands for. Where a distribution is needed the cell is spread
uniformly over the atoms of that set; a suppressed row counts as a row of `*`, so suppression is always paid for.
The atoms of a numeric column are the distinct exact values of the original (and of the release, where it has others),
those of an ordinal or categorical column the declared domain (the leaves of its hierarchy, if it has one).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from unmask.errors import UnmaskError
from unmask.tables.cells import Levels, compatible
from unmask.tables.counts import class_counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unmask.tables.hierarchy import Hierarchy
    from unmask.tables.release import Column, Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_BINS = 256
"""Ordered columns of more atoms are compared on this many bins of equal count of the original."""
_VALUES = 1024
"""Categorical columns of more atoms keep the commonest values of the original, the others are pooled."""
_SANITY = 0.001
"""A query's relative error is divided by at least this share of the rows (Vitter and Wang's sanity bound)."""


@dataclass(frozen=True)
class Utility:
    """What is left of the original in a release.

    rows, released_rows, suppressed_rows : n, rows published, rows that were not.
    suppressed_cells : published quasi-identifier cells that are missing or cover the whole domain though the original
        cell did not.
    ncp : normalised certainty penalty per quasi-identifier, 0 to 1; gcp : their mean over rows and columns, 0 to 1.
    discernibility : sum over classes of n_c^2, plus n for every suppressed row; in row pairs.
    average_class_size : C_avg = released rows / (J k), at least 1; k is `class_size`, the smallest class unless given.
        None when nothing is released.
    precision : 1 - mean height of the released cell in its hierarchy / height of the root, 0 to 1; None without one.
    marginal_distance : total variation between the distributions of each column, 0 to 1; pairwise_distance : of each
        pair of columns. Quasi-identifiers and sensitive columns.
    query_error : median relative error of random counting queries.
    distortion : per quasi-identifier, mean normalised distance between the original value and a uniform draw from the
        released cell, 0 to 1.
    """

    rows: int
    released_rows: int
    suppressed_rows: int
    suppressed_cells: int
    ncp: Mapping[str, float]
    gcp: float
    discernibility: int
    class_size: int
    average_class_size: float | None
    precision: Mapping[str, float | None]
    marginal_distance: Mapping[str, float]
    pairwise_distance: Mapping[tuple[str, str], float]
    query_error: float
    distortion: Mapping[str, float]


def evaluate(
    original: Table,
    release: Table,
    origin: NDArray[np.int64],
    *,
    k: int | None = None,
    queries: int = 1000,
    rng: np.random.Generator | None = None,
) -> Utility:
    """Every utility measure of a release against the table it was made from.

    origin : (release rows,) the row of `original` each released row came from, each at most once; rows of the original
        that are missing in it are suppressed. k : the divisor of C_avg. queries, rng : number and source of the random
        queries (seed 0 unless given).

    NCP of a cell: numeric (hi - lo) / (max - min) with the bounds cut to the original's range; ordinal and categorical
    |set| / |domain|, 0 for a single value (not (|set| - 1) / (|domain| - 1), which others use). A missing cell costs 1
    unless the original was missing; a constant column costs 0.

    A query counts the rows in a random range (ordered column) or random subset (categorical) of two random
    quasi-identifiers - of the one, where there is only one; the release answers with its spread cells. Error
    |answer - true| / max(true, 0.001 n).

    >>> from unmask.tables.release import Table
    >>> people = Table.read({"age": [20, 30, 40, 60]}, quasi_identifiers="age")
    >>> release = Table.read({"age": ["20-30", "20-30", "40-60", "40-60"]}, quasi_identifiers="age")
    >>> found = evaluate(people, release, np.arange(4))
    >>> found.ncp, found.gcp, found.discernibility, found.average_class_size
    ({'age': 0.375}, 0.375, 8, 1.0)

    J. Xu et al., "Utility-based anonymization using local recoding", KDD 2006 (NCP); K. LeFevre et al., "Mondrian",
    ICDE 2006 (C_avg, discernibility); L. Sweeney, 2002 (precision); J. Vitter, M. Wang, SIGMOD 1999 (queries).
    """
    origin = _check(original, release, np.asarray(origin))
    n = original.n_rows
    suppressed = n - release.n_rows
    lost = np.ones(n, dtype=np.bool_)
    lost[origin] = False
    names = [c.name for c in original.quasi_identifiers]
    cells = {name: _Cells.of(original.column(name), release.column(name), origin, lost) for name in names}
    every = {**cells, **_sensitive(original, release, origin, lost)}
    ncp = {name: column.ncp() for name, column in cells.items()}
    sizes = release.classes.sizes
    smallest = int(sizes.min()) if len(sizes) else 0
    divisor = smallest if k is None else k
    return Utility(
        rows=n,
        released_rows=release.n_rows,
        suppressed_rows=suppressed,
        suppressed_cells=sum(column.suppressed() for column in cells.values()),
        ncp=ncp,
        gcp=float(np.mean(list(ncp.values()))),
        discernibility=discernibility(sizes, suppressed_rows=suppressed, rows=n),
        class_size=divisor,
        average_class_size=average_class_size(sizes, k=divisor) if len(sizes) else None,
        precision={name: column.precision() for name, column in cells.items()},
        marginal_distance={name: column.marginal().distance() for name, column in every.items()},
        pairwise_distance={(a, b): _joint(every[a], every[b]).distance() for a, b in combinations(every, 2)},
        query_error=_query_error(cells, queries, np.random.default_rng(0) if rng is None else rng),
        distortion={name: column.distortion() for name, column in cells.items()},
    )


def discernibility(sizes: Ints, *, suppressed_rows: int = 0, rows: int | None = None) -> int:
    """Discernibility: rows that each row cannot be told from, sum_c n_c^2 + suppressed * n. In row pairs.

    sizes : (J,) rows per class; rows : n of the original, released plus suppressed unless given.

    >>> discernibility(np.array([2, 3]), suppressed_rows=1)
    19

    R. Bayardo, R. Agrawal, ICDE 2005.
    """
    n = int(sizes.sum()) + suppressed_rows if rows is None else rows
    return int(np.dot(sizes, sizes)) + suppressed_rows * n


def average_class_size(sizes: Ints, *, k: int) -> float:
    """C_avg: released rows per class, in units of k: n / (J k), at least 1 if k holds. Suppressed rows do not count.

    >>> average_class_size(np.array([10, 20]), k=10)
    1.5

    LeFevre et al. 2006, section 5.
    """
    if k < 1 or len(sizes) == 0:
        raise UnmaskError(f"k is {k} with {len(sizes)} classes, expected k at least 1 and a class")
    return float(sizes.sum() / (len(sizes) * k))


def _check(original: Table, release: Table, origin: NDArray[Any]) -> Ints:
    if original.n_rows == 0:
        raise UnmaskError("the original has 0 rows, expected at least 1")
    if origin.shape != (release.n_rows,):
        raise UnmaskError(
            f"origin has shape {origin.shape}, expected ({release.n_rows},), one row of the original each"
        )
    if len(origin) and (origin.min() < 0 or origin.max() >= original.n_rows):
        raise UnmaskError(f"origin points outside the {original.n_rows} rows of the original")
    if len(np.unique(origin)) != len(origin):
        raise UnmaskError("origin names a row of the original twice, expected each at most once")
    return origin.astype(np.int64)


def _sensitive(original: Table, release: Table, origin: Ints, lost: NDArray[np.bool_]) -> dict[str, _Cells]:
    published = {column.name: column for column in release.sensitive}
    columns = [column for column in original.sensitive if column.name in published]
    return {c.name: _Cells.of(c, published[c.name], origin, lost) for c in columns}


# ------------------------------------------------------------------------------------------------ cells as sets


class _Sets(NamedTuple):
    """What each level covers of D atoms, in order: a run [begin, end), or any set (`members`, CSR, categorical)."""

    begin: Ints
    end: Ints
    members: sparse.csr_array[Any, Any] | None
    missing: NDArray[np.bool_]

    def size(self) -> Ints:
        return self.end - self.begin if self.members is None else np.diff(self.members.indptr).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Cells:
    """One column of original and release on the same atoms, with how often each pair of levels met.

    position : (D,) place of each atom on a line (its number, or its rank), None for categorical columns.
    penalty : (levels of the release,) NCP. pairs : CSR (original levels, released levels) of row counts.
    before, after : codes of all original rows; of the released rows. lost : original rows not released.
    """

    kind: Literal["numeric", "ordinal", "categorical"]
    position: Floats | None
    n_atoms: int
    source: _Sets
    target: _Sets
    penalty: Floats
    pairs: sparse.csr_array[Any, Any]
    before: NDArray[np.int32]
    after: NDArray[np.int32]
    lost: NDArray[np.bool_]
    edges: Ints
    pool: Ints | None
    levels: Levels
    hierarchy: Hierarchy | None

    @classmethod
    def of(cls, original: Column, released: Column, origin: Ints, lost: NDArray[np.bool_]) -> _Cells:
        counts = np.bincount(original.codes, minlength=len(original.levels))
        position: Floats | None
        if original.levels.kind == "numeric":
            position, source, target, penalty = _numeric(original.levels, released.levels, counts)
        elif original.levels.kind == "ordinal":
            position, source, target, penalty = _ordinal(original.levels, released.levels)
        else:
            position, source, target, penalty = _categorical(original.levels, released.levels)
        penalty = np.where(target.missing, 1.0, penalty)
        n_atoms = 0 if position is None else len(position)
        n_atoms = n_atoms if source.members is None else int(source.members.shape[1])
        pairs = class_counts(original.codes[origin], len(original.levels), released.codes, len(released.levels))
        edges, pool = _bins(position, n_atoms, source, counts)
        tree = released.hierarchy or original.hierarchy
        kind = original.levels.kind
        shape = (kind, position, n_atoms, source, target, penalty, pairs, original.codes, released.codes, lost)
        return cls(*shape, edges, pool, released.levels, tree)

    @property
    def n_lost(self) -> int:
        return int(self.lost.sum())

    def met(self) -> tuple[Ints, Ints, Floats]:
        """(original level, released level, share of the released rows' number) of each pair that occurs."""
        source = np.repeat(np.arange(self.pairs.shape[0]), np.diff(self.pairs.indptr))
        return source, self.pairs.indices.astype(np.int64), self.pairs.data.astype(np.float64)

    def mean(self, loss: Floats, suppressed: float) -> float:
        """Mean over all original rows of a loss per pair; a suppressed row costs `suppressed`."""
        _, _, count = self.met()
        return float((np.sum(loss * count) + suppressed * self.n_lost) / len(self.before))

    def unharmed(self) -> NDArray[np.bool_]:
        """Pairs in which both cells are missing: nothing was lost."""
        source, target, _ = self.met()
        return self.source.missing[source] & self.target.missing[target]

    def ncp(self) -> float:
        _, target, _ = self.met()
        flat = self.position is not None and self.kind == "numeric" and self._span() == 0
        return self.mean(np.where(self.unharmed(), 0.0, self.penalty[target]), 0.0 if flat or self.n_atoms < 2 else 1.0)

    def suppressed(self) -> int:
        source, target, count = self.met()
        whole = (self.target.size()[target] == self.n_atoms) & (self.source.size()[source] < self.n_atoms)
        gone = self.target.missing[target] & ~self.source.missing[source]
        return int(count[whole | gone].sum())

    def _span(self) -> float:
        assert self.position is not None
        return float(self.position[-1] - self.position[0])

    def precision(self) -> float | None:
        """1 - mean height / root height; the height of a cell is that of the lowest node that contains its set."""
        if self.hierarchy is None:
            return None
        height, root = _heights(self.hierarchy, self.levels)
        _, target, _ = self.met()
        return 1.0 if root == 0 else 1 - self.mean(np.where(self.unharmed(), 0.0, height[target] / root), 1.0)

    def distortion(self) -> float:
        source, target, _ = self.met()
        known = ~self.source.missing[source] & ~self.target.missing[target]
        loss = np.where(self.unharmed(), 0.0, 1.0)
        loss[known] = self._distance(self.source, source[known], self.target, target[known])
        everything = self._everything()
        lost = np.bincount(self.before[self.lost], minlength=len(self.source.missing))
        at = np.flatnonzero((lost > 0) & ~self.source.missing)
        away = self._distance(self.source, at, everything, np.zeros(len(at), dtype=np.int64))
        total = float(np.sum(away * lost[at])) + float(lost[self.source.missing].sum())
        return self.mean(loss, total / self.n_lost if self.n_lost else 0.0)

    def _everything(self) -> _Sets:
        members = None if self.position is not None else sparse.csr_array(np.ones((1, self.n_atoms), dtype=np.bool_))
        return _Sets(np.array([0]), np.array([self.n_atoms]), members, np.array([False]))

    def _distance(self, one: _Sets, at: Ints, other: _Sets, to: Ints) -> Floats:
        """Mean distance of uniform draws from two sets, over the span of the domain; 0/1 for categorical atoms."""
        if self.position is None:
            assert one.members is not None
            assert other.members is not None
            common = np.concatenate([_overlap(one.members[at[s]], other.members[to[s]]) for s in _slices(len(at))])
            return np.asarray(1 - common / np.maximum(one.size()[at] * other.size()[to], 1), dtype=np.float64)
        span = self._span()
        if span == 0:
            return np.zeros(len(at))
        middle = self.position[(one.begin[at] + one.end[at] - 1) // 2]
        return _mean_distance(self.position, middle, other.begin[to], other.end[to]) / span

    # ----- distributions on bins; the last bin is "missing"

    @property
    def n_bins(self) -> int:
        return len(self.edges) if self.pool is None else int(self.pool.max()) + 2

    def shares(self, sets: _Sets) -> sparse.csr_array[Any, Any]:
        """(L, n_bins) share of each level in each bin, spread uniformly over its atoms; rows sum to 1."""
        row, column, value = self._runs(sets) if self.pool is None else self._pooled(sets)
        gone = np.flatnonzero(sets.missing)
        row = np.concatenate((row, gone))
        column = np.concatenate((column, np.full(len(gone), self.n_bins - 1)))
        value = np.concatenate((value, np.ones(len(gone))))
        return sparse.csr_array((value, (row, column)), shape=(len(sets.missing), self.n_bins))

    def _runs(self, sets: _Sets) -> tuple[Ints, Ints, Floats]:
        level = np.flatnonzero(~sets.missing)
        begin, end = sets.begin[level], sets.end[level]
        first = np.searchsorted(self.edges, begin, side="right") - 1
        width = np.searchsorted(self.edges, end - 1, side="right") - first
        at = np.repeat(np.arange(len(level)), width)
        column = first[at] + np.arange(len(at)) - np.repeat(np.cumsum(width) - width, width)
        inside = np.minimum(end[at], self.edges[column + 1]) - np.maximum(begin[at], self.edges[column])
        return level[at], column, inside / (end - begin)[at]

    def _pooled(self, sets: _Sets) -> tuple[Ints, Ints, Floats]:
        assert sets.members is not None
        assert self.pool is not None
        row = np.repeat(np.arange(len(sets.missing)), np.diff(sets.members.indptr))
        return row, self.pool[sets.members.indices], 1 / sets.size()[row]

    def marginal(self) -> _Compared:
        counts = (np.bincount(codes, minlength=len(sets.missing)) for codes, sets in self._sides())
        before, after = (count @ self.shares(sets) for count, (_, sets) in zip(counts, self._sides(), strict=True))
        return _Compared(before, after + self.n_lost * self.unknown())

    def _sides(self) -> Iterator[tuple[NDArray[np.int32], _Sets]]:
        yield self.before, self.source
        yield self.after, self.target

    def unknown(self) -> Floats:
        """(n_bins,) distribution of `*`."""
        return np.asarray(self.shares(self._everything()).toarray()[0], dtype=np.float64)


class _Compared(NamedTuple):
    """Expected rows per bin (or pair of bins) in the original and in the release."""

    before: Floats
    after: Floats

    def distance(self) -> float:
        """Total variation of the two distributions."""
        return float(0.5 * np.abs(self.before / self.before.sum() - self.after / self.after.sum()).sum())


def _joint(a: _Cells, b: _Cells) -> _Compared:
    tables = []
    for (codes, sets), (other, other_sets) in zip(a._sides(), b._sides(), strict=True):
        counts = class_counts(codes, len(sets.missing), other, len(other_sets.missing))
        tables.append((a.shares(sets).T @ (counts @ b.shares(other_sets))).toarray())
    return _Compared(tables[0], tables[1] + a.n_lost * np.outer(a.unknown(), b.unknown()))


def _query_error(cells: Mapping[str, _Cells], queries: int, rng: np.random.Generator) -> float:
    if queries < 1:
        raise UnmaskError(f"queries is {queries}, expected at least 1")
    columns = list(cells.values())
    pairs: list[tuple[_Cells, _Cells | None]] = [*combinations(columns, 2)] or [(columns[0], None)]
    errors = []
    for number, chosen in zip(rng.multinomial(queries, [1 / len(pairs)] * len(pairs)), pairs, strict=True):
        a, b = chosen
        left = _random_predicates(a, int(number), rng)
        if b is None:
            before, after = (left @ side for side in a.marginal())
        else:
            right = _random_predicates(b, int(number), rng)
            before, after = (np.sum((left @ side) * right, axis=1) for side in _joint(a, b))
        errors.append(np.abs(after - before) / np.maximum(before, _SANITY * len(a.before)))
    return float(np.median(np.concatenate(errors)))


def _random_predicates(column: _Cells, number: int, rng: np.random.Generator) -> Floats:
    """(number, n_bins) 0/1: a random run of the bins of an ordered column, a random subset of a categorical one."""
    n = column.n_bins - 1
    chosen = np.zeros((number, n + 1))
    if column.position is None:
        picked = rng.random((number, n)) < rng.random((number, 1))
        picked[np.arange(number), rng.integers(n, size=number)] = True
    else:
        ends = np.sort(rng.integers(n, size=(number, 2)), axis=1)
        picked = (np.arange(n) >= ends[:, :1]) & (np.arange(n) <= ends[:, 1:])
    chosen[:, :n] = picked
    return chosen


# ------------------------------------------------------------------------------------------------ atoms of each kind


def _numeric(original: Levels, released: Levels, counts: Ints) -> tuple[Floats, _Sets, _Sets, Floats]:
    used = (counts > 0) & ~_gaps(original)
    exact = original.low[used & (original.low == original.high)]
    ends = np.concatenate((original.low[used], original.high[used]))
    ends = ends[np.isfinite(ends)]
    if released.kind != "numeric":
        atoms = _atoms(exact, (original,))
        labels, no_members = tuple(map(repr, atoms.tolist())), np.zeros((len(atoms), 0), dtype=np.bool_)
        known = Levels(labels, "numeric", atoms, atoms, (), no_members, -1)
        target = _runs_of(compatible(known, released, missing="own").T, _gaps(released))
        span = max(float(atoms[-1] - atoms[0]), 0.0)
        width = atoms[target.end - 1] - atoms[target.begin]
        return atoms, _between(atoms, original), target, _ratio(width, span)
    atoms = _atoms(exact, (original, released))
    low, high = (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 0.0)
    width = np.clip(released.high, low, high) - np.clip(released.low, low, high)
    return atoms, _between(atoms, original), _between(atoms, released), _ratio(width, high - low)


def _ratio(width: Floats, span: float) -> Floats:
    return np.zeros(len(width)) if span == 0 else np.clip(np.nan_to_num(width) / span, 0.0, 1.0)


def _atoms(exact: Floats, columns: tuple[Levels, ...]) -> Floats:
    """Exact values, and a point for every released cell that holds none of them: the value itself or its middle."""
    atoms = np.unique(exact)
    for levels in columns:
        low, high = levels.low[~_gaps(levels)], levels.high[~_gaps(levels)]
        empty = np.searchsorted(atoms, low, side="left") == np.searchsorted(atoms, high, side="right")
        low, high = low[empty], high[empty]
        middle = np.where(np.isfinite(low), np.where(np.isfinite(high), low / 2 + high / 2, low), high)
        middle = np.where(low == high, low, middle)
        atoms = np.unique(np.concatenate((atoms, middle[np.isfinite(middle)])))
    return atoms if len(atoms) else np.zeros(1)


def _between(atoms: Floats, levels: Levels) -> _Sets:
    gone = _gaps(levels)
    begin = np.searchsorted(atoms, levels.low, side="left")
    end = np.searchsorted(atoms, levels.high, side="right")
    whole = np.isinf(levels.low) & np.isinf(levels.high)
    begin, end = np.where(gone | whole, 0, begin), np.where(whole, len(atoms), end)
    return _Sets(begin, np.where(gone, begin, np.maximum(end, begin + 1)), None, gone)


def _ordinal(original: Levels, released: Levels) -> tuple[Floats, _Sets, _Sets, Floats]:
    known = _plain(original.domain)
    source = _runs_of(compatible(known, original, missing="own").T, _gaps(original))
    target = _runs_of(compatible(known, released, missing="own").T, _gaps(released))
    size = target.size()
    position = np.arange(max(1, len(original.domain)), dtype=np.float64)
    return position, source, target, np.where(size > 1, size / len(position), 0.0)


def _runs_of(covers: NDArray[np.bool_], gone: NDArray[np.bool_]) -> _Sets:
    """The run of atoms from the first to the last that a level covers; an unknown value counts as the first atom."""
    begin = covers.argmax(axis=1) if covers.shape[1] else np.zeros(len(covers), dtype=np.int64)
    last = covers.shape[1] - covers[:, ::-1].argmax(axis=1) if covers.shape[1] else begin + 1
    end = np.where(covers.any(axis=1), last, begin + 1)
    return _Sets(begin, np.where(gone, begin, end), None, gone)


def _categorical(original: Levels, released: Levels) -> tuple[None, _Sets, _Sets, Floats]:
    """Atoms: the original's domain, then one for every released level that holds none of it (a value made up)."""
    known = _plain(original.domain)
    sides = [(levels, compatible(known, levels, missing="own").T) for levels in (original, released)]
    stray = [np.flatnonzero(~covers.any(axis=1) & ~_gaps(levels)) for levels, covers in sides]
    label = dict.fromkeys(levels.labels[i] for (levels, _), at in zip(sides, stray, strict=True) for i in at)
    extra = {text: len(original.domain) + i for i, text in enumerate(label)}
    n_atoms = max(1, len(original.domain) + len(extra))
    sets = []
    for (levels, covers), at in zip(sides, stray, strict=True):
        row, column = covers.nonzero()
        row = np.concatenate((row, at))
        column = np.concatenate((column, np.array([extra[levels.labels[i]] for i in at], dtype=np.int64)))
        members = sparse.csr_array((np.ones(len(row), np.bool_), (row, column)), shape=(len(levels), n_atoms))
        empty = np.zeros(0, dtype=np.int64)
        sets.append(_Sets(empty, empty, members, _gaps(levels)))
    size = sets[1].size()
    return None, sets[0], sets[1], np.where(size > 1, size / max(1, len(original.domain)), 0.0)


def _plain(values: tuple[str, ...]) -> Levels:
    empty = np.zeros(0)
    return Levels(values, "categorical", empty, empty, values, np.eye(len(values), dtype=np.bool_), -1)


def _gaps(levels: Levels) -> NDArray[np.bool_]:
    return np.asarray(np.arange(len(levels)) == levels.missing)


def _heights(hierarchy: Hierarchy, levels: Levels) -> tuple[Floats, int]:
    """Height of the lowest node above all leaves a level may be (the root's, if it is none), and that of the root."""
    rooted = len(set(hierarchy.ancestor[-1])) == 1
    root = len(hierarchy.ancestor) - rooted
    covers = compatible(_plain(hierarchy.leaves), levels, missing="own").T
    height = np.full(len(levels), float(root))
    for h in reversed(range(root)):
        names = hierarchy.ancestor[h]
        number = {name: i for i, name in enumerate(dict.fromkeys(names))}
        node = np.array([number[name] for name in names])
        lowest = np.where(covers, node, len(number)).min(axis=1)
        highest = np.where(covers, node, -1).max(axis=1)
        height[lowest == highest] = h
    return height, root


def _bins(position: Floats | None, n_atoms: int, source: _Sets, counts: Ints) -> tuple[Ints, Ints | None]:
    """Edges of the bins in atoms (ordered columns), or the bin of each atom (categorical)."""
    weight = np.zeros(n_atoms)
    if position is None:
        assert source.members is not None
        weight = np.asarray((counts / np.maximum(source.size(), 1)) @ source.members, dtype=np.float64)
        order = np.argsort(-weight, kind="stable")
        pool = np.full(n_atoms, min(n_atoms, _VALUES) - 1, dtype=np.int64)
        pool[order[:_VALUES]] = np.arange(min(n_atoms, _VALUES))
        return np.zeros(0, dtype=np.int64), pool
    if n_atoms <= _BINS:
        return np.arange(n_atoms + 1), None
    np.add.at(weight, source.begin[~source.missing], counts[~source.missing])
    share = np.cumsum(weight) / max(weight.sum(), 1.0)
    inner = np.searchsorted(share, np.arange(1, _BINS) / _BINS) + 1
    return np.unique(np.concatenate(([0], inner, [n_atoms]))), None


def _mean_distance(position: Floats, x: Floats, begin: Ints, end: Ints) -> Floats:
    """Mean of |x - y| for y uniform over the atoms begin to end - 1."""
    total = np.concatenate(([0.0], np.cumsum(position - position[0])))
    x = x - position[0]
    cross = np.clip(np.searchsorted(position - position[0], x), begin, end)
    below = x * (cross - begin) - (total[cross] - total[begin])
    above = (total[end] - total[cross]) - x * (end - cross)
    return np.asarray(np.maximum(below + above, 0.0) / (end - begin), dtype=np.float64)


def _overlap(one: sparse.csr_array[Any, Any], other: sparse.csr_array[Any, Any]) -> Ints:
    return np.asarray(one.astype(np.int64).multiply(other.astype(np.int64)).sum(axis=1), dtype=np.int64)


def _slices(n: int, step: int = 1 << 16) -> list[slice]:
    return [slice(begin, begin + step) for begin in range(0, max(n, 1), step)]
