"""Generalization at the best node of the lattice, for all rows or in rounds, with pruning that is proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.ranges import Range, check_types
from unmask.tables.matching import compatible
from unmask.tables.protections.base import Released, evaluated_rows, format_call, recode, sort_release
from unmask.tables.protections.bound_constraints import demands_of, satisfying
from unmask.tables.protections.constraints import Constraint
from unmask.tables.protections.lattice_levels import Level
from unmask.tables.protections.lattice_search import Choice, SearchProblem, in_rounds
from unmask.tables.protections.recoding import new_cells
from unmask.tables.table import Table

if TYPE_CHECKING:
    from unmask.tables.attacks.pairing import Pairing

Objective = Literal["gcp", "discernibility"]


@dataclass(frozen=True)
class Lattice:
    """Full-domain generalization at the level of each column that loses least, of all combinations of levels; the rows
    of classes that still violate a constraint are dropped, as far as a limit allows.

    k, l, t, constraints : as in `Mondrian`
    suppression  : largest share of the rows that may be dropped, 0 to 1
    average_risk : largest mean probability that a record is re-identified by who knows all quasi-identifiers, classes /
        rows of the release
    loss         : what is to be least: "gcp", the global certainty penalty, a dropped row counting 1 in each column;
        or "discernibility", the sum of n_c^2 over the classes, and n for a dropped row
    weights      : COLUMN=WEIGHT of the columns in the penalty, 1 where not given
    levels       : COLUMN=LEVEL,LEVEL,... to choose among, as `Generalize` takes them, 0 for the column as it is; each a
        union of cells of the one before. Where not given: all levels of a hierarchy, periods of dates, hidden
        characters of codes, and for others the column as it is, or `*`
    rounds     : 1 for full-domain generalization; with n, local recoding: up to n nodes one after another, each for the
        rows whose classes violate something at those before, and none finer than those in any column. The rows that are
        left last are dropped, and `t` compares with the sensitive values of the whole table

    With one round the choice is exact: no node that satisfies everything loses less. Every node is a vector of levels,
    finer nodes have lower ones, and the classes at a coarser node are unions of those at a finer one. What is pruned
    follows from

    1. k, distinct l and p-sensitivity stay true of a class into which others are merged. So the rows of classes that
       violate one of these do not become more at a coarser node: where they exceed the limit, they do at all finer
       nodes, whatever the other constraints are.
    2. Every constraint of `unmask.tables.protections` that two classes satisfy is satisfied by their union: entropy is
       concave, distances to a fixed distribution are convex, and the others bound shares (Incognito's subset and
       generalization property). So where no row may be dropped, a node below one that violates something violates it.
       With a limit this is false for all but those of 1: a large violating class may absorb good ones.
    3. Classes become fewer: the average risk falls at coarser nodes where no row may be dropped. With a limit it is
       not monotone, since classes that were dropped may come back as small ones. The success of an attack is not
       monotone either. Both are then asked at every node that is left.
    4. Dropping a row costs at least what its generalized cells would. So a node's loss without suppression, which for
       the certainty penalty is a sum over columns, is a lower bound; and squares of class sizes only grow at coarser
       nodes. A node whose bound reaches the best loss found is closed.

    Nodes are looked at from the least bound on, along paths to the top that are searched by bisection (Flash). A
    custom constraint prunes nothing by 2.

    With more rounds each node is exact for its own rows: the first may leave all but 1/n of them, which count as
    dropped, and those after it do the same with what is left. The nodes together are not the best of all; but one node
    for all rows of a round is taken where it loses no more, so that local recoding never loses more than full-domain
    generalization. The average risk, classes / rows, is at most the largest of the rounds. A class is released or left
    as a whole. So a person who is known exactly can only be in the finest of the released classes that contain their
    cells, and that class satisfies the constraints. `fits` excludes all other classes for an adversary who knows the
    protection.

    Assumes: as `Mondrian` does; and who is dropped may be missing from every count.

    Fails when: one coarse level for everybody costs much where few are rare; rounds help. Which node was chosen
    depends on the table, which an adversary may use, as may who is dropped: they are known to be rare.

    >>> table = Table.read({"age": [30, 31, 50, 52], "sex": list("ffmf")}, quasi_identifiers=["age", "sex"])
    >>> protection = Lattice(k=2, levels={"age": [0, 5, 10]})
    >>> found = protection.choose(table)
    >>> found.levels, round(found.loss, 3), found.nodes
    ({'age': 5, 'sex': '*'}, 0.58, 6)
    >>> protection(table, rng=np.random.default_rng(1))[0]["age"].tolist()
    ['[30, 35)', '[30, 35)', '[50, 55)', '[50, 55)']

    Two rounds, the second for those who are not twice as they are:

    >>> twins = Table.read({"age": [30, 30, 50, 58], "sex": list("ffmf")}, quasi_identifiers=["age", "sex"])
    >>> Lattice(k=2, levels={"age": [0, 10, "*"]}, rounds=2)(twins, rng=np.random.default_rng(1))[0]["age"].tolist()
    ['30', '30', '[50, 60)', '[50, 60)']

    P. Samarati, IEEE TKDE 13(6), 2001; K. LeFevre et al., "Incognito", SIGMOD 2005; K. El Emam et al., "A globally
    optimal k-anonymity method", JAMIA 16(5), 2009; F. Kohlmayer et al., "Flash", PASSAT 2012; in
    rounds, F. Prasser et al., "A scalable and pragmatic method for the safe sharing of high-quality health data", IEEE
    JBHI 22(2), 2018, whose rounds may also be finer than those before.
    """

    k: int = 10
    l: int | None = None  # noqa: E741 - the literature's name
    t: float | None = None
    suppression: Annotated[float, Range(0, 1)] = 0.0
    average_risk: Annotated[float, Range(0, 1, above=True)] | None = None
    loss: Objective = "gcp"
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    levels: Mapping[str, Sequence[Level]] = field(default_factory=dict, hash=False)
    constraints: tuple[Constraint, ...] = ()
    rounds: Annotated[int, Range(1)] = 1

    __repr__ = format_call

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", tuple(self.constraints))
        object.__setattr__(self, "weights", dict(self.weights))
        object.__setattr__(
            self, "levels", {name: _list_levels(name, value) for name, value in dict(self.levels).items()}
        )
        demands_of(self.k, self.l, self.t, self.constraints)
        names = ("suppression", "average_risk", "loss", "weights", "rounds")
        check_types(type(self), {name: getattr(self, name) for name in names})

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Recode the table to the levels that are chosen, and drop the classes that violate a constraint."""
        rng, rows = secret_unless(rng), evaluated_rows(table)
        complete = table.complete
        release, origin = _joined(complete, list(self._recoded(complete, self.choose(complete))))
        return sort_release(release, rows[origin], rng)

    def released(self, table: Table, levels: Mapping[str, Level], reference: Table | None = None) -> Released:
        """Return the release at levels, in row order; reference : the table of which these rows remain."""
        recoded = recode(table, {name: level for name, level in levels.items() if level != 0})
        good = satisfying(recoded, *demands_of(self.k, self.l, self.t, self.constraints), reference=reference)
        is_released = good[recoded.classes.of_row]
        return recoded.take(is_released), np.flatnonzero(is_released)

    def _recoded(self, table: Table, choice: Choice | None) -> Iterator[Released]:
        """Yield the release of each round and its source rows."""
        remaining = np.arange(table.n_rows)
        while choice is not None:
            release, origin = self.released(table.take(remaining), choice.levels, table)
            yield release, remaining[origin]
            remaining, choice = np.delete(remaining, origin), choice.rest

    def fits(
        self, release: Table, pairing: Pairing, row: NDArray[np.int64], klass: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return True for pairs of people and released classes that the rule allows, of those whose cells agree.

        With rounds, a person who is known exactly fits only the finest class that contains their cells: the cells of
        each column are nested, and a finer one meets fewer of the known or released cells. If a missing cell is any
        value, all classes fit, because a fine class with a missing cell fits people who were never in it.
        """
        covers_all = len(pairing.columns) == len(release.quasi_identifiers)
        if self.rounds == 1 or not covers_all or release.missing == "wildcard":
            return np.ones(row.size, dtype=np.bool_)
        wide, exact = np.zeros(len(pairing.classes), dtype=np.int64), np.ones(len(pairing.observed), dtype=np.bool_)
        for j, (known_cells, cell) in enumerate(pairing.columns):
            met = (
                compatible(side.levels, cell.levels, missing=release.missing).sum(axis=0)
                for side in (known_cells, cell)
            )
            wide += sum(met)[pairing.classes[:, j]]
            exact &= known_cells.levels.atomic[pairing.observed[:, j]]
        finest = np.full(len(exact), np.iinfo(np.int64).max)
        np.minimum.at(finest, row, wide[klass])
        return np.asarray(~exact[row] | (wide[klass] == finest[row]))

    def choose(self, table: Table) -> Choice:
        """Return the node that loses least of those that satisfy everything, or a chain of nodes, one for each round.

        Raise FailedError if no node for all rows satisfies everything.
        """
        evaluated_rows(table)
        complete = table.complete
        return in_rounds(SearchProblem.of(self, complete), self.rounds)


def _joined(table: Table, parts: Sequence[Released]) -> Released:
    """One release of what rounds release, each cell as its round has it."""
    if len(parts) == 1:
        return parts[0]
    rows, columns = np.concatenate([rows for _, rows in parts]), []
    for j, column in enumerate(table.quasi_identifiers):
        rounds = [release.quasi_identifiers[j] for release, _ in parts]
        begins = np.cumsum([0, *(len(part.levels) for part in rounds)])
        levels, code = new_cells(column, [label for part in rounds for label in part.levels.labels])
        codes = np.concatenate([code[begin + part.codes] for begin, part in zip(begins, rounds, strict=False)])
        columns.append(replace(column, levels=levels, codes=codes))
    return replace(table.take(rows), quasi_identifiers=tuple(columns)), rows


def _list_levels(name: str, levels: object) -> tuple[Level, ...]:
    """Return the levels of a column as a list."""
    if isinstance(levels, str | int | float):
        return (levels,)
    if not isinstance(levels, Sequence) or not levels:
        raise UnmaskError(f"levels of column {name!r} are {levels!r}, expected a list such as [0, 1, 2]")
    return tuple(levels)
