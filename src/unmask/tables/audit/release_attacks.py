"""The attacks of an audit of tables on one release: standard adversaries, and attacks that a user adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from unmask.core.errors import NotRunError, UnmaskError
from unmask.core.posterior import Posterior
from unmask.results import Row
from unmask.results.names import (
    ACQUAINTANCE,
    IDENTITY,
    INSIDER,
    JOURNALIST,
    MEMBERSHIP,
    MODELER,
    OBSERVER,
    ORDER_READER,
    PROSECUTOR,
)
from unmask.results.rows import ORIGINAL
from unmask.scoring import Audit
from unmask.tables.attacks import (
    AttributeInference,
    BackOff,
    Linkability,
    MechanismAttack,
    OrderAttack,
    RegisterAttack,
    SeveralRows,
    SinglingOut,
    StringLinkage,
)
from unmask.tables.attacks.strings import EqualCells
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, Release, locate_rows
from unmask.tables.audit.linked_parts import audit_linkability
from unmask.tables.audit.linked_rows import SEEN, attack_person, link_rows
from unmask.tables.audit.membership_audit import audit_membership
from unmask.tables.audit.perturbed import attack_by_distance, attack_by_mechanism, refuse_perturbed
from unmask.tables.audit.singling_out import audit_singling_out
from unmask.tables.column import Column
from unmask.tables.table import Table


def attack_release(release: Release, knowledge: AuditorKnowledge) -> Iterator[AttackRun | Audit]:
    """Yield the beliefs of all adversaries about a release, and the rows of further questions.

    Parameters
    ----------
    release : Release
        Release, or the table before protection (`ORIGINAL`).
    knowledge : AuditorKnowledge
        The complete knowledge of the auditor.
    """
    origin = knowledge.origins.get(release.name)
    if release.name == ORIGINAL:
        origin = locate_rows(np.arange(release.table.n_rows), release.complete_rows)
    scene = knowledge.add_control(release.attacked(origin, knowledge.known))
    yield from _attack_by_quasi_identifiers(scene)
    if scene.table.uncounted:
        if scene.table.record_sizes is not None:
            yield scene.attack_equal_records(ACQUAINTANCE)
    else:
        yield from _attack_by_columns(scene)
    if not scene.foreign:
        yield from _attack_rows(scene, knowledge)
    if release.name != ORIGINAL and release.has_rows:
        yield from run_requested_attacks(scene, knowledge.attacks, knowledge.seed)
        yield from attack_by_mechanism(scene, knowledge)
        yield from attack_by_distance(scene, knowledge)
        yield audit_membership(scene, knowledge)
        yield audit_singling_out(scene, knowledge)
        yield audit_linkability(scene, knowledge)


def _attack_by_quasi_identifiers(scene: AttackedRelease) -> Iterator[AttackRun | Audit]:
    link = scene.link()
    if not scene.foreign:
        yield scene.identify(PROSECUTOR, link)
    for column in scene.table.sensitive:
        yield from infer_value(scene, column, link)


def infer_value(scene: AttackedRelease, column: Column, link: Posterior) -> Iterator[AttackRun | Audit]:
    """Yield beliefs about a value, from the records that may be a person's and from all rows.

    Either is the baseline of the other. If the rows are not people of the original, only all rows are used.
    """
    attack, learner = AttributeInference(column.name), BackOff(column.name)
    if scene.known is None:
        yield scene.infer(PROSECUTOR, attack, link)
        return
    try:
        if scene.control is not None:  # with the strengths for the people attacked
            learner = learner.tune(scene.table, scene.background_of(column.name, scene.known))
        learned = scene.prepare_learner(learner)
        learned(scene.known)
    except NotRunError as error:
        yield _not_learned(column, error)
        yield scene.infer(PROSECUTOR, attack, link)
        return
    if not scene.foreign:
        yield scene.infer(PROSECUTOR, attack, link, learned=learned)
    yield scene.learn(MODELER, column.name, learned)


def _not_learned(column: Column, error: NotRunError) -> Audit:
    return Audit((), ((f"Inference of {column.name} from all rows", str(error)),))


def _attack_by_columns(scene: AttackedRelease) -> Iterator[AttackRun | Audit]:
    """Yield beliefs of adversaries who know released columns besides the quasi-identifiers, as exact values.

    A value is inferred from every kept column; by the insider from the other sensitive ones, too. Without an original
    each person is known by their own row.
    """
    unprotected, sensitive = scene.unchanged_columns(scene.table.kept), scene.unchanged_columns(scene.table.sensitive)
    if unprotected:
        acquainted = scene.know(unprotected)
        link = acquainted.link()
        if not scene.foreign:
            yield acquainted.identify(ACQUAINTANCE, link)
        for column in scene.table.sensitive:
            yield _infer_by_columns(acquainted, ACQUAINTANCE, column, link)
    if sensitive and not scene.foreign:
        yield _identify_by_columns(scene.know([*unprotected, *sensitive]), INSIDER)
    for column in sensitive if len(sensitive) > 1 else ():
        inside = scene.know([*unprotected, *(known_column for known_column in sensitive if known_column is not column)])
        yield _infer_by_columns(inside, INSIDER, column, inside.link())


def _identify_by_columns(scene: AttackedRelease, adversary: str) -> AttackRun:
    """Return the belief about records; it does not keep the scene, whose classes may be as many as the rows."""
    return scene.identify(adversary, scene.link())


def _infer_by_columns(scene: AttackedRelease, adversary: str, column: Column, link: Posterior) -> AttackRun | Audit:
    if not scene.foreign:
        return scene.infer(adversary, AttributeInference(column.name), link)
    try:
        return scene.learn(adversary, column.name, scene.prepare_learner(BackOff(column.name)))
    except NotRunError as error:
        return _not_learned(column, error)


def _attack_rows(scene: AttackedRelease, knowledge: AuditorKnowledge) -> Iterator[AttackRun]:
    """Yield beliefs from a register, from the order of rows, and from several rows of each person."""
    if knowledge.register is not None:
        attack = RegisterAttack(coverage=knowledge.coverage)
        yield scene.attack_register(JOURNALIST, attack, knowledge.register, knowledge.register_origin)
    if scene.known is not None:
        yield scene.attack_order(ORDER_READER, OrderAttack())
    linked = link_rows(scene, OBSERVER, SeveralRows(SEEN), np.random.default_rng(knowledge.seed))
    if linked is not None:
        yield linked


# --- attacks that a user adds -----------------------------------------------------------------------------------------

TEXT_EQUALITY = "text equality finds nothing in generalized cells"
"""Caution about a linkage by equal strings."""


def check_attacks(attacks: Mapping[str, Any]) -> None:
    """Raise an error for an attack that needs more than people and a release."""
    for name, attack in attacks.items():
        needs_more = isinstance(attack, SinglingOut | Linkability | SeveralRows | MechanismAttack)
        if needs_more or getattr(attack, "asks", "") == MEMBERSHIP:
            raise UnmaskError(
                f"{name} needs more than people and a release. Every audit runs it with its default parameters if "
                "its tables were given; a study with [[adversaries]] sets others"
            )


def run_requested_attacks(scene: AttackedRelease, attacks: Mapping[str, Any], seed: int) -> Iterator[AttackRun | Audit]:
    """Yield the belief of each attack, as in a study, or the reason why it is not run.

    Parameters
    ----------
    scene : AttackedRelease
        Release, with the people known.
    attacks : mapping
        Name of the adversary -> attack.
    seed : int
        Seed of attacks that draw.
    """
    for name, attack in attacks.items():
        try:
            refuse_perturbed(scene, attack)
            yield attack_person(scene, name, attack, np.random.default_rng(seed))
        except NotRunError as error:
            yield Audit((), ((f"The attack {name} on {scene.release}", str(error)),))
            continue
        if isinstance(attack, StringLinkage) and attack.neighbors is not None:
            assert scene.background is not None
            counted = attack.count_equal_cells(scene.table, scene.background)
            yield Audit((_make_row(scene, name, counted),))


def _make_row(scene: AttackedRelease, adversary: str, counted: EqualCells) -> Row:
    """Return the count of equal cells as a row."""
    assert scene.known is not None
    n, value = len(scene.known.person), float(counted.equal)
    note = f"of {counted.compared:,} compared cells; {counted.linked:,} of {n:,} people are linked"
    return Row.of_number(
        value, release=scene.release, adversary=adversary, target=IDENTITY, measure="equal_cells",
        unit="cells", n=n, quantiles=(value,) * 5,
        interval="none: a count of cells", status="scores", note=note,
    )  # fmt: skip


def has_generalized_cells(table: Table) -> bool:
    """Return whether a quasi-identifier has a cell that stands for several values."""
    return any(bool((column.levels.is_set & (column.counts > 0)).any()) for column in table.quasi_identifiers)
