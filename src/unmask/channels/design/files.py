"""Mechanisms for secrets in files: what is read, the mechanism and its trade-off as CSV."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from unmask.channels._matrices import Floats
from unmask.channels.channel import Channel
from unmask.channels.design.leakage import least_leakage
from unmask.channels.design.linear import optimal_mechanism
from unmask.channels.loss_model import LossModel, read_loss_model
from unmask.channels.matrix_files import read_joint, read_named, read_prior
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.signatures import with_parameters
from unmask.data.writing import format_csv
from unmask.measures.error import bayes
from unmask.measures.losses import LOSS_NAMES
from unmask.ranges import Option

CURVE_POINTS = 12
"""Budgets at which the trade-off is solved."""

CURVE_COLUMNS = ("distortion", "privacy", "worst", "leakage_bits", "gap_bits")
"""Numbers of a mechanism that a trade-off has, if they are computed."""

_log = logging.getLogger(__name__)


class Solution(NamedTuple):
    """The best mechanism within a budget.

    Parameters
    ----------
    channel : Channel
        The mechanism.
    facts : mapping
        Its numbers by name, for the curve and for JSON.
    sentence : str
        Its numbers in words.
    """

    channel: Channel
    facts: Mapping[str, float | str]
    sentence: str


@dataclass(frozen=True, eq=False)
class Problem:
    """Mechanism to find.

    Parameters
    ----------
    inputs, outputs : tuple of str
        Names of the rows and of the columns of the mechanism.
    cost : (n_inputs, n_outputs) array
        Loss of the user.
    budget : float
        Largest expected cost.
    solve : callable
        budget -> Solution.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    cost: Floats
    budget: float
    solve: Callable[[float], Solution]

    def format_mechanism(self, solution: Solution) -> str:
        """Return a mechanism as CSV, which `unmask audit channel` reads."""
        table = solution.channel.dense().tolist()
        lines = [(name, *map(repr, row)) for name, row in zip(self.inputs, table, strict=True)]
        return format_csv(("", *self.outputs), lines)

    def format_curve(self) -> str:
        """Return the trade-off around the budget as CSV, without budgets that the bounds do not allow."""
        facts = []
        for budget in self._list_budgets():
            with suppress(UnmaskError):  # below the least feasible budget
                facts.append(self.solve(budget).facts)
        if not facts:
            raise FailedError(
                "no budget of the curve has a mechanism, so there is nothing to write; check `budget`, or leave "
                "`curve` out"
            )
        columns = [name for name in CURVE_COLUMNS if name in facts[0]]
        lines = dict.fromkeys(tuple(repr(record[name]) for name in columns) for record in facts)
        return format_csv(columns, lines)  # beyond the budget that hides all, points repeat

    def _list_budgets(self) -> Sequence[float]:
        """Return budgets up to twice the budget, or up to the largest cost, which does not bound the mechanism."""
        highest = min(2 * self.budget, float(self.cost.max()))
        lowest = min(self.budget, highest) / CURVE_POINTS
        budgets: list[float] = np.linspace(lowest, highest, CURVE_POINTS).tolist()
        return budgets if self.budget > 0 else [0.0]


def _maximize_error(
    prior: Floats, model: LossModel, cost: Floats, bounds: Mapping[str, Any], budget: float
) -> Solution:
    """Return the mechanism that leaves the adversary the largest error."""
    design = optimal_mechanism(prior, model.loss, cost, budget, coordinates=model.coordinates, **bounds)
    prior_error = bayes(Posterior.from_dense(prior[None]), model.loss, coordinates=model.coordinates).average
    facts = {name: getattr(design, name) for name in ("privacy", "worst", "distortion", "method", "gap")}
    facts |= {"leakage_bits": design.leakage / math.log(2), "prior_error": prior_error}
    sentence = (
        f"privacy {design.privacy:.6g} of at most {prior_error:.6g}, worst case {design.worst:.6g}, "
        f"distortion {design.distortion:.6g} ({design.method})"
    )
    return Solution(design.channel, facts, sentence)


def _minimize_leakage(joint: Floats, cost: Floats, budget: float) -> Solution:
    """Return the mechanism that reveals the fewest bits about the secret."""
    design = least_leakage(joint, cost, budget)
    facts = {name: getattr(design, name) for name in ("leakage_bits", "gap_bits", "distortion", "unprotected_bits")}
    sentence = (
        f"leakage {design.leakage_bits:.6g} of {design.unprotected_bits:.6g} bits, at most {design.gap_bits:.2g} "
        f"above the least, distortion {design.distortion:.6g}"
    )
    return Solution(design.channel, facts, sentence)


@with_parameters(optimal_mechanism, only=("budget", "worst_case", "epsilon", "delta"))
@with_parameters(read_loss_model, only=("loss", "coordinates"))
def read_problem(
    *,
    minimize: Literal["error", "leakage"] = "error",
    prior: Path | None = None,
    joint: Path | None = None,
    distortion: Annotated[str | None, Option(metavar="NAME|PATH", names=LOSS_NAMES)] = None,
    loss: str = "hamming",
    coordinates: Path | None = None,
    budget: float,
    **bounds: Any,
) -> Problem:
    """Read the mechanism to find from files.

    Parameters
    ----------
    minimize : {"error", "leakage"}
        success of the adversary (error), or leakage about the secret in bits (leakage)
    prior : path, optional
        CSV of secret and probability
    joint : path, optional
        CSV of the probability of each secret (lines) with each value of the data (columns), for the least leakage. The
        mechanism perturbs the data. By default the data is the secret
    distortion : str, optional
        loss of the user, by default that of the adversary
    loss, coordinates
        See `read_loss_model`.
    budget, **bounds
        See `optimal_mechanism`.
    """
    if (prior is None) == (joint is None):
        raise UnmaskError("a design needs either a prior (`prior`) or a joint distribution (`joint`), expected one")
    if minimize == "leakage":
        unused = next((name for name, bound in bounds.items() if bound), None)
        if unused is not None:
            raise UnmaskError(f"`{unused}` does not bound the least leakage; leave it out")
        inputs, table = _read_joint(prior, joint)
        _, cost, outputs = _read_costs(inputs, loss, distortion, coordinates)
        return Problem(inputs, outputs, cost, budget, partial(_minimize_leakage, table, cost))
    if prior is None:
        raise UnmaskError("a joint distribution is for the least leakage; add minimize='leakage', or give `prior`")
    secrets, probability = _read_prior(prior)
    model, cost, outputs = _read_costs(secrets, loss, distortion, coordinates)
    return Problem(secrets, outputs, cost, budget, partial(_maximize_error, probability, model, cost, bounds))


def _read_prior(path: Path) -> tuple[tuple[str, ...], Floats]:
    """Return secrets and their probabilities, with a note on rounded ones."""
    secrets, probability, note = read_prior(path)
    if note:
        _log.warning("note: %s", note)
    return secrets, probability


def _read_joint(prior: Path | None, joint: Path | None) -> tuple[tuple[str, ...], Floats]:
    """Return the names of the data, and the joint distribution of secret and data."""
    if joint is not None:
        distribution = read_joint(joint)
        return distribution.data, distribution.table
    assert prior is not None
    secrets, probability = _read_prior(prior)
    return secrets, np.diag(probability)


def _read_costs(
    inputs: tuple[str, ...], loss: str, distortion: str | None, coordinates: Path | None
) -> tuple[LossModel, Floats, tuple[str, ...]]:
    """Return the loss of the adversary, the cost of each output for the user, and the names of the outputs."""
    model = read_loss_model(loss, inputs, coordinates=coordinates)
    if distortion is None:
        return model, model.matrix(len(inputs)).T, model.answers or inputs
    if distortion in LOSS_NAMES:
        return model, read_loss_model(distortion, inputs, coordinates=coordinates).matrix(len(inputs)).T, inputs
    return model, read_named(Path(distortion), inputs, inputs), inputs
