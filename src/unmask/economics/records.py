"""A file of records, each with its group: of known size, or of a size that the attacker only believes in."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker, is_whole, numbers
from unmask.economics.exploitation import CLEAN, VALUE, Alike, Floats
from unmask.economics.prices import (
    Prices,
    bound_on_size,
    distinct_sizes,
    group_sizes,
    plans_by_size,
    prices_of,
    sunk_plans,
)

Belief = Literal["known", "binomial", "coherent"]

TAIL = 12.0
"""Standard deviations of a binomial belief beyond which a size is not believed in: chance below 1e-30."""

BLOCK_GAMES = 2**14
"""Games that are held in memory at once."""


def price_records(
    attacker: Attacker,
    sizes: ArrayLike,
    *,
    population: int | None = None,
    cell_probability: ArrayLike | None = None,
    belief: Belief = "known",
) -> Prices:
    """The optimal attack on each record of a file, given the size of its group in the outside data.

    sizes            : (n_records,) people of the outside data who match the record, whole numbers of at least 0
    belief           : what is believed of the size before the data are paid for. "known": the size itself.
                       "binomial": Bin(population, cell_probability), equation (6). "coherent": the same, and that the
                       target is in the data with chance prior and then one of the group: 1 + Bin(population - 1,
                       cell_probability) with that chance, and P(inside given g) = prior g / (prior g + (1 - prior)
                       population p).
    population       : people in the outside data
    cell_probability : (n_records,) chance that somebody there matches the record

    The access decision rests on the belief, what follows on the size found. The cost does not depend on `population`:
    sizes that are worth nothing are never looked at. Records that look alike are priced once.

    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0, discount=0.9)
    >>> price_records(case, [1, 50, 60]).success_probability
    array([0.63, 0.  , 0.  ])
    >>> unknown = price_records(case, [50, 50], population=6_000_000, cell_probability=[8e-6, 1e-5], belief="binomial")
    >>> unknown.access, unknown.success_probability.round(2)
    (array([ True, False]), array([0.63, 0.  ]))
    """
    if belief not in get_args(Belief):
        raise UnmaskError(f"belief is {belief!r}, expected one of {', '.join(get_args(Belief))}")
    counts = group_sizes(sizes)
    if belief == "known":
        distinct, of_record = distinct_sizes(counts)
        plan = plans_by_size(attacker, distinct)
        return prices_of(attacker, plan, plan[VALUE]).take(of_record)
    n, p = _checked_cells(counts, population, cell_probability)
    if belief == "coherent":
        return _coherent(attacker, counts, n, p)
    believed = min(bound_on_size(attacker, _largest_believed(n, p)), n)
    distinct = np.union1d(np.arange(believed + 1), counts)
    plan = plans_by_size(attacker, distinct)
    cells, of_record = np.unique(p, return_inverse=True)
    expected = _binomial_mean(plan[VALUE, : believed + 1], n, cells)[of_record]
    return prices_of(attacker, plan[:, np.searchsorted(distinct, counts)], expected)


def _checked_cells(
    counts: NDArray[np.int64], population: int | None, cell_probability: ArrayLike | None
) -> tuple[int, Floats]:
    if population is None or cell_probability is None:
        raise UnmaskError("a belief about unknown sizes needs the population and each record's cell_probability")
    if not is_whole(population, at_least=1):
        raise UnmaskError(f"the population is {population!r}, expected a whole number of at least 1")
    p = numbers("cell_probability", cell_probability)
    if p.ndim and p.shape != counts.shape:
        raise UnmaskError(f"there are {p.size} cell probabilities for {len(counts)} records, expected one for each")
    p = np.broadcast_to(p, counts.shape)
    if not np.all((p >= 0) & (p <= 1)):
        raise UnmaskError("a cell probability is missing or outside 0..1, expected numbers from 0 to 1")
    if counts.max(initial=0) > population:
        raise UnmaskError(f"a group has more members than the population of {population:,}, expected at most as many")
    return int(population), p


def _largest_believed(n: int, p: Floats) -> int:
    """Largest size that some binomial belief gives a chance worth counting."""
    mean = n * p.max(initial=0.0)
    return int(min(n, math.ceil(mean + TAIL * math.sqrt(mean) + TAIL**2)))


def _log_binomial(k: NDArray[np.int64], n: int, p: Floats) -> Floats:
    """(n_cells, n_sizes) log Bin(k; n, p), by the running sum of log((n - i) / (i + 1)): exact for small k at any n."""
    i = np.arange(k.max(initial=0))
    choose = np.concatenate(([0.0], np.cumsum(np.log((n - i) / (i + 1)))))[k]
    with np.errstate(divide="ignore", invalid="ignore"):  # p = 0 and p = 1, with 0 log 0 = 0
        inside = np.where(k > 0, np.log(p)[:, None] * k, 0.0)
        outside = np.where(k < n, np.log1p(-p)[:, None] * (n - k), 0.0)
    return np.asarray(choose + inside + outside)


def _binomial_mean(value: Floats, n: int, cells: Floats) -> Floats:
    """(n_cells,) expectation of a value by size, 0 beyond its end, over G ~ Bin(n, p)."""
    worth = np.trim_zeros(value, "b")[: n + 1]
    sizes = np.arange(len(worth))
    mean = np.zeros(len(cells))
    step = max(1, BLOCK_GAMES // max(len(worth), 1))
    for start in range(0, len(cells) if len(worth) else 0, step):
        part = slice(start, start + step)
        mean[part] = np.exp(_log_binomial(sizes, n, cells[part])) @ worth
    return mean


def _coherent(attacker: Attacker, counts: NDArray[np.int64], n: int, p: Floats) -> Prices:
    """Records whose belief counts the target in: the chance of being inside depends on the size and on the cell.

    A group of g is worth at most what it is worth when the target is surely inside, which falls with g: sizes from
    the first worthless one of that case are not looked at.
    """
    certain = replace(attacker, prior=1.0)
    most = max(min(n, _largest_believed(n, p) + 1), int(counts.max(initial=0)))
    reach = len(np.trim_zeros(plans_by_size(certain, np.arange(bound_on_size(certain, most)))[CLEAN], "b"))
    sizes = np.arange(reach)
    cells, of_record = np.unique(p, return_inverse=True)
    expected = np.zeros(len(cells))
    step = max(1, BLOCK_GAMES // max(reach, 1))
    for start in range(0, len(cells) if reach else 0, step):
        part = cells[start : start + step]
        value = _coherent_plans(attacker, np.tile(sizes, len(part)), np.repeat(n * part, reach))[VALUE]
        outside = np.exp(_log_binomial(sizes, n, part))
        with_him = np.zeros_like(outside)
        with_him[:, 1:] = np.exp(_log_binomial(sizes[:-1], n - 1, part))
        chance = attacker.prior * with_him + (1 - attacker.prior) * outside
        expected[start : start + step] = (chance * value.reshape(len(part), reach)).sum(axis=1)
    pairs, of_pair = np.unique(np.stack([counts, of_record]), axis=1, return_inverse=True)
    plan = np.zeros((8, pairs.shape[1]))
    tried = pairs[0] < reach
    plan[:, tried] = _coherent_plans(attacker, pairs[0, tried], n * cells[pairs[1, tried]])
    return prices_of(attacker, plan, expected[pairs[1]]).take(of_pair)


def _coherent_plans(attacker: Attacker, sizes: NDArray[np.int64], others: Floats) -> Floats:
    """Plans where so many `others` are expected: P(inside given g) = pi g / (pi g + (1 - pi) others)."""
    pi = attacker.prior
    inside = pi * sizes / np.maximum(pi * sizes + (1 - pi) * others, 1e-300)
    order = np.argsort(sizes, kind="stable")
    plan = np.empty((8, len(sizes)))
    plan[:, order] = sunk_plans(attacker, Alike(sizes[order], inside[order] * attacker.confirmation))
    return plan
