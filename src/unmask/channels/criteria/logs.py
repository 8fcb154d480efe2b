"""Criteria of logs: the uncertainty about whole traces, and the rounds until a receiver stands out."""

from __future__ import annotations

import numpy as np

from unmask.channels._matrices import Floats, Ints, log_or_0
from unmask.channels.hidden_markov import Chain, HiddenMarkovAttack
from unmask.core.errors import UnmaskError
from unmask.measures.interval import Z95


def path_entropy_bits(observations: Ints, chain: Chain, *, length: Ints | None = None) -> Floats:
    """Compute the entropy H(X_1..X_T given y_1..y_T) of the whole trace of each user, in bits.

    H = H(X_T given y) + sum_t sum_j p(x_t+1 = j given y) H(X_t given x_t+1 = j, y_1..y_t). It is at most the sum of the
    entropies of the steps, since steps that follow each other depend on each other.

    Parameters
    ----------
    observations : (n_users, n_steps) array
        Outputs, -1 if nothing was seen. Without any output the entropy is that of the moves alone.
    chain : Chain
        The hidden Markov model.
    length : (n_users,) array, optional
        Steps of each trace; all steps by default.

    Returns
    -------
    (n_users,) array
        The entropies.

    References
    ----------
    D. Hernando, V. Crespi, G. Cybenko, "Efficient computation of the hidden Markov model entropy for a given
    observation sequence", IEEE Trans. Inf. Theory 2005.

    Examples
    --------
    >>> from unmask.channels import Channel
    >>> chain = Chain(np.array([[0.9, 0.1], [0.1, 0.9]]), Channel(np.array([[0.8, 0.2], [0.2, 0.8]])))
    >>> path_entropy_bits(np.array([[0, 0], [-1, -1]]), chain).round(3)  # 1 + h(0.1) without outputs
    array([0.641, 1.469])
    """
    outputs = chain.check(observations)
    steps = np.full(len(outputs), outputs.shape[1]) if length is None else length
    return np.concatenate(
        [
            _chunk_entropy(traces.outputs, chain, steps[traces.first : traces.first + len(traces.outputs)])
            for traces in chain.chunks(outputs)
        ]
    )


def _chunk_entropy(outputs: Ints, chain: Chain, length: Ints) -> Floats:
    shape, A = (*outputs.shape, chain.mechanism.n_x), chain.motion.dense()
    filtered, smoothed = (
        HiddenMarkovAttack(online=online)(outputs, chain).to_dense().reshape(shape) for online in (True, False)
    )
    nats = np.zeros(len(outputs))
    for t in range(outputs.shape[1]):
        last = -(smoothed[:, t] * log_or_0(smoothed[:, t])).sum(axis=1)
        nats += np.where(length == t + 1, last, 0.0)
        if t + 1 < outputs.shape[1]:
            # the law of x_t given x_t+1 = j is f_i A_ij / predicted_j, whatever is seen later
            f, predicted = filtered[:, t], filtered[:, t] @ A
            surprise = (f * log_or_0(f)) @ A + f @ (A * log_or_0(A))
            spread = log_or_0(predicted) - surprise / np.where(predicted > 0, predicted, 1.0)
            nats += np.where(length > t + 1, (smoothed[:, t + 1] * spread).sum(axis=1), 0.0)
    return np.asarray(np.maximum(nats, 0.0) / np.log(2.0), dtype=np.float64)


def rounds_needed(share: float, *, popularity: float, batch: float) -> float:
    """Compute the rounds of a sender after which a receiver stands out at 95 % confidence.

    T = z^2 [v (1 - v) + (b - 1) u (1 - u)] / v^2: the mean excess of the receiver is then z standard errors above 0.

    Parameters
    ----------
    share : float
        v, share of the sender's messages to the receiver, above 0.
    popularity : float
        u, share of other people's messages to the receiver.
    batch : float
        b, messages of a round, one of which is the sender's.

    Returns
    -------
    float
        T.

    Raises
    ------
    UnmaskError
        If a share is not a probability, or the batch is below 1.

    References
    ----------
    G. Danezis, "Statistical disclosure attacks", SEC 2003, section 3.

    Examples
    --------
    >>> round(rounds_needed(0.2, popularity=0.02, batch=20), 1)
    51.1
    """
    if not (0 < share <= 1 and 0 <= popularity <= 1 and batch >= 1):
        raise UnmaskError(
            f"share is {share}, popularity {popularity} and batch {batch}, expected probabilities, the share above 0, "
            "and at least one message"
        )
    variance = share * (1 - share) + (batch - 1) * popularity * (1 - popularity)
    return float(Z95**2 * variance / share**2)
