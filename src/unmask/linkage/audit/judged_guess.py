"""Evaluation of one guess with the truth: rates over subjects, and rates of random guesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Booleans, Floats
from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition, View, keep_common_items
from unmask.core.tolerances import LINK_TIE
from unmask.linkage.audit.facts import BASELINES, GuessFacts, Sensitivity
from unmask.linkage.audit.partition_scores import SHOWN_SCORES, VIEW_SCORES, score_partition, score_view
from unmask.linkage.link_files import LinkThreshold
from unmask.measures.clustering import Contingency, Unlinkability, bounds, fairness
from unmask.measures.clustering.contingency import DRAWN_ITEMS, OWN
from unmask.measures.clustering.curves import overall_slope
from unmask.measures.clustering.overlap import Override
from unmask.measures.clustering.subject_rates import FURTHER_RATES, RATES, Rate
from unmask.measures.clustering.unlinkability import average_curves
from unmask.measures.interval import Interval
from unmask.measures.measure import build_number_row, build_row
from unmask.measures.registry import MEASURES
from unmask.results.rows import BOUNDS, Row

BETAS: Final = tuple(round(0.05 * i, 2) for i in range(1, 21))
"""Thresholds of the curves in a report."""

ALPHAS: Final = (0.0, 1 / 3, 0.5, 2 / 3, 1.0)
"""Weights of linked against mixed items for which the risk slope is drawn."""

LONGEST_CURVE: Final = 200
"""Largest number of merges in a chart."""

EVERY_ITEM: Final = 1 << 62
"""No limit on the items in a random guess."""

SHUFFLED_ITEMS: Final = 1 << 21
"""Number of shuffled items after which no more shuffles are made, with at least two. The means then differ by less than
the displayed digits.
"""


def compare_guesses(
    truth: Partition,
    guesses: Mapping[str, Partition | View],
    sensitivity: Sensitivity,
    columns: Mapping[str, ArrayLike] | None = None,
    overrides: Sequence[Override] = (),
) -> dict[str, Contingency]:
    """Return the contingency table of each guess and the truth.

    The result of a guess does not depend on other guesses, unless items are dropped.

    Parameters
    ----------
    truth : Partition
        Subjects of the items.
    guesses : mapping of Partition or View
        Name -> clusters of the items.
    sensitivity : Sensitivity
        Treatment of missing and unlabeled items.
    columns : mapping of arrays of shape (n,), optional
        Values of the truth's items: "weight" in [0, 1]; and values of their subjects: "alpha", "beta" and "wanted",
        equal for all items of a subject. They replace those of the sensitivity. Section 3.3 of the paper.
    overrides : sequence of (subject, item, weight), optional
        Weights that apply to one subject only.
    """
    views = [View([guess]) if isinstance(guess, Partition) else guess for guess in guesses.values()]
    n_items = [_count_items(truth, view) for view in views]
    if sensitivity.missing == "drop":  # an item that one guess lacks is dropped from all
        _, views = keep_common_items(truth, views)
    options: dict[str, Any] = {"missing": sensitivity.missing, "unlabeled": sensitivity.unlabeled}
    options |= {"weights": (columns or {}).get("weight"), "own": _values_of_subjects(truth, columns or {})}
    options["overrides"] = overrides
    contingencies = {}
    for name, view, n in zip(guesses, views, n_items, strict=True):
        try:
            contingencies[name] = replace(Contingency.of(truth, view, **options), n_items=n)
        except UnmaskError as error:
            raise UnmaskError(f"guess {name}: {error}" if len(guesses) > 1 else str(error)) from None
    return contingencies


def _count_items(truth: Partition, view: View) -> int:
    """Return the number of items of the truth or of a guess; items without ids are those of the truth."""
    ids = [part.items for part in (truth, *view.partitions) if part.items is not None]
    return len(set().union(*(array.tolist() for array in ids))) if ids else len(truth)


def _values_of_subjects(truth: Partition, values_by_name: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
    """Return the value of each subject; raise if its items have different values."""
    values_of = {}
    first = np.unique(truth.code, return_index=True)[1]
    for name, values in values_by_name.items():
        if name not in ("weight", *OWN):
            raise UnmaskError(f"{name!r} is not a value of items or subjects; expected weight, {', '.join(OWN)}")
        array = np.asarray(values)
        if array.shape != (len(truth),):
            raise UnmaskError(f"there are {array.size} values of {name} for {len(truth)} items, expected one for each")
        if name != "weight":
            values_of[name] = array[first]
            if np.any(values_of[name][truth.code] != array):
                raise UnmaskError(f"{name} differs between items of a subject, expected one value for each subject")
    return values_of


@dataclass(frozen=True, eq=False)
class JudgedGuess:
    """One guess, evaluated with the truth.

    Parameters
    ----------
    name : str
        Name of the guess.
    contingency : Contingency
        Numbers of items that subjects and clusters have in common.
    sensitivity : Sensitivity
        Definition of a breach.
    threshold : LinkThreshold, optional
        Accepted links, if the guess consists of scored links.
    measures : tuple of str
        Requested measures, see `partition_scores`.
    """

    name: str
    contingency: Contingency
    sensitivity: Sensitivity
    threshold: LinkThreshold | None = None
    measures: tuple[str, ...] = ()

    @property
    def rates(self) -> tuple[Rate, ...]:
        """Rates of the rows, in order."""
        return (*RATES, *(rate for rate in FURTHER_RATES if rate.name in self.measures))

    @cached_property
    def unlinkability(self) -> Unlinkability:
        """Measures of each subject; raises if items are unknown."""
        return self.sensitivity.evaluate(self.contingency)

    @cached_property
    def counted(self) -> Booleans:
        """(S,) True for the subjects that rates refer to."""
        return np.asarray(self.contingency.tables[0].subject_size >= self.sensitivity.min_size)

    @cached_property
    def values(self) -> dict[str, Floats]:
        """Rate -> (2, counted) smallest and largest value; equal unless items are unknown."""
        sensitivity = self.sensitivity
        if sensitivity.unlabeled == "unknown":
            open_ = bounds(
                self.contingency, alpha=sensitivity.alpha, beta=sensitivity.beta, min_size=sensitivity.min_size
            )
            return {rate.name: getattr(open_, rate.name)[:, self.counted] for rate in RATES if rate.bounded}
        by_rate: dict[str, Floats] = {rate.name: getattr(self.unlinkability, rate.name) for rate in RATES}
        by_rate |= {rate.name: self.unlinkability.errors[rate.name] for rate in self.rates[len(RATES) :]}
        return {name: np.stack([value[self.counted].astype(np.float64)] * 2) for name, value in by_rate.items()}

    @cached_property
    def whole(self) -> dict[str, float]:
        """Requested scores of the whole guess; for a view also certainty and consistency."""
        views = VIEW_SCORES if len(self.contingency.tables) > 1 else self.measures
        return score_partition(self.contingency, self.measures) | score_view(self.contingency, views)

    @property
    def means(self) -> dict[str, float]:
        """Mean of each rate over the counted subjects (for the bound that the adversary prefers), and whole scores."""
        rates = {rate.name: rate for rate in self.rates}
        return {name: float(rates[name].worst_case(value).mean()) for name, value in self.values.items()} | self.whole

    @cached_property
    def random_means(self) -> dict[str, float]:
        """Means under random guesses; over a random sample of the counted subjects if they have many items."""
        sensitivity, rng = self.sensitivity, np.random.default_rng(self.sensitivity.seed)
        handed_out = min(int(self.contingency.tables[0].subject_size.sum()), DRAWN_ITEMS)
        all_items = sensitivity.unlabeled == "unknown" or bool(self.whole)  # a sample would change the owners of items
        n_draws = min(sensitivity.shuffles, max(2, SHUFFLED_ITEMS // handed_out))
        guesses = (
            self.contingency.at_random(
                rng=rng,
                process=sensitivity.baseline,
                min_size=sensitivity.min_size,
                max_items=EVERY_ITEM if all_items else DRAWN_ITEMS,
            )
            for _ in range(n_draws)
        )
        drawn = [JudgedGuess(self.name, guess, sensitivity, measures=self.measures).means for guess in guesses]
        return {name: float(np.mean([means.get(name, np.nan) for means in drawn])) for name in self.means}

    def rows(self, release: str = "items") -> Iterator[Row]:
        """Yield each rate over the counted subjects, with its mean under random guesses.

        Rates that are undefined for a subject are omitted. If items are unknown, the value is the bound that the
        adversary prefers, and the interval has both bounds.
        """
        for rate in self.rates:
            values = self.values.get(rate.name)
            if values is not None and not np.isnan(values).any():
                yield replace(self._row(release, rate, values), **self.coverage)
        for name, value in self.whole.items():
            if not np.isnan(value):
                yield replace(self._whole_row(release, name, value), **self.coverage)

    @property
    def coverage(self) -> dict[str, Any]:
        """Return counts for `Row`: items of the files, and items of counted subjects; or the numbers of subjects, if
        their share is smaller.
        """
        size = self.contingency.tables[0].subject_size
        is_judged, labeled = self.counted | (size == 1), int(size.sum())
        items, subjects = max(self.contingency.n_items, labeled), len(size)
        if is_judged.mean() * items < size[is_judged].sum():
            return {"n_people": subjects, "n_drawn": subjects, "n_judged": int(is_judged.sum())}
        drawn = labeled if self.sensitivity.truth_sampled else items
        return {"n_people": items, "n_drawn": drawn, "n_judged": int(size[is_judged].sum())}

    def _row(self, release: str, rate: Rate, values: Floats) -> Row:
        value, prior = rate.worst_case(values), self.random_means[rate.name]
        interval = _between(values) if self.sensitivity.unlabeled == "unknown" else rate.interval(value)
        return build_row(
            rate,
            (prior, float(value.mean())),
            interval._replace(over=interval.over.replace("targets", "subjects")),
            (value, np.full(len(value), 1 / len(value)), np.flatnonzero(self.counted)),
            n=len(value),
            n_observations=len(value),
            names=(release, self.name, "linkage", f"prior: {BASELINES[self.sensitivity.baseline].name}"),
        )

    def _whole_row(self, release: str, name: str, value: float) -> Row:
        interval = Interval(None, None, "none: a number of the whole guess")
        return build_number_row(
            MEASURES[name], value, interval, release=release, adversary=self.name, target="linkage",
            prior=self.random_means[name], n=len(self.contingency.subjects), n_observations=1,
            note=f"prior: {BASELINES[self.sensitivity.baseline].name}",
        )  # fmt: skip

    def facts(self) -> GuessFacts:
        """Return rates, curves, and scores of the whole partition.

        If items are unknown: bounds of each rate, and nothing about merges.
        """
        rate = {name: self.values[name].mean(axis=1).tolist() for name in ("breached", "clean_breach")}
        first = self.contingency.tables[int(np.argmax(self.contingency.probability))]
        lower_bounds, upper_bounds = (
            {"breached": rate["breached"][end], "clean": rate["clean_breach"][end]} for end in (0, 1)
        )
        is_unknown = self.sensitivity.unlabeled == "unknown"
        return GuessFacts(
            name=self.name,
            clusters=len(first.cluster_size),
            partitions=len(self.contingency.tables),
            guessing=self.random_means["breached"],
            whole=score_partition(self.contingency, dict.fromkeys((*SHOWN_SCORES, *self.measures))),
            unlabeled=int(self.contingency.tables[0].n_unowned.sum()),
            one_by_one=self._one_by_one(),
            largest=float(first.cluster_size.max() / first.cluster_size.sum()),
            **({} if self.threshold is None else self.threshold._asdict()),
            **upper_bounds,
            **({"at_least": lower_bounds} if is_unknown else self._of_merges()),
        )

    def _one_by_one(self) -> dict[str, float]:
        """Return the expected breaches of a single random partition of a view; upper bounds if items are unknown."""
        probability = self.contingency.probability
        if len(probability) == 1:
            return {}
        single = (
            replace(self.contingency, weighed=(part,), probability=np.ones(1)) for part in self.contingency.weighed
        )
        rates = [JudgedGuess(self.name, contingency, self.sensitivity).values for contingency in single]
        names = {"breached": "breached", "clean": "clean_breach"}
        return {name: float(probability @ [values[rate][1].mean() for values in rates]) for name, rate in names.items()}

    def _of_merges(self) -> dict[str, Any]:
        measured, keep = self.unlinkability, self.counted
        fair = fairness(np.where(keep, measured.risk_slope, np.nan))
        is_worst = np.isin(np.arange(len(keep)), fair.worst)
        worst_linked, worst_mixed = measured.steps.average(is_worst.astype(np.float64))
        merges, linked = measured.merges[keep], measured.linked_now[keep]
        return {
            "one_away": float(((merges > 0) & (merges <= 1)).mean()),
            "median_merges": float(np.median(merges)),
            "most_merges": float(merges.max()),
            "gini": fair.gini,
            "jain": fair.jain,
            "linked_curve": _curve(measured.linked_curve),
            "mixed_curve": _curve(measured.mixed_curve),
            "worst_linked": _curve(worst_linked),
            "worst_mixed": _curve(worst_mixed),
            "slopes": tuple(self._slopes()),
            "breach_rates": tuple(float((linked >= beta - LINK_TIE).mean()) for beta in BETAS),
            "miss_include": _counts(measured.miss[keep], measured.include[keep]),
            "kind": str(measured.kind),
            "recovered": _recovered(self.contingency, keep),
        }

    def _slopes(self) -> Iterator[tuple[float, tuple[float, ...]]]:
        """Yield the risk slope of the average subject for each weight and threshold, equal for all subjects."""
        wanted, min_size = self.sensitivity.wanted, self.sensitivity.min_size
        for alpha in ALPHAS:
            curves = average_curves(self.contingency, alpha=alpha, contamination_wanted=wanted, min_size=min_size)
            yield alpha, tuple(overall_slope(*curves, alpha, beta) for beta in BETAS)


def _between(values: Floats) -> Interval:
    low, high = values.mean(axis=1).tolist()
    return Interval(low, high, f"{BOUNDS} that can be: unlabeled items may be a subject's own or foreign")


def _curve(curve: Floats) -> tuple[float, ...]:
    return tuple(map(float, curve[:LONGEST_CURVE]))


def _counts(miss: Floats, include: Floats) -> tuple[tuple[int, int, int], ...]:
    """Return the number of subjects for each pair of misses and includes, in whole items."""
    pairs, counts = np.unique(np.rint(np.stack([miss, include])).astype(np.int64), axis=1, return_counts=True)
    return tuple((int(m), int(i), int(c)) for m, i, c in zip(*pairs, counts, strict=True))


def _recovered(met: Contingency, keep: Booleans) -> float:
    """Return the share of subjects that are recovered exactly, expected over the partitions of a view."""
    shares = []
    for table in met.tables:
        is_complete = table.shared == table.subject_size[table.subject]
        is_complete &= table.shared == table.cluster_size[table.cluster]
        shares.append(float(np.isin(np.flatnonzero(keep), table.subject[is_complete]).mean()))
    return float(met.probability @ shares)
