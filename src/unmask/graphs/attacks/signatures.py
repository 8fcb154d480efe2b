"""Attacks that compare node signatures, degrees and refined degrees. They need no path from the seeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Integers
from unmask.graphs.attacks.base import Count, Entries, Matching, make_matching, seed_images
from unmask.graphs.criteria.equivalence import finer, numbered
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections.identities import spans
from unmask.graphs.similarity import Auxiliary
from unmask.ranges import CheckedParameters


@dataclass(frozen=True)
class DegreeMatching(CheckedParameters):
    """Recognize people by their number of contacts: the adversary of k-degree anonymity.

    The candidates of a person of degree d are the released nodes whose degree is nearest to d, with equal probability.
    Two nodes are matched if each is the only candidate of the other. Seeds are no candidates for other people.

    Parameters
    ----------
    listed : int
        Largest number of candidates of a person. A person with more candidates keeps the prior.

    Notes
    -----
    Assumes: degrees are similar in both networks.

    Fails when: many people share a degree, which is common for low degrees, or the networks differ. All other attacks
    use degrees, too.

    References
    ----------
    K. Liu, E. Terzi, "Towards identity anonymization on graphs", SIGMOD 2008, section 1; M. Hay et al., "Resisting
    structural re-identification in anonymized social networks", VLDB 2008, the vertex refinement query H_1.

    Examples
    --------
    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> DegreeMatching()(star, Auxiliary(star, (np.array([1]), np.array([1])))).mapping
    array([ 0,  1, -1, -1], dtype=int32)
    """

    listed: Count = 10

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """Return the belief about each node of the adversary's graph."""
        image, inverse = seed_images(release, knowledge)
        seeds = np.flatnonzero(image >= 0)
        source_free, target_free = np.flatnonzero(image < 0), np.flatnonzero(inverse < 0)
        row, candidate = _find_nearest(knowledge.graph.degree[source_free], release.degree[target_free], self.listed)
        target_row, nearest_source = _find_nearest(release.degree[target_free], knowledge.graph.degree[source_free], 1)
        n, n_listed = len(target_free), np.bincount(row)[row]
        is_mutual = (n_listed == 1) & np.isin(row * n + candidate, nearest_source * n + target_row)
        image[source_free[row[is_mutual]]] = target_free[candidate[is_mutual]]
        entries: Entries = (
            np.append(source_free[row], seeds),
            np.append(target_free[candidate], image[seeds]),
            np.append(-np.log(n_listed), 0.0 * seeds),
        )
        visits, sweeps = len(row), [int(is_mutual.sum()), 0]
        return make_matching(image, entries, n_target=release.n_nodes, sweeps=sweeps, visits=visits, attack=repr(self))


def _find_nearest(degree: Integers, other_degrees: Integers, max_count: int) -> tuple[Integers, Integers]:
    """Return rows and candidates of nearest degree; rows with more than `max_count` candidates are omitted.

    The limit bounds the memory: many people have one contact, and all pairs of them would not fit.
    """
    if not len(other_degrees):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    order = np.argsort(other_degrees, kind="stable")
    sorted_degrees = other_degrees[order]
    insertion = np.searchsorted(sorted_degrees, degree)
    around = np.clip([insertion - 1, insertion], 0, len(sorted_degrees) - 1)
    gap = np.abs(degree - sorted_degrees[around]).min(axis=0)
    first = np.searchsorted(sorted_degrees, degree - gap)
    last = np.searchsorted(sorted_degrees, degree + gap, side="right")
    row, place = spans(np.where(last - first <= max_count, last - first, 0))
    return row, order[first[row] + place]


@dataclass(frozen=True)
class Refinement(CheckedParameters):
    """Recognize people by their surroundings: the degrees of their contacts, of the contacts' contacts, and so on.

    The attack is vertex refinement. In the first round, people whose contacts have the same degrees form a class. Each
    further round splits classes by the classes of the contacts, until no class changes. A seed has a class of its own.
    The candidates of a person are the released nodes of the same class, in the last round in which there are any, with
    equal probability. Two nodes are matched if they are alone in their class.

    Parameters
    ----------
    listed : int
        Largest number of candidates of a person. A person with more candidates keeps the prior.
    rounds : int
        Largest distance, in edges, of the surroundings.

    Notes
    -----
    Assumes: the surroundings of many people are the same in both networks, edge by edge.

    Fails when: most people have an edge nearby that is in one network only. Other attacks then find people near seeds.

    References
    ----------
    M. Hay et al., "Resisting structural re-identification in anonymized social networks", VLDB 2008, the vertex
    refinement queries H_i; for graphs that differ, the deepest query that both answer.

    Examples
    --------
    >>> graph = SocialGraph.from_edges([0, 1, 2, 0, 4], [1, 2, 0, 3, 5])  # a triangle with a tail, and a pair
    >>> Refinement()(graph, Auxiliary(graph, (np.array([4]), np.array([4])))).mapping
    array([ 0, -1, -1,  3,  4,  5], dtype=int32)
    """

    listed: Count = 10
    rounds: Count = 10

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """Return the belief about each node of the adversary's graph."""
        image, inverse = seed_images(release, knowledge)
        seeds = np.flatnonzero(image >= 0)
        entries: list[Entries] = [(seeds, image[seeds], np.zeros(len(seeds)))]
        sought, open_ = (
            (side_image < 0) & (g.degree > 0) for side_image, g in ((image, knowledge.graph), (inverse, release))
        )
        sweeps = []
        for source_color, target_color in reversed(_colors(knowledge.graph, release, image, self.rounds)):
            free, target_free = np.flatnonzero(sought), np.flatnonzero(open_)
            rivals = np.bincount(source_color[free], minlength=source_color.max() + 1)[source_color[free]]
            count, row, candidate = _find_equal(source_color[free], target_color[target_free], self.listed)
            sought[free[count > 0]] = False
            entries.append((free[row], target_free[candidate], -np.log(np.maximum(count, rivals))[row]))
            is_unique = (count == 1) & (rivals == 1)
            matched_source, matched_target = free[row[is_unique[row]]], target_free[candidate[is_unique[row]]]
            image[matched_source], open_[matched_target] = matched_target, False
            sweeps.append(len(matched_source))
        row, candidate, log_p = (np.concatenate(parts) for parts in zip(*entries, strict=True))
        return make_matching(
            image, (row, candidate, log_p), n_target=release.n_nodes, sweeps=sweeps, visits=len(row), attack=repr(self)
        )


def _colors(
    source: SocialGraph, target: SocialGraph, image: NDArray[np.int32], rounds: int
) -> list[tuple[Integers, Integers]]:
    """Return the colors of both networks after each round, up to the first round that splits no color.

    image : (n_source,) target node of each seed, -1 for other nodes
    """
    n, seeds = source.n_nodes, np.flatnonzero(image >= 0)
    start = np.concatenate((source.degree, target.degree)) + len(seeds)
    start[seeds] = start[n + image[seeds]] = np.arange(len(seeds))
    color, colors = numbered(start.astype(np.uint64)), []
    for _ in range(rounds):
        previous, color = color, finer(color, *((graph.indptr, graph.neighbor) for graph in (source, target)))
        colors.append((color[:n], color[n:]))
        if color.max() == previous.max():
            break
    return colors


def _find_equal(source_color: Integers, target_color: Integers, max_count: int) -> tuple[Integers, Integers, Integers]:
    """Count the nodes with the color of each row; return counts, and rows and candidates up to `max_count`."""
    order = np.argsort(target_color, kind="stable")
    first, last = (np.searchsorted(target_color[order], source_color, side=side) for side in ("left", "right"))
    count = last - first
    row, place = spans(np.where(count <= max_count, count, 0))
    return count, row, order[first[row] + place]
