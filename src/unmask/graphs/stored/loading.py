"""From a source of links to a simple graph in an engine: numbered nodes, links in both directions."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from pathlib import Path

from unmask.core.errors import AmbiguousInput, UnmaskError
from unmask.data import MISSING
from unmask.data.dialects import FIRST_LINES
from unmask.data.engine import Engine
from unmask.data.sql import literal
from unmask.graphs.column_words import is_weight
from unmask.graphs.edge_lists import EdgeListOptions, choose_named_ends
from unmask.graphs.graph import Dropped

_log = logging.getLogger(__name__)

_MOST_NODES = 2**31 - 1  # node numbers are 32-bit
_TEXT_FILE = re.compile(r"(?!.*::).*\.[ct]sv(\.gz)?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, eq=False)
class Network:
    """A simple undirected graph that an engine holds in two tables, which may exceed memory.

    {name}_node (node, label, degree) : each node once; `label` is its id as the source has it
    {name}_link (node, neighbor)     : each edge twice, once for each end

    n_nodes, n_edges : nodes, those without an edge included, and undirected edges
    dropped          : what the source says of links besides
    """

    engine: Engine
    name: str
    n_nodes: int
    n_edges: int
    dropped: Dropped = field(default_factory=Dropped)


def load(engine: Engine, source: str, *, name: str, ends: tuple[str, str] | None = None) -> Network:
    """Take a list of links into an engine; nothing of its size passes through Python.

    source : Parquet files, or CSV files with a first line of column names (a path, a glob, a folder), or
             DATABASE::TABLE
    name   : of the tables, plain letters
    ends   : the two columns, by name or by number from 1; None: chosen by their names and first rows

    Direction, repetitions and self-loops are dropped, as `SocialGraph.read` does, and other columns, which is logged; a
    node with nothing but self-loops
    is a node. Nodes are numbered by a hash of their id, so that their order tells nothing; 256 buckets of the hash are
    numbered side by side, so that no single task sorts all ids.

    >>> from tempfile import TemporaryDirectory
    >>> from unmask.data.engine import open_engine
    >>> with TemporaryDirectory() as folder, open_engine() as engine:
    ...     _ = Path(folder, "links.csv").write_text(chr(10).join(["u,v", "a,b", "b,a", "b,c", "c,c"]))
    ...     network = load(engine, f"{folder}/links.csv", name="w")
    ...     network.n_nodes, network.n_edges
    (3, 2)
    """
    names, dropped = _take_in(engine, source, name, ends)
    n_nodes = engine.keep(f"{name}_code", _coded(f"{name}_row"))
    if n_nodes > _MOST_NODES:
        raise UnmaskError(f"the source has {n_nodes:,} nodes, expected at most {_MOST_NODES:,}")
    n_edges = engine.keep(f"{name}_edge", _edges(name))
    engine.keep(f"{name}_link", _both_ways(f"{name}_edge"), cut=True)
    engine.keep(f"{name}_node", _with_degree(f"{name}_code", f"{name}_link"), cut=True)
    for table in ("row", "edge", "code"):
        engine.drop(f"{name}_{table}")
    network = Network(engine, name, n_nodes, n_edges, dropped)
    refuse_ids_for_names(source, names, (network, network))
    return network


def pair_columns(engine: Engine, source: str) -> list[str]:
    """The columns of a source, at least two; a first line of a text file that is two numbers names no columns."""
    names = engine.names(source)
    what = Path(source.rpartition("::")[2]).name
    if len(names) < 2:
        raise UnmaskError(f"source {what!r} has {len(names)} column, expected two of ids")
    if _TEXT_FILE.fullmatch(source) and all(re.fullmatch(r"-?[0-9]+", name) for name in names[:2]):
        raise UnmaskError(f"the first line of {what!r} holds two numbers, expected names of columns; add such a line")
    return list(names)


def refuse_ids_for_names(source: str, names: tuple[str, str], networks: tuple[Network, Network]) -> None:
    """Refuse a text file whose first line names a node of one of these networks, where it should name columns."""
    for name, network in zip(names, networks, strict=True) if _TEXT_FILE.fullmatch(source) else ():
        there = f"select count(*) as n from {network.name}_node where cast(label as string) = {literal(name)}"
        if network.engine.rows(there)["n"][0]:
            what = Path(source).name
            raise UnmaskError(f"the first line of {what!r} holds an id, expected names of columns; add such a line")


def check_rows(engine: Engine, table: str, source: str) -> int:
    """The number of rows (u, v), which must be at least one, all of them with both ids."""
    found = engine.rows(f"select count(*) as n, count(u) as u, count(v) as v from {table}")
    n, gaps = int(found["n"][0]), int(found["n"][0]) - int(min(found["u"][0], found["v"][0]))
    what = Path(source.rpartition("::")[2]).name
    if not n:
        raise UnmaskError(f"source {what!r} has no rows, expected at least one pair of ids")
    if gaps:
        raise UnmaskError(
            f"source {what!r} has at least {gaps:,} of {n:,} rows without one of the two ids; leave them out"
        )
    return n


def _take_in(engine: Engine, source: str, name: str, ends: tuple[str, str] | None) -> tuple[tuple[str, str], Dropped]:
    """Make rows (u, v, weight) of ids table {name}_row; return the two columns, and the names of the rest.

    Ids are whole numbers if both columns are, also where gaps made a column one of doubles.
    """
    names, what = pair_columns(engine, source), Path(source.rpartition("::")[2]).name
    engine.table(f"{name}_sample", source, {f"c{place}": column for place, column in enumerate(names)})
    sample = engine.rows(f"select * from {name}_sample limit {FIRST_LINES}")
    cells = [[None if cell != cell else str(cell) for cell in column.tolist()] for column in sample.values()]
    if not len(cells[0]):
        raise UnmaskError(f"source {what!r} has no rows, expected at least one pair of ids")
    try:
        best = choose_named_ends(names, [*zip(*cells, strict=True)], what, EdgeListOptions(ends=ends))
    except AmbiguousInput:  # its options are those of files
        question = f"the two columns of source {what!r} that are the ends of an edge are not certain"
        raise AmbiguousInput(question, ["--source NAME --target NAME"]) from None
    first, second = best.names
    dropped = Dropped(attributes=tuple(name for place, name in enumerate(names) if place not in best.places))
    if dropped.attributes:
        _log.warning("%s: %s", what, dropped)
    weight = next((column for column in dropped.attributes if is_weight(column)), None)
    columns = {"u": first, "v": second, **({"weight": weight} if weight else {})}
    kinds = engine.table(f"{name}_source", source, columns)
    check_rows(engine, f"{name}_source", source)
    numeric = {kinds["u"], kinds["v"]} <= {"integer", "real"}
    kind = "bigint" if numeric else "string"
    _check_ids(engine, f"{name}_source", what, numeric=numeric)
    number = "coalesce(cast(cast(weight as string) as double), 1.0)" if weight else "1.0"
    engine.keep(
        f"{name}_row",
        f"select cast(u as {kind}) as u, cast(v as {kind}) as v, {number} as weight from {name}_source",
    )
    return (first, second), dropped


def _check_ids(engine: Engine, table: str, what: str, *, numeric: bool) -> None:
    """Refuse words for missing ids, and whole numbers of which some are written with decimals."""
    words = ", ".join(literal(word) for word in sorted(MISSING) if "\\" not in word)
    missing, pointed, plain = (
        " or ".join(test.format(f"lower(cast({end} as string))", end) for end in "uv")
        for test in (
            "{0} in (" + words + ")",
            "{1} <> floor({1})" if numeric else "{0} like '%_.0'",
            "{0} not like '%.%'",
        )
    )
    counted = ", ".join(
        f"count(case when {test} then 1 end) as {name}"
        for name, test in (("missing", missing), ("pointed", pointed), ("plain", plain))
    )
    found = engine.rows(f"select {counted} from {table}")
    if found["missing"][0]:
        raise UnmaskError(
            f"source {what!r} has {found['missing'][0]:,} rows with a word for a missing id; leave them out"
        )
    if found["pointed"][0] and (numeric or found["plain"][0]):
        raise UnmaskError(
            f"source {what!r} has ids with and without decimals, such as 12.0 and 12; write whole numbers"
        )


def _coded(rows: str) -> str:
    """The distinct ids of rows (u, v), numbered from 0 bucket by bucket."""
    ids = (
        "select label, substr(md5(cast(label as string)), 1, 2) as bucket, md5(cast(label as string)) as place "
        f"from (select u as label from {rows} union select v as label from {rows}) every"
    )
    first = (
        f"select bucket, sum(n) over (order by bucket) - n as first from "
        f"(select bucket, count(*) as n from ({ids}) counted group by bucket) sizes"
    )
    return (
        "select cast(i.rank + f.first - 1 as bigint) as node, i.label as label from "
        f"(select label, bucket, row_number() over (partition by bucket order by place, label) as rank "
        f"from ({ids}) hashed) i "
        f"join ({first}) f on f.bucket = i.bucket"
    )


def _edges(name: str) -> str:
    return (
        "select distinct cast(least(a.node, b.node) as integer) as u, cast(greatest(a.node, b.node) as integer) as v "
        f"from {name}_row r join {name}_code a on a.label = r.u join {name}_code b on b.label = r.v "
        "where a.node <> b.node and r.weight <> 0"
    )


def _both_ways(edges: str) -> str:
    return f"select u as node, v as neighbor from {edges} union all select v as node, u as neighbor from {edges}"


def _with_degree(codes: str, links: str) -> str:
    return (
        "select cast(c.node as integer) as node, c.label as label, coalesce(d.degree, cast(0 as bigint)) as degree "
        f"from {codes} c left join (select node, count(*) as degree from {links} group by node) d on d.node = c.node"
    )
