"""Errors, curves and risk of every subject at once, from the table of a solution against an adversary's partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import UnmaskError
from unmask.measures.unlinkability.contingency import Contingency
from unmask.measures.unlinkability.curves import (
    BreachedSlope,
    Merging,
    Mixed,
    Norm,
    Shares,
    merging,
    mixture,
    overall_slope,
    slope,
)
from unmask.measures.unlinkability.weighing import Floats, Override, Weighed, as_fraction
from unmask.view import Missing, Partition, Unlabeled, View

Alpha = float | Fraction


@dataclass(frozen=True, eq=False)
class Unlinkability:
    """How well every subject stays hidden. S subjects; A values of alpha and B of beta, whose axes a scalar leaves out.

    subjects           : (S,) their labels, as in `solution.names`
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
    mergings           : (A, B, S) mergings until the share beta is linked, 0 where breached; fractions are interpolated
    mixed_at_threshold : (A, B, S) share mixed in by then, see `mixed` of `evaluate`
    slope              : (A, B, S) risk slope, equation of section 3.2; nan where breached unless another convention
                         was asked for
    breached           : (A, B, S) whether beta is linked already
    miss_total, include_total : (A,) sums over subjects
    kind               : (A,) "conservative" (more misses), "liberal" (more includes) or "neutral"
    normalized_error   : (A,) mean over subjects of error / (n - 1); nan for one item
    linked_curve, mixed_curve : (A, J) the curves of the average subject after 0, 1, ... J - 1 mergings for each
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
    mergings: Floats
    mixed_at_threshold: Floats
    slope: Floats
    breached: NDArray[np.bool_]
    miss_total: Floats
    include_total: Floats
    kind: NDArray[np.str_]
    normalized_error: Floats
    linked_curve: Floats
    mixed_curve: Floats
    slope_overall: Floats
    breach_rate: Floats

    def clean_breach_rate(self, most_foreign: float = 0.0) -> Floats:
        """(A, B) share of subjects breached by a cluster with at most this share of foreign items.

        Breaches alone are no success: an adversary who puts everything into one cluster breaches everybody.
        """
        clean = self.foreign_share <= most_foreign
        if self.breached.ndim > clean.ndim:
            clean = np.expand_dims(clean, -2)
        return np.asarray((self.breached & clean)[..., self.counted].mean(axis=-1))


def evaluate(
    solution: Partition,
    adversary: Partition | View,
    *,
    alpha: Alpha | Sequence[Alpha] | Floats = 0.5,
    beta: Alpha | Sequence[Alpha] | Floats = 0.8,
    contamination_wanted: bool = False,
    weights: ArrayLike | None = None,
    overrides: Sequence[Override] = (),
    norm: Norm = "weight",
    mixed: Mixed = "rest",
    floor_free: bool = False,
    min_size: int = 1,
    only: ArrayLike | None = None,
    breached_slope: BreachedSlope | None = None,
    subject_alpha: ArrayLike | None = None,
    subject_beta: ArrayLike | None = None,
    subject_contamination_wanted: ArrayLike | None = None,
    missing: Missing = "error",
    unlabeled: Unlabeled = "error",
) -> Unlinkability:
    """How well each subject's items stay hidden in the adversary's partition, or in their view over partitions.

    alpha                : weight of misses and linking, 1 - alpha that of includes and mixing. (The formulas of the
                           paper say so; two sentences of its prose have it the other way round.)
    beta                 : share of a subject's items whose linking is a breach
    contamination_wanted : whether foreign items are welcome to the subject; turns the mixed curve round (b = 1)
    weights, overrides   : (n,) sensitivity of each item in [0, 1], and exceptions (subject, item, weight)
    norm                 : with weights, shares are of the "weight" of a subject and of the rest, or of their "count"
                           as the paper has it literally
    mixed                : foreign items as share of all foreign items ("rest", the paper's, which vanishes in large
                           sets), or of the merged cluster ("share")
    floor_free           : linked as (x - 1) / (c - 1): an adversary who links nothing has linked nothing
    min_size, only       : subjects with fewer items are left out of what is overall (one item is always "linked"), and
                           so are those that are not among `only`, (S,) truth values
    breached_slope       : slope where beta is linked at once: "nan"; "one"; "limit", the limit of a threshold just
                           above. None: nan for subjects, one for the overall curve
    subject_...          : (S,) for each subject its own alpha, beta, or whether contamination is wanted
    missing              : what an item of the solution is that the adversary lacks: an "error", a cluster of its own
                           ("singleton"), or left out ("drop")
    unlabeled            : what an item of the adversary is that the solution lacks: an "error", "foreign" to every
                           subject, or left out ("drop"); what "unknown" ones leave open is the matter of `bounds`

    Shares are taken as fractions (1/3 is 1/3), costs are integers and ties exact. Clusters are merged by cost, then
    fewer foreign, then more own items. A view's errors and curves are expectations over its partitions.

    A. Pashalidis and S. Schiffner, "Evaluating adversarial partitions", 2010, section 3.

    >>> truth = Partition(["ann"] * 5 + ["bob"] * 2)
    >>> guess = Partition([0, 0, 0, 0, 1, 1, 1])
    >>> found = evaluate(truth, guess, beta=0.9)
    >>> found.miss, found.include, found.mergings
    (array([1., 0.]), array([0., 1.]), array([0.5, 0. ]))
    """
    own = {"alpha": subject_alpha, "beta": subject_beta, "wanted": subject_contamination_wanted}
    met = Contingency.of(
        solution,
        adversary,
        missing=missing,
        unlabeled=_decided(unlabeled),
        weights=weights,
        overrides=overrides,
        own=own_values(own, solution.n_clusters),
    )
    found = evaluate_contingency(
        met,
        alpha=alpha,
        beta=beta,
        contamination_wanted=contamination_wanted,
        norm=norm,
        mixed=mixed,
        floor_free=floor_free,
        min_size=min_size,
        only=None if only is None else _own_flags(only, solution.n_clusters)[met.subjects],
        breached_slope=breached_slope,
    )
    return replace(found, subjects=solution.names[met.subjects])


def evaluate_contingency(
    met: Contingency,
    *,
    alpha: Alpha | Sequence[Alpha] | Floats = 0.5,
    beta: Alpha | Sequence[Alpha] | Floats = 0.8,
    contamination_wanted: bool = False,
    norm: Norm = "weight",
    mixed: Mixed = "rest",
    floor_free: bool = False,
    min_size: int = 1,
    only: ArrayLike | None = None,
    breached_slope: BreachedSlope | None = None,
) -> Unlinkability:
    """The same from counts, without the items; subjects go by their number in the truth. See `evaluate`.

    only : (S,) of the rows

    >>> met = Contingency.of(Partition(["ann"] * 5 + ["bob"] * 2), Partition([0, 0, 0, 0, 1, 1, 1]))
    >>> evaluate_contingency(met, beta=0.9).mergings
    array([0.5, 0. ])
    """
    _check_choices(norm, mixed, breached_slope)
    tables = list(met.weighed)
    size = tables[0].table.subject_size
    if floor_free and any(table.unit != 1 or table.own is not table.table.own for table in tables):
        raise UnmaskError("the floor-free curve counts items, and weights were given; leave one of them out")
    shares = Shares(norm, mixed, floor_free, met.own.get("wanted", np.full(len(size), contamination_wanted)))
    keep = _kept(size, 2 if floor_free else 1, min_size=min_size, only=only)
    own_alphas, own_betas = met.own.get("alpha"), met.own.get("beta")
    betas = _shares("beta", beta)
    levels = [np.full(len(keep), float(b)) for b in betas] if own_betas is None else [_as_float(own_betas)]
    found = [
        _at_alpha(
            tables,
            met.probability,
            a if own_alphas is None else own_alphas,
            levels,
            shares,
            keep,
            breached_slope,
            one_threshold=own_betas is None,
        )
        for a in _shares("alpha", alpha)
    ]
    result = {name: _stacked([one[name] for one in found]) for name in found[0]}
    return Unlinkability(
        subjects=met.subjects,
        size=size,
        pieces=np.asarray(met.probability @ np.array([t.table.pieces for t in tables], dtype=np.float64)),
        counted=keep,
        **_squeezed(result, scalar_alpha=np.ndim(cast(Any, alpha)) == 0, scalar_beta=np.ndim(cast(Any, beta)) == 0),
    )


def _kept(size: NDArray[np.int64], least: int, *, min_size: int, only: ArrayLike | None) -> NDArray[np.bool_]:
    """(S,) the subjects that take part in what is overall."""
    if not min_size >= 1:
        raise UnmaskError(f"min_size is {min_size}, expected at least 1 item")
    keep = (size >= max(min_size, least)) & (True if only is None else _own_flags(only, len(size)))
    if not keep.any():
        raise UnmaskError(
            f"no subject that counts has at least {min_size} items (2 for the floor-free curve); give a smaller "
            "min_size, or count others"
        )
    return keep


def _check_choices(norm: Norm, mixed: Mixed, breached_slope: BreachedSlope | None) -> None:
    slopes = breached_slope or "nan"
    choices: tuple[tuple[str, str, Any], ...] = (
        ("norm", norm, Norm),
        ("mixed", mixed, Mixed),
        ("breached_slope", slopes, BreachedSlope),
    )
    for name, value, known in choices:
        if value not in get_args(known):
            raise UnmaskError(f"{name} is {value!r}, expected one of {', '.join(get_args(known))}")


def _decided(unlabeled: Unlabeled) -> Unlabeled:
    """Unknown items have no single value."""
    if unlabeled == "unknown":
        raise UnmaskError("unknown items leave no single value; see `bounds`, or choose foreign or drop")
    return unlabeled


def _at_alpha(
    tables: list[Weighed],
    probability: Floats,
    alpha: Fraction | NDArray[np.object_],
    levels: list[Floats],
    shares: Shares,
    keep: NDArray[np.bool_],
    breached_slope: BreachedSlope | None,
    *,
    one_threshold: bool,
) -> dict[str, Any]:
    """Everything at one alpha, or at the subjects' own: values (S,), (B, S), scalars and (B,)."""
    orders = [merging(table, alpha) for table in tables]
    parts = [shares.steps(table, order) for table, order in zip(tables, orders, strict=True)]
    steps = parts[0] if len(parts) == 1 else mixture(parts, probability)
    miss = _expected(probability, [order.miss for order in orders])
    include = _expected(probability, [order.include for order in orders])
    a = np.full(len(miss), float(alpha)) if isinstance(alpha, Fraction) else _as_float(alpha)
    error = a * miss + (1 - a) * include
    n = tables[0].table.n
    reached = [steps.at(level) for level in levels]
    curves = steps.average(keep.astype(np.float64))
    strangers = [_strangers(table, order) for table, order in zip(tables, orders, strict=True)]
    slopes = [
        overall_slope(*curves, float(a[keep].mean()), level[0], breached_slope or "one") if one_threshold else np.nan
        for level in levels
    ]
    m, i = float(miss[keep].sum()), float(include[keep].sum())
    even = abs(m - i) <= 1e-9 * max(m, i, 1.0)
    return {
        "miss": miss,
        "include": include,
        "error": error,
        "linked_now": steps.linked[steps.start],
        **{name: _expected(probability, [one[name] for one in strangers]) for name in strangers[0]},
        "mergings": [one.mergings for one in reached],
        "mixed_at_threshold": [one.mixed for one in reached],
        "slope": [slope(steps, one, a, breached_slope or "nan") for one in reached],
        "breached": [one.breached for one in reached],
        "miss_total": m,
        "include_total": i,
        "kind": "neutral" if even else "conservative" if m > i else "liberal",
        "normalized_error": float(error[keep].mean()) / (n - 1) if n > 1 else np.nan,
        "linked_curve": curves[0],
        "mixed_curve": curves[1],
        "slope_overall": np.array(slopes),
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


def _strangers(weighed: Weighed, order: Merging) -> dict[str, Floats]:
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


def own_values(given: Mapping[str, ArrayLike | None], n: int) -> dict[str, NDArray[Any]]:
    """What each subject minds, checked; what is None is the same for all and left out."""
    there = {name: values for name, values in given.items() if values is not None}
    return {
        name: _own_flags(values, n) if name == "wanted" else _own_shares(name, values, n)
        for name, values in there.items()
    }


def _own_shares(name: str, values: ArrayLike, n: int) -> NDArray[np.object_]:
    shares = list(cast(Any, values))
    if len(shares) != n:
        raise UnmaskError(f"there are {len(shares)} values of {name} for {n} subjects, expected as many")
    out = np.empty(len(shares), dtype=object)
    out[:] = [as_fraction(name, share) for share in shares]
    return out


def _own_flags(values: ArrayLike, n: int) -> NDArray[np.bool_]:
    flags = np.asarray(values, dtype=bool)
    if flags.shape != (n,):
        raise UnmaskError(f"there are {flags.size} truth values for {n} subjects, expected as many")
    return flags


def _as_float(values: NDArray[np.object_]) -> Floats:
    return np.array([float(value) for value in values])


def _squeezed(result: dict[str, Any], *, scalar_alpha: bool, scalar_beta: bool) -> dict[str, Any]:
    """Leave out the axes of what was given as one number."""
    by_beta = ("mergings", "mixed_at_threshold", "slope", "breached", "slope_overall", "breach_rate")
    found = {name: value[:, 0] if scalar_beta and name in by_beta else value for name, value in result.items()}
    return {name: value[0] for name, value in found.items()} if scalar_alpha else found
