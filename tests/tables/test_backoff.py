"""Learners against loops over rows."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

import unmask
from unmask.core.errors import NotRunError
from unmask.tables import AttributeInference, Background, BackOff, Mondrian, Table, criteria
from unmask.tables.attacks import backoff, product_sums
from unmask.tables.attacks.backoff import STRENGTHS

ROLES = {"quasi_identifiers": ("age", "sex"), "sensitive": "ill"}


def drawn(n, seed, *, boxes=False):
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(1, 5, n), rng.choice(["f", "m"], n)
    ill = np.where(rng.random(n) < age / 6, "flu", rng.choice(["cold", "gout"], n))
    cells = [f"[{a}, {a + 1}]" if b else str(a) for a, b in zip(age, rng.random(n) < 0.5 * boxes, strict=True)]
    return {"age": cells, "sex": sex, "ill": ill}


def read(columns, **options):
    return Table.read(columns, **{**ROLES, **options}, types={"age": "number", "sex": "text", "ill": "text"})


def values_in(cell):
    return range(int(cell[1]), int(cell[4]) + 1) if cell.startswith("[") else [int(cell)]


def is_close(first, second):
    """Return the mutual information of two columns, in nats."""
    n, pairs = len(first), Counter(zip(first, second, strict=True))
    (ones, second_counts) = (Counter(side) for side in (first, second))
    return sum(c / n * np.log(c * n / ones[a] / second_counts[b]) for (a, b), c in pairs.items())


def literal(release, people, population):
    """The formula, row by row; the fraction of a box that is each value, as the population has them."""
    general = np.bincount([int(age) for age in population["age"]], minlength=6)

    def agrees(cell, knowledge, name):
        if name == "sex":
            return float(cell == knowledge)
        inside = values_in(cell)
        weight = np.array([general[value] + 1e-9 for value in inside])
        return float(weight[[value == int(knowledge) for value in inside]].sum() / weight.sum())

    labels = sorted({*release["ill"], *population["ill"]})
    n, m = len(release["ill"]), len(labels)
    overall = {s: (np.sum(np.array(release["ill"]) == s) + 0.5) / (n + 0.5 * m) for s in labels}

    def learned(person, strengths, left_out=None):
        p, agree = dict(overall), np.ones(n)
        if left_out is not None:
            agree[left_out] = 0.0
        for name, a in zip(order, strengths, strict=False):
            agree = agree * [agrees(cell, person[name], name) for cell in release[name]]
            weights = {s: agree[np.array(release["ill"]) == s].sum() for s in labels}
            p = {s: (weights[s] + a * p[s]) / (agree.sum() + a) for s in labels}
        return p

    def stands_for(cell):
        inside = values_in(cell)
        return inside[int(np.argmax([general[value] for value in inside]))]

    rows = [{"age": stands_for(a), "sex": s} for a, s in zip(release["age"], release["sex"], strict=True)]
    order = sorted(("age", "sex"), key=lambda name: -is_close([row[name] for row in rows], release["ill"]))
    chosen = []
    for _ in order:
        log_likelihoods = [
            sum(np.log(learned(row, [*chosen, a], left_out=i)[release["ill"][i]]) for i, row in enumerate(rows))
            for a in STRENGTHS
        ]
        chosen.append(STRENGTHS[int(np.argmax(np.round(log_likelihoods, 9)))])
    prior = {s: np.sum(np.array(population["ill"]) == s) / len(population["ill"]) for s in labels}
    beliefs = []
    for person in people:
        p = learned(person, chosen)
        totals = {s: np.sum(np.array(release["ill"]) == s) for s in labels}
        p = np.array([prior[s] * (totals[s] * p[s] / overall[s] + 0.5) / (totals[s] + 0.5) for s in labels])
        beliefs.append(p / p.sum())
    return labels, np.array(beliefs)


@pytest.mark.parametrize("boxes", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_back_off_against_a_loop(seed, boxes):
    columns, population = drawn(30, seed, boxes=boxes), drawn(200, seed + 10)
    release, knowledge = read(columns), read(population)
    people = [{"age": age, "sex": sex} for age in (1, 2, 3, 4) for sex in ("f", "m")]
    targets = {name: [str(person[name]) for person in people] for name in ("age", "sex")}
    belief = BackOff("ill")(release, Background(read({**targets, "ill": ["flu"] * 8}), knowledge))
    labels, expected = literal(columns, people, population)
    assert belief.candidate_label == tuple(labels)
    assert np.abs(belief.to_dense() - expected).max() < 1e-9


def test_people_known_by_a_useless_column_alone_get_the_marginal():
    release = Table.read(
        {"x": list("aabb") * 30, "y": list("cd") * 60, "s": list("uuvv") * 30},
        quasi_identifiers=("y", "x"),
        sensitive="s",
    )
    people = Table.read({"x": ["a", "?"], "y": ["c", "c"]}, quasi_identifiers=("x", "y"), na="?")
    belief = BackOff("s")(release, Background(people)).to_dense()
    assert belief[0, 0] > 0.99
    assert belief[1] == pytest.approx([0.5, 0.5], abs=1e-9)


def test_one_column_by_hand():
    """4 rows of one cell, a = 1/4: (n + a p) / (n + a), moved from the release's 1/2 to the population's 1/4."""
    release = Table.read({"q": list("xxyy"), "s": list("uuvv")}, quasi_identifiers="q", sensitive="s")
    population = Table.read({"q": list("xyyy"), "s": list("uvvv")}, quasi_identifiers="q", sensitive="s")
    belief = BackOff("s")(release, Background(population.take([0]), population))
    p = (2 + Fraction(1, 4) * Fraction(1, 2)) / (2 + Fraction(1, 4))
    ratios = [Fraction(4, 5) * p / Fraction(1, 2) + Fraction(1, 5) for p in (p, 1 - p)]  # half a row of 2 1/2 anybody's
    expected = ratios[0] * Fraction(1, 4) / (ratios[0] * Fraction(1, 4) + ratios[1] * Fraction(3, 4))
    assert belief.to_dense()[0, 0] == pytest.approx(float(expected))
    assert (belief.status, belief.provenance["prior"]) == ("model", "population")


def test_a_value_that_the_release_lacks_has_its_share_of_the_population():
    release = Table.read({"q": list("xxyy"), "s": list("uuvv")}, quasi_identifiers="q", sensitive="s")
    population = Table.read({"q": list("xxyy"), "s": list("uvvw")}, quasi_identifiers="q", sensitive="s")
    belief = BackOff("s")(release, Background(population, population))
    assert belief.candidate_label == ("u", "v", "w")
    assert np.all(belief.to_dense() > 0)
    stranger = Table.read({"q": ["z"]}, quasi_identifiers="q")  # no row is like them: the population's shares
    assert BackOff("s")(release, Background(stranger, population)).to_dense()[0] == pytest.approx([0.25, 0.5, 0.25])


def test_people_without_a_fitting_record_get_the_belief_about_similar_people():
    columns = drawn(200, 0)
    release, population = read({name: cells[:100] for name, cells in columns.items()}), read(columns)
    targets = Table.read({"age": [4, 9], "sex": ["f", "f"]}, quasi_identifiers=("age", "sex"))
    background = Background(targets, population)
    result, learned = AttributeInference("ill")(release, background), BackOff("ill")(release, background)
    assert result.to_dense()[1] == pytest.approx(learned.to_dense()[1])
    assert result.to_dense()[0] != pytest.approx(learned.to_dense()[0])


def test_too_many_probabilities_are_refused():
    n = 5000
    release = Table.read({"q": np.arange(n), "s": np.arange(n)}, quasi_identifiers="q", sensitive="s")
    with pytest.raises(NotRunError, match=r"5,000 different people.*coarsen"):
        BackOff("s")(release)


@pytest.mark.parametrize("seed", range(5))
def test_replicated_uniques_and_correct_disclosure_against_a_loop(seed):
    columns, population = drawn(40, seed), drawn(60, seed + 20)
    release, original = read(columns), read(population)
    keys, people = (list(zip(side["age"], side["sex"], strict=True)) for side in (columns, population))
    illnesses = {key: {columns["ill"][i] for i, k in enumerate(keys) if k == key} for key in keys}
    is_unique = [people.count(key) == 1 and keys.count(key) == 1 for key in people]
    is_right = [illnesses.get(key) == {ill} for key, ill in zip(people, population["ill"], strict=True)]
    assert criteria.replicated_uniques(release, original) == pytest.approx(np.mean(is_unique))
    assert criteria.correctly_disclosed(release, original, "ill") == pytest.approx(np.mean(is_right))


def synthetic(seed):
    """People, others like them, and made-up rows; one more column is kept."""
    tables = [drawn(300, seed + i) for i in range(3)]
    notes = [np.where(np.array(columns["ill"]) == "flu", "x", "y") for columns in tables]
    return [
        Table.read({**columns, "note": note}, **ROLES, keep="note", types={"age": "number", "note": "text"})
        for columns, note in zip(tables, notes, strict=True)
    ]


def test_an_audit_of_a_synthetic_release_asks_only_learners():
    people, control, release = synthetic(0)
    result = unmask.audit(release, original=people, control=control, synthetic=True)
    rows = [row for row in result.rows if row.release == "release"]
    assert {(row.adversary, row.target) for row in rows if row.target == "ill"} == {
        ("modeler", "ill"),
        ("acquaintance", "ill"),
    }
    assert all(np.isfinite(row.posterior) for row in rows if row.measure == "log_loss_bits")
    assert set(result.table("values").values("release")) == {"release"}
    by_name = {(row.adversary, row.measure): row for row in rows}
    assert by_name["acquaintance", "realized_success"].posterior > by_name["modeler", "realized_success"].posterior
    assert result.criteria["release"]["replicated_uniques"] is not None
    assert "original" in result.adversaries["prosecutor"]


def test_the_baseline_is_the_best_attack_on_control_people():
    people, control, _ = synthetic(1)
    release, origin = Mondrian(k=5)(people, rng=np.random.default_rng(0))
    result = unmask.audit(release, original=people, origin=origin, control=control)
    rows = [row for row in result.rows if (row.release, row.target) == ("release", "ill") and row.control is not None]
    for measure in ("realized_success", "rank"):
        attacks = {row.adversary: row for row in rows if row.measure == measure}
        strongest = max if attacks["modeler"].direction == "high" else min
        expected = strongest(attacks["modeler"].control, attacks["prosecutor"].control)
        assert attacks["modeler"].baseline == attacks["prosecutor"].baseline == expected
        assert attacks["acquaintance"].baseline is None


def test_tables_without_a_learner_have_a_reason():
    _, _, release = synthetic(2)
    assert "Inference from all rows" in [analysis for analysis, _ in unmask.audit(release).not_run]
    n = 5000
    wide = Table.read({"q": np.arange(n), "s": np.arange(n)}, quasi_identifiers="q", sensitive="s")
    assert "Inference of s from all rows" in [analysis for analysis, _ in unmask.audit(wide, original=wide).not_run]


@pytest.mark.parametrize("entries", [8, 1 << 20])
def test_products_of_columns_are_those_of_dense_matrices(entries: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(product_sums, "MAX_ENTRIES", entries)
    rng = np.random.default_rng(0)
    for density in (0.05, 0.5, 1.0):
        left_matrix, table = (rng.random(shape) * (rng.random(shape) < density) for shape in ((30, 7), (5, 9)))
        row, index, to = rng.integers(5, size=30), rng.integers(7, size=40), rng.integers(9, size=40)
        result = product_sums.multiply_columns(csc_array(left_matrix), index, csr_array(table), row, to)
        assert np.array_equal(result.toarray(), left_matrix[:, index] * table[row][:, to])
        assert result.has_sorted_indices
        assert result.data.all()


@pytest.mark.parametrize(("boxes", "once"), [(False, True), (True, False)])
def test_people_who_are_the_rows_are_walked_once(boxes: bool, once: bool, monkeypatch: pytest.MonkeyPatch):
    table, attack, fold = read(drawn(200, 0, boxes=boxes)), BackOff("ill"), np.arange(200) % 5
    walks, steps = [], backoff._steps
    monkeypatch.setattr(backoff, "_steps", lambda columns: steps([walks.append(1) or column for column in columns]))
    crossed = attack.cross_validate(table, fold)[1]
    n = len(walks)
    monkeypatch.setattr(backoff.SharedColumn, "equals", lambda *_: False)
    assert np.array_equal(attack.cross_validate(table, fold)[1], crossed)
    assert (len(walks) == 3 * n) is once
    assert (len(walks) == 2 * n) is not once


def test_columns_without_entries_have_products_without_entries():
    agree, table = csc_array((3, 1)), csr_array(np.ones((2, 2)))
    result = product_sums.multiply_columns(agree, np.array([0]), table, np.array([0, 1, 1]), np.array([1]))
    assert result.shape == (3, 1)
    assert result.nnz == 0
