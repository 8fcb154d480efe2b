"""Study cells of tables: a protection, an adversary who knows some of the people, and the rows of the attack."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from unmask import schema
from unmask.core.arrays import Integers
from unmask.core.errors import NotRunError, UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.economics import Attacker, read_attacker
from unmask.economics.profile import EMBEDDED, attacker_of
from unmask.measures import Measure, registry
from unmask.plan import Cell, Part, check_keys
from unmask.results import Row
from unmask.results.names import IDENTITY, MEMBERSHIP
from unmask.schema import Either, dict_of, list_of, parameters
from unmask.scoring import STANDARD, campaign_measures, price_measures
from unmask.tables import utility
from unmask.tables.attacks import Linkability, SeveralRows, SinglingOut
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, Release, locate_rows
from unmask.tables.audit.files import READING
from unmask.tables.audit.linked_parts import measure_linkability
from unmask.tables.audit.linked_rows import attack_person
from unmask.tables.audit.membership_audit import (
    MEMBERSHIP_MEASURES,
    limit_by_epsilon,
    measure_membership,
    sample_members,
)
from unmask.tables.audit.perturbed import refuse_perturbed
from unmask.tables.audit.release_facts import evaluate_criteria, list_criteria
from unmask.tables.audit.singling_out import measure_singling_out
from unmask.tables.audit.table_audit import add_excluded_people
from unmask.tables.control.holdout import Sample, hold_back
from unmask.tables.criteria import Criteria
from unmask.tables.knowledge import Knowledge, Register
from unmask.tables.protections.generalization import Identity
from unmask.tables.protections.releasing import Released, make_release, read_like
from unmask.tables.reading import AS_TEXT, column_names
from unmask.tables.table import Table

COLUMNS = ("quasi_identifiers", "sensitive", "keep", "identifiers", "weight", "types", "orders", "hierarchies")
PROTECTION = {"synthetic": bool}
ADVERSARY = {
    "knows": schema.Table(
        {**parameters("unmask.tables.knowledge:Register"), **parameters("unmask.tables.knowledge:Knowledge")}
    ),
    "attacker": Either((str, dict_of(Any))),
}
ROLES: Mapping[str, str] = {"columns": "quasi_identifiers", "levels": "quasi_identifiers", "sensitive": "sensitive"}

KNOWS: Mapping[str, Sequence[str]] = {
    "tables.Linkability": ("targets",),
    "tables.SinglingOut": (),
    "tables.SeveralRows": ("targets", "columns"),
}
"""Attack -> keys of its knowledge, if it is not that about quasi-identifiers."""

ATTACKS_ON_ALL = {"tables.ClassAttack", "tables.AttributeInference", "tables.BackOff", "tables.OrderAttack"}
"""Attacks on all people, unless a plan has a number of targets."""

UTILITY = {
    "utility": "1 - global certainty penalty",
    "kept": "rows that were released",
    "marginals": "1 - total variation of a column's distribution, mean over columns",
    "pairs": "1 - total variation of the joint distribution of two columns, mean over pairs",
    "counts": "1 - median relative error of random counting queries, at least 0",
}
"""Measure of remaining utility, between 0 and 1 -> its definition."""

ANALYSES = {
    "analyses": "mean overlap of the 95 % intervals of published analyses",
    "propensity": "1 - pMSE / its largest value",
}
"""Measure of remaining utility for the analyses of the document -> its definition."""

UTILITY_OF_ROWS = ("utility", "kept")
"""Measures of utility that compare each record before and after protection."""

SINGLING_MEASURES = ("singled_out", "singled_out_of_as_many", "parts_linked")

_CASE = read_attacker(EMBEDDED)

MORE = {
    name: measure
    for name, measure in registry.MEASURES.items()
    if isinstance(measure, Measure) and name not in {standard.name for standard in STANDARD}
}
"""Further measures of any belief, for cells whose plan names them."""

MEASURES = (
    *(measure.name for measure in (*STANDARD, *price_measures(_CASE), *campaign_measures(_CASE))),
    *MEMBERSHIP_MEASURES,
    *SINGLING_MEASURES,
    *UTILITY,
    *ANALYSES,
    *MORE,
)

REGISTER_CRITERIA = frozenset({"journalist_average", "journalist_max", "marketer", "k_map", "population_uniques"})
"""Criteria that need a register of the population."""

CRITERIA = (
    *(field.name for field in fields(Criteria) if field.name not in REGISTER_CRITERIA),
    "k_people", "person_share", "dis_suda_max", "near_average", "near_prior", "near_max", "replicated_uniques",
    "identifiable_share", "identifiable_control", "closer_to_members",
)  # fmt: skip
"""Criteria of a release in a study, which has no register of a population."""


DATASET = {
    **parameters("unmask.tables:Table.read", *READING),
    **parameters("unmask.tables.audit.table_audit:audit", "hold_back"),
    "orders": dict_of(list_of(Any)),
    "control": str,
    "analyses": list_of(str),
}


def check(adversary: Part) -> None:
    """Refuse knowledge that the adversary cannot have, two coverages, and an attacker that cannot be read."""
    kind = Register if adversary.use == "tables.RegisterAttack" else Knowledge
    knows = adversary.settings.get("knows", {})
    check_keys(knows, KNOWS.get(adversary.use, list(inspect.signature(kind).parameters)), "knows")
    coverages = [values["coverage"] for values in (knows, adversary.parameters) if "coverage" in values]
    if len(set(coverages)) > 1:
        raise UnmaskError(
            f"coverage is {coverages[0]} in knows and {coverages[1]} in with or grid; give it once, for the register "
            "and the attack"
        )
    _knowledge(adversary)
    _attacker(adversary)


def answers(adversary: Part, attack: Any) -> tuple[str, Sequence[str]]:
    """Return the target of an attack of a study, and the measures that its cells may have."""
    if getattr(attack, "asks", "") == MEMBERSHIP:
        return MEMBERSHIP, (*MEMBERSHIP_MEASURES, *(measure.name for measure in STANDARD))
    if isinstance(attack, SinglingOut | Linkability):
        return IDENTITY, SINGLING_MEASURES
    prices = (measure.name for measure in _prices(adversary, None))
    standard = (*(measure.name for measure in STANDARD), *UTILITY, *ANALYSES)
    return getattr(attack, "sensitive", IDENTITY), (*standard, *prices)


def columns(dataset: Part) -> list[str]:
    """Return the columns of a table's file."""
    settings = dataset.settings
    role_columns = [name for role in COLUMNS[:4] for name in settings.get(role, ())]
    return column_names(
        settings["file"], role_columns=role_columns, **{key: settings[key] for key in AS_TEXT if key in settings}
    )


def load(dataset: Part, data: Any) -> Sample:
    """Return the population from a table, or from a path; the control group is from a file."""
    reading = {key: value for key, value in dataset.settings.items() if key in READING}
    table = data if isinstance(data, Table) else Table.read(data, **{"quasi_identifiers": (), **reading})
    if "control" not in dataset.settings:
        return Sample(table)
    return Sample(table, Table.read(dataset.settings["control"], **{**reading, "like": table}))


def divide(dataset: Part, people: Sample, rng: np.random.Generator) -> Sample:
    """Hold back a share of the population of one seed; the others are members."""
    return hold_back(people.members, dataset.settings["hold_back"], rng=rng)


def protect(population: Sample, protection: Any, rng: np.random.Generator) -> Released:
    """Return the release of the members, and the member behind each row; `protection` may be the path of a release."""
    if not isinstance(protection, Path):
        return make_release(_keep_unchanged if protection is None else protection, population.members, rng=rng)
    if population.held is not None:
        raise UnmaskError("a release in a file was made before people were held back; give a control group in a file")
    return Released(read_like(protection, population.members))


def _keep_unchanged(table: Table, *, rng: np.random.Generator) -> tuple[Table, Integers]:  # noqa: ARG001
    return table, np.arange(table.n_rows)


def attack(cell: Cell, population: Sample, released: Released, attack: Any) -> list[Row]:
    """Return the rows of the attack of a cell, and the remaining utility of the release."""
    utility_rows = measure_utility(cell, population.members, released.release, _origin(cell, released))
    analysis_rows = _measure_analyses(cell, population.members, released.release)
    return [*_attack(cell, population, released, attack), *utility_rows, *analysis_rows]


def _attack(cell: Cell, population: Sample, released: Released, attack: Any) -> Iterable[Row]:
    rng, adversary = np.random.default_rng(cell.seed), cell.adversary.name
    release = Release(cell.protection.name, released.release)
    scene = release.attacked(_origin(cell, released))
    attack = _with_protection(attack, released.protection)
    if getattr(attack, "asks", "") == MEMBERSHIP:
        knowledge = _knowledge(cell.adversary)
        assert isinstance(knowledge, Knowledge)
        sample = sample_members(population, released, knowledge, rng)
        limit = limit_by_epsilon(released.protection, sample, release=scene.release, adversary=adversary)
        return (*measure_membership(scene, adversary, sample, attack, rng=rng), *limit)
    if isinstance(attack, SinglingOut):
        return measure_singling_out(scene, adversary, attack, population.members, population.control, rng=rng)
    scene, attack = _add_knowledge(cell, population, scene, attack, rng)
    if isinstance(attack, Linkability):
        return measure_linkability(scene, adversary, attack, rng=rng)
    refuse_perturbed(scene, attack)
    run = attack_person(scene, adversary, attack, rng)
    measures = [m for m in STANDARD + _prices(cell.adversary, run.drawn_from) if cell.wants(m.name)]
    measures += [MORE[name] for name in cell.measures if name in MORE]
    return add_excluded_people(run.score(measures).rows, release)


def _origin(cell: Cell, released: Released) -> Integers | None:
    """Return the member behind each row; None if the release is synthetic."""
    return None if cell.protection.settings.get("synthetic") else released.origin


def criteria(cell: Cell, population: Sample, released: Released) -> dict[str, float]:
    """Return the criteria of the release that are numbers, as an audit with the same original and origin has them."""
    origin = _origin(cell, released)
    knowledge = AuditorKnowledge(population.members, control=population.control)
    release = Release(cell.protection.name, released.release, origin, is_foreign=origin is None)
    values = list_criteria(evaluate_criteria(release, knowledge), release, knowledge)
    return {name: float(value) for name, value in values.items() if isinstance(value, int | float)}


def believed(cell: Cell, population: Sample, released: Released, attack: Any) -> tuple[Posterior, Truth | None, float]:
    """Return the belief of an adversary about people's records, the truth, and the utility of the release.

    An adversary of a game knows everybody, unless the plan has a number of targets: a campaign is against all.
    """
    members = population.members
    if members.person is not None:
        raise NotRunError(
            f"a game counts each row as a person, and {members.n_rows:,} rows are of {members.n_people:,} people; keep "
            "one row of each, or price an audit (--attacker)"
        )
    origin = _origin(cell, released)
    if origin is None:
        raise UnmaskError(f"the rows of {cell.protection.name} are synthetic, so no person is re-identified by them")
    if cell.adversary.use != "tables.RegisterAttack":
        knows = {"targets": None, **cell.adversary.settings.get("knows", {})}
        settings = {**cell.adversary.settings, "knows": knows}
        cell = replace(cell, adversary=replace(cell.adversary, settings=settings))
    scene = Release(cell.protection.name, released.release).attacked(origin)
    rng = np.random.default_rng(cell.seed)
    scene, attack = _add_knowledge(cell, population, scene, _with_protection(attack, released.protection), rng)
    refuse_perturbed(scene, attack)
    is_other = isinstance(attack, SinglingOut | Linkability | SeveralRows)
    run = None if is_other else scene.run(cell.adversary.name, attack)
    if run is None or run.target != IDENTITY:
        raise UnmaskError(f"adversary {cell.adversary.name!r} does not look for people's records")
    rows = measure_utility(cell, members, released.release, origin)
    return run.belief, run.truth, {row.measure: row.posterior for row in rows}["utility"]


def _with_protection(attack: Any, protection: Any) -> Any:
    """Return the attack with the protection that it knows."""
    if not hasattr(attack, "with_protection"):
        return attack
    return attack.with_protection(Identity() if protection is _keep_unchanged else protection)


def _add_knowledge(
    cell: Cell, population: Sample, scene: AttackedRelease, attack: Any, rng: np.random.Generator
) -> tuple[AttackedRelease, Any]:
    """Return the release with the people that the adversary knows, and the attack with the coverage of a register."""
    members, knowledge = population.members, _knowledge(cell.adversary)
    rows = members.complete_rows
    origin = locate_rows(scene.origin, rows) if scene.traced else scene.origin
    scene = replace(scene, foreign=not scene.traced, origin=origin)
    if isinstance(knowledge, Register):
        known_people = knowledge(members.take(rows), scene.origin, rng=rng)
        return replace(scene, known=known_people, drawn_from=math.inf), replace(attack, coverage=knowledge.coverage)
    auditor = _auditor(members, population.control, knowledge, cell.seed).complete
    drawn_from = float(members.take(rows).n_people)
    return auditor.add_control(replace(scene, known=auditor.known, drawn_from=drawn_from)), attack


@lru_cache(maxsize=2)
def _auditor(people: Table, control: Table | None, knowledge: Knowledge, seed: int) -> AuditorKnowledge:
    """Return the people that an audit of this seed attacks, and the control group."""
    return AuditorKnowledge(people, control=control, knowledge=knowledge, targets=knowledge.targets, seed=seed)


def _knowledge(adversary: Part) -> Knowledge | Register:
    """Return the knowledge of an adversary: a register of people, or quasi-identifiers of some of them."""
    settings: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in adversary.settings.get("knows", {}).items()
    }
    if adversary.use == "tables.RegisterAttack":
        return Register(**{**adversary.parameters, **settings})
    return Knowledge(**({"targets": None} if adversary.use in ATTACKS_ON_ALL else {}) | settings)


def _attacker(adversary: Part) -> Attacker | None:
    """Return the rational attacker: "case-study", or a table of their parameters."""
    settings = adversary.settings.get("attacker")
    if settings is None:
        return None
    return read_attacker(EMBEDDED) if settings == EMBEDDED else attacker_of(settings, "of the plan")


def _prices(adversary: Part, drawn_from: float | None) -> tuple[Measure, ...]:
    """Return the measures of a rational attacker; targets stand for `drawn_from` people, inf or None: themselves."""
    attacker, people = _attacker(adversary), None if drawn_from == math.inf else drawn_from
    return () if attacker is None else price_measures(attacker) + campaign_measures(attacker, people)


def measure_utility(cell: Cell, population: Table, release: Table, origin: Integers | None) -> list[Row]:
    """Return the remaining utility of a release as rows; 1 is the table before protection.

    If rows are not people, distributions of as many rows of either table are compared.
    """
    wanted = [name for name in UTILITY if cell.wants(name) and (origin is not None or name not in UTILITY_OF_ROWS)]
    if not wanted:
        return []
    n_released = release.n_rows
    if origin is None:
        n, rng = min(population.n_rows, release.n_rows), np.random.default_rng(0)
        population, release = (table.take(rng.permutation(table.n_rows)[:n]) for table in (population, release))
        origin = np.arange(n)
    loss = utility.evaluate(population, release, origin)
    remaining = {
        "utility": 1.0 - loss.gcp,
        "kept": release.n_rows / population.n_rows,
        "marginals": 1.0 - float(np.mean(list(loss.marginal_distance.values()))),
        "pairs": 1.0 - float(np.mean(list(loss.pairwise_distance.values()) or [0.0])),
        "counts": max(0.0, 1.0 - loss.query_error),
    }
    n_rows = {name: n_released if name == "utility" else population.n_rows for name in wanted}
    return [cell.row(name, "share", remaining[name], prior=1.0, n=n_rows[name], note=UTILITY[name]) for name in wanted]


def _measure_analyses(cell: Cell, population: Table, release: Table) -> list[Row]:
    """Return the utility of a release for the analyses of the document, 0 to 1, as rows."""
    analyses = tuple(cell.dataset.settings.get("analyses", ()))
    if not any(map(cell.wants, ANALYSES)):
        return []
    compared = _compare_analyses(population, release, analyses)
    values = {
        "analyses": [item.mean_overlap for item in compared if item.propensity is None],
        "propensity": [item.propensity.indistinguishable for item in compared if item.propensity is not None],
    }
    return [
        cell.row(name, "share", float(np.mean(values[name])), prior=1.0, n=population.n_rows, note=note)
        for name, note in ANALYSES.items()
        if values[name] and cell.wants(name)
    ]


@lru_cache(maxsize=2)
def _compare_analyses(population: Table, release: Table, analyses: tuple[str, ...]) -> tuple[utility.Comparison, ...]:
    """Return the analyses of a release, which do not depend on the adversary."""
    return utility.compare_analyses(population, release, analyses)
