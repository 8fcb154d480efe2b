"""The printed numbers: section 4's example, remark 2, the introduction's example, the worst case of section 3.1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from show import Section, Verdict
from unlinkability_random import overall_slopes

from unmask.core.partition import Partition
from unmask.measures.clustering import Contingency, Unlinkability, evaluate, merge_lists

SHAPES: Final = ("triangles", "squares", "circles", "stars")
LEFT: Final = ((0, 0, 1, 3), (0, 0, 1, 2), (1, 4, 0, 1), (3, 1, 1, 0), (2, 0, 0, 0), (0, 1, 3, 0))
RIGHT: Final = ((0, 1, 4, 3), (0, 4, 2, 1), (6, 1, 0, 2))
"""Figure 4, clusters by shapes. The figure is not at hand: these were made from the printed numbers, so that they give
them back is no evidence. What is evidence is in `_conventions`: which of all the stars' columns there could be fit what
is printed, under our reading of the method and under others. The other columns are one choice of several."""
FIGURE_ALPHAS: Final = (0, 1 / 3, 2 / 3, 1)
STARS, OTHERS = 6, 18


class Printed(NamedTuple):
    """What section 4 prints of the stars: the threshold, the two halves of the slope and the slope in percent."""

    beta: float
    linked: str
    mixed: str
    slope: str


PRINTED: Final = {
    "left": Printed(0.9, "0.364", "0.100", "23.20"),
    "right": Printed(0.7, "0.361", "0.340", "35.03"),
}


def partitions(rows: Sequence[Sequence[int]]) -> tuple[Partition, Partition]:
    """Solution and adversary from the counts of each shape in each cluster."""
    cells = [(cluster, shape, x) for cluster, row in enumerate(rows) for shape, x in enumerate(row)]
    counts = [x for *_, x in cells]
    shapes = np.repeat([shape for _, shape, _ in cells], counts)
    return Partition(shapes), Partition(np.repeat([cluster for cluster, *_ in cells], counts))


def example() -> Section:
    """Everything printed that needs no experiment."""
    left, right = (evaluate(Contingency.of(*partitions(rows)), beta=beta) for rows, beta in ((LEFT, 0.9), (RIGHT, 0.7)))
    verdicts = (
        *_conventions(),
        *_reconstruction(left, right),
        *_overall(),
        *_remark_2(),
        *_introduction(),
        *_worst_case(),
    )
    rows = tuple(
        (side, shape, *(f"{value[s]:.4g}" for value in (of.miss, of.include, of.merges, of.risk_slope)))
        for side, of in (("left", left), ("right", right))
        for s, shape in enumerate(SHAPES)
    )
    return Section(
        "Section 4: the example of Figure 4, and the other printed numbers (alpha = 1/2, b = 0)",
        ("partition", "subject", "misses", "includes", "merges to beta", "slope"),
        rows,
        ("beta is 90 % for the left and 70 % for the right partition; a slope of nan: breached without a merge.",),
        verdicts,
    )


def _same(claim: str, published: str, ours: str) -> Verdict:
    return Verdict(claim, published, ours, published == ours)


# --- evidence: which reading of the method can print these numbers at all --------------------------------------------


def _conventions() -> list[Verdict]:
    """Every stars' column against the printed numbers, under our reading of the method and under others."""
    fits = {
        (linear, fewer): {side: _fitting(side, linear=linear, fewer_first=fewer) for side in PRINTED}
        for linear in (True, False)
        for fewer in (True, False)
    }
    found = []
    for (linear, fewer), of in fits.items():
        ours = linear and fewer
        steps, first = "linear between merges" if linear else "whole merges", "fewer" if fewer else "more"
        told = ", ".join(f"{side} {len(columns)}" for side, columns in of.items())
        both = all(of.values())
        found.append(
            Verdict(
                f"evidence: stars' columns that print Figure 4's numbers: {steps}, {first} foreign first",
                "some on both sides" if ours else "none on one side",
                told,
                both if ours else not both,
            )
        )
    unique = {side: [sorted(c, reverse=True) for c in columns] for side, columns in fits[True, True].items()}
    named = {side: sorted(_stars(rows), reverse=True) for side, rows in (("left", LEFT), ("right", RIGHT))}
    found.append(
        Verdict(
            "evidence: the stars' columns are the only ones",
            "one a side",
            ", ".join(f"{side} {len(columns)}" for side, columns in unique.items()),
            all(unique[side] == [named[side]] for side in PRINTED),
        )
    )
    return found


def _stars(rows: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    return [(row[3], sum(row[:3])) for row in rows if row[3]]


def _fitting(side: str, *, linear: bool, fewer_first: bool) -> list[list[tuple[int, int]]]:
    """The columns, as (stars, others) of each cluster with stars, under which the stars' numbers are as printed.

    Left, the text also says that the best cluster lacks 3 stars and that one is of two stars and a circle and is not
    the best; right, that all shapes together have 7 misses and 15 includes.
    """
    printed = PRINTED[side]
    return [
        column
        for column in _columns(STARS, OTHERS, (STARS, OTHERS))
        if (side == "right" or (2, 1) in column)
        and _prints(column, printed, linear=linear, fewer_first=fewer_first, missing=3 if side == "left" else None)
        and (side == "left" or _completes(column, (7, 15)))
    ]


def _columns(stars: int, others: int, least: tuple[int, int]) -> Iterator[list[tuple[int, int]]]:
    """Clusters with at least one star that hold all stars and at most so many others, in falling order."""
    if not stars:
        yield []
        return
    for own in range(min(stars, least[0]), 0, -1):
        for foreign in range(others if own < least[0] else min(others, least[1]), -1, -1):
            for rest in _columns(stars - own, others - foreign, (own, foreign)):
                yield [(own, foreign), *rest]


def _prints(
    column: Sequence[tuple[int, int]], printed: Printed, *, linear: bool, fewer_first: bool, missing: int | None
) -> bool:
    order = sorted(column, key=lambda c: (STARS - c[0] + c[1], c[1] if fewer_first else -c[1], -c[0]))
    if missing is not None and STARS - order[0][0] != missing:
        return False
    linked = np.cumsum([own for own, _ in order]) / STARS
    mixed = np.cumsum([foreign for _, foreign in order]) / OTHERS
    j = int(np.argmax(linked >= printed.beta - 1e-12))
    if j == 0:
        return False
    part = (printed.beta - linked[j - 1]) / (linked[j] - linked[j - 1]) if linear else 1.0
    x, y = j - 1 + part, mixed[j - 1] + part * (mixed[j] - mixed[j - 1])
    halves = [2 / math.pi * math.atan(value / x) for value in (printed.beta, y)]
    told = f"{halves[0]:.3f}", f"{halves[1]:.3f}", f"{50 * sum(halves):.2f}"
    return told == (printed.linked, printed.mixed, printed.slope)


def _completes(column: Sequence[tuple[int, int]], totals: tuple[int, int]) -> bool:
    """Whether the other three shapes, six of each, can be in these clusters so that all errors together are as printed.

    Known only where the clusters with stars hold all others, too; elsewhere it is taken to be possible.
    """
    foreign = [others for _, others in column]
    if sum(foreign) < OTHERS:
        return True
    stars, ways = [own for own, _ in column], list(_spread(STARS, foreign))
    for first in ways:
        for second in ways:
            third = [n - a - b for n, a, b in zip(foreign, first, second, strict=True)]
            if min(third) < 0 or sum(third) != STARS:
                continue
            shapes = (first, second, third, stars)
            sizes = [sum(of) for of in zip(*shapes, strict=True)]
            errors = [_errors(own, sizes) for own in shapes]
            if tuple(sum(of) for of in zip(*errors, strict=True)) == totals:
                return True
    return False


def _spread(n: int, room: Sequence[int]) -> Iterator[list[int]]:
    """Every way to put n items into clusters with so much room."""
    if len(room) == 1:
        if n <= room[0]:
            yield [n]
        return
    for here in range(min(n, room[0]) + 1):
        for rest in _spread(n - here, room[1:]):
            yield [here, *rest]


def _errors(own: Sequence[int], sizes: Sequence[int]) -> tuple[float, float]:
    """Misses and includes at alpha 1/2, averaged over the clusters of least cost."""
    pairs = [(STARS - x, size - x) for x, size in zip(own, sizes, strict=True) if x]
    least = min(m + i for m, i in pairs)
    best = [(m, i) for m, i in pairs if m + i == least]
    return sum(m for m, _ in best) / len(best), sum(i for _, i in best) / len(best)


# --- what was made from the printed numbers, and gives them back -----------------------------------------------------


def _reconstruction(left: Unlinkability, right: Unlinkability) -> list[Verdict]:
    """One verdict a side: it would fail if `evaluate` were wrong, and says nothing of the paper."""
    found = []
    for side, of, totals in (("left", left, "12 4 conservative"), ("right", right, "7 15 liberal")):
        x, y, beta = of.merges[3], of.mixed_at_threshold[3], PRINTED[side].beta
        halves = " ".join(f"{2 / math.pi * math.atan(value / x):.3f}" for value in (beta, y))
        found.append(
            _same(
                f"reconstruction, {side}: misses, includes, kind; the stars' halves and slope (made to give them)",
                f"{totals} {PRINTED[side].linked} {PRINTED[side].mixed} {PRINTED[side].slope} %",
                f"{of.miss_total:g} {of.include_total:g} {of.kind} {halves} {100 * of.risk_slope[3]:.2f} %",
            )
        )
    found.append(
        _same("reconstruction, left: misses by shape", "4 + 2 + 3 + 3", " + ".join(f"{m:g}" for m in left.miss))
    )
    first = {int(one.cluster[0]) for one in merge_lists(Contingency.of(*partitions(LEFT)), range(4))}
    found.append(
        Verdict(
            "reconstruction, left: the star-star-circle cluster contributes to no primary error",
            "true",
            f"best clusters {sorted(first)}, it is 1",
            1 not in first,
        )
    )
    return found


def _overall() -> list[Verdict]:
    """The third and fourth rows of Figure 4."""
    found = []
    for side, rows in (("left", LEFT), ("right", RIGHT)):
        met = Contingency.of(*partitions(rows))
        of = [evaluate(met, alpha=alpha) for alpha in FIGURE_ALPHAS]
        curves = np.array([np.concatenate([one.linked_curve, one.mixed_curve]) for one in of])
        slopes = overall_slopes(of, FIGURE_ALPHAS, [b / 100 for b in range(5, 101, 5)])
        same = sum(bool(np.isclose(one, other).any()) for one, other in pairwise(curves))
        found.append(
            Verdict(
                f"reconstruction, {side}: overall graphs of alpha = 0, 1/3, 2/3, 1 coincide in parts",
                "for most alpha",
                f"{same} of 3 neighbors",
                same >= 2,
            )
        )
        rising = (np.diff(slopes, axis=0) >= -1e-12).all()
        found.append(
            Verdict(
                f"reconstruction, {side}: overall slope rises with alpha",
                "-",
                "at every beta" if rising else "no",
                bool(rising),
            )
        )
    return found


def _remark_2() -> list[Verdict]:
    whole, cut = Partition([0, 0, 0]), Partition([0, 0, 1])
    there, back = evaluate(Contingency.of(whole, cut)), evaluate(Contingency.of(cut, whole))
    ours = f"{there.miss_total:g}, {there.include_total:g}; {back.miss_total:g}, {back.include_total:g}"
    return [_same("remark 2: misses, includes; the two partitions exchanged", "1, 0; 0, 3", ours)]


def _introduction() -> list[Verdict]:
    alice = Partition([0, 0, 0, 0, 0, 1, 1])
    guesses = [Partition(labels) for labels in ([0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0, 2], [0, 0, 0, 1, 2, 3, 3])]
    met = [Contingency.of(alice, guess) for guess in guesses]
    linking = [evaluate(one, alpha=1, beta=1) for one in met]
    foreign = [2 * evaluate(one, beta=1).mixed_at_threshold[0] for one in met]
    slopes = {
        wanted: [evaluate(one, alpha=0, beta=0.9, contamination_wanted=wanted).risk_slope[0] for one in met]
        for wanted in (False, True)
    }
    told = {wanted: ", ".join(f"{slope:.3f}" for slope in of) for wanted, of in slopes.items()}
    return [
        _same("introduction: items of Alice to re-allocate", "1, 2, 2", ", ".join(f"{of.miss[0]:g}" for of in linking)),
        _same("introduction: merges to link them", "1, 1, 2", ", ".join(f"{of.merges[0]:g}" for of in linking)),
        _same("introduction: Bob's items mixed in by then", "2, 1, 0", ", ".join(f"{x:g}" for x in foreign)),
        Verdict(
            "introduction: slope ranks them by contamination, unwanted (alpha 0, beta 90 %)",
            "falling",
            told[False],
            slopes[False][0] > slopes[False][1] > slopes[False][2] == 0,
        ),
        Verdict(
            "REFUTED where contamination is wanted: the third is the best for an adversary (it takes 1.5 merges)",
            "rising",
            told[True],
            slopes[True][0] < slopes[True][1] < slopes[True][2],
            required=False,
        ),
    ]


def _worst_case() -> list[Verdict]:
    one_block = evaluate(Contingency.of(Partition([0, 1, 1, 1, 1]), Partition([0] * 5)), alpha=0)
    all_alone = evaluate(Contingency.of(Partition([0] * 5), Partition([0, 1, 2, 3, 4])), alpha=1)
    return [
        _same("worst case: one item, one block, alpha 0: errors / (n - 1)", "1", f"{one_block.error[0] / 4:g}"),
        Verdict(
            "REFUTED: no other worst case (alpha 1, one subject, all items alone is another)",
            "below 1",
            f"{all_alone.normalized_error:g}",
            bool(all_alone.normalized_error < 1),
            required=False,
        ),
    ]
