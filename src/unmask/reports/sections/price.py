"""What the attack is worth: who the rational attacker is, what they do to each release, and what would stop them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

from unmask.reports import bars
from unmask.reports.charts import ends, plot, steps
from unmask.reports.data import Scope
from unmask.reports.facts.price import Price, PriceCurve, ReleasePrice
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
from unmask.reports.marks import Line, Rule
from unmask.reports.parts import Figure, Figures, Grid, Heading, Section, grid, lead, minds, notes, parts
from unmask.reports.scales import amounts, linear, logarithmic
from unmask.reports.screens.conditions import one_sentence
from unmask.reports.svg import Drawing
from unmask.reports.words import number, percent, plural

SHOWN = 6
"""Releases that are told apart in one chart."""

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
    first = _mark(attacked, "attacked up to", sizes, 0)
    states, limits = (
        first + _mark(sunk, "data at hand up to", sizes, 1),
        first + _mark(exhausted, "all tried up to", sizes, 2),
    )
    if exhausted is None or (attacked is not None and attacked <= exhausted):
        limits = _mark(attacked, "attacked, all tried up to", sizes, 0)
    payoffs = (curve.payoff, curve.sunk_payoff)
    successes = (curve.success, curve.sunk_success)
    tries = (curve.tries, curve.clean_tries)
    panels: list[tuple[str, Sequence[str], Sequence[Sequence[float]], list[Rule]]] = [
        ("Payoff of attacking one person", STATES, payoffs, states),
        ("Probability of re-identifying the person", STATES, successes, states),
        ("Candidates tried", ("on average", "if never caught, never lucky"), tries, limits),
    ]
    if any(math.isfinite(value) and value > 0 for value in curve.break_even_fine[shown]):
        now = [] if fine is None else [Rule(fine, f"fine now {amount(fine)}", across=True)]
        panels.append(("Least fine that stops an attack on one person", ("",), (curve.break_even_fine,), now))
    said = thresholds_sentence(price.thresholds)
    return tuple(
        Figure(
            caption,
            by_size(
                sizes,
                [(name, own[shown]) for name, own in zip(names, values, strict=True)],
                rules=rules,
                unit="share" if values is successes else "",
                label=f"{caption}, by size of the group, from 1 to {sizes[-1]:,} candidates. {said}",
            ),
        )
        for caption, names, values, rules in panels
    )


def by_size(
    sizes: Sequence[int],
    lines: Sequence[tuple[str, Sequence[float]]],
    *,
    rules: Sequence[Rule] = (),
    unit: str = "",
    label: str,
) -> Drawing:
    """Functions of the size of a group as steps; the scale may be logarithmic where there is a rule across."""
    values = [value for _, own in lines for value in own if math.isfinite(value)]
    levels = [rule.value for rule in rules if rule.across]
    y = linear(max(values, default=0.0) or 1.0, unit=unit, beyond=True)
    if levels and logarithmic([*values, *levels]):
        y = amounts([value for value in (*values, *levels) if value > 0], whole_powers=True)
    elif levels:
        y = linear(max([*values, *levels]) or 1.0, unit=unit, beyond=True)
    drawn = [
        Line(name, steps(list(zip(sizes, own, strict=True)), start=sizes[0] - 0.5), i, marked=False)
        for i, (name, own) in enumerate(lines)
    ]
    end = sizes[-1] + 0.5
    x = linear(end, unit="", about=min(6.0, end), title="Candidates in the group")
    return plot(x, y, drawn, rules=rules, height=180.0, label=label)


def _mark(threshold: int | None, words: str, sizes: Sequence[int], style: int) -> list[Rule]:
    """A rule behind the last size before a threshold, where that is shown."""
    last = 0 if threshold is None else threshold - 1
    return [Rule(last + 0.5, f"{words} {last:,}", style)] if sizes[0] <= last < sizes[-1] else []


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
    if logarithmic((*values, amount_of(price, "fine") or 0.0)) and len(endless) < len(sizes):
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
    rows = [
        bars.Swing(
            parameter_name(swing.parameter),
            swing.payoff_low,
            swing.payoff_high,
            parameter_value(swing.parameter, swing.low),
            parameter_value(swing.parameter, swing.high),
        )
        for swing in price.tornado
    ]
    caption, now = f"What moves the payoff of a group of {price.tornado_size:,}", f"now {amount(price.tornado_payoff)}"
    label = f"{caption}. N{now[1:]}. From the widest swing: {', '.join(row.name for row in rows)}."
    svg = bars.swings(rows, base=price.tornado_payoff, words=now, unit="", title="Payoff", label=label)
    yield Figure(caption, svg)


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
    lines = [
        Line(item.release if len(rows) > 1 else "", sorted(item.deterrence), i, marked=len(rows) > 1)
        for i, item in enumerate(rows)
    ]
    points = [point for line in lines for point in line.points]
    x = amounts([*(fine for fine, _ in points), *([] if now is None else [now])], "Fine")
    y = linear(max(share for _, share in points) or 1.0, beyond=True)
    rules = [] if now is None else [Rule(now, f"fine now {amount(now)}")]
    who = f"{adversary_mark(rows[0].adversary, scope)}  " if several_adversaries(price, scope) else ""
    most = amount(max(fine for fine, _ in points))
    label = f"People re-identified by one campaign, against fines from 0 to {most}. {ends(lines)}"
    yield Figure(
        f"{who}People re-identified by one campaign, against the fine",
        plot(x, y, lines, rules=rules, height=210.0, label=label),
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
    if logarithmic(fine for item in rows[:SHOWN] for fine, _ in item.deterrence):
        notes.append(f"{LOGARITHMIC} A fine of 0 stands at its left end.")
    return notes
