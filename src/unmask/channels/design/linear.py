"""The channel that leaves the adversary the largest error within a distortion budget, by linear programming."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Bools, Floats, check_costs, probabilities
from unmask.channels.channel import Channel
from unmask.channels.design.closed_form import constant_risk_channel
from unmask.channels.design.design_lp import (
    SOLVER_TOLERANCE,
    DesignProgram,
    Solution,
    clean_rule,
    compute_risks,
    solve_by_cuts,
    solve_full,
)
from unmask.channels.design.lagrangian_curve import mutual_information
from unmask.core.errors import FailedError, UnmaskError
from unmask.measures.error import bayes
from unmask.measures.losses import Loss, as_matrix
from unmask.ranges import Range

Method = Literal["auto", "full", "cuts"]
Objective = Literal["average", "worst"]

MAX_FULL_ENTRIES = 60**3
"""Entries n_answers * n * m of the full program above which cutting planes are faster."""

AVERAGE_TOLERANCE = 1e-9
"""Average risk that the search for the worst case may give up. The largest loss is 1."""

WORST_CASE_TOLERANCE = 5e-7
"""Width at which the search for the largest worst case stops."""

CONSTRAINT_TOLERANCE = 1e-9
"""Violation of a constraint that a design may have, relative to the output probability."""

MIN_REPAIR = 1e-15
"""Violations below this are rounding and are not repaired."""

BUDGET_ROUNDING = 1e-9
"""Increase of an infeasible budget that may be the least feasible one, rounded. The largest distortion is 1."""

RARE_OUTPUT = 1e-5
"""Outputs of less probability are dropped if the solver loses their constraints in rounding."""

CONSTANT_ROUNDING = 1e-12
"""Relative excess over the budget that a constant output may have."""

MAX_RATIO_NATS = -math.log(np.finfo(np.float64).eps)
"""Epsilon or delta from which a bound on ratios has no effect in double precision."""

MAX_FLOOR_STEPS = 60


@dataclass(frozen=True, eq=False)
class Design:
    """A channel found by `optimal_mechanism` and its properties.

    Parameters
    ----------
    channel : Channel
        p(y given x) with the prior.
    privacy : float
        sum_y p(y) min_a E[L(a, X) given y], the adversary's expected loss, in units of the loss.
    worst : float
        The least expected loss given an output of positive probability.
    distortion : float
        E d(X, Y).
    leakage : float
        I(X; Y) in nats.
    method : str
        "closed form", "full" or "cuts".
    gap : float
        The largest average privacy within the constraints is at most privacy + gap. If the worst case comes first,
        the constraints include the floor that was reached.
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
    privacy_loss: Loss,
    distortion: ArrayLike,
    budget: Annotated[float, Range(0)],
    *,
    coordinates: ArrayLike | None = None,
    objective: Objective = "average",
    worst_case: Annotated[float, Range(0)] | None = None,
    epsilon: Annotated[float, Range(0, above=True)] | None = None,
    delta: Annotated[float, Range(0, above=True)] | None = None,
    method: Method = "auto",
) -> Design:
    """Find the channel of limited expected distortion that leaves the adversary the largest expected loss.

    The program lets the adversary answer with a listed value: a secret, or a row of a matrix. Privacy and worst case
    are measured under the loss itself. The best answer to a squared, euclidean or haversine loss may lie between the
    secrets; `gap` then includes the loss that such answers avoid.

    Constraints hold within 1e-9, the budget within 2e-9 of the largest distortion. The average is within 1e-8 of the
    largest loss of its optimum, certified by `gap`. The worst case is within 1e-6 of its optimum. Several channels
    may reach these values; distortion and leakage of the result are not minimized.

    Parameters
    ----------
    prior : (n,) array
        p(x).
    privacy_loss : str, callable or (n_answers, n) array
        L(a, x), the adversary's loss of answering a if the truth is x. A name as in
        `unmask.measures.losses.decision_problem`, or a matrix whose rows are the answers.
    distortion : (n, m) array
        d(x, y), the user's loss of showing y for x.
    budget : float
        largest expected distortion. E d(X, Y)
    coordinates : array, optional
        (n,) or (n, n_dimensions), for a named loss that needs them.
    objective : {"average", "worst"}
        "average": the largest average privacy, then the largest worst case. "worst": the largest worst case, then the
        largest average.
    worst_case : float, optional
        least error of the adversary at every output
    epsilon : float, optional
        largest epsilon of local privacy. p(y given x) <= e^epsilon p(y given x') for all x, x', y
    delta : float, optional
        largest change of any belief, in nats. abs(ln p(x given y) / p(x)) <= delta if p(x) > 0. Values from 36 nats
        on have no effect in double precision.
    method : {"auto", "full", "cuts"}
        "full" solves one linear program with n_answers * m rows of n entries, "cuts" adds rows and columns as needed.
        "auto" shows a constant if the budget allows it. It uses the closed form of `constant_risk_channel` if the loss
        is the transposed distortion and there is no other constraint, else "full" up to n_answers * n * m = 60^3.

    Returns
    -------
    Design
        The channel, its privacy and its certificate.

    Raises
    ------
    UnmaskError
        If an argument is not valid, or the budget is below the least feasible one.

    References
    ----------
    R. Shokri et al., "Protecting location privacy: optimal strategy against localization attacks", CCS 2012 (the
    program of the average); D. Rebollo-Monedero et al. 2012, eqs. (2)-(5), section V-B3 (worst case, epsilon, delta).

    Examples
    --------
    >>> line = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    >>> design = optimal_mechanism([0.2, 0.5, 0.3], line, line, 0.25)
    >>> round(design.privacy, 6), round(design.worst, 6), round(design.distortion, 6), design.method
    (0.25, 0.25, 0.25, 'closed form')
    >>> wrong = 1 - np.eye(3)  # the adversary counts errors, the user distances
    >>> mechanism = optimal_mechanism([0.2, 0.5, 0.3], wrong, line, 0.35, epsilon=2.0)
    >>> round(mechanism.privacy, 6), round(mechanism.distortion, 6)
    (0.33022, 0.35)
    """
    if objective not in ("average", "worst") or method not in ("auto", "full", "cuts"):
        raise UnmaskError(
            f"objective is {objective!r} and method {method!r}, expected 'average' or 'worst', and 'auto', 'full' or "
            "'cuts'"
        )
    constraints = {"worst_case": worst_case, "epsilon": epsilon, "delta": delta}
    problem = _Problem.scale(prior, privacy_loss, distortion, budget, coordinates, **constraints)
    program = problem.program
    closed_form = _closed_form_rule(program) if method == "auto" else None
    if closed_form is not None:
        return problem.describe(closed_form, "closed form", compute_risks(program, closed_form)[0])
    solution, rule = _maximize_average(problem, method)
    if objective == "average":
        rule = _maximize_worst_case(program, solution, rule)
    else:
        solution, rule = _maximize_worst_case_first(program, solution, rule, method)
    return problem.describe(rule, _choose_method(program, method), -solution.bound)


def _closed_form_rule(program: DesignProgram) -> Floats | None:
    """Return a constant rule if the budget allows it, the rule of constant risk if losses match, otherwise None."""
    cost, budget = program.prior @ program.distortion, program.budget or 0.0
    if cost.min() <= budget * (1 + CONSTANT_ROUNDING):
        rule = np.zeros(program.distortion.shape)
        rule[:, np.argmin(cost)] = 1.0
        return rule
    if program.floor is not None or program.is_coupled or not is_matched(program.loss, program.distortion):
        return None
    return constant_risk_channel(program.prior, program.loss, budget).dense()


def largest_error(
    prior: ArrayLike,
    privacy_loss: Loss,
    distortion: ArrayLike,
    budget: float,
    *,
    coordinates: ArrayLike | None = None,
) -> float:
    """Return the largest average error of an adversary who answers with a listed value, at a distortion budget.

    Parameters
    ----------
    prior, privacy_loss, distortion, budget, coordinates
        As in `optimal_mechanism`.

    Returns
    -------
    float
        The error, in units of the loss.
    """
    problem = _Problem.scale(prior, privacy_loss, distortion, budget, coordinates)
    _, rule = _maximize_average(problem, "auto")
    return compute_risks(problem.program, rule)[0] * problem.loss_unit


def is_matched(loss: Floats, distortion: Floats) -> bool:
    """Return whether the loss of answering y is the distortion of showing y, so that a closed form holds."""
    return loss.shape[0] == loss.shape[1] and np.array_equal(loss, distortion.T) and not np.diagonal(loss).any()


def has_unlisted_answers(loss: Loss, coordinates: ArrayLike | None) -> bool:
    """Return whether the best answer to a loss may differ from all candidates.

    Medians of numbers are candidates; means, and medians of points, need not be.

    >>> has_unlisted_answers("absolute", [0.0, 1.0]), has_unlisted_answers("squared", [0.0, 1.0])
    (False, True)
    """
    if not isinstance(loss, str) or loss == "hamming" or loss.endswith("_medoid"):
        return False
    points = np.asarray(coordinates)
    return loss not in ("absolute", "euclidean") or (points.ndim > 1 and points.shape[1] > 1)


@dataclass(frozen=True, eq=False)
class _Problem:
    """A program whose largest loss and distortion are 1, the units that undo this, and the given loss."""

    program: DesignProgram
    loss_unit: float
    distortion_unit: float
    loss: Loss
    coordinates: ArrayLike | None

    @classmethod
    def scale(
        cls,
        prior: ArrayLike,
        privacy_loss: Loss,
        distortion: ArrayLike,
        budget: float,
        coordinates: ArrayLike | None,
        **constraints: float | None,
    ) -> _Problem:
        """Check the arguments and scale them; constraints : worst_case, epsilon and delta."""
        p = probabilities(prior, "the prior")
        if isinstance(privacy_loss, str) or callable(privacy_loss):
            loss = as_matrix(privacy_loss, len(p), coordinates=coordinates)
        else:
            loss = check_costs(privacy_loss, "privacy loss", (None, len(p)))
        d = check_costs(distortion, "distortion matrix", (len(p), None))
        for name, value in {"budget": budget, **constraints}.items():
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise UnmaskError(f"{name} is {value}, expected a finite number at least 0")
        worst_case, epsilon, delta = map(constraints.get, ("worst_case", "epsilon", "delta"))
        prior_error = float((loss @ p).min())
        if worst_case is not None and worst_case > prior_error:
            raise UnmaskError(
                f"worst_case is {worst_case:.9g}, expected at most {prior_error:.9g}, the adversary's expected loss "
                "before any release: lower it"
            )
        loss_unit, distortion_unit = float(loss.max()) or 1.0, float(d.max()) or 1.0
        program = DesignProgram(
            prior=p,
            loss=loss / loss_unit,
            distortion=d / distortion_unit,
            budget=min(float(budget), distortion_unit) / distortion_unit,
            floor=None if worst_case is None else worst_case / loss_unit,
            epsilon=None if epsilon is None or epsilon >= MAX_RATIO_NATS else epsilon,
            delta=None if delta is None or delta >= MAX_RATIO_NATS else delta,
        )
        return cls(program, loss_unit, distortion_unit, privacy_loss, coordinates)

    def describe(self, rule: Floats, method: str, bound: float) -> Design:
        """Measure a rule in the units of the arguments; bound : the largest scaled average risk."""
        program, channel = self.program, Channel(rule, self.program.prior)
        average, worst = (risk * self.loss_unit for risk in compute_risks(program, rule))
        limit = bound * self.loss_unit
        if has_unlisted_answers(self.loss, self.coordinates):
            error = bayes(channel.posterior(), self.loss, coordinates=self.coordinates)
            average, worst, limit = error.average, error.worst, min(limit, error.prior)
        return Design(
            channel=channel,
            privacy=average,
            worst=worst,
            distortion=float(program.prior @ (rule * program.distortion).sum(axis=1)) * self.distortion_unit,
            leakage=mutual_information(program.prior, rule),
            method=method,
            gap=max(0.0, limit - average),
        )


def _choose_method(program: DesignProgram, method: str) -> str:
    if method != "auto":
        return method
    return "full" if len(program.loss) * program.distortion.size <= MAX_FULL_ENTRIES else "cuts"


def _solve(program: DesignProgram, method: str) -> Solution | None:
    tight = _tighten(program)
    if _choose_method(program, method) == "full":
        return solve_full(tight)
    return solve_by_cuts(tight, tolerance=1e-10)


def _maximize_average(problem: _Problem, method: str) -> tuple[Solution, Floats]:
    """Return the solution of largest average, and its rule with rounding removed."""
    program = problem.program
    relaxed = replace(program, budget=(program.budget or 0.0) + BUDGET_ROUNDING)
    solution = _solve(program, method) or _solve(relaxed, method)
    if solution is None:
        raise _infeasible(problem)
    rule = _repair(program, solution.rule)
    if not _is_valid(program, rule):
        second = _solve(_drop_rare_outputs(program, rule), method)
        rule = rule if second is None else _repair(program, second.rule)
    if not _is_valid(program, rule):
        raise FailedError(
            "the constraints hold only up to rounding, expected within 1e-9: leave out secrets of prior next to 0, or "
            "loosen the constraints a little"
        )
    return solution, rule


def _infeasible(problem: _Problem) -> UnmaskError:
    cheapest = solve_by_cuts(replace(_tighten(problem.program), budget=None, objective="distortion"))
    if cheapest is None:
        return FailedError("the least distortion of a channel with these constraints was not found: loosen them")
    unit = problem.distortion_unit
    return UnmaskError(
        f"the budget is {(problem.program.budget or 0.0) * unit:.9g}, expected at least "
        f"{cheapest.objective * unit:.9g}, the least distortion of a channel with these constraints: raise it, or "
        "loosen them"
    )


def _maximize_worst_case(program: DesignProgram, solution: Solution, rule: Floats) -> Floats:
    """Return the rule of largest worst case among those of largest average, which use optimal entries only."""
    average, worst = compute_risks(program, rule)
    allowed = solution.optimal_entries | (rule > 0)
    if program.is_coupled:  # an output is used with all its entries or not at all
        allowed &= allowed.all(axis=0)
    optimal = replace(_tighten(program), allowed=allowed, min_average=average - AVERAGE_TOLERANCE)
    raised = _repair(program, _raise_floor(optimal, rule, average, solution.answers))
    return raised if _is_valid(program, raised) and compute_risks(program, raised)[1] > worst else rule


def _maximize_worst_case_first(
    program: DesignProgram, solution: Solution, rule: Floats, method: str
) -> tuple[Solution, Floats]:
    """Return the rule of largest worst case, then of largest average; `rule` has the largest average alone."""
    average, _ = compute_risks(program, rule)
    raised = _repair(program, _raise_floor(_tighten(program), rule, average, solution.answers))
    rule = raised if _is_valid(program, raised) else rule
    worst = compute_risks(program, rule)[1]
    floored = _solve(replace(program, floor=max(worst - AVERAGE_TOLERANCE, program.floor or 0.0)), method)
    if floored is None:
        return solution, rule
    improved = _repair(program, floored.rule)
    is_better = _is_valid(program, improved) and compute_risks(program, improved)[1] >= worst - WORST_CASE_TOLERANCE
    return floored, improved if is_better else rule


def _raise_floor(program: DesignProgram, rule: Floats, ceiling: float, answers: Bools) -> Floats:
    """Return the rule of largest worst case; `ceiling` is a floor that no rule exceeds.

    A program with a fixed floor is linear: minimize what risks lack to reach it. The floor lies between the best worst
    case so far and the lowest infeasible floor. The next trial is the floor that the lacking outputs would just reach
    together, kept away from both ends, or the middle.
    """
    low, high, trial = compute_risks(program, rule)[1], ceiling, ceiling
    result, entries = rule, program.allowed
    for _ in range(MAX_FLOOR_STEPS):
        width = high - low
        if width <= WORST_CASE_TOLERANCE:
            break
        floored = replace(program, floor=trial, objective="shortfall")
        solution = solve_by_cuts(floored, entries=entries, answers=answers)
        if solution is None:
            break
        entries, answers = solution.entries, solution.answers
        candidate = clean_rule(solution.rule, program.prior)
        worst = compute_risks(program, candidate)[1]
        if worst < trial - WORST_CASE_TOLERANCE / 2 and solution.objective <= 10 * SOLVER_TOLERANCE:
            candidate = _solve_without_rare_outputs(floored, candidate, answers)
            worst = compute_risks(program, candidate)[1]
        if worst > low:
            result, low = candidate, worst
        is_reached = worst >= trial - WORST_CASE_TOLERANCE / 2
        if not is_reached:
            high = min(high, trial)
        elif high - trial <= WORST_CASE_TOLERANCE / 2:
            break
        trial, reach = (low + high) / 2, high - low
        if not is_reached and (reach <= 0.7 * width or high == ceiling):  # otherwise the guesses creep: halve
            guess = _balance_floor(program, candidate, high)
            trial = min(max(guess, low + max(WORST_CASE_TOLERANCE, 0.01 * reach)), high - 0.1 * reach)
    return result


def _balance_floor(program: DesignProgram, rule: Floats, floor: float) -> float:
    """Return the mean risk of the outputs that lack the floor."""
    joint = program.prior[:, None] * rule
    p_y, risk = joint.sum(axis=0), (program.loss @ joint).min(axis=0)
    lacking = risk < floor * p_y * (1 - 1e-9)
    return float(risk[lacking].sum() / p_y[lacking].sum()) if lacking.any() else floor


def _drop_rare_outputs(program: DesignProgram, rule: Floats) -> DesignProgram:
    """Return the program without the outputs that the rule hardly uses."""
    return replace(program, allowed=program.allowed_entries & (program.prior @ rule >= RARE_OUTPUT))


def _solve_without_rare_outputs(program: DesignProgram, rule: Floats, answers: Bools) -> Floats:
    """Return the rule of the program without rare outputs if its worst case is larger."""
    solution = solve_by_cuts(_drop_rare_outputs(program, rule), entries=program.allowed_entries, answers=answers)
    if solution is None or solution.objective > 10 * SOLVER_TOLERANCE:
        return rule
    candidate = clean_rule(solution.rule, program.prior)
    return max((rule, candidate), key=lambda option: compute_risks(program, option)[1])


def _tighten(program: DesignProgram) -> DesignProgram:
    """Return the program with a little smaller epsilon and delta, so that they hold after rounding."""
    epsilon, delta = (None if value is None else value * (1 - 1e-10) for value in (program.epsilon, program.delta))
    return replace(program, epsilon=epsilon, delta=delta)


def _violations(program: DesignProgram, rule: Floats) -> list[tuple[Floats, Floats]]:
    """Return by how much each output violates each kind of constraint, and the slack of a constant rule."""
    p_y, possible = program.prior @ rule, rule[program.prior > 0]
    violations = []
    if program.epsilon is not None:
        excess = rule.max(axis=0) - math.exp(program.epsilon) * rule.min(axis=0)
        violations.append((excess, p_y * math.expm1(program.epsilon)))
    if program.delta is not None:
        ratio, slack = math.exp(program.delta), p_y * math.expm1(program.delta)
        violations += [(possible.max(axis=0) - ratio * p_y, slack), (p_y - ratio * possible.min(axis=0), slack)]
    if program.floor is not None:
        risk = ((program.loss * program.prior) @ rule).min(axis=0)
        prior_error = float((program.loss @ program.prior).min())
        violations.append(((program.floor - SOLVER_TOLERANCE) * p_y - risk, p_y * (prior_error - program.floor)))
    return violations


def _repair(program: DesignProgram, rule: Floats) -> Floats:
    """Return the rule with epsilon, delta and floor restored: each output moves to p(y) by the least sufficient share.

    Shares are of the order of the solver's precision over p(y).
    """
    cleaned = clean_rule(rule, program.prior)
    p_y, share = program.prior @ cleaned, np.zeros(cleaned.shape[1])
    for excess, slack in _violations(_tighten(program), cleaned):
        needed = np.where(excess > MIN_REPAIR, excess, 0.0)
        share = np.maximum(share, needed / np.maximum(needed + slack, 1e-300))
    share[p_y <= 0] = 0.0
    if not share.any():
        return cleaned
    mixed = (1 - share) * cleaned + share * p_y
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True), dtype=np.float64)


def _is_valid(program: DesignProgram, rule: Floats) -> bool:
    """Return whether budget and constraints hold within the documented tolerances."""
    p_y = program.prior @ rule
    spent = float(program.prior @ (rule * program.distortion).sum(axis=1))
    limits = (excess <= CONSTRAINT_TOLERANCE * p_y + MIN_REPAIR for excess, _ in _violations(program, rule))
    return spent <= (program.budget or 0.0) + 2 * CONSTRAINT_TOLERANCE and all(map(np.all, limits))
