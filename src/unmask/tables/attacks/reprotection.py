"""How likely each nearby record is somebody's, learned by protecting other people again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.tables.attacks.pairing import CHUNK, Pairing, Same, fits_of, pair
from unmask.tables.column import Column
from unmask.tables.table import Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEAREST = 15
"""Classes of released rows that may be somebody's, at most."""

RUNS = 3
"""Times that people in general are protected."""

SMALLEST = 1e-3
"""Distance, in standard deviations, below which two are in one place."""


class Near(NamedTuple):
    """The classes of released rows nearest to each person, nearest first, and how they lie.

    klass    : (n_people, NEAREST) classes; possible : which of them are, of somebody whom fewer fit
    features : (n_people, NEAREST, 5) -d, -d / gap, -ln d, whether it is the nearest, ln gap; d the distance of the
               class, gap that of the class from the next one
    log_size : (n_people, NEAREST) logarithm of the rows of the class
    """

    klass: Ints
    possible: NDArray[np.bool_]
    features: Floats
    log_size: Floats


def nearest(
    protection: Any, pairing: Pairing, known: NDArray[np.int32], unknown: NDArray[np.bool_], like: Table
) -> Near:
    """By the protection's `coordinates`, in which the distance is Euclid's; cells of other columns must agree. What is
    not known of somebody has no part in their distances.

    known : (n_people, d) codes; unknown : (n_people, d) which of them are not
    """
    columns = [(*both, like.column(both[1].name), pairing.classes[:, j]) for j, both in enumerate(pairing.columns)]
    away, found = [_away(protection, *column) for column in columns], []
    for part in _chunks(len(known), len(pairing.sizes)):
        d = np.zeros((len(known[part]), len(pairing.sizes)))
        for j, one in enumerate(away):
            d += np.where(unknown[part, j][:, None], 0.0, one(known[part, j]))
        found.append(_closest(np.sqrt(d)))
    klass, distance = np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])
    lines = [(protection.coordinates(shown, like=general), codes) for _, shown, general, codes in columns]
    gap = _gaps([line[codes] for line, codes in lines if line is not None], len(pairing.sizes))
    return _described(klass, distance, gap, np.log(pairing.sizes))


def _described(klass: Ints, d: Floats, gap: Floats, log_size: Floats) -> Near:
    possible = np.isfinite(d)
    d = np.maximum(np.where(possible, d, 1.0), SMALLEST)
    first = np.broadcast_to(np.arange(d.shape[1]) == 0, d.shape)
    features = np.stack([-d, -d / gap[klass], -np.log(d), first, np.log(gap[klass])], axis=2)
    return Near(klass, possible, features, log_size[klass])


def _gaps(lines: list[Floats], n: int) -> Floats:
    """(n,) distance of the place of each class from the next other place; 1 where there is none."""
    places, of = np.unique(np.stack([*lines, np.zeros(n)], axis=1), axis=0, return_inverse=True)
    if len(places) == 1:
        return np.ones(n)
    next_one = np.asarray(scipy.spatial.KDTree(places).query(places, 2)[0], dtype=np.float64)[:, 1]
    return np.maximum(next_one, SMALLEST)[of.reshape(-1)]


def _chunks(n: int, width: int) -> Iterator[slice]:
    step = max(1, CHUNK // width)
    return (slice(start, start + step) for start in range(0, n, step))


def _away(
    protection: Any, mine: Column, shown: Column, general: Column, theirs: NDArray[np.int32]
) -> Callable[[NDArray[np.int32]], Floats]:
    """From codes of known cells to (n, J) squared distances from those of each class; 0 or infinite where cells must
    agree.
    """
    place, other = (protection.coordinates(column, like=general) for column in (mine, shown))
    if place is not None:
        return lambda codes: np.asarray((place[codes][:, None] - other[theirs]) ** 2)
    (fit,) = fits_of([(mine, shown)], missing="own")
    if isinstance(fit, Same):
        return lambda codes: np.where(fit.meets(codes[:, None], theirs), 0.0, np.inf)
    return lambda codes: np.where(fit[codes][:, theirs], 0.0, np.inf)


def _closest(d: Floats) -> tuple[Ints, Floats]:
    """(n, NEAREST) the nearest, in order, and how far they are; classes of infinite distance fill up."""
    n = min(NEAREST, d.shape[1])
    some = np.argpartition(d, n - 1, axis=1)[:, :n]
    some = np.take_along_axis(some, np.argsort(np.take_along_axis(d, some, axis=1), axis=1, kind="stable"), axis=1)
    return some, np.take_along_axis(d, some, axis=1)


def learned(
    protection: Any, pairing: Pairing, unknown: NDArray[np.bool_], population: Table, rng: np.random.Generator
) -> tuple[Floats, float]:
    """The weights of the features by which a class is somebody's, and the share of people whose class is none of the
    nearest: of people in general, protected again, as many as were released.

    unknown : (n, d) which cells are not known, of people like whom the others are known
    """
    runs = []
    for _ in range(RUNS):
        again = _again(protection, pairing, population, rng)
        known = again.observed[again.observation]
        near = nearest(protection, again, known, unknown[rng.integers(len(unknown), size=len(known))], population)
        runs.append((*near, near.possible & (near.klass == again.klass[:, None])))
    width = min(part[0].shape[1] for part in runs)
    *parts, own = (np.concatenate([one[:, :width] for one in part]) for part in zip(*runs, strict=True))
    missed = float(np.count_nonzero(~own.any(axis=1)) + 0.5) / (len(own) + 1)
    return conditional_logit(Near(*parts), own), missed


def _again(protection: Any, pairing: Pairing, population: Table, rng: np.random.Generator) -> Pairing:
    """As many people in general as were released, known as those looked for are, and what is released of them, row by
    row.
    """
    some = rng.choice(population.n_rows, min(pairing.n_candidates, population.n_rows), replace=False)
    release, origin = protection(population.take(some), rng=rng)
    people = population.take(some[origin])
    columns = tuple(people.column(shown.name) for _, shown in pairing.columns)
    return pair(replace(people, quasi_identifiers=columns, sensitive=(), kept=()), release)


def log_shares(near: Near, weights: Floats) -> Floats:
    """(n_people, NEAREST) logarithm of p(class), proportional to its rows times exp(features . weights)."""
    value = np.where(near.possible, near.features @ weights + near.log_size, -np.inf)
    top = value.max(axis=1, keepdims=True)
    value = value - np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # of somebody whom nothing fits
        return np.asarray(value - np.log(np.exp(value).sum(axis=1, keepdims=True)))


def conditional_logit(near: Near, own: NDArray[np.bool_]) -> Floats:
    """(n_features,) the weights by which people's own classes are most likely, by Newton's method; people without one
    are left out. A ridge of weight 1 keeps it finite.

    own : (n_people, NEAREST) which class is theirs

    D. McFadden, "Conditional logit analysis of qualitative choice behavior", 1974.
    """
    asked = np.asarray(own.any(axis=1))
    near, own = _taken(near, asked), own[asked]
    weights, chosen = np.zeros(near.features.shape[2]), near.features[own].sum(axis=0)
    for _ in range(50):
        p = np.exp(log_shares(near, weights))
        mean = np.einsum("ij,ijf->if", p, near.features)
        square = np.einsum("ijf,ijg->fg", p[:, :, None] * near.features, near.features, optimize=True)
        step = np.linalg.solve(square - mean.T @ mean + np.eye(len(weights)), chosen - mean.sum(axis=0) - weights)
        before = _fitted(near, own, weights)
        while _fitted(near, own, weights + step) < before and np.abs(step).max() > 1e-6:
            step = step / 2
        weights = weights + step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def _taken(near: Near, who: NDArray[np.bool_]) -> Near:
    return Near(near.klass[who], near.possible[who], near.features[who], near.log_size[who])


def _fitted(near: Near, own: NDArray[np.bool_], weights: Floats) -> float:
    return float(log_shares(near, weights)[own].sum() - weights @ weights / 2)
