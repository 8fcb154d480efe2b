"""An oracle for unlinkability: the paper's algorithms on sets of items, in exact fractions, as plainly as possible.

A. Pashalidis, S. Schiffner, "Evaluating Adversarial Partitions", sections 3.1 to 3.4. Nothing here comes from the
package under test, and nothing here is clever. alpha weighs what the adversary missed and how fast he links, 1 - alpha
what he included and how much he mixes, as in the paper's formulas.

One subject C (a set of items) against one adversarial partition Q (a dictionary from label to set of items). `see` is
how the subject sees the items, a dictionary from item to weight (a Fraction; all 1 where weights play no part):

    clusters(labels) -> Q                                    sets of positions, labels ascending
    miss(C, D, see), include(C, D, see)                      weight of C minus D, of D minus C
    cost(C, D, alpha, see)                                   alpha miss + (1 - alpha) include, the inverse priority
    related(C, Q)                                            labels of the clusters that share an item with C
    most_relevant(C, Q, alpha, see)                          those of least cost
    errors(C, Q, alpha, see) -> miss, include                averages over the most relevant
    merge_order(C, Q, alpha, see)                            labels by cost, fewer foreign, more own, label
    curves(C, Q, alpha, see, ...) -> linked, mixed           one point for every j = 0 .. len(related) - 1
    threshold(linked, mixed, beta) -> None | (x, y_mixed)    None if beta <= linked[0]
    slope(linked, mixed, alpha, beta, breached) -> float     in [0, 1], or nan; breached is "nan", "one" or "limit"

A whole partition or view:

    evaluate(solution, view, *, alpha, beta, contamination_wanted, weights, overrides, norm, mixed, floor_free,
             min_size, breached, breached_overall, subject_alpha, subject_beta, subject_contamination_wanted) -> Result

`solution` is a list of labels, `view` a list of (list of labels, probability); a single partition is [(labels, 1)].

    differences(found, expected, a, b) -> list of names      what differs by more than 1e-9 in another implementation's
                                                             result, at place a of its alphas and b of its betas

For benchmarks, the paper's own algorithms in floating point, O(n^2) for a subject and O(n^3) for all:

    plain(solution, adversary, alpha, beta) -> miss, include, normalized error, slopes of the subjects, overall slope
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Items = frozenset[int]
Clusters = dict[Any, Items]
See = Mapping[int, Fraction]
Curve = list[Fraction]

SIMPLE = 10**6
"""A parameter given as a float means the simplest fraction with a denominator up to this: 0.1 means 1/10."""


def exact(value: float | Fraction) -> Fraction:
    """The fraction that a float stands for: 1/3 for 0.3333333333333333, 1/10 for 0.1."""
    return value if isinstance(value, Fraction) else Fraction(value).limit_denominator(SIMPLE)


def clusters(labels: Sequence[Hashable]) -> Clusters:
    """The set of positions of each label, labels ascending."""
    return {name: frozenset(at for at, label in enumerate(labels) if label == name) for name in sorted(set(labels))}


# --- primary errors of one subject -----------------------------------------------------------------------


def weight(items: Items, see: See) -> Fraction:
    """The weight of a set of items."""
    return sum((see[item] for item in items), Fraction(0))


def miss(C: Items, D: Items, see: See) -> Fraction:
    """m(C, D): what the adversary fails to include when he takes D for C."""
    return weight(C - D, see)


def include(C: Items, D: Items, see: See) -> Fraction:
    """i(C, D): what he includes and should not."""
    return weight(D - C, see)


def cost(C: Items, D: Items, alpha: Fraction, see: See) -> Fraction:
    """The inverse of the paper's priority; 0 stands for infinite priority."""
    return alpha * miss(C, D, see) + (1 - alpha) * include(C, D, see)


def related(C: Items, Q: Clusters) -> list[Any]:
    """L(C, Q): the clusters with at least one item of C, whatever the items weigh."""
    return [label for label, D in Q.items() if len(C & D) >= 1]


def most_relevant(C: Items, Q: Clusters, alpha: Fraction, see: See) -> list[Any]:
    """R(C, Q): the related clusters of least cost, all of them."""
    least = min(cost(C, Q[label], alpha, see) for label in related(C, Q))
    return [label for label in related(C, Q) if cost(C, Q[label], alpha, see) == least]


def errors(C: Items, Q: Clusters, alpha: Fraction, see: See) -> tuple[Fraction, Fraction]:
    """m(C, Q, alpha) and i(C, Q, alpha): plain averages over the most relevant clusters."""
    best = most_relevant(C, Q, alpha, see)
    m = sum((miss(C, Q[label], see) for label in best), Fraction(0)) / len(best)
    i = sum((include(C, Q[label], see) for label in best), Fraction(0)) / len(best)
    return m, i


# --- curves, thresholds and slopes of one subject --------------------------------------------------------


def merge_order(C: Items, Q: Clusters, alpha: Fraction, see: See) -> list[Any]:
    """The related clusters in the order in which they are merged."""

    def key(label: Any) -> tuple[Fraction, Fraction, Fraction, Any]:
        D = Q[label]
        return cost(C, D, alpha, see), include(C, D, see), -weight(C & D, see), label

    return sorted(related(C, Q), key=key)


def curves(
    C: Items,
    Q: Clusters,
    alpha: Fraction,
    see: See,
    *,
    wanted: bool = False,
    norm: str = "weight",
    mixed: str = "rest",
    floor_free: bool = False,
) -> tuple[Curve, Curve]:
    """PlotForCluster: the linked and the mixed graph after 0, 1, ... merges.

    norm       : what linked and mixed are divided by: "weight" of the subject and of the rest, or their "count"
    mixed      : "rest", foreign items among all foreign ones; "share", foreign items among those merged
    floor_free : linked is (own - 1) / (c - 1), 1 for a subject of one item; counts, not weights
    """
    everything = frozenset(see)
    X: Items = frozenset()
    linked, mixture = [], []
    for label in merge_order(C, Q, alpha, see):
        X = X | Q[label]
        linked.append(_linked(C, X, see, norm, floor_free))
        y = _mixed(C, X, everything, see, norm, mixed)
        mixture.append(1 - y if wanted else y)
    return linked, mixture


def _linked(C: Items, X: Items, see: See, norm: str, floor_free: bool) -> Fraction:
    if floor_free:
        return Fraction(len(C & X) - 1, len(C) - 1) if len(C) > 1 else Fraction(1)
    if norm == "count":
        return 1 - miss(C, X, see) / len(C)
    return weight(C & X, see) / weight(C, see) if weight(C, see) else Fraction(1)


def _mixed(C: Items, X: Items, everything: Items, see: See, norm: str, mixed: str) -> Fraction:
    foreign = include(C, X, see)
    if mixed == "share":
        return foreign / weight(X, see) if weight(X, see) else Fraction(0)
    rest = Fraction(len(everything - C)) if norm == "count" else weight(everything - C, see)
    return foreign / rest if rest else Fraction(0)


def threshold(linked: Curve, mixed: Curve, beta: Fraction) -> tuple[Fraction, Fraction] | None:
    """Where the linked graph, straight between its points, reaches beta, and how high the mixed graph is there."""
    if beta <= linked[0]:
        return None
    for j in range(1, len(linked)):
        if linked[j] >= beta:
            part = (beta - linked[j - 1]) / (linked[j] - linked[j - 1])
            return j - 1 + part, mixed[j - 1] + part * (mixed[j] - mixed[j - 1])
    raise AssertionError("a linked graph ends at 1")


def slope(linked: Curve, mixed: Curve, alpha: Fraction, beta: Fraction, breached: str = "nan") -> float:
    """The risk slope; where beta is reached without a merge: nan, 1, or the limit for beta falling to linked[0]."""
    at = threshold(linked, mixed, beta)
    if at is not None:
        x, y = at
        return 2 / math.pi * (float(alpha) * math.atan(beta / x) + float(1 - alpha) * math.atan(y / x))
    if breached == "nan":
        return math.nan
    if breached == "one":
        return 1.0
    if mixed[0] > 0:
        return 1.0
    first = mixed[1] - mixed[0] if len(mixed) > 1 else Fraction(0)
    return float(alpha) + float(1 - alpha) * 2 / math.pi * math.atan(first)


def extended(curve: Curve, length: int) -> Curve:
    """A curve that stays at its last value."""
    return curve + [curve[-1]] * (length - len(curve))


def averaged(all_curves: Sequence[Curve], shares: Sequence[Fraction]) -> Curve:
    """The weighted average of curves, each staying at its last value, as long as the longest."""
    length = max(len(curve) for curve in all_curves)
    long = [extended(curve, length) for curve in all_curves]
    return [sum((s * c[j] for s, c in zip(shares, long, strict=True)), Fraction(0)) for j in range(length)]


# --- a whole partition or view ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """What one subject experiences; curves are expectations over the view."""

    name: Any
    size: int
    alpha: Fraction
    beta: Fraction
    miss: Fraction
    include: Fraction
    error: Fraction
    linked: Curve
    mixed: Curve
    pieces: Fraction
    foreign_share: Fraction
    foreign_subjects: Fraction
    effective_foreign_subjects: float
    breached: bool
    merges: Fraction | None
    mixed_at_threshold: Fraction | None
    risk_slope: float
    merge_order: tuple[list[Any], ...]
    """One for each partition of the view."""


@dataclass(frozen=True)
class Result:
    """All subjects in the order of their labels, and the whole. The whole is over subjects of at least `min_size`."""

    subjects: list[Subject]
    counted: list[int]
    miss_total: Fraction
    include_total: Fraction
    normalized_error: float
    linked_curve: Curve
    mixed_curve: Curve
    merges_overall: Fraction | None
    slope_overall: float
    breach_rate: Fraction
    kind: str


def evaluate(
    solution: Sequence[Any],
    view: Sequence[tuple[Sequence[Any], float | Fraction]],
    *,
    alpha: float | Fraction = Fraction(1, 2),
    beta: float | Fraction = Fraction(4, 5),
    contamination_wanted: bool = False,
    weights: Sequence[float | Fraction] | None = None,
    overrides: Sequence[tuple[Any, int, float | Fraction]] = (),
    norm: str = "weight",
    mixed: str = "rest",
    floor_free: bool = False,
    min_size: int = 1,
    breached: str = "nan",
    breached_overall: str = "one",
    subject_alpha: Mapping[Any, float | Fraction] | None = None,
    subject_beta: Mapping[Any, float | Fraction] | None = None,
    subject_contamination_wanted: Mapping[Any, bool] | None = None,
) -> Result:
    """Sections 3.1 to 3.4; an override is (subject's label, position of the item, weight in that subject's eyes).

    With alphas of their own the overall slope takes their mean over the subjects counted; with own betas it is nan.
    """
    n = len(solution)
    Ps, Qs = clusters(solution), [(clusters(labels), exact(p)) for labels, p in view]
    base = {item: exact(weights[item]) if weights is not None else Fraction(1) for item in range(n)}
    subjects = []
    for name, C in Ps.items():
        see = dict(base) | {item: exact(w) for subject, item, w in overrides if subject == name}
        one = exact((subject_alpha or {}).get(name, alpha)), exact((subject_beta or {}).get(name, beta))
        wanted = (subject_contamination_wanted or {}).get(name, contamination_wanted)
        how: dict[str, Any] = {"wanted": wanted, "norm": norm, "mixed": mixed, "floor_free": floor_free}
        subjects.append(_subject(name, C, Ps, Qs, *one, see, how, breached))
    counted = [s for s, subject in enumerate(subjects) if subject.size >= min_size]
    return _whole(n, subjects, counted, exact(beta) if subject_beta is None else None, breached_overall)


def _subject(
    name: Any,
    C: Items,
    Ps: Clusters,
    Qs: Sequence[tuple[Clusters, Fraction]],
    alpha: Fraction,
    beta: Fraction,
    see: See,
    how: dict[str, Any],
    breached: str,
) -> Subject:
    chances = [p for _, p in Qs]
    both = [errors(C, Q, alpha, see) for Q, _ in Qs]
    m = sum((p * one[0] for p, one in zip(chances, both, strict=True)), Fraction(0))
    i = sum((p * one[1] for p, one in zip(chances, both, strict=True)), Fraction(0))
    plotted = [curves(C, Q, alpha, see, **how) for Q, _ in Qs]
    linked = averaged([one[0] for one in plotted], chances)
    mixture = averaged([one[1] for one in plotted], chances)
    at = threshold(linked, mixture, beta)
    strangers = [_owners(Q[merge_order(C, Q, alpha, see)[0]] - C, Ps) for Q, _ in Qs]
    return Subject(
        name=name,
        size=len(C),
        alpha=alpha,
        beta=beta,
        miss=m,
        include=i,
        error=alpha * m + (1 - alpha) * i,
        linked=linked,
        mixed=mixture,
        pieces=sum((p * len(related(C, Q)) for Q, p in Qs), Fraction(0)),
        foreign_share=sum((p * _foreign_now(C, Q, alpha, see) for Q, p in Qs), Fraction(0)),
        foreign_subjects=sum((p * len(owners) for (_, p), owners in zip(Qs, strangers, strict=True)), Fraction(0)),
        effective_foreign_subjects=sum(p * _evenly(owners) for (_, p), owners in zip(Qs, strangers, strict=True)),
        breached=at is None,
        merges=None if at is None else at[0],
        mixed_at_threshold=None if at is None else at[1],
        risk_slope=slope(linked, mixture, alpha, beta, breached),
        merge_order=tuple(merge_order(C, Q, alpha, see) for Q, _ in Qs),
    )


def _foreign_now(C: Items, Q: Clusters, alpha: Fraction, see: See) -> Fraction:
    first = Q[merge_order(C, Q, alpha, see)[0]]
    return include(C, first, see) / weight(first, see) if weight(first, see) else Fraction(0)


def _owners(foreign: Items, Ps: Clusters) -> list[int]:
    """How many of these items each subject has that has any."""
    return [len(foreign & other) for other in Ps.values() if foreign & other]


def _evenly(owners: list[int]) -> float:
    """As many equal shares have the same entropy; 0 of nothing."""
    shares = [x / sum(owners) for x in owners]
    return math.prod(share**-share for share in shares) if owners else 0.0


def _whole(n: int, subjects: list[Subject], counted: list[int], beta: Fraction | None, breached: str) -> Result:
    kept = [subjects[s] for s in counted]
    m = sum((one.miss for one in kept), Fraction(0))
    i = sum((one.include for one in kept), Fraction(0))
    shares = [Fraction(1, len(kept))] * len(kept)
    linked = averaged([one.linked for one in kept], shares)
    mixture = averaged([one.mixed for one in kept], shares)
    alpha = sum((one.alpha for one in kept), Fraction(0)) / len(kept)
    at = None if beta is None else threshold(linked, mixture, beta)
    return Result(
        subjects=subjects,
        counted=counted,
        miss_total=m,
        include_total=i,
        normalized_error=float(sum(one.error for one in kept) / len(kept) / (n - 1)) if n > 1 else math.nan,
        linked_curve=linked,
        mixed_curve=mixture,
        merges_overall=None if at is None else at[0],
        slope_overall=math.nan if beta is None else slope(linked, mixture, alpha, beta, breached),
        breach_rate=Fraction(sum(one.breached for one in kept), len(kept)),
        kind="conservative" if m > i else "liberal" if m < i else "neutral",
    )


# --- comparing -------------------------------------------------------------------------------------------

OF_SUBJECTS = (
    "miss",
    "include",
    "error",
    "linked_now",
    "foreign_share",
    "foreign_subjects",
    "effective_foreign_subjects",
    "merges",
    "mixed_at_threshold",
    "risk_slope",
    "breached",
)
OF_ALL = ("miss_total", "include_total", "normalized_error", "slope_overall", "breach_rate")


def differences(found: Any, expected: Result, *, tolerance: float = 1e-9) -> list[str]:
    """The attributes in which another implementation differs from the oracle; nan equals nan.

    found : an object whose attributes are named as those of `Result` and `Subject`, an array over subjects each

    Without a merge the other implementation says 0 merges and the mixed graph as it begins.
    """
    ours: dict[str, Any] = {name: [getattr(one, name) for one in expected.subjects] for name in ("size", "pieces")}
    for name in OF_SUBJECTS:
        ours[name] = [_as_reported(one, name) for one in expected.subjects]
    for name in OF_ALL:
        ours[name] = float(getattr(expected, name))
    wrong = [name for name, value in ours.items() if not _close(np.asarray(getattr(found, name)), value, tolerance)]
    for name in ("linked_curve", "mixed_curve"):
        theirs = np.asarray(getattr(found, name)).tolist()
        length = max(len(theirs), len(getattr(expected, name)))
        longer = theirs + [theirs[-1]] * (length - len(theirs))
        if not _close(longer, [float(y) for y in extended(getattr(expected, name), length)], tolerance):
            wrong.append(name)
    if str(found.kind) != expected.kind:
        wrong.append("kind")
    if np.flatnonzero(found.counted).tolist() != expected.counted:
        wrong.append("counted")
    return wrong


def _as_reported(one: Subject, name: str) -> float:
    if name == "linked_now":
        return float(one.linked[0])
    if name == "merges" and one.merges is None:
        return 0.0
    if name == "mixed_at_threshold" and one.mixed_at_threshold is None:
        return float(one.mixed[0])
    return float(getattr(one, name))


def _close(found: Any, expected: Any, tolerance: float) -> bool:
    x, y = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    return x.shape == y.shape and bool(np.allclose(x, y, rtol=0.0, atol=tolerance, equal_nan=True))


# --- for benchmarks: the paper's algorithms in floating point --------------------------------------------


def plain(
    solution: Sequence[Any], adversary: Sequence[Any], alpha: float, beta: float
) -> tuple[float, float, float, list[float], float]:
    """Total misses and includes, e*, the slope of each subject (nan if breached) and of the whole at b = 0.

    Priorities are compared as floats, as anybody would write it, so that ties can be missed; all else as `evaluate`.
    """
    P, Q = _groups(solution), _groups(adversary)
    m_total = i_total = e_total = 0.0
    graphs = []
    for C in P:
        m, i = _plain_errors(C, Q, alpha)
        m_total, i_total, e_total = m_total + m, i_total + i, e_total + alpha * m + (1 - alpha) * i
        graphs.append(_plot_for_cluster(C, Q, len(solution), alpha))
    slopes = [_plain_slope(linked, mixed, alpha, beta) for linked, mixed in graphs]
    overall = _plain_slope(*_plot_for_partition(graphs), alpha, beta)
    return m_total, i_total, e_total / len(P) / (len(solution) - 1), slopes, 1.0 if math.isnan(overall) else overall


def _groups(labels: Sequence[Any]) -> list[set[int]]:
    groups: dict[Any, set[int]] = {}
    for item, label in enumerate(labels):
        groups.setdefault(label, set()).add(item)
    return [groups[label] for label in sorted(groups)]


def _plain_cost(C: set[int], D: set[int], alpha: float) -> float:
    return alpha * len(C - D) + (1 - alpha) * len(D - C)


def _plain_errors(C: set[int], Q: list[set[int]], alpha: float) -> tuple[float, float]:
    near = [D for D in Q if C & D]
    least = min(_plain_cost(C, D, alpha) for D in near)
    best = [D for D in near if _plain_cost(C, D, alpha) == least]
    return sum(len(C - D) for D in best) / len(best), sum(len(D - C) for D in best) / len(best)


def _plot_for_cluster(C: set[int], Q: list[set[int]], n: int, alpha: float) -> tuple[list[float], list[float]]:
    order = sorted((D for D in Q if C & D), key=lambda D: (_plain_cost(C, D, alpha), len(D - C), -len(C & D)))
    X: set[int] = set()
    linked, mixed = [], []
    for D in order:
        X = X | D
        linked.append(1 - len(C - X) / len(C))
        mixed.append(len(X - C) / (n - len(C)) if len(C) < n else 0.0)
    return linked, mixed


def _plot_for_partition(graphs: list[tuple[list[float], list[float]]]) -> tuple[list[float], list[float]]:
    linked, mixed = [], []
    for j in range(max(len(one) for one, _ in graphs)):
        linked.append(sum(one[min(j, len(one) - 1)] for one, _ in graphs) / len(graphs))
        mixed.append(sum(one[min(j, len(one) - 1)] for _, one in graphs) / len(graphs))
    return linked, mixed


def _plain_slope(linked: list[float], mixed: list[float], alpha: float, beta: float) -> float:
    if beta <= linked[0]:
        return math.nan
    j = next(j for j in range(1, len(linked)) if linked[j] >= beta)
    part = (beta - linked[j - 1]) / (linked[j] - linked[j - 1])
    x, y = j - 1 + part, mixed[j - 1] + part * (mixed[j] - mixed[j - 1])
    return 2 / math.pi * (alpha * math.atan(beta / x) + (1 - alpha) * math.atan(y / x))
