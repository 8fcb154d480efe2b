"""Study cells of tables: a protection, an adversary who knows some of the people, and the rows of the attack."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask import schema
from unmask.audit import STANDARD, campaign_measures, price_measures
from unmask.core.errors import NotRunError, UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.economics import Attacker, read_attacker
from unmask.economics.profile import EMBEDDED, attacker_of
from unmask.measures import Measure, registry
from unmask.plan import Cell, Part, check_keys
from unmask.reports.words import IDENTITY, MEMBERSHIP
from unmask.results import Row
from unmask.schema import Either, dict_of, list_of, parameters
from unmask.tables import utility
from unmask.tables.attacks import Linkability, SeveralRows, SinglingOut
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, placed
from unmask.tables.audit.collector import add_excluded_people
from unmask.tables.audit.linked_parts import linked
from unmask.tables.audit.linked_rows import asked
from unmask.tables.audit.membership import TOLD, asked_of, judged_of
from unmask.tables.audit.perturbed import refuse_contradicted
from unmask.tables.audit.release_facts import Counts
from unmask.tables.audit.singling_out import guessed
from unmask.tables.control.holdout import Sample, hold_back
from unmask.tables.criteria import Criteria
from unmask.tables.knowledge import Knowledge, Register
from unmask.tables.protections.generalization import Identity
from unmask.tables.protections.releasing import Released, make_release, read_like
from unmask.tables.reading import AS_TEXT, column_names
from unmask.tables.table import Table

COLUMNS = ("quasi_identifiers", "sensitive", "keep", "identifiers", "weight", "types", "orders", "hierarchies")
READING = (*COLUMNS, "person", "cells", "missing", "na", "decimal", "delimiter", "header", "encoding")
PROTECTION = {"synthetic": bool}
ADVERSARY = {
    "knows": schema.Table(
        {**parameters("unmask.tables.knowledge:Knowledge"), **parameters("unmask.tables.knowledge:Register")}
    ),
    "attacker": Either((str, dict_of(Any))),
}
ROLES: Mapping[str, str] = {"columns": "quasi_identifiers", "levels": "quasi_identifiers", "sensitive": "sensitive"}

KNOWS: Mapping[str, Sequence[str]] = {
    "tables.Linkability": ("targets",),
    "tables.SinglingOut": (),
    "tables.SeveralRows": ("targets", "columns"),
}
"""What may be said of those who know parts of people's records, nobody, or several of their rows."""

EVERYBODY = {"tables.ClassAttack", "tables.AttributeInference", "tables.BackOff", "tables.OrderAttack"}
"""Attacks that an audit runs on all people, and so does a study whose plan has no number of targets."""

USEFUL = {
    "utility": "1 - global certainty penalty",
    "kept": "rows that were released",
    "marginals": "1 - total variation of a column's distribution, mean over columns",
    "pairs": "1 - total variation of the joint distribution of two columns, mean over pairs",
    "counts": "1 - median relative error of random counting queries, at least 0",
}
"""What a release is still good for, between 0 and 1, and what that is."""

OF_ROWS = ("utility", "kept")
"""Of these, what is asked row by row: of whose record became what."""

_CASE = read_attacker(EMBEDDED)

MORE = {
    name: one
    for name, one in registry.MEASURES.items()
    if isinstance(one, Measure) and name not in {measure.name for measure in STANDARD}
}
"""Measures of any belief that a cell has if the plan names them."""

MEASURES = (
    *(measure.name for measure in (*STANDARD, *price_measures(_CASE), *campaign_measures(_CASE))),
    *TOLD,
    "singled_out",
    "singled_out_of_as_many",
    "parts_linked",
    *USEFUL,
    *MORE,
)

CRITERIA = (
    *(item.name for item in fields(Criteria) if not item.name.startswith(("journalist", "marketer"))),
    "k_people", "person_share", "near_average", "near_prior", "near_max", "replicated_uniques",
)  # fmt: skip
"""Criteria that a release of a study may have; no study has the register of a population."""


DATASET = {
    **parameters("unmask.tables:Table.read", *READING),
    **parameters("unmask.tables.audit.table_audit:audit", "hold_back"),
    "orders": dict_of(list_of(Any)),
    "control": str,
}


def check(adversary: Part) -> None:
    """Refuse what the adversary cannot know, two coverages of one register, and an attacker that cannot be read."""
    kind = Register if adversary.use == "tables.RegisterAttack" else Knowledge
    knows = adversary.settings.get("knows", {})
    names = KNOWS.get(adversary.use, list(inspect.signature(kind).parameters))
    check_keys(knows, names, "knows")
    said = [where["coverage"] for where in (knows, adversary.parameters) if "coverage" in where]
    if len(set(said)) > 1:
        raise UnmaskError(
            f"coverage is {said[0]} in knows and {said[1]} in with or grid; say it once, it holds for the register and "
            "for the attack"
        )
    _known(adversary)
    _attacker(adversary)


def answers(adversary: Part, attack: Any) -> tuple[str, Sequence[str]]:
    """Return what an attack of a study is after, and the measures that its cells may have."""
    if getattr(attack, "asks", "") == MEMBERSHIP:
        return MEMBERSHIP, (*TOLD, *(measure.name for measure in STANDARD))
    if isinstance(attack, SinglingOut | Linkability):
        return IDENTITY, ("singled_out", "singled_out_of_as_many", "parts_linked")
    prices = (measure.name for measure in _prices(adversary, None))
    standard = (*(measure.name for measure in STANDARD), *USEFUL)
    return getattr(attack, "sensitive", IDENTITY), (*standard, *prices)


def columns(dataset: Part) -> list[str]:
    """The columns of a table's file."""
    given = dataset.settings
    named = [name for role in COLUMNS[:4] for name in given.get(role, ())]
    return column_names(given["file"], named=named, **{key: given[key] for key in AS_TEXT if key in given})


def load(dataset: Part, made: Any) -> Sample:
    """The table; what a function returns already as a table is taken as it is. Control people are from a file."""
    reading = {key: value for key, value in dataset.settings.items() if key in READING}
    table = made if isinstance(made, Table) else Table.read(made, **{"quasi_identifiers": (), **reading})
    if "control" not in dataset.settings:
        return Sample(table)
    return Sample(table, Table.read(dataset.settings["control"], **{**reading, "like": table}))


def divide(dataset: Part, people: Sample, rng: np.random.Generator) -> Sample:
    """Hold back a share of the population of one seed; the others are members."""
    return hold_back(people.members, dataset.settings["hold_back"], rng=rng)


def protect(population: Sample, protection: Any, rng: np.random.Generator) -> Released:
    """Return the release of the members, and the member behind each row; protection may be a release in a file."""
    if protection is None:
        protection = _unchanged
    if isinstance(protection, Path):
        if population.held is not None:
            raise UnmaskError(
                "a release in a file was made before anybody was held back; give control people in a file"
            )
        return Released(read_like(protection, population.members))
    return make_release(protection, population.members, rng=rng)


def _unchanged(table: Table, *, rng: np.random.Generator) -> tuple[Table, NDArray[np.int64]]:  # noqa: ARG001
    return table, np.arange(table.n_rows)


def attack(cell: Cell, population: Sample, made: Released, attack: Any) -> list[Row]:
    """The rows of the belief, and what the protection cost."""
    people, knows = population.members, _known(cell.adversary)
    release, origin, protection = made
    if cell.protection.settings.get("synthetic"):
        origin = None
    scene = AttackedRelease.of(cell.protection.name, release, origin)
    useful = left_of(cell, people, release, origin)
    rng = np.random.default_rng(cell.seed)
    attack = _informed(attack, protection)
    if getattr(attack, "asks", "") == MEMBERSHIP:
        assert isinstance(knows, Knowledge)
        judged = judged_of(population, made, knows, rng)
        return [*asked_of(scene, cell.adversary.name, judged, attack, rng=rng).rows, *useful]
    if isinstance(attack, SinglingOut):
        return [*guessed(scene, cell.adversary.name, attack, (people, population.control), rng=rng), *useful]
    scene, attack = _known_to(cell, population, scene, attack, rng)
    if isinstance(attack, Linkability):
        return [*linked(scene, cell.adversary.name, attack, rng=rng), *useful]
    refuse_contradicted(scene, attack)
    case = asked(scene, cell.adversary.name, attack, rng)
    wanted = [measure for measure in STANDARD + _prices(cell.adversary, case.drawn_from) if cell.wants(measure.name)]
    wanted += [MORE[name] for name in cell.measures if name in MORE]
    return [*add_excluded_people(case.audited(wanted).rows, release), *useful]


def criteria(cell: Cell, population: Sample, made: Released) -> dict[str, float]:
    """Return the criteria of the release that are numbers, as an audit with the same original and origin has them."""
    (release, origin, _), people, name = made, population.members, cell.protection.name
    origin = None if cell.protection.settings.get("synthetic") else origin
    evidence = AuditorKnowledge(people, {} if origin is None else {name: origin})
    counts = Counts(name, release, evidence.complete.original, origin is None, evidence.people_of(name, release))
    return {name: float(value) for name, value in counts.criteria().items() if isinstance(value, int | float)}


def believed(cell: Cell, population: Sample, made: Released, attack: Any) -> tuple[Posterior, Truth | None, float]:
    """What an adversary believes about whose record is whose, the truth, and the utility of the release."""
    release, origin, protection = made
    _one_row_each(population.members)
    if cell.protection.settings.get("synthetic") or origin is None:
        raise UnmaskError(f"the rows of {cell.protection.name} are nobody's, so that nobody is re-identified by them")
    cell = replace(cell, adversary=_of_everybody(cell.adversary))
    rng = np.random.default_rng(cell.seed)
    scene = AttackedRelease.of(cell.protection.name, release, origin)
    scene, attack = _known_to(cell, population, scene, _informed(attack, protection), rng)
    refuse_contradicted(scene, attack)
    others = SinglingOut | Linkability | SeveralRows
    case = None if isinstance(attack, others) else scene.case(cell.adversary.name, attack)
    if case is None or case.target != "identity":
        raise UnmaskError(f"adversary {cell.adversary.name!r} does not ask whose record is whose")
    useful = {row.measure: row.posterior for row in left_of(cell, population.members, release, origin)}
    return case.belief, case.truth, useful["utility"]


def _one_row_each(table: Table) -> None:
    """Refuse a game about people with several rows, each of whom it would count as often."""
    if table.person is not None:
        raise NotRunError(
            f"a game counts each row as a person, and {table.n_rows:,} rows are of {table.n_people:,} people; keep "
            "one row of each, or price an audit (--attacker)"
        )


def _of_everybody(adversary: Part) -> Part:
    """The adversary of a game, who knows everybody unless the plan says how many people: a study may draw some and say
    so, a campaign is against all.
    """
    if adversary.use == "tables.RegisterAttack":
        return adversary
    knows = {"targets": None, **adversary.settings.get("knows", {})}
    return replace(adversary, settings={**adversary.settings, "knows": knows})


def _informed(attack: Any, protection: Any) -> Any:
    """The attack, with the protection that it is told of."""
    if not hasattr(attack, "knowing"):
        return attack
    return attack.knowing(Identity() if protection is _unchanged else protection)


def _known_to(
    cell: Cell, population: Sample, scene: AttackedRelease, attack: Any, rng: np.random.Generator
) -> tuple[AttackedRelease, Any]:
    """The scene with the people whom this adversary knows, and the attack with the coverage of their register."""
    people, knows = population.members, _known(cell.adversary)
    kept = people.complete_rows
    origin = placed(scene.origin, among=kept) if scene.traced else scene.origin
    scene = replace(scene, foreign=not scene.traced, origin=origin)
    if isinstance(knows, Register):
        known = knows(people.take(kept), scene.origin, rng=rng)
        return replace(scene, known=known, drawn_from=math.inf), replace(attack, coverage=knows.coverage)
    evidence = _evidence(people, population.control, knows, cell.seed).complete
    drawn_from = float(people.take(kept).n_people)
    return evidence.beside(replace(scene, known=evidence.known, drawn_from=drawn_from)), attack


@lru_cache(maxsize=2)
def _evidence(people: Table, control: Table | None, knows: Knowledge, seed: int) -> AuditorKnowledge:
    """Return the people whom an audit of this seed attacks, and the control people next to them."""
    return AuditorKnowledge(people, control=control, knowledge=knows, targets=knows.targets, seed=seed)


def _known(adversary: Part) -> Knowledge | Register:
    """What the adversary knows: a register of people, or the quasi-identifiers of some of them."""
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in adversary.settings.get("knows", {}).items()
    }
    if adversary.use != "tables.RegisterAttack":
        return Knowledge(**({"targets": None} if adversary.use in EVERYBODY else {}) | given)
    return Register(**{**adversary.parameters, **given})


def _attacker(adversary: Part) -> Attacker | None:
    """The rational attacker: "case-study", or a table of their parameters."""
    given = adversary.settings.get("attacker")
    if given is None or given == EMBEDDED:
        return None if given is None else read_attacker(EMBEDDED)
    return attacker_of(given, "of the plan")


def _prices(adversary: Part, drawn_from: float | None) -> tuple[Measure, ...]:
    """What the rational attacker does; drawn_from : how many the targets stand for, inf or None for themselves."""
    attacker, people = _attacker(adversary), None if drawn_from == math.inf else drawn_from
    return () if attacker is None else price_measures(attacker) + campaign_measures(attacker, people)


def left_of(cell: Cell, population: Table, release: Table, origin: NDArray[np.int64] | None) -> list[Row]:
    """What the release is still good for, as rows like any other: 1 is the table before protection. Of rows that are
    nobody's it is what distributions say, of as many rows as both tables have.
    """
    wanted = [name for name in USEFUL if cell.wants(name) and (origin is not None or name not in OF_ROWS)]
    if not wanted:
        return []
    n_rows = release.n_rows
    if origin is None:
        population, release, origin = _side_by_side(population, release)
    lost = utility.evaluate(population, release, origin)
    left = {
        "utility": 1.0 - lost.gcp,
        "kept": release.n_rows / population.n_rows,
        "marginals": 1.0 - float(np.mean(list(lost.marginal_distance.values()))),
        "pairs": 1.0 - float(np.mean(list(lost.pairwise_distance.values()) or [0.0])),
        "counts": max(0.0, 1.0 - lost.query_error),
    }
    n = {"utility": n_rows}
    return [
        cell.row(name, "share", left[name], prior=1.0, n=n.get(name, population.n_rows), note=USEFUL[name])
        for name in wanted
    ]


def _side_by_side(population: Table, release: Table) -> tuple[Table, Table, NDArray[np.int64]]:
    """As many rows of either table as the smaller one has, drawn; which stands beside which says nothing."""
    n, rng = min(population.n_rows, release.n_rows), np.random.default_rng(0)
    one, other = (table.take(rng.permutation(table.n_rows)[:n]) for table in (population, release))
    return one, other, np.arange(n)
