"""Sections IV-C, V and VII: privacy as defined, and the error under k, l, t, delta, epsilon and entropies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray
from show import Section, Verdict

from unmask import Posterior
from unmask.channels import Channel
from unmask.channels.criteria import TABLE_IV, entropy, error_of, markov_entropy_rate, stationary, typical_set
from unmask.measures import bayes
from unmask.measures.bounds import bounds
from unmask.measures.entropy import confidence_set_size, renyi_entropies
from unmask.measures.leakage import channel_epsilon, leakages

Floats = NDArray[np.float64]

CASES = 600
LOSSES = ("hamming", "absolute", "squared", "any")
COIN = np.array([0.3, 0.7])
CHAIN = np.array([[0.9, 0.1], [0.5, 0.5]])


def make_loss(rng: np.random.Generator, kind: str, n: int) -> Floats:
    """Return (n, n) loss[answer, truth], 0 for the right answer."""
    if kind == "hamming":
        return 1.0 - np.eye(n)
    if kind == "any":
        loss = rng.random((n, n))
        np.fill_diagonal(loss, 0.0)
        return loss
    points = rng.random(n)
    distance = np.abs(points[:, None] - points[None, :])
    return distance if kind == "absolute" else distance**2


def make_cases(seed: int) -> Iterator[tuple[Channel, Floats, str]]:
    """Yield channels of 2 to 8 secrets and outputs, with each kind of loss in turn."""
    rng = np.random.default_rng(seed)
    for i in range(CASES):
        n_x, n_y = int(rng.integers(2, 9)), int(rng.integers(2, 9))
        sharpness = float(rng.choice([0.2, 1.0, 5.0]))
        rows = rng.dirichlet(np.full(n_y, sharpness), size=n_x) + 1e-9
        prior = rng.dirichlet(np.ones(n_x)) * (1 - n_x * 1e-6) + 1e-6
        kind = LOSSES[i % len(LOSSES)]
        yield Channel(rows / rows.sum(axis=1, keepdims=True), prior), make_loss(rng, kind, n_x), kind


def bound(claim: str, published: str, excess: float, *, cases: int, tolerance: float = 1e-6) -> Verdict:
    """Return the verdict on an inequality: it holds if the largest excess over all cases is rounding."""
    ours = f"kept in {cases:,} cases" if excess <= tolerance else f"broken by {excess:.3g} in one of {cases:,} cases"
    return Verdict(claim, published, ours, bool(excess <= tolerance))


def verify_bounds(
    title: str,
    claims: Mapping[str, tuple[str, float]],
    measure: Callable[[Channel, Floats, str], Mapping[str, float]],
    seed: int,
) -> Section:
    """Return the largest excess of each claim over random channels; claims give published reading and tolerance."""
    excess = dict.fromkeys(claims, 0.0)
    for channel, loss, kind in make_cases(seed):
        for claim, value in measure(channel, loss, kind).items():
            excess[claim] = max(excess[claim], value)
    rows = ((claim, f"{value:.1e}") for claim, value in excess.items())
    verdicts = (
        bound(claim, published, excess[claim], cases=CASES, tolerance=tolerance)
        for claim, (published, tolerance) in claims.items()
    )
    return Section(title, ("claim", "largest excess"), rows, (), verdicts)


# --- section IV-C ----------------------------------------------------------------------------------------------------


def verify_definitions() -> Section:
    """Section IV-C: compare equations (2) to (5), in double precision, with the measures, whose beliefs are float32."""
    rng = np.random.default_rng(0)
    claims = {
        "conditional privacy": ("eq. (2)", 2e-6),
        "worst-case privacy": ("eq. (3)", 2e-6),
        "average privacy": ("eq. (4)", 2e-6),
        "squared error: the best answer is the mean": ("section III", 2e-6),
    }

    def measure(channel: Channel, loss: Floats, _: str) -> dict[str, float]:
        joint = channel.dense() * channel.prior[:, None]
        p_y = joint.sum(axis=0)
        conditional = (loss @ joint).min(axis=0) / p_y
        error = bayes(channel.posterior(), loss)
        points = np.sort(rng.random(channel.n_x))
        mean = points @ joint / p_y
        variance = ((points[:, None] - mean) ** 2 * joint).sum(axis=0) / p_y
        squared = bayes(channel.posterior(), "squared", coordinates=points)
        differences = (
            error.conditional - conditional,
            error.worst - conditional.min(),
            error.average - p_y @ conditional,
            squared.conditional - variance,
        )
        return dict(zip(claims, (float(np.abs(difference).max()) for difference in differences), strict=True))

    return verify_bounds("IV-C: privacy as it is defined", claims, measure, 9)


# --- section V-A -----------------------------------------------------------------------------------------------------


def verify_entropies() -> Section:
    """Section V-A1: Rényi entropies, confidence sets, k-anonymity and l-diversity, all under 0/1 loss."""
    claims = {
        "H inf <= H1 <= H0": ("eq. (6)", 1e-6),
        "P(y) = 1 - max p = 1 - 2^-H inf": ("eq. (7)", 1e-6),
        "the confidence set of 100 % has 2^H0 members": ("yes", 1e-4),
    }

    def measure(channel: Channel, _: Floats, __: str) -> dict[str, float]:
        belief = channel.posterior()
        H0, H1, Hinf = renyi_entropies(belief, (0, 1, np.inf))
        sets = confidence_set_size(1.0).per_target(belief)
        values = (
            max((Hinf - H1).max(), (H1 - H0).max()),
            np.abs(bayes(belief).conditional - (1 - 2.0**-Hinf)).max(),
            np.abs(sets - 2.0**H0).max(),
        )
        return dict(zip(claims, map(float, values), strict=True))

    section = verify_bounds("V-A1: one observation, 0/1 loss, entropies in bits", claims, measure, 1)
    verdicts = (*section.verdicts, *_uniform_beliefs())
    return Section(section.title, section.header, section.rows, (), verdicts)


def _uniform_beliefs() -> Iterator[Verdict]:
    off_entropy = off_error = 0.0
    for k in range(2, 30):
        uniform = Posterior.from_dense(np.array([np.append(np.full(k, 1 / k), np.zeros(3))]))
        H, P = renyi_entropies(uniform, (0, 1, np.inf)).ravel(), bayes(uniform).average
        off_entropy = max(off_entropy, float(np.ptp(H)))
        values = (1 - 2.0 ** -H[0], P, error_of("k_anonymity", k).low, error_of("l_diversity", k).low)
        off_error = max(off_error, *(abs(value - (1 - 1 / k)) for value in values))
    yield bound("equal if uniform on the support", "if and only if uniform", off_entropy, cases=28)
    yield bound("k records or l values alike: P(y) = 1 - 1/k = 1 - 2^-H0", "yes", off_error, cases=28)
    skewed = bayes(Posterior.from_dense(np.array([[0.9, 0.05, 0.05]]))).average
    claim = "3 distinct values, one of 90 %: not 1 - 1/3"
    yield Verdict(claim, "2/3 if uniform", f"{skewed:.2f}", abs(skewed - 0.1) < 1e-6)
    error = bayes(Channel.from_joint(np.array([[1.0, 3.0], [3.0, 1.0]]) / 8).posterior()).average
    yield Verdict("Figure 7: prior 1/2, belief 3/4, error", "3/4", error, abs(error - 0.25) < 1e-6)


def verify_sequences() -> Section:
    """Section V-A2: long sequences and the asymptotic equipartition property."""
    sets = {k: typical_set(COIN, k=k, epsilon=0.05) for k in (10, 50, 200, 500, 1000, 2000)}
    likely = [typical for typical in sets.values() if typical.probability > 0.95]
    size = max(typical.log2_size - typical.log2_high for typical in sets.values())
    low = max(typical.log2_low - typical.log2_size for typical in likely)
    never = not any(typical.holds_most_likely for typical in sets.values())
    enough = 10
    while enough < 5000 and typical_set(COIN, k=enough, epsilon=0.05).probability <= 0.95:
        enough = max(enough + 1, int(enough * 1.02))
    short, long = (sample_typical_probability(k, 0.05, np.random.default_rng(k)) for k in (20, 2000))
    fifty = sets[50].probability
    return Section(
        "V-A2: sequences of a coin of 0.3, e = 0.05",
        ("k", "P(typical)", "log2 size", "k H"),
        ((k, t.probability, f"{t.log2_size:.1f}", f"{k * entropy(COIN):.1f}") for k, t in sets.items()),
        ("Entropy is the size of the search only for sequences of a thousand symbols.",),
        (
            bound("at most 2^{k (H + e)} typical sequences", "yes", size, cases=len(sets)),
            bound("at least (1 - e) 2^{k (H - e)} once P > 1 - e", "(Cover & Thomas)", low, cases=len(sets)),
            Verdict("the most likely sequence may not be typical", "may", "never, any k here", never),
            Verdict("P(typical) at k = 50, e = 0.05", "close to 1, large k", fifty, abs(fifty - 0.56) <= 0.005),
            Verdict("P > 1 - e needs k of about", "sufficiently large", enough, 250 < enough < 1500),
            Verdict(
                "Shannon-McMillan-Breiman on a chain of two states, e = 0.05",
                "P -> 1",
                f"{short:.2f} (20 steps), {long:.2f} (2,000)",
                long > 0.9 > short,
            ),
        ),
    )


def sample_typical_probability(k: int, epsilon: float, rng: np.random.Generator, samples: int = 10_000) -> float:
    """Estimate the probability of the typical paths of the chain, by drawing paths of k steps."""
    pi, chain = stationary(CHAIN), Channel(CHAIN)
    state = Channel(pi[None]).sample(np.zeros(samples, dtype=np.int64), rng=rng)
    surprise = -np.log2(pi[state])
    for _ in range(k - 1):
        following = chain.sample(state, rng=rng)
        surprise -= np.log2(CHAIN[state, following])
        state = following
    return float((np.abs(surprise / k - markov_entropy_rate(CHAIN)) <= epsilon).mean())


# --- section V-B -----------------------------------------------------------------------------------------------------


def verify_leaks() -> Section:
    """Section V-B: equation (8) corrected, R <= t <= delta, and the error that each criterion leaves."""
    claims = {
        "regret(y) <= 2 dmax TV": ("4 dmax TV (8)", 1e-6),
        "regret(y) <= sqrt2 dmax sqrt(D)": ("2 sqrt2 dmax sqrt(D) (8)", 1e-6),
        "E regret^2 <= 2 dmax^2 I": ("8 dmax^2 I", 1e-6),
        "total variation bounds better than divergence": ("yes", 1e-6),
        "E (prior - posterior error) = E regret": ("one and the same", 1e-6),
        "R <= t": ("yes", 1e-6),
        "t <= delta": ("yes", 1e-6),
        "R = I(X;Y) = H(X) - H(X given Y)": ("yes", 1e-5),
        "delta <= epsilon": ("a loose relation", 1e-5),
        "t, t (KL), delta and epsilon: every error lies within": ("bounds", 1e-5),
        "I and H(X given Y): the average error lies within": ("bounds", 1e-5),
    }

    def measure(channel: Channel, loss: Floats, kind: str) -> dict[str, float]:
        b, leak = bounds(channel.posterior(), loss), leakages(channel.posterior())
        used, epsilon = b.weight > 0, channel_epsilon(channel.dense())
        t = float(b.divergence_nats.max())
        values = (
            (b.regret - b.regret_by_variation)[used].max(),
            (b.regret - b.regret_by_divergence)[used].max(),
            b.mean_square_regret - b.mean_square_by_information,
            (b.regret_by_variation - b.regret_by_divergence)[used].max(),
            abs(b.average_gap - b.average_regret),
            b.information_nats - t,
            t - leak.delta,
            abs(b.information_nats / np.log(2) - _entropy_drop(channel)),
            leak.delta - epsilon,
            *_excess_of_criteria(channel, loss, kind),
        )
        return dict(zip(claims, map(float, values), strict=True))

    return verify_bounds("V-B: bounds by leakage, any loss, divergences in nats", claims, measure, 2)


def _excess_of_criteria(channel: Channel, loss: Floats, kind: str) -> tuple[float, float]:
    """Return the distance of errors outside the range that each criterion leaves: of every output, and on average."""
    belief = channel.posterior()
    error, leak = bayes(belief, loss), leakages(belief)
    graded, dmax = kind != "hamming", float(loss.max())
    find_range = partial(error_of, prior_error=min(error.prior, dmax), dmax=dmax if graded else 1.0, graded=graded)
    ranges = [
        find_range("t_closeness", min(leak.t_equal, 1.0)),
        find_range("t_closeness_kl", float(leak.information_bits.max())),
        find_range("delta_disclosure", leak.delta),
        find_range("local_epsilon", channel_epsilon(channel.dense())),
    ]
    each = max(max(r.low - error.worst, float(error.conditional.max()) - r.high) for r in ranges)
    ranges = [find_range("mutual_information", leak.mutual_information_bits)]
    if not graded:
        bits = float(leak.weight @ renyi_entropies(belief, (1,))[0])
        ranges.append(error_of("conditional_entropy", bits, n=channel.n_x))
    return each, max(max(r.low - error.average, error.average - r.high) for r in ranges)


def _entropy_drop(channel: Channel) -> float:
    """Return H(X) - H(X given Y) in bits."""
    belief = channel.posterior()
    return entropy(channel.prior) - float(belief.observation_weight @ renyi_entropies(belief, (1,))[0])


# --- section VII -----------------------------------------------------------------------------------------------------

NAMED_CELLS = {
    ("identity", "best"): "k_anonymity",
    ("attribute", "best"): "l_diversity",
    ("attribute", "worst"): "t_closeness",
    ("attribute", "average"): "mutual_information",
    ("sender", "worst"): "min_entropy",
    ("sender", "average"): "shannon_entropy",
    ("sender", "best"): "hartley_entropy",
}
"""Cells of Table IV that the text of section VII names."""


def verify_table_four() -> Section:
    """Section VII: Table IV, and the rule that follows from figure 4."""
    placed = {(cell.what, cell.case): cell.measure for cell in TABLE_IV if not cell.completed}
    agree = sum(placed.get(cell) == measure for cell, measure in NAMED_CELLS.items())
    ranks, share = _compare_rankings()
    claim = "entropy ranks by a graded loss too"
    return Section(
        "VII: Table IV, rebuilt from the text",
        ("domain", "case", "measure", "from", "attacker"),
        ((c.what, c.case, c.measure, "from section V" if c.completed else "section VII", c.attacker) for c in TABLE_IV),
        (),
        (
            Verdict("cells that the text of section VII names", len(NAMED_CELLS), f"{agree} agree", agree == 7),
            Verdict("under 0/1 loss min-entropy ranks as the error does", "yes", "always" if ranks else "not", ranks),
            Verdict(claim, "a special case", f"wrong in {share:.0%} of pairs", share == 0, required=share == 0),
        ),
    )


def _compare_rankings() -> tuple[bool, float]:
    """Return True if min-entropy ranks as the 0/1 error does, and the share in which entropy and |a - x| differ."""
    rng = np.random.default_rng(4)
    beliefs = Posterior.from_dense(rng.dirichlet(np.ones(6), size=400))
    hamming = bayes(beliefs).conditional
    graded = bayes(beliefs, "absolute", coordinates=np.arange(6.0)).conditional
    H1, Hinf = renyi_entropies(beliefs, (1, np.inf))

    def order(values: Floats) -> Floats:
        return np.sign(values[::2] - values[1::2])

    clear = np.abs(hamming[::2] - hamming[1::2]) > 1e-6
    return bool((order(hamming) == order(Hinf))[clear].all()), float((order(graded) != order(H1)).mean())
