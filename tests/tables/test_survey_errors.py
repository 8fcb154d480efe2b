"""Standard errors of a survey, compared with their definition and with replicates."""

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import unmask
from tests.commands import invoke
from tests.envelopes import parsed
from unmask.core.errors import UnmaskError
from unmask.tables import Table
from unmask.tables.criteria import (
    error_of_expected_reidentifications,
    estimate_mean,
    evaluate,
    sample_weight_risk,
    standard_error_of_total,
)
from unmask.tables.survey_design import SurveyDesign


def test_the_error_of_a_total_is_that_of_cluster_totals_in_each_stratum():
    values = np.array([1.0, 2.0, 4.0, 8.0, 3.0])
    stratum, cluster = np.array([0, 0, 0, 1, 1]), np.array([7, 7, 8, 7, -1])
    first, second = np.array([3.0, 4.0]), np.array([8.0, 3.0])
    variance = sum(2 * ((totals - totals.mean()) ** 2).sum() for totals in (first, second))
    assert standard_error_of_total(values, SurveyDesign(stratum=stratum, cluster=cluster)) == pytest.approx(
        np.sqrt(variance)
    )


def test_a_stratum_with_one_cluster_is_compared_with_all_clusters():
    values, stratum = np.array([1.0, 3.0, 9.0]), np.array([0, 0, 1])
    variance = 2 * ((values[:2] - 2) ** 2).sum() + (9 - values.mean()) ** 2
    assert standard_error_of_total(values, SurveyDesign(stratum=stratum)) == pytest.approx(np.sqrt(variance))


def expect(of_row, weight):
    """Return the sum of the individual risks of a sample."""
    classes, of_row, frequency = np.unique(of_row, return_inverse=True, return_counts=True)
    people = np.maximum(np.bincount(of_row, weight, len(classes)), frequency)
    return float(frequency @ sample_weight_risk(frequency, people))


@pytest.mark.parametrize("seed", range(6))
def test_the_error_of_expected_reidentifications_is_the_jackknife_over_clusters(seed):
    rng = np.random.default_rng(seed)
    of_row, weight, cluster = rng.integers(0, 12, 40), rng.uniform(2, 30, 40), rng.integers(-1, 15, 40)
    stratum = np.where(cluster < 0, 0, cluster % 2)
    alone = np.where(cluster < 0, 100 + np.arange(40), cluster)
    variance = 0.0
    for number in (0, 1):
        names = np.unique(alone[stratum == number])
        effects = [expect(of_row, weight) - expect(of_row[alone != name], weight[alone != name]) for name in names]
        variance += len(names) / (len(names) - 1) * np.sum((np.array(effects) - np.mean(effects)) ** 2)
    error = error_of_expected_reidentifications(of_row, weight, SurveyDesign(stratum=stratum, cluster=cluster))
    assert error == pytest.approx(np.sqrt(variance))


def test_the_interval_of_an_audit_covers_the_spread_over_samples():
    rng = np.random.default_rng(0)
    population = rng.geometric(0.02, 20_000)
    totals, covered = [], []
    for _ in range(60):
        sample = rng.choice(population, 1000, replace=False)
        error = error_of_expected_reidentifications(sample, np.full(1000, 20.0))
        totals.append(expect(sample, np.full(1000, 20.0)))
        covered.append(error)
    share = np.mean(np.abs(np.array(totals) - np.mean(totals)) <= 1.96 * np.array(covered))
    assert share >= 0.9
    assert np.std(totals) < np.mean(covered) < 2 * np.std(totals)


def test_households_are_the_clusters_of_an_audit():
    rng = np.random.default_rng(1)
    age = np.repeat(rng.integers(20, 90, 50), 4)  # members of a household are alike
    columns = {"age": age, "home": np.repeat(np.arange(50), 4), "w": np.full(200, 10)}
    alike, single = (
        unmask.audit(Table.read(columns, quasi_identifiers="age", weight="w", household=household)).criteria["release"]
        for household in ("home", None)
    )
    assert alike["expected_reidentifications"] == single["expected_reidentifications"]
    for criteria in (alike, single):
        low, high = (criteria[f"expected_reidentifications_{end}"] for end in ("low", "high"))
        assert low < criteria["expected_reidentifications"] < high
    assert alike["expected_reidentifications_high"] != single["expected_reidentifications_high"]


def draw_survey(seed):
    """Return values, weights and clusters of 60 rows in 20 clusters of two strata."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 20, 60)
    return rng.integers(0, 2, 60).astype(float), rng.uniform(1, 9, 60), cluster, cluster % 2


def test_the_error_of_a_mean_is_that_of_its_linearization():
    values, weight, cluster, stratum = draw_survey(0)
    mean, error = estimate_mean(values, weight, SurveyDesign(stratum=stratum, cluster=cluster))
    assert mean == pytest.approx(np.average(values, weights=weight))
    residual = weight * (values - mean) / weight.sum()
    assert error == pytest.approx(standard_error_of_total(residual, SurveyDesign(stratum=stratum, cluster=cluster)))


@pytest.mark.parametrize(
    ("method", "factor"),
    [("jk1", 7 / 8), ("bootstrap", 1 / 8), ("brr", 1 / 8), ("sdr", 1 / 2), ("fay:0.5", 1 / 2), ("fay:0.3", 1 / 3.92)],
)
def test_replicate_weights_give_the_error_of_their_method(method, factor):
    values, weight, _, _ = draw_survey(1)
    replicates = np.random.default_rng(2).uniform(0.5, 9, (60, 8))
    columns = {
        "sex": np.where(values == 1, np.arange(60), -1),
        "w": weight,
        **{f"rep{number}": column for number, column in enumerate(replicates.T)},
    }
    table = Table.read(columns, quasi_identifiers="sex", weight="w", replicate_weights="rep*", replicate_method=method)
    assert table.names == ["sex"]
    mean, error = estimate_mean(values, weight, table.design)
    means = replicates.T @ values / replicates.sum(axis=0)
    assert error == pytest.approx(np.sqrt(factor * np.sum((means - mean) ** 2)))
    row = unmask.audit(table).criteria["release"]
    ends = (max(mean - 1.959964 * error, 0), min(mean + 1.959964 * error, 1))
    assert (row["unique_share_low"], row["unique_share_high"]) == pytest.approx(ends, abs=1e-6)


def test_replicates_without_a_cluster_give_the_jackknife_of_expected_reidentifications():
    rng = np.random.default_rng(3)
    of_row, weight = rng.integers(0, 12, 40), rng.uniform(2, 30, 40)
    replicates = np.full((40, 40), 40 / 39)
    np.fill_diagonal(replicates, 0)
    design = SurveyDesign(replicates=replicates, factor=39 / 40)
    error = error_of_expected_reidentifications(of_row, weight)
    assert error_of_expected_reidentifications(of_row, weight, design) == pytest.approx(error)


@pytest.mark.parametrize("method", [None, "jackknife", "fay", "fay:1", "fay:x", "brr:0.5"])
def test_replicate_weights_need_a_method(method):
    columns = {"sex": list("ffmm"), "w": [2, 2, 3, 3], "rep1": [1, 3, 3, 3]}
    with pytest.raises(UnmaskError, match="the method of the replicate weights"):
        Table.read(columns, quasi_identifiers="sex", weight="w", replicate_weights=["rep1"], replicate_method=method)


def test_replicate_weights_need_the_weight():
    with pytest.raises(UnmaskError, match="no column is the weight"):
        Table.read({"sex": list("fm"), "rep1": [1, 3]}, quasi_identifiers="sex", replicate_weights="rep1")


def test_strata_and_clusters_of_a_document_reach_the_audit_of_a_release(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    psu, age = np.arange(200) // 10, rng.integers(20, 60, 200)
    lines = [f"{age},{psu % 4},{psu},{10 + psu}" for age, psu in zip(age, psu, strict=True)]
    Path("people.csv").write_text("\n".join(["age,strata,psu,samp_wgt", *lines]), encoding="utf-8")
    assert invoke("init", "people.csv").exit_code == 0
    document = tomllib.loads(Path("unmask.toml").read_text(encoding="utf-8"))
    assert (document["data"]["stratum"], document["data"]["cluster"]) == ("strata", "psu")
    assert invoke("protect", "unmask.toml", "-o", "release.csv", "--origin", "origin.csv").exit_code == 0
    assert Path("release.csv").read_text(encoding="utf-8").startswith("age,samp_wgt\n")

    def read_row(*words):
        rows = parsed(invoke("audit", *words, "--json").stdout)["tables"]["criteria"]
        return next(row for row in rows if row["release"] == "release")

    origin = np.loadtxt("origin.csv", skiprows=1, dtype=int)
    released = Table.read("release.csv", quasi_identifiers="age", weight="samp_wgt")
    design = SurveyDesign(stratum=psu[origin] % 4, cluster=psu[origin])
    expected = evaluate(replace(released, design=design)).expected_reidentifications_high
    assert read_row("unmask.toml")["expected_reidentifications_high"] == pytest.approx(expected, rel=1e-12)
    alone = read_row("release.csv", "-q", "age", "--weight", "samp_wgt")
    assert alone["expected_reidentifications_high"] != expected


def test_a_unit_that_no_file_has_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,w\n30,2\n30,3\n", encoding="utf-8")
    done = invoke("audit", "people.csv", "-q", "age", "--weight", "w", "--stratum", "region")
    assert done.exit_code == 2
    assert "column 'region' is not in the release" in done.stderr


@pytest.mark.parametrize("n_unique", [3, 30])
def test_a_shared_result_hides_the_share_of_few_unique_rows(n_unique):
    ages = [*range(100, 100 + n_unique), *np.repeat(30, 300)]
    table = Table.read({"age": ages, "w": np.full(len(ages), 10)}, quasi_identifiers="age", weight="w")
    (row,) = unmask.audit(table).without_small().tables["criteria"]
    expected = None if n_unique < 10 else n_unique / len(ages)
    assert row["unique_share"] == (None if expected is None else pytest.approx(expected))
    assert (row["unique_share_high"] is None) == (expected is None)


def test_replicate_weights_of_a_document_reach_the_audit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    columns = {"age": rng.integers(20, 60, 90), "samp_wgt": rng.integers(5, 50, 90)}
    columns |= {f"repwgt{number}": columns["samp_wgt"] * rng.integers(0, 3, 90) for number in range(6)}
    lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    Path("people.csv").write_text("\n".join([",".join(columns), *lines]), encoding="utf-8")
    design = {"replicate_weights": "repwgt*", "replicate_method": "bootstrap"}
    keys = "".join(f', {key} = "{value}"' for key, value in design.items())
    roles = '{ age = "quasi-identifier", samp_wgt = "weight" }'
    Path("unmask.toml").write_text(f'data = {{ file = "people.csv"{keys} }}\ncolumns = {roles}\n', encoding="utf-8")
    done = invoke("audit", "unmask.toml", "--json")
    (row,) = parsed(done.stdout)["tables"]["criteria"]
    table = Table.read("people.csv", quasi_identifiers="age", weight="samp_wgt", **design)
    expected = evaluate(table)
    assert row["expected_reidentifications_high"] == pytest.approx(expected.expected_reidentifications_high, rel=1e-9)
    assert (
        expected.expected_reidentifications_high
        != evaluate(replace(table, design=SurveyDesign())).expected_reidentifications_high
    )
    looked = unmask.look("people.csv", changes=False, **design)
    assert [record["role"] for record in looked.tables["columns"]] == ["quasi-identifier", "weight", *["drop"] * 6]
