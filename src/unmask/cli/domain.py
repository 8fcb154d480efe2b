"""`unmask audit DOMAIN`, made of the cases of a domain that has no command of its own."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import click

from unmask.cli.documents import DomainCommand
from unmask.cli.files import name_files
from unmask.cli.generated import FILE, options
from unmask.cli.output import Output, audit_output
from unmask.domains import DOMAINS, import_audit
from unmask.plan import Part


def make_audit_command(domain: str) -> click.Command:
    """The command: its options are the keywords of the audit, its releases are read as a dataset's file is."""
    cases = import_audit(domain)
    sentence = (inspect.getdoc(cases.audit) or "").partition("\n\n")[0]

    @click.command(f"audit {domain}", cls=DomainCommand, help=sentence)
    @click.argument("releases", nargs=-1, required=True, type=FILE)
    @options(f"{DOMAINS[domain].audit}:audit")
    @audit_output
    def audit(releases: tuple[Path, ...], output: Output, **asked: Any) -> None:
        dataset = Part(domain, f"{domain}.file", {}, {})
        read = {name: cases.load(dataset, path) for name, path in zip(name_files(releases), releases, strict=True)}
        output.give(cases.audit(read, **asked))

    return audit
