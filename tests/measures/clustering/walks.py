"""Random walks from a partition, and partitions with exchanged items."""

from __future__ import annotations

from copy import copy
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from unmask.core.partition import Partition, View, align


def _number_clusters(labels: NDArray[Any], items: NDArray[Any] | None) -> Partition:
    """Return the partition with its clusters named 0, 1, 2, ... instead of by the labels."""
    partition = Partition(labels, items)
    object.__setattr__(partition, "names", np.arange(partition.n_clusters))
    return partition


def random_walk(partition: Partition, steps: int, *, rng: np.random.Generator) -> Partition:
    """Return the partition after moving `steps` items, one after the other, each to a cluster drawn at random.

    A step lifts an item out, all equally likely, and puts it into one of the k clusters that remain or into a new one,
    each with probability 1 / (k + 1). The way back is as likely as the way there, so that a long walk ends at a
    uniformly random partition. A step may put the item back. Clusters have the names 0, 1, 2, ...; ids are kept.
    """
    n, code, sizes = len(partition), partition.code.tolist(), partition.sizes.tolist()
    nonempty = list(range(len(sizes)))
    place = list(range(len(sizes)))  # of each cluster in that list
    for item, chance in zip(rng.integers(0, n, steps).tolist(), rng.random(steps).tolist(), strict=True):
        home = code[item]
        sizes[home] -= 1
        if not sizes[home]:
            last = nonempty.pop()
            if last != home:
                nonempty[place[home]], place[last] = last, place[home]
        goal = int(chance * (len(nonempty) + 1))
        if goal == len(nonempty):
            place.append(goal)
            nonempty.append(len(sizes))
            sizes.append(0)
        code[item] = nonempty[goal]
        sizes[nonempty[goal]] += 1
    return _number_clusters(np.array(code), partition.items)


@overload
def shuffled(adversary: Partition, *, rng: np.random.Generator) -> Partition: ...
@overload
def shuffled(adversary: View, *, rng: np.random.Generator) -> View: ...
def shuffled(adversary: Partition | View, *, rng: np.random.Generator) -> Partition | View:
    """Return the partition with its items exchanged at random: as many clusters, of the same sizes and names.

    All partitions of a view have their items exchanged in the same way, so that they agree with each other as before.
    """
    if isinstance(adversary, Partition):
        return _exchange(adversary, rng.permutation(len(adversary)))
    first, *further = adversary.partitions
    order = rng.permutation(len(first))
    aligned = [align(first, partition)[1] for partition in (first, *further)]
    return View([_exchange(partition, order) for partition in aligned], adversary.probability)


def _exchange(partition: Partition, order: NDArray[np.int64]) -> Partition:
    """Give the cluster of item order[i] to item i; sizes, names and ids stay."""
    exchanged = copy(partition)
    object.__setattr__(exchanged, "code", partition.code[order])
    return exchanged
