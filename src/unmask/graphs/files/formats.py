"""Links in other formats: matrices, adjacency lists, Pajek, GraphML, GEXF and node-link JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import IO, Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import AmbiguousInput, UnmaskError
from unmask.data.dialects import NUMBER, WHOLE, Dialect, cut, is_blank
from unmask.data.readings import iterate_rows
from unmask.graphs.files.end_columns import is_weight
from unmask.graphs.files.node_numbers import LinkList, are_whole, describe_zeros, is_zero, sort_labels

_MIN_ROWS = 3  # of a matrix or adjacency list; fewer lines are ambiguous
_MAX_DIALECTS = 4  # tested for a matrix; further ones fit badly
_MAX_VERTICES = 10**8  # a single line of a file must not allocate all memory
_VERTEX = re.compile(r'\s*(\d{1,18})(?!\d)(?:\s+("[^"]*"|\S+))?', re.ASCII)
_EDGE = re.compile(r"\s*(\d{1,18})\s+(\d{1,18})(?:\s+(\S+)|\s*$)", re.ASCII)
_JSON_KEYS = ("id", "source", "target", "key")  # of nodes and links


# --- matrices and adjacency lists -------------------------------------------------------------------------------------


def matrix_dialect(dialects: Sequence[Dialect], *, is_chosen: bool) -> tuple[Dialect, bool, bool] | None:
    """Return the dialect of a square matrix, and whether its first row and its first column contain node names.

    is_chosen : the user named the format, so only names must be recognized
    """
    for dialect in (dialect for dialect in dialects[:_MAX_DIALECTS] if dialect.rows):
        first, *body = dialect.rows[: dialect.n_first]
        is_whole = len(dialect.rows) == dialect.n_first
        n_rows = dialect.n_first if is_whole else dialect.sample.file.n_lines - dialect.sample.n_above
        has_header = len({*first}) == len(first) and any(cell and not NUMBER.fullmatch(cell) for cell in first)
        has_names = has_header and [row[0] for row in body] == list(first[1 : len(body) + 1])
        if is_chosen:
            return dialect, has_header, has_names
        rows = [row[1:] for row in body] if has_names else body if has_header else [first, *body]
        is_square = n_rows - has_header == dialect.width - has_names and not dialect.misfits
        if is_square and len(rows) >= _MIN_ROWS and _is_adjacency_matrix(rows):
            return dialect, has_header, has_names
    return None


def _is_adjacency_matrix(rows: Sequence[Sequence[str]]) -> bool:
    """Return True for a matrix of numbers that is hollow or symmetric (entries 0 and 1) or both (other numbers)."""
    if not all(cell == "" or NUMBER.fullmatch(cell) for row in rows for cell in row):
        return False
    n = min(len(rows), len(rows[0]))
    values = np.array([[_number(cell) for cell in row[:n]] for row in rows[:n]])
    is_hollow, is_symmetric = not values.diagonal().any(), bool((values == values.T).all())
    if {*np.unique(values)} <= {0, 1}:
        return is_hollow or is_symmetric
    return n > _MIN_ROWS and is_hollow and is_symmetric


def _number(cell: str) -> float:
    return float(cell.replace(",", ".") or 0)


def read_matrix(dialect: Dialect, has_header: bool, has_names: bool) -> LinkList:
    """Return the links of a square matrix: one for each nonzero entry."""
    file = dialect.sample.file
    first, *body = iterate_rows(dialect)
    rows = [row[has_names:] for row in body] if has_header else [first, *body]
    names = first[has_names:] if has_header else []
    width = len(rows[0] if rows else names)
    if len(rows) != width:
        raise UnmaskError(f"file {file.name!r} has {len(rows)} rows of {width} numbers, expected a square matrix")
    try:
        values = np.array([[_number(cell) for cell in row] for row in rows])
    except ValueError:
        raise UnmaskError(
            f"file {file.name!r} is read as a matrix, and a cell of it is not a number; correct it"
        ) from None
    u, v = values.nonzero()
    is_directed, is_weighted = not np.array_equal(values != 0, values.T != 0), bool((values[u, v] != 1).any())
    if len({*names}) < len(names):
        raise UnmaskError(f"file {file.name!r} has two nodes with one name, expected distinct names")
    labels = np.array(names, dtype=object) if has_header else np.arange(len(rows))
    account = f"{file.n_lines:,} lines; a matrix of {len(rows):,} nodes"
    return LinkList(u, v, labels, len(rows), name_attributes(is_directed, is_weighted), account)


def name_attributes(is_directed: bool, is_weighted: bool) -> tuple[str, ...]:
    """Return the names of the attributes of links."""
    return ("direction",) * is_directed + ("weight",) * is_weighted


def adjacency_dialect(dialects: Sequence[Dialect], *, is_chosen: bool) -> Dialect | None:
    """Return the dialect of an adjacency list (a node and its neighbors on each line); raise if lines may be edges.

    is_chosen : the user named the format
    """
    pure = max(dialects, key=lambda dialect: dialect.terms["pure"])
    if is_chosen:
        return pure
    if any(
        dialect.width > 1 and not dialect.misfits and dialect.terms["pure"] == 1 and _count_open_columns(dialect) < 2
        for dialect in dialects
    ):
        return None
    if not pure.misfits and not any(row[-1] == "" for row in pure.rows):
        return None
    rows = [_strip_row(row) for _, row in cut(pure.sample.lines, pure.delimiter, pure.quote) if not is_blank(row)]
    heads = {row[0] for row in rows}
    neighbors, later = ({cell for row in rows for cell in row[first:]} for first in (1, 2))
    if not later or len({*map(len, rows)}) == 1:
        return None
    is_numeric = all(map(WHOLE.fullmatch, heads | neighbors))
    if "" not in neighbors and len(heads) == len(rows) >= _MIN_ROWS and later <= heads:
        if is_numeric and len(rows[0]) == 2 and int(rows[0][0]) == len(rows) - 1:
            question = f"the first row of {pure.sample.file.name!r} may count nodes and edges"
            raise AmbiguousInput(question, ["--skip-lines 1 --form adjacency", "--form adjacency"])
        return pure
    if is_numeric or later & heads:
        question = f"file {pure.sample.file.name!r} has lines of unequal length: neighbors or attributes?"
        raise AmbiguousInput(question, ["--form adjacency", f"--form links {pure.option}"])
    return None


def _count_open_columns(dialect: Dialect) -> int:
    """Return the number of columns with an empty cell."""
    return sum("" in column for column in zip(*dialect.rows[:200], strict=True))


def _strip_row(row: Sequence[str]) -> list[str]:
    """Return a row without its trailing empty cells."""
    cells = [*row]
    while len(cells) > 1 and not cells[-1]:
        cells.pop()
    return cells


def read_adjacency(dialect: Dialect) -> LinkList:
    """Return the links of an adjacency list: each line is a node and its neighbors."""
    rows = [[cell for cell in row if cell] for row in iterate_rows(dialect, any_width=True)]
    labels = sort_labels([*{cell for row in rows for cell in row}])
    number = {str(label): node for node, label in enumerate(labels.tolist())}
    ends = np.array([(number[row[0]], number[cell]) for row in rows for cell in row[1:]], dtype=np.int64)
    u, v = ends.reshape(-1, 2).T
    account = f"{dialect.sample.file.n_lines:,} lines; an adjacency list of {len(rows):,} nodes"
    return LinkList(u, v, labels, len(labels), account=account)


# --- Pajek ------------------------------------------------------------------------------------------------------------


def read_pajek(lines: Iterable[str], file: str) -> LinkList:
    """Return the edges and arcs of a .net file; raise for other sections.

    >>> links = read_pajek(["*vertices 2", "1 ann", "*arcs", "1 2 0.5"], "it.net")
    >>> links.labels, links.attributes
    (array(['ann', '2'], dtype=object), ('direction', 'weight'))
    """
    section, n_nodes, labels, links = "", 0, dict[int, str](), list[tuple[int, int]]()
    is_directed = is_weighted = False
    n_zero = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("%"):
            continue
        if line.lstrip().startswith("*"):
            section, *words = line.lower().split()
            n_nodes = _parse_size(words, file, number) if section == "*vertices" else n_nodes
        elif section == "*vertices" and (vertex := _VERTEX.match(line)) and 0 < int(vertex[1]) <= n_nodes:
            labels[int(vertex[1])] = (vertex[2] or vertex[1]).strip('"')
        elif section in {"*edges", "*arcs"} and (edge := _EDGE.match(line)):
            ends = int(edge[1]), int(edge[2])
            if not 0 < min(ends) <= max(ends) <= n_nodes:
                raise UnmaskError(
                    f"line {number} of {file!r} has a vertex beyond 1 to {n_nodes}; correct it or *vertices"
                )
            links += [] if is_zero(edge[3]) else [ends]
            n_zero += is_zero(edge[3])
            is_directed, is_weighted = is_directed or section == "*arcs", is_weighted or edge[3] is not None
        else:
            raise UnmaskError(f"line {number} of {file!r} fits no section; expected vertices, edges or arcs")
    u, v = (np.array(links, dtype=np.int64).reshape(-1, 2) - 1).T
    is_numbered = all(str(node) == label for node, label in labels.items())
    names = (
        np.arange(1, n_nodes + 1)
        if is_numbered
        else _check_labels([labels.get(node, str(node)) for node in range(1, n_nodes + 1)], file)
    )
    return LinkList(u, v, names, n_nodes, name_attributes(is_directed, is_weighted), describe_zeros(n_zero))


def _parse_size(words: list[str], file: str, line: int) -> int:
    if not words or not words[0].isdecimal() or len(words[0]) > 18 or int(words[0]) > _MAX_VERTICES:
        raise UnmaskError(f"line {line} of {file!r} gives no number of vertices up to {_MAX_VERTICES}")
    return int(words[0])


# --- GraphML, GEXF, JSON ----------------------------------------------------------------------------------------------


def read_graphml(stream: IO[bytes], file: str) -> LinkList:
    """Return the links of a GraphML or GEXF file, read as a stream; raise for nested or several graphs and hyperedges.

    >>> import io
    >>> text = b'<graphml><graph><node id="a"/><edge source="a" target="a"/></graph></graphml>'
    >>> read_graphml(io.BytesIO(text), "it").labels
    array(['a'], dtype=object)

    U. Brandes, M. Eiglsperger et al., "The GraphML file format", graphml.graphdrawing.org; gexf.net.
    """
    ids, links, graphs = list[str](), list[tuple[str, str]](), list[ET.Element]()
    attributes = dict[str, None]()
    weights, n_zero = set[str | None](), 0
    for event, element in ET.iterparse(stream, events=("start", "end")):
        tag = element.tag.rpartition("}")[2]
        if event == "start":
            if tag == "graph":
                graphs.append(element)
                is_directed = "directed" in (element.get("edgedefault"), element.get("defaultedgetype"))
                attributes |= {"direction": None} if is_directed else {}
            if tag == "hyperedge" or len(graphs) > 1:
                raise UnmaskError(f"file {file!r} has nested or several graphs or hyperedges, expected one plain graph")
        elif tag == "node":
            ids.append(_attribute(element, "id", file, f"node {len(ids) + 1}"))
        elif tag == "edge":
            name = f"edge {len(links) + n_zero + 1}"
            ends = (_attribute(element, "source", file, name), _attribute(element, "target", file, name))
            weight = next((data.text for data in element if data.get("key") in weights), element.get("weight"))
            links += [] if is_zero(weight) else [ends]
            n_zero += is_zero(weight)
            is_directed = element.get("directed") == "true" or element.get("type") == "directed"
            attributes |= {"direction": None} if is_directed else {}
            attributes |= {"weight": None} if element.get("weight") else {}
        elif tag in {"key", "attribute"}:
            weights |= {element.get("id")} if is_weight(element.get("attr.name") or "") else set()
            attributes[element.get("attr.name") or element.get("title") or "an attribute without a name"] = None
        if event == "end" and tag in {"node", "edge"} and graphs:
            graphs[0].clear()  # limit memory
    if not graphs:
        raise UnmaskError(f"file {file!r} has no graph element, expected GraphML or GEXF")
    return _number_names(file, ids, links, sorted(attributes, key=lambda name: name != "direction"), n_zero)


def _attribute(element: ET.Element, key: str, file: str, name: str) -> str:
    value = element.get(key)
    if value is None:
        raise UnmaskError(f"{name} of {file!r} has no {key}; every node and edge needs one")
    return value


def read_node_link(stream: IO[str], file: str) -> LinkList:
    """Return the links of node-link JSON (networkx, D3): nodes with an `id`, links with a source and a target."""
    try:
        data = json.load(stream)
        links = data["links"] if "links" in data else data["edges"]
        zeros = [any(is_zero(value) for key, value in link.items() if is_weight(key)) for link in links]
        ids = [_format_id(node["id"]) for node in data["nodes"]]
        ends = [(_format_id(link["source"]), _format_id(link["target"])) for link in links]
        keys = dict.fromkeys([key for item in (*data["nodes"], *links) for key in item])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UnmaskError(
            f"file {file!r} is not node-link JSON, expected nodes with an id, and links with a source and a target"
        ) from None
    attributes = (*(("direction",) if data.get("directed") else ()), *(key for key in keys if key not in _JSON_KEYS))
    edges = [pair for pair, zero in zip(ends, zeros, strict=True) if not zero]
    return _number_names(file, ids, edges, attributes, sum(zeros))


def _format_id(name: object) -> str:
    """Return an id as text: 12.0 becomes 12; raise if it is missing."""
    if name is None:
        raise ValueError
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def _number_names(
    file: str, ids: list[str], links: list[tuple[str, str]], attributes: Iterable[str], n_zero: int
) -> LinkList:
    """Return links between node ids as a `LinkList`."""
    labels = _check_labels(ids, file)
    number = {name: node for node, name in enumerate(ids)}
    ends = np.array([(number.get(u, -1), number.get(v, -1)) for u, v in links], dtype=np.int64).reshape(-1, 2)
    if (ends < 0).any():
        edge = int(np.argmax((ends < 0).any(axis=1))) + 1
        raise UnmaskError(f"edge {edge} of {file!r} ends at a node that is not in the file; add it")
    return LinkList(ends[:, 0], ends[:, 1], labels, len(ids), tuple(attributes), describe_zeros(n_zero))


def _check_labels(labels: list[str], file: str) -> NDArray[Any]:
    """Return labels as integers if all of them are, otherwise as texts; raise for repeated labels."""
    if len(set(labels)) != len(labels):
        raise UnmaskError(f"file {file!r} has two vertices with one label, expected distinct labels")
    return np.array([int(label) for label in labels]) if are_whole(labels) else np.array(labels, dtype=object)
