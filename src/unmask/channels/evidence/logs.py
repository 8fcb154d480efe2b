"""Logs of events: rounds and messages of a mix, and traces of users."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unmask.channels._matrices import Floats, Ints
from unmask.channels.attacks.disclosure import Round, Rounds
from unmask.channels.evidence.forms import COLUMNS
from unmask.core.errors import UnmaskError
from unmask.data.event_logs import Lines, Log, is_number, parse_log

MAX_COUNTS = 50_000_000
"""Rounds times senders, or receivers, of a table of counts: 400 MB."""


@dataclass(frozen=True, eq=False)
class RoundLog:
    """Messages of the rounds of a mix.

    Parameters
    ----------
    round, sender, receiver : (n_messages,) array
        Round, sender and receiver of each message, numbered from 0. The pairing of sender and receiver is the truth;
        adversaries see the counts of each round only.
    senders, receivers : tuple of str
        Names of the users.

    Examples
    --------
    >>> log = RoundLog(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1, 0, 1]), ("a", "b"), ("x", "y"))
    >>> log.counts(0, 2).sent
    array([[1., 1.],
           [0., 1.]])
    """

    round: Ints
    sender: Ints
    receiver: Ints
    senders: tuple[str, ...]
    receivers: tuple[str, ...]

    @property
    def n_rounds(self) -> int:
        """Return the number of rounds."""
        return int(self.round.max()) + 1

    def counts(self, start: int, stop: int) -> Rounds:
        """Return how many messages each user sent and received in the rounds from `start` to before `stop`."""
        inside = (self.round >= start) & (self.round < stop)
        number = self.round[inside] - start
        sent, received = np.zeros((stop - start, len(self.senders))), np.zeros((stop - start, len(self.receivers)))
        np.add.at(sent, (number, self.sender[inside]), 1.0)
        np.add.at(received, (number, self.receiver[inside]), 1.0)
        return Rounds(sent, received)

    def observe(self, number: int) -> tuple[Round, Ints]:
        """Return the senders and receivers of a round, each sorted, and the true receiver of each sender's message."""
        inside = np.flatnonzero(self.round == number)
        inside = inside[np.argsort(self.sender[inside], kind="stable")]
        receiver = self.receiver[inside]
        return Round(self.sender[inside], np.sort(receiver)), receiver

    def shares(self) -> Floats:
        """Return the (n_senders, n_receivers) true shares of each sender's messages."""
        table = np.zeros((len(self.senders), len(self.receivers)))
        np.add.at(table, (self.sender, self.receiver), 1.0)
        return np.asarray(table / table.sum(axis=1, keepdims=True), dtype=np.float64)


def read_rounds(path: Path, lines: Lines) -> RoundLog:
    """Return the messages of a log with columns round, sender and receiver, one line for each message.

    Rounds are ordered by number or date, or else by their first line.

    Raises
    ------
    UnmaskError
        If a column or a cell is missing, or the table of rounds and users is too large.
    """
    log = parse_log(path, lines, COLUMNS["rounds"])
    texts = log.columns["round"]
    if is_number(texts[0]) or texts[0][:4].isdecimal():
        number = np.unique(log.times("round"), return_inverse=True)[1].astype(np.int64)
    else:
        place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        number = np.array([place[text] for text in texts])
    (senders, sender), (receivers, receiver) = log.codes("sender"), log.codes("receiver")
    if (int(number.max()) + 1) * max(len(senders), len(receivers)) > MAX_COUNTS:
        raise UnmaskError(
            f"{path.name} has {number.max() + 1:,} rounds of {len(senders):,} senders and {len(receivers):,} "
            "receivers, too many for one table; keep fewer rounds or users"
        )
    return RoundLog(number, sender, receiver, senders, receivers)


@dataclass(frozen=True, eq=False)
class MessageLog:
    """Messages that entered and left a mix.

    Parameters
    ----------
    sender, receiver : (n_messages,) array
        Users of each message, numbered from 0.
    entered, left : (n_messages,) array
        Times. The pairing of `entered` and `left` is the truth; adversaries see both lists apart.
    senders, receivers : tuple of str
        Names of the users.

    Examples
    --------
    >>> times = np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 6.0])
    >>> log = MessageLog(np.array([0, 1, 0]), np.array([0, 0, 1]), *times, ("a", "b"), ("x", "y"))
    >>> round(log.mean_delay, 2), log.batches()
    (1.67, [(0, 2), (2, 3)])
    """

    sender: Ints
    receiver: Ints
    entered: Floats
    left: Floats
    senders: tuple[str, ...]
    receivers: tuple[str, ...]

    @property
    def mean_delay(self) -> float:
        """Return the mean delay, which needs no pairing: the mean time of leaving minus that of entering."""
        return float(self.left.mean() - self.entered.mean())

    def batches(self) -> list[tuple[int, int]]:
        """Return the first and the last position, plus one, of messages that cannot cross others.

        Positions are in the order of time. After k messages entered and k left, and before the next one enters, the
        k that left are the k that entered, whatever the delays.
        """
        entered, left = np.sort(self.entered), np.sort(self.left)
        cuts = [0, *(np.flatnonzero(entered[1:] > left[:-1]) + 1).tolist(), len(entered)]
        return list(pairwise(cuts))


class Delay(NamedTuple):
    """The law of the delay of a message that an adversary knows.

    Parameters
    ----------
    kind : {"exponential", "fixed"}
        Exponential delays, or any delay up to a maximum.
    value : float
        The mean of exponential delays, or the maximum.
    """

    kind: str
    value: float

    @classmethod
    def parse(cls, text: str) -> Delay:
        """Return the delay of a text exponential:MEAN or fixed:MAX.

        >>> Delay.parse("exponential:2.5")
        Delay(kind='exponential', value=2.5)
        """
        kind, _, value = text.partition(":")
        if kind not in ("exponential", "fixed") or not is_number(value) or not 0 < float(value) < np.inf:
            raise UnmaskError(f"the delay is {text!r}, expected exponential:MEAN or fixed:MAX with a number above 0")
        return cls(kind, float(value))

    def weights(self, entered: Floats, left: Floats) -> Floats:
        """Return the (n, n) weight of each message that entered as each one that left; the scale does not matter.

        Exponential delays have no memory. The product of the weights exp(-delay / mean) is the same for every possible
        matching. A weight of 1 for each possible pair therefore gives the same probabilities.
        """
        delay = left[None, :] - entered[:, None]
        is_possible = delay >= 0 if self.kind == "exponential" else (delay >= 0) & (delay <= self.value)
        return is_possible.astype(np.float64)


def read_messages(path: Path, lines: Lines) -> MessageLog:
    """Return the messages of a log with columns sender, receiver, entered and left, one line for each message.

    Raises
    ------
    UnmaskError
        If a column or a cell is missing, or a message leaves before it enters.
    """
    log = parse_log(path, lines, COLUMNS["messages"])
    entered, left = log.times("entered"), log.times("left")
    if (left < entered).any():
        number = log.numbers[int(np.argmax(left < entered))]
        raise UnmaskError(f"the message of line {number} of {path.name} leaves before it enters; check the two times")
    (senders, sender), (receivers, receiver) = log.codes("sender"), log.codes("receiver")
    return MessageLog(sender, receiver, entered, left, senders, receivers)


MAX_CELLS = 50_000_000
"""Users times steps of the longest trace: 400 MB."""

UNSEEN = -1
"""Number of a step without an observation, and of steps after the end of a trace."""


@dataclass(frozen=True, eq=False)
class TraceLog:
    """Places of users step by step, and what was shown at each step.

    Parameters
    ----------
    place : (n_users, n_steps) array
        Number of the place, -1 after the end of a shorter trace.
    shown : (n_users, n_steps) array, optional
        Number of the output, -1 if nothing was shown; None if nothing is known about outputs.
    places, outputs : tuple of str
        Names of places and outputs.

    Examples
    --------
    >>> TraceLog(np.array([[0, 1], [1, -1]]), None, ("home", "work"), ()).length
    array([2, 1])
    """

    place: Ints
    shown: Ints | None
    places: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def length(self) -> Ints:
        """Return the (n_users,) numbers of steps."""
        return np.asarray((self.place >= 0).sum(axis=1))

    @property
    def prior(self) -> Floats:
        """Return the (n_places,) shares of the places over all steps, with a pseudocount of 1 / places."""
        counts = np.bincount(self.place[self.place >= 0], minlength=len(self.places)) + 1 / len(self.places)
        return np.asarray(counts / counts.sum(), dtype=np.float64)


def read_traces(path: Path, lines: Lines) -> TraceLog:
    """Return the traces of a log with columns user, time, place and perhaps shown.

    Steps of a user are ordered by time, a number or an ISO date. An empty cell of `shown` is a step without an
    observation.

    Raises
    ------
    UnmaskError
        If a column or a cell is missing, a user has two lines of the same time, or the table of users and steps is too
        large.
    """
    log = parse_log(path, lines, COLUMNS["traces"], ("shown",))
    users, user = log.codes("user")
    time = log.times("time")
    order = np.lexsort((time, user))
    _check_times(log, user, time, order)
    length = np.bincount(user)
    step = np.empty(len(user), dtype=np.int64)
    step[order] = np.arange(len(user)) - np.repeat(np.cumsum(length) - length, length)
    if len(users) * int(length.max()) > MAX_CELLS:
        raise UnmaskError(
            f"{path.name} has {len(users):,} users and up to {length.max():,} steps, together more than {MAX_CELLS:,}; "
            "cut long traces into several users"
        )
    table = np.full((len(users), int(length.max())), UNSEEN, dtype=np.int64)
    places, place = log.codes("place")
    table[user, step] = place
    shown_names = sorted({name for name in log.columns.get("shown", ()) if name})
    if not shown_names:
        return TraceLog(table, None, places, ())
    outputs = places if set(shown_names) <= set(places) else tuple(shown_names)
    number = {name: i for i, name in enumerate(outputs)} | {"": UNSEEN}
    shown = np.full_like(table, UNSEEN)
    shown[user, step] = [number[name] for name in log.columns["shown"]]
    return TraceLog(table, shown, places, outputs)


def _check_times(log: Log, user: Ints, time: Floats, order: Ints) -> None:
    is_duplicate = (np.diff(user[order]) == 0) & (np.diff(time[order]) == 0)
    if is_duplicate.any():
        number = log.numbers[max(order[np.argmax(is_duplicate)], order[np.argmax(is_duplicate) + 1])]
        raise UnmaskError(
            f"line {number} of {log.path.name} has the user and the time of another line; give one place for each "
            "user and time"
        )
