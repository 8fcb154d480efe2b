"""A release as a workbook: it reads back as the same table, and no cell of it runs."""

import zipfile

import pytest
from python_calamine import CalamineWorkbook

from tests.commands import check_one_sentence, invoke
from unmask.core.errors import UnmaskError
from unmask.tables import Table, table_writing

PEOPLE = {
    "age": ["[20, 30]", "[20, 30]", "*"],
    "visits": [3, 0, 12],
    "cost": [1.5, None, -2.25],
    "born": ["1970-03-05", "1980-01-01", ""],
    "zip": ["01067", "01069", "01067"],
    "note": ["=1+1", "Größe: ü", "@SUM(A1)"],
}


@pytest.fixture
def table():
    return Table.read(PEOPLE, quasi_identifiers=["age", "visits", "cost", "born"], keep=["zip", "note"])


def test_a_workbook_reads_back_as_the_same_cells(table, tmp_path):
    table.write(tmp_path / "release.xlsx")
    table.write(tmp_path / "release.csv")

    roles = {"quasi_identifiers": ["age", "visits", "cost", "born"], "keep": ["zip", "note"]}
    of_workbook, of_text = (Table.read(tmp_path / f"release.{end}", **roles) for end in ("xlsx", "csv"))

    for name in PEOPLE:
        assert of_workbook[name].tolist() == of_text[name].tolist(), name


def test_numbers_are_numbers_and_codes_stay_texts(table, tmp_path):
    table.write(tmp_path / "release.xlsx")

    (sheet,) = CalamineWorkbook.from_path(tmp_path / "release.xlsx").sheet_names
    rows = CalamineWorkbook.from_path(tmp_path / "release.xlsx").get_sheet_by_name(sheet).to_python()

    assert rows[0] == list(PEOPLE)
    assert rows[1] == ["[20, 30]", 3.0, 1.5, "1970-03-05", "01067", "=1+1"]
    assert rows[2][2] == ""


def test_no_cell_is_a_formula_and_equal_tables_give_equal_files(table, tmp_path):
    table.write(tmp_path / "one.xlsx")
    table.write(tmp_path / "two.xlsx")

    with zipfile.ZipFile(tmp_path / "one.xlsx") as book:
        assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")
    assert (tmp_path / "one.xlsx").read_bytes() == (tmp_path / "two.xlsx").read_bytes()


@pytest.mark.parametrize("limit", ["MAX_ROWS", "MAX_CHARACTERS"])
def test_a_table_that_no_sheet_holds_is_refused_and_leaves_no_file(table, tmp_path, monkeypatch, limit):
    monkeypatch.setattr(table_writing, limit, 3)

    with pytest.raises(UnmaskError, match=r"of a sheet|a sheet holds"):
        table.write(tmp_path / "release.xlsx")

    assert list(tmp_path.iterdir()) == []


def test_protect_writes_a_workbook_that_audit_reads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Table.read({"age": [*range(20, 60)], "ill": ["a", "b"] * 20}, quasi_identifiers="age", sensitive="ill").write(
        "p.csv"
    )

    done = invoke("protect", "p.csv", "-q", "age", "-s", "ill", "--k", "5", "-o", "release.xlsx")
    audited = invoke("audit", "release.xlsx", "-q", "age", "-s", "ill", "--policy", "k>=5")

    assert done.exit_code == 0, done.stderr
    assert audited.exit_code == 0, audited.stderr


def test_another_suffix_names_those_that_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Table.read({"age": [1, 2]}, quasi_identifiers="age").write("p.csv")

    check_one_sentence(
        invoke("protect", "p.csv", "-q", "age", "--k", "2", "-o", "r.xls"), "expected .csv, .tsv (.gz), "
    )
