"""Commands that take what they are told from `unmask.toml`, and `--as-plan`, which prints one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from unmask.cli.generated import Command, Names, join_names, split_names
from unmask.cli.terminal import print_line, print_text
from unmask.core.errors import UnmaskError
from unmask.toml_text import DOCUMENT

RUN_OPTIONS = {
    "report", "sarif", "export", "at_risk", "in_short", "as_json", "force", "smallest_shown", "as_plan", "quiet",
    "changes", "steps",
}  # fmt: skip
"""Options of every audit, which are about one run of it."""


CODE = "allow_code"


def _allow(ctx: click.Context, _parameter: click.Parameter, allowed: bool) -> None:
    ctx.meta[CODE] = allowed


allow_code_option = click.option(
    "--allow-code", is_flag=True, expose_value=False, callback=_allow,
    help='Let the document run code: classes that it names as "module:Class". Read them first.',
)  # fmt: skip


def code_folder(option: str | None = None) -> Path | None:
    """Return the folder whose modules may run: this one for an option that was typed; for a document its own if
    --allow-code was given, else None.
    """
    ctx = click.get_current_context()
    if option is not None and ctx.get_parameter_source(option) is ParameterSource.COMMANDLINE:
        return Path()
    return Path(ctx.meta[DOCUMENT]).parent if ctx.meta.get(CODE) and DOCUMENT in ctx.meta else None


class ReadsDocument(Command):
    """A command whose argument may be a document in place of its files; options on the command line win over it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the document, if there is one, before the options."""
        argument = next(param for param in self.params if isinstance(param, click.Argument))
        given = self.make_parser(ctx).parse_args(list(args))[0].get(str(argument.name))
        texts = [given] if isinstance(given, str) else list(given) if isinstance(given, tuple | list) else []
        if len(texts) != 1 or not texts[0].endswith(".toml"):
            return super().parse_args(ctx, args)
        from unmask import document
        from unmask.studies.reading import checked_document

        path = Path(texts[0])
        given = checked_document(path)
        with document.in_document(path):
            files, said = self.said(given, path.parent)
        said |= {name: list(split_names(said[name])) for name in self.names & said.keys()}
        several = {str(one.name) for one in self.params if one.multiple or one.type is click.UNPROCESSED}
        typed = {str(one.name): _typed(said[one.name], one) for one in self.params if one.name in said.keys() - several}
        ctx.default_map = said | typed | ({"policies": [str(path)]} if "policy" in given else {})
        ctx.meta[DOCUMENT] = str(path)
        try:
            rest = super().parse_args(ctx, args)
        except click.MissingParameter as missing:
            if missing.param is None or missing.param.name != "quasi_identifiers":
                raise
            none = f"no column of {path.name} is a quasi-identifier; in [columns], name one that somebody may know"
            raise click.UsageError(f'{none}: COLUMN = "quasi-identifier"', ctx) from None
        if files:
            ctx.params[str(argument.name)] = argument.process_value(ctx, files if argument.nargs < 0 else files[0])
        return rest

    @property
    def names(self) -> set[str]:
        """The options that take names."""
        return {str(one.name) for one in self.params if isinstance(one.type, Names)}

    def said(self, given: dict[str, Any], folder: Path) -> tuple[list[str], dict[str, Any]]:
        """The files, and what options a document says."""
        from unmask import document

        of_command = {"audit": document.for_audit, "protect": document.for_protect}
        return of_command.get(str(self.name), document.for_columns)(given, folder)


class WritesDocument(ReadsDocument):
    """The same, with `--as-plan`: what the command was asked for, as a document."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        text = "Print this command as a document, unmask.toml, and stop."
        self.lazy_params.append(click.Option(["--as-plan"], is_flag=True, help=text))

    def invoke(self, ctx: click.Context) -> Any:
        """Print the document, or run the command."""
        if not ctx.params.pop("as_plan"):
            return super().invoke(ctx)
        print_text(self.document(ctx))
        typed = [one for one in self.params if ctx.get_parameter_source(str(one.name)) is ParameterSource.COMMANDLINE]
        left = [one.opts[0] for one in typed if one.name != "as_plan" and not self.holds(str(one.name))]
        if left:
            print_line(f"no document says {', '.join(left)}: give that again", err=True)
        return None

    def document(self, ctx: click.Context) -> str:
        """What the command was asked for."""
        from unmask.document import of_options

        return of_options(ctx.params)

    def holds(self, name: str) -> bool:
        """Whether a document says such an option."""
        from unmask.document import stored_options

        return name in stored_options(str(self.name))


class DomainCommand(WritesDocument):
    """An audit that a document asks for in a table of its own, `[graph]` for `unmask audit graph`: its argument and
    its options by their names, with the values that are typed, and files beside the document.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what was typed: it is what a document says."""
        ctx.obj = self.make_parser(ctx).parse_args(list(args))[0]
        ctx.obj |= {name: list(join_names(map(split_names, ctx.obj[name]))) for name in self.names & ctx.obj.keys()}
        return super().parse_args(ctx, args)

    @property
    def word(self) -> str:
        """The name of the table."""
        return str(self.name).rpartition(" ")[2]

    @property
    def argument(self) -> str:
        """The name of its argument."""
        return next(str(one.name) for one in self.params if isinstance(one, click.Argument))

    def said(self, given: dict[str, Any], folder: Path) -> tuple[list[str], dict[str, Any]]:
        """The argument and the options of the table."""
        from unmask.document import for_domain

        mine = {str(one.name): one for one in self.params if one.expose_value and self.holds(str(one.name))}
        del mine["policies"]  # which a document says as [[policy]]
        files = {name: getattr(one.type, "names", ()) for name, one in mine.items() if one.type.name == "path"}
        found = for_domain(given, folder, self.word, list(mine), files)
        said = {name: _typed(value, mine[name]) for name, value in found.items()}
        released = said.pop(self.argument, [])
        if not released and any(one.required for one in self.params if one.name == self.argument):
            raise UnmaskError(f"[{self.word}] has no {self.argument}; expected a path beside the document")
        return [released] if isinstance(released, str) else released, said

    def document(self, ctx: click.Context) -> str:
        """What was typed, and what a document said beside it."""
        from unmask.document import list_requirements
        from unmask.toml_text import format_document

        typed = {name: one for name, one in ctx.obj.items() if isinstance(one, str | bool | list)}
        said = {**(ctx.default_map or {}), **typed, self.argument: _texts(ctx.params.get(self.argument))}
        numbers = {name: ctx.params[name] for name in said if isinstance(ctx.params.get(name), int | float)}
        said = {name: one for name, one in (said | numbers).items() if one is not None and self.holds(name)}
        kept = {name: one for name, one in said.items() if name != "policies"}
        policies = list_requirements(ctx.params.get("policies", ()))
        return format_document({"title": f"unmask {self.name}", self.word: kept, **policies})

    def holds(self, name: str) -> bool:
        """Whether it is about more than one run."""
        return name not in RUN_OPTIONS


def _typed(value: Any, option: click.Parameter) -> Any:
    """A value of a document as it would be typed."""
    several = option.multiple or option.nargs < 0 or option.type is click.UNPROCESSED
    if isinstance(value, dict) or (isinstance(value, list) and not several):
        kind, more = "table" if isinstance(value, dict) else "list", " or a list of them" if several else ""
        raise UnmaskError(f"{option.name} is a {kind}, expected one value{more}")
    if isinstance(value, list):
        return list(map(str, value))
    text = value if isinstance(value, bool) else str(value)
    return [text] if option.multiple and not isinstance(option.type, Names) else text


def _texts(files: Any) -> list[str] | str | None:
    return list(map(str, files)) if isinstance(files, tuple) else None if files is None else str(files)
