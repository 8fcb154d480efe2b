"""Recall, precision and false positives of an attack that names candidates.

An attack may name one candidate for a target, or none (`Posterior.named`). If it names no candidate for any target, as
a prior does, the likeliest candidate of each target is used; several likeliest candidates share the name equally. For
each target, `named` and `right` are 1 or 0 (`right` is a fraction for ties), and `present` is 1 if the target has a
true candidate:

    recall          = mean of right over the targets that are present
    precision       = mean of right over the named targets
    false_positives = mean of 1 - present over the named targets
    named_wrongly   = mean of named - right over the targets that are present
    spread          = 1 if recall is at least `MIN_SPREAD`, else 0
    coverage        = mean of named over all targets; needs no truth

The value of a target outside a mean is nan. Over several runs, a rate is the mean over all of them, including runs in
which the attack does not spread (`average_runs`). `spread` is then the share of runs that spread.

A. Narayanan & V. Shmatikov, "De-anonymizing social networks", IEEE S&P 2009, section 6; G. Gulyas, "Protecting privacy
against structural de-anonymization attacks in social networks", 2015, equations (3.2) and (3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import distinct
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.interval import Interval, clustered_bootstrap, clustered_wilson, of_runs
from unmask.measures.measure import Measure, build_row, implement
from unmask.measures.registry import declare
from unmask.measures.success import realized_success
from unmask.results import Row

SHARE = (0.0, 1.0)

MIN_SPREAD = 0.05
"""Recall from which on an attack has spread beyond the neighbors of its seeds; the recall of most runs is far from it.

In G. Gulyas, 2015, figure 4.3, runs below it find only the neighbors of seeds.
"""


class Matches(NamedTuple):
    """Matches of the targets.

    named : (n_targets,) whether the attack names a candidate
    right : (n_targets,) share of the match that is right
    is_present : (n_targets,) whether the target has a true candidate and was not known before
    """

    named: Floats
    right: Floats
    is_present: Booleans

    @classmethod
    def of(cls, belief: Posterior, truth: Truth) -> Matches:
        """Return the matches of an attack; if it names several candidates for a target, any right one counts."""
        is_present = (truth.candidate >= 0) & ~truth.leaked
        if belief.named is None:
            return cls(np.ones(len(truth)), realized_success.per_target(belief, truth), is_present)
        rounds = np.atleast_2d(belief.named)[:, belief.observation]
        masks = rounds >= 0, truth.accepts(rounds)
        has_name, is_right = (np.asarray(mask.any(axis=0), dtype=np.float64) for mask in masks)
        return cls(has_name, is_right, is_present)

    @property
    def has_spread(self) -> bool:
        """Return whether the recall is at least `MIN_SPREAD`."""
        return bool(self.is_present.any() and self.right[self.is_present].mean() >= MIN_SPREAD)


def _declare_rate(name: str, value: Callable[[Matches], Floats]) -> Measure:
    return declare(implement(name, realized=lambda belief, truth: value(Matches.of(belief, truth)), rate=True))


def _only(mask: Booleans, value: Floats) -> Floats:
    return np.where(mask, value, np.nan)


def _coverage(belief: Posterior) -> Floats:
    if belief.named is None:
        return np.zeros(belief.n_observations)
    return np.asarray((np.atleast_2d(belief.named) >= 0).any(axis=0), dtype=np.float64)


recall = _declare_rate("recall", lambda matches: _only(matches.is_present, matches.right))

spread = _declare_rate(
    "spread", lambda matches: _only(matches.is_present, np.full_like(matches.right, matches.has_spread))
)

precision = _declare_rate("precision", lambda matches: _only(matches.named > 0, matches.right))

named_wrongly = _declare_rate("named_wrongly", lambda matches: _only(matches.is_present, matches.named - matches.right))

false_positives = _declare_rate(
    "false_positives", lambda matches: _only(matches.named > 0, np.where(matches.is_present, 0.0, 1.0))
)

coverage = declare(implement("coverage", self_assessed=_coverage, rate=True))

ERROR_RATES = frozenset({named_wrongly.name, false_positives.name})
"""Rates of wrong matches. They have no gain, because an attack without matches has the best value."""

RATES = (recall, spread, precision, named_wrongly, false_positives)
"""Rates that need the truth."""


@dataclass(frozen=True, eq=False)
class RunValues:
    """Values of a measure in one run.

    value, prior : (n_targets,) value and prior of each target, nan outside the measure
    person : (n_targets,) person of each target, by the same numbers in all runs
    """

    value: Floats
    prior: Floats
    person: Integers

    @classmethod
    def of(cls, measure: Measure, belief: Posterior, truth: Truth, person: Integers) -> RunValues:
        """Return the values of the targets whose truth is known and who were not known before."""
        is_judged = truth.judged if measure.needs_truth else ~truth.leaked
        value, prior = (measure.per_target(posterior, truth)[is_judged] for posterior in (belief, belief.prior()))
        return cls(value, prior, person[is_judged])

    @property
    def mean(self) -> float | None:
        """Return the mean over the targets that have a value; None if no target has one."""
        values = self.value[~np.isnan(self.value)]
        return float(values.mean()) if len(values) else None


def average_runs(
    measure: Measure,
    runs: Sequence[RunValues],
    *,
    release: str,
    adversary: str,
    note: str = "",
) -> Row | None:
    """Return the row with the mean over runs; None if no run has a value.

    Quantiles and the most exposed person are over people, each with the mean over runs. People are numbered from 1. The
    interval is Student's t over runs, or Wilson's over people for a single run. A measure that is not a share is
    averaged over the people of all runs, with a bootstrap over people, because a run may have few of them. Its prior is
    averaged over runs.
    """
    means = [run.mean for run in runs if run.mean is not None]
    if not means:
        return None
    values, persons = (np.concatenate([getattr(run, name) for run in runs]) for name in ("value", "person"))
    priors = [run.prior[~np.isnan(run.prior)] for run in runs]
    has_value = ~np.isnan(values)
    value, person = values[has_value], persons[has_value]
    if measure.range == SHARE:
        person, position, n_runs = np.unique(person, return_inverse=True, return_counts=True)
        value, weight = np.bincount(position, weights=value) / n_runs, n_runs / n_runs.sum()
        prior, posterior, single_run_interval = _mean(np.concatenate(priors)), float(np.mean(means)), clustered_wilson
    else:
        weight = np.full(len(value), 1 / len(value))
        prior = _mean([run_prior.mean() for run_prior in priors if len(run_prior)])
        posterior, single_run_interval = float(value.mean()), clustered_bootstrap
    if measure.range == SHARE and len(means) > 1:
        interval = of_runs(means, within=SHARE)
    else:
        interval = _name_people(single_run_interval(value, weight, person))
    return build_row(
        measure,
        (prior, posterior),
        interval,
        (value, weight, person + 1),
        n=round(int(has_value.sum()) / len(runs)),
        n_observations=len(distinct(person)),
        names=(release, adversary, "identity", note),
    )


def _mean(values: Sequence[float] | Floats) -> float:
    """Return the mean; nan without values, as in networks of small groups where no guess has a value."""
    return float(np.mean(values)) if len(values) else np.nan


def _name_people(interval: Interval) -> Interval:
    """Return the interval with its population described as people."""
    return interval._replace(over=interval.over.replace("targets", "people").replace("observation", "person"))
