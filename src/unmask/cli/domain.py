"""`unmask audit WORD`, generated from the function `audit_files` of a domain."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import click

from unmask.cli.documents import DomainCommand
from unmask.cli.generated import FILE, grouped, options, parse_with
from unmask.cli.output import Output, audit_output
from unmask.core.errors import UnmaskError
from unmask.domains import DOMAINS, import_audit


def make_audit_command(domain: str) -> click.Command:
    """Return the command: its argument and its options are the parameters of `audit_files`."""
    audit_files = import_audit(domain).audit_files
    parameters = inspect.signature(audit_files).parameters.values()
    keywords = [item.name for item in parameters if item.kind is item.KEYWORD_ONLY]
    positional = [item.name for item in parameters if item.kind is not item.KEYWORD_ONLY]
    text = (inspect.getdoc(audit_files) or "").partition("\n\nParameters\n---")[0]
    argument = _make_argument(positional, get_type_hints(audit_files))

    @click.command(f"audit {DOMAINS[domain].word or domain}", cls=DomainCommand, help=text)
    @argument
    @grouped("Knowledge", options(f"{DOMAINS[domain].audit}:audit_files", *keywords))
    @audit_output
    def audit(output: Output, **values: Any) -> None:
        files = [values.pop(name) for name in positional]
        result = audit_files(*files, **values)
        if result is not None:  # a dry run has none
            output.write(result)

    return audit


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
