"""Where one person has several records: who picks any has found that person, and some releases say whose they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from unmask.core.csr_rows import segment_max
from unmask.core.posterior import Posterior, stored
from unmask.core.truth import Truth
from unmask.data.column_names import find_role
from unmask.measures.truth_positions import find_person_entries
from unmask.tables.column import Column
from unmask.tables.unit import key_rank


def any_of_theirs(belief: Posterior, truth: Truth) -> Posterior:
    """How likely whoever picks one of the likeliest records, as likely each, has one of the target's.

    It is what the adversary attains, not what they know: they cannot tell that two records are of one person. Where the
    likeliest records are alike it is the target's share of them: theirs stand as one candidate, the true one, and the
    others are unlisted, as people with as many records. Where they believe in records one by one, not by what the
    records say, or where somebody whom records fit may have one that is unlisted, it is what they believe of all
    records of the person whose record they pick.

    truth : the record of each target, and the person behind each record

    >>> from unmask.core.inference import from_classes
    >>> four = from_classes(np.zeros(4, int), np.zeros(2, int))
    >>> found = any_of_theirs(four, Truth([0, 3], person=np.array([7, 7, 7, 2])))
    >>> np.exp(found.log_probability), found.n_unlisted
    (array([0.25, 0.75]), array([3, 1]))
    >>> sure = Posterior.from_dense(np.array([[0.5, 0.3, 0.2]]))
    >>> np.exp(any_of_theirs(sure, Truth([1], person=np.array([4, 5, 4]))).log_probability)
    array([0.7])
    """
    log_p = belief.log_probability.astype(np.float64)
    top = segment_max(log_p, belief.indptr, empty=0.0)[belief.row]
    likeliest = log_p >= top - belief.resolution
    one_by_one = belief.representative is None and not likeliest.all()
    undecided = (belief.unlisted > 0) & (belief.row_length > 0)  # whom no record fits are taken for absent
    if not len(log_p):
        return belief
    if undecided.any() or one_by_one:
        assert truth.person is not None
        return _of_the_picked(belief, truth.person, likeliest)
    return _among_alike(belief, truth, likeliest)


def _among_alike(belief: Posterior, truth: Truth, likeliest: NDArray[np.bool_]) -> Posterior:
    """The share of records of the target among those that are likeliest; the others are of people who are as likely, as
    many as there are with as many records. likeliest : (n_entries,)
    """
    assert truth.person is not None
    lines = find_person_entries(belief, truth.candidate, truth.person)
    first = np.full(len(lines.start), -1)
    first[lines.pair] = truth.candidate  # any of theirs will do
    size = belief.sum_candidates(likeliest.astype(np.float64))[lines.row[lines.start]]
    picked = lines.n_candidates * (lines.is_listed & likeliest[lines.entry])
    theirs = np.add.reduceat(picked, lines.start)
    listed = theirs > 0
    return replace(
        belief,
        indptr=np.concatenate(([0], np.cumsum(listed))),
        candidate=first[listed].astype(np.int32),
        log_probability=stored(np.log(theirs[listed] / size[listed])),
        unlisted=np.where(listed, 1.0 - theirs / np.maximum(size, 1), 1.0),
        n_unlisted=np.where(listed, np.ceil((size - theirs) / np.maximum(theirs, 1)), 0).astype(np.int64),
        observation=lines.pair,
        representative=None,
    )


def _of_the_picked(belief: Posterior, person: NDArray[np.int64], likeliest: NDArray[np.bool_]) -> Posterior:
    """What is believed of all records of the person whose record is picked, which stand as the first that may be.

    With N_pe the records of person p that entry e stands for and T the entries that may be picked it is the sum over
    p of (sum over e in T of N_pe) (sum over all e of N_pe p(e)), over the records in T.
    """
    n, n_rows = belief.n_candidates, belief.n_observations
    every, theirs = _records(belief, person)
    place = belief.row[likeliest], belief.candidate[likeliest]
    picked = coo_array((np.ones(len(place[0])), place), shape=(n_rows, n)).tocsr()
    tied = belief.sum_candidates(likeliest.astype(np.float64))
    told = (picked @ theirs).multiply(every @ theirs).sum(axis=1) / np.maximum(tied, 1.0)
    listed = np.diff(belief.indptr) > 0
    return replace(
        belief,
        indptr=np.concatenate(([0], np.cumsum(listed))),
        candidate=picked.indices[picked.indptr[:-1][listed]].astype(np.int32),
        log_probability=stored(np.log(told[listed])),
        unlisted=np.where(listed, np.maximum(1.0 - told, 0.0), belief.unlisted),
        n_unlisted=np.where(listed, n - 1, belief.n_unlisted),
        representative=None,
        status="model" if belief.status == "exact" else belief.status,  # of rows, and people count alike
    )


def _records(belief: Posterior, person: NDArray[np.int64]) -> tuple[csr_array, csr_array]:
    """Return (n_observations, n) the probability of each record, and (n, n_people) whose records it stands for."""
    n, p = belief.n_candidates, np.exp(belief.log_probability.astype(np.float64))
    theirs = coo_array((np.ones(n), (belief.representatives, person)), shape=(n, int(person.max()) + 1)).tocsr()
    return csr_array((p, belief.candidate, belief.indptr), shape=(belief.n_observations, n)), theirs


def over_people(belief: Posterior, person: NDArray[np.int64]) -> Posterior:
    """Return the belief with people in the place of records: of each person, the sum over their records.

    person : (n_candidates,) the person behind each record

    >>> from unmask.core.inference import from_classes
    >>> found = over_people(from_classes(np.zeros(4, int), np.zeros(1, int)), np.array([7, 7, 7, 2]))
    >>> np.exp(found.log_probability), found.n_candidates
    (array([0.25, 0.75]), 2)
    """
    numbers, number = np.unique(person, return_inverse=True)
    every, theirs = _records(belief, number)
    found = csr_array(every @ theirs)
    found.sort_indices()
    left = len(numbers) - np.diff(found.indptr)
    return replace(
        belief,
        indptr=found.indptr.astype(np.int64),
        candidate=found.indices.astype(np.int32),
        log_probability=stored(np.log(found.data)),
        n_unlisted=np.where(belief.n_unlisted > 0, np.minimum(left, belief.n_unlisted), belief.n_unlisted),
        n_candidates=len(numbers),
        log_prior=-float(np.log(len(numbers))),
        representative=None,
    )


def pseudonym(kept: tuple[Column, ...], person: NDArray[np.int64] | None) -> Column | None:
    """The released column whose values are each one person's, some of several rows; of two the one with fewer values.

    person : (n_rows,) who each row is of; None where that is not known
    """
    if person is None:
        return None
    found = [(column, column.counts) for column in kept if column.levels.missing < 0]
    known = [(column, sizes) for column, sizes in found if sizes.max(initial=0) > 1 and _tells(column, person)]
    return min(known, key=lambda one: np.count_nonzero(one[1]), default=(None, None))[0]


def repeated(kept: Iterable[Column]) -> Iterator[Column]:
    """Released columns that number people by their names, and that have a value twice."""
    for column in kept:
        identifies = find_role(column.name) == "identifier"
        if key_rank(column.name, len(column.levels), identifies=identifies) and column.counts.max(initial=0) > 1:
            yield column


def _tells(column: Column, person: NDArray[np.int64]) -> bool:
    """Whether a value of the column is never of two people."""
    one = np.zeros(len(column.levels), dtype=np.int64)
    one[column.codes] = person
    return bool(np.array_equal(one[column.codes], person))
