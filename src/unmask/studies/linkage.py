"""The standard audit of linkage: what adversaries who cluster items do to every subject, against shuffled guesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.measures.base import QUANTILES, weighted_quantiles
from unmask.measures.interval import clustered_bootstrap, clustered_wilson
from unmask.measures.unlinkability import Contingency, Unlinkability, evaluate_contingency, fairness
from unmask.measures.unlinkability.companions import companions_of
from unmask.measures.unlinkability.curves import LINK_TIE, overall_slope
from unmask.reports import GuessLinkage, Linkage, ReportData
from unmask.results import Row
from unmask.view import Partition, View, align, align_view

Floats = NDArray[np.float64]

BETAS = tuple(round(0.05 * i, 2) for i in range(1, 21))
"""Thresholds of the curves in the report."""

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Weights of linking against mixing for which the risk slope is drawn."""

LINKAGE_MEASURES = (
    ("breached", "share", "high", True),
    ("clean_breach", "share", "high", True),
    ("linked_now", "share", "high", False),
    ("foreign_share", "share", "low", False),
    ("mergings", "mergings", "low", False),
    ("risk_slope", "", "high", False),
    ("miss", "items", "low", False),
    ("include", "items", "low", False),
)
"""Name, unit, what the adversary wants, whether it is a proportion of subjects."""

LONGEST_CURVE = 200
"""Mergings that are drawn at most."""


@dataclass(frozen=True)
class Sensitivity:
    """What counts as linked too far, for the whole audit.

    alpha, beta : weight of linking against mixing; share of a subject's items whose linking is a breach
    wanted      : whether foreign items are welcome to the subjects
    min_size    : items that a subject must have to be counted; one item is always linked
    missing     : what an item means that only one file has, see `unmask.view.align`
    shuffles    : guesses with the same cluster sizes and shuffled labels, for the baseline; see `Contingency.at_random`
    seed        : of the shuffles
    """

    alpha: float = 0.5
    beta: float = 0.8
    wanted: bool = False
    min_size: int = 2
    missing: Literal["error", "singleton"] = "error"
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

    def at_random(self, met: Contingency) -> dict[str, float]:
        """The mean of each measure over the counted subjects, or a random sample of them, under shuffled labels."""
        rng = np.random.default_rng(self.seed)
        means: dict[str, list[float]] = {name: [] for name, *_ in LINKAGE_MEASURES}
        for _ in range(self.shuffles):
            found = self.evaluate(met.at_random(rng=rng, min_size=self.min_size))
            for name, each in means.items():
                each.append(float(_value(found, name).mean()))
        return {name: float(np.mean(each)) if each else float("nan") for name, each in means.items()}


def study_linkage(
    truth: Partition,
    guesses: Mapping[str, Partition | View],
    sensitivity: Sensitivity | None = None,
    *,
    title: str = "Audit of linkage",
    reproduce: Mapping[str, object] | None = None,
) -> ReportData:
    """Every guess against the truth, subject by subject, and beside it what guesses of the same shape would link.

    Subjects and clusters appear by their place in the order of their labels, those of items that only one file has
    last; no label and no item is shown, and the order of the rows does not matter.
    """
    if not guesses:
        raise UnmaskError("0 guesses were given, expected at least 1 partition to evaluate")
    asked = sensitivity or Sensitivity()
    for given in guesses.values():  # the truth grows by items that only a guess has, before any is looked at
        truth, _ = _aligned(truth, given, asked)
    met = {name: Contingency.of(*_aligned(truth, given, asked)) for name, given in guesses.items()}
    return study_contingencies(met, asked, title=title, reproduce=reproduce)


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
        found, guessed = asked.evaluate(met), asked.at_random(met)
        rows.extend(_rows(name, found, guessed))
        shown.append(_shown(name, met, found, guessed["breached"], asked))
    table = next(iter(guesses.values())).tables[0]
    subjects, counted_subjects = len(table.subject_size), int((table.subject_size >= asked.min_size).sum())
    return ReportData(
        title=title,
        who=_who(len(guesses), table.n, subjects),
        rows=tuple(rows),
        assumptions=_assumptions(asked, counted_subjects, subjects),
        not_run=tuple(_not_run(guesses)),
        reproduce=reproduce or {},
        success=(),
        linkage=Linkage(
            items=table.n,
            subjects=subjects,
            counted=counted_subjects,
            min_size=asked.min_size,
            alpha=asked.alpha,
            beta=asked.beta,
            wanted=asked.wanted,
            betas=BETAS,
            guesses=tuple(shown),
        ),
    )


def _aligned(truth: Partition, guess: Partition | View, asked: Sensitivity) -> tuple[Partition, Partition | View]:
    """Both over the same items; of a view every partition."""
    if isinstance(guess, Partition):
        return align(truth, guess, missing=asked.missing)
    return align_view(truth, guess, missing=asked.missing)


def linkage_rows(name: str, truth: Partition, guess: Partition | View, asked: Sensitivity) -> list[Row]:
    """The measures of one guess over the counted subjects, beside those of guesses with shuffled labels."""
    met = Contingency.of(*_aligned(truth, guess, asked))
    return list(_rows(name, asked.evaluate(met), asked.at_random(met)))


def _rows(name: str, found: Unlinkability, guessed: Mapping[str, float]) -> Iterator[Row]:
    """Each measure over the counted subjects, beside its mean under shuffled labels."""
    keep = found.counted
    for measure, unit, direction, rate in LINKAGE_MEASURES:
        value = _value(found, measure)[keep]
        prior = guessed[measure]
        weight, each = np.full(len(value), 1 / len(value)), np.arange(len(value))
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
            worst_observation=int(np.flatnonzero(keep)[worst]),
            quantiles=weighted_quantiles(value, weight, QUANTILES),
            status="exact",
            note="prior: the same clusters with shuffled labels",
        )


def _value(found: Unlinkability, measure: str) -> Floats:
    """(S,) a value of each subject."""
    if measure == "clean_breach":
        return (found.breached & (found.foreign_share <= 0)).astype(np.float64)
    names = {"risk_slope": "slope"}
    return np.asarray(getattr(found, names.get(measure, measure)), dtype=np.float64)


def _shown(name: str, met: Contingency, found: Unlinkability, guessing: float, asked: Sensitivity) -> GuessLinkage:
    keep = found.counted
    fair = fairness(np.where(keep, found.slope, np.nan))
    tenth = np.zeros(len(keep), dtype=bool)
    tenth[fair.worst] = True
    worst = asked.evaluate(met, only=tenth)
    mergings = found.mergings[keep]
    first = met.tables[int(np.argmax(met.probability))]
    return GuessLinkage(
        name=name,
        clusters=len(first.cluster_size),
        partitions=len(met.tables),
        breached=float(found.breach_rate),
        clean=float(found.clean_breach_rate()),
        guessing=guessing,
        one_away=float(((mergings > 0) & (mergings <= 1)).mean()),
        median_mergings=float(np.median(mergings)),
        most_mergings=float(mergings.max()),
        gini=fair.gini,
        jain=fair.jain,
        linked_curve=_curve(found.linked_curve),
        mixed_curve=_curve(found.mixed_curve),
        worst_linked=_curve(worst.linked_curve),
        worst_mixed=_curve(worst.mixed_curve),
        slopes=tuple(_slopes(met, asked)),
        breach_rates=_breach_rates(met, asked),
        miss_include=_counts(found.miss[keep], found.include[keep]),
        whole=_whole(met),
        kind=str(found.kind),
    )


def _slopes(met: Contingency, asked: Sensitivity) -> Iterator[tuple[float, tuple[float, ...]]]:
    """Of the average subject, for each weight of linking and each threshold."""
    for alpha in ALPHAS:
        found = asked.evaluate(met, alpha=alpha)
        yield alpha, tuple(overall_slope(found.linked_curve, found.mixed_curve, alpha, beta) for beta in BETAS)


def _breach_rates(met: Contingency, asked: Sensitivity) -> tuple[float, ...]:
    """At each threshold, where missing and foreign items weigh the same."""
    found = asked.evaluate(met, alpha=0.5)
    linked = found.linked_now[found.counted]
    return tuple(float((linked >= beta - LINK_TIE).mean()) for beta in BETAS)


def _curve(curve: Floats) -> tuple[float, ...]:
    return tuple(map(float, curve[:LONGEST_CURVE]))


def _counts(miss: Floats, include: Floats) -> tuple[tuple[int, int, int], ...]:
    """How many subjects have so many misses and includes, in whole items."""
    pairs, counts = np.unique(np.rint(np.stack([miss, include])).astype(np.int64), axis=1, return_counts=True)
    return tuple((int(m), int(i), int(c)) for m, i, c in zip(*pairs, counts, strict=True))


def _whole(met: Contingency) -> dict[str, float]:
    """What whole-partition scores say; there are none of a view of several."""
    if len(met.tables) > 1:
        return {}
    scores = companions_of(met.tables[0])
    return {
        "ari": scores.adjusted_rand,
        "voi_over_log_n": scores.voi_over_log_n,
        "transfer_over_n": scores.transfer_over_n,
        "bcubed_precision": scores.bcubed.precision,
        "bcubed_recall": scores.bcubed.recall,
        "pair_precision": scores.pairs.precision,
        "pair_recall": scores.pairs.recall,
    }


def _who(guesses: int, items: int, subjects: int) -> str:
    whose = "An adversary says" if guesses == 1 else f"{guesses} adversaries say"
    return f"{whose} which of {items:,} items belong together; in truth they belong to {subjects:,} subjects."


def _assumptions(asked: Sensitivity, counted: int, subjects: int) -> tuple[str, ...]:
    wanted = "welcome" if asked.wanted else "unwelcome"
    return (
        f"A subject is breached when {asked.beta:.0%} of its items are in one cluster.",
        f"Missing items weigh {asked.alpha:g} and foreign ones {1 - asked.alpha:g}.",
        f"Foreign items are {wanted} to the subjects.",
        f"Rates are over the {counted:,} of {subjects:,} subjects with at least {asked.min_size} items.",
        "A subject with one item is always linked.",
        "Clusters are merged most relevant first: what an adversary does who learns which of them to merge.",
        "Guessing is the same adversary with the labels of his clusters shuffled over the items.",
    )


def _not_run(guesses: Mapping[str, Contingency]) -> Iterator[tuple[str, str]]:
    views = [name for name, met in guesses.items() if len(met.tables) > 1]
    if views:
        yield (
            f"Whole-partition scores of {', '.join(views)}",
            "they compare one partition with the truth, and a view has several",
        )
