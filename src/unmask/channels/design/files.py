"""Mechanisms for secrets in files: what is read, the mechanism and its trade-off as CSV."""

from __future__ import annotations

import csv
import io
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from unmask.channels.design.linear import Design, optimal_mechanism
from unmask.channels.loss_model import LossModel, read_loss_model
from unmask.channels.matrix_files import read_named, read_prior
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.signatures import with_parameters
from unmask.measures.error import bayes
from unmask.measures.losses import LOSS_NAMES
from unmask.ranges import Option

CURVE_POINTS = 12
"""Budgets at which the trade-off is solved."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """Mechanism to find.

    Parameters
    ----------
    secrets, outputs : tuple of str
        Names of the rows and of the columns of the mechanism.
    prior : (n_secrets,) array
        Probability of each secret.
    model : LossModel
        Loss of the adversary.
    cost : (n_secrets, n_outputs) array
        Loss of the user.
    budget : float
        Largest expected cost.
    bounds : mapping
        Further bounds, see `optimal_mechanism`.
    """

    secrets: tuple[str, ...]
    outputs: tuple[str, ...]
    prior: NDArray[np.float64]
    model: LossModel
    cost: NDArray[np.float64]
    budget: float
    bounds: Mapping[str, Any]

    def solve(self, budget: float) -> Design:
        """Return the best mechanism within a budget."""
        points = self.model.coordinates
        return optimal_mechanism(self.prior, self.model.loss, self.cost, budget, coordinates=points, **self.bounds)

    @cached_property
    def prior_error(self) -> float:
        """The expected loss of the adversary's best answer without any output."""
        belief = Posterior.from_dense(self.prior[None])
        return bayes(belief, self.model.loss, coordinates=self.model.coordinates).average

    def format_mechanism(self, design: Design) -> str:
        """Return a mechanism as CSV, which `unmask audit channel` reads."""
        rows = zip(self.secrets, design.channel.dense().tolist(), strict=True)
        return _format_csv([("", *self.outputs), *((name, *map(repr, row)) for name, row in rows)])

    def format_curve(self) -> str:
        """Return the trade-off around the budget as CSV, without budgets that the bounds do not allow."""
        points = [point for budget in self._list_budgets() if (point := self._try(budget)) is not None]
        if not points:
            raise FailedError(
                "no budget of the curve has a mechanism, so there is nothing to write; check --budget, or leave "
                "--curve out"
            )
        rows = dict.fromkeys(  # beyond the budget that hides all, points repeat
            (repr(point.distortion), repr(point.privacy), repr(point.worst), repr(point.leakage / math.log(2)))
            for point in points
        )
        return _format_csv([("distortion", "privacy", "worst", "leakage_bits"), *rows])

    def _list_budgets(self) -> Sequence[float]:
        """Return budgets up to twice the budget, or up to the largest cost, which does not bound the mechanism."""
        highest = min(2 * self.budget, float(self.cost.max()))
        lowest = min(self.budget, highest) / CURVE_POINTS
        budgets: list[float] = np.linspace(lowest, highest, CURVE_POINTS).tolist()
        return budgets if self.budget > 0 else [0.0]

    def _try(self, budget: float) -> Design | None:
        """Return the best mechanism within a budget; None below the least feasible budget."""
        try:
            return self.solve(budget)
        except UnmaskError:
            return None


@with_parameters(optimal_mechanism, only=("budget", "worst_case", "epsilon", "delta"))
@with_parameters(read_loss_model, only=("loss", "coordinates"))
def read_problem(
    *,
    prior: Path,
    distortion: Annotated[str | None, Option(metavar="NAME|PATH", names=LOSS_NAMES)] = None,
    loss: str = "hamming",
    coordinates: Path | None = None,
    budget: float,
    **bounds: Any,
) -> DesignProblem:
    """Read the mechanism to find from files.

    Parameters
    ----------
    prior : path
        CSV of secret and probability
    distortion : str, optional
        loss of the user, by default that of the adversary
    loss, coordinates
        See `read_loss_model`.
    budget, **bounds
        See `optimal_mechanism`.
    """
    secrets, probability, note = read_prior(prior)
    if note:
        _log.warning("note: %s", note)
    model, outputs = read_loss_model(loss, secrets, coordinates=coordinates), secrets
    if distortion is None:
        cost, outputs = model.matrix(len(secrets)).T, model.answers or secrets
    elif distortion in LOSS_NAMES:
        cost = read_loss_model(distortion, secrets, coordinates=coordinates).matrix(len(secrets)).T
    else:
        cost = read_named(Path(distortion), secrets, secrets)
    return DesignProblem(secrets, outputs, probability, model, cost, budget, bounds)


def _format_csv(rows: Iterable[Sequence[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()
