"""Entropies and distances of a view: its distance from the truth, its certainty, and the linking that it leaves open.

A view counts equal partitions together wherever entropy is concerned, however their labels are written. All entropies
are in bits. All partitions are over the same items, in any order; `unmask.core.partition.align_view` makes them so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition, View, align
from unmask.measures.clustering.metrics import variation_of_information
from unmask.measures.clustering.overlap import Overlap, overlap

Distance = Callable[[Overlap], float]
"""A distance of two partitions, computed from their table: `variation_of_information`, `rand_distance`,
`transfer_distance` or `merge_distance`.
"""

MAX_BLOCK_LABELS = 1 << 22
"""Largest number of labels (items times partitions) to compare at once."""


@dataclass(frozen=True, eq=False)
class SubjectEntropy:
    """Entropies of the partitions of each subject's items in a view; c is the number of the subject's items.

    bits : (n_subjects,) entropy of the probabilities of the partitions of the subject's items, from 0 to log2 Bell(c)
    normalized : (n_subjects,) bits / log2 Bell(c), from 0 to 1; nan for one item, where nothing can be linked
    """

    bits: Floats
    normalized: Floats


def expected_distance(solution: Partition, view: View, *, distance: Distance = variation_of_information) -> float:
    """Return sum_Q Pr(Q) d(solution, Q): how far the view is from the truth, in the unit of d.

    >>> view = View([Partition([0, 0, 1]), Partition([0, 1, 2])], [0.75, 0.25])
    >>> round(expected_distance(Partition([0, 0, 1]), view), 4)
    0.1667

    Fischer, Katzenbeisser and Eckert, "Measuring unlinkability revisited", WPES 2008; the formula was not checked
    against the paper.
    """
    return float(sum(p * distance(overlap(solution, q)) for p, q in _weighted_partitions(view)))


def inconsistency(view: View, *, distance: Distance = variation_of_information) -> float:
    """Return sum_QR Pr(Q) Pr(R) d(Q, R), the expected distance of two draws; 0 if all partitions are equal.

    d has to be symmetric, with d(Q, Q) = 0. Needs a table for every two partitions of the view.

    >>> round(inconsistency(View([Partition([0, 0, 1]), Partition([0, 1, 2])])), 4)
    0.3333

    The *consistency* of Fischer, Katzenbeisser and Eckert 2008, named for its direction; not checked against the paper.
    """
    pairs = combinations(_weighted_partitions(view), 2)
    return float(sum(2 * p * r * distance(overlap(first, second)) for (p, first), (r, second) in pairs))


def certainty(view: View) -> float:
    """Return 1 - H(view)/log2 k for k distinct partitions: 1 if there is only one, 0 if all are equally probable.

    >>> certainty(View([Partition([0, 0, 1]), Partition([0, 1, 2])]))
    0.0

    After the *certainty* of Fischer, Katzenbeisser and Eckert 2008; the normalization is ours and the formula was not
    checked against the paper.
    """
    probabilities = _partition_probabilities(view)
    return 1.0 - _entropy(probabilities) / math.log2(len(probabilities)) if len(probabilities) > 1 else 1.0


def view_entropy(view: View) -> float:
    """Return H = -sum_Q Pr(Q) log2 Pr(Q) over the distinct partitions, in bits.

    >>> view_entropy(View([Partition([0, 0, 1]), Partition([5, 5, 1]), Partition([0, 1, 2])], [0.25, 0.25, 0.5]))
    1.0
    """
    return _entropy(_partition_probabilities(view))


def degree_of_unlinkability(view: View, *, compatible_bits: float | None = None) -> float:
    """Return H(view)/log2 N, where the context leaves N partitions possible.

    The result is 1 if the view is uniform over them, 0 if it is certain, and nan if N is 1.

    compatible_bits : log2 N. The default is log2 Bell(n), for all partitions; `log2_partitions_of_sizes` counts the
        partitions with given sizes.

    >>> view = View([Partition([0, 0, 1]), Partition([0, 1, 0])])
    >>> round(degree_of_unlinkability(view), 4)
    0.4307
    >>> round(degree_of_unlinkability(view, compatible_bits=log2_partitions_of_sizes([2, 1])), 4)
    0.6309

    Franz, Meyer and Pashalidis, "Attacking unlinkability: the importance of context", PET 2007; not checked against the
    paper.
    """
    probabilities = _partition_probabilities(view)
    bits = float(log2_bell(len(view.partitions[0]))) if compatible_bits is None else float(compatible_bits)
    if not math.log2(len(probabilities)) <= bits + 1e-9:
        raise UnmaskError(
            f"the view has {len(probabilities)} distinct partitions but compatible_bits is {bits:.6g}, expected at "
            f"least {math.log2(len(probabilities)):.6g}; count every partition that the context leaves possible"
        )
    return min(_entropy(probabilities) / bits, 1.0) if bits > 0 else math.nan


def subject_entropy(solution: Partition, view: View) -> SubjectEntropy:
    """Return the entropy of the probabilities that the view induces on the partitions of each subject's items.

    Two partitions of the view that divide the subject's items in the same way are one outcome, whatever other items are
    with them. The entropy is normalized by log2 Bell(c), the entropy before any observation if all partitions of c
    items are equally probable.

    >>> view = View([Partition([0, 0, 1, 1]), Partition([0, 1, 1, 1])])
    >>> entropy = subject_entropy(Partition([0, 0, 1, 1]), view)
    >>> entropy.bits, entropy.normalized
    (array([1., 0.]), array([1., 0.]))

    Steinbrecher and Koepsell, "Modeling unlinkability", PET 2003; the formula was not checked against the paper.
    """
    drawn = [align(solution, q)[1].code for q in view.partitions]
    bits, sizes = np.zeros(solution.n_clusters), solution.sizes
    items, start = np.argsort(solution.code, kind="stable"), np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 1]).tolist():
        same_size = np.flatnonzero(sizes == size)
        for subjects in np.array_split(same_size, -(-len(same_size) * size * len(drawn) // MAX_BLOCK_LABELS)):
            block = items[start[subjects][:, None] + np.arange(size)]
            bits[subjects] = _outcome_entropy([_first_cluster_mates(code[block]) for code in drawn], view.probability)
    with np.errstate(invalid="ignore"):
        return SubjectEntropy(bits, np.minimum(bits / log2_bell(sizes), 1.0))


def together(view: View, pairs: ArrayLike) -> Floats:
    """Return Pr(both items in one cluster), in [0, 1].

    pairs : (n_pairs, 2) item ids, or positions when the partitions have no ids

    >>> together(View([Partition([0, 0, 1]), Partition([0, 1, 1])], [0.75, 0.25]), [[0, 1], [1, 2], [0, 2]])
    array([0.75, 0.25, 0. ])
    """
    first, second = _positions(pairs, view.partitions[0])
    probability = np.zeros(len(first))
    for p, q in _align_partitions(view):
        probability += p * (q.code[first] == q.code[second])
    return np.minimum(probability, 1.0)


def pair_entropy(view: View, pairs: ArrayLike) -> Floats:
    """Return the binary entropy of Pr(both items in one cluster), in bits: 1 at probability 1/2, 0 if certain.

    >>> pair_entropy(View([Partition([0, 0, 1]), Partition([0, 1, 1])]), [[0, 1], [0, 2]])
    array([1., 0.])

    Steinbrecher and Koepsell 2003; not checked against the paper.
    """
    p = together(view, pairs)
    return -_p_log_p(p) - _p_log_p(1.0 - p) + 0.0


def log2_bell(n: ArrayLike) -> Floats:
    """Return log2 Bell(n), the bits of a uniformly random partition of n >= 1 items; the shape of n.

    Dobinski: Bell(n) = (1/e) sum_m m^n/m!, summed in logarithms around its largest term, where m ln m is about n.

    >>> np.exp2(log2_bell([1, 2, 3, 10])).round(6).tolist()
    [1.0, 2.0, 5.0, 115975.0]
    """
    sizes = np.asarray(n)
    if sizes.size and (sizes.dtype.kind not in "iu" or sizes.min() < 1):
        raise UnmaskError("a number of items is below 1 or not whole, expected whole numbers from 1")
    distinct, inverse = np.unique(sizes, return_inverse=True)
    return np.asarray([_log2_bell(int(size)) for size in distinct])[inverse].reshape(sizes.shape)


def log2_partitions_of_sizes(sizes: ArrayLike) -> float:
    """Return log2 of the number of partitions with clusters of these sizes: n!/(prod c! prod k_c!), k_c of size c.

    >>> round(2 ** log2_partitions_of_sizes([2, 2, 1]), 6)
    15.0
    """
    size = np.asarray(sizes)
    if not size.size or size.dtype.kind not in "iu" or size.min() < 1:
        raise UnmaskError("the cluster sizes are empty, below 1 or not whole, expected whole numbers from 1")
    n_equal = np.unique(size, return_counts=True)[1]
    log_gamma = scipy.special.gammaln
    bits = log_gamma(size.sum() + 1) - log_gamma(size + 1).sum() - log_gamma(n_equal + 1).sum()
    return max(float(bits) / math.log(2), 0.0)


def _log2_bell(n: int) -> float:
    if n == 1:
        return 0.0
    mode = n / float(scipy.special.lambertw(n).real)  # m ln m = n
    width = 40 * mode / math.sqrt(n + mode) + 40  # 40 standard deviations of the terms; at least what small n need
    m = np.arange(max(1.0, math.floor(mode - width)), math.ceil(mode + width))
    log_term = n * np.log(m) - scipy.special.gammaln(m + 1)
    top = log_term.max()
    return float((top + np.log(np.exp(log_term - top).sum()) - 1) / math.log(2))


def _weighted_partitions(view: View) -> Iterator[tuple[float, Partition]]:
    return zip(view.probability.tolist(), view.partitions, strict=True)


def _align_partitions(view: View) -> Iterator[tuple[float, Partition]]:
    """Yield probabilities and partitions with the items in the order of the first."""
    return ((p, align(view.partitions[0], q)[1]) for p, q in _weighted_partitions(view))


def _partition_probabilities(view: View) -> Floats:
    """Return the probabilities of the distinct partitions."""
    probabilities: dict[bytes, float] = {}
    for p, q in _align_partitions(view):
        first = np.empty(q.n_clusters, dtype=np.int32)
        first[q.code[::-1]] = np.arange(len(q) - 1, -1, -1, dtype=np.int32)  # the last one written is the first item
        key = first[q.code].tobytes()
        probabilities[key] = probabilities.get(key, 0.0) + p
    return np.array(list(probabilities.values()))


def _p_log_p(p: Floats) -> Floats:
    return np.asarray(p * np.log2(p, out=np.zeros_like(p), where=p > 0))


def _entropy(probabilities: Floats) -> float:
    return max(-float(_p_log_p(probabilities / probabilities.sum()).sum()), 0.0)


def _first_cluster_mates(code: NDArray[np.int32]) -> Integers:
    """Return, for each item, the position of the first item in its row that is in the same cluster."""
    rows, n = np.arange(len(code))[:, None], code.shape[1]
    _, first, inverse = np.unique(rows * (int(code.max()) + 1) + code, return_index=True, return_inverse=True)
    return np.asarray(first[inverse].reshape(code.shape) - rows * n, dtype=np.int64)


def _outcome_entropy(outcomes: list[Integers], probability: Floats) -> Floats:
    """Return the entropy of the probabilities for each subject, after adding up the probabilities of equal outcomes.

    outcomes : for each partition of the view, an (n_subjects, size) array with one row of items for each subject
    """
    n_subjects, size = outcomes[0].shape
    subject = np.tile(np.arange(n_subjects), len(outcomes))
    rows = np.column_stack([subject, np.concatenate(outcomes)])
    row_bytes = rows.view(np.dtype((np.void, rows.itemsize * (size + 1)))).ravel()  # compared byte by byte
    _, first, inverse = np.unique(row_bytes, return_index=True, return_inverse=True)
    probabilities = np.bincount(inverse, np.repeat(probability / probability.sum(), n_subjects)).astype(
        np.float64, copy=False
    )
    return np.maximum(-np.bincount(subject[first], weights=_p_log_p(probabilities), minlength=n_subjects), 0.0)


def _positions(pairs: ArrayLike, partition: Partition) -> tuple[NDArray[Any], NDArray[Any]]:
    wanted = np.asarray(pairs)
    if wanted.ndim != 2 or wanted.shape[1] != 2:
        raise UnmaskError(f"the pairs have shape {wanted.shape}, expected two items for each pair")
    if partition.items is None:
        if wanted.size and (wanted.dtype.kind not in "iu" or wanted.min() < 0 or wanted.max() >= len(partition)):
            raise UnmaskError(f"a pair is not of two positions, expected whole numbers from 0 to {len(partition) - 1}")
        return wanted[:, 0].astype(np.intp), wanted[:, 1].astype(np.intp)
    place = {item: i for i, item in enumerate(partition.items.tolist())}
    positions = np.array([place.get(item, -1) for item in wanted.ravel().tolist()], dtype=np.intp).reshape(-1, 2)
    if np.any(positions < 0):
        raise UnmaskError(
            f"{int((positions < 0).sum())} items of the pairs are not in the view; give ids of the view's items"
        )
    return positions[:, 0], positions[:, 1]
