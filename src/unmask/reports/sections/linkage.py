"""What adversaries who cluster items do to subjects: who is breached, how near others are, two kinds of error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from unmask.measures.names import PARTITION_SCORES
from unmask.render import Figure
from unmask.reports.data import Scope
from unmask.reports.facts.linkage import GuessLinkage, Linkage
from unmask.reports.figures import Line, describe_ends, lines_figure
from unmask.reports.findings.linkage import (
    ALIASES,
    cautions,
    plain,
    policy,
    score,
    setting,
    share_of,
    strongest_first,
    the_guess,
)
from unmask.reports.findings.linkage import findings as findings
from unmask.reports.parts import Figures, Grid, Heading, Loose, Section, grid, lead, minds, notes, parts
from unmask.reports.screens.linkage import advice as advice
from unmask.reports.screens.linkage import at_risk as at_risk
from unmask.reports.sections.utility import listing
from unmask.reports.words import lettered, number, percent, plural
from unmask.results import Chart, Column, Table

LINES = 6
"""Guesses that are told apart in one chart."""

PANELS = 4
"""Guesses that have a chart of their own."""

FLAT = 0.01
"""A curve is flat where it moves by no more than this part of the scale."""

EVEN = 0.05
"""A chart whose lines all stay within this part of its scale is said in words instead."""

BUBBLE_LIMIT = 300
"""Bubbles that are drawn one by one; of more, neighbors are drawn as one."""

LABELED = 8
"""Bubbles with their number of subjects next to them."""

FAR = 30.0
"""A guess that mixes in so many times as much as every other is left out of their chart."""

SHARE = Column("share", "", "share")

SLOPES = Column("slope", "", "number")

THRESHOLD = Column("threshold", "Threshold \u03b2: share of items linked", "share")

AVERAGE, WORST = "average subject", "worst-off tenth"

COLUMNS = (
    "Breached, clean and one away are shares of subjects. Shuffled: breached by clusters of the same sizes with "
    "shuffled labels, on average. Clean: breached by a cluster without a single item of others. One away: not "
    "breached, and breached once one more cluster is joined. Merges: clusters to join until the threshold, 0 where it "
    "is linked already. Gini (0 even, 1 uneven) and Jain (1 even) compare the risk of subjects. Kind: conservative "
    "guesses miss more items than they include, liberal ones the other way round."
)

VIEWS = (
    " A guess of several partitions is a view: what is said of it is what is expected over them, and clusters are "
    "those of the first."
)

SLOPE = (
    "The risk slope is that of the average subject: how steeply its linked share rises to the threshold, and with "
    "weight 1 \u2212 \u03b1 how steeply the mixed share does; 1 where the threshold is linked at once. At \u03b1 1 "
    "only what is linked counts, at \u03b1 0 only what of others is mixed in."
)

BUBBLES = (
    "The area of a bubble is its number of subjects. At the left, all items of a subject are together; at the bottom, "
    "nothing of others is with them; in the corner the adversary is right about the subject."
)


@dataclass(frozen=True)
class Told:
    """A guess with the number of its look, and its name with its letter where letters are used."""

    guess: GuessLinkage
    style: int
    name: str


def section(linkage: Linkage, scope: Scope) -> Section:
    """The section of a page."""
    told = _told_apart(linkage, scope)
    drawn = _in_own_look(told[:LINES])
    several = " The guess that breaches most beyond shuffled labels comes first." if len(told) > 1 else ""
    views = VIEWS if any(one.guess.partitions > 1 for one in told) else ""
    whole = _whole_tables(told)
    first, *others = findings(linkage, scope)
    nearness = f"{first.partition('. ')[2].partition('. ')[0].rstrip('.')}." if ". " in first else ""
    shown = parts(
        _thresholds(linkage, drawn),
        Heading("Who is breached, and how near the others are", nearness),
        f"{setting(linkage)} {policy(linkage)}",
        minds(cautions(linkage)),
        lead(COLUMNS + several + views),
        _guess_table(told),
        lead("What is customarily said of a clustering as a whole. Nothing of it says who is breached.")
        if whole
        else (),
        whole,
        Heading("By clusters joined", _after_one(told[0].guess)),
        _curves(linkage, drawn),
        Heading("Two kinds of error", _kind(told[0].guess)),
        _errors(linkage, drawn[:PANELS], scope.data.least),
    )
    said = next(iter(others), "How many subjects would be breached if another share of their items were the limit.")
    return Section("linkage", "Which items the adversary links", shown, said, open=True)


def _after_one(guess: GuessLinkage) -> str:
    curve = guess.linked_curve
    if len(curve) < 2:
        return ""
    now, then = percent(curve[0]), percent(curve[1])
    return f"Of the average subject {now} of the items are in one cluster, and {then} once one more is joined to it."


def _kind(guess: GuessLinkage) -> str:
    """Which error is commoner."""
    kinds = {
        "conservative": "The guess misses more items than it includes.",
        "liberal": "The guess includes more items of others than it misses own ones.",
    }
    return kinds.get(guess.kind, "The guess misses as many items as it includes.")


def _told_apart(linkage: Linkage, scope: Scope) -> list[Told]:
    """The guesses, the strongest first, each in the look of its rows; guesses without rows come after all others."""
    styles = scope.looks(guess.name for guess in linkage.guesses)
    return [
        Told(guess, styles[guess.name], lettered(guess.name, styles[guess.name], len(scope.adversaries)))
        for guess in strongest_first(linkage)
    ]


def _in_own_look(told: Sequence[Told]) -> list[Told]:
    """The same, in looks by their order if two of them would look alike."""
    looks = {one.style % LINES for one in told}
    return list(told) if len(looks) == len(told) else [Told(one.guess, i, one.name) for i, one in enumerate(told)]


# --- tables ----------------------------------------------------------------------------------------------------------


def _guess_table(told: Sequence[Told]) -> Grid:
    """Guess by guess: how many subjects are breached, how near the others are, and how unequal they are."""
    views = any(one.guess.partitions > 1 for one in told)
    rates: tuple[str, ...] = (
        "Breached",
        "Shuffled",
        "Clean",
        "One away",
        "Median merges",
        "Most",
        "Gini",
        "Jain",
        "Kind",
    )
    rates = rates[:3] if all(one.guess.at_least for one in told) else rates
    rows = (
        (
            one.name,
            f"{one.guess.clusters:,}",
            *((f"{one.guess.partitions:,}",) if views else ()),
            *_rates(one.guess)[: len(rates)],
        )
        for one in told
    )
    return grid(("Guess", "Clusters", *(("Partitions",) if views else ()), *rates), rows)


def _rates(guess: GuessLinkage) -> tuple[str, ...]:
    shares = (share_of(guess, "breached"), percent(guess.guessing), share_of(guess, "clean"), percent(guess.one_away))
    merges = (_count(value) for value in (guess.median_merges, guess.most_merges))
    return (*shares, *merges, number(guess.gini, 2), number(guess.jain, 2), guess.kind)


def _count(value: float) -> str:
    """Merges: whole numbers as they are, expectations with a decimal."""
    return number(value) if math.isfinite(value) and value == int(value) else number(value, 1)


def _whole_tables(told: Sequence[Told]) -> list[Grid]:
    """What is said of the whole partition, a line for each measure that any guess has, known ones first."""
    named = [{ALIASES.get(name, name): value for name, value in one.guess.whole.items()} for one in told]
    known = dict.fromkeys(name for values in named for name in values)
    order = [
        *(name for name in PARTITION_SCORES if name in known),
        *(name for name in known if name not in PARTITION_SCORES),
    ]
    values = {
        one.name: {name: score(own[name]) if name in own else None for name in order}
        for one, own in zip(told, named, strict=True)
    }
    return listing(values, PARTITION_SCORES, "As a whole")


# --- by merges -------------------------------------------------------------------------------------------------------


def _all_curves(linkage: Linkage, *names: str) -> list[tuple[float, ...]]:
    return [getattr(guess, name) for guess in linkage.guesses for name in names]


def horizon(linkage: Linkage) -> int:
    """The last merge that is drawn: after it no curve moves by more than `FLAT` of its scale; at least 1."""
    mixed = _all_curves(linkage, "mixed_curve", "worst_mixed")
    scales = [(curve, 1.0) for curve in _all_curves(linkage, "linked_curve", "worst_linked")]
    scales += [(curve, _top(mixed)) for curve in mixed]
    return max([1, *(_flat_from(curve, FLAT * scale) for curve, scale in scales)])


def _top(curves: Sequence[Sequence[float]]) -> float:
    return max((value for curve in curves for value in curve if math.isfinite(value)), default=0.0) or 1.0


def _values(lines: Iterable[Line]) -> list[list[float]]:
    return [[y for _, y in line.points if y is not None] for line in lines]


def _flat_from(curve: Sequence[float], tolerance: float) -> int:
    """The first entry after which the curve stays within `tolerance` of its end."""
    return next((i + 1 for i in range(len(curve) - 1, -1, -1) if abs(curve[i] - curve[-1]) > tolerance), 0)


def _curves(linkage: Linkage, told: Sequence[Told]) -> tuple[Loose, ...]:
    """Linked and mixed against merges, and how they are read; what would be a flat chart is said."""
    longest, upto = max(len(guess.linked_curve) for guess in linkage.guesses), horizon(linkage)
    beta = {f"\u03b2 {plain(linkage.beta)}": linkage.beta}
    linked = _lines("Own items linked", told, ("linked_curve", "worst_linked"), upto)
    what = "Items of others still lacking" if linkage.wanted else "Items of others mixed in"
    beside = [one for one in told if one.guess.name != _far_off(linkage)] if _mixes(linkage) else []
    mixed = list(_lines(what, beside, ("mixed_curve", "worst_mixed"), upto))
    top = _top(_values(line for _, lines in mixed for line in lines))
    panels = [*(_Panel(*one, 1.0, beta) for one in linked), *(_Panel(*one, top) for one in mixed)]
    drawn = [panel for panel in panels if not panel.even]
    figures = Figures(tuple(panel.figure() for panel in drawn))
    return (figures, notes(_curve_notes(linkage, panels, longest, upto)) if longest else ())


@dataclass(frozen=True)
class _Panel:
    caption: str
    lines: tuple[Line, ...]
    top: float
    rules: Mapping[str, float] = field(default_factory=dict)

    @property
    def even(self) -> bool:
        """Whether a reader would see one flat line."""
        values = [y for own in _values(self.lines) for y in own if math.isfinite(y)]
        return bool(values) and max(values) - min(values) <= EVEN * self.top

    def figure(self) -> Figure:
        """The panel drawn over merges."""
        x = Column("merges", "Merges (clusters joined)", "number")
        return lines_figure(self.caption, x, SHARE, self.lines, rules=self.rules, y_max=self.top)


def _mixes(linkage: Linkage) -> bool:
    """Whether any item of others is mixed in anywhere."""
    none = 1.0 if linkage.wanted else 0.0
    curves = _all_curves(linkage, "mixed_curve", "worst_mixed")
    return any(math.isfinite(value) and value != none for curve in curves for value in curve)


def _far_off(linkage: Linkage) -> str | None:
    """The guess beside whose mixing that of all others could not be seen, if there is one."""
    known = [guess for guess in linkage.guesses if guess.mixed_curve]
    most = sorted(((_top([guess.mixed_curve, guess.worst_mixed]), guess.name) for guess in known), reverse=True)
    return most[0][1] if len(most) > 2 and most[0][0] > FAR * most[1][0] else None


def _lines(
    caption: str, told: Sequence[Told], names: tuple[str, str], upto: int
) -> Iterator[tuple[str, tuple[Line, ...]]]:
    """(caption, lines) of each chart: average and worst-off together of one guess, else apart.

    Where more than a tenth are breached, all of these are equally badly off. A curve goes on at its last value.
    """
    if len(told) == 1:
        (one,) = told
        worst = WORST if one.guess.breached <= 0.1 else f"the {percent(one.guess.breached)} breached"
        charts = [(caption, [(one, names[0], AVERAGE, 0), (one, names[1], worst, 1)])]
    else:
        kinds = zip(names, (AVERAGE, WORST), strict=True)
        charts = [(f"{caption}, {kind}", [(one, field, one.name, 0) for one in told]) for field, kind in kinds]
    for said, wanted in charts:
        lines = tuple(
            Line(name, [(j, curve[min(j, len(curve) - 1)]) for j in range(upto + 1)], one.style + shift)
            for one, field, name, shift in wanted
            if (curve := getattr(one.guess, field))
        )
        if lines:
            yield said, lines


def _curve_notes(linkage: Linkage, panels: Sequence[_Panel], longest: int, upto: int) -> Iterator[str]:
    """What is drawn of the curves over merges, and how they are read; what is said in place of a flat chart."""
    foreign = (
        " Items of others are a share of all that other subjects have: in large sets it stays small although most of a "
        "cluster may be theirs."
    )
    yield f"Every subject is given as many merges of its own.{foreign if _mixes(linkage) else ''}"
    if len(linkage.guesses) > 1 and any(guess.breached > 0.1 for guess in linkage.guesses):
        yield "Where more than a tenth of the subjects is breached, all who are count as the worst-off tenth."
    for panel in (panel for panel in panels if panel.even):
        ends = describe_ends(panel.lines, SHARE)
        yield f"{panel.caption}, after 0 to {plural(upto, 'merge')}, too even to draw: {ends}"
    if not _mixes(linkage):
        yield "No item of others is mixed in at any number of merges; no chart is drawn of that."
    if (far := _far_off(linkage)) is not None:
        yield f"{the_guess(far)} mixes in far more than all others; it is left out of that chart."
    if longest - 1 > upto:
        yield f"Beyond {plural(upto, 'merge')} no curve moves by more than {plain(FLAT)} of its scale."
    if len(linkage.guesses) > LINES:
        yield f"The {LINES} strongest guesses are drawn; the table has all {len(linkage.guesses)}."


# --- by threshold ----------------------------------------------------------------------------------------------------


def _thresholds(linkage: Linkage, told: Sequence[Told]) -> tuple[Loose, ...]:
    """Subjects breached, and the risk slopes of the first guesses, against the threshold."""
    if not linkage.betas:
        return ()
    chosen = {f"\u03b2 {plain(linkage.beta)}": linkage.beta}
    figures = [_breach_figure(linkage, told, chosen)]
    sloping = {one.name: _slopes(linkage, one.guess) for one in told[:PANELS] if one.guess.slopes}
    top = _top(_values(line for lines in sloping.values() for line in lines))
    for name, lines in sloping.items():
        caption = "Risk slope, by threshold" if len(told) == 1 else f"Risk slope: {name}"
        label = f"{caption}, of the average subject"
        figures.append(
            lines_figure(
                caption, THRESHOLD, SLOPES, lines, adversaries=False, label=label, x_rules=chosen, y_max=top, x_max=1.0
            )
        )
    hollow = f"Hollow: breached by clusters of the same sizes with shuffled labels, at \u03b2 {plain(linkage.beta)}."
    sloped = any(guess.slopes for guess in linkage.guesses)
    return Figures(tuple(figures)), notes([hollow, *([SLOPE] if sloped else [])])


def _breach_figure(linkage: Linkage, told: Sequence[Told], chosen: Mapping[str, float]) -> Figure:
    """Subjects breached against the threshold; hollow: by clusters with shuffled labels, at the chosen one."""
    records = [
        (one.name, one.style, mark, beta, share)
        for one in told
        for mark, points in (
            ("point", _over(linkage, one.guess.breach_rates)),
            ("hollow", [(linkage.beta, one.guess.guessing)]),
        )
        for beta, share in points
    ]
    columns = (Column("guess"), Column("style"), Column("mark"), THRESHOLD, SHARE)
    chart = Chart(
        "lines", "thresholds", "threshold", "share", "guess", title="Subjects breached, by threshold", style="style",
        mark="mark", x_rules=chosen, x_max=1.0,
    )  # fmt: skip
    return Figure(chart, Table.from_records("thresholds", columns, records))


def _over(linkage: Linkage, values: Sequence[float]) -> list[tuple[float, float]]:
    return list(zip(linkage.betas, values, strict=True))


def _slopes(linkage: Linkage, guess: GuessLinkage) -> list[Line]:
    """At most six lines, one for each alpha, the outermost among them, the highest first."""
    ordered = sorted(guess.slopes, key=lambda item: -item[0])
    if len(ordered) > LINES:
        ordered = [ordered[round(i * (len(ordered) - 1) / (LINES - 1))] for i in range(LINES)]
    return [Line(f"\u03b1 {alpha:.3g}", _over(linkage, values), style) for style, (alpha, values) in enumerate(ordered)]


# --- misses and includes ---------------------------------------------------------------------------------------------


def _errors(linkage: Linkage, told: Sequence[Told], least: int) -> tuple[Loose, ...]:
    """Misses against includes of the subjects, a chart for each guess on the same scales."""
    points = [point for guess in linkage.guesses for point in guess.miss_include]
    if len({point[:2] for point in points}) < 2:
        return (notes([_largest(points)] if points else []),)
    shown = [one for one in told if one.guess.miss_include]
    drawn = [point for one in shown for point in one.guess.miss_include]
    most = max(p[0] for p in drawn), max(p[1] for p in drawn)
    figures = tuple(_error_figure(one, "Misses and includes" if len(told) == 1 else one.name, *most) for one in shown)
    said = [BUBBLES, *([f"Errors of fewer than {least:,} subjects are left out."] if least > 1 else [])]
    return Figures(figures), notes(said)


def _error_figure(one: Told, title: str, most_missed: int, most_included: int) -> Figure:
    """Misses against includes; the number of subjects is the area, and is written next to the largest."""
    points = sorted(_gather(one.guess.miss_include), key=lambda point: (-point[2], point[:2]))
    records = [
        (one.style, miss, include, n, f"{n:,}" if place < LABELED else "")
        for place, (miss, include, n) in enumerate(points)
    ]
    columns = (
        Column("style"), Column("misses", "Misses: own items lacking", "number"),
        Column("includes", "Includes: items of others", "number"), Column("subjects", "subjects", "people"),
        Column("text"),
    )  # fmt: skip
    label = f"Misses against includes of {sum(n for _, _, n in points):,} subjects. {_largest(points)}"
    chart = Chart(
        "points", "errors", "misses", "includes", title=title, label=label, style="style", size="subjects", text="text",
        log="xy", x_max=most_missed, y_max=most_included,
    )  # fmt: skip
    return Figure(chart, Table.from_records("errors", columns, records))


def _gather(points: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The points; of very many, those in one cell of a grid are one."""
    if len(points) <= BUBBLE_LIMIT:
        return list(points)
    steps = [max(1, math.ceil(max(point[axis] for point in points) / 40)) for axis in (0, 1)]
    cells: dict[tuple[int, int], int] = {}
    for miss, include, n in points:
        cell = steps[0] * round(miss / steps[0]), steps[1] * round(include / steps[1])
        cells[cell] = cells.get(cell, 0) + n
    return [(*cell, n) for cell, n in cells.items()]


def _largest(points: Sequence[tuple[int, int, int]]) -> str:
    """The commonest errors, for readers who do not see the chart."""
    miss, include, subjects = max(points, key=lambda point: point[2])
    return f"The most subjects, {subjects:,}, have {plural(miss, 'miss', 'misses')} and {plural(include, 'include')}."
