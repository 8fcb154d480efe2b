"""Types of columns, the notes about them, and types that are never guessed."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.core.errors import UnmaskError
from unmask.tables import criteria
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.scales import plain
from unmask.tables.table import Table


def read(*cells, **options):
    return Table.read({"c": list(cells)}, quasi_identifiers="c", **options)


def labels(table, name="c"):
    column = table.column(name)
    return [column.levels.labels[code] for code in column.codes]


# --- what is found ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "result"),
    [
        (["1", "20-30", "*", None], "number"),
        (["1", "x"], "text"),
        (["*", None], "text"),
        (["0", "0.5", "10"], "number"),
        (["3,5", "12"], "number"),
        (["02139", "10001"], "code"),
        (["0123", "2139"], "code"),  # and no years
        (["9007199254740993"], "code"),
        (["27501", "275**"], "code"),
        (["481**"], "code"),
        (["E11.9", "I10", "C50"], "code"),
        (["E11.9", "none of these"], "text"),
        (["good", "bad*"], "text"),
        (["2024-03-05", "2024-03"], "date"),
        (["05.03.2024"], "date"),
        (["31/12/1970", "1/2/1970"], "date"),
        (["2024-03-05 00:00:00"], "date"),
        (["2024-03-05 00:00:00", "2024-03-05T10:15"], "datetime"),
        (["[1931, 1950]", "2024-03"], "date"),
        (["[1931, 1950]", "2024"], "number"),  # years, unless something shows that they are dates
        (["2023-02-30"], "text"),
        (["05.03.70"], "text"),
        (["1/2/1970", "3/4/1970"], "text"),
        (["31/12/1970", "12/31/1970"], "text"),
    ],
)
def test_the_type_is_found(cells, result):
    assert read(*cells).column("c").type == result


def test_a_string_dtype_makes_digits_no_code(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"zip": ["48163", "48202"], "ward": ["017", "118"], "age": [30, 40]})
    frame.to_parquet(tmp_path / "people.parquet")
    frame.to_csv(tmp_path / "people.csv", index=False)
    for source in (frame, tmp_path / "people.parquet", tmp_path / "people.csv"):
        table = Table.read(source, quasi_identifiers=["zip", "ward", "age"])
        assert [column.type for column in table.columns] == ["number", "code", "number"]


def test_stored_dates_are_dates_without_a_guess(tmp_path):
    pandas = pytest.importorskip("pandas")
    born = pandas.to_datetime(["1970-03-04", "1971-05-06", None])
    frame = pandas.DataFrame(
        {"birth": born, "seen": pandas.to_datetime(["2024-01-01 10:15", None, "2024-01-02 00:00"])}
    )
    for source in (frame, {name: frame[name].to_numpy() for name in frame}):
        table = Table.read(source, quasi_identifiers=["birth", "seen"])
        assert [column.type for column in table.columns] == ["date", "datetime"]
        assert labels(table, "birth") == ["1970-03-04", "1971-05-06", ""]
        assert labels(table, "seen") == ["2024-01-01 10:15", "", "2024-01-02 00:00"]


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["3,5", "12"], "c: decimal comma"),
        (["1.234,56"], "c: decimal comma, points between thousands"),
        (["1,234.56"], "c: commas between thousands"),
        (["1 234,56"], "c: decimal comma, blanks between thousands"),
        (["1'234.50"], "c: apostrophes between thousands"),
        (["1.234"], "c: read with a decimal point, but a decimal comma is possible (--decimal sets the mark)"),
        (["3.5", "3,5"], "c: read as text, because decimal points and commas are mixed (--decimal sets the mark)"),
        (["05.03.1970"], "c: dates, day first"),
        (["12/31/1970"], "c: dates, month first"),
        (["1970-12-31"], "c: dates"),
        (
            ["1/2/1970"],
            (
                "c: read as text, because day and month are ambiguous "
                "(--type c=date:day-first or c=date:month-first sets the order)"
            ),
        ),
        (["02139"], "c: a code (--type c=text changes that)"),
        (["30", "NA", "NA"], "c: 2 cells 'NA' read as missing (--na changes that)"),
        (["30", "-"], "c: 1 cell '-' read as missing (--type c=text changes that)"),
    ],
)
def test_inferred_types_are_noted(cells, note):
    assert read(*cells).notes == (note,)


@pytest.mark.parametrize("cells", [["30", "[31, 40]", "*"], ["a", "{b, c}"], ["2.5", None]])
def test_without_a_guess_there_is_no_note(cells):
    assert read(*cells).notes == ()


@given(st.permutations(["1.234", "3,5", "NA", "12", None, "*", "[4,5; 6]"]))
def test_an_inferred_type_does_not_depend_on_the_order_of_rows(cells):
    table = read(*cells)
    assert table.column("c").levels.labels == ("*", "3.5", "[4.5, 6]", "12", "1234", "")
    assert table.notes == read("1.234", "3,5", "NA", "12", None, "*", "[4,5; 6]").notes


# --- numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "decimal", "read"),
    [
        ("1.234,56", ",", "1234.56"),
        ("-12.345.678", ",", "-12345678"),
        ("1,234.56", ".", "1234.56"),
        ("1 234,5", ",", "1234.5"),
        ("1\u202f234,5", ",", "1234.5"),
        ("3,5-4,5", ",", "3.5-4.5"),
        ("[3,5, 4,5]", ",", "[3.5, 4.5]"),
        ("<3,5", ",", "<3.5"),
        ("0.123", ".", "0.123"),
    ],
)
def test_numbers_in_plain_notation(text, decimal, read):
    assert plain(text, decimal) == read


@pytest.mark.parametrize(("text", "decimal"), [("3.5", ","), ("0.123", ","), ("1,23,4", "."), ("1.23.456", ",")])
def test_text_with_a_wrong_decimal_mark_is_not_a_number(text, decimal):
    with pytest.raises(UnmaskError, match="neither a number nor an interval"):
        read("7", text, types={"c": "number"}, decimal=decimal)


def test_another_column_decides_between_two_readings():
    source = {"cost": ["1.234", "2.500"], "weight": ["70,5", "81,0"]}
    table = Table.read(source, quasi_identifiers=["cost", "weight"])
    assert labels(table, "cost") == ["1234", "2500"]
    default_read = Table.read(source, quasi_identifiers=["cost"])
    assert labels(default_read, "cost") == ["1.234", "2.5"]
    comma_read = Table.read(source, quasi_identifiers=["cost"], decimal=",")
    assert labels(comma_read, "cost") == ["1234", "2500"]
    with pytest.raises(UnmaskError, match="decimal is ';', expected"):
        Table.read(source, quasi_identifiers=["cost"], decimal=";")


def test_floating_point_noise_is_one_value():  # T16
    table = Table.read({"c": np.array([0.3, 0.1 + 0.2, 0.3])}, quasi_identifiers="c")
    assert table.column("c").levels.labels == ("0.3",)
    assert criteria.evaluate(table).k == 3


# --- missing codes ------------------------------------------------------------------------------------------------


def test_a_few_missing_codes_do_not_turn_an_age_into_a_text():  # T9
    ages = [str(age) for age in range(20, 60)] + ["NA", "n/a", "?", "nan", "#N/A", "<NA>", "NULL", "", "None", "-"]
    table = read(*ages)
    assert table.column("c").type == "number"
    assert labels(table).count("") == 10
    assert table.notes[0].startswith("c: 9 cells '#N/A', '-', '<NA>'")


def test_missing_codes_can_be_set():
    assert labels(read("a", "NA", "x", na=())) == ["a", "NA", "x"]
    assert labels(read("a", "NA", "x", na="x")) == ["a", "NA", ""]
    assert read("30", "NA", na=()).column("c").type == "text"
    assert labels(read("30", "-", "x", na="x")) == ["30", "", ""]
    assert read("30", "-", na="").column("c").type == "text"


def test_an_unknown_date_leaves_the_type():
    table = read("03.05.1950", "28.02.1961", "unbekannt")
    assert table.column("c").type == "date"
    assert "c: 1 cell 'unbekannt' read as missing (--type c=text changes that)" in table.notes
    note = "weight (kg): 1 cell '-' read as missing (--type 'weight (kg)=text' changes that)"
    assert note in Table.read({"weight (kg)": ["30", "-"]}, quasi_identifiers="weight (kg)").notes
    assert labels(read("fever", "unbekannt")) == ["fever", "unbekannt"]


def test_no_diagnosis_is_a_diagnosis_and_what_a_hierarchy_has_is_a_value():
    assert labels(read("flu", "None", "-", "NA")) == ["flu", "None", "-", ""]
    countries = Hierarchy.from_paths([("NA", "Africa", "*"), ("DE", "Europe", "*")])
    assert labels(read("NA", "DE", "?", hierarchies={"c": countries})) == ["NA", "DE", ""]
    assert labels(read("?", "low", orders={"c": ["?", "low"]})) == ["?", "low"]


def test_a_kept_column_keeps_its_texts():
    table = Table.read({"age": [30], "note": ["NA"]}, quasi_identifiers="age", keep="note")
    assert labels(table, "note") == ["NA"]
    assert table.notes == ()


# --- Unicode, told types, tables that are read alike ---------------------------------------------------------------


def test_two_ways_to_write_an_accent_are_one_value():  # T16
    names = [unicodedata.normalize(form, "Zo\u00eb") for form in ("NFC", "NFD")]
    assert criteria.evaluate(read(*names)).k == 2
    tree = Hierarchy.from_paths([(names[1], "*"), ("Max", "*")])
    assert labels(read(*names, hierarchies={"c": tree})) == ["Zo\u00eb"] * 2
    assert labels(read(*names, orders={"c": [names[1]]})) == ["Zo\u00eb"] * 2


@pytest.mark.parametrize(
    ("cells", "type_name", "result"),
    [
        (["3/4/1970"], "date:day-first", ["1970-04-03"]),
        (["3/4/1970"], "date:month-first", ["1970-03-04"]),
        (["3/4/1970 9:00"], "datetime:day-first", ["1970-04-03 09:00"]),
        (["1970-04-03 00:00"], "datetime", ["1970-04-03 00:00"]),
        (["2024", "[1931, 1950]"], "date", ["2024", "[1931, 1950]"]),
        (["48163", "481**"], "text", ["48163", "481**"]),
        (["30", "40"], "code", ["30", "40"]),
    ],
)
def test_a_type_can_be_set(cells, type_name, result):
    table = read(*cells, types={"c": type_name})
    assert table.column("c").type == type_name.partition(":")[0]
    assert labels(table) == result
    assert table.notes == ()


@pytest.mark.parametrize(
    ("cells", "type_name", "message"),
    [
        (["1/2/1970"], "date", "day and month are ambiguous; declare date:day-first or date:month-first"),
        (
            ["1970-01-01", "soon"],
            "date",
            "date column 'c' has values that are neither a date nor an interval .1 distinct",
        ),
        (["31/12/1970"], "date:month-first", "neither a date nor an interval"),
        (["old"], "number", "neither a number nor an interval"),
        (["1"], "datum", "the type of column 'c' is 'datum', did you mean 'date'"),
    ],
)
def test_a_type_that_does_not_fit_is_refused(cells, type_name, message):
    with pytest.raises(UnmaskError, match=message) as caught:
        read(*cells, types={"c": type_name})
    assert not set(cells) & set(str(caught.value).replace("'", " ").split())


def test_a_release_is_read_like_its_original():
    original = Table.read(
        {"birth": ["1931-05-06", "2024-01-02"], "name": ["Smith", "Smith, John"], "zip": ["04109", "48163"]},
        quasi_identifiers=["birth", "name", "zip"],
    )
    cells = {"birth": ["[1931, 1950]", "2024"], "name": ["Smith, John", "Smith"], "zip": ["48163", "48163"]}
    release = Table.read(cells, quasi_identifiers=["birth", "name", "zip"], like=original)
    assert [column.type for column in release.columns] == ["date", "text", "code"]
    assert labels(release, "name") == ["Smith, John", "Smith"]
    assert release.notes == ()


def test_a_release_that_does_not_have_the_type_of_its_original_is_read_as_it_is():
    original = read("1931-05-06", "1931-05-07", "30")
    assert original.column("c").type == "text"
    dates = read("1931-05-06", "1931-05-07")
    assert read("{1931-05-06, 1931-05-07}", like=dates).column("c").type == "text"
    assert read("30", like=read("young")).column("c").type == "text"
