"""Every page of the documentation has its picture, and every picture its page."""

import re
from itertools import product
from pathlib import Path

import pytest

from docs import pictures

DOCS = Path(__file__).parent.parent / "docs"

WITHOUT = {"benchmarks.md", "verification.md"}  # tables that programs write
OTHERS = ("explanation", "class")

PAGES = [path for path in sorted(DOCS.rglob("*.md")) if "api" not in path.parts]

MADE = {
    *(name + look[0] for name, look in product((*pictures.PAGES, *pictures.SCREENS), pictures.LOOKS)),
    *(f"{name}-print" for name in pictures.PAGES),
    *pictures.CHARTS,
    *pictures.TERMINALS,
    "badges",
}


def shown(page):
    """The pictures of a page, as paths."""
    return [page.parent / name for name in re.findall(r"!\[[^\]]+\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_has_its_picture(page):
    pictures_of = shown(page)
    assert [path for path in pictures_of if not path.is_file()] == []
    relative = str(page.relative_to(DOCS))
    assert pictures_of or relative in WITHOUT or relative.startswith(OTHERS)


def test_every_picture_is_made_and_shown():
    there = {path.stem for path in pictures.FOLDER.glob("*.webp")}
    assert there == MADE
    seen = {path.stem for page in PAGES for path in shown(page)}
    assert {name for name in there if name.removesuffix("-dark") not in seen} == set()


def test_pictures_are_small():
    assert sum(path.stat().st_size for path in pictures.FOLDER.iterdir()) < 3_000_000
