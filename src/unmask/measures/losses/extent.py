"""The largest distance between points, without a table of all pairs."""

from __future__ import annotations

from itertools import product

import numpy as np

from unmask.measures.losses.cells import CHUNK, Floats


def diameter(points: Floats) -> float:
    """Largest Euclidean distance between two of the points, exactly.

    points : (n, n_dimensions). Two points at radii r and s from the center are at most r + s apart, so that only
    points near the rim are compared: fast unless all lie on a sphere.

    >>> diameter(np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]]))
    5.0
    """
    if points.shape[1] == 1:
        return float(np.ptp(points))
    radius = np.linalg.norm(points - (points.min(axis=0) + points.max(axis=0)) / 2, axis=1)
    order = np.argsort(-radius, kind="stable")
    points, radius = points[order], radius[order]
    best = _sweep(points)
    step = max(CHUNK // (len(points) * points.shape[1]), 1)
    for first in range(0, len(points), step):
        if radius[first] + radius[0] <= best:
            break
        reach = int(np.searchsorted(-radius, radius[first] - best, side="right"))
        some = points[first : first + step]
        apart = some[:, None, :] - points[None, :reach, :]
        best = max(best, float(np.sqrt((apart**2).sum(axis=-1).max(initial=0.0))))
    return best


def _sweep(points: Floats) -> float:
    """A distance that is often the largest: to the farthest point from the farthest point from the first."""
    at, best = points[0], 0.0
    for _ in range(3):
        away = np.linalg.norm(points - at, axis=1)
        at, best = points[away.argmax()], max(best, float(away.max()))
    return best


def diameter_of_blocks(points: Floats) -> float:
    """Largest sum of coordinate differences between two of the points: the widest range of any signed sum of the
    coordinates.

    >>> diameter_of_blocks(np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]]))
    7.0
    """
    signs = product((1.0, -1.0), repeat=points.shape[1] - 1)
    return max(float(np.ptp(points @ np.array([1.0, *sign]))) for sign in signs)
