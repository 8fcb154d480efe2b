"""Population uniqueness: closed forms, and samples from populations whose uniques are known."""

import numpy as np
import pytest
from scipy import stats

from unmask.core.errors import UnmaskError
from unmask.core.grouping import group
from unmask.measures.registry import CRITERIA
from unmask.tables import criteria, datasets
from unmask.tables.risk import population

Q5 = (0, 4, 5, 8, 9)  # age, education-num, marital-status, race, sex


@pytest.fixture(scope="module")
def adult():
    """Class of each of the 48,842 people of both parts of Adult."""
    lines = [
        line.split(",")
        for name in ("adult.data", "adult.test")
        for line in datasets.locate("adult/" + name).read_text().splitlines()
    ]
    people = [[cells[j].strip() for j in Q5] for cells in lines if len(cells) == 15]
    columns = [np.unique(column, return_inverse=True) for column in np.array(people).T]
    of_row, sizes, _ = group([c[1].astype(np.int32) for c in columns], [len(c[0]) for c in columns])
    assert len(of_row) == 48_842
    assert np.count_nonzero(sizes == 1) == 3_948
    assert len(sizes) == 7_976
    return of_row


def sample(of_row, share, rng):
    chosen = rng.choice(of_row, round(share * len(of_row)), replace=False)
    sizes = np.bincount(chosen)
    return sizes[sizes > 0]


# (mean, spread) of our estimates over 60 samples, drawn with other seeds than here, and ARX's value on one sample
@pytest.mark.parametrize(
    ("share", "name", "mean", "spread", "by_arx"),
    [
        (0.01, "pitman", 2_862, 1_558, 3_901),
        (0.05, "pitman", 4_981, 485, 4_550),
        (0.2, "pitman", 4_595, 145, 4_808),
        (0.5, "pitman", 4_248, 63, 4_297),
        (0.01, "zayatz", 22_375, 1_608, 24_929),
        (0.05, "zayatz", 8_356, 460, 8_023),
        (0.2, "zayatz", 4_760, 157, 5_038),
        (0.5, "zayatz", 4_075, 78, 4_113),
    ],
)
def test_pitman_and_zayatz_on_adult_agree_with_arx_within_sampling_noise(adult, share, name, mean, spread, by_arx):
    rng = np.random.default_rng(5)
    model = getattr(population, name)
    ours = np.mean([model(sample(adult, share, rng), population_rows=48_842) for _ in range(8)])
    assert abs(ours - mean) < 4 * spread / np.sqrt(8)
    assert abs(by_arx - ours) < 3 * spread * np.sqrt(1 + 1 / 8)


def test_shlosser_recovers_the_number_of_classes_of_adult(adult):
    # 8,069 / 8,193 / 8,012 for 7,976 at 5, 20, 50 %, and useless (24,548) at 1 %
    rng = np.random.default_rng(6)
    for share in (0.05, 0.2, 0.5):
        estimates = [population.population_classes(sample(adult, share, rng), population_rows=48_842) for _ in range(8)]
        assert np.mean(estimates) == pytest.approx(7_976, rel=0.05)


def drawn(of_row, share, rng):
    """Class sizes of a sample, and the share of its uniques that are unique among all."""
    chosen = rng.choice(of_row, round(share * len(of_row)), replace=False)
    sizes, everybody = np.bincount(chosen, minlength=of_row.max() + 1), np.bincount(of_row)
    return sizes[sizes > 0], float(np.mean(everybody[sizes == 1] == 1))


def test_t7_the_interval_holds_the_truth_on_adult(adult):
    rng = np.random.default_rng(7)
    for share, counted in ((0.01, 0.11), (0.05, 0.20), (0.1, 0.29), (0.3, 0.49), (0.5, 0.66)):
        sizes, truth = drawn(adult, share, rng)
        estimate = population.estimate(sizes, population_rows=48_842)
        assert truth == pytest.approx(counted, abs=0.07)
        assert estimate.low <= 3_948 <= estimate.high
        assert estimate.probability_low <= truth <= estimate.probability_high <= 1
    assert estimate.low > 2_000  # half of the people prove something
    assert estimate.high < 5_500


def weights(name, rng):
    """Return the probability of each class, for populations unlike each other and unlike every model."""
    return {
        "zipf": 1 / np.arange(1, 3001) ** 1.05,
        "lognormal": np.exp(rng.normal(0, 2.2, 4000)),
        "two kinds": np.concatenate((np.full(1500, 1.0), np.full(100, 60.0))),
    }[name]


@pytest.mark.parametrize("name", ["zipf", "lognormal", "two kinds"])
def test_t7_the_interval_covers_on_samples_of_known_populations(name):
    rng = np.random.default_rng(11)
    weight = weights(name, rng)
    covered = []
    for share in (0.02, 0.1, 0.5):
        for _ in range(5):
            of_row = rng.choice(len(weight), 8_000, p=weight / weight.sum())
            sizes, truth = drawn(of_row, share, rng)
            estimate = population.estimate(sizes, population_rows=8_000)
            covered.append(estimate.low <= np.count_nonzero(np.bincount(of_row) == 1) <= estimate.high)
            covered.append(estimate.probability_low <= truth <= estimate.probability_high)
    assert np.mean(covered) >= 0.95


def test_pitman_recovers_the_uniques_of_a_pitman_population():
    # Chinese restaurant process with theta = 50, alpha = 0.5; a prefix of it is a sample from it
    rng = np.random.default_rng(8)
    N, theta, alpha = 40_000, 50.0, 0.5
    tables, seats = [], np.empty(N, dtype=np.int64)
    uniform, pick = rng.random(N), rng.random(N)
    for i in range(N):
        if uniform[i] < (theta + alpha * len(tables)) / (theta + i):
            seats[i] = len(tables)
            tables.append(1)
        else:
            j = seats[int(pick[i] * i)]
            while rng.random() < alpha / tables[j]:  # accept table j with weight n_j - alpha
                j = seats[int(rng.random() * i)]
            seats[i] = j
            tables[j] += 1
    truth = np.count_nonzero(np.array(tables) == 1)
    sizes = np.bincount(rng.permutation(seats)[: N // 10])
    assert population.pitman(sizes[sizes > 0], population_rows=N) == pytest.approx(truth, rel=0.1)


def test_negative_binomial_recovers_the_uniques_of_its_own_population():
    rng = np.random.default_rng(9)
    sizes = 1 + rng.negative_binomial(0.8, 0.2, 20_000)
    truth = np.count_nonzero(sizes == 1)
    people = np.repeat(np.arange(len(sizes)), sizes)
    uniques = population.slide_negative_binomial(sample(people, 0.3, rng), population_rows=len(people))
    assert uniques == pytest.approx(truth, rel=0.1)


def test_zayatz_by_the_hypergeometric_distribution():
    sizes, N = np.repeat([1, 2, 5], [6, 3, 1]), 40
    n = sizes.sum()
    probabilities = {size: stats.hypergeom(N, size, n).pmf(1) for size in (1, 2, 5)}
    conditional = 6 * probabilities[1] / (6 * probabilities[1] + 3 * probabilities[2] + probabilities[5])
    assert population.zayatz(sizes, population_rows=N) == pytest.approx(6 * conditional * N / n)


def test_a_sample_of_everybody_is_exact():
    estimate = population.estimate([1, 1, 1, 2, 4], population_rows=9)
    assert estimate.pitman == estimate.slide_negative_binomial == 3
    assert estimate.zayatz == pytest.approx(3)
    assert (estimate.low, estimate.high) == pytest.approx((3, 3))
    assert (estimate.probability_low, estimate.probability_high) == pytest.approx((1, 1))
    assert population.population_classes(np.array([1, 1, 1, 2, 4]), population_rows=9) == 5


@pytest.mark.parametrize("sizes", [[1] * 50, [7], [3, 3, 4, 5]])
def test_a_failed_estimate_is_not_available_and_never_zero(sizes):
    estimate = population.estimate(sizes, population_rows=10_000)
    values = [estimate.pitman, estimate.zayatz, estimate.slide_negative_binomial]
    assert None in values
    assert 0 not in values
    if 1 not in sizes:
        assert estimate.probability_high is None


def test_a_sample_larger_than_the_population_is_refused():
    with pytest.raises(UnmaskError, match="population_rows is 5, expected at least the 6 rows"):
        population.estimate([2, 4], population_rows=5)
    with pytest.raises(UnmaskError, match="drop empty classes"):
        population.estimate([2, 0], population_rows=5)


def test_t8_sample_weights_understate_where_uniques_are_many(adult):
    # what the docstring says of the formula, which is the literature's (sdcMicro has it, too)
    rng, people = np.random.default_rng(0), np.bincount(adult)
    for share, announced, true in ((0.01, 0.033, 0.16), (0.1, 0.094, 0.16), (0.5, 0.146, 0.163)):
        drawn = np.bincount(rng.choice(adult, round(share * len(adult)), replace=False), minlength=len(people))
        is_sampled = drawn > 0
        weight = drawn[is_sampled] / drawn.sum()
        risk = criteria.sample_weight_risk(drawn[is_sampled], drawn[is_sampled] / share)
        assert weight @ risk == pytest.approx(announced, rel=0.05)
        assert weight @ (1 / people[is_sampled]) == pytest.approx(true, rel=0.15)
        assert weight @ risk < weight @ (1 / people[is_sampled])
    assert "too low" in CRITERIA["individual_risk_average"].meaning


def test_interval_of_a_large_population_is_the_limit_of_small_fractions():
    """Above the limit a draw without replacement is one with replacement: the share of uniques hardly changes."""
    sizes = np.repeat([1, 2, 3, 4, 10], [100, 40, 20, 10, 5])
    below, above = (population.interval(sizes, population_rows=n) for n in (300_000, 400_000))
    assert above[0] == pytest.approx(below[0] * 4 / 3, abs=1.0)
    assert above[1] == pytest.approx(below[1] * 4 / 3, rel=0.01)
    assert population.interval(sizes, population_rows=10**10)[1] == pytest.approx(below[1] * 1e5 / 3, rel=0.02)
