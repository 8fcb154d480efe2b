"""The standard audit of channels: what the best adversary, and two lesser ones, still get wrong behind each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.audit import audit
from unmask.channels import Channel, matched_optimum
from unmask.channels.design.answers import among_candidates
from unmask.channels.design.linear import largest_error, matched
from unmask.errors import UnmaskError
from unmask.measures import (
    delta_down,
    delta_up,
    effective_set_size,
    estimation_error,
    hartley_entropy_bits,
    information_gain_bits,
    min_entropy_bits,
    shannon_entropy_bits,
    success_probability,
    total_variation,
)
from unmask.measures.bounds import Bounds, bounds
from unmask.measures.differential import channel_epsilon
from unmask.measures.error import BayesError, bayes, gibbs
from unmask.measures.losses import Loss, as_matrix
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

LARGEST_LIMIT, LARGEST_ANSWERED, LARGEST_MATCHED = 60, 16, 150
"""Secrets and outputs up to which the limit is solved where no closed form holds: with the answers given, with answers
that have to be found, and with these where the loss is the distortion.
"""


ANSWERS: Mapping[str, str] = {
    "hamming": "The adversary answers with one of the secrets.",
    "squared": "The adversary may answer with any point: the best is the mean of the posterior.",
    "absolute": "The adversary may answer with any point: the best is the median of the posterior in each coordinate.",
    "euclidean": "The adversary may answer with any point: the best is the geometric median of the posterior.",
}
"""What the best adversary may answer under each named loss."""


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

    def matrix(self, n_x: int) -> Floats:
        """(n_answers, n_x) the loss, checked; of a named loss the answers are the secrets, which is not all of them."""
        return as_matrix(self.loss, n_x, coordinates=self.coordinates)

    def cost(self, channel: Channel) -> Floats | None:
        """(n_x, n_y) the distortion, checked; None where none is known."""
        if self.distortion is None:
            loss = self.matrix(channel.n_x)
            shown = len(loss) == channel.n_y and _alike(channel.y_labels, self.answers or channel.x_labels)
            return loss.T if shown else None
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
    assumptions: Sequence[str] = (),
) -> ReportData:
    """Every channel against the Bayes adversary under the loss, one who answers with a draw from the posterior, and
    one who names the likeliest secret; the first channel in detail, and the limit that no mechanism of its distortion
    passes.

    The channels have the same secrets and the same prior. limit: False leaves the curve out, which may take minutes.
    assumptions: sentences to add to those of every audit.
    """
    if not channels:
        raise UnmaskError("0 channels were given, expected at least 1")
    stakes = stakes or Stakes()
    first = next(iter(channels.values()))
    for name, channel in channels.items():
        same = channel.n_x == first.n_x and _alike(channel.x_labels, first.x_labels)
        if not same or not np.allclose(channel.prior, first.prior):
            raise UnmaskError(f"channel {name!r} has other secrets or another prior than the first, expected the same")
    beliefs = {name: channel.posterior() for name, channel in channels.items()}
    errors = {name: bayes(one, stakes.loss, coordinates=stakes.coordinates) for name, one in beliefs.items()}
    rows = [row for name, belief in beliefs.items() for row in _rows(name, belief, stakes)]
    mechanisms = tuple(
        _mechanism(name, channel, beliefs[name], errors[name], stakes) for name, channel in channels.items()
    )
    farthest = max(one.distortion for one in mechanisms)
    curve, why = _limit(first, stakes, farthest) if limit else ((), "it was not asked for")
    detail = next(iter(channels))
    return ReportData(
        title=title,
        who=f"An adversary sees what a channel shows of one of {first.n_x:,} secrets, and estimates the secret.",
        rows=tuple(rows),
        assumptions=(
            "The adversary knows the channel and the prior, and decides best under the loss.",
            ANSWERS.get(stakes.loss, stakes.loss)
            if isinstance(stakes.loss, str)
            else "The adversary answers with a line of the loss; with answers between the lines they would err less.",
            "The adversary gibbs answers with a draw from the posterior, map with the likeliest secret.",
            *assumptions,
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
            per_observation=_observations(first, beliefs[detail], errors[detail], stakes),
            spread=_spread(beliefs[detail], errors[detail]),
            bounds=_bounds(bounds(beliefs[detail], stakes.loss, coordinates=stakes.coordinates), stakes.unit),
        ),
    )


def _rows(name: str, belief: Posterior, stakes: Stakes) -> tuple[Row, ...]:
    loss = stakes.loss if isinstance(stakes.loss, str) else stakes.matrix(belief.n_candidates).T
    measures = (
        replace(estimation_error(loss, coordinates=stakes.coordinates), unit=stakes.unit),
        success_probability,
        hartley_entropy_bits,
        shannon_entropy_bits,
        min_entropy_bits,
        effective_set_size,
        information_gain_bits,
        total_variation,
        delta_up,
        delta_down,
    )
    found = audit(belief, release=name, adversary=BAYES, target="secret", measures=measures).rows
    noise = 8 * float(np.finfo(belief.log_probability.dtype).eps)  # of a belief, relative to its values
    return tuple(
        replace(
            row,
            low=None,
            high=None,
            interval="none: the channel is given whole",
            gain=row.gain if abs(row.gain) > noise * max(abs(row.prior), abs(row.posterior)) else 0.0,
        )
        for row in found
    )


def _mechanism(name: str, channel: Channel, belief: Posterior, error: BayesError, stakes: Stakes) -> MechanismRisk:
    cost = stakes.cost(channel)
    joint = channel.dense() * channel.prior[:, None]
    loss = stakes.matrix(channel.n_x)
    secrets = stakes.answers is None and len(loss) == channel.n_x  # whether a secret is an answer
    sampled = gibbs(belief, stakes.loss, coordinates=stakes.coordinates).average if secrets else None
    guessed = float((loss[joint.argmax(axis=0)] * joint.T).sum()) if secrets else None
    return MechanismRisk(
        name=name,
        distortion=float("nan") if cost is None else float((joint * cost).sum()),
        privacy=error.average,
        worst=error.worst,
        errors={"gibbs": sampled, "map": guessed},
        leakage_bits=channel.mutual_information(),
        epsilon=channel_epsilon(channel.dense()),
    )


def _limit(channel: Channel, stakes: Stakes, farthest: float) -> tuple[tuple[tuple[float, float], ...], str]:
    """(distortion, privacy) of optimal mechanisms, or the reason why they were not sought."""
    cost = stakes.cost(channel)
    if cost is None:
        return (), "no distortion is known: the outputs are no secrets, and none was given"
    loss = stakes.matrix(channel.n_x)
    closed, restricted = matched(loss, cost), among_candidates(stakes.loss, stakes.coordinates)
    if closed and restricted:
        prior_error = float((loss @ channel.prior).min())
        most = max(1.1 * farthest, 2 * prior_error)
        return tuple(
            (d, matched_optimum(channel.prior, loss, d))
            for d in np.union1d(np.linspace(0, most, 41), [prior_error]).tolist()
        ), ""
    seek = restricted or max(channel.n_x, channel.n_y) <= LARGEST_ANSWERED
    largest = LARGEST_MATCHED if closed else LARGEST_LIMIT if restricted else LARGEST_ANSWERED
    if max(channel.n_x, channel.n_y) > largest:
        return (), f"there are more than {largest} secrets or outputs: unmask design solves single points"
    least = float(channel.prior @ cost.min(axis=1))
    most = float((channel.prior @ cost).min())
    budgets = np.linspace(least, max(most, least), LIMIT_POINTS + 1)[1:].tolist()
    solve = partial(largest_error, channel.prior, stakes.loss, cost, coordinates=stakes.coordinates, seek=seek)
    points = [(budget, privacy) for budget in budgets if not math.isnan(privacy := solve(budget))]
    highest = np.maximum.accumulate([privacy for _, privacy in points]).tolist()
    return tuple(zip([budget for budget, _ in points], highest, strict=True)), ""


def _observations(
    channel: Channel, belief: Posterior, error: BayesError, stakes: Stakes
) -> tuple[ObservationRisk, ...]:
    """The observations that give most away first."""
    weight = belief.observation_weight
    order = np.lexsort((-weight, error.conditional))
    secrets = channel.x_labels or tuple(map(str, range(channel.n_x)))
    outputs = channel.y_labels or tuple(map(str, range(channel.n_y)))
    shown = []
    for i in order[weight[order] > 0][:MOST_OBSERVATIONS].tolist():
        entries = slice(belief.indptr[i], belief.indptr[i + 1])
        p, who = np.exp(belief.log_probability[entries].astype(np.float64)), belief.candidate[entries]
        best = np.argsort(-p, kind="stable")[:LIKELIEST]
        shown.append(
            ObservationRisk(
                observation=outputs[int(channel.observed[i])],
                chance=float(weight[i]),
                answer=_answer(error.answer[i], secrets, stakes),
                error=float(error.conditional[i]),
                likeliest=tuple((secrets[int(who[j])], float(p[j])) for j in best),
            )
        )
    return tuple(shown)


def _answer(answer: Any, secrets: tuple[str, ...], stakes: Stakes) -> str:
    """The name of an answer: that of a line or a secret, or the coordinates where no secret lies."""
    if not isinstance(stakes.loss, str) or stakes.loss == "hamming":
        names = stakes.answers or secrets
        number = int(answer)
        return names[number] if 0 <= number < len(names) else f"answer {number}"
    points, at = np.asarray(stakes.coordinates).reshape(len(secrets), -1), np.ravel(answer)
    there = np.flatnonzero(np.isclose(points, at, rtol=1e-9, atol=1e-9 * float(np.ptp(points))).all(axis=1))
    return secrets[int(there[0])] if there.size else ", ".join(f"{value:.6g}" for value in at)


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
            "What ignoring one observation costs, by total variation",
            float(found.regret_by_variation[worst]),
            float(found.regret[worst]),
            unit,
            "at the observation that is worth most: twice the largest loss times the shift of belief there",
        ),
        BoundRow(
            "Mean square of that cost, by mutual information",
            found.mean_square_by_information,
            found.mean_square_regret,
            f"{unit} squared",
            "twice the squared largest loss times the information in nats",
        ),
    )
