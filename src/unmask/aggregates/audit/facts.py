"""Comparison of an attacked release with the people of the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.aggregates.attacks.area_attacks import AttackRun
from unmask.aggregates.release import AggregateRelease
from unmask.aggregates.rules import Counts


@dataclass(frozen=True, eq=False)
class Targets:
    """People whose sensitive values are inferred: those of the original, or of a reconstruction without it.

    Parameters
    ----------
    area, cell : (n_people,) int arrays
        Area, and cell of the cross of columns, of each person.
    are_true : bool
        True if these are the people of the original.
    """

    area: NDArray[np.int64]
    cell: NDArray[np.int64]
    are_true: bool

    def count(self, release: AggregateRelease) -> Counts:
        """Return the counts of the targets (areas, cells)."""
        shape = release.n_areas, release.matrix.shape[1]
        return np.bincount(self.area * shape[1] + self.cell, minlength=shape[0] * shape[1]).reshape(shape)


def find_targets(run: AttackRun, records: Mapping[str, ArrayLike] | None, rng: np.random.Generator) -> Targets:
    """Return the people of the original; without it those of one reconstruction of each area, drawn by the belief."""
    release = run.release
    if records is not None:
        cells = np.ravel_multi_index(release.encode(records), release.shape)
        return Targets(release.encode_areas(records), np.asarray(cells, dtype=np.int64), True)
    areas, cells_of_areas = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for number, attack in enumerate(run.areas):
        belief = attack.belief
        if len(belief.draws):
            counts = belief.draws[rng.choice(len(belief.draws), p=belief.weights)]
            cells_of_areas.append(np.repeat(attack.reconstruction.system.cells, counts))
            areas.append(np.full(int(counts.sum()), number))
    return Targets(np.concatenate(areas), np.concatenate(cells_of_areas), False)


def list_violations(run: AttackRun, counts: Counts) -> dict[str, int]:
    """Return the tables that the original could not have produced by their stated rule, and in how many areas."""
    release, (low, high) = run.release, run.release.bounds_by_area
    sums = (release.matrix @ counts.T).T
    is_wrong = (sums < low) | (sums > high)
    violations = {
        item.name: int(is_wrong[:, release.row_tables == table].any(axis=1).sum())
        for table, item in enumerate(release.by_area)
    }
    if release.statistics:
        for area in range(release.n_areas):
            groups = release.groups(area)
            for name in {group.name for group in groups if not group.holds(counts[area][None])[0]}:
                violations[name] = violations.get(name, 0) + 1
    return {name: number for name, number in violations.items() if number}


def measure_overlap(run: AttackRun, counts: Counts, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the expected records of each area that a reconstruction has, and those of draws from the population.

    The array has shape (2, areas).
    """
    overlap = np.zeros((2, len(run.areas)))
    for number, attack in enumerate(run.areas):
        truth, belief = counts[number], attack.belief
        overlap[:, number] = np.minimum(rng.multinomial(int(truth.sum()), run.population), truth).sum()
        if len(belief.draws):
            cells = attack.reconstruction.system.cells
            overlap[0, number] = belief.weights @ np.minimum(belief.draws, truth[cells]).sum(axis=1)
    return overlap


def find_certain_people(run: AttackRun, targets: Targets, number: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which targets have a certain sensitive value, and for which of them it is right."""
    question = run.questions[number]
    certain = [attack.certain_values[number] for attack in run.areas]
    pairs = zip(targets.area.tolist(), question.profile[targets.cell].tolist(), strict=True)
    inferred = np.array([certain[area].get(profile, -1) for area, profile in pairs], dtype=np.int64)
    return inferred >= 0, (inferred >= 0) & (inferred == question.value[targets.cell])


def find_differences(release: AggregateRelease, group_size: int) -> tuple[int, int]:
    """Return the number of nested pairs of tables, and of small groups that their differences determine.

    Both tables of a pair have the same columns, and one counts a part of the people of the other one. A group of fewer
    people than `group_size` is small.
    """
    n_pairs = n_small = 0
    for outer in release.tabulations:
        for inner in release.tabulations:
            is_same = (outer.columns, outer.by_area) == (inner.columns, inner.by_area)
            if is_same and _is_nested(inner.where, outer.where):
                n_pairs += 1
                outer_low, outer_high = outer.rule.bounds(outer.values, outer.markers)
                inner_low, inner_high = inner.rule.bounds(inner.values, inner.markers)
                low, high = outer_low - inner_high, outer_high - inner_low
                n_small += int(((low == high) & (low > 0) & (low < group_size)).sum())
    return n_pairs, n_small


def _is_nested(inner: Mapping[str, Sequence[str]], outer: Mapping[str, Sequence[str]]) -> bool:
    """Return whether the inner selection counts fewer people than the outer one."""
    inner_sets, outer_sets = ({column: {*labels} for column, labels in where.items()} for where in (inner, outer))
    return inner_sets != outer_sets and all(
        column in inner_sets and inner_sets[column] <= labels for column, labels in outer_sets.items()
    )
