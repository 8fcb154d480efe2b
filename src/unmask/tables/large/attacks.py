"""Adversaries of a table that is known by its combinations: every combination stands for all its people.

The beliefs are those of `unmask.tables.attacks` with people who see the same put together: a target is a class with the
weight of its people, and records that are alike are not listed but counted (`n_unlisted`). So a belief about 1e9 people
takes the memory of its classes. Measures that compare with the prior take what is unlisted as a whole;
`unmask.studies.large` has them for beliefs like these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.posterior import Posterior, stored
from unmask.tables.attacks import ClassAttack, RegisterAttack
from unmask.tables.attacks.classes import fitting
from unmask.tables.attacks.pairing import shared_columns
from unmask.tables.counts import group
from unmask.tables.criteria.risk import fitting_people
from unmask.tables.large.reduce import Combinations


def identity(counts: NDArray[np.int64], *, people: NDArray[np.int64] | None = None, total: int = 0) -> Posterior:
    """Which record is theirs, for adversaries who see every person's class: 1 / n_c over the n_c records of class c.

    The prosecutor, `ClassAttack()` without auxiliary data; one target for each class, one observation for each size.
    counts : (J,) records of a class. people : (J,) those in it, or in all classes alike. total : people of the table
    where the classes are a part of it.

    >>> belief = identity(np.array([3, 1, 3]))
    >>> belief.n_unlisted, belief.observation, belief.n_candidates
    (array([1, 3]), array([1, 0, 1]), 7)
    """
    people = counts if people is None else people
    sizes, of_class = np.unique(counts, return_inverse=True)
    return _alike(sizes, people / people.sum(), of_class, total or int(people.sum()), repr(ClassAttack()))


def attribute(table: Combinations, sensitive: str, overall: NDArray[np.int64] | None = None) -> Posterior:
    """What their sensitive value is: the histogram of their class; the prior is that of the whole table.

    `AttributeInference(sensitive)` without auxiliary data; one target for each class. overall : (L,) rows of each value
    in the whole table where the combinations are a part of it.
    """
    names = [column.name for column in table.sensitive]
    if sensitive not in names:
        raise UnmaskError(f"column {sensitive!r} is not sensitive; the sensitive columns are {', '.join(names)}")
    at = names.index(sensitive)
    histogram, n = table.histograms[at].sorted_indices(), len(table.counts)
    share = histogram.data / np.repeat(table.counts, np.diff(histogram.indptr))
    overall = np.asarray(histogram.sum(axis=0), dtype=np.int64) if overall is None else overall
    with np.errstate(divide="ignore"):
        log_prior = np.log(overall / overall.sum())
    return Posterior(
        indptr=histogram.indptr.astype(np.int64),
        candidate=histogram.indices.astype(np.int32),
        log_probability=stored(np.log(share)),
        unlisted=np.zeros(n),
        n_unlisted=np.zeros(n, dtype=np.int64),
        observation=np.arange(n),
        weight=table.counts / table.n_rows,
        n_candidates=histogram.shape[1],
        log_prior=log_prior,
        provenance={"attack": f"AttributeInference(sensitive={sensitive!r})", "prior": "release"},
        candidate_label=table.sensitive[at].levels.labels,
    )


def register(table: Combinations, people: Combinations) -> Posterior:
    """Which person is this record: 1 / N over the N people of a register whom the cells of the record contain.

    `RegisterAttack()`; the targets are the distinct records as far as the register knows their columns, the candidates
    the people. A record that nobody fits has no candidate. The mean success is the marketer's risk (1/n) sum n_c / N_c,
    the worst-off record the journalist's, 1 / min N_c. The columns need not hold equal cells: `[20, 30]` contains 25.
    """
    columns = shared_columns(table, people)
    fits = fitting(columns, missing=table.missing, observed_is_release=True)
    observation, _, seen = group([cell.codes for cell, _ in columns], [len(cell.levels) for cell, _ in columns])
    known = np.stack([column.codes for _, column in columns], axis=1)
    candidates = fitting_people(seen, known, people.counts, [fit.T for fit in fits])
    return linked(
        candidates, np.bincount(observation, table.counts, len(seen)).astype(np.int64), n_people=people.n_rows
    )


def linked(candidates: NDArray[np.int64], rows: NDArray[np.int64], *, n_people: int) -> Posterior:
    """`register` where it is counted already how many people fit each record, and how many rows each record stands for.

    candidates, rows : (O,) one target for each. n_people : in the register.
    """
    return _alike(candidates, rows / rows.sum(), np.arange(len(rows)), n_people, repr(RegisterAttack()))


def _alike(
    candidates: NDArray[np.int64],
    weight: NDArray[np.float64],
    observation: NDArray[np.int64],
    n_candidates: int,
    attack: str,
) -> Posterior:
    """All candidates of an observation alike, and none listed; an observation without one is of somebody absent."""
    n = len(candidates)
    return Posterior(
        indptr=np.zeros(n + 1, dtype=np.int64),
        candidate=np.zeros(0, dtype=np.int32),
        log_probability=np.zeros(0),
        unlisted=np.ones(n),
        n_unlisted=candidates,
        observation=observation,
        weight=weight,
        n_candidates=n_candidates,
        log_prior=-float(np.log(n_candidates)),
        provenance={"attack": attack},
    )
