"""Full-domain generalization at the best node of the lattice: all levels, with pruning that is proved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Final, Literal

import numpy as np
from numpy.typing import NDArray

from unmask.errors import FailedError, UnmaskError
from unmask.randomness import secret_unless
from unmask.ranges import Range, check_types
from unmask.tables.constraints import Constraint, DistinctL, PSensitive
from unmask.tables.demands import Secret, demands_of, secrets_of
from unmask.tables.nodes import Counted, Level, Node, Nodes
from unmask.tables.protections import (
    Released,
    _at_levels,
    _call,
    _ordered,
    _place_of,
    _rows,
    _wherever_cells_agree,
    satisfying,
)
from unmask.tables.realized import AtMost
from unmask.tables.release import Table

Objective = Literal["gcp", "discernibility"]

ABSORBING: Final = (DistinctL, PSensitive)
"""Constraints that a class keeps whatever is merged into it, as k is: they only ask that something is there."""

ROUNDING = 1e-9
"""Relative error of a share of the rows that is no fault."""

MOST_KEPT = 100
"""Nodes whose classes are kept, to count coarser ones from."""


@dataclass(frozen=True)
class Choice:
    """The node that a search chose.

    levels     : column -> its level, as `Generalize` takes it; 0 is the column as it is
    loss       : of the objective, suppressed rows included
    suppressed : rows that are dropped
    nodes      : of the lattice
    seen       : nodes whose classes were counted; what is said of the others is proved
    """

    levels: Mapping[str, Level]
    loss: float
    suppressed: int
    nodes: int
    seen: int


@dataclass(frozen=True)
class Lattice:
    """Full-domain generalization at the level of each column that loses least, of all combinations of levels; the rows
    of classes that still violate a constraint are dropped, as far as a limit allows.

    k, l, t, constraints : as in `Mondrian`
    suppression  : largest share of the rows that may be dropped, 0 to 1
    average_risk : largest mean probability that a record is re-identified by who knows all quasi-identifiers, classes /
        rows of the release
    realized     : an attack and how often it may be right against the truth, `AtMost`
    loss         : what is to be least: "gcp", the global certainty penalty, a dropped row counting 1 in each column;
        or "discernibility", the sum of n_c^2 over the classes, and n for a dropped row
    weights      : COLUMN=WEIGHT of the columns in the penalty, 1 where not given
    levels       : COLUMN=LEVEL,LEVEL,... to choose among, as `Generalize` takes them, 0 for the column as it is; each a
        union of cells of the one before. Where not given: all levels of a hierarchy, periods of dates, hidden
        characters of codes, and for others the column as it is, or `*`

    The choice is exact: no node that satisfies everything loses less. Every node is a vector of levels, finer nodes
    have lower ones, and the classes at a coarser node are unions of those at a finer one. What is pruned follows from

    1. k, distinct l and p-sensitivity stay true of a class into which others are merged. So the rows of classes that
       violate one of these do not become more at a coarser node: where they exceed the limit, they do at all finer
       nodes, whatever else is asked.
    2. Every constraint of `unmask.tables.constraints` that two classes satisfy is satisfied by their union: entropy is
       concave, distances to a fixed distribution are convex, and the others bound shares (Incognito's subset and
       generalization property). So where no row may be dropped, a node below one that violates something violates it.
       With a limit this is false for all but those of 1: a large violating class may absorb good ones.
    3. Classes become fewer: the average risk falls at coarser nodes where no row may be dropped. With a limit it is
       not monotone, since classes that were dropped may come back as small ones. The success of an attack is not
       monotone either. Both are then asked at every node that is left.
    4. Dropping a row costs at least what its generalized cells would. So a node's loss without suppression, which for
       the certainty penalty is a sum over columns, is a lower bound; and squares of class sizes only grow at coarser
       nodes. A node whose bound reaches the best loss found is closed.

    Nodes are looked at from the least bound on, along paths to the top that are searched by bisection (Flash). An
    unknown constraint, somebody's own, prunes nothing by 2.

    Assumes: as `Mondrian` does; and who is dropped may be missing from every count.

    Fails when: one coarse level for everybody costs much where few are rare. Which node was chosen depends on the
    table, which an adversary may use, as may who is dropped: they are known to be rare.

    >>> table = Table.read({"age": [30, 31, 50, 52], "sex": list("ffmf")}, quasi_identifiers=["age", "sex"])
    >>> protection = Lattice(k=2, levels={"age": [0, 5, 10]})
    >>> found = protection.choose(table)
    >>> found.levels, round(found.loss, 3), found.nodes
    ({'age': 5, 'sex': '*'}, 0.58, 6)
    >>> protection(table, rng=np.random.default_rng(1))[0]["age"].tolist()
    ['[30, 35)', '[30, 35)', '[50, 55)', '[50, 55)']

    P. Samarati, IEEE TKDE 13(6), 2001; K. LeFevre et al., "Incognito", SIGMOD 2005; K. El Emam et al., "A globally
    optimal k-anonymity method", JAMIA 16(5), 2009; F. Kohlmayer et al., "Flash", PASSAT 2012.
    """

    k: int = 10
    l: int | None = None  # noqa: E741 - the literature's name
    t: float | None = None
    suppression: Annotated[float, Range(0, 1)] = 0.0
    average_risk: Annotated[float, Range(0, 1, above=True)] | None = None
    realized: AtMost | None = None
    loss: Objective = "gcp"
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    levels: Mapping[str, Sequence[Level]] = field(default_factory=dict, hash=False)
    constraints: tuple[Constraint, ...] = ()

    __repr__ = _call
    fits = _wherever_cells_agree

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", tuple(self.constraints))
        object.__setattr__(self, "weights", dict(self.weights))
        object.__setattr__(self, "levels", {name: _listed(name, given) for name, given in dict(self.levels).items()})
        demands_of(self.k, self.l, self.t, self.constraints)
        names = ("suppression", "average_risk", "realized", "loss", "weights")
        check_types(type(self), {name: getattr(self, name) for name in names})

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Recode the table to the levels that are chosen, and drop the classes that violate a constraint."""
        rng, rows = secret_unless(rng), _rows(table)
        kept = table if rows.size == table.n_rows else table.take(rows)
        release, origin = self.released(kept, self.choose(kept, rng=rng).levels)
        return _ordered(release, rows[origin], rng)

    def released(self, table: Table, levels: Mapping[str, Level]) -> Released:
        """The release at some levels, its rows as they stand."""
        recoded = _at_levels(table, {name: level for name, level in levels.items() if level != 0})
        kept = satisfying(recoded, *demands_of(self.k, self.l, self.t, self.constraints))[recoded.classes.of_row]
        return recoded.take(kept), np.flatnonzero(kept)

    def choose(self, table: Table, *, rng: np.random.Generator | None = None) -> Choice:
        """The node that loses least of those that satisfy everything; FailedError where none does.

        rng : draws of the attack of `realized`
        """
        rows = _rows(table)
        kept = table if rows.size == table.n_rows else table.take(rows)
        return _Search(Asked.of(self, kept), int(secret_unless(rng).integers(2**63))).best()


@dataclass(frozen=True, eq=False)
class Asked:
    """What a protection asks, bound to the table that it protects.

    limit   : rows that may be dropped
    weights : (d,) of the quasi-identifiers in the penalty; they sum to 1
    """

    protection: Lattice
    table: Table
    nodes: Nodes
    k: int
    demands: tuple[Constraint, ...]
    secrets: tuple[Secret, ...]
    limit: int
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, protection: Lattice, table: Table) -> Asked:
        """Count the classes of the table, with the sensitive values that are asked about."""
        for name in (*protection.levels, *protection.weights):
            _place_of(table, name)
        k, demands = demands_of(protection.k, protection.l, protection.t, protection.constraints)
        secrets = secrets_of(table, demands)
        nodes = Nodes.of(table, protection.levels, [one.moved(table.histogram(one.column)) for one in secrets])
        limit = int(protection.suppression * table.n_rows + ROUNDING)
        return cls(protection, table, nodes, k, demands, tuple(secrets), limit, _weights(protection.weights, table))

    def violating(self, found: Counted) -> NDArray[np.bool_]:
        """(J,) which classes violate a constraint on classes."""
        return self._violating(found, self.demands)

    def lasting(self, found: Counted) -> int:
        """Rows of the classes that violate what a class keeps when others are merged into it; rule 1."""
        asked = [one for one in self.demands if isinstance(one, ABSORBING)]
        return int(found.sizes[self._violating(found, asked)].sum())

    def _violating(self, found: Counted, demands: Sequence[Constraint]) -> NDArray[np.bool_]:
        bad = found.sizes < self.k
        for secret, histogram in zip(self.secrets if demands else (), found.histograms, strict=False):
            bad |= ~secret.allowed(histogram, demands)
        return bad

    @property
    def inherited(self) -> bool:
        """Whether a node below one that violates something violates it, too; rules 2 and 3."""
        return self.limit == 0 and all(type(one).__module__ == Constraint.__module__ for one in self.demands)

    def allowed(self, found: Counted, bad: NDArray[np.bool_]) -> bool:
        """Whether a node without its violating classes is within the limit and the average risk; some row must stay."""
        kept, most = int(found.sizes[~bad].sum()), self.protection.average_risk
        safe = most is None or int((~bad).sum()) <= most * kept * (1 + ROUNDING)
        return safe and kept > 0 and self.table.n_rows - kept <= self.limit

    def levels(self, node: Node) -> dict[str, Level]:
        """Column -> its level at a node."""
        names = (column.name for column in self.table.quasi_identifiers)
        return {name: one.levels[at] for name, one, at in zip(names, self.nodes.ladders, node, strict=True)}

    def added(self, node: Node, found: Counted, bad: NDArray[np.bool_]) -> float:
        """What dropping the rows of some classes adds to the certainty penalty of a node."""
        gone = self.weights @ np.array([ladder.gone for ladder in self.nodes.ladders])
        more = gone - self.nodes.lost(node, found.first[bad], self.weights)
        return float(found.sizes[bad] @ more) / self.table.n_rows


@dataclass(eq=False)
class _Search:
    """A search under way.

    seed  : of the draws of an attack
    bound : of each node, what it loses at least; infinite once it is closed
    least : the same, closed or not
    seen  : nodes whose classes were counted
    found : the best node so far
    kept  : nodes whose classes others are counted from
    """

    asked: Asked
    seed: int
    seen: int = 0
    found: Choice | None = None
    kept: dict[Node, Counted] = field(default_factory=dict)

    def __post_init__(self) -> None:
        penalty = self.asked.protection.loss == "gcp"
        nodes = self.asked.nodes
        self.bound = nodes.least_lost(self.asked.weights) if penalty else np.zeros(nodes.shape)
        self.least = self.bound.copy()

    def best(self) -> Choice:
        """Go on from the least bound until no open node can be better than the best."""
        while np.isfinite(least := self.bound.min()):
            node = np.unravel_index(int(self._first(least)), self.bound.shape)
            self._bisect(self._path(tuple(int(level) for level in node)))
        if self.found is None:
            n = self.bound.size
            raise FailedError(
                f"none of the {n:,} nodes of the lattice satisfies {self.asked.protection!r}; ask for less, or let "
                "more rows be dropped (suppression)"
            )
        return replace(self.found, seen=self.seen)

    def _first(self, least: float) -> int:
        """Of the open nodes with the least bound the finest."""
        return int(np.where(self.bound == least, self._height, np.inf).argmin())

    @cached_property
    def _height(self) -> NDArray[np.int64]:
        return np.asarray(np.indices(self.bound.shape).sum(axis=0))

    def _path(self, node: Node) -> list[Node]:
        """Open nodes from this one towards the top, each step where the bound rises least; with an attack, this one."""
        path = [node]
        while self.asked.protection.realized is None:
            above = [(*node[:j], level + 1, *node[j + 1 :]) for j, level in enumerate(node)]
            inside = [one for one in above if all(np.less(one, self.bound.shape)) and np.isfinite(self.bound[one])]
            if not inside:
                break
            node = min(inside, key=lambda one: (self.bound[one], one))
            path.append(node)
        return path

    def _bisect(self, path: list[Node]) -> None:
        """Look for the finest node of a path that satisfies everything."""
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            low, high = (low, middle - 1) if self._satisfies(path[middle]) else (middle + 1, high)

    def _satisfies(self, node: Node) -> bool:
        """Whether a node satisfies all; of a closed one, whether that is why no better one is coarser."""
        if np.isfinite(self.bound[node]):
            return self._look(node)
        return self.found is not None and bool(self.least[node] >= self.found.loss)

    def _look(self, node: Node) -> bool:
        """Count a node, close what that proves, keep it if it is the best; whether its classes satisfy all."""
        found, asked = self._counted(node), self.asked
        bad = asked.violating(found)
        satisfied = asked.allowed(found, bad)
        self.bound[node] = np.inf
        if asked.lasting(found) > asked.limit or (asked.inherited and not satisfied):
            self.bound[tuple(slice(0, level + 1) for level in node)] = np.inf
        loss = self._loss(node, found, bad)
        if satisfied and (self.found is None or loss < self.found.loss) and self._attack_allows(node):
            self.found = Choice(asked.levels(node), loss, int(found.sizes[bad].sum()), self.bound.size, 0)
            self.bound[self.bound >= loss] = np.inf
        return satisfied

    def _counted(self, node: Node) -> Counted:
        """The classes at a node, from the coarsest finer one that was kept."""
        self.seen += 1
        finer = [one for at, one in self.kept.items() if all(np.less_equal(at, node))]
        found = self.asked.nodes.counted(node, min(finer, key=lambda one: len(one.sizes), default=None))
        if 2 * len(found.sizes) <= len(self.asked.nodes.table.sizes) and len(self.kept) < MOST_KEPT:
            self.kept[node] = found
        return found

    def _loss(self, node: Node, found: Counted, bad: NDArray[np.bool_]) -> float:
        """What the node loses; where squares of sizes are counted, they are a bound of all coarser nodes."""
        if self.asked.protection.loss == "gcp":
            return float(self.least[node]) + self.asked.added(node, found, bad)
        squares = found.sizes.astype(np.float64) ** 2
        coarser = tuple(slice(level, None) for level in node)
        for bound in (self.bound, self.least):
            bound[coarser] = np.maximum(bound[coarser], squares.sum())
        return float(squares[~bad].sum()) + self.asked.table.n_rows * float(found.sizes[bad].sum())

    def _attack_allows(self, node: Node) -> bool:
        protection, levels = self.asked.protection, self.asked.levels(node)
        if protection.realized is None:
            return True
        rng = np.random.default_rng(self.seed)  # at every node against the same people
        return protection.realized.allows(self.asked.table, lambda one: protection.released(one, levels), rng=rng)


def _listed(name: str, given: object) -> tuple[Level, ...]:
    """The levels of a column; one alone is a list of one."""
    if isinstance(given, str | int | float):
        return (given,)
    if not isinstance(given, Sequence) or not given:
        raise UnmaskError(f"levels of column {name!r} are {given!r}, expected a list such as [0, 1, 2]")
    return tuple(given)


def _weights(given: Mapping[str, float], table: Table) -> NDArray[np.float64]:
    """(d,) the weight of each quasi-identifier; they sum to 1."""
    weights = np.array([float(given.get(column.name, 1.0)) for column in table.quasi_identifiers])
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise UnmaskError("the weights of the columns are below 0, or all 0; expected one above 0 at least")
    return np.asarray(weights / weights.sum())
