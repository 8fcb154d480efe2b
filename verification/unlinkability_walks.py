"""Figure 6: slope against variation of information, along random walks away from the solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from show import Section, Verdict
from unlinkability_draws import random_walk
from unlinkability_random import overall_slopes

from unmask.core.partition import Partition
from unmask.measures.clustering import Contingency, Unlinkability, evaluate
from unmask.measures.clustering.metrics import variation_of_information
from unmask.measures.clustering.overlap import overlap
from unmask.measures.clustering.random_partitions import random_partition

Floats = NDArray[np.float64]
Start = Literal["uniform", "one block"]
Convention = Literal["nan", "one", "limit"]

N: Final = 200
SEED: Final = 6
WALKS: Final = 120
LENGTHS: Final = (1, 2, 3, 4, 6, 8, 11, 15, 20, 26, 33, 41, 50, 60, 75, 95, 120, 150, 190, 240, 320, 450, 700, 1100)
ALPHAS: Final = (0.25, 0.5, 0.75)
BETAS: Final = (0.6, 0.8, 0.95)
BINS: Final = 12
TIE: Final = 1e-12
"""Bins in which everything is breached have the same slope, 1."""
SETTINGS: Final[tuple[tuple[Start, float, float], ...]] = (
    ("uniform", 0.75, 0.8),
    ("one block", 0.75, 0.8),
    ("uniform", 0.5, 0.8),
    ("uniform", 0.25, 0.8),
    ("uniform", 0.75, 0.6),
    ("uniform", 0.75, 0.95),
)


@dataclass(frozen=True, eq=False)
class Walks:
    """(points,) VOI/log2 n of every partition visited, and (points, alphas, betas) its slopes by convention."""

    voi: Floats
    slope: dict[Convention, Floats]


@cache
def walks(start: Start) -> Walks:
    """Walks from a solution drawn uniformly, or of one block; each is looked at after every length."""
    rng = np.random.default_rng([SEED, start == "uniform"])
    voi: list[float] = []
    slopes: dict[Convention, list[Floats]] = {"nan": [], "limit": []}
    for _ in range(WALKS):
        solution = random_partition(N, rng=rng) if start == "uniform" else Partition(np.zeros(N, dtype=int))
        adversary, walked = solution, 0
        for length in LENGTHS:
            adversary, walked = random_walk(adversary, length - walked, rng=rng), length
            voi.append(variation_of_information(overlap(solution, adversary)) / np.log2(N))
            met = Contingency.of(solution, adversary)
            of = [evaluate(met, alpha=alpha) for alpha in ALPHAS]
            overall = overall_slopes(of, ALPHAS, BETAS, np.nan)
            slopes["nan"].append(overall)
            slopes["limit"].append(np.where(np.isnan(overall), limits(of), overall))
    found_of = {convention: np.array(found) for convention, found in slopes.items()}
    one = np.where(np.isnan(found_of["nan"]), 1.0, found_of["nan"])
    return Walks(np.array(voi), found_of | {"one": one})


def limits(of: Sequence[Unlinkability]) -> Floats:
    """(alphas, 1) the slope of the average subject for a threshold that falls to what is linked at once."""
    filled = []
    for alpha, mixed in zip(ALPHAS, (one.mixed_curve for one in of), strict=True):
        rise = max(mixed[1] - mixed[0], 0.0) if len(mixed) > 1 else 0.0
        filled.append(alpha + (1 - alpha) * (1.0 if mixed[0] > 0 else 2 / np.pi * np.arctan(rise)))
    return np.array(filled)[:, None]


def slopes_of(start: Start, alpha: float, beta: float, convention: Convention = "one") -> tuple[Floats, Floats]:
    """VOI and slopes of one setting, without what is nan."""
    of = walks(start)
    slope = of.slope[convention][:, ALPHAS.index(alpha), BETAS.index(beta)]
    there = ~np.isnan(slope)
    return of.voi[there], slope[there]


def binned(start: Start, alpha: float, beta: float, convention: Convention = "one") -> tuple[Floats, Floats, Floats]:
    """Mean VOI, mean slope and half of its 95 % interval in bins of VOI, without bins of fewer than 20 points."""
    return _bins(start, *slopes_of(start, alpha, beta, convention))


def _bins(start: Start, voi: Floats, slope: Floats) -> tuple[Floats, Floats, Floats]:
    edges = np.linspace(0, walks(start).voi.max() + 1e-9, BINS + 1)
    at = np.digitize(voi, edges) - 1
    kept = [k for k in range(BINS) if (at == k).sum() >= 20]
    middle, mean = (np.array([of[at == k].mean() for k in kept]) for of in (voi, slope))
    half = np.array([1.96 * slope[at == k].std(ddof=1) / np.sqrt((at == k).sum()) for k in kept])
    return middle, mean, half


def figure_6() -> Section:
    """Bins of VOI for every setting of the figure, and the claims."""
    rows, falling = [], dict.fromkeys(("nan", "one", "limit"), 0)
    for start, alpha, beta in SETTINGS:
        for convention in ("nan", "one", "limit"):
            voi, slope = slopes_of(start, alpha, beta, convention)
            _, mean, half = binned(start, alpha, beta, convention)
            falls = bool((np.diff(mean) <= TIE).all() and mean[-1] < mean[0])
            falling[convention] += falls
            rho = float(spearmanr(voi, slope).statistic)
            bins = " ".join(f"{value:.3f}" for value in mean)
            rows.append((start, f"{alpha:g}", f"{beta:g}", convention, f"{rho:.3f}", f"{half.max():.3f}", bins))
    header = (
        "start",
        "alpha",
        "beta",
        "breached",
        "Spearman",
        "half width",
        f"mean slope in {BINS} bins of VOI, rising",
    )
    notes = (
        f"n = {N}, {WALKS} walks a start, looked at after {len(LENGTHS)} lengths up to {LENGTHS[-1]:,}; half width:",
        "the largest of the bins. breached: the slope where the overall curve is breached without a merge.",
    )
    return Section(
        "Figure 6: slope against VOI along random walks", header, tuple(rows), notes, tuple(_claims(falling))
    )


def _claims(falling: dict[str, int]) -> list[Verdict]:
    settings = len(SETTINGS)
    pairs = [
        ("6a: a uniform start lies above one block", ("uniform", 0.75, 0.8), ("one block", 0.75, 0.8)),
        ("6b: slope falls with alpha, 3/4 above 1/2", ("uniform", 0.75, 0.8), ("uniform", 0.5, 0.8)),
        ("6b: 1/2 above 1/4", ("uniform", 0.5, 0.8), ("uniform", 0.25, 0.8)),
        ("6c: slope falls as beta rises, 0.6 above 0.8", ("uniform", 0.75, 0.6), ("uniform", 0.75, 0.8)),
        ("6c: 0.8 above 0.95", ("uniform", 0.75, 0.8), ("uniform", 0.75, 0.95)),
    ]
    verdicts = [
        Verdict(
            f"slope never rises from bin to bin of VOI, breached is {convention}",
            "falls",
            f"{falling[convention]} of {settings} settings",
            falling[convention] == settings,
            required=convention != "limit",
        )
        for convention in ("nan", "one", "limit")
    ]
    for claim, high, low in pairs:
        gap, at = _gap(high, low)
        verdicts.append(
            Verdict(
                claim,
                "yes",
                f"by {gap.min():.3f} to {gap.max():.3f} for VOI {at[0]:.2f} to {at[-1]:.2f}",
                bool(gap.min() > 0),
            )
        )
    return verdicts


def _gap(high: tuple[Start, float, float], low: tuple[Start, float, float]) -> tuple[Floats, Floats]:
    """How far one curve of bins is above another wherever both have bins of cases that are not breached.

    Two settings of one start are compared on the partitions that neither breaches; two starts cannot be.
    """
    if high[0] == low[0]:
        of = walks(high[0])
        first, second = (of.slope["nan"][:, ALPHAS.index(a), BETAS.index(b)] for _, a, b in (high, low))
        there = ~np.isnan(first - second)
        at, mean, _ = _bins(high[0], of.voi[there], (first - second)[there])
        return mean, at
    (x, y, _), (u, v, _) = binned(*high, "nan"), binned(*low, "nan")
    at = np.linspace(max(x[0], u[0]), min(x[-1], u[-1]), 20)
    return np.interp(at, x, y) - np.interp(at, u, v), at
