"""What programs do with what a page shows: frames, JSON, charts, a summary, the page itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError, nearest
from unmask.frames import frame_of_rows
from unmask.results import as_json

if TYPE_CHECKING:
    from unmask.reports.data import ReportData
    from unmask.reports.facts.study import StudyData

MEASURES = "measures"
"""The name of the frame of all rows."""


@dataclass(frozen=True)
class Chart:
    """A chart of a page; a notebook shows it.

    svg : the drawing, as text; caption : the line above it
    """

    name: str
    caption: str
    svg: str

    def __repr__(self) -> str:
        return f"Chart({self.name!r}, {self.caption!r})"

    def _repr_html_(self) -> str:
        return self.svg


class Result:
    """The methods of `ReportData` and `StudyData`. They show what the commands show: nothing of fewer than `least`
    people, no record, and no number of a row.
    """

    @property
    def results(self) -> list[dict[str, Any]]:
        """The rows: one for each measure of each adversary on each release; of a study, on each protected dataset."""
        return rows_of(_of(self))

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """What was found besides, by name: criteria, utility, what columns give away, and the facts of each subject.

        The tables of a subject are called after it and what they list: `graph_attacks`, `channel_mechanisms`,
        `linkage_guesses`, `price_releases`; its single values are one row, such as that of `channel`.
        """
        return tables_of(_of(self))

    def to_frame(self, name: str = MEASURES, *, library: str | None = None) -> Any:
        """The rows, or the table of this name, as a data frame.

        library : "pandas", "polars" or "pyarrow"; the one that the program has imported, else one that is installed
        """
        tables = {MEASURES: self.results, **self.tables}
        if name not in tables:
            raise UnmaskError(f"{name!r} is no table of this result; {nearest(name, tuple(tables))}")
        return frame_of_rows(tables[name], library=library)

    def summary(self) -> str:
        """The result in plain language, in at most 25 lines."""
        from unmask.reports.summary import summary

        return summary(_of(self))

    @property
    def charts(self) -> tuple[str, ...]:
        """The names of the charts of the page, in its order."""
        return tuple(chart.name for chart in _charts(_of(self)))

    def chart(self, name: str) -> Chart:
        """The chart of this name, one of `charts`."""
        found = {chart.name: chart for chart in _charts(_of(self))}
        if name not in found:
            raise UnmaskError(f"{name!r} is no chart of this result; {nearest(name, tuple(found))}")
        return found[name]

    def to_html(self) -> str:
        """The page, one HTML text that needs nothing else."""
        from unmask.reports.page import render

        return render(_of(self))

    def to_json(
        self, command: str = "", *, inputs: Iterable[Mapping[str, Any]] = (), warnings: Iterable[str] = ()
    ) -> str:
        """The result as the JSON that commands print; the arguments are those of `unmask.results.envelope`."""
        data = _of(self)
        command = command or ("report" if _is_study(data) else "audit")
        subjects = () if _is_study(data) else data.subjects
        warned = (*warnings, *(warning for one in subjects for warning in one.warnings))
        found = {"results": rows_of(data), "tables": tables_of(data), "not_run": _not_run(data)}
        return as_json(command, inputs=inputs, warnings=warned, **found)

    def _repr_html_(self) -> str:
        """An HTML page in a page: its styles must not reach the notebook."""
        from html import escape

        return f'<iframe sandbox srcdoc="{escape(self.to_html())}" style="width:100%;height:40em;border:0"></iframe>'

    def __repr__(self) -> str:
        from unmask.reports.overview import overview

        return overview(_of(self))


def _of(result: Result) -> Any:
    """The same without what tells of few people; criteria of releases stay: k is what a report is for."""
    from dataclasses import replace

    from unmask.reports.data import ORIGINAL, ReportData
    from unmask.reports.small import without_small

    if not isinstance(result, ReportData):
        return result
    exact = {name: values for name, values in result.criteria.items() if name != ORIGINAL}
    return replace(without_small(result), criteria=exact)


def _is_study(data: ReportData | StudyData) -> bool:
    return hasattr(data, "planes")


def rows_of(data: Any) -> list[dict[str, Any]]:
    """The rows without the number of the observation that is worst off: it may be that of a person."""
    if not _is_study(data):
        return [_named(row) for row in data.rows]
    return [
        {
            "dataset": item.dataset,
            "protection": item.row.release,
            **{name: value for name, value in _named(item.row).items() if name not in ("release", "quantiles")},
            **dict(zip(("gain_low", "gain_high"), item.gain or (None, None), strict=True)),
            "seeds": item.seeds,
        }
        for item in data.rows
    ]


def _named(row: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(row).items() if name != "worst_observation"}


OTHERS = frozenset(
    {"title", "who", "rows", "missing", "not_run", "words", "reproduce", "adversaries", "success", "least", "planes"}
    | {"unprotected", "seeds", "subjects"}
)
"""Fields that are no tables: settings of the page, and what has a place of its own."""


def tables_of(data: Any) -> dict[str, list[dict[str, Any]]]:
    """Every field that holds facts, as rows; those without a row are left out."""
    who = {"who": data.who} if hasattr(data, "who") else {}
    found = {"about": [{"title": data.title, **who}]}
    for name in (field.name for field in fields(data) if field.name not in OTHERS):
        found.update(_tables(name, getattr(data, name)))
    for one in getattr(data, "subjects", ()):
        found.update(_tables(one.name, one))
    if _is_study(data):
        best = dict.fromkeys((plane.dataset, name) for plane in data.planes for name in plane.undominated)
        found["undominated"] = [{"dataset": dataset, "protection": name} for dataset, name in best]
    return {name: [row for row in rows if row] for name, rows in found.items() if any(rows)}


_LISTED = re.compile(r"tuple\[[\w.]*[A-Z]")
"""In the type of a field: it holds dataclasses, if any."""


def _tables(name: str, value: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A value as tables: a tuple of dataclasses is one, also by release; what else a dataclass holds is one row."""
    if is_dataclass(value) and all(isinstance(column, tuple) for column in vars(value).values()):  # a curve
        yield name, [dict(zip(vars(value), row, strict=True)) for row in zip(*vars(value).values(), strict=True)]
    elif is_dataclass(value):
        parts = fields(value)
        nested = [one.name for one in parts if is_dataclass(getattr(value, one.name)) or _LISTED.search(str(one.type))]
        yield name, [{part: inner for part, inner in vars(value).items() if part not in nested}]
        for part in nested:
            yield from _tables(f"{name}_{part}", getattr(value, part))
    elif isinstance(value, Mapping):
        yield name, [{"release": key, **row} for key, inner in value.items() for row in _rows(inner)]
    elif isinstance(value, tuple):
        yield name, [row if isinstance(row, dict) else {name.removesuffix("s"): row} for row in _rows(value)]


def _rows(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [{**vars(row)} if is_dataclass(row) else row for row in value]
    return [dict(value)]


def _not_run(data: Any) -> tuple[tuple[str, str], ...]:
    if not _is_study(data):
        return tuple(data.not_run)
    return tuple(
        (f"{one.dataset}, {one.protection}, {one.adversary}: {one.cells} cells {one.status}", one.reason)
        for one in data.missing
    )


def _charts(data: Any) -> Iterator[Chart]:
    from unmask.reports.export import items
    from unmask.reports.parts import Figure

    for name, _, item in items(data):
        if isinstance(item, Figure):
            yield Chart(name, item.caption, item.svg)
