"""What adversaries who cluster items do to each subject: tables, charts, and the subjects at most risk."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unmask.reports.canvas import COLOURS, Mark
from unmask.reports.data import Scope
from unmask.reports.linkage import plots
from unmask.reports.linkage.plots import Curve, curve_of
from unmask.reports.linkage.values import GuessLinkage, Linkage, SubjectRisk
from unmask.reports.linkage.words import ALIASES, WHOLE, cautions, plain, policy, score, setting, strongest_first
from unmask.reports.sections import Figure, Grid, listing
from unmask.reports.words import lettered, number, percent, release_name

LINES = 6
"""Guesses that are told apart in one chart."""

PANELS = 4
"""Guesses that have a chart, and a list of subjects, of their own."""

LISTED = 10
"""Subjects in one list."""

CLUSTERS = 8
"""Clusters of one subject that are listed."""

FLAT = 0.01
"""A curve is flat where it moves by no more than this part of the scale."""

THRESHOLD = "Threshold \u03b2: share of items linked"

FAR = 30.0
"""A guess that mixes in so many times as much as every other is left out of their chart."""

AVERAGE, WORST = "average subject", "worst-off tenth"


@dataclass(frozen=True)
class LinkageSection:
    """All that the page says about adversaries who cluster items; what is empty is left out."""

    setting: str
    policy: str
    cautions: tuple[str, ...]
    guesses: Grid
    views: bool
    whole: tuple[Grid, ...]
    curves: tuple[Figure, ...]
    curve_notes: tuple[str, ...]
    thresholds: tuple[Figure, ...]
    threshold_notes: tuple[str, ...]
    errors: tuple[Figure, ...]
    error_notes: tuple[str, ...]
    subjects: tuple[Grid, ...]
    subject_notes: tuple[str, ...]


@dataclass(frozen=True)
class Told:
    """A guess with the number of its look, and its name with its letter where letters are used."""

    guess: GuessLinkage
    style: int
    name: str


def linkage_section(linkage: Linkage | None, scope: Scope) -> LinkageSection | None:
    """The section, or None where nobody clustered anything."""
    if linkage is None:
        return None
    told = told_apart(linkage, scope)
    drawn = _in_own_look(told[:LINES])
    upto = horizon(linkage)
    return LinkageSection(
        setting=setting(linkage),
        policy=policy(linkage),
        cautions=tuple(cautions(linkage)),
        guesses=guess_table(told),
        views=any(one.guess.partitions > 1 for one in told),
        whole=whole_tables(told),
        curves=curve_figures(linkage, drawn, upto),
        curve_notes=tuple(_curve_notes(linkage, upto)),
        thresholds=threshold_figures(linkage, drawn),
        threshold_notes=tuple(_threshold_notes(linkage)),
        errors=error_figures(drawn[:PANELS]),
        error_notes=tuple(_error_notes(linkage)),
        subjects=subject_tables(told[:PANELS]),
        subject_notes=tuple(_subject_notes(linkage)),
    )


def told_apart(linkage: Linkage, scope: Scope) -> list[Told]:
    """The guesses, the strongest first, each in the look of its rows; guesses without rows come after all others."""
    styles = dict(scope.styles)
    for guess in linkage.guesses:
        styles.setdefault(guess.name, len(styles))
    return [
        Told(guess, styles[guess.name], lettered(guess.name, styles[guess.name], len(scope.adversaries)))
        for guess in strongest_first(linkage)
    ]


def _in_own_look(told: Sequence[Told]) -> list[Told]:
    """The same, in looks by their order if two of them would look alike."""
    looks = {one.style % LINES for one in told}
    return list(told) if len(looks) == len(told) else [Told(one.guess, i, one.name) for i, one in enumerate(told)]


# --- tables -------------------------------------------------------------------------------------------------------


def guess_table(told: Sequence[Told]) -> Grid:
    """Guess by guess: how many subjects are breached, how near the others are, and how unequal they are."""
    views = any(one.guess.partitions > 1 for one in told)
    head = ("Guess", "Clusters", *(("Partitions",) if views else ()))
    rates = ("Breached", "Shuffled", "Clean", "One away", "Median mergings", "Most", "Gini", "Jain", "Kind")
    rows = tuple(
        (
            one.name,
            f"{one.guess.clusters:,}",
            *((f"{one.guess.partitions:,}",) if views else ()),
            *_rates(one.guess),
        )
        for one in told
    )
    return Grid((*head, *rates), (("", rows),))


def _rates(guess: GuessLinkage) -> tuple[str, ...]:
    shares = (percent(share) for share in (guess.breached, guess.guessing, guess.clean, guess.one_away))
    merged = (count(value) for value in (guess.median_mergings, guess.most_mergings))
    return (*shares, *merged, number(guess.gini, 2), number(guess.jain, 2), guess.kind)


def whole_tables(told: Sequence[Told]) -> tuple[Grid, ...]:
    """What is said of the whole partition, a line for each measure that any guess has, known ones first."""
    named = [{ALIASES.get(name, name): value for name, value in one.guess.whole.items()} for one in told]
    known = dict.fromkeys(name for values in named for name in values)
    order = [*(name for name in WHOLE if name in known), *(name for name in known if name not in WHOLE)]
    values = {
        one.name: {name: score(own[name]) if name in own else None for name in order}
        for one, own in zip(told, named, strict=True)
    }
    return tuple(listing(values, WHOLE, "As a whole"))


def subject_tables(told: Sequence[Told]) -> tuple[Grid, ...]:
    """For each of the first guesses the subjects at most risk, and what to merge to link their items."""
    now = ("Linked now", "Lacking", "Foreign", "Foreign share")
    head = ("Subject", "Items", "Pieces", *now, "Mergings", "Slope", "Clusters to merge, in order")
    return tuple(
        Grid(head, (("", tuple(_subject(item) for item in one.guess.worst[:LISTED])),), caption=one.name)
        for one in told
        if one.guess.worst
    )


def _subject(item: SubjectRisk) -> tuple[str, ...]:
    return (
        str(item.number),
        f"{item.items:,}",
        f"{item.pieces:,}",
        percent(item.linked),
        count(item.miss),
        count(item.include),
        percent(item.foreign),
        count(item.mergings),
        number(item.slope, 2),
        listed(item.clusters),
    )


def count(value: float) -> str:
    """Items or mergings: whole numbers as they are, expectations with a decimal.

    >>> count(1204.0), count(1.43)
    ('1,204', '1.4')
    """
    return number(value) if math.isfinite(value) and value == int(value) else number(value, 1)


def listed(clusters: Sequence[int]) -> str:
    """The first numbers, and how many more there are.

    >>> listed([7, 3]), listed(range(10))
    ('7, 3', '0, 1, 2, 3, 4, 5, 6, 7 ... and 2 more')
    """
    if not clusters:
        return "\u2013"
    more = f" ... and {len(clusters) - CLUSTERS:,} more" if len(clusters) > CLUSTERS else ""
    return ", ".join(map(str, clusters[:CLUSTERS])) + more


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
    mixed = "Foreign items still lacking" if linkage.wanted else "Foreign items mixed in"
    level = Mark(linkage.beta, f"\u03b2 {plain(linkage.beta)}")
    linked_panels = _panels("Own items linked", [(one, one.guess.linked_curve, one.guess.worst_linked) for one in told])
    beside = [one for one in told if one.guess.name != _far_off(linkage)] if _mixes(linkage) else []
    mixed_panels = _panels(mixed, [(one, one.guess.mixed_curve, one.guess.worst_mixed) for one in beside])
    top = _top([curve[: upto + 1] for _, lines in mixed_panels for _, curve, _ in lines])
    drawn = [*((*one, 1.0, level) for one in linked_panels), *((*one, top, None) for one in mixed_panels)]
    figures = []
    for i, (caption, named, high, mark) in enumerate(drawn):
        lines = [curve_of(name, _run(curve, upto), style) for name, curve, style in named]
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
        panels = [(caption, [(AVERAGE, average, one.style), (WORST, worst, one.style + 1)])]
    else:
        panels = [
            (f"{caption}, {AVERAGE}", [(one.name, average, one.style) for one, average, _ in curves]),
            (f"{caption}, {WORST}", [(one.name, worst, one.style) for one, _, worst in curves]),
        ]
    known = [(said, [line for line in lines if line[1]]) for said, lines in panels]
    return [(said, lines) for said, lines in known if lines]


def _run(curve: Sequence[float], upto: int) -> list[tuple[float, float]]:
    """The points up to the last merging that is drawn; a shorter curve goes on at its last value."""
    return [(float(j), curve[min(j, len(curve) - 1)]) for j in range(upto + 1)]


def _ends(lines: Sequence[Curve], *, share: bool = True) -> str:
    """The first and the last value of each line, for readers who do not see it."""
    ends = ((line.name, line.points[0][1], line.points[-1][1]) for line in lines)
    if share:
        return "; ".join(f"{name}: {percent(first)} to {percent(last)}" for name, first, last in ends) + "."
    return "; ".join(f"{name}: {number(first, 2)} to {number(last, 2)}" for name, first, last in ends) + "."


def _curve_notes(linkage: Linkage, upto: int) -> list[str]:
    longest = max(len(guess.linked_curve) for guess in linkage.guesses)
    if longest == 0:
        return []
    notes = ["Every subject is given as many mergings of its own."]
    if _mixes(linkage):
        notes[0] += (
            " Foreign items are a share of all items of other subjects: in large sets it stays small although a "
            "cluster may be mostly foreign."
        )
    else:
        notes.append("No foreign item is mixed in at any number of mergings; no chart is drawn of that.")
    if (far := _far_off(linkage)) is not None:
        notes.append(f"The guess {release_name(far)} mixes in far more than all others; it is left out of that chart.")
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
    breached = [curve_of(one.name, _against(linkage, one.guess.breach_rates), one.style) for one in told]
    sloping = {one.name: _slopes(linkage, one.guess) for one in told[:PANELS] if one.guess.slopes}
    rows = max(plots.legend_rows(lines) for lines in (breached, *sloping.values()))
    return (breach_figure(linkage, told, breached, rows), *slope_figures(linkage, sloping, rows, alone=len(told) == 1))


def _against(linkage: Linkage, values: Sequence[float]) -> list[tuple[float, float]]:
    return list(zip(linkage.betas, values, strict=True))


def _chosen(linkage: Linkage) -> Mark:
    return Mark(linkage.beta, f"\u03b2 {plain(linkage.beta)}")


def breach_figure(linkage: Linkage, told: Sequence[Told], lines: Sequence[Curve], rows: int) -> Figure:
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


def slope_figures(linkage: Linkage, lines: Mapping[str, Sequence[Curve]], rows: int, *, alone: bool) -> list[Figure]:
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


def _slopes(linkage: Linkage, guess: GuessLinkage) -> list[Curve]:
    return [
        curve_of(f"\u03b1 {alpha:.3g}", _against(linkage, values), style, shade=True)
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


def _threshold_notes(linkage: Linkage) -> list[str]:
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
    if not points:
        return ()
    most = max(p[0] for p in points), max(p[1] for p in points), max(1, *(p[2] for p in points))
    return tuple(
        Figure(
            "Misses and includes" if len(told) == 1 else one.name,
            plots.bubbles(
                one.guess.miss_include,
                largest=most,
                colour=COLOURS[one.style % len(COLOURS)],
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
    return f"The most, {subjects:,}, have {miss:,} misses and {include:,} includes."


def _error_notes(linkage: Linkage) -> list[str]:
    points = [point for guess in linkage.guesses for point in guess.miss_include]
    if not points:
        return []
    notes = [
        (
            "The area of a bubble is its number of subjects. At the left, all items of a subject are together; at the "
            "bottom, nothing foreign is with them; in the corner the adversary is right about the subject."
        )
    ]
    if any(plots.stretched(max(point[axis] for point in points)) for axis in (0, 1)):
        notes.append("Long scales are logarithmic in 1 + items.")
    return notes


def _subject_notes(linkage: Linkage) -> list[str]:
    longest = max(len(guess.worst) for guess in linkage.guesses)
    shown: Mapping[str, bool] = {
        f"The first {LISTED} of the subjects at most risk are listed.": longest > LISTED,
        f"The {PANELS} strongest guesses have a list.": len(linkage.guesses) > PANELS,
    }
    return [text for text, holds in shown.items() if holds] if longest else []
