"""Public networks, pairs of networks with a truth, check-ins, and random graphs.

Files are read from `$UNMASK_DATA` or from the user's cache (`~/.cache/unmask`), and compared with their SHA-256.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from unmask.core.errors import FailedError, UnmaskError
from unmask.data import files
from unmask.graphs.files.reading import read_links
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


class _File(NamedTuple):
    path: str
    nodes: int
    edges: int  # simple, undirected
    sha256: str


# Counts are those of the data sets' own pages, recounted without self-loops, repetitions and directions.
_NETWORKS: Final = {
    "epinions": _File(
        "graphs/soc-Epinions1.txt.gz", 75_879, 405_740,
        "51e72bc873ab9eecac5b59c9ed119bec9315a217dba8a30b408fa9c412550486",
    ),
    "slashdot": _File(
        "graphs/soc-Slashdot0902.txt.gz", 82_168, 504_230,
        "7a63db8394d96a9a937a2252945297483d776b6af2c75617f1fe928a6b198290",
    ),
    "wiki-vote": _File(
        "graphs/wiki-Vote.txt.gz", 7_115, 100_762,
        "586f139892ecffde52aaacfd83f55fb02f5d2347939710be8b82926c472eb08e",
    ),
    "facebook": _File(
        "graphs/facebook_combined.txt.gz", 4_039, 88_234,
        "e2f423b9c30f68beee772d1a55eaac022bb5090a7f7dc8c47578bfbb07228360",
    ),
    "enron": _File(
        "graphs/email-Enron.txt.gz", 36_692, 183_831,
        "f97cd33e26fb7f99381dd799e6e91b703bb75ec8842b0491e9ec48c50808ebe7",
    ),
    "ca-hepth": _File(
        "graphs/CA-HepTh.txt.gz", 9_877, 25_973,
        "f64ed3409af7a1ccbc48b530e80b9c31088005b016bc91284217d32129d29186",
    ),
    "ca-hepph": _File(
        "graphs/CA-HepPh.txt.gz", 12_008, 118_489,
        "3f21bc074df76d07c33cb1b73e2fb51058eef1f072fa4c1a510127b06369b73d",
    ),
    "ca-condmat": _File(
        "graphs/CA-CondMat.txt.gz", 23_133, 93_439,
        "65223e7501c73be3598ac693d59396109911bb1f1a547f8b3ed62b290f99fbdb",
    ),
    "ca-grqc": _File(
        "graphs/CA-GrQc.txt.gz", 5_242, 14_484,
        "64e13b16d41e19f092135b8fb3c47f36edcb66460a654c5c61f25216458a57ec",
    ),
    "email-eu": _File(
        "graphs/email-Eu-core.txt.gz", 1_005, 16_064,
        "84189cdd8a8774f9c1e8c90bd5d5fc3fecd31811521944b832aad22d05c28dc8",
    ),
    "advogato": _File(
        "graphs/advogato.txt.gz", 6_539, 39_285,
        "4df75f09bffef01ddcbcf78783325c18bf69cc9ea02489a0ceef0ae9d28e469d",
    ),
    "karate": _File(
        "graphs/karate.txt", 34, 78,
        "af55c911ba5567bb5e5caab713efd7ff2d389d13e270e77bdc08cbdcbcf53436",
    ),
    "cond-mat-2005": _File(
        "graphs/cond-mat-2005-lcc.net.gz", 36_458, 171_735,
        "2ce712ac0b416951361c3c12c4e91a6cff7fedc09e41b8f9dd6a4599b89dc87a",
    ),
    "twitter-mentions": _File(
        "graphs/twitter-mention-sample.net.gz", 9_745, 49_030,
        "efaac4d04b4abac6843b5333736410151e7ed33a4a5f525c0022c20ff51b0028",
    ),
    "gowalla-friends": _File(
        "traces/gowalla1000/friends_18737.txt.gz", 16_584, 86_985,
        "f45f60a53745d5f26f36afe2ce8f6174a530aa409a6143a6473133624cb0d6c4",
    ),
}  # fmt: skip

_PAIRS: Final = {
    "acm-dblp": (
        _File(
            "graphs/pairs/acm_dblp/acm.edges.txt.gz", 9_872, 39_561,
            "b888998854241782062fd0729c6ec2e7bdf3576e51cb3326d0aca2a98be92b15",
        ),
        _File(
            "graphs/pairs/acm_dblp/dblp.edges.txt.gz", 9_916, 44_808,
            "19729f173a32624dc08cd19fcf30fe6278dead0763f39ca7a10c877a3df77969",
        ),
        "graphs/pairs/acm_dblp/truth.txt.gz",
        "9d228eceb58260ad0293ff8183886360850b6b5d506a5c7bcf448f2fe938a930",
    ),
    "allmovie-tmdb": (
        _File(
            "graphs/pairs/allmovie_tmdb/allmovie.edges.txt.gz", 6_011, 124_709,
            "b73b286b431e5d17f9a3238f4f30509557183691a883f4c60ae45e62fe9061e4",
        ),
        _File(
            "graphs/pairs/allmovie_tmdb/tmdb.edges.txt.gz", 5_713, 119_073,
            "14e26f6e8b86cba08a2d308afc7c1150a98b6ca1278c0c3e050734ef4b4100ef",
        ),
        "graphs/pairs/allmovie_tmdb/truth.txt.gz",
        "43b27293812c3cc943354eb3288492589b175e3ab164b5e9d20c227959cd2b93",
    ),
    "douban": (
        _File(
            "graphs/pairs/douban/online.edges.txt.gz", 3_906, 8_164,
            "51a36ba5d80e38bbbe135c3a9a35d5dd7c1ae079e6c5efa795b1dda6c062de27",
        ),
        _File(
            "graphs/pairs/douban/offline.edges.txt.gz", 1_118, 1_511,
            "3e1357ce3e0034af3200d9ecd911c83b5af39c92315d724426f2f9f53c041300",
        ),
        "graphs/pairs/douban/truth.txt.gz",
        "7e69a13b39cf3f208db43cdf4c6d51346fa518e8e36f919ba4cf50f287da81f4",
    ),
}  # fmt: skip

NETWORKS: Final = tuple(_NETWORKS)
"""Names for `network`."""

PAIRS: Final = tuple(_PAIRS)
"""Names for `pair`."""


# --- public sets ----------------------------------------------------------------------------------------------------


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
    return _load(_NETWORKS[_check_name(name, NETWORKS)])


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
    source, target, path, sha256 = _PAIRS[_check_name(name, PAIRS)]
    matches = np.loadtxt(files.locate(path, sha256=sha256), dtype=np.int64, ndmin=2)
    truth = np.full(source.nodes, NO_NODE, dtype=np.int64)
    truth[matches[::-1, 0]] = matches[::-1, 1]  # in reverse order: the first pair of a film is written last
    return Pair(_load(source), _load(target), truth)


def _load(file: _File) -> SocialGraph:
    links = read_links(files.locate(file.path, sha256=file.sha256))
    graph = SocialGraph.from_edges(links.u, links.v, labels=links.labels, n_nodes=links.n_nodes)
    if (graph.n_nodes, graph.n_edges) != (file.nodes, file.edges):
        raise FailedError(
            f"{Path(file.path).name} has {graph.n_nodes} nodes and {graph.n_edges} edges, "
            f"expected {file.nodes} and {file.edges}; fetch it again"
        )
    return graph


def _check_name(name: str, names: Iterable[str]) -> str:
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    raise UnmaskError(f"the data set {name!r} is unknown; {meant}The names are {', '.join(names)}")
