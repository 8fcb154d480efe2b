"""The pass as SQL against the compiled one, pair for pair."""

from __future__ import annotations

import numpy as np
import pytest

from tests.graphs.test_attacks import graph, noisy_pair
from unmask import UnmaskError
from unmask.files import engine
from unmask.graphs import datasets
from unmask.graphs.attacks import Nar09
from unmask.graphs.attacks.superstep_sql import load, propagate, statements, superstep
from unmask.graphs.knowledge import select_seeds, split


@pytest.mark.parametrize("theta", [0.0, 0.01, 0.37, 1.13, 1.5])
def test_a_whole_attack_finds_the_pairs_of_nar09(theta):
    rng = np.random.default_rng(23)
    for _ in range(4):
        source, target, truth = noisy_pair(rng, n_nodes=150, degree=8.0, kept=0.8)
        seeds = (truth[0][:14], truth[1][:14])
        belief = Nar09(theta=theta, synchronous=True)(target, source, seeds)
        mapping, sweeps = propagate(target, source, seeds, theta=theta)
        assert mapping.tolist() == belief.mapping.tolist()
        assert sweeps.tolist() == belief.sweeps.tolist()
        assert theta > 1 or np.sum(mapping >= 0) > 14


@pytest.mark.slow
def test_a_whole_attack_on_a_network_of_7115_people_finds_the_pairs_of_nar09():
    pair = split(datasets.network("wiki-vote"), 0.5, 0.75, np.random.default_rng(1))
    seeds = select_seeds(pair, "random.25", 200, np.random.default_rng(2))
    belief = Nar09(synchronous=True)(pair.target, pair.source, seeds)
    mapping, sweeps = propagate(pair.target, pair.source, seeds)
    assert mapping.tolist() == belief.mapping.tolist()
    assert sweeps.tolist() == belief.sweeps.tolist()
    assert np.sum(mapping >= 0) > 1000


def test_a_single_candidate_is_taken_and_twins_are_left_open():
    star = graph(4, [(0, 1), (0, 2), (3, 0)])
    assert propagate(star, star, (np.array([0]), np.array([0])))[0].tolist() == [0, -1, -1, -1]
    seeds = (np.array([0, 1, 2]), np.array([0, 2, 1]))
    assert propagate(star, star, seeds)[0].tolist() == [0, 2, 1, 3]


def test_scores_that_differ_by_rounding_are_tied():
    """S = 1 / sqrt(3) and S = 3 / sqrt(27), as in the test of the compiled pass."""
    source = graph(4, [(3, 0), (3, 1), (3, 2)])
    edges = [(3, 0), (3, 1), (3, 2), (4, 0)] + [(3, 5 + i) for i in range(24)] + [(4, 29), (4, 30)]
    assert propagate(graph(31, edges), source, (np.arange(3), np.arange(3)))[0].tolist() == [0, 1, 2, -1]


def test_the_statements_are_plain_sql_that_leave_nothing_but_the_mapping_behind():
    """Nothing that is DuckDB's alone: no lists, no qualify, no create or replace, no temporary tables."""
    text = " ".join(statements(theta=0.5)).lower()
    assert not any(word in text for word in ("qualify", "replace", "temp", "filter", "list", "using", "["))
    source, target, truth = noisy_pair(np.random.default_rng(3), n_nodes=60)
    with engine() as connection:
        load(connection, target, source, (truth[0][:12], truth[1][:12]))
        found = superstep(connection)
        tables = {row[0] for row in connection.execute("show tables").fetchall()}
        assert tables == {"source_link", "target_link", "mapping"}
        assert found == Nar09(synchronous=True)(target, source, (truth[0][:12], truth[1][:12])).sweeps[0] > 0


def test_seeds_and_thresholds_that_make_no_sense_are_refused():
    path = graph(2, [(0, 1)])
    with pytest.raises(UnmaskError, match="there are no seeds"):
        propagate(path, path, (np.array([], dtype=int), np.array([], dtype=int)))
    with pytest.raises(UnmaskError, match="theta is -1"):
        statements(theta=-1)
