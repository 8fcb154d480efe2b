"""Types of options, and functions that parse their values."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from unmask.core.errors import UnmaskError

FILE = click.Path(path_type=Path)


def split_names(text: str | list[str] | None) -> tuple[str, ...]:
    """Return names that are separated by commas, or listed in a document."""
    if not isinstance(text, str | list | None):
        raise UnmaskError(f"expected names, separated by commas or in a list, given {text!r}")
    names = text if isinstance(text, list) else (text or "").split(",")
    return tuple(str(name).strip() for name in names if str(name).strip())


class Names(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """Names separated by commas; a document lists them, and a listed name may hold a comma."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the names of one of several options."""
        source = None if ctx is None or param is None else ctx.get_parameter_source(str(param.name))
        return split_names([value] if source is ParameterSource.DEFAULT_MAP else value)


PIPED = f"{__name__}.piped"
"""Key of the context of a command that reads the standard input."""


class Input(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """A file to read; `-` is the standard input, kept in a private folder while the command runs."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path, or for `-` the path of a copy of the standard input."""
        import shutil

        from unmask.data.resources import temporary_folder

        if value != "-" or ctx is None:
            return str(value)
        if ctx.meta.setdefault(PIPED, False):
            self.fail("the standard input (-) can be read once; name a file for the other", param, ctx)
        ctx.meta[PIPED] = True
        path = Path(ctx.find_root().with_resource(temporary_folder(None))) / "stdin.csv"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return str(path)


class FileOrName(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """A file, or one of several names."""

    name = "path"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names


def parse_pairs(texts: Iterable[str] | None) -> dict[str, str]:
    """Return the values of a repeated option COLUMN=VALUE by column."""
    items = list(texts or ())
    if not all("=" in item for item in items):
        raise UnmaskError("expected COLUMN=VALUE")
    return dict(item.split("=", 1) for item in items)


def parse_lists(texts: Iterable[str] | None) -> dict[str, tuple[str, ...]]:
    """Return the names of a repeated option COLUMN=NAME,... by column."""
    return {column: split_names(text) for column, text in parse_pairs(texts).items()}


def parse_levels(texts: Iterable[str] | None) -> dict[str, float | str]:
    """Return the level of each column: a whole number, a number, or a word, as `tables.Generalize` takes them."""
    return {column: _parse_level(text) for column, text in parse_pairs(texts).items()}


def _parse_level(text: str) -> float | str:
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


def parse_parts(text: str | list[list[str]] | None) -> tuple[tuple[str, ...], ...] | None:
    """Return two lists of names separated by a colon, or listed in a document."""
    if text is None:
        return None
    parts = tuple(map(split_names, text.split(":") if isinstance(text, str) else text))
    if len(parts) != 2 or not all(parts):
        raise UnmaskError(f"expected two parts of columns, such as age,sex:zip,job, given {len(parts)}")
    return parts


def join_names(names: Iterable[tuple[str, ...]] | None) -> tuple[str, ...]:
    """Return the names of a repeated option."""
    return tuple(itertools.chain.from_iterable(names or ()))


def join_names_or_none(
    ctx: click.Context, parameter: click.Parameter, names: tuple[tuple[str, ...], ...]
) -> tuple[str, ...] | None:
    """Return the names of a repeated option; none for an empty text, None if the option is left out."""
    return None if ctx.get_parameter_source(str(parameter.name)) is ParameterSource.DEFAULT else join_names(names)


NAMES: dict[str, Any] = {"parse": join_names, "type": Names(), "multiple": True}
"""Names, typed or from a document's list; a repeated option adds names."""

NAMES_OR_NONE: dict[str, Any] = {"callback": join_names_or_none, "type": Names(), "multiple": True}
"""Names as in `NAMES`, of an option whose absence differs from no names."""


def check_number(value: float | None) -> float | None:
    """Raise an error for nan and infinity, which click's range accepts."""
    if value is not None and not math.isfinite(value):
        raise UnmaskError(f"expected a finite number, given {value}")
    return value


class AuditSignature(NamedTuple):
    """Parameters of an `audit_files`, as its command needs them.

    Parameters
    ----------
    text : str
        Help of the command.
    argument : str
        Parameter of the released files; "" if all files are options.
    n_files : int
        Number of these files, -1 for any.
    has_sources : bool
        Whether a pattern, a table of an engine, or `-` may take the place of such a file.
    options : tuple of str
        Parameters that are options.
    services : tuple of str
        Parameters that the command passes on.
    """

    text: str
    argument: str
    n_files: int
    has_sources: bool
    options: tuple[str, ...]
    services: tuple[str, ...]
