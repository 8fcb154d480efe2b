"""The summary answers the questions of WP216 and of the motivated intruder test, and lists what was not run."""

from __future__ import annotations

import pytest

from tests.graphs import test_network_findings
from tests.reports import test_channel, test_linkage
from tests.reports.test_html import row, sample
from tests.reports.test_study_page import measured, rows, study
from unmask.render.summary import summary
from unmask.results import Result
from unmask.studies.results_file import MissingCells

QUESTIONS = ("Singling out", "Linkability", "Inference", "Motivated intruder test", "Not run")
EVERY = {
    "table": sample,
    "linkage": test_linkage.data,
    "channel": test_channel.data,
    "graph": test_network_findings.data,
    "study": study,
}


def answers(data) -> dict[str, str]:
    """The text below each question."""
    found: dict[str, list[str]] = {}
    for line in summary(data).replace("\u00a0", " ").splitlines():
        start = next((name for name in QUESTIONS if line.startswith(name)), None)
        if start:
            question = start
            found[question] = [line]
        elif found:
            found[question].append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


@pytest.mark.parametrize("kind", EVERY)
def test_every_question_is_answered_in_at_most_25_lines(kind):
    text = summary(EVERY[kind]())
    assert len(text.splitlines()) <= 25
    # E14: an adversary who groups items answers no other question
    assert tuple(answers(EVERY[kind]())) == (("Linkability", "Not run") if kind == "linkage" else QUESTIONS)
    assert text.splitlines()[-1].endswith("not a legal verdict.")


def test_reidentification_is_singling_out_and_a_register_is_linkability():
    found = answers(sample())
    assert "all five quasi-identifiers re-identifies 2.9 % [2.3, 3.8] of 2,000 people" in found["Singling out"]
    assert "(realized success)" in found["Singling out"]
    assert "holds a register re-identifies 1.0 %" in found["Linkability"]
    assert "all five" not in found["Linkability"]
    assert "infers occupation correctly for 28.9 %" in found["Inference"]


def test_linkability_depends_on_the_source_of_a_match_and_not_on_the_name_of_the_adversary():
    postman = row(adversary="postman", linked_to="register")
    signer = row(adversary="signs the register of visitors")
    found = answers(Result(title="t", setting="w.", rows=(postman, signer)))
    assert "postman" in found["Linkability"]
    assert "visitors" not in found["Linkability"]
    told = study(
        (measured("M k=3", "register", "identity", 0.4), measured("M k=3", "b", "identity", 0.3, linked_to="x"))
    )
    assert "adversary b " in answers(told)["Linkability"]
    assert "adversary register " not in answers(told)["Linkability"]


def test_singling_out_states_the_highest_risk_and_k():
    # one in three, as the sample makes it for k = 3
    assert "highest risk is 33.3 % (knows all quasi-identifiers, k=3)" in answers(sample())["Singling out"]
    assert "at least 3 rows match each person (k, k=3)" in answers(sample())["Singling out"]


def test_clusters_and_networks_are_linkability():
    assert "name_bd breaches" in answers(test_linkage.data())["Linkability"]
    assert "shuffled labels give" in answers(test_linkage.data())["Linkability"]
    network = test_network_findings.data()
    assert "by another network" in answers(network)["Linkability"]
    assert "rematch re-identifies 38.8 %" in answers(network)["Singling out"]
    assert summary(network).count("rematch re-identifies") == 1


@pytest.mark.parametrize(
    ("kind", "questions"),
    [
        ("table", ()),
        ("channel", ("Singling out", "Linkability", "Motivated intruder test")),
        ("graph", ("Inference",)),
    ],
)
def test_a_question_without_an_adversary_is_not_tested(kind, questions):
    found = answers(EVERY[kind]())
    silent = [name for name in QUESTIONS[:4] if "Not tested: no adversary here" in found[name]]
    assert tuple(silent) == questions


def test_the_motivated_intruder_is_the_strongest_adversary_who_reidentifies():
    found = answers(study())["Motivated intruder test"]
    assert "reaches 30 % [28, 32]: the adversary anna (tables.ClassAttack: knows age)" in found  # of protected ones
    assert "Not tested: does such an attack pay?" in found
    paid = measured("M k=3", "anna", "identity", 0.4, measure="rational_access", unit="share")
    said = answers(study((*rows(), paid)))["Motivated intruder test"]
    assert "it pays to attack 40.0 % of people one by one" in said


def test_e4_the_campaign_decides_if_an_attack_pays():
    """No single attack pays, and a campaign re-identifies 63 %; a safe release is called one by its upper bound."""
    alone = measured("M k=3", "anna", "identity", 0.0, measure="rational_access", unit="share")
    for share, text in ((0.63, "re-identifies up to 63 %"), (0.0, "re-identifies no person, since no campaign pays")):
        looted = measured("M k=3", "anna", "identity", share, measure="campaign_success")
        said = answers(study((*rows(), alone, looted)))["Motivated intruder test"]
        assert f"One campaign against all people {text}" in said


def test_a_missing_gain_is_stated():
    lucky = row(measure="realized_success", prior=0.04, posterior=0.045, low=0.03, high=0.06)
    assert "No gain is shown" in summary(Result(title="t", setting="w.", rows=(lucky,)))
    assert "no gain" not in summary(sample())


def test_weaker_outcomes_are_counted_only():
    many = tuple(measured("M k=3", f"a{i}", "identity", i / 20) for i in range(1, 9))
    found = answers(study(many))["Singling out"]
    assert "a8 re-identifies" in found
    assert "a5 names" not in found
    assert "And 5 more, none of them stronger." in found


def test_missing_cells_and_failures_are_listed():
    gaps = tuple(MissingCells("census", "x", "anna", "failed", 2, f"reason {i}") for i in range(4))
    assert answers(study(missing=gaps))["Not run"].startswith(
        "Not run: 8 cells without a result; census, x, anna: 2 cells failed: reason 0; "
        "census, x, anna: 2 cells failed: reason 1; 2 more, see the report."
    )
    assert "failed: the disk was full" in answers(sample())["Not run"]
    assert answers(study())["Not run"].startswith("Not run: nothing.")
