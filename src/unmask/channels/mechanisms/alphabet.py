"""Mechanisms for secrets of a finite alphabet: another value is shown with a known probability."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.sparse import csr_array

from unmask.channels._matrices import Floats, Ints, Sparse, distribution
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.ranges import CheckedParameters, Range

GUESS_TIE = 1e-12
"""Difference of expected losses, relative to the largest loss, below which guesses tie."""


@dataclass(frozen=True)
class RandomizedResponse(CheckedParameters):
    """Randomized response: the true one of n values with probability e^epsilon / (e^epsilon + n - 1), or another one.

    p(y given x) / p(y given x') <= e^epsilon, attained: the best mechanism of that epsilon under Hamming loss.

    Assumes: a person answers once, or gives the same answer again.

    Fails when: answers are drawn afresh, for epsilons add up; or a near answer would do, and `Geometric` distorts less.

    Parameters
    ----------
    epsilon : float
        Nats, at least 0 (0: no information; infinity: the truth).
    n : int
        Number of values, at least 1.

    References
    ----------
    S. L. Warner, 1965, for n = 2; P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential
    privacy", JMLR 17, 2016, section 4.

    Examples
    --------
    >>> RandomizedResponse(np.log(3), 3).channel().p_y_given_x[0]
    array([0.6, 0.2, 0.2])
    """

    epsilon: Annotated[float, Range(0)]
    n: Annotated[int, Range(1)]

    @property
    def keep(self) -> float:
        """Return the probability of the true value."""
        return 1.0 / (1.0 + (self.n - 1) * float(np.exp(-self.epsilon)))

    def channel(self, prior: Floats | None = None) -> Channel:
        """Return the exact (n, n) channel."""
        table = np.full((self.n, self.n), self.keep * float(np.exp(-self.epsilon)))
        np.fill_diagonal(table, self.keep)
        return Channel(table, prior)

    def __call__(self, population: Ints, *, rng: np.random.Generator | None = None) -> Ints:
        """Draw the value shown for each secret, numbers from 0 to n - 1."""
        rng = secret_unless(rng)
        truth = _check_values(population, self.n)
        alternative = (truth + rng.integers(1, max(self.n, 2), size=truth.shape)) % self.n
        return np.where(rng.random(truth.shape) < self.keep, truth, alternative)


@dataclass(frozen=True)
class Geometric(CheckedParameters):
    """The geometric mechanism: a number from 0 to n - 1 plus discrete Laplace noise, cut at 0 and n - 1.

    Noise p(k) = (1 - a) / (1 + a) a^|k| with a = e^-epsilon. p(y given x) / p(y given x') <= e^(epsilon |x - x'|),
    attained at both ends.

    Assumes: secrets need be hidden from those near them, and a person answers once.

    Fails when: secrets far apart must be indistinguishable, too: the bound grows with their distance.

    Parameters
    ----------
    epsilon : float
        Nats for each step, above 0 (infinity: the truth).
    n : int
        Number of values, at least 1.

    References
    ----------
    A. Ghosh, T. Roughgarden, M. Sundararajan, "Universally utility-maximizing privacy mechanisms", SIAM J. Comput. 41,
    2012, section 2.

    Examples
    --------
    >>> Geometric(np.log(2), 3).channel().p_y_given_x.round(4)
    array([[0.6667, 0.1667, 0.1667],
           [0.3333, 0.3333, 0.3333],
           [0.1667, 0.1667, 0.6667]])
    """

    epsilon: Annotated[float, Range(0, above=True)]
    n: Annotated[int, Range(1)]

    def channel(self, prior: Floats | None = None) -> Channel:
        """Return the exact (n, n) channel."""
        if self.n == 1:
            return Channel(np.ones((1, 1)), prior)
        a = float(np.exp(-self.epsilon))
        value = np.arange(self.n)
        table = a ** np.abs(np.subtract.outer(value, value)) * (1.0 - a) / (1.0 + a)
        for end in (0, self.n - 1):
            table[:, end] = a ** np.abs(value - end) / (1.0 + a)
        return Channel(table, prior)

    def __call__(self, population: Ints, *, rng: np.random.Generator | None = None) -> Ints:
        """Draw the number shown for each secret, from 0 to n - 1."""
        rng = secret_unless(rng)
        truth = _check_values(population, self.n)
        stop = -float(np.expm1(-self.epsilon))
        noise = rng.geometric(stop, size=truth.shape) - rng.geometric(stop, size=truth.shape)
        return np.clip(truth + noise, 0, self.n - 1)


@dataclass(frozen=True)
class Coin(CheckedParameters):
    """A coin: the truth with probability `keep`, else the best prior guess argmin_a sum_x p(x) d(a, x).

    With R0 the adversary's error before the release, distortion and P_avg are both (1 - keep) R0, for any loss with
    d(x, x) = 0: no channel of that distortion does better on average. But P_min is 0: every output that is not the
    guess is the truth. Guesses that tie share their probability. `unmask.channels.matched_optimum` has the proof.

    Assumes: the adversary's error on average is all that counts.

    Fails when: the worst case counts: every output but the guess is the truth, and the adversary knows it.

    Parameters
    ----------
    keep : float
        Probability of the truth.

    References
    ----------
    D. Rebollo-Monedero et al. 2012, section IV-D, for two secrets: this mechanism attains the optimum of the average
    error, with the least worst case.

    Examples
    --------
    >>> Coin(0.5).channel(np.array([0.25, 0.75])).p_y_given_x
    array([[0.5, 0.5],
           [0. , 1. ]])
    """

    keep: Annotated[float, Range(0, 1)]

    def channel(self, prior: Floats, *, loss: Floats | None = None) -> Channel:
        """Return the exact (n_x, n_x) channel.

        prior : (n_x,) p(x)
        loss : (n_x, n_x) d[answer, truth], by default Hamming, whose guess is the likeliest secret
        """
        p = distribution(prior, len(prior))
        if loss is not None and np.shape(loss) != (len(p), len(p)):
            raise UnmaskError(f"the loss has shape {np.shape(loss)}, expected answers x truths, {len(p)} of each")
        cost = 1.0 - p if loss is None else np.asarray(loss, dtype=np.float64) @ p
        if not np.all(np.isfinite(cost)):
            raise UnmaskError("the loss has entries that are not numbers, expected finite losses")
        scale = 1.0 if loss is None else float(np.max(loss))
        guess = (cost <= cost.min() + GUESS_TIE * scale).astype(np.float64)
        table = np.tile((1.0 - self.keep) * guess / guess.sum(), (len(p), 1))
        table[np.diag_indices(len(p))] += self.keep
        return Channel(table, p)

    def __call__(self, population: Ints, *, rng: np.random.Generator | None = None) -> Ints:
        """Draw the value shown for each secret, numbers from 0; the guess is the most common secret."""
        truth = _check_values(population, np.iinfo(np.int64).max)
        return self.channel(np.bincount(truth) / len(truth)).sample(truth, rng=secret_unless(rng))


@dataclass(frozen=True)
class Generalize:
    """Generalization: a deterministic channel that shows the block of the secret.

    Assumes: the values of a block are alike to everybody.

    Fails when: one value of a block is far likelier than the others, or two releases have different blocks: they
    intersect.

    Parameters
    ----------
    labels : tuple
        A label for each secret. Secrets with equal labels form a block. Blocks are numbered by first appearance.

    References
    ----------
    M. S. Alvim et al., "The science of quantitative information flow", 2020, chapter 4, for deterministic channels.

    Examples
    --------
    >>> Generalize(("young", "young", "old")).channel().p_y_given_x.toarray()
    array([[1., 0.],
           [1., 0.],
           [0., 1.]])
    """

    labels: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        if not self.labels:
            raise UnmaskError("labels is empty, expected one for each secret")

    @property
    def block(self) -> Ints:
        """Return the (n_x,) number of each secret's block."""
        number = {label: index for index, label in enumerate(dict.fromkeys(self.labels))}
        return np.array([number[label] for label in self.labels], dtype=np.int64)

    def channel(self, prior: Floats | None = None, *, x_labels: Sequence[str] | None = None) -> Channel:
        """Return the exact, sparse (n_x, n_blocks) channel; outputs have the labels as names."""
        n = len(self.labels)
        names = tuple(str(label) for label in dict.fromkeys(self.labels))
        table: Sparse = csr_array((np.ones(n), (np.arange(n), self.block)), shape=(n, len(names)))
        return Channel(table, prior, x_labels=x_labels, y_labels=names)

    def __call__(self, population: Ints, *, rng: np.random.Generator | None = None) -> Ints:
        """Return the number of the block of each secret."""
        return self.block[_check_values(population, len(self.labels))]


def _check_values(values: Ints, n: int) -> Ints:
    array = np.asarray(values)
    if not np.issubdtype(array.dtype, np.integer) or (array.size and (array.min() < 0 or array.max() >= n)):
        raise UnmaskError(f"a value to be protected is not a whole number from 0 to {n - 1}")
    return array.astype(np.int64)
