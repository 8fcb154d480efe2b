"""A hidden Markov chain: secrets that move step by step, and a mechanism that shows something of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from unmask.channels._matrices import Bools, Floats, Ints, Matrix, log_or_0
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError

BLOCK = 1 << 24
"""Numbers (users x steps x states) held at once in one table: 128 MB."""


AGREEMENT = 1e-8
"""How far the two passes may disagree on p(y) before a trace is worked through again in logarithms."""

VANISHING = 1e-290
"""A state that is possible but believed in less than this may be lost to underflow at the next step."""


class Traces(NamedTuple):
    """Outputs (users, steps) of some users, -1 where nothing was seen, and the number of the first of them."""

    first: int
    seen: Ints


class Passes(NamedTuple):
    """What the passes give: beliefs (users, steps, states) and log p(y_t given y_1..y_t-1) (users, steps).

    in_logarithms : (users,) the traces that had to be worked through in logarithms
    """

    belief: Floats
    log_step: Floats
    in_logarithms: Bools


class Rate(NamedTuple):
    """A number of bits per step and its standard error."""

    bits_per_step: float
    standard_error: float
    n_steps: int


@dataclass(frozen=True, eq=False)
class Chain:
    """How secrets move, and what is shown of them at each step.

    p(x_1..x_T, y_1..y_T) = p(x_1) prod_t A[x_t, x_t+1] prod_t p(y_t given x_t)

    transition : (n_x, n_x) A[i, j] = p(x_t+1 = j given x_t = i), rows sum to 1; sparse for bands and road networks
    mechanism  : the channel of one step, p(y given x)
    initial    : (n_x,) p(x_1); the prior of the mechanism when None

    Observations are outputs (n_users, n_steps); -1 is a step at which nothing was seen, or the end of a shorter trace.
    One that is impossible after what came before it is refused, with its user and step.

    L. R. Rabiner, "A tutorial on hidden Markov models", Proc. IEEE 1989, section III.
    """

    transition: Matrix
    mechanism: Channel
    initial: Floats | None = None

    def __post_init__(self) -> None:
        shape = np.shape(self.transition)
        if shape != (self.mechanism.n_x, self.mechanism.n_x):
            raise UnmaskError(
                f"the transition has shape {shape}, expected a row and a column for each of the "
                f"{self.mechanism.n_x} secrets of the mechanism"
            )
        object.__setattr__(self, "transition", self.motion.p_y_given_x)

    @cached_property
    def motion(self) -> Channel:
        """The step x_t -> x_t+1 as a channel, its prior is p(x_1)."""
        return Channel(self.transition, self.mechanism.prior if self.initial is None else self.initial)

    @cached_property
    def emission(self) -> tuple[Floats, Floats]:
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
    def logarithms(self) -> tuple[Floats, Floats]:
        """Log of the transition (n_x, n_x) and of the emission (n_y + 1, n_x), -inf for the impossible."""
        likelihood, log_top = self.emission
        with np.errstate(divide="ignore"):
            return np.log(self.motion.dense()), np.log(likelihood) + log_top[:, None]

    def log_likelihood(self, observations: Ints) -> Floats:
        """(n_users,) natural log of p(y_1..y_T) of each trace."""
        seen = self.checked(observations)
        return np.asarray(self._log_steps(seen).sum(axis=1), dtype=np.float64)

    def entropy_rate(self, observations: Ints) -> Rate:
        """-log2 p(y_1..y_T) / T, in bits per step: what an estimate of the entropy rate of the *output* is.

        A function of a Markov chain has no closed form; by Shannon-McMillan-Breiman this converges to its entropy rate.
        Several users: mean over users, standard error between them. One user: batch means over about sqrt(T) steps.
        Steps at which nothing was seen are no information and are not counted.
        """
        seen = self.checked(observations)
        log_step = self._log_steps(seen) / -np.log(2.0)
        shown = seen >= 0
        n_shown = int(shown.sum())
        if n_shown == 0:
            raise UnmaskError("nothing was seen at any step, so there is no output whose entropy could be estimated")
        mean = float(log_step.sum() / n_shown)
        if len(seen) > 1:
            deviation = (log_step - mean * shown).sum(axis=1)
            variance = float((deviation**2).sum()) * len(seen) / (len(seen) - 1)
            return Rate(mean, float(np.sqrt(variance)) / n_shown, n_shown)
        size = max(1, int(np.sqrt(n_shown)))
        batches = log_step[shown][: n_shown // size * size].reshape(-1, size).mean(axis=1)
        error = float(batches.std(ddof=1) / np.sqrt(len(batches))) if len(batches) > 1 else float("inf")
        return Rate(mean, error, n_shown)

    def path_entropy_bits(self, observations: Ints) -> Floats:
        """(n_users,) H(X_1..X_T given y_1..y_T) in bits: how many paths remain, exactly. Divide by T for a rate.

        H_t(j) = sum_i w_ij (H_t-1(i) - log2 w_ij), w_ij = p(x_t-1 = i given x_t = j, y_1..y_t-1): the entropy of the
        paths that end in j. It is at most the sum over t of H(X_t given y), and 2^H is an effective number of paths.

        D. Hernando, V. Crespi, G. Cybenko, "Efficient computation of the hidden Markov model entropy for a given
        observation sequence", IEEE Trans. Inf. Theory 2005.
        """
        nats = [path_entropy(self, part) for part in self.parts(self.checked(observations))]
        return np.asarray(np.concatenate(nats) / np.log(2.0), dtype=np.float64)

    def checked(self, observations: Ints) -> Ints:
        """The observations, refused where they are no outputs of the mechanism."""
        seen = np.asarray(observations)
        if seen.ndim != 2 or seen.size == 0 or not np.issubdtype(seen.dtype, np.integer):
            raise UnmaskError(
                f"the traces have shape {seen.shape} and type {seen.dtype}, expected output numbers (users, steps)"
            )
        wrong = np.argwhere((seen < -1) | (seen >= self.mechanism.n_y))
        if len(wrong):
            user, step = wrong[0]
            raise UnmaskError(
                f"user {user} shows at step {step} an output outside 0..{self.mechanism.n_y - 1}; -1 means nothing seen"
            )
        return seen.astype(np.int64)

    def parts(self, seen: Ints, width: int = 1) -> Iterator[Traces]:
        """Some users at a time, whose tables of states fit in memory; width : tables of one step."""
        size = max(1, BLOCK // (max(seen.shape[1], width) * self.mechanism.n_x))
        for start in range(0, len(seen), size):
            yield Traces(start, seen[start : start + size])

    def _log_steps(self, seen: Ints) -> Floats:
        """(users, steps) log p(y_t given y_1..y_t-1)."""
        return np.concatenate([ending(self, part)[0].log_step for part in self.parts(seen)])


def filtered(chain: Chain, traces: Traces) -> Passes:
    """p(x_t given y_1..y_t), exact at every step."""
    belief, log_step, doubtful = _forward(chain, traces)
    for user in np.flatnonzero(doubtful):
        belief[user], log_step[user] = _normalized(log_forward(chain, traces, int(user)))
    return Passes(belief, log_step, doubtful)


def ending(chain: Chain, traces: Traces) -> tuple[Passes, Passes]:
    """The scaled forward pass and the smoothed beliefs p(x_t given y_1..y_T), both right for the whole trace.

    A state that the forward pass lost to underflow matters only if the trace as a whole says that the user may have
    been there: then the passes disagree on p(y), and the trace is worked through again in logarithms.
    """
    belief, log_step, _ = _forward(chain, traces)
    smooth, wrong = _smooth(chain, traces, belief, log_step)
    for user in np.flatnonzero(wrong):
        log_alpha = log_forward(chain, traces, int(user))
        belief[user], log_step[user] = _normalized(log_alpha)
        smooth[user], _ = _normalized(log_alpha + log_backward(chain, traces.seen[user]))
    return Passes(belief, log_step, wrong), Passes(smooth, log_step, wrong)


def _forward(chain: Chain, traces: Traces) -> tuple[Floats, Floats, Bools]:
    likelihood, log_top = chain.emission
    seen, A = traces.seen, chain.motion.p_y_given_x
    belief = np.empty((*seen.shape, chain.motion.n_x))
    log_step = np.empty(seen.shape)
    doubtful = np.zeros(len(seen), dtype=bool)
    now = np.broadcast_to(chain.motion.prior, belief[:, 0].shape)
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


def _smooth(chain: Chain, traces: Traces, belief: Floats, log_step: Floats) -> tuple[Floats, Bools]:
    """p(x_t given y_1..y_T), and the traces whose beliefs do not sum to 1 at every step: a pass lost something."""
    likelihood, log_top = chain.emission
    seen, back = traces.seen, chain.back
    smooth = belief.copy()
    ahead = np.ones((len(seen), chain.motion.n_x))  # p(y_t+1..y_T given x_t) / p(y_t+1..y_T given y_1..y_t)
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


def log_forward(chain: Chain, traces: Traces, user: int) -> Floats:
    """(n_steps, n_x) log p(x_t, y_1..y_t), or the error that names the impossible step."""
    log_A, log_emission = chain.logarithms
    seen = traces.seen[user]
    log_alpha = np.empty((len(seen), chain.motion.n_x))
    with np.errstate(divide="ignore"):
        now = np.log(chain.motion.prior)
    for t, output in enumerate(seen):
        log_alpha[t] = now + log_emission[output]
        if np.isneginf(log_alpha[t].max()):
            raise impossible(traces.first + user, t)
        now = log_sum(log_alpha[t][None, :] + log_A.T)
    return log_alpha


def log_backward(chain: Chain, seen: Ints) -> Floats:
    """(n_steps, n_x) log p(y_t+1..y_T given x_t)."""
    log_A, log_emission = chain.logarithms
    log_beta = np.zeros((len(seen), chain.motion.n_x))
    for t in range(len(seen) - 2, -1, -1):
        log_beta[t] = log_sum(log_A + (log_emission[seen[t + 1]] + log_beta[t + 1])[None, :])
    return log_beta


def path_entropy(chain: Chain, traces: Traces) -> Floats:
    """(users,) H(X_1..X_T given y_1..y_T) in nats by the recursion over the state that paths end in."""
    forward, _ = ending(chain, traces)
    belief, A = forward.belief, chain.motion.p_y_given_x
    surprise = _surprise(A)
    left = np.zeros_like(belief[:, 0])  # entropy of the paths that end in each state
    for t in range(belief.shape[1] - 1):
        now = belief[:, t]
        reach = through(now, A)
        spread = through(now * (left - log_or_0(now)), A) + through(now, surprise)
        left = np.where(reach > 0, np.maximum(spread / np.where(reach > 0, reach, 1.0) + log_or_0(reach), 0.0), 0.0)
    last = belief[:, -1]
    entropy = np.asarray((last * (left - log_or_0(last))).sum(axis=1), dtype=np.float64)
    for user in np.flatnonzero(forward.in_logarithms):
        entropy[user] = _log_path_entropy(chain, traces, int(user))
    return entropy


def _log_path_entropy(chain: Chain, traces: Traces, user: int) -> float:
    """H(X_T given y) + sum_t H(X_t given X_t+1, y), with p(x_t given x_t+1, y) proportional to alpha_t A."""
    log_alpha = log_forward(chain, traces, user)
    smooth, _ = _normalized(log_alpha + log_backward(chain, traces.seen[user]))
    log_A = chain.logarithms[0]
    entropy = -float((smooth[-1] * log_or_0(smooth[-1])).sum())
    for t in range(len(smooth) - 1):
        log_way = log_alpha[t][None, :] + log_A.T  # (to, from)
        total = log_sum(log_way)
        way = np.exp(log_way - np.where(np.isneginf(total), 0.0, total)[:, None])
        entropy -= float(smooth[t + 1] @ (way * log_or_0(way)).sum(axis=1))
    return entropy


def _surprise(A: Matrix) -> Matrix:
    """-A log A, entry by entry."""
    if isinstance(A, np.ndarray):
        return np.asarray(-A * log_or_0(A), dtype=np.float64)
    out = A.copy()
    out.data = -A.data * np.log(A.data)
    return out


def _normalized(log_joint: Floats) -> tuple[Floats, Floats]:
    """The rows as probabilities, and by how much the log of their sum grew at each."""
    total = log_sum(log_joint)
    return np.exp(log_joint - total[:, None]), np.diff(total, prepend=0.0)


def impossible(user: int, step: int) -> UnmaskError:
    """The error for an output that cannot follow what came before it."""
    return UnmaskError(
        f"what user {user} shows at step {step} is impossible after the steps before it: no state that can be reached "
        "shows it; widen the transition or the mechanism, or check the trace"
    )


def through(vector: Floats, matrix: Matrix) -> Floats:
    """`vector @ matrix` for rows of users, dense or sparse matrix."""
    if issparse(matrix):
        return np.asarray((matrix.T @ vector.T).T, dtype=np.float64)
    return np.asarray(vector @ matrix, dtype=np.float64)


def log_sum(log_value: Floats) -> Floats:
    """Log of the sum of exponentials over the last axis; -inf where all are."""
    top = log_value.max(axis=-1)
    safe = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(log_value - safe[..., None]).sum(axis=-1)) + safe, dtype=np.float64)
