"""The grammar of measures: a declaration, evaluated on the prior and on the posterior in this one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import dot
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, Status
from unmask.core.truth import Truth
from unmask.measures.alike import Kinds, alike
from unmask.measures.interval import EVERYBODY, Interval, of_targets
from unmask.measures.places import Places, one_by_one, places
from unmask.measures.registry import Quantity
from unmask.measures.rows import OfRows, per_row
from unmask.remembered import remembered
from unmask.results import Row

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Measure(Quantity):
    """A number about a belief: what it is called and means (`Quantity`), and its value at each observation or target.

    self_assessed : posterior -> (n_observations,), needs no truth
    of_rows       : the same as a function of `rows.Rows`, which know of candidates how likely they are, not which; it
                    is then asked once for observations that are alike, and in one pass with other measures
    realized      : posterior, truth -> (n_targets,), needs it; nan where a target is not of those that the measure is
                    of. Exactly one of the four is given.
    of_places     : the same as a function of `places.Places`, (n_places,): asked once for targets whose truth stands in
                    one place
    of_classes    : whether it minds for whom an entry stands, `Posterior.representative`; a measure that does not, and
                    is not of rows, is handed a belief with an entry for each candidate
    rate          : the mean over targets is a proportion, so that Wilson's interval is the right one
    needs_probabilities : meaningless for a posterior whose status is `scores`
    has_interval  : its mean over a sample of people is an unbiased estimate of that over all

    Called with a belief it is the mean over targets, by weight; `evaluate` gives it beside the prior.
    """

    self_assessed: Callable[[Posterior], NDArray[np.float64]] | None = None
    realized: Callable[[Posterior, Truth], NDArray[np.float64]] | None = None
    of_rows: OfRows | None = None
    of_places: Callable[[Places], NDArray[np.float64]] | None = None
    of_classes: bool = False
    rate: bool = False
    needs_probabilities: bool = False
    has_interval: bool = True

    def __post_init__(self) -> None:
        if self.of_rows is not None:
            object.__setattr__(self, "self_assessed", partial(per_row, function=self.of_rows))
        if self.of_places is not None:
            object.__setattr__(self, "realized", partial(_per_target, self.of_places))
        if (self.self_assessed is None) == (self.realized is None):
            raise UnmaskError(
                f"measure {self.name!r} needs either a self-assessed or a realized value, not both or none"
            )
        object.__setattr__(self, "needs_truth", self.realized is not None)
        if self.of_rows is None and self.of_places is None and not self.of_classes:
            value = "realized" if self.needs_truth else "self_assessed"
            object.__setattr__(self, value, partial(_of_listed, getattr(self, value)))

    def __call__(self, belief: Posterior, truth: Truth | None = None) -> float:
        """The mean over targets, by weight; targets whose truth is UNKNOWN are left out of realized measures."""
        self.check(belief)
        if self.realized is not None:
            return _judged(self, belief, truth).mean
        return _mean(self.per_target(belief), belief.weight / belief.weight.sum())

    def check(self, belief: Posterior) -> None:
        """Refuse a belief of mere scores where probabilities are needed."""
        if self.needs_probabilities and belief.status == "scores":
            raise UnmaskError(f"{self.name} needs probabilities, and this attack gives scores: calibrate them first")

    def per_target(self, belief: Posterior, truth: Truth | None = None) -> NDArray[np.float64]:
        """(n_targets,) the value at each target."""
        if self.self_assessed is not None:
            return self.self_assessed(belief)[belief.observation]
        assert self.realized is not None
        self.check_truth(belief, truth)
        assert truth is not None
        return self.realized(belief, truth)

    def check_truth(self, belief: Posterior, truth: Truth | None) -> None:
        """Refuse a truth that is missing, or of other targets."""
        if truth is None:
            raise UnmaskError(f"{self.name} is measured against the truth, and none was given")
        if len(truth) != belief.n_targets:
            raise UnmaskError(
                f"the truth has {len(truth)} targets and the posterior {belief.n_targets}, expected the same"
            )


def _per_target(
    function: Callable[[Places], NDArray[np.float64]], belief: Posterior, truth: Truth
) -> NDArray[np.float64]:
    found = places(belief, truth)
    return np.asarray(function(found)[found.of])


@remembered(1)  # for one measure after the other; `audit` clears it
def listed(belief: Posterior) -> Posterior:
    """The belief with an entry for each candidate."""
    return belief.one_by_one()


def _of_listed(function: Callable[..., NDArray[np.float64]], belief: Posterior, *truth: Truth) -> NDArray[np.float64]:
    return function(belief if belief.representative is None else listed(belief), *truth)


def evaluate(
    measure: Measure,
    belief: Posterior,
    truth: Truth | None = None,
    *,
    release: str = "release",
    adversary: str = "adversary",
    target: str = "identity",
    note: str = "",
    drawn_from: float | None = None,
    of_kinds: NDArray[np.float64] | None = None,
    whose: NDArray[np.int64] | None = None,
    people: int | None = None,
) -> Row:
    """A measure of a belief beside the same measure of the prior: mean, gain, interval, worst-off target, quantiles.

    The mean is over targets, by weight; realized measures leave out targets whose truth is UNKNOWN or who
    were known before, and nan: targets that are not of those that the measure is of.
    drawn_from : how many people the targets were drawn from. None: they are everybody, the mean is exact for this
                 release and has no interval. inf: the interval is for people like these, without end. See `of_targets`.
    of_kinds   : the measure at each kind of observation (`alike`), where it is known already
    whose      : (n_targets,) who each target is of, by numbers from 0, where people are several targets: n and the
                 interval are of people, whose value is the mean over their targets, by weight. None: each is a person
    people     : how many people the targets stand for, if a target is an equivalence class of people. The observations
                 are then the targets. None: each target is a person
    A measure that needs probabilities is refused for a belief made of mere scores.
    """
    measure.check(belief)
    taken = _judged_values(measure, belief, truth) if measure.realized else _values(measure, belief, of_kinds, people)
    posterior, value = _mean(taken.value, taken.mass), taken.value
    worst = value.max() if measure.direction == "high" else value.min()
    n, everybody = (taken.n, belief.n_targets) if whose is None else (taken.people(whose), how_many(whose))
    if drawn_from is None or drawn_from == everybody:
        interval = Interval(None, None, EVERYBODY)
    elif not measure.has_interval:
        interval = Interval(None, None, "none: no honest interval is known")
    else:  # of those whose truth is known, as many times more as of all
        each, of_all = taken.of_people(whose), drawn_from * n / everybody
        interval = of_targets(*each, drawn_from=of_all, rate=measure.rate, within=measure.range)
    return filed(
        measure,
        (taken.prior, posterior),
        interval,
        (value, taken.mass),
        n=n,
        n_observations=taken.n_observations,
        worst=float(worst),
        worst_observation=int(taken.first[agree(value, worst)].min()),  # whatever the order of the targets
        status=belief.status,
        names=(release, adversary, target, note),
    )


OfTargets = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]
"""The value of some targets, the weight of each, sum 1, and which they are."""


class _Taken(NamedTuple):
    """What a measure finds in a belief, value by value; several targets may share one.

    value, mass, first : of each value its weight, sum 1, and the first observation that has it
    of_targets : the value of each target, its weight, and its place, asked for where people are several or drawn
    """

    prior: float
    value: NDArray[np.float64]
    mass: NDArray[np.float64]
    first: NDArray[np.int64]
    n: int
    n_observations: int
    of_targets: Callable[[], OfTargets]

    def people(self, whose: NDArray[np.int64]) -> int:
        """How many people these targets are of."""
        return how_many(whose[self.of_targets()[2]])

    def of_people(self, whose: NDArray[np.int64] | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The value of each person, and their weight."""
        value, weight, target = self.of_targets()
        return (value, weight) if whose is None else of_each(value, weight, whose[target])


def how_many(whose: NDArray[np.int64]) -> int:
    """Different numbers, from 0, which are few."""
    return int(np.count_nonzero(np.bincount(whose)))


def of_each(
    value: NDArray[np.float64], weight: NDArray[np.float64], whose: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n_people,) the mean over the targets of each person, by weight, and their weight.

    >>> of_each(np.array([0.0, 1.0, 1.0]), np.array([0.25, 0.25, 0.5]), np.array([0, 0, 3]))
    (array([0.5, 1. ]), array([0.5, 0.5]))
    """
    mass = np.bincount(whose, weight).astype(np.float64)
    some = mass > 0
    return np.bincount(whose, weight * value)[some] / mass[some], mass[some]


def _values(measure: Measure, belief: Posterior, of_kinds: NDArray[np.float64] | None, people: int | None) -> _Taken:
    """Targets of one observation have one value, and so have those of observations that are alike."""
    assert measure.self_assessed is not None
    kinds = Kinds(belief, np.arange(belief.n_observations)) if measure.of_rows is None else alike(belief)
    each, seen = measure.self_assessed(kinds.belief) if of_kinds is None else of_kinds, kinds.belief.seen
    mass, whole = kinds.belief.observation_weight[seen], belief.weight.sum()
    prior = float(measure.self_assessed(belief.prior())[0])

    def of_targets() -> OfTargets:
        return each[kinds.belief.observation], belief.weight / whole, np.arange(belief.n_targets)

    first, n, n_observations = kinds.first[seen], belief.n_targets, len(belief.seen)
    if people is not None:  # an observation for each target
        first_target = np.zeros(kinds.belief.n_observations, dtype=np.int64)
        first_target[kinds.belief.observation[::-1]] = np.arange(belief.n_targets)[::-1]
        first, n, n_observations = first_target[seen], people, belief.n_targets
    return _Taken(prior, each[seen], mass / whole, first, n, n_observations, of_targets)


def _judged_values(measure: Measure, belief: Posterior, truth: Truth | None) -> _Taken:
    found = _judged(measure, belief, truth)
    prior = _judged(measure, belief.prior(), truth).mean
    return _Taken(prior, found.value, found.mass, found.first, found.n, found.n_observations, found.of_targets)


def filed(
    measure: Quantity,
    means: tuple[float, float],
    interval: Interval,
    values: tuple[NDArray[np.float64], NDArray[np.float64]],
    *,
    n: int,
    n_observations: int,
    worst: float,
    worst_observation: int,
    names: tuple[str, str, str, str],
    status: Status = "exact",
) -> Row:
    """The row of a measure, with its gain and quantiles.

    means : prior and posterior; values : what was found, and the weight of each; names : release, adversary, target,
    and the note. The others are those of `Row`.
    """
    (prior, posterior), (release, adversary, target, note) = means, names
    return Row(
        release=release,
        adversary=adversary,
        target=target,
        measure=measure.name,
        unit=measure.unit,
        direction=measure.direction,
        prior=prior,
        posterior=posterior,
        gain=gain_of(prior, posterior, measure.direction),
        low=interval.low,
        high=interval.high,
        interval=interval.over,
        n=n,
        n_observations=n_observations,
        worst=worst,
        worst_observation=worst_observation,
        quantiles=weighted_quantiles(*values, QUANTILES),
        status=status,
        note=note,
    )


class UndefinedError(UnmaskError):
    """A measure has no value, as nobody is of those that it is of."""


class _Judged(NamedTuple):
    """The values at the targets whose truth is known and who have one; those of one place of the truth share theirs.

    value, mass, first, n, n_observations, of_targets : as in `_Taken`
    """

    value: NDArray[np.float64]
    mass: NDArray[np.float64]
    first: NDArray[np.int64]
    n: int
    n_observations: int
    of_targets: Callable[[], OfTargets]

    @property
    def mean(self) -> float:
        """Over targets, by weight."""
        return _mean(self.value, self.mass)


def _judged(measure: Measure, belief: Posterior, truth: Truth | None) -> _Judged:
    found, every = _placed(measure, belief, truth)
    if not found.truth.judged.any():
        raise UnmaskError(f"{measure.name} is measured against the truth, which is unknown for every target")
    some = found.truth.judged & ~np.isnan(every)
    if not some.any():
        raise UndefinedError(f"{measure.name} is 0/0: nobody is of those that it is of")
    mass, seen = found.belief.weight[some], found.n_observations
    if not some.all():
        seen = int(np.count_nonzero(np.bincount(belief.observation[some[found.of]])))

    def of_targets() -> OfTargets:
        mine = np.flatnonzero(some[found.of])
        return every[found.of][mine], belief.weight[mine] / belief.weight[mine].sum(), mine

    return _Judged(every[some], mass / mass.sum(), found.first[some], int(found.people[some].sum()), seen, of_targets)


def _placed(measure: Measure, belief: Posterior, truth: Truth | None) -> tuple[Places, NDArray[np.float64]]:
    """The places of the truth, and the value of the measure at each."""
    if truth is None or measure.of_places is None:
        every = measure.per_target(belief, truth)
        assert truth is not None
        return one_by_one(belief, truth), every
    measure.check_truth(belief, truth)
    found = places(belief, truth)
    return found, measure.of_places(found)


def agree(value: NDArray[np.float64], worst: float) -> NDArray[np.bool_]:
    """Which values are the worst one, up to 1e-9 of the largest."""
    largest = np.max(np.abs(value), where=np.isfinite(value), initial=0.0)
    return np.isclose(value, worst, rtol=0.0, atol=1e-9 * largest)


def _mean(value: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Weighted mean, never outside the values: summing 200 times 1 / 200 gives a little more than 1."""
    return float(np.clip(dot(weight, value), value.min(), value.max()))


def gain_of(prior: float, posterior: float, direction: str) -> float:
    """What the adversary wins, positive when they profit; 0 where nothing changes, infinite values included."""
    if prior == posterior:
        return 0.0
    return posterior - prior if direction == "high" else prior - posterior


def weighted_quantiles(
    value: NDArray[np.float64], weight: NDArray[np.float64], levels: tuple[float, ...]
) -> tuple[float, ...]:
    """The smallest values whose cumulated weight reaches each level (the inverse of the distribution function).

    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.5, 0.3]), (0.5, 0.6, 1.0))
    (1.0, 2.0, 3.0)
    """
    equal = bool(np.all(weight == weight[0]))  # then their order is no matter, and few values are looked for
    order = np.arange(len(value)) if equal else np.argsort(value)  # not stable, which takes eight times as long
    cumulated = np.cumsum(weight[order])
    position = np.searchsorted(cumulated, np.asarray(levels) * cumulated[-1] - 1e-12)
    position = np.minimum(position, len(value) - 1)
    ordered = np.partition(value, np.unique(position)) if equal else value[order]
    return tuple(ordered[position].tolist())
