"""Options that several commands share, and how a wrong one is told."""

from __future__ import annotations

import csv
import errno
import gc
import io
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from unmask.cli.documents import code_folder
from unmask.cli.generated import (
    NAMES,
    Command,
    Names,
    grouped,
    join_names,
    options,
    parse_pairs,
    parse_with,
    split_names,
)
from unmask.cli.terminal import QUIET, Notes, print_line
from unmask.core.errors import FailedError, UnmaskError, visible
from unmask.domains import DOMAINS

if TYPE_CHECKING:
    from unmask.protection_specs import Spec

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
"""What a device or a disk says that takes no more."""


class UnmaskGroup(click.Group):
    """Turns a user's mistake into one sentence and an exit code; a mistake of ours keeps its traceback.

    A SIGTERM is a Ctrl-C: temporary files are removed, and a study writes what is finished.
    """

    def main(self, *arguments: Any, **settings: Any) -> Any:
        """Run the command line; output that cannot be taken, also that of --help, is a sentence."""
        gc.set_threshold(200_000)  # what is imported is no garbage, and is looked through again and again
        logger = logging.getLogger("unmask")
        if not any(isinstance(handler, Notes) for handler in logger.handlers):
            logger.addHandler(Notes(logging.WARNING))
        sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())  # it may be closed: nobody answers
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # names of files may be no text, and what is piped in, too
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().main(*arguments, **settings)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            _give_up_output()
            print_line(f"Error: the output cannot be written: {error.strerror}; make room, or name a file", err=True)
            sys.exit(FailedError.exit_code)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an `UnmaskError` and a Ctrl-C become a sentence and an exit code."""
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # as a Ctrl-C, which cleans up
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            vars(error)["message"] = visible(error.message)
            raise
        except UnmaskError as error:
            print_line(f"Error: {error}", err=True)
            ctx.exit(error.exit_code)
        except OSError as error:
            if error.filename is None:  # of the output, or ours
                raise
            print_line(f"Error: {_named(error)} cannot be used: {error.strerror}; check the path", err=True)
            ctx.exit(FailedError.exit_code)
        except MemoryError:
            print_line("Error: there is too little memory; give fewer or coarser columns, or --engine duckdb", err=True)
            ctx.exit(FailedError.exit_code)
        except csv.Error as error:  # such as a field of more than 131,072 characters
            print_line(
                f"Error: an input cannot be split into fields: {error}; check the file and its delimiter", err=True
            )
            ctx.exit(UnmaskError.exit_code)
        except RecursionError:
            print_line("Error: an input is nested too deeply; expected a file of a few levels", err=True)
            ctx.exit(UnmaskError.exit_code)
        except KeyboardInterrupt:
            print_line("Error: interrupted before the end; run the same command again", err=True)
            ctx.exit(FailedError.exit_code)

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.help = _marked(self.help)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Register a command, and give it --quiet."""
        super().add_command(_whole(cmd), name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, and of an audit for each domain."""
        return sorted({*super().list_commands(ctx), *self._audits()})

    def _audits(self) -> dict[str, str]:
        """Return the domain of each audit that has a word."""
        return {f"audit {entry.word or name}": name for name, entry in DOMAINS.items() if entry.word != ""}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; the audit of a domain is generated once it is needed."""
        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in self._audits():
            from unmask.cli.domain import make_audit_command

            command = _whole(make_audit_command(self._audits()[cmd_name]))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List every command with its first sentence."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.summarize(ctx, name)) for name in self.list_commands(ctx)])

    def summarize(self, ctx: click.Context, name: str) -> str:
        """Return the first sentence of a command; no domain is imported if it has a summary."""
        command, domain = super().get_command(ctx, name), self._audits().get(name)
        if command is None and domain is not None and DOMAINS[domain].summary:
            return DOMAINS[domain].summary
        command = self.get_command(ctx, name)
        return command.get_short_help_str(limit=1000) if command is not None else ""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the first word of a command; `second_words` completes the second."""
        return [one for one in super().shell_complete(ctx, incomplete) if " " not in str(one.value)]

    def _with_second_word(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take "audit linkage" for one command; a near miss that is no file is told apart from a release."""
        name = " ".join(args[:2])
        commands = self.list_commands(ctx)
        if name in commands:
            return [name, *args[2:]]
        if args[0] == "audit" and len(args) > 1 and not Path(args[1]).exists():
            seconds = [command.removeprefix("audit ") for command in commands if command.startswith("audit ")]
            for near in get_close_matches(args[1], seconds, n=1, cutoff=0.75):
                raise click.UsageError(f"{args[1]!r} is no file; did you mean 'audit {near}'?", ctx)
        return args

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command; suggest the nearest name for a typo."""
        args = self._with_second_word(ctx, args)
        name = args[0]  # click takes the arguments away
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            near = get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(self.list_commands(ctx))}"
            raise click.UsageError(f"{name!r} is not a command; {hint}", ctx) from None


def second_words(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """What may follow the name of a command to name another one: `graph` after `audit`."""
    root, prefix = ctx.find_root(), f"{ctx.command.name} "
    assert isinstance(root.command, UnmaskGroup)
    commands = [name for name in root.command.list_commands(root) if name.startswith(f"{prefix}{incomplete}")]
    return [CompletionItem(name.removeprefix(prefix), help=root.command.summarize(root, name)) for name in commands]


def first_argument(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """A file, or a second word of the command."""
    return [*second_words(ctx, incomplete), CompletionItem(incomplete, type="file")]


class TwoWordCommand(Command):
    """A command without an argument, in whose place a second word may stand."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete an option or a second word."""
        return [*second_words(ctx, incomplete), *super().shell_complete(ctx, incomplete)]


def _hush(ctx: click.Context, _parameter: click.Parameter, quiet: bool) -> None:
    ctx.meta[QUIET] = quiet


def _quiet_option() -> click.Option:
    text = "Leave out notes, progress and what was written; errors and warnings stay."
    return click.Option(["--quiet"], is_flag=True, expose_value=False, callback=_hush, help=text)


def _named(error: OSError) -> str:
    """The file that the system has something against, without its folder, and not all of a name that is too long."""
    name = os.path.basename(os.fsdecode(error.filename))  # noqa: PTH119  # it may be no path at all
    return f"file {name if len(name) < 100 else name[:100] + '...'!r}"


def _give_up_output() -> None:
    """Leave nothing in a buffer that the end of the process would try to write once more."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(nowhere, sys.stdout.fileno())


def _whole(command: click.Command) -> click.Command:
    """The command with --quiet, its examples as they stand."""
    command.help = _marked(command.help)
    (command.lazy_params if isinstance(command, Command) else command.params).append(_quiet_option())
    return command


def _marked(text: str | None) -> str:
    """Help with click's mark of a paragraph that is not to be rewrapped; in a raw docstring it is two characters."""
    return (text or "").replace("\\b\n", "\b\n")


def parts(text: str | list[list[str]] | None) -> tuple[tuple[str, ...], ...] | None:
    """Two lists of names parted by a colon, or listed in a document."""
    if text is None:
        return None
    found = tuple(split_names(one) for one in (text.split(":") if isinstance(text, str) else text))
    if len(found) != 2 or not all(found):
        raise UnmaskError(f"expected two parts of columns, such as age,sex:zip,job, given {len(found)}")
    return found


def levels(texts: tuple[str, ...]) -> dict[str, float | str]:
    """COLUMN=LEVEL: a whole number, a number, or a word, as `tables.Generalize` takes them."""
    return {column: _level(text) for column, text in parse_pairs(texts).items()}


def _level(text: str) -> float | str:
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


level_option = click.option(
    "--level", "levels", multiple=True, callback=parse_with(levels), metavar="COLUMN=LEVEL",
    help="Finest level of a column in a release: bins, a period, a level, hidden characters, or *. Repeatable.",
)  # fmt: skip


def _specs(said: str | list[Spec] | None) -> tuple[Spec, ...]:
    """A protection as it is typed, or as a document names it."""
    from unmask.protection_specs import parse_specs

    return parse_specs([said] if isinstance(said, str) else said or ())


with_option = click.option(
    "--with", "protection", type=click.UNPROCESSED, callback=parse_with(_specs), metavar="NAME:KEY=VALUE",
    help="Protection of tables by its name in unmask list, parameters behind colons; Mondrian when left out.",
)  # fmt: skip


def choose_protection(named: Sequence[Spec], relaxed: bool, **asked: Any) -> Any:
    """What `unmask protect` protects with: the protection that is named, or Mondrian with what is asked."""
    from unmask.tables import Mondrian

    if not named:
        return Mondrian(asked["k"], asked["l_"], asked["t"], strict=not relaxed, levels=asked["levels"])
    source = click.get_current_context().get_parameter_source
    if any(source(name) is ParameterSource.COMMANDLINE for name in ("relaxed", *asked)):
        raise UnmaskError("--k, --l, --t, --level and --relaxed are Mondrian's; write what --with takes behind colons")
    return make_protection(named[0])


def make_protection(named: Spec) -> Any:
    """A protection of tables that is named."""
    from unmask.plan import Part
    from unmask.studies.cells import check_part, made

    part = Part(named.use, named.use, named.parameters, {}, code=code_folder("protection"))
    part = check_part(part, "protections", Path())
    if part.domain != "tables":
        raise UnmaskError(f"{named.use} protects {part.domain}, expected a protection of tables, such as tables.PRAM")
    return made(part, "protections")


def _codes(ctx: click.Context, parameter: click.Parameter, found: tuple[tuple[str, ...], ...]) -> Any:
    """Texts separated by commas; none where the text is empty, None where the option is left out."""
    return None if ctx.get_parameter_source(str(parameter.name)) is ParameterSource.DEFAULT else join_names(found)


def types(texts: tuple[str, ...]) -> dict[str, str]:
    """COLUMN=TYPE, with a type that exists."""
    from unmask.tables.types import parse_type

    given = parse_pairs(texts)
    for column, of_type in given.items():
        parse_type(column, of_type)
    return given


def orders(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """COLUMN=VALUE,VALUE,...: the values of ordinal columns from lowest to highest."""
    return {column: split_names(text) for column, text in parse_pairs(texts).items()}


def delimiter(text: str | None) -> str | None:
    """One character; the two characters of an escaped tab are what a shell hands over for it."""
    character = "\t" if text == "\\t" else text
    if character is not None and (len(character) != 1 or character in '"\r\n'):
        raise UnmaskError(f"expected one character, given {text!r}; leave it out to have it guessed")
    return character


def encoding(text: str | None) -> str | None:
    """The name of an encoding of text."""
    from unmask.data.encodings import check_encoding

    return None if text is None else check_encoding(text)


HEADER = "Line 1 of a text file names the columns, or is a row; found when left out, and asked about if in doubt."

encoding_option = grouped("Input", options("unmask.data.engine:open_engine", encoding={"parse": encoding}))


def table_options(command: Any) -> Any:
    """What every command that reads a table takes."""
    return _reading_options(command, required=True)


def optional_table_options(command: Any) -> Any:
    """The same for a command that can do without a table."""
    return _reading_options(command, required=False)


def _refuse_seed(text: str | None) -> None:
    if text is not None:
        raise UnmaskError(
            "whoever knows or guesses the seed of a release undoes its protection, so a release has none; leave it out "
            "(studies have one)"
        )


without_seed = click.option("--seed", hidden=True, expose_value=False, callback=parse_with(_refuse_seed))
"""For a command that writes a release."""

attacker_option = grouped("Knowledge", options("unmask.tables.audit:audit", "attacker"))


def _reading_options(command: Any, *, required: bool) -> Any:
    reading = options(
        "unmask.tables:Table.read",
        quasi_identifiers={"flags": ("--quasi-identifiers", "-q"), "required": required, **NAMES},
        sensitive={"flags": ("--sensitive", "-s"), **NAMES},
        keep=NAMES,
        weight={},
        identifiers=NAMES,
        person={"metavar": "COLUMN"},
        cells={},
        hierarchies={"flags": ("--hierarchy",), "parse": parse_pairs, **_BY_COLUMN},
        orders={"flags": ("--order",), "parse": orders, **_BY_COLUMN},
        types={"flags": ("--type",), "parse": types, **_BY_COLUMN},
        missing={},
        decimal={},
        na={"type": Names(), "multiple": True, "callback": _codes},
        delimiter={"parse": delimiter},
        header={"flags": ("--header/--no-header",), "default": None, "help": HEADER},
        encoding={"parse": encoding},
    )
    return grouped("Input", reading)(command)


_BY_COLUMN: dict[str, Any] = {"multiple": True, "type": str, "metavar": "COLUMN=..."}
