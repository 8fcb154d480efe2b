"""Mondrian on the combinations of a table: the boxes of the table in memory, without its rows.

Combinations that fit the memory are cut there at once. Others are first cut in the engine, by the same rule, into boxes
that fit, and these are finished in memory one after the other; only classes are in memory together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.engines import sql
from unmask.errors import UnmaskError
from unmask.tables.counted import Combinations
from unmask.tables.counts import group
from unmask.tables.criteria.evaluation import EXCLUDED
from unmask.tables.large.cutting import Margin, divide
from unmask.tables.large.reduce import Reduced
from unmask.tables.protections import Mondrian
from unmask.tables.recoding import covering, new_cells
from unmask.tables.release import Column
from unmask.tables.search import Search
from unmask.tables.utility.columns import ColumnLoss, Loss
from unmask.tables.utility.evaluation import InformationLoss


@dataclass(frozen=True, eq=False)
class Generalized:
    """What a protection made of a table. Table `name`_box of its engine has the class `box` of every combination.

    release : the classes of the release, without sensitive values. suppressed_rows : rows that are not released.
    spent : what each quasi-identifier has lost, over all rows.
    """

    release: Combinations
    suppressed_rows: int
    spent: tuple[ColumnLoss, ...]


def generalize(reduced: Reduced, protection: Mondrian, *, at_once: int | None = None) -> Generalized:
    """The boxes that `protection` cuts the table into, by the same rule and with the same cells as in memory.

    A strict cut separates values, so rows that agree never part and a combination is a point with its rows as weight.
    The relaxed form parts them at random and needs the rows themselves; it is refused.
    at_once : combinations that may be in memory together, all unless given. The boxes do not depend on it.
    """
    if not protection.strict:
        raise UnmaskError("the relaxed Mondrian parts equal rows and needs them in memory; use the strict form")
    kept = reduced.rows_of_levels(reduced.complete)
    if not kept[0].any():
        raise UnmaskError(EXCLUDED)
    face = reduced.face if reduced.counted else replace(reduced.face, sensitive=(), histograms=())
    finished = list(_finished(reduced, protection.search(face, kept), at_once))
    covers = [*zip(*(boxes.cells for boxes in finished), strict=True)]
    columns = [_joined(*pair) for pair in zip(reduced.quasi_identifiers, covers, strict=True)]
    of_box, _, levels = group([column.codes for column in columns], [len(column.levels) for column in columns])
    _number(reduced, [boxes.table for boxes in finished], of_box)
    rows = np.concatenate([boxes.rows for boxes in finished])
    release = Combinations(
        tuple(replace(column, codes=np.ascontiguousarray(levels[:, j])) for j, column in enumerate(columns)),
        missing=reduced.missing,
        counts=np.bincount(of_box, rows, len(levels)).astype(np.int64),
    )
    gone = [all_rows - some for all_rows, some in zip(reduced.rows_of_levels(), kept, strict=True)]
    spent = map(_spent, reduced.quasi_identifiers, columns, covers, gone)
    return Generalized(release, reduced.n_rows - release.n_rows, tuple(spent))


@dataclass(frozen=True, eq=False)
class _Cover:
    """The cells that cover some boxes in one column: their texts, the text of each box, and what they have lost."""

    texts: list[str]
    text_of_box: NDArray[np.intp]
    spent: ColumnLoss

    @classmethod
    def of(cls, column: Column, codes: NDArray[np.int32], rows: NDArray[np.int64], box: NDArray[np.int32]) -> _Cover:
        """The cells over the boxes that rows of these codes fall in."""
        texts, text_of_box = covering(column, box, codes)
        levels, code = new_cells(column, texts)
        shape = (len(column.levels), len(levels))
        pairs = csr_array((rows, (codes, code[text_of_box][box])), shape=shape)
        loss = Loss.of(column, replace(column, levels=levels), pairs, np.zeros(len(column.levels), dtype=np.int64))
        return cls(texts, text_of_box, ColumnLoss.of(loss))


def _spent(before: Column, after: Column, covers: Sequence[_Cover], gone: NDArray[np.int64]) -> ColumnLoss:
    """What a column has lost in all boxes, and by the rows of each level that are not released."""
    parts = [cover.spent for cover in covers]
    if gone.any():
        none = csr_array((len(before.levels), len(after.levels)), dtype=np.int64)
        parts.append(ColumnLoss.of(Loss.of(before, after, none, gone)))
    return ColumnLoss.together(parts)


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Boxes that are final: the rows of each, their cells in every column, and the table of their combinations."""

    rows: NDArray[np.int64]
    cells: tuple[_Cover, ...]
    table: str


def _finished(reduced: Reduced, search: Search, at_once: int | None) -> Iterator[_Boxes]:
    """All boxes, in as many turns as the memory asks for."""
    if at_once is None or reduced.n_coded <= at_once:
        yield _in_memory(reduced, search, [reduced.part(reduced.complete)], 0)
        return
    divided, made = divide(reduced, search, at_once=at_once), 0
    for turn in divided.turns(at_once):
        parts = (reduced.part(sql.in_boxes([box]), table="open") for box in turn)
        boxes = _in_memory(reduced, search, parts, made)
        made += len(boxes.rows)
        yield boxes
    for box, margins in divided.final.items():
        yield _in_engine(reduced, box, margins, made)
        made += 1
    reduced.engine.drop(f"{reduced.name}_boxed")


def _in_memory(reduced: Reduced, search: Search, parts: Iterable[Combinations], made: int) -> _Boxes:
    """The boxes of combinations that are a box each, numbered from `made`."""
    codes, counts, boxes, n_boxes = [], [], [], 0
    for part in parts:
        boxes.append(search.boxes(part) + np.int32(n_boxes))
        codes.append([column.codes for column in part.quasi_identifiers])
        counts.append(part.counts)
        n_boxes = int(boxes[-1].max()) + 1
    box, rows = np.concatenate(boxes), np.concatenate(counts)
    columns = [np.concatenate(column) for column in zip(*codes, strict=True)]
    table = f"{reduced.name}_box{made}"
    named = dict(zip(reduced.short[0], columns, strict=True))
    reduced.engine.put(table, {**named, "box": box + np.int32(made)})
    cells = tuple(
        _Cover.of(column, code, rows, box) for column, code in zip(reduced.quasi_identifiers, columns, strict=True)
    )
    return _Boxes(np.bincount(box, rows).astype(np.int64), cells, table)


def _in_engine(reduced: Reduced, box: int, margins: Sequence[Margin], made: int) -> _Boxes:
    """A box that has no cut, with the number `made`; its cells follow from its margins."""
    table = f"{reduced.name}_box{made}"
    where = sql.in_boxes([box])
    statement = sql.boxed(f"{reduced.name}_open", reduced.short[0], box=made, where=where, distinct=True)
    reduced.engine.keep(table, statement)
    cells = tuple(
        _Cover.of(column, codes, rows, np.zeros(len(codes), dtype=np.int32))
        for column, (codes, rows) in zip(reduced.quasi_identifiers, margins, strict=True)
    )
    return _Boxes(margins[0][1].sum(keepdims=True), cells, table)


def _joined(column: Column, covers: Sequence[_Cover]) -> Column:
    """The released cells of all boxes, with one numbering of their levels."""
    levels, code = new_cells(column, [text for cover in covers for text in cover.texts])
    first = np.cumsum([0, *(len(cover.texts) for cover in covers)])
    of_box = [code[at + cover.text_of_box] for at, cover in zip(first, covers, strict=False)]
    return replace(column, codes=np.concatenate(of_box), levels=levels)


def _number(reduced: Reduced, tables: Sequence[str], of_box: NDArray[np.int32]) -> None:
    """Keep the class of every combination, given the class of every box."""
    engine, name = reduced.engine, reduced.name
    engine.put(f"{name}_number", {"made": np.arange(len(of_box), dtype=np.int32), "box": of_box})
    engine.keep(f"{name}_box", sql.numbered(tables, reduced.short[0], f"{name}_number"))
    for table in tables:
        engine.drop(table)


def loss(made: Generalized) -> InformationLoss:
    """The loss of a release; rows that are not released count as suppressed.

    The comparisons of distributions and the random queries of `utility.evaluate` need rows and are not among them.
    """
    names = (column.name for column in made.release.quasi_identifiers)
    columns = dict(zip(names, made.spent, strict=True))
    return InformationLoss.of(columns, made.release.counts, suppressed_rows=made.suppressed_rows)
