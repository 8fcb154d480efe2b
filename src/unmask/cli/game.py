"""`unmask game`: what to release, at which price and fine, against attackers who plan campaigns."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unmask.cli.documents import CODE, allow_code_option
from unmask.cli.files import print_json, refuse_to_overwrite, write_texts
from unmask.cli.generated import FILE
from unmask.cli.terminal import print_line, print_table

if TYPE_CHECKING:
    from unmask.reports.facts.game import GameData


@click.command("game")
@click.argument("document", type=FILE)
@click.option(
    "--study", type=FILE, metavar="FOLDER",
    help="Price what adversaries believed in this study of the document; nothing is attacked twice.",
)  # fmt: skip
@allow_code_option
@click.option("--output", "-o", type=FILE, help="Write the page, one HTML file.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--force", is_flag=True, help="Overwrite the page.")
def game(document: Path, study: Path | None, output: Path | None, as_json: bool, force: bool) -> None:
    r"""Weigh what to release and what to ask for it: every protection of a document against its attackers.

    [publisher] says what the data are worth and what is lost for each person; [[attackers]] what they gain and pay. A
    number that is uncertain may be a range, gain = { from = 2000, to = 8000 }: the game has its middle, and a table the
    decision at both ends.

    \b
    unmask game unmask.toml
    unmask game unmask.toml -o game.html
    unmask game unmask.toml --study results
    """
    from unmask.studies.game import play

    refuse_to_overwrite(output, force=force)
    allow_code = bool(click.get_current_context().meta[CODE])
    found = play(document, study=study, allow_code=allow_code, watch=print_price_progress)
    if output is not None:
        from unmask.reports.page import written
        from unmask.reports.sections.game import game_page

        write_texts({output: written(game_page(found))})
        print_line(f"wrote {output}", err=True)
    if as_json:
        print_json(results=[asdict(one) for one in found.offers], tables=found.tables())
    else:
        _print_game(found)


def print_price_progress(name: str) -> None:
    """Say which protection is priced."""
    print_line(f"pricing {name}", err=True)


def _print_game(found: GameData) -> None:
    """Print what to do, then every protection at its best terms."""
    from unmask.reports.findings.game import money, people, shown
    from unmask.reports.screens.game import opening
    from unmask.results import Column, Table

    for line in opening(found):
        print_line(line)
    print_line()
    columns = (
        Column("protection"), Column("price", kind="number"), Column("fine", kind="number", rounds_up=True),
        Column("left to you", kind="interval"), Column("re-identified", kind="interval"),
    )  # fmt: skip
    records = [(shown(one.protection), one.price, one.fine, money(one.payoff), people(one)) for one in found.offers]
    print_table(Table.from_records("offers", columns, records))
