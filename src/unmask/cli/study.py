"""`unmask study`: run a plan, or go on with it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.documents import CODE, allow_code_option
from unmask.cli.files import print_json, suggest_command
from unmask.cli.game import print_price_progress
from unmask.cli.generated import Command, options
from unmask.cli.option_types import FILE
from unmask.cli.terminal import print_line, rewrite_line
from unmask.core.errors import UnmaskError
from unmask.results.words import format_duration

if TYPE_CHECKING:
    from unmask.studies.run import Outcome

EXIT_FAILED = 1

REASONS = 5
"""Number of reasons of failures that are printed."""


@click.command("study", cls=Command)
@click.argument("plan", type=FILE)
@click.option(
    "--output", "-o", required=True, type=FILE,
    help="Folder of the results. Finished cells in it are not run again.",
)  # fmt: skip
@options("unmask.studies.run:run_study", "workers", "retry")
@allow_code_option
@click.option("--spark", metavar="MASTER", help='Run the cells on a Spark cluster, such as "spark://host:7077".')
@click.option("--dry-run", is_flag=True, help="Print what would be run and how long it may take. Nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def study(plan: Path, output: Path, workers: int, retry: bool, spark: str | None, dry_run: bool, as_json: bool) -> None:
    r"""Run every protection of a plan against every adversary, and resume an earlier run.

    \b
    unmask study plan.toml -o results --dry-run
    unmask study plan.toml -o results --workers 2
    """
    from unmask.studies.reading import read_plan
    from unmask.studies.results_file import RESULTS
    from unmask.studies.run import estimate_study, policy_of_plan, run_study

    allow_code = bool(click.get_current_context().meta[CODE])
    if dry_run:
        _refuse_plugins(plan)
    read = read_plan(plan, allow_code=allow_code)
    if dry_run:
        policy_of_plan(plan, read)
        _say(estimate_study(read, output, workers), as_json=as_json)
        return
    from unmask.studies.game import priced
    from unmask.studies.workers import on_spark

    progress = _Progress()
    submit, game = on_spark(spark) if spark else None, priced(read, plan)
    outcome = run_study(
        read, output, workers=workers, retry=retry, watch=progress, submit=submit, source=plan, priced=game or ()
    )
    progress.finish()
    _say_outcome(outcome, output / RESULTS, as_json=as_json)
    if game is not None and outcome.complete and outcome.done:
        _play(plan, output, allow_code=allow_code)
    if outcome.done and not as_json:
        suggest_command("report", output, "-o", "report.html")
    if not outcome.complete:
        print_line("stopped before the end; run the same command to go on", err=True)
    if not (outcome.complete and outcome.done) or outcome.failed or outcome.timed_out:
        raise click.exceptions.Exit(EXIT_FAILED)


def _say_outcome(outcome: Outcome, results: Path, *, as_json: bool) -> None:
    """Print the outcome of the cells, and why some have no result."""
    facts = {**vars(outcome), "results": str(results)}
    if outcome.damaged:
        print_line(f"{outcome.damaged} damaged lines of the journal were dropped, their cells run again", err=True)
    if as_json:
        print_json(results=[facts])
    else:
        counts = {name: facts[name] for name in ("done", "not_run", "failed", "timed_out", "skipped") if facts[name]}
        totals = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
        print_line(f"{outcome.cells:,} cells: {totals}; results in {facts['results']}")
    for reason, count in outcome.reasons[:REASONS]:
        print_line(f"{count:,} without a result: {reason}", err=True)


def _refuse_plugins(plan: Path) -> None:
    """Raise an error for a plan with plug-ins, also installed ones: a dry run imports no code."""
    from unmask.catalog import is_plugin
    from unmask.document import load

    document = load(plan)
    for name in _list_names([document.get(kind) for kind in ("data", "protections", "adversaries")]):
        if is_plugin(name):
            raise UnmaskError(f"--dry-run imports no code, and the plan names {name!r}; leave --dry-run out to run it")


def _list_names(entry: Any) -> Iterator[str]:
    """Yield the names of classes in a plan, also in parts of parts."""
    if isinstance(entry, dict):
        yield from (text for key, text in entry.items() if key == "use" and isinstance(text, str))
    for inner in entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ():
        yield from _list_names(inner)


def _play(plan: Path, output: Path, *, allow_code: bool) -> None:
    """Play the game of a document next to the results, or print why it cannot be played."""
    from unmask.studies.game import write_game
    from unmask.studies.game.sentences import describe_decision

    try:
        outcome = write_game(plan, output, allow_code=allow_code, watch=print_price_progress)
    except UnmaskError as error:
        print_line(f"no game was played: {error}", err=True)
        return
    _, answer, sentence = describe_decision(outcome)
    print_line(f"the publisher's game: {answer} {sentence}", err=True)


def _say(facts: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(results=[facts])
        return
    for name in ("datasets", "protections", "adversaries"):
        print_line(f"{name:12} {', '.join(facts[name])}")
    print_line(f"{'seeds':12} {len(facts['seeds'])}")
    print_line(
        f"{facts['cells']:,} cells, {facts['done']:,} done; about {format_duration(facts['seconds'])} for the others, "
        f"judged by {facts['estimated_from']}"
    )


class _Progress:
    """One line on standard error: rewritten on a terminal, every ten seconds elsewhere."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.told = 0.0

    def __call__(self, done: int, cells: int, seconds: float) -> None:
        now = time.monotonic()
        if now - self.told < (0.2 if self.live else 10.0):
            return
        self.told = now
        line = f"{done:,} of {cells:,} cells, {format_duration(seconds)} to go"
        rewrite_line(line) if self.live else print_line(line, err=True)

    def finish(self) -> None:
        """Leave the line."""
        if self.live and self.told:
            print_line(err=True)
