"""Synthetic items with a known distribution."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from unmask.linkage.items import Feature, Items
from unmask.ranges import Range, check_type

__all__ = ["synthetic_traces"]

N_NUMERIC, N_PLACES, N_CONTEXTS = 3, 20, 3
"""Numbers of numeric features, of places and of contexts."""


def synthetic_traces(n_users: int, n_items: int, *, rng: np.random.Generator, difficulty: float = 0.5) -> Items:
    """Draw items of users with habits: an unprotected population, whose pseudonyms are the users.

    Each user has n_items items. d is the difficulty, from 0 (features identify the user) to 1 (features are noise).

    x0, x1, x2 : sqrt(1 - d) * center of the user + sqrt(d) * noise. Center and noise are independent standard normal
        variables. Each feature has variance 1, and users explain the share 1 - d of it.
    place : categorical with 20 values. With probability 1 - d it is the user's home place, which is uniform over
        places; otherwise it is uniform.
    time : uniform on [0, 1). context : uniform on 0, 1, 2. Both are independent of everything else.

    The items are in random order.

    >>> synthetic_traces(3, 4, rng=np.random.default_rng(1))
    Items(12 items, features=x0+x1+x2+place, 3 pseudonyms)
    """
    check_type("n_users", n_users, Annotated[int, Range(1)])
    check_type("n_items", n_items, Annotated[int, Range(1)])
    check_type("difficulty", difficulty, Annotated[float, Range(0, 1)])
    n = n_users * n_items
    user = rng.permutation(np.repeat(np.arange(n_users), n_items))
    center, noise = rng.standard_normal((n_users, N_NUMERIC)), rng.standard_normal((n, N_NUMERIC))
    x = np.sqrt(1 - difficulty) * center[user] + np.sqrt(difficulty) * noise
    home = rng.integers(N_PLACES, size=n_users)
    place = np.where(rng.random(n) < difficulty, rng.integers(N_PLACES, size=n), home[user])
    labels = np.array(sorted(f"p{i}" for i in range(N_PLACES)), dtype=object)
    numeric = tuple(Feature(f"x{i}", np.ascontiguousarray(x[:, i])) for i in range(N_NUMERIC))
    return Items(
        np.arange(n),
        (*numeric, Feature("place", place.astype(np.int32), "categorical", labels)),
        pseudonym=user,
        time=rng.random(n),
        context=rng.integers(N_CONTEXTS, size=n),
    )
