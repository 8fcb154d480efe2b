"""Noisy check-ins in Austin, and the error of adversaries by mechanism.

    UNMASK_DATA=... python verification/location_study.py

Half of the Gowalla users teach the attacker how the town is used: the prior of each cell of two kilometers, and how
one check-in follows another. Mechanisms show noisy places. The first table, about secrets drawn from that prior, is
exact, with the limit that no mechanism of the same distortion passes; the second is about the traces of the other half
of the users, where the attacker's model of people may be wrong: the believed error next to the real error.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from show import Section, Verdict, main

from unmask import UNKNOWN, Posterior, Truth
from unmask.channels import (
    BayesChannelAttack,
    Chain,
    Channel,
    Coin,
    HiddenMarkovAttack,
    PlanarGaussian,
    PlanarLaplace,
    Shrink,
    constant_risk_channel,
)
from unmask.channels.audit import audit_channels
from unmask.channels.datasets import Visits, gowalla
from unmask.channels.loss_model import LossModel
from unmask.measures import bayes, correctness, realized_error, sampling_error
from unmask.measures.leakage import channel_epsilon

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CELLS, SIZE = 10, 2_000.0

SESSION = 6 * 3600.0
"""Seconds between two check-ins of one trace, at most."""

STEPS, LEAST, MOST = 10, 3, 12
"""Check-ins of a trace, at most and at least; traces of a user, at most."""

LAPLACE, GAUSS, SHRUNK, COIN, FLAT = (1, 2, 4, 8), (1, 2, 4), (2, 4), (0.75, 0.5, 0.25), (0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
class Town:
    """Knowledge of the attacker about a town, and the traces of a test.

    prior    : (n,) share of check-ins of the known half of the users, a little for each cell
    steps    : (n, n) p(next cell given cell), of the same users
    loss     : (n, n) kilometers between cells
    traces   : (n_traces, STEPS) cells of the other half, UNKNOWN behind the end; whose : (n_traces,) user
    """

    visits: Visits
    prior: Floats
    steps: Floats
    loss: Floats
    traces: Ints
    user: Ints

    @property
    def present(self) -> NDArray[np.bool_]:
        """(n_traces * STEPS,) the steps that are there."""
        return np.asarray(self.traces != UNKNOWN).ravel()


@dataclass(frozen=True)
class Attempt:
    """One attacker on the traces: believed and realized error, in km per step.

    by_user : (n_users, 2) sum of errors and number of steps
    """

    believed: float
    realized: float
    by_user: Floats


@cache
def read_case() -> tuple[Town, dict[str, Channel]]:
    """Return the town and every mechanism."""
    town = read_town()
    return town, make_mechanisms(town)


def read_town(seed: int = 0) -> Town:
    """Read the town from half of its users, and traces from the other half."""
    visits = gowalla(cells=CELLS, size=SIZE)
    rng = np.random.default_rng(seed)
    teachers = rng.permutation(visits.users)[: len(visits.users) // 2]
    is_teacher = np.isin(visits.user, teachers)
    lessons = Visits(visits.grid, visits.user[is_teacher], visits.cell[is_teacher], visits.time[is_teacher])
    prior = lessons.prior(pseudocount=0.5)
    points = visits.grid.points / 1000.0
    loss = np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=-1))
    cells, user = _make_traces(
        Visits(visits.grid, visits.user[~is_teacher], visits.cell[~is_teacher], visits.time[~is_teacher])
    )
    return Town(visits, prior, _estimate_steps(lessons.transitions(max_seconds=SESSION), prior), loss, cells, user)


def _estimate_steps(counts: csr_array[np.float64, tuple[int, int]], prior: Floats) -> Floats:
    """Estimate p(next given cell): the counts, and five imagined steps to a cell drawn from the prior."""
    table = counts.toarray() + 5.0 * prior
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _make_traces(visits: Visits) -> tuple[Ints, Ints]:
    new = np.ones(len(visits.user), dtype=bool)
    new[1:] = (visits.user[1:] != visits.user[:-1]) | (np.diff(visits.time) > SESSION)
    start = np.flatnonzero(new)
    lines, users, n_traces = [], [], dict.fromkeys(visits.users.tolist(), 0)
    for begin, end in zip(start, np.append(start[1:], len(new)), strict=True):
        user = int(visits.user[begin])
        if end - begin >= LEAST and n_traces[user] < MOST:
            n_traces[user] += 1
            line = np.full(STEPS, UNKNOWN, dtype=np.int64)
            line[: min(STEPS, end - begin)] = visits.cell[begin : min(end, begin + STEPS)]
            lines.append(line)
            users.append(user)
    return np.array(lines), np.array(users)


def make_mechanisms(town: Town) -> dict[str, Channel]:
    """Return every mechanism, first the mechanism that the page shows in detail."""
    grid, prior, loss = town.visits.grid, town.prior, town.loss
    center = prior @ grid.points
    spread = float(np.sqrt((prior @ (grid.points - center) ** 2).mean()))
    channels: dict[str, Channel] = {
        f"Laplace, mean {km} km": PlanarLaplace(2.0 / (1000 * km)).channel(grid, prior) for km in LAPLACE
    }
    channels |= {f"Gaussian, {km} km": PlanarGaussian(1000.0 * km).channel(grid, prior) for km in GAUSS}
    middle = (float(center[0]), float(center[1]))
    channels |= {f"shrunk, {km} km": Shrink(1000.0 * km, spread, middle).channel(grid, prior) for km in SHRUNK}
    channels |= {f"coin, truth {keep:.0%}": Coin(keep).channel(prior, loss=loss) for keep in COIN}
    R0 = float((loss @ prior).min())
    channels |= {f"constant risk, {part:.0%}": constant_risk_channel(prior, loss, part * R0) for part in FLAT}
    detail = f"Laplace, mean {LAPLACE[1]} km"
    return {detail: channels[detail]} | channels


def verify_exact() -> Section:
    """Measure cost and privacy of every mechanism, for secrets drawn from the prior."""
    town, channels = read_case()
    model = LossModel(town.loss, name="euclidean", unit="km", distortion_unit="km")
    result = audit_channels(channels, model, title="Noisy check-ins in Austin")
    prior_error = result.table("channel").rows[0]["prior_error"]
    lines = [SimpleNamespace(**row) for row in result.table("channel_mechanisms").rows]
    rows, limit_excess, low, high, guess = [], -np.inf, -np.inf, -np.inf, -np.inf
    for mechanism in lines:
        sampled = sampling_error(town.loss)(channels[mechanism.name].posterior())
        likeliest = _measure_likeliest(channels[mechanism.name], town.loss)
        limit = min(mechanism.distortion, prior_error)
        limit_excess = max(limit_excess, mechanism.privacy - limit)
        low, high = max(low, mechanism.privacy - sampled), max(high, sampled - 2 * mechanism.privacy)
        guess = max(guess, mechanism.privacy - likeliest)
        epsilon = "infinite" if np.isinf(mechanism.epsilon) else f"{mechanism.epsilon:.2f}"
        numbers = (
            mechanism.distortion,
            mechanism.privacy,
            limit,
            mechanism.worst,
            sampled,
            likeliest,
            mechanism.leakage_bits,
        )
        rows.append((mechanism.name, *(f"{value:.3f}" for value in numbers), epsilon))
    by_name = {mechanism.name: mechanism for mechanism in lines}
    flat = [by_name[f"constant risk, {part:.0%}"] for part in FLAT]
    coins = [by_name[f"coin, truth {keep:.0%}"] for keep in COIN]
    far = float(town.loss.max())
    geo = max(channel_epsilon(channels[f"Laplace, mean {km} km"].dense()) - 2.0 / km * far for km in LAPLACE)
    shrunk = [(by_name[f"shrunk, {km} km"], by_name[f"Gaussian, {km} km"]) for km in SHRUNK]
    noisy = [mechanism for mechanism in lines if not mechanism.name.startswith(("coin", "constant"))]
    reached = [mechanism.privacy / min(mechanism.distortion, prior_error) for mechanism in noisy]
    verdicts = (
        _at_most("no mechanism leaves more than min(distortion, R0)", limit_excess, tolerance=1e-5),
        _at_most("Bayes <= one who draws from his belief", low),
        _at_most("and he errs at most twice as much", high, tolerance=1e-5),
        _at_most("Bayes <= one who names the likeliest cell", guess, tolerance=1e-5),
        _at_most(
            "constant risk: average = worst = distortion",
            max(
                max(abs(mechanism.privacy - mechanism.distortion), abs(mechanism.worst - mechanism.distortion))
                for mechanism in flat
            ),
            tolerance=1e-4,
        ),
        _at_most(
            "coin: average = distortion, worst 0",
            max(max(abs(mechanism.privacy - mechanism.distortion), mechanism.worst) for mechanism in coins),
            tolerance=1e-4,
        ),
        _at_most("Laplace noise keeps epsilon times the distance", geo),
        Verdict(
            "pulling the noisy point in costs less",
            "Gaussian prior",
            ", ".join(f"{a.distortion:.2f} for {b.distortion:.2f} km" for a, b in shrunk),
            all(a.distortion < b.distortion for a, b in shrunk),
        ),
        Verdict(
            "noise stays below the limit, shrunk or not",
            "-",
            f"{min(reached):.0%} to {max(reached):.0%} of it",
            max(reached) < 1,
        ),
    )
    header = ("mechanism", "distortion", "Bayes", "limit", "worst", "draws", "likeliest", "bits", "epsilon")
    notes = (
        f"kilometers; R0 = {prior_error:.3f} without any release; {len(town.prior)} cells of {SIZE / 1000:g} km.",
        "The attacker answers with a cell.",
    )
    return Section(
        "Secrets drawn from the prior of the town: privacy and distortion", header, tuple(rows), notes, verdicts
    )


def _measure_likeliest(channel: Channel, loss: Floats) -> float:
    """Return the expected loss of an adversary who takes the likeliest cell under any loss."""
    joint = channel.dense() * channel.prior[:, None]
    return float((loss[joint.argmax(axis=0)] * joint.T).sum())


def verify_traces() -> Section:
    """Compare believed and realized errors of attackers on the other half of the users."""
    town, channels = read_case()
    rng = np.random.default_rng(1)
    rows, z, gaps, order, knows = [], {}, [], -np.inf, -np.inf
    for name, channel in channels.items():
        outputs = _sample_outputs(town, channel, rng)
        single = _run_attack(town, BayesChannelAttack()(outputs[town.traces != UNKNOWN], channel), all_steps=False)
        walker = _run_attack(town, HiddenMarkovAttack()(outputs, Chain(town.steps, channel)), all_steps=True)
        drawn = _measure_draws(town, BayesChannelAttack()(outputs[town.traces != UNKNOWN], channel))
        gain, error = _compare(single, walker)
        z[name] = gain / error
        knows = max(knows, walker.believed - single.believed)
        gaps.append((single.realized / single.believed - 1, walker.realized / walker.believed - 1))
        order = max(order, single.realized - drawn)
        rows.append(
            (
                name,
                f"{single.believed:.3f}",
                f"{single.realized:.3f}",
                f"{drawn:.3f}",
                f"{walker.believed:.3f}",
                f"{walker.realized:.3f}",
                f"{gain:+.3f}",
                f"{error:.3f}",
            )
        )
    matched = [value for name, value in z.items() if name.startswith(("coin", "constant"))]
    noise = [value for name, value in z.items() if not name.startswith(("coin", "constant"))]
    single_gap, walker_gap = (max(map(abs, pair_of_gaps)) for pair_of_gaps in zip(*gaps, strict=True))
    verdicts = (
        _at_most("by his own account the trace tells him more than one look", knows),
        Verdict(
            "and so it does, where there is noise around the truth",
            "-",
            f"by {min(noise):.1f} standard errors at least",
            min(noise) > 2,
        ),
        Verdict(
            "and where the release is a coin or of constant risk",
            "-",
            f"by {min(matched):.1f} standard errors at least",
            min(matched) > 2,
            required=False,
        ),
        Verdict(
            "a single look: believed and realized error agree",
            "if calibrated",
            f"up to {single_gap:.0%} apart",
            single_gap < 0.1,
            required=False,
        ),
        Verdict(
            "whole traces: believed and realized error agree",
            "if calibrated",
            f"up to {walker_gap:.0%} apart",
            walker_gap < 0.1,
            required=False,
        ),
        _at_most("a draw from the belief errs more than the best answer", order),
    )
    header = ("mechanism", "look: believes", "errs", "draws", "trace: believes", "errs ", "gain", "s.e.")
    notes = (
        f"{len(town.traces):,} traces of {len(np.unique(town.user))} users, {int(town.present.sum()):,} check-ins.",
        "Kilometers a step; standard errors between users.",
        "look: one output at a time, the town as prior. trace: hidden Markov model, all outputs of the trace.",
        "Where few places stand for many, his model of the town misleads him: the trace may then help nothing.",
        "A gap between what he believes and what he errs is about his model of these people, not about the noise.",
    )
    return Section("Traces of users that the attacker did not learn from", header, tuple(rows), notes, verdicts)


def _sample_outputs(town: Town, channel: Channel, rng: np.random.Generator) -> Ints:
    outputs = np.full(town.traces.shape, UNKNOWN, dtype=np.int64)
    present = town.traces != UNKNOWN
    outputs[present] = channel.sample(town.traces[present], rng=rng)
    return outputs


def _run_attack(town: Town, belief: Posterior, *, all_steps: bool) -> Attempt:
    """Measure errors of a belief with a row for all steps of the table, or for the present steps."""
    cell = town.traces.ravel()[town.present]
    rows = np.flatnonzero(town.present) if all_steps else np.arange(len(cell))
    truth = np.full(belief.n_targets, UNKNOWN, dtype=np.int64)
    truth[rows] = cell
    paid = realized_error(town.loss).per_target(belief, Truth(truth))[rows]
    believed = bayes(belief, town.loss).conditional[belief.observation[rows]]
    user = np.repeat(town.user, STEPS)[town.present]
    number = np.unique(user, return_inverse=True)[1]
    by_user = np.stack([np.bincount(number, weights=paid), np.bincount(number).astype(np.float64)], axis=1)
    return Attempt(float(believed.mean()), float(paid.mean()), by_user)


def _measure_draws(town: Town, belief: Posterior) -> float:
    return correctness(town.loss)(belief, Truth(town.traces.ravel()[town.present]))


def _compare(first: Attempt, second: Attempt) -> tuple[float, float]:
    """Return the reduction of the error per step, and its standard error over users (ratio of sums)."""
    difference, steps = first.by_user[:, 0] - second.by_user[:, 0], first.by_user[:, 1]
    gain = float(difference.sum() / steps.sum())
    residual = difference - gain * steps
    n = len(steps)
    return gain, float(np.sqrt(n / (n - 1) * (residual**2).sum()) / steps.sum())


def _at_most(claim: str, excess: float, *, tolerance: float = 1e-6) -> Verdict:
    text = "kept by all" if excess <= tolerance else f"broken by {excess:.3g}"
    return Verdict(claim, "-", text, bool(excess <= tolerance))


if __name__ == "__main__":
    sys.exit(main(__doc__, {"exact": verify_exact, "traces": verify_traces}))
