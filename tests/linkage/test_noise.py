"""A label of items in no cluster, such as -1: the audit asks about it, and each item stays single."""

import json
from itertools import product

import pytest
from click.testing import CliRunner

from unmask.cli import main

TRUTH = "item,subject\n" + "".join(f"{item},{subject}\n" for item, subject in zip("abcdef", "111222", strict=True))


def audited(folder, labels, *options):
    (folder / "truth.csv").write_text(TRUTH)
    rows = "".join(f"{item},{label}\n" for item, label in zip("abcdef", labels, strict=True))
    (folder / "guess.csv").write_text(f"item,cluster\n{rows}")
    words = ("--truth", folder / "truth.csv", "--guess", folder / "guess.csv", *options)
    return CliRunner().invoke(main, ["audit", "linkage", *map(str, words), "--json"])


def breached(done):
    assert done.exit_code == 0, done.stderr
    return next(row["posterior"] for row in json.loads(done.stdout)["results"] if row["measure"] == "breached")


LABELS = [
    ["0", "0", "0", "-1", "-1", "-1"],
    ["0.0", "0.0", "0.0", "-1.0", "-1.0", "-1.0"],
    ["a", "a", "a", *["noise"] * 3],
]


@pytest.mark.parametrize(("labels", "engine"), [*product(LABELS, [()]), (LABELS[0], ("--engine", "duckdb"))])
def test_items_of_a_noise_label_are_each_alone(tmp_path, labels, engine):
    result = audited(tmp_path, labels, *engine)
    assert result.exit_code == 2
    assert f"--noise={labels[-1]}" in result.stderr
    assert breached(audited(tmp_path, labels, *engine, f"--noise={labels[-1]}")) == 0.5  # the three items of subject 1
    assert breached(audited(tmp_path, labels, *engine, "--noise=")) == 1.0


def test_the_same_label_of_a_view_is_asked_about(tmp_path):
    (tmp_path / "truth.csv").write_text(TRUTH)
    rows = "".join(f"{item},{label},1\n" for item, label in zip("abcdef", LABELS[0], strict=True))
    (tmp_path / "view.csv").write_text(f"item,cluster,probability\n{rows}")
    words = [
        "audit",
        "linkage",
        "--truth",
        str(tmp_path / "truth.csv"),
        "--guess",
        str(tmp_path / "view.csv"),
        "--json",
    ]
    assert CliRunner().invoke(main, words).exit_code == 2
    assert breached(CliRunner().invoke(main, [*words, "--noise=-1"])) == 0.5


@pytest.mark.parametrize(
    "labels", [["0", "0", "0", "1", "1", "1"], ["x", "x", "x", "-1", "-1", "-1"], ["-2", "-2", "0", "-1", "-1", "5"]]
)
def test_labels_that_are_no_numbers_of_clusters_ask_nothing(tmp_path, labels):
    assert audited(tmp_path, labels).exit_code == 0
