"""`unmask protect aggregates`: tables of records with suppressed, rounded or perturbed cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unmask.cli.files import refuse_to_overwrite, suggest_command, write_texts
from unmask.cli.generated import Command, options, output_option
from unmask.cli.option_types import FILE
from unmask.cli.options import without_seed
from unmask.cli.price import print_program_tables
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError


@click.command("protect aggregates", cls=Command)
@click.argument("records", type=FILE)
@options(
    "unmask.aggregates.protections.protect_files:protect_files",
    "tables", "geography", "threshold", "zeros", "sliding", "base", "rounding", "cell_key", "value", "holding",
    "dominance", "p_percent", "prior_posterior", "min_contributors", "weight", "seconds",
)  # fmt: skip
@output_option("--output", "-o", required=True, type=FILE, help="New folder for the tables.")
@output_option("--report", type=FILE, help="Write the page, one HTML file.")
@output_option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@output_option("--force", is_flag=True, help="Overwrite the page.")
@without_seed
def protect_aggregates(
    records: Path, output: Path, report: Path | None, as_json: bool, force: bool, **settings: Any
) -> None:
    r"""Publish tables of counts or sums with suppressed, rounded or perturbed cells.

    Every table is published with all its totals. All tables are protected together, and then attacked: the interval of
    each suppressed cell is computed from everything that is published.

    \b
    unmask protect aggregates people.csv --tables 'sex*age,sex*region' --threshold 5 -o tables
    unmask protect aggregates people.csv --tables 'sex*district,sex*district:region' --round 5 -o tables
    unmask protect aggregates people.csv --tables 'sex*age' --cell-key 5,2 -o tables
    unmask protect aggregates firms.csv --tables 'branch*region' --value turnover --holding firm --p-percent 10 -o sums
    """
    from unmask.aggregates.protections.protect_files import protect_files
    from unmask.aggregates.protections.protection_result import describe
    from unmask.render.page import render

    if output.exists():
        raise UnmaskError(f"{output} exists, expected a new folder for the tables; choose another name")
    refuse_to_overwrite(report, force=force, folder=output)
    protected = protect_files(records, **settings)
    result = describe(protected)
    protected.write(output)
    if report is not None:
        write_texts({report: render(result)})
    if as_json:
        print_program_tables(result)
    print_line(f"wrote {output}: {len(protected.loss) - 1} tables", err=True)
    for sentence in () if as_json else result.sentences():
        print_line(sentence)
    for question, reason in () if as_json else result.not_run:
        print_line(f"Not computed: {question}: {reason}.")
    if not as_json and settings["value"] is None:
        suggest_command("audit", "aggregates", output, "--original", records)
