"""The group of all commands: names of two words, completion, and errors as sentences with an exit code."""

from __future__ import annotations

import csv
import errno
import gc
import io
import logging
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from unmask.cli.options_table import read_summaries
from unmask.cli.terminal import QUIET, Notes, print_line
from unmask.core.errors import FailedError, UnmaskError, visible
from unmask.core.lazy import import_source
from unmask.domains import DOMAINS

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
"""Errors of a device or a disk that is full or gone."""

COMMANDS = {
    "advise": "unmask.cli.advise:advise",
    "advise identity": "unmask.cli.networks:advise_identity",
    "certify": "unmask.cli.certify:certify",
    "check": "unmask.cli.check:check",
    "choose": "unmask.cli.choose:choose",
    "choose columns": "unmask.cli.choose:choose_columns",
    "columns": "unmask.cli.columns:columns",
    "demo": "unmask.cli.demo:demo",
    "design": "unmask.cli.design:design",
    "deter": "unmask.cli.deter:deter",
    "game": "unmask.cli.game:game",
    "init": "unmask.cli.init:init",
    "list": "unmask.cli.demo:list_",
    "look": "unmask.cli.look:look",
    "new": "unmask.cli.new:new",
    "open": "unmask.cli.open:open_",
    "price": "unmask.cli.price:price",
    "protect": "unmask.cli.protect:protect",
    "protect aggregates": "unmask.cli.aggregates:protect_aggregates",
    "protect graph": "unmask.cli.networks:protect_graph",
    "report": "unmask.cli.report:report",
    "study": "unmask.cli.study:study",
}
"""Name -> the command, imported when it is needed. The audit of a domain is generated, see `cli.domain`."""


class UnmaskGroup(click.Group):
    """All commands. A user's mistake becomes a sentence and an exit code; a fault of ours keeps its traceback.

    A SIGTERM acts as Ctrl-C: temporary files are removed, and a study writes what is finished.
    """

    def main(self, *arguments: Any, **settings: Any) -> Any:
        """Run the command line; output that cannot be written, also that of --help, becomes a sentence."""
        gc.set_threshold(600_000)  # more than imports and compiled loops keep, which every collection would visit
        logger = logging.getLogger("unmask")
        if not any(isinstance(handler, Notes) for handler in logger.handlers):
            logger.addHandler(Notes(logging.WARNING))
            if sys.stderr is not None and sys.stderr.isatty():  # as progress
                logging.getLogger("unmask.compiled").setLevel(logging.INFO)
                logging.getLogger("unmask.compiled").addHandler(Notes(logging.INFO))
        sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())  # it may be closed
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # names of files and piped input may not be text
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().main(*arguments, **settings)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            _discard_output()
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
            print_line(f"Error: {_describe_file(error)} cannot be used: {error.strerror}; check the path", err=True)
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
        self.help = _mark_paragraphs(self.help)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Register a command, and give it --quiet."""
        super().add_command(_complete(cmd), name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, and of an audit for each domain."""
        return sorted({*COMMANDS, *super().list_commands(ctx), *self._audits()})

    def _audits(self) -> dict[str, str]:
        """Return the domain of each audit."""
        words = {name: name if entry.word is None else entry.word for name, entry in DOMAINS.items()}
        return {f"audit {word}".strip(): name for name, word in words.items()}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported or generated when it is needed."""
        if cmd_name in self._audits():
            from unmask.cli.domain import make_audit_command

            return _complete(make_audit_command(self._audits()[cmd_name]))
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.add_command(import_source(COMMANDS[cmd_name]))
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List every command with its first sentence."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.summarize(ctx, name)) for name in self.list_commands(ctx)])

    def summarize(self, ctx: click.Context, name: str) -> str:
        """Return the first sentence of a command; none of ours is imported."""
        if name in (summaries := read_summaries()):
            return summaries[name]
        command = self.get_command(ctx, name)
        return command.get_short_help_str(limit=1000) if command is not None else ""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the first word of a command; `completion` completes the second."""
        return [item for item in super().shell_complete(ctx, incomplete) if " " not in str(item.value)]

    def _with_second_word(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Join "audit linkage" to one command; refuse a second word that is nearly a command and not a file."""
        name = " ".join(args[:2])
        commands = self.list_commands(ctx)
        if name in commands:
            return [name, *args[2:]]
        if args[0] == "audit" and len(args) > 1 and args[1].endswith(".toml"):
            return [_find_audit(Path(args[1])), *args[1:]]
        if args[0] == "audit" and len(args) > 1 and not Path(args[1]).exists():
            from difflib import get_close_matches

            seconds = [command.removeprefix("audit ") for command in commands if command.startswith("audit ")]
            for near in get_close_matches(args[1], seconds, n=1, cutoff=0.75):
                raise click.UsageError(f"{args[1]!r} is not a file; did you mean 'audit {near}'?", ctx)
        return args

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command; suggest the nearest name for a typo."""
        args = self._with_second_word(ctx, args)
        name = args[0]  # click takes the arguments away
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from difflib import get_close_matches

            near = get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(self.list_commands(ctx))}"
            raise click.UsageError(f"{name!r} is not a command; {hint}", ctx) from None


def _find_audit(path: Path) -> str:
    """Return the command of the audit that a document describes; a document of several audits is one of a table."""
    from unmask.document import list_audits, load

    words = list_audits(load(path))
    if len(words) > 1 and "" not in words:
        choices = " or ".join(f"unmask audit {word} {path.name}" for word in words)
        raise click.UsageError(f"{path.name} describes {len(words)} audits: run {choices}")
    return f"audit {words[0]}" if words and words[0] else "audit"


def _set_quiet(ctx: click.Context, _parameter: click.Parameter, quiet: bool) -> None:
    ctx.meta[QUIET] = quiet


def _quiet_option() -> click.Option:
    text = "Do not print notes, progress and written files. Errors and warnings are printed."
    return click.Option(["--quiet"], is_flag=True, expose_value=False, callback=_set_quiet, help=text)


def _describe_file(error: OSError) -> str:
    """Return the name of the file of an error, without its folder, and cut if it is long."""
    name = os.path.basename(os.fsdecode(error.filename))  # noqa: PTH119  # it may be no path at all
    return f"file {name if len(name) < 100 else name[:100] + '...'!r}"


def _discard_output() -> None:
    """Empty the buffers, which the process would try to write again at its end."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(nowhere, sys.stdout.fileno())


def _complete(command: click.Command) -> click.Command:
    """Add --quiet to a command, and mark its examples."""
    from unmask.cli.generated import Command  # here: help of all commands needs none of them

    command.help = _mark_paragraphs(command.help)
    (command.lazy_params if isinstance(command, Command) else command.params).append(_quiet_option())
    return command


def _mark_paragraphs(text: str | None) -> str:
    """Return a help text with click's mark of paragraphs that keep their lines; a raw docstring has two characters."""
    return (text or "").replace("\\b\n", "\b\n")
