"""Gates of a pipeline: an audit whose risk is too high ends with an exit code of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from unmask.reports import ReportData
    from unmask.studies.choice import Requirement

EXIT_ABOVE = 3
"""Exit code of an audit whose risk is above --fail-above."""


class Gate(NamedTuple):
    """What must not be found; about one target, or about all of them."""

    condition: Requirement
    target: str | None


def _gates(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[Gate, ...]:
    """Each a condition such as estimation_error<0.8; a plain share is one of naming people."""
    from unmask.errors import UnmaskError
    from unmask.studies.choice import Requirement

    found = []
    for text in values:
        try:
            share = float(text)
        except ValueError:
            share = None
        try:
            if share is None:
                found.append(Gate(Requirement.parse(text), None))
            elif 0 <= share <= 1:
                found.append(Gate(Requirement("success_probability", ">", share), "identity"))
            else:
                raise UnmaskError(f"{text} is no share from 0 to 1")
        except UnmaskError as error:
            raise click.BadParameter(str(error).replace("requirement", "condition"), ctx, parameter) from None
    return tuple(found)


fail_above = click.option(
    "--fail-above", "gates", multiple=True, metavar="CONDITION", callback=_gates,
    help="Exit 3 when more than this share of people is named, or on a condition such as estimation_error<0.8.",
)  # fmt: skip


def _meant(named: str | None, adversary: str) -> bool:
    """Whether a gate is about an adversary: the one it names, or all but those apart."""
    from unmask.reports import APART

    return adversary not in APART if named is None else adversary == named


def check(found: ReportData, gates: tuple[Gate, ...]) -> None:
    """Exit 3, with a line for every condition that a release meets; the table before protection is no release."""
    from unmask.errors import UnmaskError
    from unmask.reports import ORIGINAL

    broken = []
    for gate in gates:
        measure, adversary = gate.condition.measure, gate.condition.adversary
        taken = [row for row in found.rows if row.measure == measure and _meant(adversary, row.adversary)]
        if not taken:
            known = ", ".join(dict.fromkeys(row.measure for row in found.rows))
            raise UnmaskError(f"--fail-above {gate.condition}: nobody took this measure; the audit has {known}")
        broken += [
            f"{row.release}: {measure} is {row.posterior:.4g} for {row.adversary}, {row.target}"
            for row in taken
            if row.release != ORIGINAL and gate.target in (None, row.target) and gate.condition.holds(row.posterior)
        ]
    for line in broken:
        click.echo(f"too risky: {line}", err=True)
    if broken:
        raise click.exceptions.Exit(EXIT_ABOVE)
