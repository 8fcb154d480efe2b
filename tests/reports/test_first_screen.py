"""The first screen of every kind of page: acceptable, under what policy, who is at risk, what next; the rest folded."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from tests.economics import test_price_audit
from tests.graphs import test_network_findings
from tests.reports import test_channel, test_linkage
from tests.reports.test_html import row, sample, single, with_facts
from tests.reports.test_study_page import facts, study
from unmask.facts import ColumnFacts
from unmask.policy import Policy, judge, judge_result
from unmask.policy.policies import read_policies
from unmask.render.first_screen import complete_advice
from unmask.render.measure_tables import measures_finding
from unmask.render.page import render
from unmask.render.terminal import lines, overview, verdict_lines
from unmask.results import Advice, Alternative, Result, Row
from unmask.results.change import Change
from unmask.results.distribution import Distribution
from unmask.results.scope import Scope
from unmask.studies.choice import Option
from unmask.tables.audit.column_exposure import ColumnExposure
from unmask.tables.audit.equivalence_classes import ClassRisk

CONDITIONS = {
    "table": ("success_probability.worst <= 0.09", "success_probability <= 0.04"),
    "price": ("success_probability.worst <= 0.09",),
    "graph": ("recall <= 0.05", "coverage <= 0.9"),
    "linkage": ("breached <= 0.1", "linked_now <= 0.9"),
    "channel": ("estimation_error >= 0.9", "epsilon <= 1"),
}


def audits() -> dict[str, Result]:
    return {
        "table": sample(),
        "price": test_price_audit.report(single()),
        "graph": test_network_findings.data(),
        "linkage": test_linkage.data(),
        "channel": test_channel.data(),
    }


def judged(data: Result, *conditions: str) -> Result:
    return judge_result(data, [Policy.of(conditions, title="Ours")])


def chosen() -> object:
    """A study under a policy: a protection that keeps it, and others that do not."""
    plain = facts()
    policy, rows = Policy.of(["success_probability <= 0.6"], title="Ours"), list(plain.rows)
    verdicts = judge(policy, rows)
    options = [Option("census", one.release, 0.9 - i / 10, "share", one.assessments) for i, one in enumerate(verdicts)]
    return study(policy="Ours", options=tuple(sorted(options, key=lambda one: (one.state != "met", -one.utility))))


@cache
def pages() -> dict[str, str]:
    found = {kind: render(judged(data, *CONDITIONS[kind])) for kind, data in audits().items()}
    return {**found, "study": render(chosen())}


KINDS = (*CONDITIONS, "study")


class Seen(HTMLParser):
    """Return the words, and the lines of tables, that a reader sees before anything is unfolded."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows, self.words, self.summaries = 0, [], []
        self._folds, self._summary = 0, False
        self.feed(page.partition("<body>")[2])

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._folds += tag == "details"
        self._summary |= tag == "summary"
        self.rows += tag == "tr" and not self._folds
        if tag == "summary" and self._folds == 1:
            self.summaries.append("")

    def handle_endtag(self, tag: str) -> None:
        self._folds -= tag == "details"
        self._summary &= tag != "summary"

    def handle_data(self, data: str) -> None:
        if not self._folds:
            self.words.append(data.strip())
        if self._summary and self._folds == 1:
            self.summaries[-1] += data


def opening(page: str) -> str:
    """The words above the first picture."""
    return re.sub(r"[\s\u00a0]+", " ", " ".join(Seen(page.partition("<main>")[0]).words))


def first_screen_words(page: str) -> list[str]:
    """Return the visible tokens with a letter above the first section, those of charts included."""
    shown = re.sub(r'<span class="unseen">.*?</span>', "", page.partition("<main>")[0])
    return [word for word in " ".join(Seen(shown).words).split() if re.search("[A-Za-z]", word)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_four_questions_are_answered_in_words(kind: str) -> None:
    said = opening(pages()[kind])
    verdict = re.search(r"(Acceptable|Not acceptable|Not decided) under Ours", said)
    assert verdict
    asked = [re.search(word, said) for word in (r"Is .{1,40}acceptable\?", r"Who is at risk\?", r"What next\?")]
    assert all(asked)
    assert [one.start() for one in asked] == sorted(one.start() for one in asked)
    who = said[asked[1].end() : asked[2].start()]
    assert re.search(r"\d", who)
    assert len(said[asked[2].end() :].split()) >= 3


@pytest.mark.parametrize("judge_by", [True, False], ids=["with a policy", "without a policy"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_first_screen_has_at_most_120_words(kind: str, judge_by: bool) -> None:
    """T9: every visible token with a letter counts, also in the chart."""
    page = pages()[kind] if judge_by else render(study() if kind == "study" else audits()[kind])
    words = first_screen_words(page)
    assert 30 < len(words) <= 120, " ".join(words)


def test_a_longer_first_screen_is_noticed() -> None:
    data = replace(sample(), cautions=("This sentence has six words only.",) * 20)
    assert len(first_screen_words(render(data))) > 120


@pytest.mark.parametrize("kind", KINDS)
def test_at_most_sixty_lines_of_tables_stand_open(kind: str) -> None:
    seen = Seen(pages()[kind])
    assert seen.rows <= 60
    assert pages()[kind].count("<tr") > seen.rows or kind == "price"


@pytest.mark.parametrize("kind", KINDS)
def test_every_fold_says_what_it_found(kind: str) -> None:
    page = pages()[kind]
    folds = re.findall(r'<details class="fold">\s*<summary>(.*?)</summary>', page, re.S)
    silent = [re.sub("<[^>]+>", "", fold).strip() for fold in folds if "<span>" not in fold]
    assert folds
    assert silent == []


@pytest.mark.parametrize("kind", [*CONDITIONS, "study"])
def test_without_a_policy_the_page_says_so_and_how_to_give_one(kind: str) -> None:
    page = render(study() if kind == "study" else audits()[kind])
    said = opening(page)
    assert "No verdict: choose a policy." in said
    assert "--policy" in said
    assert not re.search(r"(Acceptable|Not acceptable|Not decided) under", said)
    assert "Who is at risk?" in said
    assert "unmask" in said[said.index("What next?") :]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (("k >= 1", "k >= 2"), "Not decided under P0 and P1: 2 of 2 policies are not decided."),
        (("success_probability <= 1", "k >= 2"), "Not decided under P0 and P1: 1 of 2 policies is not decided."),
        (("success_probability <= 0", "k >= 2"), "Not acceptable under P0 and P1: 1 of 2 policies is missed"),
        (("success_probability <= 1",) * 2, "Acceptable under P0 and P1: all 2 policies are met."),
    ],
)
def test_several_policies_have_one_verdict_on_the_page_and_in_the_terminal(limits: tuple[str, str], said: str) -> None:
    data = replace(single(), rows=(row(release="r", worst=0.1),))
    policies = [Policy.of([limit], title=f"P{at}") for at, limit in enumerate(limits)]
    data = judge_result(data, policies)
    assert said in opening(render(data))
    assert any(said in line.text for line in verdict_lines(data))


def test_the_terminal_says_the_verdict_in_the_words_of_the_page() -> None:
    data = judged(sample(), *CONDITIONS["table"])
    title = re.sub("<[^>]+>|\n", "", re.search(r"<h1>(.*?)</h1>", render(data), re.S)[1])
    assert title.replace("\u00a0", " ") in overview(data).replace("\u00a0", " ")
    assert "No verdict: choose a policy." in overview(sample())


def test_the_worst_off_of_the_terminal_are_those_of_the_belief_and_not_whether_anybody_was_guessed() -> None:
    came_true = row(measure="realized_success", posterior=0.03, worst=1.0)
    told = overview(replace(single(), rows=(came_true, row(worst=0.05))))
    assert told.replace("\u00a0", " ").splitlines()[-1].endswith("  5.0 %")
    assert overview(replace(single(), rows=(came_true,))).splitlines()[-1].endswith("  -")
    seen = {
        rows[0].measure: [one.kind for one in lines(replace(single(), rows=rows))][-1]
        for rows in ((came_true,), (row(),))
    }
    assert seen == {"realized_success": "", "success_probability": "risk"}


def spread(*people: tuple[float, float]) -> Result:
    """An audit of 1,000 people, of whom shares have a success probability each."""
    shares = (sum(share for p, share in people if p <= 0.5), sum(share for p, share in people if p > 0.5))
    own = Distribution("r", "neighbor", "identity", (0.0, 0.5, 1.0), shares, 1000, {0.09: 1000, 0.5: 0}, tuple(people))
    known = row(release="r", adversary="neighbor", worst=max(p for p, _ in people))
    return replace(single(), rows=(known,), distribution=(own,), smallest_shown=1)


def test_the_terminal_says_whom_its_column_of_people_at_risk_counts() -> None:
    data = spread((0.1, 0.7), (0.6, 0.3))
    named, found = (
        "people re-identified with more than 9 %",
        "people with a value, other than the most common one, inferred",
    )
    assert f"At risk: {named}." in overview(data)
    ill = replace(data.distribution[0], target="ill")
    assert f"At risk: {named}; {found} with more than 50 %." in overview(
        replace(data, distribution=(*data.distribution, ill))
    )
    assert "At risk" not in overview(single())


def test_people_are_counted_above_the_limit_of_the_policy() -> None:
    data = spread((0.1, 0.7), (0.3, 0.25), (0.5, 0.05))
    assert "1,000 of 1,000 people are above 9 %, the limit of EMA policy 0070 for re-identification" in opening(
        render(data)
    )
    said = opening(render(judged(data, "identity:success_probability.worst <= 0.2")))
    assert "300 of 1,000 people are above 20 %, the policy\u2019s limit" in said
    both = judged(data, "identity:success_probability.worst <= 0.4", "identity:success_probability <= 0.2")
    assert "50 of 1,000 people are above 40 %, the policy\u2019s limit" in opening(render(both))
    other = judged(data, "k >= 5")
    assert "above 9 %, the limit of EMA policy 0070" in opening(render(other))
    assert "each" not in data.without_small().distribution[0].__dict__ or not data.without_small().distribution[0].each


@pytest.mark.parametrize(("low_risk", "says_rounding"), [(0.704, True), (0.7, False)])
def test_bars_that_exceed_the_people_say_how_they_are_rounded(low_risk: float, says_rounding: bool) -> None:
    people = spread((0.1, low_risk), (0.6, 1 - low_risk))
    shares = (low_risk, 1 - low_risk)
    data = replace(people, distribution=(replace(people.distribution[0], shares=shares),), smallest_shown=10)
    assert ("People by risk, bars rounded up in steps of 10" in render(data.without_small())) == says_rounding
    assert "rounded up in steps" not in render(replace(data, smallest_shown=1))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("success_probability <= 0.05", "met, but the interval reaches 6.0 %"),
        ("success_probability <= 0.03", "missed, but the interval reaches 2.0 %"),
        ("success_probability >= 0.03", "met, but the interval reaches 2.0 %"),
        ("success_probability <= 0.07", ""),
        ("success_probability <= 0.01", "4.0 times the limit"),
        ("success_probability.worst <= 0.05", ""),
    ],
)
def test_an_interval_that_crosses_the_limit_is_said(asked: str, said: str) -> None:
    near = row(release="r", posterior=0.04, low=0.02, high=0.06, worst=0.04, interval="targets")
    data = judged(replace(single(), rows=(near,)), asked)
    told = opening(render(data))
    assert said in told
    assert ("but the interval" in told) == ("but" in said)


def test_nothing_is_advised_that_was_just_done() -> None:
    given = judged(sample(), "success_probability <= 0.001")
    given = replace(given, criteria={"original": {"k": 1}, **given.criteria})
    without = replace(given, criteria={name: own for name, own in given.criteria.items() if name != "original"})
    assert "--original" in opening(render(without))
    said = opening(render(given))[opening(render(given)).index("What next?") :]
    assert "--original" not in said
    assert re.search(r"Protect with a larger k, then audit again: unmask protect TABLE \u2026 --k \d+ -o", said)


@pytest.mark.parametrize(
    ("condition", "k"),
    [
        ("success_probability.worst <= 0.09", 12),
        ("success_probability.worst <= 0.1", 10),
        ("success_probability.worst < 0.1", 11),
        ("success_probability.worst <= 0.32", 4),
        ("success_probability.worst <= 0", 6),
        ("k >= 5", 6),
    ],
)
def test_the_k_to_try_keeps_a_missed_limit_on_reidentification(condition: str, k: int) -> None:
    data = judged(replace(single(), criteria={"original": {"k": 1}, "k=3": {"k": 3}}), condition)
    assert data.verdicts[0].state == "not acceptable"
    assert f"unmask protect TABLE \u2026 --k {k} -o" in opening(render(data))


def test_of_several_missed_conditions_the_largest_k_is_tried() -> None:
    conditions = ("success_probability.worst <= 0.3", "success_probability.gain <= 0.001")
    data = judged(replace(single(), criteria={"original": {"k": 1}, "k=3": {"k": 3}}), *conditions)
    assert "unmask protect TABLE \u2026 --k 6 -o" in opening(render(data))


def test_a_condition_on_the_page_is_one_that_a_policy_takes() -> None:
    (condition,) = re.findall(r'a condition of your own, such as "(.*?)"', opening(render(sample())))
    (read,) = read_policies([condition])
    assert len(read.requirements) == 1


@pytest.mark.parametrize(
    ("rows", "end"),
    [
        ([row(), row(measure="realized_success")], "measures. No belief is refuted."),
        ([row(status="scores"), row(measure="realized_success")], " and 2 measures."),
        ([row(adversary="a"), row(adversary="b", measure="realized_success")], " and 2 measures."),
        ([row(measure="recall")], " and 1 measure."),
        ([row(adversary="a", status="refuted"), row(adversary="b")], "The truth refutes the belief of a."),
    ],
)
def test_nothing_is_said_to_be_refuted_or_not_that_was_not_announced(rows: list[Row], end: str) -> None:
    assert measures_finding(Scope(replace(single(), rows=tuple(rows)))).endswith(end)


@pytest.mark.parametrize(
    ("together", "end"), [(30, "; with the quasi-identifiers, ill does for 30.0\u00a0%."), (0, "row unique.")]
)
def test_where_no_column_is_alone_the_fold_says_which_is_with_the_others(together: int, end: str) -> None:
    ill = ColumnFacts("ill", "", 100, 9, 0, 0, together, (), "sensitive", "")
    exposure = ColumnExposure(columns={row().release: (ill,)})
    data = with_facts(single(), exposure=exposure).without_small()
    assert next(block.sentence for block in data.blocks if block.name == "exposure").endswith(end)


def test_what_was_tried_stands_with_its_outcome_and_its_command() -> None:
    dropped = Change("Leave out zip, k = 5", 0, 0, 0, 100, 0.9, k=5, without="zip")
    changes = (Change("This release", 1, 0, 40, 100, 0.98), dropped)
    said = opening(render(replace(judged(sample(), "success_probability <= 0.001"), changes=changes)))
    next_ = said[said.index("What next?") :]
    assert "This release 1 condition missed" in next_.replace("  ", " ")
    assert "Leave out zip, k = 5 every tested condition met" in next_.replace("  ", " ")
    assert "Leave out zip, k = 5: unmask protect \u2026 --k 5" in " ".join(next_.split())


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        (((40, 0.95), (12, 0.6), (90, 0.2)), "40 people, up to 95.0 %"),
        (((9, 0.95), (90, 0.2)), "fewer than 10 people"),
    ],
)
def test_the_largest_group_at_risk_is_told_without_a_cell(classes: tuple[tuple[int, float], ...], said: str) -> None:
    data = replace(single(), rows=(row(adversary="prosecutor", target="diagnosis"),))
    spread = Distribution("k=3", "prosecutor", "diagnosis", (0.0, 0.5, 1.0), (0.5, 0.5), 300, {0.5: 52})
    groups = (ClassRisk("k=3", "diagnosis", 3, people, risk, "no. 2") for people, risk in classes)
    page = render(with_facts(replace(data, distribution=(spread,)), classes=list(groups)))
    assert f"Largest group {said}" in opening(page)


def test_of_many_conditions_what_they_are_about_is_folded() -> None:
    about = "probability that the adversary&#39;s best guess is right"
    few, many = (
        render(judged(single(), "success_probability.worst <= 0.09", *more))
        for more in ((), ("success_probability.gain <= 0.1",))
    )
    assert about in few.partition("<main>")[0]
    assert 'id="conditions"' not in few
    assert about not in many.partition("<main>")[0]
    assert about in many[many.index('id="conditions"') :]


def test_if_all_compared_releases_are_acceptable_the_advice_is_a_certificate():
    compared = tuple(Alternative(name, ("10",)) for name in ("a", "b"))
    advice = Advice("A protection lowers it.", "unmask protect graph", ("people",), compared)
    result = replace(single(), advice=advice)
    verdicts = [SimpleNamespace(state="acceptable", release=name, count=lambda state: 0) for name in ("a", "b")]
    accepted = complete_advice(replace(result, verdicts=tuple(verdicts)))
    assert accepted.command.startswith("unmask certify")
    assert [alternative.state for alternative in accepted.alternatives] == ["met", "met"]
    verdicts[0].state = "not acceptable"
    assert complete_advice(replace(result, verdicts=tuple(verdicts))).command == "unmask protect graph"
