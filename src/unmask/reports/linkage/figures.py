"""Charts of the section on linkage: curves over mergings, thresholds, misses and includes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from unmask.reports.canvas import COLORS, Mark
from unmask.reports.lines import Line, legend_rows
from unmask.reports.linkage import plots
from unmask.reports.linkage.tables import PANELS, Told
from unmask.reports.linkage.values import GuessLinkage, Linkage
from unmask.reports.linkage.words import plain, the_guess
from unmask.reports.sections import Figure
from unmask.reports.words import number, percent

LINES = 6
"""Guesses that are told apart in one chart."""

FLAT = 0.01
"""A curve is flat where it moves by no more than this part of the scale."""

THRESHOLD = "Threshold \u03b2: share of items linked"

FAR = 30.0
"""A guess that mixes in so many times as much as every other is left out of their chart."""

AVERAGE, WORST = "average subject", "worst-off tenth"

EVEN = 0.05
"""A chart whose lines all stay within this part of its scale is said in words instead."""

# --- curves over mergings -----------------------------------------------------------------------------------------


def horizon(linkage: Linkage) -> int:
    """The last merging that is drawn: after it no curve moves by more than `FLAT` of its scale; at least 1."""
    linked = [own for guess in linkage.guesses for own in (guess.linked_curve, guess.worst_linked)]
    mixed = [own for guess in linkage.guesses for own in (guess.mixed_curve, guess.worst_mixed)]
    scales = [(curve, 1.0) for curve in linked] + [(curve, _top(mixed)) for curve in mixed]
    return max([1, *(_flat_from(curve, FLAT * scale) for curve, scale in scales)])


def _top(curves: Sequence[Sequence[float]]) -> float:
    return max((value for curve in curves for value in curve if math.isfinite(value)), default=0.0) or 1.0


def _flat_from(curve: Sequence[float], tolerance: float) -> int:
    """The first entry after which the curve stays within `tolerance` of its end."""
    return next((i + 1 for i in range(len(curve) - 1, -1, -1) if abs(curve[i] - curve[-1]) > tolerance), 0)


def curve_figures(linkage: Linkage, told: Sequence[Told], upto: int) -> tuple[Figure, ...]:
    """Linked and mixed against mergings: two panels for one guess, four for several, the worst-off on their own."""
    figures = []
    for i, (caption, lines, high, mark) in enumerate(_drawn(linkage, told, upto)):
        if _is_even(lines, high):
            continue
        svg = plots.curves(
            lines,
            right=float(upto),
            top=high,
            title="Mergings",
            mergings=True,
            level=mark,
            label=f"{caption}, after 0 to {upto:,} mergings. {_ends(lines)}",
            key=f"linkage-curve{i}",
        )
        figures.append(Figure(caption, svg))
    return tuple(figures)


def _drawn(linkage: Linkage, told: Sequence[Told], upto: int) -> list[tuple[str, list[Line], float, Mark | None]]:
    """(caption, lines, end of the scale, rule across) of each panel of curves over mergings."""
    mixed = "Foreign items still lacking" if linkage.wanted else "Foreign items mixed in"
    level = Mark(linkage.beta, f"\u03b2 {plain(linkage.beta)}")
    linked_panels = _panels("Own items linked", [(one, one.guess.linked_curve, one.guess.worst_linked) for one in told])
    beside = [one for one in told if one.guess.name != _far_off(linkage)] if _mixes(linkage) else []
    mixed_panels = _panels(mixed, [(one, one.guess.mixed_curve, one.guess.worst_mixed) for one in beside])
    top = _top([curve[: upto + 1] for _, lines in mixed_panels for _, curve, _ in lines])
    panels = [*((*one, 1.0, level) for one in linked_panels), *((*one, top, None) for one in mixed_panels)]
    return [
        (caption, [Line(name, _run(curve, upto), style) for name, curve, style in named], high, mark)
        for caption, named, high, mark in panels
    ]


def _is_even(lines: Sequence[Line], high: float) -> bool:
    """Whether a reader would see one flat line."""
    values = [y for line in lines for _, y in line.points if math.isfinite(y)]
    return bool(values) and max(values) - min(values) <= EVEN * high


def _mixes(linkage: Linkage) -> bool:
    """Whether any foreign item is mixed in anywhere."""
    none = 1.0 if linkage.wanted else 0.0
    curves = [own for guess in linkage.guesses for own in (guess.mixed_curve, guess.worst_mixed)]
    return any(math.isfinite(value) and value != none for curve in curves for value in curve)


def _far_off(linkage: Linkage) -> str | None:
    """The guess beside whose mixing that of all others could not be seen, if there is one."""
    most = sorted(
        ((_top([guess.mixed_curve, guess.worst_mixed]), guess.name) for guess in linkage.guesses if guess.mixed_curve),
        reverse=True,
    )
    return most[0][1] if len(most) > 2 and most[0][0] > FAR * most[1][0] else None


def _panels(
    caption: str, curves: Sequence[tuple[Told, tuple[float, ...], tuple[float, ...]]]
) -> list[tuple[str, list[tuple[str, tuple[float, ...], int]]]]:
    """(caption, lines) of each panel with a curve; a line is its name, its curve, and the number of its look."""
    if not curves:
        return []
    if len(curves) == 1:
        one, average, worst = curves[0]
        panels = [(caption, [(AVERAGE, average, one.style), (_worst(one.guess), worst, one.style + 1)])]
    else:
        panels = [
            (f"{caption}, {AVERAGE}", [(one.name, average, one.style) for one, average, _ in curves]),
            (f"{caption}, {WORST}", [(one.name, worst, one.style) for one, _, worst in curves]),
        ]
    known = [(said, [line for line in lines if line[1]]) for said, lines in panels]
    return [(said, lines) for said, lines in known if lines]


def _worst(guess: GuessLinkage) -> str:
    """Whom the curves of the worst-off are of: where more than a tenth are breached, all of these are equally so."""
    return WORST if guess.breached <= 0.1 else f"the {percent(guess.breached)} breached"


def _run(curve: Sequence[float], upto: int) -> list[tuple[float, float]]:
    """The points up to the last merging that is drawn; a shorter curve goes on at its last value."""
    return [(float(j), curve[min(j, len(curve) - 1)]) for j in range(upto + 1)]


def _ends(lines: Sequence[Line], *, share: bool = True) -> str:
    """The first and the last value of each line, for readers who do not see it."""
    ends = ((line.name, line.points[0][1], line.points[-1][1]) for line in lines)
    if share:
        return "; ".join(f"{name}: {percent(first)} to {percent(last)}" for name, first, last in ends) + "."
    return "; ".join(f"{name}: {number(first, 2)} to {number(last, 2)}" for name, first, last in ends) + "."


def curve_notes(linkage: Linkage, told: Sequence[Told], upto: int) -> list[str]:
    """What is drawn of the curves over mergings, and how they are read; what is said in place of a flat chart."""
    longest = max(len(guess.linked_curve) for guess in linkage.guesses)
    if longest == 0:
        return []
    notes = ["Every subject is given as many mergings of its own."]
    many = len(linkage.guesses) > 1 and any(guess.breached > 0.1 for guess in linkage.guesses)
    if many:
        notes.append("Where more than a tenth of the subjects is breached, all who are count as the worst-off tenth.")
    merges = "merging" if upto == 1 else "mergings"
    notes += [
        f"{caption}, after 0 to {upto:,} {merges}, too even to draw: {_ends(lines)}"
        for caption, lines, high, _ in _drawn(linkage, told, upto)
        if _is_even(lines, high)
    ]
    if _mixes(linkage):
        notes[0] += (
            " Foreign items are a share of all items of other subjects: in large sets it stays small although a "
            "cluster may be mostly foreign."
        )
    else:
        notes.append("No foreign item is mixed in at any number of mergings; no chart is drawn of that.")
    if (far := _far_off(linkage)) is not None:
        notes.append(f"{the_guess(far)} mixes in far more than all others; it is left out of that chart.")
    if longest - 1 > upto:
        notes.append(
            f"Beyond {upto:,} merging{'s' if upto > 1 else ''} no curve moves by more than {plain(FLAT)} of its scale."
        )
    if len(linkage.guesses) > LINES:
        notes.append(f"The {LINES} strongest guesses are drawn; the table has all {len(linkage.guesses)}.")
    return notes


# --- thresholds ---------------------------------------------------------------------------------------------------


def threshold_figures(linkage: Linkage, told: Sequence[Told]) -> tuple[Figure, ...]:
    """Subjects breached, and the risk slopes of the first guesses, against the threshold."""
    if not linkage.betas:
        return ()
    breached = [Line(one.name, _against(linkage, one.guess.breach_rates), one.style) for one in told]
    sloping = {one.name: _slopes(linkage, one.guess) for one in told[:PANELS] if one.guess.slopes}
    rows = max(legend_rows(lines) for lines in (breached, *sloping.values()))
    return (breach_figure(linkage, told, breached, rows), *slope_figures(linkage, sloping, rows, alone=len(told) == 1))


def _against(linkage: Linkage, values: Sequence[float]) -> list[tuple[float, float]]:
    return list(zip(linkage.betas, values, strict=True))


def _chosen(linkage: Linkage) -> Mark:
    return Mark(linkage.beta, f"\u03b2 {plain(linkage.beta)}")


def breach_figure(linkage: Linkage, told: Sequence[Told], lines: Sequence[Line], rows: int) -> Figure:
    """Share of subjects breached against the threshold, a line for each guess; hollow, what shuffled labels do."""
    rates = [*(one.guess.breach_rates for one in told), [one.guess.guessing for one in told]]
    caption = "Subjects breached, by threshold"
    svg = plots.curves(
        lines,
        right=1.0,
        top=_top(rates),
        title=THRESHOLD,
        upright=_chosen(linkage),
        spots=[(linkage.beta, one.guess.guessing, line) for one, line in zip(told, lines, strict=True)],
        rows=rows,
        label=f"{caption}, from {plain(linkage.betas[0])} to {plain(linkage.betas[-1])}. {_ends(lines)}",
        key="linkage-breach",
    )
    return Figure(caption, svg)


def slope_figures(linkage: Linkage, lines: Mapping[str, Sequence[Line]], rows: int, *, alone: bool) -> list[Figure]:
    """Risk slope against the threshold, a line for each alpha, a panel for each guess on the same scale."""
    top = _top([[y for _, y in line.points] for own in lines.values() for line in own])
    figures = []
    for i, (name, own) in enumerate(lines.items()):
        caption = "Risk slope, by threshold" if alone else f"Risk slope: {name}"
        svg = plots.curves(
            own,
            right=1.0,
            top=top,
            title=THRESHOLD,
            upright=_chosen(linkage),
            rows=rows,
            share=False,
            label=f"{caption}, of the average subject. {_ends(own, share=False)}",
            key=f"linkage-slope{i}",
        )
        figures.append(Figure(caption, svg))
    return figures


def _slopes(linkage: Linkage, guess: GuessLinkage) -> list[Line]:
    return [
        Line(f"\u03b1 {alpha:.3g}", _against(linkage, values), style, shade=True)
        for style, (alpha, values) in enumerate(_spread(guess.slopes))
    ]


def _spread(
    slopes: Sequence[tuple[float, tuple[float, ...]]],
) -> list[tuple[float, tuple[float, ...]]]:
    """At most six of the lines, the outermost among them, the highest alpha first."""
    ordered = sorted(slopes, key=lambda item: -item[0])
    if len(ordered) <= LINES:
        return ordered
    return [ordered[round(i * (len(ordered) - 1) / (LINES - 1))] for i in range(LINES)]


def threshold_notes(linkage: Linkage) -> list[str]:
    """How the charts over thresholds are read."""
    if not linkage.betas:
        return []
    notes = [f"Hollow: breached by clusters of the same sizes with shuffled labels, at \u03b2 {plain(linkage.beta)}."]
    if any(guess.slopes for guess in linkage.guesses):
        notes.append(
            "The risk slope is that of the average subject: how steeply its linked share rises to the threshold, and "
            "with weight 1 \u2212 \u03b1 how steeply the mixed share does; 1 where the threshold is linked at once."
        )
    return notes


# --- misses and includes ------------------------------------------------------------------------------------------


def error_figures(told: Sequence[Told]) -> tuple[Figure, ...]:
    """Misses against includes of the subjects, a panel for each guess on the same scales."""
    shown = [one for one in told if one.guess.miss_include]
    points = [point for one in shown for point in one.guess.miss_include]
    if len({point[:2] for point in points}) < 2:
        return ()
    most = max(p[0] for p in points), max(p[1] for p in points), max(1, *(p[2] for p in points))
    return tuple(
        Figure(
            "Misses and includes" if len(told) == 1 else one.name,
            plots.bubbles(
                one.guess.miss_include,
                largest=most,
                color=COLORS[one.style % len(COLORS)],
                label=f"Misses against includes of {sum(p[2] for p in one.guess.miss_include):,} subjects. "
                f"{_largest(one.guess.miss_include)}",
                key=f"linkage-error{i}",
            ),
        )
        for i, one in enumerate(shown)
    )


def _largest(points: Sequence[tuple[int, int, int]]) -> str:
    """The commonest errors, for readers who do not see the chart."""
    miss, include, subjects = max(points, key=lambda point: point[2])
    return f"The most subjects, {subjects:,}, have {miss:,} misses and {include:,} includes."


def error_notes(linkage: Linkage, least: int) -> list[str]:
    """How the chart of misses and includes is read; least : the fewest subjects that a bubble stands for."""
    points = [point for guess in linkage.guesses for point in guess.miss_include]
    if len({point[:2] for point in points}) < 2:
        return [_largest(points)] if points else []
    notes = [
        (
            "The area of a bubble is its number of subjects. At the left, all items of a subject are together; at the "
            "bottom, nothing foreign is with them; in the corner the adversary is right about the subject."
        )
    ]
    if least > 1:
        notes.append(f"Errors of fewer than {least:,} subjects are left out.")
    if any(plots.stretched(max(point[axis] for point in points)) for axis in (0, 1)):
        notes.append("Long scales are logarithmic in 1 + items.")
    return notes
