"""`unmask check`: tests of an attack, protection or measure of yours against the laws that ours obey."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from unmask.cli.files import print_json
from unmask.cli.terminal import print_line

EXIT_BROKEN = 1


@click.command("check")
@click.argument("thing", metavar="MODULE:CLASS")
@click.option(
    "--domain", help="Domain, if the annotations do not state it: tables, graphs, linkage, channels or aggregates."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def check(thing: str, domain: str | None, as_json: bool) -> None:
    r"""Test your own attack, protection or measure on small problems, and report the laws that it breaks.

    Exit code 1 if a law is broken. The module is searched in this folder first, then in Python's path.

    \b
    unmask check my_module:MyAttack
    unmask check unmask.tables:Mondrian --json
    """
    from unmask.catalog import find_any
    from unmask.checks import check as judge

    verdicts = judge(find_any(thing, Path.cwd()), domain=domain or "")
    if as_json:
        print_json(results=[asdict(verdict) for verdict in verdicts])
    for verdict in () if as_json else verdicts:
        print_line(str(verdict))
    broken = sum(verdict.state == "broken" for verdict in verdicts)
    print_line(f"{thing}: {broken} of {len(verdicts)} laws broken", err=True)
    if broken:
        raise click.exceptions.Exit(EXIT_BROKEN)
