"""Structure of documents: sections made from declared parameters, checked by msgspec, explained in our sentences."""

from __future__ import annotations

import inspect
import math
import re
import sys
import types
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from unmask.core.errors import UnmaskError, explain_unknown, nearest
from unmask.core.lazy import import_source
from unmask.ranges import Option, Range, expected, list_hints

Hints = Mapping[str, Any]
"""Key -> its type, as in an annotation."""


@cache
def parameters(source: str, *names: str) -> Hints:
    """Return the types of parameters of a function or of fields of a dataclass, as a document can hold them.

    source : "module:name", imported now
    names : the parameters, by default all

    >>> parameters("unmask.plan:Budget", "seconds")
    {'seconds': typing.Annotated[float, Range(low=0, high=inf, above=True, below=True)]}
    """
    return parameter_types(import_source(source), *names)


def parameter_types(function: Any, *names: str) -> Hints:
    """Return the types of parameters of a function or of fields of a dataclass, see `parameters`."""
    declared = list_hints(function)
    return {name: _in_documents(declared[name]) for name in names or inspect.signature(function).parameters}


@cache
def defaults(source: str) -> Mapping[str, Any]:
    """Return the defaults of the parameters of a function or a dataclass; None of one without a default."""
    parameters = inspect.signature(import_source(source)).parameters.values()
    return {item.name: None if item.default is item.empty else item.default for item in parameters}


@cache
def declared_options(source: str) -> Mapping[str, Option]:
    """Return the declared command-line form of parameters of a function or a dataclass."""
    hints = list_hints(import_source(source)).items()
    declared = ((name, get_args(hint)[1:]) for name, hint in hints if get_origin(hint) is Annotated)
    return {name: item for name, metadata in declared for item in metadata if isinstance(item, Option)}


@cache
def help_lines(source: str) -> Mapping[str, str]:
    """Return the help line of each parameter of a function or a dataclass: the first sentence of its docstring.

    A line that begins with "See" refers to the function with the same parameters, see `unmask.core.signatures`.

    source : "module:name", imported now
    """
    function = import_source(source)
    documented = (function, *getattr(function, "documented_by", ()))
    lines = [parse_field_help(inspect.getdoc(item) or "") for item in documented]
    return ChainMap(*({name: line for name, line in item.items() if not line.startswith("See ")} for item in lines))


def parse_field_help(doc: str) -> dict[str, str]:
    r"""Return the first sentence about each field in a docstring, in numpydoc's Parameters or as lines `name : text`.

    >>> parse_field_help(
    ...     "Settings.\n\nalpha : weight of linking,\n        or of mixing\nseed  : of every draw. See `rng`"
    ... )
    {'alpha': 'Weight of linking, or of mixing.', 'seed': 'Of every draw.'}
    >>> parse_field_help(
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


def _in_documents(hint: Any) -> Any:
    """Return the part of a type that TOML can hold; a type without one is checked by its function."""
    kind, inner = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        kinds = [member for member in map(_in_documents, inner) if member is not Any]
        lists = [member for member in kinds if get_origin(member) is list]
        if len(lists) > 1:  # of which msgspec takes one
            kinds = [*(member for member in kinds if member not in lists), list_of(Any)]
        return Union[tuple(kinds)] if kinds else Any  # noqa: UP007  # of a list
    if kind is Mapping:
        return dict_of(_in_documents(inner[1]))
    if kind in (Sequence, tuple):
        same = {*inner} - {...} == {inner[0]}
        return list_of(_in_documents(inner[0]) if same else Any)
    if kind is Annotated:
        return hint if inner[0] in (int, float) else _in_documents(inner[0])
    if hint is Path:
        return str
    return hint if kind is Literal or hint in (str, int, float, bool) else Any


def list_of(kind: Any) -> Any:
    """Return the type of a list."""
    return types.GenericAlias(list, (kind,))


def dict_of(kind: Any) -> Any:
    """Return the type of a table with free names."""
    return types.GenericAlias(dict, (str, kind))


# --- structures -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Table:
    """A table of a document.

    keys : key -> type; a type may be a `Table`, an `Either`, or a list or a dictionary of them
    required : keys without which it is refused
    is_open : take other keys, too
    """

    keys: Hints
    required: tuple[str, ...] = ()
    is_open: bool = False


@dataclass(frozen=True)
class Either:
    """A union of types, of which one may be a `Table`."""

    kinds: tuple[Any, ...]


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the types of a union; none of another type."""
    is_union = get_origin(hint) in (Union, types.UnionType)
    return hint.kinds if isinstance(hint, Either) else get_args(hint) if is_union else ()


def check(value: Any, hint: Any, place: str) -> None:
    """Raise an error for a value of another type or out of range: its place, what was given, what was expected.

    The content of a text is not repeated, since it might be a cell.

    >>> check({"coverage": 2}, Table({"coverage": Annotated[float, Range(0, 1, above=True)]}), "register")
    Traceback (most recent call last):
    unmask.core.errors.UnmaskError: register.coverage is 2, expected a number above 0 and at most 1
    """
    if not _fits(value, hint):
        raise UnmaskError(_explain(value, hint, place))


def _fits(value: Any, hint: Any) -> bool:
    try:
        msgspec.convert(value, structure(hint))
    except msgspec.ValidationError:
        return False
    return True


def _explain(value: Any, hint: Any, place: str) -> str:
    """Return a sentence about the innermost value that does not fit."""
    hint = _choose(value, hint)
    for inner in _list_parts(value, hint, place):
        if not _fits(*inner[:2]):
            return _explain(*inner)
    if isinstance(hint, Table) and isinstance(value, dict):
        for key in (key for key in value if key not in hint.keys and not hint.is_open):
            return explain_unknown(key, tuple(hint.keys), place or "it")
        key = next(key for key in hint.required if key not in value)
        return f"{place or 'it'} has no {key}; expected {key} = {describe(hint.keys[key])}"
    if get_origin(hint) is Literal and isinstance(value, str):
        return f"{place} is {value!r}, {nearest(value, get_args(hint))}"
    description = repr(value) if isinstance(value, int | float) else describe(type(value))
    example = f": [[{place.rpartition('.')[2]}]] above each of them" if _is_list_of_tables(hint) else ""
    return f"{place} is {description}, expected {describe(hint)}{example}"


def _choose(value: Any, hint: Any) -> Any:
    """Return the alternative of a union that a value comes nearest to: the one of its form."""
    by_type: dict[type, tuple[Any, ...]] = {str: (str, Literal), list: (list,), dict: (dict, Table)}
    forms = by_type.get(type(value), ())
    return next((kind for kind in _alternatives(hint) if _form(kind) in forms), hint)


def _form(hint: Any) -> Any:
    return Table if isinstance(hint, Table) else get_origin(hint) or hint


def _list_parts(value: Any, hint: Any, place: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield the values in a table, a list or a dictionary, with their types and places."""
    if isinstance(hint, Table) and isinstance(value, dict):
        for key in (key for key in value if key in hint.keys):
            yield value[key], hint.keys[key], f"{place}.{key}" if place else key
    elif get_origin(hint) is list and isinstance(value, list):
        yield from ((item, get_args(hint)[0], f"{place}[{position}]") for position, item in enumerate(value, 1))
    elif get_origin(hint) is dict and isinstance(value, dict):
        yield from ((item, get_args(hint)[1], f"{place}.{key}") for key, item in value.items())


def describe(hint: Any) -> str:
    """Return a type in words.

    >>> describe(Annotated[float, Range(0, 1)] | list[str]), describe(list[Table({})]), describe(dict[str, float])
    ('a number from 0 to 1, or a list, each a text', 'a list of tables', 'a table { NAME = a number }')
    """
    if get_origin(hint) is dict and (value := get_args(hint)[1]) is not Any:
        return f"a table {{ NAME = {describe(value)} }}"
    if isinstance(hint, Table) or hint is dict or get_origin(hint) is dict:
        return "a table"
    if alternatives := _alternatives(hint):
        return ", or ".join(map(describe, alternatives))
    if _is_list_of_tables(hint):
        return "a list of tables"
    if get_origin(hint) is list and get_args(hint)[0] is not Any:
        return f"a list, each {describe(get_args(hint)[0])}"
    return {list: "a list", bool: "true or false", Any: "a value"}.get(get_origin(hint) or hint) or expected(hint)


def _is_list_of_tables(hint: Any) -> bool:
    return get_origin(hint) is list and isinstance(get_args(hint)[0], Table)


def structure(hint: Any, name: str = "document") -> Any:
    """Return a type with tables and ranges as msgspec has it."""
    kind, inner = get_origin(hint), get_args(hint)
    if isinstance(hint, Table):
        return _define_struct(hint, name)
    if kind is Annotated:
        return Annotated[(inner[0], *(_limit(item) for item in inner[1:] if isinstance(item, Range)))]
    if alternatives := _alternatives(hint):
        return Union[tuple(structure(member, name) for member in alternatives)]  # noqa: UP007  # of a list
    if kind in (list, dict):
        return kind[tuple(structure(member, name) for member in inner)]
    return hint


@lru_cache(maxsize=256)
def _define_struct(table: Table, name: str) -> type[msgspec.Struct]:
    """Return the type of a table; its fields have numbers for names, since a key may be a word of Python."""
    fields: list[Any] = []
    for i, (key, hint) in enumerate(table.keys.items()):
        kind = structure(hint, f"{name}.{key}")
        is_required = key in table.required
        fields.append((f"_{i}", kind) if is_required else (f"_{i}", kind | msgspec.UnsetType, msgspec.UNSET))
    rename = {f"_{i}": key for i, key in enumerate(table.keys)}
    return msgspec.defstruct(name, fields, rename=rename, forbid_unknown_fields=not table.is_open, kw_only=True)


def _limit(bounds: Range) -> msgspec.Meta:
    """Return a range as msgspec has it, which takes finite limits only."""
    low, high = ("gt" if bounds.above else "ge"), ("lt" if bounds.below and bounds.high != math.inf else "le")
    limits: dict[str, Any] = {low: bounds.low, high: sys.float_info.max if bounds.high == math.inf else bounds.high}
    meta: msgspec.Meta = msgspec.Meta(**{name: value for name, value in limits.items() if value is not None})
    return meta


def json_schema(hint: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type."""
    return msgspec.json.schema(structure(hint))
