"""Releases that empty sensitive cells: a hidden value is unknown, and no value of its own."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from unmask.measures import evaluate, realized_success, success_probability
from unmask.results.names import INSIDER
from unmask.tables import AttributeInference, Background, Table
from unmask.tables.attacks import BackOff
from unmask.tables.audit.assumptions import list_hidden_values
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, Release
from unmask.tables.audit.table_audit import audit_tables
from unmask.tables.background import hidden_values
from unmask.tables.column import classes_of
from unmask.tables.knowledge import attribute_truth

SHARES = {"north": (0.7, 0.2, 0.1), "south": (0.1, 0.3, 0.6)}
VALUES = ("flu", "gout", "none")


def read(place, ill):
    return Table.read({"place": list(place), "ill": list(ill)}, quasi_identifiers="place", sensitive="ill")


def planted(n=1000):
    """People of two places whose illness depends on where they live; exactly so many of each."""
    cells = [
        (place, ill)
        for place, p in SHARES.items()
        for ill, q in zip(VALUES, p, strict=True)
        for _ in range(round(q * n))
    ]
    return read(*zip(*np.random.default_rng(0).permutation(cells), strict=True))


def emptied(table, hides):
    return read(table["place"], np.where(hides, "", table["ill"]))


def counted(table):
    """Return the same by its combinations."""
    classes = classes_of(table.columns)
    rows = np.unique(classes.of_row, return_index=True)[1]
    quasi, sensitive = (
        tuple(replace(column.take(rows), row_counts=classes.sizes) for column in columns)
        for columns in (table.quasi_identifiers, table.sensitive)
    )
    return replace(table, quasi_identifiers=quasi, sensitive=sensitive, kept=())


def hiding(people, form):
    rng = np.random.default_rng(1)
    return {
        "at random": rng.random(people.n_rows) < 0.6,
        "one value": np.array(people["ill"]) == "flu",
        "most of one value": (np.array(people["ill"]) == "none") & (rng.random(people.n_rows) < 0.9),
        "all": np.ones(people.n_rows, dtype=np.bool_),
        "one place": np.array(people["place"]) == "north",
    }[form]


@pytest.mark.parametrize("case", ["at random", "one value", "most of one value", "all", "one place"])
@pytest.mark.parametrize("form", [lambda table: table, counted])
def test_announced_equals_realized_for_hidden_values(case, form):
    # "missing" was believed in as a value, which nobody has: realized success fell below guessing without a release
    people = planted()
    release = emptied(people, hiding(people, case))
    background = Background(None, people) if form is counted else Background(people, people)
    belief = AttributeInference("ill")(form(release), background)
    assert belief.status == "model"
    place = people.classes.of_row if form is counted else np.arange(people.n_rows)
    of_person = belief.to_dense()[place]
    truth = attribute_truth(people, np.arange(people.n_rows), belief, "ill").candidate
    announced, realized = of_person.max(axis=1).mean(), (of_person.argmax(axis=1) == truth).mean()
    expected = {"one place": 0.6, "all": 0.4}.get(case, 0.65)
    assert realized >= expected - 0.001
    assert announced == pytest.approx(realized, abs=0.02)
    assert of_person[:, belief.candidate_label.index("")].max() == 0


def test_a_hidden_cell_of_a_wide_column_is_no_value_for_insiders_either(monkeypatch):
    # from 4 million pairs of levels on, cells were joined as equal or not, and a hidden one was nobody's
    rng, n = np.random.default_rng(0), 300
    columns = {
        "place": rng.choice(list("ns"), n),
        "ill": rng.choice(VALUES, n),
        "pay": rng.integers(0, 40, n).astype(str),
    }
    hides = rng.random(n) < 0.5
    release, original = (
        Table.read(columns | {"pay": pay}, quasi_identifiers="place", sensitive=["ill", "pay"], types={"pay": "number"})
        for pay in (np.where(hides, "", columns["pay"]), columns["pay"])
    )
    evidence = AuditorKnowledge(original=original, origins={"release": np.arange(n)})
    beliefs = []
    for wide in (1 << 22, 0):
        monkeypatch.setattr("unmask.tables.attacks.comparisons.MIN_WIDE_PAIRS", wide)
        monkeypatch.setattr("unmask.tables.attacks.comparisons.MAX_SPARSE_SHARE", np.inf)
        rows = audit_tables({"release": release}, evidence).rows
        beliefs.append([(row.target, row.measure, row.posterior) for row in rows if row.adversary == INSIDER])
    assert [row[:2] for row in beliefs[0]] == [row[:2] for row in beliefs[1]]
    assert [row[2] for row in beliefs[1]] == pytest.approx([row[2] for row in beliefs[0]], abs=1e-9)


def test_both_forms_of_a_table_believe_the_same_of_hidden_values():
    people = planted(50)
    release = emptied(people, hiding(people, "at random"))
    rows, classes = (
        AttributeInference("ill")(table, Background(None, people)) for table in (release, counted(release))
    )
    assert rows.candidate_label == classes.candidate_label
    first = np.unique(release.classes.of_row, return_index=True)[1]
    assert rows.to_dense()[first] == pytest.approx(classes.to_dense(), abs=1e-12)


def test_hidden_values_are_those_of_all_tables_that_agree_with_the_release():
    """By enumeration: which of the hidden cells holds which of the values that the release states too seldom?"""
    ill = ["flu", "flu", "gout", "none", "none", "none"]
    hides = [True, False, False, False, True, True]
    people, release = read("aaaaaa", ill), read("aaaaaa", np.where(hides, "", ill))
    short = [value for value, is_hidden in zip(ill, hides, strict=True) if is_hidden]
    worlds = [dict(zip(np.flatnonzero(hides).tolist(), values, strict=True)) for values in permutations(short)]
    oracle = np.mean([[world.get(i, ill[i]) == v for v in VALUES] for world in worlds for i in range(6)], axis=0)
    copies = 2000  # as often, that the half row of each value does not count
    people, release = (read(["a"] * 6 * copies, list(table["ill"]) * copies) for table in (people, release))
    belief = AttributeInference("ill")(release, Background(people.take(slice(0, 1)), people))
    assert [belief.candidate_label.index(v) for v in VALUES] == [0, 1, 2]
    assert belief.to_dense()[0, :3] == pytest.approx(oracle, abs=1e-3)


def test_cells_that_the_population_misses_too_hide_nothing():
    place, ill = ["a"] * 1000, (["flu"] * 6 + ["gout"] * 2 + [""] * 2) * 100
    people = read(place, ill)
    background = Background(people, people)
    assert hidden_values(people.column("ill"), people.totals_of(people.column("ill")), people)[0] == 0
    assert AttributeInference("ill")(people, background).status == "exact"
    odd = read("a" * 49, ["flu"] * 48 + [""])  # 1 / 49 * 49 is below 1
    assert hidden_values(odd.column("ill"), odd.totals_of(odd.column("ill")), odd)[0] == 0
    subset = people.take(np.random.default_rng(0).permutation(1000)[:300])  # as few as chance draws are no sign either
    assert hidden_values(subset.column("ill"), subset.totals_of(subset.column("ill")), people)[0] == 0
    resampled = [people.take(np.random.default_rng(seed).integers(0, 1000, 1000)) for seed in range(50)]
    columns = [sample.column("ill") for sample in resampled]
    assert sum(hidden_values(column, column.counts, people)[0] > 0 for column in columns) <= 1  # made-up rows
    release = read(place, np.where(np.arange(1000) % 10 < 3, "", ill))  # half of those with flu are hidden
    share, values = hidden_values(release.column("ill"), release.totals_of(release.column("ill")), people)
    assert share == pytest.approx(0.6)
    assert values == pytest.approx([1, 0, 0], abs=0.01)
    belief = AttributeInference("ill")(release, background)
    assert belief.to_dense()[0] == pytest.approx([0.6, 0.2, 0.2], abs=0.01)  # of gout, flu and none
    assert belief.candidate_label == ("flu", "gout", "")


def test_without_a_population_a_missing_cell_is_a_value_of_its_own():
    release = read("aab", ["flu", "", ""])
    assert AttributeInference("ill")(release).to_dense()[2].tolist() == [0, 1]


def test_too_many_values_are_believed_by_their_shares_alone(monkeypatch):
    people = planted(50)
    monkeypatch.setattr("unmask.tables.attacks.backoff.MAX_PROBABILITIES", 5)
    release = emptied(people, hiding(people, "all"))
    belief = AttributeInference("ill")(release, Background(people.take(slice(0, 1)), people))
    assert belief.to_dense()[0, [belief.candidate_label.index(v) for v in VALUES]] == pytest.approx(
        [0.4, 0.25, 0.35], abs=0.02
    )


def test_a_value_that_no_row_states_is_as_likely_anybodys():
    people = planted(200)
    without_flu = people.take(np.flatnonzero(np.array(people["ill"]) != "flu"))
    belief = BackOff("ill")(without_flu, Background(people, people))
    truth = attribute_truth(people, np.arange(people.n_rows), belief, "ill")
    announced, realized = (
        evaluate(success_probability, belief).posterior,
        evaluate(realized_success, belief, truth).posterior,
    )
    assert announced == pytest.approx(realized, abs=0.15)
    flu = belief.to_dense()[:, belief.candidate_label.index("flu")]
    assert flu.min() > 0.3  # 0.4 of the people have it
    assert belief.to_dense()[np.arange(people.n_rows), truth.candidate].min() > 0.05


def test_an_audit_says_how_much_is_hidden_and_what_criteria_make_of_it():
    people = planted(400)
    release = emptied(people, np.arange(people.n_rows) % 5 == 0)
    evidence = AuditorKnowledge(original=people, origins={"shown": np.arange(people.n_rows)})
    result = audit_tables({"shown": release}, evidence)
    (assumption,) = (assumption for assumption in result.assumptions if "hidden in" in assumption)
    assert assumption.startswith("20.0\u00a0% of the ill cells are hidden in shown")
    assert "l, t" in assumption
    rows = {(row.adversary, row.measure): row for row in result.rows if row.release == "shown" and row.target == "ill"}
    for adversary in ("prosecutor", "modeler"):
        announced, realized = (rows[adversary, name].posterior for name in ("success_probability", "realized_success"))
        assert announced == pytest.approx(realized, abs=0.03)
        assert realized >= rows[adversary, "realized_success"].prior
    (expects, finds) = (
        next(row for row in result.rows if (row.release, row.adversary, row.measure) == ("shown", INSIDER, name))
        for name in ("success_probability", "realized_success")
    )
    assert expects.target == finds.target == "identity"
    assert expects.status == "model"  # refuted: they looked for people whose cell is hidden among those that state it
    assert expects.posterior == pytest.approx(finds.posterior, rel=0.1)
    assert not any("hidden in" in assumption for assumption in audit_tables({"shown": people}, evidence).assumptions)


def test_hidden_values_are_counted_among_complete_rows():
    people = planted(100)
    is_gone, hides = np.arange(people.n_rows) % 2 == 0, np.arange(people.n_rows) % 4 < 3
    cells = {
        "place": np.where(is_gone, "", people["place"]).tolist(),
        "ill": np.where(hides, "", people["ill"]).tolist(),
    }
    release = Table.read(cells, quasi_identifiers="place", sensitive="ill", missing="excluded")
    (sentence,) = list_hidden_values([Release("shown", release)], people)
    assert "50.0\u00a0% of the ill cells are hidden in shown" in sentence  # and 75 % of all rows


def test_a_release_of_which_no_row_takes_part_hides_nothing():
    columns = {"q": [""], "s": ["flu"]}
    release = Table.read(columns, quasi_identifiers="q", sensitive="s", missing="excluded")
    people = Table.read({"q": ["a", "a"], "s": ["flu", "none"]}, quasi_identifiers="q", sensitive="s")
    belief = AttributeInference("s")(release, Background(people, people))
    assert belief.to_dense() == pytest.approx(np.full((2, 2), 0.5))
