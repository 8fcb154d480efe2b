"""Rows in, one self-contained page out: who attacks what, what was found, where the risk sits, how to do it again.

Nothing is computed about people here, no record is shown, and no group of few people. A section without result is
left out; what was not run or failed says so in words.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from unmask.core.errors import visible
from unmask.findings.sentences import contrasts, sentences
from unmask.render import people_sections as tables
from unmask.render import sections as blocks
from unmask.render.charts import svg
from unmask.render.charts.svg import FONT, swatch
from unmask.render.closing import closing, describe_readers, not_run_section
from unmask.render.first_screen import conditions_section, draw_ratio, screen
from unmask.render.measure_tables import measures_section
from unmask.render.page_parts import Bullets, Page, Section, Terms, Words, parts
from unmask.results import Result
from unmask.results.scope import Scope
from unmask.results.words import letter, plural


def render(result: Result) -> str:
    """Return the page of an audit or a study as one HTML file, with inline styles and charts. Its one script shows
    exact values under a pointer and hides the series of a legend; the page is complete without it.

    Same result in, same text out. Names are escaped, so that any name is safe.

    """
    return written(page_of(result))


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


def page_of(result: Result) -> Page:
    """Return the sections of the page: sentences, charts, tables."""
    shared = result.without_small()
    return _decision_page(shared) if shared.decision is not None else _audit_page(shared)


def _decision_page(result: Result) -> Page:
    """Return the page of a result that consists of a decision and blocks."""
    is_shown = any(block.name == "not-run" for block in result.blocks)
    not_run = None if is_shown else not_run_section(result.not_run)
    optional_sections = (
        *blocks.sections(result, Scope(result)),
        *closing(result.assumptions, not_run, result.reproduce, "How this page was made"),
    )
    sections = tuple(section for section in optional_sections if section is not None)
    first, foot = parts(blocks.make_screen(result)), describe_readers(result.smallest_shown)
    return Page(result.title, first, sections, kind=result.kind, folded=True, foot=foot)


def _audit_page(result: Result) -> Page:
    scope = Scope(result)
    findings = list(blocks.sections(result, scope))
    optional_sections = (
        *(section for section in findings if section.open),
        tables.success_section(scope),
        conditions_section(scope),
        *(section for section in findings if not section.open),
        _key(scope),
        _findings(scope),
        measures_section(scope),
        tables.people_section(scope),
        *closing(result.assumptions, not_run_section(result.not_run), result.reproduce, "How this page was made"),
    )
    present_sections = [section for section in optional_sections if section is not None]
    sections = tuple(sorted(present_sections, key=lambda section: not section.open))  # the picture first
    foot = describe_readers(result.smallest_shown, cases=scope.cases)
    return Page(result.title, parts(screen(scope)), sections, kind=result.kind, folded=True, foot=foot)


def _findings(scope: Scope) -> Section:
    """Return all findings, a sentence each."""
    all_sentences = (*sentences(scope.result), *contrasts(scope))
    return Section(
        "findings", "In sentences", (Bullets(all_sentences, "findings"),), f"{plural(len(all_sentences), 'finding')}."
    )


def _key(scope: Scope) -> Section | None:
    """Return letter, color and shape of each adversary, if there are several."""
    items = tuple((letter(style), (scope.words[name],)) for name, style in scope.styles.items())
    key = Terms(items, styles=tuple(scope.styles.values()))
    content = parts(Words(scope.result.setting), key if len(items) > 1 else None)
    if len(items) > 1:
        summary = "; ".join(f"{letter(style)} {name}" for name, style in scope.styles.items())
    else:
        summary = scope.subject(scope.adversaries[0])
    return Section("adversaries", "The adversaries", content, f"{summary[:1].upper()}{summary[1:]}.")
