"""Pages of results: a first screen, findings with charts and tables, and the command that repeats them.

A page shows no record and no small group of people. Sections without results are left out. Missing results are listed
with their reasons.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.core.errors import visible
from unmask.findings.sentences import list_contrasts, sentences
from unmask.languages import Language, gettext, retranslate, use_language
from unmask.render.charts import svg
from unmask.render.charts.svg import FONT, swatch
from unmask.render.closing import closing, describe_readers, not_run_section
from unmask.render.first_screen import conditions_section, draw_ratio, make_screen
from unmask.render.measure_tables import measures_section
from unmask.render.page_parts import Bullets, Page, Section, Terms, Words, parts
from unmask.render.people_sections import people_section, success_section
from unmask.render.sections import block_sections
from unmask.results import Result
from unmask.results.scope import Scope
from unmask.results.words import join_names, plural

if TYPE_CHECKING:
    from jinja2 import Environment


def render(result: Result, language: Language = "en") -> str:
    """Return the page of an audit or a study as one HTML file, with inline styles and charts. Its one script shows
    exact values under a pointer and hides the series of a legend; the page is complete without it.

    Same result in, same text out. Names are escaped, so any name is safe. The first screen is in the language; the
    findings below it are in English.
    """
    return written(page_of(result, language))


CHARTS = Path(svg.__file__).parent
"""Folder of the style and the script of charts."""

UTILITY = (
    "Utility kept is one minus the global certainty penalty. Kept columns do not count; dropped columns count as lost."
)

_DIGEST = "SCRIPT-DIGEST"
"""The place of the digest of the one script that a page may run."""


def written(page: Page) -> str:
    """Return a page as HTML."""

    def say(message: str) -> str:
        with use_language(page.language):
            return gettext(message)

    text = fill_template("page.html.j2", page=page, swatch=swatch, draw_ratio=draw_ratio, _=say)
    script = text.rpartition("<script>")[2].partition("</script>")[0]
    return text.replace(_DIGEST, b64encode(sha256(script.encode()).digest()).decode(), 1)


def fill_template(name: str, **values: object) -> str:
    """Return a template with these values, in which invisible characters are shown."""
    return "\n".join(map(visible, _open_templates().get_template(name).render(**values).split("\n")))


@cache  # compiling the templates takes longer than filling them
def _open_templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader([Path(__file__).parent / "templates", CHARTS]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals["font"] = FONT
    environment.filters["safe_svg"] = Markup
    return environment


def page_of(result: Result, language: Language = "en") -> Page:
    """Return the sections of the page: the first screen, and below it sentences, charts and tables."""
    shared = result.without_small()
    scope = Scope(shared)
    with use_language(language):
        screen, kind, title = make_screen(scope), gettext(shared.kind), retranslate(shared.title)
        _ = screen.people and screen.people.drawing  # drawn in the language
    is_shown = any(block.name == "not-run" for block in shared.blocks)
    not_run = None if is_shown else not_run_section(shared.not_run)
    blocks = list(block_sections(shared, scope))
    assumptions = (*shared.assumptions, *(UTILITY,) * bool(shared.changes))
    optional_sections = (
        *(blocks if shared.decision is not None else _audit_sections(blocks, scope)),
        *closing(assumptions, not_run, shared.reproduce),
    )
    sections = tuple(section for section in optional_sections if section is not None)
    foot = describe_readers(shared.smallest_shown, cases=shared.decision is None and scope.cases)
    return Page(title, parts(screen), sections, kind=kind, folded=True, foot=foot, language=language)


def _audit_sections(blocks: list[Section], scope: Scope) -> list[Section]:
    """Return the sections of an audit: blocks, and the measures of its adversaries; open sections come first."""
    sections = (
        *(section for section in blocks if section.open),
        success_section(scope),
        conditions_section(scope),
        *(section for section in blocks if not section.open),
        _key(scope),
        _findings(scope),
        measures_section(scope),
        people_section(scope),
    )
    return sorted((section for section in sections if section is not None), key=lambda section: not section.open)


def _findings(scope: Scope) -> Section:
    """Return all findings, a sentence each."""
    all_sentences = (*sentences(scope.result), *list_contrasts(scope))
    return Section(
        "findings", "All findings", (Bullets(all_sentences, "findings"),), f"{plural(len(all_sentences), 'finding')}."
    )


def _key(scope: Scope) -> Section | None:
    """Return color, shape and knowledge of each adversary, if there are several."""
    items = tuple((name, (scope.words[name],)) for name in scope.styles)
    key = Terms(items, styles=tuple(scope.styles.values()))
    content = parts(Words(scope.result.setting), key if len(items) > 1 else None)
    summary = join_names(list(scope.styles)) if len(items) > 1 else scope.subject(scope.adversaries[0])
    return Section("adversaries", "The adversaries", content, f"{summary[:1].upper()}{summary[1:]}.")
