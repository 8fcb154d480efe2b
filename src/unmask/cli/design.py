"""`unmask design`: the best mechanism within a budget."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.files import print_json, refuse_to_overwrite, suggest_command, write_texts
from unmask.cli.generated import Command, options, output_option
from unmask.cli.option_types import FILE
from unmask.cli.terminal import print_line, print_notes
from unmask.core.errors import FailedError, UnmaskError
from unmask.data.writing import STANDARD_OUTPUT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unmask.channels.design import Design
    from unmask.channels.loss_model import LossModel

CURVE_POINTS = 12
"""Budgets at which `design` solves the trade-off curve."""


@click.command("design", cls=Command)
@click.option("--prior", required=True, type=FILE, help="CSV of secret and probability.")
@options("unmask.channels.audit:audit", "loss", "coordinates")
@click.option("--distortion", metavar="NAME|PATH", help="Loss of the user. The default is that of the adversary.")
@options("unmask.channels:optimal_mechanism", "budget", "epsilon", "delta", "worst_case")
@output_option("--output", "-o", required=True, type=FILE, help="CSV of the mechanism, as `audit channel` reads it.")
@output_option("--curve", type=FILE, help="Write the trade-off: CSV of distortion, privacy, worst case, leakage.")
@output_option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@output_option("--force", is_flag=True, help="Overwrite existing files.")
def design(
    prior: Path,
    loss: str,
    distortion: str | None,
    coordinates: Path | None,
    budget: float,
    output: Path,
    curve: Path | None,
    as_json: bool,
    force: bool,
    **bounds: Any,
) -> None:
    r"""Find the mechanism that leaves the adversary the largest error within a budget of distortion.

    \b
    unmask design --prior prior.csv --budget 0.2 -o mechanism.csv
    unmask design --prior prior.csv --loss hamming --distortion absolute --budget 3 --epsilon 1 -o m.csv --curve c.csv
    """
    from functools import partial

    from unmask.channels import optimal_mechanism
    from unmask.channels.matrix_files import read_prior

    refuse_to_overwrite(curve, force=force, stream=output)
    if as_json and output == STANDARD_OUTPUT:
        raise click.UsageError("--json and -o - both say what is printed; leave one out")
    _check_names(output, curve)
    secrets, p, note = read_prior(prior)
    print_notes([note] if note else [])
    model, cost, outputs = _read_costs(loss, distortion, coordinates, secrets)
    solve: Any = partial(optimal_mechanism, p, model.loss, cost, coordinates=model.coordinates, **bounds)
    design = solve(budget)
    texts = {output: _written(secrets, outputs, design.channel.dense())}
    if curve is not None:
        texts[curve] = _curve(solve, budget, float(cost.max()))
    write_texts(texts)
    _say_design(design, _prior_error(p, model), output, as_json=as_json)
    if not as_json and output != STANDARD_OUTPUT:
        suggest_command("audit", "channel", output, "--prior", prior, *_loss_options(loss, distortion, coordinates))


def _loss_options(loss: str, distortion: str | None, coordinates: Path | None) -> Iterator[object]:
    """Yield the options of the audit for the same losses; the audit has no option for a named distortion."""
    from unmask.measures.losses import LOSS_NAMES

    options = {"--loss": loss if loss != "hamming" else None, "--coordinates": coordinates}
    options["--distortion"] = None if distortion in LOSS_NAMES else distortion
    for option, value in options.items():
        if value is not None:
            yield from (option, value)


def _read_costs(
    loss: str, distortion: str | None, coordinates: Path | None, secrets: tuple[str, ...]
) -> tuple[LossModel, NDArray[np.float64], tuple[str, ...]]:
    """Return the loss of the adversary, the cost of each output for the user, and the names of the outputs."""
    from unmask.channels.loss_model import read_loss_model
    from unmask.channels.matrix_files import read_named
    from unmask.measures.losses import LOSS_NAMES

    model = read_loss_model(loss, secrets, coordinates=coordinates)
    if distortion is None:
        return model, model.matrix(len(secrets)).T, model.answers or secrets
    if distortion in LOSS_NAMES:
        return model, read_loss_model(distortion, secrets, coordinates=coordinates).matrix(len(secrets)).T, secrets
    return model, read_named(Path(distortion), secrets, secrets), secrets


def _prior_error(p: NDArray[np.float64], model: LossModel) -> float:
    """Return the expected loss of the best answer without any output."""
    from unmask.core.posterior import Posterior
    from unmask.measures.error import bayes

    return bayes(Posterior.from_dense(p[None]), model.loss, coordinates=model.coordinates).average


def _say_design(chosen: Design, prior_error: float, output: Path, *, as_json: bool) -> None:
    if as_json:
        printed = {name: getattr(chosen, name) for name in ("privacy", "worst", "distortion", "method", "gap")}
        print_json(results=[{**printed, "leakage_bits": chosen.leakage / math.log(2), "prior_error": prior_error}])
    print_line(
        f"wrote {output}: privacy {chosen.privacy:.6g} of at most {prior_error:.6g}, worst case "
        f"{chosen.worst:.6g}, distortion {chosen.distortion:.6g} ({chosen.method})",
        err=True,
    )


def _check_names(*outputs: Path | None) -> None:
    """Refuse output names with another suffix than CSV; a name may have none."""
    from unmask.data.source_files import SUFFIXES

    for path in outputs:
        if path is not None and path.name.lower().endswith((".gz", *SUFFIXES)) and path.suffix.lower() != ".csv":
            raise UnmaskError(f"output {path.name!r} has the name of another format, expected a CSV; call it .csv")


def _curve(solve: Any, budget: float, largest: float) -> str:
    """Return the trade-off about a budget as CSV, without budgets that the constraints do not allow."""
    import numpy as np

    max_budget = min(2 * budget, largest)  # what costs more than any output is not bounded at all
    min_budget = min(budget, max_budget) / CURVE_POINTS
    steps = np.linspace(min_budget, max_budget, CURVE_POINTS).tolist() if budget > 0 else [0.0]
    lines = ["distortion,privacy,worst,leakage_bits"]
    for step in steps:
        try:
            point = solve(step)
        except UnmaskError:  # below the least feasible budget
            continue
        lines.append(f"{point.distortion!r},{point.privacy!r},{point.worst!r},{point.leakage / math.log(2)!r}")
    if len(lines) == 1:
        raise FailedError(
            "no budget of the curve has a mechanism, so there is nothing to write; check --budget, or leave --curve out"
        )
    return "\n".join(dict.fromkeys(lines)) + "\n"  # beyond the budget that hides all, points repeat


def _written(secrets: tuple[str, ...], outputs: tuple[str, ...], table: NDArray[np.float64]) -> str:
    """Return a channel as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["", *outputs])
    writer.writerows([name, *map(repr, row)] for name, row in zip(secrets, table.tolist(), strict=True))
    return buffer.getvalue()
