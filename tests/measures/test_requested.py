"""Measures on request, by name and number, against literal formulas on random channels."""

import math

import numpy as np
import pytest

import unmask
from unmask import Posterior, UnmaskError
from unmask.channels import Channel
from unmask.measures.requested import parse_measures
from unmask.scoring import score


def random_channels(n):
    """Yield a prior and p(output given secret), some outputs of which some secrets never show."""
    rng = np.random.default_rng(12)
    for _ in range(n):
        n_secrets, n_outputs = rng.integers(2, 6, 2)
        table = rng.integers(0, 5, (n_secrets, n_outputs)) + (rng.random((n_secrets, 1)) < 0.6)
        table[:, 0] += 1
        prior = rng.integers(1, 5, n_secrets)
        yield prior / prior.sum(), table / table.sum(axis=1, keepdims=True)


def sibson(prior, table, order):
    """Return the definition, term by term."""
    total = 0.0
    for y in range(table.shape[1]):
        inner = sum(p * row[y] ** order for p, row in zip(prior, table, strict=True) if row[y] > 0)
        total += inner ** (1 / order)
    return order / (order - 1) * math.log2(total)


@pytest.mark.parametrize("order", [0.5, 2, 3.5])
def test_sibson_leakage_is_its_definition(order):
    (measure,) = parse_measures([f"sibson_leakage_bits:{order}"])
    for prior, table in random_channels(100):
        assert measure(Channel(table, prior).posterior()) == pytest.approx(sibson(prior, table, order), abs=1e-6)


def test_leakages_of_a_channel_are_their_definitions():
    smallest, largest = parse_measures(["min_entropy_leakage_bits", "maximal_leakage_bits"])
    for prior, table in random_channels(100):
        belief = Channel(table, prior).posterior()
        right = sum(max(p * row[y] for p, row in zip(prior, table, strict=True)) for y in range(table.shape[1]))
        assert smallest(belief) == pytest.approx(math.log2(right / max(prior)), abs=1e-6)
        assert largest(belief) == pytest.approx(math.log2(sum(table.max(axis=0))), abs=1e-6)


def test_degrees_of_anonymity_of_a_channel_are_their_definitions():
    diaz, local, renyi, confident = parse_measures(
        ["diaz_degree", "local_anonymity", "renyi_entropy_bits:2", "confidence_set_size:0.8"]
    )
    for prior, table in random_channels(100):
        belief = Channel(table, prior).posterior()
        joint = prior[:, None] * table
        seen = [(column.sum(), column / column.sum()) for column in joint.T if column.sum() > 0]
        entropies = [-sum(q * math.log2(q) for q in row if q > 0) for _, row in seen]
        collisions = [-math.log2(sum(q * q for q in row)) for _, row in seen]
        chance = [p for p, _ in seen]
        assert diaz(belief) == pytest.approx(np.dot(chance, entropies) / math.log2(len(prior)), abs=1e-6)
        assert local(belief) == pytest.approx(max(max(row) for _, row in seen), abs=1e-6)
        assert renyi(belief) == pytest.approx(np.dot(chance, collisions), abs=1e-6)
        sizes = [1 + int(np.sum(np.cumsum(np.sort(row)[::-1]) < 0.8 - 1e-9)) for _, row in seen]
        assert confident(belief) == pytest.approx(np.dot(chance, sizes), abs=1e-6)


def test_sibson_leakage_grows_with_the_order_from_information_to_maximal_leakage():
    orders = [0.5, 1, 1.5, 2, 8, 50, math.inf]
    for prior, table in random_channels(30):
        belief = Channel(table, prior).posterior()
        leaks = [measure(belief) for measure in parse_measures(f"sibson_leakage_bits:{order}" for order in orders)]
        assert np.all(np.diff(leaks) >= -1e-6)


def test_measures_that_need_probabilities_are_not_run_on_scores():
    belief = Posterior.from_dense(np.array([[0.6, 0.4]]), status="scores")
    names = ["reiter_rubin_degree", "effective_set_size", "local_anonymity", "sibson_leakage_bits:2"]
    audited = score(belief, unmask.Truth([0]), measures=parse_measures(names))
    assert not audited.rows
    assert len(audited.not_run) == 4
    assert all("scores" in reason for _, reason in audited.not_run)


def test_a_policy_that_names_a_measure_takes_it():
    channel = Channel(np.array([[0.75, 0.25], [0.25, 0.75]]))
    result = unmask.audit(channel, policy="maximal_leakage_bits <= 0.6", measures=["diaz_degree"])
    taken = {row["measure"]: row["posterior"] for row in result.results}
    assert taken["maximal_leakage_bits"] == pytest.approx(math.log2(1.5), abs=1e-6)
    assert taken["diaz_degree"] == pytest.approx(0.811278, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("renyi_entropy_bits", "lacks its number; write renyi_entropy_bits:NUMBER"),
        ("renyi_entropy_bits:two", "lacks its number"),
        ("renyi_entropy_bits:-1", "expected a number at least 0"),
        ("sibson_leakage_bits:0", "expected a number above 0"),
        ("confidence_set_size:1.5", "expected a number above 0 and at most 1"),
        ("diaz_degre", "did you mean 'diaz_degree'"),
        ("zzz", "unmask list"),
    ],
)
def test_an_unknown_measure_is_one_clear_sentence(name, sentence):
    with pytest.raises(UnmaskError, match=sentence):
        parse_measures([name])
