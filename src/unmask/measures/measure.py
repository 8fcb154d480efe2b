"""Measures of a posterior: a declaration, and the evaluation on prior and posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers, weighted_quantiles
from unmask.core.csr_rows import dot
from unmask.core.distinct_rows import distinct_rows
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, Status
from unmask.core.tolerances import VALUE_TIE
from unmask.core.truth import Truth
from unmask.measures.interval import EVERYBODY, NO_INTERVAL, Interval, of_targets
from unmask.measures.posterior_rows import RowFunction, map_rows
from unmask.measures.registry import MEASURES, Quantity
from unmask.measures.truth_positions import TruthPositions, locate_each, locate_truth
from unmask.results import Row

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class UndefinedError(UnmaskError):
    """A measure has no value, because no target belongs to its denominator."""


@dataclass(frozen=True)
class Measure(Quantity):
    """Number about a posterior, with a value for each observation or target.

    Exactly one of the four functions is given. Called with a posterior, a measure returns its mean over targets.

    Parameters
    ----------
    name, label, meaning, unit, direction, range, source, realizes : str
        See `Quantity`; `range` is a tuple.
    needs_truth : bool
        Whether the measure is realized; set from the functions.
    self_assessed : callable, optional
        Function of a posterior that returns (n_observations,) values and needs no truth.
    realized : callable, optional
        Function of a posterior and the truth that returns (n_targets,) values, nan for targets that the measure does
        not cover.
    of_rows : callable, optional
        Self-assessed function of `rows.Rows`, which contain no candidate names. It is evaluated once for all equal
        rows, in one pass with other measures.
    of_positions : callable, optional
        Realized function of `TruthPositions` that returns (n_positions,) values. It is evaluated once for all targets
        with the same position.
    shares_entries : bool
        Whether the function reads `Posterior.representative`. Other functions of a posterior receive one entry per
        candidate.
    rate : bool
        Whether the mean over targets is a proportion, which has Wilson's interval.
    needs_probabilities : bool
        Whether the measure is undefined for a posterior of status `scores`.
    has_interval : bool
        Whether the mean over a sample of people is an unbiased estimate of the mean over all.
    """

    self_assessed: Callable[[Posterior], Floats] | None = None
    realized: Callable[[Posterior, Truth], Floats] | None = None
    of_rows: RowFunction | None = None
    of_positions: Callable[[TruthPositions], Floats] | None = None
    shares_entries: bool = False
    rate: bool = False
    needs_probabilities: bool = False
    has_interval: bool = True

    def __post_init__(self) -> None:
        if self.of_rows is not None:
            object.__setattr__(self, "self_assessed", partial(map_rows, function=self.of_rows))
        if self.of_positions is not None:
            object.__setattr__(self, "realized", partial(_expand_positions, self.of_positions))
        if (self.self_assessed is None) == (self.realized is None):
            raise UnmaskError(
                f"measure {self.name!r} needs either a self-assessed or a realized value, not both or none"
            )
        object.__setattr__(self, "needs_truth", self.realized is not None)
        if self.of_rows is None and self.of_positions is None and not self.shares_entries:
            value = "realized" if self.needs_truth else "self_assessed"
            object.__setattr__(self, value, partial(_call_with_classes_expanded, getattr(self, value)))

    def __call__(self, belief: Posterior, truth: Truth | None = None) -> float:
        """Return the mean over targets, by weight; realized measures skip targets whose truth is UNKNOWN."""
        self.check(belief)
        if self.realized is not None:
            return _evaluate_against_truth(self, belief, self.check_truth(belief, truth)).mean
        return _mean(self.per_target(belief), belief.weight / belief.weight.sum())

    def check(self, belief: Posterior) -> None:
        """Raise an error if the measure needs probabilities and the posterior has scores."""
        if self.needs_probabilities:
            refuse_scores(belief, self.name)

    def per_target(self, belief: Posterior, truth: Truth | None = None) -> Floats:
        """Return the value at each target."""
        if self.self_assessed is not None:
            return self.self_assessed(belief)[belief.observation]
        assert self.realized is not None
        return self.realized(belief, self.check_truth(belief, truth))

    def check_truth(self, belief: Posterior, truth: Truth | None) -> Truth:
        """Return the truth; raise an error if it is missing or has other targets."""
        if truth is None:
            raise UnmaskError(f"{self.name} needs the truth; give the true candidates of the targets")
        check_truth(belief, truth)
        return truth


def implement(name: str, /, **values: Any) -> Measure:
    """Return a measure by its functions; its label, meaning, unit, range and source are those of the registry.

    Parameters
    ----------
    name : str
        Name of the measure.
    **values
        Fields of `Measure`, of which those of `Quantity` replace the ones of the registry.

    Returns
    -------
    Measure
        The measure, which is not registered.
    """
    declared = MEASURES.get(name) or Quantity(name)
    return Measure(**{field.name: getattr(declared, field.name) for field in fields(Quantity)} | values)


def measure_whole(name: str, value: Callable[[Posterior], float], **values: Any) -> Measure:
    """Return a measure without an interval: its value is of the whole belief, and the same for every target."""
    return implement(
        name, self_assessed=lambda belief: np.full(belief.n_observations, value(belief)), needs_probabilities=True,
        has_interval=False, **values,
    )  # fmt: skip


def check_truth(belief: Posterior, truth: Truth) -> None:
    """Raise an error if a truth has other targets or candidates."""
    if len(truth) != belief.n_targets:
        raise UnmaskError(f"the truth has {len(truth)} targets and the posterior {belief.n_targets}, expected the same")
    if len(truth) and truth.candidate.max() >= belief.n_candidates:
        raise UnmaskError(f"the truth names candidate {truth.candidate.max()}, expected 0..{belief.n_candidates - 1}")


def refuse_scores(belief: Posterior, name: str) -> None:
    """Raise UnmaskError if a posterior has scores instead of probabilities."""
    if belief.status == "scores":
        raise UnmaskError(f"{name} needs probabilities, but this attack returns scores; calibrate them first")


def _expand_positions(function: Callable[[TruthPositions], Floats], belief: Posterior, truth: Truth) -> Floats:
    positions = locate_truth(belief, truth)
    return np.asarray(function(positions)[positions.position])


def _call_with_classes_expanded(function: Callable[..., Floats], belief: Posterior, *truth: Truth) -> Floats:
    return function(belief.expand_classes(), *truth)


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
    row_values: Floats | None = None,
    prior_value: float | None = None,
    person: Integers | None = None,
    people: int | None = None,
) -> Row:
    """Evaluate a measure on a posterior and on its prior: mean, gain, interval, most exposed target and quantiles.

    The mean is over targets, by weight. Realized measures skip targets whose truth is UNKNOWN or was known before the
    attack, and targets that the measure does not cover.

    Parameters
    ----------
    measure : Measure
        Measure to evaluate.
    belief : Posterior
        Belief of the adversary about the targets.
    truth : Truth, optional
        True candidates of the targets, for realized measures.
    release, adversary, target, note : str
        Texts of the row.
    drawn_from : float, optional
        Number of people that the targets were drawn from. None: the targets are all people, and the mean is exact.
        Infinity: the interval is for people like these.
    row_values : (n_kinds,) array, optional
        Values of the measure at `distinct_rows(belief)`, if they are known.
    prior_value : float, optional
        Value of the measure at `belief.prior()`, if it is known.
    person : (n_targets,) array, optional
        Person of each target, numbered from 0, if people are several targets. The number and the interval are then over
        people, whose value is the mean over their targets.
    people : int, optional
        Number of people that the targets stand for, if a target is an equivalence class. The observations are then the
        targets.

    Returns
    -------
    Row
        Result of the measure.

    Raises
    ------
    UnmaskError
        If the measure needs probabilities and the posterior has scores, or if the truth is missing.
    """
    measure.check(belief)
    if measure.self_assessed is not None:
        values = _evaluate_rows(measure, belief, row_values, people)
        prior = float(measure.self_assessed(belief.prior())[0]) if prior_value is None else prior_value
    else:
        truth = measure.check_truth(belief, truth)
        values = _evaluate_against_truth(measure, belief, truth)
        prior = _evaluate_against_truth(measure, belief.prior(), truth).mean
    n, n_people = values.n_targets, belief.n_targets
    if person is not None:
        n, n_people = count_people(person[values.per_target()[2]]), count_people(person)
    return build_row(
        measure,
        (prior, values.mean),
        _interval(measure, values, person, n, n_people, drawn_from),
        (values.value, values.weight, values.first_row),
        n=n,
        n_observations=values.n_rows,
        status=belief.status,
        names=(release, adversary, target, note),
    )


class _Values(NamedTuple):
    """Values of a measure; several targets may share one.

    value, weight, first_row : of each value its weight, sum 1, and the first row that has it
    n_targets, n_rows : number of targets and of rows with a value
    per_target : function that returns the value of each target, its weight, sum 1, and its number
    """

    value: Floats
    weight: Floats
    first_row: Integers
    n_targets: int
    n_rows: int
    per_target: Callable[[], tuple[Floats, Floats, Integers]]

    @property
    def mean(self) -> float:
        """Return the mean over targets, by weight."""
        return _mean(self.value, self.weight)


def _evaluate_rows(measure: Measure, belief: Posterior, row_values: Floats | None, people: int | None) -> _Values:
    """Return one value for each kind of row."""
    assert measure.self_assessed is not None
    posterior, first_row = (
        (belief, np.arange(belief.n_observations)) if measure.of_rows is None else distinct_rows(belief)
    )
    row_value = measure.self_assessed(posterior) if row_values is None else row_values
    used_rows, total = posterior.used_rows, belief.weight.sum()

    def per_target() -> tuple[Floats, Floats, Integers]:
        return row_value[posterior.observation], belief.weight / total, np.arange(belief.n_targets)

    weight = posterior.observation_weight[used_rows] / total
    first, n_targets, n_rows = first_row[used_rows], belief.n_targets, len(belief.used_rows)
    if people is not None:  # each target counts as one row
        first, n_targets, n_rows = posterior.first_target[used_rows], people, belief.n_targets
    return _Values(row_value[used_rows], weight, first, n_targets, n_rows, per_target)


def _evaluate_against_truth(measure: Measure, belief: Posterior, truth: Truth) -> _Values:
    """Return one value for each position of the truth that the measure covers."""
    assert measure.realized is not None
    if measure.of_positions is None:
        positions, position_value = locate_each(belief, truth), measure.realized(belief, truth)
    else:
        positions = locate_truth(belief, truth)
        position_value = measure.of_positions(positions)
    if not positions.truth.judged.any():
        raise UnmaskError(f"{measure.name} is measured against the truth, which is unknown for every target")
    is_covered = positions.truth.judged & ~np.isnan(position_value)
    if not is_covered.any():
        raise UndefinedError(f"{measure.name} is 0/0: it covers none of the targets")
    weight, n_rows = positions.posterior.weight[is_covered], positions.n_rows
    if not is_covered.all():
        n_rows = int(np.count_nonzero(np.bincount(belief.observation[is_covered[positions.position]])))

    def per_target() -> tuple[Floats, Floats, Integers]:
        targets = np.flatnonzero(is_covered[positions.position])
        target_weight = belief.weight[targets]
        return position_value[positions.position][targets], target_weight / target_weight.sum(), targets

    n_targets = int(positions.n_targets[is_covered].sum())
    first_row = positions.first_row[is_covered]
    return _Values(position_value[is_covered], weight / weight.sum(), first_row, n_targets, n_rows, per_target)


def _interval(
    measure: Measure, values: _Values, person: Integers | None, n: int, n_people: int, drawn_from: float | None
) -> Interval:
    if drawn_from is None or drawn_from == n_people:
        return Interval(None, None, EVERYBODY)
    if not measure.has_interval:
        return Interval(None, None, "none: no honest interval is known")
    value, weight, targets = values.per_target()
    if person is not None:
        value, weight = average_by_person(value, weight, person[targets])
    # the population is scaled to the targets with a known truth
    n_drawn_from = drawn_from * n / n_people
    return of_targets(value, weight, drawn_from=n_drawn_from, rate=measure.rate, within=measure.range)


def count_people(person: Integers) -> int:
    """Return the number of different people, who are numbered from 0."""
    return int(np.count_nonzero(np.bincount(person)))


def average_by_person(value: Floats, weight: Floats, person: Integers) -> tuple[Floats, Floats]:
    """Return the mean over the targets of each person, by weight, and the weight of each person.

    >>> average_by_person(np.array([0.0, 1.0, 1.0]), np.array([0.25, 0.25, 0.5]), np.array([0, 0, 3]))
    (array([0.5, 1. ]), array([0.5, 0.5]))
    """
    mass = np.bincount(person, weight).astype(np.float64)
    has_mass = mass > 0
    return np.bincount(person, weight * value)[has_mass] / mass[has_mass], mass[has_mass]


def build_row(
    measure: Quantity,
    means: tuple[float, float],
    interval: Interval,
    values: tuple[Floats, Floats, Integers],
    *,
    n: int,
    n_observations: int,
    names: tuple[str, str, str, str],
    status: Status = "exact",
) -> Row:
    """Return the row of a measure, with its gain and quantiles.

    means : prior and posterior
    values : the values, the weight of each, and the number of its observation; of equally bad values, the observation
        with the smallest number is the worst
    names : release, adversary, target, and the note
    n, n_observations, status : see `Row`
    """
    (prior, posterior), (release, adversary, target, note), (value, weight, observation) = means, names, values
    worst = value.max() if measure.direction == "high" else value.min()
    return Row(
        release=release,
        adversary=adversary,
        target=target,
        measure=measure.name,
        unit=measure.unit,
        direction=measure.direction,
        prior=prior,
        posterior=posterior,
        gain=compute_gain(prior, posterior, measure.direction),
        low=interval.low,
        high=interval.high,
        interval=interval.over,
        n=n,
        n_observations=n_observations,
        worst=float(worst),
        worst_observation=int(observation[is_worst(value, worst)].min()),
        quantiles=weighted_quantiles(value, weight, QUANTILES),
        status=status,
        note=note,
    )


def build_number_row(measure: Quantity, value: float, interval: Interval = NO_INTERVAL, **fields: Any) -> Row:
    """Return the row of a measure that is one number.

    fields : release, adversary, target, prior, n, and further arguments of `Row.of_number`
    """
    return Row.of_number(
        value, measure=measure.name, unit=measure.unit, direction=measure.direction, low=interval.low,
        high=interval.high, interval=interval.over, quantiles=(value,) * len(QUANTILES), **fields,
    )  # fmt: skip


def is_worst(value: Floats, worst: float) -> Booleans:
    """Return a mask of the values that equal the worst one, up to the rounding of the largest value."""
    largest = np.abs(value[np.isfinite(value)]).max(initial=0.0)
    is_near = np.abs(value - worst) <= VALUE_TIE * largest if np.isfinite(worst) else value == worst
    return np.asarray(is_near)


def _mean(value: Floats, weight: Floats) -> float:
    """Return the weighted mean, clipped to the values: rounding may sum 200 times 1 / 200 to more than 1."""
    return float(min(max(dot(weight, value), value.min()), value.max()))


def compute_gain(prior: float, posterior: float, direction: str) -> float:
    """Return the gain of the adversary, positive if they profit. It is 0 if prior and posterior are equal, even
    if infinite.
    """
    if prior == posterior:
        return 0.0
    return posterior - prior if direction == "high" else prior - posterior
