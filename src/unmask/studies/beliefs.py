"""What adversaries believe of the releases of a study, kept so that a game prices them without another attack."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.data.writing import explain_write_errors, replace_file
from unmask.measures.success import rank_truth
from unmask.plan import Cell
from unmask.studies.cells import believed

BELIEFS: Final = "beliefs"
"""Folder of a study that holds them, a file for each cell that a game prices."""

_UNREADABLE: Final = (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error)
"""What reading a file raises that is missing or damaged."""

_ARRAYS: Final = ("indptr", "candidate", "log_probability", "unlisted", "n_unlisted", "observation", "weight")


@dataclass(frozen=True, eq=False)
class Faced:
    """A release as an adversary faces it.

    better, tied : (n_targets,) candidates that are believed likelier than the true one, and as likely, itself included;
                   None where the truth is not known
    utility      : what is left of the data, from 0 to 1
    """

    belief: Posterior
    better: NDArray[np.int64] | None
    tied: NDArray[np.int64] | None
    utility: float


def faced(cell: Cell, folder: Path | None = None) -> Faced:
    """The release of a cell as its adversary faces it; of a folder, what is kept there, or is from now on."""
    if folder is None:
        return _nameless(_made(cell))
    path = belief_file(cell, folder)
    try:
        return _read(path)
    except _UNREADABLE:
        keep(cell, folder)
        return _read(path)


def belief_file(cell: Cell, folder: Path) -> Path:
    """Where the belief of a cell is kept, whatever the plan measures of it."""
    return folder / BELIEFS / f"{replace(cell, measures=()).key}.npz"


def keep(cell: Cell, folder: Path) -> None:
    """Attack the release of a cell, and keep what is believed: nobody is known by it.

    Targets, observations and candidates are numbered anew, by nothing but what is believed of them.
    """
    found, path = _nameless(_made(cell)), belief_file(cell, folder)
    truth = {name: array for name in ("better", "tied") if (array := getattr(found, name)) is not None}
    belief: dict[str, Any] = {one.name: getattr(found.belief, one.name) for one in fields(Posterior)}
    kept = {name: belief[name] for name in (*_ARRAYS, "n_candidates", "log_prior", "status")}
    with explain_write_errors(path):
        path.parent.mkdir(exist_ok=True)
    with replace_file(path) as beside:
        np.savez_compressed(beside, utility=found.utility, **kept, **truth)


def _read(path: Path) -> Faced:
    with path.open("rb") as opened, np.load(opened) as file:
        found = {name: file[name] for name in file.files}
    better, tied, utility = (found.pop(name, None) for name in ("better", "tied", "utility"))
    single = {name: found.pop(name).item() for name in ("n_candidates", "log_prior", "status")}
    return Faced(Posterior(**found, **single), better, tied, float(utility))


def _made(cell: Cell) -> Faced:
    """Attacked now; an error where the adversary announces no probabilities, with the reasons that they give."""
    belief, truth, utility = believed(replace(cell, measures=("utility",)))
    if belief.status == "scores":
        refused = getattr(belief, "refused", None)
        why = "calibrate it first" if refused is None else "; ".join(refused) or "nothing tells who is absent"
        who = f"{cell.adversary.name} has scores for {cell.protection.name}"
        raise UnmaskError(f"{who}, and a price needs probabilities: {why}")
    if truth is None:
        return Faced(belief, None, None, utility)
    ranks = rank_truth(belief, truth)
    belief.discard_results()
    return Faced(belief, ranks.n_better, ranks.n_tied, utility)


def _nameless(one: Faced) -> Faced:
    """The same belief under other numbers."""
    belief = one.belief.expand_classes()
    rows = np.lexsort((belief.unlisted, belief.row_length))
    place_of = np.argsort(rows)
    entries = np.lexsort((-belief.log_probability, place_of[belief.row]))
    length = belief.row_length[rows]
    indptr = np.concatenate([[0], np.cumsum(length)])
    row = place_of[belief.observation]
    truth = () if one.better is None or one.tied is None else (one.tied, one.better)
    targets = np.lexsort((*truth, row))
    renumbered = Posterior(
        indptr=indptr,
        candidate=(np.arange(len(entries)) - np.repeat(indptr[:-1], length)).astype(np.int32),
        log_probability=belief.log_probability[entries],
        unlisted=belief.unlisted[rows],
        n_unlisted=belief.n_unlisted[rows],
        observation=row[targets],
        weight=belief.weight[targets],
        n_candidates=belief.n_candidates,
        log_prior=-float(np.log(belief.n_candidates)),  # of one that differs by candidate a game asks nothing
        status=belief.status,
    )
    better, tied = (None if array is None else array[targets] for array in (one.better, one.tied))
    return replace(one, belief=renumbered, better=better, tied=tied)
