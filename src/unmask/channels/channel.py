"""A channel: how each secret is shown to the adversary, and how likely each secret was before."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from unmask.channels._beliefs import closed_belief, dense_rows, sparse_rows
from unmask.channels._matrices import (
    ROW_TOLERANCE,
    Floats,
    Ints,
    Matrix,
    as_matrix,
    check_entries,
    distribution,
    locked,
    row_products,
    scale_rows,
    stochastic,
)
from unmask.channels._refinement import degrading_matrix
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior

NEVER = float(np.finfo(np.float64).tiny)
"""Outputs that are less likely, below 3e-308, do not occur: their shares would be lost in rounding."""

LARGEST_DENSE = 200_000_000
"""Entries above which two dense channels are not multiplied out side by side: 1.6 GB."""

CACHED = 100_000
"""Entries of a block of rows that are gone through while they are in the cache."""


@dataclass(frozen=True, eq=False, init=False)
class Channel:
    """A conditional distribution p(y given x) of outputs given secrets, and the prior p(x) of the secrets.

    p_y_given_x : (n_x, n_y), dense or sparse; entries at least 0, rows sum to 1 within 1e-9, then divided by their sum.
                  Kept as a read-only float64 array or a `scipy.sparse.csr_array` without stored zeros.
    prior       : (n_x,), at least 0, sums to 1 within 1e-9; uniform when None. A secret may have prior 0, and an
                  output may have probability 0: neither appears in the posterior.
    x_labels, y_labels : names of secrets and outputs, or None
    samples     : number of draws that the matrix was counted from, see `from_counts`; None where it is known

    >>> channel = Channel(np.array([[0.75, 0.25], [0.0, 1.0]]), np.array([0.5, 0.5]))
    >>> channel.p_y
    array([0.375, 0.625])
    >>> np.exp(channel.posterior().log_probability).round(2)
    array([1. , 0.2, 0.8])

    D. Rebollo-Monedero et al., "On the measurement of privacy as an attacker's estimation error", 2012, section IV.
    """

    p_y_given_x: Matrix
    prior: Floats
    x_labels: tuple[str, ...] | None
    y_labels: tuple[str, ...] | None
    samples: int | None

    def __init__(
        self,
        p_y_given_x: ArrayLike | Matrix,
        prior: ArrayLike | None = None,
        *,
        x_labels: Sequence[str] | None = None,
        y_labels: Sequence[str] | None = None,
        samples: int | None = None,
    ) -> None:
        matrix = stochastic(p_y_given_x)
        object.__setattr__(self, "p_y_given_x", matrix)
        object.__setattr__(self, "prior", distribution(prior, matrix.shape[0]))
        object.__setattr__(self, "x_labels", _names(x_labels, matrix.shape[0], "x"))
        object.__setattr__(self, "y_labels", _names(y_labels, matrix.shape[1], "y"))
        object.__setattr__(self, "samples", samples)

    @classmethod
    def from_joint(
        cls, joint: Matrix, *, x_labels: Sequence[str] | None = None, y_labels: Sequence[str] | None = None
    ) -> Channel:
        """The channel and prior of a joint distribution p(x, y), which sums to 1 within 1e-9.

        p(x) = sum_y p(x, y) and p(y given x) = p(x, y) / p(x). A secret that never occurs has no row to divide: it is
        refused, by number. For counts see `from_counts`.

        >>> Channel.from_joint(np.array([[0.375, 0.125], [0.0, 0.5]])).prior
        array([0.5, 0.5])
        """
        table = as_matrix(joint)
        check_entries(table)
        total = float(table.sum())
        if abs(total - 1.0) > ROW_TOLERANCE:
            raise UnmaskError(
                f"the joint table sums to {total:.9g}, expected 1: use Channel.from_counts for counts, or divide it"
            )
        return _of_joint(table, x_labels=x_labels, y_labels=y_labels)

    @classmethod
    def from_counts(
        cls, counts: Matrix, *, x_labels: Sequence[str] | None = None, y_labels: Sequence[str] | None = None
    ) -> Channel:
        """The channel and prior that samples of (x, y) suggest: shares of counts, whole numbers from 0 on.

        What is counted is an estimate: its posterior has the status `model`, and what it says leaks is too much, far
        too much where cells hold few samples. See `unmask.channels.criteria.counted_information` for a corrected
        leakage and a test that there is none.

        >>> channel = Channel.from_counts(np.array([[3, 1], [0, 4]]))
        >>> channel.samples, channel.posterior().status
        (8, 'model')
        """
        table = as_matrix(counts)
        check_entries(table)
        if np.any((table if isinstance(table, np.ndarray) else table.data) % 1):
            raise UnmaskError("the table has entries that are no whole numbers, expected counts: use from_joint")
        return _of_joint(table, x_labels=x_labels, y_labels=y_labels, samples=int(table.sum()))

    @property
    def n_x(self) -> int:
        """Number of secrets."""
        return int(self.p_y_given_x.shape[0])

    @property
    def n_y(self) -> int:
        """Number of outputs."""
        return int(self.p_y_given_x.shape[1])

    @cached_property
    def p_y(self) -> Floats:
        """(n_y,) p(y) = sum_x p(x) p(y given x)."""
        p_y = np.asarray(self.p_y_given_x.T @ self.prior, dtype=np.float64)
        return locked(p_y / p_y.sum())

    @cached_property
    def observed(self) -> Ints:
        """The outputs with p(y) > 0, ascending: observation i of the posterior is output observed[i].

        Outputs whose probability is no normal number, below 3e-308, are never seen.
        """
        return locked(np.flatnonzero(self.p_y > NEVER))

    def dense(self) -> Floats:
        """(n_x, n_y) p(y given x) as a dense array, a copy when the channel is sparse."""
        matrix = self.p_y_given_x
        return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()

    def joint(self) -> Matrix:
        """(n_x, n_y) p(x, y) = p(x) p(y given x), dense or sparse like the channel."""
        return scale_rows(self.p_y_given_x, self.prior)

    def with_prior(self, prior: Floats | None) -> Channel:
        """The same channel met by an adversary with another prior; uniform when None."""
        labels = {"x_labels": self.x_labels, "y_labels": self.y_labels}
        return Channel(self.p_y_given_x, prior, **labels, samples=self.samples)

    def bayes_risk(self) -> float:
        """1 - sum_y max_x p(x) p(y given x): how often the adversary's best guess of the secret is wrong.

        What `unmask.measures.error.bayes` gives for the posterior under 0/1 loss, in float64 and without building it.

        >>> Channel(np.array([[0.75, 0.25], [0.25, 0.75]])).bayes_risk()
        0.25
        """
        best = np.zeros(self.n_y)
        matrix = self.p_y_given_x
        if not isinstance(matrix, np.ndarray):
            np.maximum.at(best, matrix.indices, scale_rows(matrix, self.prior).data)
            return float(1.0 - best.sum())
        for rows in _row_blocks(matrix):
            np.maximum(best, (matrix[rows] * self.prior[rows, None]).max(axis=0), out=best)
        return float(1.0 - best.sum())

    def mutual_information(self) -> float:
        """I(X; Y) = sum p(x) p(y given x) log2(p(y given x) / p(y)), in bits, in float64 and without a posterior.

        >>> round(Channel(np.array([[0.75, 0.25], [0.25, 0.75]])).mutual_information(), 4)
        0.1887
        """
        total, matrix = 0.0, self.p_y_given_x
        p_y = np.where(self.p_y > 0, self.p_y, 1.0)
        if not isinstance(matrix, np.ndarray):
            total = float(scale_rows(matrix, self.prior).data @ np.log(matrix.data / p_y[matrix.indices]))
            return max(total, 0.0) / math.log(2.0)
        for rows in _row_blocks(matrix):
            ratio = matrix[rows] / p_y
            log_ratio = np.log(ratio, out=ratio, where=ratio > 0)
            total += float(self.prior[rows] @ np.einsum("xy,xy->x", matrix[rows], log_ratio))
        return max(total, 0.0) / math.log(2.0)

    def posterior(self) -> Posterior:
        """What the adversary believes: p(x given y) = p(x) p(y given x) / p(y), one observation and one target for each
        output with p(y) > 0, of weight p(y), candidates the secrets with p(x given y) > 0; status `exact`, or
        `model` for a channel that was counted.

        E_Y p(x given y) = p(x), the martingale that a right posterior obeys. Observation i is output `observed[i]`.
        Held as logarithms, see `core.posterior.stored`: in single precision an entry of probability p has a relative
        error below 6e-8 (1 + |ln p|).
        """
        matrix, given = self.p_y_given_x, (self.prior, self.p_y, self.observed)
        rows = dense_rows(matrix, *given) if isinstance(matrix, np.ndarray) else sparse_rows(matrix, *given)
        weight = self.p_y[self.observed]
        samples = {} if self.samples is None else {"samples": self.samples}
        return closed_belief(
            *rows,
            self.prior,
            weight=weight / weight.sum(),
            status="exact" if self.samples is None else "model",
            provenance={"attack": "Bayes", "secrets": self.n_x, "outputs": self.n_y} | samples,
            candidate_label=self.x_labels,
        )

    def then(self, other: Channel | Matrix) -> Channel:
        """The cascade X -> Y -> Z: p(z given x) = sum_y p(y given x) p(z given y). The prior of `other` is ignored.

        >>> half = Channel(np.array([[0.75, 0.25], [0.25, 0.75]]))
        >>> half.then(half).p_y_given_x
        array([[0.625, 0.375],
               [0.375, 0.625]])
        """
        after = other if isinstance(other, Channel) else Channel(other)
        if after.n_x != self.n_y:
            raise UnmaskError(
                f"the second channel takes {after.n_x} inputs, expected the {self.n_y} outputs of the first"
            )
        product: Any = self.p_y_given_x @ after.p_y_given_x
        samples = _fewest(self, after)
        return Channel(product, self.prior, x_labels=self.x_labels, y_labels=after.y_labels, samples=samples)

    def beside(self, other: Channel) -> Channel:
        """Both outputs of one secret seen, independent given x: p(y, z given x) = p(y given x) p(z given x).

        Output (y, z) has number y * other.n_y + z. Sparse when either is. The prior of `other` is ignored.

        >>> half = Channel(np.array([[0.75, 0.25], [0.25, 0.75]]))
        >>> half.beside(half).p_y_given_x[0]
        array([0.5625, 0.1875, 0.1875, 0.0625])
        """
        if other.n_x != self.n_x:
            raise UnmaskError(f"the channels have {self.n_x} and {other.n_x} secrets, expected the same secrets")
        a, b = self.p_y_given_x, other.p_y_given_x
        product: Matrix
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            entries = self.n_x * self.n_y * other.n_y
            if entries > LARGEST_DENSE:
                raise UnmaskError(
                    f"both outputs together need {entries} entries, at most {LARGEST_DENSE} are made dense: pass one "
                    "channel as a sparse array"
                )
            product = (a[:, :, None] * b[:, None, :]).reshape(self.n_x, -1)
        else:
            product = row_products(csr_array(a), csr_array(b))
        labels = None
        if self.y_labels is not None and other.y_labels is not None:
            labels = tuple(f"{y} | {z}" for y in self.y_labels for z in other.y_labels)
        return Channel(product, self.prior, x_labels=self.x_labels, y_labels=labels, samples=_fewest(self, other))

    def refines(self, other: Channel, *, tolerance: float = 1e-9) -> bool:
        """Whether `other` is this channel with something done to its output: then, and only then, no adversary, with
        any prior and any loss, learns less from this channel than from `other`. See `degradation`.
        """
        return degradation(self, other, tolerance=tolerance) is not None

    def sample(self, x: Ints, *, rng: np.random.Generator) -> Ints:
        """One output for each secret in `x` (any shape), drawn from p(y given x).

        >>> Channel(np.eye(3)).sample(np.array([2, 0, 1]), rng=np.random.default_rng(0))
        array([2, 0, 1])
        """
        secrets = np.asarray(x)
        if secrets.size and (secrets.min() < 0 or secrets.max() >= self.n_x):
            raise UnmaskError(f"a secret to be shown is outside 0..{self.n_x - 1}")
        flat, draw = secrets.ravel(), rng.random(secrets.size)
        out = np.empty(flat.size, dtype=np.int64)
        order = np.argsort(flat, kind="stable")
        values, start = np.unique(flat[order], return_index=True)
        for value, places in zip(values, np.split(order, start[1:]), strict=True):
            outputs, probability = self._row(int(value))
            step = np.cumsum(probability)
            out[places] = outputs[np.searchsorted(step, draw[places] * step[-1], side="right")]
        return out.reshape(secrets.shape)

    def _row(self, x: int) -> tuple[Ints, Floats]:
        matrix = self.p_y_given_x
        if isinstance(matrix, np.ndarray):
            outputs = np.flatnonzero(matrix[x])
            return outputs, matrix[x, outputs]
        part = slice(matrix.indptr[x], matrix.indptr[x + 1])
        return np.asarray(matrix.indices[part], dtype=np.int64), np.asarray(matrix.data[part])


def _of_joint(
    table: Matrix, *, x_labels: Sequence[str] | None, y_labels: Sequence[str] | None, samples: int | None = None
) -> Channel:
    mass = np.asarray(table.sum(axis=1), dtype=np.float64).ravel()
    if not np.all(mass > 0):
        raise UnmaskError(f"row {np.flatnonzero(mass <= 0)[0]} of the joint table is empty: leave that secret out")
    rows = scale_rows(table, 1.0 / mass)
    return Channel(rows, mass / mass.sum(), x_labels=x_labels, y_labels=y_labels, samples=samples)


def _fewest(one: Channel, other: Channel) -> int | None:
    """The samples behind two channels together: the fewest of either, None where both are known."""
    return min((channel.samples for channel in (one, other) if channel.samples is not None), default=None)


def degradation(finer: Channel, coarser: Channel, *, tolerance: float = 1e-9) -> Channel | None:
    """What has to be done to the output of `finer` to obtain `coarser`, or None where nothing can.

    A stochastic G with P G = Q, P and Q the two channels on the same secrets; priors play no part. A G that is returned
    was multiplied out: max |P G - Q| <= tolerance. None rests on a linear program, solved to 1e-10.

    >>> fine = Channel(np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> coarse = Channel(np.array([[0.7, 0.3], [0.3, 0.7]]))
    >>> degradation(fine, coarse).p_y_given_x.round(3)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    >>> degradation(coarse, fine) is None
    True

    D. Blackwell, "Equivalent comparisons of experiments", Ann. Math. Statist. 24, 1953, theorem 6.
    """
    if finer.n_x != coarser.n_x:
        raise UnmaskError(f"the channels have {finer.n_x} and {coarser.n_x} secrets, expected the same secrets")
    G = degrading_matrix(finer.dense(), coarser.dense(), tolerance=tolerance)
    return None if G is None else Channel(G, finer.p_y, x_labels=finer.y_labels, y_labels=coarser.y_labels)


def _row_blocks(matrix: Floats) -> Iterator[slice]:
    """The rows of a matrix, some that stay in the cache at a time."""
    step = max(1, CACHED // matrix.shape[1])
    return (slice(first, first + step) for first in range(0, len(matrix), step))


def _names(given: Sequence[str] | None, size: int, letter: str) -> tuple[str, ...] | None:
    if given is not None and len(given) != size:
        raise UnmaskError(f"{letter}_labels has {len(given)} names, expected {size}: one for each {letter}")
    return None if given is None else tuple(str(name) for name in given)
