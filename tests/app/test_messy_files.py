"""A file as an office writes it: words for missing dates, columns without a name or a cell, remarks in sentences."""

from pathlib import Path

import pytest

from tests.app.conftest import Browser
from unmask.app.project import Project

ROWS = 40


@pytest.fixture
def messy(browser: Browser, tmp_path: Path) -> Browser:
    """A browser that has opened one."""
    lines = [
        f'{i:05d};{i % 28 + 1:02d}.05.{1950 + i};{70 + i},5;"fell at home; lives with {i % 9} others";'
        for i in range(ROWS)
    ]
    lines[3] = "00003;not told;--;;"
    lines[4] = "00004;01.02.1960;not told;;"
    path = tmp_path / "stays.csv"
    path.write_bytes("\r\n".join(["Fall-Nr.;Geb.-Datum;Gewicht (kg);Verlauf;", *lines]).encode("latin-1"))
    browser.at("/open")
    browser.sends("/open", do="open", path=str(path))
    return browser


def test_the_user_can_set_words_for_a_missing_cell(messy: Browser, project: Project) -> None:
    assert '<th scope="col">Geb.-Datum<small>text' in messy.at("/open").text
    assert messy.sends("/open", do="read", na="not told, 999").status_code == 200
    assert project.document["data"]["na"][:2] == ["not told", "999"]
    result = messy.at("/open").text
    assert '<th scope="col">Geb.-Datum<small>date' in result
    assert '<th scope="col">Gewicht (kg)<small>number' in result  # in which -- is missing still
    assert 'name="na" value="not told, 999"' in result
    assert "unmask init stays.csv --na &#39;not told,999,#N/A" in result
    assert "What was recognized</h2>" in result
    assert "<li>Gewicht (kg): 2 cells &#39;--&#39;, &#39;not told&#39; read as missing</li>" in result
    messy.sends("/open", do="read", na=" ")
    assert "na" not in project.document["data"]


def test_a_document_that_says_that_no_word_is_a_missing_cell_is_kept(messy: Browser, project: Project) -> None:
    for words in ("", ["NA"], "NA"):
        project.save({**project.document, "data": {**project.document["data"], "na": words}})
        assert 'name="na" value=""' in messy.at("/open").text
        messy.sends("/open", do="read", na="")
        assert project.document["data"]["na"] == words


def test_words_of_the_user_extend_those_of_a_document(messy: Browser, project: Project) -> None:
    """A document may say that NA is Namibia: it was taken for a missing cell as soon as anything was corrected."""
    project.save({**project.document, "data": {**project.document["data"], "na": ["-99", "?"]}})
    assert 'name="na" value="-99"' in messy.at("/open").text
    messy.sends("/open", do="read", na="-99", missing="wildcard")
    assert project.document["data"]["na"] == ["-99", "?"]
    messy.sends("/open", do="read", na="-99, not told")
    assert project.document["data"]["na"] == ["-99", "not told", "?"]
    messy.sends("/open", do="read", na="")
    assert "na" not in project.document["data"]


def test_formats_recognized_in_the_first_rows_are_labeled_so(messy: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unmask.app.preview.TYPE_ROWS", ROWS - 1)
    assert f"What was recognized in the first {ROWS - 1} rows</h2>" in messy.at("/open").text


def test_columns_without_a_name_or_a_cell_and_remarks_are_dropped_unless_the_user_keeps_them(messy: Browser) -> None:
    assert '<th scope="col">(no name)<small>' in messy.at("/open").text
    result = messy.at("/roles").text
    assert "<h2>(no name)</h2>" in result
    assert "All cells are empty." in result
    assert "Free text may name a person." in result
    assert {messy.checked()[f"role-{index}"] for index in (0, 3, 4)} == {"drop"}
