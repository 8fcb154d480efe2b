"""Where Mondrian cuts a table in an engine: the first cuts are made there, until every box fits the memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.engines import sql
from unmask.errors import UnmaskError
from unmask.tables import mondrian as kernel
from unmask.tables.constraints import Constraint
from unmask.tables.counted import Combinations
from unmask.tables.demands import Secret, check_whole, demands_of, secrets_of
from unmask.tables.large.reduce import Reduced
from unmask.tables.protections import Mondrian
from unmask.tables.recoding import axis
from unmask.tables.release import Table

Margin: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int64]]
"""The codes of a column that occur in a box, ascending, and the rows of each."""


@dataclass(frozen=True, eq=False)
class Search:
    """The rule of a Mondrian for one table: what the kernel is given besides points.

    rows : for every quasi-identifier (L,) rows of each level that take part. place, trees, span : where its levels are,
    see `recoding.axis`. secrets : the sensitive columns, with a code for each of their levels.
    """

    k: int
    demands: tuple[Constraint, ...]
    rows: tuple[NDArray[np.int64], ...]
    place: tuple[NDArray[np.float64], ...]
    trees: tuple[NDArray[np.int64] | None, ...]
    span: NDArray[np.float64]
    secrets: tuple[Secret, ...]

    @classmethod
    def of(cls, reduced: Reduced, protection: Mondrian) -> Search:
        """Measure the whole table, and refuse what not even the whole satisfies."""
        k, demands = demands_of(protection.k, protection.l, protection.t, protection.constraints)
        rows = rows_of_levels(reduced, where=reduced.complete)
        if not rows[0].any():
            raise UnmaskError("every row has a missing quasi-identifier cell and is excluded; choose missing='own'")
        secrets = _secrets(reduced, demands)
        check_whole(int(rows[0].sum()), k, demands, secrets)
        used = [np.flatnonzero(count).astype(np.int32) for count in rows]
        axes = [axis(column, codes) for column, codes in zip(reduced.quasi_identifiers, used, strict=True)]
        place, trees = zip(*axes, strict=True)
        span = np.array([np.ptp(at[codes]) for at, codes in zip(place, used, strict=True)])
        return cls(k, demands, rows, place, trees, span, secrets)

    def boxes(self, part: Combinations) -> NDArray[np.int32]:
        """The boxes that combinations are cut into which are one box."""
        codes = [column.codes for column in part.quasi_identifiers]
        return kernel.mondrian(
            np.stack([place[code] for place, code in zip(self.place, codes, strict=True)], axis=1),
            part.counts,
            k=self.k,
            span=self.span,
            histograms=[_moved(*pair) for pair in zip(part.histograms, self.secrets, strict=True)]
            if self.demands
            else (),
            allows=self._allows,
            trees=self.trees,
        )

    def cut(self, reduced: Reduced, box: int, margins: Sequence[Margin]) -> tuple[int, NDArray[np.bool_]] | None:
        """The first cut of a box that stays in the engine: its column, and which of the codes there go to the right."""

        def histograms(column: int) -> list[csr_array[Any, Any]]:
            return [self._histogram(reduced, box, column, margins[column][0], at) for at in range(len(self.secrets))]

        found = kernel.first_cut(
            [(place[codes], rows) for place, (codes, rows) in zip(self.place, margins, strict=True)],
            k=self.k,
            span=self.span,
            histograms=histograms,
            allows=self._allows,
            trees=self.trees,
        )
        if found is None:
            return None
        column, last = found
        return column, self.place[column][margins[column][0]] > last

    @property
    def _allows(self) -> list[kernel.Allows]:
        return [secret.allows(self.demands) for secret in self.secrets]

    def _histogram(
        self, reduced: Reduced, box: int, column: int, codes: NDArray[np.int32], at: int
    ) -> csr_array[Any, Any]:
        """The sensitive values of a box at each code of a column."""
        short, secret = reduced.short[0][column], reduced.short[1][at]
        rows = reduced.engine.rows(sql.totals(f"{reduced.name}_open", [short, secret], where=sql.in_boxes([box])))
        places = (np.searchsorted(codes, rows[short]), rows[secret])
        histogram = csr_array((rows["n"], places), shape=(len(codes), len(self.secrets[at].codes)))
        return _moved(histogram, self.secrets[at])


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
    sizes = {0: _keep_open(reduced, sql.opened(f"{name}_coded", words, where=reduced.complete))}
    final: dict[int, Sequence[Margin]] = {}
    step = max(1, at_once // sum(len(column.levels) for column in reduced.quasi_identifiers))
    while large := [box for box, size in sizes.items() if size > at_once and box not in final]:
        axes, halves = {}, []
        for at in range(0, len(large), step):
            for box, margins, n_coded in _margins(reduced, large[at : at + step]):
                found = search.cut(reduced, box, margins)
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


def rows_of_levels(reduced: Reduced, *, where: str = "") -> tuple[NDArray[np.int64], ...]:
    """For every quasi-identifier the rows of each level, (L,)."""
    found = []
    for short, column in zip(reduced.short[0], reduced.quasi_identifiers, strict=True):
        rows = reduced.engine.rows(sql.totals(f"{reduced.name}_coded", [short], where=where))
        found.append(np.zeros(len(column.levels), dtype=np.int64))
        found[-1][rows[short]] = rows["n"]
    return tuple(found)


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
        rows = reduced.engine.rows(sql.margins(f"{reduced.name}_open", short, boxes))
        order = np.lexsort([rows[short], rows["box"]])
        codes, counts, n_coded = (rows[name][order] for name in (short, "n", "size"))
        ends = np.searchsorted(rows["box"][order], [*boxes, boxes[-1] + 1])
        for box, begin, end in zip(boxes, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            margins[box].append((codes[begin:end], counts[begin:end]))
            sizes[box].append(n_coded[begin:end])
    return ((box, margins[box], sizes[box]) for box in boxes)


def _secrets(reduced: Reduced, demands: Sequence[Constraint]) -> tuple[Secret, ...]:
    """The sensitive columns as the constraints see them; `codes` has the place of every level."""
    if not demands:
        return ()
    if not (reduced.counted and reduced.sensitive):
        secrets_of(replace(reduced.face, sensitive=(), histograms=()), demands)  # says what is missing
    totals, found = reduced.totals, []
    for column in reduced.sensitive:
        total = totals[column.name]
        used = np.flatnonzero(total).astype(np.int32)
        listed = Table((replace(reduced.quasi_identifiers[0], codes=used),), (replace(column, codes=used),))
        (secret,) = secrets_of(listed, demands)
        codes, overall = np.zeros(len(total), dtype=np.int32), np.zeros(len(total), dtype=np.int64)
        codes[used] = secret.codes
        overall[secret.codes] = total[used]
        found.append(replace(secret, codes=codes, overall=overall))
    return tuple(found)


def _moved(histogram: csr_array[Any, Any], secret: Secret) -> csr_array[Any, Any]:
    """A histogram with the values in the order of the constraints."""
    return csr_array((histogram.data, secret.codes[histogram.indices], histogram.indptr), shape=histogram.shape)
