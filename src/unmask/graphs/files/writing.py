"""Write a graph as edge list, Parquet, Pajek or GraphML file. Writes are atomic."""

from __future__ import annotations

import gzip
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import FailedError, UnmaskError
from unmask.data.databases import open_database

_EDGES_PER_PIECE = 1_000_000  # edges that are formatted at once
_PARQUET = {".parquet", ".pq"}
_GRAPHML_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    '  <graph edgedefault="undirected">\n'
)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_KINDS = {".txt", ".tsv", ".csv", ".net", ".graphml"} | _PARQUET


def write_graph(
    path: str | PathLike[str],
    *,
    u: NDArray[np.int32],
    v: NDArray[np.int32],
    labels: NDArray[Any] | None,
    n_nodes: int,
    force: bool,
) -> None:
    """Write the edges of a graph, see `SocialGraph.write`.

    Parameters
    ----------
    path : path
        Output file.
    u, v : (n_edges,) int32 array
        Ends of each edge.
    labels : (n_nodes,) array or None
        Names of the nodes; None: node numbers.
    n_nodes : int
        Number of nodes.
    force : bool
        Replace an existing file.
        Replace a file of this name.
    """
    target = Path(path)
    kind = check_suffix(target.name)
    if target.exists() and not force:
        raise UnmaskError(f"output {target.name!r} exists; choose another name, or replace it with force=True")
    n_isolated = n_nodes - len(np.union1d(u, v))
    if n_isolated and kind not in {".net", ".graphml"}:
        raise UnmaskError(
            f"{n_isolated} nodes have no edge, which {kind} cannot store; write .net, or write the other nodes only"
        )
    names = np.arange(n_nodes) if labels is None else labels
    try:
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
            output = Path(folder) / target.name
            _write(output, kind, u, v, names)
            output.replace(target)
    except OSError as error:
        raise FailedError(f"output {target.name!r} cannot be written: {error.strerror or error}") from None


def check_suffix(name: str) -> str:
    """Return the suffix of an output without .gz; raise for an unknown one, and for compressed Parquet."""
    kind = Path(name.lower().removesuffix(".gz")).suffix
    if kind not in _KINDS or (kind in _PARQUET and name.lower().endswith(".gz")):
        raise UnmaskError(
            f"output {name!r} has an unknown suffix; expected .txt, .tsv, .csv, .net, .graphml or .parquet"
        )
    return kind


def _write(path: Path, kind: str, u: NDArray[np.int32], v: NDArray[np.int32], names: NDArray[Any]) -> None:
    if kind in _PARQUET:
        _write_parquet(path, names[u], names[v])
    elif kind == ".graphml":
        _write_text(path, _format_graphml([str(name) for name in names.tolist()], _pieces(u, v)))
    else:
        _write_text(path, _text(kind, u, v, names))


def _write_parquet(path: Path, source: NDArray[Any], target: NDArray[Any]) -> None:
    with open_database() as connection:
        connection.register("links", {"source": source, "target": target})
        name = str(path).replace("'", "''")
        connection.execute(f"copy (select source, target from links) to '{name}' (format parquet)")


def _write_text(path: Path, pieces: Iterator[str]) -> None:
    with path.open("wb") as file:
        if path.name.lower().endswith(".gz"):
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:  # reproducible: no time stamp
                packed.writelines(piece.encode() for piece in pieces)
        else:
            file.writelines(piece.encode() for piece in pieces)


def _text(kind: str, u: NDArray[np.int32], v: NDArray[np.int32], names: NDArray[Any]) -> Iterator[str]:
    if kind == ".net":
        yield f"*vertices {len(names)}\n"
        yield from (f'{number} "{name}"\n' for number, name in enumerate(_checked(names), start=1))
        yield "*edges\n"
        cells, gap = [str(number) for number in range(1, len(names) + 1)], " "
    else:
        yield "source,target\n" if kind == ".csv" else f"# Nodes: {len(names)} Edges: {len(u)}\n"
        plain = names.dtype.kind in "iu"
        cells, gap = [name if plain else f'"{name}"' for name in _checked(names)], "," if kind == ".csv" else "\t"
    for piece in _pieces(u, v):
        yield "".join([f"{cells[a]}{gap}{cells[b]}\n" for a, b in piece])


def _pieces(u: NDArray[np.int32], v: NDArray[np.int32]) -> Iterator[Iterable[tuple[int, int]]]:
    for start in range(0, len(u), _EDGES_PER_PIECE):
        yield zip(
            u[start : start + _EDGES_PER_PIECE].tolist(), v[start : start + _EDGES_PER_PIECE].tolist(), strict=True
        )


def _checked(names: NDArray[Any]) -> list[str]:
    texts = [str(name) for name in names.tolist()]
    if any(not text or '"' in text or "\n" in text or "\r" in text for text in texts):
        raise UnmaskError("a label is empty or has a quotation mark or a line break; write Parquet, or rename it")
    return texts


def _format_graphml(ids: Sequence[str], links: Iterable[Iterable[tuple[int, int]]]) -> Iterator[str]:
    """Yield the text of a GraphML file piece by piece."""
    if any(_NOT_XML.search(name) for name in ids):
        raise UnmaskError("a label has a control character, which XML does not allow; write Parquet, or rename it")
    quoted = [quoteattr(name, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}) for name in ids]
    yield _GRAPHML_HEAD
    yield from (f"    <node id={name}/>\n" for name in quoted)
    for piece in links:
        yield "".join([f"    <edge source={quoted[u]} target={quoted[v]}/>\n" for u, v in piece])
    yield "  </graph>\n</graphml>\n"
