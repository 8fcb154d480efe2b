"""Gates of a pipeline: an audit whose risk is too high ends with an exit code of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from unmask.cli.generated import parsed
from unmask.errors import visible

if TYPE_CHECKING:
    from unmask.studies.conditions import Condition

EXIT_ABOVE = 3
"""Exit code of an audit whose risk is above --fail-above."""


def _gates(values: tuple[str, ...]) -> tuple[Condition, ...]:
    """Each a condition such as success_probability.worst>0.09; a plain share is one of people re-identified."""
    from unmask.studies.gates import gate_of

    return tuple(map(gate_of, values))


fail_above = click.option(
    "--fail-above", "gates", multiple=True, metavar="CONDITION", callback=parsed(_gates),
    help="Exit 3 on [ADVERSARY:][TARGET:]MEASURE[.FIELD]>NUMBER, such as success_probability.worst>0.09 or k<11; a "
    "plain share is one of people re-identified. Repeatable.",
)  # fmt: skip


def exit_above(broken: Sequence[str]) -> None:
    """Exit 3 where a gate is broken, and say which."""
    for line in broken:
        click.echo(visible(f"too risky: {line}"), err=True)
    if broken:
        raise click.exceptions.Exit(EXIT_ABOVE)
