"""Time and memory of measuring channels and of designing them, with peers in the same run.

    python benchmarks/channels.py                                  every race
    python benchmarks/channels.py --only curve program             some of them
    python benchmarks/channels.py --peers DIR --install-peers      qif too, in an environment of its own

How cases are run and shown: see harness.py.

    channel     random dense channels of 5,000 secrets and outputs, and of 3,000: Bayes risk and I(X;Y)
    sparse      a channel of 20,000 secrets and 500,000 outputs with 60,000 entries: Bayes risk, against scipy alone
    neighbors   100 secrets on a grid behind noise, 20,000 samples, 5,000 fresh ones: error of the 10 nearest neighbors
    curve       rate-distortion function, 256 x 256, squared error, 30 slopes from 1 to 10,000
    program     the mechanism of largest error, 100 random points in the plane: the adversary's loss is the distance,
                the user's its square, a quarter of what a constant costs him is allowed; the peer solves one linear
                program, the average, ours the worst case among its optima too
    large       the same with 200 points
    posterior   a belief of 1,000,000 targets with 100 candidates each: built, nine measures without truth, three with
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

import harness
from channels_belief import PASSES, numpy_posterior, our_posterior
from harness import Case, Found, Race, Step

SEED = 0
SIZE = 5_000
SLOPES = 30
PEERS = {"qif": ("qif==1.6.0", "numpy"), "sklearn": ("scikit-learn==1.9.1",)}


# --- channel ---------------------------------------------------------------------------------------------


def dense_channel(size: int = SIZE) -> tuple[Any, Any]:
    """A prior and a channel of random numbers, rows divided by their sum."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    rows = rng.random((size, size))
    rows /= rows.sum(axis=1, keepdims=True)
    return rng.dirichlet(np.ones(size)), rows


def our_channel() -> Step:
    """The two measures of a `Channel` that is there."""
    from unmask.channels.channel import Channel

    prior, rows = dense_channel()
    channel = Channel(rows, prior)
    return lambda: {"risk": channel.bayes_risk(), "bits": channel.mutual_information()}


def our_channel_checked() -> Step:
    """The matrix checked and made a `Channel`, and the two measures."""
    from unmask.channels.channel import Channel

    prior, rows = dense_channel()

    def step() -> Found:
        channel = Channel(rows, prior)
        return {"risk": channel.bayes_risk(), "bits": channel.mutual_information()}

    return step


def our_channel_posterior(size: int = SIZE) -> Step:
    """The matrix as a `Channel`, its posterior, two measures of it."""
    from unmask.channels.channel import Channel
    from unmask.measures.error import bayes
    from unmask.measures.leakage import mutual_information

    prior, rows = dense_channel(size)

    def step() -> Found:
        belief = Channel(rows, prior).posterior()
        return {"risk": bayes(belief).average, "bits": mutual_information(belief)}

    return step


def numpy_channel(size: int = SIZE) -> Step:
    """The two formulas written down as they are."""
    import numpy as np

    prior, rows = dense_channel(size)

    def step() -> Found:
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

    def step() -> Found:
        return {
            "risk": 1 - measure.bayes_vuln.posterior(prior, columns),
            "bits": measure.shannon.add_leakage(prior, columns),
        }

    return step


# --- sparse ----------------------------------------------------------------------------------------------


def sparse_joint() -> Any:
    """Counts of three outputs for each secret."""
    import numpy as np
    from scipy.sparse import csr_array

    rng = np.random.default_rng(SEED)
    index = (np.repeat(np.arange(20_000), 3), rng.integers(500_000, size=60_000))
    return csr_array((rng.integers(1, 9, size=60_000).astype(float), index), shape=(20_000, 500_000))


def our_sparse() -> Step:
    """`Channel.bayes_risk` of a sparse channel."""
    from unmask.channels.channel import Channel

    joint = sparse_joint()
    channel = Channel.from_joint(joint / joint.sum())
    return lambda: {"risk": channel.bayes_risk()}


def scipy_sparse() -> Step:
    """The formula on the joint, which is there."""
    joint = sparse_joint()
    joint = joint / joint.sum()
    return lambda: {"risk": float(1 - joint.max(axis=0).sum())}


# --- neighbors -------------------------------------------------------------------------------------------


def noisy_grid() -> tuple[Any, Any, Any, Any]:
    """Secrets and outputs to learn from, and fresh ones: cells of a 10 x 10 grid behind rounded Laplace noise."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    x = rng.integers(100, size=25_000)
    y = np.stack([x // 10, x % 10], axis=1) + np.round(rng.laplace(size=(25_000, 2)))
    return x[:20_000], y[:20_000], x[20_000:], y[20_000:]


def our_neighbors() -> Step:
    """The held-out error of `NearestNeighborAttack`: outputs that are equally far share the last places."""
    from unmask.channels import NearestNeighborAttack, Samples
    from unmask.core.truth import Truth
    from unmask.measures import realized_success

    x, y, fresh_x, fresh_y = noisy_grid()
    attack, trained, truth = NearestNeighborAttack(k=10), Samples(x, y, n_x=100), Truth(fresh_x)
    hits = realized_success.realized
    assert hits is not None
    return lambda: {"error": 1.0 - float(hits(attack(fresh_y, trained), truth).mean())}


def sklearn_neighbors() -> Step:
    """scikit-learn's classifier, fitted and scored: outputs that are equally far come in the order of the samples."""
    from sklearn.neighbors import KNeighborsClassifier

    x, y, fresh_x, fresh_y = noisy_grid()
    return lambda: {"error": float(1 - KNeighborsClassifier(10).fit(y, x).score(fresh_y, fresh_x))}


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

    def step() -> Found:
        curve = rate_distortion(prior, distortion, slopes=slopes, gap=1e-6)
        lagrangian = float((curve.rate + slopes * curve.distortion).sum())
        return {"sum of R + s D": lagrangian, "gap": float(curve.gap.max())}

    return step


def blahut_arimoto() -> Step:
    """Blahut-Arimoto until the same certificate says 1e-4, each slope from a uniform output: started from the last
    slope's it takes far longer, since an output that was given up hardly comes back.
    """
    import numpy as np

    prior, distortion, slopes = curve_problem()

    def step() -> Found:
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

    def step() -> Found:
        mechanism = optimal_mechanism(*problem, method=method)  # type: ignore[arg-type]
        return {"average": mechanism.privacy, "worst": mechanism.worst, "gap": mechanism.gap}

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

    def step() -> Found:
        result = linprog(objective, upper, side, equal, np.ones(n), method="highs-ds")
        return {"average": -result.fun}

    return step


# --- races -----------------------------------------------------------------------------------------------

LISTED = "A belief has nine million checked entries of 12 bytes. The formulas of the peer need one matrix."

RACES = (
    Race(
        "channel",
        "channel of 5,000 x 5,000",
        (
            Case("a Channel that is there", our_channel),
            Case("matrix checked too", our_channel_checked),
            Case("by its posterior", our_channel_posterior),
        ),
        (Case("numpy", numpy_channel), Case("qif", qif_channel, peer="qif")),
        shows="Bayes risk and I(X;Y)",
    ),
    Race(
        "channel",
        "channel of 3,000 x 3,000",
        (Case("by its posterior", our_channel_posterior, (3_000,), at_most=0.15, limit=LISTED),),
        (Case("numpy", numpy_channel, (3_000,)),),
        shows="Bayes risk and I(X;Y), as the command finds them",
    ),
    Race(
        "sparse",
        "20,000 x 500,000 channel of 60,000 entries",
        (Case("ours", our_sparse),),
        (Case("scipy", scipy_sparse),),
        shows="Bayes risk",
    ),
    Race(
        "neighbors",
        "10 nearest of 20,000 samples, 5,000 fresh",
        (Case("ours", our_neighbors),),
        (Case("scikit-learn", sklearn_neighbors, peer="sklearn"),),
        shows="held-out error",
    ),
    Race(
        "curve",
        "rate-distortion, 256 x 256, 30 slopes",
        (Case("gap 1e-6", our_curve),),
        (Case("Blahut-Arimoto, gap 1e-4", blahut_arimoto),),
        shows="interior point",
    ),
    Race(
        "program",
        "best mechanism for 100 points",
        (Case("ours", our_program, (100, "auto")), Case("whole program", our_program, (100, "full"))),
        (Case("HiGHS, average alone", highs, (100,)),),
        shows="average, then worst case",
    ),
    Race(
        "large",
        "best mechanism for 200 points",
        (Case("cuts", our_program, (200, "cuts")),),
        (Case("HiGHS, average alone", highs, (200,), long=True),),
        shows="average, then worst case",
    ),
    Race(
        "posterior",
        "belief of 1,000,000 x 100",
        (Case("ours", our_posterior, at_most=2.5, mib_at_most=1126, limit=PASSES),),
        (Case("NumPy", numpy_posterior),),
        shows="built, twelve measures; the peer takes four",
    ),
)


def races(_: argparse.Namespace) -> Iterable[Race]:
    """All of them."""
    return RACES


if __name__ == "__main__":
    harness.main(__doc__, races, only=list(dict.fromkeys(race.group for race in RACES)), peers=PEERS)
