"""`unmask game`: a document's protections, terms and attackers as a publisher's game."""

import json

import pytest
from click.testing import CliRunner

from tests.envelopes import parsed
from unmask.cli import main
from unmask.errors import UnmaskError
from unmask.studies.game import play, stated

DOCUMENT = """
title = "Discharges"
[data]
use = "tables.synthetic_census"
with = { n = 30 }
[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
zip = "quasi-identifier"
[[protections]]
use = "none"
[[protections]]
use = "tables.Mondrian"
grid = { k = [6] }
[[adversaries]]
name = "voters"
use = "tables.RegisterAttack"
knows = { coverage = 0.6 }
[publisher]
benefit = 1000
loss = 1000
fines = [0, 1000]
[[attackers]]
name = "broker"
adversary = "voters"
gain = %s
exploit_cost = 2
max_fines = 1
detection = 0.02
"""


def document(folder, text):
    path = folder / "unmask.toml"
    path.write_text(text, encoding="utf-8")
    return path


def unmask(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_game_of_a_document_is_that_of_its_beliefs(tmp_path):
    watched = []
    found = play(document(tmp_path, DOCUMENT % 40), watch=watched.append)
    assert watched == ["none", "Mondrian k=6"]
    assert {one.protection for one in found.offers} == {"none", "Mondrian k=6", "no release"}
    payoffs = [one.payoff[0] for one in found.offers]
    assert payoffs == sorted(payoffs, reverse=True)
    assert found.people == 30
    best = found.taken
    assert [one.attacks for one in best.answers] == [False]
    assert best.payoff[0] == pytest.approx(1000 * best.utility)
    bare = next(one for one in found.stopping if one.protection == "none")
    assert bare.announced == pytest.approx(bare.realized, rel=0.05)  # the belief is right about whom they re-identify


def test_ranges_are_judged_by_regret(tmp_path, monkeypatch):
    monkeypatch.setattr("unmask.economics.unknowns.POINTS", 12)
    found = play(document(tmp_path, DOCUMENT % "{ from = 5, to = 80 }"))
    assert [one.parameter for one in found.ranged] == ["gain"]
    assert found.judged[0].regret[1] == pytest.approx(min(one.regret[1] for one in found.judged), abs=1e-6)
    assert all(one.payoff[0] - 1e-9 <= one.mean <= one.payoff[1] + 1e-9 for one in found.judged)
    assert 0 <= found.ranged[0].worth <= found.knowing + 1e-9


def test_the_page_and_the_envelope_say_what_the_terminal_says(tmp_path):
    path, page = document(tmp_path, DOCUMENT % 40), tmp_path / "game.html"
    said = unmask("game", path, "-o", page)
    assert said.exit_code == 0, said.output
    first = said.stdout.splitlines()[0]
    assert first.startswith("Release \u201cMondrian k=6\u201d under a contractual fine of")
    text = page.read_text(encoding="utf-8")
    assert "under a contractual fine of" in text
    assert "What stops each attacker" in text
    results = parsed(unmask("game", path, "--json").stdout)["results"]
    assert results[0]["protection"] == "Mondrian k=6"
    assert json.dumps(results[0]["payoff"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, r"no \[publisher\]"),
        ({"publisher": {"benefit": 1}}, "no loss"),
        ({"publisher": {"benefit": 1, "loss": 1, "fine": 2}}, "'fine' that does not exist"),
        ({"publisher": {"benefit": 1, "loss": 1, "fines": 2}, "attackers": [{"gain": 1, "max_fines": 0}]}, "no list"),
        ({"publisher": {"benefit": 1, "loss": 1}}, "no attackers"),
        ({"publisher": {"benefit": 1, "loss": {"low": 1}}}, "from = 1, to = 2"),
        ({"publisher": {"benefit": 1, "loss": {"from": 2, "to": 1}}}, "rising"),
        (
            {"publisher": {"benefit": 1, "loss": 1}, "attackers": [{"gain": 1, "max_fines": 0, "prior": 0.5}]},
            "coverage",
        ),
        ({"publisher": {"benefit": 1, "loss": 1}, "attackers": [{"gains": 1}]}, "'gains' that does not exist"),
        ({"publisher": {"benefit": 1, "loss": 1}, "attackers": [{"name": "a"}] * 2}, "same name"),
    ],
)
def test_a_game_that_is_none_is_refused(tmp_path, given, said):
    with pytest.raises(UnmaskError, match=said):
        stated(given, tmp_path)


def test_an_adversary_who_asks_something_else_has_no_game(tmp_path):
    text = (DOCUMENT % 40).replace('use = "tables.RegisterAttack"', 'use = "tables.SinglingOut"')
    with pytest.raises(UnmaskError, match="does not ask whose record is whose"):
        play(document(tmp_path, text.replace("knows = { coverage = 0.6 }\n", "")))
