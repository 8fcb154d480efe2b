"""Measurements of guesses about which items belong together, next to the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from unmask.core.errors import UnmaskError


@dataclass(frozen=True)
class BaselineWords:
    """Words for a law of random guesses: its name, the clusters in a sentence, and how a guess is drawn."""

    name: str
    clusters: str
    clusters_again: str
    drawing: str


BASELINES = {
    "shuffled": BaselineWords(
        "the same clusters with shuffled labels",
        "clusters of the same sizes with shuffled labels",
        "shuffled labels",
        "A random guess is the same adversary with the labels of their clusters shuffled over the items.",
    ),
    "uniform": BaselineWords(
        "uniformly random partitions",
        "uniformly random clusters",
        "uniformly random clusters",
        "A random guess is a partition of the items, each equally likely.",
    ),
    "coin": BaselineWords(
        "partitions by coin toss",
        "clusters drawn by coin toss",
        "clusters drawn by coin toss",
        "A random guess takes the items in random order. Each opens a cluster or joins any open one, by coin toss.",
    ),
}
"""Law of random guesses -> words for it."""

FAR = 30.0
"""A guess that mixes in this many times as much as every other is left out of their chart."""

FLAT = 0.01
"""A curve is flat where it moves by no more than this part of the scale."""

Curve = tuple[float, ...]


@dataclass(frozen=True)
class GuessFacts:
    """Effect of one adversary's partition, or view of several partitions, on the subjects.

    A curve goes on at its last value. Curves without a value, and all tuples, may be empty.

    Parameters
    ----------
    name : str
        Name of the guess.
    clusters, partitions : int
        Clusters of the first partition, and number of partitions of a view.
    breached, clean : float
        Share of subjects breached, and breached by a cluster without foreign items.
    guessing : float
        Share breached by random guesses, mean over repetitions.
    one_away : float
        Share that is not breached and would be with one merge.
    median_merges, most_merges : float
        Merges until the threshold over subjects, 0 where breached.
    gini, jain : float
        Inequality of the risk slopes over subjects.
    linked_curve, mixed_curve : tuple of float
        Linked and mixed shares of the average subject after 0, 1, 2 ... merges.
    worst_linked, worst_mixed : tuple of float
        The same for the most exposed tenth of subjects.
    slopes : tuple of (float, tuple of float)
        Weight alpha, and risk slope of the average subject at each threshold.
    breach_rates : tuple of float
        Share breached at each threshold.
    miss_include : tuple of (int, int, int)
        Misses, includes, and number of subjects with these errors in whole items.
    whole : dict of str to float
        Score of the partition as a whole -> value, NaN where it is undefined.
    kind : str
        "conservative" (more misses than includes), "liberal" (fewer) or "neutral".
    recovered : float
        Share of subjects with a cluster that has all of their items and no other; NaN where it is unknown.
    unlabeled : int
        Items of the guess that the truth lacks, if they were kept.
    at_least : dict of str to float
        Least possible "breached" and "clean" if unlabeled items are unknown; the fields of these names are then the
        most, and what depends on merges is NaN or empty.
    one_by_one : dict of str to float
        "breached" and "clean" of a single partition of a view, on average by probability; the fields of these names
        are about the shares that the partitions link together.
    largest : float
        Share of the items in the largest cluster.
    links : str
        Name of the file, if the guess consists of scored links.
    score : float
        Least score of an accepted link.
    """

    name: str
    clusters: int
    partitions: int
    breached: float
    clean: float
    guessing: float
    one_away: float
    median_merges: float
    most_merges: float
    gini: float
    jain: float
    linked_curve: Curve
    mixed_curve: Curve
    worst_linked: Curve
    worst_mixed: Curve
    slopes: tuple[tuple[float, Curve], ...]
    breach_rates: Curve
    miss_include: tuple[tuple[int, int, int], ...]
    whole: dict[str, float]
    kind: str
    recovered: float = math.nan
    unlabeled: int = 0
    at_least: dict[str, float] = field(default_factory=dict)
    one_by_one: dict[str, float] = field(default_factory=dict)
    largest: float = 0.0
    links: str = ""
    score: float = math.nan

    @property
    def strength(self) -> tuple[float, float, float]:
        """Order of guesses: breaches beyond those of random guesses, then clean ones, then those one merge away.

        What shuffled labels breach, too, comes from the sizes of the clusters; one block would be first otherwise.
        """
        return self.breached - self.guessing, self.clean, 0.0 if math.isnan(self.one_away) else self.one_away

    @property
    def mean_includes(self) -> float:
        """Foreign items in the most relevant cluster, mean over subjects; NaN where it is unknown."""
        n_subjects = sum(count for _, _, count in self.miss_include)
        n_included = sum(include * count for _, include, count in self.miss_include)
        return n_included / n_subjects if n_subjects else math.nan


@dataclass(frozen=True)
class LinkageFacts:
    """Guesses of adversaries, next to the truth.

    Parameters
    ----------
    items, subjects : int
        Numbers of both in the truth.
    counted, min_size : int
        Subjects with at least `min_size` items, of which all rates are.
    alpha, beta : float
        Weight of linking against mixing, and share of items whose linking is a breach.
    wanted : bool
        True if foreign items are welcome to the subjects; then mixed curves are inverted: 1 before anything foreign is
        mixed in.
    betas : tuple of float
        Increasing thresholds of `breach_rates` and `slopes`.
    guesses : tuple of GuessFacts
        At least one, with different names.
    unlabeled : str
        Meaning of items that the truth lacks, see `unmask.core.partition.Unlabeled`.
    own : tuple of str
        Which of weight, alpha, beta and wanted come from a column of the truth.
    baseline : str
        Law of the random guesses.
    """

    items: int
    subjects: int
    counted: int
    min_size: int
    alpha: float
    beta: float
    wanted: bool
    betas: Curve
    guesses: tuple[GuessFacts, ...]
    unlabeled: str = "error"
    own: tuple[str, ...] = ()
    baseline: str = "shuffled"

    def __post_init__(self) -> None:
        if self.beta <= 0:
            raise UnmaskError(f"beta is {self.beta:g}, expected a share above 0")

    @property
    def strongest_first(self) -> list[GuessFacts]:
        """Guesses by their strength; equal ones in their order."""
        return sorted(self.guesses, key=lambda guess: guess.strength, reverse=True)

    @property
    def mixed_scale(self) -> float:
        """Largest mixed share of any curve that is drawn; 1 without any."""
        drawn = [guess for guess in self.guesses if guess.name != self.far_guess]
        return largest([curve for guess in drawn for curve in (guess.mixed_curve, guess.worst_mixed)])

    @property
    def mixes(self) -> bool:
        """True if any foreign item is mixed in at any number of merges."""
        nothing = 1.0 if self.wanted else 0.0
        curves = (curve for guess in self.guesses for curve in (guess.mixed_curve, guess.worst_mixed))
        return any(math.isfinite(value) and value != nothing for curve in curves for value in curve)

    @property
    def far_guess(self) -> str | None:
        """Name of the guess that mixes in so much more that the curves of all others would be flat, if there is one."""
        guesses = [guess for guess in self.guesses if guess.mixed_curve]
        errors = sorted(
            ((largest([guess.mixed_curve, guess.worst_mixed]), guess.name) for guess in guesses), reverse=True
        )
        return errors[0][1] if len(errors) > 2 and errors[0][0] > FAR * errors[1][0] else None

    @property
    def horizon(self) -> int:
        """Merge after which no curve moves by more than `FLAT` of its scale; at least 1."""
        scaled = [(curve, 1.0) for guess in self.guesses for curve in (guess.linked_curve, guess.worst_linked)]
        scaled += [
            (curve, self.mixed_scale) for guess in self.guesses for curve in (guess.mixed_curve, guess.worst_mixed)
        ]
        return max([1, *(_flat_from(curve, FLAT * scale) for curve, scale in scaled)])


def largest(curves: Sequence[Sequence[float]]) -> float:
    """Return the largest finite value of curves; 1 if no value is above 0."""
    return max((value for curve in curves for value in curve if math.isfinite(value)), default=0.0) or 1.0


def _flat_from(curve: Sequence[float], tolerance: float) -> int:
    """Return the first entry after which the curve stays within a tolerance of its end."""
    return next((i + 1 for i in range(len(curve) - 1, -1, -1) if abs(curve[i] - curve[-1]) > tolerance), 0)
