"""What the attack is worth: who the rational attacker is, what they do to each release, and what would stop them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from unmask.reports.canvas import Mark
from unmask.reports.data import Scope
from unmask.reports.price import plots
from unmask.reports.price.plots import Line
from unmask.reports.price.values import Price, PriceCurve, ReleasePrice
from unmask.reports.price.words import (
    adversary_mark,
    amount,
    amount_of,
    between,
    least,
    parameter_name,
    parameter_rows,
    price_findings,
    reached,
    several_adversaries,
    thresholds_sentence,
)
from unmask.reports.sections import Figure, Grid
from unmask.reports.words import number, percent

SHOWN = 6
"""Releases that are told apart in one chart."""

STATES = ("data to be paid for", "data at hand")
"""The attacker before and after paying for the outside data."""


@dataclass(frozen=True)
class PriceSection:
    """All that the page says about the rational attacker; what is empty is left out."""

    origin: str
    assumed: bool
    warnings: tuple[str, ...]
    findings: tuple[str, ...]
    attacker: Grid | None
    releases: tuple[Grid, ...]
    bounds: bool
    sizes: str
    by_size: tuple[Figure, ...]
    size_notes: tuple[str, ...]
    fines: tuple[Figure, ...]
    fine_notes: tuple[str, ...]


def price_section(price: Price | None, scope: Scope) -> PriceSection | None:
    """The section, or None without an attacker."""
    if price is None:
        return None
    rows = parameter_rows(price.parameters)
    shown = _shown(price.curve)
    return PriceSection(
        origin=price.source,
        assumed=price.assumed,
        warnings=price.warnings,
        findings=tuple(price_findings(price, scope)),
        attacker=Grid(("Assumption", "Meaning", "Value"), (("", rows),), text=2, meaning=True) if rows else None,
        releases=release_tables(price, scope),
        bounds=any(item.campaign_payoff != item.campaign_upper for item in price.releases),
        sizes=thresholds_sentence(price.thresholds) if shown else "",
        by_size=size_figures(price, shown),
        size_notes=tuple(_size_notes(price, shown)),
        fines=(*tornado_figures(price), *fine_figures(price, scope)),
        fine_notes=tuple(_fine_notes(price)),
    )


def release_tables(price: Price, scope: Scope) -> tuple[Grid, ...]:
    """Three tables, release by adversary: the campaign, attacks on single people, and what would change these."""
    if not price.releases:
        return ()
    several = several_adversaries(price, scope)
    who_head = ("Release", "Adversary") if several else ("Release",)
    who = [
        (item.release, adversary_mark(item.adversary, scope)) if several else (item.release,) for item in price.releases
    ]
    played = any(item.realized is not None for item in price.releases)
    tables = (
        ("One campaign against all people", _together, ("People", "Re-identified", "Payoff", "Fine that stops it")),
        (
            "The same people one by one",
            partial(_single, played=played),
            ("Attacked", "Re-identified", *(("Realized",) if played else ()), "Tries", "Fines", "Spent", "Payoff"),
        ),
        ("One by one: what would change it", _change, ("Largest group attacked", "With the data at hand", "Fine")),
    )
    return tuple(
        Grid(
            (*who_head, *head),
            (("", tuple((*name, *row(item)) for name, item in zip(who, price.releases, strict=True))),),
            text=len(who_head),
            caption=caption,
        )
        for caption, row, head in tables
    )


def _together(item: ReleasePrice) -> tuple[str, ...]:
    return (
        f"{item.n:,}",
        between(item.campaign_success, item.campaign_most, percent),
        between(item.campaign_payoff, item.campaign_upper, amount),
        _stopping(item.campaign_fines[1]),
    )


def _single(item: ReleasePrice, *, played: bool) -> tuple[str, ...]:
    realized = ("not run" if item.realized is None else percent(item.realized),) if played else ()
    shares = (percent(item.attacked), percent(item.success), *realized)
    if item.attacked == 0:
        return (*shares, *("\u2013",) * 4)
    return (*shares, number(item.tries, 1), number(item.fines, 2), amount(item.cost), amount(item.payoff))


def _change(item: ReleasePrice) -> tuple[str, ...]:
    largest = f"{item.largest_attacked:,}" if item.largest_attacked else "none"
    return largest, percent(item.sunk_success), _stopping(item.stopping_fine)


def _stopping(fine: float) -> str:
    if math.isnan(fine):
        return "not reckoned"
    if math.isinf(fine):
        return "no fine does"
    return "none needed" if fine <= 0 else least(fine)


def _shown(curve: PriceCurve) -> slice | None:
    """The sizes that are drawn: from 1 to a little beyond the last that is worth something; None if none is."""
    size = list(curve.sizes)
    worth = [
        i
        for i, values in enumerate(zip(curve.payoff, curve.sunk_payoff, curve.sunk_success, strict=True))
        if size[i] >= 1 and max(values) > 0
    ]
    if not worth:
        return None
    first = next(i for i, value in enumerate(size) if value >= 1)
    end = 1.08 * size[worth[-1]] + 1
    return slice(first, sum(value <= end for value in size))


def size_figures(price: Price, shown: slice | None) -> tuple[Figure, ...]:
    """By size of the group: payoff, chance of success, tries, and the fine that stops the attack."""
    if shown is None:
        return ()
    curve, sizes = price.curve, price.curve.sizes[shown]
    exhausted, attacked, sunk = price.thresholds
    states = (*_mark(attacked, "attacked up to", sizes, 0), *_mark(sunk, "data at hand up to", sizes, 1))
    limits = (*_mark(attacked, "attacked up to", sizes, 0), *_mark(exhausted, "all tried up to", sizes, 2))
    if exhausted is None or (attacked is not None and attacked <= exhausted):
        limits = _mark(attacked, "attacked, all tried up to", sizes, 0)

    def figure(key: str, caption: str, lines: Sequence[Line], marks: Sequence[Mark], share: bool = False) -> Figure:
        said = thresholds_sentence(price.thresholds)
        label = f"{caption}, by size of the group, from 1 to {sizes[-1]:,} candidates. {said}"
        return Figure(caption, plots.by_size(sizes, lines, marks=marks, share=share, label=label, key=f"price-{key}"))

    def lines(names: Sequence[str], *values: Sequence[float]) -> list[Line]:
        return [Line(name, tuple(own[shown])) for name, own in zip(names, values, strict=True)]

    tried = lines(("on average", "if never caught, never lucky"), curve.tries, curve.clean_tries)
    return (
        figure("payoff", "Payoff of attacking one person", lines(STATES, curve.payoff, curve.sunk_payoff), states),
        figure(
            "named",
            "Probability of re-identifying the person",
            lines(STATES, curve.success, curve.sunk_success),
            states,
            True,
        ),
        figure("tries", "Candidates tried", tried, limits),
        *break_even_figure(price, shown),
    )


def _mark(threshold: int | None, words: str, sizes: Sequence[int], style: int) -> tuple[Mark, ...]:
    """A rule behind the last size before a threshold, where that is shown."""
    last = 0 if threshold is None else threshold - 1
    return (Mark(last, f"{words} {last:,}", style),) if sizes[0] <= last < sizes[-1] else ()


def break_even_figure(price: Price, shown: slice) -> tuple[Figure, ...]:
    """The least fine that stops an attack on one group, where there is one."""
    values, sizes = price.curve.break_even_fine[shown], price.curve.sizes[shown]
    if not any(math.isfinite(value) and value > 0 for value in values):
        return ()
    now = amount_of(price, "fine")
    caption = "Least fine that stops an attack on one person"
    label = f"{caption}, by size of the group, from 1 to {sizes[-1]:,} candidates."
    svg = plots.by_size(
        sizes,
        [Line("", tuple(values))],
        level=None if now is None else Mark(now, f"fine now {amount(now)}"),
        label=label,
        key="price-fine",
    )
    return (Figure(caption, svg),)


def _moves(price: Price) -> bool:
    """Whether any assumption of the tornado makes the attack pay."""
    return any(max(price.tornado_payoff, swing.payoff_low, swing.payoff_high) > 0 for swing in price.tornado)


def tornado_figures(price: Price) -> tuple[Figure, ...]:
    """What moves the payoff most."""
    if not _moves(price):
        return ()
    caption = f"What moves the payoff of a group of {price.tornado_size:,}"
    widest = ", ".join(parameter_name(swing.parameter) for swing in price.tornado)
    label = f"{caption}. Now {amount(price.tornado_payoff)}. From the widest swing: {widest}."
    svg = plots.tornado(price.tornado, payoff=price.tornado_payoff, label=label, key="price-tornado")
    return (Figure(caption, svg),)


def _riskiest(price: Price) -> list[ReleasePrice]:
    """The releases with a curve over fines, of the adversary who reaches most people; none if nobody is reached."""
    rows = [item for item in price.releases if item.deterrence]
    if not any(share > 0 for item in rows for _, share in item.deterrence):
        return []
    worst = max(rows, key=reached)
    return [item for item in rows if item.adversary == worst.adversary]


def fine_figures(price: Price, scope: Scope) -> tuple[Figure, ...]:
    """People whom a campaign re-identifies against the fine, a line for each of the first releases."""
    rows = _riskiest(price)
    if not rows:
        return ()
    now = amount_of(price, "fine")
    who = f"{adversary_mark(rows[0].adversary, scope)}  " if several_adversaries(price, scope) else ""
    svg = plots.by_fine(
        {item.release: item.deterrence for item in rows[:SHOWN]},
        fine=None if now is None else Mark(now, f"fine now {amount(now)}"),
        label="People re-identified by one campaign, against the fine. The tables above have the fine that stops it.",
        key="price-deterrence",
    )
    return (Figure(f"{who}People re-identified by one campaign, against the fine", svg),)


LOGARITHMIC = "The scale of fines is logarithmic: equal distances multiply the fine by as much."


def _size_notes(price: Price, shown: slice | None) -> list[str]:
    """What the chart of fines by size cannot show."""
    if shown is None:
        nothing = "No group of any size shown is worth an attack, not even with the outside data at hand."
        return [nothing] if price.curve.sizes else []
    values, sizes = price.curve.break_even_fine[shown], price.curve.sizes[shown]
    endless = [size for size, value in zip(sizes, values, strict=True) if math.isinf(value)]
    notes = []
    if endless:
        upto = list(sizes[: len(endless)]) == endless
        where = f"groups up to {endless[-1]:,}" if upto else f"{len(endless):,} sizes, the largest {endless[-1]:,}"
        where = "groups of any size shown" if len(endless) == len(sizes) else where
        notes.append(f"No fine stops an attack on one person in {where}; the chart of fines cannot show that.")
    if plots.logarithmic((*values, amount_of(price, "fine") or 0.0)) and len(endless) < len(sizes):
        notes.append(LOGARITHMIC)
    return notes


def _fine_notes(price: Price) -> list[str]:
    """What a reader needs to read the last charts, and what they do not show."""
    notes = []
    if _moves(price):
        notes.append(
            "Upper, dark bar: the assumption is lower than now; lower, light bar: it is higher. The value that it "
            "takes stands at the end of the bar. All other assumptions stay as they are."
        )
    elif price.tornado:
        notes.append(f"A group of {price.tornado_size:,} stays worth nothing whichever single assumption is changed.")
    rows = _riskiest(price)
    if not rows and any(item.deterrence for item in price.releases):
        notes.append("No campaign re-identifies anybody at any fine that was tried.")
    if len(rows) > SHOWN:
        notes.append(f"The first {SHOWN} of {len(rows)} releases are drawn; the tables have all.")
    if plots.logarithmic(fine for item in rows[:SHOWN] for fine, _ in item.deterrence):
        notes.append(f"{LOGARITHMIC} A fine of 0 stands at its left end.")
    return notes
