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


def test_a_result_is_a_verdict_a_table_and_one_chart_without_a_script(table):
    release, origin = Mondrian(k=10)(table, rng=np.random.default_rng(0))
    result = unmask.audit(release, original=table, origin=origin, policy="ema-0.09")
    html = result._repr_html_()
    assert len(html.encode()) < 40_000
    assert "<script" not in html
    assert html.count("</table>") == html.count('role="img"') == 1
    assert result.verdicts[0].policy.title in html
    attacked = {(row.adversary, row.target) for row in result.rows if row.measure == "success_probability"}
    assert all(f"<td>{adversary}</td><td>{target}</td>" in html for adversary, target in attacked)


def test_styles_of_a_result_reach_no_other_cell(table):
    html = unmask.audit(table)._repr_html_()
    style = html.partition("<style>")[2].partition("</style>")[0]
    selectors = [line.partition("{")[0].strip() for line in style.splitlines() if "{" in line]
    assert selectors
    assert all("@media" in name or all(".unmask-result" in part for part in name.split(",")) for name in selectors)


@pytest.mark.parametrize("source", [[[0.9, 0.1], [0.2, 0.8]], np.eye(3)])
def test_a_result_without_people_is_shown_as_its_decision(source):
    result = unmask.audit(unmask.read_channel(source))
    assert len(result._repr_html_().encode()) < 40_000
    assert result._repr_html_().count('role="img"') <= 1


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_come_back_in_the_library_that_they_came_in(library):
    module = pytest.importorskip(library)
    made = module.table if library == "pyarrow" else module.DataFrame
    source = made({"age": [30, 30, 41, 41], "ill": ["a", "b", "a", "a"]})
    release, _ = Mondrian(k=2)(unmask.read_table(source, quasi_identifiers="age", sensitive="ill"))
    assert type(release.to_frame()) is type(release.head(2)) is type(source)
