"""Linkage of people to pseudonyms by several observations of each person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy

from unmask.core.arrays import Integers
from unmask.core.errors import UnmaskError
from unmask.core.inference import count_candidates, from_likelihood
from unmask.core.posterior import Posterior
from unmask.ranges import CheckedParameters, Range
from unmask.tables.attacks.classes import ClassAttack
from unmask.tables.background import Background, Rng
from unmask.tables.table import Table


@dataclass(frozen=True, eq=False)
class Traces(Background):
    """Knowledge of an adversary with several observations of each person.

    Parameters
    ----------
    people : Table | None, optional
        One row for each observation.
    population : Table | None, optional
        See `Background`.
    person : (n_people,) array, optional
        See `Background`.
    observations : Integers | None, optional
        (n_people, m) rows of `people` with the m observations of each person.
    pseudonym : Integers | None, optional
        (n_released,) pseudonym of each released row, numbered from 0. Rows of one person share a pseudonym.
    """

    observations: Integers | None = None
    pseudonym: Integers | None = None


@dataclass(frozen=True)
class SeveralRows(CheckedParameters):
    """Linkage attack of an adversary who has several observations of each person.

    The belief about rows is that of `ClassAttack`. `link_pseudonyms` has the formula. The knowledge is `Traces`.

    Assumes: the observations are in the release, and all pseudonyms are equally likely a priori.

    Fails when: rows of a person are not released, or observations have errors. The pseudonym is then excluded.

    Parameters
    ----------
    times : int, optional
        Number of observations of each person.

    References
    ----------
    Y.-A. de Montjoye, C. A. Hidalgo, M. Verleysen & V. D. Blondel, "Unique in the crowd", 2013.

    Examples
    --------
    >>> release = Table.read({"place": ["a", "a", "b", "b", "b"], "who": [1, 2, 1, 2, 2]}, quasi_identifiers="place")
    >>> places = Table.read({"place": ["a", "b"]}, quasi_identifiers="place")
    >>> known = Traces(places, observations=np.array([[0, 1]]), pseudonym=np.array([0, 1, 0, 1, 1]))
    >>> [round(pseudonym.probability, 3) for pseudonym in SeveralRows()(release, known).candidates(0)]
    [0.529, 0.471]
    """

    times: Annotated[int, Range(1)] = 4

    def __call__(self, release: Table, knowledge: Traces | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """Return the belief about the pseudonym of each known person."""
        if not isinstance(knowledge, Traces) or knowledge.observations is None or knowledge.pseudonym is None:
            raise UnmaskError(f"{self!r} needs observations; give Traces(people, observations=..., pseudonym=...)")
        link = ClassAttack().of_classes(release, None if knowledge.people is None else Background(knowledge.people))
        return link_pseudonyms(link, knowledge.observations, knowledge.pseudonym, int(knowledge.pseudonym.max()) + 1)


MAX_PAIRS = 4_000_000
"""Pairs of a person and a pseudonym in one block."""


def link_pseudonyms(link: Posterior, rows_seen: Integers, pseudonym: Integers, n_pseudonyms: int) -> Posterior:
    """Return the belief about the pseudonym of each person, by the product over their observations.

    Let S_j(v) be the belief that the row of observation j is one of the n_v rows of pseudonym v. With a uniform prior,
    p(v given the observations) is proportional to the product over j of S_j(v) / n_v. The result is as exact as the
    belief about rows.

    Parameters
    ----------
    link : Posterior
        Belief about the row of each observation, with a uniform prior.
    rows_seen : Integers
        (n_people, m) targets of `link` that belong to each person.
    pseudonym : Integers
        (n_rows,) pseudonym of each released row, below n_pseudonyms.
    n_pseudonyms : int
        Number of pseudonyms.

    Returns
    -------
    Posterior
        Candidates are the pseudonyms.

    References
    ----------
    Y.-A. de Montjoye, C. A. Hidalgo, M. Verleysen & V. D. Blondel, "Unique in the crowd", 2013: four observations are
    unique for 95 % of people. This function also weighs the other traces that remain possible.

    Examples
    --------
    >>> from unmask.core.inference import from_classes
    >>> places, pseudonym = np.array([0, 0, 1, 1, 1, 2]), np.array([0, 1, 0, 1, 1, 1])
    >>> belief = link_pseudonyms(from_classes(places, places), np.array([[0, 2], [2, 5]]), pseudonym, 2)
    >>> np.exp(belief.log_probability).round(3).tolist(), belief.candidate.tolist()
    ([0.667, 0.333, 1.0], [0, 1, 1])
    """
    rows = scipy.sparse.csr_array(link.to_sparse() @ count_candidates(link, pseudonym, n_pseudonyms))
    size = np.bincount(pseudonym, minlength=n_pseudonyms)
    belief = scipy.sparse.vstack(list(_products(rows, link.observation[rows_seen])), format="csr")
    belief.sort_indices()
    return from_likelihood(
        belief.indptr.astype(np.int64),
        belief.indices.astype(np.int32),
        np.log(belief.data) - rows_seen.shape[1] * np.log(size[belief.indices]),
        n_candidates=n_pseudonyms,
        observation=np.arange(len(rows_seen)),
        status=link.status,
        provenance={"rows": link.provenance, "seen": rows_seen.shape[1]},
    )


def _products(rows: scipy.sparse.csr_array, observation: Integers) -> Iterator[scipy.sparse.csr_array]:
    """Yield the products of the beliefs of each person's observations, in blocks of people."""
    people = max(MAX_PAIRS // rows.shape[1], 1)
    for start in range(0, len(observation), people):
        first, *further_rows = observation[start : start + people].T
        product = rows[first]
        for observation_of_row in further_rows:
            product = product * rows[observation_of_row]
        yield product
