"""Time and memory of evaluating an adversary's partition, with peers and the paper's own algorithms in the same run.

    python benchmarks/unlinkability.py                                  n = 1,000,000 and 10,000,000
    python benchmarks/unlinkability.py --items 1000000
    python benchmarks/unlinkability.py --peers DIR --install-peers      scikit-learn, er-evaluation and clusim too

Needs no data. Every case runs in a fresh process that draws the labels first. Seconds are CPU seconds on all threads
from two arrays of integer labels to the result, the table included; a case below a tenth of a second is repeated and
the fastest shown. Peak memory is that of the whole process; data is the size of the two arrays.

Data: "records", subjects of geometric size, four items on average, 10 % of the items moved to a cluster drawn at
random; "square", sqrt(n) subjects and sqrt(n) clusters, independent; "scattered", 1,000 subjects, every item in a
cluster drawn from n. er-evaluation's B3 is a mean over subjects. The paper's algorithms run on Python sets, in
floating point, one alpha and beta; their exact twin in fractions is what the tests compare with.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The process that starts the cases must stay small: on Linux a child's peak counts from the size of its parent at the
# fork. So everything beyond the standard library is imported where it is used.

SEED = 11
SMALL, MEDIUM = (400, 4000), 10_000
ALPHAS = (0.0, 1 / 3, 0.5, 2 / 3, 1.0)
BETAS = tuple(k / 20 for k in range(2, 21))
PEERS = {"sklearn": ("scikit-learn==1.9.1",), "er": ("er-evaluation==2.3.0",), "clusim": ("clusim==0.4",)}

Found = dict[str, float]
Step = Callable[[], Found]
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
        moved = np.flatnonzero(rng.random(n) < 0.1)
        guess[moved] = rng.integers(0, int(truth[-1]) + 1, len(moved), dtype=np.int32)
        order = rng.permutation(n)
        return truth[order], guess[order]
    subjects, clusters = (math.isqrt(n), math.isqrt(n)) if shape == "square" else (1000, n)
    return rng.integers(0, subjects, n, dtype=np.int32), rng.integers(0, clusters, n, dtype=np.int32)


# --- the cases -------------------------------------------------------------------------------------------


def our_risk(truth: Labels, guess: Labels) -> Step:
    """Errors, curves and slopes of all subjects and of the whole, alpha 1/2, beta 0.8."""
    from unmask.measures.unlinkability.evaluate import evaluate
    from unmask.view import Partition

    def step() -> Found:
        of = evaluate(Partition(truth), Partition(guess))
        return {
            "misses": float(of.miss_total),
            "includes": float(of.include_total),
            "overall slope": float(of.slope_overall),
        }

    return step


def our_grid(truth: Labels, guess: Labels) -> Step:
    """The same for 5 alphas and 19 betas."""
    from unmask.measures.unlinkability.evaluate import evaluate
    from unmask.view import Partition

    def step() -> Found:
        of = evaluate(Partition(truth), Partition(guess), alpha=ALPHAS, beta=BETAS)
        return {"slopes": of.slope.size, "mean overall slope": float(of.slope_overall.mean())}

    return step


def our_companions(truth: Labels, guess: Labels) -> Step:
    """All companion measures but the transfer distance, per subject and for the whole."""
    from unmask.measures.unlinkability.companions import companions
    from unmask.view import Partition

    def step() -> Found:
        of = companions(Partition(truth), Partition(guess))
        return {"ARI": of.adjusted_rand, "B3 precision": of.bcubed_subjects.precision, "VOI": of.voi}

    return step


def oracle_of_the_tests() -> Any:
    """verification/unlinkability_literal.py."""
    path = Path(__file__).parents[1] / "verification" / "unlinkability_literal.py"
    spec = importlib.util.spec_from_file_location("unlinkability_literal", path)
    assert spec is not None
    assert spec.loader is not None
    oracle = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = oracle
    spec.loader.exec_module(oracle)
    return oracle


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
        of = oracle.evaluate(solution, [(adversary, 1)])
        return {
            "misses": float(of.miss_total),
            "includes": float(of.include_total),
            "overall slope": of.slope_overall,
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
        return {"VOI": float(vi(*(Clustering().from_membership_list(one) for one in (reference, prediction))))}

    return step


CASES: dict[str, tuple[str, Callable[[Labels, Labels], Step]]] = {
    "one alpha, one beta": ("", our_risk),
    "5 alphas x 19 betas": ("", our_grid),
    "companions": ("", our_companions),
    "the paper's algorithms": ("", literal),
    "the same in fractions": ("", exact),
    "scikit-learn, ARI": ("sklearn", sklearn_rand),
    "er-evaluation, B3 precision": ("er", er_bcubed),
    "er-evaluation, error metrics": ("er", er_errors),
    "clusim, VOI": ("clusim", clusim_voi),
}
"""The environment that a case needs, and what it runs."""


# --- running ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What one case took and found; seconds is infinite where it ran past the limit or failed, and `why` says which."""

    seconds: float
    peak_mib: float = math.nan
    found: Found | None = None
    why: str = ""


def run_here(name: str, shape: str, n: int) -> None:
    """Runs one case in this process and prints its outcome as JSON."""
    step = CASES[name][1](*labels(shape, n))
    start = time.process_time()
    found = step()
    seconds = time.process_time() - start
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for _ in range(20 if seconds < 0.1 else 0):
        start = time.process_time()
        step()
        seconds = min(seconds, time.process_time() - start)
    print(json.dumps({"seconds": seconds, "peak_mib": peak_mib, "found": found}))


def once(name: str, shape: str, n: int, *, python: str, limit: float) -> Outcome:
    """One case in a fresh process."""
    command = [python, __file__, "--case", name, shape, str(n)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Outcome(math.inf, why=f"stopped after {limit:.0f} s")
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return Outcome(math.inf, why="failed")
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def python_of(peer: str, folder: Path | None) -> str | None:
    """The interpreter that runs a peer, None if the peer has no environment."""
    if not peer:
        return sys.executable
    python = folder / peer / "bin" / "python" if folder else None
    return str(python) if python and python.exists() else None


def install_peers(folder: Path) -> None:
    """One environment for each peer, where there is none yet."""
    for peer, requirements in PEERS.items():
        if python_of(peer, folder) is None:
            subprocess.run([sys.executable, "-m", "venv", folder / peer], check=True)
            subprocess.run([folder / peer / "bin" / "python", "-m", "pip", "install", "-q", *requirements], check=True)


def verdict(ours: Outcome, peer: Outcome) -> str:
    """Whether both found the same where both say something."""
    if peer.found is None or ours.found is None:
        return peer.why or ours.why
    shared = [key for key in peer.found if key in ours.found]
    differ = [key for key in shared if not math.isclose(ours.found[key], peer.found[key], rel_tol=1e-9, abs_tol=1e-9)]
    if differ:
        return "; ".join(f"{key} {peer.found[key]:.6g}" for key in differ)
    return "same " + ", ".join(shared) if shared else ", ".join(f"{key} {x:,.6g}" for key, x in peer.found.items())


def show(cells: tuple[str, ...]) -> None:
    """One line of the table."""
    print("{:<51} {:>9} {:<30} {:>9} {:>7} {:>9} {:>9}  {}".format(*cells), flush=True)


def race(name: str, shape: str, n: int, rivals: tuple[str, ...], options: argparse.Namespace) -> None:
    """One case of ours, and one line for each peer that has an environment."""
    ours = once(name, shape, n, python=sys.executable, limit=options.limit)
    head = (f"{name}, {shape}, n = {n:,}", seconds(ours, options.limit))
    tail = (f"{ours.peak_mib:.0f}", f"{8 * n / 2**20:.1f}")
    show((*head, "", "", "", *tail, ours.why or ", ".join(f"{key} {x:,.6g}" for key, x in (ours.found or {}).items())))
    for rival in rivals:
        python = python_of(CASES[rival][0], options.peers)
        if python is None:
            show(("", "", rival, "-", "-", "", "", "not installed; see --peers"))
            continue
        theirs = once(rival, shape, n, python=python, limit=options.limit)
        ratio = f"{theirs.seconds / ours.seconds:.1f}" if math.isfinite(theirs.seconds) else "-"
        peak = f"{theirs.peak_mib:.0f}" if math.isfinite(theirs.seconds) else "-"
        show(("", "", rival, seconds(theirs, options.limit), ratio, peak, "", verdict(ours, theirs)))


def seconds(outcome: Outcome, limit: float) -> str:
    """Seconds, or how many were not enough."""
    if math.isfinite(outcome.seconds):
        return f"{outcome.seconds:.4f}" if outcome.seconds < 0.1 else f"{outcome.seconds:.2f}"
    return f">{limit:.0f}" if outcome.why.startswith("stopped") else "-"


def main() -> None:
    """Reads the command line, runs the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, nargs="*", default=[1_000_000, 10_000_000], help="numbers of items")
    parser.add_argument(
        "--grid-items", type=int, default=1_000_000, help="run 5 alphas x 19 betas up to this many items"
    )
    parser.add_argument("--peers", type=Path, help="folder with an environment for each peer")
    parser.add_argument("--install-peers", action="store_true", help="make the environments that --peers lacks")
    parser.add_argument("--peer-items", type=int, default=1_000_000, help="run peers up to this many items")
    parser.add_argument("--limit", type=float, default=300, help="seconds by the clock after which a case is stopped")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        return run_here(options.case[0], options.case[1], int(options.case[2]))
    if options.install_peers:
        if not options.peers:
            parser.error("--install-peers needs --peers DIR, where the environments go")
        install_peers(options.peers)
    show(("case", "ours s", "peer", "peer s", "ratio", "MiB", "data MiB", "found (a peer's where it differs)"))
    for n in SMALL:
        for shape in ("records", "square"):
            race("one alpha, one beta", shape, n, ("the paper's algorithms", "the same in fractions"), options)
    race("companions", "records", MEDIUM, ("clusim, VOI",), options)
    large = ("scikit-learn, ARI", "er-evaluation, B3 precision", "er-evaluation, error metrics")
    for n in options.items:
        for shape in ("records", "square", "scattered"):
            race("one alpha, one beta", shape, n, (), options)
            if n <= options.grid_items:
                race("5 alphas x 19 betas", shape, n, (), options)
        race("companions", "records", n, large if n <= options.peer_items else (), options)
    return None


if __name__ == "__main__":
    main()
