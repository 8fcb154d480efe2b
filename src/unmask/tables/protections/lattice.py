"""Full-domain generalization at the best node of the lattice, and local recoding in rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from unmask.core.arrays import Booleans, Integers
from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.ranges import Range, check_types
from unmask.tables.matching import compatible
from unmask.tables.protections.base import Released, format_call, protected_rows, recode, sort_release
from unmask.tables.protections.bound_constraints import ClassConstraints, find_satisfying_classes
from unmask.tables.protections.lattice_levels import Level
from unmask.tables.protections.lattice_search import Choice, SearchProblem, search_rounds
from unmask.tables.protections.recoding import write_cells
from unmask.tables.table import Table

if TYPE_CHECKING:
    from unmask.tables.attacks.pairing import Pairing

Objective = Literal["gcp", "discernibility"]


@dataclass(frozen=True)
class Lattice(ClassConstraints):
    """Full-domain generalization: the combination of levels with the smallest loss, found by an exact search.

    A node of the lattice is a combination of one generalization level for each column. Rows of classes that violate a
    constraint are suppressed, up to a limit.

    With one round the search is exact: no node that satisfies all constraints has a smaller loss. Classes of a coarser
    node are unions of classes of a finer node. The search prunes nodes by four rules:

    1. k, distinct l and p-sensitivity remain satisfied if classes are merged. Rows in classes that violate one of them
       can only become fewer at a coarser node. If they exceed the limit at a node, they exceed it at all finer nodes.
    2. Every constraint of `unmask.tables.protections` that two classes satisfy is satisfied by their union, because
       entropy is concave, distances to a fixed distribution are convex, and the others bound shares. Without
       suppression, all nodes below a node that violates a constraint violate it, too. With suppression this holds for
       the constraints of rule 1 only, because a large violating class may absorb others.
    3. Coarser nodes have fewer classes. Without suppression the average risk therefore falls at coarser nodes. With
       suppression it is not monotone, because small classes may return. The success of an attack is never monotone.
       Both are evaluated at every remaining node.
    4. Suppressing a row costs at least as much as generalizing its cells. The loss without suppression is therefore a
       lower bound. For discernibility, the squares of class sizes grow at coarser nodes. Nodes whose bound is not below
       the best loss found so far are skipped.

    Nodes are visited in the order of their bounds, along paths to the top that are searched by bisection (Flash). Rule
    2 is not used with a custom constraint.

    With n rounds, generalization is local: each round generalizes the rows that earlier rounds suppressed, and no
    column more finely than before. Each round is exact for its own rows and may suppress all but 1/n of them. The
    rounds together are not optimal. One node for all rows of a round is used if its loss is not larger, so that
    local recoding never loses more than full-domain generalization. The average risk, classes / rows, is at most
    the largest one of the rounds. A class is released or suppressed as a whole. Therefore a person who is known
    exactly can only be in the finest released class that contains their cells, and this class satisfies the
    constraints. `allowed_pairs` excludes all other classes for an adversary who knows the protection.

    Assumes: what `Mondrian` assumes. A suppressed person may be missing from every count.

    Fails when: one coarse level for all rows is costly because a few rows are rare; more rounds help. The chosen node
        depends on the table, and suppressed people are known to be rare. An adversary may use both.

    Parameters
    ----------
    k, l, t, t_distance, l_entropy, l_recursive, delta, beta, alpha, constraints
        As in `Mondrian`.
    suppression : float
        Largest share of rows that may be suppressed, 0 to 1.
    average_risk : float, optional
        Largest mean probability that an adversary who knows all quasi-identifiers re-identifies a record: classes /
        rows of the release.
    loss : str
        Loss to minimize: "gcp", the global certainty penalty, with 1 for each column of a suppressed row; or
            "discernibility", the sum of n_c^2 over classes, and n for a suppressed row.
    weights : mapping of str to float
        Weight of each column in the penalty, 1 by default.
    levels : mapping of str to sequence
        Levels of each column to choose among, as in `Generalize`; 0 is the column itself. Each level is a union of
        cells of the level before. The default is all levels of a hierarchy, periods of dates, hidden characters of
        codes, and for other columns the column itself or `*`.
    rounds : int
        1 for full-domain generalization, more for local recoding with up to this number of nodes. Rows that violate a
        constraint after the last round are suppressed. `t` compares with the sensitive values of the whole table.

    References
    ----------
    P. Samarati, IEEE TKDE 13(6), 2001; K. LeFevre et al., "Incognito", SIGMOD 2005; K. El Emam et al., "A globally
    optimal k-anonymity method", JAMIA 16(5), 2009; F. Kohlmayer et al., "Flash", PASSAT 2012. Rounds: F. Prasser et
    al., "A scalable and pragmatic method for the safe sharing of high-quality health data", IEEE JBHI 22(2), 2018,
    whose rounds may also be finer than the ones before.

    Examples
    --------
    >>> table = Table.read({"age": [30, 31, 50, 52], "sex": list("ffmf")}, quasi_identifiers=["age", "sex"])
    >>> protection = Lattice(k=2, levels={"age": [0, 5, 10]})
    >>> choice = protection.choose(table)
    >>> choice.levels, round(choice.loss, 3), choice.nodes
    ({'age': 5, 'sex': '*'}, 0.58, 6)
    >>> protection(table, rng=np.random.default_rng(1))[0]["age"].tolist()
    ['[30, 35)', '[30, 35)', '[50, 55)', '[50, 55)']

    Two rounds, the second for people who are unique after the first:

    >>> twins = Table.read({"age": [30, 30, 50, 58], "sex": list("ffmf")}, quasi_identifiers=["age", "sex"])
    >>> Lattice(k=2, levels={"age": [0, 10, "*"]}, rounds=2)(twins, rng=np.random.default_rng(1))[0]["age"].tolist()
    ['30', '30', '[50, 60)', '[50, 60)']
    """

    suppression: Annotated[float, Range(0, 1)] = 0.0
    average_risk: Annotated[float, Range(0, 1, above=True)] | None = None
    loss: Objective = "gcp"
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    levels: Mapping[str, Sequence[Level]] = field(default_factory=dict, hash=False)
    rounds: Annotated[int, Range(1)] = 1

    __repr__ = format_call

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "weights", dict(self.weights))
        object.__setattr__(
            self, "levels", {name: _list_levels(name, value) for name, value in dict(self.levels).items()}
        )
        names = ("suppression", "average_risk", "loss", "weights", "rounds")
        check_types(type(self), {name: getattr(self, name) for name in names})

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return the release at the best node, without the classes that violate a constraint, and its origin."""
        rng, complete = secret_unless(rng), protected_rows(table)
        release, origin = _joined(complete, list(self._recoded(complete, self.choose(complete))))
        return sort_release(release, table.complete_rows[origin], rng)

    def released(self, table: Table, levels: Mapping[str, Level], reference: Table | None = None) -> Released:
        """Return the release at the given levels, in row order, and its origin.

        reference : table whose sensitive values are the reference distribution; by default this table
        """
        recoded = recode(table, {name: level for name, level in levels.items() if level != 0})
        good = find_satisfying_classes(recoded, self.smallest_class, self.demands, reference=reference)
        is_released = good[recoded.classes.of_row]
        return recoded.take(is_released), np.flatnonzero(is_released)

    def _recoded(self, table: Table, choice: Choice | None) -> Iterator[Released]:
        """Yield the release of each round and its source rows."""
        remaining = np.arange(table.n_rows)
        while choice is not None:
            release, origin = self.released(table.take(remaining), choice.levels, table)
            yield release, remaining[origin]
            remaining, choice = np.delete(remaining, origin), choice.next_round

    def allowed_pairs(self, release: Table, pairing: Pairing, row: Integers, klass: Integers) -> Booleans:
        """Return a mask of the compatible pairs of a person and a class that the protection allows.

        With rounds, a fully known person can only be in the finest class that contains their cells. The cells of each
        column are nested, so the finest class is compatible with the fewest known and released cells. If a missing cell
        is any value, all classes are allowed: people outside a fine class may be compatible with its missing cells.

        row, klass : observation and class of each pair
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
        """Return the node with the smallest loss among those that satisfy all constraints, or a chain of nodes for
        rounds.

        FailedError if no node for all rows satisfies the constraints.
        """
        return search_rounds(SearchProblem.of(self, protected_rows(table)), self.rounds)


def _joined(table: Table, parts: Sequence[Released]) -> Released:
    """Return one release with the rows of all rounds."""
    if len(parts) == 1:
        return parts[0]
    rows, columns = np.concatenate([rows for _, rows in parts]), []
    for j, column in enumerate(table.quasi_identifiers):
        rounds = [release.quasi_identifiers[j] for release, _ in parts]
        begins = np.cumsum([0, *(len(part.levels) for part in rounds)])
        codes = np.concatenate([begin + part.codes for begin, part in zip(begins, rounds, strict=False)])
        columns.append(write_cells(column, [label for part in rounds for label in part.levels.labels], codes))
    return replace(table.take(rows), quasi_identifiers=tuple(columns)), rows


def _list_levels(name: str, levels: object) -> tuple[Level, ...]:
    """Return the levels of a column as a tuple."""
    if isinstance(levels, str | int | float):
        return (levels,)
    if not isinstance(levels, Sequence) or not levels:
        raise UnmaskError(f"levels of column {name!r} are {levels!r}, expected a list such as [0, 1, 2]")
    return tuple(levels)
