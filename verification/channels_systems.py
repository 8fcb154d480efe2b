"""Around the paper: attacks that learn, and mixes."""

from __future__ import annotations

import csv
import gzip
from itertools import permutations

import numpy as np
from channels_case import Floats, same
from numpy.typing import NDArray
from show import Section, Verdict

from unmask.channels import Channel
from unmask.channels.attacks import (
    FrequencyAttack,
    LeastSquaresDisclosure,
    MatchingAttack,
    NearestNeighborAttack,
    Rounds,
    Samples,
    StatisticalDisclosure,
    bagai_entropy,
    edman_degree,
    gierlichs_degree,
)
from unmask.channels.criteria import learned_risk
from unmask.core.errors import FailedError, UnmaskError
from unmask.data import files

SYSTEM = np.array([[0, 1, 3], [2, 1, 1], [2, 2, 0]]) / 4
"""Who may have sent what: three senders, three messages (Edman, Bagai)."""

GEOMETRIC = {
    "train": "d3937a57d0ba82bedc80d510fdcc48bac1cebd0511917371d7b32f70c6d9186f",
    "test": "a4d50b007f68d643b6168c760a34cb522ad8ab8f6eccf2e2edc6146e2df99236",
}


def learning() -> Section:
    """How well the Bayes risk is found from samples of a system: too few make every estimate wrong."""
    rng = np.random.default_rng(0)
    secrets, outputs = 100, 10_000
    channel = Channel(rng.dirichlet(np.full(outputs, 0.05), size=secrets))
    risk = 1 - float(np.asarray(channel.joint()).max(axis=0).sum())
    rows, ordered, numbers = [], True, []
    fresh = rng.integers(secrets, size=10_000)
    seen = channel.sample(fresh, rng=rng)
    for n in (10_000, 100_000):
        x = rng.integers(secrets, size=n)
        trained = Samples(x, channel.sample(x, rng=rng), secrets, outputs)
        found = learned_risk(FrequencyAttack(), trained, Samples(fresh, seen, secrets))
        resubstitution = learned_risk(FrequencyAttack(), trained, trained).held_out
        ordered = ordered and resubstitution < risk < found.low
        numbers += [resubstitution, found.held_out]
        rows.append(
            (
                f"{n:,}",
                f"{risk:.3f}",
                f"{resubstitution:.3f}",
                f"{found.held_out:.3f}",
                f"{found.low:.4f} to {found.high:.4f}",
                f"{found.unseen:.0%}",
            )
        )
    return Section(
        "Learning from samples: 100 secrets, 10,000 outputs",
        ("samples", "Bayes risk", "on its own samples", "held out", "95 % interval", "never seen"),
        tuple(rows),
        ("The interval is about this attack: it does not hold the Bayes risk, and need not.",),
        (
            Verdict("own samples < Bayes risk < held out, interval and all", "-", "yes" if ordered else "no", ordered),
            Verdict(
                "10,000 samples say next to nothing about the Bayes risk",
                "-",
                f"{numbers[1] - numbers[0]:.2f} between the two",
                numbers[1] - numbers[0] > 0.5 > numbers[3] - numbers[2],
            ),
        ),
    )


def published_samples() -> Section:
    """The samples of a geometric mechanism (nu = 4) that come with F-BLEAU: Bayes risk 0.456, by its authors."""
    title = "Samples of a geometric mechanism (F-BLEAU): Bayes risk 0.456"
    try:
        (x, y), (fresh, seen) = (_samples(part) for part in GEOMETRIC)
    except (UnmaskError, FailedError) as reason:
        return Section(title, ("skipped",), ((str(reason),),))
    secrets = np.unique(np.concatenate([x, fresh]))
    x, fresh = np.searchsorted(secrets, x), np.searchsorted(secrets, fresh)
    table, place = np.unique(np.concatenate([y, seen]), axis=0, return_inverse=True)
    place = place.ravel()
    n = len(secrets)
    counted = Samples(x, place[: len(x)], n, len(table))
    by_count = learned_risk(FrequencyAttack(), counted, Samples(fresh, place[len(x) :], n))
    guess = float((fresh != np.bincount(x).argmax()).mean())
    rng = np.random.default_rng(0)
    few, some = rng.choice(len(x), 20_000, replace=False), rng.choice(len(fresh), 2_000, replace=False)
    close = np.abs(y).max(axis=1) < 1e6  # a few values overflowed where they were made
    few = few[close[few]]
    near = {
        k: learned_risk(
            NearestNeighborAttack(k),
            Samples(x[few], y[few].astype(np.float64), n),
            Samples(fresh[some], np.clip(seen[some], -1e6, 1e6).astype(np.float64), n),
        )
        for k in (1, 10)
    }
    rows = (
        ("most frequent secret", "80,000", f"{guess:.3f}", "", ""),
        ("counts", "80,000", f"{by_count.held_out:.3f}", f"{by_count.low:.3f} to {by_count.high:.3f}", "0.456"),
        *(
            (f"{k} nearest", f"{len(few):,}", f"{one.held_out:.3f}", f"{one.low:.3f} to {one.high:.3f}", "0.456")
            for k, one in near.items()
        ),
    )
    return Section(
        title,
        ("attack", "samples", "held-out error", "95 % interval", "Bayes risk"),
        rows,
        (f"{len(secrets)} secrets, {len(table):,} outputs; {by_count.unseen:.0%} of fresh samples show a new one.",),
        (
            same("error of the most frequent secret", "0.913", 0.913, guess, tolerance=2e-3),
            Verdict(
                "every attack that has learned errs at least 0.456",
                "0.456",
                f"{min(by_count.held_out, *(one.held_out for one in near.values())):.3f}",
                min(by_count.high, *(one.high for one in near.values())) > 0.456,
            ),
            Verdict(
                "Cover & Hart: a lower bound from one nearest neighbor",
                "<= 0.456",
                f"{near[1].cover_hart:.3f}",
                near[1].cover_hart <= 0.456,
            ),
        ),
    )


def mixes() -> Section:
    """Degrees of anonymity of a system, and who writes to whom through a mix."""
    edman, bagai = edman_degree(SYSTEM, kind="stochastic"), bagai_entropy(SYSTEM)
    patterns = gierlichs_degree(np.ones((3, 3)), sender=np.array([0, 0, 1]), receiver=np.array([0, 0, 1]))
    marginals = MatchingAttack(method="exact").marginals(SYSTEM).probability
    listed = _by_hand(SYSTEM)
    try:
        LeastSquaresDisclosure().estimate(_rounds(np.random.default_rng(0), always=True)[0])
        refused = "estimated"
    except UnmaskError:
        refused = "refused"
    with_breaks = LeastSquaresDisclosure(senders=(0,)).estimate(_rounds(np.random.default_rng(0), always=False)[0])
    scores = []
    for seed in range(40):
        rounds, profile = _rounds(np.random.default_rng(seed), always=False)
        found = StatisticalDisclosure(senders=(0,)).estimate(rounds)
        scores.append((found.estimate[0] - profile[0]) / found.standard_error[0])
    z = np.array(scores)
    rows = (
        ("Edman, permanent of chances", f"{edman:.3f}"),
        ("Bagai, entropy of matchings", f"{bagai.degree:.3f}"),
        ("Gierlichs, 6 matchings in 2 patterns", f"{patterns.entropy_bits:.4f} bits"),
        ("least squares, target in every round", refused),
        ("least squares, rounds without the target", f"error {with_breaks.standard_error.mean():.3f}"),
    )
    return Section(
        "Anonymity systems: one system in several degrees; disclosure",
        ("measure", "ours"),
        rows,
        (),
        (
            same("Edman's degree of the system", "0.773", 0.773, edman, tolerance=5e-4),
            same("Bagai's degree of the same system", "0.501", 0.501, bagai.degree, tolerance=5e-4),
            same("two patterns of chances 1/3 and 2/3", "0.9183 bits", 0.9183, patterns.entropy_bits, tolerance=5e-5),
            same("marginals over matchings, listed by hand", "-", 0.0, float(np.abs(marginals - listed).max())),
            Verdict(
                "target in every round, constant batch: no answer", "not identifiable", refused, refused == "refused"
            ),
            Verdict(
                "averages are unbiased in units of their own error",
                "-",
                f"mean {z.mean():.2f}, spread {z.std():.2f}",
                bool(np.abs(z.mean(axis=0)).max() < 4 / np.sqrt(len(z)) and 0.85 < z.std() < 1.15),
            ),
        ),
    )


def _by_hand(W: Floats) -> Floats:
    total = np.zeros_like(W, dtype=np.float64)
    for order in permutations(range(len(W))):
        chance = np.prod([W[i, j] for i, j in enumerate(order)])
        total[np.arange(len(W)), order] += chance
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _rounds(rng: np.random.Generator, *, always: bool, rounds: int = 400, batch: int = 10) -> tuple[Rounds, Floats]:
    """Thirty senders and twenty receivers; sender 0 sends one message in every round, or in half of them."""
    profile = rng.dirichlet(np.full(20, 0.5), size=30)
    inside = np.ones(rounds, dtype=bool) if always else rng.random(rounds) < 0.5
    sent = np.stack([rng.multinomial(batch - int(i), np.append(0.0, np.full(29, 1 / 29))) for i in inside])
    sent[:, 0] = inside
    received = np.array([sum(rng.multinomial(m, profile[s]) for s, m in enumerate(row) if m) for row in sent])
    return Rounds(sent.astype(np.float64), received.astype(np.float64)), profile


def _samples(part: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(n,) secrets and (n, 2) outputs."""
    path = files.locate(f"traces/channels/geometric4_{part}.csv.gz", sha256=GEOMETRIC[part])
    with gzip.open(path, "rt", encoding="utf-8") as text:
        table = np.array([[int(float(cell)) for cell in row] for row in csv.reader(text)], dtype=np.int64)
    return table[:, 0], table[:, 1:]
