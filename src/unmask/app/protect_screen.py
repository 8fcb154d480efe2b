"""Step 5: many releases, made and attacked in the background, on a plane of risk and utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, NamedTuple

from unmask.app import mechanism_curve, tried_releases
from unmask.app.fields import read_index
from unmask.app.pages import show_progress
from unmask.app.project import Project
from unmask.app.tried_releases import Point
from unmask.app.verdict_screen import list_commands
from unmask.app.workflow import Trials
from unmask.app.workflows import find_workflow
from unmask.core.errors import UnmaskError
from unmask.document import group_by_role
from unmask.languages import gettext as _
from unmask.languages import retranslate
from unmask.render import draw
from unmask.results import Chart, Column, Table

COLUMNS = (
    Column("shape"), Column("style"), Column("release"), Column("mark"), Column("ring"), Column("link"),
    Column("state", "Conditions"), Column("ratio", "Worst condition, times its limit", "number"),
    Column("utility", "Utility kept", "share"),
)  # fmt: skip

CHART = Chart(
    "points", "releases", "ratio", "utility", "shape", label="Releases by risk and utility", style="style",
    text="release", mark="mark", ring="ring", link="link", front=True, log="x", x_rules={"the limit": 1.0},
)  # fmt: skip


def show(project: Project, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the plane of tried releases, the selected one, and the one that it is compared with."""
    trials, source = _find_trials(project)
    job = project.jobs.find_current("study", source.compute_digest(project, trials))
    points, untested = source.read_points(project, trials) if job else ((), ())
    values = {
        "word": find_workflow(project.document).word,
        "job": job,
        "busy": show_progress(project, job),
        "points": points,
        "untested": untested,
        "unchanged": group_by_role(project.document.get("columns", {})).get("keep", ()),
        "commands": (*source.list_commands(project), *list_commands(project)[:1]),
    }
    return values | (show_points(points, trials, project, query) if points else {})


def _find_trials(project: Project) -> tuple[Trials, ModuleType]:
    """Return the protections to try, and the module that tries them."""
    trials = find_workflow(project.document).trials
    assert trials is not None  # the workflow has this screen
    return trials, tried_releases if trials.plan else mechanism_curve


def submit(project: Project, form: Mapping[str, Any]) -> str:
    """Start or continue the trials, or use a point for the release."""
    trials, source = _find_trials(project)
    if form.get("do") in ("start", "again"):
        project.jobs.find_current("study", source.compute_digest(project, trials))
        source.start(project, trials)
        return "protect"
    points, _ = source.read_points(project, trials)
    index = read_index(form.get("point"), points)
    if index is None:
        raise UnmaskError("there is no such release; choose one of the list")
    if not points[index].values:
        raise UnmaskError("the unprotected release is for comparison; choose a protected one")
    no_values = dict.fromkeys(item.name for item in trials.parameters)
    project.save(trials.apply(project.document, {**no_values, **points[index].values}))
    return "verdict"


# --- points -----------------------------------------------------------------------------------------------------------


class Slider(NamedTuple):
    """A parameter with its tried values. stops : value, address, and whether it is selected"""

    name: str
    label: str
    stops: tuple[tuple[str, str, bool], ...]


def show_points(points: Sequence[Point], trials: Trials, project: Project, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the plane, the selected release, and the sliders that lead to others.

    The first selection is the acceptable release with the largest utility, and of equal ones the least risk.
    """
    values = {name: value for name, value in trials.read(project.document).items() if value is not None}
    present = next((index for index, point in enumerate(points) if point.values == values), 0)
    accepted = [index for index, point in enumerate(points) if point.is_met and point.values]
    best_index = max(
        accepted, key=lambda index: (round(points[index].utility, 4), -points[index].ratio), default=present
    )
    indices = [read_index(query.get(name), points) for name in ("point", "against")]
    index, reference = (
        default if index is None else index for index, default in zip(indices, (best_index, present), strict=True)
    )
    return {
        "best": points[best_index].name if accepted else "",
        "chart": draw(replace(CHART, x_rules={_("the limit"): 1.0}), build_table(points, trials, index, reference)),
        "index": index,
        "reference": reference,
        "sliders": build_sliders(points, trials, index, reference),
    }


def build_sliders(points: Sequence[Point], trials: Trials, index: int, reference: int) -> list[Slider]:
    """Return the parameters of the selected release that have several values while the others stay."""
    sliders = []
    for parameter in trials.parameters if points[index].values else ():
        stops = tuple(
            (parameter.format(value) if (value := point.values.get(parameter.name)) is not None else _("any"),
             _format_address(position, reference), position == index)
            for position, point in enumerate(points)
            if point.values and _drop_parameter(point, parameter.name) == _drop_parameter(points[index], parameter.name)
        )  # fmt: skip
        if len(stops) > 1:
            sliders.append(Slider(parameter.name, parameter.label, stops))
    return sliders


def _drop_parameter(point: Point, name: str) -> dict[str, Any]:
    return {key: value for key, value in point.values.items() if key != name}


def build_table(points: Sequence[Point], trials: Trials, index: int, reference: int) -> Table:
    """Return the table of the plane. Releases on the front have names; each is a link."""
    last = trials.parameters[-1].name
    smallest = min((point.values.get(last) or 0 for point in points if point.values), default=0)
    has_squares = len(trials.parameters) > 1
    records: list[tuple[Any, ...]] = [
        (
            "",
            int(has_squares and bool(point.values) and (point.values.get(last) or 0) > smallest),
            retranslate(point.name) if point.is_best or position in (index, reference) else "",
            "point" if point.is_best else "hollow",
            "solid" if position == index else "dashed" if position == reference else "",
            _format_address(position, reference),
            _("every tested condition met") if point.is_met else _("a condition is missed"),
            point.ratio,
            point.utility,
        )
        for position, point in enumerate(points)
    ]
    records.sort(key=lambda record: record[7:])
    columns = [replace(column, label=retranslate(column.label)) for column in COLUMNS]
    return Table.from_records("releases", columns, records)


def _format_address(position: int, reference: int) -> str:
    return f"/protect?point={position}&against={reference}"
