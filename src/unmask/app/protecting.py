"""Step 5: many releases, made and attacked in the background, on one plane of risk and utility; and what each does to
the columns of a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.app import designing, studying, verdict
from unmask.app.counting import seen
from unmask.app.kind import Trials
from unmask.app.kinds import kind_of
from unmask.app.opening import masked
from unmask.app.points import Point
from unmask.app.progress import busy_with
from unmask.app.project import Project
from unmask.app.protection import levels_of
from unmask.app.shapes import Shape
from unmask.core.errors import UnmaskError
from unmask.document import by_role
from unmask.render import draw
from unmask.results import Chart
from unmask.results import Column as Fact
from unmask.results import Table as Facts
from unmask.tables.column import Column

if TYPE_CHECKING:
    from unmask.tables import Table

SHOWN = 200_000
"""Rows of a table up to which it is shown what a release does to its columns."""

SAMPLE = 5
"""Rows that are shown before and after, masked."""


def show(project: Project, query: Mapping[str, str]) -> dict[str, Any]:
    """The plane, as far as it is computed, the point that is looked at, and the one it is compared with."""
    trials = _trials(project)
    source = _source(trials)
    job = project.jobs.find("study")
    fresh = source.is_fresh(project, trials)
    if job is not None and not fresh:
        project.jobs.stop("study")
        job = None
    points, left = source.points(project, trials) if fresh else ((), ())
    chosen, against = _chosen(trials.asked(project.given), points, query)
    return {
        "job": job,
        "busy": busy_with(project, job),
        "trials": trials,
        "points": points,
        "left": left,
        "kept": by_role(project.given.get("columns", {})).get("keep", ()),
        "drawing": _plane(points, trials, chosen, against) if points else "",
        "chosen": None if chosen is None else points[chosen],
        "against": None if against is None else points[against],
        "at": chosen,
        "other": against,
        "slides": [] if chosen is None or against is None else _slides(points, trials, chosen, against),
        "seen": None if chosen is None else _seen(project, points[chosen]),
        "title": _title(points),
        "commands": (*source.commands(project), *verdict.commands(project)[:1]),
    }


def _trials(project: Project) -> Trials:
    trials = kind_of(project.given).trials
    assert trials is not None  # where there are none there is no such screen
    return trials


def _source(trials: Trials) -> Any:
    """What tries protections, and has the points."""
    return studying if trials.plan else designing


def take(project: Project, form: Mapping[str, Any]) -> str:
    """Start or go on with what is tried, or take a point for the release."""
    trials = _trials(project)
    source = _source(trials)
    if form.get("do") in ("start", "again"):
        if not source.is_fresh(project, trials):
            project.jobs.stop("study")
        source.start(project, trials)
        return "protect"
    at, (points, _) = str(form.get("point", "")), source.points(project, trials)
    if not at.isdecimal() or not at.isascii() or int(at[:6]) >= len(points):
        raise UnmaskError("there is no such point; take one of those that are listed")
    point = points[int(at)]
    if not point.asked:
        raise UnmaskError("the unprotected release is there to compare with; take a point that protects")
    nothing = dict.fromkeys(trials.asked(project.given))
    project.save(trials.used(project.given, {**nothing, **point.asked}))
    return "verdict"


# --- points -----------------------------------------------------------------------------------------------------------


def _chosen(own: Mapping[str, Any], points: Sequence[Point], query: Mapping[str, str]) -> tuple[int | None, int | None]:
    """The point that was clicked, else the one with most utility of those that meet all, else that of the document."""
    if not points:
        return None, None
    said = {name: value for name, value in own.items() if value is not None}
    mine = next((at for at, one in enumerate(points) if one.asked == said), 0)
    met = [at for at, one in enumerate(points) if one.met and one.asked]
    best = max(met, key=lambda at: _worth(points[at]), default=mine)
    return _asked(query, "point", points, best), _asked(query, "against", points, mine)


def _worth(point: Point) -> tuple[float, float]:
    """The more it keeps the better; of as much, the less is at risk."""
    return round(point.utility, 4), -point.times


def _asked(query: Mapping[str, str], name: str, points: Sequence[Point], usual: int) -> int:
    text = query.get(name, "")
    known = text.isdecimal() and text.isascii() and int(text[:6]) < len(points)
    return int(text[:6]) if known else usual


class Slide(NamedTuple):
    """A parameter along whose computed values one can move. stops : value, address, and whether it is selected"""

    name: str
    words: str
    stops: tuple[tuple[str, str, bool], ...]


def _slides(points: Sequence[Point], trials: Trials, chosen: int, against: int) -> list[Slide]:
    """The parameters of the selected point that have several computed values, the others as they are."""
    own, found = points[chosen].asked, []
    for one in trials.parameters if own else ():
        others = {name: value for name, value in own.items() if name != one.name}
        along = [
            (at, point.asked.get(one.name))
            for at, point in enumerate(points)
            if point.asked and {name: value for name, value in point.asked.items() if name != one.name} == others
        ]
        stops = tuple(
            ("any" if value is None else one.shown(value), _where(at, against), at == chosen) for at, value in along
        )
        found += [Slide(one.name, one.words, stops)] if len(stops) > 1 else []
    return found


def _title(points: Sequence[Point]) -> str:
    """What the plane says."""
    met = [one for one in points if one.met and one.asked]
    if not met:
        return "No release is acceptable yet" if points else ""
    best = max(met, key=_worth)
    return f"{best.words} keeps the most of what is acceptable"


COLUMNS = (
    Fact("shape"), Fact("style"), Fact("release"), Fact("mark"), Fact("ring"), Fact("link"),
    Fact("state", "Conditions"), Fact("times", "Worst condition, times its limit", "number"),
    Fact("utility", "Utility kept", "share"),
)  # fmt: skip


def _plane(points: Sequence[Point], trials: Trials, chosen: int | None, against: int | None) -> str:
    """Releases by their worst condition and their utility; each is a link. Those on the front have names."""
    last = [point.asked.get(trials.parameters[-1].name) or 0 for point in points]
    least = min((value for point, value in zip(points, last, strict=True) if point.asked), default=0)
    several = len(trials.parameters) > 1
    records = [
        (
            "",
            int(several and bool(one.asked) and last[at] > least),
            one.words if one.front or at in (chosen, against) else "",
            "point" if one.front else "hollow",
            "solid" if at == chosen else "dashed" if at == against else "",
            _where(at, against),
            "every tested condition met" if one.met else "a condition is missed",
            one.times,
            one.utility,
        )
        for at, one in enumerate(points)
    ]
    ordered = sorted(records, key=lambda record: record[7:])
    chart = Chart(
        "points", "releases", "times", "utility", "shape", label="Releases by risk and utility", style="style",
        text="release", mark="mark", ring="ring", link="link", front=True, log="x", x_rules={"the limit": 1.0},
    )  # fmt: skip
    return str(draw(chart, Facts.from_records("releases", COLUMNS, ordered)))


def _where(at: int, against: int | None) -> str:
    return f"/protect?point={at}&against={against}"


# --- columns ----------------------------------------------------------------------------------------------------------


class Protected(NamedTuple):
    """What a point does. columns : each before and after; names : of the quasi-identifiers; rows : some before and
    after, masked
    """

    columns: list[dict[str, Any]]
    names: list[str]
    rows: list[tuple[list[str], list[str]]]


def _seen(project: Project, point: Point) -> Protected | None:
    """What happens to each column and to some rows; None of a large table, of no table, or where nothing happens."""
    if kind_of(project.given).word or not point.asked or seen(project).facts[0].rows > SHOWN:
        return None
    try:
        return _protected(project, point.asked["k"], point.asked.get("l"))
    except UnmaskError:
        return None


_KEPT: dict[tuple[Any, ...], Protected] = {}
"""What a point does, of the one that was looked at last."""


def _protected(project: Project, k: int, l: int | None) -> Protected:  # noqa: E741
    from unmask.protecting import protect
    from unmask.tables import Table

    assert project.file is not None
    key = (project.file, studying.digest(project, _trials(project)), project.file.stat().st_mtime_ns, k, l)
    if key not in _KEPT:
        said = {name: one for name, one in project.table.items() if name not in ("use", "file", "hold_back", "name")}
        table = Table.read(project.file, **said)
        made = protect(table, k=k, l=l, levels=levels_of(project.given))
        _KEPT.clear()
        before = {shape.name: shape for shape in seen(project).shapes}
        columns = [_column(before[column.name], column, made.width) for column in made.release.written]
        names = [column.name for column in made.release.quasi_identifiers]
        _KEPT[key] = Protected(columns, names, list(_sample(table, made.release, made.origin, names)))
    return _KEPT[key]


def _sample(
    table: Table, release: Table, origin: NDArray[np.int64], names: Sequence[str]
) -> Iterator[tuple[list[str], list[str]]]:
    """Some rows before and after, spread over the release, without their content."""
    for at in np.unique(np.linspace(0, release.n_rows - 1, SAMPLE).astype(np.int64)).tolist():
        one, other = table.take(origin[at : at + 1]), release.take(slice(at, at + 1))
        yield [masked(one[name][0]) for name in names], [masked(other[name][0]) for name in names]


def _column(before: Shape, column: Column, width: Mapping[str, Any]) -> dict[str, Any]:
    after = Shape.of(column, ladder=False)
    drawn = [
        {"when": when, "values": one.values, "drawing": one.drawing, "ends": one.ends}
        for when, one in (("before", before), ("after", after))
    ]
    common = column.levels.labels[int(column.counts.argmax())]
    changed = str(width.get(after.name, "exact")) != "exact"
    return {
        "name": after.name,
        "type": after.type,
        "drawn": drawn if changed else drawn[:1],
        "open": f"A cell leaves open {width[after.name]}." if changed else "It is released unchanged.",
        "example": common if changed else "",
    }
