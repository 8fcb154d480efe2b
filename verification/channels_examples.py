"""The paper's examples: the binary system of section IV-D, noisy locations (VI-A) and a crowd (VI-B)."""

from __future__ import annotations

import numpy as np
from channels_case import Floats, below, refuted, same
from scipy.stats import norm
from show import Section, Verdict

from unmask import Posterior
from unmask.channels import Channel, Shrink, matched_optimum
from unmask.channels.datasets import Crowds
from unmask.measures import bayes, sampling_error
from unmask.measures.entropy import renyi_entropies
from unmask.measures.leakage import channel_epsilon

FLIPS = (0.0, 0.1, 0.25, 0.4, 0.49)

CROWDS = ((5, 0.3), (10, 0.05), (20, 0.5), (50, 0.2), (100, 0.8))

MESSAGES = 200_000


def binary() -> Section:
    """Section IV-D: a fair bit, flipped with probability p < 1/2."""
    rows, off, as_shown = [], 0.0, True
    for p in FLIPS:
        channel = Channel(np.array([[1 - p, p], [p, 1 - p]]))
        error = bayes(channel.posterior())
        distortion = float((channel.joint() * (1 - np.eye(2))).sum())
        limit = matched_optimum([0.5, 0.5], 1 - np.eye(2), distortion)
        off = max(off, *(abs(value - p) for value in (error.average, error.worst, distortion, limit)))
        as_shown = as_shown and list(error.answer) == [0, 1]
        rows.append((f"{p}", f"{error.average:.4f}", f"{error.worst:.4f}", f"{distortion:.4f}", f"{limit:.4f}"))
    utilities = np.linspace(0.5, 1.0, 101)[1:]
    curve = [matched_optimum([0.5, 0.5], 1 - np.eye(2), 1 - u) for u in utilities]
    verdicts = (
        Verdict("the best decision is what is shown", "x = y", "always" if as_shown else "not always", as_shown),
        Verdict("average privacy and distortion of the flip", "p and p", f"off by {off:.1e}", off < 1e-6),
        same("largest privacy at utility u0", "1 - u0, u0 > 1/2", 0.0, float(np.abs(curve - (1 - utilities)).max())),
        same("at utility below 1/2 (not in the paper)", "-", 0.5, matched_optimum([0.5, 0.5], 1 - np.eye(2), 0.8)),
    )
    return Section(
        "IV-D: a fair bit flipped with probability p, 0/1 loss",
        ("p", "average", "worst", "distortion", "limit"),
        tuple(rows),
        ("limit: the largest average privacy that any system of this distortion has.",),
        verdicts,
    )


def locations() -> Section:
    """Section VI-A: Gaussian location, Gaussian noise, squared error; in units of the spread of the location."""
    rows, privacy_off, twice_off = [], 0.0, 0.0
    for noise in (0.25, 0.5, 1.0, 2.0):
        P, D = privacy(noise), 2 * noise**2
        found, drawn, shown = line(noise)
        privacy_off, twice_off = max(privacy_off, abs(found - P)), max(twice_off, abs(drawn - 2 * found))
        shrunk, left = sampled(noise)
        rows.append(
            (
                f"{noise}",
                f"{P:.4f}",
                f"{found:.4f}",
                f"{D:.4f}",
                f"{shown:.4f}",
                f"{D - P:.4f}",
                f"{shrunk:.4f}",
                f"{left:.4f}",
            )
        )
    shrunk_off = max(abs(float(row[6]) - float(row[1])) / float(row[1]) for row in rows)
    left_off = max(abs(float(row[7]) - float(row[1])) / float(row[1]) for row in rows)
    whole, coarse = privacy(1.0), restricted(1.0)
    return Section(
        "VI-A: location and noise Gaussian, squared error (the paper gives no number; ours are exact)",
        ("noise", "P", "P found", "D", "D found", "wasted", "D shrunk", "P shrunk"),
        tuple(rows),
        (
            "noise: standard deviation on each axis, of the location 1. P = 2 sx2 sn2 / (sx2 + sn2), D = 2 sn2.",
            "found: a channel of 241 x 361 points on each axis. shrunk: the noisy point pulled to the center, drawn.",
        ),
        (
            same("P = 2 sx2 sn2 / (sx2 + sn2), on a fine grid", "mean squared error", 0.0, privacy_off, tolerance=2e-3),
            same("the shrunk point wastes nothing: D = P", "-", 0.0, shrunk_off, tolerance=0.01),
            same("and leaves the same privacy", "-", 0.0, left_off, tolerance=0.01),
            same("one who answers with a draw errs exactly twice as much", "-", 0.0, twice_off, tolerance=1e-5),
            Verdict(
                "answers restricted to cells one spread wide overstate P",
                "finite alphabets (IV-A)",
                f"{coarse:.4f}, not {whole:.4f}",
                coarse > 1.02 * whole,
            ),
        ),
    )


def privacy(noise: float) -> float:
    """P = 2 sx^2 sn^2 / (sx^2 + sn^2) with sx = 1."""
    return 2 * noise**2 / (1 + noise**2)


def line(noise: float, step: float = 0.05, reach: float = 6.0) -> tuple[float, float, float]:
    """Bayes error, error of a draw, and distortion on two axes, found on one axis cut into points."""
    x = np.arange(-reach, reach + step / 2, step)
    y = np.linspace(-reach - 4 * noise, reach + 4 * noise, 361)
    belief, joint = _line(x, y, noise)
    spread = float((joint * (x[:, None] - y[None, :]) ** 2).sum())
    drawn = sampling_error((x[:, None] - x[None, :]) ** 2)(belief)  # all pairs: no short cut for squared error
    return 2 * bayes(belief, "squared", coordinates=x).average, 2 * drawn, 2 * spread


def restricted(noise: float) -> float:
    """The error of one who knows the location only as cells one spread wide, and answers with a cell."""
    x = np.arange(-6.0, 6.5, 1.0)
    y = np.linspace(-10.0, 10.0, 361)
    belief, _ = _line(x, y, noise)
    return 2 * bayes(belief, (x[:, None] - x[None, :]) ** 2).average


def sampled(noise: float, points: int = 400_000) -> tuple[float, float]:
    """Distortion of the shrunk point, and the error of the best linear answer to it, both over draws."""
    rng = np.random.default_rng(1)
    true = rng.standard_normal((points, 2))
    shown = Shrink(noise, 1.0)(true, rng=rng)
    slope = float((true * shown).sum() / (shown**2).sum())
    error = true - slope * shown
    return float(((true - shown) ** 2).sum(axis=1).mean()), float((error**2).sum(axis=1).mean())


def simulate_crowd(
    channel: Channel, submit: float, messages: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return author, last holder and forwards of messages that are passed on one by one."""
    author = rng.choice(channel.n_x, size=messages, p=channel.prior)
    last, forwards, active = author.copy(), np.zeros(messages, dtype=np.int64), np.arange(messages)
    while len(active):
        active = active[rng.random(len(active)) >= submit]
        last[active] = rng.integers(channel.n_x, size=len(active))
        forwards[active] += 1
    return author, last, forwards


def crowds() -> Section:
    """Section VI-B: the variant of Crowds against the server."""
    rows, off, far, apart = [], 0.0, 0.0, 0.0
    for n, p in CROWDS:
        crowd = Crowds(n, p)
        belief = crowd.channel().posterior()
        error = bayes(belief)
        H0, H1, Hinf = (float(h.mean()) for h in renyi_entropies(belief, (0, 1, np.inf)))
        author, last, forwards = simulate_crowd(crowd.channel(), p, MESSAGES, np.random.default_rng(n))
        wrong, delay = float((author != last).mean()), float(forwards.mean())
        far = max(far, abs(wrong - crowd.estimation_error) / np.sqrt(wrong * (1 - wrong) / MESSAGES))
        far = max(far, abs(delay - (1 - p) / p) / (np.sqrt(1 - p) / p / np.sqrt(MESSAGES)))
        top = p + (1 - p) / n
        wanted = (
            (1 - p) * (1 - 1 / n),
            -np.log2(top),
            -top * np.log2(top) - (n - 1) * (1 - p) / n * np.log2((1 - p) / n),
            np.log2(n),
        )
        off = max(off, *(abs(a - b) for a, b in zip((error.average, Hinf, H1, H0), wanted, strict=True)))
        off = max(off, abs(error.worst - error.average), float(np.abs(_posterior(belief) - _ten(n, p)).max()))
        apart = max(apart, abs(channel_epsilon(crowd.channel().dense()) - np.log1p(p * n / (1 - p))))
        rows.append(
            (
                f"{n}",
                f"{p}",
                f"{wanted[0]:.4f}",
                f"{wrong:.4f}",
                f"{(1 - p) / p:.3f}",
                f"{delay:.3f}",
                f"{Hinf:.3f}",
                f"{H1:.3f}",
                f"{H0:.3f}",
                f"{crowd.epsilon:.3f}",
            )
        )
    return Section(
        "VI-B: a crowd of n, each submits with probability p",
        ("n", "p", "P", "simulated", "forwards", "simulated ", "H inf", "H 1", "H 0", "epsilon"),
        tuple(rows),
        (f"simulated: {MESSAGES:,} messages hop by hop; entropies in bits; epsilon = ln(1 + p n / (1 - p)) nats.",),
        (*_crowd_verdicts(off, far, apart), *_beyond_the_paper()),
    )


def _crowd_verdicts(off: float, far: float, apart: float) -> tuple[Verdict, ...]:
    p = np.linspace(0.01, 0.99, 99)
    errors = np.array([Crowds(20, float(q)).estimation_error for q in p])
    forwards = np.array([Crowds(20, float(q)).expected_delay for q in p])
    opposed = bool(np.all(np.diff(errors) < 0) and np.all(np.diff(forwards) < 0))
    both = bool(
        Crowds(100, 0.2).epsilon > Crowds(10, 0.2).epsilon
        and Crowds(100, 0.2).estimation_error > Crowds(10, 0.2).estimation_error
    )
    return (
        below("eq. (10), P = (1 - p)(1 - 1/n), the three entropies", "closed forms", off, cases=len(CROWDS)),
        Verdict("and in simulation", "-", f"{far:.2f} standard errors at most", far < 4.5),
        below("H inf <= H1 <= H0, equal only if uniform", "eq. (6)", 0.0 if _ordered() else 1.0, cases=len(CROWDS)),
        Verdict("the lower p, the more privacy and the more delay", "yes", "yes" if opposed else "no", opposed),
        below("epsilon = ln(1 + p n / (1 - p)) (not in the paper)", "-", apart, cases=len(CROWDS)),
        Verdict("a larger crowd: more error, and more epsilon", "-", "both grow" if both else "no", both),
    )


def _beyond_the_paper() -> tuple[Verdict, ...]:
    prior = np.append(0.9, np.full(9, 0.1 / 9))
    error = bayes(Crowds(10, 0.05).channel(prior).posterior())
    forced = Channel(np.full((10, 10), 0.1)).then(Crowds(10, 0.3).channel())
    perfect = bayes(forced.posterior()).average
    return (
        refuted(
            "the best guess is the last sender (prior 0.9, p = 0.05)",
            "x = y, uniform prior",
            f"always user 1, error {error.average:.3f}",
            bool(np.all(error.answer == 0)),
        ),
        Verdict(
            "without the first forced forward anonymity is worse",
            "worse, cheaper",
            f"{Crowds(10, 0.3).estimation_error:.3f}, with it {perfect:.3f} = 1 - 1/n",
            abs(perfect - 0.9) < 1e-6,
        ),
    )


def _ordered() -> bool:
    for n, p in CROWDS:
        H0, H1, Hinf = renyi_entropies(Crowds(n, p).channel().posterior(), (0, 1, np.inf))
        if not (np.all(Hinf < H1 - 1e-6) and np.all(H1 < H0 - 1e-6)):
            return False
    return True


def _ten(n: int, p: float) -> Floats:
    return np.full((n, n), (1 - p) / n) + p * np.eye(n)


def _posterior(belief: Posterior) -> Floats:
    dense = np.zeros((belief.n_observations, belief.n_candidates))
    dense[np.repeat(np.arange(belief.n_observations), belief.row_length), belief.candidate] = np.exp(
        belief.log_probability.astype(np.float64)
    )
    return dense


def _line(x: Floats, y: Floats, noise: float) -> tuple[Posterior, Floats]:
    prior = norm.pdf(x)
    rows = norm.pdf(y[None, :], loc=x[:, None], scale=noise)
    channel = Channel(rows / rows.sum(axis=1, keepdims=True), prior / prior.sum())
    return channel.posterior(), np.asarray(channel.joint())
