"""Figure 6: slope against variation of information, along random walks away from the solution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from show import Section, Verdict
from unlinkability_random import Floats, compute_overall_slopes

from tests.measures.clustering.walks import random_walk
from unmask.core.partition import Partition
from unmask.measures.clustering import Contingency, Unlinkability, evaluate
from unmask.measures.clustering.contingency import random_partition
from unmask.measures.clustering.metrics import variation_of_information
from unmask.measures.clustering.overlap import overlap

Start = Literal["uniform", "one block"]
Convention = Literal["nan", "one", "limit"]
"""Slope if the overall curve is breached without a merge."""
Setting = tuple[Start, float, float]
"""Start, alpha, beta."""

N: Final = 200
SEED: Final = 6
WALKS: Final = 120
LENGTHS: Final = (1, 2, 3, 4, 6, 8, 11, 15, 20, 26, 33, 41, 50, 60, 75, 95, 120, 150, 190, 240, 320, 450, 700, 1100)
ALPHAS: Final = (0.25, 0.5, 0.75)
BETAS: Final = (0.6, 0.8, 0.95)
CONVENTIONS: Final[tuple[Convention, ...]] = ("nan", "one", "limit")
BINS: Final = 12
MIN_POINTS: Final = 20
"""Points of a bin that is used."""
TIE: Final = 1e-12
"""Bins in which everything is breached have the same slope, 1."""
BASE: Final[Setting] = ("uniform", 0.75, 0.8)
ONE_BLOCK: Final[Setting] = ("one block", 0.75, 0.8)
BY_ALPHA: Final[tuple[Setting, ...]] = (("uniform", 0.5, 0.8), ("uniform", 0.25, 0.8))
BY_BETA: Final[tuple[Setting, ...]] = (("uniform", 0.75, 0.6), ("uniform", 0.75, 0.95))
SETTINGS: Final = (BASE, ONE_BLOCK, *BY_ALPHA, *BY_BETA)
ORDERS: Final = {
    "6a: a uniform start lies above one block": (BASE, ONE_BLOCK),
    "6b: slope falls with alpha, 3/4 above 1/2": (BASE, BY_ALPHA[0]),
    "6b: 1/2 above 1/4": BY_ALPHA,
    "6c: slope falls as beta rises, 0.6 above 0.8": (BY_BETA[0], BASE),
    "6c: 0.8 above 0.95": (BASE, BY_BETA[1]),
}
"""Claim -> the setting of the higher and of the lower curve."""


@dataclass(frozen=True, eq=False)
class Walks:
    """(points,) VOI/log2 n of every partition visited, and (points, alphas, betas) its slopes by convention."""

    voi: Floats
    slope: dict[Convention, Floats]


@cache
def walk(start: Start) -> Walks:
    """Walk from a solution drawn uniformly, or of one block, and measure after every length."""
    rng = np.random.default_rng([SEED, start == "uniform"])
    voi, slopes, limits = [], [], []
    for _ in range(WALKS):
        solution = random_partition(N, rng=rng) if start == "uniform" else Partition(np.zeros(N, dtype=int))
        adversary, walked = solution, 0
        for length in LENGTHS:
            adversary, walked = random_walk(adversary, length - walked, rng=rng), length
            voi.append(variation_of_information(overlap(solution, adversary)) / np.log2(N))
            table = Contingency.of(solution, adversary)
            results = [evaluate(table, alpha=alpha) for alpha in ALPHAS]
            slopes.append(compute_overall_slopes(results, ALPHAS, BETAS, np.nan))
            limits.append(_limit_slopes(results))
    slope = np.array(slopes)
    by_convention: dict[Convention, Floats] = {"nan": slope, "one": np.where(np.isnan(slope), 1.0, slope)}
    return Walks(np.array(voi), by_convention | {"limit": np.where(np.isnan(slope), np.array(limits), slope)})


def _limit_slopes(results: Sequence[Unlinkability]) -> Floats:
    """Return (alphas, 1) overall slopes for a threshold that falls to the share linked at once."""
    slopes = []
    for alpha, result in zip(ALPHAS, results, strict=True):
        mixed = result.mixed_curve
        rise = max(mixed[1] - mixed[0], 0.0) if len(mixed) > 1 else 0.0
        slopes.append(alpha + (1 - alpha) * (1.0 if mixed[0] > 0 else 2 / np.pi * np.arctan(rise)))
    return np.array(slopes)[:, None]


def _select_slopes(setting: Setting, convention: Convention) -> Floats:
    start, alpha, beta = setting
    return walk(start).slope[convention][:, ALPHAS.index(alpha), BETAS.index(beta)]


def _average_bins(start: Start, slope: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean VOI, mean slope and half of its 95 % interval in bins of VOI, without points that are nan."""
    defined = ~np.isnan(slope)
    voi, slope = walk(start).voi[defined], slope[defined]
    bins = np.digitize(voi, np.linspace(0, walk(start).voi.max() + 1e-9, BINS + 1)) - 1
    members = [bins == k for k in range(BINS) if (bins == k).sum() >= MIN_POINTS]
    middle, mean = (np.array([values[inside].mean() for inside in members]) for values in (voi, slope))
    return middle, mean, np.array([1.96 * slope[inside].std(ddof=1) / np.sqrt(inside.sum()) for inside in members])


def verify_figure_6() -> Section:
    """Check the bins of VOI for every setting of the figure."""
    rows, n_falling = [], dict.fromkeys(CONVENTIONS, 0)
    for setting in SETTINGS:
        for convention in CONVENTIONS:
            slope = _select_slopes(setting, convention)
            _, mean, half = _average_bins(setting[0], slope)
            n_falling[convention] += bool((np.diff(mean) <= TIE).all() and mean[-1] < mean[0])
            rho = spearmanr(walk(setting[0]).voi, slope, nan_policy="omit").statistic
            bins = " ".join(f"{value:.3f}" for value in mean)
            rows.append((*setting, convention, f"{rho:.3f}", f"{half.max():.3f}", bins))
    return Section(
        "Figure 6: slope against VOI along random walks",
        ("start", "alpha", "beta", "breached", "Spearman", "half width", f"mean slope in {BINS} bins of VOI, rising"),
        rows,
        (
            f"n = {N}, {WALKS} walks a start, measured after {len(LENGTHS)} lengths up to {LENGTHS[-1]:,}; half width:",
            "the largest of the bins. breached: the slope if the overall curve is breached without a merge.",
        ),
        _verdicts(n_falling),
    )


def _verdicts(n_falling: dict[Convention, int]) -> Iterator[Verdict]:
    for convention, count in n_falling.items():
        yield Verdict(
            f"slope never rises from bin to bin of VOI, breached is {convention}",
            "falls",
            f"{count} of {len(SETTINGS)} settings",
            count == len(SETTINGS),
            required=convention != "limit",
        )
    for claim, (high, low) in ORDERS.items():
        gap, voi = _compare_settings(high, low)
        ours = f"by {gap.min():.3f} to {gap.max():.3f} for VOI {voi[0]:.2f} to {voi[-1]:.2f}"
        yield Verdict(claim, "yes", ours, bool(gap.min() > 0))


def _compare_settings(high: Setting, low: Setting) -> tuple[Floats, NDArray[np.float64]]:
    """Return the distance of two curves and its VOI, wherever both have bins of cases that are not breached.

    Two settings of one start are compared on the partitions that neither breaches; two starts cannot be.
    """
    first, second = (_select_slopes(setting, "nan") for setting in (high, low))
    if high[0] == low[0]:
        middle, mean, _ = _average_bins(high[0], first - second)
        return mean, middle
    (x, y, _), (u, v, _) = _average_bins(high[0], first), _average_bins(low[0], second)
    voi = np.linspace(max(x[0], u[0]), min(x[-1], u[-1]), 20)
    return np.interp(voi, x, y) - np.interp(voi, u, v), voi
