"""Reading what a command is given and writing what it made, whole or not at all."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.generated import PIPED
from unmask.cli.terminal import print_line
from unmask.core.errors import FailedError, UnmaskError
from unmask.data import writing
from unmask.toml_text import DOCUMENT

if TYPE_CHECKING:
    from unmask.graphs.graph import SocialGraph
    from unmask.pricing import Motive
    from unmask.reports import ReportData
    from unmask.reports.overview import Line
    from unmask.tables.formulas import Formulas
    from unmask.tables.table import Table


UNDOES = "whoever has it can undo the release"
"""Why the origin of a release is secret."""


def print_findings(found: ReportData) -> None:
    """The findings on standard output, a sentence each."""
    from unmask.reports import sentences
    from unmask.reports.overview import verdict_lines

    _print_lines(verdict_lines(found))
    if found.verdicts:
        print_line()
    for sentence in sentences(found):
        print_line(sentence)


def print_overview(found: ReportData) -> None:
    """Criteria and adversaries as a table on standard output, then the findings that it cannot hold; on a terminal the
    heads are bold, and what is above a limit red.
    """
    from unmask.reports.overview import beside, lines

    _print_lines(lines(found))
    print_line()
    for sentence in beside(found):
        print_line(sentence)


def _print_lines(lines: Iterable[Line]) -> None:
    looks: dict[str, dict[str, Any]] = {"head": {"bold": True}, "risk": {"fg": "red"}}
    color = False if os.environ.get("NO_COLOR") else None  # None: on a terminal
    for line in lines:
        print_line(line.text, color=color, **looks.get(line.kind, {}))


def suggest_command(*words: object) -> None:
    """The next useful command, on standard error; nothing without words, and of what came by the standard input."""
    piped = click.get_current_context().meta.get(PIPED)
    if words and not piped:
        print_line(f"next: {shlex.join(['unmask', *map(str, words)])}", err=True)


def list_role_options(without: str = "") -> list[str]:
    """The columns of this command that an adversary may know and wants to learn, as options of another one; without :
    one that is left out of the former.
    """
    given = click.get_current_context().params
    known = [name for name in given["quasi_identifiers"] or () if name != without]
    named = (("-q", known), ("-s", given["sensitive"]))
    return [word for option, names in named if names for word in (option, ",".join(names))]


SECRET = frozenset({"control", "data", "file", "graph", "hierarchies", "origins", "original", "truth"})
"""Parameters whose files the owner alone has: a digest could confirm a guess of what is in them."""

HELD = frozenset(
    {"attacker", "auxiliary", "channels", "coordinates", "distortion", "guesses", "loss", "plan", "prior", "register"}
    | {"release", "releases", "run", "seeds_file", "target"}
)
"""Parameters whose files are released, made by the adversary, or about nobody."""

RELEASED = ("releases", "release", "guesses", "channels")
"""Parameters of audits that name what is judged."""


def print_json(*, rows: Mapping[str, Sequence[Any]] | None = None, **parts: Any) -> None:
    """Print what a command found as the one JSON object of all commands; parts : those of `results.envelope`."""
    from unmask.results import as_json

    print_line(as_json(command_name(), inputs=list_inputs(rows), **parts))


def command_name() -> str:
    """The command as it is typed, such as "audit graph"."""
    return str(click.get_current_context().command.name)


def list_inputs(rows: Mapping[str, Sequence[Any]] | None = None) -> list[dict[str, Any]]:
    """The files that the command read: the option or argument that names each, its name without a folder, its SHA-256
    (None where it is secret) and its rows (None where they are not counted).

    rows : parameter -> the rows of each of its files, in their order
    """
    from unmask.data.files import hash_file  # here: most commands digest nothing, and need not load what fetches files

    given = click.get_current_context().params
    secret = SECRET | ({"release"} if given.get("overlaps") else frozenset())  # the release is made of it
    return [
        {"role": role, "name": file.name, "sha256": None if role in secret else hash_file(file), "rows": n}
        for role in sorted(given.keys() & (SECRET | HELD))
        for file, n in _counted_files(_texts(given[role]), (rows or {}).get(role, ()))
    ]


def _counted_files(texts: Sequence[str], rows: Sequence[Any]) -> Iterator[tuple[Path, int | None]]:
    """The files of each text; the rows are known of a text that names one file."""
    for at, text in enumerate(texts):
        files = _files(text)
        for file in files:
            yield file, rows[at] if len(files) == 1 and at < len(rows) else None


def locate_release(release: str) -> str:
    """The path, from this folder, of the document that was read, or else of the file of a release."""
    context = click.get_current_context()
    texts = [one for role in RELEASED for one in _texts(context.params.get(role))]
    own = next((one for one in texts if Path(one).stem == release), texts[0])
    return Path(os.path.relpath(context.meta.get(DOCUMENT, own))).as_posix()


def read(path: Path, reading: dict[str, Any]) -> Table:
    """A table, with what the command line says about reading it; what was guessed is said."""
    from unmask.tables import Table

    table = Table.read(path, **reading)
    print_notes(table.notes)
    return table


FEWER = "a class has rows of {} people, fewer than k = {}: {} counts rows; choose a protection that counts people"
"""Said of a release some of whose people have several rows."""


def warn_of_small_classes(facts: Mapping[str, Any], protection: Any) -> list[str]:
    """A warning that a class has fewer people than the rows that a protection was asked for."""
    people, k = facts.get("k_people"), getattr(protection, "k", None)
    return [FEWER.format(people, k, type(protection).__name__)] if people and k and people < k else []


def warn_of_person_columns(table: Table) -> list[str]:
    """A warning for each column that leaves as it is and says, or seems to say, which rows are one person's."""
    from unmask.tables.audit.several_records import pseudonym, repeated

    whose = pseudonym(table.kept, table.person)
    return [TOGETHER.format(column.name) for column in ([whose] if whose else repeated(table.kept))]


TOGETHER = (
    "the column {} leaves as it is and seems to say which rows are one person's: whoever recognizes a few rows of a "
    "person has all of them; unmask audit with --person attacks people so"
)


def print_notes(notes: Sequence[str]) -> None:
    """What was recognized or guessed while reading, on standard error."""
    for note in notes:
        print_line(f"note: {note}", err=True)


ROLES = {"identifiers": "identifier", "quasi_identifiers": "quasi-identifier", "sensitive": "sensitive", "keep": "keep"}
"""Options -> the role that they give."""


def read_column_names(path: Path, reading: dict[str, Any]) -> list[str]:
    """The names of the columns of a file."""
    from unmask.tables.reading import AS_TEXT, column_names

    named = [name for option in ROLES for name in reading[option]]
    return column_names(path, named=named, **{name: reading[name] for name in AS_TEXT if name in reading})


def list_columns_without_role(names: Sequence[str], reading: dict[str, Any]) -> list[str]:
    """The names of columns that have no role."""
    named = {*(name for option in ROLES for name in reading[option]), reading["weight"]}
    return [name for name in names if name not in named]


def list_dropped_columns(names: Sequence[str], reading: dict[str, Any]) -> list[str]:
    """The names of columns without a role, which are not read."""
    return [name for name in list_columns_without_role(names, reading) if name != reading["person"]]


def read_with_dropped(path: Path, reading: dict[str, Any]) -> tuple[Table, list[str]]:
    """A table, and the names of its columns without a role, which are not read."""
    return read(path, reading), list_dropped_columns(read_column_names(path, reading), reading)


def read_register(path: Path, reading: dict[str, Any]) -> Table:
    """The register has some of the quasi-identifiers and none of the sensitive columns."""
    return read(path, derive_register_reading(reading, read_column_names(path, reading)))


def derive_release_reading(reading: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """How a release with these columns is read: those without a role count as kept, since anybody can read them."""
    return {**reading, "keep": (*reading["keep"], *list_columns_without_role(names, reading))}


def derive_register_reading(reading: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """How a register with these columns is read: its quasi-identifiers alone."""
    wanted = reading["quasi_identifiers"]
    shared = [name for name in wanted if name in names]
    if not shared:
        raise UnmaskError(
            f"the register has none of the quasi-identifiers {', '.join(wanted)}; its columns are {', '.join(names)}: "
            "name at least one column alike"
        )

    def only(given: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in given.items() if name in shared}

    of_register = {
        **dict.fromkeys(("sensitive", "keep", "identifiers"), ()),
        **{key: only(reading[key]) for key in ("types", "orders", "hierarchies")},
    }
    return {**reading, **of_register, "quasi_identifiers": shared, "weight": None, "person": None}


def read_motive(attacker: str) -> Motive:
    """The rational attacker of an audit, and whether they are the embedded assumption."""
    from unmask.economics import read_attacker
    from unmask.economics.profile import EMBEDDED
    from unmask.pricing import Motive

    return Motive(read_attacker(attacker), source=Path(attacker).name, assumed=attacker == EMBEDDED)


def refuse_to_overwrite(
    *outputs: Path | None, force: bool, stream: Path | None = None, folder: Path | None = None
) -> None:
    """An error for a file that is named twice, exists without --force, or is an input, even with --force; and for a
    device, a pipe or a link (`/dev/stdout` is one), since what is written whole takes its place.

    stream : one more output, which may be `-`, the standard output.
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
        above = next(above for above in path.absolute().parents if path != folder or above.exists())
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            why = "is closed to you" if above.is_dir() else "does not exist"
            raise FailedError(f"output {path.name!r} cannot be written: folder {path.parent} {why}; name another")
        if path.exists() and not force:
            raise UnmaskError(f"{path} exists; choose another name or give --force")
    if len({path.resolve() for path in paths}) < len(paths):
        raise UnmaskError(f"{paths[0]} is named for two outputs, expected two files; choose another name for one")
    _refuse_inputs(paths)


def _refuse_inputs(outputs: Sequence[Path]) -> None:
    """An error for an output that is a file which the command is given to read, under whatever name."""
    context = click.get_current_context(silent=True)
    options = {} if context is None else {**context.params, "temp_directory": None}  # which is not read
    given = [] if context is None else [*options.values(), *context.meta.values()]
    named = _texts([one for one in given if not any(one is path for path in outputs)])
    inputs = [file for text in named for file in _files(text)]
    for path in outputs:
        if path.is_dir() and any(file.resolve().parent == path.resolve() for file in inputs):
            raise UnmaskError(f"{path} is the folder of an input, whose files could be replaced; choose another folder")
        if path.is_file() and any(path.samefile(file) for file in inputs):
            raise UnmaskError(f"{path} is an input of this command, which would be lost; choose another name")


def _texts(given: object) -> list[str]:
    """Every text and path in the values of options."""
    if isinstance(given, str | Path):
        return [str(given)]
    inside = given.values() if isinstance(given, dict) else given if isinstance(given, list | tuple) else ()
    return [text for item in inside for text in _texts(item)]


def _files(text: str) -> list[Path]:
    """The files that a text names: one, those in a folder that commands read, or those that a pattern matches."""
    from glob import glob

    path = Path(text.partition("::")[0] or text)
    if path.is_dir():
        return [file for kind in ("parquet", "jsonl", "toml") for file in path.rglob(f"*.{kind}")]
    return [path] if path.is_file() else [Path(file) for file in glob(text)]  # noqa: PTH207  # it may be absolute


def write_report(found: ReportData, path: Path) -> None:
    """Render the report and write it, whole or not at all."""
    from unmask.reports import render

    write_text(path, render(found))


def print_dropped_columns(names: Sequence[str]) -> None:
    """Columns that are not released, on standard error; none, and nothing is said."""
    if names:
        listed = ", ".join(names)
        print_line(f"dropped, without a role: {listed}; --keep releases a column unchanged", err=True)


def print_formula_cells(found: Mapping[str, int], given: Formulas) -> None:
    """Cells of the release that a spreadsheet would run, by column, on standard error; none, and nothing is said."""
    if found:
        each = ", ".join(f"{name} {n:,}" for name, n in found.items())
        done = "an apostrophe stands before them" if given == "escape" else "--formulas escape or refuse changes that"
        print_line(f"cells that a spreadsheet would run as formulas: {each}; {done}", err=True)


def write_release(
    release: Table | SocialGraph, output: Path, text: str, origin: Path | None, *, show: Callable[[], object] | None
) -> None:
    """Write the release and the text of its origin, both or neither: an origin of another would spoil later audits.

    show : prints results; if it fails, no file is there
    """
    with writing.replace_files(output, origin) as places:
        release.write(places[output])
        if origin is not None:
            writing.write_text(places[origin], text, private=True)
        if show is not None:
            show()
    if origin is not None:
        print_secret_file(origin, beside=output)


def write_text(path: Path, text: str) -> None:
    """Whole or not at all."""
    write_texts({path: text})


def write_texts(texts: Mapping[Path, str]) -> None:
    """All of these files whole, or none of them."""
    with writing.replace_files(*texts) as places:
        for path, text in texts.items():
            writing.write_text(places[path], text)


def print_secret_file(path: Path, *, beside: Path, why: str = UNDOES) -> None:
    """One line for a file that must not leave the house, and a warning where it lies with what does."""
    print_line(f"wrote {path}, which is secret: {why}", err=True)
    if path.resolve().parent == beside.resolve().parent:
        print_line(f"warning: {path} lies in the folder of the release; move it before the folder is shared", err=True)


def describe_version() -> dict[str, object]:
    """What a page says of how it was made: no path, no seed and no digest, which could confirm a guess of the data."""
    from unmask.version import __version__

    return {"Version": f"unmask {__version__}"}
