"""Simulated systems of anonymous communication: Crowds and mixes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.sparse import coo_array, csr_array

from unmask.channels._matrices import Floats, Ints, Sparse
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.ranges import CheckedParameters, Range, check_ranges

MAX_MESSAGES = 4_000
"""Messages of the window of a pool mix up to which its channel is computed: 128 MB."""

MAX_LEFT_INSIDE = 1e-9
"""Probability that a message stays inside longer than the default window of a pool mix."""


@dataclass(frozen=True)
class Crowds:
    """A crowd of users who submit a message to the server with probability p, or forward it to a random user.

    The server sees the last holder Y, not the author X: p(y given x) = p [y = x] + (1 - p) / n. A user may forward to
    itself, and the first forward is not forced, unlike in the original Crowds.

    The c corrupted users are the adversary, and see who forwards a message to them. If one of them gets it, the
    predecessor is the author with probability 1 - (1 - p)(n - c - 1) / n, and each other honest user with probability
    (1 - p) / n. The original Crowds has the same probabilities.

    Assumes: a user who gets a message draws each user with the same probability, and the adversary sees one message.

    Fails when: an author sends many messages that the adversary can link: the predecessor that occurs most often is
    the author.

    Parameters
    ----------
    n : int
        Number of users.
    submit : float
        p, in (0, 1]: 1 - p_f for the probability p_f to forward of the original Crowds.
    corrupted : int
        c, number of corrupted users, below n. The authors and the outputs are the n - c honest ones.

    References
    ----------
    D. Rebollo-Monedero et al., "On the measurement of privacy as an attacker's estimation error", 2012, section VI-B,
    equation (10); M. K. Reiter and A. D. Rubin, "Crowds: anonymity for web transactions", 1998.

    Examples
    --------
    >>> Crowds(4, 0.5).channel().p_y_given_x[0]
    array([0.625, 0.125, 0.125, 0.125])
    >>> float(np.exp(Crowds(4, 0.5).epsilon).round(6)), Crowds(4, 0.5).estimation_error
    (5.0, 0.375)
    >>> Crowds(4, 0.5, corrupted=1).channel().p_y_given_x[0]
    array([0.75 , 0.125, 0.125])
    """

    n: Annotated[int, Range(1)]
    submit: Annotated[float, Range(0, 1, above=True)]
    corrupted: Annotated[int, Range(0)] = 0

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.corrupted >= self.n:
            raise UnmaskError(f"corrupted is {self.corrupted} of {self.n} users, expected fewer than all")

    @property
    def n_honest(self) -> int:
        """Return n - c, the number of possible authors."""
        return self.n - self.corrupted

    def channel(self, prior: Floats | None = None) -> Channel:
        """Return the channel from author to last holder; the prior is each user's share of the messages.

        With corrupted users the output is the predecessor that they see, given that one of them gets the message.
        """
        share = (1.0 - self.submit) / self.n
        table = np.full((self.n_honest, self.n_honest), share)
        np.fill_diagonal(table, 1.0 - (self.n_honest - 1) * share)
        return Channel(table, prior)

    def __call__(self, population: Ints, *, rng: np.random.Generator | None = None) -> Ints:
        """Draw the user that the adversary sees for each author, numbers from 0 to n - c - 1."""
        return self.channel().sample(population, rng=secret_unless(rng))

    @property
    def epsilon(self) -> float:
        """Return the largest log-ratio of two rows, in nats: ln(1 + p n / (1 - p)) without corrupted users.

        It grows with n while the estimation error grows too: the two measures rank crowd sizes in opposite orders.
        """
        if self.n_honest == 1:
            return 0.0
        if self.submit == 1.0:
            return math.inf
        return math.log(self.n / (1.0 - self.submit) - (self.n_honest - 1))

    @property
    def estimation_error(self) -> float:
        """Return (1 - p)(n - c - 1) / n, the error of the best guess of the author under a uniform prior."""
        return (1.0 - self.submit) * (self.n_honest - 1) / self.n

    @property
    def expected_delay(self) -> float:
        """Return (1 - p) / p, the expected number of forwards of a message."""
        return (1.0 - self.submit) / self.submit


@dataclass(frozen=True, eq=False)
class Traffic:
    """Profiles and frequencies of senders.

    Parameters
    ----------
    profile : (n_senders, n_receivers) array
        p(receiver given sender), rows sum to 1: the secret of disclosure attacks.
    weight : (n_senders,) array, optional
        Relative frequency of each sender, equal by default.
    """

    profile: Floats
    weight: Floats | None = None

    def __post_init__(self) -> None:
        profile = Channel(self.profile).dense()
        weight = np.ones(len(profile)) if self.weight is None else np.asarray(self.weight, dtype=np.float64)
        if weight.shape != (len(profile),) or not np.all(np.isfinite(weight)) or weight.min() < 0:
            raise UnmaskError(f"weight has shape {weight.shape}, expected ({len(profile)},) numbers of at least 0")
        if not weight.sum() > 0:
            raise UnmaskError("all senders have weight 0, expected at least one above 0")
        object.__setattr__(self, "profile", profile)
        object.__setattr__(self, "weight", weight / weight.sum())

    @property
    def n_senders(self) -> int:
        """Return the number of senders."""
        return int(self.profile.shape[0])

    @property
    def n_receivers(self) -> int:
        """Return the number of receivers."""
        return int(self.profile.shape[1])

    @classmethod
    def friends(cls, n_senders: int, n_receivers: int, *, friends: int, rng: np.random.Generator) -> Traffic:
        """Draw traffic in which every sender writes equally often to `friends` receivers of their own."""
        if not 1 <= friends <= n_receivers:
            raise UnmaskError(f"friends is {friends}, expected 1 to the {n_receivers} receivers")
        chosen = np.argsort(rng.random((n_senders, n_receivers)), axis=1)[:, :friends]
        profile = np.zeros((n_senders, n_receivers))
        np.put_along_axis(profile, chosen, 1.0 / friends, axis=1)
        return cls(profile)

    def draw(self, messages: int, *, rng: np.random.Generator) -> Ints:
        """Draw senders by weight."""
        return rng.choice(self.n_senders, size=messages, p=self.weight)

    def receivers(self, sender: Ints, *, rng: np.random.Generator) -> Ints:
        """Draw a receiver for each sender from its profile."""
        return Channel(self.profile).sample(sender, rng=rng)


@dataclass(frozen=True, eq=False)
class MixRun:
    """The messages of a simulated mix. The adversary sees `inputs` and `outputs`.

    Parameters
    ----------
    sender, receiver : (n_messages,) array
        Users, by round of entry.
    entered, exited : (n_messages,) array
        The rounds in which a message entered and left the mix; `exited` is -1 while it is inside.
    n_rounds, n_senders, n_receivers : int
        Numbers of rounds and users.
    """

    sender: Ints
    receiver: Ints
    entered: Ints
    exited: Ints
    n_rounds: int
    n_senders: int
    n_receivers: int

    def inputs(self) -> Sparse:
        """Return the (n_rounds, n_senders) counts of sent messages."""
        return _count(self.entered, self.sender, (self.n_rounds, self.n_senders))

    def outputs(self) -> Sparse:
        """Return the (n_rounds, n_receivers) counts of received messages."""
        received = self.exited >= 0
        return _count(self.exited[received], self.receiver[received], (self.n_rounds, self.n_receivers))

    def truth(self) -> Sparse:
        """Return the (n_senders, n_receivers) counts of received messages by sender and receiver."""
        received = self.exited >= 0
        return _count(self.sender[received], self.receiver[received], (self.n_senders, self.n_receivers))


@dataclass(frozen=True)
class PoolMix(CheckedParameters):
    """The mix that waits for `batch` new messages next to its `pool`, then sends `batch` random ones of all.

    The first round waits for batch + pool messages. A message leaves in each round with probability b / (b + N): after
    N / b rounds on average. Without a pool it is a threshold mix: every message leaves in its round.

    Assumes: each message of a round is from another sender, and none is a dummy.

    Fails when: a sender fills rounds with own messages, or senders and receivers recur: a disclosure attack on many
    rounds estimates the receivers of each sender.

    Parameters
    ----------
    batch : int
        b, messages sent in a round.
    pool : int
        N, messages that stay inside.

    References
    ----------
    A. Serjantov, G. Danezis, "Towards an information theoretic metric for anonymity", PET 2002, section 4.

    Examples
    --------
    >>> run = PoolMix(2).run(Traffic(np.eye(3)), rounds=4, rng=np.random.default_rng(0))
    >>> bool((run.inputs().toarray() == run.outputs().toarray()).all())
    True
    """

    batch: Annotated[int, Range(1)]
    pool: Annotated[int, Range(0)] = 0

    @property
    def sender_entropy_bits(self) -> float:
        """Return (1 + N/b) log2(b + N) - (N/b) log2 N, the entropy of the sender of a message long after the start.

        >>> PoolMix(4, 0).sender_entropy_bits
        2.0
        """
        ratio = self.pool / self.batch
        inside = ratio * np.log2(self.pool) if self.pool else 0.0
        return float((1 + ratio) * np.log2(self.batch + self.pool) - inside)

    @property
    def expected_delay(self) -> float:
        """Return N / b, the expected number of rounds that a message waits."""
        return self.pool / self.batch

    def channel(self, prior: Floats | None = None) -> Channel:
        """Return the channel from messages that enter to messages that leave, in a window of whole rounds.

        Message i enters in round i // b. With q = N / (b + N) it is each message that leaves k rounds later with
        probability q^k / ((b + N) (1 - q^W)). The window is a ring of W rounds, so that a message near its end leaves
        at its start. By default W is the least number of rounds with q^W below 1e-9.

        >>> PoolMix(2, 2).channel(np.full(4, 0.25)).p_y_given_x[0].round(4)
        array([0.3333, 0.3333, 0.1667, 0.1667])
        """
        stays = self.pool / (self.batch + self.pool)
        default = math.floor(math.log(MAX_LEFT_INSIDE) / math.log(stays)) + 1 if stays else 1
        rounds = default if prior is None else len(prior) / self.batch
        if not float(rounds).is_integer() or not 1 <= rounds * self.batch <= MAX_MESSAGES:
            raise UnmaskError(
                f"the window has {rounds * self.batch:,.0f} messages, expected a multiple of the batch {self.batch} of "
                f"at most {MAX_MESSAGES:,}; choose a smaller pool or other secrets"
            )
        entered = np.arange(int(rounds) * self.batch) // self.batch
        lag = (entered[None, :] - entered[:, None]) % int(rounds)
        table = stays**lag / ((self.batch + self.pool) * (1.0 - stays**rounds))
        return Channel(table / table.sum(axis=1, keepdims=True), prior)

    def __call__(self, population: Ints, *, rng: np.random.Generator | None = None) -> Ints:
        """Draw the message that leaves for each message that enters; the window ends with the last one."""
        messages = np.asarray(population, dtype=np.int64)
        n = self.batch * (int(messages.max(initial=0)) // self.batch + 1)
        return self.channel(np.full(n, 1 / n)).sample(messages, rng=secret_unless(rng))

    def run(self, traffic: Traffic, *, rounds: int, rng: np.random.Generator) -> MixRun:
        """Simulate rounds; messages in the pool at the end have `exited` -1."""
        if rounds < 1:
            raise UnmaskError(f"rounds is {rounds}, expected at least 1")
        sender = traffic.draw(self.pool + rounds * self.batch, rng=rng)
        entered = np.concatenate((np.zeros(self.pool, np.int64), np.repeat(np.arange(rounds), self.batch)))
        exited = np.full(len(sender), -1, dtype=np.int64)
        inside = np.arange(self.pool)
        for number in range(rounds):
            start = self.pool + number * self.batch
            inside = rng.permutation(np.concatenate((inside, np.arange(start, start + self.batch))))
            exited[inside[: self.batch]] = number
            inside = inside[self.batch :]
        receiver = traffic.receivers(sender, rng=rng)
        return MixRun(sender, receiver, entered, exited, rounds, traffic.n_senders, traffic.n_receivers)


def _count(row: Ints, column: Ints, shape: tuple[int, int]) -> Sparse:
    return csr_array(coo_array((np.ones(len(row)), (row, column)), shape=shape))
