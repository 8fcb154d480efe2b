"""Table of rows about people, with a role for every column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError, visible
from unmask.core.grouping import class_counts
from unmask.core.notebook import SHOWN, html_table
from unmask.data.frames import find_library, frame_of_parquet
from unmask.data.resources import temporary_folder
from unmask.ranges import Option
from unmask.tables.cells import read_levels
from unmask.tables.column import CellsOf, Classes, Column, Rows, classes_of
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.levels import Missing
from unmask.tables.meanings import Meanings, read_hierarchies, weights_of
from unmask.tables.reading import check_columns, column_names, read_encoded
from unmask.tables.scales import Decimal
from unmask.tables.stored import StoredTable
from unmask.tables.survey_design import UNKNOWN_DESIGN, SurveyDesign, match_columns, number_units, relate_replicates
from unmask.tables.table_writing import write_parquet, write_table
from unmask.tables.unit import ASSUMED, ROW, counting_unit, identifier_key, number_people, stated_unit


@dataclass(frozen=True, eq=False)
class Table:
    """Rows about people, with a role for every column.

    quasi_identifiers : columns that an adversary may know; at least one.
    sensitive : columns that an adversary should not learn.
    kept : columns that are released unchanged on purpose.
    weight : (n_rows,) number of people that a row represents, nan if it is missing; or None.
    missing : meaning of a missing cell in comparisons: "own" (a value), "wildcard" (any value) or "excluded" (rows with
        a missing quasi-identifier are left out). Classes treat a missing cell as a value, and `relation_of` relates
        classes that may contain the same people. A suppressed cell (`*`) is compatible with every cell under each rule.
    order : column names in the order of the source, in which they are written; by roles if empty.
    notes : what was recognized or guessed while reading, one sentence each.
    person : (n_rows,) person of each row; None if each row is a person.
    design : households, strata, clusters and replicate weights of the sample that the table is.
    unit : unit that counts as one person, and how it was determined.
    uncounted : names of the kept columns, which a counted table does not contain.
    record_sizes : for a counted table (2, m): numbers of source rows that agree in every released column, and the
        number of such sets of each size; None if the table contains all released columns.
    library : library of the data frame that the table was read from; its frames come back in this library.

    >>> table = Table.read({"age": [30, 30, 41], "ill": ["a", "b", "a"]}, quasi_identifiers="age", sensitive="ill")
    >>> table
    Table(3 rows, quasi_identifiers=age, sensitive=ill)
    >>> table.classes.sizes
    array([2, 1])
    """

    quasi_identifiers: tuple[Column, ...]
    sensitive: tuple[Column, ...] = ()
    kept: tuple[Column, ...] = ()
    weight: Floats | None = None
    missing: Missing = "own"
    order: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    person: Integers | None = None
    design: SurveyDesign = UNKNOWN_DESIGN
    unit: str = ASSUMED.words
    uncounted: tuple[str, ...] = ()
    record_sizes: Integers | None = None
    library: str | None = None

    def __post_init__(self) -> None:
        if not self.quasi_identifiers:
            raise UnmaskError("0 quasi-identifiers given, expected at least 1; name what an adversary may know")
        if self.missing not in ("own", "wildcard", "excluded"):
            raise UnmaskError(f"missing is {self.missing!r}, expected 'own', 'wildcard' or 'excluded'")
        check_columns(self.names, (), place="the table")
        lengths = {column.codes.size for column in self.columns}
        lengths |= {len(array) for array in (self.weight, self.person, *vars(self.design).values()) if np.ndim(array)}
        if len(lengths) != 1:
            raise UnmaskError(f"the columns of a table have lengths {sorted(lengths)}, expected one length")

    def __repr__(self) -> str:
        roles = [("quasi_identifiers", self.quasi_identifiers), ("sensitive", self.sensitive), ("kept", self.kept)]
        text = "".join(f", {role}={'+'.join(c.name for c in columns)}" for role, columns in roles if columns)
        return visible(f"Table({self.n_rows} rows{text})")

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return (n_rows,) the cells of a column as text; None for a missing cell. See `column` for codes."""
        column = self.column(name)
        labels = np.array(column.levels.labels, dtype=object)
        labels[np.arange(len(labels)) == column.levels.missing] = None
        return np.asarray(labels[column.codes])

    def head(self, n: int = 5, *, library: str | None = None) -> Any:
        """Return the first rows as a data frame."""
        return self.take(slice(0, n)).to_frame(library=library)

    def _repr_html_(self) -> str:
        first = self.take(slice(0, SHOWN))
        heads = [f"{name} ({role})" for name, role in self.roles.items()]
        return html_table(repr(self), heads, zip(*(first[name] for name in self.names), strict=True))

    def to_frame(self, *, library: str | None = None) -> Any:
        """Return a data frame with the columns, order and types of the Parquet file that `write` makes.

        library : "pandas", "polars" or "pyarrow". Default: that of the frame that was read; otherwise a library that is
            imported already, otherwise an installed one

        >>> Table.read({"age": [30, 41]}, quasi_identifiers="age").to_frame(library="pyarrow")["age"].to_pylist()
        [30, 41]
        """
        with temporary_folder(None) as folder:
            path = Path(folder) / "table.parquet"
            write_parquet(self.written, path)
            return frame_of_parquet(str(path), library=library or self.library)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """All columns: quasi-identifiers, sensitive, kept."""
        return self.quasi_identifiers + self.sensitive + self.kept

    @cached_property
    def names(self) -> list[str]:
        """Names of all columns."""
        return [column.name for column in self.columns]

    @cached_property
    def roles(self) -> dict[str, str]:
        """Role of each column by name: quasi-identifier, sensitive or keep."""
        parts = (("quasi-identifier", self.quasi_identifiers), ("sensitive", self.sensitive), ("keep", self.kept))
        return {column.name: role for role, columns in parts for column in columns}

    @property
    def written(self) -> tuple[Column, ...]:
        """All columns in the order of the source, including the weight."""
        columns = self.columns if self.weight is None else (*self.columns, self._weight_column(self.weight))
        if self.counts is not None:
            raise UnmaskError("an engine counted this table, so it has no rows to write; read its rows")
        place = {name: position for position, name in enumerate(self.order)}
        return tuple(sorted(columns, key=lambda column: place.get(column.name, len(place))))

    def _weight_column(self, weight: Floats) -> Column:
        """Return the weight as a column, with its name in the source."""
        name = next((name for name in self.order if name not in self.names), "weight")
        values, codes = np.unique(weight, return_inverse=True)
        texts = [None if np.isnan(value) else repr(value) for value in values.tolist()]
        levels, code = read_levels(texts, as_type="number", column=name)
        return Column(name, code[codes], levels)

    @cached_property
    def counts(self) -> Integers | None:
        """(n,) rows of the source that each entry of the columns represents, in a counted table; None in other tables.

        The entries of a counted table are the distinct combinations of cells. Attacks that need single rows refuse it.
        """
        return self.quasi_identifiers[0].row_counts

    @cached_property
    def n_rows(self) -> int:
        """Number of rows; for a counted table, of the source."""
        return self.quasi_identifiers[0].n_rows

    @cached_property
    def complete_rows(self) -> Integers:
        """Rows that the rule for missing cells keeps: under "excluded" those without a missing quasi-identifier."""
        if not self._is_complete.any() and self.n_rows:
            raise UnmaskError(
                "every row has a missing quasi-identifier, so the rule 'excluded' leaves 0; use another rule"
            )
        return np.flatnonzero(self._is_complete)

    @property
    def complete(self) -> Table:
        """Table of the complete rows."""
        return self if self.missing != "excluded" or self._is_complete.all() else self._without_incomplete

    @cached_property
    def _without_incomplete(self) -> Table:
        return self.take(self.complete_rows)

    @cached_property
    def _is_complete(self) -> Booleans:
        is_complete = np.ones(self.quasi_identifiers[0].codes.size, dtype=np.bool_)
        for column in self.quasi_identifiers if self.missing == "excluded" else ():
            is_complete &= column.codes != column.levels.missing
        return is_complete

    @cached_property
    def classes(self) -> Classes:
        """Equivalence classes of the quasi-identifiers."""
        return classes_of(self.quasi_identifiers)

    @cached_property
    def n_people(self) -> int:
        """Number of different people."""
        return self.n_rows if self.person is None else len(np.unique(self.person))

    def draw_row_of_each_person(self, rng: np.random.Generator) -> Integers:
        """Draw one complete row of each person, (n_people,), in random order."""
        rows = rng.permutation(self.complete_rows)
        if self.person is None:
            return rows
        return rng.permutation(rows[np.unique(self.person[rows], return_index=True)[1]])

    @cached_property
    def people(self) -> scipy.sparse.csr_array[Any, Any] | None:
        """(J, P) rows of each person in each class, CSR; None if every row is a person."""
        if self.person is None:
            return None
        n_people = int(self.person.max()) + 1
        return class_counts(self.classes.of_row, len(self.classes.sizes), self.person, n_people).to_scipy()

    @cached_property
    def class_people(self) -> Integers:
        """(J,) number of different people in each class, which k counts."""
        return self.classes.sizes if self.people is None else np.diff(self.people.indptr)

    @property
    def codes(self) -> NDArray[np.int32]:
        """(n_rows, d) codes of the quasi-identifiers."""
        return np.stack([column.codes for column in self.quasi_identifiers], axis=1)

    def count_rows(self, group_of: NDArray[np.int32], n: int) -> Integers:
        """Count the rows in each of n groups, (n,).

        group_of : group of each entry of the columns
        """
        return np.bincount(group_of, self.counts, n).astype(np.int64)

    def totals_of(self, column: Column) -> Integers:
        """Count the complete rows of each level of a column of the table, (L,)."""
        return column.counts if self.missing != "excluded" else column.take(self._is_complete).counts

    def column(self, name: str) -> Column:
        """Return the column with this name.

        >>> Table.read({"age": [30], "zip": [1]}, quasi_identifiers=["age", "zip"]).column("zpi")
        Traceback (most recent call last):
        unmask.core.errors.UnmaskError: column 'zpi' is not in the table; did you mean 'zip'? Its columns are age, zip
        """
        check_columns(self.names, [name], place="the table")
        return self.columns[self.names.index(name)]

    def known_by(self, columns: Iterable[Column]) -> Table:
        """Return the table with these columns as quasi-identifiers, and no others."""
        return replace(self, quasi_identifiers=tuple(columns), sensitive=(), kept=(), weight=None)

    def take(self, rows: Rows) -> Table:
        """Return a selection of the rows (numbers, a mask or a slice). Levels are unchanged, so codes remain
        comparable.
        """
        return replace(
            self,
            quasi_identifiers=tuple(column.take(rows) for column in self.quasi_identifiers),
            sensitive=tuple(column.take(rows) for column in self.sensitive),
            kept=tuple(column.take(rows) for column in self.kept),
            weight=None if self.weight is None else self.weight[rows],
            person=None if self.person is None else self.person[rows],
            design=self.design.take(rows),
        )

    @classmethod
    def read(
        cls,
        source: object,
        *,
        quasi_identifiers: Annotated[str | Sequence[str], Option("Input", "--quasi-identifiers -q", commas=True)],
        sensitive: Annotated[str | Sequence[str], Option("Input", "--sensitive -s", commas=True)] = (),
        keep: Annotated[str | Sequence[str], Option("Input", commas=True)] = (),
        identifiers: Annotated[str | Sequence[str], Option("Input", commas=True)] = (),
        person: Annotated[str | None, Option("Input", metavar="COLUMN")] = None,
        household: Annotated[str | None, Option("Input", metavar="COLUMN")] = None,
        weight: Annotated[str | None, Option("Input", metavar="COLUMN")] = None,
        stratum: Annotated[str | None, Option("Input", metavar="COLUMN")] = None,
        cluster: Annotated[str | None, Option("Input", metavar="COLUMN")] = None,
        replicate_weights: Annotated[str | Sequence[str], Option("Input", commas=True)] = (),
        replicate_method: Annotated[str | None, Option("Input", metavar="METHOD")] = None,
        types: Annotated[Mapping[str, str] | None, Option("Input", "--type", "COLUMN=...")] = None,
        orders: Annotated[Mapping[str, Sequence[str]] | None, Option("Input", "--order", "COLUMN=...")] = None,
        hierarchies: Annotated[
            Mapping[str, Hierarchy | str | PathLike[str]] | None, Option("Input", "--hierarchy", "COLUMN=...")
        ] = None,
        cells: Annotated[CellsOf, Option("Input")] = "any",
        missing: Annotated[Missing, Option("Input")] = "own",
        na: Annotated[str | Sequence[str] | None, Option("Input", commas=True)] = None,
        decimal: Annotated[Decimal | None, Option("Input")] = None,
        delimiter: Annotated[str | None, Option("Input")] = None,
        header: Annotated[Sequence[str] | bool | None, Option("Input", "--header/--no-header")] = None,
        encoding: Annotated[str | None, Option("Input")] = None,
        like: Table | None = None,
    ) -> Self:
        """Read a table, give its columns their roles and its cells their meaning.

        source : path (CSV, TSV, .gz, Parquet), pandas or polars frame, Arrow table, mapping of names to arrays, DuckDB
            relation, or (connection, SQL). A `StoredTable` leaves its rows in an engine, which counts combinations.
        quasi_identifiers : columns that an adversary may know, separated by commas
        sensitive : columns that an adversary wants to learn, separated by commas
        keep : columns released unchanged, on purpose (columns without a role are dropped)
        identifiers : columns of the file that identify a person, and are dropped
        person : column that joins the rows of one person, or `row` if each row is another person. Needed if
            an identifier that numbers people has equal values
        household : column with the household of each row, which is not released: for the risk of households
        weight : column with the number of people behind a row, such as a survey weight. Weights of another scale need
            the size of the population; a missing weight counts as 0
        stratum : column with the stratum of each row, for standard errors of a survey
        cluster : column with the primary sampling unit of each row, for standard errors (default: the household)
        replicate_weights : columns with replicate weights, or a pattern such as repwgt*, for standard errors
        replicate_method : method that made them: jk1, bootstrap, brr, sdr (successive differences) or fay:RHO
        types : type of a column: number, date, datetime, code, text or ordinal, for dates such as 03/04/1970
            date:day-first or date:month-first (default: found in the column and noted). By column, see
            `types.recognize`
        orders : COLUMN=LOWEST,...,HIGHEST: the values of an ordinal column in their order. By column
        hierarchies : COLUMN=FILE, generalization hierarchy. By column
        cells : released cells of a column with a hierarchy: any sets of leaves, or only nodes
        missing : meaning of a missing quasi-identifier: a value of its own, any value, or a row left out
        na : texts read as missing, apart from empty cells, '' for none (default: NA, n/a, NULL, ? and similar texts).
            Among numbers and dates `-` and `unknown` do so, too, unless none does
        decimal : mark before the decimals of numbers (default: found in each column)
        delimiter : delimiter of a text file: a character, or tab (default: guessed)
        header : line 1 of a text file names the columns, or is a row (default: found, or asked about if in doubt). Or
            the names of the columns, of a file whose line 1 is a row
        encoding : encoding of a text file that is not UTF-8 (default: guessed and noted)
        like : the original of a release, or its register: columns of the same name have its types where they fit.

        >>> Table.read({"age": ["20-29", "*"]}, quasi_identifiers="age").quasi_identifiers[0].levels.labels
        ('*', '[20, 29]')
        """
        roles = {"quasi_identifiers": _names(quasi_identifiers), "sensitive": _names(sensitive), "keep": _names(keep)}
        roles |= {"weight": _names(weight or ()), "identifiers": _names(identifiers)}
        check_roles(roles)
        used = [name for role, names in roles.items() if role != "identifiers" for name in names]
        codes = None if na is None else _names(na)
        alike = {column.name: column for column in (like.columns if like else ())}
        meanings = Meanings(
            types or {}, orders or {}, read_hierarchies(hierarchies or {}), cells, codes, decimal, alike
        )
        if household in used:
            raise UnmaskError(
                f"column {household!r} has another role, expected one that is not released; leave that out"
            )
        idle = [name for name in meanings.declared_names if name not in used]
        if person is not None and person == weight:
            raise UnmaskError(
                f"column {weight!r} is the weight and cannot also number people; name another column as the person"
            )
        if isinstance(source, StoredTable):
            design_options = (household, stratum, cluster, replicate_weights or None, replicate_method)
            if any(option is not None for option in (weight, *design_options, delimiter, header, encoding)):
                raise UnmaskError(STORED)
            source.check((*used, *idle, *roles["identifiers"], *([] if person in (None, ROW) else [person])))
            if idle:
                raise UnmaskError(NO_ROLE.format(idle[0]))
            return cls._of_stored(source, roles, meanings, missing, person)
        person_column = "" if person in (None, ROW) else person
        units = {"household": household, "stratum": stratum, "cluster": cluster}
        as_text: dict[str, Any] = {"delimiter": delimiter, "header": header, "encoding": encoding}
        replicates = _names(replicate_weights)
        if any("*" in name or "?" in name for name in replicates):
            replicates = match_columns(replicates, column_names(source, role_columns=used, **as_text))
        numeric = dict.fromkeys((*replicates, *roles["weight"]))
        others = {person_column, *(name or "" for name in units.values())} - {"", *used, *roles["identifiers"]}
        dropped = (*roles["identifiers"], *idle, *others)
        read = read_encoded(source, names=list(dict.fromkeys((*used, *numeric))), dropped=dropped, **as_text)
        if idle:
            raise UnmaskError(NO_ROLE.format(idle[0]))
        encoded = {name: column for name, column in read.columns.items() if name in used and name != weight}
        columns, notes = meanings.of(
            encoded, plain=[name for name in roles["keep"] if name not in meanings.declared_names]
        )

        identifier_columns, _ = Meanings(dict.fromkeys(read.dropped, "text"), {}, {}, na=codes).read(read.dropped)

        weights = {name: read.columns[name] for name in numeric}
        weighed, _ = Meanings(dict.fromkeys(weights, "number"), {}, {}, na=codes, decimal=decimal).read(weights)
        row_weight = weights_of(weighed[weight]) if weight else None
        design = UNKNOWN_DESIGN
        if replicates:
            design = relate_replicates([weights_of(weighed[name]) for name in replicates], row_weight, replicate_method)
        n_rows = len(next(iter(read.columns.values())).codes)
        by_name = {**identifier_columns, **columns}
        joined = number_people(by_name[person_column]) if person_column in by_name else None
        numbers: dict[str, Any] = {
            unit: number_units(by_name.get(name), n_rows) for unit, name in units.items() if name is not None
        }
        keys = [identifier_key(name, identifier_columns.get(name), n_rows) for name in roles["identifiers"]]
        unit = counting_unit(keys, n_rows) if person is None else stated_unit(person, shared=joined is not None)
        if unit.question:
            raise UnmaskError(unit.question)

        def of(role: str) -> tuple[Column, ...]:
            return tuple(columns[name] for name in roles[role])

        return cls(
            of("quasi_identifiers"),
            of("sensitive"),
            of("keep"),
            weight=row_weight,
            missing=missing,
            order=tuple(name for name in read.columns if name in used),
            notes=(*read.notes, *notes),
            person=joined,
            design=replace(design, **numbers),
            unit=unit.words,
            library=find_library(source),
        )

    @classmethod
    def _of_stored(
        cls,
        stored: StoredTable,
        roles: Mapping[str, tuple[str, ...]],
        meanings: Meanings,
        missing: Missing,
        person: str | None,
    ) -> Self:
        """Return a counted table: the engine counts the combinations of its rows."""
        quasi_identifiers, sensitive, keep = roles["quasi_identifiers"], roles["sensitive"], roles["keep"]
        unit = stored.unit(person, roles["identifiers"])
        notes = stored.read_levels((*quasi_identifiers, *sensitive), meanings)
        sensitive = sensitive if stored.counts_sensitive else ()
        columns = stored.combinations((*quasi_identifiers, *sensitive))
        return cls(
            tuple(columns[name] for name in quasi_identifiers),
            tuple(columns[name] for name in sensitive),
            missing=missing,
            order=(*stored.dictionary, *keep),
            notes=notes,
            unit=unit,
            uncounted=tuple(keep),
            record_sizes=stored.record_sizes(
                quasi_identifiers, keep, missing, n_rows=columns[quasi_identifiers[0]].n_rows
            ),
        )

    def write(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the table to a CSV or TSV file (.gz), a Parquet file or an Excel workbook, by suffix.

        The file appears only when it is complete. Columns have the order of the source, and labels are canonical.
        Missing cells are empty (NULL in Parquet). In Parquet, a column of exact values keeps the type of the source;
        numbers that were text become numbers.

        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "release.csv"
        ...     Table.read({"age": ["20-29", "*"]}, quasi_identifiers="age").write(file)
        ...     file.read_text().splitlines()
        ['age', '"[20, 29]"', '*']
        """
        write_table(self.written, Path(path), force=force)


NO_ROLE = (
    "column {!r} has a type, order or hierarchy, but no role; make it a quasi-identifier, sensitive or kept, or leave "
    "that out"
)

STORED = (
    "an engine counts rows and detects the format of its files, so weight, household, the other columns of a survey "
    "design, delimiter, header and encoding are not used; leave them out"
)


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def check_roles(roles: Mapping[str, tuple[str, ...]]) -> None:
    """Raise UnmaskError if a column has two roles, or the table has no quasi-identifier.

    roles : column names of each role
    """
    role_of: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            if name in role_of:
                roles_of_name = role if role_of[name] == role else f"{role_of[name]} and {role}"
                raise UnmaskError(
                    f"column {name!r} is given twice, as {roles_of_name}; expected one role for each column"
                )
            role_of[name] = role
    if not roles["quasi_identifiers"]:
        raise UnmaskError("0 quasi-identifiers given, expected at least 1; name what an adversary may know")
