"""Policies are read with their sources, and verdicts say of each condition: met, missed, or not tested."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from tests.reports.test_first_screen import Seen
from tests.test_gates import CRITERIA, ROW
from unmask import UnmaskError
from unmask.cli import main
from unmask.findings.verdict_words import (
    describe_contradiction,
    describe_distance,
    describe_verdict,
    explain_condition,
    name_requirement,
)
from unmask.policy import Condition, Policy, judge, judge_result, read_policies, read_policy
from unmask.policy.policies import TYPED_SOURCE, parse_policy, read_shipped_policies
from unmask.policy.verdict import limit_ratio
from unmask.render.page import render
from unmask.render.terminal import overview
from unmask.results import Result
from unmask.tables import datasets

PEOPLE = {"age": [30, 30, 41, 41, 52, 52], "ill": ["a", "b", "a", "a", "b", "b"]}


def build_data(*rows, **criteria):
    return Result("t", "w", rows or (ROW,), criteria={"r": {**CRITERIA, **criteria}})


def states(data, *conditions):
    (verdict,) = judge_result(data, [Policy.of(conditions, title="Ours")]).verdicts
    return verdict.state, [assessment.state for assessment in verdict.assessments]


def test_a_release_is_acceptable_where_every_condition_is_met():
    assert states(build_data(), "k >= 5", "success_probability <= 0.05") == ("acceptable", ["met", "met"])
    assert states(build_data(), "k >= 5", "success_probability.worst <= 0.09") == ("not acceptable", ["met", "missed"])


def test_an_untested_condition_is_neither_met_nor_missed():
    assert states(build_data(), "k >= 5", "rank >= 3") == ("not decided", ["met", "untested"])
    assert states(build_data(), "k >= 6", "rank >= 3") == ("not acceptable", ["missed", "untested"])
    assert states(
        build_data(ROW, replace(ROW, adversary="register", posterior=math.nan)), "success_probability<=1"
    ) == (
        "not decided",
        ["untested"],
    )


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("rank >= 3", "this measure was not evaluated: rank of the truth"),
        ("sucess_probability <= 1", "did you mean 'success_probability'?"),
        ("burglar:success_probability <= 1", "'burglar' is neither an adversary nor a target"),
        ("success_probability.excess <= 0", "needs a control group (--control, --hold-back)"),
        ("delta_up <= 2", "a measure and a criterion"),
    ],
)
def test_the_reason_of_an_untested_condition_is_stated(condition, reason):
    rows = (ROW, replace(ROW, measure="delta_up"))
    (verdict,) = judge_result(build_data(*rows), [Policy.of([condition], title="Ours")]).verdicts
    assert reason in verdict.assessments[0].unknown_reason


def test_an_excess_is_required_of_rows_with_control_people():
    excess_row = replace(ROW, target="ill", control=0.02, excess=0.03, excess_low=0.01, excess_high=0.05)
    assert states(build_data(ROW, excess_row), "success_probability.excess <= 0.03") == ("acceptable", ["met"])
    assert states(build_data(ROW, excess_row), "success_probability.excess_high <= 0.03") == (
        "not acceptable",
        ["missed"],
    )
    assert states(build_data(ROW, excess_row), "success_probability.control <= 0.01")[0] == "not acceptable"


@pytest.mark.parametrize("direction", ["high", "low"])
def test_the_interval_of_a_gain_is_seen_in_an_audit(direction):
    sign = 1 if direction == "high" else -1
    ends = sorted((0.5 + sign * 0.02, 0.5 + sign * 0.12))
    near = {"prior": 0.5, "posterior": 0.5 + sign * 0.08, "gain": 0.08, "low": ends[0], "high": ends[1]}
    condition = Condition.parse("success_probability.gain <= 0.1")
    row = replace(ROW, direction=direction, **near)
    assert condition.ends(row) == pytest.approx((0.02, 0.12))
    (verdict,) = judge_result(build_data(row), [Policy.of([str(condition)], title="Ours")]).verdicts
    assert (verdict.state, verdict.assessments[0].interval_end) == ("acceptable", pytest.approx(0.12))
    assert condition.ends(replace(row, low=None, high=None)) == (0.08, 0.08)


def test_each_release_has_a_verdict_and_what_breaks_most_comes_first():
    rows = (ROW, replace(ROW, adversary="register", worst=0.9), replace(ROW, release="s", worst=0.01))
    first, second = judge_result(
        build_data(*rows), [Policy.of(["success_probability.worst <= 0.1"], title="Ours")]
    ).verdicts
    assert (first.release, first.state, second.release, second.state) == ("r", "not acceptable", "s", "not decided")
    assert [violation.item.adversary for violation in first.assessments[0].violations] == ["register", "prosecutor"]
    assert second.assessments[0].unknown_reason == "register has no result"


def test_lines_of_a_verdict_have_value_limit_and_factor():
    (verdict,) = judge_result(
        build_data(), [Policy.of(["success_probability.worst <= 0.1", "k >= 10"], title="Ours")]
    ).verdicts
    worst, k = verdict.lines()
    assert (worst.state, worst.value, worst.limit, worst.times, worst.adversary) == (
        "missed",
        0.5,
        0.1,
        5,
        "prosecutor",
    )
    assert (k.value, k.times, k.adversary) == (5, 2, "")
    assert limit_ratio(0, Condition.parse("k <= 1")) is None
    assert [describe_distance(assessment) for assessment in verdict.assessments] == [
        "5.0 times the limit",
        "short by 5",
    ]
    assert describe_verdict(verdict) == "Not acceptable under Ours: 2 of 2 conditions are missed."


def test_adversaries_outside_a_verdict_are_listed_with_their_success():
    insider = replace(ROW, adversary="insider", posterior=0.474, worst=1.0, low=None, high=None)
    data = build_data(ROW, insider)
    sentence = "Not judged: an insider, who also knows sensitive values, re-identifies 47.4 %."
    states = {}
    for condition in ("identity:success_probability.worst <= 0.6", "insider:success_probability <= 0.6", "k >= 5"):
        judged_data = judge_result(data, [Policy.of([condition], title="Ours")])
        page = " ".join(Seen(render(judged_data)).words).replace("\u00a0", " ")
        states[condition] = (sentence in page, sentence in overview(judged_data))
        assert ("Not judged:" in page) == states[condition][0]
    assert list(states.values()) == [(True, True), (False, False), (False, False)]


def test_a_count_of_few_people_is_in_no_line():
    data = build_data(unique_rows=3)
    data = judge_result(data, [Policy.of(["unique_rows <= 0"], title="Ours")])
    (line,) = data.tables["verdicts"]
    assert (line["state"], line["value"]) == ("missed", None)
    assert "fewer than 10" in render(data)


def test_a_policy_is_read_with_its_sources(tmp_path: Path):
    path = tmp_path / "house.toml"
    path.write_text(
        'title = "House"\n[[policy]]\nrequire = "k >= 7"\nname = "People alike"\nsource = "board"\npurpose = "study"\n'
    )
    (requirement,) = read_policy(path).requirements
    assert (requirement.name, requirement.source, requirement.purpose, str(requirement.require)) == (
        "People alike",
        "board",
        "study",
        "k>=7",
    )
    policies = parse_policy(
        {"policy": [{"use": "house.toml"}, {"require": "t_equal <= 0.5"}], "title": "Mine"}, tmp_path, title=""
    )
    assert (policies.title, len(policies.requirements)) == ("House and Mine", 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[policy]\nrequire = 3\n", "policy is a table, expected a list of tables"),
        ("[[policy]]\nname = 'x'\n", "policy has no require"),
        ("[[policy]]\nrequire = 3\n", "policy[1].require is 3, expected a text"),
        ("[[policy]]\nrequire = 'k > x'\n", "the condition is 'k > x'"),
        ("[[policy]]\nrequire = 'k > 3'\nsauce = 'a'\n", "'sauce' that does not exist; did you mean 'source'?"),
        ("[[policy]]\nuse = 'stric'\n", "no policy is called 'stric'; did you mean 'strict'?"),
        ("[[policy]]\nuse = 'strict'\nrequire = 'k > 3'\n", "says use and more"),
        ("[[policy]]\nuse = 'gone.toml'\n", "cannot be read"),
        ("[[policy", "is not TOML"),
    ],
)
def test_an_invalid_policy_is_refused_in_a_sentence(tmp_path: Path, text, message):
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(UnmaskError, match=re.escape(message)):
        read_policy(tmp_path / "p.toml")


@pytest.mark.parametrize("name", read_shipped_policies())
def test_every_shipped_policy_has_names_sources_and_purposes_and_can_turn_out_both_ways(name):
    policy = read_policy(name)
    assert all(requirement.name and requirement.source and requirement.purpose for requirement in policy.requirements)
    table = unmask.read_table(PEOPLE, quasi_identifiers="age", sensitive="ill")
    result = unmask.audit(table, original=table, control=table, policy=name)
    assert result.verdicts[0].state in ("not acceptable", "not decided")  # so few people are no control people
    columns = {"age": [1] * 1000, "ill": [str(i % 10) for i in range(1000)]}
    wide = unmask.audit(unmask.read_table(columns, quasi_identifiers="age", sensitive="ill"), policy=policy)
    assert wide.verdicts[0].count("missed") == 0


def test_the_verdict_leads_page_terminal_and_json():
    table = unmask.read_table(PEOPLE, quasi_identifiers="age", sensitive="ill")
    result = unmask.audit(table, policy=["strict", Policy.of(["k >= 2"], title="Ours")])
    page = result.to_html()
    assert page.index("Is it acceptable?") < page.index("How often the adversary is right")
    assert "Not acceptable under Strict" in repr(result)
    assert "Acceptable under Ours: the only condition is met." in repr(result)
    data = json.loads(result.to_json())["tables"]["verdicts"]
    assert {entry["policy"] for entry in data} == {"Strict", "Ours"}
    with pytest.raises(UnmaskError, match="policy is 3, expected a Policy"):
        unmask.audit(table, policy=3)


def test_a_policy_that_requires_nothing_is_no_pass(tmp_path: Path):
    (tmp_path / "empty.toml").write_text('title = "House"\n[[polices]]\nrequire = "k >= 5"\n')
    table = unmask.read_table(PEOPLE, quasi_identifiers="age", sensitive="ill")
    with pytest.raises(UnmaskError, match="policy 'empty' requires nothing"):
        unmask.audit(table, policy=tmp_path / "empty.toml")


def test_a_policy_that_was_given_and_is_about_another_domain_is_refused(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text("age,ill\n" + "30,a\n31,b\n" * 3)
    Path("graphs.toml").write_text('[[policy]]\nrequire = "recall <= 0.1"\ndomain = "graphs"\n')
    command = ["audit", "r.csv", "-q", "age", "-s", "ill"]
    done = CliRunner().invoke(main, [*command, "--policy", "graphs.toml"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "Error: policy 'graphs' requires nothing of tables; it is about graphs\n"
    for ask in (unmask.audit, unmask.suggest):
        with pytest.raises(UnmaskError, match="requires nothing of tables"):
            ask(unmask.read_table(PEOPLE, quasi_identifiers="age"), policy="graphs.toml")
    assert CliRunner().invoke(main, [*command, "--policy", "graphs.toml", "--policy", "k >= 9"]).exit_code == 2
    columns = '[columns]\nage = "quasi-identifier"\nill = "sensitive"\n'
    Path("unmask.toml").write_text(f'[data]\nfile = "r.csv"\n{columns}' + Path("graphs.toml").read_text())
    assert CliRunner().invoke(main, ["audit", "unmask.toml"]).exit_code == 0


def test_single_conditions_are_one_policy_next_to_named_ones():
    table = unmask.read_table(PEOPLE, quasi_identifiers="age", sensitive="ill")
    result = unmask.audit(table, policy=["k >= 2", "strict", "k >= 3"])
    assert [(verdict.policy.title, verdict.state, len(verdict.assessments)) for verdict in result.verdicts] == [
        ("Strict", "not acceptable", 3),
        ("the conditions given", "not acceptable", 2),
    ]


def test_a_condition_that_is_typed_has_its_source_behind_a_number_sign_or_says_that_it_has_none():
    first, second = read_policies(["k >= 2 # board, 2026-03", "k >= 3"])[0].requirements
    assert (str(first.require), first.source) == ("k>=2", "board, 2026-03")
    assert (str(second.require), second.source) == ("k>=3", TYPED_SOURCE)


def test_expected_success_is_shown_with_realized_success():
    came_true = replace(ROW, measure="realized_success", posterior=0.2)
    expects = Policy.of(["success_probability <= 0.1"], title="Ours")
    (verdict,) = judge_result(build_data(replace(ROW, posterior=0.05), came_true), [expects]).verdicts
    (assessment,) = verdict.assessments
    assert (assessment.state, assessment.realized.value) == ("met", 0.2)
    assert describe_contradiction(assessment).replace("\u00a0", " ") == "expected value met, but 20.0 % realized"
    assert (
        explain_condition(assessment).replace("\u00a0", " ").endswith("best guess is right; n = 1,000; 20.0 % realized")
    )
    policy = Policy.of(["success_probability.worst <= 0.1"], title="Ours")
    (worst,) = judge_result(build_data(ROW, came_true), [policy]).verdicts[0].assessments
    assert worst.realized is None


def test_a_condition_without_a_name_is_called_by_its_measure():
    (requirement,) = Policy.of(["register:success_probability.worst <= 1"], title="Ours").requirements
    assert name_requirement(requirement) == "Expected success at highest risk, register"
    (own_requirement,) = Policy.of(["my_own <= 1"], title="Ours").requirements
    assert name_requirement(own_requirement) == "my own"


def test_those_apart_are_judged_where_they_are_named():
    rows = [ROW, replace(ROW, adversary="insider", posterior=0.9)]
    (verdict,) = judge(Policy.of(["success_probability<=0.1"], title="x"), rows, excluded=frozenset({"insider"}))
    assert verdict.state == "acceptable"
    (verdict,) = judge(
        Policy.of(["insider:success_probability<=0.1"], title="x"), rows, excluded=frozenset({"insider"})
    )
    assert verdict.state == "not acceptable"


def test_the_page_of_a_table_shows_at_most_sixty_lines_of_tables_before_anything_is_unfolded():
    census = datasets.synthetic_census(2400, rng=np.random.default_rng(3))
    roles = {"quasi_identifiers": ["age", "sex", "zip"], "sensitive": "diagnosis"}
    table, control = (
        unmask.read_table({name: cells[part] for name, cells in census.items()}, **roles)
        for part in (slice(0, 1200), slice(1200, 2400))
    )
    release, origin = unmask.protect(table, k=5)
    parts = (("age", "sex"), ("zip", "diagnosis"))
    result = unmask.audit(release, original=table, origin=origin, control=control, parts=parts, policy="wp216")
    assert Seen(result.to_html()).rows <= 60
