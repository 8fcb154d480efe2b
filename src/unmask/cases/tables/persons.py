"""Whose record it is, where one person has several: who picks any of them has found that person."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.measures.places import right_of
from unmask.posterior import Posterior, stored
from unmask.segments import segment_max
from unmask.truth import Truth


def any_of_theirs(belief: Posterior, truth: Truth) -> Posterior:
    """How likely whoever picks a record by a belief has one of the target's: these stand as one candidate, the true
    one, and the other records are unlisted.

    It is what the adversary attains, not what they know: they cannot tell that two records are of one person. Left as
    it is where the records of an observation are not all held alike, or some are unlisted.

    truth : the record of each target, and the person behind each record

    >>> from unmask.inference import from_classes
    >>> four = from_classes(np.zeros(4, int), np.zeros(2, int))
    >>> found = any_of_theirs(four, Truth([0, 3], person=np.array([7, 7, 7, 2])))
    >>> np.exp(found.log_probability), found.n_unlisted
    (array([0.25, 0.75]), array([3, 1]))
    """
    log_p = belief.log_probability.astype(np.float64)
    top, least = (sign * segment_max(sign * log_p, belief.indptr, empty=0.0) for sign in (1.0, -1.0))
    if belief.named is not None or belief.unlisted.any() or np.any(top - least > belief.resolution):
        return belief
    assert truth.person is not None
    right = right_of(belief, truth.candidate, truth.person)
    first = np.full(len(right.start), -1)
    first[right.of] = truth.candidate  # any of theirs will do
    seen, theirs = right.row[right.start], np.add.reduceat(right.times * right.listed, right.start)
    size, listed = belief.row_length[seen], theirs > 0
    return replace(
        belief,
        indptr=np.concatenate(([0], np.cumsum(listed))),
        candidate=first[listed].astype(np.int32),
        log_probability=stored(np.log(theirs[listed] / size[listed])),
        unlisted=np.where(size > 0, 1.0 - theirs / np.maximum(size, 1), 0.0),
        n_unlisted=size - theirs,
        observation=right.of,
        representative=None,
    )
