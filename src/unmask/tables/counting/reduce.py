"""A table of any number of rows as its distinct combinations of cells and how often each occurs.

Criteria, class attackers and Mondrian need no more of a table than the distinct combinations of its quasi-identifiers,
the rows of each, and the histogram of each sensitive column in each. The engine counts them out of core; the cells get
their meaning here, by the same code as those of a table that is read into memory, so both agree cell for cell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.core.errors import FailedError, UnmaskError
from unmask.data import sql
from unmask.data.engine import Engine
from unmask.data.sql import Kind
from unmask.tables.cells import Missing
from unmask.tables.column import Column
from unmask.tables.counted import Combinations
from unmask.tables.counting.roles import Roles
from unmask.tables.criteria.evaluation import EXCLUDED
from unmask.tables.unit import ASSUMED, ROW, Key, counting_unit, key_rank, stated_unit


@dataclass(frozen=True, eq=False)
class Reduced:
    """The combinations of a table, kept in an engine.

    engine, name : table `name`_coded of the engine holds a code for each quasi-identifier (q0, q1, ...) and sensitive
        column (s0, ...), the same codes packed into words (k0, ...), and the rows n of each combination; `name`_source
        the rows, `name`_q0 ... the dictionaries (v, code).
    columns : names by their short name; quasi_identifiers, sensitive : their levels (codes only list them).
    n_rows : rows of the table; n_coded : rows of `name`_coded. words : the columns in each word and their bits.
    counted : whether the combinations count sensitive values; without, there are no histograms.
    kept : names of the columns that are released as they are, by their short name.
    notes : what was recognized or guessed while reading, a sentence each.
    unit : what counts as one person, and how that was decided.
    n_parts : in how many parts the combinations are taken into memory. at_once : how many of them may be there
        together; None for any number.
    """

    engine: Engine
    name: str
    source: str
    columns: Mapping[str, str]
    quasi_identifiers: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    missing: Missing
    n_rows: int
    n_coded: int
    words: tuple[Mapping[str, int], ...]
    counted: bool = True
    kept: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unit: str = ASSUMED.words
    n_parts: int = 1
    at_once: int | None = None

    @cached_property
    def short(self) -> tuple[list[str], list[str]]:
        """The short names of quasi-identifiers and sensitive columns."""
        quasi, secret = ([short for short in self.columns if short[0] == letter] for letter in "qs")
        return quasi, secret

    def short_of(self, column: Column) -> str:
        """The short name of a column."""
        return next(short for short, name in self.columns.items() if name == column.name)

    @property
    def all_known(self) -> bool:
        """Whether somebody may know more than quasi-identifiers; a wildcard fits rows that the engine tells apart."""
        return bool(self.kept) and self.missing != "wildcard"

    @property
    def face(self) -> Combinations:
        """The columns and their roles, without a combination; a part of all."""
        none = np.zeros(0, dtype=np.int32)
        return Combinations(
            quasi_identifiers=tuple(replace(column, codes=none) for column in self.quasi_identifiers),
            sensitive=self.sensitive,
            missing=self.missing,
            histograms=tuple(csr_array((0, len(column.levels)), dtype=np.int64) for column in self.sensitive),
            whole=self,
        )

    def parts(self) -> Iterator[Combinations]:
        """The combinations that take part, in about equal parts; a combination is in one part, with all its rows."""
        if self.n_parts > 1 and any(one.levels.open(self.missing).any() for one in self.quasi_identifiers):
            raise UnmaskError(
                "suppressed cells, and missing ones as wildcards, need all combinations in memory, and they do not "
                "fit; give more memory (--memory-limit), or suppress rows in the place of cells"
            )
        tests = [self.complete]
        if by := self.divided_by:
            tests = [self._and(f"{self._part(by)} = {number}") for number in range(self.n_parts)]
        parts = (replace(self.part(test), whole=self) for test in tests)
        yield from filter(lambda part: len(part.counts), parts)  # holds no part while the next is made

    def _and(self, test: str) -> str:
        return f"{test} and {self.complete}" if self.complete else test

    @cached_property
    def divided_by(self) -> list[str]:
        """The fewest quasi-identifiers, those of most values first, that divide the combinations evenly into parts.

        Combinations that differ in other columns only are in one part. None are needed for one part. A part that is too
        large for the memory is refused.
        """
        by: list[str] = []
        n, largest = self.n_parts, self.n_coded
        for column in sorted(self.quasi_identifiers, key=lambda one: -len(one.levels)) if n > 1 else ():
            by.append(column.name)
            sizes = self.engine.rows(sql.sizes(f"{self.name}_coded", self._part(by)))["n"]
            largest = int(sizes.max())
            if largest <= EVEN * self.n_coded / n:
                break
        if self.at_once is not None and largest > self.at_once:
            raise FailedError(
                f"a part has up to {largest:,} combinations, the arrays have room for {self.at_once:,}: give more "
                "memory (--memory-limit), or coarsen a column"
            )
        return by

    def _part(self, by: Collection[str]) -> str:
        """The number of the part; a word without a bit of these columns says nothing."""
        masks = sql.masks(self.words, [short for short in self.short[0] if self.columns[short] in by])
        return sql.part([f"(k{at} & {mask})" for at, mask in enumerate(masks) if mask or not at], self.n_parts)

    def whole(self) -> Combinations:
        """All combinations in memory."""
        return self.part("")

    @cached_property
    def complete(self) -> str:
        """A condition for what takes part: nothing, or under "excluded" the combinations without a missing cell."""
        known = {
            short: column.levels.missing
            for short, column in zip(self.short[0], self.quasi_identifiers, strict=True)
            if column.levels.missing >= 0
        }
        return sql.known(known) if self.missing == "excluded" and known else ""

    @cached_property
    def n_complete(self) -> int:
        """Rows that take part."""
        rows = self.engine.rows(sql.totals(f"{self.name}_coded", where=self.complete))["n"]
        if not rows[0] > 0:  # the sum of no rows is NULL
            raise UnmaskError(EXCLUDED)
        return int(rows[0])

    @cached_property
    def totals(self) -> dict[str, NDArray[np.int64]]:
        """Rows of each value of each sensitive column, (L,), of what takes part."""
        named = zip(self.short[1], self.sensitive, strict=True)
        return {column.name: self._totals(short, column, self.complete) for short, column in named}

    def rows_of_levels(self, where: str = "") -> tuple[NDArray[np.int64], ...]:
        """For every quasi-identifier the rows of each level, (L,), that fulfill a condition."""
        named = zip(self.short[0], self.quasi_identifiers, strict=True)
        return tuple(self._totals(short, column, where) for short, column in named)

    def _totals(self, short: str, column: Column, where: str) -> NDArray[np.int64]:
        rows = self.engine.rows(sql.totals(f"{self.name}_coded", [short], where=where))
        found = np.zeros(len(column.levels), dtype=np.int64)
        found[rows[short]] = rows["n"]
        return found

    def named(self, left_out: str) -> dict[str, int]:
        """As `Table.named`, of all that takes part, counted by the engine."""
        quasi = [short for short in self.short[0] if self.columns[short] != left_out]
        found: dict[str, int] = {}
        for secret in self.short[1] or [""]:
            statement = sql.largest(f"{self.name}_coded", self.words, quasi, secret, where=self.complete)
            rows = self.engine.rows(statement)
            found["identity"] = int(rows["classes"][0])
            if secret:
                found[self.columns[secret]] = int(rows["n"][0])
        return found

    def alike(self, at_once: int = 1 << 20) -> Iterator[NDArray[np.int64]]:
        """Sizes of the sets of rows that agree on every quasi-identifier and every kept column, ascending and at most
        so many at once; of what takes part.

        The engine counts all rows once more, kept cells as they are: as many sets as there are distinct rows, which go
        to its disk where they exceed its memory.
        """
        quasi, _ = self.short
        self.engine.table(f"{self.name}_rows", self.source, {**self.columns, **self.kept})
        words = [fields for word in self.words if (fields := {c: n for c, n in word.items() if c in quasi})]
        missing = {c: max(q.levels.missing, 0) for c, q in zip(quasi, self.quasi_identifiers, strict=True)}
        codes_of = {c: f"{self.name}_{c}" for c in quasi}
        sets = sql.unpacked(
            f"({sql.packed(f'{self.name}_rows', codes_of, missing, words, tuple(self.kept))}) as s", words
        )
        found = self.engine.rows(sql.sizes(f"({sets}) as t", "n", where=self.complete))
        order = np.argsort(found["part"])
        size, ends = found["part"][order].astype(np.int64), np.cumsum(found["n"][order])
        for start in range(0, int(ends[-1]), at_once):
            yield size[np.searchsorted(ends, np.arange(start, min(start + at_once, int(ends[-1]))), side="right")]

    def narrowed(self, names: Collection[str]) -> Reduced:
        """What takes part, as far as these quasi-identifiers and no other columns know it; at most `n_coded` rows.

        Without rows and dictionaries; kept as table `name`_narrowed_packed, to be dropped after use.
        """
        columns = {short: name for short, name in self.columns.items() if short[0] == "q" and name in names}
        name = f"{self.name}_narrowed"
        known = sql.masked(f"{self.name}_coded", self.words, columns.keys(), where=self.complete)
        n_coded = self.engine.keep(f"{name}_packed", known)
        self.engine.view(f"{name}_coded", sql.unpacked(f"{name}_packed", self.words))
        return replace(
            self,
            name=name,
            columns=columns,
            quasi_identifiers=tuple(column for column in self.quasi_identifiers if column.name in names),
            sensitive=(),
            n_rows=self.n_complete,
            n_coded=n_coded,
            counted=False,
        )

    def part(self, where: str, *, table: str = "coded") -> Combinations:
        """The combinations that fulfill a condition, from a table that holds them as words or shows them so."""
        words = [f"k{at}" for at in range(len(self.words))]
        rows = self.engine.rows(sql.totals(f"{self.name}_{table}", words, where=where, distinct=True))
        order = np.argsort(rows["k0"]) if len(words) == 1 else np.lexsort([rows[word] for word in reversed(words)])
        n = rows["n"][order]
        codes: dict[str, NDArray[np.int32]] = {}
        for word, fields in zip(words, self.words, strict=True):
            codes |= _unpacked(rows.pop(word)[order], fields)
        quasi, secret = self.short
        starts = np.flatnonzero(_new([codes[short] for short in quasi]))
        ends = np.append(starts, len(n))
        held = tuple(zip(secret, self.sensitive, strict=True)) if self.counted else ()
        histograms = tuple(
            csr_array((n, codes[short], ends), shape=(len(starts), len(column.levels)), copy=True)
            for short, column in held
        )
        for histogram in histograms:
            histogram.sum_duplicates()
        return Combinations(
            quasi_identifiers=tuple(
                replace(column, codes=codes[short][starts])
                for short, column in zip(quasi, self.quasi_identifiers, strict=True)
            ),
            sensitive=tuple(column for _, column in held),
            missing=self.missing,
            counts=np.add.reduceat(n, starts) if len(starts) else np.zeros(0, np.int64),
            histograms=histograms,
        )


def _unpacked(word: NDArray[np.int64], bits: Mapping[str, int]) -> dict[str, NDArray[np.int32]]:
    """The codes that are packed in a word, the first column in the highest place."""
    codes, shift = {}, sum(bits.values())
    for column, n in bits.items():
        shift -= n
        codes[column] = ((word >> shift) & ((1 << n) - 1)).astype(np.int32)
    return codes


def _new(codes: Sequence[NDArray[np.int32]]) -> NDArray[np.bool_]:
    """Whether a row differs from the one before it."""
    new = np.zeros(len(codes[0]), dtype=np.bool_)
    new[:1] = True
    for column in codes:
        new[1:] |= column[1:] != column[:-1]
    return new


def reduce(engine: Engine, source: str, roles: Roles, *, name: str = "release", counted: bool = True) -> Reduced:
    r"""Count the distinct combinations of a table in an engine, and read the meaning of their cells.

    source : files or a table, see `Engine.names`. name : of the tables that are made; one for each table that lives in
    the engine at the same time. counted : count the sensitive values of the combinations, too.

    >>> import tempfile, pathlib
    >>> from unmask.data.engine import open_engine
    >>> with tempfile.TemporaryDirectory() as folder, open_engine("duckdb") as engine:
    ...     file = pathlib.Path(folder) / "people.csv"
    ...     _ = file.write_text("age,ill\n30,a\n30,b\n41,a\n")
    ...     people = reduce(engine, str(file), Roles(("age",), ("ill",))).whole()
    >>> people.counts, people.histograms[0].toarray()
    (array([2, 1]), array([[1, 1], [1, 0]]))
    """
    roles.check(engine.names(source))
    columns = roles.columns
    types = engine.table(f"{name}_source", source, columns)
    found = _values(engine, name, tuple(columns))
    n_rows = int(engine.rows(f"select count(*) as n from {name}_source")["n"][0])
    named, notes = roles.read({columns[short]: cells for short, cells in found.items()}, n_rows=n_rows)
    stored = {short: "VARCHAR" if types[short] == "text" else "" for short in columns}
    read = {short: replace(named[name], stored=stored[short]) for short, name in columns.items()}
    for short, column in read.items():
        engine.put(f"{name}_{short}", _dictionary(found[short], column.codes, types[short]))
    joint = [short for short in columns if counted or short[0] == "q"]
    words = _words({short: (len(read[short].levels) - 1).bit_length() for short in joint})
    dictionaries = {short: f"{name}_{short}" for short in joint}
    missing = {short: max(read[short].levels.missing, 0) for short in joint}
    n_coded = engine.keep(f"{name}_packed", sql.packed(f"{name}_source", dictionaries, missing, words))
    engine.view(f"{name}_coded", sql.unpacked(f"{name}_packed", words))
    listed = {s: replace(column, codes=np.arange(len(column.levels), dtype=np.int32)) for s, column in read.items()}
    return Reduced(
        engine,
        name,
        source,
        columns,
        tuple(listed[short] for short in columns if short[0] == "q"),
        tuple(listed[short] for short in columns if short[0] == "s"),
        roles.missing,
        int(engine.rows(sql.totals(f"{name}_packed"))["n"][0]),
        n_coded,
        words,
        counted,
        roles.kept,
        notes,
        _unit(engine, source, roles, f"{name}_keys"),
    )


def _unit(engine: Engine, source: str, roles: Roles, name: str) -> str:
    """What counts as one person, which is a row; an error if a column joins rows, or may."""
    names = (roles.person,) if roles.person else roles.identifiers
    if roles.person == ROW or not names:
        return (stated_unit(ROW, shared=False) if names else ASSUMED).words
    engine.table(name, source, {f"i{at}": column for at, column in enumerate(names)})
    counts = ", ".join(f"count(distinct i{at}) as d{at}, count(i{at}) as n{at}" for at in range(len(names)))
    found = {key: int(cells[0]) for key, cells in engine.rows(f"select count(*) as n, {counts} from {name}").items()}
    ranks = [2 if roles.person else key_rank(one, found[f"d{at}"], identifies=True) for at, one in enumerate(names)]
    sizes = ((found[f"d{at}"], found["n"] - found[f"n{at}"]) for at in range(len(names)))
    unit = counting_unit(map(Key, names, ranks, *zip(*sizes, strict=True)), found["n"])
    if unit.question:
        alone = f"rows with the same {roles.person} are one person, and an engine counts rows; leave --engine out"
        raise UnmaskError(alone if roles.person else unit.question)
    return unit.words


EVEN = 1.1
"""How much larger than the mean a part may be where some of the columns divide the combinations."""

_WORD = 62
"""Bits of a word that hold codes."""


def _words(bits: Mapping[str, int]) -> tuple[Mapping[str, int], ...]:
    """Columns in their order, as many in a word as it holds."""
    words: list[dict[str, int]] = [{}]
    for column, n in bits.items():
        if sum(words[-1].values()) + n > _WORD:
            words.append({})
        words[-1][column] = n
    return tuple(words)


def _values(engine: Engine, name: str, columns: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The values of every column, ascending; None comes last where a cell is missing."""
    engine.keep(f"{name}_values", sql.cells(f"{name}_source", columns))
    gaps = engine.rows(sql.gaps(f"{name}_values", columns))
    found = {short: engine.rows(sql.values(f"{name}_values", short))["v"] for short in columns}
    engine.drop(f"{name}_values")
    return {s: np.array([*v.tolist(), None], object) if gaps[s][0] else v for s, v in found.items()}


def _dictionary(cells: NDArray[Any], codes: NDArray[np.int32], kind: Kind) -> dict[str, NDArray[Any]]:
    """What an engine gets: the values v that are not missing, and their code."""
    values = cells[:-1] if len(cells) and cells[-1] is None else cells
    text = kind in ("text", "untyped")
    if not text:
        values = values.astype(np.int64 if kind == "integer" else np.float64)
    if not len(values):  # a value that the column does not have, so that the table has a type
        values = np.array([""], dtype=object) if text else np.zeros(1, values.dtype)
    return {"v": values, "code": codes[: len(values)].astype(np.int32)}
