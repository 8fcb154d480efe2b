"""Workbooks that need more than a machine has: refused in a sentence, and the process goes on."""

import re
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.workbooks import _SHEET, write_workbook
from unmask.cli import main
from unmask.core.errors import FailedError, UnmaskError
from unmask.data import workbooks
from unmask.tables.reading import read_encoded

pytest.importorskip("python_calamine", reason="needs the extra [excel] of unmask")


def _sheet(path, rows, **replaced):
    """A workbook whose sheet holds this XML."""
    write_workbook(path, People=[["age", "zip"], [1, 2]])
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, data in parts.items():
            is_sheet = name.endswith("sheet1.xml")
            text = f'<worksheet xmlns="{_SHEET}">{rows}</worksheet>'.encode() if is_sheet else data
            book.writestr(replaced.get(name, name), text)
    return path


HEAD = '<row r="1"><c r="A1" t="inlineStr"><is><t>age</t></is></c></row>'


@pytest.mark.parametrize(
    "rows",
    [
        f'<sheetData>{HEAD}<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>',
        f"<dimension ref=\"A1:B2\"/><sheetData>{HEAD}<row r='1048576'><c r='XFD1048576'><v>1</v></c></row></sheetData>",
        f'<sheetData>{HEAD}<row r="900000"><c s="1" r="ZZ900000"><v>1</v></c></row></sheetData>',
        '<sheetData><x:row xmlns:x="y" r="1048576"><x:c r="XFD1048576"/></x:row>' + HEAD + "</sheetData>",
    ],
)
def test_a_far_cell_is_refused_before_a_native_reader_sees_it(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(workbooks, "_read_in_child", lambda *_: pytest.fail("the reader was started"))
    path = _sheet(tmp_path / "far.xlsx", rows)

    with pytest.raises(UnmaskError, match="nearly empty sheet"):
        read_encoded(path)


def test_a_command_and_an_upload_refuse_it_and_go_on(tmp_path):
    path = _sheet(tmp_path / "far.xlsx", f'<sheetData>{HEAD}<row r="1048576"><c r="XFD1048576"/></row></sheetData>')
    done = CliRunner().invoke(main, ["columns", str(path)])

    assert done.exit_code == 2
    assert "nearly empty sheet" in done.stderr


def test_a_crash_of_the_child_ends_the_child_alone(tmp_path, monkeypatch):
    path = tmp_path / "book.xlsx"
    write_workbook(path, People=[["age"], [30], [31]])
    monkeypatch.setattr(workbooks, "_CHILD", "import os; os.abort()")

    with pytest.raises(FailedError, match="seconds, or is damaged"):
        read_encoded(path)


def test_the_child_has_a_memory_limit(tmp_path, monkeypatch):
    path = tmp_path / "book.xlsx"
    write_workbook(path, People=[["age"], *[[index] for index in range(40_000)]])
    limited = re.sub(r"RLIMIT_AS, \(\d+, \d+\)", "RLIMIT_AS, (1 << 24, 1 << 24)", workbooks._CHILD)
    assert limited != workbooks._CHILD
    monkeypatch.setattr(workbooks, "_CHILD", limited)

    with pytest.raises(FailedError, match="of memory"):
        read_encoded(path)


def test_a_bomb_of_text_is_refused_by_its_unpacked_size(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "MAX_UNPACKED_BYTES", 1 << 20)
    path = tmp_path / "bomb.xlsx"
    write_workbook(path, People=[["age"], [30]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/sharedStrings.xml", b" " * (2 << 20))

    with pytest.raises(UnmaskError, match="unpacks to more than"):
        read_encoded(path)


def test_a_sheet_of_many_cells_in_a_large_span_is_read(tmp_path):
    rows = [["age", "zip"], *[[index % 90, index] for index in range(3000)]]
    write_workbook(tmp_path / "book.xlsx", People=rows)

    assert len(read_encoded(tmp_path / "book.xlsx").columns["zip"].codes) == 3000


def test_cells_and_rows_are_counted_across_chunks(tmp_path, monkeypatch):
    rows = [["name", "zip"], *[[f"person {index} {'x' * (index % 70)}", index] for index in range(200)]]
    write_workbook(tmp_path / "book.xlsx", People=rows)
    with zipfile.ZipFile(tmp_path / "book.xlsx") as book:
        for size in (97, 1 << 10, 1 << 20):
            monkeypatch.setattr(workbooks, "_CHUNK", size)
            with book.open("xl/worksheets/sheet1.xml") as stream:
                assert workbooks._span(stream)[:2] == (201, 2)


@pytest.mark.parametrize("name", ["far.xls", "far.ods"])
def test_other_invalid_workbooks_are_refused(tmp_path, name):
    signs = {"far.xls": b"\xd0\xcf\x11\xe0" + b"\0" * 600, "far.ods": b"PK\x03\x04" + b"\0" * 600}
    path = Path(tmp_path / name)
    path.write_bytes(signs[name])

    with pytest.raises(FailedError):
        read_encoded(path)
