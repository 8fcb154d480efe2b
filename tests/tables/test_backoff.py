"""Learners against loops over rows."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

import unmask
from unmask import UnmaskError
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


def read(columns, **more):
    return Table.read(columns, **{**ROLES, **more}, types={"age": "number", "sex": "text", "ill": "text"})


def values_in(cell):
    return range(int(cell[1]), int(cell[4]) + 1) if cell.startswith("[") else [int(cell)]


def told(one, other):
    """What two columns say of one another, in nats."""
    n, pairs = len(one), Counter(zip(one, other, strict=True))
    (ones, others) = (Counter(side) for side in (one, other))
    return sum(c / n * np.log(c * n / ones[a] / others[b]) for (a, b), c in pairs.items())


def literal(release, people, population):
    """The formula, row by row; the fraction of a box that is each value, as the population has them."""
    general = np.bincount([int(one) for one in population["age"]], minlength=6)

    def agrees(cell, known, name):
        if name == "sex":
            return float(cell == known)
        inside = values_in(cell)
        weight = np.array([general[one] + 1e-9 for one in inside])
        return float(weight[[one == int(known) for one in inside]].sum() / weight.sum())

    labels = sorted({*release["ill"], *population["ill"]})
    n, m = len(release["ill"]), len(labels)
    overall = {s: (np.sum(np.array(release["ill"]) == s) + 0.5) / (n + 0.5 * m) for s in labels}

    def learned(person, strengths, without=None):
        p, agree = dict(overall), np.ones(n)
        if without is not None:
            agree[without] = 0.0
        for name, a in zip(order, strengths, strict=False):
            agree = agree * [agrees(cell, person[name], name) for cell in release[name]]
            own = {s: agree[np.array(release["ill"]) == s].sum() for s in labels}
            p = {s: (own[s] + a * p[s]) / (agree.sum() + a) for s in labels}
        return p

    def stands_for(cell):
        inside = values_in(cell)
        return inside[int(np.argmax([general[one] for one in inside]))]

    rows = [{"age": stands_for(a), "sex": s} for a, s in zip(release["age"], release["sex"], strict=True)]
    order = sorted(("age", "sex"), key=lambda name: -told([row[name] for row in rows], release["ill"]))
    chosen = []
    for _ in order:
        said = [
            sum(np.log(learned(row, [*chosen, a], without=i)[release["ill"][i]]) for i, row in enumerate(rows))
            for a in STRENGTHS
        ]
        chosen.append(STRENGTHS[int(np.argmax(np.round(said, 9)))])
    prior = {s: np.sum(np.array(population["ill"]) == s) / len(population["ill"]) for s in labels}
    found = []
    for person in people:
        p = learned(person, chosen)
        stated = {s: np.sum(np.array(release["ill"]) == s) for s in labels}
        p = np.array([prior[s] * (stated[s] * p[s] / overall[s] + 0.5) / (stated[s] + 0.5) for s in labels])
        found.append(p / p.sum())
    return labels, np.array(found)


@pytest.mark.parametrize("boxes", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_back_off_against_a_loop(seed, boxes):
    columns, population = drawn(30, seed, boxes=boxes), drawn(200, seed + 10)
    release, known = read(columns), read(population)
    people = [{"age": age, "sex": sex} for age in (1, 2, 3, 4) for sex in ("f", "m")]
    asked = {name: [str(person[name]) for person in people] for name in ("age", "sex")}
    belief = BackOff("ill")(release, Background(read({**asked, "ill": ["flu"] * 8}), known))
    labels, expected = literal(columns, people, population)
    assert belief.candidate_label == tuple(labels)
    assert np.abs(belief.to_dense() - expected).max() < 1e-9


def test_who_is_known_by_a_useless_column_alone_gets_the_margin():
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
    moved = ratios[0] * Fraction(1, 4) / (ratios[0] * Fraction(1, 4) + ratios[1] * Fraction(3, 4))
    assert belief.to_dense()[0, 0] == pytest.approx(float(moved))
    assert (belief.status, belief.provenance["prior"]) == ("model", "population")


def test_a_value_that_the_release_lacks_has_its_share_of_the_population():
    release = Table.read({"q": list("xxyy"), "s": list("uuvv")}, quasi_identifiers="q", sensitive="s")
    population = Table.read({"q": list("xxyy"), "s": list("uvvw")}, quasi_identifiers="q", sensitive="s")
    belief = BackOff("s")(release, Background(population, population))
    assert belief.candidate_label == ("u", "v", "w")
    assert np.all(belief.to_dense() > 0)
    stranger = Table.read({"q": ["z"]}, quasi_identifiers="q")  # no row is like them: the population's shares
    assert BackOff("s")(release, Background(stranger, population)).to_dense()[0] == pytest.approx([0.25, 0.5, 0.25])


def test_whom_no_record_fits_is_believed_what_the_release_says_of_people_like_them():
    columns = drawn(200, 0)
    release, population = read({name: cells[:100] for name, cells in columns.items()}), read(columns)
    asked = Table.read({"age": [4, 9], "sex": ["f", "f"]}, quasi_identifiers=("age", "sex"))
    known = Background(asked, population)
    found, learned = AttributeInference("ill")(release, known), BackOff("ill")(release, known)
    assert found.to_dense()[1] == pytest.approx(learned.to_dense()[1])
    assert found.to_dense()[0] != pytest.approx(learned.to_dense()[0])


def test_too_many_probabilities_are_refused():
    n = 5000
    release = Table.read({"q": np.arange(n), "s": np.arange(n)}, quasi_identifiers="q", sensitive="s")
    assert "5,000 different people" in BackOff("s").refusal(release)
    with pytest.raises(UnmaskError, match="coarsen"):
        BackOff("s")(release)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_repeated_against_a_loop(seed):
    columns, population = drawn(40, seed), drawn(60, seed + 20)
    release, original = read(columns), read(population)
    keys, people = (list(zip(side["age"], side["sex"], strict=True)) for side in (columns, population))
    shown = {key: {columns["ill"][i] for i, k in enumerate(keys) if k == key} for key in keys}
    alone = [people.count(key) == 1 and keys.count(key) == 1 for key in people]
    right = [shown.get(key) == {ill} for key, ill in zip(people, population["ill"], strict=True)]
    assert criteria.replicated_uniques(release, original) == pytest.approx(np.mean(alone))
    assert criteria.correctly_disclosed(release, original, "ill") == pytest.approx(np.mean(right))


def synthetic(seed):
    """People, others like them, and made-up rows; one more column is kept."""
    both = [drawn(300, seed + i) for i in range(3)]
    kept = [np.where(np.array(one["ill"]) == "flu", "x", "y") for one in both]
    return [
        Table.read({**one, "note": note}, **ROLES, keep="note", types={"age": "number", "note": "text"})
        for one, note in zip(both, kept, strict=True)
    ]


def test_an_audit_of_a_synthetic_release_asks_only_learners():
    before, others, release = synthetic(0)
    found = unmask.audit(release, original=before, control=others, synthetic=True)
    rows = [row for row in found.rows if row.release == "release"]
    assert {(row.adversary, row.target) for row in rows if row.target == "ill"} == {
        ("learner", "ill"),
        ("all columns", "ill"),
    }
    assert all(np.isfinite(row.posterior) for row in rows if row.measure == "log_loss_bits")
    assert set(found.data.result.table("values").values("release")) == {"release"}
    own = {(row.adversary, row.measure): row for row in rows}
    assert own["all columns", "realized_success"].posterior > own["learner", "realized_success"].posterior
    assert found.data.criteria["release"]["replicated_uniques"] is not None
    assert "original" in found.data.adversaries["prosecutor"]


def test_the_baseline_is_the_best_attack_on_control_people():
    before, others, _ = synthetic(1)
    release, origin = Mondrian(k=5)(before, rng=np.random.default_rng(0))
    found = unmask.audit(release, original=before, origin=origin, control=others)
    rows = [row for row in found.rows if (row.release, row.target) == ("release", "ill") and row.control is not None]
    for measure in ("realized_success", "rank"):
        same = {row.adversary: row for row in rows if row.measure == measure}
        best = max if same["learner"].direction == "high" else min
        expected = best(same["learner"].control, same["prosecutor"].control)
        assert same["learner"].baseline == same["prosecutor"].baseline == expected
        assert same["all columns"].baseline is None


def test_what_is_not_learned_is_said():
    _, _, release = synthetic(2)
    assert "Inference from all rows" in [what for what, _ in unmask.audit(release).not_run]
    n = 5000
    wide = Table.read({"q": np.arange(n), "s": np.arange(n)}, quasi_identifiers="q", sensitive="s")
    assert "Inference of s from all rows" in [what for what, _ in unmask.audit(wide, original=wide).not_run]


@pytest.mark.parametrize("entries", [8, 1 << 20])
def test_products_of_columns_are_those_of_dense_matrices(entries: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(product_sums, "ENTRIES", entries)
    rng = np.random.default_rng(0)
    for density in (0.05, 0.5, 1.0):
        one, table = (rng.random(shape) * (rng.random(shape) < density) for shape in ((30, 7), (5, 9)))
        row, at, to = rng.integers(5, size=30), rng.integers(7, size=40), rng.integers(9, size=40)
        found = product_sums.multiply_columns(csc_array(one), at, csr_array(table), row, to)
        assert np.array_equal(found.toarray(), one[:, at] * table[row][:, to])
        assert found.has_sorted_indices
        assert found.data.all()


@pytest.mark.parametrize(("boxes", "once"), [(False, True), (True, False)])
def test_people_who_are_the_rows_are_walked_once(boxes: bool, once: bool, monkeypatch: pytest.MonkeyPatch):
    table, attack, fold = read(drawn(200, 0, boxes=boxes)), BackOff("ill"), np.arange(200) % 5
    walks, steps = [], backoff._steps
    monkeypatch.setattr(backoff, "_steps", lambda columns: steps([walks.append(1) or one for one in columns]))
    found = attack.crossed(table, fold)[1]
    n = len(walks)
    monkeypatch.setattr(backoff.Shared, "equals", lambda *_: False)
    assert np.array_equal(attack.crossed(table, fold)[1], found)
    assert (len(walks) == 3 * n) is once
    assert (len(walks) == 2 * n) is not once


def test_columns_without_entries_have_products_without_entries():
    agree, table = csc_array((3, 1)), csr_array(np.ones((2, 2)))
    found = product_sums.multiply_columns(agree, np.array([0]), table, np.array([0, 1, 1]), np.array([1]))
    assert found.shape == (3, 1)
    assert found.nnz == 0
