"""Text in any encoding, workbooks, and the notes about them."""

import bz2
import datetime as dt
import gzip
import lzma
import sys
import zipfile

import pytest

from tests.workbooks import write_workbook
from unmask.core.errors import AmbiguousInput, FailedError, UnmaskError
from unmask.data import encodings
from unmask.data.columns import read_columns
from unmask.data.encodings import check_encoding
from unmask.data.engine import open_engine
from unmask.graphs import SocialGraph
from unmask.tables import Table
from unmask.tables.reading import column_names, read_encoded

TEXT = "straße;zip\nGoethestraße;01234\nKöln – Süd;50667\nplain;1\n"
CELLS = ("Goethestraße", "Köln – Süd", "plain")


def texts(path, **options):
    result = read_encoded(path, **options)
    column = result.columns["straße"]
    return tuple(column.texts[code] for code in column.codes), result.notes


def texts_in_engine(path, encoding=None):
    with open_engine(encoding=encoding) as engine:
        engine.table("t", str(path), {"c": "straße"})
        return tuple(sorted(engine.rows("select c from t")["c"].tolist())), tuple(engine.notes)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize(
    ("encoding", "encoding_name"),
    [
        ("utf-8", ()),
        ("utf-8-sig", ()),
        ("utf-16", ("UTF-16 according to its byte order mark",)),
        ("utf-32", ("UTF-32 according to its byte order mark",)),
        ("cp1252", ("is not UTF-8; it was read as cp1252; it may be",)),
    ],
)
def test_an_encoding_is_recognized_or_guessed_and_noted(tmp_path, encoding, encoding_name, suffix):  # T23, U5
    path = tmp_path / f"street{suffix}"
    content = TEXT.encode(encoding)
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    for cells, all_cells in (texts(path), texts_in_engine(path)):
        notes = [note for note in all_cells if note.startswith("the file")]
        assert sorted(cells) == sorted(CELLS)
        assert len(notes) == len(encoding_name)
        assert all(text in note for text, note in zip(encoding_name, notes, strict=True))
    assert column_names(path) == ["straße", "zip"]
    assert set(texts(path)[1]) <= set(Table.read(path, quasi_identifiers=["zip", "straße"]).notes)


def test_a_file_is_looked_through_once_until_it_changes(tmp_path, monkeypatch):
    path, looked = tmp_path / "street.csv", []
    opened = encodings.open_binary
    monkeypatch.setattr(encodings, "open_binary", lambda path: looked.append(path) or opened(path))
    path.write_text(TEXT, encoding="utf-8")
    assert encodings.decode_text(path, str(tmp_path)).path == path
    marks = len(looked) - 1  # opened for its first bytes each time, for all of it once
    assert encodings.decode_text(path, str(tmp_path)).path == path
    assert len(looked) == 1 + 2 * marks
    path.write_text(TEXT.replace("–", "-"), encoding="cp1252")
    assert "read as cp1252" in encodings.decode_text(path, str(tmp_path)).note


@pytest.mark.parametrize("encoding", ["mac-roman", "cp850", "utf-16-le", "utf-16-be", "utf-7"])
def test_an_encoding_can_be_set_for_text_that_is_not_utf8(tmp_path, encoding):  # T23
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
    with pytest.raises(FailedError, match=r"line 3 of the file 'late.csv' is not UTF-8 text, but") as raised:
        texts(tmp_path / "late.csv")
    assert "SECRET" not in str(raised.value)
    assert read_encoded(tmp_path / "late.csv", encoding="cp1252", header=True).notes == ()  # it was said


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"a;b\n\xe9\x00;1\n", "line 2 .*has a NUL byte"), (bytes(range(128, 256)) * 9, "the encoding of file")],
)
def test_a_file_that_is_not_text_is_refused(tmp_path, content, sentence):  # T23
    (tmp_path / "odd.csv").write_bytes(content)
    with pytest.raises(UnmaskError, match=sentence):
        texts(tmp_path / "odd.csv")


POLISH = "Zażółć gęślą jaźń, a potem pójdź do domu; ośmiu chłopców siedzi na płocie i śpiewa wesołą pieśń o łące"
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю; это обычный текст на русском языке"


@pytest.mark.parametrize(
    ("encoding", "text"), [("cp1250", POLISH), ("cp1251", RUSSIAN), ("koi8_r", RUSSIAN), ("utf-16-le", POLISH)]
)
def test_encodings_of_other_languages_are_recognized(tmp_path, encoding, text):
    (tmp_path / "text.csv").write_bytes((text + "\n").encode(encoding) * 3)
    file = encodings.decode_text(tmp_path / "text.csv", str(tmp_path))
    assert file.path.read_text(encoding="utf-8") == (text + "\n") * 3


@pytest.mark.parametrize("module", [gzip, bz2, lzma])
def test_a_compressed_file_is_read_by_its_content_whatever_its_name(tmp_path, module):
    (tmp_path / "people.csv").write_bytes(module.compress(TEXT.encode()))
    assert texts(tmp_path / "people.csv")[0] == CELLS


def test_an_archive_is_read_if_it_holds_one_file(tmp_path):
    for n in (1, 2):
        with zipfile.ZipFile(tmp_path / f"{n}.zip", "w") as archive:
            for number in range(n):
                archive.writestr(f"{number}.csv", TEXT)
    assert texts(tmp_path / "1.zip")[0] == CELLS
    with pytest.raises(AmbiguousInput, match="has 2 files, expected one"):
        texts(tmp_path / "2.zip")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_other_systems_are_read(tmp_path, end):
    (tmp_path / "ends.csv").write_bytes(TEXT.replace("\n", end).encode())
    assert texts(tmp_path / "ends.csv")[0] == CELLS


def test_line_ends_of_two_systems_in_one_file_are_read(tmp_path):
    (tmp_path / "mixed.csv").write_bytes(TEXT.replace("\n", "\r\n", 2).encode())
    assert texts(tmp_path / "mixed.csv")[0] == CELLS


def test_an_unknown_encoding_is_reported():  # T23
    assert check_encoding("Latin-1") == "iso8859-1"
    for name in ("cp125", "hex", "rot13", "", "\0"):
        with pytest.raises(UnmaskError, match="is not known"):
            check_encoding(name)


def test_items_and_networks_are_read_in_cp1252(tmp_path, caplog):  # T23
    (tmp_path / "t.csv").write_bytes("item,subject\nä,ö\nb,ö\n".encode("cp1252"))
    assert read_columns(tmp_path / "t.csv", ["item"])["item"].tolist() == ["ä", "b"]
    assert set(SocialGraph.read(tmp_path / "t.csv", header=True, two_mode=False).labels.tolist()) == {"ä", "b", "ö"}
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
    result = read_encoded(tmp_path / name)
    cells = {key: [column.texts[code] for code in column.codes] for key, column in result.columns.items()}
    assert cells == {
        "id": ["1", "2", None],
        "when": ["2020-04-11", None, "1980-05-11"],
        "share": ["2.5", "3.0", None],
        "ok": ["true", "false", "true"],
        "straße": ["Köln", None, "007"],
        "mixed": ["7", "x", "2000-01-02"],
    }
    stored = [column.stored for column in result.columns.values()]
    assert stored == ["BIGINT", "DATE", "DOUBLE", "BOOLEAN", "VARCHAR", "VARCHAR"]
    assert result.notes == (f"the first of 2 sheets of file '{name}' was read (use FILE::SHEET for another)",)


def test_a_sheet_is_named_behind_the_file(tmp_path):  # U5
    write_workbook(tmp_path / "book.xlsx", People=SHEET, Other=[["a", "b"], [1, 2]])
    result = read_encoded(tmp_path / "book.xlsx::Other")
    assert (list(result.columns), result.notes) == (["a", "b"], ())
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


def test_a_file_with_the_name_of_a_workbook_that_is_not_one_is_refused(tmp_path):  # U5
    (tmp_path / "text.xlsx").write_text("a,b\n1,2\n")
    with pytest.raises(FailedError, match=r"'text.xlsx' is not a workbook, despite its suffix"):
        read_encoded(tmp_path / "text.xlsx")
    (tmp_path / "zip.xlsx").write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(FailedError, match=r"'zip.xlsx' is not a readable Excel workbook"):
        read_encoded(tmp_path / "zip.xlsx")
    write_workbook(tmp_path / "twice.xlsx", People=[["age", "Age"], [1, 2]])
    with pytest.raises(UnmaskError, match="two columns with the same name"):
        read_encoded(tmp_path / "twice.xlsx")
    write_workbook(tmp_path / "head.xlsx", People=[["age", "zip"]])
    with pytest.raises(UnmaskError, match="has no rows"):
        read_encoded(tmp_path / "head.xlsx")


def test_a_workbook_without_the_extra_is_a_sentence(tmp_path, monkeypatch):  # U5, U7
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    write_workbook(tmp_path / "book.xlsx", People=SHEET)
    with pytest.raises(
        FailedError,
        match=r"is an Excel workbook; install the extra \[excel\] of unmask \(.* -m pip install .*\), or save it",
    ):
        read_encoded(tmp_path / "book.xlsx")
