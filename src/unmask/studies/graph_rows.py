"""What attacks on graphs found, as the rows that a report files: rates over runs, and measures of one belief."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unmask.audit import Audit, audit
from unmask.graphs import Matching, Pair, SeedPairs
from unmask.graphs.disclosure import Disclosure
from unmask.graphs.evaluation import Outcome
from unmask.graphs.protections import Role
from unmask.measures.base import QUANTILES, weighted_quantiles
from unmask.measures.interval import Interval, clustered_bootstrap, clustered_wilson
from unmask.posterior import equal_weights
from unmask.results import Row
from unmask.studies.graph_trials import FINDABLE, NAMED, Floats, Trial, interval
from unmask.truth import ABSENT, UNKNOWN, Truth

Direction = Literal["high", "low"]


@dataclass(frozen=True)
class _Mean:
    """A mean over people: for each run their values, 0 to 1, and the number of each; `prior` by guessing."""

    measure: str
    direction: Direction
    prior: float
    runs: Sequence[tuple[Floats, NDArray[np.int64]]]
    target: str = "identity"


def rows(trials: Sequence[Trial], *, release: str, adversary: str) -> Iterator[Row]:
    """Recall, precision, ghosts and hops of one attack over all runs, beside guessing.

    recall     : people in both graphs, seeds out, who are named rightly
    precision  : names given that are right; of people with a truth entry where the truth is partial
    ghosts     : names given that are of people who are not in the release; not where the truth is partial
    error_hops : from the named node to the right one, over the people named who are in both graphs; a hit is 0
    coverage   : nodes that are given a name; the only one where the truth is not known

    Where people have separated their identities, of those, as target "adopters":

    adopter_recall : who are named rightly, by any of their identities
    disclosure     : share of their contacts that the attack tells, see `unmask.graphs.disclosure.disclosure`; a random
                     node is taken to tell all contacts with the chance of one node
    decoyed        : with decoys, who are found by the public identity
    exposed        : with decoys, who are found by the identity that they hide

    Values are the mean over runs; of each person, for quantiles and the worst-off, the share of runs. The worst-off
    goes by its number as a person, from 1. What no run has, such as the precision of no names, is left out.
    """
    note = f"over {len(trials)} runs; it spread in {sum(trial.has_spread for trial in trials)}"
    for mean in (*_shares(trials), *_hidden(trials)):
        for row in _mean_row(mean, len(trials)):
            yield replace(row, release=release, adversary=adversary, note=note)
    for row in _hops_row(trials):
        yield replace(row, release=release, adversary=adversary, note=note)


def _shares(used: Sequence[Trial]) -> Iterator[_Mean]:
    def share(success: Sequence[Outcome], base: Sequence[Outcome]) -> list[tuple[Floats, NDArray[np.int64]]]:
        made = [(trial, np.isin(trial.judged, base)) for trial in used]
        return [(np.isin(trial.judged[of], success).astype(np.float64), trial.person[of]) for trial, of in made]

    if not used[0].known:
        yield _Mean("coverage", "high", 0.0, share((Outcome.GHOST,), (Outcome.GHOST, Outcome.ABSENT)))
        return
    findable = sum(trial.rates.findable for trial in used)
    partial = used[0].partial
    present = 1.0 if partial else findable / max(sum(trial.n_free for trial in used), 1)
    guess = sum(trial.guess * trial.rates.findable for trial in used) / findable
    yield _Mean("recall", "high", guess, share((Outcome.HIT,), FINDABLE))
    yield _Mean("precision", "high", guess * present, share((Outcome.HIT,), NAMED))
    if not partial:
        yield _Mean("ghosts", "low", 1 - present, share((Outcome.GHOST,), NAMED))


def _hidden(used: Sequence[Trial]) -> Iterator[_Mean]:
    """What the attack tells of those who have separated their identities; nothing where nobody has."""
    told = [(trial, trial.hidden) for trial in used if trial.hidden is not None and len(trial.hidden.person)]
    if not told:
        return
    one = 1 / told[0][0].n_target

    def mean(measure: str, prior: float, value: Callable[[Disclosure], NDArray[Any]]) -> _Mean:
        runs = [(value(hidden).astype(np.float64), trial.person[hidden.person]) for trial, hidden in told]
        return _Mean(measure, "high", prior, runs, "adopters")

    several = float(np.mean([trial.identities[hidden.person].mean() for trial, hidden in told]))
    yield mean("adopter_recall", one * several, lambda hidden: hidden.role >= 0)
    yield mean("disclosure", one, lambda hidden: hidden.share)
    if told[0][1].decoys:
        yield mean("decoyed", one, lambda hidden: hidden.role == Role.PUBLIC)
        yield mean("exposed", one, lambda hidden: hidden.role == Role.HIDDEN)


def _mean_row(mean: _Mean, n_runs: int) -> Iterator[Row]:
    shares = [float(value.mean()) for value, _ in mean.runs if len(value)]
    if not shares:
        return
    values, people = (np.concatenate(parts) for parts in zip(*mean.runs, strict=True))
    person, at, times = np.unique(people, return_inverse=True, return_counts=True)
    value, weight = np.bincount(at, weights=values) / times, times / times.sum()
    yield _row(
        mean.measure, "share", mean.direction, mean.prior, float(np.mean(shares)),
        _over_runs(shares) if len(shares) > 1 else _of_people(clustered_wilson(value, weight, person)),
        (value, weight, person), n=round(len(people) / n_runs), target=mean.target,
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
    return Interval(*interval(shares), f"{len(shares)} runs (Student's t)")


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
    target: str = "identity",
) -> Row:
    """A row about nobody yet; `of_people` are values, weights and numbers of people."""
    value, weight, person = of_people
    worst = int(np.argmax(value) if direction == "high" else np.argmin(value))
    return Row(
        release="",
        adversary="",
        target=target,
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
    """The standard measures of the belief about everyone who is no seed; the worst-off by number, as in `rows`.

    Of several identities of a person the one that the attack names is right, else the first.
    """
    free = np.setdiff1d(np.arange(pair.source.n_nodes), seeds.source)
    asked = replace(belief, observation=free, weight=equal_weights(len(free)))
    right = pair.truth_for(belief.mapping)[free]
    truth = Truth(np.where(right >= 0, right, UNKNOWN if trial.partial else ABSENT)) if trial.known else None
    found = audit(asked, truth, release=release, adversary=adversary, note="of the first run")
    return replace(
        found,
        rows=tuple(replace(row, worst_observation=int(trial.person[row.worst_observation]) + 1) for row in found.rows),
    )
