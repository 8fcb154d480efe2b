"""Utility losses of a released network: degrees, clustering, distances, communities, ranks, contagion.

Each loss is a share, and 0 means no loss. Degrees, clustering, distances, assortativity and contagion are measured on
the release as an analyst sees it, where the identities of a person are separate nodes. Edges, communities and ranks
are measured on people.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.graphs._kernels import joined, triangles
from unmask.graphs.criteria.equivalence import tokens
from unmask.graphs.graph import SocialGraph

MAX_START_NODES = 50
"""Largest number of start nodes for distances."""

LOSSES = (
    "edges_lost", "degrees_lost", "clustering_lost", "distances_lost", "assortativity_lost", "communities_lost",
    "ranks_lost", "contagion_lost",
)  # fmt: skip
"""Losses that `lost` measures."""

OUTBREAKS = 30
"""Number of simulated contagions in each network."""

DAMPING = 0.85
"""Probability that the random walk of `pagerank` follows an edge."""


def lost(original: SocialGraph, release: SocialGraph, origin: Integers) -> dict[str, float]:
    """Return name -> loss for each utility measure, in display order.

    original, release : both networks; origin : (release.n_nodes,) original node of each released node
    Random samples use fixed seeds, so both networks have the same sample and an unchanged network has no loss.

    >>> from unmask.graphs import PerturbEdges, datasets
    >>> graph = datasets.barabasi_albert(300, 4, rng=np.random.default_rng(0))
    >>> found = lost(graph, *PerturbEdges(delete=0.5, add=0.5)(graph, rng=np.random.default_rng(0)))
    >>> round(found["edges_lost"], 2), found["degrees_lost"] > 0.05
    (0.67, True)
    >>> max(lost(graph, *PerturbEdges(delete=0, add=0)(graph)).values()) < 1e-12
    True
    """
    nodes = np.arange(original.n_nodes)
    sample = np.random.default_rng(0).permutation(nodes)[:MAX_START_NODES]
    passes_on = min(1.0, 2 / max(original.degree.mean(), 1e-9)) if len(nodes) else 0.0
    near = distances(original, sample), distances(release, np.flatnonzero(np.isin(origin, sample)))
    values = (
        edges_lost(original, release, origin),
        kolmogorov_smirnov(original.degree, release.degree),
        abs(transitivity(original) - transitivity(release)),
        kolmogorov_smirnov(*near),
        abs(assortativity(original) - assortativity(release)) / 2,
        communities_lost(original, release, origin),
        ranks_lost(original, release, origin),
        abs(outbreak(original, nodes, passes_on) - outbreak(release, origin, passes_on)),
    )
    return dict(zip(LOSSES, values, strict=True))


def utility(losses: Mapping[str, float]) -> float:
    """Return 1 - the largest loss of a release.

    >>> utility({"edges_lost": 0.0, "degrees_lost": 0.25})
    0.75
    """
    return 1.0 - max(losses.values())


def edges_lost(original: SocialGraph, release: SocialGraph, origin: Integers) -> float:
    """Return 1 - Jaccard index of the edges among people; copies of an edge count once.

    It is 1 - (true and released) / (true or released), and 0 if no network has an edge.

    >>> path = SocialGraph.from_edges([0, 1], [1, 2])
    >>> edges_lost(path, SocialGraph.from_edges([0, 0], [1, 2]), np.arange(3))
    0.6666666666666667
    """
    u, v = release.edges()
    after = SocialGraph.from_edges(origin[u], origin[v], n_nodes=original.n_nodes)
    n_both = int(original.has_edges(*after.edges()).sum())
    either = original.n_edges + after.n_edges - n_both
    return 1.0 - n_both / either if either else 0.0


def kolmogorov_smirnov(first: NDArray[np.number], second: NDArray[np.number]) -> float:
    """Return the Kolmogorov-Smirnov distance: the largest difference of two distribution functions; inf sorts last.

    >>> kolmogorov_smirnov(np.array([1, 1, 2, 2]), np.array([1, 2, 2, math.inf]))
    0.25
    """
    if not len(first) or not len(second):
        return 0.0
    values = np.union1d(first, second)
    cdfs = [np.searchsorted(np.sort(sample), values, side="right") / len(sample) for sample in (first, second)]
    return float(np.abs(cdfs[0] - cdfs[1]).max())


def transitivity(graph: SocialGraph) -> float:
    """Return the global clustering coefficient: 3 triangles / pairs of edges with a common end; 0 without such pairs.

    >>> transitivity(SocialGraph.from_edges([0, 1, 2, 2], [1, 2, 0, 3]))
    0.6
    """
    pairs = float((graph.degree * (graph.degree - 1) / 2).sum())
    return float(triangles(graph.indptr, graph.neighbor).sum()) / pairs if pairs else 0.0


def distances(graph: SocialGraph, nodes: Integers) -> Floats:
    """Return the lengths of the shortest paths from these nodes to all others, inf without a path.

    >>> distances(SocialGraph.from_edges([0, 1], [1, 2], n_nodes=4), np.array([0]))
    array([ 1.,  2., inf])
    """
    if not len(nodes):
        return np.zeros(0)
    lengths_by_node = scipy.sparse.csgraph.dijkstra(
        graph.adjacency().astype(np.float64), indices=nodes, unweighted=True
    )
    is_other = np.ones(lengths_by_node.shape, dtype=np.bool_)
    is_other[np.arange(len(nodes)), nodes] = False
    lengths: Floats = lengths_by_node[is_other]
    return lengths


def assortativity(graph: SocialGraph) -> float:
    """Return the Pearson correlation of the degrees at both ends of an edge, in [-1, 1]; 0 if all degrees are equal.

    >>> round(assortativity(SocialGraph.from_edges([0, 1, 2], [1, 2, 3])), 6)
    -0.5

    M. E. J. Newman, "Assortative mixing in networks", Physical Review Letters 89, 2002.
    """
    u = np.repeat(np.arange(graph.n_nodes), graph.degree)
    degree_u, degree_v = graph.degree[u], graph.degree[graph.neighbor]
    return float(np.corrcoef(degree_u, degree_v)[0, 1]) if len(degree_u) and degree_u.min() < degree_u.max() else 0.0


def communities_lost(original: SocialGraph, release: SocialGraph, origin: Integers) -> float:
    """Return |1 - modularity in the release / modularity in the original|, at most 1, for communities of the original.

    0 if the original has no communities. They are detected once, because a second detection can differ on the same
    network.

    >>> two = SocialGraph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> apart = SocialGraph.from_edges([0, 0, 0, 1, 1, 1, 2], [3, 4, 5, 3, 4, 5, 3])
    >>> communities_lost(two, two, np.arange(6)), communities_lost(two, apart, np.arange(6))
    (0.0, 1.0)
    """
    community = communities(original)
    modularity_before, after = modularity(original, community), modularity(release, community[origin])
    return min(1.0, abs(1.0 - after / modularity_before)) if modularity_before > 1e-9 else 0.0


def ranks_lost(original: SocialGraph, release: SocialGraph, origin: Integers) -> float:
    """Return (1 - Spearman's correlation of PageRank before and after) / 2; identities of a person are summed.

    People without a released node have rank value 0. If all people of one network have equal values, the correlation is
    undefined: the loss is 0 if they are equal in the original, and one half otherwise.

    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> ranks_lost(star, star, np.arange(4)), ranks_lost(star, star.take([1, 0, 2, 3]), np.arange(4)) > 0.5
    (0.0, True)
    """
    rank_before, after = pagerank(original), np.bincount(origin, pagerank(release), minlength=original.n_nodes)
    first, second = (mean_ranks(np.round(rank * len(rank_before), 9)) for rank in (rank_before, after))
    if not len(first) or first.min() == first.max():
        return 0.0
    return 0.5 if second.min() == second.max() else float(1 - np.corrcoef(first, second)[0, 1]) / 2


def mean_ranks(values: Floats) -> Floats:
    """Return the rank of each value, from 1; equal values share the mean of their ranks.

    >>> mean_ranks(np.array([7.0, 2.0, 7.0]))
    array([2.5, 1. , 2.5])
    """
    _, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[position]
    return ranks


def pagerank(graph: SocialGraph) -> Floats:
    """Return (n_nodes,) PageRank: the stationary distribution of a walk that restarts uniformly with probability 0.15.

    The values sum to 1, with an accuracy of 1e-10. A walk at a node without neighbors restarts.

    >>> pagerank(SocialGraph.from_edges([0, 0], [1, 2])).round(3)
    array([0.486, 0.257, 0.257])

    S. Brin, L. Page, "The anatomy of a large-scale hypertextual web search engine", WWW 1998.
    """
    n = max(graph.n_nodes, 1)
    step = scipy.sparse.diags_array(1 / np.maximum(graph.degree, 1)) @ graph.adjacency().astype(np.float64)
    stuck = graph.degree == 0
    rank, change = np.full(graph.n_nodes, 1 / n), math.inf
    while change > 1e-10:
        next_rank = DAMPING * (rank @ step + rank[stuck].sum() / n) + (1 - DAMPING) / n
        rank, change = next_rank, float(np.abs(next_rank - rank).sum())
    return rank


def outbreak(graph: SocialGraph, person: Integers, passes_on: float) -> float:
    """Return the mean share of nodes that a disease reaches from a random node, if each edge transmits with a
    probability.

    It is the final size of the SIR model with a constant infectious period. A person is infected if a path of
    transmitting edges exists (Newman). The value is the mean of sum_c (nodes of component c / n)^2 over 30 draws of
    transmitting edges. Edges between the same people share their draws. `lost` uses the probability 2 / mean degree of
    the original, for which the first person infects two people on average.

    person : (n_nodes,) person of each node

    >>> outbreak(SocialGraph.from_edges([0, 1], [1, 2], n_nodes=4), np.arange(4), 1.0)
    0.625

    M. E. J. Newman, "Spread of epidemic disease on networks", Physical Review E 66, 2002.
    """
    n, (u, v) = graph.n_nodes, graph.edges()
    u_person, v_person = np.minimum(person[u], person[v]), np.maximum(person[u], person[v])
    sizes = []
    for draw in range(OUTBREAKS):
        passes = tokens(tokens(u_person) + np.uint64(3) * tokens(v_person) + np.uint64(draw)) < passes_on * 2.0**64
        joined = scipy.sparse.coo_array((np.ones(int(passes.sum())), (u[passes], v[passes])), shape=(n, n))
        share = (
            np.bincount(scipy.sparse.csgraph.connected_components(joined, directed=False)[1]) / n if n else np.zeros(1)
        )
        sizes.append(float(share @ share))
    return float(np.mean(sizes))


def communities(graph: SocialGraph) -> Integers:
    """Return (n_nodes,) the community of each node, numbered from 0, by the Louvain method.

    Each node in order joins the neighboring community with the largest gain of `modularity`, until no move gains. Each
    community then becomes a node, and the procedure repeats until no communities merge. Between levels, single nodes
    may move again. The result is deterministic for a given node numbering.

    >>> communities(SocialGraph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]))
    array([0, 0, 0, 1, 1, 1])

    V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks",
    Journal of Statistical Mechanics P10008, 2008.
    """
    matrix = graph.adjacency().astype(np.float64).tocsr()
    label, count = np.arange(graph.n_nodes), graph.n_nodes + 1
    while count > matrix.shape[0]:
        count = matrix.shape[0]
        strength = np.asarray(matrix.sum(axis=1), dtype=np.float64).reshape(-1)
        joined_to = joined(matrix.indptr, matrix.indices, matrix.data, strength)
        joined_to = np.unique(joined_to, return_inverse=True)[1].reshape(-1)
        label = joined_to[label]
        into = scipy.sparse.csr_array(
            (np.ones(count), (np.arange(count), joined_to)), shape=(count, joined_to.max(initial=-1) + 1)
        )
        matrix = (into.T @ matrix @ into).tocsr()
    return label


def two_sided(graph: SocialGraph) -> bool:
    """Return True for a bipartite graph, such as a graph of people and their groups or events.

    A sparse graph can be bipartite by chance, so the graph must also have more edges than nodes. The test is a double
    cover: each node gets a copy, and each edge connects a node with a copy. A component is bipartite if its cover has
    two components.

    >>> members_and_clubs = SocialGraph.from_edges([0, 0, 1, 1, 2, 2], [3, 4, 3, 4, 3, 4])
    >>> two_sided(members_and_clubs), two_sided(SocialGraph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]))
    (True, False)
    """
    if graph.n_edges <= graph.n_nodes:
        return False
    matrix = graph.adjacency()
    doubled = scipy.sparse.block_array([[None, matrix], [matrix, None]])
    once, twice = (
        scipy.sparse.csgraph.connected_components(adjacency, directed=False)[1].max() + 1
        for adjacency in (matrix, doubled)
    )
    return bool(twice == 2 * once)


def modularity(graph: SocialGraph, community: Integers) -> float:
    """Return the modularity: sum over communities c of (edges within c) / m - (sum of degrees in c / 2 m)^2.

    It is the share of edges within communities minus its expected value if edges were random for the given degrees. It
    is below 1, and 0 for a single community or a graph without edges.

    >>> two = SocialGraph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> round(modularity(two, np.array([0, 0, 0, 1, 1, 1])), 3), modularity(two, np.zeros(6, np.int64))
    (0.357, 0.0)

    M. E. J. Newman, M. Girvan, "Finding and evaluating community structure in networks", Physical Review E 69, 2004.
    """
    m = graph.n_edges
    if not m:
        return 0.0
    u, v = graph.edges()
    share = np.bincount(community, weights=graph.degree) / (2 * m)
    return float(np.mean(community[u] == community[v]) - share @ share)
