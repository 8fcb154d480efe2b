"""Every page of the documentation has its picture, and every picture its page."""

import json
import re
from itertools import product
from pathlib import Path

import pytest

from docs import catalog_pages, evidence_charts, picture_sources, pictures
from unmask.catalog import examples

DOCS = Path(__file__).parent.parent / "docs"

PAGES = [
    path
    for path in sorted(DOCS.rglob("*.md"))
    if "api" not in path.parts and path.stem not in ("threat-model", "benchmark-cases", "scale-measurements")
]  # tables: nothing to draw

MADE = {
    *(
        name + look[0]
        for name, look in product(
            (*picture_sources.PAGES, *picture_sources.SCREENS, *picture_sources.KINDS), picture_sources.LOOKS
        )
    ),
    *(f"{name}-print" for name in picture_sources.PAGES),
    *picture_sources.CHARTS,
    *picture_sources.TERMINALS,
    "badges",
}


def files(page):
    """The pictures of a page, as paths."""
    return [page.parent / name for name in re.findall(r"!\[[^\]]+\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_has_its_picture(page):
    pictures_of = files(page)
    assert [path for path in pictures_of if not path.is_file()] == []
    assert pictures_of or "```{picture}" in page.read_text(encoding="utf-8")


def test_every_generated_page_has_the_picture_of_its_kind():
    for kind in ("attacks", "protections"):
        for name, example in examples(kind).items():
            lines = list(catalog_pages._page(name, example, kind, {}))
            [picture] = [line.partition(":: ../")[2] for line in lines if line.startswith(".. figure::")]
            assert (DOCS / picture).is_file(), name


@pytest.mark.parametrize("notebook", sorted((DOCS / "class").glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_notebook_draws(notebook):  # its solutions have no picture but those that they are asked about
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert any(".chart(" in "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


@pytest.mark.parametrize("drawing", [evidence_charts.draw_claims, evidence_charts.draw_ratios])
def test_tables_that_programs_write_are_drawn_from_the_page(drawing):
    assert re.search(r'aria-label="[^"]*\d', drawing().svg)


def test_the_chart_of_the_verification_adds_up_to_its_table():
    n_hold = sum(
        int(row["hold"]) for row in evidence_charts.read_last_table("verification.md") if row["hold"].isdigit()
    )
    assert f"Claims by program: {n_hold} hold" in evidence_charts.draw_claims().svg


def test_every_picture_is_made_and_shown():
    present = {path.stem for path in pictures.FOLDER.glob("*.webp")}
    assert present == MADE
    pictures_used = {path.stem for page in PAGES for path in files(page)}
    assert {name for name in present if name.removesuffix("-dark") not in pictures_used} == set()


def test_pictures_are_small():
    assert sum(path.stat().st_size for path in pictures.FOLDER.iterdir()) < 3_000_000
