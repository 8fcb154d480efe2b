"""Answers that are no candidates: what the best adversary says of a channel, made rows of the loss."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csc_array, vstack

from unmask.channels._matrices import Floats, Ints
from unmask.channels.design.design_lp import UNUSED, Program, clean, solve_linear
from unmask.core.posterior import Posterior
from unmask.measures.losses import Loss, LossName, decision_problem

ANSWERED = 1e-7
"""An answer that lowers the expected loss at an output by less than this share of the largest loss is not added."""


def among_candidates(loss: Loss, coordinates: ArrayLike | None) -> bool:
    """Whether the best answer is always among the candidates, or the rows of a matrix: no other has to be looked for.

    The median of numbers is one of them; means, and medians of points, need not be.

    >>> among_candidates("absolute", [0.0, 1.0]), among_candidates("squared", [0.0, 1.0])
    (True, False)
    """
    if not isinstance(loss, str) or loss == "hamming" or loss.endswith("_medoid"):
        return True
    points = np.asarray(coordinates)
    return loss in ("absolute", "euclidean") and (points.ndim == 1 or points.shape[1] == 1)


WORST = 1e-3
"""The share of the budget to which the risk at the worst output is raised, where it cannot be the budget."""


@dataclass(frozen=True, eq=False)
class Answers:
    """A named loss whose best answers are any points.

    points : (n, n_dimensions) of the candidates
    unit   : of the loss, by which it is divided
    """

    loss: LossName
    points: Floats
    unit: float

    def to(self, program: Program, *rules: Floats, by: float = ANSWERED) -> Program:
        """The program with the best answers to what the rules show, where they beat the answers that it has by so much;
        itself where none does.
        """
        joint = program.prior[:, None] * np.hstack(rules)
        used = joint[:, joint.sum(axis=0) > UNUSED]
        belief = (used / used.sum(axis=0)).T
        known = (belief @ program.loss.T).min(axis=1)
        _, answer = decision_problem(self.loss, len(joint), coordinates=self.points).best(Posterior.from_dense(belief))
        loss = self._between(answer)
        better = (loss * belief).sum(axis=1) < known - by
        return replace(program, loss=np.vstack([program.loss, loss[better]])) if better.any() else program

    def _between(self, answer: Floats) -> Floats:
        """(n_answers, n) what points cost as answers."""
        n, k = len(self.points), len(answer)
        both = np.vstack([self.points, answer])
        problem = decision_problem(self.loss, n + k, coordinates=both)
        table = problem.between(np.arange(n, n + k)[:, None], np.arange(n)[None])
        return np.asarray(table, dtype=np.float64) / self.unit

    def own(self, program: Program, *, average_alone: bool) -> Floats | None:
        """A rule whose outputs are points that the adversary does best to believe, which distorts by the whole budget;
        of those the one of the largest risk at the worst output. None where there is none, or no distortion at all.

        The distortion is the loss, so that no channel leaves more on average, see `matched_optimum`; where the risk is
        the budget at every output, none leaves more at the worst one either.
        """
        if self.loss == "haversine":  # the slopes of distances on a sphere are not worked out
            return None
        budget = program.budget or 0.0
        found = None if average_alone else self._own(program, budget, floor=budget)
        if found is not None:
            return found
        found, low, high = self._own(program, budget, floor=0.0), 0.0, 0.0 if average_alone else budget
        while found is not None and high - low > WORST * budget:
            middle = (low + high) / 2
            better = self._own(program, budget, floor=middle)
            found, low, high = (found, low, middle) if better is None else (better, middle, high)
        return found

    def _own(self, program: Program, budget: float, *, floor: float) -> Floats | None:
        """At output y the answer y is best where sum_x p(x) p(y given x) grad d(y, x) = 0, and its risk is at least the
        floor where sum_x p(x) p(y given x) (d(y, x) - floor) >= 0: both linear.
        """
        n = len(self.points)
        x, y = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
        p, distortion = program.prior[x], program.distortion[x, y]
        column, each = np.arange(n * n), (n, n * n)
        equal = [coo_array((np.ones(n * n), (x, column))), coo_array((p * distortion)[None])]
        equal += [coo_array((p * slope, (y, column)), shape=each) for slope in self._slopes(x, y)]
        side = np.zeros(sum(rows.shape[0] for rows in equal))
        side[:n], side[n] = 1.0, budget
        above = coo_array((p * (floor - distortion), (y, column)), shape=each)
        solved = solve_linear(np.zeros(n * n), csc_array(above), np.zeros(n), csc_array(vstack(equal)), side)
        return None if solved is None else clean(solved.x.reshape(n, n), program.prior)

    def _slopes(self, x: Ints, y: Ints) -> Iterable[Floats]:
        """How the loss d(y, x) changes with the answer, in each dimension; 0 at the right answer."""
        away = self.points[y] - self.points[x]
        length = np.linalg.norm(away, axis=1, keepdims=True)
        if self.loss == "absolute":
            return np.sign(away).T
        return (away / np.where(length > 0, length if self.loss == "euclidean" else length.max(), 1.0)).T
