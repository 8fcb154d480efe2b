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
from unmask.findings.sentences import sentences
from unmask.tables import Mondrian, Table
from unmask.tables.attacks import link_pseudonyms


def _trips(seed=0, people=150):
    """Places and hours of people, who go to few places: five to thirty trips each."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), rng.integers(5, 31, people))
    home = rng.integers(0, 400, (people, 6))
    place = home[person, rng.integers(0, 6, len(person))]
    return person, {"place": place.tolist(), "hour": rng.integers(0, 24, len(person)).tolist()}


def _read(cells, **options):
    return Table.read({**cells, **options}, quasi_identifiers=["place", "hour"], keep=[*options])


def _original(person, cells):
    columns = {"patient": [f"N{number}" for number in person], **cells}
    return Table.read(columns, quasi_identifiers=["place", "hour"], person="patient")


def _released(person, cells, k, **options):
    """The release of Mondrian with more columns beside, the original and the origin."""
    release, origin = Mondrian(k=k)(_read(cells, **options))
    return release, _original(person, cells), origin


def _row_of(result, adversary, measure="realized_success"):
    rows = [row for row in result.rows if (row.release, row.adversary, row.measure) == ("release", adversary, measure)]
    return rows[0] if rows else None


@given(st.data())
def test_a_belief_about_pseudonyms_is_that_of_every_draw(data):
    """Draw a pseudonym, then rows of it, repeatedly: compare with the belief about its person."""
    n = data.draw(st.integers(2, 8))
    classes = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    pseudonym = np.unique(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)[1]
    observed = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3)))
    names = np.unique(pseudonym)

    actual = link_pseudonyms(from_classes(classes, classes, n_classes=3), observed[None], pseudonym, len(names))

    rows = {v: Counter(classes[pseudonym == v].tolist()) for v in names.tolist()}
    likely = {
        v: prod(counts[classes[index]] / counts.total() for index in observed.tolist()) for v, counts in rows.items()
    }
    expected = {v: p / sum(likely.values()) for v, p in likely.items() if p}
    assert dict(zip(actual.candidate.tolist(), np.exp(actual.log_probability), strict=True)) == pytest.approx(expected)


def test_an_adversary_who_saw_people_several_times_finds_them_although_each_row_is_hidden():
    person, cells = _trips()
    release, original, origin = _released(person, cells, 20, code=(person * 7 % 150).tolist())

    result = unmask.audit(release, original=original, origin=origin)

    single, several = _row_of(result, "prosecutor"), _row_of(result, "observer")
    assert single.posterior < 0.1
    assert several.posterior > 0.6
    assert several.prior == pytest.approx(1 / 150)
    assert several.posterior == pytest.approx(_row_of(result, "observer", "success_probability").posterior, abs=0.08)
    assert "which rows are of one person" in sentences(result)[0]
    assert any("the column code links the rows of each person in release" in caution for caution in result.cautions)


def test_announced_and_come_true_agree_over_many_people():
    person, cells = _trips(1, people=1000)
    release, original, origin = _released(person, cells, 500, code=person.tolist())

    result = unmask.audit(release, original=original, origin=origin)

    expected, realized = _row_of(result, "observer", "success_probability"), _row_of(result, "observer")
    assert 0.2 < realized.posterior < 0.95
    assert realized.posterior == pytest.approx(expected.posterior, abs=0.045)  # 3 standard errors of 1,000 people


def test_a_pseudonym_for_each_half_of_somebodys_trips_is_one_too():
    person, cells = _trips()
    late = (np.arange(len(person)) % 2).tolist()
    halves = [f"{number}-{half}" for number, half in zip(person.tolist(), late, strict=True)]

    release, original, origin = _released(person, cells, 2, code=halves)
    result = unmask.audit(release, original=original, origin=origin)

    assert _row_of(result, "observer").n == 300


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

    assert _row_of(unmask.audit(release, original=original, origin=origin), "observer") is None


def test_a_column_that_seems_to_name_people_is_asked_about():
    person, cells = _trips()
    release, _, origin = _released(person, cells, 5, user=person.tolist())
    named_table = _read(cells, user=person.tolist())

    result = unmask.audit(release, original=named_table, origin=origin)

    assert _row_of(result, "observer") is None
    assert any("the column user of release seems to link rows of one person" in caution for caution in result.cautions)


def test_the_command_line_says_it_and_lists_people_at_risk(tmp_path):
    person, cells = _trips()
    release, _, origin = _released(person, cells, 5, code=person.tolist())
    release.write(tmp_path / "release.csv")
    lines = ["patient,place,hour"] + [
        f"N{number},{place},{hour}" for number, place, hour in zip(person, cells["place"], cells["hour"], strict=True)
    ]
    (tmp_path / "trips.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "origin.csv").write_text("\n".join(["row", *map(str, origin.tolist())]) + "\n")
    words = ["audit", tmp_path / "release.csv", "-q", "place,hour", "--person", "patient"]
    words += ["--original", tmp_path / "trips.csv", "--origin", tmp_path / "origin.csv", "--json"]

    done = CliRunner().invoke(main, list(map(str, [*words, "--at-risk", tmp_path / "risk.csv"])))

    assert done.exit_code == 0, done.output
    rows = [row for row in json.loads(done.stdout)["results"] if row["adversary"] == "observer"]
    assert {row["n"] for row in rows} == {150}
    assert ",observer,identity," in (tmp_path / "risk.csv").read_text()


def test_a_protection_warns_of_a_column_that_puts_rows_together(tmp_path):
    person, cells = _trips()
    columns = {"user": person.tolist(), "code": (person * 7 % 150).tolist(), **cells}
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "trips.csv").write_text("\n".join(lines) + "\n")
    words = ["protect", tmp_path / "trips.csv", "-q", "place,hour", "--k", "2", "--force", "-o", tmp_path / "r.csv"]

    for arguments, column in ((("--keep", "user"), "user"), (("--keep", "code", "--person", "user"), "code")):
        done = CliRunner().invoke(main, list(map(str, [*words, *arguments])))
        assert f"the column {column} is released unchanged and seems to link the rows of a person" in done.stderr


def test_without_an_original_several_rows_are_put_together_inside_the_release():
    person, cells = _trips()
    release, original, origin = _released(person, cells, 20, code=(person * 7 % 150).tolist(), user=person.tolist())
    columns = {name: release[name].tolist() for name in ("place", "hour", "code", "user")}
    true = _row_of(unmask.audit(release, original=original, origin=origin), "observer").posterior

    by_name = unmask.audit(_read_kept(columns, "user"))
    unnamed = unmask.audit(_read_kept(columns, "code"))
    identified = unmask.audit(Table.read(columns, quasi_identifiers=["place", "hour"], keep="code", person="user"))

    for result in (by_name, identified):
        realized = _row_of(result, "observer", "success_probability")
        assert realized.posterior == pytest.approx(true, abs=0.15)  # five standard errors of 150 people
        assert realized.n == 150
    assert any("seems to link rows of one person" in caution for caution in by_name.cautions)
    assert any("the column code links the rows of each person" in caution for caution in identified.cautions)
    assert _row_of(unnamed, "observer", "success_probability") is None
    assert {row.n for row in identified.rows if row.target == "identity"} == {150}
    single = _row_of(unmask.audit(release, original=original, origin=origin), "prosecutor").posterior
    assert _row_of(identified, "prosecutor", "success_probability").posterior == pytest.approx(single)
    assert identified.criteria["release"]["k_people"] >= 1


def _read_kept(cells, column):
    return Table.read(cells, quasi_identifiers=["place", "hour"], keep=column)
