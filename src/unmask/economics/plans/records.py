"""Prices of single targets: records with a group of known or believed size, and the observations of a belief."""

from __future__ import annotations

import math
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import as_numbers
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.economics.attacker import Attacker, Floats, Whole
from unmask.economics.plans.groups import compute_inside_probability, count_candidates, group_targets
from unmask.economics.plans.plan import VALUE, CandidateGroups, is_worthwhile
from unmask.economics.plans.prices import (
    Prices,
    bound_group_size,
    check_group_sizes,
    find_distinct_sizes,
    solve_linked_plans,
    solve_plans_by_size,
    to_prices,
)
from unmask.ranges import check_type

Belief = Literal["known", "binomial"]

TAIL: Final = 12.0
"""Standard deviations of a binomial belief beyond which sizes do not count: chance below 1e-30."""

BLOCK_GROUPS: Final = 2**14
"""Largest number of groups in memory at once."""

EQUAL_RISKS: Final = 1e-9
"""Difference below which two probabilities are the same."""

ROUNDING: Final = 1e-12
"""Sums of rounded chances that fall short of 1 by less are 1."""


def price_records(
    attacker: Attacker,
    sizes: ArrayLike,
    *,
    population: int | None = None,
    cell_probability: ArrayLike | None = None,
    belief: Belief = "known",
) -> Prices:
    """Compute the optimal attack on each record of a file from the size of its group in the outside data.

    The access decision uses the belief, all later decisions the actual size. The cost does not depend on `population`:
    sizes that are worth nothing are skipped. Equal records are priced once.

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    sizes : (n_records,) array_like
        Number of people of the outside data who match the record, at least 0.
    population : int, optional
        Number of people in the outside data.
    cell_probability : (n_records,) array_like, optional
        Probability that a person of the outside data matches the record.
    belief : {"known", "binomial"}
        Belief about the size when the data are paid for. "known": the size itself. "binomial": Bin(population,
        cell_probability), equation (6).

    Returns
    -------
    Prices
        Prices of the records.

    Raises
    ------
    UnmaskError
        If a size, the population or a probability is impossible.

    Examples
    --------
    >>> from dataclasses import replace
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
    counts = check_group_sizes(sizes)
    if belief == "known":
        distinct, of_record = find_distinct_sizes(counts)
        plan = solve_plans_by_size(attacker, distinct)
        return to_prices(attacker, plan, plan[VALUE]).take(of_record)
    n, p = _check_cells(counts, population, cell_probability)
    largest = min(bound_group_size(attacker, _find_largest_believed(n, p)), n)
    distinct = np.union1d(np.arange(largest + 1), counts)
    plan = solve_plans_by_size(attacker, distinct)
    cells, of_record = np.unique(p, return_inverse=True)
    expected = _average_binomial(plan[VALUE, : largest + 1], n, cells)[of_record]
    return to_prices(attacker, plan[:, np.searchsorted(distinct, counts)], expected)


def _check_cells(
    counts: NDArray[np.int64], population: int | None, cell_probability: ArrayLike | None
) -> tuple[int, Floats]:
    if population is None or cell_probability is None:
        raise UnmaskError("a belief about unknown sizes needs the population and each record's cell_probability")
    check_type("population", population, Whole)
    p = as_numbers("cell_probability", cell_probability)
    if p.ndim and p.shape != counts.shape:
        raise UnmaskError(f"there are {p.size} cell probabilities for {len(counts)} records, expected one for each")
    p = np.broadcast_to(p, counts.shape)
    if not np.all((p >= 0) & (p <= 1)):
        raise UnmaskError("a cell probability is missing or outside 0..1, expected numbers from 0 to 1")
    if counts.max(initial=0) > population:
        raise UnmaskError(f"a group has more members than the population of {population:,}, expected at most as many")
    return int(population), p


def _find_largest_believed(n: int, p: Floats) -> int:
    """Return the largest size that counts in some binomial belief."""
    mean = n * p.max(initial=0.0)
    return int(min(n, math.ceil(mean + TAIL * math.sqrt(mean) + TAIL**2)))


def _compute_log_binomial(k: NDArray[np.int64], n: int, p: Floats) -> Floats:
    """Return (n_cells, n_sizes) log Bin(k; n, p) by a running sum, exact for small k at any n."""
    i = np.arange(k.max(initial=0))
    choose = np.concatenate(([0.0], np.cumsum(np.log((n - i) / (i + 1)))))[k]
    with np.errstate(divide="ignore", invalid="ignore"):  # p = 0 and p = 1, with 0 log 0 = 0
        inside = np.where(k > 0, np.log(p)[:, None] * k, 0.0)
        outside = np.where(k < n, np.log1p(-p)[:, None] * (n - k), 0.0)
    return np.asarray(choose + inside + outside)


def _average_binomial(value: Floats, n: int, cells: Floats) -> Floats:
    """Return (n_cells,) the expectation over G ~ Bin(n, p) of a value by size, which is 0 beyond its end."""
    value = np.trim_zeros(value, "b")[: n + 1]
    sizes = np.arange(len(value))
    mean = np.zeros(len(cells))
    step = max(1, BLOCK_GROUPS // max(len(value), 1))
    for start in range(0, len(cells) if len(value) else 0, step):
        part = slice(start, start + step)
        mean[part] = np.exp(_compute_log_binomial(sizes, n, cells[part])) @ value
    return mean


def price_posterior(attacker: Attacker, belief: Posterior) -> Prices:
    """Compute the optimal attack on the target of each observation of a belief.

    A row of g equal candidates is a group of g, and the belief in "none of these" takes the place of
    1 - `attacker.prior`. Unequal candidates are tried from the likeliest on, which is optimal since costs depend on
    the number of tries alone. Candidates that a row does not list share its `unlisted` belief equally if their number
    is known. If it is not, they are not tried, and the price is a lower bound.

    Parameters
    ----------
    attacker : Attacker
        The attacker; `prior` is not used.
    belief : Posterior
        A belief of probabilities.

    Returns
    -------
    Prices
        Prices of the n_observations rows; `take(belief.observation)` for targets.

    Raises
    ------
    UnmaskError
        If the belief has scores, not probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 0.8]]))
    >>> attacker = Attacker(gain=100, exploit_cost=30, max_fines=0)
    >>> price_posterior(attacker, belief).payoff.round(2)
    array([55., 50.])
    """
    plan = group_targets(attacker, belief).spread(lambda groups: solve_linked_plans(attacker, groups))
    return to_prices(attacker, plan, plan[VALUE])


def play_out(attacker: Attacker, belief: Posterior, better: NDArray[np.int64], tied: NDArray[np.int64]) -> Floats:
    """Compute the probability that the plans of `price_posterior` re-identify each target with a known candidate.

    With R_j the probability that try j is made if no earlier one was right (detection and fines may end the plan), and
    v the chance that a right one is noticed, it is v (R_better + ... + R_(better + tied - 1)) / tied: equal candidates
    are tried in any order. The mean over targets is that of `success_probability` if the belief is right.

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    belief : Posterior
        A belief of probabilities.
    better : (n_targets,) array of int
        Number of candidates that are likelier than the true one.
    tied : (n_targets,) array of int
        Number of candidates as likely as the true one, itself included; 0 if the target is not a candidate.

    Returns
    -------
    (n_targets,) array
        Probabilities.

    Examples
    --------
    >>> belief = Posterior.from_dense(np.array([[0.7, 0.3, 0.0], [0.5, 0.5, 0.0]]))
    >>> attacker = Attacker(gain=100, exploit_cost=30, max_tries=1, max_fines=0)
    >>> play_out(attacker, belief, np.array([1, 0]), np.array([1, 2]))
    array([0. , 0.5])
    """
    prices, row = price_posterior(attacker, belief), belief.observation
    inside = compute_inside_probability(belief)
    success = np.divide(prices.success_probability, inside, out=np.zeros(len(inside)), where=inside > 0)
    result = np.where((tied > 0) & (better < count_candidates(belief)[row]), success[row], 0.0)
    for part in group_targets(attacker, belief).parts:
        if part.groups.previous is None:
            continue
        group = np.full(belief.n_observations, -1)
        group[part.member] = part.group
        targets = np.flatnonzero(group[row] >= 0)
        total = compute_try_probabilities(attacker, part.groups).cumsum(axis=0)
        total = np.concatenate([np.zeros((1, len(part.groups.size))), total])
        first, last = (np.minimum(end[targets], len(total) - 1) for end in (better, better + tied))
        tries = total[last, group[row[targets]]] - total[first, group[row[targets]]]
        result[targets] = attacker.confirmation * prices.access[row[targets]] * tries / np.maximum(tied[targets], 1)
    return np.where(result > 1.0 - ROUNDING, 1.0, result)


def compute_try_probabilities(attacker: Attacker, groups: CandidateGroups) -> Floats:
    """Return (n_tries, n_groups) R_j, the probability that the plan makes try j if no earlier one was right.

    The plan goes on if that has a positive value, given the tries and the fines so far; the pass back is that of
    `solve_plans`, the pass forward follows the number of fines. It is 0 if linking does not pay.
    """
    n, largest = len(groups.size), int(groups.size.max(initial=0))
    horizon = largest if attacker.max_tries is None else min(largest, attacker.max_tries)
    cap = int(attacker.max_fines) if attacker.capped and attacker.max_fines < horizon else 0
    fined = (np.arange(cap + 1) < cap if cap else np.array([attacker.max_fines > 0]))[:, None]
    after = np.minimum(np.arange(cap + 1) + 1, cap)
    detection, gamma = attacker.detection_at(horizon), attacker.discount
    value, goes_on = np.zeros((cap + 1, n)), np.zeros((horizon, cap + 1, n), dtype=np.bool_)
    for j in range(horizon - 1, -1, -1):
        active, q = slice(int(np.searchsorted(groups.size, j, side="right")), n), detection[j]
        hit, large = groups.hit(j, active), groups.at_large(j, active)
        caught = 0.0 if attacker.arrest else value[after, active]
        cost = attacker.exploit_cost + gamma**attacker.fine_delay * attacker.fine * q * fined
        now = gamma**attacker.gain_delay * attacker.gain * hit - large * cost
        now = now + gamma * (q * caught + (1 - q) * value[:, active])
        goes_on[j, :, active] = is_worthwhile(attacker, now)
        value[:, active] = np.where(goes_on[j, :, active], now, 0.0)
    linked = gamma**attacker.link_delay * value[0] - attacker.link_cost
    state = np.zeros((cap + 1, n))
    state[0] = is_worthwhile(attacker, linked)
    probability = np.zeros((horizon, n))
    for j in range(horizon):
        state *= goes_on[j]
        probability[j] = state.sum(axis=0)
        caught = np.zeros_like(state)
        if not attacker.arrest:
            np.add.at(caught, after, state * detection[j])
        state = state * (1 - detection[j]) + caught
    return probability
