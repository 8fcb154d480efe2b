"""The page of a study as one HTML file: no script, nothing fetched; same rows in, same bytes out."""

from __future__ import annotations

from unmask.reports.canvas import swatch
from unmask.reports.html import fill
from unmask.reports.study.sections import contents
from unmask.reports.study.values import StudyData


def render_study(data: StudyData) -> str:
    """The page. Names are escaped, so that any name is safe; what has no data is left out.

    >>> from unmask.reports.study.values import Missing
    >>> gap = Missing("census", "k=3", "neighbor", "failed", 2, "out of memory")
    >>> "out of memory" in render_study(StudyData("Example", (), (gap,)))
    True
    """
    return fill("study.html.j2", {**contents(data), "swatch": swatch})
