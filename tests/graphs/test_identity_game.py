"""The game of y identities: equilibrium, weak and unknown attackers, each against enumeration, programs or simulation.

Equation numbers are those of Gulyas 2015, section 6.4 and appendix A.3.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from unmask import UnmaskError
from unmask.graphs.identity_game import acceptance, best_assignment, equilibrium, expected_loss, worst_loss

probability = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
seeds = st.integers(0, 2**32 - 1)


def sets(y):
    return list(itertools.product((0, 1), repeat=y))


def literal_loss(r, P, table, u=1.0):
    """(6.7) as printed: all m, P_m by (6.6), q^m looked up."""
    u = np.broadcast_to(u, (len(r),))
    total = 0.0
    for m in sets(len(r)):
        chance = math.prod((1 - m_j) + (-1) ** (1 - m_j) * P_j for m_j, P_j in zip(m, P, strict=True))
        total += chance * sum(r[i] * table[m][i] * u[i] for i in range(len(r)))
    return total


def even(y):
    return {m: np.array(m) / max(sum(m), 1) for m in sets(y)}


def random_table(y, rng):
    """Draw q^m at random; sometimes it is 0 for all."""
    table = {}
    for m in sets(y):
        weight = np.array(m) * rng.random(y) * rng.integers(0, 2, y)
        table[m] = weight / weight.sum() * rng.choice([1.0, rng.random()]) if weight.sum() else np.zeros(y)
    return table


def random_case(y, seed):
    rng = np.random.default_rng(seed)
    P = np.where(rng.random(y) < 0.2, rng.integers(0, 2, y), rng.random(y))
    return rng.dirichlet(np.ones(y)), P, random_table(y, rng), rng


# ------------------------------------------------------------------------------------------------- strong attacker


def payoffs(gain, loss):
    """(y, y) payoffs with `right` on the diagonal and `wrong` elsewhere, as table 6.1."""
    y = len(gain)
    return np.where(np.eye(y, dtype=bool), np.broadcast_to(gain, (y, y)), loss)


def indifferent(payoff, mine, theirs):
    """Return the mix of `theirs` that makes all rows `mine` of `payoff` pay the same, or None."""
    y = len(payoff)
    rows = np.array([np.append(payoff[i, theirs], -1.0) for i in mine] + [np.append(np.ones(len(theirs)), 0.0)])
    solution, _, rank, _ = np.linalg.lstsq(rows, np.append(np.zeros(len(mine)), 1.0))
    if rank < len(theirs) + 1 or not np.allclose(rows @ solution, np.append(np.zeros(len(mine)), 1.0)):
        return None
    mix = np.zeros(y)
    mix[list(theirs)] = solution[:-1]
    return mix if (mix[list(theirs)] > 1e-12).all() and (payoff @ mix <= solution[-1] + 1e-9).all() else None


def all_equilibria(attacker, user):
    """By enumeration of the supports; rows are one's own choices. Unequal supports have none: the game is generic."""
    y = len(attacker)
    supports = [s for size in range(1, y + 1) for s in itertools.combinations(range(y), size)]
    payoffs_by_choice = []
    for his, hers in itertools.product(supports, supports):
        r, q = indifferent(attacker, his, hers), indifferent(user, hers, his)
        if r is not None and q is not None:
            payoffs_by_choice.append((r, q))
    return payoffs_by_choice


@pytest.mark.parametrize("y", [2, 3, 4])
@pytest.mark.parametrize("unequal", [False, True])
def test_the_equilibrium_is_the_only_one_and_is_mixed(y, unequal):
    rng = np.random.default_rng(y)
    loss, gain = (rng.uniform(1, 9, (2, y))) if unequal else (np.full(y, 7.0), np.full(y, 3.0))
    attacker = payoffs(gain - 1.5, -1.5)  # u_A^+ and u_A^- of table 6.1
    user = payoffs(2.0 - loss, 2.0)  # u_n^- and u_n^+
    result = equilibrium(y, loss=loss, gain=gain)
    ((r, q),) = all_equilibria(attacker, user)
    np.testing.assert_allclose(result.assignment, r)
    np.testing.assert_allclose(result.decision, q)
    assert result.loss == pytest.approx(2.0 - result.assignment @ user @ result.decision)
    assert max(result.assignment.max(), result.decision.max()) < 1  # mixed
    if not unequal:
        np.testing.assert_allclose(result.assignment, 1 / y)  # theorem 1
        assert result.loss == pytest.approx(7.0 / y)  # (6.12)


@pytest.mark.parametrize("y", [2, 3, 7, 50])
def test_no_player_gains_by_deviating(y):
    rng = np.random.default_rng(y)
    loss, gain = rng.uniform(0.1, 9, (2, y))
    result = equilibrium(y, loss=loss, gain=gain)
    attacker_gets = gain * result.assignment  # of each pure choice, over a wrong belief
    user_loses = loss * result.decision
    assert np.ptp(attacker_gets) <= 1e-12 * attacker_gets[0]
    assert np.ptp(user_loses) <= 1e-12 * user_loses[0]
    assert result.assignment.sum() == pytest.approx(1) == result.decision.sum()
    assert result.loss == pytest.approx(user_loses[0])


@pytest.mark.parametrize("y", [2, 3, 8])
def test_the_equations_of_the_proof_have_it_as_their_solution(y):
    # (6.3), its last row read as sum r_i = 1
    gain, loss = 5.0, -2.0
    rows = np.zeros((y, y))
    rows[:-1, 0] = gain - loss
    rows[np.arange(y - 1), np.arange(1, y)] = loss - gain
    rows[-1] = 1
    r = np.linalg.solve(rows, np.eye(y)[-1])
    np.testing.assert_allclose(equilibrium(y, gain=gain - loss).assignment, r)
    for i, j in itertools.combinations(range(y), 2):  # (6.1) with the payoffs swapped back
        assert gain * r[i] + loss * (1 - r[i]) == pytest.approx(gain * r[j] + loss * (1 - r[j]))


@pytest.mark.parametrize("y", [2, 4, 9])
def test_a_linear_program_finds_no_safer_assignment(y):
    u = np.random.default_rng(y).uniform(1, 5, y)
    # least v with r_i u_i <= v for all i
    program = linprog(
        np.append(np.zeros(y), 1.0),
        A_ub=np.column_stack([np.diag(u), -np.ones(y)]),
        b_ub=np.zeros(y),
        A_eq=[np.append(np.ones(y), 0.0)],
        b_eq=[1.0],
    )
    safe = equilibrium(y, loss=u, gain=u)
    assert safe.loss == pytest.approx(program.fun)
    assert worst_loss(safe.assignment, loss=u) == pytest.approx(program.fun)
    np.testing.assert_allclose(safe.assignment, program.x[:-1])


def decide(table):
    """Return the decision rule of a table: set of discovered identities -> probability of each."""
    return lambda discovered: table[tuple(discovered.astype(int).tolist())]


def test_one_identity_is_no_hiding_place():
    assert equilibrium(1, loss=3.0).loss == 3.0


# --------------------------------------------------------------------------------------------------- weak attacker


@settings(max_examples=60, deadline=None)
@given(y=st.integers(1, 6), seed=seeds)
def test_any_decision_against_the_printed_sum(y, seed):
    r, P, table, rng = random_case(y, seed)
    u = rng.uniform(0, 3, y)
    expected = literal_loss(r, P, table, u)
    assert expected_loss(r, discovery=P, decision=decide(table), loss=u) == pytest.approx(expected, abs=1e-13)


@settings(max_examples=60, deadline=None)
@given(y=st.integers(1, 9), seed=seeds)
def test_even_choice_against_the_printed_sum(y, seed):
    r, P, _, _ = random_case(y, seed)
    assert expected_loss(r, discovery=P) == pytest.approx(literal_loss(r, P, even(y)), rel=1e-12, abs=1e-15)
    np.testing.assert_allclose(acceptance(P), acceptance(P, decide(even(y))), rtol=1e-12, atol=1e-15)


@settings(max_examples=40, deadline=None)
@given(y=st.integers(1, 7), seed=seeds)
def test_constant_acceptance_against_the_printed_sum(y, seed):
    r, P, _, rng = random_case(y, seed)
    q = rng.dirichlet(np.ones(y)) * rng.random()
    table = {m: np.array(m) * q for m in sets(y)}
    assert expected_loss(r, discovery=P, decision=q) == pytest.approx(literal_loss(r, P, table), rel=1e-12)


@pytest.mark.parametrize("y", [50, 301])
def test_even_choice_among_many_against_the_distribution_of_the_number_found(y):
    P = np.random.default_rng(y).random(y) ** 3
    alpha = acceptance(P)
    for i in (0, y // 2, y - 1):
        p_others = np.ones(1)
        for p in np.delete(P, i):
            p_others = np.convolve(p_others, [1 - p, p])
        assert alpha[i] == pytest.approx(P[i] * (p_others / np.arange(1, y + 1)).sum(), rel=1e-11)
    assert alpha.sum() == pytest.approx(1 - np.prod(1 - P), rel=1e-12)  # somebody is believed where anybody is found


def test_a_simulated_attack_loses_what_is_expected():
    rng = np.random.default_rng(5)
    y, runs = 30, 40_000
    r, P, u = rng.dirichlet(np.ones(y)), rng.random(y), rng.uniform(1, 4, y)
    secret = rng.choice(y, size=runs, p=r)
    result = rng.random((runs, y)) < P
    believed = np.where(result, rng.random((runs, y)), -1).argmax(axis=1)  # evenly among those found
    hit = result[np.arange(runs), believed] & (believed == secret)
    lost = np.where(hit, u[secret], 0.0)
    half_width = 4 * lost.std() / math.sqrt(runs)  # missed once in 16,000 seeds
    assert abs(lost.mean() - expected_loss(r, discovery=P, loss=u)) < half_width


@settings(max_examples=40, deadline=None)
@given(y=st.integers(1, 5), seed=seeds)
def test_the_loss_once_it_is_known_what_is_found(y, seed):
    r, _, table, rng = random_case(y, seed)
    u = rng.uniform(0, 3, y)
    for m in sets(y):
        given_m = sum(r[i] * table[m][i] * m[i] * u[i] for i in range(y))  # (6.5)
        assert expected_loss(r, discovery=m, decision=decide(table), loss=u) == pytest.approx(given_m, abs=1e-13)


@settings(max_examples=40, deadline=None)
@given(y=st.integers(1, 5), seed=seeds)
def test_acceptance_is_the_coefficient_of_the_assignment(y, seed):
    # (6.8): alpha_i is what is lost of a secret that is in identity i for sure
    _, P, table, _ = random_case(y, seed)
    lost = [literal_loss(np.eye(y)[i], P, table) for i in range(y)]
    np.testing.assert_allclose(acceptance(P, decide(table)), lost, atol=1e-13)


def test_discovered_identities_are_drawn_one_by_one():
    # (6.6), simulated: q^m looked up for sets that are drawn
    runs = 40_000
    _, P, table, rng = random_case(4, 7)
    drawn = np.array([table[tuple(m)] for m in (rng.random((runs, 4)) < P).astype(int).tolist()])
    half_width = 4 * drawn.std(axis=0) / math.sqrt(runs) + 1e-12
    assert (abs(drawn.mean(axis=0) - acceptance(P, decide(table))) < half_width).all()


@pytest.mark.parametrize("k", [2, 5])
def test_k_who_are_alike_share_the_loss(k):
    # (6.10), simulated: the secret is with one of k whom nothing tells apart
    rng, runs = np.random.default_rng(k), 40_000
    hit = rng.integers(k, size=runs) == rng.integers(k, size=runs)
    assert abs(4.0 * hit.mean() - worst_loss(np.full(k, 1 / k), loss=4.0)) < 4 * 4.0 * hit.std() / math.sqrt(runs)


def test_sure_identities_cost_no_enumeration():
    P = np.array([1.0] * 100 + [0.5] * 2)
    questions = []

    def last(result):
        questions.append(result)
        return np.eye(102)[np.flatnonzero(result)[-1]]

    alpha = acceptance(P, last)
    assert len(questions) == 4
    assert alpha[[99, 100, 101]].tolist() == [0.25, 0.25, 0.5]


def test_edges_of_discovery():
    np.testing.assert_allclose(acceptance(np.ones(60)), 1 / 60)
    assert acceptance(np.zeros(3)).tolist() == [0, 0, 0]
    np.testing.assert_allclose(acceptance([1.0, 0.0]), [1, 0])
    q = [0.2, 0.3, 0.5]  # a strong attacker: (6.12) and the payoff of any pair of strategies
    assert expected_loss([0.1, 0.6, 0.3], discovery=[1, 1, 1], decision=q) == pytest.approx(0.02 + 0.18 + 0.15)


@settings(max_examples=40, deadline=None)
@given(y=st.integers(2, 6), seed=seeds)
def test_no_mixture_beats_the_best_assignment(y, seed):
    _, P, table, rng = random_case(y, seed)  # theorem 2
    u = rng.uniform(0.5, 3, y)
    optimum = best_assignment(P, decide(table), loss=u)
    least_loss = literal_loss(optimum, P, table, u)
    pure = [literal_loss(np.eye(y)[i], P, table, u) for i in range(y)]
    assert least_loss == pytest.approx(min(pure), abs=1e-13)
    assert set(np.flatnonzero(optimum)) <= {i for i in range(y) if pure[i] <= min(pure) + 1e-12}
    for r in rng.dirichlet(np.ones(y), size=20):
        assert literal_loss(r, P, table, u) >= least_loss - 1e-13


def test_ties_share_and_losses_count():
    assert best_assignment([0.3, 0.1 + 0.2, 0.9]).tolist() == [0.5, 0.5, 0]  # 0.1 + 0.2 is not 0.3 in binary
    assert best_assignment([0.9, 0.3], loss=[1.0, 9.0]).tolist() == [1, 0]
    assert best_assignment([0.9, 0.0, 0.3]).tolist() == [0, 1, 0]


def test_the_loss_scales_with_the_stored_share():
    P, distribution = [0.8, 0.5, 0.3], np.array([0.5, 0.3, 0.2])
    full = expected_loss(distribution, discovery=P)
    assert full > 0
    for stored in (0.75, 0.25, 0.0):  # r_0 = 1 - stored
        assert expected_loss(stored * distribution, discovery=P) == pytest.approx(stored * full)
        assert worst_loss(stored * distribution) == pytest.approx(stored * 0.5)


def test_a_risky_identity_carries_most_of_an_even_assignment():
    P = [0.05] * 4 + [0.95]  # 6.4.3
    parts = acceptance(P) / 5
    assert parts[4] / parts.sum() > 0.8
    assert best_assignment(P).tolist() == [0.25] * 4 + [0]


# ----------------------------------------------------------------------------------------------- appendix examples


@given(P1=probability, P2=probability, q=st.lists(st.floats(0, 0.5), min_size=2, max_size=2), r=probability)
def test_example_1_minimizing_cost_in_a_simple_case(P1, P2, q, r):
    q1, q2, q3, q4 = 2 * q[0], 2 * q[1], q[1], q[0]
    table = {(0, 0): [0, 0], (0, 1): [0, q2], (1, 0): [q1, 0], (1, 1): [q3, q4]}  # table A.1
    result = expected_loss([r, 1 - r], discovery=[P1, P2], decision=decide(table))
    printed = P1 * (1 - P2) * r * q1 + (1 - P1) * P2 * (1 - r) * q2 + P1 * P2 * (r * q3 + (1 - r) * q4)  # (A.1)
    assert result == pytest.approx(printed, abs=1e-12)


@given(P1=probability, P2=probability, q=probability, r=probability)
def test_example_1_with_a_constant_chance(P1, P2, q, r):
    result = expected_loss([r, 1 - r], discovery=[P1, P2], decision=[q, 1 - q])
    p_both = P1 * P2 * (r * q + (1 - r) * (1 - q))
    printed = P1 * (1 - P2) * r * q + (1 - P1) * P2 * (1 - r) * (1 - q) + p_both  # (A.2)
    A = P1 * q - P2 + P2 * q
    assert result == pytest.approx(printed, abs=1e-12)
    assert result == pytest.approx(A * r + P2 - P2 * q, abs=1e-12)  # (A.3)
    if abs(A) > 1e-9:
        assert best_assignment([P1, P2], [q, 1 - q]).tolist() == ([0, 1] if A > 0 else [1, 0])


def test_a_constant_loss_need_not_be_no_loss():
    # A = 0 of (A.3): the print says that there is no breach; r does not matter, that is all
    for r in (0.0, 0.3, 1.0):
        assert expected_loss([r, 1 - r], discovery=[0.5, 0.5], decision=[0.5, 0.5]) == 0.25
    for P1, P2, q in [(0.7, 0, 0), (0, 0, 0.4), (0, 0.7, 1)]:  # the three cases listed there lose nothing
        assert expected_loss([0.3, 0.7], discovery=[P1, P2], decision=[q, 1 - q]) == 0


@given(P1=st.floats(0, 0.5), P2=st.floats(0, 0.5), r=probability)
def test_example_2_minimizing_cost_against_naive_attackers(P1, P2, r):
    rows = {(0, 0): [0, 0], (0, 1): [0, 1], (1, 0): [1, 0]}
    naive, coin = rows | {(1, 1): [P1, P2]}, rows | {(1, 1): [0.5, 0.5]}  # table A.2
    B = (P1 - P2) * (1 + P1 * P2)
    result = expected_loss([r, 1 - r], discovery=[P1, P2], decision=decide(naive))
    assert result == pytest.approx(B * r + P2 - P1 * P2 + P1 * P2**2, abs=1e-12)  # (A.4)
    flipped = (P1 - P2) * r + P2 - P1 * P2 / 2  # (A.5)
    assert expected_loss([r, 1 - r], discovery=[P1, P2], decision=decide(coin)) == pytest.approx(flipped, abs=1e-12)
    assert expected_loss([r, 1 - r], discovery=[P1, P2]) == pytest.approx(flipped, abs=1e-12)
    if abs(P1 - P2) > 1e-9:
        for decision in (decide(naive), decide(coin), "uniform"):
            assert best_assignment([P1, P2], decision).tolist() == ([0, 1] if P1 > P2 else [1, 0])


# ------------------------------------------------------------------------------------------------ unknown attacker


@settings(max_examples=60, deadline=None)
@given(y=st.integers(1, 6), seed=seeds)
def test_no_attacker_exceeds_the_bound_and_one_reaches_it(y, seed):
    r, P, table, rng = random_case(y, seed)
    u = rng.uniform(0, 3, y)
    bound = worst_loss(r, loss=u)
    assert literal_loss(r, P, table, u) <= bound + 1e-13
    worst = {m: np.eye(y)[np.argmax(np.where(m, r * u, -1))] * (sum(m) > 0) for m in sets(y)}
    assert literal_loss(r, np.ones(y), worst, u) == pytest.approx(bound, abs=1e-13)
    # theorem 3, (6.11), (6.13) to (6.15); u / k of k-anonymity (6.10)
    assert literal_loss(np.full(y, 1 / y), P, table) <= worst_loss(np.full(y, 1 / y)) + 1e-13
    assert worst_loss(np.full(y, 1 / y), loss=4.0) == pytest.approx(4.0 / y)


@given(st.lists(probability, min_size=1, max_size=8))
def test_chances_of_what_is_found_sum_to_1(P):
    # (6.6) and the step to (6.15): an attacker who always believes somebody, nobody found excepted
    missed = math.prod(1 - p for p in P)
    assert acceptance(P, decide(even(len(P)))).sum() == pytest.approx(1 - missed, abs=1e-12)


# ------------------------------------------------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: equilibrium(0), "y is 0"),
        (lambda: equilibrium(2, loss=[1.0, 0.0]), "a loss is 0"),
        (lambda: equilibrium(2, gain=[1.0, 1.0, 1.0]), "gain has shape"),
        (lambda: expected_loss([0.6, 0.6], discovery=[0.5, 0.5]), "assignment sums to 1.2"),
        (lambda: expected_loss([1.0], discovery=[0.5, 0.5]), "1 assignments and 2 discoveries"),
        (lambda: expected_loss([0.5, 0.5], discovery=[0.5, 1.5]), "discovery has a value outside"),
        (lambda: expected_loss([0.5, 0.5], discovery=[0.5, math.nan]), "discovery has a value outside"),
        (lambda: expected_loss([0.5, 0.5], discovery=[0.5, 0.5], loss=-1), "loss is not a finite amount"),
        (lambda: expected_loss(["a", "b"], discovery=[0.5, 0.5]), "assignment is not made of numbers"),
        (lambda: acceptance([0.5, 0.5], "random"), "decision is 'random'"),
        (lambda: acceptance([0.5, 0.5], [0.7, 0.7]), "sum to more than 1"),
        (lambda: acceptance([0.5, 0.5], np.zeros((3, 2))), r"decision has shape \(3, 2\)"),
        (lambda: acceptance([0.5, 0.5], lambda result: [1, 0]), "believes an identity that was not discovered"),
        (lambda: acceptance([0.5, 0.5], lambda result: result * 1.0), "sums to more than 1"),
        (lambda: acceptance([0.5, 0.5], lambda result: [0.0]), "a decision has shape"),
        (lambda: acceptance([0.5] * 19, lambda result: result * 0.0), "19 identities"),
        (lambda: worst_loss([]), "assignment has shape"),
    ],
)
def test_wrong_use_is_named(call, message):
    with pytest.raises(UnmaskError, match=message):
        call()
