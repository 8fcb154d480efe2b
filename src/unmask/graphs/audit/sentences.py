"""Sentences about attacks on a network: re-identified people, precision, and required number of seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unmask.graphs.audit.facts import (
    GUESSED,
    Announcement,
    AttackFacts,
    GraphFacts,
    ProtectionEffect,
    is_known,
    strongest_by_release,
    strongest_first,
)
from unmask.graphs.audit.seed_sentences import count_seeds
from unmask.graphs.audit.tables import CRITERIA
from unmask.graphs.evaluation import DegreeClass
from unmask.languages import gettext as _
from unmask.languages import mark
from unmask.measures.interval import wilson
from unmask.results import Table
from unmask.results.formats import estimate, number, percent
from unmask.results.suppression import FEWEST, mark_group, mark_people
from unmask.results.words import format_share, join_names, plural, release_name

MIN_CORRELATION = 0.1
"""Smallest rank correlation, in the direction of a criterion's meaning, for which it predicts re-identification."""


def describe_degrees(degrees: DegreeClass) -> str:
    """Write the degrees of a class in a sentence.

    >>> describe_degrees(DegreeClass(1, 1, 9, 0.5, None)), describe_degrees(DegreeClass(16, None, 9, 0.5, None))
    ('1 edge', '16 or more edges')
    """
    if degrees.high is None:
        return _("{n} or more edges", n=degrees.low)
    if degrees.high != degrees.low:
        return _("{low} to {high} edges", low=degrees.low, high=degrees.high)
    return _("1 edge") if degrees.low == 1 else _("{n} edges", n=degrees.low)


def _estimate_recall(attack: AttackFacts) -> str:
    if attack.recall is None:
        return format_share(None)
    return estimate(attack.recall, "share", attack.recall_low, attack.recall_high)


# --- the strongest attack --------------------------------------------------------------------------------------------


def headline(facts: GraphFacts) -> str:
    """Return sentences on the strongest attack, the runs in which it spreads, and the next strongest attack."""
    return " ".join(filter(None, (_describe_first(facts), _describe_spread(facts.first), compare_attacks(facts))))


def _describe_first(facts: GraphFacts) -> str:
    attack = facts.first
    name = attack.attack
    if facts.has_several_releases:
        name = _("From {release}, {attack}", release=release_name(attack.release), attack=name)
    seeds = count_seeds(attack.n_seeds, attack.seeds)
    if facts.similar:
        seeds = _("{seeds} and the similarity of people", seeds=seeds)
    if not facts.truth_known:
        unchecked = "" if attack.announced is None else ", and the estimates are not checked"
        matches = _(
            "{attack} matches {share} of the other people of its own network ({n}), from {seeds}.",
            attack=name,
            share=percent(attack.coverage),
            n=_("1 match") if attack.matches == 1 else _("{n} matches", n=attack.matches),
            seeds=seeds,
        )
        return f"{matches} Without a truth, the number of right matches is unknown{unchecked}."
    reach = _(
        "{attack} re-identifies {value} of the {n} people in both networks, from {seeds}.",
        attack=name,
        value=_estimate_recall(attack),
        n=attack.people,
        seeds=seeds,
    )
    return f"{reach} {_describe_precision(attack)}".rstrip()


def _describe_precision(attack: AttackFacts) -> str:
    if attack.precision is None:
        return "" if attack.matches else "It makes no match."
    verb = "is" if attack.matches == 1 else "are"
    matches = f"Of its {plural(attack.matches, 'match', 'matches')}, {percent(attack.precision)} {verb} right"
    if attack.precision_at_least is None:
        return f"{matches}."
    return (
        f"{matches} among people with an entry in the partial truth. If no other person is in the release, "
        f"{percent(attack.precision_at_least)} of all are right."
    )


def _describe_spread(attack: AttackFacts) -> str:
    """Return a warning about runs in which the attack ends near its seeds."""
    if attack.spread_in == attack.runs:
        return ""
    runs = plural(attack.runs, "run")
    if attack.spread_in == 0:
        return f"It spreads beyond the surroundings of its seeds in 0 of {runs}."
    return f"It spreads in {attack.spread_in:,} of {runs} and ends near its seeds in the others; rates are means."


def compare_attacks(facts: GraphFacts) -> str:
    """Return the recall of the next strongest attack; with several releases, of the strongest attack on the safest."""
    attacks = [attack for attack in strongest_first(facts.attacks) if is_known(attack.recall)]
    if len(attacks) < 2:
        return ""
    first = attacks[0]
    if not facts.has_several_releases:
        return (
            f"The next strongest of {len(facts.attacks)} attacks, {attacks[1].attack}, re-identifies "
            f"{_estimate_recall(attacks[1])}."
        )
    safest = max(strongest_by_release(attacks).values(), key=attacks.index)
    seeds = "" if safest.n_seeds == first.n_seeds else f" with {safest.n_seeds:,} seeds"
    name = f", by {safest.attack}" if safest.attack != first.attack else ""
    return f"The lowest recall, from {release_name(safest.release)}{seeds}, is {_estimate_recall(safest)}{name}."


def bound(facts: GraphFacts) -> str:
    """Return the recall that no attack by edges alone can exceed because of structural twins."""
    limit = bound_by_twins(facts)
    place = f" in {release_name(facts.first.release)}" if facts.has_several_releases else ""
    sentence = (
        f"No attack by edges alone is expected to re-identify more than {limit} of people{place}: the others have "
        "structural twins with the same edges."
    )
    return sentence if limit else ""


def bound_by_twins(facts: GraphFacts) -> str:
    """Return the bound on recall in words; "" if it is 100 % or unknown."""
    limit = facts.most_recall
    return percent(limit) if limit is not None and limit < 1 else ""  # nan is not below 1


def attacks_not_run(facts: GraphFacts) -> str:
    """Return sentences on attacks that did not run and may re-identify more people."""
    sentences = [f"{name} was not run: {reason}." for name, reason in facts.not_run.items() if reason]
    if skipped := [name for name, reason in facts.not_run.items() if not reason]:
        sentences.append(f"Attacks that were not requested may find more: {join_names(skipped)}.")
    return " ".join(sentences)


# --- announced success -----------------------------------------------------------------------------------------------


def announcements(facts: GraphFacts) -> Iterator[str]:
    """Yield the announced success of each attack, or the reasons for its refusal, and its actual success."""
    for attack in facts.attacks:
        if (announced := attack.announced) is not None:
            place = f" on {release_name(attack.release)}" if facts.has_several_releases else ""
            yield " ".join(_describe_announcement(attack.attack + place, attack.recall, announced))


def _describe_announcement(name: str, recall: float | None, announced: Announcement) -> Iterator[str]:
    if announced.recall_high is None:
        yield f"{name} announces no probability: {'; '.join(announced.refused)}."
        return
    actual = "" if recall is None else f"; it re-identifies {percent(recall)}"
    yield f"{name} announces that it re-identifies {announced_recall(announced, 'calibrated, ')}{actual}."
    if announced.right_high is not None:
        matched = "" if announced.right is None else f"; {percent(announced.right)} have one"
        bound = f"At most {percent(announced.right_high)} of all people have a right match (an upper bound)"
        yield f"{bound}{matched}."
    if announced.seed_check:
        yield f"Withheld seeds: {announced.seed_check}."
    if announced.curve:
        curve = "; ".join(
            f"{percent(recall)} from {percent(share, 0)} of the seeds" for share, recall in announced.curve
        )
        yield f"One round re-identifies of the withheld seeds {curve}."


def announced_recall(announced: Announcement, kind: str = "") -> str:
    """Return an announced recall with its interval, or its bound."""
    people = "of the people in the release"
    if announced.recall is None or announced.recall_low is None:
        return _("at most {share} of the people in the release (a bound)", share=percent(announced.recall_high or 0.0))
    interval = f"{percent(announced.recall_low)} to {percent(announced.recall_high or 1.0)}"
    if not kind:
        message = mark("{share} of the people in the release ({interval})")
        return _(message, share=percent(announced.recall), interval=interval)
    return f"{percent(announced.recall)} {people} ({kind}{interval})"


# --- by edges, seeds and overlap -------------------------------------------------------------------------------------


def extreme_degrees(facts: GraphFacts) -> tuple[DegreeClass, DegreeClass] | None:
    """Return the degree classes of highest and lowest recall; None if chance explains the difference."""
    attack = facts.first
    classes = [item for item in attack.degrees if item.people >= FEWEST and is_known(item.recall)]
    if len(classes) < 2 or not facts.truth_known or not attack.spread_in:
        return None
    highest, lowest = (pick(classes, key=lambda item: (item.recall, item.low)) for pick in (max, min))
    differ = wilson(highest.recall or 0.0, highest.people)[0] > wilson(lowest.recall or 0.0, lowest.people)[1]
    return (highest, lowest) if differ else None


def compare_degrees(facts: GraphFacts) -> str:
    """Return a sentence comparing the recall of people with most and with fewest edges."""
    extremes = extreme_degrees(facts)
    if extremes is None:
        return "No dependence of the recall on the number of edges is shown."
    highest, lowest = extremes
    sentence = (
        f"{facts.first.attack} re-identifies {format_share(highest.recall)} of the people with "
        f"{describe_degrees(highest)}, and {format_share(lowest.recall)} of those with {describe_degrees(lowest)}."
    )
    return mark_group(sentence, min(highest.people, lowest.people))


def compare_overlaps(facts: GraphFacts) -> str:
    """Return the highest recall of any attack at the smallest and at the largest overlap."""
    pairs = sorted(facts.overlap_pairs, key=lambda pair: (pair[0] * pair[1], pair))
    if len(pairs) < 2:
        return ""
    (shared_least, lowest), (shared_most, highest) = (
        (
            f"{percent(nodes, 0)} of people and {percent(edges, 0)} of edges",
            max(
                (item for item in facts.overlaps if item.overlap == (nodes, edges)), key=lambda item: item.recall or 0.0
            ),
        )
        for nodes, edges in (pairs[0], pairs[-1])
    )
    name = "" if lowest.attack == highest.attack else f"{highest.attack} re-identifies "
    return (
        f"With {shared_least} in both networks, {lowest.attack} re-identifies {percent(lowest.recall or 0.0)}; with "
        f"{shared_most}, {name}{percent(highest.recall or 0.0)}."
    )


# --- protections -----------------------------------------------------------------------------------------------------


def describe_protections(facts: GraphFacts) -> Iterator[str]:
    """Yield the recall of the strongest attack on each protected release, and among adopters."""
    for release in dict.fromkeys(effect.release for effect in facts.protections):
        effects = [effect for effect in facts.protections if effect.release == release]
        with_adopters = [effect for effect in effects if effect.adopter_recall is not None]
        if not any(effect.adopters for effect in effects):
            strongest = max(effects, key=lambda effect: effect.recall)
            recall = f"{percent(strongest.recall)} of people instead of {format_share(strongest.recall_before)}"
            yield f"From {release_name(release)}, {strongest.attack} re-identifies {recall}."
        if with_adopters:
            strongest = max(with_adopters, key=lambda effect: effect.adopter_recall or 0.0)
            sentence = f"{_describe_adopters(strongest)}{_most_contacts(strongest, with_adopters)}."
            yield mark_group(sentence, strongest.adopters or 0)


def _describe_adopters(effect: ProtectionEffect) -> str:
    unprotected = "" if effect.adopter_recall_before is None else f" instead of {percent(effect.adopter_recall_before)}"
    hidden = "" if effect.exposed is None else f"; it finds {percent(effect.exposed)} by their hidden identity"
    people = "1 person who has" if effect.adopters == 1 else f"{mark_people(effect.adopters or 0)} people who have"
    return (
        f"Of the {people} several identities in {release_name(effect.release)}, {effect.attack} re-identifies "
        f"{format_share(effect.adopter_recall)}{unprotected}, and learns {format_share(effect.disclosure)} of their "
        f"contacts{hidden}"
    )


def _most_contacts(strongest: ProtectionEffect, effects: Sequence[ProtectionEffect]) -> str:
    """Return the attack that learns most contacts, unless it also finds most people."""

    def learned(effect: ProtectionEffect) -> float:
        return effect.disclosure if effect.disclosure is not None and is_known(effect.disclosure) else 0.0

    learner = max(effects, key=learned)
    return (
        f"; {learner.attack} learns {format_share(learner.disclosure)} of their contacts"
        if learned(learner) > learned(strongest)
        else ""
    )


# --- over runs -------------------------------------------------------------------------------------------------------


def describe_run_scores(tables: Mapping[str, Table], *, attack: str) -> str:
    """Return the shares of people re-identified in every run, and of people matched rightly as often as wrongly.

    Shares are rounded up to groups that may be shown, so that they can add up to more than 100 %.
    """
    rows = tables["graph_run_scores"].where(attack=attack).rows
    shares = {row["run_score"]: percent(row["share"]) for row in rows}
    return (
        f"Of {rows[0]['people']:,} people who could be found in several runs, {attack} re-identifies at most "
        f"{shares.get(1.0, '0 %')} in every run. At most {shares.get(0.0, '0 %')} are matched rightly as often as "
        "wrongly, or never."
    )


# --- criteria and passes ---------------------------------------------------------------------------------------------


def best_criterion(facts: GraphFacts) -> str:
    """Return a sentence on the criterion that best predicts who is re-identified."""
    if not facts.anonymity:
        return ""
    predictor = max(facts.anonymity, key=lambda link: CRITERIA[link.criterion].sign * link.correlation)
    criterion = CRITERIA[predictor.criterion]
    correlation = f"rank correlation {number(predictor.correlation, 2)}"
    if criterion.sign * predictor.correlation >= MIN_CORRELATION:
        return f"The criterion that best predicts who is re-identified is {criterion.label} ({correlation})."
    return f"No criterion predicts who is re-identified as it should; {criterion.label} comes closest ({correlation})."


# --- setting ---------------------------------------------------------------------------------------------------------


def setting(facts: GraphFacts) -> str:
    """Return a sentence on both networks, the people in both, and the seeds."""
    at_least = "At least " if facts.truth_partial else ""
    common = "" if facts.common is None else f" {at_least}{facts.common:,} people are in both."
    start = "leaked identities (seeds): people whose identity in the release is known"
    if all(attack.seeds in GUESSED for attack in facts.attacks):
        start = "seeds: people whose identity in the release is guessed from their surroundings"
    evidence = "edges alone"
    if facts.similar:
        evidence = f"edges and by the similarity of {facts.similar:,} pairs of people"
    return (
        f"The adversary has a network with names: {facts.source_nodes:,} people and {facts.source_edges:,} edges. "
        f"The released network has no names: {facts.target_nodes:,} people and {facts.target_edges:,} edges.{common} "
        f"The adversary starts from {start}. They find the others by {evidence}."
    )


def describe_stopped_runs(facts: GraphFacts) -> str:
    """Return the attacks that stopped in some runs near their seeds; "" if none did."""
    stopped = list(dict.fromkeys(attack.attack for attack in facts.attacks if 0 < attack.spread_in < attack.runs))
    return f"In some runs {join_names(stopped)} did not spread through the network." if stopped else ""
