"""Probabilities of nearby records, learned by protecting other people again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.tables.attacks.pairing import CHUNK, EqualValues, Pairing, compare_levels, pair
from unmask.tables.column import Column
from unmask.tables.table import Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_NEAREST = 15
"""Largest number of classes of released rows that may be a person's."""

N_RUNS = 3
"""Times that people in general are protected."""

MIN_DISTANCE = 1e-3
"""Distance, in standard deviations, below which two are in one place."""


class Near(NamedTuple):
    """The classes of released rows nearest to each person, nearest first, and how they lie.

    klass    : (n_people, N_NEAREST) classes; possible : which of them are, for a person that fewer fit
    features : (n_people, N_NEAREST, 5) -d, -d / gap, -ln d, whether it is the nearest, ln gap; d the distance of the
               class, gap that of the class from the next one
    log_size : (n_people, N_NEAREST) logarithm of the rows of the class
    """

    klass: Ints
    possible: NDArray[np.bool_]
    features: Floats
    log_size: Floats


def find_nearest(
    protection: Any, pairing: Pairing, cells: NDArray[np.int32], unknown: NDArray[np.bool_], like: Table
) -> Near:
    """Find the nearest classes by the protection's `coordinates`, in Euclidean distance; cells of other columns must
    agree. Unknown cells of a person do not count.

    cells : (n_people, d) codes; unknown : (n_people, d) which of them are not
    """
    columns = [(*sides, like.column(sides[1].name), pairing.classes[:, j]) for j, sides in enumerate(pairing.columns)]
    away, chunks = [_away(protection, *column) for column in columns], []
    for part in _chunks(len(cells), len(pairing.sizes)):
        d = np.zeros((len(cells[part]), len(pairing.sizes)))
        for j, item in enumerate(away):
            d += np.where(unknown[part, j][:, None], 0.0, item(cells[part, j]))
        chunks.append(_closest(np.sqrt(d)))
    klass, distance = np.concatenate([item for item, _ in chunks]), np.concatenate([item for _, item in chunks])
    lines = [
        (protection.coordinates(released_column, like=general), codes) for _, released_column, general, codes in columns
    ]
    gap = _gaps([line[codes] for line, codes in lines if line is not None], len(pairing.sizes))
    return _described(klass, distance, gap, np.log(pairing.sizes))


def _described(klass: Ints, d: Floats, gap: Floats, log_size: Floats) -> Near:
    possible = np.isfinite(d)
    d = np.maximum(np.where(possible, d, 1.0), MIN_DISTANCE)
    first = np.broadcast_to(np.arange(d.shape[1]) == 0, d.shape)
    features = np.stack([-d, -d / gap[klass], -np.log(d), first, np.log(gap[klass])], axis=2)
    return Near(klass, possible, features, log_size[klass])


def _gaps(lines: list[Floats], n: int) -> Floats:
    """Return (n,) distance of the place of each class from the next other place; 1 if there is no other."""
    places, place_of_class = np.unique(np.stack([*lines, np.zeros(n)], axis=1), axis=0, return_inverse=True)
    if len(places) == 1:
        return np.ones(n)
    next_one = np.asarray(scipy.spatial.KDTree(places).query(places, 2)[0], dtype=np.float64)[:, 1]
    return np.maximum(next_one, MIN_DISTANCE)[place_of_class.reshape(-1)]


def _chunks(n: int, width: int) -> Iterator[slice]:
    step = max(1, CHUNK // width)
    return (slice(start, start + step) for start in range(0, n, step))


def _away(
    protection: Any, mine: Column, released_column: Column, general: Column, theirs: NDArray[np.int32]
) -> Callable[[NDArray[np.int32]], Floats]:
    """Return a function from known cells to (n, J) squared distances of the classes, infinite for cells that differ."""
    place, released_place = (protection.coordinates(column, like=general) for column in (mine, released_column))
    if place is not None:
        return lambda codes: np.asarray((place[codes][:, None] - released_place[theirs]) ** 2)
    (fit,) = compare_levels([(mine, released_column)], missing="own")
    if isinstance(fit, EqualValues):
        return lambda codes: np.where(fit.are_compatible(codes[:, None], theirs), 0.0, np.inf)
    return lambda codes: np.where(fit[codes][:, theirs], 0.0, np.inf)


def _closest(d: Floats) -> tuple[Ints, Floats]:
    """Return (n, N_NEAREST) the nearest, in order, and how far they are; classes of infinite distance fill up."""
    n = min(N_NEAREST, d.shape[1])
    classes = np.argpartition(d, n - 1, axis=1)[:, :n]
    classes = np.take_along_axis(
        classes, np.argsort(np.take_along_axis(d, classes, axis=1), axis=1, kind="stable"), axis=1
    )
    return classes, np.take_along_axis(d, classes, axis=1)


def learn_weights(
    protection: Any, pairing: Pairing, unknown: NDArray[np.bool_], population: Table, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Return the weights of the features of a person's own class, and the share of people without it among the nearest.

    Both are learned from people in general who are protected again, as many as were released.

    unknown : (n, d) which cells are not known, of people who are known like the others
    """
    runs = []
    for _ in range(N_RUNS):
        again = _again(protection, pairing, population, rng)
        cells = again.observed[again.observation]
        near = find_nearest(protection, again, cells, unknown[rng.integers(len(unknown), size=len(cells))], population)
        runs.append((*near, near.possible & (near.klass == again.klass[:, None])))
    width = min(part[0].shape[1] for part in runs)
    *parts, is_own = (np.concatenate([run[:, :width] for run in part]) for part in zip(*runs, strict=True))
    missed = float(np.count_nonzero(~is_own.any(axis=1)) + 0.5) / (len(is_own) + 1)
    return conditional_logit(Near(*parts), is_own), missed


def _again(protection: Any, pairing: Pairing, population: Table, rng: np.random.Generator) -> Pairing:
    """Protect as many people in general as were released, and pair them with their release."""
    rows = rng.choice(population.n_rows, min(pairing.n_candidates, population.n_rows), replace=False)
    release, origin = protection(population.take(rows), rng=rng)
    people = population.take(rows[origin])
    columns = tuple(people.column(released_column.name) for _, released_column in pairing.columns)
    return pair(replace(people, quasi_identifiers=columns, sensitive=(), kept=()), release)


def log_shares(near: Near, weights: Floats) -> Floats:
    """Return (n_people, N_NEAREST) logarithm of p(class), proportional to its rows times exp(features . weights)."""
    value = np.where(near.possible, near.features @ weights + near.log_size, -np.inf)
    top = value.max(axis=1, keepdims=True)
    value = value - np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # of somebody whom nothing fits
        return np.asarray(value - np.log(np.exp(value).sum(axis=1, keepdims=True)))


def conditional_logit(near: Near, is_own: NDArray[np.bool_]) -> Floats:
    """Return (n_features,) the weights by which people's own classes are most likely, by Newton's method; people
    without one are left out. A ridge of weight 1 keeps it finite.

    is_own : (n_people, N_NEAREST) which class is theirs

    D. McFadden, "Conditional logit analysis of qualitative choice behavior", 1974.
    """
    has_class = np.asarray(is_own.any(axis=1))
    near, is_own = _select_people(near, has_class), is_own[has_class]
    weights, chosen = np.zeros(near.features.shape[2]), near.features[is_own].sum(axis=0)
    for _ in range(50):
        p = np.exp(log_shares(near, weights))
        mean = np.einsum("ij,ijf->if", p, near.features)
        square = np.einsum("ijf,ijg->fg", p[:, :, None] * near.features, near.features, optimize=True)
        step = np.linalg.solve(square - mean.T @ mean + np.eye(len(weights)), chosen - mean.sum(axis=0) - weights)
        previous = _fitted(near, is_own, weights)
        while _fitted(near, is_own, weights + step) < previous and np.abs(step).max() > 1e-6:
            step = step / 2
        weights = weights + step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def _select_people(near: Near, people: NDArray[np.bool_]) -> Near:
    return Near(near.klass[people], near.possible[people], near.features[people], near.log_size[people])


def _fitted(near: Near, is_own: NDArray[np.bool_], weights: Floats) -> float:
    return float(log_shares(near, weights)[is_own].sum() - weights @ weights / 2)
