"""Special uniques and risk of each record, compared with brute force and published examples."""

import csv
import math
import operator
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from tests.commands import invoke
from tests.envelopes import parsed
from unmask.core.errors import UnmaskError
from unmask.tables import Table
from unmask.tables.risk import suda
from unmask.tables.risk.records import evaluate_records
from unmask.tables.risk.suda import find_special_uniques
from unmask.tables.survey_design import SurveyDesign

GUIDE = """
urban female incomplete-2 employed
urban female incomplete-2 employed
urban female incomplete-1 outside
urban male complete-2 employed
rural female complete-2 unemployed
urban male complete-2 employed
urban female complete-1 outside
urban male post-2 unemployed
urban female incomplete-2 outside
urban female incomplete-2 outside
"""
"""Residence, gender, education and labor status of table 4.5 of the SDC Practice Guide."""


def _read(rows, missing="own"):
    columns = {f"c{position}": list(cells) for position, cells in enumerate(zip(*rows, strict=True))}
    return Table.read(columns, quasi_identifiers=list(columns), missing=missing)


def _find_minimal(rows, *, fits=operator.eq):
    """Return the minimal uniques of each row by their definition. fits : whether two cells may be of one person"""
    n_columns = len(rows[0])
    minimal = [[] for _ in rows]
    for size in range(1, n_columns + 1):
        for subset in combinations(range(n_columns), size):
            keys = [tuple(row[column] for column in subset) for row in rows]
            for sets, key in zip(minimal, keys, strict=True):
                count = sum(all(map(fits, key, other)) for other in keys)
                if count == 1 and "" not in key and not any({*smaller} < {*subset} for smaller in sets):
                    sets.append(subset)
    return minimal


@pytest.mark.parametrize("seed", range(100))
def test_minimal_uniques_of_random_tables_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_columns = rng.integers(1, 25), rng.integers(1, 6)
    rows = rng.choice(["", "a", "b", "c", "d"][: rng.integers(2, 6)], (n_rows, n_columns)).tolist()
    uniques, minimal = find_special_uniques(_read(rows)), _find_minimal(rows)

    weights = [math.prod(n_columns - i for i in range(size, n_columns)) for size in range(n_columns + 1)]
    assert uniques.n_minimal.tolist() == [len(sets) for sets in minimal]
    assert uniques.score.tolist() == [sum(weights[len(subset)] for subset in sets) for sets in minimal]
    for row, sets in enumerate(minimal):
        smallest = uniques.smallest[row]
        assert (smallest >= 0) == bool(sets)
        assert not sets or len(uniques.subsets[smallest]) == min(map(len, sets))
        for column in range(n_columns):
            share = sum(weights[len(subset)] for subset in sets if column in subset) / max(uniques.score[row], 1)
            assert uniques.contribution[row, column] == pytest.approx(share)


@pytest.mark.parametrize(
    ("weighting", "scores", "dis"),
    [
        ("elliot", [6, 12, 6, 10], [0.0049868, 0.0113830, 0.0049868, 0.0091667]),
        ("ihsn", [1.75, 3.25, 1.75, 2.75], [0.005120313, 0.010702061, 0.005120313, 0.008775093]),
    ],
)
def test_scores_of_the_practice_guide(weighting, scores, dis):
    uniques = find_special_uniques(_read([line.split() for line in GUIDE.split("\n") if line]), weighting=weighting)

    assert uniques.score[uniques.score > 0].tolist() == scores
    assert uniques.estimate_intruder_confidence(0.01)[uniques.score > 0] == pytest.approx(dis, abs=6e-8)


def test_only_small_sets_are_searched_if_there_are_many_columns(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (40, 6)).astype(str).tolist()
    monkeypatch.setattr(suda, "MAX_SUBSETS", 25)
    uniques, minimal = find_special_uniques(_read(rows)), _find_minimal(rows)

    assert uniques.n_minimal.tolist() == [sum(len(subset) <= 2 for subset in sets) for sets in minimal]


def test_a_table_without_pairs_has_no_confidence():
    uniques = find_special_uniques(_read([("a",), ("b",), ("c",)]))

    assert np.isnan(uniques.estimate_intruder_confidence(0.1)).all()


@pytest.mark.parametrize("fraction", [0, -1, 1.5, float("nan")])
def test_a_sampling_fraction_outside_its_range_is_refused(fraction):
    with pytest.raises(UnmaskError, match="expected more than 0 and at most 1"):
        find_special_uniques(_read([("a",), ("a",)])).estimate_intruder_confidence(fraction)


@pytest.mark.parametrize("seed", range(100))
def test_minimal_uniques_with_wildcards_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_columns = rng.integers(1, 15), rng.integers(1, 5)
    rows = rng.choice(["", *"abc"], (n_rows, n_columns), p=[seed % 4 / 10, *np.full(3, (1 - seed % 4 / 10) / 3)])
    uniques = find_special_uniques(_read(rows.tolist(), missing="wildcard"))
    minimal = _find_minimal(rows.tolist(), fits=lambda cell, other: cell == other or "" in (cell, other))

    assert uniques.n_minimal.tolist() == [len(sets) for sets in minimal]
    names = [" ".join(f"c{column}" for column in min(sets, key=len)) if sets else "" for sets in minimal]
    assert uniques.name_smallest() == names


def test_a_star_or_a_missing_cell_that_is_any_value_hides_a_unique_row():
    rows = [("a", "x"), ("a", "y"), ("b", "x"), ("b", ""), ("*", "x")]
    assert find_special_uniques(_read(rows)).name_smallest() == ["c0 c1", "c1", "c0 c1", "", ""]
    assert find_special_uniques(_read(rows, missing="wildcard")).name_smallest() == ["", "c0 c1", "", "", ""]


@pytest.mark.parametrize("seed", range(20))
def test_household_risks_of_random_tables_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    rows = rng.choice(["a", "b"], (30, 2)).tolist()
    household = rng.integers(-1, 12, 30)
    columns = evaluate_records(replace(_read(rows), design=SurveyDesign(household=household))).columns

    count = Counter(map(tuple, rows))
    groups = {
        row: [row] if household[row] < 0 else np.flatnonzero(household == household[row]).tolist() for row in range(30)
    }
    kinds = Counter(tuple(sorted(tuple(rows[one]) for one in group)) for group in {tuple(v) for v in groups.values()})
    for row, group in groups.items():
        kept = math.prod(1 - 1 / count[tuple(rows[member])] for member in group)
        assert columns["household_size"][row] == len(group)
        assert columns["household_risk"][row] == pytest.approx(1 - kept)
        assert columns["household_class_size"][row] == kinds[tuple(sorted(tuple(rows[one]) for one in group))]


def test_a_file_has_a_line_for_each_record_and_no_cell():
    table = Table.read({"age": ["Zebedee", "Zebedee", "Ann"], "w": [1, 1.5, 0.5]}, quasi_identifiers="age", weight="w")
    risks = evaluate_records(table)
    heading, *lines = csv.reader(risks.to_csv().splitlines())

    assert heading == ["row", "class_size", "suda_score", "n_minimal_uniques", "smallest_minimal_unique"]
    assert [line[:3] for line in lines] == [["0", "2", "0.0"], ["1", "2", "0.0"], ["2", "1", "1.0"]]
    assert risks.not_run[0][1].startswith("the sum of the weights is about the number of rows")
    assert "Zebedee" not in risks.to_csv()


def test_a_name_of_a_column_runs_in_no_spreadsheet():
    table = Table.read({"=1+1": ["a", "a", "b"]}, quasi_identifiers="=1+1")

    assert evaluate_records(table).to_csv().splitlines()[-1].endswith(",'=1+1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--household", "hom"], "column 'hom' is not in the release; did you mean 'home'?"),
        (["--household", "age"], "column 'age' has another role, expected one that is not released"),
        (["--household", "home", "--engine", "duckdb"], "--household needs the table in memory"),
        (["--risk-file", "risks.csv", "--engine", "duckdb"], "--risk-file needs the table in memory"),
        (["again.csv", "--risk-file", "risks.csv"], "--risk-file is about one release, 2 were given"),
        (["--risk-file", "people.csv", "--force"], "people.csv exists, and a list of people replaces nothing"),
        (["--risk-file", "risks.parquet"], "risks.parquet names another format, expected a list of people as .csv"),
        (["--risk-file", "nowhere/risks.csv"], "folder nowhere does not exist"),
        (["--risk-file", "risks.csv", "--at-risk", "risks.csv"], "two outputs go to risks.csv"),
        (["--policy", "household_k>=2"], "household_k"),
        (["--household", ""], "''"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence_and_nothing_is_written(arguments, message, people):
    done = invoke("audit", "people.csv", *arguments, "-q", "age,sex")

    assert done.exit_code in (1, 2), done.output
    assert message in done.stderr
    assert sorted(path.name for path in people.iterdir()) == ["again.csv", "people.csv"]


def test_audit_writes_the_risk_file_for_its_owner_and_judges_households(people):
    done = invoke(
        "audit", "people.csv", "-q", "age,sex", "--household", "home", "--risk-file", "risks.csv", "--policy",
        "household_k>=2", "--json",
    )  # fmt: skip

    criteria = parsed(done.stdout)["tables"]["criteria"][0]
    lines = list(csv.DictReader((people / "risks.csv").read_text(encoding="utf-8").splitlines()))
    assert done.exit_code == 3
    assert "risks.csv, keep it secret" in done.stderr
    assert (people / "risks.csv").stat().st_mode & 0o777 == 0o600
    assert criteria["household_k"] == min(int(line["household_class_size"]) for line in lines) == 1
    assert criteria["household_risk_max"] == pytest.approx(max(float(line["household_risk"]) for line in lines))
    assert "home" not in done.stdout


def test_risks_of_a_survey_are_gates_of_audits_and_choices(people):
    limits = (
        "individual_risk_max<=0.5", "model_risk_max<=0.5", "expected_reidentifications<=9", "household_risk_max<=0.9",
        "dis_suda_max<=0.1",
    )  # fmt: skip
    options = [option for limit in limits for option in ("--policy", limit)]
    roles = "-q", "age,sex", "--weight", "w", "--household", "home"
    audited = parsed(invoke("audit", "people.csv", *roles, *options, "--json").stdout)
    columns = evaluate_records(
        Table.read("people.csv", quasi_identifiers=["age", "sex"], weight="w", household="home")
    ).columns  # fmt: skip
    expected = {
        "individual_risk_max": columns["individual_risk"].max(),
        "expected_reidentifications": columns["individual_risk"].sum(),
        "model_risk_max": columns["model_risk"].max(),
        "household_risk_max": columns["household_risk"].max(),
        "dis_suda_max": columns["dis_suda"].max(),
    }
    lines = audited["tables"]["verdicts"]
    values = {line["condition"].partition("<")[0]: line["value"] for line in lines}
    assert values == pytest.approx(expected, rel=1e-5)

    (people / "study.toml").write_text(STUDY, encoding="utf-8")
    invoke("study", "study.toml", "-o", "out.json")
    below = [option for name, value in expected.items() for option in ("--policy", f"{name}<{0.99 * value:.6g}")]
    chosen = invoke("choose", "out.json", *below)
    assert [name for name in expected if f"{name} is " in chosen.stdout] == list(expected), chosen.output


def test_a_suppressed_cell_is_in_no_minimal_unique():
    rows = [("a", "x"), ("a", "x"), ("*", "x"), ("a", "y"), ("b", "y")]
    uniques = find_special_uniques(_read(rows))

    assert uniques.n_minimal.tolist() == [0, 0, 0, 1, 1]


STUDY = """
data = { file = "people.csv", household = "home" }
columns = { age = "quasi-identifier", sex = "quasi-identifier", w = "weight" }
protections = [{ use = "tables.Mondrian", grid = { k = [2, 5] } }, { use = "none" }]
adversaries = [{ use = "tables.ClassAttack" }]
"""


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Write 30 people in households of three."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    columns = {"age": rng.integers(20, 40, 30), "sex": rng.choice(["f", "m"], 30), "home": np.arange(30) // 3}
    columns["w"] = rng.integers(2, 20, 30)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    for name, rows in (("people.csv", lines), ("again.csv", lines[:-1])):
        (tmp_path / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def test_a_population_smaller_than_the_sample_is_refused():
    with pytest.raises(UnmaskError, match="the population has 2 people and the sample 3 rows"):
        evaluate_records(_read([("a",), ("a",), ("b",)]), population=2)
