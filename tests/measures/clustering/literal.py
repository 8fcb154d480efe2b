"""An oracle for unlinkability: the paper's algorithms on sets of items, in exact fractions, as plainly as possible.

A. Pashalidis, S. Schiffner, "Evaluating Adversarial Partitions", sections 3.1 to 3.4. Nothing here comes from the
package under test. alpha weighs misses and the speed of linking, 1 - alpha weighs includes and mixing.

C is a subject (a set of items), Q an adversarial partition (label -> set of items), `weights` a dictionary
item -> Fraction: the items as the subject weighs them. `evaluate` takes a list of labels and a view, a list of
(list of labels, probability). `differences` compares its result with another implementation's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Items = frozenset[int]
Clusters = dict[Any, Items]
Weights = Mapping[int, Fraction]
Curve = list[Fraction]

MAX_DENOMINATOR = 10**6
"""A float stands for the simplest fraction with a denominator up to this: 0.1 means 1/10."""


def exact(value: float | Fraction) -> Fraction:
    """Return the fraction that a float stands for: 1/3 for 0.3333333333333333."""
    return value if isinstance(value, Fraction) else Fraction(value).limit_denominator(MAX_DENOMINATOR)


def clusters(labels: Sequence[Any]) -> Clusters:
    """Return the set of positions of each label, labels ascending."""
    return {name: frozenset(i for i, label in enumerate(labels) if label == name) for name in sorted(set(labels))}


def weigh(items: Items, weights: Weights) -> Fraction:
    """Return the weight of a set of items."""
    return sum((weights[item] for item in items), Fraction(0))


def cost(C: Items, D: Items, alpha: Fraction, weights: Weights) -> Fraction:
    """Return the inverse of the paper's priority; 0 stands for infinite priority."""
    return alpha * weigh(C - D, weights) + (1 - alpha) * weigh(D - C, weights)


def merge_order(C: Items, Q: Clusters, alpha: Fraction, weights: Weights) -> list[Any]:
    """Return the clusters that share an item with C, in the order in which they are merged."""

    def key(label: Any) -> tuple[Fraction, Fraction, Fraction, Any]:
        D = Q[label]
        return cost(C, D, alpha, weights), weigh(D - C, weights), -weigh(C & D, weights), label

    return sorted((label for label, D in Q.items() if C & D), key=key)


def primary_errors(C: Items, Q: Clusters, alpha: Fraction, weights: Weights) -> tuple[Fraction, Fraction]:
    """Return m(C, Q, alpha) and i(C, Q, alpha): averages over the most relevant clusters, those of least cost."""
    related = [D for D in Q.values() if C & D]
    least = min(cost(C, D, alpha, weights) for D in related)
    relevant = [D for D in related if cost(C, D, alpha, weights) == least]
    missed = sum((weigh(C - D, weights) for D in relevant), Fraction(0))
    included = sum((weigh(D - C, weights) for D in relevant), Fraction(0))
    return missed / len(relevant), included / len(relevant)


def curves(C: Items, Q: Clusters, alpha: Fraction, weights: Weights, *, wanted: bool) -> tuple[Curve, Curve]:
    """PlotForCluster: return the linked and the mixed curve after 0, 1, ... merges; wanted: contamination is."""
    size, rest = weigh(C, weights), weigh(frozenset(weights) - C, weights)
    merged: Items = frozenset()
    linked, mixed = [], []
    for label in merge_order(C, Q, alpha, weights):
        merged = merged | Q[label]
        linked.append(weigh(C & merged, weights) / size if size else Fraction(1))
        share = weigh(merged - C, weights) / rest if rest else Fraction(0)
        mixed.append(1 - share if wanted else share)
    return linked, mixed


def threshold(linked: Curve, mixed: Curve, beta: Fraction) -> tuple[Fraction, Fraction] | None:
    """Return the merges at which linked, straight between its points, reaches beta, and mixed there; None at once."""
    if beta <= linked[0]:
        return None
    j = next(j for j in range(1, len(linked)) if linked[j] >= beta)
    part = (beta - linked[j - 1]) / (linked[j] - linked[j - 1])
    return j - 1 + part, mixed[j - 1] + part * (mixed[j] - mixed[j - 1])


def slope(linked: Curve, mixed: Curve, alpha: Fraction, beta: Fraction, breached: str) -> float:
    """Return the risk slope; if beta is reached without a merge, nan or 1 as `breached` ("nan", "one") says."""
    crossing = threshold(linked, mixed, beta)
    if crossing is None:
        return math.nan if breached == "nan" else 1.0
    x, y = crossing
    return 2 / math.pi * (float(alpha) * math.atan(beta / x) + float(1 - alpha) * math.atan(y / x))


def extend(curve: Sequence[Any], length: int) -> list[Any]:
    """Return a curve that stays at its last value."""
    return [*curve, *[curve[-1]] * (length - len(curve))]


def average(all_curves: Sequence[Curve], shares: Sequence[Fraction]) -> Curve:
    """Return the weighted average of curves, as long as the longest."""
    length = max(map(len, all_curves))
    extended = [extend(curve, length) for curve in all_curves]
    return [sum((s * c[j] for s, c in zip(shares, extended, strict=True)), Fraction(0)) for j in range(length)]


@dataclass(frozen=True)
class Subject:
    """Result for one subject; curves are expectations over the view, `merge_order` has a list for each partition."""

    name: Any
    size: int
    alpha: Fraction
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


@dataclass(frozen=True)
class Result:
    """All subjects in the order of their labels, and totals over subjects of at least `min_size`."""

    subjects: list[Subject]
    counted: list[int]
    miss_total: Fraction
    include_total: Fraction
    normalized_error: float
    linked_curve: Curve
    mixed_curve: Curve
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
    min_size: int = 1,
    breached: str = "nan",
    breached_overall: str = "one",
    subject_alpha: Mapping[Any, float | Fraction] | None = None,
    subject_beta: Mapping[Any, float | Fraction] | None = None,
    subject_contamination_wanted: Mapping[Any, bool] | None = None,
) -> Result:
    """Evaluate sections 3.1 to 3.4; an override is (subject's label, position of the item, weight for that subject).

    If subjects have alphas, the overall slope takes their mean over the counted ones; if they have betas, it is nan.
    """
    n = len(solution)
    Ps, Qs = clusters(solution), [(clusters(labels), exact(p)) for labels, p in view]
    base = {item: exact(weights[item]) if weights is not None else Fraction(1) for item in range(n)}
    subjects = [
        _evaluate_subject(
            name,
            Ps,
            Qs,
            exact((subject_alpha or {}).get(name, alpha)),
            exact((subject_beta or {}).get(name, beta)),
            base | {item: exact(weight) for subject, item, weight in overrides if subject == name},
            (subject_contamination_wanted or {}).get(name, contamination_wanted),
            breached,
        )
        for name in Ps
    ]
    counted = [place for place, subject in enumerate(subjects) if subject.size >= min_size]
    return _summarize(n, subjects, counted, exact(beta) if subject_beta is None else None, breached_overall)


def _evaluate_subject(
    name: Any,
    Ps: Clusters,
    Qs: Sequence[tuple[Clusters, Fraction]],
    alpha: Fraction,
    beta: Fraction,
    weights: Weights,
    wanted: bool,
    breached: str,
) -> Subject:
    C, chances = Ps[name], [p for _, p in Qs]
    errors = [primary_errors(C, Q, alpha, weights) for Q, _ in Qs]
    orders = tuple(merge_order(C, Q, alpha, weights) for Q, _ in Qs)
    nearest = [Q[order[0]] for (Q, _), order in zip(Qs, orders, strict=True)]
    owners = [[len((D - C) & other) for other in Ps.values() if (D - C) & other] for D in nearest]
    linked, mixed = (
        average(side, chances)
        for side in zip(*(curves(C, Q, alpha, weights, wanted=wanted) for Q, _ in Qs), strict=True)
    )

    def expect(values: Sequence[Any]) -> Any:
        return sum((p * value for p, value in zip(chances, values, strict=True)), Fraction(0))

    missed, included = (expect(side) for side in zip(*errors, strict=True))
    crossing = threshold(linked, mixed, beta)
    return Subject(
        name=name,
        size=len(C),
        alpha=alpha,
        miss=missed,
        include=included,
        error=alpha * missed + (1 - alpha) * included,
        linked=linked,
        mixed=mixed,
        pieces=expect([len(order) for order in orders]),
        foreign_share=expect([_foreign_share(C, D, weights) for D in nearest]),
        foreign_subjects=expect([len(counts) for counts in owners]),
        effective_foreign_subjects=expect([_effective_number(counts) for counts in owners]),
        breached=crossing is None,
        merges=None if crossing is None else crossing[0],
        mixed_at_threshold=None if crossing is None else crossing[1],
        risk_slope=slope(linked, mixed, alpha, beta, breached),
        merge_order=orders,
    )


def _foreign_share(C: Items, D: Items, weights: Weights) -> Fraction:
    return weigh(D - C, weights) / weigh(D, weights) if weigh(D, weights) else Fraction(0)


def _effective_number(counts: Sequence[int]) -> float:
    """Return the number of equal shares with the same entropy; 0 without any."""
    return math.prod((x / sum(counts)) ** -(x / sum(counts)) for x in counts) if counts else 0.0


def _summarize(n: int, subjects: list[Subject], counted: list[int], beta: Fraction | None, breached: str) -> Result:
    chosen = [subjects[place] for place in counted]
    missed, included = (sum((getattr(s, name) for s in chosen), Fraction(0)) for name in ("miss", "include"))
    shares = [Fraction(1, len(chosen))] * len(chosen)
    linked, mixed = (average([getattr(s, name) for s in chosen], shares) for name in ("linked", "mixed"))
    alpha = sum((s.alpha for s in chosen), Fraction(0)) / len(chosen)
    return Result(
        subjects=subjects,
        counted=counted,
        miss_total=missed,
        include_total=included,
        normalized_error=float(sum(s.error for s in chosen) / len(chosen) / (n - 1)) if n > 1 else math.nan,
        linked_curve=linked,
        mixed_curve=mixed,
        slope_overall=math.nan if beta is None else slope(linked, mixed, alpha, beta, breached),
        breach_rate=Fraction(sum(s.breached for s in chosen), len(chosen)),
        kind="conservative" if missed > included else "liberal" if missed < included else "neutral",
    )


# --- comparing -------------------------------------------------------------------------------------------

SUBJECT_FIELDS = (
    *("size", "pieces", "miss", "include", "error", "linked_now", "foreign_share", "foreign_subjects"),
    *("effective_foreign_subjects", "merges", "mixed_at_threshold", "risk_slope", "breached"),
)
TOTALS = ("miss_total", "include_total", "normalized_error", "slope_overall", "breach_rate")


def differences(result: Any, expected: Result, *, tolerance: float = 1e-9) -> list[str]:
    """Return the attributes in which another implementation's result differs from the oracle; nan equals nan.

    Its attributes have the names of `Result` and `Subject`, with an array over subjects each. Without a merge it
    reports 0 merges and the mixed curve as it begins.
    """
    values: dict[str, Any] = {name: [_as_reported(s, name) for s in expected.subjects] for name in SUBJECT_FIELDS}
    values |= {name: float(getattr(expected, name)) for name in TOTALS}
    names = [name for name, value in values.items() if not _is_close(getattr(result, name), value, tolerance)]
    for name in ("linked_curve", "mixed_curve"):
        ours, curve = [float(y) for y in getattr(expected, name)], np.asarray(getattr(result, name)).tolist()
        length = max(len(ours), len(curve))
        if not _is_close(extend(curve, length), extend(ours, length), tolerance):
            names.append(name)
    if str(result.kind) != expected.kind:
        names.append("kind")
    if np.flatnonzero(result.counted).tolist() != expected.counted:
        names.append("counted")
    return names


def _as_reported(subject: Subject, name: str) -> float:
    if name == "linked_now":
        return float(subject.linked[0])
    value = getattr(subject, name)
    return float((0 if name == "merges" else subject.mixed[0]) if value is None else value)


def _is_close(result: Any, expected: Any, tolerance: float) -> bool:
    x, y = np.asarray(result, dtype=float), np.asarray(expected, dtype=float)
    return x.shape == y.shape and bool(np.allclose(x, y, rtol=0.0, atol=tolerance, equal_nan=True))


# --- for benchmarks: the paper's algorithms in floating point, O(n^2) for a subject and O(n^3) for all -----


def plain(
    solution: Sequence[Any], adversary: Sequence[Any], alpha: float, beta: float
) -> tuple[float, float, float, list[float], float]:
    """Return total misses and includes, e*, the slope of each subject (nan if breached) and the overall slope.

    Priorities are compared as floats, so that ties can be missed.
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
    related = [D for D in Q if C & D]
    least = min(_plain_cost(C, D, alpha) for D in related)
    relevant = [D for D in related if _plain_cost(C, D, alpha) == least]
    return sum(len(C - D) for D in relevant) / len(relevant), sum(len(D - C) for D in relevant) / len(relevant)


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
    for j in range(max(len(curve) for curve, _ in graphs)):
        linked.append(sum(curve[min(j, len(curve) - 1)] for curve, _ in graphs) / len(graphs))
        mixed.append(sum(curve[min(j, len(curve) - 1)] for _, curve in graphs) / len(graphs))
    return linked, mixed


def _plain_slope(linked: list[float], mixed: list[float], alpha: float, beta: float) -> float:
    if beta <= linked[0]:
        return math.nan
    j = next(j for j in range(1, len(linked)) if linked[j] >= beta)
    part = (beta - linked[j - 1]) / (linked[j] - linked[j - 1])
    x, y = j - 1 + part, mixed[j - 1] + part * (mixed[j] - mixed[j - 1])
    return 2 / math.pi * (alpha * math.atan(beta / x) + (1 - alpha) * math.atan(y / x))
