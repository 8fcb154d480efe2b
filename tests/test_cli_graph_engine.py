"""`unmask audit graph --engine`: what it prints and writes, the same on both engines, and bad input in one sentence."""

import json
import os
import signal
import subprocess
import sys

import duckdb
import numpy as np
import pytest

from tests.engines import QUIET, opened
from tests.envelopes import parsed
from tests.graphs.problems import noisy_pair
from tests.test_cli_graph import sentence, unmask
from unmask import audit as unmask_audit
from unmask.graphs import Auxiliary, KorulaLattanzi, Nar09, Pair, Rematch, SeedPairs
from unmask.graphs.evaluation import rates
from unmask.measures.rates import RATES

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


def asked(files, *more, engine="duckdb", truth=True):
    """The words of the command."""
    given = ["--truth", files / "truth.csv"] if truth else []
    words = [
        "audit", "graph", files / "release.parquet", "--auxiliary", files / "known.csv",
        "--seeds-file", files / "found.csv", *given, "--engine", engine, *more,
    ]  # fmt: skip
    return [str(word) for word in words]


def audit(files, *more, **given):
    return unmask(*asked(files, *more, **given))


def test_the_result_is_the_one_in_memory(world, files):
    done = audit(files, "--json", "--smallest-shown", 1)
    assert done.exit_code == 0, done.stderr
    tables = parsed(done.stdout)["tables"]
    (found,) = tables["graph"]
    source, target, truth = world
    assert (found["source_nodes"], found["source_edges"]) == (source.n_nodes, source.n_edges)
    assert (found["target_nodes"], found["target_edges"]) == (target.n_nodes, target.n_edges)
    assert (found["common"], found["truth_known"]) == (120, True)
    image, seeds = np.empty(120, dtype=np.int64), (truth[0][:15], truth[1][:15])
    image[truth[0]] = truth[1]
    pair = Pair(source, target, image)
    adversaries = (Nar09(synchronous=True), KorulaLattanzi(), Rematch())
    for attack, adversary in zip(tables["graph_attacks"], adversaries, strict=True):
        belief = adversary(target, Auxiliary(source, seeds))
        right = rates(belief.mapping, image, seeds[0])
        assert attack["names"] == right.matches > 20
        told = [attack[name] for name in ("recall", "precision", "named_wrongly")]
        results = parsed(done.stdout)["results"]
        rows = {row["measure"]: row for row in results if row["adversary"] == attack["attack"]}
        taken = unmask_audit(belief, pair.to_truth(SeedPairs(*seeds)), measures=RATES)
        for row in taken.rows:
            for field in ("posterior", "prior", "gain", "n", "quantiles"):
                assert rows[row.measure][field] == pytest.approx(row.as_dict()[field], rel=1e-9), row.measure
        assert told == pytest.approx([right.recall, right.precision, right.error], rel=1e-12)
        assert attack["steps"] == belief.sweeps.tolist()
        assert sum(one["people"] for one in attack["by_degree"]) == right.findable
    assert "120 and 120 nodes" in done.stderr
    for attack in parsed(audit(files, "--json").stdout)["tables"]["graph_attacks"]:  # R7
        assert min(one["people"] for one in attack["by_degree"]) >= 10


def test_findings_are_sentences_and_pairs_a_file(files, tmp_path):
    path = tmp_path / "pairs.parquet"
    done = audit(files, "--attack", "Nar09", "--pairs", path)
    assert done.exit_code == 0, done.stderr
    assert "\nWith 15 leaked identities an adversary who runs Nar09 re-identifies " in done.stdout
    with duckdb.connect() as connection:
        n = connection.execute(f"select count(*) from read_parquet('{path}')").fetchone()[0]
    assert f"of the 105 people who are in both graphs; of the {n - 15} matches they make" in done.stdout
    sentence(audit(files, "--attack", "Nar09", "--pairs", path), "pairs.parquet exists")
    assert "the truth was not given" in audit(files, "--attack", "Nar09", truth=False).stdout


def test_the_report_and_its_tables_are_files(files, tmp_path):
    report, folder = tmp_path / "report.html", tmp_path / "tables"
    done = audit(files, "--attack", "Nar09", "--report", report, "--export", folder, "--smallest-shown", 1)
    assert done.exit_code == 0, done.stderr
    page = report.read_text(encoding="utf-8")
    assert page.startswith("<!")
    assert "With 15 leaked identities an adversary who runs Nar09 re-identifies" in page
    expected = parsed(audit(files, "--attack", "Nar09", "--json", "--smallest-shown", 1).stdout)
    with duckdb.connect() as connection:
        measures = f"read_parquet('{folder}/measures.parquet')"
        rows = connection.execute(f"select measure, posterior from {measures}").fetchall()
    assert rows == [(row["measure"], pytest.approx(row["posterior"])) for row in expected["results"]]
    assert any(path.suffix == ".svg" for path in folder.iterdir())


def test_a_dry_run_says_what_it_would_take_and_stops(files):
    done = audit(files, "--dry-run")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "wedges: " in done.stderr


@pytest.mark.cluster
def test_spark_prints_the_same(files):
    given = ("--attack", "Nar09,KorulaLattanzi,Rematch:steps=2", "--json")
    with opened("spark://local[2]"):
        assert audit(files, *given, engine="spark").stdout == audit(files, *given).stdout


def test_an_audit_that_was_killed_goes_on_and_says_the_same(files, tmp_path):
    """Killed after two passes of the second attack; the first one has ended and is not run again."""
    given = ("--attack", "Nar09,Rematch", "--json")
    kept = ("--checkpoint", tmp_path / "kept", *given)
    program = (
        "import os, signal, sys\n"
        "from unmask.graphs.stored import Checkpoint\n"
        "save = Checkpoint.save\n"
        "def killed(self, adversary, table, progress):\n"
        "    save(self, adversary, table, progress)\n"
        "    if type(adversary).__name__ == 'Rematch' and len(progress.sweeps) == 2:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "Checkpoint.save = killed\n"
        "from unmask.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    words = asked(files, *kept, "--temp-directory", tmp_path)
    killed = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    whole = audit(files, *given)
    passes = [len(one["steps"]) for one in parsed(whole.stdout)["tables"]["graph_attacks"]]
    again = audit(files, *kept)
    assert again.stdout == whole.stdout
    assert f"Nar09: passes made before, and not again: {passes[0]}\n" in again.stderr
    assert "Rematch: passes made before, and not again: 2\n" in again.stderr
    ended = audit(files, *kept)
    assert ended.stdout == whole.stdout
    assert f"Rematch: passes made before, and not again: {passes[1]}\n" in ended.stderr


def test_a_checkpoint_of_other_seeds_is_refused_before_any_work(files, tmp_path):
    kept = ("--checkpoint", tmp_path / "kept")
    assert audit(files, "--attack", "Rematch", *kept).exit_code == 0
    (tmp_path / "found.csv").write_text("".join((files / "found.csv").open().readlines()[:-1]))
    done = audit(files, "--attack", "Nar09,Rematch", *kept, "--seeds-file", tmp_path / "found.csv")
    sentence(done, "is of another list of seeds; give those that it is of, another folder (--checkpoint)")
    assert len(list((tmp_path / "kept").iterdir())) == 2
    dry = audit(files, "--dry-run", "--checkpoint", tmp_path / "none")
    assert (dry.exit_code, (tmp_path / "none").exists()) == (0, False)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("of", ["networks", "tables"])
def test_a_statement_that_is_interrupted_is_one_sentence_and_leaves_nothing(files, tmp_path, number, of):
    """A join that would take hours is interrupted half a second after its start."""
    program = (
        "import os, signal, sys, threading\n"
        "from unmask.data.duckdb_engine import Duck\n"
        "def names(self, source):\n"
        f"    threading.Timer(0.5, os.kill, (os.getpid(), {number:d})).start()\n"
        "    self.rows('select count(*) as n from range(9000000) a join range(9000000) b on a.range * b.range < 7')\n"
        "Duck.names = names\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started the tests without\n"
        "from unmask.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    temp, out = tmp_path / "temp", tmp_path / "out"
    temp.mkdir()
    out.mkdir()
    room = ("--temp-directory", temp, "--memory-limit", "512MiB")
    if of == "networks":
        words = asked(files, *room, "--attack", "Nar09", "--pairs", out / "pairs.parquet")
    else:
        words = ["audit", files / "release.parquet", "-q", "u", "--engine", "duckdb", *room, "--export", out / "all"]
    done = subprocess.run([sys.executable, "-c", program, *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert (done.stdout, done.stderr) == ("", "Error: interrupted before the end; run the same command again\n")
    assert [*temp.iterdir(), *out.iterdir()] == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--attack", "Irma"], "Irma needs the networks in memory; the attacks of an engine are Nar09, KorulaL"),
        (["--attack", "Rematch:assignment=greedy"], "use Rematch with assignment mutual and not forced"),
        (["--runs", "2"], "--runs needs the networks in memory"),
        (["--pairs", "pairs.parquet"], "--pairs holds the names of one attack, 3 were given"),
        (["--attack", "Nar09", "--pairs", "pairs.csv"], "'pairs.csv' has another suffix"),
        (["--memory-limit", "1MiB"], "the memory limit is 1 MiB, expected at least 512 MiB"),
    ],
)
def test_what_an_engine_cannot_do_is_one_sentence(files, more, said):
    sentence(audit(files, *more), said)


def test_an_engine_is_judged_by_a_policy_as_memory_is(files, tmp_path):
    done = audit(files, "--policy", "recall <= 0.01", "--sarif", tmp_path / "x.sarif")
    assert done.exit_code == 3
    assert "missed: release: Nar09, identity, recall is " in done.stderr
    results = json.loads((tmp_path / "x.sarif").read_text())["runs"][0]["results"]
    assert [one["ruleId"] for one in results] == ["the conditions given/recall<=0.01"]


def test_an_engine_is_quiet_where_it_is_asked_to_be(files):
    done = audit(files, "--json", "--quiet")
    assert (done.exit_code, done.stderr) == (0, "")


def test_what_a_release_has_besides_edges_is_a_warning_with_an_engine_too(files, tmp_path):
    rows = f"select *, 100 * row_number() over () as cents from read_parquet('{files / 'release.parquet'}')"
    duckdb.sql(f"copy ({rows}) to '{tmp_path / 'release.parquet'}' (format parquet)")
    for name in ("known.csv", "found.csv", "truth.csv"):
        (tmp_path / name).write_bytes((files / name).read_bytes())
    assert parsed(audit(files, "--json").stdout)["warnings"] == []
    (said,) = parsed(audit(tmp_path, "--json").stdout)["warnings"]
    assert said.startswith("No attack looks at cents, which the release has besides edges: ")


def test_what_an_engine_cannot_do_is_no_more_in_a_document(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = tmp_path / "unmask.toml"
    document.write_text(audit(files, "--as-plan").stdout + "runs = 2\n")
    sentence(unmask("audit", "graph", document), "--runs needs the networks in memory")
    document.write_text(document.read_text().replace('engine = "duckdb"', 'memory_limit = "1GiB"'))
    sentence(unmask("audit", "graph", document), "--memory-limit is for tables that stay in an engine")


def test_an_engine_needs_seeds_and_memory_needs_none(files):
    given = ("audit", "graph", files / "release.parquet", "--auxiliary", files / "known.csv")
    sentence(unmask(*given, "--engine", "duckdb"), "--auxiliary and --seeds-file, expected both")
    sentence(unmask(*given, "--pairs", "pairs.parquet"), "--pairs is for networks that stay in an engine")
