"""Node numbers for the ids of a table of links; handles spellings of ids, missing ids, and weights of 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Integers
from unmask.core.errors import AmbiguousInput, UnmaskError
from unmask.data.dialects import MISSING
from unmask.graphs.compressed_rows import MAX_LINKS_IN_MEMORY, allocate, iterate_blocks, mark_nodes
from unmask.graphs.files.end_columns import unify_ids

if TYPE_CHECKING:
    import duckdb

MAX_NODES = 2**31 - 1
"""Largest number of nodes of a graph: node numbers have 32 bits."""

_IDS_PER_LINK, _MIN_IDS = 4, 1024
"""Integer ids in a range of at most so many values per link are numbered by a boolean array instead of a sort."""


@dataclass(frozen=True, eq=False)
class LinkList:
    """Links u[i] - v[i] between the nodes 0 to n_nodes - 1.

    Parameters
    ----------
    u, v : (n_links,) array of int
        Ends of each link.
    labels : (n_nodes,) array or None
        Ids of the nodes.
    n_nodes : int
        Number of nodes.
    attributes : tuple of str
        Names of other attributes of the source; "direction" is first if the source has one.
    account : str
        Number of lines of a file, and reasons why some are ignored.
    """

    u: NDArray[np.integer[Any]]
    v: NDArray[np.integer[Any]]
    labels: NDArray[Any] | None
    n_nodes: int
    attributes: tuple[str, ...] = ()
    account: str = ""


def number_ids(
    connection: duckdb.DuckDBPyConnection,
    file: str,
    *,
    ids: str | None,
    missing_ids: str | None,
    has_weights: bool,
    may_count: bool,
) -> LinkList:
    """Return the links of temporary table `link`, with nodes numbered by ascending id, and count the ignored rows.

    The table has ids u and v, both integers or both texts, and optional weights. It is dropped.

    may_count : True if the first row may contain the numbers of nodes and edges
    """
    coded, labels, notes = _code_ids(connection, file, ids, "weight" if has_weights else "1.0 as weight")
    missing = _find_missing(labels, missing_ids)
    codes = ", ".join(map(str, np.flatnonzero(missing).tolist()))
    gap = f"(u in ({codes}) or v in ({codes}))" if codes else "false"
    conditions = ("true", gap, "weight < 0", f"weight = 0 and not {gap}")
    n_rows, n_gaps, n_negative, n_zero = _count_rows(connection, coded, conditions)
    if n_gaps and missing_ids is None:
        raise AmbiguousInput(
            f"{n_gaps:,} of {n_rows:,} edges in {file!r} have a missing end, such as NA or -1",
            ["--missing-ids drop", "--missing-ids isolated", "--missing-ids keep"],
        )
    if may_count:
        _refuse_counts(connection, coded, labels, file)
    u, v = _fetch_links(connection, f"{coded} where weight <> 0 and not {gap}", n_rows, n_rows - n_gaps - n_zero)
    is_node = mark_nodes(len(labels), u, v)
    if n_gaps or n_zero:
        ends = f"from {coded} where {'true' if missing_ids == 'isolated' else f'not {gap}'}"
        is_node[connection.execute(f"select u {ends} union select v {ends}").fetchnumpy()["u"]] = True
    connection.execute("drop table if exists link; drop table if exists coded; drop table if exists node")
    is_node &= ~missing
    _renumber((u, v), is_node)
    nodes = np.flatnonzero(is_node)
    names = nodes + labels.start if isinstance(labels, range) else labels[nodes]
    counts = {f"{n_gaps:,} with a missing end": n_gaps, f"{n_negative:,} of negative weight (caution)": n_negative}
    notes += [*(note for note, n in counts.items() if n), *filter(None, [describe_zeros(n_zero)])]
    return LinkList(u, v, names, len(names), account="; ".join(notes))


def _count_rows(connection: duckdb.DuckDBPyConnection, rows: str, conditions: Sequence[str]) -> tuple[int, ...]:
    """Return the number of rows that meet each condition."""
    counts = ", ".join(f"count(*) filter ({condition})" for condition in conditions)
    return _fetch_row(connection, f"select {counts} from {rows}")


def _fetch_row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    row = connection.execute(query).fetchone()
    assert row is not None
    return row


def _fetch_links(
    connection: duckdb.DuckDBPyConnection, rows: str, n_rows: int, n_links: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the ends of links in file order; large tables are fetched block by block into memory-mapped arrays."""
    u, v = (allocate(n_links, np.int32, is_mapped=n_rows > MAX_LINKS_IN_MEMORY) for _ in range(2))
    end = 0
    for block in iterate_blocks(n_rows):
        in_block = f"place >= {block.start} and place < {block.stop}"
        links = connection.execute(f"select u, v from {rows} and {in_block}").fetchnumpy()
        start, end = end, end + len(links["u"])
        u[start:end], v[start:end] = links["u"], links["v"]
    return u, v


def _renumber(ends: Sequence[NDArray[np.int32]], is_node: Booleans) -> None:
    """Replace codes by node numbers, which count only the codes that are nodes."""
    if is_node.all():
        return
    number = np.cumsum(is_node, dtype=np.int32) - np.int32(1)
    for codes in ends:
        for block in iterate_blocks(len(codes)):
            codes[block] = number[codes[block]]


def is_zero(weight: object) -> bool:
    """Return True if the weight of an edge is 0, so the edge is ignored.

    >>> is_zero("0.0"), is_zero(None), is_zero("strong")
    (True, False, False)
    """
    try:
        return weight is not None and float(weight) == 0  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def describe_zeros(n_zero: int) -> str:
    """Describe the number of edges with weight 0 for the account of a file; "" for none."""
    return f"{n_zero:,} of weight 0 (no edges)" if n_zero else ""


def sort_labels(ids: Sequence[str]) -> NDArray[Any]:
    """Return distinct ids in ascending order: as integers if all of them are, otherwise as texts.

    >>> sort_labels(["10", "9"]), sort_labels(["10", "09"])
    (array([ 9, 10]), array(['09', '10'], dtype=object))
    """
    return np.array(sorted(map(int, ids))) if are_whole(ids) else np.array(sorted(ids), dtype=object)


def are_whole(ids: Sequence[str]) -> bool:
    """Return True if all ids are integers in Python's notation."""
    return all(len(name) < 19 and name.removeprefix("-").isdecimal() and str(int(name)) == name for name in ids)


def _code_ids(
    connection: duckdb.DuckDBPyConnection, file: str, ids: str | None, weight: str
) -> tuple[str, NDArray[Any] | range, list[str]]:
    """Return a query for links with ends as positions in the distinct ids, these ids, and notes on their spellings."""
    ((kind,),) = connection.execute("select typeof(u) from link limit 1").fetchall()
    if kind == "BIGINT":
        bounds = "least(min(u), min(v)), greatest(max(u), max(v))"
        n_rows, low, high = _fetch_row(connection, f"select count(*), {bounds} from link")
        if high - low < min(_IDS_PER_LINK * n_rows + _MIN_IDS, MAX_NODES):
            columns = f"rowid as place, (u - {low})::integer as u, (v - {low})::integer as v, {weight}"
            return f"(select {columns} from link)", range(low, high + 1), []
    connection.execute(
        "create or replace temp table node as select id, row_number() over (order by id) - 1 as code from "
        "(select u as id from link union select v from link)"
    )
    labels = connection.execute("select id from node order by code").fetchnumpy()["id"]
    if len(labels) > MAX_NODES:
        raise UnmaskError(f"file {file!r} has {len(labels):,} ids, expected at most {MAX_NODES:,}")
    notes: list[str] = []
    if kind != "BIGINT":
        labels, codes, notes = _unify(np.asarray(labels, dtype=object), file, ids)
        if codes is not None:
            connection.register("codes", {"code": np.arange(len(codes)), "unified": codes})
            connection.execute(
                "create or replace temp table node as select id, unified as code from node join codes using (code)"
            )
            connection.unregister("codes")
    stored = ", weight" if weight == "weight" else ""
    connection.execute(
        f"create or replace temp table coded as select a.code::integer as u, b.code::integer as v{stored} from link "
        "join node a on link.u = a.id join node b on link.v = b.id order by link.rowid; drop table link"
    )
    return f"(select rowid as place, u, v, {weight} from coded)", labels, notes


def _unify(texts: NDArray[Any], file: str, ids: str | None) -> tuple[NDArray[Any], Integers | None, list[str]]:
    """Return distinct ids, ascending; the position of each text among them (None: unchanged); and notes on
    spellings.
    """
    spellings = texts.tolist()
    names = spellings if ids == "text" else unify_ids(spellings)
    stripped = [name.lstrip("0") or "0" if name.isdecimal() else name for name in names]
    if ids == "number":
        names = stripped
    elif ids is None and stripped != names and len({*stripped}) < len({*names}):
        raise AmbiguousInput(f"ids in {file!r} such as 07 and 7 may be one id", ["--ids text", "--ids number"])
    has_capitals = any(name.casefold() != name for name in names)
    folded = len({*names}) - len({name.casefold() for name in names}) if has_capitals else 0
    notes = [f"{folded:,} ids differ from others in capitals only (caution)"] * bool(folded)
    if names == spellings and not are_whole(names):
        return texts, None, notes
    labels = sort_labels([*{*names}])
    code = {str(name): place for place, name in enumerate(labels.tolist())}
    n_unified = len(spellings) - len(labels)
    notes = [f"{n_unified:,} ids have two spellings, such as 12.0 and 12"] * bool(n_unified) + notes
    return labels, np.array([code[name] for name in names]), notes


def _find_missing(labels: NDArray[Any] | range, missing_ids: str | None) -> Booleans:
    """Return a mask of the ids that denote a missing id: known words, or -1 among numbers from 0."""
    missing = np.zeros(len(labels), dtype=np.bool_)
    if missing_ids == "keep":
        return missing
    if isinstance(labels, range) or labels.dtype != object:
        missing[0] = labels[0] == -1
        return missing
    return np.array([name.lower() in MISSING for name in labels.tolist()], dtype=np.bool_)


def _refuse_counts(connection: duckdb.DuckDBPyConnection, coded: str, labels: NDArray[Any] | range, file: str) -> None:
    """Raise `AmbiguousInput` if the first row may contain the numbers of nodes and edges."""
    if not isinstance(labels, range) and labels.dtype == object:
        return
    later = f"from {coded} where place > 0"
    n_below, highest = _fetch_row(connection, f"select count(*), max(greatest(u, v)) {later}")
    u, v = _fetch_row(connection, f"select u, v from {coded} where place = 0")
    if n_below < 3 or u < highest:
        return
    (n_ids,) = _fetch_row(connection, f"select count(*) from (select u {later} union select v {later})")
    (n_edges,) = _fetch_row(connection, f"select count(distinct (least(u, v), greatest(u, v))) {later} and u <> v")
    if labels[u] >= n_ids and labels[v] in (n_below, n_edges):
        raise AmbiguousInput(f"the first row of {file!r} may count nodes and edges", ["--skip-lines 1", "--no-header"])
