"""Decoy protection: a public identity that should be found, and a hidden identity with the sensitive contacts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Integers
from unmask.core.errors import UnmaskError
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections.identities import AdoptedProtection, AssignedContacts, Role, spans


@dataclass(frozen=True)
class Decoy(AdoptedProtection):
    """Adopters have a public identity with most of their contacts and a hidden identity with few contacts.

    Of d contacts in random order, the public identity keeps the first round(public d), and the hidden identity the next
    round(hidden d), or the remaining ones. The hidden identity also keeps round(overlap d) random contacts of the
    public identity. All other contacts are dropped; with the default values, no contact is dropped.

    `Separated.role` marks each released node as `Role.PUBLIC` or `Role.HIDDEN`. `disclosure` reports which of the two
    identities an attack finds.

    Parameters
    ----------
    public, hidden, overlap : float
        Shares of the contacts, with public + hidden at most 1, and overlap at most public.
    minimum_degree : int
        Smallest number of contacts of an adopter. The published value of 30 leaves few people: in the paper, 0.9 of
        them are 11.2 % of a network.
    adopters : float
        Share or number of the eligible people, see `choose_adopters`.

    Notes
    -----
    Assumes: attacks find the public identity first, and stop there.

    Fails when: people have few contacts, or the attack continues (`Iterated`).

    References
    ----------
    G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, section 6.2.

    Examples
    --------
    >>> star = SocialGraph.from_edges([0] * 30, range(1, 31))
    >>> release, origin = Decoy(adopters=1)(star, rng=np.random.default_rng(1))
    >>> np.sort(release.degree[origin == 0])
    array([ 6, 27])
    """

    public: float = 0.9
    hidden: float = 0.1
    overlap: float = 0.1
    minimum_degree: int = 30
    adopters: float = 0.1

    def __post_init__(self) -> None:
        shares = (self.public, self.hidden, self.overlap)
        if not (min(shares) >= 0 and self.public + self.hidden <= 1 + 1e-9 and self.overlap <= self.public):
            raise UnmaskError(f"{self!r}: expected shares with public + hidden at most 1 and overlap at most public")
        super().__post_init__()

    def sort(self, graph: SocialGraph, adopters: Integers, *, rng: np.random.Generator) -> AssignedContacts:
        """Return the two identities of these nodes, and the contacts of each identity."""
        degree = graph.degree[adopters]
        n_public = _round_counts(self.public * degree)
        n_hidden = np.minimum(_round_counts(self.hidden * degree), degree - n_public)
        n_shared = np.minimum(_round_counts(self.overlap * degree), n_public)
        person, rank = spans(degree)
        contact = rank[np.argsort(person + rng.random(len(person)), kind="stable")]  # random order for each person
        public = rank < n_public[person]
        hidden = (rank < n_shared[person]) | (~public & (rank < (n_public + n_hidden)[person]))
        identity = np.concatenate((2 * person[public], 2 * person[hidden] + 1))
        owner = np.repeat(adopters, 2)
        role = np.tile(np.array([Role.PUBLIC, Role.HIDDEN], dtype=np.int8), len(adopters))
        tie = graph.indptr[owner[identity]] + np.concatenate((contact[public], contact[hidden]))
        return AssignedContacts(adopters, owner, role, identity, tie)


def _round_counts(contacts: NDArray[np.floating]) -> Integers:
    return np.floor(np.round(contacts, 9) + 0.5).astype(np.int64)
