"""One attack on one release: the belief about one target, the truth, and the rows that follow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Integers
from unmask.core.posterior import Posterior
from unmask.core.truth import ABSENT, Truth
from unmask.measures import Measure
from unmask.measures.excess import People, excess
from unmask.measures.measure import UndefinedError
from unmask.scoring import Audit, score


@dataclass(frozen=True, eq=False)
class AttackRun:
    """Belief of one adversary about one target of a release, and the truth.

    Parameters
    ----------
    release, adversary, target : str
        The target is "identity" or a sensitive column.
    belief : Posterior
        Belief about each target.
    truth : Truth, optional
        None if it is not known.
    rows : (n_targets,) array, optional
        Row of each target: of the original if the release's origin is known, else of the release. If targets are
        classes, the row of each person.
    drawn_from : float, optional
        Number of people that the targets were drawn from, as in `unmask.audit.audit`.
    linked_to : str
        Other data with the names, as in `Row`.
    note : str
        Remark on all rows.
    clusters : (n_targets,) array, optional
        Cluster of each target whose guesses are right or wrong together, if the control group is attacked, too.
    control : AttackRun, optional
        The same attack on the control group.
    people : int, optional
        Number of people that the targets stand for if these are classes; None: each target is a person.
    n_sets : int, optional
        Number of sets of equal records that the targets of a counted release stand for; None: a set each.
    modeled : bool
        Whether an exact belief is only a model, because some targets have no record, or are guessed without one.
    picked : Posterior, optional
        If people have several records: the belief by which one is picked, and compared with the truth. `belief` is then
        the probability that it is one of theirs, see `find_any_record`.
    over_people : Posterior, optional
        The same belief with people for candidates, for entropies and anonymity sets.
    person : (n_targets,) array, optional
        Person of each target, numbered from 0, if people are several targets: each person counts once.
    class_of_row : (n_rows,) array, optional
        Target of each row if targets are classes of a table in memory.
    """

    release: str
    adversary: str
    target: str
    belief: Posterior
    truth: Truth | None = None
    rows: Integers | None = None
    drawn_from: float | None = None
    linked_to: str = ""
    note: str = ""
    clusters: Integers | None = None
    control: AttackRun | None = None
    people: int | None = None
    n_sets: int | None = None
    modeled: bool = False
    picked: Posterior | None = None
    over_people: Posterior | None = None
    person: Integers | None = None
    class_of_row: NDArray[np.int32] | None = None

    def by_row(self) -> Self:
        """Return the run with each row as a target, also if targets are classes."""
        if self.class_of_row is None:
            return self
        return replace(
            self, belief=self.belief.take(self.class_of_row.astype(np.int64)), people=None, class_of_row=None
        )

    def count_people(self, group: Integers) -> Integers:
        """Return (n_groups,) numbers of people with a target in each group; `group` is by target."""
        if self.people is not None:
            return np.bincount(group, np.rint(self.belief.weight * self.people)).astype(np.int64)
        if self.person is None:
            return np.bincount(group)
        return np.bincount(np.unique(np.stack([group, self.person]), axis=1)[0])

    @property
    def n_people(self) -> int:
        """Number of people among the targets."""
        if self.people is not None:
            return self.people
        return self.belief.n_targets if self.person is None else int(self.person.max(initial=-1)) + 1

    @property
    def n_targets(self) -> int:
        """Number of targets; of people if targets are classes."""
        return self.belief.n_targets if self.people is None else self.people

    @property
    def is_unreleased(self) -> Booleans | None:
        """Mask of the targets whose record is searched for and not in the release; None if all are released."""
        if self.target != "identity" or self.linked_to or self.truth is None:
            return None
        unreleased = self.truth.candidate == ABSENT
        return unreleased if unreleased.any() else None

    def score(self, measures: Sequence[Measure]) -> Audit:
        """Return the rows of these measures."""
        compared = dict(self._compare_with_control(measures))  # first: `audit` drops the positions of the truth
        scored = score(
            self.belief,
            self.truth,
            release=self.release,
            adversary=self.adversary,
            target=self.target,
            note=self.note,
            drawn_from=self.drawn_from,
            person=self.person,
            picked=self.picked,
            over_people=self.over_people,
            people=self.people,
            measures=measures,
        )
        shared: dict[str, Any] = {"linked_to": self.linked_to}
        if self.n_people < (self.drawn_from or 0) < math.inf:
            shared |= {"n_people": int(self.drawn_from or 0), "n_drawn": self.n_people, "n_judged": self.n_people}
        if self.n_sets is not None:
            shared["n_observations"] = self.n_sets
        rows = [replace(row, **shared, **compared.get(row.measure, {})) for row in scored.rows]
        if self.modeled:  # after `audit`, which allows exact beliefs a smaller deviation
            rows = [replace(row, status="model") if row.status == "exact" else row for row in rows]
        return replace(scored, rows=tuple(rows))

    def _compare_with_control(self, measures: Sequence[Measure]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield by measure the result on the control group, and the excess on members."""
        if self.control is None:
            return
        scores = self.belief.status == "scores"
        for measure in measures:
            if not (measure.needs_truth and measure.has_interval) or (scores and measure.needs_probabilities):
                continue
            try:
                sides = [
                    People.of(measure, run.belief, run.truth, cluster=run.clusters) for run in (self, self.control)
                ]
            except UndefinedError:
                continue
            compared = excess(measure, *sides)
            gain, low, high = compared.towards(measure.direction)
            yield measure.name, {"control": compared.control, "excess": gain, "excess_low": low, "excess_high": high}
