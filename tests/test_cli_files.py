"""Input and output of a command: literal, complete, never its own input, through pipes, and safe to open."""

import contextlib
import csv
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from unmask.cli import main

ROWS = ["age,sex,diagnosis", *(f"{20 + i % 7},{'fm'[i % 2]},{'abc'[i % 3]}" for i in range(60))]
ROLES = ("-q", "age,sex", "-s", "diagnosis", "--k", "5")
COMMAND = (sys.executable, "-m", "unmask")


def unmask(*arguments, stdin=None):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    crashed = result.exception is not None and not isinstance(result.exception, SystemExit)
    assert not crashed, repr(result.exception)
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("\n".join(ROWS) + "\n")
    Path("prior.csv").write_text("secret,probability\na,0.5\nb,0.5\n")
    Path("friends.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(9)))
    return tmp_path


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- an output is no input ------------------------------------------------------------------------------------------


def protect(data, *options):
    return unmask("protect", data, *ROLES, "--force", *options)


def test_a_release_does_not_replace_its_original(folder):  # R4
    Path("link.csv").symlink_to("people.csv")
    os.link("people.csv", "hard.csv")
    files_before = content(folder)
    for output in ("people.csv", "./people.csv", folder / "people.csv", "hard.csv"):
        done = protect("people.csv", "-o", output)
        assert done.exit_code == 2
        assert "is an input of this command, which would be lost" in done.stderr
    assert protect("link.csv", "-o", "people.csv").exit_code == 2
    assert protect("people.csv", "-o", "new.csv", "--origin", "hard.csv").exit_code == 2
    assert content(folder) == files_before


@pytest.mark.parametrize("source", ["people.parquet", "peop*.parquet", "."])
def test_a_release_does_not_replace_a_file_of_its_source_in_an_engine(folder, source):  # R4
    duckdb.sql("copy (select * from 'people.csv') to 'people.parquet'")
    files_before = content(folder)
    done = protect(source, "--engine", "duckdb", "-o", "people.parquet")
    assert (done.exit_code, content(folder)) == (2, files_before)
    assert "is an input" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("audit", "people.csv", "-q", "age", "--report", "people.csv"),
        ("audit", "people.csv", "-q", "age", "--export", "."),
        ("audit", "release.csv", "-q", "age", "--original", "people.csv", "--report", "people.csv"),
        ("audit", "people.csv", "-q", "age", "--hierarchy", "age=prior.csv", "--report", "prior.csv"),
        ("audit", "people.csv", "-q", "age", "--attacker", "prior.csv", "--report", "prior.csv"),
        ("audit", "linkage", "--truth", "people.csv", "--guess", "people.csv", "--report", "people.csv"),
        ("audit", "channel", "prior.csv", "--report", "prior.csv"),
        ("audit", "graph", "friends.txt", "--overlap", "0.5,0.5", "--report", "friends.txt"),
        ("protect", "graph", "friends.txt", "-o", "friends.txt"),
        ("protect", "graph", "friends.txt", "-o", "new.txt", "--origin", "friends.txt"),
        ("design", "--prior", "prior.csv", "--budget", "0.1", "-o", "prior.csv"),
        ("design", "--prior", "prior.csv", "--budget", "0.1", "-o", "new.csv", "--curve", "prior.csv"),
    ],
)
def test_no_command_replaces_what_it_reads(folder, command):  # R4
    Path("release.csv").write_bytes(Path("people.csv").read_bytes())
    files_before = content(folder)
    done = unmask(*command, "--force")
    assert (done.exit_code, content(folder)) == (2, files_before)
    assert "input" in done.stderr


def test_a_study_does_not_replace_files_that_it_did_not_write(folder):  # R4
    Path("other.toml").write_text('title = "t"\n')
    Path("mine").mkdir()
    Path("mine/plan.toml").write_text("mine")
    files_before = content(folder)
    assert unmask("study", "other.toml", "-o", "mine").exit_code != 0
    assert content(folder) == files_before


# --- pipes ----------------------------------------------------------------------------------------------------------


def test_a_table_comes_from_the_standard_input_and_goes_to_the_standard_output(folder):
    people_bytes = Path("people.csv").read_bytes()
    done = unmask("protect", "-", *ROLES, "-o", "-", stdin=people_bytes)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("age,sex,diagnosis\n")
    assert len(done.stdout.splitlines()) == 61
    assert "wrote -: 60 rows" in done.stderr
    assert unmask("protect", "people.csv", *ROLES, "-o", "file.csv").exit_code == 0
    assert sorted(Path("file.csv").read_text().splitlines()) == sorted(done.stdout.splitlines())
    audited = unmask("audit", "-", "-q", "age,sex", stdin=done.stdout)
    assert audited.exit_code == 0, audited.stderr
    assert unmask("price", "-", "-q", "age", stdin=people_bytes).exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["file.csv", "friends.txt", "people.csv", "prior.csv"]


def test_a_pipe_is_used_once(folder):
    twice = unmask("audit", "-", "-", "-q", "age", stdin="age\n1\n")
    assert twice.exit_code == 2
    assert "can be read once" in twice.stderr
    for options in (["-o", "-", "--json"], ["-o", "x.csv", "--origin", "-"], ["-o", "-", "--origin", "-"]):
        done = unmask("protect", "people.csv", *ROLES, *options)
        assert (done.exit_code, done.stdout) == (2, "")
    assert unmask("audit", "people.csv", "-q", "age", "--report", "-").exit_code == 2
    assert not Path("x.csv").exists()


def test_a_design_goes_to_the_standard_output(folder):
    done = unmask("design", "--prior", "prior.csv", "--budget", "0.1", "-o", "-")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, ",a,b")


# --- secret files ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_an_origin_is_its_owners(folder):  # R6
    Path("safe").mkdir()
    old = os.umask(0)
    try:
        next_to_release = protect("people.csv", "-o", "release.csv", "--origin", "origin.csv")
        in_own_folder = protect("people.csv", "-o", "release.csv", "--origin", "safe/origin.csv")
        graph = unmask("protect", "graph", "friends.txt", "-o", "g.txt", "--origin", "who.csv")
    finally:
        os.umask(old)
    for path in ("origin.csv", "safe/origin.csv", "who.csv"):
        assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    assert stat.S_IMODE(Path("release.csv").stat().st_mode) == 0o666
    for done in (next_to_release, graph):
        assert "keep it secret" in done.stderr
        assert "lies in the folder of the release" in done.stderr
    assert "keep it secret" in in_own_folder.stderr
    assert "lies in" not in in_own_folder.stderr


# --- formulas -------------------------------------------------------------------------------------------------------

RUN = [
    ("age", "=note", "diagnosis", "change"),
    *(
        (str(20 + i % 2), text, ill, change)
        for i, (text, ill, change) in enumerate(
            [('=HYPERLINK("x";"y")', "@flu", "-5"), ("+1+2", "flu", "+3"), ("-", "flu", "-0.5"), ("plain", "@flu", "2")]
        )
    ),
]
FORMULA = ("-q", "age", "-s", "diagnosis", "--keep", "=note,change", "--k", "2")


@pytest.fixture
def formulas(folder):
    with Path("run.csv").open("w", newline="") as file:
        csv.writer(file).writerows(RUN)
    return folder


def released(name):
    if name.endswith(".parquet"):
        result = duckdb.sql(f"from '{name}'")
        return [result.columns, *([str(cell) for cell in row] for row in result.fetchall())]
    with Path(name).open(newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize(("name", "engine"), [("r.csv", ()), ("r.parquet", ()), ("r.parquet", ("--engine", "duckdb"))])
def test_cells_that_a_spreadsheet_would_run_are_reported_escaped_or_refused(formulas, name, engine):  # R8
    protected = unmask("protect", "run.csv", *FORMULA, "-o", name, *engine)
    assert protected.exit_code == 0, protected.stderr
    warning = next(line for line in protected.stderr.splitlines() if "formulas" in line)
    assert {"=note 3", "diagnosis 2"} <= {part.strip() for part in warning.split(";")[0].split(":")[1].split(",")}
    assert "HYPERLINK" not in protected.stderr
    assert sorted(row[1] for row in released(name)[1:]) == sorted(row[1] for row in RUN[1:])

    done = unmask("protect", "run.csv", *FORMULA, "-o", name, "--force", "--formulas", "escape", *engine)
    assert done.exit_code == 0, done.stderr
    names, *rows = released(name)
    assert names == ["age", "'=note", "diagnosis", "change"]
    assert sorted(row[1] for row in rows) == sorted(["'" + RUN[1][1], "'+1+2", "-", "plain"])
    assert sorted(row[2] for row in rows) == ["'@flu", "'@flu", "flu", "flu"]
    assert sorted(float(row[3]) for row in rows) == [-5, -0.5, 2, 3]

    files_before = content(formulas)
    refused = unmask("protect", "run.csv", *FORMULA, "-o", name, "--force", "--formulas", "refuse", *engine)
    assert (refused.exit_code, content(formulas)) == (2, files_before)
    assert "HYPERLINK" not in refused.stderr


def test_a_release_without_formulas_says_nothing_of_them(folder):  # R8
    assert "formula" not in protect("people.csv", "-o", "r.csv", "--formulas", "refuse").stderr


# --- encodings on the command line ----------------------------------------------------------------------------------


def test_an_encoding_is_guessed_with_a_note_or_set(folder):  # T23, U5
    text = "\n".join(["straße,alter", *(f"Köln,{30 + i % 2}" for i in range(10))])
    Path("west.csv").write_bytes(text.encode("cp1252"))
    Path("dos.csv").write_bytes(text.encode("cp850"))
    for engine in ((), ("--engine", "duckdb")):
        guessed = unmask("audit", "west.csv", "-q", "straße,alter", *engine)
        assert guessed.exit_code == 0, guessed.stderr
        assert "was read as cp1252 (--encoding changes that)" in guessed.stderr
        read_right = unmask("audit", "dos.csv", "-q", "straße,alter", "--encoding", "cp850", *engine)
        assert (read_right.exit_code, "cp1252" in read_right.stderr) == (0, False)
    misspelled = unmask("audit", "dos.csv", "-q", "straße", "--encoding", "cp85")
    assert misspelled.exit_code == 2
    assert "encoding 'cp85' is not known" in misspelled.stderr


# --- every failure is a sentence ------------------------------------------------------------------------------------


def test_a_word_behind_two_dashes_is_no_crash(folder):  # R12
    done = unmask("--", "-q")
    assert (done.exit_code, "'-q' is not a command" in done.stderr) == (2, True)


@pytest.mark.parametrize("bound", [("--delta", "1000"), ("--epsilon", "1000"), ("--epsilon", "700", "--delta", "705")])
def test_a_bound_without_effect_changes_nothing(folder, bound):  # R13
    assert unmask("design", "--prior", "prior.csv", "--budget", "0.1", "-o", "free.csv").exit_code == 0
    done = unmask("design", "--prior", "prior.csv", "--budget", "0.1", "-o", "m.csv", *bound)
    assert done.exit_code == 0, done.stderr
    assert Path("m.csv").read_text() == Path("free.csv").read_text()


@pytest.mark.parametrize("engine", [(), ("--engine", "duckdb")])
@pytest.mark.parametrize("name", [".ok.csv", "..csv", ".x"])
def test_a_name_that_begins_with_a_dot_is_a_name(folder, name, engine):  # R14
    if engine and name == ".x":
        pytest.skip("an engine goes by the suffix")
    Path("truth.csv").write_text("item,subject\na,1\nb,1\n")
    Path(name).write_text("item,cluster\na,1\nb,1\n")
    done = unmask("audit", "linkage", "--truth", "truth.csv", "--guess", name, *engine)
    assert done.exit_code == 0, done.stderr
    assert '""' not in done.stdout


def test_outputs_are_there_together_or_not_at_all(folder):  # R21
    files_before = content(folder)
    for command in (
        ("design", "--prior", "prior.csv", "--budget", "0.1", "-o", "m.csv", "--curve", "/dev/null/x"),
        ("protect", "people.csv", *ROLES, "-o", "r.csv", "--origin", "/dev/null/x"),
        ("protect", "graph", "friends.txt", "-o", "r.txt", "--origin", "/dev/null/x"),
        ("audit", "people.csv", "-q", "age", "--report", "r.html", "--export", "/dev/null/x"),
        ("audit", "people.csv", "-q", "age", "--report", "/dev/null/r.html", "--export", "x"),
    ):
        done = unmask(*command)
        assert (done.exit_code, content(folder)) == (1, files_before), command
        assert "cannot be written" in done.stderr
        assert not Path("x").exists()


def test_a_curve_has_a_point(folder):  # R11
    done = unmask("design", "--prior", "prior.csv", "--budget", "1e308", "-o", "m.csv", "--curve", "c.csv")
    assert done.exit_code == 0, done.stderr
    assert len(Path("c.csv").read_text().splitlines()) > 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.parametrize("command", [["list"], ["--help"], ["--version"], ["price", "1-5"], ["protect", "--help"]])
def test_an_output_that_is_full_is_a_sentence(command):  # R16
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run([*COMMAND, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: the output cannot be written: No space left on device")
    assert len(done.stderr.splitlines()) == 1


@contextlib.contextmanager
def full_after(size):
    """A disk on which no file can grow beyond that many bytes: what writes sees the error of the system itself."""
    resource = pytest.importorskip("resource")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)


@pytest.mark.parametrize("size", [0, 16])
@pytest.mark.parametrize(
    "command",
    [
        ("audit", "people.csv", "-q", "age", "-s", "diagnosis", "--export", "parts"),
        ("audit", "people.csv", "-q", "age", "-s", "diagnosis", "--report", "r.html"),
        ("audit", "people.csv", "-q", "age", "--at-risk", "who.csv"),
        ("protect", "people.csv", *ROLES, "-o", "r.csv", "--origin", "o.csv"),
        ("protect", "people.csv", *ROLES, "-o", "r.parquet"),
        ("protect", "people.csv", *ROLES, "-o", "r.parquet", "--engine", "duckdb"),
        ("protect", "graph", "friends.txt", "-o", "g.txt", "--origin", "o.csv"),
        ("design", "--prior", "prior.csv", "--budget", "0.1", "-o", "m.csv"),
    ],
    ids=" ".join,
)
def test_a_disk_that_fills_is_a_sentence_and_leaves_nothing(folder, command, size):  # R15
    files_before = content(folder)
    with full_after(size):
        done = unmask(*command)
    assert (done.exit_code, content(folder)) == (1, files_before)
    assert done.stderr.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize("size", [0, 400])
def test_a_study_whose_disk_fills_goes_on_when_there_is_room(folder, size):  # R15
    Path("plan.toml").write_text(STUDY.replace("seeds = 6", "seeds = 1").replace("3000", "30"))
    with full_after(size):
        done = unmask("study", "plan.toml", "-o", "run")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].startswith("Error: ")
    again = unmask("study", "plan.toml", "-o", "run")
    assert again.exit_code == 0, again.stderr


def test_a_gate_about_nothing_leaves_nothing(folder):  # R21
    done = unmask("audit", "people.csv", "-q", "age", "--report", "r.html", "--policy", "no_such_measure<=1")
    assert (done.exit_code, Path("r.html").exists()) == (2, False)


def test_a_demo_replaces_no_file(folder):  # R4
    files_before = content(folder)
    done = unmask("demo", "--people", "500", "--report", "people.csv")
    assert (done.exit_code, content(folder)) == (2, files_before)


@pytest.mark.parametrize("command", [("study", "/dev/zero", "-o", "run"), ("price", "1-5", "--attacker", "/dev/zero")])
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device without an end")
def test_a_device_is_no_text_file(folder, command):
    done = unmask(*command)
    assert (done.exit_code, "not a regular file" in done.stderr) == (1, True)


def test_a_design_is_called_csv(folder):
    done = unmask("design", "--prior", "prior.csv", "--budget", "0.1", "-o", "m.parquet")
    assert (done.exit_code, "call it .csv" in done.stderr) == (2, True)


# --- signals --------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("module", ["click", "duckdb", "numpy"])
def test_a_signal_while_a_module_is_imported_is_a_sentence(folder, name, module):  # R17, R18
    script = f"""
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.{name})
sys.meta_path.insert(0, Finder())
import unmask_command
sys.argv = ["unmask", "audit", "people.csv", "-q", "age"]
unmask_command.main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: interrupted before the end; run the same command again\n"


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_of_which_the_engine_makes_an_error_of_its_own_is_a_sentence(folder, name):  # R17
    script = f"""
import os, signal, sys, time
import unmask_command
from unmask.tables import Mondrian
def interrupted(*_, **__):  # what DuckDB raises where a signal came while it worked
    try:
        os.kill(os.getpid(), signal.{name})
        time.sleep(60)
    except KeyboardInterrupt:
        raise RuntimeError("Query interrupted") from None
Mondrian.__call__ = interrupted
sys.argv = ["unmask", "protect", "people.csv", "-q", "age,sex,diagnosis", "-o", "r.csv"]
unmask_command.main()
"""
    files_before = content(folder)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, content(folder)) == (1, "", files_before)
    assert done.stderr == "Error: interrupted before the end; run the same command again\n"


STUDY = """
seeds = 6
[[data]]
use = "tables.synthetic_census"
with = { n = 3000 }
quasi_identifiers = ["age", "sex", "zip"]
sensitive = ["diagnosis"]
[[protections]]
use = "tables.Mondrian"
grid = { k = [2, 5] }
[[adversaries]]
use = "tables.ClassAttack"
knows = { targets = 3000 }
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes as Linux lists them")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_study_that_is_ended_leaves_no_process(folder, number):  # R19, R20
    Path("plan.toml").write_text(STUDY)
    command = [*COMMAND, "study", "plan.toml", "-o", "run", "--workers", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not Path("run/journal.jsonl").exists() or not Path("run/journal.jsonl").stat().st_size:
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, number)  # as a terminal does: its workers get it, too
    _, message = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in message
    assert [entry for entry in Path("/proc").iterdir() if _session(entry) == process.pid] == []


def _session(entry):
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[3])
    except (OSError, IndexError):
        return None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_full_standard_output_leaves_no_report(tmp_path):  # R16
    people = tmp_path / "people.csv"
    people.write_text("age,ill\n" + "30,flu\n31,none\n" * 20)
    commands = {
        "page.html": ["audit", str(people), "-q", "age", "-s", "ill", "--report", str(tmp_path / "page.html")],
        "demo.html": ["demo", "--people", "500", "--report", str(tmp_path / "demo.html")],
    }
    for name, arguments in commands.items():
        with Path("/dev/full").open("w") as full:
            done = subprocess.run([sys.executable, "-m", "unmask", *arguments], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 1
        assert b"Traceback" not in done.stderr
        assert not (tmp_path / name).exists()


INTERRUPTED_IN_A_FINALIZER = """
import os, signal, sys, time, types

class Interrupted:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)

def main():
    Interrupted()
    for _ in range(1000):
        time.sleep(0.01)

sys.modules["unmask.cli"] = types.ModuleType("unmask.cli")
sys.modules["unmask.cli"].main = main
import unmask_command
unmask_command.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="needs signals of POSIX")
def test_an_interrupt_in_a_finalizer_ends_the_command_with_a_sentence():
    command = [sys.executable, "-c", INTERRUPTED_IN_A_FINALIZER]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert ended.stderr == "Error: interrupted before the end; run the same command again\n"


def test_households_of_a_release_without_their_column_are_those_of_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    lines = [f"{20 + n % 5},{'fm'[n % 2]},h{n // 3}" for n in range(60)]
    Path("people.csv").write_text("\n".join(["age,sex,home", *lines]), encoding="utf-8")
    roles = ["-q", "age,sex", "--household", "home", "--person", "row"]
    main(["protect", "people.csv", *roles, "--k", "6", "-o", "r.csv", "--origin", "o.csv"], standalone_mode=False)
    assert Path("r.csv").read_text(encoding="utf-8").startswith("age,sex\n")
    origin = [int(row) for row in Path("o.csv").read_text(encoding="utf-8").split()[1:]]
    released = Path("r.csv").read_text(encoding="utf-8").splitlines()[1:]
    joined = ["age,sex,home", *(f"{row},h{person // 3}" for row, person in zip(released, origin, strict=True))]
    Path("joined.csv").write_text("\n".join(joined), encoding="utf-8")

    def criteria(*words: str) -> dict[str, float]:
        capsys.readouterr()
        main(["audit", *words, *roles, "--json"], standalone_mode=False)
        result = json.loads(capsys.readouterr().out)
        (row,) = [row for row in result["tables"]["criteria"] if row["release"] != "original"]
        return {key: value for key, value in row.items() if "household" in key}

    expected = criteria("joined.csv")
    assert expected["household_k"] >= 1
    assert criteria("r.csv", "--original", "people.csv", "--origin", "o.csv") == expected
