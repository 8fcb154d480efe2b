"""Hidden Markov models: secrets that move step by step, a mechanism that shows each step, and the attack on traces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from unmask.channels._beliefs import closed_belief
from unmask.channels._matrices import Bools, Floats, Ints, Matrix
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, stored

BLOCK = 1 << 24
"""Numbers (users x steps x states) in one table: 128 MB."""

PASS_TOLERANCE = 1e-8
"""Disagreement of the two passes on p(y) above which a trace is worked through again in logarithms."""

MIN_SCALED_BELIEF = 1e-290
"""A possible state with less belief may be lost to underflow at the next step."""

MIN_LISTED_BELIEF = 1e-34
"""States with less belief are not listed."""


class Traces(NamedTuple):
    """Outputs (users, steps) of some users, -1 if nothing was seen, and the number of the first user."""

    first: int
    outputs: Ints


class EntropyRate(NamedTuple):
    """An entropy rate in bits per step, its standard error, and the number of steps."""

    bits_per_step: float
    standard_error: float
    n_steps: int


@dataclass(frozen=True, eq=False)
class Chain:
    """A hidden Markov model of secrets that move and of what is shown at each step.

    p(x_1..x_T, y_1..y_T) = p(x_1) prod_t A[x_t, x_t+1] prod_t p(y_t given x_t)

    Observations are outputs (n_users, n_steps). -1 is a step without an observation, or the end of a shorter trace. An
    impossible output raises an error that names its user and step.

    Parameters
    ----------
    transition : (n_x, n_x) array, dense or sparse
        A[i, j] = p(x_t+1 = j given x_t = i), rows sum to 1.
    mechanism : Channel
        p(y given x) of one step.
    initial : (n_x,) array, optional
        p(x_1). By default the prior of the mechanism.

    References
    ----------
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
        """Return the step x_t -> x_t+1 as a channel whose prior is p(x_1)."""
        return Channel(self.transition, self.mechanism.prior if self.initial is None else self.initial)

    @cached_property
    def emission(self) -> tuple[Floats, Floats]:
        """Return (n_y + 1, n_x) p(y given x) over its largest entry for each y, and the log of that entry.

        The last row is "nothing was seen".
        """
        table = np.vstack([self.mechanism.dense().T, np.ones(self.mechanism.n_x)])
        top = table.max(axis=1)
        top[top == 0] = 1.0
        return table / top[:, None], np.log(top)

    @cached_property
    def reverse_transition(self) -> Matrix:
        """Return the transposed transition."""
        A = self.motion.p_y_given_x
        return A.T if isinstance(A, np.ndarray) else csr_array(A.T)

    @cached_property
    def logarithms(self) -> tuple[Floats, Floats]:
        """Return the logs of the transition (n_x, n_x) and of the emission (n_y + 1, n_x), -inf if impossible."""
        likelihood, log_top = self.emission
        with np.errstate(divide="ignore"):
            return np.log(self.motion.dense()), np.log(likelihood) + log_top[:, None]

    def log_likelihood(self, observations: Ints) -> Floats:
        """Return the (n_users,) natural logs of p(y_1..y_T)."""
        return np.asarray(self._log_steps(self.check(observations)).sum(axis=1), dtype=np.float64)

    def entropy_rate(self, observations: Ints) -> EntropyRate:
        """Estimate the entropy rate of the output by -log2 p(y_1..y_T) / T, in bits per step.

        It converges by the theorem of Shannon, McMillan and Breiman; a function of a Markov chain has no closed form.
        Several users: mean over users, standard error between users. One user: batch means over about sqrt(T) steps.
        Steps without an observation are not counted.
        """
        outputs = self.check(observations)
        log_step = self._log_steps(outputs) / -np.log(2.0)
        is_seen = outputs >= 0
        n_steps = int(is_seen.sum())
        if n_steps == 0:
            raise UnmaskError("nothing was seen at any step, so there is no output whose entropy could be estimated")
        mean = float(log_step.sum() / n_steps)
        if len(outputs) > 1:
            deviation = (log_step - mean * is_seen).sum(axis=1)
            variance = float((deviation**2).sum()) * len(outputs) / (len(outputs) - 1)
            return EntropyRate(mean, float(np.sqrt(variance)) / n_steps, n_steps)
        size = max(1, int(np.sqrt(n_steps)))
        batches = log_step[is_seen][: n_steps // size * size].reshape(-1, size).mean(axis=1)
        error = float(batches.std(ddof=1) / np.sqrt(len(batches))) if len(batches) > 1 else float("inf")
        return EntropyRate(mean, error, n_steps)

    def check(self, observations: Ints) -> Ints:
        """Return the observations as int64, or raise an error if they are not outputs of the mechanism."""
        outputs = np.asarray(observations)
        if outputs.ndim != 2 or outputs.size == 0 or not np.issubdtype(outputs.dtype, np.integer):
            raise UnmaskError(
                f"the traces have shape {outputs.shape} and type {outputs.dtype}, expected output numbers (users, "
                "steps)"
            )
        invalid = np.argwhere((outputs < -1) | (outputs >= self.mechanism.n_y))
        if len(invalid):
            user, step = invalid[0]
            raise UnmaskError(
                f"user {user} shows at step {step} an output outside 0..{self.mechanism.n_y - 1}; -1 means nothing seen"
            )
        return outputs.astype(np.int64)

    def chunks(self, outputs: Ints) -> Iterator[Traces]:
        """Yield groups of users whose tables of states fit in memory."""
        size = max(1, BLOCK // (outputs.shape[1] * self.mechanism.n_x))
        for start in range(0, len(outputs), size):
            yield Traces(start, outputs[start : start + size])

    def _log_steps(self, outputs: Ints) -> Floats:
        """Return (users, steps) log p(y_t given y_1..y_t-1)."""
        return np.concatenate([_smooth(self, traces)[1] for traces in self.chunks(outputs)])


@dataclass(frozen=True)
class HiddenMarkovAttack:
    """The attack on traces: p(x_t given y_1..y_T) in a hidden Markov model.

    The attack takes observations (n_users, n_steps) and a `Chain`. The belief has one row and one target for each
    (user, t), row user * n_steps + t. Its status is `model`. Its prior is the mean over t of p(x_t), so that
    E_y p(x given y) = prior. Numbers are scaled at each step, in O(n_users n_steps nnz(A)). A trace whose forward and
    backward pass disagree on p(y) because of underflow is worked through again in logarithms.

    The likeliest state of each step minimizes the fraction of wrong steps; `most_likely_path` minimizes the
    probability of any wrong step.

    Assumes: the next step depends on the present one alone, by a transition that the adversary knows, and noise is
    drawn afresh at each step.

    Fails when: habits look back farther, the transition was learned from other people, or the noise of one step is that
    of the next.

    Parameters
    ----------
    online : bool
        Use only y_1..y_t for step t (filtering). Otherwise use the whole trace (smoothing).

    References
    ----------
    L. R. Rabiner, "A tutorial on hidden Markov models", Proc. IEEE 1989, section III; R. Shokri et al., "Quantifying
    location privacy", S&P 2011, section V.

    Examples
    --------
    >>> from unmask.channels import Channel
    >>> chain = Chain(np.array([[0.9, 0.1], [0.1, 0.9]]), Channel(np.array([[0.8, 0.2], [0.2, 0.8]])))
    >>> belief = HiddenMarkovAttack()(np.array([[0, 1, 0]]), chain)
    >>> np.exp(belief.log_probability[0::2]).round(3)  # p(x_t = 0): the 1 was probably noise
    array([0.753, 0.669, 0.753])
    """

    online: bool = False

    def __call__(
        self,
        release: Ints,
        knowledge: Chain,
        *,
        rng: np.random.Generator | None = None,  # noqa: ARG002  # the signature of all attacks
    ) -> Posterior:
        """Return the belief about each step of each trace."""
        outputs = knowledge.check(release)
        n_users, n_steps = outputs.shape
        passes = _filter if self.online else _smooth
        lists = (_list_states(passes(knowledge, traces)[0]) for traces in knowledge.chunks(outputs))
        length, state, log_p = map(np.concatenate, zip(*lists, strict=True))
        return closed_belief(
            length,
            state,
            stored(log_p),
            _mean_prior(knowledge, n_steps),
            status="model",
            provenance={"attack": "hidden Markov", "online": self.online, "users": n_users, "steps": n_steps},
            candidate_label=knowledge.mechanism.x_labels,
        )


def most_likely_path(release: Ints, knowledge: Chain, *, rng: np.random.Generator) -> Ints:
    """Find the path of largest p(x_1..x_T given y_1..y_T) of each trace, by Viterbi's algorithm.

    It minimizes the probability of any wrong step, not the number of wrong steps.

    Parameters
    ----------
    release : (n_users, n_steps) array
        The observed outputs.
    knowledge : Chain
        The hidden Markov model.
    rng : numpy.random.Generator
        Shuffles the states, so that their numbers do not decide between paths of equal probability.

    Returns
    -------
    (n_users, n_steps) array
        The paths.

    References
    ----------
    A. J. Viterbi, "Error bounds for convolutional codes", IEEE Trans. Inf. Theory 1967.
    """
    from unmask.channels._kernels import find_paths

    outputs, order = knowledge.check(release), rng.permutation(knowledge.mechanism.n_x)
    transition = csc_array(csr_array(knowledge.motion.p_y_given_x)[order][:, order])
    transition.sort_indices()
    with np.errstate(divide="ignore"):
        log_initial, log_emission = np.log(knowledge.motion.prior[order]), np.log(knowledge.emission[0][:, order])
    start, source = transition.indptr.astype(np.int64), transition.indices.astype(np.int64)
    path, user, step = find_paths(outputs, log_initial, log_emission, start, source, np.log(transition.data))
    if user >= 0:
        raise _impossible(user, step)
    return order[path]


def _list_states(belief: Floats) -> tuple[Ints, NDArray[np.int32], Floats]:
    """Return the entries of each row, and the states and log-probabilities of all entries."""
    flat = belief.reshape(-1, belief.shape[-1])
    is_listed = flat > MIN_LISTED_BELIEF
    state = np.broadcast_to(np.arange(flat.shape[1], dtype=np.int32), flat.shape)[is_listed]
    return np.count_nonzero(is_listed, axis=1), state, np.log(flat[is_listed])


def _mean_prior(chain: Chain, n_steps: int) -> Floats:
    """Return the (n_x,) mean over t of p(x_t)."""
    current, total = chain.motion.prior, np.zeros(chain.mechanism.n_x)
    for _ in range(n_steps):
        total = total + current
        current = _multiply(current, chain.motion.p_y_given_x)
    return total / n_steps


def _filter(chain: Chain, traces: Traces) -> tuple[Floats, Floats]:
    """Return p(x_t given y_1..y_t) and log p(y_t given y_1..y_t-1)."""
    belief, log_step, is_lossy = _forward(chain, traces)
    for user in np.flatnonzero(is_lossy):
        belief[user], log_step[user] = _normalize(_log_forward(chain, traces, int(user)))
    return belief, log_step


def _smooth(chain: Chain, traces: Traces) -> tuple[Floats, Floats]:
    """Return p(x_t given y_1..y_T) and log p(y_t given y_1..y_t-1).

    A state that the forward pass lost to underflow matters only if the trace as a whole makes it likely: then the
    passes disagree on p(y).
    """
    belief, log_step, _ = _forward(chain, traces)
    smoothed, is_lossy = _backward(chain, traces, belief, log_step)
    for user in np.flatnonzero(is_lossy):
        log_alpha = _log_forward(chain, traces, int(user))
        log_step[user] = _normalize(log_alpha)[1]
        smoothed[user], _ = _normalize(log_alpha + _log_backward(chain, traces.outputs[user]))
    return smoothed, log_step


def _forward(chain: Chain, traces: Traces) -> tuple[Floats, Floats, Bools]:
    """Return p(x_t given y_1..y_t), log p(y_t given y_1..y_t-1), and the users whose states may be lost."""
    likelihood, log_top = chain.emission
    outputs, A = traces.outputs, chain.motion.p_y_given_x
    belief = np.empty((*outputs.shape, chain.motion.n_x))
    log_step = np.empty(outputs.shape)
    is_lossy = np.zeros(len(outputs), dtype=bool)
    predicted = np.broadcast_to(chain.motion.prior, belief[:, 0].shape)
    for t in range(outputs.shape[1]):
        evidence = likelihood[outputs[:, t]]
        joint = predicted * evidence
        mass = joint.sum(axis=1)
        divisor = np.where(mass > 0, mass, 1.0)
        belief[:, t] = joint / divisor[:, None]
        vanishing = (predicted > 0) & (evidence > 0) & (belief[:, t] < MIN_SCALED_BELIEF)
        is_lossy |= (mass <= 0) | vanishing.any(axis=1)
        log_step[:, t] = np.log(divisor) + log_top[outputs[:, t]]
        predicted = _multiply(belief[:, t], A)
    return belief, log_step, is_lossy


def _backward(chain: Chain, traces: Traces, belief: Floats, log_step: Floats) -> tuple[Floats, Bools]:
    """Return p(x_t given y_1..y_T), and the users whose beliefs do not sum to 1 at every step."""
    likelihood, log_top = chain.emission
    outputs, smoothed = traces.outputs, belief.copy()
    ratio = np.ones((len(outputs), chain.motion.n_x))  # p(y_t+1..y_T given x_t) / p(y_t+1..y_T given y_1..y_t)
    is_lossy = ~(smoothed[:, -1].sum(axis=1) > 0.5)
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(outputs.shape[1] - 2, -1, -1):
            factor = np.exp(log_top[outputs[:, t + 1]] - log_step[:, t + 1])
            ratio = _multiply(ratio * likelihood[outputs[:, t + 1]], chain.reverse_transition) * factor[:, None]
            smoothed[:, t] *= ratio
            mass = smoothed[:, t].sum(axis=1)
            is_lossy |= ~(np.abs(mass - 1.0) <= PASS_TOLERANCE)
            smoothed[:, t] /= mass[:, None]
    return smoothed, is_lossy


def _log_forward(chain: Chain, traces: Traces, user: int) -> Floats:
    """Return (n_steps, n_x) log p(x_t, y_1..y_t), or raise an error that names the impossible step."""
    log_A, log_emission = chain.logarithms
    outputs = traces.outputs[user]
    log_alpha = np.empty((len(outputs), chain.motion.n_x))
    with np.errstate(divide="ignore"):
        predicted = np.log(chain.motion.prior)
    for t, output in enumerate(outputs):
        log_alpha[t] = predicted + log_emission[output]
        if np.isneginf(log_alpha[t].max()):
            raise _impossible(traces.first + user, t)
        predicted = scipy.special.logsumexp(log_alpha[t][None, :] + log_A.T, axis=-1)
    return log_alpha


def _log_backward(chain: Chain, outputs: Ints) -> Floats:
    """Return (n_steps, n_x) log p(y_t+1..y_T given x_t)."""
    log_A, log_emission = chain.logarithms
    log_beta = np.zeros((len(outputs), chain.motion.n_x))
    for t in range(len(outputs) - 2, -1, -1):
        log_beta[t] = scipy.special.logsumexp(
            log_A + (log_emission[outputs[t + 1]] + log_beta[t + 1])[None, :], axis=-1
        )
    return log_beta


def _normalize(log_joint: Floats) -> tuple[Floats, Floats]:
    """Return the rows as probabilities, and the growth of the log of their sum at each step."""
    total = scipy.special.logsumexp(log_joint, axis=-1)
    return np.exp(log_joint - total[:, None]), np.diff(total, prepend=0.0)


def _impossible(user: int, step: int) -> UnmaskError:
    return UnmaskError(
        f"what user {user} shows at step {step} is impossible after the steps before it: no state that can be reached "
        "shows it; widen the transition or the mechanism, or check the trace"
    )


def _multiply(rows: Floats, matrix: Matrix) -> Floats:
    """Return rows @ matrix for a dense or sparse matrix."""
    if issparse(matrix):
        return np.asarray((matrix.T @ rows.T).T, dtype=np.float64)
    return np.asarray(rows @ matrix, dtype=np.float64)
