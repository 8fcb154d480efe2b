"""What a report shows besides its rows. Reports know no subject by name: each says itself how it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, cast

if TYPE_CHECKING:
    from unmask.reports.data import Scope
    from unmask.reports.parts import Section


class Showing(Protocol):
    """A module that shows a subject; scope : the report, and what there is to tell apart in it."""

    def section(self, facts: Any, scope: Scope) -> Section | None:
        """Its section of the page."""

    def findings(self, facts: Any, scope: Scope) -> list[str]:
        """Its findings, a sentence each, the most important first."""
        ...


class Subject:
    """One subject of a report, such as a network that was attacked: a frozen dataclass of facts, about people together.

    name     : of its tables: a field `attacks` that holds dataclasses is the table `graph_attacks` of the subject
               `graph`, whose single values are the one row of the table `graph`
    shown_by : the module that shows it, a `Showing`, by its dotted name; it is imported where a page is made
    before   : which section of every page its own comes before; unless that is "utility", its findings lead
    personal : whether it is about people; if not, and nobody is re-identified, the page speaks of cases
    told     : measures that its findings speak about, so that the findings of rows leave them out
    """

    name: ClassVar[str]
    shown_by: ClassVar[str]
    before: ClassVar[Literal["success", "measures", "utility"]] = "measures"
    personal: ClassVar[bool] = True
    told: ClassVar[frozenset[str]] = frozenset()

    @property
    def showing(self) -> Showing:
        """The module that shows it."""
        return cast(Showing, import_module(self.shown_by))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a program must hand on with its numbers."""
        return ()

    def without_small(self, least: int) -> Self:
        """The same without what tells about fewer than `least` people; every subject says what that is."""
        raise NotImplementedError

    def criteria(self) -> Iterator[tuple[str, str, float]]:
        """(release, criterion, value): what a gate may be set on besides rows and criteria of the report."""
        yield from ()

    def intruder(self) -> str:
        """Whether an attack pays, in a sentence; "" where that is not known."""
        return ""
