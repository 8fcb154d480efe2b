"""One guess against the truth: rates of its subjects beside those of guesses at random, and what a page shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Floats
from unmask.core.errors import UnmaskError
from unmask.core.partition import Missing, Partition, Unlabeled, View, in_all
from unmask.core.tolerances import LINK_TIE
from unmask.measures.base import build_row
from unmask.measures.clustering import Contingency, Unlinkability, bounds, clustering_metrics, evaluate, fairness
from unmask.measures.clustering.contingency import DRAWN_ITEMS, OWN
from unmask.measures.clustering.curves import overall_slope
from unmask.measures.clustering.unlinkability import RATES, Rate
from unmask.measures.interval import Interval
from unmask.ranges import Range, check_ranges
from unmask.reports.facts.linkage import GuessLinkage
from unmask.reports.words import BOUNDS
from unmask.results import Row

BETAS: Final = tuple(round(0.05 * i, 2) for i in range(1, 21))
"""Thresholds of the curves in the report."""

ALPHAS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Weights of linking against mixing for which the risk slope is drawn."""

LONGEST_CURVE: Final = 200
"""Merges that are drawn at most."""

EVERY_ITEM: Final = 1 << 62
"""No limit to the items that a guess at random hands out."""

WHOLE: Final = {
    "ari": "adjusted_rand",
    "voi_over_log_n": "voi_over_log_n",
    "transfer_over_n": "transfer_over_n",
    "bcubed_precision": "bcubed.precision",
    "bcubed_recall": "bcubed.recall",
    "pair_precision": "pairs.precision",
    "pair_recall": "pairs.recall",
}
"""Scores of a whole partition, and where `ClusteringMetrics` has them."""


SHUFFLED_ITEMS: Final = 1 << 21
"""Items that all shuffles hand out before no more are made, at least two: their means differ by less than is shown."""


@dataclass(frozen=True)
class Sensitivity:
    """What counts as linked too far, for all guesses of an audit.

    alpha     : weight of linking; the rest is the weight of mixing in foreign items
    beta      : share of a subject's items that is a breach once it is linked
    wanted    : count foreign items as welcome to the subjects
    min_size  : fewest items of a counted subject; one item is always linked
    missing   : what an item of the truth is that a guess lacks, or has without a label: an error, a cluster of its own,
                or left out of the truth and of every guess, so that all are compared on the same items
    unlabeled : what an item of a guess is that the truth lacks, or has without a label: an error; foreign, as the truth
                has every item of its subjects; unknown, perhaps theirs, which gives bounds; or left out
    truth_sampled : subjects of the truth are drawn at random, and stand for all
    shuffles  : shuffled guesses, for the baseline, see `Contingency.at_random`; of many items fewer will do, see
                `SHUFFLED_ITEMS`
    seed      : random seed of the shuffles
    """

    alpha: Annotated[float, Range(0, 1)] = 0.5
    beta: Annotated[float, Range(0, 1, above=True)] = 0.8
    wanted: bool = False
    min_size: Annotated[int, Range(1)] = 2
    missing: Missing = "error"
    unlabeled: Unlabeled = "error"
    truth_sampled: bool = False
    shuffles: Annotated[int, Range(1)] = 20
    seed: Annotated[int, Range(0)] = 0

    def __post_init__(self) -> None:
        check_ranges(self)

    def evaluate(self, met: Contingency, **other: Any) -> Unlinkability:
        """One guess against the truth. other : what is to differ from this sensitivity, see `evaluate`."""
        said = {"alpha": self.alpha, "beta": self.beta, "contamination_wanted": self.wanted, "min_size": self.min_size}
        return evaluate(met, **(said | other))


def met_by(
    truth: Partition,
    guesses: Mapping[str, Partition | View],
    asked: Sensitivity,
    own: Mapping[str, ArrayLike] | None = None,
) -> dict[str, Contingency]:
    """What every guess has in common with the truth.

    own : of the truth's items, (n,) each: their "weight" in [0, 1], and what their subject minds in place of what the
          sensitivity says of all: "alpha", "beta", "wanted", one value for all items of a subject. Section 3.3 of the
          paper

    What one guess gives does not depend on the others, unless items are dropped.
    """
    views = [View([guess]) if isinstance(guess, Partition) else guess for guess in guesses.values()]
    n_items = [_count_items(truth, view) for view in views]
    if asked.missing == "drop":  # from all of them what one lacks
        _, views = in_all(truth, views)
    said: dict[str, Any] = {"missing": asked.missing, "unlabeled": asked.unlabeled}
    said |= {"weights": (own or {}).get("weight"), "own": _of_subjects(truth, own or {})}
    met = {}
    for name, view, n in zip(guesses, views, n_items, strict=True):
        try:
            met[name] = replace(Contingency.of(truth, view, **said), n_items=n)
        except UnmaskError as error:
            raise UnmaskError(f"guess {name}: {error}" if len(guesses) > 1 else str(error)) from None
    return met


def _count_items(truth: Partition, view: View) -> int:
    """Return the number of items of the truth or of a guess; items without ids are those of the truth."""
    ids = [part.items for part in (truth, *view.partitions) if part.items is not None]
    return len(set().union(*(one.tolist() for one in ids))) if ids else len(truth)


def _of_subjects(truth: Partition, own: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
    """(S,) the one value of all items of each subject."""
    found = {}
    first = np.unique(truth.code, return_index=True)[1]
    for name, values in own.items():
        if name not in ("weight", *OWN):
            raise UnmaskError(f"items and subjects have no {name!r} of their own; expected weight, {', '.join(OWN)}")
        each = np.asarray(values)
        if each.shape != (len(truth),):
            raise UnmaskError(f"there are {each.size} values of {name} for {len(truth)} items, expected one for each")
        if name != "weight":
            found[name] = each[first]
            if np.any(found[name][truth.code] != each):
                raise UnmaskError(f"{name} differs between items of a subject, expected one value for all of them")
    return found


@dataclass(frozen=True, eq=False)
class Case:
    """One guess against the truth: its rows, and what a page shows of it."""

    name: str
    met: Contingency
    asked: Sensitivity

    @cached_property
    def found(self) -> Unlinkability:
        """The measures of every subject; refused where items are unknown."""
        return self.asked.evaluate(self.met)

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """(S,) the subjects that rates are over."""
        return np.asarray(self.met.tables[0].subject_size >= self.asked.min_size)

    @cached_property
    def values(self) -> dict[str, Floats]:
        """Rate -> (2, counted) the least and the most that it can be; those are the same unless items are unknown."""
        asked = self.asked
        if asked.unlabeled == "unknown":
            open_ = bounds(self.met, alpha=asked.alpha, beta=asked.beta, min_size=asked.min_size)
            return {rate.name: getattr(open_, rate.name)[:, self.counted] for rate in RATES if rate.bounded}
        each = {rate.name: np.asarray(getattr(self.found, rate.name), dtype=np.float64) for rate in RATES}
        return {name: np.stack([value[self.counted]] * 2) for name, value in each.items()}

    @cached_property
    def at_random(self) -> dict[str, float]:
        """The mean of each rate over the counted subjects, or a random sample of them, under shuffled labels."""
        asked, rng = self.asked, np.random.default_rng(self.asked.seed)
        handed_out = min(int(self.met.tables[0].subject_size.sum()), DRAWN_ITEMS)
        sampled = {"max_items": EVERY_ITEM} if asked.unlabeled == "unknown" else {}  # a sample takes owners from items
        drawn = [
            Case(self.name, self.met.at_random(rng=rng, min_size=asked.min_size, **sampled), asked).values
            for _ in range(min(asked.shuffles, max(2, SHUFFLED_ITEMS // handed_out)))
        ]
        return {
            rate.name: float(np.mean([rate.worst_case(one[rate.name]).mean() for one in drawn])) if drawn else np.nan
            for rate in RATES
            if rate.name in self.values
        }

    def rows(self, release: str = "items") -> Iterator[Row]:
        """Each rate over the counted subjects, beside its mean under shuffled labels; what some subject has no value of
        is left out. Where items are unknown, the value is what the adversary would like best, between the bounds.
        """
        for rate in RATES:
            values = self.values.get(rate.name)
            if values is not None and not np.isnan(values).any():
                yield replace(self._row(release, rate, values), **self.coverage)

    @property
    def coverage(self) -> dict[str, Any]:
        """Return the items of the files, and those of subjects who are counted, or alone: see `Row`. If the share of
        subjects is smaller, their numbers.
        """
        size = self.met.tables[0].subject_size
        judged, labeled = self.counted | (size == 1), int(size.sum())
        items, subjects = max(self.met.n_items, labeled), len(size)
        if judged.mean() * items < size[judged].sum():
            return {"n_people": subjects, "n_drawn": subjects, "n_judged": int(judged.sum())}
        drawn = labeled if self.asked.truth_sampled else items
        return {"n_people": items, "n_drawn": drawn, "n_judged": int(size[judged].sum())}

    def _row(self, release: str, rate: Rate, values: Floats) -> Row:
        value, prior = rate.worst_case(values), self.at_random[rate.name]
        interval = _between(values) if self.asked.unlabeled == "unknown" else rate.interval(value)
        worst = int(np.argmax(value) if rate.direction == "high" else np.argmin(value))
        return build_row(
            rate,
            (prior, float(value.mean())),
            interval._replace(over=interval.over.replace("targets", "subjects")),
            (value, np.full(len(value), 1 / len(value))),
            n=len(value),
            n_observations=len(value),
            worst=float(value[worst]),
            worst_observation=int(np.flatnonzero(self.counted)[worst]),
            names=(release, self.name, "linkage", "prior: the same clusters with shuffled labels"),
        )

    def shown(self) -> GuessLinkage:
        """What a page shows: rates, curves, and scores of the whole partition.

        Where items are unknown, the most of each rate, beside the least, and nothing of merges.
        """
        rate = {name: self.values[name].mean(axis=1).tolist() for name in ("breached", "clean_breach")}
        first = self.met.tables[int(np.argmax(self.met.probability))]
        decided = self.asked.unlabeled != "unknown"
        most = {"breached": rate["breached"][1], "clean": rate["clean_breach"][1]}
        least = {"breached": rate["breached"][0], "clean": rate["clean_breach"][0]}
        return GuessLinkage(
            name=self.name,
            clusters=len(first.cluster_size),
            partitions=len(self.met.tables),
            guessing=self.at_random["breached"],
            whole=_whole(self.met),
            unlabeled=int(self.met.tables[0].n_unowned.sum()),
            one_by_one=self._one_by_one(),
            **most,
            **(self._of_merges() if decided else _NO_MERGES | {"at_least": least}),
        )

    def _one_by_one(self) -> dict[str, float]:
        """Of a view, what each partition breaches alone, the most that it can be, on average by their probability."""
        probability = self.met.probability
        if len(probability) == 1:
            return {}
        alone = (replace(self.met, weighed=(one,), probability=np.ones(1)) for one in self.met.weighed)
        each = [Case(self.name, met, self.asked).values for met in alone]
        of = {"breached": "breached", "clean": "clean_breach"}
        return {name: float(probability @ [one[rate][1].mean() for one in each]) for name, rate in of.items()}

    def _of_merges(self) -> dict[str, Any]:
        found, keep = self.found, self.counted
        fair = fairness(np.where(keep, found.risk_slope, np.nan))
        worst = self.asked.evaluate(self.met, only=np.isin(np.arange(len(keep)), fair.worst))
        merges, linked = found.merges[keep], found.linked_now[keep]
        return {
            "one_away": float(((merges > 0) & (merges <= 1)).mean()),
            "median_merges": float(np.median(merges)),
            "most_merges": float(merges.max()),
            "gini": fair.gini,
            "jain": fair.jain,
            "linked_curve": _curve(found.linked_curve),
            "mixed_curve": _curve(found.mixed_curve),
            "worst_linked": _curve(worst.linked_curve),
            "worst_mixed": _curve(worst.mixed_curve),
            "slopes": tuple(self._slopes()),
            "breach_rates": tuple(float((linked >= beta - LINK_TIE).mean()) for beta in BETAS),
            "miss_include": _counts(found.miss[keep], found.include[keep]),
            "kind": str(found.kind),
            "recovered": _recovered(self.met, keep),
        }

    def _slopes(self) -> Iterator[tuple[float, tuple[float, ...]]]:
        """Of the average subject, for each weight of linking and each threshold, the same for all subjects."""
        alike = replace(self.met, own={name: minds for name, minds in self.met.own.items() if name == "wanted"})
        for alpha in ALPHAS:
            found = self.asked.evaluate(alike, alpha=alpha)
            yield alpha, tuple(overall_slope(found.linked_curve, found.mixed_curve, alpha, beta) for beta in BETAS)


_NO_MERGES: Final[dict[str, Any]] = (
    dict.fromkeys(("one_away", "median_merges", "most_merges", "gini", "jain"), float("nan"))
    | dict.fromkeys(("linked_curve", "mixed_curve", "worst_linked", "worst_mixed"), ())
    | {"slopes": (), "breach_rates": (), "miss_include": (), "kind": ""}
)


def _between(values: Floats) -> Interval:
    low, high = values.mean(axis=1).tolist()
    return Interval(low, high, f"{BOUNDS} that can be: unlabeled items may be a subject's own or foreign")


def _curve(curve: Floats) -> tuple[float, ...]:
    return tuple(map(float, curve[:LONGEST_CURVE]))


def _counts(miss: Floats, include: Floats) -> tuple[tuple[int, int, int], ...]:
    """How many subjects have so many misses and includes, in whole items."""
    pairs, counts = np.unique(np.rint(np.stack([miss, include])).astype(np.int64), axis=1, return_counts=True)
    return tuple((int(m), int(i), int(c)) for m, i, c in zip(*pairs, counts, strict=True))


def _recovered(met: Contingency, keep: NDArray[np.bool_]) -> float:
    """Expected over the partitions of a view."""
    each = []
    for table in met.tables:
        whole = table.shared == table.subject_size[table.subject]
        whole &= table.shared == table.cluster_size[table.cluster]
        each.append(float(np.isin(np.flatnonzero(keep), table.subject[whole]).mean()))
    return float(met.probability @ each)


def _whole(met: Contingency) -> dict[str, float]:
    """What whole-partition scores say of the labeled items; there are none of a view of several."""
    if len(met.tables) > 1:
        return {}
    scores = clustering_metrics(met.tables[0].labeled)
    return {name: float(attrgetter(place)(scores)) for name, place in WHOLE.items()}
