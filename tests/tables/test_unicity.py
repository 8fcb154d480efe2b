"""Releases that say which rows are one person's, and the adversary who has seen people several times."""

import json
from collections import Counter
from math import prod

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import unmask
from unmask.cli import main
from unmask.core.inference import from_classes
from unmask.reports.findings.rows import sentences
from unmask.tables import Mondrian, Table
from unmask.tables.attacks import of_pseudonyms


def _trips(seed=0, people=150):
    """Places and hours of people, who go to few places: five to thirty trips each."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), rng.integers(5, 31, people))
    home = rng.integers(0, 400, (people, 6))
    place = home[person, rng.integers(0, 6, len(person))]
    return person, {"place": place.tolist(), "hour": rng.integers(0, 24, len(person)).tolist()}


def _read(cells, **more):
    return Table.read({**cells, **more}, quasi_identifiers=["place", "hour"], keep=[*more])


def _original(person, cells):
    named = {"patient": [f"N{one}" for one in person], **cells}
    return Table.read(named, quasi_identifiers=["place", "hour"], person="patient")


def _released(person, cells, k, **more):
    """The release of Mondrian with more columns beside, the original and the origin."""
    release, origin = Mondrian(k=k)(_read(cells, **more))
    return release, _original(person, cells), origin


def _of(found, adversary, measure="realized_success"):
    rows = [row for row in found.rows if (row.release, row.adversary, row.measure) == ("release", adversary, measure)]
    return rows[0] if rows else None


@given(st.data())
def test_a_belief_about_pseudonyms_is_that_of_every_draw(data):
    """Somebody draws a pseudonym, then rows of it, again and again: who may it have been, given their classes?"""
    n = data.draw(st.integers(2, 8))
    classes = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    pseudonym = np.unique(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)[1]
    seen = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3)))
    names = np.unique(pseudonym)

    found = of_pseudonyms(from_classes(classes, classes, n_classes=3), seen[None], pseudonym, len(names))

    rows = {v: Counter(classes[pseudonym == v].tolist()) for v in names.tolist()}
    likely = {v: prod(own[classes[at]] / own.total() for at in seen.tolist()) for v, own in rows.items()}
    expected = {v: p / sum(likely.values()) for v, p in likely.items() if p}
    assert dict(zip(found.candidate.tolist(), np.exp(found.log_probability), strict=True)) == pytest.approx(expected)


def test_who_has_seen_people_several_times_finds_them_where_each_row_is_hidden():
    person, cells = _trips()
    release, original, origin = _released(person, cells, 20, code=(person * 7 % 150).tolist())

    found = unmask.audit(release, original=original, origin=origin)

    alone, several = _of(found, "prosecutor"), _of(found, "several rows")
    assert alone.posterior < 0.1
    assert several.posterior > 0.6
    assert several.prior == pytest.approx(1 / 150)
    assert several.posterior == pytest.approx(_of(found, "several rows", "success_probability").posterior, abs=0.08)
    assert "which rows are of one person" in sentences(found.data)[0]
    assert any("the column code links the rows of each person in release" in said for said in found.data.cautions)


def test_announced_and_come_true_agree_over_many_people():
    person, cells = _trips(1, people=1000)
    release, original, origin = _released(person, cells, 500, code=person.tolist())

    found = unmask.audit(release, original=original, origin=origin)

    expected, realized = _of(found, "several rows", "success_probability"), _of(found, "several rows")
    assert 0.2 < realized.posterior < 0.95
    assert realized.posterior == pytest.approx(expected.posterior, abs=0.045)  # 3 standard errors of 1,000 people


def test_a_pseudonym_for_each_half_of_somebodys_trips_is_one_too():
    person, cells = _trips()
    late = (np.arange(len(person)) % 2).tolist()
    halves = [f"{one}-{half}" for one, half in zip(person.tolist(), late, strict=True)]

    release, original, origin = _released(person, cells, 2, code=halves)
    found = unmask.audit(release, original=original, origin=origin)

    assert _of(found, "several rows").n == 300


@pytest.mark.parametrize(
    "column",
    [
        lambda person: (person // 2).tolist(),  # couples
        lambda person: list(range(len(person))),  # a number for each row
    ],
)
def test_columns_that_are_no_pseudonym_put_nothing_together(column):
    person, cells = _trips()
    release, original, origin = _released(person, cells, 2, code=column(person))

    assert _of(unmask.audit(release, original=original, origin=origin), "several rows") is None


def test_a_column_that_seems_to_name_people_is_asked_about():
    person, cells = _trips()
    release, _, origin = _released(person, cells, 5, user=person.tolist())
    known = _read(cells, user=person.tolist())

    found = unmask.audit(release, original=known, origin=origin)

    assert _of(found, "several rows") is None
    assert any("the column user of release seems to link rows of one person" in said for said in found.data.cautions)


def test_the_command_line_says_it_and_lists_people_at_risk(tmp_path):
    person, cells = _trips()
    release, _, origin = _released(person, cells, 5, code=person.tolist())
    release.write(tmp_path / "release.csv")
    lines = ["patient,place,hour"] + [
        f"N{one},{place},{hour}" for one, place, hour in zip(person, cells["place"], cells["hour"], strict=True)
    ]
    (tmp_path / "trips.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "origin.csv").write_text("\n".join(["row", *map(str, origin.tolist())]) + "\n")
    words = ["audit", tmp_path / "release.csv", "-q", "place,hour", "--person", "patient"]
    words += ["--original", tmp_path / "trips.csv", "--origin", tmp_path / "origin.csv", "--json"]

    done = CliRunner().invoke(main, list(map(str, [*words, "--at-risk", tmp_path / "risk.csv"])))

    assert done.exit_code == 0, done.output
    said = [row for row in json.loads(done.stdout)["results"] if row["adversary"] == "several rows"]
    assert {row["n"] for row in said} == {150}
    assert ",several rows,identity," in (tmp_path / "risk.csv").read_text()


def test_a_protection_warns_of_a_column_that_puts_rows_together(tmp_path):
    person, cells = _trips()
    columns = {"user": person.tolist(), "code": (person * 7 % 150).tolist(), **cells}
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "trips.csv").write_text("\n".join(lines) + "\n")
    words = ["protect", tmp_path / "trips.csv", "-q", "place,hour", "--k", "2", "--force", "-o", tmp_path / "r.csv"]

    for more, named in ((("--keep", "user"), "user"), (("--keep", "code", "--person", "user"), "code")):
        done = CliRunner().invoke(main, list(map(str, [*words, *more])))
        assert f"the column {named} leaves as it is and seems to say which rows are one person's" in done.stderr


def test_without_an_original_several_rows_are_put_together_inside_the_release():
    person, cells = _trips()
    release, original, origin = _released(person, cells, 20, code=(person * 7 % 150).tolist(), user=person.tolist())
    named = {name: release[name].tolist() for name in ("place", "hour", "code", "user")}
    true = _of(unmask.audit(release, original=original, origin=origin), "several rows").posterior

    by_name = unmask.audit(_kept(named, "user"))
    unnamed = unmask.audit(_kept(named, "code"))
    identified = unmask.audit(Table.read(named, quasi_identifiers=["place", "hour"], keep="code", person="user"))

    for found in (by_name, identified):
        told = _of(found, "several rows", "success_probability")
        assert told.posterior == pytest.approx(true, abs=0.15)  # five standard errors of 150 people
        assert told.n == 150
    assert any("seems to link rows of one person" in said for said in by_name.data.cautions)
    assert any("the column code links the rows of each person" in said for said in identified.data.cautions)
    assert _of(unnamed, "several rows", "success_probability") is None
    assert {row.n for row in identified.rows if row.target == "identity"} == {150}
    alone = _of(unmask.audit(release, original=original, origin=origin), "prosecutor").posterior
    assert _of(identified, "prosecutor", "success_probability").posterior == pytest.approx(alone)
    assert identified.data.criteria["release"]["k_people"] >= 1


def _kept(cells, column):
    return Table.read(cells, quasi_identifiers=["place", "hour"], keep=column)
