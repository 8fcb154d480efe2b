"""What the best adversary can still estimate: mechanisms against the limit, observations, and bounds against truth."""

from __future__ import annotations

import math
from collections.abc import Iterator

from unmask.measures.registry import SHARES
from unmask.reports.charts import plot, steps
from unmask.reports.data import Scope
from unmask.reports.facts.channel import BEST, ChannelRisk, MechanismRisk
from unmask.reports.findings.channel import bound_ratio, figure, likeliest, off, quantity, titled, who
from unmask.reports.findings.channel import findings as findings
from unmask.reports.marks import Key, Line, Rule, Spot
from unmask.reports.parts import Figure, Figures, Grid, Heading, Section, grid, lead, notes, parts
from unmask.reports.scales import linear, shares
from unmask.reports.screens.channel import advice as advice
from unmask.reports.screens.channel import at_risk as at_risk
from unmask.reports.words import percent, release_name, short, told_apart

CROWDED = 8
"""Mechanisms from which on the chart may not have room for all names."""

OBSERVATIONS = 20
"""Observations that the table shows."""

SPREAD = "Observations count by their probability. Where the steps begin far to the left, a few give much away."

SECRETS = "How sure the adversary is of each, on average over what is shown where it is the truth."

RATIO = "Ratio is the bound divided by the truth: the nearer to 1, the less the bound gives away by being simple."


def section(channel: ChannelRisk, scope: Scope) -> Section:
    """The section of a page."""
    plane, spread = plane_figure(channel, scope), spread_figure(channel)
    observations, bounds = observation_table(channel), bound_table(channel)
    told = findings(channel, scope)
    most = next(iter(channel.per_observation), None)
    worst = "" if most is None else f"At the first of them the adversary is {off(most.error, channel.unit)}."
    shown = parts(
        Figures((*plane, *spread)),
        notes([*(_plane_notes(channel) if plane else ()), *([SPREAD] if spread else ())]),
        Heading("The mechanisms", next(iter(told[-1:] if len(told) > 2 else told[1:2]), "")),
        lead(_setting(channel)),
        mechanism_table(channel),
        notes(_mechanism_notes(channel, scope)),
        (Heading("The observations that give most away", worst), lead(_observations_note(channel)), observations)
        if observations.rows
        else (),
        (Heading("The secrets that are given away most", SECRETS), secret_table(channel)) if channel.per_secret else (),
        (Heading("Bounds, and what is true", _loosest(channel)), lead(RATIO), bounds) if bounds.rows else (),
    )
    return Section("channel", "What the best adversary can still estimate", shown, _against_limit(channel), open=True)


def _against_limit(channel: ChannelRisk) -> str:
    """How much of what is possible at its distortion the mechanism in detail leaves."""
    item = channel.spoken_of
    reached = channel.reached(item)
    if reached is None or math.isnan(reached):
        return ""
    if reached >= 1 - 1e-4:
        return f"No mechanism of the same distortion leaves more than {release_name(item.name)}."
    return f"{release_name(item.name)} leaves {percent(reached)} of what a mechanism of its distortion can leave."


def _loosest(channel: ChannelRisk) -> str:
    known = [row for row in channel.bounds if row.truth > 0 and math.isfinite(row.bound + row.truth)]
    if not known:
        return "Nothing to compare: what they bound is 0 or not known."
    best = min(known, key=lambda row: row.bound / row.truth)
    return f"The nearest promises {bound_ratio(best)} times what is true."


def _setting(channel: ChannelRisk) -> str:
    in_unit = " The loss is a probability of being wrong." if channel.unit in SHARES else ""
    in_unit = f", in {channel.unit}." if channel.unit and not in_unit else f".{in_unit}"
    several = f" behind {channel.spoken_of.name}" if len(channel.mechanisms) > 1 else ""
    return (
        f"The adversary knows how the mechanism works and how likely each of {channel.secrets:,} secrets is. They see "
        f"one of {channel.observations:,} observations{several} and give the answer of least expected loss: "
        f"{channel.loss.replace('_', ' ')}{in_unit} The larger their error, the more privacy is left."
    )


def plane_figure(channel: ChannelRisk, scope: Scope) -> tuple[Figure, ...]:
    """Errors against distortion: the best adversary filled and named, others hollow, under the limit of all mechanisms.

    Without a mechanism of finite distortion and error there is nothing to draw.
    """
    styles, unit = scope.looks((BEST, *channel.others)), channel.unit
    names = told_apart(item.name for item in channel.mechanisms)
    found = (spot for item in channel.mechanisms for spot in _spots(item, names[item.name], styles))
    spots = [spot for spot in found if math.isfinite(spot.x + spot.y)]
    if all(spot.hollow for spot in spots):
        return ()
    limit = [point for point in channel.limit if all(map(math.isfinite, point))]
    before = channel.prior_error if math.isfinite(channel.prior_error) else 0.0
    most = max((x for x, _ in (*((s.x, s.y) for s in spots), *limit)), default=0.0) or 1.0
    top = max(before, *(spot.y for spot in spots), *(y for _, y in limit)) or 1.0
    lines = [Line("the limit", limit, 0, shade=True, marked=False)] if limit else []
    end = min(1.08 * most, 1.1 * top)
    if _same_unit(channel):
        lines.append(Line("error = distortion", [(0.0, 0.0), (end, end)], 2, shade=True, marked=False, width=1.2))
    drawn = {spot.style for spot in spots}
    keys = [Key("best adversary", styles[BEST])]
    keys += [Key(name, styles[name], hollow=True) for name in channel.others if styles[name] in drawn]
    said = "; ".join(f"{item.name} {quantity(item.privacy, unit)}" for item in channel.mechanisms)
    svg = plot(
        linear(most, pads=(0, 0.08), unit=channel.distortion_unit, title=titled("Distortion", channel.distortion_unit)),
        linear(top, pads=(0, 0.1), unit=unit, title=titled("Error of the adversary", unit)),
        lines,
        spots=sorted(spots, key=lambda spot: not spot.hollow),
        rules=[_marked("without seeing anything", channel.prior_error, unit, across=True)],
        keys=keys,
        height=320.0,
        kind="plane",
        label=f"Error of the adversary against distortion. Best adversary behind {said}.",
    )
    return (Figure("What is left to privacy, and what it costs", svg),)


def _spots(item: MechanismRisk, name: str, styles: dict[str, int]) -> Iterator[Spot]:
    """The best adversary with a thin line to the others behind the same mechanism."""
    errors = {name: error for name, error in item.errors.items() if name != BEST and error is not None}
    ends = [error for error in (item.privacy, *errors.values()) if math.isfinite(error)] or [0.0]
    yield Spot(item.distortion, item.privacy, styles[BEST], name, min(ends), max(ends))
    for name, error in errors.items():
        yield Spot(item.distortion, error, styles[name], hollow=True)


def _same_unit(channel: ChannelRisk) -> bool:
    return bool(channel.unit) and channel.unit == channel.distortion_unit


def _marked(name: str, value: float, unit: str, *, across: bool = False, style: int = 0) -> Rule:
    """A rule with its value after its name."""
    return Rule(value, f"{name} {figure(value, unit)}", style, across=across)


def spread_figure(channel: ChannelRisk) -> tuple[Figure, ...]:
    """Share of observations whose error is at most so much, of the mechanism in detail."""
    finite = [point for point in channel.spread if math.isfinite(point[0])]
    if not finite:
        return ()
    item, unit = channel.spoken_of, channel.unit
    rules = [_marked("worst", item.worst, unit), _marked("on average", item.privacy, unit, style=1)]
    if figure(item.worst, unit) == figure(item.privacy, unit):
        rules = [_marked("worst and on average", item.privacy, unit)]
    rules.append(_marked("without seeing anything", channel.prior_error, unit, style=2))
    most = max(*(x for x, _ in finite), *(rule.value for rule in rules if math.isfinite(rule.value)), 0.0) or 1.0
    svg = plot(
        linear(most, pads=(0, 0.06), unit=unit, title=titled("Error at the observation, at most", unit)),
        shares("Share of observations"),
        [Line("", steps(finite, start=0.0, end=1.06 * most), 0, marked=False, width=2.2)],
        rules=rules,
        height=250.0,
        label=f"Share of observations by the largest error there, behind {item.name}. "
        f"Marked: {', '.join(rule.text for rule in rules)}.",
    )
    return (Figure(f"Error over observations: {short(item.name, 24)}", svg),)


def _plane_notes(channel: ChannelRisk) -> list[str]:
    """What the chart of errors against distortion leaves out, and how the limit is to be read."""
    notes = []
    if channel.limit:
        notes.append(
            "No mechanism lies above the limit. The best one reaches it if the adversary's best answer is a secret."
        )
    if _same_unit(channel):
        notes.append(
            "Where error equals distortion, all distortion serves privacy; below that line, part of it is wasted."
        )
    if any(len(item.errors) > (BEST in item.errors) for item in channel.mechanisms):
        notes.append("A thin line joins the adversaries behind one mechanism.")
    left_out = [item.name for item in channel.mechanisms if not math.isfinite(item.distortion + item.privacy)]
    if left_out:
        notes.append(f"Without a finite place in the chart: {', '.join(left_out)}.")
    if len(channel.mechanisms) > CROWDED:
        notes.append("A mechanism without room for its name in the chart has it in the table.")
    return notes


def mechanism_table(channel: ChannelRisk) -> Grid:
    """Mechanism by distortion, errors, leakage, epsilon and share of the limit; who sees nothing first."""
    unit = channel.unit
    others = channel.others
    head = (
        "Mechanism",
        *((titled("Distortion", channel.distortion_unit),) if channel.distorts else ()),
        titled("Error on average", unit),
        titled("At the worst observation", unit),
        *(titled(short(name), unit) for name in others),
        "Leakage (bits)",
        "\u03b5 (nats)",
        *(("Share of the limit",) if channel.limit else ()),
    )
    blank = ("",) * len(others)
    share = ("",) if channel.limit else ()
    first = ("",) if channel.distorts else ()
    before = ("without seeing anything", *first, figure(channel.prior_error, unit), "", *blank, "0", "0", *share)
    rows = tuple(_mechanism(item, channel) for item in channel.mechanisms)
    return Grid(head, (("", (before,)), ("", rows)), caption="Mechanisms")


def _mechanism(item: MechanismRisk, channel: ChannelRisk) -> tuple[str, ...]:
    unit = channel.unit
    errors = (item.errors.get(name) for name in channel.others)
    return (
        item.name,
        *((figure(item.distortion, channel.distortion_unit),) if channel.distorts else ()),
        figure(item.privacy, unit),
        figure(item.worst, unit),
        *("not run" if error is None else figure(error, unit) for error in errors),
        figure(item.leakage_bits, "bits"),
        figure(item.epsilon, "nats"),
        *((_share(item, channel),) if channel.limit else ()),
    )


def _share(item: MechanismRisk, channel: ChannelRisk) -> str:
    reached = channel.reached(item)
    if reached is None:
        return "\u2013"
    return percent(1.0 if abs(reached - 1) < 1e-4 else reached)


def _mechanism_notes(channel: ChannelRisk, scope: Scope) -> list[str]:
    """What the columns mean, and the marks in them."""
    columns = (
        "Error on average and at the worst observation are those of the best adversary. Leakage is the mutual "
        "information of secret and observation; \u03b5 the largest log ratio between probabilities of one observation."
    )
    notes = [columns]
    said = [f"{name}, who {words}" for name in channel.others if (words := who(name, scope.words))]
    if said:
        notes.append(f"Other adversaries: {'; '.join(said)}.")
    if any(math.isinf(item.epsilon) for item in channel.mechanisms):
        notes.append("unbounded: some observation rules out a secret with certainty; no finite \u03b5 bounds that.")
    shares = [channel.reached(item) for item in channel.mechanisms] if channel.limit else []
    if shares:
        notes.append(
            "Share of the limit: error on average, divided by that behind an optimal mechanism that distorts as much."
        )
    if any(share is not None and share > 1.0001 for share in shares):
        notes.append(
            "Above 100 %: the limit is drawn straight between the distortions where it was run, and lies higher there."
        )
    if any(share is None for share in shares):
        notes.append("\u2013: the limit is 0, or was not run at that distortion.")
    return notes


def observation_table(channel: ChannelRisk) -> Grid:
    """The observations that give most away, with what is believed once they are seen."""
    rows = (
        (
            short(item.observation, 40) or "(empty)",
            short(item.answer, 40) or "\u2013",
            percent(item.chance),
            figure(item.error, channel.unit),
            likeliest(item),
        )
        for item in channel.per_observation[:OBSERVATIONS]
    )
    head = ("Observation", "Best answer", "Probability", titled("Error", channel.unit), "Likeliest secrets")
    return grid(head, rows, text=2, listed=True)


def secret_table(channel: ChannelRisk) -> Grid:
    """The secrets of which the adversary's belief grows most, where they are the truth."""
    rows = ((short(one.secret, 40) or "(empty)", percent(one.prior), percent(one.belief)) for one in channel.per_secret)
    return grid(("Secret", "Without seeing anything", "Once it is shown"), rows, listed=True)


def _observations_note(channel: ChannelRisk) -> str:
    shown = min(OBSERVATIONS, len(channel.per_observation))
    if shown >= channel.observations:
        which = f"All {shown:,} observations behind {channel.spoken_of.name}, the smallest error first."
    else:
        total = f"{channel.observations:,} observations"
        which = f"Behind {channel.spoken_of.name}, {shown:,} of {total}, the smallest error first."
    return f"{which} Probability is how often it is seen; error what the best answer is off by there, in expectation."


def bound_table(channel: ChannelRisk) -> Grid:
    """Bounds beside what they bound."""
    rows = (
        (row.name, row.meaning, quantity(row.bound, row.unit), quantity(row.truth, row.unit), bound_ratio(row))
        for row in channel.bounds
    )
    return grid(("Bound", "Meaning", "Bound", "Truth", "Ratio"), rows, text=2, meaning=True)
