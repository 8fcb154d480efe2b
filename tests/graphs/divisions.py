"""All ways in which a person may divide contacts among identities, as oracle of formulas of seeding."""

import itertools
import math


def list_divisions(n, shares):
    """Every way to give each of n contacts to one identity, with its probability."""
    for owners in itertools.product(range(len(shares)), repeat=n):
        yield owners, math.prod(shares[owner] for owner in owners)


def misses_clique(n, shares, clique, tolerance):
    """Probability that no identity has all contacts inside the clique and about as many contacts as before."""
    return sum(
        chance
        for owners, chance in list_divisions(n, shares)
        if len({*owners[: clique - 1]}) > 1 or owners.count(owners[0]) < (1 - tolerance) * n - 1e-9
    )


def misses_top(n, shares, border):
    """Probability that no identity has as many contacts as the border."""
    counts = (
        (max(owners.count(i) for i in range(len(shares))), chance) for owners, chance in list_divisions(n, shares)
    )
    return sum(chance for count, chance in counts if count < border)


def misses_clique_with_copies(n, shares, clique, tolerance):
    """The same if each identity takes each contact by itself."""
    missed = 1.0
    for share in shares:
        held = (
            share ** sum(taken) * (1 - share) ** (n - sum(taken))
            for taken in itertools.product((0, 1), repeat=n)
            if all(taken[: clique - 1]) and sum(taken) >= (1 - tolerance) * n - 1e-9
        )
        missed *= 1 - sum(held)
    return missed
