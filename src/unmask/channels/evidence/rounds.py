"""Rounds of a mix: who sent and who received a message in each round."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unmask.channels._matrices import Floats, Ints
from unmask.channels.attacks.disclosure import Round, Rounds
from unmask.channels.evidence.forms import COLUMNS
from unmask.core.errors import UnmaskError
from unmask.data.event_logs import Lines, is_number, parse_log

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
