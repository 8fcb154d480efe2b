"""A release whose cells were changed: people do not fit their own rows, and somebody takes the nearest for theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unmask.audit import Audit
from unmask.core.errors import NotRunError
from unmask.core.posterior import Posterior, stored
from unmask.core.truth import Truth
from unmask.measures import realized_success
from unmask.results.formats import percent
from unmask.tables.attacks import AttributeInference, ClassAttack, NearestNeighbor
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import NEAREST, AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.mechanism_aware import DRAWN, MOST, declares, fewer
from unmask.tables.background import Attack, Background
from unmask.tables.column import Column
from unmask.tables.levels import Missing
from unmask.tables.matching import compatible
from unmask.tables.sensitive_bands import TOLERATED
from unmask.tables.table import Table

ROWS, PAIRS, LEAST = 200_000, 4_000_000, 50
"""Rows up to which each person is compared with every one of them; pairs of a person and a row that are, beyond the
first few people.
"""

APART = "{} of them do not fit their own row, by {}: its cells were moved or hidden"

MANY = "not above {:,} rows: people do not fit their own rows; say what made the release (--protection)"


def by_distance(scene: AttackedRelease, evidence: AuditorKnowledge) -> Iterator[AttackRun | Audit]:
    """Whose record is whose, and who has which value, for who takes the nearest record; nothing where people fit their
    own, or where what made the release is said (`mechanism.by_mechanism`).

    The prosecutor keeps the rows that a person fits, and so finds nobody whose cells were moved, however little. How
    often the nearest row is right is told by the other half of the people (`_announced`).
    """
    known = scene.known
    protection = evidence.protections.get(scene.release)
    if known is None or not scene.traced or scene.foreign or (protection is not None and declares(protection)):
        return
    some = _some(scene, evidence.seed)
    assert some.known is not None
    truth = some.known.truth_in(some.origin)
    more = some.comparable(some.table.kept)
    theirs = [some.known.population.column(one.name).take(some.known.person) for one in more]
    people, release = _table(some.known.people, theirs), _table(some.table, more)
    apart = _apart(people, release, truth)
    if not apart:
        return
    if release.n_rows > ROWS:
        yield Audit((), ((f"The nearest row of {scene.release}", MANY.format(ROWS)),))
        return
    found = NearestNeighbor()(_few_levels(release), Background(_few_levels(people)))
    belief = _announced(
        some.known.each_once(found), some.known.person_in(some.origin, found), np.random.default_rng(evidence.seed)
    )
    share = np.mean(np.logical_or.reduce(list(apart.values()))[truth.candidate >= 0])
    note = f"{DRAWN.format(some.known.n_people)}; {APART.format(percent(share), ', '.join(apart))}"
    yield some.identity(NEAREST, belief, note)
    for column in some.table.sensitive:
        yield replace(some, control=None).value(NEAREST, AttributeInference(column.name), belief)


def _some(scene: AttackedRelease, seed: int) -> AttackedRelease:
    """The scene with as many people as are compared with every row."""
    some = fewer(scene, seed)
    assert some.known is not None
    n = max(PAIRS // max(scene.table.n_rows, 1), LEAST)
    return replace(some, known=some.known.some(n, np.random.default_rng(seed)))


CONTRADICTED = (
    "{} of the people do not fit their own rows, by {}: cells were moved, and {} takes what a row says for true, "
    "so it finds none of them. Ask tables.MechanismAttack, which knows the protection, or tables.NearestNeighbor"
)


def refuse_contradicted(scene: AttackedRelease, attack: Attack) -> None:
    """Raise NotRunError where an attack that reads cells by containment meets a release whose cells were moved: that it
    finds nobody says nothing of anybody else. What the adversary has wrong of people is not counted.
    """
    link = attack.link if isinstance(attack, AttributeInference) else attack
    if not isinstance(link, ClassAttack) or scene.known is None or not scene.traced or scene.foreign:
        return
    some = scene.known.take(np.arange(min(len(scene.known.person), MOST)))
    names = {column.name for column in some.people.quasi_identifiers}
    own = tuple(column.take(some.person) for column in some.population.quasi_identifiers if column.name in names)
    truth = some.truth_in(scene.origin)
    released = truth.candidate >= 0
    apart = _apart(replace(some.people, quasi_identifiers=own), scene.table, truth, hidden=False)
    share = float(np.logical_or.reduce(list(apart.values()))[released].mean()) if apart else 0.0
    if share > TOLERATED:
        raise NotRunError(CONTRADICTED.format(percent(share), ", ".join(apart), type(link).__name__))


def _table(table: Table, more: Sequence[Column]) -> Table:
    """What is compared."""
    return replace(table, quasi_identifiers=(*table.quasi_identifiers, *more), sensitive=(), kept=(), weight=None)


def _few_levels(table: Table) -> Table:
    """The same with no more levels than it has cells: a distance is asked for of each pair of them."""
    return replace(table, quasi_identifiers=tuple(map(_shrunk, table.quasi_identifiers)))


def _shrunk(column: Column) -> Column:
    used, codes = np.unique(column.codes, return_inverse=True)
    return replace(column, codes=codes.astype(np.int32), levels=column.levels.select(used.astype(np.int64)))


def _apart(people: Table, release: Table, truth: Truth, *, hidden: bool = True) -> dict[str, NDArray[np.bool_]]:
    """By column, (n_people,) whose own row does not hold their cell; columns without such people are left out.

    Who has no cell there is not asked about: that a row says `*` of them changes nothing that they have. hidden : a
    released cell that is missing does not hold theirs, either, where that is the table's rule
    """
    there = np.flatnonzero(truth.candidate >= 0)
    rule: Missing = "wildcard" if release.missing == "wildcard" else "own"
    found = {}
    for own in people.quasi_identifiers:
        if own.name not in release.names:
            continue
        known, released = _shrunk(own.take(there)), _shrunk(release.column(own.name).take(truth.candidate[there]))
        fits = compatible(known.levels, released.levels, missing=rule)[known.codes, released.codes]
        fits |= known.codes == known.levels.missing
        if not hidden:
            fits |= released.codes == released.levels.missing
        if not fits.all():
            found[own.name] = np.zeros(len(truth), dtype=np.bool_)
            found[own.name][there] = ~fits
    return found


def _announced(nearest: Posterior, truth: Truth, rng: np.random.Generator) -> Posterior:
    """The nearest rows share what half of the people say that they are worth, of the other half: how often theirs was
    among them, (hits + 1/2) / (people + 1).
    """
    hit = realized_success.per_target(nearest, truth) > 0
    half = rng.permutation(nearest.n_observations) % 2
    side, weight = half[nearest.observation], nearest.weight * nearest.n_targets
    by = np.array([(weight[side != one] @ hit[side != one] + 0.5) / (weight[side != one].sum() + 1) for one in (0, 1)])
    listed = np.where(nearest.row_length < nearest.n_candidates, by[half], 1.0)
    return replace(
        nearest,
        log_probability=stored(nearest.log_probability.astype(np.float64) + np.log(listed)[nearest.row]),
        unlisted=1.0 - listed,
        n_unlisted=nearest.n_candidates - nearest.row_length,
        status="model",
    )
