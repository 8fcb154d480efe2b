import itertools
from collections import Counter

import numpy as np
import pytest

from unmask.core.errors import UnmaskError
from unmask.linkage import Items, PerContext, PerItem, PerPeriod, Split
from unmask.linkage import protections as module
from unmask.linkage.datasets import synthetic_traces

PROTECTIONS = [PerItem(), PerPeriod(0.25), PerPeriod(0.3), PerContext(), Split(1), Split(3)]


def population(seed=0):
    return synthetic_traces(12, 15, rng=np.random.default_rng(seed))


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_items_are_kept_and_the_solution_names_their_users(protection):
    items = population()
    initial = items.pseudonym.copy()
    release, solution = protection(items, rng=np.random.default_rng(1))
    assert sorted(release.ids.tolist()) == items.ids.tolist()
    back = np.argsort(release.ids)
    for feature, original in zip(release.take(back).features, items.features, strict=True):
        assert np.array_equal(getattr(feature, "values", None), getattr(original, "values", None))
        assert np.array_equal(getattr(feature, "codes", None), getattr(original, "codes", None))
    assert np.array_equal(release.time[back], items.time)
    assert np.array_equal(release.context[back], items.context)
    assert solution.items.tolist() == release.ids.tolist()
    assert solution.names[solution.code][back].tolist() == items.pseudonym.tolist()
    assert np.array_equal(initial, items.pseudonym)
    assert eval(repr(protection), vars(module)) == protection


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_a_pseudonym_never_covers_two_users(protection):
    release, solution = protection(population(), rng=np.random.default_rng(1))
    pairs = set(zip(release.pseudonym.tolist(), solution.code.tolist(), strict=True))
    assert len(pairs) == release.partition.n_clusters


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_the_seed_decides_everything(protection):
    first, second, third = (protection(population(), rng=np.random.default_rng(seed))[0] for seed in (5, 5, 6))
    assert first.ids.tolist() == second.ids.tolist()
    assert first.pseudonym.tolist() == second.pseudonym.tolist()
    assert first.ids.tolist() != third.ids.tolist()


def test_each_protection_keeps_its_groups_together():
    items = population()
    user, period = items.pseudonym, np.floor(items.time / 0.25)

    def groups(protection):
        release, _ = protection(items, rng=np.random.default_rng(3))
        return release.partition.code[np.argsort(release.ids)]

    def is_one_to_one(code, *keys):
        key = list(zip(*keys, strict=True))
        return len(set(code)) == len(set(key)) == len(set(zip(code, key, strict=True)))

    assert len(set(groups(PerItem()))) == len(items)
    assert is_one_to_one(groups(PerPeriod(0.25)), user, period)
    assert is_one_to_one(groups(PerContext()), user, items.context)
    assert is_one_to_one(groups(Split(1)), user)
    per_user = Counter(user for user, _ in set(zip(user, groups(Split(3)), strict=True)))
    assert set(per_user.values()) == {3}  # 15 items each: a part is empty with chance 3 (2/3)^15 = 0.7 %


def test_labels_are_dealt_uniformly():
    items = Items.read({"user": ["a", "b", "c", "d"]}, pseudonym="user")
    rng = np.random.default_rng(0)
    counts = Counter()
    for _ in range(4_800):
        release, _ = PerItem()(items, rng=rng)
        counts[tuple(release.pseudonym[np.argsort(release.ids)].tolist())] += 1
    assert set(counts) == set(itertools.permutations(range(4)))
    chi_square = sum((count - 200) ** 2 / 200 for count in counts.values())
    assert chi_square < 49.7  # 23 degrees of freedom, p = 0.001


def test_the_place_of_an_item_says_nothing():
    items = Items.read({"user": ["a", "b", "c"]}, pseudonym="user")
    rng = np.random.default_rng(0)
    orders = Counter(tuple(Split(1)(items, rng=rng)[0].ids.tolist()) for _ in range(3_000))
    assert sum((count - 500) ** 2 / 500 for count in orders.values()) < 20.5  # 5 degrees of freedom, p = 0.001
    assert len(orders) == 6


@pytest.mark.parametrize(
    ("protect", "match"),
    [
        (lambda items, rng: PerPeriod(0), "length is 0, expected a number above 0 and finite"),
        (lambda items, rng: Split(0), "k is 0, expected a whole number at least 1"),
        (lambda items, rng: PerPeriod(1)(items, rng=rng), "have no time, which PerPeriod needs"),
        (lambda items, rng: PerContext()(items, rng=rng), "have no context, which PerContext needs"),
        (lambda items, rng: PerItem()(Items.read({"x": [1]}, features="x"), rng=rng), "expected the user of each"),
    ],
)
def test_a_missing_feature_is_reported(protect, match):
    with pytest.raises(UnmaskError, match=match):
        protect(Items.read({"user": ["a"]}, pseudonym="user"), np.random.default_rng(1))
