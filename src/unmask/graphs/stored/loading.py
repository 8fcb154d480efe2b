"""From a source of links to a simple graph in an engine: numbered nodes, links in both directions."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from pathlib import Path

from unmask.engines import Engine
from unmask.engines.sql import literal
from unmask.errors import UnmaskError
from unmask.graphs.columns import edge_columns, named_columns
from unmask.graphs.release import Dropped

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
             DATABASE::TABLE; the ids of a link, whole numbers or texts, are in the columns that their names tell, see
             `unmask.graphs.columns.edge_columns`
    name   : of the tables, plain letters
    ends   : the two columns, by name or by number from 1; None: told by their names

    Direction, repetitions and self-loops are dropped, as `SocialGraph.read` does, and other columns, which is logged; a
    node with nothing but self-loops
    is a node. Nodes are numbered by a hash of their id, so that their order tells nothing; 256 buckets of the hash are
    numbered side by side, so that no single task sorts all ids.

    >>> from tempfile import TemporaryDirectory
    >>> from unmask.engines import open_engine
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
    """Rows (u, v) of ids as table {name}_row, the two columns, and what the others are; whole numbers stay so if both
    columns are.
    """
    names, what = pair_columns(engine, source), Path(source.rpartition("::")[2]).name
    columns = edge_columns(names, what) if ends is None else named_columns(names, ends, what)
    first, second = (names[at] for at in columns)
    dropped = Dropped(attributes=tuple(name for at, name in enumerate(names) if at not in columns))
    if dropped.attributes:
        _log.warning("%s: %s", what, dropped)
    kinds = engine.table(f"{name}_source", source, {"u": first, "v": second})
    check_rows(engine, f"{name}_source", source)
    whole = set(kinds.values()) == {"integer"}
    cells = "u, v" if whole else "cast(u as string) as u, cast(v as string) as v"
    engine.keep(f"{name}_row", f"select {cells} from {name}_source")
    return (first, second), dropped


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
        "where a.node <> b.node"
    )


def _both_ways(edges: str) -> str:
    return f"select u as node, v as neighbor from {edges} union all select v as node, u as neighbor from {edges}"


def _with_degree(codes: str, links: str) -> str:
    return (
        "select cast(c.node as integer) as node, c.label as label, coalesce(d.degree, cast(0 as bigint)) as degree "
        f"from {codes} c left join (select node, count(*) as degree from {links} group by node) d on d.node = c.node"
    )
