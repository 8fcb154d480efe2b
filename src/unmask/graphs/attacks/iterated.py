"""Iterated: an attack that finds several identities of a person by repeating another attack."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import ranges
from unmask.core.errors import UnmaskError
from unmask.core.posterior import equal_weights
from unmask.graphs.attacks.base import Attack, Count, Matching, seed_images
from unmask.graphs.attacks.propagation import Nar09
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Auxiliary
from unmask.ranges import CheckedParameters


@dataclass(frozen=True, eq=False, kw_only=True)
class Identities(Matching):
    """The belief after several rounds; `mapping` is the first identity found for each person.

    A person who was found in k rounds has the mean of the beliefs of these rounds. If they were certain, each identity
    has probability 1 / k. A person who was never found has the belief of the last round.

    Parameters
    ----------
    indptr, candidate, log_probability, unlisted, n_unlisted, observation, weight, n_candidates, \
log_prior, status, provenance, candidate_label, representative, mapping, sweeps, visits : see `Matching`
        Fields of every matching.
    rounds : (n_rounds, n_observations) int32 array
        Target node found in each round, -1 for none; seeds are in the first round.
    """

    rounds: NDArray[np.int32]

    @property
    def named(self) -> NDArray[np.integer]:
        """Return the rounds; each may name another identity of a person."""
        return self.rounds


@dataclass(frozen=True)
class Iterated(CheckedParameters):
    """Repeat an attack to find further identities of people who have several identities in the target.

    After each round, the matched target nodes are no candidates any more. They remain seeds that support matches of
    their neighbors. Each matched person, also a seed, is added to the auxiliary graph once more, as a copy with the
    same contacts, so that another target node can be matched with them. The attack ends if a round finds no match.

    If the matched nodes were removed from the target instead, an attack could not spread from them. On a network in
    which 10 % of the people have two identities, that variant finds both identities of almost no person, and this one
    of every sixth. Later rounds match many people who have no further identity, and these matches are wrong: evaluate
    each round separately, or selected people. The attack needs one that keeps its matches: `Grasshopper` cannot
    distinguish a copy from the original.

    Parameters
    ----------
    attack : Attack
        Attack that is run in each round.
    rounds : int
        Largest number of rounds, at least 1.

    Notes
    -----
    Assumes: the first match is one identity of the person, and the other identities have contacts among the same
    people.

    Fails when: the first match is wrong, or the person has one identity. Further matches are then mostly wrong.

    References
    ----------
    G. G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, section 6.3
    (there for one person at a time).

    Examples
    --------
    >>> from unmask.graphs.graph import SocialGraph
    >>> person = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> split = SocialGraph.from_edges([0, 0, 4], [1, 2, 3])  # node 0 to two friends and node 4 to the third
    >>> known = Auxiliary(person, (np.array([1, 2, 3]), np.array([1, 2, 3])))
    >>> Iterated(Nar09(), rounds=2)(split, known).rounds
    array([[ 0,  1,  2,  3],
           [ 4, -1, -1, -1]], dtype=int32)
    """

    attack: Attack = field(default_factory=Nar09)
    rounds: Count = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.attack):
            raise UnmaskError(f"attack is {self.attack!r}, expected an attack on graphs, such as Nar09()")

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Identities:
        """Return the belief about each node of the adversary's graph."""
        image, _ = seed_images(release, knowledge)
        auxiliary = graph = knowledge.graph
        person = np.arange(auxiliary.n_nodes)
        images = np.full((self.rounds, auxiliary.n_nodes), -1, dtype=np.int32)
        parts: list[_Part] = []
        while len(parts) < self.rounds:
            mapped = np.flatnonzero(image >= 0)
            belief = self.attack(release, Auxiliary(graph, (mapped, image[mapped])), rng=rng)
            new = np.flatnonzero(belief.mapping >= 0)
            if parts:
                new = new[(image[new] < 0) & ~np.isin(belief.mapping[new], image[mapped])]
            else:
                image[:] = -1  # an attack may drop or move a seed
            images[len(parts), person[new]] = belief.mapping[new]
            parts.append(_Part(belief, new, person[new]))
            image[new] = belief.mapping[new]
            if not len(new):
                break
            image = np.concatenate((image, np.full(len(new), -1, dtype=np.int32)))
            person = np.concatenate((person, person[new]))
            graph = _with_copies(auxiliary, person)
        return _combine_rounds(parts, images, attack=repr(self))


class _Part(NamedTuple):
    """The belief of a round, and the nodes (originals and copies) that it matched for the first time."""

    belief: Matching
    node: Integers
    person: Integers


def _with_copies(graph: SocialGraph, person: Integers) -> SocialGraph:
    """Return the graph with a copy of each repeated entry of `person`, adjacent to that person's neighbors."""
    copied = person[graph.n_nodes :]
    length = graph.degree[copied]
    copy = np.repeat(np.arange(graph.n_nodes, len(person)), length)
    u, v = graph.edges()
    ends = np.concatenate((v, graph.neighbor[ranges(graph.indptr[copied], length)]))
    return SocialGraph.from_edges(np.concatenate((u, copy)), ends, n_nodes=len(person))


def _combine_rounds(parts: list[_Part], images: NDArray[np.int32], *, attack: str) -> Identities:
    """Return the belief about each person: mean over the rounds that found the person, else of the last round."""
    n_source, n_target = images.shape[1], parts[0].belief.n_candidates
    never = np.flatnonzero(np.all(images < 0, axis=0))
    parts = [*parts, _Part(parts[-1].belief, never, never)]
    times = np.bincount(np.concatenate([part.person for part in parts]), minlength=n_source)
    row, candidate, mass = (np.concatenate(column) for column in zip(*map(_entries, parts), strict=True))
    mean = scipy.sparse.coo_array((mass / times[row], (row, candidate)), shape=(n_source, n_target)).tocsr()
    mean.sum_duplicates()
    unlisted, sharing = np.zeros(n_source), np.full(n_source, n_target)
    for belief, node, person in parts:
        unlisted[person] += belief.unlisted[node] / times[person]
        sharing[person] = np.minimum(sharing[person], belief.n_unlisted[node])
    n_listed = np.diff(mean.indptr).astype(np.int64)
    rounds = np.arange(len(images))[:, None]
    first = np.min(np.where(images >= 0, rounds, len(images) - 1), axis=0)
    tiny = np.finfo(np.float32).tiny
    return Identities(
        indptr=np.concatenate(([0], np.cumsum(n_listed))),
        candidate=mean.indices.astype(np.int32),
        log_probability=np.log(np.clip(mean.data, tiny, 1.0)).astype(np.float32),
        unlisted=unlisted,
        n_unlisted=np.where(sharing > 0, n_target - n_listed, sharing),
        observation=np.arange(n_source),
        weight=equal_weights(n_source),
        n_candidates=n_target,
        log_prior=parts[0].belief.log_prior,
        status=parts[0].belief.status,
        provenance={"attack": attack},
        mapping=images[first, np.arange(n_source)],
        sweeps=np.concatenate([part.belief.sweeps for part in parts[:-1]]),
        visits=sum(part.belief.visits for part in parts[:-1]),
        rounds=images,
    )


def _entries(part: _Part) -> tuple[Integers, NDArray[np.int32], Floats]:
    """Return the persons, candidates and probabilities of the rows of a part."""
    length = part.belief.row_length[part.node]
    position = ranges(part.belief.indptr[part.node], length)
    mass = np.exp(part.belief.log_probability[position].astype(np.float64))
    return np.repeat(part.person, length), part.belief.candidate[position], mass
