"""The best node of a lattice, by a search with pruning that is proved, see `Lattice`; and several, round by round."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import FailedError, UnmaskError
from unmask.tables.protections.base import column_position
from unmask.tables.protections.bound_constraints import Secret, secrets_of
from unmask.tables.protections.constraints import Constraint, DistinctL, PSensitive
from unmask.tables.protections.lattice_levels import Counted, Ladder, Level, Node, Nodes
from unmask.tables.table import Table

ABSORBING_CONSTRAINTS: Final = (DistinctL, PSensitive)
"""Constraints that a class keeps whatever is merged into it, as k is: they only ask that something is there."""

ROUNDING = 1e-9
"""Relative error of a share of the rows that is no fault."""

MAX_KEPT = 100
"""Nodes whose classes are kept, to count coarser ones from."""


@dataclass(frozen=True)
class Choice:
    """The node that a search chose.

    levels     : column -> its level, as `Generalize` takes it; 0 is the column as it is
    loss       : of the objective, suppressed rows included
    suppressed : rows that are dropped
    nodes      : of the lattice
    seen       : nodes whose classes were counted; proofs cover the others
    rest       : what the next round chose for the rows that violate a constraint at these levels; None where they are
                 dropped. Loss, dropped rows and counted nodes are those of all rounds from this one on
    """

    levels: Mapping[str, Level]
    loss: float
    suppressed: int
    nodes: int
    seen: int
    rest: Choice | None = None


def in_rounds(problem: SearchProblem, rounds: int) -> Choice:
    """Return the best node for all rows, or one that leaves rows to further rounds if this loses less.

    The first of n rounds may leave all but an n-th of the rows, and is the best of these, a row that is left counted as
    dropped.
    """
    choice = _Search(problem).search()
    if rounds == 1:
        return choice
    first = _Search(replace(problem, limit=problem.n_rows - math.ceil(problem.n_rows / rounds))).search()
    choice = replace(choice, seen=choice.seen + first.seen)
    if not first.suppressed:
        return choice
    remainder = problem.rest(problem.node(first.levels))
    try:
        next_choice = in_rounds(remainder, rounds - 1)
    except FailedError:  # not even the top satisfies everything
        return choice
    joint_choice = replace(
        first,
        loss=problem.joint_loss(first, next_choice, remainder.n_rows),
        suppressed=next_choice.suppressed,
        rest=next_choice,
    )
    return replace(joint_choice if joint_choice.loss < choice.loss else choice, seen=choice.seen + next_choice.seen)


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """Demands of a protection, bound to the table that it protects.

    protection : the `Lattice`
    limit   : rows that may be dropped
    weights : (d,) of the quasi-identifiers in the penalty; they sum to 1
    """

    protection: Any
    table: Table
    nodes: Nodes
    k: int
    demands: tuple[Constraint, ...]
    secrets: tuple[Secret, ...]
    limit: int
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, protection: Any, table: Table) -> SearchProblem:
        """Count the classes of the table, with the sensitive values that the constraints need."""
        for name in (*protection.levels, *protection.weights):
            column_position(table, name)
        k, demands = protection.smallest_class, protection.demands
        secrets = secrets_of(table, demands)
        nodes = Nodes.of(table, protection.levels, [item.count_ranks(table.histogram(item.column)) for item in secrets])
        limit = int(protection.suppression * table.n_rows + ROUNDING)
        return cls(protection, table, nodes, k, demands, tuple(secrets), limit, _weights(protection.weights, table))

    def violating(self, counted: Counted) -> NDArray[np.bool_]:
        """(J,) which classes violate a constraint on classes."""
        return self._violating(counted, self.demands)

    def lasting(self, counted: Counted) -> int:
        """Rows of the classes that violate what a class keeps when others are merged into it; rule 1."""
        absorbing = [constraint for constraint in self.demands if isinstance(constraint, ABSORBING_CONSTRAINTS)]
        return int(counted.sizes[self._violating(counted, absorbing)].sum())

    def _violating(self, counted: Counted, demands: Sequence[Constraint]) -> NDArray[np.bool_]:
        bad = counted.class_people < self.k
        for secret, histogram in zip(self.secrets if demands else (), counted.histograms, strict=False):
            bad |= ~secret.allowed(histogram, demands)
        return bad

    @property
    def inherited(self) -> bool:
        """True if a node below a violating one violates the same demand; rules 2 and 3."""
        return self.limit == 0 and all(type(demand).__module__ == Constraint.__module__ for demand in self.demands)

    def allowed(self, counted: Counted, bad: NDArray[np.bool_]) -> bool:
        """Return True if a node without violating classes is within the limit and the average risk and keeps a row."""
        remaining, max_risk = int(counted.sizes[~bad].sum()), self.protection.average_risk
        safe = max_risk is None or int((~bad).sum()) <= max_risk * remaining * (1 + ROUNDING)
        return safe and remaining > 0 and self.n_rows - remaining <= self.limit

    @property
    def n_rows(self) -> int:
        """Rows that are recoded."""
        return int(self.nodes.table.sizes.sum())

    def rest(self, node: Node) -> SearchProblem:
        """Return the demands on the rows of violating classes at a node, over the nodes from there on."""
        nodes, table = self.nodes, self.nodes.table
        class_of, _ = nodes.merge_classes(node, table.first)
        remaining = np.flatnonzero(self.violating(nodes.counted(node))[class_of])
        ladders = tuple(ladder.from_level(level) for ladder, level in zip(nodes.ladders, node, strict=True))
        return replace(self, nodes=Nodes(ladders, nodes.levels[table.first[remaining]], table.take(remaining)))

    def node(self, levels: Mapping[str, Level]) -> Node:
        """Return the node of levels."""
        return tuple(ladder.levels.index(levels[name]) for name, ladder in self._ladders_by_name())

    def levels(self, node: Node) -> dict[str, Level]:
        """Column -> its level at a node."""
        return {name: ladder.levels[step] for step, (name, ladder) in zip(node, self._ladders_by_name(), strict=True)}

    def _ladders_by_name(self) -> Iterator[tuple[str, Ladder]]:
        return zip((column.name for column in self.table.quasi_identifiers), self.nodes.ladders, strict=True)

    def added(self, node: Node, counted: Counted, bad: NDArray[np.bool_]) -> float:
        """Return the certainty penalty that dropping rows of classes adds to a node."""
        penalty = self._row_penalty - self.nodes.lost(node, counted.first[bad], self.weights)
        return float(counted.sizes[bad] @ penalty) / self.n_rows

    def joint_loss(self, first: Choice, next_round: Choice, remaining: int) -> float:
        """Return the joint loss of a round and the next one, whose rows it counted as dropped."""
        if self.protection.loss == "discernibility":
            return first.loss - self.table.n_rows * float(remaining) + next_round.loss
        return first.loss + (next_round.loss - self._row_penalty) * remaining / self.n_rows

    @property
    def _row_penalty(self) -> float:
        """Certainty penalty of a dropped row."""
        return float(self.weights @ np.array([ladder.row_penalty for ladder in self.nodes.ladders]))


@dataclass(eq=False)
class _Search:
    """A search under way.

    bound : of each node, what it loses at least; infinite once it is closed
    least : the same, closed or not
    seen  : nodes whose classes were counted
    best_choice : the best node so far
    counted : nodes whose classes others are counted from
    """

    problem: SearchProblem
    seen: int = 0
    best_choice: Choice | None = None
    counted: dict[Node, Counted] = field(default_factory=dict)

    def __post_init__(self) -> None:
        penalty = self.problem.protection.loss == "gcp"
        nodes = self.problem.nodes
        self.bound = nodes.least_lost(self.problem.weights) if penalty else np.zeros(nodes.shape)
        self.least = self.bound.copy()

    def search(self) -> Choice:
        """Go on from the least bound until no open node can be better than the best."""
        while np.isfinite(min_bound := self.bound.min()):
            node = np.unravel_index(int(self._first(min_bound)), self.bound.shape)
            self._bisect(self._path(tuple(int(level) for level in node)))
        if self.best_choice is None:
            n = self.bound.size
            raise FailedError(
                f"none of the {n:,} nodes of the lattice satisfies {self.problem.protection!r}; ask for less, or let "
                "more rows be dropped (suppression)"
            )
        return replace(self.best_choice, seen=self.seen)

    def _first(self, min_bound: float) -> int:
        """Return the finest of the open nodes with the least bound."""
        return int(np.where(self.bound == min_bound, self._height, np.inf).argmin())

    @cached_property
    def _height(self) -> NDArray[np.int64]:
        return np.asarray(np.indices(self.bound.shape).sum(axis=0))

    def _path(self, node: Node) -> list[Node]:
        """Open nodes from this one towards the top, each step where the bound rises least."""
        path = [node]
        while True:
            parents = [(*node[:j], level + 1, *node[j + 1 :]) for j, level in enumerate(node)]
            inside = [
                ancestor
                for ancestor in parents
                if all(np.less(ancestor, self.bound.shape)) and np.isfinite(self.bound[ancestor])
            ]
            if not inside:
                break
            node = min(inside, key=lambda ancestor: (self.bound[ancestor], ancestor))
            path.append(node)
        return path

    def _bisect(self, path: list[Node]) -> None:
        """Look for the finest node of a path that satisfies everything."""
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            low, high = (low, middle - 1) if self._satisfies(path[middle]) else (middle + 1, high)

    def _satisfies(self, node: Node) -> bool:
        """Return True if a node satisfies all demands; for a closed one, if that is why no coarser one is better."""
        if np.isfinite(self.bound[node]):
            return self._look(node)
        return self.best_choice is not None and bool(self.least[node] >= self.best_choice.loss)

    def _look(self, node: Node) -> bool:
        """Count a node, close what that proves, keep it if it is the best; whether its classes satisfy all."""
        counted, problem = self._counted(node), self.problem
        bad = problem.violating(counted)
        satisfied = problem.allowed(counted, bad)
        self.bound[node] = np.inf
        if problem.lasting(counted) > problem.limit or (problem.inherited and not satisfied):
            self.bound[tuple(slice(0, level + 1) for level in node)] = np.inf
        loss = self._loss(node, counted, bad)
        if satisfied and (self.best_choice is None or loss < self.best_choice.loss):
            self.best_choice = Choice(problem.levels(node), loss, int(counted.sizes[bad].sum()), self.bound.size, 0)
            self.bound[self.bound >= loss] = np.inf
        return satisfied

    def _counted(self, node: Node) -> Counted:
        """Count the classes at a node from the coarsest finer one in memory."""
        self.seen += 1
        finer = [
            finer_counted for finer_node, finer_counted in self.counted.items() if all(np.less_equal(finer_node, node))
        ]
        counted = self.problem.nodes.counted(
            node, min(finer, key=lambda finer_counted: len(finer_counted.sizes), default=None)
        )
        if 2 * len(counted.sizes) <= len(self.problem.nodes.table.sizes) and len(self.counted) < MAX_KEPT:
            self.counted[node] = counted
        return counted

    def _loss(self, node: Node, counted: Counted, bad: NDArray[np.bool_]) -> float:
        """Return the loss of a node; squares of sizes are a bound of all coarser nodes."""
        if self.problem.protection.loss == "gcp":
            return float(self.least[node]) + self.problem.added(node, counted, bad)
        squares = counted.sizes.astype(np.float64) ** 2
        coarser = tuple(slice(level, None) for level in node)
        for bound in (self.bound, self.least):
            bound[coarser] = np.maximum(bound[coarser], squares.sum())
        return float(squares[~bad].sum()) + self.problem.table.n_rows * float(counted.sizes[bad].sum())


def _weights(given_weights: Mapping[str, float], table: Table) -> NDArray[np.float64]:
    """(d,) the weight of each quasi-identifier; they sum to 1."""
    weights = np.array([float(given_weights.get(column.name, 1.0)) for column in table.quasi_identifiers])
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise UnmaskError("the weights of the columns are below 0, or all 0; expected one above 0 at least")
    return np.asarray(weights / weights.sum())
