"""Confidence of the ensemble on networks: announced, bounded or refused, compared with realized success.

`UNMASK_DATA=... python verification/graph_confidence.py` takes about six minutes; `--draws N` for more draws.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from generated_pairs import (
    LOCAL,
    NETWORKS,
    REGIMES,
    make_pair,
    sample_problem,
    select_hubs,
    select_local,
    select_with_errors,
)
from graphs_runs import rng_of
from show import Section, Verdict, main, percent

from unmask.graphs import Auxiliary, Ensemble, Pair, SeedPairs, datasets, select_seeds
from unmask.graphs.ensemble.seed_dispersion import measure_seed_dispersion

NAMES = (*NETWORKS, *REGIMES, *datasets.PAIRS)

CASES = (*((name, 0.2) for name in NAMES), ("Chung-Lu", 0.06), ("circles", 0.08))
"""A pair, and the share of its common people who are seeds."""

DEEP = "acm-dblp"
"""Common people of this pair are clustered in both of its networks, so that more of its random samples are rejected."""

SHARES = (40, 0.1, 0.2)
"""Seeds of the dispersion test: their number, or the share of the common people."""

HEADER = ("pair", "seeds", "Hits@1", "announced", "margin", "no truth", "of anybody", "CPU s", "outcome")


@dataclass(frozen=True)
class Announcement:
    """Hits@1 and announced success of people who are in the release; None if refused.

    high           : upper bound of the announced success
    without_truth  : announced success without knowledge of the people in the release
    anybody_bound  : bound of the correct matches among all people but the seeds
    anybody_actual : correct matches among them
    """

    name: str
    n_seeds: int
    realized: float
    announced: float | None
    margin: float | None
    high: float | None
    without_truth: float | None
    anybody_bound: float | None
    anybody_actual: float
    refused: tuple[str, ...]
    seconds: float

    @property
    def error(self) -> float:
        """Announced minus realized."""
        return np.nan if self.announced is None else self.announced - self.realized

    @property
    def outcome(self) -> str:
        """Announcement, bound or refusal."""
        if self.high is None:
            return "refused: " + "; ".join(self.refused)[:70]
        return "announced" if self.announced is not None else f"bound {percent(self.high)}"


def run_ensemble(name: str, pair: Pair, seeds: SeedPairs) -> Announcement:
    """Run the ensemble."""
    start = time.process_time()
    belief = Ensemble()(pair.target, Auxiliary(pair.source, seeds))
    seconds = time.process_time() - start
    present = np.zeros(pair.source.n_nodes, dtype=np.bool_)
    present[np.setdiff1d(pair.common, seeds.source)] = True
    correct = (belief.mapping == pair.truth) & (pair.truth >= 0)
    success, without_truth = belief.expected_success(present), belief.expected_success()
    everybody = np.setdiff1d(np.arange(pair.source.n_nodes), seeds.source)
    return Announcement(
        name,
        len(seeds.source),
        float(correct[present].mean()),
        success and success.mean,
        belief.estimate and belief.estimate.margin,
        success and success.high,
        without_truth and without_truth.mean,
        success and success.of_anybody_high,
        float(correct[everybody].mean()),
        belief.refused,
        seconds,
    )


def _make_section(title: str, results: Sequence[Announcement], verdicts: Iterator[Verdict], *notes: str) -> Section:
    def points(value: float | None) -> str:
        return "" if value is None else percent(value)

    rows = (
        (
            *(result.name, result.n_seeds),
            *map(points, (result.realized, result.announced, result.margin, result.without_truth)),
            *(f"{points(result.anybody_bound)} >= {points(result.anybody_actual)}", f"{result.seconds:.1f}"),
            result.outcome,
        )
        for result in results
    )
    return Section(title, HEADER, rows, notes, verdicts)


def verify_random_seeds(draws: int) -> Section:
    """Compare announced and realized success for random seeds."""
    results = [run_ensemble(name, *sample_problem(name, d, share)) for name, share in CASES for d in range(draws)]
    return _make_section(
        "Seeds drawn at random: announced for people who are in the release, and realized, in percent",
        results,
        _random_verdicts(results),
        "No truth: announced without knowledge of the people in the release. Of anybody: bound, and realized.",
    )


def _random_verdicts(results: Sequence[Announcement]) -> Iterator[Verdict]:
    announced = [result for result in results if result.announced is not None]
    error = np.array([result.error for result in announced])
    margin = np.array([result.margin for result in announced], dtype=np.float64)
    mean, root, inside = _summarize(error, margin)
    yield Verdict("mean error within 2 points", "-", f"{100 * mean:+.1f}", abs(mean) <= 0.02)
    yield Verdict("root mean square error within 3.5 points", "-", percent(root), root <= 0.035)
    yield Verdict("inside the margin in 90 %", "-", f"{percent(inside)} of {len(announced)}", inside >= 0.9)
    yield Verdict("mean margin at most 6 points", "-", percent(margin.mean()), margin.mean() <= 0.06)
    silent = [r.name for r in results if r.n_seeds >= 100 and r.announced is None and r.name != DEEP]
    yield Verdict("no bound or refusal from 100 random seeds on", "-", ", ".join(silent) or "none", not silent)
    bounded = [(r.name, r.anybody_bound, r.anybody_actual) for r in results if r.anybody_bound is not None]
    broken = [name for name, bound, actual in bounded if actual > bound]
    yield Verdict("the bound for anybody holds", "-", ", ".join(broken) or f"in {len(bounded)}", not broken)
    blind = np.array([r.without_truth for r in announced], dtype=np.float64) - [r.realized for r in announced]
    mean, root, inside = _summarize(blind, margin)
    ours = f"mean {100 * mean:+.1f}, rms {percent(root)}, inside {percent(inside)}"
    claim = "without truth: mean within 3, rms within 5 points"
    yield Verdict(claim, "-", ours, abs(mean) <= 0.03 and root <= 0.05)


def _summarize(error: np.ndarray, margin: np.ndarray) -> tuple[float, float, float]:
    """Return mean, root mean square and the share inside the margin."""
    return float(error.mean()), float(np.sqrt(np.mean(error**2))), float(np.mean(np.abs(error) <= margin))


def verify_other_seeds(draws: int) -> Section:
    """Test seeds that are no random sample, and wrong ones."""
    selected, mistaken = [], []
    for name in ("Chung-Lu", "circles", "geometric", "douban"):
        for draw in range(draws):
            pair = make_pair(name, draw)
            n = round(0.2 * len(pair.common))
            problems = [(kind, problem.seeds) for kind, problem in select_local(name, draw)]
            problems.append(("hubs", select_hubs(pair, n, rng_of("hubs", name, draw))))
            selected += [run_ensemble(f"{name}, {kind}", pair, seeds) for kind, seeds in problems]
            seeds = select_with_errors(pair, n, rng_of("wrong", name, draw))
            mistaken.append(run_ensemble(f"{name}, 30 % wrong", pair, seeds))
    verdicts = _other_verdicts(selected, mistaken)
    return _make_section("Seeds that are no random sample, and wrong ones", selected + mistaken, verdicts)


def _other_verdicts(selected: Sequence[Announcement], mistaken: Sequence[Announcement]) -> Iterator[Verdict]:
    refused = [result for result in selected if result.high is None]
    ours = f"{len(refused)} of {len(selected)}"
    holds = len(refused) >= 0.85 * len(selected) and all(result.refused for result in refused)
    yield Verdict("85 % are refused, with the reason", "-", ours, holds)
    low = [r.name for r in selected if r.announced is not None and r.error < -(r.margin or 0.0)]
    yield Verdict("none is announced too low", "-", ", ".join(low) or "none", not low)
    errors = [result.error for result in mistaken if result.announced is not None] or [0.0]
    ours = f"{100 * max(errors):+.1f}"
    yield Verdict("wrong seeds raise nothing by 3 points", "-", ours, max(errors) <= 0.03)
    ours, claim = f"{100 * min(errors):+.1f}", "from 30 % wrong seeds announced is realized: nothing tells them apart"
    yield Verdict(claim, "-", ours, min(errors) >= -0.05, required=False)


def verify_strangers(draws: int) -> Section:
    """Test two networks that share no edge but by chance."""
    results = []
    for name in ("Chung-Lu", "random, degree 6", "circles"):
        for draw in range(draws):
            sides = [NETWORKS[name](rng_of("strangers", name, draw, side)) for side in (0, 1)]
            pair = Pair(*sides, np.arange(sides[0].n_nodes)).shuffled(rng=rng_of(name, draw))
            seeds = select_seeds(pair, "random", 300, rng_of("seeds", name, draw))
            results.append(run_ensemble(name, pair, seeds))
    return _make_section(
        "Networks without an edge in common but by chance: a random truth",
        results,
        _stranger_verdicts(results),
        "Circles have the same members in both networks, which is some information.",
    )


def _stranger_verdicts(results: Sequence[Announcement]) -> Iterator[Verdict]:
    excess = max(abs(result.error) - (result.margin or 0.0) for result in results)
    claim = "announced is realized, within the margin"
    yield Verdict(claim, "-", f"{100 * excess:+.1f} beyond it", excess <= 0)
    high = max(result.high or 0.0 for result in results)
    yield Verdict("at most 10 % is announced, margin included", "-", percent(high), high <= 0.1)


def verify_dispersion(draws: int) -> Section:
    """Count the seed sets that the dispersion test rejects."""
    rejections: dict[tuple[str, str], list[bool]] = {(name, kind): [] for name in NAMES for kind in ("random", *LOCAL)}

    def test(name: str, kind: str, pair: Pair, seeds: SeedPairs) -> None:
        rng = rng_of(name, kind, len(seeds.source))
        dispersion = measure_seed_dispersion(pair.source, pair.target, seeds, rng=rng)
        rejections[name, kind].append(dispersion.is_clustered)

    for name in NAMES:
        for draw in range(5 * draws):
            pair = make_pair(name, draw)
            for share in SHARES:
                n = share if share >= 1 else share * len(pair.common)
                test(name, "random", pair, select_seeds(pair, "random", round(n), rng_of("random", name, draw, share)))
                for kind, problem in select_local(name, draw, n / len(pair.common)) if draw < 2 else ():
                    test(name, kind, pair, problem.seeds)
    return Section(
        "Seed sets that the dispersion test rejects",
        ("pair", "random", *LOCAL),
        ((name, *(_count_true(rejections[name, kind]) for kind in ("random", *LOCAL))) for name in NAMES),
        (f"Seeds: {SHARES[0]}, {SHARES[1]:.0%} and {SHARES[2]:.0%} of the common people.",),
        _dispersion_verdicts(rejections),
    )


def _count_true(hits: Sequence[bool]) -> str:
    return f"{sum(hits)} of {len(hits)}"


def _dispersion_verdicts(rejections: dict[tuple[str, str], list[bool]]) -> Iterator[Verdict]:
    at_random = [hit for (name, kind), hits in rejections.items() if kind == "random" and name != DEEP for hit in hits]
    local = [hit for (_, kind), hits in rejections.items() if kind != "random" for hit in hits]
    claim = f"at most 2 % of random sets are rejected (without {DEEP})"
    yield Verdict(claim, "-", _count_true(at_random), np.mean(at_random) <= 0.02)
    yield Verdict("at least 85 % of local ones are", "-", _count_true(local), np.mean(local) >= 0.85)


PARTS = {
    "announced": verify_random_seeds,
    "no_sample": verify_other_seeds,
    "strangers": verify_strangers,
    "dispersion": verify_dispersion,
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS, draws=1))
