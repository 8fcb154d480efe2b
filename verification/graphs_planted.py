"""The ensemble on networks that may mislead an adversary, and on those of which few edges are released."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from graphs_draws import SEEDS, alone, error_of
from graphs_made import beside, noisy, thinned, twinned
from graphs_runs import percent, rng_of
from show import Section, Verdict

from unmask.core.errors import UnmaskError
from unmask.graphs import Announced, Auxiliary, Ensemble, Pair, SeedPairs, SocialGraph, datasets, select_seeds


def planted(n: int = 400, n_seeds: int = 100) -> Section:
    """Networks that may mislead an adversary: nothing shared, twins, hubs, parts, nobody around, wrong seeds."""
    rng = rng_of("planted")
    whole, pairs = datasets.chung_lu(datasets.power_law_degrees(n, exponent=2.5, mean=8), rng=rng), {}
    pairs["nothing in common"] = Pair(*(datasets.erdos_renyi(n, 8 / n, rng=rng) for _ in range(2)), np.arange(n))
    pairs["everybody has a twin"] = thinned(twinned(whole), 0.8, rng)
    hubs = datasets.chung_lu(datasets.power_law_degrees(n, exponent=2.1, mean=8), rng=rng)
    pairs["hubs"] = thinned(hubs, 0.8, rng)
    pairs["two components"] = thinned(beside(whole, whole), 0.8, rng)
    pairs["a third isolated"] = thinned(beside(whole, SocialGraph.from_edges([], [], n_nodes=n // 2)), 0.8, rng)
    pairs["10 % of the seeds wrong"] = thinned(whole, 0.8, rng)
    found = {}
    for name, pair in pairs.items():
        pair = pair.shuffled(rng=rng)
        seeds = select_seeds(pair, "random", n_seeds, rng, error=0.1 if "wrong" in name else 0.0)
        found[name] = _hits(pair, seeds)
    one = Ensemble()(whole, Auxiliary(whole, (np.array([0]), np.array([0]))))
    return Section(
        title=f"Planted networks, {n_seeds} seeds",
        header=("networks", "Hits@1", "announced minus realized, if there"),
        rows=tuple((name, percent(hits), percent(gap)) for name, (hits, gap) in found.items()),
        verdicts=(*_planted(found, n_seeds), *_few(whole, one)),
    )


def _planted(found: dict[str, tuple[float, float]], n_seeds: int) -> Iterator[Verdict]:
    for name, (hits, gap) in found.items():
        low = gap if "wrong" in name else abs(gap)  # a wrong seed that is held back is never re-identified
        yield Verdict(
            f"{name}: announced is realized, within its error", "-", percent(gap), low <= error_of(hits, n_seeds)
        )
    guess, promised = found["nothing in common"]
    yield Verdict("nothing in common: guesses", "-", percent(guess), guess <= 0.02)
    yield Verdict("nothing in common: says so", "-", percent(promised + guess), promised + guess <= 0.05)
    twins = found["everybody has a twin"][0]
    yield Verdict("everybody has a twin: one of two at most, but for chance", "-", percent(twins), twins <= 0.6)
    wrong = found["10 % of the seeds wrong"][0]
    yield Verdict("10 % of the seeds wrong: still finds half", "-", percent(wrong), wrong >= 0.5)


def _few(graph: SocialGraph, one: Announced) -> Iterator[Verdict]:
    nobody = (np.zeros(0, dtype=np.int64),) * 2
    try:
        said = repr(Ensemble()(graph, Auxiliary(graph, nobody)))
    except UnmaskError as error:
        said = str(error)
    yield Verdict("0 seeds: refused in a sentence", "-", said[:40], said.startswith("there are no seeds"))
    yield Verdict("1 seed: announces no probability", "-", one.refused[0][:40], one.confidence == "scores")


def thin(kept: float = 0.15, wrong: float = 0.5) -> Section:
    """People of whose edges few are released, and half as many again that are wrong: there every seed counts."""
    rng, graph = rng_of("thin"), datasets.network("email-eu")
    few, n = noisy(graph, kept, wrong, rng), graph.n_nodes
    pairs = {"few released": Pair(graph, few, np.arange(n)), "few known": Pair(few, graph, np.arange(n))}
    rows, verdicts = [], []
    for name, given in pairs.items():
        pair = given.shuffled(rng=rng)
        seeds = select_seeds(pair, "random", round(SEEDS * n), rng)
        there = np.setdiff1d(pair.common, seeds.source)
        (hits, gap), known = _hits(pair, seeds), Auxiliary(pair.source, seeds)
        best, which = max((float(np.mean(f[there] == pair.truth[there])), a) for a, f in alone(pair, known))
        rows.append((name, percent(hits), f"{percent(best)} {which}", percent(gap)))
        verdicts.append(Verdict(f"{name}: 1 point behind at most", percent(best), percent(hits), hits >= best - 0.01))
        sure = abs(gap) <= error_of(hits, len(seeds.source))
        verdicts.append(Verdict(f"{name}: announced is realized, within its error", "-", percent(gap), sure))
    return Section(
        title=f"{percent(kept)} % of the edges of e-mails, and half as many again that are wrong",
        header=("edges", "Hits@1", "best alone", "announced minus realized, if there"),
        rows=tuple(rows),
        verdicts=tuple(verdicts),
    )


def _hits(pair: Pair, seeds: SeedPairs) -> tuple[float, float]:
    """Hits@1, and announced minus realized, of people who are there."""
    belief = Ensemble()(pair.target, Auxiliary(pair.source, seeds))
    there = np.setdiff1d(pair.common, seeds.source)
    hits = float(np.mean(belief.mapping[there] == pair.truth[there]))
    return hits, float(np.nan_to_num(belief.if_there[there]).mean()) - hits
