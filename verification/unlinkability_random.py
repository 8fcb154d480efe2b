"""Figures 5 and 7: solution and adversary both drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray
from show import Section, Verdict

from unmask.measures.unlinkability.companions import variation_of_information
from unmask.measures.unlinkability.evaluate import evaluate
from unmask.measures.unlinkability.overlap import overlap
from unmask.measures.unlinkability.random import Process, random_partition, shuffled
from unmask.measures.unlinkability.transfer import transfer_distance
from unmask.view import Partition

Floats = NDArray[np.float64]

SEED: Final = 7
REPETITIONS: Final = 500
SIZES: Final = (10, 20, 50, 100, 150, 200)
ALPHAS: Final = (
    Fraction(0),
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(2, 3),
    Fraction(9, 10),
    Fraction(19, 20),
    Fraction(1),
)
SHOWN: Final = (0, 1, 2, 3, 6)
"""The places of the alphas of Figure 7."""
BETAS: Final = (0.6, 0.7, 0.8, 0.9, 1.0)
FINE: Final = tuple(k / 20 for k in range(1, 21))
Z95: Final = 1.96
SMALL: Final = (4, 6, 8, 10, 12, 15, 20, 30, 50, 100, 200)
LARGE: Final = 20_000


@dataclass(frozen=True, eq=False)
class Sample:
    """What was measured, one row for each repetition; slopes are nan where the overall curve is breached at once."""

    miss: Floats
    include: Floats
    error: Floats
    slope: Floats
    voi: Floats
    transfer: Floats


def pair(n: int, process: Process, rng: np.random.Generator) -> tuple[Partition, Partition]:
    """A solution and an adversary's partition, drawn alike."""
    return random_partition(n, process=process, rng=rng), random_partition(n, process=process, rng=rng)


@cache
def sample(process: Process, n: int, betas: tuple[float, ...] = BETAS, repetitions: int = REPETITIONS) -> Sample:
    """Both partitions drawn anew each time. The stream depends on process and n, not on what else is run."""
    rng = np.random.default_rng([SEED, n, process == "coin"])
    rows = []
    for _ in range(repetitions):
        solution, adversary = pair(n, process, rng)
        of, table = (
            evaluate(solution, adversary, alpha=ALPHAS, beta=betas, breached_slope="nan"),
            overlap(solution, adversary),
        )
        rows.append(
            (
                of.miss_total,
                of.include_total,
                of.normalised_error,
                of.slope_overall,
                variation_of_information(table) / np.log2(n),
                transfer_distance(table) / (n - 1),
            )
        )
    return Sample(*(np.array(column) for column in zip(*rows, strict=True)))


def mean(values: Floats) -> Floats:
    """The mean over repetitions, without those that are nan."""
    return np.asarray(np.nanmean(values, axis=0))


def half_width(values: Floats) -> Floats:
    """Half of the 95 % interval of that mean."""
    count = np.sum(~np.isnan(values), axis=0)
    return np.asarray(Z95 * np.nanstd(values, axis=0, ddof=1) / np.sqrt(count))


def told(values: Floats, digits: int = 3) -> str:
    """Mean and half width of one column."""
    return f"{float(mean(values)):.{digits}f} +- {float(half_width(values)):.{digits}f}"


def surely_above(high: Floats, low: Floats) -> bool:
    """Whether a mean exceeds another by more than the 95 % interval of the difference, as if they were unpaired."""
    return bool(mean(high) - mean(low) > np.hypot(half_width(high), half_width(low)))


def paired_above(high: Floats, low: Floats) -> bool:
    """The same for two columns of one sample, repetition by repetition."""
    difference = high - low
    return bool(mean(difference) > half_width(difference))


# --- Figure 5 --------------------------------------------------------------------------------------------


def figure_5() -> Section:
    """Slopes, variation of information and transfer distance of uniformly random partitions."""
    rows = []
    for n in SIZES:
        of = sample("uniform", n)
        slopes = [told(of.slope[:, a, b]) for b in (1, 2) for a in (1, 3)]
        rows.append((f"{n}", *slopes, told(of.voi), told(of.transfer)))
    header = ("n", "slope(.7) 1/3", "slope(.7) 2/3", "slope(.8) 1/3", "slope(.8) 2/3", "VOI/log2 n", "MTD/(n-1)")
    notes = (
        f"{REPETITIONS} repetitions (the paper: 1000), mean +- half of its 95 % interval; b = 0. A repetition whose",
        "overall curve is breached without a merging has no slope and is left out.",
    )
    return Section("Figure 5: uniformly random partitions", header, tuple(rows), notes, tuple(_claims_5()))


def _claims_5() -> list[Verdict]:
    of = {n: sample("uniform", n) for n in SIZES}
    easier = [paired_above(of[n].slope[:, a, 1], of[n].slope[:, a, 2]) for n in SIZES for a in (1, 3)]
    heavier = [paired_above(of[n].slope[:, 3, b], of[n].slope[:, 1, b]) for n in SIZES for b in (1, 2)]
    falling = [
        surely_above(of[n].slope[:, a, b], of[m].slope[:, a, b])
        for n, m in pairwise(SIZES)
        for a in (1, 3)
        for b in (1, 2)
    ]
    rising = [surely_above(of[m].transfer, of[n].transfer) for n, m in pairwise(SIZES)]
    kinds = {n: float(mean(of[n].miss[:, 2] - of[n].include[:, 2])) for n in SIZES}
    large = [paired_above(of[n].miss[:, a], of[n].include[:, a]) for n in SIZES if n >= 50 for a in range(4)]
    return [
        Verdict("slope(0.7) above slope(0.8)", "yes", _of(easier), all(easier)),
        Verdict("slope at alpha 2/3 above 1/3", "yes", _of(heavier), all(heavier)),
        Verdict("slopes fall as n grows", "yes", _of(falling), all(falling)),
        Verdict("MTD/(n-1) rises with n", "yes", _of(rising), all(rising)),
        *_voi_claims(),
        Verdict("random partitions are conservative: n >= 50, alpha <= 2/3", "tend to be", _of(large), all(large)),
        Verdict(
            "and below (n = 10 and 20 are liberal)",
            "tend to be",
            f"misses - includes {kinds[10]:+.2f}, {kinds[20]:+.2f}",
            kinds[10] > 0 and kinds[20] > 0,
            required=False,
        ),
    ]


def _voi_claims() -> list[Verdict]:
    voi = {n: _voi(n) for n in SMALL}
    late = [surely_above(voi[n], voi[m]) for n, m in pairwise(n for n in SMALL if n >= 30)]
    early = [surely_above(voi[n], voi[m]) for n, m in pairwise(n for n in SMALL if n <= 15)]
    shown = ", ".join(f"{float(mean(voi[n])):.3f}" for n in (4, 8, 15, 20, 30))
    return [
        Verdict("VOI/log2 n falls with n: from n = 30 on", "yes", _of(late), all(late)),
        Verdict(
            "VOI/log2 n falls with n: below n = 20 (it rises)",
            "yes",
            f"n = 4, 8, 15, 20, 30: {shown}",
            all(early),
            False,
        ),
    ]


@cache
def _voi(n: int) -> Floats:
    rng = np.random.default_rng([SEED, n, 5])
    tables = (overlap(*pair(n, "uniform", rng)) for _ in range(3000))
    return np.array([variation_of_information(table) for table in tables]) / np.log2(n)


def _of(checks: list[bool]) -> str:
    return f"{sum(checks)} of {len(checks)} comparisons"


# --- Figure 7 --------------------------------------------------------------------------------------------

PROCESSES: Final[tuple[Process, ...]] = ("uniform", "coin")


def figure_7() -> Section:
    """Errors and slopes of uniform and of coin-toss partitions."""
    rows = []
    for process in PROCESSES:
        for n in (50, 100, 200):
            of = sample(process, n)
            errors = [f"{mean(of.miss[:, a]):.1f}, {mean(of.include[:, a]):.1f}" for a in (0, 2, 4, 6)]
            star = ", ".join(f"{mean(of.error[:, a]):.4f}" for a in (0, 2, 6))
            slopes = ", ".join(f"{mean(of.slope[:, a, 2]):.3f}" for a in (0, 2, 6))
            rows.append((process, f"{n}", *errors, star, slopes))
    header = ("process", "n", "m, i at 0", "at 1/2", "at 0.9", "at 1", "e* at 0, 1/2, 1", "slope(.8) at 0, 1/2, 1")
    widest = max(float(half_width(sample(p, n).slope[:, :, 2]).max()) for p in PROCESSES for n in (50, 100, 200))
    ties = max(float(half_width(of.miss - of.include).max()) for of in (sample(p, 200) for p in PROCESSES))
    notes = (
        f"{REPETITIONS} repetitions (the paper: 1000); 95 % intervals: slopes +- {widest:.3f}, m - i +- {ties:.1f}.",
        "Both partitions of the coin process share the order of the items, as printed in appendix A.",
    )
    return Section(
        "Figure 7: random partitions, uniform and by coin toss", header, tuple(rows), notes, tuple(_claims_7())
    )


def _claims_7() -> list[Verdict]:
    uniform, coin = ({n: sample(process, n) for n in SIZES} for process in PROCESSES)
    large = [n for n in SIZES if n >= 50]
    errors = [
        surely_above(uniform[n].miss[:, a] + uniform[n].include[:, a], coin[n].miss[:, a] + coin[n].include[:, a])
        for n in large
        for a in range(4)
    ]
    star = [surely_above(uniform[n].error[:, a], coin[n].error[:, a]) for n in large for a in SHOWN]
    fewer = [paired_above(uniform[n].miss[:, a], uniform[n].include[:, a]) for n in large for a in range(4)]
    monotone = [
        paired_above(of[n].slope[:, high, 2], of[n].slope[:, low, 2])
        for of in (uniform, coin)
        for n in large
        for low, high in pairwise(SHOWN)
    ]
    narrower = [surely_above(*(of[n].slope[:, 6, 2] - of[n].slope[:, 0, 2] for of in (coin, uniform))) for n in large]
    spreads = {
        p: [
            float(mean(sample(p, n).error)[list(SHOWN)].max() / mean(sample(p, n).error)[list(SHOWN)].min()) - 1
            for n in large
        ]
        for p in PROCESSES
    }
    return [
        Verdict(
            "m + i greater in the uniform experiment (n >= 50, alpha <= 2/3)", "slightly", _of(errors), all(errors)
        ),
        Verdict("e* greater in the uniform experiment (n >= 50)", "slightly", _of(star), all(star)),
        Verdict("fewer includes than misses, uniform, n >= 50, alpha <= 2/3", "yes", _of(fewer), all(fewer)),
        *_coin_ratio(),
        *_high_alpha(),
        Verdict(
            "alpha has no significant impact on e*",
            "yes",
            ", ".join(f"{p} {min(s):.0%} to {max(s):.0%}" for p, s in spreads.items()),
            max(max(s) for s in spreads.values()) < 1 / 3,
        ),
        Verdict("higher alpha, higher slope (n >= 50, beta 0.8)", "yes", _of(monotone), all(monotone)),
        Verdict("slopes spread less over alpha in the uniform experiment", "yes", _of(narrower), all(narrower)),
        *_convergence(),
    ]


def _ratio(of: Sample, a: int) -> float:
    return float(mean(of.include[:, a]) / mean(of.miss[:, a]))


def _coin_ratio() -> list[Verdict]:
    """Includes over misses at alpha 1/2 in the coin experiment, small, and large with and without a common order."""
    small = {n: _ratio(sample("coin", n), 2) for n in (50, 100, 200)}
    rng = np.random.default_rng([SEED, LARGE])
    solution, adversary = pair(LARGE, "coin", rng)
    ordered, apart = (evaluate(solution, of) for of in (adversary, shuffled(adversary, rng=rng)))
    ratios = [float(of.include_total / of.miss_total) for of in (ordered, apart)]
    # For large n without a common order all overlaps are 1, a subject of size s has s clusters of size-biased size Y,
    # and the least of them is taken: misses sum to n / 2, includes to n / 2 times the sum over y of G / (2 - G).
    tail = [(y + 2) / 2 ** (y + 1) for y in range(1, 200)]
    limit = sum(G / (2 - G) for G in tail)
    return [
        Verdict(
            "fewer includes than misses, coin, alpha 1/2 (includes / misses at n = 50, 100, 200)",
            "below 1",
            ", ".join(f"{ratio:.2f}" for ratio in small.values()),
            all(ratio < 1 for ratio in small.values()),
            required=False,
        ),
        Verdict(
            f"and at n = {LARGE:,}, in the order drawn",
            "below 1",
            f"{ratios[0]:.2f}",
            ratios[0] < 1,
            required=False,
        ),
        Verdict(
            f"why it cannot hold: without a common order the ratio tends to {limit:.3f}, derived",
            "-",
            f"{ratios[1]:.3f}",
            abs(ratios[1] - limit) < 0.05,
        ),
    ]


def _high_alpha() -> list[Verdict]:
    of = {n: [_ratio(sample("uniform", n), a) for a in (4, 5, 6)] for n in (50, 100, 200)}
    shown = "; ".join(f"n = {n}: " + ", ".join(f"{ratio:.2f}" for ratio in ratios) for n, ratios in of.items())
    return [
        Verdict(
            "more includes than misses above alpha 0.9, uniform (includes / misses at 0.9, 0.95, 1)",
            "above 1",
            shown,
            all(ratio > 1 for ratios in of.values() for ratio in ratios),
            required=False,
        ),
        Verdict(
            "the same at alpha 1 exactly, where ties are averaged",
            "above 1",
            ", ".join(f"{ratios[-1]:.2f}" for ratios in of.values()),
            all(ratios[-1] > 1 for ratios in of.values()),
        ),
    ]


def _convergence() -> list[Verdict]:
    """How far slopes lie apart over alpha, by threshold, at n = 50."""
    apart = {p: mean(sample(p, 50).slope[:, 6]) - mean(sample(p, 50).slope[:, 0]) for p in PROCESSES}
    shown = {p: ", ".join(f"{value:.2f}" for value in of) for p, of in apart.items()}
    uniform, coin = apart["uniform"], apart["coin"]
    return [
        Verdict(
            "spread over alpha at n = 50, uniform: shrinks slowly as beta rises (0.6, 0.7, .. 1)",
            "yes",
            shown["uniform"],
            bool((np.diff(uniform) < 0).all()),
        ),
        Verdict(
            "the same, coin: not before beta 0.7, then fast",
            "yes",
            shown["coin"],
            bool(abs(coin[1] - coin[0]) < 0.05 and coin[1] - coin[4] > uniform[1] - uniform[4]),
        ),
    ]
