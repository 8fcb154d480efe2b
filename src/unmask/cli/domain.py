"""`unmask audit` and `unmask audit WORD`, generated from the function `audit_files` of a domain."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import click

from unmask.cli.completion import first_argument
from unmask.cli.documents import DomainCommand, WritesDocument, allow_code_option, code_folder
from unmask.cli.generated import grouped, list_typed_parameters, options, output_option, parse_with
from unmask.cli.option_types import FILE, AuditSignature, Input
from unmask.cli.options_table import find_signature
from unmask.cli.output import Output, at_risk_option, audit_output, risk_file_option, subjects_option
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.core.lazy import import_source
from unmask.domains import DOMAINS, import_audit, list_further_measures
from unmask.ranges import Option, list_hints
from unmask.results.rows import ORIGINAL

if TYPE_CHECKING:
    from unmask.policy import Policy
    from unmask.results import Result
    from unmask.results.change import Change


def read_signature(source: str) -> AuditSignature:
    """Return the signature of a function, which is imported now."""
    function, typed = import_source(source), list_typed_parameters(source)
    parameters, hints = inspect.signature(function).parameters, list_hints(function)
    keywords = [name for name, item in parameters.items() if item.kind is item.KEYWORD_ONLY]
    argument = next((name for name in parameters if name not in keywords), "")
    hint = hints.get(argument)
    kind, *declared = get_args(hint) if get_origin(hint) is Annotated else [hint]
    return AuditSignature(
        (inspect.getdoc(function) or "").partition("\n\nParameters\n---")[0],
        argument,
        -1 if get_origin(kind) is Sequence else 1,
        any(isinstance(item, Option) and item.source for item in declared),
        tuple(name for name in keywords if name in typed and name not in SERVICES),
        tuple(name for name in keywords if name in SERVICES),
    )


def make_audit_command(domain: str) -> click.Command:
    """Return the command: its argument and its options are the parameters of `audit_files`."""
    source = f"{DOMAINS[domain].audit}:audit_files"
    signature = find_signature(source) or read_signature(source)
    further = (option for name, option in SERVICES.items() if option and name in signature.services)
    word = domain if DOMAINS[domain].word is None else DOMAINS[domain].word

    @click.command(f"audit {word}".strip(), cls=DomainCommand if word else WritesDocument, help=signature.text)
    @_make_argument(signature)
    @grouped("Knowledge", options(source, *signature.options))
    @_apply(*further)
    @audit_output
    def audit(output: Output, **values: Any) -> None:
        files = [values.pop(signature.argument)] if signature.argument else []
        watched, details = output.start_at_risk(), None if output.details is None else dict[str, str]()
        trials: dict[str, Any] = {}
        services = {
            "watched": watched, "subjects": details, "record_risks": details, "code": code_folder,
            "page": output.report is not None, "trials": trials, "progress": _print_progress,
        }  # fmt: skip
        audit_files = import_audit(domain).audit_files
        if "measures" in values:
            values["measures"] = (*values["measures"], *list_further_measures(output.policies, domain))
        result = audit_files(*files, **values, **{name: services[name] for name in signature.services})
        if result is not None:  # a dry run has none
            _print_failures(result)
            suggest = partial(_suggest_changes, trials) if trials else None
            sizes = (values for name, values in result.criteria.items() if name != ORIGINAL)
            rows = {signature.argument: [values["rows"] for values in sizes if "rows" in values]}
            output.write(result, rows=rows, suggest=suggest, watched=watched, details=details, releases=_paths(files))

    return audit


changes_option = output_option(
    "--changes/--no-changes", default=True, show_default=True,
    help="Try other protections for the page of a table that is not acceptable.",
)  # fmt: skip

SERVICES: Mapping[str, Callable[[Any], Any] | None] = {
    "code": allow_code_option, "watched": at_risk_option, "subjects": subjects_option,
    "record_risks": risk_file_option, "trials": changes_option, "page": None, "progress": None,
}  # fmt: skip
"""Parameter of `audit_files` that the command passes on -> its option, if it has one."""


def _apply(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the decorator that applies all of these."""
    return lambda command: reduce(lambda inner, decorate: decorate(inner), decorators, command)


def _paths(files: Sequence[Any]) -> list[Path]:
    """Return the paths of an argument of one file, or of several."""
    return [Path(file) for item in files for file in (item if isinstance(item, tuple) else (item,))]


def _suggest_changes(trials: dict[str, Any], result: Result, policies: list[Policy]) -> tuple[Change, ...]:
    """Return the only release of a result, and changes of its protection that were tried."""
    from unmask.suggestions import describe_release, suggest

    print_line("not acceptable: trying other protections for the page", err=True)
    release = result.verdicts[0].release
    k = result.criteria[release]["k"]
    settings = {name: value for name, value in trials.items() if value is not None}
    return describe_release(result, release), *suggest(policy=policies, k=k if isinstance(k, int) else 1, **settings)


def _print_progress(text: str) -> None:
    """Print the running step, on a terminal only."""
    if sys.stderr.isatty():
        print_line(text, err=True)


def _print_failures(result: Result) -> None:
    """Print what was requested and failed."""
    for question, reason in result.not_run:
        if reason.startswith("failed: "):
            print_line(f"Not run: {question}: {reason.removeprefix('failed: ')}", err=True)


def _make_argument(signature: AuditSignature) -> Callable[[Any], Any]:
    """Return the argument for the files; a document takes its place."""
    if not signature.argument:
        return click.argument("document", required=False, expose_value=False, callback=parse_with(_check_document))
    kind, completion = Input() if signature.has_sources else FILE, first_argument if signature.n_files < 0 else None
    settings: dict[str, Any] = {"type": kind, "shell_complete": completion}
    return click.argument(signature.argument, nargs=signature.n_files, required=True, **settings)


def _check_document(text: str | None) -> str | None:
    if text is not None and not text.endswith(".toml"):
        name = Path(text).name
        raise UnmaskError(f"{name!r} is not a document such as unmask.toml; name files by options, see --help")
    return text
