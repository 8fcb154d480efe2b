"""Text files of edges, adjacencies or a matrix: the reading that explains every line, and its edges."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import duckdb
import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import AmbiguousInput, UnmaskError
from unmask.data import (
    MISSING,
    Dialect,
    Sample,
    TextFile,
    account_lines,
    check_comments,
    read_rows,
    read_sample,
    refuse_comments,
    score_dialects,
)
from unmask.data.dialects import DELIMITER_NAMES, FIRST_LINES, RARE, WHOLE
from unmask.data.readings import COMMENT_BELOW
from unmask.data.sql import quoted
from unmask.graphs.column_words import is_known, is_weight
from unmask.graphs.end_columns import EndColumns, Ends, choose_ends
from unmask.graphs.identifiers import LinkList, number_ids
from unmask.graphs.line_forms import adjacency_dialect, matrix_dialect, read_adjacency, read_matrix
from unmask.ranges import Range, check_type

FORMATS = (
    "a list of edges or an adjacency list (.txt, .csv, .tsv), a matrix in such a file, Parquet, Pajek (.net), GraphML, "
    "GEXF, node-link JSON"
)
"""Forms that are read."""

_MIN_SHARED, _MIN_ROWS = 0.02, 5
"""Overlap, and rows from which it counts: two columns that share fewer ids are of two kinds."""

_REFUSED = {
    "Matrix Market": r"%%MatrixMarket", "GML": r"(Creator\b[^\n]*\n\s*)?graph\s*\[", "GDF": r"nodedef>",
    "LEDA": r"LEDA\.GRAPH", "DOT": r"(strict\s+)?(di)?graph\b[^\n]*\{", "UCINET DL": r"dl\s+n\s*=",
    "VNA": r"\*node data", "graph6": r">>(graph|sparse)6", "DIMACS": r"(c [^\n]*\n)*p\s+(edge|col|sp|max)\b",
}  # fmt: skip


@dataclass(frozen=True)
class EdgeListOptions:
    """Options of files of networks; None: recognized, or refused with the options that decide.

    delimiter   : delimiter of the ids: a character, or tab, bar, semicolon, comma or blank (any run of blanks)
    header      : whether the first row names columns
    ends        : columns of the two ends of an edge, by name or by number from 1
    skip_lines  : lines to skip at the top
    comment     : mark of comments, also below the first row; none: no line is a comment
    encoding    : encoding of a text file that is not UTF-8
    form        : rows are edges (links), nodes with their neighbors (adjacency), or rows of a matrix
    ids         : 07 and 7, or 12.0 and 12, are one id (number) or two (text)
    missing_ids : drop edges with a missing end, keep their other end as a person (isolated), or keep the word as an id
    two_mode    : whether the ends are of two kinds, such as people and items
    """

    delimiter: str | None = None
    header: bool | None = None
    ends: Ends | None = None
    skip_lines: Annotated[int, Range(0)] = 0
    comment: str | None = None
    encoding: str | None = None
    form: Literal["links", "adjacency", "matrix"] | None = None
    ids: Literal["text", "number"] | None = None
    missing_ids: Literal["drop", "isolated", "keep"] | None = None
    two_mode: bool | None = None

    def __post_init__(self) -> None:
        marks = {**{name: mark for mark, name in DELIMITER_NAMES.items()}, "\\t": "\t"}
        mark = None if self.delimiter is None else marks.get(self.delimiter, self.delimiter)
        if mark is not None and (mark in ('"', "\n", "\r") or (len(mark) != 1 and mark not in RARE)):
            names = ", ".join(DELIMITER_NAMES.values())
            raise UnmaskError(f"the delimiter is unknown, expected one character or one of {names}")
        object.__setattr__(self, "delimiter", mark)
        object.__setattr__(self, "ends", None if self.ends is None else tuple(self.ends))
        for name, hint in get_type_hints(EdgeListOptions, include_extras=True).items():
            if name != "ends" and getattr(self, name) is not None:
                check_type(name, getattr(self, name), hint)


def read_edge_list(
    connection: duckdb.DuckDBPyConnection, file: TextFile, folder: str, options: EdgeListOptions
) -> LinkList:
    """Return the edges of a text file; refuse one with two readings, and one with a line that is not explained."""
    sample = read_sample(file, skip_lines=options.skip_lines, comment=options.comment)
    _refuse_other_forms(sample)
    ragged = options.form == "links"
    dialects = score_dialects(sample, delimiter=options.delimiter, ragged=ragged, is_known=is_known)
    if not dialects:
        raise UnmaskError(f"no line of {file.name!r} has the delimiter; leave it out to have it recognized")
    colons = dialects[0].delimiter == " " and all(row[0].endswith(":") for row in dialects[0].rows)
    if colons and options.delimiter is None:
        raise UnmaskError(
            f"the first id on each line of {file.name!r} ends with a colon; remove it, or --delimiter ':'"
        )
    is_free = options.ends is None and options.form is None
    if (is_free or options.form == "matrix") and (matrix := matrix_dialect(dialects, asked=not is_free)):
        return read_matrix(*matrix)
    if (is_free or options.form == "adjacency") and (dialect := adjacency_dialect(dialects, asked=not is_free)):
        return read_adjacency(dialect)
    several = [dialect for dialect in dialects if dialect.width > 1]
    if not several:
        raise UnmaskError(f"file {file.name!r} has one column, expected two ids on each line; name the delimiter")
    if all(dialect.misfits for dialect in several):
        _check_lines(several[0])
    best = choose_ends(several, file.name, header=options.header, ends=options.ends)
    _check_lines(best.reading.dialect)
    if options.ends is None and options.two_mode is None:
        _check_kinds(best, file.name)
    return _read_text(connection, best, folder, options)


def best_dialect(file: TextFile) -> Dialect:
    """Return the best dialect of a text file."""
    return score_dialects(read_sample(file), is_known=is_known)[0]


def _refuse_other_forms(sample: Sample) -> None:
    start = "\n".join((*sample.comments, *sample.lines[:20])).lstrip()
    for name, pattern in _REFUSED.items():
        if re.match(pattern, start, re.IGNORECASE):
            raise UnmaskError(f"file {sample.file.name!r} is in {name} form, which is not read; expected {FORMATS}")


def _check_lines(dialect: Dialect) -> None:
    """Raise `AmbiguousInput` for lines of the sample that no reading explains."""
    check_comments(dialect)
    if dialect.misfits:
        first, sample = dialect.misfits[0], dialect.sample
        n_top = next((at for at, line in enumerate(dialect.misfits) if line != sample.n_above + at + 1), None)
        skip = dialect.misfits[-1 if n_top is None else n_top - 1] if n_top != 0 else 0
        raise AmbiguousInput(
            f"line {first} of {sample.file.name!r} does not have {dialect.width} columns as most lines have (there are "
            f"{len(dialect.misfits):,} such lines)",
            [f"--skip-lines {skip}"] * bool(skip)
            + [f"--form {form} {dialect.option}" for form in ("links", "adjacency")],
        )


def _check_kinds(best: EndColumns, file: str) -> None:
    """Raise `AmbiguousInput` if the two ends may be of two kinds, or one an attribute."""
    if best.terms["words"] >= 0.9:
        return
    modes = ["--two-mode", "--one-mode"]
    if "thing" in best.classes:
        raise AmbiguousInput(f"the ends in {file!r} look like people and things", modes)
    if best.numeric[0] != best.numeric[1]:
        raise AmbiguousInput(f"one end in {file!r} holds numbers and the other text, as people and things do", modes)
    if "attribute" in best.classes:
        raise AmbiguousInput(f"an end in {file!r} has the name of an attribute", [best.options])


def _check_shared(links: LinkList, file: str) -> None:
    """Raise `AmbiguousInput` if the two ends have hardly an id in common in the whole file."""
    first, second = (np.bincount(side, minlength=links.n_nodes) > 0 for side in (links.u, links.v))
    fewer = min(int(first.sum()), int(second.sum()))
    overlap = int((first & second).sum()) / max(1, links.n_nodes * fewer) ** 0.5
    if overlap < _MIN_SHARED and len(links.u) >= _MIN_ROWS:
        question = f"the two columns of {file!r} share no ids, as people and things do"
        raise AmbiguousInput(question, ["--two-mode", "--one-mode"])


# --- the whole file -------------------------------------------------------------------------------------------------

Rows = Callable[..., dict[str, NDArray[Any]]]
"""The arrays of a query of a relation `rows`; its result goes to a table if its name is given as `table`."""


def _read_text(
    connection: duckdb.DuckDBPyConnection, best: EndColumns, folder: str, options: EdgeListOptions
) -> LinkList:
    reading, sample = best.reading, best.reading.dialect.sample
    arrays = _read_ids(connection, partial(read_rows, connection, reading, folder=folder), best, options)
    if arrays["marked"].any():
        refuse_comments(reading)
    lines = account_lines(reading, len(arrays["u"]))
    if lines.n_continued:
        raise AmbiguousInput(f"quotes in {sample.file.name!r} run over {lines.n_continued:,} line breaks; mend them")
    is_free = options.header is None and options.ends is None and not options.skip_lines
    ignored = [f"{lines.n_comments:,} comment lines", f"{lines.n_blank:,} blank", *filter(None, [sample.note])]
    ignored += [f"{lines.n_skipped:,} skipped"] * bool(lines.n_skipped)
    account = f"{lines.n_lines:,} lines; ends: {', '.join(best.names)}; {', '.join(ignored)}"
    return _numbered(arrays, best, options, account, may_count=is_free and not reading.header)


def read_table(connection: duckdb.DuckDBPyConnection, relation: str, file: str, options: EdgeListOptions) -> LinkList:
    """Return the edges of a relation of texts, given as SQL, whose columns have names."""
    names = [row[0] for row in connection.execute(f"describe from {relation}").fetchall()]
    best = choose_named_ends(
        names, connection.execute(f"from {relation} limit {FIRST_LINES}").fetchall(), file, options
    )
    columns = ", ".join(f"{quoted(name)} as c{place}" for place, name in enumerate(names))

    def rows(select: str, table: str | None = None) -> dict[str, NDArray[Any]]:
        create = f"create or replace temp table {table} as " if table else ""
        return dict(
            connection.execute(f"{create}with rows as (select {columns} from {relation}) {select}").fetchnumpy()
        )

    arrays = _read_ids(connection, rows, best, options)
    return _numbered(arrays, best, options, f"{len(arrays['u']):,} rows; ends: {', '.join(best.names)}")


def choose_named_ends(
    names: Sequence[str], rows: Sequence[Sequence[str | None]], file: str, options: EdgeListOptions
) -> EndColumns:
    """Return the ends of a table whose columns have names, by these and some of its rows."""
    if len(names) < 2:
        raise UnmaskError(f"file {file!r} has {len(names)} column, expected two of node ids")
    sample = Sample(TextFile(Path(file), file, "", 0, 0), (), 0, 0, ())
    cells = tuple(tuple(cell or "" for cell in row) for row in rows)
    terms = dict.fromkeys(("agree", "pure", "whole", "typed", "several"), 1.0)
    dialect = Dialect(sample, ",", '"', (tuple(names), *cells), len(names), (), terms)
    best = choose_ends([dialect], file, header=True, ends=options.ends)
    if options.ends is None and options.two_mode is None:
        _check_kinds(best, file)
    return best


def _read_ids(
    connection: duckdb.DuckDBPyConnection, rows: Rows, best: EndColumns, options: EdgeListOptions
) -> dict[str, NDArray[Any]]:
    """Return the ids of all rows: as whole numbers where all are, which the sample tells first, else as texts."""
    body = best.reading.dialect.rows[best.reading.header :]
    if not options.two_mode and all(WHOLE.fullmatch(row[place]) for row in body for place in best.places):
        inner = _select(
            best, "trim(c{0}) as a, trim(c{1}) as b, try_cast(a as bigint) as n, try_cast(b as bigint) as m"
        )
        outer = "coalesce(n, 0) as u, coalesce(m, 0) as v, coalesce(n::varchar = a and m::varchar = b, false) as whole"
        arrays = rows(f"select {outer}, weight, marked from ({inner})")
        if arrays["whole"].all():
            return arrays
    second = "coalesce(trim(c{1}), '')"
    if options.two_mode:
        missing = ", ".join(f"'{word}'" for word in sorted(MISSING))
        kind = best.names[1].replace("'", "''").replace("{", "{{").replace("}", "}}")
        second = f"case when lower({second}) in ({missing}) then {second} else '{kind}:' || {second} end"
    rows(_select(best, "coalesce(trim(c{0}), '') as u, " + second + " as v"), table="link")
    return number_texts(connection)


def _numbered(
    arrays: dict[str, NDArray[Any]],
    best: EndColumns,
    options: EdgeListOptions,
    account: str,
    *,
    may_count: bool = False,
) -> LinkList:
    file = best.reading.dialect.sample.file.name
    if not len(arrays["u"]):
        raise UnmaskError(f"file {file!r} has no edges, expected at least one")
    links = number_ids(arrays, file, ids=options.ids, missing_ids=options.missing_ids, may_count=may_count)
    if options.ends is None and options.two_mode is None and best.terms["words"] < 0.9:
        _check_shared(links, file)
    left_out = tuple(name for place, name in enumerate(best.reading.columns) if place not in best.places)
    return replace(links, attributes=left_out, account="; ".join(filter(None, [account, links.account])))


def number_texts(connection: duckdb.DuckDBPyConnection) -> dict[str, NDArray[Any]]:
    """Return table `link` (u, v, ...) with numbers for the ids, and the ids as `labels`, ascending."""
    connection.execute(
        "create or replace temp table node as select id, row_number() over (order by id) - 1 as code from "
        "(select u as id from link union select v from link)"
    )
    labels = connection.execute("select id from node order by code").fetchnumpy()["id"]
    both = connection.execute(
        "select a.code as u, b.code as v, link.weight, link.marked from link join node a on link.u = a.id "
        "join node b on link.v = b.id order by link.rowid"
    ).fetchnumpy()
    return {**both, "labels": np.asarray(labels, dtype=object)}


def _select(best: EndColumns, ends: str) -> str:
    """Return a query of the ends, the weight, which is 1 without a column of weights, and marks of comments."""
    names = best.reading.names
    places = [place for place, name in enumerate(names) if place not in best.places and is_weight(name)]
    weight = f"coalesce(try_cast(replace(c{places[0]}, ',', '.') as double), 1.0)" if places else "1.0"
    marked = f"coalesce(regexp_matches(c0, '{COMMENT_BELOW}'), false)"
    return f"select {ends.format(*best.places)}, {weight} as weight, {marked} as marked from rows"
