"""Statements of the paper that are open or wrong, each as a check: fourteen points."""

from __future__ import annotations

from itertools import product
from math import log, log2, sqrt

import numpy as np
from show import Section, Verdict

from unmask import Posterior
from unmask.channels import Chain, Channel, HiddenMarkovAttack, optimal_mechanism
from unmask.channels.attacks import most_likely_path
from unmask.channels.criteria import conditional_typical_log2_size
from unmask.channels.datasets import Crowds
from unmask.measures import bayes, confidence_set_size, leakages, sampling_error
from unmask.measures.bounds import bounds
from unmask.measures.entropy import renyi_entropies
from unmask.measures.leakage import channel_epsilon

LINE = np.array([0.0, 1.0, 1e-3])
"""Three points on a line, the third next to the first."""


def verify_faults() -> Section:
    """Compare statements of the paper with an example, by point."""
    checks = (
        _map_is_not_bayes,
        _prior_minus_posterior,
        _constants,
        _divergence_in_bits,
        _divergence_in_nats,
        _similar_values,
        _delta_and_epsilon,
        _confidence_sets,
        _equal_entropies,
        _conditionally_typical,
        _likeliest_sequence,
        _memoryless_sequence,
        _unused_outputs,
        _correctness,
        _crowds_adversary,
        _individuals_or_values,
        _procedure_for_closeness,
    )
    verdicts = [check() for check in checks]
    n_different = sum(not verdict.holds for verdict in verdicts)
    return Section(
        "Statements that the paper leaves open or gets wrong",
        ("", "count"),
        (("statements and clarifications", len(verdicts)), ("do not hold as printed", n_different)),
        (
            "'differs' is the expected result if a statement does not hold as printed.",
            "Point 14, that the best worst case costs average privacy, is above: false if both sides have one loss.",
        ),
        verdicts,
    )


def _refute(claim: str, published: str, ours: str, is_counterexample: bool) -> Verdict:
    """Return the verdict on a statement that our example must refute."""
    return Verdict(claim, published, ours, holds=False, required=not is_counterexample)


def _belief(*probabilities: float) -> Posterior:
    return Posterior.from_dense(np.array([probabilities]))


def _map_is_not_bayes() -> Verdict:
    q, p = np.array([0.3999, 0.4001, 0.2]), np.array([0.4001, 0.3999, 0.2])
    loss = np.abs(LINE[:, None] - LINE[None, :])
    tv = 0.5 * float(np.abs(p - q).sum())
    map_regret = float(loss[q.argmax()] @ p - loss[p.argmax()] @ p)
    bayes_regret = float(loss[(loss @ q).argmin()] @ p - (loss @ p).min())
    return _refute(
        "point 1: (8) bounds an attacker who takes the likeliest",
        f"<= 4 dmax TV = {4 * tv:.0e}",
        f"they lose {map_regret:.3f}; the Bayes attacker {bayes_regret:.3f}",
        map_regret > 4 * tv and bayes_regret <= 2 * tv,
    )


def _prior_minus_posterior() -> Verdict:
    b = bounds(Channel(np.array([[0.5, 0.5], [0.01, 0.99]]), [0.1, 0.9]).posterior())
    return _refute(
        "point 2: prior less posterior error is never negative",
        "equated with regret",
        f"{b.gap.min():.3f} at one y, regret {b.regret[b.gap.argmin()]:.3f}",
        bool(b.gap.min() < -1e-3 and b.regret.min() >= -1e-9),
    )


def _constants() -> Verdict:
    q = 0.5 + 1e-4
    b = bounds(Channel(np.eye(2), [q, 1 - q]).posterior())
    ratio = float((b.regret / (4 * b.largest * b.total_variation)).max())
    claim = "point 3: 4 dmax TV is the least such bound"
    return _refute(claim, "4, 2 sqrt2, 8", f"at most {ratio:.3f} of it", ratio < 0.51)


def _small_divergence(t: float = 0.01) -> float:
    """Return the divergence in nats of two distributions with total variation t."""
    p, q = np.array([0.5 + t, 0.5 - t]), np.array([0.5, 0.5])
    return float((p * np.log(p / q)).sum())


def _divergence_in_bits() -> Verdict:
    t, nats = 0.01, _small_divergence()
    bits = nats / np.log(2)
    loose = sqrt(bits / 2) / t
    return Verdict(
        "point 4: sqrt(D / 2) holds for D in bits too, 20 % loose",
        "base not fixed",
        f"{loose:.4f} of TV; right one {bound_variation(bits * log(2)) / t:.4f}",
        1.19 < loose < 1.21 and bound_variation(nats) >= t,
    )


def bound_variation(divergence: float) -> float:
    """Return Pinsker's bound of the total variation by a divergence in nats."""
    return sqrt(divergence / 2)


def _divergence_in_nats() -> Verdict:
    t = 0.01
    broken = bound_variation(_small_divergence() * log(2))
    claim = "point 4: nats in the bound for bits"
    return _refute(claim, "base not fixed", f"{broken / t:.3f} of TV: no bound", broken < t)


def _similar_values() -> Verdict:
    """Compare two classes with the same divergence from the table: of similar values, and of values far apart."""
    prior = np.full(6, 1 / 6)
    rows = np.array([[0.5, 0.5, 0, 0, 0, 0], [0.5, 0, 0, 0, 0, 0.5]])
    belief = Posterior.from_dense(rows, prior=prior)
    bits = leakages(belief).information_bits
    distance = np.abs(np.cumsum(rows - prior, axis=1))[:, :-1].sum(axis=1)  # earth mover's, on a line of unit steps
    error = bayes(belief, "absolute", coordinates=np.arange(6.0)).conditional
    ours = "; ".join(
        f"{name} {a:.3g}, {b:.3g}" for name, (a, b) in {"D": bits, "EMD": distance, "error": error}.items()
    )
    holds = bool(abs(bits[0] - bits[1]) < 1e-6 and distance[0] > distance[1] + 0.1 and error[0] < error[1])
    return _refute("point 5: t-closeness by divergence withstands similarity", "t = max D (VII)", ours, holds)


def _delta_and_epsilon() -> Verdict:
    flip = Channel(np.array([[0.75, 0.25], [0.25, 0.75]]))
    delta, epsilon = leakages(flip.posterior()).delta, channel_epsilon(flip.dense())
    ours = f"delta {delta:.3f} <= eps {epsilon:.3f} <= 2 delta"
    claim = "point 6: delta is 'slightly stricter' than epsilon"
    return Verdict(claim, "ambiguous", ours, delta <= epsilon <= 2 * delta + 1e-6)


def _confidence_sets() -> Verdict:
    p = (0.5, 0.3, 0.2)
    sums = {
        round(sum(x for x, inside in zip(p, subset, strict=True) if inside), 9) for subset in product((0, 1), repeat=3)
    }
    size = confidence_set_size(0.6).per_target(_belief(*p))[0]
    claim = "point 7: a set C with P(C) = p exactly"
    return _refute(claim, "definition", f"none for 0.6; at least 0.6: {size:.0f}", 0.6 not in sums)


def _equal_entropies() -> Verdict:
    spread = float(np.ptp(renyi_entropies(_belief(0.5, 0.5, 0.0), (0, 1, np.inf))))
    ours = f"equal for (1/2, 1/2, 0): {spread:.0e} bits apart"
    return _refute("point 7: (6) is equal only if X is uniform", "if and only if", ours, spread < 1e-6)


def _conditionally_typical(k: int = 1000, e: float = 0.02) -> Verdict:
    """Count the x that are typical with one typical y: y = 0 (0.6) leaves two values of x alike, y = 1 leaves one.

    All joint sequences of one y have the same probability here, so that typicality is arithmetic.
    """
    channel = Channel.from_joint(np.array([[0.3, 0.0], [0.3, 0.0], [0.0, 0.4]]))
    zeros = 634  # of 1,000
    surprise_y = -(zeros * log2(0.6) + (k - zeros) * log2(0.4)) / k
    surprise_xy = -(zeros * log2(0.3) + (k - zeros) * log2(0.4)) / k  # of x too: x determines y
    H_y, H_xy = -(0.6 * log2(0.6) + 0.4 * log2(0.4)), -(0.6 * log2(0.3) + 0.4 * log2(0.4))
    typical = abs(surprise_y - H_y) <= e and abs(surprise_xy - H_xy) <= e
    limit, printed = conditional_typical_log2_size(channel, k=k, epsilon=e), k * (0.6 + e)
    return _refute(
        "point 8: at most 2^{k (H(X given Y) + e)} such x",
        f"2^{printed:.0f}",
        f"2^{zeros} of them, within 2^{{k (H + 2e)}} = 2^{limit:.0f}",
        typical and printed < zeros <= limit + 1e-9,
    )


def _likeliest_sequence() -> Verdict:
    """Compare path and symbols of states A, B, C, then D or E after A, F after B or C; there are no observations."""
    start = np.array([0.4, 0.3, 0.3, 0, 0, 0])
    A = np.zeros((6, 6))
    A[0, 3:5], A[1, 5], A[2, 5] = 0.5, 1.0, 1.0
    A[3:] = np.eye(6)[3:]
    chain = Chain(A, Channel(np.ones((6, 1)), np.full(6, 1 / 6)), initial=start)
    unseen = np.array([[-1, -1]])
    path = most_likely_path(unseen, chain, rng=np.random.default_rng(0))[0]
    steps = bayes(HiddenMarkovAttack()(unseen, chain)).answer
    return _refute(
        "point 9: MAP of a sequence is MAP of its symbols",
        "trivial extension",
        f"symbols {steps[0]}, {steps[1]} (impossible), path {path[0]}, {path[1]}",
        bool(start[steps[0]] * A[steps[0], steps[1]] == 0 and start[path[0]] * A[path[0], path[1]] > 0),
    )


def _memoryless_sequence() -> Verdict:
    """Compare the likeliest sequence with the likeliest symbols on all 3^4 outputs of a memoryless channel."""
    rng = np.random.default_rng(3)
    single = Channel(rng.dirichlet(np.ones(3), size=3), rng.dirichlet(np.ones(3)))
    table, prior = single.dense(), single.prior
    for _ in range(3):
        table, prior = np.asarray(np.kron(table, single.dense())), np.asarray(np.kron(prior, single.prior))
    sequence, symbol = bayes(Channel(table, prior).posterior()).answer, bayes(single.posterior()).answer
    digits = np.array(list(product(range(3), repeat=4)))
    n_different = int((sequence != symbol[digits] @ 3 ** np.arange(3, -1, -1)).sum())
    claim = "point 9: it is, without memory, symbol by symbol given y"
    return Verdict(claim, "a repetition", f"{n_different} of 81 sequences differ", n_different == 0)


def _unused_outputs() -> Verdict:
    error = bayes(Channel(np.array([[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]])).posterior())
    rare = bayes(Channel(np.array([[0.7, 0.3 - 1e-6, 1e-6], [0.2, 0.8, 0.0]])).posterior())
    return Verdict(
        "point 10: (3) is over outputs of positive probability, not users",
        "not stated",
        f"{error.worst:.3f}; with one of probability 5e-7: {rare.worst:.3f}",
        len(error.conditional) == 2 and error.worst > 0.2 and rare.worst < 1e-6,
    )


def _correctness() -> Verdict:
    belief, z = _belief(0.5, 0.3, 0.2), np.array([0.0, 1.0, 5.0])
    best, drawn = bayes(belief, "squared", coordinates=z).average, sampling_error("squared", coordinates=z)(belief)
    claim = "point 11: Shokri's correctness is the estimation error"
    ours = f"{drawn:.2f}, of the best attacker {best:.2f}"
    return _refute(claim, "average case of it", ours, abs(drawn - 2 * best) < 1e-5)


def _crowds_adversary() -> Verdict:
    error = bayes(Channel(np.full((20, 20), 0.05)).then(Crowds(20, 0.4).channel()).posterior()).average
    claim = "point 12: all users honest: Crowds itself would be perfect"
    return Verdict(claim, "not stated", f"error {error:.4f} = 1 - 1/n before and after", abs(error - 0.95) < 1e-6)


def _individuals_or_values() -> Verdict:
    """Evaluate four individuals of one class, values a, a, a, b."""
    error = bayes(_belief(0.75, 0.25)).average
    claim = "point 13: uniform on l individuals: P = 1 - 1/l"
    return _refute(claim, "1 - 1/4", f"{error:.2f} with values a, a, a, b", abs(error - 0.25) < 1e-6)


def _procedure_for_closeness() -> Verdict:
    design = optimal_mechanism(np.array([0.4, 0.3, 0.2, 0.1]), 1 - np.eye(4), 1 - np.eye(4), 0.45, delta=1.0)
    leak = leakages(design.channel.posterior())
    t = float(leak.information_bits.max()) * np.log(2)
    return _refute(
        "point 13: t-closeness has no computational procedure",
        "none specified",
        f"a linear program: t = {t:.4f} <= delta = 1 nat",
        leak.delta <= 1 + 1e-5 and 0 < t <= 1,
    )
