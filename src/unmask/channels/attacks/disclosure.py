"""The attacker of mixes who only counts: who sends to whom, from many rounds of senders and receivers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from unmask.channels._matrices import Bools, Floats, Ints, Matrix
from unmask.channels.attacks.matching import MatchingAttack, Method
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior

IDENTIFIABLE = 1e-6
"""How far a sender's row of the resolution matrix may be from a unit vector before the profile is refused."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """What an observer of a mix sees: who sent how many messages into each round, and who received how many.

    sent     : (n_rounds, n_senders) counts, at least 0, dense or sparse; kept dense
    received : (n_rounds, n_receivers); each round lets out as many messages as it took in

    Every message leaves in the round in which it came. A pool mix breaks that even where its counts balance: replace
    `sent` by `expected_leaving` first, and attack with least squares.

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
        out = self.received.sum(axis=1)
        wrong = np.flatnonzero(np.abs(self.batch - out) > 1e-9)
        if wrong.size:
            raise UnmaskError(
                f"round {wrong[0]} takes in {self.batch[wrong[0]]:g} messages and lets out {out[wrong[0]]:g}: count "
                "dummies on both sides; if the mix keeps messages back, pass `expected_leaving` as what was sent"
            )

    @property
    def batch(self) -> Floats:
        """(n_rounds,) b_t: messages in each round."""
        return np.asarray(self.sent.sum(axis=1), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Profiles:
    """How often each sender writes to each receiver: estimates, and how far they may be off.

    estimate       : (n_senders, n_receivers) share of the sender's messages that go to each receiver; rows sum to 1.
                     Unbiased, so entries that are really 0 come out negative half of the time: do not clip before
                     averaging or comparing
    standard_error : (n_senders, n_receivers) over rounds, from the multinomial model with the estimates put in
    popularity     : (n_receivers,) each receiver's share of all messages: the belief about a message of nobody known
    senders        : (n_senders,) number of each sender; n_rounds : (n_senders,) rounds that each took part in
    """

    estimate: Floats
    standard_error: Floats
    popularity: Floats
    senders: Ints
    n_rounds: Ints
    method: str = ""

    def posterior(self) -> Posterior:
        """Whom does each sender write to: the estimates clipped at 0, last, and normalized; status `model`.

        One target per sender, candidates the receivers, prior their popularity. Clipping leaves a little mass, of the
        order of the standard errors, on receivers that got nothing: more rounds, less of it.
        """
        clipped = np.maximum(self.estimate, 0.0)
        clipped = np.where(self.popularity > 0, clipped, 0.0)
        provenance = {
            "attack": "statistical disclosure",
            "method": self.method,
            "rounds": int(self.n_rounds.max()),
            "largest standard error": float(self.standard_error.max()),
        }
        belief = clipped / clipped.sum(axis=1, keepdims=True)
        return Posterior.from_dense(belief, prior=self.popularity, status="model", provenance=provenance)


@dataclass(frozen=True)
class StatisticalDisclosure:
    """Who writes to whom, from averages: what a sender's rounds receive beyond what other people send.

    v_r = (sum over the sender's rounds of O_tr - (B - A) u_r) / A, with O_tr the messages that r received in round t, A
    the sender's own messages and B all messages in those rounds. One message a round and rounds of b messages:
    v = mean_t O_t - (b - 1) u, divided by the number of *rounds*. The variance of v_r is
    [A v(1 - v) + (B - A) u(1 - u) + (B - A)^2 u(1 - u) / B'] / A^2, the last term only where u was estimated, from B'
    messages.

    senders : numbers of the senders to attack; all who sent anything when None

    Called with the `Rounds` and, where it is known, (n_receivers,) u, whom the other people write to. When None it is
    the average of the rounds without the sender; the plain average of all rounds would contain them. Refused where the
    sender is in every round. Right if other people write alike in rounds with and without the sender. `estimate` gives
    estimates and standard errors.

    Assumes: other people write alike in rounds with and without the sender, and the sender's habits stay the same.

    Fails when: the sender is in every round, which is refused, or friends send in the same rounds: their receivers then
    look like the sender's.

    >>> rounds = Rounds(np.array([[1, 1], [0, 2], [1, 1], [0, 2]]), np.array([[1, 1], [0, 2], [1, 1], [0, 2]]))
    >>> StatisticalDisclosure(senders=(0,)).estimate(rounds).estimate
    array([[1., 0.]])

    G. Danezis, "Statistical disclosure attacks", SEC 2003.
    """

    senders: tuple[int, ...] | None = None

    def __call__(
        self, release: Rounds, knowledge: Floats | None = None, *, rng: np.random.Generator | None = None
    ) -> Posterior:
        """The belief about the receiver of each sender."""
        return self.estimate(release, knowledge).posterior()

    def estimate(self, rounds: Rounds, background: Floats | None = None) -> Profiles:
        """The profile of each sender with its standard errors."""
        who = _attacked(rounds, self.senders)
        inside = rounds.sent[:, who] > 0
        own = rounds.sent[:, who].sum(axis=0)[:, None]
        others = (rounds.batch @ inside)[:, None] - own
        if background is not None:
            u, uncertain = _share(background, rounds.received.shape[1])[None], np.zeros_like(own)
        else:
            u, uncertain = _background(rounds, who, inside)
        v = (inside.T.astype(np.float64) @ rounds.received - others * u) / own
        noise = own * _binomial(v) + (others + others**2 * uncertain) * _binomial(u)
        return _profiles(rounds, v, np.sqrt(noise) / own, who, "SDA")


def _background(rounds: Rounds, who: Ints, inside: Bools) -> tuple[Floats, Floats]:
    """(n_senders, n_receivers) average over the rounds without each sender, and 1 / messages in them."""
    outside = (~inside).T.astype(np.float64)
    messages = outside @ rounds.batch
    if messages.min() == 0:
        raise UnmaskError(
            f"sender {who[np.argmin(messages)]} is in every round, so nothing shows what others send: pass whom they "
            "write to, or add rounds without this sender"
        )
    return outside @ rounds.received / messages[:, None], 1.0 / messages[:, None]


@dataclass(frozen=True)
class LeastSquaresDisclosure:
    """Who writes to whom, all senders at once: V = argmin |O - S V|^2 = (S'S)^+ S' O.

    S is `sent`, O is `received`. Everybody's profile explains everybody's noise, so it needs no background and is
    sharper than averages. var V_ir = sum_t W_it^2 sum_j S_tj V_jr (1 - V_jr), W = (S'S)^+ S'.

    senders : numbers of the senders to attack; all who sent anything when None

    A sender who is in every round of constant size cannot be told from the others (S has not full rank): refused, by
    number. Rounds without them cure it.

    Assumes: each sender writes by one profile, messages are independent, and rounds were seen whole.

    Fails when: rounds are fewer than senders, some senders always come together, or replies follow messages.

    >>> sent = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 2]])
    >>> V = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> LeastSquaresDisclosure().estimate(Rounds(sent, sent @ V)).estimate.round(6) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])

    F. Pérez-González & C. Troncoso, "Understanding statistical disclosure: a least squares approach", PETS 2012.
    """

    senders: tuple[int, ...] | None = None

    def __call__(self, release: Rounds, knowledge: None = None, *, rng: np.random.Generator | None = None) -> Posterior:
        """The belief about the receiver of each sender."""
        return self.estimate(release).posterior()

    def estimate(self, rounds: Rounds) -> Profiles:
        """The profile of each sender with its standard errors."""
        who, S = _attacked(rounds, self.senders), rounds.sent
        gram = S.T @ S
        inverse = np.linalg.pinv(gram, hermitian=True, rcond=1e-10)
        off = np.abs((inverse @ gram)[who] - np.eye(len(gram))[who]).max(axis=1)
        if off.max() > IDENTIFIABLE:
            raise UnmaskError(
                f"the profile of sender {who[np.argmax(off)]} cannot be told from those of others: who sends in these "
                "rounds is linearly dependent, as when one is in every round of constant size; add rounds without this "
                "sender, or use StatisticalDisclosure with a background"
            )
        weights = inverse @ S.T
        V = weights @ rounds.received
        variance = np.square(weights[who]) @ S @ _binomial(V)
        return _profiles(rounds, V[who], np.sqrt(variance), who, "LSDA")


class Round(NamedTuple):
    """The messages of one round: (n,) who sent each, and (n,) who received each, in any order."""

    senders: Ints
    receivers: Ints


@dataclass(frozen=True)
class RoundDisclosure:
    """Which message of one round came from whom, given everybody's profile: a belief over one-to-one matchings.

    method : `sinkhorn` is the normalized statistical disclosure attack: rows and columns of the round's matrix of
             profiles are normalized in turn, which is quick and under-confident; `exact`, `belief propagation` and
             `auto` give the marginals of the matchings themselves

    Called with a `Round` and the `Profiles` of an earlier attack; one target for each message sent, candidates the
    messages received. An estimate below its own standard error says no more than that error, so weights are
    max(v, error): a receiver is never ruled out for having been missed so far.

    Assumes: the profiles are right, and each message of the round left it once.

    Fails when: profiles were estimated from few rounds, or dummies break the one-to-one match.

    >>> share, off = np.array([[0.9, 0.1], [0.5, 0.5]]), np.zeros((2, 2))
    >>> known = Profiles(share, off, np.array([0.7, 0.3]), senders=np.arange(2), n_rounds=np.array([9, 9]))
    >>> belief = RoundDisclosure()(Round(np.array([0, 1]), np.array([0, 1])), known)
    >>> np.exp(belief.log_probability).round(2)
    array([0.9, 0.1, 0.1, 0.9])

    C. Troncoso, B. Gierlichs, B. Preneel, I. Verbauwhede, "Perfect matching disclosure attacks", PETS 2008.
    """

    method: Method = "auto"

    def __call__(self, release: Round, knowledge: Profiles, *, rng: np.random.Generator | None = None) -> Posterior:
        """The belief about the outgoing message of each incoming one."""
        senders, receivers = map(np.asarray, release)
        row = np.full(int(max(np.max(senders), knowledge.senders.max())) + 1, -1)
        row[knowledge.senders] = np.arange(len(knowledge.senders))
        known = row[senders]
        if known.min() < 0:
            raise UnmaskError(f"sender {senders[np.argmin(known)]} has no profile: attack this sender first")
        weight = np.maximum(np.maximum(knowledge.estimate, knowledge.standard_error), 1e-12)
        return MatchingAttack(method=self.method).marginals(weight[np.ix_(known, receivers)]).posterior()


def expected_leaving(sent: Matrix, released: Floats) -> Floats:
    """(n_rounds, n_senders) how many messages of each sender leave a pool mix in each round, on average.

    X_t = r_t (S_t + P_t) / |S_t + P_t| and P_t+1 = S_t + P_t - X_t, with P_0 = 0: the mix lets out r_t of the messages
    inside, drawn at random. released : (n_rounds,) r_t, the messages that were received in each round.
    As `sent` of `Rounds` this makes the receivers of a pool mix linear in the profiles again, E O_t = X_t V. The
    standard errors then leave out the noise of the pool itself: whose messages were drawn.

    >>> expected_leaving(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0]))
    array([[1. , 0. ],
           [0.5, 0.5]])

    F. Pérez-González, C. Troncoso, S. Oya, "A least squares approach to the static traffic analysis of high-latency
    anonymous communication systems", IEEE Trans. Inf. Forensics Secur. 2014.
    """
    S = _dense(sent)
    leaving, inside = np.zeros_like(S), np.zeros(S.shape[1])
    for t, count in enumerate(np.asarray(released, dtype=np.float64)):
        inside = inside + S[t]
        total = inside.sum()
        if not 0 <= count <= total + 1e-9:
            raise UnmaskError(f"round {t} lets out {count:g} messages with {total:g} inside: rounds are missing")
        leaving[t] = inside * (count / total if total > 0 else 0.0)
        inside = inside - leaving[t]
    return leaving


def rounds_needed(share: float, *, popularity: float, batch: float, z: float = 1.96) -> float:
    """Rounds T until a receiver who gets `share` of a sender's messages stands out by z standard errors.

    T = z^2 [v(1 - v) + (b - 1) u(1 - u)] / v^2, one message of the sender in each round of b, background u known.

    >>> round(rounds_needed(0.25, popularity=0.01, batch=10))
    17

    G. Danezis, "Statistical disclosure attacks", SEC 2003, section 3; N. Mathewson & R. Dingledine, "Practical traffic
    analysis", PET 2004.
    """
    if not (0 < share <= 1 and 0 <= popularity <= 1 and batch >= 1):
        raise UnmaskError(
            f"share is {share}, popularity {popularity}, batch {batch}: expected 0 < share <= 1, 0 <= popularity <= 1 "
            "and batch >= 1"
        )
    return z * z * (share * (1 - share) + (batch - 1) * popularity * (1 - popularity)) / share**2


def _dense(table: Matrix) -> Floats:
    return np.asarray(table if isinstance(table, np.ndarray) else csr_array(table).toarray(), dtype=np.float64)


def _attacked(rounds: Rounds, senders: tuple[int, ...] | None) -> Ints:
    sent = rounds.sent.sum(axis=0)
    who = np.flatnonzero(sent > 0) if senders is None else np.asarray(senders, dtype=np.int64)
    if not len(who) or who.min() < 0 or who.max() >= len(sent) or sent[who].min() == 0:
        raise UnmaskError(f"each attacked sender must be one of 0..{len(sent) - 1} and have sent at least one message")
    return who


def _share(background: Floats, n_receivers: int) -> Floats:
    u = np.asarray(background, dtype=np.float64)
    if u.shape != (n_receivers,) or not np.all(u >= 0) or abs(u.sum() - 1) > 1e-6:
        raise UnmaskError(f"the background must hold one share for each of the {n_receivers} receivers and sum to 1")
    return u


def _binomial(p: Floats) -> Floats:
    """p (1 - p), estimates outside 0..1 taken at the border."""
    inside = np.clip(p, 0.0, 1.0)
    return np.asarray(inside * (1.0 - inside), dtype=np.float64)


def _profiles(rounds: Rounds, estimate: Floats, error: Floats, who: Ints, method: str) -> Profiles:
    received = rounds.received.sum(axis=0)
    return Profiles(
        estimate=np.asarray(estimate, dtype=np.float64),
        standard_error=np.asarray(error, dtype=np.float64),
        popularity=received / received.sum(),
        senders=who,
        n_rounds=np.asarray((rounds.sent[:, who] > 0).sum(axis=0), dtype=np.int64),
        method=method,
    )
