"""Where Mondrian cuts a table in an engine: the first cuts are made there, until every box fits the memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.engines import sql
from unmask.tables import mondrian as kernel
from unmask.tables.demands import Secret
from unmask.tables.large.reduce import Reduced
from unmask.tables.search import Search

Margin: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int64]]
"""The codes of a column that occur in a box, ascending, and the rows of each."""


@dataclass(frozen=True, eq=False)
class Divided:
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


def divide(reduced: Reduced, search: Search, *, at_once: int) -> Divided:
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
    return Divided({box: size for box, size in sizes.items() if box not in final}, final)


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
