"""Facts about a release besides beliefs: its criteria, its columns, and its utility."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from unmask.core.arrays import Integers
from unmask.core.errors import UnmaskError
from unmask.facts import Contribution
from unmask.results.names import IDENTITY
from unmask.results.result import Value
from unmask.results.rows import ORIGINAL
from unmask.tables import criteria, utility
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, Release
from unmask.tables.audit.column_exposure import ColumnExposure
from unmask.tables.audit.quasi_identifiers import ColumnRisk
from unmask.tables.column import Column
from unmask.tables.criteria.evaluation import Criteria
from unmask.tables.meanings import scale_weights
from unmask.tables.risk import column_facts, printed_values, restored_cells
from unmask.tables.table import Table

IF_KNOWN = frozenset({
    "k_map", "population_uniques", "unique_share", "unique_share_low", "unique_share_high", "model_risk_average",
    "model_risk_max",
})  # fmt: skip
"""Criteria that are listed if they are known: by a register with the whole population, or by survey weights."""

OF_PEOPLE = frozenset({
    "k", "unique_share", "unique_share_low", "unique_share_high",
    "prosecutor_average", "prosecutor_max", "individual_risk_average", "individual_risk_max",
    "model_risk_average", "model_risk_max",
    "expected_reidentifications", "expected_reidentifications_low", "expected_reidentifications_high", "household_k",
    "household_risk_average", "household_risk_max",
})  # fmt: skip
"""Criteria that take every row for a person's."""


def evaluate_criteria(release: Release, knowledge: AuditorKnowledge) -> Criteria:
    """Evaluate the criteria of a release; without the register if it lacks people of the release."""
    original, population = knowledge.complete.original, release.population(knowledge)
    if population is not None:
        with suppress(UnmaskError):
            return criteria.evaluate(
                release.table, reference=original, population=population, population_size=knowledge.population
            )
    return criteria.evaluate(release.table, reference=original, population_size=knowledge.population)


class ReleaseFacts(NamedTuple):
    """Facts about one release.

    Parameters
    ----------
    criteria : mapping
        Criteria by name.
    column_risks : sequence of ColumnRisk
        Success without each quasi-identifier; empty for the original, and if classes overlap.
    contributions : sequence of Contribution
        Contributions of the quasi-identifiers, if they are requested.
    not_run : sequence of tuple of str
        Requested contributions that were not computed, with the reason.
    """

    criteria: Mapping[str, Value]
    column_risks: Sequence[ColumnRisk] = ()
    contributions: Sequence[Contribution] = ()
    not_run: Sequence[tuple[str, str]] = ()


def measure_release(release: Release, knowledge: AuditorKnowledge) -> ReleaseFacts:
    """Return the facts about a release; contributions are those of the original, or of each release without it."""
    facts = ReleaseFacts(list_criteria(evaluate_criteria(release, knowledge), release, knowledge))
    is_source = release.name == ORIGINAL or knowledge.original is None
    has_risks = release.name != ORIGINAL and not release.overlaps
    if len(release.table.quasi_identifiers) < 2 or not (is_source or has_risks):
        return facts
    try:
        game = criteria.ColumnGame.of(release.complete, overlaps=release.overlaps)
    except UnmaskError as error:
        return facts._replace(not_run=((f"Where the risk sits, {release.name}", str(error)),) if is_source else ())
    if is_source:  # first: all sets of columns share their classes
        facts = facts._replace(contributions=game.contributions())
    return facts._replace(column_risks=tuple(_list_column_risks(release, game))) if has_risks else facts


def list_criteria(measured: Criteria, release: Release, knowledge: AuditorKnowledge) -> dict[str, Value]:
    """Return the criteria of a release by name; None for those that need rows of people, if the release is foreign."""
    original, person = knowledge.complete.original, release.person(knowledge)
    values = {field.name: getattr(measured, field.name) for field in fields(Criteria) if field.name != "columns"}
    values = {name: value for name, value in values.items() if value is not None or name not in IF_KNOWN}
    values = {name: None if release.is_foreign and name in OF_PEOPLE else value for name, value in values.items()}
    if release.is_foreign and original is not None:
        values |= dict(_score_synthetic(release.table, original, knowledge.control))
    if person is not None:
        people = criteria.people_in_classes(release.table, person)
        values |= {"k_people": people.fewest, "person_share": people.share}
    if knowledge.population is not None and release.name != ORIGINAL and not explain_no_estimate(release):
        values |= _estimate_uniqueness(release.complete.classes.sizes, knowledge.population)
    if not release.is_foreign:
        subsets = {name: criteria.SUBSETS[name] for name in knowledge.criteria}
        values |= {name: criteria.smallest_class_of_subsets(release.table, size) for name, size in subsets.items()}
    if not release.is_foreign and release.has_rows:
        values |= _proximity(release, original)
        values |= _measure_special_uniques(release, knowledge.population)
    return values


def explain_no_estimate(release: Release) -> str:
    """Return why population uniques are not estimated from a release; "" if they are."""
    if release.is_foreign:
        return "its rows are not people"
    if release.table.person is not None:
        return "people have several rows"
    if release.overlaps:
        return "its classes overlap, so that their sizes are no sample"
    if not (release.complete.classes.sizes == 1).any():
        return "no row is unique, so none is unique in the population"
    return ""


def _estimate_uniqueness(class_sizes: Integers, population: int) -> dict[str, Value]:
    from unmask.tables.risk.population import estimate

    estimated = estimate(class_sizes, population_rows=population)
    return {
        "population_uniques_low": estimated.low,
        "population_uniques_high": estimated.high,
        "population_uniques_pitman": estimated.pitman,
        "population_uniques_zayatz": estimated.zayatz,
        "population_uniques_negative_binomial": estimated.slide_negative_binomial,
        "unique_probability_low": estimated.probability_low,
        "unique_probability_high": estimated.probability_high,
    }


def _measure_special_uniques(release: Release, population: int | None) -> dict[str, Value]:
    """Return the largest DIS-SUDA score, if weights or the population give the sampling fraction."""
    sample, weight = release.complete, scale_weights(release.complete.weight)
    people = float(weight.sum()) if weight is not None and population is None else population
    if people is None:
        return {}
    from unmask.tables.risk.suda import find_special_uniques

    with suppress(UnmaskError):
        uniques = find_special_uniques(sample)
        score = uniques.estimate_intruder_confidence(min(sample.n_rows / people, 1.0)).max()
        return {} if np.isnan(score) else {"dis_suda_max": float(score)}
    return {}


def _score_synthetic(table: Table, original: Table, control: Table | None) -> Iterator[tuple[str, Value]]:
    """Yield published scores of a synthetic table, for people of the original and of the control group."""
    yield "replicated_uniques", criteria.replicated_uniques(table, original)
    for column in table.sensitive:
        if column.name in original.names:
            yield f"correctly_disclosed ({column.name})", criteria.correctly_disclosed(table, original, column.name)
            yield from _score_attribution(table, original, control, column)
    rng = np.random.default_rng(0)
    yield "identifiable_share", criteria.identifiable_share(table, original, original, rng=rng)
    if control is not None:
        yield "identifiable_control", criteria.identifiable_share(table, control, original, rng=rng)
        yield "closer_to_members", criteria.closer_to_members(table, original, control, rng=rng)


def _score_attribution(
    table: Table, original: Table, control: Table | None, column: Column
) -> Iterator[tuple[str, Value]]:
    """Yield CAP and TCAP of a sensitive column; numbers within 10 % are right, as for `value_proximity`."""
    name, tolerance = column.name, 0.1 if column.type == "number" else 0.0
    attribution = criteria.attribution_probability(table, original, name, rtol=tolerance)
    yield f"cap ({name})", _known(attribution.probability)
    yield f"cap_prior ({name})", _known(attribution.prior)
    targeted = criteria.targeted_attribution_probability(table, original, name, rtol=tolerance)
    yield f"tcap ({name})", _known(targeted.probability)
    if control is not None and name in control.names:
        attribution = criteria.attribution_probability(table, control, name, rtol=tolerance)
        yield f"cap_control ({name})", _known(attribution.probability)
        targeted = criteria.targeted_attribution_probability(table, control, name, rtol=tolerance)
        yield f"tcap_control ({name})", _known(targeted.probability)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _proximity(release: Release, original: Table | None) -> dict[str, Value]:
    """Return how near the classes of a release come to sensitive numbers."""
    originals = {} if original is None else {column.name: column for column in original.columns}
    distances = {
        column.name: criteria.value_proximity(release.complete.classes, column, original=originals.get(column.name))
        for column in release.complete.sensitive
    }
    measured = {name: proximity for name, proximity in distances.items() if proximity is not None}
    if not measured:
        return {}
    closest = max(measured, key=lambda name: measured[name].average)
    return {
        "near_average": measured[closest].average,
        "near_prior": measured[closest].prior,
        "near_of": closest,
        "near_max": max(proximity.largest for proximity in measured.values()),
    }


def _list_column_risks(release: Release, game: criteria.ColumnGame) -> Iterator[ColumnRisk]:
    """Yield the mean success of the prosecutor with every quasi-identifier, and without each of them."""
    success, without = game.success_without()
    targets = [target for target in success if not (release.is_foreign and target == IDENTITY)]
    for column, success_without in without.items():
        for target in targets:
            yield ColumnRisk(release.name, target, column, success[target], success_without[target])


def measure_exposure(releases: Sequence[Release], original: Table | None) -> ColumnExposure:
    """Return what the columns of each release in memory reveal."""
    return ColumnExposure(
        columns={
            release.name: column_facts(release.table.written, roles=release.table.roles, classes=release.table.classes)
            for release in releases
        },
        restored={
            release.name: restored_cells(original, release.table, release.origin)
            for release in releases
            if original is not None and release.origin is not None
        },
        printed={release.name: printed_values(release.table, original) for release in releases},
    )


def measure_utility(release: Release, original: Table) -> dict[str, Value]:
    """Return the losses of a release with a known origin, by name."""
    assert release.origin is not None
    table, lost = release.table, utility.information_loss(original, release.table, release.origin)
    return {
        "gcp": lost.gcp,
        "suppressed": 1.0 - table.n_rows / original.n_rows,
        "discernibility": lost.discernibility,
        "average_class_size": table.n_rows / len(table.classes.sizes),
        **{f"width_{width.unit or 'number'} ({column})": width.mean for column, width in lost.width.items()},
    }
