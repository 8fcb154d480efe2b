"""Attacks on perturbed releases: by the nearest row, and by the protection that made the release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unmask.core.arrays import Booleans
from unmask.core.errors import NotRunError, UnmaskError
from unmask.core.posterior import Posterior, stored
from unmask.core.truth import Truth
from unmask.measures import realized_success
from unmask.results.formats import percent
from unmask.results.names import EXPERT, MATCHER
from unmask.scoring import Audit
from unmask.tables.attacks import AttributeInference, ClassAttack, MechanismAttack, NearestNeighbor
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.background import Attack, Background, Rng
from unmask.tables.column import Column
from unmask.tables.levels import Missing
from unmask.tables.matching import compatible
from unmask.tables.sensitive_bands import MAX_MISFIT_SHARE
from unmask.tables.table import Table

MAX_TARGETS, MAX_SIMULATED_PAIRS = 1000, 20_000_000
"""Largest number of people attacked row by row, and of pairs of a person and a row beyond the first hundred people."""

MAX_ROWS, MAX_COMPARED_PAIRS, MIN_COMPARED = 200_000, 4_000_000, 50
"""Rows up to which people are compared with every row, and pairs that are compared beyond the first few people."""

ROUNDING = 1e-9
"""Largest difference between two probabilities that are equal."""

DECLARED = ("row_kernel", "allowed_pairs", "coordinates")
"""Methods by which a protection declares the probability of its rows."""

SAME = "has the same beliefs as the prosecutor, because the released cells alone show which rows a person may have"

SAMPLED = "{:,} people drawn at random were attacked"


# ----- the protection is known


def attack_by_mechanism(scene: AttackedRelease, knowledge: AuditorKnowledge) -> Iterator[AttackRun | Audit]:
    """Yield beliefs of an adversary who knows the protection; nothing if the prosecutor has the same beliefs."""
    protection = knowledge.protections.get(scene.release)
    if protection is None or scene.known is None or scene.foreign:
        return
    sample = sample_people(scene, knowledge.seed)
    assert sample.known is not None
    if reason := _refuse_protection(protection, sample):
        yield Audit((), ((f"An adversary who knows what made {scene.release}", reason),))
        return
    attack = Seeded(MechanismAttack(protection))
    link = attack(sample.table, sample.background)
    yield sample.identify(EXPERT, link, SAMPLED.format(sample.known.n_people))
    for column in sample.table.sensitive:
        yield sample.infer(EXPERT, AttributeInference(column.name, link=attack), link)


def _refuse_protection(protection: Any, scene: AttackedRelease) -> str:
    """Return why the protection does not help an adversary, without its parameters; "" if it may help."""
    if not declares_rows(protection):
        return f"{type(protection).__name__} does not declare how likely its rows are ({', '.join(DECLARED)})"
    try:
        return SAME if _adds_nothing(protection, scene) else ""
    except UnmaskError as error:
        return str(error)


def declares_rows(protection: Any) -> bool:
    """Return whether a protection declares how likely its rows are."""
    return any(hasattr(protection, name) for name in DECLARED)


@dataclass(frozen=True)
class Seeded:
    """An attack that simulates with the same random numbers in every call."""

    attack: Attack

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002
        """Return the belief."""
        return self.attack(release, knowledge, rng=np.random.default_rng(0))


def _adds_nothing(protection: Any, scene: AttackedRelease) -> bool:
    """Return whether the prosecutor has the same belief about each person, record by record."""
    simulated = Seeded(MechanismAttack(protection))(scene.table, scene.background)
    linked = scene.link().expand_classes()
    first, second = np.unique([simulated.observation, linked.observation], axis=1)
    difference = abs(simulated.to_sparse()[first] - linked.to_sparse()[second])
    is_same = np.allclose(simulated.unlisted[first], linked.unlisted[second], 0, ROUNDING)
    return difference.max() <= ROUNDING and is_same


def max_targets(n_rows: int) -> int:
    """Return the number of people attacked row by row; half of them are the others by which a row is judged."""
    return min(MAX_TARGETS, max(MAX_SIMULATED_PAIRS // n_rows, 100), max(n_rows // 2, 1))


def sample_people(scene: AttackedRelease, seed: int) -> AttackedRelease:
    """Return the release with a sample of its people, and of the control group."""
    assert scene.known is not None
    rng, n = np.random.default_rng(seed), max_targets(scene.table.n_rows)
    people = scene.known.draw_people(n, rng)
    if scene.control is None:
        return replace(scene, known=people)
    n_control = len(scene.control.person)
    drawn = np.sort(rng.choice(n_control, min(n_control, n), replace=False))
    weight = None if scene.weight is None else scene.weight[drawn] / scene.weight[drawn].sum()
    return replace(scene, known=people, control=scene.control.take(drawn), weight=weight)


# ----- the nearest row


def attack_by_distance(scene: AttackedRelease, knowledge: AuditorKnowledge) -> Iterator[AttackRun | Audit]:
    """Yield beliefs of an adversary who takes the nearest record.

    It yields nothing if people match their own records, or if the protection is known (`attack_by_mechanism`). The
    prosecutor only keeps rows that match, and therefore misses people with perturbed cells. Half of the people show how
    often the nearest row is right for the other half (`_calibrate_by_halves`).
    """
    targets, protection = scene.known, knowledge.protections.get(scene.release)
    if targets is None or not scene.traced or scene.foreign or (protection is not None and declares_rows(protection)):
        return
    sample = _sample_compared(scene, knowledge.seed)
    assert sample.known is not None
    extra = sample.comparable_columns(sample.table.kept)
    cells = [sample.known.population.column(column.name).take(sample.known.person) for column in extra]
    people = sample.known.people.known_by((*sample.known.people.quasi_identifiers, *cells))
    release = sample.table.known_by((*sample.table.quasi_identifiers, *extra))
    truth = sample.known.truth_in(sample.origin)
    mismatches = _find_mismatches(people, release, truth)
    if not mismatches:
        return
    if release.n_rows > MAX_ROWS:
        reason = f"not above {MAX_ROWS:,} rows: people do not match their own rows; name the protection (--protection)"
        yield Audit((), ((f"The nearest row of {scene.release}", reason),))
        return
    nearest = NearestNeighbor()(_drop_from_table(release), Background(_drop_from_table(people)))
    records = sample.known.person_in(sample.origin, nearest)
    rng = np.random.default_rng(knowledge.seed)
    belief = _calibrate_by_halves(sample.known.each_once(nearest), records, rng)
    share = _share_of_mismatches(mismatches, truth)
    note = f"{SAMPLED.format(sample.known.n_people)}. {percent(share)} of them do not match their own row, by "
    yield sample.identify(MATCHER, belief, f"{note}{', '.join(mismatches)}: its cells were perturbed or hidden")
    for column in sample.table.sensitive:
        yield replace(sample, control=None).infer(MATCHER, AttributeInference(column.name), belief)


def _sample_compared(scene: AttackedRelease, seed: int) -> AttackedRelease:
    """Return the release with as many people as are compared with every row."""
    sample = sample_people(scene, seed)
    assert sample.known is not None
    n = max(MAX_COMPARED_PAIRS // max(scene.table.n_rows, 1), MIN_COMPARED)
    return replace(sample, known=sample.known.draw_people(n, np.random.default_rng(seed)))


def refuse_perturbed(scene: AttackedRelease, attack: Attack) -> None:
    """Raise NotRunError if an attack that matches cells exactly meets a perturbed release.

    Its zero would say nothing about other attacks. Mistakes in the adversary's knowledge do not count.
    """
    link = attack.link if isinstance(attack, AttributeInference) else attack
    if not isinstance(link, ClassAttack) or scene.known is None or not scene.traced or scene.foreign:
        return
    targets = scene.known.take(np.arange(min(len(scene.known.person), MAX_TARGETS)))
    names = {column.name for column in targets.people.quasi_identifiers}
    cells = tuple(
        column.take(targets.person) for column in targets.population.quasi_identifiers if column.name in names
    )
    truth = targets.truth_in(scene.origin)
    people = replace(targets.people, quasi_identifiers=cells)
    mismatches = _find_mismatches(people, scene.table, truth, hidden_matches=True)
    share = _share_of_mismatches(mismatches, truth) if mismatches else 0.0
    if share > MAX_MISFIT_SHARE:
        raise NotRunError(
            f"{percent(share)} of the people do not match their own rows, by {', '.join(mismatches)}: cells were "
            f"perturbed, and {type(link).__name__} takes cells as true, so it misses these people. Use "
            "tables.MechanismAttack, which knows the protection, or tables.NearestNeighbor"
        )


def _share_of_mismatches(mismatches: dict[str, Booleans], truth: Truth) -> float:
    return float(np.logical_or.reduce([*mismatches.values()])[truth.candidate >= 0].mean())


def _drop_from_table(table: Table) -> Table:
    """Return a table with no more levels than cells: distances are computed for each pair of levels."""
    return replace(table, quasi_identifiers=tuple(map(drop_unused_levels, table.quasi_identifiers)))


def drop_unused_levels(column: Column) -> Column:
    """Return a column with the levels that a row has."""
    used, codes = np.unique(column.codes, return_inverse=True)
    return replace(column, codes=codes.astype(np.int32), levels=column.levels.select(used.astype(np.int64)))


def _find_mismatches(
    people: Table, release: Table, truth: Truth, *, hidden_matches: bool = False
) -> dict[str, Booleans]:
    """Return (n_people,) masks of the people whose own row does not match their cell, by column.

    Columns that match everybody are left out. A missing cell of a person matches any released cell; a missing released
    cell matches by the table's rule, or always if `hidden_matches`.
    """
    released_people = np.flatnonzero(truth.candidate >= 0)
    rule: Missing = "wildcard" if release.missing == "wildcard" else "own"
    mismatches = {}
    for column in people.quasi_identifiers:
        if column.name not in release.names:
            continue
        cells = drop_unused_levels(column.take(released_people))
        released = drop_unused_levels(release.column(column.name).take(truth.candidate[released_people]))
        is_match = compatible(cells.levels, released.levels, missing=rule)[cells.codes, released.codes]
        is_match |= cells.codes == cells.levels.missing
        if hidden_matches:
            is_match |= released.codes == released.levels.missing
        if not is_match.all():
            mismatches[column.name] = np.zeros(len(truth), dtype=np.bool_)
            mismatches[column.name][released_people] = ~is_match
    return mismatches


def _calibrate_by_halves(nearest: Posterior, truth: Truth, rng: np.random.Generator) -> Posterior:
    """Return the belief that the nearest rows share the success rate of the other half of the people.

    The rate is (hits + 1/2) / (people + 1).
    """
    hit = realized_success.per_target(nearest, truth) > 0
    half = rng.permutation(nearest.n_observations) % 2
    side, weight = half[nearest.observation], nearest.weight * nearest.n_targets
    other_halves = [side != number for number in (0, 1)]
    rate = np.array([(weight[mask] @ hit[mask] + 0.5) / (weight[mask].sum() + 1) for mask in other_halves])
    success = np.where(nearest.row_length < nearest.n_candidates, rate[half], 1.0)
    return replace(
        nearest,
        log_probability=stored(nearest.log_probability.astype(np.float64) + np.log(success)[nearest.row]),
        unlisted=1.0 - success,
        n_unlisted=nearest.n_candidates - nearest.row_length,
        status="model",
    )
