"""Degrees of anonymity of senders: published definitions, and the traps that belong to them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import ABSENT, Posterior, Truth, UnmaskError
from unmask.measures import effective_set_size, renyi_entropy, shannon_entropy_bits, success_probability
from unmask.measures.anonymity import (
    ReiterRubin,
    anonymity_set_bits,
    diaz_degree,
    local_anonymity,
    reiter_rubin,
    reiter_rubin_degree,
)
from unmask.measures.entropy import renyi_entropies


def levels(row, **options):
    belief = Posterior.from_dense(np.tile(row, (len(row), 1)))
    return [ReiterRubin(v).name for v in reiter_rubin(belief, Truth(np.arange(len(row))), **options)]


@st.composite
def senders(draw):
    n = draw(st.integers(2, 6))
    rows = draw(st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any), min_size=1, max_size=4))
    table = np.array(rows, dtype=float)
    return table / table.sum(axis=1, keepdims=True)


def test_the_whole_scale():
    assert levels([1.0, 0.0]) == ["PROVABLY_EXPOSED", "ABSOLUTE_PRIVACY"]
    assert levels([0.96, 0.04]) == ["EXPOSED", "BEYOND_SUSPICION"]
    assert levels([0.9, 0.1]) == ["POSSIBLE_INNOCENCE", "BEYOND_SUSPICION"]
    assert levels([0.9, 0.1], exposed=0.9) == ["EXPOSED", "BEYOND_SUSPICION"]
    assert levels([0.4, 0.35, 0.25]) == ["PROBABLE_INNOCENCE", "PROBABLE_INNOCENCE", "BEYOND_SUSPICION"]
    assert levels([0.25] * 4) == ["BEYOND_SUSPICION"] * 4
    assert levels([0.5, 0.5]) == ["BEYOND_SUSPICION"] * 2
    assert ReiterRubin.ABSOLUTE_PRIVACY > ReiterRubin.BEYOND_SUSPICION > ReiterRubin.PROVABLY_EXPOSED


def test_a_small_chance_is_not_beyond_suspicion():
    row = np.full(200, 0.99 / 199)
    row[7] = 0.01
    assert levels(row)[7] == "PROBABLE_INNOCENCE"
    # somebody who was ruled out is less suspect than everybody else
    assert levels([0.5, 0.5, 0.0])[0] == "PROBABLE_INNOCENCE"


def test_crowds_probable_innocence():
    # Reiter & Rubin 1998, theorem 5.2: n >= p_f (c + 1) / (p_f - 1/2) gives probable innocence before c collaborators
    for n, c, p_f, innocent in ((10, 1, 0.75, True), (6, 1, 0.75, True), (5, 1, 0.75, False), (20, 4, 0.75, True)):
        p_observed = 1 - p_f * (n - c - 1) / n  # P(predecessor is the initiator | a collaborator is on the path)
        row = np.full(n - c, (1 - p_observed) / (n - c - 1))
        row[0] = p_observed
        assert (levels(row)[0] in ("PROBABLE_INNOCENCE", "BEYOND_SUSPICION")) is innocent


def test_the_scale_refuses_what_has_no_place_on_it():
    belief = Posterior.from_dense(np.array([[0.5, 0.5]]))
    with pytest.raises(UnmaskError, match="no sender"):
        reiter_rubin(belief, Truth([ABSENT]))
    with pytest.raises(UnmaskError, match="exposed"):
        reiter_rubin(belief, Truth([0]), exposed=0.4)


@settings(max_examples=80, deadline=None)
@given(senders(), st.data())
def test_the_degree_is_one_minus_p(table, data):
    sender = np.array([data.draw(st.integers(0, table.shape[1] - 1)) for _ in table])
    belief = Posterior.from_dense(table)
    degree = reiter_rubin_degree.per_target(belief, Truth(sender))
    p = table[np.arange(len(table)), sender]
    assert degree == pytest.approx(1 - p, abs=1e-6)
    level = reiter_rubin(belief, Truth(sender))
    assert np.all((level >= ReiterRubin.PROBABLE_INNOCENCE) == (p <= 0.5 + 1e-6))
    assert np.all((level >= ReiterRubin.BEYOND_SUSPICION) == ((p <= table.min(axis=1) + 1e-6) & (p <= 0.5 + 1e-6)))


@settings(max_examples=80, deadline=None)
@given(senders())
def test_toth_bounds_the_entropy_and_diaz_is_a_share(table):
    belief = Posterior.from_dense(table)
    theta = local_anonymity(belief)
    assert theta == pytest.approx(table.max(), abs=1e-6)
    assert np.all(shannon_entropy_bits.per_target(belief) >= -np.log2(theta) - 1e-6)
    degree = diaz_degree().per_target(belief)
    assert np.all((degree >= 0) & (degree <= 1))
    assert degree == pytest.approx(shannon_entropy_bits.per_target(belief) / anonymity_set_bits(belief), abs=1e-6)
    assert effective_set_size.per_target(belief) == pytest.approx(2 ** shannon_entropy_bits.per_target(belief))
    assert renyi_entropy(3).per_target(belief) == pytest.approx(renyi_entropies(belief, (3,))[0])


def test_a_high_entropy_does_not_bound_theta():
    # half the mass on one, the rest over many: Toth, Hornak & Vajda 2004, section 3
    row = np.append(0.5, np.full(4096, 0.5 / 4096))
    belief = Posterior.from_dense(row[None])
    assert shannon_entropy_bits.per_target(belief)[0] == pytest.approx(1 + 0.5 * 12, abs=1e-4)
    assert local_anonymity(belief) == pytest.approx(0.5)


def test_diaz_at_the_edges():
    # N = 1 is 0/0 and counts as 0; N is the set before the attack, prior zeros left out
    assert diaz_degree().per_target(Posterior.from_dense(np.array([[1.0]]))).tolist() == [0]
    belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0]]), prior=np.array([0.5, 0.5, 0.0]))
    assert diaz_degree().per_target(belief) == pytest.approx([1])
    assert anonymity_set_bits(belief) == 1
    assert anonymity_set_bits(
        Posterior.from_dense(np.array([[0.2, 0.2]]), prior=np.array([0.4, 0.4]))
    ) == pytest.approx(np.log2(3))
    with pytest.raises(UnmaskError, match="0 users"):
        diaz_degree(0)


def test_toth_looks_only_at_observations_that_happen():
    belief = Posterior.from_dense(np.array([[1.0, 0.0], [0.5, 0.5]]), weight=np.array([0.0, 1.0]))
    assert local_anonymity(belief) == pytest.approx(0.5)
    assert success_probability.per_target(belief) == pytest.approx([1, 0.5])
