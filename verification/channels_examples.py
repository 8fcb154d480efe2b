"""Examples of the paper: a binary system (IV-D), problem (9), noisy locations (VI-A), a crowd (VI-B); mixes."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator

import numpy as np
from channels_criteria import LOSSES, Floats, bound, make_loss
from numpy.typing import NDArray
from scipy.stats import norm
from show import Section, Verdict

from unmask.channels import (
    Channel,
    constant_risk_channel,
    matched_optimum,
    optimal_mechanism,
    private_rate_distortion,
    rate_distortion,
)
from unmask.channels.attacks import (
    FrequencyAttack,
    LeastSquaresDisclosure,
    NearestNeighborAttack,
    Rounds,
    Samples,
    bagai_entropy,
    edman_degree,
    gierlichs_degree,
)
from unmask.channels.datasets import Crowds
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.data import files
from unmask.measures import bayes, mutual_information, realized_success
from unmask.measures.entropy import renyi_entropies
from unmask.measures.interval import wilson

NATS = float(np.log(2))
MATCHED_CASES = 240
CROWDS = ((5, 0.3), (10, 0.05), (20, 0.5), (50, 0.2), (100, 0.8))
SYSTEM = np.array([[0, 1, 3], [2, 1, 1], [2, 2, 0]]) / 4
"""Senders and messages of a mix: three each (Edman, Bagai)."""
SAMPLES = {
    "train": "d3937a57d0ba82bedc80d510fdcc48bac1cebd0511917371d7b32f70c6d9186f",
    "test": "a4d50b007f68d643b6168c760a34cb522ad8ab8f6eccf2e2edc6146e2df99236",
}


def entropy_nats(p: float) -> float:
    """Return h(p), in nats."""
    return float(-p * np.log(p) - (1 - p) * np.log1p(-p)) if 0 < p < 1 else 0.0


def near(claim: str, published: str, expected: float, ours: float, *, tolerance: float = 1e-6) -> Verdict:
    """Return the verdict on a number: it holds within the tolerance."""
    return Verdict(claim, published, f"{ours:.6g}", bool(abs(ours - expected) <= tolerance))


def verify_binary() -> Section:
    """Section IV-D: a fair bit, flipped with probability p < 1/2."""
    rows, difference, as_shown = [], 0.0, True
    for p in (0.0, 0.1, 0.25, 0.4, 0.49):
        channel = Channel(np.array([[1 - p, p], [p, 1 - p]]))
        error = bayes(channel.posterior())
        distortion = float((channel.joint() * (1 - np.eye(2))).sum())
        limit = matched_optimum([0.5, 0.5], 1 - np.eye(2), distortion)
        values = (error.average, error.worst, distortion, limit)
        difference = max(difference, *(abs(value - p) for value in values))
        as_shown = as_shown and list(error.answer) == [0, 1]
        rows.append((p, *values))
    utilities = np.linspace(0.5, 1.0, 101)[1:]
    curve = np.array([matched_optimum([0.5, 0.5], 1 - np.eye(2), 1 - u) for u in utilities])
    return Section(
        "IV-D: a fair bit flipped with probability p, 0/1 loss",
        ("p", "average", "worst", "distortion", "limit"),
        rows,
        ("limit: the largest average privacy of any system with this distortion.",),
        (
            Verdict("the best decision is the output", "x = y", "always" if as_shown else "not always", as_shown),
            Verdict(
                "average privacy and distortion of the flip", "p and p", f"{difference:.1e} off", difference < 1e-6
            ),
            near(
                "largest privacy at utility u0", "1 - u0, u0 > 1/2", 0.0, float(np.abs(curve - (1 - utilities)).max())
            ),
        ),
    )


# --- problem (9) and the optimal mechanisms --------------------------------------------------------------------------


def verify_design() -> Section:
    """Problem (9): the least I(X;Y) at a distortion of the release; and one loss for user and attacker.

    The Gaussian: correlation rho and distortion D of the variance, I = -ln(1 - rho^2 (1 - D)) / 2.
    """
    shannon = max(
        abs(float(rate_distortion([0.5, 0.5], 1 - np.eye(2), distortion=D).rate[0]) - (NATS - entropy_nats(D)))
        for D in (0.05, 0.1, 0.25, 0.4)
    )
    gaussian, discrete = _solve_gaussian()
    excess = [_blahut_excess(np.random.default_rng(seed)) for seed in range(20)]
    flat = max(_matched_excess(number, seed) for number in range(len(LOSSES)) for seed in range(60))
    average, worst = _solve_mismatched()
    return Section(
        "Problem (9), in nats, and designs with one loss or two",
        verdicts=(
            bound("X = X', Y = Y': Shannon's ln 2 - h(D)", "Shannon's rate distortion", shannon, cases=4),
            near("Gaussians of correlation 0.8, on a grid", f"{gaussian:.4f}", gaussian, discrete, tolerance=1e-3),
            Verdict(
                "Blahut-Arimoto solves (9) too, run on X'",
                "if X = X'",
                f"leaks {min(excess):.0%} to {max(excess):.0%} more in 20 cases",
                max(excess) <= 0.01,
                required=max(excess) <= 0.01,
            ),
            bound(
                "one loss, worst case: every output has the error min(D, R0) exactly",
                "worse average (V-B2)",
                flat,
                cases=MATCHED_CASES,
                tolerance=1e-10,
            ),
            Verdict(
                "two losses: the best worst case has a worse average",
                "in general",
                f"{worst.privacy:.4f} < {average.privacy:.4f}",
                worst.privacy < average.privacy - 1e-6 and worst.worst > average.worst + 1e-6,
            ),
        ),
    )


def _solve_gaussian() -> tuple[float, float]:
    """Return the closed form and the rate on a grid."""
    rho, D, x = 0.8, 0.2714, np.linspace(-4, 4, 41)
    joint = np.exp(-(x[:, None] ** 2 - 2 * rho * x[:, None] * x + x**2) / (2 * (1 - rho**2)))
    joint /= joint.sum()
    distortion = D * float(joint.sum(axis=0) @ x**2)
    result = private_rate_distortion(joint, (x[:, None] - x) ** 2, distortion=distortion, gap=1e-4)
    return float(-np.log(1 - rho**2 * (1 - D)) / 2), float(result.rate[0])


def _blahut_excess(rng: np.random.Generator) -> float:
    """Return the excess leakage about X of the rule that bounds I(X';Y)."""
    joint = rng.dirichlet(np.full(120, 0.3)).reshape(12, 10) + 1e-6
    joint /= joint.sum()
    points = np.arange(10.0)
    cost, released = (points[:, None] - points[None, :]) ** 2, joint.sum(axis=0)
    D = 0.3 * float((cost @ released).min())
    optimum = private_rate_distortion(joint, cost, distortion=D, gap=1e-5)
    rule = rate_distortion(released, cost, distortion=D).rules[0]
    leakage = NATS * mutual_information(Channel.from_joint(joint).then(rule).posterior())
    return leakage / float(optimum.rate[0]) - 1


def _matched_excess(number: int, seed: int) -> float:
    """Return the largest distance of an output's Bayes risk from min(D, R0), relative to R0."""
    rng = np.random.default_rng(1000 * number + seed)
    n = int(rng.integers(2, 25))
    prior, loss = rng.dirichlet(np.ones(n)), make_loss(rng, LOSSES[number], n)
    R0 = float((loss @ prior).min())
    D = float(rng.uniform(0, 1.1)) * R0
    channel = constant_risk_channel(prior, loss, D)
    joint = channel.dense() * channel.prior[:, None]
    used = joint.sum(axis=0) > 1e-300
    risk = ((loss @ joint).min(axis=0) / joint.sum(axis=0))[used]
    return float(np.abs(risk - matched_optimum(prior, loss, D)).max()) / max(R0, 1e-12)


def _solve_mismatched() -> list:
    """Return designs for the best average and the best worst case: distance for the attacker, 0/1 for the user."""
    prior, points = np.array([0.3, 0.25, 0.2, 0.15, 0.1]), np.array([0.0, 1.0, 2.0, 4.0, 8.0])
    distance = np.abs(points[:, None] - points[None, :])
    return [optimal_mechanism(prior, distance, 1 - np.eye(5), 0.4, objective=name) for name in ("average", "worst")]


# --- section VI ------------------------------------------------------------------------------------------------------


def verify_locations() -> Section:
    """Section VI-A: Gaussian location, Gaussian noise, squared error; in units of the spread of the location."""
    x, rows = np.arange(-6.0, 6.025, 0.05), []
    for noise in (0.25, 0.5, 1.0, 2.0):
        belief, joint, y = _make_line(x, noise)
        P, D = 2 * noise**2 / (1 + noise**2), 2 * noise**2
        error = 2 * bayes(belief, "squared", coordinates=x).average
        rows.append((noise, P, error, D, 2 * float((joint * (x[:, None] - y) ** 2).sum()), D - P))
    cells = np.arange(-6.0, 6.5, 1.0)
    coarse = 2 * bayes(_make_line(cells, 1.0)[0], (cells[:, None] - cells) ** 2).average
    difference = max(abs(P - error) for _, P, error, *_ in rows)
    claim = "P = 2 sx2 sn2 / (sx2 + sn2), on a fine grid"
    return Section(
        "VI-A: location and noise Gaussian, squared error (the paper gives no number; ours are exact)",
        ("noise", "P", "P on a grid", "D", "D on a grid", "wasted"),
        rows,
        ("noise: standard deviation on each axis, of the location 1. P = 2 sx2 sn2 / (sx2 + sn2), D = 2 sn2.",),
        (
            near(claim, "mean squared error", 0.0, difference, tolerance=2e-3),
            Verdict(
                "answers restricted to cells one spread wide overstate P",
                "finite alphabets (IV-A)",
                f"{coarse:.4f}, not 1.0000",
                coarse > 1.02,
            ),
        ),
    )


def _make_line(x: Floats, noise: float) -> tuple:
    """Return belief, joint distribution and outputs on one axis that is cut into points."""
    y = np.linspace(-6 - 4 * noise, 6 + 4 * noise, 361)
    rows, prior = norm.pdf(y[None, :], loc=x[:, None], scale=noise), norm.pdf(x)
    channel = Channel(rows / rows.sum(axis=1, keepdims=True), prior / prior.sum())
    return channel.posterior(), np.asarray(channel.joint()), y


def verify_crowds() -> Section:
    """Section VI-B: the variant of Crowds against the server."""
    rows, difference, ordered = [], 0.0, True
    for n, p in CROWDS:
        crowd = Crowds(n, p)
        belief = crowd.channel().posterior()
        error, top = bayes(belief), p + (1 - p) / n
        entropies = renyi_entropies(belief, (np.inf, 1, 0))
        expected = (
            (1 - p) * (1 - 1 / n),
            -np.log2(top),
            -top * np.log2(top) - (n - 1) * (1 - p) / n * np.log2((1 - p) / n),
            np.log2(n),
        )
        values = (error.average, *(float(h.mean()) for h in entropies))
        difference = max(difference, *(abs(a - b) for a, b in zip(values, expected, strict=True)))
        difference = max(difference, abs(error.worst - error.average))
        ordered = ordered and bool(np.all(np.diff(entropies, axis=0) > 1e-6))
        rows.append((n, p, *values, crowd.epsilon))
    return Section(
        "VI-B: a crowd of n, each submits with probability p; entropies in bits",
        ("n", "p", "P", "H inf", "H 1", "H 0", "epsilon"),
        rows,
        (),
        (
            bound("eq. (10), P = (1 - p)(1 - 1/n), the three entropies", "closed forms", difference, cases=len(CROWDS)),
            Verdict("H inf <= H1 <= H0, equal only if uniform", "eq. (6)", "kept" if ordered else "broken", ordered),
            *_crowd_verdicts(),
        ),
    )


def _crowd_verdicts() -> Iterator[Verdict]:
    crowds = [Crowds(20, float(p)) for p in np.linspace(0.01, 0.99, 99)]
    falls = [np.all(np.diff([getattr(c, name) for c in crowds]) < 0) for name in ("estimation_error", "expected_delay")]
    claim = "the lower p, the more privacy and the more delay"
    yield Verdict(claim, "yes", "yes" if all(falls) else "no", all(falls))
    error = bayes(Crowds(10, 0.05).channel(np.append(0.9, np.full(9, 0.1 / 9))).posterior())
    is_example = bool(np.all(error.answer == 0))
    claim = "the best guess is the last sender (prior 0.9, p = 0.05)"
    ours = f"always user 1, error {error.average:.3f}"
    yield Verdict(claim, "x = y, uniform prior", ours, holds=False, required=not is_example)
    forced = bayes(Channel(np.full((10, 10), 0.1)).then(Crowds(10, 0.3).channel()).posterior()).average
    claim = "without the first forced forward anonymity is worse"
    ours = f"{Crowds(10, 0.3).estimation_error:.3f}, with it {forced:.3f} = 1 - 1/n"
    yield Verdict(claim, "worse, cheaper", ours, abs(forced - 0.9) < 1e-6)


# --- published numbers about other systems ---------------------------------------------------------------------------


def verify_samples() -> Section:
    """Check the samples of a geometric mechanism (nu = 4) that come with F-BLEAU: Bayes risk 0.456, by its authors."""
    title = "Samples of a geometric mechanism (F-BLEAU): Bayes risk 0.456"
    try:
        (x, y), (fresh, fresh_y) = (_read_samples(part) for part in SAMPLES)
    except (UnmaskError, FailedError) as reason:
        return Section(title, ("skipped",), ((str(reason),),))
    secrets = np.unique(np.concatenate([x, fresh]))
    x, fresh, n = np.searchsorted(secrets, x), np.searchsorted(secrets, fresh), len(secrets)
    outputs, place = np.unique(np.concatenate([y, fresh_y]), axis=0, return_inverse=True)
    known, seen = np.split(place.ravel(), [len(x)])
    unseen = float(np.isin(seen, known, invert=True).mean())
    results = {"counts": _err_held_out(FrequencyAttack()(seen, Samples(x, known, n, len(outputs))), fresh)}
    guess = float((fresh != np.bincount(x).argmax()).mean())
    rng = np.random.default_rng(0)
    few, chosen = rng.choice(len(x), 20_000, replace=False), rng.choice(len(fresh), 2_000, replace=False)
    few = few[(np.abs(y).max(axis=1) < 1e6)[few]]  # some values overflowed when they were made
    for k in (1, 10):
        train = Samples(x[few], y[few].astype(np.float64), n)
        points = np.clip(fresh_y[chosen], -1e6, 1e6).astype(np.float64)
        results[f"{k} nearest"] = _err_held_out(NearestNeighborAttack(k)(points, train), fresh[chosen])
    lower_bound, least = _bound_by_cover_hart(results["1 nearest"][1], n), min(risk[0] for risk in results.values())
    return Section(
        title,
        ("attack", "held-out error", "low", "high"),
        (
            ("most frequent secret", guess, "", ""),
            *((name, *risk) for name, risk in results.items()),
        ),
        (f"{n} secrets, {len(outputs):,} outputs; {unseen:.0%} of fresh samples show a new one.",),
        (
            near("error of the most frequent secret", "0.913", 0.913, guess, tolerance=2e-3),
            Verdict(
                "every attack that learns errs at least 0.456",
                "0.456",
                f"{least:.3f}",
                min(high for _, _, high in results.values()) > 0.456,
            ),
            Verdict(
                "Cover & Hart: a lower bound from one nearest neighbor",
                "<= 0.456",
                f"{lower_bound:.3f}",
                lower_bound <= 0.456,
            ),
        ),
    )


def _err_held_out(belief: Posterior, secret: NDArray[np.int64]) -> tuple[float, float, float]:
    """Return the share of wrong guesses about fresh samples, and its 95 % Wilson interval."""
    assert realized_success.realized is not None
    error = 1.0 - float(realized_success.realized(belief, Truth(secret)).mean())
    return error, *wilson(error, len(secret))


def _bound_by_cover_hart(error: float, n: int) -> float:
    """Return the lower bound of the Bayes risk of n secrets by the error of the nearest neighbor (theorem 1, 1967)."""
    guessing = (n - 1) / n
    return float(guessing * (1.0 - np.sqrt(max(0.0, 1.0 - error / guessing))))


def _read_samples(part: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (n,) secrets and (n, 2) outputs."""
    path = files.locate(f"traces/channels/geometric4_{part}.csv.gz", sha256=SAMPLES[part])
    with gzip.open(path, "rt", encoding="utf-8") as text:
        table = np.array([[int(float(cell)) for cell in row] for row in csv.reader(text)], dtype=np.int64)
    return table[:, 0], table[:, 1:]


def verify_degrees() -> Section:
    """Compare the degrees of anonymity of one system, and refuse an estimate that is not identifiable."""
    edman, bagai = edman_degree(SYSTEM, kind="stochastic"), bagai_entropy(SYSTEM).degree
    patterns = gierlichs_degree(np.ones((3, 3)), sender=np.array([0, 0, 1]), receiver=np.array([0, 0, 1]))
    rng = np.random.default_rng(0)
    sent = np.column_stack([np.ones(400), rng.multinomial(9, np.full(29, 1 / 29), size=400)])
    try:
        LeastSquaresDisclosure().estimate(Rounds(sent, rng.multinomial(10, np.full(20, 0.05), size=400).astype(float)))
        outcome = "estimated"
    except UnmaskError:
        outcome = "refused"
    claim = "target in every round, constant batch: no answer"
    return Section(
        "Anonymity systems: one system in several degrees; disclosure",
        verdicts=(
            near("Edman's degree of the system", "0.773", 0.773, edman, tolerance=5e-4),
            near("Bagai's degree of the same system", "0.501", 0.501, bagai, tolerance=5e-4),
            near("two patterns of 1/3 and 2/3", "0.9183 bits", 0.9183, patterns.entropy_bits, tolerance=5e-5),
            Verdict(claim, "not identifiable", outcome, outcome == "refused"),
        ),
    )
