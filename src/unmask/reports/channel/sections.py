"""What the best adversary can still estimate: mechanisms against the limit, observations, and bounds against truth."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unmask.measures.registry import SHARES
from unmask.reports.canvas import short
from unmask.reports.channel import plots
from unmask.reports.channel.plots import Rule, Spot, marked
from unmask.reports.channel.values import BEST, ChannelRisk, MechanismRisk
from unmask.reports.channel.words import (
    bound_ratio,
    figure,
    likeliest,
    quantity,
    titled,
    who,
)
from unmask.reports.data import Scope
from unmask.reports.sections import Figure, Grid
from unmask.reports.words import percent

CROWDED = 8
"""Mechanisms from which on the chart may not have room for all names."""

OBSERVATIONS = 20
"""Observations that the table shows."""


@dataclass(frozen=True)
class ChannelSection:
    """All that the page says about a channel; what is empty is left out."""

    setting: str
    figures: tuple[Figure, ...]
    figure_notes: tuple[str, ...]
    mechanisms: Grid
    mechanism_notes: tuple[str, ...]
    observations: Grid | None
    observations_note: str
    bounds: Grid | None


def channel_section(channel: ChannelRisk | None, scope: Scope) -> ChannelSection | None:
    """The section, or None without a channel."""
    if channel is None:
        return None
    return ChannelSection(
        setting=_setting(channel),
        figures=(*plane_figure(channel, scope), *spread_figure(channel)),
        figure_notes=tuple(_figure_notes(channel)),
        mechanisms=mechanism_table(channel),
        mechanism_notes=tuple(_mechanism_notes(channel, scope)),
        observations=observation_table(channel),
        observations_note=_observations_note(channel),
        bounds=bound_table(channel),
    )


def _setting(channel: ChannelRisk) -> str:
    in_unit = " The loss is a chance of being wrong." if channel.unit in SHARES else ""
    in_unit = f", in {channel.unit}." if channel.unit and not in_unit else f".{in_unit}"
    several = f" behind {channel.spoken_of.name}" if len(channel.mechanisms) > 1 else ""
    return (
        f"The adversary knows how the mechanism works and how likely each of {channel.secrets:,} secrets is. They see "
        f"one of {channel.observations:,} observations{several} and give the answer of least expected loss: "
        f"{channel.loss.replace('_', ' ')}{in_unit} The larger their error, the more privacy is left."
    )


def _styles(channel: ChannelRisk, scope: Scope) -> dict[str, int]:
    """Adversary -> color and shape: the one they have elsewhere on the page, else one that nobody has."""
    styles: dict[str, int] = {}
    for name in (BEST, *channel.others):
        taken = {*scope.styles.values(), *styles.values()}
        styles[name] = scope.styles.get(name, next(i for i in range(len(taken) + 1) if i not in taken))
    return styles


def plane_figure(channel: ChannelRisk, scope: Scope) -> tuple[Figure, ...]:
    """Errors against distortion; without a mechanism of finite distortion and error there is nothing to draw."""
    styles = _styles(channel, scope)
    spots = [spot for item in channel.mechanisms for spot in _spots(item, styles)]
    if not any(spot.best and math.isfinite(spot.distortion) and math.isfinite(spot.error) for spot in spots):
        return ()
    names = [("best adversary", styles[BEST], True)]
    drawn = {spot.style for spot in spots}
    names += [(name, styles[name], False) for name in channel.others if styles[name] in drawn]
    said = "; ".join(f"{item.name} {quantity(item.privacy, channel.unit)}" for item in channel.mechanisms)
    svg = plots.plane(
        spots,
        limit=channel.limit,
        level=marked("without seeing anything", channel.prior_error, channel.unit),
        diagonal=_same_unit(channel),
        names=names,
        units=(channel.distortion_unit, channel.unit),
        label=f"Error of the adversary against distortion. Best adversary behind {said}. The table has the figures.",
        key="channel-plane",
    )
    return (Figure("What is left to privacy, and what it costs", svg),)


def _spots(item: MechanismRisk, styles: dict[str, int]) -> list[Spot]:
    others = [
        Spot(item.name, item.distortion, error, styles[name], best=False)
        for name, error in item.errors.items()
        if name != BEST and error is not None
    ]
    return [Spot(item.name, item.distortion, item.privacy, styles[BEST], best=True), *others]


def _same_unit(channel: ChannelRisk) -> bool:
    return bool(channel.unit) and channel.unit == channel.distortion_unit


def _legend_rows(channel: ChannelRisk) -> int:
    errors = {name for item in channel.mechanisms for name, error in item.errors.items() if error is not None}
    lines = bool(channel.limit) + _same_unit(channel)
    return plots.legend_rows(1 + len(errors - {BEST}) + lines)


def spread_figure(channel: ChannelRisk) -> tuple[Figure, ...]:
    """Errors over the observations of the mechanism in detail."""
    if not any(math.isfinite(error) for error, _ in channel.spread):
        return ()
    item, unit = channel.spoken_of, channel.unit
    blind = marked("without seeing anything", channel.prior_error, unit)
    rules = [marked("worst", item.worst, unit), marked("on average", item.privacy, unit), blind]
    if figure(item.worst, unit) == figure(item.privacy, unit):
        rules = [Rule(item.privacy, f"worst and on average {figure(item.privacy, unit)}"), blind]
    svg = plots.spread(
        channel.spread,
        rules=rules,
        rows=_legend_rows(channel),
        unit=unit,
        label=f"Share of observations by the largest error there, behind {item.name}. {_marked(rules)}.",
        key="channel-spread",
    )
    return (Figure(f"Error over observations: {short(item.name, 24)}", svg),)


def _marked(rules: list[Rule]) -> str:
    return f"Marked: {', '.join(rule.text for rule in rules)}"


def _figure_notes(channel: ChannelRisk) -> list[str]:
    """What the charts leave out, and how the limit is to be read."""
    notes = []
    if channel.limit:
        notes.append(
            "The limit is what the best possible mechanism leaves at each distortion; no mechanism lies above it."
        )
    if _same_unit(channel):
        notes.append(
            "Where error equals distortion, all distortion serves privacy; below that line, part of it is wasted."
        )
    left_out = [item.name for item in channel.mechanisms if not math.isfinite(item.distortion + item.privacy)]
    if left_out:
        notes.append(f"Without a finite place in the chart: {', '.join(left_out)}.")
    if len(channel.mechanisms) > CROWDED:
        notes.append("A mechanism without room for its name in the chart has it in the table.")
    if channel.spread:
        notes.append("Observations count by their chance. Where the steps begin far to the left, a few give much away.")
    return notes


def mechanism_table(channel: ChannelRisk) -> Grid:
    """Mechanism by distortion, errors, leakage, epsilon and share of the limit; who sees nothing first."""
    unit = channel.unit
    others = channel.others
    head = (
        "Mechanism",
        titled("Distortion", channel.distortion_unit),
        titled("Error on average", unit),
        titled("At the worst observation", unit),
        *(titled(short(name), unit) for name in others),
        "Leakage (bits)",
        "\u03b5 (nats)",
        *(("Share of the limit",) if channel.limit else ()),
    )
    blank = ("",) * len(others)
    share = ("",) if channel.limit else ()
    before = ("without seeing anything", "", figure(channel.prior_error, unit), "", *blank, "0", "0", *share)
    rows = tuple(_mechanism(item, channel) for item in channel.mechanisms)
    return Grid(head, (("", (before,)), ("", rows)), caption="Mechanisms")


def _mechanism(item: MechanismRisk, channel: ChannelRisk) -> tuple[str, ...]:
    unit = channel.unit
    errors = (item.errors.get(name) for name in channel.others)
    return (
        item.name,
        figure(item.distortion, channel.distortion_unit),
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
        "information of secret and observation; \u03b5 the largest log ratio between chances of one observation."
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


def observation_table(channel: ChannelRisk) -> Grid | None:
    """The observations that give most away, with what is believed once they are seen."""
    rows = tuple(
        (
            short(item.observation, 40) or "(empty)",
            short(item.answer, 40) or "\u2013",
            percent(item.chance),
            figure(item.error, channel.unit),
            likeliest(item),
        )
        for item in channel.per_observation[:OBSERVATIONS]
    )
    head = ("Observation", "Best answer", "Chance", titled("Error", channel.unit), "Likeliest secrets")
    return Grid(head, (("", rows),), text=2) if rows else None


def _observations_note(channel: ChannelRisk) -> str:
    shown = min(OBSERVATIONS, len(channel.per_observation))
    if shown >= channel.observations:
        which = f"All {shown:,} observations behind {channel.spoken_of.name}, the smallest error first."
    else:
        total = f"{channel.observations:,} observations"
        which = f"Behind {channel.spoken_of.name}, {shown:,} of {total}, the smallest error first."
    return f"{which} Chance is how often it is seen; error what the best answer is off by there, in expectation."


def bound_table(channel: ChannelRisk) -> Grid | None:
    """Bounds beside what they bound."""
    rows = tuple(
        (row.name, row.meaning, quantity(row.bound, row.unit), quantity(row.truth, row.unit), bound_ratio(row))
        for row in channel.bounds
    )
    return Grid(("Bound", "Meaning", "Bound", "Truth", "Ratio"), (("", rows),), text=2, meaning=True) if rows else None
