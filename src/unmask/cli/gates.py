"""Policies of an audit on the command line: what is not acceptable ends with an exit code of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from unmask.cli.files import command_name
from unmask.cli.generated import grouped, parse_with
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.first_document import FIRST_POLICY

if TYPE_CHECKING:
    from unmask.policy import Assessment, Condition, Policy, Verdict
    from unmask.results import Result

EXIT_ABOVE = 3
"""Exit code of an audit that a policy does not accept."""

POLICY_METAVAR = "NAME|FILE|CONDITION"

POLICY_HELP = (
    "a policy that `unmask list` names, a TOML file with [[policy]], or a condition "
    "[ADVERSARY:][TARGET:]MEASURE[.FIELD]<=NUMBER, such as success_probability.worst<=0.09 or k>=11."
)


def _parse_policies(values: tuple[str, ...]) -> tuple[Policy, ...]:
    from unmask.domains import known_domains
    from unmask.policy import read_policies

    return known_domains(read_policies(values))


policy_option = click.option(
    "--policy", "policies", multiple=True, metavar=POLICY_METAVAR, callback=parse_with(_parse_policies),
    help=f"Exit 3 unless the release is acceptable: {POLICY_HELP} Repeatable.",
)  # fmt: skip


def _parse_table_policies(values: tuple[str, ...]) -> list[Policy]:
    from unmask.domains import read_domain_policies

    return read_domain_policies(values, "tables")


first_policy_option = grouped("Policy", click.option(
    "--policy", "policies", multiple=True, default=(FIRST_POLICY,), show_default=True, metavar=POLICY_METAVAR,
    callback=parse_with(_parse_table_policies), help=f"Policy of the verdict: {POLICY_HELP} Repeatable.",
))  # fmt: skip


def audited_domain() -> str:
    """Return the domain that the command audits."""
    from unmask.domains import audited_by

    return audited_by(command_name().removeprefix("audit").strip())


def refuse_other_domains(policies: Sequence[Policy]) -> None:
    """Refuse a typed policy that requires nothing of the audited domain; a document may cover several domains."""
    from unmask.domains import policies_about

    if click.get_current_context().get_parameter_source("policies") is ParameterSource.COMMANDLINE:
        policies_about(policies, audited_domain())


def judge(result: Result, policies: Sequence[Policy], *, domain: str = "") -> Result:
    """Return the result with the verdicts of all policies, without their conditions about other domains.

    A single condition that no result of the audit answers is an error. In a policy it is not tested.
    """
    from unmask.policy import judge_result
    from unmask.policy.policies import CONDITIONS_TITLE

    judged_result = judge_result(result, [policy.for_domain(domain) for policy in policies])
    verdicts = judged_result.verdicts
    for verdict in (verdict for verdict in verdicts if verdict.policy.title == CONDITIONS_TITLE):
        for assessment in (assessment for assessment in verdict.assessments if assessment.reason):
            condition = assessment.requirement.require
            raise UnmaskError(f"--policy {condition}: {assessment.reason} ({_list_measures(result)})")
    warn_of_reversed_conditions(item.requirement.require for verdict in verdicts for item in verdict.assessments)
    return judged_result


def warn_of_reversed_conditions(conditions: Iterable[Condition]) -> None:
    """Print which conditions ask for what the adversary wants, such as a small error."""
    from unmask.policy.condition import reverse_sign

    for condition in dict.fromkeys(conditions):
        if reversed_condition := reverse_sign(condition):
            question = f"did you mean {reversed_condition}?"
            print_line(f"warning: {condition} asks for what the adversary wants; {question}", err=True)


def exit_unless_acceptable(verdicts: Sequence[Verdict]) -> None:
    """Exit 3 if a release is not acceptable, and print the conditions that it misses, or that could not be tested."""
    lines = [
        line
        for verdict in verdicts
        for assessment in verdict.assessments
        for line in _describe_failures(verdict.release, assessment)
    ]
    for line in lines:
        print_line(line, err=True)
    if lines:
        raise click.exceptions.Exit(EXIT_ABOVE)


def _describe_failures(release: str, assessment: Assessment) -> Iterator[str]:
    """Yield a line for everything that misses a condition."""
    from unmask.policy.verdict import describe_item

    condition = assessment.requirement.require
    field = "" if condition.field is None else f".{condition.field}"
    for violation in assessment.violations:
        item = f"{describe_item(violation.item)}{field}"
        yield f"missed: {release}: {item} is {violation.value:.6g} ({condition} is required)"
    if assessment.unknown_reason:
        yield f"not tested, so not met: {release}: {condition}: {assessment.unknown_reason}"


def _list_measures(result: Result) -> str:
    """Return what a condition on this audit may be about."""
    from unmask.policy.condition import FIELDS
    from unmask.policy.verdict import Criterion, list_items

    items = list(list_items(result))
    rows = [item for item in items if not isinstance(item, Criterion)]
    available: dict[str, Sequence[str]] = {
        "the measures": [row.measure for row in rows],
        "each with the fields": FIELDS,
        "the adversaries": [row.adversary for row in rows],
        "the targets": [row.target for row in rows],
        "the criteria": [item.measure for item in items if isinstance(item, Criterion)],
    }
    groups = (f"{kind} {', '.join(dict.fromkeys(names))}" for kind, names in available.items() if names)
    return f"the audit has {'; '.join(groups)}"
