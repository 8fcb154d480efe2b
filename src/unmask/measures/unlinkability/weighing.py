"""Item weights as integers, so that sums do not depend on their order and ties are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition
from unmask.measures.unlinkability.overlap import Overlap, cell_of_item

Floats = NDArray[np.float64]
Override = tuple[Any, Any, float]

LARGEST_DENOMINATOR: Final = 10**6
"""Weights that share a denominator up to this are held exactly."""

SMALL_DENOMINATOR: Final = 10**4
"""Shares of weight and thresholds are taken as fractions with at most this denominator."""

ROOM: Final = 2**62
"""Sums of costs stay below this."""


@dataclass(frozen=True, eq=False)
class Weighed:
    """The cells of a table with their weights, in integer units of 1 / unit.

    own, foreign          : (n_cells,) weight of C and D, and of D without C, as the subject of the cell sees it
    own_total, rest_total : (n_subjects,) weight of C, and of all other items
    """

    table: Overlap
    unit: int
    own: NDArray[np.int64]
    foreign: NDArray[np.int64]
    own_total: NDArray[np.int64]
    rest_total: NDArray[np.int64]


def counted(table: Overlap) -> Weighed:
    """Every item weighs 1."""
    foreign = table.cluster_size[table.cluster] - table.own
    return Weighed(table, 1, table.own, foreign, table.subject_size, table.n - table.subject_size)


def weighed(
    table: Overlap,
    solution: Partition,
    adversary: Partition,
    item: NDArray[np.float64],
    overrides: tuple[Override, ...] = (),
) -> Weighed:
    """Items weigh what is given; an override (subject, item, weight) changes what one subject sees of one item.

    Subjects go by their label, items by their id, or by position without ids. Section 3.3 of the paper.
    """
    every = np.concatenate([item, as_weights([weight for _, _, weight in overrides], len(overrides))])
    unit = _unit(every, table.n)
    units = np.rint(every * unit).astype(np.int64)
    of_item, changed = units[: table.n], units[table.n :]
    cell = cell_of_item(table, solution, adversary)
    own = _sums(cell, of_item, len(table.own))
    own_total = _sums(solution.code, of_item, solution.n_clusters)
    foreign = _sums(adversary.code, of_item, adversary.n_clusters)[table.cluster] - own
    rest_total = of_item.sum() - own_total
    if overrides:
        subject, place = _located(solution, overrides)
        change = changed - of_item[place]
        ours = solution.code[place] == subject
        np.add.at(own_total, subject[ours], change[ours])
        np.add.at(rest_total, subject[~ours], change[~ours])
        key = table.subject.astype(np.int64) * adversary.n_clusters + table.cluster
        wanted = subject.astype(np.int64) * adversary.n_clusters + adversary.code[place]
        at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        met = key[at] == wanted
        np.add.at(own, at[met & ours], change[met & ours])
        np.add.at(foreign, at[met & ~ours], change[met & ~ours])
    return Weighed(table, unit, own, foreign, own_total, rest_total)


def _sums(code: NDArray[Any], units: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """(n,) integer sums by code."""
    total = np.zeros(n, dtype=np.int64)
    np.add.at(total, code, units)
    return total


def _unit(weights: NDArray[np.float64], n: int) -> int:
    """The common denominator of the weights if they have a small one, else a power of two with room for sums of costs,
    in which weights are multiplied by the denominator of an alpha.
    """
    room = ROOM // (2 * SMALL_DENOMINATOR * max(n, 1))
    if room < 2**10:
        raise UnmaskError(f"weights of {n:,} items leave no room for exact sums; use counts, or fewer items")
    common = 1
    for weight in np.unique(weights).tolist():
        fraction = Fraction(weight).limit_denominator(LARGEST_DENOMINATOR)
        if abs(float(fraction) - weight) > 1e-15:
            break
        common = math.lcm(common, fraction.denominator)
        if common > min(room, 10**9):
            break
    else:
        return common
    return int(2 ** math.floor(math.log2(room)))


def _located(solution: Partition, overrides: tuple[Override, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of the subject and the place of the item of each override."""
    of_subject = {label: i for i, label in enumerate(solution.names.tolist())}
    ids = range(len(solution)) if solution.items is None else solution.items.tolist()
    of_item = {item: i for i, item in enumerate(ids)}
    try:
        subject = np.array([of_subject[label] for label, _, _ in overrides], dtype=np.int64)
        place = np.array([of_item[item] for _, item, _ in overrides], dtype=np.int64)
    except KeyError:
        raise UnmaskError("an override names a subject or an item that the solution does not have; check it") from None
    if len(set(zip(subject.tolist(), place.tolist(), strict=True))) < len(overrides):
        raise UnmaskError("an item is overridden twice for one subject, expected one weight")
    return subject, place


def as_weights(values: ArrayLike, n: int) -> NDArray[np.float64]:
    """(n,) checked weights."""
    weights = np.asarray(values, dtype=np.float64)
    if weights.shape != (n,):
        raise UnmaskError(f"there are {weights.size} weights for {n} items, expected one for each")
    if not np.all((weights >= 0) & (weights <= 1)):
        raise UnmaskError("a weight is missing or outside 0..1, expected numbers from 0 to 1")
    return weights


def as_fraction(name: str, value: object) -> Fraction:
    """A share in [0, 1] as a fraction: 0.3333... is 1/3."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise UnmaskError(f"{name} is {value!r}, expected a number from 0 to 1")
    exact = value if isinstance(value, Fraction) else Fraction(float(value))
    share = exact.limit_denominator(SMALL_DENOMINATOR)
    if share in (0, 1) and share != exact:
        raise UnmaskError(f"{name} is {value!r}, which is nearer to {share} than 1/{SMALL_DENOMINATOR}; give {share}")
    return share
