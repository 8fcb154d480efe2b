"""`unmask game`: what to release, at which price and fine, against attackers who plan campaigns."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.files import refuse_to_overwrite, say_json, write_text
from unmask.cli.generated import FILE
from unmask.errors import visible

if TYPE_CHECKING:
    from unmask.reports.facts.game import GameData, Offer


@click.command("game")
@click.argument("document", type=FILE)
@click.option("--output", "-o", type=FILE, help="Write the page, one HTML file.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--force", is_flag=True, help="Overwrite the page.")
def game(document: Path, output: Path | None, as_json: bool, force: bool) -> None:
    r"""Weigh what to release and what to ask for it: every protection of a document against its attackers.

    [publisher] says what the data are worth and what is lost for each person; [[attackers]] what they gain and pay. A
    number that nobody knows may be a range, gain = { from = 2000, to = 8000 }.

    \b
    unmask game unmask.toml
    unmask game unmask.toml -o game.html
    """
    from unmask.studies.game import play

    refuse_to_overwrite(output, force=force)
    found = play(document, watch=lambda name: click.echo(f"attacking {visible(name)}", err=True))
    if output is not None:
        from unmask.reports.page import written
        from unmask.reports.sections.game import game_page

        write_text(output, written(game_page(found)))
        click.echo(f"wrote {output}", err=True)
    if as_json:
        rows = [asdict(one) for one in found.offers]
        tables = {
            "decision": [decision(found)],
            "wrong": [asdict(one) for one in found.wrong],
            "alone": [asdict(one) for one in found.alone],
            "stopping": [asdict(one) for one in found.stopping],
            "judged": [asdict(one) for one in found.judged],
            "ranges": [asdict(one) for one in found.ranged],
            "lattices": [asdict(one) for one in found.lattices],
        }
        say_json(results=rows, tables=tables)
    else:
        _say(found)


def decision(found: GameData) -> dict[str, Any]:
    """What to do: the move with its terms, what it leaves, who attacks, what to ask to be safe, and what would pay."""
    from unmask.reports.facts.game import WITHHELD

    taken = found.taken
    state = {True: "attacks", None: "may attack"}
    return {
        "release": taken.protection != WITHHELD,
        **asdict(taken),
        "attackers": {one.kind: state.get(one.attacks, "stays away") for one in taken.answers},
        "regret": found.judged[0].regret if found.judged else None,
        "safer": None if found.safer is None else asdict(found.safer),
        "would_pay": [asdict(one) for one in found.deterring],
    }


def _say(found: GameData) -> None:
    """What to take, then every protection at its best terms."""
    from unmask.reports.sections.game import opening

    for line in opening(found):
        click.echo(visible(line))
    click.echo()
    click.echo(f"{'protection':24}{'price':>12}{'fine':>12}{'left to you':>26}{'re-identified':>22}")
    for one in found.offers:
        click.echo(_line(one))


def _line(one: Offer) -> str:
    from unmask.reports.findings.game import money, people
    from unmask.reports.findings.price import amount

    left, named = money(one.payoff), people(one)
    return f"{visible(one.protection)[:24]:24}{amount(one.price):>12}{amount(one.fine):>12}{left:>26}{named:>22}"
