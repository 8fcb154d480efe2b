"""Facts about attacks on a network as tables of a result."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from unmask.graphs.audit.facts import AttackFacts, GraphFacts
from unmask.graphs.evaluation import DegreeClass
from unmask.results import Column, Table
from unmask.results.formats import percent
from unmask.results.suppression import TENTH

STYLE = Column("style", kind="number")
DRAWN = Column("drawn")
RELEASE, ATTACK = Column("release", "Release"), Column("attack", "Attack")
SEEDS, N_SEEDS = Column("seeds", "Seeds"), Column("n_seeds", "Leaked identities", "number")
RUNS, SPREAD_IN = Column("runs", "Runs", "number"), Column("spread_in", "Spread in", "number")
RECALL, PRECISION = Column("recall", "Recall", "share"), Column("precision", "Precision", "share")
WRONG = Column("named_wrongly", "Wrong", "share")
COVERAGE = Column("coverage", "Coverage", "share")

CRITERIA = {
    "lta_a": ("LTA A", "mean similarity of edges to those of friends of friends; low: easy to find", -1),
    "lta_b": ("LTA B", "sum of these similarities over the person's edges; low: easy to find", -1),
    "lta_c": ("LTA C", "LTA A over the spread of degrees among friends of friends; low: easy to find", -1),
    "degree": ("Degree", "number of edges; high: easy to find", 1),
}
"""Criterion of local anonymity -> name, meaning, and sign of a correlation that confirms the meaning."""


def make_tables(facts: GraphFacts) -> tuple[Table, ...]:
    """Return every table of an audit of a network."""
    tables = (
        _summary_table(facts),
        _attack_table(facts),
        _announcement_table(facts),
        _curve_table(facts),
        _degree_table(facts),
        _score_table(facts),
        _pass_table(facts),
        _transition_table(facts),
        _overlap_table(facts),
        _protection_table(facts),
        _criterion_table(facts),
        _rank_table(facts),
    )
    return tuple(table for table in tables if table.rows)


def format_degrees(degrees: DegreeClass) -> str:
    """Write the degrees of a class.

    >>> format_degrees(DegreeClass(4, 7, 10, 0.5, None)), format_degrees(DegreeClass(16, None, 10, 0.5, None))
    ('4\u20137', '16+')
    """
    if degrees.high is None:
        return f"{degrees.low:,}+"
    return f"{degrees.low:,}" if degrees.high == degrees.low else f"{degrees.low:,}\u2013{degrees.high:,}"


def _summary_table(facts: GraphFacts) -> Table:
    columns = (
        Column("source_nodes", "People of the adversary's network", "number"),
        Column("source_edges", "Edges of the adversary's network", "number"),
        Column("target_nodes", "People of the release", "number"),
        Column("target_edges", "Edges of the release", "number"),
        Column("common", "People in both", "number"),
        Column("truth_known", "Truth known"),
        Column("truth_partial", "Truth partial"),
        Column("acquired", "Adversary's network given"),
        Column("similar", "Pairs of known similarity", "number"),
        Column("most_recall", "Bound of the recall by twins", "share"),
    )
    networks = (facts.source_nodes, facts.source_edges, facts.target_nodes, facts.target_edges, facts.common)
    truth = (facts.truth_known, facts.truth_partial, facts.is_given, facts.n_similar, facts.most_recall)
    return Table.from_records("graph", columns, [(*networks, *truth)])


def _attack_table(facts: GraphFacts) -> Table:
    columns = (
        RELEASE,
        ATTACK,
        SEEDS,
        N_SEEDS,
        RUNS,
        SPREAD_IN,
        RECALL,
        Column("recall_low", "95 % from", "share"),
        Column("recall_high", "95 % to", "share"),
        PRECISION,
        Column("precision_at_least", "At least", "share"),
        WRONG,
        Column("false_positives", "False positives", "share"),
        COVERAGE,
        Column("matches", "Matches", "number"),
    )
    rows = tuple({column.name: getattr(attack, column.name) for column in columns} for attack in facts.attacks)
    return Table("graph_attacks", columns, rows)


def _announcement_table(facts: GraphFacts) -> Table:
    columns = (
        RELEASE,
        ATTACK,
        Column("recall", "Announced recall", "share"),
        Column("recall_low", "95 % from", "share"),
        Column("recall_high", "95 % to", "share"),
        Column("right_high", "Right, at most", "share"),
        Column("right", "Right", "share"),
        Column("seed_check", "Withheld seeds"),
        Column("refused", "Reason for no probability"),
        Column("seed_ratio", "Seeds around seeds", "number"),
    )
    records = (
        (
            attack.release,
            attack.attack,
            said.recall,
            said.recall_low,
            said.recall_high,
            said.right_high,
            said.right,
            said.seed_check or None,
            "; ".join(said.refused) or None,
            said.seed_ratio,
        )
        for attack in facts.attacks
        if (said := attack.announced) is not None
    )
    return Table.from_records("graph_announcements", columns, records)


def _curve_table(facts: GraphFacts) -> Table:
    columns = (
        RELEASE,
        ATTACK,
        Column("known", "Seeds known", "share"),
        Column("right", "Withheld seeds matched rightly by one round", "share"),
    )
    announced = ((attack, attack.announced) for attack in facts.attacks if attack.announced is not None)
    records = ((attack.release, attack.attack, *point) for attack, said in announced for point in said.curve)
    return Table.from_records("graph_seed_curve", columns, records)


# --- tables of charts: rows that are drawn are about the release where most people are re-identified -----------------


def _drawn_attacks(facts: GraphFacts) -> Iterator[tuple[AttackFacts, tuple[str, str, int, bool]]]:
    """Yield attacks, the drawn ones first, with the values of the columns that identify and draw them."""
    drawn, styles = facts.drawn, facts.styles
    order = {name: place for place, name in enumerate(drawn)}
    attacks = sorted(facts.attacks, key=lambda attack: order.get(attack.attack, len(order)))
    for attack in attacks:
        is_drawn = attack.attack in order and attack.release == facts.first.release
        yield attack, (attack.release, attack.attack, styles[attack.attack], is_drawn)


DRAWN_RELEASE = Column("release")


def _degree_table(facts: GraphFacts) -> Table:
    columns = (
        DRAWN_RELEASE,
        ATTACK,
        STYLE,
        DRAWN,
        Column("edges", "Edges of the person"),
        Column("people", "People", "group", exact=True),
        RECALL,
        PRECISION,
    )
    order = sorted({(item.low, format_degrees(item)) for attack in facts.attacks for item in attack.degrees})
    records = (
        (*identity, label, item.people, item.recall, item.precision)
        for attack, identity in _drawn_attacks(facts)
        for low, label in order
        for item in attack.degrees
        if (item.low, format_degrees(item)) == (low, label)
    )
    return Table.from_records("graph_degrees", columns, records)


def _score_table(facts: GraphFacts) -> Table:
    columns = (
        DRAWN_RELEASE,
        ATTACK,
        STYLE,
        DRAWN,
        Column("low", "Score, at least", "share"),
        Column("high", "Score, at most", "share"),
        Column("matches", "Matches", "group", exact=True),
        Column("score", "Score: probability announced", "share"),
        Column("right", "Matches that are right", "share"),
        Column("matches_from", "Matches made", "people"),
    )
    records = (
        (*identity, item.low, item.high, item.matches, item.score, item.right, total)
        for attack, identity in _drawn_attacks(facts)
        for item, total in zip(attack.scores, _sum_from(attack), strict=True)
    )
    return Table.from_records("graph_scores", columns, records)


def _sum_from(attack: AttackFacts) -> list[int]:
    """Return the matches with at least the score of each bin."""
    return list(accumulate(item.matches for item in reversed(attack.scores)))[::-1]


def _pass_table(facts: GraphFacts) -> Table:
    """Return the matches of each pass; an ensemble has rounds, which start from the seeds again, and no passes."""
    columns = (
        DRAWN_RELEASE,
        ATTACK,
        STYLE,
        DRAWN,
        Column("pass", "Pass over the network", "number"),
        Column("matches", "Matches", "number"),
    )
    records = (
        (*identity, number, matches)
        for attack, identity in _drawn_attacks(facts)
        if len(attack.passes) > 1 and attack.announced is None
        for number, matches in enumerate(attack.passes, 1)
    )
    return Table.from_records("graph_passes", columns, records)


def _transition_table(facts: GraphFacts) -> Table:
    spread = Column("spread", "Runs that spread", "share")
    columns = (ATTACK, STYLE, DRAWN, SEEDS, N_SEEDS, RUNS, SPREAD_IN, RECALL, COVERAGE, spread)
    records = (
        (
            point.attack,
            facts.styles[point.attack],
            point.attack in facts.drawn,
            point.seeds,
            point.n_seeds,
            point.runs,
            point.spread_in,
            point.recall,
            point.coverage,
            point.spread_in / point.runs,
        )
        for point in facts.transition
    )
    return Table.from_records("graph_transition", columns, records)


def _overlap_table(facts: GraphFacts) -> Table:
    columns = (
        ATTACK,
        STYLE,
        DRAWN,
        Column("line"),
        Column("node_overlap", "Overlap of people", "share"),
        Column("edge_overlap", "Overlap of edges", "share"),
        RECALL,
        PRECISION,
        WRONG,
        Column("spread", "Runs that spread", "share"),
    )
    styles = facts.styles
    points = sorted(facts.overlaps, key=lambda p: (styles[p.attack], p.node_overlap, p.edge_overlap))
    records = (
        (
            point.attack,
            styles[point.attack],
            point.attack in facts.drawn,
            f"{percent(point.node_overlap, 0)} of people",
            point.node_overlap,
            point.edge_overlap,
            point.recall,
            point.precision,
            point.named_wrongly,
            point.spread,
        )
        for point in points
    )
    return Table.from_records("graph_overlaps", columns, records)


def _protection_table(facts: GraphFacts) -> Table:
    columns = (
        RELEASE,
        ATTACK,
        Column("recall_before", "Re-identified without it", "share"),
        Column("recall", "Re-identified", "share"),
        Column("adopters", "Adopters", "group", exact=True),
        Column("adopter_recall_before", "Adopters re-identified without it", "share"),
        Column("adopter_recall", "Adopters re-identified", "share"),
        Column("disclosure", "Their contacts learned", "share"),
        Column("decoyed", "Found by the decoy", "share"),
        Column("exposed", "Found by the hidden identity", "share"),
    )
    return Table.from_records("graph_separations", columns, (vars(effect).values() for effect in facts.protections))


def _criterion_table(facts: GraphFacts) -> Table:
    columns = (
        Column("criterion"),
        Column("name", "Criterion"),
        Column("meaning", "Meaning"),
        Column("correlation", "Rank correlation", "number", places=2),
    )
    records = ((link.criterion, *CRITERIA[link.criterion][:2], link.correlation) for link in facts.anonymity)
    return Table.from_records("graph_anonymity", columns, records)


def _rank_table(facts: GraphFacts) -> Table:
    """Return the re-identified share of tenths of the people by each criterion."""
    columns = (
        Column("name", "Criterion"),
        Column("people", "People", "group", exact=True),
        Column("percentile", "Percentile of the criterion, lowest values first", "share"),
        Column("share", "Re-identified", "share"),
    )
    tenth = None if facts.common is None else facts.common // TENTH
    records = ((CRITERIA[link.criterion][0], tenth, *point) for link in facts.anonymity for point in link.ranked)
    return Table.from_records("graph_anonymity_ranks", columns, records)
