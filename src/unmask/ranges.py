"""Declarations of parameters: types, ranges `alpha: Annotated[float, Range(0, 1)]`, and how options are typed."""

from __future__ import annotations

import math
import os
import reprlib
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Number, Real
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from unmask.core.errors import UnmaskError, nearest


@dataclass(frozen=True)
class Range:
    """Numbers from low to high, None for no bound.

    above : without low itself
    below : without high itself

    >>> str(Range(0, 1)), str(Range(0, 1, above=True)), str(Range(1)), str(Range(0, 1, below=True)), str(FINITE)
    ('from 0 to 1', 'above 0 and at most 1', 'at least 1', 'from 0 to below 1', 'above 0 and finite')
    """

    low: float
    high: float | None = None
    above: bool = False
    below: bool = False

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        number: Any = value  # Real has no order for type checkers
        from_low = self.low < number or (number == self.low and not self.above)
        return from_low and (self.high is None or number < self.high or (number == self.high and not self.below))

    def __str__(self) -> str:
        low = f"above {self.low}" if self.above else f"at least {self.low}"
        if self.high is None:
            return low
        if self.high == math.inf:
            return f"{low} and finite"
        if self.above:
            return f"{low} and {'below' if self.below else 'at most'} {self.high}"
        return f"from {self.low} to {'below ' if self.below else ''}{self.high}"


@dataclass(frozen=True)
class Option:
    """The form of a parameter on a command line, beyond its name and its type.

    heading : of the option in a help text
    flag    : names of the option, separated by blanks
    metavar : form of a value in a help text
    source  : the value is a file, a pattern of files, a table of an engine, or `-`, the standard input
    names   : values that name no file
    commas  : a text may be several values, separated by commas
    key     : "section.key" of a document of tables that stores the parameter
    """

    heading: str = ""
    flag: str = ""
    metavar: str = ""
    source: bool = False
    names: tuple[str, ...] = ()
    commas: bool = False
    key: str = ""


MeasureNames = Annotated[Sequence[str], Option("Output", "--measure", metavar="NAME[:NUMBER]")]
"""Measures beyond those of every audit."""

FINITE = Range(0, math.inf, above=True, below=True)
"""Finite amounts of something."""


PLAIN: Mapping[Any, tuple[Any, str]] = {
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str | os.PathLike, "a text"),
    bool: (bool, "True or False"),
}
"""Type -> what is taken for it, and its name in a sentence."""


class CheckedParameters:
    """Base class of dataclasses whose fields are in their declared ranges, or one of their choices."""

    def __post_init__(self) -> None:
        check_ranges(self)


def check_ranges(record: object) -> None:
    """Raise an error for a field of a dataclass that is outside its range, or that is not one of its choices."""
    kind: Any = type(record)
    for name, hint in list_hints(kind).items():
        if get_origin(hint) in (Annotated, Literal):
            check_type(name, getattr(record, name), hint)


@cache
def list_hints(owner: Any) -> Mapping[str, Any]:
    """Return the types of a function's parameters or a dataclass's fields; Python parses their texts at each call."""
    return get_type_hints(owner, include_extras=True)


@cache
def _array_types() -> frozenset[Any]:
    """Return the types of which `ArrayLike` is the union."""
    from numpy.typing import ArrayLike  # not at the top: the command line shows its help without NumPy

    return frozenset(get_args(ArrayLike))


def check_types(function: Callable[..., Any], keywords: Mapping[str, Any]) -> None:
    """Raise an error for a keyword that does not have the type or the range that a function declares.

    The function itself checks arrays, and keywords that must be None.
    """
    hints = list_hints(function)
    for name, value in keywords.items():
        if (hint := hints.get(name, Any)) is not type(None):
            check_type(name, value, hint)


def check_type(name: str, value: object, hint: Any) -> None:
    """Raise an error for a value of another type; it names this type, and repeats only numbers and unknown choices."""
    if not fits(value, hint):
        if get_origin(hint) is Literal and isinstance(value, str):
            raise UnmaskError(f"{name} is {value!r}, {nearest(value, get_args(hint))}")
        description = reprlib.repr(value) if isinstance(value, Number) else spoken(value)
        raise UnmaskError(f"{name} is {description}, expected {expected(hint)}")


def fits(value: object, hint: Any) -> bool:
    """Return whether a value is of a type.

    >>> fits(0.5, Annotated[float, Range(0, 1)]), fits(2, Annotated[float, Range(0, 1)]), fits("a", Sequence[str])
    (True, False, False)
    """
    return _make_test(hint)(value)


@cache
def _make_test(hint: Any) -> Callable[[Any], bool]:
    """Return the test for values of a type. Taking a type apart takes longer than the test."""
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Annotated:
        is_of_type, ranges = _make_test(inner[0]), [item for item in inner[1:] if isinstance(item, Range)]
        return lambda value: is_of_type(value) and all(value in item for item in ranges)
    if kind is Callable or getattr(hint, "_is_protocol", False):
        return callable
    if kind is Literal:
        return lambda value: isinstance(value, str) and value in inner
    if hint is Any or (inner and _array_types() <= {*inner}):
        return lambda _: True
    if kind is Mapping:
        is_item = _make_test(inner[1])
        return lambda value: isinstance(value, Mapping) and all(map(is_item, value.values()))
    if kind in (Sequence, tuple) and (kind is Sequence or inner[-1] is Ellipsis):
        is_item = _make_test(inner[0])
        return lambda value: isinstance(value, Sequence) and not isinstance(value, str) and all(map(is_item, value))
    if kind in (Union, types.UnionType):
        tests = [*map(_make_test, inner)]
        return lambda value: any(test(value) for test in tests)
    if kind is tuple:
        return lambda value: isinstance(value, Sequence) and len(value) == len(inner) and all(map(fits, value, inner))
    accepted = PLAIN.get(hint, (hint,))[0]
    return lambda value: isinstance(value, accepted)


def expected(hint: Any) -> str:
    """Return a type in words.

    >>> expected(Annotated[int, Range(1)] | None), expected(Sequence[tuple[float, float]])
    ('a whole number at least 1, or nothing', 'a list, each (a number, a number)')
    """
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return f"{expected(inner[0])} {inner[1]}"
    if kind in (Union, types.UnionType):
        return ", or ".join(map(expected, inner))
    if kind is Literal:
        return f"one of {', '.join(inner)}"
    if kind is Mapping:
        return f"a mapping of names, each to {expected(inner[1])}"
    if kind is tuple and inner[-1] is not Ellipsis:
        return f"({', '.join(map(expected, inner))})"
    if kind in (Sequence, tuple):
        return f"a list, each {expected(inner[0])}"
    if kind is Callable:
        return "a function"
    if hint is type(None):
        return "nothing"
    return PLAIN[hint][1] if hint in PLAIN else _called(hint.__name__) + _READERS.get(hint.__name__, "")


_READERS = {"Table": " (unmask.read_table makes one)", "SocialGraph": " (unmask.read_graph makes one)"}
"""Type of data -> function that reads it."""


def spoken(value: object) -> str:
    """Return the type of a value in words; its content might be a record."""
    return "nothing" if value is None else _called(type(value).__name__)


def _called(name: str) -> str:
    return f"an {name}" if name[0].lower() in "aeiou" else f"a {name}"
