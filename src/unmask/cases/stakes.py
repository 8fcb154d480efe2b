"""What an answer costs the adversary, by a loss, and what a channel costs the user, by a distortion."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.channels import Channel
from unmask.channels.matrix_files import match_names, read_matrix, read_named
from unmask.core.errors import UnmaskError
from unmask.measures.losses import LOSS_NAMES, Loss, LossName, as_matrix

Floats = NDArray[np.float64]

LATITUDE, LONGITUDE = ("lat", "latitude"), ("lon", "lng", "long", "longitude")
"""What columns of coordinates are called that are degrees."""


@dataclass(frozen=True, eq=False)
class Stakes:
    """What an answer costs the adversary, and what a mechanism costs the user.

    loss            : a name, as in `unmask.measures.losses.decision_problem`: the adversary may then answer anything
                      that the loss allows; or (n_answers, n_x) d[answer, truth], whose lines are all the answers
    coordinates     : (n_x,) or (n_x, n_dimensions), where the loss is a distance
    answers         : names of the lines of a matrix; the secrets, in their order, when left out
    distortion      : (n_x, n_y) cost of showing y for x. When left out it is the loss of answering y, for channels
                      whose outputs are the answers of a matrix, or the secrets; for others none is known, and no limit.
    name, unit      : of the loss, as shown
    distortion_unit : of the distortion
    """

    loss: Loss = "hamming"
    coordinates: Floats | None = None
    answers: tuple[str, ...] | None = None
    distortion: Floats | None = None
    name: str = "hamming"
    unit: str = "probability"
    distortion_unit: str = "probability"

    @classmethod
    def named(cls, loss: LossName, points: Floats | None, unit: str | None = None) -> Stakes:
        """Those of a loss by its name; unit : of the coordinates, m for degrees, whatever they are called."""
        if loss == "hamming":
            return cls()
        if loss.startswith("haversine"):
            if unit not in (None, "m"):
                raise UnmaskError(f"the unit is {unit!r}, and {loss} is in meters; leave the unit out")
            unit = "m"
        of = {"squared": f"{unit}²" if unit else "squared distance"}
        measured = of.get(loss, unit or "distance")
        return cls(loss, points, name=loss, unit=measured, distortion_unit=measured)

    def matrix(self, n_x: int) -> Floats:
        """(n_answers, n_x) the loss, checked; of a named loss the answers are the secrets, which is not all of them."""
        return as_matrix(self.loss, n_x, coordinates=self.coordinates)

    def cost(self, channel: Channel) -> Floats | None:
        """(n_x, n_y) the distortion, checked; None where none is known."""
        if self.distortion is None:
            loss = self.matrix(channel.n_x)
            shown = len(loss) == channel.n_y and alike(channel.y_labels, self.answers or channel.x_labels)
            return loss.T if shown else None
        cost = np.asarray(self.distortion, dtype=np.float64)
        if cost.shape != (channel.n_x, channel.n_y) or not np.all(np.isfinite(cost)) or cost.min() < 0:
            raise UnmaskError(
                f"the distortion has shape {cost.shape}, expected {channel.n_x} secrets x {channel.n_y} outputs, "
                "finite and at least 0"
            )
        return cost

    def distorted(self, channel: Channel) -> float:
        """The expected distortion of a channel; nan where none is known."""
        cost = self.cost(channel)
        return math.nan if cost is None else float((channel.dense() * channel.prior[:, None] * cost).sum())


def alike(some: tuple[str, ...] | None, others: tuple[str, ...] | None) -> bool:
    """Whether names agree, where both are given."""
    return some is None or others is None or some == others


def stakes_of(
    loss: str | os.PathLike[str] | ArrayLike,
    secrets: tuple[str, ...] | None,
    *,
    coordinates: os.PathLike[str] | ArrayLike | None = None,
    answers: tuple[str, ...] | None = None,
    unit: str | None = None,
) -> Stakes:
    """What a loss says of secrets.

    loss        : a name, see `unmask.measures.losses.decision_problem`; a CSV whose columns are the secrets and whose
                  lines are the answers, both by name; or (n_answers, n_secrets) itself
    coordinates : where the secrets lie, or a CSV of it; the numbers that they are when left out
    answers     : names of the lines of a matrix; the secrets when left out
    unit        : of the loss, such as m or km
    """
    if isinstance(loss, str) and loss == "hamming":
        return Stakes()
    if isinstance(loss, str) and loss in LOSS_NAMES:
        points = _points(loss, secrets, coordinates)
        found = Stakes.named(loss, points, unit)
        if points is None or not loss.endswith("_medoid"):
            return found
        return replace(found, loss=found.matrix(len(points)))  # the answers are the same at every output
    if isinstance(loss, str | os.PathLike):
        found, name = _of_file(Path(loss), secrets or ()), Path(loss).stem
    else:
        found, name = Stakes(numbers_of("loss", loss), answers=answers), "loss"
    return replace(found, name=name, unit=unit or "loss", distortion_unit=unit or "loss")


def _of_file(path: Path, secrets: tuple[str, ...]) -> Stakes:
    if not path.suffix and not os.path.lexists(path):
        raise UnmaskError(f"the loss {str(path)!r} is neither a file nor one of {', '.join(LOSS_NAMES)}")
    columns, lines, table, _ = read_matrix(path)
    table = table[:, match_names(secrets, columns, path, "secrets")]
    same = set(lines) == set(secrets)
    return Stakes(table[match_names(secrets, lines, path, "answers")]) if same else Stakes(table, answers=lines)


def _points(
    loss: str, secrets: tuple[str, ...] | None, coordinates: os.PathLike[str] | ArrayLike | None
) -> Floats | None:
    """(n, n_dimensions) where the secrets lie: all columns of the coordinates, or the numbers that they are."""
    if isinstance(coordinates, str | os.PathLike):
        return _placed(Path(coordinates), secrets or (), loss)
    if coordinates is not None or secrets is None:
        return None if coordinates is None else numbers_of("coordinates", coordinates)
    try:
        return np.array([[float(name)] for name in secrets])
    except ValueError:
        raise UnmaskError(f"the loss {loss} needs numbers, and a secret is none; give --coordinates") from None


def _placed(path: Path, secrets: tuple[str, ...], loss: str) -> Floats:
    columns, names, points, _ = read_matrix(path)
    place = {name: i for i, name in enumerate(names)}
    if not set(secrets) <= set(place):
        raise UnmaskError(f"{path.name} lacks coordinates of a secret, expected one line for each")
    found, globe = points[[place[name] for name in secrets]], _on_globe(columns)
    if globe and not loss.startswith("haversine"):
        raise UnmaskError(
            f"{path.name} has latitudes and longitudes, which {loss} would take for lengths; give --loss haversine, or "
            "coordinates in meters"
        )
    return found[:, globe] if globe else found


def _on_globe(columns: tuple[str, ...]) -> list[int]:
    """Which columns are called latitude and longitude, in this order; none where they are not called so."""
    called = [name.casefold() for name in columns]
    found = [[i for i, name in enumerate(called) if name in names] for names in (LATITUDE, LONGITUDE)]
    return [one[0] for one in found] if all(len(one) == 1 for one in found) else []


def distortion_of(given: os.PathLike[str] | ArrayLike, channel: Channel) -> Floats:
    """(n_secrets, n_outputs) what showing an output costs the user, or a CSV of it, by the names of both."""
    if isinstance(given, str | os.PathLike):
        return read_named(Path(given), channel.x_labels or (), channel.y_labels or ())
    return numbers_of("distortion", given)


def numbers_of(what: str, given: ArrayLike) -> Floats:
    """An array of numbers."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise UnmaskError(f"the {what} is no array of numbers; give one, or a file") from None
