"""`unmask study`, `unmask choose`: from a plan to a protection, as a user types it."""

import duckdb
import pytest

from tests.commands import invoke
from tests.envelopes import parsed
from unmask.studies.journal import Journal

PLAN = """
seeds = 2
[[data]]
name = "census"
use = "tables.synthetic_census"
with = { n = 400 }
quasi_identifiers = ["age", "sex"]
sensitive = ["diagnosis"]
[[protections]]
use = "tables.Mondrian"
grid = { k = [2, 20] }
[[adversaries]]
name = "neighbor"
use = "tables.ClassAttack"
knows = { targets = 60 }
attacker = "case-study"
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def test_dry_run_counts_the_cells_and_writes_nothing(plan):
    done = invoke("study", "plan.toml", "-o", "run", "--dry-run", "--json")
    (row,) = parsed(done.stdout)["results"]
    assert (done.exit_code, row["cells"], row["done"]) == (0, 4, 0)
    assert row["seconds"] > 0
    assert not (plan / "run").exists()


def test_a_folder_that_another_process_works_on_keeps_its_plan(plan):
    (plan / "run").mkdir()
    (plan / "run" / "plan.toml").write_text("of the other process")
    with Journal(plan / "run" / "journal.jsonl").appending():
        done = invoke("study", "plan.toml", "-o", "run")
    assert (done.exit_code, "another process" in done.output) == (1, True)
    assert (plan / "run" / "plan.toml").read_text() == "of the other process"


def test_from_a_plan_to_a_choice(plan):
    done = invoke("study", "plan.toml", "-o", "run", "--json")
    assert (done.exit_code, parsed(done.stdout)["results"][0]["done"]) == (0, 4)
    columns = ",".join(duckdb.sql("select * from 'run/results.parquet'").columns)
    assert columns.startswith(
        "cell,dataset,protection,adversary,seed,measure,unit,prior,posterior,gain,low,high,n,status,reason"
    )
    done = invoke("choose", "run", "--policy", "success_probability<=0.06", "--json")
    assert (done.exit_code, parsed(done.stdout)["tables"]["chosen"]) == (
        0,
        [{"dataset": "census", "protection": "Mondrian k=20"}],
    )
    assert "take Mondrian k=20" in invoke("choose", "run", "--policy", "success_probability<=0.06").stdout
    done = invoke("choose", "run", "--policy", "success_probability<=0")
    assert done.exit_code == 1
    assert "no protection meets the requirements" in done.stdout
    done = invoke("study", "plan.toml", "-o", "run", "--dry-run")
    assert "4 cells, 4 done" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["study", "none.toml", "-o", "run"], 1, "none.toml"),
        (["study", "plan.toml", "-o", "plan.toml"], 1, "choose another one"),
        (["study", "plan.toml", "-o", "pipe"], 1, "choose another one"),
        (["choose", "run", "--policy", "x<=1"], 1, "unmask study"),
        (["choose", "run"], 1, "unmask study"),
        (["study", "plan.toml", "-o", "run", "--spark", "local[1]"], 1, "Spark"),
    ],
)
def test_bad_input_is_reported_in_a_sentence(plan, arguments, code, message, monkeypatch):
    (plan / "pipe").symlink_to("/dev/null")  # as /dev/stdout, a link to what is not a folder
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)
    done = invoke(*arguments)
    assert done.exit_code == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_columns_are_ranked(plan):
    (plan / "people.csv").write_text("age,sex,job\n1,f,x\n2,m,y\n3,f,x\n4,m,y\n")
    done = invoke("choose", "columns", "people.csv", "-q", "age,sex", "-s", "job", "--json")
    data = parsed(done.stdout)["results"]
    assert [(contribution["target"], contribution["column"]) for contribution in data] == [
        ("identity", "age"), ("identity", "sex"), ("job", "age"), ("job", "sex"),
    ]  # fmt: skip
    # identity: v(none) 1/4, v(sex) 1/2, v(age) 1, v(both) 1
    assert [contribution["shapley"] for contribution in data[:2]] == [0.625, 0.125]
    assert "Shapley" in invoke("choose", "columns", "people.csv", "-q", "age,sex").stdout
