"""`unmask design`: the best mechanism within a budget."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.files import print_json, refuse_to_overwrite, suggest_command, write_texts
from unmask.cli.generated import Command, options, output_option
from unmask.cli.option_types import FILE
from unmask.cli.terminal import print_line
from unmask.core.errors import UnmaskError
from unmask.data.writing import STANDARD_OUTPUT

if TYPE_CHECKING:
    from unmask.channels.design import Design


@click.command("design", cls=Command)
@options("unmask.channels.design.files:read_problem")
@output_option("--output", "-o", required=True, type=FILE, help="CSV of the mechanism, as `audit channel` reads it.")
@output_option("--curve", type=FILE, help="Write the trade-off: CSV of distortion, privacy, worst case, leakage.")
@output_option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@output_option("--force", is_flag=True, help="Overwrite existing files.")
def design(output: Path, curve: Path | None, as_json: bool, force: bool, **problem: Any) -> None:
    r"""Find the mechanism that leaves the adversary the largest error within a budget of distortion.

    \b
    unmask design --prior prior.csv --budget 0.2 -o mechanism.csv
    unmask design --prior prior.csv --loss hamming --distortion absolute --budget 3 --epsilon 1 -o m.csv --curve c.csv
    """
    from unmask.channels.design.files import read_problem

    refuse_to_overwrite(curve, force=force, stream=output)
    if as_json and output == STANDARD_OUTPUT:
        raise click.UsageError("--json and -o - both say what is printed; leave one out")
    _check_names(output, curve)
    task = read_problem(**problem)
    mechanism = task.solve(task.budget)
    texts = {output: task.format_mechanism(mechanism)}
    write_texts(texts if curve is None else {**texts, curve: task.format_curve()})
    _print_design(mechanism, task.prior_error, output, as_json=as_json)
    if not as_json and output != STANDARD_OUTPUT:
        suggest_command("audit", "channel", output, "--prior", problem["prior"], *_list_losses(**problem))


def _list_losses(*, loss: str, distortion: str | None, coordinates: Path | None, **_: Any) -> Iterator[object]:
    """Yield the options of the audit for the same losses; the audit has no option for a named distortion."""
    from unmask.measures.losses import LOSS_NAMES

    options = {"--loss": loss if loss != "hamming" else None, "--coordinates": coordinates}
    options["--distortion"] = None if distortion in LOSS_NAMES else distortion
    for option, value in options.items():
        if value is not None:
            yield from (option, value)


def _print_design(design: Design, prior_error: float, output: Path, *, as_json: bool) -> None:
    if as_json:
        facts = {name: getattr(design, name) for name in ("privacy", "worst", "distortion", "method", "gap")}
        print_json(results=[{**facts, "leakage_bits": design.leakage / math.log(2), "prior_error": prior_error}])
    print_line(
        f"wrote {output}: privacy {design.privacy:.6g} of at most {prior_error:.6g}, worst case "
        f"{design.worst:.6g}, distortion {design.distortion:.6g} ({design.method})",
        err=True,
    )


def _check_names(*outputs: Path | None) -> None:
    """Raise an error for an output with another suffix than CSV; a name may have none."""
    from unmask.data.source_files import SUFFIXES

    for path in outputs:
        if path is not None and path.name.lower().endswith((".gz", *SUFFIXES)) and path.suffix.lower() != ".csv":
            raise UnmaskError(f"output {path.name!r} has the name of another format, expected a CSV; call it .csv")
