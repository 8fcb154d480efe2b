"""An attack that knows how many contacts people have, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.attacks.base import Count, Entries, Matching, make_matching, seed_images
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections.identities import spans
from unmask.ranges import check_ranges


@dataclass(frozen=True)
class DegreeMatching:
    """Recognize people by their number of contacts: the adversary whom k-degree anonymity is about.

    A person of degree d is any of the released nodes whose degree is nearest to d, alike; two are matched if each is
    the only one nearest to the other. Seeds are no candidates for others.

    listed : candidates of a person, at most; who has more keeps the prior

    Assumes: degrees are about the same in both networks.

    Fails when: degrees are shared by many, as low ones are, or the networks differ: other attacks see all that it sees.

    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> DegreeMatching()(star, Auxiliary(star, (np.array([1]), np.array([1])))).mapping
    array([ 0,  1, -1, -1], dtype=int32)

    K. Liu, E. Terzi, "Towards identity anonymization on graphs", SIGMOD 2008, section 1; M. Hay et al., "Resisting
    structural re-identification in anonymized social networks", VLDB 2008, the vertex refinement query H_1.
    """

    listed: Count = 10

    def __post_init__(self) -> None:
        check_ranges(self)

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """The belief about each node of the adversary's graph."""
        image, inverse = seed_images(release, knowledge)
        seeds = np.flatnonzero(image >= 0)
        here, there = np.flatnonzero(image < 0), np.flatnonzero(inverse < 0)
        row, candidate = _nearest(knowledge.graph.degree[here], release.degree[there], self.listed)
        alone_there, its_own = _nearest(release.degree[there], knowledge.graph.degree[here], 1)
        back = set(zip(its_own.tolist(), alone_there.tolist(), strict=True))
        mutual = [pair for pair in zip(*_alone(row, candidate), strict=True) if pair in back]
        for one, other in mutual:
            image[here[one]] = there[other]
        entries: Entries = here[row], there[candidate], -np.log(np.bincount(row)[row])
        known = (np.append(entries[0], seeds), np.append(entries[1], image[seeds]), np.append(entries[2], 0.0 * seeds))
        visits, made = len(row), [len(mutual), 0]
        return make_matching(image, known, n_target=release.n_nodes, sweeps=made, visits=visits, attack=repr(self))


def _nearest(
    degree: NDArray[np.int64], others: NDArray[np.int64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and their candidates: all of those whose degree is nearest; none of a row with more than `most`, for all
    pairs of people with one contact would not fit into memory.
    """
    if not len(others):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    order = np.argsort(others, kind="stable")
    high = others[order]
    at = np.searchsorted(high, degree)
    below, above = high[np.maximum(at - 1, 0)], high[np.minimum(at, len(high) - 1)]
    near = np.minimum(np.abs(degree - below), np.abs(degree - above))
    first, last = np.searchsorted(high, degree - near), np.searchsorted(high, degree + near, side="right")
    row, place = spans(np.where(last - first <= most, last - first, 0))
    return row, order[first[row] + place]


def _alone(row: NDArray[np.int64], candidate: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Rows that have one candidate, and these."""
    one = np.bincount(row)[row] == 1
    return row[one].tolist(), candidate[one].tolist()
