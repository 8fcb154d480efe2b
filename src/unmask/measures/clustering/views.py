"""Entropies and distances of a view: its distance from the truth, its certainty, and the linking that it leaves open.

A view counts equal partitions together wherever entropy is concerned, however their labels are written. All entropies
are in bits. All partitions are over the same items, in any order; `unmask.core.partition.align_view` makes them so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Floats
from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition, View, align
from unmask.measures.clustering.metrics import variation_of_information
from unmask.measures.clustering.overlap import Overlap, overlap

Distance = Callable[[Overlap], float]
"""A distance of two partitions, computed from their table: `variation_of_information`, `rand_distance`,
`transfer_distance` or `merge_distance`.
"""


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


def degree_of_unlinkability(view: View, *, compatible_bits: float | None = None) -> float:
    """Return H(view)/log2 N, where the context leaves N partitions possible.

    The result is 1 if the view is uniform over them, 0 if it is certain, and nan if N is 1.

    compatible_bits : log2 N. The default is log2 Bell(n), for all partitions.

    >>> view = View([Partition([0, 0, 1]), Partition([0, 1, 0])])
    >>> round(degree_of_unlinkability(view), 4)
    0.4307
    >>> round(degree_of_unlinkability(view, compatible_bits=math.log2(3)), 4)
    0.6309

    Franz, Meyer and Pashalidis, "Attacking unlinkability: the importance of context", PET 2007; not checked against the
    paper.
    """
    probabilities = _partition_probabilities(view)
    bits = log2_bell(len(view.partitions[0])) if compatible_bits is None else float(compatible_bits)
    if not math.log2(len(probabilities)) <= bits + 1e-9:
        raise UnmaskError(
            f"the view has {len(probabilities)} distinct partitions but compatible_bits is {bits:.6g}, expected at "
            f"least {math.log2(len(probabilities)):.6g}; count every partition that the context leaves possible"
        )
    return min(_entropy(probabilities) / bits, 1.0) if bits > 0 else math.nan


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


def log2_bell(n: int) -> float:
    """Return log2 Bell(n), the bits of a uniformly random partition of n >= 1 items.

    Dobinski: Bell(n) = (1/e) sum_m m^n/m!, summed in logarithms around its largest term, where m ln m is about n.

    >>> [round(2 ** log2_bell(n), 6) for n in (1, 2, 3, 10)]
    [1.0, 2.0, 5.0, 115975.0]
    """
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
