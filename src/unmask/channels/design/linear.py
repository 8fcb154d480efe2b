"""The channel that leaves the adversary the largest error within a budget of distortion, by linear programming."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.channels.design.floor import raise_floor, without_crumbs
from unmask.channels.design.matched import constant_risk_channel
from unmask.channels.design.programs import (
    PRECISION,
    Program,
    Solved,
    clean,
    risks,
    solve_by_cuts,
    solve_whole,
)
from unmask.channels.design.slopes import costs, distribution, mutual_information
from unmask.channels.release import Channel
from unmask.errors import FailedError, UnmaskError

Method = Literal["auto", "full", "cuts"]
Objective = Literal["average", "worst"]

LARGEST_WHOLE = 60**3
"""Entries n_answers * n * m above which the program is solved by cutting planes: they are faster from there on."""

_ANY_RATIO = -math.log(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Design:
    """A channel found by `optimal_mechanism`, and what it does.

    channel    : p(y given x) with the prior
    privacy    : sum_y p(y) min_a E[L(a, X) given y], the adversary's expected loss, in units of L
    worst      : min of the same over the outputs of positive probability
    distortion : E d(X, Y)
    leakage    : I(X;Y) in nats
    method     : "closed form", "full" or "cuts"
    gap        : the largest average privacy within the constraints is at most privacy + gap. Where the worst case comes
                 first, the constraints include the floor that was reached.
    """

    channel: Channel
    privacy: float
    worst: float
    distortion: float
    leakage: float
    method: str
    gap: float


def optimal_mechanism(
    prior: ArrayLike,
    privacy_loss: ArrayLike,
    distortion: ArrayLike,
    budget: float,
    *,
    objective: Objective = "average",
    worst_case: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    method: Method = "auto",
) -> Design:
    """The channel of expected distortion at most `budget` that leaves the adversary the largest expected loss.

    prior        : (n,) p(x)
    privacy_loss : (n_answers, n) L(a, x), what the adversary loses by answering a when the truth is x
    distortion   : (n, m) d(x, y), what the user loses by y being shown in the place of x
    budget       : most E d(X, Y)
    objective    : "average": the largest average privacy and, among the channels that reach it, the largest worst case
                   (the average alone leaves a great choice of channels, some of which show the truth now and then);
                   "worst": the largest privacy given each output and, among these, the largest average
    worst_case   : tau: privacy at least this, given each output
    epsilon      : p(y given x) <= e^epsilon p(y given x') for all x, x', y (local differential privacy)
    delta        : |ln p(x given y) / p(x)| <= delta for all x of positive prior and all outputs (delta-disclosure)
                   from 36 nats on neither bounds anything: e^-36 is less than doubles tell apart from none
    method       : "full": one linear program with n_answers * m rows of n entries; "cuts": the rows and columns that it
                   turns out to need; "auto": the closed form of `constant_risk_channel` where privacy_loss is the
                   transpose of distortion and nothing else is asked, else "full" up to n_answers * n * m = 60^3, then
                   "cuts". The optima agree; the channels may differ where the optimum is not unique.

    Constraints hold within 1e-9, the budget within 2e-9 (it and worst_case: of the largest loss), or it is an error.
    The average is within 1e-8 of the largest loss of its optimum, certified by `gap`; the worst case is a search for
    the highest floor, to 1e-6 of the largest loss. With "average" it is the highest among the channels within 1e-9 of
    the largest average: where it rises steeply as the average gives way, that slack shows. A budget below what the
    constraints allow is refused, with the least feasible one.

    >>> line = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    >>> found = optimal_mechanism([0.2, 0.5, 0.3], line, line, 0.25)
    >>> round(found.privacy, 6), round(found.worst, 6), round(found.distortion, 6), found.method
    (0.25, 0.25, 0.25, 'closed form')
    >>> wrong = 1 - np.eye(3)  # the adversary minds any error, the user how far
    >>> mechanism = optimal_mechanism([0.2, 0.5, 0.3], wrong, line, 0.35, epsilon=2.0)
    >>> round(mechanism.privacy, 6), round(mechanism.distortion, 6)
    (0.33022, 0.35)

    R. Shokri et al., "Protecting location privacy: optimal strategy against localization attacks", CCS 2012 (the linear
    program of the average); D. Rebollo-Monedero et al. 2012, eqs. (2)-(5), section V-B3 (worst case, epsilon, delta).
    """
    program = _program(prior, privacy_loss, distortion, budget, worst_case, epsilon, delta)
    if objective not in ("average", "worst") or method not in ("auto", "full", "cuts"):
        raise UnmaskError(
            f"objective is {objective!r} and method {method!r}, expected 'average' or 'worst', and 'auto', 'full' or "
            "'cuts'"
        )
    if method == "auto" and _is_matched(program):
        rule = constant_risk_channel(program.prior, program.loss, budget).dense()
        return _design(program, rule, "closed form", risks(program, rule)[0])
    if method == "auto":
        method = "full" if len(program.loss) * program.distortion.size <= LARGEST_WHOLE else "cuts"
    first, rule = _best_average(program, method)
    if objective == "average":
        rule = _best_worst(program, first, rule)
    else:
        first, rule = _worst_first(program, first, rule, method)
    return _design(program, rule, method, -first.bound)


def _program(
    prior: ArrayLike,
    privacy_loss: ArrayLike,
    distortion: ArrayLike,
    budget: float,
    worst_case: float | None,
    epsilon: float | None,
    delta: float | None,
) -> Program:
    p = distribution(prior, "the prior")
    loss = costs(privacy_loss, "privacy loss", (None, len(p)))
    d = costs(distortion, "distortion matrix", (len(p), None))
    for name, value in (("budget", budget), ("worst_case", worst_case), ("epsilon", epsilon), ("delta", delta)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise UnmaskError(f"{name} is {value}, expected a finite number at least 0")
    before = float((loss @ p).min())
    if worst_case is not None and worst_case > before:
        raise UnmaskError(
            f"worst_case is {worst_case:.9g}, expected at most {before:.9g}, the adversary's expected loss before any "
            "release: lower it"
        )
    epsilon, delta = (None if value is None or value >= _ANY_RATIO else value for value in (epsilon, delta))
    return Program(p, loss, d, float(budget), floor=worst_case, epsilon=epsilon, delta=delta)


def _is_matched(program: Program) -> bool:
    loss, d = program.loss, program.distortion
    free = program.floor is None and not program.coupled
    return (
        free
        and loss.shape == d.T.shape
        and loss.shape[0] == loss.shape[1]
        and np.array_equal(loss, d.T)
        and not np.diagonal(loss).any()
    )


def _best_average(program: Program, method: str) -> tuple[Solved, NDArray[np.float64]]:
    """The largest average: the program's solution, and the rule with rounding taken out."""
    slack = 1e-9 * float(program.distortion.max())  # a budget may be the least that is feasible, rounded
    found = _solved(program, method) or _solved(replace(program, budget=(program.budget or 0.0) + slack), method)
    if found is None:
        raise _infeasible(program)
    rule = _hold(program, found.rule)
    if not _meets(program, rule):
        again = _solved(without_crumbs(program, rule), method)
        rule = rule if again is None else _hold(program, again.rule)
    if not _meets(program, rule):
        raise FailedError(
            "the constraints hold only up to rounding, expected within 1e-9: leave out secrets of prior next to 0, or "
            "loosen the constraints a little"
        )
    return found, rule


def _solved(program: Program, method: str) -> Solved | None:
    tight = _tightened(program)
    if method == "full":
        return solve_whole(tight)
    return solve_by_cuts(tight, tolerance=1e-10 * float(program.loss.max()), entries=_feasible_entries(tight))


def _feasible_entries(program: Program) -> NDArray[np.bool_] | None:
    """Columns to begin with where there is a floor: those of the channel of least distortion above it."""
    if program.floor is None or program.coupled:
        return None
    cheap = solve_by_cuts(replace(program, budget=None), tolerance=0.0)
    if cheap is None or program.budget is None or cheap.objective > program.budget + PRECISION:
        return None
    return cheap.entries


def _infeasible(program: Program) -> UnmaskError:
    cheap = solve_by_cuts(replace(_tightened(program), budget=None), tolerance=0.0)
    if cheap is None:
        return FailedError("the least distortion of a channel with these constraints was not found: loosen them")
    return UnmaskError(
        f"the budget is {program.budget:.9g}, expected at least {cheap.objective:.9g}, the least distortion of a "
        "channel with these constraints: raise it, or loosen them"
    )


def _tightened(program: Program) -> Program:
    """Epsilon and delta a little smaller, so that they still hold after rounding."""
    less = [None if value is None else value * (1 - 1e-10) for value in (program.epsilon, program.delta)]
    return replace(program, epsilon=less[0], delta=less[1])


def _best_worst(program: Program, first: Solved, rule: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest worst case among the channels of largest average, which use no entry of positive reduced cost."""
    scale = float(program.loss.max())
    average = risks(program, rule)[0]
    allowed = first.face | (rule > 0)
    if program.coupled:  # an output is in use whole or not at all
        allowed &= allowed.all(axis=0)
    within = replace(_tightened(program), allowed=allowed, least_average=average - 1e-9 * scale)
    better = raise_floor(within, start=rule, most=average, tolerance=5e-7 * scale, rows=first.rows)
    held = _hold(program, better)
    return held if _meets(program, held) and risks(program, held)[1] > risks(program, rule)[1] else rule


def _worst_first(
    program: Program, first: Solved, rule: NDArray[np.float64], method: str
) -> tuple[Solved, NDArray[np.float64]]:
    """The largest worst case, then the largest average above it; `first` and `rule` maximise the average alone."""
    scale = float(program.loss.max())
    most = risks(program, rule)[0]
    raised = raise_floor(_tightened(program), start=rule, most=most, tolerance=5e-7 * scale, rows=first.rows)
    held = _hold(program, raised)
    best = held if _meets(program, held) else rule
    floor = risks(program, best)[1]
    found = _solved(replace(program, floor=max(floor - 1e-9 * scale, program.floor or 0.0)), method)
    if found is None:
        return first, best
    rule = _hold(program, found.rule)
    good = _meets(program, rule) and risks(program, rule)[1] >= floor - 5e-7 * scale
    return found, rule if good else best


def _meets(program: Program, rule: NDArray[np.float64]) -> bool:
    """Whether budget and constraints hold as `optimal_mechanism` promises."""
    joint = program.prior[:, None] * rule
    p_y = joint.sum(axis=0)
    used = p_y > 0
    entries, p_y = rule[:, used], p_y[used]
    known = entries[program.prior > 0]
    within = [float((joint * program.distortion).sum()) <= (program.budget or 0.0) + 2e-9 * program.distortion.max()]
    if program.floor is not None:
        within.append(risks(program, rule)[1] >= program.floor - 1e-9 * float(program.loss.max()))
    if program.epsilon is not None:
        most = math.exp(min(program.epsilon + 1e-9, 700.0))
        within.append(bool(np.all(entries.max(axis=0) <= most * entries.min(axis=0))))
    if program.delta is not None:
        most = math.exp(min(program.delta + 1e-9, 700.0))
        within.append(bool(np.all(known.max(axis=0) <= most * p_y) and np.all(known.min(axis=0) * most >= p_y)))
    return all(within)


def _hold(program: Program, rule: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rule with rounding taken out: epsilon, delta and the floor hold again, output by output.

    p(y given x) moves towards p(y) by the least share that is enough; shares are of the order of the solver's
    precision over p(y), and the rows are divided by their sum again.
    """
    kept = clean(rule, program.prior)
    tight = _tightened(program)
    p_y = program.prior @ kept
    share = np.zeros(len(p_y))
    used = p_y > 0
    if tight.epsilon is not None:
        share = np.maximum(
            share, _share(kept.max(0) - math.exp(tight.epsilon) * kept.min(0), p_y * math.expm1(tight.epsilon))
        )
    if tight.delta is not None:
        known = kept[program.prior > 0]
        share = np.maximum(share, _share(known.max(0) - math.exp(tight.delta) * p_y, p_y * math.expm1(tight.delta)))
        share = np.maximum(share, _share(math.exp(-tight.delta) * p_y - known.min(0), -p_y * math.expm1(-tight.delta)))
    if program.floor is not None:
        before = float((program.loss @ program.prior).min())
        least = ((program.loss * program.prior) @ kept).min(axis=0)
        lacking = (program.floor - 1e-10 * float(program.loss.max())) * p_y - least
        share = np.maximum(share, _share(lacking, p_y * (before - program.floor)))
    share = np.where(used, share, 0.0)
    if not share.any():
        return kept
    mixed = (1 - share) * kept + share * p_y
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True), dtype=np.float64)


def _share(lacking: NDArray[np.float64], room: NDArray[np.float64]) -> NDArray[np.float64]:
    lacking = np.where(lacking > 1e-15, lacking, 0.0)
    return np.where(lacking > 0, lacking / np.maximum(lacking + room, 1e-300), 0.0)


def _design(program: Program, rule: NDArray[np.float64], method: str, bound: float) -> Design:
    channel = Channel(rule, program.prior)
    average, worst = risks(program, rule)
    return Design(
        channel=channel,
        privacy=average,
        worst=worst,
        distortion=float(program.prior @ (rule * program.distortion).sum(axis=1)),
        leakage=mutual_information(program.prior, rule),
        method=method,
        gap=max(0.0, bound - average),
    )
