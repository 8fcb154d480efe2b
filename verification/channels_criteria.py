"""Sections IV-C, V and VII: privacy as defined, and what k, l, t, delta, epsilon and entropies say about it."""

from __future__ import annotations

from functools import partial

import numpy as np
from channels_case import Floats, below, crossing, random_cases, same
from numpy.typing import NDArray
from scipy.stats import binom
from show import Section, Verdict

from unmask import Posterior
from unmask.channels import Channel
from unmask.channels.criteria import (
    TABLE_IV,
    advise,
    entropy,
    error_of,
    markov_entropy_rate,
    stationary,
    typical_set,
)
from unmask.core.errors import UnmaskError
from unmask.measures import bayes, sampling_error
from unmask.measures.bounds import bounds
from unmask.measures.entropy import confidence_set_size, renyi_entropies
from unmask.measures.leakage import channel_epsilon, leakages

CASES = 600

COIN = np.array([0.3, 0.7])

CHAIN = np.array([[0.9, 0.1], [0.5, 0.5]])


def definitions() -> Section:
    """Section IV-C: equations (2) to (5) as they stand, in double precision, beside the measures."""
    off = dict.fromkeys(("P(y)", "worst", "average", "mean", "median"), 0.0)
    rng = np.random.default_rng(0)
    for channel, loss, _ in random_cases(9, CASES):
        joint = channel.dense() * channel.prior[:, None]
        p_y = joint.sum(axis=0)
        each = (loss @ joint).min(axis=0) / p_y
        found = bayes(channel.posterior(), loss)
        z = np.sort(rng.random(channel.n_x))
        square, middle = _searched(joint / p_y, z)
        squared = bayes(channel.posterior(), "squared", coordinates=z)
        absolute = bayes(channel.posterior(), "absolute", coordinates=z)
        step = {
            "P(y)": float(np.abs(found.conditional - each).max()),
            "worst": abs(found.worst - float(each.min())),
            "average": abs(found.average - float(p_y @ each)),
            "mean": float(np.abs(squared.conditional - square).max()),
            "median": float(np.abs(absolute.conditional - middle).max()),
        }
        off = {name: max(off[name], value) for name, value in step.items()}
    words = {
        "P(y)": ("conditional privacy", "eq. (2)"),
        "worst": ("worst-case privacy", "eq. (3)"),
        "average": ("average privacy", "eq. (4)"),
        "mean": ("squared error: the best answer is the mean", "section III"),
        "median": ("absolute error: the best answer is a median", "-"),
    }
    verdicts = tuple(
        below(claim, where, off[name], cases=CASES, tolerance=2e-6) for name, (claim, where) in words.items()
    )
    rows = tuple((words[name][0], f"{off[name]:.1e}") for name in words)
    return Section(
        "IV-C: privacy as it is defined", ("measure", "largest difference"), rows, ("beliefs are float32",), verdicts
    )


def _searched(posterior: Floats, z: Floats) -> tuple[Floats, Floats]:
    """(n_y,) least expected squared and absolute error, searched over answers: the mean, the points, and a grid."""
    answers = np.concatenate([z, np.linspace(z[0], z[-1], 200)])
    absolute = (np.abs(answers[:, None] - z[None, :]) @ posterior).min(axis=0)
    mean = z @ posterior
    squared = np.array([((z - m) ** 2) @ posterior[:, y] for y, m in enumerate(mean)])
    nearby = ((answers[:, None] - z[None, :]) ** 2 @ posterior).min(axis=0)
    return np.minimum(squared, nearby), absolute


def entropies() -> Section:
    """Section V-A1: Renyi's entropies, confidence sets, k-anonymity and l-diversity, all under 0/1 loss."""
    order = map_error = sets = equal = 0.0
    for channel, _, _ in random_cases(1, CASES):
        belief = channel.posterior()
        H0, H1, Hinf = renyi_entropies(belief, (0, 1, np.inf))
        error = bayes(belief)
        order = max(order, float((Hinf - H1).max()), float((H1 - H0).max()))
        map_error = max(map_error, float(np.abs(error.conditional - (1 - 2.0**-Hinf)).max()))
        sets = max(sets, float(np.abs(confidence_set_size(1.0).per_target(belief) - 2.0**H0).max()))
    for k in range(2, 30):
        uniform = Posterior.from_dense(np.array([np.append(np.full(k, 1 / k), np.zeros(3))]))
        H = renyi_entropies(uniform, (0, 1, np.inf)).ravel()
        P = bayes(uniform).average
        equal = max(equal, float(np.ptp(H)), abs(P - (1 - 1 / k)), abs(P - (1 - 2.0 ** -H[0])))
        equal = max(equal, abs(P - error_of("k_anonymity", k).low), abs(P - error_of("l_diversity", k).low))
    classes, records = _released_table()
    figure7 = Channel.from_joint(np.array([[1.0, 3.0], [3.0, 1.0]]) / 8)
    skewed = Posterior.from_dense(np.array([[0.9, 0.05, 0.05]]))
    verdicts = (
        below("H inf <= H1 <= H0", "eq. (6)", order, cases=CASES),
        below("equal if uniform on the support", "if and only if uniform", equal, cases=28),
        below("P(y) = 1 - max p = 1 - 2^-H inf", "eq. (7)", map_error, cases=CASES),
        below("the confidence set of 100 % has 2^H0 members", "yes", sets, cases=CASES, tolerance=1e-4),
        below("k records or l values alike: P(y) = 1 - 1/k = 1 - 2^-H0", "yes", equal, cases=28),
        same(
            f"P = 1 - classes / records ({classes} classes, {records} records)", "-", 1 - classes / records, _identity()
        ),
        Verdict(
            "3 distinct values, one of 90 %: not 1 - 1/3",
            "2/3 if uniform",
            f"{bayes(skewed).average:.2f}",
            abs(bayes(skewed).average - 0.1) < 1e-6,
        ),
        same("Figure 7: prior 1/2, belief 3/4, error", "3/4", 0.25, bayes(figure7.posterior()).average),
    )
    return Section(
        "V-A1: one observation, 0/1 loss", ("belief", "H inf", "H 1", "H 0", "P(y)"), _beliefs(), ("bits",), verdicts
    )


def sequences() -> Section:
    """Section V-A2: long sequences and the asymptotic equipartition property."""
    rows, size, low, likely, off = [], 0.0, 0.0, False, 0.0
    for k in (10, 50, 200, 500, 1000, 2000):
        found = typical_set(COIN, k=k, epsilon=0.05)
        size = max(size, found.log2_size - found.log2_high)
        if found.probability > 0.95:
            low = max(low, found.log2_low - found.log2_size)
        likely = likely or found.holds_most_likely
        off = max(off, abs(found.probability - _binomial(k, 0.05)))
        rows.append((f"{k}", f"{found.probability:.4f}", f"{found.log2_size:.1f}", f"{k * entropy(COIN):.1f}"))
    enough = crossing(lambda k: typical_set(COIN, k=k, epsilon=0.05).probability, 0.95, 10, 5000)
    rate, alone = markov_entropy_rate(CHAIN), entropy(stationary(CHAIN))
    short, long = (sample_typical_probability(k, 0.05, np.random.default_rng(k)) for k in (20, 2000))
    verdicts = (
        below("P(typical) by the binomial distribution", "-", off, cases=len(rows), tolerance=1e-9),
        below("at most 2^{k (H + e)} typical sequences", "yes", size, cases=len(rows)),
        below("at least (1 - e) 2^{k (H - e)} once P > 1 - e", "(Cover & Thomas)", low, cases=len(rows)),
        Verdict("the most likely sequence may not be typical", "may", "never, any k here", not likely),
        same("P(typical) at k = 50, e = 0.05", "close to 1, large k", 0.56, float(rows[1][1]), tolerance=0.005),
        Verdict("P > 1 - e needs k of about", "sufficiently large", f"{enough}", 250 < enough < 1500),
        same("entropy rate of a chain of two states, bits", "-", 0.557, rate, tolerance=5e-4),
        same("as if its steps were independent", "-", 0.650, alone, tolerance=5e-4),
        Verdict(
            "Shannon-McMillan-Breiman on that chain, e = 0.05",
            "P -> 1",
            f"{short:.2f} (20 steps), {long:.2f} (2,000)",
            long > 0.9 > short,
        ),
    )
    return Section(
        "V-A2: sequences of a coin of 0.3, e = 0.05",
        ("k", "P(typical)", "log2 size", "k H"),
        tuple(rows),
        ("Entropy is the size of what he has to search only for sequences of a thousand symbols.",),
        verdicts,
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


def _binomial(k: int, e: float) -> float:
    """P(|-log2 p(x) / k - H| <= e) for k tosses of the coin, from how many heads there are."""
    heads = np.arange(k + 1)
    surprise = -(heads * np.log2(COIN[0]) + (k - heads) * np.log2(COIN[1])) / k
    typical = np.abs(surprise - entropy(COIN)) <= e
    return float(binom.pmf(heads, k, COIN[0])[typical].sum())


def leaks() -> Section:
    """Section V-B: equation (8) corrected, R <= t <= delta, and what each criterion leaves of the error."""
    excess = dict.fromkeys(
        ("tv", "kl", "square", "gap", "gap kl", "looser", "mean", "R", "t", "delta", "eps", "I"), 0.0
    )
    ratio = {"regret": 0.0, "square": 0.0, "gap": 0.0}
    negative = 0
    for channel, loss, _ in random_cases(2, CASES):
        belief = channel.posterior()
        b, leak = bounds(belief, loss), leakages(belief)
        seen = b.weight > 0
        step = {
            "tv": float((b.regret - b.regret_by_variation)[seen].max()),
            "kl": float((b.regret - b.regret_by_divergence)[seen].max()),
            "square": b.mean_square_regret - b.mean_square_by_information,
            "gap": float((np.abs(b.gap) - b.gap_by_variation)[seen].max()),
            "gap kl": float((np.abs(b.gap) - b.gap_by_divergence)[seen].max()),
            "looser": float((b.regret_by_variation - b.regret_by_divergence)[seen].max()),
            "mean": abs(b.average_gap - b.average_regret),
            "R": b.information_nats - float(b.divergence_nats.max()),
            "t": float(b.divergence_nats.max()) - leak.delta,
            "delta": leak.delta - channel_epsilon(channel.dense()),
            "eps": channel_epsilon(channel.dense()) - 2 * leak.delta,
            "I": abs(b.information_nats / np.log(2) - _drop(channel)),
        }
        excess = {name: max(excess[name], value) for name, value in step.items()}
        negative += int(b.gap.min() < -1e-6)
        ratio["regret"] = max(ratio["regret"], float((b.regret / b.regret_by_variation)[seen].max()))
        ratio["gap"] = max(ratio["gap"], float((np.abs(b.gap) / b.gap_by_variation)[seen].max()))
        ratio["square"] = max(ratio["square"], b.mean_square_regret / b.mean_square_by_information)
    tight = _tightest()
    kept = "kept, constants {}".format
    verdicts = (
        below("regret(y) <= 2 dmax TV", "4 dmax TV (8)", excess["tv"], cases=CASES),
        below("regret(y) <= sqrt2 dmax sqrt(D)", "2 sqrt2 dmax sqrt(D) (8)", excess["kl"], cases=CASES),
        Verdict(
            "both are tight: regret / bound for two values", "-", f"{tight[0]:.4f}, {tight[1]:.4f}", min(tight) > 0.99
        ),
        below("E regret^2 <= 2 dmax^2 I", "8 dmax^2 I", excess["square"], cases=CASES),
        below("|prior - posterior error| <= dmax TV", "-", excess["gap"], cases=CASES),
        below("|prior - posterior error| <= dmax sqrt(D / 2)", "-", excess["gap kl"], cases=CASES),
        below("total variation bounds better than divergence", "yes", excess["looser"], cases=CASES),
        below("E (prior - posterior error) = E regret", "one and the same", excess["mean"], cases=CASES),
        below("R <= t", "yes", excess["R"], cases=CASES),
        below("t <= delta", "yes", excess["t"], cases=CASES),
        below("R = I(X;Y) = H(X) - H(X given Y)", "yes", excess["I"], cases=CASES, tolerance=1e-5),
        below("delta <= epsilon", "a loose relation", excess["delta"], cases=CASES, tolerance=1e-5),
        below("epsilon <= 2 delta", "-", excess["eps"], cases=CASES, tolerance=1e-5),
        *_conversions(),
    )
    rows = (
        ("regret / (2 dmax TV)", kept("4"), f"{ratio['regret']:.4f}"),
        ("|gap| / (dmax TV)", "-", f"{ratio['gap']:.4f}"),
        ("E regret^2 / (2 dmax^2 I)", kept("8"), f"{ratio['square']:.4f}"),
    )
    return Section(
        "V-B: what leakage bounds, any loss, divergences in nats",
        ("largest ratio in random cases", "published", "ours"),
        rows,
        (f"prior minus posterior error is negative for some y in {negative} of {CASES} cases.",),
        verdicts,
    )


def _conversions() -> tuple[Verdict, ...]:
    """Whether the error lies where each criterion says."""
    outside = dict.fromkeys(("one", "average"), 0.0)
    sampling = 0.0
    for channel, loss, kind in random_cases(3, CASES):
        belief = channel.posterior()
        error, leak = bayes(belief, loss), leakages(belief)
        graded, top, R0 = kind != "hamming", float(loss.max()), min(error.prior, float(loss.max()))
        ask = partial(error_of, prior_error=R0, dmax=top if graded else 1.0, graded=graded)
        for name, value in (
            ("t_closeness", min(leak.t_equal, 1.0)),
            ("t_closeness_kl", leak.t_divergence_bits),
            ("delta_disclosure", leak.delta),
            ("local_epsilon", channel_epsilon(channel.dense())),
        ):
            found = ask(name, value)
            outside["one"] = max(outside["one"], found.low - error.worst, float(error.conditional.max()) - found.high)
        found = ask("mutual_information", leak.mutual_information_bits)
        outside["average"] = max(outside["average"], found.low - error.average, error.average - found.high)
        if not graded:
            bits = float(leak.weight @ renyi_entropies(belief, (1,))[0])
            found = error_of("conditional_entropy", bits, n=channel.n_x)
            outside["average"] = max(outside["average"], found.low - error.average, error.average - found.high)
        if kind in ("hamming", "absolute"):
            drawn = sampling_error(loss)(belief)
            sampling = max(sampling, error.average - drawn, drawn - 2 * error.average)
    return (
        below(
            "t, t (KL), delta and epsilon: every error lies within",
            "bounds",
            outside["one"],
            cases=4 * CASES,
            tolerance=1e-5,
        ),
        below(
            "I and H(X given Y): the average error lies within",
            "bounds",
            outside["average"],
            cases=CASES,
            tolerance=1e-5,
        ),
        below("Bayes <= one who draws from his belief <= 2 Bayes", "-", sampling, cases=CASES // 2),
    )


def table_four() -> Section:
    """Section VII: Table IV, and the rule that follows from figure 4."""
    rows = tuple(
        (one.what, one.case, one.measure, "from section V" if one.completed else "section VII", one.attacker)
        for one in TABLE_IV
    )
    placed: dict[tuple[str, str], str] = {(one.what, one.case): one.measure for one in TABLE_IV if not one.completed}
    text = {
        ("identity", "best"): "k_anonymity",
        ("attribute", "best"): "l_diversity",
        ("attribute", "worst"): "t_closeness",
        ("attribute", "average"): "mutual_information",
        ("sender", "worst"): "min_entropy",
        ("sender", "average"): "shannon_entropy",
        ("sender", "best"): "hartley_entropy",
    }
    agree = sum(placed.get(cell) == measure for cell, measure in text.items())
    order, broken = _rankings()
    try:
        advise(what="attribute", loss="graded", rank_by="shannon_entropy")
        refused = False
    except UnmaskError:
        refused = True
    verdicts = (
        Verdict("cells that the text of section VII names", f"{len(text)}", f"{agree} agree", agree == len(text)),
        Verdict("under 0/1 loss min-entropy ranks as the error does", "yes", "always" if order else "not", order),
        Verdict(
            "entropy ranks by a graded loss too",
            "a special case",
            f"wrong in {broken:.0%} of pairs",
            False,
            required=broken == 0,
        ),
        Verdict("such a ranking is refused", "-", "refused" if refused else "given", refused),
    )
    return Section(
        "VII: Table IV, rebuilt from the text", ("domain", "case", "measure", "from", "attacker"), rows, (), verdicts
    )


def _rankings() -> tuple[bool, float]:
    """Whether min-entropy always ranks two beliefs as the 0/1 error does; how often Shannon's differs from |a - x|."""
    rng = np.random.default_rng(4)
    beliefs = Posterior.from_dense(rng.dirichlet(np.ones(6), size=400))
    hamming = bayes(beliefs).conditional
    graded = bayes(beliefs, "absolute", coordinates=np.arange(6.0)).conditional
    H1, Hinf = renyi_entropies(beliefs, (1, np.inf))
    a, b = np.arange(0, 400, 2), np.arange(1, 400, 2)
    clear = np.abs(hamming[a] - hamming[b]) > 1e-6
    agree = np.sign(hamming[a] - hamming[b])[clear] == np.sign(Hinf[a] - Hinf[b])[clear]
    return bool(agree.all()), float((np.sign(graded[a] - graded[b]) != np.sign(H1[a] - H1[b])).mean())


def _beliefs() -> tuple[tuple[str, ...], ...]:
    rows = []
    for name, p in (
        ("four alike", [0.25] * 4),
        ("two of four alike", [0.5, 0.5, 0.0, 0.0]),
        ("one of four likelier", [0.7, 0.1, 0.1, 0.1]),
        ("one all but sure", [0.97, 0.01, 0.01, 0.01]),
    ):
        belief = Posterior.from_dense(np.array([p]))
        H0, H1, Hinf = renyi_entropies(belief, (0, 1, np.inf)).ravel()
        rows.append((name, f"{Hinf:.3f}", f"{H1:.3f}", f"{H0:.3f}", f"{bayes(belief).average:.3f}"))
    return tuple(rows)


def _released_table() -> tuple[int, int]:
    sizes = _sizes()
    return len(sizes), int(sizes.sum())


def _sizes() -> NDArray[np.int64]:
    return np.array([3, 3, 4, 5, 7, 12, 1], dtype=np.int64)


def _identity() -> float:
    """Records shown as their class: the error of one who knows who is in the file."""
    of = np.repeat(np.arange(len(_sizes())), _sizes())
    return bayes(Channel(np.eye(len(_sizes()))[of]).posterior()).average


def _tightest() -> tuple[float, float]:
    """Regret over its two bounds: by variation where y is certain, by divergence where it hardly says anything."""
    q = 0.5 + 1e-4
    sure = bounds(Channel(np.eye(2), [q, 1 - q]).posterior())
    t = 0.005
    faint = bounds(
        Channel.from_joint(
            0.5 * np.array([[0.5 + t + 1e-5, 0.5 - t + 1e-5], [0.5 - t - 1e-5, 0.5 + t - 1e-5]])
        ).posterior()
    )
    return (
        float((sure.regret / sure.regret_by_variation).max()),
        float((faint.regret / faint.regret_by_divergence).max()),
    )


def _drop(channel: Channel) -> float:
    """H(X) - H(X given Y) in bits."""
    belief = channel.posterior()
    given = belief.observation_weight @ renyi_entropies(belief, (1,))[0]
    return entropy(channel.prior) - float(given)
