"""A belief of a million targets with a hundred candidates each, built and measured, for channels.py."""

from __future__ import annotations

from typing import Any

from harness import Found, Step

PASSES = (
    "Each call unpacks a hundred million entries. Entropies and leakage take a third each, ranks of the truth a fifth, "
    "the check of the belief a tenth."
)


def random_belief(n: int, width: int) -> tuple[Any, Any, Any]:
    """Log-probabilities and candidates of n targets, (n, width), and the place of the right one in each row."""
    import numpy as np

    rng = np.random.default_rng(0)
    log_p = np.empty((n, width), dtype=np.float32)
    for start in range(0, n, 10_000):
        part = log_p[start : start + 10_000]
        rng.standard_normal(part.shape, dtype=np.float32, out=part)
        part -= np.log(np.exp(part).sum(axis=1, keepdims=True))
    candidate = rng.integers(0, n - width, n, dtype=np.int32)[:, None] + np.arange(width, dtype=np.int32)
    return log_p, candidate, rng.integers(0, width, n)


def numpy_posterior() -> Step:
    """Entropy, success, the probability of the right one and its rank, as formulas on blocks of the matrix."""
    import numpy as np

    n, width = 1_000_000, 100
    log_p, _, true_candidate = random_belief(n, width)

    def step() -> Found:
        sums = np.zeros(4)
        for start in range(0, n, 10_000):
            log_q = log_p[start : start + 10_000].astype(np.float64)
            q = np.exp(log_q)
            true = np.take_along_axis(q, true_candidate[start : start + 10_000, None], axis=1)
            ahead, level = (q > true).sum(), (q == true).sum() - len(q)
            sums += (-(q * log_q).sum() / np.log(2), q.max(axis=1).sum(), true.sum(), len(q) + ahead + level / 2)
        return dict(zip(("H1 bits", "success", "right", "rank"), (sums / n).tolist(), strict=True))

    return step


def our_posterior() -> Step:
    """Build it and measure it."""
    import numpy as np

    from unmask.core.posterior import Posterior, equal_weights
    from unmask.core.truth import Truth
    from unmask.measures.entropy import renyi_entropies
    from unmask.measures.leakage import leakages
    from unmask.measures.success import log_loss_bits, rank, realized_success, success_probability

    n, width = 1_000_000, 100
    log_p, candidate, true_candidate = random_belief(n, width)
    truth = Truth(candidate[np.arange(n), true_candidate])

    def step() -> Found:
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
        with_truth = [measure.per_target(belief, truth).mean() for measure in (realized_success, rank, log_loss_bits)]
        return {
            "H1 bits": float(orders[1].mean()),
            "bits leaked": leaked.mutual_information_bits,
            "success": float(success),
            "rank": float(with_truth[1]),
        }

    return step
