"""The standard audit of a network: who is re-identified from edges alone, how surely, from how few seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.graphs import Attack, Ensemble, Iterated, Matching, Pair, SeedPairs, SocialGraph
from unmask.graphs.audit.blocks import advise, describe_risk, make_blocks
from unmask.graphs.audit.case import (
    Run,
    attempt,
    belief_rows,
    bins,
    informed,
    mean_of,
    not_taken,
    rows,
    separation_point,
    summary,
)
from unmask.graphs.audit.cautions import cautions
from unmask.graphs.audit.facts import (
    GUESSED,
    AttackFacts,
    CriterionLink,
    GraphFacts,
    OverlapPoint,
    ProtectionEffect,
    SeedCount,
    strongest_first,
)
from unmask.graphs.audit.scenes import Plan, Scene, places
from unmask.graphs.audit.sentences import headline
from unmask.graphs.audit.tables import make_tables
from unmask.graphs.audit.written import ATTACKS, DIRECTED, STANDARD
from unmask.graphs.criteria import Variant, spearman
from unmask.graphs.criteria.equivalence import mean_ranks
from unmask.graphs.disclosure import SeparatedPair
from unmask.graphs.evaluation import Outcome, most_recall, score
from unmask.graphs.seeds import Guessed
from unmask.graphs.utility import lost, utility
from unmask.measures.rates import MIN_SPREAD
from unmask.measures.registry import described
from unmask.policy.coverage import coverage_notes
from unmask.reports.at_risk import SURER, AtRisk, Watched
from unmask.reports.data import LIMITS
from unmask.reports.properties import plane_table, utility_block, utility_table
from unmask.results import AuditResult, Row
from unmask.results.preferred_rows import preferred_rows
from unmask.results.words import listed, plural

RANKS = 10
"""Groups of people, by rising value of a criterion, whose hit share is drawn."""

CRITERIA: Mapping[str, Variant] = {"lta_a": "A", "lta_b": "B", "lta_c": "C", "degree": "degree"}

Case = tuple[str, str]
"""Release and attack."""


@dataclass(eq=False)
class _Ledger:
    """What is found, scene by scene.

    drawn    : release -> graphs and seeds of the first run
    runs     : release and attack -> runs
    standard : rows of the beliefs of first runs
    not_run  : what was left out -> why
    """

    drawn: dict[str, tuple[Pair, SeedPairs]] = field(default_factory=dict)
    runs: dict[Case, list[Run]] = field(default_factory=dict)
    standard: list[Row] = field(default_factory=list)
    not_run: dict[str, str] = field(default_factory=dict)

    def attacks_on(self, release: str) -> dict[str, list[Run]]:
        """Attack -> runs on a release."""
        return {attack: runs for (on, attack), runs in self.runs.items() if on == release}


def audit_graph(
    scenes: Mapping[str, Scene],
    plan: Plan,
    *,
    title: str = "Audit of a network",
    progress: Callable[[str], None] = lambda _: None,
    watched: Watched | None = None,
) -> AuditResult:
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
        ledger.drawn[release] = _drawn(scene, plan, 0, None)
    for release, scene in scenes.items():
        for run in range(scene.runs(plan)):
            progress(f"{release}, run {run + 1}")
            _run(ledger, release, scene, plan, run, watched, progress)
    if not ledger.runs:
        raise UnmaskError(next(iter(ledger.not_run.values())).removeprefix("failed: "))
    transition = tuple(_transition(ledger, *next(iter(scenes.items())), plan, progress))
    return _page(ledger, scenes, plan, transition, title=title)


def _drawn(scene: Scene, plan: Plan, run: int, n: int | None) -> tuple[Pair, SeedPairs]:
    """The graphs and seeds of one run, n or as planned; somebody must be left to be named."""
    pair = scene.pair(plan.rng("graphs", scene.overlap, run))
    seeds = scene.seeds(pair, plan, n, plan.rng("seeds", scene.overlap, n or plan.n_seeds, run))
    people = pair.common if scene.truth_known else np.arange(pair.source.n_nodes)
    if not len(np.setdiff1d(people, seeds.source)):
        whose = "who are in both graphs" if scene.truth_known else "of the adversary's graph"
        raise UnmaskError(f"all {len(people)} people {whose} are seeds, expected some to be found; ask for fewer seeds")
    return pair, seeds


def _run(
    ledger: _Ledger,
    release: str,
    scene: Scene,
    plan: Plan,
    run: int,
    watched: Watched | None,
    progress: Callable[[str], None],
) -> None:
    """All attacks on the graphs and seeds of one run."""
    pair, seeds = _drawn(scene, plan, run, None) if run else ledger.drawn[release]
    for name, attack in plan.attacks.items():
        if f"{name} on {release}" in ledger.not_run:
            continue
        try:
            ready = _told(attack, scene, pair, plan, partial(_say, progress, f"{release}, run {run + 1}, {name}"))
            found, belief = _attempt(scene, pair, ready, seeds)
        except UnmaskError as error:
            ledger.not_run.setdefault(f"{name} on {release}", f"failed: {error}")
            continue
        ledger.runs.setdefault((release, name), []).append(found)
        if run == 0:
            _first_answer(ledger, release, name, progress)
            filed = belief_rows(belief, found, release=release, adversary=name)
            ledger.standard += _covering(filed.rows, scene, [found])
            ledger.not_run |= dict(not_taken(filed, found.announced, release=release, attack=name))
            if watched is not None:
                watched.found += _at_risk(scene, pair, found, belief, release=release, attack=name)


def _covering(rows: Sequence[Row], scene: Scene, runs: Sequence[Run]) -> list[Row]:
    """Return the rows with the people whom they are about, in the run with the fewest."""
    if not scene.truth_known:
        return list(rows)
    fewest = min((scene.coverage(run.truth) for run in runs), key=lambda one: one["n_judged"])
    own = [row for row in rows if not scene.truth_partial or getattr(described(row.measure), "needs_truth", True)]
    return [replace(row, **fewest) if row in own else row for row in rows]


def _first_answer(ledger: _Ledger, release: str, name: str, progress: Callable[[str], None]) -> None:
    """What the best attack finds so far, whenever it is the last one that was run."""
    found = {attack: runs[0].rate("recall") or 0.0 for attack, runs in ledger.attacks_on(release).items()}
    if found[name] and found[name] == max(found.values()):
        progress(f"so far: re-identifies {100 * found[name]:.1f} % ({name}), {release}")


def _say(progress: Callable[[str], None], what: str, where: str) -> None:
    progress(f"{what}, {where}")


def _attempt(
    scene: Scene, pair: Pair, attack: Attack, seeds: SeedPairs, *, only_rates: bool = False
) -> tuple[Run, Matching]:
    """The attack with all that the adversary of a scene knows."""
    alike = scene.similarity and scene.similarity.renumbered(places(pair.source), places(pair.target))
    return attempt(pair, attack, seeds, similarity=alike, partial=scene.truth_partial, only_rates=only_rates)


def _told(attack: Attack, scene: Scene, pair: Pair, plan: Plan, progress: Callable[[str], None]) -> Attack:
    """The attack; an `Ensemble` is told how seeds came about, keeps its rounds, and tells of them."""
    ready = informed(attack, scene.seeds_name(plan), pair)
    return replace(ready, folder=plan.checkpoint, progress=progress) if isinstance(ready, Ensemble) else ready


def _at_risk(scene: Scene, pair: Pair, run: Run, belief: Matching, *, release: str, attack: str) -> Iterator[AtRisk]:
    """The people whom the attack names, by the ids of their file: how many names of such a score are right.

    Where the truth is known, those whose names are right more often than the limit.
    """
    people, nodes = _ids(scene.people), None if scene.released is None else _ids(scene.released)
    right = _right(run)
    for at in np.flatnonzero(run.named & ~(right <= LIMITS["identity"] + SURER)).tolist():
        said = [plural(int(run.degree[at]), "edge")]
        if nodes is not None and pair.target.labels is not None:
            said.append(f"taken for {nodes[pair.target.labels[belief.mapping[at]]]} of the release")
        if run.truth.judged[at]:
            said.append("which is right" if run.outcome[at] == Outcome.HIT else "which is wrong")
        chance = float(right[at]) if np.isfinite(right[at]) else None
        yield AtRisk(release, people[run.person[at]], attack, "identity", chance, ", ".join(said))


def _right(run: Run) -> NDArray[np.float64]:
    """(n_source,) share right of the names whose score is about that of a person's name; nan where nobody knows."""
    found = np.full(len(run.outcome), np.nan)
    for one in bins([run]) if run.known else ():
        found[(run.certainty >= one.low) & (run.certainty <= one.high)] = one.right
    return found


def _ids(graph: SocialGraph) -> list[str]:
    return [str(name) for name in (range(graph.n_nodes) if graph.labels is None else graph.labels)]


def _unrun(ledger: _Ledger, plan: Plan) -> dict[str, str]:
    """The attacks of the plan that refused every release, and the kinds that are not in it under any name, and why."""
    ran = {name for _, name in ledger.runs}
    refused = {what.partition(" on ")[0]: why.removeprefix("failed: ") for what, why in ledger.not_run.items()}
    planned = [
        *map(type, plan.attacks.values()),
        *(getattr(attack, "directed", None) for attack in plan.attacks.values()),
    ]
    pairs = [pair for pair, _ in ledger.drawn.values()]
    optional = {name: ATTACKS[name] for name in STANDARD}
    optional |= {DIRECTED: True} if any(map(_directed, pairs)) else {}
    optional |= {"Iterated": Iterated} if any((pair.identities > 1).any() for pair in pairs) else {}
    return {name: refused[name] for name in plan.attacks if name not in ran} | {
        name: "" for name, kind in optional.items() if kind not in planned
    }


def _transition(
    ledger: _Ledger, release: str, scene: Scene, plan: Plan, progress: Callable[[str], None]
) -> Iterator[SeedCount]:
    """Recall from other numbers of seeds, on the graphs of the first scene, and beside them that of the plan."""
    if not plan.transition:
        return
    planned = len(ledger.drawn[release][1].source)
    done = {(name, planned): list(runs) for name, runs in ledger.attacks_on(release).items()}
    for n in sorted(set(plan.transition) - {planned}):
        progress(f"{release}, {n} seeds")
        for run in range(scene.runs(plan, n)):
            try:
                pair, seeds = _drawn(scene, plan, run, n)
                for name in ledger.attacks_on(release):
                    ready = _told(plan.attacks[name], scene, pair, plan, lambda _: None)
                    found, _ = _attempt(scene, pair, ready, seeds, only_rates=True)
                    done.setdefault((name, n), []).append(found)
            except UnmaskError as error:
                ledger.not_run.setdefault(f"{n} seeds on {release}", f"failed: {error}")
                break
    order = list(plan.attacks)
    for (name, n), runs in sorted(done.items(), key=lambda item: (order.index(item[0][0]), item[0][1])):
        recall, coverage = (mean_of(run.rate(rate) for run in runs) for rate in ("recall", "coverage"))
        spread_in = sum(run.has_spread for run in runs)
        yield SeedCount(name, scene.seeds_name(plan), n, len(runs), spread_in, recall, coverage or 0.0)


# --- the page -------------------------------------------------------------------------------------------------------


def _page(
    ledger: _Ledger,
    scenes: Mapping[str, Scene],
    plan: Plan,
    transition: tuple[SeedCount, ...],
    *,
    title: str,
) -> AuditResult:
    filed = {
        (on, name): _covering(rows(runs, release=on, adversary=name), scenes[on], runs)
        for (on, name), runs in ledger.runs.items()
    }
    attacks = tuple(
        summary(
            runs, filed[on, name], release=on, attack=name,
            seeds=scenes[on].seeds_name(plan), n_seeds=len(ledger.drawn[on][1].source),
        )
        for (on, name), runs in ledger.runs.items()
    )  # fmt: skip
    first = scenes[attacks[0].release]
    taken = (*(row for found in filed.values() for row in found), *ledger.standard)
    said = dict.fromkeys(said for scene in scenes.values() for said in cautions(scene))
    return describe(
        _facts(ledger, scenes, plan, attacks, transition),
        taken,
        title=title,
        attacks=list(plan.attacks),
        assumptions=(*_assumptions(scenes, plan), *_guessed(ledger)),
        cautions=(*coverage_notes(taken, always=first.released is None), *said),
        not_run=tuple(ledger.not_run.items()),
    )


def _facts(
    ledger: _Ledger,
    scenes: Mapping[str, Scene],
    plan: Plan,
    attacks: tuple[AttackFacts, ...],
    transition: tuple[SeedCount, ...],
) -> GraphFacts:
    release = attacks[0].release
    scene, (pair, _) = scenes[release], ledger.drawn[release]
    known = scene.truth_known
    return GraphFacts(
        source_nodes=pair.source.n_nodes,
        source_edges=pair.source.n_edges,
        target_nodes=pair.target.n_nodes,
        target_edges=pair.target.n_edges,
        common=len(pair.common) if known else None,
        truth_known=known,
        truth_partial=scene.truth_partial,
        is_given=scene.released is not None,
        n_similar=0 if scene.similarity is None else len(scene.similarity.source),
        most_recall=_most_recall(ledger, attacks) if known and scene.similarity is None else None,
        attacks=attacks,
        transition=transition,
        overlaps=tuple(_overlaps(attacks, scenes)),
        anonymity=tuple(_anonymity(scene, ledger.attacks_on(release))) if known else (),
        protections=tuple(_separations(ledger, scenes)),
        utility=dict(_lost(ledger, scenes)),
        not_run=_unrun(ledger, plan),
    )


NOT_REQUESTED = "it was not requested"


def describe(
    facts: GraphFacts,
    rows: tuple[Row, ...],
    *,
    title: str,
    attacks: Sequence[str] = (),
    assumptions: tuple[str, ...] = (),
    cautions: tuple[str, ...] = (),
    not_run: tuple[tuple[str, str], ...] = (),
) -> AuditResult:
    """Return the result of facts about a network: tables, findings and what to do next."""
    names = list(attacks or facts.styles)
    seeds = "guessed" if facts.attacks[0].seeds in GUESSED else "leaked"
    checked = "" if facts.truth_known else " No truth was given: nothing is checked."
    utility = utility_table(facts.utility)
    preferred = ("recall",) if facts.truth_known else ()
    plane = plane_table(preferred_rows(rows, preferred).values(), utility)
    tables = (*make_tables(facts), utility, plane)
    skipped = ((f"the attack {name}", why or NOT_REQUESTED) for name, why in facts.not_run.items() if name not in names)
    return AuditResult(
        title=title,
        kind="Network audit",
        command="audit graph",
        setting=(
            f"An adversary who has their own network and a few {seeds} identities re-identifies people of a released "
            f"network, by {listed(names)}.{checked}"
        ),
        headline=headline(facts),
        rows=rows,
        tables=tables,
        blocks=(
            *make_blocks(facts, {table.name: table for table in tables}),
            *((utility_block(plane),) if facts.utility else ()),
        ),
        at_risk=describe_risk(facts),
        advice=advise(facts),
        adversaries={name: f"runs {name}" for name in names},
        preferred_measures=preferred,
        described_measures=("recall", "coverage"),
        sample_condition="recall <= 0.09",
        assumptions=assumptions,
        cautions=cautions,
        not_run=(*not_run, *skipped),
    )


def _most_recall(ledger: _Ledger, attacks: tuple[AttackFacts, ...]) -> float | None:
    """Bound recall from edges in the first run of the release of the first finding; None where people have several
    identities.
    """
    pair, seeds = ledger.drawn[strongest_first(attacks)[0].release]
    if pair.origin is not None:
        return None
    return most_recall(pair, seeds, directed=_directed(pair))


def _directed(pair: Pair) -> bool:
    """Whether attacks can see which way links go."""
    return pair.source.way is not None and pair.target.way is not None


def _assumptions(scenes: Mapping[str, Scene], plan: Plan) -> Iterator[str]:
    first = next(iter(scenes.values()))
    yield from dict.fromkeys(said for scene in scenes.values() for said in scene.assumptions(plan))
    if not first.truth_known:
        yield "What is right is not known; Ensemble alone estimates it. Scores of other attacks are no probabilities."
        yield f"An attack has spread when it names at least {MIN_SPREAD:.0%} of the people who are no seeds."
        return
    yield f"An attack has spread in a run when it names at least {MIN_SPREAD:.0%} of the people who can be found."
    yield "Rates are means over all runs, those in which an attack does not spread included; seeds are left out."
    if first.truth_partial:
        yield "The truth is partial: people without an entry in it are neither right nor wrong."
    own = any(isinstance(attack, Ensemble) for attack in plan.attacks.values())
    yield (
        "The score of a match is the probability that the model of the attack Rematch gives it, as any adversary can "
        f"work out.{' Ensemble gives its matches scores of its own.' * own} How many matches of a score are right is "
        "counted."
    )
    yield "What foretells who is re-identified is held against the share of attacks and runs that re-identify a person."
    if plan.transition and len(scenes) > 1:
        yield f"Numbers of leaked identities are tried on {next(iter(scenes))}."


def _guessed(ledger: _Ledger) -> Iterator[str]:
    """What speaks for identities that were found without the truth, in the first run of each release."""
    for release, (_, seeds) in ledger.drawn.items():
        if isinstance(seeds, Guessed) and seeds.said:
            yield f"{seeds.said} ({release})"


def _overlaps(attacks: tuple[AttackFacts, ...], scenes: Mapping[str, Scene]) -> Iterator[OverlapPoint]:
    """Rates by overlap, where there are several."""
    plain = {name: scene.overlap for name, scene in scenes.items() if scene.separation is None and scene.overlap}
    for attack in attacks if len(plain) > 1 else ():
        if overlap := plain.get(attack.release):
            share = attack.spread_in / attack.runs
            recall, wrong = attack.recall or 0.0, attack.named_wrongly or 0.0  # known: the pair was made
            yield OverlapPoint(attack.attack, *overlap, recall, attack.precision, wrong, share)


def _separations(ledger: _Ledger, scenes: Mapping[str, Scene]) -> Iterator[ProtectionEffect]:
    """Rates where people have separated their identities, beside those where they have not, if these were run."""
    before: dict[tuple[float, ...], str] = {
        scene.overlap: name for name, scene in scenes.items() if scene.separation is None and scene.overlap
    }
    for (release, attack), runs in ledger.runs.items():
        if runs[0].hidden is not None:
            whole = ledger.runs.get((before.get(scenes[release].overlap or (), ""), attack), [])
            yield separation_point(runs, whole, release=release, attack=attack)


def _lost(ledger: _Ledger, scenes: Mapping[str, Scene]) -> Iterator[tuple[str, dict[str, float]]]:
    """What each release that was protected here has lost, in the first run."""
    for release, (pair, _) in ledger.drawn.items():
        if isinstance(pair, SeparatedPair) and scenes[release].separation is not None:
            losses = lost(pair.before.target, *pair.separated)
            yield release, {"utility_lost": 1.0 - utility(losses), **losses}


def _anonymity(scene: Scene, attacks: Mapping[str, list[Run]]) -> Iterator[CriterionLink]:
    """Criteria beside the share of attacks and runs that name a person."""
    every = [run for runs in attacks.values() for run in runs]
    judged, people = (run.judged for run in every), (run.person for run in every)
    share = score(judged, people, n_people=scene.people.n_nodes).hit_share
    values = scene.criteria(CRITERIA.values())
    for name, variant in CRITERIA.items():
        correlation = spearman(share, values[variant])
        if correlation is not None:
            yield CriterionLink(name, correlation, tuple(_ranked(values[variant], share)))


def _ranked(value: NDArray[np.float64], share: NDArray[np.float64]) -> Iterator[tuple[float, float]]:
    """(percentile, mean hit share) of groups of people by rising value; people of one value stay together."""
    known = np.isfinite(value) & np.isfinite(share)
    percentile = (mean_ranks(value[known]) - 0.5) / max(int(known.sum()), 1)
    group = np.minimum((percentile * RANKS).astype(np.int64), RANKS - 1)
    for i in np.unique(group).tolist():
        inside = group == i
        yield float(percentile[inside].mean()), float(share[known][inside].mean())
