"""The floor under the attacker's risk at every output, raised as high as it goes."""

from __future__ import annotations

from dataclasses import replace

from unmask.channels._matrices import Bools, Floats
from unmask.channels.design.design_lp import PRECISION, Program, clean, risks, scale, solve_by_cuts

CRUMB = 1e-5
"""Outputs of less probability than this are done without where constraints on them are lost in rounding."""


def raise_floor(program: Program, *, start: Floats, most: float, tolerance: float, rows: Bools) -> Floats:
    """The rule with the largest worst-case risk among those of the program: the floor as high as it goes.

    For a fixed floor the program is linear: minimize what lacks from it. The floor is between the worst case of the
    best rule so far and the least floor that could not be met; next is tried the one at which the outputs that lacked
    would, together, just reach it, kept off the two ends, or the middle. Ends when the ends are within `tolerance`.
    start : a rule of the program
    most  : a floor that no rule exceeds
    """
    best, low, high, trial = start, risks(program, start)[1], most, most
    entries = program.allowed
    for _ in range(60):
        width = high - low
        if width <= tolerance:
            break
        found = solve_by_cuts(replace(program, floor=trial, soft=True), tolerance=0.0, entries=entries, rows=rows)
        if found is None:
            break
        entries, rows = found.entries, found.rows
        rule = clean(found.rule, program.prior)
        worst = risks(program, rule)[1]
        if worst < trial - tolerance / 2 and found.objective <= 10 * PRECISION * scale(program):
            rule, worst = _without_crumbs(replace(program, floor=trial, soft=True), rule, rows)
        if worst > low:
            best, low = rule, worst
        met = worst >= trial - tolerance / 2
        if not met:
            high = min(high, trial)
        elif high - trial <= tolerance / 2:
            break
        trial, reach = (low + high) / 2, high - low
        if not met and (reach <= 0.7 * width or high == most):  # otherwise the guesses creep: halve
            guess = _balance(program, rule, high)
            trial = min(max(guess, low + max(tolerance, 0.01 * reach)), high - 0.1 * reach)
    return best


def without_crumbs(program: Program, rule: Floats) -> Program:
    """The program without the outputs that the rule hardly uses: what they lack is below the solver's precision."""
    return replace(program, allowed=program.every_entry & (program.prior @ rule >= CRUMB))


def _without_crumbs(program: Program, rule: Floats, rows: Bools) -> tuple[Floats, float]:
    """The rule that solves the program without them and its worst case, or the rule as it was."""
    less = without_crumbs(program, rule)
    found = solve_by_cuts(less, tolerance=0.0, entries=less.allowed, rows=rows)
    if found is not None and found.objective <= 10 * PRECISION * scale(program):
        other = clean(found.rule, program.prior)
        if risks(program, other)[1] > risks(program, rule)[1]:
            rule = other
    return rule, risks(program, rule)[1]


def _balance(program: Program, rule: Floats, floor: float) -> float:
    joint = program.prior[:, None] * rule
    p_y, least = joint.sum(axis=0), (program.loss @ joint).min(axis=0)
    lacking = least < floor * p_y * (1 - 1e-9)
    return float(least[lacking].sum() / p_y[lacking].sum()) if lacking.any() else floor
