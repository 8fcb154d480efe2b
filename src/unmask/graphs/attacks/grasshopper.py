"""Grasshopper: an attack that weights mapped neighbors and revises its mapping."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.attacks._kernels import count_common, find_mutual, invalidate, rank_by_degree, write_back
from unmask.graphs.attacks._structs import UNKNOWN, Rule, Side
from unmask.graphs.attacks.base import Count, Matching, ScoringAttack, Theta, make_side, score_matching, seed_images
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Auxiliary

Weighting = Literal["released", "printed"]


@dataclass(frozen=True)
class Grasshopper(ScoringAttack):
    """Propagation attack that weighs a mapped neighbor by the number of its own consistently mapped neighbors.

    Let n(x) be the number of neighbors of a mapped node x whose images are neighbors of the image y of x. The score of
    a candidate c of node v is

        released : S_c = sum of omega over the neighbors of v whose image is next to c,
                   omega(x) = omega(y) = (1 + n(x)) / sqrt(deg x deg y)
        printed  : S_c = (number of neighbors of v whose image is next to c) omega(c),
                   omega(x) = omega(y) = 1 + n(x) / sqrt(deg x deg y), and 1 for a node that is not mapped

    The printed pseudo code finds far less than the paper reports. The authors' program uses the `released` weights.

    All nodes next to an image are candidates, also mapped nodes. The best candidate is a proposal if (max S - second
    max S) / sigma(S) is at least theta, with sigma the population standard deviation over the candidates. Ties and
    single candidates are rejected. All nodes are scored with the mapping of the step before. Mutual proposals then
    replace the matches of their two nodes, so that a match, also a seed, may be moved or dropped. The attack ends if a
    step does not change the mapping, or after `max_steps`, because the mapping may oscillate.

    Parameters
    ----------
    theta : float
        Smallest eccentricity of a match, at least 0.
    weighting : {"released", "printed"}
        Formula of the weights.
    max_steps : int
        Largest number of steps.
    listed : int
        Largest number of candidates of a node in the belief.
    threads : int
        Number of threads. It does not change the result.

    Notes
    -----
    Assumes: what `Nar09` assumes, and that the neighbors of right matches are mapped consistently.

    Fails when: seeds are too few to spread; nodes with few neighbors have equal scores, which are rejected; or the
    mapping oscillates.

    References
    ----------
    B. Simon, G. G. Gulyas & S. Imre, "Analysis of Grasshopper, a novel social network de-anonymization algorithm",
    2014; G. G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015,
    algorithm 3.

    Examples
    --------
    >>> from unmask.graphs.graph import SocialGraph
    >>> kite = SocialGraph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> Grasshopper()(kite, Auxiliary(kite, (np.array([0, 1]), np.array([0, 1])))).mapping
    array([ 0,  1,  2, -1], dtype=int32)
    """

    theta: Theta = 0.01
    weighting: Weighting = "released"
    max_steps: Count = 40
    listed: Count = 10
    threads: Count = field(default=1, repr=False, compare=False)

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """Return the belief about each node of the adversary's graph."""
        source, target = (
            make_side(graph, image)
            for graph, image in zip((knowledge.graph, release), seed_images(release, knowledge), strict=True)
        )
        rule = Rule(False, True, float(self.theta))
        ranked = rank_by_degree(source, target)
        side, other_side = ranked[:2]
        nodes = np.arange(len(side.image), dtype=np.int32)
        passes: list[tuple[int, int]] = []
        while len(passes) < self.max_steps and (not passes or passes[-1][0]):
            _write_weights(side, other_side, self.weighting)
            node, candidate, visits = find_mutual(nodes, side, other_side, rule, threads=self.threads)
            passes.append((_replace_matches(side, other_side, node, candidate), visits))
        write_back(source, target, ranked)
        _write_weights(source, target, self.weighting)
        return score_matching(self, source, target, rule, passes)


def _replace_matches(source: Side, target: Side, node: NDArray[np.int32], candidate: NDArray[np.int32]) -> int:
    """Map each node to its candidate and return the number of new pairs.

    Former partners of both nodes become unmapped unless they are matched in the same step. Cached candidates of all
    their neighbors are invalidated.
    """
    is_new = source.image[node] != candidate
    node, candidate = node[is_new], candidate[is_new]
    old_image, old_node = source.image[node], target.image[candidate]
    old_image, old_node = old_image[old_image >= 0], old_node[old_node >= 0]
    target.image[old_image] = -1
    source.image[old_node] = -1
    source.image[node], target.image[candidate] = candidate, node
    invalidate(np.concatenate((node, old_node)), source)
    invalidate(np.concatenate((candidate, old_image)), target)
    return len(node)


def _write_weights(source: Side, target: Side, weighting: Weighting) -> None:
    """Write the weights of mapped neighbors (released) or candidates (printed); invalidate the affected candidates."""
    x = np.flatnonzero(source.image >= 0)
    y = source.image[x]
    root = np.sqrt(np.maximum(source.degree[x], 1) * np.maximum(target.degree[y], 1))
    n_common = count_common((source.indptr, source.neighbor), (target.indptr, target.neighbor), source.image)[x]
    pair_weight = (1 + n_common) / root if weighting == "released" else 1 + n_common / root
    for side, mapped in ((source, x), (target, y)):
        omega = np.ones(len(side.image))
        omega[mapped] = pair_weight
        if weighting == "released":
            invalidate(np.flatnonzero(side.weight != omega).astype(np.int32), side)
            side.weight[:] = omega
        else:
            side.size[:] = 1 / omega
            source.leader[:] = target.leader[:] = UNKNOWN
