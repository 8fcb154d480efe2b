"""Suppression of linked tables, held against enumeration of all tables and of all patterns."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.aggregates import AggregateRelease, Domain, Rule, tabulate
from unmask.aggregates.protections import (
    Demand,
    LinkedCells,
    RoundCounts,
    SuppressSmallCounts,
    compute_intervals,
    outsider,
    suppress_cells,
)
from unmask.aggregates.protections.count_protections import publish
from unmask.core.errors import FailedError

DOMAIN = Domain({"sex": ("f", "m"), "age": ("child", "adult", "old"), "ill": ("no", "yes")})


def cross(shape):
    """The rows of a table with all its totals."""
    factors = [np.vstack([np.eye(size), np.ones((1, size))]) for size in shape]
    matrix = factors[0]
    for factor in factors[1:]:
        matrix = np.kron(matrix, factor)
    return matrix


def enumerate_values(rows, low, high, most):
    """All values of the cells over tables of at most `most` records that agree with the bounds."""
    atoms = count_tables(rows.shape[1], most)
    values = atoms @ rows.T
    return values[((values >= low) & (values <= high)).all(axis=1)]


@cache
def count_tables(n_atoms, most):
    if n_atoms == 1:
        return np.arange(most + 1)[:, None]
    parts = [(first, count_tables(n_atoms - 1, most - first)) for first in range(most + 1)]
    return np.concatenate([np.column_stack([np.full(len(rest), first), rest]) for first, rest in parts])


def outsider_demands(cells, sensitive, threshold):
    knowledge = outsider(len(cells.atoms))
    return [Demand(int(cell), threshold - cells.values[cell], knowledge) for cell in np.flatnonzero(sensitive)]


COLUMNS = (("sex", "age"), ("sex",), ("age",), ())


@given(st.lists(st.integers(0, 2), min_size=6, max_size=6), st.lists(st.booleans(), min_size=11, max_size=11))
@settings(max_examples=15, deadline=None)
def test_intervals_are_those_of_all_tables_that_agree_with_the_release(counts, suppressed):
    domain = Domain({"sex": ("f", "m"), "age": ("child", "adult", "old")})
    rows = [place for place, count in zip(product("fm", ("child", "adult", "old")), counts, strict=True)
            for _ in range(count)]  # fmt: skip
    if not rows:
        return
    records = dict(zip(("sex", "age"), np.array(rows).T, strict=True))
    exact = AggregateRelease(domain, tuple(tabulate(records, columns, Rule(), domain) for columns in COLUMNS))
    values = exact.matrix @ exact.cell_counts(records)[0]
    hidden = np.array([*suppressed, False])  # a known total bounds the enumeration
    release = publish(exact, Rule(zeros="hidden", secondary=True), values[None].astype(float), hidden[None])
    low, high = release.bounds()
    every = enumerate_values(exact.matrix.toarray(), low, high, int(values[-1]))
    found = compute_intervals(release, 0, np.arange(12))
    assert found.tolist() == np.stack([every.min(axis=0), every.max(axis=0)], axis=1).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_intervals_of_tables_that_share_a_column_are_those_of_their_cross(seed):
    rng = np.random.default_rng(seed)
    domain = Domain({"block": ("x", "y"), "sex": ("f", "m"), "ill": ("no", "yes")})
    records = {name: rng.choice(np.array(labels), 7) for name, labels in domain.categories.items()}
    linked = [("block", "sex"), ("block", "ill"), ("block",), ("sex",), ("ill",), ()]
    exact = AggregateRelease(domain, tuple(tabulate(records, columns, Rule(), domain) for columns in linked))
    release = RoundCounts(3)(exact, exact.cell_counts(records), rng=rng)
    low, high = release.bounds()
    every, cells = enumerate_values(exact.matrix.toarray(), low, high, int(high[-1])), np.arange(len(low))
    found = compute_intervals(release, 0, cells)
    assert found.tolist() == np.stack([every.min(axis=0), every.max(axis=0)], axis=1).tolist()
    assert np.isnan(compute_intervals(release, 0, cells, seconds=0.0)).all()


@given(st.lists(st.integers(1, 4), min_size=4, max_size=4))
@settings(max_examples=5, deadline=None)
def test_a_pattern_without_gap_is_the_cheapest_of_all_patterns(counts):
    rows = sp.csr_array(cross((2, 2)))
    cells = LinkedCells(rows, np.array(counts, dtype=float), np.ones(9), integer=True)
    sensitive = cells.values < 3
    demands, weights = outsider_demands(cells, sensitive, 3), 1 + cells.values / cells.values.sum()
    chosen = suppress_cells(cells, sensitive, demands, weights, seconds=30)
    assert chosen.gap == 0
    assert chosen.cost == pytest.approx(weights[chosen.hidden].sum())

    def is_safe(hidden):
        low, high = np.where(hidden, 1, cells.values), np.where(hidden, 20, cells.values)
        every = enumerate_values(rows.toarray(), low, high, 20)
        return all((every[:, demand.cell] >= 3).any() for demand in demands)

    others = np.flatnonzero(~sensitive)
    for size in range(len(others) + 1):
        for extra in combinations(others, size):
            hidden = sensitive.copy()
            hidden[list(extra)] = True
            if weights[hidden].sum() < chosen.cost - 1e-9:
                assert not is_safe(hidden)
    assert is_safe(chosen.hidden)


@pytest.mark.parametrize("zeros", ["shown", "hidden"])
@pytest.mark.parametrize("seconds", [0.0, 5.0])
def test_no_suppressed_count_is_known_to_be_below_the_threshold(zeros, seconds):
    rng = np.random.default_rng(5)
    records = {name: rng.choice(np.array(labels), 40) for name, labels in DOMAIN.categories.items()}
    linked = [("sex", "age"), ("age", "ill"), ("sex", "ill"), ("age",), ("sex",), ("ill",), ()]
    exact = AggregateRelease(DOMAIN, tuple(tabulate(records, columns, Rule(), DOMAIN) for columns in linked))
    protection = SuppressSmallCounts(7, zeros=zeros, sliding=4, seconds=seconds)
    release = protection(exact, exact.cell_counts(records))
    low, high = release.bounds()
    values = exact.matrix @ exact.cell_counts(records)[0]
    assert ((low <= values) & (values <= high)).all()
    small = np.flatnonzero((values < 7) & ((values > 0) | (zeros == "hidden")))
    assert len(small) > 3
    ends = compute_intervals(release, 0, small)
    assert (ends[:, 1] >= 7).all()
    assert (ends[:, 0] <= np.maximum(values[small] - 1, int(zeros == "shown"))).all()
    assert (ends[:, 1] - ends[:, 0] >= 4).all()


def test_heuristic_pattern_is_within_the_proven_bound():
    rng = np.random.default_rng(2)
    rows = cross((4, 4))
    atoms = rng.integers(1, 9, 16).astype(float)
    cells = LinkedCells(sp.csr_array(rows), atoms, np.ones(25), integer=True)
    sensitive = cells.values < 3
    arguments = cells, sensitive, outsider_demands(cells, sensitive, 3), np.ones(25)
    quick, best = suppress_cells(*arguments, seconds=0), suppress_cells(*arguments, seconds=30)
    assert quick.bound <= best.bound <= best.cost <= quick.cost
    assert best.gap == 0


def test_a_demand_that_no_pattern_meets_is_an_error():
    cells = LinkedCells(sp.csr_array(np.eye(1)), np.array([2.0]), np.ones(1), integer=True)
    demand = Demand(0, -2.0, outsider(1))
    with pytest.raises(FailedError, match="coarser tables"):
        suppress_cells(cells, np.array([True]), [demand], np.ones(1))


def test_a_total_of_cells_that_are_at_least_one_is_not_asked_to_be_smaller():
    records = {"sex": ["f", "m", *"f" * 9, *"m" * 9], "age": ["old", "old", *["child"] * 18], "ill": ["no"] * 20}
    exact = AggregateRelease(
        DOMAIN, tuple(tabulate(records, columns, Rule(), DOMAIN) for columns in [("sex", "age"), ("sex",), ("age",)])
    )
    release = SuppressSmallCounts(5, seconds=0)(exact, exact.cell_counts(records))
    old = 6 + 2 + 2  # the total of the old, two people of different sex
    low, high = compute_intervals(release, 0, np.array([old]))[0]
    assert low == 2
    assert high >= 5
