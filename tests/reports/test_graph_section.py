"""The section on networks says who is named, with what certainty, by ties, and from how few leaked identities."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache

import pytest

from tests.reports.test_html import Page, row, sample, sections
from unmask.reports import ReportData, render, sentences
from unmask.reports.facts.graph import (
    Announcement,
    AnonymityLink,
    CertaintyBin,
    DegreeRisk,
    GraphRisk,
    OverlapPoint,
    StructureAttack,
    TransitionPoint,
)
from unmask.reports.findings.graph import enough, seed_words, transition_lines
from unmask.reports.sections.looks import Looks, shown

LOWS, HIGHS = (1, 2, 3, 4, 8, 16), (1, 2, 3, 7, 15, None)
PEOPLE = (6790, 3210, 1770, 2590, 1870, 1930)
# soc-Epinions1, overlaps 0.5 and 0.75: recall by ties of a likelihood attack; the other figures are made up near it.
RECALL = (0.06, 0.22, 0.37, 0.62, 0.9, 0.995)
SURENESS = ((0.5, 0.6, 0.55, 0.61), (0.6, 0.8, 0.7, 0.78), (0.8, 0.9, 0.86, 0.9), (0.9, 0.99, 0.96, 0.94))
MATCHES = (310, 820, 900, 2100, 4620)


def classes(strength: float = 1.0, right: float = 1.0) -> tuple[DegreeRisk, ...]:
    shares = [value**strength for value in RECALL]
    precision = [right * value for value in (0.52, 0.71, 0.8, 0.9, 0.97, 0.999)]
    return tuple(map(DegreeRisk, LOWS, HIGHS, PEOPLE, shares, precision))


def bins() -> tuple[CertaintyBin, ...]:
    edges = (*SURENESS, (0.99, 1.0, 0.998, 0.991))
    return tuple(
        CertaintyBin(low, high, n, sure, right) for (low, high, sure, right), n in zip(edges, MATCHES, strict=True)
    )


def attack(name: str = "rematch", **changes) -> StructureAttack:
    values = {"release": "0.5/0.75", "seeds": "random.25", "n_seeds": 1000, "runs": 4, "spread_in": 4}
    values |= {"recall": 0.388, "recall_low": 0.381, "recall_high": 0.395, "precision": 0.901, "named_wrongly": 0.021}
    values |= {"false_positives": 0.045, "coverage": 0.304, "names": 8750, "by_degree": classes(), "certainty": bins()}
    return StructureAttack(attack=name, **(values | {"steps": (6420, 2210, 610, 140, 31, 8, 2, 0)} | changes))


def nar09(**changes) -> StructureAttack:
    rates = {"recall": 0.276, "recall_low": 0.21, "recall_high": 0.342, "precision": 0.868, "named_wrongly": 0.012}
    more = {"false_positives": 0.09, "coverage": 0.225, "by_degree": classes(1.7, 0.97), "certainty": ()}
    return attack("nar09", **(rates | more | {"steps": (3609, 2503, 483, 149, 73, 28, 10, 1, 0)} | changes))


def bumblebee(**changes) -> StructureAttack:
    rates = {"recall": 0.372, "recall_low": 0.366, "recall_high": 0.378, "precision": 0.865, "named_wrongly": 0.031}
    more = {"false_positives": 0.07, "coverage": 0.312, "by_degree": classes(1.05, 0.94), "certainty": ()}
    return attack("bumblebee", **(rates | more | {"steps": (5230, 2810, 893, 249, 83, 38, 12, 2, 0)} | changes))


def grasshopper(**changes) -> StructureAttack:
    rates = {"recall": 0.195, "recall_low": 0.19, "recall_high": 0.2, "precision": 0.991, "named_wrongly": 0.002}
    more = {"false_positives": 0.005, "coverage": 0.14, "by_degree": classes(2.6, 1.0), "certainty": ()}
    return attack(
        "grasshopper", **(rates | more | {"steps": (1230, 2110, 803, 329, 183, 78, 42, 22, 11, 4, 4, 4)} | changes)
    )


SEEDS = (5, 10, 25, 50, 100, 250, 500, 1000)


def transition() -> tuple[TransitionPoint, ...]:
    spread = {"rematch": (3, 4, 4, 4, 4, 4, 4, 4), "bumblebee": (1, 3, 4, 4, 4, 4, 4, 4)}
    spread |= {"grasshopper": (0, 2, 3, 4, 4, 4, 4, 4), "nar09": (0, 0, 0, 0, 0, 0, 2, 3)}
    most = {"rematch": 0.4, "bumblebee": 0.385, "grasshopper": 0.21, "nar09": 0.276}
    return tuple(
        TransitionPoint(name, "random.25", n, 4, p, 0.002 + most[name] * p / 4, 0.3)
        for name, counts in spread.items()
        for n, p in zip(SEEDS, counts, strict=True)
    )


def overlaps(nodes=(0.25, 0.5, 0.75, 1.0), attacks=("rematch", "nar09")) -> tuple[OverlapPoint, ...]:
    return tuple(
        OverlapPoint(
            name,
            v,
            e,
            0.7 * (v * e) ** 0.6 * (1 - 0.2 * i),
            0.05 * (1.2 - e) * (1.3 - v) * (1 + i),
            0.6 + 0.4 * v * e,
            1.0,
        )
        for i, name in enumerate(attacks)
        for v in nodes
        for e in (0.25, 0.5, 0.75, 1.0)
    )


def anonymity() -> tuple[AnonymityLink, ...]:
    places = [round((i + 0.5) / 20, 3) for i in range(20)]
    falling = [0.95 * (1 - x) ** 1.6 for x in places]
    return (
        AnonymityLink("lta_a", -0.63, tuple(zip(places, falling, strict=True))),
        AnonymityLink("lta_b", 0.02, tuple((x, 0.36 + 0.05 * math.sin(9 * x)) for x in places)),
        AnonymityLink("lta_c", -0.49, tuple((x, 0.75 * (1 - x)) for x in places)),
        AnonymityLink("degree", 0.65, tuple((x, 0.99 * x**2.2) for x in places)),
    )


def graph(*attacks: StructureAttack, **changes) -> GraphRisk:
    values = {"source_nodes": 26_412, "source_edges": 150_233, "target_nodes": 26_398, "target_edges": 149_870}
    values |= {"common": 19_160, "truth_known": True, "most_recall": 0.712}
    values |= {"transition": transition(), "overlaps": overlaps(), "anonymity": anonymity()}
    return GraphRisk(attacks=attacks or (nar09(), grasshopper(), bumblebee(), attack()), **(values | changes))


def bare(*attacks: StructureAttack, **changes) -> GraphRisk:
    """Without charts, which take their time, and without the other findings."""
    empty = {"transition": (), "overlaps": (), "anonymity": (), "most_recall": None}
    plain = [replace(one, steps=(), certainty=(), by_degree=()) for one in attacks or (attack(),)]
    return graph(*plain, **(empty | changes))


def rows(of: GraphRisk):
    made = []
    for one in of.attacks:
        who = (one.release, one.attack, "identity")
        over = {"interval": "runs (t)", "low": one.recall_low, "high": one.recall_high}
        n = {"n": 18_160, "prior": 1 / 26_398, "status": "scores", "worst": 1.0, "quantiles": (0.0, 0.0, 0.0, 1.0, 1.0)}
        made.append(row(*who, "recall", posterior=one.recall, **over, **n))
        made.append(row(*who, "precision", posterior=one.precision, **n))
        made.append(row(*who, "false_positives", posterior=one.false_positives, **(n | {"direction": "low"})))
        made.append(row(*who, "error_hops", posterior=2.3, **(n | {"unit": "hops", "direction": "low", "prior": 4.1})))
        made.append(row(*who, "success_probability", posterior=one.coverage, **n))
    return tuple(made)


def data(of: GraphRisk | None = None, **changes) -> ReportData:
    of = of or graph()
    values = {"success": ("recall",), "subjects": (of,)} | changes
    values["rows"] = changes.get("rows") or rows(of)
    return ReportData("A social network: who is named by its ties", "Four adversaries attack a network.", **values)


@cache
def whole() -> str:
    return render(data())


def page(of: GraphRisk) -> str:
    return render(data(of))


def section(text: str) -> str:
    return text[text.index('<section id="graph">') :].partition("</section>")[0].replace("\u00a0", " ")


def cells(text: str) -> list[list[str]]:
    found = re.findall(r"<tr>(.*?)</tr>", section(text), flags=re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in found]


def captions(text: str) -> list[str]:
    return re.findall(r"<figcaption>(.*?)</figcaption>", section(text))


def headings(text: str) -> list[str]:
    return re.findall(r"<h3>(.*?)</h3>", section(text))


def labels(text: str) -> list[str]:
    return re.findall(r'<svg role="img" aria-label="(.*?)"', section(text))


def found(of: GraphRisk, **changes) -> list[str]:
    return [sentence.replace("\u00a0", " ") for sentence in sentences(data(of, **changes))]


NEXT = (
    "To see what protection would change, run `unmask audit graph` with --with (changed edges, or several "
    "identities for a person); `unmask protect graph` writes such a release."
)


def test_where_the_network_was_given_the_advice_is_one_that_runs():
    """`audit graph` refuses --with next to --auxiliary."""
    given = replace(bare(), acquired=True)
    assert "--with" not in " ".join(found(given))
    assert any("protect the network with `unmask protect graph`" in sentence for sentence in found(given))
    text = render(data(given))
    assert "unmask protect graph" in text
    assert "--overlap" not in text


def test_of_classes_alike_the_one_with_most_edges_is_most_at_risk():
    alike = tuple(replace(one, recall=1.0 if one.low > 2 else 0.1) for one in classes())
    said = " ".join(found(replace(bare(), attacks=(attack(by_degree=alike),))))
    assert "re-identify 100 % of the people with 16 or more edges, and 10.0 % of those with 1 edge" in said


def test_an_ensemble_has_no_passes():
    announced = Announcement(0.5, 0.4, 0.6, None, came_true=None, held="")
    shown_ = render(data(replace(bare(), attacks=(attack(announced=announced, steps=(1320, 1283)),))))
    assert "How the attack runs through the network" not in shown_
    assert "Ensemble gives its matches scores of its own" in shown_


# --- findings -----------------------------------------------------------------------------------------------------


def test_the_first_finding_says_who_is_named_and_how_many_names_are_right():
    assert found(bare()) == [
        (
            "With 1,000 leaked identities the adversary rematch re-identifies 38.8 % [38.1, 39.5] of the 18,160 people "
            "who are in both graphs; of the 8,750 matches they make 90.1 % are right."
        ),
        NEXT,
    ]


def test_the_strongest_attack_is_told_whatever_the_order_and_the_next_beside_it():
    said = found(bare(nar09(), attack(), grasshopper()))[0]
    assert said.startswith("With 1,000 leaked identities the adversary rematch re-identifies 38.8 %")
    assert said.endswith("The next strongest of 3 attacks, nar09, re-identifies 28 % [21, 34].")


def test_words_of_an_adversary_and_several_releases_are_told():
    two = bare(attack(), attack(release="0.5/0.25", recall=0.158, recall_low=None, recall_high=None))
    words = {"rematch": "compares likelihoods"}
    said = found(two, adversaries=words)[0]
    assert said.startswith(
        "From “0.5/0.75”, with 1,000 leaked identities an adversary who compares likelihoods re-identifies"
    )
    assert said.endswith("The least, from “0.5/0.25”, is 15.8 %.")
    none = {"recall_low": None, "recall_high": None}
    more = [attack(release="0.5/0.25", recall=0.158, **none), nar09(release="0.5/0.25", recall=0.3, **none), nar09()]
    assert found(bare(attack(), *more))[0].endswith("The least, from “0.5/0.25”, is 30.0 %, by nar09.")
    one = found(bare(attack(), attack(n_seeds=5, seeds="top", recall=0.3, recall_low=None, recall_high=None)))[0]
    assert one.endswith("The next strongest of 2 attacks, rematch with 5 seeds, re-identifies 30.0 %.")


def test_recall_is_not_told_twice_and_other_targets_are_still_told():
    other = row("0.5/0.75", "rematch", "city", "realized_success", posterior=0.5, prior=0.1, n=90)
    said = found(bare(), rows=(*rows(bare()), other), success=("recall", "realized_success"))
    assert said[1] == NEXT
    assert len(said) == 3
    assert said[2] == "The adversary rematch infers city correctly for 50.0 % of 90 people; guessing gives 10.0 %."


def test_recall_without_a_network_is_told_as_checked():
    said = sentences(ReportData("t", "w", rows(bare())[:1], success=("recall",)))[0].replace("\u00a0", " ")
    assert said.startswith("The adversary rematch re-identifies 38.8 % [38.1, 39.5] of 18,160 people; guessing gives")


def test_u12_the_number_of_names_stands_beside_the_share_that_is_right():
    assert "of the 9 matches they make 88.9 % are right." in found(bare(attack(precision=8 / 9, names=9)))[0]
    assert "of the 1 match they make 100 % is right." in found(bare(attack(precision=1.0, names=1)))[0]


def test_g4_what_was_not_run_is_said_with_the_reason():
    assert found(bare(not_run=(("big", "too many people"),)))[1] == "big was not run: too many people."
    said = found(
        bare(not_run=(("big", "too many people"), ("a", "it was not asked for"), ("b", "it was not asked for")))
    )
    assert said[1] == "big was not run: too many people. Attacks that were not asked for may re-identify more: a and b."


def test_g6_of_a_partial_truth_both_shares_of_right_names_are_told():
    of = bare(attack(precision=0.722, precision_at_least=0.305, false_positives=None), truth_partial=True)
    said = found(of, rows=rows(bare())[:1])[0]
    assert said.endswith(
        "of the 8,750 matches they make, 72.2 % are right among people with an entry in the truth, which is partial; "
        "if nobody else is in the release, 30.5 % of all are."
    )
    text = render(data(of, rows=rows(bare())[:1]))
    assert "The truth is partial" in section(text)
    assert cells(text)[0] == [
        "Attack", "Seeds", "Spread in", "Recall", "Precision", "At least", "Wrong", "Coverage", "Matches",
    ]  # fmt: skip


def test_an_attack_without_a_name_says_so():
    none = attack(recall=0.0, recall_low=None, recall_high=None, precision=None, spread_in=0, names=0)
    said = found(bare(none), rows=rows(bare())[:1])[0]
    assert "re-identifies 0 % of the 18,160 people who are in both graphs: they make no match at all." in said
    assert said.endswith("In none of 4 runs does it spread beyond the surroundings of the seeds.")


def test_rates_are_means_over_all_runs_and_the_share_that_spread_is_said():
    torn = bare(attack(spread_in=3))
    assert "It spreads in 3 of 4 runs and dies out in the others; rates are means over all runs." in found(torn)[0]
    assert "In some runs rematch spreads through the network, in others not." in section(page(torn))
    assert "In some runs" not in section(page(bare()))


def test_people_are_counted_by_the_row_else_by_ties_else_by_who_is_common():
    other = (row("0.5/0.75", "rematch", "identity", "precision"),)
    assert "of the 18,160 people" in found(graph(), success=("recall",))[0]
    assert "of the 18,160 people" in found(graph(transition=(), overlaps=()), rows=other)[0]  # sum of PEOPLE
    assert "of the 19,160 people" in found(bare(), rows=other)[0]
    assert "of the people" in found(bare(common=None), rows=other)[0]


def test_the_other_findings_are_about_ties_seeds_overlap_the_bound_and_what_to_do():
    assert found(graph())[1:] == [
        (
            "Who is re-identified depends on edges: they re-identify 99.5 % of the people with 16 or more edges, and "
            "6.0 % of those with 1 edge."
        ),
        (
            "10 leaked identities are enough for rematch to spread through the network in all 4 runs, where it "
            "re-identifies 40.2 %; bumblebee needs 25; grasshopper needs 50; for nar09 1,000 are too few."
        ),
        (
            "What the two networks share decides: with 25 % of people and 25 % of edges in both, rematch re-identifies "
            "13.3 %; with 100 % of people and 100 % of edges, 70.0 %."
        ),
        (
            "By edges alone no attack can be expected to re-identify more than 71.2 % of people: the others have "
            "structural twins, from whom nothing tells them apart."
        ),
        NEXT,
    ]


def test_ties_are_told_only_where_they_decide_more_than_chance_does():
    def told(*shares, people=500, **changes):
        two = [DegreeRisk(low, low, people, share, None) for low, share in enumerate(shares, 1)]
        whole = replace(bare(), attacks=(attack(by_degree=tuple(two), certainty=(), **changes),))
        return any("depends on edges" in text or "Ties do not" in text for text in found(whole))

    assert told(0.4, 0.6)
    assert not told(0.4, 0.6, people=20)  # Wilson: 0.22 to 0.61 and 0.39 to 0.78
    assert not told(0.4, 0.4)
    assert not told(0.0, 0.05, spread_in=0)


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        ("random", "drawn at random"),
        ("random.5", "drawn among the 50 % with most edges"),
        ("random.05", "drawn among the 5 % with most edges"),
        ("random.2", "drawn among the 20 % with most edges"),
        ("betweenness.1", "highest betweenness among the 10 % with most edges"),
        ("neighborhood.4", "groups of 4 around one person"),
        ("neighborhood.4.2", "groups of 4 around one person among the 20 % with most edges"),
        ("clique", "clique"),
    ],
)
def test_the_choice_of_seeds_is_said_in_words(seeds, words):
    assert seed_words(seeds) == words


def test_seeds_are_enough_only_where_more_are_enough_too():
    counts = {5: 4, 25: 2, 100: 4, 1000: 4}
    points = [TransitionPoint("a", "top", n, 4, k, 0.1, 0.2) for n, k in counts.items()]
    assert enough(points).n_seeds == 100
    assert enough(points[:2]) is None
    said = found(bare(transition=tuple(points[:2])))[1]
    assert said == "With up to 25 leaked identities no attack spreads through the network in every run."
    one = (TransitionPoint("a", "top", 1, 1, 1, 0.3, 0.4),)
    assert found(bare(transition=one))[1].startswith(
        "1 leaked identity is enough for a to spread through the network in"
    )
    two = (TransitionPoint("a", "top", 5, 2, 2, 0.3, 0.4),)
    assert (
        "5 leaked identities are enough for a to spread through the network in both runs"
        in found(bare(transition=two))[1]
    )


def test_lines_over_seeds_are_told_apart_by_how_seeds_are_chosen():
    points = tuple(TransitionPoint("a", seeds, n, 4, 4, 0.3, 0.4) for n in (25, 5) for seeds in ("top", "random.25"))
    lines = transition_lines(bare(transition=points))
    assert list(lines) == ["a, top", "a, random.25"]
    assert [point.n_seeds for point in lines["a, top"]] == [5, 25]
    assert list(transition_lines(bare(transition=points[::2]))) == ["a"]


# --- the page -----------------------------------------------------------------------------------------------------


def test_the_same_values_give_the_same_bytes():
    assert render(data()) == whole()


def test_the_page_is_well_formed_whole_and_self_contained():
    read = Page(whole())
    assert len(read.ids) == len(set(read.ids))
    assert not re.search(r"https?:|\bsrc=|\bhref=", whole())
    assert sections(whole())[:5] == ["success", "adversaries", "findings", "graph", "measures"]
    assert not re.search(r"\b(inf|nan|None)\b", read.text)
    assert headings(whole()) == [
        "Who is re-identified, by edges",
        "How many matches are right, by their score",
        "From how few leaked identities",
        "By overlap of the two networks",
        "How the attack runs through the network",
        "What foretells who is re-identified",
    ]
    assert len(captions(whole())) == len(labels(whole())) == 12


def test_without_a_network_there_is_no_section():
    assert "graph" not in sections(render(sample()))


def test_what_is_empty_is_left_out():
    text = page(bare())
    assert headings(text) == []
    assert captions(text) == []


def test_the_table_of_attacks_has_seeds_runs_and_rates():
    head, *body = cells(whole())[:5]
    assert head == [
        "Attack",
        "Seeds",
        "Spread in",
        "Recall",
        "Precision",
        "Wrong",
        "False positives",
        "Coverage",
        "Matches",
    ]
    first = ["A  nar09", "1,000 random.25", "4 of 4 runs", "28 % [21, 34]", "86.8 %", "1.2 %", "9.0 %", "22.5 %"]
    assert body[0] == [*first, "8,750"]
    assert "random.25: drawn among the 25 % with most edges" in section(whole())


def test_charts_say_their_ends_and_tables_their_figures():
    named, right, *_ = labels(whole())
    assert named.startswith(
        "People re-identified, by edges of the person, from 1 to 16+: D  rematch: 6.0 % to 99.5 %; C  bumblebee"
    )
    assert right.startswith(
        "Matches that are right, by edges of the person, from 1 to 16+: D  rematch: 52.0 % to 99.9 %"
    )
    table = cells(whole())
    assert ["4–7", "2,590", "62.0 % / 90.0 %", "60.5 % / 84.6 %", "44.4 % / 87.3 %", "28.9 % / 90.0 %"] in table
    assert ["A  nar09", "random.25", "500", "2 of 4", "14.0 %"] in table
    assert ["D  rematch", "50 %", "25 %", "20.1 %", "65.0 %", "3.8 %", "100 %"] in table
    assert [
        "LTA A",
        "mean likeness of a person&#39;s edges to those of friends of friends; low: easy to tell apart",
        "−0.63",
    ] in table


def test_names_are_counted_from_each_score_on():
    label = next(label for label in labels(whole()) if label.startswith("Matches made: D  rematch"))
    assert label.endswith("8,750 to 4,620.")


def test_the_charts_are_of_the_release_where_most_are_named_and_say_so():
    two = graph(
        attack(release="less", recall=0.1, recall_low=None, recall_high=None), attack(), transition=(), overlaps=()
    )
    assert [one.release for _, one in shown(two)] == ["0.5/0.75"]
    assert "Of “0.5/0.75”, the release where most people are re-identified." in section(page(two))
    assert "the release where" not in section(whole())


def test_attacks_of_one_name_are_told_apart_by_what_differs():
    names = [name for name, _ in shown(bare(attack(), attack(n_seeds=5), nar09()))]
    assert names == ["rematch, 1,000 seeds", "rematch, 5 seeds", "nar09"]
    assert [name for name, _ in shown(bare(attack(), attack(seeds="top")))] == ["rematch, random.25", "rematch, top"]
    three = bare(attack(), attack(seeds="top"), attack(n_seeds=5))
    assert [name for name, _ in shown(three)][1] == "rematch, 1,000 top"


def test_overlap_is_drawn_over_what_varies():
    def drawn(**kept) -> list[str]:
        return captions(page(replace(bare(), overlaps=overlaps(**kept))))

    assert drawn() == [
        f"{what}: {name}"
        for name in ("rematch", "nar09")
        for what in ("People re-identified", "People matched wrongly")
    ]
    assert drawn(nodes=(0.5,)) == ["People re-identified", "People matched wrongly"]
    only_nodes = tuple(point for point in overlaps() if point.edge_overlap == 0.75)
    text = page(replace(bare(), overlaps=only_nodes))
    assert "Overlap of people" in section(text)
    assert "75 % of edges are." in section(text)


def test_g5_without_truth_nothing_is_said_to_be_right():
    blind = dict.fromkeys(("recall", "recall_low", "recall_high", "precision", "named_wrongly", "false_positives"))
    blind |= {"by_degree": (), "certainty": (), "n_seeds": 25}
    points = tuple(TransitionPoint("rematch", "random.25", n, 1, 1, None, 0.25) for n in (5, 10))
    of = graph(
        attack(**blind), nar09(**blind), common=None, truth_known=False, transition=points, overlaps=(), anonymity=()
    )
    given = row("r", "nar09", "identity", "coverage", posterior=0.2, n=9)
    said = found(of, rows=(given,), success=())
    assert said[0] == (
        "With 25 leaked identities the adversary rematch matches 30.4 % of the other people of their own "
        "network (8,750 matches). How many are right is not known: the truth was not given, and scores are no "
        "probabilities."
    )
    text = render(data(of, rows=(given,), success=()))
    assert "Nothing was checked against the truth" in section(text)
    assert cells(text)[0] == ["Attack", "Seeds", "Spread in", "Coverage", "Matches"]
    assert captions(text)[0] == "People matched: rematch"
    assert not re.search(r"\b(nan|None|expects)\b", Page(text).text)


def test_precision_false_positives_and_hops_are_leading_measures_with_names():
    text = whole().replace("\u00a0", " ").partition("<details>")[2].partition('<section id="measures">')[2]
    leading = text.split("<details>")[1]
    for line in (
        "Precision – share of all matches",
        "False positives – share of all matches",
        "Distance to the right person – edges",
    ):
        assert line in leading


def test_a_criterion_foretells_only_on_the_side_that_its_meaning_says():
    def told(**correlations):
        links = tuple(AnonymityLink(name, value, ((0.1, 0.2), (0.9, 0.3))) for name, value in correlations.items())
        return Page(page(replace(bare(), anonymity=links))).text.replace("\u00a0", " ")

    assert "Best by Degree: rank correlation 0.12" in told(degree=0.12, lta_a=0.4)
    assert "Best by LTA A: rank correlation −0.20" in told(degree=-0.5, lta_a=-0.2)
    wrong = told(degree=-0.15, lta_a=0.4)
    assert "No criterion does in the way that its meaning says; nearest is Degree: rank correlation −0.15" in wrong
    assert "Best by" not in wrong


def test_no_chart_is_drawn_over_a_single_place():
    assert headings(page(replace(bare(), overlaps=overlaps()[:1]))) == []
    one = replace(bare().attacks[0], by_degree=classes()[:1], certainty=bins()[:1])
    lonely = page(graph(replace(one, steps=()), transition=transition()[:1], overlaps=(), anonymity=()))
    assert captions(lonely) == headings(lonely) == []
    two = graph(replace(one, by_degree=classes()[:2], certainty=()), transition=(), overlaps=(), anonymity=())
    assert captions(page(two))[:2] == ["People re-identified: rematch", "Matches that are right: rematch"]


@pytest.mark.parametrize(
    ("if_there", "said"),
    [(0.9, "rematch speaks of people in the release alone; matches of others pull its line down"),
     (None, "A score is no probability")],
)  # fmt: skip
def test_whom_an_announcement_is_about_is_said_beside_what_came_true_of_all_matches(if_there, said):
    announced = Announcement(if_there, if_there, if_there, None, came_true=0.5, held="")
    one = replace(bare().attacks[0], certainty=bins(), announced=announced)
    assert said in Page(page(graph(one, transition=(), overlaps=(), anonymity=()))).text.replace("\u00a0", " ")


ANNOUNCED = Announcement(0.52, 0.47, 0.57, 0.31, came_true=0.25, held="announced 50 %, realized 51 % of 90 people")


REFUSED = replace(
    ANNOUNCED, if_there=None, if_there_low=None, if_there_high=None, of_anybody_high=None,
    refused=("seeds are near: 3.7 times as many, so that they stand for nobody else",),
)  # fmt: skip


@pytest.mark.parametrize(
    ("announced", "said", "first"),
    [
        (ANNOUNCED, ("52.0 % of the people in the release (calibrated, 47.0 % to 57.0 %)",
                     "at most 31.0 % rightly (a bound, not an estimate); it matches 25.0 %"),
         "52.0 % of the people in the release (47.0 % to 57.0 %)"),
        (replace(ANNOUNCED, if_there=None, if_there_low=None), ("at most 57.0 % of the people in the release",),
         "at most 57.0 % of the people in the release (a bound)"),
        (REFUSED, ("announces no probability: seeds are near: 3.7 times as many",),
         "no probability is announced: seeds are near"),
    ],
)  # fmt: skip
def test_success_is_announced_or_bounded_or_refused_with_the_reason(announced, said, first):
    risk = replace(bare(), attacks=(attack(announced=announced),))
    sentences = " ".join(found(risk))
    assert all(one in sentences for one in said)
    assert first in Page(render(data(risk))).text.replace("\u00a0", " ")


def test_wrong_matches_show_no_gain_as_who_names_nobody_has_none():
    text = Page(page(bare())).text.replace("\u00a0", " ")
    assert "points" in text.partition("Precision – ")[2].partition("False positives – ")[0]
    assert "points" not in text.partition("False positives – ")[2].partition("Distance to the right")[0]


# --- looks --------------------------------------------------------------------------------------------------------


def test_no_two_lines_of_a_chart_look_alike_and_an_attack_keeps_its_look():
    looks = Looks({"a": 0, "b": 3, "c": 6}, 3)
    lines = looks.lines([(str(i), name, ((0.0, 0.5),)) for i, name in enumerate("bcbbab")])
    assert len({line.style for line in lines}) == 6
    assert (lines[0].style, lines[1].style) == (3, 0)
    gone = looks.lines([("x", "a", ((0.0, math.nan),)), ("y", "b", ((0.0, 0.5), (1.0, math.nan)))])
    assert [(line.name, line.style) for line in gone] == [("y", 3)]


# --- values -------------------------------------------------------------------------------------------------------


def test_the_dots_are_called_what_they_are():
    text = Page(render(data(bare()))).text
    assert "Dots are people re-identified" in text
    assert "Dots are success" not in text
