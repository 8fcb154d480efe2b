"""Facts of a page about channels: mechanisms and their limit, and one in detail by observation and by secret."""

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
from unmask.measures.error import BayesError, bayes
from unmask.measures.leakage import channel_epsilon
from unmask.measures.losses import LOSS_NAMES, decision_problem
from unmask.measures.sensitive_values import success_by_value
from unmask.reports.facts.channel import BoundRow, ChannelRisk, MechanismRisk, ObservationRisk, SecretRisk

MAX_ROWS = 20
"""Observations, and secrets, in the tables of a page."""

MAX_CANDIDATES = 5
"""Likeliest secrets listed for an observation."""


class AttackedChannel(NamedTuple):
    """A channel with the belief and the error of the best adversary."""

    name: str
    channel: Channel
    belief: Posterior
    error: BayesError

    @classmethod
    def run(cls, name: str, channel: Channel, stakes: Stakes) -> AttackedChannel:
        """Attack a channel under the loss."""
        belief = channel.posterior()
        return cls(name, channel, belief, bayes(belief, stakes.loss, coordinates=stakes.coordinates))


def describe_risk(attacked: Sequence[AttackedChannel], stakes: Stakes, *, limit: bool) -> tuple[ChannelRisk, str]:
    """Return the facts of channels, the first in detail, and the reason why the limit was not run, if so."""
    first, mechanisms = attacked[0], tuple(_describe_mechanism(item, stakes) for item in attacked)
    largest = max(mechanism.distortion for mechanism in mechanisms)
    curve, reason = _limit(first.channel, stakes, largest) if limit else ((), "it was not asked for")
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
        asked=" ".join(_design_options(first.channel, stakes)),
    )
    return risk, reason


def _design_options(channel: Channel, stakes: Stakes) -> Iterator[str]:
    """Yield the options of `unmask design` for the same prior and losses; files are named after their content."""
    yield "--prior prior.csv"
    if stakes.name != "hamming":
        yield f"--loss {stakes.name if stakes.name in LOSS_NAMES else 'loss.csv'}"
    if stakes.coordinates is not None and not _are_labels(channel.x_labels, stakes.coordinates):
        yield "--coordinates places.csv"
    if stakes.distortion is not None:
        yield "--distortion distortion.csv"


def _are_labels(labels: tuple[str, ...] | None, points: NDArray[np.float64]) -> bool:
    """Return whether places are the numbers in the names of the secrets."""
    try:
        return np.array_equal(np.array(labels or (), dtype=float), points.ravel())
    except ValueError:
        return False


def _limit(channel: Channel, stakes: Stakes, largest: float) -> tuple[tuple[tuple[float, float], ...], str]:
    """Return the limit that no mechanism passes, up to a distortion, or the reason why there is none."""
    cost = stakes.cost(channel)
    if cost is None:
        return (), "no distortion is known: the outputs are no secrets, and none was given"
    return limit_curve(channel.prior, stakes.loss, cost, coordinates=stakes.coordinates, beyond=largest)


def _describe_mechanism(attacked: AttackedChannel, stakes: Stakes) -> MechanismRisk:
    name, channel, belief, error = attacked
    joint = channel.dense() * channel.prior[:, None]
    loss = stakes.matrix(channel.n_x)
    secrets_are_answers = stakes.answers is None and len(loss) == channel.n_x
    sampled = None
    if secrets_are_answers:
        problem = decision_problem(stakes.loss, channel.n_x, coordinates=stakes.coordinates)
        sampled = float(belief.observation_weight @ problem.sampled(belief))
    guessed = float((loss[joint.argmax(axis=0)] * joint.T).sum()) if secrets_are_answers else None
    return MechanismRisk(
        name=name,
        distortion=stakes.distorted(channel),
        privacy=error.average,
        worst=error.worst,
        errors={"gibbs": sampled, "map": guessed},
        leakage_bits=channel.mutual_information(),
        epsilon=channel_epsilon(channel.dense()),
    )


def _observations(attacked: AttackedChannel, stakes: Stakes) -> tuple[ObservationRisk, ...]:
    """Return the observations of least error first."""
    _, channel, belief, error = attacked
    weight = belief.observation_weight
    order = np.lexsort((-weight, error.conditional))
    secrets = channel.x_labels or tuple(map(str, range(channel.n_x)))
    outputs = channel.y_labels or tuple(map(str, range(channel.n_y)))
    rows = []
    for i in order[weight[order] > 0][:MAX_ROWS].tolist():
        entries = slice(belief.indptr[i], belief.indptr[i + 1])
        p, candidate = np.exp(belief.log_probability[entries].astype(np.float64)), belief.candidate[entries]
        likeliest = np.argsort(-p, kind="stable")[:MAX_CANDIDATES]
        rows.append(
            ObservationRisk(
                observation=outputs[int(channel.observed[i])],
                chance=float(weight[i]),
                answer=_answer(error.answer[i], secrets, stakes),
                error=float(error.conditional[i]),
                likeliest=tuple((secrets[int(candidate[j])], float(p[j])) for j in likeliest),
            )
        )
    return tuple(rows)


def _secrets(attacked: AttackedChannel) -> dict[str, Any]:
    """Return the secrets whose belief grows most if they are the truth, and the number that share the first place."""
    channel = attacked.channel
    belief = success_by_value(attacked.belief)
    gain = np.nan_to_num(belief - channel.prior, nan=-1.0).round(6)
    order = np.argsort(-gain, kind="stable")
    names = channel.x_labels or tuple(map(str, range(channel.n_x)))
    risks = (SecretRisk(names[i], float(channel.prior[i]), float(belief[i])) for i in order[:MAX_ROWS].tolist())
    first = (gain == gain.max()) & np.isclose(channel.prior, channel.prior[order[0]])
    return {"per_secret": tuple(risk for risk in risks if risk.prior > 0), "worst_off": int(first.sum())}


def _answer(answer: Any, secrets: tuple[str, ...], stakes: Stakes) -> str:
    """Return the name of a line or secret, or the coordinates of an answer between secrets."""
    if not isinstance(stakes.loss, str) or stakes.loss == "hamming":
        names = stakes.answers or secrets
        number = int(answer)
        return names[number] if 0 <= number < len(names) else f"answer {number}"
    points, point = np.asarray(stakes.coordinates).reshape(len(secrets), -1), np.ravel(answer)
    match = np.flatnonzero(np.isclose(points, point, rtol=1e-9, atol=1e-9 * float(np.ptp(points))).all(axis=1))
    return secrets[int(match[0])] if match.size else ", ".join(f"{value:.6g}" for value in point)


def _spread(attacked: AttackedChannel) -> tuple[tuple[float, float], ...]:
    """Return rising errors and the share of observations, by weight, with at most that error."""
    value, number = np.unique(attacked.error.conditional, return_inverse=True)
    share = np.cumsum(np.bincount(number, weights=attacked.belief.observation_weight))
    return tuple(zip(value.tolist(), np.minimum(share, 1.0).tolist(), strict=True))


def _bounds(belief: Posterior, stakes: Stakes) -> tuple[BoundRow, ...]:
    limits = bounds(belief, stakes.loss, coordinates=stakes.coordinates)
    worst = int(np.argmax(limits.regret))
    by_variation, by_divergence = (limits.weight @ gap for gap in (limits.gap_by_variation, limits.gap_by_divergence))
    terms = (
        ("Privacy lost on average, by total variation", by_variation, limits.average_gap,
         "largest loss times the average shift of belief"),
        ("Privacy lost on average, by divergence", by_divergence, limits.average_gap,
         "largest loss times the average root of D / 2, D in nats"),
        ("What ignoring one observation costs, by total variation",
         limits.regret_by_variation[worst], limits.regret[worst],
         "at the observation that is worth most: twice the largest loss times the shift of belief there"),
        ("Mean square of that cost, by mutual information",
         limits.mean_square_by_information, limits.mean_square_regret,
         "twice the squared largest loss times the information in nats"),
    )  # fmt: skip
    units = (stakes.unit,) * 3 + (f"{stakes.unit} squared",)
    return tuple(
        BoundRow(name, float(bound), float(value), unit, formula)
        for (name, bound, value, formula), unit in zip(terms, units, strict=True)
    )
