"""`unmask report`: from the results of a study to a page, files and a summary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unmask.cli.files import command_name, list_inputs, refuse_to_overwrite
from unmask.cli.generated import Command
from unmask.cli.option_types import FILE
from unmask.cli.options import language_option
from unmask.cli.terminal import print_line, print_text
from unmask.data import writing

if TYPE_CHECKING:
    from unmask.languages import Language
    from unmask.results import Result


@click.command("report", cls=Command)
@click.argument("run", type=FILE)
@click.option("--output", "-o", type=FILE, help="Write the page, one HTML file.")
@click.option(
    "--export", "folder", type=FILE,
    help="Write every chart as SVG (and PNG with the extra [charts]), every table as CSV and Parquet into this folder.",
)  # fmt: skip
@language_option
@click.option("--summary", "in_words", is_flag=True, help="Print the results in plain language, at most 25 lines.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--force", is_flag=True, help="Overwrite the page, and files in the folder of --export.")
def report(
    run: Path, output: Path | None, folder: Path | None, language: Language, in_words: bool, as_json: bool, force: bool
) -> None:  # fmt: skip
    r"""Show the results of a study: a page, its charts and tables as files, or a summary.

    \b
    unmask report results -o report.html
    unmask report results --export figures --summary
    """
    from unmask.render.page import render
    from unmask.studies.study_result import read_result

    if as_json and in_words:
        raise click.UsageError("--json and --summary both say what is printed; leave one out")
    refuse_to_overwrite(output, force=force, folder=None if folder is None or folder.exists() else folder)
    result = read_result(run)
    with writing.replace_files(output) as places:  # which takes its name once all is exported
        if output is not None:
            writing.write_text(places[output], render(result, language))
        if folder is not None:
            from unmask.render.files import export

            names = export(result, folder, force=force)
            print_line(f"wrote {len(names)} files in {folder}", err=True)
    if output is not None:
        print_line(f"wrote {output}", err=True)
    if as_json:
        print_line(result.to_json(command_name(), inputs=list_inputs()))
    elif in_words:
        print_text(result.summary())
    else:
        _say(result)


def _say(result: Result) -> None:
    """Print the decision and the findings of a study."""
    assert result.decision is not None
    print_line(f"{result.decision.answer} {result.decision.sentence}")
    for block in result.blocks:
        for sentence in block.notes if block.name == "findings" else ():
            print_line(f"  {sentence}")
