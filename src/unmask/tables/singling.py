"""Whether predicates single somebody out: of the people of a release, and of as many control people."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.errors import UnmaskError
from unmask.measures.excess import difference
from unmask.measures.interval import wilson
from unmask.tables.attacks.predicates import Predicate, matching
from unmask.tables.release import Table

NEGLIGIBLE = 10
"""A predicate counts if it holds for at most one of this many times the people: its weight is at most 1 / (10 N)."""


class SingledOut(NamedTuple):
    """What predicates reach.

    guesses  : predicates that count; trivial : others, which hold for too many people in general
    people   : N, on whom they are tried: of the release, and control people
    found    : share of those that count that exactly one person of the release satisfies; control : one control person
    baseline : what a predicate of the largest weight that counts reaches without the release, N w (1 - w)^(N - 1)
    low, high : 95 % interval of found - control (Newcombe)
    """

    guesses: int
    trivial: int
    people: int
    found: float
    control: float
    baseline: float
    low: float
    high: float


def singling(
    predicates: tuple[Predicate, ...],
    members: Table,
    control: Table,
    reference: Table,
    *,
    rng: np.random.Generator,
) -> SingledOut:
    """Predicates tried on members and control people, as many of either; what is more is left out at random.

    reference : people in general, neither members nor control people, by whom weights are measured: a predicate counts
                if it holds for at most 1 of 10 N of them. Fewer people than that cannot tell such a weight from a
                larger one, and then control people alone say what predicates reach without the release.
    """
    n = min(members.n_rows, control.n_rows)
    members, control = (table.take(rng.permutation(table.n_rows)[:n]) for table in (members, control))
    general = matching(reference, predicates)
    counts = general * NEGLIGIBLE * n <= reference.n_rows
    kept = tuple(one for one, good in zip(predicates, counts, strict=True) if good)
    if not kept:
        raise UnmaskError(f"each of {len(predicates)} predicates holds for more than 1 of {NEGLIGIBLE * n} people")
    weight = 1 / (NEGLIGIBLE * n)
    shares = [float(np.mean(matching(table, kept) == 1)) for table in (members, control)]
    low, high = difference(*((share, *wilson(share, len(kept))) for share in shares))
    return SingledOut(
        guesses=len(kept),
        trivial=len(predicates) - len(kept),
        people=n,
        found=shares[0],
        control=shares[1],
        baseline=n * weight * (1 - weight) ** (n - 1),
        low=low,
        high=high,
    )
