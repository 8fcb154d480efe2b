"""Linear programs of optimal mechanisms: constraint matrices, the full program and cutting planes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Thread
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy
from scipy.sparse import coo_array, csc_array, csr_array, eye_array, hstack, vstack

from unmask.channels._matrices import Bools, Floats
from unmask.core.errors import FailedError

Objective = Literal["average", "distortion", "shortfall"]
Rows: TypeAlias = "tuple[Mapping[str, Any], Floats]"
"""Constraints of one kind: a coefficient matrix for each group of unknowns, and the right-hand sides."""

MAX_CUT_ROUNDS = 400
"""Rounds of new rows and columns. Ten to fifty are usual."""

ANSWERS_PER_ROUND, ENTRIES_PER_ROUND = 2, 3
"""Rows added for each output, and columns added for each secret, in one round."""

ANSWER_TOLERANCE, ENTRY_TOLERANCE = 1e-10, 1e-11
"""Violation of a row, and reduced cost of a column, above which it is added. The largest loss is 1."""

MIN_OUTPUT_PROBABILITY = 1e-9
"""Rarer outputs are removed from a rule: solvers leave them in the place of 0."""

SOLVER_TOLERANCE = 1e-10
"""Feasibility requested from HiGHS, the finest that it accepts."""

OPTIMAL_COST = 1e-9
"""Largest reduced cost of an entry that an optimal rule may use."""


@dataclass(frozen=True, eq=False)
class DesignProgram:
    """A linear program over a rule p(y given x), the risks r(y) and the output probabilities p(y).

    r(y) = min_a sum_x p(x) p(y given x) L(a, x) is the adversary's risk at output y, times p(y).

    Parameters
    ----------
    prior : (n,) array
        p(x).
    loss : (n_answers, n) array
        L(a, x). The largest entry is 1.
    distortion : (n, m) array
        d(x, y). The largest entry is 1.
    budget : float or None
        Largest expected distortion.
    objective : {"average", "distortion", "shortfall"}
        Maximize sum_y r(y), minimize the distortion, or minimize the sum of what r(y) lacks to reach the floor.
    floor : float or None
        Least risk given each output: r(y) >= floor p(y).
    min_average : float or None
        Least sum_y r(y).
    epsilon : float or None
        Local differential privacy: m(y) <= p(y given x) <= e^epsilon m(y).
    delta : float or None
        e^-delta p(y) <= p(y given x) <= e^delta p(y) if p(x) > 0.
    allowed : (n, m) array or None
        Entries of the rule that may differ from 0.
    """

    prior: Floats
    loss: Floats
    distortion: Floats
    budget: float | None
    objective: Objective = "average"
    floor: float | None = None
    min_average: float | None = None
    epsilon: float | None = None
    delta: float | None = None
    allowed: Bools | None = None

    @property
    def is_coupled(self) -> bool:
        """Return whether an output needs all its entries, so that columns cannot be added one by one."""
        return self.epsilon is not None or self.delta is not None

    @property
    def allowed_entries(self) -> Bools:
        """Return the (n, m) mask of the entries that may differ from 0."""
        return np.ones(self.distortion.shape, dtype=np.bool_) if self.allowed is None else self.allowed


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution of a program that has some answers (rows) and entries (columns).

    Parameters
    ----------
    rule : (n, m) array
        p(y given x).
    risk : (m,) array
        r(y) in the program. Too high if an answer is missing.
    objective, bound : float
        The minimized objective, and a certified lower bound over all entries.
    reduced_cost : (n, m) array
        Reduced costs of all entries, infinite if not allowed.
    answers : (n_answers, m) array
        Rows in the program, or rows that bind in the full program.
    entries : (n, m) array
        Columns in the program.
    """

    rule: Floats
    risk: Floats
    objective: float
    bound: float
    reduced_cost: Floats
    answers: Bools
    entries: Bools

    @property
    def optimal_entries(self) -> Bools:
        """Return the (n, m) mask of the entries that an optimal rule may use."""
        return self.reduced_cost <= OPTIMAL_COST


def solve_full(program: DesignProgram) -> Solution | None:
    """Solve the program with all rows and columns at once; return None if it is infeasible."""
    answers = np.ones((len(program.loss), program.distortion.shape[1]), dtype=np.bool_)
    solution = _solve(program, program.allowed_entries, answers)
    if solution is None:
        return None
    binding = (program.loss * program.prior) @ solution.rule - solution.risk <= OPTIMAL_COST
    return replace(solution, answers=binding)


def solve_by_cuts(
    program: DesignProgram, *, tolerance: float = 0.0, entries: Bools | None = None, answers: Bools | None = None
) -> Solution | None:
    """Solve the program with few rows and columns and add those that it lacks; return None if it is infeasible.

    Added rows are the answers that most exceed the risk at an output. Added columns are the entries of a secret with
    the most negative reduced cost. With `epsilon` or `delta` all columns are present from the start.

    Parameters
    ----------
    program : DesignProgram
        The program.
    tolerance : float
        Gap between objective and bound at which the rounds stop, if no floor or average is required.
    entries, answers : array or None
        Columns and rows to begin with.

    Returns
    -------
    Solution or None
        The last solution.
    """
    allowed = program.allowed_entries
    entries = allowed if program.is_coupled else allowed & (_first_entries(program) if entries is None else entries)
    answers = _first_answers(program) if answers is None else answers
    bound, can_stop_early = -math.inf, program.floor is None and program.min_average is None
    for _ in range(MAX_CUT_ROUNDS):
        solution = _solve(program, entries, answers)
        if solution is None:
            if np.array_equal(entries, allowed):
                return None
            entries = allowed  # the few columns may be at fault, not the program
            continue
        bound = max(bound, solution.bound)
        excess = solution.risk - (program.loss * program.prior) @ solution.rule
        new_answers = _largest(np.where(answers, 0.0, excess).T, ANSWERS_PER_ROUND, ANSWER_TOLERANCE).T
        new_entries = _largest(np.where(entries, 0.0, -solution.reduced_cost), ENTRIES_PER_ROUND, ENTRY_TOLERANCE)
        value = solution.objective + float(np.maximum(excess, 0.0).max(axis=0).sum())
        if not (new_answers.any() or new_entries.any()) or (can_stop_early and value - bound <= tolerance):
            return replace(solution, bound=bound)
        answers, entries = answers | new_answers, entries | new_entries
    raise FailedError(f"the cutting planes did not settle in {MAX_CUT_ROUNDS} rounds: use method='full'")


def clean_rule(rule: Floats, prior: Floats) -> Floats:
    """Return the rule without negative entries and unused outputs; its rows sum to 1."""
    cleaned = np.maximum(rule, 0.0)
    cleaned[:, prior @ cleaned < MIN_OUTPUT_PROBABILITY] = 0.0
    cleaned[cleaned.sum(axis=1) <= 0.0] = prior @ cleaned  # a secret of prior near 0 that used only rare outputs
    return np.asarray(cleaned / cleaned.sum(axis=1, keepdims=True), dtype=np.float64)


def compute_risks(program: DesignProgram, rule: Floats) -> tuple[float, float]:
    """Return the adversary's average risk, and the least risk at an output of positive probability."""
    joint = program.prior[:, None] * rule
    p_y, risk = joint.sum(axis=0), (program.loss @ joint).min(axis=0)
    used = p_y > 0
    return float(risk.sum()), float((risk[used] / p_y[used]).min())


def _solve(program: DesignProgram, entries: Bools, answers: Bools) -> Solution | None:
    n, m = entries.shape
    y, x = np.nonzero(entries.T)  # by output, so that the entries of an output are next to each other
    upper_rows, equal_rows = _inequalities(program, x, y, answers), _equations(program, x, y)
    widths = {"rule": len(x), "risk": m, "p_y": m}
    widths |= {"least": m} if program.epsilon is not None else {}
    widths |= {"shortfall": m} if program.objective == "shortfall" else {}
    (upper, upper_side), (equal, equal_side) = _stack(upper_rows, widths), _stack(equal_rows, widths)
    cost = np.zeros(sum(widths.values()))
    if program.objective == "shortfall":
        cost[-m:] = 1.0
    elif program.objective == "distortion":
        cost[: len(x)] = program.prior[x] * program.distortion[x, y]
    else:
        cost[len(x) : len(x) + m] = -1.0
    solved = _run_highs(cost, upper, upper_side, equal, equal_side)
    if solved is None:
        return None
    rule = np.zeros((n, m))
    rule[x, y] = solved.x[: len(x)]
    upper_dual, equal_dual = np.minimum(solved.ineqlin.marginals, 0.0), solved.eqlin.marginals
    reduced = cost - upper.T @ upper_dual - equal.T @ equal_dual
    table = _price_entries(program, answers, upper_dual, equal_dual)
    table[x, y] = reduced[: len(x)]
    table[~program.allowed_entries] = np.inf
    # weak duality: any multipliers bound the objective, since rows of the rule sum to 1 and other unknowns are in 0..1
    bound = upper_side @ upper_dual + equal_side @ equal_dual
    bound += table.min(axis=1).sum() + np.minimum(reduced[len(x) :], 0.0).sum()
    risk = np.asarray(solved.x[len(x) : len(x) + m])
    return Solution(rule, risk, float(solved.fun), float(bound), table, answers, entries)


def _inequalities(program: DesignProgram, x: Any, y: Any, answers: Bools) -> list[Rows]:
    """Return the rows of matrix @ unknowns <= side; the first are those of the answers, then the budget."""
    m, p = answers.shape[1], program.prior[x]
    output, answer = np.nonzero(answers.T)
    by_output = csr_array((np.ones(len(y)), (y, np.arange(len(y)))), shape=(m, len(y)))
    identity = eye_array(m, format="csr")
    gain: Any = coo_array(by_output[output])
    gain.data = -p[gain.col] * program.loss[answer[gain.row], x[gain.col]]
    rows: list[Rows] = [({"rule": gain, "risk": identity[output]}, np.zeros(len(output)))]
    if program.budget is not None:
        rows.append(({"rule": csr_array((p * program.distortion[x, y])[None])}, np.array([program.budget])))
    if program.floor is not None:
        terms = {"p_y": program.floor * identity, "risk": -identity}
        rows.append((terms | ({"shortfall": -identity} if program.objective == "shortfall" else {}), np.zeros(m)))
    if program.min_average is not None:
        rows.append(({"risk": csr_array(-np.ones((1, m)))}, np.array([-program.min_average])))
    rule = eye_array(len(x), format="csr")
    if program.epsilon is not None:
        rows += _between(rule, "least", csr_array(by_output.T), 1.0, math.exp(program.epsilon))
    if program.delta is not None:
        possible = np.flatnonzero(p > 0)
        p_y = csr_array(by_output.T)[possible]
        rows += _between(rule[possible], "p_y", p_y, math.exp(-program.delta), math.exp(program.delta))
    return rows


def _between(entry: Any, name: str, other: Any, low: float, high: float) -> list[Rows]:
    """Return the rows of low * other <= entry <= high * other."""
    side = np.zeros(entry.shape[0])
    return [({"rule": -entry, name: low * other}, side), ({"rule": entry, name: -high * other}, side)]


def _equations(program: DesignProgram, x: Any, y: Any) -> list[Rows]:
    """Return the equations: the rows of the rule sum to 1, and p(y) = sum_x p(x) p(y given x)."""
    (n, m), entry = program.distortion.shape, np.arange(len(x))
    by_secret = csr_array((np.ones(len(x)), (x, entry)), shape=(n, len(x)))
    p_y = csr_array((program.prior[x], (y, entry)), shape=(m, len(x)))
    return [({"rule": by_secret}, np.ones(n)), ({"rule": p_y, "p_y": -eye_array(m)}, np.zeros(m))]


def _stack(rows: Sequence[Rows], widths: Mapping[str, int]) -> tuple[Any, Floats]:
    blocks = [
        hstack([terms.get(name, csr_array((len(side), width))) for name, width in widths.items()])
        for terms, side in rows
    ]
    return csc_array(vstack(blocks)), np.concatenate([side for _, side in rows])


def _price_entries(program: DesignProgram, answers: Bools, upper_dual: Floats, equal_dual: Floats) -> Floats:
    """Return the (n, m) reduced costs of entries outside the program; exact unless epsilon or delta couple them."""
    n, m = program.distortion.shape
    output, answer = np.nonzero(answers.T)
    weight = np.zeros(answers.shape)
    weight[answer, output] = upper_dual[: len(output)]
    price = program.loss.T @ weight
    if program.objective == "distortion":
        price += program.distortion
    if program.budget is not None:
        price -= upper_dual[len(output)] * program.distortion
    table: Floats = program.prior[:, None] * (price - equal_dual[n : n + m]) - equal_dual[:n, None]
    return table


def _run_highs(cost: Floats, upper: Any, upper_side: Floats, equal: Any, equal_side: Floats) -> Any:
    """Return scipy's solution of min cost @ v, upper @ v <= upper_side, equal @ v = equal_side, v >= 0, or None."""
    fine = {"primal_feasibility_tolerance": SOLVER_TOLERANCE, "dual_feasibility_tolerance": SOLVER_TOLERANCE}
    attempts: tuple[tuple[str, dict[str, Any]], ...] = (
        ("highs-ds", fine), ("highs-ds", {**fine, "presolve": False}), ("highs-ds", {}), ("highs-ipm", {}),
    )  # fmt: skip
    sides = {"A_ub": upper, "b_ub": upper_side, "A_eq": equal, "b_eq": equal_side, "bounds": (0, None)}
    solved: Any = None
    for method, options in attempts:
        solved = _call_in_thread(scipy.optimize.linprog, cost, **sides, method=method, options=options)
        if solved.status in (0, 2):
            return solved if solved.status == 0 else None
    raise FailedError(f"the linear program was not solved: {solved.message}")


def _call_in_thread(solver: Any, *arguments: Any, **options: Any) -> Any:
    """Return the result of a native solver that runs in another thread, so that Ctrl-C ends the wait at once."""
    results: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(solver(*arguments, **options))
        except BaseException as error:  # noqa: BLE001  # raised again in the calling thread
            errors.append(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def _largest(values: Floats, count: int, threshold: float) -> Bools:
    """Return a mask of the `count` largest values of each row that exceed the threshold."""
    count = min(count, values.shape[1])
    mask = np.zeros(values.shape, dtype=np.bool_)
    largest = np.argpartition(-values, count - 1, axis=1)[:, :count]
    np.put_along_axis(mask, largest, np.take_along_axis(values, largest, axis=1) > threshold, axis=1)
    return mask


def _first_entries(program: DesignProgram) -> Bools:
    """Return the six cheapest outputs of each secret and the cheapest constant output."""
    entries = np.zeros(program.distortion.shape, dtype=np.bool_)
    cost = np.where(program.allowed_entries, program.distortion, np.inf)
    np.put_along_axis(entries, np.argsort(cost, axis=1, kind="stable")[:, :6], values=True, axis=1)
    entries[:, np.argmin(program.prior @ program.distortion)] = True
    return entries


def _first_answers(program: DesignProgram) -> Bools:
    """Return the best answers to beliefs that fall off with distortion, over three decades of widths."""
    answers = np.zeros((len(program.loss), program.distortion.shape[1]), dtype=np.bool_)
    excess = program.distortion - program.distortion.min(axis=0)
    for width in np.geomspace(1e-3, 1.0, 6) * max(float(excess.max()), 1e-300):
        belief = program.prior[:, None] * np.exp(-excess / width)
        answers[np.argmin(program.loss @ belief, axis=0), np.arange(answers.shape[1])] = True
    return answers
