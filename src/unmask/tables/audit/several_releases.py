"""Intersection attack: an adversary has all the releases of the same people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from unmask.core.errors import NotRunError
from unmask.core.posterior import Posterior, stored
from unmask.results.names import COLLECTOR
from unmask.results.words import release_name
from unmask.scoring import Audit
from unmask.tables.attacks import AttributeInference, ClassAttack
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, Release
from unmask.tables.audit.perturbed import refuse_perturbed
from unmask.tables.background import Background, hidden_values
from unmask.tables.notation import EVERYTHING
from unmask.tables.sensitive_bands import MAX_MISFIT_SHARE, has_sets


def attack_together(
    releases: Sequence[Release], knowledge: AuditorKnowledge
) -> Iterator[tuple[Release, list[AttackRun | Audit]]]:
    """Yield by release the beliefs of an adversary who has the other releases, too, or why they have none.

    `releases` are in memory, and their rows are people's. Nothing if only one of the releases is published.
    """
    if not knowledge.together or not releases:
        return
    scenes = [release.attacked(knowledge.origins.get(release.name), knowledge.known) for release in releases]
    try:
        columns = _find_unchanged_columns(scenes)
        runs: list[list[AttackRun | Audit]] = [[*_combine(scene, scenes, columns)] for scene in scenes]
    except NotRunError as error:
        runs = [[Audit((), (("Combining the releases", str(error)),))]]
    yield from zip(releases, runs, strict=False)


def _find_unchanged_columns(scenes: Sequence[AttackedRelease]) -> tuple[str, ...]:
    """Return the columns that all releases leave unchanged; raise NotRunError if the attack does not apply."""
    if len(scenes) < 2:
        raise NotRunError("needs two releases in memory, or more, whose rows are people's")
    if scenes[0].known is None:
        raise NotRunError("needs the original table, which shows who can be behind which record (--original)")
    n_people = scenes[0].known.population.n_rows
    for scene in scenes:
        if not (1 - MAX_MISFIT_SHARE) * n_people <= scene.table.n_rows <= n_people:
            raise NotRunError(
                f"{release_name(scene.release)} has {scene.table.n_rows:,} rows of {n_people:,} people, and the "
                "adversary takes people to be in all releases"
            )
        refuse_perturbed(scene, ClassAttack())
    unchanged = [_unchanged_names(scene) for scene in scenes]
    columns = tuple(name for name in unchanged[0] if all(name in names for names in unchanged))
    if not columns:
        raise NotRunError("no column is unchanged in all releases, so that records of one person cannot be recognized")
    return columns


def _unchanged_names(scene: AttackedRelease) -> list[str]:
    """Return the columns with the cells of the original, none of which is hidden or stands for several values."""
    assert scene.known is not None
    return [
        column.name
        for column in scene.unchanged_columns([*scene.table.sensitive, *scene.table.kept])
        if not has_sets(column)
        and EVERYTHING not in column.levels.labels
        and not hidden_values(column, column.counts, scene.known.population)[0]
    ]


def _combine(
    scene: AttackedRelease, scenes: Sequence[AttackedRelease], columns: tuple[str, ...]
) -> Iterator[AttackRun]:
    """Yield the beliefs about one release of an adversary who knows the quasi-identifiers of everybody."""
    from unmask.tables.attacks.intersection import IntersectionAttack

    assert scene.known is not None
    attack = IntersectionAttack(tuple(other_scene.table for other_scene in scenes if other_scene is not scene), columns)
    population = scene.known.population
    everybody = attack(scene.table, Background(population.known_by(population.quasi_identifiers)))
    belief = everybody.take(scene.known.person)
    yield scene.identify(COLLECTOR, belief)
    released = _condition_on_release(belief)
    for column in scene.table.sensitive:
        yield scene.infer(COLLECTOR, AttributeInference(column.name), released)


def _condition_on_release(belief: Posterior) -> Posterior:
    """Return the belief about people with a record; people without one are taken to have similar values."""
    p = np.exp(belief.log_probability, dtype=np.float64)
    inside = belief.sum_candidates(p)
    return replace(
        belief, log_probability=stored(np.log(p / inside[belief.row])), unlisted=np.where(inside > 0, 0.0, 1.0)
    )
