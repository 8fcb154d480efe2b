"""Mondrian on the combinations of a table: the boxes of the table in memory, without its rows.

Combinations that fit the memory are cut there at once. Others are first cut in the engine, by the same rule, into boxes
that fit, and these are finished in memory one after the other; only classes are in memory together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.core.errors import UnmaskError
from unmask.data import sql
from unmask.tables import mondrian as kernel
from unmask.tables.column import Column
from unmask.tables.counted import Combinations
from unmask.tables.counting.reduce import Reduced
from unmask.tables.counts import group
from unmask.tables.criteria.evaluation import EXCLUDED
from unmask.tables.demands import Secret
from unmask.tables.protections import Mondrian
from unmask.tables.recoding import covering, new_cells
from unmask.tables.search import Search
from unmask.tables.utility.columns import ColumnLoss, Loss
from unmask.tables.utility.evaluation import InformationLoss

Margin: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int64]]
"""The codes of a column that occur in a box, ascending, and the rows of each."""


@dataclass(frozen=True, eq=False)
class Generalized:
    """What a protection made of a table. Table `name`_box of its engine has the class `box` of every combination.

    release : the classes of the release, without sensitive values. loss : over all rows, where those that are not
    released count as suppressed; comparisons of distributions and random queries need rows and are not part of it.
    """

    release: Combinations
    loss: InformationLoss


def generalize(reduced: Reduced, protection: Mondrian) -> Generalized:
    """The boxes that `protection` cuts the table into, by the same rule and with the same cells as in memory.

    A strict cut separates values, so rows that agree never part and a combination is a point with its rows as weight.
    The relaxed form parts them at random and needs the rows themselves; it is refused. The boxes do not depend on how
    many combinations may be in memory together.
    """
    if protection.levels:
        raise UnmaskError("recoding columns to levels before they are cut needs the table in memory; leave levels out")
    if not protection.strict:
        raise UnmaskError("the relaxed Mondrian parts equal rows and needs them in memory; use the strict form")
    kept = reduced.rows_of_levels(reduced.complete)
    if not kept[0].any():
        raise UnmaskError(EXCLUDED)
    face = reduced.face if reduced.counted else replace(reduced.face, sensitive=(), histograms=())
    finished = list(_finished(reduced, protection.search(face, kept)))
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
    names = (column.name for column in columns)
    suppressed = reduced.n_rows - release.n_rows
    return Generalized(
        release, InformationLoss.of(dict(zip(names, spent, strict=True)), release.counts, suppressed_rows=suppressed)
    )


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


def _finished(reduced: Reduced, search: Search) -> Iterator[_Boxes]:
    """All boxes, in as many turns as the memory asks for."""
    at_once = reduced.at_once
    if at_once is None or reduced.n_coded <= at_once:
        yield _in_memory(reduced, search, [reduced.part(reduced.complete)], 0)
        return
    divided, made = _divide(reduced, search, at_once=at_once), 0
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
    cut, n_boxes = [], 0
    for part in parts:
        box = search.boxes(part) + np.int32(n_boxes)
        cut.append((*(column.codes for column in part.quasi_identifiers), part.counts, box))
        n_boxes = int(box.max()) + 1
    *columns, rows, box = (np.concatenate(of) for of in zip(*cut, strict=True))
    table = f"{reduced.name}_box{made}"
    named = dict(zip(reduced.short[0], columns, strict=True))
    reduced.engine.put(table, {**named, "box": box + np.int32(made)})
    covered = zip(reduced.quasi_identifiers, columns, strict=True)
    cells = tuple(_Cover.of(column, code, rows, box) for column, code in covered)
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


# --- cuts in the engine ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Divided:
    """The boxes of a table in an engine; table `open` has the `box` of every combination.

    fitting : boxes of few enough combinations for the memory, and their numbers of combinations. final : boxes of more,
    that have no cut, and their margins.
    """

    fitting: Mapping[int, int]
    final: Mapping[int, Sequence[Margin]]

    def turns(self, at_once: int) -> Iterator[list[int]]:
        """The boxes that fit, in as many as the memory takes at a time."""
        turn: list[int] = []
        room = at_once
        for box, size in self.fitting.items():
            if size > room:
                yield turn
                turn, room = [], at_once
            turn.append(box)
            room -= size
        if turn:
            yield turn


def _divide(reduced: Reduced, search: Search, *, at_once: int) -> _Divided:
    """Cut in the engine until every box has at most `at_once` combinations or no cut.

    The boxes of a level are cut together: a scan for the margins of each column, as many boxes at a time as the memory
    takes, and one that moves the combinations. With constraints there is a scan more for each column that is tried in a
    box, and sensitive column.
    """
    engine, name = reduced.engine, reduced.name
    words = [f"k{at}" for at in range(len(reduced.words))]
    sizes = {0: _keep_open(reduced, sql.boxed(f"{name}_coded", [*words, "n"], where=reduced.complete))}
    final: dict[int, Sequence[Margin]] = {}
    step = max(1, at_once // sum(len(column.levels) for column in reduced.quasi_identifiers))
    while large := [box for box, size in sizes.items() if size > at_once and box not in final]:
        axes, halves = {}, []
        for at in range(0, len(large), step):
            for box, margins, n_coded in _margins(reduced, large[at : at + step]):
                found = _cut(reduced, search, box, margins)
                if found is None:
                    final[box] = margins
                    continue
                column, right = found
                child, codes = len(sizes), margins[column][0][right]
                axes[box] = reduced.short[0][column]
                halves.append((np.full(len(codes), box), codes, np.full(len(codes), child)))
                sizes[child] = int(n_coded[column][right].sum())
                sizes[box] -= sizes[child]
        if axes:
            together = [np.concatenate(parts).astype(np.int32) for parts in zip(*halves, strict=True)]
            engine.put(f"{name}_halves", dict(zip(("parent", "code", "child"), together, strict=True)))
            _keep_open(reduced, sql.moved(f"{name}_open", words, axes, f"{name}_halves"))
    return _Divided({box: size for box, size in sizes.items() if box not in final}, final)


def _cut(reduced: Reduced, search: Search, box: int, margins: Sequence[Margin]) -> tuple[int, NDArray[np.bool_]] | None:
    """The first cut of a box that stays in the engine: its column, and which of the codes there go to the right."""

    def histograms(column: int) -> list[csr_array[Any, Any]]:
        return [_histogram(reduced, box, column, margins[column][0], secret) for secret in search.secrets]

    found = kernel.first_cut(
        [(place[codes], rows) for place, (codes, rows) in zip(search.place, margins, strict=True)],
        k=search.k,
        span=search.span,
        histograms=histograms,
        allows=search.allows,
        trees=search.trees,
    )
    if found is None:
        return None
    column, last = found
    return column, search.place[column][margins[column][0]] > last


def _histogram(
    reduced: Reduced, box: int, column: int, codes: NDArray[np.int32], secret: Secret
) -> csr_array[Any, Any]:
    """The sensitive values of a box at each code of a column."""
    short, hidden = reduced.short[0][column], reduced.short_of(secret.column)
    rows = reduced.engine.rows(sql.totals(f"{reduced.name}_open", [short, hidden], where=sql.in_boxes([box])))
    places = np.searchsorted(codes, rows[short]), rows[hidden]
    return secret.moved(csr_array((rows["n"], places), shape=(len(codes), len(secret.place))))


def _keep_open(reduced: Reduced, statement: str) -> int:
    n_rows = reduced.engine.keep(f"{reduced.name}_boxed", statement, cut=True)
    shown = sql.unpacked(f"{reduced.name}_boxed", reduced.words, ("n", "box"))
    reduced.engine.view(f"{reduced.name}_open", shown)
    return n_rows


def _margins(reduced: Reduced, boxes: Sequence[int]) -> Iterator[tuple[int, list[Margin], list[NDArray[np.int64]]]]:
    """Each box with its margins, and the combinations that each of their codes has."""
    margins: dict[int, list[Margin]] = {box: [] for box in boxes}
    sizes: dict[int, list[NDArray[np.int64]]] = {box: [] for box in boxes}
    for short in reduced.short[0]:
        where = sql.in_boxes(boxes)
        rows = reduced.engine.rows(sql.totals(f"{reduced.name}_open", ["box", short], where=where, sized=True))
        order = np.lexsort([rows[short], rows["box"]])
        codes, counts, n_coded = (rows[name][order] for name in (short, "n", "size"))
        ends = np.searchsorted(rows["box"][order], [*boxes, boxes[-1] + 1])
        for box, begin, end in zip(boxes, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            margins[box].append((codes[begin:end], counts[begin:end]))
            sizes[box].append(n_coded[begin:end])
    return ((box, margins[box], sizes[box]) for box in boxes)
