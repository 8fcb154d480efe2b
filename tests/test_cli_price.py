"""The rational attacker on the command line: `unmask price`, and the price section of an audit."""

import html
import math
from dataclasses import replace

import numpy as np
import pytest

from tests.commands import invoke
from tests.envelopes import parsed
from unmask.economics import Attacker, price_records, read_attacker, write_attacker
from unmask.economics.audit import AttackerSource
from unmask.results.scope import headlines
from unmask.tables import Mondrian, Register, Table
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.table_audit import audit_tables

SECRET = "SECRET77"
PLAIN = Attacker(
    gain=1000, access_cost=50, exploit_cost=20, fine=2000, max_fines=math.inf, detection=(0.02,), prior=0.8
)


@pytest.fixture
def attacker(tmp_path):
    path = tmp_path / "attacker.toml"
    write_attacker(PLAIN, path)
    return path


def census(n=300):
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(20, 60, n),
        "sex": rng.choice(["f", "m"], n),
        "ill": rng.choice([SECRET, "b"], n),
    }
    return Table.read(columns, quasi_identifiers=("age", "sex"), sensitive="ill")


@pytest.fixture
def release(tmp_path):
    path = tmp_path / "release.csv"
    Mondrian(k=5)(census(), rng=np.random.default_rng(1))[0].write(path)
    return path


def test_a_file_holds_the_same_attacker(tmp_path):
    for one in (PLAIN, Attacker(gain=1.5, max_fines=2, ties="attack", max_tries=3, arrest=True, detection=(0.1, 0.2))):
        write_attacker(one, tmp_path / "a.toml")
        assert read_attacker(tmp_path / "a.toml") == one


def test_prices_of_sizes_are_those_of_the_library(attacker):
    told = parsed(invoke("price", "1,3,10-12", "--attacker", attacker, "--json").stdout)
    sizes = [1, 3, 10, 11, 12]
    expected = price_records(PLAIN, sizes)
    assert [row["size"] for row in told["results"]] == sizes
    assert [row["payoff"] for row in told["results"]] == pytest.approx(expected.payoff)
    assert told["tables"]["one_by_one"][0]["attacked"] == pytest.approx(expected.access.mean())
    assert told["tables"]["about"][0]["assumed"] is False


def test_sizes_given_twice_are_two_records(attacker):
    told = parsed(invoke("price", "2,2,5", "--attacker", attacker, "--json").stdout)
    assert told["tables"]["about"][0]["records"] == 3
    assert [row["records"] for row in told["results"]] == [2, 1]


def test_prices_of_a_release_are_those_of_its_classes(release, attacker):
    told = parsed(invoke("price", release, "-q", "age,sex", "--attacker", attacker, "--json").stdout)
    assert told["tables"]["about"][0]["records"] == 300
    assert min(row["size"] for row in told["results"]) >= 5
    assert sum(row["records"] for row in told["results"]) == 300


def test_few_rows_in_classes_of_one_size_are_not_counted_out(tmp_path, attacker):  # R7
    path = tmp_path / "small.csv"
    path.write_text("age\n" + "30\n" * 3 + "40\n" * 20)
    asked = ("price", path, "-q", "age", "--attacker", attacker)
    told = parsed(invoke(*asked, "--json").stdout)
    assert [(row["size"], row["records"]) for row in told["results"]] == [(3, "fewer than 10"), (20, 20)]
    assert told["tables"]["about"][0]["attacker"] == "attacker.toml"  # no path
    assert "fewer than 10" in invoke(*asked).stdout


def test_an_audit_has_the_risk_with_unknown_sizes_by_a_register_or_by_weights(tmp_path, attacker):
    people = [age for age, n in ((30, 40), (40, 12), (50, 20)) for _ in range(n)]
    path, register = tmp_path / "people.csv", tmp_path / "register.csv"
    path.write_text("age,ill,weight\n" + "".join(f"{age},{i % 3},{2 + i % 2}\n" for i, age in enumerate(people)))
    register.write_text("age\n" + "".join(f"{age}\n" for age in people for _ in range(3)))
    audit = ("audit", path, "-q", "age", "-s", "ill", "--attacker", attacker, "--json")
    by_register = parsed(invoke(*audit, "--register", register, "--coverage", 0.5).stdout)["tables"]["unknown_sizes"]
    by_weight = parsed(invoke(*audit, "--weight", "weight").stdout)["tables"]["unknown_sizes"]
    for rows, sizes, prior in ((by_register, [36, 60, 120], 0.5), (by_weight, [30, 50, 100], 1.0)):
        assert [row["size"] for row in rows] == sizes
        assert [row["records"] for row in rows] == [12, 20, 40]
        buyer = replace(read_attacker(attacker), prior=prior)
        cells = [size / sum(sizes) for size in sizes]
        for name, belief in (("known", "known"), ("unknown", "binomial")):
            prices = price_records(buyer, sizes, population=sum(sizes), cell_probability=cells, belief=belief)
            assert [row[name] for row in rows] == pytest.approx(prices.success_probability.tolist())
    assert "unknown_sizes" not in parsed(invoke(*audit, "--keep", "weight").stdout)["tables"]
    more = (
        "audit",
        path,
        "-q",
        "age,weight",
        "-s",
        "ill",
        "--attacker",
        attacker,
        "--json",
    )  # the register has no weight
    by_age = parsed(invoke(*more, "--register", register, "--coverage", 0.5).stdout)["tables"]["unknown_sizes"]
    assert [row["size"] for row in by_age] == [36, 60, 120]


def test_without_an_attacker_it_is_called_an_assumption():
    done = invoke("price", "1-20")
    assert done.exit_code == 0
    assert "assumption" in done.stderr
    assert "A fine of" in done.stdout


def test_e4_fifty_groups_of_60_are_looted():
    """A single attack on one group pays nothing, and a fine of 8,229 stops it; a campaign gains 221,192.50."""
    fifty = ",".join(["60"] * 50)
    said = invoke("price", fifty).stdout
    assert "gains 221,19" in said
    assert "0 % of 50 records" not in said
    assert "fine of 8,229" not in said
    told = parsed(invoke("price", fifty, "--json").stdout)["tables"]["campaign"][0]
    assert told["payoff"] == pytest.approx(221_192.5)
    assert told["payoff_at_most"] == pytest.approx(221_192.5)
    assert told["success_probability"] == pytest.approx(0.63)
    assert 221_192.5 < told["fine_that_pays"] <= told["fine_that_stops"] < 250_000


def test_e15_the_thresholds_are_printed_and_their_sizes_are_in_the_table():
    said = invoke("price", "1-100").stdout
    assert "groups up to 47 are worth an attack" in said
    shown = {int(line.split()[0]) for line in said.splitlines() if line.strip()[:1].isdigit()}
    assert {13, 14, 47, 48, 76, 77} <= shown
    told = parsed(invoke("price", "60", "--json").stdout)
    assert told["tables"]["thresholds"][0] == {"exhausted": 14, "attacked": 48, "sunk": 77, "unfined": 736}


def test_a_campaign_too_large_is_bounded_and_with_an_arrest_not_reckoned(monkeypatch, tmp_path):

    monkeypatch.setattr("unmask.economics.campaigns.chain_search.MAX_STEPS", 10)
    assert "gains 3,802 to 4,282" in invoke("price", "60,60,61").stdout
    arrested = tmp_path / "arrested.toml"
    arrested.write_text("[attacker]\ngain = 8000\ndetection = [0.01]\nmax_fines = 0\narrest = true", encoding="utf-8")
    said = invoke("price", "60,60,61", "--attacker", str(arrested)).stdout
    assert "was not computed" in said
    assert "no campaign" not in said.lower()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("gain = 1", "no table [attacker]"),
        ("[attacker]\nmax_fines = 1", "has no gain"),
        ("[attacker]\ngain = 1", "max_fines is missing"),
        ("[attacker]\ngain = -1\nmax_fines = 1", "gain is -1"),
        ("[attacker]\ngain = 1\nmax_fines = 1\nprior = 0", "prior is 0"),
        ("[attacker]\ngain = 1\nmax_fines = 1\nprior = nan", "prior is nan"),
        ("[attacker]\ngain = 1\nmax_fines = 1.5", "max_fines is 1.5"),
        ("[attacker]\ngain = 1\nmax_fines = 1\nfine = 5", "how likely detection is"),
        ("[attacker]\ngian = 1\nmax_fines = 1", "did you mean 'gain'"),
        ("[attacker]\ngain = 1\nmax_fines = 1\nprofile = 'x'", "profile is 'x'"),
        ("[attacker]\ngain = 1\nmax_fines = 1\ndetection = 'often'", "detection"),
        ("[attacker", "is not TOML"),
    ],
)
def test_a_bad_attacker_is_one_sentence(tmp_path, content, said):
    path = tmp_path / "bad.toml"
    path.write_text(content)
    done = invoke("price", "1,2", "--attacker", path)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("sizes", ["1,,2", "5-2", "1.5", "-3", "1-99999999"])
def test_bad_sizes_are_one_sentence(sizes):
    done = invoke("price", "--", sizes)
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: ")


def test_an_audit_with_an_attacker_prices_identity(release, attacker, tmp_path):
    report = tmp_path / "out.html"
    done = invoke("audit", release, "-q", "age,sex", "-s", "ill", "--attacker", attacker, "--report", report, "--json")
    assert done.exit_code == 0, done.stderr
    told = parsed(done.stdout)
    (priced,) = told["tables"]["price_releases"]
    by_name = {row["measure"]: row for row in told["results"] if row["target"] == "identity"}
    assert by_name["rational_success"]["posterior"] == pytest.approx(priced["success"])
    assert by_name["rational_access"]["posterior"] == pytest.approx(priced["attacked"])
    assert priced["campaign_success"][0] >= priced["success"] - 1e-12
    assert all(row["target"] == "identity" for row in told["results"] if row["measure"].startswith("rational"))
    page = report.read_text()
    assert "What an attack is worth" in page
    assert SECRET not in page


def test_an_audit_without_an_attacker_has_no_price(release):
    told = parsed(invoke("audit", release, "-q", "age,sex", "--json").stdout)
    assert "price" not in told


def test_the_coverage_of_the_register_takes_the_place_of_the_prior():
    people = census()
    released, origin = Mondrian(k=5)(people, rng=np.random.default_rng(1))
    register = Register(coverage=0.5)(people, origin, rng=np.random.default_rng(2)).people
    found = audit_tables(
        {"r": released}, AuditorKnowledge(people, {"r": origin}, register, coverage=0.5), attacker=AttackerSource(PLAIN)
    )
    (about,) = found.table("price").rows
    assert (about["parameters"]["prior"], about["adversary"]) == (0.5, "journalist")
    assert set(found.table("price_releases").values("release")) == {"original", "r"}
    assert headlines(found)  # the rows of the audit are all there


def test_e4_the_fine_that_stops_a_campaign_stops_it():
    from dataclasses import replace

    def priced(attacker):
        found = audit_tables({"r": census()}, attacker=AttackerSource(attacker))
        return found.table("price_releases").rows[0]

    now = priced(PLAIN)
    pays, stops = now["campaign_fines"]
    assert 0 < pays <= stops < math.inf
    stopped = priced(replace(PLAIN, fine=stops))
    assert (stopped["campaign_payoff"][1], stopped["campaign_success"][1], stopped["attacked"]) == (0, 0, 0)
    assert priced(replace(PLAIN, fine=pays))["campaign_payoff"][0] > 0
    assert stops > now["stopping_fine"]  # of an attack on one person


def test_a_list_of_groups_is_no_file_however_long_it_is():
    said = invoke("price", ",".join(["60"] * 500)).stdout
    assert "all 500 records" in said


def test_groups_of_one_try_are_not_tried_to_the_end(tmp_path):
    few = tmp_path / "few.toml"
    few.write_text("[attacker]\ngain = 300\nexploit_cost = 4\nmax_fines = 0\nmax_tries = 1\n")
    assert "Every candidate is tried in groups up to 1." in invoke("price", "1-100", "--attacker", few).stdout


def test_a_campaign_worth_nothing_is_not_made_even_with_ties_and_a_warning_says_so(tmp_path):
    tied = tmp_path / "tied.toml"
    tied.write_text('[attacker]\ngain = 300\nexploit_cost = 4\nmax_fines = 0\nmax_tries = 1\nties = "attack"\n')
    said = invoke("price", "75", "--attacker", tied).stdout
    assert "A campaign that is worth nothing is not made" in said
    assert "Alone, groups up to 75 are worth an attack" in said
    told = parsed(invoke("price", "75", "--attacker", tied, "--json").stdout)
    assert told["results"][0]["success_probability"] == pytest.approx(1 / 75)
    assert told["tables"]["campaign"][0]["payoff"] == 0


def test_vary_prints_the_thresholds_at_each_value_and_the_page_draws_them(tmp_path):
    page = tmp_path / "price.html"
    done = invoke("price", "1-100", "--vary", "fine=0:50000:6", "--vary", "access_cost=0:900:4", "-o", page)
    assert "10,000     48            77              14" in done.stdout
    text = page.read_text()
    assert "Smallest group that escapes: fine" in text
    assert "Smallest group that escapes: price of the outside data" in text
    told = parsed(invoke("price", "1-100", "--vary", "fine=0:50000:6", "--json").stdout)["tables"]
    assert told["sweep"][0] == {"parameter": "fine", "value": 0, "exhausted": 736, "attacked": 721, "sunk": 736}
    assert "sweep_lines" not in told


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--vary", "fine"), "expected NAME=LOW:HIGH:NUMBER"),
        (("--vary", "fines=0:1:2"), "is not a parameter of an attacker"),
        (("--vary", "prior=0:1:2"), "prior is 0"),
        (("--vary", "ties=0:1:2"), "ties is"),
        (("--cell-probability", "0.1"), "give --population too"),
        (("--population", "10", "--cell-probability", "nothing.txt"), "nothing.txt"),
        (("--population", "10", "--cell-probability", "2"), "expected numbers from 0 to 1"),
        (("--population", "0"), "--population"),
    ],
)
def test_bad_options_of_a_price_are_one_sentence_and_write_nothing(tmp_path, options, said):
    page = tmp_path / "price.html"
    done = invoke("price", "1-5", *options, "-o", page)
    assert done.exit_code != 0
    assert said in done.stderr
    assert done.stdout == ""
    assert not page.exists()


def test_cell_probabilities_of_a_file_are_one_for_each_record(tmp_path):
    path = tmp_path / "cells.txt"
    path.write_text("0.00001\n0.000008\n")
    told = parsed(invoke("price", "40,50", "--population", "6000000", "--cell-probability", path, "--json").stdout)
    assert [row["cell_probability"] for row in told["tables"]["unknown_sizes"]] == [1e-5, 8e-6]
    path.write_text("often\n")
    assert (
        "expected a file with one number"
        in invoke("price", "4", "--population", "9", "--cell-probability", path).stderr
    )


def test_price_gives_no_digest_of_the_table(attacker, release):
    result = parsed(invoke("price", release, "-q", "age,sex", "--attacker", attacker, "--json").stdout)
    (table,) = (entry for entry in result["inputs"] if entry["role"] == "data")
    assert table["sha256"] is None  # a digest could confirm a guess of its content


def test_the_page_of_a_price_shows_every_printed_finding_and_the_attacker(tmp_path, attacker):
    done = invoke("price", "20,60", "--attacker", attacker, "-o", tmp_path / "price.html")
    page = (tmp_path / "price.html").read_text(encoding="utf-8")
    findings = done.stdout.splitlines()[:3]
    assert findings[1].startswith("One by one, ")
    assert all(finding in html.unescape(page) for finding in findings[1:])
    assert "Gain for a re-identification" in page
