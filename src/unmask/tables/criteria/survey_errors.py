"""Standard errors of a survey, by its strata and clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.tables.criteria.risk import sample_weight_risk


def standard_error_of_total(
    values: Floats, *, stratum: Integers | None = None, cluster: Integers | None = None
) -> float:
    """Return the design-based standard error of a sum over the rows of a sample.

    V = sum over strata h of n_h / (n_h - 1) sum over clusters i of (z_hi - mean z_h)^2, where z_hi is the sum of a
    cluster, as for clusters that are drawn with replacement. A stratum with one cluster is compared with the mean of
    all clusters.

    Parameters
    ----------
    values : (n_rows,) array
        Values to sum.
    stratum : (n_rows,) array, optional
        Stratum of each row; by default all rows are in one stratum.
    cluster : (n_rows,) array, optional
        Cluster of each row, such as its household; a negative number is a cluster of its own. By default each row is
        one. Clusters are nested in strata: equal numbers in two strata are two clusters.

    Returns
    -------
    float
        0 if all clusters have equal sums, and for a sample of one cluster.

    References
    ----------
    W. G. Cochran, Sampling Techniques, 3rd edition, 1977, section 11.

    Examples
    --------
    >>> values = np.array([1.0, 0.0, 1.0, 1.0])
    >>> round(standard_error_of_total(values), 4), standard_error_of_total(values, cluster=np.array([0, 0, 1, 1]))
    (1.0, 1.0)
    """
    strata = np.zeros(len(values), dtype=np.int64) if stratum is None else np.unique(stratum, return_inverse=True)[1]
    of_row, first = _number_pairs(_separate(cluster, len(values)), strata)
    totals, of_cluster = np.bincount(of_row, values), strata[first]
    n_clusters = np.bincount(of_cluster)
    mean = np.bincount(of_cluster, totals) / n_clusters
    mean = np.where(n_clusters == 1, totals.mean(), mean)
    squares = np.bincount(of_cluster, (totals - mean[of_cluster]) ** 2)
    factor = np.where(n_clusters > 1, n_clusters / np.maximum(n_clusters - 1, 1), 1.0)
    return float(np.sqrt(squares @ factor))


def error_of_expected_reidentifications(
    of_row: NDArray[np.integer], weight: Floats, *, stratum: Integers | None = None, cluster: Integers | None = None
) -> float:
    """Return the standard error of the sum of the individual risks of a sample, over samples of the same design.

    It is the delete-one jackknife: the effect of a cluster is the change of the sum if its rows are left out. That
    changes the frequencies of their classes, too; with fixed ones the error is up to a half too small. In samples of 2
    and 10 % of Adult the error is 1.2 times the true one, and its 95 % interval covers 97 to 99 %.

    Parameters
    ----------
    of_row : (n_rows,) array
        Equivalence class of each row.
    weight : (n_rows,) array
        Number of people that each row represents.
    stratum, cluster : (n_rows,) array, optional
        See `standard_error_of_total`.

    Returns
    -------
    float

    Examples
    --------
    >>> error = error_of_expected_reidentifications(np.array([0, 0, 1, 2]), np.full(4, 10.0))
    >>> round(error, 3)  # without a row of class 0 its risk rises; without class 1 or 2 theirs is gone
    0.4
    """
    clusters = _separate(cluster, len(of_row))
    row, first = _number_pairs(clusters, of_row)
    frequency, people = np.bincount(of_row)[of_row[first]], np.bincount(of_row, weight)[of_row[first]]
    without = frequency - np.bincount(row), people - np.bincount(row, weight)
    effect = _sum_risks(frequency, people) - _sum_risks(*without)
    strata = None if stratum is None else stratum[first]
    return standard_error_of_total(effect, stratum=strata, cluster=clusters[first])


def _separate(cluster: Integers | None, n_rows: int) -> Integers:
    """Return the cluster of each row; rows without one have a number of their own."""
    rows = np.arange(n_rows)
    return rows if cluster is None else np.where(cluster < 0, np.max(cluster, initial=0) + 1 + rows, cluster)


def _number_pairs(clusters: Integers, groups: NDArray[np.integer]) -> tuple[Integers, Integers]:
    """Return the number of the pair of cluster and group of each row, and the first row of each pair."""
    key = np.unique(clusters, return_inverse=True)[1] * (int(groups.max(initial=0)) + 1) + groups
    _, first, of_row = np.unique(key, return_index=True, return_inverse=True)
    return of_row, first


def _sum_risks(frequency: Integers, people: Floats) -> Floats:
    """Return the sum of the individual risks of the rows of each class; 0 for a class without rows."""
    has_rows = frequency > 0
    total = np.zeros(len(frequency))
    of_rows = frequency[has_rows]
    total[has_rows] = of_rows * sample_weight_risk(of_rows, np.maximum(people[has_rows], of_rows))
    return total
