"""An attack as a constraint: how often it may be right about the people of a release, once the truth is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.measures import evaluate, realized_success
from unmask.tables.knowledge import Knowledge, attribute_truth
from unmask.tables.release import Table

Protect = Callable[[Table], tuple[Table, NDArray[np.int64]]]
"""A table -> what is released of it, and the row behind each record."""


@dataclass(frozen=True)
class AtMost:
    """An attack that may be right about a share of people at most, when it is played against the truth.

    attack  : of tables, about people's records or about a sensitive value
    success : largest share of the targets about whom the best guess is right; draws share it
    excess  : largest difference between that share and the one reached on control people. These are half of the table,
              drawn and held back: the other half is released at the same levels. None where nobody asks.
    knows   : what the adversary knows, and of how many people

    >>> from unmask.tables import ClassAttack
    >>> table = Table.read({"age": [30, 30, 40, 50]}, quasi_identifiers="age")
    >>> rng = np.random.default_rng(1)
    >>> AtMost(ClassAttack(), success=0.5).reached(table, lambda given: (given, np.arange(4)), rng=rng)
    (0.75, None)
    """

    attack: Any
    success: float = 1.0
    excess: float | None = None
    knows: Knowledge = field(default_factory=Knowledge)

    def __post_init__(self) -> None:
        if not callable(self.attack):
            raise UnmaskError(f"attack is {self.attack!r}, expected an attack on tables, such as ClassAttack()")
        for name, share in (("success", self.success), ("excess", self.excess)):
            if share is not None and not 0 <= share <= 1:
                raise UnmaskError(f"{name} is {share!r}, expected a share from 0 to 1")

    def allows(self, table: Table, protect: Protect, *, rng: np.random.Generator) -> bool:
        """Whether the attack stays within both shares."""
        success, excess = self.reached(table, protect, rng=rng)
        return success <= self.success and (excess is None or self.excess is None or excess <= self.excess)

    def reached(self, table: Table, protect: Protect, *, rng: np.random.Generator) -> tuple[float, float | None]:
        """The realized success among the people of the release, and how much more that is than among control people.

        From a release without rows the adversary guesses: of values the commonest is right, of records none. Where the
        half's is such a one, members and control people would be guessed alike, and the difference would be 0 whatever
        the whole release gives away: the success among its people then stands for that of the half.
        """
        success = self._right(table, *protect(table), rng)
        if self.excess is None:
            return success, None
        members, control = (table.take(half) for half in np.array_split(rng.permutation(table.n_rows), 2))
        release, origin = protect(members)
        inside = self._right(members, release, origin, rng) if release.n_rows else success
        return success, inside - self._right(control, release, None, rng)

    def _right(
        self, people: Table, release: Table, origin: NDArray[np.int64] | None, rng: np.random.Generator
    ) -> float:
        """The share of some people about whom the best guess is right; origin: None where it has none of them."""
        if not release.n_rows:
            return self._guessed(people)
        known = self.knows(people, origin, rng=rng)
        belief: Posterior = self.attack(release, known.background, rng=rng)
        if belief.candidate_label is not None:
            truth = attribute_truth(people, known.person, belief, self.attack.sensitive)
        elif origin is None:
            return 0.0
        else:
            truth = known.truth
        return float(evaluate(realized_success, belief, truth).posterior)

    def _guessed(self, people: Table) -> float:
        """The share of some people about whom a guess without a release is right."""
        sensitive = getattr(self.attack, "sensitive", None)
        if sensitive is None:
            return 0.0
        column = people.column(sensitive)
        known = column.counts[~column.levels.gaps]
        return float(known.max(initial=0) / max(known.sum(), 1))
