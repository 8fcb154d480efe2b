"""Columns that single people out, compared with attacks on every subset of columns, and the explanation of a person."""

import csv
from itertools import combinations

import numpy as np
import pytest

import unmask
from tests.commands import invoke
from unmask.tables import ClassAttack, Mondrian, Table
from unmask.tables.background import Background
from unmask.tables.datasets import synthetic_census
from unmask.tables.protections.generalization import Generalize
from unmask.tables.risk.singling_columns import SinglingSearch

NAMES = ["age", "sex", "zip"]


@pytest.fixture(scope="module")
def census():
    columns = synthetic_census(300, rng=np.random.default_rng(0))
    return Table.read(columns, quasi_identifiers=NAMES, sensitive="diagnosis")


@pytest.fixture(scope="module")
def released(census):
    return Mondrian(k=3)(census, rng=np.random.default_rng(1))


@pytest.fixture(scope="module")
def result(census, released):
    release, origin = released
    return unmask.audit(release, original=census, origin=origin)


def _attack(people, release, names):
    """Return the number of records that fit each person in some columns, by the attack."""
    known, table = (
        Table.read({name: side[name] for name in names}, quasi_identifiers=list(names)) for side in (people, release)
    )
    belief = ClassAttack()(table, Background(known))
    return belief.row_length[belief.observation]


def _check(people, release, search):
    subsets = [names for size in range(1, 1 + len(NAMES)) for names in combinations(NAMES, size)]
    fitting = {names: _attack(people, release, names) for names in subsets}
    for person in range(people.n_rows):
        found, n_records = search.explain(person), fitting[tuple(NAMES)][person]
        sufficient = [names for names in subsets if fitting[names][person] == n_records]
        smallest = min(map(len, sufficient)) if n_records < release.n_rows else 0
        assert found.n_records == n_records
        assert len(found.columns) == smallest
        assert not smallest or found.columns in sufficient
        without = {name: fitting[tuple(other for other in NAMES if other != name)][person] for name in NAMES}
        assert found.n_without == without


@pytest.mark.parametrize("protection", [Mondrian(k=3), Generalize({"age": 10.0, "zip": "*"})])
def test_columns_of_each_person_are_those_of_the_attack_on_every_subset(census, protection):
    release, _ = protection(census, rng=np.random.default_rng(2))
    _check(census, release, SinglingSearch(release, census))


def test_people_of_a_release_are_known_by_their_own_cells():
    cells = {"age": list("112234"), "sex": list("abaabb"), "zip": list("xxyyxx")}
    release = Table.read(cells, quasi_identifiers=NAMES)
    _check(release, release, SinglingSearch(release))


def test_one_coarser_column_lets_as_many_records_fit_as_in_the_recoded_release(census, released):
    release, _ = released
    search = SinglingSearch(release, census)
    for step in search.try_coarser(7, census):
        recoded, _ = Generalize({step.column: step.level})(release, rng=np.random.default_rng(0))
        assert step.n_records == _attack(census, recoded, NAMES)[7]


def test_explained_beliefs_average_to_the_measures_of_the_audit(census, result):
    explained = [result.explain(person) for person in range(census.n_rows)]
    for row in result.rows:
        if row.release == "release" and row.measure in ("success_probability", "realized_success"):
            beliefs = [
                belief for item in explained for belief in item.beliefs
                if (belief.adversary, belief.target) == (row.adversary, row.target)
            ]  # fmt: skip
            values = [item.probability if row.measure == "success_probability" else item.is_right for item in beliefs]
            assert len(values) == census.n_rows
            assert np.mean(values) == pytest.approx(row.posterior, abs=1e-6)


def test_an_explanation_shows_the_columns_and_every_adversary(result):
    explained = result.explain(4)
    assert explained.why in str(explained)
    assert str(explained).count("\n") == len(explained.beliefs) + len(explained.coarser) + 1
    html = explained._repr_html_()
    assert html.count("<tr>") == 2 + len(explained.beliefs) + len(explained.coarser)
    assert all(f"<td>{belief.adversary}</td>" in html for belief in explained.beliefs)


def test_only_attacked_rows_of_tables_are_explained(census, result):
    with pytest.raises(unmask.UnmaskError, match="row 300 was not attacked; expected one of the 300 attacked rows"):
        result.explain(300)
    with pytest.raises(unmask.UnmaskError, match="'relase' is not a release of this audit"):
        result.explain(0, release="relase")
    with pytest.raises(unmask.UnmaskError, match="no rows of people to explain"):
        unmask.audit(unmask.read_channel([[0.9, 0.1], [0.2, 0.8]])).explain(0)


def test_people_of_a_drawn_sample_are_explained_by_their_rows_of_the_original(census, released):
    release, origin = released
    drawn = unmask.audit(release, original=census, origin=origin, targets=20, seed=3)
    whole = unmask.audit(release, original=census, origin=origin)
    people = [person for person in range(census.n_rows) if _is_explained(drawn, person)]
    assert len(people) == 20
    assert all(drawn.explain(person).why == whole.explain(person).why for person in people)


def _is_explained(result, person):
    try:
        result.explain(person)
    except unmask.UnmaskError:
        return False
    return True


def test_the_list_of_people_at_risk_has_the_reason_of_the_explanation(tmp_path, census, released, result):
    release, origin = released
    for name, table in (("people", census), ("release", release)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table.names)
            writer.writerows(zip(*(table[column] for column in table.names), strict=True))
    (tmp_path / "origin.csv").write_text("row\n" + "\n".join(map(str, origin.tolist())) + "\n")
    listed = tmp_path / "private" / "list.csv"
    listed.parent.mkdir()
    done = invoke(
        "audit", tmp_path / "release.csv", "-q", "age,sex,zip", "-s", "diagnosis", "--original",
        tmp_path / "people.csv", "--origin", tmp_path / "origin.csv", "--at-risk", listed,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    with listed.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= census.n_rows
    for row in rows:
        explained = result.explain(int(row["row_of_original_from_0"]))
        assert row["why"] == explained.why
        if (row["adversary"], row["target"]) == ("prosecutor", "identity"):
            assert row["reason"].split()[0] == f"{explained.n_records:,}"


def test_the_page_shows_the_columns_of_large_classes_only(census):
    release, origin = Mondrian(k=12)(census, rng=np.random.default_rng(1))
    result = unmask.audit(release, original=census, origin=origin, policy="ema-0.09")
    classes = result.tables["classes"]
    assert {row["people"] >= 10 for row in classes} == {True}
    people = {origin[row["row"]]: row["columns"] for row in classes if row["target"] == "identity"}
    assert all(set(columns.split(", ")) <= set(NAMES) for columns in people.values())
    assert "Singled out by" in result.to_html()
