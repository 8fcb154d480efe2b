"""Domain of unknown records: the categories of each column, and coarser levels of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError, nearest
from unmask.data.writing import is_formula

LEVEL_MARK: Final = ":"
"""Character between a column and a level, such as "age:decade"."""

Labels = Sequence[str]


@dataclass(frozen=True)
class Domain:
    """Categories of each column of the unknown records, also of those that do not occur.

    Parameters
    ----------
    categories : mapping of str to sequence of str
        Column -> its categories, in order.
    levels : mapping, optional
        Column -> name of a level -> label -> categories of the column. A table may have a level such as "age:decade" in
        place of the column.

    Examples
    --------
    >>> domain = Domain({"sex": ("f", "m"), "age": ("0", "1", "2")}, {"age": {"child": {"young": ("0", "1")}}})
    >>> domain.labels("age:child"), domain.size(["sex", "age"])
    (('young',), 6)
    """

    categories: Mapping[str, Sequence[str]]
    levels: Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", {name: tuple(labels) for name, labels in self.categories.items()})
        copied = {
            column: {name: {label: tuple(group) for label, group in level.items()} for name, level in levels.items()}
            for column, levels in self.levels.items()
        }
        object.__setattr__(self, "levels", copied)
        if not self.categories:
            raise UnmaskError("the domain has 0 columns, expected at least 1; name each column and its categories")
        for column, categories in self.categories.items():
            check_labels(f"column {column!r}", categories)
            if LEVEL_MARK in column:
                raise UnmaskError(f"column {column!r} contains {LEVEL_MARK!r}, which separates a level; rename it")
        for column, levels in self.levels.items():
            self._check_column(column)
            for name, level in levels.items():
                check_labels(f"level {name!r} of {column!r}", list(level))
                members = [category for group in level.values() for category in group]
                if not {*members} <= {*self.categories[column]} or len({*members}) < len(members):
                    raise UnmaskError(
                        f"level {name!r} of {column!r} has a category that is unknown or listed twice; "
                        "expected each category of the column at most once"
                    )

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns in order."""
        return tuple(self.categories)

    def labels(self, column: str) -> tuple[str, ...]:
        """Return the categories of a column, or the labels of a level such as "age:decade"."""
        name, mark, level = column.partition(LEVEL_MARK)
        self._check_column(name)
        if not mark:
            return tuple(self.categories[name])
        levels = self.levels.get(name, {})
        if level not in levels:
            raise UnmaskError(f"{level!r} is not a level of column {name!r}; {nearest(level, list(levels))}")
        return tuple(levels[level])

    def membership(self, column: str) -> NDArray[np.float64]:
        """Return the 0/1 matrix (labels, categories) of a column or a level."""
        name, mark, level = column.partition(LEVEL_MARK)
        categories = list(self.categories[name])
        if not mark:
            return np.eye(len(categories))
        matrix = np.zeros((len(self.labels(column)), len(categories)))
        for row, members in enumerate(self.levels[name][level].values()):
            matrix[row, [categories.index(member) for member in members]] = 1.0
        return matrix

    def size(self, columns: Sequence[str]) -> int:
        """Return the number of cells of the cross of columns."""
        return int(np.prod([len(self.labels(column)) for column in columns], dtype=object)) if columns else 1

    def encode(self, column: str, values: ArrayLike) -> NDArray[np.int64]:
        """Return the position of each value among the categories of a column.

        Raises
        ------
        UnmaskError
            If a value is not a category. The error has the number of the value, not its content.
        """
        self._check_column(column)
        return find_positions(self.categories[column], values, f"column {column!r}")

    def _check_column(self, column: str) -> None:
        if column not in self.categories:
            raise UnmaskError(f"{column!r} is not a column of the domain; {nearest(column, self.columns)}")


def check_labels(place: str, labels: Labels) -> None:
    """Raise an error for labels that are empty, equal, or not plain text."""
    if not labels or len({*labels}) < len(labels) or "" in labels:
        raise UnmaskError(f"{place} has no, empty or equal categories, expected different texts; fix the domain")
    if any(is_formula(label) or label != label.strip() or not label.isprintable() for label in labels):
        raise UnmaskError(
            f"{place} has a category that a spreadsheet would run, with blanks at an end, or with invisible "
            "characters; expected plain text"
        )


def find_positions(labels: Labels, values: ArrayLike, place: str) -> NDArray[np.int64]:
    """Return the position of each value among labels; raise for an unknown value, with its line number in a file."""
    texts = np.asarray(values).astype(str)
    distinct, inverse = np.unique(texts, return_inverse=True)
    order = {label: position for position, label in enumerate(labels)}
    positions = np.array([order.get(text, -1) for text in distinct.tolist()], dtype=np.int64)[inverse]
    if (positions < 0).any():
        row = int(np.argmax(positions < 0)) + 1
        raise UnmaskError(
            f"{place} has a value in row {row:,} that is not a category of the domain; add it to the domain, or fix it"
        )
    return positions
