"""Each attack against a literal computation on tables small enough to count by hand."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from unmask import ABSENT, Truth, UnmaskError, audit
from unmask.measures import evaluate, realized_success, success_probability
from unmask.tables import (
    AttributeInference,
    Background,
    BayesAttack,
    ClassAttack,
    Knowledge,
    Mondrian,
    NearestNeighbor,
    OrderAttack,
    Register,
    RegisterAttack,
    StringLinkage,
    Table,
)
from unmask.tables.attacks import BackOff, CellError
from unmask.tables.knowledge import attribute_truth


def dense(belief):
    table = np.zeros((belief.n_observations, belief.n_candidates))
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    table[row, belief.candidate] = np.exp(belief.log_probability)
    return table[belief.observation]


def ages(*cells, **options):
    return Table.read({"age": list(cells), **options}, quasi_identifiers="age", sensitive=tuple(options))


def test_containment_reads_intervals_where_text_finds_nothing():
    release = ages("[20, 29]", "[20, 29]", "[30, 39]")
    knowledge = ages(25, 35, 30)
    assert dense(ClassAttack()(release, Background(knowledge))).tolist() == [
        pytest.approx([0.5, 0.5, 0]),
        pytest.approx([0, 0, 1]),
        pytest.approx([0, 0, 1]),
    ]


def test_overlapping_boxes_weigh_records_by_one_over_volume():
    # among the known ages 20, 22, 24, 26 the boxes hold 2 and 4 values: 24 is in both, (1/2 twice, 1/4 once) / (5/4)
    release = ages("[24, 26]", "[24, 26]", "[20, 26]")
    knowledge = ages(20, 22, 24, 26)
    belief = ClassAttack()(release, Background(knowledge))
    assert belief.status == "model"
    assert dense(belief)[2] == pytest.approx([0.4, 0.4, 0.2])
    assert dense(belief)[0] == pytest.approx([0, 0, 1])


def test_columns_that_the_adversary_does_not_know_change_no_weight():
    # three disjoint boxes over age; of the second person he knows the sex alone, so every record of that sex is alike
    columns = {"age": ["[20, 24]", "[30, 31]", "[40, 49]"], "sex": ["f", "f", "m"]}
    release = Table.read(columns, quasi_identifiers=("age", "sex"))
    people = {"age": ["20", "*", "30", "22", "45"], "sex": ["f", "f", "f", "f", "m"]}
    knowledge = Table.read(people, quasi_identifiers=("age", "sex"))
    assert dense(ClassAttack()(release, Background(knowledge)))[1] == pytest.approx([0.5, 0.5, 0])


def by_formula(knowledge, released, missing):
    """(n_people, n_records) p(record given what is known), from texts, by the formula of `ClassAttack`."""
    result = np.ones((len(knowledge[0]), len(released[0])))
    for mine, cells in zip(knowledge, released, strict=True):
        vague = {"*", ""} if missing == "wildcard" else {"*"}
        values = sorted(set(mine) - vague)
        anything = [cell in vague for cell in cells]
        holds = np.array(
            [[cell not in vague and (cell[:1] <= v <= cell[-1:] if v else v == cell) for cell in cells] for v in values]
        )
        shares = holds / np.maximum(holds.sum(axis=0), 1)
        shared = shares.sum(axis=1)
        weight = np.maximum(shared, 0.5)
        often = weight / (np.count_nonzero(~np.array(anything)) + (weight - shared).sum())
        p = dict(zip(values, np.where(anything, often[:, None], shares), strict=True)) | dict.fromkeys(vague, 1.0)
        result *= [np.broadcast_to(p[cell], len(cells)) for cell in mine]
    return result / np.maximum(result.sum(axis=1, keepdims=True), 1e-300)


@pytest.mark.parametrize("wide", [0, 1 << 22])
@pytest.mark.parametrize("missing", ["own", "wildcard"])
def test_hidden_missing_and_generalized_cells_are_weighed_by_the_formula(monkeypatch, missing, wide):
    monkeypatch.setattr("unmask.tables.attacks.comparisons.MIN_WIDE_PAIRS", wide)
    monkeypatch.setattr("unmask.tables.attacks.comparisons.MAX_SPARSE_SHARE", np.inf)
    rng, merged = np.random.default_rng(8), 0
    for boxes in (
        ["1", "2", "3", "4", "*"],
        ["1", "2", "3", "*", ""],
        ["1-2", "3-4", "*"],
        ["1-3", "2-4", "4", "*", ""],
    ):
        for values in 4 * ([*"1234"], [*"1234", ""], [*"1234", "*"]):
            released = [["1", "4", *rng.choice(boxes, 10)] for _ in "ab"]
            knowledge = [["1", *rng.choice(values, 20)] for _ in "ab"]
            release = Table.read(dict(zip("ab", released, strict=True)), quasi_identifiers=["a", "b"], missing=missing)
            people = Table.read(dict(zip("ab", knowledge, strict=True)), quasi_identifiers=["a", "b"])
            belief = ClassAttack()(release, Background(people))
            merged += len(people.classes.sizes) - belief.n_observations
            np.testing.assert_allclose(dense(belief), by_formula(knowledge, released, missing), atol=1e-6)
    assert merged > 0


def test_wide_columns_of_exact_values_are_joined_as_a_table_of_them_says(monkeypatch):
    rng = np.random.default_rng(2)
    for n_values in (3, 40):
        columns = {name: rng.integers(0, n_values, 90).astype(str) for name in "ab"}
        released = Table.read(
            columns | {"age": ["[20, 29]", "[25, 39]", "30"] * 30}, quasi_identifiers=("a", "b", "age")
        )
        columns = {name: rng.integers(0, n_values, 50).astype(str) for name in "ab"}
        knowledge = Table.read(columns | {"age": rng.integers(20, 40, 50)}, quasi_identifiers=("a", "b", "age"))
        holder = RegisterAttack(coverage=0.1)
        by_table, register_by_table = (
            dense(attack(released, Background(knowledge))) for attack in (ClassAttack(), holder)
        )
        with monkeypatch.context() as patch:
            patch.setattr("unmask.tables.attacks.comparisons.MIN_WIDE_PAIRS", 0)
            patch.setattr("unmask.tables.attacks.comparisons.MAX_SPARSE_SHARE", np.inf)
            assert np.array_equal(dense(ClassAttack()(released, Background(knowledge))), by_table)
            assert np.array_equal(dense(holder(released, Background(knowledge))), register_by_table)


def test_a_person_without_a_fitting_row_is_believed_absent():
    belief = ClassAttack()(ages("[20, 29]"), Background(ages(50)))
    assert belief.unlisted.tolist() == [1.0]
    assert audit(belief, Truth([ABSENT])).row("realized_success").posterior == 0


def test_register_gives_marketer_and_journalist():
    # El Emam: marketer (1 / n) sum n_c / N_c = (2 / 4 + 1 / 1) / 3, journalist 1 / min N_c = 1
    release = ages("[20, 29]", "[20, 29]", "[30, 39]")
    row = audit(RegisterAttack()(release, Background(ages(21, 22, 23, 24, 35)))).row("success_probability")
    assert row.posterior == pytest.approx((2 / 4 + 1) / 3)
    assert row.worst == 1
    assert row.prior == pytest.approx(1 / 5)


def test_register_coverage_caps_the_belief():
    release, register = ages("[20, 29]"), ages(21, 22, 35, 36)
    belief = RegisterAttack(coverage=0.8)(release, Background(register))
    assert belief.unlisted == pytest.approx([0.2])
    assert dense(belief)[0] == pytest.approx([0.4, 0.4, 0, 0])


def test_attribute_inference_is_the_histogram_of_the_class():
    release = ages("[20, 29]", "[20, 29]", "[20, 29]", "40", ill=["flu", "flu", "gout", "gout"])
    belief = AttributeInference("ill")(release, Background(ages(25, 40, 77)))
    assert belief.candidate_label == ("flu", "gout")
    assert dense(belief) == pytest.approx(np.array([[2 / 3, 1 / 3], [0, 1], [0.5, 0.5]]), abs=1e-6)


def test_missing_cells_obey_the_rule_and_cells_the_adversary_does_not_know_fit_everything():
    columns = {"age": ["20", "30", ""]}
    released = Table.read(columns, quasi_identifiers="age")
    wild = Table.read(columns, quasi_identifiers="age", missing="wildcard")
    knowledge = Table.read({"age": ["20", "", "*"]}, quasi_identifiers="age")
    for attack in (ClassAttack(), BayesAttack(error=CellError(redraw=1e-9))):
        beliefs = dense(attack(released, Background(knowledge)))
        assert beliefs[:2] == pytest.approx(np.array([[1, 0, 0], [0, 0, 1]]), abs=1e-6)
        assert beliefs[2] == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    # the wildcard is 20 as often as the stated cells are: one of two
    assert dense(ClassAttack()(wild, Background(knowledge)))[0] == pytest.approx([2 / 3, 0, 1 / 3])
    nothing = Knowledge(targets=None, missing=1.0)(released, np.arange(3), rng=np.random.default_rng(0))
    for release in (released, wild):
        assert np.count_nonzero(dense(ClassAttack()(release, nothing.background))) == 9


def test_bayes_attack_equals_the_formula():
    release, knowledge = ages("1", "1", "2", "4"), ages(1)
    redraw = 0.2
    belief = BayesAttack(error=CellError(redraw=redraw))(release, Background(knowledge))
    likelihood = np.array([1 - redraw + redraw / 2] * 2 + [redraw / 2] * 2)
    assert dense(belief)[0] == pytest.approx(likelihood / likelihood.sum(), abs=1e-6)


def test_jitter_lets_a_moved_age_be_found():
    release, knowledge = ages("31", "40"), ages(30, 40)
    belief = BayesAttack(error=CellError(redraw=0.01, jitter=0.5, width=2))(release, Background(knowledge))
    assert dense(belief)[0, 0] > 0.9
    assert dense(BayesAttack(error=CellError(redraw=0.01))(release, Background(knowledge)))[0, 0] == pytest.approx(0.5)


def test_nearest_neighbors_share_ties():
    belief = NearestNeighbor()(ages("10", "20", "30"), Background(ages(15, 29)))
    assert belief.status == "scores"
    assert dense(belief) == pytest.approx(np.array([[0.5, 0.5, 0], [0, 0, 1]]))


def test_string_linkage_counts_text_that_matches(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "verification"))
    # By construction: ten classes of two rows; the person of "30" is found as text, those in an interval are not.
    cells = [f"[{10 * i}, {10 * i + 5}]" for i in range(9)] + ["30"]
    release = Table.read({"age": cells * 2, "sex": ["f"] * 20}, quasi_identifiers=("age", "sex"), types={"age": "text"})
    knowledge = Table.read(
        {"age": ["30", "12", "12"], "sex": ["f", "f", "m"]},
        quasi_identifiers=("age", "sex"),
        types={"age": "text"},
    )
    result = importlib.import_module("table_strings").count_matches(release, knowledge, neighbors=3)
    # nearest distances 0, 1, 2: median 1 keeps two; 30/f matches 2 + 1 + 1 cells, 12/f matches sex in each of three
    assert (result.linked, result.possible) == (2, 12)
    assert result.matches == 4 + 3
    assert result.tie_averaged == pytest.approx(7)


def test_no_shared_column_is_an_error():
    with pytest.raises(UnmaskError, match="share no quasi-identifier"):
        ClassAttack()(ages("20"), Background(Table.read({"zip": ["1"]}, quasi_identifiers="zip")))


@pytest.mark.parametrize("strict", [True, False])
def test_mondrian_is_linked_at_classes_over_people_when_boxes_do_not_overlap(strict):
    rng = np.random.default_rng(0)
    people = Table.read({"age": rng.integers(0, 80, 500), "n": rng.integers(0, 9, 500)}, quasi_identifiers=("age", "n"))
    release, origin = Mondrian(k=5, strict=strict)(people, rng=rng)
    knowledge = Knowledge(targets=None)(people, origin, rng=rng)
    belief = ClassAttack()(release, knowledge.background)
    row = audit(belief, knowledge.truth).row("realized_success")
    if strict:
        assert belief.status == "exact"
        assert row.posterior == pytest.approx(len(release.classes.sizes) / 500)
    assert row.worst <= 1 / 5 + 1e-6


def test_knowledge_draws_do_not_depend_on_its_rates():
    people = ages(*range(50))
    plain = Knowledge(targets=20)(people, np.arange(50), rng=np.random.default_rng(3))
    blurred = Knowledge(targets=20, missing=0.5)(people, np.arange(50), rng=np.random.default_rng(3))
    assert plain.person.tolist() == blurred.person.tolist()
    age = blurred.people.column("age")
    assert 0 < age.levels.unknown[age.codes].sum() < 20
    assert not age.levels.is_missing.any()


def test_register_truth_points_at_the_person():
    people = ages(*range(50))
    origin = np.random.default_rng(1).permutation(50)
    drawn = Register(coverage=0.6)(people, origin, rng=np.random.default_rng(2))
    assert drawn.people.n_rows == 30
    has_person = drawn.truth.candidate >= 0
    assert drawn.person[drawn.truth.candidate[has_person]].tolist() == origin[has_person].tolist()
    assert (drawn.truth.candidate == ABSENT).sum() == 20


def test_attribute_truth_goes_by_the_values_that_are_believed_in():
    people = ages(1, 2, 3, 4, ill=["b", "a", "c", ""])
    release = ages(1, 2, ill=["b", "c"])
    belief = AttributeInference("ill")(release)
    assert attribute_truth(people, np.arange(4), belief, "ill").candidate.tolist() == [0, -2, 1, -1]


@pytest.mark.parametrize("attack", [AttributeInference("ill"), BackOff("ill")])
def test_a_sensitive_column_that_is_half_empty_is_guessed_right_half_the_time(attack):
    # a missing cell was believed in as a value of its own, and nobody who had it was judged: guessing gave 0 %
    people = ages(*[1, 2] * 40, ill=["", "flu", "", "", "ulcer", "flu", "", "flu"] * 10)
    belief = attack(people, Background(people, people))
    row = evaluate(realized_success, belief, attribute_truth(people, np.arange(80), belief, "ill"))
    assert (row.n, row.prior) == (80, pytest.approx(0.5))
    assert row.posterior == pytest.approx(evaluate(success_probability, belief).posterior, abs=0.02)
    control = Table.read({"age": [1, 2], "ill": ["", ""]}, quasi_identifiers="age", sensitive="ill", like=people)
    assert set(attribute_truth(control, np.arange(2), belief, "ill").candidate) == {-1}  # an empty column says nothing


def test_an_attack_that_needs_people_says_so():
    release = ages("20", "21")
    for attack in (RegisterAttack(), BayesAttack(), NearestNeighbor(), StringLinkage(), OrderAttack()):
        for knowledge in (None, Background(population=release)):
            with pytest.raises(UnmaskError, match="needs people"):
                attack(release, knowledge, rng=np.random.default_rng(0))


def test_a_table_alone_is_no_knowledge():
    table = Table.read({"age": [30, 41]}, quasi_identifiers="age")
    for attack in (ClassAttack(), RegisterAttack(coverage=0.5), NearestNeighbor()):
        with pytest.raises(UnmaskError, match="the knowledge is a Table, expected Background"):
            attack(table, table)
