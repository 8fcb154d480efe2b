"""Time and memory of measuring channels and of designing them, with peers in the same run.

    python benchmarks/channels.py                                  every race
    python benchmarks/channels.py --only curve program             some of them
    python benchmarks/channels.py --peers DIR --install-peers      qif too, in an environment of its own

Every case runs in a fresh process with one thread. Seconds are CPU seconds of the step alone; its input is made before,
and a case below five seconds runs three times, of which the median is shown. Peak memory is that of the whole process,
input and imports counted; "base" is what it was before the step. A ratio is the peer's seconds over ours.

    channel     a random dense channel of 5,000 secrets and 5,000 outputs: Bayes risk and I(X;Y)
    curve       rate-distortion function, 256 x 256, squared error, 30 slopes from 1 to 10,000
    program     the mechanism of largest error, 100 random points in the plane: the adversary's loss is the distance,
                the user's its square, a quarter of what a constant costs him is allowed; the peer solves one linear
                program, the average, ours the worst case among its optima too
    large       the same with 200 points
    posterior   a belief of 1,000,000 targets with 100 candidates each: built, nine measures without truth, three with
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The process that starts the cases must stay small: on Linux a child's peak counts from the size of its parent at the
# fork. So everything beyond the standard library is imported where it is used.

SEED = 0
SIZE = 5_000
SLOPES = 30
PEERS = {"qif": ("qif==1.6.0", "numpy")}
Step = Callable[[], dict[str, float]]


# --- channel ---------------------------------------------------------------------------------------------


def dense_channel() -> tuple[Any, Any]:
    """A prior and a channel of random numbers, rows divided by their sum."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    rows = rng.random((SIZE, SIZE))
    rows /= rows.sum(axis=1, keepdims=True)
    return rng.dirichlet(np.ones(SIZE)), rows


def our_channel() -> Step:
    """The two measures of a `Channel` that is there."""
    from unmask.channels.release import Channel

    prior, rows = dense_channel()
    channel = Channel(rows, prior)
    return lambda: {"risk": channel.bayes_risk(), "bits": channel.mutual_information()}


def our_channel_checked() -> Step:
    """The matrix checked and made a `Channel`, and the two measures."""
    from unmask.channels.release import Channel

    prior, rows = dense_channel()

    def step() -> dict[str, float]:
        channel = Channel(rows, prior)
        return {"risk": channel.bayes_risk(), "bits": channel.mutual_information()}

    return step


def our_channel_posterior() -> Step:
    """The matrix as a `Channel`, its posterior, two measures of it."""
    from unmask.channels.release import Channel
    from unmask.measures.error import bayes
    from unmask.measures.leakage import mutual_information

    prior, rows = dense_channel()

    def step() -> dict[str, float]:
        belief = Channel(rows, prior).posterior()
        return {"risk": bayes(belief).average, "bits": mutual_information(belief)}

    return step


def numpy_channel() -> Step:
    """The two formulas written down as they are."""
    import numpy as np

    prior, rows = dense_channel()

    def step() -> dict[str, float]:
        joint = prior[:, None] * rows
        p_y = joint.sum(axis=0)
        return {
            "risk": float(1 - joint.max(axis=0).sum()),
            "bits": float((joint * np.log2(rows / p_y)).sum()),
        }

    return step


def qif_channel() -> Step:
    """libqif through its wheel."""
    import numpy as np
    from qif import measure

    prior, rows = dense_channel()
    columns = np.asfortranarray(rows)

    def step() -> dict[str, float]:
        return {
            "risk": 1 - measure.bayes_vuln.posterior(prior, columns),
            "bits": measure.shannon.add_leakage(prior, columns),
        }

    return step


# --- curve -----------------------------------------------------------------------------------------------


def curve_problem() -> tuple[Any, Any, Any]:
    """Prior, distortion matrix, slopes."""
    import numpy as np

    x = np.linspace(0, 1, 256)
    prior = np.random.default_rng(SEED).dirichlet(np.ones(256))
    return prior, (x[:, None] - x) ** 2, np.geomspace(1, 1e4, SLOPES)


def our_curve() -> Step:
    """Interior point, certified gap 1e-6."""
    from unmask.channels.design import rate_distortion

    prior, distortion, slopes = curve_problem()

    def step() -> dict[str, float]:
        found = rate_distortion(prior, distortion, slopes=slopes, gap=1e-6)
        lagrangian = float((found.rate + slopes * found.distortion).sum())
        return {"sum of R + s D": lagrangian, "gap": float(found.gap.max())}

    return step


def blahut_arimoto() -> Step:
    """Blahut-Arimoto until the same certificate says 1e-4, each slope from a uniform output: started from the last
    slope's it takes far longer, since an output that was given up hardly comes back.
    """
    import numpy as np

    prior, distortion, slopes = curve_problem()

    def step() -> dict[str, float]:
        total, worst = 0.0, 0.0
        for slope in slopes:
            q = np.full(256, 1 / 256)
            kernel = np.exp(-slope * distortion)
            while True:
                mass = kernel @ q
                factor = kernel.T @ (prior / mass)
                gap = float(np.log(factor.max()))
                if gap <= 1e-4:
                    break
                q = q * factor
            total += float(-prior @ np.log(mass))
            worst = max(worst, gap)
        return {"sum of R + s D": total, "gap": worst}

    return step


# --- programs --------------------------------------------------------------------------------------------


def planar(n: int) -> tuple[Any, Any, Any, float]:
    """Prior, the adversary's loss, the user's, the budget."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    points, prior = rng.random((n, 2)), rng.dirichlet(np.ones(n))
    distance = np.sqrt(((points[:, None] - points) ** 2).sum(axis=-1))
    return prior, distance, distance**2, 0.25 * float((prior @ distance**2).min())


def our_program(n: int, method: str) -> Step:
    """`optimal_mechanism`."""
    from unmask.channels.design import optimal_mechanism

    problem = planar(n)

    def step() -> dict[str, float]:
        found = optimal_mechanism(*problem, method=method)  # type: ignore[arg-type]
        return {"average": found.privacy, "worst": found.worst, "gap": found.gap}

    return step


def highs(n: int) -> Step:
    """The average alone by HiGHS, dual simplex; writing the matrices down is not counted."""
    import numpy as np
    from scipy import sparse
    from scipy.optimize import linprog

    prior, loss, distortion, budget = planar(n)
    weighted = sparse.csr_array(-loss * prior)
    risk = sparse.hstack([sparse.kron(weighted, sparse.eye_array(n)), sparse.vstack([sparse.eye_array(n)] * n)])
    cost = sparse.csr_array(np.concatenate([(prior[:, None] * distortion).ravel(), np.zeros(n)])[None, :])
    upper = sparse.csc_array(sparse.vstack([risk, cost]))
    rows = sparse.kron(sparse.eye_array(n), np.ones((1, n)))
    equal = sparse.csc_array(sparse.hstack([rows, sparse.csr_array((n, n))]))
    objective = np.concatenate([np.zeros(n * n), -np.ones(n)])
    side = np.concatenate([np.zeros(n * n), [budget]])

    def step() -> dict[str, float]:
        found = linprog(objective, upper, side, equal, np.ones(n), method="highs-ds")
        return {"average": -found.fun}

    return step


# --- posterior -------------------------------------------------------------------------------------------


def our_posterior() -> Step:
    """Build it and measure it."""
    import numpy as np

    from unmask.measures.entropy import renyi_entropies
    from unmask.measures.leakage import leakages
    from unmask.measures.success import log_loss, rank, realised_success, success_probability
    from unmask.posterior import Posterior, equal_weights
    from unmask.truth import Truth

    n, width = 1_000_000, 100
    rng = np.random.default_rng(SEED)
    log_p = np.empty((n, width), dtype=np.float32)
    for start in range(0, n, 10_000):
        part = log_p[start : start + 10_000]
        rng.standard_normal(part.shape, dtype=np.float32, out=part)
        part -= np.log(np.exp(part).sum(axis=1, keepdims=True))
    candidate = rng.integers(0, n - width, n, dtype=np.int32)[:, None] + np.arange(width, dtype=np.int32)
    truth = Truth(candidate[np.arange(n), rng.integers(0, width, n)])

    def step() -> dict[str, float]:
        belief = Posterior(
            indptr=np.arange(0, n * width + 1, width),
            candidate=candidate.ravel(),
            log_probability=log_p.ravel(),
            unlisted=np.zeros(n),
            n_unlisted=np.zeros(n, dtype=np.int64),
            observation=np.arange(n),
            weight=equal_weights(n),
            n_candidates=n,
            log_prior=-float(np.log(n)),
            status="exact",
        )
        orders = renyi_entropies(belief)
        leaked = leakages(belief)
        success = success_probability.per_target(belief).mean()
        with_truth = [measure.per_target(belief, truth).mean() for measure in (realised_success, rank, log_loss)]
        return {
            "H1 bits": float(orders[1].mean()),
            "bits leaked": leaked.mutual_information_bits,
            "success": float(success),
            "rank": float(with_truth[1]),
        }

    return step


CASES: dict[str, Callable[[], Step]] = {
    "our channel": our_channel,
    "our channel, checked": our_channel_checked,
    "our channel by posterior": our_channel_posterior,
    "numpy": numpy_channel,
    "qif": qif_channel,
    "our curve": our_curve,
    "Blahut-Arimoto at gap 1e-4": blahut_arimoto,
    "our program": lambda: our_program(100, "auto"),
    "our program, whole": lambda: our_program(100, "full"),
    "HiGHS alone": lambda: highs(100),
    "our cuts": lambda: our_program(200, "cuts"),
    "HiGHS alone, 200": lambda: highs(200),
    "our posterior": our_posterior,
}
RACES = {
    "channel": (("our channel", "our channel, checked", "our channel by posterior"), ("numpy", "qif")),
    "curve": (("our curve",), ("Blahut-Arimoto at gap 1e-4",)),
    "program": (("our program", "our program, whole"), ("HiGHS alone",)),
    "large": (("our cuts",), ("HiGHS alone, 200",)),
    "posterior": (("our posterior",), ()),
}


@dataclass(frozen=True)
class Outcome:
    """What one case took and found; seconds is infinite where it ran past the limit or failed, and `why` says which."""

    seconds: float
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
    start = time.process_time()
    found = step()
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "peak_mib": peak(), "base_mib": base, "found": found}))


def once(name: str, *, python: str, limit: float) -> Outcome:
    """One case in a fresh process with one thread."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(threads, "1")}
    command = [python, __file__, "--case", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False, env=environment)
    except subprocess.TimeoutExpired:
        return Outcome(math.inf, why=f"stopped after {limit:.0f} s")
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return Outcome(math.inf, why="failed")
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def measured(name: str, *, python: str, limit: float) -> Outcome:
    """The case, three times if it is short: median seconds, largest peak."""
    outcomes = [once(name, python=python, limit=limit)]
    if outcomes[0].seconds < 5:
        outcomes += [once(name, python=python, limit=limit) for _ in range(2)]
    seconds = statistics.median(outcome.seconds for outcome in outcomes)
    first = outcomes[0]
    return Outcome(seconds, max(o.peak_mib for o in outcomes), first.base_mib, first.found, first.why)


def python_of(peer: str, folder: Path | None) -> str | None:
    """The interpreter that runs a case, None if it is a peer without an environment."""
    if peer not in PEERS:
        return sys.executable
    python = folder / peer / "bin" / "python" if folder else None
    return str(python) if python and python.exists() else None


def install_peers(folder: Path) -> None:
    """One environment for each peer, where there is none yet."""
    for peer, requirements in PEERS.items():
        if python_of(peer, folder) is None:
            subprocess.run([sys.executable, "-m", "venv", folder / peer], check=True)
            subprocess.run([folder / peer / "bin" / "python", "-m", "pip", "install", "-q", *requirements], check=True)


def show(cells: tuple[str, ...]) -> None:
    """One line of the table."""
    print("{:<10} {:<27} {:>9} {:>7} {:>9} {:>9}  {}".format(*cells), flush=True)


def line(race: str, name: str, outcome: Outcome, ratio: float | None) -> None:
    """One case as a line."""
    found = outcome.why or ", ".join(f"{key} {value:.8g}" for key, value in (outcome.found or {}).items())
    shown = "" if ratio is None else f"{ratio:.2f}"
    show((race, name, f"{outcome.seconds:.3f}", shown, f"{outcome.peak_mib:.0f}", f"{outcome.base_mib:.0f}", found))


def main() -> None:
    """Reads the command line, runs the races."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(RACES), default=list(RACES), help="races to run")
    parser.add_argument("--peers", type=Path, help="folder with an environment for each peer")
    parser.add_argument("--install-peers", action="store_true", help="make the environments that --peers lacks")
    parser.add_argument("--limit", type=float, default=600, help="seconds by the clock after which a case is stopped")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        return run_here(options.case)
    if options.install_peers:
        if not options.peers:
            parser.error("--install-peers needs --peers DIR, where the environments go")
        install_peers(options.peers)
    show(("race", "case", "CPU s", "ratio", "peak MiB", "base MiB", "found"))
    for race in options.only:
        ours, peers = RACES[race]
        first: Outcome | None = None
        for name in (*ours, *peers):
            python = python_of(name, options.peers)
            if python is None:
                continue
            outcome = measured(name, python=python, limit=options.limit)
            line(race, name, outcome, outcome.seconds / first.seconds if first and name in peers else None)
            first = first or outcome
    return None


if __name__ == "__main__":
    main()
