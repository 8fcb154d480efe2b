"""Audits of tables: the standard adversaries attack releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from numpy.typing import ArrayLike

from unmask.core.errors import UnmaskError, nearest
from unmask.domains import name_releases
from unmask.economics import Attacker
from unmask.economics.audit import AttackerSource
from unmask.ranges import Range
from unmask.reports import ReportData
from unmask.reports.at_risk import Watched
from unmask.tables.audit import assumptions
from unmask.tables.audit.attacked_release import OPTIONAL
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, of_each, row_numbers, two_parts
from unmask.tables.audit.generalization_steps import steps as tried
from unmask.tables.audit.harmonize import as_read
from unmask.tables.audit.result import add_steps
from unmask.tables.audit.standard_attacks import audit_tables
from unmask.tables.table import Table


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
    evidence = AuditorKnowledge(
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
    motive = None if attacker is None else AttackerSource.read(attacker)
    titled = f"Audit of {', '.join(releases)}"
    found = audit_tables(releases, evidence, title=titled, motive=motive).cautioned(read.cautions)
    if unlinked:
        found = replace(
            found, not_run=(*(line for line in found.not_run if line != assumptions.NO_REGISTER), assumptions.UNLINKED)
        )
    if steps and found.result is not None:
        found = replace(found, result=add_steps(found.result, tried(found, releases, evidence)))
    return found


def _left_out(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in OPTIONAL:
            raise UnmaskError(f"without is {name!r}; {nearest(name, OPTIONAL)}")
    return tuple(dict.fromkeys(names))
