"""Mixes: messages go in under the eyes of the adversary, come out in another order, and who wrote to whom is hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from unmask.channels._matrices import Floats, Ints, Sparse
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError


@dataclass(frozen=True, eq=False)
class Traffic:
    """Who writes how often, and to whom.

    profile       : (n_senders, n_receivers) p(receiver given sender), rows sum to 1: what disclosure attacks look for
    weight        : (n_senders,) how often each sender writes, relative to the others; alike when None
    target        : a sender who, instead, writes one message in a round with probability `participation`, and none
                    otherwise; the other senders fill the batch. None: everybody writes by weight
    """

    profile: Floats
    weight: Floats | None = None
    target: int | None = None
    participation: float = 1.0

    def __post_init__(self) -> None:
        profile = Channel(self.profile).dense()
        weight = np.ones(len(profile)) if self.weight is None else np.asarray(self.weight, dtype=np.float64)
        if weight.shape != (len(profile),) or not np.all(np.isfinite(weight)) or weight.min() < 0:
            raise UnmaskError(f"weight has shape {weight.shape}, expected ({len(profile)},) numbers of at least 0")
        if self.target is not None:
            if not 0 <= self.target < len(profile):
                raise UnmaskError(f"target is {self.target}, expected a sender from 0 to {len(profile) - 1}")
            weight = np.where(np.arange(len(profile)) == self.target, 0.0, weight)
        if not weight.sum() > 0:
            raise UnmaskError("no sender but the target has a weight above 0, expected at least 1")
        if not 0.0 <= self.participation <= 1.0:
            raise UnmaskError(f"participation is {self.participation}, expected a probability")
        object.__setattr__(self, "profile", profile)
        object.__setattr__(self, "weight", weight / weight.sum())

    @property
    def n_senders(self) -> int:
        """Number of senders."""
        return int(self.profile.shape[0])

    @property
    def n_receivers(self) -> int:
        """Number of receivers."""
        return int(self.profile.shape[1])

    @classmethod
    def friends(
        cls,
        n_senders: int,
        n_receivers: int,
        *,
        friends: int,
        rng: np.random.Generator,
        target: int | None = None,
        participation: float = 1.0,
    ) -> Traffic:
        """Every sender writes equally often to `friends` receivers of their own, drawn at random."""
        if not 1 <= friends <= n_receivers:
            raise UnmaskError(f"friends is {friends}, expected 1 to the {n_receivers} receivers")
        chosen = np.argsort(rng.random((n_senders, n_receivers)), axis=1)[:, :friends]
        profile = np.zeros((n_senders, n_receivers))
        np.put_along_axis(profile, chosen, 1.0 / friends, axis=1)
        return cls(profile, target=target, participation=participation)

    def batches(self, rounds: int, batch: int, *, rng: np.random.Generator) -> Ints:
        """(rounds, batch) the sender of each message; the target, if there is one, comes first in its rounds."""
        sender = self.draw(rounds * batch, rng=rng).reshape(rounds, batch)
        if self.target is not None and batch:
            sender[rng.random(rounds) < self.participation, 0] = self.target
        return sender

    def draw(self, messages: int, *, rng: np.random.Generator) -> Ints:
        """(messages,) senders by weight, the target left out."""
        return rng.choice(self.n_senders, size=messages, p=self.weight)

    def receivers(self, sender: Ints, *, rng: np.random.Generator) -> Ints:
        """A receiver for each sender, drawn from its profile."""
        return Channel(self.profile).sample(sender, rng=rng)


@dataclass(frozen=True, eq=False)
class MixRun:
    """What went through a mix. The adversary sees `inputs` and `outputs` (and the times, where there are any); which
    message that came out is which that went in is the truth.

    sender, receiver : (n_messages,) in random order within a round of entry
    entered, left    : (n_messages,) the round in which a message went in and came out; left is -1 while it is inside
    n_rounds         : rounds that were run
    time_in, time_out : (n_messages,) seconds, for a mix without rounds; time_out is infinite while it is inside
    """

    sender: Ints
    receiver: Ints
    entered: Ints
    left: Ints
    n_rounds: int
    n_senders: int
    n_receivers: int
    time_in: Floats | None = None
    time_out: Floats | None = None

    def inputs(self) -> Sparse:
        """(n_rounds, n_senders) how many messages each sender sent in each round."""
        return _counts(self.entered, self.sender, (self.n_rounds, self.n_senders))

    def outputs(self) -> Sparse:
        """(n_rounds, n_receivers) how many messages each receiver got in each round."""
        out = self.left >= 0
        return _counts(self.left[out], self.receiver[out], (self.n_rounds, self.n_receivers))

    def truth(self) -> Sparse:
        """(n_senders, n_receivers) how many messages that came out each sender wrote to each receiver."""
        out = self.left >= 0
        return _counts(self.sender[out], self.receiver[out], (self.n_senders, self.n_receivers))


@dataclass(frozen=True)
class PoolMix:
    """Waits for `batch` new messages besides the `pool` it keeps, then sends `batch` of them all, drawn at random.

    The first round waits for batch + pool messages. A message leaves in each round with probability b / (b + N): after
    N / b rounds on average. Without a pool it is a threshold mix, which every message leaves in the round it came in.

    >>> run = PoolMix(2).run(Traffic(np.eye(3)), rounds=4, rng=np.random.default_rng(0))
    >>> bool((run.inputs().toarray() == run.outputs().toarray()).all())
    True

    A. Serjantov, G. Danezis, "Towards an information theoretic metric for anonymity", PET 2002, section 4.
    """

    batch: int
    pool: int = 0

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise UnmaskError(f"batch is {self.batch}, expected at least 1 message a round")
        if self.pool < 0:
            raise UnmaskError(f"pool is {self.pool}, expected at least 0 messages")

    @property
    def sender_entropy_bits(self) -> float:
        """(1 + N/b) log2(b + N) - (N/b) log2 N: the entropy of the message that came out, long after the start.

        >>> PoolMix(4, 0).sender_entropy_bits
        2.0
        """
        kept = self.pool / self.batch
        held = kept * np.log2(self.pool) if self.pool else 0.0
        return float((1 + kept) * np.log2(self.batch + self.pool) - held)

    def run(self, traffic: Traffic, *, rounds: int, rng: np.random.Generator) -> MixRun:
        """`rounds` firings; the messages in the pool at the end stay inside (`left` is -1)."""
        _check_rounds(rounds)
        batches = traffic.batches(rounds, self.batch, rng=rng)
        sender = np.concatenate((traffic.draw(self.pool, rng=rng), batches.ravel()))
        entered = np.concatenate((np.zeros(self.pool, np.int64), np.repeat(np.arange(rounds), self.batch)))
        left = np.full(len(sender), -1, dtype=np.int64)
        inside = np.arange(self.pool)
        for fired in range(rounds):
            first = self.pool + fired * self.batch
            inside = rng.permutation(np.concatenate((inside, np.arange(first, first + self.batch))))
            left[inside[: self.batch]] = fired
            inside = inside[self.batch :]
        order = np.lexsort((rng.random(len(sender)), entered))  # the target came first in its rounds
        receiver = traffic.receivers(sender, rng=rng)
        return MixRun(
            sender[order], receiver[order], entered[order], left[order], rounds, traffic.n_senders, traffic.n_receivers
        )


@dataclass(frozen=True)
class StopAndGoMix:
    """Holds every message for a time of its own, exponential with mean `mean_delay` seconds; there are no rounds.

    With messages coming at random (Poisson, `rate` a second) rate * mean_delay of them are inside on average.

    D. Kesdogan, J. Egner, R. Büschkes, "Stop-and-go MIXes providing probabilistic anonymity in an open system", 1998.
    """

    mean_delay: float

    def __post_init__(self) -> None:
        _check_positive(self.mean_delay, "mean_delay", "seconds")

    def run(self, traffic: Traffic, *, rounds: int, rate: float, window: float, rng: np.random.Generator) -> MixRun:
        """`rounds` windows of `window` seconds, messages coming at `rate` a second; `entered` and `left` are windows.

        Messages that are inside at the end have left -1 and an infinite time_out.
        """
        _check_rounds(rounds)
        _check_positive(rate, "rate", "messages a second")
        _check_positive(window, "window", "seconds")
        if traffic.target is not None:
            raise UnmaskError("the traffic has a target who writes once a round, expected None: this mix has no rounds")
        end = rounds * window
        time_in = np.sort(rng.random(rng.poisson(rate * end))) * end
        time_out = time_in + rng.exponential(self.mean_delay, size=len(time_in))
        time_out[time_out >= end] = np.inf
        inside = np.isinf(time_out)
        left = np.where(inside, -1, np.minimum(np.where(inside, 0.0, time_out) // window, rounds - 1)).astype(np.int64)
        sender = traffic.draw(len(time_in), rng=rng)
        return MixRun(
            sender=sender,
            receiver=traffic.receivers(sender, rng=rng),
            entered=np.minimum(time_in // window, rounds - 1).astype(np.int64),
            left=left,
            n_rounds=rounds,
            n_senders=traffic.n_senders,
            n_receivers=traffic.n_receivers,
            time_in=time_in,
            time_out=time_out,
        )


def _counts(row: Ints, column: Ints, shape: tuple[int, int]) -> Sparse:
    return csr_array(coo_array((np.ones(len(row)), (row, column)), shape=shape))


def _check_rounds(rounds: int) -> None:
    if rounds < 1:
        raise UnmaskError(f"rounds is {rounds}, expected at least 1")


def _check_positive(value: float, name: str, unit: str) -> None:
    if not (np.isfinite(value) and value > 0):
        raise UnmaskError(f"{name} is {value}, expected a number of {unit} above 0")
