"""Study cells of channels: secrets of a grid, of check-ins or of a prior, a mechanism, and an attack on its outputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from unmask.channels.attacks import BayesChannelAttack
from unmask.channels.audit.rows import score_belief
from unmask.channels.channel import Channel
from unmask.channels.datasets import Grid, Visits, read_check_ins
from unmask.channels.evidence.forms import is_check_ins
from unmask.channels.loss_model import LossModel
from unmask.channels.matrix_files import read_channel_file
from unmask.channels.mechanisms import PlanarGaussian, PlanarLaplace, Shrink
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.data.event_logs import is_number, read_lines
from unmask.measures.losses import LossName
from unmask.plan import Cell, Part
from unmask.ranges import Range
from unmask.results import Row
from unmask.schema import list_of
from unmask.scoring import REALIZED, SELF_ASSESSED

Floats = NDArray[np.float64]

CELLS = ("center", "cells", "size")
"""Settings of the grid on which a file of check-ins is read."""

DATASET = {
    "pseudocount": Annotated[float, Range(0)],
    "center": list_of(float),
    "cells": Annotated[int, Range(1)],
    "size": Annotated[float, Range(0, above=True)],
}
ADVERSARY = {"loss": LossName, "observations": Annotated[int, Range(1)], "targets": Annotated[int, Range(1)]}
COLUMNS: tuple[str, ...] = ()
ROLES: Mapping[str, str] = {}
MEASURES = (*(measure.name for measure in SELF_ASSESSED + REALIZED), "utility")


class Secrets(NamedTuple):
    """Cells of a grid or numbers from 0, with their places (in meters or not) and prior.

    Parameters
    ----------
    grid : Grid, optional
        Grid of the cells.
    points : array, optional
        Places or numbers of the secrets; None for names.
    prior : (n_secrets,) array
        Probabilities.
    meters : bool
        True if places are in meters.
    system : Channel, optional
        Channel of a file, whose outputs protections change.
    """

    grid: Grid | None
    points: Floats | None
    prior: Floats
    meters: bool = False
    system: Channel | None = None

    def loss_model(self, loss: LossName) -> LossModel:
        """Return the loss between places or numbers, which is the distortion, too."""
        if self.points is None and loss != "hamming":
            raise UnmaskError(f"the loss {loss} needs numbers, and the secrets of the file are names; leave it out")
        return LossModel.named(loss, self.points, "m" if self.meters else None)


def check(adversary: Part) -> None:
    """Raise an error for attacks on samples, traces or rounds, which a study does not draw."""
    if adversary.use != (only := f"channels.{BayesChannelAttack.__name__}"):
        raise UnmaskError(f"a study attacks channels by {only}; audit samples, traces and rounds as files")


def columns(dataset: Part) -> list[str]:
    """Return the names of the secrets of a file, which must be check-ins, a channel, counts or samples."""
    secrets = load(dataset, Path(dataset.settings["file"]))
    return list(secrets.system.x_labels or ()) if secrets.system is not None else []


def load(dataset: Part, data: Any) -> Secrets:
    """Return the secrets of a grid (uniform), of check-ins (by visits), of a prior, or of a channel in a file."""
    grid_settings = {key: dataset.settings[key] for key in CELLS if key in dataset.settings}
    if isinstance(data, Path) and is_check_ins(read_lines(data)):
        center = grid_settings.get("center")
        if center is not None and len(center) != 2:
            raise UnmaskError(f"center has {len(center)} numbers, expected a latitude and a longitude")
        data = read_check_ins(data, **grid_settings)
    elif grid_settings:
        raise UnmaskError(f"{next(iter(grid_settings))} is a setting of check-ins, a file with user,time,lat,lon")
    if isinstance(data, Path):
        system = read_channel_file(data)
        names = system.x_labels or ()
        points = np.array(names, dtype=np.float64) if all(map(is_number, names)) else None
        return Secrets(None, points, system.prior, system=system)
    if isinstance(data, Visits):
        prior = data.prior(pseudocount=float(dataset.settings.get("pseudocount", 0.0)))
        return Secrets(data.grid, data.grid.points, prior, meters=True)
    if isinstance(data, Grid):
        return Secrets(data, data.points, np.full(len(data), 1 / len(data)), meters=True)
    prior = np.asarray(data, dtype=np.float64)
    return Secrets(None, np.arange(len(prior), dtype=np.float64), prior)


def protect(population: Secrets, protection: Any, _rng: np.random.Generator) -> Channel:
    """Return the channel of the mechanism; without one the identity, or the channel of the file.

    A mechanism changes the outputs of the channel of a file.
    """
    system = population.system
    if system is not None:
        return system if protection is None else _change_outputs(system, protection)
    if protection is None:
        return Channel(np.eye(len(population.prior)), population.prior)
    if isinstance(protection, PlanarLaplace | PlanarGaussian | Shrink):
        if population.grid is None:
            raise UnmaskError(f"{type(protection).__name__} moves points of a grid, and these secrets have no places")
        return protection.channel(population.grid, population.prior)
    return cast(Channel, protection.channel(population.prior))


def _change_outputs(system: Channel, protection: Any) -> Channel:
    """Return the cascade of the channel of a file and a mechanism between its outputs."""
    if isinstance(protection, PlanarLaplace | PlanarGaussian | Shrink):
        raise UnmaskError(f"{type(protection).__name__} moves points of a grid, and outputs of a file have no places")
    mechanism = cast(Channel, protection.channel(system.p_y))
    names = mechanism.y_labels or (system.y_labels if mechanism.n_x == mechanism.n_y else None)
    return system.then(Channel(mechanism.p_y_given_x, y_labels=names))


def attack(cell: Cell, population: Secrets, released: Channel, attack: Any) -> list[Row]:
    """Return the rows of a cell: of the exact belief for one observation, else of drawn secrets."""
    settings = cell.adversary.settings
    model = population.loss_model(settings.get("loss", "hamming"))
    belief, truth = released.posterior(), None
    n_seen = settings.get("observations", 1)
    if n_seen > 1 or "targets" in settings:
        belief, truth = _attack_drawn_secrets(cell, population, released, attack)
    release, adversary = cell.protection.name, cell.adversary.name
    rows = list(score_belief(belief, model, release=release, adversary=adversary, truth=truth, wants=cell.wants))
    if cell.wants("utility"):
        cost = model.expected_distortion(released)
        note = "outputs are no secrets" if math.isnan(cost) else "expected distortion, negative"
        rows.append(cell.row("utility", model.name, -cost, prior=0.0, n=released.n_x, note=note))
    return rows


def _attack_drawn_secrets(cell: Cell, population: Secrets, released: Channel, attack: Any) -> tuple[Posterior, Truth]:
    """Draw secrets and several outputs of each; return the belief about them and the secrets."""
    settings = cell.adversary.settings
    secret = cell.rng("secrets").choice(np.arange(released.n_x), size=settings.get("targets", 1000), p=population.prior)
    repeated = np.repeat(secret[:, None], settings.get("observations", 1), axis=1)
    return attack(released.sample(repeated, rng=cell.rng("looks", cell.protection.content)), released), Truth(secret)


def believed(cell: Cell, population: Secrets, released: Channel, attack: Any) -> tuple[Posterior, Truth, float]:
    """Return the belief about 1,000 drawn secrets, or `targets`, with the truth and the utility.

    Utility is 1 - expected distortion / that of the best answer that is the same for all secrets.
    """
    model = population.loss_model(cell.adversary.settings.get("loss", "hamming"))
    cost = model.expected_distortion(released)
    if math.isnan(cost):
        raise UnmaskError(f"what {cell.protection.name} shows are no secrets, so that its utility is not known")
    guessing = float((model.matrix(released.n_x) @ released.prior).min())
    return *_attack_drawn_secrets(cell, population, released, attack), 1.0 - cost / guessing if guessing else 1.0
