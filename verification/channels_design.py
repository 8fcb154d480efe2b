"""Problem (9) and the optimal mechanisms: closed forms beside what the solvers find."""

from __future__ import annotations

import numpy as np
from channels_case import LOSSES, Floats, below, entropy_nats, random_loss, same
from show import Section, Verdict

from unmask.channels import (
    Channel,
    coin_channel,
    constant_risk_channel,
    matched_optimum,
    optimal_mechanism,
    private_rate_distortion,
    rate_distortion,
)
from unmask.measures import bayes, mutual_information

NATS = float(np.log(2))

MATCHED = 240


def problem_nine() -> Section:
    """Least I(X;Y) at a distortion of what is released: X and X', Y and Y' the same or not.

    The Gaussian: correlation rho and distortion D of the variance, I = -ln(1 - rho^2 (1 - D)) / 2.
    """
    rows: list[tuple[str, ...]] = []
    shannon = _shannon(rows)
    side = _side_channel(rows)
    gaussian, discrete = _gaussian(rows)
    naive, whole = _blahut_on_released()
    verdicts = (
        below("X = X', Y = Y': Shannon's ln 2 - h(D)", "Shannon's rate distortion", shannon, cases=4),
        below("X behind a symmetric channel: ln 2 - h(a * D)", "-", side, cases=9, tolerance=5e-6),
        same(
            "Gaussians of correlation 0.8, on a grid",
            f"{gaussian:.4f}, closed form",
            gaussian,
            discrete,
            tolerance=1e-3,
        ),
        Verdict(
            "Blahut-Arimoto solves (9) too, run on X'",
            "if X = X'",
            f"leaks {min(naive):.0%} to {max(naive):.0%} more in 20 cases",
            holds=False,
            required=max(naive) <= 0.01,
        ),
        Verdict(
            "one who sees X as well never leaks more",
            "-",
            f"{min(whole):.0%} to {max(whole):.0%} less",
            min(whole) > -1e-5,
        ),
        _noisy_observer(),
    )
    return Section(
        "Problem (9): least I(X;Y) in nats at a distortion of the release",
        ("case", "closed form", "found", "certified gap"),
        tuple(rows),
        ("gap: the least rate is certified to lie between found - gap and found.",),
        verdicts,
    )


def _shannon(rows: list[tuple[str, ...]]) -> float:
    off = 0.0
    for D in (0.05, 0.1, 0.25, 0.4):
        found = rate_distortion([0.5, 0.5], 1 - np.eye(2), distortion=D)
        wanted = NATS - entropy_nats(D)
        off = max(off, abs(float(found.rate[0]) - wanted))
        rows.append((f"bit, D = {D}", f"{wanted:.6f}", f"{found.rate[0]:.6f}", f"{found.gap[0]:.1e}"))
    return off


def _side_channel(rows: list[tuple[str, ...]]) -> float:
    off = 0.0
    for a in (0.05, 0.1, 0.25):
        joint = np.array([[1 - a, a], [a, 1 - a]]) / 2
        for D in (0.1, 0.25, 0.4):
            found = private_rate_distortion(joint, 1 - np.eye(2), distortion=D)
            wanted = NATS - entropy_nats(a * (1 - D) + (1 - a) * D)
            off = max(off, abs(float(found.rate[0]) - wanted))
            rows.append((f"a = {a}, D = {D}", f"{wanted:.6f}", f"{found.rate[0]:.6f}", f"{found.gap[0]:.1e}"))
    return off


def _gaussian(rows: list[tuple[str, ...]]) -> tuple[float, float]:
    rho, D, x = 0.8, 0.2714, np.linspace(-4, 4, 41)
    wanted = float(-np.log(1 - rho**2 * (1 - D)) / 2)
    joint = np.exp(-(x[:, None] ** 2 - 2 * rho * x[:, None] * x + x**2) / (2 * (1 - rho**2)))
    joint /= joint.sum()
    found = private_rate_distortion(
        joint, (x[:, None] - x) ** 2, distortion=D * float(joint.sum(axis=0) @ x**2), gap=1e-4
    )
    rows.append((f"Gaussian, D = {D}", f"{wanted:.4f}", f"{found.rate[0]:.4f}", f"{found.gap[0]:.1e}"))
    return wanted, float(found.rate[0])


def _blahut_on_released() -> tuple[list[float], list[float]]:
    """How much more of X the rule leaks that bounds I(X';Y), and how much less one that sees X too."""
    more, less = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        joint = rng.dirichlet(np.full(120, 0.3)).reshape(12, 10) + 1e-6
        joint /= joint.sum()
        points = np.arange(10.0)
        cost, released = (points[:, None] - points[None, :]) ** 2, joint.sum(axis=0)
        D = 0.3 * float((cost @ released).min())
        best = private_rate_distortion(joint, cost, distortion=D, gap=1e-5)
        rule = rate_distortion(released, cost, distortion=D).rules[0]
        secret = Channel.from_joint(joint)
        leaked = NATS * mutual_information(secret.then(rule).posterior())
        more.append(leaked / float(best.rate[0]) - 1)
        if seed < 4:
            both = private_rate_distortion(joint, cost, distortion=D, sees="both", gap=1e-5)
            less.append(1 - float(both.rate[0]) / float(best.rate[0]))
    return more, less


def _noisy_observer() -> Verdict:
    """Y is Y' flipped with chance b: the leak is ln 2 - h(a * D * b)."""
    a, b, D = 0.1, 0.2, 0.25
    joint = np.array([[1 - a, a], [a, 1 - a]]) / 2
    seen = np.array([[1 - b, b], [b, 1 - b]])
    found = private_rate_distortion(joint, 1 - np.eye(2), distortion=D, observation=seen)
    once = a * (1 - D) + (1 - a) * D
    wanted = NATS - entropy_nats(once * (1 - b) + (1 - once) * b)
    return same("Y a noisy copy of Y': ln 2 - h(a * D * b)", "-", wanted, float(found.rate[0]), tolerance=5e-6)


def matched() -> Section:
    """With the same loss for both sides the optimum is min(D, R0), on average and at each output."""
    rows = []
    level = coins = worst_coin = lp = shown = 0.0
    programs = 0
    for number, kind in enumerate(LOSSES):
        flat = average = 0.0
        for seed in range(MATCHED // len(LOSSES)):
            rng = np.random.default_rng(1000 * number + seed)
            n = int(rng.integers(2, 25))
            prior, loss = rng.dirichlet(np.ones(n)), random_loss(rng, kind, n)
            R0 = float((loss @ prior).min())
            D = float(rng.uniform(0, 1.1)) * R0
            wanted = matched_optimum(prior, loss, D)
            channel = constant_risk_channel(prior, loss, D)
            each, spent = _risks(channel, loss)
            flat = max(flat, float(np.abs(each - wanted).max()) / max(R0, 1e-12))
            average = max(average, abs(spent - wanted) / max(R0, 1e-12))
            tossed, paid = _risks(coin_channel(prior, loss, D), loss)
            coin = coin_channel(prior, loss, D)
            p_y = coin.p_y[coin.p_y > 0]
            coins = max(coins, abs(float(p_y @ tossed) - wanted), abs(paid - wanted))
            if D < R0 and len(tossed) > 1:
                worst_coin = max(worst_coin, float(tossed.min()))
            if seed < 10 and n <= 12:
                found = optimal_mechanism(prior, loss, loss.T, D, method="full")
                lp, programs = max(lp, abs(found.privacy - wanted)), programs + 1
        level, shown = max(level, flat), max(shown, average)
        rows.append((kind, f"{MATCHED // len(LOSSES)}", f"{flat:.1e}", f"{average:.1e}"))
    verdicts = (
        below(
            "worst case: every output has the error min(D, R0) exactly",
            "worse average (V-B2)",
            level,
            cases=MATCHED,
            tolerance=1e-10,
        ),
        below("at distortion min(D, R0)", "-", shown, cases=MATCHED, tolerance=1e-10),
        below("truth or best guess by a coin: the same average", "-", coins, cases=MATCHED, tolerance=1e-10),
        below("but a worst case of 0", "-", worst_coin, cases=MATCHED, tolerance=1e-10),
        below("the linear program finds no more", "-", lp, cases=programs, tolerance=1e-6),
    )
    return Section(
        "One loss for user and attacker: the optimum is min(D, R0)",
        ("loss", "cases", "risk of an output off by", "distortion off by"),
        tuple(rows),
        ("R0: the attacker's error before the release. Relative to R0; 2 to 24 secrets, any prior, D up to 1.1 R0.",),
        verdicts,
    )


def mismatched() -> Section:
    """Where the losses differ, average and worst case do compete, and constraints cost."""
    prior = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
    points = np.array([0.0, 1.0, 2.0, 4.0, 8.0])
    far = np.abs(points[:, None] - points[None, :])
    wrong = 1 - np.eye(5)
    rows, found = [], {}
    for name, options in (
        ("best average", {}),
        ("best worst case", {"objective": "worst"}),
        ("average, epsilon <= 2", {"epsilon": 2.0}),
        ("average, delta <= 1", {"delta": 1.0}),
    ):
        one = optimal_mechanism(prior, far, wrong, 0.4, **options)
        found[name] = one
        rows.append((name, f"{one.privacy:.5f}", f"{one.worst:.5f}", f"{one.distortion:.4f}", f"{one.leakage:.4f}"))
    best, worst = found["best average"], found["best worst case"]
    cuts = optimal_mechanism(prior, far, wrong, 0.4, method="cuts")
    again = bayes(best.channel.posterior(), far)
    verdicts = (
        Verdict(
            "the best worst case has a worse average",
            "in general",
            f"{worst.privacy:.4f} < {best.privacy:.4f}",
            worst.privacy < best.privacy - 1e-6 and worst.worst > best.worst + 1e-6,
        ),
        same("the whole program and cutting planes agree", "-", best.privacy, cuts.privacy, tolerance=1e-7),
        same("the privacy of a design is what the Bayes attacker has", "-", best.privacy, again.average),
        Verdict(
            "epsilon and delta cost privacy at the same budget",
            "-",
            "yes",
            max(found["average, epsilon <= 2"].privacy, found["average, delta <= 1"].privacy) <= best.privacy + 1e-9,
        ),
    )
    return Section(
        "Two losses: the attacker minds the distance, the user whether it is wrong at all (at most 40 %)",
        ("mechanism", "average", "worst", "distortion", "nats"),
        tuple(rows),
        (),
        verdicts,
    )


def _risks(channel: Channel, loss: Floats) -> tuple[Floats, float]:
    """The Bayes risk at each output in use, in double precision, and the expected distortion d(y, x)."""
    joint = channel.dense() * channel.prior[:, None]
    p_y = joint.sum(axis=0)
    risk = (loss @ joint).min(axis=0)
    return risk[p_y > 1e-300] / p_y[p_y > 1e-300], float((joint * loss.T).sum())
