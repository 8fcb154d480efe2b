"""What a report shows besides its rows. Reports know no subject by name: each says itself how it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, Self


class Subject:
    """One subject of a report, such as a network that was attacked: a frozen dataclass of facts, about people together.

    name     : of its tables: a field `attacks` that holds dataclasses is the table `graph_attacks` of the subject
               `graph`, whose single values are the one row of the table `graph`
    shown_by : the module that shows it, by its dotted name, see `unmask.reports.showing`; imported where a page is made
    before   : which section of every page its own comes before; unless that is "membership" or "utility", its
               findings lead
    kind     : what its page is, such as "Network audit"
    verb     : the command that makes it, and `asks` a condition that a policy may set there
    told     : measures that its findings speak about, so that the findings of rows leave them out
    """

    name: ClassVar[str]
    shown_by: ClassVar[str]
    before: ClassVar[Literal["success", "membership", "measures", "utility"]] = "measures"
    kind: ClassVar[str] = ""
    verb: ClassVar[str] = ""
    asks: ClassVar[str] = ""
    told: ClassVar[frozenset[str]] = frozenset()

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
