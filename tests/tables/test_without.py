"""Leave-one-out: enumeration of a toy, the routes against each other, placebos, and protections that ignore people."""

from itertools import product

import numpy as np
import pytest

from unmask import UnmaskError
from unmask.measures import realized_success
from unmask.measures.added import belief_in_truth, most_added
from unmask.tables import (
    AddNoise,
    AttributeInference,
    BayesAttack,
    Identity,
    MechanismAttack,
    Mondrian,
    Suppress,
    Table,
)
from unmask.tables.datasets import synthetic_census
from unmask.tables.without import Asked, leave_one_out, parted, removed, rerun, rotated, taken_out

ATTACK = AttributeInference("ill")


def table_of(rows):
    ages, ills = zip(*rows, strict=True)
    return Table.read({"age": list(ages), "ill": list(ills)}, quasi_identifiers="age", sensitive="ill")


def people(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return table_of(
        zip(rng.integers(20, 40, n).tolist(), rng.choice(["a", "b"], n, p=[0.7, 0.3]).tolist(), strict=True)
    )


@pytest.mark.parametrize("measure", [belief_in_truth, realized_success], ids=lambda one: one.name)
@pytest.mark.parametrize("k", [1, 2])
def test_the_mean_is_the_excess_by_enumeration(k, measure):
    """Everybody of three drawn from four kinds of people, each in turn left out: E add = E members - E controls, where
    control people are drawn alike and attack a release of two.
    """
    everybody = table_of([(30, "a"), (30, "b"), (40, "b"), (50, "a")])  # of each kind of people one; the prior, too
    share, protection = np.array([0.4, 0.1, 0.3, 0.2]), Mondrian(k=k)

    def drawn(n):
        for rows in product(range(4), repeat=n):
            yield everybody.take(np.array(rows)), np.prod(share[list(rows)])

    added = members = controls = 0.0
    for world, p in drawn(3):
        ask = Asked(ATTACK, world, measure, everybody)
        found = rerun(protection, world, ask, range(3), rng=np.random.default_rng(0))
        added += p * found.each.mean()
        members += p * found.inside.mean()
    for world, p in drawn(2):
        release, _ = protection(world, rng=np.random.default_rng(0))
        controls += p * (Asked(ATTACK, everybody, measure)(release, np.arange(4)) @ share)
    assert added == pytest.approx(members - controls, abs=1e-9)
    assert added > 0.01


def test_removal_is_a_rerun_where_each_row_is_treated_alone():
    world = people()
    release, origin = Identity()(world, rng=np.random.default_rng(0))
    by_row = removed(ATTACK, world, release, origin)
    again = rerun(Identity(), world, Asked(ATTACK, world), by_row.person, rng=np.random.default_rng(0))
    assert by_row.inside == pytest.approx(again.inside, abs=1e-9)
    assert by_row.outside == pytest.approx(again.outside, abs=1e-9)
    assert by_row.mean()[0] > 0


def test_taking_out_is_a_rerun_where_a_row_is_judged_by_all_others_too():
    """Whoever takes rows for noisy ones; that none is lets the protection be run again."""
    world = people()
    release, origin = Identity()(world, rng=np.random.default_rng(0))
    attack = AttributeInference("ill", MechanismAttack(AddNoise(sd={"age": 2.0})))
    found = taken_out(Asked(attack, world), release, origin, np.arange(20))
    again = rerun(Identity(), world, Asked(attack, world), range(20), rng=np.random.default_rng(0))
    assert found.inside == pytest.approx(again.inside, abs=1e-9)
    assert found.outside == pytest.approx(again.outside, abs=1e-9)
    near = removed(attack, world, release, origin, np.arange(20)).outside
    assert np.abs(near - found.outside).max() > 0.001  # one record less, and all are judged otherwise


def test_removal_leaves_what_was_believed_before_of_people_who_stood_alone():
    world = table_of([(30, "a"), (30, "a"), (50, "b")])
    release, origin = Identity()(world, rng=np.random.default_rng(0))
    found = removed(ATTACK, world, release, origin)
    assert found.inside == pytest.approx([1, 1, 1])
    assert found.outside == pytest.approx([1, 1, 1 / 3])
    with pytest.raises(UnmaskError, match="prior_present"):
        removed(AttributeInference("ill", BayesAttack(prior_present=0.5)), world, release, origin)


def test_a_protection_that_ignores_people_adds_nothing():
    def constant(table, *, rng):
        return {"age": [20, 30, 40], "ill": ["a", "b", "a"]}

    world = people()
    ask = Asked(ATTACK, world)
    for found in (rotated(constant, world, ask, folds=5), rerun(constant, world, ask, range(20))):
        assert np.all(found.each == 0)


def test_leaving_out_a_stranger_is_a_placebo():
    world = table_of([(20 + i // 5, "ab"[i % 5 == 0]) for i in range(60)])
    ask, some = Asked(ATTACK, world), np.arange(10)
    own = rerun(Suppress(k=3), world, ask, some, rng=np.random.default_rng(0))
    placebo = rerun(Suppress(k=3), world, ask, some, instead=np.arange(50, 60), rng=np.random.default_rng(0))
    assert np.abs(own.each).max() > 0.1
    assert np.all(placebo.each == 0)
    with pytest.raises(UnmaskError, match="one for each"):
        rerun(Suppress(k=3), world, ask, some, instead=[1])


def test_parts_leave_everybody_out_equally_often():
    out = np.array(list(parted(23, folds=4, repeats=3, rng=np.random.default_rng(0))))
    assert out.shape == (12, 23)
    assert np.all(out.sum(axis=0) == 3)
    with pytest.raises(UnmaskError, match="folds"):
        list(parted(5, folds=6, rng=np.random.default_rng(0)))


def test_samples_and_reruns_agree_and_the_worst_are_chosen_before_they_are_judged():
    census = Table.read(
        synthetic_census(200, rng=np.random.default_rng(0)),
        quasi_identifiers=("age", "sex", "zip"),
        sensitive="diagnosis",
    )
    ask = Asked(AttributeInference("diagnosis"), census)
    found = leave_one_out(Mondrian(k=4), census, ask, some=200, worst=10, rng=np.random.default_rng(0))
    (scored, over), (again, _) = found.everybody.mean(), found.some.mean()
    assert abs(scored - again) < (over.high - over.low)
    assert np.corrcoef(found.everybody.each, found.some.each)[0, 1] > 0.5
    assert np.all(np.isin(found.worst.person, found.everybody.worst(10)))
    assert found.worst.mean()[0] > 2 * again
    assert found.worst.each == pytest.approx(found.some.each[found.worst.person])  # nothing is drawn


def test_a_private_generator_stays_below_its_ceiling():
    """A histogram with geometric noise, epsilon 0.5 for a record added or removed, drawn from."""
    cells = list(product((20, 30), "ab"))

    def noisy(table, *, rng):
        ages, ills = list(map(int, table["age"])), table["ill"].tolist()
        count = np.array([sum(1 for one in zip(ages, ills, strict=True) if one == cell) for cell in cells])
        q = 1 - np.exp(-0.5)
        count = np.maximum(count + rng.geometric(q, 4) - rng.geometric(q, 4), 0) + 1e-3
        drawn = rng.choice(4, 40, p=count / count.sum())
        return {"age": [cells[at][0] for at in drawn], "ill": [cells[at][1] for at in drawn]}

    world = table_of([(20, "a")] * 3 + [(20, "b")] + [(30, "a")] * 4)
    found = rerun(noisy, world, Asked(ATTACK, world), [3], pairs=100, rng=np.random.default_rng(0))
    assert found.error[0] < 0.05
    assert found.each[0] - 2.6 * found.error[0] <= most_added(0.5, found.inside[0])
