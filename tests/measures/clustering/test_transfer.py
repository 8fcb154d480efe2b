import heapq
import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from unmask.core.partition import Partition
from unmask.measures.clustering.metrics import (
    merge_distance,
    rand_distance,
    transfer_distance,
    variation_of_information,
)
from unmask.measures.clustering.overlap import overlap

labels = st.integers(1, 30).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 9), min_size=n, max_size=n) for _ in range(2)])
)


def unit_cost(x, y):
    return np.ones(np.broadcast(x, y).shape)


def pair_cost(x, y):
    return np.asarray(x * y, dtype=float)


def entropy_cost(x, y):
    return x * np.log2((x + y) / x) + y * np.log2((x + y) / y)


COSTS = [unit_cost, pair_cost, entropy_cost]


def folded(x, line, cost):
    """Return the cost of joining the cells of each line one after the other."""
    parts = [x[line == index] for index in set(line.tolist())]
    return sum(float(cost(part[j], part[:j].sum())) for part in parts for j in range(1, len(part)))


def sliced(table, *, split=unit_cost, merge=unit_cost):
    """The generalized merge distance (algorithm Slice): clusters are split into cells, cells merged into subjects."""
    return folded(table.shared, table.cluster, split) + folded(table.shared, table.subject, merge)


def table_of(p, q):
    return overlap(Partition(p), Partition(q))


def canonical(labels):
    distances = {}
    return tuple(distances.setdefault(a, len(distances)) for a in labels)


def all_partitions(n):
    return sorted({canonical(a) for a in itertools.product(range(n), repeat=n)})


def by_dense_assignment(table):
    dense = np.zeros((len(table.subject_size), len(table.cluster_size)))
    dense[table.subject, table.cluster] = table.shared
    return table.n - int(dense[linear_sum_assignment(dense, maximize=True)].sum())


def moves(p):
    """All partitions that differ from p in the place of one item."""
    return {canonical((*p[:i], a, *p[i + 1 :])) for i in range(len(p)) for a in range(len(p) + 1)}


def test_fewest_moves_by_breadth_first_search_over_all_partitions():
    partitions = all_partitions(5)
    assert len(partitions) == 52  # Bell(5)
    for start in partitions:
        distance, frontier = {start: 0}, [start]
        while frontier:
            step = {b: distance[a] + 1 for a in frontier for b in moves(a) if b not in distance}
            distance.update(step)
            frontier = list(step)
        for end in partitions:
            assert transfer_distance(table_of(start, end)) == distance[end]


@given(labels)
def test_equals_dense_assignment(partitions):
    table = table_of(*partitions)
    assert transfer_distance(table) == by_dense_assignment(table)


@given(labels, st.randoms())
def test_is_a_metric_up_to_n_minus_1(partitions, random):
    p, q = partitions
    r = random.choices(range(6), k=len(p))
    d_pq, d_qr, d_pr = (transfer_distance(table_of(*pair)) for pair in ((p, q), (q, r), (p, r)))
    assert d_pr <= d_pq + d_qr
    assert d_pq == transfer_distance(table_of(q, p))
    assert (d_pq == 0) == (canonical(p) == canonical(q))
    assert d_pq <= len(p) - 1


@pytest.mark.parametrize(
    ("n", "rows", "columns"), [(3000, 300, 200), (500, 60, 90), (1500, 500, 450), (4000, 100, 1000), (400, 20, 20)]
)
@pytest.mark.parametrize("seed", range(3))
def test_random_tangles_of_every_density(n, rows, columns, seed):
    rng = np.random.default_rng(seed)
    table = table_of(rng.integers(0, rows, n), rng.integers(0, columns, n))
    assert transfer_distance(table) == by_dense_assignment(table)


def test_tangle_that_no_single_cell_settles_and_whose_overlaps_differ():
    # a ring of 400 subjects and 400 clusters with overlaps 3, 2, 3, 2, ...: keeping all the 3 is best, since 2 + 2 > 3
    # settles no cell; one overlap of 1 across the ring changes nothing
    size = np.tile([3, 2], 400)
    subject, cluster = np.arange(800) // 2, ((np.arange(800) + 1) // 2) % 400
    p, q = np.repeat(subject, size), np.repeat(cluster, size)
    table = table_of(np.append(p, 0), np.append(q, 200))
    assert transfer_distance(table) == 400 * 2 + 1


def test_windows_that_are_shifted_by_half():
    n = 200_000  # one path through all subjects and clusters, all overlaps 1
    table = table_of(np.arange(n) // 2, (np.arange(n) + 1) // 2)
    assert transfer_distance(table) == n // 2


def test_stars_are_answered_by_their_largest_cell():
    p = np.repeat([0, 1], [6, 6])
    q = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 4, 4])
    table = table_of(p, q)
    assert transfer_distance(table) == (6 - 3) + (6 - 4)
    assert transfer_distance(table_of(q, p)) == 5


@pytest.mark.parametrize(("p", "q", "expected"), [([0], [1], 0), ([0] * 9, range(9), 8), ([0, 1, 2], [2, 1, 0], 0)])
def test_ends_of_the_range(p, q, expected):
    assert transfer_distance(table_of(p, q)) == expected


def entity_resolution(n, share_moved, rng):
    """Subjects of geometric size, mean 4, and some of the items moved to the cluster of another subject."""
    size = rng.geometric(0.25, n)
    truth = np.repeat(np.arange(n), size)[:n]
    guess = truth.copy()
    moved_items = np.flatnonzero(rng.random(n) < share_moved)
    guess[moved_items] = rng.integers(0, truth[-1] + 1, len(moved_items))
    return table_of(truth, guess)


@pytest.mark.parametrize("share_moved", [0.1, 0.5, 1.0])
def test_large_and_sparse_in_well_under_a_second(share_moved):
    rng = np.random.default_rng(8)
    table = entity_resolution(100_000, share_moved, rng)
    start = time.perf_counter()
    distance = transfer_distance(table)
    assert time.perf_counter() - start < 5  # 0.03 s as measured; a dense table would need gigabytes
    if share_moved == 0.1:
        assert distance == pytest.approx(10_000, rel=0.05)  # nearly every moved item has to be moved back


def cheapest(start, goal, steps):
    """Dijkstra over partitions."""
    shortest, heap = {start: 0.0}, [(0.0, start)]
    while heap:
        cost, p = heapq.heappop(heap)
        if p == goal:
            return cost
        for price, r in steps(p):
            if cost + price < shortest.get(r, math.inf):
                shortest[r] = cost + price
                heapq.heappush(heap, (cost + price, r))
    raise AssertionError


def merges(p, cost):
    for a, b in itertools.combinations(sorted(set(p)), 2):
        sizes = np.array([p.count(a)]), np.array([p.count(b)])
        yield float(cost(*sizes)[0]), canonical([a if c == b else c for c in p])


@pytest.mark.parametrize("split", COSTS)
@pytest.mark.parametrize("merge", COSTS)
def test_merge_distance_by_search_over_all_orders_of_splits_and_merges(split, merge):
    partitions = all_partitions(4)
    for p, q in itertools.product(partitions, partitions):
        meet = canonical(zip(p, q, strict=True))
        down = cheapest(meet, q, lambda r: merges(r, split))  # splits run backwards
        up = cheapest(meet, p, lambda r: merges(r, merge))
        result = sliced(table_of(p, q), split=split, merge=merge)
        assert result == pytest.approx(down + up, abs=1e-12)


@given(labels)
def test_three_merge_distances_have_closed_forms(partitions):
    table = table_of(*partitions)
    n = table.n
    assert merge_distance(table) == sliced(table)
    by_pairs = sliced(table, split=pair_cost, merge=pair_cost)
    if n > 1:
        assert by_pairs == pytest.approx(rand_distance(table) * n * (n - 1) / 2)
    by_entropy = sliced(table, split=entropy_cost, merge=entropy_cost)
    assert by_entropy == pytest.approx(n * variation_of_information(table), abs=1e-9)


def test_merge_distance_of_equal_partitions_is_0():
    assert merge_distance(table_of([0, 0, 1], [1, 1, 0])) == 0


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_sparse_equals_dense_where_components_are_large(seed):
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 6, 150)
    guess = np.repeat(np.arange(150), size)
    guess = np.where(rng.random(len(guess)) < 0.8, rng.integers(0, 150, len(guess)), guess)
    repeat = rng.integers(1, 4, len(guess))  # overlaps above 1 that differ
    table = table_of(np.repeat(np.repeat(np.arange(150), size), repeat), np.repeat(guess, repeat))
    assert transfer_distance(table) == by_dense_assignment(table)
