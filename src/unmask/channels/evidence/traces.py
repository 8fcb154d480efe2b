"""Traces of users: their places over time, and what was shown of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unmask.channels._matrices import Floats, Ints
from unmask.channels.evidence.forms import COLUMNS
from unmask.core.errors import UnmaskError
from unmask.data.event_logs import Lines, Log, parse_log

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
