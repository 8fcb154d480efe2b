"""Options that several commands share, and how their texts are parsed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from unmask.cli.documents import code_folder
from unmask.cli.generated import grouped, options, parse_with
from unmask.cli.option_types import NAMES, Names, join_names, parse_pairs, split_names
from unmask.core.errors import UnmaskError
from unmask.protection_specs import MONDRIAN

if TYPE_CHECKING:
    from unmask.protection_specs import Spec

# --- texts of options ---


def parse_parts(text: str | list[list[str]] | None) -> tuple[tuple[str, ...], ...] | None:
    """Return two lists of names separated by a colon, or listed in a document."""
    if text is None:
        return None
    parts = tuple(map(split_names, text.split(":") if isinstance(text, str) else text))
    if len(parts) != 2 or not all(parts):
        raise UnmaskError(f"expected two parts of columns, such as age,sex:zip,job, given {len(parts)}")
    return parts


def parse_levels(texts: tuple[str, ...]) -> dict[str, float | str]:
    """Return the level of each column: a whole number, a number, or a word, as `tables.Generalize` takes them."""
    return {column: _parse_level(text) for column, text in parse_pairs(texts).items()}


def _parse_level(text: str) -> float | str:
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


def parse_types(texts: tuple[str, ...]) -> dict[str, str]:
    """Return the type of each column."""
    from unmask.tables.types import parse_type

    types = parse_pairs(texts)
    for column, text in types.items():
        parse_type(column, text)
    return types


def parse_orders(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the values of ordinal columns from lowest to highest."""
    return {column: split_names(text) for column, text in parse_pairs(texts).items()}


def parse_delimiter(text: str | None) -> str | None:
    """Return one character; a shell passes an escaped tab as two characters."""
    character = "\t" if text == "\\t" else text
    if character is not None and (len(character) != 1 or character in '"\r\n'):
        raise UnmaskError(f"expected one character, given {text!r}; leave it out to have it guessed")
    return character


def parse_encoding(text: str | None) -> str | None:
    """Return the name of an encoding of text."""
    from unmask.data.encodings import check_encoding

    return None if text is None else check_encoding(text)


def _parse_missing(ctx: click.Context, parameter: click.Parameter, names: tuple[tuple[str, ...], ...]) -> Any:
    """Return the texts of missing cells; none for an empty text, None if the option is left out."""
    return None if ctx.get_parameter_source(str(parameter.name)) is ParameterSource.DEFAULT else join_names(names)


def _refuse_seed(text: str | None) -> None:
    if text is not None:
        raise UnmaskError(
            "whoever knows or guesses the seed of a release undoes its protection, so a release has none; leave it out "
            "(studies have one)"
        )


# --- options about reading ---

_BY_COLUMN: dict[str, Any] = {"multiple": True, "type": str, "metavar": "COLUMN=..."}

HEADER = "Line 1 of a text file names the columns, or is a row. The default is found, or asked about if in doubt."


def table_options(command: Any) -> Any:
    """Add the options of commands that read a table."""
    return _add_reading_options(command, required=True)


def optional_table_options(command: Any) -> Any:
    """Add the options of commands that can do without a table."""
    return _add_reading_options(command, required=False)


def _add_reading_options(command: Any, *, required: bool) -> Any:
    reading = options(
        "unmask.tables:Table.read",
        quasi_identifiers={"flags": ("--quasi-identifiers", "-q"), "required": required, **NAMES},
        sensitive={"flags": ("--sensitive", "-s"), **NAMES},
        keep=NAMES,
        weight={},
        identifiers=NAMES,
        person={"metavar": "COLUMN"},
        cells={},
        hierarchies={"flags": ("--hierarchy",), **_BY_COLUMN},
        orders={"flags": ("--order",), "parse": parse_orders, **_BY_COLUMN},
        types={"flags": ("--type",), "parse": parse_types, **_BY_COLUMN},
        missing={},
        decimal={},
        na={"type": Names(), "multiple": True, "callback": _parse_missing},
        delimiter={"parse": parse_delimiter},
        header={"flags": ("--header/--no-header",), "default": None, "help": HEADER},
        encoding={"parse": parse_encoding},
    )
    return grouped("Input", reading)(command)


attacker_option = grouped("Knowledge", options("unmask.tables.audit:audit", "attacker"))

# --- options about protections ---


def _parse_recursive(value: str | list[float] | None) -> tuple[float, ...] | None:
    """Return c and l as they are typed, C:L, or listed in a document."""
    if not isinstance(value, str):
        return None if value is None else tuple(value)
    try:
        c, l = value.split(":")  # noqa: E741 - the literature's name
        return float(c), int(l)
    except ValueError:
        raise UnmaskError(f"expected a number and a whole number, such as 3:2, given {value!r}") from None


constraint_options = options(
    "unmask.tables:Mondrian",
    **{name: {} for name in MONDRIAN}
    | {"l_recursive": {"type": click.UNPROCESSED, "parse": _parse_recursive, "metavar": "C:L"}},
)
level_option = click.option(
    "--level", "levels", multiple=True, callback=parse_with(parse_levels), metavar="COLUMN=LEVEL",
    help="Finest level of a column in a release: bins, a period, a level, hidden characters, or *. Repeatable.",
)  # fmt: skip


def _parse_protection(value: str | list[Spec] | None) -> tuple[Spec, ...]:
    """Return a protection as it is typed, or as a document names it."""
    from unmask.protection_specs import parse_specs

    return parse_specs([value] if isinstance(value, str) else value or ())


with_option = click.option(
    "--with", "protection", type=click.UNPROCESSED, callback=parse_with(_parse_protection), metavar="NAME:KEY=VALUE",
    help="Protection of tables by its name in unmask list, parameters after colons. The default is Mondrian.",
)  # fmt: skip

without_seed = click.option("--seed", hidden=True, expose_value=False, callback=parse_with(_refuse_seed))
"""Refusal of a seed by commands that write a release."""


def choose_protection(specs: Sequence[Spec], relaxed: bool, **mondrian: Any) -> Any:
    """Return the protection of a spec, or else Mondrian with its options."""
    from unmask.tables import Mondrian

    if not specs:
        return Mondrian(**mondrian, strict=not relaxed)
    source = click.get_current_context().get_parameter_source
    if any(source(name) is ParameterSource.COMMANDLINE for name in ("relaxed", *mondrian)):
        raise UnmaskError(
            "--k, --l, --t, --level, --relaxed and further constraints are those of Mondrian; give --with its "
            "parameters after colons, such as tables.Lattice:k=5:beta=1"
        )
    return make_protection(specs[0])


def make_protection(spec: Spec) -> Any:
    """Return a protection of tables."""
    from unmask.plan import Part
    from unmask.studies.cells import check_part, instantiate

    part = Part(spec.use, spec.use, spec.parameters, {}, code=code_folder("protection"))
    part = check_part(part, "protections", Path())
    if part.domain != "tables":
        raise UnmaskError(f"{spec.use} protects {part.domain}, expected a protection of tables, such as tables.PRAM")
    return instantiate(part, "protections")
