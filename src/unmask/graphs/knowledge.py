"""What an adversary of social graphs may know: a graph that overlaps the release, and a few people in both."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.graphs.release import SocialGraph

NOBODY: Final = -1  # in `Pair.truth`: the person is not in the target


@dataclass(frozen=True, eq=False)
class Pair:
    """Two graphs of overlapping people, and who is who: what an attack is measured on. No attack sees the truth.

    source : the adversary's own graph; its labels say whom he knows
    target : the release
    truth  : (source.n_nodes,) int64, the target node of the same person, -1 (`NOBODY`) where the target has none

    >>> pair = Pair(SocialGraph.from_edges([0], [1]), SocialGraph.from_edges([0], [1]), np.array([1, -1]))
    >>> pair, pair.common
    (Pair(2 source nodes, 2 target nodes, 1 in both), array([0]))
    """

    source: SocialGraph
    target: SocialGraph
    truth: NDArray[np.int64]

    def __post_init__(self) -> None:
        if len(self.truth) != self.source.n_nodes:
            raise UnmaskError(f"the truth has {len(self.truth)} rows, expected one for each source node")
        if len(self.truth) and not NOBODY <= self.truth.min() <= self.truth.max() < self.target.n_nodes:
            raise UnmaskError(f"the truth names nodes beyond the target's {self.target.n_nodes}; use -1 for nobody")

    def __repr__(self) -> str:
        sizes = f"{self.source.n_nodes} source nodes, {self.target.n_nodes} target nodes"
        return f"Pair({sizes}, {len(self.common)} in both)"

    @property
    def common(self) -> NDArray[np.int64]:
        """The source nodes whose person is in the target too, ascending: those that can be found at all."""
        return np.flatnonzero(self.truth >= 0)

    @property
    def node_overlap(self) -> float:
        """Jaccard index of the people: common / (source + target - common); nan where nobody is in either."""
        n = self.source.n_nodes + self.target.n_nodes - len(self.common)
        return len(self.common) / n if n else math.nan

    @property
    def edge_overlap(self) -> float:
        """Jaccard index of the edges among the common people: in both / in either; nan where there is none."""
        both = self.shared.n_edges
        image = np.zeros(self.target.n_nodes, dtype=np.bool_)
        image[self.truth[self.common]] = True
        u, v = self.source.edges()
        a, b = self.target.edges()
        either = int(((self.truth[u] >= 0) & (self.truth[v] >= 0)).sum() + (image[a] & image[b]).sum()) - both
        return both / either if either else math.nan

    @property
    def shared(self) -> SocialGraph:
        """The edges that are in both graphs, on the source nodes."""
        u, v = self.source.edges()
        found = (self.truth[u] >= 0) & (self.truth[v] >= 0)
        u, v = u[found], v[found]
        kept = self.target.has_edges(self.truth[u], self.truth[v])
        return SocialGraph.from_edges(u[kept], v[kept], n_nodes=self.source.n_nodes)

    def shuffled(self, *, rng: np.random.Generator) -> Pair:
        """The same people under new node numbers, drawn for each graph by itself: order is no information."""
        return _joined(self, rng.permutation(self.source.n_nodes), rng.permutation(self.target.n_nodes))


def _joined(pair: Pair, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> Pair:
    """The pair cut down to these nodes of each graph, numbered in this order."""
    number = np.full(pair.target.n_nodes + 1, NOBODY, dtype=np.int64)  # the last one is the number of nobody
    number[targets] = np.arange(len(targets))
    return Pair(pair.source.take(sources), pair.target.take(targets), number[pair.truth[sources]])


# --- two graphs from one --------------------------------------------------------------------------------------------


def split(
    graph: SocialGraph,
    node_overlap: float,
    edge_overlap: float,
    rng: np.random.Generator,
    *,
    connected: bool = True,
) -> Pair:
    """Two overlapping graphs out of one: the perturbation that most published attacks were measured with.

    The people are shuffled; round(a |V|) of them, a = node_overlap, are common, the others are halved between the two
    graphs: each has |V| (1 + a) / 2 people and the Jaccard index of the people is a. Each graph by itself keeps a
    random share q = 2 b / (1 + b), b = edge_overlap, of all edges of the parent, and of these the ones among its own
    people: the Jaccard index of the edges among the common people is q / (2 - q) = b, within sampling error. Then
    each is cut to its largest connected component, which lowers the overlap of people and raises that of edges a
    little; connected=False leaves that out. Node numbers are drawn anew for each graph.

    node_overlap : 0 to 1; 0 is the control where there is nobody to be found
    edge_overlap : above 0, to 1

    The source keeps the labels (or the parent's node numbers as labels): the people the adversary knows. The target
    has none. Common people of whom either node is cut off with its component count as nobody.

    >>> parent = SocialGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> pair = split(parent, node_overlap=1, edge_overlap=1, rng=np.random.default_rng(1))
    >>> pair, pair.edge_overlap
    (Pair(4 source nodes, 4 target nodes, 4 in both), 1.0)

    A. Narayanan, V. Shmatikov, "De-anonymizing social networks", IEEE S&P 2009, section 6; G. Gulyas, "Protecting
    privacy against structural de-anonymization attacks in social networks", 2015, section 3.3. The cut to the
    component is not in the text but in the program that made the published figures.
    """
    _check_share("node_overlap", node_overlap, lowest=0.0)
    _check_share("edge_overlap", edge_overlap, lowest=math.nextafter(0.0, 1.0))
    people = rng.permutation(graph.n_nodes)
    n_common = round(node_overlap * graph.n_nodes)
    half = (graph.n_nodes - n_common) // 2
    common, first, second = np.split(people, [n_common, n_common + half])
    share = 2 * edge_overlap / (1 + edge_overlap)
    source_people = rng.permutation(np.concatenate((common, first)))
    target_people = rng.permutation(np.concatenate((common, second)))
    source = _thinned(graph, share, rng).take(source_people)
    target = _thinned(graph, share, rng).take(target_people)
    names = np.arange(graph.n_nodes) if graph.labels is None else graph.labels
    number = np.full(graph.n_nodes, NOBODY, dtype=np.int64)
    number[target_people] = np.arange(len(target_people))
    known = SocialGraph(source.indptr, source.neighbour, names[source_people])
    pair = Pair(known, SocialGraph(target.indptr, target.neighbour), number[source_people])
    return _joined(pair, known.largest_component(), target.largest_component()) if connected else pair


def _check_share(name: str, share: float, *, lowest: float) -> None:
    if not lowest <= share <= 1:
        bound = "0 to 1" if lowest == 0 else "above 0, to 1"
        raise UnmaskError(f"{name} is {share}, expected {bound}")


def _thinned(graph: SocialGraph, share: float, rng: np.random.Generator) -> SocialGraph:
    u, v = graph.edges()
    kept = rng.permutation(len(u))[: round(share * len(u))]
    return SocialGraph.from_edges(u[kept], v[kept], n_nodes=graph.n_nodes)


# --- seeds ----------------------------------------------------------------------------------------------------------

_METHOD = re.compile(r"(random|top|(?:clique|neighbourhood)\.([2-9]))(?:\.(\d+))?")


class SeedPairs(NamedTuple):
    """People whom the adversary has re-identified before he starts: source[i] is target[i], or so he believes.

    source, target : (n,) int64 node numbers, each at most once
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]


def select_seeds(pair: Pair, method: str, n: int, rng: np.random.Generator, *, error: float = 0.0) -> SeedPairs:
    """n people of both graphs as the adversary's first matches, chosen by what he is good at.

    method : "random"            any of the common people
             "random.25"         any of the 25 % of them with the most neighbours in the source; digits behind the dot
                                 are decimals, so that .2 is 20 % and .05 is 5 %
             "top"               those with the most neighbours in the source
             "clique.4"          disjoint groups of 4 who all know each other in both graphs, found greedily from random
                                 starts; n is a multiple of 4. "clique.4.2": among the top 20 %
             "neighbourhood.4"   disjoint groups of 4, collected breadth first from random starts along edges that are
                                 in both graphs; n is a multiple of 4. "neighbourhood.4.2": among the top 20 %
    error  : share of the seeds that are wrong, rounded to whole seeds: their target is replaced by a random node of the
             target that is nobody's seed; `pair.truth[seeds.source] != seeds.target` says which

    Ties in the number of neighbours are broken at random. In the source's words random.25, top, 4cliques.2 and 4bfs.2.

    >>> graph = SocialGraph.from_edges([0, 0, 0, 1, 3], [1, 2, 3, 2, 4])
    >>> seeds = select_seeds(Pair(graph, graph, np.arange(5)), "clique.3", n=3, rng=np.random.default_rng(1))
    >>> sorted(seeds.source.tolist())
    [0, 1, 2]

    G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, section 4.2.1.
    """
    parsed = _METHOD.fullmatch(method)
    if parsed is None or (parsed[1] == "top" and parsed[3]):
        raise UnmaskError(
            f"the seed method is {method!r}, expected random, random.25, top, clique.4 or neighbourhood.4, for example"
        )
    if n < 0 or not 0 <= error <= 1:
        raise UnmaskError(f"n is {n} and error is {error}, expected at least 0 seeds and a share from 0 to 1")
    ranked = _ranked(pair, rng)
    share = float(f"0.{parsed[3]}") if parsed[3] else 1.0
    pool = ranked[: math.ceil(share * len(ranked))]
    if n > len(pool):
        raise UnmaskError(f"{n} seeds are asked for, but {method} has {len(pool)} people to choose from; ask for fewer")
    if parsed[1] == "top":
        chosen = pool[:n]
    elif parsed[1] == "random":
        chosen = rng.permutation(pool)[:n]
    else:
        chosen = _groups(pair, pool, int(parsed[2]), n, method, rng)
    return _with_errors(pair, chosen, round(error * n), rng)


def _ranked(pair: Pair, rng: np.random.Generator) -> NDArray[np.int64]:
    """The common people by falling source degree, ties at random, one of each where two are the same target node."""
    common = rng.permutation(pair.common)
    _, first = np.unique(pair.truth[common], return_index=True)
    common = common[np.sort(first)]
    return common[np.argsort(-pair.source.degree[common], kind="stable")]


def _with_errors(pair: Pair, source: NDArray[np.int64], n_wrong: int, rng: np.random.Generator) -> SeedPairs:
    target = pair.truth[source]
    wrong = rng.permutation(len(source))[:n_wrong]
    others = np.setdiff1d(np.arange(pair.target.n_nodes), target)
    if n_wrong > len(others):
        raise UnmaskError(
            f"{n_wrong} seeds are to be wrong, but only {len(others)} nodes are nobody's seed; lower error"
        )
    target[wrong] = rng.permutation(others)[:n_wrong]
    return SeedPairs(source, target)


def _groups(
    pair: Pair, pool: NDArray[np.int64], size: int, n: int, method: str, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Disjoint groups of one size, each grown from a random start in the edges that both graphs share."""
    if n % size:
        raise UnmaskError(f"n is {n}, expected a multiple of {size}: {method} gives whole groups")
    shared = pair.shared.take(pool)
    grow = _clique if method.startswith("clique") else _nearest
    used: set[int] = set()
    chosen: list[int] = []
    for start in rng.permutation(len(pool)).tolist():
        if len(chosen) == n:
            break
        group = [] if start in used else grow(shared, start, size, used, rng)
        used.update(group)
        chosen += group
    if len(chosen) < n:
        raise UnmaskError(f"{method} finds {len(chosen)} seeds, expected {n}; ask for fewer or for smaller groups")
    return pool[np.array(chosen, dtype=np.int64)]


def _clique(graph: SocialGraph, start: int, size: int, used: set[int], rng: np.random.Generator) -> list[int]:
    """A clique of this size that holds the start and nobody used, or []."""

    def extend(members: list[int], candidates: list[int]) -> list[int]:
        if len(members) == size:
            return members
        for at, node in enumerate(candidates[: len(candidates) + len(members) + 1 - size]):
            friends = set(graph.neighbours(node).tolist())
            found = extend([*members, node], [other for other in candidates[at + 1 :] if other in friends])
            if found:
                return found
        return []

    return extend([start], [node for node in rng.permutation(graph.neighbours(start)).tolist() if node not in used])


def _nearest(graph: SocialGraph, start: int, size: int, used: set[int], rng: np.random.Generator) -> list[int]:
    """The first nodes of a breadth-first search from the start around those used, or [] where there are too few."""
    group = [start]
    for node in group:  # grows while it is walked
        for other in rng.permutation(graph.neighbours(node)).tolist():
            if len(group) == size:
                return group
            if other not in used and other not in group:
                group.append(other)
    return group if len(group) == size else []
