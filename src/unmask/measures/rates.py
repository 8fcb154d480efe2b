"""How often an adversary who names some people and leaves others out is right: recall, precision, false positives.

An attack that commits itself names one candidate for a target, or none (`Posterior.named`); a belief that does not,
such as a prior, names its likeliest candidate for everybody, ties shared. With named and right 1 or 0 of a target
(right between them where candidates tie) and present if the target has a true candidate:

    recall          = mean of right over the targets that are present
    precision       = mean of right over the targets that are named
    false_positives = mean of 1 - present over the targets that are named
    named_wrongly   = mean of named - right over the targets that are present
    spread          = 1 if recall is at least `SPREADS`, else 0
    coverage        = mean of named over all targets; needs no truth

A target is nan where it has no part in a mean. Of several runs, the rate is the mean over all of them, those in which
the attack does not spread included (`over_runs`); `spread` is then the share that did.

A. Narayanan & V. Shmatikov, "De-anonymizing social networks", IEEE S&P 2009, section 6; G. Gulyas, "Protecting privacy
against structural de-anonymization attacks in social networks", 2015, equations (3.2) and (3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import distinct
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.base import Measure, build_row
from unmask.measures.interval import Interval, clustered_bootstrap, clustered_wilson, of_runs
from unmask.measures.registry import declare
from unmask.measures.success import realized_success
from unmask.results import Row

Floats = NDArray[np.float64]

SHARE = (0.0, 1.0)

SPREADS = 0.05
"""Least recall of an attack that has spread beyond the surroundings of its seeds; most are far above it or far below.

Recalls below it are those of G. Gulyas, 2015, figure 4.3, in which only the neighbors of seeds are found."""


class Named(NamedTuple):
    """(n_targets,) each: whether a target is named, how far rightly, and whether it has a true candidate to be found,
    which one who was known before has not.
    """

    named: Floats
    right: Floats
    present: NDArray[np.bool_]

    @classmethod
    def of(cls, belief: Posterior, truth: Truth) -> Named:
        """Of an attack that names several candidates for a target, any right one will do."""
        present = (truth.candidate >= 0) & ~truth.leaked
        if belief.named is None:
            return cls(np.ones(len(truth)), realized_success.per_target(belief, truth), present)
        rounds = np.atleast_2d(belief.named)[:, belief.observation]
        named, good = (np.asarray(one.any(axis=0), np.float64) for one in (rounds >= 0, truth.accepts(rounds)))
        return cls(named, good, present)


def _measure(
    name: str, label: str, meaning: str, direction: Literal["high", "low"], value: Callable[[Named], Floats]
) -> Measure:
    return declare(
        Measure(
            name,
            label,
            meaning,
            "share",
            direction,
            SHARE,
            source='A. Narayanan & V. Shmatikov, "De-anonymizing social networks", IEEE S&P 2009, section 6',
            needs_truth=True,
            realized=lambda belief, truth: value(Named.of(belief, truth)),
            rate=True,
        )
    )


def _where(base: NDArray[np.bool_], value: Floats) -> Floats:
    return np.where(base, value, np.nan)


def _spreads(of: Named) -> bool:
    return bool(of.present.any() and of.right[of.present].mean() >= SPREADS)


def _covered(belief: Posterior) -> Floats:
    if belief.named is None:
        return np.zeros(belief.n_observations)
    return np.asarray((np.atleast_2d(belief.named) >= 0).any(axis=0), dtype=np.float64)


recall = _measure(
    "recall",
    "Recall",
    "share of the people in both graphs, seeds aside, whom the adversary re-identifies",
    "high",
    lambda of: _where(of.present, of.right),
)
"""Share of the people who are in the release, those known before left out, whom the adversary names rightly."""

spread = _measure(
    "spread",
    "Spread in",
    "share of the runs that went through the graph; recall is over all runs",
    "high",
    lambda of: _where(of.present, np.full_like(of.right, _spreads(of))),
)
"""Whether the attack has spread; over runs, the share in which it has."""

precision = _measure(
    "precision", "Precision", "share of all matches that are right", "high", lambda of: _where(of.named > 0, of.right)
)
"""Share right of the names given."""

named_wrongly = _measure(
    "named_wrongly",
    "Matched wrongly",
    "share of the people in both graphs taken for somebody else",
    "low",
    lambda of: _where(of.present, of.named - of.right),
)
"""Share of the people who are in the release who are taken for somebody else."""

false_positives = _measure(
    "false_positives",
    "False positives",
    "share of all matches that are of people who are not in the release",
    "low",
    lambda of: _where(of.named > 0, np.where(of.present, 0.0, 1.0)),
)
"""Share of the names given that are of people who are not in the release."""

coverage = declare(
    Measure(
        "coverage",
        "Coverage",
        "share of all other people of the adversary's graph whom they match",
        "share",
        "high",
        SHARE,
        recall.source,
        self_assessed=_covered,
        rate=True,
    )
)
"""Share of all people looked for who are given a name, right or wrong; of a belief that names nobody, 0."""

WRONG = frozenset({named_wrongly.name, false_positives.name})
"""Rates of wrong names. Who names nobody has none of them, and gains nothing by that: they have no gain to be shown."""

RATES = (recall, spread, precision, named_wrongly, false_positives)
"""What needs the truth."""


# --- over runs ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Taken:
    """A measure in one run: its value and prior at each target, nan where it has none, and the person each target is.

    person : (n_targets,) numbers of people, the same in all runs
    """

    value: Floats
    prior: Floats
    person: NDArray[np.int64]

    @classmethod
    def of(cls, measure: Measure, belief: Posterior, truth: Truth, person: NDArray[np.int64]) -> Taken:
        """Of the targets whose truth is known and who were not known before."""
        judged = truth.judged if measure.needs_truth else ~truth.leaked
        value, prior = (measure.per_target(one, truth)[judged] for one in (belief, belief.prior()))
        return cls(value, prior, person[judged])

    @property
    def mean(self) -> float | None:
        """Over the targets that have a value; None where none has."""
        known = self.value[~np.isnan(self.value)]
        return float(known.mean()) if len(known) else None


def over_runs(
    measure: Measure,
    runs: Sequence[Taken],
    *,
    release: str,
    adversary: str,
    target: str = "identity",
    note: str = "",
) -> Row | None:
    """The mean of the runs' means, those without a value left out; None where no run has one.

    Of a person, for quantiles and the worst-off, it is the mean over runs. The worst-off goes by its number, from 1.
    The interval is Student's t over runs, of one run Wilson's over people. A measure that is no share has the mean over
    the people of all runs, and a bootstrap over people, as a run may have a handful of them; its prior is over runs.
    """
    means = [found.mean for found in runs if found.mean is not None]
    if not means:
        return None
    values, people = (np.concatenate([getattr(found, name) for found in runs]) for name in ("value", "person"))
    guesses = [found.prior[~np.isnan(found.prior)] for found in runs]
    known = ~np.isnan(values)
    value, person = values[known], people[known]
    if measure.range == SHARE:
        person, at, times = np.unique(person, return_inverse=True, return_counts=True)
        value, weight = np.bincount(at, weights=value) / times, times / times.sum()
        prior, posterior, of_one = _mean(np.concatenate(guesses)), float(np.mean(means)), clustered_wilson
    else:
        weight = np.full(len(value), 1 / len(value))
        prior = _mean([guess.mean() for guess in guesses if len(guess)])
        posterior, of_one = float(value.mean()), clustered_bootstrap
    over_means = measure.range == SHARE and len(means) > 1
    interval = of_runs(means, within=SHARE) if over_means else _of_people(of_one(value, weight, person))
    worst = int(np.argmax(value) if measure.direction == "high" else np.argmin(value))
    return build_row(
        measure,
        (prior, posterior),
        interval,
        (value, weight),
        n=round(int(known.sum()) / len(runs)),
        worst=float(value[worst]),
        worst_observation=int(person[worst]) + 1,
        n_observations=len(distinct(person)),
        names=(release, adversary, target, note),
    )


def _mean(values: Sequence[float] | Floats) -> float:
    """Their mean, nan where there is none: no guess may lead anywhere, as in a network of small groups."""
    return float(np.mean(values)) if len(values) else np.nan


def _of_people(interval: Interval) -> Interval:
    """Targets and observations are people here."""
    return interval._replace(over=interval.over.replace("targets", "people").replace("observation", "person"))
