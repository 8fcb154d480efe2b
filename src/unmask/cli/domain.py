"""`unmask audit WORD`, generated from the function `audit_files` of a domain."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin, get_type_hints

import click

from unmask.cli.documents import DomainCommand, allow_code_option, code_folder
from unmask.cli.generated import FILE, convert_hint, grouped, options, parse_with
from unmask.cli.output import Output, at_risk_option, audit_output
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.domains import DOMAINS, import_audit

if TYPE_CHECKING:
    from unmask.results import AuditResult


def make_audit_command(domain: str) -> click.Command:
    """Return the command: its argument and its options are the parameters of `audit_files`."""
    audit_files = import_audit(domain).audit_files
    parameters, hints = inspect.signature(audit_files).parameters, get_type_hints(audit_files, include_extras=True)
    positional = [name for name, item in parameters.items() if item.kind is not item.KEYWORD_ONLY]
    keywords = [name for name in parameters if name not in positional and convert_hint(hints[name])]
    text = (inspect.getdoc(audit_files) or "").partition("\n\nParameters\n---")[0]

    @click.command(f"audit {DOMAINS[domain].word or domain}", cls=DomainCommand, help=text)
    @_make_argument(positional, hints)
    @grouped("Knowledge", options(f"{DOMAINS[domain].audit}:audit_files", *keywords))
    @_add_options(*(option for name, option in SERVICES.items() if name in parameters))
    @audit_output
    def audit(output: Output, **values: Any) -> None:
        files, watched = [values.pop(name) for name in positional], output.start_at_risk()
        services = {"watched": watched, "code": code_folder, "progress": _print_progress}
        result = audit_files(*files, **values, **{name: services[name] for name in services.keys() & parameters.keys()})
        if result is not None:  # a dry run has none
            _print_failures(result)
            output.write(result, watched=watched, releases=files)

    return audit


SERVICES: Mapping[str, Callable[[Any], Any]] = {"code": allow_code_option, "watched": at_risk_option}
"""Parameter of `audit_files` that a document cannot hold -> the option that it needs."""


def _add_options(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the decorator that applies all of these."""
    return lambda command: reduce(lambda inner, decorate: decorate(inner), decorators, command)


def _print_progress(text: str) -> None:
    """Print the running step, on a terminal only."""
    if sys.stderr.isatty():
        print_line(text, err=True)


def _print_failures(result: AuditResult) -> None:
    """Print what was requested and failed."""
    for question, reason in result.not_run:
        if reason.startswith("failed: "):
            print_line(f"Not run: {question}: {reason.removeprefix('failed: ')}", err=True)


def _make_argument(names: Sequence[str], hints: dict[str, Any]) -> Callable[[Any], Any]:
    """Return the argument for the files; a document takes its place."""
    if not names:
        return click.argument("document", required=False, expose_value=False, callback=parse_with(_check_document))
    n_files = -1 if get_origin(hints[names[0]]) is Sequence else 1
    return click.argument(names[0], nargs=n_files, required=True, type=FILE)


def _check_document(text: str | None) -> str | None:
    if text is not None and not text.endswith(".toml"):
        name = Path(text).name
        raise UnmaskError(f"{name!r} is not a document such as unmask.toml; name files by options, see --help")
    return text
