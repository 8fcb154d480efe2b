"""Audits of channels by a gain, by a loss with forbidden answers, and by the largest loss alone."""

import csv
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from unmask.channels import Channel, optimal_mechanism
from unmask.channels.audit import audit
from unmask.cli import main
from unmask.core.errors import UnmaskError
from unmask.measures import bayes


def draw(seed):
    """Return the prior, a channel with zeros, and gains of any sign with forbidden answers, as nested lists."""
    rng = random.Random(seed)
    n_x, n_y, n_a = rng.randint(2, 4), rng.randint(1, 4), rng.randint(1, 4)
    prior = [rng.random() + 0.01 for _ in range(n_x)]
    prior = [p / sum(prior) for p in prior]
    rows = []
    for _ in range(n_x):
        row = [rng.choice([0.0, rng.random()]) for _ in range(n_y)]
        row = row if sum(row) else [1.0] * n_y
        rows.append([p / sum(row) for p in row])
    gain = [[-math.inf if rng.random() < 0.2 else rng.uniform(-3, 3) for _ in range(n_x)] for _ in range(n_a)]
    gain.append([rng.uniform(-3, 1) for _ in range(n_x)])  # always allowed
    return prior, rows, gain


def best_gain(weights, gain):
    """Return max_a sum_x w_x g(a, x) over answers that no possible secret forbids."""
    totals = []
    for answer in gain:
        terms = [w * g for w, g in zip(weights, answer, strict=True) if w > 0]
        if not any(math.isinf(term) for term in terms):
            totals.append(sum(terms))
    return max(totals)


def expected(prior, rows, gain):
    """Return the gain without output, on average, and the largest over outputs, by loops."""
    joint = [[p * q for q in row] for p, row in zip(prior, rows, strict=True)]
    by_output = []
    for y in range(len(rows[0])):
        column = [line[y] for line in joint]
        if sum(column) > 0:
            by_output.append((sum(column), best_gain(column, gain)))
    worst = max(total / mass for mass, total in by_output)
    return best_gain(prior, gain), sum(total for _, total in by_output), worst


def row_of(result, measure):
    return next(row for row in result.rows if row.measure == measure)


@pytest.mark.parametrize("seed", range(100))
def test_gain_is_that_of_the_best_allowed_answer(seed):
    prior, rows, gain = draw(seed)
    result = audit({"c": Channel(np.array(rows), np.array(prior))}, gain=np.array(gain))
    row = row_of(result, "expected_gain")
    assert (row.prior, row.posterior, row.worst) == pytest.approx(expected(prior, rows, gain))
    assert (row.unit, row.direction) == ("gain", "high")
    assert row.gain >= -1e-9
    assert not {"success_probability", "estimation_error"} & {row.measure for row in result.rows}
    text = " ".join([result.headline, *(block.sentence for block in result.blocks)])
    assert "wrong" not in text
    assert "guess" not in text


@pytest.mark.parametrize("seed", range(100))
def test_loss_with_forbidden_answers_is_a_negative_gain(seed):
    prior, rows, gain = draw(seed)
    loss = 4.0 - np.array(gain)  # above 0; -inf becomes inf
    result = audit({"c": Channel(np.array(rows), np.array(prior))}, loss=loss)
    row = row_of(result, "estimation_error")
    before, average, worst = (4.0 - value for value in expected(prior, rows, gain))
    assert (row.prior, row.posterior, row.worst) == pytest.approx((before, average, worst))


@pytest.mark.parametrize("seed", range(100))
def test_bounds_are_dmax_times_total_variation_and_hold_for_losses(seed):
    prior, rows, _ = draw(seed)
    rng = random.Random(seed)
    dmax = rng.uniform(0.1, 5)
    channel = Channel(np.array(rows), np.array(prior))
    result = audit({"c": channel}, dmax=dmax)
    joint = [[p * q for q in row] for p, row in zip(prior, rows, strict=True)]
    masses = [sum(line[y] for line in joint) for y in range(len(rows[0]))]
    variations = [
        sum(abs(line[y] / mass - p) for line, p in zip(joint, prior, strict=True)) / 2
        for y, mass in enumerate(masses)
        if mass > 0
    ]
    mean = sum(mass * v for mass, v in zip([mass for mass in masses if mass > 0], variations, strict=True))
    reduction, regret = row_of(result, "reduction_bound"), row_of(result, "regret_bound")
    assert (reduction.posterior, reduction.worst) == pytest.approx((dmax * mean, dmax * max(variations)))
    assert (regret.posterior, regret.worst) == pytest.approx((2 * dmax * mean, 2 * dmax * max(variations)))
    loss = np.array([[rng.uniform(0, dmax) for _ in prior] for _ in range(3)])
    error = bayes(channel.posterior(), loss)
    assert error.prior - error.average <= reduction.posterior + 1e-9
    for share in result.tables["divergence_for_regret"]:
        assert math.sqrt(2 * share["t_nats"]) * dmax == pytest.approx(share["regret"])
    assert not {"estimation_error", "success_probability"} & {row.measure for row in result.rows}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {
        "channel.csv": [("", "a", "b"), ("x", 0.9, 0.1), ("y", 0.2, 0.8)],
        "gain.csv": [("", "x", "y"), ("x", 1, -2), ("y", "-inf", 3), ("none", 0, 0)],
        "samples.csv": [("secret", "output"), *[("x", "a"), ("y", "b")] * 20],
        "traces.csv": [("user", "time", "place", "shown"), *((u, t, "x", "x") for u in range(3) for t in range(3))],
        "nan.csv": [("", "x", "y"), ("x", "nan", 0)],
        "infinite.csv": [("", "x", "y"), ("x", "inf", 0)],
        "forbidden.csv": [("", "x", "y"), ("x", "-inf", 0), ("y", 0, "-inf")],
        "names.csv": [("", "u", "v"), ("x", 1, 0)],
        "text.csv": [("", "x", "y"), ("x", "much", 0)],
        "empty.csv": [],
        "loss.csv": [("", "x", "y"), ("x", 0, "inf"), ("y", 1, 0)],
        "no-loss.csv": [("", "x", "y"), ("x", 0, "inf"), ("y", "inf", 0)],
        "negative.csv": [("", "x", "y"), ("x", -1, 0)],
    }
    for name, rows in files.items():
        with Path(name).open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["audit", "channel", *arguments])


def test_command_prints_the_gain_and_gates_it(folder):
    done = run("channel.csv", "--gain", "gain.csv", "--json", "--policy", "expected_gain<=0.2")
    assert done.exit_code == 3, done.output
    row = next(row for row in json.loads(done.stdout)["results"] if row["measure"] == "expected_gain")
    # output a: x wins 0.9 - 2 * 0.2; output b: y is forbidden while x is possible, so not answering wins 0
    assert row["posterior"] == pytest.approx(0.5 * (0.9 - 0.4))
    met = run("channel.csv", "--gain", "gain.csv", "--policy", "expected_gain<=1.5", "--report", "page.html")
    assert met.exit_code == 0
    assert "expected gain" in Path("page.html").read_text()


def test_document_stores_the_gain(folder):
    Path("unmask.toml").write_text('[channel]\nchannels = ["channel.csv"]\ngain = "gain.csv"\n')
    assert run("unmask.toml", "--json").exit_code == 0
    assert json.loads(run("unmask.toml", "--json").stdout)["results"][0]["measure"] == "expected_gain"


def test_infinite_loss_excludes_an_answer(folder):
    done = run("channel.csv", "--loss", "loss.csv", "--json")
    assert done.exit_code == 0, done.output
    row = next(row for row in json.loads(done.stdout)["results"] if row["measure"] == "estimation_error")
    assert row["posterior"] == pytest.approx(0.5)  # y always: x is forbidden while y is possible
    assert "never chosen while its secret is possible" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("channel.csv", "--gain", "nan.csv"),
        ("channel.csv", "--gain", "infinite.csv"),
        ("channel.csv", "--gain", "forbidden.csv"),
        ("channel.csv", "--gain", "names.csv"),
        ("channel.csv", "--gain", "text.csv"),
        ("channel.csv", "--gain", "empty.csv"),
        ("channel.csv", "--gain", "absent.csv"),
        ("channel.csv", "--gain", "gain.csv", "--loss", "squared"),
        ("channel.csv", "--gain", "gain.csv", "--dmax", "1"),
        ("channel.csv", "--gain", "gain.csv", "--unit", "km"),
        ("samples.csv", "--gain", "gain.csv"),
        ("samples.csv", "--loss", "loss.csv"),
        ("channel.csv", "--loss", "no-loss.csv"),
        ("channel.csv", "--loss", "negative.csv"),
        ("samples.csv", "--dmax", "1"),
        ("traces.csv", "--dmax", "1"),
        ("channel.csv", "--dmax", "0"),
        ("channel.csv", "--dmax", "-1"),
        ("channel.csv", "--dmax", "nan"),
        ("channel.csv", "--dmax", "inf"),
        ("channel.csv", "--dmax", "much"),
        ("channel.csv", "--dmax", "1", "--loss", "squared"),
    ],
)
def test_malformed_input_is_one_sentence(folder, arguments):
    refused = run(*arguments, "--report", "page.html")
    assert refused.exit_code in (1, 2), refused.output
    assert isinstance(refused.exception, SystemExit)
    message = refused.stderr.strip().splitlines()[-1]
    assert message.startswith("Error: ")
    assert len(message) < 260
    assert not (folder / "page.html").exists()


def test_design_refuses_an_infinite_loss():
    with pytest.raises(UnmaskError, match="infinite"):
        optimal_mechanism([0.5, 0.5], [[0, math.inf], [1, 0]], [[0, 1], [1, 0]], 0.1)
