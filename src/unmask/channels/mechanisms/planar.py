"""Mechanisms for places: noise on the plane, and its channel between cells of a grid or points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy

from unmask.channels._matrices import Floats
from unmask.channels.channel import MAX_DENSE_ENTRIES, Channel
from unmask.channels.datasets.locations import Grid
from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.ranges import CheckedParameters, Range

MAX_METERS = 1e9
"""Largest standard deviation: wider than any place on Earth."""

WIDTH_STEP = 0.05
"""Step of the trapezoidal rule in the logarithm of the width: relative errors of cell masses are 1e-14 (1e-9 for masses
down to e^-100)."""


@dataclass(frozen=True)
class PlanarLaplace(CheckedParameters):
    """Planar Laplace noise, of density epsilon^2 / (2 pi) e^(-epsilon r) at distance r.

    It has geo-indistinguishability, p(y given x) / p(y given x') <= e^(epsilon |x - x'|). The mean distance is
    2 / epsilon, the mean squared distance 6 / epsilon^2.

    Assumes: each place is shown once, and people might be anywhere.

    Fails when: a place is shown again and again, for the mean finds it; or few places are possible within the reach of
    the noise.

    Parameters
    ----------
    epsilon : float
        Nats for each meter, above 0 (infinity: the truth).

    References
    ----------
    M. E. Andrés et al., "Geo-indistinguishability", CCS 2013, section 4.

    Examples
    --------
    >>> released = PlanarLaplace(epsilon=0.001)(np.zeros((100_000, 2)), rng=np.random.default_rng(0))
    >>> round(float(np.hypot(*released.T).mean()), -1)  # meters: 2 / epsilon
    2000.0
    """

    epsilon: Annotated[float, Range(0, above=True)]

    def channel(self, space: Grid | Floats, prior: Floats | None = None) -> Channel:
        """Return the channel between the cells of a grid, or between (n, 2) points in meters.

        Grid: p(y given x) is the exact mass of cell y around the center of cell x. Points outside the grid are shown
        as the nearest cell. This processes the noisy point alone, so epsilon holds. Points: the density at each point,
        p ~ e^(-epsilon |x - y|), normalized over the points. The normalization depends on x: the channel has
        2 epsilon, not epsilon.

        The mass has no closed form. Planar Laplace noise is Gaussian noise whose width is drawn from the Maxwell
        distribution of scale 1 / epsilon: its characteristic function is (1 + |t|^2 / epsilon^2)^(-3/2). The mass of a
        cell is therefore one smooth integral over the width.

        >>> PlanarLaplace(1.0).channel(Grid(3, 1)).p_y_given_x.round(4)
        array([[0.648 , 0.1938, 0.1582],
               [0.352 , 0.296 , 0.352 ],
               [0.1582, 0.1938, 0.648 ]])
        """
        if not isinstance(space, Grid):
            distance = _distances(space)
            scaled = np.multiply(self.epsilon, distance, out=np.zeros_like(distance), where=distance > 0)
            return Channel(_normalized(-scaled), prior)
        node = np.arange(-13.0, 3.0, WIDTH_STEP)
        weight = np.exp(3.0 * node - np.exp(2.0 * node) / 2.0)
        with np.errstate(over="ignore"):
            width = np.exp(node) / self.epsilon
        return _on_grid(space, space.points, width, weight / weight.sum(), prior)

    def __call__(self, population: Floats, *, rng: np.random.Generator | None = None) -> Floats:
        """Move points (..., 2) in meters by a uniform angle and a Gamma(2, 1 / epsilon) distance."""
        rng = secret_unless(rng)
        points = _check_points(population)
        radius = rng.gamma(2.0, 1.0 / self.epsilon, size=points.shape[:-1])
        angle = rng.uniform(0.0, 2.0 * np.pi, size=points.shape[:-1])
        return np.asarray(points + radius[..., None] * np.stack((np.cos(angle), np.sin(angle)), axis=-1))


@dataclass(frozen=True)
class PlanarGaussian(CheckedParameters):
    """Gaussian noise of standard deviation sigma on each axis, of mean squared distance 2 sigma^2.

    It has no finite epsilon.

    Assumes: as `PlanarLaplace`, and that the cost of an error is its squared distance.

    Fails when: a guarantee is needed: the farther a place, the more surely it is ruled out; or a place is shown
    again and again.

    Parameters
    ----------
    sigma : float
        Meters, at least 0 (0: the truth).

    References
    ----------
    D. Rebollo-Monedero et al., "On the measurement of privacy as an attacker's estimation error", 2012, section VI-A.

    Examples
    --------
    >>> released = PlanarGaussian(sigma=1000.0)(np.zeros((100_000, 2)), rng=np.random.default_rng(0))
    >>> round(float((released**2).sum(axis=1).mean()) / 1e6, 1)  # km^2: 2 sigma^2
    2.0
    """

    sigma: Annotated[float, Range(0, MAX_METERS)]

    def channel(self, space: Grid | Floats, prior: Floats | None = None) -> Channel:
        """Return the channel between the cells of a grid, or between (n, 2) points in meters, as `PlanarLaplace` does.

        >>> PlanarGaussian(1.0).channel(Grid(2, 1)).p_y_given_x.round(4)  # Phi(1/2) = 0.6915
        array([[0.6915, 0.3085],
               [0.3085, 0.6915]])
        """
        if isinstance(space, Grid):
            return _on_grid(space, space.points, np.array([self.sigma]), np.ones(1), prior)
        with np.errstate(divide="ignore", invalid="ignore"):
            squared = -0.5 * (_distances(space) / self.sigma) ** 2
        return Channel(_normalized(np.nan_to_num(squared, nan=0.0, neginf=-np.inf)), prior)

    def __call__(self, population: Floats, *, rng: np.random.Generator | None = None) -> Floats:
        """Move points (..., 2) in meters."""
        rng = secret_unless(rng)
        points = _check_points(population)
        return points + self.sigma * rng.standard_normal(points.shape)


@dataclass(frozen=True)
class Shrink(CheckedParameters):
    """Gaussian noise with shrinkage towards the center: c + a (x + noise - c), a = s^2 / (s^2 + sigma^2).

    For a Gaussian prior of standard deviation s (`spread`) on each axis around c (`center`) this is the adversary's
    best estimate given the noisy point: distortion falls from 2 sigma^2 to 2 s^2 sigma^2 / (s^2 + sigma^2), and
    their error, which is that same number, does not change. Adding noise alone wastes 2 sigma^4 / (s^2 + sigma^2).

    Assumes: people are spread as one Gaussian around the center.

    Fails when: they live in several towns; and those far from the center, who are moved farthest, still stand out.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise in meters, at least 0.
    spread : float
        Standard deviation of the prior in meters, above 0.
    center : (float, float)
        Center of the prior in meters.

    References
    ----------
    S. M. Kay, "Fundamentals of statistical signal processing: estimation theory", 1993, chapter 12, for this estimate.

    Examples
    --------
    >>> places = np.random.default_rng(1).normal(scale=3000.0, size=(100_000, 2))
    >>> released = Shrink(sigma=1000.0, spread=3000.0)(places, rng=np.random.default_rng(0))
    >>> round(float(((released - places) ** 2).sum(axis=1).mean()) / 1e6, 1)  # km^2: 2 s^2 sigma^2 / (s^2 + sigma^2)
    1.8
    """

    sigma: Annotated[float, Range(0, MAX_METERS)]
    spread: Annotated[float, Range(0, MAX_METERS, above=True)]
    center: tuple[float, float] = (0.0, 0.0)

    @property
    def factor(self) -> float:
        """Return a = spread^2 / (spread^2 + sigma^2), 1 without noise."""
        return self.spread**2 / (self.spread**2 + self.sigma**2)

    @property
    def distortion(self) -> float:
        """Return the mean squared distance under the Gaussian prior, 2 s^2 sigma^2 / (s^2 + sigma^2), in square meters.

        It is the adversary's error, too.
        """
        return 2.0 * self.factor * self.sigma**2

    def channel(self, space: Grid, prior: Floats | None = None) -> Channel:
        """Return the channel between the cells of a grid, as `PlanarLaplace` does."""
        center = np.array(self.center)
        mean = center + self.factor * (space.points - center)
        return _on_grid(space, mean, np.array([self.factor * self.sigma]), np.ones(1), prior)

    def __call__(self, population: Floats, *, rng: np.random.Generator | None = None) -> Floats:
        """Move points (..., 2) in meters by the noise, then towards the center."""
        rng = secret_unless(rng)
        noisy = PlanarGaussian(self.sigma)(population, rng=rng)
        return np.asarray(np.array(self.center) + self.factor * (noisy - np.array(self.center)))


def _on_grid(space: Grid, mean: Floats, width: Floats, weight: Floats, prior: Floats | None) -> Channel:
    """Return the masses of cells under a mixture of round Gaussians: sum_q weight_q East_q (x) North_q."""
    if len(space) ** 2 > MAX_DENSE_ENTRIES:
        raise UnmaskError(
            f"the grid has {len(space)} cells, expected at most {int(MAX_DENSE_ENTRIES**0.5)}: use wider or fewer cells"
        )
    n, m = space.n, space.m
    east = _axis_masses(mean.reshape(n, m, 2)[:, 0, 0], space.east_edges, width)
    north = _axis_masses(mean.reshape(n, m, 2)[0, :, 1], space.north_edges, width)
    table = (weight[:, None] * east.reshape(len(width), -1)).T @ north.reshape(len(width), -1)
    # rows (i, i'), columns (j, j') -> secret (i, j), output (i', j')
    table = table.reshape(n, n, m, m).transpose(0, 2, 1, 3).reshape(n * m, n * m)
    return Channel(table, prior, x_labels=space.labels, y_labels=space.labels)


def _axis_masses(mean: Floats, edges: Floats, width: Floats) -> Floats:
    """Return the (n_widths, n_means, n_cells) Gaussian masses of intervals; the outer ones reach to infinity."""
    with np.errstate(divide="ignore"):
        inner = (edges[1:-1] - mean[:, None]) / width[:, None, None]
    ends = np.full((*inner.shape[:2], 1), np.inf)
    low, high = np.concatenate((-ends, inner), axis=2), np.concatenate((inner, ends), axis=2)
    is_upper = low > 0  # in the small tail a difference keeps its digits
    return np.asarray(
        np.where(
            is_upper,
            scipy.special.ndtr(-low) - scipy.special.ndtr(-high),
            scipy.special.ndtr(high) - scipy.special.ndtr(low),
        )
    )


def _distances(points: Floats) -> Floats:
    points = _check_points(points)
    if points.ndim != 2 or not len(points):
        raise UnmaskError(f"the points have shape {points.shape}, expected points x 2")
    return np.asarray(np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=-1)))


def _normalized(log_density: Floats) -> Floats:
    table = np.exp(log_density)  # 1 on the diagonal, so no row is empty
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _check_points(values: Floats) -> Floats:
    points = np.asarray(values, dtype=np.float64)
    if points.ndim < 1 or points.shape[-1] != 2:
        raise UnmaskError(f"the points have shape {points.shape}, expected two coordinates on the last axis")
    if not np.all(np.isfinite(points)):
        raise UnmaskError("the points have coordinates that are not numbers, expected finite ones")
    return points
