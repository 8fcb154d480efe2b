from collections import Counter
from fractions import Fraction
from math import comb, exp, factorial, fsum, log

import numpy as np
import pytest
from scipy.stats import chisquare

from tests.measures.clustering.walks import random_walk, shuffled
from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition, View
from unmask.measures.clustering import Contingency, evaluate
from unmask.measures.clustering.contingency import random_partition, urn_distribution

BELL = (1, 1, 2, 5, 15, 52, 203)
LEAST_P = 1e-4  # of a chi-square test with a fixed seed


def blocks(partition):
    """Return the partition without labels: each item with the first item of its cluster."""
    first = {}
    return tuple(first.setdefault(label, item) for item, label in enumerate(partition.code.tolist()))


def set_partitions(n):
    """All of them, written as `blocks` does."""
    if n == 0:
        return [()]
    return [(*partition, label) for partition in set_partitions(n - 1) for label in (*sorted(set(partition)), n - 1)]


def p_value(counts, law):
    """p-value of a count of draws against a law, which must cover all draws."""
    assert set(counts) <= set(law)
    drawn = sum(counts.values())
    return chisquare([counts[partition] for partition in law], [float(p) * drawn for p in law.values()]).pvalue


def bell_numbers(n):
    bell = [1]
    for k in range(n):
        bell.append(sum(comb(k, j) * bell[j] for j in range(k + 1)))
    return bell


@pytest.mark.parametrize("n", [3, 4, 5])
def test_every_partition_is_equally_likely(n):
    rng = np.random.default_rng(n)
    counts = Counter(blocks(random_partition(n, rng=rng)) for _ in range(6000))
    law = dict.fromkeys(set_partitions(n), Fraction(1, BELL[n]))
    assert len(law) == BELL[n]
    assert p_value(counts, law) > LEAST_P


@pytest.mark.parametrize("n", [1, 2, 5, 30, 200])
def test_urns_make_every_partition_exactly_as_likely_as_any_other(n):
    # Stam 1983: a given partition into k blocks comes from m urns with probability m (m - 1) ... (m - k + 1) / m^n
    m, p = urn_distribution(n)
    bell = bell_numbers(n)[n]
    for k in sorted({1, 2, n // 3 + 1, n // 2 + 1, n}):
        falling = [fsum(log(u - j) for j in range(k)) - n * log(u) if u >= k else None for u in m.tolist()]
        chance = fsum(w * exp(f) for w, f in zip(p.tolist(), falling, strict=True) if f is not None)
        if k <= n:
            assert chance * bell == pytest.approx(1.0, rel=1e-9)


def test_urn_law_of_two_items():
    # m^2 / (m! 2 e), from Dobinski's formula with Bell(2) = 2
    m, p = urn_distribution(2)
    expected = [u * u / factorial(u) / (2 * exp(1)) for u in range(1, 20)]
    assert m[0] == 1
    np.testing.assert_allclose(p[:19], expected, rtol=1e-12)


def test_urn_law_of_many_items_is_centerd_where_m_log_m_is_n():
    m, p = urn_distribution(10**7)
    mean = float(m @ p)
    assert mean * log(mean) == pytest.approx(10**7, rel=1e-5)
    assert p[0] < 1e-100
    assert p[-1] < 1e-100


def test_mean_number_of_blocks():
    # (Bell(n + 1) - Bell(n)) / Bell(n) = 49.975 blocks for n = 200
    bell = bell_numbers(201)
    rng = np.random.default_rng(6)
    mean = np.mean([random_partition(200, rng=rng).n_clusters for _ in range(2000)])
    assert mean == pytest.approx(bell[201] / bell[200] - 1, abs=0.3)  # 4 standard errors


def coin_law(n):
    """The law of the coin process by its definition, one item after the other."""
    law = {(0,): Fraction(1)}
    for item in range(1, n):
        longer = Counter()
        for partition, p in law.items():
            longer[*partition, item] += p / 2
            alive = sorted(set(partition))
            for label in alive:
                longer[*partition, label] += p / 2 / len(alive)
        law = dict(longer)
    return law


def test_coin_process_follows_its_law():
    rng = np.random.default_rng(4)
    counts = Counter(blocks(random_partition(5, process="coin", rng=rng)) for _ in range(6000))
    law = coin_law(5)
    assert sum(law.values()) == 1
    assert p_value(counts, law) > LEAST_P


def test_coin_clusters_become_geometric():
    # sizes of a large partition: P(Y = y) = 2^-y, within 5 standard errors
    sizes = random_partition(200_000, process="coin", rng=np.random.default_rng(5)).sizes
    for y in (1, 2, 3, 4):
        assert np.mean(sizes == y) == pytest.approx(0.5**y, abs=5 * (0.25 / len(sizes)) ** 0.5)


@pytest.mark.parametrize("process", ["uniform", "coin"])
def test_clusters_are_numbered_without_gaps(process):
    drawn = random_partition(50, process=process, rng=np.random.default_rng(2))
    assert drawn.names.tolist() == list(range(drawn.n_clusters))
    assert (drawn.sizes > 0).all()
    assert len(drawn) == 50


def test_uniform_law_is_stationary_under_the_walk():
    rng = np.random.default_rng(8)
    counts = Counter(blocks(random_walk(random_partition(4, rng=rng), 1, rng=rng)) for _ in range(6000))
    assert p_value(counts, dict.fromkeys(set_partitions(4), Fraction(1, 15))) > LEAST_P


def test_long_walk_forgets_its_start():
    rng, start = np.random.default_rng(9), Partition([0, 0, 0, 0])
    counts = Counter(blocks(random_walk(start, 60, rng=rng)) for _ in range(6000))
    assert p_value(counts, dict.fromkeys(set_partitions(4), Fraction(1, 15))) > LEAST_P


def test_one_step_of_the_walk():
    # from {0, 1, 2}: the item lifted joins the other two or is alone, 1/2 each
    rng, start = np.random.default_rng(10), Partition([7, 7, 7])
    counts = Counter(blocks(random_walk(start, 1, rng=rng)) for _ in range(6000))
    p_single = Fraction(1, 6)
    assert (
        p_value(counts, {(0, 0, 0): Fraction(1, 2), (0, 1, 1): p_single, (0, 1, 0): p_single, (0, 0, 2): p_single})
        > LEAST_P
    )


def test_one_step_from_three_singletons():
    # the item lifted joins either of the two others or is alone again, 1/3 each; both directions lead to a pair
    rng, start = np.random.default_rng(11), Partition([0, 1, 2])
    counts = Counter(blocks(random_walk(start, 1, rng=rng)) for _ in range(6000))
    pair = Fraction(2, 9)
    assert p_value(counts, {(0, 1, 2): Fraction(1, 3), (0, 0, 2): pair, (0, 1, 0): pair, (0, 1, 1): pair}) > LEAST_P


def test_walk_keeps_ids_and_leaves_its_start_alone():
    start = Partition(["x", "x", "y"], items=["i", "j", "k"])
    walked = random_walk(start, 40, rng=np.random.default_rng(1))
    assert walked.items.tolist() == ["i", "j", "k"]
    assert walked.names.tolist() == list(range(walked.n_clusters))
    assert start.code.tolist() == [0, 0, 1]
    assert blocks(random_walk(start, 0, rng=np.random.default_rng(1))) == (0, 0, 2)


def test_walk_of_one_item_stays():
    assert blocks(random_walk(Partition(["x"]), 10, rng=np.random.default_rng(1))) == (0,)


def test_shuffling_keeps_sizes_names_and_ids():
    start = Partition(["b", "a", "b", "b", "c"], items=list("vwxyz"))
    guess = shuffled(start, rng=np.random.default_rng(0))
    assert guess.names.tolist() == ["a", "b", "c"]
    assert guess.sizes.tolist() == [1, 3, 1] == np.bincount(guess.code).tolist()
    assert guess.items.tolist() == list("vwxyz")
    assert start.code.tolist() == [1, 0, 1, 1, 2]


def test_shuffles_are_equally_likely():
    rng, start = np.random.default_rng(3), Partition([0, 0, 1, 1])
    counts = Counter(tuple(shuffled(start, rng=rng).code.tolist()) for _ in range(3000))
    law = [(0, 0, 1, 1), (0, 1, 0, 1), (0, 1, 1, 0), (1, 0, 0, 1), (1, 0, 1, 0), (1, 1, 0, 0)]
    assert p_value(counts, dict.fromkeys(law, Fraction(1, 6))) > LEAST_P


def test_partitions_of_a_view_are_shuffled_alike():
    first, second = Partition([0, 0, 1, 2], items=list("abcd")), Partition([5, 3, 3, 5], items=list("dcba"))
    view = View([first, second], [0.25, 0.75])  # both have a and b, and c and d, in clusters of two; first splits c, d
    for seed in range(20):
        guess = shuffled(view, rng=np.random.default_rng(seed))
        assert guess.probability.tolist() == [0.25, 0.75]
        item, two = ({(x, y): p.code[x] == p.code[y] for x in range(4) for y in range(x)} for p in guess.partitions)
        assert guess.partitions[0].items.tolist() == guess.partitions[1].items.tolist()
        assert Counter(zip(item.values(), two.values(), strict=True)) == list_together(first, second)


def list_together(first, second):
    place = {item: index for index, item in enumerate(second.items.tolist())}
    code = [second.code[place[item]] for item in first.items.tolist()]
    pairs = [(x, y) for x in range(len(code)) for y in range(x)]
    return Counter((first.code[x] == first.code[y], code[x] == code[y]) for x, y in pairs)


@pytest.mark.parametrize(("options", "words"), [({"n": 0}, "at least 1"), ({"n": 3, "process": "urn"}, "coin")])
def test_an_impossible_random_partition_is_refused(options, words):
    with pytest.raises(UnmaskError, match=words):
        random_partition(**options, rng=np.random.default_rng(0))


def test_same_seed_same_draw():
    for process in ("uniform", "coin"):
        first, second = (random_partition(40, process=process, rng=np.random.default_rng(3)) for _ in range(2))
        assert first.code.tolist() == second.code.tolist()


@pytest.mark.parametrize("process", ["uniform", "coin"])
def test_a_random_guess_has_the_law_of_the_baseline(process):
    """Breaches and mixing of random guesses agree with partitions that are drawn and measured one by one."""
    rng, n = np.random.default_rng(8), 600
    truth = Partition([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    met = Contingency.of(truth, Partition(range(10)))
    drawn = [evaluate(met.at_random(rng=rng, process=process), beta=0.7) for _ in range(n)]
    single = [
        evaluate(Contingency.of(truth, shuffled(random_partition(10, process=process, rng=rng), rng=rng)), beta=0.7)
        for _ in range(n)
    ]
    for rate in (lambda result: result.breach_rate, lambda result: result.foreign_share.mean()):
        first, second = np.array([*map(rate, drawn)]), np.array([*map(rate, single)])
        assert abs(first.mean() - second.mean()) < 4 * np.sqrt((first.var() + second.var()) / n)


def test_random_guesses_keep_the_weights_that_subjects_give_to_items():
    """An item that weighs nothing for its subject weighs nothing in a random guess, too."""
    truth = Partition(["ann"] * 3 + ["bob"] * 3, items=list("abcxyz"))
    guess = Partition(list("pppqqq"), items=list("abcxyz"))
    met = Contingency.of(truth, guess, overrides=[("ann", "a", 0.0), ("ann", "b", 0.0), ("ann", "c", 0.0)])
    for seed in range(20):
        linked = evaluate(met.at_random(rng=np.random.default_rng(seed))).linked_now
        assert linked[0] == 1.0  # a subject without weight is linked
        assert linked[1] in (2 / 3, 1.0)
