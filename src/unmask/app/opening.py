"""Step 1: a file by its path or from the browser, the demo, or work that was cut off; and how the file is read."""

from __future__ import annotations

import gzip
import re
import shlex
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from unmask.app.counting import begin, is_large
from unmask.app.jobs import shown
from unmask.app.kind import Kind, Sample
from unmask.app.kinds import KINDS, TABLE, guess, kind_of, look
from unmask.app.project import Project, adoptable, ago, left_behind, made_here, opened
from unmask.core.errors import FailedError, UnmaskError, visible
from unmask.data.encodings import check_encoding
from unmask.data.files import read_text
from unmask.document import by_role, load

MOST_CELLS = 200_000_000
"""Cells of a table that is held in memory; a larger one is for an engine, on the command line."""

MOST_BYTES = 4 << 30
"""Bytes that a compressed file may unfold to."""

PREVIEW = 12
"""Rows that are shown."""

SHOWN = 24
"""Characters of a cell that are shown."""

TYPED_BY = 400
"""Rows by which the types of the preview are told."""

ENCODINGS = {"utf-8": "UTF-8", "cp1252": "Windows-1252", "cp1250": "Windows-1250", "latin-1": "Latin-1",
             "utf-16": "UTF-16", "shift_jis": "Shift JIS", "gb18030": "GB 18030"}  # fmt: skip
DELIMITERS = {",": "comma ,", ";": "semicolon ;", "\t": "tab", "|": "bar |"}
HEADERS = {"names": "names the columns", "row": "is a row"}
DECIMALS = {".": "point 3.5", ",": "comma 3,5"}
MISSING = {"own": "a value of its own", "wildcard": "any value", "excluded": "its row is left out"}

NO_ROWS: Mapping[str, Any] = {
    "names": (), "rows": (), "types": {}, "notes": (), "first": 0, "broken": "", "encoding": "", "delimiter": "",
}  # fmt: skip
"""The preview of what has none. first : rows that `notes` are of, 0 for all; broken : why nothing was read."""


def show(project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
    """The start page; with a file its first rows, masked, and how they were read."""
    if project.file is None:
        return {"file": None, **_start(project), "commands": ("unmask open people.csv",)}
    kind, data = kind_of(project.given), project.given.get("data", {})
    found = _said_of(project, kind) if kind.says else _preview(project)
    if not kind.word and not found["broken"] and is_large(project):
        begin(project)  # what takes a while is on its way while the preview is looked at
    words = [f"--{key} {value!r}" for key in ("encoding", "delimiter", "decimal") if (value := data.get(key))]
    words += [shlex.join(["--na", ",".join(_listed(data["na"]))])] if "na" in data else []
    said = {"encoding": found.pop("encoding"), "delimiter": found.pop("delimiter")}
    name = project.file.name
    return {
        "file": name,
        "kind": kind,
        "kinds": KINDS,
        "guessed": project.guessed,
        "second": kind.steps[1].title.lower(),
        "said": said,
        "link": str(project.file.resolve()) if project.file.is_symlink() else "",
        "asked": {
            "encoding": (ENCODINGS, data.get("encoding")),
            "delimiter": (DELIMITERS, data.get("delimiter")),
            "header": (HEADERS, {True: "names", False: "row"}.get(data.get("header"))),
            "decimal": (DECIMALS, data.get("decimal")),
            "missing": (MISSING, data.get("missing", "own")),
        },
        "na": ", ".join(_told_missing(data)),
        "as_text": not name.lower().endswith((".parquet", ".pq", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")),
        **_start(project),
        **found,
        "commands": (shown(["open", name]),) if kind.word else (" ".join([shown(["init", name]), *words]),),
    }


def _said_of(project: Project, kind: Kind) -> dict[str, Any]:
    """A sentence in place of rows; or why there is none."""
    try:
        return {**NO_ROWS, "notes": [kind.says(project)] if kind.says else []}
    except UnmaskError as error:
        return {**NO_ROWS, "broken": str(error)}


def _start(project: Project) -> dict[str, Any]:
    here = sorted(Path.cwd().glob("*.toml"), key=lambda path: -path.stat().st_mtime)
    documents = [(path.name, str(path), ago(path.stat().st_mtime)) for path in here if _is_document(path)]
    left = left_behind(project)
    return {
        "recent": documents[:6],
        "left": [(folder.name, name, ago(moment)) for folder, name, moment in left],
    }


def _is_document(path: Path) -> bool:
    try:
        return bool(opened(load(path)))
    except (UnmaskError, AttributeError, TypeError):
        return False


def take(project: Project, form: Mapping[str, Any]) -> str:
    """Open what was asked for, or read the file in another way."""
    wanted = str(form.get("do", ""))
    if wanted == "read" and project.file is not None:
        _read_as(project, form)
        return "open"
    if wanted == "continue":
        return "roles"
    if wanted == "kind" and project.file is not None:
        _take_for(project, str(form.get("kind", "")))
        return "open"
    if wanted == "another":
        project.clear()
        return "open"
    if wanted in ("resume", "discard"):
        return _left(project, str(form.get("folder", "")), resume=wanted == "resume")
    if wanted == "demo":
        _demo(project)
        return "open"
    sent = form.get("upload")
    if getattr(sent, "filename", ""):
        _open_sent(project, visible(sent.filename), sent.file)  # type: ignore[union-attr]
    else:
        path = str(form.get("path", "")).strip()
        if not path or "\0" in path or len(path) > 4000:
            raise UnmaskError("no file was named; type its path, or choose it")
        open_path(project, Path(path))
    return "open"


def open_path(project: Project, path: Path) -> None:
    """Open a table, or a document with the files that it names; what was open before is gone once they can be read."""
    path = path.expanduser().absolute()
    if path.suffix == ".toml":
        _open_document(project, path)
        return
    sample = _checked(path)
    project.clear()
    _begin(project, sample._replace(name=project.adopt(path)))


def _open_sent(project: Project, name: str, file: Any) -> None:
    """Open a table that the browser sent; one that cannot be read is not kept."""
    kept = project.keep(name, file)
    try:
        sample = _checked(project.folder / kept)
    except UnmaskError:
        project.forget(kept)
        raise
    project.clear(but=kept)
    _begin(project, sample)


def _checked(path: Path) -> Sample:
    """What a file begins with; it is refused where it is none, too much, or no table and no network."""
    path = adoptable(path)
    _refuse_bombs(path)
    sample = look(path, path.name)
    if sample.columns:
        _refuse_many(path, len(sample.columns))
    return sample


def _begin(project: Project, sample: Sample) -> None:
    """The document of a file by what it looks like, with the reason."""
    kind, why = guess(sample)
    _save(project, kind, sample)
    project.guessed = why


def _save(project: Project, kind: Kind, sample: Sample) -> None:
    project.save({"title": f"Release of {sample.name}", **kind.begin(sample)})


def _take_for(project: Project, word: str) -> None:
    """Take the file for something else than was guessed; what was said of it before is gone."""
    kind = next((one for one in KINDS if one.word == word), None)
    if kind is None or project.file is None:
        raise UnmaskError("there is no such kind of file; take one of those that are listed")
    if kind.word != kind_of(project.given).word:
        sample = look(project.file, project.file.name)
        project.clear(but=project.file.name)
        _save(project, kind, sample)


def _open_document(project: Project, path: Path) -> None:
    """The document, its files as links beside it; what it says of releases is left out, since one is made here."""
    given = {key: value for key, value in load(path).items() if key != "releases"}
    name = opened(given)
    if not name:
        raise UnmaskError(f"document {path.name!r} has no file of a table; expected [data] and below it a file")
    by_role(given.get("columns", {}))
    _checked(path.parent / name)
    named: dict[str, Path] = {}
    _with_files(given, lambda name: str(named.setdefault(name, adoptable(path.parent / name))))
    template = read_text(path)
    project.clear()
    adopted = {name: project.adopt(one) for name, one in named.items()}
    project.save(_with_files(given, adopted.__getitem__), template=template)
    project.passed = {"roles"}  # which somebody has said, and nobody guessed


def _with_files(given: dict[str, Any], beside: Callable[[str], str]) -> dict[str, Any]:
    """The document with its files called as they are beside it."""
    from unmask.measures.losses import LOSS_NAMES

    found = dict(given)
    for key in ("data", "register", "control"):
        if key in given:
            found[key] = _placed(given[key], beside, "file")
    if kind := kind_of(given).word:
        found[kind] = _placed(given[kind], beside, *kind_of(given).files, but=(*made_here(given), *LOSS_NAMES))
    if isinstance(given.get("columns"), dict):
        found["columns"] = {name: _placed(one, beside, "hierarchy") for name, one in given["columns"].items()}
    if str(given.get("audit", {}).get("attacker", "")).endswith(".toml"):
        found["audit"] = _placed(given["audit"], beside, "attacker")
    if isinstance(given.get("policy"), list):
        found["policy"] = [_placed(one, beside, "use") if _is_file(one) else one for one in given["policy"]]
    return found


def _placed(entry: Any, beside: Callable[[str], str], *keys: str, but: Collection[str] = ()) -> Any:
    """A table of the document with the files at these keys by their new names. but : what is no file, or made here"""

    def named(value: Any) -> Any:
        if isinstance(value, list):
            return list(map(named, value))
        return beside(value) if isinstance(value, str) and value not in but else value

    found = {key: named(entry[key]) for key in keys if key in entry} if isinstance(entry, dict) else {}
    return {**entry, **found} if found else entry


def _is_file(entry: Any) -> bool:
    return isinstance(entry, dict) and str(entry.get("use", "")).endswith(".toml")


def _left(project: Project, name: str, *, resume: bool) -> str:
    """Go on with the folder of a server that was killed, or remove it."""
    found = {folder.name: folder for folder, _, _ in left_behind(project)}
    if name not in found:
        raise FailedError("that work is no longer there, or another window has it")
    other = Project(found[name])
    if not resume:
        other.remove()
        return "open"
    project.become(other)
    return ""


def _demo(project: Project) -> None:
    """A generated census: nobody in it is real."""
    import numpy as np

    from unmask.tables import datasets

    columns = datasets.synthetic_census(5_000, rng=np.random.default_rng(0))
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    project.clear()
    name = project.place("census.csv").name
    (project.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    _save(project, TABLE, Sample(name, {}))


def _read_as(project: Project, form: Mapping[str, Any]) -> None:
    """Correct how the file is read."""
    from unmask.tables.types import MISSING_CODES

    given = project.given
    chips = ("encoding", "delimiter", "header", "decimal", "missing", "na")
    data = {key: value for key, value in given["data"].items() if key not in chips}
    if encoding := str(form.get("encoding", "")):
        data["encoding"] = check_encoding(encoding[:40])
    for key, known in (("delimiter", DELIMITERS), ("decimal", DECIMALS)):
        if (value := str(form.get(key, ""))) in known:
            data[key] = value
    if (value := str(form.get("header", ""))) in HEADERS:
        data["header"] = value == "names"
    if (value := str(form.get("missing", "own"))) in MISSING and value != "own":
        data["missing"] = value
    usual = MISSING_CODES.intersection(_listed(given["data"].get("na", MISSING_CODES)))  # a document may say fewer
    if words := [word.strip() for word in str(form.get("na", ""))[:200].split(",") if word.strip()]:
        data["na"] = [*words, *sorted(usual - set(words))]
    elif "na" in given["data"] and not _told_missing(given["data"]):
        data["na"] = given["data"]["na"]
    project.save({**given, "data": data})


def _told_missing(data: Mapping[str, Any]) -> list[str]:
    """The words that stand for a missing cell here, besides the usual ones."""
    from unmask.tables.types import MISSING_CODES

    return [word for word in _listed(data.get("na", ())) if word and word not in MISSING_CODES]


def _listed(said: Any) -> list[str]:
    return [said] if isinstance(said, str) else list(map(str, said))


# --- what is too much -------------------------------------------------------------------------------------------------


def _refuse_bombs(path: Path) -> None:
    """Refuse a compressed file that unfolds to more than the machine should be given."""
    unfolded = 0
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                unfolded = sum(one.file_size for one in packed.infolist())
        elif path.name.lower().endswith(".gz"):
            with gzip.open(path) as file:
                while unfolded <= MOST_BYTES and (chunk := len(file.read(1 << 20))):
                    unfolded += chunk
    except (OSError, EOFError, zipfile.BadZipFile):
        raise FailedError(f"file {path.name!r} is truncated or damaged; fetch it again") from None
    if unfolded > MOST_BYTES:
        raise UnmaskError(
            f"file {path.name!r} unfolds to more than {MOST_BYTES >> 30} GiB; unpack it, and see what it is"
        )


def _refuse_many(path: Path, columns: int) -> None:
    """Refuse a Parquet file of more cells than are held in memory: it says how many rows it has."""
    from unmask.data.source_files import detect_kind
    from unmask.data.sql import quote_text
    from unmask.tables.reading import engine

    if detect_kind(path) != "parquet":
        return
    with engine() as (connection, _):
        found = connection.execute(f"select num_rows from parquet_file_metadata({quote_text(str(path))})").fetchall()
    rows = sum(int(one[0]) for one in found)
    if rows * columns > MOST_CELLS:
        raise UnmaskError(
            f"file {path.name!r} has {rows:,} rows of {columns} columns, more than are held in memory; protect and "
            "audit it on the command line with --engine duckdb"
        )


# --- the preview ------------------------------------------------------------------------------------------------------


def _preview(project: Project) -> dict[str, Any]:
    """The first rows, masked, and the types of the columns by some more of them."""
    from unmask.tables import Table
    from unmask.tables.reading import AS_TEXT, first_rows

    assert project.file is not None
    data = project.given.get("data", {})
    try:
        found = first_rows(project.file, TYPED_BY, **{key: data[key] for key in AS_TEXT if key in data})
        cells = {name: [one.texts[code] for code in one.codes] for name, one in found.columns.items()}
        table = Table.read(cells, quasi_identifiers=list(cells), decimal=data.get("decimal"), na=data.get("na"))
    except UnmaskError as error:
        return {**NO_ROWS, "broken": str(error)}
    rows = [[masked(cells[name][at]) for name in cells] for at in range(min(PREVIEW, table.n_rows))]
    types = {column.name: column.type for column in table.written}
    option = re.compile(r"(, )?(\(--[a-z]([^()]|\([^()]*\))*\)|--[a-z][^)]*)")  # a column may be called "weight (kg)"
    notes = [option.sub("", note).strip() for note in (*found.notes, *table.notes)]
    known = re.search(r"(?:read as|is) (cp1252|UTF-\S+?)[,;( ]", " ".join(found.notes) + " ")
    seen = {"encoding": known[1] if known else "UTF-8", "delimiter": _delimiter(project.file, data)}
    first = TYPED_BY if table.n_rows == TYPED_BY else 0
    return {**NO_ROWS, "names": list(cells), "rows": rows, "types": types, "notes": notes, "first": first, **seen}


def masked(text: str | None) -> str:
    """The first 24 characters of a cell without its content: # is a digit, a and A are letters.

    >>> masked("E11.9"), masked("1.234,50"), masked(None), masked("Kardiologie und Intensivmedizin")
    ('A##.#', '#.###,##', '', 'Aaaaaaaaaaa aaa Aaaaaaaa…')
    """
    shown = "".join(_masks(text or ""))
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"


def _masks(text: str) -> Iterator[str]:
    for character in text:
        if character.isdigit():
            yield "#"
        elif character.isalpha():
            yield "A" if character.isupper() else "a"
        else:
            yield character if character in " .,-/:;()[]{}*'\"+%&" else "?"


def _delimiter(path: Path, data: Mapping[str, Any]) -> str:
    """What is between the columns of a text file, in words; "" of what cannot be told."""
    from unmask.data.resources import temporary_folder
    from unmask.data.source_files import prepare_file, read_head

    try:
        with temporary_folder(None) as folder:
            file = prepare_file(path, folder, encoding=data.get("encoding"))
            return DELIMITERS.get(read_head(file.path, data.get("delimiter")).delimiter, "") if file.text else ""
    except UnmaskError:
        return ""
