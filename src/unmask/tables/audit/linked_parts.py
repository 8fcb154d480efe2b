"""Can they link two parts of a record? Some columns of people in one place, others in another, and the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from unmask.audit import Audit
from unmask.core.errors import UnmaskError
from unmask.core.truth import Truth
from unmask.measures.success import parts_linked
from unmask.reports.facts.wp216 import LINKER, PARTS
from unmask.results import Row
from unmask.tables.attacks import Linkability, Parts
from unmask.tables.audit import assumptions
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, unlike
from unmask.tables.column import Column
from unmask.tables.control.similarity import shift_by
from unmask.tables.knowledge import Known
from unmask.tables.table import Table

TARGETS = 1000
"""People of either kind whose parts are mixed: more hardly narrow the interval, and cost their square."""

WHAT = "Linkability of two parts of a record"
NEEDS_PARTS = "needs two parts of columns (--parts age,sex:zip,job)"
NEEDS_PEOPLE = "needs the original table, whose people are linked (--original)"
NEEDS_CONTROL = "not separated from what holds for everybody: needs control people (--control)"

LACKS = "control people have no column {!r}, which is in a part: give them with the columns of both parts"


def linkability(scene: AttackedRelease, evidence: AuditorKnowledge) -> Audit:
    """How often the other part of a person's record is told from those of others, of members and of control people.

    Either are `TARGETS`, as many of both, drawn at random. Each person's other part is among those of their own kind.
    Control people whom these columns tell from members, or who lack one, say nothing beside them.
    """
    if evidence.parts is None or scene.known is None:
        return Audit((), ((WHAT, NEEDS_PEOPLE if evidence.parts else NEEDS_PARTS),))
    attack, why = Linkability(parts=evidence.parts), ""
    if scene.control is not None:
        names, there = [*chain.from_iterable(evidence.parts)], scene.control.population.names
        lacking = [name for name in names if name not in there]
        why = LACKS.format(lacking[0]) if lacking else evidence.unlike(names)
    rows = _rows(replace(scene, control=None) if why else scene, LINKER, attack, np.random.default_rng(evidence.seed))
    apart = (said for _, said in assumptions.unlike(evidence))
    missing = why or ("" if scene.control else next(apart, NEEDS_CONTROL))
    return Audit(tuple(rows), ((f"{WHAT}: members", missing),) if missing else ())


def linked(scene: AttackedRelease, adversary: str, attack: Linkability, *, rng: np.random.Generator) -> Sequence[Row]:
    """The row of one adversary of a study."""
    if not attack.parts:
        raise UnmaskError("no parts of records are named; give two lists of columns as parts")
    if scene.known is not None and scene.control is not None:
        names = [*chain.from_iterable(attack.parts)]
        if why := unlike(names, shift_by(names, scene.known.population, scene.control.population)):
            raise UnmaskError(why)
    return _rows(scene, adversary, attack, rng)


def _rows(scene: AttackedRelease, adversary: str, attack: Linkability, rng: np.random.Generator) -> Sequence[Row]:
    assert scene.known is not None
    sides = [one.one_each() for one in (scene.known, scene.control) if one is not None]
    n = min(TARGETS, *(len(one.person) for one in sides))
    members, *control = (_linked(scene, adversary, attack, known, n, rng) for known in sides)
    found = replace(members, control=next(iter(control), None), drawn_from=scene.drawn_from)
    return found.audited([parts_linked]).rows


def _linked(
    scene: AttackedRelease, adversary: str, attack: Linkability, known: Known, n: int, rng: np.random.Generator
) -> AttackRun:
    """The belief about n people of a population."""
    rows, order = known.person[:n], rng.permutation(n)
    one, other = (_with(known.population.take(rows), names) for names in attack.parts)
    belief = attack(_with(scene.table, [*attack.parts[0], *attack.parts[1]]), Parts(one, other=other.take(order)))
    return AttackRun(scene.release, adversary, PARTS, belief, Truth(np.argsort(order)))


def _with(table: Table, names: tuple[str, ...] | list[str]) -> Table:
    """The table, of which these columns are known; of their levels those that a row has."""
    columns = tuple(_seen(table.column(name)) for name in names)
    return replace(table, quasi_identifiers=columns, sensitive=(), kept=(), weight=None)


def _seen(column: Column) -> Column:
    there, codes = np.unique(column.codes, return_inverse=True)
    return replace(column, codes=codes.astype(np.int32), levels=column.levels.select(there.tolist()))
