"""Policies of an audit on the command line: what is not acceptable ends with an exit code of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from unmask.cli.files import command_name
from unmask.cli.generated import parse_with
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.policy import Assessment, Condition, Policy, Verdict
    from unmask.reports import ReportData

EXIT_ABOVE = 3
"""Exit code of an audit that a policy does not accept."""

POLICY_METAVAR = "NAME|FILE|CONDITION"
"""How a policy is given."""

POLICY_HELP = (
    "a policy that `unmask list` names, a TOML file with [[policy]], or a condition "
    "[ADVERSARY:][TARGET:]MEASURE[.FIELD]<=NUMBER, such as success_probability.worst<=0.09 or k>=11."
)
"""The same in words."""


def _policies(values: tuple[str, ...]) -> tuple[Policy, ...]:
    from unmask.domains import known_domains
    from unmask.policy import read_policies

    return known_domains(read_policies(values))


policy_option = click.option(
    "--policy", "policies", multiple=True, metavar=POLICY_METAVAR, callback=parse_with(_policies),
    help=f"Exit 3 unless the release is acceptable: {POLICY_HELP} Repeatable.",
)  # fmt: skip


def audited_domain() -> str:
    """The domain whose audit the command is."""
    from unmask.domains import audited_by

    return audited_by(command_name().removeprefix("audit").strip())


def refuse_other_domains(policies: Sequence[Policy]) -> None:
    """Refuse a policy that was typed and says nothing of what is audited; a document may be about several domains."""
    from unmask.domains import policies_about

    if click.get_current_context().get_parameter_source("policies") is ParameterSource.COMMANDLINE:
        policies_about(policies, audited_domain())


def judge(found: ReportData, policies: Sequence[Policy], *, domain: str = "") -> tuple[Verdict, ...]:
    """The verdicts of all policies on every release, without their conditions about other domains than this one.

    A condition that was given by itself, and is about nothing that the audit has, is an error; one of a policy could
    not be tested.
    """
    from unmask.policy.policies import CONDITIONS_TITLE

    judged = found.judged([one.for_domain(domain) for one in policies])
    own = (verdict for verdict in judged if verdict.policy.title == CONDITIONS_TITLE)
    for one in (one for verdict in own for one in verdict.assessments if one.reason):
        raise UnmaskError(f"--policy {one.requirement.require}: {one.reason} ({_known(found)})")
    warn_of_reversed_conditions(one.requirement.require for verdict in judged for one in verdict.assessments)
    return judged


def warn_of_reversed_conditions(conditions: Iterable[Condition]) -> None:
    """Say which conditions ask for what the adversary wants, such as a small error."""
    from unmask.policy.condition import reverse_sign

    for asked in dict.fromkeys(conditions):
        if other := reverse_sign(asked):
            said = f"warning: {asked} asks for what the adversary wants; did you mean {other}?"
            print_line(said, err=True)


def exit_unless_acceptable(verdicts: Sequence[Verdict]) -> None:
    """Exit 3 where a release is not acceptable, and say which conditions it misses, or could not be tested."""
    lines = [line for verdict in verdicts for one in verdict.assessments for line in _broken(verdict.release, one)]
    for line in lines:
        print_line(line, err=True)
    if lines:
        raise click.exceptions.Exit(EXIT_ABOVE)


def _broken(release: str, judged: Assessment) -> Iterator[str]:
    """A line for everything that breaks a condition."""
    from unmask.policy.verdict import describe_item

    condition = judged.requirement.require
    for one in judged.violations:
        field = "" if condition.field is None else f".{condition.field}"
        yield f"missed: {release}: {describe_item(one.item)}{field} is {one.value:.6g} ({condition} is required)"
    if judged.unknown_reason:
        yield f"not tested: {release}: {condition}, and what is not known is not safe: {judged.unknown_reason}"


def _known(found: ReportData) -> str:
    """What a condition on this audit may be about."""
    from unmask.policy.condition import FIELDS
    from unmask.policy.verdict import Criterion

    items = list(found.stated())
    rows = [one for one in items if not isinstance(one, Criterion)]
    there: dict[str, Sequence[str]] = {
        "the measures": [row.measure for row in rows],
        "each with the fields": FIELDS,
        "the adversaries": [row.adversary for row in rows],
        "the targets": [row.target for row in rows],
        "the criteria": [one.measure for one in items if isinstance(one, Criterion)],
    }
    listed = (f"{what} {', '.join(dict.fromkeys(names))}" for what, names in there.items() if names)
    return f"the audit has {'; '.join(listed)}"
