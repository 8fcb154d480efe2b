"""Smallest class of every pair and triple of quasi-identifiers, as a criterion and as a requirement of suppression."""

from itertools import combinations

import numpy as np
import pytest

import unmask
from unmask.core.errors import UnmaskError
from unmask.measures import log_loss_bits
from unmask.tables import MechanismAttack, SuppressCells, Table
from unmask.tables.background import Background
from unmask.tables.criteria import smallest_class_of_subsets
from unmask.tables.knowledge import Knowledge


def draw_people(seed, n_rows=80):
    """Return the rows of a table with four columns, whose rare values few people have."""
    return np.minimum(np.random.default_rng(seed).geometric(0.4, (n_rows, 4)), 5).astype(str)


def read(rows):
    columns = {f"c{number}": column for number, column in enumerate(rows.T)}
    return Table.read(columns, quasi_identifiers=list(columns), types=dict.fromkeys(columns, "text"))


def count_candidates(released, subset):
    """Return the rows that agree with each row in some columns, where `*` agrees with every value."""
    first, second = released[None][:, :, subset], released[:, None][:, :, subset]
    return ((first == second) | (first == "*") | (second == "*")).all(axis=2).sum(axis=1)


@pytest.mark.parametrize("seed", range(8))
def test_every_subset_of_a_suppressed_release_has_the_required_size(seed):
    people = draw_people(seed)
    release, _ = unmask.protect(read(people), protection=SuppressCells(k=1, k_pairs=6, k_triples=3))
    released = np.stack([release[f"c{number}"] for number in range(4)], axis=1)
    for size, k in ((2, 6), (3, 3)):
        smallest = min(count_candidates(released, list(subset)).min() for subset in combinations(range(4), size))
        assert smallest_class_of_subsets(release, size) == smallest >= k


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_smallest_class_of_subsets_is_that_of_its_definition(size):
    people = draw_people(9, n_rows=300)
    smallest = min(count_candidates(people, list(subset)).min() for subset in combinations(range(4), size))
    assert smallest_class_of_subsets(read(people), size) == smallest


def count_stars(release):
    return sum(int((release[name] == "*").sum()) for name in release.names)


def test_the_cheaper_of_subsets_and_all_columns_is_taken():
    people = read(draw_people(10, n_rows=400))
    counts = {
        name: count_stars(SuppressCells(**required)(people)[0])
        for name, required in {"pairs": {"k": 1, "k_pairs": 4}, "both": {"k": 4, "k_pairs": 4}, "k": {"k": 4}}.items()
    }
    assert counts["pairs"] < counts["k"] == counts["both"]


def test_a_policy_about_pairs_is_judged_and_other_audits_do_not_count_them():
    people = read(draw_people(11))
    release, _ = SuppressCells(k=1, k_pairs=5)(people)
    states = [unmask.audit(table, policy="k_pairs >= 5").verdicts[0].state for table in (people, release)]
    assert states == ["not acceptable", "acceptable"]
    assert "k_pairs" not in unmask.audit(people).criteria["release"]
    assert unmask.audit(people, measures=["k_triples"]).criteria["release"]["k_triples"] == 1


def test_a_release_whose_pairs_cannot_reach_the_size_is_refused():
    people = read(draw_people(12))
    with pytest.raises(UnmaskError, match="leaves k_pairs = 1, expected at least 5"):
        unmask.protect(people, protection=SuppressCells(k=1, k_pairs=5, columns="c0"))


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_an_adversary_who_knows_the_method_never_excludes_the_right_row(seed):
    people, protection = read(draw_people(seed, n_rows=150)), SuppressCells(k=1, k_pairs=8)
    release, origin = protection(people, rng=np.random.default_rng(3))
    knowledge = Knowledge(None)(people, origin, rng=np.random.default_rng(2))
    belief = MechanismAttack(protection)(release, Background(knowledge.people))
    assert np.isfinite(log_loss_bits(belief, knowledge.truth))
