"""The parts of the page of a study, dataset by dataset: utility against risk, parameters, measures, price."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from unmask.measures.registry import described, needs_truth, quantity
from unmask.reports.data import FEWEST
from unmask.reports.ledger import LEADING
from unmask.reports.sections import Figure, Grid
from unmask.reports.small import handed_on
from unmask.reports.study import plots
from unmask.reports.study.curves import curve_figures
from unmask.reports.study.values import NO_ATTACK, Headlines, Measured, Plane, StudyData
from unmask.reports.study.words import (
    UNITS,
    findings,
    interval_note,
    line,
    quantities,
    spoken,
    utility_words,
    who,
)
from unmask.reports.words import estimate, gain, letter, row_estimate, what
from unmask.results import Row

CHARTS = 30
"""On the whole page: planes of risk and utility first, then curves over parameters."""

PRICES = {
    "campaign_success": "One campaign: re-identified",
    "rational_access": "Attacked",
    "rational_success": "Re-identified, expected",
    "realized_rational_success": "Re-identified, realized",
    "rational_payoff": "Payoff",
    "rational_tries": "Tries",
}
"""Measures of what a rational attacker does -> head of their column."""


@dataclass(frozen=True)
class Part:
    """What the page says about one dataset; what is empty is left out."""

    name: str
    words: str
    planes: tuple[Figure, ...]
    better: str
    overview: Grid | None
    curves: tuple[Figure, ...]
    measures: tuple[Grid, ...]
    others: tuple[Grid, ...]
    price: Grid | None
    notes: tuple[str, ...]


def contents(data: StudyData) -> dict[str, object]:
    """What stands on the page: its sentences, its figures, its tables."""
    planes, room = data.planes[:CHARTS], CHARTS - len(data.planes)
    parts, undrawn = [], len(data.planes) - len(planes)
    for dataset in data.datasets:
        curves, wanted = curve_figures(data, dataset, room=max(room, 0))
        room, undrawn = room - len(curves), undrawn + wanted - len(curves)
        parts.append(_part(data, dataset, [plane for plane in planes if plane.dataset == dataset], curves))
    return {
        "data": data,
        "who": who(data),
        "handed_on": handed_on(FEWEST),
        "findings": findings(data),
        "key": [(letter(i), name, i, data.words.get(("adversaries", name), "")) for name, i in data.styles.items()],
        "protections": [(name, words) for (kind, name), words in data.words.items() if kind == "protections"],
        "parts": parts,
        "undrawn": undrawn,
        "missing": missing_table(data),
    }


def _part(data: StudyData, dataset: str, planes: Sequence[Plane], curves: Sequence[Figure]) -> Part:
    rows = tuple(item for item in data.rows if item.dataset == dataset)
    heads = spoken(data, dataset)
    tables = measure_tables(data, rows)
    return Part(
        name=dataset,
        words=data.words.get(("datasets", dataset), ""),
        planes=tuple(_plane(data, plane) for plane in planes),
        better=_better(planes),
        overview=overview(data, dataset, heads),
        curves=tuple(curves),
        measures=tables[0],
        others=tables[1],
        price=price_table(data, rows),
        notes=tuple(_notes(rows)),
    )


def _better(planes: Sequence[Plane]) -> str:
    """Which way in the charts is better: less success, and more error."""
    down, up = (any(plane.direction == direction for plane in planes) for direction in ("high", "low"))
    if down and up:
        return "To the right is better, and down where success is drawn, up where error is."
    return f"{'Up' if up else 'Down'} and to the right is better."


def _plane(data: StudyData, plane: Plane) -> Figure:
    title = f"Utility ({UNITS.get(plane.unit, plane.unit)})"
    adversaries = dict.fromkeys((spot.adversary, spot.target) for spot in plane.spots)
    caption = "; ".join(f"{letter(data.styles[name])} {name}: {target}" for name, target in adversaries)
    svg = plots.plane_chart(
        plane,
        data.styles,
        title=title,
        label=f"{plots.reached(plane)} against utility, {plane.dataset}. The table below has the figures.",
        key=f"plane{data.planes.index(plane)}",
    )
    return Figure(f"{plots.reached(plane)} of {caption}", svg)


# --- all protections at a glance -------------------------------------------------------------------------------------


def overview(data: StudyData, dataset: str, heads: Headlines) -> Grid | None:
    """Protections by adversaries: what each of them reaches, what is left of utility, and what is undominated."""
    gaps = {(gap.protection, gap.adversary): gap.status for gap in data.missing if gap.dataset == dataset}
    attacks = list(dict.fromkeys((adversary, target) for _, adversary, target in heads))
    attacks += [(name, "") for _, name in gaps if name not in {adversary for adversary, _ in attacks}]
    attacks = list(dict.fromkeys(attacks))
    planes = [plane for plane in data.planes if plane.dataset == dataset]
    if not attacks:
        return None
    names = dict.fromkeys([*(key[0] for key in heads), *(protection for protection, _ in gaps)])
    marked = ("Undominated",) if planes else ()
    guesses = ("without the release", *("" for _ in (*marked, *planes)), *(_prior(heads, attack) for attack in attacks))
    rows = tuple(
        (
            name,
            *(_marked(planes, name) for _ in marked),
            *(_kept(plane, name) for plane in planes),
            *(_reached(heads, gaps, name, attack) for attack in attacks),
        )
        for name in names
    )
    kept = (f"Utility ({plane.unit})" for plane in planes)
    head = ("Protection", *marked, *kept, *(_head(data, attack) for attack in attacks))
    return Grid(head, (("", (guesses,)), ("", rows)), caption="All protections at a glance")


def _marked(planes: Sequence[Plane], protection: str) -> str:
    if any(protection in plane.undominated for plane in planes):
        return "yes"
    return "no" if any(protection in plane.judged for plane in planes) else "not judged"


def _head(data: StudyData, attack: tuple[str, str]) -> str:
    return f"{letter(data.styles[attack[0]])} {attack[1]}".strip()


def _prior(heads: Headlines, attack: tuple[str, str]) -> str:
    values = [item.row for key, item in heads.items() if key[1:] == attack and not math.isnan(item.row.prior)]
    if not values:
        return ""
    ends = [estimate(bound(row.prior for row in values), values[0].unit) for bound in (min, max)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} \u2013 {ends[1]}"


def _reached(heads: Headlines, gaps: Mapping[tuple[str, str], str], protection: str, attack: tuple[str, str]) -> str:
    item = heads.get((protection, *attack))
    return gaps.get((protection, attack[0]), "not run") if item is None else row_estimate(item.row)


def _kept(plane: Plane, protection: str) -> str:
    values = [spot.utility for spot in plane.spots if spot.protection == protection]
    return utility_words(plane.unit, values[0]) if values else "not run"


# --- every measure ---------------------------------------------------------------------------------------------------

NO_VALUE = "\u2013"

_HEAD = ("Protection", "Adversary", "Prior", "Self-assessed", "Realized", "Gain", "Worst-off", "Seeds", "n")


def measure_tables(data: StudyData, rows: Sequence[Measured]) -> tuple[tuple[Grid, ...], tuple[Grid, ...]]:
    """Tables for each target, of the leading measures and of the others; of all of them if none is leading."""
    kept = [item for item in rows if item.row.measure not in PRICES]
    leading: list[Grid] = []
    others: list[Grid] = []
    for target in dict.fromkeys(item.row.target for item in kept):
        own = [item for item in kept if item.row.target == target]
        first = [item for item in own if _leads(item.row)] or own
        rest = [item for item in own if not _leads(item.row)] if first is not own else []
        if target == NO_ATTACK:
            leading += [_release(own)]
            continue
        caption = what(target).split(":")[0]
        leading += [_measures(data, first, caption)]
        others += [_measures(data, rest, caption)] if rest else []
    return tuple(leading), tuple(others)


def _leads(row: Row) -> bool:
    return quantity(row.measure) in LEADING or row.measure in ("breached", "linked_now", "recall", "utility")


def _measures(data: StudyData, rows: Sequence[Measured], caption: str) -> Grid:
    """Measures are groups, protections and adversaries rows, and both kinds of value are columns."""
    found: dict[str, dict[tuple[str, str], dict[bool, Measured]]] = {}
    for item in rows:
        lines = found.setdefault(quantity(item.row.measure), {})
        lines.setdefault((item.row.release, item.row.adversary), {}).setdefault(needs_truth(item.row.measure), item)
    own = quantities(rows)
    groups = tuple(
        (line(stem, own[stem]), tuple((*_whose(data, *who), *_cells(pair)) for who, pair in lines.items()))
        for stem, lines in found.items()
    )
    cells = [row for _, lines in groups for row in lines]
    kept = [i for i in range(len(_HEAD)) if any(row[i] != NO_VALUE for row in cells)]  # a column of nothing is left out
    head = tuple(_HEAD[i] for i in kept)
    shown = tuple((name, tuple(tuple(row[i] for i in kept) for row in lines)) for name, lines in groups)
    return Grid(head, shown, text=2, caption=caption)


def _release(rows: Sequence[Measured]) -> Grid:
    """What was measured of the releases themselves: adversaries for whom it is the same share a row."""
    groups: dict[str, dict[tuple[str, ...], None]] = {}
    for item in rows:
        row = item.row
        cells = (row.release, row_estimate(row), f"{item.seeds:,}", f"{row.n:,}")
        groups.setdefault(f"{row.measure}, {row.unit}", {})[cells] = None
    head = ("Protection", "Value", "Seeds", "n")
    return Grid(head, tuple((name, tuple(lines)) for name, lines in groups.items()), caption="The release itself")


def _whose(data: StudyData, protection: str, adversary: str) -> tuple[str, str]:
    return protection, letter(data.styles[adversary])


def _cells(pair: Mapping[bool, Measured]) -> tuple[str, ...]:
    """Prior, self-assessed, realized, gain, worst-off, seeds and n of one measure."""
    own, real = pair.get(False), pair.get(True)
    lead = real or own
    assert lead is not None
    row, worst = lead.row, (own or lead).row
    return (
        estimate(row.prior, row.unit),
        NO_VALUE if own is None else row_estimate(own.row),
        NO_VALUE if real is None else row_estimate(real.row),
        gain(row),
        estimate(worst.worst, worst.unit),
        f"{lead.seeds:,}",
        " / ".join(dict.fromkeys(f"{item.row.n:,}" for item in (own, real) if item is not None)),
    )


def price_table(data: StudyData, rows: Sequence[Measured]) -> Grid | None:
    """What a rational attacker does with each protection, where somebody reckons."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for item in rows:
        if item.row.measure in PRICES:
            found.setdefault((item.row.release, item.row.adversary), {})[item.row.measure] = item.row
    lines = tuple(
        (*_whose(data, *who), *(row_estimate(own[m]) if m in own else "not run" for m in PRICES))
        for who, own in found.items()
    )
    head = ("Protection", "Adversary", *PRICES.values())
    return Grid(head, (("", lines),), text=2, caption="What the attack is worth") if lines else None


def _notes(rows: Sequence[Measured]) -> Iterator[str]:
    yield interval_note(rows)
    if any(math.isinf(item.row.posterior) for item in rows):
        yield "unbounded: the release rules something out, or confirms it, with certainty; no number bounds that."
    if any(math.isnan(value) for item in rows for value in (item.row.posterior, item.row.prior, item.row.gain)):
        yield "undefined: infinite before and after, or no seed has a value."
    if any(described(quantity(item.row.measure)) is None for item in rows if item.row.target != NO_ATTACK):
        yield "A measure without a meaning beside it goes by the name it was filed under."


# --- what there is not -----------------------------------------------------------------------------------------------


def missing_table(data: StudyData) -> Grid | None:
    """Cells without a result, those with one reason together, failures first."""
    groups: dict[tuple[str, str], dict[str, int]] = {}
    for gap in data.missing:
        who = f"{gap.protection} against {gap.adversary} ({gap.dataset})"
        group = groups.setdefault((gap.status, gap.reason), {})
        group[who] = group.get(who, 0) + gap.cells
    order = {status: place for place, status in enumerate(("failed", "timed out", "skipped"))}
    lines = [
        (_some(list(cells)), status, f"{sum(cells.values()):,}", reason)
        for (status, reason), cells in sorted(groups.items(), key=lambda item: order.get(item[0][0], len(order)))
    ]
    return Grid(("What", "Status", "Cells", "Why"), (("", tuple(lines)),), text=4) if lines else None


def _some(names: Sequence[str], most: int = 12) -> str:
    more = f"; and {len(names) - most:,} more" if len(names) > most else ""
    return "; ".join(names[:most]) + more
