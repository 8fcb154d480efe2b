"""From the ids of edges to node numbers: spellings of one id, missing ids, and edges of weight 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import AmbiguousInput
from unmask.data import MISSING
from unmask.graphs.end_columns import unify_ids


@dataclass(frozen=True, eq=False)
class LinkList:
    """LinkList u[i] - v[i] between nodes 0 to n_nodes - 1; `labels` (n_nodes,) are their ids, or None.

    attributes : names of what the source has of links and nodes besides, "direction" first where it has one
    account    : the lines of a file, which of them are ignored and why, in words
    """

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    labels: NDArray[Any] | None
    n_nodes: int
    attributes: tuple[str, ...] = ()
    account: str = ""


def number_ids(
    arrays: dict[str, NDArray[Any]], file: str, *, ids: str | None, missing_ids: str | None, may_count: bool = False
) -> LinkList:
    """Return the edges between people, numbered by ascending id, and count what is no edge.

    arrays    : ids u and v, or their places in `labels`; `weight` of each row
    may_count : whether the first row may be numbers of nodes and edges
    """
    u, v, labels, notes = _unify(arrays, file, ids)
    missing = _missing(labels, missing_ids)
    gap = missing[u] | missing[v]
    if gap.any() and missing_ids is None:
        raise AmbiguousInput(
            f"{np.count_nonzero(gap):,} of {len(u):,} edges in {file!r} have a missing end, such as NA or -1",
            ["--missing-ids drop", "--missing-ids isolated", "--missing-ids keep"],
        )
    if may_count:
        _refuse_counts(u, v, labels, file)
    weight = arrays["weight"]
    zero = (weight == 0) & ~gap
    present = np.zeros(len(labels), dtype=np.bool_)
    ends = np.concatenate((u, v)) if missing_ids == "isolated" else np.concatenate((u[~gap], v[~gap]))
    present[ends] = True
    present &= ~missing
    rank, kept = np.cumsum(present) - 1, ~gap & ~zero
    counted = {"with a missing end": gap, "of negative weight (caution)": weight < 0}
    notes += [f"{np.count_nonzero(rows):,} {reason}" for reason, rows in counted.items() if rows.any()]
    notes += filter(None, [say_zeros(int(zero.sum()))])
    labels = labels[present]
    return LinkList(rank[u[kept]], rank[v[kept]], labels, len(labels), account="; ".join(notes))


def is_zero(weight: object) -> bool:
    """Return whether the weight of an edge is 0, so that it is no edge.

    >>> is_zero("0.0"), is_zero(None), is_zero("strong")
    (True, False, False)
    """
    try:
        return weight is not None and float(weight) == 0  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def say_zeros(n_zero: int) -> str:
    """Return how many edges of weight 0 a file has, for its account."""
    return f"{n_zero:,} of weight 0 (no edges)" if n_zero else ""


def number_labels(ids: Sequence[str]) -> NDArray[Any]:
    """Return distinct ids in ascending order: as whole numbers, where all of them are, else as texts.

    >>> number_labels(["10", "9"]), number_labels(["10", "09"])
    (array([ 9, 10]), array(['09', '10'], dtype=object))
    """
    whole = all(len(name) < 19 and name.removeprefix("-").isdecimal() and str(int(name)) == name for name in ids)
    return np.array(sorted(map(int, ids))) if whole else np.array(sorted(ids), dtype=object)


def _unify(
    arrays: dict[str, NDArray[Any]], file: str, ids: str | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any], list[str]]:
    """Return the ends as places in distinct ids, ascending, and notes on spellings that were made one."""
    if "labels" not in arrays:
        return *_rank(np.asarray(arrays["u"]), np.asarray(arrays["v"])), []
    texts = arrays["labels"].tolist()
    names = texts if ids == "text" else unify_ids(texts)
    stripped = [name.lstrip("0") or "0" if name.isdecimal() else name for name in names]
    if ids == "number":
        names = stripped
    elif ids is None and len({*stripped}) < len({*names}):
        raise AmbiguousInput(f"ids in {file!r} such as 07 and 7 may be one", ["--ids text", "--ids number"])
    labels = number_labels([*{*names}])
    place = {str(name): at for at, name in enumerate(labels.tolist())}
    codes = np.array([place[name] for name in names])
    folded = len(labels) - len({str(name).casefold() for name in labels.tolist()})
    notes = [f"{len(texts) - len(labels):,} ids have two spellings, such as 12.0 and 12"] * (len(labels) < len(texts))
    notes += [f"{folded:,} ids differ from others in capitals only (caution)"] * bool(folded)
    return codes[arrays["u"]], codes[arrays["v"]], labels, notes


def _rank(u: NDArray[np.int64], v: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return whole numbers by rank; where they lie close together, by a table instead of a sort."""
    low, high = int(min(u.min(), v.min())), int(max(u.max(), v.max()))
    if high - low < 4 * len(u) + 1024:
        present = np.zeros(high - low + 1, dtype=np.bool_)
        present[u - low] = True
        present[v - low] = True
        rank = np.cumsum(present) - 1
        return rank[u - low], rank[v - low], np.flatnonzero(present) + low
    labels, ends = np.unique(np.concatenate((u, v)), return_inverse=True)
    return ends[: len(u)], ends[len(u) :], labels


def _missing(labels: NDArray[Any], missing_ids: str | None) -> NDArray[np.bool_]:
    """Return which ids are words for a missing one, or -1 among numbers from 0."""
    if missing_ids == "keep":
        return np.zeros(len(labels), dtype=np.bool_)
    if labels.dtype != object:
        return np.asarray((labels == -1) & (labels.min() == -1))
    return np.array([name.lower() in MISSING for name in labels.tolist()], dtype=np.bool_)


def _refuse_counts(u: NDArray[np.int64], v: NDArray[np.int64], labels: NDArray[Any], file: str) -> None:
    """Raise `AmbiguousInput` if the first row may be the numbers of nodes and edges."""
    if labels.dtype == object or len(u) < 4 or labels[u[0]] < labels[max(u[1:].max(), v[1:].max())]:
        return
    n, m = labels[u[0]], labels[v[0]]
    if n < len(np.union1d(u[1:], v[1:])):
        return
    low, high = np.minimum(u[1:], v[1:]), np.maximum(u[1:], v[1:])
    n_edges = len(np.unique((low * len(labels) + high)[low != high]))
    if m in (len(u) - 1, n_edges):
        raise AmbiguousInput(f"the first row of {file!r} may count nodes and edges", ["--skip-lines 1", "--no-header"])
