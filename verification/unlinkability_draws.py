"""Partitions drawn at random, and what an adversary gets who knows how large their clusters are and guesses."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, overload

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, lambertw

from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition, View, align

Process = Literal["uniform", "coin"]
Adversary = TypeVar("Adversary", Partition, View)

REACH = 40.0
"""Standard deviations around its mode outside of which the number of urns is taken to be impossible."""


def random_partition(n: int, *, process: Process = "uniform", rng: np.random.Generator) -> Partition:
    """A partition of n items, drawn at random; clusters are named 0, 1, 2, ...

    process : "uniform", every one of the Bell(n) partitions is equally likely; or "coin": the first item founds a
              cluster, every further one founds another with probability 1/2 and otherwise joins one of those that
              exist, each equally likely.

    In the coin process early items sit in large clusters, so two partitions drawn by it agree more often than by
    chance; `shuffled` one of them where they should be independent. Linear in n.

    >>> random_partition(8, rng=np.random.default_rng(1)).code
    array([2, 3, 0, 0, 3, 3, 1, 1], dtype=int32)

    Uniform: A. J. Stam, "Generation of a random partition of a finite set by an urn model", JCTA 1983. Coin:
    A. Pashalidis, S. Schiffner, "Evaluating Adversarial Partitions", appendix A.
    """
    if n < 1:
        raise UnmaskError(f"a random partition of {n} items is asked for, expected at least 1")
    if process not in get_args(Process):
        raise UnmaskError(f"process is {process!r}, expected one of {', '.join(map(repr, get_args(Process)))}")
    return _numbered(_urns(n, rng) if process == "uniform" else _coin(n, rng), None)


def _urns(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Drop n items into M urns and forget the empty ones, which is uniform if P(M = m) is as in `urn_law`."""
    m, p = urn_law(n)
    return rng.integers(0, int(rng.choice(m, p=p)), n, dtype=np.int32)


def urn_law(n: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers of urns m and their probabilities m^n / (m! e Bell(n)), without those below about 1e-300 of the largest.

    The logarithm is concave with its mode near m ln m = n, so a window around the mode holds all.

    >>> m, p = urn_law(3)
    >>> m[:4], p[:4].round(4)
    (array([1, 2, 3, 4]), array([0.0736, 0.2943, 0.3311, 0.1962]))

    Stam 1983; the normalization is Dobinski's formula for Bell(n).
    """
    mode = float(np.exp(lambertw(n).real))
    width = REACH / np.sqrt(n / mode**2 + 1 / mode)
    m = np.arange(max(1, int(mode - width)), int(mode + width) + 60)
    log_weight = n * np.log(m) - gammaln(m + 1.0)
    weight = np.exp(log_weight - log_weight.max())
    return m, weight / weight.sum()


def _coin(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    founds = rng.integers(0, 2, n, dtype=np.int8)
    founds[0] = 1
    known = np.cumsum(founds, dtype=np.int64)
    return np.where(founds, known - 1, (rng.random(n) * known).astype(np.int64))


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
