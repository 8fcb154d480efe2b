"""One draw of seeds on a pair of networks: the ensemble next to each attack, announced next to realized success."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np
from graphs_runs import rng_of
from numpy.typing import NDArray
from show import percent

from unmask.core.errors import UnmaskError
from unmask.graphs import (
    Announced,
    Attack,
    Auxiliary,
    Bumblebee,
    Climb,
    DegreeMatching,
    Ensemble,
    GraphMatching,
    Grasshopper,
    Irma,
    KorulaLattanzi,
    Matching,
    Nar09,
    Pair,
    Rematch,
    SeedPairs,
    Similarity,
    datasets,
    select_seeds,
    split,
)
from unmask.graphs.ensemble.ensemble import Success

Nodes = NDArray[np.int64]

PAIRS = ("douban", "acm-dblp", "allmovie-tmdb")

SEED_SHARE = 0.2
"""Share of the people in both networks who are seeds."""

TOLERANCE = 0.03
"""Allowed difference of an announced share of correct matches."""

MIN_TENTH = 50
"""People of a tenth of announced probability that is judged."""

SINGLE: dict[str, Attack] = {
    "Nar09": Nar09(),
    "Grasshopper": Grasshopper(),
    "Bumblebee 0.5": Bumblebee(theta=0.5),
    "KorulaLattanzi": KorulaLattanzi(),
    "Irma": Irma(),
    "Rematch": Rematch(),
    "Rematch, greedy": Rematch(assignment="greedy"),
    "Rematch, forced": Rematch(forced=True),
    "Climb": Climb(),
    "Climb, gamma 0": Climb(gamma=0.0),
    "Climb, gamma 0.5": Climb(gamma=0.5),
    "GraphMatching": GraphMatching(),
    "DegreeMatching": DegreeMatching(),
}
"""Attacks that the ensemble is compared with. They match a person to the likeliest candidate."""

HEADER = ("pair", "Hits@1", "best attack", "difference", "worst tenth", "margin", "of anybody", "first", "CPU s")
"""Columns of `format_draw`."""

NOTES = (
    "Difference: announced minus realized, of people in both networks. Worst tenth: beyond chance.",
    "Of anybody: bound of the correct matches, and these. First: CPU s until a first answer.",
)


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw of seeds on one pair.

    present        : people who are in both networks, without the seeds
    everybody      : all people without the seeds
    best           : hits and name of the best single attack
    first, seconds : CPU s until a first answer, and until the last
    """

    name: str
    pair: Pair
    belief: Announced
    present: Nodes
    everybody: Nodes
    best: tuple[float, str]
    first: float
    seconds: float

    @property
    def correct(self) -> NDArray[np.bool_]:
        """(n_source,) matched correctly."""
        return (self.belief.mapping == self.pair.truth) & (self.pair.truth >= 0)

    @property
    def hits(self) -> float:
        """Hits@1."""
        return float(self.correct[self.present].mean())

    @property
    def deficit(self) -> float:
        """Hits@1 of the best single attack, minus that of the ensemble."""
        return self.best[0] - self.hits

    @property
    def success(self) -> Success | None:
        """Announced success for people in both networks."""
        present = np.zeros(len(self.belief.mapping), dtype=np.bool_)
        present[self.present] = True
        return self.belief.expected_success(present)

    @property
    def margin(self) -> float:
        """Margin of the announced success."""
        return 0.0 if self.belief.estimate is None else self.belief.estimate.margin

    @property
    def announced(self) -> NDArray[np.float64]:
        """(n_present,) announced probabilities."""
        return np.nan_to_num(self.belief.if_there[self.present])

    @property
    def difference(self) -> float:
        """Announced minus realized, on average over people in both networks."""
        return float(self.announced.mean() - self.hits)

    @property
    def bound_slack(self) -> float:
        """Bound of the correct matches of anybody, minus the realized share."""
        high = self.success.of_anybody_high if self.success else 1.0
        return float(high - self.correct[self.everybody].mean())

    def tenths(self) -> dict[int, tuple[int, float, float]]:
        """Return tenth of announced probability -> people, announced and realized."""
        correct, tenth = self.correct[self.present], np.minimum((10 * self.announced).astype(np.int64), 9)
        masks = {k: tenth == k for k in np.unique(tenth).tolist()}
        return {
            k: (int(inside.sum()), float(self.announced[inside].mean()), float(correct[inside].mean()))
            for k, inside in masks.items()
        }

    def worst_tenth(self) -> float:
        """Return the largest difference of a tenth with enough people, minus 1.96 standard errors."""
        judged = (tenth for tenth in self.tenths().values() if tenth[0] >= MIN_TENTH)
        return max((abs(a - p) - 1.96 * float(np.sqrt(p * (1 - p) / n)) for n, a, p in judged), default=0.0)


class Clock:
    """CPU seconds since its creation, and until the first answer that it is notified of."""

    def __init__(self) -> None:
        self._start, self.first = time.process_time(), np.inf

    @property
    def seconds(self) -> float:
        """CPU seconds since the start."""
        return time.process_time() - self._start

    def notify(self, message: str) -> None:
        """Receive the progress of an ensemble."""
        if "so far" in message:
            self.first = min(self.first, self.seconds)


def rank_first(belief: Matching) -> Nodes:
    """Return (n_source,) the likeliest listed candidate of each node, -1 without one."""
    order = np.lexsort((-belief.log_probability, belief.row))
    first = order[np.flatnonzero(np.diff(belief.row[order], prepend=-1))]
    candidates = np.full(belief.n_observations, -1, dtype=np.int64)
    candidates[belief.row[first]] = belief.candidate[first]
    return candidates


def match_likeliest(belief: Matching) -> Nodes:
    """Return (n_source,) the mapped node of each node, otherwise the likeliest listed candidate."""
    return np.where(belief.mapping >= 0, belief.mapping, rank_first(belief))


def run_single_attacks(pair: Pair, auxiliary: Auxiliary) -> Iterator[tuple[str, Nodes]]:
    """Yield the matches of each attack; `GraphMatching` refuses large graphs."""
    for name, attack in SINGLE.items():
        with suppress(UnmaskError):
            yield name, match_likeliest(attack(pair.target, auxiliary))


def find_best_attack(pair: Pair, auxiliary: Auxiliary, people: Nodes) -> tuple[float, str]:
    """Return hits on these people and name of the best single attack."""
    attacks = run_single_attacks(pair, auxiliary)
    return max((float(np.mean(matches[people] == pair.truth[people])), name) for name, matches in attacks)


def measure_ensemble(pair: Pair, seeds: SeedPairs, similarity: Similarity | None = None) -> tuple[float, float]:
    """Return Hits@1 of the ensemble, and announced minus realized, of people in both networks."""
    belief = Ensemble()(pair.target, Auxiliary(pair.source, seeds, similarity))
    present = np.setdiff1d(pair.common, seeds.source)
    hits = float(np.mean(belief.mapping[present] == pair.truth[present]))
    return hits, float(np.nan_to_num(belief.if_there[present]).mean()) - hits


def draw_seeds(name: str, number: int) -> Draw:
    """Draw seeds on one of `PAIRS`, or on Epinions, and run all attacks."""
    rng = rng_of("ensemble", name, number)
    if name == "epinions":
        pair = split(datasets.network(name), 0.5, 0.75, rng, largest_component=True).shuffled(rng=rng)
        return measure_draw(name, pair, select_seeds(pair, "random.25", 100, rng), "chosen")
    pair = datasets.pair(name).shuffled(rng=rng)
    seeds = select_seeds(pair, "random", round(SEED_SHARE * len(pair.common)), rng)
    return measure_draw(name, pair, seeds, "sample")


def measure_draw(name: str, pair: Pair, seeds: SeedPairs, seeds_are: Literal["sample", "chosen"]) -> Draw:
    """Run the ensemble on this pair, and each attack."""
    auxiliary, clock = Auxiliary(pair.source, seeds), Clock()
    belief = Ensemble(seeds_are=seeds_are, progress=clock.notify)(pair.target, auxiliary)
    seconds = clock.seconds
    everybody = np.setdiff1d(np.arange(pair.source.n_nodes), seeds.source)
    present = np.intersect1d(everybody, pair.common)
    best = find_best_attack(pair, auxiliary, present)
    draw = Draw(name, pair, belief, present, everybody, best, clock.first, seconds)
    print("  ", *format_draw(draw), len(belief.sweeps), "rounds", file=sys.stderr, flush=True)
    return draw


def format_draw(draw: Draw) -> tuple[str, ...]:
    """Return the cells of `HEADER`."""
    announced, success = ("-", "-", "-", "-"), draw.success
    if success is not None:
        bound = f"{percent(success.of_anybody_high)} for {percent(float(draw.correct[draw.everybody].mean()))}"
        announced = (*map(percent, (draw.difference, draw.worst_tenth(), draw.margin)), bound)
    best = f"{percent(draw.best[0])} {draw.best[1]}"
    return draw.name, percent(draw.hits), best, *announced, f"{draw.first:.0f}", f"{draw.seconds:.0f}"


def pool_tenths(draws: Sequence[Draw]) -> float:
    """Return the largest difference of a tenth with enough people in all draws."""
    tenths, differences = [draw.tenths() for draw in draws], [0.0]
    for k in range(10):
        n, announced, realized = np.array([tenth[k] for tenth in tenths if k in tenth]).reshape(-1, 3).T
        if n.sum() >= MIN_TENTH:
            differences.append(abs(float(np.average(announced - realized, weights=n))))
    return max(differences)


def allowed_error(share: float, n_seeds: int) -> float:
    """Return 1.96 standard errors of a share that n seeds estimate, and 3 points."""
    return TOLERANCE + 1.96 * float(np.sqrt(share * (1 - share) / n_seeds))
