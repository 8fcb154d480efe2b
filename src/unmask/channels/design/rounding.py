"""What a solver leaves of rounding, taken out of a rule, so that its constraints hold as they were asked for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from unmask.channels._matrices import Floats
from unmask.channels.design.design_lp import Program, clean, risks


def tightened(program: Program) -> Program:
    """Epsilon and delta a little smaller, so that they still hold after rounding."""
    less = [None if value is None else value * (1 - 1e-10) for value in (program.epsilon, program.delta)]
    return replace(program, epsilon=less[0], delta=less[1])


def meets(program: Program, rule: Floats) -> bool:
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


def hold(program: Program, rule: Floats) -> Floats:
    """The rule with rounding taken out: epsilon, delta and the floor hold again, output by output.

    p(y given x) moves towards p(y) by the least share that is enough; shares are of the order of the solver's
    precision over p(y), and the rows are divided by their sum again.
    """
    kept = clean(rule, program.prior)
    tight = tightened(program)
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


def _share(lacking: Floats, room: Floats) -> Floats:
    lacking = np.where(lacking > 1e-15, lacking, 0.0)
    return np.where(lacking > 0, lacking / np.maximum(lacking + room, 1e-300), 0.0)
