"""One release, one adversary, one target: the belief, the truth it is held against, and the rows that follow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.audit import Audit, audit
from unmask.core.posterior import Posterior
from unmask.core.truth import ABSENT, Truth
from unmask.measures import Measure
from unmask.measures.base import UndefinedError
from unmask.measures.excess import People, excess


@dataclass(frozen=True, eq=False)
class AttackRun:
    """What one adversary believes of one target, identity or a sensitive column, and what that is held against.

    truth      : None where it is not known
    rows       : (n_targets,) the row of each target: of the original where the release's origin is known, else of the
                 release
    drawn_from : how many people the targets were drawn from, as in `audit`
    linked_to  : the other data that names are from, as in `Row`
    boxes      : (n_targets,) whose guesses share their luck, see `together`, where control people are asked about, too
    control    : the same of control people
    people     : of a counted release, how many people its targets stand for, which are classes; None: each target is a
                 person
    n_sets     : how many sets of equal records the targets of a counted release stand for; None: a set each
    modeled    : whether the belief is a model where it says to be exact, which it is of people in the release:
                 somebody asked about is not in it and fits a record, or their value is guessed without one
    picked     : where people have several records, the belief by which one is picked, and held against the truth;
                 `belief` is then how likely it is one of theirs, see `any_of_theirs`
    over_people : the same belief with people for candidates, whom entropies and anonymity sets count
    whose      : (n_targets,) who each target is, by numbers from 0, where people are several: each counts once, as if a
                 target of theirs were drawn at random. None: each target is a person
    """

    release: str
    adversary: str
    target: str
    belief: Posterior
    truth: Truth | None = None
    rows: NDArray[np.int64] | None = None
    drawn_from: float | None = None
    linked_to: str = ""
    note: str = ""
    boxes: NDArray[np.int64] | None = None
    control: AttackRun | None = None
    people: int | None = None
    n_sets: int | None = None
    modeled: bool = False
    picked: Posterior | None = None
    over_people: Posterior | None = None
    whose: NDArray[np.int64] | None = None

    def people_in(self, group: NDArray[np.int64], targets: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """(n_groups,) how many people have a target in each group; targets : those that `group` is of, all when left
        out.
        """
        if self.whose is None:
            return np.bincount(group)
        whose = self.whose if targets is None else self.whose[targets]
        return np.bincount(np.unique(np.stack([group, whose]), axis=1)[0])

    @property
    def n_people(self) -> int:
        """How many people the targets are."""
        if self.people is not None:
            return self.people
        return self.belief.n_targets if self.whose is None else int(self.whose.max(initial=-1)) + 1

    @property
    def n_targets(self) -> int:
        """Number of targets; of a counted release, of people."""
        return self.belief.n_targets if self.people is None else self.people

    @property
    def unreleased(self) -> NDArray[np.bool_] | None:
        """(n_targets,) whether the release has no record of the person whose record is asked for; None: has of all."""
        if self.target != "identity" or self.linked_to or self.truth is None:
            return None
        gone = self.truth.candidate == ABSENT
        return gone if gone.any() else None

    def audited(self, measures: Sequence[Measure]) -> Audit:
        """The rows of these measures."""
        beside = dict(self._beside(measures))  # before `audit`, which forgets where the truth stands
        found = audit(
            self.belief,
            self.truth,
            release=self.release,
            adversary=self.adversary,
            target=self.target,
            note=self.note,
            drawn_from=self.drawn_from,
            whose=self.whose,
            picked=self.picked,
            over_people=self.over_people,
            people=self.people,
            measures=measures,
        )
        sample = self._sample()
        rows = (replace(row, linked_to=self.linked_to, **sample, **beside.get(row.measure, {})) for row in found.rows)
        if self.n_sets is not None:
            rows = (replace(row, n_observations=self.n_sets) for row in rows)
        if self.modeled:  # after `audit`, which allows exact beliefs less
            rows = (replace(row, status="model") if row.status == "exact" else row for row in rows)
        return replace(found, rows=tuple(rows))

    def _sample(self) -> dict[str, Any]:
        """Return of how many people the targets are drawn, see `Row`; nothing if they are everybody."""
        n, people = self.n_people, self.drawn_from or 0
        return {"n_people": int(people), "n_drawn": n, "n_judged": n} if n < people < math.inf else {}

    def _beside(self, measures: Sequence[Measure]) -> Iterator[tuple[str, dict[str, Any]]]:
        """By measure, what control people have, and what members have more, where both have any."""
        if self.control is None:
            return
        scores = self.belief.status == "scores"
        for measure in measures:
            if not (measure.needs_truth and measure.has_interval) or (scores and measure.needs_probabilities):
                continue
            try:
                sides = [People.of(measure, one.belief, one.truth, cluster=one.boxes) for one in (self, self.control)]
            except UndefinedError:
                continue
            found = excess(measure, *sides)
            more, low, high = found.towards(measure.direction)
            yield measure.name, {"control": found.control, "excess": more, "excess_low": low, "excess_high": high}
