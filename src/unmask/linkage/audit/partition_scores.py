"""Scores of a whole guess: scores of its partition, and certainty and consistency of a view."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from unmask.core.errors import UnmaskError, nearest
from unmask.core.partition import Partition, View
from unmask.measures.clustering import Contingency, clustering_metrics
from unmask.measures.clustering.metrics import variation_of_information
from unmask.measures.clustering.overlap import sum_cells
from unmask.measures.clustering.subject_rates import FURTHER_RATES, RATES
from unmask.measures.clustering.views import certainty
from unmask.measures.registry import PARTITION_SCORES

SHOWN_SCORES: Final = (
    "adjusted_rand_index",
    "normalized_variation_of_information",
    "normalized_transfer_distance",
    "bcubed_precision",
    "bcubed_recall",
    "pair_precision",
    "pair_recall",
)
"""Scores in the table of each audit."""

VIEW_SCORES: Final = ("certainty", "consistency", "expected_distance")
"""Scores of a view with several partitions."""

MAX_VIEW_PARTITIONS: Final = 200
"""Largest number of partitions of a view for which all pairs are compared."""


def further_measures(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that a linkage audit computes on request only."""
    further = (*(rate.name for rate in FURTHER_RATES), *PARTITION_SCORES, *VIEW_SCORES)
    return tuple(name for name in dict.fromkeys(names) if name in further)


def check_measures(names: Sequence[str]) -> tuple[str, ...]:
    """Return the measures that are computed on request; raise for a name that linkage does not have."""
    measures = [*(rate.name for rate in (*RATES, *FURTHER_RATES)), *PARTITION_SCORES, *VIEW_SCORES]
    unknown = next((name for name in names if name not in measures), None)
    if unknown is not None:
        hint = nearest(unknown, measures)
        hint = hint if hint.startswith("did") else "`unmask list measures` shows the names"
        raise UnmaskError(f"linkage has no measure {unknown!r}; {hint}")
    return further_measures(names)


def score_partition(met: Contingency, names: Iterable[str]) -> dict[str, float]:
    """Return the scores of the whole partition over the labeled items; none for a view with several partitions."""
    requested = [name for name in names if name in PARTITION_SCORES]
    if len(met.tables) > 1 or not requested:
        return {}
    scores = clustering_metrics(met.tables[0].labeled)
    return {name: float(getattr(scores, name)) for name in requested}


def score_view(met: Contingency, names: Iterable[str]) -> dict[str, float]:
    """Return the requested scores of a view.

    certainty : 1 - entropy of the view / log2 of its distinct partitions
    consistency : 1 - expected variation of information between two draws / log2 n
    expected_distance : expected variation of information between the truth and a draw, in bits
    """
    values = {"certainty": _certainty, "consistency": _consistency, "expected_distance": _expected_distance}
    return {name: values[name](met) for name in names if name in values}


def _certainty(met: Contingency) -> float:
    return certainty(View([Partition(cluster) for cluster in met.cluster], met.probability))


def _consistency(met: Contingency) -> float:
    n_items, n_partitions = int(met.block_size.sum()), len(met.cluster)
    if n_items == 1 or n_partitions == 1:
        return 1.0
    if n_partitions > MAX_VIEW_PARTITIONS:
        return math.nan
    sizes = [np.bincount(cluster, met.block_size).astype(np.int64) for cluster in met.cluster]
    distance = 0.0
    for q, r in combinations(range(n_partitions), 2):
        pairs = (met.cluster[q], met.cluster[r], met.block_size)
        table = sum_cells(*pairs, subject_size=sizes[q], cluster_size=sizes[r])
        distance += 2 * met.probability[q] * met.probability[r] * variation_of_information(table)
    return 1.0 - float(distance) / math.log2(n_items)


def _expected_distance(met: Contingency) -> float:
    distances = [variation_of_information(table.labeled) for table in met.tables]
    return float(met.probability @ distances)
