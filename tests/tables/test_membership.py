"""Membership: scores against loops over rows, and their calibration."""

import os
import time
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import log
from pathlib import Path

import numpy as np
import pytest

from unmask import Posterior, Truth, UnmaskError, audit
from unmask.core.posterior import log_odds
from unmask.measures import realized_success
from unmask.measures.excess import People, difference
from unmask.measures.interval import wilson
from unmask.measures.membership import evaluate_membership
from unmask.tables import AttributeInference, Background, Mondrian, SinglingOut, Table, datasets
from unmask.tables.attacks.marginal_counts import bin_shares, list_subsets, mutual_information
from unmask.tables.attacks.membership import ClosestRecord, MarginalRatio, fit_isotonic, fit_steps
from unmask.tables.control.membership_calibration import cross_fit, find_twins
from unmask.tables.knowledge import attribute_truth


def people(n, seed=0, *, ages=40):
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.integers(20, 20 + ages, n),
        "sex": rng.choice(["f", "m"], n),
        "city": rng.choice(list("abcdefgh"), n),
    }
    columns["zip"] = np.char.add("z", (columns["age"] // 5).astype(str))
    return Table.read(columns, quasi_identifiers=tuple(columns), types={"zip": "text"})


def cut(table):
    """Members, control people, reference."""
    n = table.n_rows
    return table.take(slice(0, n // 4)), table.take(slice(n // 4, n // 2)), table.take(slice(n // 2, n))


def score_both(members, control, table):
    targets = table.take(slice(0, members.n_rows + control.n_rows))
    return targets, np.arange(targets.n_rows) < members.n_rows


def literal_scores(release, targets, reference, *, share):
    """The formula, row by row; share(column, cell of a release, value) -> how far the cell is the value."""
    names = [column.name for column in release.quasi_identifiers]
    released, general, knowledge = ({name: table[name] for name in names} for table in (release, reference, targets))
    sets = [names_of_set for size in (1, 2, 3) for names_of_set in combinations(names, size)]
    scores = []
    for i in range(targets.n_rows):
        total = 0.0
        for names_of_set in sets:
            s = sum(
                np.prod([share(name, released[name][j], knowledge[name][i]) for name in names_of_set])
                for j in range(release.n_rows)
            )
            r = sum(
                all(general[name][j] == knowledge[name][i] for name in names_of_set) for j in range(reference.n_rows)
            )
            total += log((s + 0.5) / (release.n_rows + 1)) - log((r + 0.5) / (reference.n_rows + 1))
        scores.append(total / len(sets))
    return scores


def test_the_ratio_of_margins_row_by_row():
    table = people(160, ages=12)  # each occurs among people in general, and is a bin
    members, control, reference = cut(table)
    targets, _ = score_both(members, control, table)
    actual = log_odds(MarginalRatio(bins=100)(members, Background(targets, reference)))
    expected = literal_scores(members, targets, reference, share=lambda _, cell, value: cell == value)
    assert actual == pytest.approx(expected, abs=1e-9)


def test_a_generalized_cell_counts_in_part_for_each_value_as_people_in_general_have_them():
    table = people(160, ages=8)
    members, control, reference = cut(table)
    targets, _ = score_both(members, control, table)
    release, _ = Mondrian(k=8)(members, rng=np.random.default_rng(1))
    assert "[" in "".join(release.column("age").levels.labels)

    @cache  # of people alike
    def share(name, cell, value):
        def holds(value):
            if name != "age":
                return value in cell.strip("{}").split(", ") or cell == "*"
            low, _, high = cell.strip("[]").partition(", ")
            return float(low) <= float(value) <= float(high or low)

        inside = [value for value in reference[name] if holds(value)]
        return holds(value) * sum(item == value for item in inside) / len(inside)

    scores = log_odds(MarginalRatio(bins=100)(release, Background(targets, reference)))
    assert scores == pytest.approx(literal_scores(release, targets, reference, share=share), abs=1e-6)


def test_numbers_are_cut_at_the_quantiles_of_people_in_general():
    def column(values):
        return Table.read({"x": values}, quasi_identifiers="x").column("x")

    reference, release = column(np.arange(1000)), column(["-5", "0", "249", "250", "2000", "[100, 600]", ""])
    share = bin_shares(reference, [release], bins=4)[1].toarray()
    level = {label: index for index, label in enumerate(release.levels.labels)}
    assert [int(share[level[x]].argmax()) for x in ("-5", "0", "249", "250", "2000", "")] == [0, 0, 0, 1, 3, 4]
    assert share[level["[100, 600]"]] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0], abs=1e-6)


def test_a_value_absent_from_the_population_has_a_finite_score():
    members = Table.read({"a": ["x", "x", "new"]}, quasi_identifiers="a")
    reference = Table.read({"a": ["x"] * 50}, quasi_identifiers="a")
    targets = Table.read({"a": ["x", "new", "other"]}, quasi_identifiers="a")
    scores = log_odds(MarginalRatio()(members, Background(targets, reference)))
    expected = [log((s + 0.5) / 4) - log((r + 0.5) / 51) for s, r in ((2, 50), (1, 0), (0, 0))]
    assert scores == pytest.approx(expected)


def test_a_cell_that_fits_no_person_of_the_population_is_a_value_of_its_own():
    release = Table.read({"a": ["x", "{y, z}", "{y, z}"]}, quasi_identifiers="a")
    reference = Table.read({"a": ["x"] * 50}, quasi_identifiers="a")
    targets = Table.read({"a": ["x", "y", "{y, z}"]}, quasi_identifiers="a")
    scores = log_odds(MarginalRatio()(release, Background(targets, reference)))
    expected = [log((s + 0.5) / 4) - log((r + 0.5) / 51) for s, r in ((1, 50), (0, 0), (2, 0))]
    assert scores == pytest.approx(expected)


def test_of_many_sets_those_that_say_most_are_kept():
    table = people(400)  # age and zip say the same
    columns = table.quasi_identifiers
    share = [bin_shares(column, [], bins=32)[0] for column in columns]
    subsets_chosen = list_subsets(columns, share, largest=3, max_subsets=5)
    assert subsets_chosen == [(0,), (1,), (2,), (3,), (0, 3)]
    assert len(list_subsets(columns, share, largest=3, max_subsets=500)) == 4 + 6 + 4
    a, b = np.random.default_rng(0).integers(0, 3, (2, 50))
    joint = np.histogram2d(a, b, bins=3)[0] / 50
    expected = sum(p * log(p / (joint[i].sum() * joint[:, j].sum())) for (i, j), p in np.ndenumerate(joint) if p > 0)
    assert mutual_information(a, b) == pytest.approx(expected)


def test_the_closest_record_row_by_row():
    table = people(80)
    members, control, _ = cut(table)
    targets, _ = score_both(members, control, table)
    span = np.ptp([float(age) for age in members["age"]])  # what was released

    def distance(i, j):
        numbers = abs(float(targets["age"][i]) - float(members["age"][j])) / span
        return min(numbers, 1) + sum(targets[name][i] != members[name][j] for name in ("sex", "city", "zip"))

    expected = [-min(distance(i, j) for j in range(members.n_rows)) for i in range(targets.n_rows)]
    assert log_odds(ClosestRecord()(members, Background(targets))) == pytest.approx(expected)


def test_a_release_of_the_original_reveals_every_member_except_duplicates():
    rng = np.random.default_rng(0)
    table = Table.read(
        {f"c{j}": rng.integers(0, 50, 300) for j in range(6)}, quasi_identifiers=[f"c{j}" for j in range(6)]
    )
    members, control, reference = table.take(slice(0, 100)), table.take(slice(100, 200)), table.take(slice(200, 300))
    for attack in (MarginalRatio(), ClosestRecord()):
        targets, inside = score_both(members, control, table)
        result = evaluate_membership(attack(members, Background(targets, reference)), Truth(np.where(inside, 0, 1)))
        assert result.rows[0].posterior > 0.99
        twice = members.take(np.tile(np.arange(100), 2))
        result = evaluate_membership(attack(members, Background(twice, reference)), Truth(np.repeat([0, 1], 100)))
        assert result.rows[0].posterior == pytest.approx(0.5)
    assert not find_twins(targets, inside).any()
    assert find_twins(twice, np.arange(200) < 100).all()


def test_people_in_general_and_targets_must_be_given():
    table = people(40)
    with pytest.raises(UnmaskError, match="needs people in general"):
        MarginalRatio()(table, Background(table))
    with pytest.raises(UnmaskError, match="needs people; give"):
        ClosestRecord()(table)


# --- calibration ---------------------------------------------------------------------------------------------------


def scored(score):
    p = 1 / (1 + np.exp(-np.asarray(score, dtype=float)))
    return Posterior.from_dense(np.stack([p, 1 - p], axis=1), status="scores", provenance={"attack": "a score"})


def test_scores_that_tell_are_believed_as_far_as_they_tell():
    rng = np.random.default_rng(0)
    inside = np.arange(6000) < 2000
    score = rng.normal(np.where(inside, 1.0, 0.0), 1.0)
    belief = cross_fit(scored(5 * score), inside)  # log-odds are score - 1 / 2, whatever the scale
    assert belief.status == "calibrated"
    assert np.corrcoef(belief.to_dense()[:, 0], 1 / (1 + np.exp(0.5 - score)))[0, 1] > 0.98
    result = audit(belief, Truth(np.where(inside, 0, 1)))
    assert result.row("success_probability").status == "calibrated"
    assert result.row("realized_success").posterior == pytest.approx(0.6915, abs=0.02)  # Phi(1 / 2)
    assert result.row("success_probability").posterior == pytest.approx(0.6915, abs=0.02)
    assert result.row("realized_success").prior == pytest.approx(0.5)
    assert np.isfinite(result.row("log_loss_bits").posterior)


def test_scores_that_tell_nothing_are_not_believed():
    rng = np.random.default_rng(1)
    beliefs = []
    for _ in range(20):
        inside = np.arange(200) < 100
        belief = cross_fit(scored(rng.normal(size=200)), inside)
        beliefs.append(audit(belief, Truth(np.where(inside, 0, 1))).row("realized_success").posterior)
    assert np.mean(beliefs) == pytest.approx(0.5, abs=0.03)  # on the people it is fitted to, 0.54


def test_a_persons_own_truth_does_not_score_them():
    rng = np.random.default_rng(2)
    inside = np.arange(400) % 2 == 0
    score = rng.normal(np.where(inside, 1.0, 0.0), 1.0)
    first, swapped = np.arange(400) % 10 < 2, inside.copy()
    swapped[:2] = swapped[1::-1]  # the first member and the first control person, both of the first fifth
    initial, after = (log_odds(cross_fit(scored(score), members_mask)) for members_mask in (inside, swapped))
    assert np.array_equal(initial[first], after[first])
    assert not np.array_equal(initial[~first], after[~first])


def test_few_people_calibrate_nothing():
    inside = np.arange(120) < 60
    assert cross_fit(scored(np.where(inside, 1.0, 0.0)), inside).status == "scores"
    with pytest.raises(UnmaskError, match="1 members and a control group of 4, expected at least 2 people of each"):
        cross_fit(scored(np.zeros(5)), np.arange(5) < 1)
    two = [scored(np.arange(7.0)), scored(np.arange(7.0) % 3)]
    with pytest.raises(UnmaskError, match="2 members and a control group of 5, expected at least 3 people of each"):
        cross_fit(two, np.arange(7) < 2)
    for fewest, scores in ((2, two[:1]), (3, two)):
        assert cross_fit(scores, np.arange(7) < fewest).status == "scores"


def test_scores_without_a_doubt_leave_some():
    inside = np.arange(400) < 200
    certain = Posterior.from_dense(np.stack([inside, ~inside], axis=1).astype(float))
    belief = cross_fit(certain, inside)
    assert belief.status == "calibrated"
    assert belief.to_dense()[0] == pytest.approx([81 / 82, 1 / 82])  # (160 + 2) / 164 : 2 / 164


def test_a_belief_rises_with_the_scores():
    rng = np.random.default_rng(3)
    inside = rng.random(1000) < 0.3
    score = rng.integers(0, 30, 1000) + 5 * inside
    belief = cross_fit(scored(score / 10), inside).to_dense()[:, 0]
    order = np.concatenate([np.flatnonzero(members_mask)[::5] for members_mask in (inside, ~inside)])
    order = order[np.argsort(score[order], kind="stable")]
    assert np.all(np.diff(belief[order]) >= -1e-12)
    assert 0 < belief.min() < belief.max() < 1


def test_a_score_that_tells_of_few_is_not_believed_of_the_others():
    """A bootstrap reveals the copied people; the other members stay unknown, whatever their scores are by chance."""
    rng = np.random.default_rng(4)
    inside = np.arange(2000) < 1000
    copied = inside & (rng.random(2000) < 0.6)
    belief = cross_fit(scored(np.where(copied, 10.0, rng.random(2000))), inside).to_dense()[:, 0]
    assert np.mean(belief[~copied] > 0.36) < 0.01  # of 0.4 / 1.4 = 0.29; with steps that chance explains 0.03
    assert belief[copied].min() > 0.95


# --- Adult ---------------------------------------------------------------------------------------------------------

needs_data = pytest.mark.skipif(not os.environ.get("UNMASK_DATA"), reason="UNMASK_DATA names no folder with the data")


@needs_data
def test_copies_of_a_thousand_people_give_them_away():
    """An independent prototype: 0.70 +- 0.03, 0.80 and 0.60, for 13 columns and 20,000 people in general."""
    names = [name for name in datasets.ADULT_COLUMNS if name not in ("fnlwgt", "education")]
    table, rng = datasets.adult(quasi_identifiers=names, sensitive=()), np.random.default_rng(0)
    order = rng.permutation(table.n_rows)
    release = table.take(rng.choice(order[:1000], 1000))
    background = Background(table.take(order[:2000]), table.take(order[2000:22_000]))
    truth = Truth(np.repeat([0, 1], 1000))
    start = time.process_time()
    margins, closest = (attack(release, background) for attack in (MarginalRatio(), ClosestRecord()))
    assert time.process_time() - start < 2  # of a slow machine; 0.1 of a quiet one
    assert evaluate_membership(margins, truth).rows[0].posterior == pytest.approx(0.70, abs=0.03)
    result = {row.measure: row.posterior for row in evaluate_membership(closest, truth).rows}
    assert result["membership_auc"] > 0.8
    assert result["true_positive_rate_at_0.01"] > 0.6
    assert cross_fit(margins, np.arange(2000) < 1000).status == "calibrated"


@needs_data
def test_control_people_of_a_ctgan_release_are_known_as_well_as_members():
    """The release of Anonymeter's examples, by its control people and by Adult, of which they are a fifth."""
    roles = {"quasi_identifiers": ["age", "education_num", "marital", "race", "sex"], "sensitive": "occupation"}
    folder, members = Path(os.environ["UNMASK_DATA"]) / "tables/adult/synthetic", datasets.adult(rows="all")
    release, control = (
        Table.read(folder / name, na=(), **roles) for name in ("synthetic_ctgan.csv.gz", "control.csv.gz")
    )
    scores = []
    for people, names in ((members, datasets.Q5), (control, control.names[:5])):
        columns = dict(zip(control.names, [*(people[name] for name in names), people["occupation"]], strict=True))
        table = Table.read(columns, quasi_identifiers=control.names[:5], sensitive="occupation", like=release, na=())
        background = Background(replace(table, sensitive=()), members)
        belief = AttributeInference("occupation")(release, background)
        scores.append(realized_success(belief, attribute_truth(table, np.arange(table.n_rows), belief, "occupation")))
    low, high = difference(*((p, *wilson(p, n)) for p, n in zip(scores, (32_561, 9758), strict=True)))
    assert low < 0 < high


BELIEF = Posterior.from_dense(np.full((4, 2), 0.5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cross_fit(BELIEF, np.array([1, 1, 0, 0])), "of int64, expected True or False for each of 4"),
        (lambda: cross_fit(BELIEF, np.ones(3, dtype=bool)), "inside has shape"),
        (
            lambda: People.of(realized_success, BELIEF, Truth([0, 1, 0, 1]), mask=np.array([1, 1, 0, 0])),
            "True or False",
        ),
        (lambda: evaluate_membership(BELIEF, Truth([0, 1])), "the truth has 2 targets and the belief 4"),
        (lambda: MarginalRatio(columns=0), "columns is 0, expected a whole number at least 1"),
        (lambda: SinglingOut(conditions=(4, 2)), "expected the fewest, at least 1, and the most"),
    ],
)
def test_impossible_membership_options_are_refused_in_a_sentence(call, message):
    with pytest.raises(UnmaskError, match=message):
        call()


@pytest.mark.parametrize("inside", [[True] * 3, [False] * 3, [True, True, False]])
def test_scores_that_say_nothing_leave_even_odds(inside):
    """The belief is finite for any number of members and control people, zero included."""
    for believed in (fit_isotonic, fit_steps):
        assert believed(np.zeros(3), np.array(inside))[1].tolist() == [0.5]
