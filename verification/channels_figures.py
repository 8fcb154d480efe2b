"""Figures 3 and 10 of the paper, and five of ours, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import altair as alt
import numpy as np
from channels_case import random_cases
from channels_examples import privacy
from drawing import BLUE, GREEN, ORANGE, SOFT, Rows, colored, data, draw, heading

from unmask.channels import Channel, coin_channel, constant_risk_channel, matched_optimum
from unmask.channels.datasets import Crowds
from unmask.measures import bayes
from unmask.measures.bounds import bounds

WIDTH, HEIGHT = 460, 300


USERS: Final = 20


def draw_all(folder: Path) -> None:
    """Draw every figure."""
    charts = {
        "figure-03": _trade_off(),
        "figure-10": _crowd_belief(),
        "location-noise": _location(),
        "crowd-sizes": _crowd_sizes(),
        "one-loss-optimum": _matched(),
        "regret-bounds": _regret(),
    }
    draw(charts, folder)


def _trade_off() -> Any:
    """Figure 3: privacy of a fair bit at each utility."""
    rows: Rows = []
    for u in np.linspace(0.5, 1, 51):
        p = 1 - float(u)
        error = bayes(Channel(np.array([[1 - p, p], [p, 1 - p]])).posterior()).average
        rows.append({"utility": float(u), "privacy": error})
    x = alt.X("utility:Q", title="least utility u0 = 1 - distortion", scale=alt.Scale(domain=[0.5, 1]))
    y = alt.Y("privacy:Q", title="largest average privacy", scale=alt.Scale(domain=[0, 0.5]))
    return (
        data(rows)
        .mark_line(strokeWidth=3, color=BLUE)
        .encode(x=x, y=y)
        .properties(
            width=WIDTH,
            height=HEIGHT,
            title=heading("Figure 3: privacy 1 - u0", "A fair bit flipped with probability p = 1 - u0, 0/1 loss."),
        )
    )


def _crowd_belief() -> Any:
    """Figure 10: how likely user 1 wrote a message, by who handed it in."""
    crowd = Crowds(USERS, 0.3)
    table = crowd.channel().dense() / USERS
    belief = table[0] / table.sum(axis=0)
    rows: Rows = [{"user": i + 1, "chance": float(p)} for i, p in enumerate(belief)]
    note = (
        f"n = {USERS}, p = 0.3: p + (1 - p)/n = {belief[0]:.3f} for user 1, (1 - p)/n = {belief[1]:.3f} for any other."
    )
    return (
        data(rows)
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("user:O", title="user y who handed the message to the server", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("chance:Q", title="probability that user 1 wrote it"),
        )
        .properties(width=WIDTH, height=HEIGHT, title=heading("Figure 10: belief of the server", note))
    )


def _location() -> Any:
    """Privacy and distortion of Gaussian noise; what the noisy point wastes."""
    names = {"distortion of the noisy point": ORANGE, "privacy; distortion of the shrunk point": BLUE}
    rows: Rows = []
    for noise in np.linspace(0, 2, 41):
        values = (2 * float(noise) ** 2, privacy(float(noise)))
        rows += [{"noise": float(noise), "value": v, "curve": c} for v, c in zip(values, names, strict=True)]
    limit = data([{"value": 2.0}]).mark_rule(strokeDash=[4, 4], color=SOFT).encode(y="value:Q")
    words = data([{"x": 2.0, "value": 2.0, "text": "error without any release"}]).mark_text(
        align="right", dy=-8, color=SOFT, fontSize=12
    )
    lines = (
        data(rows)
        .mark_line(strokeWidth=3, clip=True)
        .encode(
            x=alt.X("noise:Q", title="standard deviation of the noise on each axis (spread of the location = 1)"),
            y=alt.Y("value:Q", title="squared distance", scale=alt.Scale(domain=[0, 4])),
            color=_color(names),
        )
    )
    return alt.layer(lines, limit, words.encode(x="x:Q", y="value:Q", text="text:N")).properties(
        width=WIDTH,
        height=HEIGHT,
        title=heading(
            "Noise costs more than it protects", "Gaussian location, Gaussian noise, squared error on two axes."
        ),
    )


def _crowd_sizes() -> Any:
    """Error and epsilon by size of crowd: they rank sizes in opposite order."""
    rows: Rows = []
    for n in np.unique(np.geomspace(2, 1000, 60).astype(int)):
        crowd = Crowds(int(n), 0.2)
        rows.append({"n": int(n), "error": crowd.estimation_error, "epsilon": crowd.epsilon})
    x = alt.X("n:Q", title="users in the crowd, p = 0.2", scale=_log(2, 1000), axis=alt.Axis(values=[2, 10, 100, 1000]))
    panels = [
        data(rows)
        .mark_line(strokeWidth=3, color=color)
        .encode(x=x, y=alt.Y(f"{name}:Q", title=title, scale=alt.Scale(domain=[0, top])))
        .properties(width=300, height=240)
        for name, title, color, top in (
            ("error", "error of the best guess (more is better)", BLUE, 1.0),
            ("epsilon", "epsilon in nats (less is better)", ORANGE, 6.0),
        )
    ]
    return alt.hconcat(*panels).properties(
        title=heading("A larger crowd protects better by error, worse by epsilon", "Section VI-B, uniform messages.")
    )


def _matched() -> Any:
    """One loss for both sides: average and worst case of two optimal mechanisms."""
    names = {"average of both": BLUE, "worst case, constant risk": GREEN, "worst case, coin": ORANGE}
    prior = np.array([0.35, 0.25, 0.2, 0.12, 0.08])
    points = np.array([0.0, 1.0, 2.0, 4.0, 8.0])
    loss = np.abs(points[:, None] - points[None, :])
    R0 = float((loss @ prior).min())
    rows: Rows = []
    for D in np.sort(np.append(np.linspace(0, 1.3 * R0, 53), [R0 * (1 - 1e-6), R0])):
        flat = bayes(constant_risk_channel(prior, loss, float(D)).posterior(), loss)
        coin = bayes(coin_channel(prior, loss, float(D)).posterior(), loss)
        values = (matched_optimum(prior, loss, float(D)), flat.worst, coin.worst)
        rows += [{"D": float(D), "value": v, "curve": c} for v, c in zip(values, names, strict=True)]
    return alt.layer(
        *(
            data([row for row in rows if row["curve"] == name])
            .mark_line(strokeWidth=width, strokeDash=dash)
            .encode(
                x=alt.X("D:Q", title="distortion"),
                y=alt.Y("value:Q", title="expected loss of the attacker"),
                color=_color(names),
            )
            for name, width, dash in zip(names, (7, 2.5, 3), ([1, 0], [1, 0], [1, 0]), strict=True)
        )
    ).properties(
        width=WIDTH,
        height=HEIGHT,
        title=heading(
            "One loss for both sides: no trade-off", "Five places on a line, distance. The limit is min(D, R0)."
        ),
    )


def _regret() -> Any:
    """Regret at each output beside the two corrected bounds."""
    rows: Rows = []
    for channel, loss, _ in random_cases(7, 160):
        b = bounds(channel.posterior(), loss)
        keep = b.weight > 0
        for tv, regret in zip(b.total_variation[keep], b.regret[keep] / b.largest, strict=True):
            rows.append({"tv": float(tv), "regret": float(regret)})
    names = {"4 TV, as published": ORANGE, "2 TV": BLUE}
    lines: Rows = [
        {"tv": t, "regret": slope * t, "curve": name}
        for slope, name in ((4, "4 TV, as published"), (2, "2 TV"))
        for t in (0.0, 1.0)
    ]
    dots = data(rows).mark_circle(size=14, opacity=0.5, color=SOFT, clip=True)
    x = alt.X("tv:Q", title="total variation of belief and prior", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("regret:Q", title="regret / largest loss", scale=alt.Scale(domain=[0, 1.2]))
    bars = data(lines).mark_line(strokeWidth=2.5, clip=True).encode(x=x, y=y, color=_color(names))
    return alt.layer(dots.encode(x=x, y=y), bars).properties(
        width=WIDTH,
        height=HEIGHT,
        title=heading("Equation (8) with half its constant", "Outputs of 160 random channels, four kinds of loss."),
    )


def _log(low: float, high: float) -> Any:
    return alt.Scale(type="log", domain=[low, high], nice=False)


def _color(names: Mapping[str, str]) -> Any:
    return colored(names, legend=alt.Legend(title=None, columns=1))
