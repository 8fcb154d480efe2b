"""The audit of published tables: its numbers, its command, its document, its study and what it refuses."""

import csv
import json
import shlex
from hashlib import sha256

import numpy as np
import pytest

import unmask
from tests.commands import invoke
from tests.envelopes import parsed
from unmask.aggregates import AggregateRelease, Domain, Rule, tabulate, write_release

DOMAIN = Domain({"sex": ("f", "m"), "age": ("0", "1", "2", "3"), "ill": ("n", "y")})
QUERIES = (["sex", "age"], ["age", "ill"], ["sex", "ill"])


def draw_records(seed=0, blocks=30, size=8):
    rng = np.random.default_rng(seed)
    n = blocks * size
    age = rng.choice(np.array(DOMAIN.categories["age"]), n, p=[0.4, 0.3, 0.2, 0.1])
    ill = np.where(rng.random(n) < np.where(age == "0", 0.1, 0.6), "y", "n")
    block = np.repeat([f"b{number:02}" for number in range(blocks)], size)
    return {"sex": rng.choice(np.array(["f", "m"]), n), "age": age, "ill": ill, "block": block}


def make_release(records, rule, queries=QUERIES):
    areas = tuple(np.unique(records["block"]).tolist())
    tables = [tabulate(records, columns, rule, DOMAIN, geography="block", areas=areas) for columns in queries]
    return AggregateRelease(DOMAIN, tuple(tables), "block", areas)


def rows(result, adversary="reconstructor"):
    return {(row["target"], row["measure"]): row for row in result.results if row["adversary"] == adversary}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = draw_records()
    write_release(make_release(records, Rule()), tmp_path / "published")
    with (tmp_path / "records.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(records)
        writer.writerows(zip(*records.values(), strict=True))
    return tmp_path


def test_a_table_of_all_columns_reconstructs_every_record():
    records = draw_records()
    result = unmask.audit(make_release(records, Rule(), [["sex", "age", "ill"]]), records)
    values = rows(result)
    assert values["records", "areas_reconstructed"]["posterior"] == 1.0
    assert values["records", "records_reconstructed"]["posterior"] == 1.0
    assert values["records", "records_reconstructed"]["status"] == "exact"
    (summary,) = result.tables["aggregates"]
    assert summary["certain_combinations"] == summary["certain_true"]


def test_a_table_of_one_column_has_an_adversary_who_knows_the_area_only():
    domain = Domain({"ill": ("n", "y")})
    release = AggregateRelease(domain, (tabulate({"ill": ["n", "n", "y"]}, ["ill"], Rule(), domain),))
    assert unmask.audit(release).at_risk.sentence.endswith("who knows their area")


def test_success_is_announced_as_it_is_realized_and_compared_with_the_population():
    """300 blocks: the standard error of a share is one point."""
    records = draw_records(1, blocks=300)
    for rule in (Rule(threshold=2, zeros="hidden"), Rule(base=3)):
        values = rows(unmask.audit(make_release(records, rule), records, sensitive=["ill"]))
        announced, realized = (values["ill", f"{name}"] for name in ("success_probability", "realized_success"))
        assert abs(announced["posterior"] - realized["posterior"]) < 0.03
        assert realized["status"] == "model"
        assert realized["gain"] == pytest.approx(realized["posterior"] - realized["prior"])


def test_certain_values_are_right_and_need_no_original():
    records = draw_records(2, blocks=60, size=5)
    release = make_release(records, Rule(threshold=2))
    (known,) = unmask.audit(release, records, sensitive=["ill"], smallest_shown=1).tables["aggregates_values"]
    assert known["certain"] == known["certain_true"] > 0
    (alone,) = unmask.audit(release, sensitive=["ill"], smallest_shown=1).tables["aggregates_values"]
    assert alone["certain_true"] is None
    assert alone["certain"] > 0


def test_an_original_that_contradicts_the_stated_rule_names_the_table():
    records = draw_records(3)
    exact = make_release(records, Rule())
    changed = {**records, "ill": np.where(np.arange(len(records["ill"])) == 0, "n", records["ill"])}
    changed["ill"][0] = "y" if records["ill"][0] == "n" else "n"
    result = unmask.audit(exact, changed)
    violations = {row["table"]: row["violations"] for row in result.tables["aggregates_tables"]}
    assert violations == {"sex-age": 0, "age-ill": 1, "sex-ill": 1}
    assert "contradicts the stated rule of age-ill and sex-ill" in result.sentences()[0]


def test_differences_of_nested_tables_are_reported():
    records = draw_records(4, blocks=1, size=60)
    del records["block"]
    tables = [
        tabulate(records, ["sex"], Rule(), DOMAIN, name="all"),
        tabulate(records, ["sex"], Rule(), DOMAIN, name="part", where={"age": ["0", "1", "2"]}),
    ]
    small = np.array([sum((records["sex"] == sex) & (records["age"] == "3")) for sex in ("f", "m")])
    result = unmask.audit(
        AggregateRelease(DOMAIN, tuple(tables)), records, group_size=int(small.max()), smallest_shown=1
    )
    (summary,) = result.tables["aggregates"]
    assert summary["nested_pairs"] == 1
    assert summary["small_differences"] == (small < small.max()).sum()


def test_the_command_writes_json_a_page_and_a_document(files):
    words = ("audit", "aggregates", "published", "--original", "records.csv", "--sensitive", "ill")
    done = invoke(*words, "--json")
    assert done.exit_code == 0, done.stderr
    assert parsed(done.stdout)["command"] == "audit aggregates"
    assert json.loads(done.stdout)["tables"]["aggregates_values"][0]["sensitive"] == "ill"
    (files / "unmask.toml").write_text(invoke(*words, "--as-plan").stdout)
    assert invoke("audit", "aggregates", "unmask.toml", "--json").stdout == done.stdout
    assert invoke("audit", "unmask.toml", "--json").stdout == done.stdout
    page = invoke(*words, "--report", "page.html", "--policy", "areas_reconstructed <= 0.05")
    assert page.exit_code == 3, page.stderr
    text = (files / "page.html").read_text()
    assert "Which records are reconstructed" in text
    assert "b07" not in text  # no area is named


def test_the_advised_command_protects_the_tables_of_the_release(files):
    result = unmask.audit(make_release(draw_records(), Rule()), draw_records())
    done = invoke(*shlex.split(result.advice.command.replace("RECORDS", "records.csv"))[1:])
    assert done.exit_code == 0, done.stderr
    assert {path.stem for path in (files / "published").iterdir()} <= {
        path.stem for path in (files / "protected").iterdir()
    }


def test_the_description_of_the_tables_is_a_release_and_no_document(files):
    folder = invoke("audit", "aggregates", "published", "--json")
    description = invoke("audit", "aggregates", "published/tables.toml", "--json")
    assert json.loads(description.stdout)["results"] == json.loads(folder.stdout)["results"]


def test_inputs_have_digests_of_the_tables_and_none_of_the_original(files):
    done = invoke("audit", "aggregates", "published", "--original", "records.csv", "--json")
    inputs = {entry["name"]: entry["sha256"] for entry in json.loads(done.stdout)["inputs"]}
    assert inputs.pop("records.csv") is None
    assert inputs == {path.name: sha256(path.read_bytes()).hexdigest() for path in (files / "published").iterdir()}


def test_tables_that_contradict_each_other_in_every_area_are_named(files):
    path = files / "published" / "sex-age.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *(f"{line.rpartition(',')[0]},9" for line in lines[1:])]) + "\n")
    done = invoke("audit", "aggregates", "published")
    assert done.exit_code == 2
    assert "sex-age" in done.stderr
    assert "contradict each other in every area" in done.stderr
    judged = invoke("audit", "aggregates", "published", "--original", "records.csv", "--json")
    assert judged.exit_code == 0
    assert "contradict" in json.loads(judged.stdout)["warnings"][0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("published", "--sensitive", "il"), "did you mean 'ill'"),
        (("published", "--sensitive", "ill", "--knows", "ill,sex"), "sensitive and known"),
        (("published", "--original", "tables.csv"), "does not exist"),
        (("nowhere",), "cannot be read"),
        (("records.csv",), "TOML"),
        (("sums",), "tables of counts"),
    ],
)
def test_the_command_refuses_what_does_not_fit(files, words, message):
    (files / "sums").mkdir()
    done = invoke("audit", "aggregates", *words)
    assert done.exit_code in (1, 2)
    assert message in done.stderr


def test_a_value_of_the_original_outside_the_domain_is_refused_without_its_content(files):
    text = (files / "records.csv").read_text().replace("f,0,", "SECRET,0,", 1)
    (files / "records.csv").write_text(text)
    done = invoke("audit", "aggregates", "published", "--original", "records.csv")
    assert done.exit_code == 2
    assert "SECRET" not in done.stderr
    assert "not a category of the domain" in done.stderr


def test_a_study_tabulates_records_and_attacks_the_tables(files):
    (files / "plan.toml").write_text(
        'seeds = 1\n[[data]]\nname = "blocks"\nuse = "aggregates.file"\nfile = "records.csv"\ngeography = "block"\n'
        'tables = ["sex*age", "age*ill", "sex*ill"]\n[[protections]]\nuse = "none"\n'
        '[[adversaries]]\nname = "office"\nuse = "aggregates.Reconstructor"\nsensitive = ["ill"]\n'
    )
    study = unmask.study(files / "plan.toml", files / "run")
    in_audit = rows(unmask.audit(make_release(draw_records(), Rule()), draw_records(), sensitive=["ill"]))
    in_study = {(row["target"], row["measure"]): row["posterior"] for row in study.results}
    for key in (("records", "areas_reconstructed"), ("records", "records_reconstructed"), ("ill", "realized_success")):
        assert in_study[key] == pytest.approx(in_audit[key]["posterior"])
