"""What a report shows of one guess: rates, curves, and scores of the whole partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.measures.unlinkability import Contingency, fairness
from unmask.measures.unlinkability.companions import companions_of
from unmask.measures.unlinkability.curves import LINK_TIE, overall_slope
from unmask.reports import GuessLinkage

if TYPE_CHECKING:
    from unmask.studies.linkage import Sensitivity

Floats = NDArray[np.float64]

BETAS = tuple(round(0.05 * i, 2) for i in range(1, 21))
"""Thresholds of the curves in the report."""

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Weights of linking against mixing for which the risk slope is drawn."""

LONGEST_CURVE = 200
"""Mergings that are drawn at most."""


def shown_of(name: str, met: Contingency, guessing: float, asked: Sensitivity) -> GuessLinkage:
    """One guess; guessing : share of subjects breached under shuffled labels."""
    return (_open if asked.unlabeled == "unknown" else _decided)(name, met, guessing, asked)


def _decided(name: str, met: Contingency, guessing: float, asked: Sensitivity) -> GuessLinkage:
    found = asked.evaluate(met)
    keep = found.counted
    fair = fairness(np.where(keep, found.slope, np.nan))
    tenth = np.zeros(len(keep), dtype=bool)
    tenth[fair.worst] = True
    worst = asked.evaluate(met, only=tenth)
    mergings = found.mergings[keep]
    first = met.tables[int(np.argmax(met.probability))]
    return GuessLinkage(
        name=name,
        clusters=len(first.cluster_size),
        partitions=len(met.tables),
        breached=float(found.breach_rate),
        clean=float(found.clean_breach_rate()),
        guessing=guessing,
        one_away=float(((mergings > 0) & (mergings <= 1)).mean()),
        median_mergings=float(np.median(mergings)),
        most_mergings=float(mergings.max()),
        gini=fair.gini,
        jain=fair.jain,
        linked_curve=_curve(found.linked_curve),
        mixed_curve=_curve(found.mixed_curve),
        worst_linked=_curve(worst.linked_curve),
        worst_mixed=_curve(worst.mixed_curve),
        slopes=tuple(_slopes(met, asked)),
        breach_rates=_breach_rates(met, asked),
        miss_include=_counts(found.miss[keep], found.include[keep]),
        whole=_whole(met),
        kind=str(found.kind),
        recovered=_recovered(met, keep),
        unlabeled=_unlabeled(met),
    )


def _open(name: str, met: Contingency, guessing: float, asked: Sensitivity) -> GuessLinkage:
    """What is left to say where unlabeled items are unknown: the most, beside the least, and nothing of merges."""
    found = asked.values(met)
    (least_breached, breached), (least_clean, clean) = (
        found.each[measure].mean(axis=1).tolist() for measure in ("breached", "clean_breach")
    )
    unknown = float("nan")
    return GuessLinkage(
        name=name,
        clusters=len(met.tables[0].cluster_size),
        partitions=len(met.tables),
        breached=breached,
        clean=clean,
        guessing=guessing,
        one_away=unknown,
        median_mergings=unknown,
        most_mergings=unknown,
        gini=unknown,
        jain=unknown,
        linked_curve=(),
        mixed_curve=(),
        worst_linked=(),
        worst_mixed=(),
        slopes=(),
        breach_rates=(),
        miss_include=(),
        whole=_whole(met),
        kind="",
        unlabeled=_unlabeled(met),
        at_least={"breached": least_breached, "clean": least_clean},
    )


def _recovered(met: Contingency, keep: NDArray[np.bool_]) -> float:
    """Expected over the partitions of a view."""
    each = []
    for table in met.tables:
        whole = (table.own == table.subject_size[table.subject]) & (table.own == table.cluster_size[table.cluster])
        each.append(float(np.isin(np.flatnonzero(keep), table.subject[whole]).mean()))
    return float(met.probability @ each)


def _unlabeled(met: Contingency) -> int:
    return int(met.tables[0].nobodys.sum())


def _slopes(met: Contingency, asked: Sensitivity) -> Iterator[tuple[float, tuple[float, ...]]]:
    """Of the average subject, for each weight of linking and each threshold, the same for all subjects."""
    alike = replace(met, own={name: minds for name, minds in met.own.items() if name == "wanted"})
    for alpha in ALPHAS:
        found = asked.evaluate(alike, alpha=alpha)
        yield alpha, tuple(overall_slope(found.linked_curve, found.mixed_curve, alpha, beta) for beta in BETAS)


def _breach_rates(met: Contingency, asked: Sensitivity) -> tuple[float, ...]:
    """At each threshold, the same for all subjects."""
    found = asked.evaluate(met)
    linked = found.linked_now[found.counted]
    return tuple(float((linked >= beta - LINK_TIE).mean()) for beta in BETAS)


def _curve(curve: Floats) -> tuple[float, ...]:
    return tuple(map(float, curve[:LONGEST_CURVE]))


def _counts(miss: Floats, include: Floats) -> tuple[tuple[int, int, int], ...]:
    """How many subjects have so many misses and includes, in whole items."""
    pairs, counts = np.unique(np.rint(np.stack([miss, include])).astype(np.int64), axis=1, return_counts=True)
    return tuple((int(m), int(i), int(c)) for m, i, c in zip(*pairs, counts, strict=True))


def _whole(met: Contingency) -> dict[str, float]:
    """What whole-partition scores say of the labeled items; there are none of a view of several."""
    if len(met.tables) > 1:
        return {}
    scores = companions_of(met.tables[0].labeled)
    return {
        "ari": scores.adjusted_rand,
        "voi_over_log_n": scores.voi_over_log_n,
        "transfer_over_n": scores.transfer_over_n,
        "bcubed_precision": scores.bcubed.precision,
        "bcubed_recall": scores.bcubed.recall,
        "pair_precision": scores.pairs.precision,
        "pair_recall": scores.pairs.recall,
    }
