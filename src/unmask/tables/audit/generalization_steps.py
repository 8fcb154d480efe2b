"""Effect of one step of generalization of each column: made from the release, and attacked like it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from unmask.core.arrays import Integers
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
        if knowledge.original is None or release.origin is None or knowledge.synthetic:
            continue
        table, success = release.complete, _success_of(result, release.name)  # also if a coarser cell is not missing
        current = _Generalized(release.name, table, release.origin[release.complete_rows], knowledge)
        columns = [column.name for column in table.quasi_identifiers if np.count_nonzero(column.counts) > 1]
        parallel = two_at_once if table.n_rows >= MIN_ROWS else map
        for steps in parallel(partial(current.step, earlier=success), columns if success else ()):
            yield from steps


def _success_of(result: Result, release: str) -> Success:
    """Return the success of the prosecutor in an audit."""
    attack = release, PROSECUTOR
    spread = {item.target: item for item in result.distribution if (item.release, item.adversary) == attack}
    rows = [row for row in result.rows if (row.release, row.adversary) == attack and row.target in spread]
    return {row.target: (row.posterior, spread[row.target]) for row in rows if row.measure == success_probability.name}


@dataclass(frozen=True, eq=False)
class _Generalized:
    """A release that the prosecutor attacks."""

    name: str
    release: Table
    origin: Integers
    knowledge: AuditorKnowledge

    def step(self, column_name: str, earlier: Success) -> list[GeneralizationStep]:
        """Generalize one column, and return the effect on each target."""
        assert self.knowledge.original is not None
        level, coarser = generalize_further(self.release, column_name, self.knowledge.original.column(column_name))
        after, ladder = replace(self, release=coarser), self.release.column(column_name).ladder
        losses = self.losses, {**self.losses, column_name: after.loss_of(column_name)}
        utility = [1.0 - float(np.mean([*loss.values()])) for loss in losses]
        steps = []
        for target, (success, spread) in earlier.items():
            new_success, new_spread = after.success[target]
            limit = LIMITS[IDENTITY if target == IDENTITY else "value"]
            at_risk = int(spread.above[limit]), int(new_spread.above[limit])
            names = self.name, column_name, ladder, level, target
            steps.append(GeneralizationStep(*names, success, new_success, *at_risk, spread.people, *utility))
        return steps

    @cached_property
    def success(self) -> Success:
        """The success of the prosecutor."""
        assert self.knowledge.original is not None
        origin = locate_rows(self.origin, self.knowledge.original.complete_rows)
        scene = Release(self.name, self.release).attacked(origin, self.knowledge.complete.known)
        link = scene.link()
        runs = [scene.identify(PROSECUTOR, link)]
        for column in self.release.sensitive:
            if (link.row_length > 0).all():
                runs.append(scene.infer(PROSECUTOR, AttributeInference(column.name), link))
            else:  # people without a matching record need the modeler
                beliefs = infer_value(scene, column, link)
                runs.append(next(run for run in beliefs if isinstance(run, AttackRun)))
        return {
            run.target: (evaluate(success_probability, run.belief).posterior, distribute_success(run)) for run in runs
        }

    @cached_property
    def losses(self) -> dict[str, float]:
        """The normalized certainty penalty of each quasi-identifier of the original."""
        assert self.knowledge.original is not None
        return {column.name: self.loss_of(column.name) for column in self.knowledge.original.quasi_identifiers}

    def loss_of(self, name: str) -> float:
        """Return the penalty of one column."""
        assert self.knowledge.original is not None
        lost = np.ones(self.knowledge.original.n_rows, dtype=np.bool_)
        lost[self.origin] = False
        original, released = self.knowledge.original.column(name), self.release.column(name)
        return Loss.of_rows(original, released, self.origin, lost).ncp()
