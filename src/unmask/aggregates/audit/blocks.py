"""Findings about published tables as sentences and blocks of a page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from unmask.aggregates.release import AggregateRelease
from unmask.results import Advice, AtRisk, Block, Chart, Fact, View
from unmask.results.formats import percent
from unmask.results.suppression import mark_people
from unmask.results.table import Record
from unmask.results.words import join_names, plural

ADVICE = "Suppress, round or perturb the tables, and audit the result:"

RECORDS = (
    "All sets of records that fit the tables of an area are solutions. An area with one solution is reconstructed: the "
    "adversary knows every record of it, and can check that without the original. If there are several solutions, a "
    "reconstruction is one of them, drawn by its probability. The baseline draws as many records from the population "
    "of all areas."
)

VALUES = (
    "The adversary knows some columns of a person, and that the person lives in the area. They guess the most probable "
    "value of the inferred column. A value is certain if all records that fit the tables agree on it. The baseline is "
    "the same adversary without the tables of the area. The gain is what these tables add."
)

CALIBRATION = (
    "People are grouped by the probability that the adversary announces for the best guess. On the dotted line, "
    "announced and realized success agree."
)

DIFFERENCES = (
    "If one table counts a part of the people of another one, the difference of two cells is the count of the "
    "remaining people. It is determined if both cells are exact."
)


@dataclass(frozen=True, eq=False)
class AggregateFacts:
    """Numbers of an audit that its sentences mention.

    Parameters
    ----------
    summary : Record
        Row of the table "aggregates".
    values : sequence of Record
        Rows of the table "aggregates_values".
    knows : sequence of tuple of str
        Columns that the adversary knows, for each row of `values`.
    reconstructed, baseline : float
        Share of records reconstructed from the tables, and drawn from the population; nan without the original.
    violations : mapping of str to int, optional
        Tables that the original contradicts, and in how many areas; None without the original.
    contradicting : sequence of str
        Tables that contradict each other.
    group_size : int
        Groups of fewer people are small.
    """

    summary: Record
    values: Sequence[Record]
    knows: Sequence[tuple[str, ...]]
    reconstructed: float
    baseline: float
    violations: Mapping[str, int] | None
    contradicting: Sequence[str]
    group_size: int

    @property
    def has_truth(self) -> bool:
        """Return whether the original is known."""
        return self.violations is not None

    @property
    def strongest(self) -> int:
        """Return the position of the inference with the largest gain."""
        return max(range(len(self.values)), key=lambda number: self.values[number]["gain"])

    def reach(self, value: Record) -> float:
        """Return the realized success of an inference, or the announced one without the original."""
        return float(value["success"] if self.has_truth else value["announced"])


def headline(facts: AggregateFacts) -> str:
    """Return the most important finding."""
    summary = facts.summary
    n_areas, n_one = summary["areas"], summary["one_solution"]
    if facts.contradicting:
        return (
            f"The tables {join_names(facts.contradicting)} contradict each other, so a stated rule is wrong. "
            f"Areas without a solution: {summary['contradictions']:,}."
        )
    if facts.violations:
        return f"The original contradicts the stated rule of {join_names(tuple(facts.violations))}. Check the rule."
    if n_areas == 1:
        sentence = (
            "Only one set of records fits the tables." if n_one else "More than one set of records fits the tables."
        )
    else:
        share = percent(n_one / n_areas)
        sentence = f"In {n_one:,} of {n_areas:,} areas ({share}), only one set of records fits the tables."
    if not facts.has_truth:
        return sentence
    return (
        f"{sentence} The adversary reconstructs {percent(facts.reconstructed)} of {summary['people']:,} records; draws "
        f"from the population reconstruct {percent(facts.baseline)}."
    )


def describe_risk(facts: AggregateFacts) -> AtRisk:
    """Return the people whose sensitive value is certain, for the column about which the tables reveal most."""
    value, columns = facts.values[facts.strongest], facts.knows[facts.strongest]
    n, sensitive = f"{value['people']:,}", value["sensitive"]
    if columns:
        names = join_names(columns)
        sentence = (
            f"of {n} people have a value of {sensitive} that is certain to an adversary who knows their area and "
            f"{names}"
        )
    else:
        sentence = f"of {n} people have a value of {sensitive} that is certain to an adversary who knows their area"
    guess = f"right for {percent(facts.reach(value))}; without these tables {percent(value['baseline'])}"
    lines = [
        Fact("One solution", f"{facts.summary['one_solution']:,} of {facts.summary['areas']:,} areas"),
        *([Fact("Records", f"{percent(facts.reconstructed)} reconstructed")] if facts.has_truth else []),
        Fact("Best guess", guess),
    ]
    return AtRisk(mark_people(round(value["certain"] * value["people"])), sentence, tuple(lines))


def advise(release: AggregateRelease) -> Advice:
    """Return the advice to protect the tables of a release; a table is published with all its totals."""
    names = {frozenset(table.columns): "*".join(table.columns) for table in release.tabulations if table.columns}
    tables = shlex.quote(
        ",".join(name for columns, name in names.items() if not any(columns < other for other in names))
    )
    geography = f" --geography {shlex.quote(release.geography)}" if release.geography else ""
    return Advice(
        ADVICE,
        f"unmask protect aggregates RECORDS --tables {tables}{geography} --round 5 -o protected",
    )


def make_blocks(facts: AggregateFacts, *, n_sizes: int) -> tuple[Block, ...]:
    """Return the blocks after the headline, in page order; n_sizes : groups of areas by their number of people"""
    blocks = [_record_block(facts, n_sizes), _value_block(facts), _certain_block(facts)]
    if facts.has_truth:
        blocks.append(_calibration_block(facts))
    return (*blocks, _difference_block(facts), _release_block(facts))


def _record_block(facts: AggregateFacts, n_sizes: int) -> Block:
    charts = [
        Chart("bars", "aggregates_areas", "people_of_area", "one_solution", title="Areas with one solution", y_max=1.0)
    ]
    if facts.has_truth:
        charts.append(
            Chart(
                "bars", "aggregates_areas", "people_of_area", "reconstructed", baseline="baseline", y_max=1.0,
                title="Records reconstructed",
            )
        )  # fmt: skip
    sentence = " ".join(_describe_search(facts.summary)) or "Every solution was listed."
    drawn = tuple(charts) if n_sizes > 1 else ()
    notes = ("The line is the reconstruction, and the bars below it are draws from the population.",) * (len(drawn) > 1)
    tables = ("aggregates_areas",)
    return Block("records", "Which records are reconstructed", sentence, drawn, tables, RECORDS, notes, open=True)


def _describe_search(summary: Record) -> Iterator[str]:
    if several := summary["several_solutions"]:
        yield f"{plural(several, 'area has', 'areas have')} several solutions."
    if chains := summary["chains"]:
        converged = f"{chains - summary['unconverged']:,} of {chains:,}"
        yield f"Beliefs about {plural(chains, 'area')} are estimated by chains. They converged in {converged} areas."
    if undecided := summary["undecided"]:
        yield f"For {plural(undecided, 'area')}, the search for a second solution was stopped."


def _value_block(facts: AggregateFacts) -> Block:
    value = facts.values[facts.strongest]
    verb = "is right about" if facts.has_truth else "expects to be right about"
    sentence = (
        f"The best guess {verb} {value['sensitive']} for {percent(facts.reach(value))} of people, and for "
        f"{percent(value['baseline'])} without the tables of the area."
    )
    notes = tuple(
        f"The belief about {value['sensitive']} announces {percent(value['announced'])} and is right for "
        f"{percent(value['success'])}: do not rely on it."
        for value in facts.values
        if value["status"] == "refuted"
    )
    return Block("values", "Which values are inferred", sentence, (), ("aggregates_values",), VALUES, notes, open=True)


def _certain_block(facts: AggregateFacts) -> Block:
    claims, true = facts.summary["certain_combinations"], facts.summary["certain_true"]
    singles = mark_people(facts.summary["certain_singles"])
    sentence = (
        f"{mark_people(claims)} combinations of values certainly occur in their area, {singles} of them for exactly "
        "one person."
    )
    if claims and true is not None:
        is_false = true < claims
        check = "Some claims are false, so a stated rule is wrong." if is_false else "All of these claims are true."
        sentence = f"{sentence} {check}"
    return Block("certain", "What is certain", sentence)


def _calibration_block(facts: AggregateFacts) -> Block:
    chart = Chart(
        "points", "aggregates_calibration", "announced", "realized", by="sensitive", size="people",
        title="Announced and realized success", diagonal="announced = realized", x_max=1.0, y_max=1.0,
    )  # fmt: skip
    worst = max(facts.values, key=lambda value: abs(value["announced"] - value["success"]))
    sentence = (
        f"The adversary announces success for {percent(worst['announced'])} of people ({worst['sensitive']}) and is "
        f"right for {percent(worst['success'])}."
    )
    return Block(
        "calibration", "Are the probabilities right?", sentence, (chart,), ("aggregates_calibration",), CALIBRATION
    )


def _difference_block(facts: AggregateFacts) -> Block:
    pairs, heading = facts.summary["nested_pairs"], "What differences of tables reveal"
    if not pairs:
        sentence = "No table counts a part of the people of another table with the same columns."
        return Block("differences", heading, sentence, is_finding=False)
    groups = f"{mark_people(facts.summary['small_differences'])} groups of fewer than {facts.group_size:,} people"
    sentence = f"Differences of {plural(pairs, 'nested pair')} of tables determine {groups}."
    return Block("differences", heading, sentence, introduction=DIFFERENCES)


def _release_block(facts: AggregateFacts) -> Block:
    if facts.violations:
        sentence = f"The original contradicts the stated rule of {join_names(tuple(facts.violations))}."
    elif facts.has_truth:
        sentence = "The original fits the stated rule of every table."
    else:
        sentence = "Without the original, the stated rules are checked against each other only."
    tables = (View("aggregates_tables"),)
    return Block("tables", "Published tables", sentence, (), tables, is_finding=bool(facts.violations))
