"""Linkage of groups of similar records: the adversary learns the probabilities by protecting other people again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.tables.attacks.comparisons import compare_levels
from unmask.tables.attacks.pairing import CHUNK, Pairing, pair
from unmask.tables.column import Column
from unmask.tables.table import Table

N_NEAREST = 15
"""Largest number of candidate classes of a person."""

N_RUNS = 3
"""Number of times that people in general are protected again."""

MIN_DISTANCE = 1e-3
"""Distances below this value, in standard deviations, count as this value."""


class NearestClasses(NamedTuple):
    """Nearest classes of released rows for each person, and their features.

    klass    : (n_people, n_nearest) classes, nearest first; n_nearest is at most N_NEAREST
    possible : (n_people, n_nearest) False where a person has fewer compatible classes
    features : (n_people, n_nearest, 5) -d, -d / gap, -ln d, 1 for the nearest class, ln gap. d is the distance of the
        class from the person, and gap is its distance from the next class
    log_size : (n_people, n_nearest) logarithm of the number of rows in the class
    """

    klass: Integers
    possible: Booleans
    features: Floats
    log_size: Floats


def find_nearest(
    protection: Any, pairing: Pairing, cells: NDArray[np.int32], unknown: Booleans, like: Table
) -> NearestClasses:
    """Find the nearest classes by the protection's distance: the `norm` of the differences of its `coordinates`.

    Columns that are not aggregated must be compatible. Of aggregated columns without coordinates, incompatible cells
    have the distance 1. Unknown cells of a person are ignored.

    cells   : (n_people, d) codes
    unknown : (n_people, d) mask of the unknown cells
    like    : people in general, who set the scale of the coordinates
    """
    columns = [(*sides, like.column(sides[1].name), pairing.classes[:, j]) for j, sides in enumerate(pairing.columns)]
    distance_functions, chunks = [_distance_function(protection, *column) for column in columns], []
    for part in _chunks(len(cells), len(pairing.sizes)):
        d = np.zeros((len(cells[part]), len(pairing.sizes)))
        for j, item in enumerate(distance_functions):
            d += np.where(unknown[part, j][:, None], 0.0, item(cells[part, j]))
        chunks.append(_select_nearest(d ** (1 / protection.norm)))
    klass, distance = np.concatenate([item for item, _ in chunks]), np.concatenate([item for _, item in chunks])
    aggregated = [column[1:] for column in columns if protection.is_aggregated(column[1])]
    gap = _distances_to_next_class(protection, aggregated, len(pairing.sizes))
    return _make_features(klass, distance, gap, np.log(pairing.sizes))


def _make_features(klass: Integers, d: Floats, gap: Floats, log_size: Floats) -> NearestClasses:
    possible = np.isfinite(d)
    d = np.maximum(np.where(possible, d, 1.0), MIN_DISTANCE)
    first = np.broadcast_to(np.arange(d.shape[1]) == 0, d.shape)
    features = np.stack([-d, -d / gap[klass], -np.log(d), first, np.log(gap[klass])], axis=2)
    return NearestClasses(klass, possible, features, log_size[klass])


def _distances_to_next_class(
    protection: Any, columns: list[tuple[Column, Column, NDArray[np.int32]]], n: int
) -> Floats:
    """Return (n,) distance of each class from the nearest class at another position; 1 without another position.

    columns : aggregated released column, its column of people in general, and the code of each class
    """
    gap = np.empty(n)
    for part in _chunks(n, n):
        d = np.zeros((len(gap[part]), n))
        for released, general, codes in columns:
            d += _distance_function(protection, released, released, general, codes)(codes[part])
        gap[part] = np.where(d > 0, d, np.inf).min(axis=1) ** (1 / protection.norm)
    return np.where(np.isfinite(gap), np.maximum(gap, MIN_DISTANCE), 1.0)


def _chunks(n: int, width: int) -> Iterator[slice]:
    step = max(1, CHUNK // width)
    return (slice(start, start + step) for start in range(0, n, step))


def _distance_function(
    protection: Any, known_column: Column, released_column: Column, general: Column, class_codes: NDArray[np.int32]
) -> Callable[[NDArray[np.int32]], Floats]:
    """Return a function from known cells to (n, J) distances of the classes, to the power of the norm."""
    place, released_place = (protection.coordinates(column, like=general) for column in (known_column, released_column))
    if place is not None:
        return lambda codes: np.asarray(np.abs(place[codes][:, None] - released_place[class_codes]) ** protection.norm)
    (comparison,) = compare_levels([(known_column, released_column)], missing="own")
    mismatch = 1.0 if protection.is_aggregated(released_column) else np.inf
    return lambda codes: np.where(comparison.are_compatible(codes[:, None], class_codes), 0.0, mismatch)


def _select_nearest(d: Floats) -> tuple[Integers, Floats]:
    """Return the nearest classes, (n, n_nearest), in order of distance, and their distances.

    Classes at infinite distance fill the rows.
    """
    n = min(N_NEAREST, d.shape[1])
    classes = np.argpartition(d, n - 1, axis=1)[:, :n]
    order = np.argsort(np.take_along_axis(d, classes, axis=1), axis=1, kind="stable")
    classes = np.take_along_axis(classes, order, axis=1)
    return classes, np.take_along_axis(d, classes, axis=1)


def learn_weights(
    protection: Any, pairing: Pairing, unknown: Booleans, population: Table, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Return the weights of the features, and the share of people whose own class is not among the nearest.

    Both are learned from people in general who are protected again, as many as the release has rows.

    unknown : (n, d) masks of unknown cells; each simulated person gets a random one
    """
    runs = []
    for _ in range(N_RUNS):
        protected_again = _protect_again(protection, pairing, population, rng)
        cells = protected_again.observed[protected_again.observation]
        gaps = unknown[rng.integers(len(unknown), size=len(cells))]
        near = find_nearest(protection, protected_again, cells, gaps, population)
        runs.append((*near, near.possible & (near.klass == protected_again.klass[:, None])))
    width = min(part[0].shape[1] for part in runs)
    *parts, is_own_class = (np.concatenate([run[:, :width] for run in part]) for part in zip(*runs, strict=True))
    miss_rate = float(np.count_nonzero(~is_own_class.any(axis=1)) + 0.5) / (len(is_own_class) + 1)
    return conditional_logit(NearestClasses(*parts), is_own_class), miss_rate


def _protect_again(protection: Any, pairing: Pairing, population: Table, rng: np.random.Generator) -> Pairing:
    """Protect as many people in general as the release has rows, and pair them with their release."""
    rows = rng.choice(population.n_rows, min(pairing.n_candidates, population.n_rows), replace=False)
    release, origin = protection(population.take(rows), rng=rng)
    people = population.take(rows[origin])
    return pair(people.known_by(people.column(released_column.name) for _, released_column in pairing.columns), release)


def log_class_probabilities(near: NearestClasses, weights: Floats) -> Floats:
    """Return (n_people, n_nearest) log p(class), with p proportional to class size times exp(features . weights)."""
    value = np.where(near.possible, near.features @ weights + near.log_size, -np.inf)
    top = value.max(axis=1, keepdims=True)
    value = value - np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # for people without a compatible class
        return np.asarray(value - np.log(np.exp(value).sum(axis=1, keepdims=True)))


def conditional_logit(near: NearestClasses, is_own_class: Booleans) -> Floats:
    """Return (n_features,) the weights that maximize the penalized likelihood of the people's own classes.

    People without their own class among the nearest are left out. Newton's method; a ridge penalty of weight 1 keeps
    the weights finite.

    is_own_class : (n_people, n_nearest) mask of each person's own class

    D. McFadden, "Conditional logit analysis of qualitative choice behavior", 1974.
    """
    has_class = np.asarray(is_own_class.any(axis=1))
    parts: list[Any] = [part[has_class] for part in near]
    near, is_own_class = NearestClasses(*parts), is_own_class[has_class]
    weights, chosen = np.zeros(near.features.shape[2]), near.features[is_own_class].sum(axis=0)
    for _ in range(50):
        p = np.exp(log_class_probabilities(near, weights))
        mean = np.einsum("ij,ijf->if", p, near.features)
        square = np.einsum("ijf,ijg->fg", p[:, :, None] * near.features, near.features, optimize=True)
        step = np.linalg.solve(square - mean.T @ mean + np.eye(len(weights)), chosen - mean.sum(axis=0) - weights)
        previous = _penalized_likelihood(near, is_own_class, weights)
        while _penalized_likelihood(near, is_own_class, weights + step) < previous and np.abs(step).max() > 1e-6:
            step = step / 2
        weights = weights + step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def _penalized_likelihood(near: NearestClasses, is_own_class: Booleans, weights: Floats) -> float:
    return float(log_class_probabilities(near, weights)[is_own_class].sum() - weights @ weights / 2)
