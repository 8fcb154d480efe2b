"""A study keeps what it has done, whatever happens to it."""

import os
import signal
import subprocess
import sys
import time

import duckdb
import pytest

from unmask.core.errors import FailedError
from unmask.studies.journal import Journal, Result
from unmask.studies.reading import read_plan
from unmask.studies.results_file import COLUMNS, RESULTS
from unmask.studies.run import JOURNAL, _progress, run_study
from unmask.studies.workers import finished, on_spark

PLAN = """
seeds = {seeds}
{extra}
[[data]]
use = "channels.alphabet"
with = {{ n = 5, exponent = 1.0 }}
[[protections]]
use = "channels.Geometric"
with = {{ n = 5 }}
grid = {{ epsilon = [0.5, 2.0] }}
[[adversaries]]
use = "channels.BayesChannelAttack"
{adversary}
"""


def plan_of(folder, *, seeds=3, adversary="", extra=""):
    path = folder / "plan.toml"
    path.write_text(PLAN.format(seeds=seeds, adversary=adversary, extra=extra))
    return read_plan(path)


def rows(folder, columns="*", condition="true"):
    return duckdb.sql(f"select {columns} from '{folder / RESULTS}' where {condition} order by all").fetchall()


def test_every_cell_gives_its_rows_once_and_a_second_run_runs_nothing(tmp_path):
    plan, states = plan_of(tmp_path), []
    first = run_study(plan, tmp_path / "run")
    assert (first.cells, first.done, first.complete) == (6, 6, True)
    rows_before = rows(tmp_path / "run")
    again = run_study(plan, tmp_path / "run", watch=lambda *progress: states.append(progress))
    assert again.done == 6
    assert states == []
    assert rows(tmp_path / "run") == rows_before
    assert duckdb.sql(f"select * from '{tmp_path / 'run' / RESULTS}'").columns == list(COLUMNS)
    assert rows(tmp_path / "run", "count(*), count(distinct (cell, measure, target))") == [
        (len(rows_before), len(rows_before))
    ]


@pytest.mark.usefixtures("new_workers")
def test_workers_do_not_change_a_number(tmp_path):
    plan = plan_of(tmp_path, adversary="observations = 3\ntargets = 40")
    run_study(plan, tmp_path / "one", workers=1)
    run_study(plan, tmp_path / "two", workers=2)
    columns = "cell, measure, prior, posterior, low, high, seed"
    assert rows(tmp_path / "one", columns) == rows(tmp_path / "two", columns)
    values = rows(tmp_path / "one", "distinct posterior", "measure = 'realized_error'")
    assert len(values) > 2  # other seeds draw other secrets


def test_a_plan_that_grows_runs_only_what_is_new(tmp_path):
    run_study(plan_of(tmp_path, seeds=2), tmp_path / "run")
    states = []
    run_study(plan_of(tmp_path, seeds=5), tmp_path / "run", watch=lambda done, cells, _: states.append((done, cells)))
    assert states == [(done, 10) for done in range(5, 11)]


def test_a_failing_cell_gives_its_reason_and_stops_no_other_cell(tmp_path):
    plan = plan_of(tmp_path, adversary='loss = "haversine"')
    outcome = run_study(plan, tmp_path / "run")
    assert (outcome.failed, outcome.done) == (6, 0)
    ((status, reason),) = rows(tmp_path / "run", "distinct status, reason")
    assert status == "failed"
    assert "haversine needs latitude" in reason
    assert outcome.reasons == ((reason, 6),)


def test_the_reference_value_comes_out(tmp_path):
    run_study(plan_of(tmp_path, adversary='loss = "hamming"', seeds=1), tmp_path / "run")
    prior = [1 / (x + 1) for x in range(5)]
    ((result,),) = rows(tmp_path / "run", "distinct prior", "measure = 'success_probability'")
    assert result == pytest.approx(1 / sum(prior), abs=1e-6)


def test_damaged_lines_are_dropped_and_their_cells_run_again(tmp_path):
    plan, folder = plan_of(tmp_path), tmp_path / "run"
    run_study(plan, folder)
    rows_before = rows(folder, "cell, measure, posterior")
    lines = (folder / JOURNAL).read_bytes().splitlines()
    lines[2] = lines[2][:40] + b"9" + lines[2][41:]  # one byte of a line in the middle
    (folder / JOURNAL).write_bytes(b"\n".join(lines[:-1]) + b"\n" + lines[-1][:50])  # and the last one cut off
    states = []
    outcome = run_study(plan, folder, watch=lambda *now: states.append(now))
    assert outcome.damaged == 2
    assert len(states) == 2
    assert rows(folder, "cell, measure, posterior") == rows_before
    assert Journal(folder / JOURNAL).damaged == 0


def test_a_line_without_an_end_is_damage_and_costs_only_itself(tmp_path):
    folder = tmp_path / "run"
    run_study(plan_of(tmp_path, seeds=1), folder)
    content = (folder / JOURNAL).read_bytes()
    (folder / JOURNAL).write_bytes(content[:-1])
    assert Journal(folder / JOURNAL).damaged == 1
    assert (folder / JOURNAL).read_bytes() == content[:-1]  # reading repairs nothing
    outcome = run_study(plan_of(tmp_path, seeds=2), folder)
    assert (outcome.damaged, outcome.done) == (1, 4)
    assert len(Journal(folder / JOURNAL).results) == 4
    assert Journal(folder / JOURNAL).damaged == 0


@pytest.mark.usefixtures("new_workers")
def test_a_cell_out_of_time_is_stopped_and_the_rest_goes_on(tmp_path):
    plan = plan_of(
        tmp_path, seeds=1, adversary="observations = 3000\ntargets = 200000", extra="[budget]\nseconds_per_cell = 1"
    )
    outcome = run_study(plan, tmp_path / "run")
    assert outcome.timed_out == 2
    assert "raise budget.seconds_per_cell" in rows(tmp_path / "run", "reason")[0][0]
    assert run_study(plan, tmp_path / "run").timed_out == 2  # not tried again unless asked


@pytest.mark.usefixtures("new_workers")
def test_a_memory_budget_too_small_for_a_worker_is_reported(tmp_path, capfd):
    plan = plan_of(tmp_path, seeds=1, extra="[budget]\nmemory_gib = 0.05")
    assert run_study(plan, tmp_path / "run").failed == 2
    ((reason,),) = rows(tmp_path / "run", "distinct reason")
    assert reason.startswith("0.05 GiB of memory do not suffice to start a worker; raise budget.memory_gib")
    assert "Traceback" not in capfd.readouterr().err


def test_a_budget_of_time_leaves_the_rest_for_the_next_run(tmp_path):
    plan = plan_of(tmp_path, extra="[budget]\nseconds = 0.000001")
    outcome = run_study(plan, tmp_path / "run")
    assert (outcome.done, outcome.skipped, outcome.complete) == (1, 5, False)
    assert len(rows(tmp_path / "run", "cell", "status = 'skipped'")) == 5
    outcome = run_study(plan_of(tmp_path), tmp_path / "run")
    assert (outcome.done, outcome.complete) == (6, True)


def test_one_folder_is_worked_on_by_one_process(tmp_path):
    with (
        Journal(tmp_path / JOURNAL).appending(),
        pytest.raises(FailedError, match="another process"),
        Journal(tmp_path / JOURNAL).appending(),
    ):
        raise AssertionError("never reached")


def test_infinities_and_unknown_values_survive_the_journal(tmp_path):
    with Journal(tmp_path / JOURNAL).appending() as journal:
        journal.add(Result("a", "done", "", 0.5, ({"measure": "x", "posterior": "inf", "low": None},)))
    (entry,) = Journal(tmp_path / JOURNAL).results.values()
    assert entry.rows[0] == {"measure": "x", "posterior": "inf", "low": None}


def test_a_result_is_the_same_wherever_a_cell_runs(tmp_path):
    cell = plan_of(tmp_path, adversary="targets = 30").cells()[0]
    assert finished(cell).rows == finished(cell).rows


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning")
class FakeSpark:
    """A session whose application runs the function it is given, or fails as a worker does."""

    def __init__(self, master, error=None):
        self.master, self.error, self.pythonExec, self.defaultParallelism = master, error, "python3", 2
        self.sparkContext = self.builder = self.SparkSession = self

    def __getattr__(self, _name):  # appName, master, config, getOrCreate, parallelize, map
        return lambda *_arguments: self

    def collect(self):
        if self.error:
            raise self.error
        return []


@pytest.mark.parametrize(("master", "python"), [("local[2]", sys.executable), ("spark://host:7077", "python3")])
def test_a_local_spark_runs_the_python_that_runs_unmask(monkeypatch, master, python):
    fake = FakeSpark(master)
    monkeypatch.setitem(sys.modules, "pyspark.sql", fake)
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    assert list(on_spark(None)([None])) == []
    assert fake.pythonExec == python


def test_a_failing_worker_of_spark_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", FakeSpark("local[2]", RuntimeError("205 lines with a record")))
    with pytest.raises(FailedError, match=r"^a worker of Spark failed \(RuntimeError\); its Python needs") as error:
        list(on_spark(None)([None]))
    assert "record" not in str(error.value)


KILLED = """
import sys
from pathlib import Path
from unmask.studies.reading import read_plan
from unmask.studies.run import run_study
if __name__ == "__main__":
    run_study(read_plan(Path(sys.argv[1])), Path(sys.argv[2]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_study_loses_nothing_and_doubles_nothing(tmp_path):
    plan = plan_of(tmp_path, seeds=40, adversary="targets = 3000\nobservations = 2")
    script, folder = tmp_path / "go.py", tmp_path / "run"
    script.write_text(KILLED)
    process = subprocess.Popen([sys.executable, script, tmp_path / "plan.toml", folder])
    while not (folder / JOURNAL).exists() or (folder / JOURNAL).read_bytes().count(b"\n") < 5:
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    n_done = len(Journal(folder / JOURNAL).results)
    assert 5 <= n_done < 80
    states = []
    outcome = run_study(plan, folder, workers=2, watch=lambda done, cells, _: states.append(done))
    assert outcome.done == 80
    assert len(states) == 80 - n_done
    assert rows(folder, "count(distinct cell)") == [(80,)]
    doubled = duckdb.sql(f"select cell, measure from '{folder / RESULTS}' group by all having count(*) > 1").fetchall()
    assert doubled == []


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_terminated_study_writes_what_is_finished_and_goes_on_later(tmp_path):
    plan_of(tmp_path, seeds=40, adversary="targets = 3000\nobservations = 2")
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "unmask", "study", str(tmp_path / "plan.toml"), "-o", str(folder)]
    process = subprocess.Popen([*command, "--workers", "2"], stderr=subprocess.PIPE, text=True)
    while not (folder / JOURNAL).exists() or (folder / JOURNAL).read_bytes().count(b"\n") < 5:
        assert process.poll() is None, "it ended before it was terminated"
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)  # an interrupt: tests/test_cli_files.py
    _, message = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "run the same command to go on" in message
    n_done = len(Journal(folder / JOURNAL).results)
    assert 5 <= n_done < 80
    done, skipped = rows(folder, "count(distinct cell) filter (status = 'done'), count(*) filter (status = 'skipped')")[
        0
    ]
    assert (done, done + skipped) == (n_done, 80)
    assert subprocess.run([*command, "--dry-run"], capture_output=True, text=True).stdout.count(f"{n_done} done") == 1


def test_any_flipped_bit_or_cut_costs_only_the_lines_it_touches(tmp_path):
    path = tmp_path / JOURNAL
    with Journal(path).appending() as journal:
        for name in "abc":
            journal.add(Result(name, "done", "", 0.5, ({"posterior": 0.25},)))
    content, results = path.read_bytes(), Journal(path).results
    length = len(content) // 3

    def cut_journal(content):
        path.write_bytes(content)
        read = Journal(path)
        assert all(results[name] == result for name, result in read.results.items())
        return read.damaged, len(read.results)

    for index in range(len(content)):
        damaged, good = cut_journal(content[:index])
        assert (damaged, good) == (int(index % length > 0), index // length)
        for bit in range(8):
            damaged, good = cut_journal(content[:index] + bytes([content[index] ^ 1 << bit]) + content[index + 1 :])
            assert damaged >= 1
            assert (
                good >= 1 if index % length == length - 1 else good == 2
            )  # without its end a line takes the next along
    with Journal(path).appending() as journal:
        journal.add(Result("d", "done", "", 0.5))
    assert Journal(path).damaged == 0
    assert "d" in Journal(path).results


def test_only_errors_of_the_journal_blame_the_journal(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("unmask.studies.workers._START.Process", lambda **_: type("P", (), {"start": refused})())
    with pytest.raises(FailedError, match="a worker cannot be started: Resource temporarily unavailable; try fewer"):
        run_study(plan_of(tmp_path), tmp_path / "run")


@pytest.mark.skipif(os.name != "posix", reason="limits")
def test_a_full_disk_is_reported_for_the_journal_and_complete_records_stay(tmp_path):
    import resource

    limits, path = resource.getrlimit(resource.RLIMIT_FSIZE), tmp_path / JOURNAL

    def fill():
        with Journal(path).appending() as journal:
            resource.setrlimit(resource.RLIMIT_FSIZE, (250, limits[1]))
            for name in "abcd":
                journal.add(Result(name, "done", "", 0.5, ({"posterior": 0.25},)))

    try:
        with pytest.raises(FailedError, match=r"journal\.jsonl cannot be written"):
            fill()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert Journal(path).damaged == 1
    assert set(Journal(path).results) == {"a", "b"}


def test_the_remaining_time_leaves_out_the_first_cell_of_each_worker():
    told = []
    report = _progress(lambda done, cells, seconds: told.append((done, seconds)), 12, 12, workers=2)
    for number, spent in enumerate((10.0, 10.0, 11.0, 12.0), 1):  # each worker compiles for ten seconds
        report(number, spent)
    assert told[-1] == (4, 8.0)
