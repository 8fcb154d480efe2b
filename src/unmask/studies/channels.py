"""The standard audit of channels: what the best adversary, and two lesser ones, still get wrong behind each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unmask.audit import audit
from unmask.channels import Channel, matched_optimum, optimal_mechanism
from unmask.errors import UnmaskError
from unmask.measures import (
    effective_set_size,
    estimation_error,
    information_gain,
    renyi_entropy,
    shannon_entropy,
    success_probability,
    total_variation,
)
from unmask.measures.bounds import Bounds, bounds
from unmask.measures.differential import channel_epsilon
from unmask.measures.error import BayesError, bayes, gibbs
from unmask.measures.leakage import mutual_information
from unmask.posterior import Posterior
from unmask.reports import BoundRow, ChannelRisk, MechanismRisk, ObservationRisk, ReportData
from unmask.results import Row

Floats = NDArray[np.float64]

BAYES = "bayes"
"""The adversary who decides best under the loss."""

MOST_OBSERVATIONS = 20

LIKELIEST = 5

LIMIT_POINTS = 8
"""Points of the limit curve that are solved by linear programs."""

ROUNDING = 1e-6
"""Gains below this are the rounding of a belief that is stored in float32."""

LARGEST_LIMIT = 60
"""Secrets and outputs up to which the limit is solved where no closed form holds."""


@dataclass(frozen=True, eq=False)
class Stakes:
    """What an answer costs the adversary, and what a mechanism costs the user.

    loss            : (n_answers, n_x) d[answer, truth]; 0/1 when left out
    distortion      : (n_x, n_y) cost of showing y for x. When left out it is the loss, for channels whose outputs are
                      the secrets; for others no distortion is known, and no limit.
    name, unit      : of the loss, as shown
    distortion_unit : of the distortion
    """

    loss: Floats | None = None
    distortion: Floats | None = None
    name: str = "hamming"
    unit: str = "probability"
    distortion_unit: str = "probability"

    def matrix(self, n_x: int) -> Floats:
        """(n_answers, n_x) the loss, checked."""
        loss = 1.0 - np.eye(n_x) if self.loss is None else np.asarray(self.loss, dtype=np.float64)
        if loss.ndim != 2 or loss.shape[1] != n_x:
            raise UnmaskError(f"the loss has shape {loss.shape}, expected answers x {n_x} secrets")
        if not (np.all(np.isfinite(loss)) and loss.min() >= 0):
            raise UnmaskError("the loss has an entry that is negative, infinite or missing, expected numbers from 0 on")
        return loss

    def cost(self, channel: Channel) -> Floats | None:
        """(n_x, n_y) the distortion, checked; None where none is known."""
        if self.distortion is None:
            loss = self.matrix(channel.n_x)
            return loss.T if loss.shape[0] == channel.n_y and _alike(channel.y_labels, channel.x_labels) else None
        cost = np.asarray(self.distortion, dtype=np.float64)
        if cost.shape != (channel.n_x, channel.n_y) or not np.all(np.isfinite(cost)) or cost.min() < 0:
            raise UnmaskError(
                f"the distortion has shape {cost.shape}, expected {channel.n_x} secrets x {channel.n_y} outputs, "
                "finite and at least 0"
            )
        return cost


def _alike(some: tuple[str, ...] | None, others: tuple[str, ...] | None) -> bool:
    """Whether names agree, where both are given."""
    return some is None or others is None or some == others


def study_channels(
    channels: Mapping[str, Channel],
    stakes: Stakes | None = None,
    *,
    title: str = "Audit of a channel",
    reproduce: Mapping[str, object] | None = None,
    limit: bool = True,
) -> ReportData:
    """Every channel against the Bayes adversary under the loss, one who samples his belief, and one who names the
    likeliest secret; the first channel in detail, and the limit that no mechanism of its distortion passes.

    The channels have the same secrets and the same prior. limit: False leaves the curve out, which may take minutes.
    """
    if not channels:
        raise UnmaskError("0 channels were given, expected at least 1")
    stakes = stakes or Stakes()
    first = next(iter(channels.values()))
    for name, channel in channels.items():
        same = channel.n_x == first.n_x and _alike(channel.x_labels, first.x_labels)
        if not same or not np.allclose(channel.prior, first.prior):
            raise UnmaskError(f"channel {name!r} has other secrets or another prior than the first, expected the same")
    loss = stakes.matrix(first.n_x)
    beliefs = {name: channel.posterior() for name, channel in channels.items()}
    errors = {name: bayes(belief, loss) for name, belief in beliefs.items()}
    rows = [row for name, belief in beliefs.items() for row in _rows(name, belief, loss)]
    mechanisms = tuple(
        _mechanism(name, channel, beliefs[name], errors[name], loss, stakes) for name, channel in channels.items()
    )
    farthest = max(one.distortion for one in mechanisms)
    curve, why = _limit(first, loss, stakes.cost(first), farthest) if limit else ((), "it was not asked for")
    detail = next(iter(channels))
    return ReportData(
        title=title,
        who=f"An adversary sees what a channel shows of one of {first.n_x:,} secrets, and estimates the secret.",
        rows=tuple(rows),
        assumptions=(
            "The adversary knows the channel and the prior, and decides best under the loss.",
            "He answers with a line of the loss; could he answer between the lines, he would err less.",
            "The adversary gibbs answers with a draw from his belief, map with the likeliest secret.",
        ),
        not_run=(("The limit of privacy at a distortion", why),) if why else (),
        reproduce=reproduce or {},
        adversaries={BAYES: "knows the channel and the prior"},
        success=(),
        channel=ChannelRisk(
            secrets=first.n_x,
            observations=beliefs[detail].n_observations,
            loss=stakes.name,
            unit=stakes.unit,
            distortion_unit=stakes.distortion_unit,
            prior_error=errors[detail].prior,
            mechanisms=mechanisms,
            limit=curve,
            detail=detail,
            per_observation=_observations(first, beliefs[detail], errors[detail], loss),
            spread=_spread(beliefs[detail], errors[detail]),
            bounds=_bounds(bounds(beliefs[detail], loss), stakes.unit),
        ),
    )


def _rows(name: str, belief: Posterior, loss: Floats) -> tuple[Row, ...]:
    measures = (
        estimation_error(loss.T),
        success_probability,
        shannon_entropy,
        renyi_entropy(np.inf),
        effective_set_size,
        information_gain,
        total_variation,
    )
    found = audit(belief, release=name, adversary=BAYES, target="secret", measures=measures).rows
    return tuple(
        replace(row, low=None, high=None, interval="none: the channel is given whole", gain=_beyond_rounding(row.gain))
        for row in found
    )


def _beyond_rounding(gain: float) -> float:
    """0 for what float32 leaves of nothing."""
    return gain if abs(gain) > ROUNDING else 0.0


def _mechanism(
    name: str, channel: Channel, belief: Posterior, error: BayesError, loss: Floats, stakes: Stakes
) -> MechanismRisk:
    cost = stakes.cost(channel)
    joint = channel.dense() * channel.prior[:, None]
    return MechanismRisk(
        name=name,
        distortion=float("nan") if cost is None else float((joint * cost).sum()),
        privacy=error.average,
        worst=error.worst,
        errors={
            "gibbs": gibbs(belief, loss).average,
            "map": _guessing(joint, loss),
        },
        leakage_bits=mutual_information(belief),
        epsilon=channel_epsilon(channel.dense()),
    )


def _guessing(joint: Floats, loss: Floats) -> float | None:
    """Expected loss of naming the likeliest secret; None where answers are not secrets."""
    if len(loss) != len(joint):
        return None
    likeliest = joint.argmax(axis=0)
    return float((loss[likeliest] * joint.T).sum())


def _limit(
    channel: Channel, loss: Floats, cost: Floats | None, farthest: float
) -> tuple[tuple[tuple[float, float], ...], str]:
    """(distortion, privacy) of optimal mechanisms, or the reason why they were not sought."""
    if cost is None:
        return (), "no distortion is known: the outputs are no secrets, and none was given"
    prior_error = float((loss @ channel.prior).min())
    if cost.shape == loss.T.shape and np.array_equal(cost, loss.T) and not np.diag(loss).any():
        most = max(1.1 * farthest, 2 * prior_error, 1e-12)
        return tuple(
            (d, matched_optimum(channel.prior, loss, d))
            for d in np.union1d(np.linspace(0, most, 41), [prior_error]).tolist()
        ), ""
    if max(channel.n_x, channel.n_y) > LARGEST_LIMIT:
        return (), f"there are more than {LARGEST_LIMIT} secrets or outputs: unmask design solves single points"
    least = float(channel.prior @ cost.min(axis=1))
    most = float((channel.prior @ cost).min())
    budgets = np.linspace(least, max(most, least), LIMIT_POINTS + 1)[1:]
    found = [optimal_mechanism(channel.prior, loss, cost, float(budget)) for budget in budgets]
    return tuple((float(b), one.privacy) for b, one in zip(budgets, found, strict=True)), ""


def _observations(channel: Channel, belief: Posterior, error: BayesError, loss: Floats) -> tuple[ObservationRisk, ...]:
    """The observations that give most away first."""
    weight = belief.observation_weight
    order = np.lexsort((-weight, error.conditional))
    secrets = channel.x_labels or tuple(map(str, range(channel.n_x)))
    outputs = channel.y_labels or tuple(map(str, range(channel.n_y)))
    answers = secrets if len(loss) == channel.n_x else tuple(f"answer {a}" for a in range(len(loss)))
    shown = []
    for i in order[weight[order] > 0][:MOST_OBSERVATIONS].tolist():
        entries = slice(belief.indptr[i], belief.indptr[i + 1])
        p, who = np.exp(belief.log_probability[entries].astype(np.float64)), belief.candidate[entries]
        best = np.argsort(-p, kind="stable")[:LIKELIEST]
        shown.append(
            ObservationRisk(
                observation=outputs[int(channel.observed[i])],
                chance=float(weight[i]),
                answer=answers[int(error.answer[i])],
                error=float(error.conditional[i]),
                likeliest=tuple((secrets[int(who[j])], float(p[j])) for j in best),
            )
        )
    return tuple(shown)


def _spread(belief: Posterior, error: BayesError) -> tuple[tuple[float, float], ...]:
    """(error, share of observations, by weight, with at most that error), rising."""
    value, place = np.unique(error.conditional, return_inverse=True)
    share = np.cumsum(np.bincount(place, weights=belief.observation_weight))
    return tuple(zip(value.tolist(), np.minimum(share, 1.0).tolist(), strict=True))


def _bounds(found: Bounds, unit: str) -> tuple[BoundRow, ...]:
    worst = int(np.argmax(found.regret))
    return (
        BoundRow(
            "Privacy lost on average, by total variation",
            float(found.weight @ found.gap_by_variation),
            found.average_gap,
            unit,
            "largest loss times the average shift of belief",
        ),
        BoundRow(
            "Privacy lost on average, by divergence",
            float(found.weight @ found.gap_by_divergence),
            found.average_gap,
            unit,
            "largest loss times the average root of D / 2, D in nats",
        ),
        BoundRow(
            "What ignoring one observation costs him, by total variation",
            float(found.regret_by_variation[worst]),
            float(found.regret[worst]),
            unit,
            "at the observation that is worth most to him: twice the largest loss times the shift of belief there",
        ),
        BoundRow(
            "Mean square of that cost, by mutual information",
            found.mean_square_by_information,
            found.mean_square_regret,
            f"{unit} squared",
            "twice the squared largest loss times the information in nats",
        ),
    )
