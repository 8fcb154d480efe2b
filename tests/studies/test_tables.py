"""The standard audit: same people in every release, one rule for missing cells, nothing silently left out."""

from dataclasses import replace

import numpy as np
import pytest

from unmask import UnmaskError
from unmask.economics import Attacker
from unmask.economics.audit import AttackerSource
from unmask.findings.sentences import sentences
from unmask.render.page import render
from unmask.results.formats import percent
from unmask.results.scope import headlines
from unmask.tables import Mondrian, Register, Table
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.table_audit import audit_tables


def census(n=300, *, missing="own", gaps=0):
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, n).astype(str).astype(object)
    age[:gaps] = ""
    columns = {"age": age, "sex": rng.choice(["f", "m"], n), "ill": rng.choice(["a", "b"], n)}
    return Table.read(columns, quasi_identifiers=("age", "sex"), sensitive="ill", missing=missing)


def test_every_release_is_attacked_and_the_original_too():
    people, rng = census(), np.random.default_rng(1)
    releases = {f"k={k}": Mondrian(k=k)(people, rng=rng) for k in (3, 20)}
    register = Register(coverage=0.5)(people, releases["k=3"][1], rng=rng).people
    evidence = AuditorKnowledge(
        people, {name: origin for name, (_, origin) in releases.items()}, register, coverage=0.5
    )
    result = audit_tables({name: release for name, (release, _) in releases.items()}, evidence)
    heads = headlines(result)
    assert {key[0] for key in heads} == {"original", "k=3", "k=20"}
    assert {row.adversary for row in result.rows if row.linked_to == "register"} == {"journalist"}
    assert {row.linked_to for row in result.rows if row.adversary == "prosecutor"} == {""}
    known_targets = {("prosecutor", "identity"), ("prosecutor", "ill"), ("modeler", "ill"), ("journalist", "identity")}
    assert {key[1:] for key in heads} == known_targets | {("insider", "identity"), ("order reader", "identity")}
    for name, (release, _) in releases.items():
        assert heads[name, "prosecutor", "identity"].measure == "realized_success"
        expected = len(release.classes.sizes) / 300
        assert heads[name, "prosecutor", "identity"].posterior == pytest.approx(expected)
    assert heads["k=20", "prosecutor", "identity"].worst <= 1 / 20


def test_without_evidence_it_says_what_was_not_run():
    result = audit_tables({"r": census()})
    assert {row.n for row in result.rows} == {300}
    reasons = " ".join(reason for _, reason in result.not_run)
    assert "--original" in reasons
    assert "--register" in reasons
    assert all(row.measure != "realized_success" for row in result.rows)


def test_excluded_rows_are_neither_counted_nor_attacked():
    result = audit_tables({"r": census(missing="excluded", gaps=40)})
    assert {row.n for row in result.rows} == {260}
    criteria = result.criteria["r"]
    assert (criteria["rows"], criteria["rows_excluded"]) == (260, 40)
    success = headlines(result)["r", "prosecutor", "identity"].posterior
    assert success == pytest.approx(criteria["prosecutor_average"])


def test_all_rows_excluded_is_an_error():
    with pytest.raises(UnmaskError, match="leaves 0"):
        audit_tables({"r": Table.read({"age": ["", ""]}, quasi_identifiers="age", missing="excluded")})


def test_targets_are_the_same_people_in_every_release():
    people = census()
    evidence = AuditorKnowledge(people, targets=50, seed=3)
    result = audit_tables({"one": people, "two": people}, evidence)
    success = {key[0]: row.posterior for key, row in headlines(result).items() if key[2] == "ill"}
    assert success["one"] == success["two"]


def test_e2_a_plan_is_played_out_for_the_holder_of_a_register_whose_people_are_known():
    people, rng = census(), np.random.default_rng(1)
    release, origin = Mondrian(k=5)(people, rng=rng)
    register = Register(coverage=0.5)(people, origin, rng=rng)
    motive = AttackerSource(Attacker(gain=100, exploit_cost=5, max_fines=0))
    holder = {"register": register.people, "coverage": 0.5, "register_origin": register.person}
    evidence = AuditorKnowledge(people, {"k=5": origin}, **holder)
    result = audit_tables({"k=5": release}, evidence, attacker=motive)
    rows = {row.measure: row for row in result.rows if (row.release, row.adversary) == ("k=5", "journalist")}
    assert rows["realized_success"].posterior == pytest.approx(rows["success_probability"].posterior)
    assert rows["realized_rational_success"].posterior == pytest.approx(rows["rational_success"].posterior)
    (priced,) = result.table("price_releases").where(release="k=5").rows
    assert priced["realized"] == rows["realized_rational_success"].posterior
    assert any(
        f"{percent(priced['realized'])} ({percent(priced['success'])} expected) are re-identified" in sentence
        for sentence in sentences(result)
    )
    unknown = audit_tables({"k=5": release}, replace(evidence, register_origin=None), attacker=motive)
    assert unknown.table("price_releases").where(release="k=5").values("realized") == [None]
    assert any(
        f"attack and {percent(priced['success'])} are re-identified" in sentence for sentence in sentences(unknown)
    )


def test_t6_the_page_names_the_people_with_an_exact_inference():
    assert any(
        "exact if people of a class are exchangeable" in line for line in audit_tables({"r": census()}).assumptions
    )


def _values(data):
    return data.table("values").rows


def test_u10_a_rare_value_is_not_hidden_behind_the_commonest():
    # 4 % are ill; in the small class three of four are, and the average says only that most people are healthy
    q = np.repeat(["a", "b"], [960, 40])
    ill = np.array(["no"] * 950 + ["yes"] * 10 + ["yes"] * 30 + ["no"] * 10)
    result = audit_tables({"r": Table.read({"q": q, "ill": ill}, quasi_identifiers="q", sensitive="ill")})
    by_value = {
        row["value"]: (round(row["prior"], 3), round(row["highest"], 3), row["people"]) for row in _values(result)
    }
    assert list(by_value) == ["no. 2", "no. 1"]
    assert by_value == {"no. 2": (0.04, 0.75, 40), "no. 1": (0.96, 0.99, 960)}
    assert "Which values are found out" in render(result)
    assert "75.0" in render(result)


def test_u10_a_page_names_no_value_that_few_people_have():
    ill = np.array(["flu"] * 90 + ["gout"] * 7 + ["HIV"] * 3)
    result = audit_tables(
        {"r": Table.read({"q": np.arange(100) % 5, "ill": ill}, quasi_identifiers="q", sensitive="ill")}
    )
    assert {row["value"] for row in _values(result)} == {"no. 1", "no. 2", "no. 3"}
    suppressed = result.without_small()
    assert {row["value"] for row in _values(suppressed)} == {"no. 1", "a value that fewer than 10 people have"}
    assert replace(suppressed, is_shared=False).without_small() == suppressed
    assert not any(value in render(replace(result, smallest_shown=1)) for value in ("HIV", "gout"))
