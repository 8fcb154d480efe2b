"""From a subject of a report to the module that shows it."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, Protocol, cast

from unmask.reports.data import Scope
from unmask.reports.parts import Section
from unmask.reports.subject import Subject


class Showing(Protocol):
    """A module that shows a subject; scope : the report, and what there is to tell apart in it."""

    def section(self, facts: Any, scope: Scope) -> Section | None:
        """Its section of the page."""

    def findings(self, facts: Any, scope: Scope) -> list[str]:
        """Its findings, a sentence each, the most important first."""
        ...


def first_screen(subject: Subject, what: Literal["at_risk", "advice"], scope: Scope) -> Any:
    """Who is at risk, or what to do next, as the module of a subject says it; None where it leaves that to the rows."""
    say = getattr(showing(subject), what, None)
    return None if say is None else say(subject, scope)


def showing(subject: Subject) -> Showing:
    """The module that shows it."""
    return cast(Showing, import_module(subject.shown_by))
