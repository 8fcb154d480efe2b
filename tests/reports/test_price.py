"""The section on the rational attacker says what his prices say."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache

import pytest

from tests.reports.test_html import ALL, TWO, Page, row, sample, sections, single
from unmask.economics import Attacker, exploitation_table
from unmask.reports import render, sentences
from unmask.reports.facts.price import Price, PriceCurve, ReleasePrice, Swing
from unmask.reports.findings.price import thresholds_sentence

CASE = {
    "gain": 8000,
    "access_cost": 100,
    "exploit_cost": 10,
    "fine": 10_000,
    "max_fines": 1,
    "detection_base": -4.59,
    "detection_growth": 0.18,
    "prior": 0.63,
}
INF = math.inf


def curve() -> PriceCurve:
    table = exploitation_table(Attacker(**CASE), 100)
    return PriceCurve(
        sizes=tuple(range(101)),
        payoff=tuple(table.payoff),
        sunk_payoff=tuple(table.sunk_payoff),
        success=tuple(table.success_probability),
        sunk_success=tuple(table.sunk_success_probability),
        tries=tuple(table.expected_tries),
        clean_tries=tuple(map(float, table.clean_tries)),
        break_even_fine=(0.0, *(490_507.2 / size for size in range(1, 101))),  # made up, of the true order
    )


def release(name: str = "k=3", share: float = 0.831, **changes) -> ReleasePrice:
    values = {
        "adversary": ALL,
        "n": 30162,
        "attacked": share,
        "success": share * 0.4935,
        "sunk_success": 0.45,
        "payoff": 2519.92,
        "tries": 12.3,
        "fines": 0.21,
        "cost": 1234.4,
        "largest_attacked": 47,
        "stopping_fine": 490_507.2,
        "campaign_payoff": 61_234_567.8,
        "campaign_upper": 61_234_567.8,
        "campaign_success": share * 0.5439,
        "campaign_most": share * 0.5439,
        "campaign_fines": (70_000_000.0, 70_000_000.4),
        "deterrence": ((0.0, 0.63), (1000.0, 0.6), (10_000.0, share * 0.4935), (1e6, 0.0)),
    } | changes
    return ReleasePrice(release=name, **values)


def spared(name: str = "k=100", **changes) -> ReleasePrice:
    alone = ("success", "payoff", "tries", "fines", "cost")
    together = ("campaign_payoff", "campaign_upper", "campaign_success", "campaign_most")
    nothing = dict.fromkeys((*alone, *together), 0.0) | {"campaign_fines": (0.0, 0.0)}
    return release(name, 0.0, **({"largest_attacked": 0, "stopping_fine": 0.0, "deterrence": ()} | nothing | changes))


def price(**changes) -> Price:
    values = {
        "source": "clinical-2015",
        "assumed": True,
        "parameters": CASE,
        "thresholds": (14, 48, 77),
        "curve": curve(),
        "releases": (release(), release("k=10", 0.5, sunk_success=0.3), release("k=20", 0.062)),
        "tornado": (
            Swing("gain", 4000, 16000, 300.0, 5000.0),
            Swing("max_fines", 1, INF, 1038.87, 500.0),
            Swing("detection_base", -5.28, -3.9, 1800.0, 350.0),
        ),
        "tornado_size": 20,
        "tornado_payoff": 1038.87,
        "warnings": ("Being caught early buys immunity.",),
    } | changes
    return Price(**values)


@cache
def plain() -> str:
    """The report on one release with the price as it is."""
    return render(replace(single(), subjects=(price(),)))


def page(**changes) -> str:
    """The report on one release with this price."""
    return render(replace(single(), subjects=(price(**changes),))) if changes else plain()


def bare(**changes) -> str:
    """The price alone without charts, which take their time."""
    made = price(**{"curve": PriceCurve((), (), (), (), (), (), (), ()), "tornado": ()} | changes)
    flat = replace(made, releases=tuple(replace(item, deterrence=()) for item in made.releases))
    return render(replace(single(), rows=(row(measure="total_variation"),), subjects=(flat,)))


def section(text: str) -> str:
    return text[text.index('<section id="price">') :].partition("</section>")[0]


def words(text: str) -> str:
    return Page(text).text


def figures(text: str) -> list[str]:
    return re.findall(r"<figcaption>(.*?)</figcaption>", section(text))


def cells(text: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", section(text), flags=re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line.replace("\u00a0", " ")) for line in rows]


def found(*releases: ReleasePrice, **changes) -> list[str]:
    data = replace(single(), subjects=(price(releases=releases, **changes),))
    return [sentence.replace("\u00a0", " ") for sentence in sentences(data)[1:]]


@pytest.fixture(scope="module")
def full() -> str:
    return render(replace(sample(), subjects=(price(),)))


def test_the_same_prices_give_the_same_bytes(full):
    assert render(replace(sample(), subjects=(price(),))) == full


def test_the_page_stays_well_formed_whole_and_self_contained(full):
    read = Page(full)
    assert len(read.ids) == len(set(read.ids))
    assert not re.search(r"https?:|\bsrc=|\bhref=", full)
    assert "price" in sections(full)
    assert section(full).count('role="img"') == section(full).count('<svg role="img" aria-label=') == 6
    assert not re.search(r"\b(inf|nan|None)\b", read.text)


def test_without_an_attacker_there_is_no_section():
    assert "price" not in sections(render(sample()))
    assert len(sentences(sample())) == 4


def test_e4_findings_say_what_a_campaign_brings_and_what_would_stop_it():
    # 0.831 * 0.5439 = 45.2 %, 0.831 * 0.4935 = 41.0 %; the fine that stops it is rounded up
    assert found(*price().releases) == [
        (
            "Assumed, not observed (clinical-2015): a rational attacker, to whom a re-identification is worth 8,000 in "
            "the currency of their profile, gains "
            "61,234,568 with one campaign against all 30,162 people in k=3, the outside data paid once, and expects to "
            "re-identify 45.2 % of them, by as many tries as pay for each; a fine of 70,000,001 instead of 10,000 "
            "would stop every campaign."
        ),
        (
            "One by one, the outside data and the fines paid for each of them, 83.1 % are worth an attack and 41.0 % "
            "are re-identified, with 12.3 tries and 1,234 spent on each who is attacked."
        ),
        "Of 3 releases the lowest is k=20: a campaign re-identifies 3.4 % there.",
    ]


def test_the_findings_are_on_the_page_and_said_on_the_command_line(full):
    data = replace(sample(), subjects=(price(),))
    assert len(sentences(data)) == 4 + 3
    assert all(re.sub(r"\s+", " ", sentence) in words(full) for sentence in sentences(data))


def test_the_riskiest_release_comes_first_wherever_it_stands():
    assert "people in k=3" in found(release("k=20", 0.1), release("k=3"))[0]


def test_the_original_is_no_finding_but_stands_in_the_table():
    original = release("original", 1.0, stopping_fine=1e6)
    assert not any("original" in sentence for sentence in found(original, release()))
    assert "people in original" in found(original)[0]
    assert ["original", "100 %"] in [line[:2] for line in cells(bare(releases=(original, release())))]


def test_releases_in_which_no_campaign_pays_are_named():
    said = found(release(), spared("k=50"), spared())
    assert said[2] == "In k=50 and k=100 no campaign pays."
    many = found(release(), *(spared(f"k={k}") for k in range(50, 54)))
    assert many[2] == "In 4 of the 5 releases no campaign pays."


def test_u9_an_assumed_attacker_is_called_one_where_their_figures_stand():
    """Three shares of people re-identified stood on one screen, without a currency and far from the assumption."""
    (said, *_) = sentences(replace(sample(), subjects=(replace(price(), assumed=True),)))[-3:]
    assert said.startswith(f"Assumed, not observed ({price().source}): a rational attacker")
    assert "in the currency of their profile" in said
    assert "by as many tries as pay for each" in said  # the best guess alone reaches less
    (plain, *_) = sentences(replace(sample(), subjects=(replace(price(), assumed=False),)))[-3:]
    assert plain.startswith("A rational attacker")


def test_no_campaign_anywhere_is_said():
    assert found(spared(), spared("k=50")) == [
        (
            "Assumed, not observed (clinical-2015): a rational attacker, to whom a re-identification is worth 8,000 in "
            "the currency of their profile, attacks "
            "nobody: no campaign against all people of any of the 2 releases pays."
        )
    ]
    assert "no campaign against all 30,162 people in k=100 pays" in found(spared())[0]


def test_e4_a_campaign_that_pays_although_no_single_attack_does_is_the_finding():
    bulk = spared(campaign_payoff=1_272_573.6, campaign_upper=1_272_573.6, campaign_success=0.048, campaign_most=0.048)
    bulk = replace(bulk, campaign_fines=(2e6, 2.1e6))
    first, second = found(bulk)
    assert "gains 1,272,574 with one campaign against all 30,162 people in k=100" in first
    assert (
        "4.8 % of them, by as many tries as pay for each; a fine of 2,100,000 instead of 10,000 would stop every"
        in first
    )
    assert second == "One by one, the outside data and the fines paid for each of them, no attack pays."


def test_e3_bounds_that_are_apart_are_both_said():
    apart = release(campaign_upper=62_000_000.0, campaign_most=0.63)
    assert "gains 61,234,568 to 62,000,000 with one campaign" in found(apart)[0]
    assert "expects to re-identify 45.2 % to 63.0 % of them" in found(apart)[0]
    assert ["k=3", "30,162", "45.2 % to 63.0 %", "61,234,568 to 62,000,000", "70,000,001"] in cells(
        bare(releases=(apart,))
    )
    open_one = spared(campaign_upper=5000.0, campaign_most=0.63, campaign_fines=(100.0, 20_000.0))
    assert found(open_one)[0].endswith(
        "gains at most 5,000 with one campaign against all 30,162 people in k=100; whether any pays is not settled."
    )


def test_a_campaign_that_was_not_reckoned_is_no_zero():
    nan = math.nan
    unknown = release(
        campaign_payoff=nan, campaign_upper=nan, campaign_success=nan, campaign_most=nan, campaign_fines=(nan, nan)
    )
    first, second = found(unknown)
    assert first.endswith("people in k=3 was too much to reckon.")
    assert "83.1 % are worth an attack" in second
    assert ["k=3", "30,162", *["not reckoned"] * 3] in cells(bare(releases=(unknown,)))


@pytest.mark.parametrize(
    ("stopping", "fine", "said"),
    [
        (INF, 10_000, "no fine is known to stop every campaign."),
        (20_000.0, 10_000, "a fine of 20,000 instead of 10,000 would stop every campaign."),
        (20_000.0, None, "a fine of 20,000 would stop every campaign."),
        (12.341, 0, "a fine of 12.35 instead of 0 would stop every campaign."),
    ],
)
def test_the_fine_that_stops_every_campaign(stopping, fine, said):
    known = {name: value for name, value in (CASE | {"fine": fine}).items() if value is not None}
    assert found(release(campaign_fines=(1.0, stopping)), parameters=known)[0].endswith(said)


def test_an_assumed_attacker_is_called_an_assumption_and_warnings_are_shown():
    text = words(bare())
    assert "an embedded profile (clinical-2015): an assumption that nobody has checked against this release" in text
    assert "Keep in mind. Being caught early buys immunity." in text
    given = words(bare(assumed=False, source="attacker.toml", warnings=()))
    assert "The attacker was read from attacker.toml." in given
    assert "nobody has checked" not in given
    assert "Keep in mind" not in given


def test_parameters_are_told_in_plain_words():
    rows = cells(bare())
    assert ["Gain for a re-identification", "what re-identifying one person is worth to the attacker", "8,000"] in rows
    assert [
        "Person is in the outside data",
        "probability that the person attacked is in the outside data at all",
        "63.0 %",
    ] in rows
    # 1 / (1 + exp(4.59)), exp(0.18) - 1, 1 / (1 + exp(4.59 - 9 * 0.18)), 1 / (1 + exp(4.59 - 19 * 0.18))
    assert ["Caught at the first try", "probability that the first try is detected", "1.0 %"] in rows
    growth = (
        "by so much the odds of being caught change with every failed try: 4.9 % at the 10th try, 23.7 % at the 20th"
    )
    assert ["Growth of that probability", growth, "+19.7 %"] in rows


def test_parameters_that_say_nothing_are_left_out_and_unknown_ones_are_kept():
    more = CASE | {
        "arrest": False,
        "discount": 1.0,
        "gain_delay": 1,
        "ties": "walk_away",
        "max_fines": INF,
        "new_tax": 5,
    }
    rows = cells(bare(parameters=more))
    assert not any("Delay of the gain" in line or "Caught once, the attack ends" in line for line in rows)
    assert ["new tax", "", "5"] in rows
    assert any(line[0] == "Fines at most" and line[2] == "without limit" for line in rows if len(line) == 3)
    told = str(cells(bare(parameters=more | {"arrest": True, "discount": 0.9, "ties": "attack"})))
    assert all(word in told for word in ("Caught once, the attack ends", "90.0 %", "Delay of the gain", "attacks"))


def test_the_tables_have_the_prices():
    rows = cells(bare())
    assert ["k=3", "30,162", "45.2 %", "61,234,568", "70,000,001"] in rows
    assert ["k=3", "83.1 %", "41.0 %", "12.3", "0.21", "1,234", "2,520"] in rows
    assert ["k=3", "47", "45.0 %", "490,508"] in rows


def test_the_tables_where_nobody_is_attacked_and_where_no_fine_helps():
    rows = cells(bare(releases=(spared(), release(stopping_fine=INF, campaign_fines=(1e9, INF)))))
    assert ["k=100", "30,162", "0 %", "0", "none needed"] in rows
    assert ["k=100", "0 %", "0 %", *["\u2013"] * 4] in rows
    assert ["k=100", "none", "45.0 %", "none needed"] in rows
    assert ["k=3", "30,162", "45.2 %", "61,234,568", "no fine does"] in rows
    assert ["k=3", "47", "45.0 %", "no fine does"] in rows


def test_adversaries_are_told_apart_where_there_are_several():
    both = (release(), release("k=3", 0.3, adversary=TWO))
    rows = tuple(row(adversary=name) for name in (ALL, TWO))
    data = replace(single(), rows=rows, adversaries=sample().adversaries, subjects=(price(releases=both),))
    text = render(data)
    assert ["k=3", "B", "30.0 %", "14.8 %", "12.3", "0.21", "1,234", "2,520"] in cells(text)
    assert "a rational attacker who knows all five quasi-identifiers, to whom" in words(text)
    assert "A  People re-identified by one campaign, against the fine" in figures(text)
    assert not any("Adversary" in line for line in cells(page()))


@pytest.mark.parametrize(
    ("thresholds", "said"),
    [
        (
            (14, 48, 77),
            (
                "Alone, groups up to 47 are worth an attack, with the outside data at hand groups up to 76; every "
                "candidate is tried in groups up to 13."
            ),
        ),
        (
            (14, 48, None),
            (
                "Alone, groups up to 47 are worth an attack, with the outside data at hand groups of every size shown; "
                "every candidate is tried in groups up to 13."
            ),
        ),
        (
            (67, 65, 67),
            (
                "Alone, groups up to 64 are worth an attack, with the outside data at hand groups up to 66; every "
                "candidate is tried in groups up to 64."
            ),
        ),
        (
            (14, None, None),
            "Alone, groups of every size shown are worth an attack; every candidate is tried in groups up to 13.",
        ),
        ((None, None, None), "Alone, groups of every size shown are worth an attack, and every candidate is tried."),
        ((3, 1, 3), "Alone, no group is worth an attack, and with the outside data at hand groups up to 2."),
    ],
)
def test_thresholds_are_a_sentence(thresholds, said):
    assert thresholds_sentence(thresholds) == said


def test_all_six_charts_are_drawn_and_the_thresholds_are_marked():
    text = page()
    assert thresholds_sentence(price().thresholds) in words(text)
    assert figures(text) == [
        "Payoff of attacking one person",
        "Probability of re-identifying the person",
        "Candidates tried",
        "Least fine that stops an attack on one person",
        "What moves the payoff of a group of 20",
        "People re-identified by one campaign, against the fine",
    ]
    assert all(f">{label}<" in text for label in ("attacked up to 47", "data at hand up to 76", "all tried up to 13"))
    assert text.count(">fine now 10,000<") == 2
    assert all(f">{label}<" in text for label in ("now 1,039", "without limit", "0.51\u00a0%", "16,000"))


def test_infinite_fines_are_absent_from_the_chart_and_said():
    endless = replace(curve(), break_even_fine=(0.0, INF, INF, INF, *(1e5 / size for size in range(4, 101))))
    text = page(curve=endless)
    assert "No fine stops an attack on one person in groups up to 3;" in words(text)
    assert "Least fine that stops an attack on one person" in figures(text)
    everywhere = page(curve=replace(endless, break_even_fine=(INF,) * 101))
    assert "No fine stops an attack on one person in groups of any size shown" in words(everywhere)
    assert "Least fine that stops an attack on one person" not in figures(everywhere)
    assert "No fine stops" not in words(page())


def test_a_logarithmic_scale_is_used_only_where_fines_span_widely_and_is_said():
    narrow = replace(curve(), break_even_fine=(0.0, *(20_000.0 - 10 * size for size in range(1, 101))))
    level = ((0.0, 0.6), (5000.0, 0.4), (20_000.0, 0.0))
    linear = page(curve=narrow, releases=(release(deterrence=level),))
    assert "logarithmic" not in words(linear)
    assert words(page()).count("logarithmic") == 3  # two notes, and the title of a scale
    assert ">1,000,000<" in page()


def test_only_the_first_six_releases_are_drawn_and_that_is_said():
    text = page(releases=tuple(release(f"r{i}") for i in range(8)))
    assert "The first 6 of 8 releases are drawn; the tables have all." in words(text)
    drawn = section(text).rpartition('<div class="drawing">')[2]
    assert ">r5<" in drawn
    assert ">r6<" not in drawn


def test_a_release_without_a_curve_over_fines_has_no_line():
    assert "People re-identified by one campaign, against the fine" not in figures(
        page(releases=(release(deterrence=()),))
    )


def test_no_release_no_size_and_no_parameter_still_make_a_page():
    empty = Price("x", True, {}, (None, None, None), PriceCurve((), (), (), (), (), (), (), ()), ())
    text = render(replace(single(), subjects=(empty,)))
    assert figures(text) == []
    assert "By size of the group" not in text
    assert "What happens to each release" not in text
    assert len(sentences(replace(single(), subjects=(empty,)))) == 1


def test_an_attack_that_never_pays_is_said_instead_of_drawn():
    nothing = (0.0,) * 101
    flat = PriceCurve(tuple(range(101)), *(nothing,) * 7)
    swings = tuple(replace(swing, payoff_low=0.0, payoff_high=0.0) for swing in price().tornado)
    none_named = spared(deterrence=((0.0, 0.0), (1000.0, 0.0)))
    text = page(curve=flat, thresholds=(1, 1, 1), releases=(none_named,), tornado=swings, tornado_payoff=0.0)
    assert figures(text) == []
    assert "No group of any size shown is worth an attack, not even with the outside data at hand." in words(text)
    assert "A group of 20 stays worth nothing whichever single assumption is changed." in words(text)
    assert "No campaign re-identifies anybody at any fine that was tried." in words(text)


def test_a_single_size_and_amounts_of_any_magnitude_are_drawn():
    one = PriceCurve((1,), (4.8e9,), (4.9e9,), (0.63,), (0.63,), (1.0,), (1.0,), (5e11,))
    text = page(curve=one, thresholds=(None, None, None), parameters=CASE | {"fine": 1e10})
    assert len(figures(text)) == 6
    assert ">4,000,000,000<" in text


def test_names_are_escaped():
    evil = "<b>&\"'</b><script>x</script>"
    text = page(
        source=evil,
        parameters={evil: evil, "gain": 5},
        releases=(release(evil, adversary=evil), release(f"{evil}2", 0.2)),
        tornado=(Swing(evil, 1, 2, 3.0, 4.0),),
        warnings=(evil,),
    )
    read = Page(text)
    assert "b" not in read.tags
    assert text.count("<script") == 1
    assert read.said.count(evil) >= 6


def test_prices_come_after_what_the_rows_found():
    data = replace(single(), rows=(row(),), subjects=(price(),))
    assert sentences(data)[0].startswith("An adversary who knows all quasi-identifiers expects to re-identify")
