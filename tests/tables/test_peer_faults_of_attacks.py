"""Wrong answers of other attack tools, one small table each, with the right one."""

import numpy as np
import pytest

from unmask import Posterior, Truth, audit
from unmask.measures import evaluate, realized_error, realized_success
from unmask.tables import AttributeInference, Background, ClassAttack, Knowledge, NearestNeighbor, StringLinkage, Table
from unmask.tables.knowledge import attribute_truth

# Anonymeter 1.1.0


def people(n, *, distinct, seed=0):
    rng = np.random.default_rng(seed)
    age = np.arange(n) if distinct else rng.integers(20, 25, n)
    sex = np.where(np.arange(n) < 0.6 * n, "f", "m")
    return Table.read({"age": age, "sex": sex}, quasi_identifiers="age", sensitive="sex")


def test_the_baseline_of_inference_is_the_share_of_the_mode():
    # its random guesses are re-indexed to the targets and mostly lost: 1.3 % where guessing scores 54.5 %
    table = people(1000, distinct=False)
    knowledge = Knowledge(targets=300)(table, np.arange(1000), rng=np.random.default_rng(1))
    belief = AttributeInference("sex")(table, Background(knowledge.people))
    row = evaluate(realized_success, belief, attribute_truth(table, knowledge.person, belief, "sex"))
    drawn = table.column("sex").codes[knowledge.person]
    assert row.prior == pytest.approx(np.mean(drawn == 0))
    assert 0.5 < row.prior < 0.7


def test_control_people_are_counted_among_the_people_attacked():
    # it divides the successes on control people by all control rows instead of those attacked: 5.3 % for 48.8 %
    table = people(1000, distinct=False)
    rng = np.random.default_rng(1)
    origin = rng.permutation(1000)[:500]
    control = Knowledge(targets=100)(table, np.setdiff1d(np.arange(1000), origin), rng=rng)
    belief = AttributeInference("sex")(table.take(origin), Background(control.people))
    truth = attribute_truth(table, control.person, belief, "sex")
    row = evaluate(realized_success, belief, truth, drawn_from=np.inf)
    assert row.n == 100
    assert row.low < 0.6 < row.high  # sex is independent of age: what is learned about the absent is the population's


def test_a_negative_guess_is_no_success():
    # its relative error is divided by the signed guess: guess -100 for truth 3 counts as right
    values = np.array([-100.0, 3.0])
    loss = np.abs(np.subtract.outer(values, values))
    belief = Posterior.from_dense(np.array([[1.0, 0.0]]))
    assert realized_error(loss).per_target(belief, Truth([1])) == pytest.approx([103])


@pytest.mark.parametrize(("distinct", "classes"), [(True, 200), (False, 5)])
def test_a_release_that_is_the_data_is_linked_at_classes_over_people(distinct, classes):
    # one nearest neighbor with ties broken by row order: 0.9 % on coarse columns, 26 % on nearly unique ones
    table = people(200, distinct=distinct)
    order = np.random.default_rng(2).permutation(200)
    knowledge = Knowledge(targets=None)(table, order, rng=np.random.default_rng(3))
    for attack in (ClassAttack(), NearestNeighbor()):
        result = audit(attack(table.take(order), knowledge.background), knowledge.truth).row("realized_success")
        assert result.posterior == pytest.approx(classes / 200)


def test_an_attack_that_always_succeeds_has_an_interval():
    # square root of a negative number when the release equals the original
    table = people(200, distinct=True)
    row = evaluate(realized_success, ClassAttack()(table, Background(table)), Truth(np.arange(200)), drawn_from=np.inf)
    assert (row.posterior, row.high) == (1.0, 1.0)
    assert 0.97 < row.low < 1.0


def test_two_missing_values_are_equal_and_poison_no_distance():
    # two missing values count as different, and one missing number makes the whole distance missing
    columns = {"age": ["20", "", "40"], "income": ["1", "2", "30"]}
    table = Table.read(columns, quasi_identifiers=("age", "income"))
    belief = ClassAttack()(table)
    assert belief.n_observations == 3
    nearest = NearestNeighbor()(table, Background(table.take([2])))
    assert nearest.candidate.tolist() == [2]


# anonypy 0.2.1, attack.py


def test_a_person_inside_an_interval_is_linked_to_it_and_text_is_not():
    # "28-40" never equals 35 as text, so generalization looks like protection
    release = Table.read({"age": ["28-40", "28-40", "50-60"]}, quasi_identifiers="age")
    register = Table.read({"age": ["35"]}, quasi_identifiers="age")
    truth = Truth([0])
    contained = audit(ClassAttack()(release, Background(register)), truth).row("realized_success").posterior
    as_text = audit(StringLinkage()(release, Background(register)), truth).row("realized_success").posterior
    assert contained == pytest.approx(1 / 2)
    assert as_text == pytest.approx(1 / 3)


def test_the_order_of_the_file_identifies_no_person():
    # ties go to whichever class comes first in the tree
    table = Table.read({"age": [30] * 400}, quasi_identifiers="age")
    for attack in (ClassAttack(), NearestNeighbor(), StringLinkage()):
        row = evaluate(realized_success, attack(table, Background(table)), Truth(np.arange(400)))
        assert row.posterior == pytest.approx(1 / 400)
