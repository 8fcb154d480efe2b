"""Which items belong together: a partition, and the adversary's view as a probability-weighted list of partitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import UnmaskError

Missing = Literal["error", "singleton"]

MASS_TOLERANCE = 1e-9
"""How far the probabilities of a view may be from sum 1."""


class Alone(NamedTuple):
    """The label of a cluster that an item forms by itself because only the other partition has it."""

    item: Any


@dataclass(frozen=True, eq=False)
class Partition:
    """Items divided into clusters without overlap, as one label for each item.

    labels : (n,) of any type: items with equal labels are together. NaN, None and an empty list are refused.
    items  : (n,) ids of the items, each once; when left out, items are known by their position

    code  : (n,) int32, the cluster of each item, 0..n_clusters - 1
    names : (n_clusters,) the label of each cluster, ascending

    >>> truth = Partition(["ann", "bob", "ann"])
    >>> truth.code, truth.names.tolist(), truth.sizes
    (array([0, 1, 0], dtype=int32), ['ann', 'bob'], array([2, 1]))
    """

    code: NDArray[np.int32]
    names: NDArray[Any]
    items: NDArray[Any] | None

    def __init__(self, labels: ArrayLike, items: ArrayLike | None = None) -> None:
        code, names = _factorized(_flat(labels, "labels"), "label")
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "names", names)
        ids = None if items is None else _flat(items, "item ids")
        if ids is not None:
            if len(ids) != len(code):
                raise UnmaskError(f"there are {len(ids)} item ids for {len(code)} labels, expected one for each")
            if len(_factorized(ids, "item id")[1]) != len(ids):
                raise UnmaskError("an item id occurs twice, expected every item in exactly one cluster")
        object.__setattr__(self, "items", ids)

    @classmethod
    def of_clusters(cls, clusters: Iterable[Iterable[Any]]) -> Partition:
        """The partition whose clusters are these sets of item ids.

        >>> Partition.of_clusters([["a", "c"], ["b"]]).code
        array([0, 0, 1], dtype=int32)
        """
        listed = [list(cluster) for cluster in clusters]
        items = [item for cluster in listed for item in cluster]
        return cls(np.repeat(np.arange(len(listed)), [len(cluster) for cluster in listed]), _as_array(items))

    def __len__(self) -> int:
        return len(self.code)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.names)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(n_clusters,) items in each cluster."""
        return np.bincount(self.code, minlength=self.n_clusters)


@dataclass(frozen=True, eq=False)
class View:
    """Partitions that the adversary holds possible, with their probabilities; a repeated partition counts repeatedly.

    probability : (n_partitions,) above 0, sum 1; equal when left out

    >>> view = View([Partition([0, 0, 1]), Partition([0, 1, 1])], [0.75, 0.25])
    >>> len(view.partitions), view.probability
    (2, array([0.75, 0.25]))
    """

    partitions: tuple[Partition, ...]
    probability: NDArray[np.float64]

    def __init__(self, partitions: Sequence[Partition], probability: ArrayLike | None = None) -> None:
        if not partitions:
            raise UnmaskError("the view has 0 partitions, expected at least 1")
        n = len(partitions)
        p = np.full(n, 1.0 / n) if probability is None else np.asarray(probability, dtype=np.float64)
        if p.shape != (n,):
            raise UnmaskError(f"the view has {p.size} probabilities for {n} partitions, expected one for each")
        if not (np.all(p > 0) and abs(p.sum() - 1) <= MASS_TOLERANCE):
            raise UnmaskError(f"the probabilities of the view sum to {p.sum():.6g}, expected numbers above 0, sum 1")
        object.__setattr__(self, "partitions", tuple(partitions))
        object.__setattr__(self, "probability", p)


def align(solution: Partition, adversary: Partition, *, missing: Missing = "error") -> tuple[Partition, Partition]:
    """Both partitions over the same items in the same order, that of the solution and then the adversary's own items.

    Clusters of one item that only one of them has come last: those of the solution by id, those of the adversary by
    the cluster of the solution that the item is in. So no numbering depends on the order of the rows.

    missing : what an item means that only one of them has: an "error", or a cluster of its own ("singleton")
    Without ids the items are known by their position and must be equally many.
    """
    if missing not in get_args(Missing):
        raise UnmaskError(f"missing is {missing!r}, expected one of {', '.join(get_args(Missing))}")
    if (solution.items is None) != (adversary.items is None):
        raise UnmaskError("one partition has item ids and the other has none; give ids to both, or to neither")
    if solution.items is None or adversary.items is None:
        if len(solution) != len(adversary):
            raise UnmaskError(
                f"the solution has {len(solution)} items and the adversary {len(adversary)}, expected as many; "
                "give item ids if they are different items"
            )
        return solution, adversary
    if len(solution) == len(adversary) and np.array_equal(solution.items, adversary.items):
        return solution, adversary
    both = np.concatenate([solution.items, adversary.items])
    code, _ = _factorized(both, "item id")
    ours, theirs = code[: len(solution)], code[len(solution) :]
    place = np.full(int(code.max()) + 1, -1)
    place[ours] = np.arange(len(ours))
    extra = np.flatnonzero(place[theirs] < 0)
    lacking = len(ours) + len(extra) - len(theirs)
    if missing == "error" and (len(extra) or lacking):
        raise UnmaskError(
            f"{lacking} items of the solution are not in the adversary's partition and {len(extra)} of his are not in "
            'the solution, expected the same items; missing="singleton" makes each a cluster of its own'
        )
    extra = extra[np.argsort(theirs[extra])]
    place[theirs[extra]] = len(ours) + np.arange(len(extra))
    items = np.concatenate([solution.items, adversary.items[extra]])
    grown = _with_singletons(solution, np.arange(len(ours)), items, by=np.arange(len(items)))
    return grown, _with_singletons(adversary, place[theirs], items, by=grown.code)


def align_view(solution: Partition, view: View, *, missing: Missing = "error") -> tuple[Partition, View]:
    """The solution and every partition of a view over the same items in the same order, see `align`."""
    for guess in view.partitions:  # the solution grows by items that only one of them has; then all are brought in line
        solution, _ = align(solution, guess, missing=missing)
    aligned = [align(solution, guess, missing=missing)[1] for guess in view.partitions]
    return solution, View(aligned, view.probability)


def _with_singletons(
    partition: Partition, place: NDArray[np.int64], items: NDArray[Any], *, by: NDArray[Any]
) -> Partition:
    """The partition over these items, those at `place` its own, in order; all others are alone, ascending in `by`."""
    labels = np.full(len(items), -1)
    labels[place] = partition.code
    alone = np.flatnonzero(labels < 0)
    alone = alone[np.argsort(by[alone], kind="stable")]
    labels[alone] = partition.n_clusters + np.arange(len(alone))
    moved = Partition.__new__(Partition)
    object.__setattr__(moved, "code", labels.astype(np.int32))
    own = _as_objects(partition.names)
    singles = np.empty(len(alone), dtype=object)
    singles[:] = [Alone(item) for item in items[alone].tolist()]
    object.__setattr__(moved, "names", np.concatenate([own, singles]))
    object.__setattr__(moved, "items", items)
    return moved


def _as_objects(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(object)


def _as_array(values: list[Any]) -> NDArray[Any]:
    """Ids as an array; mixed types stay what they are."""
    kinds = {type(value) for value in values}
    if len(kinds) <= 1:
        return np.asarray(values)
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _flat(values: ArrayLike, what: str) -> NDArray[Any]:
    array = np.asarray(values) if not isinstance(values, list) else _as_array(values)
    if array.ndim != 1 or not len(array):
        raise UnmaskError(f"the {what} have shape {array.shape}, expected a list of at least 1")
    return array


def _factorized(values: NDArray[Any], what: str) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Codes 0..k - 1 and the k distinct values, ascending."""
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if high - low <= 4 * len(values) + 1024 and high < 2**63:
            shifted = values.astype(np.int64) - low
            present = np.bincount(shifted) > 0
            names = np.flatnonzero(present)
            return (np.cumsum(present, dtype=np.int32) - 1)[shifted], (names + low).astype(values.dtype)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise UnmaskError(f"a {what} is NaN, expected a value for every item")
    if values.dtype.kind == "O":
        return _factorized_objects(values, what)
    names, code = np.unique(values, return_inverse=True)
    return code.astype(np.int32), names


def _factorized_objects(values: NDArray[Any], what: str) -> tuple[NDArray[np.int32], NDArray[Any]]:
    seen: dict[Any, int] = {}
    try:
        code = np.fromiter((seen.setdefault(value, len(seen)) for value in values), dtype=np.int64, count=len(values))
    except TypeError:
        raise UnmaskError(f"a {what} is a list or the like, expected texts or numbers") from None
    if any(value is None or value != value for value in seen):  # NaN differs from itself
        raise UnmaskError(f"a {what} is missing, expected a value for every item")
    names = np.empty(len(seen), dtype=object)
    names[:] = list(seen)
    order = np.array(sorted(range(len(seen)), key=lambda i: (str(type(names[i])), str(names[i]))))
    rank = np.empty(len(seen), dtype=np.int32)
    rank[order] = np.arange(len(seen))
    return rank[code], names[order]
