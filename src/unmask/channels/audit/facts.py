"""Measurements of attacked channels: each mechanism, the limit that no mechanism passes, and one channel in detail."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.channels.channel import Channel
from unmask.channels.design import limit_curve
from unmask.channels.loss_model import LossModel
from unmask.core.posterior import Posterior
from unmask.measures.bounds import bounds
from unmask.measures.error import BayesError, bayes
from unmask.measures.leakage import channel_epsilon
from unmask.measures.losses import LOSS_NAMES, decision_problem
from unmask.measures.sensitive_values import success_by_value

MAX_ROWS = 20
"""Outputs, and secrets, in the tables of a page."""

MAX_LIKELIEST = 5
"""Likeliest secrets listed for an output."""

TOLERANCE = 1e-9
"""Relative excess over a limit that is rounding."""

Point = tuple[float, float]


class AttackedChannel(NamedTuple):
    """A channel with the belief and the error of the best adversary."""

    name: str
    channel: Channel
    belief: Posterior
    error: BayesError

    @classmethod
    def run(cls, name: str, channel: Channel, model: LossModel) -> AttackedChannel:
        """Attack a channel under the loss."""
        belief = channel.posterior()
        return cls(name, channel, belief, bayes(belief, model.loss, coordinates=model.coordinates))


class Mechanism(NamedTuple):
    """Utility and privacy of one mechanism.

    Parameters
    ----------
    name : str
        Name given by the caller.
    distortion : float
        Expected distortion; NaN if it is unknown.
    privacy, worst : float
        Expected loss of the best adversary: on average, and at the most revealing output.
    errors : mapping of str to float or None
        Expected loss of other adversaries; None if it is not defined.
    leakage_bits : float
        Mutual information of secret and output.
    epsilon : float
        Largest log ratio of probabilities of an output, in nats; infinite if an output rules a secret out.
    """

    name: str
    distortion: float
    privacy: float
    worst: float
    errors: Mapping[str, float | None]
    leakage_bits: float
    epsilon: float

    @property
    def is_finite(self) -> bool:
        """Return whether distortion and error are finite."""
        return math.isfinite(self.distortion + self.privacy)


class RevealingOutput(NamedTuple):
    """An output: its probability, the best answer, the expected loss of that answer, and the likeliest secrets."""

    observation: str
    chance: float
    answer: str
    error: float
    likeliest: tuple[tuple[str, float], ...]


class ExposedSecret(NamedTuple):
    """A secret: its prior probability, and the adversary's mean belief in it where it is the truth."""

    secret: str
    prior: float
    belief: float


class Bound(NamedTuple):
    """A bound and the quantity that it bounds, in the same unit."""

    name: str
    bound: float
    truth: float
    unit: str
    meaning: str = ""

    @property
    def ratio(self) -> float | None:
        """Return the bound divided by the true value: infinite if that is 0, None if the ratio has no meaning.

        >>> Bound("a", 3.0, 2.0, "km").ratio, Bound("a", 3.0, 0.0, "km").ratio
        (1.5, inf)
        """
        if math.isnan(self.bound) or math.isnan(self.truth) or math.isinf(self.truth):
            return None
        if self.truth == 0:
            return None if self.bound == 0 else math.copysign(math.inf, self.bound)
        return self.bound / self.truth


@dataclass(frozen=True)
class ChannelFacts:
    """Mechanisms, the limit that no mechanism passes, and details of the first mechanism.

    Parameters
    ----------
    n_secrets, n_outputs : int
        Sizes of the first channel.
    model : LossModel
        Loss and distortion.
    prior_error : float
        Expected loss of the best answer without any output.
    mechanisms : tuple of Mechanism
        Compared mechanisms, at least one; the first in detail.
    limit : tuple of (float, float)
        Distortion and privacy of the optimal mechanism, by rising distortion; empty if it was not computed.
    outputs : tuple of RevealingOutput
        Most revealing outputs first, at most 20.
    secrets : tuple of ExposedSecret
        Secrets whose belief rises most first, at most 20.
    n_most_exposed : int
        Number of secrets that share the first place.
    spread : tuple of (float, float)
        Rising errors, and the share of cases whose output has at most that error.
    bounds : tuple of Bound
        Bounds and true values.
    """

    n_secrets: int
    n_outputs: int
    model: LossModel
    prior_error: float
    mechanisms: tuple[Mechanism, ...]
    limit: tuple[Point, ...] = ()
    outputs: tuple[RevealingOutput, ...] = ()
    secrets: tuple[ExposedSecret, ...] = ()
    n_most_exposed: int = 1
    spread: tuple[Point, ...] = ()
    bounds: tuple[Bound, ...] = ()
    design_options: str = "--prior prior.csv"

    @property
    def first(self) -> Mechanism:
        """Mechanism in detail."""
        return self.mechanisms[0]

    @property
    def other_adversaries(self) -> tuple[str, ...]:
        """Adversaries besides the best one, in the order of their first mention."""
        return tuple(dict.fromkeys(name for mechanism in self.mechanisms for name in mechanism.errors))

    @property
    def distortion_known(self) -> bool:
        """True if the distortion of any mechanism is known."""
        return not all(math.isnan(mechanism.distortion) for mechanism in self.mechanisms)

    def limit_at(self, distortion: float) -> float | None:
        """Return the privacy of the optimal mechanism at a distortion, by linear interpolation of the computed points.

        The line between two points can be attained by a random choice of their mechanisms, so the limit is never
        overstated. Beyond the last point it stays at the error without any output if it has reached that, since nothing
        exceeds it. None if it is unknown: before the first point, beyond the last one otherwise, or without a limit.

        >>> near = Mechanism("a", 1.0, 0.5, 0.2, {}, 1.0, 2.0)
        >>> facts = ChannelFacts(4, 4, LossModel(), 3.0, (near,), limit=((0.0, 0.0), (2.0, 2.0)))
        >>> facts.limit_at(1.0), facts.limit_at(2.5)
        (1.0, None)
        """
        if not self.limit or not self.limit[0][0] - TOLERANCE <= distortion < math.inf:
            return None
        for (x, y), (next_x, next_y) in pairwise(self.limit):
            if x <= distortion <= next_x:
                return max(y, next_y) if next_x == x else y + (next_y - y) * (distortion - x) / (next_x - x)
        end, level = self.limit[-1]
        if distortion <= end * (1 + TOLERANCE) + TOLERANCE:
            return level
        return level if level >= self.prior_error * (1 - 1e-6) else None

    @property
    def full_privacy_distortion(self) -> float | None:
        """Least distortion at which the optimal mechanism leaves the whole error; None if it is unknown."""
        return next((cost for cost, error in self.limit if error >= self.prior_error * (1 - 1e-6)), None)

    def share_of_limit(self, mechanism: Mechanism) -> float | None:
        """Return the error of the best adversary as a share of the limit; None if that is unknown or 0."""
        limit = self.limit_at(mechanism.distortion)
        return mechanism.privacy / limit if limit is not None and limit > TOLERANCE * self.prior_error else None


def measure_channels(attacked: Sequence[AttackedChannel], model: LossModel, *, limit: bool) -> tuple[ChannelFacts, str]:
    """Return the facts of channels, the first in detail, and the reason why the limit was not computed, if so."""
    first, mechanisms = attacked[0], tuple(_measure_mechanism(item, model) for item in attacked)
    largest = max(mechanism.distortion for mechanism in mechanisms)
    curve, reason = _compute_limit(first.channel, model, largest) if limit else ((), "it was not asked for")
    secrets, n_most_exposed = _rank_secrets(first)
    facts = ChannelFacts(
        n_secrets=first.channel.n_x,
        n_outputs=first.belief.n_observations,
        model=model,
        prior_error=first.error.prior,
        mechanisms=mechanisms,
        limit=curve,
        outputs=_rank_outputs(first, model),
        secrets=secrets,
        n_most_exposed=n_most_exposed,
        spread=_cumulate_errors(first),
        bounds=_compute_bounds(first.belief, model) if np.isfinite(model.matrix(first.channel.n_x)).all() else (),
        design_options=" ".join(_design_options(first.channel, model)),
    )
    return facts, reason


def _design_options(channel: Channel, model: LossModel) -> Iterator[str]:
    """Yield the options of `unmask design` for the same prior and losses; the names of files state their content."""
    yield "--prior prior.csv"
    if model.name != "hamming":
        yield f"--loss {model.name if model.name in LOSS_NAMES else 'loss.csv'}"
    if model.coordinates is not None and not _are_labels(channel.x_labels, model.coordinates):
        yield "--coordinates places.csv"
    if model.distortion is not None:
        yield "--distortion distortion.csv"


def _are_labels(labels: tuple[str, ...] | None, points: NDArray[np.float64]) -> bool:
    """Return whether places are the numbers in the names of the secrets."""
    try:
        return np.array_equal(np.array(labels or (), dtype=float), points.ravel())
    except ValueError:
        return False


def _compute_limit(channel: Channel, model: LossModel, largest: float) -> tuple[tuple[Point, ...], str]:
    """Return the limit that no mechanism passes, up to a distortion, or the reason why it is not computed."""
    if not np.isfinite(model.matrix(channel.n_x)).all():
        return (), "a loss is infinite"
    cost = model.cost(channel)
    if cost is None:
        return (), "no distortion is known: the outputs are no secrets, and none was given"
    return limit_curve(channel.prior, model.loss, cost, coordinates=model.coordinates, beyond=largest)


def _measure_mechanism(attacked: AttackedChannel, model: LossModel) -> Mechanism:
    name, channel, belief, error = attacked
    joint = channel.dense() * channel.prior[:, None]
    loss = model.matrix(channel.n_x)
    secrets_are_answers = model.answers is None and len(loss) == channel.n_x and bool(np.isfinite(loss).all())
    sampled = None
    if secrets_are_answers:
        problem = decision_problem(model.loss, channel.n_x, coordinates=model.coordinates)
        sampled = float(belief.observation_weight @ problem.sampling_loss(belief))
    guessed = float((loss[joint.argmax(axis=0)] * joint.T).sum()) if secrets_are_answers else None
    return Mechanism(
        name=name,
        distortion=model.expected_distortion(channel),
        privacy=error.average,
        worst=error.worst,
        errors={"gibbs": sampled, "map": guessed},
        leakage_bits=channel.mutual_information(),
        epsilon=channel_epsilon(channel.dense()),
    )


def _rank_outputs(attacked: AttackedChannel, model: LossModel) -> tuple[RevealingOutput, ...]:
    """Return the outputs of least error first."""
    _, channel, belief, error = attacked
    weight = belief.observation_weight
    order = np.lexsort((-weight, error.conditional))
    secrets = channel.x_labels or tuple(map(str, range(channel.n_x)))
    outputs = channel.y_labels or tuple(map(str, range(channel.n_y)))
    ranked = []
    for i in order[weight[order] > 0][:MAX_ROWS].tolist():
        entries = slice(belief.indptr[i], belief.indptr[i + 1])
        p, candidate = np.exp(belief.log_probability[entries].astype(np.float64)), belief.candidate[entries]
        likeliest = np.argsort(-p, kind="stable")[:MAX_LIKELIEST]
        ranked.append(
            RevealingOutput(
                observation=outputs[int(channel.observed[i])],
                chance=float(weight[i]),
                answer=_name_answer(error.answer[i], secrets, model),
                error=float(error.conditional[i]),
                likeliest=tuple((secrets[int(candidate[j])], float(p[j])) for j in likeliest),
            )
        )
    return tuple(ranked)


def _rank_secrets(attacked: AttackedChannel) -> tuple[tuple[ExposedSecret, ...], int]:
    """Return the secrets whose belief rises most if they are the truth, and the number that share the first place."""
    channel = attacked.channel
    belief = success_by_value(attacked.belief)
    gain = np.nan_to_num(belief - channel.prior, nan=-1.0).round(6)
    order = np.argsort(-gain, kind="stable")
    names = channel.x_labels or tuple(map(str, range(channel.n_x)))
    secrets = (ExposedSecret(names[i], float(channel.prior[i]), float(belief[i])) for i in order[:MAX_ROWS].tolist())
    first = (gain == gain.max()) & np.isclose(channel.prior, channel.prior[order[0]])
    return tuple(secret for secret in secrets if secret.prior > 0), int(first.sum())


def _name_answer(answer: Any, secrets: tuple[str, ...], model: LossModel) -> str:
    """Return the name of a row or secret, or the coordinates of an answer between secrets."""
    if not isinstance(model.loss, str) or model.loss == "hamming":
        names = model.answers or secrets
        number = int(answer)
        return names[number] if 0 <= number < len(names) else f"answer {number}"
    points, point = np.asarray(model.coordinates).reshape(len(secrets), -1), np.ravel(answer)
    match = np.flatnonzero(np.isclose(points, point, rtol=1e-9, atol=1e-9 * float(np.ptp(points))).all(axis=1))
    return secrets[int(match[0])] if match.size else ", ".join(f"{value:.6g}" for value in point)


def _cumulate_errors(attacked: AttackedChannel) -> tuple[Point, ...]:
    """Return rising errors and the share of cases whose output has at most that error."""
    value, number = np.unique(attacked.error.conditional, return_inverse=True)
    share = np.cumsum(np.bincount(number, weights=attacked.belief.observation_weight))
    return tuple(zip(value.tolist(), np.minimum(share, 1.0).tolist(), strict=True))


def _compute_bounds(belief: Posterior, model: LossModel) -> tuple[Bound, ...]:
    limits = bounds(belief, model.loss, coordinates=model.coordinates)
    worst = int(np.argmax(limits.regret))
    by_variation, by_divergence = (limits.weight @ gap for gap in (limits.gap_by_variation, limits.gap_by_divergence))
    unit, gap = model.unit, float(limits.average_gap)
    by_output = float(limits.regret_by_variation[worst]), float(limits.regret[worst])
    squares = float(limits.mean_square_by_information), float(limits.mean_square_regret)
    return (
        Bound("Privacy lost on average, by total variation", float(by_variation), gap, unit,
              "largest loss times the mean change of the belief"),
        Bound("Privacy lost on average, by divergence", float(by_divergence), gap, unit,
              "largest loss times the mean root of D / 2, D in nats"),
        Bound("Cost of ignoring the most valuable output, by total variation", *by_output, unit,
              "twice the largest loss times the change of the belief at that output"),
        Bound("Mean square of that cost, by mutual information", *squares, f"{unit} squared",
              "twice the squared largest loss times the information in nats"),
    )  # fmt: skip
