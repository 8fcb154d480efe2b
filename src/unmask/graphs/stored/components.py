"""The largest connected component of a network that an engine holds."""

from __future__ import annotations

from unmask.data.engine import Engine
from unmask.graphs.stored.loading import Network


def largest_component(network: Network, *, name: str) -> Network:
    """The largest connected component as a network of its own; of several of one size, that with the lowest label.

    Every node points at a node of its component, at first at itself. A pass lets each node, and the node it points at,
    point at the lowest node that its neighbors' pointers point at; pointers are followed twice a pass, so that few
    passes do (FastSV); it ends with the pass that changes nothing. Nodes keep their numbers.

    Y. Zhang, A. Azad & Z. Hu, "FastSV: a distributed-memory connected component algorithm with fast convergence",
    SIAM PP 2020.
    """
    engine, pointer = network.engine, f"{name}_pointer"
    engine.keep(pointer, f"select node, node as root from {network.name}_node", cut=True)
    before, total = -1, _sum_of_roots(engine, pointer)
    while total != before:
        _pass(engine, name, f"{network.name}_link")
        before, total = total, _sum_of_roots(engine, pointer)
    largest = (
        f"select p.root as root from {pointer} p join {network.name}_node n on n.node = p.node group by p.root "
        "order by count(*) desc, min(n.label) limit 1"
    )
    inside = (
        f"select n.node as node, n.label as label, n.degree as degree from {network.name}_node n "
        f"join {pointer} p on p.node = n.node join ({largest}) r on r.root = p.root"
    )
    n_nodes = engine.keep(f"{name}_node", inside, cut=True)
    links = f"select l.node as node, l.neighbor as neighbor from {network.name}_link l"
    n_links = engine.keep(f"{name}_link", f"{links} join {name}_node n on n.node = l.node", cut=True)
    for table in ("pointer", "grand", "near"):
        engine.drop(f"{name}_{table}")
    return Network(engine, name, n_nodes, n_links // 2)


def _pass(engine: Engine, name: str, links: str) -> None:
    """Let {name}_pointer (node, root) follow itself, and take the lowest root that is near."""
    pointer, grand, near = f"{name}_pointer", f"{name}_grand", f"{name}_near"
    engine.keep(grand, f"select a.node as node, b.root as root from {pointer} a join {pointer} b on b.node = a.root")
    engine.keep(
        near,
        f"select l.node as node, min(g.root) as root from {links} l join {grand} g on g.node = l.neighbor "
        "group by l.node",
    )
    offers = (
        f"select node, root from {grand} union all select node, root from {near} union all "
        f"select p.root as node, n.root as root from {near} n join {pointer} p on p.node = n.node"
    )
    engine.keep(pointer, f"select node, min(root) as root from ({offers}) offers group by node", cut=True)


def _sum_of_roots(engine: Engine, pointer: str) -> int:
    """Falls with every pointer that changes."""
    return int(engine.rows(f"select cast(sum(cast(root as bigint)) as bigint) as total from {pointer}")["total"][0])
