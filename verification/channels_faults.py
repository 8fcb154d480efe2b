"""What the paper leaves open or gets wrong, each as a check: fourteen points."""

from __future__ import annotations

from itertools import product
from math import log2, sqrt

import numpy as np
from channels_case import Floats
from show import Section, Verdict

from unmask import Posterior
from unmask.channels import Chain, Channel, HiddenMarkovAttack, optimal_mechanism
from unmask.channels.attacks import most_likely_path
from unmask.channels.criteria import conditional_typical_log2_size
from unmask.channels.datasets import Crowds
from unmask.measures import bayes, confidence_set_size, leakages, sampling_error
from unmask.measures.bounds import bounds, variation_of_divergence_bits, variation_of_divergence_nats
from unmask.measures.entropy import renyi_entropies
from unmask.measures.leakage import channel_epsilon

LINE = np.array([0.0, 1.0, 1e-3])
"""Three points on a line, the third next to the first."""


def faults() -> Section:
    """Statements of the paper beside an example, by point."""
    verdicts = (
        _map_is_not_bayes(),
        *_prior_minus_posterior(),
        _constants(),
        *_bits_and_nats(),
        _similar_values(),
        *_delta_and_epsilon(),
        *_confidence_sets(),
        _conditionally_typical(),
        *_likeliest_sequence(),
        _unused_outputs(),
        _correctness(),
        _crowds_adversary(),
        _individuals_or_values(),
        _procedure_for_closeness(),
    )
    differ = sum(not verdict.holds for verdict in verdicts)
    notes = (
        "'differs' is the expected result where a statement does not hold as printed.",
        "Point 14, that the best worst case costs average privacy, is above: false where both sides have one loss.",
    )
    rows = (("statements and clarifications", f"{len(verdicts)}"), ("do not hold as printed", f"{differ}"))
    return Section("What the paper leaves open or gets wrong", ("", "count"), rows, notes, verdicts)


def _differs(claim: str, published: str, ours: str, shown: bool) -> Verdict:
    """A statement that our example refutes: it must."""
    return Verdict(claim, published, ours, False, required=not shown)


def _map_is_not_bayes() -> Verdict:
    q, p = np.array([0.3999, 0.4001, 0.2]), np.array([0.4001, 0.3999, 0.2])
    loss = np.abs(LINE[:, None] - LINE[None, :])
    tv = 0.5 * float(np.abs(p - q).sum())
    named = float(loss[q.argmax()] @ p - loss[p.argmax()] @ p)
    bayes_regret = float(loss[(loss @ q).argmin()] @ p - (loss @ p).min())
    return _differs(
        "point 1: (8) bounds an attacker who names the likeliest",
        f"<= 4 dmax TV = {4 * tv:.0e}",
        f"he loses {named:.3f}; the Bayes attacker {bayes_regret:.3f}",
        named > 4 * tv and bayes_regret <= 2 * tv,
    )


def _prior_minus_posterior() -> tuple[Verdict, Verdict]:
    channel = Channel(np.array([[0.5, 0.5], [0.01, 0.99]]), [0.1, 0.9])
    b = bounds(channel.posterior())
    return (
        _differs(
            "point 2: prior less posterior error is never negative",
            "equated with regret",
            f"{b.gap.min():.3f} at one y, regret {b.regret[b.gap.argmin()]:.3f}",
            bool(b.gap.min() < -1e-3 and b.regret.min() >= -1e-9),
        ),
        Verdict(
            "point 2: the two agree on average",
            "-",
            f"{b.average_gap:.4f} and {b.average_regret:.4f}",
            abs(b.average_gap - b.average_regret) < 1e-6,
        ),
    )


def _constants() -> Verdict:
    q = 0.5 + 1e-4
    b = bounds(Channel(np.eye(2), [q, 1 - q]).posterior())
    ratio = float((b.regret / (4 * b.largest * b.total_variation)).max())
    return _differs(
        "point 3: 4 dmax TV is the least such bound", "4, 2 sqrt2, 8", f"at most {ratio:.3f} of it", ratio < 0.51
    )


def _bits_and_nats() -> tuple[Verdict, Verdict]:
    t = 0.01
    p, q = np.array([0.5 + t, 0.5 - t]), np.array([0.5, 0.5])
    nats = float((p * np.log(p / q)).sum())
    bits = nats / np.log(2)
    loose = sqrt(bits / 2) / t
    broken = float(variation_of_divergence_bits(nats))
    return (
        Verdict(
            "point 4: sqrt(D / 2) holds for D in bits too, 20 % loose",
            "base not fixed",
            f"{loose:.4f} of TV; right one {float(variation_of_divergence_bits(bits)) / t:.4f}",
            1.19 < loose < 1.21 and float(variation_of_divergence_nats(nats)) >= t,
        ),
        _differs(
            "point 4: nats in the bound for bits", "base not fixed", f"{broken / t:.3f} of TV: no bound", broken < t
        ),
    )


def _similar_values() -> Verdict:
    """Two classes with the same divergence from the table: one of like values, one of values far apart."""
    prior = np.full(6, 1 / 6)
    near, far = np.array([0.5, 0.5, 0, 0, 0, 0]), np.array([0.5, 0, 0, 0, 0, 0.5])
    belief = Posterior.from_dense(np.stack([near, far]), prior=prior)
    bits = leakages(belief).information_bits
    moved = [float(np.abs(np.cumsum(row - prior))[:-1].sum()) for row in (near, far)]  # on a line of unit steps
    error = bayes(belief, "absolute", coordinates=np.arange(6.0)).conditional
    return _differs(
        "point 5: t-closeness by divergence withstands similarity",
        "t = max D (VII)",
        f"D {bits[0]:.2f}, {bits[1]:.2f}; EMD {moved[0]:.1f}, {moved[1]:.1f}; error {error[0]:.1f}, {error[1]:.1f}",
        bool(abs(bits[0] - bits[1]) < 1e-6 and moved[0] > moved[1] + 0.1 and error[0] < error[1]),
    )


def _delta_and_epsilon() -> tuple[Verdict, Verdict]:
    flip = Channel(np.array([[0.75, 0.25], [0.25, 0.75]]))
    delta, epsilon = leakages(flip.posterior()).delta, channel_epsilon(flip.dense())
    gone = leakages(Channel(np.array([[1.0, 0.0], [0.5, 0.5]])).posterior()).delta
    return (
        Verdict(
            "point 6: delta is 'slightly stricter' than epsilon",
            "ambiguous",
            f"delta {delta:.3f} <= eps {epsilon:.3f} <= 2 delta",
            delta <= epsilon <= 2 * delta + 1e-6,
        ),
        Verdict(
            "point 6: delta where a value is ruled out",
            "-",
            "infinite" if np.isinf(gone) else f"{gone}",
            bool(np.isinf(gone)),
        ),
    )


def _confidence_sets() -> tuple[Verdict, Verdict]:
    p = np.array([0.5, 0.3, 0.2])
    sums = {round(float(p[[i for i in range(3) if mask >> i & 1]].sum()), 9) for mask in range(8)}
    size = confidence_set_size(0.6).per_target(Posterior.from_dense(p[None, :]))
    half = Posterior.from_dense(np.array([[0.5, 0.5, 0.0]]))
    spread = float(np.ptp(renyi_entropies(half, (0, 1, np.inf))))
    return (
        _differs(
            "point 7: a set C with P(C) = p exactly",
            "definition",
            f"none for 0.6; at least 0.6: {size[0]:.0f}",
            0.6 not in sums,
        ),
        _differs(
            "point 7: (6) is equal only if X is uniform",
            "if and only if",
            f"equal for (1/2, 1/2, 0): {spread:.0e} bits apart",
            spread < 1e-6,
        ),
    )


def _conditionally_typical(k: int = 1000, e: float = 0.02) -> Verdict:
    """y = 0 (chance 0.6) leaves two values of x alike, y = 1 one: count the x typical with one typical y.

    All joint sequences of one y have the same probability here, so that typicality is a matter of arithmetic.
    """
    channel = Channel.from_joint(np.array([[0.3, 0.0], [0.3, 0.0], [0.0, 0.4]]))
    zeros = 634  # of 1,000
    surprise_y = -(zeros * log2(0.6) + (k - zeros) * log2(0.4)) / k
    surprise_xy = -(zeros * log2(0.3) + (k - zeros) * log2(0.4)) / k  # of x too: x tells y
    H_y = -(0.6 * log2(0.6) + 0.4 * log2(0.4))
    H_xy = -(0.6 * log2(0.3) + 0.4 * log2(0.4))
    typical = abs(surprise_y - H_y) <= e and abs(surprise_xy - H_xy) <= e
    log2_size, H = zeros, 0.6
    limit = conditional_typical_log2_size(channel, k=k, epsilon=e)
    return _differs(
        "point 8: at most 2^{k (H(X given Y) + e)} such x",
        f"2^{k * (H + e):.0f}",
        f"2^{log2_size} of them, within 2^{{k (H + 2e)}} = 2^{limit:.0f}",
        typical and k * (H + e) < log2_size <= limit + 1e-9,
    )


def _likeliest_sequence() -> tuple[Verdict, Verdict]:
    """States A, B, C, then D or E after A, F after B or C; nothing is seen."""
    start = np.array([0.4, 0.3, 0.3, 0, 0, 0])
    A = np.zeros((6, 6))
    A[0, 3:5], A[1, 5], A[2, 5] = 0.5, 1.0, 1.0
    A[3:] = np.eye(6)[3:]
    chain = Chain(A, Channel(np.ones((6, 1)), np.full(6, 1 / 6)), initial=start)
    unseen = np.array([[-1, -1]])
    path = most_likely_path(unseen, chain, rng=np.random.default_rng(0))[0]
    belief = HiddenMarkovAttack()(unseen, chain)
    steps = bayes(belief).answer
    apart = _symbols_and_sequences()
    return (
        _differs(
            "point 9: MAP of a sequence is MAP of its symbols",
            "trivial extension",
            f"symbols {steps[0]}, {steps[1]} (impossible), path {path[0]}, {path[1]}",
            bool(start[steps[0]] * A[steps[0], steps[1]] == 0 and start[path[0]] * A[path[0], path[1]] > 0),
        ),
        Verdict(
            "point 9: it is, without memory, symbol by symbol given y",
            "a repetition",
            f"{apart} of 81 sequences differ",
            apart == 0,
        ),
    )


def _symbols_and_sequences() -> int:
    """How many of the 3^4 outputs of a memoryless channel have another likeliest sequence than symbol by symbol."""
    rng = np.random.default_rng(3)
    one = Channel(rng.dirichlet(np.ones(3), size=3), rng.dirichlet(np.ones(3)))
    table, prior = one.dense(), one.prior
    for _ in range(3):
        table, prior = np.asarray(np.kron(table, one.dense())), np.asarray(np.kron(prior, one.prior))
    whole = bayes(Channel(table, prior).posterior()).answer
    symbol = bayes(one.posterior()).answer
    digits = np.array(list(product(range(3), repeat=4)))
    return int((whole != symbol[digits] @ 3 ** np.arange(3, -1, -1)).sum())


def _unused_outputs() -> Verdict:
    channel = Channel(np.array([[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]]))
    rare = Channel(np.array([[0.7, 0.3 - 1e-6, 1e-6], [0.2, 0.8, 0.0]]))
    worst, by_rare = bayes(channel.posterior()), bayes(rare.posterior())
    return Verdict(
        "point 10: (3) is over outputs of positive chance, not users",
        "not said",
        f"{worst.worst:.3f}; with one of chance 5e-7: {by_rare.worst:.3f}",
        len(worst.conditional) == 2 and worst.worst > 0.2 and by_rare.worst < 1e-6,
    )


def _correctness() -> Verdict:
    belief = Posterior.from_dense(np.array([[0.5, 0.3, 0.2]]))
    z = np.array([0.0, 1.0, 5.0])
    best, drawn = bayes(belief, "squared", coordinates=z).average, sampling_error("squared", coordinates=z)(belief)
    return _differs(
        "point 11: Shokri's correctness is the estimation error",
        "average case of it",
        f"{drawn:.2f}, of the best attacker {best:.2f}",
        abs(drawn - 2 * best) < 1e-5,
    )


def _crowds_adversary() -> Verdict:
    forced = Channel(np.full((20, 20), 0.05)).then(Crowds(20, 0.4).channel()).posterior()
    error = bayes(forced).average
    return Verdict(
        "point 12: all users honest: Crowds itself would be perfect",
        "not said",
        f"error {error:.4f} = 1 - 1/n before and after",
        abs(error - 0.95) < 1e-6,
    )


def _individuals_or_values() -> Verdict:
    """Four individuals of one class, values a, a, a, b."""
    value = bayes(Posterior.from_dense(np.array([[0.75, 0.25]]))).average
    return _differs(
        "point 13: uniform on l individuals: P = 1 - 1/l",
        "1 - 1/4",
        f"{value:.2f} with values a, a, a, b",
        abs(value - 0.25) < 1e-6,
    )


def _procedure_for_closeness() -> Verdict:
    prior: Floats = np.array([0.4, 0.3, 0.2, 0.1])
    found = optimal_mechanism(prior, 1 - np.eye(4), 1 - np.eye(4), 0.45, delta=1.0)
    leak = leakages(found.channel.posterior())
    return _differs(
        "point 13: t-closeness has no computational procedure",
        "none specified",
        f"a linear program: t = {leak.t_divergence_bits * np.log(2):.4f} <= delta = 1 nat",
        leak.delta <= 1 + 1e-5 and 0 < leak.t_divergence_bits * np.log(2) <= 1,
    )
