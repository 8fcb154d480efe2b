"""`unmask protect aggregates`: tables of a file, protected, attacked and written."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import unmask.aggregates.protections.protect_files as protect_files_module
from unmask.aggregates import read_release
from unmask.aggregates.protections.exact_tables import count_tables, list_tables
from unmask.aggregates.protections.protect_files import protect_files
from unmask.cli import main
from unmask.core.errors import UnmaskError

TABLES = "sex*age,age*district,sex*district:region"


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(7)
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["sex", "age", "district", "region", "firm", "turnover"])
        for _ in range(120):
            district = rng.integers(0, 6)
            sex, age, region = rng.choice(["f", "m"]), 10 * rng.integers(1, 5), "north" if district < 3 else "south"
            firm, turnover = f"firm {rng.integers(0, 40)}", round(rng.lognormal(3, 1.5), 2)
            lines.writerow([sex, age, f"d{district}", region, firm, turnover])
    return path


def run(*arguments):
    return CliRunner().invoke(main, ["protect", "aggregates", *map(str, arguments)])


@pytest.mark.parametrize(
    "options",
    [
        ("--threshold", 5), ("--threshold", 4, "--zeros", "hidden", "--sliding", 3), ("--round", 5),
        ("--round", 5, "--rounding", "controlled"), ("--cell-key", "5,2"),
    ],
)  # fmt: skip
def test_written_tables_are_read_by_their_rule_and_contain_the_true_counts(people, tmp_path, options):
    result = run(people, "--tables", TABLES, *options, "-o", tmp_path / "tables", "--seconds", 1)
    assert result.exit_code == 0, result.output
    release, exact = read_release(tmp_path / "tables"), count_tables(people, TABLES.split(","))
    assert [table.columns for table in release.tabulations] == list_tables(TABLES.split(","))
    low, high = release.bounds()
    values = exact.tables.matrix @ exact.counts[0]
    assert release.matrix.shape == exact.tables.matrix.shape
    assert ((low <= values) & (values <= high)).all()


def test_levels_and_totals_count_the_records_of_their_categories(people):
    exact = count_tables(people, TABLES.split(","))
    by_name = {table.name: table.values for table in exact.tables.tabulations}
    with people.open() as file:
        rows = list(csv.DictReader(file))
    expected = [[sum(row["sex"] == sex and row["region"] == region for row in rows) for region in ("north", "south")]
                for sex in "fm"]  # fmt: skip
    assert by_name["sex-district_region"].tolist() == expected
    assert by_name["total"] == 120


def test_areas_are_protected_separately(people, tmp_path):
    result = run(people, "--tables", "sex*age", "--geography", "region", "--threshold", 6, "-o", tmp_path / "tables")
    assert result.exit_code == 0, result.output
    release = read_release(tmp_path / "tables")
    assert release.areas == ("north", "south")
    assert all(table.by_area for table in release.tabulations)
    exact = count_tables(people, ["sex*age"], geography="region")
    for area, atoms in enumerate(exact.counts):
        low, high = release.bounds(area)
        values = exact.tables.matrix @ atoms
        assert ((low <= values) & (values <= high)).all()
        published = np.concatenate([values[area].ravel() for values in (table.values for table in release.tabulations)])
        assert not ((published > 0) & (published < 6)).any()


def test_json_and_page_have_the_loss_and_the_check_and_no_content_of_a_cell(people, tmp_path):
    page = tmp_path / "page.html"
    options = ("--tables", "sex*district", "--threshold", 9, "--json", "--report", page, "--seconds", 1)
    result = run(people, *options, "-o", tmp_path / "tables")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    check, losses = printed["results"][0], printed["tables"]["aggregate_loss"]
    assert check["determined"] == 0
    assert check["narrowest"] > 0
    assert check["checked"] == check["suppressed"] >= check["small"] > 0
    assert losses[-1]["suppressed"] == sum(loss["suppressed"] for loss in losses[:-1])
    assert "No attacked cell is determined" in page.read_text()


def test_sums_are_suppressed_by_holding_and_written_without_the_rule(people, tmp_path):
    folder = tmp_path / "sums"
    options = ("--value", "turnover", "--holding", "firm", "--p-percent", 15, "--min-contributors", 3, "--seconds", 1)
    result = run(people, "--tables", "sex*age,age*district", *options, "-o", folder)
    assert result.exit_code == 0, result.output
    assert {path.suffix for path in folder.iterdir()} == {".csv"}
    with (folder / "age-district.csv").open() as file:
        published = {(row["age"], row["district"]): row["turnover"] for row in csv.DictReader(file)}
    firms: dict = {}
    with people.open() as file:
        for row in csv.DictReader(file):
            sums = firms.setdefault((row["age"], row["district"]), {})
            sums[row["firm"]] = sums.get(row["firm"], 0) + float(row["turnover"])
    for cell, sums in firms.items():
        first, _, *rest = *sorted(sums.values(), reverse=True), 0.0, 0.0
        if len(sums) < 3 or sum(rest) < 0.15 * first:
            assert published[cell] == "suppressed"
        elif published[cell] != "suppressed":
            assert float(published[cell]) == pytest.approx(sum(sums.values()))
    assert "suppressed" in published.values()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "0 protections were given"),
        (("--threshold", 5, "--round", 5), "2 protections were given"),
        (("--cell-key", "5"), "cell-key is not two numbers"),
        (("--cell-key", "1,9"), "choose another variance"),
        (("--p-percent", 10), "add --value"),
        (("--value", "turnover"), "no rule was given"),
        (("--value", "sex", "--p-percent", 10), "not a number"),
        (("--value", "turnover", "--dominance", "1.5,80"), "fraction of a contributor"),
        (("--value", "turnover", "--p-percent", 10, "--round", 5), "leave them or --value out"),
    ],
)
def test_options_that_do_not_fit_are_refused_and_write_nothing(people, tmp_path, options, message):
    result = run(people, "--tables", "sex*age", *options, "-o", tmp_path / "tables")
    assert result.exit_code == 2
    assert message in result.output
    assert not (tmp_path / "tables").exists()


def test_cells_that_the_attack_does_not_reach_in_time_are_reported(people, tmp_path, monkeypatch):
    monkeypatch.setattr(protect_files_module, "MAX_CHECK_SECONDS", 0.0)
    result = run(people, "--tables", TABLES, "--round", 5, "-o", tmp_path / "tables")
    assert result.exit_code == 0
    assert result.output.splitlines()[1].startswith("0 of 0 attacked cells (a sample)")
    assert "Not computed: Intervals of" in result.output


def test_a_folder_that_exists_is_not_written(people, tmp_path):
    result = run(people, "--tables", "sex*age", "--threshold", 5, "-o", tmp_path)
    assert result.exit_code == 2
    assert "expected a new folder" in result.output


def test_columns_that_are_missing_empty_or_no_level_are_refused(people):
    with pytest.raises(UnmaskError, match="'job' is not in"):
        protect_files(people, tables=["sex*job"], base=5)
    with pytest.raises(UnmaskError, match="'age' is not a level of 'sex'"):
        protect_files(people, tables=["sex:age"], base=5)
    with pytest.raises(UnmaskError, match="without a column"):
        protect_files(people, tables=["sex*"], base=5)
    people.write_text("sex,age\nf,\nm,3\n")
    with pytest.raises(UnmaskError, match="1 empty cells"):
        protect_files(people, tables=["sex*age"], base=5)


@pytest.mark.parametrize("name", ["../age", "=cmd()", "a\\b", ".hidden"])
def test_columns_whose_names_are_paths_or_formulas_are_refused(people, tmp_path, name):
    people.write_text(f'sex,"{name}"\n' + "f,1\nm,2\n" * 9)
    result = run(people, "--tables", f"sex*{name}", "--round", 5, "-o", tmp_path / "tables")
    assert result.exit_code == 2
    assert "rename the column" in result.output
    assert not (tmp_path / "tables").exists()
