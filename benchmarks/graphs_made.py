"""Networks, halves of them, and seeds, for graphs.py: split, drawn, or written down to be memory-mapped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unmask.graphs import Auxiliary


def problem(network: str, n_seeds: int = 1000) -> tuple[Any, Any]:
    """Two overlapping halves of a network, and seeds."""
    import numpy as np

    from unmask.graphs import datasets
    from unmask.graphs.knowledge import select_seeds, split

    pair = split(datasets.network(network), 0.5, 0.75, np.random.default_rng(1), largest_component=True)
    return pair, select_seeds(pair, "random.25", n_seeds, np.random.default_rng(2))


def converged(pair: Any, seeds: Any) -> tuple[Any, Any]:
    """All that a synchronous Nar09 finds, as seeds."""
    import numpy as np

    from unmask.graphs.attacks import Nar09

    mapping = Nar09(synchronous=True)(pair.target, Auxiliary(pair.source, seeds)).mapping
    source = np.flatnonzero(mapping >= 0)
    return source, mapping[source].astype(np.int64)


def power_law(n: int = 1_000_000) -> Any:
    """A Chung-Lu graph, exponent 2.5, mean degree 20."""
    import numpy as np

    from unmask.graphs.datasets import chung_lu, power_law_degrees

    return chung_lu(power_law_degrees(n, exponent=2.5, mean=20), rng=np.random.default_rng(0))


def path_of(n_nodes: int) -> tuple[Any, Any, Any]:
    """A path of three among so many nodes, as source and as target, two of whose nodes are seeds."""
    import numpy as np

    from unmask.graphs.graph import SocialGraph

    path = SocialGraph.from_edges([0, 1], [1, 2], n_nodes=n_nodes)
    return path, path, (np.array([0, 1]), np.array([0, 1]))


def build_large(folder: str) -> None:
    """Two power-law graphs, 2000 seeds and the truth."""
    import numpy as np

    from unmask.graphs.knowledge import select_seeds, split

    pair = split(power_law(), 0.8, 0.75, np.random.default_rng(1), largest_component=True)
    seeds = select_seeds(pair, "random.25", 2000, np.random.default_rng(2))
    source, target = ((graph.indptr, graph.neighbor) for graph in (pair.source, pair.target))
    np.savez(f"{folder}/large.npz", *source, *target, pair.truth, *seeds)


BLOCKS = 16
"""A huge graph is made block by block of its nodes, so that its edges need not be in memory."""


def build_huge(folder: str, edges: int) -> None:
    """Write indptr and neighbor of both sides; edges between two blocks have a seed, and either block makes them."""
    import numpy as np

    block = min(edges // 5, 20_000_000) // BLOCKS
    blocks, n = range(BLOCKS), block * BLOCKS
    edges_each = edges // BLOCKS**2  # inside a block; twice as many between two
    degrees: dict[str, list[Any]] = {"source": [], "target": []}
    for a in blocks:
        keys: dict[str, list[Any]] = {"source": [], "target": []}
        for b in blocks:
            low, high = sorted((a, b))
            rng = np.random.default_rng((low, high))
            size = edges_each if a == b else 2 * edges_each
            u, v = (rng.integers(0, block, size, dtype=np.int64) for _ in range(2))
            source, target = (u, v) if a == low else (v, u)
            for name in keys:
                is_kept = (rng.random(size, dtype=np.float32) < 0.9) & ((source != target) | (a != b))
                keys[name].append((source * n + target + b * block)[is_kept])
                if a == b:
                    keys[name].append((target * n + source + b * block)[is_kept])
        for name, result in keys.items():
            key = np.concatenate(result)
            key.sort()
            key = key[np.flatnonzero(np.diff(key, prepend=-1))]  # an edge that was drawn twice is one
            degrees[name].append(np.bincount(key // n, minlength=block))
            with Path(folder, f"{name}.neighbor").open("ab") as file:
                (key % n).astype(np.int32).tofile(file)
    for name, result in degrees.items():
        indptr = np.concatenate(([0], np.cumsum(np.concatenate(result))))
        indptr.astype(np.int64).tofile(Path(folder, f"{name}.indptr"))


def huge_problem(folder: str) -> tuple[Any, Any, Any]:
    """Source and target, memory-mapped, and the seeds: nodes have the same number in both."""
    import numpy as np

    from unmask.graphs.graph import SocialGraph

    source, target = (
        SocialGraph(
            np.memmap(f"{folder}/{name}.indptr", np.int64, "r"), np.memmap(f"{folder}/{name}.neighbor", np.int32, "r")
        )
        for name in ("source", "target")
    )
    seeds = np.flatnonzero(np.random.default_rng(2).random(source.n_nodes) < 0.2)
    return source, target, (seeds, seeds)


def write_power_law(path: str) -> None:
    """The largest part that hangs together; a list of edges holds no others."""
    graph = power_law()
    graph.take(graph.largest_component()).write(Path(path))
