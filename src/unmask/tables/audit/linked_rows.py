"""A release that says which of its rows are one person's: whoever knows some of a person's rows has them all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import by_class
from unmask.core.errors import NotRunError
from unmask.core.truth import Truth
from unmask.reports.data import SEVERAL
from unmask.tables.attacks import SeveralRows, Traces
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.mechanism_aware import drawn
from unmask.tables.audit.several_records import pseudonym, repeated
from unmask.tables.column import Column

SEEN = 4
"""How often each person was seen."""

MOST, PAIRS = 1000, 20_000_000
"""People who are looked for; pairs of one of them and a pseudonym, beyond the first few people."""

NONE = "no kept column has values that are each one person's, so no rows are put together"

ONE_ROW = (
    "the column {} says which rows are one person's, and here one of them is known: tables.SeveralRows knows several"
)


def by_traces(scene: AttackedRelease, evidence: AuditorKnowledge) -> Iterator[AttackRun]:
    """Which pseudonym is whose, for who has seen each person `SEEN` times; nothing where no column is one."""
    case = put_together(scene, SEVERAL, SeveralRows(SEEN), rng=np.random.default_rng(evidence.seed))
    if case is not None:
        yield case


def asked(scene: AttackedRelease, adversary: str, attack: Any, rng: np.random.Generator) -> AttackRun:
    """What an adversary of a study believes, of people or of those whose rows are put together."""
    if isinstance(attack, SeveralRows):
        assert scene.known is not None
        case = put_together(scene, adversary, attack, rng=rng, most=scene.known.n_people)
        if case is None:
            raise NotRunError(NONE)
        return case
    case, column = scene.case(adversary, attack), whose(scene)
    said = "" if column is None else ONE_ROW.format(column.name)
    return replace(case, note="; ".join(filter(None, (case.note, said))))


def put_together(
    scene: AttackedRelease, adversary: str, attack: SeveralRows, *, rng: np.random.Generator, most: int = MOST
) -> AttackRun | None:
    """Which pseudonym is whose; None where no column is one. most : pseudonyms that are looked for"""
    if (column := whose(scene)) is None:
        return None
    values, own = np.unique(column.codes, return_inverse=True)
    n = len(values)
    some = drawn(n, min(most, max(PAIRS // n, 1)), rng)
    row = _seen(own, n, attack.times, rng)[some]
    if scene.known is None:
        belief = attack(scene.table, Traces(None, seen=row, pseudonym=own))
        return AttackRun(scene.release, adversary, "identity", belief, None, row[:, 0], drawn_from=n)
    rows, population = scene.origin[row], scene.known.population
    columns = tuple(population.column(one.name) for one in scene.known.people.quasi_identifiers)
    seen = replace(population, quasi_identifiers=columns, sensitive=(), kept=(), weight=None).take(rows.ravel())
    belief = attack(scene.table, Traces(seen, seen=np.arange(row.size).reshape(row.shape), pseudonym=own))
    return AttackRun(scene.release, adversary, "identity", belief, Truth(some), rows[:, 0], drawn_from=n)


def whose(scene: AttackedRelease) -> Column | None:
    """The column that says which rows are one person's; without an original one that by its name may be such."""
    if scene.foreign:
        return None
    if scene.known is None:
        found = pseudonym(scene.table.kept, scene.table.person)
        return found or (next(repeated(scene.table.kept), None) if scene.table.person is None else None)
    person = scene.known.population.person
    if not scene.traced or person is None or np.any(scene.origin < 0):
        return None
    return pseudonym(scene.table.kept, person[scene.origin])


def _seen(pseudonym: NDArray[np.int64], n: int, times: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(n, times) rows of each pseudonym, drawn at random."""
    order, size = by_class(pseudonym.astype(np.int32), n), np.bincount(pseudonym, minlength=n)
    first = np.cumsum(size) - size
    return np.asarray(order[first[:, None] + rng.integers(0, size[:, None], (n, times))], dtype=np.int64)
