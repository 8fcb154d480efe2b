"""Linkability: an adversary has some columns of people from one source, others from another, and the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.core.truth import Truth
from unmask.languages import mark
from unmask.measures.success import parts_linked
from unmask.results import Row
from unmask.results.names import PARTS
from unmask.scoring import Audit
from unmask.tables.attacks import Linkability, Parts
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, explain_shift
from unmask.tables.audit.control_comparison import LINKER
from unmask.tables.audit.not_run import list_differing_control
from unmask.tables.audit.perturbed import drop_unused_levels
from unmask.tables.control.similarity import shift_by
from unmask.tables.knowledge import Known
from unmask.tables.table import Table

MAX_TARGETS = 1000
"""People of either kind whose parts are mixed: more hardly narrow the interval, and cost their square."""

QUESTION = mark("Linkability of two parts of a record")


def audit_linkability(scene: AttackedRelease, knowledge: AuditorKnowledge) -> Audit:
    """Return how often a person's other part is found among those of others, for members and the control group.

    Each person's other part is among those of `MAX_TARGETS` people of their kind, drawn at random. The control
    group is left out if it differs from members in these columns, or lacks one of them.
    """
    if knowledge.parts is None:
        return Audit((), ((QUESTION, mark("needs two parts of columns (--parts age,sex:zip,job)")),))
    if scene.known is None:
        return Audit((), ((QUESTION, "needs the original table, whose people are linked (--original)"),))
    attack, reason = Linkability(parts=tuple(map(tuple, knowledge.parts))), _refuse_control(scene, knowledge)
    scene = replace(scene, control=None) if reason else scene
    rows = _link(scene, LINKER, attack, np.random.default_rng(knowledge.seed))
    return Audit(tuple(rows), ((f"{QUESTION}: members", reason),) if reason else ())


def _refuse_control(scene: AttackedRelease, knowledge: AuditorKnowledge) -> str:
    """Return why members are not compared with the control group; "" if they are."""
    if scene.control is None:
        needed = "not separated from what holds for everybody: needs a control group (--control)"
        return next((reason for _, reason in list_differing_control(knowledge)), needed)
    names = [*chain.from_iterable(knowledge.parts or ())]
    available = scene.control.population.names
    if lacking := [name for name in names if name not in available]:
        name = lacking[0]
        return f"the control group has no column {name!r}, which is in a part: give them with the columns of both parts"
    return knowledge.explain_shift(names)


def measure_linkability(
    scene: AttackedRelease, adversary: str, attack: Linkability, *, rng: np.random.Generator
) -> Sequence[Row]:
    """Return the row of one adversary of a study."""
    if not attack.parts:
        raise UnmaskError("the parts of records are missing; give two lists of columns as parts")
    if scene.known is not None and scene.control is not None:
        names = [*chain.from_iterable(attack.parts)]
        if reason := explain_shift(names, shift_by(names, scene.known.population, scene.control.population)):
            raise UnmaskError(reason)
    return _link(scene, adversary, attack, rng)


def _link(scene: AttackedRelease, adversary: str, attack: Linkability, rng: np.random.Generator) -> Sequence[Row]:
    assert scene.known is not None
    sides = [people.take_first_row_of_each_person() for people in (scene.known, scene.control) if people is not None]
    n = min(MAX_TARGETS, *(len(people.person) for people in sides))
    members, *control = (_link_people(scene, adversary, attack, people, n, rng) for people in sides)
    run = replace(members, control=control[0] if control else None, drawn_from=scene.drawn_from)
    return run.score([parts_linked]).rows


def _link_people(
    scene: AttackedRelease, adversary: str, attack: Linkability, people: Known, n: int, rng: np.random.Generator
) -> AttackRun:
    """Return the belief about the other parts of n people, in random order."""
    rows, order = people.person[:n], rng.permutation(n)
    part, other_part = (_known_by(people.population.take(rows), names) for names in attack.parts)
    release = _known_by(scene.table, [*chain.from_iterable(attack.parts)])
    belief = attack(release, Parts(part, other=other_part.take(order)))
    return AttackRun(scene.release, adversary, PARTS, belief, Truth(np.argsort(order)))


def _known_by(table: Table, names: Sequence[str]) -> Table:
    """Return the table with these columns known, without unused levels."""
    return table.known_by(drop_unused_levels(table.column(name)) for name in names)
