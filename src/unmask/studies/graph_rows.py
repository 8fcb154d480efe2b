"""What attacks on graphs found, as the rows that a report files: rates over runs, and measures of one belief."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.audit import Audit, audit
from unmask.graphs import Matching, Pair, SeedPairs
from unmask.graphs.evaluation import Outcome, over_runs
from unmask.measures.base import QUANTILES, weighted_quantiles
from unmask.measures.interval import Interval, clustered_bootstrap, clustered_wilson
from unmask.posterior import equal_weights
from unmask.results import Row
from unmask.studies.graph_trials import FINDABLE, NAMED, Floats, Trial, spread_trials
from unmask.truth import ABSENT, Truth

Direction = Literal["high", "low"]


@dataclass(frozen=True)
class _Share:
    """A share of outcomes: of those in `base` the ones in `success`; `prior` by guessing."""

    measure: str
    direction: Direction
    success: tuple[Outcome, ...]
    base: tuple[Outcome, ...]
    prior: float


def rows(trials: Sequence[Trial], *, release: str, adversary: str, n_people: int) -> Iterator[Row]:
    """Recall, precision, ghosts and hops of one attack over the runs in which it spread, beside guessing.

    recall     : people in both graphs, seeds out, who are named rightly
    precision  : names given that are right
    ghosts     : names given that are of people who are not in the release
    error_hops : from the named node to the right one, over the people named who are in both graphs; a hit is 0
    coverage   : nodes that are given a name; the only one where the truth is not known

    Values are the mean over runs; of each person, for quantiles and the worst-off, the share of runs. The worst-off
    goes by its number as a person, from 1. What no run has, such as the precision of no names, is left out.
    """
    used = spread_trials(trials)
    note = f"over the {len(used)} of {len(trials)} runs in which it spread" if used[0].has_spread else "it never spread"
    for share in _shares(used):
        for row in _share_row(used, share, n_people):
            yield replace(row, release=release, adversary=adversary, note=note)
    for row in _hops_row(used):
        yield replace(row, release=release, adversary=adversary, note=note)


def _shares(used: Sequence[Trial]) -> tuple[_Share, ...]:
    if not used[0].known:
        return (_Share("coverage", "high", (Outcome.GHOST,), (Outcome.GHOST, Outcome.ABSENT), 0.0),)
    guess = 1 / used[0].n_target
    present = sum(trial.rates.findable for trial in used) / max(sum(trial.n_free for trial in used), 1)
    return (
        _Share("recall", "high", (Outcome.HIT,), FINDABLE, guess),
        _Share("precision", "high", (Outcome.HIT,), NAMED, guess * present),
        _Share("ghosts", "low", (Outcome.GHOST,), NAMED, 1 - present),
    )


def _share_row(used: Sequence[Trial], share: _Share, n_people: int) -> Iterator[Row]:
    counts = np.zeros((n_people, len(Outcome)))
    shares = []
    for trial in used:
        np.add.at(counts, (trial.person, trial.outcome), 1)
        made = np.isin(trial.outcome, share.base)
        if made.any():
            shares.append(float(np.isin(trial.outcome[made], share.success).mean()))
    total = counts[:, list(share.base)].sum(axis=1)
    person = np.flatnonzero(total)
    if not len(person):
        return
    value, weight = counts[person][:, list(share.success)].sum(axis=1) / total[person], total[person] / total.sum()
    yield _row(
        share.measure, "share", share.direction, share.prior, float(np.mean(shares)),
        _over_runs(shares) if len(shares) > 1 else _of_people(clustered_wilson(value, weight, person)),
        (value, weight, person), n=round(float(total.sum()) / len(used)),
    )  # fmt: skip


def _hops_row(used: Sequence[Trial]) -> Iterator[Row]:
    hops = np.concatenate([trial.hops[trial.hops >= 0] for trial in used]).astype(np.float64)
    person = np.concatenate([trial.person[trial.hops >= 0] for trial in used])
    guesses = [trial.guess_hops for trial in used if trial.guess_hops is not None]
    if not len(hops) or not guesses:
        return
    weight = np.full(len(hops), 1 / len(hops))
    interval = _of_people(clustered_bootstrap(hops, weight, person))
    prior, mean = float(np.mean(guesses)), float(hops.mean())
    yield _row(
        "error_hops", "hops", "low", prior, mean, interval, (hops, weight, person), n=round(len(hops) / len(used))
    )


def _over_runs(shares: Sequence[float]) -> Interval:
    found = over_runs(np.clip(shares, 0, 1), 0.0)
    return Interval(found.recall_low, found.recall_high, f"{len(shares)} runs (Student's t)")


def _of_people(interval: Interval) -> Interval:
    """Targets and observations are people here."""
    return interval._replace(over=interval.over.replace("targets", "people").replace("observation", "person"))


def _row(
    measure: str,
    unit: str,
    direction: Direction,
    prior: float,
    mean: float,
    interval: Interval,
    of_people: tuple[Floats, Floats, NDArray[np.int64]],
    *,
    n: int,
) -> Row:
    """A row about nobody yet; `of_people` are values, weights and numbers of people."""
    value, weight, person = of_people
    worst = int(np.argmax(value) if direction == "high" else np.argmin(value))
    return Row(
        release="",
        adversary="",
        target="identity",
        measure=measure,
        unit=unit,
        direction=direction,
        prior=prior,
        posterior=mean,
        gain=mean - prior if direction == "high" else prior - mean,
        low=interval.low,
        high=interval.high,
        interval=interval.over,
        n=n,
        n_observations=len(np.unique(person)),
        worst=float(value[worst]),
        worst_observation=int(person[worst]) + 1,
        quantiles=weighted_quantiles(value, weight, QUANTILES),
        status="exact",
    )


def belief_rows(belief: Matching, pair: Pair, seeds: SeedPairs, trial: Trial, *, release: str, adversary: str) -> Audit:
    """The standard measures of the belief about everyone who is no seed; the worst-off by number, as in `rows`."""
    free = np.setdiff1d(np.arange(pair.source.n_nodes), seeds.source)
    asked = replace(belief, observation=free, weight=equal_weights(len(free)))
    truth = Truth(np.where(pair.truth[free] >= 0, pair.truth[free], ABSENT)) if trial.known else None
    found = audit(asked, truth, release=release, adversary=adversary, note="of the first run")
    return replace(
        found,
        rows=tuple(replace(row, worst_observation=int(trial.person[row.worst_observation]) + 1) for row in found.rows),
    )
