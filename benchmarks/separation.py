"""Time of separating identities and of measuring what it is worth.

    python benchmarks/separation.py                     every race
    python benchmarks/separation.py --only separate     some of them

Times are of a busy or an idle machine as it is: CPU s are those of this process and its children, wall s those of the
clock. Loops are compiled before the clock starts, the median of three is shown, and a bar is what must not be exceeded.

    separate    every node of Slashdot (82,168 people, 504,230 ties) under several identities, by model; bar 1 CPU s
    anonymity   LTA_A of every node of Slashdot, against a product A @ A of sparse matrices; bar 3 times
    curve       `unmask study` of an adoption curve on Epinions: 10 levels, 4 perturbations with a seed set each, Nar09
                from 1000 seeds; 44 cells on two workers; bar 300 wall s
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PLAN = """
title = "Adoption of two identities on Epinions"
seeds = 4
measures = ["recall", "precision", "adopter_recall", "disclosure"]
[[datasets]]
name = "epinions"
use = "graphs.network"
with = { name = "epinions" }
[[protections]]
name = "none"
use = "none"
[[protections]]
name = "two identities"
use = "graphs.IdentitySeparation"
with = { model = "basic", identities = 2 }
grid = { adopters = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5] }
[[adversaries]]
name = "Nar09"
use = "graphs.Nar09"
knows = { node_overlap = 0.5, edge_overlap = 0.75, seeds = "random.25", n_seeds = 1000 }
"""

Line = tuple[str, float, float, str]


def cpu() -> float:
    """CPU seconds of this process and of the children that have ended."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def timed(step: Callable[[], object], *, times: int = 3) -> tuple[float, float]:
    """Medians of CPU and wall seconds."""
    found = []
    for _ in range(times):
        start, clock = cpu(), time.perf_counter()
        step()
        found.append((cpu() - start, time.perf_counter() - clock))
    return statistics.median(one[0] for one in found), statistics.median(one[1] for one in found)


def separate() -> Iterator[Line]:
    """Every node, by each model."""
    import numpy as np

    from unmask.graphs import Decoy, IdentitySeparation, datasets

    graph = datasets.network("slashdot")
    for model, y in (("basic", 2), ("basic", 5), ("realistic", 2), ("realistic_minimal", 2), ("best", 5), ("worst", 2)):
        protection = IdentitySeparation(model, y, adopters=1.0, minimum_degree=1)  # type: ignore[arg-type]
        spent = timed(lambda protection=protection: protection(graph, rng=np.random.default_rng(1)))  # type: ignore[misc]
        yield f"{model}, Y = {y}", *spent, f"bar 1.0: {_verdict(spent[0] < 1.0)}"
    decoy = Decoy(adopters=1.0, minimum_degree=1)
    yield "decoys", *timed(lambda: decoy(graph, rng=np.random.default_rng(1))), ""


def anonymity() -> Iterator[Line]:
    """LTA_A against A @ A."""
    import numpy as np

    from unmask.graphs import datasets
    from unmask.graphs.criteria import local_anonymity

    graph = datasets.network("slashdot")
    local_anonymity(graph.take(np.arange(100)))
    matrix = graph.adjacency().astype(np.float64)
    product = timed(lambda: matrix @ matrix)
    yield "A @ A", *product, ""
    ours = timed(lambda: local_anonymity(graph))
    yield "LTA_A", *ours, f"{ours[0] / product[0]:.2f} of A @ A, bar 3: {_verdict(ours[0] < 3 * product[0])}"


def curve() -> Iterator[Line]:
    """The plan above, by the command line."""
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "curve.toml"
        plan.write_text(PLAN)
        command = [
            sys.executable,
            "-m",
            "unmask",
            "study",
            str(plan),
            "-o",
            str(Path(folder) / "run"),
            "--workers",
            "2",
        ]
        spent = timed(lambda: subprocess.run(command, check=True, capture_output=True), times=1)
        yield "adoption curve, 44 cells", *spent, f"bar 300 wall s: {_verdict(spent[1] < 300)}"


def _verdict(holds: bool) -> str:
    return "held" if holds else "MISSED"


RACES: dict[str, Callable[[], Iterator[Line]]] = {"separate": separate, "anonymity": anonymity, "curve": curve}


def main() -> None:
    """Run the races asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(RACES), default=list(RACES), help="races to run")
    print(f"{'race':<10} {'case':<26} {'CPU s':>8} {'wall s':>8}  note")
    for race in parser.parse_args().only:
        for case, seconds, wall, note in RACES[race]():
            print(f"{race:<10} {case:<26} {seconds:>8.2f} {wall:>8.2f}  {note}", flush=True)


if __name__ == "__main__":
    main()
