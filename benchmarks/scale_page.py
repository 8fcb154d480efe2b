"""Model of seconds by size, and the tables of docs/scale.md and scale-measurements.md, from benchmarks/scale.jsonl."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness import number

PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
MEASUREMENTS = PAGE.with_name("scale-measurements.md")
BEGIN, END = "<!-- written by benchmarks/cost_model.py: {} -->", "<!-- end of {} -->"

UNITS = {
    "audit of a table": ("rows", "combinations"),
    "Mondrian": ("rows", "combinations"),
    "audit of linkage": ("items", "pairs"),
    "attack on a network": ("edges", "wedges"),
}
"""What the seconds of each kind of work are taken to grow with."""

CODE = {
    "audit of a table": ("audit.py", "core", "data", "measures", "tables"),
    "Mondrian": ("data", "tables"),
    "audit of linkage": ("core", "data", "measures/clustering", "linkage"),
    "attack on a network": ("data", "graphs"),
}
"""The files and folders of the package that each kind of work times: a row expires when they change."""

SOURCE = Path(__file__).parent.parent / "src" / "unmask"

OLDER = "older code"
"""What is said of a row that was measured with other code than there is."""

PRICE = 0.05
"""Dollars for an hour of a core, for the worked plan."""

CLUSTER = 32, 4
"""Machines of the worked plan, and cores of each."""

Row = dict[str, Any]

FORMS = {"memory": "in memory", "duckdb": "in DuckDB", "spark": "on Spark"}

WANTED = (
    ("audit of a table", {"rows": 1e10, "combinations": 1e8}),
    ("Mondrian", {"rows": 1e10, "combinations": 1e8}),
    ("audit of linkage", {"items": 1e10, "pairs": 1e8}),
)
"""The work of the worked plan: ten thousand million rows."""


def write(rows: Sequence[Row]) -> None:
    """Replace tables and charts between the markers of both pages; other text stays."""
    fits = {(work, form): fit for work in UNITS for form in FORMS if (fit := fitted(_rows_of(rows, work, form), work))}
    sections = {"charts": _charts(rows), "flat": _flat(rows), "model": _model(fits), "plan": _plan(fits)}
    _replace_sections(PAGE, sections)
    _replace_sections(MEASUREMENTS, {"measured": _measured(rows), "takeover": _takeover(rows)})


def _replace_sections(page: Path, sections: Mapping[str, Iterator[str]]) -> None:
    text = page.read_text(encoding="utf-8")
    for name, lines in sections.items():
        begin, end = BEGIN.format(name), END.format(name)
        head, section = text.split(begin)
        text = head + begin + "\n\n" + "\n".join(lines) + "\n\n" + end + section.split(end)[1]
    page.write_text(text, encoding="utf-8")


@cache
def code_of(work: str) -> str:
    """Return a digest of the code that a kind of work times."""
    files = (file for name in CODE[work] for file in sorted({SOURCE / name, *(SOURCE / name).rglob("*.py")}))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files if file.is_file())).hexdigest()[:16]


def is_current(row: Row) -> bool:
    """Return whether the timed code is unchanged since the measurement."""
    return row.get("code") == code_of(row["work"])


def _rows_of(rows: Sequence[Row], work: str, form: str) -> list[Row]:
    return [row for row in rows if row["work"] == work and row["form"].partition(":")[0] == form]


# --- the model ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """CPU seconds = sum of rate x units + base, fitted to some rows.

    rates : seconds of a unit. base : seconds. worst : largest relative error at a measured row. n : of rows.
    current : whether all rows were measured with the code that there is
    """

    rates: dict[str, float]
    base: float
    worst: float
    n: int
    current: bool = True

    def seconds(self, units: dict[str, float]) -> float:
        """Return the seconds that the model expects."""
        return self.base + sum(rate * units[name] for name, rate in self.rates.items())


def fitted(rows: Sequence[dict[str, Any]], work: str) -> Fit | None:
    """The model of one kind of work in one form, of rows that have not expired if there are enough of them; None with
    no more rows than coefficients.
    """
    import numpy as np
    from scipy.optimize import nnls

    names = UNITS[work]
    known_rows = [row for row in rows if _core_seconds(row) and all(name in row["units"] for name in names)]
    current_rows = [row for row in known_rows if is_current(row)]
    used = current_rows if len(current_rows) >= len(names) + 2 else known_rows
    if len(used) < len(names) + 2:
        return None
    y = np.array([_core_seconds(row) for row in used])
    x = np.array([[*(row["units"][name] for name in names), 1.0] for row in used])
    scale = x.max(axis=0)
    result = nnls(x / scale / y[:, None], np.ones(len(y)))[0] / scale
    worst = float(np.abs(x @ result / y - 1).max())
    return Fit(
        dict(zip(names, result[:-1].tolist(), strict=True)), float(result[-1]), worst, len(used), used is current_rows
    )


def _core_seconds(row: Row) -> float | None:
    """CPU seconds; where only the clock is known, at most what all cores had."""
    return row["cpu"] or (row["wall"] and row["wall"] * row["cores"])


# --- tables --------------------------------------------------------------------------------------------------


def _measured(rows: Sequence[Row]) -> Iterator[str]:
    days, cores = sorted({row["day"] for row in rows}), sorted({row["cores"] for row in rows})
    loads = [row["load"] for row in rows]
    yield (
        f"Measured {' to '.join(dict.fromkeys((days[0], days[-1])))} on {', '.join(map(str, cores))} cores, with a "
        f"load of {min(loads):g} to {max(loads):g}. Above the number of cores, other programs shared the machine, and "
        "seconds by the clock are not reliable."
    )
    for work, names in UNITS.items():
        yield from ("", f"**{work[0].upper() + work[1:]}**", "")
        yield f"| form | case | {' | '.join(names)} | CPU s | wall s | peak MiB |"
        yield "| --- | --- |" + " ---: |" * (len(names) + 3)
        for form, label in FORMS.items():
            for row in sorted(_rows_of(rows, work, form), key=lambda row: (row["size"], row["variant"])):
                units = " | ".join(number(int(row["units"][name])) if name in row["units"] else "" for name in names)
                took = (
                    [row["why"], "", ""] if row["why"] else [_figure(row[key]) for key in ("cpu", "wall", "peak_mib")]
                )
                case = ", ".join(filter(None, (row["variant"], "" if is_current(row) else OLDER)))
                yield f"| {label} | {case} | {units} | {' | '.join(took)} |"


def _figure(x: float | None) -> str:
    if x is None:
        return ""
    return number(round(x)) if x >= 100 else number(x, 3)


def _takeover(rows: Sequence[Row]) -> Iterator[str]:
    """Return the engine's share of the memory form's cost, for cases measured in both."""
    yield "| work | case | size | form | CPU seconds | seconds by the clock | peak memory |"
    yield "| --- | --- | ---: | --- | ---: | ---: | ---: |"
    for work, names in UNITS.items():
        for memory_row in _rows_of(rows, work, "memory"):
            for form in ("duckdb", "spark"):
                for row in _rows_of(rows, work, form):
                    if _case(row) == _case(memory_row):
                        ratios = " | ".join(_ratio(row[key], memory_row[key]) for key in ("cpu", "wall", "peak_mib"))
                        size = f"{memory_row['size']:,} {names[0]}"
                        yield f"| {work} | {memory_row['variant']} | {size} | {FORMS[form]} | {ratios} |"


def _ratio(first: float | None, second: float | None) -> str:
    return f"{first / second:.2f}" if first and second else ""


def _flat(rows: Sequence[Row]) -> Iterator[str]:
    """Return the cost of a row if ten times the rows are hardly more combinations."""
    yield "| rows | combinations | CPU seconds per million rows | at a million rows = 1 |"
    yield "| ---: | ---: | ---: | ---: |"
    result = sorted(
        (row for row in _rows_of(rows, "audit of a table", "duckdb") if row["variant"] == "3 columns" and row["cpu"]),
        key=lambda row: float(row["size"]),
    )
    of_size = {row["size"]: 1e6 * row["cpu"] / row["size"] for row in result}
    for row in result:
        if row["size"] >= 10**6:
            cost = of_size[row["size"]]
            combinations = f"{row['units']['combinations']:,.0f}"
            yield f"| {row['size']:,} | {combinations} | {cost:.3g} | {_ratio(cost, of_size.get(10**6))} |"


def _case(row: Row) -> tuple[str, int]:
    return row["variant"], row["size"]


def _model(fits: Mapping[tuple[str, str], Fit]) -> Iterator[str]:
    yield "| work | form | core-seconds | worst error | cases | measured with |"
    yield "| --- | --- | --- | ---: | ---: | --- |"
    for (work, form), fit in fits.items():
        terms = [f"{1e6 * rate:,.3g} per million {name}" for name, rate in fit.rates.items() if rate > 0]
        base = [f"{fit.base:.2g}"] if fit.base else []
        last = f"{100 * fit.worst:.0f} % | {fit.n} | {_code(fit)}"
        yield f"| {work} | {FORMS[form]} | {' + '.join([*terms, *base])} | {last} |"


def _code(fit: Fit) -> str:
    return "this code" if fit.current else OLDER


def _plan(fits: Mapping[tuple[str, str], Fit]) -> Iterator[str]:
    machines, cores = CLUSTER
    yield (
        f"**Extrapolated, not measured.** {machines} machines of {cores} cores, {machines * cores} cores in all, at "
        f"{PRICE:.2f} dollars for an hour of a core. Core-hours are from the model. Hours assume that half of the "
        "cores' time goes into the work. If no rate was measured on Spark, the table uses that of DuckDB and names it: "
        "this is a lower bound, because Spark took many times as long here."
    )
    yield ""
    yield "| work | size | rates of | measured with | core-hours | hours on the cluster | dollars |"
    yield "| --- | --- | --- | --- | ---: | ---: | ---: |"
    total = 0.0
    for work, units in WANTED:
        form = next((form for form in ("spark", "duckdb") if (work, form) in fits), None)
        size = ", ".join(f"{amount:,.0f} {name}" for name, amount in units.items())
        if form is None:
            yield f"| {work} | {size} | not measured | | | | |"
            continue
        core_hours = fits[work, form].seconds(units) / 3600
        total += core_hours * 2 * PRICE
        hours = 2 * core_hours / (machines * cores)
        rates = f"{FORMS[form]} | {_code(fits[work, form])}"
        yield f"| {work} | {size} | {rates} | {core_hours:,.3g} | {hours:,.2g} | {core_hours * 2 * PRICE:,.2f} |"
    yield ""
    yield f"The total is {total:,.2f} dollars, idle cores included."


# --- charts --------------------------------------------------------------------------------------------------


def _charts(rows: Sequence[Row]) -> Iterator[str]:
    for index, (work, names) in enumerate(UNITS.items()):
        points = [row for row in rows if row["work"] == work and row["cpu"]]
        if points:
            file = f"scale-{index + 1}.svg"
            (PAGE.parent / file).write_text(_chart(points, names[0]), encoding="utf-8")
            yield from ([""] if index else [])
            yield f"![{work[0].upper() + work[1:]}: CPU seconds and peak memory by {names[0]}, log-log]({file})"


def _chart(points: Sequence[Row], unit: str) -> str:
    """Two panels side by side, CPU seconds and peak memory by size, a line for each form; both axes logarithmic."""
    import altair as alt
    import vl_convert

    from unmask.render.charts.boxes import FONT_SIZE
    from unmask.render.charts.svg import COLORS, FONT, SHAPES, light

    used = [form for form in FORMS if _rows_of(points, points[0]["work"], form)]
    values = [
        {
            "form": FORMS[row["form"].partition(":")[0]],
            "case": row["form"] + row["variant"],
            "size": row["size"],
            "CPU seconds": row["cpu"],
            "peak memory, MiB": row["peak_mib"],
        }
        for row in points
    ]
    look = {"domain": [FORMS[form] for form in used]}
    color = alt.Color("form:N", scale=alt.Scale(**look, range=list(map(light, COLORS[: len(used)]))), title=None)
    shape = alt.Shape("form:N", scale=alt.Scale(**look, range=list(SHAPES[: len(used)])), title=None)
    sizes = sorted({row["size"] for row in points})
    across = alt.X("size:Q", title=unit, scale=alt.Scale(type="log", domain=[sizes[0] / 1.5, sizes[-1] * 1.5]))
    panels = []
    for measure in ("CPU seconds", "peak memory, MiB"):
        up = alt.Y(f"{measure}:Q", scale=alt.Scale(type="log"), axis=alt.Axis(format=",~g"))
        base = alt.Chart(alt.InlineData(values=values)).encode(
            x=across.axis(values=sizes, format="~s"), y=up.title(measure), color=color
        )
        lines = base.mark_line(strokeWidth=1.5, opacity=0.6).encode(detail="case:N")
        panels.append(
            (lines + base.mark_point(filled=True, size=60, opacity=1).encode(shape=shape)).properties(
                width=300, height=220
            )
        )
    work = points[0]["work"]
    chart = alt.hconcat(*panels, title=work[0].upper() + work[1:])
    chart = chart.configure(font=FONT, background="white").configure_view(stroke=None)
    chart = chart.configure_axis(labelFontSize=FONT_SIZE - 1, titleFontSize=FONT_SIZE, titleFontWeight="normal")
    chart = chart.configure_legend(orient="top", labelFontSize=FONT_SIZE)
    return str(vl_convert.vegalite_to_svg(chart.to_dict())) + "\n"
