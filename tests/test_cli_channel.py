"""`unmask audit channel`, `unmask design` and `unmask advise`: figures, files, and bad input in one sentence."""

import csv
import gzip
import html
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import chdir
from pathlib import Path

import duckdb
import numpy as np
import pytest

from tests.commands import invoke, read_page
from tests.envelopes import parsed
from unmask.channels import Channel, Coin, PlanarLaplace, RandomizedResponse, optimal_mechanism
from unmask.channels.audit import audit_channels
from unmask.channels.datasets import grid
from unmask.channels.loss_model import LossModel
from unmask.measures.error import bayes
from unmask.measures.losses import LOSS_NAMES, as_matrix

PRIOR = {"1": 0.2, "2": 0.5, "3": 0.3}


@pytest.fixture
def prior(tmp_path):
    path = tmp_path / "prior.csv"
    path.write_text("secret,p\n" + "".join(f"{name},{p}\n" for name, p in PRIOR.items()))
    return path


def write(path, table, names=tuple(PRIOR), columns=None):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["", *(columns or (f"out{j}" for j in range(len(table[0]))))])
        writer.writerows([name, *row] for name, row in zip(names, table, strict=True))
    return path


def read(path):
    rows = list(csv.reader(path.read_text().splitlines()))
    return np.array([[float(cell) for cell in row[1:]] for row in rows[1:]])


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_an_audit_takes_every_loss_that_has_a_name(tmp_path, loss):
    channel, places = np.array([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]), [[48, 11], [49, 12], [50, 10.5]]
    written = write(tmp_path / "channel.csv", channel)
    places_file = write(tmp_path / "places.csv", places)
    done = invoke("audit", "channel", written, "--loss", loss, "--coordinates", places_file, "--json", "--no-limit")
    (row,) = (row for row in parsed(done.stdout)["results"] if row["measure"] == "estimation_error")
    by_hand = bayes(Channel(channel).posterior(), loss, coordinates=np.array(places, dtype=float))
    assert row["posterior"] == pytest.approx(by_hand.average, rel=1e-9)
    assert row["unit"] == ("probability" if loss == "hamming" else "m" if "haversine" in loss else row["unit"])


def test_an_audit_tells_what_the_library_says(tmp_path, prior):
    table = [[0.8, 0.2], [0.3, 0.7], [0.0, 1.0]]
    data = parsed(invoke("audit", "channel", write(tmp_path / "c.csv", table), "--prior", prior, "--json").stdout)
    error = bayes(Channel(np.array(table), np.array(list(PRIOR.values()))).posterior())
    (row_shown,) = data["tables"]["channel_mechanisms"]
    assert row_shown["privacy"] == pytest.approx(error.average)
    assert row_shown["worst"] == pytest.approx(error.worst)
    assert row_shown["epsilon"] == "Infinity"
    assert data["tables"]["channel"][0]["prior_error"] == pytest.approx(0.5)
    assert any("no distortion is known" in entry["why"] for entry in data["not_run"])


def test_the_next_command_of_a_design_is_about_the_same_loss(tmp_path, prior):
    places_file = write(tmp_path / "places.csv", [[0, 0], [100, 0], [0, 300]])
    matrix_file, loss_options = tmp_path / "m.csv", ("--loss", "euclidean", "--coordinates", places_file)
    done = invoke("design", "--prior", prior, *loss_options, "--budget", 50, "-o", matrix_file)
    (following,) = (line for line in done.stderr.splitlines() if line.startswith("next: "))
    words = shlex.split(following.removeprefix("next: unmask "))
    options = {word: words[index + 1] for index, word in enumerate(words) if word.startswith("--")}
    known = {"--prior": prior, "--loss": "euclidean", "--coordinates": places_file}
    assert options == {name: str(value) for name, value in known.items()}
    rows = parsed(invoke(*words, "--json").stdout)["results"]
    privacy = next(row["posterior"] for row in rows if row["measure"] == "estimation_error")
    assert f"privacy {privacy:.6g} of" in done.stderr
    plain = invoke("design", "--prior", prior, "--budget", 0.2, "-o", matrix_file, "--force").stderr
    assert "--loss" not in plain


@pytest.mark.parametrize(
    ("table", "loss", "says"),
    [
        ([[0.5, 0.4, 0.1], [0.4, 0.5, 0.1], [0.1, 0.4, 0.5]], "absolute", "At the same distortion"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], "hamming", "No mechanism is better"),
        ([[0.8, 0.2, 0], [0, 1, 0], [0, 0.2, 0.8]], "hamming", "No mechanism is better"),
        ([[0.5, 0.4, 0.1], [0.4, 0.5, 0.1], [0.1, 0.4, 0.5]], "euclidean", "At the same distortion"),
    ],
)
def test_the_design_that_a_page_advises_runs_and_leaves_more(tmp_path, prior, table, loss, says):
    places = write(tmp_path / "places.csv", [[0, 0], [0, 1], [2, 0]], columns=["x", "y"])
    channel = write(tmp_path / "c.csv", table, columns=PRIOR)
    stakes = ["--loss", loss, *(["--coordinates", places] if loss == "euclidean" else [])]
    invoke("audit", "channel", channel, "--prior", prior, *stakes, "--report", tmp_path / "page.html")
    page = read_page((tmp_path / "page.html").read_text())
    (command,) = re.findall(r"unmask (design [^<]*)<", page)
    assert says in page
    assert ("--coordinates" in command) == (loss == "euclidean")
    with chdir(tmp_path):
        invoke(*shlex.split(command))
        result = invoke("audit", "channel", "c.csv", "mechanism.csv", "--prior", prior, *stakes, "--json")
    error_rows = [row for row in parsed(result.stdout)["results"] if row["measure"] == "estimation_error"]
    error_before, after = (row["posterior"] for row in error_rows if row["adversary"] == "eavesdropper")
    assert after > error_before + 0.01


def test_if_nothing_more_can_be_hidden_no_design_is_advised(tmp_path, prior):
    channel = write(tmp_path / "c.csv", [[0.2, 0.5, 0.3]] * 3, columns=PRIOR)
    invoke("audit", "channel", channel, "--prior", prior, "--report", tmp_path / "page.html")
    assert "unmask design" not in read_page((tmp_path / "page.html").read_text())


def test_the_prior_may_name_the_secrets_in_another_order(tmp_path, prior):
    path = write(tmp_path / "c.csv", [[0.8, 0.2], [0.3, 0.7], [0.1, 0.9]])
    turned = tmp_path / "turned.csv"
    turned.write_text("secret,p\n3,0.3\n1,0.2\n2,0.5\n")
    plain, with_prior = (
        parsed(invoke("audit", "channel", path, "--prior", file, "--json").stdout)["tables"]["channel_mechanisms"]
        for file in (prior, turned)
    )
    assert plain == with_prior


def test_losses_by_name_and_by_file(tmp_path, prior):
    path = write(tmp_path / "c.csv", np.eye(3) * 0.4 + 0.2)
    loss = write(tmp_path / "absolute.csv", [[2, 0, 1], [1, 1, 0], [0, 2, 1]], columns=("3", "1", "2"))
    by_name = parsed(invoke("audit", "channel", path, "--prior", prior, "--loss", "absolute", "--json").stdout)
    by_file = parsed(invoke("audit", "channel", path, "--prior", prior, "--loss", loss, "--json").stdout)
    first, second = (data["tables"]["channel_mechanisms"][0]["privacy"] for data in (by_name, by_file))
    assert first == pytest.approx(second)


def test_files_are_matched_by_name_never_by_position(tmp_path, prior):
    plain = write(tmp_path / "c.csv", [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]], columns=("1", "2", "3"))
    turned = write(
        tmp_path / "t.csv", [[0.6, 0.3, 0.1], [0.1, 0.7, 0.2], [0.1, 0.1, 0.8]], names=("3", "1", "2"), columns="312"
    )
    data = parsed(invoke("audit", "channel", plain, turned, "--prior", prior, "--loss", "absolute", "--json").stdout)
    first, second = data["tables"]["channel_mechanisms"]
    for name in ("distortion", "privacy", "worst", "leakage_bits", "epsilon"):
        assert first[name] == pytest.approx(second[name], abs=1e-6)
    other_file = write(tmp_path / "o.csv", np.eye(3).tolist(), names=("x", "y", "z"))
    assert "other secrets" in invoke("audit", "channel", plain, other_file).stderr
    assert "twice" in invoke("audit", "channel", plain, plain).stderr


def test_a_distortion_file_means_the_same_to_design_and_audit(tmp_path, prior):
    cost = write(tmp_path / "d.csv", [[0, 1, 5], [2, 0, 1], [1, 4, 0]], columns=("1", "2", "3"))
    matrix_file = tmp_path / "m.csv"
    data = parsed(
        invoke("design", "--prior", prior, "--distortion", cost, "--budget", 0.4, "-o", matrix_file, "--json").stdout
    )
    (data,) = data["results"]
    audited = invoke("audit", "channel", matrix_file, "--prior", prior, "--distortion", cost, "--no-limit", "--json")
    assert parsed(audited.stdout)["tables"]["channel_mechanisms"][0]["distortion"] == pytest.approx(data["distortion"])
    same_file_twice = invoke(
        "design", "--prior", prior, "--budget", 0.2, "-o", tmp_path / "x.csv", "--curve", tmp_path / "x.csv"
    )
    assert same_file_twice.exit_code == 2
    assert not (tmp_path / "x.csv").exists()


def test_a_design_is_what_it_says_and_nothing_passes_the_limit(tmp_path, prior):
    matrix_file, curve = tmp_path / "m.csv", tmp_path / "curve.csv"
    done = invoke(
        "design", "--prior", prior, "--distortion", "absolute", "--budget", 0.35, "--epsilon", 2, "-o", matrix_file,
        "--curve", curve, "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    (data,), table, p = parsed(done.stdout)["results"], read(matrix_file), np.array(list(PRIOR.values()))
    line = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    assert (p[:, None] * table * line).sum() == pytest.approx(data["distortion"]) == pytest.approx(0.35)
    used = table[:, table.max(axis=0) > 0]
    assert (used.max(axis=0) / used.min(axis=0)).max() <= math.exp(2) * (1 + 1e-6)
    assert data["privacy"] == pytest.approx(1 - (p[:, None] * table).max(axis=0).sum())
    points = [list(map(float, row)) for row in list(csv.reader(curve.read_text().splitlines()))[1:]]
    assert [row[1] for row in points] == sorted(row[1] for row in points)
    audited = parsed(invoke("audit", "channel", matrix_file, "--prior", prior, "--json").stdout)["tables"]
    assert audited["channel_mechanisms"][0]["privacy"] == pytest.approx(data["privacy"], abs=1e-6)


def test_files_are_not_overwritten_and_nothing_is_half_written(tmp_path, prior):
    matrix_file = tmp_path / "m.csv"
    matrix_file.write_text("mine")
    assert invoke("design", "--prior", prior, "--budget", 0.2, "-o", matrix_file).exit_code == 2
    assert matrix_file.read_text() == "mine"
    refused = invoke("design", "--prior", prior, "--budget", 0.01, "--epsilon", 0.5, "-o", tmp_path / "n.csv")
    assert refused.exit_code == 2
    assert "expected at least 0.5" in refused.stderr
    assert not (tmp_path / "n.csv").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no numbers"),
        (",a,b\n1,0.5,0.6\n", "sum to 1.1, expected 1: give every probability"),
        (",a,b\n1,0.5,0.5\n2,0.1,0.6\n", "of secret number 2 in bad.csv sum to 0.7"),
        (",a,b\n1,0,0\n2,0,1\n", "row 0"),
        (",a,b\n1,0,0\n2,0,0.9\n", "leave that secret out"),
        (",a,b\n1,50,50\n2,10,90\n", "--evidence counts"),
        (",a,b\n1,50.5,49.5\n2,10,90\n", "divide percentages by 100"),
        (",a,b\n1,0.7,0.3\n2,0.1,0.8\n", "give every output"),
        ("a,b,c\n5,3,2\n1,4,5\n", "empty cell"),
        ("a,b,c\n0.5,0.3,0.2\n0.1,0.4,0.5\n", "empty cell"),
        ("s,x\ns,x\ns,y\nt,x\n", "no line of column names"),
        (",a,b\n1,0.35,0.15\n2,0.05,0.45\n", "the whole file does"),
        (",a,b,c\n1,0.7,0.1,0.3\n2,0.3,0.9,0.7\n", "its columns do"),
        (",a,a\n1,0.5,0.5\n2,0.1,0.9\n", "names a column twice"),
        ("0.6,0.3,0.1\n0,0.5,0.5\n0.0,1,0\n", "begin the first line with an empty cell"),
        (",a,b\n1,0.5,0.5\n2,nan,1\n", "line 3"),
        (",a,b\n1,-0.5,1.5\n", "line 2"),
        (",a,b\n1,0.5\n", "line 2"),
        (",a,b\n1,0.5,much\n", "line 2"),
        (",a,b\n1,1,0\n1,0,1\n", "twice"),
    ],
)
def test_a_bad_channel_is_one_sentence(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    done = invoke("audit", "channel", path)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_coordinates_are_needed_for_names_that_are_no_numbers(tmp_path):
    path = write(tmp_path / "c.csv", np.eye(3), names=("home", "work", "gym"))
    assert "--coordinates" in invoke("audit", "channel", path, "--loss", "euclidean").stderr
    places = tmp_path / "places.csv"
    places.write_text("place,x,y\ngym,0,0\nhome,3,4\nwork,0,1\n")
    data = parsed(invoke("audit", "channel", path, "--loss", "euclidean", "--coordinates", places, "--json").stdout)
    assert data["tables"]["channel_mechanisms"][0]["privacy"] == pytest.approx(0, abs=1e-9)
    assert data["tables"]["channel"][0]["prior_error"] == pytest.approx((1 + math.hypot(3, 3)) / 3, abs=1e-6)


def test_a_study_compares_mechanisms_below_their_limit(tmp_path):
    places = grid(4, 4, 1.0)
    prior = np.random.default_rng(0).dirichlet(np.full(16, 0.7))
    loss = as_matrix("euclidean", 16, coordinates=places.points)
    channels = {f"laplace {e}": PlanarLaplace(e).channel(places, prior) for e in (0.5, 2.0)}
    channels["coin"] = Coin(0.5).channel(prior, loss=loss)
    model = LossModel(loss, name="euclidean", unit="km", distortion_unit="km")
    result = audit_channels(channels, model)
    prior_error = result.table("channel").rows[0]["prior_error"]
    mechanisms = result.table("channel_mechanisms").rows
    for row in mechanisms:
        assert row["privacy"] <= min(row["distortion"], prior_error) + 1e-9
        assert row["worst"] <= row["privacy"] + 1e-9
        assert row["privacy"] - 1e-9 <= row["error_gibbs"] <= 2 * row["privacy"] + 1e-9
    assert mechanisms[0]["leakage_bits"] < mechanisms[1]["leakage_bits"]
    for row in result.table("channel_bounds").rows:
        assert row["truth"] <= row["bound"] + 1e-6


def test_the_page_of_a_study_advises_a_condition_that_channels_have_and_says_meters(tmp_path):
    document = tmp_path / "plan.toml"
    document.write_text(
        'title = "Town"\n[data]\nuse = "channels.grid"\nwith = { n = 3, size = 1000.0 }\n'
        '[[protections]]\nuse = "channels.PlanarLaplace"\nwith = { epsilon = 0.001 }\n'
        '[[adversaries]]\nuse = "channels.BayesChannelAttack"\nloss = "euclidean"\n'
    )
    assert invoke("study", document, "-o", tmp_path / "run").exit_code == 0
    assert invoke("report", tmp_path / "run", "-o", tmp_path / "page.html").exit_code == 0
    page = html.unescape(read_page((tmp_path / "page.html").read_text()))
    condition = re.search(r'choose RESULTS --policy "([^"]+)NUMBER"', page)[1]
    assert invoke("choose", tmp_path / "run", "--policy", f"{condition}10").exit_code == 0
    assert re.search(r"\d\u00a0m<", page)


def test_leakage_is_in_bits():
    result = audit_channels({"fair": RandomizedResponse(1e-9, 2).channel(), "open": Channel(np.eye(2))})
    assert result.table("channel_mechanisms").values("leakage_bits") == pytest.approx([0, 1], abs=1e-6)


def test_advice_answers_flags_and_asks_for_the_rest():
    data = parsed(invoke("advise", "--what", "identity", "--json").stdout)
    assert data["results"][0]["worst"] == "min_entropy_bits"
    advised = invoke("advise", answers="attribute\ngraded\none\n")
    assert advised.exit_code == 0
    assert "worst case: estimation_error.worst" in advised.stdout
    assert "given by: Python: unmask.measures" in advised.stdout
    refused = invoke("advise", "--what", "sender", "--loss", "graded", "--observations", "one", "--rank-by", "entropy")
    assert refused.exit_code == 2
    assert "cannot be ranked" in refused.stderr


def run_json(*arguments):
    done = invoke(*arguments, "--json")
    assert done.exit_code == 0, done.stderr
    data = parsed(done.stdout)
    if not data["tables"]:
        return data["results"][0]
    return {name.removeprefix("channel_"): rows for name, rows in data["tables"].items()} | data["tables"]["channel"][0]


@pytest.fixture
def places(tmp_path):
    path = tmp_path / "places.csv"
    path.write_text("place,east,north\nsouth,0,0\nnorth,0,1000\n")
    return path


def test_c1_all_coordinates_count_under_squared_and_absolute_loss(tmp_path, places):
    channel = write(
        tmp_path / "sn.csv", [[0.75, 0.25], [0.25, 0.75]], names=("south", "north"), columns=("south", "north")
    )
    for loss, prior_error, privacy in (("squared", 250_000, 187_500), ("absolute", 500, 250), ("euclidean", 500, 250)):
        result = run_json("audit", "channel", channel, "--loss", loss, "--coordinates", places)
        assert result["prior_error"] == pytest.approx(prior_error)
        assert result["mechanisms"][0]["privacy"] == pytest.approx(privacy)
        assert result["mechanisms"][0]["distortion"] == pytest.approx(0.25 * (1000**2 if loss == "squared" else 1000))
    prior = tmp_path / "p.csv"
    prior.write_text("place,p\nsouth,0.5\nnorth,0.5\n")
    options = ("--prior", prior, "--distortion", "squared", "--coordinates", places, "-o", tmp_path / "m.csv")
    result = run_json("design", *options, "--loss", "hamming", "--budget", 1)
    assert result["distortion"] == pytest.approx(1)
    assert result["privacy"] == pytest.approx(1e-6)  # one move of 1,000 squared in a million


def test_c2_the_best_adversary_answers_anything_that_the_loss_allows(tmp_path):
    channel = write(tmp_path / "rr.csv", [[0.75, 0.25], [0.25, 0.75]], names=("0", "1"), columns=("0", "1"))
    result = run_json("audit", "channel", channel, "--loss", "squared")
    (row_shown,) = result["mechanisms"]
    assert (result["prior_error"], row_shown["privacy"]) == pytest.approx((0.25, 0.1875))  # variances of 1/2 and 3/4
    assert row_shown["error_gibbs"] == pytest.approx(2 * row_shown["privacy"])
    assert [item["answer"] for item in result["per_observation"]] == ["0.25", "0.75"]
    assert all(point["error"] <= 0.25 + 1e-6 for point in result["limit"])


def test_c2_a_design_stands_against_answers_between_the_secrets(tmp_path):
    prior = tmp_path / "p.csv"
    prior.write_text("secret,p\n0,0.5\n10,0.5\n")
    result = run_json("design", "--prior", prior, "--loss", "squared", "--budget", 200, "-o", tmp_path / "m.csv")
    assert result["prior_error"] == pytest.approx(25)
    assert result["privacy"] == pytest.approx(25, abs=1e-4)  # 5 always costs 25
    assert result["gap"] <= 1e-4
    audited = run_json("audit", "channel", tmp_path / "m.csv", "--prior", prior, "--loss", "squared", "--no-limit")
    assert audited["mechanisms"][0]["privacy"] == pytest.approx(result["privacy"], abs=1e-6)


def test_the_most_exposed_secret_is_named(tmp_path):
    names = ("none", "cold", "HIV")
    rows = [[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.0, 0.2, 0.8]]
    channel = write(tmp_path / "c.csv", rows, names=names, columns=names)
    prior = tmp_path / "p.csv"
    prior.write_text("secret,p\nnone,0.7\ncold,0.29\nHIV,0.01\n")
    page = tmp_path / "page.html"
    result = run_json("audit", "channel", channel, "--prior", prior, "--report", page)
    first = result["per_secret"][0]
    success = 0.2 * 0.01 * 0.2 / (0.7 * 0.1 + 0.29 * 0.6 + 0.01 * 0.2) + 0.8  # only HIV is shown as HIV
    assert (first["secret"], first["prior"]) == ("HIV", pytest.approx(0.01))
    assert first["belief"] == pytest.approx(success, abs=1e-6)
    assert result["worst_off"] == 1
    assert (
        "is the mean belief in the most exposed secret, HIV, if it is the true one; 1.0\u00a0% without any output"
        in page.read_text()
    )


def test_without_leakage_no_secret_is_worst_off(tmp_path):
    channel = write(tmp_path / "c.csv", [[0.5, 0.5], [0.5, 0.5]], names=("a", "b"), columns=("a", "b"))
    prior = tmp_path / "p.csv"
    prior.write_text("secret,p\na,0.9\nb,0.1\n")
    page = tmp_path / "page.html"
    run_json("audit", "channel", channel, "--prior", prior, "--report", page)
    assert "<strong>No secret</strong> is known any better" in page.read_text()


def test_if_every_secret_is_exposed_equally_none_is_named(tmp_path):
    channel = write(tmp_path / "rr.csv", [[0.75, 0.25], [0.25, 0.75]], names=("0", "1"), columns=("0", "1"))
    page = tmp_path / "page.html"
    assert run_json("audit", "channel", channel, "--report", page)["worst_off"] == 2
    assert "is the mean belief in the true secret; 50.0\u00a0% without" in page.read_text()


def test_c3_a_loss_file_is_matched_by_the_names_of_its_lines(tmp_path):
    names = ("low", "mid", "high")
    channel = write(tmp_path / "c.csv", [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.0, 0.1, 0.9]], names=names, columns=names)
    prior = tmp_path / "p.csv"
    prior.write_text("secret,p\nlow,0.6\nmid,0.3\nhigh,0.1\n")
    table = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    plain = write(tmp_path / "loss.csv", table, names=names, columns=names)
    turned = tmp_path / "turned" / "loss.csv"
    turned.parent.mkdir()
    write(turned, table[::-1], names=names[::-1], columns=names)
    first, two = (run_json("audit", "channel", channel, "--prior", prior, "--loss", loss) for loss in (plain, turned))
    assert first == two
    assert first["per_observation"][0]["answer"] in names
    designs = []
    for loss in (plain, turned):
        run_json("design", "--prior", prior, "--loss", loss, "--budget", 0.2, "-o", tmp_path / "m.csv", "--force")
        designs.append((tmp_path / "m.csv").read_text())
    assert designs[0] == designs[1]


def test_answers_that_are_no_secrets_have_their_own_names(tmp_path):
    states, answers = ("ill", "well"), ("treat", "wait", "test")
    channel = write(tmp_path / "c.csv", [[0.9, 0.1], [0.2, 0.8]], names=states)
    loss = write(tmp_path / "loss.csv", [[0, 3], [1, 0], [0.5, 0.5]], names=answers, columns=states)
    result = run_json("audit", "channel", channel, "--loss", loss)
    assert {item["answer"] for item in result["per_observation"]} <= set(answers)
    assert result["mechanisms"][0]["error_gibbs"] is None  # its answers would be secrets
    assert result["mechanisms"][0]["error_map"] is None


def test_c4_small_leakage_is_in_the_json(tmp_path):
    channel = write(tmp_path / "c.csv", [[0.5001, 0.4999], [0.4999, 0.5001]], names=("0", "1"))
    (row_shown,) = run_json("audit", "channel", channel)["mechanisms"]
    assert row_shown["leakage_bits"] == pytest.approx(2 * 0.0001**2 / math.log(2), rel=1e-3)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_c4_designs_do_not_depend_on_the_units(tmp_path, prior, unit):
    loss = write(tmp_path / "l.csv", unit * np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]]), columns=tuple(PRIOR))
    cost = write(tmp_path / "d.csv", np.array([[0, 2, 3], [1, 0, 4], [2, 2, 0]]) / unit, columns=tuple(PRIOR))
    result = run_json(
        "design", "--prior", prior, "--loss", loss, "--distortion", cost, "--budget", repr(0.5 / unit), "--delta", 2,
        "-o", tmp_path / "m.csv",
    )  # fmt: skip
    line = np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
    again = optimal_mechanism(list(PRIOR.values()), line, [[0, 2, 3], [1, 0, 4], [2, 2, 0]], 0.5, delta=2)
    assert result["privacy"] / unit == pytest.approx(again.privacy, rel=1e-7)
    assert result["distortion"] * unit == pytest.approx(again.distortion, rel=1e-7)
    assert read(tmp_path / "m.csv") == pytest.approx(again.channel.dense(), abs=1e-6)


def test_r11_a_budget_beyond_all_distortion_has_a_curve(tmp_path, prior):
    curve = tmp_path / "c.csv"
    done = invoke("design", "--prior", prior, "--budget", 1e308, "-o", tmp_path / "m.csv", "--curve", curve)
    assert done.exit_code == 0, done.stderr
    lines = curve.read_text().splitlines()
    assert len(lines) > 3
    assert float(lines[-1].split(",")[1]) == pytest.approx(0.5)  # the prior error


def cpu_seconds(process):
    """Return the CPU seconds that a process has used."""
    ticks = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks Linux how far a process is")
def test_c12_a_signal_ends_a_long_design_at_once(tmp_path):
    rng = np.random.default_rng(0)
    n = 90
    prior, places = tmp_path / "p.csv", tmp_path / "places.csv"
    prior.write_text("s,p\n" + "".join(f"{i},{1 / n!r}\n" for i in range(n)))
    places.write_text("s,x,y\n" + "".join(f"{i},{x!r},{y!r}\n" for i, (x, y) in enumerate(rng.random((n, 2)).tolist())))
    command = [
        sys.executable, "-m", "unmask_command", "design", "--prior", prior, "--loss", "euclidean", "--coordinates",
        places, "--budget", "0.3", "--epsilon", "4", "-o", tmp_path / "m.csv",
    ]  # fmt: skip
    with subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True) as running:
        while running.poll() is None and cpu_seconds(running) < 2.5:  # it has begun to solve, which takes minutes
            time.sleep(0.05)
        assert running.poll() is None
        running.send_signal(signal.SIGTERM)
        _, message = running.communicate(timeout=10)
    assert running.returncode == 1
    assert "interrupted before the end" in message
    assert not (tmp_path / "m.csv").exists()


@pytest.mark.parametrize("question", ["identity", "attribute", "sender"])
@pytest.mark.parametrize("options", [(), ("--loss", "graded"), ("--loss", "graded", "--loss-unknown", "--dmax", 2)])
def test_c8_the_command_that_is_advised_gives_every_measure_that_is(tmp_path, question, options):
    advice = run_json("advise", "--what", question, *options)
    if advice["command"].startswith("Python"):
        pytest.skip("a call in Python")
    write(tmp_path / "channel.csv", [[0.8, 0.2], [0.3, 0.7]], names=("a", "b"), columns=("a", "b"))
    (tmp_path / "release.csv").write_text("age,job\n30,a\n30,b\n40,a\n40,a\n")
    files = {"RELEASE.csv": "release.csv", "CHANNEL.csv": "channel.csv"}
    names = {name: str(tmp_path / file) for name, file in files.items()}
    names |= {"COLUMNS": "age", "COLUMN": "job", "LOSS": "hamming"}
    command = [names.get(word, word) for word in advice["command"].split()[1:]]
    advised = {advice["worst"], advice["average"], advice["best"], *advice["bounds"], *advice["rank_by"]} - {None}
    gates = [f"{measure}<=1e300" for measure in advised]
    done = invoke(*command, "--json", *(word for gate in gates for word in ("--policy", gate)))
    assert done.exit_code in (0, 3), done.stderr  # a gate on a measure that nobody took is exit code 2
    assert gates


@pytest.mark.parametrize("name", ["m.csv", "m.csv.gz", "m.tsv", "semicolon.csv", "m.parquet"])
def test_c14_channels_are_read_as_tables_are(tmp_path, name):
    rows = [["", "a", "b", "c"], ["a", 0.5, 0.25, 0.25], ["b", 0.125, 0.75, 0.125], ["c", 0, 0, 1]]
    plain, path = tmp_path / "plain.csv", tmp_path / name
    texts = {mark: "".join(mark.join(map(str, row)) + "\n" for row in rows) for mark in (",", ";", "\t")}
    plain.write_text(texts[","])
    if name.endswith(".parquet"):
        columns = ", ".join(f'column{i} as "{title or "secret"}"' for i, title in enumerate(rows[0]))
        names = ", ".join(f"'column{i}': '{'DOUBLE' if i else 'VARCHAR'}'" for i in range(4))
        source = f"read_csv('{plain}', header=true, columns={{{names}}})"
        duckdb.sql(f"copy (select {columns} from {source}) to '{path}' (format parquet)")
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(texts[","].encode()))
    else:
        path.write_text(texts["\t" if name.endswith(".tsv") else ";" if name == "semicolon.csv" else ","])
    first, second = (run_json("audit", "channel", file)["mechanisms"][0] for file in (plain, path))
    assert {**first, "name": ""} == {**second, "name": ""}


def test_c14_decimal_commas_between_semicolons(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(";a;b\na;0,75;0,25\nb;0,25;0,75\n")
    assert run_json("audit", "channel", path)["mechanisms"][0]["privacy"] == pytest.approx(0.25)


def test_c14_rounded_rows_are_divided_by_their_sum_with_a_note(tmp_path):
    channel = write(tmp_path / "m.csv", [[0.3333, 0.3333, 0.3333], [0.2, 0.3, 0.5]], names=("a", "b"))
    prior = tmp_path / "p.csv"
    prior.write_text("s,p\na,0.6667\nb,0.3334\n")
    done = invoke("audit", "channel", channel, "--prior", prior)
    assert done.exit_code == 0
    warning = "The rows of m.csv sum to 0.9999 to 1; they were divided by their sum."
    assert f"note: {warning}" in done.stderr
    assert "note: The probabilities of p.csv sum to 1.0001; they were" in done.stderr
    invoke("audit", "channel", channel, "--report", tmp_path / "page.html")
    assert warning in (tmp_path / "page.html").read_text()
    not_normalized = write(tmp_path / "off.csv", [[0.33, 0.33, 0.33], [0.2, 0.3, 0.5]], names=("a", "b"))
    assert "of secret number 1 in off.csv sum to 0.99, expected 1" in invoke("audit", "channel", not_normalized).stderr
    prior.write_text("s,p\na,0.6\nb,0.3\n")
    assert "in p.csv sum to 0.9, expected 1" in invoke("audit", "channel", channel, "--prior", prior).stderr


def test_a_distortion_that_is_not_known_is_no_length(tmp_path, prior):
    places_file = write(tmp_path / "places.csv", [[0, 0], [100, 0], [0, 300]])
    near = write(tmp_path / "near.csv", [[0.9, 0.1, 0], [0.1, 0.9, 0], [0, 0.2, 0.8]], columns=tuple(PRIOR))
    cloak = write(tmp_path / "cloak.csv", [[1, 0], [1, 0], [0, 1]])
    options = ("--prior", prior, "--loss", "euclidean", "--unit", "m", "--coordinates", places_file)
    assert invoke("audit", "channel", near, cloak, *options, "--report", tmp_path / "page.html").exit_code == 0
    page = (tmp_path / "page.html").read_text()
    assert "undefined\u00a0m" not in page
    assert "unknown</" in page


def test_a_missing_prior_is_noted(tmp_path, prior):
    channel = write(tmp_path / "m.csv", [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    assert "note: No prior was given" in invoke("audit", "channel", channel).stderr
    assert "No prior" not in invoke("audit", "channel", channel, "--prior", prior).stderr


def test_rows_that_are_rounded_down_by_a_thousandth_are_divided_too(tmp_path):
    channel = write(tmp_path / "m.csv", [[0.7, 0.299], [0.1, 0.9]], names=("a", "b"))  # the sum is below .999 by 1e-16
    assert "sum to 0.999 to 1" in invoke("audit", "channel", channel).stderr


def test_latitudes_and_longitudes_are_taken_by_their_names(tmp_path):
    """Paris, longitude first: 1,176 m (not 1,497 m); with --unit km, 1,176 km."""
    table = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]]
    index = np.array([[48.85, 2.35], [48.86, 2.40], [48.90, 2.35]])
    path = write(tmp_path / "m.csv", table)
    command = ("audit", "channel", path, "--coordinates", tmp_path / "places.csv")
    for order, names in ((index, ("lat", "lon")), (index[:, ::-1], ("Longitude", "Latitude")), (index, None)):
        write(tmp_path / "places.csv", order.tolist(), columns=names)
        result = run_json(*command, "--loss", "haversine")["mechanisms"][0]["privacy"]
        by_hand = bayes(Channel(np.array(table)).posterior(), "haversine", coordinates=index).average
        assert result == pytest.approx(by_hand, rel=1e-9)
    assert "is in meters" in invoke(*command, "--loss", "haversine", "--unit", "km").stderr
    write(tmp_path / "places.csv", index.tolist(), columns=("lat", "lon"))
    refused = invoke(*command, "--loss", "euclidean", "--unit", "m")  # .03 m, in degrees
    assert refused.exit_code == 2
    assert "give --loss haversine" in refused.stderr


def test_c14_a_prior_needs_no_header(tmp_path):
    channel = write(tmp_path / "m.csv", [[0.9, 0.1], [0.2, 0.8]], names=("a", "b"))
    results = []
    for text in ("s,p\na,0.7\nb,0.3\n", "a,0.7\nb,0.3\n"):
        (tmp_path / "p.csv").write_text(text)
        results.append(run_json("audit", "channel", channel, "--prior", tmp_path / "p.csv"))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("gate", "broken"),
    [
        ("epsilon<=1", True),
        ("epsilon<=1.2", False),
        ("leakage_bits<=0.1", True),
        ("distortion<=0.3", False),
        ("share_of_limit>=0.9", False),
        ("estimation_error.worst>=0.3", True),
    ],
)
def test_c15_gates_on_what_the_page_shows(tmp_path, gate, broken):
    path = write(tmp_path / "m.csv", [[0.75, 0.25], [0.25, 0.75]], names=("a", "b"), columns=("a", "b"))
    assert invoke("audit", "channel", path, "--policy", gate).exit_code == (3 if broken else 0)


def test_a_condition_that_asks_for_a_small_error_is_doubted(tmp_path):
    path = write(tmp_path / "m.csv", [[0.75, 0.25], [0.25, 0.75]], names=("a", "b"), columns=("a", "b"))
    conditions = (
        "estimation_error<=0.9",
        "success_probability.worst>0.1",
        "estimation_error>=0.1",
        "gain<=1",
        "epsilon<=9",
    )
    options = (
        part for condition in conditions for part in ("--policy", condition.replace("gain", "success_probability.gain"))
    )
    done = invoke("audit", "channel", path, *options, "--quiet")
    assert done.exit_code == 0
    warning = "warning: {} asks for what the adversary wants; did you mean {}?"
    assert done.stderr.splitlines() == [
        warning.format("estimation_error<=0.9", "estimation_error>=0.9"),
        warning.format("success_probability.worst>0.1", "success_probability.worst<0.1"),
    ]


def test_c17_names_keep_their_dots_and_losses_their_unit(tmp_path, places):
    names = ("south", "north")
    path = write(tmp_path / "lap0.001.csv", [[0.75, 0.25], [0.25, 0.75]], names=names, columns=names)
    result = run_json("audit", "channel", path, "--loss", "squared", "--coordinates", places, "--unit", "m")
    assert (result["mechanisms"][0]["name"], result["unit"], result["distortion_unit"]) == ("lap0.001", "m²", "m²")


def test_a_damaged_parquet_file_is_reported_in_a_sentence(tmp_path):
    (tmp_path / "c.parquet").write_bytes(b"PAR1" + bytes(40))
    done = invoke("audit", "channel", tmp_path / "c.parquet")
    assert done.exit_code == 1
    assert "not a readable Parquet file" in done.stderr


ADVISED = [
    line
    for line in (Path(__file__).parents[1] / "docs" / "how-to" / "channels.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("unmask advise --")
]


@pytest.mark.parametrize("line", ADVISED)
def test_the_commands_of_the_page_run_without_questions_if_input_is_not_a_terminal(line):
    done = invoke(*line.split()[1:], answers="")
    assert done.exit_code == (2 if "--rank-by" in line else 0), done.stderr
    assert "(hamming, graded)" not in done.stderr


def test_without_anybody_to_ask_the_missing_option_is_named():
    done = invoke("advise", "--what", "identity", "--observations", "one", answers="")
    assert done.exit_code == 2
    assert "Missing option '--loss': hamming or graded." in done.stderr
    assert "?" not in done.stderr  # no question without an answer


def test_a_loss_that_is_not_known_is_graded():
    plain = invoke("advise", "--what", "attribute", "--loss-unknown", "--dmax", "2", "--observations", "one", "--json")
    assert parsed(plain.stdout)["results"][0]["bounds"][0] == "total_variation.worst"
