"""Secrets that are mere numbers."""

from __future__ import annotations

import math

import numpy as np

from unmask.channels._matrices import Floats
from unmask.core.errors import UnmaskError


def alphabet(n: int, exponent: float = 0.0) -> Floats:
    """(n,) prior of the secrets 0, 1, ... n - 1: p(x) proportional to (x + 1)^(-exponent), Zipf's law.

    exponent : 0 makes all alike; the larger, the more is known before anything is seen

    >>> alphabet(3, 1.0).round(4)
    array([0.5455, 0.2727, 0.1818])
    """
    if n < 1 or not math.isfinite(exponent):
        raise UnmaskError(f"n is {n} and the exponent {exponent}, expected at least 1 secret and a finite number")
    weight = np.arange(1, n + 1, dtype=np.float64) ** -exponent
    return np.asarray(weight / weight.sum())
