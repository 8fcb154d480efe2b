"""The risk of one person, on the page of an audit."""

import numpy as np
import pytest

import unmask
from unmask.render.first_screen import estimate_all
from unmask.render.page import render
from unmask.results.distribution import Distribution
from unmask.tables import Mondrian, Table
from unmask.tables.audit.control_comparison import EVERYBODY, INSIDE, OWN


@pytest.fixture(scope="module")
def people() -> Table:
    rng = np.random.default_rng(0)
    age, ill = rng.integers(20, 60, 900), rng.integers(0, 3, 900)
    return Table.read({"age": age, "town": rng.integers(0, 20, 900), "ill": ill + (age > 40)},
                      quasi_identifiers=["age", "town"], sensitive="ill")  # fmt: skip


def test_three_questions_are_answered_first_where_there_are_control_people(people: Table):
    members, control = people.take(slice(0, 500)), people.take(slice(500, None))
    release, origin = Mondrian(k=3)(members, rng=np.random.default_rng(1))
    found = unmask.audit(release, original=members, origin=origin, control=control)
    data = getattr(found, "data", found)
    block = next(block for block in data.blocks if block.name == "person")
    answers = {fact.label: fact.text for fact in block.facts}
    assert list(answers) == [INSIDE, EVERYBODY, OWN]
    row = next(row for row in data.rows if row.excess is not None and row.release == "release" and row.target == "ill")
    assert row.control is not None
    assert f"{100 * row.control:.1f}" in answers[EVERYBODY]
    page = render(data)
    assert page.index(OWN) < page.index("How often the adversary is right")
    alone = unmask.audit(release, original=members, origin=origin)
    assert "person" not in {block.name for block in alone.blocks}


def test_people_at_risk_are_estimated_for_all_from_whom_some_were_drawn():
    drawn = Distribution("r", "expert", "identity", (0.0, 1.0), (1.0,), 1000, drawn_from=3000)
    assert estimate_all(drawn, 780, 10) == (2340, 2270, 2400)
    assert estimate_all(drawn, 1000)[1:] == (2992, 3000)
