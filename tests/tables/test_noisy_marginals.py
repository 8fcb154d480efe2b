"""Differentially private synthetic rows, each step against its definition; and the adversaries that epsilon limits."""

from itertools import combinations, pairwise

import numpy as np
import pytest

import unmask
from unmask import UnmaskError
from unmask.measures.membership import epsilon_at_least
from unmask.studies.cells import run_cell
from unmask.studies.reading import read_plan
from unmask.tables import Background, NoisyMarginals, ShadowMembership, Table
from unmask.tables.datasets import synthetic_census
from unmask.tables.protections.marginal_fit import draw_rows, fit_consistent, fit_joint, project_on_simplex
from unmask.tables.protections.noisy_marginals import add_laplace

BOUNDS = {"age": (0, 100), "zip": (10_000, 60_000)}
SIZES = (3, 2, 4, 2)
PAIRS = tuple(combinations(range(len(SIZES)), 2))


def marginal_of(joint, subset):
    return joint.sum(axis=tuple(set(range(len(SIZES))) - set(subset)))


def people_of(n, *, seed=0):
    census = synthetic_census(n, rng=np.random.default_rng(seed))
    roles = {"quasi_identifiers": ["age", "sex", "zip"], "sensitive": "diagnosis", "types": {"zip": "number"}}
    return Table.read(census, **roles)


# --- steps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3])
def test_consistent_marginals_are_the_least_squares_of_a_joint_table(order):
    rng = np.random.default_rng(order)
    subsets = list(combinations(range(len(SIZES)), order))
    noisy = {subset: rng.normal(50, 20, [SIZES[column] for column in subset]) for subset in subsets}
    cells = np.eye(int(np.prod(SIZES))).reshape(-1, *SIZES)
    design = np.concatenate([[marginal_of(cell, subset).ravel() for cell in cells] for subset in subsets], axis=1).T
    joint = np.linalg.lstsq(design, np.concatenate([noisy[subset].ravel() for subset in subsets]), rcond=None)[0]
    for subset, marginal in fit_consistent(noisy, SIZES).items():
        assert np.allclose(marginal, marginal_of(joint.reshape(SIZES), subset))


def test_projection_is_nearer_than_any_other_distribution():
    rng = np.random.default_rng(0)
    for _ in range(50):
        shares = rng.normal(0.1, 0.3, (3, 4))
        nearest = project_on_simplex(shares)
        assert nearest.sum() == pytest.approx(1)
        assert nearest.min() >= 0
        others = rng.dirichlet(np.full(12, 0.3), 200).reshape(-1, 3, 4)
        assert (((others - shares) ** 2).sum(axis=(1, 2)) >= ((nearest - shares) ** 2).sum() - 1e-12).all()


def test_fitted_distribution_has_the_marginals_and_no_further_interaction():
    true = np.random.default_rng(0).dirichlet(np.full(np.prod(SIZES), 0.5)).reshape(SIZES)
    p = fit_joint({subset: marginal_of(true, subset) for subset in PAIRS}, SIZES)
    for subset in PAIRS:
        assert np.allclose(marginal_of(p, subset), marginal_of(true, subset), atol=1e-4)
    interaction = np.log(p)
    for axis in (0, 1, 2):  # differences in three columns: 0 for a product of functions of pairs
        interaction = np.diff(interaction, axis=axis)
    assert np.abs(interaction).max() < 1e-9
    assert -(p * np.log(p)).sum() >= -(true * np.log(true)).sum()


@pytest.mark.parametrize("order", [1, 2, 3])
def test_columns_beyond_the_joint_distribution_are_drawn_given_their_nearest_columns(order):
    """Each of eight columns copies the one before it, with 30 % errors: 20^8 combinations."""
    rng = np.random.default_rng(0)
    n, size, columns = 20_000, 20, [rng.integers(0, 20, 20_000)]
    while len(columns) < 8:
        columns.append(np.where(rng.random(n) < 0.7, columns[-1], rng.integers(0, size, n)))
    shares = {}
    for subset in combinations(range(8), order):
        cell = np.ravel_multi_index([columns[column] for column in subset], (size,) * order)
        shares[subset] = np.bincount(cell, minlength=size**order).reshape((size,) * order) / n
    drawn = draw_rows(shares, (size,) * 8, n, rng)
    for before, after in zip(columns, drawn, strict=True):
        difference = np.abs(np.bincount(before, minlength=size) - np.bincount(after, minlength=size))
        assert difference.max() < 5 * np.sqrt(2 * n / size)
    agreement = [np.mean(first == second) for first, second in pairwise(drawn)]
    expected = 0.7 + 0.3 / size if order > 1 else 1 / size
    assert np.abs(np.array(agreement) - expected).max() < 0.02


@pytest.mark.parametrize("rng", [np.random.default_rng(0), None], ids=["study", "opendp"])
def test_noise_is_discrete_laplace_and_limits_the_odds_by_epsilon(rng):
    if rng is None:
        pytest.importorskip("opendp")
    n, epsilon, n_marginals = 40_000, 1.2, 3
    noise = add_laplace(np.zeros(n, dtype=np.int64), epsilon, n_marginals=n_marginals, rng=rng)
    a = np.exp(-epsilon / n_marginals)
    for z in range(-8, 9):
        p = (1 - a) / (1 + a) * a ** abs(z)
        assert abs(np.mean(noise == z) - p) < 4.5 * np.sqrt(p * (1 - p) / n)
    counts = np.bincount(noise[np.abs(noise) <= 2] + 2)
    odds = n_marginals * np.abs(np.diff(np.log(counts)))  # standard error at most 0.08
    assert np.allclose(odds, epsilon, atol=0.45)


# --- the release ------------------------------------------------------------------------------------------------------


def test_without_much_noise_the_pairs_are_those_of_the_table():
    table = people_of(3000)
    release, origin = NoisyMarginals(epsilon=1e4, bounds=BOUNDS, bins=4)(table, rng=np.random.default_rng(1))
    assert origin is None
    assert release.roles == table.roles
    assert abs(release.n_rows - 3000) <= 1
    for sex in ("female", "male"):
        for diagnosis in set(table["diagnosis"]):
            counts = [np.sum((side["sex"] == sex) & (side["diagnosis"] == diagnosis)) for side in (table, release)]
            assert abs(counts[0] - counts[1]) < 5 * np.sqrt(counts[0] + 1)
    ages = np.array([float(age) for age in table["age"]])
    assert abs(np.mean(release["age"] == "[25, 50)") - np.mean((ages >= 25) & (ages < 50))) < 0.05


def test_dates_and_missing_cells_are_values():
    born = ["1950-05-01", "1990-01-31", None, "2001-12-24"] * 50
    table = Table.read({"born": born}, quasi_identifiers="born", types={"born": "date"})
    protection = NoisyMarginals(epsilon=1e4, bounds={"born": ("1940-01-01", "2020-01-01")}, bins=2)
    release, _ = protection(table, rng=np.random.default_rng(1))
    cells, counts = np.unique([cell or "missing" for cell in release["born"]], return_counts=True)
    assert len(cells) == 3
    assert np.abs(np.sort(counts) - 50 * np.array([1, 1, 2])).max() < 30


def test_intervals_may_be_stated():
    table = Table.read({"pay": [0, 0, 0, 7, 4000, 9e9] * 50}, quasi_identifiers="pay")
    release, _ = NoisyMarginals(epsilon=1e4, bounds={"pay": [0, 1, 5000, 100_000]})(table, rng=np.random.default_rng(1))
    cells, counts = np.unique(release["pay"], return_counts=True)
    assert cells.tolist() == ["[0, 1)", "[1, 5000)", "[5000, 100000]"]
    assert np.abs(counts - [150, 100, 50]).max() < 40


def test_tables_that_cannot_be_protected_are_refused():
    table = people_of(50)
    with pytest.raises(UnmaskError, match="'age' needs bounds"):
        NoisyMarginals()(table)
    with pytest.raises(UnmaskError, match="'age' has no rising values"):
        NoisyMarginals(bounds=BOUNDS | {"age": (40, 20)})(table)
    with pytest.raises(UnmaskError, match="expected at most 10,000,000"):
        NoisyMarginals(bounds=BOUNDS, bins=4000)(table)
    visits = Table.read({"who": list("aab"), "sex": list("ffm")}, quasi_identifiers="sex", person="who")
    with pytest.raises(UnmaskError, match="several rows are one person"):
        NoisyMarginals()(visits)


def test_synthetic_rows_have_no_origin_and_no_information_loss():
    pytest.importorskip("opendp")
    protected = unmask.protect(people_of(200), NoisyMarginals(bounds=BOUNDS), coarsen={"zip": "*"})
    assert protected.origin is None
    assert dict(protected.facts) == {"rows": protected.release.n_rows}
    assert set(protected.release["zip"]) == {"*"}
    with pytest.raises(UnmaskError, match="do not show who was held back"):
        unmask.protect(people_of(200), NoisyMarginals(bounds=BOUNDS), hold_back=0.5)


# --- the adversary ----------------------------------------------------------------------------------------------------


def audited(epsilon):
    """Return the membership rows of an audit of 1,000 people, of the adversary who knows whole records."""
    people, protection = people_of(3000), NoisyMarginals(epsilon=epsilon, order=3, bounds=BOUNDS, bins=32)
    members, control = people.take(slice(0, 1000)), people.take(slice(1000, 3000))
    release, _ = protection(members, rng=np.random.default_rng(2))
    result = unmask.audit(release, original=members, control=control, synthetic=True, protection=protection)
    rows = [row for row in result.rows if (row.target, row.adversary) == ("membership", "whole record")]
    return {row.measure: row for row in rows}, result


def test_epsilon_announces_a_limit_that_adversaries_keep():
    rows, result = audited(0.5)
    limit = rows["membership_success_at_most"].posterior
    assert limit == pytest.approx(np.exp(0.5) / (1 + np.exp(0.5)))
    assert rows["realized_success"].low <= limit
    assert rows[epsilon_at_least.name].posterior <= 0.5
    assert "limits every adversary to 62.2" in result.to_html()


def test_large_epsilon_reveals_members():
    rows, _ = audited(1e4)
    assert rows["membership_auc"].posterior > 0.6


def test_adversary_who_runs_the_protection_stays_below_the_limit():
    people, protection = people_of(1200, seed=3), NoisyMarginals(epsilon=1.0, bounds=BOUNDS)
    members, others, general = (people.take(rows) for rows in (slice(300), slice(300, 600), slice(600, 1200)))
    release, _ = protection(members, rng=np.random.default_rng(1))
    attack = ShadowMembership(protection, shadows=40)
    beliefs = [
        attack(release, Background(side.take(slice(0, 100)), general), rng=np.random.default_rng(4))
        for side in (members, others)
    ]
    success = np.mean([beliefs[0].to_dense()[:, 0] > 0.5, beliefs[1].to_dense()[:, 1] > 0.5])
    assert success < 1 / (1 + np.exp(-1)) + 3 * 0.5 / np.sqrt(200)


def test_study_compares_the_limit_with_an_adversary_who_runs_the_protection(tmp_path):
    (tmp_path / "plan.toml").write_text("""
[data]
use = "tables.synthetic_census"
with = { n = 3000 }
quasi_identifiers = ["age", "sex", "zip"]
hold_back = 0.7
[[protections]]
use = "tables.NoisyMarginals"
with = { epsilon = 0.5, bounds = { age = [0, 100], zip = [0, 99999] } }
[[adversaries]]
use = "tables.ShadowMembership"
with = { shadows = 8 }
knows = { targets = 100 }
""")
    (cell,) = read_plan(tmp_path / "plan.toml").cells()
    rows = {row.measure: row for row in run_cell(cell)}
    assert rows["membership_success_at_most"].posterior == pytest.approx(1 / (1 + np.exp(-0.5)))
    assert rows["realized_success"].low <= rows["membership_success_at_most"].posterior
