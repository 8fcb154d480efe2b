"""Among channels that protect alike: the least distortion, and then the least leakage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from unmask.channels._matrices import Floats
from unmask.channels.design.design_lp import Program, Solved, clean, risks, solve_by_cuts
from unmask.channels.design.lagrangian_curve import mutual_information
from unmask.channels.design.rounding import hold, meets, tightened

SLACK = 1e-9
"""By how much, of the largest loss or distortion, what was reached may give way to what comes after it."""

FLOOR_SLACK = 5e-7
"""The same of the worst case, which is a search of this tolerance."""

ENOUGH = 1e-6
"""Nats that the leakage may be above its least value."""

MOST_VERTICES = 25

WEIGHINGS = 300
"""Steps by which the vertices are weighed."""


def least_distortion(program: Program, found: Solved, rule: Floats) -> Floats:
    """The rule of least distortion among those that are as private as this one, on average and in the worst case."""
    face = replace(_face(program, found, rule), aim=program.distortion)
    cheap = solve_by_cuts(face, tolerance=0.0, entries=rule > 0, rows=found.rows)
    return rule if cheap is None else _kept(program, rule, cheap.rule, better=_distortion)


def least_leakage(program: Program, found: Solved, rule: Floats) -> Floats:
    """The rule of least I(X;Y) among those that are as private as this one and distort no more.

    The rules that qualify are a polytope, and I is convex on it. Its tangent at the best mixture of the vertices known
    so far is minimized by linear programming, which gives another vertex, until that tangent has nothing below.

    C. A. Holloway, "An extension of the Frank and Wolfe method of feasible directions", Math. Programming 6, 1974.
    """
    reached = _distortion(program, rule)
    budget = min(reached + SLACK, max(reached, program.budget or 0.0))
    face = replace(_face(program, found, rule), budget=budget)
    vertices, best = [rule], rule
    for _ in range(MOST_VERTICES):
        slope = _slope(program.prior, best)
        further = solve_by_cuts(replace(face, aim=slope), tolerance=0.0, entries=best > 0, rows=found.rows)
        if further is None or float(program.prior @ (slope * (best - further.rule)).sum(axis=1)) <= ENOUGH:
            break
        vertices.append(clean(further.rule, program.prior))
        best = _mixed(program.prior, np.stack(vertices))
    return _kept(program, rule, best, better=lambda program, one: mutual_information(program.prior, one))


def _face(program: Program, found: Solved, rule: Floats) -> Program:
    """The program of the rules that are as private as this one."""
    average, worst = risks(program, rule)
    allowed = found.face | (rule > 0)
    if program.coupled:  # an output is in use whole or not at all
        allowed &= allowed.all(axis=0)
    floor = max(worst - SLACK, program.floor or 0.0)
    return replace(tightened(program), allowed=allowed, least_average=average - SLACK, floor=floor)


def _distortion(program: Program, rule: Floats) -> float:
    return float(program.prior @ (rule * program.distortion).sum(axis=1))


def _slope(prior: Floats, rule: Floats) -> Floats:
    """(n, m) dI / d p(y given x) over p(x): ln p(y given x) / p(y), cut off far below; 0 where y is never shown, and
    what it would be worth at the least.
    """
    return _log_ratio(rule, prior @ rule)


def _log_ratio(rule: Floats, p_y: Floats) -> Floats:
    ratio = np.divide(rule, p_y, out=np.ones_like(rule), where=p_y > 0)
    return np.asarray(np.log(np.maximum(ratio, 1e-9)))


def _mixed(prior: Floats, vertices: Floats) -> Floats:
    """The mixture of least I(X;Y): weights times exp(-slope), which never raises it, as in Blahut and Arimoto."""
    x, y = np.nonzero(vertices.any(axis=0))
    rules, n_outputs = vertices[:, x, y], vertices.shape[2]
    joints: Floats = prior[x] * rules
    weights = np.full(len(vertices), 1.0 / len(vertices))
    for _ in range(WEIGHINGS):
        p_y = np.bincount(y, weights @ joints, n_outputs).astype(np.float64)
        weights *= np.exp(-(joints @ _log_ratio(weights @ rules, p_y[y])))
        weights /= weights.sum()
    return np.tensordot(weights, vertices, axes=1)


def _kept(program: Program, rule: Floats, other: Floats, *, better: Callable[[Program, Floats], float]) -> Floats:
    """The other rule where it is as private, holds what was asked and has less of what is counted; else the rule."""
    held = hold(program, clean(other, program.prior))
    old, new = risks(program, rule), risks(program, held)
    as_private = new[0] >= old[0] - 2 * SLACK and new[1] >= old[1] - FLOOR_SLACK
    return held if as_private and meets(program, held) and better(program, held) < better(program, rule) else rule
