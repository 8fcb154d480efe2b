"""`unmask audit channel` and `unmask design`: channels in files, and the best mechanism within a budget."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli.files import as_text, provenance, refuse_to_overwrite, say_findings, stems, write_report, write_text
from unmask.cli.options import share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unmask.channels import Channel
    from unmask.reports import ReportData

NAMED_LOSSES = ("hamming", "absolute", "squared", "euclidean")

CURVE_POINTS = 12
"""Budgets at which `design` solves the trade-off curve."""

FILE = click.Path(path_type=Path)


@click.command("audit channel")
@click.argument("channels", nargs=-1, required=True, type=FILE)
@click.option("--prior", type=FILE, help="CSV of secret and probability; uniform when left out.")
@click.option("--loss", default="hamming", show_default=True, help="hamming, absolute, squared, euclidean, or a CSV.")
@click.option("--coordinates", type=FILE, help="CSV of secret and coordinates; else the secrets are numbers.")
@click.option("--distortion", type=FILE, help="CSV of what showing an output for a secret costs; else the loss.")
@click.option("--no-limit", is_flag=True, help="Leave out the limit that no mechanism passes.")
@click.option("--report", type=FILE, help="Write the report, one HTML file.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--force", is_flag=True, help="Overwrite the report.")
def audit_channel(
    channels: tuple[Path, ...],
    prior: Path | None,
    loss: str,
    coordinates: Path | None,
    distortion: Path | None,
    no_limit: bool,
    report: Path | None,
    as_json: bool,
    force: bool,
) -> None:
    r"""Say what the best adversary can still estimate through channels of the same secrets.

    A channel is a CSV: a line of output names behind an empty cell, then a line for each secret, its name and the
    chance of each output. A loss has answers in lines and secrets in columns.

    \b
    unmask audit channel response.csv
    unmask audit channel a.csv b.csv --prior prior.csv --loss euclidean --coordinates places.csv --report out.html
    """
    from unmask.studies.channels import Stakes, study_channels

    if report is not None:
        refuse_to_overwrite(report, force=force)
    read = {name: _channel(path, prior) for name, path in zip(stems(channels), channels, strict=True)}
    secrets = next(iter(read.values())).x_labels or ()
    table, unit = _loss(loss, secrets, coordinates)
    cost = None if distortion is None else _matrix(distortion)[2]
    stakes = Stakes(table, cost, name=Path(loss).stem, unit=unit, distortion_unit=unit if cost is None else "cost")
    found = study_channels(
        read,
        stakes,
        title=f"Audit of {', '.join(read)}",
        reproduce=provenance(0, (*channels, prior, coordinates, distortion)),
        limit=not no_limit,
    )
    if report is not None:
        write_report(found, report, force=force)
    if as_json:
        click.echo(as_text(_json(found)))
    else:
        say_findings(found)
    if report is not None:
        click.echo(f"wrote {report}", err=True)


@click.command()
@click.option("--prior", required=True, type=FILE, help="CSV of secret and probability.")
@click.option("--loss", default="hamming", show_default=True, help="Of the adversary, as in `audit channel`.")
@click.option("--distortion", help="Of the user: hamming, absolute, squared, euclidean, or a CSV; else the loss.")
@click.option("--coordinates", type=FILE, help="CSV of secret and coordinates; else the secrets are numbers.")
@click.option("--budget", required=True, type=click.FloatRange(0), callback=share, help="Largest expected distortion.")
@click.option("--epsilon", type=click.FloatRange(0, min_open=True), help="Local differential privacy at least this.")
@click.option("--delta", type=click.FloatRange(0, min_open=True), help="Belief in no secret changes by more (nats).")
@click.option("--worst-case", type=click.FloatRange(0), help="Error of the adversary at every output at least this.")
@click.option("--output", "-o", required=True, type=FILE, help="The mechanism, a CSV that `audit channel` reads.")
@click.option("--curve", type=FILE, help="Write the trade-off: CSV of distortion, privacy, worst case, leakage.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def design(
    prior: Path,
    loss: str,
    distortion: str | None,
    coordinates: Path | None,
    budget: float,
    epsilon: float | None,
    delta: float | None,
    worst_case: float | None,
    output: Path,
    curve: Path | None,
    as_json: bool,
    force: bool,
) -> None:
    r"""Find the mechanism that leaves the adversary the largest error within a budget of distortion.

    \b
    unmask design --prior prior.csv --budget 0.2 -o mechanism.csv
    unmask design --prior prior.csv --loss hamming --distortion absolute --budget 3 --epsilon 1 -o m.csv --curve c.csv
    """
    from functools import partial

    import numpy as np

    from unmask.channels import optimal_mechanism

    for path in (output, curve):
        if path is not None:
            refuse_to_overwrite(path, force=force)
    secrets, chance = _prior(prior)
    table, _ = _loss(loss, secrets, coordinates)
    cost = table.T if distortion is None else _loss(distortion, secrets, coordinates)[0].T
    solve = partial(optimal_mechanism, chance, table, cost, epsilon=epsilon, delta=delta, worst_case=worst_case)
    found = solve(budget)
    result = {
        "privacy": found.privacy,
        "worst": found.worst,
        "distortion": found.distortion,
        "leakage_bits": found.leakage / math.log(2),
        "method": found.method,
        "gap": found.gap,
        "prior_error": float((table @ chance).min()),
    }
    write_text(output, _written(secrets, found.channel.dense()))
    if curve is not None:
        budgets = np.linspace(budget / CURVE_POINTS, 2 * budget, CURVE_POINTS) if budget > 0 else np.zeros(1)
        write_text(curve, _curve(solve, budgets))
    if as_json:
        click.echo(as_text(result))
    click.echo(
        f"wrote {output}: privacy {found.privacy:.6g} of at most {result['prior_error']:.6g}, worst case "
        f"{found.worst:.6g}, distortion {found.distortion:.6g} ({found.method})",
        err=True,
    )


def _curve(solve: Any, budgets: NDArray[np.float64]) -> str:
    """The trade-off as CSV; budgets that the constraints do not allow are left out."""
    from unmask.errors import UnmaskError

    lines = ["distortion,privacy,worst,leakage_bits"]
    for budget in budgets.tolist():
        try:
            point = solve(budget)
        except UnmaskError:  # below the least feasible budget
            continue
        lines.append(f"{point.distortion!r},{point.privacy!r},{point.worst!r},{point.leakage / math.log(2)!r}")
    return "\n".join(dict.fromkeys(lines)) + "\n"  # beyond the budget that hides all, points repeat


def _json(found: ReportData) -> dict[str, Any]:
    from dataclasses import asdict

    assert found.channel is not None
    return {
        "channel": asdict(found.channel),
        "measures": [row.as_dict() for row in found.rows],
        "warnings": [f"not run: {what}: {why}" for what, why in found.not_run],
    }


def _channel(path: Path, prior: Path | None) -> Channel:
    import numpy as np

    from unmask.channels import Channel
    from unmask.errors import UnmaskError

    outputs, secrets, table = _matrix(path)
    chance = None
    if prior is not None:
        names, given = _prior(prior)
        place = {name: i for i, name in enumerate(names)}
        if set(place) != set(secrets):
            raise UnmaskError(f"{prior.name} has other secrets than {path.name}, expected the same names")
        chance = np.array([given[place[name]] for name in secrets])
    try:
        return Channel(table, chance, x_labels=secrets, y_labels=outputs)
    except UnmaskError as error:
        raise UnmaskError(f"{path.name}: {error}") from None


def _loss(loss: str, secrets: tuple[str, ...], coordinates: Path | None) -> tuple[NDArray[np.float64], str]:
    """(n_answers, n) d[answer, truth] and its unit: a named loss over the secrets, or a file."""
    import numpy as np

    from unmask.errors import UnmaskError
    from unmask.measures.losses import as_matrix

    if loss not in NAMED_LOSSES:
        return _matrix(Path(loss))[2], "loss"
    if loss == "hamming":
        return 1.0 - np.eye(len(secrets)), "probability"
    if coordinates is not None:
        _, names, points = _matrix(coordinates)
        place = {name: i for i, name in enumerate(names)}
        if not set(secrets) <= set(place):
            raise UnmaskError(f"{coordinates.name} lacks coordinates of a secret, expected one line for each")
        points = points[[place[name] for name in secrets]]
    else:
        try:
            points = np.array([[float(name)] for name in secrets])
        except ValueError:
            raise UnmaskError(f"the loss {loss} needs numbers, and a secret is none; give --coordinates") from None
    at = points if loss == "euclidean" else points[:, 0]
    return as_matrix(loss, len(secrets), coordinates=at), "distance" if loss != "squared" else "squared distance"


def _prior(path: Path) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Secrets and their chances, from a CSV with a header."""
    from unmask.errors import UnmaskError

    _, secrets, table = _matrix(path)
    if table.shape[1] != 1:
        raise UnmaskError(f"{path.name} has {table.shape[1]} columns of numbers, expected one: secret and probability")
    return secrets, table[:, 0]


def _matrix(path: Path) -> tuple[tuple[str, ...], tuple[str, ...], NDArray[np.float64]]:
    """Column names, row names and numbers of a CSV whose first line and first column are names."""
    import numpy as np

    from unmask.errors import FailedError, UnmaskError

    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = [line for line in csv.reader(file) if line]
    except OSError as error:
        raise FailedError(f"file {path.name!r} cannot be read: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise FailedError(f"file {path.name!r} is not UTF-8 text, expected CSV") from None
    if len(lines) < 2 or len(lines[0]) < 2:
        raise UnmaskError(
            f"file {path.name!r} has no numbers, expected a line of names and lines of a name and numbers"
        )
    width = len(lines[0])
    wrong = next((i for i, line in enumerate(lines) if len(line) != width), None)
    if wrong is not None:
        raise UnmaskError(f"line {wrong + 1} of {path.name} has {len(lines[wrong])} cells, expected {width}")
    names = tuple(line[0].strip() for line in lines[1:])
    if len(set(names)) < len(names):
        raise UnmaskError(f"file {path.name!r} names a line twice, expected every name once")
    numbers = np.empty((len(names), width - 1))
    for i, line in enumerate(lines[1:]):
        try:
            numbers[i] = [float(cell) for cell in line[1:]]
        except ValueError:
            raise UnmaskError(f"line {i + 2} of {path.name} has a cell that is no number, expected numbers") from None
    return tuple(name.strip() for name in lines[0][1:]), names, numbers


def _written(secrets: tuple[str, ...], table: NDArray[np.float64]) -> str:
    """A channel over the secrets as CSV."""
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["", *secrets])
    writer.writerows([name, *map(repr, row)] for name, row in zip(secrets, table.tolist(), strict=True))
    return out.getvalue()
