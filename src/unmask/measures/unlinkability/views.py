"""What a whole view says: how far it is from the truth, how sure it is, and how much of the linking it leaves open.

A view counts equal partitions together wherever entropy is concerned, however their labels are written. All entropies
are in bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, lambertw

from unmask.errors import UnmaskError
from unmask.measures.unlinkability.companions import SubjectCompanions, companions_of, variation_of_information
from unmask.measures.unlinkability.overlap import Overlap, overlap
from unmask.view import Partition, Unlabeled, View, align

Distance = Callable[[Overlap], float]
"""A distance of two partitions, from their table: `variation_of_information`, `rand_distance`, `transfer_distance`,
`merge_distance`."""

Missing = Literal["error", "singleton"]

BLOCK = 1 << 22
"""Labels (items times partitions) that are worked on at a time."""


@dataclass(frozen=True, eq=False)
class SubjectEntropy:
    """How open it is, in a view, which of a subject's items belong together.

    bits       : (n_subjects,) entropy of the law on the partitions of the subject's items, in [0, log2 Bell(c)]
    normalized : (n_subjects,) bits/log2 Bell(c) in [0, 1]; nan for one item, where nothing can be linked
    """

    bits: NDArray[np.float64]
    normalized: NDArray[np.float64]


def expected_distance(
    solution: Partition, view: View, *, distance: Distance = variation_of_information, missing: Missing = "error"
) -> float:
    """sum_Q Pr(Q) d(solution, Q): how far the view is from the truth, in the unit of d.

    >>> view = View([Partition([0, 0, 1]), Partition([0, 1, 2])], [0.75, 0.25])
    >>> round(expected_distance(Partition([0, 0, 1]), view), 4)
    0.1667

    Fischer, Katzenbeisser and Eckert, "Measuring unlinkability revisited", WPES 2008; the formula was not checked
    against the paper.
    """
    truth, *drawn = _common((solution, *view.partitions), missing)
    return float(sum(p * distance(overlap(truth, q)) for p, q in zip(view.probability, drawn, strict=True)))


def inconsistency(view: View, *, distance: Distance = variation_of_information, missing: Missing = "error") -> float:
    """sum_QR Pr(Q) Pr(R) d(Q, R): the expected distance of two draws, 0 when the partitions of the view are all equal.

    d has to be symmetric, with d(Q, Q) = 0. Needs a table for every two partitions of the view.

    >>> round(inconsistency(View([Partition([0, 0, 1]), Partition([0, 1, 2])])), 4)
    0.3333

    The *consistency* of Fischer, Katzenbeisser and Eckert 2008, named for its direction; not checked against the paper.
    """
    drawn, p = _common(view.partitions, missing), view.probability
    pairs = ((i, j) for j in range(len(drawn)) for i in range(j))
    return float(sum(2 * p[i] * p[j] * distance(overlap(drawn[i], drawn[j])) for i, j in pairs))


def certainty(view: View, *, missing: Missing = "error") -> float:
    """1 - H(view)/log2 k, k its distinct partitions: 1 when there is only one, 0 when all are equally probable.

    >>> certainty(View([Partition([0, 0, 1]), Partition([0, 1, 2])]))
    0.0

    After the *certainty* of Fischer, Katzenbeisser and Eckert 2008; the normalization is ours and the formula was not
    checked against the paper.
    """
    law = _law(_common(view.partitions, missing), view.probability)
    return 1.0 - _entropy(law) / math.log2(len(law)) if len(law) > 1 else 1.0


def view_entropy(view: View, *, missing: Missing = "error") -> float:
    """H = -sum_Q Pr(Q) log2 Pr(Q) over the distinct partitions, in bits.

    >>> view_entropy(View([Partition([0, 0, 1]), Partition([5, 5, 1]), Partition([0, 1, 2])], [0.25, 0.25, 0.5]))
    1.0
    """
    return _entropy(_law(_common(view.partitions, missing), view.probability))


def degree_of_unlinkability(view: View, *, compatible_bits: float | None = None, missing: Missing = "error") -> float:
    """H(view)/log2 N, N the partitions that context leaves possible: 1 when the view is uniform over them, 0 when sure.

    compatible_bits : log2 N; log2 Bell(n), all partitions, when left out. `log2_partitions_of_sizes` counts those of
    given sizes. nan when N = 1.

    >>> view = View([Partition([0, 0, 1]), Partition([0, 1, 0])])
    >>> round(degree_of_unlinkability(view), 4)
    0.4307
    >>> round(degree_of_unlinkability(view, compatible_bits=log2_partitions_of_sizes([2, 1])), 4)
    0.6309

    Franz, Meyer and Pashalidis, "Attacking unlinkability: the importance of context", PET 2007; not checked against the
    paper.
    """
    drawn = _common(view.partitions, missing)
    law = _law(drawn, view.probability)
    bits = float(log2_bell(len(drawn[0]))) if compatible_bits is None else float(compatible_bits)
    if not math.log2(len(law)) <= bits + 1e-9:
        raise UnmaskError(
            f"the view has {len(law)} distinct partitions but compatible_bits is {bits:.6g}, expected at least "
            f"{math.log2(len(law)):.6g}; count every partition that the context leaves possible"
        )
    return min(_entropy(law) / bits, 1.0) if bits > 0 else math.nan


def subject_entropy(solution: Partition, view: View, *, missing: Missing = "error") -> SubjectEntropy:
    """Of each subject: the entropy of the law that the view induces on the partitions of the subject's items.

    Two partitions of the view that divide the subject's items alike are one outcome, whoever else is with them. The
    normalizer is log2 Bell(c), the entropy before any observation when all partitions of c items are equally probable.

    >>> view = View([Partition([0, 0, 1, 1]), Partition([0, 1, 1, 1])])
    >>> found = subject_entropy(Partition([0, 0, 1, 1]), view)
    >>> found.bits, found.normalized
    (array([1., 0.]), array([1., 0.]))

    Steinbrecher and Koepsell, "Modeling unlinkability", PET 2003; the formula was not checked against the paper.
    """
    truth, *drawn = _common((solution, *view.partitions), missing)
    bits = np.zeros(truth.n_clusters)
    linkable = np.flatnonzero(truth.sizes > 1)
    order = np.argsort(truth.code, kind="stable")
    order = order[truth.sizes[truth.code[order]] > 1]
    ends = np.cumsum(truth.sizes[linkable])
    for first, last in _blocks(ends, max(BLOCK // len(drawn), 1)):
        start = ends[first] - truth.sizes[linkable[first]]
        items = order[start : ends[last - 1]]
        outcome = _outcomes([q.code[items] for q in drawn], truth.sizes[linkable[first:last]])
        bits[linkable[first:last]] = _outcome_entropy(outcome, view.probability)
    with np.errstate(invalid="ignore"):
        return SubjectEntropy(bits, np.minimum(bits / log2_bell(truth.sizes), 1.0))


def expected_subjects(solution: Partition, view: View, *, missing: Missing = "error") -> SubjectCompanions:
    """The companions of each subject, expected under the view; `recovered` is then a probability.

    split + mix is the subject's part of the expected VOI.

    >>> view = View([Partition([0, 0, 1]), Partition([0, 1, 2])], [0.75, 0.25])
    >>> expected_subjects(Partition([0, 0, 1]), view).recovered
    array([0.75, 1.  ])
    """
    truth, *drawn = _common((solution, *view.partitions), missing)
    names = [f.name for f in fields(SubjectCompanions)]
    total = {name: np.zeros(truth.n_clusters) for name in names}
    for p, q in zip(view.probability, drawn, strict=True):
        subject = companions_of(overlap(truth, q)).subject
        for name in names:
            total[name] += p * getattr(subject, name)
    return SubjectCompanions(**total)


def together(view: View, pairs: ArrayLike, *, missing: Missing = "error") -> NDArray[np.float64]:
    """(n_pairs,) Pr(both items in one cluster), in [0, 1].

    pairs : (n_pairs, 2) item ids, or positions when the partitions have no ids

    >>> together(View([Partition([0, 0, 1]), Partition([0, 1, 1])], [0.75, 0.25]), [[0, 1], [1, 2], [0, 2]])
    array([0.75, 0.25, 0. ])
    """
    drawn = _common(view.partitions, missing)
    first, second = _positions(pairs, drawn[0])
    chance = np.zeros(len(first))
    for p, q in zip(view.probability, drawn, strict=True):
        chance += p * (q.code[first] == q.code[second])
    return np.minimum(chance, 1.0)


def pair_entropy(view: View, pairs: ArrayLike, *, missing: Missing = "error") -> NDArray[np.float64]:
    """(n_pairs,) binary entropy of Pr(both items in one cluster), in bits: 1 when it is a toss-up, 0 when sure.

    >>> pair_entropy(View([Partition([0, 0, 1]), Partition([0, 1, 1])]), [[0, 1], [0, 2]])
    array([1., 0.])

    Steinbrecher and Koepsell 2003; not checked against the paper.
    """
    p = together(view, pairs, missing=missing)
    return -_p_log_p(p) - _p_log_p(1.0 - p) + 0.0


def log2_bell(n: ArrayLike) -> NDArray[np.float64]:
    """log2 Bell(n), the bits of a uniformly random partition of n >= 1 items; the shape of n.

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
    """log2 of the number of partitions whose clusters have these sizes: n!/(prod c! prod k_c!), k_c clusters of size c.

    >>> round(2 ** log2_partitions_of_sizes([2, 2, 1]), 6)
    15.0
    """
    size = np.asarray(sizes)
    if not size.size or size.dtype.kind not in "iu" or size.min() < 1:
        raise UnmaskError("the cluster sizes are empty, below 1 or not whole, expected whole numbers from 1")
    alike = np.unique(size, return_counts=True)[1]
    bits = gammaln(size.sum() + 1) - gammaln(size + 1).sum() - gammaln(alike + 1).sum()
    return max(float(bits) / math.log(2), 0.0)


def _log2_bell(n: int) -> float:
    if n == 1:
        return 0.0
    mode = n / float(lambertw(n).real)  # m ln m = n
    width = 40 * mode / math.sqrt(n + mode) + 40  # 40 standard deviations of the terms; at least what small n need
    m = np.arange(max(1.0, math.floor(mode - width)), math.ceil(mode + width))
    log_term = n * np.log(m) - gammaln(m + 1)
    top = log_term.max()
    return float((top + np.log(np.exp(log_term - top).sum()) - 1) / math.log(2))


def _common(partitions: tuple[Partition, ...], missing: Missing) -> tuple[Partition, ...]:
    """All over the same items in the same order: those of the first, and then what the others add."""
    first, *rest = partitions
    for other in rest:
        alone: Unlabeled = "foreign" if missing == "singleton" else "error"  # no partition here is the truth of another
        first, _ = align(first, other, missing=missing, unlabeled=alone)
    return first, *(align(first, other, missing=missing)[1] for other in rest)


def _law(drawn: tuple[Partition, ...], probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities of the distinct partitions."""
    chance: dict[bytes, float] = {}
    for p, q in zip(probability, drawn, strict=True):
        first = np.empty(q.n_clusters, dtype=np.int32)
        first[q.code[::-1]] = np.arange(len(q) - 1, -1, -1, dtype=np.int32)  # the last one written is the first item
        key = first[q.code].tobytes()
        chance[key] = chance.get(key, 0.0) + p
    return np.array(list(chance.values()))


def _p_log_p(p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(p * np.log2(p, out=np.zeros_like(p), where=p > 0))


def _entropy(law: NDArray[np.float64]) -> float:
    return max(-float(_p_log_p(law / law.sum()).sum()), 0.0)


def _blocks(ends: NDArray[np.int64], budget: int) -> list[tuple[int, int]]:
    """Ranges of subjects with at most `budget` items together, or one subject."""
    out, first = [], 0
    while first < len(ends):
        before = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, before + budget, side="right")), first + 1)
        out.append((first, last))
        first = last
    return out


def _outcomes(codes: list[NDArray[np.int32]], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n_partitions, n_subjects) numbers that are equal within a subject where two partitions divide its items alike.

    Items come subject by subject. Each is named by the first item of its subject that it is with; neighboring names
    are then joined to one, as often as it takes, until each subject has a single one. No hashing, so nothing collides.
    """
    name = np.array([_first_together(code, sizes) for code in codes])
    while sizes.max() > 1:
        starts, halves = np.cumsum(sizes) - sizes, (sizes + 1) // 2
        slot = np.arange(halves.sum()) - np.repeat(np.cumsum(halves) - halves, halves)
        left = np.repeat(starts, halves) + 2 * slot
        paired = 2 * slot + 1 < np.repeat(sizes, halves)
        right = np.where(paired, name[:, np.where(paired, left + 1, left)] + 1, 0)
        joined = name[:, left] * (int(name.max()) + 2) + right
        name = np.unique(joined, return_inverse=True)[1].reshape(joined.shape)
        sizes = halves
    return name


def _first_together(code: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each item, the place of the first item that is in the same subject and cluster."""
    subject = np.repeat(np.arange(len(sizes)), sizes)
    key = subject * (int(code.max()) + 1) + code
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return np.asarray(first[inverse], dtype=np.int64)


def _outcome_entropy(outcome: NDArray[np.int64], probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_subjects,) entropy of the probabilities, summed over equal outcomes of a subject."""
    n_subjects = outcome.shape[1]
    key = np.arange(n_subjects) * (int(outcome.max()) + 1) + outcome
    distinct, inverse = np.unique(key, return_inverse=True)
    chance = np.bincount(inverse.ravel(), weights=np.repeat(probability, n_subjects))
    subject = distinct // (int(outcome.max()) + 1)
    bits = -np.bincount(subject, weights=_p_log_p(chance / probability.sum()), minlength=n_subjects)
    return np.maximum(bits, 0.0)


def _positions(pairs: ArrayLike, partition: Partition) -> tuple[NDArray[Any], NDArray[Any]]:
    wanted = np.asarray(pairs)
    if wanted.ndim != 2 or wanted.shape[1] != 2:
        raise UnmaskError(f"the pairs have shape {wanted.shape}, expected two items for each pair")
    if partition.items is None:
        if wanted.size and (wanted.dtype.kind not in "iu" or wanted.min() < 0 or wanted.max() >= len(partition)):
            raise UnmaskError(f"a pair is not of two positions, expected whole numbers from 0 to {len(partition) - 1}")
        return wanted[:, 0].astype(np.intp), wanted[:, 1].astype(np.intp)
    place = {item: i for i, item in enumerate(partition.items.tolist())}
    found = np.array([place.get(item, -1) for item in wanted.ravel().tolist()], dtype=np.intp).reshape(-1, 2)
    if np.any(found < 0):
        raise UnmaskError(
            f"{int((found < 0).sum())} items of the pairs are not in the view; give ids of the view's items"
        )
    return found[:, 0], found[:, 1]
