"""From a file of links, a matrix or a graph object to two arrays of node numbers and what the nodes are called."""

from __future__ import annotations

import gzip
import json
import logging
import os
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, cast
from xml.etree.ElementTree import ParseError

import duckdb
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unmask.databases import exact_path, failure
from unmask.engines.given import given
from unmask.engines.room import scratch
from unmask.engines.sql import literal
from unmask.engines.text_files import parquet_of
from unmask.errors import FailedError, UnmaskError
from unmask.files import engine
from unmask.graphs import graphml, pajek
from unmask.graphs.columns import Ends, Layout, edge_columns, layout, named_columns, names_columns
from unmask.graphs.lines import FORMATS, Start, complaint, pattern_of, rows_of, start_of, text_lines

_log = logging.getLogger(__name__)

_NOT_READ = (".gml", ".mtx", ".mm", ".pickle", ".pkl", ".graph", ".metis", ".dot", ".gv", ".graph6", ".sparse6", ".mat")
_XML, _PAJEK, _JSON = (".graphml", ".gexf"), (".net",), (".json",)
_WHOLE = re.compile(r"-?[0-9]+")
_NO_ID = re.compile("DOUBLE|FLOAT|DECIMAL|DATE|TIME|BOOLEAN|INTERVAL")  # types
_KEYS = ("id", "source", "target", "key")  # of nodes and links in JSON


@dataclass(frozen=True, eq=False)
class LinkList:
    """Links u[i] - v[i] between nodes 0 to n_nodes - 1; `labels` (n_nodes,) what they are called, or None.

    attributes : what the source says of links and nodes besides, "direction" first where it has one
    """

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    labels: NDArray[Any] | None
    n_nodes: int
    attributes: tuple[str, ...] = ()


def read_links(
    source: object, *, delimiter: str | None = None, header: bool | None = None, ends: Ends | None = None
) -> LinkList:
    """The links of a source, as `SocialGraph.read` describes.

    >>> from scipy import sparse
    >>> read_links(sparse.coo_array(([1, 1], ([0, 2], [1, 0])), shape=(3, 3))).u
    array([0, 2])
    """
    if isinstance(source, str | os.PathLike):
        return _from_path(Path(os.fspath(source)), delimiter, header, ends)
    if delimiter is not None or header is not None or ends is not None:
        raise UnmaskError("delimiter, header or ends are given, expected for an edge list in a file only")
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
    row, column = (ends[links].astype(np.int64) for ends in entries.coords)
    oriented = {*zip(row.tolist(), column.tolist(), strict=True)} != {*zip(column.tolist(), row.tolist(), strict=True)}
    said = (oriented, "direction"), (np.any(entries.data[links] != 1), "weight")
    return LinkList(row, column, None, entries.shape[0], tuple(name for there, name in said if there))


def _from_igraph(graph: Any) -> LinkList:
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    return LinkList(ends[:, 0], ends[:, 1], None, graph.vcount(), _direction(graph, "is_directed"))


def _direction(graph: Any, asked: str) -> tuple[str, ...]:
    return ("direction",) if hasattr(graph, asked) and getattr(graph, asked)() else ()


def _from_networkx(graph: Any) -> LinkList:
    names = list(graph.nodes())
    number = {name: at for at, name in enumerate(names)}
    ends = np.array([(number[edge[0]], number[edge[1]]) for edge in graph.edges()], dtype=np.int64).reshape(-1, 2)
    labels = np.empty(len(names), dtype=object)
    labels[:] = names
    whole = all(type(name) is int for name in names)
    names_of = labels.astype(np.int64) if whole else labels
    return LinkList(ends[:, 0], ends[:, 1], names_of, len(names), _direction(graph, "is_directed"))


# --- files ----------------------------------------------------------------------------------------------------------


def _from_path(path: Path, delimiter: str | None, header: bool | None, ends: Ends | None) -> LinkList:
    if not path.is_file():
        raise FailedError(f"file {path.name!r} does not exist or is no file; check the path")
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(_NOT_READ):
        raise UnmaskError(f"file {path.name!r} is of a kind that is not read; what is read: {FORMATS}")
    if ends is not None and name.endswith((*_XML, *_PAJEK, *_JSON)):
        raise UnmaskError(f"columns were given, and file {path.name!r} has none; leave --source and --target out")
    if name.endswith(_XML):  # says its own encoding
        return _graphml(path)
    with scratch(None) as folder:
        file = given(path, folder)
        if file.note:
            _log.warning("%s", file.note)
        return _from_file(file.path, file.form, delimiter, header, ends)


def _from_file(path: Path, form: str, delimiter: str | None, header: bool | None, ends: Ends | None) -> LinkList:
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(_PAJEK):
        return _pajek(path)
    if name.endswith(_JSON):
        return _node_link(path)
    with engine() as connection:
        try:
            if form == "parquet":
                return _from_parquet(connection, path, ends)
            return _from_text(connection, path, delimiter, header, ends)
        except duckdb.Error as error:  # the engine's own message quotes the line
            otherwise = f"file {path.name!r} cannot be read; expected whole text (.gz) or Parquet"
            raise failure(error, otherwise) from None


def _from_text(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    delimiter: str | None,
    header: bool | None,
    ends: Ends | None,
) -> LinkList:
    """The links of the lines; what may be a header is one only if neither of its names is an id further down."""
    start = start_of(path, delimiter)
    found = layout(start.cells, path.name, header=header, ends=ends, commented=start.commented)
    if found.form == "adjacency":
        return _adjacency(path, start)
    if found.form == "matrix":
        return _matrix(path, start, named=found.header)
    read = _read_columns(connection, path, start, found)
    names = {start.cells[0][at] for at in found.columns} if found.header and header is None and ends is None else set()
    if names and not names.isdisjoint(_texts_of(read)):
        return _from_text(connection, path, delimiter, False, None)
    if header is None and ends is None and not found.header and _stands_alone(read, start.cells[0], found.columns):
        _log.warning(
            "%s: the first line is taken for a link, of two that no other line names; if it names the columns, say so "
            "with --source and --target (in Python: ends)", path.name,
        )  # fmt: skip
    return read


def _stands_alone(links: LinkList, first: Sequence[str], columns: tuple[int, int]) -> bool:
    """Whether the first of several lines has two ends in texts that no other line has."""
    if links.labels is None or links.labels.dtype != object or len(links.u) < 2:
        return False
    nodes = [np.flatnonzero(links.labels == first[at]) for at in columns]
    return all(np.count_nonzero(links.u == node) + np.count_nonzero(links.v == node) == 1 for node in nodes)


def _texts_of(links: LinkList) -> list[Any]:
    return [] if links.labels is None or links.labels.dtype != object else links.labels.tolist()


def _read_columns(connection: duckdb.DuckDBPyConnection, path: Path, start: Start, found: Layout) -> LinkList:
    pattern, skipped = pattern_of(start.stop, found.columns), start.number if found.header else 0
    names = ("u", "v") if found.columns[0] < found.columns[1] else ("v", "u")
    relation = _text_relation(path, pattern, skipped, names)
    links = _coded(connection, path, relation, lambda: complaint(path, pattern, skipped))
    return replace(links, attributes=found.left_out)


def _from_parquet(connection: duckdb.DuckDBPyConnection, path: Path, ends: Ends | None) -> LinkList:
    """The links of the rows; a column of dates or decimals is no end unless it was asked for."""
    file = parquet_of([path])
    described = connection.execute(f"describe from {file}").fetchall()
    if len(described) < 2:
        raise UnmaskError(f"file {path.name!r} has {len(described)} column, expected two of node ids")
    names, plain = [row[0] for row in described], [not _NO_ID.match(row[1]) for row in described]
    columns = edge_columns(names, path.name, plain) if ends is None else named_columns(names, ends, path.name)
    links = _coded(connection, path, _parquet_relation(file, *(names[at] for at in columns)), lambda: _gap(path))
    return replace(links, attributes=tuple(name for at, name in enumerate(names) if at not in columns))


def _parquet_relation(file: str, *names: str) -> str:
    """The SQL of rows (u, v, bad) of two columns; bad where one of them is missing."""
    u, v = ('"' + name.replace('"', '""') + '"::varchar' for name in names)
    return f"(select {u} as u, {v} as v, {u} is null or {v} is null as bad from {file})"


def _text_relation(path: Path, pattern: str, skipped: int, names: tuple[str, str]) -> str:
    """The SQL of rows (u, v, bad) of the lines after those skipped that are neither blank nor comments.

    Bad are the lines in which the pattern finds no two ids. names : what it finds, u and v in their order.
    """
    return (
        "(select trim(p.u, '\"') as u, trim(p.v, '\"') as v, "
        "case when p.u = '' then not regexp_full_match(line, '\\s*([#%].*)?') else false end as bad "
        f"from (select line, regexp_extract(line, {literal(pattern)}, {[*names]}) as p from "
        f"read_csv({literal(exact_path(path))}, delim='\x1f', quote='', escape='', header=false, auto_detect=false, "
        f"strict_mode=false, hive_partitioning=false, skip={skipped}, "
        "columns={'line': 'varchar'})) where p.u <> '' or bad)"
    )


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


def first_words(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The two cells of the first line of a text file where they may be names of columns: neither is a whole number."""
    named = Path(os.fspath(path))
    if named.name.lower().removesuffix(".gz").endswith((*_XML, *_PAJEK, *_JSON)) or not named.is_file():
        return ()
    with scratch(None) as folder:
        file = given(named, folder)
        if file.form != "text":
            return ()
        start = start_of(file.path, None)
    cells = tuple(start.cells[0][:2])
    if any(_WHOLE.fullmatch(cell) for cell in cells):
        return ()
    return cells if len(start.cells) > 1 or names_columns(start.cells, commented=start.commented) else ()


# --- adjacency lists and matrices -----------------------------------------------------------------------------------


def _adjacency(path: Path, start: Start) -> LinkList:
    """The links of lines that are each a node and its neighbors."""
    rows = [[cell for cell in row if cell] for row in rows_of(path, start)]
    ids = sorted({cell for row in rows for cell in row})
    labels = _as_labels(ids)
    number = {name: at for at, name in enumerate(map(str, labels.tolist()))}
    ends = np.array([(number[row[0]], number[cell]) for row in rows for cell in row[1:]], dtype=np.int64)
    u, v = ends.reshape(-1, 2).T
    return LinkList(u, v, labels, len(ids))


def _as_labels(ids: list[str]) -> NDArray[Any]:
    """Whole numbers, ascending, where all of them are; else the texts."""
    whole = all(_WHOLE.fullmatch(name) and len(name) < 19 and str(int(name)) == name for name in ids)
    return np.array(sorted(map(int, ids))) if whole else np.array(ids, dtype=object)


def _matrix(path: Path, start: Start, *, named: bool) -> LinkList:
    """The links of a square matrix: an entry other than 0 is one; nodes are called as its first line says."""
    rows = [*rows_of(path, start)]
    names, rows = (rows[0][1:], [row[1:] for row in rows[1:]]) if named else ([], rows)
    width = len(rows[0])
    if {len(row) for row in rows} != {width} or len(rows) != width:
        raise UnmaskError(
            f"file {path.name!r} looks like a matrix of {len(rows)} rows and {width} columns, expected as many rows as "
            "columns; if its first two columns are links, add --source 1 --target 2"
        )
    try:
        found = _from_matrix(sparse.coo_array(np.array(rows, dtype=np.float64)))
    except ValueError:
        raise UnmaskError(
            f"file {path.name!r} looks like a matrix, and a cell of it is no number; correct it"
        ) from None
    return replace(found, labels=_distinct(path, names) if named else np.arange(width))


# --- Pajek, GraphML, GEXF, JSON -------------------------------------------------------------------------------------


def _node_link(path: Path) -> LinkList:
    """The links of node-link JSON, as networkx and D3 write it: nodes with an `id`, links with both ends."""
    try:
        with text_lines(path) as file:
            data = json.load(file)
        links = data["links"] if "links" in data else data["edges"]
        ids = [str(node["id"]) for node in data["nodes"]]
        ends = [(str(link["source"]), str(link["target"])) for link in links]
        others = dict.fromkeys([key for item in (*data["nodes"], *links) for key in item])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UnmaskError(
            f"file {path.name!r} is no node-link JSON, expected nodes with an id and links with a source and a target"
        ) from None
    said = (*(("direction",) if data.get("directed") else ()), *(key for key in others if key not in _KEYS))
    return _by_name(path, ids, ends, said)


def _pajek(path: Path) -> LinkList:
    with text_lines(path) as file:
        n, given, links, attributes = pajek.parse(file, path.name)
    both = np.array(links, dtype=np.int64).reshape(-1, 2) - 1
    if all(str(number) == label for number, label in given.items()):
        return LinkList(both[:, 0], both[:, 1], np.arange(1, n + 1), n, attributes)
    labels = _distinct(path, [given.get(number, str(number)) for number in range(1, n + 1)])
    return LinkList(both[:, 0], both[:, 1], labels, n, attributes)


def _distinct(path: Path, labels: list[str]) -> NDArray[Any]:
    if len(set(labels)) != len(labels):
        raise UnmaskError(f"file {path.name!r} has two vertices of one label, expected every label once")
    whole = all(_WHOLE.fullmatch(label) and len(label) < 19 and str(int(label)) == label for label in labels)
    return np.array([int(label) for label in labels]) if whole else np.array(labels, dtype=object)


def _graphml(path: Path) -> LinkList:
    try:
        opener = gzip.open if path.name.lower().endswith(".gz") else open
        with cast("IO[bytes]", opener(path, "rb")) as file:
            return _by_name(path, *graphml.parse(file, path.name))
    except UnmaskError:
        raise
    except (ParseError, OSError, EOFError, zlib.error, ValueError, LookupError):  # the last two: unknown encodings
        raise FailedError(f"file {path.name!r} is no whole XML or cannot be read; export it again, as UTF-8") from None


def _by_name(path: Path, ids: list[str], links: list[tuple[str, str]], attributes: tuple[str, ...]) -> LinkList:
    labels = _distinct(path, ids)
    number = {name: node for node, name in enumerate(ids)}
    ends = np.array([(number.get(u, -1), number.get(v, -1)) for u, v in links], dtype=np.int64).reshape(-1, 2)
    if (ends < 0).any():
        edge = int(np.argmax((ends < 0).any(axis=1))) + 1
        raise UnmaskError(f"edge {edge} of {path.name!r} ends at a node that is not in the file; add it")
    return LinkList(ends[:, 0], ends[:, 1], labels, len(ids), attributes)
