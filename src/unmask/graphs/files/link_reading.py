"""Read the links of a file, matrix or graph object as arrays of node numbers."""

from __future__ import annotations

import codecs
import gzip
import logging
import os
import re
import zlib
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast
from xml.etree.ElementTree import ParseError

import duckdb
import numpy as np
import scipy

from unmask.core.errors import FailedError, UnmaskError
from unmask.data.databases import explain_failure, open_database
from unmask.data.encodings import TextFile, open_binary, open_text
from unmask.data.resources import temporary_folder
from unmask.data.source_files import ReadableFile, prepare_file, scan_parquet
from unmask.graphs.files.edge_lists import FORMATS, EdgeListOptions, best_dialect, read_edge_list, read_table
from unmask.graphs.files.formats import name_attributes, read_graphml, read_node_link, read_pajek
from unmask.graphs.files.node_numbers import LinkList

_log = logging.getLogger(__name__)

_NOT_READ = (".gml", ".mtx", ".mm", ".pickle", ".pkl", ".graph", ".metis", ".dot", ".gv", ".graph6", ".sparse6", ".mat")
_XML, _PAJEK, _JSON = (".graphml", ".gexf"), (".net",), (".json",)

_ENGINE_BYTES = max(256, 32 * (os.cpu_count() or 1)) << 20
"""First memory limit of the engine, with 32 MiB for each thread; larger tables go to disk.

Ten million links of a million text ids fit. The limit of `open_database` is the second one, for more ids.
"""


def read_links(source: object, options: EdgeListOptions | None = None) -> LinkList:
    """Read the links of a source, see `SocialGraph.read`.

    Parameters
    ----------
    source : path or object
        File, sparse matrix, networkx or igraph graph.
    options : EdgeListOptions, optional
        Options of a file.

    Returns
    -------
    LinkList
        Links in the order of the source.

    Examples
    --------
    >>> from scipy import sparse
    >>> read_links(scipy.sparse.coo_array(([1, 1], ([0, 2], [1, 0])), shape=(3, 3))).u
    array([0, 2])
    """
    if isinstance(source, str | os.PathLike):
        return _from_path(Path(os.fspath(source)), options or EdgeListOptions())
    if options not in (None, EdgeListOptions()):
        raise UnmaskError("reading options were given, but the source is not a file; remove them")
    if scipy.sparse.issparse(source):
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
    entries = scipy.sparse.coo_array(matrix)
    if entries.shape[0] != entries.shape[1]:
        raise UnmaskError(f"the matrix has shape {entries.shape}, expected a square matrix")
    links = entries.data != 0
    row, column = (ends[links].astype(np.int64) for ends in entries.coords)
    pairs, reverse = (set(zip(u.tolist(), v.tolist(), strict=True)) for u, v in ((row, column), (column, row)))
    attributes = name_attributes(pairs != reverse, bool(np.any(entries.data[links] != 1)))
    return LinkList(row, column, None, entries.shape[0], attributes)


def _from_igraph(graph: Any) -> LinkList:
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    return LinkList(ends[:, 0], ends[:, 1], None, graph.vcount(), name_attributes(_is_directed(graph), False))


def _from_networkx(graph: Any) -> LinkList:
    names = list(graph.nodes())
    number = {name: node for node, name in enumerate(names)}
    ends = np.array([(number[edge[0]], number[edge[1]]) for edge in graph.edges()], dtype=np.int64).reshape(-1, 2)
    labels = np.empty(len(names), dtype=object)
    labels[:] = names
    if all(type(name) is int for name in names):
        labels = labels.astype(np.int64)
    return LinkList(ends[:, 0], ends[:, 1], labels, len(names), name_attributes(_is_directed(graph), False))


def _is_directed(graph: Any) -> bool:
    return bool(hasattr(graph, "is_directed") and graph.is_directed())


# --- files ----------------------------------------------------------------------------------------------------------


def _from_path(path: Path, options: EdgeListOptions) -> LinkList:
    if not path.is_file():
        raise FailedError(f"file {path.name!r} does not exist or is not a file; check the path")
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(_NOT_READ):
        raise UnmaskError(f"file {path.name!r} has an unsupported format; expected {FORMATS}")
    if options.ends is not None and name.endswith((*_XML, *_PAJEK, *_JSON)):
        raise UnmaskError(f"columns were given, but file {path.name!r} has none; remove `source` and `target`")
    if name.endswith(_XML):  # XML declares its encoding
        return _read_xml(path)
    with temporary_folder(None) as folder:
        file = prepare_file(path, folder, encoding=options.encoding)
        if file.note:
            _log.warning("%s", file.note)
        with open_database(folder, memory_limit=_ENGINE_BYTES) as connection, suppress(duckdb.OutOfMemoryException):
            return _from_file(connection, file, folder, options, path.name)
        with open_database(folder) as connection:
            return _from_file(connection, file, folder, options, path.name)


def _from_file(
    connection: duckdb.DuckDBPyConnection, file: ReadableFile, folder: str, options: EdgeListOptions, name: str
) -> LinkList:
    try:
        return _from_engine(connection, file, folder, options)
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:  # its message quotes the line, so it is not shown
        message = f"file {name!r} cannot be read; expected complete text or Parquet"
        raise explain_failure(error, message) from None


def _from_engine(
    connection: duckdb.DuckDBPyConnection, file: ReadableFile, folder: str, options: EdgeListOptions
) -> LinkList:
    if file.text is None:
        relation = f"(select columns(*)::varchar from {scan_parquet([file.path])})"
        return read_table(connection, relation, file.path.name, options)
    name = file.text.name.lower().removesuffix(".gz")
    if name.endswith(_PAJEK) or _begins_with(file.text, rb"\s*\*(vertices|network)\b"):
        with open_text(file.text.path) as stream:
            return read_pajek(stream, file.text.name)
    if name.endswith(_JSON) or _begins_with(file.text, rb"\s*(\{\s*\"|\[\s*[\[{])"):
        with open_text(file.text.path) as stream:
            return read_node_link(stream, file.text.name)
    return read_edge_list(connection, file.text, folder, options)


def _begins_with(file: TextFile, pattern: bytes) -> bool:
    with open_binary(file.path) as stream:
        return re.match(pattern, stream.read(200).removeprefix(codecs.BOM_UTF8), re.IGNORECASE) is not None


def _read_xml(path: Path) -> LinkList:
    try:
        opener = gzip.open if path.name.lower().endswith(".gz") else open
        with cast("IO[bytes]", opener(path, "rb")) as stream:
            return read_graphml(stream, path.name)
    except UnmaskError:
        raise
    except (ParseError, OSError, EOFError, zlib.error, ValueError, LookupError):  # the last two: unknown encodings
        raise FailedError(f"file {path.name!r} is not complete XML or cannot be read; export it as UTF-8") from None


def read_first_rows(path: str | os.PathLike[str]) -> tuple[tuple[str, ...], ...]:
    """Return the first rows of a text file; empty for other files."""
    file = Path(os.fspath(path))
    if file.name.lower().removesuffix(".gz").endswith((*_XML, *_PAJEK, *_JSON)) or not file.is_file():
        return ()
    with temporary_folder(None) as folder:
        text = prepare_file(file, folder).text
        return () if text is None else best_dialect(text).rows
