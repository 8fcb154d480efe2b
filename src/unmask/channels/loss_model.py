"""Cost of an answer for the adversary (a loss), and cost of an output for the user (a distortion)."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.channels.channel import Channel
from unmask.channels.matrix_files import match_names, read_matrix, read_named
from unmask.core.arrays import as_numbers
from unmask.core.errors import UnmaskError
from unmask.core.tolerances import LOSS_TIE
from unmask.measures.losses import LOSS_NAMES, Loss, LossName, as_matrix, check_matrix
from unmask.ranges import Option

Floats = NDArray[np.float64]

LATITUDE, LONGITUDE = ("lat", "latitude"), ("lon", "lng", "long", "longitude")
"""Names of columns of coordinates in degrees."""


@dataclass(frozen=True, eq=False)
class LossModel:
    """Loss of the adversary and distortion of the user.

    Parameters
    ----------
    loss : str or array of shape (n_answers, n_secrets)
        Name of a loss, as in `unmask.measures.losses.decision_problem`: the adversary may answer anything that the loss
        allows. Or a matrix [answer, secret], whose rows are all possible answers.
    coordinates : array of shape (n_secrets,) or (n_secrets, n_dimensions), optional
        Places of the secrets, if the loss is a distance.
    answers : tuple of str, optional
        Names of the rows of a matrix; by default the secrets in their order.
    distortion : array of shape (n_secrets, n_outputs), optional
        Cost of an output for each secret. By default the loss of answering the output, for channels whose outputs are
        answers; for other channels no distortion is known.
    name, unit : str
        Name and unit of the loss, as shown.
    distortion_unit : str
        Unit of the distortion.
    """

    loss: Loss = "hamming"
    coordinates: Floats | None = None
    answers: tuple[str, ...] | None = None
    distortion: Floats | None = None
    name: str = "hamming"
    unit: str = "probability"
    distortion_unit: str = "probability"

    @classmethod
    def named(cls, loss: LossName, points: Floats | None, unit: str | None = None) -> LossModel:
        """Return the model of a named loss; `unit` is that of the coordinates, meters for degrees."""
        if loss == "hamming":
            return cls()
        if loss.startswith("haversine"):
            if unit not in (None, "m"):
                raise UnmaskError(f"the unit is {unit!r}, and {loss} is in meters; leave the unit out")
            unit = "m"
        squared = f"{unit}²" if unit else "squared distance"
        loss_unit = squared if loss == "squared" else unit or "distance"
        return cls(loss, points, name=loss, unit=loss_unit, distortion_unit=loss_unit)

    def matrix(self, n_secrets: int) -> Floats:
        """Return the checked loss of shape (n_answers, n_secrets); the answers of a named loss are the secrets."""
        if isinstance(self.loss, str) or callable(self.loss):
            return as_matrix(self.loss, n_secrets, coordinates=self.coordinates)
        return check_matrix(self.loss, n_secrets)

    def cost(self, channel: Channel) -> Floats | None:
        """Return the checked distortion of shape (n_secrets, n_outputs); None if it is unknown."""
        if self.distortion is None:
            loss = self.matrix(channel.n_x)
            if not np.isfinite(loss).all():
                return None
            is_answer = len(loss) == channel.n_y and compatible(channel.y_labels, self.answers or channel.x_labels)
            return loss.T if is_answer else None
        cost = np.asarray(self.distortion, dtype=np.float64)
        if cost.shape != (channel.n_x, channel.n_y) or not np.all(np.isfinite(cost)) or cost.min() < 0:
            raise UnmaskError(
                f"the distortion has shape {cost.shape}, expected {channel.n_x} secrets x {channel.n_y} outputs, "
                "finite and at least 0"
            )
        return cost

    def expected_distortion(self, channel: Channel) -> float:
        """Return the expected distortion of a channel; NaN if it is unknown."""
        cost = self.cost(channel)
        return math.nan if cost is None else float((channel.dense() * channel.prior[:, None] * cost).sum())


GAIN = "gain"
"""Unit of a gain."""


@dataclass(frozen=True, eq=False)
class GainModel:
    """Gain of the adversary in place of a loss; the best answer minimizes the largest gain less the gain.

    Parameters
    ----------
    gain : array of shape (n_answers, n_secrets)
        Gain of each answer, of any sign. -inf forbids an answer while the secret is possible.
    answers : tuple of str, optional
        Names of the rows; by default the secrets in their order.
    """

    gain: Floats
    answers: tuple[str, ...] | None = None

    @property
    def largest(self) -> float:
        """Return the largest gain."""
        return float(self.gain.max())

    @property
    def has_forbidden(self) -> bool:
        """Return whether an answer is forbidden for a secret."""
        return bool(np.isinf(self.gain).any())

    @property
    def loss_model(self) -> LossModel:
        """Return the loss with the same best answers, largest gain less gain."""
        return LossModel(self.largest - self.gain, answers=self.answers, name=GAIN, unit=GAIN, distortion_unit=GAIN)

    @property
    def rounding(self) -> float:
        """Return the largest expected gain that is only rounding."""
        return LOSS_TIE * float(np.abs(self.gain).max(where=np.isfinite(self.gain), initial=0.0))

    def to_gain(self, loss: float) -> float:
        """Return the gain of an expected loss under `loss_model`."""
        gain = self.largest - loss
        return 0.0 if abs(gain) <= self.rounding else gain


def compatible(labels: tuple[str, ...] | None, other_labels: tuple[str, ...] | None) -> bool:
    """Return whether labels agree; missing labels agree with any."""
    return labels is None or other_labels is None or labels == other_labels


def read_loss_model(
    loss: Annotated[str | os.PathLike[str] | ArrayLike, Option(metavar="NAME|PATH", names=LOSS_NAMES)] = "hamming",
    secrets: tuple[str, ...] | None = None,
    *,
    coordinates: os.PathLike[str] | ArrayLike | None = None,
    answers: tuple[str, ...] | None = None,
    unit: str | None = None,
) -> LossModel:
    """Return the loss model of secrets.

    Parameters
    ----------
    loss : str, path or array of shape (n_answers, n_secrets)
        loss: hamming, squared, absolute, euclidean, haversine, euclidean_medoid, haversine_medoid, or a CSV. The
        columns of a CSV or of a matrix are the secrets, and its rows the answers.
    secrets : tuple of str, optional
        Names of the secrets.
    coordinates : path or array, optional
        CSV of secret and coordinates (default: the secrets are numbers). Or an array
    answers : tuple of str, optional
        Names of the rows of a matrix; by default the secrets.
    unit : str, optional
        unit of the loss, such as m or km
    """
    if isinstance(loss, str) and loss == "hamming":
        return LossModel()
    if isinstance(loss, str) and loss in LOSS_NAMES:
        points = _read_points(loss, secrets, coordinates)
        model = LossModel.named(loss, points, unit)
        if points is None or not loss.endswith("_medoid"):
            return model
        return replace(model, loss=model.matrix(len(points)))  # the answers are the same at every output
    if isinstance(loss, str | os.PathLike):
        model, name = _read_matrix_loss(Path(loss), secrets or ()), Path(loss).stem
    else:
        model, name = LossModel(as_numbers("the loss", loss), answers=answers), "loss"
    return replace(model, name=name, unit=unit or "loss", distortion_unit=unit or "loss")


def _read_matrix_loss(path: Path, secrets: tuple[str, ...]) -> LossModel:
    if not path.suffix and not os.path.lexists(path):
        raise UnmaskError(f"the loss {str(path)!r} is neither a file nor one of {', '.join(LOSS_NAMES)}")
    table, answers = _read_answers(path, secrets)
    return LossModel(table, answers=answers)


def _read_answers(path: Path, secrets: tuple[str, ...]) -> tuple[Floats, tuple[str, ...] | None]:
    """Return the numbers of answers in lines and secrets in columns, and the answers; None if they are the secrets."""
    columns, lines, table, _ = read_matrix(path)
    table = table[:, match_names(secrets, columns, path, "secrets")]
    if set(lines) == set(secrets):
        return table[match_names(secrets, lines, path, "answers")], None
    return table, lines


def read_gain(gain: os.PathLike[str] | ArrayLike, secrets: tuple[str, ...] | None) -> GainModel:
    """Return the gain model of secrets, from a CSV of answers in lines and secrets in columns, or from an array.

    Raise if a gain is not a number or infinite above, or if every answer is forbidden for some secret.
    """
    if isinstance(gain, str | os.PathLike):
        table, answers = _read_answers(Path(gain), secrets or ())
    else:
        table, answers = as_numbers("the gain", gain), None
    if table.ndim != 2 or not (table < math.inf).all():
        raise UnmaskError("the gain has a cell that is not a number, or infinite; expected numbers, -inf to forbid one")
    if not np.isfinite(table).all(axis=1).any():
        raise UnmaskError("every answer has gain -inf for some secret; add an answer that is always allowed")
    return GainModel(table, answers)


def _read_points(
    loss: str, secrets: tuple[str, ...] | None, coordinates: os.PathLike[str] | ArrayLike | None
) -> Floats | None:
    """Return the places of the secrets: all columns of the coordinates, or the numbers in their names."""
    if isinstance(coordinates, str | os.PathLike):
        return read_places(Path(coordinates), secrets or (), loss)[1]
    if coordinates is not None or secrets is None:
        return None if coordinates is None else as_numbers("the coordinates", coordinates)
    try:
        return np.array([[float(name)] for name in secrets])
    except ValueError:
        raise UnmaskError(f"the loss {loss} needs numbers, and a secret is a name; give `coordinates`") from None


def read_places(path: Path, secrets: tuple[str, ...] | None, loss: str) -> tuple[tuple[str, ...], Floats]:
    """Return names and coordinates of secrets, in their order; of all lines of the file without names of secrets."""
    columns, names, points, _ = read_matrix(path)
    row_of = {name: i for i, name in enumerate(names)}
    secrets = names if secrets is None else secrets
    if not set(secrets) <= set(row_of):
        raise UnmaskError(f"{path.name} lacks coordinates of a secret, expected one line for each")
    ordered, degrees = points[[row_of[name] for name in secrets]], _columns_of_degrees(columns)
    if degrees and not loss.startswith("haversine"):
        raise UnmaskError(
            f"{path.name} has latitudes and longitudes, which {loss} would take for lengths; give loss='haversine', or "
            "coordinates in meters"
        )
    return secrets, ordered[:, degrees] if degrees else ordered


def _columns_of_degrees(columns: tuple[str, ...]) -> list[int]:
    """Return the positions of the columns of latitude and longitude, in this order; none if they have other names."""
    names = [name.casefold() for name in columns]
    matches = [[i for i, name in enumerate(names) if name in words] for words in (LATITUDE, LONGITUDE)]
    return [positions[0] for positions in matches] if all(len(positions) == 1 for positions in matches) else []


def read_distortion(distortion: os.PathLike[str] | ArrayLike, channel: Channel) -> Floats:
    """Return the cost of each output for each secret, from an array or from a CSV with the names of both."""
    if isinstance(distortion, str | os.PathLike):
        return read_named(Path(distortion), channel.x_labels or (), channel.y_labels or ())
    return as_numbers("the distortion", distortion)
