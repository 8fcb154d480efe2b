"""Tables whose rows stay in a database engine: distinct cells, and the number of rows with each combination of cells.

Criteria, class attacks and Mondrian need only these counts. The engine counts combinations that exceed the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Integers
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.grouping import count_distinct
from unmask.data import sql
from unmask.data.engine import Engine
from unmask.data.resources import format_bytes
from unmask.data.sql import Kind
from unmask.tables.column import Column
from unmask.tables.levels import Missing
from unmask.tables.meanings import Meanings
from unmask.tables.reading import check_columns, read_encoded
from unmask.tables.unit import ASSUMED, ROW, Key, counting_unit, key_rank, stated_unit

BYTES_PER_VALUE = 500
"""Memory of one distinct value of a column: its texts and dictionary entries."""

BYTES_PER_COMBINATION = 70
"""Memory of one combination in an audit, in addition to `BYTES_PER_CELL` for each of its cells."""

BYTES_PER_CELL = 4
"""Memory of one cell of a combination: its code."""

BYTES_PER_CLASS = 20
"""Memory of one equivalence class in an audit, in addition to `BYTES_PER_CELL_OF_CLASS` for each quasi-identifier."""

BYTES_PER_CELL_OF_CLASS = 6
"""Memory of one quasi-identifier of a class."""

BYTES_PER_RECORD_CELL = 16
"""Memory of one cell of a row whose equal rows the engine counts; all quasi-identifiers together are one cell."""

MAX_SPILL_RATIO = 4
"""Largest ratio of the rows that the engine counts in one query to its memory, in bytes. DuckDB fails if it is 8."""

MARGIN_OF_ESTIMATES = 1.1
"""Factor that covers the error of an engine's approximate counts."""

WORD_BITS = 62
"""Bits of an integer that hold codes."""


@dataclass(frozen=True, eq=False)
class StoredTable:
    r"""A table whose rows stay in an engine: a source of `Table.read`, which counts its combinations.

    Parameters
    ----------
    engine : Engine
        An open engine.
    source : str
        Files or a table, see `Engine.names`.
    name : str
        Prefix of its tables in the engine; one for each table that is read at the same time.
    counts_sensitive : bool
        Count combinations with their sensitive values.
    counts_records : bool
        Count equal rows, too, if columns are kept (`Table.record_sizes`).
    dictionary : dict of str to Column
        By name of a column, its distinct cells once it was read; codes list the levels. The table `name`_c0 of the
        engine has the code of each cell of the first column, and so on.
    cells : dict of str to tuple
        By name of a column that is not read yet, its distinct cells and their rows, once they were counted.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from unmask.data.engine import open_engine
    >>> from unmask.tables import Table
    >>> with tempfile.TemporaryDirectory() as folder, open_engine("duckdb") as engine:
    ...     file = pathlib.Path(folder) / "people.csv"
    ...     _ = file.write_text("age,ill\n30,a\n30,a\n30,b\n41,a\n")
    ...     people = Table.read(StoredTable(engine, str(file)), quasi_identifiers="age", sensitive="ill")
    >>> people.counts, people.classes.sizes
    (array([2, 1, 1]), array([3, 1]))
    """

    engine: Engine
    source: str
    name: str = "release"
    counts_sensitive: bool = True
    counts_records: bool = True
    dictionary: dict[str, Column] = field(default_factory=dict)
    cells: dict[str, tuple[NDArray[Any], Integers]] = field(default_factory=dict)

    def check(self, names: Sequence[str]) -> None:
        """Raise UnmaskError for a column that the source lacks."""
        check_columns(self.engine.names(self.source), names, place="the source")

    def shorts(self, names: Iterable[str]) -> dict[str, str]:
        """Return the name of each read column by its short name in the engine, c0, c1, and so on."""
        position = {name: position for position, name in enumerate(self.dictionary)}
        return {f"c{position[name]}": name for name in names}

    def codes_of(self, shorts: Iterable[str]) -> dict[str, str]:
        """Return the engine's table with the codes of each column, by short name."""
        return {short: f"{self.name}_{short}" for short in shorts}

    def gaps(self, shorts: Mapping[str, str]) -> dict[str, int]:
        """Return the code of a missing cell in each column, by short name; 0 if no cell is missing."""
        return {short: max(self.dictionary[name].levels.missing, 0) for short, name in shorts.items()}

    def count_cells(self, names: Iterable[str]) -> dict[str, tuple[NDArray[Any], Integers]]:
        """Return the distinct cells of each column, ascending, and their rows; None is last if a cell is missing.

        Cells are counted in one pass over the rows, and kept until they are read.
        """
        if shorts := {f"c{i}": name for i, name in enumerate(names) if name not in self.cells}:
            self.engine.table(f"{self.name}_columns", self.source, shorts)
            counted = _count_cells(self.engine, f"{self.name}_columns", tuple(shorts))
            self.cells.update((name, counted[short]) for short, name in shorts.items())
        return self.cells

    def read_levels(self, names: Sequence[str], meanings: Meanings) -> tuple[str, ...]:
        """Read the distinct cells of columns into the dictionary and the engine, and return notes on how they were
        read.

        Several cells may have the same code: 3.5 and 3,50, or an accent in two encodings.
        """
        self.dictionary.clear()
        shorts = {f"c{position}": name for position, name in enumerate(names)}
        kinds = self.engine.table(f"{self.name}_source", self.source, shorts)
        cells = self.count_cells(names)
        if not all(len(values) for values, _ in cells.values()):
            raise UnmaskError("the source has no rows; expected at least one row")
        encoded = {
            name: replace(read_encoded({name: cells[name][0]}).columns[name], row_counts=cells[name][1])
            for name in names
        }
        columns, notes = meanings.read(encoded)
        for short, name in shorts.items():
            column, kind = columns[name], kinds[short]
            self.engine.put(f"{self.name}_{short}", _dictionary(cells[name][0], column.codes, kind))
            every_code = np.arange(len(column.levels), dtype=np.int32)
            self.dictionary[name] = replace(column, codes=every_code, stored="VARCHAR" if kind == "text" else "")
        self.cells.clear()
        return notes

    def combinations(self, names: Sequence[str]) -> dict[str, Column]:
        """Return the columns of the distinct combinations by name, in the order of their codes."""
        shorts = self.shorts(names)
        words = self._words(shorts)
        rows = self.engine.rows(sql.pack_codes(f"{self.name}_source", self.codes_of(shorts), self.gaps(shorts), words))
        keys, counts = [rows[f"k{position}"] for position in range(len(words))], rows["n"]
        if len(keys) == 1:
            keys[0], counts = count_distinct(keys[0], 1 << sum(words[0].values()), weight=counts)
        else:
            order = np.lexsort(keys[::-1])
            keys, counts = [key[order] for key in keys], counts[order]
        codes: dict[str, NDArray[np.int32]] = {}
        for key, word in zip(keys, words, strict=True):
            codes |= _unpacked(key, word)
        return {
            name: replace(self.dictionary[name], codes=codes[short], row_counts=counts)
            for short, name in shorts.items()
        }

    def record_sizes(
        self, quasi_identifiers: Sequence[str], keep: Sequence[str], missing: Missing, *, n_rows: int
    ) -> Integers | None:
        """Return (2, m) numbers of rows that agree in every column that is not sensitive, and the number of sets of
        each size.

        The engine counts all rows once more, with unchanged kept cells. Counts that exceed its memory go to disk. If
        they exceed it several times, they are counted in parts, each in a pass over the rows. Rows that the rule for
        missing cells leaves out are not counted. None without kept columns, or if missing cells are wildcards.
        """
        if not keep or not self.counts_records or missing == "wildcard":
            return None
        shorts, unchanged = self.shorts(quasi_identifiers), unchanged_columns(keep)
        words, name = self._words(shorts), f"{self.name}_rows"
        self.engine.table(name, self.source, {**shorts, **unchanged})
        levels = {short: self.dictionary[name].levels for short, name in shorts.items()}
        gaps = {short: level.missing for short, level in levels.items() if level.missing >= 0}
        complete = sql.exclude_missing(gaps) if missing == "excluded" and gaps else ""
        n_bytes = n_rows * (1 + len(keep)) * BYTES_PER_RECORD_CELL
        n_parts = max(1, ceil(n_bytes / (MAX_SPILL_RATIO * self.engine.memory_bytes)))
        sets = []
        for i in range(n_parts):
            codes, gaps = self.codes_of(shorts), self.gaps(shorts)
            packed = sql.pack_codes(name, codes, gaps, words, tuple(unchanged), part=(i, n_parts))
            records = f"({sql.unpack_codes(f'({packed}) as s', words)}) as t"
            sets.append(self.engine.rows(sql.count_parts(records, "n", where=complete)))
        sizes, n_sets = (np.concatenate([part[key] for part in sets]).astype(np.int64) for key in ("part", "n"))
        return np.stack(count_distinct(sizes, n_rows + 1, weight=n_sets))

    def unit(self, person: str | None, identifiers: Sequence[str]) -> str:
        """Return the unit that counts as one person, which is a row; raise UnmaskError if a column joins rows,
        or may do so.
        """
        names = (person,) if person else identifiers
        if person == ROW or not names:
            return (stated_unit(ROW, shared=False) if names else ASSUMED).words
        self.engine.table(f"{self.name}_keys", self.source, {f"i{i}": column for i, column in enumerate(names)})
        counts = ", ".join(f"count(distinct i{i}) as d{i}, count(i{i}) as n{i}" for i in range(len(names)))
        counted = self.engine.rows(f"select count(*) as n, {counts} from {self.name}_keys")
        n = {key: int(cells[0]) for key, cells in counted.items()}
        keys = [
            Key(name, 2 if person else key_rank(name, n[f"d{i}"], identifies=True), n[f"d{i}"], n["n"] - n[f"n{i}"])
            for i, name in enumerate(names)
        ]
        unit = counting_unit(keys, n["n"])
        if unit.question:
            refusal = f"rows with the same {person} are one person, and an engine counts rows; leave `engine` out"
            raise UnmaskError(refusal if person else unit.question)
        return unit.words

    def _words(self, shorts: Mapping[str, str]) -> tuple[Mapping[str, int], ...]:
        """Return the bits of each column, in integers that hold as many columns as possible."""
        words: list[dict[str, int]] = [{}]
        for short, name in shorts.items():
            bits = (len(self.dictionary[name].levels) - 1).bit_length()
            if sum(words[-1].values()) + bits > WORD_BITS:
                words.append({})
            words[-1][short] = bits
        return tuple(words)


def unchanged_columns(keep: Sequence[str]) -> dict[str, str]:
    """Return the name of each kept column by its short name in the engine, o0, o1, and so on."""
    return {f"o{position}": name for position, name in enumerate(keep)}


def _unpacked(keys: Integers, word: Mapping[str, int]) -> dict[str, NDArray[np.int32]]:
    """Return the codes that are packed in an integer; the first column has the highest bits."""
    codes, shift = {}, sum(word.values())
    for column, bits in word.items():
        shift -= bits
        codes[column] = ((keys >> shift) & ((1 << bits) - 1)).astype(np.int32)
    return codes


def _count_cells(engine: Engine, table: str, columns: Sequence[str]) -> dict[str, tuple[NDArray[Any], Integers]]:
    engine.keep("cells", sql.select_cells(table, columns))
    gaps = engine.rows(sql.select_gaps("cells", columns))
    counted = {}
    for short in columns:
        cells, counts = engine.rows(sql.select_values("cells", short)).values()
        if n_gaps := gaps[short][0]:
            cells, counts = np.array([*cells.tolist(), None], object), np.append(counts, n_gaps)
        counted[short] = cells, counts
    engine.drop("cells")
    return counted


def _dictionary(cells: NDArray[Any], codes: NDArray[np.int32], kind: Kind) -> dict[str, NDArray[Any]]:
    """Return a table for the engine: the values v that are not missing, and their codes."""
    values = cells[:-1] if len(cells) and cells[-1] is None else cells
    is_text = kind in ("text", "untyped")
    if not is_text:
        values = values.astype(np.int64 if kind == "integer" else np.float64)
    if not len(values):  # a value that does not occur gives the table a type
        values = np.array([""], dtype=object) if is_text else np.zeros(1, values.dtype)
    return {"v": values, "code": codes[: len(values)].astype(np.int32)}


# --- memory -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Size:
    """Estimated size of a counted table.

    classes : largest number of equivalence classes
    values : number of distinct values of each column, by name
    n_counted : number of columns whose combinations are counted
    n_quasi_identifiers : number of columns that divide rows into classes
    """

    rows: int
    combinations: int
    classes: int
    values: Mapping[str, int]
    n_counted: int
    n_quasi_identifiers: int

    @property
    def n_bytes(self) -> int:
        """Memory of an audit: arrays of the combinations and of the classes, and values of the columns, in bytes."""
        of_combination = BYTES_PER_COMBINATION + BYTES_PER_CELL * self.n_counted
        of_class = BYTES_PER_CLASS + BYTES_PER_CELL_OF_CLASS * self.n_quasi_identifiers
        arrays = self.combinations * of_combination + self.classes * of_class
        return arrays + sum(self.values.values()) * BYTES_PER_VALUE

    def __str__(self) -> str:
        words = f"{self.rows:,} rows, about {self.combinations:,} combinations"
        return f"{words} that take {format_bytes(self.n_bytes)}"


def estimate(
    stored: StoredTable, quasi_identifiers: Sequence[str], sensitive: Sequence[str] = (), *, array_bytes: float = inf
) -> Size:
    """Estimate the number of combinations of columns from one pass over the rows, and count their cells in another.

    If combinations or values exceed the memory, numbers of cells are estimated too: a column may have as many cells as
    there are combinations, and one that is not counted with them may have more.
    """
    names = (*quasi_identifiers, *sensitive)
    stored.check(names)
    shorts = {f"c{position}": name for position, name in enumerate(names)}
    n_counted = len(names) if stored.counts_sensitive else len(quasi_identifiers)
    counted, uncounted = list(shorts)[:n_counted], list(shorts)[n_counted:]
    stored.engine.table("estimated", stored.source, shorts)
    joint = stored.engine.rows(sql.select_estimates("estimated", uncounted, {"combinations": counted}))
    n_rows, n_joint = (int(joint[name][0]) for name in ("n", "combinations"))
    if n_rows == 0:
        raise UnmaskError("the source has no rows; expected at least one row")
    combinations = min(ceil(n_joint * MARGIN_OF_ESTIMATES), n_rows)
    value_bytes = sum(int(joint[short][0]) for short in uncounted) * BYTES_PER_VALUE
    if combinations * BYTES_PER_COMBINATION + value_bytes > array_bytes:
        estimates = stored.engine.rows(sql.select_estimates("estimated", list(shorts), {}))
        values = {name: int(estimates[short][0]) for short, name in shorts.items()}
    else:
        cells = stored.count_cells(names)
        values = {name: len(cells[name][0]) for name in names}
    classes = min(prod(max(values[name], 1) for name in quasi_identifiers), combinations)
    return Size(n_rows, combinations, classes, values, n_counted, len(quasi_identifiers))


def check_memory(sizes: Mapping[str, Size], array_bytes: int) -> None:
    """Raise FailedError if tables need more memory than is available for arrays, in bytes."""
    needed = sum(size.n_bytes for size in sizes.values())
    if needed > array_bytes:
        combinations = sum(size.combinations for size in sizes.values())
        n_values, column = max((n, column) for size in sizes.values() for column, n in size.values.items())
        raise FailedError(
            f"about {combinations:,} combinations of cells and their values need {format_bytes(needed)} of memory, "
            f"expected at most {format_bytes(array_bytes)}; raise `memory_limit`, or coarsen or leave out a column: "
            f"{column!r} has about {n_values:,} different values"
        )
