"""Commands that take what they are told from `unmask.toml`, and `--as-plan`, which prints one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from unmask.cli.generated import Command

NAME = "unmask.toml"


class FromDocument(Command):
    """A command whose argument may be a document in place of its files; options on the command line win over it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the document, if there is one, before the options."""
        argument = next(param for param in self.params if isinstance(param, click.Argument))
        given = self.make_parser(ctx).parse_args(list(args))[0].get(str(argument.name))
        texts = [given] if isinstance(given, str) else list(given) if isinstance(given, tuple | list) else []
        if len(texts) != 1 or not texts[0].endswith(".toml"):
            return super().parse_args(ctx, args)
        from unmask import document

        said = {"audit": document.for_audit, "protect": document.for_protect}.get(str(self.name), document.for_columns)
        path = Path(texts[0])
        files, ctx.default_map = said(document.load(path), path.parent)
        ctx.meta[NAME] = str(path)
        rest = super().parse_args(ctx, args)
        ctx.params[str(argument.name)] = argument.process_value(ctx, files if argument.nargs < 0 else files[0])
        return rest


class AsPlan(FromDocument):
    """The same, with `--as-plan`: what the command was asked for, as a document."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.given.append(
            click.Option(["--as-plan"], is_flag=True, help="Print this command as a document, unmask.toml, and stop.")
        )

    def invoke(self, ctx: click.Context) -> Any:
        """Print the document, or run the command."""
        if not ctx.params.pop("as_plan"):
            return super().invoke(ctx)
        from unmask.document import HELD, of_options

        click.echo(of_options(ctx.params), nl=False)
        typed = [one for one in self.params if ctx.get_parameter_source(str(one.name)) is ParameterSource.COMMANDLINE]
        left = [one.opts[0] for one in typed if one.name not in HELD | {"as_plan"}]
        if left:
            click.echo(f"no document says {', '.join(left)}: give that again", err=True)
        return None
