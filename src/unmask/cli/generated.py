"""Options made of what documents and Python use: the fields of a dataclass, or the keywords of a function.

An option is called as its field. Its type, choices and range are those of the annotation, its default is the field's,
and its help is the field's line in the docstring, `name : text`.
"""

from __future__ import annotations

import inspect
import itertools
import math
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

from unmask.core.errors import UnmaskError
from unmask.ranges import Range

Function = TypeVar("Function", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)


def options(source: str, *names: str, **changed: Mapping[str, Any]) -> Callable[[Function], Function]:
    """The options of a dataclass or a function, for a `Command`; nothing is imported before they are looked at.

    source  : "module:name"
    names   : of the fields; all whose type can be typed on a command line, unless some are named or changed
    changed : what `click.Option` is to be given besides; "flags" are its names on the command line, "name" the one that
              its function knows it by, "parse" makes its value of what was typed
    """

    def decorate(function: Function) -> Function:
        given = function.__dict__.setdefault("__click_params__", [])
        given.append(Later(source, names, changed))
        return function

    return decorate


HEADINGS = ("Input", "Knowledge", "Policy", "Output", "Options")
"""Headings of options in a help text, in their order."""


def under(heading: str, decorator: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator whose options stand below a heading of the help text."""

    def decorate(function: Any) -> Any:
        before = list(function.__dict__.get("__click_params__", ()))
        decorated = decorator(function)
        for option in decorated.__dict__["__click_params__"]:
            if option not in before:
                option.heading = heading
        return decorated

    return decorate


def input_option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return the decorator of an option about what is read."""
    return under("Input", click.option(*names, **settings))


def output_option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return the decorator of an option about what is written."""
    return under("Output", click.option(*names, **settings))


class Command(click.Command):
    """A command some of whose options are made when somebody looks at them: to run it, to complete it, for its help."""

    given: list[Any]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options below their headings."""
        records: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        for option in self.get_params(ctx):
            if (record := option.get_help_record(ctx)) is not None:
                records[getattr(option, "heading", "Options")].append(record)
        for heading in (heading for heading in HEADINGS if records[heading]):
            with formatter.section(heading):
                formatter.write_dl(records[heading])

    @property
    def params(self) -> list[click.Parameter]:
        """Its arguments and options."""
        made = ((one.options() if isinstance(one, Later) else [one]) for one in self.given)
        self.given[:] = [option for some in made for option in some]
        return self.given

    @params.setter
    def params(self, given: list[click.Parameter]) -> None:
        self.given = given


@dataclass(eq=False)
class Later:
    """Options that are made when they are first asked for. heading : in the help text"""

    source: str
    names: tuple[str, ...]
    changed: Mapping[str, Mapping[str, Any]]
    heading: str = "Options"

    def options(self) -> Iterator[click.Option]:
        """The options, in the order of the names, or of the fields."""
        module, _, name = self.source.partition(":")
        source = attrgetter(name)(import_module(module))
        fields = inspect.signature(source).parameters
        hints = get_type_hints(source, include_extras=True)
        lines = described(inspect.getdoc(source) or "")
        for field in self.names or self.changed or [name for name in fields if name in hints and typed(hints[name])]:
            own = self.changed.get(field, {})
            said = {"help": lines.get(field), **_of_default(fields[field].default), **typed(hints.get(field)), **own}
            option: Any = _option(field, said)
            option.heading = self.heading
            yield option


def _option(field: str, said: dict[str, Any]) -> click.Option:
    if "parse" in said:
        said["callback"] = parsed(said.pop("parse"))
    flags = said.pop("flags", (f"--{field.replace('_', '-')}",))
    return click.Option([said.pop("name", field), *flags], **said)


def typed(hint: Any) -> dict[str, Any]:
    """How a type is written on a command line; nothing where it cannot be.

    >>> typed(bool), typed(float | None), typed(Annotated[int, Range(1)])
    ({'is_flag': True}, {'type': <class 'float'>}, {'type': <IntRange x>=1>, 'parse': <function number at ...>})
    """
    if get_origin(hint) is Annotated:
        kind, *about = get_args(hint)
        bounds = next((one for one in about if isinstance(one, Range)), None)
        return typed(kind) if bounds is None else _within(kind, bounds)
    if get_origin(hint) is Literal:
        return {"type": click.Choice(get_args(hint))}
    if get_origin(hint) in (Union, types.UnionType):
        found = [typed(one) for one in get_args(hint) if one is not type(None)]
        return next((one for one in found if one.get("type") is FILE), next(filter(None, found), {}))
    if hint in (str, int, float):
        return {"type": hint}
    if inspect.isclass(get_origin(hint) or hint) and issubclass(get_origin(hint) or hint, PathLike):
        return {"type": FILE}
    return {"is_flag": True} if hint is bool else {}


def taken(given: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """What options of these names were given, taken out of all that were."""
    return {name: given.pop(name) for name in names}


def parsed(parse: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Make the value of an option of what was typed; a refusal names the option."""

    def callback(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        try:
            return parse(value)
        except UnmaskError as error:
            raise click.BadParameter(str(error), ctx, parameter) from None

    return callback


def _within(kind: type, bounds: Range) -> dict[str, Any]:
    of_kind: Any = click.IntRange if kind is int else click.FloatRange
    return {"type": of_kind(bounds.low, bounds.high, min_open=bounds.above, max_open=bounds.below), "parse": number}


def split(text: str | list[str] | None) -> tuple[str, ...]:
    """Names separated by commas, or listed in a document."""
    if not isinstance(text, str | list | None):
        raise UnmaskError(f"expected names, separated by commas or in a list, given {text!r}")
    names = text if isinstance(text, list) else (text or "").split(",")
    return tuple(str(name).strip() for name in names if str(name).strip())


class Names(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """Names separated by commas; a document lists them, and a listed name may hold a comma."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The names of one of several options."""
        source = None if ctx is None or param is None else ctx.get_parameter_source(str(param.name))
        return split([value] if source is ParameterSource.DEFAULT_MAP else value)


def joined(names: Iterable[tuple[str, ...]] | None) -> tuple[str, ...]:
    """The names of an option that was given several times."""
    return tuple(itertools.chain.from_iterable(names or ()))


NAMES: dict[str, Any] = {"parse": joined, "type": Names(), "multiple": True}
"""Names, typed or from a document's list; a repeated option adds names."""


def number(value: float | None) -> float | None:
    """A number; click's range lets nan through."""
    if value is not None and math.isnan(value):
        raise UnmaskError("expected a number, given nan")
    return value


def _of_default(default: Any) -> dict[str, Any]:
    """A default that says something is shown."""
    if default is inspect.Parameter.empty:
        return {"required": True}
    return {"default": default, "show_default": True} if isinstance(default, str | int | float) else {}


def described(doc: str) -> dict[str, str]:
    r"""Return the first sentence about each field in a docstring, in numpydoc's Parameters or as lines `name : text`.

    >>> described(
    ...     "What is asked.\n\nalpha : weight of linking,\n        or of mixing\nseed  : of every draw. See `rng`"
    ... )
    {'alpha': 'Weight of linking, or of mixing.', 'seed': 'Of every draw.'}
    >>> described(
    ...     "Link items.\n\nParameters\n----------\nalpha, beta : float\n    weights of linking\n\nReturns\n-------"
    ... )
    {'alpha': 'Weights of linking.', 'beta': 'Weights of linking.'}
    """
    section = re.search(r"^Parameters\n-+\n((?:(?!\n\n\w.*\n--).|\n)*)", doc, flags=re.MULTILINE)
    if section:
        fields = re.findall(r"^(\w.*?)(?: : .*)?\n((?: +\S.*\n?)+)", section[1] + "\n", flags=re.MULTILINE)
    else:
        fields = re.findall(r"^(\w+) +: (.*(?:\n +\S.*)*)", doc, flags=re.MULTILINE)
    lines = {
        name: " ".join(text.split()).split(". ")[0].removesuffix(".")
        for names, text in fields
        for name in names.split(", ")
    }
    return {name: f"{line[0].upper()}{line[1:]}." for name, line in lines.items()}
