"""Partitions of items, and views: lists of partitions with the adversary's probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.tolerances import VIEW_MASS_TOLERANCE

Missing = Literal["error", "singleton", "drop"]
"""Treatment of an item of the solution that the adversary's partition lacks: an error; a singleton (the adversary
linked it to no other item); or dropped from both partitions.
"""

Unlabeled = Literal["error", "foreign", "unknown", "drop"]
"""Treatment of an item of the adversary's partition that the solution lacks: an error; foreign (it belongs to no
subject, because the solution has all items of its subjects); unknown (it may belong to a subject or to another
person); or dropped from both partitions."""

MISSING_CHOICES: Final = "singleton (a cluster of its own) or drop (left out of the truth and of every guess)"
UNLABELED_CHOICES: Final = (
    "foreign (the truth has every item of its subjects, so these belong to other people), unknown (they may belong to "
    "its subjects or to other people: bounds) or drop (left out)"
)


class Alone(NamedTuple):
    """Label of a singleton cluster, for an item that only the other partition has."""

    item: Any


@dataclass(frozen=True, eq=False)
class Partition:
    """Disjoint clusters of items, given by one label for each item.

    labels : (n,) of any type; items with equal labels form a cluster. NaN, None and empty lists are rejected.
    items  : (n,) distinct ids of the items; None: items are identified by position

    code  : (n,) int32, cluster of each item, 0..n_clusters - 1
    names : (n_clusters,) label of each cluster, ascending

    >>> truth = Partition(["ann", "bob", "ann"])
    >>> truth.code, truth.names.tolist(), truth.sizes
    (array([0, 1, 0], dtype=int32), ['ann', 'bob'], array([2, 1]))
    """

    code: NDArray[np.int32]
    names: NDArray[Any]
    items: NDArray[Any] | None

    def __init__(self, labels: ArrayLike, items: ArrayLike | None = None) -> None:
        code, names = _factorize(_as_list(labels, "labels"), "label")
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "names", names)
        ids = None if items is None else _as_list(items, "item ids")
        if ids is not None:
            if len(ids) != len(code):
                raise UnmaskError(f"there are {len(ids)} item ids for {len(code)} labels, expected one for each")
            if int(_number(ids, "item id").max()) + 1 != len(ids):
                raise UnmaskError("an item id occurs twice, expected every item in exactly one cluster")
        object.__setattr__(self, "items", ids)

    def __len__(self) -> int:
        return len(self.code)

    def __repr__(self) -> str:
        return f"Partition({len(self)} items in {self.n_clusters} clusters)"

    def take(self, places: NDArray[Any]) -> Partition:
        """Return the partition of the items at these positions, in this order, without empty clusters.

        >>> Partition(["ann", "bob", "ann"]).take(np.array([True, False, True])).names.tolist()
        ['ann']
        """
        present, code = np.unique(self.code[places], return_inverse=True)
        if not len(code):
            raise UnmaskError("no item is left, expected at least 1 that the truth and the guesses have in common")
        return _assemble(code, self.names[present], None if self.items is None else self.items[places])

    @property
    def n_clusters(self) -> int:
        """Return the number of clusters."""
        return len(self.names)

    @cached_property
    def sizes(self) -> Integers:
        """Return the number of items in each cluster."""
        return np.bincount(self.code, minlength=self.n_clusters)


@dataclass(frozen=True, eq=False)
class View:
    """Partitions that the adversary considers possible, with their probabilities. A partition may be repeated.

    probability : (n_partitions,) positive with sum 1; equal by default

    >>> view = View([Partition([0, 0, 1]), Partition([0, 1, 1])], [0.75, 0.25])
    >>> len(view.partitions), view.probability
    (2, array([0.75, 0.25]))
    """

    partitions: tuple[Partition, ...]
    probability: Floats

    def __init__(self, partitions: Sequence[Partition], probability: ArrayLike | None = None) -> None:
        if not partitions:
            raise UnmaskError("the view has 0 partitions, expected at least 1")
        n = len(partitions)
        p = np.full(n, 1.0 / n) if probability is None else np.asarray(probability, dtype=np.float64)
        if p.shape != (n,):
            raise UnmaskError(f"the view has {p.size} probabilities for {n} partitions, expected one for each")
        if np.any(p == 0):
            raise UnmaskError(
                f"partition {int(np.argmax(p == 0))} of the view has probability 0, expected numbers above 0; remove "
                "impossible partitions"
            )
        if not (np.all(p > 0) and abs(p.sum() - 1) <= VIEW_MASS_TOLERANCE):
            raise UnmaskError(f"the probabilities of the view sum to {p.sum():.6g}, expected numbers above 0, sum 1")
        object.__setattr__(self, "partitions", tuple(partitions))
        object.__setattr__(self, "probability", p)


def align(
    solution: Partition, adversary: Partition, *, missing: Missing = "error", unlabeled: Unlabeled = "error"
) -> tuple[Partition, Partition]:
    """Return both partitions over the same items in the same order.

    The items of the solution come first, in their order. Items that only the adversary has follow.

    Added singletons are the last clusters. The solution sorts them by item id. The adversary's partition sorts them by
    the item's cluster in the solution. Therefore cluster numbers do not depend on the row order.

    missing   : treatment of items of the solution that the adversary lacks, see `Missing`
    unlabeled : treatment of items of the adversary that the solution lacks, see `Unlabeled`; both "foreign" and
                "unknown" make them singletons of the solution, after all subjects
    Without ids, items are matched by position, and both partitions must have the same number of items.
    """
    _check_choice("missing", missing, Missing)
    _check_choice("unlabeled", unlabeled, Unlabeled)
    if (solution.items is None) != (adversary.items is None):
        raise UnmaskError("one partition has item ids and the other has none; give ids to both, or to neither")
    if solution.items is None or adversary.items is None:
        if len(solution) != len(adversary):
            raise UnmaskError(
                f"the solution has {len(solution)} items and the adversary {len(adversary)}, expected equal numbers; "
                "give item ids if they are different items"
            )
        return solution, adversary
    if len(solution) == len(adversary) and np.array_equal(solution.items, adversary.items):
        return solution, adversary
    ours, theirs = _numbers(solution.items, adversary.items)
    is_in_guess, is_in_truth = _occur_in(ours, theirs), _occur_in(theirs, ours)
    check_differences(int(is_in_guess.sum()), int((~is_in_guess).sum()), int((~is_in_truth).sum()), missing, unlabeled)
    if missing == "drop":
        solution, ours = solution.take(is_in_guess), ours[is_in_guess]
    if unlabeled == "drop":
        adversary, theirs = adversary.take(is_in_truth), theirs[is_in_truth]
    assert solution.items is not None and adversary.items is not None  # noqa: PT018  # taking keeps them
    place = np.full(max(int(ours.max()), int(theirs.max())) + 1, -1)
    place[ours] = np.arange(len(ours))
    extra = np.flatnonzero(place[theirs] < 0)
    if len(extra):
        extra = extra[np.argsort(_factorize(adversary.items[extra], "item id")[0])]
    place[theirs[extra]] = len(ours) + np.arange(len(extra))
    items = np.concatenate([solution.items, adversary.items[extra]])
    grown = _with_singletons(solution, np.arange(len(ours)), items, by=np.arange(len(items)))
    return grown, _with_singletons(adversary, place[theirs], items, by=grown.code)


def align_view(
    solution: Partition, view: View, *, missing: Missing = "error", unlabeled: Unlabeled = "error"
) -> tuple[Partition, View]:
    """Return the solution and a view with all partitions over the same items in the same order, see `align`."""
    if missing == "drop":
        solution, (view,) = keep_common_items(solution, [view])
    if len(view.partitions) == 1:
        solution, aligned_one = align(solution, view.partitions[0], missing=missing, unlabeled=unlabeled)
        return solution, View([aligned_one], view.probability)
    for guess in view.partitions:
        align(solution, guess, missing=missing, unlabeled=unlabeled)  # only to raise errors
    for guess in view.partitions:  # first add all unlabeled items to the solution, then align all partitions
        solution, _ = align(solution, guess, missing="singleton", unlabeled=unlabeled)
    aligned = [align(solution, guess, missing="singleton", unlabeled=unlabeled)[1] for guess in view.partitions]
    return solution, View(aligned, view.probability)


def keep_common_items(solution: Partition, views: Sequence[View]) -> tuple[Partition, list[View]]:
    """Drop each item of the solution that any partition of any view lacks.

    This compares several guesses on the same items. Without ids, no item is dropped.

    >>> view = View([Partition(["p", "p"], [1, 3])])
    >>> solution, (left,) = keep_common_items(Partition(["a", "a", "b"], [1, 2, 3]), [view])
    >>> solution.items, left.partitions[0].items
    (array([1, 3]), array([1, 3]))
    """
    partitions = [partition for view in views for partition in view.partitions]
    if solution.items is None or any(partition.items is None for partition in partitions):
        return solution, list(views)
    is_shared = np.all([among(solution.items, partition.items) for partition in partitions], axis=0)
    if is_shared.all():
        return solution, list(views)
    dropped = solution.items[~is_shared]

    def left(partition: Partition) -> Partition:
        assert partition.items is not None
        return partition.take(~among(partition.items, dropped))

    return solution.take(is_shared), [
        View([left(partition) for partition in view.partitions], view.probability) for view in views
    ]


def among(items: NDArray[Any], others: NDArray[Any] | None) -> Booleans:
    """Return (n,) a mask of the items that occur in the others."""
    assert others is not None
    return _occur_in(*_numbers(items, others))


def _numbers(items: NDArray[Any], reference: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return a number for each item and each reference item; equal items have equal numbers, in arbitrary order."""
    number = _number(np.concatenate([items, reference]), "item id")
    return number[: len(items)], number[len(items) :]


def _occur_in(numbers: NDArray[np.int32], reference: NDArray[np.int32]) -> Booleans:
    """Return (n,) a mask of the numbers that occur in the reference."""
    present = np.zeros(max(int(numbers.max(initial=0)), int(reference.max(initial=0))) + 1, dtype=np.bool_)
    present[reference] = True
    return np.asarray(present[numbers])


def check_differences(
    both: int, lacking: int, extra: int, missing: Missing, unlabeled: Unlabeled, *, guess: str = ""
) -> None:
    """Raise for items that only one partition has, unless their treatment is chosen.

    Also raise if the partitions share no item, for example because ids have two notations. guess : message prefix
    """
    if lacking and extra and not both:
        raise UnmaskError(
            f"{guess}none of the {lacking:,} items of the truth is among the {extra:,} of the guess; use the same ids "
            "in both, or name the column of ids in the guess (`item`)"
        )
    if lacking and missing == "error":
        raise UnmaskError(
            f"{guess}{_count_items(lacking, 'truth')} not in the guess; say what they are with missing (`missing`): "
            f"{MISSING_CHOICES}"
        )
    if extra and unlabeled == "error":
        raise UnmaskError(
            f"{guess}{_count_items(extra, 'guess')} not in the truth; say what they are with unlabeled (`unlabeled`): "
            f"{UNLABELED_CHOICES}"
        )


def check_labels(name: str, n: int, *, truth: bool, missing: Missing, unlabeled: Unlabeled) -> None:
    """Raise for items of a file without a label, unless their treatment is chosen."""
    choice, option, choices = (
        (unlabeled, "unlabeled", UNLABELED_CHOICES) if truth else (missing, "missing", MISSING_CHOICES)
    )
    if n and choice == "error":
        raise UnmaskError(
            f"{name}: a label is missing at {'1 item' if n == 1 else f'{n:,} items'}; say what they are with {option} "
            f"(`{option}`): {choices}"
        )


def _count_items(n: int, owner: str) -> str:
    return f"1 item of the {owner} is" if n == 1 else f"{n:,} items of the {owner} are"


def _check_choice(name: str, value: str, choices: Any) -> None:
    if value not in get_args(choices):
        raise UnmaskError(f"{name} is {value!r}, expected one of {', '.join(get_args(choices))}")


def _with_singletons(partition: Partition, place: Integers, items: NDArray[Any], *, by: NDArray[Any]) -> Partition:
    """Return the partition over these items: its items are at `place`, all others are singletons, sorted by `by`."""
    labels = np.full(len(items), -1)
    labels[place] = partition.code
    singletons = np.flatnonzero(labels < 0)
    singletons = singletons[np.argsort(by[singletons], kind="stable")]
    labels[singletons] = partition.n_clusters + np.arange(len(singletons))
    singles = np.empty(len(singletons), dtype=object)
    singles[:] = [Alone(item) for item in items[singletons].tolist()]
    return _assemble(labels, np.concatenate([partition.names.astype(object), singles]), items)


def _assemble(code: NDArray[Any], names: NDArray[Any], items: NDArray[Any] | None) -> Partition:
    """Return a partition from valid parts, without checks."""
    partition = Partition.__new__(Partition)
    for field, value in (("code", code.astype(np.int32)), ("names", names), ("items", items)):
        object.__setattr__(partition, field, value)
    return partition


def _as_array(values: list[Any]) -> NDArray[Any]:
    """Return ids as an array, without conversion of mixed types."""
    kinds = {type(value) for value in values}
    if len(kinds) <= 1:
        return np.asarray(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _as_list(values: ArrayLike, name: str) -> NDArray[Any]:
    array = np.asarray(values) if not isinstance(values, list) else _as_array(values)
    if array.ndim != 1 or not len(array):
        raise UnmaskError(f"the {name} have shape {array.shape}, expected a list of at least 1")
    return array


def _factorize(values: NDArray[Any], name: str) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Return codes 0..k - 1 and the k distinct values, ascending."""
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if high - low <= 4 * len(values) + 1024 and high < 2**63:
            shifted = values.astype(np.int64) - low
            present = np.bincount(shifted) > 0
            names = np.flatnonzero(present)
            return (np.cumsum(present, dtype=np.int32) - 1)[shifted], (names + low).astype(values.dtype)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise UnmaskError(f"a {name} is NaN, expected a value for every item")
    if values.dtype.kind == "O":
        return _factorize_objects(values, name)
    names, code = np.unique(values, return_inverse=True)
    return code.astype(np.int32), names


def _factorize_objects(values: NDArray[Any], name: str) -> tuple[NDArray[np.int32], NDArray[Any]]:
    values_seen = _distinct(values, name)
    texts = set(map(type, values_seen)) == {str}
    ascending = sorted(values_seen) if texts else sorted(values_seen, key=lambda value: (str(type(value)), str(value)))
    names = np.empty(len(ascending), dtype=object)
    names[:] = ascending
    return _places(values, dict(zip(ascending, range(len(ascending)), strict=True))), names


def _number(values: NDArray[Any], name: str) -> NDArray[np.int32]:
    """Return numbers 0..k - 1 of the k distinct values, in arbitrary order: hashing texts is faster than sorting."""
    if values.dtype.kind != "O":
        return _factorize(values, name)[0]
    values_seen = _distinct(values, name)
    return _places(values, dict(zip(values_seen, range(len(values_seen)), strict=True)))


def _distinct(values: NDArray[Any], name: str) -> dict[Any, None]:
    try:
        values_seen = dict.fromkeys(values.tolist())
    except TypeError:
        raise UnmaskError(f"a {name} is a list or a similar object, expected texts or numbers") from None
    if any(value is None or value != value for value in values_seen):  # NaN differs from itself
        raise UnmaskError(f"a {name} is missing, expected a value for every item")
    return values_seen


def _places(values: NDArray[Any], place: dict[Any, int]) -> NDArray[np.int32]:
    return np.fromiter(map(place.__getitem__, values), dtype=np.int32, count=len(values))
