"""Exported files hold what the page shows: every chart, every table, and an index of them."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from functools import cache

import duckdb
import pytest

from tests.economics import test_price_audit
from tests.graphs import test_network_findings
from tests.reports import test_channel, test_linkage
from tests.reports.test_html import N, row, sample, single
from tests.reports.test_study_page import WORLD, study
from unmask.core.errors import UnmaskError
from unmask.data.writing import is_formula
from unmask.render import files as exporting
from unmask.render.files import INDEX, export
from unmask.render.page import render
from unmask.results import Result
from unmask.studies.results_file import MissingCells

KINDS = {
    "audit": sample,
    "price": lambda: test_price_audit.report(single()),
    "linkage": test_linkage.data,
    "channel": test_channel.data,
    "graph": test_network_findings.data,
    "study": lambda: study(missing=(MissingCells("census", "x", "anna", "failed", 2, "no disk"),)),
}


@cache
def data() -> dict[str, object]:
    return {kind: make() for kind, make in KINDS.items()}


def shown(kind: str) -> str:
    return render(data()[kind])


@pytest.fixture(scope="module", params=KINDS)
def exported(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out") / "files"
    return request.param, folder, export(data()[request.param], folder)


def test_every_chart_and_every_table_of_the_page_is_a_file(exported):
    kind, folder, names = exported
    page = shown(kind).partition("<main>")[2]  # what the first screen shows is there again
    charts = len(re.findall(r'<svg [^>]*role="img"', page))
    tables = page.count("<table") + 1  # all measures are more
    ends = [name.rsplit(".", 1)[1] for name in names]
    assert {end: ends.count(end) for end in ends} == {
        "svg": charts,
        "png": charts,
        "csv": tables,
        "parquet": tables,
        "json": 1,
    }
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


def test_the_index_names_every_file_once(exported):
    kind, folder, names = exported
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    assert index["title"] == data()[kind].title
    assert [item["file"] for item in index["files"]] == list(names[:-1])
    assert len(set(names)) == len(names)
    assert {item["kind"] for item in index["files"]} == {"chart", "table"}


def test_charts_stand_alone(exported):
    _, folder, names = exported
    for name in names:
        if name.endswith(".svg"):
            assert (folder / name).read_text(encoding="utf-8").startswith('<svg xmlns="http://www.w3.org/2000/svg"')
        if name.endswith(".png"):
            content = (folder / name).read_bytes()
            assert content.startswith(b"\x89PNG")
            width = int.from_bytes(content[16:20], "big")
            assert 1200 < width <= 1600  # twice the pixels of what is drawn, and the room for words beside it


def test_both_forms_of_a_table_hold_the_same(exported):
    _, folder, names = exported
    for name in names:
        if name.endswith(".csv"):
            with (folder / name).open(newline="", encoding="utf-8") as file:
                head, *lines = csv.reader(file)
            other = duckdb.sql(f"select * from read_parquet('{folder / name.replace('.csv', '.parquet')}')")
            assert other.columns == head
            assert len(other.fetchall()) == len(lines) > 0


def test_no_cell_and_no_head_of_a_csv_is_a_formula_and_parquet_is_exact(tmp_path):
    hostile = "=cmd|' /C calc'!A0"
    export(replace(sample(), rows=tuple(replace(one, target=hostile) for one in sample().rows)), tmp_path)
    with (tmp_path / "measures.csv").open(newline="", encoding="utf-8") as file:
        found = {one["target"] for one in csv.DictReader(file)}
    assert found == {f"'{hostile}"}
    for path in tmp_path.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            assert [cell for line in csv.reader(file) for cell in line if is_formula(cell)] == []
    exact = duckdb.sql(f"select distinct target from read_parquet('{tmp_path}/measures.parquet')").fetchall()
    assert exact == [(hostile,)]


def test_measures_are_in_full_precision(tmp_path):
    export(sample(), tmp_path)
    found = duckdb.sql(f"select prior, n, low from read_parquet('{tmp_path}/measures.parquet')").fetchall()
    assert len(found) == len(sample().rows)
    assert found[0] == (1 / N, N, None)


def test_a_study_names_dataset_protection_and_seeds(tmp_path):
    export(study(), tmp_path)
    found = duckdb.sql(f"select distinct dataset, protection, seeds from read_parquet('{tmp_path}/measures.parquet')")
    assert sorted(found.fetchall()) == sorted(("census", name, 3) for name in WORLD)


def test_the_same_data_give_the_same_bytes(exported, tmp_path):
    kind, folder, names = exported
    export(data()[kind], tmp_path)
    assert all((tmp_path / name).read_bytes() == (folder / name).read_bytes() for name in names)


def test_names_with_quotes_and_heads_alike_are_no_trouble(tmp_path):
    evil = "k='3\", \n=1"
    rows = (row(evil, evil), row("Adversary", evil), row("Adversary", "n"))
    names = export(Result(title=evil, setting="An attack.", rows=rows), tmp_path / "it's")
    found = duckdb.sql(f"select distinct release from read_parquet('{tmp_path}/it''s/measures.parquet')").fetchall()
    assert sorted(found) == [("Adversary",), (evil,)]
    assert all(re.fullmatch(r"[a-z0-9-]+\.(svg|png|csv|parquet|json)", name) for name in names)


def test_a_folder_with_files_is_refused_unless_forced(tmp_path):
    (tmp_path / "mine.txt").write_text("kept", encoding="utf-8")
    one = Result(title="One", setting="An attack.", rows=(row(),))
    with pytest.raises(UnmaskError, match="not empty"):
        export(one, tmp_path)
    names = export(one, tmp_path, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, "mine.txt"])
    with pytest.raises(UnmaskError, match="not a folder"):
        export(one, tmp_path / "mine.txt", force=True)


def test_a_new_folder_appears_with_all_of_its_files(tmp_path, monkeypatch):
    """A process that is killed leaves no folder of this name that holds a part of the files."""
    seen = []
    before = exporting._table

    def watched(*arguments):
        seen.append((tmp_path / "figures").exists())
        return before(*arguments)

    monkeypatch.setattr(exporting, "_table", watched)
    export(single(), tmp_path / "figures")
    assert seen
    assert not any(seen)
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]
