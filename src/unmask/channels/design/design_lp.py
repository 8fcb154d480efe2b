"""The linear programs of optimal design: their rows and columns, and how few of them are needed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from threading import Thread
from typing import Any

import numpy as np
import scipy
from scipy.sparse import coo_array, csc_array

from unmask.channels._matrices import Bools, Floats, Ints
from unmask.core.errors import FailedError

MAX_ROUNDS = 400
"""Rounds of new rows and columns; ten to fifty are usual."""

UNUSED = 1e-9
"""Outputs of less probability than this are taken out of a design: they are what a solver leaves of a zero."""

PRECISION = 1e-10
"""Feasibility asked of the solver, the finest it takes."""


@dataclass(frozen=True, eq=False)
class Program:
    """A linear program over p(y given x), the attacker's risks r(y) = min_a sum_x p(x) p(y given x) L(a, x), and p(y).

    prior (n,), loss (n_answers, n), distortion (n, m)
    budget        : most expected distortion; None: no such row
    aim           : (n, m) minimize sum p(x) p(y given x) aim(x, y) instead of the average privacy
    floor         : least risk given each output, r(y) >= floor p(y); None or 0: no such rows
    soft          : minimize the sum of what is lacking from the floor instead of anything else
    least_average : sum_y r(y) is at least this
    epsilon       : m(y) <= p(y given x) <= e^epsilon m(y): two rows an entry instead of one a pair of secrets
    delta         : e^-delta p(y) <= p(y given x) <= e^delta p(y) where p(x) > 0
    allowed       : (n, m) entries that may differ from 0
    Otherwise maximize sum_y r(y), the average privacy.
    """

    prior: Floats
    loss: Floats
    distortion: Floats
    budget: float | None
    floor: float | None = None
    soft: bool = False
    least_average: float | None = None
    aim: Floats | None = None
    epsilon: float | None = None
    delta: float | None = None
    allowed: Bools | None = None

    @property
    def coupled(self) -> bool:
        """Whether an output in use needs all its entries, so that they cannot be added one by one."""
        return self.epsilon is not None or self.delta is not None

    @property
    def every_entry(self) -> Bools:
        """(n, m) the entries that may differ from 0."""
        return np.ones(self.distortion.shape, dtype=np.bool_) if self.allowed is None else self.allowed


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution: the rule (n, m), the objective (minimized) and a certified lower bound of it.

    face    : (n, m) the entries that an optimal rule may use: none has a positive reduced cost
    rows    : (n_answers, m) the answers that mattered, where a program that differs little may begin
    entries : (n, m) the columns of the last program
    """

    rule: Floats
    objective: float
    bound: float
    face: Bools
    rows: Bools
    entries: Bools


class _Columns:
    """Where the unknowns are: entries of the rule, then r, then p(y), then m(y), then what is lacking of the floor."""

    def __init__(self, program: Program, entries: Bools) -> None:
        m = entries.shape[1]
        self.y, self.x = np.nonzero(entries.T)  # by output, so that an output's entries are next to each other
        self.per_output = np.bincount(self.y, minlength=m)
        self.start = np.concatenate(([0], np.cumsum(self.per_output)))
        self.n_rule = len(self.x)
        self.risk = self.n_rule
        self.p_y = self.risk + m
        self.least = self.p_y + m
        self.lacking = self.least + (m if program.epsilon is not None else 0)
        self.n = self.lacking + (m if program.soft else 0)


class _Rows:
    """Rows being gathered: sum of value * unknown <= side."""

    def __init__(self) -> None:
        self.rows: list[Ints] = []
        self.columns: list[Ints] = []
        self.values: list[Floats] = []
        self.sides: list[Floats] = []
        self.n = 0

    def add(self, side: Floats, *terms: tuple[Any, Any, Any]) -> None:
        """Rows with these sides; a term is (row of each, column of each, value of each), broadcast."""
        for row, column, value in terms:
            r, c, v = np.broadcast_arrays(row, column, np.asarray(value, dtype=np.float64))
            self.rows.append(r.ravel().astype(np.int64) + self.n)
            self.columns.append(c.ravel().astype(np.int64))
            self.values.append(v.ravel())
        self.sides.append(np.asarray(side, dtype=np.float64))
        self.n += len(self.sides[-1])

    def matrix(self, n_columns: int) -> tuple[csc_array, Floats]:
        """The rows as a sparse matrix, and their sides."""
        if not self.n:
            return csc_array((0, n_columns)), np.zeros(0)
        at = (np.concatenate(self.rows), np.concatenate(self.columns))
        matrix = coo_array((np.concatenate(self.values), at), shape=(self.n, n_columns))
        return csc_array(matrix), np.concatenate(self.sides)


def _at_most(program: Program, at: _Columns, rows: Bools) -> _Rows:
    """The inequalities; the first are those of the answers in `rows`, by output."""
    out, m = _Rows(), rows.shape[1]
    outputs, p = np.arange(m), program.prior
    y, a = np.nonzero(rows.T)
    row = np.repeat(np.arange(len(y)), at.per_output[y])
    within = np.arange(len(row)) - np.repeat(np.cumsum(at.per_output[y]) - at.per_output[y], at.per_output[y])
    column = at.start[y][row] + within
    risks = -p[at.x[column]] * program.loss[a[row], at.x[column]]
    out.add(np.zeros(len(y)), (row, column, risks), (np.arange(len(y)), at.risk + y, 1.0))
    rule = np.arange(at.n_rule)
    if program.budget is not None:
        cost = p[at.x] * program.distortion[at.x, at.y]
        out.add(np.array([program.budget]), (np.zeros(at.n_rule), rule, cost))
    if program.floor is not None:
        terms = [(outputs, at.p_y + outputs, program.floor), (outputs, at.risk + outputs, -1.0)]
        terms += [(outputs, at.lacking + outputs, -1.0)] if program.soft else []
        out.add(np.zeros(m), *terms)
    if program.least_average is not None:
        out.add(np.array([-program.least_average]), (np.zeros(m), at.risk + outputs, -1.0))
    if program.epsilon is not None:
        _between(out, rule, at.least + at.y, 1.0, math.exp(program.epsilon))
    if program.delta is not None:
        known = np.flatnonzero(p[at.x] > 0)
        _between(out, rule[known], at.p_y + at.y[known], math.exp(-program.delta), math.exp(program.delta))
    return out


def _between(out: _Rows, entry: Any, other: Any, low: float, high: float) -> None:
    """Rows low * other <= entry <= high * other."""
    each = np.arange(len(entry))
    out.add(np.zeros(len(entry)), (each, other, low), (each, entry, -1.0))
    out.add(np.zeros(len(entry)), (each, entry, 1.0), (each, other, -high))


def _equal(program: Program, at: _Columns) -> tuple[csc_array, Floats]:
    """The equations: the rule's rows sum to 1, p(y) is what it is."""
    out, (n, m) = _Rows(), program.distortion.shape
    rule = np.arange(at.n_rule)
    out.add(np.ones(n), (at.x, rule, 1.0))
    out.add(np.zeros(m), (at.y, rule, program.prior[at.x]), (np.arange(m), at.p_y + np.arange(m), -1.0))
    return out.matrix(at.n)


def _objective(program: Program, at: _Columns, m: int) -> Floats:
    cost = np.zeros(at.n)
    if program.soft:
        cost[at.lacking :] = 1.0
    elif program.aim is not None:
        cost[: at.n_rule] = program.prior[at.x] * program.aim[at.x, at.y]
    else:
        cost[at.risk : at.risk + m] = -1.0
    return cost


def _solve(program: Program, entries: Bools, rows: Bools) -> tuple[Floats, float, float, Floats, Floats] | None:
    """The program with some entries and rows: rule, objective, bound over all entries, reduced costs (n, m), risks as
    the program sees them (m,). None: infeasible.
    """
    n, m = program.distortion.shape
    at = _Columns(program, entries)
    upper, upper_side = _at_most(program, at, rows).matrix(at.n)
    equal, equal_side = _equal(program, at)
    cost = _objective(program, at, m)
    most = float(program.loss.max()) + 1.0
    solved = solve_linear(cost, upper, upper_side, equal, equal_side)
    if solved is None:
        return None
    rule = np.zeros((n, m))
    rule[at.x, at.y] = solved.x[: at.n_rule]
    up, same = np.minimum(solved.ineqlin.marginals, 0.0), solved.eqlin.marginals
    reduced = cost - upper.T @ up - equal.T @ same
    table = _reduced_costs(program, rows, up, same)
    table[at.x, at.y] = reduced[: at.n_rule]
    table[~program.every_entry] = np.inf
    boxes = np.full(at.n - at.n_rule, 1.0)
    boxes[:m] = most
    if program.soft:
        boxes[at.lacking - at.n_rule :] = most
    # weak duality: any multipliers bound the objective once the unknowns are known to lie in boxes and simplices
    bound = float(
        upper_side @ up + equal_side @ same + table.min(axis=1).sum() + np.minimum(reduced[at.n_rule :], 0) @ boxes
    )
    return rule, float(solved.fun), bound, table, np.asarray(solved.x[at.risk : at.risk + m])


def _reduced_costs(program: Program, rows: Bools, up: Floats, same: Floats) -> Floats:
    """(n, m) what an entry that is not yet in the program would be worth; exact unless epsilon or delta couple them."""
    n, m = program.distortion.shape
    y, a = np.nonzero(rows.T)
    answers = np.zeros(rows.shape)
    answers[a, y] = up[: len(y)]
    weighted = program.loss.T @ answers
    if program.aim is not None and not program.soft:
        weighted += program.aim
    if program.budget is not None:
        weighted -= up[len(y)] * program.distortion
    table: Floats = program.prior[:, None] * (weighted - same[n : n + m]) - same[:n, None]
    return table


def solve_linear(
    cost: Floats, upper: csc_array | None, upper_side: Floats | None, equal: csc_array, equal_side: Floats
) -> Any:
    """What scipy says of min cost x with upper x <= upper_side, equal x = equal_side, x >= 0; None: infeasible."""
    solved: Any = None
    fine = {"primal_feasibility_tolerance": PRECISION, "dual_feasibility_tolerance": PRECISION}
    for method, options in (
        ("highs-ds", fine),
        ("highs-ds", {**fine, "presolve": False}),
        ("highs-ds", {}),
        ("highs-ipm", {}),
    ):
        solved = interruptible(
            scipy.optimize.linprog,
            cost,
            A_ub=upper,
            b_ub=upper_side,
            A_eq=equal,
            b_eq=equal_side,
            bounds=(0, None),
            method=method,
            options=options,
        )
        if solved.status == 0:
            return solved
        if solved.status == 2:
            return None
    raise FailedError(f"the linear program was not solved: {solved.message}")


def interruptible(solver: Any, *arguments: Any, **options: Any) -> Any:
    """What a native solver returns. It works beside this thread, in which a signal is heard at once: a Ctrl-C does not
    wait for the solver, which is left alone and ends with the process.
    """
    found: list[Any] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            found.append(solver(*arguments, **options))
        except BaseException as error:  # noqa: BLE001  # raised again where it can be caught
            failed.append(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]


def solve_whole(program: Program) -> Solved | None:
    """The program with all its rows and columns at once; None: infeasible."""
    rows = np.ones((len(program.loss), program.distortion.shape[1]), dtype=np.bool_)
    found = _solve(program, program.every_entry, rows)
    if found is None:
        return None
    rule, objective, bound, reduced, assumed = found
    binding = (program.loss * program.prior) @ rule - assumed <= scale(program) * 1e-9
    return Solved(rule, objective, bound, reduced <= scale(program) * 1e-9, binding, program.every_entry)


def solve_by_cuts(
    program: Program, *, tolerance: float, entries: Bools | None = None, rows: Bools | None = None
) -> Solved | None:
    """The program with few rows and columns, to which those that it lacks are added, until objective and bound meet.

    Rows are the attacker's answers: at each output the two that most exceed the risk assumed. Columns are entries of
    the rule, three for each secret with the most negative reduced cost; with epsilon or delta all from the start.
    entries, rows : where to begin; the entries must be enough for a feasible program
    """
    entries = (_first_entries(program) if entries is None else entries.copy()) & program.every_entry
    rows = _first_rows(program) if rows is None else np.pad(rows, ((0, len(program.loss) - len(rows)), (0, 0)))
    priced = not program.coupled
    if not priced:
        entries = program.every_entry.copy()
    bound = -math.inf
    for _ in range(MAX_ROUNDS):
        found = _solve(program, entries, rows)
        if found is None:
            if not priced or bool(np.array_equal(entries, program.every_entry)):
                return None
            entries = program.every_entry.copy()  # the few columns may be at fault, not the program
            continue
        rule, objective, below, reduced, assumed = found
        bound = max(bound, below)
        excess = assumed - (program.loss * program.prior) @ rule
        more_rows = _largest(np.where(rows, 0.0, excess).T, 2, scale(program) * 1e-10).T
        more_entries = _largest(np.where(entries, 0.0, -reduced), 3, scale(program) * 1e-11)
        value = objective + (float(np.maximum(excess, 0.0).max(axis=0).sum()) if not program.soft else 0.0)
        done = not more_rows.any() and not (priced and more_entries.any())
        if done or (value - bound <= tolerance and program.floor is None and program.least_average is None):
            return Solved(rule, objective, bound, reduced <= scale(program) * 1e-9, rows, entries)
        rows |= more_rows
        entries |= more_entries if priced else False
    raise FailedError(f"the cutting planes did not settle in {MAX_ROUNDS} rounds: use method='full'")


def scale(program: Program) -> float:
    """The largest loss, which rounding errors are measured by."""
    return max(float(program.loss.max()), 1e-300)


def _largest(values: Floats, count: int, above: float) -> Bools:
    """Which are among the `count` largest of their row, and above the threshold."""
    count = min(count, values.shape[1])
    chosen = np.zeros(values.shape, dtype=np.bool_)
    best = np.argpartition(-values, count - 1, axis=1)[:, :count]
    np.put_along_axis(chosen, best, np.take_along_axis(values, best, axis=1) > above, axis=1)
    return chosen


def _first_entries(program: Program) -> Bools:
    """The six cheapest outputs of each secret, and the cheapest constant one."""
    entries = np.zeros(program.distortion.shape, dtype=np.bool_)
    near = np.argsort(np.where(program.every_entry, program.distortion, np.inf), axis=1, kind="stable")[:, :6]
    np.put_along_axis(entries, near, values=True, axis=1)
    entries[:, np.argmin(program.prior @ program.distortion)] = True
    return entries


def _first_rows(program: Program) -> Bools:
    """The best answers to beliefs about an output that fall off with distortion, over three decades of widths."""
    rows = np.zeros((len(program.loss), program.distortion.shape[1]), dtype=np.bool_)
    excess = program.distortion - program.distortion.min(axis=0)
    widest = max(float(excess.max()), 1e-300)
    for width in np.geomspace(1e-3, 1.0, 6) * widest:
        belief = program.prior[:, None] * np.exp(-excess / width)
        rows[np.argmin(program.loss @ belief, axis=0), np.arange(rows.shape[1])] = True
    return rows


def clean(rule: Floats, prior: Floats) -> Floats:
    """The rule without negative entries and outputs that are next to unused, its rows summing to 1."""
    kept = np.maximum(rule, 0.0)
    kept[:, prior @ kept < UNUSED] = 0.0
    kept[kept.sum(axis=1) <= 0.0] = prior @ kept  # a secret of next to no prior, which used none of the others
    return np.asarray(kept / kept.sum(axis=1, keepdims=True), dtype=np.float64)


def risks(program: Program, rule: Floats) -> tuple[float, float]:
    """The average risk of the attacker, and the least at an output of positive probability."""
    joint = program.prior[:, None] * rule
    p_y = joint.sum(axis=0)
    least = (program.loss @ joint).min(axis=0)
    used = p_y > 0
    return float(least.sum()), float((least[used] / p_y[used]).min())
