"""What the propagation attacks compute for a node: its candidates, their scores, and whether one stands out.

Two engines return the same bytes: compiled loops where numba is installed, NumPy node by node where it is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
"""Scores closer than this share of the larger one are tied. An exact test would not do: 1 / sqrt(3) and 3 / sqrt(27)
differ in the last bit, and two candidates that differ at all have eccentricity sqrt(2).
"""


class Side(NamedTuple):
    """One of the two graphs, with what is known of its nodes.

    indptr, neighbour : the graph in compressed rows
    image             : (n,) int32, the node of the other graph that each node is mapped to, -1 where none is
    weight            : (n,) what a mapped node adds to the score of every neighbour of its image
    size              : (n,) what scores are divided by, see `Rule`
    """

    indptr: NDArray[np.int64]
    neighbour: NDArray[np.int32]
    image: NDArray[np.int32]
    weight: NDArray[np.float64]
    size: NDArray[np.float64]


class Rule(NamedTuple):
    """How weights become a score and when the best candidate is accepted.

    ratio  : the score is W min(size_v / size_c, size_c / size_v) instead of W / size_c, with W the weights added up
    revise : mapped nodes are candidates too, sigma is the population's and a single candidate is refused; otherwise
             only free nodes are candidates, sigma is the sample's and a single candidate is accepted
    theta  : least eccentricity (best - second best) / sigma over the scored candidates; ties are refused
    """

    ratio: bool
    revise: bool
    theta: float


class Engine(Protocol):
    """What both engines offer. `here` is the graph of the nodes asked about, `there` that of their candidates."""

    def winners(self, nodes: NDArray[np.int32], here: Side, there: Side, rule: Rule) -> tuple[NDArray[np.int32], int]:
        """The candidate that stands out for each node, -1 where none does; and the candidates visited."""

    def sweep(self, nodes: NDArray[np.int32], source: Side, target: Side, rule: Rule) -> tuple[int, int]:
        """One pass that writes each match into both images at once; the matches made and the candidates visited."""

    def best(
        self, nodes: NDArray[np.int32], here: Side, there: Side, rule: Rule, width: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The `width` best candidates of each node, best first, -1 where there are fewer; and their scores."""


@cache
def engine() -> Engine:
    """The faster engine that is installed; numba takes half a second to import, so this waits for the first attack."""
    if find_spec("numba") is None:
        from unmask.graphs.attacks import _plain

        return _plain
    from unmask.graphs.attacks import _compiled

    return _compiled


def mutual(
    nodes: NDArray[np.int32], source: Side, target: Side, rule: Rule, *, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Pairs of a source node and a target node that stand out for each other, and the candidates visited.

    Each target node has one winner, so no node appears twice; nothing is written while nodes are scored, so neither
    the order of the nodes nor the number of threads can matter.
    """
    forward, visits = _winners(nodes, source, target, rule, threads=threads)
    found = forward >= 0
    node, candidate = nodes[found], forward[found]
    asked, row = np.unique(candidate, return_inverse=True)
    backward, more = _winners(asked, target, source, rule, threads=threads)
    agreed = backward[row] == node
    return node[agreed], candidate[agreed], visits + more


def _winners(
    nodes: NDArray[np.int32], here: Side, there: Side, rule: Rule, *, threads: int
) -> tuple[NDArray[np.int32], int]:
    if threads == 1:
        return engine().winners(nodes, here, there, rule)
    blocks: Iterable[NDArray[np.int32]] = np.array_split(nodes, threads)
    with ThreadPoolExecutor(threads) as pool:  # the compiled loops hold no lock
        parts = list(pool.map(lambda block: engine().winners(block, here, there, rule), blocks))
    return np.concatenate([winner for winner, _ in parts]), sum(visits for _, visits in parts)
