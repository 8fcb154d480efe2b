"""The section on channels says what the best adversary can still estimate, and against what that is to be held."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache

import pytest

from tests.reports.test_html import Page, row, sample, sections
from tests.reports.text_boxes import crossing, text_boxes
from unmask.reports import ReportData, render, sentences
from unmask.reports.facts.channel import BoundRow, ChannelRisk, MechanismRisk, ObservationRisk, SecretRisk
from unmask.reports.room import NARROW

INF = math.inf


def mechanism(name: str = "laplace 0.5", **changes) -> MechanismRisk:
    """The figures are made up, in the order that they must have: worst <= privacy <= other adversaries."""
    values = {"distortion": 2.0, "privacy": 1.24, "worst": 0.31, "errors": {"gibbs": 2.1, "map": 1.4}}
    return MechanismRisk(name, **(values | {"leakage_bits": 0.8, "epsilon": 3.5} | changes))


def observation(label: str = "(3, 4)", **changes) -> ObservationRisk:
    likely = (("(3, 4)", 0.4), ("(3, 5)", 0.2), ("(2, 4)", 0.1), ("a", 0.1), ("b", 0.05), ("c", 0.05))
    values = {"chance": 0.012, "answer": "(3, 5)", "error": 0.31, "likeliest": likely}
    return ObservationRisk(label, **(values | changes))


def channel(**changes) -> ChannelRisk:
    values = {
        "secrets": 400,
        "observations": 441,
        "loss": "euclidean",
        "unit": "km",
        "distortion_unit": "km",
        "prior_error": 3.1,
        "mechanisms": (mechanism(), mechanism("coin", distortion=1.0, privacy=0.9, worst=0.0, errors={}, epsilon=INF)),
        "limit": ((0.0, 0.0), (1.0, 1.0), (3.0, 2.92), (4.0, 3.1)),
        "detail": "laplace 0.5",
        "per_observation": (observation(),),
        "per_secret": (SecretRisk("(3, 4)", 0.0025, 0.12), SecretRisk("a", 0.01, 0.05)),
        "spread": ((0.31, 0.012), (0.9, 0.3), (1.5, 0.9), (2.2, 1.0)),
        "bounds": (BoundRow("Pinsker", 3.0, 2.0, "km", "from leakage"), BoundRow("none", 1.0, 0.0, "km")),
    } | changes
    return ChannelRisk(**values)


def data(given: ChannelRisk | None = None, **changes) -> ReportData:
    measures = (("estimation_error", "km"), ("success_probability", "probability"), ("information_gain_bits", "bits"))
    rows = tuple(
        row("laplace 0.5", name, "secret", measure, unit=unit)
        for name in ("bayes", "gibbs")
        for measure, unit in measures
    )
    values = {"rows": rows, "success": (), "subjects": (given or channel(),)} | changes
    return ReportData(title="Location noise", who="An adversary sees a noisy location.", **values)


@cache
def plain() -> str:
    return render(data())


def section(page: str) -> str:
    return page[page.index('<section id="channel">') :].partition("</section>")[0]


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
    shown = tuple(replace(item, distortion=INF) for item in changes.pop("mechanisms", channel().mechanisms))
    return render(data(channel(**({"mechanisms": shown, "spread": ()} | changes))))


def found(**changes) -> list[str]:
    return [sentence.replace("\u00a0", " ") for sentence in sentences(data(channel(**changes)))]


def test_the_same_channel_gives_the_same_bytes():
    assert render(data()) == plain()


def test_the_page_stays_well_formed_whole_and_self_contained():
    read = Page(plain())
    assert len(read.ids) == len(set(read.ids))
    assert not re.search(r"https?:|\bsrc=|\bhref=", plain())
    assert not re.search(r"\b(inf|nan|None)\b", read.text)
    assert section(plain()).count('role="img"') == section(plain()).count('<svg role="img" aria-label=') == 2
    assert sections(plain())[:2] == ["channel", "adversaries"]
    assert "channel" not in sections(render(sample()))


def test_findings_hold_the_error_against_nothing_seen_the_worst_and_the_limit():
    # the limit at 2.0: halfway between (1, 1) and (3, 2.92)
    said = found()
    assert said[0] == (
        "Behind “laplace 0.5” the best adversary is off by 1.24 km on average; without seeing anything they would be "
        "off by 3.10 km. At the observation that gives most away they are off by 0.310 km."
    )
    assert (
        "“laplace 0.5” distorts by 2 km; at that distortion an optimal one would leave them off by 1.96 km." in said[1:]
    )
    behind = "Behind “laplace 0.5” another adversary, who answers with a draw from the posterior, is off by 2.10 km; "
    assert f"{behind}one who answers with the likeliest secret is off by 1.40 km." in said[1:]
    assert len(said) == 4


def test_the_strongest_contrast_comes_first():
    # 2.1 / 1.24 = 1.69, 1.96 / 1.24 = 1.58, 1.24 / 0.9 = 1.38
    assert ["another adversary" in s or 2 * ("optimal" in s) or 3 * ("Of 2" in s) for s in found()[1:]] == [1, 2, 3]
    weak = mechanism("none at all", distortion=0.01, privacy=0.01, worst=0.0, errors={})
    assert found(mechanisms=(mechanism(), weak))[1].startswith(
        "Of 2 mechanisms, “laplace 0.5”, which distorts by 2 km,"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"worst": 1.24}, "No observation gives more away than another."),
        ({"worst": 0.0}, "At the observation that gives most away they are never wrong."),
        (
            {"privacy": 0.0, "worst": 0.0},
            "the best adversary is never wrong; without seeing anything they would be off by",
        ),
        ({"privacy": 3.1}, "is off by 3.10 km on average, as much as without seeing anything."),
        ({"privacy": 3.0999}, "is off by 3.10 km on average, hardly less than without seeing anything."),
    ],
)
def test_extreme_mechanisms(changes, said):
    assert said in found(mechanisms=(mechanism(**changes),))[0]


def test_a_mechanism_at_the_limit_is_called_so():
    assert "“laplace 0.5” distorts by 2 km; no mechanism does better at that distortion." in found(
        mechanisms=(mechanism(privacy=1.96),)
    )


def test_where_no_distortion_is_known_nothing_is_said_of_it():
    nan = float("nan")
    unknown = tuple(replace(item, distortion=nan) for item in channel().mechanisms)
    assert "Of 2 mechanisms, “laplace 0.5” leaves them off by 1.24 km" in " ".join(found(mechanisms=unknown))
    page = render(data(channel(mechanisms=unknown)))
    assert "undefined" not in Page(page).text
    assert "error left" in page
    assert not any(said in Page(page).text for said in ("The limit is what", "A thin line", "Without a finite place"))
    assert "Observations count by their probability" in page
    assert "Observations count by their probability" not in bare()


def test_chances_are_not_distances_and_low_priors_are_warned_of():
    chance = {"unit": "probability", "distortion_unit": "probability", "limit": ()}
    low = mechanism(privacy=0.019, worst=0.019, distortion=0.1, errors={"x": 0.02})
    said = found(mechanisms=(low,), prior_error=0.02, **chance)
    assert said[0].startswith("Behind “laplace 0.5” the best adversary is wrong in 1.9 % of cases; without seeing")
    assert said[1] == "Behind “laplace 0.5” another adversary (x) is wrong in 2.0 % of cases."
    assert "in only 2.0 % of cases, and an average of wrong answers is blind there" in said[-1]
    assert not any("blind" in s for s in found(mechanisms=(low,), prior_error=0.06, **chance))
    assert not any("blind" in s for s in found(prior_error=0.02, mechanisms=(low,)))


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
    assert ["coin", "1", "0.900", "0", "not run", "not run", "0.800", "unbounded", "90.0 %"] in rows
    assert ["without seeing anything", "", "3.10", "", "", "", "0", "0", ""] in rows
    assert "unbounded: some observation rules out a secret" in words(plain())
    assert "Other adversaries: gibbs, who answers with a draw from the posterior; map, who answers with" in words(
        plain()
    )


def test_a_share_above_the_limit_is_explained_and_an_unknown_one_is_a_dash():
    above = render(data(channel(mechanisms=(mechanism(privacy=2.1), mechanism("b", distortion=0.0)))))
    assert cells(above)[2][-1] == "107.1 %"
    assert "Above 100 %: the limit is drawn straight" in words(above)
    assert cells(above)[3][-1] == "\u2013"


def test_the_table_of_observations_is_cut():
    many = tuple(observation(f"y{i}") for i in range(25))
    rows = cells(bare(per_observation=many))
    likely = "(3, 4) 40.0 %, (3, 5) 20.0 %, (2, 4) 10.0 %, a 10.0 %, b 5.0 %, others 15.0 %"
    assert ["y0", "(3, 5)", "1.2 %", "0.310", likely] in rows
    assert sum(line[0].startswith("y") for line in rows) == 20
    assert "20 of 441 observations, the smallest error first" in words(bare(per_observation=many))


def test_bounds_stand_beside_the_truth():
    rows = cells(bare())
    assert ["Pinsker", "from leakage", "3 km", "2 km", "1.50"] in rows
    assert ["none", "", "1 km", "0 km", "unbounded"] in rows
    both = (BoundRow("a", 0.0, 0.0, "km"), BoundRow("b", INF, 2.0, "bits"), BoundRow("c", INF, INF, "bits"))
    assert [line[-1] for line in cells(bare(bounds=both))[-3:]] == ["\u2013", "unbounded", "\u2013"]


def test_rows_of_a_channel_speak_of_secrets_and_never_of_people():
    both = data(success=("success_probability",))
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
        {"limit": (), "per_observation": (), "spread": (), "bounds": (), "detail": ""},
        {"mechanisms": (mechanism(),), "limit": ((1.0, 1.0),), "spread": ((0.0, 1.0),)},
        {"mechanisms": (mechanism(distortion=0.0, privacy=0.0, worst=0.0, errors={}),), "prior_error": 0.0},
        {
            "mechanisms": (mechanism(epsilon=INF, worst=1.24, errors={"gibbs": None}),),
            "unit": "",
            "distortion_unit": "",
        },
        {"mechanisms": (mechanism(distortion=INF), mechanism("b", privacy=INF, worst=INF)), "limit": ((0.0, INF),)},
        {"per_observation": (observation("", answer="", likeliest=()),), "spread": ((0.5, 0.5), (INF, 1.0))},
    ],
    ids=["bare", "one", "nothing", "dimensionless", "infinite", "empty labels"],
)
def test_what_is_degenerate_still_renders(changes):
    text = words(render(data(channel(**(({"detail": ""}) | changes)))))
    assert "What the best adversary can still estimate" in text
    assert not re.search(r"\b(inf|nan|None)\b", text)


def test_ten_mechanisms_keep_their_names_apart():
    ten = tuple(
        mechanism(f"m{i}", distortion=0.3 * i + 0.3, privacy=0.2 * i + 0.2, worst=0.0, errors={"gibbs": 0.3 * i + 0.3})
        for i in range(10)
    )
    text = section(render(data(channel(mechanisms=ten, detail="m3"))))
    assert "A mechanism without room for its name in the chart has it in the table." in text
    drawn = text.split('<div class="drawing">')[1]
    assert {one.said for one in text_boxes(drawn, NARROW, second=False)} >= {f"m{i}" for i in range(10)}
    assert not crossing(text_boxes(drawn, NARROW))


def test_names_are_escaped_everywhere():
    evil = "<b>&\"'</b><script>x</script>"
    given = channel(
        loss=evil,
        unit=evil,
        distortion_unit=evil,
        mechanisms=(mechanism(evil, errors={evil: 1.0}),),
        detail=evil,
        per_observation=(observation(evil, answer=evil, likeliest=((evil, 0.5),)),),
        bounds=(BoundRow(evil, 1.0, 1.0, evil, evil),),
    )
    found = render(data(given))
    assert found.count("<script") == 1
    assert "b" not in Page(found).tags


def test_rounding_is_not_refused_and_not_shown():
    assert cells(bare(mechanisms=(mechanism(leakage_bits=-1e-12),)))[2][-3] == "0"
