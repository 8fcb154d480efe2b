"""What the auditor of tables has besides the releases, and whom the adversaries look for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.core.truth import ABSENT
from unmask.reports import ORIGINAL
from unmask.reports.at_risk import Watched
from unmask.tables.attacks.linkability import check_parts
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.control.holdout import find_held_back
from unmask.tables.control.similarity import Shift, measure_shift, shift_by
from unmask.tables.knowledge import Knowledge, Known
from unmask.tables.reading import check_columns
from unmask.tables.table import Table


@dataclass(frozen=True, eq=False)
class AuditorKnowledge:
    """What the auditor has besides the releases, see `unmask.tables.audit.audit`.

    origins : by release
    watched : takes down who is at risk, for the owner alone
    row     : of each person of the original, the row that they are in the owner's table; None: the same row
    without : adversaries who are left out
    together : all the releases are published
    protections : what made the releases, by release, where that is said
    knowledge : what adversaries know of the people attacked and of control people; all quasi-identifiers when left out
    """

    original: Table | None = None
    origins: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    register: Table | None = None
    coverage: float = 1.0
    register_origin: NDArray[np.int64] | None = None
    control: Table | None = None
    row: NDArray[np.int64] | None = None
    synthetic: bool = False
    parts: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    targets: int | None = None
    seed: int = 0
    watched: Watched | None = None
    without: tuple[str, ...] = ()
    together: bool = False
    protections: Mapping[str, Any] = field(default_factory=dict)
    knowledge: Knowledge = field(default_factory=lambda: Knowledge(None))

    @property
    def person(self) -> NDArray[np.int64] | None:
        """(n_original,) who each row of the original is of, where one person has several; None: each is a person."""
        return None if self.original is None else self.original.person

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of the owner's table that rows of the original are."""
        return rows if self.row is None else self.row[rows]

    def people_of(self, release: str, table: Table) -> NDArray[np.int64] | None:
        """(n_rows,) who each row of a release, or of the original, is of; None where each is a person, or not known.
        Without an original its own identifiers say it.
        """
        if self.original is None:
            return table.person
        if self.person is None or release == ORIGINAL:
            return self.person
        origin = self.origins.get(release)
        return None if origin is None or np.any(origin < 0) else self.person[origin]

    def population_of(self, release: Table) -> Table | None:
        """Return the register if it lists everybody who may be in a release, by all that others know of them."""
        register = self.register
        if self.coverage < 1 or register is None:
            return None
        names = {column.name for column in register.quasi_identifiers}
        return register if names == {column.name for column in release.quasi_identifiers} else None

    def divided(self, share: float) -> Self:
        """The same where the original is of members alone, and those held back are control people; share : as of
        `unmask.tables.control.holdout.find_held_back`.
        """
        assert self.original is not None
        people = find_held_back(self.original, share, self.origins.values())
        assert people.member is not None
        return replace(self._of(people.member), control=people.control)

    @cached_property
    def complete(self) -> AuditorKnowledge:
        """The evidence without the people whom the original's rule for missing cells leaves out."""
        if self.original is None:
            return self
        kept = self.original.complete_rows
        return self if len(kept) == self.original.n_rows else self._of(kept)

    def _of(self, people: NDArray[np.int64]) -> Self:
        """Return the evidence about some people of the original, by their rows."""
        assert self.original is not None
        origins = {name: placed(rows, among=people) for name, rows in self.origins.items()}
        register = None if self.register_origin is None else placed(self.register_origin, among=people)
        original, row = self.original.take(people), self.rows(people)
        return replace(self, original=original, origins=origins, register_origin=register, row=row)

    def drawn(self) -> Self:
        """The same, once the people are drawn and compared: threads that ask for them would each do it."""
        _ = self.known, self.shift
        return self

    @cached_property
    def known(self) -> Known | None:
        """The people attacked; drawn once, so that releases are compared on the same targets."""
        if self.original is None:
            return None
        return replace(self.knowledge, targets=self.targets)(self.original, rng=np.random.default_rng(self.seed))

    @cached_property
    def aside(self) -> Known | None:
        """The control people, all of them, each by a row drawn at random: what two rows tell is no two people's."""
        if self.control is None:
            return None
        everybody = replace(self.knowledge, targets=None)
        return everybody(self.control, rng=np.random.default_rng(self.seed)).one_each()

    def beside(self, scene: AttackedRelease) -> AttackedRelease:
        """Return the scene with the control people, if they may stand for the people attacked."""
        if self.shift is None or self.shift.apart:
            return scene
        return replace(scene, control=self.aside, weight=self.weight)

    @cached_property
    def shift(self) -> Shift | None:
        """Whether control people are like those attacked."""
        return None if self.known is None or self.aside is None else measure_shift(self.known.people, self.aside.people)

    @cached_property
    def _shifts(self) -> dict[frozenset[str], Shift]:
        """By columns, those that were asked for."""
        if self.shift is None or self.known is None or self.control is None:
            return {}
        names = (column.name for column in self.known.people.quasi_identifiers)
        return {frozenset(names) & frozenset(self.control.names): self.shift}

    def unlike(self, names: Collection[str]) -> str:
        """`unlike` of people of the original and control people by these columns. Who a protection drops is compared,
        too: that control people like them are told from members is true of the release.
        """
        assert self.original is not None
        assert self.control is not None
        by = frozenset(names)
        if by not in self._shifts:
            self._shifts[by] = shift_by(names, self.original, self.control)
        return unlike(names, self._shifts[by])

    @property
    def weight(self) -> NDArray[np.float64] | None:
        """What each control person counts for, where they are unlike those attacked; None: all alike."""
        return None if self.shift is None or self.shift.alike else self.shift.weight


def placed(rows: NDArray[np.int64], *, among: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each row in an ascending list of rows; ABSENT where it is not there.

    >>> placed(np.array([4, 2, -1]), among=np.array([2, 3, 4])).tolist()
    [2, 0, -2]
    """
    at = np.minimum(np.searchsorted(among, rows), len(among) - 1)
    return np.where(among[at] == rows, at, ABSENT)


def unlike(names: Collection[str], found: Shift) -> str:
    """Why nothing is asked that compares members with control people; "" where they are alike enough."""
    if not found.unlike:
        return ""
    return (
        f"without any release, members are told from control people by {', '.join(names)} (AUC "
        f"{found.auc:.2f}; 0.5 where they are alike): draw both from the same people, with the same columns"
    )


def of_each(what: str, given: Any, releases: Mapping[str, Table]) -> dict[str, Any]:
    """What is said of each release, by its name; what is said once is said of all."""
    said = given if isinstance(given, Mapping) else dict.fromkeys(releases, given)
    for name in said:
        if name not in releases:
            raise UnmaskError(f"{what} names a release that was not given; the releases are {', '.join(releases)}")
    return {name: one for name, one in said.items() if one is not None}


def two_parts(parts: tuple[Sequence[str], Sequence[str]], *tables: Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The two parts, checked: columns of every table, none in both."""
    check_parts(parts)
    one, other = (tuple(part) for part in parts)
    for table in tables:
        check_columns(table.names, [*one, *other], where="the table")
    return one, other


def row_numbers(what: str, given: ArrayLike, table: Table | None) -> NDArray[np.int64]:
    """(n_rows,) whole numbers, one for each row of a table; checked."""
    if table is None:
        raise UnmaskError(f"{what} is about a table that was not given; give both")
    rows = np.asarray(given)
    if rows.shape != (table.n_rows,) or rows.dtype.kind not in "iu":
        raise UnmaskError(f"{what} is no array of {table.n_rows} whole numbers, one for each row of the table")
    return rows
