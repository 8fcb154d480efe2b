"""From a file of links, a matrix or a graph object to two arrays of node numbers and what the nodes are called."""

from __future__ import annotations

import codecs
import gzip
import json
import logging
import os
import re
import zlib
from pathlib import Path
from typing import IO, Any, cast
from xml.etree.ElementTree import ParseError

import duckdb
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unmask.core.errors import FailedError, UnmaskError
from unmask.data import TextFile, open_binary, open_text
from unmask.data.resources import temporary_folder
from unmask.data.source_files import ReadableFile, prepare_file, scan_parquet
from unmask.databases import failure
from unmask.files import engine
from unmask.graphs import graphml, pajek
from unmask.graphs.column_words import is_weight
from unmask.graphs.edge_lists import FORMATS, EdgeListOptions, best_dialect, read_edge_list, read_table
from unmask.graphs.node_numbers import LinkList, describe_zeros, is_zero

_log = logging.getLogger(__name__)

_NOT_READ = (".gml", ".mtx", ".mm", ".pickle", ".pkl", ".graph", ".metis", ".dot", ".gv", ".graph6", ".sparse6", ".mat")
_XML, _PAJEK, _JSON = (".graphml", ".gexf"), (".net",), (".json",)
_ENGINE_BYTES = 512 << 20  # more links are spilled
_WHOLE = re.compile(r"-?[0-9]+")
_NO_ID = re.compile("DOUBLE|FLOAT|DECIMAL|DATE|TIME|BOOLEAN|INTERVAL")  # types
_KEYS = ("id", "source", "target", "key")  # of nodes and links in JSON


def read_links(source: object, options: EdgeListOptions | None = None) -> LinkList:
    """Return the links of a source, as `SocialGraph.read` describes.

    >>> from scipy import sparse
    >>> read_links(sparse.coo_array(([1, 1], ([0, 2], [1, 0])), shape=(3, 3))).u
    array([0, 2])
    """
    if isinstance(source, str | os.PathLike):
        return _from_path(Path(os.fspath(source)), options or EdgeListOptions())
    if options not in (None, EdgeListOptions()):
        raise UnmaskError("options of reading are given, expected for a file only")
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


def _from_path(path: Path, options: EdgeListOptions) -> LinkList:
    if not path.is_file():
        raise FailedError(f"file {path.name!r} does not exist or is no file; check the path")
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(_NOT_READ):
        raise UnmaskError(f"file {path.name!r} is of a kind that is not read; expected {FORMATS}")
    if options.ends is not None and name.endswith((*_XML, *_PAJEK, *_JSON)):
        raise UnmaskError(f"columns were given, and file {path.name!r} has none; leave --source and --target out")
    if name.endswith(_XML):  # has an encoding of its own
        return _graphml(path)
    with temporary_folder(None) as folder, engine(memory_limit=_ENGINE_BYTES) as connection:
        file = prepare_file(path, folder, encoding=options.encoding)
        if file.note:
            _log.warning("%s", file.note)
        try:
            return _from_file(connection, file, folder, options)
        except duckdb.Error as error:  # the engine's own message quotes the line
            otherwise = f"file {path.name!r} cannot be read; expected whole text or Parquet"
            raise failure(error, otherwise) from None


def _from_file(
    connection: duckdb.DuckDBPyConnection, file: ReadableFile, folder: str, options: EdgeListOptions
) -> LinkList:
    if file.text is None:
        relation = f"(select columns(*)::varchar from {scan_parquet([file.path])})"
        return read_table(connection, relation, file.path.name, options)
    name = file.text.name.lower().removesuffix(".gz")
    if name.endswith(_PAJEK) or _begins(file.text, rb"\s*\*(vertices|network)\b"):
        return _pajek(file.text)
    if name.endswith(_JSON) or _begins(file.text, rb"\s*(\{\s*\"|\[\s*[\[{])"):
        return _node_link(file.text)
    return read_edge_list(connection, file.text, folder, options)


def _begins(file: TextFile, pattern: bytes) -> bool:
    with open_binary(file.path) as stream:
        return re.match(pattern, stream.read(200).removeprefix(codecs.BOM_UTF8), re.IGNORECASE) is not None


def first_rows(path: str | os.PathLike[str]) -> tuple[tuple[str, ...], ...]:
    """Return the first rows of a text file; none of another one."""
    named = Path(os.fspath(path))
    if named.name.lower().removesuffix(".gz").endswith((*_XML, *_PAJEK, *_JSON)) or not named.is_file():
        return ()
    with temporary_folder(None) as folder:
        text = prepare_file(named, folder).text
        return () if text is None else best_dialect(text).rows


# --- Pajek, GraphML, GEXF, JSON -------------------------------------------------------------------------------------


def _node_link(source: TextFile) -> LinkList:
    """The links of node-link JSON, as networkx and D3 write it: nodes with an `id`, links with both ends."""
    try:
        with open_text(source.path) as file:
            data = json.load(file)
        links = data["links"] if "links" in data else data["edges"]
        zeros = [any(is_zero(value) for key, value in link.items() if is_weight(key)) for link in links]
        ids = [_text_of(node["id"]) for node in data["nodes"]]
        ends = [(_text_of(link["source"]), _text_of(link["target"])) for link in links]
        others = dict.fromkeys([key for item in (*data["nodes"], *links) for key in item])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UnmaskError(
            f"file {source.name!r} is no node-link JSON, expected nodes with an id and links with a source and a target"
        ) from None
    said = (*(("direction",) if data.get("directed") else ()), *(key for key in others if key not in _KEYS))
    edges = [pair for pair, zero in zip(ends, zeros, strict=True) if not zero]
    return _by_name(source.path, ids, edges, said, sum(zeros))


def _text_of(name: object) -> str:
    """Return an id as text: 12.0 is 12, and a missing one is none."""
    if name is None:
        raise ValueError
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def _pajek(source: TextFile) -> LinkList:
    with open_text(source.path) as file:
        n, given, links, attributes, n_zero = pajek.parse(file, source.name)
    both = np.array(links, dtype=np.int64).reshape(-1, 2) - 1
    if all(str(number) == label for number, label in given.items()):
        return LinkList(both[:, 0], both[:, 1], np.arange(1, n + 1), n, attributes, describe_zeros(n_zero))
    labels = _distinct(source.path, [given.get(number, str(number)) for number in range(1, n + 1)])
    return LinkList(both[:, 0], both[:, 1], labels, n, attributes, describe_zeros(n_zero))


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


def _by_name(
    path: Path, ids: list[str], links: list[tuple[str, str]], attributes: tuple[str, ...], n_zero: int
) -> LinkList:
    labels = _distinct(path, ids)
    number = {name: node for node, name in enumerate(ids)}
    ends = np.array([(number.get(u, -1), number.get(v, -1)) for u, v in links], dtype=np.int64).reshape(-1, 2)
    if (ends < 0).any():
        edge = int(np.argmax((ends < 0).any(axis=1))) + 1
        raise UnmaskError(f"edge {edge} of {path.name!r} ends at a node that is not in the file; add it")
    return LinkList(ends[:, 0], ends[:, 1], labels, len(ids), attributes, describe_zeros(n_zero))
