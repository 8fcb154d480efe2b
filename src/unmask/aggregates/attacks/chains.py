"""Sampling of the records of an area by Markov chains, and the check of their convergence."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.attacks.reconstruction import N_VERTICES, Reconstruction
from unmask.aggregates.release import AggregateRelease
from unmask.aggregates.rules import Marker

MAX_R_HAT: Final = 1.05
"""Largest split R-hat of chains that count as converged."""

N_ROUNDS: Final = 30
"""Rounds of draws of a chain."""

N_BURN: Final = 10
"""Rounds that are left out."""

N_DRAWS: Final = 10
"""Draws in a round; the last one is kept as a reconstruction."""

PROPOSALS_PER_PERSON: Final = 20
"""Proposals between two draws, for each person of the area."""

MAX_PROPOSALS: Final = 10_000
"""Most proposals between two draws of an area."""

MAX_ALL_PROPOSALS: Final = 1_000_000_000
"""Most proposals of all areas together, some minutes. Chains that are too short show a large R-hat."""

MIN_MEAN: Final = 0.05
"""Smallest mean count of a cell whose convergence is checked. Rarer cells are too seldom visited."""

Likelihood = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Place of the likelihood of each row's lowest count, -1 if it is constant, and the log-likelihoods."""


def read_likelihood(release: AggregateRelease, area: int, result: Reconstruction) -> Likelihood:
    """Return the log-likelihood of the counts of each row of the system of an area, for rules that draw."""
    system, rules = result.system, [item.rule for item in release.by_area]
    starts, values, length = np.full(len(system.rows), -1, dtype=np.int64), [np.zeros(0)], 0
    draws = np.array([rule.is_random for rule in rules])[release.row_tables]
    published = np.flatnonzero(draws & (release.markers[area] == Marker.PUBLISHED))
    for row in np.flatnonzero(np.isin(system.rows, published)).tolist():
        place = system.rows[row]
        counts = np.arange(system.row_low[row], system.row_high[row] + 1)
        likelihood = rules[release.row_tables[place]].likelihood(release.values[area, place], Marker.PUBLISHED, counts)
        with np.errstate(divide="ignore"):
            values.append(np.log(likelihood))
        starts[row], length = length, length + len(counts)
    return starts, np.concatenate(values)


def sample_counts(
    release: AggregateRelease,
    area: int,
    result: Reconstruction,
    population: NDArray[np.float64],
    *,
    n_areas: int = 1,
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.int32], float]:
    """Sample the counts of an area by `N_VERTICES` chains over its records, which start from known solutions.

    The population is not fitted to the draws: the tables do not show what one draw happens to have, and a population
    that follows it makes beliefs too certain.

    Parameters
    ----------
    release : AggregateRelease
        Published tables.
    area : int
        Number of the area.
    result : Reconstruction
        System and known solutions of the area.
    population : (n,) array
        Distribution over the cells of the cross, see `fit_population`.
    n_areas : int
        Number of areas that share `MAX_ALL_PROPOSALS`.
    rng : Generator
        Source of the chains.

    Returns
    -------
    mean : (n_columns, n_cells) array
        Mean count of each cell of the system, see `CountBelief`.
    draws : (n, n_cells) array
        Some draws.
    r_hat : float
        Largest split R-hat of a cell with a mean of at least `MIN_MEAN`.

    References
    ----------
    A. Gelfand and A. Smith, "Sampling-based approaches to calculating marginal densities", JASA 85, 1990 (means of
    conditional distributions in place of draws).
    """
    from unmask.aggregates.attacks._chain import Cross, Target, run_chain

    system, shape = result.system, np.array(release.shape, dtype=np.int64)
    strides = np.concatenate([np.cumprod(shape[::-1])[-2::-1], [1]]).astype(np.int64)
    place = np.full(int(np.prod(shape)), -1, dtype=np.int64)
    place[system.cells] = np.arange(len(system.cells))
    cross = Cross(system.cells, place, strides, shape)
    target = Target(np.log(population[system.cells]), *read_likelihood(release, area, result))
    starts = result.solutions[rng.permutation(len(result.solutions))].astype(np.int64)
    max_proposals = min(MAX_PROPOSALS, MAX_ALL_PROPOSALS // (n_areas * N_VERTICES * N_ROUNDS * N_DRAWS))
    sums, draws = np.zeros((2, N_VERTICES, 2, len(system.cells))), []
    mean, is_free = np.zeros((len(shape), len(system.cells))), not has_total(result)
    for chain in range(N_VERTICES):
        counts = starts[chain % len(starts)].copy()
        for step in range(N_ROUNDS):
            thin = min(PROPOSALS_PER_PERSON * max(int(counts.sum()), 10), max_proposals)
            (totals, squares), means = np.zeros((2, len(counts))), np.zeros(mean.shape)
            run_chain(counts, cross, system.links, target, thin, N_DRAWS, totals, squares, means, is_free, rng)
            if step >= N_BURN:
                sums[:, chain, 2 * (step - N_BURN) // (N_ROUNDS - N_BURN)] += totals, squares
                mean += means
                draws.append(counts.astype(np.int32))
    n = N_DRAWS * (N_ROUNDS - N_BURN) // 2
    means, squares = sums.reshape(2, 2 * N_VERTICES, -1) / n
    n_draws = N_DRAWS * (N_ROUNDS - N_BURN) * N_VERTICES
    return mean / n_draws, np.array(draws), split_r_hat(means, squares - means**2, n)


def has_total(result: Reconstruction) -> bool:
    """Return whether rows with exact counts cover all cells, so that the number of people is known."""
    system = result.system
    exact = np.flatnonzero(system.row_low == system.row_high)
    covered = np.asarray(system.matrix[exact].sum(axis=0)).ravel()
    return bool((covered > 0).all())


def split_r_hat(means: NDArray[np.float64], variances: NDArray[np.float64], n: int) -> float:
    """Return the largest split R-hat over cells.

    R-hat = sqrt((n - 1) / n + B / (n W)), with B / n the variance of the means of half chains, and W the mean of their
    variances.

    Parameters
    ----------
    means, variances : (n_halves, n_cells) arrays
        Mean and variance of the count of each cell in each half of a chain.
    n : int
        Draws of each half.

    Returns
    -------
    float
        1 if no cell varies; inf if a cell varies between chains only.

    References
    ----------
    A. Gelman et al., "Bayesian Data Analysis", 3rd edition 2013, section 11.4.

    Examples
    --------
    >>> split_r_hat(np.array([[1.0], [1.0]]), np.array([[0.5], [0.5]]), 100)
    0.995
    """
    checked = means.mean(axis=0) >= MIN_MEAN
    between, within = means[:, checked].var(axis=0, ddof=1), variances[:, checked].mean(axis=0) * n / (n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(within > 0, (n - 1) / n + between / within, np.where(between > 0, np.inf, 1.0))
    return float(np.sqrt(ratio.max(initial=1.0 - 1.0 / n)))
