"""`unmask advise`: which numbers to report about the privacy of a release or a system."""

from __future__ import annotations

from typing import Any, Literal

import click

from unmask.cli.files import say_json
from unmask.cli.options import Verb

QUESTIONS = {
    "what": ("What does the adversary want: identity, attribute or sender?", ("identity", "attribute", "sender")),
    "loss": ("Is a wrong answer just wrong (hamming), or nearer and farther (graded)?", ("hamming", "graded")),
    "observations": ("Do they see one observation, or many of a long sequence?", ("one", "many")),
}
"""What is asked when it is not given."""


@click.command(cls=Verb)
@click.option("--what", type=click.Choice(QUESTIONS["what"][1]), help="What the adversary wants.")
@click.option("--loss", type=click.Choice(QUESTIONS["loss"][1]), help="Whether some wrong answers are nearer (graded).")
@click.option("--loss-known/--loss-unknown", default=True, show_default=True, help="Whether the loss is known.")
@click.option(
    "--observations", type=click.Choice(QUESTIONS["observations"][1]), help="Whether they see one observation or many."
)
@click.option("--dmax", type=click.FloatRange(0, min_open=True), help="Largest loss, where the loss is unknown.")
@click.option("--rank-by", help="Measure by which you want to rank releases; refused where that is unsound.")
@click.option("--json", "as_json", is_flag=True, help="Print the advice as one JSON object; asks nothing.")
def advise(
    what: Literal["identity", "attribute", "sender"] | None,
    loss: Literal["hamming", "graded"] | None,
    loss_known: bool,
    observations: Literal["one", "many"] | None,
    dmax: float | None,
    rank_by: str | None,
    as_json: bool,
) -> None:
    r"""Say which measures of privacy answer your question, and why; ask for what is not given.

    \b
    unmask advise
    unmask advise --what attribute --loss graded --observations one
    """
    from unmask.channels.criteria import advise as advise_on

    given: dict[str, Any] = {"what": what, "loss": loss, "observations": observations}
    for name, (question, answers) in QUESTIONS.items():
        if given[name] is None:
            given[name] = answers[0] if as_json else click.prompt(question, type=click.Choice(answers), err=True)
    advice = advise_on(**given, loss_known=loss_known, dmax=dmax, rank_by=rank_by)
    if as_json:
        say_json(results=[advice])
        return
    for case in ("worst", "average", "best"):
        measure = getattr(advice, case)
        click.echo(f"{case:>8} case: {measure or 'none'}")
    if advice.bounds:
        click.echo(f"bounds only: {', '.join(advice.bounds)}")
    click.echo(f"rank releases by: {', '.join(advice.rank_by) or 'nothing'}")
    click.echo(f"given by: {advice.command}")
    click.echo(advice.why)
