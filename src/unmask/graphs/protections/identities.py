"""Common parts of protections with several identities: the release, and the person behind each released node."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Integers
from unmask.core.randomness import secret_unless
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections.adopters import check_adopters, choose_adopters
from unmask.ranges import CheckedParameters


class Role(IntEnum):
    """Role of a released node for its person."""

    WHOLE = 0  # the person did not adopt the protection
    IDENTITY = 1  # one of several identities
    PUBLIC = 2  # the decoy, which should be found
    HIDDEN = 3  # the identity that the decoy protects


@dataclass(frozen=True, eq=False, repr=False)
class Separated:
    """A release in which some people have several identities; it unpacks as `release, origin`.

    Parameters
    ----------
    release : SocialGraph
        Released graph, nodes shuffled, without labels.
    origin : (release.n_nodes,) int64 array
        Node of the original graph behind each released node.
    role : (release.n_nodes,) int8 array
        `Role` of each released node.
    adopters : (n_adopters,) int64 array
        Nodes of the original graph that adopted the protection, ascending. An adopter without an identity has no
        released node.

    Notes
    -----
    The origins are lambda_G of G. Gulyas, 2015, section 3.2. They serve evaluation; no attack sees them.
    """

    release: SocialGraph
    origin: Integers
    role: NDArray[np.int8]
    adopters: Integers

    def __iter__(self) -> Iterator[Any]:
        return iter((self.release, self.origin))

    def __repr__(self) -> str:
        people = len(np.unique(self.origin))
        return f"Separated({self.release!r} of {people} people, {len(self.adopters)} adopters)"


@dataclass(frozen=True, eq=False)
class AssignedContacts:
    """Identities of some people, and the contacts of each identity.

    adopters : (n_adopters,) nodes of the graph
    owner    : (n_identities,) node of the person of each identity
    role     : (n_identities,) `Role` of each identity
    identity : (n_kept,) an identity, 0 to n_identities - 1
    tie      : (n_kept,) position in `graph.neighbor` of a contact of this identity; pairs are distinct
    """

    adopters: Integers
    owner: Integers
    role: NDArray[np.int8]
    identity: Integers
    tie: Integers


class AdoptedProtection(CheckedParameters):
    """Protection that some people adopt, who appear under several identities; its subclasses sort their contacts."""

    adopters: float
    minimum_degree: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_adopters(**self.adoption)

    @property
    def adoption(self) -> dict[str, Any]:
        """Return the parameters of `choose_adopters` that the protection has."""
        names = ("adopters", "cooperation", "group", "refuse_top", "minimum_degree")
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def choose(self, graph: SocialGraph, *, rng: np.random.Generator, eligible: ArrayLike | None = None) -> Integers:
        """Return (n_adopters,) the nodes that adopt the protection, ascending, see `adopters.choose_adopters`."""
        return choose_adopters(graph, rng=rng, eligible=eligible, **self.adoption)

    def sort(self, graph: SocialGraph, adopters: Integers, *, rng: np.random.Generator) -> AssignedContacts:
        """Return the identities of these nodes, and the contacts of each identity."""
        raise NotImplementedError

    def __call__(
        self, graph: SocialGraph, *, rng: np.random.Generator | None = None, eligible: ArrayLike | None = None
    ) -> Separated:
        """Return the release, and the node behind each of its nodes."""
        rng = secret_unless(rng)
        sorting = self.sort(graph, self.choose(graph, rng=rng, eligible=eligible), rng=rng)
        return build_release(graph, [sorting], rng=rng)


def apply_protection(
    protection: Any, graph: SocialGraph, *, rng: np.random.Generator, eligible: ArrayLike | None = None
) -> Separated:
    """Return the release of any protection. Protections with adopters choose them from the eligible people.

    A plug-in returns the release, and the original node of each released node.

    Parameters
    ----------
    protection : Any
        Protection of graphs.
    graph : SocialGraph
        Graph.
    rng : numpy.random.Generator
        Source of the random draws.
    eligible : array-like or None
        Nodes that may adopt the protection; None: all.

    Returns
    -------
    Separated
        The release, and the node behind each of its nodes.
    """
    result = protection(graph, rng=rng, **({"eligible": eligible} if has_adopters(protection) else {}))
    if isinstance(result, Separated):
        return result
    release, origin = result
    behind = np.asarray(origin, dtype=np.int64)
    return Separated(release, behind, np.full(len(behind), Role.WHOLE, np.int8), np.zeros(0, np.int64))


def has_adopters(protection: Any) -> bool:
    """Return True if people adopt the protection: it has a parameter `eligible`.

    Parameters
    ----------
    protection : Any
        Protection of graphs.

    Returns
    -------
    bool
        True if the protection has a parameter `eligible`.
    """
    return "eligible" in inspect.signature(protection).parameters


def build_release(graph: SocialGraph, parts: Sequence[AssignedContacts], *, rng: np.random.Generator) -> Separated:
    """Return the release in which the adopters of all parts (disjoint) appear under their identities.

    Identity i of u and identity j of v are adjacent if u and v are adjacent, i keeps v and j keeps u. A person without
    identity separation keeps all contacts. An edge disappears if either end drops it. If both ends have copies, the
    number of released edges is the product of the numbers of copies.
    """
    adopters = np.concatenate([part.adopters for part in parts]) if parts else np.zeros(0, np.int64)
    is_whole = np.ones(graph.n_nodes, dtype=np.bool_)
    is_whole[adopters] = False
    whole_nodes = np.flatnonzero(is_whole)
    number = np.full(graph.n_nodes, -1, dtype=np.int64)
    number[whole_nodes] = np.arange(len(whole_nodes))
    starts = np.cumsum([len(whole_nodes), *(len(part.owner) for part in parts)])
    places = np.repeat(np.arange(graph.n_nodes), graph.degree)  # the node of each entry of graph.neighbor
    unsorted = np.flatnonzero(is_whole[places])
    tie = np.concatenate([unsorted, *(part.tie for part in parts)])
    shifted = (part.identity + start for part, start in zip(parts, starts, strict=False))
    identity = np.concatenate([number[places[unsorted]], *shifted])
    origin = np.concatenate([whole_nodes, *(part.owner for part in parts)])
    role = np.concatenate([np.full(len(whole_nodes), Role.WHOLE, np.int8), *(part.role for part in parts)])
    shuffled = rng.permutation(len(origin))
    u, v = _edges_between(graph, tie, identity)
    new = np.empty(len(origin), dtype=np.int64)
    new[shuffled] = np.arange(len(origin))
    release = SocialGraph.from_edges(new[u], new[v], n_nodes=len(origin))
    return Separated(release, origin[shuffled], role[shuffled], np.sort(adopters))


def _edges_between(graph: SocialGraph, tie: Integers, identity: Integers) -> tuple[Integers, Integers]:
    """Return the ends of all edges between identities: all pairs of identities that keep the two ends of an edge."""
    keeper = identity[np.argsort(tie, kind="stable")]
    count = np.bincount(tie, minlength=len(graph.neighbor))
    first = np.cumsum(count) - count
    back = np.argsort(graph.neighbor, kind="stable")  # rows and neighbors ascend: entry of the reverse direction
    once = np.flatnonzero(back > np.arange(len(back)))
    back = back[once]
    ways = count[once] * count[back]
    edge, way = spans(ways)
    entry, reverse_entry = once[edge], back[edge]
    return keeper[first[entry] + way // count[reverse_entry]], keeper[first[reverse_entry] + way % count[reverse_entry]]


def spans(count: Integers) -> tuple[Integers, Integers]:
    """Return the block of each element and its position in the block, for consecutive blocks of these lengths.

    >>> spans(np.array([2, 0, 1]))
    (array([0, 0, 2]), array([0, 1, 0]))
    """
    block = np.repeat(np.arange(len(count)), count)
    return block, np.arange(len(block)) - np.repeat(np.cumsum(count) - count, count)
