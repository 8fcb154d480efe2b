"""Rows in, one self-contained page out: who attacks what, what was found, where the risk sits, how to do it again.

Nothing is computed about people here, no record is shown, and no group of few people. A section without data is
left out; what was not run or failed says so in words.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from unmask.core.errors import visible
from unmask.render import svg
from unmask.render.svg import FONT, swatch
from unmask.reports import blocks
from unmask.reports.data import ReportData, Scope
from unmask.reports.findings.rows import contrasts, sentences
from unmask.reports.parts import Bullets, Page, Section, Terms, Words, parts
from unmask.reports.screens.audit import conditions_section, screen
from unmask.reports.screens.conditions import draw_ratio
from unmask.reports.sections import tables
from unmask.reports.sections.closing import closing, describe_readers, not_run_section
from unmask.reports.sections.measures import measures_section
from unmask.reports.words import letter
from unmask.results import AuditResult
from unmask.results.words import plural


def render(data: ReportData | AuditResult) -> str:
    """Return the page of an audit or a study as one HTML file, with inline styles and charts. Its one script shows
    exact values under a pointer and hides the series of a legend; the page is complete without it.

    Same data in, same text out. Names are escaped, so that any name is safe.

    """
    return written(page_of(data))


CHARTS = Path(svg.__file__).parent
"""Folder of the style and the script of charts."""

_DIGEST = "SCRIPT-DIGEST"
"""The place of the digest of the one script that a page may run."""


def written(page: Page) -> str:
    """Return a page as HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader([Path(__file__).parent / "templates", CHARTS]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["safe_svg"] = Markup
    template = environment.get_template("page.html.j2")
    text = "\n".join(
        map(visible, template.render(page=page, swatch=swatch, font=FONT, draw_ratio=draw_ratio).split("\n"))
    )
    script = text.rpartition("<script>")[2].partition("</script>")[0]
    return text.replace(_DIGEST, b64encode(sha256(script.encode()).digest()).decode(), 1)


def page_of(data: ReportData | AuditResult) -> Page:
    """Return the sections of the page: sentences, charts, tables."""
    shared = ReportData.of(data).without_small()
    return _decision_page(shared) if shared.is_decided else _audit_page(shared)


def _decision_page(data: ReportData) -> Page:
    """Return the page of a result that consists of a decision and blocks."""
    assert data.result is not None
    is_shown = any(block.name == "not-run" for block in data.result.blocks)
    not_run = None if is_shown else not_run_section(data.not_run)
    optional_sections = (
        *blocks.sections(data.result, Scope(data)),
        *closing(data.assumptions, not_run, data.reproduce, "How this page was made"),
    )
    sections = tuple(section for section in optional_sections if section is not None)
    first, foot = parts(blocks.make_screen(data.result)), describe_readers(data.least)
    return Page(data.title, first, sections, kind=data.result.kind, folded=True, foot=foot)


def _audit_page(data: ReportData) -> Page:
    scope = Scope(data)
    findings = [] if data.result is None else list(blocks.sections(data.result, scope))
    optional_sections = (
        *(section for section in findings if section.open),
        tables.success_section(scope),
        conditions_section(scope),
        *(section for section in findings if not section.open),
        _key(scope),
        _findings(scope),
        measures_section(scope),
        tables.people_section(scope),
        *closing(data.assumptions, not_run_section(data.not_run), data.reproduce, "How this page was made"),
    )
    kind = "Audit" if data.result is None else data.result.kind
    present_sections = [section for section in optional_sections if section is not None]
    sections = tuple(sorted(present_sections, key=lambda section: not section.open))  # the picture first
    foot = describe_readers(data.least, cases=scope.cases)
    return Page(data.title, parts(screen(scope)), sections, kind=kind, folded=True, foot=foot)


def _findings(scope: Scope) -> Section:
    """Return all findings, a sentence each."""
    all_sentences = (*sentences(scope.data), *contrasts(scope))
    return Section(
        "findings", "In sentences", (Bullets(all_sentences, "findings"),), f"{plural(len(all_sentences), 'finding')}."
    )


def _key(scope: Scope) -> Section | None:
    """Return letter, color and shape of each adversary, if there are several."""
    items = tuple((letter(style), (scope.words[name],)) for name, style in scope.styles.items())
    key = Terms(items, styles=tuple(scope.styles.values()))
    content = parts(Words(scope.data.who), key if len(items) > 1 else None)
    if len(items) > 1:
        summary = "; ".join(f"{letter(style)} {name}" for name, style in scope.styles.items())
    else:
        summary = scope.subject(scope.adversaries[0])
    return Section("adversaries", "The adversaries", content, f"{summary[:1].upper()}{summary[1:]}.")
