"""Cells of channels: a secret is shown through a mechanism, and estimated under a loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from unmask.audit import REALIZED, SELF_ASSESSED, audit
from unmask.cases.rows import plain_row
from unmask.channels import Channel, PlanarGaussian, PlanarLaplace, Shrink
from unmask.channels.datasets import Grid, Visits
from unmask.errors import UnmaskError
from unmask.measures import estimation_error, realized_error
from unmask.measures.losses import LossName, as_matrix
from unmask.plan import Cell, Part
from unmask.results import Row
from unmask.truth import Truth

DATASET = ("pseudocount",)
ADVERSARY = ("loss", "observations", "targets")
COLUMNS: tuple[str, ...] = ()
ROLES: Mapping[str, str] = {}
BAYES = "channels.BayesChannelAttack"
MEASURES = (*(measure.name for measure in SELF_ASSESSED + REALIZED), "utility")


class Space(NamedTuple):
    """The secrets: cells of a grid or numbers from 0, where they lie (in meters, or not), and how likely each is."""

    grid: Grid | None
    points: NDArray[np.float64]
    prior: NDArray[np.float64]
    meters: bool = False


def check(adversary: Part) -> None:
    """Refuse losses that do not exist, observations that are none, and attacks that know more than a channel."""
    if adversary.use != BAYES:
        raise UnmaskError(f"{adversary.use} needs knowledge that no plan gives; use {BAYES}, or call it from Python")
    loss = adversary.settings.get("loss", "hamming")
    if loss not in get_args(LossName):
        raise UnmaskError(f"the loss is {loss!r}, expected one of {', '.join(get_args(LossName))}")
    for key in ("observations", "targets"):
        value = adversary.settings.get(key, 1)
        if type(value) is not int or value < 1:
            raise UnmaskError(f"{key} is {value!r}, expected a whole number of at least 1")


def columns(_file: Path) -> list[str]:
    """Nobody reads secrets from a file."""
    raise UnmaskError("a channel has no file of secrets; use channels.grid, channels.gowalla or channels.alphabet")


def load(dataset: Part, made: Any) -> Space:
    """The secrets of a grid (each as likely as any other), of check-ins (as often as visited), or of a prior."""
    if isinstance(made, Visits):
        prior = made.prior(pseudocount=float(dataset.settings.get("pseudocount", 0.0)))
        return Space(made.grid, made.grid.points, prior, meters=True)
    if isinstance(made, Grid):
        return Space(made, made.points, np.full(len(made), 1 / len(made)), meters=True)
    prior = np.asarray(made, dtype=np.float64)
    return Space(None, np.arange(len(prior), dtype=np.float64), prior)


def protect(population: Space, protection: Any, _rng: np.random.Generator) -> Channel:
    """The channel of the mechanism; nothing is drawn. Without one the secret itself is shown."""
    if protection is None:
        return Channel(np.eye(len(population.prior)), population.prior)
    if isinstance(protection, PlanarLaplace | PlanarGaussian | Shrink):
        if population.grid is None:
            raise UnmaskError(f"{type(protection).__name__} moves points of a grid, and these secrets have no places")
        return protection.channel(population.grid, population.prior)
    return cast(Channel, protection.channel(population.prior))


def attack(cell: Cell, population: Space, released: Channel, attack: Any) -> list[Row]:
    """The rows of the belief: exact for one observation; for more of drawn secrets, each observed several times."""
    settings = cell.adversary.settings
    loss, n = settings.get("loss", "hamming"), len(population.prior)
    points = None if loss == "hamming" else population.points
    n_seen = settings.get("observations", 1)
    made = [measure(loss, coordinates=points) for measure in (estimation_error, realized_error)]
    own = {measure.name: replace(measure, unit=_unit(loss, meters=population.meters)) for measure in made}
    measures = [own.get(measure.name, measure) for measure in SELF_ASSESSED + REALIZED if cell.wants(measure.name)]
    truth = None
    if n_seen == 1 and "targets" not in settings:
        belief = released.posterior()
    else:
        rng = cell.rng("secrets")
        secret = rng.choice(np.arange(n), size=settings.get("targets", 1000), p=population.prior)
        shown = _shown(released, secret, n_seen, cell.rng("looks", cell.protection.content))
        belief, truth = attack(shown, released), Truth(secret)
    found = audit(
        belief,
        truth,
        release=cell.protection.name,
        adversary=cell.adversary.name,
        target="secret",
        drawn_from=None if truth is None else math.inf,
        measures=[measure for measure in measures if truth is not None or not measure.needs_truth],
    ).rows
    if truth is None:
        found = tuple(replace(row, low=None, high=None, interval="none: the channel is given whole") for row in found)
    return [*found, _distortion(cell, population, released, str(loss))] if cell.wants("utility") else list(found)


def _unit(loss: str, *, meters: bool) -> str:
    """Of a loss between places, or between numbers."""
    if loss == "hamming":
        return "probability"
    return ("m²" if meters else "squared distance") if loss == "squared" else "m" if meters else "distance"


def _shown(channel: Channel, secret: NDArray[np.int64], n_seen: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(targets, n_seen) outputs drawn for each secret."""
    cumulative = np.cumsum(channel.dense(), axis=1)[secret]
    drawn = rng.random((len(secret), n_seen))
    shown = (drawn[:, :, None] >= cumulative[:, None, :]).sum(axis=2)
    return np.asarray(np.minimum(shown, channel.n_y - 1))


def _distortion(cell: Cell, population: Space, channel: Channel, loss: str) -> Row:
    """What the user loses: the expected loss between the secret and what is shown in its place, as utility below 0."""
    if channel.n_y != channel.n_x:
        return plain_row(cell, "utility", loss, float("nan"), prior=0.0, n=channel.n_x, note="outputs are no secrets")
    distance = as_matrix(loss, channel.n_x, coordinates=None if loss == "hamming" else population.points)
    cost = float((channel.dense() * channel.prior[:, None] * distance.T).sum())
    return plain_row(cell, "utility", loss, -cost, prior=0.0, n=channel.n_x, note="expected distortion, negative")
