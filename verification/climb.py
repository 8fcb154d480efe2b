"""The attack Climb on pairs of networks, compared with Rematch, and with a similarity.

    UNMASK_DATA=... python verification/climb.py

Hits@1: share of correct likeliest candidates, over the people who are in both networks and are not seeds. Nothing is
fitted to a pair: gamma and scale are used as they are.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from generated_pairs import chung_lu
from graphs_draws import PAIRS, rank_first
from graphs_runs import rng_of
from numpy.typing import NDArray
from show import Section, Verdict, main, percent

from unmask.graphs import (
    Auxiliary,
    Climb,
    Matching,
    Nar09,
    Pair,
    SeedPairs,
    Similarity,
    SocialGraph,
    Support,
    datasets,
    select_seeds,
)
from unmask.graphs import split as split_graph
from unmask.graphs.attacks.support import rematched

DRAWS = 3
GAMMAS = (0.0, 0.25, 0.5)
LISTED = {"acm-dblp": 100, "allmovie-tmdb": 1000}
"""Lines of each person in a table of similarity; many films have the same genres."""

FEATURES = {"acm-dblp": ("acm_dblp", "acm", "dblp"), "allmovie-tmdb": ("allmovie_tmdb", "allmovie", "tmdb")}


class Case(NamedTuple):
    """A pair of networks and the seeds of the adversary."""

    pair: Pair
    seeds: SeedPairs

    @property
    def people(self) -> NDArray[np.int64]:
        """People in both networks who are not seeds."""
        return np.setdiff1d(self.pair.common, self.seeds.source)

    def hits(self, belief: Matching) -> float:
        """Return Hits@1 of the likeliest candidates."""
        return self.share_correct(rank_first(belief))

    def share_correct(self, matches: NDArray[np.integer]) -> float:
        """Return the share of people that these matches have right."""
        return float(np.mean(matches[self.people] == self.pair.truth[self.people]))

    def drop_seeds(self, share: float, *names: object) -> Case:
        """Return the case with this share of its seeds; dropped seeds are not counted."""
        n = len(self.seeds.source)
        chosen = rng_of("kept", *names).permutation(n)[: round(share * n)]
        truth = self.pair.truth.copy()
        truth[self.seeds.source] = -1
        seeds = SeedPairs(self.seeds.source[chosen], self.seeds.target[chosen])
        return Case(Pair(self.pair.source, self.pair.target, truth), seeds)


def make_case(name: str, draw: int) -> Case:
    """Return a real pair with 20 % of its people as seeds, or Epinions, split, with 100."""
    if name == "epinions":
        pair = split_graph(datasets.network(name), 0.5, 0.75, rng_of("split", draw))
        return Case(pair, select_seeds(pair, "random.25", 100, rng_of("seeds", name, draw)))
    pair = datasets.pair(name).shuffled(rng=rng_of("pair", name, draw))
    n = round(0.2 * len(pair.common))
    return Case(pair, select_seeds(pair, "random", n, rng_of("seeds", name, draw)))


# --- one climb -------------------------------------------------------------------------------------------------------


class Single(NamedTuple):
    """Hits@1 of the mapping of forced Rematch, of its listed probabilities and of climbs; coverage and CPU seconds."""

    rematch: float
    listed: float
    climbs: tuple[float, ...]
    coverage: float
    seconds: tuple[float, float]


def verify_single() -> Section:
    """Compare climbs with Rematch, with all seeds and with 70 % of them."""
    sizes = [(name, DRAWS) for name in PAIRS] + [("epinions", 1)]
    runs = {(name, share): [_run_single(name, share, d) for d in range(n)] for name, n in sizes for share in (1.0, 0.7)}
    return Section(
        f"Hits@1 of one climb, 20 % random seeds, {DRAWS} draws (Epinions .5/.75: 100 seeds, one)",
        ("pair", "seeds", "Rematch", "listed", *(f"climb {g:g}" for g in GAMMAS), "in support", "CPU s"),
        (_format_single(*key, of_key) for key, of_key in runs.items()),
        (
            "Rematch: forced, its mapping; listed: the likeliest of its belief. In support: correct pairs.",
            "CPU s: the support, without Rematch, and one climb.",
        ),
        _single_verdicts(runs),
    )


def _run_single(name: str, share: float, draw: int) -> Single:
    case = make_case(name, draw)
    case = case if share == 1 else case.drop_seeds(share, name, draw)
    auxiliary = Auxiliary(case.pair.source, case.seeds)
    lists = rematched(case.pair.target, auxiliary)
    start = time.process_time()
    support = Support.of(case.pair.target, auxiliary)
    built = time.process_time()
    climbs = tuple(case.hits(Climb(gamma=gamma).on(support)) for gamma in GAMMAS)
    seconds = built - start, (time.process_time() - built) / len(GAMMAS)
    n = support.target.n_nodes
    coverage = np.isin(case.people * n + case.pair.truth[case.people], support.row * n + support.candidate)
    rematch = case.share_correct(lists[0].mapping)
    return Single(rematch, case.hits(lists[0]), climbs, float(np.mean(coverage)), seconds)


def _format_single(name: str, share: float, runs: list[Single]) -> tuple[str, ...]:
    rematch, listed, *others = (np.mean(values, axis=0) for values in zip(*runs, strict=True))
    climbs, coverage, seconds = others
    cells = map(percent, (share, rematch, listed, *climbs, coverage))
    return (name, *cells, f"{seconds[0]:.1f} + {seconds[1]:.1f}")


def _single_verdicts(runs: dict[tuple[str, float], list[Single]]) -> Iterator[Verdict]:
    for share in (1.0, 0.7):
        leads = {
            name: float(np.mean([run.climbs[1] - run.rematch for run in of_key]))
            for (name, seed_share), of_key in runs.items()
            if seed_share == share
        }
        least = min(leads, key=lambda name: leads[name])
        yield Verdict(
            f"a climb with gamma .25 is ahead of the mapping of forced Rematch on every pair, {share:.0%} of the seeds",
            "-",
            f"by {100 * leads[least]:+.1f} points or more ({least})",
            leads[least] > 0,
        )
    low, name = min(
        (float(np.mean([run.coverage for run in of_key])), key[0]) for key, of_key in runs.items() if key[0] in PAIRS
    )
    yield Verdict("the support holds 85 % of the correct pairs", "-", f"{percent(low)} ({name})", low >= 0.85)


# --- a similarity ----------------------------------------------------------------------------------------------------

SCALES = (16.0, 8.0, 4.0, 1.0)
REWIRED = (0.9, 0.95)
"""Shares of the target's edges that are moved to random nodes."""


class Similar(NamedTuple):
    """Exponent; Hits@1 of a similarity without edges, of edges without a similarity, and of climbs with both."""

    exponent: float
    without_edges: float
    edges: float
    both: tuple[float, ...]


def verify_similarity() -> Section:
    """Test venues and genres as similarity, shuffled ones, and few shared edges."""
    acm, allmovie = make_case("acm-dblp", 0), make_case("allmovie-tmdb", 0)
    venues = _read_similarity("acm-dblp", acm.pair)
    results = {
        "ACM-DBLP, venues": _run_similar(acm, venues),
        "the same, shuffled": _run_similar(acm, _read_similarity("acm-dblp", acm.pair, shuffled=True)),
        "Allmovie-TMDB, genres": _run_similar(allmovie, _read_similarity("allmovie-tmdb", allmovie.pair)),
    }
    for share in REWIRED:
        runs = [_run_similar(acm._replace(pair=_rewire(acm.pair, share, draw)), venues) for draw in range(DRAWS)]
        exponent, without_edges, edges, both = (np.mean(values, axis=0) for values in zip(*runs, strict=True))
        results[f"{percent(share)} of the target's edges rewired"] = Similar(
            exponent, without_edges, edges, tuple(both)
        )
    return Section(
        "Hits@1 of one climb with a similarity",
        ("pair", "a", "no edges", "edges", *(f"scale {scale:g}" for scale in SCALES)),
        (
            (name, f"{result.exponent:.2f}", *map(percent, (result.without_edges, result.edges, *result.both)))
            for name, result in results.items()
        ),
        (
            f"Rewired edges: means of {DRAWS} draws. Scores of edges are divided by their own deviation, so that they",
            "count as much if edges mean nothing: nothing in a climb measures how far edges can be trusted.",
        ),
        _similarity_verdicts(*results.values()),
    )


def _run_similar(case: Case, similarity: Similarity) -> Similar:
    source, target = case.pair.source, case.pair.target
    both, edges = (Support.of(target, Auxiliary(source, case.seeds, *extra)) for extra in ((similarity,), ()))
    ratios = similarity.ratios(source.n_nodes, target.n_nodes, case.seeds)
    hits = tuple(case.hits(Climb(scale=scale).on(both)) for scale in SCALES)
    return Similar(ratios.exponent, _hits_without_edges(case, similarity), case.hits(Climb().on(edges)), hits)


def _hits_without_edges(case: Case, similarity: Similarity) -> float:
    """Return expected hits of an adversary who takes any of the most similar candidates."""
    top = np.full(case.pair.source.n_nodes, -np.inf)
    np.maximum.at(top, similarity.source, similarity.weight)
    first = similarity.weight == top[similarity.source]
    share = 1.0 / np.maximum(np.bincount(similarity.source[first], minlength=len(top)), 1)
    is_correct = case.pair.truth[similarity.source] == similarity.target
    correct = first & is_correct & np.isin(similarity.source, case.people)
    return float(share[similarity.source[correct]].sum() / len(case.people))


def _read_similarity(name: str, pair: Pair, *, shuffled: bool = False) -> Similarity:
    """Return the cosine of attribute counts, for the most similar candidates of each person."""
    folder, *sides = FEATURES[name]
    home = Path(os.environ["UNMASK_DATA"]) / "graphs" / "pairs" / folder
    ours, theirs = (
        _normalize(np.loadtxt(home / f"{side}.features.txt.gz")[np.asarray(graph.labels, dtype=np.int64)])
        for side, graph in zip(sides, (pair.source, pair.target), strict=True)
    )
    if shuffled:
        theirs = rng_of("shuffled", name).permutation(theirs)
    nearest = [np.argpartition(-row, LISTED[name])[: LISTED[name]] for row in ours @ theirs.T]
    source, target = np.repeat(np.arange(len(ours)), LISTED[name]), np.concatenate(nearest)
    return Similarity(source, target, np.round((ours[source] * theirs[target]).sum(axis=1), 9))


def _normalize(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)


def _rewire(pair: Pair, share: float, draw: int) -> Pair:
    """Return the pair with a share of the target's edges between random nodes."""
    rng, n = rng_of("rewired", draw), pair.target.n_nodes
    u, v = pair.target.edges()
    rewired = rng.random(len(u)) < share
    ends = [np.where(rewired, rng.integers(0, n, len(u)), side) for side in (u, v)]
    return Pair(pair.source, SocialGraph.from_edges(*ends, n_nodes=n, labels=pair.target.labels), pair.truth)


def _similarity_verdicts(
    venues: Similar, shuffled: Similar, genres: Similar, few: Similar, fewest: Similar
) -> Iterator[Verdict]:
    usual = SCALES.index(Climb().scale)
    hits = venues.both[usual]
    yield Verdict("venues raise a climb on ACM-DBLP to 75 %", "-", percent(hits), hits >= 0.75)
    change = max(abs(both - shuffled.edges) for both in shuffled.both)
    yield Verdict("a useless similarity changes less than half a point", "-", percent(change), change < 0.005)
    ours = f"{percent(genres.without_edges)} without edges, {percent(genres.edges)} -> {percent(genres.both[usual])}"
    claim = "genres, which identify hardly anybody, do not lower Allmovie-TMDB"
    yield Verdict(claim, "-", ours, genres.both[usual] >= genres.edges)
    ours = f"{percent(few.both[usual])}, without edges {percent(few.without_edges)}"
    claim = "with a tenth of the edges left the usual scale is ahead of the similarity"
    yield Verdict(claim, "-", ours, few.both[usual] > few.without_edges)
    ours = f"{percent(fewest.both[usual])}, without edges {percent(fewest.without_edges)}"
    claim = "with a twentieth of the edges left the usual scale costs at most 2 points against the similarity"
    yield Verdict(claim, "-", ours, fewest.both[usual] > fewest.without_edges - 0.02)
    yield Verdict(
        "a scale of 1, which trusts edges least, is ahead of both there and behind with many edges",
        "-",
        f"{percent(fewest.both[-1])}, {percent(venues.both[-1])}",
        fewest.both[-1] > max(fewest.both[usual], fewest.without_edges) and venues.both[-1] < hits,
    )


# --- directions ------------------------------------------------------------------------------------------------------

DIRECTED = {"wiki-Vote": 30, "advogato": 50}
"""Networks whose links have directions, and their number of seeds."""


def verify_directions() -> Section:
    """Compare attacks that use the directions of links with attacks that do not."""
    results = {(name, edges): _run_directed(name, edges) for name in DIRECTED for edges in (0.75, 0.4)}
    gain = min(climbs[1] - climbs[0] for climbs, _ in results.values())
    few = min(nar09[1] - nar09[0] for (_, edges), (_, nar09) in results.items() if edges == 0.75)
    texts = [f"by {100 * difference:.1f} points or more" for difference in (gain, few)]
    return Section(
        "Hits@1 on networks with directions, split at .5 of the people",
        ("network", "edges", "climb, undirected", "directed", "Nar09", "Nar09, directed"),
        ((name, f"{e:g}", *map(percent, (*climbs, *nar09))) for (name, e), (climbs, nar09) in results.items()),
        ("Both sides come from one network: a shared edge has the same direction.",),
        (
            Verdict("a climb that uses directions is ahead of one that does not", "-", texts[0], gain > 0),
            Verdict("with few seeds directed Nar09 spreads where Nar09 dies out", "-", texts[1], few > 0.3),
        ),
    )


def _run_directed(name: str, edges: float) -> tuple[list[float], list[float]]:
    """Return hits of climbs, then of Nar09: without and with directions."""
    graph = SocialGraph.read(Path(os.environ["UNMASK_DATA"]) / "graphs" / f"{name}.txt.gz")
    pair = split_graph(graph, 0.5, edges, rng_of("split", name, edges))
    case = Case(pair, select_seeds(pair, "random.25", DIRECTED[name], rng_of("seeds", name, edges)))
    directed = (pair.target, Auxiliary(pair.source, case.seeds))
    undirected = (replace(pair.target, way=None), Auxiliary(replace(pair.source, way=None), case.seeds))
    climbs = [case.hits(Climb()(*inputs)) for inputs in (undirected, directed)]
    mappings = Nar09()(*undirected).mapping, Nar09(directed=True)(*directed).mapping
    return climbs, [case.share_correct(mapping) for mapping in mappings]


# --- strangers -------------------------------------------------------------------------------------------------------


def verify_strangers() -> Section:
    """Test two networks without a person in common."""
    rows, rates = [], []
    for draw in range(DRAWS):
        rng = rng_of("nothing", draw)
        graphs = [chung_lu(rng, 2000, 10) for _ in range(2)]
        case = Case(Pair(*graphs, rng.permutation(2000)), SeedPairs(*np.tile(np.arange(100), (2, 1))))
        belief = Climb()(graphs[1], Auxiliary(graphs[0], case.seeds))
        rates.append(case.hits(belief))
        rows.append((draw, percent(float(np.mean(belief.mapping[100:] >= 0))), percent(rates[-1])))
    mean = float(np.mean(rates))
    return Section(
        "Two networks drawn independently, 2,000 people by degree, 100 of them declared seeds",
        ("draw", "matched", "Hits@1 of a random truth"),
        rows,
        ("Matched: a climb gives a person more than half. It cannot detect that people are absent.",),
        (Verdict("nothing is found beyond guessing (.05 %)", "-", percent(mean), mean < 0.002),),
    )


PARTS = {
    "single": verify_single,
    "similarity": verify_similarity,
    "directions": verify_directions,
    "nothing": verify_strangers,
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))
