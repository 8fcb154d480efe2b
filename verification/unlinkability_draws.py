"""Partitions drawn at random, and what an adversary gets who knows how large their clusters are and guesses."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition, View, align

Adversary = TypeVar("Adversary", Partition, View)


def _numbered(labels: NDArray[Any], items: NDArray[Any] | None) -> Partition:
    """The partition with its clusters named 0, 1, 2, ... instead of by the labels."""
    partition = Partition(labels, items)
    object.__setattr__(partition, "names", np.arange(partition.n_clusters))
    return partition


def random_walk(partition: Partition, steps: int, *, rng: np.random.Generator) -> Partition:
    """The partition after moving `steps` items, one after the other, each to a cluster drawn at random.

    A step picks an item, all equally likely, lifts it out and puts it into one of the k clusters that remain or into
    a new one, each with probability 1 / (k + 1). The way back is as likely as the way there, so that a long walk ends
    at a uniformly random partition. A step may put the item back. Clusters are named 0, 1, 2, ...; ids are kept.

    >>> start = Partition([0, 0, 0, 0, 0, 0])
    >>> random_walk(start, 3, rng=np.random.default_rng(1)).code
    array([0, 0, 0, 1, 0, 0], dtype=int32)
    """
    if steps < 0:
        raise UnmaskError(f"a walk of {steps} steps is asked for, expected 0 or more")
    n, code, sizes = len(partition), partition.code.tolist(), partition.sizes.tolist()
    alive, place = (
        list(range(len(sizes))),
        list(range(len(sizes))),
    )  # clusters with items; where each stands in that list
    for item, chance in zip(rng.integers(0, n, steps).tolist(), rng.random(steps).tolist(), strict=True):
        home = code[item]
        sizes[home] -= 1
        if not sizes[home]:
            last = alive.pop()
            if last != home:
                alive[place[home]], place[last] = last, place[home]
        goal = int(chance * (len(alive) + 1))
        if goal == len(alive):
            place.append(goal)
            alive.append(len(sizes))
            sizes.append(0)
        code[item] = alive[goal]
        sizes[alive[goal]] += 1
    return _numbered(np.array(code), partition.items)


@overload
def shuffled(adversary: Partition, *, rng: np.random.Generator) -> Partition: ...
@overload
def shuffled(adversary: View, *, rng: np.random.Generator) -> View: ...
def shuffled(adversary: Partition | View, *, rng: np.random.Generator) -> Partition | View:
    """The same partition with its items exchanged at random: as many clusters, of the same sizes and names.

    All partitions of a view have their items exchanged in the same way, so that they agree with each other as before.

    >>> guess = shuffled(Partition(["a", "a", "b", "a"]), rng=np.random.default_rng(1))
    >>> guess.code, guess.names.tolist()
    (array([0, 0, 1, 0], dtype=int32), ['a', 'b'])
    """
    if isinstance(adversary, Partition):
        return _exchanged(adversary, rng.permutation(len(adversary)))
    first, *others = adversary.partitions
    order = rng.permutation(len(first))
    return View([_exchanged(align(first, one)[1], order) for one in (first, *others)], adversary.probability)


def _exchanged(partition: Partition, order: NDArray[np.int64]) -> Partition:
    """The partition with the cluster of item order[i] given to item i; sizes, names and ids stay."""
    moved = copy(partition)
    object.__setattr__(moved, "code", partition.code[order])
    return moved


@dataclass(frozen=True)
class Lift:
    """A statistic of an attack beside its values for an adversary who guesses.

    value       : of the attack
    guessing    : mean over the guesses
    low, high   : between them lie the middle 95 % of the guesses
    as_high     : (1 + guesses >= value) / (1 + repetitions), the p-value of the hypothesis that the attack is itself a
                  guess, against "it is higher"; valid for any number of repetitions
    as_low      : the same against "it is lower"
    repetitions : number of guesses
    """

    value: float
    guessing: float
    low: float
    high: float
    as_high: float
    as_low: float
    repetitions: int

    @property
    def gain(self) -> float:
        """value - guessing, in the unit of the statistic."""
        return self.value - self.guessing


def baseline(
    solution: Partition,
    adversary: Adversary,
    statistic: Callable[[Partition, Adversary], float],
    *,
    repetitions: int = 100,
    rng: np.random.Generator,
) -> Lift:
    """What the attack achieves beyond an adversary who knows how large their clusters are and not who is in them.

    A guess is the attack's partition (or view) `shuffled`, so that the number and the sizes of all clusters, the
    solution's and the adversary's, are those of the case at hand; a uniformly random partition has sizes of its own.

    statistic : any number about a solution and an adversary, such as the share of breached subjects; NaN is refused

    >>> def pairs_found(solution, adversary):
    ...     return np.mean(np.equal.outer(solution.code, solution.code)[np.equal.outer(adversary.code, adversary.code)])
    >>> truth = Partition(np.repeat(np.arange(10), 4))
    >>> found = baseline(truth, truth, pairs_found, rng=np.random.default_rng(1))
    >>> found.value, round(found.guessing, 1), round(found.as_high, 3)
    (1.0, 0.3, 0.01)

    The p-value: B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", SAGMB 2010.
    """
    if repetitions < 1:
        raise UnmaskError(f"{repetitions} repetitions are asked for, expected at least 1")
    value = float(statistic(solution, adversary))
    guesses = np.array([statistic(solution, shuffled(adversary, rng=rng)) for _ in range(repetitions)], dtype=float)
    undefined = int(np.isnan(guesses).sum()) + int(np.isnan(value))
    if undefined:
        raise UnmaskError(
            f"the statistic is NaN in {undefined} of {repetitions + 1} cases, expected a number in all; "
            'for slopes, breached_slope="one" gives one'
        )
    low, high = np.quantile(guesses, (0.025, 0.975))
    return Lift(
        value=value,
        guessing=float(guesses.mean()),
        low=float(low),
        high=float(high),
        as_high=(1 + int((guesses >= value).sum())) / (1 + repetitions),
        as_low=(1 + int((guesses <= value).sum())) / (1 + repetitions),
        repetitions=repetitions,
    )
