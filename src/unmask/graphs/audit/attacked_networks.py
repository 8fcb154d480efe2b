"""Run attacks on pairs of networks, and collect facts over all runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.findings.people_at_risk import Watched
from unmask.graphs import Auxiliary, Ensemble, Iterated, Matching, Pair, SeedPairs
from unmask.graphs.audit import attack_plan
from unmask.graphs.audit.attack_plan import Plan
from unmask.graphs.audit.attack_run import (
    AttackRun,
    attack_facts,
    average_rows,
    count_by_seeds,
    declare_seeds,
    list_stable_seeds,
    protection_effect,
    run_attack,
)
from unmask.graphs.audit.facts import (
    AttackFacts,
    GraphFacts,
    ProtectionEffect,
    ScoreShare,
    strongest_first,
)
from unmask.graphs.audit.network_pairs import NetworkPair, places
from unmask.graphs.audit.person_outcomes import count_scores, link_criteria, list_people_at_risk, score_people
from unmask.graphs.disclosure import SeparatedPair
from unmask.graphs.evaluation import most_recall
from unmask.graphs.utility import lost, utility
from unmask.measures import Measure
from unmask.measures.registry import described
from unmask.results import Row
from unmask.results.words import format_duration, plural
from unmask.scoring import SCORES, STANDARD
from unmask.scoring import score as score_belief


@dataclass(eq=False)
class AttackedNetworks:
    """Runs of all attacks on all pairs.

    Parameters
    ----------
    measures : tuple of Measure
        Requested measures of beliefs in addition to the standard ones.
    drawn : dict
        Release -> networks and seeds of the first run.
    runs : dict
        (release, attack) -> runs.
    mappings : dict
        (release, attack) -> released node of each person in the first run, -1 without a match.
    belief_rows : list of Row
        Standard measures of the beliefs in first runs.
    not_run : dict
        Name of a skipped part -> reason.
    deadline : float
        Time of `time.perf_counter` at which the time limit of the plan ends.
    """

    pairs: Mapping[str, NetworkPair]
    plan: Plan
    progress: Callable[[str], None]
    watched: Watched | None
    measures: tuple[Measure, ...] = ()
    drawn: dict[str, tuple[Pair, SeedPairs]] = field(default_factory=dict)
    runs: dict[tuple[str, str], list[AttackRun]] = field(default_factory=dict)
    mappings: dict[tuple[str, str], NDArray[np.integer]] = field(default_factory=dict)
    belief_rows: list[Row] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)
    transition: list[AttackFacts] = field(default_factory=list)
    deadline: float = np.inf

    def run(self) -> None:
        """Run the plan."""
        for release in self.pairs:  # first of all: a request for too many seeds fails before the work
            self.drawn[release] = self._draw(release, self.plan, 0, None)
        first = next(iter(self.pairs))
        _, *other_plans = self.plan.by_method()
        for plan in other_plans:
            self._draw(first, plan, 0, None)
        self._run_all()
        if not self.runs:
            raise UnmaskError(next(iter(self.not_run.values())).removeprefix("failed: "))
        for (release, name), runs in self.runs.items():
            drawn, mapping = self.drawn[release][0], self.mappings[release, name]
            self.belief_rows += self._search_identities(release, name, drawn)
            if self.watched is not None:
                self.watched.found += list_people_at_risk(release, name, self.pairs[release], drawn, runs, mapping)
        self.transition = list(self._try_seeds(first))

    def _run_all(self) -> None:
        """Run all attacks on all pairs until the time limit; `plan` then has the number of completed runs."""
        n_runs = max(pair.runs(self.plan) for pair in self.pairs.values())
        if self.plan.time_limit is not None:
            self.deadline = time.perf_counter() + self.plan.time_limit
        for number in range(n_runs):
            start = time.perf_counter()
            for release, pair in self.pairs.items():
                if number < pair.runs(self.plan):
                    self.progress(f"{release}, run {number + 1}")
                    self._run_once(release, number)
            n_left = n_runs - number - 1
            if n_left and not self._has_time(n_left, time.perf_counter() - start):
                self.plan = replace(self.plan, runs=number + 1)
                break

    def _has_time(self, n_left: int, seconds: float) -> bool:
        """Report the estimated duration of further runs; return True if the next one would end in time.

        seconds : duration of the last run
        """
        self.progress(f"{plural(n_left, 'further run')}: about {format_duration(n_left * seconds)}")
        if time.perf_counter() + seconds <= self.deadline:
            return True
        limit, duration = self.plan.time_limit, format_duration(seconds)
        self.not_run[plural(n_left, "further run")] = f"the time limit is {limit:g} s, and a run takes about {duration}"
        return False

    def _draw(self, release: str, plan: Plan, number: int, n_seeds: int | None) -> tuple[Pair, SeedPairs]:
        """Return networks and seeds of one run; raise if all people are seeds."""
        source = self.pairs[release]
        pair = source.pair(plan.rng("graphs", source.overlap, number))
        rng = plan.rng("seeds", source.overlap, n_seeds or plan.n_seeds, number)
        seeds = source.seeds(pair, plan, n_seeds, rng)
        people = pair.common if source.truth_known else np.arange(pair.source.n_nodes)
        if not len(np.setdiff1d(people, seeds.source)):
            network = "who are in both graphs" if source.truth_known else "of the adversary's graph"
            raise UnmaskError(
                f"all {len(people)} people {network} are seeds, expected some to be found; choose fewer seeds"
            )
        return pair, seeds

    def _attack(
        self,
        release: str,
        name: str,
        plan: Plan,
        pair: Pair,
        knowledge: Auxiliary,
        *,
        prefix: str = "",
        only_rates: bool = False,
    ) -> tuple[AttackRun, Matching]:
        """Run an attack; an `Ensemble` caches and reports its rounds."""
        source = self.pairs[release]
        attack = declare_seeds(plan.attacks[name], source.seeds_name(plan), pair)
        if isinstance(attack, Ensemble):
            report = (lambda text: self.progress(f"{prefix}, {text}")) if prefix else lambda _: None
            attack = replace(attack, folder=plan.checkpoint, progress=report)
        return run_attack(pair, attack, knowledge, partial=source.truth_partial, only_rates=only_rates)

    def _know(self, release: str, pair: Pair, seeds: SeedPairs) -> Auxiliary:
        """Return the adversary's full knowledge of a pair."""
        similarity = self.pairs[release].similarity
        similarity = similarity and similarity.renumbered(places(pair.source), places(pair.target))
        return Auxiliary(pair.source, seeds, similarity)

    def _run_once(self, release: str, number: int) -> None:
        """Run all attacks on the networks and seeds of one run."""
        pair, seeds = self._draw(release, self.plan, number, None) if number else self.drawn[release]
        knowledge = self._know(release, pair, seeds)
        for name in self.plan.attacks:
            if f"{name} on {release}" in self.not_run:
                continue
            try:
                prefix = f"{release}, run {number + 1}, {name}"
                run, belief = self._attack(release, name, self.plan, pair, knowledge, prefix=prefix)
            except UnmaskError as error:
                self.not_run.setdefault(f"{name} on {release}", f"failed: {error}")
                continue
            self.runs.setdefault((release, name), []).append(run)
            if number == 0:
                self._report_best(release, name)
                self._score_belief(release, name, run, belief)
                self.mappings[release, name] = belief.mapping

    def _search_identities(self, release: str, name: str, pair: Pair) -> Iterator[Row]:
        """Yield the discovery rates of the identities of some adopters, on the networks of the first run."""
        source, plan = self.pairs[release], self.plan
        if plan.discovery is None or not isinstance(pair, SeparatedPair):
            return
        self.progress(f"{release}, {name}: identities of {plan.discovery.people} people")

        def draw_seeds(whole: Pair, rng: np.random.Generator) -> SeedPairs:
            return source.seeds(whole, plan, None, rng)

        rng = plan.rng("discovery", source.overlap)
        yield from plan.discovery.rows(pair, plan.attacks[name], draw_seeds, rng, release=release, adversary=name)

    def _report_best(self, release: str, name: str) -> None:
        """Report the recall of the attack that just ran, if it is the best one so far."""
        recalls = {attack: runs[0].rate("recall") or 0.0 for attack, runs in self.runs_on(release).items()}
        if recalls[name] and recalls[name] == max(recalls.values()):
            self.progress(f"so far: re-identifies {100 * recalls[name]:.1f} % ({name}), {release}")

    def _score_belief(self, release: str, name: str, run: AttackRun, belief: Matching) -> None:
        """Compute the standard measures of a belief, with numbers instead of ids; record the measures that are
        skipped.
        """
        scored = score_belief(
            belief,
            run.truth,
            release=release,
            adversary=name,
            measures=(*STANDARD, *self.measures),
            note="of the first run",
        )
        numbers = (int(run.person[row.worst_observation]) + 1 for row in scored.rows)
        rows = [replace(row, worst_observation=number) for row, number in zip(scored.rows, numbers, strict=True)]
        self.belief_rows += self._with_coverage(release, rows, [run])
        measures: dict[str, list[str]] = {}
        requested = {measure.name for measure in self.measures}
        for measure, cause in scored.not_run:
            if measure in requested:
                self.not_run[f"{measure} ({name})"] = cause
            else:
                measures.setdefault(cause, []).append(measure)
        for cause, skipped in measures.items():
            if cause != SCORES:
                self.not_run[f"{', '.join(skipped)} ({name})"] = cause
            elif run.announced is None:
                self.not_run[f"what {name} expects"] = cause
            else:
                people = "people" if run.announced.refused else "people who may not be"
                reason = "; ".join(run.announced.refused) or "it is unknown who is absent"
                self.not_run[f"what {name} expects of {people} in {release}"] = reason

    def _try_seeds(self, release: str) -> Iterator[AttackFacts]:
        """Yield the recall from the seeds of the plan and from others, on the networks of the first pair."""
        if not (self.plan.transition or self.plan.other_seeds):
            return
        planned = len(self.drawn[release][1].source)
        for plan in self.plan.by_method():
            is_first = plan.seeds == self.plan.seeds
            runs_by_seeds = {(name, planned): list(runs) for name, runs in self.runs_on(release).items() if is_first}
            numbers = {*plan.transition} - {planned} if is_first else {*plan.transition, plan.n_seeds}
            method = "" if is_first else f" by {plan.seeds}"
            for n_seeds in sorted(numbers):
                if time.perf_counter() > self.deadline:
                    reason = f"the time limit is {self.plan.time_limit:g} s"
                    self.not_run[f"{n_seeds} seeds{method} on {release}"] = reason
                    continue
                self.progress(f"{release}, {n_seeds} seeds{method}")
                try:
                    for name, run in self._run_rates(release, plan, n_seeds):
                        runs_by_seeds.setdefault((name, n_seeds), []).append(run)
                except UnmaskError as error:
                    self.not_run.setdefault(f"{n_seeds} seeds{method} on {release}", f"failed: {error}")
            seeds = self.pairs[release].seeds_name(plan)
            yield from count_by_seeds(runs_by_seeds, list(plan.attacks), release=release, seeds=seeds)

    def _run_rates(self, release: str, plan: Plan, n_seeds: int) -> Iterator[tuple[str, AttackRun]]:
        """Yield runs of all attacks from `n_seeds` seeds, without scores and hops."""
        for number in range(self.pairs[release].runs(plan, n_seeds)):
            pair, seeds = self._draw(release, plan, number, n_seeds)
            knowledge = self._know(release, pair, seeds)
            for name in self.runs_on(release):
                yield name, self._attack(release, name, plan, pair, knowledge, only_rates=True)[0]

    # --- facts over runs ---------------------------------------------------------------------------------------------

    def runs_on(self, release: str) -> dict[str, list[AttackRun]]:
        """Return the runs of each attack on a release."""
        return {attack: runs for (name, attack), runs in self.runs.items() if name == release}

    def _with_coverage(self, release: str, rows: Sequence[Row], runs: Sequence[AttackRun]) -> list[Row]:
        """Return rows with counts of the people they describe, from the run with the fewest."""
        source = self.pairs[release]
        if not source.truth_known:
            return list(rows)
        fewest = min((source.coverage(run.truth) for run in runs), key=lambda counts: counts["n_judged"])
        is_about = [not source.truth_partial or getattr(described(row.measure), "needs_truth", True) for row in rows]
        return [replace(row, **fewest) if about else row for row, about in zip(rows, is_about, strict=True)]

    @cached_property
    def mean_rows(self) -> dict[tuple[str, str], list[Row]]:
        """Return (release, attack) -> measures, averaged over runs."""
        return {
            (release, attack): self._with_coverage(release, average_rows(runs, release=release, adversary=attack), runs)
            for (release, attack), runs in self.runs.items()
        }

    def rows(self) -> Iterator[Row]:
        """Yield the measures of all attacks; means over runs are first."""
        for rows in self.mean_rows.values():
            yield from rows
        yield from self.belief_rows
        release = next(iter(self.pairs))
        n_people = self.drawn[release][0].source.n_nodes
        stable, never = list_stable_seeds(self.transition, release=release, n_people=n_people)
        self.not_run |= never
        yield from stable

    def facts(self) -> GraphFacts:
        """Return the facts about all attacks; facts about both networks are those of the first run."""
        attacks = tuple(self._attack_facts())
        release = attacks[0].release
        source, (pair, _) = self.pairs[release], self.drawn[release]
        overlaps = tuple(attack for attack in attacks if attack.overlap)
        by_edges = source.truth_known and source.similarity is None
        return GraphFacts(
            source_nodes=pair.source.n_nodes,
            source_edges=pair.source.n_edges,
            target_nodes=pair.target.n_nodes,
            target_edges=pair.target.n_edges,
            common=len(pair.common) if source.truth_known else None,
            truth_known=source.truth_known,
            truth_partial=source.truth_partial,
            acquired=source.released is not None,
            similar=0 if source.similarity is None else len(source.similarity.source),
            most_recall=self._most_recall(strongest_first(attacks)[0].release) if by_edges else None,
            attacks=attacks,
            transition=tuple(self.transition),
            overlaps=overlaps if len({attack.overlap for attack in overlaps}) > 1 else (),
            anonymity=tuple(link_criteria(source, self._runs_of(release))) if source.truth_known else (),
            run_scores=tuple(self._run_scores(strongest_first(attacks)[0].release)) if source.truth_known else (),
            protections=tuple(self._protection_effects()),
            utility=dict(self._losses()),
            not_run=self._attacks_not_run(),
        )

    def _runs_of(self, release: str) -> list[AttackRun]:
        """Return the runs of all attacks on a release."""
        return [run for runs in self.runs_on(release).values() for run in runs]

    def _run_scores(self, release: str) -> Iterator[ScoreShare]:
        """Yield the share of people with each S(v) / runs, for each attack on a release."""
        for attack, runs in self.runs_on(release).items():
            yield from count_scores(attack, score_people(runs, self.pairs[release].people.n_nodes))

    def _attack_facts(self) -> Iterator[AttackFacts]:
        for (release, attack), runs in self.runs.items():
            source, n_seeds = self.pairs[release], len(self.drawn[release][1].source)
            names = {"release": release, "attack": attack, "seeds": source.seeds_name(self.plan)}
            overlap = source.overlap if source.separation is None else None
            yield attack_facts(runs, self.mean_rows[release, attack], **names, n_seeds=n_seeds, overlap=overlap)

    def _attacks_not_run(self) -> dict[str, str]:
        """Return the reasons for attacks that refused every release, and attack kinds that were not planned."""
        ran = {name for _, name in self.runs}
        refused = {item.partition(" on ")[0]: reason.removeprefix("failed: ") for item, reason in self.not_run.items()}
        attacks = self.plan.attacks.values()
        planned = [*map(type, attacks), *(getattr(attack, "directed", None) for attack in attacks)]
        pairs = [pair for pair, _ in self.drawn.values()]
        optional = {name: attack_plan.ATTACKS[name] for name in attack_plan.STANDARD}
        optional |= {attack_plan.DIRECTED: True} if any(map(_is_directed, pairs)) else {}
        optional |= {"Iterated": Iterated} if any((pair.identities > 1).any() for pair in pairs) else {}
        failed = {name: refused[name] for name in self.plan.attacks if name not in ran}
        return failed | {name: "" for name, kind in optional.items() if kind not in planned}

    def _most_recall(self, release: str) -> float | None:
        """Return the bound on recall from structural twins in the first run; None if people have several identities."""
        pair, seeds = self.drawn[release]
        return None if pair.origin is not None else most_recall(pair, seeds, directed=_is_directed(pair))

    def _protection_effects(self) -> Iterator[ProtectionEffect]:
        """Yield rates on protected releases, with the rates without protection if these were run."""
        unprotected = {pair.overlap: name for name, pair in self.pairs.items() if pair.overlap and not pair.separation}
        for (release, attack), runs in self.runs.items():
            if runs[0].disclosed is not None:
                name = unprotected.get(self.pairs[release].overlap or (0.0, 0.0), "")
                yield protection_effect(runs, self.runs.get((name, attack), []), release=release, attack=attack)

    def _losses(self) -> Iterator[tuple[str, dict[str, float]]]:
        """Yield the losses of each release that the audit protected, in the first run."""
        for release, (pair, _) in self.drawn.items():
            if isinstance(pair, SeparatedPair) and self.pairs[release].separation is not None:
                losses = lost(pair.before.target, *pair.separated)
                yield release, {"utility_lost": 1.0 - utility(losses), **losses}


def _is_directed(pair: Pair) -> bool:
    """Return True if attacks can use directions of links."""
    return pair.source.way is not None and pair.target.way is not None
