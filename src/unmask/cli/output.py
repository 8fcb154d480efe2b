"""What every audit gives: findings or JSON, a page, its charts and tables, a summary, and an exit code."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unmask import writing
from unmask.cli.files import as_text, refuse_to_overwrite, say_findings, write_report
from unmask.cli.gates import Gate, check, fail_above

if TYPE_CHECKING:
    from unmask.reports import ReportData


class Output(NamedTuple):
    """What the user asked for."""

    report: Path | None
    export: Path | None
    in_short: bool
    as_json: bool
    force: bool
    gates: tuple[Gate, ...]

    def give(self, found: ReportData, result: Callable[[], dict[str, Any]]) -> None:
        """Write, print, and exit 3 where a gate is broken. `result` makes the JSON object."""
        with writing.together(self.report) as places:  # which takes its name once all is exported
            if self.report is not None:
                write_report(found, places[self.report])
            if self.export is not None:
                from unmask.reports.export import export

                export(found, self.export, force=self.force)
        if self.as_json:
            click.echo(as_text(result()))
        elif self.in_short:
            from unmask.reports.summary import summary

            click.echo(summary(found))
        else:
            say_findings(found)
        for path in (self.report, self.export):
            if path is not None:
                click.echo(f"wrote {path}", err=True)
        check(found, self.gates)


def audit_output(command: Any) -> Any:
    """The options of an audit's output; the command gets them as `output`, checked before it starts."""

    @wraps(command)
    def with_output(
        *,
        report: Path | None,
        export: Path | None,
        in_short: bool,
        as_json: bool,
        force: bool,
        gates: tuple[Gate, ...],
        **others: Any,
    ) -> Any:
        if as_json and in_short:
            raise click.UsageError("--json and --summary both say what is printed; leave one out")
        refuse_to_overwrite(report, export, force=force)
        return command(output=Output(report, export, in_short, as_json, force, gates), **others)

    wrapped: Any = with_output
    for option in (
        fail_above,
        click.option("--force", is_flag=True, help="Overwrite the report and the exported files."),
        click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object."),
        click.option(
            "--summary", "in_short", is_flag=True, help="Print a summary in plain language in place of the findings."
        ),
        click.option("--export", type=click.Path(path_type=Path), help="Folder for every chart and table of the page."),
        click.option("--report", type=click.Path(path_type=Path), help="Write the report, one HTML file."),
    ):
        wrapped = option(wrapped)
    return wrapped
