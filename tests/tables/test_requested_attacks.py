"""Audits with partial or wrong knowledge, with further attacks, and with the size of the population."""

import csv
import itertools
import json
import random
import statistics
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from unmask.cli import main
from unmask.core.errors import UnmaskError
from unmask.tables import Knowledge, Mondrian, NearestNeighbor, StringLinkage, Table
from unmask.tables.attacks import AttributeInference
from unmask.tables.audit import audit
from unmask.tables.background import Background
from unmask.tables.knowledge import read_knowledge
from unmask.tables.risk.population import estimate

NAMES = ("age", "sex", "zip")


def draw_people(rng, n):
    return [(rng.randint(20, 24), rng.choice("fm"), rng.choice(["a", "b", "c"]), rng.choice("xxyz")) for _ in range(n)]


def read(rows, sensitive=True):
    columns = dict(zip((*NAMES, "ill"), zip(*rows, strict=True), strict=True))
    kept = columns if sensitive else {name: columns[name] for name in NAMES}
    return Table.read(kept, quasi_identifiers=NAMES, sensitive="ill" if sensitive else ())


def row_of(result, adversary, measure, target="identity"):
    names = {"adversary": adversary, "measure": measure, "target": target, "release": "r"}
    (row,) = [row for row in result.rows if all(getattr(row, key) == value for key, value in names.items())]
    return row


# --- partial and wrong knowledge ---


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_success_under_partial_knowledge_is_that_of_a_count(seed, missing, columns):
    """The adversary keeps the rows that fit the known cells; exact cells, so a loop over rows counts them."""
    rows = draw_people(random.Random(seed), 30)
    table = read(rows)
    knows = {"missing": missing, "columns": columns}
    result = audit({"r": table}, original=table, origin=np.arange(30), knows=knows, seed=seed)
    known = Knowledge(None, **knows)(table, rng=np.random.default_rng(seed))
    cells = list(zip(*(known.people[name].tolist() for name in NAMES), strict=True))
    chances = []
    for known_cells in cells:
        fits = [
            row
            for row in rows
            if all(cell == "\0" or cell == str(value) for cell, value in zip(known_cells, row, strict=False))
        ]
        chances.append(1 / len(fits))
    assert row_of(result, "prosecutor", "realized_success").posterior == pytest.approx(statistics.mean(chances))
    assert row_of(result, "prosecutor", "success_probability").posterior == pytest.approx(statistics.mean(chances))


def test_exactly_so_many_columns_of_each_person_are_known():
    table = read(draw_people(random.Random(1), 200))
    known = Knowledge(None, columns=2)(table, rng=np.random.default_rng(1))
    hidden = np.array([known.people.column(name).levels.unknown[known.people.column(name).codes] for name in NAMES])
    assert (hidden.sum(axis=0) == 1).all()
    assert 0.2 < hidden.mean(axis=1).min() <= hidden.mean(axis=1).max() < 0.5


def test_wrong_cells_refute_the_adversary_and_are_stated():
    table = read(draw_people(random.Random(1), 400))
    result = audit({"r": table}, original=table, origin=np.arange(400), knows="error=0.3")
    exact = audit({"r": table}, original=table, origin=np.arange(400))
    row = row_of(result, "prosecutor", "realized_success")
    assert row.posterior < row_of(exact, "prosecutor", "realized_success").posterior
    assert row.status == "refuted"
    assert "30.0\N{NO-BREAK SPACE}% wrong" in result.adversaries["prosecutor"]
    assert any("know as much as stated" in caution for caution in result.cautions)


def test_knowledge_of_all_cells_is_the_default():
    assert read_knowledge(None).is_complete
    assert read_knowledge("missing=0").is_complete
    table = read(draw_people(random.Random(1), 50))
    given = {"original": table, "origin": np.arange(50)}
    assert audit({"r": table}, **given, knows="missing=0,error=0").rows == audit({"r": table}, **given).rows


# --- further attacks ---


def loop_linkage(people, classes, neighbors, limit):
    """Return (equal, compared, linked) by loops over people, classes and columns, as the published program does."""
    ordered, nearest = [], []
    for person in people:
        distance = [sum(str(a) != b for a, b in zip(person, texts, strict=True)) for texts in classes]
        order = sorted(range(len(classes)), key=lambda j, distance=distance: (distance[j], j))[:neighbors]
        ordered.append(order)
        nearest.append([distance[j] for j in order])
    measured = [distances[-1 if limit == "last" else 0] for distances in nearest]
    cut = statistics.median(measured)
    equal = compared = linked = 0
    for person, order, distance in zip(people, ordered, measured, strict=True):
        if limit != "none" and distance > cut:
            continue  # -1, -1, -1 in the paper
        linked += 1
        for j in order:
            compared += len(person)
            equal += sum(str(a) == b for a, b in zip(person, classes[j], strict=True))
    return equal, compared, linked


@pytest.mark.parametrize(("seed", "limit"), [*itertools.product(range(40), ("last", "nearest", "none"))])
def test_equal_cells_are_those_of_the_published_loop(seed, limit):
    rng = random.Random(seed)
    rows = draw_people(rng, 40)
    release, _ = Mondrian(k=2)(read(rows), rng=np.random.default_rng(seed))
    people = [row[:3] for row in draw_people(rng, 11)]
    columns = dict(zip(NAMES, zip(*people, strict=True), strict=True))
    known = Background(Table.read(columns, quasi_identifiers=NAMES))
    texts = [[release.column(name).levels.labels[code] for name, code in zip(NAMES, codes, strict=True)]
             for codes in release.classes.levels.tolist()]  # fmt: skip
    counted = StringLinkage(3, limit).count_equal_cells(release, known)
    assert counted == loop_linkage(people, texts, 3, limit)
    belief = StringLinkage(3, limit)(release, known)
    assert sum(belief.row_length[belief.observation] > 0) == counted.linked


def test_an_audit_adds_the_rows_of_the_attack():
    rows = draw_people(random.Random(3), 120)
    table = read(rows)
    release, origin = Mondrian(k=3)(table, rng=np.random.default_rng(1))
    attacks = {"strings": StringLinkage(3), "nearest": NearestNeighbor(), "value": AttributeInference("ill")}
    given = {"original": table, "origin": origin}
    result, plain = audit({"r": release}, **given, attacks=attacks), audit({"r": release}, **given)
    assert [row for row in result.rows if row.adversary not in attacks] == list(plain.rows)
    counted = StringLinkage(3).count_equal_cells(release, Background(table.take(np.arange(120))))
    row = row_of(result, "strings", "equal_cells")
    assert (row.posterior, row.unit) == (counted.equal, "cells")
    assert f"{counted.linked} of 120 people are linked" in row.note
    assert row_of(result, "strings", "realized_success_at_3").status == "scores"
    value = row_of(result, "value", "realized_success", "ill").posterior
    assert value == pytest.approx(row_of(plain, "prosecutor", "realized_success", "ill").posterior, abs=0.1)
    assert "strings: text equality finds nothing in generalized cells" in result.cautions


def test_ungeneralized_cells_have_no_caution():
    table = read(draw_people(random.Random(3), 50))
    result = audit({"r": table}, original=table, origin=np.arange(50), attacks={"strings": StringLinkage()})
    assert not result.cautions


# --- population ---


@pytest.mark.parametrize("seed", range(100))
def test_population_uniques_are_those_of_the_register(seed):
    rng = random.Random(seed)
    everybody = draw_people(rng, 60)
    rows = everybody[:20]
    result = audit({"r": read(rows)}, register=read(everybody, sensitive=False))
    fits = [sum(row[:3] == person[:3] for person in everybody) for row in rows]
    criteria = result.criteria["r"]
    assert (criteria["k_map"], criteria["population_uniques"]) == (min(fits), fits.count(1))
    assert criteria["journalist_max"] == pytest.approx(1 / min(fits))
    assert criteria["marketer"] == pytest.approx(statistics.mean(1 / n for n in fits))


def test_population_uniques_are_estimated_from_a_sample():
    rng = random.Random(6)
    rows = [(rng.randint(20, 80), *row[1:]) for row in draw_people(rng, 200)]
    table = read(rows)
    criteria = audit({"r": table}, population=2000).criteria["r"]
    expected = estimate(table.classes.sizes, population_rows=2000)
    assert criteria["population_uniques_low"] == expected.low <= expected.high == criteria["population_uniques_high"]
    assert criteria["population_uniques_pitman"] == expected.pitman
    assert criteria["unique_probability_high"] == expected.probability_high
    release, _ = Mondrian(k=3)(table, rng=np.random.default_rng(1))
    protected = audit({"r": release}, population=2000)
    assert "population_uniques_low" not in protected.criteria["r"]
    assert "no row is unique, so none is unique in the population" in dict(protected.not_run).values()


# --- commands ---


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Path("people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([(*NAMES, "ill"), *draw_people(random.Random(1), 90)])
    done = run("protect", "people.csv", "--k", "2", "-o", "release.csv", "--origin", "origin.csv")
    assert done.exit_code == 0, done.output
    return tmp_path


def run(command, *arguments):
    return CliRunner().invoke(
        main, [command, *map(str, arguments[:1]), "-q", "age,sex,zip", "-s", "ill", *arguments[1:]]
    )


KNOWN = ("--original", "people.csv", "--origin", "origin.csv")


def test_options_gates_and_documents_agree(folder):
    options = (
        "--knows",
        "missing=0.4,columns=2",
        "--attack",
        "tables.StringLinkage:neighbors=3",
        "--population",
        "900",
    )
    done = run("audit", "release.csv", *KNOWN, *options, "--policy", "equal_cells<=0", "--json")
    assert done.exit_code == 3, done.output
    results = json.loads(done.stdout)["results"]
    adversaries = {row["adversary"] for row in results}
    assert "StringLinkage neighbors=3" in adversaries
    Path("unmask.toml").write_text(run("audit", "release.csv", *KNOWN, *options, "--as-plan").stdout)
    assert 'attacks = ["tables.StringLinkage:neighbors=3"]' in Path("unmask.toml").read_text()
    again = CliRunner().invoke(main, ["audit", "unmask.toml", "--json"])
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["results"] == results
    text = Path("unmask.toml").read_text().replace('"missing=0.4,columns=2"', "{ missing = 0.4, columns = 2 }")
    Path("unmask.toml").write_text(text)
    assert json.loads(CliRunner().invoke(main, ["audit", "unmask.toml", "--json"]).stdout)["results"] == results


def test_page_and_policy_have_the_risk_of_the_population(folder):
    page = ("--report", "page.html", "--policy", "k_map>=1000", "--policy", "population_uniques<=0")
    done = run("audit", "people.csv", "--register", "people.csv", *page)
    assert done.exit_code == 3, done.output
    text = Path("page.html").read_text()
    assert all(label in text for label in ("k-map", "Population uniques", "Marketer risk", "Journalist risk, largest"))


@pytest.mark.parametrize(
    "options",
    [
        ("--knows", "missing=2"), ("--knows", "missing=-0.1"), ("--knows", "missing=nan"), ("--knows", "missing=x"),
        ("--knows", "error"), ("--knows", ""), ("--knows", "miss=0.1"), ("--knows", "columns=0"),
        ("--knows", "columns=9"), ("--knows", "columns=nowhere"), ("--knows", "columns=age+"), ("--knows", "targets=3"),
        ("--attack", "tables.Nothing"), ("--attack", "StringLink"), ("--attack", "graphs.Nar09"),
        ("--attack", "tables.StringLinkage:neighbors=0"), ("--attack", "tables.StringLinkage:neighbors=x"),
        ("--attack", "tables.StringLinkage:limit=first"), ("--attack", "tables.StringLinkage:3"),
        ("--attack", "tables.SinglingOut"), ("--attack", "tables.ClosestRecord"), ("--attack", "tables.SeveralRows"),
        ("--attack", "tables.AttributeInference"), ("--attack", "tables.AttributeInference:sensitive=nowhere"),
        ("--attack", "module:Class"), ("--attack", ""),
        ("--population", "0"), ("--population", "-4"), ("--population", "89"), ("--population", "1.5"),
        ("--population", "many"), ("--population", "1e9"), ("--population", 10**11),
    ],
)  # fmt: skip
def test_malformed_option_is_one_sentence(folder, options):
    refused = run("audit", "release.csv", *KNOWN, *options, "--report", "page.html")
    assert refused.exit_code in (1, 2), refused.output
    assert isinstance(refused.exception, SystemExit), repr(refused.exception)
    message = refused.stderr.strip().splitlines()[-1]
    assert message.startswith("Error: ")
    assert len(message) < 300
    assert not Path("page.html").exists()


def test_people_are_needed():
    table = read(draw_people(random.Random(1), 20))
    for given in ({"knows": "missing=0.1"}, {"attacks": {"strings": StringLinkage()}}):
        with pytest.raises(UnmaskError, match="no original was given"):
            audit({"r": table}, **given)


STUDY = """
data = {{ use = "tables.synthetic_census", with = {{ n = 100 }} }}
protections = [{{ use = "tables.Identity" }}]
adversaries = [{{ use = "tables.{attack}", knows = {{ columns = {columns} }} }}]
[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
zip = "quasi-identifier"
"""


@pytest.mark.parametrize(
    ("attack", "columns", "code"),
    [("ClassAttack", 2, 0), ("ClassAttack", '["age"]', 0), ("ClassAttack", 0, 2), ("RegisterAttack", 2, 2)],
)
def test_a_study_takes_a_number_of_columns(attack, columns, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(STUDY.format(attack=attack, columns=columns))
    done = CliRunner().invoke(main, ["study", "plan.toml", "-o", "run"])
    assert done.exit_code == code, done.output
    assert code == 0 or "columns is " in done.stderr
