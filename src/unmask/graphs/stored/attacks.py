"""Attacks on a network that an engine holds, superstep by superstep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.graphs.attacks import KorulaLattanzi, Nar09, Rematch
from unmask.graphs.stored import queries
from unmask.graphs.stored.checkpoints import Checkpoint, Progress
from unmask.graphs.stored.loading import Network
from unmask.graphs.stored.rematch import rematch


@dataclass(frozen=True, eq=False)
class Mapped:
    """What an attack found, in its engine.

    table   : pairs (source, target) of node numbers, seeds included, no node twice
    n_pairs : of them
    sweeps  : matches made in each pass; the last entry is 0. Of `Rematch`: nodes mapped otherwise than before in each
              step; the last entry is 0 unless `steps` was reached
    wedges  : pairs of a neighbor of a mapped source node and a neighbor of its image, over all mapped pairs, mapped
              neighbors included: at most what all supersteps joined. Of `Rematch`: what the images proposed to nodes
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
    checkpoint: Checkpoint | None = None,
) -> Mapped:
    """Run `Nar09(synchronous=True)`, `KorulaLattanzi` or `Rematch` on networks of one engine: the pairs as in memory.

    seeds : table (source, target) of node numbers, see `read_seeds`. name : of the attack's tables, plain letters.
    checkpoint : where the mapping is kept after each pass, and from where an attack that was interrupted goes on

    What the supersteps of the first two share is a table of pairs of free nodes and their witnesses. It is never
    counted anew: a superstep joins the links of the pairs that the last one mapped, adds what they witness, and drops
    pairs whose node is mapped by now. All supersteps together so join each mapped pair once, at most sqrt(S T) wedges
    with S and T the sums of squared degrees (`plan`). Each superstep still reads the table of pairs some four times.

    `Rematch` (mutual, not forced) weighs all pairs anew in each step: at most sqrt(S T) wedges a step, far fewer with a
    small `reach`. Log-odds differ from those in memory by rounding, some 1e-12: only a pair that meets `margin` or
    `floor` as closely may be judged otherwise.

    After an interruption that table is made again from the whole mapping: the first superstep then joins all of its
    wedges at once and takes longer, while pairs, sweeps and wedges are those of an attack that was not interrupted.

    Hubs: keys are not salted. DuckDB divides a join by rows, whatever their keys; Spark's adaptive execution splits a
    partition far larger than the others. Whether salting would pay on a cluster has not been measured.

    >>> import numpy as np
    >>> from unmask.data.engine import open_engine
    >>> with open_engine() as engine:
    ...     engine.put("a_node", {"node": np.arange(3), "label": np.arange(3), "degree": np.array([1, 2, 1])})
    ...     engine.put("a_link", {"node": np.array([0, 1, 1, 2]), "neighbor": np.array([1, 0, 2, 1])})
    ...     path = Network(engine, "a", n_nodes=3, n_edges=2)
    ...     engine.put("seeds", {"source": np.array([0]), "target": np.array([2])})
    ...     attack(path, path, "seeds", Nar09(synchronous=True)).sweeps
    (1, 1, 0)
    """
    check_adversary(adversary)
    engine, mapping = auxiliary.engine, f"{name}_mapping"
    done = Progress() if checkpoint is None else checkpoint.restore(adversary, mapping)
    if not done.sweeps:
        engine.keep(mapping, f"select source, target from {seeds}", cut=True)
    if isinstance(adversary, Rematch):
        passes = rematch(auxiliary, target, seeds, adversary, done, name=name)
    else:
        passes = _passes(auxiliary, target, adversary, done, name=name)
    for done in passes:
        if checkpoint is not None:
            checkpoint.save(adversary, mapping, done)
    n_pairs = int(engine.rows(f"select count(*) as n from {mapping}")["n"][0])
    return Mapped(mapping, n_pairs, done.sweeps, done.wedges)


def check_adversary(adversary: Nar09 | KorulaLattanzi | Rematch) -> None:
    """Refuse parameters whose matches depend on one another within a pass."""
    if isinstance(adversary, Nar09) and not adversary.synchronous:
        raise UnmaskError("matches that count at once need all nodes in memory; use Nar09(synchronous=True)")
    if isinstance(adversary, Rematch) and (adversary.assignment != "mutual" or adversary.forced):
        raise UnmaskError(
            "matches among the nodes that others leave need all nodes in memory; use Rematch with assignment mutual "
            "and not forced"
        )


def _passes(
    auxiliary: Network, target: Network, adversary: Nar09 | KorulaLattanzi, done: Progress, *, name: str
) -> Iterator[Progress]:
    """Make passes, after those that are done, until one maps nobody; each leaves table {name}_mapping."""
    run = _Run(auxiliary, target, name)
    run.start()
    sweeps = done.sweeps  # wedges are counted from 0: all pairs of the mapping vouch again
    while not sweeps or sweeps[-1]:
        sweeps += (sum(run.superstep(*rule) for rule in _rules(run, adversary)),)
        yield Progress(sweeps, run.wedges)
    run.end()


AT_ONCE = 50_000_000
"""Wedges that a superstep counts at once."""


@dataclass(eq=False)
class _Run:
    """An attack at work; `fresh`: how many pairs of the mapping have not vouched yet; wedges: of those that have."""

    auxiliary: Network
    target: Network
    name: str
    fresh: int = 0
    wedges: int = 0

    def start(self) -> None:
        """The mapping so far as fresh pairs, and no pair of free nodes with a witness."""
        engine = self.auxiliary.engine
        self.fresh = engine.keep(f"{self.name}_fresh", f"select source, target from {self.name}_mapping", cut=True)
        none = np.zeros(0, dtype=np.int32)
        engine.put(f"{self.name}_shared", {"source": none, "target": none, "n": none})

    def vouch(self) -> None:
        """Add what the fresh pairs witness; part by part, since counting takes many times the memory of the counts."""
        engine, name = self.auxiliary.engine, self.name
        wedges = count_wedges(self.auxiliary, self.target, f"{name}_fresh")[0]
        engine.keep(f"{name}_near", queries.around(name, self.auxiliary.name, "source"))
        engine.keep(f"{name}_far", queries.around(name, self.target.name, "target"))
        parts = max(ceil(wedges / AT_ONCE), 1)
        for part in range(parts):
            engine.keep(f"{name}_added{part}", queries.added(name, part, parts))
        engine.keep(f"{name}_shared", queries.shared(name, parts), cut=True)
        for table in ("near", "far", *(f"added{part}" for part in range(parts))):
            engine.drop(f"{name}_{table}")
        self.wedges += wedges

    def superstep(self, forth: str, back: str, theta: float) -> int:
        """Let the fresh pairs vouch, then map the pairs that stand out for both nodes; how many those are."""
        engine, name = self.auxiliary.engine, self.name
        if self.fresh:
            self.vouch()
        engine.keep(f"{name}_best", queries.best(forth, back))
        self.fresh = engine.keep(f"{name}_fresh", queries.matches(name, forth, back, theta=theta), cut=True)
        if self.fresh:
            engine.keep(f"{name}_mapping", queries.extended(name), cut=True)
        return self.fresh

    def end(self) -> None:
        """Drop all tables but the mapping."""
        for table in ("shared", "best", "fresh"):
            self.auxiliary.engine.drop(f"{self.name}_{table}")


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
