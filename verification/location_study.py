"""Noisy check-ins in Austin, and the error of adversaries by mechanism.

    UNMASK_DATA=... python verification/location_study.py [--report FILE]

Half of the Gowalla users teach the attacker how the town is used: the prior of each cell of two kilometers, and how
one check-in follows another. Mechanisms show noisy places. The first table, about secrets drawn from that prior, is
exact, with the limit that no mechanism of the same distortion passes; the second is about the traces of the other half
of the users, where the attacker's model of people may be wrong: what he believes he errs beside what he really errs.
`--report` writes the first as one HTML page. Exit code 1 if a verdict that must hold fails; half a minute.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from show import Section, Verdict, run

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
from unmask.core.errors import FailedError, UnmaskError
from unmask.measures import bayes, correctness, realized_error, sampling_error
from unmask.measures.leakage import channel_epsilon
from unmask.render.page import render
from unmask.results import Result

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
    """What the attacker knows of a town, and the traces that he is tried on.

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
    whose: Ints

    @property
    def seen(self) -> NDArray[np.bool_]:
        """(n_traces * STEPS,) the steps that are there."""
        return np.asarray(self.traces != UNKNOWN).ravel()


@dataclass(frozen=True)
class Tried:
    """One attacker on the traces: what he believes he errs, and what he errs, in km a step.

    by_user : (n_users, 2) sum of what he errs and number of steps
    """

    believed: float
    realized: float
    by_user: Floats


def main() -> int:
    """Both tables, the verdicts, and the page if it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", type=Path, help="write the first table as an HTML page")
    given = parser.parse_args()
    try:
        town = read_town()
    except (UnmaskError, FailedError) as reason:
        print(f"skipped, the check-ins are not there: {reason}")
        return 0
    channels = mechanisms(town)
    model = LossModel(town.loss, name="euclidean", unit="km", distortion_unit="km")
    result = audit_channels(channels, model, title="Noisy check-ins in Austin")
    code = run((lambda: exact(town, channels, result), lambda: traces(town, channels)))
    if given.report:
        settings = {"program": "verification/location_study.py", "cells": CELLS**2, "cell width in km": SIZE / 1000}
        data = replace(result, reproduce=settings)
        given.report.write_text(render(data), encoding="utf-8")
        print(f"\nwrote {given.report}")
    return code


def read_town(seed: int = 0) -> Town:
    """The town from half of its users, traces from the other half."""
    visits = gowalla(cells=CELLS, size=SIZE)
    rng = np.random.default_rng(seed)
    known = rng.permutation(visits.users)[: len(visits.users) // 2]
    teaches = np.isin(visits.user, known)
    taught = Visits(visits.grid, visits.user[teaches], visits.cell[teaches], visits.time[teaches])
    prior = taught.prior(pseudocount=0.5)
    points = visits.grid.points / 1000.0
    loss = np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=-1))
    cells, whose = _traces(Visits(visits.grid, visits.user[~teaches], visits.cell[~teaches], visits.time[~teaches]))
    return Town(visits, prior, _steps(taught.transitions(max_seconds=SESSION), prior), loss, cells, whose)


def _steps(counts: csr_array[np.float64, tuple[int, int]], prior: Floats) -> Floats:
    """p(next given cell): the counts, and five imagined steps to a cell drawn from the prior."""
    table = counts.toarray() + 5.0 * prior
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _traces(visits: Visits) -> tuple[Ints, Ints]:
    new = np.ones(len(visits.user), dtype=bool)
    new[1:] = (visits.user[1:] != visits.user[:-1]) | (np.diff(visits.time) > SESSION)
    start = np.flatnonzero(new)
    found, whose, many = [], [], dict.fromkeys(visits.users.tolist(), 0)
    for begin, end in zip(start, np.append(start[1:], len(new)), strict=True):
        user = int(visits.user[begin])
        if end - begin >= LEAST and many[user] < MOST:
            many[user] += 1
            line = np.full(STEPS, UNKNOWN, dtype=np.int64)
            line[: min(STEPS, end - begin)] = visits.cell[begin : min(end, begin + STEPS)]
            found.append(line)
            whose.append(user)
    return np.array(found), np.array(whose)


def mechanisms(town: Town) -> dict[str, Channel]:
    """Every mechanism, the one that the page shows in detail first."""
    grid, prior, loss = town.visits.grid, town.prior, town.loss
    center = prior @ grid.points
    spread = float(np.sqrt((prior @ (grid.points - center) ** 2).mean()))
    named: dict[str, Channel] = {
        f"Laplace, mean {km} km": PlanarLaplace(2.0 / (1000 * km)).channel(grid, prior) for km in LAPLACE
    }
    named |= {f"Gaussian, {km} km": PlanarGaussian(1000.0 * km).channel(grid, prior) for km in GAUSS}
    middle = (float(center[0]), float(center[1]))
    named |= {f"shrunk, {km} km": Shrink(1000.0 * km, spread, middle).channel(grid, prior) for km in SHRUNK}
    named |= {f"coin, truth {keep:.0%}": Coin(keep).channel(prior, loss=loss) for keep in COIN}
    R0 = float((loss @ prior).min())
    named |= {f"constant risk, {part:.0%}": constant_risk_channel(prior, loss, part * R0) for part in FLAT}
    detail = f"Laplace, mean {LAPLACE[1]} km"
    return {detail: named[detail]} | named


def exact(town: Town, channels: dict[str, Channel], result: Result) -> Section:
    """Secrets drawn from the prior: what every mechanism costs and leaves."""
    prior_error = result.table("channel").rows[0]["prior_error"]
    mechanisms = [SimpleNamespace(**row) for row in result.table("channel_mechanisms").rows]
    rows, limit_excess, low, high, guess = [], -np.inf, -np.inf, -np.inf, -np.inf
    for one in mechanisms:
        sampled = sampling_error(town.loss)(channels[one.name].posterior())
        likeliest = _likeliest(channels[one.name], town.loss)
        limit = min(one.distortion, prior_error)
        limit_excess = max(limit_excess, one.privacy - limit)
        low, high = max(low, one.privacy - sampled), max(high, sampled - 2 * one.privacy)
        guess = max(guess, one.privacy - likeliest)
        epsilon = "infinite" if np.isinf(one.epsilon) else f"{one.epsilon:.2f}"
        numbers = (one.distortion, one.privacy, limit, one.worst, sampled, likeliest, one.leakage_bits)
        rows.append((one.name, *(f"{value:.3f}" for value in numbers), epsilon))
    best = {one.name: one for one in mechanisms}
    flat = [best[f"constant risk, {part:.0%}"] for part in FLAT]
    coins = [best[f"coin, truth {keep:.0%}"] for keep in COIN]
    far = float(town.loss.max())
    geo = max(channel_epsilon(channels[f"Laplace, mean {km} km"].dense()) - 2.0 / km * far for km in LAPLACE)
    shrunk = [(best[f"shrunk, {km} km"], best[f"Gaussian, {km} km"]) for km in SHRUNK]
    noisy = [one for one in mechanisms if not one.name.startswith(("coin", "constant"))]
    reached = [one.privacy / min(one.distortion, prior_error) for one in noisy]
    verdicts = (
        _at_most("no mechanism leaves more than min(distortion, R0)", limit_excess, tolerance=1e-5),
        _at_most("Bayes <= one who draws from his belief", low),
        _at_most("and he errs at most twice as much", high, tolerance=1e-5),
        _at_most("Bayes <= one who names the likeliest cell", guess, tolerance=1e-5),
        _at_most(
            "constant risk: average = worst = distortion",
            max(max(abs(one.privacy - one.distortion), abs(one.worst - one.distortion)) for one in flat),
            tolerance=1e-4,
        ),
        _at_most(
            "coin: average = distortion, worst 0",
            max(max(abs(one.privacy - one.distortion), one.worst) for one in coins),
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


def _likeliest(channel: Channel, loss: Floats) -> float:
    """Expected loss of one who names the likeliest cell whatever the loss is."""
    joint = channel.dense() * channel.prior[:, None]
    return float((loss[joint.argmax(axis=0)] * joint.T).sum())


def traces(town: Town, channels: dict[str, Channel]) -> Section:
    """The other half of the users: what attackers believe that they err, and what they err."""
    rng = np.random.default_rng(1)
    rows, z, gaps, order, knows = [], {}, [], -np.inf, -np.inf
    for name, channel in channels.items():
        shown = _shown(town, channel, rng)
        single = _try(town, BayesChannelAttack()(shown[town.traces != UNKNOWN], channel), every=False)
        walker = _try(town, HiddenMarkovAttack()(shown, Chain(town.steps, channel)), every=True)
        drawn = _draws(town, BayesChannelAttack()(shown[town.traces != UNKNOWN], channel))
        gain, error = _paired(single, walker)
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
    other = [value for name, value in z.items() if name.startswith(("coin", "constant"))]
    noise = [value for name, value in z.items() if not name.startswith(("coin", "constant"))]
    single_gap, walker_gap = (max(map(abs, one)) for one in zip(*gaps, strict=True))
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
            f"by {min(other):.1f} standard errors at least",
            min(other) > 2,
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
        f"{len(town.traces):,} traces of {len(np.unique(town.whose))} users, {int(town.seen.sum()):,} check-ins.",
        "Kilometers a step; standard errors between users.",
        "look: one output at a time, the town as prior. trace: hidden Markov model, all outputs of the trace.",
        "Where few places stand for many, his model of the town misleads him: the trace may then help nothing.",
        "A gap between what he believes and what he errs is about his model of these people, not about the noise.",
    )
    return Section("Traces of users whom the attacker did not learn from", header, tuple(rows), notes, verdicts)


def _shown(town: Town, channel: Channel, rng: np.random.Generator) -> Ints:
    shown = np.full(town.traces.shape, UNKNOWN, dtype=np.int64)
    there = town.traces != UNKNOWN
    shown[there] = channel.sample(town.traces[there], rng=rng)
    return shown


def _try(town: Town, belief: Posterior, *, every: bool) -> Tried:
    """`every`: the belief has a row for each step of the table, else for those that are there."""
    cell = town.traces.ravel()[town.seen]
    rows = np.flatnonzero(town.seen) if every else np.arange(len(cell))
    truth = np.full(belief.n_targets, UNKNOWN, dtype=np.int64)
    truth[rows] = cell
    paid = realized_error(town.loss).per_target(belief, Truth(truth))[rows]
    believed = bayes(belief, town.loss).conditional[belief.observation[rows]]
    user = np.repeat(town.whose, STEPS)[town.seen]
    number = np.unique(user, return_inverse=True)[1]
    by_user = np.stack([np.bincount(number, weights=paid), np.bincount(number).astype(np.float64)], axis=1)
    return Tried(float(believed.mean()), float(paid.mean()), by_user)


def _draws(town: Town, belief: Posterior) -> float:
    return correctness(town.loss)(belief, Truth(town.traces.ravel()[town.seen]))


def _paired(one: Tried, other: Tried) -> tuple[float, float]:
    """How much less the other errs a step, and its standard error over users (ratio of sums)."""
    less, steps = one.by_user[:, 0] - other.by_user[:, 0], one.by_user[:, 1]
    gain = float(less.sum() / steps.sum())
    rest = less - gain * steps
    n = len(steps)
    return gain, float(np.sqrt(n / (n - 1) * (rest**2).sum()) / steps.sum())


def _at_most(claim: str, excess: float, *, tolerance: float = 1e-6) -> Verdict:
    text = "kept by all" if excess <= tolerance else f"broken by {excess:.3g}"
    return Verdict(claim, "-", text, bool(excess <= tolerance))


if __name__ == "__main__":
    sys.exit(main())
