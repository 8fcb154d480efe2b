"""Rounds of an ensemble that are kept on disk: after an interruption those that were finished are not run again."""

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
from unmask.graphs.attacks.rounds import Round, Stage
from unmask.version import __version__
from unmask.writing import whole

DAMAGED = (
    OSError, EOFError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error, tokenize.TokenError,
)  # fmt: skip
"""What numpy raises of a damaged file, by the place of the damage."""


def kept(folder: Path, stage: Stage) -> Round | None:
    """The round of these networks and seeds, if it was finished before by this version; None if it was not, or if its
    file is damaged.
    """
    try:
        with _file(folder, stage).open("rb") as file, np.load(file) as stored:
            return Round(stage.withheld, stored["pair"], stored["vote"])
    except DAMAGED:
        return None


def keep(folder: Path, stage: Stage, found: Round) -> None:
    """Write a finished round into the folder, which is made if there is none, in one step: a file is there whole or not
    at all.
    """
    path = _file(folder, stage)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with whole(path) as place:
            np.savez_compressed(place, pair=found.pair, vote=found.vote)
    except OSError as error:
        raise FailedError(f"a round cannot be kept in folder {folder.name!r}: {error.strerror}") from None


def _file(folder: Path, stage: Stage) -> Path:
    """Named by all that a round depends on."""
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    for one in _inputs(stage):
        digest.update(f"{one.dtype} {one.shape}".encode())
        digest.update(np.ascontiguousarray(one).data)
    return folder / f"round-{digest.hexdigest()}.npz"


def _inputs(stage: Stage) -> Iterator[NDArray[np.generic]]:
    for graph in (stage.release, stage.knowledge.graph):
        yield from (graph.indptr, graph.neighbor, *(() if graph.way is None else (graph.way,)))
    if (alike := stage.knowledge.similarity) is not None:
        yield from (alike.source, alike.target, alike.weight)
    yield from (*stage.knowledge.seeds, stage.withheld)
