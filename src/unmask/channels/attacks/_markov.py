"""Kernels of the hidden Markov attacker: passes over traces (users, steps), scaled or in logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from unmask.channels._matrices import Matrix
from unmask.channels.release import Channel
from unmask.errors import UnmaskError

AGREEMENT = 1e-8
"""How far the two passes may disagree on p(y) before a trace is worked through again in logarithms."""

VANISHING = 1e-290
"""A state that is possible but believed in less than this may be lost to underflow at the next step."""


class Traces(NamedTuple):
    """Outputs (users, steps) of some users, -1 where nothing was seen, and the number of the first of them."""

    first: int
    seen: NDArray[np.int64]


class Passes(NamedTuple):
    """What the passes give: beliefs (users, steps, states) and log p(y_t given y_1..y_t-1) (users, steps).

    in_logarithms : (users,) the traces that had to be worked through in logarithms
    """

    belief: NDArray[np.float64]
    log_step: NDArray[np.float64]
    in_logarithms: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Model:
    """The chain and its mechanism. `motion` is the step x_t -> x_t+1 as a channel, its prior is p(x_1)."""

    motion: Channel
    mechanism: Channel

    @cached_property
    def emission(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(n_y + 1, n_x) p(y given x) divided by its largest entry for each y, and the log of that; the last row is
        "nothing was seen".
        """
        table = np.vstack([self.mechanism.dense().T, np.ones(self.mechanism.n_x)])
        top = table.max(axis=1)
        top[top == 0] = 1.0
        return table / top[:, None], np.log(top)

    @cached_property
    def back(self) -> Matrix:
        """(n_x, n_x) the transition read from the step it leads to."""
        A = self.motion.p_y_given_x
        return A.T if isinstance(A, np.ndarray) else csr_array(A.T)

    @cached_property
    def logarithms(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Log of the transition (n_x, n_x) and of the emission (n_y + 1, n_x), -inf for the impossible."""
        likelihood, log_top = self.emission
        with np.errstate(divide="ignore"):
            return np.log(self.motion.dense()), np.log(likelihood) + log_top[:, None]

    def filtered(self, traces: Traces) -> Passes:
        """p(x_t given y_1..y_t), exact at every step."""
        belief, log_step, doubtful = _forward(self, traces)
        for user in np.flatnonzero(doubtful):
            belief[user], log_step[user] = _normalized(log_forward(self, traces, int(user)))
        return Passes(belief, log_step, doubtful)

    def ending(self, traces: Traces) -> tuple[Passes, Passes]:
        """The scaled forward pass and the smoothed beliefs p(x_t given y_1..y_T), both right for the whole trace.

        A state that the forward pass lost to underflow matters only if the trace as a whole says that the user may
        have been there: then the passes disagree on p(y), and the trace is worked through again in logarithms.
        """
        belief, log_step, _ = _forward(self, traces)
        smooth, wrong = _smooth(self, traces, belief, log_step)
        for user in np.flatnonzero(wrong):
            log_alpha = log_forward(self, traces, int(user))
            belief[user], log_step[user] = _normalized(log_alpha)
            smooth[user], _ = _normalized(log_alpha + log_backward(self, traces.seen[user]))
        return Passes(belief, log_step, wrong), Passes(smooth, log_step, wrong)


def _forward(model: Model, traces: Traces) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    likelihood, log_top = model.emission
    seen, A = traces.seen, model.motion.p_y_given_x
    belief = np.empty((*seen.shape, model.motion.n_x))
    log_step = np.empty(seen.shape)
    doubtful = np.zeros(len(seen), dtype=bool)
    now = np.broadcast_to(model.motion.prior, belief[:, 0].shape)
    for t in range(seen.shape[1]):
        evidence = likelihood[seen[:, t]]
        joint = now * evidence
        mass = joint.sum(axis=1)
        safe = np.where(mass > 0, mass, 1.0)
        belief[:, t] = joint / safe[:, None]
        vanishing = (now > 0) & (evidence > 0) & (belief[:, t] < VANISHING)
        doubtful |= (mass <= 0) | vanishing.any(axis=1)
        log_step[:, t] = np.log(safe) + log_top[seen[:, t]]
        now = through(belief[:, t], A)
    return belief, log_step, doubtful


def _smooth(
    model: Model, traces: Traces, belief: NDArray[np.float64], log_step: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """p(x_t given y_1..y_T), and the traces whose beliefs do not sum to 1 at every step: a pass lost something."""
    likelihood, log_top = model.emission
    seen, back = traces.seen, model.back
    smooth = belief.copy()
    ahead = np.ones((len(seen), model.motion.n_x))  # p(y_t+1..y_T given x_t) / p(y_t+1..y_T given y_1..y_t)
    wrong = ~(smooth[:, -1].sum(axis=1) > 0.5)
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(seen.shape[1] - 2, -1, -1):
            factor = np.exp(log_top[seen[:, t + 1]] - log_step[:, t + 1])
            ahead = through(ahead * likelihood[seen[:, t + 1]], back) * factor[:, None]
            smooth[:, t] *= ahead
            mass = smooth[:, t].sum(axis=1)
            wrong |= ~(np.abs(mass - 1.0) <= AGREEMENT)
            smooth[:, t] /= mass[:, None]
    return smooth, wrong


def log_forward(model: Model, traces: Traces, user: int) -> NDArray[np.float64]:
    """(n_steps, n_x) log p(x_t, y_1..y_t), or the error that names the impossible step."""
    log_A, log_emission = model.logarithms
    seen = traces.seen[user]
    log_alpha = np.empty((len(seen), model.motion.n_x))
    with np.errstate(divide="ignore"):
        now = np.log(model.motion.prior)
    for t, output in enumerate(seen):
        log_alpha[t] = now + log_emission[output]
        if np.isneginf(log_alpha[t].max()):
            raise impossible(traces.first + user, t)
        now = log_sum(log_alpha[t][None, :] + log_A.T)
    return log_alpha


def log_backward(model: Model, seen: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n_steps, n_x) log p(y_t+1..y_T given x_t)."""
    log_A, log_emission = model.logarithms
    log_beta = np.zeros((len(seen), model.motion.n_x))
    for t in range(len(seen) - 2, -1, -1):
        log_beta[t] = log_sum(log_A + (log_emission[seen[t + 1]] + log_beta[t + 1])[None, :])
    return log_beta


def path_entropy(model: Model, traces: Traces, forward: Passes) -> NDArray[np.float64]:
    """(users,) H(X_1..X_T given y_1..y_T) in nats by the recursion over the state that paths end in."""
    belief, A = forward.belief, model.motion.p_y_given_x
    surprise = _surprise(A)
    ending = np.zeros_like(belief[:, 0])  # entropy of the paths that end in each state
    for t in range(belief.shape[1] - 1):
        now = belief[:, t]
        reach = through(now, A)
        spread = through(now * (ending - _log(now)), A) + through(now, surprise)
        ending = np.where(reach > 0, np.maximum(spread / np.where(reach > 0, reach, 1.0) + _log(reach), 0.0), 0.0)
    last = belief[:, -1]
    entropy = np.asarray((last * (ending - _log(last))).sum(axis=1), dtype=np.float64)
    for user in np.flatnonzero(forward.in_logarithms):
        entropy[user] = _log_path_entropy(model, traces, int(user))
    return entropy


def _log_path_entropy(model: Model, traces: Traces, user: int) -> float:
    """H(X_T given y) + sum_t H(X_t given X_t+1, y), with p(x_t given x_t+1, y) proportional to alpha_t A."""
    log_alpha = log_forward(model, traces, user)
    smooth, _ = _normalized(log_alpha + log_backward(model, traces.seen[user]))
    log_A = model.logarithms[0]
    entropy = -float((smooth[-1] * _log(smooth[-1])).sum())
    for t in range(len(smooth) - 1):
        log_way = log_alpha[t][None, :] + log_A.T  # (to, from)
        total = log_sum(log_way)
        way = np.exp(log_way - np.where(np.isneginf(total), 0.0, total)[:, None])
        entropy -= float(smooth[t + 1] @ (way * _log(way)).sum(axis=1))
    return entropy


def _surprise(A: Matrix) -> Matrix:
    """-A log A, entry by entry."""
    if isinstance(A, np.ndarray):
        return np.asarray(-A * _log(A), dtype=np.float64)
    out = A.copy()
    out.data = -A.data * np.log(A.data)
    return out


def _log(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log p, 0 where p is 0: for p log p."""
    return np.asarray(np.log(np.where(p > 0, p, 1.0)), dtype=np.float64)


def _normalized(log_joint: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The rows as probabilities, and by how much the log of their sum grew at each."""
    total = log_sum(log_joint)
    return np.exp(log_joint - total[:, None]), np.diff(total, prepend=0.0)


@dataclass(frozen=True, eq=False)
class Arcs:
    """The possible steps, sorted by where they lead: for each state the best predecessor in one pass."""

    source: NDArray[np.int64]
    log_p: NDArray[np.float64]
    start: NDArray[np.int64]
    reached: NDArray[np.bool_]
    table: NDArray[np.float64] | None  # (to, from) log A where a quarter or more of it is possible

    @classmethod
    def of(cls, transition: csr_array[np.float64, tuple[int, int]]) -> Arcs:
        """The arcs of a sparse transition without stored zeros."""
        by_target = csc_array(transition)
        by_target.sort_indices()
        reached = np.diff(by_target.indptr) > 0
        start = by_target.indptr[:-1][reached].astype(np.int64)
        table = None
        if 4 * by_target.nnz >= np.prod(by_target.shape):
            with np.errstate(divide="ignore"):
                table = np.ascontiguousarray(np.log(by_target.toarray().T))
        return cls(by_target.indices.astype(np.int64), np.log(by_target.data), start, reached, table)

    @property
    def width(self) -> int:
        """Arcs per state: the room that one step takes beside the table of states."""
        return 1 + len(self.source) // len(self.reached)

    def best(self, score: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """(users, n_x) max_i score_i + log A_ij and the first i that attains it."""
        if self.table is not None:
            return self._best_of_table(score, self.table)
        through = score[:, self.source] + self.log_p
        top = np.maximum.reduceat(through, self.start, axis=1)
        sizes = np.diff(np.append(self.start, len(self.source)))
        place = np.where(through == np.repeat(top, sizes, axis=1), np.arange(len(self.source)), len(self.source))
        first = np.minimum.reduceat(place, self.start, axis=1)
        best = np.full((len(score), len(self.reached)), -np.inf)
        came = np.zeros(best.shape, dtype=np.int32)
        best[:, self.reached], came[:, self.reached] = top, self.source[first]
        return best, came

    def _best_of_table(
        self, score: NDArray[np.float64], table: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        best, came = np.empty(score.shape), np.empty(score.shape, dtype=np.int32)
        work, states = np.empty(table.shape), np.arange(len(table))
        for user in range(len(score)):  # one user at a time: his n_x^2 numbers stay in the cache
            np.add(table, score[user], out=work)
            came[user] = work.argmax(axis=1)
            best[user] = work[states, came[user]]
        return best, came


def best_paths(model: Model, traces: Traces, order: NDArray[np.int64], arcs: Arcs) -> NDArray[np.int64]:
    """(users, steps) likeliest path of each trace; `order` is the shuffle of the states in which `arcs` is written."""
    seen, (likelihood, _) = traces.seen, model.emission
    with np.errstate(divide="ignore"):
        log_emission = np.log(likelihood)[:, order]
        score = np.log(model.motion.prior)[order] + log_emission[seen[:, 0]]
    came_from = np.zeros((*seen.shape, len(order)), dtype=np.int32)
    for t in range(seen.shape[1]):
        if t > 0:
            best, came_from[:, t] = arcs.best(score)
            score = best + log_emission[seen[:, t]]
        top = score.max(axis=1)
        if np.isneginf(top.min()):
            raise impossible(traces.first + int(np.argmin(top)), t)
        score = score - top[:, None]
    path = np.empty(seen.shape, dtype=np.int64)
    users = np.arange(len(seen))
    path[:, -1] = score.argmax(axis=1)
    for t in range(seen.shape[1] - 1, 0, -1):
        path[:, t - 1] = came_from[users, t, path[:, t]]
    return order[path]


def impossible(user: int, step: int) -> UnmaskError:
    """The error for an output that cannot follow what came before it."""
    return UnmaskError(
        f"what user {user} shows at step {step} is impossible after the steps before it: no state that can be reached "
        "shows it; widen the transition or the mechanism, or check the trace"
    )


def through(vector: NDArray[np.float64], matrix: Matrix) -> NDArray[np.float64]:
    """`vector @ matrix` for rows of users, dense or sparse matrix."""
    if issparse(matrix):
        return np.asarray((matrix.T @ vector.T).T, dtype=np.float64)
    return np.asarray(vector @ matrix, dtype=np.float64)


def log_sum(log_value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log of the sum of exponentials over the last axis; -inf where all are."""
    top = log_value.max(axis=-1)
    safe = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(log_value - safe[..., None]).sum(axis=-1)) + safe, dtype=np.float64)
