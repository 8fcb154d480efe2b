"""Co-location graphs from traces of users, places and times."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.data.event_logs import is_number, parse_log, read_lines
from unmask.graphs.graph import SocialGraph


def co_location(user: ArrayLike, place: ArrayLike, time: ArrayLike, *, within: float, times: int = 1) -> SocialGraph:
    """Return the co-location graph: an edge between two users who met at least `times` times.

    An encounter is a pair of records of different users at the same place whose times differ by at most `within`.
    Consecutive encounters of two users at a place form one meeting if each follows the last by at most `within`. The
    time of an encounter is that of its later record. A duplicated record or a busy hour therefore counts once.

    user, place : (n,) ids, integers or texts
    time        : (n,) numbers, in the unit of `within`
    within      : at least 0; 0 means equal times
    times       : at least 1

    Each user is a node, also without a meeting. Labels are the ids of the users, ascending. Time is proportional to the
    number of encounters, after sorting.

    >>> graph = co_location(["ann", "bob", "cid"], [7, 7, 7], [0, 50, 120], within=60)
    >>> graph, graph.labels, graph.neighbors(0)
    (SocialGraph(3 nodes, 1 edges), array(['ann', 'bob', 'cid'], dtype=object), array([1], dtype=int32))

    M. Srivatsa, M. Hicks, "Deanonymizing mobility traces: using social networks as a side-channel", CCS 2012 (contact
    graphs); D. Crandall et al., "Inferring social ties from geographic coincidences", PNAS 107, 2010.
    """
    if not within >= 0 or times < 1:
        raise UnmaskError(f"within is {within} and times {times}, expected at least 0 and at least 1")
    labels, person = _codes(user, "user")
    _, site = _codes(place, "place")
    moment = _times(time)
    if not len(person) == len(site) == len(moment):
        raise UnmaskError(
            f"there are {len(person)} users, {len(site)} places and {len(moment)} times, expected equal numbers"
        )
    order = np.lexsort((moment, site))
    person, site, moment = person[order], site[order], moment[order]
    earlier, later = _encounters(person, site, moment, within)
    low, high = np.minimum(person[earlier], person[later]), np.maximum(person[earlier], person[later])
    two = low * len(labels) + high
    order = np.lexsort((later, two))  # records are sorted by place and time
    two, later = two[order], later[order]
    is_same = (two[1:] == two[:-1]) & (site[later[1:]] == site[later[:-1]])
    first = np.ones(len(two), dtype=np.bool_)
    first[1:] = ~(is_same & (moment[later[1:]] - moment[later[:-1]] <= within))
    pair, meetings = np.unique(two[first], return_counts=True)
    pair = pair[meetings >= times]
    return SocialGraph.from_edges(pair // max(1, len(labels)), pair % max(1, len(labels)), labels=labels)


UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
"""Units of a time difference between dates, in seconds."""


def read_co_location(path: Path, *, within: str, times: int = 1) -> SocialGraph:
    """Return the co-location graph of a log with columns user, time and place.

    Parameters
    ----------
    path : path
        The log; times are numbers or ISO dates.
    within : str
        Longest time between records of one encounter: a number in the unit of `time`, or for dates a number with one of
        the units s, min, h and d.
    times : int
        Smallest number of meetings for an edge.

    Raises
    ------
    UnmaskError
        If a column or a cell is missing, if `within` has no unit and times are dates, or if it has one and times are
        numbers.
    """
    log = parse_log(path, read_lines(path), ("user", "time", "place"))
    has_dates, match = not is_number(log.columns["time"][0]), re.fullmatch(r"([\d.]+)(s|min|h|d)?", within)
    if match is None or not is_number(match[1]) or has_dates != (match[2] is not None):
        expected = "a number with a unit, such as 3600s, 60min or 1h" if has_dates else "a number in the unit of time"
        raise UnmaskError(
            f"`within` is {within!r} and the times of {path.name} are {_kind(has_dates)}; give {expected}"
        )
    longest = float(match[1]) * UNITS.get(match[2] or "", 1.0)
    return co_location(log.columns["user"], log.columns["place"], log.times("time"), within=longest, times=times)


def _kind(has_dates: bool) -> str:
    return "dates" if has_dates else "numbers"


def _encounters(person: Integers, site: Integers, moment: Floats, max_gap: float) -> tuple[Integers, Integers]:
    """Return pairs i < j of records of different users at one place within `max_gap`; records are sorted by place and
    time.

    Step k compares each record with the k-th next one. A record without a near k-th record has no near later one.
    """
    encounters: list[tuple[Integers, Integers]] = [(np.zeros(0, dtype=np.int64),) * 2]
    rows, step = np.arange(len(person)), 0
    while len(rows):
        step += 1
        rows = rows[rows + step < len(person)]
        rows = rows[(site[rows + step] == site[rows]) & (moment[rows + step] - moment[rows] <= max_gap)]
        met = rows[person[rows] != person[rows + step]]
        encounters.append((met, met + step))
    return np.concatenate([earlier for earlier, _ in encounters]), np.concatenate([later for _, later in encounters])


def _codes(ids: ArrayLike, name: str) -> tuple[NDArray[Any], Integers]:
    """Return the distinct ids, ascending, and the index of each id among them."""
    array = np.asarray(ids)
    if array.ndim != 1 or (array.dtype.kind == "f" and len(array)):
        raise UnmaskError(f"{name} is not a list of ids, expected integers or texts without missing values")
    try:
        labels, code = np.unique(array, return_inverse=True)
    except TypeError:
        raise UnmaskError(f"{name} mixes types or has missing values, expected only integers or only texts") from None
    return labels.astype(object) if labels.dtype.kind in "UT" else labels, code.astype(np.int64)


def _times(time: ArrayLike) -> Floats:
    try:
        array = np.asarray(time)
        when = array.astype(np.float64)
    except (TypeError, ValueError):
        raise UnmaskError("time is not a list of numbers; give seconds, for example") from None
    if array.dtype.kind in "mM" and np.isnat(array).any():
        raise UnmaskError("time has missing values (NaT), expected a time for each record; remove such records")
    if when.ndim != 1 or not np.isfinite(when).all():
        raise UnmaskError("time is not a list of finite numbers, expected one for each record")
    return when
