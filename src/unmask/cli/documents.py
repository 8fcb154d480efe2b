"""Commands that read their options from `unmask.toml`, and `--as-plan`, which prints one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from unmask.cli.generated import Command
from unmask.cli.option_types import Names, split_names
from unmask.cli.terminal import print_line, print_text
from unmask.core.errors import UnmaskError
from unmask.domains import DOMAINS, audited_by
from unmask.toml_text import DOCUMENT

RUN_OPTIONS = {
    "report", "sarif", "export", "at_risk", "subjects", "in_short", "as_json", "force", "smallest_shown", "as_plan",
    "quiet", "changes", "steps", "language",
}  # fmt: skip
"""Options of one run, which a document does not store."""


CODE = "allow_code"


def _allow(ctx: click.Context, _parameter: click.Parameter, allowed: bool) -> None:
    ctx.meta[CODE] = allowed


allow_code_option = click.option(
    "--allow-code", is_flag=True, expose_value=False, callback=_allow,
    help='Let the document run code: classes that it names as "module:Class". Read them first.',
)  # fmt: skip


def code_folder(option: str | None = None) -> Path | None:
    """Return the folder whose modules may run; None if none may.

    It is this folder for a typed option, and the document's folder if --allow-code was given.
    """
    ctx = click.get_current_context()
    if option is not None and ctx.get_parameter_source(option) is ParameterSource.COMMANDLINE:
        return Path()
    return Path(ctx.meta[DOCUMENT]).parent if ctx.meta.get(CODE) and DOCUMENT in ctx.meta else None


class ReadsDocument(Command):
    """A command whose argument may be a document in place of its files; typed options replace those of the document."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the document, if there is one, before the options."""
        argument = self.argument
        value = self.read_typed(ctx, args).get(str(argument.name))
        texts = [value] if isinstance(value, str) else list(value) if isinstance(value, tuple | list) else []
        if len(texts) != 1 or not self.is_document(texts[0]):
            return super().parse_args(ctx, args)
        path = Path(texts[0])
        files, options = self._read_document(path)
        ctx.default_map, ctx.meta[DOCUMENT] = options, str(path)
        try:
            remaining = super().parse_args(ctx, args)
        except click.MissingParameter as missing:
            if missing.param is None or missing.param.name != "quasi_identifiers":
                raise
            problem = f"no column of {path.name} is a quasi-identifier; set one that an adversary may know in [columns]"
            raise click.UsageError(f'{problem}: COLUMN = "quasi-identifier"', ctx) from None
        if files:
            ctx.params[str(argument.name)] = argument.process_value(ctx, files if argument.nargs < 0 else files[0])
        return remaining

    def is_document(self, text: str) -> bool:
        """Return whether an argument is the path of a document."""
        return text.endswith(".toml")

    @property
    def argument(self) -> click.Parameter:
        """The argument for files."""
        return next(param for param in self.params if isinstance(param, click.Argument))

    def _read_document(self, path: Path) -> tuple[list[str], dict[str, Any]]:
        """Return the files and the options of a document, with single values as they would be typed."""
        from unmask.document import in_document
        from unmask.studies.reading import checked_document

        document = checked_document(path)
        with in_document(path):
            files, options = self.derive_options(document, path.parent)
        options |= {name: list(split_names(options[name])) for name in self.name_options & options.keys()}
        single = {str(param.name): param for param in self.params if not _takes_several(param)}
        options |= {name: _type_value(options[name], single[name]) for name in single.keys() & options.keys()}
        return files, options | ({"policies": [str(path)]} if "policy" in document else {})

    def derive_options(self, document: dict[str, Any], folder: Path) -> tuple[list[str], dict[str, Any]]:
        """Return the files and the options that a document has for this command."""
        from unmask import document as documents

        derive = {"audit": documents.derive_audit_options, "protect": documents.derive_protect_options}
        return derive.get(str(self.name), documents.derive_table_options)(document, folder)


class WritesDocument(ReadsDocument):
    """A command that also prints its options as a document (`--as-plan`)."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        text = "Print this command as a document, unmask.toml, and stop."
        self.lazy_params.append(click.Option(["--as-plan"], is_flag=True, help=text))

    def invoke(self, ctx: click.Context) -> Any:
        """Print the document, or run the command."""
        if not ctx.params.pop("as_plan"):
            return super().invoke(ctx)
        print_text(self.format_document(ctx))
        typed = [
            item for item in self.params if ctx.get_parameter_source(str(item.name)) is ParameterSource.COMMANDLINE
        ]
        options = [item.opts[0] for item in typed if item.name != "as_plan" and not self.stores(str(item.name))]
        if options:
            verb, pronoun = ("is", "it") if len(options) == 1 else ("are", "them")
            print_line(f"{', '.join(options)} {verb} not stored in the document: pass {pronoun} again", err=True)
        return None

    def format_document(self, ctx: click.Context) -> str:
        """Return the document of the options."""
        from unmask.document import format_options

        return format_options(ctx.params)

    def stores(self, name: str) -> bool:
        """Return whether a document stores an option."""
        from unmask.document import stored_options

        return name in stored_options()


class DomainCommand(WritesDocument):
    """An audit whose options are a section of a document, `[graph]` for `unmask audit graph`.

    Keys are the names of its argument and options, values are typed, and files are next to the document.
    """

    @property
    def word(self) -> str:
        """The name of the section."""
        return str(self.name).rpartition(" ")[2]

    def is_document(self, text: str) -> bool:
        """Return whether an argument is the path of a document; a domain may have releases in TOML files."""
        return super().is_document(text) and Path(text).name != DOMAINS[audited_by(self.word)].release_file

    def derive_options(self, document: dict[str, Any], folder: Path) -> tuple[list[str], dict[str, Any]]:
        """Return the argument and the options of the section."""
        from unmask.document import derive_domain_options

        stored = {
            str(param.name): param for param in self.params if param.expose_value and self.stores(str(param.name))
        }
        del stored["policies"]  # they have sections of their own
        files = {name: getattr(param.type, "names", ()) for name, param in stored.items() if param.type.name == "path"}
        section = derive_domain_options(document, folder, self.word, list(stored), files)
        options = {name: _type_value(value, stored[name]) for name, value in section.items()}
        released = options.pop(str(self.argument.name), [])
        if not released and self.argument.required:
            raise UnmaskError(f"[{self.word}] has no {self.argument.name}; expected a path relative to the document")
        return [released] if isinstance(released, str) else released, options

    def format_document(self, ctx: click.Context) -> str:
        """Return the document of the typed options, and of those of a document that was read."""
        from unmask.document import list_requirements
        from unmask.toml_text import format_document

        argument = str(self.argument.name)
        typed = {name: value for name, value in ctx.obj.items() if isinstance(value, str | bool | list)}
        options = {**(ctx.default_map or {}), **typed, argument: _format_files(ctx.params.get(argument))}
        options |= {name: ctx.params[name] for name in options if isinstance(ctx.params.get(name), int | float)}
        stored = {name: value for name, value in options.items() if value is not None and self.stores(name)}
        stored.pop("policies", None)
        policies = list_requirements(ctx.params.get("policies", ()))
        return format_document({"title": f"unmask {self.name}", self.word: stored, **policies})

    def stores(self, name: str) -> bool:
        """Return whether a document stores an option."""
        return name not in RUN_OPTIONS


def _takes_several(option: click.Parameter) -> bool:
    return option.multiple or option.nargs < 0 or option.type is click.UNPROCESSED


def _type_value(value: Any, option: click.Parameter) -> Any:
    """Return a value of a document as it would be typed."""
    several = _takes_several(option)
    if isinstance(value, dict) and option.multiple and option.type is not click.UNPROCESSED:
        return [f"{key}={item}" for key, item in value.items()]
    if isinstance(value, dict) or (isinstance(value, list) and not several):
        kind, hint = "table" if isinstance(value, dict) else "list", " or a list of them" if several else ""
        raise UnmaskError(f"{option.name} is a {kind}, expected one value{hint}")
    if isinstance(value, list):
        return list(map(str, value))
    text = value if isinstance(value, bool) else str(value)
    return [text] if option.multiple and not isinstance(option.type, Names) else text


def _format_files(files: Any) -> list[str] | str | None:
    return list(map(str, files)) if isinstance(files, tuple) else None if files is None else str(files)
