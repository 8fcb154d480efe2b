"""Published analyses before and after protection, compared with textbook formulas and other libraries."""

import numpy as np
import pytest
from scipy import stats

from tests.commands import invoke
from tests.envelopes import parsed
from unmask.core.errors import UnmaskError
from unmask.core.logistic_regression import fit_logistic
from unmask.tables import Table
from unmask.tables.utility import Analysis, compare_analyses, interval_overlap, score_propensity

KINDS = (
    "table: sex, job", "mean: age", "mean: age by job", "correlation: age, pay", "regression: pay ~ age + job",
    "regression: sex ~ age",
)  # fmt: skip


@pytest.fixture
def people():
    """Return the columns of 200 people."""
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, 200)
    return {
        "age": age,
        "sex": rng.choice(["f", "m"], 200),
        "job": rng.choice(["a", "b", "c"], 200),
        "pay": 20 * age + rng.normal(0, 100, 200).round(2),
        "w": rng.integers(1, 9, 200),
    }


def _read(columns, weight=None):
    names = [name for name in columns if name != "w" or weight]
    return Table.read(
        {name: columns[name] for name in names}, quasi_identifiers=["age", "sex", "job"], sensitive="pay", weight=weight
    )


def test_the_overlap_of_intervals_is_that_of_karr():
    low, high = np.array([0.0, 0.0, 0.0, 1.0]), np.array([2.0, 2.0, 2.0, 1.0])
    other_low, other_high = np.array([1.0, 0.0, 4.0, 0.0]), np.array([3.0, 4.0, 5.0, 2.0])
    assert interval_overlap(low, high, other_low, other_high).tolist() == [0.5, 0.75, -1.5, 0.5]


@pytest.mark.parametrize("text", KINDS)
def test_an_unchanged_release_gives_the_same_estimates(text, people):
    comparison = compare_analyses(_read(people), _read(people), [text])[0]
    assert comparison.overlap == pytest.approx(1)
    assert np.nan_to_num(comparison.relative_difference) == pytest.approx(0)


def test_means_and_correlations_have_the_intervals_of_textbooks(people):
    table = _read(people)
    mean, correlation = compare_analyses(table, table, ["mean: pay by job", "correlation: age, pay"])
    for label, value, low, high in zip(*mean.original[:4], strict=True):
        pay = people["pay"][people["job"] == label[-1]]
        error = stats.norm.ppf(0.975) * pay.std(ddof=1) / np.sqrt(len(pay))
        assert (value, low, high) == pytest.approx((pay.mean(), pay.mean() - error, pay.mean() + error))
    expected = stats.pearsonr(people["age"], people["pay"])
    interval = expected.confidence_interval()
    assert correlation.original.value[0] == pytest.approx(expected.statistic)
    assert (correlation.original.low[0], correlation.original.high[0]) == pytest.approx(tuple(interval))


def test_shares_have_wilsons_interval_for_the_effective_number_of_rows(people):
    w = people["w"].astype(float)
    table = _read(people, weight="w")
    shares = compare_analyses(table, table, ["table: sex"])[0].original
    n, share = w.sum() ** 2 / (w**2).sum(), w[people["sex"] == shares.labels[0][-1]].sum() / w.sum()
    exact = stats.binomtest(round(1e6 * share), 10**6).proportion_ci(method="wilson")  # the center is the share
    z = stats.norm.ppf(0.975)
    root = np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    assert shares.value[0] == pytest.approx(share) == pytest.approx((exact.low + exact.high) / 2, abs=1e-5)
    assert shares.low[0] == pytest.approx((share + z**2 / (2 * n) - z * root) / (1 + z**2 / n))


def test_weighted_means_have_the_variance_of_a_ratio(people):
    w, pay = people["w"].astype(float), people["pay"]
    table = _read(people, weight="w")
    mean = compare_analyses(table, table, ["mean: pay"])[0].original
    ratio = (w * pay).sum() / w.sum()
    variance = 200 / 199 * ((w * (pay - ratio) / w.sum()) ** 2).sum()
    assert mean.value[0] == pytest.approx(ratio)
    assert mean.high[0] - mean.low[0] == pytest.approx(2 * stats.norm.ppf(0.975) * np.sqrt(variance))


def test_coefficients_have_robust_errors(people):
    table = _read(people)
    fit = compare_analyses(table, table, ["regression: pay ~ age + sex"])[0].original
    second = fit.labels[1][-1]
    design = np.column_stack([np.ones(200), people["age"], people["sex"] == second])
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ people["pay"]
    residual = people["pay"] - design @ beta
    variance = inverse @ (design * residual[:, None] ** 2).T @ design @ inverse * 200 / 197
    assert fit.value == pytest.approx(beta[1:])
    assert fit.high - fit.low == pytest.approx(2 * stats.norm.ppf(0.975) * np.sqrt(np.diag(variance))[1:])


def test_a_logistic_regression_solves_its_equations():
    rng = np.random.default_rng(0)
    design = np.column_stack([np.ones(500), rng.normal(size=(500, 2))])
    outcome = (rng.random(500) < 1 / (1 + np.exp(-design @ [0.5, 1.0, -2.0]))).astype(float)
    trials = rng.integers(1, 4, 500).astype(float)
    beta = fit_logistic(design, outcome * trials, trials)
    probability = 1 / (1 + np.exp(-design @ beta))
    assert design.T @ (trials * (outcome - probability)) / trials.sum() == pytest.approx(0, abs=1e-5)
    separated = fit_logistic(design[:, :2], (design[:, 1] > 0).astype(float), np.ones(500))
    assert np.isfinite(separated).all()
    assert separated[1] > 5


def test_a_cell_with_several_values_counts_in_equal_shares_and_numbers_at_their_center():
    original = Table.read({"job": list("aabc"), "age": [20, 30, 40, 50]}, quasi_identifiers=["job", "age"])
    cells = {"job": ["{a, b}", "{a, b}", "{a, b}", "c"], "age": ["[20, 40]", "[20, 40]", "*", "50"]}
    release = Table.read(cells, quasi_identifiers=["job", "age"], like=original)
    table, mean = compare_analyses(original, release, ["table: job", "mean: age"])
    assert dict(zip(table.original.labels, table.released.value, strict=True)) == {
        "job = a": 0.375, "job = b": 0.375, "job = c": 0.25,
    }  # fmt: skip
    assert (mean.released.value[0], mean.released.n_rows) == (pytest.approx((30 + 30 + 50) / 3), 3)


def test_estimates_that_the_release_lacks_count_as_apart(people):
    release = _read(people | {"job": np.where(people["job"] == "c", "a", people["job"])})
    comparison = compare_analyses(_read(people), release, ["mean: pay by job"])[0]
    is_lost = np.array([label.endswith("c") for label in comparison.original.labels])
    assert np.isnan(comparison.overlap).tolist() == is_lost.tolist()
    assert comparison.mean_overlap == pytest.approx(comparison.overlap[~is_lost].clip(0).sum() / 3)
    without = Table.read(
        {name: people[name] for name in ("age", "sex", "job")}, quasi_identifiers=["age", "sex", "job"]
    )
    assert compare_analyses(_read(people), without, ["mean: pay by job"])[0].mean_overlap == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_propensity_score_of_other_people_is_near_its_expectation(seed):
    rng = np.random.default_rng(seed)

    def draw(n):
        return Table.read(
            {"x": rng.normal(size=n).round(3), "y": rng.choice(list("abcd"), n)}, quasi_identifiers=["x", "y"]
        )

    ratios = [score_propensity(draw(400), draw(200)).ratio for _ in range(30)]
    assert np.mean(ratios) == pytest.approx(1 / (1 - 1 / 3), rel=0.25)


def test_the_propensity_score_sees_changed_associations():
    rng = np.random.default_rng(1)
    x = rng.choice(["a", "b"], 1000)
    original = Table.read({"x": x, "y": x}, quasi_identifiers=["x", "y"])
    release = Table.read({"x": x, "y": rng.permutation(x)}, quasi_identifiers=["x", "y"])
    assert score_propensity(original, release).ratio > 50
    assert score_propensity(original, release, ["x"]).ratio < 1e-6
    apart = Table.read({"x": ["c"] * 1000, "y": x}, quasi_identifiers=["x", "y"])
    assert score_propensity(original, apart).indistinguishable < 0.01


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mode: age", "the analysis begins with 'mode'; "),
        ("mean: by sex", "expected different columns, such as mean: income by region, sex"),
        ("mean: age by age", "expected different columns"),
        ("correlation: age", "such as correlation: age, income"),
        ("regression: pay", "such as regression: income ~ age"),
        ("table: age, sxe", "column 'sxe' is not in the original; did you mean 'sex'?"),
        ("mean: job", "column 'job' has no numbers, which a mean needs; take a numeric column"),
        ("regression: job ~ age", "column 'job' is neither numeric nor of two values; explain another"),
        ("table: pay", "column 'pay' has 200 values, expected at most 100"),
    ],
)
def test_wrong_analyses_are_refused_in_one_sentence(text, message, people, monkeypatch):
    monkeypatch.setattr("unmask.tables.utility.analysis_rows.MAX_CATEGORIES", 100)
    with pytest.raises(UnmaskError) as error:
        compare_analyses(_read(people), _read(people), [text])
    assert message in str(error.value)


def test_weights_of_one_table_alone_are_refused(people):
    with pytest.raises(UnmaskError, match="give both their weights, or none"):
        compare_analyses(_read(people, weight="w"), _read(people), ["mean: pay"])


@pytest.mark.parametrize("text", [*KINDS, "propensity", "propensity: age, sex"])
def test_an_analysis_reads_what_it_writes(text):
    assert str(Analysis.parse(text)) == text
    assert Analysis.parse(f" {text.replace(': ', ' :  ')} ") == Analysis.parse(text)


DOCUMENT = """
data = { file = "people.csv" }
columns = { age = "quasi-identifier", sex = "quasi-identifier", job = "quasi-identifier", pay = "sensitive" }
protections = [{ use = "tables.Mondrian", with = { k = 4 } }]
adversaries = [{ use = "tables.ClassAttack" }]
analysis = [{ compute = "mean: age by sex" }, { compute = "table: sex, job" }, { compute = "propensity: age, sex" }]
"""


def test_audits_and_studies_compare_the_analyses_of_the_document(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [",".join(people), *(",".join(map(str, row)) for row in zip(*people.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    released = 'releases = [{ file = "k.csv", origin = "o.csv" }]\n'
    (tmp_path / "unmask.toml").write_text(released + DOCUMENT, encoding="utf-8")
    invoke("protect", "unmask.toml", "-o", "k.csv", "--origin", "o.csv")
    result = invoke("audit", "unmask.toml", "--json", "--report", "out.html")
    rows = parsed(result.stdout)["tables"]["analyses"]
    assert [row["analysis"] for row in rows] == ["mean: age by sex", "table: sex, job", "propensity: age, sex"]
    assert all(0 < row["overlap"] <= 1 for row in rows[:2])
    assert rows[2]["pmse"] >= 0
    assert "Published analyses before and after protection" in (tmp_path / "out.html").read_text(encoding="utf-8")

    (tmp_path / "unmask.toml").write_text(DOCUMENT, encoding="utf-8")
    invoke("study", "unmask.toml", "-o", "run")
    chosen = invoke("choose", "run", "--policy", "analyses > 1", "--policy", "propensity > 1", "--maximize", "analyses")
    overlap = np.mean([row["overlap"] for row in rows[:2]])
    assert float(chosen.stdout.split("analyses is ")[1].split()[0]) == pytest.approx(overlap, abs=0.02)
    assert "propensity is " in chosen.stdout, chosen.output


def test_an_analysis_needs_the_original(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("age,sex\n20,f\n30,m\n", encoding="utf-8")
    done = invoke("audit", "r.csv", "-q", "age,sex", "--analysis", "mean: age")
    assert done.exit_code != 0
    assert "an analysis is compared with the original, and no original was given; give both" in done.stderr
