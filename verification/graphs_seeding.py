"""Figures 4.7 and 4.8: kinds and numbers of seeds from which Nar09 spreads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from graphs_runs import MAIN, Run, count_spreading, network, perturb, rank_by_betweenness, rng_of, seed_set
from show import Section, Verdict, percent

from unmask.core.errors import UnmaskError
from unmask.graphs import Nar09, Pair, SeedPairs

SMALL = "wiki-vote"
"""Stands for LJ10k, which was never published."""

OVERLAP = (0.5, 0.75)

SMALL_COUNTS = (4, 8, 12, 20, 32, 48, 80, 120, 200)

SMALL_METHODS = (
    *("top", "betweenness.1", "random.1", "random.25", "random", "clique.4", "clique.4.2", "neighborhood.4"),
    *("neighborhood.4.2", "lta", "clustering", "clustering.high"),
)

LARGE_COUNTS = (40, 80, 120, 180, 240, 300, 360, 480, 600, 800, 1000)

LARGE_METHODS = ("top", "betweenness.1", "random.1", "random.25", "clique.4.2", "neighborhood.4.2", "lta")

RUNS = 3


def _run_attacks(name: str, method: str, n: int, n_runs: int) -> list[Run]:
    """Return runs of Nar09; none if there are too few seeds of the kind."""
    pairs = [perturb(name, *OVERLAP, number) for number in range(n_runs)]
    try:
        seeds = [_select_seeds(pair, name, method, n, number) for number, pair in enumerate(pairs)]
    except UnmaskError:
        return []
    return [Run.of(pair, Nar09(), seed) for pair, seed in zip(pairs, seeds, strict=True)]


def _select_seeds(pair: Pair, name: str, method: str, n: int, number: int) -> SeedPairs:
    if method != "betweenness.1":
        return seed_set(pair, method, n, name, number)
    order = _rank(name, number)
    if n > len(order):
        raise UnmaskError(f"{n} seeds were requested and there are {len(order)} people to choose from; use fewer")
    return SeedPairs(order[:n], pair.truth[order[:n]])


@cache
def _rank(name: str, number: int) -> np.ndarray:
    return rank_by_betweenness(perturb(name, *OVERLAP, number), rng_of(name, number))


def _spread(runs: Sequence[Run]) -> bool:
    return bool(runs) and count_spreading(runs) == len(runs)


def verify_small() -> Section:
    """Figure 4.7 on another small network: recall by method and number of seeds."""
    runs = {(method, n): _run_attacks(SMALL, method, n, RUNS) for method in SMALL_METHODS for n in SMALL_COUNTS}
    means = {
        key: float(np.mean([run.recall for run in of_key])) if of_key else math.nan for key, of_key in runs.items()
    }
    return Section(
        f"Figure 4.7: mean recall of Nar09 by kind and number of seeds, {SMALL} 0.5/0.75 (LJ10k is not published)",
        ("seeds", *map(str, SMALL_COUNTS)),
        (
            (method, *("" if math.isnan(means[method, n]) else percent(means[method, n]) for n in SMALL_COUNTS))
            for method in SMALL_METHODS
        ),
        (f"{RUNS} perturbations with a seed set each; blank: there are fewer such seeds.",),
        _small_verdicts(runs, means),
    )


def _small_verdicts(runs: dict[tuple[str, int], list[Run]], means: dict[tuple[str, int], float]) -> Iterator[Verdict]:
    first = {m: next((n for n in SMALL_COUNTS if _spread(runs[m, n])), math.inf) for m in SMALL_METHODS}
    highest = {m: np.nanmax([0.0, *(means[m, n] for n in SMALL_COUNTS)]) for m in SMALL_METHODS}

    def format_first(*methods: str) -> str:
        return ", ".join(f"{m} {'never' if math.isinf(first[m]) else first[m]}" for m in methods)

    for pair in (("neighborhood.4.2", "neighborhood.4"), ("clique.4.2", "clique.4"), ("random.25", "random")):
        # Two that start together, or never, show nothing.
        sooner, later = (first[method] for method in pair)
        claim, published = "seeds of high degree do with fewer", " before ".join(pair)
        yield Verdict(claim, published, format_first(*pair), sooner < later, required=sooner != later)
    yield Verdict(
        "top and betweenness do with fewest of the kinds that draw no groups",
        "top, betwc",
        format_first("top", "betweenness.1", "random.25", "lta"),
        max(first["top"], first["betweenness.1"]) < first["random.25"],
    )
    # On this network seeds of high clustering are not so poor.
    poor, best = ("clustering", "clustering.high"), max(highest.values())
    holds = all(first["random.25"] < first[method] for method in poor)
    claim = "seeds of high clustering take most"
    yield Verdict(claim, "very poor", format_first(*poor, "random"), holds, required=False)
    yield Verdict(
        "and match fewer in the end",
        "at most 20 and 70, others 78",
        ", ".join(f"{m} {percent(highest[m])}" for m in poor) + f", best {percent(best)}",
        highest["clustering"] < 0.75 * best,
        required=False,
    )
    recalls = [[run.recall for run in runs["neighborhood.4.2", n]] for n in SMALL_COUNTS]
    ranges = [100 * float(np.ptp(values)) for values in recalls if values]
    yield Verdict(
        "runs differ widely from few seeds and hardly from many (neighborhood.4.2)",
        "variance vanishes",
        f"{max(ranges):.1f} points down to {ranges[-1]:.1f}",
        max(ranges) > 20 and ranges[-1] < 10,
    )


def verify_large() -> Section:
    """Figure 4.8: the fewest seeds of each kind from which the attack spreads in every run."""
    fewest = {(name, method): _find_fewest(name, method) for name in MAIN for method in LARGE_METHODS}
    return Section(
        "Figure 4.8: fewest seeds from which Nar09 spreads in both of two perturbations, 0.5/0.75",
        ("seeds", *MAIN),
        ((method, *(_format_count(fewest[name, method]) for name in MAIN)) for method in LARGE_METHODS),
        (f"Tried: {', '.join(map(str, LARGE_COUNTS))}, by halving; more than {LARGE_COUNTS[-1]} or none: -.",),
        _large_verdicts(fewest),
    )


def _find_fewest(name: str, method: str) -> float:
    low, high = 0, len(LARGE_COUNTS)
    while low < high:
        middle = (low + high) // 2
        if _spread(_run_attacks(name, method, LARGE_COUNTS[middle], 2)):
            high = middle
        else:
            low = middle + 1
    return LARGE_COUNTS[low] if low < len(LARGE_COUNTS) else math.inf


def _format_count(n: float) -> str:
    return "-" if math.isinf(n) else str(n)


def _large_verdicts(fewest: dict[tuple[str, str], float]) -> Iterator[Verdict]:
    single = [method for method in LARGE_METHODS if not method.startswith(("clique", "neighborhood"))]
    for name in MAIN:
        top, central, tenth, quarter = (fewest[name, m] for m in ("top", "betweenness.1", "random.1", "random.25"))
        yield Verdict(
            f"top and betwc.1 take fewest seeds, {name} ({network(name).n_nodes:,} people)",
            "top and betwc.1",
            ", ".join(f"{method} {_format_count(fewest[name, method])}" for method in single),
            top == min(fewest[name, method] for method in single) and max(top, central) < quarter,
        )
        claim, ours = f"random.1 is slightly worse, and better than random.25, {name}", (tenth, quarter)
        text = " and ".join(map(_format_count, ours))
        yield Verdict(claim, "slightly less effective", text, top < tenth < quarter, refutes=True)
    cliques = {name: fewest[name, "clique.4.2"] for name in MAIN}
    yield Verdict(
        "cliques depend on the network: worse in Slashdot than in Epinions",
        "not feasible in Slashdot",
        ", ".join(f"{name} {_format_count(n)}" for name, n in cliques.items()),
        cliques["slashdot"] > cliques["epinions"],
        refutes=True,
    )
