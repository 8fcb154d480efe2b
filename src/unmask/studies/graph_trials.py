"""One attack on one pair of graphs held against the truth, and what many such trials come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

import numpy as np
from numpy.typing import NDArray
from scipy import special

from unmask.errors import UnmaskError
from unmask.graphs import Attack, Auxiliary, Matching, Pair, SeedPairs
from unmask.graphs.attacks.rematch import log_odds
from unmask.graphs.disclosure import Disclosure, SeparatedPair, disclosure
from unmask.graphs.evaluation import (
    Outcome,
    Rates,
    by_degree,
    hop_distance,
    outcomes,
    over_runs,
    rates,
)
from unmask.reports import CertaintyBin, DegreeRisk, SeparationPoint, StructureAttack

Floats = NDArray[np.float64]

PERCOLATES = 0.05
"""An attack has spread when it names at least this share: of those who can be found, or of all where nobody knows."""

CERTAINTIES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
"""Ends of the bins of stated probability."""

GUESSES = 200
"""People for whom a random guess is drawn, to say how far off guessing is."""

NAMED = (Outcome.HIT, Outcome.MISS, Outcome.GHOST)

FINDABLE = (Outcome.HIT, Outcome.MISS, Outcome.UNMAPPED)


@dataclass(frozen=True, eq=False)
class Trial:
    """What one attack found in one run. Arrays are over the nodes of the source.

    known     : whether the truth is; where it is not, every name given counts as a ghost, and only coverage is a rate
    partial   : whether the truth is partial: people without an entry are neither right nor wrong, and no ghosts
    person    : number of the person in all runs
    degree    : in the source
    outcome   : see `unmask.graphs.evaluation.Outcome`
    certainty : score of the name, the probability that the model of `Rematch` gives it, which is not calibrated; nan
                where no name is given
    rates     : counts of outcomes
    hops      : of each named person in both graphs, from the named node to the right one, the first of several if none
                of them is named; negative for others
    guess_hops: mean distance of random nodes from the right ones; None where there is none
    n_target  : nodes of the release
    identities: nodes of the release that are right for each person
    sweeps    : matches in each pass
    hidden    : what it tells of those who have separated their identities, where some have
    """

    known: bool
    person: NDArray[np.int64]
    degree: NDArray[np.int64]
    outcome: NDArray[np.int8]
    certainty: Floats
    rates: Rates
    hops: NDArray[np.int64]
    guess_hops: float | None
    n_target: int
    identities: NDArray[np.int64]
    sweeps: tuple[int, ...]
    hidden: Disclosure | None = None
    partial: bool = False

    def __post_init__(self) -> None:
        """Refuse a trial in which nobody is left to be found: it has no rates."""
        if not (self.rates.findable if self.known else self.n_free):
            raise UnmaskError("nobody is left to be found, expected at least 1 person who is no seed; ask for fewer")

    @property
    def named(self) -> NDArray[np.bool_]:
        """(n_source,) given a name, seeds out."""
        return np.isin(self.outcome, NAMED)

    @property
    def n_free(self) -> int:
        """Nodes of the source that are no seeds."""
        return int(np.count_nonzero(self.outcome != Outcome.SEED))

    @property
    def guess(self) -> float:
        """Chance that a random node of the release is right, mean over the people who can be found."""
        return float(self.identities[np.isin(self.outcome, FINDABLE)].mean() / self.n_target)

    @property
    def judged(self) -> NDArray[np.int8]:
        """(n_source,) the outcomes; where the truth is partial, people without an entry are out of it (`ABSENT`)."""
        return np.where(self.partial & (self.outcome == Outcome.GHOST), Outcome.ABSENT, self.outcome).astype(np.int8)

    @property
    def recall(self) -> float | None:
        """Share of the people in both graphs who are named rightly; None where the truth is not known."""
        return self.rates.recall if self.known else None

    @property
    def precision(self) -> float | None:
        """Share right of the names given, of those that can be judged; None where there is none."""
        right, wrong = self.rates.hits, self.rates.misses + (0 if self.partial else self.rates.ghosts)
        return right / (right + wrong) if self.known and right + wrong else None

    @property
    def precision_at_least(self) -> float | None:
        """Share right of all names given if nobody without a truth entry is in the release; None unless partial."""
        return self.rates.precision if self.known and self.partial else None

    @property
    def error(self) -> float | None:
        """Share of the people in both graphs who get a wrong name; None where the truth is not known."""
        return self.rates.error if self.known else None

    @property
    def ghosts(self) -> float | None:
        """Share of the names given that are of people who are not in the release; None where that is not known."""
        return self.rates.ghost_share if self.known and not self.partial else None

    @property
    def coverage(self) -> float:
        """Share of the nodes of the source, seeds out, that get a name."""
        return self.rates.matches / self.n_free

    @property
    def has_spread(self) -> bool:
        """Whether the attack went beyond the surroundings of its seeds."""
        return (self.coverage if self.recall is None else self.recall) >= PERCOLATES


def attempt(
    pair: Pair, attack: Attack, seeds: SeedPairs, *, known: bool, partial: bool = False, only_rates: bool = False
) -> tuple[Trial, Matching]:
    """Run the attack, then hold its mapping against the truth. Source labels number the people.

    only_rates : leave out certainty and hops: as costly as a quick attack
    """
    belief = attack(pair.target, Auxiliary(pair.source, seeds))
    truth = pair.truth_for(belief.mapping)
    outcome = outcomes(belief.mapping, truth, seeds.source)
    labels = np.arange(pair.source.n_nodes) if pair.source.labels is None else pair.source.labels
    named = np.isin(outcome, (Outcome.HIT, Outcome.MISS)) & (not only_rates)
    trial = Trial(
        known=known,
        person=np.asarray(labels, dtype=np.int64),
        degree=pair.source.degree,
        outcome=outcome,
        certainty=np.full(len(outcome), np.nan) if only_rates else certainty(belief, pair, outcome),
        rates=rates(belief.mapping, truth, seeds.source),
        hops=_hops(pair, belief.mapping, named),
        guess_hops=_guessed_hops(pair, named),
        n_target=pair.target.n_nodes,
        identities=pair.identities,
        sweeps=tuple(belief.sweeps.tolist()),
        hidden=disclosure(pair.before, pair.separated, belief.mapping, seeds.source)
        if isinstance(pair, SeparatedPair)
        else None,
        partial=partial,
    )
    return trial, belief


def certainty(belief: Matching, pair: Pair, outcome: NDArray[np.int8]) -> Floats:
    """(n_source,) score of the node that is named; nan where none is, and for seeds.

    It is 1 / (1 + exp(-log-odds)) of the match under the model of `Rematch`, which any adversary can work out of any
    mapping. It orders names; a probability it would be if the model held, which on real networks it does not.
    """
    odds = log_odds(pair.target, pair.source, belief.mapping)
    return np.where(np.isin(outcome, NAMED), special.expit(odds), np.nan)


def _hops(pair: Pair, mapping: NDArray[np.integer], asked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Distances of the people asked about; negative for all others."""
    return hop_distance(pair.target, np.where(asked, mapping, -1), np.where(asked, pair.truth_for(mapping), -1))


def _guessed_hops(pair: Pair, asked: NDArray[np.bool_]) -> float | None:
    """Mean distance that a random node is off, over some of the people asked about."""
    rng = np.random.default_rng(0)
    some = np.zeros(len(asked), dtype=np.bool_)
    some[rng.permutation(np.flatnonzero(asked))[:GUESSES]] = True
    found = _hops(pair, rng.integers(pair.target.n_nodes, size=len(asked)), some)
    return float(found[found >= 0].mean()) if (found >= 0).any() else None


# --- what trials come to --------------------------------------------------------------------------------------------


def summary(trials: Sequence[Trial], *, release: str, attack: str, seeds: str, n_seeds: int) -> StructureAttack:
    """One attack over runs: rates are means over all runs."""
    recalls = [trial.recall for trial in trials if trial.recall is not None]
    low, high = interval(recalls)
    return StructureAttack(
        release=release,
        attack=attack,
        seeds=seeds,
        n_seeds=n_seeds,
        runs=len(trials),
        percolated=sum(trial.has_spread for trial in trials),
        recall=_mean(recalls),
        recall_low=low,
        recall_high=high,
        precision=_mean(trial.precision for trial in trials),
        precision_at_least=_mean(trial.precision_at_least for trial in trials),
        error=_mean(trial.error for trial in trials),
        ghosts=_mean(trial.ghosts for trial in trials),
        coverage=float(np.mean([trial.coverage for trial in trials])),
        names=round(float(np.mean([trial.rates.matches for trial in trials]))),
        by_degree=tuple(_degrees(trials)) if recalls else (),
        steps=trials[0].sweeps,
        certainty=tuple(bins(trials)) if recalls else (),
    )


def interval(shares: Sequence[float]) -> tuple[float | None, float | None]:
    """The ends of the 95 % interval of a mean over runs, by Student's t; none below two runs."""
    found = over_runs(np.clip(shares, 0, 1), 0.0) if shares else None
    return (None, None) if found is None else (found.recall_low, found.recall_high)


def separation_point(trials: Sequence[Trial], before: Sequence[Trial], *, release: str, attack: str) -> SeparationPoint:
    """One attack over runs in which people have separated their identities, beside the same runs before they did.

    Rates are means over all runs, as in `summary`; for before, over the same runs and adopters.
    """
    both = list(zip_longest(trials, before[: len(trials)]))
    hidden = [trial.hidden for trial, _ in both if trial.hidden is not None]
    return SeparationPoint(
        release=release,
        attack=attack,
        adopters=round(float(np.mean([len(found.person) for found in hidden]))),
        recall=_mean(trial.recall for trial, _ in both) or 0.0,
        recall_before=_mean(whole.recall for _, whole in both if whole),
        adopter_recall=_mean(found.adopters.recall for found in hidden),
        adopter_recall_before=_mean(_recall_of_adopters(trial, whole) for trial, whole in both if whole),
        disclosure=_mean(found.rate for found in hidden),
        decoyed=_mean(found.decoyed for found in hidden),
        exposed=_mean(found.exposed for found in hidden),
    )


def _recall_of_adopters(trial: Trial, before: Trial) -> float | None:
    """Recall before they separated of those who have; None where all of them were seeds."""
    assert trial.hidden is not None
    theirs = np.isin(before.person, trial.person[trial.hidden.person]) & np.isin(before.outcome, FINDABLE)
    return float(np.mean(before.outcome[theirs] == Outcome.HIT)) if theirs.any() else None


def _mean(values: Iterable[float | None]) -> float | None:
    given = [value for value in values if value is not None]
    return float(np.mean(given)) if given else None


def _degrees(trials: Sequence[Trial]) -> Iterator[DegreeRisk]:
    """Degree classes over the people of all trials; `people` is their number in one."""
    degree = np.concatenate([trial.degree for trial in trials])
    outcome = np.concatenate([trial.judged for trial in trials])
    for found in by_degree(degree, outcome):
        if found.recall is not None:
            people = round(found.people / len(trials))
            yield DegreeRisk(found.low, found.high, people, found.recall, found.precision)


def bins(trials: Sequence[Trial]) -> Iterator[CertaintyBin]:
    """Scores beside what was right, over all trials, names that can be judged; `matches` is their number in one."""
    stated = np.concatenate([np.where(np.isin(t.judged, NAMED), t.certainty, np.nan) for t in trials])
    right = np.concatenate([trial.outcome == Outcome.HIT for trial in trials])
    right, stated = right[np.isfinite(stated)], stated[np.isfinite(stated)]
    at = np.clip(np.searchsorted(CERTAINTIES, stated, side="right") - 1, 0, len(CERTAINTIES) - 2)
    for i, (low, high) in enumerate(pairwise(CERTAINTIES)):
        inside = at == i
        if inside.any():
            matches = max(1, round(int(inside.sum()) / len(trials)))
            yield CertaintyBin(low, high, matches, float(stated[inside].mean()), float(right[inside].mean()))
