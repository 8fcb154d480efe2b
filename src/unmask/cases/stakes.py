"""What an answer costs, as a command or a document says it: a named loss, or a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from unmask.cases.channels import Stakes
from unmask.channels.matrices import NAMED_LOSSES, places, read_matrix
from unmask.errors import UnmaskError
from unmask.measures.losses import LossName


def read_stakes(loss: str, secrets: tuple[str, ...], coordinates: Path | None, unit: str | None) -> Stakes:
    """A named loss over the secrets, or a file: its columns are the secrets, its lines the answers, both by name."""
    if loss == "hamming":
        return Stakes()
    if loss in NAMED_LOSSES:
        meant, measured = Stakes(cast(LossName, loss), _points(loss, secrets, coordinates)), unit or "distance"
        if loss == "squared":
            measured = f"{unit}²" if unit else "squared distance"
    else:
        path, measured = Path(loss), unit or "loss"
        if not path.suffix and not path.exists():
            raise UnmaskError(f"the loss {loss!r} is neither a file nor one of {', '.join(NAMED_LOSSES)}")
        columns, lines, table, _ = read_matrix(path)
        table = table[:, places(secrets, columns, path, "secrets")]
        same = set(lines) == set(secrets)
        meant = Stakes(table[places(secrets, lines, path, "answers")]) if same else Stakes(table, answers=lines)
    return replace(meant, name=Path(loss).stem, unit=measured, distortion_unit=measured)


def _points(loss: str, secrets: tuple[str, ...], coordinates: Path | None) -> NDArray[np.float64]:
    """(n, n_dimensions) where the secrets lie: all columns of the coordinates, or the numbers that they are."""
    if coordinates is None:
        try:
            return np.array([[float(name)] for name in secrets])
        except ValueError:
            raise UnmaskError(f"the loss {loss} needs numbers, and a secret is none; give --coordinates") from None
    _, names, points, _ = read_matrix(coordinates)
    place = {name: i for i, name in enumerate(names)}
    if not set(secrets) <= set(place):
        raise UnmaskError(f"{coordinates.name} lacks coordinates of a secret, expected one line for each")
    return points[[place[name] for name in secrets]]
