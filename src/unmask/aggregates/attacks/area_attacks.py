"""Attacks on all areas of a release: what the adversary computes without the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.attacks.belief import CountBelief
from unmask.aggregates.attacks.reconstruction import Reconstruction, reconstruct
from unmask.aggregates.attacks.systems import make_system
from unmask.aggregates.release import AggregateRelease
from unmask.aggregates.rules import Counts
from unmask.core.errors import UnmaskError, nearest


@dataclass(frozen=True, eq=False)
class Question:
    """Sensitive column that the adversary infers from known columns of a person.

    Parameters
    ----------
    sensitive : str
        Column of the system.
    knows : tuple of str
        Other columns of the system.
    profile, value : (n_cells,) int arrays
        Number of the combination of known values, and of the sensitive value, of each cell of the cross.
    """

    sensitive: str
    knows: tuple[str, ...]
    profile: NDArray[np.int64]
    value: NDArray[np.int64]


def make_questions(release: AggregateRelease, sensitive: Sequence[str], knows: Sequence[str]) -> list[Question]:
    """Return a question for each sensitive column; by default each column, with all others known."""
    for name in (*sensitive, *knows):
        if name not in release.columns:
            raise UnmaskError(f"{name!r} is not a column of the tables; {nearest(name, release.columns)}")
    if common := {*sensitive} & {*knows}:
        raise UnmaskError(f"{min(common)!r} is sensitive and known; leave it out of one of both")
    codes = dict(zip(release.columns, np.indices(release.shape).reshape(len(release.shape), -1), strict=True))
    questions = []
    for column in sensitive or release.columns:
        known_columns = tuple(name for name in (knows or release.columns) if name != column)
        profile = np.zeros_like(codes[column])
        for name in known_columns:
            profile = profile * (int(codes[name].max()) + 1) + codes[name]
        questions.append(Question(column, known_columns, profile, codes[column]))
    return questions


@dataclass(frozen=True, eq=False)
class AreaAttack:
    """Knowledge of the adversary about one area.

    Parameters
    ----------
    reconstruction : Reconstruction
        Solutions of the tables of the area.
    belief : CountBelief
        Belief about its counts.
    certain_cells, certain_low, certain_high : int arrays
        Cells of the cross that hold a person in every solution, and bounds of their counts.
    certain_values : tuple of dict
        For each question, profile -> its only possible value.
    """

    reconstruction: Reconstruction
    belief: CountBelief
    certain_cells: NDArray[np.int64]
    certain_low: Counts
    certain_high: Counts
    certain_values: tuple[dict[int, int], ...]


@dataclass(frozen=True, eq=False)
class AttackRun:
    """Attacks on all areas.

    Parameters
    ----------
    release : AggregateRelease
        Attacked release.
    questions : list of Question
        Questions about sensitive columns.
    population : (n_cells,) array
        Distribution of the people of all areas, see `fit_population`.
    areas : list of AreaAttack
        In the order of the release.
    contradicting : list of str
        Tables that contradict each other in the first area without a solution.
    """

    release: AggregateRelease
    questions: list[Question]
    population: NDArray[np.float64]
    areas: list[AreaAttack]
    contradicting: list[str]


def explain_contradiction(release: AggregateRelease, area: int) -> list[str]:
    """Return the names of tables that contradict each other in an area, none of which can be left out.

    The deletion filter of Chinneck and Dravnieks (1991) leaves an irreducible set: without any of them, the others have
    a solution.
    """
    names = [item.name for item in release.published_tables if item.by_area == bool(release.geography)]
    for name in tuple(names):
        remaining = [item for item in names if item != name]
        counts = tuple(item for item in release.tabulations if item.name in remaining)
        statistics = tuple(item for item in release.statistics if item.name in remaining)
        if counts:
            system = make_system(replace(release, tabulations=counts, statistics=statistics), area)
            if reconstruct(system, rng=np.random.default_rng(0)).status == "contradiction":
                names = remaining
    return names
