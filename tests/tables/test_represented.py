"""One record represents its class, and every number equals the belief that lists records one by one."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import audit
from unmask.core.truth import Truth
from unmask.findings.people_at_risk import Watched
from unmask.results import plain
from unmask.tables import AttributeInference, Background, ClassAttack, Table
from unmask.tables.audit import audit as audit_tables
from unmask.tables.audit.attacked_release import AttackedRelease

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


def read(columns, **options):
    return Table.read(columns, quasi_identifiers=["a", "b"], sensitive="ill", keep="ward", **(WILD | options))


def close(first, second, path=""):
    """Return whether two results are equal, numbers up to 1e-12."""
    assert type(first) is type(second), path
    if isinstance(first, dict):
        assert first.keys() == second.keys(), path
        for name, value in first.items():
            close(value, second[name], f"{path}.{name}")
    elif isinstance(first, list):
        assert len(first) == len(second), path
        for index, (left_value, right_value) in enumerate(zip(first, second, strict=True)):
            close(left_value, right_value, f"{path}[{index}]")
    elif isinstance(first, float):
        assert first == pytest.approx(second, rel=1e-12, abs=1e-12, nan_ok=True), path
    else:
        assert first == second, path


@settings(max_examples=15)
@given(st.data(), st.sampled_from(["own", "wildcard", "excluded"]))
def test_measures_and_secrets_are_those_of_all_records(data, missing):
    n_people, n = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 16))
    people, release = (
        read(data.draw(tables(cells, size)), missing=missing) for cells, size in ((EXACT, n_people), (BOXES, n))
    )
    background = Background(people, people)
    belief = ClassAttack().of_classes(release, background)
    expanded = belief.expand_classes()
    assert len(belief.candidate) <= len(expanded.candidate)
    assert belief.row_length.tolist() == np.diff(expanded.indptr).tolist()
    assert belief.to_dense() == pytest.approx(expanded.to_dense(), rel=1e-12)
    candidates_of = [
        [[candidate.candidate for candidate in form.candidates(person)] for person in range(n_people)]
        for form in (belief, expanded)
    ]
    assert candidates_of[0] == candidates_of[1]
    records = data.draw(st.lists(st.integers(-1, n - 1), min_size=n_people, max_size=n_people))
    close(*(plain([asdict(row) for row in audit(form, Truth(records)).rows], digits=17) for form in (belief, expanded)))
    values = [
        AttributeInference("ill").infer_from_link(form, release, background).to_dense() for form in (belief, expanded)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_an_audit_finds_the_same(monkeypatch):
    """With an original, control people, those who know more columns, steps of generalization, and all at risk."""
    rng, n = np.random.default_rng(1), 24
    released_cells, known_cells = (draw_table(rng, EXACT, n) for _ in range(2))
    after, origin = draw_table(rng, BOXES, n), np.arange(n)
    release = read(after | {"ill": released_cells["ill"][origin]})
    original, control = (read(columns) for columns in (released_cells, known_cells))

    def audit_release():
        watched = Watched("row")
        result = audit_tables(
            release,
            original=original,
            origin=origin,
            control=control,
            steps=True,
            watched=watched,
            seed=1,
        )
        return plain(
            [
                asdict(replace(result, explainer=None, blocks=())),
                result.sentences(),
                [asdict(person) for person in watched.found],
            ],
            digits=17,
        )

    counted, of_classes = audit_release(), ClassAttack.of_classes
    monkeypatch.setattr(ClassAttack, "of_classes", lambda *arguments: of_classes(*arguments).expand_classes())
    close(counted, audit_release())


def test_classes_as_targets_are_their_rows(monkeypatch):
    """Without an original, an audit attacks each class once; its numbers, people at risk and explanations are rows'."""
    release = read(draw_table(np.random.default_rng(2), EXACT, 24), missing="own")

    def audit_release():
        watched = Watched("row")
        result = audit_tables(release, watched=watched)
        explained = asdict(result.explain(3))
        found = [asdict(person) for person in watched.found]
        return plain([asdict(replace(result, explainer=None, blocks=())), explained, found], digits=17)

    by_class = audit_release()
    monkeypatch.setattr(AttackedRelease, "targets_classes", False)
    close(by_class, audit_release())


def draw_table(rng, cells, n):
    """n rows, drawn."""
    drawn = {name: rng.choice(cells[name], n) for name in "ab"}
    return drawn | {"ill": rng.choice(SECRETS, n), "ward": rng.choice(["x", "y"], n)}
