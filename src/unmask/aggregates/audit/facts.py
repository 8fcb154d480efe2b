"""Aggregate facts about an attacked release of tables, with the truth if it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.aggregates.attacks.attack_run import AreaAttack, AttackRun
from unmask.aggregates.release import AggregateRelease
from unmask.aggregates.rules import Counts

SIZE_ENDS = (0, 1, 10, 30, 100, 300, 1000, 2**62)
"""Ends of the groups of areas by their number of people; a group includes its lower end."""


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


def find_targets(run: AttackRun, records: Mapping[str, ArrayLike] | None, rng: np.random.Generator) -> Targets:
    """Return the people of the original; without it those of one reconstruction of each area, drawn by the belief."""
    release = run.release
    if records is not None:
        cells = np.ravel_multi_index(release.encode(records), release.shape)
        return Targets(release.encode_areas(records), np.asarray(cells, dtype=np.int64), True)
    areas, cells_of_areas = [], []
    for number, attack in enumerate(run.areas):
        belief = attack.belief
        if len(belief.draws):
            counts = belief.draws[rng.choice(len(belief.draws), p=belief.weights)]
            cells_of_areas.append(np.repeat(attack.reconstruction.system.cells, counts))
            areas.append(np.full(int(counts.sum()), number))
    nothing = [np.zeros(0, dtype=np.int64)]
    return Targets(np.concatenate(areas or nothing), np.concatenate(cells_of_areas or nothing), False)


def count_by_area(release: AggregateRelease, targets: Targets) -> Counts:
    """Return the counts of targets (areas, cells)."""
    n_cells = int(np.prod(release.shape))
    flat = np.bincount(targets.area * n_cells + targets.cell, minlength=release.n_areas * n_cells)
    return flat.reshape(release.n_areas, n_cells)


def list_violations(run: AttackRun, counts: Counts) -> dict[str, int]:
    """Return the tables that the original could not have produced by their stated rule, and in how many areas."""
    release = run.release
    violations = dict.fromkeys((item.name for item in release.published_tables), 0)
    for area in range(release.n_areas):
        low, high = release.bounds(area)
        sums = release.matrix @ counts[area]
        wrong = np.unique(release.row_tables[(sums < low) | (sums > high)])
        names = {release.by_area[table].name for table in wrong.tolist()}
        names |= {group.name for group in release.groups(area) if not group.holds(counts[area][None])[0]}
        for name in names:
            violations[name] += 1
    return {name: number for name, number in violations.items() if number}


# --- records ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AreaFacts:
    """Areas of about the same number of people.

    Parameters
    ----------
    low, high : int
        Smallest number of people of the group, and that of the next group.
    areas, with_one : int
        Number of areas, and of those with one solution.
    people : int
        Number of people in them.
    reconstructed, baseline : float
        Share of records reconstructed from the tables, and drawn from the population; nan without the original.
    """

    low: int
    high: int
    areas: int
    with_one: int
    people: int
    reconstructed: float
    baseline: float


def measure_overlap(run: AttackRun, counts: Counts, rng: np.random.Generator) -> tuple[NDArray[np.float64], ...]:
    """Return the expected numbers of an area's records that a reconstruction has, and that population draws have."""
    found, guessed = np.zeros(len(run.areas)), np.zeros(len(run.areas))
    for number, attack in enumerate(run.areas):
        truth, belief = counts[number], attack.belief
        draw = rng.multinomial(int(truth.sum()), run.population)
        guessed[number] = found[number] = np.minimum(draw, truth).sum()
        if len(belief.draws):
            cells = attack.reconstruction.system.cells
            found[number] = belief.weights @ np.minimum(belief.draws, truth[cells]).sum(axis=1)
    return found, guessed


def group_areas(run: AttackRun, counts: Counts, overlap: tuple[NDArray[np.float64], ...] | None) -> list[AreaFacts]:
    """Return the groups of areas by their number of people that are not empty."""
    sizes = counts.sum(axis=1)
    group = np.searchsorted(SIZE_ENDS, sizes, side="right") - 1
    has_one = np.array([attack.reconstruction.status == "one" for attack in run.areas])
    facts = []
    for number in np.unique(group).tolist():
        inside = group == number
        people = int(sizes[inside].sum())
        shares = [float(part[inside].sum() / people) if people else np.nan for part in overlap or ()]
        both = (*shares, np.nan, np.nan)[:2]
        low, high = SIZE_ENDS[number], SIZE_ENDS[number + 1]
        facts.append(AreaFacts(low, high, int(inside.sum()), int(has_one[inside].sum()), people, *both))
    return facts


# --- certain claims ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CertainFacts:
    """Claims that hold in every solution.

    Parameters
    ----------
    exist, exactly_one : int
        Number of claims "a person with these values lives in this area" and "exactly one person".
    true : int, optional
        Number of true claims of the first kind; None without the original.
    """

    exist: int
    exactly_one: int
    true: int | None


def count_certain(run: AttackRun, counts: Counts | None) -> CertainFacts:
    """Return the numbers of certain claims about cells, and how many of them the original confirms."""
    exist = sum(len(attack.certain_cells) for attack in run.areas)
    exactly_one = sum(int((attack.certain_high == 1).sum()) for attack in run.areas)
    if counts is None:
        return CertainFacts(exist, exactly_one, None)
    true = sum(_count_true(attack, counts[number]) for number, attack in enumerate(run.areas))
    return CertainFacts(exist, exactly_one, true)


def _count_true(attack: AreaAttack, counts: Counts) -> int:
    true = counts[attack.certain_cells]
    return int(((true >= attack.certain_low) & (true <= attack.certain_high)).sum())


def find_certain_people(run: AttackRun, targets: Targets, number: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which targets have a certain sensitive value, and for which of them it is right."""
    question = run.questions[number]
    certain = [attack.certain_values[number] for attack in run.areas]
    pairs = zip(targets.area.tolist(), question.profile[targets.cell].tolist(), strict=True)
    inferred = np.array([certain[area].get(profile, -1) for area, profile in pairs], dtype=np.int64)
    return inferred >= 0, (inferred >= 0) & (inferred == question.value[targets.cell])


# --- differencing -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DifferenceFacts:
    """Groups of people that are the difference of two published counts.

    Parameters
    ----------
    pairs : int
        Pairs of nested tables.
    smallest : int, optional
        Number of people of the smallest group that two counts determine; None without such a group.
    small : int
        Number of groups with fewer people than the limit, and at least one.
    """

    pairs: int
    smallest: int | None
    small: int


def find_differences(release: AggregateRelease, group_size: int) -> DifferenceFacts:
    """Return the groups that differ between tables with the same columns, one of which counts fewer people.

    Parameters
    ----------
    release : AggregateRelease
        Published tables.
    group_size : int
        Groups of fewer people are counted as small.
    """
    n_pairs, sizes = 0, []
    tables = release.tabulations
    for outer in tables:
        for inner in tables:
            if outer is inner or (outer.columns, outer.by_area) != (inner.columns, inner.by_area):
                continue
            if not _is_nested(inner.where, outer.where):
                continue
            n_pairs += 1
            outer_low, outer_high = outer.rule.bounds(outer.values, outer.markers)
            inner_low, inner_high = inner.rule.bounds(inner.values, inner.markers)
            low, high = outer_low - inner_high, outer_high - inner_low
            sizes += low[(low == high) & (low > 0)].tolist()
    return DifferenceFacts(n_pairs, min(sizes, default=None), sum(size < group_size for size in sizes))


def _is_nested(inner: Mapping[str, Sequence[str]], outer: Mapping[str, Sequence[str]]) -> bool:
    """Return whether the inner selection counts fewer people than the outer one."""
    as_sets = [{column: frozenset(kept) for column, kept in where.items()} for where in (inner, outer)]
    return as_sets[0] != as_sets[1] and all(
        column in as_sets[0] and as_sets[0][column] <= kept for column, kept in as_sets[1].items()
    )
