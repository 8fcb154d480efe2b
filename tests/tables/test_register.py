"""The holder of a register: no belief that enumeration refutes, and announced equals realized (U1, U2, E2)."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import Truth, audit
from unmask.core.errors import UnmaskError
from unmask.core.truth import ABSENT
from unmask.tables import Background, ClassAttack, Mondrian, Register, RegisterAttack, Table, datasets
from unmask.tables.attacks.register import (
    compute_owner_belief,
    expected_matches,
    expected_matches_at,
    propagate_beliefs,
    sum_matchings,
)

REFERENCE = (
    # n, N, c, lam, E[I]: by two solvers written apart, and by enumeration
    (1, 1, 0.63, 0.05, 0.971473),
    (1, 1, 0.63, 1, 0.630000),
    (1, 2, 0.63, 1, 0.773006),
    (3, 2, 0.63, 0.5, 1.753525),
    (3, 3, 0.63, 1, 2.125290),
    (3, 5, 0.63, 2, 2.236029),
    (5, 3, 0.9, 0.5, 2.945938),
    (10, 16, 0.63, 9.7, 6.400420),
    (40, 30, 0.63, 5, 25.211584),
)


def ages(*cells):
    return Table.read({"age": list(cells)}, quasi_identifiers="age")


def table_of(belief):
    """(n_targets, n_candidates)"""
    table = np.zeros((belief.n_observations, belief.n_candidates))
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    table[row, belief.candidate] = np.exp(belief.log_probability)
    return table[belief.observation]


def matchings(weight):
    """Probability of each pair over all partial one-to-one matchings, exact; weight : (records, people)."""
    n, m = weight.shape
    total, weights = Fraction(0), [[Fraction(0)] * m for _ in range(n)]
    for size in range(min(n, m) + 1):
        for combination in combinations(range(n), size):
            for permutation in permutations(range(m), size):
                pairs = list(zip(combination, permutation, strict=True))
                mass = Fraction(1)
                for pair in pairs:
                    mass *= weight[pair]
                total += mass
                for i, j in pairs:
                    weights[i][j] += mass
    return np.array([[float(value / total) for value in row] for row in weights])


@pytest.mark.parametrize(("n", "people", "c", "lam", "expected"), REFERENCE)
def test_u1_reference_values_of_one_box(n, people, c, lam, expected):
    actual = expected_matches(np.array([float(n)]), np.array([float(people)]), np.array([c / ((1 - c) * lam)]))
    assert actual == pytest.approx(expected, abs=6e-7)


def test_u1_reference_values_of_overlapping_boxes():
    # shares 1/2, 1/4, 1/4 of three cells; boxes {0}, {0, 1}, {0, 1, 2}; people in cells 0, 0, 1, 2; 2.11 outsiders
    weight = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]]) * (0.63 / (0.37 * 2.11 * np.array([0.5, 0.75, 1.0])))[:, None]
    expected = [[0.328306, 0, 0], [0.184846, 0.286921, 0], [0.117997, 0.178797, 0.261347]]
    assert sum_matchings(np.ones(3, int), np.array([2, 1, 1]), weight) == pytest.approx(np.array(expected), abs=6e-7)


@pytest.mark.parametrize(("n", "people", "inside"), [(3, 3, 3), (2, 5, 2), (3, 1, 1), (4, 0, 0)])
def test_u1_without_outsiders_as_many_own_a_record_as_can(n, people, inside):
    assert expected_matches_at([n], [people], 0.0) == [inside]
    assert expected_matches_at([n], [people], 1e-9) == pytest.approx(inside, abs=1e-6)


@settings(max_examples=30)
@given(st.integers(1, 4), st.integers(1, 4), st.fractions(Fraction(1, 50), 50))
def test_u1_one_box_is_the_sum_over_all_matchings(n, people, t):
    table = matchings(np.full((n, people), t))
    actual = expected_matches(np.array([float(n)]), np.array([float(people)]), np.array([float(t)]))
    assert actual == pytest.approx(table.sum(), abs=1e-12)


@st.composite
def boxes(draw):
    """Records and people of a few kinds, and the weights of their pairs."""
    n, people = (draw(st.sampled_from(([1], [3], [1, 1], [2, 1], [2, 2], [1, 1, 1], [2, 1, 1]))) for _ in range(2))
    size = len(n) * len(people)
    weight = draw(st.lists(st.fractions(0, 20).map(lambda x: x.limit_denominator(60)), min_size=size, max_size=size))
    return np.array(n), np.array(people), np.array(weight, dtype=object).reshape(len(n), len(people))


@settings(max_examples=40)
@given(boxes())
def test_u1_overlapping_boxes_are_the_sum_over_all_matchings(drawn):
    n, people, weight = drawn
    one_by_one = np.repeat(np.repeat(weight, n, axis=0), people, axis=1)
    table = matchings(one_by_one)[np.cumsum(n) - 1][:, np.cumsum(people) - 1]
    assert sum_matchings(n, people, weight.astype(float)) == pytest.approx(table, abs=1e-12)
    row, klass = np.nonzero(weight.astype(float))
    if len(row):  # approximate, and not used in boxes so small
        by_messages = propagate_beliefs(n, people, row, klass, weight.astype(float)[row, klass])
        assert by_messages == pytest.approx(table[row, klass], abs=0.2)
        assert np.bincount(row, people[klass] * by_messages).max() <= 1 + 1e-9
        assert np.bincount(klass, n[row] * by_messages).max() <= 1 + 1e-9


def test_u1_messages_are_right_on_trees():
    weight = np.array([[2.0, 0.0, 0.0], [3.0, 0.5, 0.0], [0.0, 4.0, 1.0]])
    row, klass = np.nonzero(weight)
    ones = np.ones(3, int)
    exact = sum_matchings(ones, ones, weight)[row, klass]
    assert propagate_beliefs(ones, ones, row, klass, weight[row, klass]) == pytest.approx(exact, abs=1e-7)


# --- laws -------------------------------------------------------------------------------------------------------

CELLS = ("[0, 3]", "[0, 3]", "[4, 7]", "[4, 7]", "[2, 5]", "1", "6", "[8, 9]")


@given(st.lists(st.sampled_from(CELLS), min_size=1, max_size=12), st.lists(st.integers(0, 9), min_size=1, max_size=12),
       st.floats(0.05, 1.0))  # fmt: skip
def test_u1_no_belief_that_enumeration_refutes(cells, people, coverage):
    release, register = ages(*cells), ages(*people)
    try:
        belief = RegisterAttack(coverage=coverage)(release, Background(register))
    except UnmaskError:  # the counts contradict the coverage
        return
    table = table_of(belief)
    inside = table.sum(axis=1)
    assert np.all(inside <= 1 + 1e-9)  # a record has one owner
    assert np.all(table.sum(axis=0) <= 1 + 1e-9)  # a person owns one record
    assert inside == pytest.approx(1 - belief.unlisted[belief.observation], abs=1e-9)
    alike = (release.column("age").codes[:, None] == release.column("age").codes).sum(axis=1)
    assert np.all(table.max(axis=1) <= 1 / alike + 1e-9)  # never above who knows that the person is in the release
    assert np.all(audit(belief).row("success_probability").posterior <= coverage + 1e-6)
    assert inside.sum() <= coverage * len(cells) * (1 + 1e-6)  # the mean belief is the prior, where that is possible
    if inside.sum() < coverage * len(cells) * (1 - 1e-6):
        with_all = compute_owner_belief(*counted(release, register), coverage=min(1.0, inside.sum() / len(cells)))
        assert np.allclose(with_all.in_register[belief.observation], inside, atol=1e-5)


def counted(release, register):
    from unmask.tables.attacks.classes import compare_levels
    from unmask.tables.attacks.pairing import find_compatible_pairs, pair

    pairing = pair(release, register)
    pairs = find_compatible_pairs(pairing, compare_levels(pairing.columns, missing="own"))
    return np.bincount(pairing.observation), pairing.sizes, *pairs


def test_u1_three_equal_records_and_one_person_of_the_register():
    belief = RegisterAttack(coverage=0.33)(ages(*["[20, 29]"] * 3), Background(ages(25)))
    assert audit(belief).row("success_probability").worst == pytest.approx(0.33)
    belief = RegisterAttack(coverage=0.8)(ages(*["[20, 29]"] * 3, "40", "41"), Background(ages(25, 40, 41)))
    assert audit(belief).row("success_probability").posterior == pytest.approx(3 / 5)
    assert table_of(belief)[:3].sum() <= 1


def test_u1_a_unique_match_raises_the_probability_of_being_in_the_register():
    # two records fit one person each, one fits nobody: that one's owner is not in the register, so the others' are
    belief = RegisterAttack(coverage=0.6)(ages(1, 2, 3), Background(ages(1, 2, 7, 8, 9)))
    assert 1 - belief.unlisted[belief.observation] == pytest.approx([0.9, 0.9, 0.0])


@pytest.mark.parametrize(("coverage", "people"), [(1.0, 4), (0.99, 4), (0.8, 2)])
def test_u1_counts_that_contradict_the_coverage_are_refused(coverage, people):
    release = ages(*[25] * 10 * people)
    with pytest.raises(UnmaskError, match=r"match at most \d+; give a coverage of at most 0"):
        RegisterAttack(coverage=coverage)(release, Background(ages(*[25] * people * 3)))


def test_u1_a_register_of_all_people_has_a_person_for_each_record():
    with pytest.raises(UnmaskError, match=r"3 of 3 records have .* match at most 2; give a coverage of at most 0.666"):
        RegisterAttack()(ages("[20, 29]", "[20, 29]", "30"), Background(ages(21, 30, 31, 32)))
    with pytest.raises(UnmaskError, match="match at most 2"):  # of overlapping classes as well
        RegisterAttack()(ages("[20, 29]", "[25, 35]", "[20, 35]"), Background(ages(26, 27, 90)))
    with pytest.raises(UnmaskError, match="write their cells alike"):
        RegisterAttack(coverage=0.9)(ages(*range(50)), Background(ages(*range(100, 200))))


def test_u1_a_register_that_is_nearly_used_up_leaves_no_outsider():
    # 1e9 of each, of whom all but 1000 are owners: no z is small enough, and I = min(n, N) is right to 1e-6
    single_record, n_people = np.array([0]), np.array([10**9])
    assert compute_owner_belief(
        n_people, n_people, single_record, single_record, coverage=1 - 5e-9
    ).in_register == pytest.approx(1, abs=1e-6)
    assert compute_owner_belief(
        n_people, n_people, single_record, single_record, coverage=0.5
    ).in_register == pytest.approx(0.5)


def test_in_overlapping_boxes_a_record_counts_by_the_people_who_fit_both():
    # two people of 1, one of 2: box "1" has 2 people, 1 record and 2/3 of the other; box "[1, 2]" 3 people, 2 records
    belief = table_of(RegisterAttack(coverage=0.5)(ages("1", "[1, 2]"), Background(ages(1, 1, 2))))
    size = np.array([2 + 1 + 2 / 3, 3 + 2])

    def of_all(z):
        return matchings(np.array([[1, 1, 0], [1, 1, 1]]) / (z * size)[:, None])

    low, high = 1e-6, 1e6
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if of_all(middle).sum() > 1 else (low, middle)
    assert belief == pytest.approx(of_all(low), abs=1e-9)


def test_a_deviation_that_chance_explains_is_no_contradiction():
    release = ages(*range(100))
    belief = RegisterAttack(coverage=0.5)(release, Background(ages(*range(35))))  # 50 expected, 5 the deviation
    assert (1 - belief.unlisted).sum() == 35
    with pytest.raises(UnmaskError, match=r"give a coverage of at most 0\.34"):
        RegisterAttack(coverage=0.5)(release, Background(ages(*range(34))))


def test_outsiders_are_spread_like_records_and_people():
    # one record each: inside = t N / (1 + t N) with t = 1 / (z (n + N)), and one z for both boxes
    belief = RegisterAttack(coverage=0.6)(ages(1, 2), Background(ages(1, 2, 2, 2)))
    first, second = 1 - belief.unlisted[belief.observation]
    assert first + second == pytest.approx(1.2)
    assert (1 / first - 1) / 2 == pytest.approx(3 * (1 / second - 1) / 4)


# --- announced is realized --------------------------------------------------------------------------------------


def linked(released, columns, known_columns, k, coverage, *, people=3000, seed=0):
    """Audits of who holds a register of a population of which some are released, and of who knows them in it."""
    rng = np.random.default_rng(seed)
    types = {name: "number" for name in columns if name == "zip"}  # its classes are disjoint
    population = Table.read(datasets.synthetic_census(people, rng=rng), quasi_identifiers=columns, types=types)
    released_people = rng.permutation(people)[: round(released * people)]
    release, origin = population.take(released_people), np.arange(len(released_people))
    if k:
        release, origin = Mondrian(k=k)(release, rng=rng)
    register = Register(coverage=coverage, columns=known_columns)(population, released_people[origin], rng=rng)
    belief = RegisterAttack(coverage=coverage)(release, register.background)
    return audit(belief, register.truth), audit(ClassAttack()(release)), belief, register.truth


@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize("coverage", [0.3, 0.8])
def test_u1_a_register_of_those_released_is_right_to_the_last_digit(k, coverage):
    announced_share, prosecutor, belief, truth = linked(1.0, ("age", "sex", "zip"), ("age", "sex", "zip"), k, coverage)
    announced, realized = announced_share.row("success_probability"), announced_share.row("realized_success")
    assert announced.posterior == pytest.approx(realized.posterior, abs=1e-9)  # enumeration: everybody of a class is in
    assert announced.posterior <= prosecutor.row("success_probability").posterior
    assert announced.worst <= 1 / k + 1e-9
    assert announced_share.row("calibration_error").posterior == pytest.approx(0, abs=1e-9)
    assert belief.status == "model"
    assert np.mean(truth.candidate != ABSENT) == pytest.approx(coverage)


@pytest.mark.parametrize("k", [0, 3, 10])
@pytest.mark.parametrize("coverage", [0.3, 0.8])
@pytest.mark.parametrize("known_columns", [("age", "sex", "zip"), ("age", "sex")])
def test_u1_announced_is_realized_where_the_register_has_outsiders(k, coverage, known_columns):
    announced_share, _, belief, truth = linked(0.5, ("age", "sex", "zip"), known_columns, k, coverage)
    announced, realized = announced_share.row("success_probability"), announced_share.row("realized_success")
    assert announced.posterior == pytest.approx(realized.posterior, abs=0.03)
    inside = 1 - belief.unlisted[belief.observation]
    assert inside.mean() == pytest.approx(np.mean(truth.candidate != ABSENT), abs=0.03)


def test_the_order_of_records_and_people_is_no_information():
    rng = np.random.default_rng(3)
    cells, people = rng.choice(CELLS, 30), rng.integers(0, 10, 40)
    first = table_of(RegisterAttack(coverage=0.6)(ages(*cells), Background(ages(*people))))
    rows, columns = rng.permutation(30), rng.permutation(40)
    second = table_of(RegisterAttack(coverage=0.6)(ages(*cells[rows]), Background(ages(*people[columns]))))
    assert second == pytest.approx(first[rows][:, columns], abs=1e-9)


@pytest.mark.parametrize("coverage", [0.0, -0.1, 1.1, float("nan")])
def test_a_coverage_is_a_probability_above_0(coverage):
    with pytest.raises(UnmaskError, match="coverage is"):
        RegisterAttack(coverage=coverage)


def test_a_record_without_a_fitting_person_has_no_candidate():
    belief = RegisterAttack(coverage=0.5)(ages(1, 2), Background(ages(1, 7)))
    assert belief.unlisted[belief.observation] == pytest.approx([0.0, 1.0])
    assert audit(belief, Truth([0, ABSENT])).row("realized_success").posterior == 0.5
