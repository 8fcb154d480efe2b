import os

import numpy as np
import pytest

from unmask.core.errors import FailedError, UnmaskError
from unmask.core.partition import Partition
from unmask.linkage import ExactMatch, datasets
from unmask.measures.clustering import Contingency, evaluate

needs_data = pytest.mark.skipif(not os.environ.get("UNMASK_DATA"), reason="UNMASK_DATA names no folder with the data")


# --- loaders (counts: the data's own pages, recounted in the manifest of the data folder) ---------------------------


@needs_data
@pytest.mark.parametrize(
    ("load", "n", "users", "largest"),
    [
        (lambda: datasets.rldata(500), 500, 450, 2),
        (datasets.rldata, 10_000, 9_000, 2),
        (lambda: datasets.febrl(1), 1_000, 500, 2),
        (lambda: datasets.febrl(2), 5_000, 4_000, 6),
        (lambda: datasets.febrl(3), 5_000, 2_000, 6),
        (lambda: datasets.febrl(4), 10_000, 5_000, 2),
    ],
)
def test_items_and_their_truth(load, n, users, largest):
    items, truth = load()
    assert [len(items), len(truth), truth.n_clusters, truth.sizes.max()] == [n, n, users, largest]
    assert items.ids.tolist() == truth.items.tolist()
    assert items.pseudonym is None


@needs_data
def test_the_two_files_of_febrl_4_hold_everybody_once():
    items, truth = datasets.febrl(4)
    for file in "ab":
        assert np.bincount(truth.code[items.context == file]).tolist() == [1] * 5_000


@needs_data
def test_gowalla():
    items = datasets.gowalla()
    assert [len(items), items.partition.n_clusters, len(items.feature("place").labels)] == [157_251, 1_000, 24_209]
    latitude, longitude = items.feature("latitude").values, items.feature("longitude").values
    assert np.abs(latitude).max() <= 90
    assert np.abs(longitude).max() <= 180
    place = items.feature("place").codes  # one place, one pair of coordinates
    for values in (latitude, longitude):
        assert np.array_equal(values, values[np.unique(place, return_index=True)[1]][place])


@needs_data
def test_same_name_and_day_of_birth_on_rldata():
    # unlinkability report, section 6: 1,000 linkable subjects, breached at 0.8: 25.9 %, shuffled 0.0 %, 25.0 % clean
    items, truth = datasets.rldata()
    linked = ExactMatch(("fname_c1", "lname_c1", "bd"))(items)
    linkable = truth.sizes >= 2
    found = evaluate(Contingency.of(truth, linked), beta=0.8)
    breached, foreign = np.asarray(found.breached)[linkable], np.asarray(found.foreign_share)[linkable]
    assert linkable.sum() == 1_000
    assert np.mean(breached) == pytest.approx(0.259)
    assert np.mean(breached & (foreign == 0)) == pytest.approx(0.250)
    shuffled = Partition(np.random.default_rng(1).permutation(linked.code), items=linked.items)
    assert np.mean(np.asarray(evaluate(Contingency.of(truth, shuffled), beta=0.8).breached)[linkable]) == 0


def test_unknown_sets_and_absent_files_say_what_is_expected(tmp_path, monkeypatch):
    with pytest.raises(UnmaskError, match="n is 400, expected 500 or 10000"):
        datasets.rldata(400)
    with pytest.raises(UnmaskError, match="expected 1 to 4"):
        datasets.febrl(5)
    monkeypatch.setenv("UNMASK_DATA", str(tmp_path))
    with pytest.raises(FailedError, match=r"partitions/RLdata500.csv.gz was not found; set UNMASK_DATA"):
        datasets.rldata(500)
    (tmp_path / "partitions").mkdir()
    (tmp_path / "partitions/RLdata500.csv.gz").write_bytes(b"other")
    with pytest.raises(FailedError, match="has SHA-256"):
        datasets.rldata(500)


# --- generated traces -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("difficulty", [0.0, 0.3, 1.0])
def test_traces_follow_their_stated_law(difficulty):
    traces = datasets.synthetic_traces(2_000, 20, rng=np.random.default_rng(4), difficulty=difficulty, n_places=10)
    user = traces.partition.code
    assert traces.partition.sizes.tolist() == [20] * 2_000
    x = traces.feature("x1").values
    center = np.bincount(user, weights=x) / 20
    assert np.var(x) == pytest.approx(1, abs=0.15)  # 2,000 users: standard error 0.032 of the centers' part
    assert np.var(x - center[user]) == pytest.approx(difficulty * 19 / 20, abs=0.04)
    place = traces.feature("place").codes
    counts = np.zeros((2_000, 10))
    np.add.at(counts, (user, place), 1)
    same = ((counts * (counts - 1)).sum(axis=1) / (20 * 19)).mean()  # two items of a user at one place
    assert same == pytest.approx((1 - difficulty) ** 2 * 0.9 + 0.1, abs=0.02)


def test_traces_are_seeded_and_checked():
    one, other = (datasets.synthetic_traces(5, 6, rng=np.random.default_rng(2)) for _ in range(2))
    assert np.array_equal(one.feature("x0").values, other.feature("x0").values)
    assert one.pseudonym.tolist() == other.pseudonym.tolist()
    rng = np.random.default_rng(1)
    with pytest.raises(UnmaskError, match="n_users is 0"):
        datasets.synthetic_traces(0, 6, rng=rng)
    with pytest.raises(UnmaskError, match="difficulty is 2"):
        datasets.synthetic_traces(5, 6, rng=rng, difficulty=2)
