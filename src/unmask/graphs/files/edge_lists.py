"""Edge lists, adjacency lists and matrices in text files: recognize the format and read all edges."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import duckdb

from unmask.core.errors import AmbiguousInput, UnmaskError
from unmask.data.dialects import (
    FIRST_LINES,
    MISSING,
    RARE,
    WHOLE,
    Dialect,
    Sample,
    parse_delimiter,
    read_sample,
    score_dialects,
)
from unmask.data.encodings import TextFile, check_encoding
from unmask.data.readings import COMMENT_BELOW, account_lines, check_comments, read_rows, refuse_comments
from unmask.data.sql import quote_name
from unmask.graphs.compressed_rows import mark_nodes
from unmask.graphs.files.end_columns import EndColumns, Ends, choose_ends, is_known, is_weight
from unmask.graphs.files.formats import adjacency_dialect, matrix_dialect, read_adjacency, read_matrix
from unmask.graphs.files.node_numbers import LinkList, number_ids
from unmask.ranges import Option, Range, check_type, list_hints

FORMATS = (
    "a list of edges or an adjacency list (.txt, .csv, .tsv), a matrix in such a file, Parquet, Pajek (.net), GraphML, "
    "GEXF, node-link JSON"
)
"""Formats that can be read."""

_MIN_SHARED, _MIN_ROWS = 0.02, 5
"""Smallest share of common ids of two end columns, tested from 5 rows on; below it, the columns are of two kinds."""

_REFUSED = {
    "Matrix Market": r"%%MatrixMarket", "GML": r"(Creator\b[^\n]*\n\s*)?graph\s*\[", "GDF": r"nodedef>",
    "LEDA": r"LEDA\.GRAPH", "DOT": r"(strict\s+)?(di)?graph\b[^\n]*\{", "UCINET DL": r"dl\s+n\s*=",
    "VNA": r"\*node data", "graph6": r">>(graph|sparse)6", "DIMACS": r"(c [^\n]*\n)*p\s+(edge|col|sp|max)\b",
}  # fmt: skip


@dataclass(frozen=True)
class EdgeListOptions:
    """Options for files of networks. None: recognized, or rejected with the options that decide.

    Parameters
    ----------
    source : str or int, optional
        column of one end of an edge, by name or by number from 1
    target : str or int, optional
        column of the other end of an edge (needs --source)
    delimiter : str, optional
        delimiter of the ids: a character, or tab, bar, semicolon, comma or blank (any run of blanks)
    header : bool, optional
        first row contains column names
    skip_lines : int
        lines to skip at the top
    comment : str, optional
        mark of comments, also below the first row (none: no line is a comment)
    encoding : str, optional
        encoding of a text file, if it is not UTF-8
    form : {"links", "adjacency", "matrix"}, optional
        rows are edges (links), nodes with their neighbors (adjacency), or rows of a matrix
    ids : {"text", "number"}, optional
        treat 07 and 7, or 12.0 and 12, as one id (number) or two (text)
    missing_ids : {"drop", "isolated", "keep"}, optional
        drop edges with a missing end, keep their other end as a person (isolated), or keep the word as an id
    two_mode : bool, optional
        ends of two kinds, such as people and items
    """

    source: Annotated[str | int | None, Option("Input")] = None
    target: Annotated[str | int | None, Option("Input")] = None
    delimiter: Annotated[str | None, Option("Input")] = None
    header: Annotated[bool | None, Option("Input", "--header/--no-header")] = None
    skip_lines: Annotated[int, Range(0), Option("Input")] = 0
    comment: Annotated[str | None, Option("Input")] = None
    encoding: Annotated[str | None, Option("Input")] = None
    form: Annotated[Literal["links", "adjacency", "matrix"] | None, Option("Input")] = None
    ids: Annotated[Literal["text", "number"] | None, Option("Input")] = None
    missing_ids: Annotated[Literal["drop", "isolated", "keep"] | None, Option("Input")] = None
    two_mode: Annotated[bool | None, Option("Input", "--two-mode/--one-mode")] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "delimiter", parse_delimiter(self.delimiter, rare=RARE))
        if (self.source is None) != (self.target is None):
            named, missing = ("source", "target") if self.target is None else ("target", "source")
            raise UnmaskError(f"`{named}` was given without `{missing}`, expected the columns of both ends of an edge")
        for name, hint in list_hints(EdgeListOptions).items():
            check_type(name, getattr(self, name), hint)
        if self.encoding is not None:
            object.__setattr__(self, "encoding", check_encoding(self.encoding))

    @property
    def ends(self) -> Ends | None:
        """The given columns of the two ends; None if they are to be recognized."""
        return None if self.source is None else (str(self.source), str(self.target))


def read_edge_list(
    connection: duckdb.DuckDBPyConnection, file: TextFile, folder: str, options: EdgeListOptions
) -> LinkList:
    """Return the edges of a text file; raise for a file with two readings, and for a line that does not fit."""
    sample = read_sample(file, skip_lines=options.skip_lines, comment=options.comment)
    _refuse_other_forms(sample)
    ragged = options.form == "links"
    dialects = score_dialects(sample, delimiter=options.delimiter, ragged=ragged, is_known=is_known)
    if not dialects:
        raise UnmaskError(f"no line of {file.name!r} has the delimiter; omit it to have it recognized")
    colons = dialects[0].delimiter == " " and all(row[0].endswith(":") for row in dialects[0].rows)
    if colons and options.delimiter is None:
        raise UnmaskError(
            f"the first id on each line of {file.name!r} ends with a colon; remove it, or `delimiter` ':'"
        )
    is_free = options.ends is None and options.form is None
    if (is_free or options.form == "matrix") and (matrix := matrix_dialect(dialects, is_chosen=not is_free)):
        return read_matrix(*matrix)
    if (is_free or options.form == "adjacency") and (dialect := adjacency_dialect(dialects, is_chosen=not is_free)):
        return read_adjacency(dialect)
    several = [dialect for dialect in dialects if dialect.width > 1]
    if not several:
        raise UnmaskError(f"file {file.name!r} has one column, expected two ids on each line; name the delimiter")
    if all(dialect.misfits for dialect in several):
        _check_lines(several[0])
    end_columns = choose_ends(several, file.name, header=options.header, ends=options.ends)
    _check_lines(end_columns.reading.dialect)
    if options.ends is None and options.two_mode is None:
        _check_kinds(end_columns, file.name)
    return _read_text(connection, end_columns, folder, options)


def best_dialect(file: TextFile) -> Dialect:
    """Return the best dialect of a text file."""
    return score_dialects(read_sample(file), is_known=is_known)[0]


def _refuse_other_forms(sample: Sample) -> None:
    start = "\n".join((*sample.comments, *sample.lines[:20])).lstrip()
    for name, pattern in _REFUSED.items():
        if re.match(pattern, start, re.IGNORECASE):
            raise UnmaskError(f"file {sample.file.name!r} is in {name} form, which is not read; expected {FORMATS}")


def _check_lines(dialect: Dialect) -> None:
    """Raise `AmbiguousInput` for lines of the sample that fit no reading."""
    check_comments(dialect)
    if dialect.misfits:
        first, sample = dialect.misfits[0], dialect.sample
        n_top = next((place for place, line in enumerate(dialect.misfits) if line != sample.n_above + place + 1), None)
        skip = dialect.misfits[-1 if n_top is None else n_top - 1] if n_top != 0 else 0
        raise AmbiguousInput(
            f"line {first} of {sample.file.name!r} does not have {dialect.width} columns as most lines have (there are "
            f"{len(dialect.misfits):,} such lines)",
            [f"--skip-lines {skip}"] * bool(skip)
            + [f"--form {form} {dialect.option}" for form in ("links", "adjacency")],
        )


def _check_kinds(end_columns: EndColumns, file: str) -> None:
    """Raise `AmbiguousInput` if the two ends may be of two kinds, or if an end may be an attribute."""
    if end_columns.terms["words"] >= 0.9:
        return
    modes = ["--two-mode", "--one-mode"]
    if "thing" in end_columns.classes:
        raise AmbiguousInput(f"the ends in {file!r} look like people and things", modes)
    if end_columns.numeric[0] != end_columns.numeric[1]:
        raise AmbiguousInput(f"one end in {file!r} holds numbers and the other text, as people and things do", modes)
    if "attribute" in end_columns.classes:
        raise AmbiguousInput(f"an end in {file!r} has the name of an attribute", [end_columns.options])


# --- the complete file ----------------------------------------------------------------------------------------------

MakeLinks = Callable[[str], None]
"""Function that creates the table `link` by a query on a relation `rows`."""


def _read_text(
    connection: duckdb.DuckDBPyConnection, end_columns: EndColumns, folder: str, options: EdgeListOptions
) -> LinkList:
    reading, sample = end_columns.reading, end_columns.reading.dialect.sample

    def make_links(select: str) -> None:
        read_rows(connection, reading, select, folder, table="link")

    n_rows, n_marked = _make_link_table(connection, make_links, end_columns, options)
    if n_marked:
        refuse_comments(reading)
    lines = account_lines(reading, n_rows)
    if lines.n_continued:
        raise AmbiguousInput(f"quotes in {sample.file.name!r} run over {lines.n_continued:,} line breaks; correct them")
    is_free = options.header is None and options.ends is None and not options.skip_lines
    ignored = [f"{lines.n_comments:,} comment lines", f"{lines.n_blank:,} blank", *filter(None, [sample.note])]
    ignored += [f"{lines.n_skipped:,} skipped"] * bool(lines.n_skipped)
    account = f"{lines.n_lines:,} lines; ends: {', '.join(end_columns.names)}; {', '.join(ignored)}"
    return _number_links(connection, end_columns, options, account, may_count=is_free and not reading.header)


def read_table(connection: duckdb.DuckDBPyConnection, relation: str, file: str, options: EdgeListOptions) -> LinkList:
    """Return the edges of a relation of texts with named columns, given as SQL."""
    names = [row[0] for row in connection.execute(f"describe from {relation}").fetchall()]
    end_columns = choose_named_ends(
        names, connection.execute(f"from {relation} limit {FIRST_LINES}").fetchall(), file, options
    )
    columns = ", ".join(f"{quote_name(name)} as c{place}" for place, name in enumerate(names))

    def make_links(select: str) -> None:
        rows = f"with rows as (select {columns} from {relation})"
        connection.execute(f"create or replace temp table link as {rows} {select}")

    n_rows, _ = _make_link_table(connection, make_links, end_columns, options)
    return _number_links(connection, end_columns, options, f"{n_rows:,} rows; ends: {', '.join(end_columns.names)}")


def choose_named_ends(
    names: Sequence[str], rows: Sequence[Sequence[str | None]], file: str, options: EdgeListOptions
) -> EndColumns:
    """Return the ends of a table with named columns, chosen by the names and some of the rows."""
    if len(names) < 2:
        raise UnmaskError(f"file {file!r} has {len(names)} column, expected two of node ids")
    sample = Sample(TextFile(Path(file), file, "", 0, 0), (), 0, 0, ())
    cells = tuple(tuple(cell or "" for cell in row) for row in rows)
    terms = dict.fromkeys(("agree", "pure", "whole", "typed", "several"), 1.0)
    dialect = Dialect(sample, ",", '"', (tuple(names), *cells), len(names), (), terms)
    end_columns = choose_ends([dialect], file, header=True, ends=options.ends)
    if options.ends is None and options.two_mode is None:
        _check_kinds(end_columns, file)
    return end_columns


def _make_link_table(
    connection: duckdb.DuckDBPyConnection, make_links: MakeLinks, end_columns: EndColumns, options: EdgeListOptions
) -> tuple[int, int]:
    """Create the table `link` with ids and weights; return the number of rows, and the number that look like comments.

    Ids are integers if all of them are. The sample is tested first. Otherwise they are texts.
    """
    body = end_columns.reading.dialect.rows[end_columns.reading.header :]
    if not options.two_mode and all(WHOLE.fullmatch(row[place]) for row in body for place in end_columns.places):
        ids = "trim(c{0}) as a, trim(c{1}) as b, try_cast(a as bigint) as n, try_cast(b as bigint) as m"
        inner = _select(end_columns, ids, is_marked=0 not in end_columns.places)
        numbers = "case when n::varchar = a then n end as u, case when m::varchar = b then m end as v"
        make_links(f"select {numbers}, * exclude (a, b, n, m) from ({inner})")
        n_rows, n_marked, n_whole = _count_rows(connection, is_marked=0 not in end_columns.places)
        if n_whole == n_rows:
            return n_rows, n_marked
    second = "coalesce(trim(c{1}), '')"
    if options.two_mode:
        missing = ", ".join(f"'{word}'" for word in sorted(MISSING))
        kind = end_columns.names[1].replace("'", "''").replace("{", "{{").replace("}", "}}")
        second = f"case when lower({second}) in ({missing}) then {second} else '{kind}:' || {second} end"
    make_links(_select(end_columns, "coalesce(trim(c{0}), '') as u, " + second + " as v", is_marked=True))
    return _count_rows(connection, is_marked=True)[:2]


def _select(end_columns: EndColumns, ends: str, *, is_marked: bool) -> str:
    """Return a query for the ends, the weight if there is one, and marks of comment rows."""
    weight, marked = _weight_column(end_columns), f"coalesce(regexp_matches(c0, '{COMMENT_BELOW}'), false) as marked"
    number = [] if weight is None else [f"coalesce(try_cast(replace(c{weight}, ',', '.') as double), 1.0) as weight"]
    return f"select {', '.join([ends.format(*end_columns.places), *number, *([marked] * is_marked)])} from rows"


def _weight_column(end_columns: EndColumns) -> int | None:
    names = enumerate(end_columns.reading.names)
    return next((place for place, name in names if place not in end_columns.places and is_weight(name)), None)


def _count_rows(connection: duckdb.DuckDBPyConnection, *, is_marked: bool) -> tuple[int, int, int]:
    """Return the number of rows, of marked rows, and of rows with both ids."""
    marked = "count_if(marked)" if is_marked else "0"
    (counts,) = connection.execute(f"select count(*), {marked}, least(count(u), count(v)) from link").fetchall()
    n_rows, n_marked, n_whole = map(int, counts)
    return n_rows, n_marked, n_whole


def _number_links(
    connection: duckdb.DuckDBPyConnection,
    end_columns: EndColumns,
    options: EdgeListOptions,
    account: str,
    *,
    may_count: bool = False,
) -> LinkList:
    """Return the links of table `link` and the other attributes of the file; raise if the ends are of two types."""
    file, has_weights = end_columns.reading.dialect.sample.file.name, _weight_column(end_columns) is not None
    if connection.execute("select 1 from link limit 1").fetchone() is None:
        raise UnmaskError(f"file {file!r} has no edges, expected at least one")
    links = number_ids(
        connection, file, ids=options.ids, missing_ids=options.missing_ids, has_weights=has_weights, may_count=may_count
    )
    if options.ends is None and options.two_mode is None and end_columns.terms["words"] < 0.9:
        _check_shared(links, file)
    left_out = tuple(name for place, name in enumerate(end_columns.reading.columns) if place not in end_columns.places)
    return replace(links, attributes=left_out, account="; ".join(filter(None, [account, links.account])))


def _check_shared(links: LinkList, file: str) -> None:
    """Raise `AmbiguousInput` if the two ends have almost no common ids in the complete file."""
    is_source, is_target = (mark_nodes(links.n_nodes, side) for side in (links.u, links.v))
    fewer = min(int(is_source.sum()), int(is_target.sum()))
    overlap = int((is_source & is_target).sum()) / max(1, links.n_nodes * fewer) ** 0.5
    if overlap < _MIN_SHARED and len(links.u) >= _MIN_ROWS:
        question = f"the two columns of {file!r} share no ids, as people and things do"
        raise AmbiguousInput(question, ["--two-mode", "--one-mode"])
