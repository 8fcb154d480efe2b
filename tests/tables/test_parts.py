"""Two parts of a record through a release, against loops over rows; predicates against loops over people."""

import numpy as np
import pytest

from unmask import Truth, UnmaskError
from unmask.measures import evaluate, realized_success
from unmask.measures.excess import People, difference, excess
from unmask.measures.interval import wilson
from unmask.tables import Background, ClassAttack, Linkability, Parts, SinglingOut, Table
from unmask.tables.attacks.predicates import Condition, matching
from unmask.tables.singling import singling

NAMES = ("age", "sex", "city", "job")


def people(n, seed=0, *, ages=60):
    rng = np.random.default_rng(seed)
    columns = {"age": rng.integers(18, 18 + ages, n), "sex": rng.choice(["f", "m"], n)}
    columns |= {name: rng.choice(list("abcdefghij"), n) for name in ("city", "job")}
    return Table.read(columns, quasi_identifiers=NAMES)


def parted(table, *, order):
    """Age and sex of everybody, and city and job in another order."""
    first, second = (
        Table.read({name: table[name] for name in names}, quasi_identifiers=names) for names in (NAMES[:2], NAMES[2:])
    )
    return Parts(first, other=second.take(order))


@pytest.mark.parametrize("link", [ClassAttack(), Linkability().link], ids=repr)
def test_parts_go_together_as_rows_resemble_both(link):
    release, targets = people(60), people(25, seed=1)
    order = np.random.default_rng(2).permutation(25)
    known = parted(targets, order=order)
    belief = Linkability(link)(release, known)
    one, other = (link(release, Background(part)).to_dense() for part in (known.people, known.other))
    for a in range(25):
        weight = np.array([sum(one[a, r] * other[b, r] for r in range(60)) for b in range(25)])
        expected = weight / weight.sum() if weight.sum() else np.zeros(25)
        assert belief.to_dense()[a] == pytest.approx(expected)
        assert belief.unlisted[belief.observation[a]] == (weight.sum() == 0)


def test_who_is_in_the_original_is_put_together_and_others_hardly():
    table = people(400, ages=3000)
    release, order = table.take(slice(0, 200)), np.random.default_rng(3).permutation(400)
    belief = Linkability()(release, parted(table, order=order))
    place = np.argsort(order)
    inside = np.arange(400) < 200
    truth = Truth(place)
    sides = (People.of(realized_success, belief, truth, among=who) for who in (inside, ~inside))
    found = excess(realized_success, *sides)
    assert found.members > 0.2 > 0.05 > found.control
    assert found.low > 0.15


def test_a_release_of_nobody_says_nothing():
    table = people(100)
    alike = Table.read({name: [table[name][0]] * 50 for name in NAMES}, quasi_identifiers=NAMES)
    belief = Linkability()(alike, parted(table, order=np.arange(100)))
    assert evaluate(realized_success, belief, Truth(np.arange(100))).posterior == pytest.approx(0.01)
    with pytest.raises(UnmaskError, match="one part"):
        Linkability()(alike, Background(table))


# --- singling out --------------------------------------------------------------------------------------------------


def holds(table, row, one):
    value = table[one.column][row]
    if one.relation == "is":
        return value == one.label
    return float(value) >= float(one.label) if one.relation == "at least" else float(value) <= float(one.label)


def literal_matching(table, predicates):
    return [sum(all(holds(table, row, one) for one in each) for row in range(table.n_rows)) for each in predicates]


def test_predicates_match_as_they_read():
    release, others = people(80), people(50, seed=1)
    predicates = SinglingOut(guesses=60)(release, rng=np.random.default_rng(0))
    assert matching(release, predicates).tolist() == literal_matching(release, predicates)
    assert matching(others, predicates).tolist() == literal_matching(others, predicates)


def test_what_is_guessed():
    release = people(80)
    predicates = SinglingOut(guesses=200, columns=(2, 3))(release, rng=np.random.default_rng(0))
    assert len(set(predicates)) == len(predicates)
    single = {one for one, *rest in predicates if not rest}
    once = {label for label in release["age"] if sum(label == other for other in release["age"]) == 1}
    ages = sorted(release["age"], key=float)
    assert {one.label for one in single if one.relation == "is"} == once
    assert {one for one in single if one.relation != "is"} == {
        Condition("age", "at most", ages[0]),
        Condition("age", "at least", ages[-1]),
    }
    several = tuple(each for each in predicates if len(each) > 1)
    assert {len(each) for each in several} <= {2, 3}
    assert literal_matching(release, several) == [1] * len(several)
    median = np.median([float(age) for age in ages])
    for one in (one for each in several for one in each if one.column == "age"):
        assert one.relation == ("at least" if float(one.label) >= median else "at most")


def test_cells_of_several_values_say_nothing():
    columns = {"age": ["[20, 30]", "[20, 30]", "41"], "sex": ["f", "m", "{f, m}"]}
    release = Table.read(columns, quasi_identifiers=("age", "sex"))
    predicates = SinglingOut(guesses=50, columns=(2, 2))(release, rng=np.random.default_rng(0))
    assert {one.label for each in predicates for one in each} <= {"41", "f", "m"}
    assert all(len(each) == 1 for each in predicates)


def test_members_are_singled_out_and_control_people_as_often_as_by_chance():
    everybody = people(6000, ages=4000)
    members, control = everybody.take(slice(0, 200)), everybody.take(slice(200, 600))
    reference = everybody.take(slice(600, 6000))
    predicates = SinglingOut()(members, rng=np.random.default_rng(0))
    found = singling(predicates, members, control, reference, rng=np.random.default_rng(1))
    assert (found.people, found.guesses + found.trivial) == (200, len(predicates))
    assert found.found == 1  # the original itself
    assert found.control < 0.1
    assert found.baseline < 0.1
    expected = difference(*((p, *wilson(p, found.guesses)) for p in (found.found, found.control)))
    assert (found.low, found.high) == pytest.approx(expected)
    assert found.baseline == pytest.approx(200 * (1 / 2000) * (1 - 1 / 2000) ** 199)
    assert found.guesses == sum(2000 * n <= 5400 for n in matching(reference, predicates))


def test_a_predicate_of_many_is_no_success():
    table = people(100)
    predicates = ((Condition("sex", "is", "f"),),)
    with pytest.raises(UnmaskError, match="holds for more than 1 of 1000 people"):
        singling(predicates, table, table, table, rng=np.random.default_rng(0))
