"""Random graph models: Erdos-Renyi, preferential attachment, Chung-Lu, small world."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.graphs.graph import SocialGraph
from unmask.ranges import FINITE, Range, check_type, check_types


def erdos_renyi(
    n: Annotated[int, Range(0)], p: Annotated[float, Range(0, 1)], *, rng: np.random.Generator
) -> SocialGraph:
    """Draw G(n, p): each pair of n nodes is an edge with probability p, independently.

    Gaps between edges in the list of all pairs are geometric, so the time is proportional to the number of edges.

    Parameters
    ----------
    n : int
        Number of nodes.
    p : float
        Probability of an edge.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    SocialGraph
        About p n (n - 1) / 2 edges.

    Examples
    --------
    >>> erdos_renyi(4, 1.0, rng=np.random.default_rng(1)).degree
    array([3, 3, 3, 3])

    References
    ----------
    V. Batagelj, U. Brandes, "Efficient generation of large random networks", Physical Review E 71, 2005.
    """
    check_types(erdos_renyi, {"n": n, "p": p})
    n_pairs = n * (n - 1) // 2
    if p == 0 or not n_pairs:
        return SocialGraph.from_edges([], [], n_nodes=n)
    expected = n_pairs * p
    edges = [np.array([-1], dtype=np.int64)]
    while edges[-1][-1] < n_pairs - 1:
        gaps = np.minimum(rng.geometric(p, size=int(expected + 4 * math.sqrt(expected)) + 8), n_pairs + 1)
        numbers = edges[-1][-1] + np.cumsum(gaps)
        beyond = np.flatnonzero(numbers >= n_pairs)  # the first one occurs before the sum can overflow
        edges.append(numbers[: beyond[0]] if len(beyond) else numbers)
        if len(beyond):
            break
    return SocialGraph.from_edges(*_ends(np.concatenate(edges)[1:]), n_nodes=n)


def _ends(number: Integers) -> tuple[Integers, Integers]:
    """Return the pair v > u with the number v (v - 1) / 2 + u.

    >>> last = (2**31 - 3) * (2**31 - 2) // 2
    >>> [end.tolist() for end in _ends(np.array([0, 1, 2, last - 1, last]))]
    [[0, 0, 1, 2147483644, 0], [1, 2, 2, 2147483645, 2147483646]]
    """
    v = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    v -= v * (v - 1) // 2 > number  # the square root may be rounded up
    return number - v * (v - 1) // 2, v


def barabasi_albert(n: int, m: int, *, rng: np.random.Generator) -> SocialGraph:
    """Draw a graph by preferential attachment. It starts from a star of m + 1 nodes; each new node gets m edges.

    The m neighbors are distinct older nodes, drawn with probability proportional to degree; a repeated draw is
    rejected.

    Parameters
    ----------
    n : int
        Number of nodes, at least m + 1.
    m : int
        Number of edges of a new node.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    SocialGraph
        m (n - m) edges.

    Examples
    --------
    >>> barabasi_albert(50, 3, rng=np.random.default_rng(1)).n_edges
    141

    References
    ----------
    A.-L. Barabasi, R. Albert, "Emergence of scaling in random networks", Science 286, 1999.
    """
    check_type("m", m, Annotated[int, Range(1)])
    check_type("n", n, Annotated[int, Range(m + 1)])
    ends = np.empty(2 * m * (n - m), dtype=np.int64)  # contains each node as often as its degree
    ends[0 : 2 * m : 2], ends[1 : 2 * m : 2] = 0, np.arange(1, m + 1)
    for node in range(m + 1, n):
        filled = 2 * m * (node - m)
        chosen: dict[int, None] = {}  # keeps the order of the draws, unlike a set
        while len(chosen) < m:
            chosen.update(dict.fromkeys(ends[rng.integers(filled, size=m - len(chosen))].tolist()))
        ends[filled : filled + 2 * m : 2] = node
        ends[filled + 1 : filled + 2 * m : 2] = list(chosen)
    return SocialGraph.from_edges(ends[::2], ends[1::2], n_nodes=n)


def chung_lu(degrees: ArrayLike, *, rng: np.random.Generator) -> SocialGraph:
    """Draw a graph with expected degrees w: nodes i and j are adjacent with probability 1 - exp(-w_i w_j / sum w).

    For w_i w_j far below sum w, the probability is about w_i w_j / sum w, as in Chung and Lu. The exponential form of
    Norros and Reittu is below 1 and needs one draw of Poisson(sum w / 2) links with ends proportional to w. Hubs have
    fewer edges than expected, because repeated links count once.

    Parameters
    ----------
    degrees : (n,) array
        Expected degrees, at least 0.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    SocialGraph
        Nodes in the order of `degrees`.

    Examples
    --------
    >>> float(chung_lu([2.0] * 1000, rng=np.random.default_rng(1)).degree.mean().round(1))
    2.0

    References
    ----------
    F. Chung, L. Lu, "Connected components in random graphs with given expected degree sequences", Annals of
    Combinatorics 6, 2002; I. Norros, H. Reittu, "On a conditionally Poissonian graph process", 2006.
    """
    w = np.asarray(degrees, dtype=np.float64)
    if w.ndim != 1 or not np.isfinite(w).all() or (w < 0).any():
        raise UnmaskError("the degrees are not nonnegative numbers; give one for each node")
    total = float(w.sum())
    if total == 0:
        return SocialGraph.from_edges([], [], n_nodes=len(w))
    positive = np.flatnonzero(w)
    n_links = rng.poisson(total / 2)
    u, v = (np.repeat(positive, rng.multinomial(n_links, w[positive] / total)) for _ in range(2))
    return SocialGraph.from_edges(u, rng.permutation(v), n_nodes=len(w))


def power_law_degrees(
    n: Annotated[int, Range(1)], *, exponent: Annotated[float, Range(2, above=True)], mean: Annotated[float, FINITE]
) -> Floats:
    """Return expected degrees for `chung_lu` with a power-law tail, P(degree > x) ~ x^(1 - exponent).

    w_i = c (i + 1/2)^(-1 / (exponent - 1)) for i = 0, 1, ...; c is chosen so that the mean is `mean`.

    Parameters
    ----------
    n : int
        Number of nodes.
    exponent : float
        Exponent of the density, above 2.
    mean : float
        Mean degree.

    Returns
    -------
    (n,) array
        Degrees, descending.

    Examples
    --------
    >>> power_law_degrees(4, exponent=3, mean=2).round(2)
    array([3.33, 1.92, 1.49, 1.26])
    """
    check_types(power_law_degrees, {"n": n, "exponent": exponent, "mean": mean})
    w = (np.arange(n) + 0.5) ** (-1 / (exponent - 1))
    return np.asarray(w * (mean / w.mean()), dtype=np.float64)


def watts_strogatz(n: int, k: int, p: float, *, rng: np.random.Generator) -> SocialGraph:
    """Draw a small world: a ring in which each node has edges to its k nearest nodes, rewired with probability p.

    Edges at distance 1 are rewired first, then those at distance 2, and so on. The new end is uniform among the nodes
    that are not adjacent to the node. A node that is adjacent to all others keeps its edge.

    Parameters
    ----------
    n : int
        Number of nodes.
    k : int
        Degree of the ring, even and below n.
    p : float
        Probability that an edge is rewired.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    SocialGraph
        n k / 2 edges.

    Examples
    --------
    >>> watts_strogatz(6, 2, 0.0, rng=np.random.default_rng(1)).neighbors(0)
    array([1, 5], dtype=int32)

    References
    ----------
    D. J. Watts, S. H. Strogatz, "Collective dynamics of 'small-world' networks", Nature 393, 1998.
    """
    check_type("p", p, Annotated[float, Range(0, 1)])
    if k < 0 or k % 2 or k >= n:
        raise UnmaskError(f"k is {k} for {n} nodes, expected an even number from 0 to {n - 1}")
    tied: list[set[int]] = [{(node + step) % n for step in range(-k // 2, k // 2 + 1)} - {node} for node in range(n)]
    for step in range(1, k // 2 + 1):
        for node in np.flatnonzero(rng.random(n) < p).tolist():
            _move(tied, node, (node + step) % n, rng)
    u, v = zip(*[(node, end) for node in range(n) for end in tied[node] if node < end], strict=True) if k else ((), ())
    return SocialGraph.from_edges(np.array(u, dtype=np.int64), np.array(v, dtype=np.int64), n_nodes=n)


def _move(tied: list[set[int]], node: int, old: int, rng: np.random.Generator) -> None:
    """Replace the edge between a node and an old end by an edge to a random new end."""
    if len(tied[node]) == len(tied) - 1:
        return
    new = node
    while new == node or new in tied[node]:
        new = int(rng.integers(len(tied)))
    tied[node].remove(old)
    tied[old].remove(node)
    tied[node].add(new)
    tied[new].add(node)
