"""The choice is what the requirements say, and what is not known is never chosen."""

import math
from dataclasses import replace

import pytest

from unmask.core.errors import FailedError, UnmaskError
from unmask.core.pareto import find_pareto_front
from unmask.policy import Condition
from unmask.results import StudyRow
from unmask.studies.choice import choose
from unmask.studies.journal import Journal, Result
from unmask.studies.reading import read_plan
from unmask.studies.results_file import MissingCells, Results, read_results
from unmask.studies.run import JOURNAL, run_study
from unmask.studies.sentences import describe_dataset
from unmask.studies.study_result import make_result, read_facts


def summary(protection, measure, value, *, adversary="a", target="identity", low=None, high=None, dataset="d", seeds=2):
    return StudyRow(
        protection, adversary, target, measure, "", "high", 0.0, value, value, low, high, "seeds", 9, 9, value, 0, (),
        status="", dataset=dataset, seeds=seeds, cells=2,
    )  # fmt: skip


def results(*summaries, gaps=()):
    return Results(tuple(summaries), tuple(gaps))


RISK = Condition.parse("risk<=0.1")


def test_the_most_useful_of_those_that_pass_comes_first():
    assessment = choose(
        results(
            *(summary(name, "risk", risk) for name, risk in (("k=2", 0.3), ("k=5", 0.1), ("k=9", 0.02))),
            *(summary(name, "utility", worth) for name, worth in (("k=2", 0.9), ("k=5", 0.7), ("k=9", 0.5))),
        ),
        [RISK],
    )
    assert [(option.protection, (option.state == "met")) for option in assessment] == [
        ("k=5", True),
        ("k=9", True),
        ("k=2", False),
    ]
    assert assessment[-1].failures == ("risk<=0.1 is missed: a, identity, risk is 0.3",)


def test_expected_and_realized_success_are_distinguished():
    expects = summary("p", "success_probability", 0.05), summary("p", "realized_success", 0.2)
    result = results(*expects, summary("p", "utility", 1.0))
    (option,) = choose(result, [Condition.parse("success_probability<=0.1")])
    message = "success_probability<=0.1 is met by the expected value only"
    assert option.state == "met"
    assert option.narrow == (f"{message}: 0.05 expected, 0.2 realized",)
    (option,) = choose(result, [Condition.parse("success_probability<=0.01")])
    assert option.failures == (
        "success_probability<=0.01 is missed: a, identity, success_probability is 0.05 expected, 0.2 realized",
    )


def test_every_adversary_and_target_must_be_held_unless_one_is_named():
    result = results(
        summary("p", "risk", 0.05),
        summary("p", "risk", 0.5, adversary="b"),
        summary("p", "risk", 0.6, target="job"),
        summary("p", "utility", 1.0),
    )
    assert len(choose(result, [RISK])[0].failures) == 2
    assert len(choose(result, [Condition.parse("a: risk <= 0.1")])[0].failures) == 1
    assert choose(result, [Condition.parse("a: risk <= 0.6")])[0].state == "met"


def test_a_requirement_may_be_about_a_target_and_any_field():  # U8
    result = results(
        summary("p", "risk", 0.05), summary("p", "risk", 0.6, target="job"), summary("p", "utility", 1.0)
    )  # fmt: skip
    assert choose(result, [Condition.parse("identity:risk.worst<=0.1")])[0].state == "met"
    assert choose(result, [Condition.parse("a:job:risk<=0.1")])[0].failures == (
        "a:job:risk<=0.1 is missed: a, job, risk is 0.6",
    )
    assert choose(result, [Condition.parse("risk.gain<=0.1")])[0].state != "met"
    assert choose(result, [Condition.parse("risk.q95<=0.1")])[0].state != "met"  # not known: no seed has quantiles


def test_a_bound_inside_the_interval_holds_narrowly():
    (option,) = choose(results(summary("p", "risk", 0.09, low=0.05, high=0.13), summary("p", "utility", 1.0)), [RISK])
    assert option.state == "met"
    assert option.narrow == ("risk<=0.1 holds narrowly: the interval reaches 0.13",)


def test_unknown_values_are_not_chosen():
    gap = MissingCells("d", "q", "a", "failed", 1, "no solution")
    result = choose(results(summary("p", "risk", 0.05), summary("p", "utility", 1.0), gaps=[gap]), [RISK])
    assert [(option.protection, (option.state == "met")) for option in result] == [("p", True), ("q", False)]
    assert "1 cell failed against a: no solution" in result[1].failures
    (option,) = choose(
        results(
            summary("p", "other", 0.0),
            summary("p", "utility", 1.0),
            summary("q", "risk", 0.0),
            summary("q", "utility", 1.0),
        ),
        [RISK],
    )[-1:]
    assert option.failures == ("risk<=0.1 could not be tested: this measure was not evaluated",)
    unknown = choose(results(summary("p", "risk", math.nan), summary("p", "utility", 1.0)), [RISK])[0]
    assert unknown.state != "met"


def test_a_measure_that_some_seeds_lack_is_not_known():
    result = results(summary("p", "risk", 0.05, seeds=1), summary("p", "utility", 1.0))
    assert choose(result, [RISK])[0].failures == ("risk: 1 of 2 seeds have it against a, identity",)
    nothing = results(summary("p", "risk", 0.05), summary("p", "utility", math.nan))
    assert choose(nothing, [RISK])[0].failures == ("utility is unknown: it was not measured, or in several units",)


def test_protections_without_the_required_row_are_not_judged():
    result = results(
        summary("p", "risk", 0.05), summary("p", "utility", 1.0),
        summary("q", "risk", 0.9, adversary="b", dataset="e"), summary("q", "utility", 1.0, adversary="b", dataset="e"),
    )  # fmt: skip
    verdicts = {option.protection: option for option in choose(result, [Condition.parse("a:risk<=0.1")])}
    assert [verdicts["p"].state, verdicts["q"].assessments, verdicts["q"].state] == ["met", (), "untested"]


def test_scores_of_several_units_are_not_averaged():
    second = replace(summary("p", "utility", 1.0, adversary="b", target="x"), unit="km")
    (option,) = choose(results(summary("p", "risk", 0.0), summary("p", "utility", 1.0), second), [RISK])
    assert math.isnan(option.utility)
    assert option.failures == ("utility is unknown: it was not measured, or in several units",)


@pytest.mark.parametrize("text", ["inf k=3:risk<=0.1", "a:b<c:risk<=0.1"])
def test_any_name_of_an_adversary_can_be_asked_about(text):
    name = text.rpartition(":")[0]
    assert Condition.parse(text).resolve([summary("p", "risk", 0.1, adversary=name)]).adversary == name


@pytest.mark.parametrize(
    ("sign", "holds"), [("<=", (True, True, False)), ("<", (True, False, False)), (">=", (False, True, True))]
)
def test_the_signs_mean_what_they_say(sign, holds):
    assert tuple(Condition.parse(f"x{sign}0.5").holds(value) for value in (0.4, 0.5, 0.6)) == holds


@pytest.mark.parametrize(("sign", "holds"), [(">", False), ("<", False), (">=", True), ("<=", True)])
def test_a_value_equal_to_the_bound_but_for_its_rounding_is_the_bound(sign, holds):  # U6
    for value in (0.1 + 2e-17, 0.1 - 2e-17, 0.30000000000000004 - 0.2):
        assert Condition.parse(f"risk{sign}0.1").holds(value) == holds
    assert Condition.parse("risk>0.1").holds(0.1000001)


def test_a_name_that_is_an_adversary_and_a_target_is_ambiguous():
    both_summaries = [summary("p", "risk", 0.1, target="job"), summary("p", "risk", 0.1, adversary="job")]
    with pytest.raises(UnmaskError, match="may be the adversary 'job' or the target 'job'"):
        Condition.parse("job:risk<1").resolve(both_summaries)
    assert Condition.parse("job:identity:risk<1").resolve(both_summaries).adversary == "job"


def test_an_unknown_field_is_reported():
    with pytest.raises(UnmaskError, match="no field 'wurst'; did you mean 'worst'"):
        Condition.parse("risk.wurst<1")


@pytest.mark.parametrize("text", ["risk", "risk=3", "risk<=much", "<=3", "risk<=nan"])
def test_an_invalid_requirement_is_refused(text):
    with pytest.raises(UnmaskError, match="expected for example"):
        Condition.parse(text)


def test_a_misspelled_measure_or_adversary_is_reported():
    result = results(summary("p", "risk", 0.05), summary("p", "utility", 1.0))
    for text, message in (("k_peopel<=0.1", "did you mean 'k_people'"), ("c:risk<=0.1", "'c' is neither an adversary")):
        (option,) = choose(result, [Condition.parse(text)])
        assert option.state != "met"
        assert message in option.failures[0]


def test_points_on_the_front_are_those_that_nothing_beats():
    assert find_pareto_front([(1, -1), (2, -2), (3, -3), (2, -1)]) == [True, True, True, False]
    assert find_pareto_front([(1, -1), (1, -1)]) == [True, True]
    assert find_pareto_front([(1, 5, -1), (2, 4, -1), (2, 5, -1)]) == [True, True, False]


PLAN = """
seeds = 3
[[data]]
use = "channels.alphabet"
with = { n = 3 }
[[adversaries]]
use = "channels.BayesChannelAttack"
"""


def test_seeds_are_gathered_with_students_interval(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    plan = read_plan(tmp_path / "plan.toml")
    row = {"target": "secret", "measure": "risk", "unit": "share", "direction": "high", "n": 7, "interval": "x"}
    with Journal(tmp_path / JOURNAL).appending() as journal:
        for cell, value in zip(plan.cells(), (0.1, 0.2, 0.6), strict=True):
            numbers = {"prior": 0.0, "posterior": value, "gain": value, "low": 0.0, "high": 1.0, "worst": value}
            journal.add(Result(cell.key, "done", "", 0.1, ({**row, **numbers},)))
    run_study(plan, tmp_path)
    (entry,) = read_results(tmp_path).rows
    # mean .3, s = sqrt(.07), t(.975, 2) = 4.302653
    assert entry.posterior == pytest.approx(0.3)
    assert entry.high == pytest.approx(0.3 + 4.302653 * (0.07 / 3) ** 0.5, rel=1e-6)
    assert entry.low == 0.0  # C6: not -0.36
    assert (entry.seeds, entry.worst, entry.interval) == (3, 0.6, "seeds")


def test_seeds_that_change_nothing_keep_the_interval_of_one(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    plan = read_plan(tmp_path / "plan.toml")
    row = {"target": "secret", "measure": "risk", "unit": "share", "direction": "high", "n": 7, "interval": "people"}
    numbers = {"posterior": 0.3, "low": 0.2, "high": 0.4, "worst": 0.3}
    with Journal(tmp_path / JOURNAL).appending() as journal:
        for cell, prior in zip(plan.cells(), (0.1, 0.12, 0.2), strict=True):
            result = {**row, **numbers, "prior": prior, "gain": 0.3 - prior}
            journal.add(Result(cell.key, "done", "", 0.1, (result,)))
    run_study(plan, tmp_path)
    (result,) = read_results(tmp_path).rows
    assert (result.low, result.high, result.interval) == (0.2, 0.4, "people")
    # gains .2, .18, .1: mean .16, s .0529150, t(.975, 2) = 4.302653
    assert (result.gain_low, result.gain_high) == pytest.approx((0.16 - 0.131446, 0.16 + 0.131446), abs=1e-5)


def test_a_folder_without_results_and_a_damaged_file_are_failures(tmp_path):
    with pytest.raises(FailedError, match="unmask study"):
        read_results(tmp_path)
    (tmp_path / "results.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(FailedError, match="run the study again"):
        read_results(tmp_path)


CASE = """
seeds = 1
[[data]]
name = "census"
use = "tables.synthetic_census"
with = { n = 700 }
quasi_identifiers = ["age", "sex", "zip"]
[[protections]]
name = "none"
use = "none"
[[protections]]
use = "tables.Mondrian"
grid = { k = [5, 60] }
[[adversaries]]
name = "broker"
use = "tables.RegisterAttack"
knows = { coverage = 0.63 }
attacker = "case-study"
"""


def test_e1_e2_e5_the_case_study_announces_what_comes_true_and_a_protection_is_chosen(tmp_path):
    (tmp_path / "plan.toml").write_text(CASE)
    run_study(read_plan(tmp_path / "plan.toml"), tmp_path / "out")
    results = read_results(tmp_path / "out")
    result = {(row.release, row.measure): row for row in results.rows}
    for protection in ("none", "Mondrian k=5", "Mondrian k=60"):
        announced, real = (result[protection, name] for name in ("rational_success", "realized_rational_success"))
        assert announced.posterior == pytest.approx(
            real.posterior, abs=0.02
        )  # 1.2 points are a deviation of 1,500 people
        assert max(announced.posterior, real.posterior) <= 0.63 + 1e-9
    # one guess names a fifth of those who are named by as many tries as pay
    assert result["Mondrian k=5", "realized_success"].posterior < 0.2 < 0.6
    assert result["Mondrian k=5", "realized_rational_success"].posterior > 0.6
    for name in ("rational_success", "realized_rational_success"):
        verdicts = choose(results, [Condition.parse(f"{name}<=0.3")])
        assert [verdict.protection for verdict in verdicts if (verdict.state == "met")] == ["Mondrian k=60"]
    page = read_facts(tmp_path / "out")
    text = describe_dataset(page, "census")
    assert "by as many tries as pay for each of them" in text[0]
    assert "From \u201cMondrian k=5\u201d, the adversary broker re-identifies 6" in text[0]
    spots = {spot.protection: spot.risk for plane in page.tradeoffs for spot in plane.points}
    assert spots == {
        name: result[name, "realized_rational_success"].posterior for name in ("none", "Mondrian k=5", "Mondrian k=60")
    }
    assert any(
        "A campaign may pay although no single attack does" in assumption
        for assumption in make_result(page).assumptions
    )
