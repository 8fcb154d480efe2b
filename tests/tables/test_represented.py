"""One record stands for all of its class, and every number is that of a belief that lists them one by one."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import audit
from unmask.core.truth import Truth
from unmask.reports.at_risk import Watched
from unmask.results import plain
from unmask.tables import AttributeInference, Background, ClassAttack, Table
from unmask.tables.audit import audit as audit_tables

EXACT = {"a": ["1", "2", "3", "5", ""], "b": ["u", "v", "w", ""]}
BOXES = {"a": ["1", "2", "[1, 3]", "[2, 5]", "*", ""], "b": ["u", "{u, v}", "{v, w}", "*", ""]}
SECRETS = ["flu", "gout", "none"]
WILD = {"types": {"a": "number", "b": "text"}, "missing": "wildcard"}


@st.composite
def tables(draw, cells, n):
    """n rows of two quasi-identifiers, a secret and a kept column."""
    drawn = {name: st.lists(st.sampled_from(cells[name]), min_size=n, max_size=n) for name in "ab"}
    columns = {name: draw(values) for name, values in drawn.items()}
    columns["ill"] = draw(st.lists(st.sampled_from(SECRETS), min_size=n, max_size=n))
    columns["ward"] = draw(st.lists(st.sampled_from("xy"), min_size=n, max_size=n))
    return columns


def read(columns, **said):
    return Table.read(columns, quasi_identifiers=["a", "b"], sensitive="ill", keep="ward", **(WILD | said))


def close(one, other, where=""):
    """Whether two results are the same, numbers up to 1e-12."""
    assert type(one) is type(other), where
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for name, value in one.items():
            close(value, other[name], f"{where}.{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for at, (left, right) in enumerate(zip(one, other, strict=True)):
            close(left, right, f"{where}[{at}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12, nan_ok=True), where
    else:
        assert one == other, where


@settings(max_examples=15)
@given(st.data(), st.sampled_from(["own", "wildcard", "excluded"]), st.sampled_from([1.0, 0.5]))
def test_measures_and_secrets_are_those_of_all_records(data, missing, prior_present):
    n_people, n = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 16))
    people, release = (
        read(data.draw(tables(cells, size)), missing=missing) for cells, size in ((EXACT, n_people), (BOXES, n))
    )
    told = Background(people, people)
    belief = ClassAttack(prior_present).of_classes(release, told)
    alone = belief.expand_classes()
    assert len(belief.candidate) <= len(alone.candidate)
    assert belief.row_length.tolist() == np.diff(alone.indptr).tolist()
    assert belief.to_dense() == pytest.approx(alone.to_dense(), rel=1e-12)
    named = [[[one.candidate for one in by.candidates(who)] for who in range(n_people)] for by in (belief, alone)]
    assert named[0] == named[1]
    right = data.draw(st.lists(st.integers(-1, n - 1), min_size=n_people, max_size=n_people))
    close(*(plain([asdict(row) for row in audit(by, Truth(right)).rows], digits=17) for by in (belief, alone)))
    values = [AttributeInference("ill").through(by, release, told).to_dense() for by in (belief, alone)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_an_audit_finds_the_same(monkeypatch):
    """With an original, control people, those who know more columns, steps of generalization, and all at risk."""
    rng, n = np.random.default_rng(1), 24
    before, others = (some(rng, EXACT, n) for _ in range(2))
    after, origin = some(rng, BOXES, n), np.arange(n)
    release = read(after | {"ill": before["ill"][origin]})
    original, control = (read(columns) for columns in (before, others))

    def found():
        watched = Watched("row")
        said = audit_tables(
            release,
            original=original,
            origin=origin,
            control=control,
            steps=True,
            watched=watched,
            seed=1,
        )
        return plain([asdict(said), [asdict(one) for one in watched.found]], digits=17)

    counted, of_classes = found(), ClassAttack.of_classes
    monkeypatch.setattr(ClassAttack, "of_classes", lambda *given: of_classes(*given).expand_classes())
    close(counted, found())


def some(rng, cells, n):
    """n rows, drawn."""
    drawn = {name: rng.choice(cells[name], n) for name in "ab"}
    return drawn | {"ill": rng.choice(SECRETS, n), "ward": rng.choice(["x", "y"], n)}
