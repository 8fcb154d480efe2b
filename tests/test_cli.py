"""The command line: what it prints, what it writes, how it ends, and that no cell is ever in a message."""

import csv
import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import unmask as package
from tests.envelopes import parsed, rows_of
from unmask.cli import main
from unmask.results.formats import percent

SECRET = "SECRET77"
ROLES = ("-q", "age,sex,zip", "-s", "diagnosis", "--type", "zip=number")  # whose classes are disjoint
HEADER = ["name", "age", "sex", "zip", "diagnosis"]


def people(n=240):
    return [
        [f"{SECRET}-{i}", 20 + i * 7 % 40, "fm"[i % 2], 1000 + i * 13 % 9, ["flu", "gout", "asthma"][i * i % 5 % 3]]
        for i in range(n)
    ]


def write(path, rows, delimiter=","):
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)


def read(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def class_sizes(path):
    keys = [(row["age"], row["sex"], row["zip"]) for row in read(path)]
    return [keys.count(one) for one in set(keys)]


def unmask(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    crashed = result.exception is not None and not isinstance(result.exception, SystemExit)
    assert not crashed, repr(result.exception)
    return result


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The people and their release, k = 10."""
    made = tmp_path_factory.mktemp("released")
    write(made / "people.csv", [HEADER, *people()])
    outputs = ("-o", made / "release.csv", "--origin", made / "origin.csv")
    done = unmask("protect", made / "people.csv", *ROLES, "--identifiers", "name", *outputs)
    assert done.exit_code == 0, done.stderr
    return made


@pytest.fixture
def folder(released, tmp_path, monkeypatch):
    """A folder with copies of them, in which the command runs."""
    shutil.copytree(released, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def everything_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# --- what works ---------------------------------------------------------------------------------------------------


def test_origin_names_the_row_of_each_record(folder):
    released = read("release.csv")
    rows = [int(line) for line in Path("origin.csv").read_text().split()[1:]]
    source = people()
    assert sorted(rows) == list(range(240))
    assert [record["diagnosis"] for record in released] == [source[row][4] for row in rows]
    assert "name" not in released[0]
    assert SECRET not in Path("release.csv").read_text()


def test_protect_tells_what_it_did_as_json(folder):
    done = unmask("protect", "people.csv", *ROLES, "--k", 5, "-o", "k5.csv", "--json")
    document = parsed(done.stdout)
    (told,) = document["results"]
    sizes = class_sizes("k5.csv")
    assert told.keys() == {"rows", "classes", "k", "seconds", "gcp", "average_class_size"}
    assert (told["rows"], told["classes"], told["k"]) == (240, len(sizes), min(sizes))
    assert min(sizes) >= 5
    assert told["average_class_size"] == pytest.approx(240 / len(sizes))
    assert 0 <= told["gcp"] <= 1
    assert "wrote k5.csv" in done.stderr
    assert document["tables"]["dropped"] == [{"column": "name"}]
    assert "dropped, without a role: name;" in done.stderr


def test_audit_with_all_evidence(folder):
    register = [[row[0], row[1], row[2]] for row in people()]
    write("register.csv", [["name", "age", "sex"], *register])
    done = unmask(
        *("audit", "release.csv", *ROLES, "--original", "people.csv", "--origin", "origin.csv"),
        *("--register", "register.csv", "--coverage", 0.9, "--report", "report.html", "--json"),
    )
    assert done.exit_code == 0, done.stderr
    found = parsed(done.stdout)
    sizes = class_sizes("release.csv")
    assert rows_of(found, "criteria", release="release")["rows"] == 240
    assert [(one["classes"], one["k"]) for one in found["tables"]["criteria"]] == [(len(sizes), min(sizes))]
    rows = {(row["release"], row["adversary"], row["target"], row["measure"]): row for row in found["results"]}
    realized = rows["release", "prosecutor", "identity", "realized_success"]
    # exact beliefs over disjoint classes succeed for classes / people (Rebollo-Monedero et al. 2012, section V-A1)
    assert realized["posterior"] == pytest.approx(len(sizes) / 240, abs=1e-6)
    assert realized["prior"] == pytest.approx(1 / 240, abs=1e-6)
    assert realized["gain"] == pytest.approx(realized["posterior"] - realized["prior"])
    assert (realized["low"], realized["high"]) == (None, None)
    assert realized["interval"] == "every target attacked: exact for this release"
    assert realized["n"] == 240
    assert ("release", "journalist", "identity", "success_probability") in rows
    assert ("release", "prosecutor", "diagnosis", "realized_success") in rows
    assert ("original", "prosecutor", "identity", "realized_success") in rows
    assert all(isinstance(warning, str) for warning in found["warnings"])
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html")
    assert SECRET not in page + done.output


def test_a_released_column_that_the_original_lacks_is_not_called_known(folder):
    """A number by the order of the original re-identifies everybody, and no adversary was given it."""
    people = Path("people.csv").read_text(encoding="utf-8").splitlines()
    numbered = [f"case,{people[0]}", *(f"{i},{line}" for i, line in enumerate(people[1:]))]
    Path("numbered.csv").write_text("\n".join(numbered) + "\n", encoding="utf-8")
    given = ("-q", "age,sex", "-s", "diagnosis", "--original", "people.csv", "--no-changes", "--json")
    known, unknown = parsed(unmask("audit", "numbered.csv", *given, "--report", "page.html").stdout)["warnings"][:2]
    assert known == "an adversary may know released columns without a role: name, zip"
    assert unknown.startswith("the original lacks columns of numbered, so no adversary knows them: case.")
    assert "a hash of a name" in Path("page.html").read_text(encoding="utf-8")


def test_columns_without_a_role_are_named(folder):
    roles = ("-q", "age,sex", "-s", "diagnosis")
    found = parsed(unmask("audit", "people.csv", *roles, "--json").stdout)
    assert found["warnings"][0] == "an adversary may know released columns without a role: name, zip"
    found = parsed(unmask("audit", "people.csv", *roles, "--identifiers", "name", "--json").stdout)
    assert found["warnings"][0] == "an adversary may know released columns without a role: zip"


def test_a_permuted_origin_is_less_successful_than_the_true_one(folder):
    rows = Path("origin.csv").read_text().split()[1:]
    Path("wrong.csv").write_text("\n".join(["row", *rows[len(rows) // 2 :], *rows[: len(rows) // 2]]) + "\n")
    success = {}
    for origin in ("origin.csv", "wrong.csv"):
        done = unmask("audit", "release.csv", *ROLES, "--original", "people.csv", "--origin", origin, "--json")
        success[origin] = next(
            row["posterior"]
            for row in parsed(done.stdout)["results"]
            if (row["release"], row["target"], row["measure"]) == ("release", "identity", "realized_success")
        )
    assert success["wrong.csv"] < success["origin.csv"] / 2


def test_several_releases_are_distinguished_by_their_names(folder):
    unmask("protect", "people.csv", *ROLES, "--identifiers", "name", "--k", 40, "-o", "k40.csv")
    found = parsed(unmask("audit", "release.csv", "k40.csv", *ROLES, "--json").stdout)
    assert {row["release"] for row in found["results"]} == {"release", "k40"}
    assert rows_of(found, "criteria", release="k40")["k"] >= 40 > rows_of(found, "criteria", release="release")["k"]


def test_without_json_an_audit_is_a_table_with_the_next_command(folder):
    done = unmask("audit", "release.csv", *ROLES)
    verdict, _, head, row = done.stdout.splitlines()[2:6]
    assert verdict == "No verdict: choose a policy."
    head, row = head.split(), row.split()
    assert (head, row[:3]) == (
        ["release", "rows", "classes", "k", "l", "t"],
        ["release", "240", str(len(class_sizes("release.csv")))],
    )
    assert [line.split()[:2] for line in done.stdout.splitlines() if line.startswith("prosecutor")] == [
        ["prosecutor", "identity"], ["prosecutor", "diagnosis"],
    ]  # fmt: skip
    assert "\x1b" not in done.stdout
    assert done.stderr == "next: unmask choose columns release.csv -q age,sex,zip -s diagnosis --type zip=number\n"
    assert unmask(*done.stderr.split()[2:]).exit_code == 0


def test_identifiers_may_be_gone_from_the_release(folder):
    done = unmask("audit", "release.csv", *ROLES, "--identifiers", "name", "--original", "people.csv")
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("suffix", ["tsv", "csv.gz", "parquet"])
def test_release_formats_give_the_same_audit(folder, suffix):
    arguments = ("protect", "people.csv", *ROLES, "--identifiers", "name", "-o", f"other.{suffix}")
    assert unmask(*arguments).exit_code == 0
    ours, plain = (
        {**parsed(unmask("audit", name, *ROLES, "--json").stdout)["tables"]["criteria"][0], "release": ""}
        for name in (f"other.{suffix}", "release.csv")
    )
    assert ours == plain


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_delimiters_are_guessed_or_given(tmp_path, monkeypatch, delimiter):
    monkeypatch.chdir(tmp_path)
    write("people.csv", [HEADER, *people()], delimiter)
    given = "\\t" if delimiter == "\t" else delimiter
    guessed = unmask("audit", "people.csv", *ROLES, "--json")
    assert guessed.exit_code == 0, guessed.stderr
    assert unmask("audit", "people.csv", *ROLES, "--json", "--delimiter", given).stdout == guessed.stdout


@pytest.mark.parametrize("missing", ["own", "wildcard", "excluded"])
def test_missing_cells_obey_the_rule(tmp_path, monkeypatch, missing):
    monkeypatch.chdir(tmp_path)
    # 6 rows (20, f), 3 rows (20, m), 1 row with an unknown age and f
    rows = [["20", "f"]] * 6 + [["20", "m"]] * 3 + [["?", "f"]]
    write("release.csv", [["age", "sex"], *rows])
    done = unmask(
        "audit", "release.csv", "-q", "age,sex", "--na", "?", "--missing", missing, "--json", "--smallest-shown", 1
    )
    (found,) = parsed(done.stdout)["tables"]["criteria"]
    assert found["rows_missing"] == 1
    assert (found["k"], found["rows_excluded"]) == {"own": (1, 0), "wildcard": (3, 0), "excluded": (3, 1)}[missing]


def test_a_release_of_one_row_and_absent_targets_stay_strict_json(folder):
    write("one.csv", [["age", "sex", "zip", "diagnosis"], [99, "f", 1, "flu"]])
    done = unmask("audit", "one.csv", *ROLES, "--original", "people.csv", "--json")
    found = parsed(done.stdout)
    (criteria,) = found["tables"]["criteria"]
    assert (criteria["rows"], criteria["k"]) == (1, None)
    own = {(r["target"], r["measure"]): r for r in found["results"] if r["release"] == "one"}
    assert ("identity", "success_probability") not in own  # the row is nobody's
    row = own["diagnosis", "success_probability"]
    assert row["posterior"] == pytest.approx(row["prior"], abs=0.01)  # one row says next to nothing


def test_a_secret_missing_for_everyone_is_not_run_and_does_not_stop_the_audit(folder):
    write("silent.csv", [HEADER, *[[*row[:4], ""] for row in people()]])
    done = unmask("audit", "release.csv", *ROLES, "--original", "silent.csv", "--origin", "origin.csv", "--json")
    assert done.exit_code == 0, done.stderr
    measured = {(row["release"], row["target"], row["measure"]) for row in parsed(done.stdout)["results"]}
    assert ("release", "identity", "realized_success") in measured
    assert ("release", "diagnosis", "realized_success") not in measured


def test_list_shows_the_catalog():
    from unmask.catalog import examples, list_measures

    shown = parsed(unmask("list", "--json").stdout)["results"]
    for kind, names in (
        ("attack", examples("attacks")),
        ("protection", examples("protections")),
        ("measure", list_measures()),
    ):
        assert [one["name"] for one in shown if one["kind"] == kind] == list(names)
    assert {"dataset", "criteria", "utilitie"} < {one["kind"] for one in shown}
    lines = [one["text"] for one in shown if one["kind"] in ("attack", "protection")]
    assert all(line.endswith((".", "?")) for line in lines)  # whole, none cut in the middle
    text = unmask("list").stdout
    assert all(one["name"] in text for one in shown)


def test_demo_prints_three_sentences_and_a_line_for_each_release_and_writes_the_rest(tmp_path):
    done = unmask("demo", "--people", 600, "--report", tmp_path / "demo.html")
    assert done.exit_code == 0, done.stderr
    verdict, finding, unjudged, gap, head, *releases = done.stdout.splitlines()
    assert verdict.startswith("Not acceptable under EMA 0.09")
    assert "of 600 people; guessing gives 0.17 %" in finding
    assert unjudged.startswith("Not judged: an insider")
    assert gap == ""
    assert head.split()[0] == "release"
    highest = {line.split()[0]: float(line.partition(" % ")[2].split()[1]) for line in releases}
    assert highest["original"] == 100
    assert all(0 < highest[f"k={k}"] <= 100 / k for k in (3, 12, 50))
    assert [line.endswith("not acceptable") for line in releases] == [False, True, False, False]
    assert "seed 0" in done.stderr
    page = (tmp_path / "demo.html").read_text(encoding="utf-8")
    assert "k=50" in page
    assert "journalist" in page
    assert [path.name for path in tmp_path.iterdir()] == ["demo.html"]


def test_u1_what_the_demo_says_of_a_register_is_what_enumeration_gives(tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr("unmask.render.page.render", lambda result, *_: (shown.append(result), "")[1])
    done = unmask("demo", "--people", 1500, "--report", tmp_path / "demo.html")
    assert done.exit_code == 0, done.stderr
    (found,) = shown
    rows = {(row.release, row.adversary, row.measure): row for row in found.rows if row.target == "identity"}
    for k in (3, 12, 50):
        told, real = (rows[f"k={k}", "journalist", name] for name in ("success_probability", "realized_success"))
        known = rows[f"k={k}", "prosecutor", "realized_success"]
        # everybody was released: a class of n with somebody in the register gives each of its records 1 / n
        assert told.posterior == pytest.approx(real.posterior, abs=1e-9)
        assert told.posterior <= known.posterior + 1e-9
        assert (1500 * told.posterior) == pytest.approx(round(1500 * told.posterior), abs=1e-6)  # classes, by 1500
        assert told.worst <= 1 / k + 1e-9
        assert real.prior == pytest.approx(1 / 1500)


@pytest.mark.parametrize("command", ["", *main.list_commands(click.Context(main))])
def test_help(command):
    done = unmask(*command.split(), "--help")
    assert done.exit_code == 0
    assert "Usage:" in done.stdout
    assert "\\b" not in done.stdout
    assert done.stderr == ""


# --- how it ends --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "code"), [(0.01, 3), (0.5, 0), (1, 0)])
def test_a_condition_that_is_missed_ends_with_a_code_of_its_own(folder, limit, code):
    done = unmask("audit", "release.csv", *ROLES, "--json", "--policy", f"identity:success_probability<={limit}")
    assert done.exit_code == code
    parsed(done.stdout)
    assert ("missed: release: prosecutor, identity, success_probability is 0.07" in done.stderr) == (code == 3)


@pytest.mark.parametrize(
    ("gate", "code", "said"),
    [
        ("estimation_error>=0.95", 3, "estimation_error is"),
        ("estimation_error>=0.1", 0, ""),
        ("prosecutor:effective_set_size>=0.01", 0, ""),
        ("prosecutor:effective_set_size>=9999", 3, "effective_set_size is"),
        ("burglar:effective_set_size>=9", 2, "'burglar' is neither an adversary nor a target"),
        ("estimation>=0.1", 2, "this measure was not evaluated"),
        ("estimation_error=0.1", 2, "a condition such as k>=5"),
        ("estimation_error>=lots", 2, "expected for example"),
    ],
)
def test_gates_of_a_pipeline(folder, gate, code, said):
    done = unmask("audit", "release.csv", *ROLES, "--policy", gate)
    assert done.exit_code == code
    assert said in done.stderr


def test_a_condition_that_is_missed_still_leaves_the_report(folder):
    done = unmask("audit", "release.csv", *ROLES, "--report", "report.html", "--policy", "success_probability<=0.01")
    assert done.exit_code == 3
    assert Path("report.html").stat().st_size > 1000


def test_as_a_program(folder):
    def run(*arguments):
        command = [sys.executable, "-m", "unmask", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)

    good = run("audit", "release.csv", *ROLES, "--json")
    assert (good.returncode, good.stderr) == (0, "")
    assert parsed(good.stdout)["tables"]["criteria"][0]["rows"] == 240
    bad = run("audit", "release.csv", "-q", "agee")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "did you mean 'age'?" in bad.stderr
    assert "Traceback" not in bad.stderr


# --- what is refused ----------------------------------------------------------------------------------------------


GOOD = "age,sex,zip,diagnosis\n" + "20,f,1,flu\n30,m,2,gout\n" * 20


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        ("", 2, "is empty"),
        ("age,sex,zip,diagnosis\n", 2, "has no rows"),
        (f"age,age,sex,zip,diagnosis\n1,2,{SECRET},3,flu\n", 2, "two columns named 'age'"),
        (f"sex,zip,diagnosis\nf,1,{SECRET}\n", 2, "column 'age' is not in"),
        (f"{GOOD}{SECRET},f\n", 1, "line 42"),
        (f'{GOOD}20,f,1,"{SECRET}\n', 1, "line 42"),
        (GOOD.encode() + "20,f,1,äöü\n".encode() + b"20,f,1,\xe9" + SECRET.encode() + b"\n", 1, "line 43"),
    ],
    ids=["empty", "header", "duplicate", "column", "ragged", "quote", "late-encoding"],
)
def test_bad_files(tmp_path, monkeypatch, content, code, message):
    monkeypatch.chdir(tmp_path)
    Path("bad.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    for command in (("audit", "bad.csv"), ("protect", "bad.csv", "-o", "out.csv")):
        refused(unmask(*command, *ROLES), code, message)
    assert not Path("out.csv").exists()


def refused(result, code, message):
    """One sentence on standard error, nothing on standard output, no cell."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert message in result.stderr
    assert SECRET not in result.stderr
    assert "Traceback" not in result.stderr
    assert sum(line.startswith("Error:") for line in result.stderr.splitlines()) == 1


@pytest.mark.parametrize("damage", ["cut", "cut early", "no gzip"])
def test_damaged_gzip(tmp_path, monkeypatch, damage):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i * 7919 % 100_003},f,1,{SECRET}{i}\n" for i in range(20_000))
    packed = gzip.compress(b"age,sex,zip,diagnosis\n" + rows.encode())
    data = {"cut": packed[: len(packed) // 2], "cut early": packed[:30], "no gzip": GOOD.encode()}[damage]
    Path("bad.csv.gz").write_bytes(data)
    refused(unmask("audit", "bad.csv.gz", *ROLES), 1, "gzip" if damage == "no gzip" else "truncated")


def test_damaged_parquet(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" + SECRET.encode())
    refused(unmask("audit", tmp_path / "bad.parquet", *ROLES), 1, "Parquet")


@pytest.mark.parametrize(
    "cell", [SECRET, f'"[20, {SECRET}"', '"[30, 20]"'], ids=["text", "interval with text", "interval turned round"]
)
def test_unparsable_cells_of_a_declared_number_column(tmp_path, monkeypatch, cell):
    monkeypatch.chdir(tmp_path)
    Path("bad.csv").write_text(GOOD + f"{cell},f,1,flu\n")
    done = unmask("audit", "bad.csv", *ROLES, "--type", "age=number")
    refused(done, 2, "number column 'age' has values that are neither a number nor an interval (1 distinct)")
    assert "[30, 20]" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["audit", "release.csv", "-q", "agee"], 2, "did you mean 'age'?"),
        (["audit", "release.csv", *ROLES, "--delimiter", ";"], 2, "',' seems right"),
        (["audit", "release.csv", *ROLES, "--delimiter", ";;"], 2, "expected one character"),
        (["audit", "release.csv", *ROLES, "--delimiter", ""], 2, "expected one character"),
        (["audit", "release.csv", *ROLES, "--type", "age=nunber"], 2, "did you mean 'number'?"),
        (["audit", "release.csv", *ROLES, "--type", "age"], 2, "COLUMN=VALUE"),
        (["audit", "release.csv", *ROLES, "--type", "agee=number"], 2, "did you mean 'age'?"),
        (["audit", "release.csv", "-q", ","], 2, "0 quasi-identifiers given"),
        (["audit", "release.csv", "-q", "age,sex", "-s", "age"], 2, "given twice"),
        (["audit", "nowhere.csv", "-q", "age", "--identifiers", "age"], 2, "given twice"),
        (["audit", "release.csv"], 2, "--quasi-identifiers"),
        (["audit", *ROLES], 2, "RELEASES"),
        (["audit", "release.csv", "release.csv", *ROLES], 2, "given twice"),
        (["audit", "nowhere.csv", *ROLES], 1, "does not exist"),
        (["audit", ".", *ROLES], 1, "is not a file"),
        (["audit", "release.csv", *ROLES, "--original", "nowhere.csv"], 1, "does not exist"),
        (["audit", "release.csv", *ROLES, "--register", "nowhere.csv"], 1, "does not exist"),
        (["audit", "release.csv", *ROLES, "--register", "strangers.csv"], 2, "none of the quasi-identifiers"),
        (["audit", "release.csv", *ROLES, "--origin", "origin.csv"], 2, "give both"),
        (["audit", "release.csv", *ROLES, "--original", "no_secret.csv"], 2, "column 'diagnosis' is not in"),
        (["audit", "release.csv", *ROLES, "--register", "people.csv", "--coverage", "1.5"], 2, "--coverage"),
        (["audit", "release.csv", *ROLES, "--coverage", "nan"], 2, "--coverage"),
        (["audit", "release.csv", *ROLES, "--coverage", "0.5"], 2, "--coverage is 0.5"),
        (["audit", "release.csv", *ROLES, "--hold-back", "0.2"], 2, "--hold-back"),
        (["audit", "release.csv", *ROLES, "--attack", "BackOff"], 2, "BackOff:sensitive=..."),
        (["audit", "release.csv", *ROLES, "--policy", "nan"], 2, "--policy"),
        (["audit", "release.csv", *ROLES, "--seed", "-1"], 2, "--seed"),
        (["audit", "release.csv", *ROLES, "--targets", "0"], 2, "--targets"),
        (["audit", "release.csv", *ROLES, "--missing", "guess"], 2, "'wildcard'"),
        (["audit", "people.csv", *ROLES, "--hierarchy", "sex=nowhere.csv"], 1, "file 'nowhere.csv' does not exist"),
        (["audit", "people.csv", *ROLES, "--hierarchy", "sex=tree.csv"], 2, "not in its hierarchy"),
        (["audit", "people.csv", *ROLES, "--hierarchy", "sex=empty.csv"], 2, "is empty"),
        (["audit", "release.csv", *ROLES, "--report", "people.csv"], 2, "people.csv exists"),
        (["audit", "release.csv", *ROLES, "--report", "people.csv/x.html"], 1, "cannot be written"),
        (["protect", "people.csv", *ROLES, "-o", "out.csv", "--k", "500"], 1, "240 people, fewer than k = 500"),
        (["protect", "people.csv", *ROLES, "-o", "out.csv", "--k", "0"], 2, "k is 0"),
        (["protect", "people.csv", *ROLES, "-o", "out.csv", "--l", "9"], 1, "cannot be satisfied"),
        (["protect", "people.csv", "-q", "age", "-o", "out.csv", "--l", "2"], 2, "no sensitive column"),
        (["protect", "people.csv", *ROLES, "-o", "out.csv", "--t", "-1"], 2, "t is -1"),
        (["protect", "people.csv", *ROLES, "-o", "out.csv", "--t", "nan"], 2, "t is nan"),
        (["protect", "people.csv", *ROLES, "-o", "out.csv", "--seed", "-1"], 2, "--seed"),
        (["protect", "people.csv", *ROLES, "-o", "out.docx"], 2, "unknown suffix"),
        (["protect", "people.csv", *ROLES, "-o", "release.csv"], 2, "release.csv exists"),
        (["protect", "people.csv", *ROLES, "-o", "out.csv", "--origin", "origin.csv"], 2, "origin.csv exists"),
        (["protect", "people.csv", *ROLES, "-o", "out.csv", "--origin", "out.csv"], 2, "two outputs go to out.csv"),
        (["protect", "people.csv", *ROLES, "-o", "people.csv/out.csv"], 1, "cannot be written"),
        (["protect", "people.csv", *ROLES, "-o", "nowhere/out.csv"], 1, "cannot be written"),
        (["protect", "people.csv", *ROLES, "-o", "out.csv", "--origin", "people.csv/o.csv"], 1, "cannot be written"),
        (["audti", "release.csv"], 2, "did you mean 'audit'?"),
        (["audit", "release.csv", *ROLES, "--jsn"], 2, "--json"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_refused_and_nothing_written(folder, arguments, code, message):
    write("strangers.csv", [["name", "town"], [SECRET, SECRET]])
    write("no_secret.csv", [row[:4] for row in [HEADER, *people()]])
    Path("tree.csv").write_text("f;person\n")
    Path("empty.csv").write_text("")
    before = everything_in(folder)
    refused(unmask(*arguments), code, message)
    assert everything_in(folder) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes")
@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "release.csv", *ROLES, "--report"],
        ["audit", "release.csv", *ROLES, "--export"],
        ["protect", "people.csv", *ROLES, "-o"],
        ["protect", "people.csv", *ROLES, "-o", "out.csv", "--origin"],
        ["demo", "--people", "500", "--report"],
    ],
)
def test_a_device_or_a_link_is_never_replaced_by_a_file(folder, arguments):
    os.mkfifo("pipe")
    Path("stdout").symlink_to("pipe")  # as /dev/stdout is
    for name in ("pipe", "stdout"):
        forced = () if arguments[0] == "demo" else ("--force",)
        refused(unmask(*arguments, name, *forced), 2, f"{name} is a device, a pipe or a link, expected a plain file")
    assert Path("pipe").is_fifo()
    assert Path("stdout").is_symlink()
    assert not Path("out.csv").exists()


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (["row", *range(239)], 2, "239 numbers for 240 records"),
        (["row", *[0] * 240], 2, "must name different rows"),
        (["row", *range(1, 241)], 2, "from 0 to 239"),
        (["row", *["9" * 40] * 240], 2, "from 0 to 239"),
        (["row", *[SECRET] * 240], 2, "one row number a line"),
        (["row", *range(100), '"100"', *range(101, 240)], 2, "something else than a number in line 102"),
        (["row", *["\u00b2"] * 240], 2, "one row number a line"),
        (["row", *range(-1, 239)], 2, "one row number a line"),
        ([], 2, "0 numbers"),
        (b"row\n\xe9\n", 1, "not UTF-8"),
        (None, 1, "cannot be read"),
    ],
    ids=[
        "short",
        "repeated",
        "outside",
        "huge",
        "text",
        "quoted",
        "superscript",
        "negative",
        "empty",
        "encoding",
        "absent",
    ],
)
def test_an_invalid_origin_is_refused(folder, content, code, message):
    if content is not None:
        text = content if isinstance(content, bytes) else "\n".join(map(str, content)).encode()
        Path("bad.csv").write_bytes(text)
    done = unmask("audit", "release.csv", *ROLES, "--original", "people.csv", "--origin", "bad.csv")
    refused(done, code, message)


def test_one_origin_for_each_release(folder):
    Path("again.csv").write_bytes(Path("release.csv").read_bytes())
    done = unmask("audit", "release.csv", "again.csv", *ROLES, "--original", "people.csv", "--origin", "origin.csv")
    refused(done, 2, "1 origins were given for 2 releases")


def test_a_full_disk_leaves_nothing_behind(folder, monkeypatch):
    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    before = everything_in(folder)
    refused(unmask("protect", "people.csv", *ROLES, "-o", "out.csv", "--origin", "o.csv"), 1, "No space left")
    refused(unmask("audit", "release.csv", *ROLES, "--report", "out.html"), 1, "No space left")
    assert everything_in(folder) == before


def test_force_overwrites(folder):
    before = everything_in(folder)
    arguments = ("protect", "people.csv", *ROLES, "--k", 7, "-o", "release.csv", "--origin", "origin.csv")
    assert unmask(*arguments).exit_code == 2
    assert unmask(*arguments, "--force").exit_code == 0
    after = everything_in(folder)
    assert after["people.csv"] == before["people.csv"]
    assert after["release.csv"] != before["release.csv"]
    assert after["origin.csv"] != before["origin.csv"]


def test_an_ordinal_column_is_cut_in_the_order_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grades = ["low", "mid", "high", "top"]
    write("grades.csv", [["grade"], *[[grades[i % 4]] for i in range(16)]])
    order = "grade=low,mid,high,top"
    done = unmask("protect", "grades.csv", "-q", "grade", "--order", order, "--k", "8", "-o", "release.csv")
    assert done.exit_code == 0, done.stderr
    assert {row["grade"] for row in read("release.csv")} == {"{low, mid}", "{high, top}"}
    audited = unmask("audit", "release.csv", "-q", "grade", "--order", order, "--original", "grades.csv", "--json")
    rows = {
        (row["release"], row["measure"]): row
        for row in parsed(audited.stdout)["results"]
        if row["adversary"] == "prosecutor"
    }
    assert rows["release", "success_probability"]["posterior"] == pytest.approx(1 / 8)


def test_an_audit_in_short_and_its_charts_and_tables(folder):
    done = unmask("audit", "release.csv", *ROLES, "--summary", "--export", "parts")
    assert done.exit_code == 0
    assert "Singling out" in done.stdout
    assert "wrote parts" in done.stderr
    names = {path.suffix for path in Path("parts").iterdir()}
    assert {".svg", ".png", ".csv", ".parquet", ".json"} <= names
    again = unmask("audit", "release.csv", *ROLES, "--export", "parts")
    assert again.exit_code == 2
    assert "parts exists" in again.stderr
    both = unmask("audit", "release.csv", *ROLES, "--summary", "--json")
    assert both.exit_code == 2
    assert "--json and --summary both say what is printed; leave one out" in both.stderr


def test_protect_says_what_diversity_costs(folder):  # T15
    done = unmask("protect", "people.csv", *ROLES, "--k", 5, "--l", 2, "-o", "diverse.csv", "--json")
    alone = parsed(unmask("protect", "people.csv", *ROLES, "--k", 5, "-o", "alone.csv", "--json").stdout)["results"][0]
    use = parsed(done.stdout)["results"][0]
    assert use["gcp_of_k_alone"] == alone["gcp"] < use["gcp"]
    assert f"information lost {percent(use['gcp'])} ({percent(alone['gcp'])} by k alone)" in done.stderr


def test_a_survey_weight_is_released_and_gives_the_risk_of_a_sample(folder):  # T21
    rows = read("people.csv")
    write("survey.csv", [[*rows[0], "pesos"], *([*row.values(), at % 7 + 1] for at, row in enumerate(rows))])
    done = unmask("protect", "survey.csv", *ROLES, "--weight", "pesos", "--k", 5, "-o", "weighted.csv")
    assert done.exit_code == 0, done.stderr
    assert "pesos" not in done.stderr.partition("next: ")[0]
    assert "--weight pesos" in done.stderr
    found = parsed(unmask("audit", "weighted.csv", *ROLES, "--weight", "pesos", "--json").stdout)
    assert 0 < found["tables"]["criteria"][0]["individual_risk_average"] < 1 / 5


def test_the_browser_without_its_extra_is_a_sentence(monkeypatch):
    monkeypatch.setattr("unmask.cli.open.find_spec", lambda _name: None)
    done = CliRunner().invoke(main, ["open", "people.csv"])
    assert done.exit_code == 1
    said = r"Error: the browser's part of unmask is not installed; install the extra \[app\] of unmask "
    assert re.fullmatch(said + r"\(.* -m pip install .*starlette>=\S+ .*\)\n", done.stderr)
