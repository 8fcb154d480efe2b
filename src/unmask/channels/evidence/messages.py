"""Messages of a mix: who sent and received each one, when it entered and when it left."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unmask.channels._matrices import Floats, Ints
from unmask.channels.evidence.forms import COLUMNS
from unmask.core.errors import UnmaskError
from unmask.data.event_logs import Lines, is_number, parse_log


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
