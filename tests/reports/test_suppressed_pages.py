"""Shared pages, JSON and tables reveal nothing about few people, also not by subtraction."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs.test_network_findings import attack, graph, row
from tests.graphs.test_network_findings import data as network
from tests.reports.test_html import sample, sections, with_facts
from unmask.graphs.audit.facts import CriterionLink, ProtectionEffect, ScoreBin
from unmask.graphs.evaluation import DegreeClass
from unmask.render.page import render
from unmask.render.people_sections import quantile_tables
from unmask.results import Result
from unmask.results.distribution import Distribution
from unmask.results.names import PROSECUTOR
from unmask.results.scope import Scope
from unmask.tables import Table
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.table_audit import audit_tables

EDGES = (0.0, 0.1, 0.5, 1.0)


def spread(*counts, above=()):
    people = sum(counts)
    shares = tuple(count / people for count in counts)
    return Distribution("k=3", "knows all", "identity", EDGES, shares, people, dict(above))


def shown(**changes):
    return replace(sample(), **changes).without_small()


@st.composite
def tables(draw):
    sizes = draw(st.lists(st.integers(1, 30), min_size=2, max_size=12))
    values = draw(st.lists(st.integers(0, 3), min_size=sum(sizes), max_size=sum(sizes)))
    cell = [f"c{at}" for at, size in enumerate(sizes) for _ in range(size)]
    return Table.read(
        {"zip": cell, "job": [f"v{value}" for value in values]}, quasi_identifiers=("zip",), sensitive="job"
    )


@settings(max_examples=25, deadline=None)
@given(tables(), st.integers(2, 20))
def test_no_count_of_few_people_is_in_what_is_shown(table, least):  # R7
    found = replace(audit_tables({"release": table}), smallest_shown=least)
    told = found.without_small()
    sizes = table.classes.sizes
    for item, exact in zip(told.distribution, found.distribution, strict=True):
        for share, true in zip(item.shares, exact.shares, strict=True):
            count = share * table.n_rows
            assert (count == 0) == (true == 0)
            assert count == 0 or count >= least - 1e-6 or math.isclose(share, 1.0)
            assert math.isclose(share, 1.0) or math.isclose(count / least, round(count / least), abs_tol=1e-6)
        for count in item.above.values():
            assert count in (0, f"fewer than {least}", item.people) or (count >= least and count % least == 0)
    unique = int((sizes == 1).sum())
    expected = f"fewer than {least}" if 0 < unique < least else unique
    assert told.criteria["release"]["unique_rows"] == expected
    assert replace(told, is_shared=False).without_small() == told
    tables = quantile_tables(Scope(told))
    cells = {cell for grid in tables for _, rows in grid.groups for line in rows for cell in line}
    assert not cells & {str(count) for count in range(1, least)}


def test_no_more_people_are_at_risk_than_there_are():
    (item,) = shown(distribution=(spread(500, 502, above={0.09: 1002, 0.5: 997}.items()),)).distribution
    assert item.above == {0.09: 1002, 0.5: 1000}


def test_a_bin_of_three_people_is_rounded_up_and_no_difference_tells_it():
    (item,) = shown(distribution=(spread(3, 0, 997, above={0.09: 1000, 0.5: 3}.items()),)).distribution
    assert item.shares == (0.01, 0.0, 1.0)
    assert item.above == {0.09: 1000, 0.5: "fewer than 10"}


def test_counts_above_two_limits_differ_by_a_multiple():
    (item,) = shown(distribution=(spread(3, 997, 3, above={0.09: 1000, 0.5: 997}.items()),)).distribution
    assert item.above == {0.09: 1000, 0.5: 1000}


@pytest.mark.parametrize(("unique", "told"), [(0, "0"), (7, "fewer than 10"), (10, "10"), (412, "412")])
def test_unique_rows_are_told_where_they_are_many(unique, told):
    page = render(with_facts(sample(), criteria={"k=3": {"k": 1, "unique_rows": unique}}))
    line = page[page.index("rows without an equal row of another person") :].partition("</tr>")[0]
    assert f">{told}</td>" in line
    assert ">1</td>" in page  # k stands as it is


def test_another_number_of_people_may_be_asked_for():
    few = replace(sample(), criteria={"k=3": {"unique_rows": 7}}, smallest_shown=5)
    assert few.without_small().criteria["k=3"]["unique_rows"] == 7
    assert replace(few, smallest_shown=8).without_small().criteria["k=3"]["unique_rows"] == "fewer than 8"
    assert "describes no fewer than 8 people" in render(replace(few, smallest_shown=8))
    assert "For the owner of the data only" in render(replace(few, smallest_shown=1))


def test_groups_of_few_are_left_out_of_networks():
    link = CriterionLink("degree", 0.5, ((0.1, 0.0), (0.9, 1.0)))
    few = attack(
        degrees=(DegreeClass(1, 3, 9, 0.1, None), DegreeClass(4, 7, 10, 0.5, None)),
        scores=(ScoreBin(0.0, 0.5, 3, 0.2, 0.3), ScoreBin(0.5, 1.0, 30, 0.9, 0.8)),
    )
    effect = ProtectionEffect("r", few.attack, None, 0.1, 9, None, 0.3, 0.3)
    empty = {"transition": (), "overlaps": ()}
    found = graph(few, common=99, anonymity=(link,), protections=(effect, replace(effect, adopters=10)), **empty)
    result = network(found).without_small()
    assert result.table("graph_degrees").values("people") == [10]
    assert result.table("graph_scores").values("matches") == [30]
    assert result.table("graph_anonymity_ranks").rows == ()  # tenths of 99 people
    assert result.table("graph_anonymity").values("correlation") == [0.5]
    assert result.table("graph_separations").values("adopters") == [10]
    edges = replace(effect, adopters=None, adopter_recall=None, disclosure=None)
    kept = network(graph(few, protections=(edges,), **empty)).without_small()
    assert len(kept.table("graph_separations")) == 1  # changed edges describe no group
    alone = render(network(graph(few, protections=(effect,), **empty)))
    assert "protections" not in sections(alone)


@pytest.mark.parametrize("group", ["adopters", "membership of the rare"])
def test_rows_about_a_group_of_few_people_are_left_out(group):
    rows = (
        row("r", "a", group, "disclosure", n=9),
        row("r", "a", group, "exposed", n=10),
        row("r", "a", "identity", "recall", n=9),
    )
    assert [one.measure for one in Result("t", "w", rows).without_small().rows] == ["exposed", "recall"]


def test_people_whom_a_rational_attacker_attacks_are_rounded_up():
    asked = replace(sample().rows[0], measure="rational_access", unit="share", posterior=3 / 2000, n=2000)
    (told,) = replace(sample(), rows=(asked,)).without_small().rows
    assert (told.posterior, told.low, told.high) == (10 / 2000, None, None)


def test_no_page_lists_classes_subjects_or_people():  # U11
    assert "by number" not in render(sample())
    assert "where" in sections(render(sample()))  # columns stay
    assert "(no. " not in render(sample())


EVIL = "age\u202e\x1b[31m\u2066 of\u2028line\x07"


def test_what_nobody_sees_is_shown_in_pages_and_charts():  # R8
    rows = tuple(replace(one, release=f"{one.release}{EVIL}", target=EVIL) for one in sample().rows[:6])
    page = render(replace(sample(), title=EVIL, rows=rows, criteria={}, facts=(), blocks=(), distribution=()))
    assert not set(page) & set("\u202e\x1b\u2066\u2028\x07")
    assert "age\\u202e\\x1b[31m\\u2066 of\\u2028line\\x07" in page


def test_a_page_without_such_characters_is_not_changed():
    assert "\\u" not in render(sample())


def test_the_original_attacked_beside_its_release_is_counted_alike():
    rng = np.random.default_rng(0)
    original = Table.read(
        {"zip": [f"z{value}" for value in rng.integers(0, 40, 120)], "job": ["a", "b"] * 60},
        quasi_identifiers=("zip",), sensitive="job",
    )  # fmt: skip
    found = audit_tables({"r": original}, AuditorKnowledge(original=original, origins={"r": np.arange(120)}))
    above = {(item.release, item.adversary, item.target): item.above for item in found.distribution}
    assert above["original", PROSECUTOR, "identity"] == above["r", PROSECUTOR, "identity"]
    assert above["r", PROSECUTOR, "identity"][0.5] == int((original.classes.sizes == 1).sum())
