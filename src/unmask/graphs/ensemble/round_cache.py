"""Cache of finished rounds on disk: an interrupted attack resumes from it."""

from __future__ import annotations

import hashlib
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import FailedError
from unmask.data.writing import replace_file
from unmask.graphs.ensemble.bagging import Round, Stage
from unmask.version import __version__

DAMAGED = (
    OSError, EOFError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error, tokenize.TokenError,
)  # fmt: skip
"""Exceptions that numpy raises for a damaged file, depending on the damaged part."""


def load_round(folder: Path, stage: Stage) -> Round | None:
    """Return the cached round of these networks and seeds by this version; None if its file is missing or damaged."""
    try:
        with _file(folder, stage).open("rb") as file, np.load(file) as stored:
            return Round(stage.withheld, stored["pair"], stored["vote"])
    except DAMAGED:
        return None


def save_round(folder: Path, stage: Stage, result: Round) -> None:
    """Write a finished round to the folder, which is created if needed. The write is atomic: files are complete."""
    path = _file(folder, stage)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replace_file(path) as place:
            np.savez_compressed(place, pair=result.pair, vote=result.vote)
    except OSError as error:
        raise FailedError(f"a round cannot be written to folder {folder.name!r}: {error.strerror}") from None


def _file(folder: Path, stage: Stage) -> Path:
    """Return the file of a round; its name is a digest of all inputs of the round."""
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    for array in _inputs(stage):
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return folder / f"round-{digest.hexdigest()}.npz"


def _inputs(stage: Stage) -> Iterator[NDArray[np.generic]]:
    for graph in (stage.release, stage.knowledge.graph):
        yield from (graph.indptr, graph.neighbor, *(() if graph.way is None else (graph.way,)))
    if (alike := stage.knowledge.similarity) is not None:
        yield from (alike.source, alike.target, alike.weight)
    yield from (*stage.knowledge.seeds, stage.withheld)
