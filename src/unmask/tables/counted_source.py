"""Tables that an engine counts: their distinct combinations of cells, and how many rows have each.

Criteria, class adversaries and Mondrian need no more of a table. The engine counts combinations out of core. Cells get
their meaning by the same code as those of a table that is read row by row, so both agree cell for cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import FailedError, UnmaskError
from unmask.data import sql
from unmask.data.engine import Engine, open_engine
from unmask.data.resources import divide_memory, format_bytes
from unmask.data.sql import Kind
from unmask.tables.column import Column
from unmask.tables.protections.base import Mondrian
from unmask.tables.roles import Roles
from unmask.tables.table import Table
from unmask.tables.unit import ASSUMED, ROW, Key, counting_unit, key_rank, stated_unit

BYTES_PER_VALUE = 500
"""Memory of one distinct value of a column: its texts and its place in dictionaries."""

BYTES_PER_COMBINATION = 180
"""Memory of one combination in an audit or a protection, besides `BYTES_PER_CELL` for each of its cells."""

BYTES_PER_CELL = 36
"""Memory of one cell of a combination."""

BYTES_PER_PAIR = 3
"""Memory of a value of the release and one of the register, which are compared with each other."""

MARGIN_OF_ESTIMATES = 1.1
"""Factor that covers the error of an engine's approximate count."""

WORD_BITS = 62
"""Bits of a word that hold codes."""


@dataclass(frozen=True, eq=False)
class CountedSource:
    """A source whose rows stay in an engine, and its table of combinations.

    Parameters
    ----------
    engine : Engine
        It holds the dictionaries `name`_q0, ... with columns v and code.
    name : str
        Prefix of the tables in the engine.
    source : str
        Files or a table, see `Engine.names`.
    roles : Roles
        Roles of its columns.
    levels : mapping of str to Column
        By short name; codes list the levels.
    table : Table
        Counted combinations.
    """

    engine: Engine
    name: str
    source: str
    roles: Roles
    levels: Mapping[str, Column]
    table: Table

    @property
    def gaps(self) -> dict[str, int]:
        """Short name -> code of a missing cell, 0 if none is missing."""
        return {short: max(column.levels.missing, 0) for short, column in self.levels.items()}


@contextmanager
def count_sources(
    choice: str,
    sources: Mapping[str, str],
    roles: Callable[[str, list[str]], Roles],
    *,
    memory_limit: int,
    temp_directory: str | PathLike[str] | None = None,
    encoding: str | None = None,
    protection: Mondrian | None = None,
    register: str = "",
    dry_run: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[dict[str, CountedSource]]:
    """Count tables in an engine that is closed afterwards.

    Combinations that exceed the memory are refused before they are counted.

    Parameters
    ----------
    choice : str
        As in `open_engine`.
    sources : mapping of str to str
        Name -> files or table.
    roles : callable
        Returns the roles of a table, given its name and its columns.
    memory_limit, temp_directory, encoding
        As in `open_engine`; arrays and the engine share the memory.
    protection : Mondrian, optional
        Count what it needs; None for an audit.
    register : str
        Name of the source that is a register.
    dry_run : bool
        Only estimate.
    say : callable
        Called with the estimate of each table and each note on reading it.

    Yields
    ------
    dict of str to CountedSource
        By name; empty on a dry run.
    """
    engine_bytes, array_bytes = divide_memory(memory_limit)
    sensitive = protection is None or protection.reads_values
    with open_engine(choice, memory_limit=engine_bytes, temp_directory=temp_directory, encoding=encoding) as engine:
        sources_read = {name: (source, roles(name, engine.names(source))) for name, source in sources.items()}
        sizes = {
            name: estimate(engine, *source_read, sensitive=sensitive) for name, source_read in sources_read.items()
        }
        for name, size in sizes.items():
            say(f"{name}: {size}, in {format_bytes(array_bytes)} of arrays")
        check_memory(sizes, array_bytes, register=register)
        tables = {
            name: count_source(
                engine, *source_read, name=f"table{position}", sensitive=sensitive, records=protection is None
            )
            for position, (name, source_read) in enumerate(sources_read.items() if not dry_run else ())
        }
        for note in (*engine.notes, *(note for counted in tables.values() for note in counted.table.notes)):
            say(f"note: {note}")
        yield tables


@dataclass(frozen=True)
class Size:
    """Estimated size of a counted table; values : name of each column -> number of distinct values."""

    rows: int
    combinations: int
    values: Mapping[str, int]

    @property
    def n_bytes(self) -> int:
        """Memory of the combinations in arrays."""
        return self.combinations * (BYTES_PER_COMBINATION + BYTES_PER_CELL * (len(self.values) + 1))

    def __str__(self) -> str:
        words = f"{self.rows:,} rows, about {self.combinations:,} combinations"
        return f"{words} that take {format_bytes(self.n_bytes)}"


def estimate(engine: Engine, source: str, roles: Roles, *, sensitive: bool = True) -> Size:
    """Estimate the size of a counted table from one pass over its rows."""
    roles.check(engine.names(source))
    columns = {short: name for short, name in roles.columns.items() if sensitive or short[0] == "q"}
    engine.table("estimated", source, columns)
    estimates = engine.rows(sql.select_estimates("estimated", list(columns), {"combinations": list(columns)}))
    n = {name: int(counts[0]) for name, counts in estimates.items()}
    if n["n"] == 0:
        raise UnmaskError("the source has no rows; expected at least one row")
    combinations = min(ceil(n["combinations"] * MARGIN_OF_ESTIMATES), n["n"])
    return Size(n["n"], combinations, {name: n[short] for short, name in columns.items()})


def check_memory(sizes: Mapping[str, Size], array_bytes: int, *, register: str = "") -> None:
    """Raise an error if tables need more memory than arrays have."""
    for size in sizes.values():
        for column, n in size.values.items():
            if n * BYTES_PER_VALUE > array_bytes:
                raise FailedError(
                    f"column {column!r} has about {n:,} different values, too many for {format_bytes(array_bytes)} of "
                    "arrays; coarsen it, leave it out, or give more memory (--memory-limit)"
                )
    register_values = sizes[register].values if register in sizes else {}
    pairs = max(
        (sum(n * register_values.get(name, 0) for name, n in size.values.items()) for size in sizes.values()), default=0
    )
    needed = sum(size.n_bytes for size in sizes.values()) + BYTES_PER_PAIR * pairs * bool(register_values)
    if needed > array_bytes:
        combinations = sum(size.combinations for size in sizes.values())
        raise FailedError(
            f"about {combinations:,} combinations of cells need {format_bytes(needed)} of arrays, which have "
            f"{format_bytes(array_bytes)}; give more memory (--memory-limit), coarsen a column or leave it out"
        )


def count_source(
    engine: Engine,
    source: str,
    roles: Roles,
    *,
    name: str = "release",
    sensitive: bool = True,
    records: bool = True,
) -> CountedSource:
    r"""Count the distinct combinations of a table in an engine, and read the meaning of their cells.

    Parameters
    ----------
    engine : Engine
        An open engine.
    source : str
        Files or a table, see `Engine.names`.
    roles : Roles
        Roles of its columns.
    name : str
        Prefix of the tables in the engine; one for each source that is counted at the same time.
    sensitive : bool
        Count sensitive values, too.
    records : bool
        Count equal rows, too, if columns are kept (`Table.record_sizes`).

    Returns
    -------
    CountedSource
        The table, and what it takes to write a release of the source.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from unmask.data.engine import open_engine
    >>> with tempfile.TemporaryDirectory() as folder, open_engine("duckdb") as engine:
    ...     file = pathlib.Path(folder) / "people.csv"
    ...     _ = file.write_text("age,ill\n30,a\n30,a\n30,b\n41,a\n")
    ...     people = count_source(engine, str(file), Roles(("age",), ("ill",))).table
    >>> people.counts, people.classes.sizes
    (array([2, 1, 1]), array([3, 1]))
    """
    roles.check(engine.names(source))
    columns = roles.columns
    kinds = engine.table(f"{name}_source", source, columns)
    values = _distinct_values(engine, name, tuple(columns))
    n_rows = int(engine.rows(f"select count(*) as n from {name}_source")["n"][0])
    columns_read, notes = roles.read_levels({columns[short]: cells for short, cells in values.items()}, n_rows=n_rows)
    for short, column in columns.items():
        engine.put(f"{name}_{short}", _dictionary(values[short], columns_read[column].codes, kinds[short]))
    levels = {
        short: replace(
            columns_read[column],
            codes=np.arange(len(columns_read[column].levels), dtype=np.int32),
            stored="VARCHAR" if kinds[short] == "text" else "",
        )
        for short, column in columns.items()
    }
    counted = {short: column for short, column in levels.items() if sensitive or short[0] == "q"}
    codes, counts = _combinations(engine, name, counted)
    coded = {short: replace(column, codes=codes[short]) for short, column in counted.items()}
    table = Table(
        tuple(column for short, column in coded.items() if short[0] == "q"),
        tuple(column for short, column in coded.items() if short[0] == "s"),
        missing=roles.missing,
        order=(*columns.values(), *roles.keep),
        notes=notes,
        unit=_unit(engine, source, roles, f"{name}_keys"),
        counts=counts,
    )
    counted_source = CountedSource(engine, name, source, roles, levels, table)
    if roles.keep and records and roles.missing != "wildcard":
        counted_source = replace(counted_source, table=replace(table, record_sizes=_record_sizes(counted_source)))
    return counted_source


def _combinations(
    engine: Engine, name: str, levels: Mapping[str, Column]
) -> tuple[dict[str, NDArray[np.int32]], NDArray[np.int64]]:
    """Return the codes of each distinct combination, in their order, and its rows."""
    words = _words(levels)
    missing = {short: max(column.levels.missing, 0) for short, column in levels.items()}
    packed = sql.pack_codes(f"{name}_source", {short: f"{name}_{short}" for short in levels}, missing, words)
    rows = engine.rows(packed)
    keys = [rows[f"k{position}"] for position in range(len(words))]
    order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
    codes: dict[str, NDArray[np.int32]] = {}
    for key, word in zip(keys, words, strict=True):
        codes |= _unpacked(key[order], word)
    return codes, rows["n"][order]


def _words(levels: Mapping[str, Column]) -> tuple[Mapping[str, int], ...]:
    """Return the bits of each column, in words that hold as many columns as fit."""
    words: list[dict[str, int]] = [{}]
    for short, column in levels.items():
        bits = (len(column.levels) - 1).bit_length()
        if sum(words[-1].values()) + bits > WORD_BITS:
            words.append({})
        words[-1][short] = bits
    return tuple(words)


def _unpacked(keys: NDArray[np.int64], word: Mapping[str, int]) -> dict[str, NDArray[np.int32]]:
    """Return the codes that are packed in a word, the first column in the highest bits."""
    codes, shift = {}, sum(word.values())
    for column, bits in word.items():
        shift -= bits
        codes[column] = ((keys >> shift) & ((1 << bits) - 1)).astype(np.int32)
    return codes


def _record_sizes(counted: CountedSource) -> NDArray[np.int64]:
    """Return (2, m) numbers of rows that agree in every column that is not sensitive, and how many sets have each.

    The engine counts all rows once more, kept cells as they are: as many sets as there are distinct rows, which go to
    its disk if they exceed its memory. Rows that the rule for missing cells leaves out are not counted.
    """
    engine, name, kept_columns = counted.engine, counted.name, counted.roles.kept_columns
    levels = {short: column for short, column in counted.levels.items() if short[0] == "q"}
    engine.table(f"{name}_rows", counted.source, {**counted.roles.columns, **kept_columns})
    words, codes_of = _words(levels), {short: f"{name}_{short}" for short in levels}
    packed = sql.pack_codes(f"{name}_rows", codes_of, counted.gaps, words, tuple(kept_columns))
    gaps = {short: column.levels.missing for short, column in levels.items() if column.levels.missing >= 0}
    complete = sql.exclude_missing(gaps) if counted.roles.missing == "excluded" and gaps else ""
    sets = engine.rows(sql.count_parts(f"({sql.unpack_codes(f'({packed}) as s', words)}) as t", "n", where=complete))
    order = np.argsort(sets["part"])
    return np.stack([sets["part"][order], sets["n"][order]]).astype(np.int64)


def _unit(engine: Engine, source: str, roles: Roles, name: str) -> str:
    """Return what counts as one person, which is a row; raise an error if a column joins rows, or may."""
    names = (roles.person,) if roles.person else roles.identifiers
    if roles.person == ROW or not names:
        return (stated_unit(ROW, shared=False) if names else ASSUMED).words
    engine.table(name, source, {f"i{position}": column for position, column in enumerate(names)})
    counts = ", ".join(
        f"count(distinct i{position}) as d{position}, count(i{position}) as n{position}"
        for position in range(len(names))
    )
    key_counts = {
        key: int(cells[0]) for key, cells in engine.rows(f"select count(*) as n, {counts} from {name}").items()
    }
    ranks = [
        2 if roles.person else key_rank(column, key_counts[f"d{position}"], identifies=True)
        for position, column in enumerate(names)
    ]
    sizes = (
        (key_counts[f"d{position}"], key_counts["n"] - key_counts[f"n{position}"]) for position in range(len(names))
    )
    unit = counting_unit(map(Key, names, ranks, *zip(*sizes, strict=True)), key_counts["n"])
    if unit.question:
        refusal = f"rows with the same {roles.person} are one person, and an engine counts rows; leave --engine out"
        raise UnmaskError(refusal if roles.person else unit.question)
    return unit.words


def _distinct_values(engine: Engine, name: str, columns: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the values of every column, ascending; None comes last if a cell is missing."""
    engine.keep(f"{name}_values", sql.select_cells(f"{name}_source", columns))
    gaps = engine.rows(sql.select_gaps(f"{name}_values", columns))
    values = {short: engine.rows(sql.select_values(f"{name}_values", short))["v"] for short in columns}
    engine.drop(f"{name}_values")
    return {s: np.array([*v.tolist(), None], object) if gaps[s][0] else v for s, v in values.items()}


def _dictionary(cells: NDArray[Any], codes: NDArray[np.int32], kind: Kind) -> dict[str, NDArray[Any]]:
    """Return a table for the engine: the values v that are not missing, and their code."""
    values = cells[:-1] if len(cells) and cells[-1] is None else cells
    is_text = kind in ("text", "untyped")
    if not is_text:
        values = values.astype(np.int64 if kind == "integer" else np.float64)
    if not len(values):  # a value that the column does not have, so that the table has a type
        values = np.array([""], dtype=object) if is_text else np.zeros(1, values.dtype)
    return {"v": values, "code": codes[: len(values)].astype(np.int32)}
