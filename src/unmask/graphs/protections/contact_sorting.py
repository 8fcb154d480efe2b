"""Assignment of contacts to identities by the distributions of equations (3.7) and (3.8)."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.graphs.protections.identities import spans

Sorting = Literal["uniform", "power_law"] | tuple[float, ...]
"""Mean share of a person's contacts for each identity, see `mean_shares`."""

Total = Literal["any", "at most", "at least"]
"""Constraint on the total number of contacts of a person's identities, relative to the degree."""

_MAX_DRAWS: Final = 1_000


def mean_shares(sorting: Sorting, y: int) -> Floats:
    """Return (y,) the mean share of contacts of each of y identities, with sum 1.

    "uniform" : 1/y each
    "power_law" : proportional to 1, 1/2, ..., 1/y; the source gives no exponent
    a tuple : these shares, in any order. A person with fewer identities than entries (because of a small degree) uses
              the first y entries, scaled to sum 1

    >>> mean_shares("power_law", 3)
    array([0.54545455, 0.27272727, 0.18181818])
    >>> mean_shares((0.5, 0.3, 0.2), 2)
    array([0.625, 0.375])
    """
    if isinstance(sorting, tuple):
        head = np.array(sorting[:y], dtype=np.float64)
        if len(head) < y or not head.sum() > 0:
            raise UnmaskError(f"sorting has {len(head)} shares, sum {head.sum():.6g}, for {y} identities; give more")
        shares: Floats = head / head.sum()
        return shares
    weight = np.ones(y) if sorting == "uniform" else 1.0 / np.arange(1, y + 1)
    law: Floats = weight / weight.sum()
    return law


def check_sorting(sorting: Sorting) -> None:
    """Raise unless the argument is a known name or a tuple of shares with sum 1."""
    if isinstance(sorting, tuple):
        p = np.array(sorting, dtype=np.float64)
        if not len(p) or not bool(np.all(p >= 0)) or not abs(p.sum() - 1) < 1e-9:
            raise UnmaskError(f"sorting has {len(p)} shares with sum {p.sum():.6g}, expected sum 1 and none below 0")
    elif sorting not in ("uniform", "power_law"):
        raise UnmaskError(f"sorting is {sorting!r}, expected uniform, power_law, or a share for each identity")


def draw_identities(degree: Integers, y: Integers, sorting: Sorting, *, rng: np.random.Generator) -> Integers:
    """Return (sum of degrees,) the identity, 0 to y - 1, of each contact of each person.

    The numbers of contacts x_1..x_y of a person's identities are multinomial, Mu(degree, p_1..p_y), as in equation
    (3.7). p are the mean shares, and contacts are independent given p.

    degree, y : (n_people,); y is at least 1 if the degree is

    >>> draw_identities(np.array([3, 1]), np.array([1, 1]), "uniform", rng=np.random.default_rng(1))
    array([0, 0, 0, 0])
    """
    counts = np.unique(y[y > 0]).tolist()
    # Concatenated distribution functions; that of y identities is between y and y + 1, so one search serves all people.
    steps = [count + np.cumsum(mean_shares(sorting, count))[:-1] for count in counts]
    first = dict(zip(counts, np.cumsum([0, *map(len, steps)]).tolist(), strict=False))
    base = np.zeros(int(y.max(initial=0)) + 1, dtype=np.int64)
    base[counts] = [first[count] for count in counts]
    of_contact = np.repeat(y, degree)
    drawn = np.searchsorted(np.concatenate([[], *steps]), of_contact + rng.random(len(of_contact)), side="right")
    return drawn - base[of_contact]


def draw_capacities(
    degree: Integers, y: Integers, sorting: Sorting, *, deviation: float, total: Total, rng: np.random.Generator
) -> Integers:
    """Return (sum of y,) the number of contacts of each identity; identities of a person are adjacent.

    The shares of a person's identities are normal with the mean shares as mean and covariance deviation^2 I, as in
    equation (3.8). The source gives the mean 1/y, and says only that the covariance lets few contacts be added or
    removed. Shares are clipped to [0, 1]. share * degree is rounded up with the probability of its fraction, so
    rounding is unbiased. All shares of a person are drawn again while their total violates `total`.

    >>> draw_capacities(
    ...     np.array([10]), np.array([2]), "uniform", deviation=0.0, total="any", rng=np.random.default_rng(1)
    ... )
    array([5, 5])
    """
    person, place = spans(y)
    mean = np.zeros(len(person))
    for count in np.unique(y[y > 0]).tolist():
        has_count = y[person] == count
        mean[has_count] = mean_shares(sorting, count)[place[has_count]]
    n_held = np.zeros(len(person), dtype=np.int64)
    again = np.arange(len(person))
    for _ in range(_MAX_DRAWS):
        share = np.clip(rng.normal(mean[again], deviation), 0.0, 1.0)
        exact = np.round(share * degree[person[again]], 9)  # rounding error: 0.3 * 10 is 3
        n_held[again] = np.floor(exact + rng.random(len(again)))
        sums = np.bincount(person, weights=n_held, minlength=len(y))
        is_off = {"any": np.zeros(len(y), np.bool_), "at most": sums > degree, "at least": sums < degree}[total] & (
            y > 0
        )
        again = np.flatnonzero(is_off[person])
        if not len(again):
            return n_held
    raise UnmaskError(f"deviation {deviation} almost never gives {total} as many contacts as before; lower it")


def assign_contacts(
    degree: Integers, y: Integers, n_held: Integers, *, spread: bool, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Return the contacts of identities as pairs (identity, contact), each (sum of n_held,), without repetitions.

    identity : 0 to sum of y - 1
    contact  : 0 to degree - 1, position among the contacts of the person
    spread   : False: each identity takes an independent random set of its size, so a contact is dropped with
               probability prod(1 - held / degree). True: each contact is assigned once, in random order, while capacity
               remains; then copies go to random identities with capacity that lack the contact. A contact is dropped
               only if the capacity does not suffice for all.

    >>> identity, contact = assign_contacts(
    ...     np.array([3]), np.array([2]), np.array([2, 2]), spread=True, rng=np.random.default_rng(1)
    ... )
    >>> np.unique(contact), np.bincount(identity)
    (array([0, 1, 2]), array([2, 2]))
    """
    person, _ = spans(y)
    identity, contact = spans(degree[person])
    first = np.cumsum(degree[person]) - degree[person]
    key = 0.5 + rng.random(len(identity)) / 2
    if spread:
        identity_index, position = _assign_once(degree, person, n_held, rng=rng)
        key[first[identity_index] + position] = 0.0  # sorts before all others
    order = np.argsort(identity + key, kind="stable")
    # blocks are not moved, so `contact` is also the rank within a block
    selected = order[contact < n_held[identity]]
    return identity[selected], contact[selected]


def _assign_once(
    degree: Integers, person: Integers, n_held: Integers, *, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Return pairs (identity, contact) that assign as many contacts as possible, each at most once."""
    room, _ = spans(n_held)  # one entry for each contact that an identity can hold
    owner = person[room]
    room = room[np.argsort(owner + rng.random(len(room)), kind="stable")]
    rank = np.arange(len(room)) - np.searchsorted(owner, owner)  # owners are ascending
    fits = rank < degree[owner]
    person, contact = spans(degree)
    shuffled = contact[np.argsort(person + rng.random(len(person)), kind="stable")]
    first = np.cumsum(degree) - degree
    return room[fits], shuffled[first[owner[fits]] + rank[fits]]
