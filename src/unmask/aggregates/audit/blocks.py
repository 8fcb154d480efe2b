"""Findings about published tables as sentences and blocks of a page."""

from __future__ import annotations

import math
from collections.abc import Iterator

from unmask.aggregates.audit.tables import AggregateFacts, ValueFacts
from unmask.results import Advice, AtRisk, Block, Chart, Fact, View
from unmask.results.formats import percent
from unmask.results.suppression import mark_people
from unmask.results.words import join_names, plural

ADVICE = Advice(
    "Suppress, round or perturb the tables, and audit the result:",
    'unmask protect aggregates records.csv --tables "sex*age" --round 5 -o protected',
)

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


def headline(facts: AggregateFacts) -> str:
    """Return the most important finding."""
    if facts.contradicting:
        return (
            f"The tables {join_names(facts.contradicting)} contradict each other, so a stated rule is wrong. "
            f"Areas without a solution: {facts.statuses['contradiction']:,}."
        )
    if facts.violations:
        return f"The original contradicts the stated rule of {join_names(tuple(facts.violations))}. Check the rule."
    if facts.n_areas == 1:
        one, several = "Only one set of records fits the tables.", "More than one set of records fits the tables."
        sentence = one if facts.n_one else several
    else:
        share = percent(facts.n_one / facts.n_areas)
        sentence = f"In {facts.n_one:,} of {facts.n_areas:,} areas ({share}), only one set of records fits the tables."
    if not facts.has_truth or math.isnan(facts.reconstructed):
        return sentence
    return (
        f"{sentence} The adversary reconstructs {percent(facts.reconstructed)} of {facts.people:,} records; draws from "
        f"the population reconstruct {percent(facts.baseline)}."
    )


def describe_risk(facts: AggregateFacts) -> AtRisk:
    """Return the people whose sensitive value is certain, for the column about which the tables reveal most."""
    strongest = _strongest(facts)
    n, sensitive = f"{strongest.people:,}", strongest.sensitive
    if strongest.knows:
        columns = join_names(strongest.knows)
        sentence = (
            f"of {n} people have a {sensitive} that is certain to an adversary who knows their area and {columns}"
        )
    else:
        sentence = f"of {n} people have a {sensitive} that is certain to an adversary who knows their area"
    facts_below = [
        Fact("One solution", f"{facts.n_one:,} of {facts.n_areas:,} areas"),
        Fact(
            "Best guess", f"right for {percent(strongest.reached)}; without these tables {percent(strongest.baseline)}"
        ),
    ]
    if facts.has_truth:
        facts_below.insert(1, Fact("Records", f"{percent(facts.reconstructed)} reconstructed"))
    return AtRisk(mark_people(strongest.certain), sentence, tuple(facts_below))


def _strongest(facts: AggregateFacts) -> ValueFacts:
    """Return the inference with the largest gain."""
    return max(facts.values, key=lambda item: item.reached - item.baseline)


def make_blocks(facts: AggregateFacts) -> tuple[Block, ...]:
    """Return the blocks after the headline, in page order."""
    blocks = (_record_block(facts), _value_block(facts), _certain_block(facts), _calibration_block(facts))
    return (*(block for block in blocks if block is not None), _difference_block(facts), _release_block(facts))


def _record_block(facts: AggregateFacts) -> Block:
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
    sentence = " ".join(_describe_search(facts)) or "Every solution was listed."
    drawn = tuple(charts) if len([item for item in facts.areas if item.people]) > 1 else ()
    notes = ("The line is the reconstruction, and the bars below it are draws from the population.",) * (len(drawn) > 1)
    tables = ("aggregates_areas",)
    return Block("records", "Which records are reconstructed", sentence, drawn, tables, RECORDS, notes, open=True)


def _describe_search(facts: AggregateFacts) -> Iterator[str]:
    methods, statuses = facts.methods, facts.statuses
    if several := statuses.get("several", 0):
        yield f"{plural(several, 'area has', 'areas have')} several solutions."
    if chains := methods.get("chain", 0):
        converged = f"{chains - facts.unconverged:,} of {chains:,}"
        yield f"Beliefs about {plural(chains, 'area')} are estimated by chains. They converged in {converged} areas."
    if undecided := statuses.get("undecided", 0):
        yield f"For {plural(undecided, 'area')}, the search for a second solution was stopped."


def _value_block(facts: AggregateFacts) -> Block:
    strongest = _strongest(facts)
    verb = "is right about" if facts.has_truth else "expects to be right about"
    sentence = (
        f"The best guess {verb} {strongest.sensitive} for {percent(strongest.reached)} of people, and for "
        f"{percent(strongest.baseline)} without the tables of the area."
    )
    notes = tuple(_describe_refuted(item) for item in facts.values if item.status == "refuted")
    return Block("values", "Which values are inferred", sentence, (), ("aggregates_values",), VALUES, notes, open=True)


def _describe_refuted(item: ValueFacts) -> str:
    announced, realized = percent(item.announced), percent(item.success)
    return f"The belief about {item.sensitive} announces {announced} and is right for {realized}: do not rely on it."


def _certain_block(facts: AggregateFacts) -> Block:
    claims = f"{mark_people(facts.certain.exist)} combinations of values certainly occur in their area"
    sentence = f"{claims}, {mark_people(facts.certain.exactly_one)} of them for exactly one person."
    if facts.certain.true is not None:
        is_true = facts.certain.true == facts.certain.exist
        check = "All of these claims are true." if is_true else "Some claims are false, so a stated rule is wrong."
        sentence = f"{sentence} {check}" if facts.certain.exist else sentence
    return Block("certain", "What is certain", sentence)


def _calibration_block(facts: AggregateFacts) -> Block | None:
    if not facts.has_truth:
        return None
    chart = Chart(
        "points", "aggregates_calibration", "announced", "realized", by="sensitive", size="people",
        title="Announced and realized success", diagonal="announced = realized", x_max=1.0, y_max=1.0,
    )  # fmt: skip
    worst = max(facts.values, key=lambda item: abs(item.announced - item.success))
    sentence = (
        f"The adversary announces success for {percent(worst.announced)} of people ({worst.sensitive}) and is right "
        f"for {percent(worst.success)}."
    )
    return Block(
        "calibration", "Are the probabilities right?", sentence, (chart,), ("aggregates_calibration",), CALIBRATION
    )


def _difference_block(facts: AggregateFacts) -> Block:
    differences = facts.differences
    if not differences.pairs:
        sentence = "No table counts a part of the people of another table with the same columns."
        return Block("differences", "What differences of tables reveal", sentence, is_finding=False)
    small = f"{mark_people(differences.small)} groups of fewer than {facts.group_size:,} people"
    sentence = f"Differences of {plural(differences.pairs, 'nested pair')} of tables determine {small}."
    return Block("differences", "What differences of tables reveal", sentence, introduction=DIFFERENCES)


def _release_block(facts: AggregateFacts) -> Block:
    if facts.has_truth and not facts.violations:
        sentence = "The original fits the stated rule of every table."
    elif facts.has_truth:
        sentence = f"The original contradicts the stated rule of {join_names(tuple(facts.violations))}."
    else:
        sentence = "Without the original, the stated rules are checked against each other only."
    tables = (View("aggregates_tables"),)
    return Block("tables", "Published tables", sentence, (), tables, is_finding=bool(facts.violations))
