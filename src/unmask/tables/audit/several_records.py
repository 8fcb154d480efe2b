"""People with several records: an adversary who picks any of them has re-identified the person."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy

from unmask.core.arrays import Booleans, Integers
from unmask.core.csr_rows import segment_max
from unmask.core.inference import count_candidates
from unmask.core.posterior import Posterior, stored
from unmask.core.truth import Truth
from unmask.measures.truth_positions import find_person_entries


def find_any_record(belief: Posterior, truth: Truth) -> Posterior:
    """Return the probability that one of the likeliest records, picked at random, is one of the target's.

    It is what the adversary attains, not what they know: they cannot tell that two records are of one person. If the
    likeliest records are alike, it is the target's share of them: the target's records become one candidate, the true
    one, and the others are unlisted, as people with as many records. If the belief is about single records, or if a
    target with matching records may have an unlisted one, it is the belief about all records of the person picked.

    Parameters
    ----------
    belief : Posterior
        Belief about records.
    truth : Truth
        Record of each target, and the person behind each record.

    Examples
    --------
    >>> from unmask.core.inference import from_classes
    >>> four = from_classes(np.zeros(4, int), np.zeros(2, int))
    >>> attained = find_any_record(four, Truth([0, 3], person=np.array([7, 7, 7, 2])))
    >>> np.exp(attained.log_probability), attained.n_unlisted
    (array([0.25, 0.75]), array([3, 1]))
    >>> sure = Posterior.from_dense(np.array([[0.5, 0.3, 0.2]]))
    >>> np.exp(find_any_record(sure, Truth([1], person=np.array([4, 5, 4]))).log_probability)
    array([0.7])
    """
    log_p = belief.log_probability.astype(np.float64)
    top = segment_max(log_p, belief.indptr, empty=0.0)[belief.row]
    likeliest = log_p >= top - belief.resolution
    one_by_one = belief.representative is None and not likeliest.all()
    undecided = (belief.unlisted > 0) & (belief.row_length > 0)  # people without a matching record count as absent
    if not len(log_p):
        return belief
    if undecided.any() or one_by_one:
        assert truth.person is not None
        return _of_the_picked(belief, truth.person, likeliest)
    return _among_alike(belief, truth, likeliest)


def _among_alike(belief: Posterior, truth: Truth, likeliest: Booleans) -> Posterior:
    """Return the belief in the person among the likeliest records. All other such records count as people with
    equally many records each.
    """
    assert truth.person is not None
    lines = find_person_entries(belief, truth.candidate, truth.person)
    first = np.full(len(lines.start), -1)
    first[lines.pair] = truth.candidate  # any record of the person
    size = belief.sum_candidates(likeliest.astype(np.float64))[lines.row[lines.start]]
    picked = lines.n_candidates * (lines.is_listed & likeliest[lines.entry])
    theirs = np.add.reduceat(picked, lines.start)
    is_listed = theirs > 0
    return replace(
        belief,
        indptr=np.concatenate(([0], np.cumsum(is_listed))),
        candidate=first[is_listed].astype(np.int32),
        log_probability=stored(np.log(theirs[is_listed] / size[is_listed])),
        unlisted=np.where(is_listed, 1.0 - theirs / np.maximum(size, 1), 1.0),
        n_unlisted=np.where(is_listed, np.ceil((size - theirs) / np.maximum(theirs, 1)), 0).astype(np.int64),
        observation=lines.pair,
        representative=None,
    )


def _of_the_picked(belief: Posterior, person: Integers, likeliest: Booleans) -> Posterior:
    """Return the belief about all records of the person picked, as that about the first record that may be picked.

    With N_pe the records of person p that entry e stands for, and T the entries that may be picked: the sum over p of
    (sum over e in T of N_pe) (sum over all e of N_pe p(e)), divided by the number of records in T.
    """
    n, n_rows = belief.n_candidates, belief.n_observations
    person_records = count_candidates(belief, person, int(person.max()) + 1)
    place = belief.row[likeliest], belief.candidate[likeliest]
    picked = scipy.sparse.coo_array((np.ones(len(place[0])), place), shape=(n_rows, n)).tocsr()
    tied = belief.sum_candidates(likeliest.astype(np.float64))
    attained = (picked @ person_records).multiply(belief.to_sparse() @ person_records).sum(axis=1) / np.maximum(
        tied, 1.0
    )
    is_listed = np.diff(belief.indptr) > 0
    return replace(
        belief,
        indptr=np.concatenate(([0], np.cumsum(is_listed))),
        candidate=picked.indices[picked.indptr[:-1][is_listed]].astype(np.int32),
        log_probability=stored(np.log(attained[is_listed])),
        unlisted=np.where(is_listed, np.maximum(1.0 - attained, 0.0), belief.unlisted),
        n_unlisted=np.where(is_listed, n - 1, belief.n_unlisted),
        representative=None,
        status="model" if belief.status == "exact" else belief.status,  # exact for rows, and people count alike
    )


def count_people_as_candidates(belief: Posterior, person: Integers) -> Posterior:
    """Return the belief with people in the place of records, the sum over the records of each person.

    Parameters
    ----------
    belief : Posterior
        Belief about records.
    person : (n_candidates,) array
        Person behind each record.

    Examples
    --------
    >>> from unmask.core.inference import from_classes
    >>> attained = count_people_as_candidates(from_classes(np.zeros(4, int), np.zeros(1, int)), np.array([7, 7, 7, 2]))
    >>> np.exp(attained.log_probability), attained.n_candidates
    (array([0.25, 0.75]), 2)
    """
    numbers, number = np.unique(person, return_inverse=True)
    summed = scipy.sparse.csr_array(belief.to_sparse() @ count_candidates(belief, number, len(numbers)))
    summed.sort_indices()
    n_unlisted = len(numbers) - np.diff(summed.indptr)
    return replace(
        belief,
        indptr=summed.indptr.astype(np.int64),
        candidate=summed.indices.astype(np.int32),
        log_probability=stored(np.log(summed.data)),
        n_unlisted=np.where(belief.n_unlisted > 0, np.minimum(n_unlisted, belief.n_unlisted), belief.n_unlisted),
        n_candidates=len(numbers),
        log_prior=-float(np.log(len(numbers))),
        representative=None,
    )
