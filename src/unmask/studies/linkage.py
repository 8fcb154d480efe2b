"""The standard audit of linkage: what adversaries who cluster items do to every subject, against shuffled guesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import UnmaskError
from unmask.measures.base import QUANTILES, weighted_quantiles
from unmask.measures.interval import Interval, clustered_bootstrap, clustered_wilson
from unmask.measures.unlinkability import Contingency, Unlinkability, bounds, evaluate_contingency
from unmask.measures.unlinkability.evaluate import own_values
from unmask.reports import GuessLinkage, Linkage, ReportData
from unmask.reports.words import BOUNDS
from unmask.results import Row
from unmask.studies.linkage_shown import BETAS, shown_of
from unmask.view import Missing, Partition, Unlabeled, View, in_all

Floats = NDArray[np.float64]

LINKAGE_MEASURES = (
    ("breached", "share", "high", True),
    ("clean_breach", "share", "high", True),
    ("linked_now", "share", "high", False),
    ("foreign_share", "share", "low", False),
    ("mergings", "mergings", "low", False),
    ("risk_slope", "", "high", False),
    ("miss", "items", "low", False),
    ("include", "items", "low", False),
    ("foreign_subjects", "subjects", "low", False),
    ("effective_foreign_subjects", "subjects", "low", False),
)
"""Name, unit, what the adversary wants, whether it is a proportion of subjects."""

BOUNDED = ("breached", "clean_breach", "linked_now", "foreign_share")
"""The measures that have bounds where unlabeled items are unknown."""

OWN = ("weight", "alpha", "beta", "wanted")
"""What items may have of their own, and what subjects may: a column of the truth each."""

EVERY_ITEM = 1 << 62
"""No limit to the items that a guess at random hands out."""


@dataclass(frozen=True)
class Sensitivity:
    """What counts as linked too far, for the whole audit.

    alpha, beta : weight of linking against mixing; share of a subject's items whose linking is a breach
    wanted      : whether foreign items are welcome to the subjects
    min_size    : items that a subject must have to be counted; one item is always linked
    missing     : what an item of the truth is that a guess lacks, see `unmask.view.Missing`; "drop" leaves it out of
                  every guess, so that all are compared on the same items
    unlabeled   : what an item of a guess is that the truth lacks, see `unmask.view.Unlabeled`
    shuffles    : guesses with the same cluster sizes and shuffled labels, for the baseline; see `Contingency.at_random`
    seed        : of the shuffles
    """

    alpha: float = 0.5
    beta: float = 0.8
    wanted: bool = False
    min_size: int = 2
    missing: Missing = "error"
    unlabeled: Unlabeled = "error"
    shuffles: int = 20
    seed: int = 0

    def evaluate(
        self, met: Contingency, *, alpha: float | None = None, only: NDArray[np.bool_] | None = None
    ) -> Unlinkability:
        """One guess against the truth; a breach has slope 1. alpha : another one than that of the audit."""
        return evaluate_contingency(
            met,
            alpha=self.alpha if alpha is None else alpha,
            beta=self.beta,
            contamination_wanted=self.wanted,
            min_size=self.min_size,
            only=only,
            breached_slope="one",
        )

    def values(self, met: Contingency) -> Values:
        """Every measure of every counted subject, at least and at most; those are the same unless items are unknown."""
        if self.unlabeled == "unknown":
            open_ = bounds(met, alpha=self.alpha, beta=self.beta, min_size=self.min_size)
            counted = open_.counted
            return Values(counted, {name: getattr(open_, name)[:, counted] for name in BOUNDED})
        found = self.evaluate(met)
        return Values(
            found.counted, {name: np.stack([_value(found, name)[found.counted]] * 2) for name, *_ in LINKAGE_MEASURES}
        )

    def at_random(self, met: Contingency) -> dict[str, float]:
        """The mean of each measure over the counted subjects, or a random sample of them, under shuffled labels."""
        rng = np.random.default_rng(self.seed)
        means: dict[str, list[float]] = {name: [] for name, *_ in LINKAGE_MEASURES}
        sampled = {"most": EVERY_ITEM} if self.unlabeled == "unknown" else {}  # a sample takes owners from items
        for _ in range(self.shuffles):
            found = self.values(met.at_random(rng=rng, min_size=self.min_size, **sampled))
            for name in found.each:
                means[name].append(float(found.best(name).mean()))
        return {name: float(np.mean(each)) if each else float("nan") for name, each in means.items()}


class Values(NamedTuple):
    """What was found of the counted subjects.

    counted : (S,) which they are
    each    : measure -> (2, counted) the least and the most that it can be
    """

    counted: NDArray[np.bool_]
    each: Mapping[str, Floats]

    def best(self, name: str) -> Floats:
        """(counted,) what the adversary would like best: an audit promises no more than the least favorable case."""
        best: Floats = self.each[name][1 if _WANTED[name] == "high" else 0]
        return best


_WANTED = {name: direction for name, _, direction, _ in LINKAGE_MEASURES}


def study_linkage(
    truth: Partition,
    guesses: Mapping[str, Partition | View],
    sensitivity: Sensitivity | None = None,
    *,
    own: Mapping[str, ArrayLike] | None = None,
    title: str = "Audit of linkage",
    reproduce: Mapping[str, object] | None = None,
) -> ReportData:
    """Every guess against the truth, subject by subject, and beside it what guesses of the same shape would link.

    own : of the truth's items, (n,) each: their "weight" in [0, 1], and what their subject minds in place of what the
          sensitivity says of all: "alpha", "beta", "wanted", one value for all items of a subject. Section 3.3 of the
          paper

    Subjects and clusters appear by their place in the order of their labels; no label and no item is shown, and the
    order of the rows does not matter. What one guess shows does not depend on the others, unless items are dropped.
    """
    if not guesses:
        raise UnmaskError("0 guesses were given, expected at least 1 partition to evaluate")
    asked = sensitivity or Sensitivity()
    return study_contingencies(_met(truth, guesses, asked, own or {}), asked, title=title, reproduce=reproduce)


def _met(
    truth: Partition, guesses: Mapping[str, Partition | View], asked: Sensitivity, own: Mapping[str, ArrayLike]
) -> dict[str, Contingency]:
    views = [View([guess]) if isinstance(guess, Partition) else guess for guess in guesses.values()]
    if asked.missing == "drop":  # from all of them what one lacks
        _, views = in_all(truth, views)
    unknown = next((name for name in own if name not in OWN), None)
    if unknown is not None:
        raise UnmaskError(f"items and subjects have no {unknown!r} of their own; expected {', '.join(OWN)}")
    minds = own_values(
        {name: _of_subject(name, own[name], truth) for name in own if name != "weight"}, truth.n_clusters
    )
    met = {}
    for name, view in zip(guesses, views, strict=True):
        try:
            met[name] = Contingency.of(
                truth, view, missing=asked.missing, unlabeled=asked.unlabeled, weights=own.get("weight"), own=minds
            )
        except UnmaskError as error:
            raise UnmaskError(f"guess {name}: {error}" if len(guesses) > 1 else str(error)) from None
    return met


def _of_subject(name: str, values: ArrayLike, truth: Partition) -> NDArray[Any]:
    """(S,) the one value of all items of each subject."""
    each = np.asarray(values)
    if each.shape != (len(truth),):
        raise UnmaskError(f"there are {each.size} values of {name} for {len(truth)} items, expected one for each")
    found = each[np.unique(truth.code, return_index=True)[1]]
    if np.any(found[truth.code] != each):
        raise UnmaskError(f"{name} differs between items of a subject, expected one value for all of them")
    return np.asarray(found)


def study_contingencies(
    guesses: Mapping[str, Contingency],
    asked: Sensitivity,
    *,
    title: str = "Audit of linkage",
    reproduce: Mapping[str, object] | None = None,
) -> ReportData:
    """The same from counts, without the items; all guesses are about the same subjects."""
    rows: list[Row] = []
    shown: list[GuessLinkage] = []
    for name, met in guesses.items():
        guessed = asked.at_random(met)
        rows.extend(_rows(name, asked, met, guessed))
        shown.append(shown_of(name, met, guessed["breached"], asked))
    first = next(iter(guesses.values()))
    sizes = first.tables[0].subject_size
    items, subjects, counted_subjects = int(sizes.sum()), len(sizes), int((sizes >= asked.min_size).sum())
    own = tuple(name for name in OWN if name in first.own or (name == "weight" and first.items is not None))
    return ReportData(
        title=title,
        who=_who(len(guesses), items, subjects),
        rows=tuple(rows),
        assumptions=_assumptions(asked, counted_subjects, subjects),
        not_run=tuple(_not_run(guesses, asked, rows)),
        reproduce=reproduce or {},
        success=(),
        linkage=Linkage(
            items=items,
            subjects=subjects,
            counted=counted_subjects,
            min_size=asked.min_size,
            alpha=asked.alpha,
            beta=asked.beta,
            wanted=asked.wanted,
            betas=() if asked.unlabeled == "unknown" else BETAS,
            guesses=tuple(shown),
            unlabeled=asked.unlabeled,
            own=own,
        ),
    )


def linkage_rows(
    name: str,
    truth: Partition,
    guess: Partition | View,
    asked: Sensitivity,
    own: Mapping[str, ArrayLike] | None = None,
) -> list[Row]:
    """The measures of one guess over the counted subjects, beside those of guesses with shuffled labels."""
    met = _met(truth, {name: guess}, asked, own or {})[name]
    return list(_rows(name, asked, met, asked.at_random(met)))


def _rows(name: str, asked: Sensitivity, met: Contingency, guessed: Mapping[str, float]) -> Iterator[Row]:
    """Each measure over the counted subjects, beside its mean under shuffled labels.

    Where items are unknown, the value is what the adversary would like best, between the bounds. A measure that some
    subject has no value of is left out.
    """
    found = asked.values(met)
    for measure, unit, direction, rate in LINKAGE_MEASURES:
        if measure not in found.each or np.isnan(found.each[measure]).any():
            continue
        value, prior = found.best(measure), guessed[measure]
        weight, each = np.full(len(value), 1 / len(value)), np.arange(len(value))
        interval = _bounds(found.each[measure])
        if asked.unlabeled != "unknown":
            interval = (clustered_wilson if rate else clustered_bootstrap)(value, weight, each)
        worst = int(np.argmax(value) if direction == "high" else np.argmin(value))
        mean = float(value.mean())
        yield Row(
            release="items",
            adversary=name,
            target="linkage",
            measure=measure,
            unit=unit,
            direction="high" if direction == "high" else "low",
            prior=prior,
            posterior=mean,
            gain=mean - prior if direction == "high" else prior - mean,
            low=interval.low,
            high=interval.high,
            interval=interval.over.replace("targets", "subjects"),
            n=len(value),
            n_observations=len(value),
            worst=float(value[worst]),
            worst_observation=int(np.flatnonzero(found.counted)[worst]),
            quantiles=weighted_quantiles(value, weight, QUANTILES),
            status="exact",
            note="prior: the same clusters with shuffled labels",
        )


def _bounds(values: Floats) -> Interval:
    low, high = values.mean(axis=1).tolist()
    return Interval(low, high, f"{BOUNDS} that can be: unlabeled items may be a subject's own or foreign")


def _value(found: Unlinkability, measure: str) -> Floats:
    """(S,) a value of each subject."""
    if measure == "clean_breach":
        return (found.breached & (found.foreign_share <= 0)).astype(np.float64)
    names = {"risk_slope": "slope"}
    return np.asarray(getattr(found, names.get(measure, measure)), dtype=np.float64)


def _who(guesses: int, items: int, subjects: int) -> str:
    whose = "An adversary says" if guesses == 1 else f"{guesses} adversaries say"
    owners = "1 subject" if subjects == 1 else f"{subjects:,} subjects"
    return f"{whose} which of {items:,} items belong together; in truth they belong to {owners}."


def _assumptions(asked: Sensitivity, counted: int, subjects: int) -> tuple[str, ...]:
    wanted = "welcome" if asked.wanted else "unwelcome"
    return (
        f"A subject is breached when {asked.beta:.0%} of its items are in one cluster.",
        f"Missing items weigh {asked.alpha:g} and foreign ones {1 - asked.alpha:g}.",
        f"Foreign items are {wanted} to the subjects.",
        f"Rates are over the {counted:,} of {subjects:,} subjects with at least {asked.min_size} items.",
        "A subject with one item is always linked.",
        "Clusters are merged most relevant first: what an adversary does who learns which of them to merge.",
        "Guessing is the same adversary with the labels of their clusters shuffled over the items.",
        *_different_items(asked),
    )


def _different_items(asked: Sensitivity) -> Iterator[str]:
    if asked.missing != "error":
        yield {
            "singleton": "An item of the truth that a guess lacks is a cluster of its own there.",
            "drop": "Items of the truth that any guess lacks are left out of all of them.",
        }[asked.missing]
    if asked.unlabeled != "error":
        yield {
            "foreign": "The truth has every item of its subjects: any other item of a guess is foreign to all of them.",
            "unknown": "An item that the truth lacks may belong to one of its subjects or to somebody else.",
            "drop": "Items of a guess that the truth lacks are left out.",
        }[asked.unlabeled]


def _not_run(guesses: Mapping[str, Contingency], asked: Sensitivity, rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    views = [name for name, met in guesses.items() if len(met.tables) > 1]
    if views:
        yield (
            f"Whole-partition scores of {', '.join(views)}",
            "they compare one partition with the truth, and a view has several",
        )
    if asked.unlabeled == "unknown":
        yield (
            "Misses, includes, merges and risk slopes",
            "they depend on the whole order of merges, which unknown items leave open; foreign or drop decides it",
        )
    nameless = set(guesses) - {row.adversary for row in rows if row.measure == "foreign_subjects"}
    if nameless:
        yield (
            f"Subjects that the foreign items of {', '.join(sorted(nameless))} come from",
            "the truth lacks some of these items, so nobody knows whose they are; drop leaves them out",
        )
