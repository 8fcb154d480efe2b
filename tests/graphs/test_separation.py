import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from unmask.core.errors import UnmaskError
from unmask.graphs.datasets import barabasi_albert
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections import IdentitySeparation, PowerLaw, Role, Together
from unmask.graphs.protections.contact_sorting import draw_capacities, mean_shares
from unmask.graphs.protections.identities import build_release

MODELS = ["basic", "realistic", "realistic_minimal", "best", "worst"]
NETWORK = barabasi_albert(300, 4, rng=np.random.default_rng(5))


def rng(seed=1):
    return np.random.default_rng(seed)


def stars(n, leaves):
    """Return n separate stars; their centers are nodes 0 to n - 1."""
    center = np.repeat(np.arange(n), leaves)
    return SocialGraph.from_edges(center, n + np.arange(n * leaves)), np.arange(n)


def everybody(model="basic", **options):
    return IdentitySeparation(model, adopters=1.0, minimum_degree=0, **options)


def copies(graph, separated):
    """Count how often each edge of the graph is in the release."""
    release, origin = separated
    u, v = (origin[end] for end in release.edges())
    count = Counter(zip(np.minimum(u, v).tolist(), np.maximum(u, v).tolist(), strict=True))
    assert set(count) <= set(zip(*(end.tolist() for end in graph.edges()), strict=True))  # no new ties
    return [count[edge] for edge in zip(*(end.tolist() for end in graph.edges()), strict=True)]


def held_by(model, degree, n=2_000, seed=1, **options):
    """(n, y) contacts of each identity of n people with this degree, and (n,) contacts that any of them has."""
    graph, centers = stars(n, degree)
    separated = IdentitySeparation(model, **options).sort(graph, centers, rng=rng(seed))
    sizes = np.bincount(separated.identity, minlength=len(separated.owner)).reshape(n, -1)
    person = separated.owner[separated.identity]
    distinct = np.bincount(np.unique(np.column_stack((person, separated.tie)), axis=0)[:, 0], minlength=n)
    return sizes, distinct


# --- what each model may do to a tie (table 3.2 of Gulyas 2015) -------------------------------------------------------


@pytest.mark.parametrize("y", [1, 2, 5])
def test_basic_keeps_every_tie_once(y):
    assert set(copies(NETWORK, everybody("basic", identities=y)(NETWORK, rng=rng()))) == {1}


def test_best_drops_ties_and_doubles_none():
    result = copies(NETWORK, everybody("best", identities=3)(NETWORK, rng=rng()))
    assert set(result) == {0, 1}


def test_worst_doubles_ties_and_drops_none():
    result = copies(NETWORK, everybody("worst", identities=3)(NETWORK, rng=rng()))
    assert min(result) == 1
    assert max(result) > 1


@pytest.mark.parametrize("model", ["realistic", "realistic_minimal"])
def test_realistic_drops_and_doubles(model):
    result = copies(NETWORK, everybody(model, identities=2)(NETWORK, rng=rng()))
    assert min(result) == 0
    assert max(result) > 1


def test_sizes_and_contacts_are_as_each_model_allows():
    d = 20
    for y in (2, 5):
        sizes, distinct = held_by("best", d, identities=y)
        assert sizes.sum(axis=1).max() == d
        np.testing.assert_array_equal(distinct, sizes.sum(axis=1))
        sizes, distinct = held_by("worst", d, identities=y)
        assert sizes.sum(axis=1).max() > d
        assert set(distinct.tolist()) == {d}
        sizes, distinct = held_by("realistic_minimal", d, identities=y)
        np.testing.assert_array_equal(distinct, np.minimum(sizes.sum(axis=1), d))  # dropped only for want of room
        assert (distinct < d).any()
        sizes, distinct = held_by("realistic", d, identities=y)
        assert (distinct < np.minimum(sizes.sum(axis=1), d)).any()


def test_a_tie_of_two_adopters_is_there_for_each_pair_of_keepers():
    # against a double loop over everybody's identities
    for seed, model in enumerate(MODELS):
        protection = IdentitySeparation(model, identities=3, deviation=0.2)
        adopters = np.arange(0, 300, 2)
        separation = protection.sort(NETWORK, adopters, rng=rng(seed))
        keepers = {v: [] for v in adopters.tolist()}
        for identity, tie in zip(separation.identity.tolist(), separation.tie.tolist(), strict=True):
            keepers[int(separation.owner[identity])].append((identity, int(NETWORK.neighbor[tie])))
        expected = Counter()
        for u, v in zip(*(end.tolist() for end in NETWORK.edges()), strict=True):
            identities_of_u = [i for i, contact in keepers[u] if contact == v] if u in keepers else ["whole"]
            identities_of_v = [i for i, contact in keepers[v] if contact == u] if v in keepers else ["whole"]
            expected[len(identities_of_u) * len(identities_of_v)] += 1
        separated = build_release(NETWORK, [separation], rng=rng(seed))
        assert Counter(copies(NETWORK, separated)) == expected
        degrees = np.sort(separated.release.degree[separated.role == Role.IDENTITY])
        assert len(degrees) == len(separation.owner)


# --- the laws of equations (3.7) and (3.8) ----------------------------------------------------------------------------


def test_basic_is_multinomial():
    # equation (3.7): chi-square against the probabilities of all outcomes
    p, d, n = (0.5, 0.3, 0.2), 3, 20_000
    sizes, _ = held_by("basic", d, n, identities=3, sorting=p)
    outcomes = [(a, b, d - a - b) for a in range(d + 1) for b in range(d + 1 - a)]
    observed = [int((sizes == outcome).all(axis=1).sum()) for outcome in outcomes]
    expected = n * stats.multinomial.pmf(outcomes, d, p)
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_shares_are_normal_about_the_mean():
    # equation (3.8), mean 1/y; covariance deviation^2 I
    n, d = 4_000, 100_000
    share = (
        draw_capacities(np.full(n, d), np.full(n, 2), "uniform", deviation=0.05, total="any", rng=rng()).reshape(n, 2)
        / d
    )
    assert stats.kstest((share[:, 0] - 0.5) / 0.05, "norm").pvalue > 1e-3
    assert stats.kstest((share[:, 1] - 0.5) / 0.05, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(share.T)[0, 1]) < 4 / math.sqrt(n)


@pytest.mark.parametrize(("total", "sign"), [("at most", -1), ("at least", 1)])
def test_drawing_again_leaves_the_half_that_is_wanted(total, sign):
    # The sum of y shares is normal with mean 1 and deviation s = .05 sqrt(y); its half has mean 1 -+ s sqrt(2 / pi).
    n, d, y = 3_000, 1_000, 4
    counts = draw_capacities(np.full(n, d), np.full(n, y), "uniform", deviation=0.05, total=total, rng=rng())
    s = 0.05 * math.sqrt(y)
    half_deviation = s * math.sqrt(1 - 2 / math.pi)
    expected = 1 + sign * s * math.sqrt(2 / math.pi)
    assert counts.sum() / (n * d) == pytest.approx(expected, abs=4 * half_deviation / math.sqrt(n) + 1 / d)


def test_rounding_adds_and_removes_nothing_on_average():
    # degree 3, two identities of 1.5 contacts each
    n = 20_000
    counts = draw_capacities(np.full(n, 3), np.full(n, 2), "uniform", deviation=0.0, total="any", rng=rng())
    assert set(counts.tolist()) == {1, 2}
    assert counts.mean() == pytest.approx(1.5, abs=4 * 0.5 / math.sqrt(2 * n))


def test_random_deletion_drops_by_the_product_of_the_complements():
    # section 3.5.5: prod(1 - x_i / deg) = 1/4 with two identities of half the contacts each
    n, d = 2_000, 10
    sizes, distinct = held_by("realistic", d, n, identities=2, deviation=0.0)
    assert set(sizes.ravel().tolist()) == {5}
    dropped = 1 - distinct.sum() / (n * d)
    assert dropped == pytest.approx(0.25, abs=4 * math.sqrt(0.25 * 0.75 / (n * d)))


def test_every_contact_is_as_likely_to_be_kept():
    n, d = 4_000, 6
    graph, centers = stars(n, d)
    for model in MODELS:
        separated = IdentitySeparation(model, identities=2, deviation=0.2).sort(graph, centers, rng=rng())
        place = (separated.tie - graph.indptr[separated.owner[separated.identity]]) % d
        assert stats.chisquare(np.bincount(place, minlength=d)).pvalue > 1e-3


# --- how many identities, and how they are sorted ---------------------------------------------------------------------


def test_no_person_has_more_identities_than_contacts():
    _, origin = everybody("best", identities=5)(NETWORK, rng=rng())
    np.testing.assert_array_equal(np.bincount(origin), np.minimum(5, NETWORK.degree))


def test_no_identity_is_no_node_and_a_person_without_contacts_is_one():
    graph = SocialGraph.from_edges([0, 1], [1, 2], n_nodes=4)
    separated = IdentitySeparation(identities=0, adopters=1, cooperation="degree")(graph, rng=rng())
    assert sorted(separated.origin.tolist()) == [0, 2, 3]
    assert separated.release.n_edges == 0
    assert separated.adopters.tolist() == [1]
    assert sorted(everybody(identities=4)(graph, rng=rng()).origin.tolist()) == [0, 1, 1, 2, 3]


def test_numbers_of_identities_follow_their_law():
    for identities, law in [((0.2, 0.0, 0.8), [0.2, 0.0, 0.8]), (PowerLaw(2.0, 3), [0.0, 9 / 13, 4 / 13])]:
        graph, centers = stars(5_000, 4)
        separated = IdentitySeparation(identities=identities).sort(graph, centers, rng=rng())
        observed = np.bincount(np.bincount(separated.owner), minlength=4)[1:]
        np.testing.assert_allclose(observed / 5_000, law, atol=4 * 0.5 / math.sqrt(5_000))
        assert observed[np.array(law) == 0].sum() == 0


@pytest.mark.parametrize("model", MODELS)
def test_sorting_gives_the_mean_shares(model):
    sizes, _ = held_by(model, 500, 200, identities=3, sorting="power_law", deviation=0.001)
    np.testing.assert_allclose(sizes.mean(axis=0) / 500, mean_shares("power_law", 3), atol=0.01)


# --- the release ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_same_seed_same_release_and_other_seed_another(model):
    protection = IdentitySeparation(model, adopters=0.5)
    first, repeated, second = (protection(NETWORK, rng=rng(seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.release.neighbor, repeated.release.neighbor)
    np.testing.assert_array_equal(first.origin, repeated.origin)
    assert not np.array_equal(first.adopters, second.adopters)


def test_adopters_do_not_depend_on_the_model():
    chosen = [IdentitySeparation(model)(NETWORK, rng=rng()).adopters.tolist() for model in MODELS]
    assert all(node == chosen[0] for node in chosen)
    assert len(chosen[0]) == 30


def test_without_adopters_the_release_is_the_graph_renumbered():
    graph = SocialGraph.from_edges(*NETWORK.edges(), labels=[f"n{i}" for i in range(300)])
    release, origin = IdentitySeparation(adopters=0)(graph, rng=rng())
    assert release.labels is None
    assert not np.array_equal(origin, np.arange(300))
    number = np.argsort(origin)
    np.testing.assert_array_equal(release.take(number).neighbor, graph.neighbor)


def test_order_of_released_nodes_tells_nothing():
    # the identities of one person stand anywhere: mean distance of two of n shuffled numbers is (n + 1) / 3
    _, origin = everybody(identities=2)(NETWORK, rng=rng())
    n = len(origin)
    place = np.argsort(origin, kind="stable").reshape(-1, 2)
    assert (place[:, 1] - place[:, 0]).mean() == pytest.approx((n + 1) / 3, abs=4 * n / math.sqrt(18 * 300))


def test_roles_and_adopters_name_those_who_separated():
    separated = IdentitySeparation(adopters=7)(NETWORK, rng=rng())
    assert len(separated.adopters) == 7
    np.testing.assert_array_equal(separated.role == Role.IDENTITY, np.isin(separated.origin, separated.adopters))


# --- several models in one network ------------------------------------------------------------------------------------


def test_parts_that_choose_alike_divide_one_set_of_adopters():
    # section 5.3.2 of Gulyas 2015: 34, 33 and 33 %
    parts = tuple((s, IdentitySeparation(m)) for s, m in [(0.34, "basic"), (0.33, "realistic"), (0.33, "best")])
    separated = Together(parts)(NETWORK, rng=rng())
    assert len(separated.adopters) == len(np.unique(separated.adopters)) == 30
    assert len(separated.origin) == 300 + 30


def test_each_part_treats_its_own_people():
    top = IdentitySeparation(identities=0, adopters=10, cooperation="degree")
    separated = Together(((1.0, top), (1.0, everybody(identities=2))))(NETWORK, rng=rng())
    assert separated.adopters.tolist() == list(range(300))
    count = np.bincount(separated.origin, minlength=300)
    assert np.count_nonzero(count == 0) == 10
    assert np.count_nonzero(count == 2) == 290


# --- wrong use --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "good"}, "model is 'good', expected one of basic"),
        ({"identities": -1}, "identities is -1"),
        ({"identities": 1.5}, "identities is 1.5, expected a whole number"),
        ({"identities": True}, "identities is True, expected a whole number"),
        ({"identities": (0.5, 0.4)}, "sum to 0.9"),
        ({"identities": 3, "sorting": (0.5, 0.5)}, "sorting has 2 shares for up to 3 identities"),
        ({"sorting": (0.5, 0.6)}, "with sum 1.1"),
        ({"sorting": "normal"}, "expected uniform, power_law"),
        ({"deviation": -0.1}, "deviation is -0.1"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(UnmaskError, match=message):
        IdentitySeparation(**options)


def test_whole_numbers_of_numpy_are_whole_numbers():
    ring = SocialGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    first, second = (IdentitySeparation(identities=y, adopters=n, minimum_degree=1) for y, n in
                  [(2, 3), (np.int64(2), np.int64(3))])  # fmt: skip
    releases = [protection_made(ring, rng=np.random.default_rng(0)) for protection_made in (first, second)]
    assert len(releases[1].adopters) == 3
    assert releases[0].origin.tolist() == releases[1].origin.tolist()


def test_wrong_numbers_and_parts_are_refused():
    with pytest.raises(UnmaskError, match="has an empty range"):
        PowerLaw(2.0, largest=1)
    with pytest.raises(UnmaskError, match="0 parts"):
        Together(())
    with pytest.raises(UnmaskError, match="almost never gives at most"):
        draw_capacities(np.array([9]), np.array([2]), (1.0, 1.0), deviation=0.0, total="at most", rng=_high())


def _high():
    """A generator that always rounds up."""

    class High:
        def normal(self, mean, deviation):
            return mean + 0.1

        def random(self, n):
            return np.full(n, 0.999)

    return High()
