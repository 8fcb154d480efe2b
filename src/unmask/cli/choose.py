"""`unmask choose`: from the results of a study to a protection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.documents import ReadsDocument
from unmask.cli.files import print_json
from unmask.cli.gates import POLICY_HELP, POLICY_METAVAR, warn_of_reversed_conditions
from unmask.cli.generated import FILE, Input, parse_with
from unmask.cli.group import first_argument
from unmask.cli.options import table_options
from unmask.cli.reading import read_table
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.policy import Condition, Policy
    from unmask.studies.choice import Verdict
    from unmask.studies.summary import Results

EXIT_NONE = 1
"""Exit code where no protection meets the requirements."""


def _required(values: tuple[str, ...]) -> tuple[Policy, ...]:
    """Return the policies that were given."""
    from unmask.policy import read_policies

    return read_policies(values)


@click.command("choose")
@click.argument("run", type=FILE, shell_complete=first_argument)
@click.option(
    "--policy", "required", multiple=True, metavar=POLICY_METAVAR, callback=parse_with(_required),
    help=f"What a protection must keep: {POLICY_HELP} Repeatable. The policy of the study's document when left out.",
)  # fmt: skip
@click.option("--maximize", default="utility", show_default=True, help="Measure that decides among those that pass.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def choose(run: Path, required: tuple[Policy, ...], maximize: str, as_json: bool) -> None:
    r"""Name the protections of a study that meet all requirements, the best one, and why the others fail.

    Exit code 1 where a dataset that is judged has none.

    \b
    unmask choose results --policy "estimation_error>=0.9" --maximize utility
    unmask choose results --policy "success_probability<=0.05" --policy "employer:information_gain_bits<=0.2"
    """
    from unmask.studies.choice import choose as judge
    from unmask.studies.summary import read_results

    results = read_results(run)
    asked = _conditions(required, results) or _policy(run)
    verdicts = judge(results, asked, maximize=maximize)
    warn_of_reversed_conditions(asked)
    chosen: dict[str, str | None] = dict.fromkeys(verdict.dataset for verdict in verdicts if verdict.judged)
    for verdict in reversed(verdicts):  # the best one comes first
        if verdict.satisfied:
            chosen[verdict.dataset] = verdict.protection
    if as_json:
        told = [{**vars(verdict), "satisfied": verdict.satisfied} for verdict in verdicts]
        best = [{"dataset": dataset, "protection": protection} for dataset, protection in chosen.items()]
        print_json(results=told, tables={"chosen": best})
    else:
        for dataset, protection in chosen.items():
            print_line(f"{dataset}: {f'take {protection}' if protection else 'no protection meets the requirements'}")
            for verdict in verdicts:
                if verdict.dataset == dataset:
                    _say(verdict, maximize)
        for dataset in dict.fromkeys(verdict.dataset for verdict in verdicts if not verdict.judged):
            print_line(f"{dataset}: not judged, no requirement is about it")
    if not chosen or not all(chosen.values()):
        raise click.exceptions.Exit(EXIT_NONE)


def _conditions(policies: tuple[Policy, ...], results: Results) -> tuple[Condition, ...]:
    """Return what policies require; a single condition that no result of the study answers is an error."""
    from unmask.policy.policies import CONDITIONS_TITLE
    from unmask.policy.verdict import explain_unanswered

    for require in (
        one.require for policy in policies if policy.title == CONDITIONS_TITLE for one in policy.requirements
    ):
        if why := explain_unanswered(require, results.items):
            raise UnmaskError(f"--policy {require}: {why}")
    return tuple(one.require for policy in policies for one in policy.requirements)


def _policy(run: Path) -> tuple[Condition, ...]:
    """What the document of a study requires."""
    from unmask.policy import read_policy
    from unmask.studies.run import POLICY

    found = read_policy(run / POLICY).requirements if (run / POLICY).exists() else ()
    if not found:
        raise UnmaskError("0 requirements: the study's document has no [[policy]]; give --policy, or state one there")
    return tuple(one.require for one in found)


def _say(verdict: Verdict, maximize: str) -> None:
    passes = "yes" if verdict.satisfied else "no"
    print_line(f"  {passes:3} {verdict.protection:32} {maximize} {verdict.score:.4g}")
    for reason in (*verdict.failures, *verdict.narrow):
        print_line(f"      {reason}")


@click.command("choose columns", cls=ReadsDocument)
@click.argument("data", type=Input())
@table_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def choose_columns(data: str, as_json: bool, **reading: Any) -> None:
    r"""Rank the quasi-identifiers of a table by what they give an adversary: drop or coarsen the first ones first.

    The Shapley value is a column's share of all that they gain; "last" is what dropping it alone takes away from them.
    Of more than 10 columns it is estimated from 64 orders, with the half-width of a 95 % interval.

    \b
    unmask choose columns people.csv -q age,sex,zip -s diagnosis
    """
    from unmask.tables.criteria import contributions

    found = contributions(read_table(Path(data), reading))
    if as_json:
        print_json(results=found)
        return
    for target in dict.fromkeys(one.target for one in found):
        print_line(f"{target}: {'Shapley':>24} {'alone':>8} {'last':>8}")
        for one in (one for one in found if one.target == target):
            within = f"  \u00b1{one.error:.4f}" if one.error else ""
            print_line(f"  {one.column:{len(target) + 15}} {one.shapley:8.4f} {one.alone:8.4f} {one.last:8.4f}{within}")
