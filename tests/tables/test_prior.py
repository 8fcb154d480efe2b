"""The belief before the release depends on knowledge besides it, and is the same for every release."""

import numpy as np
import pytest

from unmask.scoring import score
from unmask.studies.cells import run_cell
from unmask.studies.reading import read_plan
from unmask.tables import Background, criteria
from unmask.tables.attacks import AttributeInference
from unmask.tables.audit.attacked_release import OWN_PRIOR
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.table_audit import audit_tables
from unmask.tables.knowledge import Knowledge, attribute_truth
from unmask.tables.protections.suppression import Suppress
from unmask.tables.table import Table


def people(q, s):
    return Table.read({"q": list(q), "s": list(s)}, quasi_identifiers="q", sensitive="s")


ORIGINAL = people("a" * 10 + "bcdefghij", "x" * 10 + "y" * 9)


def released(table=ORIGINAL):
    return Suppress(k=5)(table, rng=np.random.default_rng(0))


def test_t5_suppression_does_not_move_the_prior_of_an_inference():
    release, _ = released()
    belief = AttributeInference("s")(release, Background(population=ORIGINAL))
    row = score(belief).row("success_probability")
    assert (row.prior, row.posterior) == (pytest.approx(10 / 19), pytest.approx(1.0))
    assert score(AttributeInference("s")(release)).row("success_probability").prior == 1.0  # no other source was named


def test_t5_neither_release_nor_sample_moves_the_prior_of_an_audit():
    release, origin = released()
    sample = np.arange(8, 19)
    result = audit_tables(
        {"suppressed": release, "sample": ORIGINAL.take(sample)},
        AuditorKnowledge(ORIGINAL, origins={"suppressed": origin, "sample": sample}),
    )
    rows = [row for row in result.rows if row.target == "s"]
    priors = {(row.release, row.measure): row.prior for row in rows if row.measure.endswith(("success", "probability"))}
    assert set(np.round(list(priors.values()), 12)) == {round(10 / 19, 12)}
    assert not any("prior" in row.note for row in rows)


def test_t5_an_audit_without_the_original_says_whose_prior_it_is():
    result = audit_tables({"r": released()[0]})
    rows = [row for row in result.rows if row.target == "s"]
    assert {row.note for row in rows} == {OWN_PRIOR}
    assert not any(row.note for row in result.rows if row.target == "identity")
    assert any("Its prior is that of the release" in sentence for sentence in result.assumptions)


def test_t5_an_unreleased_value_is_a_candidate_for_adversaries_who_know_the_population():
    original = people("aaaab", "xxxyz")
    release = people("aaaa", "xxxy")  # read anew: it does not know z
    knowledge = Knowledge(None)(original, rng=np.random.default_rng(0))
    belief = AttributeInference("s")(release, Background(knowledge.people))
    assert belief.candidate_label == ("x", "y")
    belief = AttributeInference("s")(release, knowledge.background)
    assert belief.candidate_label == ("x", "y", "z")
    assert np.exp(belief.log_prior) == pytest.approx([3 / 5, 1 / 5, 1 / 5])
    truth = attribute_truth(original, knowledge.person, belief, "s")
    assert sorted(truth.candidate.tolist()) == [0, 0, 0, 1, 2]


def test_t5_those_who_are_believed_absent_have_the_values_of_the_population():
    release, _ = released()
    belief = AttributeInference("s")(release, Background(people("b", "y"), ORIGINAL))
    assert np.exp(belief.log_probability) == pytest.approx([10 / 19, 9 / 19])


def test_t5_a_value_that_the_population_lacks_weighs_half_a_person():
    belief = AttributeInference("s")(people("aa", "xz"), Background(population=people("aaa", "xxx")))
    assert np.exp(belief.log_prior) == pytest.approx([3 / 3.5, 0.5 / 3.5])


def test_t5_closeness_is_to_the_table_before_the_release_where_it_is_known():
    release, _ = released()
    assert criteria.evaluate(release).t_equal == 0.0
    result = criteria.evaluate(release, reference=ORIGINAL)
    assert result.t_equal == pytest.approx(9 / 19)
    assert result.prior_error == pytest.approx(9 / 19)
    assert (criteria.evaluate(release).reference, result.reference) == ("release", "original")


def test_t5_a_release_with_values_of_its_own_is_compared_with_itself():
    result = criteria.evaluate(people("aabb", "xxyw"), reference=ORIGINAL)
    assert result.reference == "release"
    assert result == criteria.evaluate(people("aabb", "xxyw"))


def test_t5_an_audit_takes_closeness_from_the_original_and_says_so():
    release, origin = released()
    result = audit_tables({"r": release}, AuditorKnowledge(ORIGINAL, origins={"r": origin})).criteria["r"]
    assert (result["reference"], result["t_equal"]) == ("original", pytest.approx(9 / 19))
    assert audit_tables({"r": release}).criteria["r"]["reference"] == "release"


PLAN = """
[[data]]
use = "tables.file"
file = "people.csv"
quasi_identifiers = ["q"]
sensitive = ["s"]
[[protections]]
use = "tables.Suppress"
with = { k = 5 }
[[adversaries]]
use = "tables.AttributeInference"
with = { sensitive = "s" }
knows = { targets = 19 }
"""


def test_t5_a_study_has_one_prior_before_and_after_the_truth_is_known(tmp_path):
    lines = [f"{q},{s}" for q, s in zip("a" * 10 + "bcdefghij", "x" * 10 + "y" * 9, strict=True)]
    (tmp_path / "people.csv").write_text("\n".join(["q,s", *lines]) + "\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    (cell,) = read_plan(tmp_path / "plan.toml").cells()
    priors = {row.measure: row.prior for row in run_cell(cell)}
    assert priors["success_probability"] == pytest.approx(10 / 19)
    assert priors["realized_success"] == pytest.approx(10 / 19)


def test_a_population_without_the_column_gives_no_prior():
    release, origin = released()
    bare = Table.read({"q": list("a" * 10 + "bcdefghij")}, quasi_identifiers="q")
    with pytest.raises(ValueError, match="column 's' is not in the table"):
        AttributeInference("s")(release, Background(population=bare))
    rows = audit_tables({"r": release}, AuditorKnowledge(bare, origins={"r": origin})).rows
    assert {row.note for row in rows if (row.adversary, row.target) == ("prosecutor", "s")} == {OWN_PRIOR}
    assert {row.target for row in rows if row.measure == "realized_success"} == {"identity"}
