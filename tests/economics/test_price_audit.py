"""Audits of prices: tables, sentences and charts about a rational attacker."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.reports.test_html import ALL, Page, sample, sections, single, with_facts
from unmask.economics import Attacker, TornadoRow, break_even, exploitation_table
from unmask.economics.audit import AttackerSource, CampaignPrice, PriceFacts, ReleasePrice, list_not_run, make_blocks
from unmask.economics.audit.parameters import parameter_table
from unmask.economics.audit.sentences import describe_thresholds
from unmask.economics.plans.prices import Thresholds
from unmask.findings.sentences import sentences
from unmask.render.page import render
from unmask.render.sections import make_grids
from unmask.render.summary import summary
from unmask.results.scope import Scope
from unmask.tables.audit.attack_scores import Priced

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
SOURCE = AttackerSource(Attacker(**CASE), "clinical-2015", is_assumed=True)
INF = math.inf
FINE_CHART = "People re-identified by one campaign, by the fine"


@cache
def curve():
    return exploitation_table(SOURCE.attacker, 100)


def campaign(payoff=61_234_567.8, success=0.452, stops=70_000_000.4):
    return CampaignPrice((payoff, payoff), (success, success), (min(70_000_000.0, stops), stops))


def release(name: str = "k=3", share: float = 0.831, **changes) -> ReleasePrice:
    values = {
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
        "campaign": campaign(success=share * 0.5439),
        "deterrence": ((0.0, 0.63), (1000.0, 0.6), (10_000.0, share * 0.4935), (1e6, 0.0)),
    } | changes
    return ReleasePrice(release=name, **values)


def spared(name: str = "k=100", **changes) -> ReleasePrice:
    nothing = dict.fromkeys(("success", "payoff", "tries", "fines", "cost", "stopping_fine"), 0.0)
    nothing |= {"largest_attacked": 0, "deterrence": (), "campaign": campaign(0.0, 0.0, 0.0)}
    return release(name, 0.0, **(nothing | changes))


def price(**changes) -> PriceFacts:
    values = {
        "source": SOURCE,
        "adversary": ALL,
        "curve": curve(),
        "stopping_fines": tuple(break_even(SOURCE.attacker, np.arange(1, 101)).tolist()),
        "releases": (release(), release("k=10", 0.5, sunk_success=0.3), release("k=20", 0.062)),
        "tornado": (
            TornadoRow("gain", 4000, 16000, 300.0, 5000.0),
            TornadoRow("max_fines", 1, INF, 1038.87, 500.0),
            TornadoRow("detection_base", -5.28, -3.9, 1800.0, 350.0),
        ),
        "tornado_size": 20,
        "tornado_payoff": 1038.87,
    } | changes
    return PriceFacts(**values)


def of_attacker(**changes) -> AttackerSource:
    return replace(SOURCE, attacker=replace(SOURCE.attacker, **changes))


def report(data, **changes):
    """Return a report with prices."""
    return with_facts(data, price=Priced.of(price(**changes)))


@cache
def plain() -> str:
    return render(report(single()))


def page(**changes) -> str:
    return render(report(single(), **changes)) if changes else plain()


def words(text: str) -> str:
    return Page(text).text


def figures(text: str) -> list[str]:
    ids = [name for name in sections(text) if name.startswith("price")]
    parts = [text[text.index(f'<section id="{name}">') :].partition("</section>")[0] for name in ids]
    return re.findall(r"<figcaption>(.*?)</figcaption>", "".join(parts))


def cells(**changes) -> list[list[str]]:
    data = report(single(), **changes)
    result = data
    blocks = [block for block in result.blocks if block.name.startswith("price")]
    grids = [grid for block in blocks for view in block.tables for grid in make_grids(result, view, Scope(data))]
    return [
        [cell.replace("\u00a0", " ") for cell in line] for grid in grids for line in (grid.head, *grid.groups[0][1])
    ]


def list_messages(*releases: ReleasePrice, **changes) -> list[str]:
    """Return the findings about releases: the campaign, the safest release, and attacks one by one."""
    campaigns, single_attacks, *_ = make_blocks(price(releases=releases, **changes))
    return [block.sentence.replace("\u00a0", " ") for block in (campaigns, single_attacks)]


def test_the_page_stays_well_formed_whole_and_self_contained():
    data = report(sample())
    text = render(data)
    assert render(data) == text
    read = Page(text)
    assert len(read.ids) == len(set(read.ids))
    assert not re.search(r"https?:|\bsrc=|\bhref=", text)
    names = sections(text)
    first = names.index("price")
    assert names[first : first + 4] == ["price", "price-single", "price-sizes", "price-attacker"]
    assert len(figures(text)) == 6
    assert not re.search(r"\b(inf|nan|None)\b", read.text)
    assert all(re.sub(r"\s+", " ", sentence) in words(text) for sentence in sentences(data))


def test_without_an_attacker_there_is_no_section():
    assert "price" not in sections(render(sample()))
    assert len(sentences(sample())) == 4


def test_e4_a_finding_has_the_campaign_and_what_would_stop_it():
    # 0.831 * 0.5439 = 45.2 %, 0.831 * 0.4935 = 41.0 %; the fine that stops it is rounded up
    joint, single_attacks = list_messages(*price().releases)
    assert joint == (
        "Assumed, not observed (clinical-2015): one campaign against all 30,162 people in k=3 gains 61,234,568. It "
        "re-identifies 45.2 % of them, if every try that pays is made. A fine of 70,000,001 instead of 10,000 stops "
        "every campaign. A re-identification is worth 8,000 to the attacker, in the currency of their profile. Of 3 "
        "releases, k=20 has the lowest share: a campaign re-identifies 3.4 %."
    )
    assert single_attacks == "One by one, 83.1 % are worth an attack and 41.0 % are re-identified."
    assert "0.5 % (41.0 % expected) are re-identified" in list_messages(release(realized=0.005))[1].replace(
        "0.50", "0.5"
    )


def test_the_riskiest_release_comes_first_wherever_it_is():
    assert "people in k=3" in list_messages(release("k=20", 0.1), release("k=3"))[0]


def test_the_original_is_not_a_finding_but_is_in_the_table():
    original = release("original", 1.0, stopping_fine=1e6)
    assert not any("original" in sentence for sentence in list_messages(original, release()))
    assert "people in original" in list_messages(original)[0]
    assert ["original", "100 %"] in [line[:2] for line in cells(releases=(original, release()))]


def test_releases_in_which_no_campaign_pays_are_named():
    assert list_messages(release(), spared("k=50"), spared())[0].endswith("In k=50 and k=100 no campaign pays.")
    many_messages = list_messages(release(), *(spared(f"k={k}") for k in range(50, 54)))
    assert many_messages[0].endswith("In 4 of the 5 releases no campaign pays.")


def test_u9_an_assumed_attacker_is_called_one_with_their_figures():
    """Three shares of people re-identified stood on one screen, without a currency and far from the assumption."""
    assumed = list_messages(release())[0]
    assert assumed.startswith("Assumed, not observed (clinical-2015): one campaign")
    assert "in the currency of their profile" in assumed
    assert "if every try that pays is made" in assumed  # the best guess alone reaches less
    assert list_messages(release(), source=replace(SOURCE, is_assumed=False))[0].startswith("One campaign")


def test_no_campaign_that_pays_is_a_finding():
    joint, single_attacks = list_messages(spared(), spared("k=50"))
    assert "no campaign against all people of any of the 2 releases pays." in joint
    assert single_attacks == ""
    assert "no campaign against all 30,162 people in k=100 pays." in list_messages(spared())[0]


def test_e4_a_campaign_that_pays_although_no_single_attack_does_is_the_finding():
    bulk = spared(campaign=CampaignPrice((1_272_573.6,) * 2, (0.048,) * 2, (2e6, 2.1e6)))
    first, second = list_messages(bulk)
    assert "one campaign against all 30,162 people in k=100 gains 1,272,574" in first
    assert "re-identifies 4.8 % of them" in first
    assert "a fine of 2,100,000 instead of 10,000 stops every campaign" in first.lower()
    assert second == "One by one, no attack pays: the outside data and the fines are paid for each person."


def test_e3_bounds_that_are_apart_are_both_shown():
    uncertain = release(campaign=CampaignPrice((61_234_567.8, 62e6), (0.452, 0.63), (7e7, 7e7)))
    assert "gains 61,234,568 to 62,000,000. It re-identifies 45.2 % to 63.0 % of them" in list_messages(uncertain)[0]
    shares, payoffs = "45.2 % to 63.0 %", "61,234,568 to 62,000,000"
    assert ["30,162", shares, payoffs, "70,000,000"] in cells(releases=(uncertain,))
    assert "y is a bound for all plans" in words(page(releases=(uncertain,)))
    assert "y is a bound for all plans" not in words(page())
    unsettled = spared(campaign=CampaignPrice((0.0, 5000.0), (0.0, 0.63), (100.0, 20_000.0)))
    assert "gains at most 5,000. It may not pay at all." in list_messages(unsettled)[0]


def test_a_campaign_that_was_not_computed_is_not_a_zero():
    unknown = release(campaign=CampaignPrice(not_run="too many tries"))
    first, second = list_messages(unknown)
    assert "one campaign against all 30,162 people in k=3 was not computed: too many tries." in first
    assert "83.1 % are worth an attack" in second
    facts = price(releases=(unknown,))
    assert report(single(), releases=(unknown,)).table("price_releases").rows[0]["campaign_payoff"] is None
    assert tuple(list_not_run(facts)) == (
        ("A campaign against k=3", "too many tries and fines; give the attacker max_tries"),
    )


@pytest.mark.parametrize(
    ("stopping", "fine", "sentence"),
    [
        (INF, 10_000, "No fine is known to stop every campaign."),
        (20_000.0, 10_000, "A fine of 20,000 instead of 10,000 stops every campaign."),
        (12.341, 0, "A fine of 12.35 instead of 0 stops every campaign."),
    ],
)
def test_the_fine_that_stops_every_campaign(stopping, fine, sentence):
    stopped = release(campaign=replace(campaign(), fines=(1.0, stopping)))
    assert sentence in list_messages(stopped, source=of_attacker(fine=fine))[0]


def test_an_assumed_attacker_is_called_an_assumption_and_warnings_are_shown():
    text = words(page())
    assert "an embedded profile (clinical-2015): an assumption that is not checked against this release" in text
    assert report(single()).cautions == SOURCE.attacker.warnings
    notes = [note for block in report(single()).blocks for note in block.notes]
    assert not any("Fines are paid" in note for note in notes)  # the page has it once, among its cautions
    read = words(page(source=AttackerSource(replace(SOURCE.attacker, max_fines=INF), "attacker.toml")))
    assert "The attacker was read from attacker.toml." in read
    assert "not checked" not in read


def parameters(**changes) -> list[tuple[str, ...]]:
    rows = parameter_table("parameters", CASE | changes).rows
    return [tuple(cell.replace("\u00a0", " ") for cell in row.values()) for row in rows]


def test_parameters_are_shown_in_plain_words():
    rows = parameters()
    assert ("Gain for a re-identification", "worth of one re-identification to the attacker", "8,000") in rows
    prior = "probability that the person attacked is in the outside data at all"
    assert ("Person is in the outside data", prior, "63.0 %") in rows
    # 1 / (1 + exp(4.59)), exp(0.18) - 1, 1 / (1 + exp(4.59 - 9 * 0.18)), 1 / (1 + exp(4.59 - 19 * 0.18))
    assert ("Detection at the first try", "probability that the first try is detected", "1.0 %") in rows
    growth = "odds grow with each failed try: 4.9 % at the 10th try, 23.7 % at the 20th"
    assert ("Growth of detection", growth, "+19.7 %") in rows
    assert parameters(detection_growth=0)[-2][1] == "every try is detected with the same probability"


def test_parameters_without_effect_are_left_out_and_unknown_ones_stay():
    changes = {"arrest": False, "discount": 1.0, "gain_delay": 1, "ties": "walk_away", "max_fines": INF, "new_tax": 5}
    rows = parameters(**changes)
    assert not any("Delay of the gain" in row or "Detection ends the attack" in row for row in rows)
    assert ("new tax", "", "5") in rows
    assert any(row[0] == "Maximum number of fines" and row[2] == "unlimited" for row in rows)
    printed = str(parameters(**changes | {"arrest": True, "discount": 0.9, "ties": "attack"}))
    assert all(text in printed for text in ("Detection ends the attack", "90.0 %", "Delay of the gain", "attacks"))


def test_the_tables_have_the_prices():
    rows = cells()
    assert ["k=3", "30,162", "45.2 %", "61,234,568", "70,000,000 to 70,000,001"] in rows
    assert ["k=3", "83.1 %", "41.0 %", "12.3", "0.21", "1,234", "2,520"] in rows
    assert ["k=3", "47", "45.0 %", "490,508"] in rows


def test_the_tables_if_no_group_is_attacked_and_if_no_fine_helps():
    endless = release(stopping_fine=INF, campaign=replace(campaign(), fines=(1e9, INF)))
    rows = cells(releases=(spared(), endless))
    assert ["k=100", "30,162", "0 %", "0", "0"] in rows
    assert ["k=100", "0 %", "0 %", *["\u2013"] * 4] in rows
    assert ["k=100", "0", "45.0 %", "0"] in rows
    assert ["k=3", "47", "45.0 %", "unbounded"] in rows


def test_people_who_are_attacked_are_counted_in_tens():
    data = report(single(), releases=(release(n=100, attacked=0.03),)).without_small()
    assert data.table("price_releases").rows[0]["attacked"] == 0.1


def test_the_adversary_whose_knowledge_is_priced_is_named():
    assert f"They have the knowledge of the adversary {ALL}." in words(page())


@pytest.mark.parametrize(
    ("thresholds", "sentence"),
    [
        (
            (14, 48, 77),
            (
                "Alone, groups up to 47 are worth an attack; with the outside data at hand, groups up to 76. Every "
                "candidate is tried in groups up to 13."
            ),
        ),
        (
            (14, 48, None),
            (
                "Alone, groups up to 47 are worth an attack; with the outside data at hand, groups of every size "
                "shown. Every candidate is tried in groups up to 13."
            ),
        ),
        (
            (67, 65, 67),
            (
                "Alone, groups up to 64 are worth an attack; with the outside data at hand, groups up to 66. Every "
                "candidate is tried in groups up to 64."
            ),
        ),
        (
            (14, None, None),
            "Alone, groups of every size shown are worth an attack. Every candidate is tried in groups up to 13.",
        ),
        ((None, None, None), "Alone, groups of every size shown are worth an attack. Every candidate is tried."),
        ((3, 1, 3), "Alone, no group is worth an attack; with the outside data at hand, groups up to 2."),
    ],
)
def test_thresholds_are_a_sentence(thresholds, sentence):
    assert describe_thresholds(Thresholds(*thresholds)) == sentence


def test_all_six_charts_are_drawn_and_the_thresholds_are_marked():
    text = page()
    assert describe_thresholds(curve().thresholds) in words(text)
    assert figures(text) == [
        FINE_CHART,
        "Payoff of attacking one person",
        "Probability of re-identifying the person",
        "Candidates tried",
        "Least fine that stops an attack on one person",
        "Payoff of a group of 20, by assumption",
    ]
    assert all(f">{label}<" in text for label in ("attacked up to 47", "data at hand up to 76", "all tried up to 13"))
    assert text.count(">fine now 10,000<") == 2
    assert all(f">{label}<" in text for label in ("now 1,039", "unlimited", "0.51\u00a0%", "16,000"))


def test_infinite_fines_are_absent_from_the_chart_and_named():
    title = "Least fine that stops an attack on one person"
    text = page(stopping_fines=(INF, INF, INF, *(1e5 / size for size in range(4, 101))))
    assert "No fine stops an attack on one person in groups up to 3;" in words(text)
    assert title in figures(text)
    everywhere = page(stopping_fines=(INF,) * 100)
    assert "No fine stops an attack on one person in groups of any size shown" in words(everywhere)
    assert title not in figures(everywhere)
    assert "No fine stops an attack" not in words(page())
    uneven = page(stopping_fines=(1e5, INF, *(1e5 / size for size in range(3, 101))))
    assert "No fine stops an attack on one person in 1 sizes, the largest 2;" in words(uneven)


def test_a_logarithmic_scale_is_used_only_if_fines_span_widely():
    level = ((0.0, 0.6), (5000.0, 0.4), (20_000.0, 0.0))
    linear = page(stopping_fines=tuple(20_000.0 - 10 * i for i in range(100)), releases=(release(deterrence=level),))
    assert "logarithmic" not in words(linear)
    assert "A fine of 0 is at the left end of the logarithmic scale." in words(page())
    assert ">1,000,000<" in page()


def test_only_the_first_six_releases_are_drawn_and_a_note_says_so():
    text = page(releases=tuple(release(f"r{i}") for i in range(8)))
    assert "The first 6 of 8 releases are drawn; the tables have all." in words(text)
    drawn = text[text.index(FINE_CHART) :].partition("</figure>")[0]
    assert ">r5<" in drawn
    assert ">r6<" not in drawn


def test_a_release_without_a_curve_over_fines_has_no_line():
    assert FINE_CHART not in figures(page(releases=(release(deterrence=()),)))


def test_no_release_still_makes_a_page():
    data = report(single(), releases=(), tornado=())
    assert [block.name for block in data.blocks] == ["price-attacker"]
    assert figures(render(data)) == []


def test_an_attack_that_never_pays_is_a_sentence_and_not_a_chart():
    nothing = np.zeros(101)
    flat = replace(curve(), payoff=nothing, sunk_payoff=nothing, sunk_success_probability=nothing)
    swings = tuple(replace(swing, payoff_low=0.0, payoff_high=0.0) for swing in price().tornado)
    nobody = spared(deterrence=((0.0, 0.0), (1000.0, 0.0)))
    text = page(curve=flat, releases=(nobody,), tornado=swings, tornado_payoff=0.0)
    assert figures(text) == []
    assert "No group of any size shown is worth an attack, not even with the outside data at hand." in words(text)
    assert "A group of 20 stays worth nothing if any single assumption is changed." in words(text)
    assert "No campaign re-identifies a person at any of the fines." in words(text)


def test_a_single_size_and_amounts_of_any_magnitude_are_drawn():
    rich = of_attacker(gain=8e9, fine=1e10)
    table = exploitation_table(rich.attacker, 1)
    text = page(curve=table, source=rich, stopping_fines=(5e11,))
    assert len(figures(text)) == 6
    assert ">4,000,000,000<" in text


def test_a_summary_says_whether_an_attack_pays():
    data = report(single())
    assert "one campaign against all 30,162 people in k=3 gains 61,234,568" in summary(data)
    assert "Not tested: does such an attack pay?" in summary(single())


def test_names_are_escaped():
    evil = "<b>&\"'</b><script>x</script>"
    text = page(
        source=replace(SOURCE, name=evil),
        adversary=evil,
        releases=(release(evil), release(f"{evil}2", 0.2)),
        tornado=(TornadoRow(evil, 1, 2, 3.0, 4.0),),
    )
    read = Page(text)
    assert "b" not in read.tags
    assert text.count("<script") == 1
    assert read.said.count(evil) >= 6


def test_prices_come_after_the_findings_of_the_rows():
    data = report(single())
    assert sentences(data)[0].startswith("An adversary who knows all quasi-identifiers")
