"""Identity separation: a person appears in the release as several nodes, each with some of the contacts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections.adopters import Cooperation
from unmask.graphs.protections.contact_sorting import (
    Sorting,
    Total,
    assign_contacts,
    check_sorting,
    draw_capacities,
    draw_identities,
)
from unmask.graphs.protections.identities import (
    AdoptedProtection,
    AssignedContacts,
    Role,
    Separated,
    build_release,
    spans,
)
from unmask.ranges import Range, check_type

Model = Literal["basic", "realistic", "realistic_minimal", "best", "worst"]
"""Model of what happens to contacts, see `IdentitySeparation`."""


@dataclass(frozen=True)
class PowerLaw:
    """Distribution of the number of identities: P(Y = y) proportional to y ** -exponent, from `smallest` to `largest`.

    G. Gulyas, 2015, section 3.5.1: exponent 2.31 for the circles of 933 Twitter users, from 2 to 18.

    Parameters
    ----------
    exponent : float
        Exponent of the power law.
    largest : int
        Largest number.
    smallest : int
        Smallest number.

    Examples
    --------
    >>> PowerLaw(2.0, largest=3).probabilities
    array([0.        , 0.69230769, 0.30769231])
    >>> PowerLaw.parse("2-18:2.31") == PowerLaw(), str(PowerLaw())
    (True, '2-18:2.31')
    """

    exponent: float = 2.31
    largest: int = 18
    smallest: int = 2

    def __post_init__(self) -> None:
        if not 1 <= self.smallest <= self.largest or not np.isfinite(self.exponent):
            raise UnmaskError(
                f"the power law {self} has an empty range, expected 1 <= smallest <= largest and a finite exponent"
            )

    @classmethod
    def parse(cls, text: str) -> PowerLaw:
        """Return the law of a text SMALLEST-LARGEST:EXPONENT."""
        match = re.fullmatch(r"(\d{1,4})-(\d{1,4}):(-?\d{1,9}(?:\.\d{1,9})?)", text)
        if match is None:
            raise UnmaskError(
                f"identities is {text!r}, expected a whole number, or a power law SMALLEST-LARGEST:EXPONENT such as "
                "2-18:2.31"
            )
        return cls(float(match[3]), largest=int(match[2]), smallest=int(match[1]))

    def __str__(self) -> str:
        return f"{self.smallest}-{self.largest}:{self.exponent:g}"

    @property
    def probabilities(self) -> Floats:
        """Return (largest,) P(Y = 1), P(Y = 2), ..."""
        y = np.arange(1, self.largest + 1)
        weight = np.where(y >= self.smallest, (y / self.smallest) ** -self.exponent, 0.0)
        chances: Floats = weight / weight.sum()
        return chances


@dataclass(frozen=True)
class IdentitySeparation(AdoptedProtection):
    """Adopters appear under y unlinkable identities and sort their contacts among them.

    `protection(graph, rng=..., eligible=None)` returns a `Separated`, the pair (release, origin). An identity without a
    contact stays in the release as a node without edges. With the same `rng`, all models have the same adopters.

    Parameters
    ----------
    model : Model
        Contacts may be dropped (best), doubled (worst), both (realistic) or neither (basic).

        * "basic": each contact belongs to one identity. The numbers are multinomial, equation (3.7).
        * "realistic": each identity has a random set of contacts, with sizes from the normal law of equation (3.8).
          Some contacts are in several identities, and some in none.
        * "realistic_minimal": sizes as before. Each contact is assigned once first; remaining capacity is filled with
          copies. Contacts are dropped only without capacity.
        * "best": sizes are drawn until their sum is at most the number of contacts. No contact is in two identities,
          and contacts without capacity are dropped.
        * "worst": sizes are drawn until their sum is at least the number of contacts. No contact is dropped; remaining
          capacity is filled with copies. (The paper names this model without a definition.)
    identities : int or str or tuple[float, ...] or PowerLaw
        Identities of each adopter: y for all; or probabilities (P(Y = 1), P(Y = 2), ...); or a `PowerLaw`, also as a
        text "2-18:2.31". No person has more identities than contacts. With 0, adopters are not in the release.
    sorting : Sorting
        Mean share of each identity, see `contact_sorting.mean_shares`.
    deviation : float
        Standard deviation of each share, in all models but basic, see `contact_sorting.draw_capacities`.
    adopters : float
        People who adopt several identities: a share such as 0.1, or without a point a number.
    cooperation : Cooperation
        Selection of adopters: independent (none), as neighbors (local), by most contacts (degree) or by lowest local
        anonymity (lta). This and the next parameters: see `adopters.choose_adopters`.
    group : int
        Size of a group of neighbors.
    refuse_top : float
        Share of the people with most contacts who refuse to adopt.
    minimum_degree : int
        Smallest number of contacts of an independent adopter.

    Notes
    -----
    Assumes: identities of a person can be linked by their edges only.

    Fails when: few people adopt, because the edges of all others still identify them; or the identity that holds the
    secret is found.

    References
    ----------
    G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, section 3.5.

    Examples
    --------
    >>> path = SocialGraph.from_edges([0, 1, 2], [1, 2, 3])
    >>> protection = IdentitySeparation("basic", identities=2, adopters=1, cooperation="degree")
    >>> release, origin = protection(path, rng=np.random.default_rng(1))
    >>> release, np.bincount(origin)
    (SocialGraph(5 nodes, 3 edges), array([1, 2, 1, 1]))
    """

    model: Model = "basic"
    identities: int | str | tuple[float, ...] | PowerLaw = 2
    sorting: Sorting = "uniform"
    deviation: Annotated[float, Range(0, 1)] = 0.05
    adopters: float = 0.1
    cooperation: Cooperation = "none"
    group: Annotated[int, Range(1)] = 10
    refuse_top: Annotated[float, Range(0, 1)] = 0.0
    minimum_degree: Annotated[int, Range(0)] = 3

    def __post_init__(self) -> None:
        for name in ("identities", "sorting"):  # a document has lists and texts
            value = getattr(self, name)
            object.__setattr__(self, name, tuple(value) if isinstance(value, list) else value)
        if isinstance(self.identities, str):
            object.__setattr__(self, "identities", PowerLaw.parse(self.identities))
        check_sorting(self.sorting)
        super().__post_init__()
        chances = self.identity_probabilities
        max_identities = max(np.flatnonzero(chances).tolist(), default=0)
        if isinstance(self.sorting, tuple) and len(self.sorting) < max_identities:
            raise UnmaskError(
                f"sorting has {len(self.sorting)} shares for up to {max_identities} identities; give one for each"
            )

    @property
    def identity_probabilities(self) -> Floats:
        """Return (largest + 1,) P(Y = 0), P(Y = 1), ..."""
        if isinstance(self.identities, PowerLaw):
            return np.concatenate(([0.0], self.identities.probabilities))
        if np.ndim(self.identities) == 0:
            y: object = self.identities
            if isinstance(y, bool) or not isinstance(y, int | np.integer) or y < 0:
                raise UnmaskError(f"identities is {y!r}, expected a whole number of at least 0, or probabilities")
            return np.concatenate((np.zeros(int(y)), [1.0]))
        p = np.array(self.identities, dtype=np.float64)
        if not len(p) or not bool(np.all(p >= 0)) or not abs(p.sum() - 1) < 1e-9:
            raise UnmaskError(f"the probabilities of identities sum to {p.sum():.6g}, expected 1 and none below 0")
        chances: Floats = np.concatenate(([0.0], p / p.sum()))
        return chances

    def sort(self, graph: SocialGraph, adopters: Integers, *, rng: np.random.Generator) -> AssignedContacts:
        """Return the identities of these nodes, and the contacts of each identity."""
        degree = graph.degree[adopters]
        chances = self.identity_probabilities
        y = rng.choice(len(chances), size=len(adopters), p=chances)
        y = np.minimum(y, np.maximum(degree, 1))  # a person without contacts is one node without edges
        if self.model == "basic":
            person, contact = spans(np.where(y > 0, degree, 0))
            identity_taken = draw_identities(np.where(y > 0, degree, 0), y, self.sorting, rng=rng)
            identity = (np.cumsum(y) - y)[person] + identity_taken
        else:
            totals: dict[str, Total] = {"best": "at most", "worst": "at least"}
            total = totals.get(self.model, "any")
            sizes = draw_capacities(degree, y, self.sorting, deviation=self.deviation, total=total, rng=rng)
            identity, contact = assign_contacts(degree, y, sizes, spread=self.model != "realistic", rng=rng)
        owner = np.repeat(adopters, y)
        role = np.full(len(owner), Role.IDENTITY, dtype=np.int8)
        return AssignedContacts(adopters, owner, role, identity, graph.indptr[owner[identity]] + contact)


@dataclass(frozen=True)
class Together:
    """Several protections in one network, each with its own adopters.

    Parameters
    ----------
    parts : tuple[tuple[float, AdoptedProtection], ...]
        ((share, protection), ...): the share refers to the adopters that the protection would choose alone. They
        are drawn at random from the adopters that no earlier part has, or all of these if they are too few. Parts
        with equal choices divide the same people: shares .34, .33 and .33 divide one set V_ids.

    Notes
    -----
    Assumes: the assumptions of its parts.

    Fails when: its parts choose the same people, because a later part gets only the remaining people.

    References
    ----------
    G. Gulyas, 2015, section 5.3.2.

    Examples
    --------
    >>> half = IdentitySeparation("basic", adopters=1.0, minimum_degree=1)
    >>> both = Together(((0.5, half), (0.5, IdentitySeparation("best", adopters=1.0, minimum_degree=1))))
    >>> ring = SocialGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> both(ring, rng=np.random.default_rng(1)).adopters
    array([0, 1, 2, 3])
    """

    parts: tuple[tuple[float, AdoptedProtection], ...]

    def __post_init__(self) -> None:
        parts: Iterable[Any] = self.parts
        if not self.parts:
            raise UnmaskError("there are 0 parts, expected pairs of a share and a protection")
        for number, part in enumerate(parts, 1):
            if not (isinstance(part, tuple) and len(part) == 2 and hasattr(part[1], "choose")):
                raise UnmaskError(f"part {number} is not a pair of a share and a protection with adopters")
            check_type(f"the share of part {number}", part[0], Annotated[float, Range(0, 1)])

    def __call__(
        self, graph: SocialGraph, *, rng: np.random.Generator | None = None, eligible: ArrayLike | None = None
    ) -> Separated:
        """Return the release, and the node behind each of its nodes."""
        rng = secret_unless(rng)
        seed = int(rng.integers(2**63))
        adopted = np.zeros(0, dtype=np.int64)
        sortings: list[AssignedContacts] = []
        for share, protection in self.parts:
            willing = protection.choose(graph, rng=np.random.default_rng(seed), eligible=eligible)
            remaining = rng.permutation(np.setdiff1d(willing, adopted))
            chosen = np.sort(remaining[: round(share * len(willing))])
            adopted = np.concatenate((adopted, chosen))
            sortings.append(protection.sort(graph, chosen, rng=rng))
        return build_release(graph, sortings, rng=rng)
