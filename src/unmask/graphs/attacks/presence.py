"""Is a person in the other graph at all: learned from seeds that were held back, and from people of whom it is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

RIDGE = 5.0
"""Of the slopes of a score."""

_LEVELS = np.linspace(0.15, 0.85, 15)


class Share(NamedTuple):
    """Which share of the people who are no seeds is in the other graph, and between what."""

    value: float
    low: float
    high: float


def scored(present: NDArray[np.float64], open_: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """The coefficients b of a score g(x) = b_0 + b.x: positive-unlabeled logistic regression, which is convex.

    Maximized is share N mean over the present of g(x) - sum over the open of log(1 + exp g(x)) - RIDGE |slopes|^2, with
    N the open ones. At the optimum the sum of sigma(g) over the open is share N.

    present, open_ : (n, n_features)
    share          : of the open ones who are present

    M. C. du Plessis, G. Niu & M. Sugiyama, "Convex formulation for learning from positive and unlabeled data", ICML
    2015.
    """
    x = np.column_stack((np.ones(len(open_)), open_))
    first = np.zeros(x.shape[1])
    first[0] = scipy.special.logit(np.clip(share, 1e-6, 1 - 1e-6))
    pull = share * len(x) * np.append(1.0, present.mean(axis=0))

    def loss(b: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        g, slopes = x @ b, np.append(0.0, b[1:])
        value = np.logaddexp(0.0, g).sum() - pull @ b + RIDGE * slopes @ slopes
        return float(value), x.T @ scipy.special.expit(g) - pull + 2 * RIDGE * slopes

    return np.asarray(scipy.optimize.minimize(loss, first, jac=True, method="L-BFGS-B").x)


def probability(b: NDArray[np.float64], features: NDArray[np.float64]) -> NDArray[np.float64]:
    """sigma(g(x)): that a person is present, if the share was right."""
    return np.asarray(scipy.special.expit(b[0] + features @ b[1:]))


def share_present(
    held: NDArray[np.float64],
    deleted: NDArray[np.float64],
    open_: Sequence[NDArray[np.float64]],
    folds: tuple[NDArray[np.int64], NDArray[np.int64]],
    *,
    most: float,
) -> Share:
    """The share of the open people who are present, from how many look as present as seeds do.

    With F1, FD, FU the shares of held seeds, deleted seeds and open people whose score (fitted to other seeds, at a
    share of one half) is at least t, nobody absent looks that present at the share FU / F1; the absent look as present
    as deleted seeds, whose friends are all there, at (FU - FD) / (F1 - FD). Named is the mean over thresholds with
    FD <= .3 F1 of the share by which half as many absent as deleted do, (FU - FD / 2) / (F1 - FD / 2), weighted by how
    sure and how far apart these are; without such a threshold that of FU / F1. The bounds are the means of both, of the
    same weights: the lower one with FD a standard error higher, that of (x + 1) / (n + 2) for x of n deleted seeds,
    which of few is large; and both a standard error of F1 wider.

    folds : of the held and of the deleted seeds, from 0 on
    open_ : of each fold, the features of the open people as its seeds have them
    most  : candidates / people: not more can be present
    """
    counted = np.sum([_reached(held, deleted, open_[k], folds, k) for k in np.unique(folds[0])], axis=0)
    many, limit = np.maximum(counted[:, 0], 1), min(1.0, most)
    f1, fd, fu = counted[:, 1:] / many[:, None]
    error, likely = np.sqrt((1 - f1) / (f1 * many[0])), (fd * many[1] + 1) / (many[1] + 2)
    most_fd = fd + np.sqrt(likely * (1 - likely) / (many[1] + 2))
    upper = np.minimum(fu / f1, limit)
    lower = np.where(f1 > most_fd, np.clip((fu - most_fd) / np.maximum(f1 - most_fd, 1e-9), 0.0, upper), 0.0)
    apart = fd <= 0.3 * f1
    middle, weight = (fu - fd / 2) / np.maximum(f1 - fd / 2, 1e-9), 1 / (error**2 + (most_fd / f1) ** 2 / 4 + 1e-9)
    if not apart.any():
        middle, weight, apart = upper, 1 / (error**2 + 1e-9), np.abs(f1 - 0.5) <= max(0.3, np.abs(f1 - 0.5).min())
    sides = lower - error * upper, middle, upper + error * upper
    means = (np.average(side[apart], weights=weight[apart]) for side in sides)
    low, value, high = (float(np.clip(mean, 0.0, limit)) for mean in means)
    return Share(value, min(low, value), max(high, value))


def _reached(
    held: NDArray[np.float64],
    deleted: NDArray[np.float64],
    open_: NDArray[np.float64],
    folds: tuple[NDArray[np.int64], NDArray[np.int64]],
    fold: int,
) -> NDArray[np.int64]:
    """(3, 1 + n_levels) held seeds, deleted seeds and open people of one fold: all of them, and those who reach the
    quantiles of its held seeds.

    Nobody is looked at by a score that was fitted to them: it tells open people from seeds by chance, too.
    """
    asked = np.arange(len(open_)) % (folds[0].max() + 1) == fold
    b = scored(held[folds[0] != fold], open_[~asked], 0.5)
    mine, gone, others = (side @ b[1:] for side in (held[folds[0] == fold], deleted[folds[1] == fold], open_[asked]))
    at = np.append(-np.inf, np.quantile(mine, _LEVELS))
    return np.array([[np.count_nonzero(side >= t) for t in at] for side in (mine, gone, others)])
