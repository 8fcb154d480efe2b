"""A lattice in a game: its nodes are counted as their releases are attacked, and the best of them are offered."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from unmask.cases.tables.plane import plane
from unmask.cli import main
from unmask.economics import Attacker
from unmask.economics.response import Raid
from unmask.errors import UnmaskError
from unmask.plan import Cell
from unmask.reports.facts.game import Nodes
from unmask.reports.parts import Figures
from unmask.reports.sections.nodes import nodes_shown
from unmask.studies.cells import believed, nodes
from unmask.studies.game import play
from unmask.studies.plane import _node
from unmask.studies.reading import read_plan
from unmask.tables import ClassAttack, Identity, Knowledge, Lattice, Table

DOCUMENT = """
title = "Discharges"
[data]
use = "tables.synthetic_census"
with = { n = 60 }
[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
zip = "quasi-identifier"
[[protections]]
use = "tables.Lattice"
with = { k = 2, suppression = 0.2, levels = { age = [0, 10, 20, "*"], zip = [0, 100, "*"] } }
[[adversaries]]
name = "neighbor"
use = "tables.ClassAttack"
knows = { targets = 40 }
[[adversaries]]
name = "colleague"
use = "tables.ClassAttack"
knows = { columns = ["age", "sex"] }
[[adversaries]]
name = "voters"
use = "tables.RegisterAttack"
knows = { coverage = 0.6, columns = ["age", "zip"] }
[publisher]
benefit = 1000
loss = 100
fines = [0, 500]
[[attackers]]
name = "broker"
gain = %s
exploit_cost = 2
max_fines = "unlimited"
detection = 0.02
fine = 30
"""


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "unmask.toml"
    path.write_text(DOCUMENT % 40, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["neighbor", "colleague", "voters"])
def test_a_node_is_counted_as_its_release_is_attacked(document, name):
    plan = read_plan(document)
    adversary = next(one for one in plan.adversaries if one.name == name)
    cell = Cell(plan.datasets[0], plan.protections[0], adversary, plan.seeds[0], ("utility",))
    found = nodes([cell])
    attacker = Attacker(gain=40, exploit_cost=2, max_fines=math.inf, detection=(0.02,), fine=30)
    assert not found.whole.all()
    for place in range(0, len(found.utility), 3):
        made = Cell(cell.dataset, _node(cell.protection, found, place), adversary, cell.seed, ("utility",))
        belief, _, utility = believed(made)
        assert found.utility[place] == pytest.approx(utility)
        who, people = found.releases[name].one(place)
        counted, attacked = Raid.of(attacker, who, people=people), Raid.of(attacker, belief)
        assert counted.worth.low == pytest.approx(attacked.worth.low, rel=1e-6)  # beliefs are in single precision
        assert counted.re_identified.low == pytest.approx(attacked.re_identified.low, rel=1e-6)


def test_a_campaign_is_against_everybody_of_whom_the_document_says_nothing(document):
    document.write_text(document.read_text().replace("n = 60", "n = 1_100").replace("knows = { targets = 40 }", ""))
    plan = read_plan(document)
    cell = Cell(plan.datasets[0], plan.protections[0], plan.adversaries[0], plan.seeds[0], ("utility",))
    found = nodes([cell])
    _, people = found.releases["neighbor"].one(int(found.whole.argmax()))
    assert people.sum() == 1_100  # a study draws a thousand and says so
    made = replace(cell, protection=replace(cell.protection, use="none", parameters={}))
    assert believed(made)[0].n_targets == 1_100


def test_the_best_node_is_offered_and_leaves_what_was_announced(document):
    watched = []
    found = play(document, watch=watched.append)
    (lattice,) = found.lattices
    assert watched[0] == "every node of Lattice"
    assert len(lattice.utility) <= 4 * 2 * 3
    assert lattice.undecided == 0
    offers = {one.protection: one for one in found.offers}
    assert set(lattice.levels) == {name for name in offers if name.startswith("Lattice")}
    best = max(lattice.low)
    assert max(one.payoff[0] for one in found.offers) == pytest.approx(best, rel=1e-6)
    assert all(high <= best + 1 + 1e-9 for high in lattice.high)  # what is left out is better by the gap at most


def test_the_page_and_the_envelope_show_the_plane(document, tmp_path):
    page = tmp_path / "game.html"
    said = CliRunner().invoke(main, ["game", str(document), "-o", str(page), "--json"])
    assert said.exit_code == 0, said.output
    text = page.read_text(encoding="utf-8")
    assert "nodes of the lattice" in text
    (table,) = json.loads(said.stdout)["tables"]["lattices"]
    assert len(table["utility"]) == len(table["low"])


@pytest.mark.parametrize(("utility", "marks"), [((0.2, 0.25, 0.5), 3), ((math.nextafter(0.25, 0), 0.25, 0.5), 2)])
def test_nodes_of_one_utility_are_one_mark(utility, marks):
    known = Nodes("Lattice", utility, (1.0, 2.0, 3.0), (2.0, 3.0, 4.0), {"Lattice 1": {"age": "0"}}, 0, 0, 0.0)
    (figures,) = (one for one in nodes_shown([known]) if isinstance(one, Figures))
    assert str(figures.items[0].svg).count("<circle") == marks


def people(**cells):
    given = {"age": [30, 30, 41, 52], "sex": list("ffmm")} | cells
    return Table.read(given, quasi_identifiers=["age", "sex"])


@pytest.mark.parametrize(
    ("attack", "knows", "cells", "said"),
    [
        (ClassAttack(0.5), Knowledge(), {}, "no adversary whom classes tell everything"),
        (Identity(), Knowledge(), {}, "no adversary whom classes tell everything"),
        (ClassAttack(), Knowledge(error=0.1), {}, "without gaps and mistakes"),
        (ClassAttack(), Knowledge(), {"age": [30, None, 41, 52]}, "'age' has missing or generalized cells"),
    ],
)
def test_whom_classes_do_not_tell_everything_is_refused(attack, knows, cells, said):
    rng = np.random.default_rng(0)
    with pytest.raises(UnmaskError, match=said):
        plane(people(**cells), Lattice(k=1), {"one": (attack, knows, rng)})


def test_rounds_are_refused():
    with pytest.raises(UnmaskError, match="leave out rounds"):
        plane(people(), Lattice(k=1, rounds=2), {})
