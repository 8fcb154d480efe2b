"""A superstep as SQL that both engines understand: witnesses of pairs, best pairs, pairs that stand out.

Tables are those of `Network` and, with a name for each attack: {name}_mapping (source, target), the pairs mapped so
far; {name}_fresh, those of them that the last superstep added, {name}_near and {name}_far, their free neighbors;
{name}_shared (source, target, n), how many witnesses each pair of free nodes has, and {name}_added0, ..., how many of
them are fresh; {name}_best, pairs that are best for both.
"""

from __future__ import annotations

from unmask.graphs.attacks._sides import TIE


def wedges(fresh: str, auxiliary: str, target: str) -> str:
    """One row: the pairs of a neighbor of x and a neighbor of its image y, over fresh pairs (x, y); `bound`: at most
    how many there are over any one-to-one mapping, sqrt(sum of squared degrees of either graph, multiplied).
    """
    joined = (
        "select cast(coalesce(sum(a.degree * t.degree), 0) as bigint) as wedges "
        f"from {fresh} f join {auxiliary}_node a on a.node = f.source join {target}_node t on t.node = f.target"
    )
    squares = (
        f"(select sqrt(coalesce(sum(cast(degree as double) * degree), 0)) as root from {name}_node) {alias}"
        for name, alias in ((auxiliary, "p"), (target, "q"))
    )
    return f"select j.wedges as wedges, p.root * q.root as bound from ({joined}) j, {', '.join(squares)}"


def around(name: str, network: str, side: str) -> str:
    """The free neighbors of one graph's fresh nodes; via: the target node of the fresh pair."""
    return (
        f"select f.target as via, l.node as node from {name}_fresh f join {network}_link l on l.neighbor = f.{side} "
        f"where not exists (select 1 from {name}_mapping m where m.{side} = l.node)"
    )


def added(name: str, part: int, parts: int) -> str:
    """The witnesses that fresh pairs are to pairs of free nodes; of the source nodes, one part in so many.

    {name}_near and {name}_far, of `around`, are joined to wedges and these are counted.

    >>> added("a", 1, 4)
    'select near.node as source, far.node as target, cast(count(*) as integer) as n from a_near near
    join a_far far on far.via = near.via where near.node % 4 = 1 group by near.node, far.node'
    """
    return (
        f"select near.node as source, far.node as target, cast(count(*) as integer) as n from {name}_near near "
        f"join {name}_far far on far.via = near.via where near.node % {parts} = {part} group by near.node, far.node"
    )


def shared(name: str, parts: int) -> str:
    """All witnesses: those counted before, less pairs one of whose nodes is mapped now, and all of {name}_added.

    A statement of its own: counting and joining at once takes twice the memory, which may be more than there is.
    """
    kept = (
        f"select s.source as source, s.target as target, s.n as n from {name}_shared s "
        f"where not exists (select 1 from {name}_fresh f where f.source = s.source) "
        f"and not exists (select 1 from {name}_fresh f where f.target = s.target)"
    )
    new = " union all ".join(f"select source, target, n from {name}_added{part}" for part in range(parts))
    return (
        "select coalesce(k.source, a.source) as source, coalesce(k.target, a.target) as target, "
        "coalesce(k.n, 0) + coalesce(a.n, 0) as n "
        f"from ({kept}) k full join ({new}) a on a.source = k.source and a.target = k.target"
    )


def by_root_degree(pairs: str, network: str, side: str) -> str:
    """Pairs with the score n / sqrt(degree) of the node on one side.

    >>> by_root_degree("p", "t", "target")
    'select p.source as source, p.target as target, p.n / sqrt(z.degree) as score from p p
    join t_node z on z.node = p.target'
    """
    return (
        f"select p.source as source, p.target as target, p.n / sqrt(z.degree) as score from {pairs} p "
        f"join {network}_node z on z.node = p.{side}"
    )


def by_count(pairs: str, auxiliary: str, target: str, *, witnesses: int, least: int) -> str:
    """Pairs of at least `witnesses` witnesses whose nodes both have at least `least` neighbors; the score is n."""
    return (
        f"select p.source as source, p.target as target, cast(p.n as double) as score from {pairs} p "
        f"join {auxiliary}_node a on a.node = p.source join {target}_node t on t.node = p.target "
        f"where p.n >= {witnesses} and a.degree >= {least} and t.degree >= {least}"
    )


def best(forth: str, back: str) -> str:
    """Pairs that are best for both: of the source node's by `forth`, of the target node's by `back`.

    forth, back : queries of rows (source, target, score). Where several are best, any one is: `matches` refuses them.
    """
    return (
        "select x.source as source, x.target as target from "
        f"(select source, max_by(target, score) as target from ({forth}) s group by source) x join "
        f"(select target, max_by(source, score) as source from ({back}) s group by target) y "
        "on y.source = x.source and y.target = x.target"
    )


def matches(name: str, forth: str, back: str, *, theta: float) -> str:
    """The pairs of {name}_best that stand out for both of their nodes.

    Of a node's scores the best must exceed the next by more than the share `TIE` of it, and by theta times the sample
    deviation of all; a single one stands out.
    """
    here, there = _judged(name, forth, "source", "target"), _judged(name, back, "target", "source")
    stands = " and ".join(
        f"({j}.next is null or ({j}.top - {j}.next > {double(TIE)} * {j}.top "
        f"and {j}.top - {j}.next >= {double(theta)} * {j}.sigma))"
        for j in ("h", "t")
    )
    return (
        f"select b.source as source, b.target as target from {name}_best b join ({here}) h on h.source = b.source "
        f"join ({there}) t on t.target = b.target where {stands}"
    )


def _judged(name: str, scored: str, node: str, other: str) -> str:
    """The best score, the next one and the deviation of each node of {name}_best."""
    return (
        f"select s.{node} as {node}, max(case when s.{other} = b.{other} then s.score end) as top, "
        f"max(case when s.{other} <> b.{other} then s.score end) as next, stddev_samp(s.score) as sigma "
        f"from ({scored}) s join {name}_best b on b.{node} = s.{node} group by s.{node}"
    )


def extended(name: str) -> str:
    """The mapping with the fresh pairs.

    >>> extended("a")
    'select source, target from a_mapping union all select source, target from a_fresh'
    """
    return f"select source, target from {name}_mapping union all select source, target from {name}_fresh"


def hashed_ids(network: str) -> str:
    """A hash of each node's id: a number of eight digits, the same in both engines.

    >>> hashed_ids("a")
    "select cast(translate(substr(md5(cast(label as string)), 1, 8), 'abcdef', '012345') as bigint) as hash from a_node"
    """
    return f"select {_hash('cast(label as string)')} as hash from {network}_node"


def hashed_pairs(table: str, first: str, second: str) -> str:
    """A hash of each row of two numbers, in that order."""
    pair = f"cast({first} as string) || ' ' || cast({second} as string)"
    return f"select {_hash(pair)} as hash from {table}"


def _hash(text: str) -> str:
    return f"cast(translate(substr(md5({text}), 1, 8), 'abcdef', '012345') as bigint)"


def double(number: float) -> str:
    """A number as a double of SQL.

    >>> double(0.1)
    "cast('0.1' as double)"
    """
    return f"cast('{number!r}' as double)"
