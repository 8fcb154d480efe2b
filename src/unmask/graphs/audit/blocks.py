"""Findings about a released network: blocks of a page with charts, people at risk, and advice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from unmask.graphs.audit.facts import AttackFacts, GraphFacts, is_known, strongest_by_release
from unmask.graphs.audit.seed_sentences import count_seeds, describe_seeds, needed_seeds
from unmask.graphs.audit.sentences import (
    announced_recall,
    announcements,
    attacks_not_run,
    best_criterion,
    bound,
    bound_by_twins,
    compare_degrees,
    compare_overlaps,
    describe_degrees,
    describe_protections,
    describe_run_scores,
    describe_stopped_runs,
    extreme_degrees,
    setting,
)
from unmask.languages import gettext as _
from unmask.languages import mark
from unmask.results import Advice, Alternative, AtRisk, Block, Chart, Fact, Table, View
from unmask.results.formats import percent
from unmask.results.suppression import mark_group, mark_people
from unmask.results.words import format_share, join_names, plural, release_name

MAX_PANELS = 3
"""Largest number of attacks that have charts over both overlaps."""

ATTACK_COLUMNS = (
    "Recall: share of the people in both networks that the adversary re-identifies, without seeds. Precision: share of "
    "all matches that are right. At least: the same if people without an entry in the truth are not in the release. "
    "Wrong: share of the people in both networks with a wrong match. False positives: share of the matches of people "
    "who are not in the release. Coverage: share of all other people of the adversary's network with a match. "
    "Matches: mean number of matches. Spread in: runs in which the attack spread through the network instead of ending "
    "near its seeds. Rates are means over all runs."
)

INTERVAL = "95 %: interval over runs; each run has other networks or other seeds."

SCORES = "The score of a match is the probability that the model of the attack Rematch gives it, uncalibrated."

ENSEMBLE_SCORES = "Ensemble computes its own scores."

SEEDS_NOTE = "An attack either ends near its seeds or spreads through the network; there is little in between."

CRITERIA_NOTE = (
    "A criterion needs no attack: an owner can compute it for all people before release. The rank correlation "
    "(Spearman) is with the share of attacks and runs that re-identify a person. The farther it is from 0 in the "
    "direction of the meaning, the better the criterion predicts."
)

RUN_SCORE_NOTE = (
    "S(v) of a person counts a right match as 1 and a wrong match as \u22121, over all runs. It is divided by the runs "
    "in which the person could be found, at least two. Values are cut to tenths towards 0; 0 and 1 are exact."
)

ADOPTERS_NOTE = (
    "Adopters are people with several identities. Any identity re-identifies a person. The adversary learns the "
    "contacts of the identity that is matched; with one identity, these are all contacts."
)


def make_blocks(facts: GraphFacts, tables: Mapping[str, Table]) -> tuple[Block, ...]:
    """Return the blocks of a network audit after the headline, in page order."""
    blocks = (
        _attack_block(facts),
        _protection_block(facts),
        _announcement_block(facts),
        _degree_block(facts, tables),
        _run_score_block(facts, tables),
        _score_block(facts, tables),
        _seed_block(facts, tables),
        _overlap_block(facts, tables),
        _pass_block(facts, tables),
        _criterion_block(facts, tables),
    )
    return tuple(block for block in blocks if block is not None)


def _lines(
    table: Table | None, x: str, y: str, title: str, *, by: str = "attack", style: str = "style", **options: Any
) -> Iterator[Chart]:
    """Yield a line chart unless all x values are equal; the title names a single line."""
    selection = options.pop("where", {"drawn": True})
    rows = [row for row in table.where(**selection).rows if is_known(row[y])] if table is not None else []
    if len({row[x] for row in rows}) > 1 and table is not None:
        names = {row[by] for row in rows}
        title += f": {names.pop()}" if len(names) == 1 else ""
        yield Chart("lines", table.name, x, y, by=by, style=style, title=title, where=selection, **options)


def _first_release(facts: GraphFacts) -> tuple[str, ...]:
    """Return a sentence that names the release of the charts, if there are several."""
    if not facts.has_several_releases:
        return ()
    return (f"About {release_name(facts.first.release)}, the release where most people are re-identified.",)


def _attack_block(facts: GraphFacts) -> Block:
    sentence = " ".join(filter(None, (bound(facts), attacks_not_run(facts))))
    introduction = " ".join(filter(None, (setting(facts), describe_stopped_runs(facts))))
    notes = [ATTACK_COLUMNS]
    if any(attack.recall_low is not None for attack in facts.attacks):
        notes.append(INTERVAL)
    methods = {seeds: describe_seeds(seeds) for seeds in dict.fromkeys(attack.seeds for attack in facts.attacks)}
    methods_used = [f"{seeds}: {words}" for seeds, words in methods.items() if words != seeds]
    if methods_used:
        notes.append(f"Seeds are the identities that the attack starts from. {'; '.join(methods_used)}.")
    heading = "Who is re-identified in the network"
    return Block("graph", heading, sentence, (), ("graph_attacks",), introduction, tuple(notes))


def _protection_block(facts: GraphFacts) -> Block | None:
    if not facts.protections:
        return None
    has_adopters = any(effect.adopters for effect in facts.protections)
    heading = "Where people have several identities" if has_adopters else "With protection"
    notes = ["Without it: the same runs and people, before the protection."]
    notes = notes if any(effect.recall_before is not None for effect in facts.protections) else []
    notes += [ADOPTERS_NOTE] if has_adopters else []
    sentence = " ".join(describe_protections(facts))
    return Block("protections", heading, sentence, (), ("graph_separations",), notes=tuple(notes))


def _announcement_block(facts: GraphFacts) -> Block | None:
    sentence = " ".join(announcements(facts))
    if not sentence:
        return None
    return Block("announced", "What attacks announce about themselves", sentence, (), ("graph_announcements",))


def _degree_block(facts: GraphFacts, tables: Mapping[str, Table]) -> Block | None:
    table = tables.get("graph_degrees")
    charts = (
        *_lines(table, "edges", "recall", "People re-identified"),
        *_lines(table, "edges", "precision", "Matches that are right"),
    )
    notes = (
        *_first_release(facts),
        "People in both networks without seeds, by edges in the adversary's network.",
    )
    views = (View("graph_degrees", ("attack", "edges", "people", "recall", "precision"), {"drawn": True}),)
    block = Block("edges", "Who is re-identified, by edges", compare_degrees(facts), charts, views, notes=notes)
    return block if charts else None


def _run_score_block(facts: GraphFacts, tables: Mapping[str, Table]) -> Block | None:
    charts = tuple(_lines(tables.get("graph_run_scores"), "run_score", "share", "People by S(v) / runs"))
    sentence = partial(describe_run_scores, attack=facts.first.attack)
    block = Block("certainty", "Certainty of re-identification over runs", sentence, charts, notes=(RUN_SCORE_NOTE,))
    return block if charts else None


def _score_block(facts: GraphFacts, tables: Mapping[str, Table]) -> Block | None:
    table = tables.get("graph_scores")
    right_charts = tuple(
        _lines(table, "score", "right", "Matches that are right", diagonal="score = share that is right", x_max=1.0)
    )
    count_charts = tuple(_lines(table, "low", "matches_from", "Matches made, by least score"))
    drawn = [item for item in facts.attacks if item.release == facts.first.release and item.attack in facts.drawn]
    has_own = any(attack.announced is not None for attack in drawn)
    reading = "Where a line leaves the diagonal, scores are not shares of right matches."
    notes = (
        *_first_release(facts),
        *((" ".join((SCORES, *[ENSEMBLE_SCORES] * has_own, reading)),) if right_charts else ()),
    )
    sentence = _describe_scores(drawn) if right_charts else ""
    charts = (*right_charts, *count_charts)
    block = Block("scores", "How many matches are right, by their score", sentence, charts, notes=notes)
    return block if block.charts else None


def _describe_scores(attacks: list[AttackFacts]) -> str:
    """Return a sentence on whether the drawn scores are probabilities."""
    announcing = [item.attack for item in attacks if item.announced is not None and item.announced.recall is not None]
    if announcing:
        names = join_names(list(dict.fromkeys(announcing)))
        return f"Scores of {names} are about people in the release only; matches of other people lower the line."
    return "Scores rank matches and are not probabilities: a score above the share of right matches is too high."


def _seed_block(facts: GraphFacts, tables: Mapping[str, Table]) -> Block | None:
    table = tables.get("graph_transition")
    reach, verb = ("recall", "re-identified") if facts.truth_known else ("coverage", "matched")
    options: dict[str, Any] = {"log": "x"}
    if several := len(facts.seed_methods) > 1:
        options |= {"by": "seeds", "style": "", "where": {"attack": facts.first.attack}}
    people = f"People {verb} by {facts.first.attack}" if several else f"People {verb}"
    attack = facts.first.attack if several else "the attack"
    charts = (
        *_lines(table, "n_seeds", reach, people, **options),
        *_lines(table, "n_seeds", "spread", f"Runs in which {attack} spreads", **options),
    )
    columns = ("attack", "seeds", "n_seeds", "runs", "spread_in", "recall", "coverage")
    block = Block(
        "seeds", "From how few leaked identities", needed_seeds(facts), charts, (View("graph_transition", columns),),
        notes=(SEEDS_NOTE,),
    )  # fmt: skip
    return block if charts else None


def _overlap_block(facts: GraphFacts, tables: Mapping[str, Table]) -> Block | None:
    pairs, table = facts.overlap_pairs, tables.get("graph_overlaps")
    if len(pairs) < 2:
        return None
    nodes, edges = ({pair[axis] for pair in pairs} for axis in (0, 1))
    charts, notes = (
        tuple(_overlap_charts(facts, table, len(nodes), len(edges))),
        ["Overlap: share of the people, or of the edges among common people, of either network that is in both."],
    )
    if len(nodes) == 1 or len(edges) == 1:
        share, noun = (min(nodes), "people") if len(nodes) == 1 else (min(edges), "edges")
        notes.append(f"{percent(share, 0)} of {noun} are in both.")
    elif len(pairs) not in (len(nodes), len(edges)):
        n_attacks = len(dict.fromkeys(point.attack for point in facts.overlaps))
        notes.append("Each line is one share of people in both networks.")
        notes += [f"The first {MAX_PANELS} attacks are drawn; the table has all {n_attacks}."] * (
            n_attacks > MAX_PANELS
        )
    notes.append("Charts of wrong matches have another scale.")
    columns = ("attack", "node_overlap", "edge_overlap", "recall", "precision", "named_wrongly", "spread")
    heading, views = "By overlap of the two networks", (View("graph_overlaps", columns),)
    return Block("overlap", heading, compare_overlaps(facts), charts, views, notes=tuple(notes))


def _overlap_charts(facts: GraphFacts, table: Table | None, n_nodes: int, n_edges: int) -> Iterator[Chart]:
    """Yield charts of recall and wrong matches: all attacks over one overlap, or each attack over both."""
    measures = {"recall": "People re-identified", "named_wrongly": "People matched wrongly"}
    if len(facts.overlap_pairs) in (n_nodes, n_edges):
        x = "edge_overlap" if len(facts.overlap_pairs) == n_edges else "node_overlap"
        for y, title in measures.items():
            yield from _lines(table, x, y, title)
        return
    for attack in list(dict.fromkeys(point.attack for point in facts.overlaps))[:MAX_PANELS]:
        for y, title in measures.items():
            selection = {"attack": attack}
            yield from _lines(table, "edge_overlap", y, f"{title}: {attack}", by="line", style="", where=selection)


def _pass_block(facts: GraphFacts, tables: Mapping[str, Table]) -> Block | None:
    table = tables.get("graph_passes")
    charts = tuple(_lines(table, "pass", "matches", "Matches made or changed in the pass"))
    if not charts or table is None:
        return None
    n_passes = max(row["pass"] for row in table.where(drawn=True).rows)
    notes = (*_first_release(facts), "About the first run. An attack ends with a pass without changes, or is cut off.")
    sentence = f"The first run ends after at most {plural(n_passes, 'pass', 'passes')}."
    heading = "How the attack runs through the network"
    return Block("passes", heading, sentence, charts, notes=notes, is_finding=False)


def _criterion_block(facts: GraphFacts, tables: Mapping[str, Table]) -> Block | None:
    if not facts.anonymity:
        return None
    table = tables.get("graph_anonymity_ranks")
    charts = tuple(_lines(table, "percentile", "share", "People re-identified", by="name", style="", where={}))
    heading, views = (
        "What predicts who is re-identified",
        (View("graph_anonymity", ("name", "meaning", "correlation")),),
    )
    return Block("predictors", heading, best_criterion(facts), charts, views, notes=(CRITERIA_NOTE,))


# --- first screen ----------------------------------------------------------------------------------------------------


def describe_risk(facts: GraphFacts) -> AtRisk:
    """Return the number of people that the strongest attack re-identifies; without a truth, its number of matches."""
    attack, labeled = facts.first, tuple(_risk_facts(facts))
    if attack.recall is None:
        return AtRisk(f"{attack.matches:,}", _("matches, an unknown number of them right"), labeled)
    return AtRisk(_count_found(attack), _("of {n} people are re-identified", n=attack.people), labeled)


def _count_found(attack: AttackFacts) -> str:
    return mark_people(round((attack.recall or 0.0) * attack.people)) if is_known(attack.recall) else format_share(None)


def _risk_facts(facts: GraphFacts) -> Iterator[Fact]:
    attack = facts.first
    seeds, runs = count_seeds(attack.n_seeds, attack.seeds), attack.runs
    if attack.spread_in < runs:
        text = _("{seeds}, spread in {n} of {total} runs", seeds=seeds, n=attack.spread_in, total=runs)
    elif runs == 1:
        text = _("{seeds}, attacked in 1 run", seeds=seeds)
    else:
        text = _("{seeds}, attacked in {n} runs", seeds=seeds, n=runs)
    yield Fact(_("Starts from"), text)
    announced = next((item.announced for item in facts.attacks if item.announced is not None), None)
    if announced is not None and announced.recall_high is not None:
        yield Fact(_("How sure"), announced_recall(announced))
    elif announced is not None:
        reason = (reason.partition(",")[0].partition(":")[0] for reason in announced.refused[:1])
        text = next((_("no probability is announced: {reason}", reason=words) for words in reason), "")
        yield Fact(_("How sure"), text or _("no probability is announced"))
    if facts.similar:
        yield Fact(_("Also known"), _("the similarity of {n} pairs of people", n=facts.similar))
    if (extremes := extreme_degrees(facts)) is not None:
        riskiest = extremes[0]
        words = _(
            "people with {degrees}: {share}", degrees=describe_degrees(riskiest), share=format_share(riskiest.recall)
        )
        yield Fact(_("Most at risk"), mark_group(words, riskiest.people))
    if most_recall := bound_by_twins(facts):
        yield Fact(_("At most"), _("{share}: the others have twins in the network", share=most_recall))


GIVEN_ADVICE = Advice(
    mark("Changed edges protect people. Protect the network, then audit that release with its origin as the truth:"),
    "unmask protect graph \u2026 --with RandomWalk -o protected.txt --origin origin.csv",
)

MADE_ADVICE = Advice(
    mark("Changed edges or several identities protect people. Measure how much:"),
    "unmask audit graph \u2026 --with RandomWalk --with IdentitySeparation:identities=5:adopters=0.5 "
    "--report page.html",
)


def advise(facts: GraphFacts) -> Advice | None:
    """Return the attacked releases with the number of people found; for a single release, a command to protect it.

    None if the truth is unknown.
    """
    if not facts.truth_known:
        return None
    if not facts.has_several_releases:
        return GIVEN_ADVICE if facts.acquired else MADE_ADVICE
    strongest = strongest_by_release(facts.attacks).values()
    alternatives = tuple(_alternative(attack, facts) for attack in strongest)
    unprotected = [attack.recall or 0.0 for attack in strongest if facts.is_unprotected(attack.release)]
    protected = [attack for attack in strongest if not facts.is_unprotected(attack.release)]
    safest = min(protected, key=lambda attack: attack.recall or 0.0, default=None)
    if safest is not None and unprotected and (safest.recall or 0.0) >= max(unprotected):
        sentence = _("No tried protection lowers the number of people found.")
        return Advice(sentence, "", (_("people found"),), alternatives)
    is_separation = safest is not None and facts.adopters(safest.release)
    protection = "IdentitySeparation:adopters=SHARE" if is_separation else "NAME"
    return Advice("", f"unmask protect graph \u2026 --with {protection}", (_("people found"),), alternatives)


def _alternative(attack: AttackFacts, facts: GraphFacts) -> Alternative:
    adopters = facts.adopters(attack.release)
    label = ""
    if adopters:
        message = mark("{release}: {n} people with several identities")
        label = _(message, release=attack.release, n=mark_people(adopters))
    is_unprotected = facts.is_unprotected(attack.release)
    return Alternative(attack.release, (_count_found(attack),), label, is_unprotected=is_unprotected)
