"""The printed numbers: section 4's example, remark 2, the introduction's example, the worst case of section 3.1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from show import Section, Verdict

from unmask.measures.unlinkability import Unlinkability, evaluate, merge_list
from unmask.view import Partition

SHAPES: Final = ("triangles", "squares", "circles", "stars")
LEFT: Final = ((0, 0, 1, 3), (0, 0, 1, 2), (1, 4, 0, 1), (3, 1, 1, 0), (2, 0, 0, 0), (0, 1, 3, 0))
RIGHT: Final = ((0, 1, 4, 3), (0, 4, 2, 1), (6, 1, 0, 2))
"""Figure 4, clusters by shapes, reconstructed from the printed numbers, which leave no choice for the stars: 0.364 at
90 % means 1.4 mergings, hence pieces of 3, 2 and 1 stars, and 23.20 % that 4 foreign items are merged by then; on the
right 0.361 at 70 % means 1.1 mergings and 35.03 % 11.7 foreign items. The other columns are one choice of several."""
FIGURE_ALPHAS: Final = (0, 1 / 3, 2 / 3, 1)


def partitions(rows: Sequence[Sequence[int]]) -> tuple[Partition, Partition]:
    """Solution and adversary from the counts of each shape in each cluster."""
    cells = [(cluster, shape, x) for cluster, row in enumerate(rows) for shape, x in enumerate(row)]
    counts = [x for *_, x in cells]
    shapes = np.repeat([shape for _, shape, _ in cells], counts)
    return Partition(shapes), Partition(np.repeat([cluster for cluster, *_ in cells], counts))


def example() -> Section:
    """Everything printed that needs no experiment."""
    left, right = (evaluate(*partitions(rows), beta=beta) for rows, beta in ((LEFT, 0.9), (RIGHT, 0.7)))
    verdicts = (*_section_4(left, right), *_overall(), *_remark_2(), *_introduction(), *_worst_case())
    rows = tuple(
        (side, shape, *(f"{value[s]:.4g}" for value in (of.miss, of.include, of.mergings, of.slope)))
        for side, of in (("left", left), ("right", right))
        for s, shape in enumerate(SHAPES)
    )
    return Section(
        "Section 4: the example of Figure 4, and the other printed numbers (alpha = 1/2, b = 0)",
        ("partition", "subject", "misses", "includes", "mergings to beta", "slope"),
        rows,
        ("beta is 90 % for the left and 70 % for the right partition; a slope of nan: breached without a merging.",),
        verdicts,
    )


def _same(claim: str, published: str, ours: str) -> Verdict:
    return Verdict(claim, published, ours, published == ours)


def _section_4(left: Unlinkability, right: Unlinkability) -> list[Verdict]:
    found = []
    for side, of, primary, linked, mixed, slope, beta in (
        ("left", left, ("12", "4", "conservative"), "0.364", "0.100", "23.20 %", 0.9),
        ("right", right, ("7", "15", "liberal"), "0.361", "0.340", "35.03 %", 0.7),
    ):
        x, y = of.mergings[3], of.mixed_at_threshold[3]
        found += [
            _same(f"{side}: misses", primary[0], f"{of.miss_total:g}"),
            _same(f"{side}: includes", primary[1], f"{of.include_total:g}"),
            _same(f"{side}: kind", primary[2], str(of.kind)),
            _same(f"{side}: linked half of the stars' slope", linked, f"{2 / math.pi * math.atan(beta / x):.3f}"),
            _same(f"{side}: mixed half of the stars' slope", mixed, f"{2 / math.pi * math.atan(y / x):.3f}"),
            _same(f"{side}: the stars' slope (printed as the partition's)", slope, f"{100 * of.slope[3]:.2f} %"),
        ]
    found.insert(1, _same("left: misses by shape", "4 + 2 + 3 + 3", " + ".join(f"{m:g}" for m in left.miss)))
    first = {int(merge_list(*partitions(LEFT), shape).cluster[0]) for shape in range(4)}
    found.append(
        Verdict(
            "left: the star-star-circle cluster contributes to no primary error",
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
        of = evaluate(*partitions(rows), alpha=list(FIGURE_ALPHAS), beta=[b / 100 for b in range(5, 101, 5)])
        curves = np.concatenate([of.linked_curve, of.mixed_curve], axis=1)
        same = sum(bool(np.isclose(one, other).any()) for one, other in pairwise(curves))
        found.append(
            Verdict(
                f"{side}: overall graphs of alpha = 0, 1/3, 2/3, 1 coincide at least in parts",
                "for most alpha",
                f"{same} of 3 neighbours",
                same >= 2,
            )
        )
        rising = (np.diff(of.slope_overall, axis=0) >= -1e-12).all()
        found.append(
            Verdict(f"{side}: overall slope rises with alpha", "-", "at every beta" if rising else "no", bool(rising))
        )
    return found


def _remark_2() -> list[Verdict]:
    whole, cut = Partition([0, 0, 0]), Partition([0, 0, 1])
    there, back = evaluate(whole, cut), evaluate(cut, whole)
    ours = f"{there.miss_total:g}, {there.include_total:g}; {back.miss_total:g}, {back.include_total:g}"
    return [_same("remark 2: misses, includes; the two partitions exchanged", "1, 0; 0, 3", ours)]


def _introduction() -> list[Verdict]:
    alice = Partition([0, 0, 0, 0, 0, 1, 1])
    guesses = [Partition(labels) for labels in ([0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0, 2], [0, 0, 0, 1, 2, 3, 3])]
    linking = [evaluate(alice, guess, alpha=1, beta=1) for guess in guesses]
    foreign = [2 * evaluate(alice, guess, beta=1).mixed_at_threshold[0] for guess in guesses]
    slopes = {
        wanted: [evaluate(alice, guess, alpha=0, beta=0.9, contamination_wanted=wanted).slope[0] for guess in guesses]
        for wanted in (False, True)
    }
    told = {wanted: ", ".join(f"{slope:.3f}" for slope in of) for wanted, of in slopes.items()}
    return [
        _same("introduction: items of Alice to re-allocate", "1, 2, 2", ", ".join(f"{of.miss[0]:g}" for of in linking)),
        _same("introduction: mergings to link them", "1, 1, 2", ", ".join(f"{of.mergings[0]:g}" for of in linking)),
        _same("introduction: Bob's items mixed in by then", "2, 1, 0", ", ".join(f"{x:g}" for x in foreign)),
        Verdict(
            "introduction: slope ranks them by contamination, unwanted (alpha 0, beta 90 %)",
            "falling",
            told[False],
            slopes[False][0] > slopes[False][1] > slopes[False][2] == 0,
        ),
        Verdict(
            "the same where contamination is wanted: the third is the greatest risk (it takes 1.5 mergings)",
            "rising",
            told[True],
            slopes[True][0] < slopes[True][1] < slopes[True][2],
            required=False,
        ),
    ]


def _worst_case() -> list[Verdict]:
    one_block = evaluate(Partition([0, 1, 1, 1, 1]), Partition([0] * 5), alpha=0)
    all_alone = evaluate(Partition([0] * 5), Partition([0, 1, 2, 3, 4]), alpha=1)
    return [
        _same("worst case: one item, one block, alpha 0: errors / (n - 1)", "1", f"{one_block.error[0] / 4:g}"),
        Verdict(
            "no other worst case (alpha 1, one subject, all items alone is another)",
            "below 1",
            f"{all_alone.normalised_error:g}",
            bool(all_alone.normalised_error < 1),
            required=False,
        ),
    ]
