"""One registry: the name of a number is the same in a row, in Python and in a plan."""

import subprocess
import sys

import numpy as np
import pytest

from unmask import Posterior, measures
from unmask.measures import Measure
from unmask.measures.registry import CRITERIA, MEASURES, UTILITIES, declare, described, needs_truth, quantity


def test_the_name_of_a_measure_is_its_name_in_python():
    for name in measures.__all__:
        if isinstance(value := getattr(measures, name), Measure):
            assert value is MEASURES[value.name]
            assert value.name == name or name in ("bayes_vulnerability", "mutual_information")


def test_the_fields_words_are_the_same_objects():
    belief = Posterior.from_dense(np.array([[0.75, 0.25], [0.25, 0.75]]))
    assert measures.bayes_vulnerability is measures.success_probability
    assert measures.bayes_vulnerability(belief) == pytest.approx(0.75)
    assert measures.mutual_information is measures.information_gain_bits
    assert measures.mutual_information(belief) == pytest.approx(0.1887, abs=1e-4)


def test_everything_has_a_label_and_a_meaning():
    for name, entry in (item for catalog in (MEASURES, CRITERIA, UTILITIES) for item in catalog.items()):
        assert entry.label, name
        assert entry.meaning, name
        assert entry.name == name
        assert entry.range[0] < entry.range[1], name


@pytest.mark.parametrize("name", ["realized_success_at_7", "renyi_entropy_2_bits", "confidence_set_size_0.9"])
def test_a_measure_with_a_number_in_its_name_is_found(name):
    result = described(name)
    assert isinstance(result, Measure)
    assert result.name == name


def test_both_sides_of_a_quantity_meet_under_one_name():
    assert quantity("realized_success") == quantity("success_probability") == "success_probability"
    assert quantity("realized_error") == "estimation_error"
    assert [needs_truth(name) for name in ("rank", "recall", "breached", "shannon_entropy_bits")] == [True] * 3 + [
        False
    ]


def test_a_measure_of_ones_own_is_declared_the_same_way(monkeypatch):
    monkeypatch.setitem(MEASURES, "my_own", None)
    measure_defined = Measure("my_own", "My own", "what I count", self_assessed=lambda belief: belief.unlisted)
    assert declare(measure_defined) is described("my_own")


WALK = """
import importlib, pkgutil
from unmask.measures import registry

kinds = [registry.MEASURES, registry.CRITERIA, registry.UTILITIES, registry.FAMILIES]
known = [{*kind} for kind in kinds]
for domain in ("tables", "graphs", "linkage", "channels", "economics"):
    package = importlib.import_module(f"unmask.{domain}")
    for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(one.name)
assert known == [{*kind} for kind in kinds], [{*kind} - before for kind, before in zip(kinds, known)]
"""


def test_a_report_knows_every_measure_without_the_domain_that_takes_it():
    """It reads the rows of a study in a process of its own: what is declared elsewhere would have no words there."""
    subprocess.run([sys.executable, "-c", WALK], check=True)
