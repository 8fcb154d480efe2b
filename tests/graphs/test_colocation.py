import json
import os

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from unmask.cli import main
from unmask.core.errors import UnmaskError
from unmask.data import files
from unmask.graphs.colocation import co_location, read_co_location
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


# --- from a log ------------------------------------------------------------------------------------------------------


@given(RECORDS, st.integers(0, 4), st.integers(1, 3))
def test_a_log_gives_the_edges_of_its_records(tmp_path_factory, records, seconds, times):
    path = tmp_path_factory.mktemp("log") / "log.csv"
    path.write_text("Place,USER,time\n" + "".join(f"p{place},u{user},{t}\n" for user, place, t in records))
    graph = read_co_location(path, within=str(seconds), times=times)
    assert edges(graph) == {(f"u{a}", f"u{b}") for a, b in slow(records, seconds, times)}


def test_dates_take_a_time_with_a_unit(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("user,time,place\na,2024-05-01T10:00,x\nb,2024-05-01T11:00,x\nc,2024-05-01T13:00,x\n")
    assert edges(read_co_location(path, within="1h")) == edges(read_co_location(path, within="3600s")) == {("a", "b")}
    assert edges(read_co_location(path, within="120min")) == {("a", "b"), ("b", "c")}


def test_traces_are_audited_as_the_network_of_those_who_met(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "log.csv"
    home = rng.integers(12, size=40)
    lines = [
        f"u{u},{10 * t + rng.random():.3f},{home[u] if rng.random() < 0.6 else rng.integers(12)}"
        for t in range(20)
        for u in range(40)
    ]
    path.write_text("user,time,place\n" + "\n".join(lines) + "\n")
    options = ("--evidence", "traces", "--within", "2", "--times", "2", "--overlap", "0.9,0.9", "--seeds", "random:5")
    run = CliRunner().invoke(main, ["audit", "graph", str(path), *options, "--attack", "Nar09", "--json"])
    assert run.exit_code == 0, run.stderr
    assert any(row["measure"] == "recall" for row in json.loads(run.stdout)["results"])


LOG = "user,time,place\na,1,x\nb,2,x\n"
BAD = {
    "no lines": ("user,time,place\n", ("--within", "1"), "no line below"),
    "no place column": ("user,time\na,1\n", ("--within", "1"), "no column place"),
    "an empty user": ("user,time,place\n,1,x\n", ("--within", "1"), "line 2"),
    "an empty place": ("user,time,place\na,1,x\nb,1,\n", ("--within", "1"), "line 3"),
    "a word for a time": ("user,time,place\na,1,x\nb,later,x\n", ("--within", "1"), "line 3"),
    "a column twice": ("user,user,time,place\na,b,1,x\n", ("--within", "1"), "occurs twice"),
    "a short line": ("user,time,place\na,1\n", ("--within", "1"), "line 2"),
    "no time between records": (LOG, (), "--within"),
    "a unit for numbers": (LOG, ("--within", "1h"), "a number in the unit of time"),
    "no unit for dates": ("user,time,place\na,2024-05-01,x\n", ("--within", "60"), "with a unit"),
    "a word for the time between records": (LOG, ("--within", "soon"), "a number in the unit of time"),
}


@pytest.mark.parametrize(("content", "options", "hint"), list(BAD.values()), ids=list(BAD))
def test_a_log_that_has_no_network_is_one_sentence(tmp_path, content, options, hint):
    path = tmp_path / "log.csv"
    path.write_text(content)
    words = ["audit", "graph", str(path), "--evidence", "traces", "--overlap", "0.5,0.5", "--quiet", *options]
    run = CliRunner().invoke(main, words)
    assert (run.exit_code, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert hint in run.stderr
    assert "later" not in run.stderr
