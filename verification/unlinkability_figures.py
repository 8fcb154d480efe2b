"""Our Figures 4 to 7, as SVG and PNG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import altair as alt
import numpy as np
from drawing import BLUE, GRAY, GREEN, INK, ORANGE, PLUM, SOFT, Rows, data, draw, heading, label
from numpy.typing import NDArray
from unlinkability_example import LEFT, RIGHT, SHAPES, partitions
from unlinkability_random import ALPHAS, FINE, PROCESSES, SHOWN, SIZES, half_width, mean, overall_slopes, sample
from unlinkability_walks import Start, binned, slopes_of

from unmask.measures.clustering import Contingency, evaluate, merge_lists

SHAPE_COLORS: Final = {"triangles": BLUE, "squares": GREEN, "circles": PLUM, "stars": ORANGE}
STAR = "M0,-1L.24,-.32L.95,-.31L.38,.12L.59,.81L0,.4L-.59,.81L-.38,.12L-.95,-.31L-.24,-.32Z"
MARKS: Final = {"triangles": "triangle-up", "squares": "square", "circles": "circle", "stars": STAR}
BY_ALPHA: Final = {"0": BLUE, "1/3": GREEN, "1/2": GRAY, "2/3": ORANGE, "1": PLUM}
WIDTH_BY_ALPHA: Final = {"0": 6.0, "1/3": 4.2, "1/2": 3.0, "2/3": 2.4, "1": 1.0}
"""Curves that coincide stay visible: the wide ones are drawn first."""


def draw_all(folder: Path) -> None:
    """Draw every figure."""
    charts = {"figure-04": _example(), "figure-05": _uniform(), "figure-06": _walks(), "figure-07": _random()}
    draw(charts, folder)


def _x(title: str, low: float, high: float, **axis: Any) -> Any:
    return alt.X("x:Q", title=title, scale=alt.Scale(domain=[low, high], nice=False), axis=alt.Axis(grid=False, **axis))


def _y(title: str, low: float, high: float, **axis: Any) -> Any:
    return alt.Y(
        "y:Q", title=title, scale=alt.Scale(domain=[low, high], nice=False), axis=alt.Axis(tickCount=5, **axis)
    )


def _key(names: Mapping[str, str], x: float, y: float, step: float, *, align: str = "left") -> list[Any]:
    """The names of the curves, each in its color, one below the other."""
    return [label(name, color, x, y - step * at, align=align) for at, (name, color) in enumerate(names.items())]


def _alphas(names: Sequence[str]) -> dict[str, str]:
    return {f"alpha {name}": BY_ALPHA[name] for name in names}


def _line(rows: Rows, color: str, x: Any, y: Any, *, width: float = 2.2, dash: Sequence[int] = (1, 0)) -> Any:
    """A curve; its color is the mark's, as panels side by side would share one scale of colors."""
    return data(rows).mark_line(color=color, strokeWidth=width, strokeDash=list(dash)).encode(x=x, y=y)


def _dots(rows: Rows, color: str, x: Any, y: Any, *, size: float = 50, opacity: float = 1) -> Any:
    return data(rows).mark_circle(color=color, size=size, opacity=opacity).encode(x=x, y=y)


def _points(name: str, x: Sequence[float] | NDArray[Any], y: Sequence[float] | NDArray[Any]) -> Rows:
    return [{"curve": name, "x": float(a), "y": float(b)} for a, b in zip(x, y, strict=True) if not math.isnan(b)]


# --- Figure 4 --------------------------------------------------------------------------------------------


def _example() -> Any:
    sides = (("left, conservative", LEFT, 0.9), ("right, liberal", RIGHT, 0.7))
    lines = [
        alt.hconcat(*(_clusters(name, rows) for name, rows, _ in sides), spacing=40),
        alt.hconcat(*(_star_curves(rows, beta) for _, rows, beta in sides), spacing=40),
        alt.hconcat(*(_overall_curves(rows) for _, rows, _ in sides), spacing=40),
        alt.hconcat(*(_overall_slope(rows) for _, rows, _ in sides), spacing=40),
    ]
    title = heading(
        "Figure 4: two adversarial partitions of 24 items, the stars' graphs, the overall graphs, the overall slope",
        "Reconstructed: the stars' pieces follow from the printed numbers, the rest is one choice of several.",
    )
    return alt.vconcat(*lines, spacing=24).properties(title=title)


def _clusters(name: str, rows: Sequence[Sequence[int]]) -> Any:
    items: Rows = []
    for at, row in enumerate(rows):
        shapes = [shape for shape, count in zip(SHAPES, row, strict=True) for _ in range(count)]
        items += [{"curve": shape, "x": place + 0.5, "y": f"cluster {at + 1}"} for place, shape in enumerate(shapes)]
    order = [f"cluster {at + 1}" for at in range(len(rows))]
    x = alt.X("x:Q", title=None, axis=None, scale=alt.Scale(domain=[0, 10], nice=False))
    y = alt.Y("y:N", title=None, sort=order, axis=alt.Axis(grid=False, ticks=False, domain=False, labelPadding=8))
    layers = []
    for shape, color in SHAPE_COLORS.items():
        own = [item for item in items if item["curve"] == shape]
        mark = data(own).mark_point(filled=True, size=90, opacity=1, color=color, shape=MARKS[shape])
        layers.append(mark.encode(x=x, y=y))
    chart = alt.layer(*layers).properties(width=360, height=24 * len(rows))
    return chart.properties(title=heading(f"Adversarial partition, {name}"))


def _star_curves(rows: Sequence[Sequence[int]], beta: float) -> Any:
    met = Contingency.of(*partitions(rows))
    of, (listed,) = evaluate(met, beta=beta), merge_lists(met, [3])
    x, y = float(of.merges[3]), float(of.mixed_at_threshold[3])
    colors = {"linked": BLUE, "mixed": ORANGE}
    axis_x = _x("merges", 0, 2, values=[0, 1, 2], format="d")
    axis_y = _y("share of items", 0, 1, format=".0%")
    layers = []
    for name, curve in (("linked", listed.linked), ("mixed", listed.mixed)):
        rows_of = _points(name, range(3), curve)
        layers += [
            _line(rows_of, colors[name], axis_x, axis_y, width=2.5),
            _dots(rows_of, colors[name], axis_x, axis_y),
        ]
    for name, top in (("linked", beta), ("mixed", y)):
        arrow = data([{"x": 0, "y": 0, "x2": x, "y2": top}])
        rule = arrow.mark_rule(color=colors[name], strokeDash=[5, 3], strokeWidth=1.5)
        layers.append(rule.encode(x=axis_x, y=axis_y, x2="x2:Q", y2="y2:Q"))
    level = data([{"x": 0, "y": beta, "x2": x}]).mark_rule(color=SOFT, strokeWidth=1)
    drop = data([{"x": x, "y": 0, "y2": beta}]).mark_rule(color=SOFT, strokeWidth=1)
    layers += [level.encode(x=axis_x, y=axis_y, x2="x2:Q"), drop.encode(x=axis_x, y=axis_y, y2="y2:Q")]
    layers.append(label("linked", colors["linked"], 0, float(listed.linked[0]), dx=8, dy=-26))
    layers.append(label("mixed", colors["mixed"], 2, float(listed.mixed[2]), dx=-10, dy=34, align="right"))
    text = f"Stars: {beta:.0%} at {x:g} merges, {y:.1%} mixed in; slope {float(of.risk_slope[3]):.2%}"
    return alt.layer(*layers).properties(width=360, height=190, title=heading(text))


def _overall_curves(rows: Sequence[Sequence[int]]) -> Any:
    names = ("0", "1/3", "2/3", "1")
    met = Contingency.of(*partitions(rows))
    of = [evaluate(met, alpha=ALPHAS[at]) for at in (0, 1, 3, 6)]
    length = len(of[0].linked_curve)
    x = _x("merges allowed to each subject", 0, length - 1, values=list(range(length)), format="d")
    y = _y("share, average subject", 0, 1, format=".0%")
    layers = [
        _line(_points(name, range(length), curve), BY_ALPHA[name], x, y, width=WIDTH_BY_ALPHA[name])
        for one, name in zip(of, names, strict=True)
        for curve in (one.linked_curve, one.mixed_curve)
    ]
    layers += _key(_alphas(names), length - 1.02, 0.32, 0.09, align="right")
    linked, mixed = float(of[1].linked_curve[1]), float(of[1].mixed_curve[1])
    layers.append(label("linked", SOFT, 1, linked, dy=20, dx=6))
    layers.append(label("mixed", SOFT, 1, mixed, dy=20, dx=6))
    return alt.layer(*layers).properties(
        width=360, height=190, title=heading("All four subjects: linked and mixed graphs")
    )


def _overall_slope(rows: Sequence[Sequence[int]]) -> Any:
    betas = [k / 200 for k in range(1, 201)]
    met, alphas = Contingency.of(*partitions(rows)), [ALPHAS[at] for at in SHOWN]
    slopes = overall_slopes([evaluate(met, alpha=alpha) for alpha in alphas], alphas, betas, np.nan)
    x, y = _x("threshold beta", 0, 1, format=".0%"), _y("risk slope", 0, 1)
    layers = [_line(_points(name, betas, slopes[at]), color, x, y) for at, (name, color) in enumerate(BY_ALPHA.items())]
    layers += _key(dict(reversed(_alphas(list(BY_ALPHA)).items())), 0.02, 0.93, 0.09)
    start = min(b for b, slope in zip(betas, slopes[0], strict=True) if not math.isnan(slope))
    layers.append(label("breached already", SOFT, start / 2, 0.25, align="center"))
    return alt.layer(*layers).properties(width=360, height=190, title=heading("Overall slope by threshold"))


# --- Figure 5 --------------------------------------------------------------------------------------------


def _uniform() -> Any:
    samples = {n: sample("uniform", n) for n in SIZES}
    columns = {
        "MTD/(n - 1)": (INK, lambda of: of.transfer),
        "VOI/log2 n": (GRAY, lambda of: of.voi),
        "slope, beta 0.7, alpha 2/3": (ORANGE, lambda of: of.slope[:, 3, 1]),
        "slope, beta 0.8, alpha 2/3": (PLUM, lambda of: of.slope[:, 3, 2]),
        "slope, beta 0.7, alpha 1/3": (GREEN, lambda of: of.slope[:, 1, 1]),
        "slope, beta 0.8, alpha 1/3": (BLUE, lambda of: of.slope[:, 1, 2]),
    }
    rows: Rows = []
    for name, (_, column) in columns.items():
        for n, of in samples.items():
            y, half = float(mean(column(of))), float(half_width(column(of)))
            rows.append({"curve": name, "x": n, "y": y, "low": y - half, "high": y + half})
    x = _x("number of items n", 0, 205, values=[10, 20, 50, 100, 150, 200])
    y = _y("mean over repetitions", 0, 0.8)
    layers = []
    for name, (color, _) in columns.items():
        own = [row for row in rows if row["curve"] == name]
        bars = data(own).mark_rule(strokeWidth=1.5, color=color).encode(x=x, y="low:Q", y2="high:Q")
        layers += [_line(own, color, x, y), bars, _dots(own, color, x, y, size=45)]
    nudge = {"slope, beta 0.8, alpha 2/3": 3, "slope, beta 0.7, alpha 1/3": -2, "slope, beta 0.7, alpha 2/3": -7}
    ends = [
        label(name, color_of, 200, next(r["y"] for r in rows if r["curve"] == name and r["x"] == 200), dx=10, dy=shift)
        for name, (color_of, _) in columns.items()
        for shift in [nudge.get(name, 5 if "0.8, alpha 1/3" in name else 0)]
    ]
    title = heading(
        "Figure 5: three distances between two uniformly random partitions",
        f"{len(samples[10].voi)} repetitions; bars are 95 % intervals of the mean. Contamination unwanted; repetitions",
        "whose overall curve is breached without a merge have no slope and are left out.",
    )
    return alt.layer(*layers, *ends).properties(width=520, height=380, title=title)


# --- Figure 6 --------------------------------------------------------------------------------------------


def _walks() -> Any:
    panels = (
        (
            "(a) by start; alpha 3/4, beta 0.8",
            {"uniform start": (BLUE, ("uniform", 0.75, 0.8)), "one block": (ORANGE, ("one block", 0.75, 0.8))},
        ),
        (
            "(b) by alpha; beta 0.8",
            {
                "alpha 3/4": (BLUE, ("uniform", 0.75, 0.8)),
                "alpha 1/2": (GREEN, ("uniform", 0.5, 0.8)),
                "alpha 1/4": (PLUM, ("uniform", 0.25, 0.8)),
            },
        ),
        (
            "(c) by beta; alpha 3/4",
            {
                "beta 0.6": (ORANGE, ("uniform", 0.75, 0.6)),
                "beta 0.8": (BLUE, ("uniform", 0.75, 0.8)),
                "beta 0.95": (GREEN, ("uniform", 0.75, 0.95)),
            },
        ),
    )
    title = heading(
        "Figure 6: overall slope against variation of information, along random walks away from the solution",
        "200 items, 120 walks a start. Dots: partitions on the way. Lines: means in 12 bins of VOI. Where the overall "
        "curve is breached without a merge the slope counts as 1.",
    )
    return alt.hconcat(*(_walk_panel(text, settings) for text, settings in panels), spacing=30).properties(title=title)


def _walk_panel(text: str, settings: Mapping[str, tuple[str, tuple[Start, float, float]]]) -> Any:
    x, y = _x("VOI / log2 n", 0, 0.75, tickCount=7), _y("overall slope", 0, 1.02)
    dots, lines = [], []
    for name, (color, setting) in settings.items():
        voi, slope = slopes_of(*setting)
        dots.append(_dots(_points(name, voi[::5], slope[::5]), color, x, y, size=9, opacity=0.3))
        middle, height, _ = binned(*setting)
        lines.append(_line(_points(name, middle, height), color, x, y, width=2.6))
    notes = _key({name: color for name, (color, _) in settings.items()}, 0.74, 0.93, 0.07, align="right")
    return alt.layer(*dots, *lines, *notes).properties(width=290, height=280, title=heading(text))


# --- Figure 7 --------------------------------------------------------------------------------------------


def _random() -> Any:
    columns = [
        alt.vconcat(_errors(process), _star(process), _slope_by_n(process), _slope_by_beta(process))
        for process in PROCESSES
    ]
    title = heading(
        "Figure 7: random partitions, drawn uniformly (left) and by coin toss (right)",
        "Means over 500 repetitions; contamination unwanted. Repetitions without a slope are left out.",
    )
    return alt.hconcat(*columns, spacing=40).properties(title=title)


def _by_n(process: Any, column: Any, x: Any, y: Any, *, dash: Sequence[int] = (1, 0)) -> list[Any]:
    layers = []
    for at, (name, color) in zip(SHOWN, BY_ALPHA.items(), strict=True):
        means = [float(mean(column(sample(process, n))[:, at])) for n in SIZES]
        layers.append(_line(_points(name, SIZES, means), color, x, y, width=2, dash=dash))
    return layers


def _errors(process: Any) -> Any:
    x, y = _x("number of items n", 0, 205), _y("errors", 0, 200)
    layers = [
        *_by_n(process, lambda of: of.miss, x, y),
        *_by_n(process, lambda of: of.include, x, y, dash=(5, 3)),
        label("misses: full lines", SOFT, 8, 185),
        label("includes: broken lines", SOFT, 8, 168),
        *_key(_alphas(list(BY_ALPHA)), 8, 145, 17),
    ]
    return alt.layer(*layers).properties(width=340, height=200, title=heading(f"{process}: miss and include errors"))


def _star(process: Any) -> Any:
    y = alt.Y(
        "y:Q",
        title="e*, logarithmic",
        scale=alt.Scale(type="log", domain=[0.004, 0.2], nice=False),
        axis=alt.Axis(values=[0.005, 0.01, 0.02, 0.05, 0.1, 0.2], format="~g"),
    )
    layers = _by_n(process, lambda of: of.error, _x("number of items n", 0, 205), y)
    return alt.layer(*layers).properties(width=340, height=200, title=heading(f"{process}: normalized combined errors"))


def _slope_by_n(process: Any) -> Any:
    x, y = _x("number of items n", 0, 205), _y("overall slope", 0, 1)
    layers = _by_n(process, lambda of: of.slope[:, :, 2], x, y)
    return alt.layer(*layers).properties(width=340, height=200, title=heading(f"{process}: overall slope, beta 0.8"))


def _slope_by_beta(process: Any) -> Any:
    of = sample(process, 50, FINE, 300)
    enough = np.mean(~np.isnan(of.slope[:, 0]), axis=0) >= 0.1
    x, y, layers = _x("threshold beta", 0, 1), _y("overall slope", 0, 1), []
    kept = [beta for beta, there in zip(FINE, enough, strict=True) if there]
    for at, (name, color) in zip(SHOWN, BY_ALPHA.items(), strict=True):
        layers.append(_line(_points(name, kept, mean(of.slope[:, at][:, enough])), color, x, y, width=2))
    text = heading(f"{process}: overall slope, n = 50", "where at least a tenth of 300 repetitions have one")
    return alt.layer(*layers).properties(width=340, height=200, title=text)
