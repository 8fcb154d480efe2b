"""The first screen of a study: verdict on the best protection, people at risk, and alternatives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress

from unmask.core.pareto import find_pareto_front
from unmask.findings.conditions import make_item
from unmask.findings.row_words import row_value
from unmask.findings.sentences import describe_result, severity
from unmask.findings.verdict_words import NO_POLICY, name_requirement
from unmask.first_document import FIRST_POLICY
from unmask.measures.registry import SHARES
from unmask.policy.verdict import State
from unmask.results import Advice, Alternative, AtRisk, Decision, DecisionItem, Fact, StudyRow
from unmask.results.formats import SPACE, number
from unmask.results.names import IDENTITY
from unmask.results.rows import ERRORS
from unmask.results.suppression import FEWEST, mark_people
from unmask.results.words import UNITLESS, format_share, plural, release_name
from unmask.studies.choice import Option
from unmask.studies.facts import StudyFacts
from unmask.studies.sentences import format_utility

N_ALTERNATIVES = 4
"""Number of protections in the advice: the best one and the next three."""

COUNTED_TARGETS = {
    "identity": "of {n} people are re-identified by {adversary}",
    "linkage": "of {n} subjects are breached by {adversary}",
}
"""Target whose share is a count of people or subjects -> words after this count."""

ANSWERS: dict[State, str] = {"met": "Acceptable", "missed": "Not acceptable", "untested": "Not decided"}

NO_LIMIT = ("Add a [[policy]] to the document of the study, or use the command under \u201cWhat next?\u201d.",)


def protection_to_show(facts: StudyFacts) -> tuple[str, str]:
    """Return the dataset and protection of the first screen: the best under the policy, otherwise the safest."""
    dataset = next((name for name in facts.datasets if facts.best_option(name)), facts.datasets[0])
    option = facts.best_option(dataset)
    return dataset, _find_safest(facts, dataset) if option is None else option.protection


def _find_safest(facts: StudyFacts, dataset: str) -> str:
    """Return the protection with the smallest success of the strongest adversary."""
    names = dict.fromkeys(key[0] for key in facts.mentioned[dataset])
    rows = ((name, facts.strongest(dataset, name)) for name in names)
    risks = {name: severity(row) for name, row in rows if row is not None}
    return min(risks, key=lambda name: risks[name], default=facts.protections[0])


# --- is it acceptable? -----------------------------------------------------------------------------------------------


def make_decision(facts: StudyFacts) -> Decision:
    """Return the verdict on the best protection of each dataset, and the number of failed cells."""
    options = [option for dataset in facts.datasets if (option := facts.best_option(dataset)) is not None]
    decision = _judge(facts, options) if options else Decision("none", *NO_POLICY, paragraphs=NO_LIMIT)
    if n_failed := sum(gap.cells for gap in facts.gaps if gap.status in ("failed", "timed out")):
        failed = f"Cells of the study that failed: {n_failed}. Their numbers are missing here."
        return replace(decision, sentence=f"{decision.sentence} {failed}")
    return decision


def _judge(facts: StudyFacts, options: Sequence[Option]) -> Decision:
    n_met = sum(option.state == "met" for option in options)
    n_untested = sum(option.state == "untested" for option in options)
    state: State = "met" if n_met == len(options) else "untested" if n_met + n_untested == len(options) else "missed"
    if len(options) > 1:
        sentence = f"under {facts.policy}: {n_met} of {len(options)} datasets have an acceptable protection."
        return Decision(state, ANSWERS[state], sentence, items=tuple(map(_dataset_item, options)))
    best_option = options[0]
    items = tuple(make_item(assessment, FEWEST) for assessment in best_option.assessments)
    question = f"Is {release_name(best_option.protection)} acceptable?"
    return Decision(state, ANSWERS[state], _describe_options(facts, best_option, state), question, items)


def _describe_options(facts: StudyFacts, best_option: Option, state: State) -> str:
    options = [option for option in facts.options if option.dataset == best_option.dataset]
    n_met, protections = sum(option.state == "met" for option in options), plural(len(options), "protection")
    if n_met:
        name = release_name(best_option.protection)
        return f"under {facts.policy} with {name}. Every condition is met by {n_met} of {protections}."
    if state == "untested":
        return f"under {facts.policy}, no protection is known to meet every condition, of {protections}."
    return f"under {facts.policy}, no protection meets every condition, of {protections}."


def _dataset_item(option: Option) -> DecisionItem:
    """Return a line about a dataset: the best protection, and its worst condition."""
    order = {"missed": 2, "untested": 1, "met": 0}
    worst = max(option.assessments, key=lambda item: (order[item.state], item.ratio or 0.0))
    finding = f"protected with {release_name(option.protection)}: {_describe_state(option)}"
    line, about = make_item(worst, FEWEST), name_requirement(worst.requirement)
    return replace(line, state=option.state, name=option.dataset, finding=finding, about=about)


def _describe_state(option: Option) -> str:
    if option.n_missed:
        if option.worst_ratio > 1:
            return f"missed conditions: {option.n_missed}, up to {number(option.worst_ratio, 1)} times the limit"
        return f"missed conditions: {option.n_missed}"
    if option.state == "met":
        return "every condition met"
    return f"not known: {next(iter(option.gaps), 'a condition is not tested')}"


# --- who is at risk? -------------------------------------------------------------------------------------------------


def make_headline(facts: StudyFacts, dataset: str, protection: str) -> str:
    """Return a sentence on the strongest adversary against a protection."""
    row = facts.strongest(dataset, protection)
    if row is None:
        return "Nothing is known: no cell has a result with a measure of success or error."
    name, result = release_name(protection), describe_result(row)
    if len(facts.datasets) > 1:
        return f"With {name} on {release_name(dataset)} the adversary \u201c{row.adversary}\u201d {result}."
    return f"With {name} the adversary \u201c{row.adversary}\u201d {result}."


def make_risk(facts: StudyFacts, dataset: str, protection: str) -> AtRisk | None:
    """Return the people at risk from the strongest adversary; a mean value if people cannot be counted."""
    row = facts.strongest(dataset, protection)
    return None if row is None else AtRisk(*_describe_risk(row), tuple(_list_facts(facts, row)))


def _describe_risk(row: StudyRow) -> tuple[str, str]:
    """Return a figure, and the words that explain it."""
    is_share = row.unit in SHARES
    if row.target in COUNTED_TARGETS and is_share and math.isfinite(row.posterior):
        words = COUNTED_TARGETS[row.target].format(n=f"{row.n:,}", adversary=row.adversary)
        return mark_people(round(row.posterior * row.n)), words
    if is_share:
        return _format_value(row), f"of {row.n:,} cases, by {row.adversary}: {row.target}"
    if row.measure in ERRORS:
        return _format_value(row), f"is the mean error of {row.adversary}, over {row.n:,} cases"
    return _format_value(row), f"is what {row.adversary} reaches, over {row.n:,} cases"


def _list_facts(facts: StudyFacts, row: StudyRow) -> Iterator[Fact]:
    yield Fact("With", row.release)
    if len(facts.datasets) > 1:
        yield Fact("On", row.dataset)
    bare = None if row.release in facts.unprotected else facts.find_unprotected(row)
    if bare is not None:
        yield Fact("Unprotected", _format_value(bare))
    if math.isfinite(row.worst) and row.unit in SHARES and row.measure == "success_probability":
        yield Fact("Highest risk", row_value(replace(row, posterior=row.worst, low=None, high=None)))


def _format_value(row: StudyRow) -> str:
    """Return the value of a row with its unit."""
    return row_value(row) + ("" if row.unit in SHARES or row.unit in UNITLESS else f"{SPACE}{row.unit}")


# --- what next? ------------------------------------------------------------------------------------------------------


def make_advice(facts: StudyFacts, dataset: str) -> Advice:
    """Return the best protection and the next three; for several datasets, the best protection of each.

    Without a policy, these are the protections on the Pareto front of the two displayed figures.
    """
    command = "unmask choose RESULTS"
    best_options = [option for name in facts.datasets if (option := facts.best_option(name)) is not None]
    if len(best_options) > 1:
        options = tuple(replace(_alternative(option, facts), label=option.dataset, is_unprotected=False,
            finding=f"{option.protection}: {_describe_state(option)}") for option in best_options)  # fmt: skip
        return Advice("", command, ("utility",), options[: N_ALTERNATIVES + 2])
    if best_options:
        name = release_name(best_options[0].protection)
        sentence = f"Take {name}: of the acceptable protections it keeps the most utility."
        options = tuple(_alternative(option, facts) for option in facts.options[:N_ALTERNATIVES])
        return Advice(sentence if best_options[0].state == "met" else "", command, ("utility",), options)
    command = f"{command} --policy {_suggest_condition(facts, dataset)}"
    return Advice("", command, ("reached", "utility"), tuple(_list_front(facts, dataset)))


def _alternative(option: Option, facts: StudyFacts) -> Alternative:
    utility = format_share(None) if math.isnan(option.utility) else format_utility(option.unit, option.utility)
    return Alternative(
        option.protection, (utility,), option.protection, is_unprotected=option.protection in facts.unprotected,
        state=option.state, finding=_describe_state(option),
    )  # fmt: skip


def _suggest_condition(facts: StudyFacts, dataset: str) -> str:
    """Return a policy to choose by: an embedded one if people are re-identified, otherwise a condition to complete."""
    rows = list(facts.mentioned[dataset].values())
    if not rows or any(row.target == IDENTITY for row in rows):
        return FIRST_POLICY
    row = max(rows, key=severity)
    return f'"{row.measure}{"<=" if row.direction == "high" else ">="}NUMBER"'


def _list_front(facts: StudyFacts, dataset: str) -> Iterator[Alternative]:
    """Yield the protections on the front of utility and the success of the strongest adversary, the safest first.

    The front of all targets may have more: there a protection may be better for another target.
    """
    for tradeoff in facts.tradeoffs_of(dataset)[:1]:
        rows = [row for name in tradeoff.front if (row := facts.strongest(dataset, name)) is not None]
        rows.sort(key=severity)
        is_on_front = find_pareto_front([(severity(row), -tradeoff.utility[row.release]) for row in rows])
        for row in list(compress(rows, is_on_front))[:N_ALTERNATIVES]:
            utility = format_utility(tradeoff.utility_unit, tradeoff.utility[row.release])
            is_unprotected = row.release in facts.unprotected
            yield Alternative(row.release, (_format_value(row), utility), row.release, is_unprotected=is_unprotected)
