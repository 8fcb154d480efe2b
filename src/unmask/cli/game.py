"""`unmask game`: what to release, at which price and fine, against attackers who plan campaigns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unmask.cli.documents import CODE, allow_code_option
from unmask.cli.files import print_json, refuse_to_overwrite
from unmask.cli.generated import Command, options
from unmask.cli.option_types import FILE
from unmask.cli.options import language_option
from unmask.cli.output import write_page
from unmask.cli.terminal import print_line, print_table

if TYPE_CHECKING:
    from unmask.languages import Language


@click.command("game", cls=Command)
@click.argument("document", type=FILE)
@options("unmask.studies.game.solution:play", "study", study={"metavar": "FOLDER"})
@allow_code_option
@click.option("--output", "-o", type=FILE, help="Write the page, one HTML file.")
@language_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--force", is_flag=True, help="Overwrite the page.")
def game(
    document: Path, study: Path | None, output: Path | None, language: Language, as_json: bool, force: bool
) -> None:
    r"""Find the protection, price and fine that pay best for the publisher, given every attacker.

    [publisher] states the worth of the data and the loss for each person, [[attackers]] their gains and costs. An
    uncertain number may be a range, gain = { from = 2000, to = 8000 }. The game uses the middle, and a table shows the
    decision at both ends. With largest_k = 200 the game also finds the smallest k that deters every attacker.

    \b
    unmask game unmask.toml
    unmask game unmask.toml -o game.html
    unmask game unmask.toml --study results
    """
    from unmask.studies.game import make_result, play
    from unmask.studies.game.facts import DeterringSize
    from unmask.studies.game.sentences import describe_size
    from unmask.studies.game.tables import OFFERS, list_program_tables

    refuse_to_overwrite(output, force=force)
    allow_code = bool(click.get_current_context().meta[CODE])
    result = make_result(play(document, study=study, allow_code=allow_code, watch=print_price_progress))
    if output is not None:
        write_page(result, output, language)
    if as_json:
        offers, *tables = list_program_tables(result)
        print_json(results=offers.records(), tables={table.name: table.records() for table in tables})
        return
    assert result.decision is not None
    print_line(f"{result.decision.answer} {result.decision.sentence}")
    print_line(result.headline)
    for row in result.table("game_sizes").rows:
        print_line(describe_size(DeterringSize(**row)))
    print_line()
    print_table(result.table("game_offers").select(OFFERS))


def print_price_progress(name: str) -> None:
    """Print the protection that is priced."""
    print_line(f"pricing {name}", err=True)
