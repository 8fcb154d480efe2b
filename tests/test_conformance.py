"""What every attack on tables, protection of tables and measure must do, walked over the catalog."""

from dataclasses import replace

import numpy as np
import pytest

from unmask import Truth, audit
from unmask.catalog import ATTACKS, MEASURES, PROTECTIONS
from unmask.measures import evaluate, realized_success
from unmask.tables import Generalize, Knowledge, Table
from unmask.tables import attacks as attacks_module
from unmask.tables import protections as protections_module

OF_TABLES = [name for name in ATTACKS if name.startswith("tables.")]
NO_LINKS = ("tables.RegisterAttack", "tables.OrderAttack", "tables.AttributeInference")
LINKS = [name for name in OF_TABLES if name not in NO_LINKS]
PROTECT_TABLES = [name for name in PROTECTIONS if name.startswith("tables.")]


def people(n, seed=0, *, distinct=False):
    rng = np.random.default_rng(seed)
    columns = {
        "age": np.arange(n) if distinct else rng.integers(20, 40, n),
        "sex": rng.choice(["f", "m"], n),
        "diagnosis": rng.choice(["asthma", "flu", "gout"], n, p=[0.2, 0.5, 0.3]),
    }
    return Table.read(columns, quasi_identifiers=("age", "sex"), sensitive="diagnosis")


def known_of(table, origin, seed=1):
    return Knowledge(targets=50)(table, origin, rng=np.random.default_rng(seed))


def same(a, b):
    assert a.indptr.tolist() == b.indptr.tolist()
    assert a.candidate.tolist() == b.candidate.tolist()
    assert a.log_probability.tolist() == b.log_probability.tolist()
    assert a.observation.tolist() == b.observation.tolist()


def by_target(belief, n):
    """(n_targets, n_candidates) dense."""
    table = np.zeros((belief.n_observations, n))
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    table[row, belief.candidate] = np.exp(belief.log_probability)
    return table[belief.observation]


@pytest.mark.parametrize("name", OF_TABLES)
def test_attack_is_reproducible_documented_and_leaves_its_input_alone(name):
    attack, table = ATTACKS[name], people(200)
    known = known_of(table, np.arange(200)).auxiliary
    before = [column.codes.copy() for column in table.columns]
    same(attack(table, known), attack(table, known))
    assert all(np.array_equal(old, column.codes) for old, column in zip(before, table.columns, strict=True))
    assert eval(repr(attack), {**vars(attacks_module), **vars(attacks_module.noisy)}) == attack
    doc = type(attack).__doc__
    assert ">>>" in doc or "Fellegi" in doc or "R. Pasupuleti" in doc
    assert len(doc.split()) > 30


@pytest.mark.parametrize("name", LINKS)
def test_permuting_the_release_permutes_the_candidates(name):
    table = people(120)
    known = known_of(table, np.arange(120)).auxiliary
    order = np.random.default_rng(2).permutation(120)
    plain = by_target(ATTACKS[name](table, known), 120)
    permuted = by_target(ATTACKS[name](table.take(order), known), 120)
    assert np.allclose(permuted, plain[:, order], atol=1e-6)


@pytest.mark.parametrize("name", LINKS)
def test_all_rows_alike_give_no_gain(name):
    table = Table.read({"age": [30] * 40, "sex": ["f"] * 40}, quasi_identifiers=("age", "sex"))
    known = known_of(table, np.arange(40))
    row = audit(ATTACKS[name](table, known.auxiliary), known.truth).row("realized_success")
    assert row.gain == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("name", LINKS)
def test_full_knowledge_of_unique_rows_finds_everyone(name):
    table = people(60, distinct=True)
    known = known_of(table, np.arange(60))
    assert audit(ATTACKS[name](table, known.auxiliary), known.truth).row("realized_success").posterior == 1


@pytest.mark.parametrize("name", LINKS)
def test_a_release_about_other_people_gives_no_gain(name):
    released, others = people(300, seed=3), people(300, seed=4)
    known = known_of(others, np.arange(300))
    belief = ATTACKS[name](released, known.auxiliary)
    rng = np.random.default_rng(5)
    found = np.array([realized_success.per_target(belief, Truth(rng.integers(0, 300, 50))) for _ in range(40)])
    assert abs(found.mean() - 1 / 300) < 4 * found.std() / np.sqrt(found.size)


def test_suppressed_targets_are_never_found():
    table = people(100)
    known = known_of(table, np.arange(100))
    rest = np.flatnonzero(~np.isin(np.arange(100), known.person))
    for name in LINKS:
        belief = ATTACKS[name](table.take(rest), known.auxiliary)
        found = evaluate(realized_success, belief, known.truth_in(rest))
        assert found.posterior == 0, name


@pytest.mark.parametrize("name", PROTECT_TABLES)
def test_protection_is_seeded_valid_and_leaves_its_input_alone(name):
    protection, table = PROTECTIONS[name], people(400)
    before = [column.codes.copy() for column in table.columns]
    released, origin = protection(table, rng=np.random.default_rng(0))
    again, origin_again = protection(table, rng=np.random.default_rng(0))
    assert origin.tolist() == origin_again.tolist()
    assert all(a.codes.tolist() == b.codes.tolist() for a, b in zip(released.columns, again.columns, strict=True))
    assert all(np.array_equal(old, column.codes) for old, column in zip(before, table.columns, strict=True))
    assert len(np.unique(origin)) == len(origin) == released.n_rows
    assert eval(repr(protection), vars(protections_module)) == protection
    true = np.array(table.column("diagnosis").levels.labels)[table.column("diagnosis").codes[origin]]
    kept = np.array(released.column("diagnosis").levels.labels)[released.column("diagnosis").codes]
    assert true.tolist() == kept.tolist()


@pytest.mark.parametrize("name", PROTECT_TABLES)
def test_containment_never_loses_a_released_person(name):
    table = people(400)
    released, origin = PROTECTIONS[name](table, rng=np.random.default_rng(0))
    known = Knowledge(targets=None)(table, origin, rng=np.random.default_rng(1))
    belief = ATTACKS["tables.ClassAttack"](released, known.auxiliary)
    row = audit(belief, known.truth).row("log_loss_bits")
    assert np.isfinite(row.posterior)


def test_the_identity_setting_of_a_protection_is_the_identity():
    table = people(50)
    for protection in (PROTECTIONS["tables.Identity"], Generalize()):
        released, origin = protection(table, rng=np.random.default_rng(0))
        for column, original in zip(released.columns, table.columns, strict=True):
            labels = np.array(column.levels.labels)[column.codes]
            assert labels.tolist() == np.array(original.levels.labels)[original.codes[origin]].tolist()


@pytest.mark.parametrize("name", MEASURES)
def test_measure_declares_itself(name):
    measure = MEASURES[name]
    assert measure.name == name
    assert measure.label
    assert measure.meaning
    assert measure.range[0] < measure.range[1]


def test_exact_beliefs_average_to_the_prior():
    """E_Y p(x given y) = p(x): the martingale test, on targets who are the population."""
    table = people(300)
    belief = ATTACKS["tables.ClassAttack"](table, replace(table, sensitive=()))
    mean = belief.weight @ by_target(belief, 300)
    assert np.allclose(mean, 1 / 300, atol=1e-8)
