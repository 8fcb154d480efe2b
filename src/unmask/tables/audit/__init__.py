"""Audits of tables, and cells of studies of tables.

`audit` runs the standard adversaries against releases. In a cell of a study, a table is protected, the
adversary knows some of its people, and looks for their records or values.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask import schema
from unmask.audit import STANDARD, campaign_measures, price_measures
from unmask.core.errors import NotRunError, UnmaskError, nearest
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.domains import name_releases
from unmask.economics import Attacker, read_attacker
from unmask.economics.profile import EMBEDDED, attacker_of
from unmask.measures import Measure, registry
from unmask.plan import Cell, Part, check_keys
from unmask.pricing import Motive
from unmask.ranges import Range
from unmask.reports import ReportData
from unmask.reports.at_risk import Watched
from unmask.reports.words import IDENTITY, MEMBERSHIP
from unmask.results import Row
from unmask.schema import Either, dict_of, list_of, parameters
from unmask.tables.attacks import Linkability, SeveralRows, SinglingOut
from unmask.tables.audit import words
from unmask.tables.audit.as_read import as_read
from unmask.tables.audit.case import OPTIONAL, Scene
from unmask.tables.audit.evidence import Evidence, of_each, placed, row_numbers, two_parts
from unmask.tables.audit.facts import Counts
from unmask.tables.audit.found import add_excluded_people
from unmask.tables.audit.membership import TOLD, asked_of, judged_of
from unmask.tables.audit.moved import refuse_contradicted
from unmask.tables.audit.parts import linked
from unmask.tables.audit.singling import guessed
from unmask.tables.audit.standard import audit_tables
from unmask.tables.audit.steps import steps as tried
from unmask.tables.audit.traces import asked
from unmask.tables.audit.useful import USEFUL, left_of
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


def audit(
    release: Table | Mapping[str, Table],
    *,
    truth: None = None,
    original: Table | None = None,
    origin: ArrayLike | Mapping[str, ArrayLike] | None = None,
    register: Table | None = None,
    register_origin: ArrayLike | None = None,
    coverage: Annotated[float, Range(0, 1, above=True)] = 1.0,
    control: Table | None = None,
    hold_back: Annotated[float, Range(0, 1, below=True)] = 0.0,
    synthetic: bool = False,
    parts: tuple[Sequence[str], Sequence[str]] | None = None,
    targets: Annotated[int, Range(1)] | None = None,
    attacker: str | Attacker | None = None,
    seed: Annotated[int, Range(0)] = 0,
    steps: bool = False,
    without: Sequence[str] = (),
    together: bool = False,
    protection: Any = None,
    watched: Watched | None = None,
) -> ReportData:
    """Attack releases of a table: how many people are re-identified, and what is inferred about them.

    original : table before protection: gives targets and truth
    origin   : row of the original behind each record. (n_released,), of one release or by release; without it the
               realized identity success is not run
    register : table of people with some of the quasi-identifiers
    register_origin : (n_register,) the row of the original that each of them is, below 0 for others
    coverage : probability that the person behind a record is in the register
    control  : table of people like those of the original, none of whom is in it: tells what being in the table added
    hold_back : share of the original that was held back at random: who of it is in no release is a control person
    synthetic : no row of the releases is anybody's; only what they tell about values is asked
    parts    : two parts of columns, A,B:C,D, that an adversary has from two sources and tries to link
    targets  : number of people attacked, drawn from the original; all when left out
    attacker : rational attacker: a TOML file with [attacker], or case-study, the embedded assumption
    seed     : random seed of every draw
    steps    : try one step of generalization of each quasi-identifier, of releases whose original and origin are given
    without  : standard adversaries to leave out: all columns, insider, learner, order, several rows; listed as not run
    together : all the releases are published, and somebody crosses them; else one of them is, and they are compared
    protection : the protection that made the release, which another adversary knows; one for all, or by release
    watched  : takes down who is at risk, for the owner alone
    """
    if truth is not None:
        raise UnmaskError("the truth of a table is its original and the origin of its rows; give original and origin")
    releases = name_releases(release)
    origins = {
        name: row_numbers("origin", rows, releases[name]) for name, rows in of_each("origin", origin, releases).items()
    }
    made = of_each("protection", protection, releases)
    needs = {"origin": origins or None, "targets": targets, "register_origin": register_origin}
    if original is None and (lone := next((name for name, one in needs.items() if one is not None), None)):
        raise UnmaskError(f"{lone} is about rows of the original, and no original was given; give both")
    if original is None and made:
        raise UnmaskError("protection needs the original of the release, and no original was given; give both")
    if synthetic and (original is None or origins):
        why = "no original was given, whose people it may tell about" if original is None else "an origin says whose"
        raise UnmaskError(f"synthetic says that no row is anybody's, but {why}; give the original and no origin")
    if hold_back and (control is not None or len(origins) < len(releases)):
        why = "control people were given, too" if control is not None else "a release has no origin"
        raise UnmaskError(
            f"hold_back finds control people by the origin of the records, but {why}; give one of the two"
        )
    if register is None and coverage != 1:
        raise UnmaskError(f"coverage is {coverage:g} of a register, and no register was given; give both")
    unlinked = register is not None and original is not None and original.person is not None
    if unlinked:
        register = register_origin = None
    read = as_read(original, control, releases, register=register, origins=origins, made=made)
    original, releases = read.original, read.releases
    evidence = Evidence(
        original=original,
        origins=origins,
        register=register,
        coverage=coverage,
        register_origin=None if register_origin is None else row_numbers("register_origin", register_origin, register),
        control=read.control,
        synthetic=synthetic,
        parts=None
        if parts is None
        else two_parts(parts, *releases.values(), *(() if original is None else (original,))),
        targets=targets,
        seed=seed,
        watched=watched,
        without=_left_out(without),
        together=together,
        protections=made,
    )
    evidence = evidence.divided(hold_back) if hold_back else evidence
    motive = None if attacker is None else Motive.of(attacker)
    titled = f"Audit of {', '.join(releases)}"
    found = audit_tables(releases, evidence, title=titled, motive=motive).cautioned(read.cautions)
    if unlinked:
        found = replace(found, not_run=(*(line for line in found.not_run if line != words.NO_REGISTER), words.UNLINKED))
    return replace(found, steps=tuple(tried(found, releases, evidence))) if steps else found


def _left_out(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in OPTIONAL:
            raise UnmaskError(f"without is {name!r}; {nearest(name, OPTIONAL)}")
    return tuple(dict.fromkeys(names))


DATASET = {
    **parameters("unmask.tables:Table.read", *READING),
    **parameters("unmask.tables.audit:audit", "hold_back"),
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
    scene = Scene.of(cell.protection.name, release, origin)
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
    evidence = Evidence(people, {} if origin is None else {name: origin})
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
    scene = Scene.of(cell.protection.name, release, origin)
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


def _known_to(cell: Cell, population: Sample, scene: Scene, attack: Any, rng: np.random.Generator) -> tuple[Scene, Any]:
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
def _evidence(people: Table, control: Table | None, knows: Knowledge, seed: int) -> Evidence:
    """Return the people whom an audit of this seed attacks, and the control people next to them."""
    return Evidence(people, control=control, knowledge=knows, targets=knows.targets, seed=seed)


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
