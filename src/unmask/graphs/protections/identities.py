"""What all who hide in several identities share: the release that comes of it, and who is behind each of its nodes."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.graphs.graph import SocialGraph


class Role(IntEnum):
    """What a released node is to the person behind it."""

    WHOLE = 0  # the person as such, who has not adopted the protection
    IDENTITY = 1  # one of several identities
    PUBLIC = 2  # the decoy, meant to be found
    HIDDEN = 3  # the identity behind the decoy


class _Released(NamedTuple):
    release: SocialGraph
    origin: NDArray[np.int64]


class Separated(_Released):
    """A release in which some people have several identities; it unpacks as `release, origin`.

    release  : the released graph, nodes shuffled, without labels
    origin   : (release.n_nodes,) int64, the node of the original graph behind each released node
    role     : (release.n_nodes,) int8, the `Role` of each released node
    adopters : (n_adopters,) int64, the nodes of the original graph that adopted the protection, ascending; one who
               chose no identity at all has no released node

    The origins are the lambda_G of G. Gulyas, 2015, section 3.2: they are for evaluation, and no attack sees them.
    """

    role: NDArray[np.int8]
    adopters: NDArray[np.int64]

    def __new__(
        cls, release: SocialGraph, origin: NDArray[np.int64], role: NDArray[np.int8], adopters: NDArray[np.int64]
    ) -> Separated:
        """Of `release` and `origin`, which unpack, and the two that are attributes only."""
        made = super().__new__(cls, release, origin)
        made.role, made.adopters = role, adopters
        return made

    def __repr__(self) -> str:
        people = len(np.unique(self.origin))
        return f"Separated({self.release!r} of {people} people, {len(self.adopters)} adopters)"


@dataclass(frozen=True, eq=False)
class Kept:
    """Which identities some people have, and whom each of them keeps.

    adopters : (n_adopters,) nodes of the graph
    owner    : (n_identities,) the node behind each identity
    role     : (n_identities,) its `Role`
    identity : (n_kept,) an identity, 0 to n_identities - 1
    tie      : (n_kept,) the place in `graph.neighbor` of somebody whom this identity keeps, each pair once
    """

    adopters: NDArray[np.int64]
    owner: NDArray[np.int64]
    role: NDArray[np.int8]
    identity: NDArray[np.int64]
    tie: NDArray[np.int64]


class Protection(Protocol):
    """A protection by several identities: it chooses who adopts it, and sorts their contacts."""

    def choose(
        self, graph: SocialGraph, *, rng: np.random.Generator, eligible: ArrayLike | None = None
    ) -> NDArray[np.int64]:
        """(n_adopters,) the nodes that adopt the protection, ascending."""
        ...

    def sort(self, graph: SocialGraph, adopters: NDArray[np.int64], *, rng: np.random.Generator) -> Kept:
        """The identities of these nodes and whom each keeps."""
        ...


def protected(
    protection: Any, graph: SocialGraph, *, rng: np.random.Generator, eligible: ArrayLike | None = None
) -> Separated:
    """What comes of any protection; one that some people adopt is told who may. One of your own returns the release and
    the node behind each of its nodes.
    """
    made = protection(graph, rng=rng, **({"eligible": eligible} if adopted(protection) else {}))
    if isinstance(made, Separated):
        return made
    release, origin = made
    behind = np.asarray(origin, dtype=np.int64)
    return Separated(release, behind, np.full(len(behind), Role.WHOLE, np.int8), np.zeros(0, np.int64))


def adopted(protection: Any) -> bool:
    """Whether some people adopt it, and take several identities: it is told who may."""
    return "eligible" in inspect.signature(protection).parameters


def release_of(graph: SocialGraph, parts: Sequence[Kept], *, rng: np.random.Generator) -> Separated:
    """The release in which the adopters of all parts, of whom no two share one, appear under their identities.

    Everybody sorts the people they know, as they are in `graph`. Identity i of u and identity j of v are adjacent if u
    and v are, i keeps v and j keeps u; a person who has not adopted keeps everybody. So an edge goes if either end
    drops it, and is there as often as the copies at one end times those at the other.
    """
    adopters = np.concatenate([part.adopters for part in parts]) if parts else np.zeros(0, np.int64)
    whole = np.ones(graph.n_nodes, dtype=np.bool_)
    whole[adopters] = False
    alone = np.flatnonzero(whole)
    number = np.full(graph.n_nodes, -1, dtype=np.int64)
    number[alone] = np.arange(len(alone))
    starts = np.cumsum([len(alone), *(len(part.owner) for part in parts)])
    places = np.repeat(np.arange(graph.n_nodes), graph.degree)  # who stands at each place of graph.neighbor
    unsorted = np.flatnonzero(whole[places])
    tie = np.concatenate([unsorted, *(part.tie for part in parts)])
    shifted = (part.identity + start for part, start in zip(parts, starts, strict=False))
    identity = np.concatenate([number[places[unsorted]], *shifted])
    origin = np.concatenate([alone, *(part.owner for part in parts)])
    role = np.concatenate([np.full(len(alone), Role.WHOLE, np.int8), *(part.role for part in parts)])
    shuffled = rng.permutation(len(origin))
    u, v = _tied(graph, tie, identity)
    new = np.empty(len(origin), dtype=np.int64)
    new[shuffled] = np.arange(len(origin))
    release = SocialGraph.from_edges(new[u], new[v], n_nodes=len(origin))
    return Separated(release, origin[shuffled], role[shuffled], np.sort(adopters))


def _tied(
    graph: SocialGraph, tie: NDArray[np.int64], identity: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ends of all edges between identities: of each edge, every keeper at one end with every one at the other."""
    keeper = identity[np.argsort(tie, kind="stable")]
    count = np.bincount(tie, minlength=len(graph.neighbor))
    first = np.cumsum(count) - count
    back = np.argsort(graph.neighbor, kind="stable")  # as rows and neighbors ascend: the same edge from its other end
    once = np.flatnonzero(back > np.arange(len(back)))
    back = back[once]
    ways = count[once] * count[back]
    edge, way = spans(ways)
    at, other = once[edge], back[edge]
    return keeper[first[at] + way // count[other]], keeper[first[other] + way % count[other]]


def spans(count: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of blocks of these lengths, laid end to end, the block of every element and its place in the block.

    >>> spans(np.array([2, 0, 1]))
    (array([0, 0, 2]), array([0, 1, 0]))
    """
    block = np.repeat(np.arange(len(count)), count)
    return block, np.arange(len(block)) - np.repeat(np.cumsum(count) - count, count)
