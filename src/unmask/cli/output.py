"""Output of every audit: findings or JSON, a page, its charts and tables, a summary, and an exit code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unmask.cli.files import (
    command_name,
    list_inputs,
    locate_release,
    name_table,
    print_findings,
    print_overview,
    print_secret_file,
    refuse_to_overwrite,
    suggest_command,
    write_texts,
)
from unmask.cli.gates import audited_domain, exit_unless_acceptable, judge, policy_option, refuse_other_domains
from unmask.cli.generated import grouped, output_option, pop_options
from unmask.cli.option_types import FILE
from unmask.cli.options import language_option
from unmask.cli.terminal import print_line, print_text
from unmask.data import writing
from unmask.toml_text import DOCUMENT

if TYPE_CHECKING:
    from unmask.findings.people_at_risk import Watched
    from unmask.languages import Language
    from unmask.policy import Policy
    from unmask.results import Result
    from unmask.results.change import Change


class Output(NamedTuple):
    """Options of the output of an audit.

    smallest_shown : fewest people that a count of the output may stand for
    changes        : try other protections for the page
    language       : of the first screen of the page
    """

    report: Path | None
    export: Path | None
    in_short: bool
    as_json: bool
    force: bool
    smallest_shown: int
    policies: tuple[Policy, ...] = ()
    at_risk: Path | None = None
    details: Path | None = None
    sarif: Path | None = None
    changes: bool = True
    language: Language = "en"

    def check(self) -> None:
        """Refuse outputs that cannot be written or printed, before the work."""
        if self.as_json and self.in_short:
            raise click.UsageError("--json and --summary both say what is printed; leave one out")
        for path in (*filter(None, [self.at_risk]), *self.detail_files.values()):
            if path.suffix.lower() not in ("", ".csv", ".txt"):
                raise click.UsageError(f"{path} names another format, expected a list of people as .csv")
            if path.exists():
                raise click.UsageError(f"{path} exists, and a list of people replaces nothing; choose another name")
        refuse_other_domains(self.policies)
        if self.sarif is not None and not self.policies:
            raise click.UsageError("--sarif writes conditions that are not met; give --policy")
        lists = (self.at_risk, *self.detail_files.values())
        refuse_to_overwrite(self.report, *lists, self.sarif, force=self.force, folder=self.export)

    @property
    def detail_files(self) -> dict[str, Path]:
        """End of the name of each file about single people -> its path."""
        path = self.details
        return {} if path is None else {end: path.with_stem(f"{path.stem}{end}") for end in ("", "-curves")}

    def start_at_risk(self) -> Watched | None:
        """Return the list that the audit fills with people at risk, if one is to be written."""
        from unmask.findings.people_at_risk import Watched

        return None if self.at_risk is None else Watched("id")

    def write(
        self,
        result: Result,
        *,
        rows: Mapping[str, Sequence[Any]] | None = None,
        suggest: Callable[[Result, list[Policy]], tuple[Change, ...]] | None = None,
        watched: Watched | None = None,
        details: Mapping[str, str] | None = None,
        releases: Sequence[Path] = (),
    ) -> None:
        """Write the files, print the result, and exit 3 unless all releases are acceptable.

        rows     : of the files read, see `list_inputs`
        suggest  : tries changes of a release that is not acceptable, for the page
        watched  : people at risk
        details  : texts about single people, by the end of the file's name
        releases : files in whose folders lists of people should not be
        """
        result = judge(result, self.policies, domain=audited_domain())  # before anything is written: it may fail
        result = replace(result, smallest_shown=self.smallest_shown, reproduce=describe_version())
        if suggest and self.report and self.changes and any(item.state == "not acceptable" for item in result.verdicts):
            policies = [*dict.fromkeys(verdict.policy for verdict in result.verdicts)]
            result = replace(result, changes=suggest(result, policies))
        shared = result.without_small()
        private: dict[Path, str] = {}
        if watched is not None and self.at_risk is not None:
            private[self.at_risk] = watched.text()
        texts = details or {}
        private |= {path: texts[end] for end, path in self.detail_files.items() if end in texts}
        self._write_files(shared, private, lambda: self._print(shared, rows))
        for list_file in private:
            folder = list_file.resolve().parent
            nearest = next((path for path in releases if path.resolve().parent == folder), None)
            print_secret_file(list_file, public_file=nearest, reason="it shows which people are easiest to find")
        for caution in shared.cautions:
            print_line(f"warning: {caution}", err=True)
        for path in (self.report, self.sarif, self.export):
            if path is not None:
                print_line(f"wrote {path}", err=True)
        if command_name() == "audit" and not self.as_json:
            suggest_command(*self._suggest(shared))
        exit_unless_acceptable(shared.verdicts)

    def _write_files(self, result: Result, private: Mapping[Path, str], show: Callable[[], None]) -> None:
        """Write the files; none is there if results cannot be printed. private : texts for the owner alone"""
        with writing.replace_files(self.report, self.sarif, *private) as places:  # they get their names at the end
            for path, text in private.items():
                writing.write_text(places[path], text, private=True)
            if self.report is not None:
                from unmask.render.page import render

                write_texts({places[self.report]: render(result, self.language)})
            if self.sarif is not None:
                from unmask.render.sarif import sarif

                writing.write_text(places[self.sarif], sarif(result.tables.get("verdicts", ()), locate_release))
            show()
            if self.export is not None:
                from unmask.render.files import export

                export(result, self.export, force=self.force)

    def _print(self, result: Result, rows: Mapping[str, Sequence[Any]] | None) -> None:
        if self.as_json:
            print_line(result.to_json(command_name(), inputs=list_inputs(rows)))
        elif self.in_short:
            print_text(result.summary())
        elif command_name() != "audit":
            print_findings(result)
        else:
            print_overview(result)

    def _suggest(self, result: Result) -> list[str]:
        """Return the next command.

        It is the best change; a certificate, if a document is read and its releases are acceptable; the riskiest
        columns, if a person is at risk; or else the page.
        """
        from unmask.render.first_screen import select_change
        from unmask.render.terminal import lines

        context = click.get_current_context()
        params, document = context.params, context.meta.get(DOCUMENT)
        change = select_change(result.changes)
        if change is not None:
            return _list_protect_options(change, params, in_place=bool(document))
        if document and result.verdicts and all(verdict.state == "acceptable" for verdict in result.verdicts):
            return ["certify", document, "-o", "certificate.json"]
        if any(line.kind == "risk" for line in lines(result)) and params["engine"] is None:
            return ["choose", "columns", *name_table(params["original"] or params["releases"][0])]
        return [] if self.report else ["audit", *name_table(params["releases"][0]), "--report", "report.html"]


def write_page(result: Result, path: Path, language: Language = "en") -> None:
    """Write the page of a result without a policy."""
    from unmask.render.page import render

    write_texts({path: render(result, language)})
    print_line(f"wrote {path}", err=True)


def describe_version() -> dict[str, object]:
    """Return how a page was made: no path, no seed and no digest, which could confirm a guess of the data."""
    from unmask.version import __version__

    return {"Version": f"unmask {__version__}"}


def _list_protect_options(change: Change, params: Mapping[str, Any], *, in_place: bool) -> list[str]:
    """Return the command of a change. in_place : it replaces the only release of the document, which names its files"""
    limit = ["--l", str(change.l)] if change.l else []
    if in_place and len(params["releases"]) == len(params["origins"]) == 1:
        files = ["-o", str(params["releases"][0]), "--origin", str(params["origins"][0]), "--force"]
    else:
        files = ["-o", f"k{change.k}.csv", "--origin", f"k{change.k}-origin.csv"]
    table = name_table(str(params["original"]), without=change.without, protects_kept=change.protects_kept)
    return ["protect", *table, "--k", str(change.k), *limit, *files]


at_risk_option = output_option(
    "--at-risk", type=FILE, metavar="FILE",
    help="Write who is at risk and why, for the owner alone: rows of the original (of the release without --original), "
    "counted from 0, or ids of nodes.",
)  # fmt: skip


subjects_option = output_option(
    "--subjects", "details", type=FILE, metavar="FILE",
    help="Write the values of every subject, for the owner alone, and their curves to FILE-curves.",
)  # fmt: skip


risk_file_option = output_option(
    "--risk-file", "details", type=FILE, metavar="FILE",
    help="Write the risk of each record, for the owner alone: class size, individual, model and household risk, SUDA.",
)  # fmt: skip


def audit_output(command: Any) -> Any:
    """Add the options of an audit's output; the command gets them as `output`, checked before it starts."""

    @wraps(command)
    def with_output(**values: Any) -> Any:
        output = Output(**pop_options(values, [name for name in Output._fields if name in values]))
        output.check()
        return command(output=output, **values)

    wrapped: Any = grouped("Policy", policy_option)(with_output)
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
        language_option,
        click.option("--report", type=FILE, help="Write the report, one HTML file."),
    ):  # fmt: skip
        wrapped = grouped("Output", option)(wrapped)
    return wrapped
