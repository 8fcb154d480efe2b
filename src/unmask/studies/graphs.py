"""The standard audit of a network: who is named from ties alone, how surely, from how few leaked identities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unmask.cases.at_risk import SURER, AtRisk, Watched
from unmask.errors import UnmaskError
from unmask.graphs import Matching, Pair, SeedPairs, SocialGraph
from unmask.graphs.criteria import Variant, spearman
from unmask.graphs.evaluation import Outcome, most_recall, score
from unmask.reports import (
    LIMITS,
    AnonymityLink,
    GraphRisk,
    OverlapPoint,
    ReportData,
    SeparationPoint,
    StructureAttack,
    TransitionPoint,
)
from unmask.reports.graph.words import strongest_first
from unmask.results import Row
from unmask.studies.graph_attacks import ATTACKS, STANDARD
from unmask.studies.graph_rows import belief_rows, rows
from unmask.studies.graph_scenes import BLIND, Acquired, Derived, Plan, Scene
from unmask.studies.graph_trials import PERCOLATES, Trial, attempt, bins, separation_point, summary

__all__ = ["Acquired", "Derived", "Plan", "Scene", "study_graph"]

RANKS = 10
"""Groups of people, by rising value of a criterion, whose hit share is drawn."""

CRITERIA: Mapping[str, Variant] = {"lta_a": "A", "lta_b": "B", "lta_c": "C", "degree": "degree"}

Trials = dict[str, list[Trial]]
"""Attack -> what it found in each run, on one pair of graphs."""


@dataclass(eq=False)
class _Ledger:
    """What is found, scene by scene.

    trials   : release -> attack -> runs
    first    : release -> graphs of the first run
    seeds    : release -> seeds of the first run
    standard : rows of the beliefs of first runs
    not_run  : what was left out -> why
    """

    trials: dict[str, Trials] = field(default_factory=dict)
    first: dict[str, Pair] = field(default_factory=dict)
    seeds: dict[str, SeedPairs] = field(default_factory=dict)
    standard: list[Row] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)


def study_graph(
    scenes: Mapping[str, Scene],
    plan: Plan,
    *,
    title: str = "Audit of a network",
    reproduce: Mapping[str, object] | None = None,
    progress: Callable[[str], None] = lambda _: None,
    watched: Watched | None = None,
) -> ReportData:
    """Every attack on every scene, run by run, against the truth where it is known.

    Attacks of one run share graphs and seeds. An attack that refuses a pair is told in `not_run`, and so are the kinds
    of attacks that were not asked for; where all refuse, the first refusal is raised. `progress` is told what is about
    to be run. Scenes either all know the truth or none does. Who is at risk in the first run of a scene goes to
    `watched` alone.
    """
    if len({scene.truth_known for scene in scenes.values()}) != 1:
        raise UnmaskError(
            f"{len(scenes)} pairs of graphs were given, expected at least 1, all with a truth or all without"
        )
    ledger = _Ledger()
    for release, scene in scenes.items():  # all of them first: who asks too much learns it before the work
        ledger.first[release], ledger.seeds[release] = _drawn(scene, plan, 0)
    for release, scene in scenes.items():
        for run in range(scene.runs(plan)):
            progress(f"{release}, run {run + 1}")
            _run(ledger, release, scene, plan, run, watched)
    _refuse_empty(ledger)
    transition = tuple(_transition(ledger, *next(iter(scenes.items())), plan, progress))
    return _page(ledger, scenes, plan, transition, title=title, reproduce=reproduce or {})


def _drawn(scene: Scene, plan: Plan, run: int) -> tuple[Pair, SeedPairs]:
    """The graphs and seeds of one run."""
    pair = scene.pair(plan.rng("graphs", scene.overlap, run))
    seeds = scene.seeds(pair, plan, None, plan.rng("seeds", scene.overlap, plan.n_seeds, run))
    _check_left(pair, seeds, known=scene.truth_known)
    return pair, seeds


def _run(ledger: _Ledger, release: str, scene: Scene, plan: Plan, run: int, watched: Watched | None) -> None:
    """All attacks on the graphs and seeds of one run."""
    pair, seeds = _drawn(scene, plan, run) if run else (ledger.first[release], ledger.seeds[release])
    for name, attack in plan.attacks.items():
        if f"{name} on {release}" in ledger.not_run:
            continue
        try:
            trial, belief = attempt(pair, attack, seeds, known=scene.truth_known, partial=scene.truth_partial)
        except UnmaskError as error:
            ledger.not_run.setdefault(f"{name} on {release}", f"failed: {error}")
            continue
        ledger.trials.setdefault(release, {}).setdefault(name, []).append(trial)
        if run == 0:
            found = belief_rows(belief, pair, seeds, trial, release=release, adversary=name)
            ledger.standard += found.rows
            for what, why in found.not_run:
                ledger.not_run.setdefault(f"{what} of {name}", why)
            if watched is not None:
                watched.found += _at_risk(scene, pair, trial, belief, release=release, attack=name)


def _at_risk(
    scene: Scene, pair: Pair, trial: Trial, belief: Matching, *, release: str, attack: str
) -> Iterator[AtRisk]:
    """The people whom the attack names, by the ids of their file: how many names of such a score are right.

    Where the truth is known, those whose names are right more often than the limit.
    """
    people, nodes = _ids(scene.people), None if scene.released is None else _ids(scene.released)
    right = _right(trial)
    for at in np.flatnonzero(trial.named & ~(right <= LIMITS["identity"] + SURER)).tolist():
        said = [f"{trial.degree[at]:,} ties"]
        if nodes is not None and pair.target.labels is not None:
            said.append(f"taken for {nodes[pair.target.labels[belief.mapping[at]]]} of the release")
        if trial.known and not (trial.partial and trial.outcome[at] == Outcome.GHOST):
            said.append("which is right" if trial.outcome[at] == Outcome.HIT else "which is wrong")
        chance = float(right[at]) if np.isfinite(right[at]) else None
        yield AtRisk(release, people[trial.person[at]], attack, "identity", chance, ", ".join(said))


def _right(trial: Trial) -> NDArray[np.float64]:
    """(n_source,) share right of the names whose score is about that of a person's name; nan where nobody knows."""
    found = np.full(len(trial.outcome), np.nan)
    for one in bins([trial]) if trial.known else ():
        found[(trial.certainty >= one.low) & (trial.certainty <= one.high)] = one.right
    return found


def _ids(graph: SocialGraph) -> list[str]:
    return [str(name) for name in (range(graph.n_nodes) if graph.labels is None else graph.labels)]


def _check_left(pair: Pair, seeds: SeedPairs, *, known: bool) -> None:
    """Somebody must be left to be named."""
    people = pair.common if known else np.arange(pair.source.n_nodes)
    if not len(np.setdiff1d(people, seeds.source)):
        whose = "who are in both graphs" if known else "of the adversary's graph"
        raise UnmaskError(f"all {len(people)} people {whose} are seeds, expected some to be found; ask for fewer seeds")


def _unrun(ledger: _Ledger, plan: Plan) -> dict[str, str]:
    """The attacks of the plan that refused every release, and the kinds that are not in it under any name, and why."""
    ran = {name for of_attack in ledger.trials.values() for name in of_attack}
    refused = {what.partition(" on ")[0]: why.removeprefix("failed: ") for what, why in ledger.not_run.items()}
    asked = {type(attack) for attack in plan.attacks.values()}
    return {name: refused[name] for name in plan.attacks if name not in ran} | {
        name: "it was not asked for" for name in STANDARD if ATTACKS[name] not in asked
    }


def _refuse_empty(ledger: _Ledger) -> None:
    """Nothing can be shown where every attack refused."""
    if not ledger.trials:
        raise UnmaskError(next(iter(ledger.not_run.values())).removeprefix("failed: "))


def _transition(
    ledger: _Ledger, release: str, scene: Scene, plan: Plan, progress: Callable[[str], None]
) -> Iterator[TransitionPoint]:
    """Recall from other numbers of seeds, on the graphs of the first scene, and beside them that of the plan."""
    if not plan.transition:
        return
    planned = len(ledger.seeds[release].source)
    done = {(name, planned): list(trials) for name, trials in ledger.trials.get(release, {}).items()}
    for n in sorted(set(plan.transition) - {planned}):
        progress(f"{release}, {n} seeds")
        for run in range(scene.runs(plan, n)):
            pair = scene.pair(plan.rng("graphs", scene.overlap, run))
            try:
                seeds = scene.seeds(pair, plan, n, plan.rng("seeds", scene.overlap, n, run))
                _check_left(pair, seeds, known=scene.truth_known)
                for name in ledger.trials.get(release, {}):
                    trial, _ = attempt(
                        pair,
                        plan.attacks[name],
                        seeds,
                        known=scene.truth_known,
                        partial=scene.truth_partial,
                        only_rates=True,
                    )
                    done.setdefault((name, n), []).append(trial)
            except UnmaskError as error:
                ledger.not_run.setdefault(f"{n} seeds on {release}", f"failed: {error}")
                break
    for (name, n), trials in sorted(done.items(), key=lambda item: (list(plan.attacks).index(item[0][0]), item[0][1])):
        recalls = [trial.recall for trial in trials if trial.recall is not None]
        recall = float(np.mean(recalls)) if recalls else None
        coverage = float(np.mean([trial.coverage for trial in trials]))
        percolated = sum(trial.has_spread for trial in trials)
        yield TransitionPoint(name, scene.seeds_name(plan), n, len(trials), percolated, recall, coverage)


# --- the page -------------------------------------------------------------------------------------------------------


def _page(
    ledger: _Ledger,
    scenes: Mapping[str, Scene],
    plan: Plan,
    transition: tuple[TransitionPoint, ...],
    *,
    title: str,
    reproduce: Mapping[str, object],
) -> ReportData:
    name, scene = next((name, scene) for name, scene in scenes.items() if name in ledger.trials)
    pair, trials = ledger.first[name], ledger.trials[name]
    attacks = tuple(
        summary(done, release=release, attack=attack, seeds=scenes[release].seeds_name(plan),
                n_seeds=len(ledger.seeds[release].source))
        for release, of_attack in ledger.trials.items()
        for attack, done in of_attack.items()
    )  # fmt: skip
    own = [
        row
        for release, of_attack in ledger.trials.items()
        for attack, done in of_attack.items()
        for row in rows(done, release=release, adversary=attack)
    ]
    unrun = tuple(_unrun(ledger, plan).items())
    return ReportData(
        title=title,
        who=_who(scene, plan),
        rows=(*own, *ledger.standard),
        assumptions=tuple(_assumptions(scenes, plan)),
        not_run=(
            *ledger.not_run.items(),
            *((f"the attack {name}", why) for name, why in unrun if name not in plan.attacks),
        ),
        reproduce=reproduce,
        adversaries={name: f"runs {name}" for name in plan.attacks},
        success=("recall",) if scene.truth_known else (),
        graph=GraphRisk(
            source_nodes=pair.source.n_nodes,
            source_edges=pair.source.n_edges,
            target_nodes=pair.target.n_nodes,
            target_edges=pair.target.n_edges,
            common=len(pair.common) if scene.truth_known else None,
            truth_known=scene.truth_known,
            truth_partial=scene.truth_partial,
            not_run=unrun,
            most_recall=_bound(ledger, attacks) if scene.truth_known else None,
            attacks=attacks,
            transition=transition,
            overlaps=tuple(_overlaps(attacks, scenes)),
            anonymity=tuple(_anonymity(scene, trials)) if scene.truth_known else (),
            separations=tuple(_separations(ledger, scenes)),
        ),
    )


def _bound(ledger: _Ledger, attacks: tuple[StructureAttack, ...]) -> float | None:
    """Upper bound on recall in the first run of the release that the first finding is about."""
    release = strongest_first(attacks)[0].release
    if ledger.first[release].origin is not None:  # it is a bound where everybody has one identity
        return None
    return most_recall(ledger.first[release], ledger.seeds[release])


def _who(scene: Scene, plan: Plan) -> str:
    truth = "" if scene.truth_known else " Nothing is checked: the truth is not known."
    seeds = "guessed" if scene.seeds_name(plan) in BLIND else "leaked"
    attacks = " and ".join(filter(None, (", ".join(list(plan.attacks)[:-1]), list(plan.attacks)[-1])))
    return (
        f"An adversary who has their own network and a few {seeds} identities names the people of a released network, "
        f"by {attacks}.{truth}"
    )


def _assumptions(scenes: Mapping[str, Scene], plan: Plan) -> Iterator[str]:
    first = next(iter(scenes.values()))
    yield from dict.fromkeys(said for scene in scenes.values() for said in scene.assumptions(plan))
    if not first.truth_known:
        yield "What is right is not known, and is not estimated: scores of attacks on networks are no probabilities."
        yield f"An attack has spread when it gives a name to at least {PERCOLATES:.0%} of the people who are no seeds."
        return
    yield f"An attack has spread in a run when it names at least {PERCOLATES:.0%} of the people who can be found."
    yield "Rates are means over all runs, those in which an attack does not spread included; seeds are left out."
    if first.truth_partial:
        yield "The truth is partial: people without an entry in it are neither right nor wrong."
    yield (
        "The score of a name is the probability that the model of the attack Rematch gives it, which any adversary can "
        "work out. It is not calibrated; how many names of a score are right is counted."
    )
    yield "What foretells who is named is held against the share of attacks and runs that name a person rightly."
    if plan.transition and len(scenes) > 1:
        yield f"Numbers of leaked identities are tried on {next(iter(scenes))}."


def _overlaps(attacks: tuple[StructureAttack, ...], scenes: Mapping[str, Scene]) -> Iterator[OverlapPoint]:
    """Rates by overlap, where there are several."""
    plain = {name: scene.overlap for name, scene in scenes.items() if scene.separation is None and scene.overlap}
    for attack in attacks if len(plain) > 1 else ():
        if overlap := plain.get(attack.release):
            share = attack.percolated / attack.runs
            recall, error = attack.recall or 0.0, attack.error or 0.0  # known: the pair was made
            yield OverlapPoint(attack.attack, *overlap, recall, error, attack.precision, share)


def _separations(ledger: _Ledger, scenes: Mapping[str, Scene]) -> Iterator[SeparationPoint]:
    """Rates where people have separated their identities, beside those on the release in which they have not."""
    before = {scene.overlap: ledger.trials.get(name, {}) for name, scene in scenes.items() if scene.separation is None}
    for release, of_attack in ledger.trials.items():
        for attack, done in of_attack.items() if scenes[release].separation else ():
            whole = before.get(scenes[release].overlap, {}).get(attack, [])
            yield separation_point(done, whole, release=release, attack=attack)


def _anonymity(scene: Scene, trials: Trials) -> Iterator[AnonymityLink]:
    """Criteria beside the share of attacks and runs that name a person."""
    every = [trial for done in trials.values() for trial in done]
    share = score((t.judged for t in every), (t.person for t in every), n_people=scene.n_people).hit_share
    values = scene.criteria(CRITERIA.values())
    for name, variant in CRITERIA.items():
        correlation = spearman(share, values[variant])
        if correlation is not None:
            yield AnonymityLink(name, correlation, tuple(_ranked(values[variant], share)))


def _ranked(value: NDArray[np.float64], share: NDArray[np.float64]) -> Iterator[tuple[float, float]]:
    """(percentile, mean hit share) of groups of people by rising value; people of one value stay together."""
    known = np.isfinite(value) & np.isfinite(share)
    percentile = (stats.rankdata(value[known]) - 0.5) / max(int(known.sum()), 1)
    group = np.minimum((percentile * RANKS).astype(np.int64), RANKS - 1)
    for i in np.unique(group).tolist():
        inside = group == i
        yield float(percentile[inside].mean()), float(share[known][inside].mean())
