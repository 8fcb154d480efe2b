"""Channels that are known by counts or samples are estimated, with an interval, and never exact."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask.channels import Channel
from unmask.channels.criteria.samples import counted_information
from unmask.channels.matrix_files import read_channel, read_channel_file
from unmask.cli import main
from unmask.data.event_logs import read_lines


def run_audit(path, *options):
    done = CliRunner().invoke(main, ["audit", "channel", str(path), *map(str, options), "--json"])
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def written(path, content):
    path.write_text(content)
    return path


def bits_of(joint):
    """The mutual information of a joint distribution, cell by cell."""
    x, y = joint.sum(axis=1), joint.sum(axis=0)
    return sum(p * np.log2(p / (x[i] * y[j])) for (i, j), p in np.ndenumerate(joint) if p > 0)


COUNTS = ",a,b\nx,30,10\ny,10,30\n"


def test_counts_and_samples_and_tallied_samples_are_the_same_evidence(tmp_path):
    lines = ["x,a"] * 30 + ["x,b"] * 10 + ["y,a"] * 10 + ["y,b"] * 30
    files = (
        written(tmp_path / "counts.csv", COUNTS),
        written(tmp_path / "samples.csv", "secret,output\n" + "\n".join(lines[::-1]) + "\n"),
        written(tmp_path / "swapped.csv", "Output,Secret\n" + "".join(f"{line[2]},{line[0]}\n" for line in lines)),
        written(tmp_path / "tallied.csv", "secret,output,count\nx,a,30\ny,b,30\nx,b,10\ny,a,10\n"),
    )  # fmt: skip
    channels = [read_channel_file(path) for path in files]
    for channel in channels:
        assert channel.samples == 80
        assert np.allclose(channel.dense(), [[0.75, 0.25], [0.25, 0.75]])
        assert (channel.x_labels, channel.y_labels) == (("x", "y"), ("a", "b"))


def test_leakage_of_counts_is_corrected_and_no_row_is_exact(tmp_path):
    result = run_audit(written(tmp_path / "counts.csv", COUNTS), "--policy", "leakage_bits <= 1")
    row = next(row for row in result["results"] if row["measure"] == "leakage_bits")
    h = -(0.25 * np.log2(0.25) + 0.75 * np.log2(0.75))
    assert 0 < row["posterior"] < 1 - h < row["high"]
    assert {result["status"] for result in result["results"]} <= {"model", "refuted"}
    assert not {result["measure"] for result in result["results"]} & {"epsilon_nats", "delta_up", "delta_down"}
    assert result["tables"]["verdicts"][0]["state"] == "met"
    assert result["tables"]["samples_leakages"][0]["counted"] == pytest.approx(1 - h)


def test_equally_many_runs_of_a_system_that_leaks_nothing_show_no_leakage(tmp_path):
    rng = np.random.default_rng(5)
    table = rng.multinomial(20, np.full(10, 0.1), size=10)
    head = "," + ",".join(f"o{i}" for i in range(10))
    path = written(
        tmp_path / "c.csv", "\n".join([head, *(f"s{i}," + ",".join(map(str, row)) for i, row in enumerate(table))])
    )
    result = run_audit(path)
    row = next(row for row in result["results"] if row["measure"] == "leakage_bits")
    assert row["posterior"] < 0.05
    assert row["low"] == 0
    assert result["tables"]["samples_leakages"][0]["p_value"] > 0.05


@pytest.mark.parametrize(
    "joint",
    [
        np.full((4, 4), 1 / 16),
        np.array([[0.45, 0.05], [0.05, 0.45]]),
        np.eye(5) / 5,
        np.full((6, 6), 1 / 60) + np.eye(6) * (1 / 6 - 1 / 10),
    ],
    ids=["independent", "noisy", "identity", "mixed"],
)
def test_the_interval_of_the_leakage_covers_the_truth(joint):
    rng, inside = np.random.default_rng(7), 0
    for _ in range(100):
        counts = rng.multinomial(150, joint.ravel()).reshape(joint.shape)
        result = counted_information(counts, rng=rng, permutations=49)
        inside += result.low - 1e-9 <= bits_of(joint) <= result.high + 1e-9
    assert inside >= 90


def test_learned_adversaries_are_judged_on_samples_that_they_did_not_learn_from():
    # 40 outputs, each seen once: by resubstitution every secret is known, held out none is
    counts = np.kron(np.eye(4, dtype=int), np.ones((1, 10), dtype=int))
    rows = unmask.audit(Channel.from_counts(counts)).rows
    result = next(row for row in rows if row.adversary == "frequencies" and row.measure == "realized_success")
    assert result.n == 20
    assert result.posterior < 0.6


def test_a_hundred_million_samples_take_no_more_memory_than_their_table():
    counts = np.array([[30_000_000, 10_000_000], [10_000_000, 50_000_000]])
    rows = unmask.audit(Channel.from_counts(counts)).rows
    leakage = next(row for row in rows if row.measure == "leakage_bits")
    assert leakage.low <= bits_of(counts / counts.sum()) <= leakage.high < leakage.low + 1e-3
    success = next(row for row in rows if row.measure == "realized_success")
    assert success.low <= 0.8 <= success.high


def test_numeric_outputs_are_learned_by_the_nearest_neighbor(tmp_path):
    rng = np.random.default_rng(3)
    lines = "".join(f"s{i % 2},{5 * (i % 2) + rng.normal():.6f}\n" for i in range(200))
    result = run_audit(written(tmp_path / "times.csv", f"secret,output\n{lines}"))
    success = {r["adversary"]: r["posterior"] for r in result["results"] if r["measure"] == "realized_success"}
    assert success["nearest neighbor"] > 0.9
    assert success["frequencies"] < 0.7


def test_counts_that_sum_to_100_are_asked_about(tmp_path):
    path = written(tmp_path / "c.csv", ",a,b\nx,60,40\ny,50,50\n")
    assert CliRunner().invoke(main, ["audit", "channel", str(path)]).exit_code == 2
    assert read_channel(path, read_lines(path), "counts", None, None)[0].samples == 200


@pytest.mark.parametrize("content", ["", "secret,output\n", "secret,output\nx\n", "secret,output,count\nx,a,-1\n"])
def test_a_malformed_list_of_samples_is_one_sentence(tmp_path, content):
    path = written(tmp_path / "s.csv", content)
    done = CliRunner().invoke(main, ["audit", "channel", str(path), "--evidence", "samples"])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "secret,output" in done.stderr


def test_the_columns_of_samples_are_named(tmp_path):
    path = written(tmp_path / "s.csv", "key,time\nx,1\nx,2\ny,1\ny,2\n")
    done = CliRunner().invoke(main, ["audit", "channel", str(path)])
    assert "the secret in column 'key' and the output in column 'time'" in done.stderr


def test_a_prior_next_to_counts_is_refused(tmp_path):
    path, prior = written(tmp_path / "c.csv", COUNTS), written(tmp_path / "p.csv", "secret,p\nx,0.5\ny,0.5\n")
    done = CliRunner().invoke(main, ["audit", "channel", str(path), "--prior", str(prior)])
    assert done.exit_code == 2
    assert "leave --prior out" in done.stderr


def test_a_channel_of_whole_numbers_is_exact(tmp_path):
    assert read_channel_file(written(tmp_path / "c.csv", ",a,b\nx,1,0\ny,0,1\n")).samples is None


def test_a_loss_may_be_an_array():
    result = unmask.audit(
        Channel(np.array([[0.75, 0.25], [0.25, 0.75]])), loss=np.array([[0, 1.0], [1, 0]]), limit=False
    )
    row = next(row for row in result.rows if row.measure == "estimation_error")
    assert row.posterior == pytest.approx(0.25)
