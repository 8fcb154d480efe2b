"""The pictures of the documentation are drawn by the code that stands below them."""

import re
from pathlib import Path

import pytest

from docs.drawn import drawn

FOLDER = Path(__file__).parent.parent / "docs" / "explanation"
DOMAINS = ["channels", "economics", "graphs", "identity-separation", "linkage"]
PAGES = [FOLDER / f"{name}.md" for name in DOMAINS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_one_picture_that_says_what_it_shows(page):
    [(caption, code)] = re.findall(
        r"^```\{picture\} ([^\n]*)\n(.*?)\n```$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    assert len(caption) > 100
    svg = drawn(code)
    assert svg.startswith("<svg")
    assert 'aria-label="' in svg


def test_other_explanations_show_pictures_of_the_product():
    others = sorted(page.stem for page in FOLDER.glob("*.md") if page.stem not in DOMAINS)
    assert others == ["decisions", "tables", "threat-model"]
    assert all("](../pictures/" in (FOLDER / f"{name}.md").read_text(encoding="utf-8") for name in others[:2])


def test_a_picture_whose_last_line_is_no_chart_is_refused():
    with pytest.raises(AssertionError):
        drawn("chart = 1")
