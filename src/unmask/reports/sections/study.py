"""The page of a study, dataset by dataset: utility against risk, parameters, measures, price."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress

from unmask.core.targets import NO_ATTACK
from unmask.measures.registry import SHARES, UTILITIES, described, quantity
from unmask.render import Figure
from unmask.reports import blocks
from unmask.reports.data import ReportData, Scope
from unmask.reports.facts.study import Plane, StudyData, StudyRows
from unmask.reports.findings.study import (
    findings,
    interval_note,
    of_price,
    of_target,
    utility_words,
    who,
)
from unmask.reports.parts import (
    Figures,
    Fold,
    Grid,
    Heading,
    Page,
    Part,
    Section,
    Terms,
    grid,
    lead,
    notes,
    parts,
)
from unmask.reports.screens.conditions import one_sentence
from unmask.reports.screens.study import screen
from unmask.reports.sections.closing import closing, describe_readers
from unmask.reports.sections.control_people import control_parts
from unmask.reports.sections.families import curve_figures
from unmask.reports.sections.measures import HOW, LEADING, NO_VALUE, OTHERS, Pair, line_above, measure_cells, paired
from unmask.reports.sections.tradeoff import tradeoff
from unmask.reports.words import letter, name_of, row_estimate, row_value, what
from unmask.results import Row, StudyRow
from unmask.results.formats import estimate
from unmask.results.suppression import FEWEST
from unmask.results.words import plural

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

MEASURES = f"Means over seeds. {HOW} Worst-off is the worst value of any seed's worst-off target."

PRICE = (
    "An attacker who reckons before they act. Attacked and re-identified are shares of all people; payoff and tries "
    "are means over them, money in the currency of the attacker's profile."
)


def study_page(data: StudyData) -> Page:
    """What stands on the page of a study."""
    planes, room = data.planes[:CHARTS], max(CHARTS - len(data.planes), 0)
    found, undrawn = [], len(data.planes) - len(planes)
    for place, dataset in enumerate(data.datasets, 1):
        curves, wanted = curve_figures(data, dataset, room=room)
        room, undrawn = room - len(curves), undrawn + wanted - len(curves)
        own = [plane for plane in planes if plane.dataset == dataset]
        shown = _dataset(data, dataset, own, curves)
        heading = dataset if len(data.datasets) > 1 else "Risk against utility"
        said = next(iter(_reached_words(data, dataset)), "")
        found.append(Section(f"dataset-{place}", heading, shown, said, open=place == 1))
    sentences = tuple((name, tuple(own)) for name, own in findings(data))
    many = f"{plural(sum(len(own) for _, own in sentences), 'finding')}."
    sections = (
        *found,
        Section("findings", "In sentences", (Terms(sentences, "findings"),), many),
        *(() if data.game is None else blocks.sections(data.game, Scope(ReportData.of(data.game)))),
        *_keys(data),
        *closing(
            (*data.assumptions, *(data.game.assumptions if data.game else ())),
            _missing(data, undrawn),
            data.reproduce,
            "How to reproduce",
        ),
    )
    kept = tuple(section for section in sections if section is not None)
    foot = describe_readers(FEWEST)
    first = screen(data)
    if data.game is not None:
        first = replace(first, lede=f"{first.lede} By what it pays: {data.game.blocks[0].sentence}")
    return Page(data.title, parts(first), kept, kind="Study", folded=True, foot=foot)


def _keys(data: StudyData) -> Iterator[Section]:
    """The adversaries with their letter, color and shape, and the protections, as the plan describes them."""
    words = "As the plan describes them. " if data.words else ""
    how = lead(f"{words}An adversary keeps letter, color and shape on the whole page.")
    said = {name: data.words.get(("adversaries", name), "") for name in data.styles}
    items = tuple((f"{letter(style)} {name}", (said[name],)) for name, style in data.styles.items())
    named = f"{'; '.join(f'{letter(style)} {name}' for name, style in data.styles.items())}."
    key = Terms(items, styles=tuple(data.styles.values()))
    yield Section("adversaries", "The adversaries", parts(who(data), how, key), named)
    protections = tuple((name, (words,)) for (kind, name), words in data.words.items() if kind == "protections")
    if protections:
        yield Section("protections", "The protections", (Terms(protections),), f"{len(protections)} kinds, as planned.")


def _dataset(data: StudyData, dataset: str, planes: Sequence[Plane], curves: Sequence[Figure]) -> tuple[Part, ...]:
    rows = tuple(item for item in data.rows if item.dataset == dataset)
    leading, others = measure_tables(data, rows)
    price = _price(data, rows)
    glance = overview(data, dataset, data.spoken[dataset])
    own = [plane for plane in data.planes if plane.dataset == dataset]
    counts = [f"{len(one.undominated)} of {len(one.judged)}" for one in own]
    best = f"{counts[0]} are undominated: no other keeps more and risks less." if counts else ""
    curve, worth = "What adversaries reach, over each parameter.", next(iter(of_price(data, dataset)), "")
    many = f"{sum(table.rows for table in (*leading, *others)):,} lines: means over seeds with their intervals."
    found = parts(
        lead(data.words.get(("datasets", dataset), "")),
        tradeoff(data, planes),
        (Heading("All protections at a glance", best), glance) if glance else (),
        Heading("By parameter", curve),
        Figures(tuple(curves)),
        control_parts(data, rows),
        (Heading("What the attack is worth", _pays(worth)), lead(PRICE), price) if price.rows else (),
        (Heading("Every adversary by every measure", many), lead(MEASURES), leading, Fold(OTHERS, others))
        if leading
        else (),
        notes(_notes(rows)),
    )
    return tuple(_under(part, dataset) for part in found) if len(data.datasets) > 1 else found


def _pays(told: str) -> str:
    """Whether an attack pays after protection: the last part of the sentence."""
    last = told.rpartition("; ")[2].rpartition("before acting, ")[2]
    return last[:1].upper() + last[1:]


def _under(part: Part, dataset: str) -> Part:
    """A heading that says which dataset it is about."""
    if not isinstance(part, Heading):
        return part
    return replace(part, text=f"{dataset}: {part.text[0].lower()}{part.text[1:]}")


def _reached_words(data: StudyData, dataset: str) -> Iterator[str]:
    """What the strongest adversary reaches where they do best, of each target."""
    heads = data.spoken[dataset]
    for target in dict.fromkeys(target for _, _, target in heads):
        yield one_sentence(of_target(data, heads, target))


def overview(data: StudyData, dataset: str, heads: StudyRows) -> Grid | None:
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
    return "no" if any(protection in plane.judged for plane in planes) else "not compared"


def _head(data: StudyData, attack: tuple[str, str]) -> str:
    return f"{letter(data.styles[attack[0]])} {attack[1]}".strip()


def _prior(heads: StudyRows, attack: tuple[str, str]) -> str:
    values = [item for key, item in heads.items() if key[1:] == attack and not math.isnan(item.prior)]
    if not values:
        return ""
    ends = [estimate(bound(row.prior for row in values), values[0].unit) for bound in (min, max)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} \u2013 {ends[1]}"


def _reached(heads: StudyRows, gaps: Mapping[tuple[str, str], str], protection: str, attack: tuple[str, str]) -> str:
    item = heads.get((protection, *attack))
    return gaps.get((protection, attack[0]), "not run") if item is None else row_estimate(item)


def _kept(plane: Plane, protection: str) -> str:
    values = [spot.utility for spot in plane.spots if spot.protection == protection]
    return utility_words(plane.unit, values[0]) if values else "not run"


# --- every measure ---------------------------------------------------------------------------------------------------

_HEAD = ("Protection", "Adversary", "Prior", "Expected", "Realized", "Gain", "Worst-off", "Seeds", "n")


def measure_tables(data: StudyData, rows: Sequence[StudyRow]) -> tuple[tuple[Grid, ...], tuple[Grid, ...]]:
    """Tables for each target, of the leading measures and of the others; of all of them if none is leading."""
    kept = [item for item in rows if item.measure not in PRICES]
    leading: list[Grid] = []
    others: list[Grid] = []
    for target in dict.fromkeys(item.target for item in kept):
        own = [item for item in kept if item.target == target]
        first = [item for item in own if _leads(item)] or own
        rest = [item for item in own if not _leads(item)] if first is not own else []
        if target == NO_ATTACK:
            leading += [_release(own)]
            continue
        caption = what(target).split(":")[0]
        leading += [_measures(data, first, caption)]
        others += [_measures(data, rest, caption)] if rest else []
    return tuple(leading), tuple(others)


def _leads(row: Row) -> bool:
    return quantity(row.measure) in LEADING or row.measure in ("breached", "linked_now", "recall", "utility")


def _measures(data: StudyData, rows: Sequence[StudyRow], caption: str) -> Grid:
    """Measures are groups, protections and adversaries rows, and both kinds of value are columns."""
    seeds = {(item.measure, item.release, item.adversary): item.seeds for item in rows}

    def cells(whose: tuple[str, str], pair: Pair) -> tuple[str, ...]:
        lead = pair.get(True) or pair[False]
        *values, n = measure_cells(pair)
        return (whose[0], letter(data.styles[whose[1]]), *values, f"{seeds[lead.measure, *whose]:,}", n)

    groups = [
        (line_above(stem, lines), [cells(whose, pair) for whose, pair in lines.items()])
        for stem, lines in paired(item for item in rows).items()
    ]
    known = [any(row[i] != NO_VALUE for _, lines in groups for row in lines) for i in range(len(_HEAD))]
    head = tuple(compress(_HEAD, known))  # a column of nothing is left out
    shown = tuple((name, tuple(tuple(compress(row, known)) for row in lines)) for name, lines in groups)
    return Grid(head, shown, text=2, caption=caption)


def _release(rows: Sequence[StudyRow]) -> Grid:
    """What was measured of the releases themselves, side by side: adversaries for whom it is the same share a row."""
    units = {item.measure: item.unit for item in rows}
    own: dict[tuple[str, str], dict[str, Row]] = {}
    for item in rows:
        own.setdefault((item.release, item.adversary), {})[item.measure] = item
    names = {name: name_of(name, UTILITIES) + ("" if unit in SHARES else f", {unit}") for name, unit in units.items()}
    heads = ("Protection", *(name[0].upper() + name[1:] for name in names.values()), "n")
    lines = (
        (release, *(row_value(found[name]) if name in found else "not run" for name in units), _most(found.values()))
        for (release, _), found in own.items()
    )
    return grid(heads, dict.fromkeys(lines), "The release itself")


def _most(rows: Iterable[Row]) -> str:
    return f"{max(row.n for row in rows):,}"


def _price(data: StudyData, rows: Sequence[StudyRow]) -> Grid:
    """What a rational attacker does with each protection, where somebody reckons."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for item in rows:
        if item.measure in PRICES:
            found.setdefault((item.release, item.adversary), {})[item.measure] = item
    lines = (
        (name, letter(data.styles[adversary]), *(row_estimate(own[m]) if m in own else "not run" for m in PRICES))
        for (name, adversary), own in found.items()
    )
    return grid(("Protection", "Adversary", *PRICES.values()), lines, "What the attack is worth", text=2)


def _notes(rows: Sequence[StudyRow]) -> Iterator[str]:
    yield interval_note(rows)
    if any(math.isinf(item.posterior) for item in rows):
        yield "unbounded: the release rules something out, or confirms it, with certainty; no number bounds that."
    if any(math.isnan(value) for item in rows for value in (item.posterior, item.prior, item.gain)):
        yield "undefined: infinite before and after, or no seed has a value."
    if any(described(quantity(item.measure)) is None for item in rows if item.target != NO_ATTACK):
        yield "A measure without a meaning beside it goes by the name it was filed under."


def _missing(data: StudyData, undrawn: int) -> Section | None:
    """Cells without a result, those with one reason together, failures first; and how many charts were not drawn."""
    groups: dict[tuple[str, str], dict[str, int]] = {}
    for gap in data.missing:
        who = f"{gap.protection} against {gap.adversary} ({gap.dataset})"
        group = groups.setdefault((gap.status, gap.reason), {})
        group[who] = group.get(who, 0) + gap.cells
    order = {status: place for place, status in enumerate(("failed", "timed out", "skipped"))}
    rows = (
        (_some(list(cells)), status, f"{sum(cells.values()):,}", reason)
        for (status, reason), cells in sorted(groups.items(), key=lambda item: order.get(item[0][0], len(order)))
    )
    table = grid(("What", "Status", "Cells", "Why"), rows, text=4, listed=True)
    were = "more chart was" if undrawn == 1 else "more charts were"
    left = notes(
        [f"{undrawn} {were} not drawn, to keep the page small; the tables have the figures."] if undrawn else []
    )
    none = lead("None of these is a zero: nothing is known about them.") if groups else None
    shown = parts(none, table, left)
    told = "; ".join(f"{sum(cells.values()):,} cells {status}: {reason}" for (status, reason), cells in groups.items())
    return Section("not-run", "What was not run, and what failed", shown, told) if shown else None


def _some(names: Sequence[str], most: int = 12) -> str:
    more = f"; and {len(names) - most:,} more" if len(names) > most else ""
    return "; ".join(names[:most]) + more
