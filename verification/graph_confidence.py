"""Confidence of the ensemble on networks: announced, bounded or refused, compared with realized success.

`UNMASK_DATA=... python verification/graph_confidence.py` takes about an hour; `--part` runs some parts, `--only` some
pairs, `--draws` fewer draws. `--baseline SRC` runs the source of an older version on the same draws, for its Hits@1 and
its CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from graph_regimes import LOCAL, MADE, hubs, local, pair_of, random_seeds, sampled, wrong
from graphs_runs import percent, rng_of
from show import Section, Verdict, run

from unmask.graphs import Auxiliary, Ensemble, Pair, SeedPairs, datasets

REGIMES = (*MADE, "hubs missing", "communities missing", "wrong edges", "few people", "collaboration")

CASES = (*((name, 0.2) for name in REGIMES), ("Chung-Lu", 0.06), ("circles", 0.08), *((p, 0.2) for p in datasets.PAIRS))
"""A pair, and the share of its common people who are seeds."""

DEEP = "acm-dblp"
"""Common people of this pair are clustered in both of its networks, so that more of its random samples are rejected."""

SHARES = (40, 0.1, 0.2)
"""Seeds of the dispersion test: their number, or the share of the common people."""


class Case(NamedTuple):
    """One announcement: name, seeds, Hits@1, what was announced of people who are there, and CPU seconds."""

    name: str
    n_seeds: int
    realized: float
    announced: float | None
    margin: float | None
    high: float | None
    without_truth: float | None
    of_anybody: tuple[float | None, float]
    refused: tuple[str, ...]
    seconds: float

    @property
    def error(self) -> float:
        """Announced minus realized."""
        return np.nan if self.announced is None else self.announced - self.realized


def attacked(name: str, pair: Pair, seeds: SeedPairs) -> Case:
    """Run the ensemble."""
    start = time.process_time()
    belief = Ensemble()(pair.target, Auxiliary(pair.source, seeds))
    seconds = time.process_time() - start
    there = np.zeros(pair.source.n_nodes, dtype=np.bool_)
    there[np.setdiff1d(pair.common, seeds.source)] = True
    right = (belief.mapping == pair.truth) & (pair.truth >= 0)
    said, blind = belief.expected_success(there), belief.expected_success()
    free = np.setdiff1d(np.arange(pair.source.n_nodes), seeds.source)
    return Case(
        name,
        len(seeds.source),
        float(right[there].mean()),
        said and said.mean,
        belief.estimate and belief.estimate.margin,
        said and said.high,
        blind and blind.mean,
        (said and said.of_anybody_high, float(right[free].mean())),
        belief.refused,
        seconds,
    )


def _said(case: Case) -> str:
    if case.high is None:
        return "refused: " + "; ".join(case.refused)[:70]
    return "announced" if case.announced is not None else f"bound {percent(case.high)}"


def _row(case: Case) -> tuple[str, ...]:
    def points(value: float | None) -> str:
        return "" if value is None else f"{100 * value:.1f}"

    bound, came_true = case.of_anybody
    return (
        case.name, str(case.n_seeds), points(case.realized), points(case.announced), points(case.margin),
        points(case.without_truth), f"{points(bound)} >= {points(came_true)}", f"{case.seconds:.1f}", _said(case),
    )  # fmt: skip


HEADER = ("pair", "seeds", "Hits@1", "announced", "margin", "no truth", "of anybody", "CPU s", "said")


def announced(cases: Sequence[tuple[str, float]], draws: int) -> Section:
    """Random seeds."""
    found = [attacked(name, *sampled(name, draw, share)) for name, share in cases for draw in range(draws)]
    return Section(
        title="Seeds drawn at random: announced of people who are in the release, and realized, in percent",
        header=HEADER,
        rows=tuple(map(_row, found)),
        notes=("No truth: announced where nobody knows who is in the release. Of anybody: bound, and realized.",),
        verdicts=tuple(_announced(found)),
    )


def _announced(found: Sequence[Case]) -> Iterator[Verdict]:
    said = [case for case in found if case.announced is not None]
    error, margin = np.array([case.error for case in said]), np.array([case.margin for case in said], dtype=np.float64)
    blind = np.array([case.without_truth for case in said], dtype=np.float64) - [case.realized for case in said]
    inside, root = float(np.mean(np.abs(error) <= margin)), float(np.sqrt(np.mean(error**2)))
    yield Verdict("mean error within 2 points", "-", f"{100 * error.mean():+.1f}", abs(error.mean()) <= 0.02)
    yield Verdict("root mean square error within 3.5 points", "-", f"{100 * root:.1f}", root <= 0.035)
    yield Verdict("inside the margin in 90 %", "-", f"{percent(inside)} of {len(said)}", inside >= 0.9)
    yield Verdict("mean margin at most 6 points", "-", f"{100 * margin.mean():.1f}", margin.mean() <= 0.06)
    silent = [case.name for case in found if case.n_seeds >= 100 and case.announced is None and case.name != DEEP]
    yield Verdict("no bound or refusal from 100 random seeds on", "-", ", ".join(silent) or "none", not silent)
    high = [case for case in found if case.of_anybody[0] is not None]
    under = [case.name for case in high if case.of_anybody[1] > (case.of_anybody[0] or 0.0)]
    yield Verdict("the bound of anybody holds", "-", ", ".join(under) or f"in {len(high)}", not under)
    inside, root = float(np.mean(np.abs(blind) <= margin)), float(np.sqrt(np.mean(blind**2)))
    told = f"mean {100 * blind.mean():+.1f}, rms {100 * root:.1f}, inside {percent(inside)}"
    yield Verdict(
        "without truth: mean within 3, rms within 5 points", "-", told, abs(blind.mean()) <= 0.03 and root <= 0.05
    )


def no_sample(names: Sequence[str], draws: int) -> Section:
    """Seeds that are no random sample."""
    found = []
    for name in names:
        for draw in range(draws):
            pair = pair_of(name, draw)
            n = round(0.2 * len(pair.common))
            problems = [(kind, one.seeds) for kind, one in local(name, draw)]
            problems.append(("hubs", hubs(pair, n, rng_of("hubs", name, draw))))
            found += [attacked(f"{name}, {kind}", pair, seeds) for kind, seeds in problems]
            found.append(attacked(f"{name}, 30 % wrong", pair, wrong(pair, n, rng_of("wrong", name, draw))))
    chosen = [case for case in found if not case.name.endswith("wrong")]
    refused = [case for case in chosen if case.high is None]
    low = [case for case in chosen if case.announced is not None and case.error < -(case.margin or 0.0)]
    wrongly = [case for case in found if case.name.endswith("wrong") and case.announced is not None]
    above, below = (pick((case.error for case in wrongly), default=0.0) for pick in (max, min))
    return Section(
        title="Seeds that are no random sample, and wrong ones",
        header=HEADER,
        rows=tuple(map(_row, found)),
        verdicts=(
            Verdict(
                "85 % are refused, with the reason", "-", f"{len(refused)} of {len(chosen)}",
                len(refused) >= 0.85 * len(chosen) and all(case.refused for case in refused),
            ),
            Verdict("none is announced too low", "-", ", ".join(case.name for case in low) or "none", not low),
            Verdict("wrong seeds raise nothing by 3 points", "-", f"{100 * above:+.1f}", above <= 0.03),
            Verdict(
                "from 30 % wrong seeds announced is realized: nothing tells them apart", "-",
                f"{100 * below:+.1f}", below >= -0.05, required=False,
            ),
        ),
    )  # fmt: skip


def strangers(draws: int) -> Section:
    """Two networks that share no edge but by chance."""
    found = []
    for name in ("Chung-Lu", "random, degree 6", "circles"):
        for draw in range(draws):
            sides = [MADE[name](rng_of("strangers", name, draw, side)) for side in (0, 1)]
            pair = Pair(*sides, np.arange(sides[0].n_nodes)).shuffled(rng=rng_of(name, draw))
            found.append(attacked(name, pair, random_seeds(pair, 300, rng_of("seeds", name, draw))))
    off = max(abs(case.error) - (case.margin or 0.0) for case in found)
    most = max(case.high or 0.0 for case in found)
    return Section(
        title="Networks without an edge in common but by chance: a random truth",
        header=HEADER,
        rows=tuple(map(_row, found)),
        notes=("Circles have the same members in both networks, which tells a little.",),
        verdicts=(
            Verdict("announced is realized, within the margin", "-", f"{100 * off:+.1f} beyond it", off <= 0),
            Verdict("at most 10 % is announced, margin included", "-", percent(most), most <= 0.1),
        ),
    )


def dispersion(names: Sequence[str], draws: int) -> Section:
    """How often the dispersion test rejects."""
    from unmask.graphs.ensemble.seed_dispersion import measure_seed_dispersion

    counts: dict[tuple[str, str], list[bool]] = {}

    def test(name: str, kind: str, pair: Pair, seeds: SeedPairs) -> None:
        spread = measure_seed_dispersion(pair.source, pair.target, seeds, rng=rng_of(name, kind, len(seeds.source)))
        counts.setdefault((name, kind), []).append(spread.is_clustered)

    for name in names:
        for draw in range(draws):
            pair = pair_of(name, draw)
            for share in SHARES:
                n = share if share >= 1 else share * len(pair.common)
                test(name, "random", pair, random_seeds(pair, round(n), rng_of("random", name, draw, share)))
                for kind, one in local(name, draw, n / len(pair.common)) if draw < 2 else ():
                    test(name, kind, pair, one.seeds)
    kinds = ("random", *LOCAL)
    rejected = {
        kind: [
            hit for (name, k), hits in counts.items() if k == kind and (k != "random" or name != DEEP) for hit in hits
        ]
        for kind in kinds
    }
    near = [hit for kind in LOCAL for hit in rejected[kind]]
    return Section(
        title="Seed sets that the dispersion test rejects",
        header=("pair", *kinds),
        rows=tuple(
            (name, *(f"{sum(hits := counts.get((name, kind), []))} of {len(hits)}" for kind in kinds)) for name in names
        ),
        notes=(f"Seeds: {SHARES[0]}, {SHARES[1]:.0%} and {SHARES[2]:.0%} of the common people.",),
        verdicts=(
            Verdict(
                f"at most 2 % of random sets are rejected ({DEEP} apart)", "-",
                f"{sum(rejected['random'])} of {len(rejected['random'])}", np.mean(rejected["random"]) <= 0.02,
            ),
            Verdict("at least 85 % of local ones are", "-", f"{sum(near)} of {len(near)}", np.mean(near) >= 0.85),
        ),
    )  # fmt: skip


COSTS = ("Chung-Lu", "circles", "geometric", "hubs missing", "random, degree 6", "douban")


def _cost(names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Hits@1 and CPU seconds of each, after compilation; the interface that is older than this program suffices."""
    Ensemble()(*_ready(*sampled("Chung-Lu", 99)))
    found = {}
    for name in names:
        pair, seeds = sampled(name, 0)
        start = time.process_time()
        mapping = Ensemble()(pair.target, Auxiliary(pair.source, seeds)).mapping
        seconds = time.process_time() - start
        there = np.setdiff1d(pair.common, seeds.source)
        found[name] = (float(np.mean(mapping[there] == pair.truth[there])), seconds)
    return found


def _ready(pair: Pair, seeds: SeedPairs) -> tuple[object, object]:
    return pair.target, Auxiliary(pair.source, seeds)


def cost(baseline: Path, names: Sequence[str]) -> Section:
    """Hits@1 and CPU time, next to an older version."""
    command = [sys.executable, __file__, "--json", *names]
    found = []
    for source in (baseline, Path(__file__).resolve().parents[1] / "src"):
        env = {**os.environ, "PYTHONPATH": f"{source}"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    before, after = found
    hits = np.array([after[name][0] - before[name][0] for name in names])
    seconds = [sum(side[name][1] for name in names) for side in found]
    return Section(
        title=f"Hits@1 and CPU seconds, next to {baseline}",
        header=("pair", "Hits@1 before", "after", "CPU s before", "after"),
        rows=tuple(
            (name, percent(before[name][0]), percent(after[name][0]), f"{before[name][1]:.1f}", f"{after[name][1]:.1f}")
            for name in names
        ),
        verdicts=(
            Verdict(
                "Hits@1 equal within half a point, on average",
                "-",
                f"{100 * hits.mean():+.2f}",
                abs(hits.mean()) <= 0.005,
            ),
            Verdict(
                "at most 30 % of the CPU time", "-", percent(seconds[1] / seconds[0]), seconds[1] <= 0.3 * seconds[0]
            ),
        ),
    )


def main() -> int:
    """Run all parts, or some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="*", default=["announced", "no_sample", "strangers", "dispersion"])
    parser.add_argument("--only", nargs="*", help="pairs alone")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--baseline", type=Path, help="src of an older version")
    parser.add_argument("--json", nargs="*", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.json is not None:
        print(json.dumps(_cost(asked.json)))
        return 0
    names = asked.only or [*REGIMES, *datasets.PAIRS]
    cases = [case for case in CASES if case[0] in names]
    parts = {
        "announced": lambda: announced(cases, asked.draws),
        "no_sample": lambda: no_sample(asked.only or ("Chung-Lu", "circles", "geometric", "douban"), asked.draws),
        "strangers": lambda: strangers(asked.draws),
        "dispersion": lambda: dispersion(names, 5 * asked.draws),
    }
    chosen = [parts[part] for part in asked.part]
    return run([*chosen, *([lambda: cost(asked.baseline, asked.only or COSTS)] if asked.baseline else [])])


if __name__ == "__main__":
    sys.exit(main())
