"""`unmask deter`: which fine, price and group size stop a rational attacker, and which rows to leave out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.files import print_secret_file, refuse_to_overwrite
from unmask.cli.generated import Command, grouped, options, output_option, pop_options
from unmask.cli.option_types import FILE, Input
from unmask.cli.options import attacker_option, language_option, optional_table_options
from unmask.cli.output import write_page
from unmask.cli.price import print_assumptions, print_program_tables, read_sizes, read_source
from unmask.cli.terminal import print_line, print_table
from unmask.core.errors import UnmaskError
from unmask.data import writing

if TYPE_CHECKING:
    from unmask.languages import Language

COSTS = ("fine", "price", "row")


@click.command("deter", cls=Command)
@click.argument("data", type=Input(), metavar="TABLE|SIZES")
@attacker_option
@optional_table_options
@options(
    "unmask.economics.deterrence.deterrents:Costs", *COSTS, **{name: {"flags": (f"--{name}-cost",)} for name in COSTS}
)
@options("unmask.economics.audit.deterrence:audit_deterrence", "budget")
@output_option(
    "--leave-out",
    type=FILE,
    metavar="FILE",
    help="Write the rows to drop against a campaign, counted from 0, for the owner alone.",
)
@output_option("--output", "-o", type=FILE, help="Write the page, one HTML file.")
@grouped("Output", language_option)
@output_option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@output_option("--force", is_flag=True, help="Overwrite the page and the rows.")
def deter(
    data: str, attacker: str | None, budget: float | None, leave_out: Path | None, output: Path | None,
    language: Language, as_json: bool, force: bool, **values: Any,
) -> None:  # fmt: skip
    r"""Find the smallest fine, price and group size that stop attacks on a table.

    Two attacks are stopped: the attack on one person, and one campaign against all people. unmask searches the fine,
    the price and the group size alone, then the cheapest mix of a fine, a price and dropped rows. The group sizes of
    a release are its class sizes.

    \b
    unmask deter release.csv -q age,sex,zip --attacker attacker.toml
    unmask deter release.csv -q age,sex,zip --attacker attacker.toml --row-cost 50 -o deter.html --leave-out rows.csv
    unmask deter 60,60,60 --attacker case-study --json
    """
    from unmask.economics import Costs
    from unmask.economics.audit.deterrence import MIXES, STOPS, audit_deterrence

    refuse_to_overwrite(output, leave_out, force=force)
    costs = Costs(**pop_options(values, COSTS))
    source, (sizes, is_list) = read_source(attacker), read_sizes(data, values)
    if is_list and leave_out is not None:
        raise UnmaskError("a list of sizes has no rows to leave out; give a release with --quasi-identifiers")
    result, rows = audit_deterrence(source, sizes, costs=costs, budget=budget, is_exact=is_list)
    if output is not None:
        write_page(result, output, language)
    if leave_out is not None:
        writing.write_text(leave_out, "\n".join(["row", *map(str, rows), ""]), private=True)
        print_secret_file(leave_out, public_file=Path(data), reason="it lists the rows that are easiest to re-identify")
    if as_json:
        print_program_tables(result)
    else:
        for sentence in result.sentences():
            print_line(sentence)
        for name, heading in ((STOPS, "Each amount alone"), (MIXES, "Cheapest mix")):
            print_line()
            print_line(heading)
            print_table(result.table(name))
    print_assumptions(result, source, as_json=as_json)
