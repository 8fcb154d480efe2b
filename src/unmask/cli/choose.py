"""`unmask choose`: from the results of a study to a protection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.completion import first_argument
from unmask.cli.documents import ReadsDocument
from unmask.cli.files import print_json
from unmask.cli.gates import POLICY_HELP, POLICY_METAVAR, warn_of_reversed_conditions
from unmask.cli.generated import Command, options, parse_with
from unmask.cli.option_types import FILE, Input
from unmask.cli.options import table_options
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.policy import Condition, Policy
    from unmask.studies.choice import Option
    from unmask.studies.results_file import Results

EXIT_NONE = 1
"""Exit code if no protection meets the requirements."""


def _read_given_policies(values: tuple[str, ...]) -> tuple[Policy, ...]:
    """Return the policies that were given."""
    from unmask.policy import read_policies

    return read_policies(values)


@click.command("choose", cls=Command)
@click.argument("run", type=FILE, shell_complete=first_argument)
@click.option(
    "--policy", "policies", multiple=True, metavar=POLICY_METAVAR, callback=parse_with(_read_given_policies),
    help=f"Policy that a protection must meet: {POLICY_HELP} Repeatable. The default is that of the study's document.",
)  # fmt: skip
@options("unmask.studies.choice:choose", "maximize")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def choose(run: Path, policies: tuple[Policy, ...], maximize: str, as_json: bool) -> None:
    r"""Choose the best protection of a study under a policy, and explain why others fail.

    Exit code 1 if a judged dataset has none.

    \b
    unmask choose results --policy "estimation_error>=0.9" --maximize utility
    unmask choose results --policy "success_probability<=0.05" --policy "employer:information_gain_bits<=0.2"
    """
    from unmask.studies.choice import choose as rank
    from unmask.studies.results_file import read_results

    results = read_results(run)
    conditions = _list_conditions(policies, results) or _read_conditions(run)
    options = rank(results, conditions, maximize=maximize)
    warn_of_reversed_conditions(conditions)
    chosen: dict[str, str | None] = dict.fromkeys(option.dataset for option in options if option.assessments)
    for option in reversed(options):  # the best one comes first
        if option.state == "met":
            chosen[option.dataset] = option.protection
    if as_json:
        choices = [{"dataset": dataset, "protection": protection} for dataset, protection in chosen.items()]
        print_json(results=map(_as_record, options), tables={"chosen": choices})
    else:
        _print_options(options, chosen, maximize)
    if not chosen or not all(chosen.values()):
        raise click.exceptions.Exit(EXIT_NONE)


def _as_record(option: Option) -> dict[str, Any]:
    return {
        "dataset": option.dataset, "protection": option.protection, "score": option.utility,
        "failures": option.failures, "narrow": option.narrow, "judged": bool(option.assessments),
        "satisfied": option.state == "met",
    }  # fmt: skip


def _list_conditions(policies: tuple[Policy, ...], results: Results) -> tuple[Condition, ...]:
    """Return the conditions of policies; raise an error for a single condition that no result answers."""
    from unmask.policy.policies import CONDITIONS_TITLE
    from unmask.policy.verdict import explain_unanswered

    for policy in policies:
        for requirement in policy.requirements if policy.title == CONDITIONS_TITLE else ():
            if reason := explain_unanswered(requirement.require, results.items):
                raise UnmaskError(f"--policy {requirement.require}: {reason}")
    return tuple(requirement.require for policy in policies for requirement in policy.requirements)


def _read_conditions(run: Path) -> tuple[Condition, ...]:
    """Return the conditions of a study's document."""
    from unmask.policy import read_policy
    from unmask.studies.run import POLICY

    requirements = read_policy(run / POLICY).requirements if (run / POLICY).exists() else ()
    if not requirements:
        raise UnmaskError("0 requirements: the study's document has no [[policy]]; give --policy, or state one there")
    return tuple(requirement.require for requirement in requirements)


def _print_options(options: Sequence[Option], chosen: Mapping[str, str | None], maximize: str) -> None:
    """Print the protections of each judged dataset, the best first, with what they fail."""
    for dataset, protection in chosen.items():
        print_line(f"{dataset}: {f'take {protection}' if protection else 'no protection meets the requirements'}")
        for option in (option for option in options if option.dataset == dataset):
            passes = "yes" if option.state == "met" else "no"
            print_line(f"  {passes:3} {option.protection:32} {maximize} {option.utility:.4g}")
            for reason in (*option.failures, *option.narrow):
                print_line(f"      {reason}")
    for dataset in dict.fromkeys(option.dataset for option in options if not option.assessments):
        print_line(f"{dataset}: not judged, no requirement is about it")


@click.command("choose columns", cls=ReadsDocument)
@click.argument("data", type=Input())
@table_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def choose_columns(data: str, as_json: bool, **reading: Any) -> None:
    r"""Rank the quasi-identifiers of a table by their share of the risk.

    Drop or coarsen the first columns first. The Shapley value is a column's share of the adversary's gain. "last" is
    the loss of gain if only that column is dropped. With more than 10 columns the value is estimated from 64 orders,
    with the half-width of a 95 % interval.

    \b
    unmask choose columns people.csv -q age,sex,zip -s diagnosis
    """
    from unmask.tables.criteria import contributions
    from unmask.tables.files import read_table

    shares = contributions(read_table(Path(data), reading))
    if as_json:
        print_json(results=shares)
        return
    for target in dict.fromkeys(item.target for item in shares):
        print_line(f"{target}: {'Shapley':>24} {'alone':>8} {'last':>8}")
        for item in (item for item in shares if item.target == target):
            interval = f"  \u00b1{item.error:.4f}" if item.error else ""
            print_line(
                f"  {item.column:{len(target) + 15}} {item.shapley:8.4f} {item.alone:8.4f} {item.last:8.4f}{interval}"
            )
