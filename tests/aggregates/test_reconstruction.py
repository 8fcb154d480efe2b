"""Solutions, certain claims and beliefs of published tables, against brute force over all records."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaincc

from unmask.aggregates import AggregateRelease, Domain, Rule, Statistic, Tabulation, tabulate
from unmask.aggregates.attacks import _chain, chains
from unmask.aggregates.attacks.area_attacks import explain_contradiction, make_questions
from unmask.aggregates.attacks.belief import infer_counts, weigh_solutions
from unmask.aggregates.attacks.integer_programs import find_other
from unmask.aggregates.attacks.population import fit_population
from unmask.aggregates.attacks.reconstruction import bound_certain_cells, find_possible_values, reconstruct
from unmask.aggregates.attacks.reconstructor import KnownPeople, Reconstructor, infer_values
from unmask.aggregates.attacks.systems import list_systems, reduce_system

DOMAIN = Domain({"sex": ("f", "m"), "age": ("0", "1", "2"), "ill": ("n", "y")})
RULES = (
    Rule(),
    Rule(threshold=2),
    Rule(threshold=2, zeros="hidden"),
    Rule(base=3),
    Rule(base=2, rounding="half-even"),
)


def draw_release(seed, n=5):
    """Return tables of few people by a random rule, and the true counts of the cells."""
    rng = np.random.default_rng(seed)
    records = {name: rng.choice(np.array(labels), n) for name, labels in DOMAIN.categories.items()}
    rule = RULES[seed % len(RULES)]
    queries = [["sex", "age"], ["age", "ill"], ["sex", "ill"]]
    tables = [tabulate(records, columns, rule, DOMAIN) for columns in queries]
    release = AggregateRelease(DOMAIN, (*tables, tabulate(records, [], Rule(), DOMAIN)))
    return release, release.cell_counts(records)[0]


def brute_force(release, n=5):
    """Return all counts of n people that fit the tables."""
    low, high = release.bounds()
    matrix, size = release.matrix.toarray(), release.matrix.shape[1]
    people = itertools.combinations_with_replacement(range(size), n)
    counts = np.array([np.bincount(cells, minlength=size) for cells in people])
    sums = counts @ matrix.T
    return counts[((sums >= low) & (sums <= high)).all(axis=1)]


def expand(result, size):
    """Return solutions over all cells of the cross, sorted."""
    counts = np.zeros((len(result.solutions), size), dtype=np.int64)
    counts[:, result.system.cells] = result.solutions
    return counts[np.lexsort(counts.T[::-1])]


@pytest.mark.parametrize("seed", range(15))
def test_the_search_lists_all_records_that_fit_and_no_others(seed):
    release, truth = draw_release(seed)
    expected = brute_force(release)
    result = reconstruct(next(list_systems(release)), rng=np.random.default_rng(seed))
    assert result.is_complete
    assert np.array_equal(expand(result, 12), expected[np.lexsort(expected.T[::-1])])
    assert (expected == truth).all(axis=1).any()
    assert result.status == ("one" if len(expected) == 1 else "several")


@pytest.mark.parametrize("seed", range(15))
def test_integer_programs_find_the_certain_claims_of_brute_force(seed):
    release, _ = draw_release(seed)
    expected, system, rng = brute_force(release), next(list_systems(release)), np.random.default_rng(seed)
    result = reconstruct(system, rng=rng, max_solutions=1)
    assert result.status == ("one" if len(expected) == 1 else "several")
    cells, low, high = bound_certain_cells(result)
    certain = np.flatnonzero(expected.min(axis=0) >= 1)
    assert system.cells[cells].tolist() == certain.tolist()
    assert (low <= expected[:, certain].min(axis=0)).all()
    assert (high >= expected[:, certain].max(axis=0)).all()
    (question,) = make_questions(release, ["ill"], ["sex", "age"])
    possible = find_possible_values(result, question.profile[system.cells], question.value[system.cells], rng=rng)
    for profile in range(6):
        true = [
            value for value in (0, 1) if expected[:, (question.profile == profile) & (question.value == value)].any()
        ]
        states = possible.get(profile, np.zeros(2))
        if -1 not in states:
            assert np.flatnonzero(states).tolist() == true
        else:
            assert {*np.flatnonzero(states == 1).tolist()} <= {*true}
            assert (states == 1).sum() >= 2


def test_another_solution_is_found_if_there_is_one():
    matrix = sparse.csr_array(np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], dtype=float))
    several = reduce_system(matrix, np.array([1, 1, 1, 1]), np.array([1, 1, 1, 1]))
    other = find_other(several, np.array([1, 0, 0, 1]))
    assert other.x.tolist() == [0, 1, 1, 0]
    fixed = sparse.csr_array(np.vstack([matrix.toarray(), [[1.0, 0, 0, 0]]]))
    one = reduce_system(fixed, np.array([1, 1, 1, 1, 1]), np.array([1, 1, 1, 1, 1]))
    assert find_other(one, one.low).status == "infeasible"


def test_tables_that_contradict_each_other_are_named_and_none_of_them_can_be_left_out():
    records = {"sex": ["f", "m", "f"], "age": ["0", "1", "1"], "ill": ["n", "n", "y"]}
    tables = [tabulate(records, columns, Rule(), DOMAIN) for columns in (["sex"], ["age"], ["ill"], ["sex", "ill"])]
    more = tabulate({"sex": ["f"], "age": ["0"], "ill": ["n"]}, ["sex", "age"], Rule(), DOMAIN)
    release = AggregateRelease(DOMAIN, (*tables, more))
    assert reconstruct(next(list_systems(release)), rng=np.random.default_rng(0)).status == "contradiction"
    named = explain_contradiction(release, 0)
    assert "sex-age" in named
    assert len(named) == 2


@pytest.mark.parametrize("seed", [1, 3, 6])
def test_chains_sample_the_weights_of_all_solutions(seed, monkeypatch):
    monkeypatch.setattr(chains, "N_BURN", 0)  # the population is not fitted
    monkeypatch.setattr(chains, "N_ROUNDS", 60)
    release, _ = draw_release(seed)
    population = np.random.default_rng(seed).dirichlet(np.ones(12))
    rng, system = np.random.default_rng(0), next(list_systems(release))
    result = reconstruct(system, rng=rng, max_solutions=1)
    (belief,) = infer_counts(release, [result], population, rng=rng)
    assert belief.method == ("enumeration" if result.is_complete else "chain")
    expected = brute_force(release)
    weights = weigh_solutions(expected, np.log(population))
    assert np.abs(belief.mean - (weights @ expected)[system.cells]).max() < 0.06


@pytest.mark.parametrize(
    "rule",
    [
        Rule(base=3, rounding="random"),
        Rule(noise="laplace", scale=1.0),
        Rule(perturbation=((0, 1, 0), (0.3, 0.4, 0.3))),
    ],
)
def test_chains_weigh_counts_by_the_likelihood_of_a_random_rule(rule, monkeypatch):
    """One cell whose published value is random: the posterior of its count is prior times likelihood."""
    monkeypatch.setattr(chains, "N_BURN", 0)
    monkeypatch.setattr(chains, "N_ROUNDS", 100)
    domain = Domain({"sex": ("f", "m")})
    total = Tabulation("total", (), np.array(6.0))
    release = AggregateRelease(domain, (total, Tabulation("sex", ("sex",), np.array([3.0, 3.0]), rule=rule)))
    rng, population = np.random.default_rng(1), np.array([0.3, 0.7])
    result = reconstruct(next(list_systems(release)), rng=rng, max_solutions=1)
    (belief,) = infer_counts(release, [result], population, rng=rng)
    counts = np.arange(7)
    both = rule.likelihood(3.0, 0, counts) * rule.likelihood(3.0, 0, 6 - counts)
    weights = both * weigh_solutions(np.stack([counts, 6 - counts], axis=1), np.log(population))
    assert belief.mean[0, 0] == pytest.approx(weights @ counts / weights.sum(), abs=0.04)


def test_suppressed_totals_are_those_of_the_tables_that_print_their_parts():
    """A hidden total has no upper limit: neither the population nor the starts of chains follow it to an extreme."""
    domain = Domain({"sex": ("f", "m"), "ill": ("n", "y")})
    parts = Tabulation("ill-sex", ("ill", "sex"), np.array([[30.0, 50.0], [7.0, 13.0]]))
    hidden = np.array([80.0, np.nan])
    total = Tabulation("ill", ("ill",), hidden, np.isnan(hidden).astype(int), Rule(threshold=5, secondary=True))
    release = AggregateRelease(domain, (parts, total))
    assert fit_population(release) == pytest.approx([0.3, 0.07, 0.5, 0.13], abs=2e-3)


def test_hidden_counts_have_the_posterior_mean_of_an_objective_prior():
    """Two of three counts are hidden below 8 in each of ten areas: each share has a prior Dirichlet(1 / 3)."""
    areas = tuple("abcdefghij")
    values = np.tile([20.0, np.nan, np.nan], (10, 1))
    table = Tabulation(
        "race", ("race",), values, np.isnan(values).astype(int), Rule(threshold=8, zeros="hidden"), by_area=True
    )
    mean = np.exp(np.linspace(-90, 4, 20_000))
    weight = mean ** (1 / 3) * gammaincc(8, mean) ** 10  # per unit of log(mean)
    hidden = weight @ mean / weight.sum()
    release = AggregateRelease(Domain({"race": ("1", "2", "3")}), (table,), "area", areas)
    expected = np.array([20, hidden, hidden]) / (20 + 2 * hidden)
    assert fit_population(release) == pytest.approx(expected, abs=0.01)


def test_chains_start_from_few_people_if_nothing_limits_their_number():
    domain = Domain({"sex": ("f", "m"), "age": ("0", "1")})
    hidden = np.array([80.0, np.nan])
    total = Tabulation("sex", ("sex",), hidden, np.isnan(hidden).astype(int), Rule(threshold=5, secondary=True))
    ages = Tabulation("age", ("age",), np.full(2, np.nan), np.ones(2), Rule(threshold=5, secondary=True))
    system = next(list_systems(AggregateRelease(domain, (total, ages))))
    result = reconstruct(system, rng=np.random.default_rng(0), max_solutions=1)
    assert result.solutions.sum(axis=1).max() < 100


def test_chains_of_many_people_and_areas_have_a_limit(monkeypatch):
    release, _ = draw_release(1)
    rng, system = np.random.default_rng(0), next(list_systems(release))
    result = reconstruct(system, rng=rng, max_solutions=1)
    proposals = []
    monkeypatch.setattr(_chain, "run_chain", lambda *arguments: proposals.append(arguments[4]))
    population = np.full(12, 1 / 12)
    for most in (10_000, 7):
        monkeypatch.setattr(chains, "MAX_PROPOSALS", most)
        chains.sample_counts(release, 0, result, population, rng=rng)
    monkeypatch.setattr(chains, "MAX_ALL_PROPOSALS", 10 * chains.N_VERTICES * chains.N_ROUNDS * chains.N_DRAWS)
    chains.sample_counts(release, 0, result, population, n_areas=2, rng=rng)
    assert list(dict.fromkeys(proposals)) == [200, 7, 5]


def draw_people(seed):
    rng = np.random.default_rng(seed)
    domain = Domain({"age": ("20", "30", "45", "70"), "sex": ("f", "m")})
    return domain, {name: rng.choice(np.array(labels), 5) for name, labels in domain.categories.items()}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["mean", "median", "sum"])
def test_solutions_are_all_records_that_have_the_published_statistic(kind, seed):
    domain, people = draw_people(seed)
    ages = people["age"].astype(float)
    compute = {"mean": np.mean, "median": np.median, "sum": np.sum}[kind]
    values = np.array([compute(ages[people["sex"] == sex]) if (people["sex"] == sex).any() else np.nan for sex in "fm"])
    statistic = Statistic("ages", ("sex",), values.round(1), kind, "age", 1)
    release = AggregateRelease(domain, (tabulate(people, ["sex"], Rule(), domain),), statistics=(statistic,))
    result = reconstruct(next(list_systems(release)), rng=np.random.default_rng(seed))
    expected = set()
    for records in itertools.combinations_with_replacement(itertools.product(domain.categories["age"], "fm"), 5):
        groups = [np.array([float(age) for age, sex in records if sex == wanted]) for wanted in "fm"]
        fits = [len(group) == (people["sex"] == sex).sum() for group, sex in zip(groups, "fm", strict=True)]
        fits += [
            round(compute(group), 1) == round(value, 1)
            for group, value in zip(groups, values, strict=True) if len(group) and not np.isnan(value)
        ]  # fmt: skip
        if all(fits):
            expected.add(tuple(records.count(cell) for cell in itertools.product(domain.categories["age"], "fm")))
    assert result.is_complete
    assert {tuple(row) for row in expand(result, 8).tolist()} == expected
    assert release.cell_counts(people)[0].tolist() in expand(result, 8).tolist()


def test_a_mean_that_contradicts_counts_is_named():
    domain, people = draw_people(1)
    tables = tuple(tabulate(people, columns, Rule(), domain) for columns in (["age"], ["sex"]))
    release = AggregateRelease(
        domain, tables, statistics=(Statistic("mean age", (), np.array(21.0), "mean", "age", 1),)
    )
    assert reconstruct(next(list_systems(release)), rng=np.random.default_rng(0)).status == "contradiction"
    assert explain_contradiction(release, 0) == ["sex", "mean age"]


def test_few_solutions_of_programs_have_the_published_median():
    domain, people = draw_people(3)
    median = np.median(people["age"].astype(float))
    release = AggregateRelease(
        domain, (tabulate(people, [], Rule(), domain),),
        statistics=(Statistic("ages", (), np.array(median), "median", "age", 1),),
    )  # fmt: skip
    system = next(list_systems(release))
    result = reconstruct(system, rng=np.random.default_rng(0), max_solutions=1)
    assert not result.is_complete
    assert result.status in ("several", "undecided")
    assert system.is_possible(result.solutions).all()
    beliefs = infer_counts(release, [result], np.full(8, 1 / 8), rng=np.random.default_rng(0))
    assert beliefs[0].method == "chain"
    assert beliefs[0].draws.sum(axis=1).tolist() == [5] * len(beliefs[0].draws)


def test_chains_do_not_announce_what_the_tables_do_not_show():
    rng = np.random.default_rng(4)
    domain = Domain({"sex": ("f", "m"), "age": tuple("abcdef"), "block": tuple("0123456789")})
    people = {name: rng.choice(np.array(labels), 200) for name, labels in domain.categories.items()}
    areas = domain.categories["block"]
    domain = Domain({name: domain.categories[name] for name in ("sex", "age")})
    rules = (["sex", "age"], Rule(threshold=50, zeros="hidden")), ([], Rule())
    tables = [tabulate(people, names, rule, domain, geography="block", areas=areas) for names, rule in rules]
    run = Reconstructor(max_solutions=1).run(
        AggregateRelease(domain, tuple(tables), "block", areas), ["sex"], ["age"], rng=rng
    )
    profile = np.arange(6).repeat(10)
    belief, _ = infer_values(run, KnownPeople(run.questions[0], np.tile(np.arange(10), 6), profile))
    assert np.abs(belief.to_dense() - 0.5).max() < 1e-6  # raw counts of draws differ by chance
