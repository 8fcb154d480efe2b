"""Contents of a page for programs: frames, JSON, charts, a summary, the page itself.

What draws is imported where something is drawn: most commands draw nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from unmask.core.errors import UnmaskError, nearest
from unmask.data.frames import frame_of_rows
from unmask.policy import Verdict
from unmask.reports.data import MEASURES, ReportData
from unmask.results import Row, as_json

if TYPE_CHECKING:
    from unmask.render import Figure


class Result:
    """A result of an audit or a study. It shows the same as the commands: no fact about fewer than `least` people, no
    record, and no row number.

    data : the same as values, see `ReportData`
    """

    def __init__(self, data: ReportData) -> None:
        self.data: ReportData = data.for_programs()

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return the measures; those of a study without their datasets, which `results` has."""
        return self.data.rows

    @property
    def not_run(self) -> tuple[tuple[str, str], ...]:
        """Return what was left out or failed, and the reasons."""
        return self.data.not_run

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdict on each release under each policy; none for a study."""
        return self.data.verdicts

    @property
    def results(self) -> list[dict[str, Any]]:
        """Return the rows: one for each measure of each adversary on each release; in a study, on each protected
        dataset.
        """
        return self.data.plain_rows()

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return the other tables by name: criteria, utility, exposure by columns, and the facts of each domain.

        The tables of a subject are called after it and what they list: `graph_attacks`, `channel_mechanisms`,
        `linkage_guesses`, `price_releases`; its single values are one row, such as that of `channel`.
        """
        return self.data.tables()

    def to_frame(self, name: str = MEASURES, *, library: str | None = None) -> Any:
        """Return the rows, or the table of this name, as a data frame.

        library : "pandas", "polars" or "pyarrow"; the one that the program has imported, else one that is installed
        """
        tables = {MEASURES: self.results, **self.tables}
        if name not in tables:
            raise UnmaskError(f"{name!r} is not a table of this result; {nearest(name, tuple(tables))}")
        return frame_of_rows(tables[name], library=library)

    def summary(self) -> str:
        """Return the result in plain language, in at most 25 lines."""
        from unmask.reports.summary import summary

        return summary(self.data)

    @cached_property
    def _charts(self) -> dict[str, Figure]:
        from unmask.render import Figure
        from unmask.reports.export import items

        return {name: replace(item, name=name) for name, _, item in items(self.data) if isinstance(item, Figure)}

    @property
    def charts(self) -> tuple[str, ...]:
        """Return the names of the charts of the page, in its order."""
        return tuple(self._charts)

    def chart(self, name: str) -> Figure:
        """Return the chart of this name, one of `charts`, or the only one with these words in its name, such as "risk
        slope".
        """
        words = {*name.replace("-", " ").split()}
        fit = (
            [name]
            if name in self._charts
            else [chart_name for chart_name in self.charts if words <= set(chart_name.split("-"))]
        )
        if len(fit) > 1:
            raise UnmaskError(f"{name!r} fits {len(fit)} charts of this result; take one of {', '.join(fit)}")
        if not fit:
            raise UnmaskError(f"{name!r} is not a chart of this result; {nearest(name, self.charts)}")
        return self._charts[fit[0]]

    def to_html(self) -> str:
        """Return the page, one HTML text without other files."""
        from unmask.reports.page import render

        return render(self.data)

    def to_json(
        self, command: str = "", *, inputs: Iterable[Mapping[str, Any]] = (), warnings: Iterable[str] = ()
    ) -> str:
        """Return the result as the JSON that commands print; the arguments are those of `unmask.results.envelope`."""
        warned, contents = (*warnings, *self.data.warnings), {"results": self.results, "tables": self.tables}
        return as_json(command or self.data.command, inputs=inputs, warnings=warned, not_run=self.not_run, **contents)

    def _repr_html_(self) -> str:
        """Return an HTML page inside a page: its styles must not reach the notebook."""
        return f'<iframe sandbox srcdoc="{escape(self.to_html())}" style="width:100%;height:40em;border:0"></iframe>'

    def __repr__(self) -> str:
        from unmask.reports.overview import overview

        return overview(self.data)
