"""`unmask audit graph --engine`: what it prints and writes, the same on both engines, and bad input in one sentence."""

import json

import duckdb
import numpy as np
import pytest

from tests.engines import QUIET, opened
from tests.graphs.problems import noisy_pair
from tests.test_cli_graph import sentence, unmask
from unmask.graphs import KorulaLattanzi, Nar09, Rematch
from unmask.graphs.evaluation import rates

pytestmark = [pytest.mark.filterwarnings(one) for one in QUIET]


@pytest.fixture(scope="module")
def world():
    """Two noisy copies of a network of 120 people, 15 of them known."""
    source, target, truth = noisy_pair(np.random.default_rng(3), n_nodes=120, degree=9.0, kept=0.9)
    return source, target, truth


@pytest.fixture(scope="module")
def files(world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("network")
    source, target, truth = world
    source.write(folder / "known.csv")
    target.write(folder / "release.parquet")
    for name, n in (("found", 15), ("truth", 120)):
        lines = [f"{u},{v}" for u, v in zip(truth[0][:n], truth[1][:n], strict=True)]
        (folder / f"{name}.csv").write_text("auxiliary,release\n" + "\n".join(lines) + "\n")
    return folder


def audit(files, *more, engine="duckdb", truth=True):
    given = ["--truth", files / "truth.csv"] if truth else []
    return unmask(
        "audit", "graph", files / "release.parquet", "--auxiliary", files / "known.csv",
        "--seeds-file", files / "found.csv", *given, "--engine", engine, *more,
    )  # fmt: skip


def test_the_result_is_the_one_in_memory(world, files):
    done = audit(files, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)["graph"]
    source, target, truth = world
    assert (found["source_nodes"], found["source_edges"]) == (source.n_nodes, source.n_edges)
    assert (found["target_nodes"], found["target_edges"]) == (target.n_nodes, target.n_edges)
    assert (found["common"], found["truth_known"]) == (120, True)
    image, seeds = np.empty(120, dtype=np.int64), (truth[0][:15], truth[1][:15])
    image[truth[0]] = truth[1]
    adversaries = (Nar09(synchronous=True), KorulaLattanzi(), Rematch())
    for attack, adversary in zip(found["attacks"], adversaries, strict=True):
        belief = adversary(target, source, seeds)
        right = rates(belief.mapping, image, seeds[0])
        assert attack["names"] == right.matches > 20
        assert (attack["recall"], attack["precision"], attack["error"]) == (right.recall, right.precision, right.error)
        assert attack["steps"] == belief.sweeps.tolist()
        assert sum(one["people"] for one in attack["by_degree"]) == right.findable
    assert "120 and 120 nodes" in done.stderr


def test_findings_are_sentences_and_pairs_a_file(files, tmp_path):
    path = tmp_path / "pairs.parquet"
    done = audit(files, "--attack", "nar09", "--pairs", path)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("nar09 from 15 leaked identities names ")
    assert "of its names are right." in done.stdout
    with duckdb.connect() as connection:
        n = connection.execute(f"select count(*) from read_parquet('{path}')").fetchone()[0]
    assert f"names {n - 15} of 105 other people" in done.stdout
    sentence(audit(files, "--attack", "nar09", "--pairs", path), "'pairs.parquet' exists")
    assert "(--truth)" in audit(files, "--attack", "nar09", truth=False).stdout


def test_a_dry_run_says_what_it_would_take_and_stops(files):
    done = audit(files, "--dry-run")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "wedges: " in done.stderr


@pytest.mark.cluster
def test_spark_prints_the_same(files):
    given = ("--attack", "nar09,korula_lattanzi,rematch:steps=2", "--json")
    with opened("spark://local[2]"):
        assert audit(files, *given, engine="spark").stdout == audit(files, *given).stdout


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--attack", "irma"], "irma needs the networks in memory; the attacks of an engine are nar09, korula_l"),
        (["--attack", "rematch:assignment=greedy"], "use Rematch with assignment mutual and not forced"),
        (["--runs", "2"], "--runs needs the networks in memory"),
        (["--report", "page.html"], "--report needs the networks in memory"),
        (["--pairs", "pairs.parquet"], "--pairs holds the names of one attack, 3 were given"),
        (["--attack", "nar09", "--pairs", "pairs.csv"], "'pairs.csv' has another suffix"),
        (["--memory-limit", "1MiB"], "the memory limit is 1 MiB, expected at least 512 MiB"),
    ],
)
def test_what_an_engine_cannot_do_is_one_sentence(files, more, said):
    sentence(audit(files, *more), said)


def test_an_engine_needs_seeds_and_memory_needs_none(files):
    given = ("audit", "graph", files / "release.parquet", "--auxiliary", files / "known.csv")
    sentence(unmask(*given, "--engine", "duckdb"), "--auxiliary and --seeds-file, expected both")
    sentence(unmask(*given, "--pairs", "pairs.parquet"), "--pairs is for networks that stay in an engine")
