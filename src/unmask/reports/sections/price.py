"""What the attack is worth: who the rational attacker is, what they do to each release, and what would stop them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from unmask.render import Figure
from unmask.render.scales import spans_widely
from unmask.reports.data import Scope
from unmask.reports.facts.price import Price, PriceCurve, ReleasePrice
from unmask.reports.figures import Line, lines_figure
from unmask.reports.findings.price import (
    adversary_mark,
    amount,
    amount_of,
    between,
    least,
    parameter_name,
    parameter_rows,
    parameter_value,
    reached,
    several_adversaries,
    shortly,
    thresholds_sentence,
)
from unmask.reports.findings.price import findings as findings
from unmask.reports.parts import Figures, Grid, Heading, Section, grid, lead, minds, notes, parts
from unmask.reports.screens.conditions import one_sentence
from unmask.results import Chart, Column, Table
from unmask.results.formats import number, percent
from unmask.results.words import plural

SHOWN = 6
"""Releases that are told apart in one chart."""

TRIES = ("on average", "if never caught, never lucky")

STATES = ("data to be paid for", "data at hand")
"""The attacker before and after paying for the outside data."""

HOW = (
    "Here the attacker reckons before they act. They attack only if they expect to earn more than they spend: they buy "
    "outside data, try the people who fit one by one, may be caught and fined, and stop when the next try no longer "
    "pays. Amounts are in the currency of their profile."
)

ASSUMED = (
    "This attacker is an embedded profile ({}): an assumption that nobody has checked against this release. Every "
    "figure below follows from it."
)

CAMPAIGN = (
    "A campaign is one attack on all people together: the outside data are paid once, the limit of fines holds once, "
    "targets are taken as independent, and nothing is discounted. Its payoff is that of the whole campaign."
)

BOUNDS = " \u201cx to y\u201d: the best plan found, and what no plan exceeds."

ALONE = (
    " One by one, data and fines are paid for each person; attacked and re-identified are shares of all people; tries, "
    "fines, spent and payoff are expectations for a person attacked, spent counting the outside data, the tries and "
    "the fines."
)

GROUP = " A group is all the people who fit what is known of the person attacked: the candidates."

LOGARITHMIC = "The scale of fines is logarithmic: equal distances multiply the fine by as much."


def section(price: Price, scope: Scope) -> Section:
    """The section of a page."""
    shown = _shown(price.curve)
    assumed = minds([ASSUMED.format(price.source)], "Assumed, not observed.")
    attacker = grid(("Assumption", "Meaning", "Value"), parameter_rows(price.parameters), text=2, meaning=True)
    bounds = BOUNDS if any(item.campaign_payoff != item.campaign_upper for item in price.releases) else ""
    found = findings(price, scope) or [""]
    laid = parts(
        HOW,
        assumed if price.assumed else f"The attacker was read from {price.source}.",
        minds(price.warnings),
        Heading("Who attacks", f"{plural(len(price.parameters), 'assumption')} about gain, cost and fines."),
        attacker,
        Heading("What happens to each release", one_sentence(found[-1])),
        (lead(CAMPAIGN + bounds + ALONE), release_tables(price, scope)) if price.releases else (),
        Heading("By size of the group", one_sentence(thresholds_sentence(price.thresholds))),
        thresholds_sentence(price.thresholds) + GROUP if shown else None,
        Figures(_size_figures(price, shown) if shown else ()),
        notes(_size_notes(price, shown)),
        Heading("What moves the payoff, and what deters", _widest(price)),
        Figures((*_tornado(price), *_by_fine(price, scope))),
        notes(_fine_notes(price)),
    )
    return Section("price", "What the attack is worth", laid, shortly(price))


def _widest(price: Price) -> str:
    if not price.tornado or not _moves(price):
        return "No single assumption makes the attack pay."
    most = max(price.tornado, key=lambda swing: abs(swing.payoff_high - swing.payoff_low))
    return f"{parameter_name(most.parameter)} moves the payoff most."


def release_tables(price: Price, scope: Scope) -> Iterator[Grid]:
    """Three tables, release by adversary: the campaign, attacks on single people, and what would change these."""
    several = several_adversaries(price, scope)
    who = ("Release", *("Adversary",) * several)
    played = any(item.realized is not None for item in price.releases)
    single = ("Attacked", "Re-identified", *(("Realized",) if played else ()), "Tries", "Fines", "Spent", "Payoff")
    tables = (
        ("One campaign against all people", _together, ("People", "Re-identified", "Payoff", "Fine that stops it")),
        ("The same people one by one", partial(_single, played=played), single),
        ("One by one: what would change it", _change, ("Largest group attacked", "With the data at hand", "Fine")),
    )
    for caption, cells, head in tables:
        rows = (
            (item.release, *(adversary_mark(item.adversary, scope),) * several, *cells(item)) for item in price.releases
        )
        yield grid((*who, *head), rows, caption, text=len(who))


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


# --- by size of the group --------------------------------------------------------------------------------------------


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


def _size_figures(price: Price, shown: slice) -> tuple[Figure, ...]:
    """By size of the group: payoff, probability of success, tries, and the fine that stops the attack."""
    curve, sizes, fine = price.curve, price.curve.sizes[shown], amount_of(price, "fine")
    exhausted, attacked, sunk = price.thresholds
    first = _mark(attacked, "attacked up to", sizes)
    states = {**first, **_mark(sunk, "data at hand up to", sizes)}
    limits = {**first, **_mark(exhausted, "all tried up to", sizes)}
    if exhausted is None or (attacked is not None and attacked <= exhausted):
        limits = _mark(attacked, "attacked, all tried up to", sizes)
    panels: list[tuple[str, Sequence[str], Sequence[Sequence[float]], dict[str, Any]]] = [
        ("Payoff of attacking one person", STATES, (curve.payoff, curve.sunk_payoff), {"x_rules": states}),
        ("Probability of re-identifying the person", STATES, (curve.success, curve.sunk_success), {"x_rules": states}),
        ("Candidates tried", TRIES, (curve.tries, curve.clean_tries), {"x_rules": limits}),
    ]
    if any(math.isfinite(value) and value > 0 for value in curve.break_even_fine[shown]):
        now = {} if fine is None else {f"fine now {amount(fine)}": fine}
        fines = (curve.break_even_fine,)
        panels.append(("Least fine that stops an attack on one person", ("",), fines, {"rules": now, "log": "y"}))
    return tuple(
        _by_size(caption, sizes, zip(names, (own[shown] for own in values), strict=True), **options)
        for caption, names, values, options in panels
    )


def _by_size(
    caption: str, sizes: Sequence[int], lines: Iterable[tuple[str, Sequence[float]]], **options: Any
) -> Figure:
    """Functions of the size of a group as steps."""
    x = Column("candidates", "Candidates in the group", "number")
    y = Column("value", "", "share" if caption.startswith("Probability") else "number")
    drawn = [Line(name, list(zip(sizes, own, strict=True)), i) for i, (name, own) in enumerate(lines)]
    label = f"{caption}, by size of the group"
    return lines_figure(caption, x, y, drawn, form="steps", label=label, **options)


def _mark(threshold: int | None, words: str, sizes: Sequence[int]) -> dict[str, float]:
    """A limit line where a value holds no more, if that is shown."""
    last = 0 if threshold is None else threshold - 1
    return {f"{words} {last:,}": last + 1} if sizes[0] <= last < sizes[-1] else {}


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
    if spans_widely([*values, amount_of(price, "fine") or 0.0]) and len(endless) < len(sizes):
        notes.append(LOGARITHMIC)
    return notes


# --- what moves the payoff, and what deters --------------------------------------------------------------------------


def _moves(price: Price) -> bool:
    """Whether any assumption of the tornado makes the attack pay."""
    return any(max(price.tornado_payoff, swing.payoff_low, swing.payoff_high) > 0 for swing in price.tornado)


def _tornado(price: Price) -> Iterator[Figure]:
    """What moves the payoff most."""
    if not _moves(price):
        return
    records = [
        (parameter_name(swing.parameter), end, payoff, parameter_value(swing.parameter, value), price.tornado_payoff)
        for swing in price.tornado
        for end, payoff, value in (("lower", swing.payoff_low, swing.low), ("higher", swing.payoff_high, swing.high))
    ]
    columns = (
        Column("assumption"), Column("end"), Column("payoff", "Payoff", "number"), Column("value"),
        Column("now", "now", "number"),
    )  # fmt: skip
    caption = f"What moves the payoff of a group of {price.tornado_size:,}"
    table = Table.from_records("tornado", columns, records)
    chart = Chart("tornado", table.name, "payoff", "assumption", "end", caption, baseline="now", text="value")
    yield Figure(chart, table)


def _riskiest(price: Price) -> list[ReleasePrice]:
    """The releases with a curve over fines, of the adversary who reaches most people; none if nobody is reached."""
    rows = [item for item in price.releases if item.deterrence]
    if not any(share > 0 for item in rows for _, share in item.deterrence):
        return []
    worst = max(rows, key=reached)
    return [item for item in rows if item.adversary == worst.adversary]


def _by_fine(price: Price, scope: Scope) -> Iterator[Figure]:
    """People whom a campaign re-identifies against the fine, a line for each of the first releases."""
    rows, now = _riskiest(price)[:SHOWN], amount_of(price, "fine")
    if not rows:
        return
    lines = [Line(item.release if len(rows) > 1 else "", sorted(item.deterrence), i) for i, item in enumerate(rows)]
    who = f"{adversary_mark(rows[0].adversary, scope)}  " if several_adversaries(price, scope) else ""
    yield lines_figure(
        f"{who}People re-identified by one campaign, against the fine",
        Column("fine", "Fine", "number"),
        Column("share", "", "share"),
        lines,
        x_rules={} if now is None else {f"fine now {amount(now)}": now},
        log="x",
    )


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
    if spans_widely([fine for item in rows[:SHOWN] for fine, _ in item.deterrence]):
        notes.append(f"{LOGARITHMIC} A fine of 0 stands at its left end.")
    return notes
