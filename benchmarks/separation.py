"""Time of separating identities and of measuring what it is worth, on Slashdot (82,168 people, 504,230 ties).

    python benchmarks/separation.py                     every race
    python benchmarks/separation.py --only separate     some of them

    separate    every node under several identities, by model; at most 1 CPU s
    anonymity   LTA_A of every node; at most three times a product A @ A of sparse matrices
    curve       `unmask study` of an adoption curve on Epinions: 10 levels, 4 perturbations with a seed set each, Nar09
                from 1000 seeds; 44 cells on two workers; at most 300 s by the clock

Needs `UNMASK_DATA`. Loops are compiled before the clock starts. How cases are run and shown: see harness.py.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import harness
from harness import Case, Found, Race, Step

PLAN = """
title = "Adoption of two identities on Epinions"
seeds = 4
measures = ["recall", "precision", "adopter_recall", "disclosure"]
[[data]]
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
knows = { node_overlap = 0.5, edge_overlap = 0.75, largest_component = true, seeds = "random.25", n_seeds = 1000 }
"""

MODELS = (("basic", 2), ("basic", 5), ("realistic", 2), ("realistic_minimal", 2), ("best", 5), ("worst", 2))


def separate(model: str, identities: int) -> Step:
    """Every node, by one model."""
    import numpy as np

    from unmask.graphs import Decoy, IdentitySeparation, datasets

    if model == "decoy":
        protection = Decoy(adopters=1.0, minimum_degree=1)
    else:
        protection = IdentitySeparation(model, identities, adopters=1.0, minimum_degree=1)
    protection(datasets.barabasi_albert(200, 4, rng=np.random.default_rng(0)), rng=np.random.default_rng(0))
    graph = datasets.network("slashdot")

    def step() -> Found:
        result = protection(graph, rng=np.random.default_rng(1))
        return {"nodes": result.release.n_nodes, "ties": result.release.n_edges}

    return step


def anonymity() -> Step:
    """LTA_A of every node."""
    import numpy as np

    from unmask.graphs import datasets
    from unmask.graphs.criteria import local_anonymity

    graph = datasets.network("slashdot")
    local_anonymity(graph.take(np.arange(100)))
    return lambda: {"mean": float(np.mean(local_anonymity(graph)))}


def product() -> Step:
    """A @ A."""
    import numpy as np

    from unmask.graphs import datasets

    matrix = datasets.network("slashdot").adjacency().astype(np.float64)
    return lambda: {"entries": (matrix @ matrix).nnz}


def curve() -> Step:
    """The plan above, by the command line."""
    folder = tempfile.TemporaryDirectory()
    plan = Path(folder.name) / "curve.toml"
    plan.write_text(PLAN)
    command = [sys.executable, "-m", "unmask", "study", str(plan), "-o", f"{folder.name}/run", "--workers", "2"]

    def step() -> Found:
        with folder:
            subprocess.run(command, check=True, capture_output=True)
        return {"cells": 44}

    return step


def races(_: argparse.Namespace) -> Iterable[Race]:
    """All of them."""
    for model, identities in (*MODELS, ("decoy", 2)):
        title = "decoys" if model == "decoy" else f"{model}, {identities} identities"
        ours = Case("ours", separate, (model, identities), at_most=0.0 if model == "decoy" else 1.0)
        yield Race("separate", f"{title}, Slashdot", (ours,), shows="every node separated")
    peer = Case("A @ A, scipy", product, ratio_at_least=1 / 3)
    yield Race("anonymity", "LTA_A, Slashdot", (Case("ours", anonymity),), (peer,), shows="of every node")
    ours = Case("ours", curve, long=True, at_most=300.0)
    yield Race("curve", "adoption curve, Epinions", (ours,), shows="Nar09 from 1000 seeds, two workers", clock="wall")


if __name__ == "__main__":
    harness.main(__doc__, races, only=("separate", "anonymity", "curve"))
