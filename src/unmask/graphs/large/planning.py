"""Before an attack: how much it joins, and the memory and disk that this takes."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from math import ceil
from os import PathLike
from tempfile import gettempdir

from unmask.errors import FailedError, UnmaskError
from unmask.graphs.large.attacks import count_wedges
from unmask.graphs.large.loading import Network

LEAST = 512 << 20
"""Bytes below which an attack is not tried."""

_PROCESS = 200 << 20
"""Bytes of Python, NumPy and the engine before the first row."""

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
        return (
            f"{nodes} nodes, {edges} links; wedges: {self.wedges:,} from the seeds, at most {self.most_wedges:,} from "
            f"any mapping; {_size(self.engine_bytes)} for the engine, {_size(self.disk_bytes)} of disk at first, up to "
            f"{_size(self.most_disk_bytes)}"
        )


def engine_share(memory_limit: int) -> int:
    """The engine's part of a memory limit, in bytes: all but what the process takes.

    >>> engine_share(4 << 30) >> 20
    3896
    """
    if memory_limit < LEAST:
        raise UnmaskError(f"the memory limit is {_size(memory_limit)}, expected at least {_size(LEAST)}")
    return memory_limit - _PROCESS


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
    engine_bytes, most = engine_share(memory_limit), ceil(bound)
    disk, most_disk = (max(n * _PER_PAIR - engine_bytes, 0) for n in (wedges, most))
    try:
        free = shutil.disk_usage(temp_directory or gettempdir()).free
    except OSError as error:
        raise FailedError(f"the temporary directory cannot be read: {error.strerror}; name another") from None
    if disk > free:
        raise FailedError(
            f"the seeds alone make {wedges:,} wedges, up to {_size(disk)} of the temporary directory, which has "
            f"{_size(free)}; free some space, name another (--temp-directory), or leave out the seeds of highest degree"
        )
    edges = (auxiliary.n_edges, target.n_edges)
    return Plan((auxiliary.n_nodes, target.n_nodes), edges, wedges, most, engine_bytes, disk, most_disk)


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / 2**20:.0f} MiB"
