"""Channels: the probability of each output given each secret, and the prior of the secrets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from unmask.channels._beliefs import closed_belief, list_dense_rows, list_sparse_rows
from unmask.channels._matrices import (
    ROW_TOLERANCE,
    Floats,
    Ints,
    Matrix,
    as_matrix,
    check_entries,
    distribution,
    lock,
    row_products,
    scale_rows,
    stochastic,
)
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior

MIN_OUTPUT_PROBABILITY = float(np.finfo(np.float64).tiny)
"""Outputs of less probability, 3e-308, do not occur: their shares would be lost in rounding."""

MAX_DENSE_ENTRIES = 200_000_000
"""Entries up to which two dense channels are multiplied out: 1.6 GB."""

CACHED_ENTRIES = 100_000
"""Entries of a block of rows that stays in the cache."""


@dataclass(frozen=True, eq=False, init=False)
class Channel:
    """A conditional distribution p(y given x) of outputs given secrets, and the prior p(x) of the secrets.

    A secret may have prior 0, and an output may have probability 0. Neither appears in the posterior.

    Parameters
    ----------
    p_y_given_x : (n_x, n_y) array, dense or sparse
        Entries at least 0. Rows sum to 1 within 1e-9 and are divided by their sum. Stored as a read-only float64 array
        or a `scipy.sparse.csr_array` without stored zeros.
    prior : (n_x,) array, optional
        p(x), at least 0, sums to 1 within 1e-9. Uniform by default.
    x_labels, y_labels : sequence of str, optional
        Names of secrets and outputs.
    samples : int, optional
        Number of draws that the matrix was counted from, see `from_counts`.

    References
    ----------
    D. Rebollo-Monedero et al., "On the measurement of privacy as an attacker's estimation error", 2012, section IV.

    Examples
    --------
    >>> channel = Channel(np.array([[0.75, 0.25], [0.0, 1.0]]), np.array([0.5, 0.5]))
    >>> channel.p_y
    array([0.375, 0.625])
    >>> np.exp(channel.posterior().log_probability).round(2)
    array([1. , 0.2, 0.8])
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
        object.__setattr__(self, "x_labels", _check_labels(x_labels, matrix.shape[0], "x"))
        object.__setattr__(self, "y_labels", _check_labels(y_labels, matrix.shape[1], "y"))
        object.__setattr__(self, "samples", samples)

    @classmethod
    def from_joint(
        cls, joint: Matrix, *, x_labels: Sequence[str] | None = None, y_labels: Sequence[str] | None = None
    ) -> Channel:
        """Make a channel and a prior from a joint distribution p(x, y), which sums to 1 within 1e-9.

        p(x) = sum_y p(x, y) and p(y given x) = p(x, y) / p(x). A secret that never occurs raises an error. For counts
        see `from_counts`.

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
        return _from_table(table, x_labels=x_labels, y_labels=y_labels)

    @classmethod
    def from_counts(
        cls, counts: Matrix, *, x_labels: Sequence[str] | None = None, y_labels: Sequence[str] | None = None
    ) -> Channel:
        """Estimate a channel and a prior from counts of samples (x, y).

        The posterior has the status `model`. Its leakage is too large, far too large if cells hold few samples. See
        `unmask.channels.criteria.counted_information` for a corrected leakage and a test that nothing leaks.

        >>> channel = Channel.from_counts(np.array([[3, 1], [0, 4]]))
        >>> channel.samples, channel.posterior().status
        (8, 'model')
        """
        table = as_matrix(counts)
        check_entries(table)
        if np.any((table if isinstance(table, np.ndarray) else table.data) % 1):
            raise UnmaskError("the table has entries that are no whole numbers, expected counts: use from_joint")
        return _from_table(table, x_labels=x_labels, y_labels=y_labels, samples=int(table.sum()))

    @property
    def n_x(self) -> int:
        """Return the number of secrets."""
        return int(self.p_y_given_x.shape[0])

    @property
    def n_y(self) -> int:
        """Return the number of outputs."""
        return int(self.p_y_given_x.shape[1])

    @cached_property
    def p_y(self) -> Floats:
        """Return the (n_y,) probabilities p(y) = sum_x p(x) p(y given x)."""
        p_y = np.asarray(self.p_y_given_x.T @ self.prior, dtype=np.float64)
        return lock(p_y / p_y.sum())

    @cached_property
    def observed(self) -> Ints:
        """Return the outputs that occur, ascending: observation i of the posterior is output observed[i]."""
        return lock(np.flatnonzero(self.p_y > MIN_OUTPUT_PROBABILITY))

    def dense(self) -> Floats:
        """Return the (n_x, n_y) matrix as a dense array, a copy if the channel is sparse."""
        matrix = self.p_y_given_x
        return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()

    def joint(self) -> Matrix:
        """Return the (n_x, n_y) joint p(x, y) = p(x) p(y given x), dense or sparse like the channel."""
        return scale_rows(self.p_y_given_x, self.prior)

    def with_prior(self, prior: Floats | None) -> Channel:
        """Return the channel with another prior, uniform if None."""
        labels = {"x_labels": self.x_labels, "y_labels": self.y_labels}
        return Channel(self.p_y_given_x, prior, **labels, samples=self.samples)

    def bayes_risk(self) -> float:
        """Return 1 - sum_y max_x p(x) p(y given x), the error probability of the adversary's best guess.

        It equals `unmask.measures.error.bayes` of the posterior under 0/1 loss, in float64 and without the posterior.

        >>> Channel(np.array([[0.75, 0.25], [0.25, 0.75]])).bayes_risk()
        0.25
        """
        largest = np.zeros(self.n_y)
        matrix = self.p_y_given_x
        if not isinstance(matrix, np.ndarray):
            np.maximum.at(largest, matrix.indices, scale_rows(matrix, self.prior).data)
            return float(1.0 - largest.sum())
        for rows in _row_blocks(matrix):
            np.maximum(largest, (matrix[rows] * self.prior[rows, None]).max(axis=0), out=largest)
        return float(1.0 - largest.sum())

    def mutual_information(self) -> float:
        """Return I(X; Y) = sum p(x) p(y given x) log2(p(y given x) / p(y)) in bits, without a posterior.

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
        """Compute the adversary's belief p(x given y) = p(x) p(y given x) / p(y).

        The posterior has one observation and one target of weight p(y) for each output of `observed`. Candidates are
        the secrets with p(x given y) > 0. The status is `exact`, or `model` for a channel that was counted.
        E_Y p(x given y) = p(x). Logarithms in single precision, see `unmask.core.posterior.stored`, give an entry of
        probability p a relative error below 6e-8 (1 + |ln p|).
        """
        matrix, terms = self.p_y_given_x, (self.prior, self.p_y, self.observed)
        rows = list_dense_rows(matrix, *terms) if isinstance(matrix, np.ndarray) else list_sparse_rows(matrix, *terms)
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
        """Return the cascade p(z given x) = sum_y p(y given x) p(z given y). The prior of `other` is ignored.

        >>> half = Channel(np.array([[0.75, 0.25], [0.25, 0.75]]))
        >>> half.then(half).p_y_given_x
        array([[0.625, 0.375],
               [0.375, 0.625]])
        """
        second = other if isinstance(other, Channel) else Channel(other)
        if second.n_x != self.n_y:
            raise UnmaskError(
                f"the second channel takes {second.n_x} inputs, expected the {self.n_y} outputs of the first"
            )
        product: Any = self.p_y_given_x @ second.p_y_given_x
        samples = _fewest_samples(self, second)
        return Channel(product, self.prior, x_labels=self.x_labels, y_labels=second.y_labels, samples=samples)

    def parallel(self, other: Channel) -> Channel:
        """Return the channel of both outputs, independent given x: p(y, z given x) = p(y given x) p(z given x).

        Output (y, z) has number y * other.n_y + z. Sparse if either channel is. The prior of `other` is ignored.

        >>> half = Channel(np.array([[0.75, 0.25], [0.25, 0.75]]))
        >>> half.parallel(half).p_y_given_x[0]
        array([0.5625, 0.1875, 0.1875, 0.0625])
        """
        if other.n_x != self.n_x:
            raise UnmaskError(f"the channels have {self.n_x} and {other.n_x} secrets, expected the same secrets")
        a, b = self.p_y_given_x, other.p_y_given_x
        product: Matrix
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            entries = self.n_x * self.n_y * other.n_y
            if entries > MAX_DENSE_ENTRIES:
                raise UnmaskError(
                    f"both outputs together need {entries} entries, at most {MAX_DENSE_ENTRIES} are made dense: pass "
                    "one channel as a sparse array"
                )
            product = (a[:, :, None] * b[:, None, :]).reshape(self.n_x, -1)
        else:
            product = row_products(csr_array(a), csr_array(b))
        labels = None
        if self.y_labels is not None and other.y_labels is not None:
            labels = tuple(f"{y} | {z}" for y in self.y_labels for z in other.y_labels)
        return Channel(
            product, self.prior, x_labels=self.x_labels, y_labels=labels, samples=_fewest_samples(self, other)
        )

    def sample(self, x: Ints, *, rng: np.random.Generator) -> Ints:
        """Draw an output for each secret in `x` (any shape) from p(y given x).

        >>> Channel(np.eye(3)).sample(np.array([2, 0, 1]), rng=np.random.default_rng(0))
        array([2, 0, 1])
        """
        secrets = np.asarray(x)
        if secrets.size and (secrets.min() < 0 or secrets.max() >= self.n_x):
            raise UnmaskError(f"a secret to be shown is outside 0..{self.n_x - 1}")
        flat, draw = secrets.ravel(), rng.random(secrets.size)
        sampled = np.empty(flat.size, dtype=np.int64)
        order = np.argsort(flat, kind="stable")
        values, start = np.unique(flat[order], return_index=True)
        for value, places in zip(values, np.split(order, start[1:]), strict=True):
            outputs, probability = self._row(int(value))
            step = np.cumsum(probability)
            sampled[places] = outputs[np.searchsorted(step, draw[places] * step[-1], side="right")]
        return sampled.reshape(secrets.shape)

    def _row(self, x: int) -> tuple[Ints, Floats]:
        matrix = self.p_y_given_x
        if isinstance(matrix, np.ndarray):
            outputs = np.flatnonzero(matrix[x])
            return outputs, matrix[x, outputs]
        part = slice(matrix.indptr[x], matrix.indptr[x + 1])
        return np.asarray(matrix.indices[part], dtype=np.int64), np.asarray(matrix.data[part])


def _from_table(
    table: Matrix, *, x_labels: Sequence[str] | None, y_labels: Sequence[str] | None, samples: int | None = None
) -> Channel:
    mass = np.asarray(table.sum(axis=1), dtype=np.float64).ravel()
    if not np.all(mass > 0):
        raise UnmaskError(f"row {np.flatnonzero(mass <= 0)[0]} of the joint table is empty: leave that secret out")
    rows = scale_rows(table, 1.0 / mass)
    return Channel(rows, mass / mass.sum(), x_labels=x_labels, y_labels=y_labels, samples=samples)


def _fewest_samples(*channels: Channel) -> int | None:
    return min((channel.samples for channel in channels if channel.samples is not None), default=None)


def _row_blocks(matrix: Floats) -> Iterator[slice]:
    """Return blocks of rows that stay in the cache."""
    step = max(1, CACHED_ENTRIES // matrix.shape[1])
    return (slice(first, first + step) for first in range(0, len(matrix), step))


def _check_labels(labels: Sequence[str] | None, size: int, letter: str) -> tuple[str, ...] | None:
    if labels is not None and len(labels) != size:
        raise UnmaskError(f"{letter}_labels has {len(labels)} names, expected {size}: one for each {letter}")
    return None if labels is None else tuple(str(label) for label in labels)


def check_outputs(outputs: Ints, n_y: int) -> None:
    """Raise an error if observations, (targets, ...), are not output numbers."""
    if not np.issubdtype(outputs.dtype, np.integer):
        raise UnmaskError(f"the observations are of type {outputs.dtype}, expected output numbers, 0..{n_y - 1}")
    invalid = np.flatnonzero(((outputs < 0) | (outputs >= n_y)).reshape(len(outputs), -1).any(axis=1))
    if invalid.size:
        raise UnmaskError(f"target {invalid[0]} shows an output outside 0..{n_y - 1}, the outputs of the channel")
