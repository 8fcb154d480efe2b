"""What a report shows of adversaries who cluster pseudonyms, as values. Subjects and clusters go by their number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SubjectRisk:
    """One subject by its number, and what it takes to link its items.

    items, pieces      : its items, and the clusters they are spread over
    linked, foreign    : share of its items in its most relevant cluster, and share of foreign items there
    mergings           : until the threshold is linked, 0 where it is already
    slope              : risk slope; 1 where breached
    miss, include      : items missing from the most relevant cluster, and foreign items in it
    clusters           : numbers of the clusters to merge, most relevant first
    """

    number: int
    items: int
    pieces: int
    linked: float
    foreign: float
    mergings: float
    slope: float
    miss: float
    include: float
    clusters: tuple[int, ...] = ()


@dataclass(frozen=True)
class GuessLinkage:
    """What one adversary's partition, or view, does to the subjects.

    name             : of the guess
    clusters         : clusters he makes (the first partition's, for a view); `partitions` how many he holds possible
    breached, clean  : share of subjects breached, and by a cluster without foreign items
    guessing         : share breached by clusters of the same sizes, labels shuffled: mean over repetitions
    one_away         : share that is not breached and is with one merging
    median_mergings, most_mergings : over subjects, 0 where breached
    gini, jain       : inequality of the risk slopes over subjects
    linked_curve, mixed_curve : of the average subject after 0, 1, 2 ... mergings
    worst_linked, worst_mixed : the same for the worst-off tenth of subjects
    slopes           : (alpha, risk slope of the average subject at each beta)
    breach_rates     : share breached at each beta
    miss_include     : (misses, includes, subjects): how many subjects have such errors, rounded to whole items
    worst            : the subjects at most risk, the worst first
    whole            : name of a whole-partition measure -> value: "ari", "voi", "transfer", "bcubed_precision", ...
    kind             : "conservative", "liberal" or "neutral"
    """

    name: str
    clusters: int
    partitions: int
    breached: float
    clean: float
    guessing: float
    one_away: float
    median_mergings: float
    most_mergings: float
    gini: float
    jain: float
    linked_curve: tuple[float, ...]
    mixed_curve: tuple[float, ...]
    worst_linked: tuple[float, ...]
    worst_mixed: tuple[float, ...]
    slopes: tuple[tuple[float, tuple[float, ...]], ...]
    breach_rates: tuple[float, ...]
    miss_include: tuple[tuple[int, int, int], ...]
    worst: tuple[SubjectRisk, ...]
    whole: dict[str, float]
    kind: str


@dataclass(frozen=True)
class Linkage:
    """Adversaries who say which items belong together, against the truth.

    items, subjects, counted : items, subjects, and subjects with at least `min_size` items, of which rates are
    alpha, beta              : weight of linking against mixing, and the share of items whose linking is a breach
    wanted                   : whether foreign items are welcome to the subjects
    betas                    : thresholds of `breach_rates` and `slopes`
    """

    items: int
    subjects: int
    counted: int
    min_size: int
    alpha: float
    beta: float
    wanted: bool
    betas: tuple[float, ...]
    guesses: tuple[GuessLinkage, ...]
