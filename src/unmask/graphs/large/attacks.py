"""Attacks on a network that an engine holds, superstep by superstep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unmask.errors import UnmaskError
from unmask.graphs.attacks import KorulaLattanzi, Nar09, Rematch
from unmask.graphs.large import queries
from unmask.graphs.large.loading import Network
from unmask.graphs.large.rematch import rematch


@dataclass(frozen=True, eq=False)
class Mapped:
    """What an attack found, in its engine.

    table   : pairs (source, target) of node numbers, seeds included, no node twice
    n_pairs : of them
    sweeps  : matches made in each pass; the last entry is 0. Of `Rematch`: nodes mapped otherwise than before in each
              step; the last entry is 0 unless `steps` was reached
    wedges  : pairs of a neighbour of a mapped source node and a neighbour of its image, over all mapped pairs, mapped
              neighbours included: at most what all supersteps joined. Of `Rematch`: what the images proposed to nodes
              that are no seeds, repetitions included, added up over its steps
    """

    table: str
    n_pairs: int
    sweeps: tuple[int, ...]
    wedges: int


def attack(
    auxiliary: Network,
    target: Network,
    seeds: str,
    adversary: Nar09 | KorulaLattanzi | Rematch,
    *,
    name: str = "attack",
) -> Mapped:
    """Run `Nar09(synchronous=True)`, `KorulaLattanzi` or `Rematch` on networks of one engine: the pairs as in memory.

    seeds : table (source, target) of node numbers, see `read_seeds`. name : of the attack's tables, plain letters.

    What the supersteps of the first two share is a table of pairs of free nodes and their witnesses. It is never
    counted anew: a superstep joins the links of the pairs that the last one mapped, adds what they witness, and drops
    pairs whose node is mapped by now. All supersteps together so join each mapped pair once, at most sqrt(S T) wedges
    with S and T the sums of squared degrees (`plan`). Each superstep still reads the table of pairs some four times.

    `Rematch` (mutual, not forced) weighs all pairs anew in each step: at most sqrt(S T) wedges a step, far fewer with a
    small `reach`. Log-odds differ from those in memory by rounding, some 1e-12: only a pair that meets `margin` or
    `floor` as closely may be judged otherwise.

    Hubs: keys are not salted. DuckDB divides a join by rows, whatever their keys; Spark's adaptive execution splits a
    partition far larger than the others. Whether salting would pay on a cluster has not been measured.

    >>> import numpy as np
    >>> from unmask.engines import open_engine
    >>> with open_engine() as engine:
    ...     engine.put("a_node", {"node": np.arange(3), "label": np.arange(3), "degree": np.array([1, 2, 1])})
    ...     engine.put("a_link", {"node": np.array([0, 1, 1, 2]), "neighbour": np.array([1, 0, 2, 1])})
    ...     path = Network(engine, "a", n_nodes=3, n_edges=2)
    ...     engine.put("seeds", {"source": np.array([0]), "target": np.array([2])})
    ...     attack(path, path, "seeds", Nar09(synchronous=True)).sweeps
    (1, 1, 0)
    """
    check_adversary(adversary)
    if isinstance(adversary, Rematch):
        return Mapped(f"{name}_mapping", *rematch(auxiliary, target, seeds, adversary, name=name))
    run = _Run(auxiliary, target, name)
    run.start(seeds)
    sweeps: list[int] = []
    while not sweeps or sweeps[-1]:
        sweeps.append(sum(run.superstep(*rule) for rule in _rules(run, adversary)))
    n_pairs = run.end()
    return Mapped(f"{name}_mapping", n_pairs, tuple(sweeps), run.wedges)


def check_adversary(adversary: Nar09 | KorulaLattanzi | Rematch) -> None:
    """Refuse parameters whose matches depend on one another within a pass."""
    if isinstance(adversary, Nar09) and not adversary.synchronous:
        raise UnmaskError("matches that count at once need all nodes in memory; use Nar09(synchronous=True)")
    if isinstance(adversary, Rematch) and (adversary.assignment != "mutual" or adversary.forced):
        raise UnmaskError(
            "matches among the nodes that others leave need all nodes in memory; use Rematch with assignment mutual "
            "and not forced"
        )


@dataclass(eq=False)
class _Run:
    """An attack at work; `fresh`: how many pairs the last superstep mapped."""

    auxiliary: Network
    target: Network
    name: str
    fresh: int = 0
    wedges: int = 0

    def start(self, seeds: str) -> None:
        """The seeds as fresh pairs, and no pair of free nodes with a witness."""
        engine = self.auxiliary.engine
        engine.keep(f"{self.name}_mapping", f"select source, target from {seeds}", cut=True)
        self.fresh = engine.keep(f"{self.name}_fresh", f"select source, target from {seeds}", cut=True)
        none = np.zeros(0, dtype=np.int32)
        engine.put(f"{self.name}_shared", {"source": none, "target": none, "n": none})

    def superstep(self, forth: str, back: str, theta: float) -> int:
        """Let the fresh pairs vouch, then map the pairs that stand out for both nodes; how many those are."""
        engine, name = self.auxiliary.engine, self.name
        if self.fresh:
            self.wedges += count_wedges(self.auxiliary, self.target, f"{name}_fresh")[0]
            engine.keep(f"{name}_added", queries.added(name, self.auxiliary.name, self.target.name))
            engine.keep(f"{name}_shared", queries.shared(name), cut=True)
        engine.keep(f"{name}_best", queries.best(forth, back))
        self.fresh = engine.keep(f"{name}_fresh", queries.matches(name, forth, back, theta=theta), cut=True)
        if self.fresh:
            engine.keep(f"{name}_mapping", queries.extended(name), cut=True)
        return self.fresh

    def end(self) -> int:
        """Drop all tables but the mapping; the number of its pairs."""
        engine = self.auxiliary.engine
        for table in ("shared", "added", "best", "fresh"):
            engine.drop(f"{self.name}_{table}")
        return int(engine.rows(f"select count(*) as n from {self.name}_mapping")["n"][0])


def _rules(run: _Run, adversary: Nar09 | KorulaLattanzi) -> Iterator[tuple[str, str, float]]:
    """The supersteps of a pass: scores of the pairs for their source nodes, for their target nodes, and theta."""
    pairs, here, there = f"{run.name}_shared", run.auxiliary.name, run.target.name
    if isinstance(adversary, Nar09):
        yield (
            queries.by_root_degree(pairs, there, "target"),
            queries.by_root_degree(pairs, here, "source"),
            adversary.theta,
        )
        return
    engine = run.auxiliary.engine
    highest = min(
        int(engine.rows(f"select max(degree) as highest from {name}_node")["highest"][0]) for name in (here, there)
    )
    for bucket in range(highest.bit_length() - 1, adversary.witnesses.bit_length() - 2, -1):
        counted = queries.by_count(pairs, here, there, witnesses=adversary.witnesses, least=2**bucket)
        yield counted, counted, 0.0


def count_wedges(auxiliary: Network, target: Network, fresh: str) -> tuple[int, float]:
    """The wedges of a table of pairs (source, target), and at most how many any one-to-one mapping has."""
    found = auxiliary.engine.rows(queries.wedges(fresh, auxiliary.name, target.name))
    return int(found["wedges"][0]), float(found["bound"][0])
