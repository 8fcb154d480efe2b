"""Shared output shows no path, no digest, no seed and no person; the owner's list stays with the owner."""

import csv
import hashlib
import re
import stat
from base64 import b64encode

import numpy as np
import pytest

from tests.commands import invoke
from tests.envelopes import parsed
from unmask.tables import Mondrian, Table

SEED = 739177
CANARY = "HOMEOFALICE"
ROLES = ("-q", "age,zip", "-s", "job")


def write(path, head, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return path


@pytest.fixture
def house(tmp_path):
    """Write a table of 200 people, its release with k = 4 and the origin, in a folder with a secret name."""
    folder = tmp_path / CANARY
    (folder / "own").mkdir(parents=True)
    rng = np.random.default_rng(3)
    rows = list(
        zip(rng.integers(18, 80, 200), rng.integers(100, 120, 200), rng.choice(["a", "b", "c"], 200), strict=True)
    )
    people = write(folder / "people.csv", ("age", "zip", "job"), rows)
    table = Table.read(people, quasi_identifiers=("age", "zip"), sensitive="job")
    release, origin = Mondrian(k=4)(table, rng=rng)
    release.write(folder / "release.csv")
    write(folder / "own" / "origin.csv", ("row",), [(row,) for row in origin.tolist()])
    return folder


def links(folder):
    rng = np.random.default_rng(5)
    pairs = {tuple(sorted(rng.choice(60, 2, replace=False).tolist())) for _ in range(500)}
    return write(folder / "net.csv", ("n5000", "n5001"), [(f"n{u * 7}", f"n{v * 7}") for u, v in sorted(pairs)])


def audits(folder):
    """The command of every kind of audit, on files in the folder."""
    items = write(folder / "truth.csv", ("item", "subject"), [(f"i{i}", f"s{i // 3}") for i in range(90)])
    guess = write(folder / "guess.csv", ("item", "cluster"), [(f"i{i}", f"c{i // 4}") for i in range(90)])
    channel = write(folder / "flip.csv", ("", "0", "1"), [("0", 0.8, 0.2), ("1", 0.3, 0.7)])
    release, own_origin = folder / "release.csv", folder / "own" / "origin.csv"
    return {
        "table": (release, *ROLES, "--original", folder / "people.csv", "--origin", own_origin, "--seed", SEED),
        "twins": (release, folder / "own" / ".." / "people.csv", *ROLES, "--seed", SEED),
        "engine": (release, *ROLES, "--engine", "duckdb"),
        "graph": ("graph", links(folder), "--overlap", "0.8,0.9", "--attack", "Nar09", "--runs", 1, "--seed", SEED,
                  "--seeds", "random.25:10"),
        "linkage": ("linkage", "--truth", items, "--guess", guess, "--seed", SEED),
        "channel": ("channel", channel),
    }  # fmt: skip


def digests(folder, *, name="*"):
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob(f"{name}.csv")]
    return {digest[:12] for digest in hashes}


def without_script_digest(page):
    """The page without the one digest that it needs: of its own script, which is the same on every page."""
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    allowed = f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
    assert page.count(allowed) == 1
    return page.replace(allowed, "")


@pytest.mark.parametrize("kind", ["table", "twins", "engine", "graph", "linkage", "channel"])
def test_nothing_that_an_audit_gives_tells_a_path_a_digest_or_a_seed(house, kind, tmp_path):  # R7
    command = audits(house)[kind]
    folder_given = tmp_path / "given"
    done = invoke("audit", *command, "--report", tmp_path / "page.html", "--export", folder_given, "--json")
    assert done.exit_code == 0, done.stderr
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in folder_given.iterdir()]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    texts += [without_script_digest(page), invoke("audit", *command, "--summary").stdout]
    texts.append(invoke("audit", *command).stdout)
    for text in texts:
        assert CANARY not in text
        assert str(SEED) not in text
        assert "sha256" not in text
        assert not any(digest in text for digest in digests(house))
    private = digests(house, name="origin") | digests(house, name="net") | digests(house, name="truth")
    private |= set() if kind == "twins" else digests(house, name="people")
    assert not any(word in done.stdout for word in (CANARY, str(SEED), "worst_observation", *private))
    assert "You can share this page" in page


def test_files_of_one_name_are_numbered_and_distinguished_from_the_original(house):
    again = house / "own" / "release.csv"
    again.write_bytes((house / "release.csv").read_bytes())
    data = parsed(invoke("audit", house / "release.csv", again, *ROLES, "--json").stdout)
    assert [entry["release"] for entry in data["tables"]["criteria"]] == ["release", "release (2)"]
    called = house / "original.csv"
    called.write_bytes((house / "release.csv").read_bytes())
    assert {row["release"] for row in parsed(invoke("audit", called, *ROLES, "--json").stdout)["results"]} == {
        "original (2)"
    }


def test_demo_tells_no_seed_on_its_page(tmp_path):
    done = invoke("demo", "--people", 600, "--seed", SEED, "--report", tmp_path / "demo.html")
    assert done.exit_code == 0
    assert str(SEED) not in (tmp_path / "demo.html").read_text(encoding="utf-8") + done.stdout


def test_the_page_of_a_study_quotes_no_path_of_its_plan(house, tmp_path):  # R7
    (house / "plan.toml").write_text(
        'seeds = 1\n[[data]]\nuse = "tables.file"\nfile = "people.csv"\nquasi_identifiers = ["age", "zip"]\n'
        'sensitive = "job"\nname = "people"\n[[protections]]\nuse = "tables.Mondrian"\nwith = { k = 4 }\n'
        '[[adversaries]]\nuse = "tables.ClassAttack"\n'
    )  # fmt: skip
    (house / "plan.toml").write_text(
        (house / "plan.toml").read_text().replace('"people.csv"', f'"{house / "people.csv"}"')
    )
    done = invoke("study", house / "plan.toml", "-o", house / "results")
    assert done.exit_code == 0, done.stderr
    page = tmp_path / "study.html"
    assert invoke("report", house / "results", "-o", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert CANARY not in text
    assert not any(digest in text for digest in digests(house))
    assert "You can share this page" in text


EVIL = "job\u202e\x1b[31m\u2066"


def test_a_terminal_gets_no_control_character_of_a_name(tmp_path):  # R8
    file = write(
        tmp_path / "r.csv", ("age", "zip", EVIL), [(20 + i % 3, 100 + i % 2, "ab"[i % 5 > 2]) for i in range(60)]
    )
    command = (file, "-q", "age,zip", "-s", EVIL)
    gate = "success_probability<=0.01"
    results = [
        invoke("audit", *command, "--policy", gate),
        invoke("audit", *command, "--summary", "--policy", f"nobody:{gate}"),
        invoke("audit", *command, "--json"),
        invoke("choose", "columns", *command),
        invoke("audit", file, "-q", "age,nothing"),
        invoke("protect", file, "-q", "age,zip", "--k", 2, "-o", tmp_path / "out.csv"),
    ]
    for done in results:
        assert done.exit_code in (0, 2, 3), done.stderr
        assert not set(done.stdout + done.stderr) & set(EVIL[3:5] + "\u2066")
    assert "job\\u202e\\x1b[31m\\u2066" in results[0].stdout + results[0].stderr


# --- the owner's list ---------------------------------------------------------------------------------------------


def read_rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def at_risk(house, *options, name="risk.csv"):
    path = house / "own" / name
    done = invoke("audit", house / "release.csv", *ROLES, *options, "--at-risk", path)
    assert done.exit_code == 0, done.stderr
    return read_rows(path), done


def with_original(house):
    return ("--original", house / "people.csv", "--origin", house / "own" / "origin.csv")


def test_the_list_names_rows_of_the_original_the_worst_first_and_why(house):  # U11
    rows, done = at_risk(house, *with_original(house))
    people = read_rows(house / "people.csv")
    release = read_rows(house / "release.csv")
    behind = {
        int(row["row"]): record for row, record in zip(read_rows(house / "own" / "origin.csv"), release, strict=True)
    }
    sizes, jobs = {}, {}
    for person, record in behind.items():
        sizes.setdefault((record["age"], record["zip"]), []).append(people[person]["job"])
    every = [person["job"] for person in people]
    most_common = max(set(every), key=every.count)

    def secret(jobs):  # the most common job is none
        return max((jobs.count(job) for job in jobs if job != most_common), default=0) / len(jobs)

    chances = [float(row["probability"]) for row in rows]
    assert chances == sorted(chances, reverse=True)
    for row in rows:
        person = int(row["row_of_original_from_0"])
        jobs = sizes[behind[person]["age"], behind[person]["zip"]]
        share = 1 / len(jobs) if row["target"] == "identity" else secret(jobs)
        assert float(row["probability"]) == pytest.approx(share, rel=1e-5)
        if row["target"] == "identity":
            assert row["reason"] == f"{len(jobs)} candidates fit"
    surest = max(map(secret, sizes.values()))
    assert chances[0] == pytest.approx(surest, rel=1e-5)  # an inferred value, not a name: it was missing once
    people_listed = {int(row["row_of_original_from_0"]) for row in rows if row["target"] == "identity"}
    assert people_listed == {p for p in behind if len(sizes[behind[p]["age"], behind[p]["zip"]]) < 1 / 0.09}
    assert "keep it secret" in done.stderr


def test_the_list_holds_no_cell(house):
    text = "\n".join(",".join(row.values()) for row in at_risk(house, *with_original(house))[0])
    release = (house / "release.csv").read_text().split()
    assert not [cell for line in release[1:] for cell in line.split(",")[:1] if cell in text]


def test_without_an_original_the_rows_are_those_of_the_release(house):
    rows, _ = at_risk(house)
    release = read_rows(house / "release.csv")
    cells = [(record["age"], record["zip"]) for record in release]
    for row in (row for row in rows if row["target"] == "identity"):
        index = int(row["row_of_release_from_0"])
        assert float(row["probability"]) == pytest.approx(1 / cells.count(cells[index]), rel=1e-5)


def test_the_holder_of_a_register_is_listed_by_the_same_rows(house):
    register = house / "people.csv"
    rows, _ = at_risk(house, *with_original(house), "--register", register)
    by_register = {int(row["row_of_original_from_0"]) for row in rows if row["adversary"] == "journalist"}
    by_knowledge = {
        int(row["row_of_original_from_0"])
        for row in rows
        if (row["adversary"], row["target"]) == ("prosecutor", "identity")
    }
    assert by_register == by_knowledge


def test_a_row_left_out_for_a_missing_cell_shifts_no_number(tmp_path):
    rows = [("", 1), *((age, 2) for age in (30, 30, 40))]
    file = write(tmp_path / "r.csv", ("age", "zip"), rows)
    own_folder = tmp_path / "own"
    own_folder.mkdir()
    assert (
        invoke("audit", file, "-q", "age,zip", "--missing", "excluded", "--at-risk", own_folder / "l.csv").exit_code
        == 0
    )
    assert [(row["row_of_release_from_0"], row["probability"]) for row in read_rows(own_folder / "l.csv")] == [
        ("3", "1"), ("1", "0.5"), ("2", "0.5"),
    ]  # fmt: skip


def test_the_list_is_for_its_owner_alone_and_replaces_nothing(house):
    _, done = at_risk(house)
    path = house / "own" / "risk.csv"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "warning" not in done.stderr
    again = invoke("audit", house / "release.csv", *ROLES, "--at-risk", path, "--force")
    assert again.exit_code == 2
    assert "replaces nothing" in again.stderr
    refused = invoke("audit", house / "release.csv", *ROLES, "--at-risk", house / "risk.csv")
    assert f"warning: {house / 'risk.csv'} lies in the folder of the release" in refused.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "duckdb"), "--at-risk needs the table in memory"),
        (("--original", "people.csv"), "needs --origin"),
    ],
)
def test_an_impossible_list_of_people_at_risk_is_refused_before_any_work(house, options, message):
    options = [house / part if part == "people.csv" else part for part in options]
    done = invoke("audit", house / "release.csv", *ROLES, *options, "--at-risk", house / "own" / "l.csv")
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (house / "own" / "l.csv").exists()


def test_nodes_at_risk_go_by_the_ids_of_their_file(house):  # U11
    path = house / "own" / "nodes.csv"
    net = links(house)
    done = invoke("audit", "graph", net, "--overlap", "0.9,0.95", "--attack", "Nar09,Rematch", "--runs", 1,
                  "--seeds", "random.25:10", "--at-risk", path)  # fmt: skip
    assert done.exit_code == 0, done.stderr
    degree = {}
    for line in net.read_text().split():
        for end in line.split(","):
            degree[end] = degree.get(end, 0) + 1
    rows = read_rows(path)
    assert {row["adversary"] for row in rows} == {"Nar09", "Rematch"}
    assert {row["id_in_release"] for row in rows} <= degree.keys()
    for row in rows:  # edges are left out at random
        edges, reason_text = row["reason"].split(" edges, ")
        assert 0 < int(edges) <= degree[row["id_in_release"]]
        assert reason_text in ("which is right", "which is wrong")
