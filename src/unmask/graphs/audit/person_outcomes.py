"""Outcomes of each person over runs: score S(v), criteria that predict success, and the owner's list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from unmask.findings.people_at_risk import MIN_EXCESS, AtRisk
from unmask.graphs import Pair
from unmask.graphs.audit.attack_run import AttackRun, score_bins
from unmask.graphs.audit.facts import CriterionLink, ScoreShare
from unmask.graphs.audit.network_pairs import NetworkPair, list_ids
from unmask.graphs.audit.tables import CRITERIA
from unmask.graphs.criteria import spearman
from unmask.graphs.criteria.equivalence import mean_ranks
from unmask.graphs.evaluation import Outcome, Score, score
from unmask.results.names import LIMITS
from unmask.results.suppression import N_TENTHS
from unmask.results.words import plural

MIN_RUNS = 2
"""Fewest runs in which a person could be found, for a score over runs."""


def score_people(runs: Iterable[AttackRun], n_people: int) -> Score:
    """Return right and wrong matches of each person over runs."""
    judged = list(runs)
    return score((run.judged_outcome for run in judged), (run.person for run in judged), n_people=n_people)


def count_scores(attack: str, scores: Score) -> Iterator[ScoreShare]:
    """Yield the share of people with each S(v) / runs, in tenths from the lowest to 1.

    S(v) counts a right match as 1 and a wrong one as -1; the runs are those in which the person could be found.
    """
    is_scored = scores.findable >= MIN_RUNS
    if not is_scored.any():
        return
    ratio = scores.score[is_scored] / scores.findable[is_scored]
    tenths = np.round(N_TENTHS * np.abs(ratio), 9)
    inner = np.clip(np.floor(tenths), 1, N_TENTHS - 1)  # -1, 0 and 1 stand alone
    place = (np.sign(ratio) * np.where(tenths == N_TENTHS, tenths, inner)).astype(np.int64)
    for tenth in range(int(place.min()), N_TENTHS + 1):
        yield ScoreShare(attack, tenth / N_TENTHS, float(np.mean(place == tenth)), int(is_scored.sum()))


def link_criteria(source: NetworkPair, runs: Iterable[AttackRun]) -> Iterator[CriterionLink]:
    """Yield criteria with their rank correlation with the share of attacks and runs that match a person rightly."""
    share = score_people(runs, source.people.n_nodes).hit_share
    values = source.criteria(criterion.variant for criterion in CRITERIA.values())
    for name, criterion in CRITERIA.items():
        value = values[criterion.variant]
        if (correlation := spearman(share, value)) is not None:
            yield CriterionLink(name, correlation, tuple(_rank(value, share)))


def _rank(value: NDArray[np.float64], share: NDArray[np.float64]) -> Iterator[tuple[float, float]]:
    """Yield percentile and mean share of tenths of people by rising value; people of one value stay together."""
    is_finite = np.isfinite(value) & np.isfinite(share)
    percentile = (mean_ranks(value[is_finite]) - 0.5) / max(int(is_finite.sum()), 1)
    tenth = np.minimum((percentile * N_TENTHS).astype(np.int64), N_TENTHS - 1)
    for number in np.unique(tenth).tolist():
        inside = tenth == number
        yield float(percentile[inside].mean()), float(share[is_finite][inside].mean())


def list_people_at_risk(
    release: str, attack: str, source: NetworkPair, pair: Pair, runs: Sequence[AttackRun], mapping: NDArray[np.integer]
) -> Iterator[AtRisk]:
    """Yield the people matched in the first run by the ids of their file, with the share of right matches of such a
    score.

    If the truth is known, only people whose match is right more often than the limit, with S(v) over several runs.
    """
    run = runs[0]
    people, nodes = list_ids(source.people), None if source.released is None else list_ids(source.released)
    share_right, scores = _share_right(run), score_people(runs, source.people.n_nodes)
    for node in np.flatnonzero(run.matched & ~(share_right <= LIMITS["identity"] + MIN_EXCESS)).tolist():
        person = run.person[node]
        reasons = [plural(int(run.degree[node]), "edge")]
        if nodes is not None and pair.target.labels is not None:
            reasons.append(f"taken for {nodes[pair.target.labels[mapping[node]]]} of the release")
        if run.truth.judged[node]:
            reasons.append("which is right" if run.outcome[node] == Outcome.HIT else "which is wrong")
        if scores.findable[person] >= MIN_RUNS:
            reasons.append(f"S(v) = {scores.score[person]} in {scores.findable[person]} runs")
        chance = float(share_right[node]) if np.isfinite(share_right[node]) else None
        yield AtRisk(release, people[person], attack, "identity", chance, ", ".join(reasons))


def _share_right(run: AttackRun) -> NDArray[np.float64]:
    """Return the share of right matches with about the score of each match; NaN without a truth."""
    share = np.full(len(run.outcome), np.nan)
    for item in score_bins([run]) if run.truth_known else ():
        share[(run.score >= item.low) & (run.score <= item.high)] = item.right
    return share
