"""The margins of a release beside those of a reference table: how many rows agree with a person in some columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.tables.cells import compatible
from unmask.tables.column import Column, classes_of

COUNTABLE = 1 << 18
"""Cells of a margin up to which all are counted; of a larger one, only those asked for."""

PAIRS = 1 << 22
"""Pairs of a class of the release and a person that are held at once."""

Subset = tuple[int, ...]

Agreeing = Callable[[Subset], NDArray[np.float64]]
"""Places of columns -> (n_people,) the rows that agree with each person in them."""


def shares(reference: Column, others: Sequence[Column], *, bins: int) -> list[csr_array]:
    """For the reference, then each other column: (n_levels, n_bins) the share of each level that is in each bin.

    Numbers are cut at the reference's quantiles into at most `bins`; of others, each value is a bin. A cell that holds
    several values is spread over their bins as the reference is; one that nobody there fits, or a missing one, is a
    value of its own.
    """
    columns = (reference, *others)
    numeric = all(column.levels.kind == "numeric" for column in columns)
    parts = _by_size(reference, columns, bins) if numeric else _by_value(reference, columns)
    width = 1 + max(int(bin_.max(initial=0)) for _, bin_, _ in parts)
    return [
        _normalized(csr_array((weight, (level, bin_)), shape=(len(column.levels), width)))
        for column, (level, bin_, weight) in zip(columns, parts, strict=True)
    ]


Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Level, bin, weight."""


def _by_size(reference: Column, columns: Sequence[Column], bins: int) -> list[Entries]:
    finest = reference.levels
    for column in columns:
        finest = finest.on_scale_of(column.levels)
    scaled = [column.levels.on_scale_of(finest) for column in columns]
    middle = np.clip((scaled[0].low + scaled[0].high) / 2, -1e300, 1e300)[reference.codes]
    stated = middle[~np.isnan(middle)]
    cuts = np.unique(np.quantile(stated, np.arange(1, bins) / bins, method="inverted_cdf")) if len(stated) else stated
    people = np.bincount(np.searchsorted(cuts, stated), minlength=len(cuts) + 1)
    every, found = np.arange(len(cuts) + 2), []
    for levels in scaled:
        first, last = np.searchsorted(cuts, levels.low), np.searchsorted(cuts, levels.high)
        first[np.isnan(levels.low)] = last[np.isnan(levels.low)] = len(cuts) + 1
        level, bin_ = np.nonzero((first[:, None] <= every) & (every <= last[:, None]))
        found.append((level, bin_, np.append(people, 0)[bin_] + 1e-9))
    return found


def _by_value(reference: Column, columns: Sequence[Column]) -> list[Entries]:
    number = {label: at for at, label in enumerate(reference.levels.labels)}
    found = []
    for column in columns:
        levels = column.levels
        own = levels.atomic | levels.gaps | np.array([label in number for label in levels.labels], dtype=np.bool_)
        wide = np.flatnonzero(~own)
        fits = compatible(reference.levels, levels.select(wide), missing="own")
        exact = np.concatenate([np.flatnonzero(own), wide[~fits.any(axis=0)]])
        at = [number.setdefault(levels.labels[one], len(number)) for one in exact]
        bin_, which = np.nonzero(fits)
        level = np.concatenate([exact, wide[which]])
        weight = np.concatenate([np.ones(len(exact)), reference.counts[bin_] + 1e-9])
        found.append((level, np.concatenate([np.array(at, dtype=np.int64), bin_]), weight))
    return found


def _normalized(share: csr_array) -> csr_array:
    """Rows that sum to 1."""
    share.sort_indices()
    share.data /= np.repeat(share.sum(axis=1), np.diff(share.indptr))
    return share


def log_margins(
    columns: Sequence[Column], share: Sequence[csr_array], at: NDArray[np.int64], sets: Sequence[Subset]
) -> NDArray[np.float64]:
    """(n_people,) the mean over sets of columns of ln((c + 1/2) / (n + 1)), c of n rows agreeing with a person in them;
    expected, where cells hold several values.

    share : of each column, see `shares`; at : (d, n_people) the bins of each person
    """
    n = len(columns[0].codes)
    return np.concatenate(
        [
            np.mean([np.log((agree(one) + 0.5) / (n + 1)) for one in sets], axis=0)
            for agree in _agreeing(columns, share, at)
        ]
    )


def _agreeing(columns: Sequence[Column], share: Sequence[csr_array], at: NDArray[np.int64]) -> Iterator[Agreeing]:
    """For some people after others, how many rows agree with each."""
    if all(np.all(np.diff(one.indptr) == 1) for one in share):
        code = [bins_of(one)[column.codes] for column, one in zip(columns, share, strict=True)]
        yield partial(_equal, code, at, [one.shape[1] for one in share])
        return
    classes = classes_of(columns)
    held = [one[classes.levels[:, j]].tocsc() for j, one in enumerate(share)]
    for part in np.array_split(at, -(-len(classes.sizes) * at.shape[1] // PAIRS), axis=1):
        yield partial(_expected, classes.sizes, [one[:, bin_].toarray() for one, bin_ in zip(held, part, strict=True)])


def bins_of(share: csr_array) -> NDArray[np.int64]:
    """(n_levels,) the bin that has most of each level."""
    return np.asarray(share.argmax(axis=1), dtype=np.int64).reshape(-1)


def _expected(sizes: NDArray[np.int64], held: Sequence[NDArray[np.float64]], subset: Subset) -> NDArray[np.float64]:
    """sizes : (n_classes,) rows; held : of each column (n_classes, n_people) the part of a class that agrees."""
    product = held[subset[0]]
    for j in subset[1:]:
        product = product * held[j]
    return np.asarray(sizes @ product)


def _equal(
    code: Sequence[NDArray[np.int64]], at: NDArray[np.int64], size: Sequence[int], subset: Subset
) -> NDArray[np.float64]:
    """code : of each column (n_rows,) bins, of so many."""
    rows, asked, cells = code[subset[0]], at[subset[0]], size[subset[0]]
    for j in subset[1:]:
        rows, asked, cells = rows * size[j] + code[j], asked * size[j] + at[j], cells * size[j]
    if cells <= COUNTABLE:
        return np.asarray(np.bincount(rows, minlength=cells)[asked], dtype=np.float64)
    rows = np.sort(rows)
    return np.asarray(np.searchsorted(rows, asked, side="right") - np.searchsorted(rows, asked), dtype=np.float64)


def subsets(columns: Sequence[Column], share: Sequence[csr_array], *, largest: int, most: int) -> list[Subset]:
    """All sets of 1 to `largest` columns; of more than `most`, those with the pairs that say most of one another."""
    every = [one for size in range(1, largest + 1) for one in combinations(range(len(columns)), size)]
    if len(every) <= most:
        return every
    code = [bins_of(one)[column.codes] for column, one in zip(columns, share, strict=True)]
    pairs = {(i, j): mutual_information(code[i], code[j]) for i, j in combinations(range(len(columns)), 2)}
    strength = [max((pairs[pair] for pair in combinations(one, 2)), default=np.inf) for one in every]
    return [every[at] for at in sorted(np.argsort(-np.array(strength), kind="stable")[:most])]


def mutual_information(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Of two columns of bins, in nats: sum p log(p / (q q')).

    >>> round(mutual_information(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])), 4)
    0.6931
    """
    width = int(other.max()) + 1
    _, joint = np.unique(one * width + other, return_counts=True)
    return float(sum(_entropy(np.bincount(side)) for side in (one, other)) - _entropy(joint))


def _entropy(counts: NDArray[np.int64]) -> float:
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log(p)).sum())
