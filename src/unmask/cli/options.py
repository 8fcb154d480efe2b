"""Options that several commands share, and how a wrong one is told."""

from __future__ import annotations

import math
import signal
from typing import Any

import click

KINDS = ("numeric", "ordinal", "categorical")


class Sentences(click.Group):
    """Turns a user's mistake into one sentence and an exit code; a mistake of ours keeps its traceback.

    A SIGTERM is a Ctrl-C: temporary files are removed, and a study writes what is finished.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an `UnmaskError` and a Ctrl-C become a sentence and an exit code."""
        from unmask.errors import FailedError, UnmaskError

        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as a Ctrl-C, which cleans up
        try:
            return super().invoke(ctx)
        except UnmaskError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("Error: interrupted before the end; run the same command again", err=True)
            ctx.exit(FailedError.exit_code)

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.help = _marked(self.help)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Register a command."""
        cmd.help = _marked(cmd.help)
        super().add_command(cmd, name)

    def _with_second_word(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take "audit linkage" for one command; a near miss that is no file is told apart from a release."""
        from difflib import get_close_matches
        from pathlib import Path

        name = " ".join(args[:2])
        if name in self.commands:
            return [name, *args[2:]]
        if args[0] == "audit" and len(args) > 1 and not Path(args[1]).exists():
            seconds = [command.removeprefix("audit ") for command in self.commands if command.startswith("audit ")]
            for near in get_close_matches(args[1], seconds, n=1, cutoff=0.75):
                raise click.UsageError(f"{args[1]!r} is no file; did you mean 'audit {near}'?", ctx)
        return args

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command; suggest the nearest name for a typo."""
        from difflib import get_close_matches

        args = self._with_second_word(ctx, args)
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(self.list_commands(ctx))}"
            raise click.UsageError(f"{args[0]!r} is not a command; {hint}", ctx) from None


def _marked(text: str | None) -> str:
    """Help with click's mark of a paragraph that is not to be rewrapped; in a raw docstring it is two characters."""
    return (text or "").replace("\\b\n", "\b\n")


def split(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Names separated by commas."""
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())


def pairs(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """COLUMN=VALUE, given any number of times."""
    wrong = [item for item in value if "=" not in item]
    if wrong:
        raise click.BadParameter("expected COLUMN=VALUE", ctx, parameter)
    return dict(item.split("=", 1) for item in value)


def kinds(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """COLUMN=KIND, with a kind that exists."""
    from difflib import get_close_matches

    given = pairs(ctx, parameter, value)
    for column, kind in given.items():
        if kind not in KINDS:
            near = get_close_matches(kind, KINDS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise click.BadParameter(
                f"{kind!r} of column {column!r} is no kind, expected {', '.join(KINDS)}{hint}", ctx, parameter
            )
    return given


def orders(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """COLUMN=VALUE,VALUE,...: the values of ordinal columns from lowest to highest."""
    return {column: split(ctx, parameter, text) for column, text in pairs(ctx, parameter, value).items()}


def delimiter(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """One character; the two characters of an escaped tab are what a shell hands over for it."""
    character = "\t" if value == "\\t" else value
    if character is not None and (len(character) != 1 or character in '"\r\n'):
        raise click.BadParameter(
            f"expected one character, given {value!r}; leave it out to have it guessed", ctx, parameter
        )
    return character


def share(ctx: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """A number; click's range lets nan through."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("expected a number, given nan", ctx, parameter)
    return value


def table_options(command: Any) -> Any:
    """What every command that reads a table takes."""
    return _reading_options(command, required=True)


def optional_table_options(command: Any) -> Any:
    """The same for a command that can do without a table."""
    return _reading_options(command, required=False)


def _refuse_seed(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise click.BadParameter(
            "whoever knows or guesses the seed of a release undoes its protection, so a release has none; leave it out "
            "(studies have one)",
            ctx,
            parameter,
        )


without_seed = click.option("--seed", hidden=True, expose_value=False, callback=_refuse_seed)
"""For a command that writes a release."""

attacker_option = click.option(
    "--attacker", help="The rational attacker: a TOML file with [attacker], or case-study, the embedded assumption."
)


def _reading_options(command: Any, *, required: bool) -> Any:
    for option in (
        click.option("--delimiter", callback=delimiter, help="Of a text file; guessed when left out."),
        click.option("--na", callback=split, help="Texts that stand for a missing cell, separated by commas."),
        click.option(
            "--missing",
            type=click.Choice(["own", "wildcard", "excluded"]),
            default="own",
            show_default=True,
            help="What a missing quasi-identifier means: a value of its own, any value, or a row left out.",
        ),
        click.option(
            "--kind",
            "kinds",
            multiple=True,
            callback=kinds,
            help="COLUMN=numeric|ordinal|categorical; guessed when left out.",
        ),
        click.option(
            "--order",
            "orders",
            multiple=True,
            callback=orders,
            help="COLUMN=LOWEST,...,HIGHEST: the values of an ordinal column in their order.",
        ),
        click.option(
            "--hierarchy", "hierarchies", multiple=True, callback=pairs, help="COLUMN=FILE, generalization hierarchy."
        ),
        click.option("--identifiers", callback=split, help="Columns that identify a person; dropped."),
        click.option(
            "--weight", help="Column with the number of people that a row stands for, such as a survey weight."
        ),
        click.option(
            "--keep",
            callback=split,
            help="Columns released unchanged, on purpose. Columns without a role are dropped.",
        ),
        click.option(
            "--sensitive", "-s", callback=split, help="Columns an adversary wants to learn, separated by commas."
        ),
        click.option(
            "--quasi-identifiers",
            "-q",
            required=required,
            callback=split,
            help="Columns an adversary may know, separated by commas.",
        ),
    ):
        command = option(command)
    return command
