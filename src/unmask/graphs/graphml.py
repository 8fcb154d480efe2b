"""GraphML and GEXF: the nodes' ids and the links of an XML file; and the text of a GraphML file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import IO
from xml.etree import ElementTree as ET
from xml.sax.saxutils import quoteattr

from unmask.core.errors import UnmaskError
from unmask.graphs.column_words import is_weight
from unmask.graphs.node_numbers import is_zero

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    '  <graph edgedefault="undirected">\n'
)
_FOOT = "  </graph>\n</graphml>\n"
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def parse(file: IO[bytes], name: str) -> tuple[list[str], list[tuple[str, str]], tuple[str, ...], int]:
    """The ids of the nodes, in their order, the links (source, target), and what else the file says of them by name.

    Read piece by piece, so that the memory is that of ids and links. Attributes of nodes and links are passed over,
    "direction" among them; an id is what stands in the node's `id`. GEXF has nodes and edges by the same names. Nested
    graphs, hyperedges and more than one graph are refused.

    >>> import io
    >>> parse(io.BytesIO(b'<graphml><graph><node id="a"/><edge source="a" target="a"/></graph></graphml>'), "it")
    (['a'], [('a', 'a')], (), 0)

    U. Brandes, M. Eiglsperger et al., "The GraphML file format", graphml.graphdrawing.org; gexf.net.
    """
    ids: list[str] = []
    links: list[tuple[str, str]] = []
    graphs: list[ET.Element] = []
    said: dict[str, None] = {}
    weights, n_zero = set[str | None](), 0
    for event, element in ET.iterparse(file, events=("start", "end")):
        tag = element.tag.rpartition("}")[2]
        if event == "start":
            if tag == "graph":
                graphs.append(element)
                directed = "directed" in (element.get("edgedefault"), element.get("defaultedgetype"))
                said |= {"direction": None} if directed else {}
            if tag == "hyperedge" or len(graphs) > 1:
                raise UnmaskError(f"file {name!r} has nested or several graphs or hyperedges, expected one plain graph")
        elif tag == "node":
            ids.append(_attribute(element, "id", name, f"node {len(ids) + 1}"))
        elif tag == "edge":
            what = f"edge {len(links) + n_zero + 1}"
            ends = (_attribute(element, "source", name, what), _attribute(element, "target", name, what))
            weight = next((data.text for data in element if data.get("key") in weights), element.get("weight"))
            links += [] if is_zero(weight) else [ends]
            n_zero += is_zero(weight)
            directed = element.get("directed") == "true" or element.get("type") == "directed"
            said |= {"direction": None} if directed else {}
            said |= {"weight": None} if element.get("weight") else {}
        elif tag in {"key", "attribute"}:
            weights |= {element.get("id")} if is_weight(element.get("attr.name") or "") else set()
            said[element.get("attr.name") or element.get("title") or "an attribute without a name"] = None
        if event == "end" and tag in {"node", "edge"} and graphs:
            graphs[0].clear()  # what was read
    if not graphs:
        raise UnmaskError(f"file {name!r} has no graph element, expected GraphML or GEXF")
    return ids, links, tuple(sorted(said, key=lambda what: what != "direction")), n_zero


def _attribute(element: ET.Element, key: str, name: str, what: str) -> str:
    value = element.get(key)
    if value is None:
        raise UnmaskError(f"{what} of {name!r} has no {key}, expected one in every node and edge")
    return value


def text(ids: Sequence[str], links: Iterable[Iterable[tuple[int, int]]]) -> Iterator[str]:
    """The text of an undirected graph of these nodes with a link between the i-th and the j-th, for each (i, j).

    links : in pieces, each of which is a piece of the text

    >>> "".join(text(["a", "b"], [[(0, 1)]])).splitlines()[5]
    '    <edge source="a" target="b"/>'
    """
    if any(_NOT_XML.search(name) for name in ids):
        raise UnmaskError("a label holds a control character, which XML cannot; write Parquet, or rename it")
    quoted = [quoteattr(name, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}) for name in ids]
    yield _HEAD
    yield from (f"    <node id={name}/>\n" for name in quoted)
    for piece in links:
        yield "".join([f"    <edge source={quoted[u]} target={quoted[v]}/>\n" for u, v in piece])
    yield _FOOT
