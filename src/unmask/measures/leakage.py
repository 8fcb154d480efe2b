"""What the release added: distances between what the adversary believes and what he believed before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import UnmaskError
from unmask.measures.base import Measure
from unmask.measures.entropy import refuse_scores
from unmask.measures.losses.cells import cells, sharing
from unmask.measures.rows import Rows, chunks, per_row, unpack
from unmask.posterior import Posterior

SOURCE = "Rebollo-Monedero et al. 2012, section V-B"

LN2 = float(np.log(2.0))

RESOLUTION = 1e-6
"""Distances below this are the rounding of stored beliefs (float32) and count as 0."""


def _resolved(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(distance < RESOLUTION, 0.0, distance)


def _log_ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """log(part / whole), 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(part) - np.log(whole)
    return np.where((part <= 0) & (whole <= 0), 0.0, ratio)


def _log_ratio_if_possible(rows: Rows) -> NDArray[np.float64]:
    """Log of belief over prior of the unlisted as a whole, 0 where it has no mass."""
    return np.where(rows.unlisted > 0, _log_ratio(rows.unlisted, rows.prior_unlisted), 0.0)


def _information(rows: Rows) -> NDArray[np.float64]:
    rest = rows.unlisted * _log_ratio_if_possible(rows)
    return _resolved((rows.sum(rows.p * (rows.log_p - rows.log_q)) + rest) / LN2)


def _total_variation(rows: Rows) -> NDArray[np.float64]:
    listed = rows.sum(np.abs(rows.p - np.exp(rows.log_q)))
    return _resolved(np.minimum(0.5 * (listed + np.abs(rows.unlisted - rows.prior_unlisted)), 1.0))


def _confirmation(rows: Rows) -> NDArray[np.float64]:
    listed = rows.max(rows.log_p - rows.log_q, empty=-np.inf)
    return _resolved(np.maximum(listed, _log_ratio_if_possible(rows)))


def _refutation(rows: Rows) -> NDArray[np.float64]:
    listed = rows.max(rows.log_q - rows.log_p, empty=-np.inf)
    rest = np.where(rows.prior_unlisted > 0, _log_ratio(rows.prior_unlisted, rows.unlisted), 0.0)
    return _resolved(np.maximum(listed, rest))


information_gain = Measure(
    name="information_gain_bits",
    unit="bits",
    direction="high",
    range=(0.0, np.inf),
    source=SOURCE + "2: the mean is I(X; Y), the worst-off observation is t read as a Kullback-Leibler divergence",
    self_assessed=lambda belief: per_row(belief, _information),
    needs_probabilities=True,
)
"""D(p(. given y) || prior) in bits. What is unlisted is compared as a whole, exact where its belief is proportional to
the prior and a lower bound elsewhere. For identity over a uniform prior on n records it is log2 n - log2 k in a class
of k."""

total_variation = Measure(
    name="total_variation",
    unit="probability",
    direction="high",
    range=(0.0, 1.0),
    source="N. Li et al., 't-Closeness', 2007, equal distance; " + SOURCE + "1",
    self_assessed=lambda belief: per_row(belief, _total_variation),
    needs_probabilities=True,
)
"""1/2 sum_x |p(x given y) - p(x)|: half of the largest bound on what the adversary can gain under any loss of range 1;
its worst-off observation is t of t-closeness under the equal distance."""

confirmation = Measure(
    name="delta_up",
    unit="nats",
    direction="high",
    range=(0.0, np.inf),
    source=SOURCE + "3, delta-disclosure, upward half",
    self_assessed=lambda belief: per_row(belief, _confirmation),
    needs_probabilities=True,
)
"""max_x log p(x given y) / p(x): how much surer of something the adversary gets; always finite."""

refutation = Measure(
    name="delta_down",
    unit="nats",
    direction="high",
    range=(0.0, np.inf),
    source=SOURCE + "3, delta-disclosure, downward half",
    self_assessed=lambda belief: per_row(belief, _refutation),
    needs_probabilities=True,
)
"""max_x log p(x) / p(x given y): how firmly he can rule something out; infinite once a possible value is missing from a
class, as it always is for identity. delta of delta-disclosure is the larger of the two."""

epsilon = Measure(
    name="epsilon_nats",
    unit="nats",
    direction="high",
    range=(0.0, np.inf),
    source="C. Dwork, 'Differential privacy', 2006; local form: J. Duchi et al., 2013",
    self_assessed=lambda belief: per_row(belief, lambda rows: _confirmation(rows) + _refutation(rows)),
    needs_probabilities=True,
)
"""max over x, x' of log p(y given x) / p(y given x') = delta_up + delta_down of the observation: what it says about
any two candidates of positive prior. Its largest is the epsilon of the channel, delta <= epsilon <= 2 delta. Infinite
where a possible candidate is excluded."""


@dataclass(frozen=True, eq=False)
class Leakage:
    """What each observation gave away, and what the release gave away as a whole.

    information_bits : (n_observations,) D(p(. given y) || prior), see `information_gain`
    total_variation  : (n_observations,) see `total_variation`
    up, down         : (n_observations,) nats, see `confirmation` and `refutation`
    weight           : (n_observations,) p(y)
    The worst cases are over observations that a target of positive weight produced.
    """

    information_bits: NDArray[np.float64]
    total_variation: NDArray[np.float64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    weight: NDArray[np.float64]

    @property
    def mutual_information_bits(self) -> float:
        """I(X; Y) = E D(p(. given y) || prior), for a belief whose prior is the mean of its rows."""
        return float(self.weight @ self.information_bits)

    @property
    def t_divergence_bits(self) -> float:
        """Largest divergence: t read as Kullback-Leibler. It cannot see how like each other values are."""
        return self._worst(self.information_bits)

    @property
    def t_equal(self) -> float:
        """Largest total variation: t under the equal distance."""
        return self._worst(self.total_variation)

    @property
    def delta_up(self) -> float:
        """Largest log-ratio upward, nats."""
        return self._worst(self.up)

    @property
    def delta_down(self) -> float:
        """Largest log-ratio downward, nats; infinite once a candidate is excluded."""
        return self._worst(self.down)

    @property
    def delta(self) -> float:
        """delta of delta-disclosure, nats: the larger of the two."""
        return max(self.delta_up, self.delta_down)

    @property
    def epsilon(self) -> float:
        """Epsilon of the channel, nats: max_y (up + down)."""
        return self._worst(self.up + self.down)

    @property
    def maximal_bits(self) -> float:
        """Maximal leakage log2 sum_y max_x p(y given x) = log2 E max_x p(x given y) / p(x), in bits.

        It bounds what any adversary can multiply his chance of a right guess by, whatever he wants to know and whatever
        his prior. I. Issa, A. Wagner and S. Kamath, "An operational approach to information leakage", 2020.
        """
        return max(float(np.log2(self.weight @ np.exp(self.up))), 0.0)

    def _worst(self, values: NDArray[np.float64]) -> float:
        return float(values[self.weight > 0].max())


def leakages(belief: Posterior) -> Leakage:
    """All of it in one pass.

    >>> both = leakages(Posterior.from_dense(np.array([[0.75, 0.25], [0.25, 0.75]])))
    >>> round(both.mutual_information_bits, 4), round(both.t_equal, 4), round(float(np.exp(both.epsilon)), 4)
    (0.1887, 0.25, 3.0)
    """
    refuse_scores(belief, "leakage")
    quantities = (_information, _total_variation, _confirmation, _refutation)
    parts = (unpack(belief, start, stop) for start, stop in chunks(belief))
    columns = np.concatenate([np.stack([quantity(rows) for quantity in quantities]) for rows in parts], axis=1)
    return Leakage(*columns, belief.observation_weight)


def mutual_information(belief: Posterior) -> float:
    """I(X; Y) in bits, the mean of `information_gain` over targets: the privacy risk R of the release.

    The prior has to be the mean of the rows, as it is for a belief that is exact.

    >>> round(mutual_information(Posterior.from_dense(np.array([[0.75, 0.25], [0.25, 0.75]]))), 4)
    0.1887
    """
    refuse_scores(belief, "mutual information")
    return float(belief.observation_weight @ per_row(belief, _information))


def sibson_leakage(belief: Posterior, alpha: float) -> float:
    """Sibson's mutual information of order alpha, bits: alpha / (alpha - 1) log2 sum_y (sum_x p(x) p(y|x)^alpha)^(1/alpha).

    alpha : above 0; 1 is I(X; Y), inf the maximal leakage. It never falls with alpha.

    >>> belief = Posterior.from_dense(np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> [round(sibson_leakage(belief, a), 4) for a in (1, 2, np.inf)]
    [0.1887, 0.3219, 0.585]

    R. Sibson, "Information radius", 1969; S. Verdú, "Alpha-mutual information", 2015.
    """
    refuse_scores(belief, "leakage")
    if not alpha > 0:
        raise UnmaskError(f"alpha is {alpha}, expected above 0; 1 is mutual information and inf maximal leakage")
    if alpha == 1:
        return mutual_information(belief)
    weight = belief.observation_weight
    if alpha == np.inf:
        return max(float(np.log2(weight @ np.exp(per_row(belief, _confirmation)))), 0.0)
    mean = per_row(belief, lambda rows: _power_mean(rows, alpha))
    return max(alpha / (alpha - 1.0) * float(np.log2(weight @ mean)), 0.0)


def _power_mean(rows: Rows, alpha: float) -> NDArray[np.float64]:
    """(sum_x q (p / q)^alpha)^(1/alpha), relative to the largest ratio, whose power would overflow."""
    rest = _log_ratio_if_possible(rows)
    top = np.maximum(rows.max(rows.log_p - rows.log_q, empty=-np.inf), np.where(rows.unlisted > 0, rest, -np.inf))
    ratio = rows.log_p - rows.log_q - np.repeat(top, rows.n_listed)
    unlisted = np.where(rows.unlisted > 0, rows.prior_unlisted * np.exp(alpha * (rest - top)), 0.0)
    total = rows.sum(np.exp(rows.log_q + alpha * ratio)) + unlisted
    return np.asarray(np.exp(top + np.log(total) / alpha))


def min_entropy_leakage(belief: Posterior) -> float:
    """log2 of how many times likelier a right guess is after the release: log2 E max p(x given y) - log2 max p(x), bits.

    >>> round(min_entropy_leakage(Posterior.from_dense(np.array([[0.75, 0.25], [0.25, 0.75]]))), 4)
    0.585

    G. Smith, "On the foundations of quantitative information flow", 2009.
    """
    from unmask.measures.entropy import min_entropy_smith

    return min_entropy_smith(belief.prior()) - min_entropy_smith(belief)


def earth_mover(
    *, coordinates: ArrayLike | None = None, ground: ArrayLike | None = None, name: str = "earth_mover"
) -> Measure:
    """How far mass has to be carried to turn the prior into the belief: t-closeness as its authors mean it, per
    observation; the worst-off is t.

    coordinates : (n_candidates,) values on a line, distance |z - z'|. Exact, sum over the line of the difference of the
                  two distribution functions; their ranks, divided by n - 1, give the ordered distance of t-closeness.
    ground      : (n_candidates, n_candidates) any other distance, at least 0: a transport problem for each observation,
                  solved as a linear program, for hundreds of candidates at most. All distances 1: `total_variation`.
    Needs a closed world: mass on "none of these" has no place to be carried from. Unlike the divergence it tells near
    values from far ones: report both, and name both.

    >>> belief = Posterior.from_dense(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    >>> earth_mover(coordinates=[3.0, 4.0, 5.0]).per_target(belief).round(6)
    array([1.      , 0.666667])
    >>> earth_mover(ground=1 - np.eye(3)).per_target(belief).round(6)
    array([0.666667, 0.666667])

    N. Li, T. Li and S. Venkatasubramanian, "t-Closeness", 2007, section 5.
    """
    if (coordinates is None) == (ground is None):
        raise UnmaskError("the earth mover needs either coordinates on a line or a ground distance, not both or none")
    if coordinates is not None:
        distance = _on_a_line(np.asarray(coordinates, dtype=np.float64))
    else:
        distance = _by_transport(np.asarray(ground, dtype=np.float64))
    return Measure(
        name=name,
        unit="distance",
        direction="high",
        range=(0.0, np.inf),
        source="N. Li et al., 't-Closeness', 2007, section 5",
        self_assessed=distance,
        needs_probabilities=True,
    )


def _closed_prior(belief: Posterior) -> NDArray[np.float64]:
    """(n_candidates,) the prior, sum 1, of a belief that leaves nothing to "none of these"."""
    open_ = np.flatnonzero((belief.unlisted > RESOLUTION) & ~sharing(belief))
    prior = np.exp(belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32)))
    if open_.size or abs(prior.sum() - 1.0) > 1e-5:
        raise UnmaskError(
            f'{open_.size} observations leave mass to "none of these" and the prior sums to {prior.sum():.6g}, expected '
            "none and 1: the earth mover needs every belief to be about the candidates"
        )
    return np.asarray(prior / prior.sum())


def _on_a_line(z: NDArray[np.float64]) -> Callable[[Posterior], NDArray[np.float64]]:
    def distance(belief: Posterior) -> NDArray[np.float64]:
        if z.shape != (belief.n_candidates,) or not np.all(np.isfinite(z)):
            raise UnmaskError(
                f"the coordinates have shape {z.shape}, expected one finite number for each of "
                f"{belief.n_candidates} candidates"
            )
        prior = _closed_prior(belief)
        order = np.argsort(z, kind="stable")
        place = np.empty(len(z), dtype=np.int64)
        place[order] = np.arange(len(z))
        gap, below = np.diff(z[order]), np.cumsum(prior[order])[:-1]
        rows_at_once = max((1 << 22) // len(z), 1)
        out = np.empty(belief.n_observations)
        for part in cells(belief):
            p = part.p / np.repeat(part.mass, part.length)
            for first in range(0, len(part.nobody), rows_at_once):
                last = min(first + rows_at_once, len(part.nobody))
                entries = slice(part.indptr[first], part.indptr[last])
                table = np.zeros((last - first, len(z)))
                row = np.repeat(np.arange(last - first), part.length[first:last])
                table[row, place[part.candidate[entries]]] = p[entries]
                np.cumsum(table, axis=1, out=table)
                away = table[:, :-1]
                away -= below
                np.abs(away, out=away)
                out[part.start + first : part.start + last] = away @ gap
        return np.where(out < RESOLUTION * (gap.sum() if len(gap) else 1.0), 0.0, out)

    return distance


def _by_transport(ground: NDArray[np.float64]) -> Callable[[Posterior], NDArray[np.float64]]:
    def distance(belief: Posterior) -> NDArray[np.float64]:
        n = belief.n_candidates
        if ground.shape != (n, n) or not np.all(np.isfinite(ground)) or ground.min() < 0:
            raise UnmaskError(f"the ground distance has shape {ground.shape}, expected {n} x {n}, finite, at least 0")
        prior, out = _closed_prior(belief), np.empty(belief.n_observations)
        for part in cells(belief):
            p = part.p / np.repeat(part.mass, part.length)
            for row in range(len(part.nobody)):
                entries = slice(part.indptr[row], part.indptr[row + 1])
                out[part.start + row] = transport(p[entries], prior, ground[part.candidate[entries]])
        return np.where(out < RESOLUTION * max(ground.max(), 1e-300), 0.0, out)

    return distance


def transport(p: NDArray[np.float64], q: NDArray[np.float64], ground: NDArray[np.float64]) -> float:
    """Smallest cost of carrying p to q: min sum_ij f_ij d_ij, f >= 0 with margins p and q.

    p, q : (n,) and (m,), the same sum; ground : (n, m)

    >>> transport(np.array([0.5, 0.5]), np.array([0.0, 1.0]), np.array([[0.0, 3.0], [3.0, 0.0]]))
    1.5
    """
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron, vstack

    supplies, demands = p > 0, q > 0
    cost = ground[np.ix_(supplies, demands)]
    n, m = cost.shape
    margins = vstack([kron(eye_array(n), np.ones((1, m))), kron(np.ones((1, n)), eye_array(m))], format="csr")
    sums = np.concatenate([p[supplies], q[demands] * (p.sum() / q.sum())])
    solved = linprog(cost.ravel(), A_eq=margins[:-1], b_eq=sums[:-1], method="highs")  # the last follows from the rest
    if solved.status != 0:
        raise UnmaskError(f"the transport problem of {n} x {m} was not solved: {solved.message}")
    return max(float(solved.fun), 0.0)
