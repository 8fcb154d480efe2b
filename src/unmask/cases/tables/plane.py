"""The nodes of a lattice as releases of a game: what adversaries find at each, counted from classes, without rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.economics.releases import Group, Releases
from unmask.errors import FailedError, UnmaskError
from unmask.tables.attacks import ClassAttack, RegisterAttack
from unmask.tables.attacks.classes import LEAST
from unmask.tables.attacks.owners import owners
from unmask.tables.knowledge import Knowledge, Register
from unmask.tables.lattice import Lattice
from unmask.tables.nodes import Counted, Level, Node
from unmask.tables.optimum import Asked
from unmask.tables.protections import _place_of
from unmask.tables.release import Table

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Plane:
    """The nodes of a lattice that satisfy what its protection asks.

    nodes    : (n, d) levels, by their number in `levels`
    levels   : column -> what its levels are called
    utility  : (n,) 1 - the global certainty penalty
    whole    : (n,) where no row is dropped
    releases : adversary -> the nodes as they find them
    """

    nodes: Ints
    levels: Mapping[str, Sequence[Level]]
    utility: NDArray[np.float64]
    whole: NDArray[np.bool_]
    releases: Mapping[str, Releases]

    def at(self, place: int) -> dict[str, list[Level]]:
        """What `Lattice` takes as levels so that it is this node."""
        return {name: [of[at]] for (name, of), at in zip(self.levels.items(), self.nodes[place], strict=True)}


@dataclass(frozen=True, eq=False)
class Seen:
    """An adversary over all nodes: people on the classes of the table, and what they make of the boxes of a node.

    people  : (J,) targets, or people of a register
    columns : places of the quasi-identifiers that are known
    found   : (rows released, people) of each box -> candidates, chance inside, how many targets
    """

    people: Ints
    columns: Sequence[int]
    found: Callable[[Ints, Ints], Group]


def plane(table: Table, protection: Lattice, adversaries: Mapping[str, tuple[Any, Any, np.random.Generator]]) -> Plane:
    """Every node of a lattice that satisfies its protection, and what adversaries make of it.

    adversaries : name -> the attack, what is known (`Knowledge`, `Register`), and the draws of who is known
    """
    if protection.realized is not None:
        raise UnmaskError("a game over a lattice has its own attackers; leave out what `realized` asks")
    if protection.rounds > 1:
        raise UnmaskError("the nodes of a lattice are weighed as one recoding of all rows; leave out rounds")
    seen = {name: _seen(table, *one) for name, one in adversaries.items()}
    asked = _watching(Asked.of(protection, table), seen.values())
    kept = list(_kept(asked, seen))
    if not kept:
        n = int(np.prod(asked.nodes.shape))
        raise FailedError(f"none of the {n:,} nodes of the lattice satisfies {protection!r}; ask for less")
    at, utility, whole, groups = zip(*kept, strict=True)
    names = (column.name for column in table.quasi_identifiers)
    return Plane(
        np.array(at),
        {name: ladder.levels for name, ladder in zip(names, asked.nodes.ladders, strict=True)},
        np.clip(utility, 0.0, 1.0),
        np.array(whole),
        {name: Releases.of(each) for name, each in zip(seen, zip(*groups, strict=True), strict=True)},
    )


def _watching(asked: Asked, seen: Iterable[Seen]) -> Asked:
    """The same, counting also the people whom adversaries know, with all columns of the penalty alike."""
    nodes = asked.nodes
    table = replace(nodes.table, people=tuple(one.people for one in seen))
    return replace(asked, nodes=replace(nodes, table=table), weights=np.full(len(nodes.shape), 1 / len(nodes.shape)))


def _kept(asked: Asked, seen: Mapping[str, Seen]) -> Iterator[tuple[Node, float, bool, list[Group]]]:
    """Each node that may be released: its utility, whether no row is dropped, and what each adversary makes of it."""
    lost = asked.nodes.least_lost(asked.weights)
    for node, found in asked.nodes.walk():
        bad = asked.violating(found)
        if asked.allowed(found, bad):
            known = zip(seen.values(), found.people, strict=True)
            groups = [_groups(asked, node, found, bad, one, people) for one, people in known]
            yield node, 1.0 - float(lost[node]) - asked.added(node, found, bad), not bad.any(), groups


def _groups(asked: Asked, node: Node, found: Counted, bad: NDArray[np.bool_], one: Seen, people: Ints) -> Group:
    """What an adversary makes of a node; people : (J,) those whom they know."""
    rows = np.where(bad, 0, found.sizes)
    if len(one.columns) < len(node):
        of, _ = asked.nodes.together(node, found.first, one.columns)
        rows, people = (np.bincount(of, weights=each).astype(np.int64) for each in (rows, people))
    return one.found(rows, people)


def _seen(table: Table, attack: Any, knows: Any, rng: np.random.Generator) -> Seen:
    """An adversary whose belief depends on the sizes of classes alone; others are refused."""
    columns = [_place_of(table, name) for name in knows.columns or [one.name for one in table.quasi_identifiers]]
    _check_exact([table.quasi_identifiers[at] for at in columns])
    if type(attack) is ClassAttack and attack.prior_present == 1 and isinstance(knows, Knowledge):
        if knows.missing or knows.error:
            raise UnmaskError("over a lattice an adversary knows people's cells without gaps and mistakes")
        person, found = knows(table, rng=rng).person, _classes
    elif type(attack) is RegisterAttack and isinstance(knows, Register):
        person = knows(table, np.arange(table.n_rows), rng=rng).person
        coverage = knows.coverage

        def found(rows: Ints, people: Ints) -> Group:
            return _boxes(rows, people, coverage)

    else:
        raise UnmaskError(
            f"{attack!r} is no adversary whom classes tell everything; over a lattice that is tables.ClassAttack, or "
            "tables.RegisterAttack"
        )
    people = np.bincount(table.classes.of_row[person], minlength=len(table.classes.sizes)).astype(np.int64)
    return Seen(people, columns, found)


def _check_exact(columns: Sequence[Any]) -> None:
    for column in columns:
        if not column.levels.atomic[column.counts > 0].all():
            raise UnmaskError(
                f"column {column.name!r} has missing or generalized cells, so that classes overlap; over a lattice all "
                "quasi-identifiers that are known are exact"
            )


def _classes(rows: Ints, people: Ints) -> Group:
    """`ClassAttack`: each target is one of the records of their box."""
    some = (rows > 0) & (people > 0)
    size, at = np.unique(rows[some], return_inverse=True)
    targets = np.bincount(at, weights=people[some], minlength=len(size)).astype(np.int64)
    return size, np.ones(len(size)), targets


def _boxes(rows: Ints, people: Ints, coverage: float) -> Group:
    """`RegisterAttack`: the targets are records, the candidates the people of the register who share their box."""
    released, listed = np.flatnonzero(rows), np.flatnonzero(people)
    both = np.flatnonzero((rows > 0) & (people > 0))
    row, klass = np.searchsorted(released, both), np.searchsorted(listed, both)
    found = owners(rows[released], people[listed], row, klass, coverage=coverage)
    likely = found.each > LEAST
    pairs = np.stack([people[both], rows[both]])[:, likely]
    kinds, first, at = np.unique(pairs, axis=1, return_index=True, return_inverse=True)
    targets = np.bincount(at, weights=pairs[1], minlength=kinds.shape[1]).astype(np.int64)
    return kinds[0], found.inside[row][likely][first], targets
