"""What programs do with what a page shows: frames, JSON, charts, a summary, the page itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, Self, cast

from unmask.errors import UnmaskError, nearest
from unmask.frames import frame_of_rows
from unmask.results import Row, as_json

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

    command: ClassVar[str]
    rows: tuple[Any, ...]

    def without_small(self) -> Self:
        """The same without what tells of few people; doing it again changes nothing."""
        return self

    def for_programs(self) -> Self:
        """The same as programs get it: criteria of releases stay, as k is what a report is for."""
        return self.without_small()

    def plain_rows(self) -> list[dict[str, Any]]:
        """The rows as plain values."""
        return [plain_row(row) for row in self.rows]

    def facts(self) -> Iterator[tuple[str, Any]]:
        """What was found besides, by name: every field that holds facts."""
        yield "about", ({name: getattr(self, name) for name in ("title", "who") if hasattr(self, name)},)
        given = (one.name for one in fields(cast(Any, self)))
        yield from ((name, getattr(self, name)) for name in given if name not in OTHERS)

    @property
    def not_run(self) -> tuple[tuple[str, str], ...]:
        """What was left out or failed, and why."""
        return ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a program must hand on with the numbers."""
        return ()

    @property
    def results(self) -> list[dict[str, Any]]:
        """The rows: one for each measure of each adversary on each release; of a study, on each protected dataset."""
        return self.for_programs().plain_rows()

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """What was found besides, by name: criteria, utility, what columns give away, and the facts of each subject.

        The tables of a subject are called after it and what they list: `graph_attacks`, `channel_mechanisms`,
        `linkage_guesses`, `price_releases`; its single values are one row, such as that of `channel`.
        """
        found = (table for name, value in self.for_programs().facts() for table in _tables(name, value))
        return {name: kept for name, rows in found if (kept := [row for row in rows if row])}

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

        return summary(cast(Any, self.for_programs()))

    @property
    def charts(self) -> tuple[str, ...]:
        """The names of the charts of the page, in its order."""
        return tuple(chart.name for chart in _charts(self.for_programs()))

    def chart(self, name: str) -> Chart:
        """The chart of this name, one of `charts`."""
        found = {chart.name: chart for chart in _charts(self.for_programs())}
        if name not in found:
            raise UnmaskError(f"{name!r} is no chart of this result; {nearest(name, tuple(found))}")
        return found[name]

    def to_html(self) -> str:
        """The page, one HTML text that needs nothing else."""
        from unmask.reports.page import render

        return render(cast(Any, self.for_programs()))

    def to_json(
        self, command: str = "", *, inputs: Iterable[Mapping[str, Any]] = (), warnings: Iterable[str] = ()
    ) -> str:
        """The result as the JSON that commands print; the arguments are those of `unmask.results.envelope`."""
        warned, found = (*warnings, *self.warnings), {"results": self.results, "tables": self.tables}
        return as_json(command or self.command, inputs=inputs, warnings=warned, not_run=self.not_run, **found)

    def _repr_html_(self) -> str:
        """An HTML page in a page: its styles must not reach the notebook."""
        from html import escape

        return f'<iframe sandbox srcdoc="{escape(self.to_html())}" style="width:100%;height:40em;border:0"></iframe>'

    def __repr__(self) -> str:
        from unmask.reports.overview import overview

        return overview(cast(Any, self.for_programs()))


def plain_row(row: Row) -> dict[str, Any]:
    """A row without the number of the observation that is worst off: it may be that of a person."""
    return {name: value for name, value in vars(row).items() if name != "worst_observation"}


OTHERS = frozenset(
    {"title", "who", "rows", "missing", "not_run", "words", "reproduce", "adversaries", "success", "least", "planes"}
    | {"unprotected", "seeds", "subjects", "verdicts"}
)
"""Fields that are no tables: settings of the page, and what has a place of its own."""


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


def _charts(data: Any) -> Iterator[Chart]:
    from unmask.reports.export import items
    from unmask.reports.parts import Figure

    for name, _, item in items(data):
        if isinstance(item, Figure):
            yield Chart(name, item.caption, item.svg)
