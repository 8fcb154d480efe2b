"""Time and memory of naming people in a social graph, with other ways to do the same in the same run.

    python benchmarks/graphs.py                         every race but `large` and `huge`
    python benchmarks/graphs.py --only nar09 threads    some of them
    python benchmarks/graphs.py --only large            a million people and ten million edges: needs 3 GiB
    python benchmarks/graphs.py --only huge             a hundred million edges on disk; a billion, which needs
                                                        24 GiB and 20 GB of disk: --edges 1000000000 --limit 7200

Loops are compiled before the clock starts. M visits/s are millions of candidates looked at in a CPU second, the belief
included. In the race `threads` the ratio is of seconds by the clock. How cases are run and shown: see harness.py.

Two networks (Epinions, 75,879 people; Slashdot, 82,168) are split as in the literature: half of the people in common,
three quarters of the edges; 1000 seeds among the quarter with most neighbors, or 100 where so said.

    pass        one pass of Nar09 over Epinions that finds nothing anew: all pairs it has are seeds. As compiled loops,
                with and without the belief that the peers do not make; as dictionaries (what one writes with networkx),
                as a product of sparse matrices (SciPy)
    nar09       the whole attack, synchronous passes, in the same ways, and by ours with matches that count at once
    threads     the same, one thread and two
    attacks     every attack on either network
    large       Nar09 and Rematch on a power-law graph of 1,000,000 nodes and 10,000,000 edges, 2000 seeds; four fifths
                of the people in common, three quarters of the edges; the peer scores every 200th node of a pass, half
                of the people being mapped, in one direction, as a product of sparse matrices
    huge        Nar09 on a random graph, five times as many edges as nodes, but no more than 20,000,000 nodes; either
                side has lost a tenth of the edges, and a fifth of the nodes are seeds. Both graphs are memory-mapped;
                the peer scores every 1000th node of the first pass in the same way
    load        10,000,000 edges read from a text file
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import graphs_peers as peers
import harness
from graphs_made import (
    build_huge,
    build_large,
    converged,
    huge_problem,
    path_of,
    power_law,
    problem,
    write_power_law,
)
from graphs_peers import THETA
from harness import Case, Found, Race, Step

from unmask.graphs import Auxiliary

# --- ours ------------------------------------------------------------------------------------------------


def count_matches(truth: Any, seeds: Any, mapping: Any) -> Found:
    """Recall and precision in per cent, seeds out, and the number of pairs."""
    import numpy as np

    open_ = np.ones(len(mapping), dtype=bool)
    open_[seeds[0]] = False
    mapped = open_ & (mapping >= 0)
    n_right = (mapped & (mapping == truth)).sum()
    return {
        "recall": 100 * float(n_right / max((open_ & (truth >= 0)).sum(), 1)),
        "precision": 100 * float(n_right / max(mapped.sum(), 1)),
        "pairs": int((mapping >= 0).sum()),
    }


def ours(attack: str, network: str, n_seeds: int, parameters: dict[str, Any], last: bool = False) -> Step:
    """An attack of the package, "module:name"; with `last` its seeds are all that there is to find."""
    module, name = attack.split(":")
    run = getattr(importlib.import_module(f"unmask.graphs.attacks.{module}"), name)(**parameters)
    pair, seeds = problem(network, n_seeds)
    if last:
        seeds = converged(pair, seeds)
    compile_loops(run)

    def step() -> Found:
        start = time.process_time()
        belief = run(pair.target, Auxiliary(pair.source, seeds))
        rate = belief.visits / (time.process_time() - start) / 1e6
        counts = count_matches(pair.truth, seeds, belief.mapping)
        return {**counts, "passes": len(belief.sweeps), "M visits": belief.visits / 1e6, "M visits/s": rate}

    return step


def compile_loops(attack: Any, n_nodes: int = 3) -> None:
    """Run an attack on a path of three; where nodes are many, among as many as have loops of their own."""
    source, target, seeds = path_of(min(n_nodes, 300_000))
    attack(target, Auxiliary(source, seeds))


def one_pass(source: Any, target: Any, seeds: Any) -> Step:
    """One synchronous pass of Nar09 by the loops alone: scores, verdicts, mutual proposals."""
    import numpy as np

    from unmask.graphs.attacks._kernels import find_mutual, rank_by_degree
    from unmask.graphs.attacks._structs import Rule
    from unmask.graphs.attacks.base import make_side, positive_degree, seed_images

    sides = [
        make_side(graph, image, weight=np.ones(len(image), np.float32), size=np.sqrt(positive_degree(graph)))
        for graph, image in zip((source, target), seed_images(target, Auxiliary(source, seeds)), strict=True)
    ]

    def step() -> Found:
        start = time.process_time()
        source_side, target_side, _, _ = rank_by_degree(*sides)
        free = np.flatnonzero(source_side.image < 0).astype(np.int32)
        new, _, visits = find_mutual(free, source_side, target_side, Rule(False, False, THETA), threads=1)
        visits /= 1e6
        return {"new": len(new), "M visits": visits, "M visits/s": visits / (time.process_time() - start)}

    return step


def our_pass() -> Step:
    """A pass over Epinions that finds nothing anew."""
    compile_pass()
    pair, seeds = problem("epinions")
    return one_pass(pair.source, pair.target, converged(pair, seeds))


def compile_pass() -> None:
    """Run a pass over a path of three: an attack compiles loops for other types of numbers."""
    one_pass(*path_of(3))()


def large(attack: str, folder: str) -> Step:
    """An attack, "module:name", on a million nodes."""
    import numpy as np

    from unmask.graphs.graph import SocialGraph

    module, name = attack.split(":")
    run = getattr(importlib.import_module(f"unmask.graphs.attacks.{module}"), name)()
    arrays = np.load(f"{folder}/large.npz")
    *graphs, truth, source_seeds, target_seeds = (arrays[f"arr_{index}"] for index in range(7))
    source, target, seeds = SocialGraph(*graphs[:2]), SocialGraph(*graphs[2:]), (source_seeds, target_seeds)
    compile_loops(run, source.n_nodes)

    def step() -> Found:
        belief = run(target, Auxiliary(source, seeds))
        return {**count_matches(truth, seeds, belief.mapping), "M visits": belief.visits / 1e6}

    return step


def huge(folder: str, threads: int) -> Step:
    """Nar09 on the graphs of a folder."""
    import numpy as np

    from unmask.graphs.attacks import Nar09

    run = Nar09(threads=threads)
    source, target, seeds = huge_problem(folder)
    compile_loops(run, source.n_nodes)

    def step() -> Found:
        belief = run(target, Auxiliary(source, seeds))
        mapped = np.flatnonzero(belief.mapping >= 0)
        n_wrong = int((belief.mapping[mapped] != mapped).sum())
        return {"pairs": len(mapped), "wrong": n_wrong, "passes": len(belief.sweeps), "M visits": belief.visits / 1e6}

    return step


def huge_product(folder: str, share: int) -> Step:
    """The first pass of every `share`-th free node, one way."""
    import numpy as np

    source, target, seeds = huge_problem(folder)
    image = np.full(source.n_nodes, -1, dtype=np.int32)
    image[seeds[0]] = seeds[1]
    return part_of_a_pass(source, target, image, share)


def large_product(share: int) -> Step:
    """A pass over a million nodes, half of whose people are mapped: every `share`-th free node, one way."""
    import numpy as np

    from unmask.graphs.knowledge import split

    rng = np.random.default_rng(1)
    pair = split(power_law(), 0.8, 0.75, rng, largest_component=True)
    mapping = np.where(rng.random(pair.source.n_nodes) < 0.5, pair.truth, -1)
    return part_of_a_pass(pair.source, pair.target, mapping, share)


def part_of_a_pass(source: Any, target: Any, image: Any, share: int) -> Step:
    """Every `share`-th free node of the source is scored by a product of sparse matrices."""
    import numpy as np

    chosen = np.flatnonzero(image < 0)[::share]
    open_ = np.ones(target.n_nodes, dtype=bool)
    open_[image[image >= 0]] = False
    a, b = source.adjacency(), target.adjacency()

    def step() -> Found:
        return {"rows": len(chosen), "stand out": peers.by_rows(a, b, image, chosen, open_, np.sqrt(target.degree))}

    return step


def load() -> Step:
    """Ten million edges as lines of two numbers."""
    from unmask.graphs.graph import SocialGraph

    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "edges.txt"
    harness.run_apart(write_power_law, path)

    def step() -> Found:
        graph = SocialGraph.read(path)
        size = path.stat().st_size / 2**20
        folder.cleanup()
        return {"nodes": graph.n_nodes, "edges": graph.n_edges, "MiB of text": size}

    return step


# --- peers: the same passes in other ways ----------------------------------------------------------------


def peer(passes: str, last: bool) -> Step:
    """A function of graphs_peers.py that maps the nodes of a pair; `last` as in `ours`."""
    pair, seeds = problem("epinions")
    if last:
        seeds = converged(pair, seeds)

    def step() -> Found:
        mapping, n_passes = getattr(peers, passes)(pair.target, pair.source, seeds)
        return {**count_matches(pair.truth, seeds, mapping), "passes": n_passes}

    return step


# --- races -----------------------------------------------------------------------------------------------

NAR09 = "propagation:Nar09"
SYNCHRONOUS = {"synchronous": True}
ATTACKS: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
    ("Nar09", NAR09, 1000, {}),
    ("Bumblebee", "propagation:Bumblebee", 100, {"theta": 0.5}),
    ("Grasshopper", "grasshopper:Grasshopper", 100, {}),
    ("Rematch", "rematch:Rematch", 100, {}),
)
PEERS = {"dictionaries": "by_dictionaries", "sparse product": "by_products"}
VISITED = "Each visit of a candidate adds to a score elsewhere in memory: about a hundred million per second."
SPREADS = "2,000 seeds do not spread here: 78 passes map 6 % of the people. Loops take two thirds of the time."
SCORED = "Each candidate is visited, as in Nar09, and bounded by its likelihood. 6 % are weighted in full."
ALONE = "Work outside the passes, such as the belief, uses one core, and both cores share the memory's bandwidth."
GROUPS = ("pass", "nar09", "threads", "attacks", "large", "huge", "load")


def races(chosen: argparse.Namespace) -> Iterator[Race]:
    """Return all races; `large` only on request."""
    last, full_run = (
        tuple(
            Case(name, peer, (program, last), long=not last and name == "dictionaries")
            for name, program in PEERS.items()
        )
        for last in (True, False)
    )
    belief = Case("and the belief", ours, (NAR09, "epinions", 1000, SYNCHRONOUS, True))
    yield Race("pass", "one pass of Nar09, Epinions", (Case("ours", our_pass), belief), last, "nothing new to find")
    synchronous = Case("synchronous", ours, (NAR09, "epinions", 1000, SYNCHRONOUS), at_most=0.25, limit=VISITED)
    at_once = Case("matches count at once", ours, (NAR09, "epinions", 1000, {}))
    yield Race("nar09", "Nar09, Epinions, 1000 seeds", (synchronous, at_once), full_run, "the whole attack")
    single_thread = Case("one thread", ours, (NAR09, "slashdot", 1000, SYNCHRONOUS), ratio_at_least=1.7, limit=ALONE)
    two = Case("two threads", ours, (NAR09, "slashdot", 1000, {**SYNCHRONOUS, "threads": 2}))
    yield Race(
        "threads", "Nar09, Slashdot, 1000 seeds", (two,), (single_thread,), "gain of a second core", clock="wall"
    )
    for network in ("epinions", "slashdot"):
        for name, attack, n_seeds, parameters in ATTACKS:
            case = Case("ours", ours, (attack, network, n_seeds, parameters))
            yield Race("attacks", f"{name}, {network.title()}, {n_seeds} seeds", (case,), shows="the whole attack")
    if chosen.only and "large" in chosen.only:
        yield from of_large(chosen)
    if chosen.only and "huge" in chosen.only:
        yield from of_huge(chosen)
    yield Race("load", "10,000,000 edges of text", (Case("ours", load, long=True),), shows="read and checked")


def of_large(chosen: argparse.Namespace) -> Iterator[Race]:
    """A million people; their graphs are made in a process of their own."""
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        harness.run_apart(build_large, folder)
        attacks = (("Nar09", NAR09, 35, SPREADS), ("Rematch", "rematch:Rematch", 120, SCORED))
        for name, attack, at_most, limit in attacks:
            case = Case("ours", large, (attack, folder), long=True, at_most=at_most, mib_at_most=1024, limit=limit)
            part = Case("SciPy, one pass, a 200th scaled", large_product, (200,), long=True, times=200)
            yield Race("large", f"{name}, 1,000,000 people, 2000 seeds", (case,), (part,), "ten million edges")


def of_huge(chosen: argparse.Namespace) -> Iterator[Race]:
    """Graphs that are memory-mapped; a billion edges on two threads, by the clock."""
    billion = chosen.edges >= 10**9
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        harness.run_apart(build_huge, folder, chosen.edges)
        at_most, mib = {10**8: (150, 4096), 10**9: (3600, 0)}.get(chosen.edges, (0, 0))
        threads = 2 if billion else 1
        ours = Case("ours", huge, (folder, threads), long=True, at_most=at_most, mib_at_most=mib, limit=VISITED)
        part = Case("SciPy, first pass, a 1000th scaled", huge_product, (folder, 1000), long=True, times=1000)
        shows, clock = "both graphs memory-mapped", "wall" if billion else "seconds"
        yield Race("huge", f"Nar09, {chosen.edges:,} edges", (ours,), (part,), shows, clock)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options: edges of the largest graph, and its folder."""
    parser.add_argument("--edges", type=int, default=10**8, help="edges of the graph of `huge`")
    parser.add_argument("--folder", help="where the graph of `huge` goes")


if __name__ == "__main__":
    harness.main(__doc__, races, only=GROUPS, options=options, limit=3600)
