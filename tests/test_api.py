"""The Python API: frames in and out, the verbs return what the commands show, wrong use is one sentence."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner

import unmask
from tests.envelopes import parsed
from unmask.cli import main
from unmask.core.errors import UnmaskError
from unmask.data.frames import choose_library, frame_of_rows

ROLES = {"quasi_identifiers": ["age", "zip"], "sensitive": "job"}
MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


RING = unmask.read_graph({"one": ["a", "b", "c"], "other": ["b", "c", "a"]})
CHANNEL = unmask.read_channel([[0.9, 0.1], [0.2, 0.8]])
BELIEF = unmask.Posterior.from_dense(np.full((2, 2), 0.5))


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(4)
    return {
        "age": rng.integers(18, 60, 120),
        "zip": rng.integers(100, 106, 120).astype(str),
        "job": rng.choice(["a", "b", "c"], 120),
        "since": np.array(["2020-01-01", "2021-05-06"], dtype="datetime64[D]")[rng.integers(0, 2, 120)],
    }


@pytest.fixture(scope="module")
def table(columns):
    return unmask.read_table(pd.DataFrame(columns), **ROLES)


# --- frames ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", MAKERS)
def test_a_frame_comes_back_as_it_went_in(columns, library):
    frame = MAKERS[library](columns)
    back = unmask.read_table(frame, **ROLES, keep="since").to_frame(library=library)
    assert type(back) is type(frame)
    is_equal = back.equals(frame) if library != "pandas" else (back.astype(str) == frame.astype(str)).all(axis=None)
    assert is_equal
    assert str(back["age"].dtype if library != "pyarrow" else back["age"].type).lower() == "int64"


@pytest.mark.parametrize("library", MAKERS)
def test_every_table_of_a_result_is_a_frame(table, library):
    result = unmask.audit(table, attacker="case-study")
    for name in ("measures", *result.tables):
        frame = result.to_frame(name, library=library)
        assert isinstance(frame, MAKERS[library] if library != "pyarrow" else pa.Table)
        assert len(frame) == len(result.results if name == "measures" else result.tables[name])


def test_a_frame_is_of_the_library_that_the_program_has():
    assert choose_library() == "pandas"  # imported above, before the others
    assert frame_of_rows([{"n": 3}, {"n": "fewer than 10"}], library="polars")["n"].to_list() == ["3", "fewer than 10"]
    code = "import polars, unmask.data.frames as f; print(f.choose_library())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "polars"


def test_a_table_is_looked_at(table):
    assert len(table) == 120
    assert table["job"][:3].tolist() == list(table.to_frame()["job"][:3])
    assert table.head(2).shape == (2, 3)
    gaps = unmask.read_table({"age": [1, None, 3], "job": ["x", "y", None]}, quasi_identifiers="age", sensitive="job")
    assert gaps["job"].tolist() == ["x", "y", None]
    assert gaps.to_frame()["job"].isna().tolist() == [False, False, True]
    with pytest.raises(UnmaskError, match="did you mean 'zip'"):
        table["zipp"]


# --- the verbs return what the commands show -------------------------------------------------------------------------


@pytest.fixture
def house(columns, tmp_path):
    pd.DataFrame(columns).drop(columns="since").to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def show_json(*words):
    done = CliRunner().invoke(main, [*map(str, words), "--json"])
    assert done.exit_code == 0, done.stderr
    return {name: part for name, part in parsed(done.stdout).items() if name not in ("inputs", "warnings")}


def read_json(result, **options):
    return {
        name: part for name, part in parsed(result.to_json(**options)).items() if name not in ("inputs", "warnings")
    }


def check_same(ours, theirs):
    """Titles name files there and releases here."""
    for part in (ours, theirs):
        part["tables"].pop("about")
    return json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)


def test_audit_of_a_table_is_that_of_the_command(house):
    original = unmask.read_table(house / "people.csv", **ROLES)
    protected = unmask.protect(original, k=5)
    protected.release.write(house / "release.csv")
    (house / "origin.csv").write_text("row\n" + "\n".join(map(str, protected.origin)) + "\n")
    result = unmask.audit(protected.release, original=original, origin=protected.origin, attacker="case-study")
    files = ("--original", house / "people.csv", "--origin", house / "origin.csv", "--attacker", "case-study")
    assert check_same(
        read_json(result), show_json("audit", house / "release.csv", "-q", "age,zip", "-s", "job", *files)
    )
    assert parsed(protected.to_json())["results"][0]["k"] >= 5


def test_audit_of_a_channel_is_that_of_the_command(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text(",0,1\n0,0.8,0.2\n1,0.3,0.7\n")
    result = unmask.audit(unmask.read_channel(path))
    assert check_same(read_json(result, command="audit channel"), show_json("audit", "channel", path))
    by_frame = unmask.read_channel(pd.DataFrame({"secret": ["0", "1"], "0": [0.8, 0.3], "1": [0.2, 0.7]}))
    assert check_same(read_json(unmask.audit(by_frame)), read_json(result))


def test_audit_of_clusters_is_that_of_the_command(tmp_path):
    items = [f"i{index}" for index in range(30)]
    subjects, clusters = [f"s{index // 3}" for index in range(30)], [f"c{index // 4}" for index in range(30)]
    pd.DataFrame({"item": items, "subject": subjects}).to_csv(tmp_path / "truth.csv", index=False)
    pd.DataFrame({"item": items, "cluster": clusters}).to_csv(tmp_path / "release.csv", index=False)
    truth, guess = unmask.Partition(subjects, items), unmask.Partition(clusters, items)
    files = ("--truth", tmp_path / "truth.csv", "--guess", tmp_path / "release.csv")
    assert check_same(
        read_json(unmask.audit(guess, truth), command="audit linkage"), show_json("audit", "linkage", *files)
    )


def test_audit_of_a_graph_is_that_of_the_command(tmp_path):
    rng = np.random.default_rng(5)
    u, v = rng.integers(0, 60, (2, 500))
    pd.DataFrame({"u": u, "v": v})[u != v].to_csv(tmp_path / "net.csv", index=False)
    graph = unmask.read_graph(tmp_path / "net.csv")
    assert unmask.read_graph(pd.DataFrame({"u": u, "v": v})[u != v]).n_edges == graph.n_edges
    result = unmask.audit(graph, overlaps=[(0.8, 0.9)], attacks=["Nar09"], runs=1, seeds="random.25:9")
    words = ("--overlap", "0.8,0.9", "--attack", "Nar09", "--runs", "1", "--seeds", "random.25:9")
    assert check_same(
        read_json(result, command="audit graph"), show_json("audit", "graph", tmp_path / "net.csv", *words)
    )


def test_a_study_is_run_and_read(house):
    (house / "plan.toml").write_text(
        'seeds = 1\n[[data]]\nuse = "tables.file"\nfile = "people.csv"\nname = "people"\n'
        'quasi_identifiers = ["age", "zip"]\nsensitive = "job"\n[[protections]]\nuse = "tables.Mondrian"\n'
        'with = { k = 4 }\n[[adversaries]]\nuse = "tables.ClassAttack"\n'
    )
    study_result = unmask.study(house / "plan.toml", house / "run")
    assert check_same(read_json(study_result), show_json("report", house / "run"))
    assert {"dataset", "protection", "posterior"} <= {*study_result.to_frame().columns}
    assert len(repr(study_result)) < 300


# --- results and beliefs ---------------------------------------------------------------------------------------------


def test_a_study_is_run_by_a_script_without_a_guard(tmp_path):
    (tmp_path / "people.csv").write_text("age\n" + "1\n2\n" * 20)
    (tmp_path / "unmask.toml").write_text(
        '[data]\nfile = "people.csv"\n[columns]\nage = "quasi-identifier"\n[[protections]]\nuse = "none"\n'
        '[[adversaries]]\nname = "near"\nuse = "tables.ClassAttack"\n'
    )
    (tmp_path / "script.py").write_text(
        "import unmask\nfound = unmask.study('unmask.toml')\nprint(len(found.results) > 0, found.not_run)\n"
    )
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True ()\n", "")


def test_a_result_is_short_and_shows_itself(table):
    result = unmask.audit(table)
    assert len(repr(result).splitlines()) < 15
    assert "release   120" in repr(result)
    assert result.chart(result.charts[0])._repr_html_().startswith("<svg")
    assert result.to_html().lstrip().lower().startswith("<!doctype html")
    assert len(result.summary().splitlines()) <= 25
    assert "worst_observation" not in result.to_frame().columns


def test_small_groups_are_shown_only_on_request(table):
    def list_alone(smallest_shown):
        spread = unmask.audit(table, smallest_shown=smallest_shown).tables["exposure_columns"]
        return [entry["alone"] for entry in spread]

    assert list_alone(1) != list_alone(50)
    assert {count % 50 for count in list_alone(50) if not isinstance(count, str)} <= {0}


def test_a_protection_of_ones_own_is_a_function(table):
    protected = unmask.protect(
        table, lambda table_given: (table_given.take(np.arange(0, 120, 2)), np.arange(0, 120, 2))
    )
    assert (len(protected.release), protected.facts["rows"], protected.origin[:2].tolist()) == (60, 60, [0, 2])
    assert "60 rows in" in repr(protected)


def test_a_belief_says_who_a_target_could_be():
    belief = unmask.Posterior.from_dense(
        np.array([[0.2, 0.7, 0.1], [0.5, 0.5, 0.0]]), candidate_label=("flu", "gout", "none")
    )
    assert [candidate.candidate for candidate in belief.candidates(0)] == ["gout", "flu", "none"]
    assert [candidate.probability for candidate in belief.candidates(1)] == pytest.approx([0.5, 0.5])
    assert unmask.audit(belief, unmask.Truth([1, 0])).row("realized_success").posterior == pytest.approx(0.75)
    assert repr(unmask.audit(belief)).startswith("Audit of 10 measures, 6 not run\nsuccess_probability")
    assert len(unmask.audit(belief).to_frame()) == len(unmask.audit(belief).rows)
    with pytest.raises(UnmaskError, match="target 2 is not in the belief, expected 0 to 1"):
        belief.candidates(2)


# --- wrong use -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: unmask.audit(3), "given an int; make it one with unmask.read_table"),
        (lambda t: unmask.audit(pd.DataFrame()), "given a DataFrame; make it one with"),
        (lambda t: unmask.audit(t, orignal=t), "audit of a Table has no 'orignal'; did you mean 'original'?"),
        (lambda t: unmask.protect(pd.DataFrame()), "given a DataFrame; make one with unmask.read_table"),
        (lambda t: unmask.read_table(3, quasi_identifiers="a"), "int cannot be read as a table"),
        (lambda t: unmask.read_table(t), "needs the columns that an adversary may know"),
        (lambda t: unmask.read_table(t, quasi_identifers="a"), "did you mean 'quasi_identifiers'?"),
        (lambda t: unmask.audit(t).chart("success-job-value-inferd"), "did you mean 'success-job-value-inferred'?"),
        (lambda t: unmask.audit(t).to_frame("critera"), "did you mean 'criteria'?"),
        (lambda t: unmask.audit(unmask.Partition([1, 1])), "give them as truth, a Partition"),
        (
            lambda t: unmask.audit(*[unmask.Partition([1, 1])] * 2, beta=0),
            "is 0, expected a number above 0 and at most 1",
        ),
        (lambda t: unmask.read_graph({"a": [1], "b": [2], "c": [3]}), "the edges have 3 columns, expected two"),
        (lambda t: unmask.audit({}), "given nothing; make it one with"),
        (lambda t: unmask.audit({"a": t, "b": 3}), "given an int; make it one with"),
        (lambda t: unmask.audit({"a": t, "b": RING}), "releases of one kind, given a Table and a SocialGraph"),
        (lambda t: unmask.audit(t, original="a.csv"), "expected a Table (unmask.read_table makes one), or"),
        (lambda t: unmask.audit(t, register=RING), "register is a SocialGraph, expected a Table"),
        (lambda t: unmask.audit(t, coverage="x"), "coverage is a str, expected a number above 0 and at most 1"),
        (lambda t: unmask.audit(t, register=t, coverage=2), "coverage is 2, expected a number above 0 and at most 1"),
        (lambda t: unmask.audit(t, original=t, seed=-1), "seed is -1, expected a whole number at least 0"),
        (lambda t: unmask.audit(t, original=t, targets=2.5), "targets is 2.5, expected a whole number at least 1"),
        (lambda t: unmask.audit(t, targets=2), "targets is about rows of the original, and no original was given"),
        (lambda t: unmask.audit(t, coverage=0.5), "coverage is 0.5 of a register, and no register was given"),
        (lambda t: unmask.audit(t, control=t), "a control group was given, and no original"),
        (lambda t: unmask.audit(t, original=t, origin=[1, 2]), "origin needs an array of 120 whole numbers"),
        (lambda t: unmask.audit(t, original=t, origin={"x": [1]}), "origin names a release that was not given"),
        (lambda t: unmask.audit(t, smallest_shown=0), "smallest_shown is 0, expected a whole number at least 1"),
        (lambda t: unmask.audit(RING, overlaps=(0.5, 0.5)), "overlaps is a tuple, expected a list, each (a"),
        (
            lambda t: unmask.audit(RING, overlaps=[(0.5, 0.5)], attacks="Nar09"),
            "attacks is a str, expected a list, each",
        ),
        (lambda t: unmask.audit(RING, auxiliary="a.csv"), "expected a SocialGraph (unmask.read_graph makes one), or"),
        (lambda t: unmask.audit(RING, "who", auxiliary=RING), "the truth is not an array of node numbers"),
        (
            lambda t: unmask.audit(RING, overlaps=[(0.5, 0.5)], seeds=5),
            "seeds is 5, expected a text, or a list, each a text, or",
        ),
        (lambda t: unmask.audit(CHANNEL, loss=[["a"]]), "the loss is not made of numbers"),
        (lambda t: unmask.audit(CHANNEL, limit="no"), "limit is a str, expected True or False"),
        (lambda t: unmask.audit(unmask.Partition([1, 1]), [1, 1]), "truth is a list, expected a Partition"),
        (lambda t: unmask.audit(*[unmask.Partition([1, 1])] * 2, shuffles=2.5), "shuffles is 2.5, expected a whole"),
        (lambda t: unmask.audit(BELIEF, [0, 1]), "truth is a list, expected a Truth"),
        (lambda t: unmask.audit(BELIEF, measures=["rank"]), "measures is a list, expected a list, each a Measure"),
        (lambda t: unmask.audit({"a": BELIEF}), "given a Posterior; make it one with"),
    ],
)
def test_wrong_use_is_one_sentence(table, call, message):
    with pytest.raises(UnmaskError) as refused:
        call(table)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_name_that_is_not_there_is_suggested():
    with pytest.raises(AttributeError, match="did you mean 'audit'"):
        unmask.audits  # noqa: B018
    assert {"audit", "protect", "read_table", "study", "tables"} <= {*dir(unmask)}


def test_the_api_is_quick_to_import_and_keeps_its_names():
    code = (
        "import sys, unmask; assert not {'numpy', 'scipy', 'duckdb', 'altair'} & {*sys.modules}, 'slow'\n"
        "import unmask.scoring; assert callable(unmask.audit)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
