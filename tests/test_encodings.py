"""Text in any encoding, workbooks, and what is said about them."""

import datetime as dt
import gzip
import sys

import pytest

from tests.workbooks import write_workbook
from unmask.engines import encodings, open_engine
from unmask.engines.encodings import check_encoding
from unmask.errors import FailedError, UnmaskError
from unmask.graphs import SocialGraph
from unmask.pseudonyms.reading import read_columns
from unmask.tables import Table
from unmask.tables.reading import column_names, read_encoded

TEXT = "straße;zip\nGoethestraße;01234\nKöln – Süd;50667\nplain;1\n"
CELLS = ("Goethestraße", "Köln – Süd", "plain")


def texts(path, **more):
    found = read_encoded(path, **more)
    column = found.columns["straße"]
    return tuple(column.texts[code] for code in column.codes), found.notes


def texts_in_engine(path, encoding=None):
    with open_engine(encoding=encoding) as engine:
        engine.table("t", str(path), {"c": "straße"})
        return tuple(sorted(engine.rows("select c from t")["c"].tolist())), tuple(engine.notes)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", ()),
        ("utf-8-sig", ()),
        ("utf-16", ("UTF-16, as its first bytes say",)),
        ("utf-32", ("UTF-32, as its first bytes say",)),
        ("cp1252", ("is not UTF-8; it was read as cp1252 (--encoding changes that)",)),
    ],
)
def test_an_encoding_is_seen_or_guessed_and_said(tmp_path, encoding, told, suffix):  # T23, U5
    path = tmp_path / f"street{suffix}"
    content = TEXT.encode(encoding)
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    for cells, every in (texts(path), texts_in_engine(path)):
        notes = [note for note in every if note.startswith("the file")]
        assert sorted(cells) == sorted(CELLS)
        assert len(notes) == len(told)
        assert all(text in note for text, note in zip(told, notes, strict=True))
    assert column_names(path) == ["straße", "zip"]
    assert set(texts(path)[1]) <= set(Table.read(path, quasi_identifiers=["zip", "straße"]).notes)


def test_a_file_is_looked_through_once_until_it_changes(tmp_path, monkeypatch):
    path, looked = tmp_path / "street.csv", []
    opened = encodings._opened
    monkeypatch.setattr(encodings, "_opened", lambda path: looked.append(path) or opened(path))
    path.write_text(TEXT, encoding="utf-8")
    assert encodings.in_utf8(path, str(tmp_path)) == (path, "")
    marks = len(looked) - 1  # opened for its first bytes each time, for all of it once
    assert encodings.in_utf8(path, str(tmp_path)) == (path, "")
    assert len(looked) == 1 + 2 * marks
    path.write_text(TEXT.replace("–", "-"), encoding="cp1252")
    assert "read as cp1252" in encodings.in_utf8(path, str(tmp_path))[1]


@pytest.mark.parametrize("encoding", ["mac-roman", "cp850", "utf-16-le", "utf-16-be", "utf-7"])
def test_an_encoding_is_told_for_what_is_not_utf8(tmp_path, encoding):  # T23
    text = TEXT.replace("–", "-")
    (tmp_path / "told.csv").write_bytes(text.encode(encoding))
    if encoding != "utf-7":  # which is ASCII: nothing shows that it is not meant
        assert texts(tmp_path / "told.csv", encoding=encoding)[0] == tuple(c.replace("–", "-") for c in CELLS)
        assert texts_in_engine(tmp_path / "told.csv", encoding)[1] == ()
    (tmp_path / "ours.csv").write_text(TEXT, encoding="utf-8")
    assert texts(tmp_path / "ours.csv", encoding=encoding) == (CELLS, ())


def test_a_large_file_is_copied_piece_by_piece(tmp_path):
    rows = "".join(f"Straße {i};{i}\n" for i in range(200_000))  # several pieces, and characters between two of them
    (tmp_path / "long.csv").write_bytes(("straße;zip\n" + rows).encode("utf-16"))
    cells, _ = texts(tmp_path / "long.csv")
    assert len(cells) == 200_000
    assert cells[123_456] == "Straße 123456"


def test_utf8_that_is_damaged_is_no_guess(tmp_path):  # T23
    (tmp_path / "late.csv").write_bytes("straße;zip\nä;1\n".encode() + b"\xe9;SECRET\n")
    with pytest.raises(FailedError, match=r"line 3 of the file 'late.csv' is not UTF-8 text, though") as raised:
        texts(tmp_path / "late.csv")
    assert "SECRET" not in str(raised.value)
    assert read_encoded(tmp_path / "late.csv", encoding="cp1252").notes == ()  # it was said


@pytest.mark.parametrize("content", [b"a;b\n\x81;1\n", b"a;b\n\xe9\x00;1\n", bytes(range(128, 256)) * 9])
def test_what_is_no_text_is_refused(tmp_path, content):  # T23
    (tmp_path / "odd.csv").write_bytes(content)
    with pytest.raises(FailedError, match=r"'odd.csv' is not UTF-8 text, nor cp1252; name its encoding"):
        texts(tmp_path / "odd.csv")


def test_an_unknown_encoding_is_told():  # T23
    assert check_encoding("Latin-1") == "iso8859-1"
    for name in ("cp125", "hex", "rot13", "", "\0"):
        with pytest.raises(UnmaskError, match="is not known"):
            check_encoding(name)


def test_items_and_networks_are_read_in_cp1252(tmp_path, caplog):  # T23
    (tmp_path / "t.csv").write_bytes("item,subject\nä,ö\nb,ö\n".encode("cp1252"))
    assert read_columns(tmp_path / "t.csv", ["item"])["item"].tolist() == ["ä", "b"]
    assert set(SocialGraph.read(tmp_path / "t.csv", header=True).labels.tolist()) == {"ä", "b", "ö"}
    assert caplog.text.count("is not UTF-8; it was read as cp1252") == 2


# --- workbooks ------------------------------------------------------------------------------------------------------

SHEET = [
    ["id", "when", "share", "ok", "straße", "mixed", None],
    [1, dt.date(2020, 4, 11), 2.5, True, "Köln", 7, None],
    [2, None, 3, False, None, "x", None],
    [None, dt.date(1980, 5, 11), None, True, "007", dt.date(2000, 1, 2), None],
]


@pytest.mark.parametrize("name", ["book.xlsx", "book.csv"])
def test_a_workbook_is_read_with_the_types_of_its_columns(tmp_path, name):  # U5
    write_workbook(tmp_path / name, People=SHEET, Other=[["a"], [1]])
    found = read_encoded(tmp_path / name)
    cells = {key: [column.texts[code] for code in column.codes] for key, column in found.columns.items()}
    assert cells == {
        "id": ["1", "2", None],
        "when": ["2020-04-11", None, "1980-05-11"],
        "share": ["2.5", "3.0", None],
        "ok": ["true", "false", "true"],
        "straße": ["Köln", None, "007"],
        "mixed": ["7", "x", "2000-01-02"],
    }
    stored = [column.stored for column in found.columns.values()]
    assert stored == ["BIGINT", "DATE", "DOUBLE", "BOOLEAN", "VARCHAR", "VARCHAR"]
    assert found.notes == (f"the first of 2 sheets of file '{name}' was read (FILE::SHEET names another)",)


def test_a_sheet_is_named_behind_the_file(tmp_path):  # U5
    write_workbook(tmp_path / "book.xlsx", People=SHEET, Other=[["a", "b"], [1, 2]])
    found = read_encoded(tmp_path / "book.xlsx::Other")
    assert (list(found.columns), found.notes) == (["a", "b"], ())
    with open_engine() as engine:
        assert engine.names(f"{tmp_path}/book.xlsx::Other") == ["a", "b"]
        assert engine.names(f"{tmp_path}/book.xlsx")[:2] == ["id", "when"]
        assert len(engine.notes) == 1
    with pytest.raises(UnmaskError, match=r"the sheet is not in file 'book.xlsx'; did you mean 'Other'\?"):
        read_encoded(tmp_path / "book.xlsx::Othr")


@pytest.mark.parametrize("name", ["::", "::x", ".::x", "a::"])
def test_two_colons_alone_name_no_sheet(name):  # U5
    with pytest.raises(FailedError, match="does not exist"):
        read_encoded(name)


def test_what_is_called_a_workbook_and_is_none(tmp_path):  # U5
    (tmp_path / "text.xlsx").write_text("a,b\n1,2\n")
    with pytest.raises(FailedError, match=r"'text.xlsx' is no workbook, as its name says"):
        read_encoded(tmp_path / "text.xlsx")
    (tmp_path / "zip.xlsx").write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(FailedError, match=r"'zip.xlsx' is no workbook of Excel that can be read"):
        read_encoded(tmp_path / "zip.xlsx")
    write_workbook(tmp_path / "twice.xlsx", People=[["age", "Age"], [1, 2]])
    with pytest.raises(UnmaskError, match="two columns of one name"):
        read_encoded(tmp_path / "twice.xlsx")
    write_workbook(tmp_path / "head.xlsx", People=[["age", "zip"]])
    with pytest.raises(UnmaskError, match="has no rows"):
        read_encoded(tmp_path / "head.xlsx")


def test_a_workbook_without_the_extra_is_a_sentence(tmp_path, monkeypatch):  # U5, U7
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    write_workbook(tmp_path / "book.xlsx", People=SHEET)
    with pytest.raises(FailedError, match=r"is a workbook of Excel; install the extra \[excel\] of unmask, or save it"):
        read_encoded(tmp_path / "book.xlsx")


def test_a_compressed_file_says_so_in_its_name(tmp_path):
    (tmp_path / "people.csv").write_bytes(gzip.compress(TEXT.encode()))
    with pytest.raises(FailedError, match=r"'people.csv' is compressed; call it 'people.csv.gz'"):
        read_encoded(tmp_path / "people.csv")
