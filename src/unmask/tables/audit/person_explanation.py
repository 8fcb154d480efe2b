"""Explanation of one person: what singles them out, the belief of each adversary, and what would hide them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError, nearest
from unmask.core.truth import Truth
from unmask.measures import realized_success, success_probability
from unmask.results.explanation import CoarserColumn, Explanation, PersonBelief
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, Release
from unmask.tables.audit.quasi_identifiers import describe_level
from unmask.tables.audit.release_attacks import attack_release

Floats = NDArray[np.float64]


class _Outcomes(NamedTuple):
    """Outcome of one attack for each target.

    Parameters
    ----------
    rows : (n_targets,) array
        Row of each target in the owner's table.
    probability : (n_targets,) array
        Probability that the best guess is right, by the adversary's belief; nan if they have only scores.
    guessing : float
        The same without the release.
    right : (n_targets,) array
        Probability that the best guess is right, given the truth; nan if it is not known.
    """

    adversary: str
    target: str
    rows: NDArray[np.int64]
    probability: Floats
    guessing: float
    right: Floats

    @classmethod
    def of(cls, run: AttackRun, rows: NDArray[np.int64]) -> _Outcomes:
        """Return the outcomes of an attack on people with these rows."""
        measure, belief = success_probability.self_assessed, run.belief
        assert measure is not None
        probability = np.full(belief.n_targets, np.nan)
        if belief.status != "scores":
            probability = measure(belief)[belief.observation]
        right = np.full(belief.n_targets, np.nan) if run.truth is None else _realize(run, run.truth)
        return cls(run.adversary, run.target, rows, probability, float(measure(belief.prior())[0]), right)

    def about(self, row: int) -> PersonBelief | None:
        """Return the belief about a person by their row; None if they were not attacked."""
        targets = np.flatnonzero(self.rows == row)
        if not len(targets):
            return None
        probability, is_right = (float(values[targets[0]]) for values in (self.probability, self.right))
        return PersonBelief(
            self.adversary, self.target, _none_for_nan(probability), self.guessing, _none_for_nan(is_right)
        )


def _none_for_nan(value: float) -> float | None:
    return None if np.isnan(value) else round(value, 9)


def _realize(run: AttackRun, truth: Truth) -> Floats:
    """Return (n_targets,) the probability that the best guess is right, given the truth; nan if it is not known."""
    right = realized_success.per_target(run.picked or run.belief, truth)
    return np.where(truth.judged, right, np.nan)


@dataclass(frozen=True, eq=False)
class PersonExplainer:
    """Function that explains people of an audit by their rows.

    The attacks of a release run once more for the first person, with the seeds of the audit: an audit keeps no belief.

    Parameters
    ----------
    releases : sequence of Release
        The attacked releases.
    knowledge : AuditorKnowledge
        Knowledge of the auditor.
    """

    releases: Sequence[Release]
    knowledge: AuditorKnowledge
    _outcomes: dict[str, list[_Outcomes]] = field(default_factory=dict)

    def __call__(self, person: int, release: str | None = None) -> Explanation:
        """Return the explanation of a person.

        Parameters
        ----------
        person : int
            Row of the original, counted from 0; of the release if there is no original. `--at-risk` lists the same
            rows.
        release : str, optional
            Name of the release; the first one by default.
        """
        attacked, complete = self._find(release), self.knowledge.complete
        search = attacked.search_columns(complete.known)
        assert search.rows is not None
        positions = np.flatnonzero(complete.rows(search.rows) == person)
        if not len(positions):
            table = "release" if complete.known is None else "original"
            raise UnmaskError(
                f"row {person} was not attacked; expected one of the {len(search.rows):,} attacked rows of the "
                f"{table}, counted from 0"
            )
        position = int(positions[0])
        explanation = search.explain(position)
        steps = search.try_coarser(position, complete.original)
        coarser = (
            CoarserColumn(step.column, describe_level(step.ladder, step.level), step.n_records) for step in steps
        )
        return Explanation(
            attacked.name,
            person,
            *explanation,
            why=explanation.describe(),
            beliefs=tuple(self._list_beliefs(attacked, person)),
            coarser=tuple(sorted(coarser, key=lambda step: -step.n_records)),
        )

    def _find(self, name: str | None) -> Release:
        by_name = {release.name: release for release in self.releases}
        if name is not None and name not in by_name:
            raise UnmaskError(f"{name!r} is not a release of this audit; {nearest(name, tuple(by_name))}")
        release = self.releases[0] if name is None else by_name[name]
        if not release.has_rows or release.is_foreign:
            reason = "its rows are not people of the original" if release.has_rows else "an engine counted it"
            raise UnmaskError(f"people of {release.name} cannot be explained: {reason}; audit a table with its people")
        return release

    def _list_beliefs(self, release: Release, person: int) -> Iterator[PersonBelief]:
        if release.name not in self._outcomes:
            complete = self.knowledge.complete
            runs = (run for run in attack_release(release, complete) if isinstance(run, AttackRun))
            self._outcomes[release.name] = [
                _Outcomes.of(run.by_row(), complete.rows(run.rows))
                for run in runs
                if run.rows is not None and run.adversary not in complete.without
            ]
        for outcomes in self._outcomes[release.name]:
            if (belief := outcomes.about(person)) is not None:
                yield belief
