"""`unmask advise`: which numbers to report about the privacy of a release or a system."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

import click

from unmask.cli.completion import TwoWordCommand
from unmask.cli.files import print_json
from unmask.cli.generated import options
from unmask.cli.terminal import print_line

QUESTIONS = {
    "what": "What does the adversary want: identity, attribute or sender?",
    "loss": "Is a wrong answer just wrong (hamming), or nearer and farther (graded)?",
    "observations": "Do they see one observation, or many of a long sequence?",
}
"""Questions about missing answers."""


def _answer(name: str, question: str, kind: click.Choice[str]) -> str:
    """Return what the user answers; a question is printed on a terminal only, and else a line is read."""
    line = ""
    if sys.stdin is not None and not sys.stdin.closed:  # None if the shell closed it
        with suppress(click.Abort):
            is_terminal = sys.stdin.isatty()
            line = click.prompt(question, type=kind, err=True) if is_terminal else sys.stdin.readline().strip()
    if line not in kind.choices:
        raise click.UsageError(f"Missing option '--{name}': {' or '.join(kind.choices)}.")
    return line


@click.command(cls=TwoWordCommand)
@options(
    "unmask.channels.criteria:advise",
    what={"required": False},
    loss={"default": None},
    loss_known={"flags": ("--loss-known/--loss-unknown",)},
    observations={"default": None},
)
@click.option("--json", "as_json", is_flag=True, help="Print the advice as one JSON object, without questions.")
def advise(as_json: bool, **answers: Any) -> None:
    r"""Recommend privacy measures for your question, with reasons. The command asks for missing answers.

    \b
    unmask advise
    unmask advise --what attribute --loss graded --observations one
    """
    from unmask.channels.criteria import advise as advise_on

    kinds = {parameter.name: parameter.type for parameter in click.get_current_context().command.params}
    for name, question in QUESTIONS.items():
        if answers[name] is None and (name != "loss" or answers["loss_known"]):
            kind = kinds[name]
            assert isinstance(kind, click.Choice)
            answers[name] = kind.choices[0] if as_json else _answer(name, question, kind)
    advice = advise_on(**answers)
    if as_json:
        print_json(results=[advice])
        return
    for case in ("worst", "average", "best"):
        measure = getattr(advice, case)
        print_line(f"{case:>8} case: {measure or 'none'}")
    if advice.bounds:
        print_line(f"bounds only: {', '.join(advice.bounds)}")
    print_line(f"rank releases by: {', '.join(advice.rank_by) or 'nothing'}")
    print_line(f"given by: {advice.command}")
    print_line(advice.why)
