"""`unmask list`: all parts by name. `unmask demo`: an audit of a generated census."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from unmask.cli.files import print_json, print_releases, refuse_to_overwrite
from unmask.cli.option_types import FILE
from unmask.cli.options import language_option
from unmask.cli.output import describe_version
from unmask.cli.terminal import print_line, print_text
from unmask.data.writing import replace_files, write_text
from unmask.first_document import FIRST_POLICY
from unmask.languages import Language, mark


@click.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print the lists as one JSON object.")
def list_(as_json: bool) -> None:
    """List attacks, protections, datasets, measures, criteria and losses of utility, with plug-ins."""
    from unmask.catalog import list_catalog

    entries = list_catalog()
    if as_json:
        kinds = ((heading.removesuffix("s"), *item) for heading, items in entries.items() for item in items.items())
        print_json(results=[{"kind": kind, "name": name, "text": text} for kind, name, text in kinds])
        return
    for heading, items in entries.items():
        print_text(f"{heading}\n" + "\n".join(f"  {name:28} {text}" for name, text in items.items()))


@click.command()
@click.option("--report", default="unmask-demo.html", show_default=True, type=FILE, help="File of the report.")
@click.option(
    "--people", default=20_000, show_default=True, type=click.IntRange(500, 100_000_000),
    help="Size of the generated census.",
)  # fmt: skip
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0),
    help="Random seed of the census and of every draw.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite the report.")
@language_option
def demo(report: Path, people: int, seed: int, force: bool, language: Language) -> None:
    """Protect a generated census with k = 3, 12 and 50, and audit every release. Needs no files."""
    import numpy as np

    from unmask.policy import judge_result, read_policy
    from unmask.render.page import render
    from unmask.results import Advice
    from unmask.tables import Mondrian, Register, Table, datasets
    from unmask.tables.audit import audit as audit_tables

    refuse_to_overwrite(report, force=force)
    rng = np.random.default_rng(seed)
    columns, quasi_identifiers = datasets.synthetic_census(people, rng=rng), ("age", "sex", "zip")
    census = Table.read(columns, quasi_identifiers=quasi_identifiers, sensitive="diagnosis", types={"zip": "number"})
    tables, origins = {}, {}
    for k in (3, 12, 50):
        tables[f"k={k}"], origins[f"k={k}"] = Mondrian(k=k)(census, rng=rng)
    register = Register(columns=quasi_identifiers, coverage=0.8)(census, origins["k=3"], rng=rng)
    holder: dict[str, Any] = {"register": register.people, "register_origin": register.person, "coverage": 0.8}
    result = audit_tables(tables, original=census, origin=origins, seed=seed, **holder)
    result = replace(
        judge_result(result, [read_policy(FIRST_POLICY)]),
        title=mark("A generated census, released with k = 3, 12 and 50"),
        advice=Advice(mark("Look at a table of your own:"), "unmask look people.csv"),
        reproduce=describe_version(),
    )
    with replace_files(report) as places:
        write_text(places[report], render(result, language))
        print_releases(result.without_small())
    print_line(f"wrote {report} (seed {seed})", err=True)
    print_line("next, with a table of your own: unmask look FILE, or unmask open FILE in the browser", err=True)
