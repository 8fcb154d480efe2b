"""What can be opened, declared: its table in the document, its screens and what they ask for, and its commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from unmask.app.jobs import Command
from unmask.app.project import REPORT, Project
from unmask.ranges import Range
from unmask.schema import defaults, parameters

Holds = Literal["number", "whole", "percent", "text", "file", "files", "one", "several", "flag"]
"""What a field holds; "one" and "several" are of its options."""

Options = Mapping[str, str]
"""Value -> the words for it."""

Commands = Callable[[Mapping[str, Any]], tuple[Command, ...]]
"""What a document asks to be run."""


SOURCES: Mapping[str, str] = {
    "linkage": "unmask.linkage.audit:Sensitivity",
    "graph": "unmask.graphs.audit:audit",
    "channel": "unmask.channels.audit:audit",
}
"""Table of a document -> function whose parameters are its keys: they decide on types, ranges and defaults."""


@dataclass(frozen=True)
class Field:
    """A value of the document that a card asks for.

    key     : its table and its name there, such as linkage.beta
    words   : label of its box
    form    : of the box; that of the parameter's type unless it is given
    source  : function whose parameter it is; that of `SOURCES` unless it is given
    usual   : function that finds a default in a project; that of the parameter unless it is given
    before  : text in front of the value in a document, such as random.25:
    options : choices, or a function that finds them in a project
    needed  : True if nothing goes on without it
    """

    key: str
    words: str
    form: Holds | None = None
    source: str = ""
    usual: Callable[[Project], Any] | None = None
    before: str = ""
    options: Options | Callable[[Project], Options] = lambda _: {}
    needed: bool = False

    @property
    def hint(self) -> Any:
        """The type of its parameter; any value if it is no parameter of its source."""
        table, _, name = self.key.partition(".")
        source = self.source or SOURCES.get(table)
        return parameters(source).get(name, Any) if source else Any

    @property
    def holds(self) -> Holds:
        """The form of its box."""
        return self.form or form_of(self.hint)

    def usual_in(self, project: Project) -> Any:
        """The value in a project whose document has none; None if one is needed, or if there is no default."""
        table, _, name = self.key.partition(".")
        source = self.source or SOURCES.get(table)
        if self.usual is not None or self.needed or not source:
            return None if self.usual is None else self.usual(project)
        default = defaults(source).get(name)
        return default if isinstance(default, str | int | float) and default is not False else None


def form_of(hint: Any) -> Holds:
    """Return the form of the box of a type.

    >>> form_of(bool), form_of(Annotated[int, Range(1)]), form_of(Annotated[float, Range(0, 1)]), form_of(float)
    ('flag', 'whole', 'percent', 'number')
    """
    kind, *about = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if any(isinstance(one, Range) and (one.low, one.high) == (0, 1) for one in about):
        return "percent"
    forms: Mapping[Any, Holds] = {bool: "flag", int: "whole", float: "number", Literal: "one"}
    return forms.get(get_origin(kind) or kind, "text")


@dataclass(frozen=True)
class Card:
    """What is asked together.

    text : one sentence, or what finds it in a project
    foot : what else is to be known
    when : of which documents it is asked
    """

    title: str
    text: str | Callable[[Project], str]
    fields: tuple[Field, ...] = ()
    foot: str = ""
    when: Callable[[Mapping[str, Any]], bool] = lambda _: True


class Limit(NamedTuple):
    """A condition whose bound alone is asked for.

    condition : all but the bound, such as breached<=
    unit      : of the bound, or what finds it in a document; % of a share
    """

    condition: str
    unit: str | Callable[[Mapping[str, Any]], str] = "%"

    def unit_in(self, given: Mapping[str, Any]) -> str:
        """The unit of the bound."""
        return self.unit if isinstance(self.unit, str) else self.unit(given)


@dataclass(frozen=True)
class Asked:
    """A screen of cards. limits : conditions of which one at least is to be given"""

    title: str
    lead: str
    cards: tuple[Card, ...]
    limits: tuple[Limit, ...] = ()

    def fields(self, given: Mapping[str, Any]) -> Iterator[Field]:
        """What is asked of a document."""
        return (field for card in self.cards if card.when(given) for field in card.fields)


class Parameter(NamedTuple):
    """What a protection is asked and was tried with several values of. shown : a value as it is written"""

    name: str
    words: str
    shown: Callable[[Any], str] = str


@dataclass(frozen=True)
class Trials:
    """Other protections of a kind, tried in the background.

    about      : what is tried
    kept       : what utility is
    squares    : what the points have that are squares: more of the last parameter
    parameters : what the points differ in
    asked      : the parameters of a document's own protection
    used       : the document with other ones
    plan       : of the study that tries them; None of what the curve of designs tries
    losses     : the measures of what a point has lost that are shown
    """

    about: str
    kept: str
    squares: str
    parameters: tuple[Parameter, ...]
    asked: Callable[[Mapping[str, Any]], dict[str, Any]]
    used: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]
    plan: Callable[[Project], dict[str, Any]] | None = None
    losses: Callable[[], Sequence[str]] = tuple

    def words(self, asked: Mapping[str, Any]) -> str:
        """What a point is called."""
        said = [f"{one.name} = {one.shown(asked[one.name])}" for one in self.parameters if asked.get(one.name)]
        return ", ".join(said) or "unprotected"


@dataclass(frozen=True)
class Step:
    """A screen: its address, its title in the row of steps, its module, and when there is anything to show.

    asked : the cards that it asks for, in place of a module of its own
    """

    name: str
    title: str
    module: str
    is_open: Callable[[Project], bool]
    is_done: Callable[[Project], bool]
    asked: Asked | None = None

    @property
    def screen(self) -> Any:
        """What shows it and takes its forms."""
        module = import_module(f"unmask.app.{self.module}")
        return module if self.asked is None else module.Asking(self.asked, self.name)

    @property
    def template(self) -> str:
        """What draws it."""
        return "cards" if self.asked else self.name


class Sample(NamedTuple):
    """The beginning of a file: its name, its columns and first rows; none where it is no table."""

    name: str
    columns: dict[str, list[str]]


@dataclass(frozen=True)
class Kind:
    """What a document is about.

    word     : the name of its table there, and what follows `unmask audit`; "" of a table of people
    title    : what it is called
    meaning  : what a file of it holds
    steps    : its screens
    guess    : why a file looks like one; "" where it does not
    begin    : its first document
    commands : what makes a release and attacks it, the attack at the end
    trials   : what else could be released; None where nothing is protected
    says     : what was read, in a sentence; None where its first rows are shown
    """

    word: str
    title: str
    meaning: str
    steps: tuple[Step, ...]
    guess: Callable[[Sample], str]
    begin: Callable[[Sample], dict[str, Any]]
    commands: Commands
    trials: Trials | None = None
    says: Callable[[Project], str] | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """What its table says in names of files, or may say so."""
        asked = [field for step in self.steps if step.asked for card in step.asked.cards for field in card.fields]
        return tuple(one.key.partition(".")[2] for one in asked if one.holds in ("file", "files"))

    def step(self, name: str) -> Step | None:
        """The screen at an address."""
        return next((one for one in self.steps if one.name == name), None)


# --- values of a document ---------------------------------------------------------------------------------------------


def value_at(given: Mapping[str, Any], key: str) -> Any:
    """What a document says at TABLE.KEY, of protections in the first one.

    >>> value_at({"linkage": {"beta": 0.5}}, "linkage.beta")
    0.5
    """
    table, _, name = key.partition(".")
    (one,) = given.get(table, [])[:1] or [{}] if table == "protections" else [{"with": given.get(table, {})}]
    return one.get("with", {}).get(name)


def is_said(given: Mapping[str, Any], key: str) -> bool:
    """Whether a document says anything at TABLE.KEY; that nobody is protected is something."""
    return value_at(given, key) not in (None, "", [])


def with_value(given: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The document with another value at TABLE.KEY; None takes it out.

    >>> with_value({"linkage": {"beta": 0.5}}, "linkage.beta", None)
    {'linkage': {}}
    """
    table, _, name = key.partition(".")
    if table == "protections":
        one = given[table][0]
        return {**given, table: [{**one, **with_value({"with": one.get("with", {})}, f"with.{name}", value)}]}
    kept = {other: one for other, one in given.get(table, {}).items() if other != name}
    return {**given, table: kept | ({} if value is None else {name: value})}


# --- steps ------------------------------------------------------------------------------------------------------------


def has_file(project: Project) -> bool:
    """Whether something was opened."""
    return project.file is not None


def is_answered(asked: Asked) -> Callable[[Project], bool]:
    """Whether all is there without which nothing goes on."""

    def answered(project: Project) -> bool:
        given = project.given
        needed = (field.key for field in asked.fields(given) if field.needed)
        return has_file(project) and all(is_said(given, key) for key in needed)

    return answered


def is_made(project: Project, commands: Sequence[Command]) -> bool:
    """Whether there is a verdict on what the document says now, and all that commands wrote."""
    written = [command[command.index("-o") + 1] for command in commands if "-o" in command]
    return project.done("verdict") and all((project.folder / name).exists() for name in (REPORT, *written))


def steps_of(title: str, files: Asked, adversaries: Asked, commands: Commands, tried: str = "") -> tuple[Step, ...]:
    """The screens of a kind whose second and third are cards.

    title : of the second; tried : what the fifth writes; "" of a kind that has none
    """
    known = is_answered(files)

    def is_seen(project: Project) -> bool:
        return known(project) and "roles" in project.passed

    def is_judged(project: Project) -> bool:
        return known(project) and is_answered(adversaries)(project) and bool(project.given.get("policy"))

    def made(project: Project) -> bool:
        return is_judged(project) and is_made(project, commands(project.given))

    protect = Step("protect", "Protect", "protecting", is_judged, lambda p: (p.folder / tried).exists())
    return (
        Step("open", "Open", "opening", lambda _: True, has_file),
        Step("roles", title, "asking", has_file, is_seen, files),
        Step("adversaries", "Adversaries", "asking", known, is_judged, adversaries),
        Step("verdict", "Verdict", "verdict", is_judged, made),
        *([protect] if tried else []),
        Step("sign", "Sign", "signing", made, lambda p: p.done("certificate")),
    )
