"""Step 5: many releases, made and attacked by a study in the background, on one plane of risk and utility; and what
each does to the columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.app import verdict
from unmask.app.counting import seen
from unmask.app.drawing import Spot
from unmask.app.drawing import plane as drawn_plane
from unmask.app.opening import masked
from unmask.app.progress import busy_with
from unmask.app.project import STUDY, Project
from unmask.app.protection import asked as asked_of
from unmask.app.protection import levels_of, with_protection
from unmask.app.shapes import Shape
from unmask.app.studying import COMMAND, cells, digest, journal, plan, start
from unmask.errors import UnmaskError
from unmask.policy import Requirement
from unmask.policy.policies import policy_of
from unmask.policy.verdict import times
from unmask.reports.facts.study import undominated
from unmask.studies.choice import Verdict, choose
from unmask.studies.journal import Journal
from unmask.studies.run import RESULTS, export
from unmask.studies.summary import Results, Summary, read_results
from unmask.tables.column import Column

if TYPE_CHECKING:
    from unmask.tables import Table

SHOWN = 200_000
"""Rows of a table up to which it is shown what a release does to its columns."""

SAMPLE = 5
"""Rows that are shown before and after, masked."""


@dataclass(frozen=True)
class Point:
    """A protection that was tried. times : its worst condition as a multiple of the limit; nan of one that asks none.

    front : whether no other point risks as little and keeps as much
    """

    name: str
    k: int | None
    l: int | None  # noqa: E741
    utility: float
    times: float
    met: bool
    why: tuple[str, ...]
    front: bool = False

    @property
    def words(self) -> str:
        """How it is called on the plane."""
        if self.k is None:
            return "unprotected"
        return f"k = {self.k}" + (f", l = {self.l}" if self.l else "")


def show(project: Project, query: Mapping[str, str]) -> dict[str, Any]:
    """The plane, as far as it is computed, the point that is looked at, and the one it is compared with."""
    job = project.jobs.find("study")
    fresh = job is not None and job.of == digest(project) and (project.folder / STUDY).exists()
    if job is not None and not fresh:
        project.jobs.stop("study")
        job = None
    points, left = _points(project) if fresh else ((), ())
    chosen, against = _chosen(project, points, query)
    done, of = cells(project) if fresh else (0, 0)
    return {
        "job": job,
        "busy": busy_with(project, job),
        "done": done,
        "of_cells": of,
        "points": points,
        "left": left,
        "drawing": drawn_plane(_spots(points, against), chosen=chosen, against=against) if points else "",
        "chosen": None if chosen is None else points[chosen],
        "against": None if against is None else points[against],
        "at": chosen,
        "other": against,
        "slides": [] if chosen is None or against is None else _slides(points, chosen, against),
        "seen": None if chosen is None else _seen(project, points[chosen]),
        "title": _title(points),
        "commands": ("unmask " + " ".join(COMMAND), *verdict.commands(project)[:1]),
    }


def take(project: Project, form: Mapping[str, Any]) -> str:
    """Start or go on with the study, or take a point for the release."""
    if form.get("do") in ("start", "again"):
        start(project)
        return "protect"
    at, (points, _) = str(form.get("point", "")), _points(project)
    if not at.isdecimal() or not at.isascii() or int(at[:6]) >= len(points):
        raise UnmaskError("there is no such point; take one of those that are listed")
    point = points[int(at)]
    if point.k is None:
        raise UnmaskError("the unprotected table is there to compare with; take a point that protects")
    project.save(with_protection(project.given, k=point.k, l=point.l))
    return "verdict"


# --- points -----------------------------------------------------------------------------------------------------------


def _points(project: Project) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    """What is computed, and the conditions that a study cannot test."""
    path = journal(project)
    if not path.exists():
        return (), ()
    made, folder = plan(project), project.folder / "seen"
    folder.mkdir(exist_ok=True)
    export(made, Journal(path), folder / RESULTS)
    results = read_results(folder)
    asked = policy_of(project.given, project.folder, title="own").requirements
    tested = [one for one in asked if _is_asked(one, results)]
    left = tuple(one.name or str(one.require) for one in asked if one not in tested)
    if not results.summaries or not any(one.measure == "utility" for one in results.summaries):
        return (), left
    part = {one.name: one.parameters for one in made.protections}
    gaps = {gap.protection for gap in results.gaps}
    judged = choose(results, [one.require for one in tested]) if tested else ()
    points = _differing([_point(one, part, results, tested) for one in judged if one.protection not in gaps])
    return tuple(sorted(_marked(points), key=lambda one: (one.k is not None, one.l or 0, one.k or 0))), left


def _is_asked(one: Requirement, results: Results) -> bool:
    """Whether the adversaries of a study have what a condition is about."""
    try:
        meant = one.require.named(results.summaries)
    except UnmaskError:
        return False
    return any(meant.about(summary) for summary in results.summaries)


def _point(
    one: Verdict, part: Mapping[str, Mapping[str, Any]], results: Results, tested: Sequence[Requirement]
) -> Point:
    given = part[one.protection]
    own = [summary for summary in results.summaries if summary.protection == one.protection]
    factors = [factor for asked in tested for factor in _times(asked, own, results)]
    name, worst = one.protection, max(factors, default=math.nan)
    return Point(name, given.get("k"), given.get("l"), one.score, worst, one.satisfied, one.failures)


def _times(asked: Requirement, own: Sequence[Summary], results: Results) -> Iterator[float]:
    meant = asked.require.named(results.summaries)
    for summary in own:
        if meant.about(summary):
            value = times(meant.value(summary), meant)
            yield 1 / 64 if value is None else value


def _marked(points: Sequence[Point]) -> list[Point]:
    known = [one for one in points if math.isfinite(one.times + one.utility)]
    best = undominated([(one.times, -one.utility) for one in known])
    return [replace(one, front=front) for one, front in zip(known, best, strict=True)]


def _differing(points: Sequence[Point]) -> list[Point]:
    """Without those that asking for several values has not changed: they are the release of k alone."""
    plain = {(one.k, one.times, one.utility) for one in points if not one.l}
    return [one for one in points if not one.l or (one.k, one.times, one.utility) not in plain]


def _chosen(project: Project, points: Sequence[Point], query: Mapping[str, str]) -> tuple[int | None, int | None]:
    """The point that was clicked, else the one with most utility of those that meet all, else that of the document."""
    if not points:
        return None, None
    own = asked_of(project.given)
    mine = next((at for at, one in enumerate(points) if (one.k, one.l) == (own.get("k"), own.get("l"))), 0)
    met = [at for at, one in enumerate(points) if one.met and one.k is not None]
    best = max(met, key=lambda at: points[at].utility, default=mine)
    return _asked(query, "point", points, best), _asked(query, "against", points, mine)


def _asked(query: Mapping[str, str], name: str, points: Sequence[Point], usual: int) -> int:
    text = query.get(name, "")
    known = text.isdecimal() and text.isascii() and int(text[:6]) < len(points)
    return int(text[:6]) if known else usual


class Slide(NamedTuple):
    """A parameter along whose computed values one can move. stops : value, address, and whether it is selected"""

    name: str
    words: str
    stops: tuple[tuple[str, str, bool], ...]


def _slides(points: Sequence[Point], chosen: int, against: int) -> list[Slide]:
    """The parameters of the selected point that have several computed values, the others as they are."""
    own = points[chosen]
    along = {
        "k": [(f"{one.k}", at) for at, one in enumerate(points) if one.k is not None and one.l == own.l],
        "l": [(f"{one.l or 'any'}", at) for at, one in enumerate(points) if one.k is not None and one.k == own.k],
    }
    return [
        Slide(name, words, tuple((text, _where(at, against), at == chosen) for text, at in stops))
        for name, words in PARAMETERS.items()
        if len(stops := along[name]) > 1 and own.k is not None
    ]


PARAMETERS = {"k": "k: rows at least that look alike", "l": "l: different values at least of each secret among them"}
"""Parameter of the protection -> the words for it."""


def _title(points: Sequence[Point]) -> str:
    """What the plane says."""
    met = [one for one in points if one.met and one.k is not None]
    if not met:
        return "No release is acceptable yet" if points else ""
    best = max(met, key=lambda one: one.utility)
    return f"{best.words} keeps the most of what is acceptable"


def _spots(points: Sequence[Point], against: int | None) -> list[Spot]:
    return [
        Spot(one.times, one.utility, one.words, "other" if one.l else "", one.front, one.met, _where(at, against))
        for at, one in enumerate(points)
    ]


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
    """What happens to each column and to some rows; None of a large table, or where nothing happens."""
    if seen(project).facts[0].rows > SHOWN or point.k is None:
        return None
    try:
        return _protected(project, point.k, point.l)
    except UnmaskError:
        return None


_KEPT: dict[tuple[Any, ...], Protected] = {}
"""What a point does, of the one that was looked at last."""


def _protected(project: Project, k: int, l: int | None) -> Protected:  # noqa: E741
    from unmask.face.protecting import protect
    from unmask.tables import Table

    assert project.file is not None
    key = (project.file, digest(project), project.file.stat().st_mtime_ns, k, l)
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
