import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.core.errors import UnmaskError
from unmask.data import files
from unmask.graphs.colocation import co_location
from unmask.graphs.datasets import network
from unmask.graphs.knowledge import Pair

needs_data = pytest.mark.skipif(not os.environ.get("UNMASK_DATA"), reason="UNMASK_DATA names no folder with the data")
RECORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 12)), min_size=1, max_size=14)


def edges(graph):
    u, v = graph.edges()
    return set(zip(graph.labels[u].tolist(), graph.labels[v].tolist(), strict=True))


def slow(records, seconds, times):
    """By the definition, over all pairs of records."""
    dates = {}
    for a, place, t in records:
        for b, other_person, s in records:
            if a < b and place == other_person and abs(t - s) <= seconds:
                dates.setdefault((a, b), set()).add((place, max(t, s)))
    result = set()
    for pair, met in dates.items():
        later = {(place, t) for place, t in met if any(p == place and 0 < t - s <= seconds for p, s in met)}
        if len(met - later) >= times:
            result.add(pair)
    return result


@given(RECORDS, st.integers(0, 4), st.integers(1, 3))
def test_the_edges_by_the_definition(records, seconds, times):
    graph = co_location(*np.array(records).T, within=seconds, times=times)
    assert edges(graph) == slow(records, seconds, times)
    assert graph.labels.tolist() == sorted({user for user, _, _ in records})


def test_a_small_case_by_hand():
    user, place, time = ["b", "a", "a", "c", "a", "b"], [1, 1, 2, 2, 1, 1], [0, 60, 0, 61, 500, 530]
    assert edges(co_location(user, place, time, within=60)) == {("a", "b")}
    assert edges(co_location(user, place, time, within=61)) == {("a", "b"), ("a", "c")}
    assert edges(co_location(user, place, time, within=59, times=1)) == {("a", "b")}
    assert edges(co_location(user, place, time, within=60, times=2)) == {("a", "b")}
    assert edges(co_location(user, place, time, within=60, times=3)) == set()
    assert edges(co_location(user, place, time, within=59, times=2)) == set()


def test_lines_that_stand_twice_are_one_meeting():
    user, place, time = [0, 1, 0, 1, 1], [5, 5, 5, 5, 5], [10, 10, 10, 10, 12]
    assert edges(co_location(user, place, time, within=3)) == {(0, 1)}
    assert edges(co_location(user, place, time, within=3, times=2)) == set()
    # The same hour at two places is two meetings.
    assert edges(co_location(user, [5, 5, 6, 6, 6], time, within=3, times=2)) == {(0, 1)}


def test_records_of_one_place_are_not_compared_all_with_all():
    # 400,000 records at one place would be 8e10 pairs; a second apart, each meets two others within two seconds.
    n = 400_000
    user = np.arange(n) % 1_000
    graph = co_location(user, np.zeros(n, dtype=int), np.arange(n), within=2)
    assert graph.n_edges == 2_000
    assert sorted(graph.neighbors(0).tolist()) == [1, 2, 998, 999]


def test_people_who_never_met_have_no_edge():
    graph = co_location([3, 1], [0, 1], [0, 0], within=9)
    assert (graph.n_nodes, graph.n_edges, graph.labels.tolist()) == (2, 0, [1, 3])
    assert co_location([], [], [], within=9).n_nodes == 0


@pytest.mark.parametrize(
    ("columns", "wanted", "message"),
    [
        (([1], [1], [1]), {"within": -1}, "at least 0"),
        (([1], [1], [1]), {"within": float("nan")}, "at least 0"),
        (([1], [1], [1]), {"within": 1, "times": 0}, "at least 1"),
        (([1], [1, 2], [1]), {"within": 1}, "1 users, 2 places and 1 times"),
        (([1], [1], [float("nan")]), {"within": 1}, "finite"),
        (([1], [1], ["noon"]), {"within": 1}, "numbers"),
        (([1, 2], [1, 1], np.array(["NaT", "NaT"], dtype="M8[s]")), {"within": 1}, "NaT"),
        (([1, 2], [1, 1], np.array(["NaT", 1], dtype="m8[s]")), {"within": 1}, "NaT"),
        (([1.5], [1], [1]), {"within": 1}, "user is not a list of ids"),
        (([1], np.array([None]), [1]), {"within": 1}, None),
        ((np.array(["a", None], dtype=object), [1, 1], [1, 1]), {"within": 1}, "user mixes"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, wanted, message):
    if message is None:  # one missing id is an id like any other until it must be compared
        assert co_location(*columns, **wanted).n_edges == 0
        return
    with pytest.raises(UnmaskError, match=message):
        co_location(*columns, **wanted)


@needs_data
def test_meetings_of_gowalla_users():
    path = files.locate(
        "traces/gowalla1000/checkins.txt.gz", sha256="d4f484f7f818e293fb822144c1571ca037cafbc0d9f8567c6a3cd9816e84e1c0"
    )
    user, place, time = np.loadtxt(path, delimiter="\t").T
    records = user.astype(np.int64), place.astype(np.int64), time
    # The manifest of the data folder: 157,251 check-ins of 1,000 users at 24,209 places, 70 lines twice.
    assert [len(user), len(np.unique(user)), len(np.unique(place))] == [157_251, 1_000, 24_209]
    assert len(user) - len(np.unique(np.stack(records), axis=1).T) == 70
    graph = co_location(*records, within=3_600)
    assert graph.n_nodes == 1_000
    friends = network("gowalla-friends")
    friends = friends.take(np.flatnonzero(friends.labels < 1_000))
    assert friends.n_edges == 7_711
    pair = Pair.from_labels(friends, graph, friends.labels, friends.labels)
    # Those who meet are friends far more often than any two users are (1.5 %), the more so the more often they meet.
    often = co_location(*records, within=3_600, times=3)
    repeated = Pair.from_labels(friends, often, friends.labels, friends.labels)
    shares = pair.shared.n_edges / graph.n_edges, repeated.shared.n_edges / often.n_edges
    assert 0.05 < shares[0] < shares[1]
