"""One draw of seeds on a pair of networks: the ensemble beside each attack alone, announced and come true."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import numpy as np
from graphs_runs import Attack, percent, rng_of
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.graphs import (
    Announced,
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
    datasets,
    select_seeds,
    split,
)
from unmask.graphs.ensemble.ensemble import Success

PAIRS = ("douban", "acm-dblp", "allmovie-tmdb")

SEEDS = 0.2
"""Share of the people in both networks who are seeds."""

WITHIN = 0.03
"""By so much an announced share of right names may be off."""

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
"""Attacks beside which the ensemble stands; who is re-identified is their likeliest candidate."""

DRAWN = (
    "pair", "Hits@1", "best alone", "there: off", "worst tenth", "margin", "of anybody", "first", "CPU s",
)  # fmt: skip
"""What is told of a `Draw`."""

SAID_OF_DRAWN = (
    "Off: announced minus realized, of people in both networks. Worst tenth: beyond chance.",
    "Of anybody: bound of the right matches, and these. First: CPU s until a first answer.",
)


class Draw(NamedTuple):
    """One draw of seeds on one pair.

    there, all     : people who are in both networks, and everybody, but the seeds
    first, seconds : CPU s until a first answer, and until the last
    """

    name: str
    pair: Pair
    belief: Announced
    there: NDArray[np.int64]
    all: NDArray[np.int64]
    single: tuple[float, str]
    first: float
    seconds: float

    @property
    def right(self) -> NDArray[np.bool_]:
        """(n_source,) named rightly."""
        return (self.belief.mapping == self.pair.truth) & (self.pair.truth >= 0)

    @property
    def hits(self) -> float:
        """Hits@1."""
        return float(self.right[self.there].mean())

    @property
    def success(self) -> Success | None:
        """The success announced of people who are in both networks."""
        there = np.zeros(len(self.belief.mapping), dtype=np.bool_)
        there[self.there] = True
        return self.belief.expected_success(there)

    @property
    def margin(self) -> float:
        """Of the announced success."""
        return 0.0 if self.belief.estimate is None else self.belief.estimate.margin

    def gap(self, people: NDArray[np.int64], announced: NDArray[np.float64]) -> float:
        """Announced minus realized, on average."""
        return float(np.nan_to_num(announced[people]).mean() - self.right[people].mean())

    def tenths(self, people: NDArray[np.int64], announced: NDArray[np.float64]) -> dict[int, tuple[int, float, float]]:
        """Tenth of announced probability -> people, announced and realized."""
        stated, right = np.nan_to_num(announced[people]), self.right[people]
        tenth = np.minimum((10 * stated).astype(np.int64), 9)
        found = {}
        for k in np.unique(tenth).tolist():
            inside = tenth == k
            found[k] = int(inside.sum()), float(stated[inside].mean()), float(right[inside].mean())
        return found

    def worst_tenth(self, people: NDArray[np.int64], announced: NDArray[np.float64]) -> float:
        """The largest gap of a tenth with 50 people, less 1.96 standard errors."""
        found = self.tenths(people, announced).values()
        return max((abs(a - p) - 1.96 * float(np.sqrt(p * (1 - p) / n)) for n, a, p in found if n >= 50), default=0.0)


class Clock:
    """CPU seconds since it was made, and until the first answer that it was told of."""

    def __init__(self) -> None:
        self._start, self.first = time.process_time(), np.inf

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return time.process_time() - self._start

    def told(self, what: str) -> None:
        """The progress of an ensemble."""
        if "so far" in what:
            self.first = min(self.first, self.seconds)


def likeliest(belief: Matching) -> NDArray[np.int64]:
    """(n_source,) the first candidate of each node by probability."""
    order = np.lexsort((-belief.log_probability, belief.row))
    first = order[np.flatnonzero(np.diff(belief.row[order], prepend=-1))]
    found = np.full(belief.n_observations, -1, dtype=np.int64)
    found[belief.row[first]] = belief.candidate[first]
    return np.where(belief.mapping >= 0, belief.mapping, found)


def alone(pair: Pair, known: Auxiliary) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Whom each attack re-identifies; `GraphMatching` refuses large graphs."""
    for which, attack in SINGLE.items():
        with suppress(UnmaskError):
            yield which, likeliest(attack(pair.target, known))


def drawn(name: str, draw: int) -> Draw:
    """A draw of seeds on one of `PAIRS`, or on Epinions."""
    rng = rng_of("ensemble", name, draw)
    if name == "epinions":
        pair = split(datasets.network(name), 0.5, 0.75, rng, largest_component=True).shuffled(rng=rng)
        seeds, are = select_seeds(pair, "random.25", 100, rng), "chosen"
    else:
        pair = datasets.pair(name).shuffled(rng=rng)
        seeds, are = select_seeds(pair, "random", round(SEEDS * len(pair.common)), rng), "sample"
    return measured(name, pair, seeds, are)


def measured(name: str, pair: Pair, seeds: SeedPairs, are: Literal["sample", "chosen"]) -> Draw:
    """The ensemble on this pair, and each attack alone."""
    known, clock = Auxiliary(pair.source, seeds), Clock()
    belief = Ensemble(seeds_are=are, progress=clock.told)(pair.target, known)
    seconds = clock.seconds
    people = np.setdiff1d(np.arange(pair.source.n_nodes), seeds.source)
    there = np.intersect1d(people, pair.common)
    single = max((float(np.mean(found[there] == pair.truth[there])), which) for which, found in alone(pair, known))
    made = Draw(name, pair, belief, there, people, single, clock.first, seconds)
    print("  ", *drawn_row(made), len(belief.sweeps), "rounds", file=sys.stderr, flush=True)
    return made


def drawn_row(one: Draw) -> tuple[str, ...]:
    """The cells of `DRAWN`."""
    said = one.success
    there = ("-", "-", "-", "-") if said is None else (
        percent(one.gap(one.there, one.belief.if_there)), percent(one.worst_tenth(one.there, one.belief.if_there)),
        percent(one.margin), f"{percent(said.of_anybody_high)} for {percent(float(one.right[one.all].mean()))}",
    )  # fmt: skip
    best = f"{percent(one.single[0])} {one.single[1]}"
    return one.name, percent(one.hits), best, *there, f"{one.first:.0f}", f"{one.seconds:.0f}"


def pooled(found: Sequence[Draw]) -> float:
    """The largest gap of a tenth of announced probability with 50 people in all draws, of people who are there."""
    parts = [one.tenths(one.there, one.belief.if_there) for one in found]
    gaps = [0.0]
    for k in range(10):
        own = np.array([part[k] for part in parts if k in part])
        if len(own) and own[:, 0].sum() >= 50:
            gaps.append(abs(float(np.average(own[:, 1] - own[:, 2], weights=own[:, 0]))))
    return max(gaps)


def error_of(share: float, n_seeds: int) -> float:
    """Return 1.96 standard errors of a share that so many seeds estimate, and 3 points."""
    return WITHIN + 1.96 * float(np.sqrt(share * (1 - share) / n_seeds))
