"""Mondrian makes the classes of the table in memory from its combinations."""

import csv
from collections import Counter
from dataclasses import fields

import duckdb
import numpy as np
import pytest

from tests.commands import invoke
from tests.engines import QUIET, count_source, opened, reading
from tests.envelopes import parsed
from unmask.data.engine import open_engine
from unmask.tables import Hierarchy, Mondrian, Table, datasets, utility
from unmask.tables.counted_release import generalize, write_release
from unmask.tables.protections.constraints import EntropyL

pytestmark = [pytest.mark.filterwarnings(warning) for warning in QUIET]

QUASI = ("age", "zip", "size")
SIZES = ("S", "M", "L", "XL")
TREE = Hierarchy.from_paths(
    [("120", "12*", "*"), ("121", "12*", "*"), ("130", "13*", "*"), ("131", "13*", "*"), ("ä", "other", "*")]
)


@pytest.fixture(scope="module", params=["duckdb", pytest.param("spark://local[1]", marks=pytest.mark.cluster)])
def engine(request):
    with opened(request.param) as engine:
        yield engine


@pytest.fixture(scope="module")
def duck():
    with open_engine("duckdb") as engine:
        yield engine


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Numbers, intervals of their midpoints, a hierarchy, an order, missing cells: about 600 combinations of 900."""
    rng = np.random.default_rng(7)
    path = tmp_path_factory.mktemp("people") / "people.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*QUASI, "ill", "pay"])
        for _ in range(900):
            age = rng.choice(["", "20-30", "25", str(rng.integers(20, 60))], p=[0.05, 0.05, 0.05, 0.85])
            zip_code = rng.choice(["", "120", "121", "130", "131", "ä", "12*"], p=[0.04, *[0.16] * 6])
            writer.writerow([age, zip_code, rng.choice(SIZES), rng.choice(["flu", "gout", "ms"]), rng.integers(3)])
    return path


def roles_of_table(missing="own", sensitive=("ill",)):
    return {
        "quasi_identifiers": QUASI,
        "sensitive": sensitive,
        "missing": missing,
        "hierarchies": {"zip": TREE},
        "orders": {"size": SIZES},
    }


def rows_of(path):
    """The cells of a Parquet file, or of a folder of them, as texts."""
    source = f"{path}/*.parquet" if path.is_dir() else path
    with duckdb.connect() as connection:
        return connection.execute(f"select columns(*)::varchar from '{source}'").fetchall()


def same_classes(generalized, release):
    assert np.array_equal(generalized.release.classes.sizes, release.classes.sizes)
    assert np.array_equal(generalized.release.classes.levels, release.classes.levels)
    for actual, wanted in zip(generalized.release.quasi_identifiers, release.quasi_identifiers, strict=True):
        assert actual.levels.labels == wanted.levels.labels


def check_release(engine, people, folder, missing, protection):
    table = Table.read(people, **roles_of_table(missing))
    release, origin = protection(table, rng=np.random.default_rng(0))
    counted = count_source(engine, str(people), reading(**roles_of_table(missing)), sensitive=protection.t is not None)
    generalized = generalize(counted.table, protection)
    same_classes(generalized, release)

    actual, expected = generalized.loss, utility.evaluate(table, release, origin)
    for item in fields(actual):
        first, two = (getattr(lost, item.name) for lost in (actual, expected))
        if item.name == "width":
            assert {name: width.unit for name, width in first.items()} == {n: width.unit for n, width in two.items()}
            first, two = (
                [x for width in losses.values() for x in (width.mean, width.largest)] for losses in (first, two)
            )
        first, two = (np.array(list(value.values()) if isinstance(value, dict) else value, dtype=float)
                    for value in (first, two))  # fmt: skip
        assert first == pytest.approx(two, rel=1e-12, abs=1e-12, nan_ok=True), item.name

    write_release(counted.stored, generalized, folder / "release.parquet")
    release.write(folder / "expected.parquet")
    assert Counter(rows_of(folder / "release.parquet")) == Counter(rows_of(folder / "expected.parquet"))


@pytest.mark.parametrize("protection", [Mondrian(k=10), Mondrian(k=5, t=0.3)])
def test_both_engines_make_the_release_in_memory(engine, people, tmp_path, protection):
    check_release(engine, people, tmp_path, "excluded", protection)


@pytest.mark.parametrize("missing", ["own", "excluded", "wildcard"])
@pytest.mark.parametrize("protection", [Mondrian(k=1), Mondrian(k=3), Mondrian(k=450), Mondrian(k=2, t=0.0)])
def test_a_release_of_combinations_is_the_one_of_rows(duck, people, tmp_path, missing, protection):
    check_release(duck, people, tmp_path, missing, protection)


@pytest.mark.parametrize("missing", ["own", "excluded"])
def test_constraints_hold_in_classes_of_combinations(duck, people, missing):
    protection = Mondrian(k=5, l=2, t=0.3, constraints=(EntropyL(1.2),))
    table = Table.read(people, **roles_of_table(missing, ("ill", "pay")))
    release, _ = protection(table, rng=np.random.default_rng(0))
    counted = count_source(duck, str(people), reading(**roles_of_table(missing, ("ill", "pay"))))
    same_classes(generalize(counted.table, protection), release)
    with_k_only, _ = Mondrian(k=5)(table, rng=np.random.default_rng(0))
    assert len(release.classes.sizes) < len(with_k_only.classes.sizes)


@pytest.mark.parametrize("k", [3, 10])
def test_counted_adult_has_the_classes_of_adult(duck, tmp_path, k):
    adult = datasets.adult()
    adult.write(tmp_path / "adult.parquet")
    quasi = tuple(column.name for column in adult.quasi_identifiers)
    types = {column.name: column.type for column in adult.quasi_identifiers}
    release, _ = Mondrian(k=k)(adult, rng=np.random.default_rng(0))
    counted = count_source(duck, str(tmp_path / "adult.parquet"), reading(quasi, types=types), sensitive=False)
    same_classes(generalize(counted.table, Mondrian(k=k)), release)


def test_random_tables_have_the_classes_of_the_table_in_memory(duck, tmp_path):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(20, 150)), int(rng.integers(1, 5))
        columns = {f"c{j}": rng.integers(0, rng.integers(1, 30), n).astype(str) for j in range(d)}
        path = tmp_path / f"{seed}.csv"
        path.write_text("\n".join(",".join(row) for row in [tuple(columns), *zip(*columns.values(), strict=True)]))
        protection = Mondrian(k=int(rng.integers(1, 8)))
        release, _ = protection(Table.read(path, quasi_identifiers=tuple(columns)), rng=rng)
        counted = count_source(duck, str(path), reading(tuple(columns)))
        same_classes(generalize(counted.table, protection), release)


# --- the command line -----------------------------------------------------------------------------------------


def test_the_command_line_protects_in_an_engine_as_in_memory(people, tmp_path):
    command = ("protect", people, "-q", ",".join(QUASI), "-s", "ill", "--k", 4, "--t", 0.4, "--json")
    expected = parsed(invoke(*command, "-o", tmp_path / "expected.parquet").stdout)["results"][0]
    command = (*command, "-o", tmp_path / "release.parquet", "--engine", "duckdb", "--memory-limit", "1GiB")
    assert "900 rows, about" in invoke(*command, "--dry-run").stderr
    assert not (tmp_path / "release.parquet").exists()
    result = invoke(*command)
    assert result.exit_code == 0, result.stderr
    (actual,) = parsed(result.stdout)["results"]
    for name in ("rows", "classes", "k"):
        assert actual[name] == expected[name]
    assert actual["gcp"] == pytest.approx(expected["gcp"], rel=1e-12)
    assert Counter(rows_of(tmp_path / "release.parquet")) == Counter(rows_of(tmp_path / "expected.parquet"))
    refused = invoke(*command, "--force", "--origin", tmp_path / "origin.csv")
    assert (refused.exit_code, "--origin needs the table in memory" in refused.stderr) == (2, True)
