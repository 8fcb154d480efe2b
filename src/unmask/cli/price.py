"""`unmask price`: attacks by a rational attacker on groups of given sizes, without any attack on data."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.files import print_json, refuse_to_overwrite
from unmask.cli.generated import Command, grouped, input_option, output_option, parse_with
from unmask.cli.option_types import FILE, Input
from unmask.cli.options import attacker_option, language_option, optional_table_options
from unmask.cli.output import write_page
from unmask.cli.terminal import print_line, print_table
from unmask.core.errors import UnmaskError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unmask.economics.audit import AttackerSource
    from unmask.languages import Language
    from unmask.results import Result


def parse_sweeps(texts: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the parameters and their values."""
    from unmask.economics.audit.sweeps import parse_sweep

    return tuple(map(parse_sweep, texts))


@click.command("price", cls=Command)
@click.argument("data", type=Input(), metavar="TABLE|SIZES")
@attacker_option
@optional_table_options
@click.option(
    "--vary",
    "sweeps",
    multiple=True,
    callback=parse_with(parse_sweeps),
    metavar="NAME=LOW:HIGH:NUMBER",
    help="Group sizes that are not attacked, for each value of an attacker's parameter. Repeatable.",
)
@input_option(
    "--population", type=click.IntRange(1), help="People in the outside data: adds the risk if sizes are unknown."
)
@input_option(
    "--cell-probability",
    metavar="NUMBER|FILE",
    help="Probability that one of them fits a record, or a file with one for each record. "
    "Default: size divided by population.",
)
@output_option("--output", "-o", type=FILE, help="Write the page, one HTML file.")
@grouped("Output", language_option)
@output_option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@output_option("--force", is_flag=True, help="Overwrite the page.")
def price(
    data: str, attacker: str | None, sweeps: tuple[Any, ...], population: int | None, cell_probability: str | None,
    output: Path | None, language: Language, as_json: bool, force: bool, **reading: Any,
) -> None:  # fmt: skip
    r"""Price the attack on groups of people: the classes of a table, or a list of sizes.

    Sizes are numbers and ranges, "1,2,5-20", one for each target. The sizes of a release are its class
    sizes. Results about fewer than 10 rows are suppressed. One attacker faces all targets: first one campaign against
    all of them, then an attack on each alone.

    \b
    unmask price 1-100 --attacker attacker.toml
    unmask price 1-100 --vary fine=0:50000:20 --vary access_cost=0:900:10 -o price.html
    unmask price release.csv -q age,sex,zip --attacker case-study --population 6018999
    """
    from unmask.economics.audit import audit_sizes
    from unmask.economics.audit.group_sizes import shorten
    from unmask.economics.audit.sweeps import ESCAPES, SWEEP
    from unmask.economics.audit.unknown_sizes import UNKNOWN

    refuse_to_overwrite(output, force=force)
    if cell_probability is not None and population is None:
        raise UnmaskError("--cell-probability needs the number of people in the outside data; give --population too")
    source, (sizes, is_list) = read_source(attacker), read_sizes(data, reading)
    cells = None if cell_probability is None else _read_probabilities(cell_probability)
    result = audit_sizes(source, sizes, is_exact=is_list, sweeps=sweeps, population=population, cell_probability=cells)
    if output is not None:
        write_page(result, output, language)
    if as_json:
        print_program_tables(result)
    else:
        for sentence in result.sentences():
            print_line(sentence)
        print_table(shorten(result))
        tables = result.facts_by_name
        for parameter, _ in sweeps:
            print_line()
            print_line(f"{parameter}: smallest group that escapes")
            print_table(tables[SWEEP].where(parameter=parameter).select(["value", *ESCAPES]))
        changes = [row for row in tables[UNKNOWN].rows if row["changed"] != "same"] if UNKNOWN in tables else ()
        if changes:
            print_line()
            print_table(replace(tables[UNKNOWN], rows=tuple(changes)))
    print_assumptions(result, source, as_json=as_json)


def read_source(attacker: str | None) -> AttackerSource:
    """Return the attacker of a file with the resources, or the embedded one."""
    from unmask.economics.audit import AttackerSource
    from unmask.economics.profile import EMBEDDED

    return AttackerSource.read_resources(attacker or EMBEDDED)


def read_sizes(data: str, reading: dict[str, Any]) -> tuple[NDArray[np.int64], bool]:
    """Return the sizes of a list, or of the equivalence class of each row of a release; True for a list."""
    from unmask.economics.audit.group_sizes import parse_sizes

    if re.fullmatch(r"[\d,\s-]+", data) and not os.path.lexists(data):
        return parse_sizes(data), True
    if not reading["quasi_identifiers"]:
        raise UnmaskError(
            f"{data!r} is read as a table, whose quasi-identifiers are missing; give them, for example with "
            "--quasi-identifiers age,sex,zip, or give group sizes such as 1,2,5-20"
        )
    from unmask.tables.files import read_table

    classes = read_table(Path(data), reading).classes
    return classes.sizes[classes.of_row], False


def _read_probabilities(text: str) -> float | list[float]:
    """Return one probability, or those of a file with one in each line."""
    try:
        return float(text)
    except ValueError:
        pass
    from unmask.data.files import read_text

    try:
        return [float(line) for line in read_text(Path(text)).split()]
    except ValueError:
        raise UnmaskError(
            "the cell probabilities are not numbers, expected a file with one number from 0 to 1 in each line"
        ) from None


def print_program_tables(result: Result) -> None:
    """Print the first table as results and the other tables by name, as one JSON object."""
    first, *other_tables = (table for table in result.facts if not table.page_only)
    tables = {table.name: table.records() for table in other_tables}
    print_json(results=first.records(), tables=tables, warnings=result.cautions, not_run=result.not_run)


def print_assumptions(result: Result, source: AttackerSource, *, as_json: bool) -> None:
    """Print warnings and assumptions, and that an embedded attacker is one."""
    from unmask.economics.profile import EMBEDDED

    for caution in () if as_json else result.cautions:
        print_line(f"warning: {caution}")
    for assumption in () if as_json else result.assumptions:
        print_line(f"assumed: {assumption}")
    if source.is_assumed:
        print_line(f"the attacker {EMBEDDED} is an assumption; describe yours with --attacker FILE", err=True)
