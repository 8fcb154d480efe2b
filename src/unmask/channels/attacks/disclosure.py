"""Statistical disclosure attacks on mixes: profiles of senders from the counts of many rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from unmask.channels._matrices import Bools, Floats, Ints, Matrix
from unmask.channels.attacks.matching import MatchingAttack, Method
from unmask.channels.attacks.profiles import Profiles
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior

MAX_RESOLUTION_ERROR = 1e-6
"""Distance of a sender's row of the resolution matrix from a unit vector up to which the profile is identified."""

COUNT_TOLERANCE = 1e-9
"""Messages by which the two sides of a round may differ."""

SHARE_TOLERANCE = 1e-6
"""Distance of the sum of given shares from 1."""

MIN_WEIGHT = 1e-12
"""Least weight of a pair in a round: no receiver is ruled out."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """Counts of the messages that each sender sent, and each receiver received, in the rounds of a mix.

    Every message leaves in the round in which it came. This is wrong for a pool mix even if its counts balance:
    replace `sent` by `expected_leaving`, and attack with least squares.

    Parameters
    ----------
    sent : (n_rounds, n_senders) array, dense or sparse
        Counts, at least 0. Stored as a dense array.
    received : (n_rounds, n_receivers) array, dense or sparse
        Counts. Each round has as many received as sent messages.

    Examples
    --------
    >>> Rounds(np.array([[1, 1], [2, 0]]), np.array([[0, 2, 0], [1, 0, 1]])).batch
    array([2., 2.])
    """

    sent: Floats
    received: Floats

    def __post_init__(self) -> None:
        for name in ("sent", "received"):
            object.__setattr__(self, name, table := _dense(getattr(self, name)))
            if table.ndim != 2 or table.size == 0 or not np.all(np.isfinite(table)) or table.min() < 0:
                raise UnmaskError(f"{name} must be a table rounds x users of message counts, at least 0")
        if len(self.sent) != len(self.received):
            raise UnmaskError(f"{len(self.sent)} rounds were sent and {len(self.received)} received, expected as many")
        leaving = self.received.sum(axis=1)
        unequal = np.flatnonzero(np.abs(self.batch - leaving) > COUNT_TOLERANCE)
        if unequal.size:
            t = unequal[0]
            raise UnmaskError(
                f"round {t} takes in {self.batch[t]:g} messages and lets out {leaving[t]:g}: count "
                "dummies on both sides; if the mix keeps messages back, pass `expected_leaving` as what was sent"
            )

    @property
    def batch(self) -> Floats:
        """Return the (n_rounds,) messages b_t in each round."""
        return np.asarray(self.sent.sum(axis=1), dtype=np.float64)


@dataclass(frozen=True)
class StatisticalDisclosure:
    """The disclosure attack by averages: messages of a sender's rounds in excess of those of other people.

    v_r = (sum over the sender's rounds of O_tr - (B - A) u_r) / A, with O_tr the messages that r received in round t, A
    the sender's own messages and B all messages in those rounds. One message a round and rounds of b messages:
    v = mean_t O_t - (b - 1) u, divided by the number of *rounds*. The variance of v_r is
    [A v(1 - v) + (B - A) u(1 - u) + (B - A)^2 u(1 - u) / B'] / A^2, the last term only if u was estimated, from B'
    messages.

    The attack takes the `Rounds` and, if known, (n_receivers,) u, the shares of other people's messages. By default u
    is the average of the rounds without the sender. `estimate` returns estimates and standard errors.

    Assumes: other people write alike in rounds with and without the sender, and the sender's habits stay the same.

    Fails when: the sender is in every round, which is refused, or friends send in the same rounds: their receivers then
    look like the sender's.

    Parameters
    ----------
    senders : tuple of int, optional
        Numbers of the senders to attack. By default all who sent a message.

    References
    ----------
    G. Danezis, "Statistical disclosure attacks", SEC 2003.

    Examples
    --------
    >>> rounds = Rounds(np.array([[1, 1], [0, 2], [1, 1], [0, 2]]), np.array([[1, 1], [0, 2], [1, 1], [0, 2]]))
    >>> StatisticalDisclosure(senders=(0,)).estimate(rounds).estimate
    array([[1., 0.]])
    """

    senders: tuple[int, ...] | None = None

    def __call__(
        self, release: Rounds, knowledge: Floats | None = None, *, rng: np.random.Generator | None = None
    ) -> Posterior:
        """Return the belief about the receiver of each sender."""
        return self.estimate(release, knowledge).posterior()

    def identified_senders(self, rounds: Rounds) -> Ints:
        """Return the senders with a message who are missing in some round with messages."""
        present = rounds.sent > 0
        absent_messages = rounds.batch @ ~present
        return np.flatnonzero(present.any(axis=0) & (absent_messages > 0))

    def estimate(self, rounds: Rounds, background: Floats | None = None) -> Profiles:
        """Estimate the profile of each sender with its standard errors."""
        senders = _check_senders(rounds, self.senders)
        present = rounds.sent[:, senders] > 0
        A = rounds.sent[:, senders].sum(axis=0)[:, None]
        background_messages = (rounds.batch @ present)[:, None] - A
        if background is not None:
            u, inverse_count = _check_share(background, rounds.received.shape[1])[None], np.zeros_like(A)
        else:
            u, inverse_count = _background(rounds, senders, present)
        v = (present.T.astype(np.float64) @ rounds.received - background_messages * u) / A
        factor = background_messages + background_messages**2 * inverse_count
        variance = A * _multinomial_variance(v) + factor * _multinomial_variance(u)
        return _profiles(rounds, v, np.sqrt(variance) / A, senders, "SDA")


def _background(rounds: Rounds, senders: Ints, present: Bools) -> tuple[Floats, Floats]:
    """Return the (n_senders, n_receivers) average over rounds without each sender, and 1 / messages in them."""
    absent = (~present).T.astype(np.float64)
    messages = absent @ rounds.batch
    if messages.min() == 0:
        raise UnmaskError(
            f"sender {senders[np.argmin(messages)]} is in every round, so nothing shows what others send: pass "
            "the shares of their receivers, or add rounds without this sender"
        )
    return absent @ rounds.received / messages[:, None], 1.0 / messages[:, None]


@dataclass(frozen=True)
class LeastSquaresDisclosure:
    """The disclosure attack on all senders at once by least squares: V = argmin |O - S V|^2 = (S'S)^+ S' O.

    S is `sent`, O is `received`. It needs no background and is more precise than averages.
    var V_ir = sum_t W_it^2 sum_j S_tj V_jr (1 - V_jr), W = (S'S)^+ S'. A sender who is in every round of constant size
    is not identified (S has not full rank), which raises an error. Rounds without this sender cure it.

    Assumes: each sender writes by one profile, messages are independent, and rounds were seen whole.

    Fails when: rounds are fewer than senders, some senders always come together, or replies follow messages.

    Parameters
    ----------
    senders : tuple of int, optional
        Numbers of the senders to attack. By default all who sent a message.

    References
    ----------
    F. Pérez-González & C. Troncoso, "Understanding statistical disclosure: a least squares approach", PETS 2012.

    Examples
    --------
    >>> sent = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 2]])
    >>> V = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> LeastSquaresDisclosure().estimate(Rounds(sent, sent @ V)).estimate.round(6) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    senders: tuple[int, ...] | None = None

    def __call__(self, release: Rounds, knowledge: None = None, *, rng: np.random.Generator | None = None) -> Posterior:
        """Return the belief about the receiver of each sender."""
        return self.estimate(release).posterior()

    def identified_senders(self, rounds: Rounds) -> Ints:
        """Return the senders with a message whose profile can be separated from those of the others."""
        _, error = _resolve(rounds.sent)
        return np.flatnonzero((rounds.sent > 0).any(axis=0) & (error <= MAX_RESOLUTION_ERROR))

    def estimate(self, rounds: Rounds) -> Profiles:
        """Estimate the profile of each sender with its standard errors."""
        senders, S = _check_senders(rounds, self.senders), rounds.sent
        inverse, errors = _resolve(S)
        error = errors[senders]
        if error.max() > MAX_RESOLUTION_ERROR:
            raise UnmaskError(
                f"the profile of sender {senders[np.argmax(error)]} cannot be separated from the others: senders of "
                "these rounds are linearly dependent, as when one is in every round of constant size; add rounds "
                "without this sender, or use StatisticalDisclosure with a background"
            )
        weights = inverse @ S.T
        V = weights @ rounds.received
        variance = np.square(weights[senders]) @ S @ _multinomial_variance(V)
        return _profiles(rounds, V[senders], np.sqrt(variance), senders, "LSDA")


def _resolve(S: Floats) -> tuple[Floats, Floats]:
    """Return (S'S)^+, and how far each row of the resolution matrix is from a unit vector."""
    gram = S.T @ S
    inverse = np.asarray(np.linalg.pinv(gram, hermitian=True, rcond=1e-10), dtype=np.float64)
    return inverse, np.asarray(np.abs(inverse @ gram - np.eye(len(gram))).max(axis=1), dtype=np.float64)


class Round(NamedTuple):
    """The messages of one round.

    Parameters
    ----------
    senders, receivers : (n,) array
        The sender and the receiver of each message, both in any order.
    """

    senders: Ints
    receivers: Ints


@dataclass(frozen=True)
class RoundDisclosure:
    """The attack on the messages of one round by profiles: a belief over one-to-one matchings.

    The attack takes a `Round` and the `Profiles` of an earlier attack. Targets are the sent messages, candidates the
    received ones. The weight of a pair is the expected share of the receiver, see `Profiles.expected_shares`: the
    probability of a matching is the expected product of its shares if their errors are independent.

    Assumes: the profiles are right, and each message of the round left it once.

    Fails when: there are hardly more rounds than senders, or dummies break the one-to-one match. With few rounds the
    announced success is below the realized one.

    Parameters
    ----------
    method : {"auto", "exact", "belief propagation"}
        As in `MatchingAttack`.

    References
    ----------
    C. Troncoso, B. Gierlichs, B. Preneel, I. Verbauwhede, "Perfect matching disclosure attacks", PETS 2008.

    Examples
    --------
    >>> share, no_error = np.array([[0.9, 0.1], [0.5, 0.5]]), np.zeros((2, 2))
    >>> profiles = Profiles(share, no_error, np.array([0.7, 0.3]), senders=np.arange(2), n_rounds=np.array([9, 9]))
    >>> belief = RoundDisclosure()(Round(np.array([0, 1]), np.array([0, 1])), profiles)
    >>> np.exp(belief.log_probability).round(2)
    array([0.9, 0.1, 0.1, 0.9])
    """

    method: Method = "auto"

    def __call__(self, release: Round, knowledge: Profiles, *, rng: np.random.Generator | None = None) -> Posterior:
        """Return the belief about the received message of each sent one."""
        senders, receivers = map(np.asarray, release)
        profile = knowledge.rows_of(senders)
        if profile.min() < 0:
            raise UnmaskError(f"sender {senders[np.argmin(profile)]} has no profile: attack this sender first")
        weight = np.maximum(knowledge.expected_shares, MIN_WEIGHT)
        return MatchingAttack(method=self.method).marginals(weight[np.ix_(profile, receivers)]).posterior()


def expected_leaving(sent: Matrix, released: Floats) -> Floats:
    """Compute the expected number of messages of each sender that leave a pool mix in each round.

    X_t = r_t (S_t + P_t) / |S_t + P_t| and P_t+1 = S_t + P_t - X_t, with P_0 = 0: the mix sends r_t of the messages
    inside, drawn at random. As `sent` of `Rounds` this makes the receivers of a pool mix linear in the profiles,
    E O_t = X_t V. Standard errors then omit the noise of the pool itself.

    Parameters
    ----------
    sent : (n_rounds, n_senders) array, dense or sparse
        S_t, messages that entered.
    released : (n_rounds,) array
        r_t, messages that left.

    Returns
    -------
    (n_rounds, n_senders) array
        X_t.

    Raises
    ------
    UnmaskError
        If more messages leave than are inside.

    References
    ----------
    F. Pérez-González, C. Troncoso, S. Oya, "A least squares approach to the static traffic analysis of high-latency
    anonymous communication systems", IEEE Trans. Inf. Forensics Secur. 2014.

    Examples
    --------
    >>> expected_leaving(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0]))
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    S = _dense(sent)
    leaving, inside = np.zeros_like(S), np.zeros(S.shape[1])
    for t, count in enumerate(np.asarray(released, dtype=np.float64)):
        inside = inside + S[t]
        total = inside.sum()
        if not 0 <= count <= total + COUNT_TOLERANCE:
            raise UnmaskError(f"round {t} lets out {count:g} messages with {total:g} inside: rounds are missing")
        leaving[t] = inside * (count / total if total > 0 else 0.0)
        inside = inside - leaving[t]
    return leaving


def _dense(table: Matrix) -> Floats:
    return np.asarray(table if isinstance(table, np.ndarray) else csr_array(table).toarray(), dtype=np.float64)


def _check_senders(rounds: Rounds, senders: tuple[int, ...] | None) -> Ints:
    sent = rounds.sent.sum(axis=0)
    attacked = np.flatnonzero(sent > 0) if senders is None else np.asarray(senders, dtype=np.int64)
    if not len(attacked) or attacked.min() < 0 or attacked.max() >= len(sent) or sent[attacked].min() == 0:
        raise UnmaskError(f"each attacked sender must be one of 0..{len(sent) - 1} and have sent at least one message")
    return attacked


def _check_share(background: Floats, n_receivers: int) -> Floats:
    u = np.asarray(background, dtype=np.float64)
    if u.shape != (n_receivers,) or not np.all(u >= 0) or abs(u.sum() - 1) > SHARE_TOLERANCE:
        raise UnmaskError(f"the background must hold one share for each of the {n_receivers} receivers and sum to 1")
    return u


def _multinomial_variance(estimate: Floats) -> Floats:
    """Return p (1 - p) of each share; negative estimates are 0, and rows sum to 1.

    Without the division by the sum, the positive errors of shares that are really 0 would add to the variance.
    """
    positive = np.maximum(estimate, 0.0)
    p = positive / positive.sum(axis=1, keepdims=True)
    return np.asarray(p * (1.0 - p), dtype=np.float64)


def _profiles(rounds: Rounds, estimate: Floats, error: Floats, senders: Ints, method: str) -> Profiles:
    received = rounds.received.sum(axis=0)
    return Profiles(
        estimate=np.asarray(estimate, dtype=np.float64),
        standard_error=np.asarray(error, dtype=np.float64),
        popularity=received / received.sum(),
        senders=senders,
        n_rounds=np.asarray((rounds.sent[:, senders] > 0).sum(axis=0), dtype=np.int64),
        method=method,
    )
