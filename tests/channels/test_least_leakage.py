"""The mechanism of least leakage: announced equals realized, against enumeration, and bad input in one sentence."""

import csv
import json
import math
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner

from unmask import UnmaskError
from unmask.channels.design import least_leakage
from unmask.cli import main


def unmask(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result


def information(joint, rule):
    """Return I(X; Y) in bits, term by term, of secrets x, data x' and outputs y."""
    n_secrets, n_data = joint.shape
    total = 0.0
    for x in range(n_secrets):
        for y in range(rule.shape[1]):
            shown = sum(joint[x, d] * rule[d, y] for d in range(n_data))
            output = sum(joint[z, d] * rule[d, y] for z in range(n_secrets) for d in range(n_data))
            if shown > 0:
                total += shown * math.log2(shown / (joint[x].sum() * output))
    return total


def entropy(p):
    return -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def random_joint(rng, n_secrets, n_data):
    table = rng.integers(1, 9, (n_secrets, n_data)).astype(float)
    return table / table.sum()


def test_what_is_announced_is_what_the_mechanism_leaks():
    rng = np.random.default_rng(3)
    for _ in range(6):
        n_secrets, n_data = rng.integers(2, 4, 2)
        joint, cost = random_joint(rng, n_secrets, n_data), rng.integers(0, 4, (n_data, 3)).astype(float)
        least = joint.sum(axis=0) @ cost.min(axis=1)
        budget = least + rng.random() * max(float((joint.sum(axis=0) @ cost).min()) - least, 0.05)
        design = least_leakage(joint, cost, budget)
        rule = design.channel.dense()
        assert design.leakage_bits == pytest.approx(information(joint, rule), abs=1e-7)
        assert design.distortion == pytest.approx(joint.sum(axis=0) @ (rule * cost).sum(axis=1))
        assert design.distortion <= budget + 1e-6
        assert 0 <= design.gap_bits <= 1e-5
        assert design.unprotected_bits == pytest.approx(information(joint, np.eye(n_data)), abs=1e-9)


def test_no_mechanism_of_a_fine_grid_leaks_less():
    rng = np.random.default_rng(4)
    grid = np.linspace(0, 1, 41)
    for _ in range(5):
        joint = random_joint(rng, 2, 2)
        design = least_leakage(joint, 1 - np.eye(2), 0.15)
        for a, b in product(grid, grid):
            rule = np.array([[1 - a, a], [b, 1 - b]])
            if joint.sum(axis=0) @ (rule * (1 - np.eye(2))).sum(axis=1) <= 0.15:
                assert information(joint, rule) >= design.leakage_bits - design.gap_bits - 1e-9


def test_binary_secrets_leak_what_the_formula_says():
    """1 - h(D) for a fair secret; 1 - h(f * D) for data that is the secret flipped with probability f."""
    alone = least_leakage(np.diag([0.5, 0.5]), 1 - np.eye(2), 0.1)
    flipped = least_leakage(np.array([[0.4, 0.1], [0.1, 0.4]]), 1 - np.eye(2), 0.1)
    assert alone.leakage_bits == pytest.approx(1 - entropy(0.1), abs=1e-6)
    assert flipped.leakage_bits == pytest.approx(1 - entropy(0.26), abs=1e-6)


@pytest.fixture
def joint_file(tmp_path):
    """The probability of three jobs with two incomes; the data is the income."""
    path = tmp_path / "joint.csv"
    path.write_text(",low,high\nnurse,0.3,0.1\nmayor,0.05,0.25\nnone,0.28,0.02\n")
    return path


def test_a_design_written_to_a_file_is_audited_with_the_same_leakage_and_distortion(joint_file, tmp_path):
    mechanism = tmp_path / "m.csv"
    options = ("--minimize", "leakage", "--joint", joint_file, "--budget", 0.2, "-o", mechanism, "--json")
    (design,) = json.loads(unmask("design", *options, "--curve", tmp_path / "c.csv").stdout)["results"]
    result = unmask("audit", "channel", mechanism, "--joint", joint_file, "--policy", "leakage_bits<=1", "--json")
    audited = json.loads(result.stdout)
    row = next(row for row in audited["results"] if row["measure"] == "information_gain_bits")
    assert row["posterior"] == pytest.approx(design["leakage_bits"], abs=1e-6)
    facts = audited["tables"]["channel_mechanisms"][0]
    assert facts["distortion"] == pytest.approx(design["distortion"], abs=1e-6) == pytest.approx(0.2, abs=1e-6)
    with (tmp_path / "c.csv").open(newline="") as file:
        curve = [(float(row["distortion"]), float(row["leakage_bits"])) for row in csv.DictReader(file)]
    assert len(curve) > 5
    assert np.all(np.diff([leakage for _, leakage in curve]) <= 1e-6)


def test_a_prior_makes_the_secret_the_data(tmp_path):
    (tmp_path / "prior.csv").write_text("secret,probability\na,0.5\nb,0.5\n")
    options = ("--prior", tmp_path / "prior.csv", "--budget", 0.1, "-o", tmp_path / "m.csv", "--json")
    (design,) = json.loads(unmask("design", "--minimize", "leakage", *options).stdout)["results"]
    assert design["leakage_bits"] == pytest.approx(0.531004, abs=1e-6)
    assert design["gap_bits"] <= 1e-5


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (",a,b\nx,40,10\ny,10,40\n", (), "sum to 100, expected 1, none below 0: divide percentages by 100"),
        (",a,b\nx,0.4,0.1\ny,0.1,0.1\n", (), "sum to 0.7, expected 1"),
        (",a,b\nx,0.6,-0.1\ny,0.1,0.4\n", (), "none below 0"),
        (",a,b\nx,0,0\ny,0.5,0.5\n", (), "probability 0"),
        (",a,a\nx,0.4,0.1\ny,0.1,0.4\n", (), "twice"),
        (",a,b\nx,0.4,zzz\ny,0.1,0.4\n", (), "not a number"),
        (",a,b\nx,0.4,0.1\ny,0.1,0.4\n", ("--epsilon", 1), "--epsilon does not bound the least leakage"),
        (",a,b\nx,0.4,0.1\ny,0.1,0.4\n", ("--minimize", "error"), "add --minimize leakage"),
        (",a,b\nx,0.4,0.1\ny,0.1,0.4\n", ("--loss", "squared"), "needs numbers"),
    ],
)
def test_bad_input_is_one_clear_sentence(tmp_path, content, options, sentence):
    (tmp_path / "joint.csv").write_text(content)
    fixed = ("--minimize", "leakage", "--joint", tmp_path / "joint.csv", "--budget", 0.1, "-o", tmp_path / "m.csv")
    result = unmask("design", *fixed, *options)
    assert result.exit_code in (1, 2)
    assert sentence in result.stderr
    assert not (tmp_path / "m.csv").exists()


def test_a_joint_distribution_must_be_one():
    with pytest.raises(UnmaskError, match="sums to 2"):
        least_leakage(np.eye(2), 1 - np.eye(2), 0.1)
