"""Time and memory of naming people in a social graph, with other ways to do the same in the same run.

    python benchmarks/graphs.py                         every race but `large`
    python benchmarks/graphs.py --only nar09 threads    some of them
    python benchmarks/graphs.py --only large            a million people and ten million edges: needs 3 GiB

Every case runs in a fresh process; its input is made and its loops are compiled before the clock starts, and a case
below five seconds runs three times, of which the median is shown. CPU s are those of all threads, wall s those of the
clock. Peak memory is that of the whole process, input and imports counted; "base" is what it was before the step. The
ratio is the peer's CPU seconds over those of the first case, in the race `threads` the wall seconds of the first case
over those of this one. M visits/s are millions of candidates looked at in a CPU second, the belief included.

Two networks (Epinions, 75,879 people; Slashdot, 82,168) are split as in the literature: half of the people in common,
three quarters of the edges; 1000 seeds among the quarter with most neighbours, or 100 where so said.

    pass        one pass of Nar09 over Epinions that finds nothing anew: all pairs it has are seeds. As compiled loops,
                with and without the belief that the peers do not make; as dictionaries (what one writes with networkx),
                as a product of sparse matrices (SciPy), as SQL (DuckDB)
    nar09       the whole attack, synchronous passes, in the same four ways, and by ours with matches that count at once
    threads     the same, one thread and two
    attacks     every attack on either network
    large       Rematch on a power-law graph of 1,000,000 nodes and 10,000,000 edges, 2000 seeds
    load        10,000,000 edges read from a text file
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The process that starts the cases must stay small: on Linux a child's peak counts from the size of its parent at the
# fork. So everything beyond the standard library is imported where it is used.

TIE = 1e-9
THETA = 0.01
Step = Callable[[], dict[str, float]]
Passes = Callable[[Any, Any, dict[int, int]], list[dict[int, int]]]


# --- input -----------------------------------------------------------------------------------------------


def problem(network: str, n_seeds: int = 1000) -> tuple[Any, Any]:
    """Two overlapping halves of a network, and seeds."""
    import numpy as np

    from unmask.graphs import datasets
    from unmask.graphs.knowledge import select_seeds, split

    pair = split(datasets.network(network), 0.5, 0.75, np.random.default_rng(1))
    return pair, select_seeds(pair, "random.25", n_seeds, np.random.default_rng(2))


def converged(pair: Any, seeds: Any) -> tuple[Any, Any]:
    """All that a synchronous Nar09 finds, as seeds."""
    import numpy as np

    from unmask.graphs.attacks import Nar09

    mapping = Nar09(synchronous=True)(pair.target, pair.source, seeds).mapping
    source = np.flatnonzero(mapping >= 0)
    return source, mapping[source].astype(np.int64)


def power_law(n: int = 1_000_000) -> Any:
    """A Chung-Lu graph, exponent 2.5, mean degree 20."""
    import numpy as np

    from unmask.graphs.datasets import chung_lu, power_law_degrees

    return chung_lu(power_law_degrees(n, exponent=2.5, mean=20), rng=np.random.default_rng(0))


def found(pair: Any, seeds: Any, mapping: Any) -> dict[str, float]:
    """Recall and precision in per cent, seeds out, and the number of pairs."""
    import numpy as np

    open_ = np.ones(len(mapping), dtype=bool)
    open_[seeds[0]] = False
    mapped = open_ & (mapping >= 0)
    right = (mapped & (mapping == pair.truth)).sum()
    return {
        "recall": 100 * float(right / max((open_ & (pair.truth >= 0)).sum(), 1)),
        "precision": 100 * float(right / max(mapped.sum(), 1)),
        "pairs": float((mapping >= 0).sum()),
    }


# --- ours ------------------------------------------------------------------------------------------------


def ours(make: Callable[[], Any], network: str, *, n_seeds: int = 1000, last: bool = False) -> Step:
    """An attack of the package; compiled on a path of three before."""
    import numpy as np

    from unmask.graphs.release import SocialGraph

    attack = make()
    pair, seeds = problem(network, n_seeds)
    if last:
        seeds = converged(pair, seeds)
    path = SocialGraph.from_edges([0, 1], [1, 2])
    attack(path, path, (np.array([0, 1]), np.array([0, 1])))

    def step() -> dict[str, float]:
        start = time.process_time()
        belief = attack(pair.target, pair.source, seeds)
        rate = belief.visits / (time.process_time() - start) / 1e6
        shown = found(pair, seeds, belief.mapping)
        return {**shown, "passes": float(len(belief.sweeps)), "M visits": belief.visits / 1e6, "M visits/s": rate}

    return step


def named(module: str, name: str, **parameters: Any) -> Callable[[], Any]:
    """An attack, imported when it is made."""
    return lambda: getattr(importlib.import_module(f"unmask.graphs.attacks.{module}"), name)(**parameters)


def our_pass() -> Step:
    """One pass by the loops alone: scores, verdicts, mutual proposals."""
    import numpy as np

    from unmask.graphs.attacks._kernels import Rule, mutual, ranked
    from unmask.graphs.attacks.matching import positive_degree, seeded, side

    pair, seeds = problem("epinions")
    graphs = (pair.source, pair.target)
    images = seeded(*graphs, converged(pair, seeds))
    sides = [
        side(graph, image, weight=np.ones(len(image), np.float32), size=np.sqrt(positive_degree(graph)))
        for graph, image in zip(graphs, images, strict=True)
    ]

    def step() -> dict[str, float]:
        start = time.process_time()
        here, there, _, _ = ranked(*sides)
        free = np.flatnonzero(here.image < 0).astype(np.int32)
        new, _, visits = mutual(free, here, there, Rule(False, False, THETA), threads=1)
        return {"new": float(len(new)), "M visits/s": visits / (time.process_time() - start) / 1e6}

    return step


def large() -> Step:
    """Rematch on a million nodes."""
    import numpy as np

    from unmask.graphs.attacks.rematch import Rematch
    from unmask.graphs.knowledge import select_seeds, split
    from unmask.graphs.release import SocialGraph

    pair = split(power_law(), 0.5, 0.75, np.random.default_rng(1))
    seeds = select_seeds(pair, "random.25", 2000, np.random.default_rng(2))
    path = SocialGraph.from_edges([0, 1], [1, 2])
    Rematch()(path, path, (np.array([0, 1]), np.array([0, 1])))

    def step() -> dict[str, float]:
        belief = Rematch()(pair.target, pair.source, seeds)
        return {**found(pair, seeds, belief.mapping), "M visits": belief.visits / 1e6}

    return step


def load() -> Step:
    """Ten million edges as lines of two numbers; made by a process of its own, whose memory is thus not counted."""
    from unmask.graphs.release import SocialGraph

    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "edges.txt"
    subprocess.run([sys.executable, __file__, "--write", str(path)], check=True)

    def step() -> dict[str, float]:
        graph = SocialGraph.read(path)
        size = path.stat().st_size / 2**20
        folder.cleanup()
        return {"nodes": float(graph.n_nodes), "edges": float(graph.n_edges), "MiB of text": size}

    return step


# --- peers: the same passes in other ways ----------------------------------------------------------------


def peer(passes: Callable[[Any, Any, Any], tuple[Any, int]], *, last: bool) -> Step:
    """A peer that maps the nodes of a pair."""
    pair, seeds = problem("epinions")
    if last:
        seeds = converged(pair, seeds)

    def step() -> dict[str, float]:
        mapping, n_passes = passes(pair.target, pair.source, seeds)
        return {**found(pair, seeds, mapping), "passes": float(n_passes)}

    return step


def by_sql(target: Any, source: Any, seeds: Any) -> tuple[Any, int]:
    """Three statements a pass, in DuckDB with one thread."""
    from unmask.graphs.attacks.superstep_sql import propagate

    mapping, sweeps = propagate(target, source, seeds, theta=THETA)
    return mapping, len(sweeps)


def by_dictionaries(target: Any, source: Any, seeds: Any) -> tuple[Any, int]:
    """Sets of neighbours and a dictionary of scores for each node; reverse scores only of nodes that are proposed."""
    import numpy as np

    near, far = as_sets(source), as_sets(target)
    image = dict(zip(seeds[0].tolist(), seeds[1].tolist(), strict=True))
    n_passes, matches = 0, {0: 0}
    while matches:
        inverse = {c: v for v, c in image.items()}
        reverse: dict[int, int] = {}
        matches = {}
        for v in near:
            if v in image:
                continue
            c = standing_out(v, near, far, image, inverse)
            if c is None:
                continue
            if c not in reverse:
                back = standing_out(c, far, near, inverse, image)
                reverse[c] = -1 if back is None else back
            if reverse[c] == v:
                matches[v] = c
        image.update(matches)
        n_passes += 1
    mapping = np.full(source.n_nodes, -1, dtype=np.int32)
    mapping[list(image)] = list(image.values())
    return mapping, n_passes


def as_sets(graph: Any) -> dict[int, set[int]]:
    """The neighbours of every node."""
    return {v: set(graph.neighbours(v).tolist()) for v in range(graph.n_nodes)}


def standing_out(
    v: int, near: dict[int, set[int]], far: dict[int, set[int]], image: dict[int, int], taken: dict[int, int]
) -> int | None:
    """The candidate of v that stands out."""
    shared: defaultdict[int, int] = defaultdict(int)
    for x in near[v]:
        if x in image:
            for c in far[image[x]]:
                shared[c] += 1
    score = {c: n / math.sqrt(len(far[c])) for c, n in shared.items() if c not in taken}
    if len(score) < 2:
        return next(iter(score), None)
    values = list(score.values())
    best = max(score, key=score.__getitem__)
    top = score.pop(best)
    gap = top - max(score.values())
    mean = math.fsum(values) / len(values)
    sigma = math.sqrt(sum((s - mean) ** 2 for s in values) / (len(values) - 1))
    return best if gap > TIE * top and gap >= THETA * sigma else None


def by_products(target: Any, source: Any, seeds: Any) -> tuple[Any, int]:
    """Free source rows times mapped columns, P, mapped target rows times free columns: SciPy's sparse product."""
    import numpy as np

    a, b = (graph.adjacency().astype(np.float64) for graph in (source, target))
    image = np.full(source.n_nodes, -1, dtype=np.int32)
    image[seeds[0]] = seeds[1]
    n_passes, new = 0, 1
    while new:
        mapped, free = np.flatnonzero(image >= 0), np.flatnonzero(image < 0)
        open_ = np.setdiff1d(np.arange(target.n_nodes), image[mapped])
        shared = (a[free][:, mapped] @ b[image[mapped]][:, open_]).tocsr()
        forth = row_winners(shared, np.sqrt(target.degree[open_]))
        back = row_winners(shared.T.tocsr(), np.sqrt(source.degree[free]))
        row = np.flatnonzero(forth >= 0)
        row = row[back[forth[row]] == row]
        image[free[row]] = open_[forth[row]]
        new = len(row)
        n_passes += 1
    return image, n_passes


def row_winners(shared: Any, root: Any) -> Any:
    """The column that stands out in each row, -1 where none does."""
    import numpy as np

    length = np.diff(shared.indptr)
    rows = np.flatnonzero(length)
    start, length = shared.indptr[rows], length[rows]
    score = shared.data / root[shared.indices]
    row = np.repeat(np.arange(len(rows)), length)
    top = np.maximum.reduceat(score, start) if len(rows) else np.zeros(0)
    at_top = np.flatnonzero(score == top[row])
    column = np.full(len(rows), -1)
    column[row[at_top]] = shared.indices[at_top]
    below = np.where(score == top[row], 0.0, score)
    second = np.maximum.reduceat(below, start) if len(rows) else np.zeros(0)
    second[np.bincount(row[at_top], minlength=len(rows)) > 1] = np.inf  # two at the top
    mean = np.bincount(row, score, len(rows)) / length
    squares = np.bincount(row, (score - mean[row]) ** 2, len(rows))
    sigma = np.sqrt(squares / np.maximum(length - 1, 1))
    stands = (length == 1) | ((top - second > TIE * top) & (top - second >= THETA * sigma))
    winner = np.full(shared.shape[0], -1)
    winner[rows[stands]] = column[stands]
    return winner


# --- races -----------------------------------------------------------------------------------------------

SYNCHRONOUS = named("propagation", "Nar09", synchronous=True)
ATTACKS = {
    "Nar09": (named("propagation", "Nar09"), 1000),
    "Bumblebee": (named("propagation", "Bumblebee", theta=0.5), 100),
    "Grasshopper": (named("grasshopper", "Grasshopper"), 100),
    "Rematch": (named("rematch", "Rematch"), 100),
}
CASES: dict[str, Callable[[], Step]] = {
    "our pass": our_pass,
    "our pass, and the belief": lambda: ours(SYNCHRONOUS, "epinions", last=True),
    "a pass over dictionaries": lambda: peer(by_dictionaries, last=True),
    "a pass as sparse product": lambda: peer(by_products, last=True),
    "a pass in SQL": lambda: peer(by_sql, last=True),
    "our Nar09, synchronous": lambda: ours(SYNCHRONOUS, "epinions"),
    "our Nar09": lambda: ours(named("propagation", "Nar09"), "epinions"),
    "dictionaries": lambda: peer(by_dictionaries, last=False),
    "sparse product": lambda: peer(by_products, last=False),
    "SQL": lambda: peer(by_sql, last=False),
    "one thread": lambda: ours(SYNCHRONOUS, "slashdot"),
    "two threads": lambda: ours(named("propagation", "Nar09", synchronous=True, threads=2), "slashdot"),
    "Rematch, a million": large,
    "ten million edges": load,
}
for _network in ("epinions", "slashdot"):
    for _name, (_make, _seeds) in ATTACKS.items():
        CASES[f"{_name}, {_network}, {_seeds}"] = lambda make=_make, network=_network, seeds=_seeds: ours(
            make, network, n_seeds=seeds
        )
RACES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "pass": (
        ("our pass", "our pass, and the belief"),
        ("a pass over dictionaries", "a pass as sparse product", "a pass in SQL"),
    ),
    "nar09": (("our Nar09, synchronous", "our Nar09"), ("dictionaries", "sparse product", "SQL")),
    "threads": (("one thread",), ("two threads",)),
    "attacks": (tuple(name for name in CASES if name.split(",")[-1].strip().isdigit()), ()),
    "large": (("Rematch, a million",), ()),
    "load": (("ten million edges",), ()),
}


@dataclass(frozen=True)
class Outcome:
    """What one case took and found; seconds are infinite where it was stopped or failed, and `why` says which."""

    seconds: float
    wall: float = math.nan
    peak_mib: float = math.nan
    base_mib: float = math.nan
    found: dict[str, float] | None = None
    why: str = ""


def peak() -> float:
    """Peak memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_here(name: str) -> None:
    """Runs one case in this process and prints its outcome as JSON."""
    step = CASES[name]()
    base = peak()
    start, clock = time.process_time(), time.perf_counter()
    result = step()
    seconds, wall = time.process_time() - start, time.perf_counter() - clock
    print(json.dumps({"seconds": seconds, "wall": wall, "peak_mib": peak(), "base_mib": base, "found": result}))


def once(name: str, *, limit: float) -> Outcome:
    """One case in a fresh process; libraries that thread by themselves get one thread."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(threads, "1")}
    command = [sys.executable, __file__, "--case", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False, env=environment)
    except subprocess.TimeoutExpired:
        return Outcome(math.inf, why=f"stopped after {limit:.0f} s")
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return Outcome(math.inf, why="failed")
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def measured(name: str, *, limit: float) -> Outcome:
    """The case, three times if it is short: the run with the median of seconds, largest peak."""
    outcomes = [once(name, limit=limit)]
    if outcomes[0].seconds < 5:
        outcomes += [once(name, limit=limit) for _ in range(2)]
    first = outcomes[0]
    return Outcome(
        statistics.median(outcome.seconds for outcome in outcomes),
        statistics.median(outcome.wall for outcome in outcomes),
        max(outcome.peak_mib for outcome in outcomes),
        first.base_mib,
        first.found,
        first.why,
    )


def show(cells: tuple[str, ...]) -> None:
    """One line of the table."""
    print("{:<8} {:<28} {:>8} {:>8} {:>7} {:>9} {:>9}  {}".format(*cells), flush=True)


def line(race: str, name: str, outcome: Outcome, ratio: float | None) -> None:
    """One case as a line."""
    items = (f"{key} {value:,.1f}".removesuffix(".0") for key, value in (outcome.found or {}).items())
    shown = "" if ratio is None else f"{ratio:.2f}"
    sizes = (f"{outcome.peak_mib:.0f}", f"{outcome.base_mib:.0f}")
    show((race, name, f"{outcome.seconds:.2f}", f"{outcome.wall:.2f}", shown, *sizes, outcome.why or ", ".join(items)))


def race_of(race: str, *, limit: float) -> Iterator[tuple[str, Outcome, float | None]]:
    """The cases of a race, and the ratio of each peer."""
    mine, peers = RACES[race]
    first: Outcome | None = None
    for name in (*mine, *peers):
        outcome = measured(name, limit=limit)
        ratio = None
        if first and name in peers:
            ratio = first.wall / outcome.wall if race == "threads" else outcome.seconds / first.seconds
        yield name, outcome, ratio
        first = first or outcome


def main() -> None:
    """Reads the command line, runs the races."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = [race for race in RACES if race != "large"]
    parser.add_argument("--only", nargs="*", choices=list(RACES), default=usual, help="races to run")
    parser.add_argument("--limit", type=float, default=3600, help="seconds by the clock after which a case is stopped")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        return run_here(options.case)
    if options.write:
        graph = power_law()
        return graph.take(graph.largest_component()).write(options.write)  # a list of links holds no others
    show(("race", "case", "CPU s", "wall s", "ratio", "peak MiB", "base MiB", "found"))
    for race in options.only:
        for name, outcome, ratio in race_of(race, limit=options.limit):
            line(race, name, outcome, ratio)
    return None


if __name__ == "__main__":
    main()
