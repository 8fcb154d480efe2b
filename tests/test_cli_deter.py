"""`unmask deter`: which fine, price and group size stop attacks on a file, and which rows to leave out."""

import csv
import stat
from dataclasses import replace

import numpy as np
import pytest

from tests.commands import invoke
from tests.envelopes import parsed
from unmask.economics import Attacker, campaign, read_attacker, stopping_fine, write_attacker


@pytest.fixture
def patients(tmp_path):
    """Return a file of 300 patients: 3 in one class, 27 in another, and 270 in classes of 90."""
    path = tmp_path / "patients.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["age", "ill"])
        rows.writerows(
            [age, "SECRET77"] for age, n in ((91, 3), (80, 27), (30, 90), (40, 90), (50, 90)) for _ in range(n)
        )
    return path


@pytest.fixture
def fined(tmp_path):
    """Return an attacker who is fined for every detected try."""
    path = tmp_path / "attacker.toml"
    write_attacker(Attacker(gain=8000, access_cost=100, exploit_cost=10, fine=10_000, max_fines=np.inf,
                            detection=(0.01,), prior=0.63), path)  # fmt: skip
    return path


def test_the_terminal_has_the_amounts_that_stop_each_attack_and_the_cheapest_mix(patients, fined):
    done = invoke("deter", patients, "-q", "age", "--attacker", fined)
    assert done.exit_code == 0
    lines = [line for line in done.stdout.splitlines() if line.startswith(("an attack", "a campaign"))]
    assert len(lines) == 4
    assert "Cheapest mix against a campaign" in done.stdout
    assert "fewer than 10" not in lines[1]  # 30 rows are left out against a campaign
    assert "SECRET77" not in done.output


def test_the_fine_is_that_of_the_library_and_the_rows_left_out_stop_the_campaign(patients, fined, tmp_path):
    rows, attacker = tmp_path / "out" / "rows.csv", read_attacker(fined)
    rows.parent.mkdir()
    done = invoke("deter", patients, "-q", "age", "--attacker", fined, "--leave-out", rows, "--json")
    data = parsed(done.stdout)
    sizes = [3] * 3 + [27] * 27 + [90] * 270
    assert data["results"][1]["fine"] == pytest.approx(stopping_fine(attacker, sizes), rel=1e-6)
    assert data["results"][1]["left_out"] == 30
    assert data["inputs"][1] == {
        "role": "data",
        "name": "patients.csv",
        "sha256": None,
        "rows": None,
    }  # only the owner's
    left_out = [int(line) for line in rows.read_text().split()[1:]]
    assert left_out == list(range(30))
    assert not campaign(attacker, sizes[30:]).access
    assert stat.S_IMODE(rows.stat().st_mode) == 0o600
    assert "secret" in done.stderr


def test_a_budget_has_the_fine_and_the_price_with_which_no_campaign_re_identifies_more_people(patients, fined):
    attacker, sizes = read_attacker(fined), [3] * 3 + [27] * 27 + [90] * 270
    done = invoke("deter", patients, "-q", "age", "--attacker", fined, "--budget", 2.5, "--json")
    (row,) = parsed(done.stdout)["tables"]["budget"]
    for change in ({"fine": row["fine"]}, {"access_cost": attacker.access_cost + row["price"] * (1 + 1e-9)}):
        assert campaign(replace(attacker, **change), sizes).most_success.sum() <= 2.5
    assert campaign(replace(attacker, fine=row["fine"] * 0.999), sizes).most_success.sum() > 2.5  # 3 alike pay alone
    refused = invoke("deter", patients, "-q", "age", "--attacker", fined, "--budget", -1)
    assert refused.exit_code == 2


def test_a_page_has_no_record_and_names_what_stops_it(patients, fined, tmp_path):
    page = tmp_path / "deter.html"
    assert invoke("deter", patients, "-q", "age", "--attacker", fined, "-o", page).exit_code == 0
    text = page.read_text()
    assert "What stops it?" in text
    assert "Cheapest mix against a campaign" in text
    assert "SECRET77" not in text


def test_dear_rows_are_kept_and_cheap_ones_left_out(patients, fined):
    def mix(cost):
        data = parsed(invoke("deter", patients, "-q", "age", "--attacker", fined, "--row-cost", cost, "--json").stdout)
        return data["tables"]["mixes"][1]

    assert mix(1e9)["left_out"] == 0
    assert mix(0)["left_out"] == 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{file}",), "whose quasi-identifiers are missing"),
        (("{file}", "-q", "agee"), "agee"),
        (("60,60", "--leave-out", "{rows}"), "has no rows to leave out"),
        (("60,60", "--row-cost", "-1"), "--row-cost"),
        (("60,60", "--attacker", "nothing.toml"), "nothing.toml"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(patients, tmp_path, arguments, message):
    rows = tmp_path / "rows.csv"
    done = invoke("deter", *(argument.format(file=patients, rows=rows) for argument in arguments))
    assert done.exit_code != 0
    assert done.stdout == ""
    assert message in done.stderr
    assert not rows.exists()


def test_a_fine_that_cannot_stop_an_attack_is_unbounded(tmp_path):
    path = tmp_path / "attacker.toml"
    write_attacker(Attacker(gain=100, exploit_cost=1, max_fines=0), path)
    done = invoke("deter", "2,2,5", "--attacker", path)
    assert "No fine is known to stop it." in done.stdout
    assert " unbounded " in done.stdout
    assert "to unbounded" not in done.stdout
