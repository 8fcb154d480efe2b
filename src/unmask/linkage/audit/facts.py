"""Aggregate facts about guesses, evaluated with the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from unmask.core.partition import Missing, Unlabeled
from unmask.languages import mark
from unmask.measures.clustering import Contingency, Unlinkability, evaluate
from unmask.measures.clustering.contingency import Baseline
from unmask.ranges import CheckedParameters, Option, Range


@dataclass(frozen=True)
class BaselineWords:
    """Words for a distribution of random guesses: its name, its clusters in a sentence, and its definition."""

    name: str
    clusters: str
    clusters_again: str
    drawing: str


BASELINES = {
    "shuffled": BaselineWords(
        "the same clusters with shuffled labels",
        mark("clusters of the same sizes with shuffled labels"),
        mark("shuffled labels"),
        "A random guess is the same adversary with the labels of their clusters shuffled over the items.",
    ),
    "uniform": BaselineWords(
        "uniformly random partitions",
        mark("uniformly random clusters"),
        mark("uniformly random clusters"),
        "A random guess is a partition of the items, each equally likely.",
    ),
    "coin": BaselineWords(
        "partitions by coin toss",
        mark("clusters drawn by coin toss"),
        mark("clusters drawn by coin toss"),
        "A random guess takes the items in random order. Each opens a cluster or joins any open one, by coin toss.",
    ),
}
"""Distribution of random guesses -> words."""

FAR = 30.0
"""Ratio of mixed shares above which a guess is excluded from the chart of the others."""

FLAT = 0.01
"""Largest change of a flat curve, relative to the scale."""

Curve = tuple[float, ...]


@dataclass(frozen=True)
class Sensitivity(CheckedParameters):
    """Definition of a breach for all guesses of an audit.

    Parameters
    ----------
    alpha : float
        weight of linking (the rest is the weight of mixing in foreign items)
    beta : float
        share of a subject's items that is a breach once it is linked
    wanted : bool
        count foreign items as welcome to the subjects
    min_size : int
        fewest items of a counted subject (one item is always linked)
    missing : {"error", "singleton", "drop"}
        items of the truth without a cluster: an error, each a cluster of its own (singleton), or left out (drop). They
        are left out of the truth and of every guess, so that all guesses are compared on the same items
    unlabeled : {"error", "foreign", "unknown", "drop"}
        items of a guess without a subject: an error, other people's (foreign), perhaps theirs (unknown), or left out
        (drop). "foreign" needs a truth with every item of its subjects; "unknown" gives bounds
    truth_sampled : bool
        subjects of the truth are drawn at random, and represent all
    baseline : {"shuffled", "uniform", "coin"}
        random guesses that the adversary is compared with: the same clusters with shuffled labels (shuffled), all
        partitions equally likely (uniform), or clusters opened and joined by coin toss (coin)
    shuffles : int
        random guesses of the baseline. See `Contingency.at_random`; many items need fewer, see `SHUFFLED_ITEMS`
    seed : int
        random seed of the baseline
    """

    alpha: Annotated[float, Range(0, 1)] = 0.5
    beta: Annotated[float, Range(0, 1, above=True)] = 0.8
    wanted: Annotated[bool, Option(flag="--contamination-wanted")] = False
    min_size: Annotated[int, Range(1)] = 2
    missing: Missing = "error"
    unlabeled: Unlabeled = "error"
    truth_sampled: bool = False
    baseline: Baseline = "shuffled"
    shuffles: Annotated[int, Range(1)] = 20
    seed: Annotated[int, Range(0)] = 0

    def evaluate(self, contingency: Contingency, **changes: Any) -> Unlinkability:
        """Return the measures of a guess; `changes` override arguments of `measures.clustering.evaluate`."""
        arguments = {"alpha": self.alpha, "beta": self.beta, "contamination_wanted": self.wanted}
        return evaluate(contingency, **({**arguments, "min_size": self.min_size} | changes))


@dataclass(frozen=True)
class GuessFacts:
    """Effect of an adversary's partition, or view of several partitions, on the subjects.

    A curve continues with its last value. Curves without a value are empty, and all tuples may be empty.

    Parameters
    ----------
    name : str
        Name of the guess.
    clusters, partitions : int
        Number of clusters of the first partition, and number of partitions of a view.
    breached, clean : float
        Share of subjects breached, and breached by a cluster without items of others.
    guessing : float
        Share breached by random guesses, mean over repetitions.
    one_away : float
        Share that is not breached, but would be after one merge.
    median_merges, most_merges : float
        Median and largest number of merges to the threshold, over subjects; 0 for breached subjects.
    gini, jain : float
        Gini coefficient and Jain index of the risk slopes over subjects.
    linked_curve, mixed_curve : tuple of float
        Linked and mixed shares of the average subject after 0, 1, 2 ... merges.
    worst_linked, worst_mixed : tuple of float
        These shares for the most exposed tenth of subjects.
    slopes : tuple of (float, tuple of float)
        Weight alpha, and risk slope of the average subject at each threshold.
    breach_rates : tuple of float
        Share breached at each threshold.
    miss_include : tuple of (int, int, int)
        Misses, includes, and number of subjects with these errors in whole items.
    whole : dict of str to float
        Score of the whole partition -> value, NaN if it is undefined.
    kind : str
        "conservative" (more misses than includes), "liberal" (fewer) or "neutral".
    recovered : float
        Share of subjects with a cluster that contains all of their items and no others; NaN if unknown.
    unlabeled : int
        Number of items of the guess that the truth lacks, if they were kept.
    at_least : dict of str to float
        Lower bounds of "breached" and "clean" if unlabeled items are unknown. The fields "breached" and "clean" are
        then upper bounds, and fields that depend on merges keep their defaults.
    one_by_one : dict of str to float
        "breached" and "clean" of a single random partition of a view. The fields "breached" and "clean" are based on
        the expected linked shares over all partitions.
    largest : float
        Share of the items in the largest cluster.
    links : str
        Name of the file, if the guess consists of scored links.
    score : float
        Smallest score of an accepted link.
    """

    name: str
    clusters: int
    partitions: int
    breached: float
    clean: float
    guessing: float
    one_away: float = math.nan
    median_merges: float = math.nan
    most_merges: float = math.nan
    gini: float = math.nan
    jain: float = math.nan
    linked_curve: Curve = ()
    mixed_curve: Curve = ()
    worst_linked: Curve = ()
    worst_mixed: Curve = ()
    slopes: tuple[tuple[float, Curve], ...] = ()
    breach_rates: Curve = ()
    miss_include: tuple[tuple[int, int, int], ...] = ()
    whole: dict[str, float] = field(default_factory=dict)
    kind: str = ""
    recovered: float = math.nan
    unlabeled: int = 0
    at_least: dict[str, float] = field(default_factory=dict)
    one_by_one: dict[str, float] = field(default_factory=dict)
    largest: float = 0.0
    links: str = ""
    score: float = math.nan

    @property
    def strength(self) -> tuple[float, float, float]:
        """Sort key of guesses: breaches beyond random guesses, then clean breaches, then subjects one merge away.

        Breaches by shuffled labels are subtracted because they follow from the cluster sizes. Otherwise a guess with a
        single cluster would be the strongest.
        """
        return self.breached - self.guessing, self.clean, 0.0 if math.isnan(self.one_away) else self.one_away

    @property
    def mean_includes(self) -> float:
        """Number of items of others in the most relevant cluster, mean over subjects; NaN if unknown."""
        n_subjects = sum(count for _, _, count in self.miss_include)
        n_included = sum(include * count for _, include, count in self.miss_include)
        return n_included / n_subjects if n_subjects else math.nan


@dataclass(frozen=True, kw_only=True)
class LinkageFacts(Sensitivity):
    """Settings of an audit, and guesses of adversaries, evaluated with the truth.

    If items of others are `wanted`, mixed curves are inverted: 1 without items of others.

    Parameters
    ----------
    alpha, beta, wanted, min_size, missing, unlabeled, truth_sampled, baseline, shuffles, seed : see `Sensitivity`
        Definition of a breach.
    items, subjects : int
        Numbers of items and subjects in the truth.
    counted : int
        Number of subjects with at least `min_size` items, which all rates refer to.
    betas : tuple of float
        Increasing thresholds of `breach_rates` and `slopes`.
    guesses : tuple of GuessFacts
        At least one, with distinct names.
    own : tuple of str
        Those of weight, alpha, beta and wanted that come from a column of the truth.
    """

    items: int
    subjects: int
    counted: int
    betas: Curve
    guesses: tuple[GuessFacts, ...]
    own: tuple[str, ...] = ()

    @property
    def strongest_first(self) -> list[GuessFacts]:
        """Guesses by descending strength; the sort is stable."""
        return sorted(self.guesses, key=lambda guess: guess.strength, reverse=True)

    @property
    def mixed_scale(self) -> float:
        """Largest mixed share of the drawn curves; 1 without curves."""
        drawn = [guess for guess in self.guesses if guess.name != self.far_guess]
        return largest([curve for guess in drawn for curve in (guess.mixed_curve, guess.worst_mixed)])

    @property
    def mixes(self) -> bool:
        """True if a guess mixes in any item of others at any number of merges."""
        nothing = 1.0 if self.wanted else 0.0
        curves = (curve for guess in self.guesses for curve in (guess.mixed_curve, guess.worst_mixed))
        return any(math.isfinite(value) and value != nothing for curve in curves for value in curve)

    @property
    def far_guess(self) -> str | None:
        """Name of the guess whose mixed share is so large that it flattens all other curves; None without one."""
        guesses = [guess for guess in self.guesses if guess.mixed_curve]
        errors = sorted(
            ((largest([guess.mixed_curve, guess.worst_mixed]), guess.name) for guess in guesses), reverse=True
        )
        return errors[0][1] if len(errors) > 2 and errors[0][0] > FAR * errors[1][0] else None

    @property
    def horizon(self) -> int:
        """Smallest number of merges, at least 1, after which all curves are flat, see `FLAT`."""
        scaled = [(curve, 1.0) for guess in self.guesses for curve in (guess.linked_curve, guess.worst_linked)]
        scaled += [
            (curve, self.mixed_scale) for guess in self.guesses for curve in (guess.mixed_curve, guess.worst_mixed)
        ]
        return max([1, *(_flat_from(curve, FLAT * scale) for curve, scale in scaled)])


def largest(curves: Sequence[Sequence[float]]) -> float:
    """Return the largest finite value of the curves; 1 if no value is positive."""
    return max((value for curve in curves for value in curve if math.isfinite(value)), default=0.0) or 1.0


def _flat_from(curve: Sequence[float], tolerance: float) -> int:
    """Return the first index after which the curve stays within the tolerance of its end."""
    return next((i + 1 for i in range(len(curve) - 1, -1, -1) if abs(curve[i] - curve[-1]) > tolerance), 0)
