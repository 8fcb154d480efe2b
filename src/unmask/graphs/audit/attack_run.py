"""One run of an attack on a pair of networks, its comparison with the truth, and averages over runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.truth import Truth
from unmask.graphs import Announced, Attack, Auxiliary, Ensemble, Matching, Pair, SeedPairs
from unmask.graphs.attacks.rematch import log_odds
from unmask.graphs.audit.facts import (
    MIN_STABLE,
    Announcement,
    AttackFacts,
    ProtectionEffect,
    ScoreBin,
    find_stable_by,
)
from unmask.graphs.disclosure import Disclosure, SeparatedPair, disclosure, disclosure_measures
from unmask.graphs.evaluation import DegreeClass, Outcome, by_degree, hop_error, outcomes, select_match
from unmask.measures import Measure
from unmask.measures.measure import build_number_row
from unmask.measures.rates import MIN_SPREAD, RATES, RunValues, average_runs, coverage
from unmask.measures.registry import MEASURES
from unmask.results import Row
from unmask.results.formats import percent
from unmask.results.names import IDENTITY
from unmask.results.words import plural

Outcomes = NDArray[np.int8]

SCORE_EDGES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
"""Bin edges of match scores."""

MATCHED = (Outcome.HIT, Outcome.MISS, Outcome.FALSE_POSITIVE)

PRESENT = (Outcome.HIT, Outcome.MISS, Outcome.UNMAPPED)

ADOPTER_MEASURES = ("adopter_recall", "disclosure", "decoyed", "exposed")
"""Measures for people with several identities."""


@dataclass(frozen=True, eq=False)
class AttackRun:
    """Matches of one attack in one run. Arrays are over the nodes of the adversary's network.

    Parameters
    ----------
    truth : Truth
        True matches, with leaked seeds. Without a truth it is unknown for all people.
    person, degree : int arrays
        Number of the person, the same in all runs; degree.
    outcome : int8 array
        See `unmask.graphs.evaluation.Outcome`. A matched person with unknown truth counts as not in the release.
    score : float array
        Score of the match, see `match_scores`; NaN without a match.
    measures : mapping
        Name -> measure and its values in this run.
    passes : tuple of int
        Number of matches in each pass.
    disclosed : Disclosure, optional
        Disclosure about people with several identities.
    announced : Announcement, optional
        Success that the attack announces.
    """

    truth: Truth
    person: NDArray[np.int64]
    degree: NDArray[np.int64]
    outcome: Outcomes
    score: NDArray[np.float64]
    measures: Mapping[str, tuple[Measure, RunValues]]
    passes: tuple[int, ...]
    disclosed: Disclosure | None = None
    announced: Announcement | None = None

    @property
    def truth_known(self) -> bool:
        """True if the truth is known for people who are not seeds."""
        return bool(self.truth.judged.any())

    @property
    def matched(self) -> NDArray[np.bool_]:
        """(n_source,) True for matched people, without seeds."""
        return np.isin(self.outcome, MATCHED)

    @property
    def judged_outcome(self) -> Outcomes:
        """(n_source,) outcomes; people with unknown truth count as `ABSENT`."""
        return np.where(self.truth.judged | self.truth.leaked, self.outcome, Outcome.ABSENT).astype(np.int8)

    @property
    def has_spread(self) -> bool:
        """True if the attack spread beyond the neighbors of its seeds, by recall, or by coverage without a truth."""
        return (self.rate("recall" if self.truth_known else "coverage") or 0.0) >= MIN_SPREAD

    @property
    def precision_at_least(self) -> float | None:
        """Lower bound of the precision: people without a truth entry count as wrong; None unless the truth is
        partial.
        """
        if not self.truth_known or "false_positives" in self.measures or not self.matched.any():
            return None
        return float(np.mean(self.outcome[self.matched] == Outcome.HIT))

    def rate(self, measure: str) -> float | None:
        """Return the mean of a measure; None without a value."""
        return self.measures[measure][1].mean if measure in self.measures else None


def declare_seeds(attack: Attack, method: str, pair: Pair, *, anybody: bool = False) -> Attack:
    """Return the attack. For an `Ensemble`, declare seeds that are not a sample of all people in both networks.

    Parameters
    ----------
    method : str
        Seeding method; "given" if seeds were given.
    anybody : bool
        True if people with several identities may be seeds.
    """
    if not isinstance(attack, Ensemble):
        return attack
    is_sample = method == "random" and (anybody or not np.any(pair.identities > 1))
    return attack if method == "given" or is_sample else replace(attack, seeds_are="chosen")


def run_attack(
    pair: Pair,
    attack: Attack,
    knowledge: Auxiliary,
    *,
    partial: bool = False,
    only_rates: bool = False,
) -> tuple[AttackRun, Matching]:
    """Run an attack and compare its matches with the truth. Source labels number the people.

    Parameters
    ----------
    knowledge : Auxiliary
        Source graph of the pair and what else the adversary knows. Attacks with the same object share their parts.
    partial : bool
        True if people without a truth entry may be in the release. Without a truth, no outcome is right or wrong.
    only_rates : bool
        Skip scores and hops, which cost as much as a fast attack.
    """
    belief = attack(pair.target, knowledge)
    seeds = SeedPairs(*(side.astype(np.int64) for side in knowledge.seeds))
    truth = pair.to_truth(seeds, partial=partial or not len(pair.common))
    nodes = np.atleast_2d(belief.named)
    mapping = select_match(nodes, truth.accepts(nodes))
    outcome = outcomes(mapping, pair.truth_for(mapping), seeds.source)
    if not np.isin(outcome, PRESENT).any() if len(pair.common) else np.all(outcome == Outcome.SEED):
        raise UnmaskError(
            "all people in both networks are seeds, expected at least 1 person who is not a seed; choose fewer"
        )
    disclosed = None
    if isinstance(pair, SeparatedPair):
        disclosed = disclosure(pair.before, pair.separated, nodes, seeds.source)
    measures = list(_list_measures(pair, truth, outcome, disclosed, partial=partial, only_rates=only_rates))
    person = np.arange(pair.source.n_nodes) if pair.source.labels is None else pair.source.labels.astype(np.int64)
    run = AttackRun(
        truth=truth,
        person=person,
        degree=pair.source.degree,
        outcome=outcome,
        score=np.full(len(outcome), np.nan) if only_rates else match_scores(belief, pair, outcome),
        measures={measure.name: (measure, RunValues.of(measure, belief, truth, person)) for measure in measures},
        passes=tuple(belief.sweeps.tolist()),
        disclosed=disclosed,
        announced=_announcement(belief, outcome, truth) if isinstance(belief, Announced) else None,
    )
    belief.discard_results()
    return run, belief


def _list_measures(
    pair: Pair,
    truth: Truth,
    outcome: Outcomes,
    disclosed: Disclosure | None,
    *,
    partial: bool,
    only_rates: bool,
) -> Iterator[Measure]:
    """Yield the measures of a run; no false positives with a partial truth, only coverage without a truth."""
    yield coverage
    if not truth.judged.any():
        return
    yield from (rate for rate in RATES if not (partial and rate.name == "false_positives"))
    if not only_rates:
        yield hop_error(pair.target, np.isin(outcome, (Outcome.HIT, Outcome.MISS)))
    if disclosed is not None:
        yield from disclosure_measures(disclosed, pair)


def match_scores(belief: Matching, pair: Pair, outcome: Outcomes) -> NDArray[np.float64]:
    """Return the score of each match, NaN without a match and for seeds.

    The score is 1 / (1 + exp(-log-odds)) under the model of `Rematch`, which any adversary can compute for any matches.
    It ranks matches. It is a probability only if the model is correct, which is not the case on real networks.
    `Ensemble` has other scores: the probability that the match is right if the person is in the release.
    """
    if isinstance(belief, Announced):
        return np.where(np.isin(outcome, MATCHED), belief.if_there, np.nan)
    odds = log_odds(pair.target, pair.source, belief.mapping)
    return np.where(np.isin(outcome, MATCHED) & (belief.mapping >= 0), scipy.special.expit(odds), np.nan)


def _announcement(belief: Announced, outcome: Outcomes, truth: Truth) -> Announcement:
    """Return the announced mean success without seeds, next to the actual success.

    The mean is over people who are known to be in both networks. The bound for all people needs a complete truth, or no
    truth: with a partial truth, seeds represent only people with an entry.
    """
    free, is_judged = outcome != Outcome.SEED, truth.judged
    complete = bool(is_judged[free].all())
    success = belief.expected_success(np.isin(outcome, PRESENT) if is_judged.any() else None)
    estimate, dispersion = belief.estimate, belief.dispersion
    return Announcement(
        recall=success and success.mean,
        recall_low=success and success.low,
        recall_high=success and success.high,
        right_high=success.of_anybody_high if success and (complete or not is_judged.any()) else None,
        right=float(np.mean(outcome[free] == Outcome.HIT)) if complete else None,
        seed_check="" if estimate is None else str(estimate.check),
        curve=() if estimate is None else estimate.curve,
        refused=belief.refused,
        seed_ratio=None if dispersion is None else dispersion.ratio,
    )


# --- over runs -------------------------------------------------------------------------------------------------------


def average_rows(runs: Sequence[AttackRun], *, release: str, adversary: str) -> list[Row]:
    """Return the measures of one attack, averaged over all runs; only coverage if the truth is unknown.

    Measures of people with several identities have the target "adopters", see `disclosure_measures`.
    """
    note = f"over {plural(len(runs), 'run')}; it spread in {sum(run.has_spread for run in runs)}"
    names = [name for name in runs[0].measures if name != coverage.name or not runs[0].truth_known]
    rows = (
        average_runs(
            runs[0].measures[name][0], [run.measures[name][1] for run in runs if name in run.measures],
            release=release, adversary=adversary, note=note,
        )
        for name in names
    )  # fmt: skip
    available = (row for row in rows if row is not None)
    return [replace(row, target="adopters") if row.measure in ADOPTER_MEASURES else row for row in available]


def attack_facts(
    runs: Sequence[AttackRun],
    rows: Sequence[Row],
    *,
    release: str,
    attack: str,
    seeds: str,
    n_seeds: int,
    overlap: tuple[float, float] | None = None,
) -> AttackFacts:
    """Return facts about one attack over all runs; rates are those of its rows."""
    rates = {row.measure: row.posterior for row in rows}
    recall = next((row for row in rows if row.measure == "recall"), None)
    low, high = (recall.low, recall.high) if recall is not None and len(runs) > 1 else (None, None)
    return AttackFacts(
        release=release,
        attack=attack,
        seeds=seeds,
        n_seeds=n_seeds,
        runs=len(runs),
        spread_in=sum(run.has_spread for run in runs),
        overlap=overlap,
        people=0 if recall is None else recall.n,
        recall_low=low,
        recall_high=high,
        **{name: rates.get(name) for name in ("recall", "precision", "named_wrongly", "false_positives")},
        precision_at_least=mean_of(run.precision_at_least for run in runs),
        coverage=mean_rate(runs, "coverage") or 0.0,
        matches=round(float(np.mean([run.matched.sum() for run in runs]))),
        degrees=tuple(_degree_classes(runs)) if recall else (),
        passes=runs[0].passes,
        scores=tuple(score_bins(runs)) if recall else (),
        announced=_average_announcements([run.announced for run in runs if run.announced is not None]),
    )


def _average_announcements(announcements: Sequence[Announcement]) -> Announcement | None:
    """Return means over runs, None if a run refuses. Other fields are those of the first run that announces least."""
    if not announcements:
        return None
    weakest = min(announcements, key=lambda item: (item.recall_high is not None, item.recall is not None))
    means: dict[str, Any] = {
        name: mean_of(getattr(item, name) for item in announcements)
        for name in ("recall", "recall_low", "recall_high", "right_high", "right")
        if getattr(weakest, name) is not None
    }
    return replace(weakest, **means)


def protection_effect(
    runs: Sequence[AttackRun], unprotected: Sequence[AttackRun], *, release: str, attack: str
) -> ProtectionEffect:
    """Return mean rates on a protected release, and of the same runs without the protection."""
    pairs = list(zip(runs, unprotected, strict=False))
    adopters = round(float(np.mean([len(run.disclosed.person) for run in runs if run.disclosed is not None])))
    return ProtectionEffect(
        release=release,
        attack=attack,
        adopters=adopters or None,
        recall=mean_rate(runs, "recall") or 0.0,
        recall_before=mean_rate([plain for _, plain in pairs], "recall"),
        adopter_recall_before=mean_of(_recall_of_adopters(run, plain) for run, plain in pairs),
        **{name: mean_rate(runs, name) for name in ADOPTER_MEASURES},
    )


def _recall_of_adopters(run: AttackRun, unprotected: AttackRun) -> float | None:
    """Return the recall of a run's adopters before the protection; None if all of them are seeds."""
    assert run.disclosed is not None
    adopters = np.isin(unprotected.person, run.person[run.disclosed.person]) & np.isin(unprotected.outcome, PRESENT)
    return float(np.mean(unprotected.outcome[adopters] == Outcome.HIT)) if adopters.any() else None


def mean_rate(runs: Iterable[AttackRun], measure: str) -> float | None:
    """Return the mean of a measure over the runs that have a value; None without a value."""
    return mean_of(run.rate(measure) for run in runs)


def mean_of(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None without a value."""
    finite = [value for value in values if value is not None]
    return float(np.mean(finite)) if finite else None


def _degree_classes(runs: Sequence[AttackRun]) -> Iterator[DegreeClass]:
    """Yield degree classes over the people of all runs; `people` is the mean number in a run."""
    degree, outcome = np.concatenate([run.degree for run in runs]), np.concatenate([run.judged_outcome for run in runs])
    for item in by_degree(degree, outcome):
        if item.recall is not None:
            yield replace(item, people=round(item.people / len(runs)))


def score_bins(runs: Sequence[AttackRun]) -> Iterator[ScoreBin]:
    """Yield bins of the match scores over all runs; `matches` is the mean number in a run."""
    score = np.concatenate([np.where(np.isin(run.judged_outcome, MATCHED), run.score, np.nan) for run in runs])
    is_right = np.concatenate([run.outcome == Outcome.HIT for run in runs])
    is_right, score = is_right[np.isfinite(score)], score[np.isfinite(score)]
    place = np.clip(np.searchsorted(SCORE_EDGES, score, side="right") - 1, 0, len(SCORE_EDGES) - 2)
    for number, (low, high) in enumerate(pairwise(SCORE_EDGES)):
        inside = place == number
        if inside.any():
            matches = max(1, round(int(inside.sum()) / len(runs)))
            yield ScoreBin(low, high, matches, float(score[inside].mean()), float(is_right[inside].mean()))


def count_by_seeds(
    runs_by_seeds: Mapping[tuple[str, int], Sequence[AttackRun]], attacks: Sequence[str], *, release: str, seeds: str
) -> Iterator[AttackFacts]:
    """Yield mean rates by attack, in their order, and by number of seeds; the runs have the same method of seeds."""
    for name, n_seeds in sorted(runs_by_seeds, key=lambda key: (attacks.index(key[0]), key[1])):
        runs = runs_by_seeds[name, n_seeds]
        yield AttackFacts(
            release, name, seeds, n_seeds, len(runs), sum(run.has_spread for run in runs),
            recall=mean_rate(runs, "recall"), coverage=mean_rate(runs, "coverage") or 0.0,
        )  # fmt: skip


def list_stable_seeds(
    counts: Sequence[AttackFacts], *, release: str, n_people: int
) -> tuple[list[Row], dict[str, str]]:
    """Return a row with the fewest seeds, by any method, from which each attack spreads in most runs.

    The second value has the attacks that never spread in most runs, with the reason.
    """
    rows: list[Row] = []
    never: dict[str, str] = {}
    for attack in dict.fromkeys(point.attack for point in counts):
        points = [point for point in counts if point.attack == attack]
        if stable := [point for point in find_stable_by(points, "seeds").values() if point is not None]:
            fewest = min(stable, key=lambda point: point.n_seeds)
            rows.append(_stable_seeds_row(fewest, release=release, n_people=n_people))
        else:
            largest = max(point.n_seeds for point in points)
            never[f"stable_seeds ({attack})"] = (
                f"with up to {largest:,} seeds, it spreads in fewer than {percent(MIN_STABLE, 0)} of the runs"
            )
    return rows, never


def _stable_seeds_row(point: AttackFacts, *, release: str, n_people: int) -> Row:
    """Return the row of the fewest seeds from which an attack spreads in most runs; without the release, all people."""
    return build_number_row(
        MEASURES["stable_seeds"], float(point.n_seeds), release=release, adversary=point.attack, target=IDENTITY,
        prior=float(n_people), n=n_people, n_observations=point.runs,
        note=f"spread in {point.spread_in} of {plural(point.runs, 'run')}; seeds: {point.seeds}",
    )  # fmt: skip
