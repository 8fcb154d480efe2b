"""Findings about channels: the error of the best adversary, next to the limit and to the error without any output."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache

import pytest

from tests.reports.test_html import Page, row, sample, sections
from unmask.channels.audit.channel_audit import describe
from unmask.channels.audit.facts import Bound, ChannelFacts, ExposedSecret, Mechanism, RevealingOutput
from unmask.channels.loss_model import LossModel
from unmask.findings.sentences import sentences
from unmask.render.page import render
from unmask.results import Result

INF = math.inf


KM = LossModel("hamming", name="euclidean", unit="km", distortion_unit="km")


def mechanism(name: str = "laplace 0.5", **changes) -> Mechanism:
    """Return a mechanism with made-up values in a possible order: worst <= privacy <= other adversaries."""
    values = {"distortion": 2.0, "privacy": 1.24, "worst": 0.31, "errors": {"gibbs": 2.1, "map": 1.4}}
    return Mechanism(name, **(values | {"leakage_bits": 0.8, "epsilon": 3.5} | changes))


def replace_mechanism(item: Mechanism, **changes) -> Mechanism:
    return item._replace(**changes)


def output(label: str = "(3, 4)", **changes) -> RevealingOutput:
    likely = (("(3, 4)", 0.4), ("(3, 5)", 0.2), ("(2, 4)", 0.1), ("a", 0.1), ("b", 0.05), ("c", 0.05))
    values = {"chance": 0.012, "answer": "(3, 5)", "error": 0.31, "likeliest": likely}
    return RevealingOutput(label, **(values | changes))


def channel(**changes) -> ChannelFacts:
    values = {
        "n_secrets": 400,
        "n_outputs": 441,
        "model": KM,
        "prior_error": 3.1,
        "mechanisms": (mechanism(), mechanism("coin", distortion=1.0, privacy=0.9, worst=0.0, errors={}, epsilon=INF)),
        "limit": ((0.0, 0.0), (1.0, 1.0), (3.0, 2.92), (4.0, 3.1)),
        "outputs": (output(),),
        "secrets": (ExposedSecret("(3, 4)", 0.0025, 0.12), ExposedSecret("a", 0.01, 0.05)),
        "spread": ((0.31, 0.012), (0.9, 0.3), (1.5, 0.9), (2.2, 1.0)),
        "bounds": (Bound("Pinsker", 3.0, 2.0, "km", "from leakage"), Bound("none", 1.0, 0.0, "km")),
    } | changes
    return ChannelFacts(**values)


def data(facts: ChannelFacts | None = None, **changes) -> Result:
    measures = (("estimation_error", "km"), ("success_probability", "probability"), ("information_gain_bits", "bits"))
    rows = tuple(
        row("laplace 0.5", name, "secret", measure, unit=unit)
        for name in ("eavesdropper", "gibbs")
        for measure, unit in measures
    )
    result = describe(facts or channel(), rows, title="Location noise")
    return replace(result, **changes)


@cache
def plain() -> str:
    return render(data())


def section(page: str) -> str:
    return page[page.index('<section id="channel">') :].partition('<section id="adversaries">')[0]


def words(page: str) -> str:
    return Page(page).text


def cells(page: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", section(page), flags=re.DOTALL)
    return [
        re.findall(r"<t[hd][^>]*>(?:<span[^>]*>)?(.*?)(?:</span>)?</t[hd]>", line.replace("\u00a0", " "))
        for line in rows
    ]


def bare(**changes) -> str:
    """A page without charts, which take their time: nothing has a finite place."""
    shown = tuple(replace_mechanism(item, distortion=INF) for item in changes.pop("mechanisms", channel().mechanisms))
    return render(data(channel(**({"mechanisms": shown, "spread": ()} | changes))))


def found(**changes) -> list[str]:
    """Return the findings with ordinary spaces."""
    return [sentence.replace("\u00a0", " ") for sentence in sentences(data(channel(**changes)))]


def test_the_same_channel_gives_the_same_bytes():
    assert render(data()) == plain()


def test_the_page_stays_well_formed_whole_and_self_contained():
    read = Page(plain())
    assert len(read.ids) == len(set(read.ids))
    assert not re.search(r"https?:|\bsrc=|\bhref=", plain())
    assert not re.search(r"\b(inf|nan|None)\b", read.text)
    assert section(plain()).count('role="img"') == section(plain()).count('<svg role="img" aria-label=') == 2
    assert sections(plain())[:6] == ["channel", "mechanisms", "outputs", "secrets", "bounds", "adversaries"]
    assert "channel" not in sections(render(sample()))


def test_findings_compare_the_error_with_the_error_without_any_output_with_the_worst_output_and_with_the_limit():
    # the limit at 2.0 is halfway between (1, 1) and (3, 2.92); 1.24 / 1.96 = 63.3 %
    findings = found()
    assert findings[0] == (
        "Behind “laplace 0.5” the best adversary is off by 1.24 km on average; without any output they would be off by "
        "3.10 km. At the most revealing output they are off by 0.310 km."
    )
    assert findings[1] == (
        "“laplace 0.5” distorts by 2 km; no mechanism with that distortion leaves the adversary off by more than 1.96 "
        "km, so that it reaches 63.3 % of the limit."
    )
    assert findings[2] == (
        "Of 2 mechanisms, “laplace 0.5”, which distorts by 2 km, leaves the adversary off by 1.24 km, more than any "
        "other; coin, which distorts by 1 km, only off by 0.900 km. Behind “laplace 0.5” another adversary, who "
        "answers with a draw from the posterior, is off by 2.10 km; one who answers with the likeliest secret is off "
        "by 1.40 km."
    )
    assert findings[3] == "The adversary's belief in (3, 4) rises from 0.25 % to 12.0 % where it is the truth."
    assert findings[4] == "The tightest bound is 1.50 times the true value."
    assert len(findings) == 5


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"worst": 1.24}, "No output reveals more than another."),
        ({"worst": 0.0}, "At the most revealing output they are never wrong."),
        ({"worst": math.nan}, "The error at the most revealing output was not computed."),
        (
            {"privacy": 0.0, "worst": 0.0},
            "the best adversary is never wrong; without any output they would be off by 3.10 km.",
        ),
        ({"privacy": 3.1}, "is off by 3.10 km on average, as much as without any output."),
        ({"privacy": 3.0999}, "is off by 3.10 km on average, hardly less than without any output."),
    ],
)
def test_the_headline_of_an_extreme_mechanism(changes, expected):
    assert expected in found(mechanisms=(mechanism(**changes),))[0]


def test_a_mechanism_at_the_limit_is_said_to_be_the_best():
    findings = found(mechanisms=(mechanism(privacy=1.96),))
    assert findings[1] == "“laplace 0.5” distorts by 2 km; no mechanism does better at that distortion."


def test_equal_mechanisms_are_compared_in_one_clause():
    findings = found(mechanisms=(mechanism(errors={}), mechanism("b", errors={})))
    assert "Behind all 2 mechanisms the adversary is off by 1.24 km." in findings


def test_without_a_known_distortion_findings_and_notes_do_not_mention_it():
    unknown = tuple(replace_mechanism(item, distortion=math.nan) for item in channel().mechanisms)
    assert "Of 2 mechanisms, “laplace 0.5” leaves the adversary off by 1.24 km" in " ".join(found(mechanisms=unknown))
    page = render(data(channel(mechanisms=unknown)))
    assert "undefined" not in Page(page).text
    assert "error left" in page
    assert not any(note in Page(page).text for note in ("No mechanism lies above", "Not in the chart"))
    assert "Outputs count by their probability" in page
    assert "Outputs count by their probability" not in bare()


def test_probabilities_are_no_distances_and_a_low_error_without_outputs_is_cautioned_about():
    probability = {"model": LossModel(), "limit": ()}
    low = mechanism(privacy=0.019, worst=0.019, distortion=0.1, errors={"x": 0.02})
    findings = found(mechanisms=(low,), prior_error=0.02, **probability)
    assert findings[0].startswith("Behind “laplace 0.5” the best adversary is wrong in 1.9 % of cases; without any")
    assert findings[1] == "Behind “laplace 0.5” another adversary (x) is wrong in 2.0 % of cases."
    caution = data(channel(mechanisms=(low,), prior_error=0.02, **probability)).cautions[0].replace("\u00a0", " ")
    assert "is wrong in only 2.0 % of cases. The average error then hardly changes" in caution
    assert not data(channel(mechanisms=(low,), prior_error=0.06, **probability)).cautions
    assert not data(channel(mechanisms=(low,), prior_error=0.02)).cautions


def test_the_limit_is_known_only_where_it_was_run():
    known = channel()
    assert known.limit_at(2.0) == pytest.approx(1.96)
    assert known.limit_at(9.0) == 3.1  # it has reached the error without any observation
    assert channel(limit=((1.0, 1.0), (2.0, 2.0))).limit_at(2.5) is None
    assert channel(limit=((1.0, 1.0), (2.0, 2.0))).limit_at(0.5) is None
    assert channel(limit=()).limit_at(1.0) is None
    assert channel(limit=((1.0, 0.5), (1.0, 1.0))).limit_at(1.0) == 1.0
    assert known.limit_at(INF) is None


def test_the_table_of_mechanisms():
    rows = cells(plain())
    # 1.24 / 1.96 and 0.9 / 1.0
    assert ["laplace 0.5", "2", "1.24", "0.310", "2.10", "1.40", "0.800", "3.50", "63.3 %"] in rows
    assert ["coin", "1", "0.900", "0", "\u2013", "\u2013", "0.800", "unbounded", "90.0 %"] in rows
    assert "unbounded: some output rules out a secret" in words(plain())
    assert "Random draw: an adversary who answers with a draw from the posterior." in words(plain())


def test_a_share_above_the_limit_is_explained_and_an_unknown_one_is_a_dash():
    above = render(data(channel(mechanisms=(mechanism(privacy=2.1), mechanism("b", distortion=0.0)))))
    assert cells(above)[1][-1] == "107.1 %"
    assert "Above 100 %: the limit is drawn straight" in words(above)
    assert cells(above)[2][-1] == "\u2013"


def test_the_table_of_outputs():
    likeliest = "(3, 4) 40.0 %, (3, 5) 20.0 %, (2, 4) 10.0 %, a 10.0 %, b 5.0 %, others 15.0 %"
    rows = cells(bare(outputs=tuple(output(f"y{i}") for i in range(20))))
    assert ["y0", "(3, 5)", "1.2 %", "0.310", likeliest] in rows
    assert "20 of 441 outputs of laplace 0.5, the smallest error first" in words(
        bare(outputs=tuple(output(f"y{i}") for i in range(20)))
    )


def test_bounds_stand_next_to_the_true_value():
    rows = cells(bare())
    assert ["Pinsker", "from leakage", "km", "3", "2", "1.50"] in rows
    assert ["none", "(empty)", "km", "1", "0", "unbounded"] in rows
    both = (Bound("a", 0.0, 0.0, "km"), Bound("b", INF, 2.0, "bits"), Bound("c", INF, INF, "bits"))
    assert [row.ratio for row in both] == [None, INF, None]
    assert "no bound can be compared" in words(bare(bounds=both))


def test_rows_of_a_channel_are_about_secrets_and_never_about_people():
    both = data()
    both = replace(both, preferred_measures=("success_probability",))
    text = words(render(both))
    assert not re.search(r"\b(people|person)\b", text)
    assert "expects to guess the secret in 2.8 % of cases; guessing gives <0.01 %." in text
    assert "Secret: guessed right" in text
    assert "people" not in words(plain())


def test_what_the_caller_says_of_people_is_kept():
    noted = tuple(replace(item, note="Two people share a phone.") for item in data().rows)
    assert "Two people share a phone." in words(render(data(rows=noted)))


@pytest.mark.parametrize(
    "changes",
    [
        {"limit": (), "outputs": (), "spread": (), "bounds": ()},
        {"mechanisms": (mechanism(),), "limit": ((1.0, 1.0),), "spread": ((0.0, 1.0),)},
        {"mechanisms": (mechanism(distortion=0.0, privacy=0.0, worst=0.0, errors={}),), "prior_error": 0.0},
        {
            "mechanisms": (mechanism(epsilon=INF, worst=1.24, errors={"gibbs": None}),),
            "model": replace(KM, unit="", distortion_unit=""),
        },
        {"mechanisms": (mechanism(distortion=INF), mechanism("b", privacy=INF, worst=INF)), "limit": ((0.0, INF),)},
        {"outputs": (output("", answer="", likeliest=()),), "spread": ((0.5, 0.5), (INF, 1.0))},
    ],
    ids=["bare", "one", "nothing", "dimensionless", "infinite", "empty labels"],
)
def test_what_is_degenerate_still_renders(changes):
    text = words(render(data(channel(**changes))))
    assert "What the best adversary can still estimate" in text
    assert not re.search(r"\b(inf|nan|None)\b", text)


def test_names_are_escaped_everywhere():
    evil = "<b>&\"'</b><script>x</script>"
    given = channel(
        model=replace(KM, name=evil, unit=evil, distortion_unit=evil),
        mechanisms=(mechanism(evil, errors={evil: 1.0}),),
        outputs=(output(evil, answer=evil, likeliest=((evil, 0.5),)),),
        bounds=(Bound(evil, 1.0, 1.0, evil, evil),),
    )
    found = render(data(given))
    assert found.count("<script") == 1
    assert "b" not in Page(found).tags


def test_rounding_is_not_refused_and_not_shown():
    assert cells(bare(mechanisms=(mechanism(leakage_bits=-1e-12),)))[1][-2] == "0"
