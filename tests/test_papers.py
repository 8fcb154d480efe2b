"""Every row of the five papers is computed by a command, which runs here on small files, or says why not."""

import csv
import os
import random
import shlex
from collections import defaultdict
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner

from docs.papers import read_papers, render_page
from unmask.cli import main

PAPERS = read_papers()
ROOT = Path(__file__).parent.parent

KARATE = (
    "2 1,3 1,3 2,4 1,4 2,4 3,5 1,6 1,7 1,7 5,7 6,8 1,8 2,8 3,8 4,9 1,9 3,10 3,11 1,11 5,11 6,12 1,13 1,13 4,14 1,14 2,"
    "14 3,14 4,17 6,17 7,18 1,18 2,20 1,20 2,22 1,22 2,26 24,26 25,28 3,28 24,28 25,29 3,30 24,30 27,31 2,31 9,32 1,"
    "32 25,32 26,32 29,33 3,33 9,33 15,33 16,33 19,33 21,33 23,33 24,33 30,33 31,33 32,34 9,34 10,34 14,34 15,34 16,"
    "34 19,34 20,34 21,34 23,34 24,34 27,34 28,34 29,34 30,34 31,34 32,34 33"
)
ATTACKER = "[attacker]\ngain = 8000\naccess_cost = 100\nexploit_cost = 10\nfine = 10000\ndetection_base = -4.59\n"
DOCUMENTS = {
    "literal.toml": ATTACKER + 'detection_growth = 0.18\nmax_fines = "unlimited"\nprofile = "literal"\n',
    "one-try.toml": ATTACKER + "detection_growth = 0.0\nmax_tries = 1\nmax_fines = 1\n",
    "learned.toml": ATTACKER.replace("detection_base = -4.59\n", "")
    + "max_fines = 1\ndetection_prior = [1, 99]\nconfirmation = 0.9\nfalse_alarms = 0.01\n",
    "resources.toml": ATTACKER.replace("access_cost = 100\n", "") + "detection_growth = 0.0\nmax_fines = 1\n"
    '[[attacker.resources]]\nname = "voter list"\naccess_cost = 100\nprior = 0.63\n'
    '[[attacker.resources]]\nname = "data broker"\naccess_cost = 900\nprior = 0.95\n',
    "tables.toml": """
        data = { use = "tables.synthetic_census", with = { n = 200 } }
        protections = [{ use = "tables.Mondrian", grid = { k = [5, 10] } }]
        adversaries = [{ use = "tables.ClassAttack" }, { use = "tables.StringLinkage", knows = { missing = 0.4 } }]
        [columns]
        age = "quasi-identifier"
        sex = "quasi-identifier"
        zip = "quasi-identifier"
        """,
    "linkage.toml": """
        data = { use = "linkage.synthetic_traces", with = { n_users = 20, n_items = 15 } }
        protections = [{ use = "linkage.PerPeriod", with = { length = 0.5 } }, { use = "linkage.PerItem" }]
        adversaries = [{ use = "linkage.Threshold", with = { distance = 0.3, features = ["x0", "x1"] } }]
        """,
    "channels.toml": """
        data = { use = "channels.alphabet", with = { n = 4 } }
        protections = [{ use = "channels.RandomizedResponse", with = { n = 4, epsilon = 1.0 } }]
        adversaries = [{ use = "channels.BayesChannelAttack", observations = 2 }]
        """,
    "own-channels.toml": """
        data = { use = "channels.file", file = "flip.csv" }
        protections = [{ use = "none" }]
        adversaries = [{ use = "channels.BayesChannelAttack" }]
        """,
    "graphs.toml": """
        measures = ["recall", "reversed"]
        data = { use = "graphs.barabasi_albert", with = { n = 200, m = 4 } }
        [[protections]]
        use = "graphs.Together"
        with.parts = [
            [0.5, { use = "graphs.IdentitySeparation", with = { model = "basic", adopters = 0.5 } }],
            [0.5, { use = "graphs.IdentitySeparation", with = { model = "best", adopters = 0.5 } }],
        ]
        [[adversaries]]
        use = "graphs.Nar09"
        knows = { node_overlap = 0.8, edge_overlap = 0.8, seeds = "random", n_seeds = 20 }
        discovery = { people = 10, runs = 1 }
        """,
    "game.toml": """
        [data]
        use = "tables.synthetic_census"
        with = { n = 300 }
        [columns]
        age = "quasi-identifier"
        sex = "quasi-identifier"
        zip = "quasi-identifier"
        [[protections]]
        use = "tables.Mondrian"
        grid = { k = [5, 20] }
        [[adversaries]]
        use = "tables.RegisterAttack"
        knows = { coverage = 0.63 }
        [publisher]
        benefit = 100000
        loss = 5000
        fines = [0, 100000]
        [[attackers]]
        attacker = "case-study"
        """,
}


def write_rows(path: Path, *rows: tuple[object, ...]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the small files that the commands read."""
    folder = tmp_path_factory.mktemp("papers")
    rng = random.Random(1)
    zips = ["4001", "4002", "4101", "4102"]
    people = [
        (
            rng.randint(18, 80),
            rng.choice("fm"),
            rng.choice(zips),
            rng.choice(["nurse", "cook"]),
            rng.choice("abcd"),
            500 * rng.randint(20, 90),
        )
        for _ in range(200)
    ]
    write_rows(folder / "people.csv", ("age", "sex", "zip", "job", "disease", "income"), *people)
    write_rows(folder / "voters.csv", ("age", "sex", "zip"), *(person[:3] for person in people))
    items = range(24)
    own = [(0.2, 0.8, 1), (0.5, 0.7, 0), (0.7, 0.9, 1), (0.9, 0.6, 0)]
    truth = [(item, item // 6, rng.random(), *own[item // 6]) for item in items]
    write_rows(folder / "truth.csv", ("item", "subject", "w", "alpha", "beta", "wanted"), *truth)
    clusters = [(item + rng.choice([0, 0, 0, 6])) // 6 for item in items]
    write_rows(folder / "guess.csv", ("item", "cluster"), *zip(items, clusters, strict=True))
    view = [(item, (item + rng.choice([0, 6])) // 6, part, p) for part, p in ((1, 0.25), (2, 0.75)) for item in items]
    write_rows(folder / "view.csv", ("item", "cluster", "partition", "probability"), *view)
    write_rows(folder / "flip.csv", ("", "0", "1"), ("0", 0.9, 0.1), ("1", 0.1, 0.9))
    write_rows(folder / "gain.csv", ("", "0", "1"), ("0", 1, -1), ("1", "-inf", 1), ("no answer", 0, 0))
    write_rows(folder / "prior.csv", ("secret", "probability"), ("0", 0.5), ("1", 0.5))
    write_rows(folder / "walk.csv", ("", "0", "1", "2"), (0, 0.8, 0.2, 0), (1, 0.1, 0.8, 0.1), (2, 0, 0.2, 0.8))
    write_rows(folder / "cost.csv", ("", "0", "1", "2"), (0, 0, 1, 2), (1, 1, 0, 1), (2, 2, 1, 0))
    links = [(a, b, round(rng.random(), 3)) for a in items for b in items if a < b and rng.random() < 0.2]
    write_rows(folder / "links.csv", ("item_l", "item_r", "score"), *links)
    secrets = [rng.randrange(2) for _ in range(400)]
    samples = [(secret, secret if rng.random() < 0.8 else 1 - secret) for secret in secrets]
    write_rows(folder / "samples.csv", ("secret", "output"), *samples)
    places = [[rng.randrange(3)] for _ in range(40)]
    for place in places:
        place.extend(place[-1] if rng.random() < 0.7 else rng.randrange(3) for _ in range(9))
    steps = [(user, time, place) for user, path in enumerate(places) for time, place in enumerate(path)]
    write_rows(folder / "traces.csv", ("user", "time", "place"), *steps)
    messages = [
        (round_, sender, rng.choice([sender, rng.randrange(4)]))
        for round_ in range(60)
        for sender in rng.sample(range(4), 2)
    ]
    write_rows(folder / "rounds.csv", ("round", "sender", "receiver"), *messages)
    weights = [(subject, item, rng.random()) for item, subject, *_ in truth]
    write_rows(folder / "weights.csv", ("subject", "item", "weight"), *weights)
    write_rows(folder / "joint.csv", ("", "0", "1"), (0, 0.4, 0.1), (1, 0.1, 0.4))
    entered = [rng.uniform(0, 20) for _ in range(8)]
    sent = [(f"s{i}", f"r{i}", round(time, 3), round(time + rng.uniform(0, 3), 3)) for i, time in enumerate(entered)]
    write_rows(folder / "messages.csv", ("sender", "receiver", "entered", "left"), *sent)
    meetings = [(user, time, rng.randrange(12)) for user in range(60) for time in range(12)]
    write_rows(folder / "meetings.csv", ("user", "time", "place"), *meetings)
    (folder / "karate.txt").write_text(KARATE.replace(",", "\n"))
    friends = {(rng.randrange(person), person) for person in range(1, 200) for _ in range(4)}
    (folder / "friends.txt").write_text("".join(f"{a} {b}\n" for a, b in sorted(friends)))
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text)
    release = "protect people.csv -q age,sex,zip -s disease,income --k 5 -o release.csv --origin origin.csv"
    with chdir(folder):
        assert CliRunner().invoke(main, release.split()).exit_code == 0
    return folder


ROWS_BY_COMMAND = defaultdict(list)
for name, row in PAPERS.rows.items():
    ROWS_BY_COMMAND[row.command].append((name, row))


@pytest.mark.parametrize("command", PAPERS.commands, ids=lambda command: command.replace(" ", "-"))
def test_command_computes_its_rows(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch):
    if "EgoPatterns" in PAPERS.commands[command] and "UNMASK_DATA" not in os.environ:
        pytest.skip("UNMASK_DATA is not set: the circles of the ego networks are not there")
    monkeypatch.chdir(folder)
    for part in PAPERS.commands[command].split(" && unmask "):
        outcome = CliRunner().invoke(main, shlex.split(part))
        assert outcome.exit_code == 0, outcome.stderr[-500:]
    missing = [name for name, row in ROWS_BY_COMMAND[command] if row.shows not in outcome.output]
    assert not missing, outcome.output[-1500:]


def test_every_row_has_a_command_or_a_reason():
    for name, row in PAPERS.rows.items():
        assert bool(row.command) != bool(row.reason), name
        assert row.command in {"", *PAPERS.commands}, name
        assert row.computable or not row.command, name
    assert set(PAPERS.commands) == {row.command for row in PAPERS.rows.values()} - {""}


def test_programs_that_check_rows_exist():
    assert [row.checked for row in PAPERS.rows.values() if row.checked and not (ROOT / row.checked).is_file()] == []


def test_page_counts_the_rows_that_commands_compute():
    text = "\n".join(render_page(PAPERS))
    assert f"**{len(PAPERS.reached)} of {len(PAPERS.computable)} rows" in text
    assert all(f"| {name} |" in text for name in PAPERS.rows)
