"""Edge lists, Parquet, Pajek and GraphML files of a graph, written whole or not at all."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import FailedError, UnmaskError
from unmask.files import engine
from unmask.graphs import graphml

_CHUNK = 1_000_000  # edges a piece of text
_PARQUET = {".parquet", ".pq"}
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
    """Write the edges u - v under the nodes' labels, as `SocialGraph.write` describes."""
    target = Path(path)
    kind = kind_of(target.name)
    if target.exists() and not force:
        raise UnmaskError(f"output {target.name!r} exists; choose another name or overwrite it (force=True)")
    alone = n_nodes - len(np.union1d(u, v))
    if alone and kind not in {".net", ".graphml"}:
        raise UnmaskError(f"{alone} nodes have no edge, which {kind} cannot hold; write .net, or take the others only")
    names = np.arange(n_nodes) if labels is None else labels
    try:
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
            whole = Path(folder) / target.name
            _write(whole, kind, u, v, names)
            whole.replace(target)
    except OSError as error:
        raise FailedError(f"output {target.name!r} cannot be written: {error.strerror or error}") from None


def kind_of(name: str) -> str:
    """The suffix that says how the file is written; texts may be packed (.gz), Parquet is by itself."""
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
        _write_text(path, graphml.text([str(name) for name in names.tolist()], _pieces(u, v)))
    else:
        _write_text(path, _text(kind, u, v, names))


def _write_parquet(path: Path, source: NDArray[Any], target: NDArray[Any]) -> None:
    with engine() as connection:
        connection.register("links", {"source": source, "target": target})
        name = str(path).replace("'", "''")
        connection.execute(f"copy (select source, target from links) to '{name}' (format parquet)")


def _write_text(path: Path, pieces: Iterator[str]) -> None:
    with path.open("wb") as file:
        if path.name.lower().endswith(".gz"):
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:  # the same bytes at any time
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
    for start in range(0, len(u), _CHUNK):
        yield zip(u[start : start + _CHUNK].tolist(), v[start : start + _CHUNK].tolist(), strict=True)


def _checked(names: NDArray[Any]) -> list[str]:
    texts = [str(name) for name in names.tolist()]
    if any(not text or '"' in text or "\n" in text or "\r" in text for text in texts):
        raise UnmaskError("a label is empty or holds a quotation mark or a line break; write Parquet, or rename it")
    return texts
