"""Gates see the most exposed, every adversary, target and criterion; what they cannot see is an error, never a pass."""

import math
from dataclasses import replace

import click
import pytest

from unmask import UnmaskError
from unmask.cli.gates import EXIT_ABOVE, exit_unless_acceptable, judge, policy_option
from unmask.results import Result, Row
from unmask.results.names import INSIDER
from unmask.results.rows import ORIGINAL

ROW = Row(
    "r", "prosecutor", "identity", "success_probability", "probability", "high", 0.01, 0.05, 0.04, 0.03, 0.07, "people",
    1000, 80, 0.5, 7, (0.01, 0.02, 0.04, 0.08, 0.2), "exact",
)  # fmt: skip

ROWS = (
    ROW,
    replace(ROW, target="diagnosis", posterior=0.4, worst=1.0, prior=0.3, gain=0.1),
    replace(ROW, adversary="register", posterior=0.02, worst=0.1, low=None, high=None),
    replace(ROW, measure="delta_up", posterior=2.0),
)

CRITERIA = {"k": 5, "unique_rows": 0, "l_distinct": None, "delta_up": 1.0, "missing": "own"}


@click.command
@policy_option
def command(policies):
    return policies


def code(*texts, rows=ROWS, criteria=None):
    policies = command.make_context("audit", [f"--policy={text}" for text in texts]).params["policies"]
    result = Result("t", "w", tuple(rows), criteria={"r": CRITERIA} if criteria is None else criteria)
    try:
        exit_unless_acceptable(judge(result, policies).verdicts)
    except click.exceptions.Exit as done:
        return done.exit_code
    return 0


@pytest.mark.parametrize(  # U8
    ("gate", "broken"),
    [
        ("success_probability.worst<=0.5", True),
        ("prosecutor:identity:success_probability.worst<=0.5", False),
        ("prosecutor:identity:success_probability.worst<0.5", True),
        ("register:success_probability.worst<=0.1", False),
        ("register:success_probability.worst<=0.09", True),
        ("diagnosis:success_probability<=0.5", False),
        ("diagnosis:success_probability<=0.3", True),
        ("prosecutor:diagnosis:success_probability.gain<=0.09", True),
        ("identity:success_probability.q95<=0.2", False),
        ("identity:success_probability.q95<=0.1", True),
        ("prosecutor:success_probability.high<=0.05", True),
        ("register:success_probability.high<=0.01", True),  # no interval: the value
        ("register:success_probability.high<=0.03", False),
        ("register:success_probability.low>=0.03", True),
        ("prosecutor:success_probability.low<=0.05", False),
        ("success_probability.prior<=0.2", True),
        ("k>=5", False),
        ("k>=11", True),
        ("unique_rows<=0", False),
        ("criterion:delta_up<=1.5", False),
        ("prosecutor:delta_up<=1.5", True),
    ],
)
def test_a_gate_takes_any_field_of_any_row_and_every_criterion(gate, broken):
    assert code(gate) == (EXIT_ABOVE if broken else 0)


def test_a_broken_gate_is_named_with_its_value_and_its_bound(capsys):
    assert code("diagnosis:success_probability.worst<=0.5", "k>=11") == EXIT_ABOVE
    assert capsys.readouterr().err.splitlines() == [
        (
            "missed: r: prosecutor, diagnosis, success_probability.worst is 1 "
            "(diagnosis:success_probability.worst<=0.5 is required)"
        ),
        "missed: r: k is 5 (k>=11 is required)",
    ]


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("success_probabilty<=0.1", "this measure was not evaluated: did you mean 'success_probability'?"),
        ("rank<=3", "this measure was not evaluated: rank of the truth among the candidates"),
        ("burglar:success_probability<=0.1", "'burglar' is neither an adversary nor a target"),
        ("register:diagnosis:success_probability<=0.1", "'register:diagnosis' is neither an adversary nor a target"),
        ("register:k>=11", "this measure was not evaluated"),
        ("l_distinct>=3", "this measure was not evaluated"),  # not run for any release
        ("missing>=3", "this measure was not evaluated"),
        ("delta_up<=1", "a measure and a criterion; write ADVERSARY:delta_up or criterion:delta_up"),
        ("k.worst>=11", "a criterion is one number"),
    ],
)
def test_a_gate_that_matches_nothing_is_an_error_that_lists_what_there_is(gate, message):
    with pytest.raises(UnmaskError) as caught:
        code(gate)
    assert message in str(caught.value)
    if "nobody" in message or "no adversary" in message:
        for candidates in (
            "success_probability",
            "posterior, prior",
            "prosecutor, register",
            "identity, diagnosis",
            "k, ",
        ):
            assert candidates in str(caught.value)


def test_a_gate_on_identity_without_an_identity_attack_is_an_error():
    with pytest.raises(UnmaskError, match="'identity' is neither an adversary nor a target"):
        code("identity:success_probability<=0.5", rows=[replace(ROW, target="secret", adversary="Bayes")], criteria={})


@pytest.mark.parametrize("gate", ["success_probability<=0.9", "register:success_probability.high<=0.9"])
def test_an_unknown_value_breaks_a_gate(gate, capsys):
    unknown = replace(ROW, adversary="register", posterior=math.nan, high=None)
    assert code(gate, rows=[ROW, unknown]) == EXIT_ABOVE
    assert "not tested, so not met: r: " in capsys.readouterr().err


def test_an_adversary_who_failed_on_one_release_breaks_its_gate(capsys):
    rows = [ROW, replace(ROW, release="s"), replace(ROW, adversary="register")]
    assert code("success_probability<=0.9", rows=rows) == EXIT_ABOVE
    assert capsys.readouterr().err.endswith(": register has no result\n")
    assert code("prosecutor:success_probability<=0.9", rows=rows) == 0


def test_a_criterion_that_one_release_lacks_breaks_its_gate():
    rows = [ROW, replace(ROW, release="s")]
    assert code("k>=2", rows=rows, criteria={"r": {"k": 5}, "s": {"k": None}}) == EXIT_ABOVE
    assert code("k>=2", rows=rows, criteria={"r": {"k": 5}, "s": {"k": 3}}) == 0


def test_the_table_before_protection_breaks_no_gate_and_satisfies_none():
    rows = [ROW, replace(ROW, release=ORIGINAL, posterior=1.0), replace(ROW, release=ORIGINAL, measure="rank")]
    criteria = {ORIGINAL: {"k": 1}, "r": {"k": 20}}
    assert code("success_probability<=0.5", "k>=11", rows=rows, criteria=criteria) == 0
    with pytest.raises(UnmaskError, match="this measure was not evaluated"):
        code("rank>=3", rows=rows)


def test_an_adversary_who_knows_what_others_are_to_learn_is_asked_about_where_they_are_named():
    rows = [ROW, replace(ROW, adversary=INSIDER, posterior=0.99), replace(ROW, adversary=INSIDER, measure="rank")]
    assert code("success_probability<=0.5", "identity:success_probability<=0.5", rows=rows) == 0
    assert code(f"{INSIDER}:success_probability<=0.5", rows=rows) == EXIT_ABOVE
    with pytest.raises(UnmaskError, match="this measure was not evaluated"):
        code("rank>=3", rows=rows)
