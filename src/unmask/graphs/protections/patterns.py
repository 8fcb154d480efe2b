"""Identity separation by observed patterns: contacts are assigned like the circles of real users."""

from __future__ import annotations

import tarfile
from dataclasses import dataclass, field
from functools import cache
from os import PathLike
from pathlib import PurePosixPath
from typing import Annotated, Literal

import numpy as np

from unmask.core.arrays import Booleans, Integers
from unmask.core.errors import FailedError, UnmaskError
from unmask.data import files
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections.identities import AdoptedProtection, AssignedContacts, Role, spans
from unmask.ranges import Range

Strategy = Literal["patterns", "circles"]

_SHA256 = "5c50a588db7e07e9e3bb4aaae677697d0aa5c8fa6a7231018683f1d62ad8fb89"
_MAX_DEGREE_RATIO = 2.0  # egos within this ratio have a similar degree


@dataclass(frozen=True, eq=False)
class Ego:
    """A person whose contacts are sorted into circles.

    Parameters
    ----------
    degree : int
        Number of contacts, including contacts without a circle.
    member : (n_sorted, n_circles) bool array
        Membership of the contacts with a circle; circles by descending size.
    """

    degree: int
    member: Booleans

    def __repr__(self) -> str:
        return f"Ego({self.degree} contacts, {len(self.member)} of them in {self.n_circles} circles)"

    @property
    def n_circles(self) -> int:
        """Return number of circles."""
        return int(self.member.shape[1])

    def rows(self, y: int) -> Booleans:
        """Return (n, y) the membership of contacts in the y largest circles, without contacts in none: P(X_1..X_y).

        >>> Ego(3, np.array([[True, False], [True, True], [False, True]])).rows(1)
        array([[ True], [ True]])
        """
        largest = self.member[:, :y]
        return largest[largest.any(axis=1)]


def read_egos(path: str | PathLike[str]) -> tuple[Ego, ...]:
    """Return the egos of a tar file in SNAP format: each line of EGO.circles is the name of a circle and its members.

    The lines of EGO.feat are the contacts. Circles without members and egos without circles are omitted.

    Parameters
    ----------
    path : str or path
        File to read.

    Returns
    -------
    tuple[Ego, ...]
        Egos with circles.
    """
    circles: dict[str, list[list[str]]] = {}
    degree: dict[str, int] = {}
    with tarfile.open(path) as tar:
        for entry in tar:
            name = PurePosixPath(entry.name)
            content = tar.extractfile(entry) if name.suffix in (".circles", ".feat") else None
            if content is not None:
                lines = content.read().decode().splitlines()
                if name.suffix == ".feat":
                    degree[name.stem] = len(lines)
                else:
                    circles[name.stem] = [line.split()[1:] for line in lines if len(line.split()) > 1]
    if not degree.keys() >= circles.keys():
        raise FailedError("an ego has a .circles file and no .feat file, expected both; fetch the data again")
    return tuple(_ego(degree[name], circles[name]) for name in sorted(circles) if circles[name])


def _ego(degree: int, circles: list[list[str]]) -> Ego:
    ordered = sorted((set(circle) for circle in circles), key=len, reverse=True)
    people = sorted(set().union(*ordered))
    return Ego(degree, np.array([[person in circle for circle in ordered] for person in people], dtype=np.bool_))


@cache
def facebook_egos() -> tuple[Ego, ...]:
    """Ten Facebook users with 59 to 1,045 friends and 7 to 46 circles each (McAuley, Leskovec, NIPS 2012; SNAP)."""
    return read_egos(files.locate("graphs/ego-Facebook.tar.gz", sha256=_SHA256))


@dataclass(frozen=True)
class EgoPatterns(AdoptedProtection):
    """Identity separation with contacts assigned like the circles of real people: one identity for each circle.

    Each adopter gets an ego and y identities, one for each of the y largest circles of this ego. Each contact of
    the adopter is compared with a random contact of the ego and goes to the identities of this contact's circles.
    Contacts may be duplicated and are never dropped. Contacts of the ego without a circle are ignored.

    No adopter gets more identities than contacts.

    Parameters
    ----------
    strategy : Strategy
        * "patterns": a random ego with a degree within a factor of 2, else the ego with the nearest degree by ratio;
          y is the number of its circles, at most `largest`.
        * "circles": y is the number of circles of a random ego, at most `largest`. The pattern comes from a random
          ego with at least y circles.
    largest : int
        Maximum number of identities. The paper limits them "for rational considerations" without a number.
    adopters : float
        Share of people who adopt several identities, see `choose_adopters`.
    minimum_degree : int
        Minimum degree of adopters, see `choose_adopters`.
    egos : tuple[Ego, ...] or None
        Egos to learn from. None: `facebook_egos`. The paper uses 933 Twitter users instead. Half of these have no
        contact in two circles; for 6 % the circle sizes sum to at least twice the number of contacts.

    Notes
    -----
    Assumes: adopters sort their contacts like the egos, who made their circles for another purpose.

    Fails when: the egos come from a network of another kind. Without `egos` it needs a public data set.

    References
    ----------
    G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, section 5.3.3.

    Examples
    --------
    >>> ego = Ego(3, np.array([[True, False], [True, False], [False, True]]))
    >>> star = SocialGraph.from_edges([0] * 6, range(1, 7))
    >>> release, origin = EgoPatterns(adopters=1, egos=(ego,))(star, rng=np.random.default_rng(1))
    >>> np.sort(release.degree[origin == 0])
    array([1, 5])
    """

    strategy: Strategy = "patterns"
    largest: Annotated[int, Range(1)] = 5
    adopters: float = 0.1
    minimum_degree: int = 3
    egos: tuple[Ego, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.egos is not None and not (self.egos and all(isinstance(ego, Ego) for ego in self.egos)):
            raise UnmaskError("there is no ego, or one was not read by read_egos; omit them to use the Facebook egos")

    def sort(self, graph: SocialGraph, adopters: Integers, *, rng: np.random.Generator) -> AssignedContacts:
        """Return the identities of these nodes and the contacts of each."""
        egos = facebook_egos() if self.egos is None else self.egos
        degree = graph.degree[adopters]
        choice = self._by_degree if self.strategy == "patterns" else self._by_count
        ego, y = choice(egos, degree, rng)
        y = np.minimum(y, np.maximum(degree, 1))
        first = np.cumsum(y) - y
        identity, tie = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for ego_number, count in np.unique(np.column_stack((ego, y)), axis=0).tolist():
            people = np.flatnonzero((ego == ego_number) & (y == count))
            person, contact = spans(degree[people])
            rows = egos[ego_number].rows(count)
            row, circle = np.nonzero(rows[rng.integers(len(rows), size=len(person))])
            identity.append(first[people[person[row]]] + circle)
            tie.append(graph.indptr[adopters[people[person[row]]]] + contact[row])
        owner = np.repeat(adopters, y)
        role = np.full(len(owner), Role.IDENTITY, dtype=np.int8)
        return AssignedContacts(adopters, owner, role, np.concatenate(identity), np.concatenate(tie))

    def _by_degree(
        self, egos: tuple[Ego, ...], degree: Integers, rng: np.random.Generator
    ) -> tuple[Integers, Integers]:
        """Return the ego and the number of identities of each adopter: an ego of like degree."""
        ego_degree = np.array([ego.degree for ego in egos], dtype=np.float64)
        gap = np.abs(np.log(np.maximum(degree, 1)[:, None]) - np.log(np.maximum(ego_degree, 1)))
        like = gap <= np.maximum(np.log(_MAX_DEGREE_RATIO), gap.min(axis=1))[:, None]
        ego = np.argmax(like * rng.random(like.shape), axis=1)
        return ego, np.array([min(member_ego.n_circles, self.largest) for member_ego in egos])[ego]

    def _by_count(self, egos: tuple[Ego, ...], degree: Integers, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw the number of identities of each adopter, then an ego that has as many; return egos and numbers."""
        circles = np.array([min(ego.n_circles, self.largest) for ego in egos])
        y = circles[rng.integers(len(egos), size=len(degree))]
        enough = circles >= y[:, None]
        return np.argmax(enough * (1.0 - rng.random(enough.shape)), axis=1), y
