"""A step of `Rematch` as SQL that both engines understand: who is known to whom, log-odds of pairs, sure pairs.

Tables are those of `Network` and, with a name for each attack:

{name}_mapping (source, target) : the pairs of the last step, seeds included; {name}_next : those of this step
{name}_here, {name}_there (node, degree, known) : nodes of either network, how many of their neighbors are mapped
{name}_degree (degree, weight, toll, rarity) : of a degree in the target what a witness with it adds, what a witness of
    a candidate with it takes away, and -log(share)
{name}_image (source, via, weight, degree, proposes) : images of the mapped neighbors of each node that is no seed;
    where proposes is 0 they are silent: they vouch for what others propose
{name}_candidate (source, target, n, evidence, toll, apart) : pairs with n witnesses that propose and the sum of their
    weights; apart is what a pair owes to its two nodes alone
{name}_silent (source, target, n, evidence) : the same of silent witnesses
{name}_listed (source, target, value) : the best candidates of each node with their log-odds
"""

from __future__ import annotations

from math import tau

from unmask.graphs.attacks._likelihood import NEGLIGIBLE, TIE, Model
from unmask.graphs.stored.queries import double


def known(name: str, network: str, side: str) -> str:
    """All nodes of a network with how many of their neighbors are mapped."""
    counted = (
        f"select l.node as node, count(*) as known from {network}_link l "
        f"join {name}_mapping m on m.{side} = l.neighbor group by l.node"
    )
    return (
        "select n.node as node, n.degree as degree, coalesce(k.known, cast(0 as bigint)) as known "
        f"from {network}_node n left join ({counted}) k on k.node = n.node"
    )


def kept_edges(name: str, auxiliary: str, target: str) -> str:
    """One row: the edges between mapped nodes of one network that are edges between their images, at both ends."""
    return (
        f"select count(*) as kept from {auxiliary}_link l join {name}_mapping p on p.source = l.node "
        f"join {name}_mapping q on q.source = l.neighbor "
        f"join {target}_link k on k.node = p.target and k.neighbor = q.target"
    )


def sums(name: str) -> str:
    """One row: sums over the mapped pairs of known neighbors and of the others, r_u and r_c, and of their squares."""
    pairs = (
        "select h.known as known, t.known as known_there, h.degree - h.known as r, "
        f"t.degree - t.known as r_there from {name}_mapping m "
        f"join {name}_here h on h.node = m.source join {name}_there t on t.node = m.target"
    )
    terms = ("known", "known_there", "r", "r_there", "r * r", "r * r_there", "r_there * r_there")
    names = ("known", "known_there", "r", "r_there", "squares", "products", "squares_there")
    totals = ", ".join(f"cast(sum({term}) as bigint) as {total}" for term, total in zip(terms, names, strict=True))
    return f"select count(*) as n, {totals} from ({pairs}) pairs"


def degrees(target: str) -> str:
    """The degrees that occur in a network, and how many nodes have each."""
    return f"select degree, count(*) as n from {target}_node group by degree order by degree"


def images(name: str, auxiliary: str, target: str, seeds: str, *, reach: int) -> str:
    """The images of each node's mapped neighbors; those of low degree propose, see `Rematch`.

    A sum over rows of one degree and below takes in or leaves out images of one degree together.
    """
    told = (
        "select l.node as source, m.target as via, t.degree as degree, d.weight as weight "
        f"from {auxiliary}_link l join {name}_mapping m on m.source = l.neighbor "
        f"join {target}_node t on t.node = m.target join {name}_degree d on d.degree = t.degree "
        f"where not exists (select 1 from {seeds} s where s.source = l.node)"
    )
    added = (
        "select source, via, weight, degree, min(degree) over (partition by source) as least, "
        "sum(degree) over (partition by source order by degree range between unbounded preceding and current row) "
        f"as visits from ({told}) told"
    )
    return (
        "select source, via, weight, degree, case when visits <= "
        f"{reach} or degree = least then 1 else 0 end as proposes from ({added}) added"
    )


def visits(name: str) -> str:
    """One row: the neighbors of all images that propose, repetitions included."""
    return f"select cast(coalesce(sum(degree), 0) as bigint) as visits from {name}_image where proposes = 1"


def candidates(name: str, target: str, seeds: str, model: Model, *, n_target: int, low: float) -> str:
    """What the images propose, less pairs of log-odds below `low` even if all silent images vouched for them.

    hope : what silent images add at most, were the largest of their weights that of all
    """
    witnessed = (
        "select i.source as source, l.node as target, count(*) as n, sum(i.weight) as evidence "
        f"from {name}_image i join {target}_link l on l.neighbor = i.via where i.proposes = 1 "
        "group by i.source, l.node"
    )
    variance = f"({double(model.spread)} * (u.rest + c.rest + 1))"
    apart = (
        f"u.base + c.base - ((c.rest - u.rest) * (c.rest - u.rest) / {variance} + ln({double(tau)} * {variance})) / 2"
    )
    scored = (
        "select w.source as source, w.target as target, w.n as n, w.evidence as evidence, c.toll as toll, "
        f"{apart} as apart, least(u.silent, c.known - w.n) * greatest(u.loudest - c.toll, 0) as hope "
        f"from ({witnessed}) w join ({_asked(name, model, n_target)}) u on u.node = w.source "
        f"join ({_offered(name, seeds, model)}) c on c.node = w.target"
    )
    return (
        f"select source, target, n, evidence, toll, apart from ({scored}) scored "
        f"where evidence - n * toll + apart + hope >= {double(low)}"
    )


def _asked(name: str, model: Model, n_target: int) -> str:
    """Source nodes: what a pair owes to them, and how many of their images are silent, with the largest weight."""
    silent = (
        f"select source, count(*) as silent, max(weight) as loudest from {name}_image where proposes = 0 "
        "group by source"
    )
    return (
        f"select h.node as node, h.known * {double(model.misses[0])} - ln({double(n_target)}) as base, "
        f"{double(model.ratio)} * (h.degree - h.known) as rest, "
        "coalesce(q.silent, cast(0 as bigint)) as silent, coalesce(q.loudest, cast(0 as double)) as loudest "
        f"from {name}_here h left join ({silent}) q on q.source = h.node"
    )


def _offered(name: str, seeds: str, model: Model) -> str:
    """Target nodes that are no seeds: what a pair owes to them, and each of its witnesses."""
    return (
        f"select t.node as node, t.known * {double(model.misses[1])} + d.rarity as base, "
        "cast(t.degree - t.known as double) as rest, d.toll as toll, t.known as known "
        f"from {name}_there t join {name}_degree d on d.degree = t.degree "
        f"where not exists (select 1 from {seeds} s where s.target = t.node)"
    )


def silent(name: str, target: str) -> str:
    """What the images that propose nobody witness of the candidates.

    Candidates are cut down to those with such images, and links to those of such images, before they are joined:
    the links of a hub are many more than those that lead from a candidate to a hub.
    """
    hushed = f"select 1 from {name}_image i where i.proposes = 0"
    walked = (
        f"select c.source as source, c.target as target, l.neighbor as via from {name}_candidate c "
        f"join {target}_link l on l.node = c.target where exists ({hushed} and i.source = c.source) "
        f"and exists ({hushed} and i.via = l.neighbor)"
    )
    return (
        "select w.source as source, w.target as target, count(*) as n, sum(i.weight) as evidence "
        f"from ({walked}) w join {name}_image i on i.source = w.source and i.via = w.via and i.proposes = 0 "
        "group by w.source, w.target"
    )


def listed(name: str, *, width: int, low: float) -> str:
    """The candidates of each source node that are above the one of rank `width`, not negligible, and at least `low`."""
    valued = (
        "select c.source as source, c.target as target, c.evidence + coalesce(s.evidence, cast(0 as double)) "
        "- (c.n + coalesce(s.n, cast(0 as bigint))) * c.toll + c.apart as value "
        f"from {name}_candidate c left join {name}_silent s on s.source = c.source and s.target = c.target"
    )
    ranked = (
        "select source, target, value, row_number() over (partition by source order by value desc) as place "
        f"from ({valued}) valued where value >= {double(low)}"
    )
    bounded = (
        "select source, target, value, max(value) over (partition by source) as top, "
        f"max(case when place = {width} then value end) over (partition by source) as last "
        f"from ({ranked}) ranked"
    )
    return (
        f"select source, target, value from ({bounded}) bounded where value >= top - {double(NEGLIGIBLE)} "
        f"and (last is null or value > last + {double(TIE)})"
    )


def matches(name: str, seeds: str, *, margin: float, floor: float) -> str:
    """The seeds, and the listed pairs that are best for both by `margin`."""
    windows = ("(partition by source order by value desc)", "(partition by target order by value desc)")
    here, there = (f"row_number() over {w} as place{i}, lead(value) over {w} as next{i}" for i, w in enumerate(windows))
    sure = " and ".join(
        f"place{i} = 1 and (next{i} is null or value - next{i} >= {double(max(margin, TIE))})" for i in (0, 1)
    )
    return (
        f"select source, target from (select source, target, value, {here}, {there} from {name}_listed) best "
        f"where {sure} and value >= {double(floor)} union all select source, target from {seeds}"
    )


def changed(name: str) -> str:
    """One row: how many source nodes {name}_next maps otherwise than {name}_mapping."""
    return (
        f"select count(*) as n from {name}_mapping m full join {name}_next x on x.source = m.source "
        "where m.target is distinct from x.target"
    )
