"""Every loss against a literal minimum over answers, and the shapes of what it refuses."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from unmask import ABSENT, Posterior, Truth, UnmaskError
from unmask.measures import estimation_error, realized_error, sampling_error
from unmask.measures.losses import EARTH_RADIUS_M, as_matrix, decision_problem, distances
from unmask.measures.losses.coordinates import diameter, manhattan_diameter


@st.composite
def dense(draw, *, max_size=6):
    n = draw(st.integers(2, max_size))
    rows = draw(st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any), min_size=1, max_size=5))
    table = np.array(rows, dtype=float)
    return table / table.sum(axis=1, keepdims=True)


def best_answer(belief, loss, coordinates=None):
    return decision_problem(loss, belief.n_candidates, coordinates=coordinates).best(belief)


def great_circle(a, b):
    """Haversine formula, as in R. W. Sinnott, 'Virtues of the haversine', 1984."""
    (la, oa), (lb, ob) = np.radians(a), np.radians(b)
    h = np.sin((lb - la) / 2) ** 2 + np.cos(la) * np.cos(lb) * np.sin((ob - oa) / 2) ** 2
    return 2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(h))


@settings(max_examples=100, deadline=None)
@given(dense(), st.integers(0, 1000))
def test_squared_is_answered_with_the_mean(table, seed):
    z = np.random.default_rng(seed).normal(100.0, 1.0, table.shape[1])
    risk, answer = best_answer(Posterior.from_dense(table), "squared", z)
    assert answer == pytest.approx(table @ z, rel=1e-6)
    assert risk == pytest.approx(table @ z**2 - (table @ z) ** 2, abs=1e-5)


@settings(max_examples=100, deadline=None)
@given(dense(), st.integers(0, 1000))
def test_absolute_is_answered_with_a_median(table, seed):
    # the smallest of a convex, piecewise linear function lies at a corner: at one of the candidates
    z = np.random.default_rng(seed).normal(size=table.shape[1]).round(1)
    risk, answer = best_answer(Posterior.from_dense(table), "absolute", z)
    literal = np.abs(z[:, None] - z) @ table.T
    assert risk == pytest.approx(literal.min(axis=0), abs=1e-5)
    mass_below = (table * (z < answer[:, None] - 1e-9)).sum(axis=1)
    mass_above = (table * (z > answer[:, None] + 1e-9)).sum(axis=1)
    assert np.all(mass_below <= 0.5 + 1e-5)
    assert np.all(mass_above <= 0.5 + 1e-5)


@settings(max_examples=60, deadline=None)
@given(dense(), st.integers(0, 1000))
def test_dimensions_of_squared_and_absolute_add_up(table, seed):
    belief, xy = Posterior.from_dense(table), np.random.default_rng(seed).normal(size=(table.shape[1], 2))
    for loss in ("squared", "absolute"):
        risk, answer = best_answer(belief, loss, xy)
        answers = [best_answer(belief, loss, column) for column in xy.T]
        assert risk == pytest.approx(sum(r for r, _ in answers), abs=1e-6)
        assert np.allclose(answer, np.column_stack([a for _, a in answers]))


@settings(max_examples=60, deadline=None)
@given(dense(), st.integers(0, 1000))
def test_geometric_median_equals_a_general_minimizer(table, seed):
    xy = np.random.default_rng(seed).normal(size=(table.shape[1], 2))
    risk, answer = best_answer(Posterior.from_dense(table), "euclidean", xy)
    for p, r, a in zip(table, risk, answer, strict=True):
        cost = lambda x, p=p: float(p @ np.linalg.norm(xy - x, axis=1))  # noqa: E731
        starts = [p @ xy, *xy]
        result = min(
            minimize(cost, s, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9}).fun for s in starts
        )
        assert r == pytest.approx(result, rel=3e-6, abs=1e-6)
        assert cost(a) == pytest.approx(r, rel=1e-6, abs=1e-6)


def test_geometric_median_of_textbook_triangles():
    # Fermat point: equilateral triangle of side 1, sum of distances sqrt(3); at an angle of 120 degrees, that corner
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    third = Posterior.from_dense(np.full((1, 3), 1 / 3))
    risk, answer = best_answer(third, "euclidean", triangle)
    assert risk[0] == pytest.approx(np.sqrt(3) / 3, rel=1e-6)
    assert answer[0] == pytest.approx(triangle.mean(axis=0), abs=1e-4)
    blunt = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.1]])
    assert np.array_equal(best_answer(third, "euclidean", blunt)[1][0], blunt[0])
    # an attacker who must name a candidate pays the best corner: (0 + 1 + 1) / 3
    risk, answer = best_answer(third, "euclidean_medoid", triangle)
    assert risk[0] == pytest.approx(2 / 3, rel=1e-6)
    assert answer[0] == 0


@settings(max_examples=60, deadline=None)
@given(dense(), st.integers(0, 1000))
@example(np.array([[0.2, 0.0, 0.4, 0.3, 0.1]]), 326)  # points nearly on a line
def test_haversine_equals_the_formula_and_the_plane_when_small(table, seed):
    rng = np.random.default_rng(seed)
    world = np.column_stack([rng.uniform(-80, 80, table.shape[1]), rng.uniform(-180, 180, table.shape[1])])
    literal = np.array([[great_circle(a, b) for b in world] for a in world])
    assert np.allclose(as_matrix("haversine", len(world), coordinates=world), literal, rtol=1e-9, atol=1e-3)
    belief, meters = Posterior.from_dense(table), np.pi / 180 * EARTH_RADIUS_M
    small = rng.normal(size=(table.shape[1], 2)) * 1e-3  # a hundred meters around a point of the equator
    near, answer = best_answer(belief, "haversine", small)
    flat, center = best_answer(belief, "euclidean", small * meters)
    assert near == pytest.approx(flat, rel=1e-5, abs=1e-4)
    lengths = np.linalg.norm((answer - center / meters) * meters, axis=1)
    cost = [row @ np.linalg.norm((small - a) * meters, axis=1) for row, a in zip(table, answer, strict=True)]
    assert np.all((lengths < 0.5) | np.isclose(cost, flat, rtol=1e-5, atol=1e-4))


def test_haversine_of_known_distances():
    # a quarter of the Earth's circumference from the pole to the equator; half a turn along the equator
    points = np.array([[90.0, 0.0], [0.0, 0.0], [0.0, 180.0]])
    quarter = np.pi / 2 * EARTH_RADIUS_M
    assert np.allclose(
        as_matrix("haversine", 3, coordinates=points), quarter * np.array([[0, 1, 1], [1, 0, 2], [1, 2, 0]])
    )


@settings(max_examples=60, deadline=None)
@given(dense(), st.integers(0, 1000))
def test_matrix_callable_and_medoid_are_the_literal_minimum(table, seed):
    rng, n = np.random.default_rng(seed), table.shape[1]
    belief, matrix = Posterior.from_dense(table), rng.uniform(0, 3, (n + 2, n))
    risk, answer = best_answer(belief, matrix)
    assert risk == pytest.approx((matrix @ table.T).min(axis=0), abs=1e-6)
    assert np.allclose((matrix @ table.T)[answer, np.arange(len(table))], risk, atol=1e-6)

    square = matrix[:n]
    risk, answer = best_answer(belief, lambda a, x: square[a, x])
    literal = np.where(table > 0, (square @ table.T).T, np.inf)  # he answers with what he believes possible
    assert risk == pytest.approx(literal.min(axis=1), abs=1e-6)
    assert np.all(table[np.arange(len(table)), answer] > 0)

    xy = rng.normal(size=(n, 2))
    lengths = np.linalg.norm(xy[:, None] - xy, axis=-1)
    assert best_answer(belief, "euclidean_medoid", xy)[0] == pytest.approx(
        np.where(table > 0, (lengths @ table.T).T, np.inf).min(axis=1), abs=1e-6
    )


def test_mean_beats_the_grid():
    # a Gaussian known on a grid of step sigma: answers on the grid overstate privacy by more than 2 %
    step = 1.0
    z = np.arange(-8.0, 9.0, step)
    centers = np.linspace(0, step, 50, endpoint=False)
    p = np.exp(-((z - centers[:, None]) ** 2) / 2)
    belief = Posterior.from_dense(p / p.sum(axis=1, keepdims=True))
    free = best_answer(belief, "squared", z)[0].mean()
    on_grid = best_answer(belief, as_matrix("squared", len(z), coordinates=z))[0].mean()
    assert free == pytest.approx(1.0, rel=1e-3)
    assert on_grid > 1.02 * free
    assert on_grid == pytest.approx(free + step**2 / 12, rel=1e-2)  # a mean rounded to the grid


def with_shared(n, n_listed, unlisted, n_unlisted, log_prior=None):
    """One row that lists some candidates and leaves the rest of the mass unlisted."""
    return Posterior(
        indptr=np.array([0, len(n_listed)]),
        candidate=np.array(sorted(n_listed), dtype=np.int32),
        log_probability=np.log([n_listed[c] for c in sorted(n_listed)]).astype(np.float32),
        unlisted=np.array([unlisted]),
        n_unlisted=np.array([n_unlisted]),
        observation=np.array([0]),
        weight=np.array([1.0]),
        n_candidates=n,
        log_prior=-float(np.log(n)) if log_prior is None else log_prior,
    )


@pytest.mark.parametrize(
    "loss", ["hamming", "squared", "absolute", "euclidean", "euclidean_medoid", "haversine", "matrix", "callable"]
)
def test_shared_mass_equals_the_same_written_out(loss):
    points = np.array([[0.0, 0.0], [1.0, 3.0], [5.0, 1.0], [2.0, 2.0], [7.0, 4.0]])
    squared_distances = ((points[:, None] - points) ** 2).sum(axis=-1)
    given_loss = {"matrix": squared_distances, "callable": lambda a, x: squared_distances[a, x]}.get(loss, loss)
    part = with_shared(5, {1: 0.3, 4: 0.4}, 0.3, 3)
    full_belief = Posterior.from_dense(np.array([[0.1, 0.3, 0.1, 0.1, 0.4]]))
    problem, two = (decision_problem(given_loss, 5, coordinates=points) for _ in range(2))
    assert problem.best(part)[0] == pytest.approx(two.best(full_belief)[0], rel=1e-5)
    assert problem.sampling_loss(part) == pytest.approx(two.sampling_loss(full_belief), rel=1e-5)
    for x in range(5):
        assert problem.realized_loss(part, Truth([x])) == pytest.approx(
            two.realized_loss(full_belief, Truth([x])), rel=1e-5, abs=1e-6
        )
        assert problem.realized_sampling_loss(part, Truth([x])) == pytest.approx(
            two.realized_sampling_loss(full_belief, Truth([x])), rel=1e-5
        )


@pytest.mark.parametrize("n_unlisted", [0, -1])
@pytest.mark.parametrize("loss", ["hamming", "squared", "absolute", "euclidean_medoid", "matrix"])
def test_none_of_these_costs_the_largest_loss(loss, n_unlisted):
    z = np.array([0.0, 1.0, 4.0])
    given_loss = np.abs(np.subtract.outer(z, z)) if loss == "matrix" else loss
    problem = decision_problem(given_loss, 3, coordinates=z)
    largest = {"hamming": 1.0, "squared": 16.0}.get(loss, 4.0)
    assert problem.largest == largest
    part = with_shared(3, {0: 0.6, 1: 0.2}, 0.2, n_unlisted)
    belief = Posterior.from_dense(np.array([[0.75, 0.25, 0.0]]))
    assert problem.best(part)[0] == pytest.approx(0.8 * problem.best(belief)[0] + 0.2 * largest, rel=1e-5)
    assert problem.sampling_loss(part) == pytest.approx(0.8 * problem.sampling_loss(belief) + 0.2 * largest, rel=1e-5)
    assert problem.realized_loss(part, Truth([ABSENT])) == pytest.approx(largest)
    assert problem.realized_sampling_loss(part, Truth([ABSENT])) == pytest.approx(largest)


@pytest.mark.parametrize("loss", ["hamming", "squared", "absolute", "euclidean", "haversine", "euclidean_medoid"])
def test_a_belief_without_candidates_has_no_nan(loss):
    points = np.array([[0.0, 0.0], [3.0, 4.0]])
    belief = Posterior.from_dense(np.array([[0.0, 0.0]]), prior=np.array([0.4, 0.4]))
    problem = decision_problem(loss, 2, coordinates=points)
    risk, answer = problem.best(belief)
    assert risk[0] == pytest.approx(problem.largest)
    assert problem.sampling_loss(belief)[0] == pytest.approx(problem.largest)
    assert problem.realized_sampling_loss(belief, Truth([0]))[0] == pytest.approx(problem.largest)
    assert np.all(np.isfinite(answer))


def test_rows_of_very_different_length_meet_their_own_answers():
    rng = np.random.default_rng(0)
    lengths = [1, 7, 300, 2, 0, 31, 8]
    z, indptr = rng.normal(size=400), np.concatenate(([0], np.cumsum(lengths)))
    candidate = np.concatenate([np.sort(rng.choice(400, k, replace=False)) for k in lengths]).astype(np.int32)
    rows = [rng.dirichlet(np.ones(k)) for k in lengths if k]
    belief = Posterior(
        indptr=indptr,
        candidate=candidate,
        log_probability=np.log(np.concatenate(rows)).astype(np.float32),
        unlisted=np.where(np.array(lengths) == 0, 1.0, 0.0),
        n_unlisted=np.zeros(7, dtype=np.int64),
        observation=np.arange(7),
        weight=np.full(7, 1 / 7),
        n_candidates=400,
        log_prior=-float(np.log(400)),
    )
    table = np.zeros((7, 400))
    table[np.repeat(np.arange(7), lengths), candidate] = np.concatenate(rows)
    full = [0, 1, 2, 3, 5, 6]
    distances_between = np.abs(np.subtract.outer(z, z))
    absolute = decision_problem("absolute", 400, coordinates=z)
    assert absolute.best(belief)[0][full] == pytest.approx((table @ distances_between).min(axis=1)[full], abs=1e-5)
    gini = np.einsum("yi,ij,yj->y", table, distances_between, table)
    assert absolute.sampling_loss(belief)[full] == pytest.approx(gini[full], abs=1e-5)
    problem = decision_problem(lambda a, x: np.abs(z[a] - z[x]), 400)
    assert problem.sampling_loss(belief)[full] == pytest.approx(gini[full], abs=1e-5)
    assert decision_problem("hamming", 400).best(belief)[1][full].tolist() == table.argmax(axis=1)[full].tolist()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 1000))
def test_diameters_are_the_largest_of_all_pairs(n, dimensions, seed):
    points = np.random.default_rng(seed).normal(size=(n, dimensions))
    differences = points[:, None] - points
    assert diameter(points) == pytest.approx(np.sqrt((differences**2).sum(axis=-1)).max())
    assert manhattan_diameter(points) == pytest.approx(np.abs(differences).sum(axis=-1).max())


@pytest.mark.parametrize(
    ("loss", "coordinates", "message"),
    [
        ("squred", [0, 1], "expected one of hamming"),
        ("squared", None, "needs the coordinates"),
        ("squared", [0, 1, 2], "one row for each of 2"),
        ("squared", [0, np.nan], "candidate 1"),
        ("haversine", [[91, 0], [0, 0]], "latitude"),
        ("haversine", [0, 1], "latitude"),
        ([[0, 1, 2]], None, "answers x truths with 2"),
        ([[0, 1], [-1, 0]], None, "answer 1"),
        ([[0, np.inf]], None, "every answer has an infinite loss"),
    ],
)
def test_wrong_losses_are_refused(loss, coordinates, message):
    with pytest.raises(UnmaskError, match=message):
        decision_problem(loss, 2, coordinates=coordinates)


def test_callables_of_the_wrong_kind_are_refused():
    belief = Posterior.from_dense(np.array([[0.5, 0.5]]))
    with pytest.raises(UnmaskError, match="shape"):
        best_answer(belief, lambda a, x: 1.0)
    with pytest.raises(UnmaskError, match="at least 0"):
        best_answer(belief, lambda a, x: (a - x) * 1.0)
    with pytest.raises(UnmaskError, match="one row for each candidate"):
        decision_problem(np.ones((3, 2)), 2).sampling_loss(belief)


@pytest.mark.parametrize("loss", ["euclidean_medoid", "haversine_medoid"])
def test_rows_of_shared_candidates_cost_what_their_own_pairs_say(monkeypatch, loss):
    rng = np.random.default_rng(8)
    table = rng.dirichlet(np.ones(7), 40) * (rng.random((40, 7)) < 0.8) * 0.9
    belief, xy = Posterior.from_dense(table[table.any(axis=1)]), rng.random((7, 2))
    measures = estimation_error(loss, coordinates=xy), sampling_error(loss, coordinates=xy)
    values = [measure.per_target(belief) for measure in measures]
    monkeypatch.setattr(import_module("unmask.measures.losses.problem"), "_tabulate_pairs", lambda *_: None)
    for measure, expected in zip(measures, values, strict=True):
        assert measure.per_target(belief) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("distance_between", [0.0, 1e-6, 1e-3])
def test_points_that_nearly_coincide_have_the_best_median(distance_between):
    """Newton's steps overshoot there; the answer is the best place that any point or step of ours is."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        points = np.repeat(rng.normal(size=(5, 2)), 2, axis=0) + distance_between * rng.normal(size=(10, 2))
        p = rng.dirichlet(np.full(10, 0.3), size=20)
        result = estimation_error("euclidean", coordinates=points).per_target(Posterior.from_dense(p))
        place = p @ points
        for _ in range(3000):  # Weiszfeld's steps alone
            weight = p / np.maximum(np.linalg.norm(points - place[:, None], axis=2), 1e-12)
            place = weight @ points / weight.sum(axis=1, keepdims=True)
        least_loss = (p * np.linalg.norm(points - place[:, None], axis=2)).sum(axis=1)
        assert np.all(result <= least_loss * (1 + 1e-6))


def test_best_answers_are_found_once_for_both_errors(monkeypatch):
    calls, medians = [], distances.geometric_medians
    monkeypatch.setattr(
        distances, "geometric_medians", lambda *arguments: calls.append(arguments) or medians(*arguments)
    )
    rng = np.random.default_rng(0)
    places, belief = rng.random((6, 2)), Posterior.from_dense(rng.dirichlet(np.ones(6), 30))
    expected = estimation_error("euclidean", coordinates=places).per_target(belief)
    realized_error("euclidean", coordinates=places).per_target(belief, Truth(np.zeros(30, dtype=np.int64)))
    assert len(calls) == 1
    doubled = estimation_error("euclidean", coordinates=2 * places).per_target(belief)
    assert len(calls) == 2
    assert doubled == pytest.approx(2 * expected, rel=1e-5)
