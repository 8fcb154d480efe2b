"""Generalization hierarchies: the leaves of a column and the ancestors that may replace them."""

from __future__ import annotations

import csv
import itertools
import logging
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import AmbiguousInput, UnmaskError
from unmask.data.databases import open_database
from unmask.data.dialects import read_sample, score_dialects
from unmask.data.readings import Reading, read_rows, score_header
from unmask.data.resources import temporary_folder
from unmask.data.source_files import prepare_file
from unmask.data.writing import replace_file

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Hierarchy:
    """Generalization hierarchy of one column, given by one path per leaf.

    leaves : atomic values, in file order; the index of a leaf is its position.
    ancestor : `ancestor[level][leaf]`; level 0 has the leaves, and the last level the root or roots.

    A label means one set of leaves. It may be repeated on several levels of one path. A label that covers different
    leaves on two levels is refused, because a released cell would be ambiguous. Levels are nested: leaves that share an
    ancestor share all higher ancestors.

    >>> tree = Hierarchy.from_paths([("10", "1*", "*"), ("11", "1*", "*"), ("20", "2*", "*")])
    >>> tree.levels, sorted(tree.members("1*"))
    (3, [0, 1])
    """

    leaves: tuple[str, ...]
    ancestor: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        _check(self.leaves, self.ancestor)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.leaves)} leaves, {self.levels} levels)"

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[str]], *, name: str = "the hierarchy") -> Hierarchy:
        """Return the hierarchy of one path per leaf: the leaf first, then its ancestors up to the root.

        >>> Hierarchy.from_paths([("a", "*"), ("b", "*")]).leaves
        ('a', 'b')
        """
        rows = [tuple(normalize("NFC", (label or "").strip()) for label in path) for path in paths]
        if not rows:
            raise UnmaskError(f"{name} is empty, expected one line per leaf: leaf;ancestor;...;root")
        for line, row in enumerate(rows, start=1):
            if len(row) != len(rows[0]):
                raise UnmaskError(f"line {line} of {name} has {len(row)} levels, expected {len(rows[0])} as on line 1")
            if not all(row):
                raise UnmaskError(f"line {line} of {name} has an empty label; expected leaf;ancestor;...;root")
        return cls(tuple(row[0] for row in rows), tuple(zip(*rows, strict=True)))

    @classmethod
    def read(cls, path: str | PathLike[str], *, delimiter: str | None = None) -> Hierarchy:
        r"""Read a hierarchy from a file with one line per leaf, `leaf;ancestor;...;root`, as the ARX tool writes it.

        Semicolons, commas, tabs or bars separate labels. A first line that names the levels is recognized and skipped.

        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "sex.csv"
        ...     _ = file.write_text("leaf,root\nMale,*\nFemale,*\n")
        ...     Hierarchy.read(file)
        Hierarchy(2 leaves, 2 levels)
        """
        name = f"hierarchy file {Path(path).name!r}"
        with temporary_folder(None) as folder, open_database(folder) as connection:
            file = prepare_file(Path(path), folder)
            if file.text is None:
                raise UnmaskError(f"{name} is not plain text; expected one line for each leaf")
            sample = read_sample(file.text)
            dialects = [
                candidate for mark in delimiter or ";,\t|" for candidate in score_dialects(sample, delimiter=mark)
            ]
            best_dialect = max(dialects, key=lambda dialect: (dialect.width > 1, dialect.score), default=None)
            best_dialect = best_dialect or score_dialects(sample, delimiter=" ")[0]
            if not best_dialect.rows:
                raise UnmaskError(f"{name} has no complete line; expected one line for each leaf")
            reading = Reading(best_dialect, _has_header(best_dialect.rows, name))
            try:
                paths = read_rows(connection, reading, "select * from rows", folder)
            except AmbiguousInput as error:
                raise UnmaskError(f"{name}: {str(error).partition(';')[0]}; correct that line") from None
        if best_dialect.delimiter != ";" or reading.header or file.note:
            header = ", line 1 names the levels" if reading.header else ""
            _log.warning("%s: %s", name, file.note or f"delimiter {best_dialect.delimiter!r}{header}")
        return cls.from_paths(zip(*(cells.tolist() for cells in paths.values()), strict=True), name=name)

    def write(self, path: str | PathLike[str]) -> None:
        r"""Write a file that `read` and the ARX tool read: `leaf;ancestor;...;root` in a line for each leaf.

        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "sex.csv"
        ...     Hierarchy.from_paths([("Male", "*"), ("Female", "*")]).write(file)
        ...     file.read_text()
        'Male;*\nFemale;*\n'
        """
        with replace_file(Path(path)) as place, place.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";", lineterminator="\n").writerows(zip(*self.ancestor, strict=True))

    @property
    def levels(self) -> int:
        """Number of levels, including leaves and root."""
        return len(self.ancestor)

    @cached_property
    def numbers(self) -> NDArray[np.int32]:
        """(levels, leaves) node above each leaf at each level, numbered from 0 in the order of labels."""
        return np.stack([np.unique(labels, return_inverse=True)[1] for labels in self.ancestor]).astype(np.int32)

    @property
    def height(self) -> int:
        """Number of levels below the root, even if the hierarchy does not list the root."""
        return self.levels - (len(set(self.ancestor[-1])) == 1)

    @cached_property
    def nodes(self) -> dict[str, frozenset[int]]:
        """Leaf indices of each label of the tree, lowest level first."""
        leaves_of_node: dict[str, set[int]] = {}
        for labels in self.ancestor:
            for leaf, label in enumerate(labels):
                leaves_of_node.setdefault(label, set()).add(leaf)
        return {label: frozenset(leaves) for label, leaves in leaves_of_node.items()}

    @cached_property
    def label_of(self) -> dict[frozenset[int], str]:
        """Canonical label of each node by its leaves: the label of the lowest level that covers exactly these
        leaves.
        """
        labels: dict[frozenset[int], str] = {}
        for label, leaves in self.nodes.items():
            labels.setdefault(leaves, label)
        return labels

    def lowest(self, leaves: Collection[int]) -> str | None:
        """Return the label of the lowest node that covers the leaves; None without a common ancestor.

        >>> Hierarchy.from_paths([("10", "1*", "*"), ("11", "1*", "*"), ("20", "2*", "*")]).lowest([0, 1])
        '1*'
        """
        for labels in self.ancestor:
            if len(ancestors := {labels[leaf] for leaf in leaves}) == 1:
                return ancestors.pop()
        return None

    def members(self, node: str) -> frozenset[int]:
        """Return the indices of the leaves under a node; a leaf covers itself.

        >>> sorted(Hierarchy.from_paths([("a", "*"), ("b", "*")]).members("*"))
        [0, 1]
        """
        try:
            return self.nodes[node]
        except KeyError:
            raise UnmaskError(f"the label is not one of the {len(self.nodes)} nodes of the hierarchy") from None

    def reorder(self, leaves: Sequence[str]) -> Hierarchy:
        """Return the tree with its leaves in another order.

        >>> Hierarchy.from_paths([("a", "*"), ("b", "*")]).reorder(["b", "a"]).leaves
        ('b', 'a')
        """
        if len(leaves) != len(self.leaves) or set(leaves) != set(self.leaves):
            raise UnmaskError(
                f"an order of {len(leaves)} values does not fit a hierarchy of {len(self.leaves)} leaves; "
                "expected the same values in both"
            )
        place = {leaf: position for position, leaf in enumerate(self.leaves)}
        return Hierarchy(
            tuple(leaves), tuple(tuple(labels[place[leaf]] for leaf in leaves) for labels in self.ancestor)
        )

    def order(self) -> tuple[int, ...]:
        """Return the leaf indices in depth-first order: leaves under one node are adjacent, and children keep their
        file order.

        >>> Hierarchy.from_paths([("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*")]).order()
        (0, 2, 1)
        """
        first = [np.unique(numbers, return_index=True)[1][numbers] for numbers in self.numbers]
        return tuple(np.lexsort(first).tolist())


def _has_header(rows: Sequence[Sequence[str]], name: str) -> bool:
    """Return whether the first line names the levels; raise UnmaskError if it is ambiguous."""
    roots = {row[-1] for row in rows[1:]}
    if len(roots) == 1 and len(rows) > 2:
        return rows[0][-1] not in roots
    odds, is_known = score_header(rows, lambda word: _LEVEL.fullmatch(word.lower()) is not None)
    if abs(odds) < 2 and not is_known and len(rows) > 1:
        raise UnmaskError(
            f"line 1 of {name} may name the levels or be a leaf; write # before the names, or end each line with a "
            "common root such as *"
        )
    return is_known or odds >= 2


_LEVEL = re.compile("(level|leaf|leaves|value|node|root|group|label|ancestor|parent|ebene|stufe|wert)s?[ _.-]?[0-9]*")


def _check(leaves: Sequence[str], ancestor: Sequence[Sequence[str]]) -> None:
    if not ancestor or tuple(ancestor[0]) != tuple(leaves):
        raise UnmaskError("level 0 of a hierarchy must be its leaves")
    if len(set(leaves)) != len(leaves):
        repeated = len(leaves) - len(set(leaves))
        raise UnmaskError(f"{repeated} leaves of the hierarchy are repeated; expected one line per leaf")
    for level, (lower, upper) in enumerate(itertools.pairwise(ancestor), start=1):
        if len(set(zip(lower, upper, strict=True))) != len(set(lower)):
            raise UnmaskError(
                f"level {level} of the hierarchy splits a node of level {level - 1}; leaves that share an ancestor "
                "must share all higher ones"
            )
    _check_labels(ancestor)


def _check_labels(ancestor: Sequence[Sequence[str]]) -> None:
    label_sets: dict[str, frozenset[int]] = {}
    for level, labels in enumerate(ancestor):
        groups: dict[str, set[int]] = {}
        for leaf, label in enumerate(labels):
            groups.setdefault(label, set()).add(leaf)
        for label, group in groups.items():
            if label_sets.setdefault(label, frozenset(group)) != group:
                raise UnmaskError(
                    f"a label on level {level} of the hierarchy also names other leaves on a lower level; "
                    "give the two nodes different names"
                )
