"""Facts of a study for its page: datasets, adversaries, mentioned rows, and risk against utility."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import NamedTuple

from unmask.core.errors import UnmaskError
from unmask.core.pareto import find_pareto_front
from unmask.findings.sentences import severity
from unmask.results import StudyRow
from unmask.results.names import IDENTITY
from unmask.results.rows import PreferredRows, mentioned_rows
from unmask.results.words import styles_of
from unmask.studies.choice import UTILITY, Option
from unmask.studies.results_file import MissingCells

StudyRows = PreferredRows[StudyRow]
"""(protection, adversary, target) of one dataset -> the row that findings mention."""


class TradeoffPoint(NamedTuple):
    """A protection against one adversary: utility, and the adversary's success or error.

    `is_best` is True if no other protection is at least as good in both values and better in one.
    """

    protection: str
    adversary: str
    target: str
    utility: float
    risk: float
    is_best: bool


@dataclass(frozen=True)
class Tradeoff:
    """Risk against utility for the adversaries of one dataset with values in the same units.

    Parameters
    ----------
    utility_unit, risk_unit : str
        Units of both values; more utility is better.
    direction : {"high", "low"}
        Direction that adversaries prefer: "high" for success, "low" for the error under a graded loss.
    points : tuple of TradeoffPoint
        One point for each protection and adversary with both values.
    """

    dataset: str
    utility_unit: str
    risk_unit: str
    direction: str
    points: tuple[TradeoffPoint, ...]

    @cached_property
    def utility(self) -> dict[str, float]:
        """Return protection -> mean utility over its points."""
        utilities: dict[str, list[float]] = {}
        for point in self.points:
            utilities.setdefault(point.protection, []).append(point.utility)
        return {protection: sum(values) / len(values) for protection, values in utilities.items()}

    @cached_property
    def compared(self) -> tuple[str, ...]:
        """Return the protections with a point for each adversary and target.

        For other protections, the strongest adversary is unknown.
        """
        attacks: dict[str, set[tuple[str, str]]] = {}
        for point in self.points:
            attacks.setdefault(point.protection, set()).add((point.adversary, point.target))
        all_attacks = set().union(*attacks.values())
        return tuple(protection for protection, attacked in attacks.items() if attacked == all_attacks)

    @cached_property
    def front(self) -> tuple[str, ...]:
        """Return the compared protections on the Pareto front of utility and risk.

        Risk is the value of the strongest adversary, for each target.
        """
        sign = 1 if self.direction == "high" else -1
        risks: dict[str, dict[str, float]] = {protection: {} for protection in self.compared}
        for point in self.points:
            if point.protection in risks:
                worst = risks[point.protection]
                worst[point.target] = max(worst.get(point.target, -math.inf), sign * point.risk)
        targets = list(dict.fromkeys(point.target for point in self.points))
        costs = [(*(risks[name][target] for target in targets), -self.utility[name]) for name in self.compared]
        return tuple(
            name for name, is_on_front in zip(self.compared, find_pareto_front(costs), strict=True) if is_on_front
        )


@dataclass(frozen=True)
class StudyFacts:
    """Facts of a study.

    Parameters
    ----------
    title : str
        Title of the plan.
    rows : tuple of StudyRow
        Measures of adversaries, in the order of the plan.
    gaps : tuple of MissingCells
        Cells without a result.
    seeds : tuple of int
        Seeds of the whole study.
    options : tuple of Option
        Protections of each dataset with an applicable condition, the best first.
    policy : str
        Title of the policy; "" without one.
    unprotected : frozenset of str
        Protections that change nothing.
    descriptions : mapping of (str, str) to str
        Kind and name of a part -> its description in the plan; entries may be missing.
    """

    title: str
    rows: tuple[StudyRow, ...]
    gaps: tuple[MissingCells, ...] = ()
    seeds: tuple[int, ...] = (0,)
    options: tuple[Option, ...] = ()
    policy: str = ""
    unprotected: frozenset[str] = frozenset()
    descriptions: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise for a study without cells."""
        if not self.rows and not self.gaps:
            raise UnmaskError("the study has 0 cells, expected at least 1; run it first")

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """Return the datasets in the order of the plan."""
        return tuple(dict.fromkeys([*(row.dataset for row in self.rows), *(gap.dataset for gap in self.gaps)]))

    @cached_property
    def adversaries(self) -> tuple[str, ...]:
        """Return the adversaries in the order of the rows, then of the gaps."""
        return tuple(dict.fromkeys([*(row.adversary for row in self.rows), *(gap.adversary for gap in self.gaps)]))

    @cached_property
    def protections(self) -> tuple[str, ...]:
        """Return the protections in the order of the plan."""
        return tuple(dict.fromkeys([*(row.release for row in self.rows), *(gap.protection for gap in self.gaps)]))

    @cached_property
    def styles(self) -> dict[str, int]:
        """Return adversary -> number of color and shape."""
        return styles_of(self.adversaries)

    @cached_property
    def mentioned(self) -> Mapping[str, StudyRows]:
        """Return dataset -> rows that findings mention."""
        return {dataset: mentioned_rows(self.rows_of(dataset)) for dataset in self.datasets}

    @cached_property
    def tradeoffs(self) -> tuple[Tradeoff, ...]:
        """Return risk against utility for each dataset, utility unit, risk unit, and direction."""
        return tuple(
            tradeoff for dataset in self.datasets for tradeoff in _list_tradeoffs(dataset, self.rows_of(dataset))
        )

    def rows_of(self, dataset: str) -> tuple[StudyRow, ...]:
        """Return the rows of a dataset."""
        return tuple(row for row in self.rows if row.dataset == dataset)

    def tradeoffs_of(self, dataset: str) -> tuple[Tradeoff, ...]:
        """Return risk against utility of a dataset."""
        return tuple(tradeoff for tradeoff in self.tradeoffs if tradeoff.dataset == dataset)

    def best_option(self, dataset: str) -> Option | None:
        """Return the best protection of a dataset under the policy; None if no condition applies to the dataset."""
        return next((option for option in self.options if option.dataset == dataset), None)

    def strongest(self, dataset: str, protection: str) -> StudyRow | None:
        """Return the row of the strongest adversary against a protection; target identity is preferred."""
        rows = [row for key, row in self.mentioned[dataset].items() if key[0] == protection]
        identity_rows = [row for row in rows if row.target == IDENTITY] or rows
        return max(identity_rows, key=severity, default=None)

    def find_unprotected(self, row: StudyRow) -> StudyRow | None:
        """Return the row of the same adversary, target and measure without a protection."""
        attack = (row.adversary, row.target, row.measure)
        return next(
            (
                candidate
                for (protection, *_), candidate in self.mentioned[row.dataset].items()
                if protection in self.unprotected
                and (candidate.adversary, candidate.target, candidate.measure) == attack
            ),
            None,
        )


def _list_tradeoffs(dataset: str, rows: tuple[StudyRow, ...]) -> Iterator[Tradeoff]:
    """Yield risk against utility of one dataset.

    Utility is the mean over seeds for each adversary, because its unit can depend on the adversary's loss function.
    """
    mentioned = mentioned_rows(rows)
    useful = {(row.release, row.adversary): row for row in rows if row.measure == UTILITY}
    utility_units = dict.fromkeys(row.unit for row in useful.values())
    risks = dict.fromkeys((row.unit, row.direction) for row in mentioned.values())
    for utility_unit, risk in product(utility_units, risks):
        utility = {key: row.posterior for key, row in useful.items() if row.unit == utility_unit}
        attacks = [row for row in mentioned.values() if (row.unit, row.direction) == risk]
        points = tuple(_list_points(attacks, utility, sign=1 if risk[1] == "high" else -1))
        if points:
            yield Tradeoff(dataset, utility_unit, risk[0], risk[1], points)


def _list_points(
    rows: list[StudyRow], utility: Mapping[tuple[str, str], float], *, sign: int
) -> Iterator[TradeoffPoint]:
    """Yield the points with finite values of each adversary and target."""
    for attack in dict.fromkeys((row.adversary, row.target) for row in rows):
        pairs = [
            (row, utility[row.release, row.adversary])
            for row in rows
            if (row.adversary, row.target) == attack and (row.release, row.adversary) in utility
        ]
        finite = [(row, value) for row, value in pairs if math.isfinite(row.posterior + value)]
        is_on_front = find_pareto_front([(sign * row.posterior, -value) for row, value in finite])
        for (row, value), is_best in zip(finite, is_on_front, strict=True):
            yield TradeoffPoint(row.release, *attack, value, row.posterior, is_best)
