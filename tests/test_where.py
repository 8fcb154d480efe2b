"""Location of the risk in a table: each number against a literal count, or the command that makes the change."""

import csv
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import unmask
from tests.commands import run
from unmask.tables import Table, datasets
from unmask.tables.audit.quasi_identifiers import describe_level
from unmask.tables.protections.generalization import Generalize, next_level

QUASI = ("age", "sex", "zip")


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hospital's discharges as `examples/hospital.toml` makes them, and a release of them with k = 10."""
    home = tmp_path_factory.mktemp("hospital")
    (home / "own").mkdir()
    census = datasets.synthetic_census(1500, rng=np.random.default_rng(5))
    with (home / "own" / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(census)
        writer.writerows(zip(*(column.tolist() for column in census.values()), strict=True))
    options = ("-q", ",".join(QUASI), "-s", "diagnosis", "--type", "zip=number", "--k", 10)
    done = run(
        "protect", home / "own" / "people.csv", *options, "-o", home / "r.csv", "--origin", home / "own" / "o.csv"
    )
    assert done[0] == 0, done[2]
    return home


def audited(folder: Path, release: str = "r.csv", origin: str = "o.csv", *options: object) -> dict[str, list[dict]]:
    own_folder = folder / "own"
    told = (
        "-q",
        ",".join(QUASI),
        "-s",
        "diagnosis",
        "--type",
        "zip=number",
        "--original",
        own_folder / "people.csv",
        "--origin",
        own_folder / origin,
    )
    code, text, err = run("audit", folder / release, *told, "--json", *options)
    assert code == 0, err
    data = json.loads(text)
    return data["tables"] | {"results": data["results"]}


@pytest.fixture(scope="module")
def tables(folder: Path) -> dict[str, list[dict]]:
    return audited(folder, "r.csv", "o.csv", "--report", folder / "page.html", "--at-risk", folder / "own" / "risk.csv")


def page(folder: Path) -> str:
    return (folder / "page.html").read_text(encoding="utf-8").replace("\u00a0", " ")


# --- values ----------------------------------------------------------------------------------------------------------


def counted(folder: Path) -> tuple[Counter, list[list[str]], list[list[int]]]:
    """Count people by diagnosis; return the diagnoses and rows of each released class."""
    release = read_rows(folder / "r.csv")
    classes: dict[tuple, list[int]] = {}
    for index, row in enumerate(release):
        classes.setdefault(tuple(row[name] for name in QUASI), []).append(index)
    diagnoses = [[release[index]["diagnosis"] for index in rows] for rows in classes.values()]
    people = Counter(row["diagnosis"] for row in read_rows(folder / "own" / "people.csv"))
    return people, diagnoses, list(classes.values())


def test_u10_the_value_that_is_found_out_is_never_the_commonest(folder: Path, tables: dict) -> None:
    people, classes, _ = counted(folder)
    ranked = [name for name, _ in people.most_common()]
    result = {ranked[int(value["value"].removeprefix("no. ")) - 1]: value for value in tables["values"]}
    assert not result[ranked[0]]["secret"]
    for name in ranked:
        sure = [rows for rows in classes if 2 * rows.count(name) > len(rows)]
        n_sure, n_right = sum(map(len, sure)), sum(rows.count(name) for rows in sure)
        by_secret = result[name]
        assert by_secret["secret"] == (name != ranked[0])
        assert by_secret["prior"] == pytest.approx(people[name] / 1500)
        assert by_secret["highest"] == pytest.approx(max(rows.count(name) / len(rows) for rows in classes))
        assert by_secret["people"] == 10 * -(-n_sure // 10) or (n_sure < 10 and by_secret["people"] == "fewer than 10")
        assert by_secret["right"] == (round(n_right / n_sure, 2) if n_sure >= 10 else None)
    assert "no. 1<" not in page(folder).partition('id="values"')[2].partition("</section>")[0]


def test_u10_the_truth_is_not_missed_if_no_person_is_found() -> None:
    cells = {"age": [1, 1, 2, 2] * 5, "ill": ["a", "b", "a", "b"] * 4 + ["a"] * 4}
    table = Table.read(cells, quasi_identifiers="age", sensitive="ill")
    for evidence in ({"original": table}, {}):
        page = unmask.audit(table, **evidence).to_html()
        assert "Which values are found out" in page
        assert ("for the truth was not given" in page) == (not evidence)


def test_u10_the_histogram_is_of_secrets(folder: Path, tables: dict) -> None:
    people, classes, _ = counted(folder)
    most_common = people.most_common(1)[0][0]
    shares = [max((rows.count(row) for row in rows if row != most_common), default=0) / len(rows) for rows in classes]
    sizes = [len(rows) for rows in classes]
    (entry,) = [
        entry
        for entry in tables["distribution"]
        if (entry["release"], entry["adversary"], entry["target"]) == ("r", "prosecutor", "diagnosis")
    ]
    bins = np.maximum(np.searchsorted(entry["edges"], np.round(shares, 9)) - 1, 0)  # the upper edge is of a bin
    expected = np.bincount(bins, sizes, len(entry["edges"]) - 1)
    assert np.abs(np.array(entry["shares"]) - expected / 1500).max() <= 10 / 1500
    n_above = sum(size for share, size in zip(shares, sizes, strict=True) if share > 0.5)
    assert entry["above"]["0.5"] == (10 * -(-n_above // 10) if n_above >= 10 or not n_above else "fewer than 10")


def test_values_that_are_commonest_alike_are_all_secrets() -> None:
    table = Table.read({"age": [1, 1, 2, 2], "ill": ["a", "a", "b", "b"]}, quasi_identifiers="age", sensitive="ill")
    result = unmask.audit(table, smallest_shown=1).tables["values"]
    assert [(value_row["secret"], value_row["highest"], value_row["people"]) for value_row in result] == [
        (True, 1.0, 2)
    ] * 2


def test_a_missing_value_is_no_secret_and_hides_none() -> None:
    cells = {"age": [1] * 6 + [2] * 4, "ill": [""] * 6 + ["a"] * 3 + ["b"]}
    table = Table.read(cells, quasi_identifiers="age", sensitive="ill")
    result = unmask.audit(table, smallest_shown=1).tables["values"]
    assert {value_row["secret"] for value_row in result} == {True}  # nobody's stated value is the most common
    assert [value_row["highest"] for value_row in result] == [0.75, 0.25]


# --- classes ---------------------------------------------------------------------------------------------------------


def test_u11_the_riskiest_classes_of_every_target_are_listed_by_their_rows(folder: Path, tables: dict) -> None:
    people, _, rows = counted(folder)
    most_common = people.most_common(1)[0][0]
    release = read_rows(folder / "r.csv")
    risk = {"identity": {}, "diagnosis": {}}
    for class_rows in rows:
        diagnoses = [release[index]["diagnosis"] for index in class_rows]
        risk["identity"][class_rows[0]] = (1 / len(class_rows), len(class_rows))
        risk["diagnosis"][class_rows[0]] = (
            max(diagnoses.count(diagnosis) * (diagnosis != most_common) for diagnosis in diagnoses) / len(class_rows),
            len(class_rows),
        )
    for target, risks in risk.items():
        expected = sorted(risks.items(), key=lambda item: (-round(item[1][0], 9), -item[1][1], item[0]))[:5]
        classes_found = [class_row for class_row in tables["classes"] if class_row["target"] == target]
        assert [(class_row["row"], class_row["people"]) for class_row in classes_found] == [
            (row, n) for row, (_, n) in expected
        ]
        assert [class_row["probability"] for class_row in classes_found] == pytest.approx(
            [share for _, (share, _) in expected]
        )
    section = page(folder).partition('id="classes"')[2].partition("</section>")[0]
    assert all(f">{class_row['row']}<" in section for class_row in tables["classes"])


def test_u11_the_owner_finds_everybody_of_a_class_by_its_row(folder: Path, tables: dict) -> None:
    behind = [int(row["row"]) for row in read_rows(folder / "own" / "o.csv")]
    *_, rows = counted(folder)
    members = {class_rows[0]: {behind[index] for index in class_rows} for class_rows in rows}
    risky = read_rows(folder / "own" / "risk.csv")
    for class_row in (
        class_row
        for class_row in tables["classes"]
        if class_row["target"] == "diagnosis" and class_row["probability"] > 0.5
    ):
        rows_at_risk = {
            int(row["row_of_original_from_0"])
            for row in risky
            if (row["adversary"], row["target"]) == ("prosecutor", "diagnosis")
            and row["class_at_row_of_release_from_0"] == str(class_row["row"])
        }
        assert rows_at_risk == members[class_row["row"]]
    for row in risky:
        assert int(row["row_of_original_from_0"]) in members[int(row["class_at_row_of_release_from_0"])]


def test_the_riskiest_classes_are_listed_whatever_size_is_the_smallest_shown() -> None:
    rng = np.random.default_rng(3)
    home, job = rng.geometric(0.02, 600), rng.integers(0, 4, 600).astype(str)
    table = Table.read({"zip": home.astype(str), "job": job}, quasi_identifiers="zip", sensitive="job")
    sizes = sorted(np.unique(home, return_counts=True)[1].tolist())  # the smaller, the riskier
    for smallest in (1, 2, 7, sizes[-2]):
        classes_shown = unmask.audit(table, smallest_shown=smallest).tables["classes"]
        sizes_shown = [class_row["people"] for class_row in classes_shown if class_row["target"] == "identity"]
        assert sizes_shown == [n for n in sizes if n >= smallest][:5]


def test_no_class_of_few_people_is_shown() -> None:
    table = Table.read({"age": [1] * 4 + [2] * 20}, quasi_identifiers="age")
    assert [class_row["people"] for class_row in unmask.audit(table).tables["classes"]] == [20]
    assert [class_row["people"] for class_row in unmask.audit(table, smallest_shown=1).tables["classes"]] == [4, 20]


# --- columns and steps -----------------------------------------------------------------------------------------------


def test_u13_the_columns_are_ranked_by_what_they_give_on_the_original(folder: Path, tables: dict) -> None:
    _, text, _ = run(
        "choose", "columns", folder / "own" / "people.csv", "-q", "age,sex,zip", "-s", "diagnosis", "--json"
    )
    contributions = [
        {key: value for key, value in contribution.items() if key != "release"}
        for contribution in tables["contributions"]
    ]
    assert contributions == json.loads(text)["results"]
    assert {contribution["release"] for contribution in tables["contributions"]} == {"original"}
    section = page(folder).partition('id="where"')[2].partition("</section>")[0]
    assert "% of the re-identification" in section


def test_without_the_original_the_columns_of_the_release_are_ranked(folder: Path) -> None:
    code, text, _ = run("audit", folder / "r.csv", "-q", "age,sex,zip", "-s", "diagnosis", "--json")
    data = json.loads(text)["tables"]
    assert code == 0
    assert {contribution["release"] for contribution in data["contributions"]} == {"r"}
    assert "steps" not in data


def test_a_page_without_steps_says_the_same_else(folder: Path, tables: dict, tmp_path: Path) -> None:
    without_steps = audited(folder, "r.csv", "o.csv", "--report", tmp_path / "page.html", "--no-steps")
    assert "steps" not in without_steps
    assert without_steps == {name: rows_of_table for name, rows_of_table in tables.items() if name != "steps"}


def test_each_step_is_what_auditing_the_coarser_release_gives(folder: Path, tables: dict) -> None:
    own_folder = folder / "own"
    reading = {"quasi_identifiers": QUASI, "sensitive": "diagnosis", "types": {"zip": "number"}}
    people = unmask.read_table(own_folder / "people.csv", **reading)
    release = unmask.read_table(folder / "r.csv", **reading, like=people)
    origin = np.array([int(row["row"]) for row in read_rows(own_folder / "o.csv")])
    assert {step["column"] for step in tables["steps"]} == set(QUASI)
    for column in QUASI:
        mine = {step["target"]: step for step in tables["steps"] if step["column"] == column}
        level = mine["identity"]["level"]
        assert level == next_level(release.column(column), people.column(column))
        released, order = Generalize({column: level})(release)
        released.write(folder / "step.csv", force=True)
        (own_folder / "so.csv").write_text("row\n" + "".join(f"{row}\n" for row in origin[order]))
        again = audited(folder, "step.csv", "so.csv")
        rows = {
            row["target"]: row["posterior"]
            for row in again["results"]
            if (row["release"], row["adversary"], row["measure"]) == ("step", "prosecutor", "success_probability")
        }
        n_above = {
            entry["target"]: entry["above"]
            for entry in again["distribution"]
            if (entry["release"], entry["adversary"]) == ("step", "prosecutor")
        }
        assert {target: count["success"] for target, count in mine.items()} == rows
        assert mine["identity"]["above"] == n_above["identity"]["0.09"]
        assert mine["diagnosis"]["above"] == n_above["diagnosis"]["0.5"]
        assert mine["identity"]["utility"] == pytest.approx(1 - again["utility"][0]["gcp"], abs=1e-12)
        assert mine["identity"]["utility_before"] == pytest.approx(1 - tables["utility"][0]["gcp"], abs=1e-12)


def test_protecting_with_a_step_gives_what_it_announced(folder: Path, tables: dict) -> None:
    own_folder, (step, *_) = folder / "own", [step for step in tables["steps"] if step["column"] == "age"]
    options = ("-q", ",".join(QUASI), "-s", "diagnosis", "--k", 10, "--coarsen", f"age={step['level']}")
    done = run(
        "protect",
        own_folder / "people.csv",
        *options,
        "--type",
        "zip=number",
        "-o",
        folder / "c.csv",
        "--origin",
        own_folder / "c.csv",
    )
    assert done[0] == 0, done[2]
    again = audited(folder, "c.csv", "c.csv")
    (now,) = [
        result
        for result in again["results"]
        if [result[key] for key in ("release", "adversary", "target", "measure")]
        == ["c", "prosecutor", "identity", "success_probability"]
    ]
    assert step["target"] == "identity"
    assert (now["posterior"], now["gain"] > 0) == (step["success"], True)
    assert step["success"] < step["success_before"]
    assert 1 - again["utility"][0]["gcp"] == pytest.approx(step["utility"], abs=1e-12)


@pytest.mark.parametrize(
    ("coarsening", "message"),
    [("age", "expected COLUMN"), ("age=-1", "bin width"), ("job=1", "not in"), ("sex=2", "cannot be generalized")],
)
def test_a_step_that_cannot_be_made_is_refused(folder: Path, coarsening: str, message: str) -> None:
    options = ("-q", ",".join(QUASI), "-s", "diagnosis", "--coarsen", coarsening)
    code, _, err = run("protect", folder / "own" / "people.csv", *options, "-o", folder / "none.csv")
    assert (code, message in err) == (2, True), err
    assert not (folder / "none.csv").exists()


@pytest.mark.parametrize(
    ("cells", "of_type", "level"),
    [
        (["20", "21", "25"], "number", 5.0),
        (["[20, 30]", "[31, 33]"], "number", 10.0),
        (["0.5", "0.6", "0.7"], "number", 0.2),
        (["2024-03-01", "2024-03-09"], "date", "month"),
        (["2024-03", "2024-04"], "date", "quarter"),
        (["2024", "2025"], "date", "*"),
        (["2024-03-01T10:00", "2024-03-02T11:00"], "datetime", "day"),
        (["2024-03-01", "2024-03-02"], "datetime", "month"),
        (["0211*", "0213*"], "code", 2),
        (["02110", "02139"], "code", 1),
        (["red", "blue"], "text", "*"),
    ],
)
def test_a_step_is_the_next_one_of_its_ladder(cells: list[str], of_type: str, level: float | str) -> None:
    (column,) = Table.read({"c": cells}, quasi_identifiers="c", types={"c": of_type}).quasi_identifiers
    assert next_level(column, column) == level


def test_a_step_of_a_hierarchy_is_its_next_level() -> None:
    tree = unmask.tables.Hierarchy.from_paths([(leaf, leaf[0], "*") for leaf in ("a1", "a2", "b1", "b2")])
    exact = Table.read({"c": ["a1", "b1"]}, quasi_identifiers="c", hierarchies={"c": tree}).quasi_identifiers[0]
    upper = Table.read({"c": ["a", "b"]}, quasi_identifiers="c", hierarchies={"c": tree}).quasi_identifiers[0]
    assert (next_level(exact, exact), next_level(upper, exact)) == (1, "*")


def test_everything_may_be_hidden_whatever_its_type() -> None:
    table = Table.read(
        {"day": ["2024-03-01", ""], "name": ["a", "b"], "n": [1, 2]}, quasi_identifiers=["day", "name", "n"]
    )
    release, _ = Generalize({"day": "*", "name": "*", "n": "*"})(table)
    assert len(release.classes.sizes) == 1
    assert {label for column in release.quasi_identifiers for label in column.levels.labels} == {"*"}


# --- the page --------------------------------------------------------------------------------------------------------


class Rows(HTMLParser):
    """Rows of tables outside what is folded."""

    def __init__(self) -> None:
        super().__init__()
        self.folded = self.rows = 0

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        self.folded += tag == "details"
        self.rows += tag == "tr" and not self.folded

    def handle_endtag(self, tag: str) -> None:
        self.folded -= tag == "details"


def test_u21_at_most_sixty_rows_of_tables_are_not_folded(folder: Path, tables: dict) -> None:
    counted = Rows()
    counted.feed(page(folder))
    assert counted.rows <= 60


def test_every_section_says_what_it_found(folder: Path, tables: dict) -> None:
    text = page(folder)
    for name in ("people", "values", "where", "classes"):
        fold = rf'<section id="{name}">\s*<details class="fold">\s*<summary><h2>[^<]*</h2> <span>([^<]+)</span>'
        first = re.search(fold, text)
        assert first, name
        assert first[1].rstrip()[-1] == "."
        assert re.search(r"\d", first[1])


@pytest.mark.parametrize(
    ("ladder", "level", "message"),
    [
        ("number", 10.0, "in steps of 10"),
        ("date", "month", "in months"),
        ("code", 2, "2 characters hidden"),
        ("hierarchy", 1, "to level 1"),
        ("text", "*", "left out"),
    ],
)
def test_a_step_in_words(ladder: str, level: float | str, message: str) -> None:
    assert describe_level(ladder, level) == message
