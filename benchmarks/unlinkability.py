"""Time and memory of evaluating an adversary's partition, with peers and the paper's own algorithms in the same run.

    python benchmarks/unlinkability.py                                  n = 1,000,000 and 10,000,000
    python benchmarks/unlinkability.py --items 1000000
    python benchmarks/unlinkability.py --peers DIR --install-peers      scikit-learn, er-evaluation and clusim too

Needs no data. A case draws the labels first; its seconds are those from two arrays of integer labels to the result, the
table included. How cases are run and shown: see harness.py.

Data: "records", subjects of geometric size, four items on average, 10 % of the items moved to a cluster drawn at
random; "square", sqrt(n) subjects and sqrt(n) clusters, independent; "scattered", 1,000 subjects, every item in a
cluster drawn from n. er-evaluation's B3 is a mean over subjects. The paper's algorithms run on Python sets, in
floating point, one alpha and beta; their exact twin in fractions is what the tests compare with.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import harness
from harness import Case, Found, Race, Step

SEED = 11
SMALL, MEDIUM = (400, 4000), 10_000
ALPHAS = (0.0, 1 / 3, 0.5, 2 / 3, 1.0)
BETAS = tuple(k / 20 for k in range(2, 21))
PEERS = {"sklearn": ("scikit-learn==1.9.1",), "er": ("er-evaluation==2.3.0",), "clusim": ("clusim==0.4",)}

Labels = Any
"""(n,) int32."""


# --- the data --------------------------------------------------------------------------------------------


def labels(shape: str, n: int) -> tuple[Labels, Labels]:
    """Subjects and the adversary's clusters."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    if shape == "records":
        first = rng.random(n) < 0.25
        truth = np.cumsum(first, dtype=np.int32)
        guess = truth.copy()
        moved_items = np.flatnonzero(rng.random(n) < 0.1)
        guess[moved_items] = rng.integers(0, int(truth[-1]) + 1, len(moved_items), dtype=np.int32)
        order = rng.permutation(n)
        return truth[order], guess[order]
    subjects, clusters = (math.isqrt(n), math.isqrt(n)) if shape == "square" else (1000, n)
    return rng.integers(0, subjects, n, dtype=np.int32), rng.integers(0, clusters, n, dtype=np.int32)


# --- the cases -------------------------------------------------------------------------------------------


def our_risk(truth: Labels, guess: Labels) -> Step:
    """Errors, curves and slopes of all subjects and of the whole, alpha 1/2, beta 0.8."""
    from unmask.core.partition import Partition
    from unmask.measures.clustering import Contingency, evaluate

    def step() -> Found:
        evaluation = evaluate(Contingency.of(Partition(truth), Partition(guess)))
        return {
            "misses": float(evaluation.miss_total),
            "includes": float(evaluation.include_total),
            "overall slope": float(evaluation.slope_overall),
        }

    return step


def our_grid(truth: Labels, guess: Labels) -> Step:
    """The same for 5 alphas and 19 betas."""
    from unmask.core.partition import Partition
    from unmask.measures.clustering import Contingency, evaluate

    def step() -> Found:
        met = Contingency.of(Partition(truth), Partition(guess))
        evaluations = [evaluate(met, alpha=alpha, beta=beta) for alpha in ALPHAS for beta in BETAS]
        overall = [evaluation.slope_overall for evaluation in evaluations]
        return {
            "slopes": sum(evaluation.risk_slope.size for evaluation in evaluations),
            "mean overall slope": sum(overall) / len(overall),
        }

    return step


def our_companions(truth: Labels, guess: Labels) -> Step:
    """All companion measures but the transfer distance, per subject and for the whole."""
    from unmask.core.partition import Partition
    from unmask.measures.clustering import clustering_metrics
    from unmask.measures.clustering.overlap import overlap

    def step() -> Found:
        metrics = clustering_metrics(overlap(Partition(truth), Partition(guess)))
        return {
            "ARI": metrics.adjusted_rand_index,
            "B3 precision": metrics.subject_precision,
            "VOI": metrics.variation_of_information,
        }

    return step


def oracle_of_the_tests() -> Any:
    """tests/measures/clustering/literal.py."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.measures.clustering import literal

    return literal


def literal(truth: Labels, guess: Labels) -> Step:
    """The paper's algorithms on Python sets."""
    oracle = oracle_of_the_tests()
    solution, adversary = truth.tolist(), guess.tolist()

    def step() -> Found:
        misses, includes, _, _, overall = oracle.plain(solution, adversary, 0.5, 0.8)
        return {"misses": misses, "includes": includes, "overall slope": overall}

    return step


def exact(truth: Labels, guess: Labels) -> Step:
    """The same with fractions, ties exact; slower, as every item has a weight."""
    oracle = oracle_of_the_tests()
    solution, adversary = truth.tolist(), guess.tolist()

    def step() -> Found:
        evaluation = oracle.evaluate(solution, [(adversary, 1)])
        return {
            "misses": float(evaluation.miss_total),
            "includes": float(evaluation.include_total),
            "overall slope": evaluation.slope_overall,
        }

    return step


def sklearn_rand(truth: Labels, guess: Labels) -> Step:
    """scikit-learn's adjusted Rand index."""
    from sklearn.metrics import adjusted_rand_score

    return lambda: {"ARI": float(adjusted_rand_score(truth, guess))}


def er_bcubed(truth: Labels, guess: Labels) -> Step:
    """er-evaluation's B-cubed precision."""
    import pandas as pd
    from er_evaluation.metrics import b_cubed_precision

    reference, prediction = pd.Series(truth), pd.Series(guess)
    return lambda: {"B3 precision": float(b_cubed_precision(prediction, reference))}


def er_errors(truth: Labels, guess: Labels) -> Step:
    """er-evaluation's missing and extra links per true cluster."""
    import pandas as pd
    from er_evaluation.error_analysis import error_metrics

    reference, prediction = pd.Series(truth), pd.Series(guess)

    def step() -> Found:
        return {"clusters rated": len(error_metrics(prediction, reference))}

    return step


def clusim_voi(truth: Labels, guess: Labels) -> Step:
    """clusim's variation of information."""
    from clusim.clustering import Clustering
    from clusim.sim import vi

    reference, prediction = truth.tolist(), guess.tolist()

    def step() -> Found:
        return {"VOI": float(vi(*(Clustering().from_membership_list(labels) for labels in (reference, prediction))))}

    return step


OURS: dict[str, tuple[str, Callable[[Labels, Labels], Step]]] = {
    "risk": ("errors, curves, slopes; one alpha, one beta", our_risk),
    "grid": ("the same for 5 alphas x 19 betas", our_grid),
    "companions": ("ARI, B3, VOI and others", our_companions),
}
"""What a race shows, and what it runs."""

RIVALS: dict[str, tuple[str, Callable[[Labels, Labels], Step]]] = {
    "the paper's algorithms": ("", literal),
    "the same in fractions": ("", exact),
    "scikit-learn, ARI": ("sklearn", sklearn_rand),
    "er-evaluation, B3 precision": ("er", er_bcubed),
    "er-evaluation, error metrics": ("er", er_errors),
    "clusim, VOI": ("clusim", clusim_voi),
}
"""The environment that a peer needs, and what it runs."""


def case(name: str, shape: str, n: int) -> Step:
    """A case on labels of a shape; a small problem is solved before, so that everything is imported."""
    prepare = (OURS | RIVALS)[name][1]
    prepare(*labels("square", 100))()
    return prepare(*labels(shape, n))


# --- races -----------------------------------------------------------------------------------------------


def race(group: str, shape: str, n: int, *rivals: str) -> Race:
    """One case of ours, and its peers."""
    peers = tuple(Case(name, case, (name, shape, n), peer=RIVALS[name][0]) for name in rivals)
    ours = Case("ours", case, (group, shape, n), long=n > 1_000_000)
    return Race(group, f"{group}, {shape}, n = {n:,}", (ours,), peers, shows=OURS[group][0])


def races(chosen: argparse.Namespace) -> Iterator[Race]:
    """Compare small problems with the paper's algorithms, and large ones with packages."""
    for n in SMALL:
        for shape in ("records", "square"):
            yield race("risk", shape, n, "the paper's algorithms", "the same in fractions")
    yield race("companions", "records", MEDIUM, "clusim, VOI")
    large = ("scikit-learn, ARI", "er-evaluation, B3 precision", "er-evaluation, error metrics")
    for n in chosen.items:
        for shape in ("records", "square", "scattered"):
            yield race("risk", shape, n)
            if n <= chosen.grid_items:
                yield race("grid", shape, n)
        yield race("companions", "records", n, *(large if n <= chosen.peer_items else ()))


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options other than the races."""
    parser.add_argument("--items", type=int, nargs="*", default=[1_000_000, 10_000_000], help="numbers of items")
    parser.add_argument("--grid-items", type=int, default=1_000_000, help="run the grid up to this many items")
    parser.add_argument("--peer-items", type=int, default=1_000_000, help="run peers up to this many items")


if __name__ == "__main__":
    harness.main(__doc__, races, only=tuple(OURS), peers=PEERS, options=options, limit=300)
