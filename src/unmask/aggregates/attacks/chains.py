"""Sampling of the records of an area by Markov chains, and the check of their convergence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.attacks.population import count_pseudo_people
from unmask.aggregates.attacks.reconstruction import N_VERTICES, Reconstruction
from unmask.aggregates.release import AggregateRelease
from unmask.aggregates.rules import Counts, Marker

if TYPE_CHECKING:
    from unmask.aggregates.attacks._chain import Cross

MAX_R_HAT: Final = 1.05
"""Largest split R-hat of chains that count as converged."""

N_ROUNDS: Final = 30
"""Rounds: in each, every chain makes some draws of every area."""

N_BURN: Final = 10
"""Rounds that are left out."""

N_DRAWS: Final = 10
"""Draws of each area in a round; the last one is kept as a reconstruction."""

PROPOSALS_PER_PERSON: Final = 20
"""Proposals between two draws, for each person of the start."""

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
    system = result.system
    starts, values, length = np.full(len(system.rows), -1, dtype=np.int64), [np.zeros(0)], 0
    first = np.searchsorted(release.row_tables, np.arange(len(release.by_area)))
    for table, (rule, published, markers) in enumerate(release.published(area)):
        if not rule.is_random:
            continue
        for row in np.flatnonzero(release.row_tables[system.rows] == table).tolist():
            cell = int(system.rows[row] - first[table])
            if markers[cell] != Marker.PUBLISHED:
                continue
            counts = np.arange(system.row_low[row], system.row_high[row] + 1)
            with np.errstate(divide="ignore"):
                values.append(np.log(rule.likelihood(float(published[cell]), int(markers[cell]), counts)))
            starts[row], length = length, length + len(counts)
    return starts, np.concatenate(values)


@dataclass(eq=False)
class _Area:
    """Chains of one area: their states, sums over draws in each half, and kept draws."""

    result: Reconstruction
    cross: Cross
    likelihood: Likelihood
    counts: Counts
    thin: int
    is_free: bool
    totals: NDArray[np.float64]
    squares: NDArray[np.float64]
    kept: list[Counts]


def sample_areas(
    release: AggregateRelease,
    results: Mapping[int, Reconstruction],
    population: NDArray[np.float64],
    known: NDArray[np.float64],
    *,
    rng: np.random.Generator,
) -> dict[int, tuple[NDArray[np.float64], NDArray[np.int32], float]]:
    """Sample the counts of areas by chains over their records, and fit the population that they share.

    Each of `N_VERTICES` chains starts from known solutions. In the rounds that are left out, the population is fitted
    to the counts of all areas and chains (stochastic expectation maximization). It has the pseudo people of
    `fit_population`. Afterwards it is constant.

    Parameters
    ----------
    release : AggregateRelease
        Published tables.
    results : mapping of int to Reconstruction
        Area -> its system and known solutions.
    population : (n,) array
        Fitted distribution over the cells of the cross, see `fit_population`.
    known : (n,) array
        Counts of all other areas together.
    rng : Generator
        Source of the chains.

    Returns
    -------
    dict
        Area -> mean count of each cell of its system, some draws, and the largest split R-hat of a cell with a mean of
        at least `MIN_MEAN`.
    """
    from unmask.aggregates.attacks._chain import Target, run_chain

    max_proposals = min(MAX_PROPOSALS, MAX_ALL_PROPOSALS // max(len(results) * N_VERTICES * N_ROUNDS * N_DRAWS, 1))
    areas = {number: _start_area(release, number, result, max_proposals, rng) for number, result in results.items()}
    pseudo = count_pseudo_people(population, release.shape)
    for step in range(N_ROUNDS):
        half = 2 * (step - N_BURN) // (N_ROUNDS - N_BURN)
        pooled = known + pseudo
        for area in areas.values():
            system = area.result.system
            target = Target(np.log(population[system.cells]), *area.likelihood)
            for chain, counts in enumerate(area.counts):
                sums = np.zeros((2, len(counts)))
                run_chain(
                    counts, area.cross, system.links, target, area.thin, N_DRAWS, sums[0], sums[1], area.is_free, rng
                )
                pooled[system.cells] += counts / N_VERTICES
                if half >= 0:
                    area.totals[chain, half] += sums[0]
                    area.squares[chain, half] += sums[1]
            if half >= 0:
                area.kept.append(area.counts.astype(np.int32))
        population = pooled / pooled.sum() if half < 0 else population
    return {number: _summarize(area) for number, area in areas.items()}


def _start_area(
    release: AggregateRelease, number: int, result: Reconstruction, max_proposals: int, rng: np.random.Generator
) -> _Area:
    from unmask.aggregates.attacks._chain import Cross

    system, shape = result.system, np.array(release.shape, dtype=np.int64)
    strides = np.concatenate([np.cumprod(shape[::-1])[-2::-1], [1]]).astype(np.int64)
    place = np.full(int(np.prod(shape)), -1, dtype=np.int64)
    place[system.cells] = np.arange(len(system.cells))
    starts = result.solutions[rng.permutation(len(result.solutions))].astype(np.int64)
    people = starts.sum(axis=1)
    return _Area(
        result, Cross(system.cells, place, strides, shape), read_likelihood(release, number, result),
        starts[np.arange(N_VERTICES) % len(starts)].copy(),
        min(PROPOSALS_PER_PERSON * int(max(np.median(people), 10)), max_proposals), not _has_total(result),
        np.zeros((N_VERTICES, 2, len(system.cells))), np.zeros((N_VERTICES, 2, len(system.cells))), [],
    )  # fmt: skip


def _summarize(area: _Area) -> tuple[NDArray[np.float64], NDArray[np.int32], float]:
    n = N_DRAWS * (N_ROUNDS - N_BURN) // 2
    means, squares = (array.reshape(2 * N_VERTICES, -1) / n for array in (area.totals, area.squares))
    return means.mean(axis=0), np.concatenate(area.kept).astype(np.int32), split_r_hat(means, squares - means**2, n)


def _has_total(result: Reconstruction) -> bool:
    """Return whether rows with exact counts cover all cells, so that the number of people is fixed."""
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
