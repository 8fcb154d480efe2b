"""A release that says which of its rows are one person's: whoever knows some of a person's rows has them all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unmask.cases.tables.case import Case, Scene
from unmask.cases.tables.evidence import Evidence
from unmask.cases.tables.mechanism import drawn
from unmask.cases.tables.persons import pseudonym, repeated
from unmask.reports.data import SEVERAL
from unmask.segments import by_class
from unmask.tables.attacks import ClassAttack, of_pseudonyms
from unmask.tables.background import Background
from unmask.tables.column import Column
from unmask.tables.counted import Combinations
from unmask.truth import Truth

SEEN = 4
"""How often each person was seen."""

MOST, PAIRS = 1000, 20_000_000
"""People who are looked for; pairs of one of them and a pseudonym, beyond the first few people."""


def by_traces(scene: Scene, evidence: Evidence) -> Iterator[Case]:
    """Which pseudonym is whose, for who has seen each person `SEEN` times; nothing where no column is one."""
    if scene.foreign or isinstance(scene.table, Combinations) or (column := _pseudonym(scene)) is None:
        return
    rng = np.random.default_rng(evidence.seed)
    values, own = np.unique(column.codes, return_inverse=True)
    n = len(values)
    some = drawn(n, min(MOST, max(PAIRS // n, 1)), rng)
    row = _seen(own, n, rng)[some]
    link, seen, truth = scene.link(), row, None
    if scene.known is not None:
        population, truth = scene.known.population.take(scene.origin[row.ravel()]), Truth(some)
        people = replace(population, sensitive=(), kept=(), weight=None)
        link, seen = ClassAttack().of_classes(scene.table, Background(people)), np.arange(row.size).reshape(row.shape)
    belief = of_pseudonyms(link, seen, own, n)
    yield Case(scene.release, SEVERAL, "identity", belief, truth, scene.origin[row[:, 0]], drawn_from=n)


def _pseudonym(scene: Scene) -> Column | None:
    """The column that says which rows are one person's; without an original one that by its name may be such."""
    if scene.known is None:
        found = pseudonym(scene.table.kept, scene.table.person)
        return found or (next(repeated(scene.table.kept), None) if scene.table.person is None else None)
    person = scene.known.population.person
    if not scene.traced or person is None or np.any(scene.origin < 0):
        return None
    return pseudonym(scene.table.kept, person[scene.origin])


def _seen(pseudonym: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(n, SEEN) rows of each pseudonym, drawn at random."""
    order, size = by_class(pseudonym.astype(np.int32), n), np.bincount(pseudonym, minlength=n)
    first = np.cumsum(size) - size
    return np.asarray(order[first[:, None] + rng.integers(0, size[:, None], (n, SEEN))], dtype=np.int64)
