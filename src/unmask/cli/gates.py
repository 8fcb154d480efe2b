"""Policies and gates of a pipeline: an audit that is not acceptable ends with an exit code of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from unmask.cli.generated import parsed
from unmask.errors import UnmaskError, visible

if TYPE_CHECKING:
    from unmask.policy import Condition, Judged, Policy, Verdict
    from unmask.reports import ReportData

EXIT_ABOVE = 3
"""Exit code of an audit that a policy or --fail-above does not accept."""

TYPED = "the conditions given"
"""The title of what --fail-above asks for."""


def _gates(values: tuple[str, ...]) -> tuple[Condition, ...]:
    """What must hold: the opposite of each condition, such as success_probability.worst>0.09; a plain share is one of
    people re-identified.
    """
    return tuple(_gate(text).opposite for text in values)


def _gate(text: str) -> Condition:
    from unmask.policy import Condition

    try:
        share = float(text)
    except ValueError:
        return Condition.parse(text)
    if not 0 <= share <= 1:
        raise UnmaskError(f"{text} is no share from 0 to 1")
    return Condition("success_probability", ">", share, whom="identity")


def _policies(values: tuple[str, ...]) -> tuple[Policy, ...]:
    from unmask.domains import known_domains
    from unmask.policy import read_policy

    return known_domains(map(read_policy, values))


fail_above = click.option(
    "--fail-above", "gates", multiple=True, metavar="CONDITION", callback=parsed(_gates),
    help="Exit 3 on [ADVERSARY:][TARGET:]MEASURE[.FIELD]>NUMBER, such as success_probability.worst>0.09 or k<11; a "
    "plain share is one of people re-identified. Repeatable.",
)  # fmt: skip

policy = click.option(
    "--policy", "policies", multiple=True, metavar="NAME|FILE", callback=parsed(_policies),
    help="Exit 3 unless the release is acceptable under this policy: one that `unmask list` names, or a TOML file with "
    "[[policy]]. Repeatable.",
)  # fmt: skip


def verdicts(
    found: ReportData, policies: Sequence[Policy], gates: Sequence[Condition], *, domain: str = ""
) -> tuple[Verdict, ...]:
    """The verdicts of all policies on every release; the conditions that were typed are one.

    A typed condition about nothing that the audit has is an error; one of a policy could not be tested. Conditions of
    policies about other domains than this one are left out.
    """
    from unmask.policy import Policy

    judged = found.judged([one.about(domain) for one in policies])
    typed = found.judged([Policy.of(gates, title=TYPED)]) if gates else ()
    for one in (one for verdict in typed for one in verdict.judged if one.why):
        raise UnmaskError(f"--fail-above {one.requirement.require.opposite}: {one.why} ({_known(found)})")
    return (*judged, *typed)


def exit_unless_acceptable(verdicts: Sequence[Verdict]) -> None:
    """Exit 3 where a release is not acceptable, and say which conditions it misses, or could not be tested."""
    lines = [line for verdict in verdicts for one in verdict.judged for line in _broken(verdict.release, one)]
    for line in lines:
        click.echo(visible(f"too risky: {line}"), err=True)
    if lines:
        raise click.exceptions.Exit(EXIT_ABOVE)


def _broken(release: str, judged: Judged) -> Iterator[str]:
    """A line for everything that breaks a condition."""
    from unmask.policy.verdict import spoken

    condition = judged.requirement.require
    for one in judged.missed:
        field = "" if condition.field is None else f".{condition.field}"
        yield f"{release}: {spoken(one.item)}{field} is {one.value:.6g} ({condition} is required)"
    if judged.unknown:
        yield f"{release}: {condition} could not be tested, and what is not known is not safe: {judged.unknown}"


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
