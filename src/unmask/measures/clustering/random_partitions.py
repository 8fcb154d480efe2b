"""Partitions drawn at random, without regard to a truth or a guess."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, lambertw

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition

Process = Literal["uniform", "coin"]

URN_REACH = 40.0
"""Distance from the mode, in standard deviations, beyond which a number of urns is treated as impossible."""


def random_partition(n: int, *, process: Process = "uniform", rng: np.random.Generator) -> Partition:
    """Draw a partition of n items at random, in O(n).

    Parameters
    ----------
    n : int
        Number of items, at least 1.
    process : {"uniform", "coin"}
        "uniform": each of the Bell(n) partitions is equally likely. "coin": the first item opens a cluster. Each
        further item opens one with probability 1/2, and otherwise joins one of the open clusters, all equally likely.
        Early items are then in large clusters.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    Partition
        Clusters named 0, 1, 2, ...

    Raises
    ------
    UnmaskError
        If n is below 1, or the process is unknown.

    References
    ----------
    Uniform: A. Nijenhuis and H. Wilf, "Combinatorial algorithms", 1978, define the distribution; A. J. Stam,
    "Generation of a random partition of a finite set by an urn model", JCTA 1983, draws from it in linear time. Coin:
    A. Pashalidis and S. Schiffner, "Evaluating adversarial partitions", 2010, appendix A.

    Examples
    --------
    >>> random_partition(8, rng=np.random.default_rng(1)).code
    array([2, 3, 0, 0, 3, 3, 1, 1], dtype=int32)
    """
    if n < 1:
        raise UnmaskError(f"the random partition has {n} items, expected at least 1")
    if process not in get_args(Process):
        raise UnmaskError(f"process is {process!r}, expected one of {', '.join(map(repr, get_args(Process)))}")
    labels: NDArray[Any] = _drop_into_urns(n, rng) if process == "uniform" else _toss_coins(n, rng)
    return Partition(np.unique(labels, return_inverse=True)[1])


def _drop_into_urns(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Drop n items into a random number of urns; empty urns are left out."""
    m, p = urn_distribution(n)
    return rng.integers(0, int(rng.choice(m, p=p)), n, dtype=np.int32)


def urn_distribution(n: int) -> tuple[Integers, Floats]:
    """Return numbers of urns m and their probabilities m^n / (m! e Bell(n)), down to about 1e-300 of the largest.

    The logarithm is concave with its mode near m ln m = n, so a window around the mode has all of them.

    >>> m, p = urn_distribution(3)
    >>> m[:4], p[:4].round(4)
    (array([1, 2, 3, 4]), array([0.0736, 0.2943, 0.3311, 0.1962]))

    Stam 1983; the normalization is Dobinski's formula for Bell(n).
    """
    mode = float(np.exp(lambertw(n).real))
    width = URN_REACH / np.sqrt(n / mode**2 + 1 / mode)
    m = np.arange(max(1, int(mode - width)), int(mode + width) + 60)
    log_weight = n * np.log(m) - gammaln(m + 1.0)
    weight = np.exp(log_weight - log_weight.max())
    return m, weight / weight.sum()


def _toss_coins(n: int, rng: np.random.Generator) -> Integers:
    opens = rng.integers(0, 2, n, dtype=np.int8)
    opens[0] = 1
    n_open = np.cumsum(opens, dtype=np.int64)
    return np.where(opens, n_open - 1, (rng.random(n) * n_open).astype(np.int64))
