"""Audit of published tables: records reconstructed, certain claims and inferred values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from unmask.aggregates.attacks.area_attacks import AttackRun
from unmask.aggregates.attacks.chains import MAX_R_HAT, has_total
from unmask.aggregates.attacks.reconstructor import KnownPeople, Reconstructor, infer_values
from unmask.aggregates.audit.blocks import AggregateFacts, advise, describe_risk, headline, make_blocks
from unmask.aggregates.audit.facts import Targets, find_certain_people, find_targets, list_violations, measure_overlap
from unmask.aggregates.audit.tables import area_table, calibration_table, release_table, summary_table, value_table
from unmask.aggregates.release import AggregateRelease
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.domains import name_releases
from unmask.measures.registry import MEASURES, Quantity
from unmask.ranges import Option, Range
from unmask.results import Result, Row
from unmask.results.words import plural
from unmask.scoring import score

RECONSTRUCTOR, POPULATION = "reconstructor", "population"
"""Adversary who solves the tables of an area, and the baseline without them."""

RECORDS = "records"
"""Target of measures about whole records."""

SUCCESS = ("success_probability", "realized_success")
"""Measures whose value before the release is the success of the baseline."""


def audit(
    release: AggregateRelease | Mapping[str, AggregateRelease],
    *,
    truth: Any = None,
    sensitive: Annotated[Sequence[str], Option("Knowledge", commas=True)] = (),
    knows: Annotated[Sequence[str], Option("Knowledge", commas=True)] = (),
    group_size: Annotated[int, Range(2), Option("Knowledge")] = 10,
    seed: Annotated[int, Range(0)] = 0,
) -> Result:
    """Attack published tables of counts: how many records are reconstructed, and which values are inferred.

    Parameters
    ----------
    release : AggregateRelease
        Published tables.
    truth : mapping of str to array, or a data frame, optional
        Column -> value of each record of the original, with the column of areas.
    sensitive : sequence of str
        columns that the adversary infers, separated by commas (default: each column in turn)
    knows : sequence of str
        columns that the adversary knows of a person, separated by commas (default: all other columns)
    group_size : int
        groups of fewer people that differences of tables determine are counted
    seed : int
        seed of random objectives, chains and baseline draws

    Returns
    -------
    Result
        Measures, tables and findings.

    Raises
    ------
    UnmaskError
        If several releases are given, or the original lacks a column or has a value outside the domain.
    """
    releases = name_releases(release)
    if len(releases) != 1:
        raise UnmaskError(
            f"{len(releases)} releases were given, expected 1; put all tables of the same people into one"
        )
    (name, tables), rng = next(iter(releases.items())), np.random.default_rng(seed)
    run = Reconstructor().run(tables, sensitive, knows, rng=rng)
    targets = find_targets(run, truth, rng)
    if not len(targets.cell):
        if run.contradicting:
            names = " and ".join(run.contradicting)
            raise UnmaskError(f"the tables {names} contradict each other in every area; check their rules and counts")
        raise UnmaskError("the tables fit no people, or the original has no rows; check the rules and the original")
    return describe_run(name, run, targets, group_size=group_size, rng=rng)


def describe_run(name: str, run: AttackRun, targets: Targets, *, group_size: int, rng: np.random.Generator) -> Result:
    """Return the result of attacks on all areas, compared with the targets."""
    counts, has_truth, questions = targets.count(run.release), targets.are_true, run.questions
    overlap = measure_overlap(run, counts, rng) if has_truth else None
    violations = list_violations(run, counts) if has_truth else None
    beliefs = [
        infer_values(run, KnownPeople(question, targets.area, question.profile[targets.cell])) for question in questions
    ]
    truths = [Truth(question.value[targets.cell]) if has_truth else None for question in questions]
    scored = [_score(name, question.sensitive, *beliefs[i], truths[i]) for i, question in enumerate(questions)]
    claims = [
        (question.sensitive, belief, truth)
        for question, (belief, _), truth in zip(questions, beliefs, truths, strict=True)
        if truth is not None
    ]
    tables = (
        summary_table(run, counts, has_truth=has_truth, group_size=group_size),
        release_table(run, violations),
        area_table(run, counts, overlap),
        value_table(_describe_values(run, targets, i, rows) for i, rows in enumerate(scored)),
        calibration_table(claims),
    )
    shares = (np.nan, np.nan) if overlap is None else overlap.sum(axis=1) / counts.sum()
    facts = AggregateFacts(
        summary=tables[0].rows[0],
        values=tables[3].rows,
        knows=[question.knows for question in questions],
        reconstructed=float(shares[0]),
        baseline=float(shares[1]),
        violations=violations,
        contradicting=run.contradicting,
        group_size=group_size,
    )
    return Result(
        title=f"Published tables {name}",
        kind="Audit of published tables",
        command="audit aggregates",
        setting=_setting(run.release),
        headline=headline(facts),
        rows=(*_record_rows(name, facts), *(row for rows in scored for row in rows)),
        facts=tuple(table for table in tables if table.rows),
        blocks=make_blocks(facts, n_sizes=len(tables[2])),
        at_risk=describe_risk(facts),
        advice=advise(run.release),
        adversaries={
            RECONSTRUCTOR: "finds all records that fit the tables",
            POPULATION: "knows the population of all areas only",
        },
        preferred_measures=SUCCESS[::-1],
        sample_condition="areas_reconstructed <= 0.05",
        assumptions=_assumptions(run),
        cautions=tuple(_cautions(facts, run)),
        not_run=tuple(_not_run(facts, run)),
    )


def _score(name: str, target: str, belief: Posterior, baseline: Posterior, truth: Truth | None) -> list[Row]:
    """Return the rows of both adversaries; success of the reconstructor is compared with the baseline."""
    base_rows = score(baseline, truth, release=name, adversary=POPULATION, target=target).rows
    prior = {row.measure: row.posterior for row in base_rows if row.measure in SUCCESS}
    rows = score(belief, truth, release=name, adversary=RECONSTRUCTOR, target=target).rows
    compared = [
        replace(row, prior=prior[row.measure], gain=row.posterior - prior[row.measure]) if row.measure in prior else row
        for row in rows
    ]
    return [*compared, *base_rows]


def _describe_values(run: AttackRun, targets: Targets, number: int, rows: Sequence[Row]) -> tuple[object, ...]:
    """Return the record of an inference for `value_table`."""
    question = run.questions[number]
    values = {(row.adversary, row.measure): row for row in rows}
    certain, true = find_certain_people(run, targets, number)
    announced, measure = values[RECONSTRUCTOR, SUCCESS[0]], SUCCESS[targets.are_true]
    success, baseline = values[RECONSTRUCTOR, measure].posterior, values[POPULATION, measure].posterior
    return (
        question.sensitive, ", ".join(question.knows), len(targets.cell), announced.posterior,
        success if targets.are_true else None, baseline, success - baseline, float(certain.mean()),
        float(true.mean()) if targets.are_true else None, announced.status,
    )  # fmt: skip


def _record_rows(name: str, facts: AggregateFacts) -> Iterator[Row]:
    """Yield the measures about areas, records and certain values."""
    summary = facts.summary

    def row(quantity: Quantity, value: float, target: str, n: int, prior: float, status: str = "exact") -> Row:
        names: Any = {"release": name, "adversary": RECONSTRUCTOR, "target": target}
        return Row.of_number(value, **names, measure=quantity.name, unit=quantity.unit, prior=prior, n=n, status=status)

    n_areas, n_one, people = summary["areas"], summary["one_solution"], summary["people"]
    yield row(MEASURES["areas_reconstructed"], n_one / n_areas, RECORDS, n_areas, 0.0)
    if facts.has_truth:
        status = "exact" if n_one == n_areas else "model"
        yield row(MEASURES["records_reconstructed"], facts.reconstructed, RECORDS, people, facts.baseline, status)
    for value in facts.values:
        yield row(MEASURES["values_certain"], value["certain"], value["sensitive"], value["people"], 0.0)


def _setting(release: AggregateRelease) -> str:
    tables = "a table" if len(release.tabulations) == 1 else f"{len(release.tabulations)} tables"
    areas = f" of {release.n_areas:,} areas" if release.geography else ""
    return f"An adversary has {tables} of counts{areas}, and knows the rules by which they were published."


def _assumptions(run: AttackRun) -> tuple[str, ...]:
    geography = run.release.geography
    baseline = (
        "The baseline infers values from the population of all areas, which the tables of all areas imply."
        if geography
        else "The baseline is the share of each value among all people, because the release has one area only."
    )
    return (
        "The adversary knows the categories of each column and the rule of each table.",
        "A person whose value is inferred is known to be in the area, with the known columns.",
        "People of an area are independent draws from the population of all areas, apart from its tables.",
        baseline,
    )


def _cautions(facts: AggregateFacts, run: AttackRun) -> Iterator[str]:
    if facts.contradicting:
        yield f"A stated rule is wrong: {', '.join(facts.contradicting)} contradict each other."
    if facts.violations:
        yield f"The original contradicts the stated rule of {', '.join(facts.violations)}. Certain claims may be false."
    if unconverged := facts.summary["unconverged"]:
        yield f"Chains did not converge in {unconverged:,} areas (split R-hat above {MAX_R_HAT})."
    sampled = [area.reconstruction for area in run.areas if area.belief.method == "chain"]
    if unknown := sum(not has_total(result) for result in sampled):
        areas = plural(unknown, "area")
        yield f"No table shows the number of people of {areas}, so probabilities depend on the model of the population."
    if not facts.has_truth:
        yield "Without the original, success is what the adversary expects, and no claim is checked."


def _not_run(facts: AggregateFacts, run: AttackRun) -> Iterator[tuple[str, str]]:
    release = run.release
    if names := [item.name for item in release.published_tables if item.by_area != bool(release.geography)]:
        yield f"Tables without areas ({', '.join(names)})", "each area is solved by its own tables"
    if release.statistics and (chains := facts.summary["chains"]):
        yield f"Means, medians and sums in the beliefs about {chains:,} areas", "chains draw from the counts alone"
    if contradictions := facts.summary["contradictions"]:
        yield f"Beliefs about {contradictions:,} areas", "their tables have no solution; the baseline replaces them"
    if not facts.has_truth:
        yield "Realized success", "the original is not known; pass it with --original"
