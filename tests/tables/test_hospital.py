"""A table as a hospital exports it, read with no more than the roles, and what its release says cell by cell."""

import csv
import io
import re
from datetime import date, timedelta

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines import count_source, reading
from unmask.core.errors import UnmaskError
from unmask.tables import Background, criteria, utility
from unmask.tables.attacks import ClassAttack
from unmask.tables.counted_release import generalize, write_release
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.matching import compatible
from unmask.tables.protections.generalization import Generalize
from unmask.tables.protections.mondrian import Mondrian
from unmask.tables.protections.recoding import write_cells
from unmask.tables.protections.suppression import SuppressCells
from unmask.tables.risk import printed_values
from unmask.tables.table import Table

QUASI = ("birth", "zip", "sex", "admission", "weight")
ROLES = {"quasi_identifiers": QUASI, "sensitive": ("diagnosis", "cost"), "identifiers": ("patient",)}
ICD = ("E11.9", "E11", "I10", "J45.0", "F32.1", "C50", "M54.5")
DAY_ONE = date(1930, 1, 1)


def export(n=1500, seed=1):
    """Semicolons, dates that begin with the day, decimal commas, zip codes with a leading zero, and NA."""
    rng = np.random.default_rng(seed)
    lines = ["patient;birth;zip;sex;admission;weight;diagnosis;cost"]
    for index in range(n):
        birth = DAY_ONE + timedelta(days=int(rng.integers(33_000)))
        admitted = date(2023, 1, 1) + timedelta(days=int(rng.integers(700)))
        weight = "NA" if rng.random() < 0.01 else f"{rng.normal(75, 15):.1f}".replace(".", ",")
        cost = f"{float(np.exp(rng.normal(8, 1))):,.2f}".translate(str.maketrans(",.", ".,"))
        zip_code = f"0{rng.integers(1000, 1400)}" if rng.random() < 0.5 else f"0{rng.integers(4000, 4030)}"
        lines.append(
            f"P{index:05};{birth:%d.%m.%Y};{zip_code};{rng.choice(['m', 'f'])};{admitted:%d.%m.%Y};{weight};"
            f"{rng.choice(ICD)};{cost}"
        )
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("hospital") / "discharges.csv"
    path.write_text(export())
    return path


@pytest.fixture(scope="module")
def people(file):
    return Table.read(file, **ROLES)


@pytest.fixture(scope="module")
def released(people):
    return Mondrian(k=5)(people, rng=np.random.default_rng(1))


def labels(table, name):
    column = table.column(name)
    return np.array(column.levels.labels, dtype=object)[column.codes]


def test_it_is_read_with_the_roles_alone(people):
    types = {column.name: column.type for column in people.columns}
    assert types == {
        "birth": "date",
        "zip": "code",
        "sex": "text",
        "admission": "date",
        "weight": "number",
        "diagnosis": "code",
        "cost": "number",
    }
    notes = " | ".join(people.notes)
    for expected in ("birth: dates, day first", "weight: decimal comma", "'NA' read as missing", "points between"):
        assert expected in notes


WRITTEN = {
    "birth": r"\d{4}-\d\d-\d\d|\d{4}-\d\d|\d{4}-Q[1-4]|\d{4}|\[\d{4}, \d{4}\]|\[\d{4}-\d\d, \d{4}-\d\d\]",
    "zip": r"0[0-9]{4}|0[0-9]{3}\*|0[0-9]{2}\*\*|0[0-9]\*\*\*|0\*{4}",
    "sex": r"m|f|\{f, m\}",
    "weight": r"[0-9.]+|\[[0-9.]+, [0-9.]+\]|\*|",
}
WRITTEN["admission"] = WRITTEN["birth"]


def test_every_cell_of_the_release_is_written_as_a_person_would(released):  # U4, U5, T22
    release, _ = released
    for name, pattern in WRITTEN.items():
        odd_cells = {cell for cell in labels(release, name) if not re.fullmatch(pattern, cell)}
        assert not odd_cells, name
    assert {len(cell) for cell in labels(release, "zip")} == {5}


def test_no_birthday_of_a_person_is_in_a_released_interval(people, released):  # U4
    release, _ = released
    exact = {cell for cell in labels(release, "birth") if re.fullmatch(r"\d{4}-\d\d-\d\d", cell)}
    shared = {cell: set() for cell in exact}
    for cell, klass in zip(labels(release, "birth"), release.classes.of_row, strict=True):
        shared.get(cell, set()).add(klass)
    assert all(
        int((labels(release, "birth") == cell).sum()) >= 5 * len(classes) for cell, classes in shared.items()
    )  # whole classes were born that day


def test_no_cell_tells_who_is_inside_by_their_birthday(people, released):  # U4
    release, _ = released
    printed = {printed_value.column: printed_value for printed_value in printed_values(release, people)}
    assert printed["birth"].values == len({c for c in labels(release, "birth") if re.fullmatch(r"\d{4}-\d\d-\d\d", c)})
    years = Table.read({"birth": ["[1931, 1950]", "[1931-01-01, 1950-12-31)"]}, quasi_identifiers="birth")
    assert years.column("birth").type == "date"
    assert printed_values(years)[0].values == 2  # the days at the ends of the second cell


def test_the_cell_of_a_class_holds_every_original_value(people, released):
    release, origin = released
    for original_column, after in zip(people.quasi_identifiers, release.quasi_identifiers, strict=True):
        fits = compatible(original_column.levels, after.levels, missing="own")
        is_known = original_column.codes[origin] != original_column.levels.missing
        assert fits[original_column.codes[origin], after.codes][is_known].all(), original_column.name


def test_a_written_release_reads_back_cell_by_cell(people, released, tmp_path):
    release, _ = released
    for name in ("release.csv", "release.parquet"):
        release.write(tmp_path / name)
        again = Table.read(tmp_path / name, quasi_identifiers=QUASI, sensitive=("diagnosis", "cost"), like=people)
        for first, second in zip(release.columns, again.columns, strict=True):
            used = np.unique(first.codes)
            assert second.type == first.type
            assert second.levels.labels == tuple(first.levels.labels[index] for index in used), first.name
            if first.levels.kind == "numeric":
                assert np.array_equal(second.levels.low, first.levels.low[used], equal_nan=True)
                assert np.array_equal(second.levels.high, first.levels.high[used], equal_nan=True)
        assert criteria.evaluate(again).k == criteria.evaluate(release).k
        belief = ClassAttack()(again, Background(people))
        assert np.exp(belief.log_probability).max() <= 1 / 5 + 1e-6


def test_the_release_is_read_by_itself_as_it_was_meant(released, tmp_path):
    release, _ = released
    release.write(tmp_path / "release.csv")
    roles = {"quasi_identifiers": QUASI, "sensitive": ("diagnosis", "cost")}
    for types, birth in (({}, "number"), ({"birth": "date"}, "date")):  # every birth is an interval of years
        again = Table.read(tmp_path / "release.csv", types=types, **roles)
        assert [column.type for column in again.quasi_identifiers] == [birth, "code", "text", "date", "number"]
        assert criteria.evaluate(again) == criteria.evaluate(release)


def test_loss_is_stated_in_the_units_of_the_columns(people, released):  # U5
    lost = utility.evaluate(people, *released)
    units = {name: width.unit for name, width in lost.width.items()}
    assert units == {"birth": "years", "zip": "characters", "sex": "values", "admission": "days", "weight": ""}
    low, high = people.column("birth").levels.low, people.column("birth").levels.high
    assert lost.width["birth"].mean < lost.width["birth"].largest <= (high.max() - low.min()) / 365.2425
    hidden = np.array([cell.count("*") for cell in labels(released[0], "zip")])
    assert lost.width["zip"].mean == pytest.approx(hidden.mean())
    assert lost.width["zip"].largest == hidden.max()


def test_a_class_over_57_birth_years_says_so():  # U5
    births = ["11.04.1920", "11.05.1930", "11.06.1977", *["01.01.2000"] * 97]
    table = Table.read({"birth": births}, quasi_identifiers="birth")
    release = Table.read({"birth": ["[1920, 1977]"] * 3 + ["2000-01-01"] * 97}, quasi_identifiers="birth", like=table)
    width = utility.evaluate(table, release, np.arange(100)).width["birth"]
    assert width.largest == pytest.approx(57.7, abs=0.1)
    assert str(width) == "1.7 years (up to 58)"
    suppressed = utility.evaluate(table, release.take(slice(0, 50)), np.arange(50)).width["birth"]
    assert suppressed.largest == pytest.approx(79.7, abs=0.1)  # of a row that is not released nothing is known


def test_the_engine_makes_the_same_release(file, people, released, tmp_path):
    from unmask.data.engine import open_engine

    release, _ = released
    roles = reading(**ROLES)
    with open_engine("duckdb") as engine:
        reduced = count_source(engine, str(file), roles, sensitive=False)
        assert any(re.match(r"weight: [0-9]+ cells? 'NA' read as missing", note) for note in reduced.table.notes)
        generalized = generalize(reduced.table, Mondrian(k=5))
        for first, second in zip(generalized.release.quasi_identifiers, release.quasi_identifiers, strict=True):
            assert first.levels.labels == second.levels.labels
        assert np.array_equal(generalized.release.classes.sizes, release.classes.sizes)
        for name, width in generalized.loss.width.items():
            expected = utility.evaluate(people, *released).width[name]
            assert (width.mean, width.largest, width.unit) == pytest.approx(
                (expected.mean, expected.largest, expected.unit)
            )
        write_release(reduced.stored, generalized, tmp_path / "engine.parquet")
    release.write(tmp_path / "memory.parquet")
    with duckdb.connect() as connection:
        first, second = (
            sorted(
                connection.sql(f"select {', '.join(QUASI)}, diagnosis, cost::varchar from '{path}'").fetchall(), key=str
            )
            for path in (tmp_path / "engine.parquet", tmp_path / "memory.parquet")
        )
    assert first == second


def test_values_of_an_engine_that_are_written_in_several_ways_share_a_level(tmp_path):
    path = tmp_path / "people.csv"
    names = ["Zo\u00eb", "Zoe\u0308"]
    path.write_text(
        "name;pay\n" + "".join(f"{names[index % 2]};{('3,5', '3,50', 'NA')[index % 3]}\n" for index in range(12))
    )
    from unmask.data.engine import open_engine

    with open_engine("duckdb") as engine:
        table = count_source(engine, str(path), reading(("name", "pay"))).table
    assert [column.levels.labels for column in table.columns] == [("Zo\u00eb",), ("3.5", "")]
    assert table.counts.tolist() == [8, 4]


# --- types in Parquet ---------------------------------------------------------------------------------------------


def test_exact_dates_stay_dates_in_parquet(tmp_path):  # T26
    with duckdb.connect() as connection:
        cells = (
            "date '1970-01-31' as born, timestamp '2024-03-05 10:15' as seen, '04109' as zip, 1.5::decimal(8, 3) as fee"
        )
        connection.execute(f"copy (select {cells} from range(4)) to '{tmp_path / 'people.parquet'}' (format parquet)")
        connection.execute(f"copy (select {cells} from range(4)) to '{tmp_path / 'people.csv'}'")

        def types_of(name):
            table = Table.read(tmp_path / name, quasi_identifiers=["born", "seen", "zip", "fee"])
            release, _ = Mondrian(k=2)(table)
            release.write(tmp_path / f"{name}.out.parquet")
            return [str(kind) for kind in connection.sql(f"from '{tmp_path / name}.out.parquet'").types]

        assert types_of("people.parquet") == ["DATE", "TIMESTAMP", "VARCHAR", "DECIMAL(8,3)"]
        assert types_of("people.csv") == ["DATE", "TIMESTAMP", "VARCHAR", "DOUBLE"]


# --- codes --------------------------------------------------------------------------------------------------------

codes = st.lists(st.text("01E.", min_size=1, max_size=5), min_size=1, max_size=12)


@given(codes)
def test_boxes_of_codes_read_back_and_hold_every_code(cells):
    table = Table.read({"c": cells}, quasi_identifiers="c", types={"c": "code"})
    release, origin = Mondrian(k=min(2, len(cells)))(table, rng=np.random.default_rng(0))
    column = release.column("c")
    again = write_cells(column, column.levels.labels)
    assert again.levels.labels == column.levels.labels
    assert again.codes.tolist() == column.codes.tolist()
    longest = max(map(len, cells))
    for row, cell in zip(origin, labels(release, "c"), strict=True):
        prefix = cell.rstrip("*")
        if longest <= 2:  # categories: a beginning of such a code says nothing
            assert cells[row] in cell.strip("{}").split(", ")
        else:
            assert cell == cells[row] or (cells[row].startswith(prefix) and len(cell) in (1, longest))


def test_codes_of_several_lengths_share_a_beginning():
    table = Table.read({"ill": ["E11", "E11.9", "E10.1"]}, quasi_identifiers="ill")
    release, _ = Mondrian(k=3)(table)
    assert release.column("ill").levels.labels == ("E1***",)
    assert compatible(table.column("ill").levels, release.column("ill").levels, missing="own").all()


def test_codes_are_cut_between_beginnings():
    zips = [f"0{first}{suffix:03}" for first in (1, 4) for suffix in range(8)]
    release, _ = Mondrian(k=8)(Table.read({"zip": zips}, quasi_identifiers="zip"))
    assert release.column("zip").levels.labels == ("0100*", "0400*")


# --- levels by name -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "cells"),
    [
        ("day", ["2024-02-29", "2024-Q1", ""]),
        ("month", ["2024-02", "2024-Q1", ""]),
        ("quarter", ["2024-Q1", "2024-Q1", ""]),
        ("year", ["2024", "2024", ""]),
    ],
)
def test_dates_are_generalized_to_periods(level, cells):
    table = Table.read({"birth": ["29.02.2024", "2024-Q1", None]}, quasi_identifiers="birth")
    release, origin = Generalize(levels={"birth": level})(table)
    assert labels(release, "birth")[np.argsort(origin)].tolist() == cells


@pytest.mark.parametrize(
    ("hidden", "cells"),
    [(0, ["E11.9", "E11", "I10"]), (1, ["E11.*", "E11**", "I10**"]), (2, ["E11**", "E11**", "I10**"]), (5, ["*"] * 3)],
)
def test_codes_are_generalized_by_hidden_characters(hidden, cells):
    table = Table.read({"ill": ["E11.9", "E11", "I10"]}, quasi_identifiers="ill")
    release, origin = Generalize(levels={"ill": hidden})(table)
    assert labels(release, "ill")[np.argsort(origin)].tolist() == cells


@pytest.mark.parametrize(
    ("source", "level", "message"),
    [
        (["2024-01-01"], 5, "expected one of day, month, quarter, year, decade"),
        (["2024-01-01"], "week", "expected one of day, month, quarter, year, decade"),
        (["0123"], 7, "column 'c' hides 7 characters, expected at most 4"),
        (["12"], "year", "expected a number"),
    ],
)
def test_levels_that_do_not_exist_are_refused(source, level, message):
    with pytest.raises(UnmaskError, match=message):
        Generalize(levels={"c": level})(Table.read({"c": source}, quasi_identifiers="c"))


# --- hierarchies that bind ----------------------------------------------------------------------------------------


def zip_table(**options):
    leaves = [f"10{index:03}" for index in range(80, 100)] + [f"20{index:03}" for index in range(20)]
    tree = Hierarchy.from_paths([(leaf, leaf[:3] + "**", leaf[:1] + "****", "all") for leaf in leaves])
    rng = np.random.default_rng(3)
    return Table.read(
        {"zip": rng.choice(leaves, 200), "age": rng.integers(20, 60, 200)},
        quasi_identifiers=["zip", "age"],
        hierarchies={"zip": tree},
        **options,
    ), tree


@pytest.mark.parametrize("protection", [Mondrian(k=5), Mondrian(k=5, strict=False), SuppressCells(k=5)])
def test_a_hierarchy_can_bind_the_release(protection):  # T10
    table, tree = zip_table(cells="nodes")
    release, origin = protection(table, rng=np.random.default_rng(0))
    written = set(labels(release, "zip"))
    assert written <= {*tree.nodes, "*"}  # `*` is the root
    initial, after = table.column("zip"), release.column("zip")
    fits = compatible(initial.levels, after.levels, missing="own")
    assert fits[initial.codes[origin], after.codes].all()


def test_sets_of_leaves_are_written_unless_the_hierarchy_binds():
    table, _ = zip_table()
    release, _ = Mondrian(k=5)(table, rng=np.random.default_rng(0))
    assert any(cell.startswith("{") for cell in labels(release, "zip"))


def test_a_hierarchy_binds_text_only():
    tree = Hierarchy.from_paths([("20", "young"), ("70", "old")])
    with pytest.raises(UnmaskError, match="'c' has the type number, expected text for cells that are nodes"):
        Table.read({"c": [20]}, quasi_identifiers="c", types={"c": "number"}, hierarchies={"c": tree}, cells="nodes")


# --- the command line ---------------------------------------------------------------------------------------------


def test_the_command_line_protects_and_audits_with_the_roles_alone(file, tmp_path):
    from click.testing import CliRunner

    from unmask.cli import main

    roles = ["-q", ",".join(QUASI), "-s", "diagnosis,cost"]
    release, origin = tmp_path / "release.csv", tmp_path / "origin.csv"
    done = CliRunner().invoke(
        main,
        [
            "protect",
            str(file),
            *roles,
            "--identifiers",
            "patient",
            "--k",
            "5",
            "-o",
            str(release),
            "--origin",
            str(origin),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "note: birth: dates, day first" in done.stderr
    assert re.search(r"mean width of a cell: birth [0-9.]+ years \(up to [0-9]+\), zip [0-9.]+ characters", done.stderr)
    with release.open() as lines:
        assert next(csv.reader(lines)) == [*QUASI, "diagnosis", "cost"]
    done = CliRunner().invoke(
        main,
        ["audit", str(release), *roles, "--original", str(file), "--origin", str(origin), "--decimal", ",", "--json"],
    )
    assert done.exit_code == 0, done.output
    assert done.stderr.count("birth: dates") == 1  # the original says how the release is read
    assert '"k": 5' in done.stdout


def test_a_type_can_be_set_on_the_command_line(tmp_path):
    from click.testing import CliRunner

    from unmask.cli import main

    path = tmp_path / "people.csv"
    path.write_text("birth,ill\n" + "1/2/1970,NA\n3/4/1971,flu\n" * 3)
    arguments = ["audit", str(path), "-q", "birth", "-s", "ill", "--json"]
    message = CliRunner().invoke(main, arguments).stderr
    assert "note: birth: read as text, because day and month are ambiguous" in message
    assert "note: ill: 3 cells 'NA' read as missing" in message
    accepted = CliRunner().invoke(main, [*arguments, "--type", "birth=date:month-first", "--na", ""])
    assert (accepted.exit_code, accepted.stderr) == (0, "")
    refused = CliRunner().invoke(main, [*arguments, "--type", "birth=dates"])
    assert refused.exit_code == 2
    assert "the type of column 'birth' is 'dates', did you mean 'date'" in refused.stderr


def test_a_released_file_holds_no_more_than_its_cells(released, tmp_path):
    release, _ = released
    release.write(tmp_path / "release.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "release.csv").read_text())))
    assert len(rows) == release.n_rows + 1
