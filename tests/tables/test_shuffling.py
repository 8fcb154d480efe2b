"""Data shuffling, against its definition; and the adversary who knows that values changed places."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata, spearmanr

from unmask import UnmaskError
from unmask.measures import realized_success, success_probability
from unmask.tables import Background, ClassAttack, Knowledge, MechanismAttack, Shuffle, Table

NAMES = ("age", "schooling", "income", "savings")


def people_of(n, *, seed):
    """Four numbers that go together; income and savings are skewed."""
    rng = np.random.default_rng(seed)
    age = rng.normal(size=n)
    schooling = rng.normal(size=n) - 0.3 * age
    income = age + schooling + rng.normal(size=n)
    savings = income + age + 2 * rng.normal(size=n)
    columns = {"age": np.round(40 + 12 * age, 2), "schooling": np.round(12 + 3 * schooling),
               "income": np.round(np.exp(10 + income / 2)), "savings": np.round(np.exp(9 + savings / 2))}  # fmt: skip
    return Table.read(columns, quasi_identifiers=NAMES)


def numbers(table, name):
    return np.array([float(cell) for cell in table[name]])


def shuffle_literally(s, x, noise):
    """Return shuffled columns: the conditional normal distribution of the scores, by their covariance matrix.

    Muralidhar and Sarathy (2006), section 3. noise : (n, n_shuffled) independent standard normal numbers
    """
    n = len(x)
    scores = norm.ppf((np.apply_along_axis(rankdata, 0, np.hstack([s, x])) - 0.5) / n)
    mean, cov = scores.mean(axis=0), np.cov(scores.T, bias=True)
    d = s.shape[1]
    slope = cov[d:, :d] @ np.linalg.inv(cov[:d, :d])
    given = cov[d:, d:] - slope @ cov[:d, d:]
    values, vectors = np.linalg.eigh(given)
    draws = mean[d:] + (scores[:, :d] - mean[:d]) @ slope.T + noise * np.sqrt(values) @ vectors.T
    shuffled = np.empty_like(x)
    for j in range(x.shape[1]):
        smallest_first = sorted(x[:, j])
        for position, person in enumerate(sorted(range(n), key=lambda i, j=j: draws[i, j])):
            shuffled[person, j] = smallest_first[position]
    return shuffled


def test_shuffled_values_are_those_of_the_conditional_distribution():
    table = people_of(300, seed=1)
    release, origin = Shuffle(("income", "savings"))(table, rng=np.random.default_rng(7))
    s, x = (np.stack([numbers(table, name) for name in names], axis=1) for names in (NAMES[:2], NAMES[2:]))
    expected = shuffle_literally(s, x, np.random.default_rng(7).standard_normal((300, 2)))
    released = np.stack([numbers(release, name) for name in NAMES[2:]], axis=1)
    assert (released[np.argsort(origin)] == expected).all()


def test_margins_and_rank_correlations_stay_and_people_are_no_longer_in_their_values():
    table = people_of(20_000, seed=2)
    release, origin = Shuffle(("income", "savings"))(table, rng=np.random.default_rng(0))
    before, after = (np.stack([numbers(side, name) for name in NAMES], axis=1) for side in (table, release))
    assert (np.sort(before, axis=0) == np.sort(after, axis=0)).all()
    assert (before[origin, :2] == after[:, :2]).all()
    assert np.abs(spearmanr(before)[0] - spearmanr(after)[0]).max() < 0.02

    scores = [norm.ppf((np.apply_along_axis(rankdata, 0, side) - 0.5) / 20_000) for side in (before[origin], after)]
    terms = np.column_stack([np.ones(20_000), scores[0][:, :2]])
    true, shuffled = (side[:, 2] - terms @ np.linalg.lstsq(terms, side[:, 2], rcond=None)[0] for side in scores)
    assert abs(np.corrcoef(true, shuffled)[0, 1]) < 4 / np.sqrt(20_000)  # independent, given the other columns


def test_rare_categories_have_no_term_of_their_own():
    """A category of one person would reproduce the value of this person."""
    rng = np.random.default_rng(0)
    columns = {"income": np.arange(2000), "name": [f"n{i}" for i in range(2000)], "sex": np.arange(2000) < 1000}
    table = Table.read({name: list(cells) for name, cells in columns.items()}, quasi_identifiers=list(columns))
    release, origin = Shuffle()(table, rng=rng)
    true, shuffled = numbers(table, "income")[origin], numbers(release, "income")
    for half in (true < 1000, true >= 1000):
        assert abs(np.corrcoef(true[half], shuffled[half])[0, 1]) < 4 / np.sqrt(1000)
    assert np.corrcoef(true, shuffled)[0, 1] > 0.3  # sex has a term


def test_adversary_who_knows_the_shuffling_links_by_the_other_columns_only():
    table, general = people_of(2000, seed=3), people_of(4000, seed=4)
    protection = Shuffle(("age", "income", "savings"))
    release, origin = protection(table, rng=np.random.default_rng(0))
    knowledge = Knowledge(targets=500)(table, origin, rng=np.random.default_rng(1))
    background = Background(knowledge.people, general)
    belief = MechanismAttack(protection)(release, background, rng=np.random.default_rng(2))
    same = release["schooling"][:, None] == np.asarray(knowledge.people["schooling"])
    assert success_probability(belief, knowledge.truth) == pytest.approx(np.mean(1 / same.sum(axis=0)), rel=0.02)
    assert realized_success(belief, knowledge.truth) == pytest.approx(np.mean(1 / same.sum(axis=0)), abs=0.01)
    naive = ClassAttack()(release, background)
    assert realized_success(naive, knowledge.truth) < realized_success(belief, knowledge.truth)


def test_columns_that_cannot_be_shuffled_are_refused():
    columns = {"sex": list("ffm"), "age": [1, None, 3]}
    table = Table.read(columns, quasi_identifiers=list(columns), types={"age": "number"})
    with pytest.raises(UnmaskError, match="'sex' have no order"):
        Shuffle("sex")(table)
    with pytest.raises(UnmaskError, match="'age' has missing cells"):
        Shuffle()(table)
    with pytest.raises(UnmaskError, match="no quasi-identifier has an order"):
        Shuffle()(Table.read({"sex": list("ffm")}, quasi_identifiers="sex"))
