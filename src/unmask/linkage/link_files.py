"""Files of scored links between items; each threshold of the score defines an adversary."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition
from unmask.data.engine import Engine
from unmask.linkage.attacks.pairs import connect

SCORES = ("score", "match_probability")
"""Names of the column of scores."""

N_THRESHOLDS = 20
"""Default number of thresholds: quantiles of the distinct scores."""

MAX_THRESHOLDS = 100
"""Largest number of thresholds in one audit, because each is an adversary."""


class LinkThreshold(NamedTuple):
    """An adversary who accepts links with at least a score: name of the file, and smallest score."""

    links: str
    score: float


@dataclass(frozen=True)
class LinkFile:
    """A file of links between two items, with or without scores.

    Parameters
    ----------
    source : str
        Path, pattern or table that an engine reads.
    ends : tuple of str
        Columns of the two items.
    score : str or None
        Column of the score; None: every link is accepted.
    thresholds : tuple of float
        Smallest scores of accepted links, one adversary for each. Default: quantiles of the scores.
    """

    source: str
    ends: tuple[str, str]
    score: str | None
    thresholds: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the file without its folder."""
        return shorten_source(self.source)

    def read(self, engine: Engine, truth: Partition) -> dict[float | None, Partition]:
        """Return threshold -> clusters, highest threshold first: connected components of the accepted links.

        All items of the truth are included; an item without a link is a singleton. If two rows link the same items, the
        higher score counts.
        """
        first, second, score = self._read_links(engine)
        items, place = _number_items(truth, np.concatenate([first, second]), self.name)
        ends = place[: len(first)], place[len(first) :]
        if score is None:
            return {None: Partition(connect(*ends, len(items)), items=items)}
        accepted = {threshold: score >= threshold for threshold in self.thresholds or choose_thresholds(score)}
        return {
            threshold: Partition(connect(ends[0][links], ends[1][links], len(items)), items=items)
            for threshold, links in sorted(accepted.items(), reverse=True)
        }

    def _read_links(self, engine: Engine) -> tuple[NDArray[Any], NDArray[Any], Floats | None]:
        columns = {"first": self.ends[0], "second": self.ends[1]} | ({"score": self.score} if self.score else {})
        engine.table("links", self.source, columns, ids=("first", "second"))
        rows = engine.rows("select * from links")
        if not len(rows["first"]):
            raise UnmaskError(f"{self.name} has no rows, expected at least 1 link of two items")
        count = "select count(*) as n from links where first is null or second is null"
        if missing := int(engine.rows(count)["n"][0]):
            raise UnmaskError(f"{self.name}: {missing:,} links lack an item, expected two items in every line")
        if n_loops := int(np.count_nonzero(rows["first"] == rows["second"])):
            raise UnmaskError(
                f"{self.name}: {n_loops:,} links join an item with itself, expected two different items; remove them"
            )
        name, expected = f"{self.name}: a score", "a number for every link"
        return rows["first"], rows["second"], parse_numbers(name, rows["score"], expected) if self.score else None


def shorten_source(source: str) -> str:
    """Return the name of a file without its folder, or of a table without its database.

    >>> shorten_source("data/owners.csv"), shorten_source("data/people.duckdb::owners")
    ('owners.csv', 'owners')
    """
    return Path(source.rpartition("::")[2]).name


def parse_numbers(name: str, cells: NDArray[Any], expected: str) -> Floats:
    """Return cells as finite numbers; the error names a cell of another kind."""
    try:
        numbers = np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError):
        raise UnmaskError(f"{name} is not a number, expected {expected}") from None
    if not np.all(np.isfinite(numbers)):
        raise UnmaskError(f"{name} is missing or infinite, expected {expected}")
    return numbers


def find_ends(names: Sequence[str], item: str) -> tuple[str, str] | None:
    """Return the columns of the two items of a link; None if a file has no such columns.

    Names are case-insensitive.

    >>> find_ends(["match_probability", "unique_id_l", "unique_id_r"], "item")
    ('unique_id_l', 'unique_id_r')
    """
    column = {name.casefold(): name for name in names}
    for stem in dict.fromkeys((item.casefold(), "item", "unique_id")):
        ends = [column.get(f"{stem}_{side}") for side in "lr"]
        if all(ends):
            return str(ends[0]), str(ends[1])
        if any(ends):
            present, lacking = ("l", "r") if ends[0] else ("r", "l")
            raise UnmaskError(
                f"a guess has a column {stem}_{present} but no {stem}_{lacking}; links need both ends, a guess of "
                "clusters needs item and cluster"
            )
    return None


def find_score(names: Sequence[str]) -> str | None:
    """Return the column of scores; None if a file has no such column.

    >>> find_score(["item_l", "item_r", "Score"])
    'Score'
    """
    columns = [name for name in names if name.casefold() in SCORES]
    if len(columns) > 1:
        raise UnmaskError(f"links have the columns {' and '.join(columns)}, expected one score; remove the other")
    return columns[0] if columns else None


def parse_thresholds(texts: Sequence[str]) -> tuple[float, ...]:
    """Return distinct score thresholds.

    >>> parse_thresholds(["0.8,0.9", "1"])
    (0.8, 0.9, 1.0)
    """
    cells = [cell.strip() for text in ([texts] if isinstance(texts, str) else texts) for cell in str(text).split(",")]
    try:
        thresholds = tuple(dict.fromkeys(float(cell) for cell in cells))
    except ValueError:
        thresholds = (math.nan,)
    if not all(map(math.isfinite, thresholds)):
        raise UnmaskError("a threshold is not a finite number, expected numbers such as 0.8,0.9 (`thresholds`)")
    if len(thresholds) > MAX_THRESHOLDS:
        raise UnmaskError(
            f"{len(thresholds)} thresholds were given, expected at most {MAX_THRESHOLDS}: each is an adversary"
        )
    return thresholds


def choose_thresholds(score: Floats) -> tuple[float, ...]:
    """Return all distinct scores; if there are many, quantiles of them, including the smallest and the largest.

    >>> choose_thresholds(np.array([0.5, 0.9, 0.5]))
    (0.5, 0.9)
    """
    scores = np.unique(score)
    places = np.rint(np.linspace(0, len(scores) - 1, min(N_THRESHOLDS, len(scores)))).astype(np.int64)
    return tuple(scores[places].tolist())


def name_clusters(
    links: str, clusters: Mapping[float | None, Partition], *, alone: bool
) -> tuple[dict[str, Partition], dict[str, LinkThreshold]]:
    """Return the clusters by names of the adversaries, and the thresholds of these adversaries.

    alone : True if no other guess exists, so the short name is unique
    """
    scores = [score for score in clusters if score is not None]
    if not scores:
        return dict.fromkeys([links], *clusters.values()), {}
    texts = [f"{score:.6g}" for score in scores]
    texts = texts if len(set(texts)) == len(texts) else list(map(repr, scores))
    names = [f"links >= {text}" if alone else f"{links} links >= {text}" for text in texts]
    thresholds = [LinkThreshold(links, score) for score in scores]
    return dict(zip(names, clusters.values(), strict=True)), dict(zip(names, thresholds, strict=True))


def _number_items(truth: Partition, ends: NDArray[Any], name: str) -> tuple[NDArray[Any], Integers]:
    """Return the items of the truth followed by all other linked items, and the index of each end of a link."""
    assert truth.items is not None
    n = len(truth)
    numbered = Partition(np.concatenate([truth.items, ends]))
    place = np.full(numbered.n_clusters, -1)
    place[numbered.code[:n]] = np.arange(n)
    extra = np.flatnonzero(place < 0)
    if not (place[numbered.code[n:]] >= 0).any():
        raise UnmaskError(
            f"{name}: none of the linked items is in the truth; use the same ids in both, or name the column of ids in "
            "the truth with `item`"
        )
    place[extra] = n + np.arange(len(extra))
    return np.concatenate([truth.items, numbered.names[extra]]), place[numbered.code[n:]]
