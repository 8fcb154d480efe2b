"""Options generated from Python: the fields of a dataclass, or the keywords of a function.

An option has the name, the default, and the type, choices and range of its field. Its help is the field's line in the
docstring, `name : text`. `options_table` has those of our commands, so that help imports no domain.
"""

from __future__ import annotations

import inspect
import itertools
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

import click
from click.core import ParameterSource

from unmask.cli.option_types import (
    FILE,
    NAMES,
    NAMES_OR_NONE,
    FileOrName,
    Input,
    Names,
    check_number,
    join_names,
    parse_levels,
    parse_lists,
    parse_pairs,
    parse_parts,
    split_names,
)
from unmask.cli.options_table import read_options
from unmask.core.errors import UnmaskError
from unmask.core.lazy import import_source
from unmask.protection_specs import Spec, parse_specs
from unmask.ranges import Option, Range, list_hints

Function = TypeVar("Function", bound=Callable[..., Any])


def options(source: str, *names: str, **settings: Mapping[str, Any]) -> Callable[[Function], Function]:
    """Add the options of a dataclass or a function to a `Command`.

    source   : "module:name"
    names    : of the fields; by default all whose type can be typed on a command line
    settings : field -> further arguments of `click.Option`; "name" is the argument of the command's function
    """

    def decorate(function: Function) -> Function:
        parameters = function.__dict__.setdefault("__click_params__", [])
        parameters.append(LazyOptions(source, names, settings))
        return function

    return decorate


HEADINGS = ("Input", "Knowledge", "Protection", "Magnitudes", "Policy", "Output", "Large data", "Options")
"""Headings of options in a help text, in their order."""


def grouped(heading: str, decorator: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator whose options are listed below a heading of the help text."""

    def decorate(function: Any) -> Any:
        earlier = list(function.__dict__.get("__click_params__", ()))
        decorated = decorator(function)
        for option in decorated.__dict__["__click_params__"]:
            if option not in earlier:
                option.heading = heading
        return decorated

    return decorate


def input_option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return the decorator of an option about what is read."""
    return grouped("Input", click.option(*names, **settings))


def output_option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return the decorator of an option about what is written."""
    return grouped("Output", click.option(*names, **settings))


class Command(click.Command):
    """A command some of whose options are made when they are needed: to run it, to complete it, for its help.

    The `obj` of its context has the texts of the typed options, by name.
    """

    lazy_params: list[Any]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the texts of the typed options, and parse them."""
        self.read_typed(ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error names its options, and not the keywords of Python."""
        try:
            return super().invoke(ctx)
        except UnmaskError as error:
            error.args = (write_options(str(error), ctx),)
            raise

    def read_typed(self, ctx: click.Context, args: list[str]) -> Mapping[str, Any]:
        """Return the typed arguments and options as texts, after they are kept in the context."""
        typed = self.make_parser(ctx).parse_args(list(args))[0]
        ctx.obj = typed | {
            name: list(join_names(map(split_names, typed[name]))) for name in self.name_options & typed.keys()
        }
        return typed

    @property
    def name_options(self) -> set[str]:
        """The options that take names."""
        return {str(param.name) for param in self.params if isinstance(param.type, Names)}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options below their headings."""
        records: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        for option in self.get_params(ctx):
            if isinstance(option, click.Option) and (record := option.get_help_record(ctx)) is not None:
                records[getattr(option, "heading", "Options")].append(record)
        for heading in (heading for heading in HEADINGS if records[heading]):
            with formatter.section(heading):
                formatter.write_dl(records[heading])

    @property
    def params(self) -> list[click.Parameter]:
        """The arguments and options."""
        decorated = (item.options() if isinstance(item, LazyOptions) else [item] for item in self.lazy_params)
        self.lazy_params[:] = itertools.chain.from_iterable(list(decorated))
        return self.lazy_params

    @params.setter
    def params(self, params: list[click.Parameter]) -> None:
        self.lazy_params = params


def write_options(text: str, ctx: click.Context) -> str:
    """Return an error with options in place of parameters.

    A parameter is recognized in backquotes, in name='value', with an underscore, and at the beginning.

    >>> command = click.Command("audit", params=[click.Option(["--hold-back"]), click.Option(["--missing"])])
    >>> ctx = command.make_context("audit", ["--hold-back", "0.2"])
    >>> write_options("hold_back needs `missing`, or missing='drop'; `*` is no option", ctx)
    '--hold-back needs --missing, or --missing drop; `*` is no option'
    >>> write_options("Complete(missing='drop') fails", ctx)
    "Complete(missing='drop') fails"
    """
    options = {str(option.name): option for option in ctx.command.params if isinstance(option, click.Option)}
    flags = {name: option.opts[-1] for name, option in options.items()}

    def write_option(keyword: re.Match[str]) -> str:
        name, value = keyword.groups()
        if name not in options:
            return keyword[0]
        if value == "False" and options[name].secondary_opts:
            return options[name].secondary_opts[0]
        return f"{flags[name]} {value.strip(chr(39))}".removesuffix(" True")

    text = re.sub(r"`(\w+)`", lambda quoted: flags.get(quoted[1], quoted[0]), text)
    text = re.sub(r"\w+\([^()]*\)|(?<![:\w])(\w+)=('[^']*'|True|False|\d+)", write_option, text)  # no object: A(k=3)
    first = text.partition(" ")[0]
    if first in flags and ctx.get_parameter_source(first) is ParameterSource.COMMANDLINE:
        text = text.replace(first, flags[first], 1)
    return re.sub(r"(?<!['\w.])\w+_\w+", lambda word: flags.get(word[0], word[0]), text)


@dataclass(eq=False)
class LazyOptions:
    """Options that are made when they are first needed. heading : in the help text"""

    source: str
    names: tuple[str, ...]
    settings: Mapping[str, Mapping[str, Any]]
    heading: str = "Options"

    def options(self) -> Iterator[click.Option]:
        """Yield the options, in the order of the names."""
        declared = read_options(self.source)
        fields = tuple(self.names or declared or list_typed_parameters(self.source))
        declared = declared if declared.keys() >= {*fields} else declare_parameters(self.source)
        for field in fields:
            yield self._make_option(field, {**declared[field], **self.settings.get(field, {})})

    def _make_option(self, field: str, settings: dict[str, Any]) -> click.Option:
        if "parse" in settings:
            settings["callback"] = parse_with(settings.pop("parse"))
        heading, name = settings.pop("heading", self.heading), field.replace("_", "-")
        flags = settings.pop("flags", (f"--{name}",))
        option: Any = click.Option([settings.pop("name", field), *flags], **settings)
        option.heading = heading
        return cast(click.Option, option)


def declare_parameters(source: str) -> dict[str, dict[str, Any]]:
    """Return the settings of an option for each parameter of a function or a dataclass, which is imported now."""
    from unmask.schema import help_lines  # here: help needs no schema

    function = import_source(source)
    hints, lines = list_hints(function), help_lines(source)
    return {
        item.name: {"help": lines.get(item.name), **convert_default(item.default), **convert_hint(hints.get(item.name))}
        for item in inspect.signature(function).parameters.values()
    }


def list_typed_parameters(source: str) -> list[str]:
    """Return the parameters of a function or a dataclass whose types can be typed on a command line."""
    function = import_source(source)
    hints = list_hints(function)
    return [name for name in inspect.signature(function).parameters if convert_hint(hints.get(name))]


def convert_hint(hint: Any) -> dict[str, Any]:
    """Return the settings of an option for a type; nothing if the type cannot be typed on a command line.

    >>> convert_hint(bool), convert_hint(float | None), convert_hint(Annotated[int, Range(1)])
    ({'is_flag': True}, {'type': <class 'float'>}, {'type': <IntRange x>=1>, 'parse': <function check_number at ...>})
    """
    if get_origin(hint) is Annotated:
        kind, *metadata = get_args(hint)
        settings = convert_hint(kind)
        for item in metadata:
            settings |= _convert_range(kind, item) if isinstance(item, Range) else {}
            settings |= _convert_option(item, kind) if isinstance(item, Option) else {}
        return settings
    if get_origin(hint) is Literal:
        return {"type": click.Choice(get_args(hint))}
    if get_origin(hint) in (Union, types.UnionType):
        if {str, Mapping[str, Any]} <= {*get_args(hint)}:
            return {"type": click.UNPROCESSED}
        kinds = filter(None, (convert_hint(kind) for kind in get_args(hint) if kind is not type(None)))
        settings = min(kinds, key=lambda kind: (kind.get("type") not in _FIRST, "multiple" in kind), default={})
        return {**settings, "default": None} if "is_flag" in settings else settings
    if hint in (str, int, float):
        return {"type": hint}
    if hint == Sequence[Spec]:
        return {"type": click.UNPROCESSED, "multiple": True, "parse": parse_specs}
    if hint == tuple[Sequence[str], Sequence[str]]:
        return {"type": click.UNPROCESSED, "parse": parse_parts}
    if get_origin(hint) is Sequence and get_args(hint)[0] in (str, Path, str | int):
        return {**convert_hint(get_args(hint)[0]), "multiple": True}
    if get_origin(hint) is Mapping:
        return {"type": str, "multiple": True, "parse": _PARSERS.get(get_args(hint)[1], parse_pairs)}
    if inspect.isclass(get_origin(hint) or hint) and issubclass(get_origin(hint) or hint, PathLike):
        return {"type": FILE}
    return {"is_flag": True} if hint is bool else {}


_FIRST = (FILE, click.UNPROCESSED)
"""Types that a command line prefers to the others of a union."""

_PARSERS: Mapping[Any, Callable[[Any], Any]] = {Sequence[str]: parse_lists, float | str: parse_levels}
"""Type of the values of a mapping -> function that parses COLUMN=VALUE, if a value is not a text."""


def _convert_range(kind: type, bounds: Range) -> dict[str, Any]:
    of_kind: Any = click.IntRange if kind is int else click.FloatRange
    limits = of_kind(bounds.low, bounds.high, min_open=bounds.above, max_open=bounds.below)
    return {"type": limits, "parse": check_number}


def _convert_option(option: Option, hint: Any) -> dict[str, Any]:
    """Return the settings that a declaration names, for a parameter of a type."""
    kind = Input() if option.source else FileOrName(option.names) if option.names else None
    settings = {"heading": option.heading, "metavar": option.metavar, "type": kind}
    names = NAMES_OR_NONE if type(None) in get_args(hint) else NAMES
    flags = {"flags": tuple(option.flag.split())} if option.flag else {}
    return {name: value for name, value in settings.items() if value} | flags | (names if option.commas else {})


def convert_default(default: Any) -> dict[str, Any]:
    """Return the settings of an option for a default; a plain one is shown."""
    if default is inspect.Parameter.empty:
        return {"required": True}
    is_shown = isinstance(default, str | int | float) or (isinstance(default, tuple) and default)
    return {"default": default, "show_default": True} if is_shown else {}


def pop_options(options: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Remove the options of these names, and return them."""
    return {name: options.pop(name) for name in names}


def parse_with(parse: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a click callback that parses a value; an error names the option."""

    def callback(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        try:
            return parse(value)
        except UnmaskError as error:
            raise click.BadParameter(str(error), ctx, parameter) from None

    return callback
