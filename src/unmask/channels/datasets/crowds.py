"""Crowds: messages that wander among users before one of them hands them to the server."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.channels._matrices import Floats, Ints
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError


@dataclass(frozen=True, eq=False)
class CrowdsMessages:
    """Simulated messages: who wrote each (the truth), who handed it in (all the server sees), after how many forwards.

    author, last, forwards : (n_messages,) int64
    """

    author: Ints
    last: Ints
    forwards: Ints


@dataclass(frozen=True)
class Crowds:
    """n users; whoever holds a message submits it to the server with probability p, else hands it to one of the n users
    (itself included) at random, who does the same. The server sees the last holder Y, not the author X.

        p(y given x) = p [y = x] + (1 - p) / n

    submit : p, in (0, 1]. The opposite of p_f, the probability to forward, of the original Crowds; there is no first
             forced forward here, and all users are honest.

    >>> Crowds(4, 0.5).channel().p_y_given_x[0]
    array([0.625, 0.125, 0.125, 0.125])
    >>> float(np.exp(Crowds(4, 0.5).epsilon).round(6)), Crowds(4, 0.5).estimation_error
    (5.0, 0.375)

    D. Rebollo-Monedero et al., "On the measurement of privacy as an attacker's estimation error", 2012, section VI-B,
    equation (10); M. K. Reiter and A. D. Rubin, "Crowds: anonymity for web transactions", 1998.
    """

    n: int
    submit: float

    def __post_init__(self) -> None:
        if self.n < 1:
            raise UnmaskError(f"the crowd has {self.n} users, expected at least 1")
        if not 0.0 < self.submit <= 1.0:
            raise UnmaskError(f"submit is {self.submit}, expected a probability above 0: at 0 no message arrives")

    def channel(self, prior: Floats | None = None) -> Channel:
        """Author -> last holder; `prior` (n,) is each user's share of the messages, equal when None."""
        table = np.full((self.n, self.n), (1.0 - self.submit) / self.n)
        table[np.diag_indices(self.n)] += self.submit
        return Channel(table, prior)

    @property
    def epsilon(self) -> float:
        """The largest log-ratio of two rows, ln(1 + p n / (1 - p)), in nats; infinite at p = 1, 0 for one user.

        It grows with n while the estimation error grows too: the two measures rank crowd sizes in opposite orders.
        """
        if self.n == 1:
            return 0.0
        return float("inf") if self.submit == 1.0 else float(np.log1p(self.submit * self.n / (1.0 - self.submit)))

    @property
    def estimation_error(self) -> float:
        """P = (1 - p)(1 - 1/n), the error of the best guess of the author, under a uniform prior."""
        return (1.0 - self.submit) * (1.0 - 1.0 / self.n)

    @property
    def expected_forwards(self) -> float:
        """(1 - p) / p, the cost of the protection in hops a message."""
        return (1.0 - self.submit) / self.submit

    def simulate(self, messages: int, *, rng: np.random.Generator, prior: Floats | None = None) -> CrowdsMessages:
        """Messages sent through the protocol hop by hop, their authors drawn from the prior; no closed form used."""
        share = self.channel(prior).prior
        author = rng.choice(self.n, size=messages, p=share)
        last, forwards = author.copy(), np.zeros(messages, dtype=np.int64)
        held = np.arange(messages)
        while len(held):
            held = held[rng.random(len(held)) >= self.submit]
            last[held] = rng.integers(self.n, size=len(held))
            forwards[held] += 1
        return CrowdsMessages(author, last, forwards)
