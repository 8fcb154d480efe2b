"""What did this person's own record add? A number about them, of releases with their record and without it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, tanh
from typing import Self

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.base import Measure, filed
from unmask.measures.excess import People, mean_over
from unmask.measures.interval import Interval
from unmask.measures.registry import Quantity, declare
from unmask.measures.success import log_loss_bits
from unmask.results import Row

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

ADDED = declare(
    Quantity(
        "added",
        "Added by the own record",
        "belief in the true value with the person's record in the release, less that without it",
        "probability",
        range=(-1.0, 1.0),
        source="V. Feldman & C. Zhang, NeurIPS 2020, definition 1.1",
        needs_truth=True,
    )
)


def _in_truth(belief: Posterior, truth: Truth) -> Floats:
    assert log_loss_bits.realized is not None
    return np.asarray(np.exp2(-log_loss_bits.realized(belief, truth)))


belief_in_truth = declare(
    Measure(
        "belief_in_truth",
        "Belief in the true value",
        "probability that the adversary gives to what is true",
        "probability",
        range=(0.0, 1.0),
        realized=_in_truth,
        needs_probabilities=True,
    )
)
"""The probability that the adversary gives to the true candidate, of each target."""


@dataclass(frozen=True, eq=False)
class Added:
    """A number about each of some people, as releases with their record and releases without it say: leave-one-out.

    add_t = E[b_t of a release of D] - E[b_t of a release of D without t], over the release's own randomness

    inside, outside : (n,) means over releases that a person's record is in, and is not in; nan where there is none
    error   : (n,) standard error of their difference; nan where one pair of releases does not show it
    person  : (n,) rows of the table that they are
    cluster : (n,) who shares their luck, such as the people of one box; None: nobody

    Where members and control people are drawn alike, the mean over members is the excess over control people, but for
    1 / n of a release being smaller. V. Feldman & C. Zhang, "What neural networks memorize and why", NeurIPS 2020.
    """

    inside: Floats
    outside: Floats
    error: Floats
    person: Rows
    cluster: Rows | None = None

    @classmethod
    def of(cls, value: Floats, out: NDArray[np.bool_], person: Rows, cluster: Rows | None = None) -> Self:
        """From runs. value, out : (n_runs, n) the number, and whose record was left out of the run

        The variance is v_in / n_in + v_out / n_out.

        >>> out = np.array([[True, False], [False, True], [False, False]])
        >>> Added.of(np.array([[0.2, 0.5], [0.6, 0.5], [0.8, 0.5]]), out, np.arange(2)).each
        array([0.5, 0. ])
        """
        if value.shape != out.shape or not len(value):
            raise UnmaskError(f"{value.shape} values and {out.shape} runs, expected one of each person in each run")
        sides = [_mean(value, of) for of in (~out, out)]
        error = np.sqrt(sum(side[1] for side in sides))
        return cls(sides[0][0], sides[1][0], error, person, cluster)

    @property
    def each(self) -> Floats:
        """(n,) what each record added."""
        return self.inside - self.outside

    def worst(self, n: int) -> Rows:
        """The rows of the n to whom their record added most, the first of equals.

        The largest of many noisy numbers is too large: look at those people again, in other releases.
        """
        known = np.flatnonzero(~np.isnan(self.each))
        return self.person[known[np.argsort(-self.each[known], kind="stable")[:n]]]

    def among(self, person: Rows) -> Self:
        """The same of some of the people, by their rows."""
        kept = np.isin(self.person, person)
        cluster = None if self.cluster is None else self.cluster[kept]
        return replace(
            self,
            inside=self.inside[kept],
            outside=self.outside[kept],
            error=self.error[kept],
            person=self.person[kept],
            cluster=cluster,
        )

    def mean(self) -> tuple[float, Interval]:
        """The mean over people, and Student's interval for people like these, over clusters."""
        known = ~np.isnan(self.each)
        if not known.any():
            raise UnmaskError("0 people have releases with their record and without it, expected at least 1")
        cluster = None if self.cluster is None else self.cluster[known]
        return mean_over(People(self.each[known], np.full(known.sum(), 1 / known.sum()), cluster))

    def row(self, *, release: str = "release", adversary: str = "adversary", target: str = "value") -> Row:
        """The mean, its interval, quantiles over people, and the most that was added to anybody."""
        (mean, interval), each = self.mean(), self.each[~np.isnan(self.each)]
        at = int(np.argmax(each))
        return filed(
            ADDED,
            (0.0, mean),
            interval,
            (each, np.full(len(each), 1 / len(each))),
            n=len(each),
            n_observations=len(each),
            worst=float(each[at]),
            worst_observation=at,
            names=(release, adversary, target, f"with the record {np.nanmean(self.inside):.3f}, on average"),
        )


def _mean(value: Floats, of: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """(n,) the mean over runs of each, and its variance; nan of nobody, and of one run."""
    n = of.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(of, value, 0.0).sum(axis=0) / n
        square = (np.where(of, value - mean, 0.0) ** 2).sum(axis=0)
        return mean, square / ((n - 1) * n)


def most_added(epsilon: float, inside: float | None = None) -> float:
    """The most that a record can add through a release that is epsilon-private, when records are added or removed.

    e^-eps <= E b(with) / E b(without) <= e^eps for a belief b and for 1 - b, so that add <= tanh(eps / 2), and
    add <= (1 - e^-eps) E b(with). A larger number that was measured refutes the promise.

    inside : E b(with), where that is known

    >>> round(most_added(1.0), 3), round(most_added(1.0, 0.2), 3)
    (0.462, 0.126)
    """
    if epsilon < 0:
        raise UnmaskError(f"epsilon is {epsilon}, expected at least 0")
    return min(tanh(epsilon / 2), 1.0 if inside is None else (1 - exp(-epsilon)) * inside)
