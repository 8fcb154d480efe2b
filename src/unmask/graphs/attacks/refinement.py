"""An attack that compares what is around people: it needs no way from the seeds to a person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.attacks.base import Count, Entries, Matching, make_matching, seed_images
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.criteria._refinement import finer, numbered
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections.identities import spans
from unmask.ranges import check_ranges

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Refinement:
    """Recognize people by what is around them: the degrees of their contacts, of the contacts of these, and so on.

    In the first round people are alike who have contacts of the same degrees; in each further round those whose
    contacts were alike, until no round parts anybody. A seed is like nobody else. A person is each of the released
    nodes that are like them in the last round in which any is, with the same probability; two are matched if nobody
    else is like either.

    Parameters
    ----------
    listed : int
        Largest number of candidates of a person; a person with more keeps the prior.
    rounds : int
        Largest distance in edges that it compares.

    Notes
    -----
    Assumes: what is around many people is the same in both networks, edge by edge.

    Fails when: near everybody some edge is in one network alone; other attacks then find those to whom seeds lead.

    References
    ----------
    M. Hay et al., "Resisting structural re-identification in anonymized social networks", VLDB 2008, the vertex
    refinement queries H_i; of graphs that differ, the deepest query that both answer.

    Examples
    --------
    >>> apart = SocialGraph.from_edges([0, 1, 2, 0, 4], [1, 2, 0, 3, 5])  # a triangle with a tail, and a pair
    >>> Refinement()(apart, Auxiliary(apart, (np.array([4]), np.array([4])))).mapping
    array([ 0, -1, -1,  3,  4,  5], dtype=int32)
    """

    listed: Count = 10
    rounds: Count = 10

    def __post_init__(self) -> None:
        check_ranges(self)

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
) -> list[tuple[Numbers, Numbers]]:
    """Return the colors of both networks after each round, up to the first round that splits no color.

    image : (n_source,) of the seeds, -1 for others
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


def _find_equal(source_color: Numbers, target_color: Numbers, max_count: int) -> tuple[Numbers, Numbers, Numbers]:
    """Count the nodes with the color of each row; return the counts, and rows and candidates up to the limit."""
    order = np.argsort(target_color, kind="stable")
    first, last = (np.searchsorted(target_color[order], source_color, side=side) for side in ("left", "right"))
    count = last - first
    row, place = spans(np.where(count <= max_count, count, 0))
    return count, row, order[first[row] + place]
