"""Two catalogs of the same people with misspelled names and hardly an edge in common."""

from __future__ import annotations

import csv
import gzip
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import sparse

from unmask.graphs import Pair, Similarity, datasets

LIKE = 0.3
"""Cosine of names from which on two people are a line of the similarity."""


def catalogs(rng: np.random.Generator) -> tuple[Pair, Similarity]:
    """Co-authors of CA-GrQc as two catalogs have them, and how alike their names are.

    Each edge is in one catalog only, but for one in twenty. People are called as the originals of FEBRL 4 in one
    catalog, and as the duplicates, with the spelling mistakes that they have there, in the other; of first names there
    is the initial. Likeness is the cosine of the trigrams of the names, rare ones weighing more.
    """
    graph = datasets.network("ca-grqc")
    graph = graph.take(graph.largest_component())
    where, both = rng.random(graph.n_edges) < 0.5, rng.random(graph.n_edges) < 0.05
    source, target = (graph.with_edges(np.flatnonzero(one | both)) for one in (where, ~where))
    order = rng.permutation(graph.n_nodes)
    pair = Pair(source, target.take(order), np.argsort(order))
    names = [_names(f"febrl_dataset4{side}.csv.gz") for side in "ab"]
    people = rng.permutation(sorted(names[0].keys() & names[1].keys()))[: graph.n_nodes]
    alike = _alike(*([side[one] for one in people] for side in names))
    return pair, alike.renumbered(np.arange(graph.n_nodes), pair.truth)


def _names(file: str) -> dict[str, str]:
    """Number of the person -> initial and last name."""
    path = Path(os.environ["UNMASK_DATA"]) / "tables" / "linkage" / file
    with gzip.open(path, "rt", newline="") as lines:
        rows = list(csv.DictReader(lines, skipinitialspace=True))
    return {row["rec_id"].split("-")[1]: f"{row['given_name'][:1]} {row['surname']}" for row in rows}


def _alike(names: list[str], others: list[str]) -> Similarity:
    number: defaultdict[str, int] = defaultdict()
    number.default_factory = number.__len__
    rows, columns = _trigrams([*names, *others], number)
    counts = sparse.csr_array((np.ones(len(rows)), (rows, columns)))
    rare = sparse.diags_array(np.log(counts.shape[0] / counts.sum(axis=0)))
    weighed = counts @ rare
    unit = sparse.diags_array(1 / np.sqrt(np.asarray((weighed**2).sum(axis=1)))) @ weighed
    found = sparse.coo_array(unit[: len(names)] @ unit[len(names) :].T)
    kept = found.data > LIKE
    return Similarity(found.row[kept].astype(np.int64), found.col[kept].astype(np.int64), found.data[kept])


def _trigrams(names: list[str], number: defaultdict[str, int]) -> tuple[list[int], list[int]]:
    """The name, and the number of each trigram in it."""
    rows: list[int] = []
    columns: list[int] = []
    for at, name in enumerate(names):
        padded = f"  {name} "
        own = {number[padded[i : i + 3]] for i in range(len(padded) - 2)}
        rows += [at] * len(own)
        columns += sorted(own)
    return rows, columns
