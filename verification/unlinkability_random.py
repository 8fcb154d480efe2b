"""Figures 5 and 7: solution and adversary both drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray
from show import Section, Verdict
from unlinkability_draws import shuffled

from unmask.core.partition import Partition
from unmask.measures.clustering import Contingency, Unlinkability, evaluate
from unmask.measures.clustering.curves import overall_slope
from unmask.measures.clustering.metrics import transfer_distance, variation_of_information
from unmask.measures.clustering.overlap import overlap
from unmask.measures.clustering.random_partitions import Process, random_partition

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


def overall_slopes(
    results: Sequence[Unlinkability], alphas: Sequence[float | Fraction], betas: Sequence[float], breached: float = 1.0
) -> Floats:
    """(alphas, betas) the slopes of the average subject, from a result of each alpha; breached: slope of a breach."""
    pairs = list(zip(results, map(float, alphas), strict=True))
    return np.array(
        [[overall_slope(of.linked_curve, of.mixed_curve, a, b, breached) for b in betas] for of, a in pairs]
    )


@cache
def sample(process: Process, n: int, betas: tuple[float, ...] = BETAS, repetitions: int = REPETITIONS) -> Sample:
    """Both partitions drawn anew each time. The stream depends on process and n, not on what else is run."""
    rng = np.random.default_rng([SEED, n, process == "coin"])
    rows = []
    for _ in range(repetitions):
        solution, adversary = pair(n, process, rng)
        met, table = Contingency.of(solution, adversary), overlap(solution, adversary)
        of = [evaluate(met, alpha=alpha) for alpha in ALPHAS]
        rows.append(
            (
                [one.miss_total for one in of],
                [one.include_total for one in of],
                [one.normalized_error for one in of],
                overall_slopes(of, ALPHAS, betas, np.nan),
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


def surely(high: Floats, low: Floats) -> int:
    """1 where one mean surely exceeds the other, -1 where it surely falls short, 0 where the sample does not tell."""
    return surely_above(high, low) - surely_above(low, high)


def paired(high: Floats, low: Floats) -> int:
    """The same for two columns of one sample, over the repetitions in which both have a value."""
    return paired_above(high, low) - paired_above(low, high)


def settled(claim: str, published: str, checks: Mapping[str, int], reason: str = "") -> Verdict:
    """A claim over every setting that was run: refuted where the opposite is sure, however many others it holds in.

    reason : what was measured where it is refuted. Without one a refuted claim fails the program.
    """
    wrong = [name for name, sign in checks.items() if sign < 0]
    sure = sum(sign > 0 for sign in checks.values())
    told = f"sure in {sure} of {len(checks)} settings"
    if wrong:
        told = f"REFUTED in {len(wrong)} and {told}" + (f": {reason}" if reason else f", not {wrong[0]}")
    return Verdict(claim, published, told, not wrong and 2 * sure > len(checks), required=not reason)


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
        "overall curve is breached without a merge has no slope and is left out.",
    )
    return Section("Figure 5: uniformly random partitions", header, tuple(rows), notes, tuple(_claims_5()))


def _claims_5() -> list[Verdict]:
    of = {n: sample("uniform", n) for n in SIZES}
    easier = {
        f"n {n}, alpha {ALPHAS[a]}": paired(of[n].slope[:, a, 1], of[n].slope[:, a, 2]) for n in SIZES for a in (1, 3)
    }
    heavier = {
        f"n {n}, beta {BETAS[b]}": paired(of[n].slope[:, 3, b], of[n].slope[:, 1, b]) for n in SIZES for b in (1, 2)
    }
    falling = {
        f"n {n} to {m}, alpha {ALPHAS[a]}, beta {BETAS[b]}": surely(of[n].slope[:, a, b], of[m].slope[:, a, b])
        for n, m in pairwise(SIZES)
        for a in (1, 3)
        for b in (1, 2)
    }
    rising = {f"n {n} to {m}": surely(of[m].transfer, of[n].transfer) for n, m in pairwise(SIZES)}
    return [
        settled("slope(0.7) above slope(0.8), where neither is breached", "yes", easier),
        settled("slope at alpha 2/3 above 1/3, where neither is breached", "yes", heavier),
        settled("slopes fall as n grows", "yes", falling),
        settled("MTD/(n-1) rises with n", "yes", rising),
        _voi_claim(),
        _conservative(of),
    ]


def _conservative(of: Mapping[int, Sample]) -> Verdict:
    """More misses than includes, for every n and every alpha of Figure 7; the paper says "tend to"."""
    checks = {f"n {n}, alpha {ALPHAS[a]}": paired(of[n].miss[:, a], of[n].include[:, a]) for n in SIZES for a in SHOWN}
    gaps = {n: mean(of[n].miss - of[n].include) for n in (10, 20, 200)}
    reason = "misses - includes at alpha 1/2 and 1: " + "; ".join(
        f"n {n} {gap[2]:+.1f}, {gap[6]:+.1f}" for n, gap in gaps.items()
    )
    return settled("random partitions are conservative, every n and alpha", "tend to be", checks, reason)


def _voi_claim() -> Verdict:
    voi = {n: _voi(n) for n in SMALL}
    falls = {f"{n} to {m}": surely(voi[n], voi[m]) for n, m in pairwise(SMALL)}
    reason = "mean at n = 4, 8, 15, 20, 30, 200: " + ", ".join(
        f"{float(mean(voi[n])):.3f}" for n in (4, 8, 15, 20, 30, 200)
    )
    return settled("VOI/log2 n falls as n grows", "yes", falls, reason)


@cache
def _voi(n: int) -> Floats:
    rng = np.random.default_rng([SEED, n, 5])
    tables = (overlap(*pair(n, "uniform", rng)) for _ in range(3000))
    return np.array([variation_of_information(table) for table in tables]) / np.log2(n)


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
    settings = [(n, a, f"n {n}, alpha {ALPHAS[a]}") for n in SIZES for a in SHOWN]
    more = {
        name: surely(uniform[n].miss[:, a] + uniform[n].include[:, a], coin[n].miss[:, a] + coin[n].include[:, a])
        for n, a, name in settings
    }
    star = {name: surely(uniform[n].error[:, a], coin[n].error[:, a]) for n, a, name in settings}
    monotone = {
        f"{process}, n {n}, alpha {ALPHAS[low]} to {ALPHAS[high]}": paired(
            of[n].slope[:, high, 2], of[n].slope[:, low, 2]
        )
        for process, of in (("uniform", uniform), ("coin", coin))
        for n in SIZES
        for low, high in pairwise(SHOWN)
    }
    narrower = {
        f"n {n}": surely(*(of[n].slope[:, 6, 2] - of[n].slope[:, 0, 2] for of in (coin, uniform))) for n in SIZES
    }
    return [
        settled("m + i greater in the uniform experiment, every n and alpha", "slightly", more, _totals(uniform, coin)),
        settled("e* greater in the uniform experiment, every n and alpha", "slightly", star, _small(uniform, coin)),
        _fewer_includes(uniform),
        *_coin_ratio(),
        *_high_alpha(),
        _impact(),
        settled("higher alpha, higher slope at beta 0.8, where neither is breached", "yes", monotone),
        settled("slopes spread less over alpha in the uniform experiment", "yes", narrower),
        *_convergence(),
    ]


def _totals(uniform: Mapping[int, Sample], coin: Mapping[int, Sample]) -> str:
    """Errors of both experiments at alpha 1/2: the claim about them fails in small sets."""
    told = []
    for n, a in ((10, 2), (20, 2), (200, 2)):
        both = (float(mean(of[n].miss[:, a] + of[n].include[:, a])) for of in (uniform, coin))
        told.append(f"n {n}, alpha {ALPHAS[a]} " + " against ".join(f"{value:.1f}" for value in both))
    return "uniform against coin: " + "; ".join(told)


def _small(uniform: Mapping[int, Sample], coin: Mapping[int, Sample]) -> str:
    """e* of both experiments where the claim about it is nearest to failing."""
    both = " against ".join(told(of[10].error[:, 0], 4) for of in (uniform, coin))
    return f"uniform against coin at n 10, alpha 0: {both}"


def _fewer_includes(uniform: Mapping[int, Sample]) -> Verdict:
    """The paper: fewer includes than misses in both experiments unless alpha is very high, say above 90 %."""
    usual = [a for a in SHOWN if ALPHAS[a] <= Fraction(9, 10)]
    checks = {
        f"n {n}, alpha {ALPHAS[a]}": paired(uniform[n].miss[:, a], uniform[n].include[:, a])
        for n in SIZES
        for a in usual
    }
    small = ", ".join(f"{_ratio(uniform[n], 2):.2f}" for n in (10, 20, 50))
    reason = f"includes / misses at alpha 1/2, n = 10, 20, 50: {small}"
    return settled("fewer includes than misses, uniform, alpha up to 0.9, every n", "yes", checks, reason)


def _impact() -> Verdict:
    """Whether any two alphas of the figure give an e* that differs by more than its paired 95 % interval."""
    pairs = [(low, high) for low, high in combinations(SHOWN, 2)]
    checks = {
        f"{p}, n {n}": -any(
            paired_above(of.error[:, a], of.error[:, b]) for low, high in pairs for a, b in ((low, high), (high, low))
        )
        for p in PROCESSES
        for n in SIZES
        for of in (sample(p, n),)
    }
    spreads = {p: [_spread(sample(p, n)) for n in SIZES] for p in PROCESSES}
    reason = "largest e* above the least: " + ", ".join(f"{p} {min(s):.0%} to {max(s):.0%}" for p, s in spreads.items())
    return settled("alpha has no significant impact on e*", "yes", checks, reason)


def _spread(of: Sample) -> float:
    means = mean(of.error)[list(SHOWN)]
    return float(means.max() / means.min()) - 1


def _ratio(of: Sample, a: int) -> float:
    return float(mean(of.include[:, a]) / mean(of.miss[:, a]))


def _coin_ratio() -> list[Verdict]:
    """Includes over misses at alpha 1/2 in the coin experiment, small, and large with and without a common order."""
    small = {n: _ratio(sample("coin", n), 2) for n in (50, 100, 200)}
    rng = np.random.default_rng([SEED, LARGE])
    solution, adversary = pair(LARGE, "coin", rng)
    ordered, apart = (evaluate(Contingency.of(solution, of)) for of in (adversary, shuffled(adversary, rng=rng)))
    ratios = [float(of.include_total / of.miss_total) for of in (ordered, apart)]
    # For large n without a common order all overlaps are 1, a subject of size s has s clusters of size-biased size Y,
    # and the least of them is taken: misses sum to n / 2, includes to n / 2 times the sum over y of G / (2 - G).
    tail = [(y + 2) / 2 ** (y + 1) for y in range(1, 200)]
    limit = sum(G / (2 - G) for G in tail)
    return [
        Verdict(
            "REFUTED: fewer includes than misses, coin, alpha 1/2 (includes / misses at n = 50, 100, 200)",
            "below 1",
            ", ".join(f"{ratio:.2f}" for ratio in small.values()),
            all(ratio < 1 for ratio in small.values()),
            required=False,
        ),
        Verdict(
            f"REFUTED: and at n = {LARGE:,}, in the order drawn",
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
            "REFUTED: more includes than misses above alpha 0.9, uniform (includes / misses at 0.9, 0.95, 1)",
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
    """How far slopes lie apart over alpha, by threshold, at n = 50, of repetitions that neither alpha breaches."""
    apart = {p: mean(sample(p, 50).slope[:, 6] - sample(p, 50).slope[:, 0]) for p in PROCESSES}
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
