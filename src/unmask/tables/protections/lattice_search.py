"""Search for the node of a generalization lattice with the smallest loss, with exact pruning; see `Lattice`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unmask.core.arrays import Booleans, Floats
from unmask.core.errors import FailedError, UnmaskError
from unmask.tables.protections.base import column_position
from unmask.tables.protections.bound_constraints import SensitiveColumn, bind_sensitive_columns
from unmask.tables.protections.constraints import Constraint, DistinctL
from unmask.tables.protections.lattice_levels import Level, LevelLattice, Node, NodeClasses
from unmask.tables.table import Table

ROUNDING = 1e-9
"""Relative tolerance of a share of the rows."""

MAX_CACHED_NODES = 100
"""Largest number of nodes whose classes are cached, so that coarser nodes are counted from them."""


@dataclass(frozen=True)
class Choice:
    """Node that a search chose.

    levels     : level of each column by name, as in `Generalize`; 0 is the column itself
    node       : positions of these levels in the lattice
    loss       : value of the objective, including suppressed rows
    suppressed : number of suppressed rows
    nodes      : number of nodes in the lattice
    n_counted  : number of nodes whose classes were counted; the others were pruned
    next_round : choice of the next round, for the rows that violate a constraint at these levels; None if they are
        suppressed. Loss, suppressed rows and counted nodes include all later rounds
    """

    levels: Mapping[str, Level]
    node: Node
    loss: float
    suppressed: int
    nodes: int
    n_counted: int
    next_round: Choice | None = None


def search_rounds(problem: SearchProblem, rounds: int) -> Choice:
    """Return the best node for all rows, or a chain of nodes for several rounds if its loss is smaller.

    The first of n rounds may suppress all but 1/n of the rows. It minimizes its own loss, in which rows left for later
    rounds count as suppressed.
    """
    choice = _Search(problem).search()
    if rounds == 1:
        return choice
    first = _Search(replace(problem, limit=problem.n_rows - math.ceil(problem.n_rows / rounds))).search()
    choice = replace(choice, n_counted=choice.n_counted + first.n_counted)
    if not first.suppressed:
        return choice
    remainder = problem.remaining_problem(first.node)
    try:
        next_choice = search_rounds(remainder, rounds - 1)
    except FailedError:  # no node satisfies the constraints, not even the top
        return choice
    joint_choice = replace(
        first,
        loss=problem.joint_loss(first, next_choice, remainder.n_rows),
        suppressed=next_choice.suppressed,
        next_round=next_choice,
    )
    return replace(
        joint_choice if joint_choice.loss < choice.loss else choice, n_counted=choice.n_counted + next_choice.n_counted
    )


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """Constraints and objective of a protection, bound to the table that it protects.

    protection : the `Lattice`
    limit      : largest number of suppressed rows
    weights    : (d,) weight of each quasi-identifier in the penalty, sum 1
    """

    protection: Any
    table: Table
    lattice: LevelLattice
    k: int
    demands: tuple[Constraint, ...]
    sensitive_columns: tuple[SensitiveColumn, ...]
    limit: int
    weights: Floats

    @classmethod
    def of(cls, protection: Any, table: Table) -> SearchProblem:
        """Return the problem of a table, with the classes and sensitive counts that the constraints need."""
        for name in (*protection.levels, *protection.weights):
            column_position(table, name)
        k, demands = protection.smallest_class, protection.demands
        sensitive_columns = bind_sensitive_columns(table, demands)
        counts = [item.count_ranks(table.classes.counts(item.column)) for item in sensitive_columns]
        lattice = LevelLattice.of(table, protection.levels, counts)
        limit = int(protection.suppression * table.n_rows + ROUNDING)
        return cls(
            protection, table, lattice, k, demands, tuple(sensitive_columns), limit, _weights(protection.weights, table)
        )

    def violating(self, counted: NodeClasses, demands: Sequence[Constraint] | None = None) -> Booleans:
        """Return a mask of the classes that violate k or a constraint, by default any of the problem, (J,)."""
        demands, is_violating = self.demands if demands is None else demands, counted.class_people < self.k
        columns = self.sensitive_columns if demands else ()
        for sensitive_column, histogram in zip(columns, counted.histograms, strict=False):
            is_violating |= ~sensitive_column.satisfied_classes(histogram, demands)
        return is_violating

    def count_permanent_violations(self, counted: NodeClasses) -> int:
        """Count the rows in classes that violate k or l, which hold for every union of classes; rule 1 of `Lattice`."""
        absorbing = [constraint for constraint in self.demands if isinstance(constraint, DistinctL)]
        return int(counted.sizes[self.violating(counted, absorbing)].sum())

    @property
    def is_monotone(self) -> bool:
        """True if all nodes below a violating node violate the same constraint; rules 2 and 3 of `Lattice`."""
        return self.limit == 0 and all(type(demand).__module__ == Constraint.__module__ for demand in self.demands)

    def is_allowed(self, counted: NodeClasses, is_violating: Booleans) -> bool:
        """Return whether a node without its violating classes keeps a row and stays within the limit and the
        average risk.
        """
        remaining, max_risk = int(counted.sizes[~is_violating].sum()), self.protection.average_risk
        safe = max_risk is None or int((~is_violating).sum()) <= max_risk * remaining * (1 + ROUNDING)
        return safe and remaining > 0 and self.n_rows - remaining <= self.limit

    @property
    def n_rows(self) -> int:
        """Number of rows to recode."""
        return int(self.lattice.table.sizes.sum())

    def remaining_problem(self, node: Node) -> SearchProblem:
        """Return the problem of the next round: the rows of violating classes, over this node and its coarser nodes."""
        lattice, table = self.lattice, self.lattice.table
        class_of, _ = lattice.merge_classes(node, table.first)
        remaining = np.flatnonzero(self.violating(lattice.count_classes(node))[class_of])
        all_levels = tuple(
            column_levels.from_level(level) for column_levels, level in zip(lattice.all_levels, node, strict=True)
        )
        return replace(
            self, lattice=LevelLattice(all_levels, lattice.levels[table.first[remaining]], table.take(remaining))
        )

    def levels(self, node: Node) -> dict[str, Level]:
        """Return the level of each column at a node, by name."""
        columns = zip(self.table.quasi_identifiers, self.lattice.all_levels, node, strict=True)
        return {column.name: column_levels.levels[step] for column, column_levels, step in columns}

    def suppression_penalty(self, node: Node, counted: NodeClasses, is_violating: Booleans) -> float:
        """Return the certainty penalty that the suppression of violating classes adds to a node."""
        penalty = self._row_penalty - self.lattice.penalty(node, counted.first[is_violating], self.weights)
        return float(counted.sizes[is_violating] @ penalty) / self.n_rows

    def joint_loss(self, first: Choice, next_round: Choice, remaining: int) -> float:
        """Return the joint loss of a round and the next one, whose rows the first round counted as suppressed."""
        if self.protection.loss == "discernibility":
            return first.loss - self.table.n_rows * float(remaining) + next_round.loss
        return first.loss + (next_round.loss - self._row_penalty) * remaining / self.n_rows

    @property
    def _row_penalty(self) -> float:
        """Certainty penalty of a suppressed row."""
        return float(self.weights @ np.array([column_levels.row_penalty for column_levels in self.lattice.all_levels]))


@dataclass(eq=False)
class _Search:
    """State of a search.

    open_bound  : lower bound of the loss of each node; infinite if the node is closed (evaluated or pruned)
    lower_bound : lower bound of the loss of each node, open or closed
    n_counted   : number of nodes whose classes were counted
    best_choice : best node so far
    counted     : cached classes of nodes
    """

    problem: SearchProblem
    n_counted: int = 0
    best_choice: Choice | None = None
    counted: dict[Node, NodeClasses] = field(default_factory=dict)

    def __post_init__(self) -> None:
        penalty = self.problem.protection.loss == "gcp"
        lattice = self.problem.lattice
        self.open_bound = lattice.minimum_penalty(self.problem.weights) if penalty else np.zeros(lattice.shape)
        self.lower_bound = self.open_bound.copy()
        self.height = np.indices(self.open_bound.shape).sum(axis=0)

    def search(self) -> Choice:
        """Evaluate nodes in the order of their bounds until no open node can be better than the best.

        FailedError if no node satisfies the constraints.
        """
        while np.isfinite(min_bound := self.open_bound.min()):
            finest = np.where(self.open_bound == min_bound, self.height, np.inf).argmin()
            self._bisect(self._path(tuple(map(int, np.unravel_index(finest, self.open_bound.shape)))))
        if self.best_choice is None:
            n = self.open_bound.size
            raise FailedError(
                f"none of the {n:,} nodes of the lattice satisfies {self.problem.protection!r}; weaken the "
                "constraints, or allow more suppressed rows (suppression)"
            )
        return replace(self.best_choice, n_counted=self.n_counted)

    def _path(self, node: Node) -> list[Node]:
        """Return open nodes from this one to the top; each step goes to the parent with the smallest bound."""
        path = [node]
        while True:
            parents = ((*node[:j], level + 1, *node[j + 1 :]) for j, level in enumerate(node))
            inside = (parent for parent in parents if all(np.less(parent, self.open_bound.shape)))
            bounds = [(self.open_bound[parent], parent) for parent in inside if np.isfinite(self.open_bound[parent])]
            if not bounds:
                return path
            _, node = min(bounds)
            path.append(node)

    def _bisect(self, path: list[Node]) -> None:
        """Search a path for the finest node that satisfies the constraints, by bisection."""
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            low, high = (low, middle - 1) if self._satisfies(path[middle]) else (middle + 1, high)

    def _satisfies(self, node: Node) -> bool:
        """Return whether a node satisfies the constraints. For a closed node: whether its loss excludes coarser
        nodes.
        """
        if np.isfinite(self.open_bound[node]):
            return self._evaluate(node)
        return self.best_choice is not None and bool(self.lower_bound[node] >= self.best_choice.loss)

    def _evaluate(self, node: Node) -> bool:
        """Evaluate a node: close the nodes that it excludes, and store it if it is the best. Return whether it
        is allowed.
        """
        counted, problem = self._counted(node), self.problem
        is_violating = problem.violating(counted)
        satisfied = problem.is_allowed(counted, is_violating)
        self.open_bound[node] = np.inf
        if problem.count_permanent_violations(counted) > problem.limit or (problem.is_monotone and not satisfied):
            self.open_bound[tuple(slice(0, level + 1) for level in node)] = np.inf
        loss = self._loss(node, counted, is_violating)
        if satisfied and (self.best_choice is None or loss < self.best_choice.loss):
            self.best_choice = Choice(
                problem.levels(node), node, loss, int(counted.sizes[is_violating].sum()), self.open_bound.size, 0
            )
            self.open_bound[self.open_bound >= loss] = np.inf
        return satisfied

    def _counted(self, node: Node) -> NodeClasses:
        """Count the classes at a node from the cached finer node with the fewest classes."""
        self.n_counted += 1
        finer = [classes for finer_node, classes in self.counted.items() if all(np.less_equal(finer_node, node))]
        fewest = min(finer, key=lambda classes: len(classes.sizes), default=None)
        counted = self.problem.lattice.count_classes(node, fewest)
        if 2 * len(counted.sizes) <= len(self.problem.lattice.table.sizes) and len(self.counted) < MAX_CACHED_NODES:
            self.counted[node] = counted
        return counted

    def _loss(self, node: Node, counted: NodeClasses, is_violating: Booleans) -> float:
        """Return the loss of a node. For discernibility, the sum of squared sizes also bounds all coarser nodes."""
        if self.problem.protection.loss == "gcp":
            return float(self.lower_bound[node]) + self.problem.suppression_penalty(node, counted, is_violating)
        squares = counted.sizes.astype(np.float64) ** 2
        coarser = tuple(slice(level, None) for level in node)
        for bound in (self.open_bound, self.lower_bound):
            bound[coarser] = np.maximum(bound[coarser], squares.sum())
        return float(squares[~is_violating].sum()) + self.problem.table.n_rows * float(
            counted.sizes[is_violating].sum()
        )


def _weights(given_weights: Mapping[str, float], table: Table) -> Floats:
    """Return (d,) the weight of each quasi-identifier; they sum to 1."""
    weights = np.array([float(given_weights.get(column.name, 1.0)) for column in table.quasi_identifiers])
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise UnmaskError("a weight of a column is below 0, or all are 0; expected weights from 0, and one above 0")
    return np.asarray(weights / weights.sum())
