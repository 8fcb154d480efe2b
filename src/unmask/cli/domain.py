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
from unmask.cli.generated import grouped, import_source, list_typed_parameters, options, parse_with
from unmask.cli.option_types import FILE, AuditSignature
from unmask.cli.options_table import AUDITS
from unmask.cli.output import Output, at_risk_option, audit_output, subjects_option
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.domains import DOMAINS, import_audit, list_further_measures

if TYPE_CHECKING:
    from unmask.results import Result


def read_signature(source: str) -> AuditSignature:
    """Return the signature of a function, which is imported now."""
    function, typed = import_source(source), list_typed_parameters(source)
    parameters, hints = inspect.signature(function).parameters, get_type_hints(function)
    keywords = [name for name, item in parameters.items() if item.kind is item.KEYWORD_ONLY]
    argument = next((name for name in parameters if name not in keywords), "")
    return AuditSignature(
        (inspect.getdoc(function) or "").partition("\n\nParameters\n---")[0],
        argument,
        -1 if get_origin(hints.get(argument)) is Sequence else 1,
        tuple(name for name in keywords if name in typed),
        tuple(name for name in keywords if name in SERVICES),
    )


def make_audit_command(domain: str) -> click.Command:
    """Return the command: its argument and its options are the parameters of `audit_files`."""
    source = f"{DOMAINS[domain].audit}:audit_files"
    signature = AUDITS.get(source) or read_signature(source)
    further = (option for name, option in SERVICES.items() if option and name in signature.services)

    @click.command(f"audit {DOMAINS[domain].word or domain}", cls=DomainCommand, help=signature.text)
    @_make_argument(signature)
    @grouped("Knowledge", options(source, *signature.options))
    @_apply(*further)
    @audit_output
    def audit(output: Output, **values: Any) -> None:
        files = [values.pop(signature.argument)] if signature.argument else []
        watched, subjects = output.start_at_risk(), None if output.subjects is None else dict[str, str]()
        services = {"watched": watched, "subjects": subjects, "code": code_folder, "progress": _print_progress}
        audit_files = import_audit(domain).audit_files
        if "measures" in values:
            values["measures"] = (*values["measures"], *list_further_measures(output.policies, domain))
        result = audit_files(*files, **values, **{name: services[name] for name in signature.services})
        if result is not None:  # a dry run has none
            _print_failures(result)
            output.write(result, watched=watched, subjects=subjects, releases=files)

    return audit


SERVICES: Mapping[str, Callable[[Any], Any] | None] = {
    "code": allow_code_option, "watched": at_risk_option, "subjects": subjects_option, "progress": None,
}  # fmt: skip
"""Parameter of `audit_files` that the command passes on -> its option, if it has one."""


def _apply(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the decorator that applies all of these."""
    return lambda command: reduce(lambda inner, decorate: decorate(inner), decorators, command)


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
    return click.argument(signature.argument, nargs=signature.n_files, required=True, type=FILE)


def _check_document(text: str | None) -> str | None:
    if text is not None and not text.endswith(".toml"):
        name = Path(text).name
        raise UnmaskError(f"{name!r} is not a document such as unmask.toml; name files by options, see --help")
    return text
