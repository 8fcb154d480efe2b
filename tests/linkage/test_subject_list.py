"""The owner's list of subjects: values and curves of each, in files that only the owner can read."""

import csv

import numpy as np
import pytest

from tests.commands import invoke
from unmask.core.partition import Partition
from unmask.measures.clustering import Contingency, evaluate, merge_lists

SECRET = "SECRET77"


@pytest.fixture
def files(tmp_path):
    """Truth and guess of 40 items of eight subjects, and the options that name them."""
    rng = np.random.default_rng(5)
    owners, clusters = np.arange(40) % 8, rng.integers(0, 9, 40)
    truth = "".join(f"i{k},{SECRET}-{owner}\n" for k, owner in enumerate(owners))
    (tmp_path / "truth.csv").write_text(f"item,subject\n{truth}")
    guess = "".join(f"i{k},{cluster}\n" for k, cluster in enumerate(clusters))
    (tmp_path / "guess.csv").write_text(f"item,cluster\n{guess}")
    return owners, clusters, ("--truth", tmp_path / "truth.csv", "--guess", tmp_path / "guess.csv")


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_each_subject_has_a_line_with_the_values_of_the_library(files, tmp_path):
    owners, clusters, options = files
    result = invoke("audit", "linkage", *options, "--subjects", tmp_path / "list.csv")
    assert result.exit_code == 0, result.stderr
    expected = evaluate(Contingency.of(Partition(owners), Partition(clusters)))
    lines = read(tmp_path / "list.csv")
    assert [line["subject"] for line in lines] == [f"{SECRET}-{k}" for k in range(8)]
    for name in ("size", "miss", "include", "linked_now", "merges", "risk_slope", "breached"):
        assert [float(line[name]) for line in lines] == pytest.approx(getattr(expected, name).astype(float))
    assert [float(line["normalized_error"]) for line in lines] == pytest.approx(expected.error / 39)


def test_curves_are_those_of_the_merges(files, tmp_path):
    owners, clusters, options = files
    invoke("audit", "linkage", *options, "--subjects", tmp_path / "list.csv")
    met = Contingency.of(Partition(owners), Partition(clusters))
    points = read(tmp_path / "list-curves.csv")
    for subject, merges in enumerate(merge_lists(met, range(8))):
        own = [point for point in points if point["subject"] == f"{SECRET}-{subject}"]
        assert [int(point["merges"]) for point in own] == list(range(len(own)))
        assert [float(point["linked"]) for point in own] == pytest.approx(merges.linked)
        assert [float(point["mixed"]) for point in own] == pytest.approx(merges.mixed)


def test_only_the_owner_can_read_the_lists_and_nothing_else_names_a_subject(files, tmp_path):
    report = tmp_path / "page.html"
    options = ("--subjects", tmp_path / "list.csv", "--report", report)
    result = invoke("audit", "linkage", *files[2], *options)
    for name in ("list.csv", "list-curves.csv"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
        assert f"{name}, keep it secret" in result.stderr
    assert SECRET not in report.read_text() + result.stdout + result.stderr


@pytest.mark.parametrize("name", ["list.csv", "list-curves.csv"])
def test_a_list_replaces_nothing(files, tmp_path, name):
    (tmp_path / name).write_text("mine")
    result = invoke("audit", "linkage", *files[2], "--subjects", tmp_path / "list.csv", "--force")
    assert result.exit_code == 2
    assert "a list of people replaces nothing" in result.stderr
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (("--engine", "duckdb"), "a list of subjects needs the items in memory"),
        (("--unlabeled", "unknown"), "a list of subjects needs decided items"),
        (("--policy", "nothing<=1"), "nothing<=1"),
    ],
)
def test_no_list_is_written_if_the_audit_ends_with_a_sentence(files, tmp_path, option, sentence):
    result = invoke("audit", "linkage", *files[2], "--subjects", tmp_path / "list.csv", *option)
    assert result.exit_code in (1, 2)
    assert sentence in result.stderr
    assert not list(tmp_path.glob("list*"))
