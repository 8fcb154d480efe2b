"""Mechanisms by name, such as `Crowds:n=20:submit=0.3`, and their channels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from unmask.channels.channel import Channel
from unmask.channels.datasets import PoolMix
from unmask.channels.loss_model import read_places
from unmask.channels.matrix_files import Prior
from unmask.channels.mechanisms import Coin, Generalize, PlanarGaussian, PlanarLaplace, Shrink
from unmask.core.errors import UnmaskError
from unmask.protection_specs import Spec

Floats = NDArray[np.float64]


class NamedMechanism(NamedTuple):
    """A mechanism and the text that describes it."""

    text: str
    mechanism: Any

    @property
    def expected_delay(self) -> float | None:
        """Return the expected delay of a message; None for mechanisms that do not delay."""
        return getattr(self.mechanism, "expected_delay", None)


def is_mechanism(source: os.PathLike[str] | str) -> bool:
    """Return whether a text names a mechanism of the catalog, or has parameters, and no file has that name.

    >>> is_mechanism("Crowds:n=20:submit=0.3"), is_mechanism("crowds.csv")
    (True, False)
    """
    from unmask.catalog import examples  # here: it imports this package

    name, _, parameters = _without_folder(source).partition(":")
    is_known = f"channels.{name.removeprefix('channels.')}" in examples("protections", ["channels"])
    return ("=" in parameters or is_known) and not Path(source).exists()


def parse_mechanism(source: os.PathLike[str] | str) -> NamedMechanism:
    """Return the mechanism that a text NAME:KEY=VALUE describes.

    Parameters
    ----------
    source : str or path
        Text such as "channels.Crowds:n=20:submit=0.3"; the domain may be left out.

    Raises
    ------
    UnmaskError
        If there is no such mechanism or parameter, or a parameter is missing or out of range.

    Examples
    --------
    >>> parse_mechanism("PoolMix:batch=10:pool=5").mechanism
    PoolMix(batch=10, pool=5)
    """
    from unmask.catalog import make  # here: it imports all measures

    text = _without_folder(source)
    return NamedMechanism(text.removeprefix("channels."), make(Spec.parse(text), "protections", "channels", None))


def make_channel(source: NamedMechanism, prior: Prior | None, coordinates: Path | None) -> Channel:
    """Return the channel of a mechanism for the secrets of a prior or of coordinates.

    Parameters
    ----------
    source : NamedMechanism
        The mechanism.
    prior : Prior, optional
        Names and probabilities of the secrets; by default numbers from 0, equally likely.
    coordinates : path, optional
        CSV of places, which mechanisms of the plane need.

    Raises
    ------
    UnmaskError
        If the mechanism needs a prior or places, or has another number of secrets.
    """
    names = None if prior is None else prior.secrets
    probability = None if prior is None else prior.probability
    channel = _channel(source.mechanism, names, probability, coordinates)
    if isinstance(source.mechanism, PlanarLaplace | PlanarGaussian):
        return channel
    names = names or tuple(map(str, range(channel.n_x)))
    outputs = channel.y_labels if isinstance(source.mechanism, Generalize) else names
    return Channel(channel.p_y_given_x, channel.prior, x_labels=names, y_labels=outputs)


def _channel(mechanism: Any, names: tuple[str, ...] | None, prior: Floats | None, coordinates: Path | None) -> Channel:
    kind = type(mechanism).__name__
    if isinstance(mechanism, Shrink):
        raise UnmaskError("Shrink moves places of a grid; use it in a study of channels.grid")
    if isinstance(mechanism, PlanarLaplace | PlanarGaussian):
        if coordinates is None:
            raise UnmaskError(f"{kind} moves places; give them with `coordinates` FILE")
        secrets, points = read_places(coordinates, names, kind)
        if points.shape[1] > 2:
            raise UnmaskError(f"{coordinates.name} has {points.shape[1]} coordinates, expected one or two in meters")
        channel = mechanism.channel(np.pad(points, ((0, 0), (0, 2 - points.shape[1]))), prior)
        return Channel(channel.p_y_given_x, channel.prior, x_labels=secrets, y_labels=secrets)
    if isinstance(mechanism, Coin) and prior is None:
        raise UnmaskError("Coin shows the likeliest secret; give the secrets with `prior` FILE")
    if prior is not None and not isinstance(mechanism, Coin | PoolMix) and len(prior) != (n := mechanism.channel().n_x):
        raise UnmaskError(
            f"{kind} has {n:,} secrets and the data have {len(prior):,}; give {kind} {len(prior):,} secrets"
        )
    return cast(Channel, mechanism.channel(prior))


def _without_folder(source: os.PathLike[str] | str) -> str:
    """Return the text of a mechanism in a document, which was joined to the document's folder."""
    folder, separator, parameters = os.fspath(source).partition(":")
    return f"{Path(folder).name}{separator}{parameters}"
