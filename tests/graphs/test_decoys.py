import io
import math
import os
import tarfile

import numpy as np
import pytest

from unmask.core.errors import FailedError, UnmaskError
from unmask.graphs.datasets import barabasi_albert
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections import Decoy, Ego, EgoPatterns, Role, read_egos
from unmask.graphs.protections.patterns import facebook_egos

NETWORK = barabasi_albert(500, 5, rng=np.random.default_rng(5))
# Gulyas 2015, table 5.1a: 50 contacts, P(X_0, X_1) = .16, .82, .02; the larger circle is the first here
TABLE = Ego(50, np.array([[True, False]] * 41 + [[False, True]] * 8 + [[True, True]]))
needs_data = pytest.mark.skipif(not os.environ.get("UNMASK_DATA"), reason="UNMASK_DATA names no folder with the data")


def rng(seed=1):
    return np.random.default_rng(seed)


def star(leaves):
    return SocialGraph.from_edges([0] * leaves, range(1, leaves + 1))


def count_known(separated, role):
    """The contacts of the center of a star that the identity of this role keeps."""
    release, origin = separated
    (node,) = np.flatnonzero((separated.role == role) & (origin == 0))
    return set(origin[release.neighbors(node)].tolist())


# --- decoys ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [30, 34, 35, 100])
def test_a_decoy_shows_nine_tenths_and_hides_the_rest_among_a_tenth(degree):
    # section 6.2 of Gulyas 2015
    separated = Decoy(adopters=1)(star(degree), rng=rng())
    public, hidden = count_known(separated, Role.PUBLIC), count_known(separated, Role.HIDDEN)
    tenth = math.floor(0.1 * degree + 0.5)
    assert len(public) == math.floor(0.9 * degree + 0.5)
    assert public | hidden == set(range(1, degree + 1))
    assert len(public & hidden) == tenth
    assert len(hidden - public) == degree - len(public)


def test_contacts_beyond_both_shares_are_dropped():
    separated = Decoy(public=0.5, hidden=0.2, overlap=0.0, minimum_degree=1, adopters=1.0)(star(10), rng=rng())
    assert separated.release.n_edges == 5 + 2


def test_every_contact_is_as_likely_to_be_hidden():
    runs, draw = 600, rng()
    count = np.zeros(31)
    for _ in range(runs):
        separated = Decoy(adopters=1)(star(30), rng=draw)
        count[list(count_known(separated, Role.HIDDEN) - count_known(separated, Role.PUBLIC))] += 1
    np.testing.assert_allclose(count[1:] / runs, 0.1, atol=4 * math.sqrt(0.09 / runs))


def test_only_well_connected_people_use_decoys():
    separated = Decoy(adopters=1.0)(NETWORK, rng=rng())
    np.testing.assert_array_equal(separated.adopters, np.flatnonzero(NETWORK.degree >= 30))
    role = separated.role
    assert np.count_nonzero(role == Role.PUBLIC) == np.count_nonzero(role == Role.HIDDEN) == len(separated.adopters)
    assert np.count_nonzero(role == Role.WHOLE) == NETWORK.n_nodes - len(separated.adopters)
    # a hub is public with nine tenths of its contacts, but some of those hide from it, or show it two faces
    public = np.flatnonzero(role == Role.PUBLIC)
    assert (separated.release.degree[public] > 0.8 * NETWORK.degree[separated.origin[public]]).all()


@pytest.mark.parametrize("shares", [(0.9, 0.2, 0.1), (0.4, 0.1, 0.5), (0.9, -0.1, 0.1)])
def test_shares_that_make_no_decoy_are_refused(shares):
    with pytest.raises(UnmaskError, match="expected shares with public"):
        Decoy(*shares)


# --- patterns of real people ------------------------------------------------------------------------------------------


def test_contacts_are_sorted_as_the_egos_are():
    n = 20_000
    separated = EgoPatterns(egos=(TABLE,), adopters=1)(star(n), rng=rng())
    release, origin = separated
    first, second = (set(origin[release.neighbors(node)].tolist()) for node in np.flatnonzero(origin == 0))
    larger, smaller = (first, second) if len(first) > len(second) else (second, first)
    assert larger | smaller == set(range(1, n + 1))
    for result, p in [(larger - smaller, 0.82), (smaller - larger, 0.16), (larger & smaller, 0.02)]:
        assert len(result) / n == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / n))


@pytest.mark.parametrize("strategy", ["patterns", "circles"])
def test_patterns_drop_no_person_and_give_no_person_more_identities_than_contacts(strategy):
    egos = (TABLE, Ego(9, np.eye(6, dtype=bool)))
    graph = SocialGraph.from_edges([0, 0, 0, 4], [1, 2, 3, 5])
    for seed in range(20):
        separated = EgoPatterns(strategy, egos=egos, largest=4, minimum_degree=0, adopters=1.0)(graph, rng=rng(seed))
        release, origin = separated
        u, v = (origin[end] for end in release.edges())
        assert set(zip(np.minimum(u, v).tolist(), np.maximum(u, v).tolist(), strict=True)) == {
            (0, 1),
            (0, 2),
            (0, 3),
            (4, 5),
        }
        assert (np.bincount(origin) <= graph.degree).all()


def test_an_ego_of_like_degree_is_chosen():
    small, large = Ego(10, np.eye(2, dtype=bool)), Ego(1_000, np.eye(4, dtype=bool))
    graph = SocialGraph.from_edges([0] * 30 + [31] * 600, range(1, 631), n_nodes=632)
    protection = EgoPatterns(egos=(small, large), adopters=2, minimum_degree=20)
    count = np.bincount(protection(graph, rng=rng()).origin)
    assert (count[0], count[31]) == (2, 4)


def test_the_number_of_circles_comes_first():
    # y is the number of circles of a random ego, 1, 3, or 5 cut to 4
    egos = (Ego(9, np.ones((4, 1), dtype=bool)), Ego(9, np.eye(3, dtype=bool)), Ego(9, np.eye(5, dtype=bool)))
    n = 3_000
    center = np.repeat(np.arange(n), 9)
    graph = SocialGraph.from_edges(center, n + np.arange(9 * n))
    egos_kept = EgoPatterns("circles", largest=4, egos=egos).sort(graph, np.arange(n), rng=rng())
    observed = np.bincount(np.bincount(egos_kept.owner), minlength=5) / n
    np.testing.assert_allclose(observed, [0, 1 / 3, 0, 1 / 3, 1 / 3], atol=4 * math.sqrt(2 / 9 / n))


def test_circles_are_read_from_a_tar_file(tmp_path):
    path = tmp_path / "egos.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name, text in {
            "x/1.circles": "a\t7\nb\t7\t8\nempty\n",
            "x/1.feat": "7 0\n8 1\n9 0\n",
            "x/2.circles": "",
            "x/2.feat": "5 1\n",
            "x/1.edges": "7 8\n",
        }.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    (ego,) = read_egos(path)
    assert repr(ego) == "Ego(3 contacts, 2 of them in 2 circles)"
    assert ego.member.tolist() == [[True, True], [True, False]]


def test_an_ego_without_contacts_is_refused(tmp_path):
    path = tmp_path / "egos.tar"
    with tarfile.open(path, "w") as tar:
        entry = tarfile.TarInfo("1.circles")
        entry.size = 4
        tar.addfile(entry, io.BytesIO(b"a\t7\n"))
    with pytest.raises(FailedError, match=r"no \.feat file"):
        read_egos(path)


@needs_data
def test_the_facebook_egos_are_all_there():
    # lines of the files: 347 .feat and 24 .circles of ego 0, and so on
    assert [ego.degree for ego in facebook_egos()] == [347, 1045, 792, 755, 547, 227, 59, 159, 170, 66]
    assert [ego.n_circles for ego in facebook_egos()] == [24, 9, 17, 46, 32, 14, 17, 7, 14, 13]
    separated = EgoPatterns(adopters=1.0)(NETWORK, rng=rng())
    assert np.bincount(separated.origin).max() == 5


def test_wrong_parameters_are_refused():
    with pytest.raises(UnmaskError, match="strategy is 'circle'"):
        EgoPatterns("circle")
    with pytest.raises(UnmaskError, match="largest is 0"):
        EgoPatterns(largest=0)
    with pytest.raises(UnmaskError, match="there is no ego"):
        EgoPatterns(egos=())
