"""Tables of a network audit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

from unmask.graphs.audit.facts import AttackFacts, GraphFacts
from unmask.graphs.criteria import Variant
from unmask.graphs.evaluation import DegreeClass
from unmask.results import Column, Table
from unmask.results.formats import percent
from unmask.results.suppression import N_TENTHS

COLUMNS = {
    "adopter_recall": Column("adopter_recall", "Adopters re-identified", "share"),
    "adopter_recall_before": Column("adopter_recall_before", "Adopters re-identified without it", "share"),
    "adopters": Column("adopters", "Adopters", "group", exact=True),
    "attack": Column("attack", "Attack"),
    "correlation": Column("correlation", "Rank correlation", "number", places=2),
    "coverage": Column("coverage", "Coverage", "share"),
    "decoyed": Column("decoyed", "Found by the decoy", "share"),
    "disclosure": Column("disclosure", "Their contacts learned", "share"),
    "edge_overlap": Column("edge_overlap", "Overlap of edges", "share"),
    "edges": Column("edges", "Edges of the person"),
    "exposed": Column("exposed", "Found by the hidden identity", "share"),
    "false_positives": Column("false_positives", "False positives", "share"),
    "known": Column("known", "Seeds known", "share"),
    "low": Column("low", "Score, at least", "share"),
    "high": Column("high", "Score, at most", "share"),
    "matches": Column("matches", "Matches", "number"),
    "matches_from": Column("matches_from", "Matches made", "people"),
    "meaning": Column("meaning", "Meaning"),
    "most_recall": Column("most_recall", "Bound of the recall by twins", "share"),
    "n_seeds": Column("n_seeds", "Leaked identities", "number"),
    "name": Column("name", "Criterion"),
    "named_wrongly": Column("named_wrongly", "Wrong", "share"),
    "node_overlap": Column("node_overlap", "Overlap of people", "share"),
    "pass": Column("pass", "Pass over the network", "number"),
    "people": Column("people", "People", "group", exact=True),
    "percentile": Column("percentile", "Percentile of the criterion, lowest values first", "share"),
    "precision": Column("precision", "Precision", "share"),
    "precision_at_least": Column("precision_at_least", "At least", "share"),
    "recall": Column("recall", "Recall", "share"),
    "recall_before": Column("recall_before", "Recall without it", "share"),
    "recall_high": Column("recall_high", "95 % to", "share"),
    "recall_low": Column("recall_low", "95 % from", "share"),
    "refused": Column("refused", "Reason for no probability"),
    "release": Column("release", "Release"),
    "right": Column("right", "Right", "share"),
    "right_high": Column("right_high", "Right, at most", "share"),
    "runs": Column("runs", "Runs", "number"),
    "score": Column("score", "Score: probability announced", "share"),
    "seed_check": Column("seed_check", "Withheld seeds"),
    "seeds": Column("seeds", "Seeds"),
    "share": Column("share", "Re-identified", "share"),
    "spread": Column("spread", "Runs that spread", "share"),
    "spread_in": Column("spread_in", "Spread in", "number"),
}
"""Columns with labels, by name. Other columns, such as style numbers, are for programs and charts."""


class Criterion(NamedTuple):
    """Criterion of local anonymity; `sign` is the expected sign of its correlation with re-identification."""

    variant: Variant
    label: str
    meaning: str
    sign: int


CRITERIA = {
    "lta_a": Criterion("A", "LTA A", "mean similarity of edges to those of friends of friends; low: easy to find", -1),
    "lta_b": Criterion("B", "LTA B", "sum of these similarities over the person's edges; low: easy to find", -1),
    "lta_c": Criterion("C", "LTA C", "LTA A over the spread of degrees of friends of friends; low: easy to find", -1),
    "degree": Criterion("degree", "Degree", "number of edges; high: easy to find", 1),
}

Record = Mapping[str, Any]


def make_tables(facts: GraphFacts) -> tuple[Table, ...]:
    """Return all tables of a network audit."""
    tables = (
        _table("", "source_nodes source_edges target_nodes target_edges common truth_known truth_partial acquired "
               "similar most_recall", [vars(facts)]),
        _table("attacks", "release attack seeds n_seeds runs spread_in recall recall_low recall_high precision "
               "precision_at_least named_wrongly false_positives coverage matches", map(vars, facts.attacks)),
        _table("announcements", "release attack recall recall_low recall_high right_high right seed_check refused "
               "seed_ratio", _announcements(facts)),
        _table("seed_curve", "release attack known right", _seed_curves(facts)),
        _table("degrees", "release attack style drawn edges people recall precision", _degrees(facts)),
        _score_table(facts),
        _table("passes", "release attack style drawn pass matches", _passes(facts)),
        replace(_table("run_scores", "attack style drawn run_score share people", _run_scores(facts)),
                columns=RUN_SCORE_COLUMNS),
        _table("transition", "attack style drawn seeds n_seeds runs spread_in recall coverage spread",
               _transition(facts)),
        _table("overlaps", "attack style drawn line node_overlap edge_overlap recall precision named_wrongly spread",
               _overlaps(facts)),
        _table("separations", "release attack recall_before recall adopters adopter_recall_before adopter_recall "
               "disclosure decoyed exposed", map(vars, facts.protections)),
        _table("anonymity", "criterion name meaning correlation", _criteria(facts)),
        _table("anonymity_ranks", "name people percentile share", _ranks(facts)),
    )  # fmt: skip
    return tuple(table for table in tables if table.rows)


def _table(name: str, columns: str, records: Iterable[Record]) -> Table:
    table_columns = tuple(COLUMNS.get(column, Column(column)) for column in columns.split())
    rows = tuple({column.name: record[column.name] for column in table_columns} for record in records)
    return Table(f"graph_{name}".rstrip("_"), table_columns, rows)


def format_degrees(degrees: DegreeClass) -> str:
    """Write the degrees of a class in a table.

    >>> format_degrees(DegreeClass(4, 7, 10, 0.5, None)), format_degrees(DegreeClass(16, None, 10, 0.5, None))
    ('4\u20137', '16+')
    """
    if degrees.high is None:
        return f"{degrees.low:,}+"
    return f"{degrees.low:,}" if degrees.high == degrees.low else f"{degrees.low:,}\u2013{degrees.high:,}"


def _announcements(facts: GraphFacts) -> Iterator[Record]:
    for attack in facts.attacks:
        if (announced := attack.announced) is not None:
            texts = {"refused": "; ".join(announced.refused) or None, "seed_check": announced.seed_check or None}
            yield {**vars(announced), **texts, "release": attack.release, "attack": attack.attack}


def _seed_curves(facts: GraphFacts) -> Iterator[Record]:
    for attack in facts.attacks:
        for share, share_right in () if attack.announced is None else attack.announced.curve:
            yield {"release": attack.release, "attack": attack.attack, "known": share, "right": share_right}


# --- rows of charts: charts show the release with the most re-identified people ---------------------------------------


def _drawn_attacks(facts: GraphFacts) -> Iterator[tuple[AttackFacts, Record]]:
    """Yield attacks, drawn ones first, with the values of the columns that identify and style them."""
    attacks = sorted(facts.attacks, key=lambda attack: facts.drawn.get(attack.attack, len(facts.drawn)))
    for attack in attacks:
        drawn = attack.attack in facts.drawn and attack.release == facts.first.release
        style = facts.styles[attack.attack]
        yield attack, {"release": attack.release, "attack": attack.attack, "style": style, "drawn": drawn}


def _degrees(facts: GraphFacts) -> Iterator[Record]:
    for attack, identity in _drawn_attacks(facts):
        for degrees in attack.degrees:
            yield {**identity, **vars(degrees), "edges": format_degrees(degrees)}


def _score_table(facts: GraphFacts) -> Table:
    """Return scores and shares of right matches; small counts of matches are suppressed."""
    columns = "release attack style drawn low high matches score right matches_from"
    table = _table("scores", columns, _scores(facts))
    labels = {"matches": replace(COLUMNS["people"], name="matches", label="Matches")}
    labels["right"] = Column("right", "Matches that are right", "share")
    return replace(table, columns=tuple(labels.get(column.name, column) for column in table.columns))


def _scores(facts: GraphFacts) -> Iterator[Record]:
    for attack, identity in _drawn_attacks(facts):
        totals = list(accumulate(item.matches for item in reversed(attack.scores)))[::-1]
        for item, total in zip(attack.scores, totals, strict=True):
            yield {**identity, **vars(item), "matches_from": total}


def _passes(facts: GraphFacts) -> Iterator[Record]:
    """Yield the matches of each pass; an ensemble is skipped, because its rounds start anew from the seeds."""
    for attack, identity in _drawn_attacks(facts):
        if len(attack.passes) > 1 and attack.announced is None:
            for number, matches in enumerate(attack.passes, 1):
                yield {**identity, "pass": number, "matches": matches}


RUN_SCORE_COLUMNS = (
    COLUMNS["attack"], Column("style"), Column("drawn"), Column("run_score", "S(v) / runs", "number", places=1),
    Column("share", "People", "share_of_people", of="people"), Column("people", "People", "number"),
)  # fmt: skip


def _run_scores(facts: GraphFacts) -> Iterator[Record]:
    for item in facts.run_scores:
        yield {**vars(item), "style": facts.styles[item.attack], "drawn": item.attack in facts.drawn}


def _transition(facts: GraphFacts) -> Iterator[Record]:
    for point in facts.transition:
        style = {"style": facts.styles[point.attack], "drawn": point.attack in facts.drawn}
        yield {**vars(point), **style, "spread": point.spread_in / point.runs}


def _overlaps(facts: GraphFacts) -> Iterator[Record]:
    """Yield rates by overlap, which are known because the pairs were made."""
    for attack in sorted(facts.overlaps, key=lambda attack: (facts.styles[attack.attack], attack.overlap)):
        nodes, edges = attack.overlap or (0.0, 0.0)
        yield {
            **vars(attack), "style": facts.styles[attack.attack], "drawn": attack.attack in facts.drawn,
            "node_overlap": nodes, "edge_overlap": edges, "line": f"{percent(nodes, 0)} of people",
            "recall": attack.recall or 0.0, "named_wrongly": attack.named_wrongly or 0.0,
            "spread": attack.spread_in / attack.runs,
        }  # fmt: skip


def _criteria(facts: GraphFacts) -> Iterator[Record]:
    for link in facts.anonymity:
        criterion = CRITERIA[link.criterion]
        yield {**vars(link), "name": criterion.label, "meaning": criterion.meaning}


def _ranks(facts: GraphFacts) -> Iterator[Record]:
    """Yield the re-identified share in tenths of the people by each criterion."""
    tenth = None if facts.common is None else facts.common // N_TENTHS
    for link in facts.anonymity:
        for percentile, share in link.ranked:
            yield {"name": CRITERIA[link.criterion].label, "people": tenth, "percentile": percentile, "share": share}
