"""Graphs to try things on: loaders of public sets, pairs with a known truth, and random graphs with known structure.

Files are looked for in `$UNMASK_DATA`, then in the user's cache (`~/.cache/unmask`), and checked against their SHA-256.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask import files
from unmask.errors import FailedError, UnmaskError
from unmask.graphs.knowledge import NOBODY, Pair
from unmask.graphs.release import SocialGraph

__all__ = [
    "NETWORKS",
    "PAIRS",
    "barabasi_albert",
    "chung_lu",
    "erdos_renyi",
    "network",
    "pair",
    "power_law_degrees",
    "watts_strogatz",
]


class _File(NamedTuple):
    path: str
    nodes: int
    edges: int  # simple, undirected
    sha256: str


# Counts: the data's own pages, recounted; self-loops, repetitions and direction dropped.
_NETWORKS: Final = {
    "epinions": _File(
        "graphs/soc-Epinions1.txt.gz", 75_879, 405_740,
        "51e72bc873ab9eecac5b59c9ed119bec9315a217dba8a30b408fa9c412550486",
    ),
    "slashdot": _File(
        "graphs/soc-Slashdot0902.txt.gz", 82_168, 504_230,
        "7a63db8394d96a9a937a2252945297483d776b6af2c75617f1fe928a6b198290",
    ),
    "wiki-vote": _File(
        "graphs/wiki-Vote.txt.gz", 7_115, 100_762,
        "586f139892ecffde52aaacfd83f55fb02f5d2347939710be8b82926c472eb08e",
    ),
    "facebook": _File(
        "graphs/facebook_combined.txt.gz", 4_039, 88_234,
        "e2f423b9c30f68beee772d1a55eaac022bb5090a7f7dc8c47578bfbb07228360",
    ),
    "enron": _File(
        "graphs/email-Enron.txt.gz", 36_692, 183_831,
        "f97cd33e26fb7f99381dd799e6e91b703bb75ec8842b0491e9ec48c50808ebe7",
    ),
    "ca-hepth": _File(
        "graphs/CA-HepTh.txt.gz", 9_877, 25_973,
        "f64ed3409af7a1ccbc48b530e80b9c31088005b016bc91284217d32129d29186",
    ),
    "ca-hepph": _File(
        "graphs/CA-HepPh.txt.gz", 12_008, 118_489,
        "3f21bc074df76d07c33cb1b73e2fb51058eef1f072fa4c1a510127b06369b73d",
    ),
    "ca-condmat": _File(
        "graphs/CA-CondMat.txt.gz", 23_133, 93_439,
        "65223e7501c73be3598ac693d59396109911bb1f1a547f8b3ed62b290f99fbdb",
    ),
    "ca-grqc": _File(
        "graphs/CA-GrQc.txt.gz", 5_242, 14_484,
        "64e13b16d41e19f092135b8fb3c47f36edcb66460a654c5c61f25216458a57ec",
    ),
    "email-eu": _File(
        "graphs/email-Eu-core.txt.gz", 1_005, 16_064,
        "84189cdd8a8774f9c1e8c90bd5d5fc3fecd31811521944b832aad22d05c28dc8",
    ),
    "advogato": _File(
        "graphs/advogato.txt.gz", 6_539, 39_285,
        "4df75f09bffef01ddcbcf78783325c18bf69cc9ea02489a0ceef0ae9d28e469d",
    ),
    "karate": _File(
        "graphs/karate.txt", 34, 78,
        "af55c911ba5567bb5e5caab713efd7ff2d389d13e270e77bdc08cbdcbcf53436",
    ),
    "cond-mat-2005": _File(
        "graphs/cond-mat-2005-lcc.net.gz", 36_458, 171_735,
        "2ce712ac0b416951361c3c12c4e91a6cff7fedc09e41b8f9dd6a4599b89dc87a",
    ),
    "twitter-mentions": _File(
        "graphs/twitter-mention-sample.net.gz", 9_745, 49_030,
        "efaac4d04b4abac6843b5333736410151e7ed33a4a5f525c0022c20ff51b0028",
    ),
    "gowalla-friends": _File(
        "traces/gowalla1000/friends_18737.txt.gz", 16_584, 86_985,
        "f45f60a53745d5f26f36afe2ce8f6174a530aa409a6143a6473133624cb0d6c4",
    ),
}  # fmt: skip

_PAIRS: Final = {
    "acm-dblp": (
        _File(
            "graphs/pairs/acm_dblp/acm.edges.txt.gz", 9_872, 39_561,
            "b888998854241782062fd0729c6ec2e7bdf3576e51cb3326d0aca2a98be92b15",
        ),
        _File(
            "graphs/pairs/acm_dblp/dblp.edges.txt.gz", 9_916, 44_808,
            "19729f173a32624dc08cd19fcf30fe6278dead0763f39ca7a10c877a3df77969",
        ),
        "graphs/pairs/acm_dblp/truth.txt.gz",
        "9d228eceb58260ad0293ff8183886360850b6b5d506a5c7bcf448f2fe938a930",
    ),
    "allmovie-tmdb": (
        _File(
            "graphs/pairs/allmovie_tmdb/allmovie.edges.txt.gz", 6_011, 124_709,
            "b73b286b431e5d17f9a3238f4f30509557183691a883f4c60ae45e62fe9061e4",
        ),
        _File(
            "graphs/pairs/allmovie_tmdb/tmdb.edges.txt.gz", 5_713, 119_073,
            "14e26f6e8b86cba08a2d308afc7c1150a98b6ca1278c0c3e050734ef4b4100ef",
        ),
        "graphs/pairs/allmovie_tmdb/truth.txt.gz",
        "43b27293812c3cc943354eb3288492589b175e3ab164b5e9d20c227959cd2b93",
    ),
    "douban": (
        _File(
            "graphs/pairs/douban/online.edges.txt.gz", 3_906, 8_164,
            "51a36ba5d80e38bbbe135c3a9a35d5dd7c1ae079e6c5efa795b1dda6c062de27",
        ),
        _File(
            "graphs/pairs/douban/offline.edges.txt.gz", 1_118, 1_511,
            "3e1357ce3e0034af3200d9ecd911c83b5af39c92315d724426f2f9f53c041300",
        ),
        "graphs/pairs/douban/truth.txt.gz",
        "7e69a13b39cf3f208db43cdf4c6d51346fa518e8e36f919ba4cf50f287da81f4",
    ),
}  # fmt: skip

NETWORKS: Final = tuple(_NETWORKS)
PAIRS: Final = tuple(_PAIRS)


# --- public sets ----------------------------------------------------------------------------------------------------


def network(name: str) -> SocialGraph:
    """A public network by name (`NETWORKS`), as a simple undirected graph; labels are the ids of its file.

    epinions, slashdot, wiki-vote, enron, email-eu, facebook, ca-* (SNAP), advogato (KONECT), karate (Zachary 1977),
    cond-mat-2005 and twitter-mentions (Nilizadeh, Kapadia, Ahn, CCS 2014), gowalla-friends (Cho, Myers, Leskovec 2011).
    """
    return _load(_NETWORKS[_known(name, NETWORKS)])


def pair(name: str) -> Pair:
    """Two real networks of overlapping people (or films) and who is who, by name (`PAIRS`); numbered as in the files.

    acm-dblp : co-authorship in two libraries, 6,325 in both (Zhang, Tong, "FINAL", KDD 2016)
    allmovie-tmdb : films linked by actors, 5,174 in both; its truth is not one-to-one (5,176 pairs): a film with two
                    counterparts has the first one listed, and 5,164 target films are the counterpart of one or more
    douban   : who follows whom online, and who meets offline, 1,118 in both (Zhang, Tong, KDD 2016)

    Use `Pair.shuffled` before an attack, so that the order of the files tells nothing.
    """
    source, target, path, sha256 = _PAIRS[_known(name, PAIRS)]
    matches = np.loadtxt(files.locate(path, sha256=sha256), dtype=np.int64, ndmin=2)
    truth = np.full(source.nodes, NOBODY, dtype=np.int64)
    truth[matches[::-1, 0]] = matches[::-1, 1]  # backwards, so that the first one listed stays
    return Pair(_load(source), _load(target), truth)


def _load(file: _File) -> SocialGraph:
    graph = SocialGraph.read(files.locate(file.path, sha256=file.sha256))
    if (graph.n_nodes, graph.n_edges) != (file.nodes, file.edges):
        raise FailedError(
            f"{Path(file.path).name} has {graph.n_nodes} nodes and {graph.n_edges} edges, "
            f"expected {file.nodes} and {file.edges}; fetch it again"
        )
    return graph


def _known(name: str, names: Iterable[str]) -> str:
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    raise UnmaskError(f"the graph {name!r} is unknown; {meant}The names are {', '.join(names)}")


# --- random graphs --------------------------------------------------------------------------------------------------


def erdos_renyi(n: int, p: float, *, rng: np.random.Generator) -> SocialGraph:
    """G(n, p): every pair of n nodes is an edge with probability p, independently.

    The gaps between the edges in the list of all pairs are geometric, so that the work is that of the edges alone.

    >>> erdos_renyi(4, 1.0, rng=np.random.default_rng(1)).degree
    array([3, 3, 3, 3])

    V. Batagelj, U. Brandes, "Efficient generation of large random networks", Physical Review E 71, 2005.
    """
    _check_count("n", n, 0)
    _check_probability(p)
    n_pairs = n * (n - 1) // 2
    if p == 0 or not n_pairs:
        return SocialGraph.from_edges([], [], n_nodes=n)
    expected = n_pairs * p
    found = [np.array([-1], dtype=np.int64)]
    while found[-1][-1] < n_pairs - 1:
        gaps = np.minimum(rng.geometric(p, size=int(expected + 4 * math.sqrt(expected)) + 8), n_pairs + 1)
        reach = found[-1][-1] + np.cumsum(gaps)
        past = np.flatnonzero(reach >= n_pairs)  # the first of them comes before the sum can run over
        found.append(reach[: past[0]] if len(past) else reach)
        if len(past):
            break
    return SocialGraph.from_edges(*_ends(np.concatenate(found)[1:]), n_nodes=n)


def _ends(number: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pair v > u whose number is v (v - 1) / 2 + u.

    >>> last = (2**31 - 3) * (2**31 - 2) // 2
    >>> [end.tolist() for end in _ends(np.array([0, 1, 2, last - 1, last]))]
    [[0, 0, 1, 2147483644, 0], [1, 2, 2, 2147483645, 2147483646]]
    """
    v = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    v -= v * (v - 1) // 2 > number  # the root may be rounded up
    return number - v * (v - 1) // 2, v


def barabasi_albert(n: int, m: int, *, rng: np.random.Generator) -> SocialGraph:
    """Preferential attachment: from a star of m + 1 nodes on, each new node is tied to m distinct old ones.

    An old node is drawn with probability proportional to its degree, again where it was drawn already. It has
    m (n - m) edges.

    >>> barabasi_albert(50, 3, rng=np.random.default_rng(1)).n_edges
    141

    A.-L. Barabasi, R. Albert, "Emergence of scaling in random networks", Science 286, 1999.
    """
    _check_count("m", m, 1)
    _check_count("n", n, m + 1)
    ends = np.empty(2 * m * (n - m), dtype=np.int64)  # every node as often as its degree
    ends[0 : 2 * m : 2], ends[1 : 2 * m : 2] = 0, np.arange(1, m + 1)
    for node in range(m + 1, n):
        filled = 2 * m * (node - m)
        chosen: dict[int, None] = {}  # a set would have an order of its own
        while len(chosen) < m:
            chosen.update(dict.fromkeys(ends[rng.integers(filled, size=m - len(chosen))].tolist()))
        ends[filled : filled + 2 * m : 2] = node
        ends[filled + 1 : filled + 2 * m : 2] = list(chosen)
    return SocialGraph.from_edges(ends[::2], ends[1::2], n_nodes=n)


def chung_lu(degrees: ArrayLike, *, rng: np.random.Generator) -> SocialGraph:
    """A graph of given expected degrees w: nodes i and j are tied with probability 1 - exp(-w_i w_j / sum w).

    For w_i w_j far below sum w that is the w_i w_j / sum w of Chung and Lu; the form with the exponential, of Norros
    and Reittu, stays below 1 and can be drawn in one go: Poisson(sum w / 2) links with ends proportional to w. Hubs
    have fewer edges than expected, as links are drawn twice. Numbers carry no order but that of `degrees`.

    degrees : (n,) at least 0

    >>> float(chung_lu([2.0] * 1000, rng=np.random.default_rng(1)).degree.mean().round(1))
    2.0

    F. Chung, L. Lu, "Connected components in random graphs with given expected degree sequences", Annals of
    Combinatorics 6, 2002; I. Norros, H. Reittu, "On a conditionally Poissonian graph process", 2006.
    """
    w = np.asarray(degrees, dtype=np.float64)
    if w.ndim != 1 or not np.isfinite(w).all() or (w < 0).any():
        raise UnmaskError("the degrees are not a list of numbers from 0; give one for each node")
    total = float(w.sum())
    if total == 0:
        return SocialGraph.from_edges([], [], n_nodes=len(w))
    some = np.flatnonzero(w)
    n_links = rng.poisson(total / 2)
    u, v = (np.repeat(some, rng.multinomial(n_links, w[some] / total)) for _ in range(2))
    return SocialGraph.from_edges(u, rng.permutation(v), n_nodes=len(w))


def power_law_degrees(n: int, *, exponent: float, mean: float) -> NDArray[np.float64]:
    """Expected degrees for `chung_lu` with a power-law tail, P(degree > x) ~ x^(1 - exponent), descending.

    w_i = c (i + 1/2)^(-1 / (exponent - 1)), i from 0, c such that their mean is `mean`.

    >>> power_law_degrees(4, exponent=3, mean=2).round(2)
    array([3.33, 1.92, 1.49, 1.26])
    """
    _check_count("n", n, 1)
    if not exponent > 2 or not 0 < mean < math.inf:
        raise UnmaskError(f"exponent is {exponent} and mean {mean}, expected an exponent above 2 and a mean above 0")
    w = (np.arange(n) + 0.5) ** (-1 / (exponent - 1))
    return np.asarray(w * (mean / w.mean()), dtype=np.float64)


def watts_strogatz(n: int, k: int, p: float, *, rng: np.random.Generator) -> SocialGraph:
    """A small world: a ring with each node tied to its k nearest, the far end of each edge moved with probability p.

    The edges at distance 1 are moved first, then those at distance 2 and so on; the new end is uniform among the nodes
    that are neither the node itself nor tied to it already (a node tied to all keeps its edge). It has n k / 2 edges.

    k : even, below n

    >>> watts_strogatz(6, 2, 0.0, rng=np.random.default_rng(1)).neighbours(0)
    array([1, 5], dtype=int32)

    D. J. Watts, S. H. Strogatz, "Collective dynamics of 'small-world' networks", Nature 393, 1998.
    """
    _check_probability(p)
    if k < 0 or k % 2 or k >= n:
        raise UnmaskError(f"k is {k} for {n} nodes, expected an even number from 0 to {n - 1}")
    tied: list[set[int]] = [{(node + step) % n for step in range(-k // 2, k // 2 + 1)} - {node} for node in range(n)]
    for step in range(1, k // 2 + 1):
        for node in np.flatnonzero(rng.random(n) < p).tolist():
            _move(tied, node, (node + step) % n, rng)
    u, v = (
        zip(*[(node, other) for node in range(n) for other in tied[node] if node < other], strict=True)
        if k
        else ((), ())
    )
    return SocialGraph.from_edges(np.array(u, dtype=np.int64), np.array(v, dtype=np.int64), n_nodes=n)


def _move(tied: list[set[int]], node: int, old: int, rng: np.random.Generator) -> None:
    """Untie node and old, tie node to a random other one."""
    if len(tied[node]) == len(tied) - 1:
        return
    new = node
    while new == node or new in tied[node]:
        new = int(rng.integers(len(tied)))
    tied[node].remove(old)
    tied[old].remove(node)
    tied[node].add(new)
    tied[new].add(node)


def _check_count(name: str, value: int, lowest: int) -> None:
    if value < lowest:
        raise UnmaskError(f"{name} is {value}, expected at least {lowest}")


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise UnmaskError(f"p is {p}, expected a probability from 0 to 1")
