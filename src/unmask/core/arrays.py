"""Names for the types of arrays that beliefs and measures consist of, and quantiles of weighted values."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unmask.core.tolerances import QUANTILE_ROUNDING

Floats: TypeAlias = NDArray[np.float64]

Integers: TypeAlias = NDArray[np.int64]

Booleans: TypeAlias = NDArray[np.bool_]


def weighted_quantiles(value: Floats, weight: Floats, levels: tuple[float, ...]) -> tuple[float, ...]:
    """Return the smallest values whose cumulated weight reaches each level (the inverse distribution function).

    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.5, 0.3]), (0.5, 0.6, 1.0))
    (1.0, 2.0, 3.0)
    """
    has_equal_weights = bool(np.all(weight == weight[0]))  # the order does not matter, and few values are looked up
    order = np.arange(len(value)) if has_equal_weights else np.argsort(value)  # not stable: eight times faster
    cumulated = np.cumsum(weight[order])
    position = np.searchsorted(cumulated, np.asarray(levels) * cumulated[-1] - QUANTILE_ROUNDING)
    position = np.minimum(position, len(value) - 1)
    ordered = np.partition(value, np.unique(position)) if has_equal_weights else value[order]
    return tuple(ordered[position].tolist())
