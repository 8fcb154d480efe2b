"""Errors, curves and risk of every subject, from the table of a truth against an adversary's partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.tolerances import VALUE_TIE
from unmask.measures.clustering.contingency import Contingency
from unmask.measures.clustering.curves import MergeOrder, Steps, merge_order, mixture, overall_slope, slope, trace_steps
from unmask.measures.clustering.overlap import WeightedOverlap, as_fraction

Share = float | Fraction


@dataclass(frozen=True, eq=False)
class Unlinkability:
    """Unlinkability of each of S subjects, and of all that count.

    Parameters
    ----------
    subjects : (S,) array
        Labels, as in `Contingency`.
    size, pieces : (S,) array
        Items of a subject, and clusters that contain them (expected number, for a view).
    counted : (S,) array
        Whether the subject has `min_size` items and counts in overall results.
    miss, include : (S,) array
        Items of the subject missing from its most relevant cluster, and foreign ones in it.
    error : (S,) array
        alpha miss + (1 - alpha) include.
    linked_now : (S,) array
        Share of the subject's items in the first cluster of the merge order.
    foreign_share : (S,) array
        Share of foreign items in that cluster, i / (i + x).
    foreign_subjects : (S,) array
        Number of other subjects k of its foreign items; nan if an owner is not known.
    effective_foreign_subjects : (S,) array
        Number of subjects with equally many foreign items that would be as hard to tell apart: 2^H,
        H = -sum (f_s / f) log2(f_s / f) over the k subjects with f_s of the f foreign items. It is between 1 and k, and
        0 without foreign items. Items count, whatever their weight.
    merges : (S,) array
        Merges until the share beta is linked, 0 if breached; fractions are interpolated.
    mixed_at_threshold : (S,) array
        Share of all foreign items that is mixed in by then.
    risk_slope : (S,) array
        Risk slope, equation of section 3.2; `breached_slope` if breached.
    breached : (S,) array
        Whether beta is linked without a merge.
    miss_total, include_total : float
        Sums over subjects.
    kind : str
        "conservative" (more misses), "liberal" (more includes) or "neutral".
    normalized_error : float
        Mean over subjects of error / (n - 1); nan for one item.
    linked_curve, mixed_curve : (J,) array
        Curves of the average subject after 0, 1, ... J - 1 merges for each.
    slope_overall : float
        Risk slope of those averaged curves, which is not the mean of the slopes; nan if subjects have thresholds of
        their own. `overall_slope` gives it for other thresholds.
    breach_rate : float
        Share of subjects breached.
    n_items : int
        Number of items.
    steps : Steps
        Curves of every subject.
    """

    subjects: NDArray[Any]
    size: Integers
    pieces: Floats
    counted: Booleans
    miss: Floats
    include: Floats
    error: Floats
    linked_now: Floats
    foreign_share: Floats
    foreign_subjects: Floats
    effective_foreign_subjects: Floats
    merges: Floats
    mixed_at_threshold: Floats
    risk_slope: Floats
    breached: Booleans
    miss_total: float
    include_total: float
    kind: Literal["conservative", "liberal", "neutral"]
    normalized_error: float
    linked_curve: Floats
    mixed_curve: Floats
    slope_overall: float
    breach_rate: float
    n_items: int
    steps: Steps

    @property
    def clean_breach(self) -> Booleans:
        """Return whether a cluster without a foreign item breaches each subject, (S,).

        Breaches alone are not a success: an adversary who puts everything into one cluster breaches every subject.
        """
        return np.asarray(self.breached & (self.foreign_share <= 0))

    @property
    def errors(self) -> dict[str, Floats]:
        """Return the errors of each subject, equation by equation: e and e* = e / (n - 1); nan for one item."""
        n = self.n_items
        return {"combined_error": self.error, "normalized_error": self.error / (n - 1 if n > 1 else np.nan)}

    @property
    def clean_breach_rate(self) -> float:
        """Return the share of subjects with a clean breach."""
        return float(self.clean_breach[self.counted].mean())


def evaluate(
    counts: Contingency,
    *,
    alpha: Share = 0.5,
    beta: Share = 0.8,
    contamination_wanted: bool = False,
    min_size: int = 1,
    only: ArrayLike | None = None,
    breached_slope: float = 1.0,
) -> Unlinkability:
    """Evaluate how well each subject's items stay hidden in the adversary's partition, or in their view.

    Shares are fractions (1/3 is 1/3), costs are integers and ties exact. Clusters are merged by cost, then fewer
    foreign, then more shared items. With weights, shares are of the weight of a subject and of the rest. Errors and
    curves of a view are expectations over its partitions. Unknown items have no single value: see `bounds`.

    Parameters
    ----------
    counts : Contingency
        Counts of the truth and the guess. Parameters of its subjects replace alpha, beta and contamination_wanted.
    alpha : float
        Weight of misses and linking; 1 - alpha is that of includes and mixing. (The formulas of the paper; two
        sentences of its prose have it the other way round.)
    beta : float
        Share of a subject's items whose linking is a breach.
    contamination_wanted : bool
        Whether foreign items are welcome to the subject; reverses the mixed curve (b = 1).
    min_size : int
        Items that a subject needs to count in overall results (one item is always "linked").
    only : (S,) array, optional
        Mask of the subjects that count in overall results.
    breached_slope : float
        Slope if beta is linked without a merge, which the paper leaves open: the largest slope, or nan.

    Returns
    -------
    Unlinkability
        Results of each subject and overall.

    Raises
    ------
    UnmaskError
        If items are unknown, or if no subject counts.

    References
    ----------
    A. Pashalidis and S. Schiffner, "Evaluating adversarial partitions", 2010, section 3.

    Examples
    --------
    >>> from unmask.core.partition import Partition
    >>> counts = Contingency.of(Partition(["ann"] * 5 + ["bob"] * 2), Partition([0, 0, 0, 0, 1, 1, 1]))
    >>> result = evaluate(counts, beta=0.9)
    >>> result.subjects.tolist(), result.miss, result.include, result.merges
    (['ann', 'bob'], array([1., 0.]), array([0., 1.]), array([0.5, 0. ]))
    """
    if counts.unknown and any(table.n_unowned.any() for table in counts.tables):
        raise UnmaskError("unknown items leave no single value; see `bounds`, or choose foreign or drop")
    size = counts.tables[0].subject_size
    is_counted = _mask_counted(size, min_size, only)
    wanted = _mask_wanted(counts, contamination_wanted)
    weight = counts.own.get("alpha", as_fraction("alpha", alpha))
    own_beta = counts.own.get("beta")
    level = np.full(len(size), float(as_fraction("beta", beta))) if own_beta is None else _as_floats(own_beta)

    orders, steps = _trace_merges(counts, weight, wanted)
    miss = _expected(counts.probability, [order.miss for order in orders])
    include = _expected(counts.probability, [order.include for order in orders])
    a = np.full(len(size), float(weight)) if isinstance(weight, Fraction) else _as_floats(weight)
    error = a * miss + (1 - a) * include
    n, crossing = counts.tables[0].n, steps.cross(level)
    linked_curve, mixed_curve = steps.average(is_counted.astype(np.float64))
    foreign = [_describe_foreign(table, order) for table, order in zip(counts.weighed, orders, strict=True)]
    slope_overall = np.nan
    if own_beta is None:
        slope_overall = overall_slope(linked_curve, mixed_curve, float(a[is_counted].mean()), level[0], breached_slope)
    n_missed, n_included = float(miss[is_counted].sum()), float(include[is_counted].sum())
    return Unlinkability(
        subjects=counts.subjects,
        size=size,
        pieces=np.asarray(counts.probability @ np.array([t.pieces for t in counts.tables], dtype=np.float64)),
        counted=is_counted,
        miss=miss,
        include=include,
        error=error,
        linked_now=steps.linked[steps.start],
        **{name: _expected(counts.probability, [part[name] for part in foreign]) for name in foreign[0]},
        merges=crossing.merges,
        mixed_at_threshold=crossing.mixed,
        risk_slope=slope(crossing, a, breached_slope),
        breached=crossing.breached,
        miss_total=n_missed,
        include_total=n_included,
        kind=_name_kind(n_missed, n_included),
        normalized_error=float(error[is_counted].mean()) / (n - 1) if n > 1 else np.nan,
        linked_curve=linked_curve,
        mixed_curve=mixed_curve,
        slope_overall=slope_overall,
        breach_rate=float(crossing.breached[is_counted].mean()),
        n_items=n,
        steps=steps,
    )


def average_curves(
    counts: Contingency, *, alpha: Share, contamination_wanted: bool = False, min_size: int = 1
) -> tuple[Floats, Floats]:
    """Return `linked_curve` and `mixed_curve` of `evaluate`, with one alpha for all subjects.

    >>> from unmask.core.partition import Partition
    >>> counts = Contingency.of(Partition(["ann"] * 5 + ["bob"] * 2), Partition([0, 0, 0, 0, 1, 1, 1]))
    >>> average_curves(counts, alpha=0.5)
    (array([0.9, 1. ]), array([0.1, 0.6]))
    """
    wanted = _mask_wanted(counts, contamination_wanted)
    _, steps = _trace_merges(counts, as_fraction("alpha", alpha), wanted)
    is_counted = _mask_counted(counts.tables[0].subject_size, min_size, None)
    return steps.average(is_counted.astype(np.float64))


def _mask_wanted(counts: Contingency, contamination_wanted: bool) -> Booleans:
    """Return the subjects that want foreign items."""
    return np.asarray(counts.own.get("wanted", np.full(len(counts.subjects), contamination_wanted)))


def _trace_merges(
    counts: Contingency, alpha: Fraction | NDArray[np.object_], wanted: Booleans
) -> tuple[list[MergeOrder], Steps]:
    """Return the merge order in each partition, and the curves of all subjects, expected over the partitions."""
    orders = [merge_order(table, alpha) for table in counts.weighed]
    parts = [trace_steps(table, order, wanted) for table, order in zip(counts.weighed, orders, strict=True)]
    return orders, parts[0] if len(parts) == 1 else mixture(parts, counts.probability)


def _mask_counted(size: Integers, min_size: int, only: ArrayLike | None) -> Booleans:
    """Return the subjects that count in overall results."""
    if not min_size >= 1:
        raise UnmaskError(f"min_size is {min_size}, expected at least 1 item")
    mask = np.full(len(size), True) if only is None else np.asarray(only, dtype=bool)
    if mask.shape != size.shape:
        raise UnmaskError(f"there are {mask.size} truth values for {len(size)} subjects, expected as many")
    mask = (size >= min_size) & mask
    if not mask.any():
        raise UnmaskError(
            f"no subject that counts has at least {min_size} items; give a smaller min_size, or count others"
        )
    return np.asarray(mask)


def _name_kind(n_missed: float, n_included: float) -> Literal["conservative", "liberal", "neutral"]:
    if abs(n_missed - n_included) <= VALUE_TIE * max(n_missed, n_included, 1.0):
        return "neutral"
    return "conservative" if n_missed > n_included else "liberal"


def _expected(probability: Floats, values: list[Floats]) -> Floats:
    return np.asarray(values[0] if len(values) == 1 else probability @ np.stack(values))


def _describe_foreign(weighed: WeightedOverlap, order: MergeOrder) -> dict[str, Floats]:
    """Return share and subjects of the foreign items in the first cluster of each subject."""
    table = weighed.table
    cell = order.cell[table.indptr[:-1]]
    shared, foreign, cluster = weighed.shared[cell], weighed.foreign[cell], table.cluster[cell]
    items = table.cluster_size[cluster] - table.shared[cell]
    subjects = table.n_owners[cluster] - 1
    bits = table.sums_x_log_x[cluster] - table.x_log_x[cell]
    entropy = np.log2(np.maximum(items, 1)) - bits / np.maximum(items, 1)
    effective = np.where(items > 0, np.clip(2.0**entropy, 1.0, np.maximum(subjects, 1)), 0.0)
    has_owners = table.n_unowned[cluster] == 0
    return {
        "foreign_share": foreign / np.maximum(shared + foreign, 1),
        "foreign_subjects": np.where(has_owners, subjects, np.nan),
        "effective_foreign_subjects": np.where(has_owners, effective, np.nan),
    }


def _as_floats(values: NDArray[np.object_]) -> Floats:
    return np.array([float(value) for value in values])


@dataclass(frozen=True, eq=False)
class MergeList:
    """The clusters of one subject in the order in which an informed adversary merges them.

    Parameters
    ----------
    cluster : (L,) array
        Labels, or numbers if labels are not known.
    number : (L,) array
        Numbers, positions in `adversary.names`.
    shared, foreign : (L,) array
        Weight of the subject's items and of other items in the cluster.
    linked, mixed : (L,) array
        Shares linked and mixed in after the merge of the cluster.
    """

    cluster: NDArray[Any]
    number: NDArray[np.int32]
    shared: Floats
    foreign: Floats
    linked: Floats
    mixed: Floats


def merge_lists(counts: Contingency, subjects: Sequence[Any], *, alpha: Share = 0.5) -> list[MergeList]:
    """Return the merges, in order, that link the items of some subjects of one partition.

    Unknown items count as foreign.

    Parameters
    ----------
    counts : Contingency
        Counts of the truth and one partition.
    subjects : sequence
        Labels of the subjects.
    alpha : float
        See `evaluate`.

    Returns
    -------
    list of MergeList
        One list for each subject.

    Raises
    ------
    UnmaskError
        If the view has several partitions, or a subject is not in the truth.

    Examples
    --------
    >>> from unmask.core.partition import Partition
    >>> counts = Contingency.of(Partition(["ann"] * 3 + ["bob"] * 2), Partition(["p", "p", "q", "q", "q"]))
    >>> merge_lists(counts, ["ann"])[0].cluster.tolist()
    ['p', 'q']
    """
    if len(counts.weighed) > 1:
        raise UnmaskError(f"the view has {len(counts.weighed)} partitions, and each has merges of its own; give one")
    row = {label: i for i, label in enumerate(counts.subjects.tolist())}
    if any(subject not in row for subject in subjects):
        raise UnmaskError("the solution has no such subject; give a label of one of its clusters")
    (weighed,) = counts.weighed
    order = merge_order(weighed, as_fraction("alpha", alpha))
    steps = trace_steps(weighed, order, np.zeros(len(row), dtype=bool))
    names = counts.names[0] if counts.names else np.arange(len(weighed.table.cluster_size))
    merge_list = []
    for subject in subjects:
        part = slice(*weighed.table.indptr[row[subject] : row[subject] + 2])
        cell = order.cell[part]
        number = weighed.table.cluster[cell]
        shared, foreign = weighed.shared[cell] / weighed.unit, weighed.foreign[cell] / weighed.unit
        merge_list.append(MergeList(names[number], number, shared, foreign, steps.linked[part], steps.mixed[part]))
    return merge_list
