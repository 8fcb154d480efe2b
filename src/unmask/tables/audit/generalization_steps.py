"""Effect of one step of generalization of each column: made from the release, and attacked like it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from unmask.measures import evaluate, success_probability
from unmask.results import Result
from unmask.results.distribution import Distribution
from unmask.results.names import IDENTITY, LIMITS, PROSECUTOR
from unmask.tables.attacks import AttributeInference
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, Release, locate_rows
from unmask.tables.audit.quasi_identifiers import GeneralizationStep
from unmask.tables.audit.release_attacks import infer_value
from unmask.tables.audit.risk_facts import distribute_success
from unmask.tables.audit.threads import MIN_ROWS, two_at_once
from unmask.tables.column import Column
from unmask.tables.protections.generalization import generalize_further
from unmask.tables.table import Table
from unmask.tables.utility.column_loss import Loss

Success = Mapping[str, tuple[float, Distribution]]
"""Success that the prosecutor expects, and its distribution over people, by target."""


def try_steps(result: Result, releases: Iterable[Release], knowledge: AuditorKnowledge) -> Iterator[GeneralizationStep]:
    """Yield the effect of one step for each quasi-identifier of each release with a known origin.

    Cells of the release are recoded (`tables.Generalize`), so its protection does not run again. Columns with one value
    are left out. `result` is the audit of the releases.
    """
    for release in releases:
        original, success = knowledge.original, _success_of(result, release.name)
        if original is None or release.origin is None or knowledge.synthetic or not success:
            continue
        complete = Release(release.name, release.complete, release.origin[release.complete_rows])
        columns = [column for column in complete.table.quasi_identifiers if np.count_nonzero(column.counts) > 1]
        names = [column.name for column in original.quasi_identifiers]
        losses = {name: _loss_of(complete.table.column(name), complete, original) for name in names}
        parallel = two_at_once if complete.table.n_rows >= MIN_ROWS else map
        step = partial(_try_step, release=complete, knowledge=knowledge, earlier=success, losses=losses)
        for steps in parallel(step, columns):
            yield from steps


def _success_of(result: Result, release: str) -> Success:
    """Return the success of the prosecutor in an audit."""
    attack = release, PROSECUTOR
    spread = {item.target: item for item in result.distribution if (item.release, item.adversary) == attack}
    rows = [row for row in result.rows if (row.release, row.adversary) == attack and row.target in spread]
    return {row.target: (row.posterior, spread[row.target]) for row in rows if row.measure == success_probability.name}


def _try_step(
    column: Column, release: Release, knowledge: AuditorKnowledge, earlier: Success, losses: Mapping[str, float]
) -> list[GeneralizationStep]:
    """Generalize one column of complete rows, and return the effect on each target.

    earlier, losses : success of the prosecutor, and loss of each column, before the step
    """
    original = knowledge.original
    assert original is not None
    level, coarser = generalize_further(column, original.column(column.name))
    columns = tuple(coarser if item is column else item for item in release.table.quasi_identifiers)
    success = _attack(replace(release, table=replace(release.table, quasi_identifiers=columns)), knowledge)
    losses_after = {**losses, column.name: _loss_of(coarser, release, original)}
    utility = [1.0 - float(np.mean([*loss.values()])) for loss in (losses, losses_after)]
    steps = []
    for target, (success_before, spread) in earlier.items():
        success_after, spread_after = success[target]
        limit = LIMITS[IDENTITY if target == IDENTITY else "value"]
        at_risk = int(spread.above[limit]), int(spread_after.above[limit])
        names = release.name, column.name, column.ladder, level, target
        steps.append(GeneralizationStep(*names, success_before, success_after, *at_risk, spread.people, *utility))
    return steps


def _attack(release: Release, knowledge: AuditorKnowledge) -> Success:
    """Return the success of the prosecutor."""
    assert knowledge.original is not None
    assert release.origin is not None
    origin = locate_rows(release.origin, knowledge.original.complete_rows)
    scene = release.attacked(origin, knowledge.complete.known)
    link = scene.link()
    runs = [scene.identify(PROSECUTOR, link)]
    for column in scene.table.sensitive:
        if (link.row_length > 0).all():
            runs.append(scene.infer(PROSECUTOR, AttributeInference(column.name), link))
        else:  # people without a matching record need the modeler
            beliefs = infer_value(scene, column, link)
            runs.append(next(run for run in beliefs if isinstance(run, AttackRun)))
    return {run.target: (evaluate(success_probability, run.belief).posterior, distribute_success(run)) for run in runs}


def _loss_of(released: Column, release: Release, original: Table) -> float:
    """Return the normalized certainty penalty of a column of a release."""
    assert release.origin is not None
    lost = np.ones(original.n_rows, dtype=np.bool_)
    lost[release.origin] = False
    return Loss.of_rows(original.column(released.name), released, release.origin, lost).ncp()
