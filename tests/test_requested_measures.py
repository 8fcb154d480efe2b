"""`--measure` and policies add measures of a belief to audits of tables and networks."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from unmask.cli import main


def unmask(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result


@pytest.fixture
def table(tmp_path):
    """Four people of one age and sex, two of another, with two diseases."""
    path = tmp_path / "release.csv"
    path.write_text("age,sex,ill\n" + "30,f,a\n" * 3 + "30,f,b\n" + "40,m,a\n40,m,b\n")
    return path


def test_a_table_has_the_measures_that_are_named(table):
    options = ("-q", "age,sex", "-s", "ill", "--smallest-shown", 1, "--json")
    measures = ("--measure", "renyi_entropy_bits:2", "--policy", "confidence_set_size_0.7>=1")
    rows = json.loads(unmask("audit", table, *options, *measures).stdout)["results"]
    taken = {(row["target"], row["measure"]): row for row in rows if row["adversary"] == "prosecutor"}
    collision = (4 * -np.log2(0.75**2 + 0.25**2) + 2 * 1) / 6
    assert taken["ill", "renyi_entropy_2_bits"]["posterior"] == pytest.approx(collision, abs=1e-5)
    assert taken["ill", "confidence_set_size_0.7"]["posterior"] == pytest.approx((4 * 1 + 2 * 2) / 6)
    assert taken["identity", "confidence_set_size_0.7"]["posterior"] == pytest.approx((4 * 3 + 2 * 2) / 6)


def test_an_engine_counts_the_same(table):
    options = ("-q", "age,sex", "-s", "ill", "--measure", "maximal_leakage_bits", "--json")
    memory, engine = (
        [
            row["posterior"]
            for row in json.loads(unmask("audit", table, *options, *more).stdout)["results"]
            if row["measure"] == "maximal_leakage_bits" and row["adversary"] == "prosecutor"
        ]
        for more in ((), ("--engine", "duckdb"))
    )
    assert memory == pytest.approx(engine, abs=1e-6)


def test_a_policy_decides_about_a_measure_on_request(table):
    options = ("audit", table, "-q", "age,sex", "-s", "ill")
    assert unmask(*options, "--policy", "ill:local_anonymity<=0.8").exit_code == 0
    missed = unmask(*options, "--policy", "ill:local_anonymity<=0.7")
    assert missed.exit_code == 3
    assert "local_anonymity is 0.75" in missed.stderr


def test_scores_have_no_measure_that_needs_probabilities(tmp_path):
    """An attack that gives scores says so by name; one that gives probabilities has a row."""
    rng = np.random.default_rng(2)
    ends = {tuple(sorted(pair)) for pair in rng.integers(0, 60, (260, 2)).tolist() if pair[0] != pair[1]}
    (tmp_path / "network.txt").write_text("".join(f"{a} {b}\n" for a, b in sorted(ends)))
    options = ("--overlap", "0.9,0.9", "--seeds", "random:10", "--runs", 1, "--attack", "Rematch,Nar09", "--json")
    measures = ("--measure", "diaz_degree", "--measure", "reiter_rubin_degree")
    result = json.loads(unmask("audit", "graph", tmp_path / "network.txt", *options, *measures).stdout)
    rows = {(row["adversary"], row["measure"]) for row in result["results"]}
    skipped = {item["what"] for item in result["not_run"]}
    attacks = {row["adversary"] for row in result["results"]}
    for attack in attacks:
        for measure in ("diaz_degree", "reiter_rubin_degree"):
            assert ((attack, measure) in rows) != (f"{measure} ({attack})" in skipped)
    assert any("diaz_degree" in item for item in skipped)


@pytest.mark.parametrize("name", ["recall", "breached", "zzz"])
def test_a_measure_of_something_else_is_one_clear_sentence(table, name):
    result = unmask("audit", table, "-q", "age,sex", "--measure", name)
    assert result.exit_code in (1, 2)
    assert "a belief has no measure" in result.stderr
