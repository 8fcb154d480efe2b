"""Search for each identity of some adopters by itself, in audits and in cells of studies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.graphs import Attack, Pair, SeedPairs
from unmask.graphs.disclosure import SeparatedPair, discovery
from unmask.measures.interval import wilson
from unmask.measures.registry import MEASURES
from unmask.ranges import Range
from unmask.results import Row
from unmask.results.names import ADOPTERS


@dataclass(frozen=True)
class Discovery:
    """Search for each identity of some adopters by itself, see `unmask.graphs.disclosure.discovery`.

    people : adopters, drawn at random; none by default, because the search takes `runs` attacks for each identity
    runs   : attacks
    """

    people: Annotated[int, Range(0)] = 0
    runs: Annotated[int, Range(1)] = 10

    @classmethod
    def parse(cls, text: str) -> Discovery:
        """Return the search of a text PEOPLE:RUNS.

        >>> Discovery.parse("20:10")
        Discovery(people=20, runs=10)
        """
        people, _, runs = text.partition(":")
        if not all(part.isdecimal() and len(part) < 10 and int(part) > 0 for part in (people, runs)):
            raise UnmaskError(f"`discovery` is {text!r}, expected PEOPLE:RUNS such as 20:10, at least 1 of each")
        return cls(int(people), int(runs))

    def rows(
        self,
        pair: SeparatedPair,
        attack: Attack,
        seeds: Callable[[Pair, np.random.Generator], SeedPairs],
        rng: np.random.Generator,
        *,
        release: str,
        adversary: str,
    ) -> Iterator[Row]:
        """Yield the discovery rates of the identities; no row without adopters in both networks.

        Parameters
        ----------
        pair : SeparatedPair
            Networks before and after identity separation.
        attack : Attack
            Attack.
        seeds : callable
            Function that draws seeds of a pair.
        rng : numpy.random.Generator
            Source of the random draws.
        release, adversary : str
            Names in the rows.
        """
        before, separated = pair.before, pair.separated
        is_present = np.isin(before.truth, separated.adopters) & np.isin(before.truth, separated.origin)
        people = rng.permutation(np.flatnonzero(is_present))[: self.people]
        if not len(people):
            return
        result = discovery(before, separated, people, attack, seeds, runs=self.runs, rng=rng)
        low, high = wilson(reversed_ := result.reversed or 0.0, len(people))
        values = {
            "discovery": (float(result.probability.mean()), len(result.node), None, None, "none"),
            "discovery_score": (float(result.score.mean()), len(result.node), None, None, "none"),
            "reversed": (reversed_, len(people), low, high, "people (Wilson)"),
        }
        for measure, (value, n, least, most, interval) in values.items():
            yield Row.of_number(
                value, release=release, adversary=adversary, target=ADOPTERS, measure=measure,
                unit=MEASURES[measure].unit, prior=0.0, n=n, low=least, high=most, interval=interval,
                note=f"of {len(people)} people, {self.runs} attacks for each identity",
            )  # fmt: skip
