"""Pajek: the vertices' labels and the links of a .net file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from unmask.core.errors import UnmaskError
from unmask.graphs.node_numbers import is_zero

_VERTEX = re.compile(r'\s*(\d{1,18})(?!\d)(?:\s+("[^"]*"|\S+))?', re.ASCII)
_EDGE = re.compile(r"\s*(\d{1,18})\s+(\d{1,18})(?:\s+(\S+)|\s*$)", re.ASCII)
_MOST_VERTICES = 10**8  # a line must not claim all memory


Found = tuple[int, dict[int, str], list[tuple[int, int]], tuple[str, ...], int]


def parse(lines: Iterable[str], name: str) -> Found:
    """The number of vertices, the labels of those that have one, and the links, edges and arcs alike, by number from 1.

    Then come the names of what else the file has of links, "direction" and "weight", and the number of links of weight
    0, which are none. Any other section is refused.

    >>> parse(["*vertices 2", "1 ann", "*arcs", "1 2 0.5"], "it.net")
    (2, {1: 'ann'}, [(1, 2)], ('direction', 'weight'), 0)
    """
    section, n, labels, links = "", 0, dict[int, str](), list[tuple[int, int]]()
    directed = weighted = False
    n_zero = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("%"):
            continue
        if line.lstrip().startswith("*"):
            section, *rest = line.lower().split()
            n = _vertices(rest, name, number) if section == "*vertices" else n
        elif section == "*vertices" and (vertex := _VERTEX.match(line)) and 0 < int(vertex[1]) <= n:
            labels[int(vertex[1])] = (vertex[2] or vertex[1]).strip('"')
        elif section in {"*edges", "*arcs"} and (edge := _EDGE.match(line)):
            ends = _ends_of(edge, n, name, number)
            links += [] if is_zero(edge[3]) else [ends]
            n_zero += is_zero(edge[3])
            directed, weighted = directed or section == "*arcs", weighted or edge[3] is not None
        else:
            raise UnmaskError(f"line {number} of {name!r} fits no section; expected vertices, edges or arcs")
    said = (directed, "direction"), (weighted, "weight")
    return n, labels, links, tuple(what for there, what in said if there), n_zero


def _vertices(rest: list[str], name: str, number: int) -> int:
    if not rest or not rest[0].isdecimal() or len(rest[0]) > 18 or int(rest[0]) > _MOST_VERTICES:
        raise UnmaskError(f"line {number} of {name!r} gives no number of vertices up to {_MOST_VERTICES}")
    return int(rest[0])


def _ends_of(edge: re.Match[str], n: int, name: str, number: int) -> tuple[int, int]:
    ends = int(edge[1]), int(edge[2])
    if not 0 < min(ends) <= max(ends) <= n:
        raise UnmaskError(f"line {number} of {name!r} has a vertex beyond 1 to {n}; correct it or *vertices")
    return ends
