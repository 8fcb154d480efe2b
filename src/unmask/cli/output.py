"""What every audit gives: findings or JSON, a page, its charts and tables, a summary, and an exit code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unmask.cli.files import (
    command_name,
    describe_version,
    list_inputs,
    list_role_options,
    locate_release,
    print_findings,
    print_overview,
    print_secret_file,
    refuse_to_overwrite,
    suggest_command,
    write_report,
)
from unmask.cli.gates import audited_domain, exit_unless_acceptable, judge, policy_option, refuse_other_domains
from unmask.cli.generated import FILE, grouped, output_option, pop_options
from unmask.cli.terminal import print_line, print_text
from unmask.data import writing

if TYPE_CHECKING:
    from unmask.policy import Policy
    from unmask.reports import ReportData
    from unmask.reports.at_risk import Watched
    from unmask.reports.facts.tables import Change
    from unmask.results import AuditResult


class Output(NamedTuple):
    """What the user asked for. smallest_shown : the fewest people that may stand for a cell of what is given.
    changes : whether the page tells what other protections would do
    """

    report: Path | None
    export: Path | None
    in_short: bool
    as_json: bool
    force: bool
    smallest_shown: int
    policies: tuple[Policy, ...] = ()
    at_risk: Path | None = None
    sarif: Path | None = None
    changes: bool = True

    def check(self) -> None:
        """Refuse what cannot be written or said, before the work."""
        if self.as_json and self.in_short:
            raise click.UsageError("--json and --summary both say what is printed; leave one out")
        if self.at_risk is not None and self.at_risk.exists():
            raise click.UsageError(
                f"{self.at_risk} exists, and a list of those at risk replaces nothing; choose another name"
            )
        refuse_other_domains(self.policies)
        if self.sarif is not None and not self.policies:
            raise click.UsageError("--sarif writes conditions that are not met; give --policy")
        refuse_to_overwrite(self.report, self.at_risk, self.sarif, force=self.force, folder=self.export)

    def give(
        self,
        found: ReportData | AuditResult,
        *,
        rows: Mapping[str, Sequence[Any]] | None = None,
        warnings: Sequence[str] = (),
        suggest: Callable[[ReportData, list[Policy]], tuple[Change, ...]] | None = None,
        watched: Watched | None = None,
        releases: Sequence[Path] = (),
    ) -> None:
        """Write, print, and exit 3 unless all is acceptable.

        rows     : of the files read, see `list_inputs`
        watched  : who is at risk; releases : in whose folders that list should not lie
        suggest  : tries what may be done about a release that is not acceptable, for the page
        """
        from unmask.reports.data import ReportData
        from unmask.reports.result import Result

        found = ReportData.of(found)
        judged = judge(found, self.policies, domain=audited_domain())  # before anything is written: it may fail
        shown = replace(found.under(judged), least=self.smallest_shown, reproduce=describe_version())
        if suggest and self.report and self.changes and any(one.state == "not acceptable" for one in judged):
            shown = replace(shown, changes=suggest(shown, [*dict.fromkeys(one.policy for one in judged)]))
        at_risk = None if watched is None else self.at_risk
        with writing.replace_files(self.report, self.sarif, at_risk) as places:  # names are taken once all is said
            if at_risk is not None and watched is not None:
                writing.write_text(places[at_risk], watched.text(), private=True)
            if self.report is not None:
                write_report(shown, places[self.report])
            if self.sarif is not None:
                from unmask.reports.sarif import sarif

                writing.write_text(places[self.sarif], sarif(shown.tables().get("verdicts", ()), locate_release))
            if self.as_json:  # no file is there where the standard output is full
                print_line(Result(shown).to_json(command_name(), inputs=list_inputs(rows), warnings=warnings))
            else:
                self._say(shown)
            if self.export is not None:
                from unmask.reports.export import export

                export(shown, self.export, force=self.force)
        if at_risk is not None:
            folder = at_risk.resolve().parent
            beside = next((path for path in releases if path.resolve().parent == folder), releases[0])
            print_secret_file(at_risk, beside=beside, why="whoever has it knows whom to look for")
        for said in (*warnings, *shown.cautions):
            print_line(f"warning: {said}", err=True)
        for path in (self.report, self.sarif, self.export):
            if path is not None:
                print_line(f"wrote {path}", err=True)
        if command_name() == "audit" and not self.as_json:
            suggest_command(*self._next(shown))
        exit_unless_acceptable(judged)

    def _say(self, shown: ReportData) -> None:
        if self.in_short:
            from unmask.reports.result import Result

            print_text(Result(shown).summary())
            return
        told = shown.without_small()
        if command_name() != "audit":
            print_findings(told)
            return
        print_overview(replace(told, criteria=shown.criteria))

    def _next(self, found: ReportData) -> list[str]:
        """The command that says more: the best change that was tried, else which columns give most away where somebody
        is at risk, else the page.
        """
        from unmask.reports.overview import lines
        from unmask.reports.screens.audit import best

        given = click.get_current_context().params
        made = best(found.changes)
        if made is not None:
            return _protecting(made, str(given["original"]))
        if any(line.kind == "risk" for line in lines(found)) and given["engine"] is None:
            return ["choose", "columns", str(given["original"] or given["releases"][0]), *list_role_options()]
        return [] if self.report else ["audit", given["releases"][0], *list_role_options(), "--report", "report.html"]

    def watch(self, rows: str) -> Watched | None:
        """Who takes down who is at risk, if a list of them is asked for; rows : what its rows are."""
        from unmask.reports.at_risk import Watched

        return None if self.at_risk is None else Watched(rows)


def _protecting(made: Change, original: str) -> list[str]:
    """The command that makes a change."""
    kept = [name for name in click.get_current_context().params["keep"] or () if name != made.without]
    extra = [*(["--keep", ",".join(kept)] if kept else []), *(["--l", str(made.l)] if made.l else [])]
    name = f"k{made.k}"
    files = ["-o", f"{name}.csv", "--origin", f"{name}-origin.csv"]
    return ["protect", original, *list_role_options(without=made.without), "--k", str(made.k), *extra, *files]


at_risk_option = output_option(
    "--at-risk", type=FILE, metavar="FILE",
    help="Write who is at risk and why, for the owner alone: rows of the original (of the release without --original), "
    "counted from 0, or ids of nodes.",
)  # fmt: skip


def audit_output(command: Any) -> Any:
    """The options of an audit's output; the command gets them as `output`, checked before it starts."""

    @wraps(command)
    def with_output(**given: Any) -> Any:
        output = Output(**pop_options(given, [name for name in Output._fields if name in given]))
        output.check()
        return command(output=output, **given)

    wrapped: Any = with_output
    wrapped = grouped("Policy", policy_option)(wrapped)
    for option in (
        click.option("--force", is_flag=True, help="Overwrite the report and the exported files."),
        click.option(
            "--smallest-shown", default=10, show_default=True, type=click.IntRange(min=1),
            help="Fewest people that a count, a bin or a class of the output may stand for.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object."),
        click.option(
            "--summary", "in_short", is_flag=True, help="Print a summary in plain language in place of the findings."
        ),
        click.option("--export", type=FILE, help="Folder for every chart and table of the page."),
        click.option("--sarif", type=FILE, help="Write the conditions that are not met, for code scanning (SARIF)."),
        click.option("--report", type=FILE, help="Write the report, one HTML file."),
    ):  # fmt: skip
        wrapped = grouped("Output", option)(wrapped)
    return wrapped
