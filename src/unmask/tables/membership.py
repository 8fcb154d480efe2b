"""From scores of membership to a belief: what they were worth on people of whom it is known who is in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.inference import HELD_OUT
from unmask.measures.excess import who_is_in
from unmask.posterior import Posterior, log_odds
from unmask.promise import Check
from unmask.tables.attacks.membership import LABELS, rising
from unmask.tables.column import classes_of
from unmask.tables.release import Table

WITHIN = 0.03
"""By how much announced success may be off."""


def cross_fitted(belief: Posterior, inside: NDArray[np.bool_]) -> Posterior:
    """The belief that rises with the scores as they held on other people: each half of members and control people is
    told what the other half's scores were worth, at even odds before.

    inside : (n_targets,) who is a member
    The belief is `attacks.membership.rising` of the other half. Members weigh half of all, so that means are at even
    odds, too. The status is `calibrated` if what is announced of people held out came true, within 3 points, of at
    least 100 of either kind; else it stays `scores`. The check is in `provenance["check"]`.
    """
    inside = who_is_in(inside, belief.n_targets)
    counts = np.bincount(~inside, minlength=2)
    if counts.min() < 2:
        raise UnmaskError(f"{counts[0]} members and {counts[1]} control people, expected at least 2 of each")
    score = np.clip(log_odds(belief), -1e3, 1e3)
    first = np.zeros(len(inside), dtype=np.bool_)
    for who in (inside, ~inside):
        first[np.flatnonzero(who)[::2]] = True
    p = np.empty(len(score))
    for half in (first, ~first):
        p[half] = np.interp(score[half], *rising(score[~half], inside[~half]))
    weight = 0.5 / counts[np.where(inside, 0, 1)]
    right = np.where(p == 0.5, 0.5, (p > 0.5) == inside)
    check = Check.of(np.maximum(p, 1 - p), right, weight / weight.max(), within=WITHIN)
    return Posterior.from_dense(
        np.stack([p, 1 - p], axis=1),
        weight=weight,
        status="calibrated" if not check.refuted and counts.min() >= HELD_OUT else "scores",
        provenance={**belief.provenance, "check": str(check)},
        candidate_label=LABELS,
    )


def twins(people: Table, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(n_people,) who is alike, cell for cell, with somebody of the other kind: neither in nor out, to be left out."""
    alike, inside = classes_of(people.quasi_identifiers), who_is_in(inside, people.n_rows)
    both = np.logical_and(
        *(np.bincount(alike.of_row[who], minlength=len(alike.sizes)) > 0 for who in (inside, ~inside))
    )
    return np.asarray(both[alike.of_row])
