"""Several releases of the same people are crossed by somebody who has them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from unmask.audit import Audit
from unmask.core.errors import NotRunError
from unmask.core.posterior import Posterior, equal_weights, stored
from unmask.reports.data import CROSSING
from unmask.results.words import release_name
from unmask.tables.attacks import AttributeInference, ClassAttack
from unmask.tables.attacks.joint_releases import Crossing
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.perturbed import refuse_contradicted
from unmask.tables.background import Background, hidden_values
from unmask.tables.column import Column
from unmask.tables.notation import EVERYTHING
from unmask.tables.sensitive_bands import TOLERATED, has_sets
from unmask.tables.table import Table

WHAT = "Crossing the releases"


def crossing(
    releases: Mapping[str, Table], evidence: AuditorKnowledge
) -> list[tuple[AttackedRelease, list[AttackRun | Audit]]]:
    """By release, whose record is whose and who has which value for who has the other releases, too; why nobody is
    asked, if nobody is. Nothing where one of the releases is published, and not all.

    releases : those whose rows are people's, in memory
    """
    if not evidence.together:
        return []
    if len(releases) < 2:
        why = "needs two releases in memory, or more, whose rows are people's"
        return [
            (AttackedRelease(name, one, np.arange(one.n_rows)), [Audit((), ((WHAT, why),))])
            for name, one in releases.items()
        ]
    scenes = [
        AttackedRelease.of(name, one, evidence.origins.get(name), evidence.known) for name, one in releases.items()
    ]
    try:
        by = _left_as_they_are(scenes)
        return [(scene, list(_cases(scene, scenes, by))) for scene in scenes]
    except NotRunError as error:
        return [(scenes[0], [Audit((), ((WHAT, str(error)),))])]


def _left_as_they_are(scenes: Sequence[AttackedRelease]) -> tuple[str, ...]:
    """The columns that all releases leave as they are."""
    known = scenes[0].known
    if known is None:
        raise NotRunError("needs the original table, which says who can be behind which record (--original)")
    people = known.population.n_rows
    for scene in scenes:
        if not (1 - TOLERATED) * people <= scene.table.n_rows <= people:
            raise NotRunError(
                f"{release_name(scene.release)} has {scene.table.n_rows:,} rows of {people:,} people, and who crosses "
                "takes people to be in all releases"
            )
        refuse_contradicted(scene, ClassAttack())
    left = [{column.name for column in _left(scene)} for scene in scenes]
    by = tuple(column.name for column in _left(scenes[0]) if all(column.name in names for names in left))
    if not by:
        raise NotRunError("no column is left as it is in all of them, by which the records of a person are alike")
    return by


def _left(scene: AttackedRelease) -> list[Column]:
    """Columns whose cells are as the original has them: none hides its value or stands for several."""
    assert scene.known is not None
    return [
        column
        for column in scene.as_it_was([*scene.table.sensitive, *scene.table.kept])
        if not has_sets(column)
        and EVERYTHING not in column.levels.labels
        and not hidden_values(scene.table, column, scene.known.population)[0]
    ]


def _cases(scene: AttackedRelease, scenes: Sequence[AttackedRelease], by: tuple[str, ...]) -> Iterator[AttackRun]:
    """What somebody believes of a release who knows the quasi-identifiers of everybody of the original."""
    assert scene.known is not None
    attack = Crossing(tuple(other.table for other in scenes if other is not scene), by)
    population, person = scene.known.population, scene.known.person
    everybody = replace(population, sensitive=(), kept=(), weight=None)
    found = attack(scene.table, Background(everybody))
    belief = replace(found, observation=found.observation[person], weight=equal_weights(len(person)))
    yield scene.identity(CROSSING, belief)
    there = _of_the_released(belief)
    for column in scene.table.sensitive:
        yield replace(scene, control=None).value(CROSSING, AttributeInference(column.name), there)


def _of_the_released(belief: Posterior) -> Posterior:
    """The belief about who has a record: people without one are thought to have values like theirs."""
    p = np.exp(belief.log_probability, dtype=np.float64)
    inside = belief.sum_candidates(p)
    return replace(
        belief,
        log_probability=stored(np.log(p / inside[belief.row])),
        unlisted=np.where(inside > 0, 0.0, 1.0),
    )
