"""A judgement names its coverage: of the file's people, those who are judged; below 95 % there is no verdict."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from unmask.cli import main
from unmask.policy import Condition, Policy, judge
from unmask.policy.coverage import coverage_gap, coverage_notes
from unmask.results import Row

ROW = Row(
    "r", "a", "identity", "recall", "share", "high", 0.0, 0.0, 0.0, 0.0, 0.01, "runs", 9, 9, 0.0, 1, (0.0,) * 5, "exact"
)


def covered(people: int, drawn: int, n_judged: int, **changes: object) -> Row:
    return replace(ROW, n_people=people, n_drawn=drawn, n_judged=n_judged, **changes)


def state(row: Row, condition: str) -> str:
    return judge(Policy.of([condition], title="Ours"), [row])[0].state


@given(st.integers(1, 400), st.data())
def test_a_condition_is_met_only_by_at_least_95_percent_of_the_people(people, data):
    drawn = data.draw(st.integers(1, people))
    n_judged = data.draw(st.integers(0, drawn))
    decided = n_judged * 100 >= drawn * 95
    assert state(covered(people, drawn, n_judged), "recall <= 0.05") == ("acceptable" if decided else "not decided")


@given(st.integers(1, 400), st.data())
def test_the_worst_off_of_a_random_sample_is_not_that_of_all_people(people, data):
    drawn = data.draw(st.integers(1, people))
    row = covered(people, drawn, drawn)
    enough = drawn * 100 >= people * 95
    assert (state(row, "recall.worst <= 0.5") == "acceptable") is enough
    assert (state(row, "recall.q95 <= 0.5") == "acceptable") is enough
    assert (state(replace(row, low=None, high=None), "recall <= 0.5") == "acceptable") is enough


def test_a_worst_off_person_above_the_limit_stays_so_whoever_else_is_judged():
    assert state(covered(100, 10, 5, worst=0.9), "recall.worst <= 0.5") == "not acceptable"


def test_a_number_about_no_people_of_a_file_needs_no_coverage():
    assert coverage_gap(Condition.parse("recall <= 0.5"), ROW) == ""
    assert state(ROW, "recall <= 0.5") == "acceptable"


@given(st.integers(1, 300), st.data())
def test_no_sentence_on_coverage_states_one_to_nine_people(people, data):
    drawn = data.draw(st.integers(1, people))
    row = covered(people, drawn, data.draw(st.integers(0, drawn)), low=None)
    notes = [*coverage_notes([row]), *(coverage_gap(Condition.parse(f"recall{f} <= 0.5"), row) for f in ("", ".worst"))]
    sentences = " ".join(notes).lower().replace("fewer than 10", "").replace("95 %", "")
    counts = [int(word) for word in sentences.replace(",", "").replace(":", "").split() if word.isdecimal()]
    assert not any(0 < count < 10 or 0 < people - count < 10 for count in counts if count not in (people, drawn))


# --- networks -------------------------------------------------------------------------------------------------------


def edges_of(*sizes: int, seed: int = 3) -> list[tuple[int, int]]:
    """Separate groups of people, of these sizes, each connected."""
    rng, first, edges = np.random.default_rng(seed), 0, []
    for size in sizes:
        edges += [(first + i, first + int(rng.integers(0, i))) for i in range(1, size)]
        edges += [tuple(first + rng.choice(size, 2, replace=False)) for _ in range(3 * size)]
        first += size
    return sorted({(min(pair), max(pair)) for pair in edges})


@pytest.fixture
def schools(tmp_path):
    """A file of five separate groups, one of them larger."""
    path = tmp_path / "schools.txt"
    path.write_text("".join(f"{a} {b}\n" for a, b in edges_of(100, 50, 50, 50, 50)))
    return path


def audited(*words: object) -> tuple[int, dict, str]:
    done = CliRunner().invoke(main, ["audit", *map(str, words), "--json"])
    assert done.stdout, done.stderr
    return done.exit_code, json.loads(done.stdout), done.stderr


OVERLAP = ("--overlap", "0.9,0.9", "--seeds", "random:20", "--attack", "Nar09", "--runs", "1")


def test_an_overlap_judges_the_people_of_every_component(schools):
    code, result, _ = audited("graph", schools, *OVERLAP, "--policy", "recall <= 1")
    row = next(row for row in result["results"] if row["measure"] == "recall")
    assert (row["n_people"], row["n_drawn"], row["n_judged"], row["n"], code) == (300, 270, 270, 250, 0)
    assert any("270 of 300 people in the file are judged" in warning for warning in result["warnings"])


def test_a_cut_to_the_largest_component_gives_no_verdict(schools):
    code, result, stderr = audited("graph", schools, *OVERLAP, "--largest-component", "--policy", "recall <= 1")
    row = next(row for row in result["results"] if row["measure"] == "recall")
    assert code == 3
    assert row["n_judged"] <= 100
    assert result["tables"]["verdicts"][0]["state"] == "untested"
    assert "95 %" in stderr
    assert any("there is no verdict" in warning for warning in result["warnings"])


@pytest.mark.parametrize(("options", "decided"), [((), False), (("--truth-sampled",), True)])
def test_a_partial_truth_decides_only_as_a_random_sample(schools, tmp_path, options, decided):
    truth, aux = tmp_path / "truth.csv", tmp_path / "aux.txt"
    aux.write_text(schools.read_text())
    truth.write_text("auxiliary,release\n" + "".join(f"{i},{i}\n" for i in range(0, 300, 2)))
    seeds = ("--seeds", "random:20", "--attack", "Nar09", "--runs", "2")
    options_known = ("--auxiliary", aux, "--truth", truth, "--truth-partial", *options)
    code, result, _ = audited("graph", schools, *options_known, *seeds, "--policy", "recall <= 1")
    assert code == (0 if decided else 3)
    assert result["tables"]["verdicts"][0]["state"] == ("met" if decided else "untested")
    full = ("--auxiliary", aux, "--truth", truth)
    assert audited("graph", schools, *full, *seeds, "--policy", "recall <= 1")[0] == 0


# --- tables ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def people(tmp_path):
    """Return 100 people in groups of ten; 20 have no age."""
    path = tmp_path / "people.csv"
    ages = ["" if i < 20 else str(20 + i // 10) for i in range(100)]
    path.write_text("age,sex,ill\n" + "".join(f"{age},{i % 2},{i % 3}\n" for i, age in enumerate(ages)))
    return path


ROLES = ("-q", "age,sex", "-s", "ill", "--policy", "identity:success_probability <= 0.5")


@pytest.mark.parametrize("engine", [(), ("--engine", "duckdb")])
def test_rows_that_the_rule_for_missing_cells_leaves_out_are_people_who_are_not_judged(people, engine):
    code, result, _ = audited(people, *ROLES, "--missing", "excluded", *engine)
    assert code == 3
    assert {line["state"] for line in result["tables"]["verdicts"]} == {"untested"}
    assert any("80 of 100 people in the file are judged" in warning for warning in result["warnings"])
    assert audited(people, *ROLES)[0] == 0


def test_sampled_targets_decide_on_their_mean_and_not_on_the_worst_off(people, tmp_path):
    origin = tmp_path / "origin.csv"
    origin.write_text("origin\n" + "".join(f"{i}\n" for i in range(100)))
    drawn = ("--original", people, "--origin", origin, "--targets", "40")
    code, result, _ = audited(
        people,
        *ROLES[:4],
        *drawn,
        "--policy",
        "prosecutor:identity:success_probability <= 0.5",
        "--policy",
        "prosecutor:identity:success_probability.worst <= 0.5",
    )
    lines = {line["condition"]: line["state"] for line in result["tables"]["verdicts"]}
    assert code == 3
    assert lines["prosecutor:identity:success_probability<=0.5"] == "met"
    assert lines["prosecutor:identity:success_probability.worst<=0.5"] == "untested"


# --- linkage --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [(), ("--engine", "duckdb")])
@pytest.mark.parametrize(
    ("options", "n_judged"),
    [
        (("--unlabeled", "foreign"), 60),
        (("--unlabeled", "unknown"), 60),
        (("--unlabeled", "drop"), 60),
        (("--unlabeled", "foreign", "--truth-sampled"), 60),
    ],
)
def test_items_without_a_subject_are_not_judged(tmp_path, options, n_judged, engine):
    truth, guess = tmp_path / "truth.csv", tmp_path / "guess.csv"
    truth.write_text("item,subject\n" + "".join(f"{i},{i // 2}\n" for i in range(60)))
    guess.write_text("item,cluster\n" + "".join(f"{i},{i // 3}\n" for i in range(100)))
    words = ("linkage", "--truth", truth, "--guess", guess, *options, *engine, "--policy", "breached <= 1")
    code, result, _ = audited(*words)
    row = next(row for row in result["results"] if row["measure"] == "breached")
    sampled = "--truth-sampled" in options
    assert (row["n_people"], row["n_judged"], row["n_drawn"]) == (100, n_judged, 60 if sampled else 100)
    assert code == (0 if sampled else 3)


def test_subjects_below_the_smallest_size_are_not_judged_and_single_items_are(tmp_path):
    truth, guess = tmp_path / "truth.csv", tmp_path / "guess.csv"
    owners = [f"pair{i // 2}" for i in range(40)] + ["big"] * 60 + [f"single{i}" for i in range(5)]
    for path, name in ((truth, "subject"), (guess, "cluster")):
        path.write_text(f"item,{name}\n" + "".join(f"{i},{owner}\n" for i, owner in enumerate(owners)))
    words = ("linkage", "--truth", truth, "--guess", guess, "--policy", "breached <= 1")
    assert audited(*words)[0] == 0
    code, result, _ = audited(*words, "--min-size", "3")
    row = next(row for row in result["results"] if row["measure"] == "breached")
    assert (code, row["n_judged"], row["n_people"]) == (3, 6, 26)


# --- studies --------------------------------------------------------------------------------------------------------

PLAN = """
seeds = 2
[[data]]
use = "tables.synthetic_census"
with = {{ n = 200 }}
columns = {{ age = "quasi-identifier", zip = "quasi-identifier", diagnosis = "sensitive" }}
[[protections]]
use = "tables.Mondrian"
with = {{ k = 5 }}
[[adversaries]]
name = "neighbor"
use = "tables.ClassAttack"
knows = {{ targets = {targets} }}
[[policy]]
require = "success_probability.worst <= 0.9"
"""


@pytest.mark.parametrize(("targets", "decided"), [(50, False), (200, True)])
def test_a_study_of_sampled_people_decides_nothing_of_the_worst_off(tmp_path, targets, decided):
    plan, run = tmp_path / "plan.toml", str(tmp_path / "run")
    plan.write_text(PLAN.format(targets=targets))
    assert CliRunner().invoke(main, ["study", str(plan), "-o", run]).exit_code == 0
    report = json.loads(CliRunner().invoke(main, ["report", run, "--json"]).stdout)
    (line,) = report["tables"]["verdicts"]
    assert line["state"] == ("met" if decided else "untested")
    page = tmp_path / "page.html"
    assert CliRunner().invoke(main, ["report", run, "-o", str(page)]).exit_code == 0
    assert ("50 of 200 people in the file are judged" in page.read_text(encoding="utf-8")) is not decided
    (chosen,) = json.loads(CliRunner().invoke(main, ["choose", run, "--json"]).stdout)["results"]
    assert (not chosen["failures"]) is decided
    assert all("others may be worse off" in failure for failure in chosen["failures"])
