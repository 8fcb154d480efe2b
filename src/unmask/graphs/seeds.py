"""Seeds: people who are re-identified before the attack starts, because of a leak or a guess."""

from __future__ import annotations

import os
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Integers
from unmask.core.errors import UnmaskError
from unmask.data.dialects import WHOLE
from unmask.graphs.files.edge_lists import EdgeListOptions
from unmask.graphs.files.end_columns import unify_ids
from unmask.graphs.files.link_reading import read_first_rows, read_links
from unmask.graphs.graph import SocialGraph

T = TypeVar("T")


class SeedPairs(NamedTuple):
    """People who are re-identified before the attack: the adversary believes that source[i] and target[i] are one
    person.

    Parameters
    ----------
    source : (n,) int64 array
        Source nodes, each at most once.
    target : (n,) int64 array
        Target nodes, each at most once.
    """

    source: Integers
    target: Integers

    @classmethod
    def from_labels(
        cls, source: SocialGraph, target: SocialGraph, source_labels: ArrayLike, target_labels: ArrayLike
    ) -> Listed:
        """Return the seeds source_labels[i] = target_labels[i]; each node may be in one row only.

        Labels are compared as texts. The label of a node in a graph without labels is its number. Rows with a label
        that is not in the graph are excluded, because edge lists omit people without an edge. At least one row must
        remain.

        >>> graph = SocialGraph.from_edges([0, 1], [1, 2], labels=["a", "b", "c"])
        >>> seeds = SeedPairs.from_labels(graph, SocialGraph.from_edges([0], [1]), ["c", "z"], ["0", "1"])
        >>> seeds, seeds.left_out
        (Listed(source=array([2]), target=array([0])), 1)
        """
        people, nodes = nodes_of(source, target, source_labels, target_labels)
        rows = np.flatnonzero((people >= 0) & (nodes >= 0))
        if len(people) and not len(rows):
            raise UnmaskError(f"none of {len(people)} seeds has a label of each graph; check the labels")
        seeds = Listed(people[rows], nodes[rows])
        for name, side in zip(seeds._fields, seeds, strict=True):
            first = np.unique(side, return_index=True)[1]
            if len(first) < len(side):
                row = int(rows[np.setdiff1d(np.arange(len(side)), first)[0]]) + 1
                raise UnmaskError(f"row {row} of the seeds repeats a {name} node, expected each node at most once")
        seeds.left_out = len(people) - len(rows)
        return seeds

    @classmethod
    def read(cls, source: SocialGraph, target: SocialGraph, path: str | PathLike[str]) -> Listed:
        """Return the seeds in a file with two columns, source label and target label; see `from_labels`.

        The labels are in the first two columns. The file has a format that `SocialGraph.read` accepts as edge list. The
        first line is a header if neither of its texts is a label.
        """
        return from_file(cls.from_labels, source, target, path)


class Listed(SeedPairs):
    """Seeds from a table of labels. left_out : number of rows with a label that is not in the graphs"""

    left_out: int = 0

    @property
    def evidence(self) -> str:
        """Return the number of excluded rows in words, "" without any."""
        return rows_left_out(self.left_out, self.left_out + len(self.source)) if self.left_out else ""


def rows_left_out(left_out: int, n: int) -> str:
    """Describe how many of n rows of seeds have a person who is missing from a network."""
    verb, are = ("has", "is") if left_out == 1 else ("have", "are")
    reason = "a person who is not in both networks, such as a person without an edge"
    return f"{left_out:,} of {n:,} rows {verb} {reason}, and {are} left out"


class Guessed(SeedPairs):
    """Seeds that the adversary guessed without the truth. Their correctness is unknown; they calibrate no probability.

    evidence : sentence about the evidence for the seeds; "" if no test was run
    """

    evidence: str = ""


def from_file(
    make: Callable[[SocialGraph, SocialGraph, ArrayLike, ArrayLike], T],
    source: SocialGraph,
    target: SocialGraph,
    path: str | PathLike[str],
) -> T:
    """Return the result of `make` for the label pairs of a file; an error names the file."""
    labels = label_columns(path, source, target)
    try:
        return make(source, target, *labels)
    except UnmaskError as error:
        raise UnmaskError(f"file {Path(path).name!r}, rows below a header: {error}") from None


def label_columns(
    path: str | PathLike[str], source: SocialGraph, target: SocialGraph
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the two columns of a file of label pairs; a first row without a known label is a header."""
    first, *further = read_first_rows(path) or ((),)
    names = [cell for cell in first[:2] if not WHOLE.fullmatch(cell)]
    header = (
        bool(further)
        and len(names) == 2
        and bool(max(side[0] for side in nodes_of(source, target, names[:1], names[1:])) == -1)
    )
    links = read_links(path, EdgeListOptions(header=header, source=1, target=2, ids="text", missing_ids="keep"))
    labels = np.arange(links.n_nodes) if links.labels is None else links.labels
    first_column, second_column = (
        np.array(unify_ids(list(map(str, labels[side].tolist())))) for side in (links.u, links.v)
    )
    if (
        not header
        and len(first_column) == 1
        and max(side[0] for side in nodes_of(source, target, first_column, second_column)) == -1
    ):
        raise UnmaskError(
            f"file {Path(os.fspath(path)).name!r} has one line, which names no node of either graph; expected lines "
            "with a label of each graph, below a header or without one"
        )
    return first_column, second_column


def nodes_of(
    source: SocialGraph, target: SocialGraph, source_labels: ArrayLike, target_labels: ArrayLike
) -> tuple[Integers, Integers]:
    """Return the node of each label in its graph, -1 where it has none."""
    people, names = np.asarray(source_labels).reshape(-1), np.asarray(target_labels).reshape(-1)
    if len(people) != len(names):
        raise UnmaskError(f"there are {len(people)} source and {len(names)} target labels, expected equal counts")
    return source.nodes_called(people), target.nodes_called(names)
