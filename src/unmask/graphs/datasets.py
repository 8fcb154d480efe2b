"""Public networks, pairs of networks with a truth, and random graphs.

Files are read from `$UNMASK_DATA` or from the user's cache (`~/.cache/unmask`), and compared with their SHA-256.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Final, Literal, cast

import numpy as np

from unmask.core.errors import FailedError, UnmaskError, nearest
from unmask.data import files
from unmask.graphs.files.link_reading import read_links
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge import NO_NODE, Pair
from unmask.graphs.random_graphs import barabasi_albert, chung_lu, erdos_renyi, power_law_degrees, watts_strogatz

__all__ = [
    "NETWORKS",
    "PAIRS",
    "barabasi_albert",
    "chung_lu",
    "erdos_renyi",
    "network",
    "pair",
    "power_law_degrees",
    "watts_strogatz",
]

Part = Literal["network", "source", "target", "truth"]


def _read_table() -> dict[tuple[str, Part], dict[str, str]]:
    """Return the rows of `networks.csv`: the files of each data set, with counts of nodes and edges and SHA-256.

    Counts are those of the data sets' own pages, recounted without self-loops, repetitions and directions.
    """
    text = resources.files("unmask.graphs").joinpath("networks.csv").read_text("utf-8")
    return {(row["name"], cast("Part", row["part"])): row for row in csv.DictReader(text.splitlines())}


_FILES: Final = _read_table()

NETWORKS: Final = tuple(name for name, part in _FILES if part == "network")
"""Names for `network`."""

PAIRS: Final = tuple(name for name, part in _FILES if part == "truth")
"""Names for `pair`."""


def network(name: str) -> SocialGraph:
    """Read a public network as a simple undirected graph.

    Parameters
    ----------
    name : str
        One of `NETWORKS`: epinions, slashdot, wiki-vote, enron, email-eu, facebook, ca-* (SNAP), advogato (KONECT),
        karate (Zachary 1977), cond-mat-2005 and twitter-mentions (Nilizadeh, Kapadia, Ahn, CCS 2014), gowalla-friends
        (Cho, Myers, Leskovec 2011).

    Returns
    -------
    SocialGraph
        Labels are the ids of the file.
    """
    return _load(_check_name(name, NETWORKS), "network")


def pair(name: str) -> Pair:
    """Read two real networks with people or films in common, and their truth.

    Parameters
    ----------
    name : str
        One of `PAIRS`:

        - acm-dblp: co-authorship in two libraries, 6,325 people in both (Zhang, Tong, "FINAL", KDD 2016)
        - allmovie-tmdb: films linked by actors, 5,174 in both. The truth is not one-to-one: of 5,176 pairs, a film with
          two counterparts keeps the first, and 5,164 target films have at least one counterpart
        - douban: followers online and meetings offline, 1,118 people in both (Zhang, Tong, KDD 2016)

    Returns
    -------
    Pair
        Nodes are numbered as in the files. Call `Pair.shuffled` before an attack, because this order is informative.
    """
    source, target = (_load(_check_name(name, PAIRS), part) for part in ("source", "target"))
    matches = np.loadtxt(_locate(name, "truth"), dtype=np.int64, ndmin=2)
    truth = np.full(source.n_nodes, NO_NODE, dtype=np.int64)
    truth[matches[::-1, 0]] = matches[::-1, 1]  # in reverse order: the first pair of a film is written last
    return Pair(source, target, truth)


def _locate(name: str, part: Part) -> Path:
    return files.locate(_FILES[name, part]["path"], sha256=_FILES[name, part]["sha256"])


def _load(name: str, part: Part) -> SocialGraph:
    path, row = _locate(name, part), _FILES[name, part]
    links = read_links(path)
    graph = SocialGraph.from_edges(links.u, links.v, labels=links.labels, n_nodes=links.n_nodes)
    if (graph.n_nodes, graph.n_edges) != (int(row["nodes"]), int(row["edges"])):
        raise FailedError(
            f"{path.name} has {graph.n_nodes} nodes and {graph.n_edges} edges, expected {row['nodes']} and "
            f"{row['edges']}; fetch it again"
        )
    return graph


def _check_name(name: str, names: Sequence[str]) -> str:
    if name not in names:
        raise UnmaskError(f"the data set {name!r} is unknown; {nearest(name, names)}")
    return name
