"""The attacker who has no formula for the channel, only labeled samples of it: frequencies and nearest neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.errors import UnmaskError
from unmask.posterior import Posterior, segment_max, segment_sum

BLOCK = 1 << 22
"""Neighbors that are held at once."""

TIE = 1e-6
"""Beliefs nearer than this are a tie (they may be stored as float32)."""


@dataclass(frozen=True, eq=False)
class FrequencyAttack:
    """Which secret produced each output, from how often each did in samples: p(x given y) = (n_xy + s q_x) / (n_y + s).

    x, y      : (n_samples,) secret and output of each sample that the attacker drew from the system himself
    n_x, n_y  : number of secrets and outputs that exist, seen or not
    smoothing : s, how many imagined samples of the overall mix q of secrets are added to each output; 0 believes the
                counts. An output that was never seen gets q.

    Called with outputs (n_targets,). Status `model`; prior q. As a rule ("the most frequent secret of this output") it
    is the plug-in rule; its held-out error is `learned_risk`.

    >>> attack = FrequencyAttack(np.array([0, 0, 1]), np.array([0, 0, 0]), n_x=2, n_y=2, smoothing=0.0)
    >>> np.exp(attack(np.array([0, 1])).log_probability).round(3)
    array([0.667, 0.333, 0.667, 0.333])
    """

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    n_x: int
    n_y: int
    smoothing: float = 1.0

    def __post_init__(self) -> None:
        x, y = np.asarray(self.x), np.asarray(self.y)
        _check_labels(x, len(y), self.n_x)
        if y.ndim != 1 or y.min() < 0 or y.max() >= self.n_y:
            raise UnmaskError(f"the outputs of the samples must be numbers 0..{self.n_y - 1}, one for each sample")
        if not self.smoothing >= 0:
            raise UnmaskError(f"smoothing is {self.smoothing}, expected at least 0")

    def __call__(self, observations: NDArray[np.int64]) -> Posterior:
        """The belief about the secret behind each output."""
        seen = np.asarray(observations)
        if seen.ndim != 1 or not len(seen) or seen.min() < 0 or seen.max() >= self.n_y:
            raise UnmaskError(f"the observations must be output numbers 0..{self.n_y - 1}, at least one")
        distinct, observation = np.unique(seen, return_inverse=True)
        row = np.full(self.n_y, -1)
        row[distinct] = np.arange(len(distinct))
        used = row[self.y] >= 0
        cell = row[self.y[used]] * self.n_x + self.x[used]
        counts = np.bincount(cell, minlength=len(distinct) * self.n_x).reshape(-1, self.n_x)
        mix = np.bincount(self.x, minlength=self.n_x) / len(self.x)
        total = counts.sum(axis=1, keepdims=True)
        s = np.where(total == 0, max(self.smoothing, 1.0), self.smoothing)
        return Posterior.from_dense(
            (counts + s * mix) / (total + s),
            prior=mix,
            observation=observation.astype(np.int64),
            status="model",
            provenance={"attack": "frequencies", "samples": len(self.x), "smoothing": self.smoothing},
        )


@dataclass(frozen=True, eq=False)
class NearestNeighborAttack:
    """Which secret produced each output, from the k samples whose outputs are nearest: p(x given y) = share of x there.

    x         : (n_samples,) secret of each sample; n_x : number of secrets that exist
    y         : (n_samples,) or (n_samples, d) output of each sample, as numbers with a Euclidean distance
    k         : neighbors; samples that are equally far share the last places, so their order does not matter
    smoothing : imagined samples of the overall mix that are added to the k

    With k growing and k / n -> 0 it approaches the Bayes attacker of any channel, continuous ones included. A k-d tree
    of the distinct outputs finds the neighbors: of the order of targets x (k + log samples) in few dimensions, of
    targets x samples in many.

    >>> attack = NearestNeighborAttack(np.array([0, 0, 1]), np.array([0.0, 1.0, 5.0]), n_x=2, smoothing=0.0)
    >>> np.exp(attack(np.array([0.4, 4.0])).log_probability), attack(np.array([0.4, 4.0])).candidate
    (array([1., 1.]), array([0, 1], dtype=int32))

    C. J. Stone, "Consistent nonparametric regression", Ann. Statist. 1977; G. Cherubin, K. Chatzikokolakis,
    C. Palamidessi, "F-BLEAU: fast black-box leakage estimation", S&P 2019.
    """

    x: NDArray[np.int64]
    y: NDArray[np.float64]
    n_x: int
    k: int = 1
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        _check_labels(np.asarray(self.x), len(self.y), self.n_x)
        if not 1 <= self.k <= len(self.y):
            raise UnmaskError(f"k is {self.k}, expected 1 to {len(self.y)}, the number of samples")
        if not self.smoothing >= 0:
            raise UnmaskError(f"smoothing is {self.smoothing}, expected at least 0")

    def __call__(self, observations: NDArray[np.float64]) -> Posterior:
        """The belief about the secret behind each output."""
        samples, seen = _points(self.y), _points(observations)
        if samples.shape[1] != seen.shape[1]:
            raise UnmaskError(f"the observations have {seen.shape[1]} coordinates, the samples {samples.shape[1]}")
        mix = np.bincount(self.x, minlength=self.n_x) / len(self.x)
        distinct, place = _distinct(samples)
        votes = csr_array((np.ones(len(place)), (place, self.x)), shape=(len(distinct), self.n_x))
        found = _nearest(seen, distinct, np.bincount(place), self.k) @ votes
        return Posterior.from_dense(
            (found.toarray() + self.smoothing * mix) / (self.k + self.smoothing),
            prior=mix,
            status="model",
            provenance={"attack": "nearest neighbors", "samples": len(self.x), "k": self.k},
        )


class Learned(Protocol):
    """An attack that has learned: outputs in, belief out."""

    def __call__(self, observations: NDArray[np.int64], /) -> Posterior:
        """The belief about the secret behind each output."""


class LearnedRisk(NamedTuple):
    """The error of one learned attack, measured by the attacker on samples of his own.

    held_out          : share of fresh samples that it gets wrong: what *this attack* leaves of privacy
    low, high         : 95 % Wilson interval of `held_out`; over the drawing of the fresh samples, for this attack as
                        trained. It says nothing about R*, the error of the best attack
    cover_hart        : lower bound on R* from the held-out error; see `cover_hart_bound`. Only for the nearest
                        neighbor, k = 1; 0 otherwise. At `low` of the interval
    unseen            : share of fresh samples whose output was never seen in training
    n                 : fresh samples
    """

    held_out: float
    low: float
    high: float
    cover_hart: float
    unseen: float
    n: int

    @property
    def note(self) -> str:
        """What may and may not be concluded."""
        return (
            f"held-out error {self.held_out:.4g}, 95 % interval {self.low:.4g} to {self.high:.4g} over {self.n} fresh "
            "samples: of this attack, an upper bound on what the best attack leaves. The error of the best attack is "
            "not estimated."
        )


def learned_risk(
    attack: FrequencyAttack | NearestNeighborAttack, x: NDArray[np.int64], y: NDArray[np.int64] | NDArray[np.float64]
) -> LearnedRisk:
    """How often a learned attack is wrong on samples it has not seen: 1 - mean of [x is its best guess] / ties.

    x, y : secret and output of fresh samples of the system, drawn by the attacker, none of them used in training.
    Ties share their chance. R* <= E held_out always. The samples of its training in their place give the error by
    resubstitution, which is too low, often by far: its mean is at most R* for the frequency rule without smoothing.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 2, 4000)
    >>> y = np.where(rng.random(4000) < 0.2, 1 - x, x)
    >>> found = learned_risk(FrequencyAttack(x[:2000], y[:2000], n_x=2, n_y=2), x[2000:], y[2000:])
    >>> found.low < 0.2 < found.high
    True

    E. B. Wilson, JASA 1927; T. M. Cover & P. E. Hart, "Nearest neighbor pattern classification", 1967.
    """
    from scipy.stats import binomtest  # not at the top: slow to load, and only this needs it

    fresh = np.asarray(x)
    _check_labels(fresh, len(y), attack.n_x)
    wrong = _error_of_best(attack(y), fresh)  # type: ignore[arg-type]  # each attack checks its own outputs
    n, rate = len(fresh), float(wrong.mean())
    interval = binomtest(round(float(wrong.sum())), n).proportion_ci(method="wilson")
    first = isinstance(attack, NearestNeighborAttack) and attack.k == 1 and attack.smoothing == 0
    known = _points(np.asarray(attack.y, dtype=np.float64))
    unseen = ~_rows_in(_points(np.asarray(y, dtype=np.float64)), known)
    return LearnedRisk(
        held_out=rate,
        low=float(interval.low),
        high=float(interval.high),
        cover_hart=cover_hart_bound(float(interval.low), n_x=attack.n_x) if first else 0.0,
        unseen=float(unseen.mean()),
        n=n,
    )


def cover_hart_bound(nearest_neighbor_error: float, *, n_x: int) -> float:
    """A lower bound on the Bayes risk R* from the error R of the nearest-neighbor rule with M secrets.

    R* >= (M - 1) / M [1 - sqrt(1 - M R / (M - 1))], the inverse of R <= R* (2 - M R* / (M - 1)). Holds as the number of
    samples grows without bound; with few samples R is still too high and so may the bound be. R above (M - 1) / M,
    worse than guessing, counts as that.

    >>> round(cover_hart_bound(0.5, n_x=2), 4), round(cover_hart_bound(0.18, n_x=2), 4)
    (0.5, 0.1)

    T. M. Cover & P. E. Hart, "Nearest neighbor pattern classification", IEEE Trans. Inf. Theory 1967, theorem 1.
    """
    if n_x < 2 or not 0 <= nearest_neighbor_error <= 1:
        raise UnmaskError(f"the error is {nearest_neighbor_error} with {n_x} secrets, expected 0..1 and at least 2")
    most = (n_x - 1) / n_x
    return float(most * (1.0 - np.sqrt(max(0.0, 1.0 - nearest_neighbor_error / most))))


def _error_of_best(belief: Posterior, x: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n_targets,) chance that the likeliest candidate is not x, ties shared."""
    p = np.exp(belief.log_probability, dtype=np.float64)
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    best = p >= segment_max(p, belief.indptr, empty=0.0)[row] - TIE
    ties = segment_sum(best.astype(np.float64), belief.indptr)
    key, wanted = row * belief.n_candidates + belief.candidate, belief.observation * belief.n_candidates + x
    place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    hit = (key[place] == wanted) & best[place]
    return np.asarray(1.0 - hit / ties[belief.observation], dtype=np.float64)


def _nearest(
    seen: NDArray[np.float64], distinct: NDArray[np.float64], weight: NDArray[np.int64], k: int
) -> csr_array[np.float64, tuple[int, int]]:
    """(n_seen, n_distinct) what each sample of an output counts among the k nearest; samples that are tied for the last
    places share them.

    weight : (n_distinct,) samples of each output
    """
    from scipy.spatial import KDTree  # not at the top: slow to load, and only this needs it

    tree, width = KDTree(distinct), min(k + 1, len(distinct))
    open_ = np.arange(len(seen))
    rows, columns, shares = [], [], []
    while len(open_):
        still = []
        for part in np.array_split(open_, -(-len(open_) * width // BLOCK)):
            distance, index = (np.reshape(one, (len(part), width)) for one in tree.query(seen[part], k=width))
            enough = np.cumsum(weight[index], axis=1) >= k
            last = distance[np.arange(len(part)), enough.argmax(axis=1)][:, None]
            nearer, tied = distance < last, distance == last
            left = k - (weight[index] * nearer).sum(axis=1)
            share = nearer + tied * (left / np.maximum((weight[index] * tied).sum(axis=1), 1))[:, None]
            settled = (width == len(distinct)) | (enough[:, -1] & (distance[:, -1] > last[:, 0]))
            row, column = np.nonzero(share * settled[:, None])
            rows.append(part[row])
            columns.append(index[row, column])
            shares.append(share[row, column])
            still.append(part[~settled])  # more outputs may be as far as the last one
        open_, width = np.concatenate(still), min(2 * width, len(distinct))
    at = (np.concatenate(rows), np.concatenate(columns))
    return csr_array((np.concatenate(shares), at), shape=(len(seen), len(distinct)))


def _distinct(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The different rows, and which of them each row is."""
    distinct, place = np.unique(points, axis=0, return_inverse=True)
    return distinct, place.ravel()


def _points(values: NDArray[np.float64]) -> NDArray[np.float64]:
    points = np.asarray(values, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or not len(points) or not np.all(np.isfinite(points)):
        raise UnmaskError("the outputs must be finite numbers, (n,) or (n, coordinates), at least one")
    return points


def _rows_in(rows: NDArray[np.float64], known: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(n,) whether each row occurs among the known ones."""
    _, place = _distinct(np.concatenate([known, rows]))
    return np.isin(place[len(known) :], place[: len(known)])


def _check_labels(x: NDArray[np.int64], n_outputs: int, n_x: int) -> None:
    if x.ndim != 1 or not len(x) or len(x) != n_outputs:
        raise UnmaskError(f"{x.size} secrets came with {n_outputs} outputs, expected as many, and at least one")
    if not np.issubdtype(x.dtype, np.integer) or x.min() < 0 or x.max() >= n_x:
        raise UnmaskError(f"the secrets of the samples must be numbers 0..{n_x - 1}")
