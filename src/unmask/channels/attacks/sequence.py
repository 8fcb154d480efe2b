"""The attacker of traces: a hidden Markov chain of secrets behind a mechanism that answers at every step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from unmask.channels._beliefs import closed_belief
from unmask.channels._matrices import Bools, Floats, Ints, Sparse
from unmask.channels.hidden_markov import Chain, Traces, ending, filtered, impossible, through
from unmask.core.posterior import Posterior, stored

NEGLIGIBLE = 1e-34
"""States believed in less than this are not listed."""


@dataclass(frozen=True)
class HiddenMarkovAttack:
    """Where was each user at each step: p(x_t given y_1..y_T) in a hidden Markov model.

    online : believe at step t only what y_1..y_t say (filtering); otherwise all of the trace is used (smoothing)

    Called with the observations (n_users, n_steps) and the `Chain`. Returns a belief with one row and one target for
    each (user, t), row user * n_steps + t, status `model`: right if people move as the transition says. The belief
    about a step at which nothing was seen is what the rest says of it. Its prior is the mean over t of p(x_t), which is
    what is believed of a step drawn at random, so that E_y p(x given y) = prior.

    Works with numbers scaled at each step, in O(n_users n_steps nnz(A)). A trace for which that lost something to
    underflow (the forward and the backward pass then disagree on p(y)) is worked through again in logarithms.

    Each step's likeliest state answers the loss "fraction of wrong steps"; the path of those states may be impossible.
    `most_likely_path` answers the loss "any wrong step".

    Assumes: the next step depends on the present one alone, by a transition that the adversary knows, and noise is
    drawn afresh at each step.

    Fails when: habits look back farther, the transition was learned from other people, or the noise of one step is that
    of the next.

    >>> from unmask.channels import Channel
    >>> chain = Chain(np.array([[0.9, 0.1], [0.1, 0.9]]), Channel(np.array([[0.8, 0.2], [0.2, 0.8]])))
    >>> belief = HiddenMarkovAttack()(np.array([[0, 1, 0]]), chain)
    >>> np.exp(belief.log_probability[0::2]).round(3)  # p(x_t = 0): the 1 was probably noise
    array([0.753, 0.669, 0.753])

    L. R. Rabiner, "A tutorial on hidden Markov models", Proc. IEEE 1989, section III; R. Shokri et al., "Quantifying
    location privacy", S&P 2011, section V.
    """

    online: bool = False

    def __call__(self, release: Ints, knowledge: Chain, *, rng: np.random.Generator | None = None) -> Posterior:
        """The belief about each step of each trace."""
        seen = knowledge.checked(release)
        n_users, n_steps = seen.shape
        length, state, log_p = map(
            np.concatenate, zip(*(self._listed(knowledge, part) for part in knowledge.parts(seen)), strict=True)
        )
        return closed_belief(
            length,
            state,
            stored(log_p),
            _mean_prior(knowledge, n_steps),
            status="model",
            provenance={"attack": "hidden Markov", "online": self.online, "users": n_users, "steps": n_steps},
            candidate_label=knowledge.mechanism.x_labels,
        )

    def _listed(self, chain: Chain, part: Traces) -> tuple[Ints, NDArray[np.int32], Floats]:
        """Entries of each row, states and log-probabilities of the beliefs about some users."""
        passes = filtered(chain, part) if self.online else ending(chain, part)[1]
        flat = passes.belief.reshape(-1, chain.mechanism.n_x)
        listed = flat > NEGLIGIBLE
        state = np.broadcast_to(np.arange(chain.mechanism.n_x, dtype=np.int32), flat.shape)[listed]
        return np.count_nonzero(listed, axis=1), state, np.log(flat[listed])


def _mean_prior(chain: Chain, n_steps: int) -> Floats:
    """(n_x,) mean over t of p(x_t)."""
    now, total = chain.motion.prior, np.zeros(chain.mechanism.n_x)
    for _ in range(n_steps):
        total = total + now
        now = through(now, chain.motion.p_y_given_x)
    return total / n_steps


def most_likely_path(release: Ints, knowledge: Chain, *, rng: np.random.Generator) -> Ints:
    """(n_users, n_steps) the path of largest p(x_1..x_T given y_1..y_T) of each trace (Viterbi).

    It minimizes the probability that any step is wrong, not the number of wrong steps. The numbering of the states
    never decides between paths that are equally likely: `rng` shuffles the states first.

    A. J. Viterbi, "Error bounds for convolutional codes", IEEE Trans. Inf. Theory 1967.
    """
    order = rng.permutation(knowledge.mechanism.n_x)
    arcs = _Arcs.of(csr_array(csr_array(knowledge.motion.p_y_given_x)[order][:, order]))
    parts = knowledge.parts(knowledge.checked(release), arcs.width)
    return np.concatenate([_best_paths(knowledge, part, order, arcs) for part in parts])


def _best_paths(chain: Chain, traces: Traces, order: Ints, arcs: _Arcs) -> Ints:
    """(users, steps) likeliest path of each trace; `order` is the shuffle of the states in which `arcs` is written."""
    seen, (likelihood, _) = traces.seen, chain.emission
    with np.errstate(divide="ignore"):
        log_emission = np.log(likelihood)[:, order]
        score = np.log(chain.motion.prior)[order] + log_emission[seen[:, 0]]
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


@dataclass(frozen=True, eq=False)
class _Arcs:
    """The possible steps, sorted by where they lead: for each state the best predecessor in one pass."""

    source: Ints
    log_p: Floats
    start: Ints
    reached: Bools
    table: Floats | None  # (to, from) log A where a quarter or more of it is possible

    @classmethod
    def of(cls, transition: Sparse) -> _Arcs:
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

    def best(self, score: Floats) -> tuple[Floats, NDArray[np.int32]]:
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

    def _best_of_table(self, score: Floats, table: Floats) -> tuple[Floats, NDArray[np.int32]]:
        best, came = np.empty(score.shape), np.empty(score.shape, dtype=np.int32)
        work, states = np.empty(table.shape), np.arange(len(table))
        for user in range(len(score)):  # one user at a time: n_x^2 numbers stay in the cache
            np.add(table, score[user], out=work)
            came[user] = work.argmax(axis=1)
            best[user] = work[states, came[user]]
        return best, came
