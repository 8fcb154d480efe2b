"""What every linker and every protection of pseudonyms must do, walked over the catalog."""

import numpy as np
import pytest

from unmask import pseudonyms
from unmask.catalog import ATTACKS, PROTECTIONS
from unmask.errors import UnmaskError
from unmask.pseudonyms import PerItem, datasets

LINKERS = [name for name in ATTACKS if name.startswith("pseudonyms.")]
PROTECTING = [name for name in PROTECTIONS if name.startswith("pseudonyms.")]


def population(seed=0):
    return datasets.synthetic_traces(12, 240, rng=np.random.default_rng(seed), difficulty=0.2)


def released(name="pseudonyms.PerItem"):
    return PROTECTIONS[name](population(), rng=np.random.default_rng(1))


def linked(name, release):
    try:
        return ATTACKS[name](release)
    except UnmaskError as error:
        if "install" in str(error):
            pytest.skip(f"needs an extra: {error}")
        raise


def cells(feature):
    return feature.codes if hasattr(feature, "codes") else np.nan_to_num(feature.values)


@pytest.mark.parametrize("name", LINKERS)
def test_a_linker_is_reproducible_documented_and_leaves_its_input_alone(name):
    release, _ = released()
    before = [cells(feature).copy() for feature in release.features]
    first, second = linked(name, release), ATTACKS[name](release, None, rng=np.random.default_rng(5))
    assert first.code.tolist() == second.code.tolist()
    assert all(np.array_equal(old, cells(now)) for old, now in zip(before, release.features, strict=True))
    assert eval(repr(ATTACKS[name]), vars(pseudonyms)) == ATTACKS[name]
    assert len((type(ATTACKS[name]).__doc__ or "").split()) > 30


@pytest.mark.parametrize("name", LINKERS)
def test_a_linker_never_parts_items_of_one_pseudonym(name):
    release, _ = released("pseudonyms.Split")
    guess, pseudonym = linked(name, release), release.partition
    together = {}
    for p, cluster in zip(pseudonym.code.tolist(), guess.code.tolist(), strict=True):
        assert together.setdefault(p, cluster) == cluster


@pytest.mark.parametrize("name", PROTECTING)
def test_a_protection_is_seeded_keeps_every_item_and_knows_its_owner(name):
    people = population()
    release, solution = PROTECTIONS[name](people, rng=np.random.default_rng(3))
    again, solution_again = PROTECTIONS[name](people, rng=np.random.default_rng(3))
    assert release.ids.tolist() == again.ids.tolist()
    assert solution.code.tolist() == solution_again.code.tolist()
    assert sorted(release.ids.tolist()) == sorted(people.ids.tolist())
    assert sorted(solution.sizes.tolist()) == sorted(people.partition.sizes.tolist())
    owner = {}
    for p, user in zip(release.partition.code.tolist(), solution.code.tolist(), strict=True):
        assert owner.setdefault(p, user) == user  # no pseudonym is shared by two users
    assert eval(repr(PROTECTIONS[name]), vars(pseudonyms)) == PROTECTIONS[name]


def test_a_pseudonym_for_every_item_leaves_nothing_linked():
    release, _ = PerItem()(population(), rng=np.random.default_rng(0))
    assert release.partition.n_clusters == len(release)
