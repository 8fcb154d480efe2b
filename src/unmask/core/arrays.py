"""Type names for the arrays of beliefs and measures, and weighted quantiles."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.tolerances import QUANTILE_ROUNDING

Floats: TypeAlias = NDArray[np.float64]

Integers: TypeAlias = NDArray[np.int64]

Booleans: TypeAlias = NDArray[np.bool_]


def as_numbers(name: str, values: object) -> Floats:
    """Return values as an array of numbers; raise UnmaskError for a text or a ragged list."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UnmaskError(f"{name} is not made of numbers; give one number for each") from None


def mark_first(ordered: NDArray[np.integer]) -> Booleans:
    """Return a mask of the first of each run of equal values.

    >>> mark_first(np.array([2, 2, 5]))
    array([ True, False,  True])
    """
    is_first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return is_first


def weighted_quantiles(value: Floats, weight: Floats, levels: tuple[float, ...]) -> tuple[float, ...]:
    """Return for each level the smallest value whose cumulative weight reaches it (inverse distribution function).

    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.5, 0.3]), (0.5, 0.6, 1.0))
    (1.0, 2.0, 3.0)
    """
    has_equal_weights = bool((weight == weight[0]).all())  # then no sort is needed: few values are selected
    order = slice(None) if has_equal_weights else np.argsort(value)  # unstable sort: eight times faster
    cumulated = weight[order].cumsum()
    position = cumulated.searchsorted(np.asarray(levels) * cumulated[-1] - QUANTILE_ROUNDING)
    position = np.minimum(position, len(value) - 1)
    ordered = np.partition(value, position) if has_equal_weights else value[order]
    return tuple(ordered[position].tolist())
