"""The printed numbers: section 4's example, remark 2, the introduction's example, the worst case of section 3.1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from show import Section, Verdict
from unlinkability_random import compute_overall_slopes

from unmask.core.partition import Partition
from unmask.measures.clustering import Contingency, Unlinkability, evaluate, merge_lists

SHAPES: Final = ("triangles", "squares", "circles", "stars")
LEFT: Final = ((0, 0, 1, 3), (0, 0, 1, 2), (1, 4, 0, 1), (3, 1, 1, 0), (2, 0, 0, 0), (0, 1, 3, 0))
RIGHT: Final = ((0, 1, 4, 3), (0, 4, 2, 1), (6, 1, 0, 2))
"""Figure 4, clusters by shapes. The figure is not at hand: these are made from the printed numbers, so that they give
them back is no evidence. `_conventions` gives evidence: it tries every column of stars against the printed numbers,
under our reading of the method and under others. The other columns are one choice of several."""
FIGURE_ALPHAS: Final = (0, 1 / 3, 2 / 3, 1)
STARS, OTHERS = 6, 18

Column = list[tuple[int, int]]
"""(stars, other items) of each cluster with stars."""


class Printed(NamedTuple):
    """Printed numbers of the stars: the threshold, both halves of the slope, the slope in percent, and all errors."""

    beta: float
    linked: str
    mixed: str
    slope: str
    errors: str


PRINTED: Final = {
    "left": Printed(0.9, "0.364", "0.100", "23.20", "12 4 conservative"),
    "right": Printed(0.7, "0.361", "0.340", "35.03", "7 15 liberal"),
}


def make_partitions(rows: Sequence[Sequence[int]]) -> tuple[Partition, Partition]:
    """Return solution and adversary from the counts of each shape in each cluster."""
    cells = [(cluster, shape, x) for cluster, row in enumerate(rows) for shape, x in enumerate(row)]
    counts = [x for *_, x in cells]
    shapes = np.repeat([shape for _, shape, _ in cells], counts)
    return Partition(shapes), Partition(np.repeat([cluster for cluster, *_ in cells], counts))


def _meet(solution: Sequence[int], adversary: Sequence[int]) -> Contingency:
    return Contingency.of(Partition(solution), Partition(adversary))


def _equal(claim: str, published: str, ours: str) -> Verdict:
    return Verdict(claim, published, ours, published == ours)


def verify_example() -> Section:
    """Check everything printed that needs no experiment."""
    results = {
        side: evaluate(Contingency.of(*make_partitions(rows)), beta=PRINTED[side].beta)
        for side, rows in (("left", LEFT), ("right", RIGHT))
    }
    return Section(
        "Section 4: the example of Figure 4, and the other printed numbers (alpha = 1/2, b = 0)",
        ("partition", "subject", "misses", "includes", "merges to beta", "slope"),
        (
            (side, shape, result.miss[s], result.include[s], result.merges[s], result.risk_slope[s])
            for side, result in results.items()
            for s, shape in enumerate(SHAPES)
        ),
        ("beta is 90 % for the left and 70 % for the right partition; a slope of nan: breached without a merge.",),
        (
            *_conventions(),
            *_reconstruction(results),
            *_overall(),
            *_remark_2(),
            *_introduction(),
            *_worst_case(),
        ),
    )


# --- evidence: the reading of the method that can print these numbers ------------------------------------------------


def _conventions() -> Iterator[Verdict]:
    """Try every column of stars against the printed numbers, under our reading of the method and under others."""
    fits = {
        (linear, fewer): {side: _fitting_columns(side, linear=linear, fewer_first=fewer) for side in PRINTED}
        for linear in (True, False)
        for fewer in (True, False)
    }
    for (linear, fewer), columns in fits.items():
        is_ours, fits_both = linear and fewer, all(columns.values())
        steps, first = "linear between merges" if linear else "whole merges", "fewer" if fewer else "more"
        yield Verdict(
            f"evidence: stars' columns that print Figure 4's numbers: {steps}, {first} foreign first",
            "some on both sides" if is_ours else "none on one side",
            ", ".join(f"{side} {len(fitting)}" for side, fitting in columns.items()),
            fits_both == is_ours,
        )
    unique = {side: [sorted(column, reverse=True) for column in columns] for side, columns in fits[True, True].items()}
    chosen = {side: sorted(_stars(rows), reverse=True) for side, rows in (("left", LEFT), ("right", RIGHT))}
    yield Verdict(
        "evidence: the stars' columns are the only ones",
        "one a side",
        ", ".join(f"{side} {len(columns)}" for side, columns in unique.items()),
        all(unique[side] == [chosen[side]] for side in PRINTED),
    )


def _stars(rows: Sequence[Sequence[int]]) -> Column:
    return [(row[3], sum(row[:3])) for row in rows if row[3]]


def _fitting_columns(side: str, *, linear: bool, fewer_first: bool) -> list[Column]:
    """Return the columns under which the stars' numbers are as printed.

    Left, the text also says that the best cluster lacks 3 stars and that one of two stars and a circle is not the best;
    right, that all shapes together have 7 misses and 15 includes.
    """
    is_left = side == "left"
    return [
        column
        for column in _enumerate_columns(STARS, OTHERS, (STARS, OTHERS))
        if (not is_left or (2, 1) in column)
        and _prints(column, PRINTED[side], linear=linear, fewer_first=fewer_first, missing=3 if is_left else None)
        and (is_left or _can_complete(column, (7, 15)))
    ]


def _enumerate_columns(stars: int, others: int, limit: tuple[int, int]) -> Iterator[Column]:
    """Yield clusters with at least one star that hold all stars and at most these others, in falling order."""
    if not stars:
        yield []
        return
    for n_stars in range(min(stars, limit[0]), 0, -1):
        for n_others in range(others if n_stars < limit[0] else min(others, limit[1]), -1, -1):
            for remaining in _enumerate_columns(stars - n_stars, others - n_others, (n_stars, n_others)):
                yield [(n_stars, n_others), *remaining]


def _prints(column: Column, printed: Printed, *, linear: bool, fewer_first: bool, missing: int | None) -> bool:
    order = sorted(column, key=lambda c: (STARS - c[0] + c[1], c[1] if fewer_first else -c[1], -c[0]))
    if missing is not None and STARS - order[0][0] != missing:
        return False
    linked, mixed = np.cumsum(order, axis=0).T / [[STARS], [OTHERS]]
    j = int(np.argmax(linked >= printed.beta - 1e-12))
    if j == 0:
        return False
    part = (printed.beta - linked[j - 1]) / (linked[j] - linked[j - 1]) if linear else 1.0
    x, y = j - 1 + part, mixed[j - 1] + part * (mixed[j] - mixed[j - 1])
    halves = [2 / math.pi * math.atan(value / x) for value in (printed.beta, y)]
    return (f"{halves[0]:.3f}", f"{halves[1]:.3f}", f"{50 * sum(halves):.2f}") == printed[1:4]


def _can_complete(column: Column, totals: tuple[int, int]) -> bool:
    """Return True if the other three shapes, six of each, fit into these clusters so that all errors are as printed.

    Known only if the clusters with stars hold all others, too; otherwise it is taken to be possible.
    """
    stars, foreign = zip(*column, strict=True)
    if sum(foreign) < OTHERS:
        return True
    ways = list(_distribute(STARS, foreign))
    for first in ways:
        for second in ways:
            third = [n - a - b for n, a, b in zip(foreign, first, second, strict=True)]
            if min(third) < 0 or sum(third) != STARS:
                continue
            shapes = (first, second, third, stars)
            sizes = [sum(counts) for counts in zip(*shapes, strict=True)]
            errors = [_errors(counts, sizes) for counts in shapes]
            if tuple(sum(counts) for counts in zip(*errors, strict=True)) == totals:
                return True
    return False


def _distribute(n: int, room: Sequence[int]) -> Iterator[list[int]]:
    """Yield every way to put n items into clusters with this much room."""
    if len(room) == 1:
        if n <= room[0]:
            yield [n]
        return
    for count in range(min(n, room[0]) + 1):
        for remaining in _distribute(n - count, room[1:]):
            yield [count, *remaining]


def _errors(counts: Sequence[int], sizes: Sequence[int]) -> tuple[float, float]:
    """Return misses and includes at alpha 1/2, averaged over the clusters of least cost."""
    pairs = [(STARS - x, size - x) for x, size in zip(counts, sizes, strict=True) if x]
    least = min(m + i for m, i in pairs)
    relevant = [(m, i) for m, i in pairs if m + i == least]
    return sum(m for m, _ in relevant) / len(relevant), sum(i for _, i in relevant) / len(relevant)


# --- made from the printed numbers, and gives them back --------------------------------------------------------------


def _reconstruction(results: dict[str, Unlinkability]) -> Iterator[Verdict]:
    """Check `evaluate` on one verdict a side, which says nothing about the paper."""
    for side, result in results.items():
        x, y, printed = result.merges[3], result.mixed_at_threshold[3], PRINTED[side]
        halves = " ".join(f"{2 / math.pi * math.atan(value / x):.3f}" for value in (printed.beta, y))
        totals = f"{result.miss_total:g} {result.include_total:g} {result.kind}"
        yield _equal(
            f"reconstruction, {side}: misses, includes, kind; the stars' halves and slope (made to give them)",
            f"{printed.errors} {printed.linked} {printed.mixed} {printed.slope} %",
            f"{totals} {halves} {100 * result.risk_slope[3]:.2f} %",
        )
    misses = " + ".join(f"{m:g}" for m in results["left"].miss)
    yield _equal("reconstruction, left: misses by shape", "4 + 2 + 3 + 3", misses)
    nearest = {int(merges.cluster[0]) for merges in merge_lists(Contingency.of(*make_partitions(LEFT)), range(4))}
    yield Verdict(
        "reconstruction, left: the star-star-circle cluster contributes to no primary error",
        "true",
        f"best clusters {sorted(nearest)}, it is 1",
        1 not in nearest,
    )


def _overall() -> Iterator[Verdict]:
    """Check the third and fourth rows of Figure 4."""
    for side, rows in (("left", LEFT), ("right", RIGHT)):
        table = Contingency.of(*make_partitions(rows))
        results = [evaluate(table, alpha=alpha) for alpha in FIGURE_ALPHAS]
        curves = np.array([np.concatenate([result.linked_curve, result.mixed_curve]) for result in results])
        slopes = compute_overall_slopes(results, FIGURE_ALPHAS, [b / 100 for b in range(5, 101, 5)])
        n_touching = sum(bool(np.isclose(a, b).any()) for a, b in pairwise(curves))
        claim = f"reconstruction, {side}: overall graphs of alpha = 0, 1/3, 2/3, 1 coincide in parts"
        yield Verdict(claim, "for most alpha", f"{n_touching} of 3 neighbors", n_touching >= 2)
        rises = bool((np.diff(slopes, axis=0) >= -1e-12).all())
        claim = f"reconstruction, {side}: overall slope rises with alpha"
        yield Verdict(claim, "-", "at every beta" if rises else "no", rises)


def _remark_2() -> Iterator[Verdict]:
    pair = [0, 0, 0], [0, 0, 1]
    forward, backward = evaluate(_meet(*pair)), evaluate(_meet(*reversed(pair)))
    ours = f"{forward.miss_total:g}, {forward.include_total:g}; {backward.miss_total:g}, {backward.include_total:g}"
    yield _equal("remark 2: misses, includes; the two partitions exchanged", "1, 0; 0, 3", ours)


def _introduction() -> Iterator[Verdict]:
    guesses = ([0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0, 2], [0, 0, 0, 1, 2, 3, 3])
    tables = [_meet([0, 0, 0, 0, 0, 1, 1], guess) for guess in guesses]
    linking = [evaluate(table, alpha=1, beta=1) for table in tables]
    foreign = [2 * evaluate(table, beta=1).mixed_at_threshold[0] for table in tables]
    slopes = {
        wanted: [evaluate(table, alpha=0, beta=0.9, contamination_wanted=wanted).risk_slope[0] for table in tables]
        for wanted in (False, True)
    }
    text = {wanted: ", ".join(f"{slope:.3f}" for slope in values) for wanted, values in slopes.items()}
    yield _equal("introduction: items of Alice to re-allocate", "1, 2, 2", ", ".join(f"{r.miss[0]:g}" for r in linking))
    yield _equal("introduction: merges to link them", "1, 1, 2", ", ".join(f"{r.merges[0]:g}" for r in linking))
    yield _equal("introduction: Bob's items mixed in by then", "2, 1, 0", ", ".join(f"{x:g}" for x in foreign))
    yield Verdict(
        "introduction: slope ranks them by contamination, unwanted (alpha 0, beta 90 %)",
        "falling",
        text[False],
        slopes[False][0] > slopes[False][1] > slopes[False][2] == 0,
    )
    yield Verdict(
        "REFUTED where contamination is wanted: the third is the best for an adversary (it takes 1.5 merges)",
        "rising",
        text[True],
        slopes[True][0] < slopes[True][1] < slopes[True][2],
        required=False,
    )


def _worst_case() -> Iterator[Verdict]:
    error = evaluate(_meet([0, 1, 1, 1, 1], [0] * 5), alpha=0).error[0]
    yield _equal("worst case: one item, one block, alpha 0: errors / (n - 1)", "1", f"{error / 4:g}")
    error = evaluate(_meet([0] * 5, [0, 1, 2, 3, 4]), alpha=1).normalized_error
    claim = "REFUTED: no other worst case (alpha 1, one subject, all items apart is another)"
    yield Verdict(claim, "below 1", f"{error:g}", bool(error < 1), required=False)
