import os

import numpy as np
import pytest

from tests.linkage.public_items import rldata
from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition
from unmask.linkage import ExactMatch, datasets
from unmask.measures.clustering import Contingency, evaluate

needs_data = pytest.mark.skipif(not os.environ.get("UNMASK_DATA"), reason="UNMASK_DATA names no folder with the data")


# --- public records ---------------------------------------------------------------------------------------------------


@needs_data
@pytest.mark.parametrize(("n", "users"), [(500, 450), (10_000, 9_000)])
def test_records_have_one_person_each(n, users):
    items, truth = rldata(n)
    assert [len(items), len(truth), truth.n_clusters, truth.sizes.max()] == [n, n, users, 2]
    assert items.ids.tolist() == truth.items.tolist()
    assert items.pseudonym is None


@needs_data
def test_same_name_and_day_of_birth_on_rldata():
    # unlinkability report, section 6: 1,000 linkable subjects, breached at 0.8: 25.9 %, shuffled 0.0 %, 25.0 % clean
    items, truth = rldata()
    linked = ExactMatch(("fname_c1", "lname_c1", "bd"))(items)
    linkable = truth.sizes >= 2
    result = evaluate(Contingency.of(truth, linked), beta=0.8)
    breached, foreign = np.asarray(result.breached)[linkable], np.asarray(result.foreign_share)[linkable]
    assert linkable.sum() == 1_000
    assert np.mean(breached) == pytest.approx(0.259)
    assert np.mean(breached & (foreign == 0)) == pytest.approx(0.250)
    shuffled = Partition(np.random.default_rng(1).permutation(linked.code), items=linked.items)
    assert np.mean(np.asarray(evaluate(Contingency.of(truth, shuffled), beta=0.8).breached)[linkable]) == 0


# --- generated traces -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("difficulty", [0.0, 0.3, 1.0])
def test_traces_follow_their_stated_law(difficulty):
    traces = datasets.synthetic_traces(2_000, 20, rng=np.random.default_rng(4), difficulty=difficulty)
    user = traces.partition.code
    assert traces.partition.sizes.tolist() == [20] * 2_000
    x = traces.feature("x1").values
    center = np.bincount(user, weights=x) / 20
    assert np.var(x) == pytest.approx(1, abs=0.15)  # 2,000 users: standard error 0.032 of the centers' part
    assert np.var(x - center[user]) == pytest.approx(difficulty * 19 / 20, abs=0.04)
    place = traces.feature("place").values
    counts = np.zeros((2_000, 20))
    np.add.at(counts, (user, place), 1)
    p_same = ((counts * (counts - 1)).sum(axis=1) / (20 * 19)).mean()  # two items of a user at one place
    assert p_same == pytest.approx((1 - difficulty) ** 2 * 0.95 + 0.05, abs=0.02)


def test_traces_are_seeded_and_checked():
    first, second = (datasets.synthetic_traces(5, 6, rng=np.random.default_rng(2)) for _ in range(2))
    assert np.array_equal(first.feature("x0").values, second.feature("x0").values)
    assert first.pseudonym.tolist() == second.pseudonym.tolist()
    rng = np.random.default_rng(1)
    with pytest.raises(UnmaskError, match="n_users is 0"):
        datasets.synthetic_traces(0, 6, rng=rng)
    with pytest.raises(UnmaskError, match="difficulty is 2"):
        datasets.synthetic_traces(5, 6, rng=rng, difficulty=2)
