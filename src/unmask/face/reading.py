"""From files and data frames to what is released."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.data.frames import columns_of
from unmask.face.misuse import check_keywords

if TYPE_CHECKING:
    from unmask.channels import Channel
    from unmask.graphs import SocialGraph
    from unmask.linkage import Items
    from unmask.tables import Table


def read_table(source: object, **reading: Any) -> Table:
    """A table of people with the role of each column, from a file or a data frame.

    source  : path (CSV, TSV, .gz, Parquet, Excel), pandas or polars frame, Arrow table, mapping of names to columns
    reading : the arguments of `tables.Table.read`: `quasi_identifiers` (what an adversary may know), `sensitive` (what
              they want to learn), `keep`, `identifiers`, `weight`, `types`, `hierarchies`, `missing` ...

    >>> import unmask
    >>> unmask.read_table({"age": [30, 30, 41], "ill": ["a", "b", "a"]}, quasi_identifiers="age", sensitive="ill")
    Table(3 rows, quasi_identifiers=age, sensitive=ill)
    """
    from unmask.tables import Table

    check_keywords(inspect.signature(Table.read), reading, "read_table")
    if "quasi_identifiers" not in reading:
        raise UnmaskError('read_table needs the columns that an adversary may know, as in quasi_identifiers=["age"]')
    return Table.read(source, **reading)


def read_graph(source: object, **reading: Any) -> SocialGraph:
    """A social network, from a file, a data frame of two columns, a sparse matrix, networkx or igraph.

    reading : of a file, the fields of `graphs.EdgeListOptions`: `delimiter`, `header`, `ends`, `missing_ids` ...

    >>> import unmask
    >>> unmask.read_graph({"one": ["ann", "bob"], "other": ["bob", "cid"]})
    SocialGraph(3 nodes, 2 edges)
    """
    from unmask.graphs import EdgeListOptions, SocialGraph

    check_keywords(inspect.signature(EdgeListOptions), reading, "read_graph")
    if not _has_columns(source):
        return SocialGraph.read(source, **reading)
    columns = list(columns_of(source).values())
    if len(columns) != 2:
        raise UnmaskError(f"the edges have {len(columns)} columns, expected two: the ends of each edge")
    labels, ends = np.unique(np.concatenate(columns).astype(str), return_inverse=True)
    u, v = np.split(ends, 2)
    return SocialGraph.from_edges(u, v, labels=labels)


def read_items(source: Any, **reading: Any) -> Items:
    """Items under pseudonyms, from a file or a data frame.

    reading : the arguments of `linkage.Items.read`: `item`, `pseudonym`, `features`, `time`, `context` ...

    >>> import unmask
    >>> unmask.read_items({"who": ["x", "x", "y"], "sum": [1, 2, 9]}, pseudonym="who", features="sum")
    Items(3 items, features=sum, 2 pseudonyms)
    """
    from unmask.linkage import Items

    check_keywords(inspect.signature(Items.read), reading, "read_items")
    return Items.read(source if isinstance(source, str | os.PathLike) else columns_of(source), **reading)


def read_channel(source: Any, *, prior: Any = None) -> Channel:
    """A channel: the probability of each output for each secret.

    source : (n_secrets, n_outputs) array; a file whose first line names the outputs and whose first column names the
             secrets, or a data frame like it
    prior  : probability of each secret: an array in their order, a mapping by name, or beside a file a file of secret
             and probability; uniform unless given

    >>> import unmask
    >>> unmask.read_channel([[0.9, 0.1], [0.2, 0.8]], prior=[0.5, 0.5]).p_y
    array([0.55, 0.45])
    """
    from unmask.channels import Channel
    from unmask.channels.matrix_files import read_channels

    secrets = outputs = None
    if isinstance(source, str | os.PathLike):
        beside = Path(prior) if isinstance(prior, str | os.PathLike) else None
        (channel,), _ = read_channels([Path(source)], beside)
        source, secrets, outputs = channel.p_y_given_x, channel.x_labels, channel.y_labels
        prior = prior if beside is None else channel.prior
    elif _has_columns(source):
        (_, names), *columns = columns_of(source).items()
        source, secrets = np.column_stack([cells for _, cells in columns]), tuple(map(str, names.tolist()))
        outputs = tuple(name for name, _ in columns)
    if isinstance(prior, Mapping):
        named = {str(name): share for name, share in prior.items()}
        if secrets is None or not named.keys() >= {*secrets}:
            raise UnmaskError("a prior by name needs a probability for the name of every secret; give an array")
        prior = [named[name] for name in secrets]
    return Channel(
        source, None if prior is None else np.asarray(prior, dtype=np.float64), x_labels=secrets, y_labels=outputs
    )


def _has_columns(source: object) -> bool:
    """Whether it is a data frame, or a mapping of names to columns."""
    return isinstance(source, Mapping) or hasattr(source, "column_names") or hasattr(source, "columns")
