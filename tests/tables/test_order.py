"""The order attack finds releases in the order of their source, and nothing in a release of ours."""

from __future__ import annotations

from itertools import groupby, permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask import ABSENT, Truth, audit
from unmask.render.terminal import list_other_findings
from unmask.tables import Background, Identity, Mondrian, OrderAttack, Suppress, Table, datasets
from unmask.tables.attacks import order as attack
from unmask.tables.attacks.order import is_sorted

N = 600


def people(n=N, seed=5, *, sort_key=None):
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.integers(18, 90, n),
        "sex": rng.choice(["f", "m"], n),
        "zip": rng.integers(100, 140, n),
        "illness": rng.choice(list("abcdef"), n),
    }
    table = Table.read(columns, quasi_identifiers=("age", "sex", "zip"), sensitive="illness")
    return table if sort_key is None else table.take(np.argsort(table.column(sort_key).codes, kind="stable"))


def in_source_order(source, k=10):
    """A release of the source whose row i is person i."""
    release, origin = Mondrian(k=k)(source)
    return release.take(np.argsort(origin))


def fit_order(attack, release, origin, source):
    """Return the adversary's announced and realized success."""
    record = np.full(source.n_rows, ABSENT)
    record[origin] = np.arange(len(origin))
    result = audit(attack(release, Background(source)), Truth(record), drawn_from=np.inf)
    return result.row("success_probability"), result.row("realized_success")


def finds_nothing(attack, release, origin, source):
    return all(
        row.posterior == pytest.approx(1 / release.n_rows, rel=1e-6)
        for row in fit_order(attack, release, origin, source)
    )


# --- planted leaks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [np.arange(N), np.arange(N)[::-1]], ids=["as it is", "reversed"])
def test_a_release_that_was_not_shuffled_is_read_off(order):  # T1
    source = people()
    announced, realized = fit_order(OrderAttack(), in_source_order(source).take(order), order, source)
    assert announced.posterior > 0.99
    assert realized.posterior == 1


@pytest.mark.parametrize("n_rows", [1, N // 2])
def test_first_rows_in_order_do_not_make_an_order(n_rows, monkeypatch):
    """The rows that are looked at first fit, and the others do not."""
    monkeypatch.setattr(attack, "N_PROBE_ROWS", n_rows)
    source = people()
    order = np.concatenate([np.arange(N // 2), N // 2 + np.random.default_rng(4).permutation(N - N // 2)])
    announced, realized = fit_order(OrderAttack(), in_source_order(source).take(order), order, source)
    assert (announced.posterior, realized.posterior) == pytest.approx((1 / N, 1 / N))


def test_rows_that_were_left_out_do_not_hide_the_order():
    source = people()
    release, origin = Suppress(k=2)(source.take(np.arange(N)))
    assert release.n_rows < N
    rows = np.sort(origin)
    back = release.take(np.argsort(origin))
    announced, realized = fit_order(OrderAttack(), back, rows, source)
    assert announced.posterior == pytest.approx(len(rows) / N, abs=0.01)  # nobody is sought who was left out
    assert realized.posterior == pytest.approx(len(rows) / N)


def test_a_release_sorted_by_exact_ages_gives_people_of_one_age_alike():
    source = people()
    order = np.lexsort((np.random.default_rng(8).random(N), source.column("age").codes))
    announced, realized = fit_order(OrderAttack(), in_source_order(source).take(order), order, source)
    assert announced.low <= realized.posterior <= announced.high
    assert announced.posterior > 0.2


def test_classes_written_by_a_stable_sort_keep_the_order_of_the_source():
    source = people()
    release = in_source_order(source)
    order = np.argsort(release.classes.of_row, kind="stable")
    assert not is_sorted(release.take(order))
    announced, realized = fit_order(OrderAttack(), release.take(order), order, source)
    assert announced.posterior > 0.4  # inside the classes, chance is as likely
    assert realized.posterior == 1


# --- nothing to find --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sort_key", [None, "age", "sex", "zip", "illness"])
@pytest.mark.parametrize("k", [2, 10, 50])
def test_the_order_of_our_release_reveals_nothing(sort_key, k):
    source = people(sort_key=sort_key)
    assert finds_nothing(OrderAttack(), *Mondrian(k=k)(source), source)


def test_the_order_of_our_release_reveals_nothing_after_writing_and_reading(tmp_path):
    source = people(sort_key="age")
    release, origin = Mondrian(k=5)(source)
    release.write(tmp_path / "release.csv")
    again = Table.read(tmp_path / "release.csv", quasi_identifiers=("age", "sex", "zip"), sensitive="illness")
    assert finds_nothing(OrderAttack(), again, origin, source)


@pytest.mark.parametrize("sort_key", [None, "age"])
@pytest.mark.parametrize("protection", [Mondrian(k=5), Identity()])
def test_a_secret_shuffle_reveals_nothing(sort_key, protection):
    source = people(sort_key=sort_key)
    release, origin = protection(source)
    order = np.random.default_rng().permutation(N)
    assert finds_nothing(OrderAttack(), release.take(order), origin[order], source)


def test_releases_of_adult_tell_nothing_by_their_order():  # the published claim: k = 2, 10, 50
    adult = datasets.adult()
    for k in (2, 10, 50):
        assert finds_nothing(OrderAttack(), *Mondrian(k=k)(adult), adult)


def test_a_sample_is_not_put_in_order():
    source = people()
    rows = np.sort(np.random.default_rng(4).choice(N, N // 2, replace=False))
    assert OrderAttack()(in_source_order(source).take(rows), Background(source)).provenance["order"] == "sampled"


# --- sorted releases --------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=7), st.permutations([0, 1, 2]))
def test_sorting_by_any_priority_is_recognized(rows, priority):
    ordered = sorted(rows, key=lambda row: tuple(row[index] for index in priority))
    columns = {name: [row[index] for row in ordered] for index, name in enumerate("abc")}
    assert is_sorted(Table.read(columns, quasi_identifiers=tuple("abc")))


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=1, max_size=5))
def test_sortedness_is_that_of_some_sort(rows):
    sorts = [
        sorted(rows, key=lambda row: tuple(sign * row[index] for index, sign in zip(priority, signs, strict=True)))
        for priority in ((0, 1), (1, 0))
        for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1))
    ]
    columns = {name: [row[index] for row in rows] for index, name in enumerate("ab")}
    assert is_sorted(Table.read(columns, quasi_identifiers=("a", "b"))) == (rows in sorts)


# --- the arithmetic, against an enumeration of all permutations -----------------------------------------------------


def explanations(ages, classes, observed):
    """Each explanation as {places of the people: probability}, with its prior; None for chance."""
    n = len(ages)
    orders = [(tuple(range(n)), None), (tuple(reversed(range(n))), None)]
    for sign in (1, -1):
        by_age = tuple(sorted(range(n), key=lambda i: sign * ages[i]))
        orders += [(by_age, None), (by_age, [ages[i] for i in by_age])]
    for order, ties in orders:
        ways = [
            way for way in permutations(order) if (way == order if ties is None else [ages[i] for i in way] == ties)
        ]
        yield 1 / 3 / len(orders), {tuple(way.index(i) for i in range(n)): 1 / len(ways) for way in ways}
    blocks = [key for key, _ in groupby(observed)]
    if len(blocks) == len(set(observed)) < n:
        member = {block: [i for i in range(n) if classes[i] == block] for block in blocks}
        share = 1 / factorial(len(blocks))
        rows = {block: [index for index in range(n) if observed[index] == block] for block in blocks}
        inside = {i: rows[block][member[block].index(i)] for block in blocks for i in member[block]}
        yield 1 / 6, {tuple(inside[i] for i in range(n)): share}
        alike = [
            places for places in permutations(range(n)) if all(classes[i] == observed[places[i]] for i in range(n))
        ]
        yield 1 / 6, (None, {places: share / len(alike) for places in alike})
    orders_possible = list(permutations(range(n)))
    yield 1 / 3, (None, dict.fromkeys(orders_possible, 1 / len(orders_possible)))


def enumerated(ages, classes, contents):
    """(n, n) the belief by Bayes' rule over all permutations; contents : (class, secret) of each row."""
    n = len(ages)
    released = [content[0] for content in contents]
    ways = [way for way in permutations(contents) if all(way[i][0] == classes[i] for i in range(n))]
    belief, total = np.zeros((n, n)), 0.0
    for prior, explained in explanations(ages, classes, released):
        by_chance = isinstance(explained, tuple)
        for places, probability in (explained[1] if by_chance else explained).items():
            fitting = sum(all(way[i] == contents[places[i]] for i in range(n)) for way in ways) / len(ways)
            mass = prior * probability * fitting
            total += mass
            for i in range(n):
                if by_chance:
                    belief[i] += mass / n
                else:
                    belief[i, places[i]] += mass
    return belief / total


@pytest.mark.parametrize(
    ("ages", "secrets", "order"),
    [
        ([31, 57, 22, 44], "bdac", [0, 1, 2, 3]),
        ([31, 57, 22, 44, 23], "abcda", [3, 1, 0, 4, 2]),
        ([31, 31, 22, 44, 23], "bcbda", [2, 4, 1, 0, 3]),
        ([31, 57, 22, 44, 23], "cbade", [1, 3, 0, 2, 4]),
        ([22, 22, 31, 57], "dcba", [0, 2, 1, 3]),
    ],
)
def test_the_belief_is_bayes_rule_over_all_permutations(ages, secrets, order):
    classes = ["[20, 29]" if age < 30 else "[30, 59]" for age in ages]
    contents = [(classes[i], secrets[i]) for i in order]
    columns = {"age": [cell for cell, _ in contents], "secret": [secret for _, secret in contents]}
    release = Table.read(columns, quasi_identifiers="age", sensitive="secret")
    belief = OrderAttack()(release, Background(Table.read({"age": ages}, quasi_identifiers="age")))
    assert belief.provenance["order"] != "sorted"
    dense = np.zeros((len(ages), len(ages)))
    owner = np.repeat(np.arange(belief.n_observations), belief.row_length)
    dense[owner, belief.candidate] = np.exp(belief.log_probability)
    n_unreleased = len(ages) - belief.row_length
    dense += np.where(dense == 0, (belief.unlisted / np.maximum(n_unreleased, 1))[:, None], 0.0)
    assert dense[belief.observation] == pytest.approx(enumerated(ages, classes, contents), abs=1e-6)


def test_if_the_order_reveals_most_a_sentence_next_to_the_table_says_so():
    source = people()

    sentences_beside = list_other_findings(audit(in_source_order(source), original=source, origin=np.arange(N)))

    assert any("order of the rows re-identifies 100" in sentence for sentence in sentences_beside)
