"""Attacks that learn from labeled samples of a channel, and chains that are learned from labeled traces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.sparse import csr_array

from unmask.channels._matrices import Floats, Ints, Sparse
from unmask.channels.channel import Channel
from unmask.channels.hidden_markov import Chain
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.ranges import CheckedParameters, Range

MAX_NEIGHBORS = 1 << 22
"""Neighbors held at once."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Secrets and outputs that the adversary drew from the system, or from a copy of it.

    Parameters
    ----------
    x : (n_samples,) array
        Secret of each sample.
    y : (n_samples,) or (n_samples, d) array
        Its output: a number from 0, or a point.
    n_x : int
        Number of possible secrets.
    n_y : int, optional
        Number of possible outputs. Needed by attacks that count outputs.
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
    def prior(self) -> Floats:
        """Return the (n_x,) shares of the secrets in the samples."""
        return np.bincount(self.x, minlength=self.n_x) / len(self)


@dataclass(frozen=True)
class FrequencyAttack(CheckedParameters):
    """The attack by frequencies in samples: p(x given y) = (n_xy + s q_x) / (n_y + s).

    q is the prior of the samples; an output that was never seen has the belief q. The attack takes outputs (n_targets,)
    and `Samples` with a number of outputs. Status `model`.

    Assumes: the samples came through the same channel, of secrets drawn alike.

    Fails when: outputs are many and samples few: an output that was seen once is believed, and one that was never seen
    gives no information.

    Parameters
    ----------
    smoothing : float
        s, imagined samples of the prior added to each output. 0 believes the counts.

    References
    ----------
    G. Cherubin, K. Chatzikokolakis & C. Palamidessi, "F-BLEAU: fast black-box leakage estimation", S&P 2019, for
    estimates from frequencies.

    Examples
    --------
    >>> samples = Samples(np.array([0, 0, 1]), np.array([0, 0, 0]), n_x=2, n_y=2)
    >>> np.exp(FrequencyAttack(smoothing=0.0)(np.array([0, 1]), samples).log_probability).round(3)
    array([0.667, 0.333, 0.667, 0.333])
    """

    smoothing: Annotated[float, Range(0)] = 1.0

    def __call__(self, release: Ints, knowledge: Samples, *, rng: np.random.Generator | None = None) -> Posterior:
        """Return the belief about the secret of each output."""
        if (n_y := knowledge.n_y) is None:
            raise UnmaskError("the samples do not say how many outputs there are, and this attack counts: give n_y")
        sampled = _check_numbers(knowledge.y, n_y, "outputs of the samples")
        outputs = _check_numbers(release, n_y, "observations")
        distinct, observation = np.unique(outputs, return_inverse=True)
        tally = csr_array((np.ones(len(knowledge)), (sampled, knowledge.x)), shape=(n_y, knowledge.n_x))
        q = knowledge.prior
        counts = tally[distinct].toarray()
        total = counts.sum(axis=1, keepdims=True)
        s = np.where(total == 0, max(self.smoothing, 1.0), self.smoothing)
        return Posterior.from_dense(
            (counts + s * q) / (total + s),
            prior=q,
            observation=observation.astype(np.int64),
            status="model",
            provenance={"attack": "frequencies", "samples": len(knowledge), "smoothing": self.smoothing},
        )


@dataclass(frozen=True)
class NearestNeighborAttack(CheckedParameters):
    """The attack by nearest neighbors: p(x given y) is the share of x among the k samples of nearest output.

    Samples of equal distance share the last places, so their order does not matter. The attack takes outputs
    (n_targets,) or (n_targets, d) and `Samples` of such, with Euclidean distances. With k growing and k / n -> 0 it
    approaches the Bayes attack on any channel, continuous ones included. A k-d tree of the distinct outputs finds the
    neighbors: of the order of targets x (k + log samples) in few dimensions, of targets x samples in many.

    Assumes: near outputs come from like secrets, and the samples came through the same channel.

    Fails when: outputs have many dimensions or unlike scales; with k = 1 it is always sure, and so announces too much.

    Parameters
    ----------
    k : int
        Number of neighbors.
    smoothing : float
        Imagined samples of the prior added to the k.

    References
    ----------
    C. J. Stone, "Consistent nonparametric regression", Ann. Statist. 1977; G. Cherubin, K. Chatzikokolakis,
    C. Palamidessi, "F-BLEAU: fast black-box leakage estimation", S&P 2019.

    Examples
    --------
    >>> samples = Samples(np.array([0, 0, 1]), np.array([0.0, 1.0, 5.0]), n_x=2)
    >>> belief = NearestNeighborAttack()(np.array([0.4, 4.0]), samples)
    >>> np.exp(belief.log_probability), belief.candidate
    (array([1., 1.]), array([0, 1], dtype=int32))
    """

    k: Annotated[int, Range(1)] = 1
    smoothing: Annotated[float, Range(0)] = 0.0

    def __call__(self, release: Floats, knowledge: Samples, *, rng: np.random.Generator | None = None) -> Posterior:
        """Return the belief about the secret of each output."""
        samples, outputs = as_points(knowledge.y), as_points(release)
        if self.k > len(samples):
            raise UnmaskError(f"k is {self.k}, expected 1 to {len(samples)}, the number of samples")
        if samples.shape[1] != outputs.shape[1]:
            raise UnmaskError(f"the observations have {outputs.shape[1]} coordinates, the samples {samples.shape[1]}")
        distinct, number = np.unique(samples, axis=0, return_inverse=True)
        number = number.ravel()
        secrets = csr_array((np.ones(len(number)), (number, knowledge.x)), shape=(len(distinct), knowledge.n_x))
        votes = _neighbor_weights(outputs, distinct, np.bincount(number), self.k) @ secrets
        return Posterior.from_dense(
            (votes.toarray() + self.smoothing * knowledge.prior) / (self.k + self.smoothing),
            prior=knowledge.prior,
            status="model",
            provenance={"attack": "nearest neighbors", "samples": len(knowledge), "k": self.k},
        )


def learn_chain(place: Ints, shown: Ints | None, *, n_x: int, mechanism: Channel | int, pseudocount: float) -> Chain:
    """Estimate a hidden Markov model from labeled traces by counting moves, outputs and first places.

    Parameters
    ----------
    place : (n_users, n_steps) array
        Places of other users, -1 after the end of a trace.
    shown : (n_users, n_steps) array, optional
        Outputs, -1 if nothing was shown. Not needed if the mechanism is known.
    n_x : int
        Number of places.
    mechanism : Channel or int
        Mechanism that is known, or the number of outputs of one to be learned.
    pseudocount : float
        Imagined count of each move, output and first place, above 0, so that nothing is impossible.

    Returns
    -------
    Chain
        The model.

    Examples
    --------
    >>> learn_chain(np.array([[0, 0, 1]]), np.array([[0, 0, 1]]), n_x=2, mechanism=2, pseudocount=0.5).transition
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    moves, first = np.full((n_x, n_x), pseudocount), np.full(n_x, pseudocount)
    is_move = (place[:, :-1] >= 0) & (place[:, 1:] >= 0)
    np.add.at(moves, (place[:, :-1][is_move], place[:, 1:][is_move]), 1.0)
    np.add.at(first, place[place[:, 0] >= 0, 0], 1.0)
    if isinstance(mechanism, int):
        assert shown is not None
        outputs, is_shown = np.full((n_x, mechanism), pseudocount), (place >= 0) & (shown >= 0)
        np.add.at(outputs, (place[is_shown], shown[is_shown]), 1.0)
        mechanism = Channel(outputs / outputs.sum(axis=1, keepdims=True))
    initial = first / first.sum()
    return Chain(moves / moves.sum(axis=1, keepdims=True), mechanism.with_prior(initial), initial)


def _neighbor_weights(outputs: Floats, distinct: Floats, n_samples: Ints, k: int) -> Sparse:
    """Return the (n_outputs, n_distinct) weights of a sample among the k nearest; ties share the last places."""
    from scipy.spatial import KDTree  # not at the top: slow to load, and only this needs it

    tree, width = KDTree(distinct), min(k + 1, len(distinct))
    pending = np.arange(len(outputs))
    rows, columns, shares = [], [], []
    while len(pending):
        unsettled = []
        for part in np.array_split(pending, -(-len(pending) * width // MAX_NEIGHBORS)):
            distance, index = (np.reshape(table, (len(part), width)) for table in tree.query(outputs[part], k=width))
            enough = np.cumsum(n_samples[index], axis=1) >= k
            last = distance[np.arange(len(part)), enough.argmax(axis=1)][:, None]
            nearer, tied = distance < last, distance == last
            remaining = k - (n_samples[index] * nearer).sum(axis=1)
            share = nearer + tied * (remaining / np.maximum((n_samples[index] * tied).sum(axis=1), 1))[:, None]
            settled = (width == len(distinct)) | (enough[:, -1] & (distance[:, -1] > last[:, 0]))
            row, column = np.nonzero(share * settled[:, None])
            rows.append(part[row])
            columns.append(index[row, column])
            shares.append(share[row, column])
            unsettled.append(part[~settled])  # more outputs may be as far as the last one
        pending, width = np.concatenate(unsettled), min(2 * width, len(distinct))
    entry = (np.concatenate(rows), np.concatenate(columns))
    return csr_array((np.concatenate(shares), entry), shape=(len(outputs), len(distinct)))


def as_points(values: Ints | Floats) -> Floats:
    """Return outputs as (n, d) points; numbers have d = 1."""
    points = np.asarray(values, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or not len(points) or not np.all(np.isfinite(points)):
        raise UnmaskError("the outputs must be finite numbers, (n,) or (n, coordinates), at least one")
    return points


def _check_numbers(values: Ints | Floats, n: int, name: str) -> Ints:
    numbers = np.asarray(values)
    if numbers.ndim != 1 or not len(numbers) or numbers.min() < 0 or numbers.max() >= n:
        raise UnmaskError(f"the {name} must be output numbers 0..{n - 1}, at least one")
    return numbers.astype(np.int64)
