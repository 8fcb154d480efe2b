"""The attacker who has no formula for the channel, only labeled samples of it: frequencies and nearest neighbors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from unmask.channels._matrices import Floats, Ints, Sparse
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior

BLOCK = 1 << 22
"""Neighbors that are held at once."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Secrets and outputs that the adversary drew from the system, or a copy of it.

    x        : (n_samples,) secret of each sample
    y        : (n_samples,) its output: a number from 0, or a point, (n_samples,) or (n_samples, d)
    n_x, n_y : number of secrets and of outputs that exist, seen or not; n_y only where outputs are counted
    """

    x: Ints
    y: Ints | Floats
    n_x: int
    n_y: int | None = None

    def __post_init__(self) -> None:
        x, n_outputs = np.asarray(self.x), len(self.y)
        if x.ndim != 1 or not len(x) or len(x) != n_outputs:
            raise UnmaskError(f"{x.size} secrets came with {n_outputs} outputs, expected as many, and at least one")
        if not np.issubdtype(x.dtype, np.integer) or x.min() < 0 or x.max() >= self.n_x:
            raise UnmaskError(f"the secrets of the samples must be numbers 0..{self.n_x - 1}")

    def __len__(self) -> int:
        return len(self.x)

    @property
    def mix(self) -> Floats:
        """(n_x,) share of each secret in the samples: what is believed before anything is seen."""
        return np.bincount(self.x, minlength=self.n_x) / len(self)


@dataclass(frozen=True)
class FrequencyAttack:
    """Which secret produced each output, from how often each did in samples: p(x given y) = (n_xy + s q_x) / (n_y + s).

    smoothing : s, how many imagined samples of the overall mix q of secrets are added to each output; 0 believes the
                counts. An output that was never seen gets q.

    Called with outputs (n_targets,) and `Samples` that say how many outputs there are. Status `model`; prior q. As a
    rule ("the most frequent secret of this output") it is the plug-in rule; its held-out error is
    `unmask.channels.criteria.learned_risk`.

    Assumes: the samples came through the same channel, of secrets drawn alike.

    Fails when: outputs are many and samples few: one that was seen once is believed, and one that was never seen says
    nothing.

    >>> samples = Samples(np.array([0, 0, 1]), np.array([0, 0, 0]), n_x=2, n_y=2)
    >>> np.exp(FrequencyAttack(smoothing=0.0)(np.array([0, 1]), samples).log_probability).round(3)
    array([0.667, 0.333, 0.667, 0.333])

    G. Cherubin, K. Chatzikokolakis & C. Palamidessi, "F-BLEAU: fast black-box leakage estimation", S&P 2019, for what
    frequencies estimate.
    """

    smoothing: float = 1.0

    def __post_init__(self) -> None:
        _check_smoothing(self.smoothing)

    def __call__(self, release: Ints, knowledge: Samples, *, rng: np.random.Generator | None = None) -> Posterior:
        """The belief about the secret behind each output."""
        if (n_y := knowledge.n_y) is None:
            raise UnmaskError("the samples do not say how many outputs there are, and this attack counts: give n_y")
        outputs, seen = _numbers(knowledge.y, n_y, "outputs of the samples"), _numbers(release, n_y, "observations")
        distinct, observation = np.unique(seen, return_inverse=True)
        tally = csr_array((np.ones(len(knowledge)), (outputs, knowledge.x)), shape=(n_y, knowledge.n_x))
        mix = knowledge.mix
        counts = tally[distinct].toarray()
        total = counts.sum(axis=1, keepdims=True)
        s = np.where(total == 0, max(self.smoothing, 1.0), self.smoothing)
        return Posterior.from_dense(
            (counts + s * mix) / (total + s),
            prior=mix,
            observation=observation.astype(np.int64),
            status="model",
            provenance={"attack": "frequencies", "samples": len(knowledge), "smoothing": self.smoothing},
        )


@dataclass(frozen=True)
class NearestNeighborAttack:
    """Which secret produced each output, from the k samples whose outputs are nearest: p(x given y) = share of x there.

    k         : neighbors; samples that are equally far share the last places, so their order does not matter
    smoothing : imagined samples of the overall mix that are added to the k

    Called with outputs (n_targets,) or (n_targets, d), numbers with a Euclidean distance, and `Samples` of such. With k
    growing and k / n -> 0 it approaches the Bayes attacker of any channel, continuous ones included. A k-d tree of the
    distinct outputs finds the neighbors: of the order of targets x (k + log samples) in few dimensions, of targets x
    samples in many.

    Assumes: near outputs come from like secrets, and the samples came through the same channel.

    Fails when: outputs have many dimensions or unlike scales; with k = 1 it is always sure, and so announces too much.

    >>> samples = Samples(np.array([0, 0, 1]), np.array([0.0, 1.0, 5.0]), n_x=2)
    >>> belief = NearestNeighborAttack()(np.array([0.4, 4.0]), samples)
    >>> np.exp(belief.log_probability), belief.candidate
    (array([1., 1.]), array([0, 1], dtype=int32))

    C. J. Stone, "Consistent nonparametric regression", Ann. Statist. 1977; G. Cherubin, K. Chatzikokolakis,
    C. Palamidessi, "F-BLEAU: fast black-box leakage estimation", S&P 2019.
    """

    k: int = 1
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UnmaskError(f"k is {self.k}, expected at least 1")
        _check_smoothing(self.smoothing)

    def __call__(self, release: Floats, knowledge: Samples, *, rng: np.random.Generator | None = None) -> Posterior:
        """The belief about the secret behind each output."""
        samples, seen = as_points(knowledge.y), as_points(release)
        if self.k > len(samples):
            raise UnmaskError(f"k is {self.k}, expected 1 to {len(samples)}, the number of samples")
        if samples.shape[1] != seen.shape[1]:
            raise UnmaskError(f"the observations have {seen.shape[1]} coordinates, the samples {samples.shape[1]}")
        distinct, place = np.unique(samples, axis=0, return_inverse=True)
        place = place.ravel()
        votes = csr_array((np.ones(len(place)), (place, knowledge.x)), shape=(len(distinct), knowledge.n_x))
        found = _nearest(seen, distinct, np.bincount(place), self.k) @ votes
        return Posterior.from_dense(
            (found.toarray() + self.smoothing * knowledge.mix) / (self.k + self.smoothing),
            prior=knowledge.mix,
            status="model",
            provenance={"attack": "nearest neighbors", "samples": len(knowledge), "k": self.k},
        )


def _nearest(seen: Floats, distinct: Floats, weight: Ints, k: int) -> Sparse:
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


def as_points(values: Ints | Floats) -> Floats:
    """(n, d) outputs as points; numbers have d = 1."""
    points = np.asarray(values, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or not len(points) or not np.all(np.isfinite(points)):
        raise UnmaskError("the outputs must be finite numbers, (n,) or (n, coordinates), at least one")
    return points


def _numbers(values: Ints | Floats, n: int, what: str) -> Ints:
    seen = np.asarray(values)
    if seen.ndim != 1 or not len(seen) or seen.min() < 0 or seen.max() >= n:
        raise UnmaskError(f"the {what} must be output numbers 0..{n - 1}, at least one")
    return seen.astype(np.int64)


def _check_smoothing(smoothing: float) -> None:
    if not smoothing >= 0:
        raise UnmaskError(f"smoothing is {smoothing}, expected at least 0")
