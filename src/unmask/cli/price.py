"""`unmask price`: attacks by a rational attacker on groups of given sizes, without any attack on data."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.files import print_json
from unmask.cli.generated import Command, Input
from unmask.cli.options import attacker_option, optional_table_options
from unmask.cli.reading import read_table
from unmask.cli.terminal import print_line, print_table
from unmask.core.errors import UnmaskError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@click.command("price", cls=Command)
@click.argument("target", type=Input())
@attacker_option
@optional_table_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def price(target: str, attacker: str | None, as_json: bool, **reading: Any) -> None:
    r"""Price the attack on groups of candidates: TARGET is a list of sizes, or a release.

    Sizes are numbers and ranges, "1,2,5-20", one for each target. The sizes of a release are those of the equivalence
    classes of its rows. Numbers of fewer than 10 rows are suppressed. One attacker faces all targets: first one
    campaign against all of them, then the attack on each alone.

    \b
    unmask price 1-100 --attacker attacker.toml
    unmask price release.csv -q age,sex,zip --attacker case-study --json
    """
    from unmask.economics.audit import AttackerSource, audit_sizes
    from unmask.economics.audit.group_sizes import parse_sizes, shorten
    from unmask.economics.profile import EMBEDDED

    source = AttackerSource.read(attacker or EMBEDDED)
    is_list = bool(re.fullmatch(r"[\d,\s-]+", target)) and not os.path.lexists(target)
    sizes = parse_sizes(target) if is_list else _read_sizes(target, reading)
    result = audit_sizes(source, sizes, is_exact=is_list)
    by_size, *tables = result.tables
    if as_json:
        records = {table.name: table.records() for table in tables}
        print_json(results=by_size.records(), tables=records, warnings=result.cautions)
    else:
        for sentence in result.sentences():
            print_line(sentence)
        print_table(shorten(result))
        for caution in result.cautions:
            print_line(f"warning: {caution}")
    if source.is_assumed:
        print_line(f"the attacker is {EMBEDDED}, an assumption: give --attacker FILE with what you know", err=True)


def _read_sizes(target: str, reading: dict[str, Any]) -> NDArray[np.int64]:
    """Return the size of the equivalence class of each row of a release."""
    if not reading["quasi_identifiers"]:
        raise UnmaskError(
            f"{target!r} is not a list of group sizes such as 1,2,5-20, and a release needs quasi-identifiers; give "
            "--quasi-identifiers"
        )
    classes = read_table(Path(target), reading).classes
    return classes.sizes[classes.of_row]
