"""Findings about guesses: which subjects their clusters breach, how near the others are, and two kinds of error."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache

import pytest

from tests.reports.test_html import Page, row, sample, sections
from unmask.core.errors import UnmaskError
from unmask.findings.sentences import sentences
from unmask.linkage.audit.facts import GuessFacts, LinkageFacts
from unmask.linkage.audit.linkage_audit import describe
from unmask.linkage.audit.tables import error_table
from unmask.render.page import render
from unmask.render.summary import summary
from unmask.results import Result

BETAS = (0.2, 0.5, 0.8, 1.0)


def guess(name: str = "name_bd", **changes) -> GuessFacts:
    """RLdata10000, exact match on name and birth date: 1,000 linkable subjects; 741 of them miss an item."""
    values = {
        "clusters": 9502,
        "partitions": 1,
        "breached": 0.259,
        "clean": 0.25,
        "guessing": 0.0,
        "one_away": 0.741,
        "median_merges": 0.6,
        "most_merges": 0.6,
        "gini": 0.28,
        "jain": 0.71,
        "linked_curve": (0.63, 1.0),
        "mixed_curve": (1e-6, 6.1e-6),
        "worst_linked": (1.0,),
        "worst_mixed": (2e-6,),
        "slopes": tuple((alpha, (1.0, 1.0, 0.67 * alpha, 0.5 * alpha)) for alpha in (0.0, 0.5, 1.0)),
        "breach_rates": (1.0, 1.0, 0.259, 0.259),
        "miss_include": ((0, 0, 250), (0, 1, 8), (0, 2, 1), (1, 0, 741)),
        "whole": {
            "adjusted_rand_index": 0.342,
            "normalized_variation_of_information": 0.015,
            "normalized_transfer_distance": 0.093,
            "bcubed_precision": 0.976,
        },
        "kind": "conservative",
    } | changes
    return GuessFacts(name=name, **values)


def block(name: str = "block") -> GuessFacts:
    """Everything in one cluster."""
    flat = {"linked_curve": (1.0,), "mixed_curve": (1.0,), "worst_linked": (1.0,), "worst_mixed": (1.0,)}
    none = {"clean": 0.0, "one_away": 0.0, "median_merges": 0.0, "most_merges": 0.0, "gini": 0.0, "jain": 1.0}
    more = {
        "breached": 1.0,
        "guessing": 1.0,
        "clusters": 1,
        "breach_rates": (1.0,) * 4,
        "whole": {"adjusted_rand_index": 0.0},
    }
    errors = {"miss_include": ((0, 9998, 1000),), "kind": "liberal"}
    return guess(name, **flat, **none, **more, **errors)


def linkage(*guesses: GuessFacts, **changes) -> LinkageFacts:
    values = {"items": 10_000, "subjects": 9000, "counted": 1000, "min_size": 2, "alpha": 0.5, "beta": 0.8}
    return LinkageFacts(guesses=guesses or (guess(),), **(values | {"wanted": False, "betas": BETAS} | changes))


def rows(of: LinkageFacts):
    shares = {"breached": 0.259, "clean_breach": 0.25, "linked_now": 0.63}
    values = [
        row("items", one.name, "linkage", measure, posterior=value, unit="probability", n=1000)
        for one in of.guesses
        for measure, value in shares.items()
    ]
    items = {"unit": "items", "direction": "low", "prior": 1.0, "n": 1000}
    values += [row("items", one.name, "linkage", "miss", posterior=0.74, **items) for one in of.guesses]
    return tuple(values)


def data(*guesses: GuessFacts, **changes) -> Result:
    facts = linkage(*guesses, **changes)
    return describe(facts, rows(facts))


@cache
def plain() -> str:
    return render(data())


def page(*guesses: GuessFacts, **changes) -> str:
    """The report on these guesses, or on the one."""
    return render(data(*guesses, **changes)) if guesses or changes else plain()


def bare(one: GuessFacts) -> GuessFacts:
    """The guess without charts, which take their time."""
    curves = dict.fromkeys(("linked_curve", "mixed_curve", "worst_linked", "worst_mixed", "slopes", "miss_include"), ())
    return replace(one, breach_rates=(), **curves)


def table(*guesses: GuessFacts, **changes) -> list[list[str]]:
    return cells(page(*(bare(one) for one in guesses or (guess(),)), betas=(), **changes))


def section(text: str) -> str:
    return text[text.index('<section id="linkage">') :].partition('<section id="adversaries">')[0]


def figures(text: str) -> list[str]:
    return re.findall(r"<figcaption>(.*?)</figcaption>", section(text))


def cells(text: str) -> list[list[str]]:
    found = re.findall(r"<tr>(.*?)</tr>", section(text), flags=re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line.replace("\u00a0", " ")) for line in found]


def words(text: str) -> str:
    return Page(text).text.replace("\u00a0", " ")


def found(*guesses: GuessFacts, **changes) -> list[str]:
    """Return the findings about guesses with ordinary spaces: the headline, and those of further guesses."""
    shared = sentences(data(*guesses, **changes).without_small())
    return [sentence.replace("\u00a0", " ") for sentence in shared if sentence.startswith("The guess ")]


def test_the_same_linkage_gives_the_same_bytes():
    assert render(data()) == plain()


def test_the_page_is_well_formed_whole_and_self_contained():
    read = Page(plain())
    assert len(read.ids) == len(set(read.ids))
    assert not re.search(r"https?:|\bsrc=|\bhref=", plain())
    assert sections(plain())[:6] == ["linkage", "guesses", "scores", "merges", "errors", "adversaries"]
    assert section(plain()).count('role="img"') == section(plain()).count('<svg role="img" aria-label=') == 5
    assert not re.search(r"\b(inf|nan|None)\b", read.text)


def test_without_linkage_there_is_no_section():
    assert "linkage" not in sections(render(sample()))
    assert len(sentences(sample())) == 4


def test_the_finding_says_who_is_breached_how_cleanly_and_how_near_the_others_are():
    assert found() == [
        (
            "The guess name_bd links at least 80 % of the items of 25.9 % of 1,000 subjects with at least 2 items; "
            "clusters of the same sizes with shuffled labels link 0 %. 25.0 % are breached without a single item "
            "of others, and 74.1 % would be breached with one more cluster joined."
        )
    ]


def test_findings_open_the_page_and_nobody_is_said_to_be_named():
    head = words(plain()[: plain().index("<main>")] + "</body></html>")
    assert found()[0].partition(" 25.0 %")[0] in head
    assert found()[0] in words(plain())
    assert "people named" not in words(plain()).lower()
    assert " names " not in words(plain())


def test_all_subjects_all_items_and_a_single_subject_are_said_as_such():
    assert "links all items of 25.9 % of 9,000 subjects; clusters" in found(counted=9000, beta=1.0)[0]
    assert "of 100 % of 1 subject; clusters" in found(guess(breached=1.0), subjects=1, counted=1)[0]


def test_a_high_ari_is_said_to_hide_breaches_and_a_low_one_too():
    # PatentsView 2022: 95.2 % breached at 0.8, ARI 0.9957
    high = guess(breached=0.952, clean=0.6, whole={"adjusted_rand_index": 0.9957})
    assert found(high)[0].endswith("ARI is 0.996, which says none of this.")
    assert "ARI" not in found(replace(high, breached=0.0, clean=0.0))[0]
    assert "ARI is only 0.342, as if little were linked." in found(guess(breached=0.9, clean=0.5))[0]
    assert "ARI" not in found()[0]
    assert "ARI" not in found(guess(whole={"adjusted_rand_index": math.nan}))[0]


def test_breaches_by_contaminated_clusters_come_with_a_caution():
    foreign = guess(breached=0.6, clean=0.1, miss_include=((0, 100, 6), (1, 0, 4)))
    caution = "most breaching clusters hold items of others too, 60.0 of them on average over all subjects; one block"
    assert caution in found(foreign)[0]
    assert "Caution" not in found(replace(foreign, clean=0.3))[0]
    assert found(block())[0].endswith(
        "It puts all items into one cluster: that breaches every subject and distinguishes none."
    )


def test_clean_breaches_only_and_none_are_said():
    assert "All of these breaches are without a single item of others, and 74.1 %" in found(guess(clean=0.259))[0]
    assert "No subject is breached without items of others, and 74.1 %" in found(guess(clean=0.0))[0]


def test_nobody_breached_is_said():
    spared = guess(breached=0.0, clean=0.0, one_away=0.0)
    away = "No subject would be breached with one more cluster joined."
    shuffled = f", as do clusters of the same sizes with shuffled labels. {away}"
    start = "The guess name_bd breaches no subject: it links at least 80 % of the items of none of 1,000 subjects with"
    assert found(spared)[0] == f"{start} at least 2 items{shuffled}"
    assert found(replace(spared, one_away=0.3))[0].endswith("30.0 % would be breached with one more cluster joined.")
    assert "shuffled labels link that of 2.0 %" in found(replace(spared, guessing=0.02))[0]


def test_a_guess_no_better_than_shuffled_labels_found_nothing_out_and_comes_last():
    assert "link 100 % too: the adversary learned nothing." in found(block())[0]
    assert [one.name for one in linkage(block(), guess()).strongest_first] == ["name_bd", "block"]


def test_at_most_three_guesses_have_a_finding_the_strongest_first_and_the_lowest_is_named():
    first, others = found(*(guess(f"g{i}", breached=i / 10, clean=i / 10) for i in range(1, 6)))
    assert re.findall(r"The guess (g\d)", f"{first} {others}") == ["g5", "g4", "g3"]
    assert others.startswith("The guess g4 links as much of 40.0 % of them; shuffled labels link 0 %.")
    assert others.endswith("Of 5 guesses the lowest is g1 with 10.0 %.")


def test_a_view_is_said_to_be_one():
    view = guess("view", partitions=5, clusters=12)
    assert found(view)[0].startswith("The guess view, on average over its 5 partitions, links at least 80 %")
    assert ["view", "12", "5", "25.9 %"] in [line[:4] for line in table(view)]
    assert "Partitions" not in str(table())


def test_of_a_view_the_partitions_alone_are_told_where_they_breach_more():
    view = guess("view", partitions=5, breached=0.2, clean=0.0, one_by_one={"breached": 0.5, "clean": 0.4})
    assert "A single partition breaches 50.0 % on average, and 40.0 % without a single item of" in found(view)[0]
    assert "No subject is breached without items of others" not in found(view)[0]
    shown = " ".join(re.sub(r"<[^>]+>", " ", page(bare(view), betas=())).replace("\u00a0", " ").split())
    assert "500 of 1,000 subjects are breached by one partition, on average: at least 80 %" in shown
    assert "All partitions 20.0 %, by the share of items that they link on average" in shown


def test_the_table_has_every_guess_the_strongest_first():
    line = ["25.9 %", "0 %", "25.0 %", "74.1 %", "0.600", "0.600", "0.28", "0.71", "conservative"]
    assert ["name_bd", "9,502", *line] in table()
    both = table(block(), guess())
    assert [cells[0] for cells in both if len(cells) == 11] == ["Guess", "name_bd", "block"]


def test_scores_of_the_whole_partition_go_by_their_names_and_meanings():
    known = {
        "variation_of_information": 0.2,
        "adjusted_rand_index": 0.99999,
        "bcubed_recall": math.nan,
        "new_one": 12.0,
    }
    lines = [line for line in table(guess(whole=known)) if len(line) == 4]
    assert [line[0] for line in lines] == ["Score", "ARI", "VOI, bits", "B\u00b3 recall", "new one"]
    assert [line[3] for line in lines[1:]] == ["&gt;0.999", "0.200", "undefined", "12.000"]
    assert "Score" not in str(table(guess(whole={})))


def test_a_score_is_listed_for_the_guesses_that_have_it():
    lines = table(guess(), guess("other", whole={"normalized_mutual_information": 0.5}))
    assert [line[2:] for line in lines if line[0] == "NMI"] == [["other", "0.500"]]


def chart(text: str, said: str) -> str:
    """The first chart whose label begins so, with its legend."""
    drawings = section(text).split('<div class="drawing">')
    return next(one for one in drawings if f'aria-label="{said}' in one).partition("</figure>")[0]


def test_charts_of_one_guess():
    assert figures(plain()) == [
        "Subjects breached, by threshold",
        "Risk slope, by threshold",
        "Own items linked",
        "Items of others mixed in",
        "Misses and includes",
    ]
    assert all(
        f">{label}<" in plain() for label in ("average subject", "the 25.9\u00a0% breached", "\u03b1 0.5", "750")
    )
    assert plain().count(">\u03b2 80\u00a0%<") == 3
    label = "average subject: 63.0 % to 100 %; the 25.9 % breached: 100 % to 100 %."
    assert label in plain().replace("\u00a0", " ")


def test_eight_guesses_have_six_lines_and_four_panels():
    text = page(*(guess(f"g{i}", breached=1 - i / 10) for i in range(8)))
    captions = figures(text)
    assert len(captions) == 2 + 1 + 4 + 4  # the most exposed are all at 100 %: that is said
    assert captions[1:5] == [f"Risk slope: g{i}" for i in range(4)]
    legend = chart(text, "Subjects breached").partition("</ul>")[0]
    assert ">g5<" in legend
    assert ">g6<" not in legend
    assert "The 6 strongest guesses are drawn; the table has all 8." in words(text)


def test_guesses_whose_looks_repeat_are_told_apart():
    rates = guess().breach_rates
    guesses = [
        replace(bare(guess(f"g{i}", breached=0.3 if i in (0, 6) else 0.26)), breach_rates=rates) for i in range(7)
    ]
    lines = re.findall(
        r'<path d="[^"]*"[^>]* stroke="([^"]+)" stroke-width="2"', chart(page(*guesses), "Subjects breached")
    )
    assert len(lines) == len(set(lines)) == 6


def test_the_horizontal_axis_ends_where_all_curves_are_flat():
    long = guess(linked_curve=(0.2, 0.6, 0.9, *[0.995] * 300, 1.0), mixed_curve=(0.0,) * 304)
    assert linkage(long).horizon == 3
    assert linkage(block()).horizon == 1
    text = page(long)
    assert "Beyond 3 merges no curve moves by more than 1 % of its scale." in words(text)
    assert "Beyond" not in words(plain())


def test_where_nothing_is_mixed_in_that_is_said_instead_of_drawn():
    clean = guess(mixed_curve=(0.0, 0.0), worst_mixed=(0.0,))
    assert "Items of others mixed in" not in figures(page(clean))
    assert "No item of others is mixed in at any number of merges" in words(page(clean))
    wanted = guess(mixed_curve=(1.0, 0.9), worst_mixed=(1.0,))
    assert "Items of others still lacking" in figures(page(wanted, wanted=True))
    assert "Items of others are welcome to the subjects" in words(page(wanted, wanted=True))


def test_a_guess_that_mixes_far_more_does_not_hide_the_others():
    text = page(guess(), guess("other"), block())
    drawn = chart(text, "Items of others mixed in")
    assert ">other<" in drawn
    assert "block" not in drawn
    assert "The guess block mixes in far more than all others" in words(text)


def test_degenerate_linkages_are_drawn():
    alone = guess(miss_include=((0, 0, 10),), whole={"variation_of_information": math.nan})
    spared = guess(breached=0.0, clean=0.0, breach_rates=(0.0,) * 4)
    undefined = guess("u", gini=math.nan, most_merges=math.inf, slopes=((0.5, (math.nan, 1.0, math.nan, 0.2)),))
    for guesses in (
        (alone,),
        (block(),),
        (undefined, block()),
        (spared,),
    ):
        text = page(*guesses)
        assert len(figures(text)) >= 2
        assert not re.search(r"\b(NaN|Infinity|nan)\b", Page(text).text)
    short = page(guess(breach_rates=(0.259,), slopes=()), betas=(0.8,))
    assert "Subjects breached, by threshold" in figures(short)
    assert "Risk slope, by threshold" not in figures(short)
    assert figures(page(bare(guess()), betas=())) == []


def errors(*points: tuple[int, int, int]) -> str:
    text = page(guess(miss_include=points))
    return section(text).partition('aria-label="Misses against includes')[2].partition("</svg></div>")[0]


def test_bubbles_have_areas_of_their_subjects_on_scales_that_reach_far():
    drawn = errors((0, 0, 400), (3, 5000, 100), (1, 20, 50))
    radii = [float(radius) for radius in re.findall(r' r="([\d.]+)"', drawn)]
    assert sorted(radii)[-2:] == pytest.approx([8.5, 17.0], abs=0.01)  # a quarter of the subjects, half the radius
    assert ">1,000<" in drawn


def test_very_many_errors_are_gathered_without_losing_a_subject():
    many = guess(miss_include=tuple((miss, include, 1) for miss in range(60) for include in range(60)))
    table = error_table(linkage(many))
    assert len(table.rows) <= 41 * 41
    assert sum(table.values("subjects")) == 3600


def test_a_shared_page_has_no_error_of_few_subjects_and_rounds_the_others():
    shared = data().without_small()
    assert [row["subjects"] for row in shared.table("linkage_errors").rows] == [750, 250]
    owner = replace(data(), smallest_shown=1).without_small()
    assert [row["subjects"] for row in owner.table("linkage_errors").rows] == [741, 250, 8, 1]


def test_a_worst_off_tenth_of_few_subjects_is_left_out_of_a_shared_page():
    few = data(guess(breached=0.05), counted=50)
    assert {row["subjects"] for row in few.without_small().table("linkage_curves").rows} == {"average subject"}
    owner = replace(few, smallest_shown=1).without_small().table("linkage_curves")
    assert {row["subjects"] for row in owner.rows} == {"average subject", "most exposed tenth"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"min_size": 1, "counted": 9000}, "A subject with one item is breached whatever the adversary does"),
        (
            {"beta": 0.5},
            "up to 2 items is breached whatever the adversary does: a single item is at least 50 % of it",
        ),
        ({}, None),
    ],
)
def test_subjects_breached_by_definition_are_a_caution(changes, said):
    text = words(page(bare(guess()), betas=(), **changes))
    assert said in text if said else "whatever the adversary does" not in text


def test_the_policy_is_told_with_its_weights():
    text = words(page(bare(guess()), betas=(), alpha=0.75))
    assert "All rates are of the 1,000 of 9,000 subjects with at least 2 items." in text
    assert "0.75 for each item of the subject that it lacks, 0.25 for each item of others in it." in text


def test_measures_of_linkage_are_realized_and_have_names():
    text = plain()[plain().index('<section id="measures">') :]
    assert "Breached \u2013 share of subjects" in text
    assert "Cleanly breached \u2013" in text
    line = re.search(r"<th scope=\"row\">items</th>(.*?)</tr>", text)
    assert line
    assert re.findall(r">([^<]+)</td>", line[1])[1:3] == ["\u2013", "25.9\u00a0%"]  # expected, realized
    assert "Misses \u2013 items of a subject outside its most relevant cluster; the adversary wants it low" in text


def test_names_are_escaped():
    evil = "<b>&\"'</b><script>x</script>"
    read = Page(page(guess(evil, kind=evil, whole={evil: 1.0}), guess(f"{evil}2")))
    assert "b" not in read.tags
    assert read.said.count(evil) >= 4


def test_u22_lines_that_are_flat_and_coincide_are_said_and_not_drawn():
    even = guess(
        breached=0.944, clean=0.944, linked_curve=(0.981, 0.998), mixed_curve=(0.0, 0.0), worst_linked=(0.998, 1.0),
        worst_mixed=(0.0, 0.0), miss_include=((0, 0, 162),), recovered=0.9,
    )  # fmt: skip
    text = page(even)
    assert "Own items linked" not in figures(text)
    assert "Misses and includes" not in figures(text)
    said = words(text)
    assert "too even to draw: average subject: 98.1 % to 99.8 %; the 94.4 % breached: 99.8 % to 100 %." in said
    assert "The most subjects, 162, have 0 misses and 0 includes." in said
    assert "Own items linked" in figures(plain())  # where it rises from 63 to 100 %


def test_e13_where_most_are_breached_it_is_said_who_is_worst_off():
    many = guess(breached=0.95, clean=0.95, recovered=0.9)
    assert "90.0 % are recovered exactly: all of their items in one cluster, and nothing else." in found(many)[0]
    assert "No subject is recovered exactly" in found(replace(many, recovered=0.0))[0]
    assert "recovered" not in found()[0]
    drawn = section(page(many, betas=BETAS)).partition('aria-label="Own items linked')[2].partition("</svg>")[0]
    assert "the 95.0\u00a0% breached" in drawn  # not a tenth: all of these are equally badly off
    assert "most exposed tenth" not in drawn


def test_e14_a_summary_asks_linkage_nothing_that_it_cannot_answer():
    text = summary(data())
    assert "Not tested" not in text
    assert "no. 0" not in text + words(plain())
    assert "They re-identify no person and infer no value." in text
    assert "Not tested" in summary(sample())  # where somebody could have asked


def test_bounds_are_called_bounds():
    open_ = bare(
        guess(breached=0.96, clean=0.94, one_away=math.nan, at_least={"breached": 0.94, "clean": 0.56}, unlabeled=5)
    )
    text = found(open_, unlabeled="unknown", betas=())[0]
    assert "links at least 80 % of the labeled items of 94.0 % to 96.0 % of 1,000 subjects" in text
    assert "56.0 % to 94.0 % are breached without a single item of others." in text
    cells_of = cells(page(open_, unlabeled="unknown", betas=()))
    assert cells_of[0][:6] == ["Guess", "Clusters", "Breached", "Breached at least", "Shuffled", "Clean"]
    assert cells_of[1][2:4] == ["96.0 %", "94.0 %"]


def test_a_threshold_of_nothing_is_refused():
    with pytest.raises(UnmaskError, match=r"beta is 0\.0, expected a number above 0"):
        linkage(beta=0.0)
