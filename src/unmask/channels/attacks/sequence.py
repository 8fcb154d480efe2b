"""The attacker of traces: a hidden Markov chain of secrets behind a mechanism that answers at every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.channels._matrices import Matrix
from unmask.channels.attacks._markov import Arcs, Model, Traces, best_paths, path_entropy, through
from unmask.channels.release import Channel
from unmask.errors import UnmaskError
from unmask.posterior import Posterior, equal_weights, stored

BLOCK = 1 << 24
"""Numbers (users x steps x states) held at once in one table: 128 MB."""

NEGLIGIBLE = 1e-34
"""States believed in less than this are not listed."""


class Rate(NamedTuple):
    """A number of bits per step and its standard error."""

    bits_per_step: float
    standard_error: float
    n_steps: int


@dataclass(frozen=True, eq=False)
class HiddenMarkovAttack:
    """Where was each user at each step: p(x_t given y_1..y_T) in a hidden Markov model.

    p(x_1..x_T, y_1..y_T) = p(x_1) prod_t A[x_t, x_t+1] prod_t p(y_t given x_t)

    transition : (n_x, n_x) A[i, j] = p(x_t+1 = j given x_t = i), rows sum to 1; sparse for bands and road networks
    mechanism  : the channel of one step, p(y given x)
    initial    : (n_x,) p(x_1); the prior of the mechanism when None
    online     : believe at step t only what y_1..y_t say (filtering); otherwise all of the trace is used (smoothing)

    Called with outputs (n_users, n_steps); -1 is a step at which nothing was seen, or the end of a shorter trace (the
    belief there is what the rest says of that step). Returns a belief with one row and one target for each (user, t),
    row user * n_steps + t, status `model`: right if people move as `transition` says. Its prior is the mean over t of
    p(x_t), which is what is believed of a step drawn at random, so that E_y p(x given y) = prior.

    Works with numbers scaled at each step, in O(n_users n_steps nnz(A)). A trace for which that lost something to
    underflow (the forward and the backward pass then disagree on p(y)) is worked through again in logarithms. An
    observation that is impossible after what came before it is refused, with its user and step.

    Each step's likeliest state answers the loss "fraction of wrong steps"; the path of those states may be impossible.
    `most_likely_path` answers the loss "any wrong step".

    >>> attack = HiddenMarkovAttack(np.array([[0.9, 0.1], [0.1, 0.9]]), Channel(np.array([[0.8, 0.2], [0.2, 0.8]])))
    >>> belief = attack(np.array([[0, 1, 0]]))
    >>> np.exp(belief.log_probability[0::2]).round(3)  # p(x_t = 0): the 1 was probably noise
    array([0.753, 0.669, 0.753])

    L. R. Rabiner, "A tutorial on hidden Markov models", Proc. IEEE 1989, section III; R. Shokri et al., "Quantifying
    location privacy", S&P 2011, section V.
    """

    transition: Matrix
    mechanism: Channel
    initial: NDArray[np.float64] | None = None
    online: bool = False

    def __post_init__(self) -> None:
        shape = np.shape(self.transition)
        if shape != (self.mechanism.n_x, self.mechanism.n_x):
            raise UnmaskError(
                f"the transition has shape {shape}, expected a row and a column for each of the "
                f"{self.mechanism.n_x} secrets of the mechanism"
            )
        object.__setattr__(self, "transition", self._model.motion.p_y_given_x)

    def __call__(self, observations: NDArray[np.int64]) -> Posterior:
        """The belief about each step of each trace."""
        seen = self._check(observations)
        n_users, n_steps = seen.shape
        parts = [self._listed(part) for part in self._chunks(seen)]
        sizes = np.concatenate([part[0] for part in parts])
        with np.errstate(divide="ignore"):
            log_prior = np.log(self._mean_prior(n_steps))
        rows = n_users * n_steps
        return Posterior(
            indptr=np.concatenate(([0], np.cumsum(sizes))),
            candidate=np.concatenate([part[1] for part in parts]),
            log_probability=stored(np.concatenate([part[2] for part in parts])),
            unlisted=np.zeros(rows),
            n_unlisted=np.zeros(rows, dtype=np.int64),
            observation=np.arange(rows),
            weight=equal_weights(rows),
            n_candidates=self.mechanism.n_x,
            log_prior=log_prior,
            status="model",
            provenance={"attack": "hidden Markov", "online": self.online, "users": n_users, "steps": n_steps},
            candidate_label=self.mechanism.x_labels,
        )

    def log_likelihood(self, observations: NDArray[np.int64]) -> NDArray[np.float64]:
        """(n_users,) natural log of p(y_1..y_T) of each trace."""
        seen = self._check(observations)
        return np.asarray(self._log_steps(seen).sum(axis=1), dtype=np.float64)

    def entropy_rate(self, observations: NDArray[np.int64]) -> Rate:
        """-log2 p(y_1..y_T) / T, in bits per step: what an estimate of the entropy rate of the *output* is.

        A function of a Markov chain has no closed form; by Shannon-McMillan-Breiman this converges to its entropy rate.
        Several users: mean over users, standard error between them. One user: batch means over about sqrt(T) steps.
        Steps at which nothing was seen are no information and are not counted.
        """
        seen = self._check(observations)
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

    def path_entropy_bits(self, observations: NDArray[np.int64]) -> NDArray[np.float64]:
        """(n_users,) H(X_1..X_T given y_1..y_T) in bits: how many paths remain, exactly. Divide by T for a rate.

        H_t(j) = sum_i w_ij (H_t-1(i) - log2 w_ij), w_ij = p(x_t-1 = i given x_t = j, y_1..y_t-1): the entropy of the
        paths that end in j. It is at most the sum over t of H(X_t given y), and 2^H is an effective number of paths.

        D. Hernando, V. Crespi, G. Cybenko, "Efficient computation of the hidden Markov model entropy for a given
        observation sequence", IEEE Trans. Inf. Theory 2005.
        """
        seen = self._check(observations)
        model = self._model
        nats = [path_entropy(model, part, model.ending(part)[0]) for part in self._chunks(seen)]
        return np.asarray(np.concatenate(nats) / np.log(2.0), dtype=np.float64)

    def most_likely_path(self, observations: NDArray[np.int64], *, rng: np.random.Generator) -> NDArray[np.int64]:
        """(n_users, n_steps) the path of largest p(x_1..x_T given y_1..y_T) of each trace (Viterbi).

        It minimizes the chance that any step is wrong, not the number of wrong steps. The numbering of the states never
        decides between paths that are equally likely: `rng` shuffles the states first.

        A. J. Viterbi, "Error bounds for convolutional codes", IEEE Trans. Inf. Theory 1967.
        """
        seen = self._check(observations)
        order = rng.permutation(self.mechanism.n_x)
        arcs = Arcs.of(csr_array(csr_array(self._model.motion.p_y_given_x)[order][:, order]))
        return np.concatenate([best_paths(self._model, part, order, arcs) for part in self._chunks(seen, arcs.width)])

    @cached_property
    def _model(self) -> Model:
        motion = Channel(self.transition, self.mechanism.prior if self.initial is None else self.initial)
        return Model(motion, self.mechanism)

    def _check(self, observations: NDArray[np.int64]) -> NDArray[np.int64]:
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

    def _chunks(self, seen: NDArray[np.int64], width: int = 1) -> Iterator[Traces]:
        size = max(1, BLOCK // (max(seen.shape[1], width) * self.mechanism.n_x))
        for start in range(0, len(seen), size):
            yield Traces(start, seen[start : start + size])

    def _log_steps(self, seen: NDArray[np.int64]) -> NDArray[np.float64]:
        """(users, steps) log p(y_t given y_1..y_t-1)."""
        return np.concatenate([self._model.ending(part)[0].log_step for part in self._chunks(seen)])

    def _listed(self, part: Traces) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """CSR pieces of the beliefs about some users: entries in each row, states, log-probabilities."""
        passes = self._model.filtered(part) if self.online else self._model.ending(part)[1]
        flat = passes.belief.reshape(-1, self.mechanism.n_x)
        listed = flat > NEGLIGIBLE
        state = np.broadcast_to(np.arange(self.mechanism.n_x, dtype=np.int32), flat.shape)[listed]
        return np.count_nonzero(listed, axis=1), state, np.log(flat[listed])

    def _mean_prior(self, n_steps: int) -> NDArray[np.float64]:
        """(n_x,) mean over t of p(x_t)."""
        now, total = self._model.motion.prior, np.zeros(self.mechanism.n_x)
        for _ in range(n_steps):
            total = total + now
            now = through(now, self._model.motion.p_y_given_x)
        return total / n_steps
