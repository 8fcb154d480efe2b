"""Errors, curves and risk of every subject at once, from the table of a solution against an adversary's partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.measures.unlinkability.contingency import Contingency
from unmask.measures.unlinkability.curves import MergeOrder, merge_order, mixture, overall_slope, slope, steps_of
from unmask.measures.unlinkability.weighing import Floats, Weighed, as_fraction

Alpha = float | Fraction


@dataclass(frozen=True, eq=False)
class Unlinkability:
    """How well every subject stays hidden. S subjects; A values of alpha and B of beta, whose axes a scalar leaves out.

    subjects           : (S,) their labels, as in `Contingency`
    size, pieces       : (S,) items of a subject, and clusters they are spread over (expected number, for a view)
    counted            : (S,) whether the subject has `min_size` items and takes part in what is overall
    miss, include      : (A, S) items of the subject missing from its most relevant cluster, and foreign ones in it
    error              : (A, S) alpha miss + (1 - alpha) include
    linked_now         : (A, S) share of the subject's items in the first cluster of the merge order
    foreign_share      : (A, S) share of foreign items in that cluster, i / (i + x)
    foreign_subjects   : (A, S) number of other subjects that its foreign items come from, k; nan where some of them are
                         in no row of the truth, so that nobody knows whose they are
    effective_foreign_subjects : (A, S) as many subjects with equally many foreign items would be as hard to tell apart:
                         2^H, H = -sum (f_s / f) log2(f_s / f) over the k subjects with f_s of the f foreign items; from
                         1 (nearly all are of one subject) to k (all have as many), 0 where there are none. Items count,
                         whatever they weigh
    merges           : (A, B, S) merges until the share beta is linked, 0 where breached; fractions are interpolated
    mixed_at_threshold : (A, B, S) share of all foreign items that is mixed in by then
    risk_slope         : (A, B, S) risk slope, equation of section 3.2; `breached_slope` where breached
    breached           : (A, B, S) whether beta is linked already
    miss_total, include_total : (A,) sums over subjects
    kind               : (A,) "conservative" (more misses), "liberal" (more includes) or "neutral"
    normalized_error   : (A,) mean over subjects of error / (n - 1); nan for one item
    linked_curve, mixed_curve : (A, J) the curves of the average subject after 0, 1, ... J - 1 merges for each
    slope_overall      : (A, B) risk slope of those averaged curves (not the mean of the slopes); nan where subjects
                         have thresholds of their own
    breach_rate        : (A, B) share of subjects breached
    """

    subjects: NDArray[Any]
    size: NDArray[np.int64]
    pieces: Floats
    counted: NDArray[np.bool_]
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
    breached: NDArray[np.bool_]
    miss_total: Floats
    include_total: Floats
    kind: NDArray[np.str_]
    normalized_error: Floats
    linked_curve: Floats
    mixed_curve: Floats
    slope_overall: Floats
    breach_rate: Floats

    @property
    def clean_breach(self) -> NDArray[np.bool_]:
        """(A, B, S) whether a subject is breached by a cluster without a foreign item.

        Breaches alone are no success: an adversary who puts everything into one cluster breaches everybody.
        """
        clean = self.foreign_share <= 0
        return np.asarray(self.breached & (clean if self.breached.ndim == clean.ndim else np.expand_dims(clean, -2)))

    @property
    def clean_breach_rate(self) -> Floats:
        """(A, B) share of subjects of whom this is true."""
        return np.asarray(self.clean_breach[..., self.counted].mean(axis=-1))


def evaluate(
    met: Contingency,
    *,
    alpha: Alpha | Sequence[Alpha] | Floats = 0.5,
    beta: Alpha | Sequence[Alpha] | Floats = 0.8,
    contamination_wanted: bool = False,
    min_size: int = 1,
    only: ArrayLike | None = None,
    breached_slope: float = 1.0,
) -> Unlinkability:
    """How well each subject's items stay hidden in the adversary's partition, or in their view over partitions.

    alpha                : weight of misses and linking, 1 - alpha that of includes and mixing. (The formulas of the
                           paper say so; two sentences of its prose have it the other way round.)
    beta                 : share of a subject's items whose linking is a breach
    contamination_wanted : whether foreign items are welcome to the subject; turns the mixed curve round (b = 1)
    min_size, only       : subjects with fewer items are left out of what is overall (one item is always "linked"), and
                           so are those that are not among `only`, (S,) truth values
    breached_slope       : slope where beta is linked at once, which the paper leaves open: the largest there is, or nan

    What subjects mind of their own goes before alpha, beta and contamination_wanted. Shares are taken as fractions (1/3
    is 1/3), costs are integers and ties exact. Clusters are merged by cost, then fewer foreign, then more own items.
    With weights, shares are of the weight of a subject and of the rest. A view's errors and curves are expectations
    over its partitions. Items that are unknown leave no single value: see `bounds`.

    A. Pashalidis and S. Schiffner, "Evaluating adversarial partitions", 2010, section 3.

    >>> from unmask.core.partition import Partition
    >>> met = Contingency.of(Partition(["ann"] * 5 + ["bob"] * 2), Partition([0, 0, 0, 0, 1, 1, 1]))
    >>> found = evaluate(met, beta=0.9)
    >>> found.subjects.tolist(), found.miss, found.include, found.merges
    (['ann', 'bob'], array([1., 0.]), array([0., 1.]), array([0.5, 0. ]))
    """
    if met.unknown and any(table.nobodys.any() for table in met.tables):
        raise UnmaskError("unknown items leave no single value; see `bounds`, or choose foreign or drop")
    size = met.tables[0].subject_size
    keep = _counted(size, min_size, only)
    wanted = met.own.get("wanted", np.full(len(size), contamination_wanted))
    own_beta = met.own.get("beta")
    levels = [np.full(len(size), float(b)) for b in _shares("beta", beta)] if own_beta is None else [_float(own_beta)]
    found = [
        _at_alpha(met, met.own.get("alpha", a), levels, wanted, keep, breached_slope) for a in _shares("alpha", alpha)
    ]
    result = {name: _stacked([one[name] for one in found]) for name in found[0]}
    return Unlinkability(
        subjects=met.subjects,
        size=size,
        pieces=np.asarray(met.probability @ np.array([t.pieces for t in met.tables], dtype=np.float64)),
        counted=keep,
        **_squeezed(result, scalar_alpha=np.ndim(cast(Any, alpha)) == 0, scalar_beta=np.ndim(cast(Any, beta)) == 0),
    )


def _counted(size: NDArray[np.int64], min_size: int, only: ArrayLike | None) -> NDArray[np.bool_]:
    """(S,) the subjects that take part in what is overall."""
    if not min_size >= 1:
        raise UnmaskError(f"min_size is {min_size}, expected at least 1 item")
    among = np.full(len(size), True) if only is None else np.asarray(only, dtype=bool)
    if among.shape != size.shape:
        raise UnmaskError(f"there are {among.size} truth values for {len(size)} subjects, expected as many")
    keep = (size >= min_size) & among
    if not keep.any():
        raise UnmaskError(
            f"no subject that counts has at least {min_size} items; give a smaller min_size, or count others"
        )
    return np.asarray(keep)


def _at_alpha(
    met: Contingency,
    alpha: Fraction | NDArray[np.object_],
    levels: list[Floats],
    wanted: NDArray[np.bool_],
    keep: NDArray[np.bool_],
    breached_slope: float,
) -> dict[str, Any]:
    """Everything at one alpha, or at the subjects' own: values (S,), (B, S), scalars and (B,)."""
    orders = [merge_order(table, alpha) for table in met.weighed]
    parts = [steps_of(table, order, wanted) for table, order in zip(met.weighed, orders, strict=True)]
    steps = parts[0] if len(parts) == 1 else mixture(parts, met.probability)
    miss = _expected(met.probability, [order.miss for order in orders])
    include = _expected(met.probability, [order.include for order in orders])
    a = np.full(len(miss), float(alpha)) if isinstance(alpha, Fraction) else _float(alpha)
    error = a * miss + (1 - a) * include
    n = met.tables[0].n
    reached = [steps.at(level) for level in levels]
    curves = steps.average(keep.astype(np.float64))
    strangers = [_strangers(table, order) for table, order in zip(met.weighed, orders, strict=True)]
    mean = float(a[keep].mean())
    m, i = float(miss[keep].sum()), float(include[keep].sum())
    even = abs(m - i) <= 1e-9 * max(m, i, 1.0)
    return {
        "miss": miss,
        "include": include,
        "error": error,
        "linked_now": steps.linked[steps.start],
        **{name: _expected(met.probability, [one[name] for one in strangers]) for name in strangers[0]},
        "merges": [one.merges for one in reached],
        "mixed_at_threshold": [one.mixed for one in reached],
        "risk_slope": [slope(one, a, breached_slope) for one in reached],
        "breached": [one.breached for one in reached],
        "miss_total": m,
        "include_total": i,
        "kind": "neutral" if even else "conservative" if m > i else "liberal",
        "normalized_error": float(error[keep].mean()) / (n - 1) if n > 1 else np.nan,
        "linked_curve": curves[0],
        "mixed_curve": curves[1],
        "slope_overall": np.array(
            [np.nan if "beta" in met.own else overall_slope(*curves, mean, b[0], breached_slope) for b in levels]
        ),
        "breach_rate": np.array([one.breached[keep].mean() for one in reached]),
    }


def _stacked(values: list[Any]) -> NDArray[Any]:
    """(A, ...) or, of lists of arrays, (A, B, ...), copied once."""
    if isinstance(values[0], list):
        flat = np.concatenate([array for row in values for array in row])
        return flat.reshape(len(values), len(values[0]), -1)
    return np.stack(values)


def _expected(probability: Floats, values: list[Floats]) -> Floats:
    return np.asarray(values[0] if len(values) == 1 else probability @ np.stack(values))


def _strangers(weighed: Weighed, order: MergeOrder) -> dict[str, Floats]:
    """(S,) of the foreign items in the first cluster of each subject: their share, and the subjects they come from."""
    table = weighed.table
    cell = order.cell[table.indptr[:-1]]
    own, foreign, at = weighed.own[cell], weighed.foreign[cell], table.cluster[cell]
    items = table.cluster_size[at] - table.own[cell]
    subjects = table.owners[at] - 1
    bits = table.sums_x_log_x[at] - table.x_log_x[cell]
    entropy = np.log2(np.maximum(items, 1)) - bits / np.maximum(items, 1)
    evenly = np.where(items > 0, np.clip(2.0**entropy, 1.0, np.maximum(subjects, 1)), 0.0)
    known = table.nobodys[at] == 0
    return {
        "foreign_share": foreign / np.maximum(own + foreign, 1),
        "foreign_subjects": np.where(known, subjects, np.nan),
        "effective_foreign_subjects": np.where(known, evenly, np.nan),
    }


def _shares(name: str, value: Any) -> list[Fraction]:
    """One share or several, as fractions."""
    values = [value] if np.ndim(value) == 0 else list(value)
    if not values or np.ndim(value) > 1:
        raise UnmaskError(f"{name} has shape {np.shape(value)}, expected one number or a list of at least 1")
    return [as_fraction(name, share) for share in values]


def _float(values: NDArray[np.object_]) -> Floats:
    return np.array([float(value) for value in values])


def _squeezed(result: dict[str, Any], *, scalar_alpha: bool, scalar_beta: bool) -> dict[str, Any]:
    """Leave out the axes of what was given as one number."""
    by_beta = ("merges", "mixed_at_threshold", "risk_slope", "breached", "slope_overall", "breach_rate")
    found = {name: value[:, 0] if scalar_beta and name in by_beta else value for name, value in result.items()}
    return {name: value[0] for name, value in found.items()} if scalar_alpha else found


@dataclass(frozen=True, eq=False)
class MergeList:
    """The clusters of one subject in the order in which an informed adversary merges them.

    cluster         : (L,) their labels, or their numbers where labels are not known
    number          : (L,) their numbers, places in `adversary.names`
    own, foreign    : (L,) weight of the subject's items and of others in it
    linked, mixed   : (L,) shares once it is part of the whole
    """

    cluster: NDArray[Any]
    number: NDArray[np.int32]
    own: Floats
    foreign: Floats
    linked: Floats
    mixed: Floats


def merge_lists(met: Contingency, subjects: Sequence[Any], *, alpha: Alpha = 0.5) -> list[MergeList]:
    """What to merge, in order, to link the items of each of these subjects of one partition; see `evaluate`. Unknown
    items are shown as foreign.

    >>> from unmask.core.partition import Partition
    >>> met = Contingency.of(Partition(["ann"] * 3 + ["bob"] * 2), Partition(["p", "p", "q", "q", "q"]))
    >>> merge_lists(met, ["ann"])[0].cluster.tolist()
    ['p', 'q']
    """
    if len(met.weighed) > 1:
        raise UnmaskError(f"the view has {len(met.weighed)} partitions, and each has merges of its own; give one")
    place = {label: i for i, label in enumerate(met.subjects.tolist())}
    if any(subject not in place for subject in subjects):
        raise UnmaskError("the solution has no such subject; give a label of one of its clusters")
    (weighed,) = met.weighed
    order = merge_order(weighed, as_fraction("alpha", alpha))
    steps = steps_of(weighed, order, np.zeros(len(place), dtype=bool))
    names = met.names[0] if met.names else np.arange(len(weighed.table.cluster_size))
    found = []
    for subject in subjects:
        part = slice(*weighed.table.indptr[place[subject] : place[subject] + 2])
        cell = order.cell[part]
        number = weighed.table.cluster[cell]
        own, foreign = weighed.own[cell] / weighed.unit, weighed.foreign[cell] / weighed.unit
        found.append(MergeList(names[number], number, own, foreign, steps.linked[part], steps.mixed[part]))
    return found
