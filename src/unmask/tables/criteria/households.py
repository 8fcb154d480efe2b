"""Risk of households: one re-identified member reveals the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers


class Households(NamedTuple):
    """Facts about the household of each row.

    Parameters
    ----------
    size : (n_rows,) array
        Members.
    class_size : (n_rows,) array
        Households whose members are in the same equivalence classes.
    risk : (n_rows,) array
        Probability that a member is re-identified.
    """

    size: Integers
    class_size: Integers
    risk: Floats


def evaluate_households(
    household: NDArray[np.integer[Any]], of_row: NDArray[np.integer[Any]], risk: Floats
) -> Households:
    """Return the risk of the household of each row, 1 - product of (1 - r) over its members.

    The risk may be larger, because an adversary who knows all members of a household can match them together.
    `class_size` shows how many households have the same members.

    Parameters
    ----------
    household : (n_rows,) array
        Household of each row; a negative number is a household of its own.
    of_row : (n_rows,) array
        Equivalence class of each row.
    risk : (n_rows,) array
        Probability that each row is re-identified.

    Returns
    -------
    Households

    References
    ----------
    A. Hundepool et al., Statistical Disclosure Control, 2012.

    Examples
    --------
    >>> evaluate_households(np.array([7, 7, 8, -1]), np.array([0, 1, 0, 0]), np.array([0.02, 0.1, 0.02, 0.02]))
    Households(size=array([2, 2, 1, 1]), class_size=array([1, 1, 2, 2]), risk=array([0.118, 0.118, 0.02 , 0.02 ]))
    """
    own_household = household.max(initial=0) + 1 + np.arange(len(household))
    number = np.unique(np.where(household < 0, own_household, household), return_inverse=True)[1]
    size = np.bincount(number)
    with np.errstate(divide="ignore"):
        together = -np.expm1(np.bincount(number, np.log1p(-np.minimum(risk, 1.0)), len(size)))
    class_size = _count_equal_households(number, of_row, size)
    return Households(size[number], class_size[number], together[number])


def _count_equal_households(number: Integers, of_row: NDArray[np.integer[Any]], size: Integers) -> Integers:
    """Return the (n_households,) number of households whose members are in the same equivalence classes."""
    classes = of_row[np.lexsort((of_row, number))]
    starts = np.concatenate([[0], np.cumsum(size)[:-1]])
    result = np.zeros(len(size), dtype=np.int64)
    for n_members in np.unique(size):
        households = np.flatnonzero(size == n_members)
        members = classes[starts[households][:, None] + np.arange(n_members)]
        _, kind, count = np.unique(members, axis=0, return_inverse=True, return_counts=True)
        result[households] = count[kind.ravel()]
    return result
