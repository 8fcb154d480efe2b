"""Our Figures 5 to 10, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import altair as alt
import numpy as np
from drawing import BLUE, GREEN, INK, ORANGE, PLUM, SOFT, Rows, colored, data, draw, heading, label
from economics_case import LARGEST, POPULATION, case, sensitivity_case, surrogate, table
from economics_ignorance import compare
from economics_thresholds import SWEPT
from economics_timing import PUBLISHED, measured

from unmask.economics import ExploitationTable, exploitation_table, one_shot, sweep

NAMES: Final = {
    "a": "a: fines without end",
    "b": "b: one fine",
    "c": "c: fines without end, detection grows",
    "one try": "one try (baseline)",
}
COLORS: Final = {"a": ORANGE, "b": BLUE, "c": GREEN, "one try": PLUM}
WIDTHS: Final = {"b": 6.0, "a": 3.5, "c": 1.8, "one try": 1.8}
"""Curves that coincide stay visible: the wide ones are drawn first."""

LAST_SIZE: Final = 60


def draw_all(folder: Path) -> None:
    """Draw every figure in both readings where it depends on one."""
    charts = {"figure-05": _runtime()}
    for reading in ("literal", "folded"):
        charts |= {
            f"figure-06-{reading}": _by_size(reading, "risk"),
            f"figure-07-{reading}": _by_size(reading, "payoff"),
            f"figure-08-{reading}": _by_size(reading, "tries"),
            f"figure-09-{reading}": _ignorance(reading),
            f"figure-10-{reading}": _sensitivity(reading),
        }
    draw(charts, folder)


def _curves(rows: Rows, x: Any, y: Any, *, step: bool = False) -> list[Any]:
    """A line for each setting, the widest first, all in one scale of colors."""
    color = colored({name: COLORS[name] for name in WIDTHS})
    layers = []
    for name, width in WIDTHS.items():
        own = [row for row in rows if row["curve"] == name]
        if own:
            mark = {"interpolate": "step-after"} if step else {}
            layers.append(data(own).mark_line(strokeWidth=width, **mark).encode(x=x, y=y, color=color))
    return layers


def _found(reading: str) -> dict[str, ExploitationTable]:
    baseline = exploitation_table(one_shot(case("b", reading)), LARGEST)
    return {"b": table("b", reading), "a": table("a", reading), "c": table("c", reading), "one try": baseline}


def _reading(reading: str) -> str:
    return f"Reading: {reading}, discount {case('a', reading).discount:.3g}. Group size known before access."


def _by_size(reading: str, what: str) -> Any:
    """Figures 6, 7 and 8: risk, payoff and tries by size of group."""
    found = _found(reading)
    values = {
        name: {"risk": one.success_probability, "payoff": one.payoff, "tries": one.clean_tries}[what]
        for name, one in found.items()
    }
    rows = [
        {"curve": name, "x": size, "y": float(of[size])}
        for name, of in values.items()
        for size in range(1, LAST_SIZE + 1)
    ]
    title, axis, top, form = {
        "risk": ("Figure 6: risk by size of group", "chance that the target is named", 0.7, ".1f"),
        "payoff": ("Figure 7: payoff by size of group", "expected payoff, US dollars", 5000, ",.0f"),
        "tries": ("Figure 8: people tried by size of group", "people tried if never caught, never lucky", 60, ".0f"),
    }[what]
    x = alt.X(
        "x:Q",
        title="people of the outside data who match the target",
        scale=alt.Scale(domain=[0, LAST_SIZE], nice=False),
        axis=alt.Axis(values=[1, *range(10, LAST_SIZE + 1, 10)], grid=False),
    )
    y = alt.Y("y:Q", title=axis, scale=alt.Scale(domain=[0, top], nice=False), axis=alt.Axis(format=form, tickCount=7))
    layers = _curves(rows, x, y, step=False)
    layers += [label(NAMES[name], COLORS[name], *place) for name, place in _places(what, values).items()]
    return alt.layer(*layers).properties(width=620, height=340, title=heading(title, _reading(reading)))


def _places(what: str, values: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Where the name of each curve stands: beside a stretch that it has to itself, or in the order of the curves."""
    last = {name: int(np.flatnonzero(of[:LAST_SIZE])[-1]) for name, of in values.items()}
    if what == "risk":
        return {
            "b": (last["b"] - 12.5, 0.665),
            "a": (last["a"] - 19.5, 0.48),
            "c": (18.2, 0.3),
            "one try": (2.2, 0.4),
        }
    if what == "payoff":
        return {name: (24.0, 4000.0 - 260 * row) for row, name in enumerate(("b", "a", "c", "one try"))}
    return {"b": (last["b"] - 13, last["b"] + 2), "a": (22, 38), "c": (18, 15), "one try": (10, 3.2)}


def _runtime() -> Any:
    """Figure 5: seconds for 5,000 records, on a logarithmic axis."""
    colors = dict(zip(measured()[0].seconds, (GREEN, BLUE, ORANGE), strict=True))
    rows = [
        {"curve": name, "x": f"{one.people:,}", "y": seconds}
        for one in measured()
        for name, seconds in one.seconds.items()
    ]
    order = [f"{one.people:,}" for one in measured()]
    x = alt.X(
        "x:N", sort=order, title="people in the outside data", axis=alt.Axis(labelAngle=0), scale=alt.Scale(padding=0.4)
    )
    y = alt.Y(
        "y:Q",
        title="seconds for 5,000 records, logarithmic",
        scale=alt.Scale(type="log", domain=[0.001, 100_000], nice=False),
        axis=alt.Axis(values=[0.001, 0.01, 0.1, 1, 10, 100, 1000, 10_000, 100_000], format=",~f"),
    )
    lines = data(rows).mark_line(strokeWidth=2.5, point={"size": 70, "filled": True})
    layers = [lines.encode(x=x, y=y, color=colored(colors))]
    last = [row for row in rows if row["x"] == order[-1]]
    published = [
        {"curve": name, "x": order[-1], "y": seconds, "text": f"{name}, published"}
        for name, seconds in PUBLISHED.items()
    ]
    for row in last:
        row["text"] = f"{row['curve']}: {row['y']:.2g} s" if row["y"] < 1 else f"{row['curve']}: {row['y']:.0f} s"
    for row in published:
        row["text"] = f"{row['text']}: {row['y']:,.0f} s"
    marks = data(published).mark_point(shape="diamond", size=110, strokeWidth=2, opacity=1)
    layers.append(marks.encode(x=x, y=y, color=colored(colors)))
    text = data([*last, *published]).mark_text(align="left", dx=12, fontSize=12, fontWeight="bold")
    layers.append(text.encode(x=x, y=y, text="text:N", color=colored(colors)))
    title = heading(
        "Figure 5: time to price 5,000 records of unknown group size",
        "Points: this machine, one thread; the programs by HiGHS on 200 records, scaled.",
        "Diamonds: the paper, CPLEX on 24 cores, another machine.",
    )
    return alt.layer(*layers).properties(width=560, height=360, title=title)


def _ignorance(reading: str) -> Any:
    """Figure 9: records whose risk depends on whether the size is known, by size and chance of the cell."""
    setting = "b" if reading == "literal" else "a"
    found = compare(surrogate(1.0), setting, reading)
    rows = [
        {
            "x": int(size),
            "y": 1e6 * float(p),
            "curve": "risk lower when unknown: 0 instead of 0.63"
            if now < before
            else "risk higher when unknown: 0.63 instead of 0",
        }
        for size, p, before, now in zip(
            found.records.size, found.records.probability, found.known, found.unknown, strict=True
        )
        if before != now
    ]
    limits = table(setting, reading).thresholds
    assert limits.attacked is not None
    assert limits.sunk is not None
    x = alt.X(
        "x:Q",
        title="actual size of the group",
        scale=alt.Scale(domain=[20, 64], nice=False),
        axis=alt.Axis(grid=False),
    )
    y = alt.Y("y:Q", title="chance of the cell, in millionths", scale=alt.Scale(domain=[4, 13], nice=False, zero=False))
    colors = {
        "risk lower when unknown: 0 instead of 0.63": COLORS["b"],
        "risk higher when unknown: 0.63 instead of 0": COLORS["a"],
    }
    legend = alt.Legend(title=None, orient="bottom", direction="horizontal")
    points = data(rows).mark_point(size=28, filled=True, opacity=0.55)
    layers = [points.encode(x=x, y=y, color=colored(colors, legend=legend))]
    for at, text, align, dx in (
        (limits.attacked - 0.5, f"known: attacked below {limits.attacked}", "right", -6),
        (limits.sunk - 0.5, f"access paid: below {limits.sunk}", "left", 6),
    ):
        rule = data([{"x": at}]).mark_rule(color=SOFT, strokeDash=[4, 3])
        layers += [rule.encode(x="x:Q"), label(text, SOFT, at, 12.6, dx=dx, align=align)]
    mean = max(row["y"] for row in rows if row["x"] >= limits.attacked)
    layers.append(label(f"access paid below a mean size of {mean * POPULATION / 1e6:.1f}", SOFT, 20.5, mean, dy=12))
    layers.append(data([{"y": mean}]).mark_rule(color=SOFT, strokeDash=[4, 3]).encode(y="y:Q"))
    title = heading(
        f"Figure 9: {len(rows):,} of {len(found.known):,} records are at another risk when the size is unknown",
        f"Stand-in records, lognormal mean sizes of spread 1. Reading: {reading}, setting {setting}.",
    )
    return alt.layer(*layers).properties(width=620, height=340, title=title)


def _sensitivity(reading: str) -> Any:
    """Figure 10: the threshold against each deterrent."""
    titles = {
        "a": "a: cost of access, US dollars",
        "b": "b: cost of an exploit, US dollars",
        "c": "c: fine, US dollars",
        "d": "d: chance of detection at the first try",
    }
    panels = []
    for panel, (parameter, given, _) in SWEPT.items():
        values = np.linspace(given[0], given[-1], 90)
        rows: Rows = []
        for name in ("b", "a", "c"):
            found = sweep(sensitivity_case(name, reading), parameter, values.tolist(), LARGEST)
            rows += [
                {"curve": name, "x": float(value), "y": one.attacked or LARGEST}
                for value, one in zip(values, found, strict=True)
            ]
        x = alt.X(
            "x:Q",
            title=titles[panel],
            scale=alt.Scale(domain=[given[0] if panel == "d" else 0, given[-1]], nice=False),
            axis=alt.Axis(grid=False, tickCount=6, format=",~f" if panel != "d" else "~g"),
        )
        y = alt.Y("y:Q", title="smallest group left alone", scale=alt.Scale(zero=True, domainMin=0))
        legend = alt.Legend(title=None, orient="top", direction="horizontal", symbolStrokeWidth=4, symbolType="stroke")
        color = colored({NAMES[name]: COLORS[name] for name in ("b", "a", "c")}, legend=legend)
        layers = []
        for name in ("b", "a", "c"):
            own = [{**row, "curve": NAMES[name]} for row in rows if row["curve"] == name]
            line = data(own).mark_line(strokeWidth=WIDTHS[name], interpolate="step-after")
            layers.append(line.encode(x=x, y=y, color=color))
        if panel == "c":
            dots = data([{"x": 10_000, "y": 9}, {"x": 50_000, "y": 2}]).mark_point(
                shape="diamond", size=110, strokeWidth=2, color=INK
            )
            layers.append(dots.encode(x="x:Q", y="y:Q"))
            layers.append(label("diamonds: published", INK, 58_000, 13, align="right"))
        panels.append(alt.layer(*layers).properties(width=330, height=230))
    grid = alt.vconcat(alt.hconcat(*panels[:2]), alt.hconcat(*panels[2:]))
    title = heading(
        "Figure 10: the smallest group that is left alone, by deterrent",
        f"Gain 1,000, target surely in the data; a fine of 20,000 where it is not varied. {_reading(reading)}",
    )
    return grid.properties(title=title)
