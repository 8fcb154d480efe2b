"""`evaluate` against the paper's algorithms on sets and fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.measures.clustering import literal
from unmask.core.partition import Partition, View
from unmask.measures.clustering import Contingency, evaluate, merge_lists

SHARES = [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(9, 10), Fraction(1)]
quick = settings(max_examples=80, deadline=None, derandomize=True)
shares = st.sampled_from(SHARES)
breached = st.sampled_from([np.nan, 1.0])


@st.composite
def labels(draw, n):
    return draw(st.lists(st.integers(0, draw(st.integers(0, n - 1))), min_size=n, max_size=n))


@st.composite
def pairs(draw, largest=12):
    n = draw(st.integers(1, largest))
    return draw(labels(n)), draw(labels(n))


@st.composite
def weighted(draw, largest=10):
    solution, adversary = draw(pairs(largest))
    grid = draw(st.sampled_from([1, 8, 10, 3]))
    fraction = st.integers(0, grid).map(lambda k: Fraction(k, grid))
    weights = draw(st.lists(fraction, min_size=len(solution), max_size=len(solution)))
    places = st.tuples(st.sampled_from(sorted(set(solution))), st.integers(0, len(solution) - 1))
    overrides = [(*place, draw(fraction)) for place in draw(st.lists(places, unique=True, max_size=4))]
    return solution, adversary, weights, overrides


@st.composite
def views(draw):
    n = draw(st.integers(1, 9))
    chances = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    labelings = [draw(labels(n)) for _ in chances]
    if len(labelings) > 2:
        labelings[-1] = labelings[0]  # a repeated partition counts repeatedly
    return draw(labels(n)), [
        (labeling, Fraction(c, sum(chances))) for labeling, c in zip(labelings, chances, strict=True)
    ]


def agree(solution, view, alpha, beta, convention=1.0, ours=None, **options):
    """Check all values of `evaluate` against the oracle; `ours` are the contingency's words for the same options."""
    partitions = [Partition(labeling) for labeling, _ in view]
    adversary = partitions[0] if len(view) == 1 else View(partitions, [float(p) for _, p in view])
    met = Contingency.of(Partition(solution), adversary, **(ours or {}))
    policy = {name: options[name] for name in ("contamination_wanted", "min_size") if name in options}
    result = evaluate(met, alpha=float(alpha), beta=float(beta), breached_slope=convention, **policy)
    name = "nan" if np.isnan(convention) else "one"
    expected = literal.evaluate(solution, view, alpha=alpha, beta=beta, **options, breached=name, breached_overall=name)
    assert literal.differences(result, expected) == []


@quick
@given(pairs(), shares, shares, breached, st.booleans())
def test_counts(pair, alpha, beta, convention, wanted):
    agree(pair[0], [(pair[1], 1)], alpha, beta, convention, contamination_wanted=wanted)


@quick
@given(weighted(), shares, shares)
def test_weights(case, alpha, beta):
    solution, adversary, weights, overrides = case
    ours = {
        "weights": [float(w) for w in weights],
        "overrides": [(subject, item, float(w)) for subject, item, w in overrides],
    }
    agree(solution, [(adversary, 1)], alpha, beta, ours=ours, weights=weights, overrides=overrides)


@quick
@given(views(), shares, shares, breached, st.booleans())
def test_views(case, alpha, beta, convention, wanted):
    agree(*case, alpha, beta, convention, contamination_wanted=wanted)


@quick
@given(pairs(), st.data(), shares)
def test_subjects_with_parameters_of_their_own(pair, data, beta):
    solution, adversary = pair
    names = sorted(set(solution))
    several = st.lists(shares, min_size=len(names), max_size=len(names))
    alphas, betas = data.draw(several), data.draw(st.none() | several)
    flags = data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    parameters = {
        "subject_alpha": dict(zip(names, alphas, strict=True)),
        "subject_contamination_wanted": dict(zip(names, flags, strict=True)),
        **({} if betas is None else {"subject_beta": dict(zip(names, betas, strict=True))}),
    }
    short = {"subject_contamination_wanted": "wanted", "subject_alpha": "alpha", "subject_beta": "beta"}
    values_by_name = {short[name]: [value[subject] for subject in names] for name, value in parameters.items()}
    agree(solution, [(adversary, 1)], Fraction(1, 2), beta, ours={"own": values_by_name}, **parameters)


@quick
@given(views(), st.data(), shares)
def test_weights_views_and_parameters_of_subjects_together(case, data, beta):
    solution, view = case
    names, grid = sorted(set(solution)), data.draw(st.sampled_from([1, 3, 8, 997]))
    one = st.integers(0, grid).map(lambda k: Fraction(k, grid))
    weights = data.draw(st.lists(one, min_size=len(solution), max_size=len(solution)))
    alphas = data.draw(st.lists(shares, min_size=len(names), max_size=len(names)))
    agree(
        solution,
        view,
        Fraction(1, 2),
        beta,
        ours={"weights": [float(w) for w in weights], "own": {"alpha": alphas}},
        weights=weights,
        subject_alpha=dict(zip(names, alphas, strict=True)),
        min_size=data.draw(st.integers(1, max(map(solution.count, names)))),
    )


@quick
@given(pairs(largest=60), shares, shares)
def test_larger_partitions(pair, alpha, beta):
    agree(pair[0], [(pair[1], 1)], alpha, beta)


@quick
@given(pairs(), shares, shares, st.integers(1, 4))
def test_small_subjects_left_out(pair, alpha, beta, min_size):
    largest = max(pair[0].count(name) for name in pair[0])
    agree(pair[0], [(pair[1], 1)], alpha, beta, min_size=min(min_size, largest))


@quick
@given(pairs(), shares)
def test_merge_lists(pair, alpha):
    solution, adversary = pair
    expected = literal.evaluate(solution, [(adversary, 1)], alpha=alpha)
    met = Contingency.of(Partition(solution), Partition(adversary))
    lists = merge_lists(met, [subject.name for subject in expected.subjects], alpha=float(alpha))
    for subject, numbers in zip(expected.subjects, lists, strict=True):
        assert numbers.cluster.tolist() == subject.merge_order[0]
        assert numbers.linked == pytest.approx([float(y) for y in subject.linked])
        assert numbers.mixed == pytest.approx([float(y) for y in subject.mixed])


def test_exact_thresholds_are_exact_for_many_subjects():
    # breached iff own(0) >= beta c, on integers: every subject has exactly 9/10 of its items in one cluster
    size = np.tile([10, 20, 30, 70], 20_000)
    truth = np.repeat(np.arange(len(size)), size)
    place = np.arange(len(truth)) - np.repeat(np.cumsum(size) - size, size)
    guess = 4 * truth + np.where(place < np.repeat(size * 9 // 10, size), 0, 1 + place % 3)
    subjects, cut = Partition(truth), Partition(guess)
    met = Contingency.of(subjects, cut)
    index, upper = (evaluate(met, beta=beta) for beta in (0.9, 0.9001))
    assert index.breached.all()
    assert not upper.breached.any()
    single = upper.merges[size == 10]
    assert single == pytest.approx(np.full(len(single), 0.0001 / 0.1), rel=1e-6)  # one merge brings the last tenth


def test_the_oracle_knows_the_paper():
    # section 4, the left partition: 12 misses, 4 includes, and the stars' slope of 23.20 % after 1.4 merges
    rows = [(0, 0, 1, 3), (0, 0, 1, 2), (1, 4, 0, 1), (3, 1, 1, 0), (2, 0, 0, 0), (0, 1, 3, 0)]
    cells = [(shape, cluster, x) for cluster, row in enumerate(rows) for shape, x in enumerate(row)]
    solution = [shape for shape, _, x in cells for _ in range(x)]
    adversary = [cluster for _, cluster, x in cells for _ in range(x)]
    result = literal.evaluate(solution, [(adversary, 1)], beta=Fraction(9, 10))
    assert (result.miss_total, result.include_total, result.kind) == (12, 4, "conservative")
    assert result.subjects[3].merges == Fraction(7, 5)
    assert round(result.subjects[3].risk_slope, 4) == 0.2320
    m, i, error, slopes, overall = literal.plain(solution, adversary, 0.5, 0.9)
    assert (m, i) == (12, 4)
    assert (error, overall) == pytest.approx((result.normalized_error, result.slope_overall))
    assert slopes == pytest.approx([subject.risk_slope for subject in result.subjects], nan_ok=True)
