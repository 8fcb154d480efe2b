"""What a report shows of adversaries who cluster pseudonyms, as values: of subjects together, never of one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

from unmask.core.errors import UnmaskError
from unmask.reports.few import TENTH
from unmask.reports.subject import Subject


@dataclass(frozen=True)
class GuessLinkage:
    """What one adversary's partition, or view, does to the subjects.

    name             : of the guess
    clusters         : clusters they make (the first partition's, for a view); `partitions` how many they hold possible
    breached, clean  : share of subjects breached, and by a cluster without foreign items
    guessing         : share breached by clusters of the same sizes, labels shuffled: mean over repetitions
    one_away         : share that is not breached and is with one merge
    median_merges, most_merges : over subjects, 0 where breached
    gini, jain       : inequality of the risk slopes over subjects
    linked_curve, mixed_curve : of the average subject after 0, 1, 2 ... merges
    worst_linked, worst_mixed : the same for the worst-off tenth of subjects
    slopes           : (alpha, risk slope of the average subject at each beta)
    breach_rates     : share breached at each beta
    miss_include     : (misses, includes, subjects): how many subjects have such errors, rounded to whole items
    whole            : measure of the partition as a whole -> value, nan where it is undefined: "ari", "voi" (bits),
                       "voi_over_log_n", "transfer" (items), "transfer_over_n", "bcubed_precision", "bcubed_recall" ...
    kind             : "conservative" (more misses than includes), "liberal" (fewer) or "neutral"
    recovered        : share of subjects of whom some cluster has all items and no other; nan where that is not known
    unlabeled        : items of the guess that the truth lacks, where they were kept
    at_least         : "breached" and "clean" where unlabeled items are unknown: the least that they can be; the fields
                       of these names are then the most, and what depends on merges is nan or empty

    one_by_one       : of a guess of several partitions "breached" and "clean" as each has it alone, on average by their
                       probability; the fields of these names are of the shares that they link together

    A curve goes on at its last value. Curves without a value, and all lists, may be empty: the page leaves them out.
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
    linked_curve: tuple[float, ...]
    mixed_curve: tuple[float, ...]
    worst_linked: tuple[float, ...]
    worst_mixed: tuple[float, ...]
    slopes: tuple[tuple[float, tuple[float, ...]], ...]
    breach_rates: tuple[float, ...]
    miss_include: tuple[tuple[int, int, int], ...]
    whole: dict[str, float]
    kind: str
    recovered: float = math.nan
    unlabeled: int = 0
    at_least: dict[str, float] = field(default_factory=dict)
    one_by_one: dict[str, float] = field(default_factory=dict)

    def without_small(self, least: int, *, tenths: bool) -> GuessLinkage:
        """Without errors of few subjects, few unlabeled items rounded up; tenths : whether a tenth of them is many."""
        kept = replace(
            self,
            miss_include=tuple(point for point in self.miss_include if point[2] >= least),
            unlabeled=max(self.unlabeled, least) if self.unlabeled else 0,
        )
        return kept if tenths else replace(kept, worst_linked=(), worst_mixed=())


@dataclass(frozen=True)
class Linkage(Subject):
    """Adversaries who say which items belong together, against the truth.

    items, subjects, counted : items, subjects, and subjects with at least `min_size` items, of which rates are
    alpha, beta              : weight of linking against mixing, and the share of items whose linking is a breach
    wanted                   : whether foreign items are welcome to the subjects; then mixed curves are turned round,
                               1 before anything foreign is mixed in
    betas                    : thresholds of `breach_rates` and `slopes`, in increasing order
    guesses                  : at least one, each name once
    unlabeled                : what items of a guess are that the truth lacks, see `unmask.core.partition.Unlabeled`
    own                      : which of weight, alpha, beta and wanted come from a column of the truth
    """

    name: ClassVar = "linkage"
    shown_by: ClassVar = "unmask.reports.sections.linkage"
    kind: ClassVar = "Linkage audit"
    verb: ClassVar = "audit linkage"
    asks: ClassVar = "breached <= 0.1"

    items: int
    subjects: int
    counted: int
    min_size: int
    alpha: float
    beta: float
    wanted: bool
    betas: tuple[float, ...]
    guesses: tuple[GuessLinkage, ...]
    unlabeled: str = "error"
    own: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a threshold of nothing: every subject would be breached by it."""
        if self.beta <= 0:
            raise UnmaskError(f"beta is {self.beta:g}, expected a share above 0")

    def without_small(self, least: int) -> Linkage:
        """Without errors that few subjects have, and without the worst-off tenth of few."""
        tenths = self.counted >= TENTH * least
        return replace(self, guesses=tuple(one.without_small(least, tenths=tenths) for one in self.guesses))
