"""Audits and study cells of channels: a mechanism shows a secret, and the adversary estimates it under a loss."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.audit import REALIZED, SELF_ASSESSED
from unmask.audit import audit as measured
from unmask.cases.channels.risk import AttackedChannel, describe_risk
from unmask.cases.channels.sampled import audit_samples
from unmask.cases.rows import plain_row
from unmask.cases.stakes import Stakes, alike, distortion_of, stakes_of
from unmask.channels import BayesChannelAttack, Channel, PlanarGaussian, PlanarLaplace, Shrink
from unmask.channels.datasets import Grid, Visits
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.domains import named
from unmask.measures import estimation_error, realized_error
from unmask.measures.losses import LOSS_NAMES, LossName
from unmask.plan import Cell, Part
from unmask.reports import ReportData
from unmask.results import Row

Floats = NDArray[np.float64]

DATASET = ("pseudocount",)
ADVERSARY = ("loss", "observations", "targets")
COLUMNS: tuple[str, ...] = ()
ROLES: Mapping[str, str] = {}
MEASURES = (*(measure.name for measure in SELF_ASSESSED + REALIZED), "utility")

BAYES = "bayes"
"""Name of the adversary who decides best under the loss."""

BOUND = "A limit is an upper bound, for an adversary who answers with a secret."
"""Meaning of a limit if the best answer may lie between the secrets."""

ANSWERS: Mapping[str, str] = {
    "hamming": "The adversary answers with one of the secrets.",
    "squared": f"The adversary may answer with any point: the best is the mean of the posterior. {BOUND}",
    "absolute": "The adversary may answer with any point: the best is the median of the posterior in each coordinate.",
    "euclidean": f"The adversary may answer with any point: the best is the geometric median of the posterior. {BOUND}",
    "haversine": (
        f"The adversary may answer with any place on the globe: the best is the posterior's geometric median. {BOUND}"
    ),
}
"""Answers of the best adversary under each named loss."""

UNIFORM = "Every secret counts as likely as any other; where some are likelier, the error may be smaller."
"""Assumption of an audit with a uniform prior."""

LINES = "The adversary answers with a line of the loss; with answers between the lines they would err less."
"""Assumption of an audit whose loss is a matrix."""


def run_case(
    belief: Posterior,
    stakes: Stakes,
    *,
    release: str,
    adversary: str = BAYES,
    truth: Truth | None = None,
    wants: Callable[[str], bool] = lambda _: True,
) -> tuple[Row, ...]:
    """Measure the belief about one channel: the error under the loss and the measures of all audits.

    truth : of secrets that were drawn and shown; None if the belief is that of the channel itself
    wants : predicate of the names of the measures to take
    """
    loss = stakes.loss if isinstance(stakes.loss, str) else stakes.matrix(belief.n_candidates)
    errors = [
        replace(kind(loss, coordinates=stakes.coordinates), unit=stakes.unit)
        for kind in (estimation_error, realized_error)
    ]
    under_loss = {measure.name: measure for measure in errors}
    measures = {measure.name: under_loss.get(measure.name, measure) for measure in (*errors, *SELF_ASSESSED, *REALIZED)}
    rows = measured(
        belief,
        truth,
        release=release,
        adversary=adversary,
        target="secret",
        drawn_from=None if truth is None else math.inf,
        measures=[
            measure
            for measure in measures.values()
            if wants(measure.name) and (truth is not None or not measure.needs_truth)
        ],
    ).rows
    return rows if truth is not None else tuple(_without_interval(row, belief) for row in rows)


def _without_interval(row: Row, belief: Posterior) -> Row:
    """Return a row without an interval, since the channel is exact, and without a gain that is only rounding."""
    noise = 8 * float(np.finfo(belief.log_probability.dtype).eps) * max(abs(row.prior), abs(row.posterior))
    gain = 0.0 if math.isfinite(noise) and abs(row.gain) <= noise else row.gain
    return replace(row, low=None, high=None, interval="none: the channel is given whole", gain=gain)


def audit(
    release: Channel | Mapping[str, Channel],
    *,
    truth: None = None,
    loss: str | os.PathLike[str] | ArrayLike = "hamming",
    coordinates: os.PathLike[str] | ArrayLike | None = None,
    answers: tuple[str, ...] | None = None,
    distortion: os.PathLike[str] | ArrayLike | None = None,
    unit: str | None = None,
    limit: bool = True,
    assumptions: Sequence[str] = (),
) -> ReportData:
    """Attack channels of the same secrets and measure the error of the best adversary.

    Parameters
    ----------
    release : Channel or mapping of Channel
        Channels by name.
    truth : None
        Not allowed: a channel has no truth.
    loss : str, path or array
        loss: hamming, squared, absolute, euclidean, haversine, euclidean_medoid, haversine_medoid, or a CSV. Or an
        array, see `stakes.stakes_of`
    coordinates : path or array, optional
        CSV of secret and coordinates; else the secrets are numbers. Or an array
    answers : tuple of str, optional
        names of the lines of a loss that is an array, by default the secrets
    distortion : path or array, optional
        CSV of the user's cost of an output, by default the loss. Or an array, secrets x outputs
    unit : str, optional
        unit of the loss, such as m or km
    limit : bool
        draw the limit that no mechanism passes, which may take minutes
    assumptions : sequence of str
        sentences to add to those of every audit

    Returns
    -------
    ReportData
        Rows and the facts of a page.
    """
    if truth is not None:
        raise UnmaskError("a channel says how secrets are shown, and has no truth; leave it out")
    channels = named(release)
    first = next(iter(channels.values()))
    stakes = stakes_of(loss, first.x_labels, coordinates=coordinates, answers=answers, unit=unit)
    if distortion is not None:
        stakes = replace(stakes, distortion=distortion_of(distortion, first), distortion_unit="cost")
    about: dict[str, Any] = {"title": f"Audit of {', '.join(channels)}", "assumptions": assumptions}
    if any(channel.samples is not None for channel in channels.values()):
        return audit_samples(channels, stakes, run_case, **about)
    return audit_channels(channels, stakes, limit=limit, **about)


def audit_channels(
    channels: Mapping[str, Channel],
    stakes: Stakes | None = None,
    *,
    title: str = "Audit of a channel",
    limit: bool = True,
    assumptions: Sequence[str] = (),
) -> ReportData:
    """Audit channels of the same secrets and prior against three adversaries; the first channel in detail.

    Adversaries: Bayes under the loss, Gibbs (answers with a draw from the posterior) and MAP (the likeliest secret).
    limit : draw the limit that no mechanism of a distortion passes, which may take minutes
    """
    stakes = stakes or Stakes()
    _check_alike(channels)
    attacked = [AttackedChannel.run(name, channel, stakes) for name, channel in channels.items()]
    risk, reason = describe_risk(attacked, stakes, limit=limit)
    return ReportData(
        title=title,
        who=f"An adversary sees what a channel shows of one of {risk.secrets:,} secrets, and estimates the secret.",
        rows=tuple(row for item in attacked for row in run_case(item.belief, stakes, release=item.name)),
        assumptions=(
            "The adversary knows the channel and the prior, and decides best under the loss.",
            ANSWERS[stakes.loss] if isinstance(stakes.loss, str) else LINES,
            "The adversary gibbs answers with a draw from the posterior, map with the likeliest secret.",
            *([UNIFORM] if np.allclose(prior := attacked[0].channel.prior, prior[0], rtol=1e-9, atol=0) else []),
            *assumptions,
        ),
        not_run=(("The limit of privacy at a distortion", reason),) if reason else (),
        adversaries={BAYES: "knows the channel and the prior"},
        success=(),
        subjects=(risk,),
    )


def _check_alike(channels: Mapping[str, Channel]) -> None:
    """Raise an error if channels have different secrets or priors."""
    if not channels:
        raise UnmaskError("0 channels were given, expected at least 1")
    first = next(iter(channels.values()))
    for name, channel in channels.items():
        same_secrets = channel.n_x == first.n_x and alike(channel.x_labels, first.x_labels)
        if not same_secrets or not np.allclose(channel.prior, first.prior):
            raise UnmaskError(f"channel {name!r} has other secrets or another prior than the first, expected the same")


class Secrets(NamedTuple):
    """Cells of a grid or numbers from 0, with their places (in meters or not) and prior."""

    grid: Grid | None
    points: Floats
    prior: Floats
    meters: bool = False

    def stakes(self, loss: LossName) -> Stakes:
        """Return the loss between places or numbers, which is the distortion, too."""
        return Stakes.named(loss, self.points, "m" if self.meters else None)


def check(adversary: Part) -> None:
    """Raise an error for unknown losses, invalid observations and attacks with other knowledge than a channel."""
    if adversary.use != (only := f"channels.{BayesChannelAttack.__name__}"):
        raise UnmaskError(f"{adversary.use} needs knowledge that no plan gives; use {only}, or call it from Python")
    loss = adversary.settings.get("loss", "hamming")
    if loss not in LOSS_NAMES:
        raise UnmaskError(f"the loss is {loss!r}, expected one of {', '.join(LOSS_NAMES)}")
    for key in ("observations", "targets"):
        value = adversary.settings.get(key, 1)
        if type(value) is not int or value < 1:
            raise UnmaskError(f"{key} is {value!r}, expected a whole number of at least 1")


def columns(_dataset: Part) -> list[str]:
    """Raise an error: secrets are not read from a file."""
    raise UnmaskError("a channel has no file of secrets; use channels.grid, channels.gowalla or channels.alphabet")


def load(dataset: Part, made: Any) -> Secrets:
    """Return the secrets of a grid (uniform), of check-ins (by visits) or of a prior."""
    if isinstance(made, Visits):
        prior = made.prior(pseudocount=float(dataset.settings.get("pseudocount", 0.0)))
        return Secrets(made.grid, made.grid.points, prior, meters=True)
    if isinstance(made, Grid):
        return Secrets(made, made.points, np.full(len(made), 1 / len(made)), meters=True)
    prior = np.asarray(made, dtype=np.float64)
    return Secrets(None, np.arange(len(prior), dtype=np.float64), prior)


def protect(population: Secrets, protection: Any, _rng: np.random.Generator) -> Channel:
    """Return the channel of the mechanism, or the identity without one."""
    if protection is None:
        return Channel(np.eye(len(population.prior)), population.prior)
    if isinstance(protection, PlanarLaplace | PlanarGaussian | Shrink):
        if population.grid is None:
            raise UnmaskError(f"{type(protection).__name__} moves points of a grid, and these secrets have no places")
        return protection.channel(population.grid, population.prior)
    return cast(Channel, protection.channel(population.prior))


def attack(cell: Cell, population: Secrets, released: Channel, attack: Any) -> list[Row]:
    """Return the rows of a cell: of the exact belief for one observation, else of drawn secrets."""
    settings, names = cell.adversary.settings, {"release": cell.protection.name, "adversary": cell.adversary.name}
    stakes = population.stakes(settings.get("loss", "hamming"))
    belief, truth = released.posterior(), None
    n_seen = settings.get("observations", 1)
    if n_seen > 1 or "targets" in settings:
        belief, truth = _attack_drawn_secrets(cell, population, released, attack)
    rows = list(run_case(belief, stakes, truth=truth, wants=cell.wants, **names))
    if cell.wants("utility"):
        cost = stakes.distorted(released)
        note = "outputs are no secrets" if math.isnan(cost) else "expected distortion, negative"
        rows.append(plain_row(cell, "utility", stakes.name, -cost, prior=0.0, n=released.n_x, note=note))
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
    stakes = population.stakes(cell.adversary.settings.get("loss", "hamming"))
    cost = stakes.distorted(released)
    if math.isnan(cost):
        raise UnmaskError(f"what {cell.protection.name} shows are no secrets, so that its utility is not known")
    guessing = float((stakes.matrix(released.n_x) @ released.prior).min())
    return *_attack_drawn_secrets(cell, population, released, attack), 1.0 - cost / guessing if guessing else 1.0
