"""Workflows: the screens for a type of file, the forms on them, and the commands that they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from unmask.app.fields import Field, has_value
from unmask.app.jobs import Command
from unmask.app.project import GAME_PAGE, REPORT, Project
from unmask.languages import mark

Document = Mapping[str, Any]


class Limit(NamedTuple):
    """A condition of a policy with a box for its bound.

    condition : all but the bound, such as breached<=
    unit      : unit of the bound, or a function that computes it for a document; % for a share
    """

    condition: str
    unit: str | Callable[[Document], str] = "%"

    def unit_in(self, document: Document) -> str:
        """Return the unit of the bound."""
        return self.unit if isinstance(self.unit, str) else self.unit(document)


@dataclass(frozen=True)
class Form:
    """Fields of a screen. Titles and texts are in its template.

    fields : function that lists the fields for a document
    limits : conditions, of which at least one is required
    """

    fields: Callable[[Document], Sequence[Field]]
    limits: tuple[Limit, ...] = ()

    def is_complete(self, document: Document) -> bool:
        """Return whether a document has every required value."""
        return all(has_value(document, field.key) for field in self.fields(document) if field.required)


class Parameter(NamedTuple):
    """A parameter of a protection that is tried with several values. format : value -> text"""

    name: str
    label: str
    format: Callable[[Any], str] = str


@dataclass(frozen=True)
class Trials:
    """Protections that are tried in the background.

    output     : file or folder with the results
    parameters : parameters that differ
    read       : function that reads them from a document
    apply      : function that returns the document with other ones
    plan       : function that makes the document of the study; None if a curve of mechanisms is solved instead
    losses     : function that lists the measures of lost utility
    """

    output: str
    parameters: tuple[Parameter, ...]
    read: Callable[[Document], dict[str, Any]]
    apply: Callable[[Document, Mapping[str, Any]], dict[str, Any]]
    plan: Callable[[Project], dict[str, Any]] | None = None
    losses: Callable[[], Sequence[str]] = tuple

    def name_release(self, values: Mapping[str, Any]) -> str:
        """Return the name of a release by its parameters."""
        parts = [f"{item.name} = {item.format(values[item.name])}" for item in self.parameters if values.get(item.name)]
        return ", ".join(parts) or "unprotected"


class Sample(NamedTuple):
    """Name of a file, and its columns with the first rows; no columns if it is not a table."""

    name: str
    columns: dict[str, list[str]]


class Step(NamedTuple):
    """A screen: its address, its title, whether there is anything to show, and whether it is done."""

    name: str
    title: str
    is_open: bool
    is_done: bool


@dataclass(frozen=True)
class Workflow:
    """The screens for a type of file.

    word         : section of the document, and word after `unmask audit`; "" for a table of people
    title        : name of the type
    meaning      : description of such a file
    roles_title  : title of the second screen
    is_described : function that decides whether the second screen is complete
    is_attacked  : function that decides whether a document has adversaries
    guess        : function that explains why a file looks like this type; "" if it does not
    begin        : function that makes the first document
    commands     : function that lists the commands that make a release and attack it; the audit is the last one
    forms        : name of a screen -> its form
    trials       : protections to try; None if there is no protection
    describe     : function that describes the file in a sentence; None if its first rows are shown
    file_keys    : keys of its section that may name files
    advice       : next step after a verdict that is not acceptable, without protections to try
    """

    word: str
    title: str
    meaning: str
    roles_title: str
    is_described: Callable[[Document], bool]
    is_attacked: Callable[[Document], bool]
    guess: Callable[[Sample], str]
    begin: Callable[[Sample], dict[str, Any]]
    commands: Callable[[Document], tuple[Command, ...]]
    forms: Mapping[str, Form]
    trials: Trials | None = None
    describe: Callable[[Project], str] | None = None
    file_keys: tuple[str, ...] = ()
    advice: str = ""

    def list_steps(self, project: Project) -> Iterator[Step]:
        """Yield the screens of a project in their order."""
        document, folder, has_file = project.document, project.folder, project.file is not None
        is_described = has_file and self.is_described(document)
        is_confirmed = is_described and (not self.word or "roles" in project.notes.get("confirmed", ()))
        is_judged = is_described and self.is_attacked(document) and bool(document.get("policy"))
        is_audited = is_judged and _is_audited(project, self.commands(document))
        yield Step("open", mark("Open"), True, has_file)
        yield Step("roles", self.roles_title, has_file, is_confirmed)
        yield Step("adversaries", mark("Adversaries"), is_described, is_judged)
        yield Step("verdict", mark("Verdict"), is_judged, is_audited)
        if self.trials:
            yield Step("protect", mark("Protect"), is_judged, is_judged and (folder / self.trials.output).exists())
        if not self.word:
            yield Step("game", mark("Price"), is_judged, (folder / GAME_PAGE).exists())
        yield Step("sign", mark("Sign"), is_audited, project.is_done("certificate"))

    def step(self, name: str, project: Project) -> Step | None:
        """Return the screen at an address."""
        return next((step for step in self.list_steps(project) if step.name == name), None)


def _is_audited(project: Project, commands: Sequence[Command]) -> bool:
    """Return whether the document has a verdict, and every file that its commands write exists."""
    outputs = [command[command.index("-o") + 1] for command in commands if "-o" in command]
    return project.is_done("verdict") and all((project.folder / name).exists() for name in (REPORT, *outputs))
