"""Options that several commands share."""

from __future__ import annotations

import click

from unmask.cli.generated import grouped, options, parse_with
from unmask.core.errors import UnmaskError
from unmask.languages import LANGUAGES


def _refuse_seed(text: str | None) -> None:
    if text is not None:
        raise UnmaskError(
            "a release has no seed, because a seed that is known or guessed reverses its protection; leave --seed out "
            "(studies have one)"
        )


# --- options about tables ---

table_options = options("unmask.tables:Table.read")
"""Options of commands that read a table."""

optional_table_options = options("unmask.tables:Table.read", quasi_identifiers={"required": False})
"""Options of commands that can do without a table."""

attacker_option = grouped("Knowledge", options("unmask.tables.audit:audit", "attacker"))

without_seed = click.option("--seed", hidden=True, expose_value=False, callback=parse_with(_refuse_seed))
"""Refusal of a seed by commands that write a release."""

language_option = click.option(
    "--lang", "language", default="en", show_default=True, type=click.Choice(LANGUAGES),
    help="Language of the first screen, or of the certificate.",
)  # fmt: skip
"""Option of commands that write pages for readers."""
