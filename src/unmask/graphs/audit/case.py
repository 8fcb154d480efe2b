"""One case of graphs: an attack on a pair of graphs held against the truth; and what the runs of a case come to."""

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
from unmask.graphs import Announced, Attack, Auxiliary, Ensemble, Matching, Pair, SeedPairs, Similarity
from unmask.graphs.attacks.rematch import log_odds
from unmask.graphs.audit.facts import Announcement, AttackFacts, ProtectionEffect, ScoreBin
from unmask.graphs.disclosure import Disclosure, SeparatedPair, disclosure, disclosure_measures
from unmask.graphs.evaluation import DegreeClass, Outcome, by_degree, hop_error, named_once, outcomes
from unmask.measures import Measure
from unmask.measures.rates import MIN_SPREAD, RATES, RunValues, average_runs, coverage
from unmask.results import Row
from unmask.results.words import plural
from unmask.scoring import SCORES, STANDARD, Audit, score

Floats = NDArray[np.float64]

CERTAINTIES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
"""Ends of the bins of stated probability."""

NAMED = (Outcome.HIT, Outcome.MISS, Outcome.FALSE_POSITIVE)

FINDABLE = (Outcome.HIT, Outcome.MISS, Outcome.UNMAPPED)


@dataclass(frozen=True, eq=False)
class Run:
    """What one attack found in one run. Arrays are over the nodes of the adversary's graph.

    truth     : who is who, seeds leaked; of UNKNOWN people only where the truth is not known at all
    person    : number of the person in all runs
    degree    : in the source
    outcome   : see `unmask.graphs.evaluation.Outcome`; of a person who is named but whose truth is unknown, as if the
                person were not in the release
    certainty : score of the name, the probability that the model of `Rematch` gives it, which is not calibrated; nan
                where no name is given
    measures  : name -> a measure, and its values in this run
    sweeps    : matches in each pass
    hidden    : what it discloses of those who have separated their identities, where some have
    announced : how sure the attack said it was, where it says so
    """

    truth: Truth
    person: NDArray[np.int64]
    degree: NDArray[np.int64]
    outcome: NDArray[np.int8]
    certainty: Floats
    measures: Mapping[str, tuple[Measure, RunValues]]
    sweeps: tuple[int, ...]
    hidden: Disclosure | None = None
    announced: Announcement | None = None

    @property
    def known(self) -> bool:
        """Whether the truth is known of anybody who is no seed."""
        return bool(self.truth.judged.any())

    @property
    def named(self) -> NDArray[np.bool_]:
        """(n_source,) given a name, seeds out."""
        return np.isin(self.outcome, NAMED)

    @property
    def judged(self) -> NDArray[np.int8]:
        """(n_source,) the outcomes; people whose truth is unknown are out of it (`ABSENT`)."""
        return np.where(self.truth.judged | self.truth.leaked, self.outcome, Outcome.ABSENT).astype(np.int8)

    def rate(self, measure: str) -> float | None:
        """The mean of a measure; None where nobody has a value."""
        return self.measures[measure][1].mean if measure in self.measures else None

    @property
    def has_spread(self) -> bool:
        """Whether the attack went beyond the surroundings of its seeds: by recall, or by names where nobody knows."""
        return (self.rate("recall" if self.known else "coverage") or 0.0) >= MIN_SPREAD

    @property
    def precision_at_least(self) -> float | None:
        """Share right of all names given if nobody without a truth entry is in the release; None unless partial."""
        if not self.known or "false_positives" in self.measures or not self.named.any():
            return None
        return float(np.mean(self.outcome[self.named] == Outcome.HIT))


def informed(attack: Attack, method: str, pair: Pair, *, anybody: bool = False) -> Attack:
    """The attack; an `Ensemble` is told of seeds that are no sample of all who are in both graphs.

    method : how seeds are chosen, "given" where they are not; anybody : also of people with several identities
    """
    if not isinstance(attack, Ensemble):
        return attack
    of_all = method == "random" and (anybody or not np.any(pair.identities > 1))
    return attack if method == "given" or of_all else replace(attack, seeds_are="chosen")


def attempt(
    pair: Pair,
    attack: Attack,
    seeds: SeedPairs,
    *,
    similarity: Similarity | None = None,
    partial: bool = False,
    only_rates: bool = False,
) -> tuple[Run, Matching]:
    """Run the attack, then hold whom it names against the truth. Source labels number the people.

    similarity : of the nodes of the pair, as the adversary sees it
    partial    : people who are nobody by the truth may be in the release; where it knows nobody, nothing is judged
    only_rates : leave out certainty and hops: as costly as a quick attack
    """
    belief = attack(pair.target, Auxiliary(pair.source, seeds, similarity))
    truth = pair.to_truth(seeds, partial=partial or not len(pair.common))
    named = np.atleast_2d(belief.named)
    mapping = named_once(named, truth.accepts(named))
    outcome = outcomes(mapping, pair.truth_for(mapping), seeds.source)
    _check_left(outcome, known=len(pair.common) > 0)
    labels = np.arange(pair.source.n_nodes) if pair.source.labels is None else pair.source.labels
    hidden = None
    if isinstance(pair, SeparatedPair):
        hidden = disclosure(pair.before, pair.separated, named, seeds.source)
    measures = list(_measures(pair, truth, outcome, hidden, partial=partial, only_rates=only_rates))
    person = np.asarray(labels, dtype=np.int64)
    run = Run(
        truth=truth,
        person=person,
        degree=pair.source.degree,
        outcome=outcome,
        certainty=np.full(len(outcome), np.nan) if only_rates else certainty(belief, pair, outcome),
        measures={one.name: (one, RunValues.of(one, belief, truth, person)) for one in measures},
        sweeps=tuple(belief.sweeps.tolist()),
        hidden=hidden,
        announced=announcement(belief, outcome, truth) if isinstance(belief, Announced) else None,
    )
    belief.discard_results()
    return run, belief


def _check_left(outcome: NDArray[np.int8], *, known: bool) -> None:
    if not np.isin(outcome, FINDABLE).any() if known else np.all(outcome == Outcome.SEED):
        raise UnmaskError("nobody is left to be found, expected at least 1 person who is no seed; ask for fewer")


def _measures(
    pair: Pair, truth: Truth, outcome: NDArray[np.int8], hidden: Disclosure | None, *, partial: bool, only_rates: bool
) -> Iterator[Measure]:
    """What is taken: false positives not where the truth is partial, and only coverage where it is not known."""
    yield coverage
    if not truth.judged.any():
        return
    yield from (one for one in RATES if not (partial and one.name == "false_positives"))
    if not only_rates:
        yield hop_error(pair.target, np.isin(outcome, (Outcome.HIT, Outcome.MISS)))
    if hidden is not None:
        yield from disclosure_measures(hidden, pair)


def certainty(belief: Matching, pair: Pair, outcome: NDArray[np.int8]) -> Floats:
    """(n_source,) score of the node that is named; nan where none is, and for seeds.

    It is 1 / (1 + exp(-log-odds)) of the match under the model of `Rematch`, which any adversary can work out of any
    mapping. It orders names; a probability it would be if the model held, which on real networks it does not.
    `Ensemble` has its own: the probability that the name is right if the person is there.
    """
    if isinstance(belief, Announced):
        return np.where(np.isin(outcome, NAMED), belief.if_there, np.nan)
    odds = log_odds(pair.target, pair.source, belief.mapping)
    return np.where(np.isin(outcome, NAMED) & (belief.mapping >= 0), scipy.special.expit(odds), np.nan)


def announcement(belief: Announced, outcome: NDArray[np.int8], truth: Truth) -> Announcement:
    """What the belief announces of people who are no seeds, on average, and what came true.

    The mean is over people who are known to be in both graphs. The bound for everybody takes a truth about everybody or
    none: with a partial truth seeds stand for the people whom it knows.
    """
    free, known = outcome != Outcome.SEED, truth.judged
    complete = bool(known[free].all())
    success = belief.expected_success(np.isin(outcome, FINDABLE) if known.any() else None)
    estimate, spread = belief.estimate, belief.dispersion
    return Announcement(
        recall=success and success.mean,
        recall_low=success and success.low,
        recall_high=success and success.high,
        right_high=success.of_anybody_high if success and (complete or not known.any()) else None,
        right=float(np.mean(outcome[free] == Outcome.HIT)) if complete else None,
        seed_check="" if estimate is None else str(estimate.check),
        curve=() if estimate is None else estimate.curve,
        refused=belief.refused,
        seed_ratio=None if spread is None else spread.ratio,
    )


def rows(runs: Sequence[Run], *, release: str, adversary: str) -> list[Row]:
    """The measures of one attack over all runs, beside guessing; coverage only where the truth is not known.

    Of those who have separated their identities, with target "adopters": see `disclosure_measures`.
    """
    note = f"over {plural(len(runs), 'run')}; it spread in {sum(run.has_spread for run in runs)}"
    names = [name for name in runs[0].measures if name != coverage.name or not runs[0].known]
    found = (
        average_runs(
            runs[0].measures[name][0], [run.measures[name][1] for run in runs if name in run.measures],
            release=release, adversary=adversary, note=note,
        )
        for name in names
    )  # fmt: skip
    return [replace(row, target="adopters") if row.measure in ADOPTERS else row for row in found if row is not None]


ADOPTERS = ("adopter_recall", "disclosure", "decoyed", "exposed")
"""Measures of those who have separated their identities."""


def belief_rows(belief: Matching, run: Run, *, release: str, adversary: str) -> Audit:
    """The standard measures of the belief about everyone who is no seed; the worst-off by number, as in `rows`."""
    note = "of the first run"
    found = score(belief, run.truth, release=release, adversary=adversary, measures=STANDARD, note=note)
    return replace(
        found,
        rows=tuple(replace(row, worst_observation=int(run.person[row.worst_observation]) + 1) for row in found.rows),
    )


def not_taken(filed: Audit, said: Announcement | None, *, release: str, attack: str) -> Iterator[tuple[str, str]]:
    """Measures of an attack's belief that were not taken, in one line for each reason, and the reason.

    said : what the attack announces; whose probability holds only if the person is in the release has a number there
    """
    measures: dict[str, list[str]] = {}
    for measure, why in filed.not_run:
        measures.setdefault(why, []).append(measure)
    for why, names in measures.items():
        if why != SCORES:
            yield f"{', '.join(names)} ({attack})", why
        elif said is None:
            yield f"what {attack} expects", why
        else:
            whom = f"people in {release}" if said.refused else f"people who may not be in {release}"
            yield f"what {attack} expects of {whom}", "; ".join(said.refused) or "nothing tells who is absent"


# --- what runs come to ----------------------------------------------------------------------------------------------


def summary(
    runs: Sequence[Run], found: Sequence[Row], *, release: str, attack: str, seeds: str, n_seeds: int
) -> AttackFacts:
    """Return the facts about one attack over runs, from its rows: rates are means over all runs."""
    rate = {row.measure: row.posterior for row in found}
    recall = next((row for row in found if row.measure == "recall"), None)
    low, high = (recall.low, recall.high) if recall is not None and len(runs) > 1 else (None, None)
    return AttackFacts(
        release=release,
        attack=attack,
        seeds=seeds,
        n_seeds=n_seeds,
        runs=len(runs),
        spread_in=sum(run.has_spread for run in runs),
        people=0 if recall is None else recall.n,
        recall=rate.get("recall"),
        recall_low=low,
        recall_high=high,
        precision=rate.get("precision"),
        precision_at_least=mean_of(run.precision_at_least for run in runs),
        named_wrongly=rate.get("named_wrongly"),
        false_positives=rate.get("false_positives"),
        coverage=mean_of(run.rate("coverage") for run in runs) or 0.0,
        matches=round(float(np.mean([run.named.sum() for run in runs]))),
        degrees=tuple(_degrees(runs)) if recall else (),
        passes=runs[0].sweeps,
        scores=tuple(bins(runs)) if recall else (),
        announced=_over_runs([run.announced for run in runs if run.announced is not None]),
    )


MEANS = ("recall", "recall_low", "recall_high", "right_high", "right")
"""What is a mean over runs of an announcement."""


def _over_runs(said: Sequence[Announcement]) -> Announcement | None:
    """Means over the runs, None where one of them refuses; the rest is of the run that announces least, the first of
    equals.
    """
    if not said:
        return None
    least = min(said, key=lambda one: (one.recall_high is not None, one.recall is not None))
    means: dict[str, Any] = {
        name: mean_of(getattr(one, name) for one in said) for name in MEANS if getattr(least, name) is not None
    }
    return replace(least, **means)


def separation_point(runs: Sequence[Run], before: Sequence[Run], *, release: str, attack: str) -> ProtectionEffect:
    """One attack over runs in which people have separated their identities, beside the same runs before they did.

    Rates are means over all runs; for before, over the same runs and adopters.
    """
    both = list(zip(runs, before, strict=False))
    adopters = round(float(np.mean([len(run.hidden.person) for run in runs if run.hidden is not None])))
    return ProtectionEffect(
        release=release,
        attack=attack,
        adopters=adopters or None,
        recall=mean_of(run.rate("recall") for run in runs) or 0.0,
        recall_before=mean_of(whole.rate("recall") for _, whole in both),
        adopter_recall_before=mean_of(_recall_of_adopters(run, whole) for run, whole in both),
        adopter_recall=mean_of(run.rate("adopter_recall") for run in runs),
        disclosure=mean_of(run.rate("disclosure") for run in runs),
        decoyed=mean_of(run.rate("decoyed") for run in runs),
        exposed=mean_of(run.rate("exposed") for run in runs),
    )


def _recall_of_adopters(run: Run, before: Run) -> float | None:
    """Recall before they separated of those who have; None where all of them were seeds."""
    assert run.hidden is not None
    theirs = np.isin(before.person, run.person[run.hidden.person]) & np.isin(before.outcome, FINDABLE)
    return float(np.mean(before.outcome[theirs] == Outcome.HIT)) if theirs.any() else None


def mean_of(values: Iterable[float | None]) -> float | None:
    """The mean of what is known, None where nothing is."""
    given = [value for value in values if value is not None]
    return float(np.mean(given)) if given else None


def _degrees(runs: Sequence[Run]) -> Iterator[DegreeClass]:
    """Degree classes over the people of all runs; `people` is their number in one."""
    degree, outcome = np.concatenate([run.degree for run in runs]), np.concatenate([run.judged for run in runs])
    for found in by_degree(degree, outcome):
        if found.recall is not None:
            yield replace(found, people=round(found.people / len(runs)))


def bins(runs: Sequence[Run]) -> Iterator[ScoreBin]:
    """Scores beside what was right, over all runs, names that can be judged; `matches` is their number in one."""
    stated = np.concatenate([np.where(np.isin(run.judged, NAMED), run.certainty, np.nan) for run in runs])
    right = np.concatenate([run.outcome == Outcome.HIT for run in runs])
    right, stated = right[np.isfinite(stated)], stated[np.isfinite(stated)]
    at = np.clip(np.searchsorted(CERTAINTIES, stated, side="right") - 1, 0, len(CERTAINTIES) - 2)
    for i, (low, high) in enumerate(pairwise(CERTAINTIES)):
        inside = at == i
        if inside.any():
            matches = max(1, round(int(inside.sum()) / len(runs)))
            yield ScoreBin(low, high, matches, float(stated[inside].mean()), float(right[inside].mean()))
