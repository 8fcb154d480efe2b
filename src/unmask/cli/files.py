"""Files that a command reads and writes, and what it prints about them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.option_types import PIPED, Names
from unmask.cli.options_table import read_options
from unmask.cli.terminal import print_line
from unmask.core.errors import FailedError, UnmaskError
from unmask.data import writing
from unmask.domains import remove_ending
from unmask.toml_text import DOCUMENT

if TYPE_CHECKING:
    from unmask.render.terminal import Line
    from unmask.results import Result

UNDOES = "it reverses the release"
"""Reason why the origin of a release is secret."""

OWNER_FILES = frozenset({"control", "data", "file", "graph", "hierarchies", "origins", "original", "records", "truth"})
"""Parameters whose files only the owner has: a digest could confirm a guess of their content."""

OTHER_FILES = frozenset(
    {
        "attacker",
        "auxiliary",
        "channels",
        "coordinates",
        "distortion",
        "guesses",
        "joint",
        "loss",
        "plan",
        "prior",
        "register",
    }
    | {"release", "releases", "run", "seeds_file"}
)
"""Parameters whose files are released, made by the adversary, or about no person."""

RELEASES = ("releases", "release", "guesses", "channels")
"""Parameters of audits that name what is judged."""


# --- results ---


def print_verdict(result: Result) -> None:
    """Print the verdict with a line for each condition."""
    from unmask.render.terminal import verdict_lines

    _print_lines(verdict_lines(result))


def print_releases(result: Result) -> None:
    """Print three sentences about judged releases, and a line for each."""
    from unmask.render.terminal import release_lines

    _print_lines(release_lines(result))


def print_findings(result: Result) -> None:
    """Print the verdict and the findings, a sentence each."""
    from unmask.findings.sentences import sentences

    print_verdict(result)
    if result.verdicts:
        print_line()
    for sentence in sentences(result):
        print_line(sentence)


def print_overview(result: Result) -> None:
    """Print criteria and adversaries as a table, then the findings that it cannot hold.

    On a terminal heads are bold, and what is above a limit is red.
    """
    from unmask.render.terminal import lines, list_other_findings

    _print_lines(lines(result))
    print_line()
    for sentence in list_other_findings(result):
        print_line(sentence)


def _print_lines(lines: Iterable[Line]) -> None:
    styles: dict[str, dict[str, Any]] = {"head": {"bold": True}, "risk": {"fg": "red"}}
    color = False if os.environ.get("NO_COLOR") else None  # None: on a terminal
    for line in lines:
        print_line(line.text, color=color, **styles.get(line.kind, {}))


def print_json(*, rows: Mapping[str, Sequence[Any]] | None = None, **parts: Any) -> None:
    """Print the result of a command as the JSON object of all commands; parts : those of `results.envelope`"""
    from unmask.results import as_json

    print_line(as_json(command_name(), inputs=list_inputs(rows), **parts))


def suggest_command(*words: object) -> None:
    """Print the next useful command; nothing without words, or if the standard input was read."""
    if words and not click.get_current_context().meta.get(PIPED):
        print_line(f"next: {shlex.join(['unmask', *map(str, words)])}", err=True)


def name_table(
    file: object,
    *,
    without: str = "",
    protects_kept: bool = False,
    leave_out: Collection[str] = (),
    also: Collection[str] = (),
) -> list[str]:
    """Return the words that name a table to the next command: a document, or a file, with the options typed about it.

    without       : quasi-identifier that the next command leaves out
    protects_kept : whether kept columns are quasi-identifiers of the next command
    leave_out     : options that the next command does not get
    also          : typed options that it gets, too
    """
    context = click.get_current_context()
    words = [str(context.meta.get(DOCUMENT, file))]
    quasi_identifiers, typed = context.params["quasi_identifiers"] or (), context.obj
    if protects_kept:
        typed = typed | {"quasi_identifiers": (*quasi_identifiers, *context.params["keep"]), "keep": ()}
    elif without in quasi_identifiers:
        typed = typed | {"quasi_identifiers": quasi_identifiers}
    for option in context.command.params:
        name = str(option.name)
        if name in {*read_options("unmask.tables:Table.read"), *also} & typed.keys() - {*leave_out}:
            words += _type_option(option, [text for text in _list_texts(typed[name]) if text != without])
    return words


def _type_option(option: click.Parameter, texts: Sequence[str]) -> list[str]:
    """Return the words of an option with these texts."""
    flag = min(option.opts, key=len)
    if isinstance(option.type, Names):
        return [flag, ",".join(texts)]
    return [word for text in texts for word in (flag, text)]


# --- inputs ---


def command_name() -> str:
    """Return the command as it is typed, such as "audit graph"."""
    return str(click.get_current_context().command.name)


def list_inputs(rows: Mapping[str, Sequence[Any]] | None = None) -> list[dict[str, Any]]:
    """Return the files that the command read: option or argument, name without a folder, SHA-256 and rows.

    None is the SHA-256 of a secret file, and the number of rows that were not counted.

    rows : parameter -> the rows of each of its files, in their order
    """
    from unmask.data.files import hash_file  # here: most commands hash no file

    params = click.get_current_context().params
    secret = OWNER_FILES | ({"release"} if params.get("overlaps") else frozenset())  # the release is made of it
    files = {role: _list_texts(params[role]) for role in sorted(params.keys() & (OWNER_FILES | OTHER_FILES))}
    if isinstance(params.get("tables"), Path):  # a list of crosses in commands that make tables
        from unmask.aggregates.table_files import list_release_files

        files["tables"] = [str(file) for file in list_release_files(params["tables"])]
    return [
        {"role": role, "name": file.name, "sha256": None if role in secret else hash_file(file), "rows": n}
        for role, texts in files.items()
        for file, n in _pair_with_rows(texts, (rows or {}).get(role, ()))
    ]


def _pair_with_rows(texts: Sequence[str], rows: Sequence[Any]) -> Iterator[tuple[Path, int | None]]:
    """Yield the files of each text; the rows are known of a text that names one file."""
    for position, text in enumerate(texts):
        files = _list_files(text)
        for file in files:
            yield file, rows[position] if len(files) == 1 and position < len(rows) else None


def locate_release(release: str) -> str:
    """Return the path, from this folder, of the document that was read, or else of the file of a release."""
    context = click.get_current_context()
    texts = [text for role in RELEASES for text in _list_texts(context.params.get(role))]
    path = next((text for text in texts if remove_ending(Path(text)) == release), texts[0])
    return Path(os.path.relpath(context.meta.get(DOCUMENT, path))).as_posix()


def _list_texts(value: object) -> list[str]:
    """Return every text and path in the values of options."""
    if isinstance(value, str | Path):
        return [str(value)]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [text for item in inner for text in _list_texts(item)]


def _list_files(text: str) -> list[Path]:
    """Return the files that a text names: one, those in a folder that commands read, or the matches of a pattern."""
    path = Path(text.partition("::")[0] or text)
    with suppress(OSError):  # a text may be too long for a name
        if path.is_dir():
            return [file for kind in ("parquet", "jsonl", "toml") for file in path.rglob(f"*.{kind}")]
        return [path] if path.is_file() else [Path(file) for file in glob(text)]  # noqa: PTH207  # it may be absolute
    return []


# --- outputs ---


def refuse_to_overwrite(
    *outputs: Path | None, force: bool, stream: Path | None = None, folder: Path | None = None
) -> None:
    """Raise an error for a file that is given twice, exists without --force, or is an input, even with --force.

    A device, a pipe or a link (`/dev/stdout` is one) is refused, since a file that is written whole replaces it.

    stream : one more output, which may be `-`, the standard output
    folder : one more output, which is made with the folders above it
    """
    if writing.STANDARD_OUTPUT in outputs:
        raise UnmaskError("- is the standard output, where this command says something else; name a file")
    if stream != writing.STANDARD_OUTPUT:
        outputs = (stream, folder, *outputs)
    paths = [path for path in outputs if path is not None]
    for path in paths:
        if path.is_symlink() or (path.exists() and not (path.is_file() or path.is_dir())):
            raise UnmaskError(f"{path} is a device, a pipe or a link, expected a plain file; name one")
        parent = next(parent for parent in path.absolute().parents if path != folder or parent.exists())
        if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
            reason = "is closed to you" if parent.is_dir() else "does not exist"
            raise FailedError(f"output {path.name!r} cannot be written: folder {path.parent} {reason}; name another")
        if path.exists() and not force:
            raise UnmaskError(f"{path} exists; choose another name or give --force")
    if len({path.resolve() for path in paths}) < len(paths):
        raise UnmaskError(f"two outputs go to {paths[0]}; choose another file for one of them")
    _refuse_inputs(paths)


def _refuse_inputs(outputs: Sequence[Path]) -> None:
    """Raise an error for an output that is also an input, even under another name."""
    context = click.get_current_context(silent=True)
    values = [] if context is None else [*(context.params | {"temp_directory": None}).values(), *context.meta.values()]
    texts = _list_texts([value for value in values if not any(value is path for path in outputs)])
    inputs = [file for text in texts for file in _list_files(text)]
    for path in outputs:
        if path.is_dir() and any(file.resolve().parent == path.resolve() for file in inputs):
            raise UnmaskError(f"{path} is the folder of an input, whose files could be replaced; choose another folder")
        if path.is_file() and any(path.samefile(file) for file in inputs):
            raise UnmaskError(f"{path} is an input of this command, which would be lost; choose another name")


def write_release(
    write: Callable[[Path], object], output: Path, text: str, origin: Path | None, *, show: Callable[[], object] | None
) -> None:
    """Write the release and the text of its origin, both or neither: an origin of another would spoil later audits.

    write : writes the release
    show  : prints results; if it fails, no file is there
    """
    with writing.replace_files(output, origin) as places:
        write(places[output])
        if origin is not None:
            writing.write_text(places[origin], text, private=True)
        if show is not None:
            show()
    if origin is not None:
        print_secret_file(origin, public_file=output)


def write_texts(texts: Mapping[Path, str]) -> None:
    """Write all files, or none."""
    with writing.replace_files(*texts) as places:
        for path, text in texts.items():
            writing.write_text(places[path], text)


def print_secret_file(path: Path, *, public_file: Path | None, reason: str = UNDOES) -> None:
    """Print a line for a file that must stay inside, and a warning if it is in the folder of a release."""
    print_line(f"wrote {path}, keep it secret: {reason}", err=True)
    if public_file is not None and path.resolve().parent == public_file.resolve().parent:
        print_line(f"warning: {path} lies in the folder of the release; move it before the folder is shared", err=True)
