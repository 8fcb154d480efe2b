"""Nar09's synchronous pass as plain SQL: joins, group by and aggregates, for graphs that live in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.files import engine
from unmask.graphs.attacks._kernels import TIE
from unmask.graphs.attacks.matching import Seeds, check_theta, seeded
from unmask.graphs.release import SocialGraph

if TYPE_CHECKING:
    import duckdb

TABLES = (
    "create table source_link (node integer, neighbour integer)",
    "create table target_link (node integer, neighbour integer)",
    "create table mapping (source integer, target integer)",
)
"""What a superstep reads: the links of both graphs, each in both directions, and the pairs that are mapped so far."""

_SHARED = """
create table shared as
select near.node as source, far.node as target, count(*) as n
from source_link near
join mapping m on m.source = near.neighbour
join target_link far on far.neighbour = m.target
left join mapping known on known.source = near.node
left join mapping taken on taken.target = far.node
where known.source is null and taken.target is null
group by near.node, far.node
"""

_MATCHES = """
insert into mapping
select forth.source, forth.target
from ({forth}) forth
join ({back}) back on back.source = forth.source and back.target = forth.target
"""

_PROPOSALS = """
select {v}, max(case when s = top then {c} end) as {c}
from (
  select scored.{v}, scored.{c}, scored.s, peak.top, peak.sigma
  from ({scored}) scored
  join (select {v}, max(s) as top, stddev_samp(s) as sigma from ({scored}) every group by {v}) peak
  on peak.{v} = scored.{v}
) judged
group by {v}
having count(*) = 1 or (
  sum(case when s >= top * (1 - {tie}) then 1 else 0 end) = 1
  and max(top) - max(case when s < top then s end) >= {theta} * max(sigma)
)
"""

_SCORED = """
select shared.source, shared.target, n / sqrt(d.degree) as s
from shared
join (select node, count(*) as degree from {c}_link group by node) d on d.node = shared.{c}
"""


def statements(*, theta: float = 0.01) -> tuple[str, ...]:
    """The statements of one superstep, in order; `shared` is a table that must not be there before.

    They count the mapped neighbours that every two free nodes share, once for both directions; take for each node of
    either graph the best score, the second best and the sample deviation of all; and add to `mapping` the pairs that
    stand out for each other, by the rule of `Nar09`. Nothing in them is special to one database: Spark runs them too.

    >>> [text.split()[:3] for text in statements()]
    [['create', 'table', 'shared'], ['insert', 'into', 'mapping'], ['drop', 'table', 'shared']]
    """
    check_theta(theta)
    forth, back = (
        _PROPOSALS.format(v=v, c=c, scored=_SCORED.format(c=c), theta=repr(float(theta)), tie=repr(TIE))
        for v, c in (("source", "target"), ("target", "source"))
    )
    return _SHARED, _MATCHES.format(forth=forth, back=back), "drop table shared"


def superstep(connection: duckdb.DuckDBPyConnection, *, theta: float = 0.01) -> int:
    """One synchronous pass of Nar09 over the tables `TABLES` of a database; the number of matches added to `mapping`.

    >>> with engine() as connection:
    ...     path = SocialGraph.from_edges([0, 1], [1, 2])
    ...     load(connection, path, path, (np.array([0]), np.array([2])))
    ...     superstep(connection), superstep(connection), superstep(connection)
    (1, 1, 0)
    """
    before = _mapped(connection)
    for statement in statements(theta=theta):
        connection.execute(statement)
    return _mapped(connection) - before


def load(connection: duckdb.DuckDBPyConnection, target: SocialGraph, auxiliary: SocialGraph, seeds: Seeds) -> None:
    """Make the tables `TABLES` in an empty database and fill them with two graphs and the seeds."""
    seeded(auxiliary, target, seeds)  # refuses seeds that make no sense
    for statement in TABLES:
        connection.execute(statement)
    for name, graph in (("source_link", auxiliary), ("target_link", target)):
        node = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degree)
        _insert(connection, name, node, graph.neighbour)
    _insert(connection, "mapping", np.asarray(seeds[0]), np.asarray(seeds[1]))


def propagate(
    target: SocialGraph, auxiliary: SocialGraph, seeds: Seeds, *, theta: float = 0.01
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """`Nar09(synchronous=True)` in a database of its own: its `mapping` and its `sweeps`.

    >>> path = SocialGraph.from_edges([0, 1], [1, 2])
    >>> propagate(path, path, (np.array([0]), np.array([2])))
    (array([2, 1, 0], dtype=int32), array([1, 1, 0]))
    """
    image = np.full(auxiliary.n_nodes, -1, dtype=np.int32)
    sweeps: list[int] = []
    with engine() as connection:
        load(connection, target, auxiliary, seeds)
        while not sweeps or sweeps[-1]:
            sweeps.append(superstep(connection, theta=theta))
        pairs = connection.execute("select source, target from mapping").fetchnumpy()
    image[pairs["source"]] = pairs["target"]
    return image, np.array(sweeps, dtype=np.int64)


def _insert(
    connection: duckdb.DuckDBPyConnection, table: str, first: NDArray[np.integer], second: NDArray[np.integer]
) -> None:
    connection.register("rows_to_insert", {"first": first, "second": second})
    connection.execute(f"insert into {table} select first, second from rows_to_insert")
    connection.unregister("rows_to_insert")


def _mapped(connection: duckdb.DuckDBPyConnection) -> int:
    row = connection.execute("select count(*) from mapping").fetchone()
    assert row is not None
    return int(row[0])
