"""`unmask design`: the best mechanism within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from unmask.cli.files import print_json, refuse_to_overwrite, suggest_command, write_texts
from unmask.cli.generated import Command, options, output_option
from unmask.cli.option_types import FILE
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.data.writing import STANDARD_OUTPUT


@click.command("design", cls=Command)
@options("unmask.channels.design.files:read_problem")
@output_option("--output", "-o", required=True, type=FILE, help="CSV of the mechanism, as `audit channel` reads it.")
@output_option("--curve", type=FILE, help="Write the trade-off: CSV of distortion, privacy, worst case, leakage.")
@output_option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@output_option("--force", is_flag=True, help="Overwrite existing files.")
def design(output: Path, curve: Path | None, as_json: bool, force: bool, **problem: Any) -> None:
    r"""Find the mechanism with the largest error of the adversary within a budget of distortion.

    With --minimize leakage, find the mechanism that reveals the fewest bits about the secret.

    \b
    unmask design --prior prior.csv --budget 0.2 -o mechanism.csv
    unmask design --prior prior.csv --loss hamming --distortion absolute --budget 3 --epsilon 1 -o m.csv --curve c.csv
    unmask design --minimize leakage --joint joint.csv --budget 0.1 -o m.csv --curve c.csv
    """
    from unmask.channels.design.files import read_problem

    refuse_to_overwrite(curve, force=force, stream=output)
    if as_json and output == STANDARD_OUTPUT:
        raise click.UsageError("--json and -o - both say what is printed; leave one out")
    _check_names(output, curve)
    task: Any = read_problem(**problem)
    solution = task.solve(task.budget)
    texts = {output: task.format_mechanism(solution)}
    write_texts(texts if curve is None else {**texts, curve: task.format_curve()})
    if as_json:
        print_json(results=[solution.facts])
    print_line(f"wrote {output}: {solution.sentence}", err=True)
    if not as_json and output != STANDARD_OUTPUT:
        suggest_command("audit", "channel", output, *_list_inputs(**problem))


def _list_inputs(
    *, prior: Path | None, joint: Path | None, loss: str, distortion: str | None, coordinates: Path | None, **_: Any
) -> Iterator[object]:
    """Yield the options of the audit for the same inputs; the audit has no option for a named distortion."""
    from unmask.measures.losses import LOSS_NAMES

    options: dict[str, object] = {"--prior": prior, "--joint": joint}
    options |= {"--loss": loss if loss != "hamming" else None, "--coordinates": coordinates}
    options["--distortion"] = None if distortion in LOSS_NAMES else distortion
    for option, value in options.items():
        if value is not None:
            yield from (option, value)


def _check_names(*outputs: Path | None) -> None:
    """Raise an error for an output with another suffix than CSV; a name may have none."""
    from unmask.data.source_files import SUFFIXES

    for path in outputs:
        if path is not None and path.name.lower().endswith((".gz", *SUFFIXES)) and path.suffix.lower() != ".csv":
            raise UnmaskError(f"output {path.name!r} has the name of another format, expected a CSV; call it .csv")
