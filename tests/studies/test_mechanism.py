"""An adversary of a study who knows the protection gets the protection of each release."""

import numpy as np
import pytest

from unmask.core.errors import NotRunError, UnmaskError
from unmask.measures import evaluate, success_probability
from unmask.studies.cells import run_cell
from unmask.studies.reading import read_plan
from unmask.tables import PRAM, AttributeInference, Knowledge, MechanismAttack, Table
from unmask.tables.datasets import synthetic_census

PLAN = """
[[data]]
use = "tables.synthetic_census"
with = { n = 400 }
quasi_identifiers = ["age", "sex"]
sensitive = ["diagnosis"]
[[protections]]
use = "tables.PRAM"
with = { keep = { age = 0.7 } }
[[protections]]
use = "tables.Mondrian"
with = { k = 5 }
[[adversaries]]
use = "tables.MechanismAttack"
knows = { targets = 50 }
[[adversaries]]
use = "tables.AttributeInference"
with = { sensitive = "diagnosis", link = { use = "tables.MechanismAttack" } }
knows = { targets = 50 }
"""


def cells_of(tmp_path, text, **settings):
    (tmp_path / "plan.toml").write_text(text)
    return read_plan(tmp_path / "plan.toml", **settings).cells()


def test_one_adversary_knows_the_mechanism_of_every_cell(tmp_path):
    identity, value, *boxes = cells_of(tmp_path, PLAN)
    census = Table.read(
        synthetic_census(400, rng=identity.rng("dataset")), quasi_identifiers=("age", "sex"), sensitive="diagnosis"
    )
    pram = PRAM(keep={"age": 0.7})
    release, _ = pram(census, rng=identity.rng("protection", identity.protection.content))
    knowledge = Knowledge(targets=50)(census, rng=np.random.default_rng(identity.seed))
    assert knowledge.background.in_general.n_rows == 350
    for cell, attack in (
        (identity, MechanismAttack(pram)),
        (value, AttributeInference("diagnosis", link=MechanismAttack(pram))),
    ):
        actual = {row.measure: row.posterior for row in run_cell(cell)}
        expected = evaluate(success_probability, attack(release, knowledge.background), None)
        assert actual["success_probability"] == pytest.approx(expected.posterior)
    assert all(run_cell(cell) for cell in boxes)


def test_a_protection_that_says_nothing_of_itself_cannot_be_attacked_so(tmp_path):
    (tmp_path / "mine_shuffled.py").write_text(
        "from unmask.tables import Table\n\n\nclass Mine:\n    'Nothing.'\n\n"
        "    def __call__(self, population: Table, *, rng=None):\n"
        "        return population, __import__('numpy').arange(population.n_rows)\n"
    )
    plan = PLAN.replace('"tables.PRAM"\nwith = { keep = { age = 0.7 } }', '"mine_shuffled:Mine"')
    with pytest.raises(UnmaskError, match="names code, and a document runs none by itself"):
        cells_of(tmp_path, plan)
    with_mechanism, _, asked_no_mechanism, *_ = cells_of(tmp_path, plan, allow_code=True)
    with pytest.raises(UnmaskError, match="row_kernel"):
        run_cell(with_mechanism)
    assert run_cell(asked_no_mechanism)


NEIGHBOR = """
[[adversaries]]
use = "tables.ClassAttack"
knows = { targets = 200 }
[[adversaries]]
use = "tables.AttributeInference"
with = { sensitive = "diagnosis" }
knows = { targets = 200, error = 0.4 }
"""


@pytest.mark.parametrize(
    ("protection", "asked_question"),
    [
        ('use = "tables.PRAM"\nwith = { keep = { age = 0.7 } }', False),
        ('use = "tables.AddNoise"\nwith = { sd = { age = 0.6 } }', False),
        ('use = "tables.PRAM"\nwith = { keep = { age = 0.97 } }', True),
        ('use = "tables.SuppressCells"\nwith = { k = 3 }', True),
        ('use = "tables.Mondrian"\nwith = { k = 5 }', True),
    ],
)
def test_attacks_that_take_perturbed_cells_for_true_are_not_run(tmp_path, protection, asked_question):
    plan = PLAN.partition("[[protections]]")[0] + f"[[protections]]\n{protection}\n" + NEIGHBOR
    for cell in cells_of(tmp_path, plan):
        if asked_question:
            assert run_cell(cell)
        else:
            with pytest.raises(NotRunError, match=r"do not match their own rows, by age: .*Use tables.MechanismAttack"):
                run_cell(cell)
