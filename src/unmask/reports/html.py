"""Rows in, one self-contained page out: who attacks what, what was found, where the risk sits, how to do it again.

Nothing is computed about people here, no record is shown, and no group of few people. A section without data is
left out; what was not run or failed says so in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unmask.errors import visible
from unmask.measures.registry import CRITERIA, UTILITIES
from unmask.reports import canvas, ledger, sections
from unmask.reports.channel import sections as channel_sections
from unmask.reports.channel.words import impersonal, of_cases
from unmask.reports.data import ReportData, Scope, headlines
from unmask.reports.exposure import sections as exposure_sections
from unmask.reports.findings import contrasts, sentences
from unmask.reports.graph import sections as graph_sections
from unmask.reports.linkage import sections as linkage_sections
from unmask.reports.price import sections as price_sections
from unmask.reports.small import handed_on, without_small
from unmask.reports.words import letter


def render(data: ReportData) -> str:
    """The report as one HTML page: styles and charts inline, no script, nothing fetched. Same data in, same text out.

    A section without data is left out. Names are escaped, so that any name is safe.

    >>> from unmask.results import Row
    >>> row = Row(
    ...     "k=3",
    ...     "knows age",
    ...     "identity",
    ...     "success_probability",
    ...     "probability",
    ...     "high",
    ...     0.0025,
    ...     0.04,
    ...     0.0375,
    ...     None,
    ...     None,
    ...     "none",
    ...     2000,
    ...     80,
    ...     0.5,
    ...     7,
    ...     (0.0, 0.01, 0.02, 0.05, 0.1),
    ...     "exact",
    ... )
    >>> page = render(ReportData(title="Example", who="One adversary attacks one release.", rows=(row,)))
    >>> "An adversary who knows age expects to name 4.0\u00a0% of 2,000 people correctly" in page
    True
    """
    return fill("report.html.j2", contents(data))


def contents(data: ReportData) -> dict[str, Any]:
    """What stands on the page, by section: its sentences, its figures, its tables."""
    data = without_small(data)
    scope, heads = Scope.of(data), headlines(data)
    key = [(letter(i), canvas.swatch(i), scope.words[name]) for name, i in scope.styles.items()]
    leading, others = ledger.measure_tables(data, scope)
    note, notes = sections.success_note(heads) if heads else "", ledger.measure_notes(data, scope, [*leading, *others])
    cases = impersonal(data)
    if cases:
        note, notes = of_cases([note])[0], of_cases(notes, [row.note for row in data.rows])
    return {
        "data": data,
        "handed_on": handed_on(data.least, cases=cases),
        "key": key if len(key) > 1 else [],
        "findings": sentences(data),
        "contrast": contrasts(scope, heads),
        "success": sections.success_figures(data, scope, heads),
        "success_table": sections.success_table(data, scope, heads),
        "success_note": note,
        "cases": cases,
        "channel": channel_sections.channel_section(data.channel, scope),
        "linkage": linkage_sections.linkage_section(data.linkage, scope, data.least),
        "graph": graph_sections.graph_section(data.graph, scope, data.least),
        "measures": leading,
        "other_measures": others,
        "measure_notes": notes,
        "distribution": sections.distribution_figures(data, scope),
        "quantiles": [] if cases else sections.quantile_tables(data, scope),
        "values": sections.value_tables(data),
        "columns": sections.column_tables(data),
        "column_notes": sections.column_notes(data),
        "exposure": exposure_sections.exposure_section(data.exposure, scope),
        "price": price_sections.price_section(data.price, scope),
        "plane": sections.plane_figures(data, scope, heads),
        "utility": sections.listing(data.utility, UTILITIES, "Utility lost"),
        "criteria": sections.listing(data.criteria, CRITERIA, "Criterion"),
        "criteria_not_run": sections.nowhere(data.criteria, CRITERIA),
        "not_run": sections.not_run_groups(data),
    }


def fill(template: str, values: Mapping[str, Any]) -> str:
    """A template of this package with values in it: names are escaped, what is not seen is written as an escape, and
    what is not given is an error.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["safe_svg"] = Markup
    page = environment.get_template(template).render(values)
    return "\n".join(map(visible, page.split("\n")))
