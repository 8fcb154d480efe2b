"""Beliefs of adversaries about the releases of a study, stored so that a game needs no second attack."""

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
"""Subfolder of a study for beliefs, with one file for each cell that a game prices."""

_UNREADABLE: Final = (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error)
"""Exceptions from a missing or damaged file."""

_ARRAYS: Final = ("indptr", "candidate", "log_probability", "unlisted", "n_unlisted", "observation", "weight")


@dataclass(frozen=True, eq=False)
class AttackedRelease:
    """An adversary's belief about a release.

    better, tied : (n_targets,) number of candidates that are likelier than the true one, and equally likely, including
                   the true one; None if the truth is unknown
    utility      : utility of the release, from 0 to 1
    """

    belief: Posterior
    better: NDArray[np.int64] | None
    tied: NDArray[np.int64] | None
    utility: float


def load_or_attack(cell: Cell, folder: Path | None = None) -> AttackedRelease:
    """Return the attacked release of a cell; with a folder, load the stored belief, or attack and store it."""
    if folder is None:
        return _remove_identities(_attack_release(cell))
    path = belief_file(cell, folder)
    try:
        return _read(path)
    except _UNREADABLE:
        store_belief(cell, folder)
        return _read(path)


def belief_file(cell: Cell, folder: Path) -> Path:
    """Return the path of a cell's belief; it does not depend on the measures of the plan."""
    return folder / BELIEFS / f"{replace(cell, measures=()).key}.npz"


def store_belief(cell: Cell, folder: Path) -> None:
    """Attack the release of a cell, and store the belief without identities.

    Targets, observations and candidates are renumbered by the belief only.
    """
    release, path = _remove_identities(_attack_release(cell)), belief_file(cell, folder)
    truth = {name: array for name in ("better", "tied") if (array := getattr(release, name)) is not None}
    belief: dict[str, Any] = {field.name: getattr(release.belief, field.name) for field in fields(Posterior)}
    arrays = {name: belief[name] for name in (*_ARRAYS, "n_candidates", "log_prior", "status")}
    with explain_write_errors(path):
        path.parent.mkdir(exist_ok=True)
    with replace_file(path) as temporary:
        np.savez_compressed(temporary, utility=release.utility, **arrays, **truth)


def _read(path: Path) -> AttackedRelease:
    with path.open("rb") as opened, np.load(opened) as file:
        arrays = {name: file[name] for name in file.files}
    better, tied, utility = (arrays.pop(name, None) for name in ("better", "tied", "utility"))
    single = {name: arrays.pop(name).item() for name in ("n_candidates", "log_prior", "status")}
    return AttackedRelease(Posterior(**arrays, **single), better, tied, float(utility))


def _attack_release(cell: Cell) -> AttackedRelease:
    """Attack the release of a cell; raise with the reasons if the adversary announces no probabilities."""
    belief, truth, utility = believed(replace(cell, measures=("utility",)))
    if belief.status == "scores":
        refused = getattr(belief, "refused", None)
        reason = "calibrate it first" if refused is None else "; ".join(refused) or "nothing tells who is absent"
        subject = f"{cell.adversary.name} has scores for {cell.protection.name}"
        raise UnmaskError(f"{subject}, and a price needs probabilities: {reason}")
    if truth is None:
        return AttackedRelease(belief, None, None, utility)
    ranks = rank_truth(belief, truth)
    belief.discard_results()
    return AttackedRelease(belief, ranks.n_better, ranks.n_tied, utility)


def _remove_identities(release: AttackedRelease) -> AttackedRelease:
    """Return the same belief with new numbers for targets, observations and candidates."""
    belief = release.belief.expand_classes()
    rows = np.lexsort((belief.unlisted, belief.row_length))
    place_of = np.argsort(rows)
    entries = np.lexsort((-belief.log_probability, place_of[belief.row]))
    length = belief.row_length[rows]
    indptr = np.concatenate([[0], np.cumsum(length)])
    row = place_of[belief.observation]
    truth = () if release.better is None or release.tied is None else (release.tied, release.better)
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
        log_prior=-float(np.log(belief.n_candidates)),  # uniform: a game does not use a prior by candidate
        status=belief.status,
    )
    better, tied = (None if array is None else array[targets] for array in (release.better, release.tied))
    return replace(release, belief=renumbered, better=better, tied=tied)
