"""From a file of links, a matrix or a graph object to two arrays of node numbers and what the nodes are called."""

from __future__ import annotations

import gzip
import logging
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TextIO, cast
from xml.etree.ElementTree import ParseError

import duckdb
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unmask.engines.given import given
from unmask.engines.room import scratch
from unmask.engines.sql import exact_path, literal
from unmask.engines.text_files import parquet_of
from unmask.errors import FailedError, UnmaskError
from unmask.files import engine
from unmask.graphs import graphml, pajek

_log = logging.getLogger(__name__)

_HEADERS = {"source", "target", "from", "to", "src", "dst", "fromnodeid", "tonodeid", "u", "v"}
_HEADERS |= {f"{word}{gap}{number}" for word in ("node", "id", "user") for gap in ("", "_") for number in (1, 2)}
_BLANKS = r"\s"
_WHOLE = re.compile(r"-?[0-9]+")
_COMMENT = re.compile(r"\s*([#%].*)?", re.ASCII)  # or blank


@dataclass(frozen=True, eq=False)
class LinkList:
    """Links u[i] - v[i] between nodes 0 to n_nodes - 1; `labels` (n_nodes,) what they are called, or None."""

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    labels: NDArray[Any] | None
    n_nodes: int


def read_links(source: object, *, delimiter: str | None = None, header: bool | None = None) -> LinkList:
    """The links of a source, as `SocialGraph.read` describes.

    >>> from scipy import sparse
    >>> read_links(sparse.coo_array(([1, 1], ([0, 2], [1, 0])), shape=(3, 3))).u
    array([0, 2])
    """
    if isinstance(source, str | os.PathLike):
        return _from_path(Path(os.fspath(source)), delimiter, header)
    if delimiter is not None or header is not None:
        raise UnmaskError("delimiter and header are given, expected for an edge list in a file only")
    if sparse.issparse(source):
        return _from_matrix(source)
    if hasattr(source, "get_edgelist"):
        return _from_igraph(source)
    if hasattr(source, "nodes") and hasattr(source, "edges"):
        return _from_networkx(source)
    raise UnmaskError(
        f"a graph cannot be read from {type(source).__name__}; expected a file, a sparse matrix, networkx or igraph"
    )


# --- objects --------------------------------------------------------------------------------------------------------


def _from_matrix(matrix: Any) -> LinkList:
    entries = sparse.coo_array(matrix)
    if entries.shape[0] != entries.shape[1]:
        raise UnmaskError(f"the matrix has shape {entries.shape}, expected as many rows as columns")
    links = entries.data != 0
    row, column = entries.coords
    return LinkList(row[links].astype(np.int64), column[links].astype(np.int64), None, entries.shape[0])


def _from_igraph(graph: Any) -> LinkList:
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    return LinkList(ends[:, 0], ends[:, 1], None, graph.vcount())


def _from_networkx(graph: Any) -> LinkList:
    names = list(graph.nodes())
    number = {name: at for at, name in enumerate(names)}
    ends = np.array([(number[edge[0]], number[edge[1]]) for edge in graph.edges()], dtype=np.int64).reshape(-1, 2)
    labels = np.empty(len(names), dtype=object)
    labels[:] = names
    whole = all(type(name) is int for name in names)
    return LinkList(ends[:, 0], ends[:, 1], labels.astype(np.int64) if whole else labels, len(names))


# --- files ----------------------------------------------------------------------------------------------------------


def _from_path(path: Path, delimiter: str | None, header: bool | None) -> LinkList:
    if not path.is_file():
        raise FailedError(f"file {path.name!r} does not exist or is no file; check the path")
    if path.name.lower().removesuffix(".gz").endswith(".graphml"):  # says its own encoding
        return _graphml(path)
    with scratch(None) as folder:
        file = given(path, folder)
        if file.note:
            _log.warning("%s", file.note)
        return _from_file(file.path, file.form, delimiter, header)


def _from_file(path: Path, form: str, delimiter: str | None, header: bool | None) -> LinkList:
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".net"):
        return _pajek(path)
    with engine() as connection:
        try:
            if form == "parquet":
                return _coded(connection, path, _parquet_relation(connection, path), lambda: _gap(path))
            return _from_text(connection, path, delimiter, header)
        except duckdb.Error:  # the engine's own message quotes the line
            raise FailedError(f"file {path.name!r} cannot be read; expected whole text (.gz) or Parquet") from None


def _from_text(
    connection: duckdb.DuckDBPyConnection, path: Path, delimiter: str | None, header: bool | None
) -> LinkList:
    """The links of the lines; what may be a header is one only if neither of its names is an id further down."""
    start = _start(path, delimiter)
    names = () if header is not None else start.header()

    def read(skipped: int) -> LinkList:
        relation = _text_relation(path, start.pattern, skipped)
        return _coded(connection, path, relation, lambda: _complaint(path, start.pattern, skipped))

    if not names:
        return read(start.number if header else 0)
    found = read(start.number)
    ids = found.labels.tolist() if found.labels is not None and found.labels.dtype == object else []
    return found if {*names}.isdisjoint(ids) else read(0)


def _parquet_relation(connection: duckdb.DuckDBPyConnection, path: Path) -> str:
    """The SQL of rows (u, v, bad) of the first two columns; bad where one of them is missing."""
    file = parquet_of([path])
    described = connection.execute(f"describe from {file}").fetchall()
    if len(described) < 2:
        raise UnmaskError(f"file {path.name!r} has {len(described)} column, expected two of node ids")
    u, v = ('"' + str(row[0]).replace('"', '""') + '"::varchar' for row in described[:2])
    return f"(select {u} as u, {v} as v, {u} is null or {v} is null as bad from {file})"


def _text_relation(path: Path, pattern: str, skipped: int) -> str:
    """The SQL of rows (u, v, bad) of the lines after those skipped that are neither blank nor comments.

    Bad are the lines in which the pattern finds no two ids.
    """
    return (
        "(select trim(p.u, '\"') as u, trim(p.v, '\"') as v, "
        "case when p.u = '' then not regexp_full_match(line, '\\s*([#%].*)?') else false end as bad "
        f"from (select line, regexp_extract(line, {literal(pattern)}, ['u', 'v']) as p from "
        f"read_csv({literal(exact_path(path))}, delim='\x1f', quote='', escape='', header=false, auto_detect=false, "
        f"strict_mode=false, hive_partitioning=false, skip={skipped}, "
        "columns={'line': 'varchar'})) where p.u <> '' or bad)"
    )


# --- lines of text --------------------------------------------------------------------------------------------------


@contextmanager
def _lines(path: Path) -> Iterator[TextIO]:
    try:
        opener = gzip.open if path.name.lower().endswith(".gz") else open
        with cast("TextIO", opener(path, "rt", encoding="utf-8-sig")) as file:
            yield file
    except (OSError, EOFError, zlib.error):
        raise FailedError(f"file {path.name!r} cannot be read or is damaged; fetch it again") from None


@dataclass(frozen=True)
class _Start:
    """How a file of links begins.

    number        : of the first line that is neither blank nor a comment, from 1
    first, second : the pattern's match with that line and with the next such line
    commented     : whether there is a comment before them
    """

    pattern: str
    number: int
    first: re.Match[str] | None
    second: re.Match[str] | None
    commented: bool

    def header(self) -> tuple[str, ...]:
        """The two names of the first line where it looks like a header, else none."""
        if self.first is None or self.commented:
            return ()
        names = tuple(cell.strip('"') for cell in self.first.groups())
        if {name.lower() for name in names} <= _HEADERS:
            return names
        if self.second is None or any(_WHOLE.fullmatch(name) for name in names):
            return ()
        return names if all(_WHOLE.fullmatch(cell.strip('"')) for cell in self.second.groups()) else ()


def _start(path: Path, delimiter: str | None) -> _Start:
    found: list[tuple[int, str]] = []
    commented = False
    with _lines(path) as file:
        for number, raw in enumerate(file, start=1):
            line = raw.rstrip("\r\n")
            comment = _COMMENT.fullmatch(line)
            if comment is None:
                found.append((number, line))
            elif comment[1]:
                commented |= not found
            if len(found) == 2:
                break
    if not found:
        raise UnmaskError(f"file {path.name!r} has no links, expected at least one line with two node ids")
    (number, first), (_, second) = (*found, (0, ""))[:2]
    pattern = _pattern(_stop(path, delimiter, first))
    return _Start(pattern, number, re.match(pattern, first), re.match(pattern, second), commented)


def first_words(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The two cells of the first line of a text file where they may be names of columns: neither is a whole number.

    A line alone names columns only where it looks like a header.
    """
    named = Path(os.fspath(path))
    if named.name.lower().removesuffix(".gz").endswith((".net", ".graphml")) or not named.is_file():
        return ()
    with scratch(None) as folder:
        file = given(named, folder)
        if file.form != "text":
            return ()
        start = _start(file.path, None)
    if start.first is None or start.second is None:
        return start.header()
    cells = tuple(cell.strip('"') for cell in start.first.groups())
    return () if any(_WHOLE.fullmatch(cell) for cell in cells) else cells


def _stop(path: Path, delimiter: str | None, first: str) -> str:
    """What ends an id, as the inside of a character class."""
    if delimiter not in (None, ",", ";", "\t", " "):
        raise UnmaskError("the delimiter is unknown, expected a comma, a semicolon, a tab or a blank")
    if delimiter is None:
        tab = "\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") and "\t" in first else " "
        delimiter = next((mark for mark in ",;" if mark in re.sub('"[^"]*"', "", first)), tab)
    return _BLANKS if delimiter == " " else delimiter.replace("\t", r"\t")


def _pattern(stop: str) -> str:
    r"""The expression that finds the two ids of a line, in a dialect that RE2 and `re` share.

    >>> re.match(_pattern(","), '"Doe, J" , b,1').groups()
    ('"Doe, J"', 'b')
    """
    inner = rf'(?:[^{stop}"]*[^\s{stop}"])?'
    first = rf'("[^"]+"|[^\s{stop}"#%]{inner})'
    second = rf'("[^"]+"|[^\s{stop}"]{inner})'
    gap, end = (r"\s+", r"(?:\s|$)") if stop == _BLANKS else (rf"\s*{stop}\s*", rf"\s*(?:{stop}|$)")
    return rf"^\s*{first}{gap}{second}{end}"


def _complaint(path: Path, pattern: str, skipped: int) -> str:
    """Which line has no two ids; found by reading once more, as the engine does not number lines."""
    search = re.compile(pattern, re.ASCII)
    with _lines(path) as file:
        for number, raw in enumerate(file, start=1):
            line = raw.rstrip("\r\n")
            if number > skipped and not _COMMENT.fullmatch(line) and search.match(line) is None:
                return (
                    f"line {number} of {path.name!r} has no two node ids; expected two, then the delimiter or nothing"
                )
    return f"a line of {path.name!r} has no two node ids, expected two on every line"


def _gap(path: Path) -> str:
    return f"file {path.name!r} has a row without one of the two node ids, expected two in every row"


# --- from ids to numbers --------------------------------------------------------------------------------------------


def _coded(connection: duckdb.DuckDBPyConnection, path: Path, relation: str, complaint: Callable[[], str]) -> LinkList:
    """The rows (u, v, bad) as numbers: first as if all ids were whole, once more as texts where they are not."""
    got = connection.execute(
        "select coalesce(n, 0) as u, coalesce(m, 0) as v, coalesce(n::varchar = u and m::varchar = v, false) as whole, "
        f"bad from (select *, try_cast(u as bigint) as n, try_cast(v as bigint) as m from {relation})"
    ).fetchnumpy()
    if not len(got["u"]):
        raise UnmaskError(f"file {path.name!r} has no links, expected at least one")
    if np.any(got["bad"]):
        raise UnmaskError(complaint())
    if np.all(got["whole"]):
        return _renumbered(np.asarray(got["u"]), np.asarray(got["v"]))
    return _texts(connection, relation)


def _texts(connection: duckdb.DuckDBPyConnection, relation: str) -> LinkList:
    connection.execute(f"create or replace temp table link as select u, v from {relation}")
    connection.execute(
        "create or replace temp table node as select id, row_number() over (order by id) - 1 as code from "
        "(select u as id from link union select v from link)"
    )
    labels = np.asarray(connection.execute("select id from node order by code").fetchnumpy()["id"], dtype=object)
    both = connection.execute(
        "select a.code as u, b.code as v from link join node a on link.u = a.id join node b on link.v = b.id "
        "order by link.rowid"
    ).fetchnumpy()
    return LinkList(np.asarray(both["u"]), np.asarray(both["v"]), labels, len(labels))


def _renumbered(u: NDArray[np.int64], v: NDArray[np.int64]) -> LinkList:
    """Whole numbers by rank; where they lie close together, by a table instead of a sort."""
    low, high = int(min(u.min(), v.min())), int(max(u.max(), v.max()))
    if high - low < 4 * len(u) + 1024:
        there = np.zeros(high - low + 1, dtype=np.bool_)
        there[u - low] = True
        there[v - low] = True
        rank = np.cumsum(there) - 1
        labels = np.flatnonzero(there) + low
        return LinkList(rank[u - low], rank[v - low], labels, len(labels))
    labels, ends = np.unique(np.concatenate((u, v)), return_inverse=True)
    return LinkList(ends[: len(u)], ends[len(u) :], labels, len(labels))


# --- Pajek and GraphML ----------------------------------------------------------------------------------------------


def _pajek(path: Path) -> LinkList:
    with _lines(path) as file:
        n, given, links = pajek.parse(file, path.name)
    both = np.array(links, dtype=np.int64).reshape(-1, 2) - 1
    if all(str(number) == label for number, label in given.items()):
        return LinkList(both[:, 0], both[:, 1], np.arange(1, n + 1), n)
    labels = _distinct(path, [given.get(number, str(number)) for number in range(1, n + 1)])
    return LinkList(both[:, 0], both[:, 1], labels, n)


def _distinct(path: Path, labels: list[str]) -> NDArray[Any]:
    if len(set(labels)) != len(labels):
        raise UnmaskError(f"file {path.name!r} has two vertices of one label, expected every label once")
    whole = all(_WHOLE.fullmatch(label) and len(label) < 19 and str(int(label)) == label for label in labels)
    return np.array([int(label) for label in labels]) if whole else np.array(labels, dtype=object)


def _graphml(path: Path) -> LinkList:
    try:
        opener = gzip.open if path.name.lower().endswith(".gz") else open
        with cast("IO[bytes]", opener(path, "rb")) as file:
            ids, links = graphml.parse(file, path.name)
    except UnmaskError:
        raise
    except (ParseError, OSError, EOFError, zlib.error, ValueError, LookupError):  # the last two: unknown encodings
        raise FailedError(f"file {path.name!r} is no whole XML or cannot be read; export it again, as UTF-8") from None
    labels = _distinct(path, ids)
    number = {name: node for node, name in enumerate(ids)}
    ends = np.array([(number.get(u, -1), number.get(v, -1)) for u, v in links], dtype=np.int64).reshape(-1, 2)
    if (ends < 0).any():
        edge = int(np.argmax((ends < 0).any(axis=1))) + 1
        raise UnmaskError(f"edge {edge} of {path.name!r} ends at a node that is not in the file; add it")
    return LinkList(ends[:, 0], ends[:, 1], labels, len(ids))
