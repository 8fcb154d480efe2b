"""Guesses that are scored links: each threshold is an adversary, and clusters are chains of accepted links."""

import os
from itertools import combinations

import numpy as np
import pytest

from tests.commands import invoke
from tests.envelopes import parsed
from tests.linkage.public_items import rldata
from unmask.core.partition import Partition
from unmask.linkage.link_files import choose_thresholds
from unmask.measures.clustering import Contingency, evaluate

SECRET = "SECRET77"


def audit(folder, links, *options, truth="item,subject\na,ann\nb,ann\nc,bob\nd,bob\n"):
    (folder / "truth.csv").write_text(truth)
    (folder / "links.csv").write_text(links)
    return invoke("audit", "linkage", "--truth", folder / "truth.csv", "--guess", folder / "links.csv", *options)


def shares(result, line="breached"):
    """Return the share of subjects on a line of the chart, by threshold."""
    rows = parsed(result.stdout)["tables"]["linkage_links"]
    return {row["score"]: row["share"] for row in rows if row["subjects"] == line}


def test_each_threshold_is_an_adversary_who_joins_chains_of_links(tmp_path):
    result = audit(tmp_path, "item_l,item_r,score\na,b,0.9\nb,c,0.5\nc,d,0.7\n", "--json")
    guesses = {row["name"]: row for row in parsed(result.stdout)["tables"]["linkage_guesses"]}
    assert set(guesses) == {"links >= 0.9", "links >= 0.7", "links >= 0.5"}
    assert [guesses[name]["clusters"] for name in ("links >= 0.9", "links >= 0.7", "links >= 0.5")] == [3, 2, 1]
    assert shares(result) == {0.9: 0.5, 0.7: 1.0, 0.5: 1.0}
    assert shares(result, "breached, no items of others") == {0.9: 0.5, 0.7: 1.0, 0.5: 0.0}


def test_splink_columns_are_read_in_any_order_and_case(tmp_path):
    head = "Match_Probability,match_weight,unique_id_R,unique_id_l"
    assert shares(audit(tmp_path, f"{head}\n0.9,3.2,b,a\n", "--json")) == {0.9: 0.5}


def test_links_without_a_score_are_one_adversary(tmp_path):
    (guess,) = parsed(audit(tmp_path, "item_l,item_r\na,b\n", "--json").stdout)["tables"]["linkage_guesses"]
    assert (guess["name"], guess["breached"]) == ("links", 0.5)


def test_a_policy_judges_a_threshold_by_its_name(tmp_path):
    links = "item_l,item_r,score\na,b,0.9\nc,d,0.7\n"
    assert audit(tmp_path, links, "--policy", "links >= 0.9:breached<=0.5").exit_code == 0
    assert audit(tmp_path, links, "--policy", "links >= 0.7:breached<=0.5").exit_code == 3


def test_at_alpha_1_a_lower_threshold_never_breaches_fewer_and_at_a_smaller_alpha_it_may():
    rng = np.random.default_rng(3)
    falls = 0
    for _ in range(60):
        n = 14
        truth = Partition(rng.integers(0, 4, n))
        pairs = np.array(list(combinations(range(n), 2)))
        links = pairs[rng.random(len(pairs)) < 0.15]
        score = rng.random(len(links))
        rates = {alpha: [] for alpha in (1.0, 0.5)}
        for threshold in np.sort(score)[::-1]:
            met = Contingency.of(truth, Partition(chains(n, links[score >= threshold].tolist())))
            for alpha, result in rates.items():
                result.append(evaluate(met, alpha=alpha, beta=0.7).breach_rate)
        assert (np.diff(rates[1.0]) >= 0).all()
        falls += bool((np.diff(rates[0.5]) < 0).any())
    assert falls


def test_a_cluster_that_takes_in_a_crowd_is_no_longer_the_most_relevant_one():
    """8 of 10 items alone are a breach; joined with 100 items of others they are not, at alpha 1/2."""
    truth = Partition(["ann"] * 10 + [f"s{k}" for k in range(100)])
    coarse = Contingency.of(truth, Partition([0] * 8 + [1] * 2 + list(range(2, 102))))
    crowd = Contingency.of(truth, Partition([0] * 8 + [1] * 2 + [0] * 100))
    assert evaluate(coarse).breached[0]
    assert not evaluate(crowd).breached[0]


def chains(n, links):
    """Return the label of the cluster of each item, by joining the ends of one link after the other."""
    label = list(range(n))
    for first, second in links:
        old, new = label[second], label[first]
        label = [new if value == old else value for value in label]
    return label


def test_clusters_equal_those_of_links_that_are_joined_one_by_one(tmp_path):
    rng = np.random.default_rng(4)
    for _ in range(5):
        n = 12
        owners = rng.integers(0, 4, n)
        links = [pair for pair in combinations(range(n), 2) if rng.random() < 0.12] or [(0, 1)]
        score = rng.integers(1, 5, len(links)) / 4
        truth = "item,subject\n" + "".join(f"i{k},s{owner}\n" for k, owner in enumerate(owners))
        lines = "".join(f"i{a},i{b},{s}\n" for (a, b), s in zip(links, score, strict=True))
        result = audit(tmp_path, f"item_l,item_r,score\n{lines}", "--json", "--min-size", 1, truth=truth)
        for threshold, share in shares(result).items():
            labels = chains(n, [link for link, s in zip(links, score, strict=True) if s >= threshold])
            expected = evaluate(Contingency.of(Partition(owners), Partition(labels)))
            assert share == pytest.approx(expected.breach_rate)


def test_thresholds_are_quantiles_of_many_scores():
    thresholds = choose_thresholds(np.random.default_rng(1).random(1000))
    assert len(thresholds) == 20
    assert thresholds == tuple(sorted(thresholds))


def test_a_giant_cluster_is_a_caution(tmp_path):
    result = audit(tmp_path, "item_l,item_r,score\na,b,0.9\nb,c,0.5\nc,d,0.5\n")
    assert "links >= 0.5 connects 100" in result.stderr


@pytest.mark.skipif("UNMASK_DATA" not in os.environ, reason="needs public records")
def test_public_records_by_the_number_of_equal_fields(tmp_path):
    """RLdata500: the score is the share of five equal fields."""
    items, truth = rldata(500)
    names = ("fname_c1", "lname_c1", "by", "bm", "bd")
    codes = np.column_stack([items.feature(name).values for name in names])
    first, second = np.triu_indices(len(items), 1)
    score = (codes[first] == codes[second]).mean(axis=1)
    lines = "".join(f"{a},{b},{s}\n" for a, b, s in zip(first, second, score, strict=True) if s)
    owners = "item,subject\n" + "".join(f"{k},{owner}\n" for k, owner in enumerate(truth.names[truth.code]))
    links = f"item_l,item_r,score\n{lines}"
    result = audit(tmp_path, links, "--threshold", "1,0.8,0.6,0.4", "--json", truth=owners)
    assert shares(result) == {1.0: 0.0, 0.8: 0.92, 0.6: 1.0, 0.4: 1.0}
    assert shares(result, "breached, no items of others") == {1.0: 0.0, 0.8: 0.92, 0.6: 0.96, 0.4: 0.04}


@pytest.mark.parametrize(
    ("links", "options", "sentence"),
    [
        ("item_l,item_r,score\n", (), "has no rows"),
        ("item_l,score\na,0.5\n", (), "a column item_l but no item_r"),
        (f"item_l,item_r,score\na,b,{SECRET}\n", (), "a score is not a number"),
        ("item_l,item_r,score\na,b,0.5\nb,c,\n", (), "a score is missing or infinite"),
        ("item_l,item_r,score\na,b,inf\n", (), "a score is missing or infinite"),
        ("item_l,item_r,score\na,,0.5\n", (), "1 links lack an item"),
        (f"item_l,item_r,score\n{SECRET},{SECRET},0.5\n", (), "1 links join an item with itself"),
        (f"item_l,item_r,score\n{SECRET},{SECRET}2,0.5\n", (), "none of the linked items is in the truth"),
        (f"item_l,item_r,score\na,{SECRET},0.5\n", (), "1 item of the guess is not in the truth"),
        ("item_l,item_r,score,match_probability\na,b,0.5,0.5\n", (), "score and match_probability, expected one"),
        ("item_l,item_r,score\na,b,0.5\n", ("--threshold", "high"), "a threshold is not a finite number"),
        ("item_l,item_r,score\na,b,0.5\n", ("--threshold", "nan"), "a threshold is not a finite number"),
        ("item_l,item_r\na,b\n", ("--threshold", "0.5"), "no guess has scored links"),
        ("item_l,item_r,score\na,b,0.5\n", ("--engine", "duckdb"), "links need the items in memory"),
        ("item_l,item_r,score\na,b,0.5,7,8\n", (), ""),
    ],
)
def test_malformed_links_are_one_clear_sentence(tmp_path, links, options, sentence):
    result = audit(tmp_path, links, *options, "--report", tmp_path / "page.html")
    assert result.exit_code in (1, 2)
    assert sentence in result.stderr
    assert result.stderr.count("Error: ") == 1
    assert SECRET not in result.stderr + result.stdout
    assert not (tmp_path / "page.html").exists()


def test_subjects_give_items_weights_of_their_own(tmp_path):
    """Ann does not care about item b, so that a alone is all of her; a file next to the truth says so."""
    (tmp_path / "weights.csv").write_text("subject,item,weight\nann,b,0\n")
    links, options = "item_l,item_r,score\na,c,0.5\n", ("--alpha", 0.7, "--json")
    plain = parsed(audit(tmp_path, links, *options).stdout)["results"]
    weighted = parsed(audit(tmp_path, links, *options, "--own", "weight=weights.csv").stdout)["results"]
    linked = {row["measure"]: row["posterior"] for row in plain}, {row["measure"]: row["posterior"] for row in weighted}
    assert (linked[0]["linked_now"], linked[1]["linked_now"]) == (0.5, 0.75)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ("subject,item,weight\nann,b,2\n", "missing or out of range"),
        (f"subject,item,weight\n{SECRET},b,1\n", "names a subject or item that the truth lacks"),
        ("subject,item,weight\nann,b,1\nann,b,0\n", "two weights for one item"),
        ("subject,item\nann,b\n", "weight"),
    ],
)
def test_malformed_weights_are_one_clear_sentence(tmp_path, weights, sentence):
    (tmp_path / "weights.csv").write_text(weights)
    result = audit(tmp_path, "item_l,item_r,score\na,b,0.5\n", "--own", "weight=weights.csv")
    assert result.exit_code in (1, 2)
    assert sentence in result.stderr
    assert SECRET not in result.stderr
