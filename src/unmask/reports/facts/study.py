"""What the page of a study shows, as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from unmask.core.errors import UnmaskError
from unmask.measures.registry import SHARES
from unmask.policy import Assessment, Policy
from unmask.policy.verdict import State, limit_ratio, to_line
from unmask.reports.facts.found import Found, plain_row
from unmask.reports.words import styles_of
from unmask.results import StudyRow
from unmask.results.preferred_rows import ERRORS, PreferredRows, preferred_rows

if TYPE_CHECKING:
    from unmask.results import AuditResult


@dataclass(frozen=True)
class Missing:
    """Cells without a result: "failed", "timed out", "skipped" or "not run", how many, and why one of them."""

    dataset: str
    protection: str
    adversary: str
    status: str
    cells: int
    reason: str


@dataclass(frozen=True)
class Spot:
    """One protection as one adversary sees it: what is left of utility, and their success, or error.

    best : whether no other protection has at least the utility and is at least as good against them, and one of them
           strictly
    """

    protection: str
    adversary: str
    target: str
    utility: float
    success: float
    low: float | None
    high: float | None
    best: bool


def judged(spots: Sequence[Spot]) -> tuple[str, ...]:
    """Protections that have a spot of every adversary and target among the spots."""
    attacks = {(spot.adversary, spot.target) for spot in spots}
    seen: dict[str, set[tuple[str, str]]] = {}
    for spot in spots:
        seen.setdefault(spot.protection, set()).add((spot.adversary, spot.target))
    return tuple(name for name, own in seen.items() if own == attacks)


@dataclass(frozen=True)
class Plane:
    """Utility against success, or error, for the adversaries of one dataset whose utility has one unit.

    unit        : of the utility; the higher, the more is left
    risk_unit   : of what the adversaries reach
    direction   : whether they want it "high" (success) or "low" (the error under a graded loss)
    spots       : of every protection and adversary with both values
    undominated : protections that no other beats in utility and, for every target, in the success of the strongest
                  adversary after it; only those in `judged` take part
    """

    dataset: str
    unit: str
    spots: tuple[Spot, ...]
    undominated: tuple[str, ...]
    risk_unit: str = "probability"
    direction: str = "high"

    @property
    def protections(self) -> tuple[str, ...]:
        """All of them, in the order of spots."""
        return tuple(dict.fromkeys(spot.protection for spot in self.spots))

    @property
    def judged(self) -> tuple[str, ...]:
        """Protections that every adversary here has a result for: who is strongest is not known of the others."""
        return judged(self.spots)


@dataclass(frozen=True)
class Option:
    """A protection of one dataset under the policy of the study.

    utility, unit : mean over adversaries, nan where it is not known; and its unit
    judged        : the conditions that are about the dataset
    open          : why something is not known: a cell or a seed without a result, or an unknown utility
    """

    dataset: str
    protection: str
    utility: float
    unit: str
    judged: tuple[Assessment, ...] = ()
    open: tuple[str, ...] = ()

    @property
    def missed(self) -> int:
        """Conditions that are missed."""
        return sum(one.state == "missed" for one in self.judged)

    @property
    def farthest(self) -> float:
        """How many times the limit the worst of its conditions is; 0 where that says nothing."""
        found = [(one.closest, one.requirement.require) for one in self.judged]
        return max((limit_ratio(near.value, asked) or 0.0 for near, asked in found if near is not None), default=0.0)

    @property
    def state(self) -> State:
        """Met where every condition is, and nothing is open."""
        tested = all(one.state == "met" for one in self.judged) and not self.open
        return "missed" if self.missed else "met" if tested else "untested"


@dataclass(frozen=True)
class StudyData(Found):
    """All that the page of a study shows, as values.

    title       : heading
    rows        : what was measured, in the order of the plan
    missing     : cells without a result
    planes      : risk against utility, for each dataset that has both
    words       : name of a dataset, protection or adversary -> what the plan says of it; may lack any
    unprotected : protections that leave everything as it is
    seeds       : in the whole study
    assumptions : one sentence each
    reproduce   : command, version, digests ...
    policy      : title of the policy in its document; "" where there is none
    options     : every protection of each dataset that a condition is about, the best first
    game        : what to release and what to ask for it, where the document has a publisher
    """

    rows: tuple[StudyRow, ...]
    missing: tuple[Missing, ...] = ()
    planes: tuple[Plane, ...] = ()
    words: Mapping[tuple[str, str], str] = field(default_factory=dict)
    unprotected: frozenset[str] = frozenset()
    seeds: int = 1
    assumptions: tuple[str, ...] = ()
    reproduce: Mapping[str, object] = field(default_factory=dict)
    policy: str = ""
    options: tuple[Option, ...] = ()
    game: AuditResult | None = None

    command: ClassVar = "report"

    def plain_rows(self) -> list[dict[str, Any]]:
        """The rows as plain values."""
        return [_plain_row(row) for row in self.rows]

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Every field that holds facts, and what is undominated, by name."""
        yield from super().facts()
        best = dict.fromkeys((plane.dataset, name) for plane in self.planes for name in plane.undominated)
        lines = (
            (one.dataset, to_line(one.protection, Policy(self.policy, ()), own))
            for one in self.options
            for own in one.judged
        )
        yield "verdicts", tuple({"dataset": dataset, **vars(line)} for dataset, line in lines)
        game = () if self.game is None else self.game.tables
        yield from ((table.name, tuple(table.records())) for table in game if not table.page_only)
        yield "undominated", tuple({"dataset": dataset, "protection": name} for dataset, name in best)

    @property
    def not_run(self) -> tuple[tuple[str, str], ...]:
        """Cells without a result, and why."""
        return tuple(
            (f"{one.dataset}, {one.protection}, {one.adversary}: {one.cells} cells {one.status}", one.reason)
            for one in self.missing
        )

    def __post_init__(self) -> None:
        """Refuse a page about nothing."""
        if not self.rows and not self.missing:
            raise UnmaskError("the study has 0 cells, expected at least 1; run it first")

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """In the order of the plan."""
        return tuple(dict.fromkeys(item.dataset for item in self._cells))

    @cached_property
    def spoken(self) -> Mapping[str, StudyRows]:
        """Dataset -> the measures that are spoken about, see `spoken_of`."""
        return {name: spoken_of(tuple(row for row in self.rows if row.dataset == name)) for name in self.datasets}

    @cached_property
    def adversaries(self) -> tuple[str, ...]:
        """In the order of rows, then of what is missing; their place is their letter, color and shape."""
        named = (item.adversary for item in self._cells)
        return tuple(dict.fromkeys(named))

    @cached_property
    def protections(self) -> tuple[str, ...]:
        """In the order of the plan."""
        named = (item.release if isinstance(item, StudyRow) else item.protection for item in self._cells)
        return tuple(dict.fromkeys(named))

    @cached_property
    def _cells(self) -> tuple[StudyRow | Missing, ...]:
        return (*self.rows, *self.missing)

    @cached_property
    def styles(self) -> dict[str, int]:
        """Adversary -> number of its letter, color and shape."""
        return styles_of(self.adversaries)


StudyRows = PreferredRows[StudyRow]
"""(protection, adversary, target) of one dataset -> the row that findings mention."""


def spoken_of(rows: tuple[StudyRow, ...]) -> StudyRows:
    """The headlines of one dataset: success, or the error of an adversary whose loss is graded, whom it does not help
    to be right more often; the error too where no success was measured.
    """
    graded = {_attack(item) for item in rows if item.measure in ERRORS and item.unit not in SHARES}
    by_error = preferred_rows(tuple(item for item in rows if _attack(item) in graded), ERRORS)
    by_success = preferred_rows(tuple(item for item in rows if _attack(item) not in graded))
    return {**by_success, **by_error} or preferred_rows(rows, ERRORS)


def _attack(item: StudyRow) -> tuple[str, str]:
    return item.adversary, item.target


def _plain_row(row: StudyRow) -> dict[str, Any]:
    """Return a row by dataset and protection."""
    values = {name: value for name, value in plain_row(row).items() if name not in ("release", "quantiles", "cells")}
    return {"dataset": row.dataset, "protection": row.release, **values}
