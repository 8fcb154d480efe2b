"""A suggested change announces the result of protecting and auditing again."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import unmask
from tests.commands import run
from unmask import UnmaskError
from unmask.policy import Policy
from unmask.tables import Table, datasets

ROLES = ("-q", "age,sex,zip", "-s", "diagnosis")


def census(n: int = 500) -> dict[str, np.ndarray]:
    return datasets.synthetic_census(n, rng=np.random.default_rng(5))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table_made = census()
    lines = [",".join(table_made), *(",".join(map(str, row)) for row in zip(*table_made.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def released(*options: str) -> dict[str, object]:
    """The JSON of an audit of people.csv protected with these options, with its page."""
    roles = [*(options[i + 1] if word == "-q" else "" for i, word in enumerate(options) if word == "-q")] or [ROLES[1]]
    options_kept = [word for i, word in enumerate(options) if word != "-q" and (i == 0 or options[i - 1] != "-q")]
    roles_given = ("-q", roles[0], "-s", "diagnosis")
    assert (
        run("protect", "people.csv", *roles_given, *options_kept, "-o", "r.csv", "--origin", "o.csv", "--force")[0] == 0
    )
    evidence = ("--original", "people.csv", "--origin", "o.csv", "--policy", "strict", "--policy", "ema-0.09")
    code, text, _ = run("audit", "r.csv", *roles_given, *evidence, "--report", "page.html", "--force", "--json")
    assert code == 3  # control people are missing, so that nothing is acceptable
    return json.loads(text)["tables"]


def test_protecting_as_suggested_gives_what_was_announced(folder: Path) -> None:
    tables = released("--k", "2")
    present, *changes = tables["changes"]
    assert present["name"] == "This release"
    assert present["missed"] == sum(verdict["state"] == "missed" for verdict in tables["verdicts"]) > 0
    assert len(changes) >= 2
    assert "What next?" in (folder / "page.html").read_text()
    for change in changes:
        columns_kept = ",".join(name for name in ("age", "sex", "zip") if name != change["without"])
        again = released(
            "-q", columns_kept, "--k", str(change["k"]), *(["--l", str(change["l"])] if change["l"] else [])
        )
        states = [verdict["state"] for verdict in again["verdicts"]]
        assert (states.count("missed"), states.count("untested")) == (change["missed"], change["untested"])
        if "changes" in again:
            assert again["changes"][0]["above"] == change["above"]
        else:
            assert change["missed"] == 0


def test_changes_keep_the_finest_levels() -> None:
    people = {"age": list(range(40)) * 5, "ill": list("abcde") * 40}
    table = unmask.read_table(people, quasi_identifiers="age", sensitive="ill")
    first, *_ = unmask.suggest(table, "ema-0.09", k=2, levels={"age": 20})
    protected = unmask.protect(table, k=first.k, levels={"age": 20})
    assert first.utility == pytest.approx(1 - protected.facts["gcp"])
    assert set(protected.release["age"]) == {"[0, 20)", "[20, 40)"}


def test_the_smallest_k_that_keeps_the_policy_is_suggested() -> None:
    table = unmask.read_table(census(), quasi_identifiers=["age", "sex", "zip"], sensitive="diagnosis")
    changes = unmask.suggest(table, Policy.of(["k >= 8"], title="Ours"))
    assert (changes[0].k, changes[0].missed, changes[0].name) == (10, 0, "Protect with k = 10")
    assert unmask.suggest(table, Policy.of(["k >= 8"], title="Ours"), k=20)[0].k == 30
    for change in changes:
        for second in changes:
            better = (second.missed <= change.missed, second.above <= change.above, second.utility > change.utility)
            assert not all(better)


def test_if_no_k_is_enough_the_closest_one_is_reported() -> None:
    table = unmask.read_table(census(300), quasi_identifiers=["age", "sex"], sensitive="diagnosis")
    changes = unmask.suggest(table, Policy.of(["k >= 5", "k >= 1000000"], title="Ours"))
    assert changes
    assert changes[0].missed == 1


def test_a_table_with_one_column_has_none_to_leave_out() -> None:
    table = unmask.read_table({"age": list(range(40)) * 5}, quasi_identifiers="age")
    assert {change.without for change in unmask.suggest(table, "ema-0.09")} == {""}


def test_utility_counts_a_column_that_is_left_out_as_lost() -> None:
    columns = {"a": list(range(60)), "b": ["x"] * 30 + ["y"] * 30}
    table = Table.read(columns, quasi_identifiers=["a", "b"], sensitive=())
    changes = unmask.suggest(table, Policy.of(["k >= 30", "gcp <= 1"], title="Ours"))
    with_all_columns = [change for change in changes if not change.without]
    assert all(change.utility <= 0.5 for change in changes if change.without)
    assert with_all_columns[0].utility == pytest.approx(1 - unmask.protect(table, k=30).facts["gcp"])


def test_kept_columns_that_single_people_out_are_protected() -> None:
    columns = {**census(300), "note": [f"n{index}" for index in range(300)]}
    settings = {"sensitive": "diagnosis", "keep": ["sex", "note"]}
    table = unmask.read_table(columns, quasi_identifiers=["age", "zip"], **settings)
    best, *others = unmask.suggest(table, Policy.of(["identity:success_probability.worst <= 0.5"], title="Ours"), k=2)
    protected = unmask.read_table(columns, quasi_identifiers=["age", "zip", "sex", "note"], sensitive="diagnosis")
    assert (best.protects_kept, best.missed, best.above) == (True, 0, 0)
    assert best.utility == pytest.approx(1 - unmask.protect(protected, k=best.k).facts["gcp"])
    assert all(change.missed for change in others)


def test_the_next_command_protects_kept_columns_too(folder: Path) -> None:
    roles = ("-q", "age,sex", "-s", "diagnosis", "--keep", "zip")
    assert run("protect", "people.csv", *roles, "--k", "2", "-o", "r.csv", "--origin", "o.csv")[0] == 0
    evidence = ("--original", "people.csv", "--origin", "o.csv", "--policy", "ema-0.09")
    message = run("audit", "r.csv", *roles, *evidence, "--report", "page.html")[2]
    command = re.search("next: unmask (protect .*)", message)[1]
    assert command.startswith("protect people.csv -q age,sex,zip -s diagnosis --keep '' --k ")
    assert run(*shlex.split(command))[0] == 0
    release, origin = (command.split()[place] for place in (-3, -1))
    options = ("-q", "age,sex,zip", "-s", "diagnosis", "--original", "people.csv", "--origin", origin)
    assert run("audit", release, *options, "--policy", "ema-0.09")[0] == 0


def test_the_next_command_keeps_what_is_kept(folder: Path) -> None:
    roles = ("-q", "age,sex", "-s", "diagnosis", "--keep", "zip")
    assert run("protect", "people.csv", *roles, "--k", "2", "-o", "r.csv", "--origin", "o.csv")[0] == 0
    options = ("--original", "people.csv", "--origin", "o.csv", "--policy", "k >= 10", "--report", "page.html")
    message = run("audit", "r.csv", *roles, *options)[2]
    assert "next: unmask protect people.csv -q age,sex -s diagnosis --keep zip --k 10 -o k10.csv" in message


def test_the_next_command_reads_the_columns_as_this_one_did(folder: Path) -> None:
    (folder / "sex.csv").write_text("".join(f"{value};*\n" for value in {*census()["sex"]}))
    read = ("-q", "age,sex", "-s", "diagnosis", "--type", "age=number", "--hierarchy", "sex=sex.csv", "--na", "")
    message = run("protect", "people.csv", *read, "--k", "2", "-o", "r.csv", "--origin", "o.csv")[2]
    options = "-q age,sex -s diagnosis --type age=number --hierarchy sex=sex.csv"
    assert f"next: unmask audit r.csv {options} --na '' --original people.csv --origin o.csv" in message


def test_the_next_command_names_the_document_of_this_one(folder: Path) -> None:
    assert run("init", "people.csv")[0] == 0
    message = run("protect", "unmask.toml", "-o", "release.csv", "--origin", "origin.csv")[2]
    assert "next: unmask audit unmask.toml\n" in message
    message = run("audit", "unmask.toml", "--policy", "k >= 50", "--report", "page.html")[2]
    assert "next: unmask protect unmask.toml --k 50 -o release.csv --origin origin.csv --force\n" in message
    assert run("protect", "unmask.toml", "--k", "50", "-o", "release.csv", "--origin", "origin.csv", "--force")[0] == 0
    assert run("audit", "unmask.toml", "--policy", "k >= 50")[0] == 0
    message = run("protect", "unmask.toml", "-o", "other.csv", "--origin", "other-origin.csv")[2]
    assert "unmask.toml does not name other.csv" in message


def test_a_column_that_a_change_leaves_out_gets_another_role_in_the_document(folder: Path) -> None:
    columns = {**census(300), "visit": np.arange(300)}
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    assert run("init", "people.csv", "-q", "age,zip,visit", "-s", "diagnosis")[0] == 0
    files = ("-o", "release.csv", "--origin", "origin.csv")
    assert run("protect", "unmask.toml", *files)[0] == 0
    message = run("protect", "unmask.toml", "-q", ",".join([*census(1)][:-1]), "--k", "30", *files, "--force")[2]
    assert 'release.csv lacks visit; set the role to "drop" in unmask.toml\nnext: unmask audit unmask.toml\n' in message
    document = (folder / "unmask.toml").read_text()
    (folder / "unmask.toml").write_text(re.sub('visit = "[a-z-]*"', 'visit = "drop"', document))
    assert run("audit", "unmask.toml")[0] == 0


def test_no_policy_is_refused() -> None:
    table = unmask.read_table({"age": [1, 2]}, quasi_identifiers="age")
    with pytest.raises(UnmaskError, match="no policy is called"):
        unmask.suggest(table, "gone")
