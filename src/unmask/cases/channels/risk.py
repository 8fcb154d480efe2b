"""What a page shows of channels: mechanisms beside the limit, and one in detail, by observation and by secret."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.cases.stakes import Stakes
from unmask.channels import Channel
from unmask.channels.design import limit_curve
from unmask.core.posterior import Posterior
from unmask.measures.bounds import bounds
from unmask.measures.error import BayesError, bayes, gibbs
from unmask.measures.leakage import channel_epsilon
from unmask.measures.losses import LOSS_NAMES
from unmask.measures.sensitive_values import success_by_value
from unmask.reports.facts.channel import BoundRow, ChannelRisk, MechanismRisk, ObservationRisk, SecretRisk

SHOWN = 20
"""Observations, and secrets, that are told one by one."""

LIKELIEST = 5


class Case(NamedTuple):
    """A channel, what its adversary believes, and what that costs them."""

    name: str
    channel: Channel
    belief: Posterior
    error: BayesError

    @classmethod
    def of(cls, name: str, channel: Channel, stakes: Stakes) -> Case:
        """The best adversary under the loss."""
        belief = channel.posterior()
        return cls(name, channel, belief, bayes(belief, stakes.loss, coordinates=stakes.coordinates))


def risk_of(cases: Sequence[Case], stakes: Stakes, *, limit: bool) -> tuple[ChannelRisk, str]:
    """What a page shows of channels, the first in detail; why the limit was not run, "" where it was."""
    first, mechanisms = cases[0], tuple(_mechanism(case, stakes) for case in cases)
    farthest = max(one.distortion for one in mechanisms)
    curve, why = _limit(first.channel, stakes, farthest) if limit else ((), "it was not asked for")
    risk = ChannelRisk(
        secrets=first.channel.n_x,
        observations=first.belief.n_observations,
        loss=stakes.name,
        unit=stakes.unit,
        distortion_unit=stakes.distortion_unit,
        prior_error=first.error.prior,
        mechanisms=mechanisms,
        limit=curve,
        detail=first.name,
        per_observation=_observations(first, stakes),
        **_secrets(first),
        spread=_spread(first),
        bounds=_bounds(first.belief, stakes),
        asked=" ".join(_asked(first.channel, stakes)),
    )
    return risk, why


def _asked(channel: Channel, stakes: Stakes) -> Iterator[str]:
    """The options with which `unmask design` faces the same prior and losses; a file is called by what it holds."""
    yield "--prior prior.csv"
    if stakes.name != "hamming":
        yield f"--loss {stakes.name if stakes.name in LOSS_NAMES else 'loss.csv'}"
    if stakes.coordinates is not None and not _numbers(channel.x_labels, stakes.coordinates):
        yield "--coordinates places.csv"
    if stakes.distortion is not None:
        yield "--distortion distortion.csv"


def _numbers(labels: tuple[str, ...] | None, points: NDArray[np.float64]) -> bool:
    """Whether places are the numbers that the secrets are called."""
    try:
        return np.array_equal(np.array(labels or (), dtype=float), points.ravel())
    except ValueError:
        return False


def _limit(channel: Channel, stakes: Stakes, farthest: float) -> tuple[tuple[tuple[float, float], ...], str]:
    """The limit that no mechanism passes, up to the largest distortion at hand, or why there is none."""
    cost = stakes.cost(channel)
    if cost is None:
        return (), "no distortion is known: the outputs are no secrets, and none was given"
    return limit_curve(channel.prior, stakes.loss, cost, coordinates=stakes.coordinates, beyond=farthest)


def _mechanism(case: Case, stakes: Stakes) -> MechanismRisk:
    name, channel, belief, error = case
    joint = channel.dense() * channel.prior[:, None]
    loss = stakes.matrix(channel.n_x)
    secrets = stakes.answers is None and len(loss) == channel.n_x  # whether a secret is an answer
    sampled = gibbs(belief, stakes.loss, coordinates=stakes.coordinates).average if secrets else None
    guessed = float((loss[joint.argmax(axis=0)] * joint.T).sum()) if secrets else None
    return MechanismRisk(
        name=name,
        distortion=stakes.distorted(channel),
        privacy=error.average,
        worst=error.worst,
        errors={"gibbs": sampled, "map": guessed},
        leakage_bits=channel.mutual_information(),
        epsilon=channel_epsilon(channel.dense()),
    )


def _observations(case: Case, stakes: Stakes) -> tuple[ObservationRisk, ...]:
    """The observations that give most away first."""
    _, channel, belief, error = case
    weight = belief.observation_weight
    order = np.lexsort((-weight, error.conditional))
    secrets = channel.x_labels or tuple(map(str, range(channel.n_x)))
    outputs = channel.y_labels or tuple(map(str, range(channel.n_y)))
    shown = []
    for i in order[weight[order] > 0][:SHOWN].tolist():
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


def _secrets(case: Case) -> dict[str, Any]:
    """The secrets of which the belief grows most where they are the truth, and how many share the first place."""
    channel = case.channel
    found = success_by_value(case.belief)
    gain = np.nan_to_num(found - channel.prior, nan=-1.0).round(6)
    order = np.argsort(-gain, kind="stable")
    names = channel.x_labels or tuple(map(str, range(channel.n_x)))
    told = (SecretRisk(names[i], float(channel.prior[i]), float(found[i])) for i in order[:SHOWN].tolist())
    first = (gain == gain.max()) & np.isclose(channel.prior, channel.prior[order[0]])
    return {"per_secret": tuple(one for one in told if one.prior > 0), "worst_off": int(first.sum())}


def _answer(answer: Any, secrets: tuple[str, ...], stakes: Stakes) -> str:
    """The name of an answer: that of a line or a secret, or the coordinates where no secret lies."""
    if not isinstance(stakes.loss, str) or stakes.loss == "hamming":
        names = stakes.answers or secrets
        number = int(answer)
        return names[number] if 0 <= number < len(names) else f"answer {number}"
    points, at = np.asarray(stakes.coordinates).reshape(len(secrets), -1), np.ravel(answer)
    there = np.flatnonzero(np.isclose(points, at, rtol=1e-9, atol=1e-9 * float(np.ptp(points))).all(axis=1))
    return secrets[int(there[0])] if there.size else ", ".join(f"{value:.6g}" for value in at)


def _spread(case: Case) -> tuple[tuple[float, float], ...]:
    """(error, share of observations, by weight, with at most that error), rising."""
    value, place = np.unique(case.error.conditional, return_inverse=True)
    share = np.cumsum(np.bincount(place, weights=case.belief.observation_weight))
    return tuple(zip(value.tolist(), np.minimum(share, 1.0).tolist(), strict=True))


def _bounds(belief: Posterior, stakes: Stakes) -> tuple[BoundRow, ...]:
    found = bounds(belief, stakes.loss, coordinates=stakes.coordinates)
    worst = int(np.argmax(found.regret))
    by_variation, by_divergence = (found.weight @ gap for gap in (found.gap_by_variation, found.gap_by_divergence))
    told = (
        ("Privacy lost on average, by total variation", by_variation, found.average_gap,
         "largest loss times the average shift of belief"),
        ("Privacy lost on average, by divergence", by_divergence, found.average_gap,
         "largest loss times the average root of D / 2, D in nats"),
        ("What ignoring one observation costs, by total variation",
         found.regret_by_variation[worst], found.regret[worst],
         "at the observation that is worth most: twice the largest loss times the shift of belief there"),
        ("Mean square of that cost, by mutual information",
         found.mean_square_by_information, found.mean_square_regret,
         "twice the squared largest loss times the information in nats"),
    )  # fmt: skip
    units = (stakes.unit,) * 3 + (f"{stakes.unit} squared",)
    return tuple(
        BoundRow(name, float(bound), float(value), unit, how)
        for (name, bound, value, how), unit in zip(told, units, strict=True)
    )
