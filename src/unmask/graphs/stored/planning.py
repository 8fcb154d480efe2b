"""Before an attack: how much it joins, and the memory and disk that this takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from os import PathLike

from unmask.data.resources import check_disk, format_bytes, limit_engine_memory
from unmask.graphs.stored.attacks import count_wedges
from unmask.graphs.stored.loading import Network

_PER_PAIR = 40
"""Bytes of a pair of free nodes on disk: in the table, in its next version, and in the join between them."""


@dataclass(frozen=True)
class Plan:
    """What an attack is expected to take.

    nodes, edges : of the auxiliary network and of the target
    wedges       : what the first superstep joins, from the seeds
    most_wedges  : the wedges of any mapping at most, sqrt(S T), with S and T the sums of squared degrees of either
                   network (Cauchy and Schwarz): what all supersteps join together; of `Rematch`, each step
    engine_bytes : memory of the engine
    disk_bytes   : what the first superstep leaves on disk at most; most_disk_bytes: the same of any superstep
    """

    nodes: tuple[int, int]
    edges: tuple[int, int]
    wedges: int
    most_wedges: int
    engine_bytes: int
    disk_bytes: int
    most_disk_bytes: int

    def __str__(self) -> str:
        nodes, edges = (" and ".join(f"{n:,}" for n in two) for two in (self.nodes, self.edges))
        engine, disk, most_disk = map(format_bytes, (self.engine_bytes, self.disk_bytes, self.most_disk_bytes))
        return (
            f"{nodes} nodes, {edges} links; wedges: {self.wedges:,} from the seeds, at most {self.most_wedges:,} from "
            f"any mapping; {engine} for the engine, {disk} of disk at first, up to {most_disk}"
        )


def plan(
    auxiliary: Network,
    target: Network,
    seeds: str = "seeds",
    *,
    memory_limit: int,
    temp_directory: str | PathLike[str] | None = None,
) -> Plan:
    """Estimate an attack from degrees and seeds, and refuse one whose first superstep does not fit the disk."""
    wedges, bound = count_wedges(auxiliary, target, seeds)
    engine_bytes, most = limit_engine_memory(memory_limit), ceil(bound)
    disk, most_disk = (max(n * _PER_PAIR - engine_bytes, 0) for n in (wedges, most))
    check_disk(disk, temp_directory, writer=f"from the {wedges:,} wedges of the seeds alone the engine may write")
    edges = (auxiliary.n_edges, target.n_edges)
    return Plan((auxiliary.n_nodes, target.n_nodes), edges, wedges, most, engine_bytes, disk, most_disk)
