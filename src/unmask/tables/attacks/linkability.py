"""Linkability attack: whether two parts of a record belong to one person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.tables.attacks.noisy import NearestNeighbor
from unmask.tables.background import Attack, Background, Rng
from unmask.tables.table import Table


@dataclass(frozen=True, eq=False)
class Parts(Background):
    """Knowledge of an adversary who holds two parts of the columns of people from two sources.

    Parameters
    ----------
    people : Table | None, optional
        First part of the columns, one row per person.
    population : Table | None, optional
        See `Background`.
    person : (n_people,) array, optional
        See `Background`.
    other : Table | None, optional
        Second part of the columns of the same people, in an independent random order.
    """

    other: Table | None = None


def check_parts(parts: Sequence[Sequence[str]]) -> None:
    """Raise UnmaskError unless there are two disjoint lists of columns."""
    if len(parts) != 2 or not all(parts):
        raise UnmaskError("a part is missing or has no column, expected two lists of columns, such as age,sex:zip,job")
    if twice := next((name for name in parts[0] if name in parts[1]), None):
        raise UnmaskError(f"column {twice!r} is in both parts, expected parts without a common column; leave it out")


@dataclass(frozen=True)
class Linkability:
    """Attack that links two parts of records through a release that resembles both.

        p(b given a) is proportional to the sum over released rows r of p(r given a) p(r given b)

    Both probabilities come from `link`. If no row resembles a and some part b, all parts b have the same probability.
    The knowledge is `Parts`; the status is `scores`. With a control group, `measures.excess` shows how much the release
    adds to what is true of people in general.

    Assumes: values that occur together in the release occur together in people.

    Fails when: the columns of the two sources are hardly related. Links may also follow from general knowledge: read
        the excess over the control group.

    Parameters
    ----------
    link : Attack, optional
        Attack that links a part to released records.
    parts : tuple[tuple[str, ...], ...], optional
        Columns of each source, for a study, which takes them from people's records (`parts_linked`).

    References
    ----------
    Article 29 Working Party, Opinion 05/2014 on anonymisation techniques (WP216), section 2: linkability; M. Giomi et
    al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023, section 4.2, for neighbors
    that both parts have.

    Examples
    --------
    >>> rows = {"age": [30, 30, 50], "zip": ["10001", "10002", "20001"]}
    >>> release = Table.read(rows, quasi_identifiers=["age", "zip"])
    >>> ages = Table.read({"age": [30, 50]}, quasi_identifiers="age")
    >>> zips = Table.read({"zip": ["20001", "10001"]}, quasi_identifiers="zip")
    >>> belief = Linkability()(release, Parts(ages, other=zips))
    >>> belief.candidates(0)[0].candidate, belief.candidates(1)[0].candidate
    (1, 0)
    """

    link: Attack = field(default_factory=NearestNeighbor)
    parts: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(map(tuple, self.parts)))
        if self.parts:
            check_parts(self.parts)

    def __call__(self, release: Table, knowledge: Parts | None = None, *, rng: Rng = None) -> Posterior:
        """Return the belief about the other part of each known person; the candidates are the rows of `other`."""
        if not isinstance(knowledge, Parts) or knowledge.people is None or knowledge.other is None:
            raise UnmaskError(f"{self!r} needs both parts of the people; give Parts(people, other=...)")
        people, candidates = knowledge.people, knowledge.other
        first, second = (self.link(release, Background(part), rng=rng) for part in (people, candidates))
        shared = scipy.sparse.csr_array(first.to_sparse() @ second.to_sparse().T)[:, second.observation]
        shared.sort_indices()
        mass = np.asarray(shared.sum(axis=1))
        nothing, n = mass == 0, candidates.n_rows
        return Posterior.from_entries(
            shared.indptr,
            shared.indices,
            np.log(shared.data / np.repeat(mass, np.diff(shared.indptr))),
            unlisted=nothing.astype(np.float64),
            n_unlisted=np.where(nothing, n, 0),
            observation=first.observation,
            n_candidates=n,
            status="scores",
            provenance={"attack": repr(self)},
        )
