"""Representations in a notebook are short, descriptive, and contain no markup from cells."""

import numpy as np
import pytest

import unmask
from unmask import Partition, Posterior, Truth
from unmask.core.notebook import SHOWN
from unmask.economics import exploitation_table, read_attacker
from unmask.graphs import Auxiliary, Nar09, datasets, select_seeds, split
from unmask.tables import ClassAttack, Mondrian
from unmask.tables.datasets import synthetic_census


@pytest.fixture(scope="module")
def table():
    census = synthetic_census(500, rng=np.random.default_rng(0))
    return unmask.read_table(census, quasi_identifiers=["age", "sex", "zip"], sensitive="diagnosis")


def matching():
    rng = np.random.default_rng(0)
    pair = split(datasets.barabasi_albert(120, 5, rng=rng), 0.9, 0.9, rng)
    return Nar09()(pair.target, Auxiliary(pair.source, select_seeds(pair, "top", 10, rng)))


def test_values_of_many_numbers_are_one_line(table):
    release, _ = Mondrian(k=5)(table)
    belief = ClassAttack()(release)
    priced = exploitation_table(read_attacker("case-study"), 200)
    texts = [repr(value) for value in (release.classes, belief, matching(), Partition(np.arange(900) % 7), priced)]
    assert [text for text in texts if len(text) > 80] == []
    assert texts[1] == "Posterior(500 targets, 500 candidates, exact)"
    assert texts[2].startswith("Matching(")
    assert texts[3] == "Partition(900 items in 7 clusters)"
    assert texts[0] == f"Classes({len(release.classes.sizes)} of 5 to {release.classes.sizes.max()} rows)"
    assert repr(table.take(slice(0, 0)).classes) == "Classes(0)"


def test_a_table_shows_its_first_rows_and_its_roles(table):
    html = table._repr_html_()
    assert html.count("<tr>") == 1 + SHOWN
    assert "age (quasi-identifier)" in html
    assert "diagnosis (sensitive)" in html
    assert all(f"<td>{cell}</td>" in html for cell in table["zip"][:SHOWN])


def test_a_belief_shows_who_its_first_targets_could_be():
    belief = Posterior.from_dense(np.array([[0.1, 0.6, 0.05, 0.25]] * 9), candidate_label=("a", "b", "c", "d"))
    html = belief._repr_html_()
    assert html.count("<tr>") == 1 + SHOWN
    assert "<td>0</td><td>b: 0.6</td><td>d: 0.25</td><td>a: 0.1</td>" in html


def test_an_audit_of_a_belief_shows_every_measure():
    result = unmask.audit(Posterior.from_dense(np.array([[0.75, 0.25]])), Truth([0]))
    html = result._repr_html_()
    assert all(f"<td>{row.measure}</td>" in html for row in result.rows)
    assert "<td>success_probability</td><td>0.75</td><td>0.5</td><td>0.75</td><td>probability</td>" in html


def test_cells_are_no_markup():
    table = unmask.read_table({"x": ["<script>", None]}, quasi_identifiers="x")
    assert "<script>" not in table._repr_html_()
    assert "&lt;script&gt;" in table._repr_html_()


def test_a_chart_is_found_by_words_that_only_its_name_has(table):
    result = unmask.audit(table)
    [name] = [chart for chart in result.charts if chart.startswith("success-identity")]
    assert result.chart("success identity").name == result.chart(name).name == name
    assert result.chart("success people re-identified").name == name
    with pytest.raises(unmask.UnmaskError, match=r"'people' fits \d+ charts of this result; take one of success-"):
        result.chart("people")
    with pytest.raises(unmask.UnmaskError, match="'sucess-identity' is not a chart"):
        result.chart("sucess-identity")
