"""Pictures of the documentation are drawn by the code below them."""

import re
from pathlib import Path

import pytest

from docs.picture_directive import draw_chart

FOLDER = Path(__file__).parent.parent / "docs" / "explanation"
DOMAINS = ["channels", "economics", "graphs", "identity-separation", "linkage"]
PAGES = [FOLDER / f"{name}.md" for name in DOMAINS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_one_picture_that_says_what_it_shows(page):
    [(caption, code)] = re.findall(
        r"^```\{picture\} ([^\n]*)\n(.*?)\n```$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    assert len(caption) > 100
    svg = draw_chart(code)
    assert svg.startswith("<svg")
    assert 'aria-label="' in svg


def test_other_explanations_show_pictures_of_the_product():
    pages = sorted(page.stem for page in FOLDER.glob("*.md") if page.stem not in DOMAINS)
    assert pages == ["decisions", "tables", "threat-model"]
    assert all("](../pictures/" in (FOLDER / f"{name}.md").read_text(encoding="utf-8") for name in pages[:2])


def test_a_picture_without_a_chart_in_its_last_line_is_rejected():
    with pytest.raises(AssertionError):
        draw_chart("chart = 1")
