"""`unmask audit channel` and `unmask design`: channels in files, and the best mechanism within a budget."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from unmask.cli.files import as_text, provenance, refuse_to_overwrite, say_notes, stems, write_texts
from unmask.cli.options import share
from unmask.cli.output import Output, audit_output, measures
from unmask.writing import STANDARD_OUTPUT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unmask.channels import Channel
    from unmask.measures.losses import LossName
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
@click.option("--unit", help="Unit of the loss, such as m or km; else distance, or loss for a file.")
@click.option("--no-limit", is_flag=True, help="Leave out the limit that no mechanism passes.")
@audit_output
def audit_channel(
    channels: tuple[Path, ...],
    prior: Path | None,
    loss: str,
    coordinates: Path | None,
    distortion: Path | None,
    unit: str | None,
    no_limit: bool,
    output: Output,
) -> None:
    r"""Say what the best adversary can still estimate through channels of the same secrets.

    A channel is a CSV: a line of output names behind an empty cell, then a line for each secret, its name and the
    chance of each output. A loss has answers in lines and secrets in columns.

    \b
    unmask audit channel response.csv
    unmask audit channel a.csv b.csv --prior prior.csv --loss euclidean --coordinates places.csv --report out.html
    """
    from unmask.studies.channels import Stakes, study_channels

    names = stems(channels)
    first = _channel(channels[0], prior, None)
    secrets, outputs = first.x_labels or (), first.y_labels or ()
    read = {names[0]: first} | {
        name: _channel(path, prior, secrets) for name, path in zip(names[1:], channels[1:], strict=True)
    }
    meant = _loss(loss, secrets, coordinates, unit)
    cost = None if distortion is None else _named(distortion, secrets, outputs)
    stakes = Stakes(
        meant.loss,
        meant.points,
        answers=meant.answers,
        distortion=cost,
        name=Path(loss).stem,
        unit=meant.unit,
        distortion_unit=meant.unit if cost is None else "cost",
    )
    found = study_channels(
        read,
        stakes,
        title=f"Audit of {', '.join(read)}",
        reproduce=provenance(),
        limit=not no_limit,
    )
    output.give(found, _json)


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
    from unmask.measures.error import bayes
    from unmask.posterior import Posterior

    refuse_to_overwrite(curve, force=force, stream=output)
    if as_json and output == STANDARD_OUTPUT:
        raise click.UsageError("--json and -o - both say what is printed; leave one out")
    _check_names(output, curve)
    secrets, chance = _prior(prior)
    meant = _loss(loss, secrets, coordinates, None)
    shown = secrets
    if distortion is None:
        cost, shown = meant.matrix(len(secrets)).T, meant.answers or secrets
    elif distortion in NAMED_LOSSES:
        cost = _loss(distortion, secrets, coordinates, None).matrix(len(secrets)).T
    else:
        cost = _named(Path(distortion), secrets, secrets)
    solve = partial(
        optimal_mechanism,
        chance,
        meant.loss,
        cost,
        coordinates=meant.points,
        epsilon=epsilon,
        delta=delta,
        worst_case=worst_case,
    )
    found = solve(budget)
    result = {
        "privacy": found.privacy,
        "worst": found.worst,
        "distortion": found.distortion,
        "leakage_bits": found.leakage / math.log(2),
        "method": found.method,
        "gap": found.gap,
        "prior_error": bayes(Posterior.from_dense(chance[None]), meant.loss, coordinates=meant.points).average,
    }
    most = min(2 * budget, float(cost.max()))  # what costs more than any output is not bounded at all
    least = min(budget, most)
    budgets = np.linspace(least / CURVE_POINTS, most, CURVE_POINTS) if budget > 0 else np.zeros(1)
    texts = {output: _written(secrets, shown, found.channel.dense())}
    if curve is not None:
        texts[curve] = _curve(solve, budgets)
    write_texts(texts)
    if as_json:
        click.echo(as_text(result))
    click.echo(
        f"wrote {output}: privacy {found.privacy:.6g} of at most {result['prior_error']:.6g}, worst case "
        f"{found.worst:.6g}, distortion {found.distortion:.6g} ({found.method})",
        err=True,
    )


def _check_names(*outputs: Path | None) -> None:
    """What is written is CSV, and a name says so or nothing."""
    from unmask.engines.given import SUFFIXES
    from unmask.errors import UnmaskError

    for path in outputs:
        if path is not None and path.name.lower().endswith((".gz", *SUFFIXES)) and path.suffix.lower() != ".csv":
            raise UnmaskError(f"output {path.name!r} has the name of another format, expected a CSV; call it .csv")


def _curve(solve: Any, budgets: NDArray[np.float64]) -> str:
    """The trade-off as CSV; budgets that the constraints do not allow are left out."""
    from unmask.errors import FailedError, UnmaskError

    lines = ["distortion,privacy,worst,leakage_bits"]
    for budget in budgets.tolist():
        try:
            point = solve(budget)
        except UnmaskError:  # below the least feasible budget
            continue
        lines.append(f"{point.distortion!r},{point.privacy!r},{point.worst!r},{point.leakage / math.log(2)!r}")
    if len(lines) == 1:
        raise FailedError(
            "no budget of the curve has a mechanism, so there is nothing to write; check --budget, or leave --curve out"
        )
    return "\n".join(dict.fromkeys(lines)) + "\n"  # beyond the budget that hides all, points repeat


def _json(found: ReportData) -> dict[str, Any]:
    from dataclasses import asdict

    assert found.channel is not None
    return {
        "channel": asdict(found.channel),
        "measures": measures(found),
        "warnings": [f"not run: {what}: {why}" for what, why in found.not_run],
    }


def _channel(path: Path, prior: Path | None, order: tuple[str, ...] | None) -> Channel:
    """A channel, its secrets in this order, its outputs in that of the secrets where they are the secrets."""
    import numpy as np

    from unmask.channels import Channel
    from unmask.errors import UnmaskError

    outputs, secrets, table = _matrix(path)
    if order is not None:
        table, secrets = table[_places(order, secrets, path, "secrets")], order
    if set(outputs) == set(secrets):
        table, outputs = table[:, _places(secrets, outputs, path, "outputs")], secrets
    chance = None
    if prior is not None:
        names, given = _prior(prior)
        chance = np.asarray(given[_places(secrets, names, prior, "secrets")])
    try:
        return Channel(table, chance, x_labels=secrets, y_labels=outputs)
    except UnmaskError as error:
        raise UnmaskError(f"{path.name}: {error}") from None


def _places(wanted: tuple[str, ...], names: tuple[str, ...], path: Path, what: str) -> NDArray[np.int64]:
    """Where each wanted name stands in a file that must have the same names, in any order."""
    import numpy as np

    from unmask.errors import UnmaskError

    place = {name: i for i, name in enumerate(names)}
    if set(place) != set(wanted) or len(names) != len(wanted):
        raise UnmaskError(f"{path.name} has other {what} than the file before it, expected the same names")
    return np.array([place[name] for name in wanted])


def _named(path: Path, secrets: tuple[str, ...], outputs: tuple[str, ...]) -> NDArray[np.float64]:
    """(n_x, n_y) a distortion, secrets in lines and outputs in columns, matched by name."""
    columns, lines, table = _matrix(path)
    by_secret = table[_places(secrets, lines, path, "secrets")]
    return by_secret[:, _places(outputs, columns, path, "outputs")]


class Meant(NamedTuple):
    """The loss that was asked for: a name with the places of the secrets, or a matrix with the names of its lines,
    where they are not the secrets; and its unit.
    """

    loss: LossName | NDArray[np.float64]
    points: NDArray[np.float64] | None
    answers: tuple[str, ...] | None
    unit: str

    def matrix(self, n: int) -> NDArray[np.float64]:
        """(n_answers, n) the loss of answering a line, or a secret."""
        from unmask.measures.losses import as_matrix

        return as_matrix(self.loss, n, coordinates=self.points)


def _loss(loss: str, secrets: tuple[str, ...], coordinates: Path | None, unit: str | None) -> Meant:
    """A named loss over the secrets, or a file: its columns are the secrets, its lines the answers, both by name."""
    from unmask.errors import UnmaskError

    if loss not in NAMED_LOSSES:
        path = Path(loss)
        if not path.suffix and not path.exists():
            raise UnmaskError(f"the loss {loss!r} is neither a file nor one of {', '.join(NAMED_LOSSES)}")
        columns, lines, table = _matrix(path)
        table = table[:, _places(secrets, columns, path, "secrets")]
        if set(lines) == set(secrets):
            return Meant(table[_places(secrets, lines, path, "answers")], None, None, unit or "loss")
        return Meant(table, None, lines, unit or "loss")
    if loss == "hamming":
        return Meant("hamming", None, None, "probability")
    points = _points(loss, secrets, coordinates)
    squared = f"{unit}²" if unit else "squared distance"
    return Meant(cast("LossName", loss), points, None, squared if loss == "squared" else unit or "distance")


def _points(loss: str, secrets: tuple[str, ...], coordinates: Path | None) -> NDArray[np.float64]:
    """(n, n_dimensions) where the secrets lie: all columns of the coordinates, or the numbers that they are."""
    import numpy as np

    from unmask.errors import UnmaskError

    if coordinates is None:
        try:
            return np.array([[float(name)] for name in secrets])
        except ValueError:
            raise UnmaskError(f"the loss {loss} needs numbers, and a secret is none; give --coordinates") from None
    _, names, points = _matrix(coordinates)
    place = {name: i for i, name in enumerate(names)}
    if not set(secrets) <= set(place):
        raise UnmaskError(f"{coordinates.name} lacks coordinates of a secret, expected one line for each")
    return points[[place[name] for name in secrets]]


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

    from unmask.engines.room import scratch
    from unmask.errors import FailedError, UnmaskError

    try:
        with scratch(None) as folder, _text(path, folder).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            numbered = [(reader.line_num, line) for line in reader if line]
    except csv.Error:
        raise FailedError(f"file {path.name!r} is no CSV, or has an endless cell; check the file") from None
    lines = [line for _, line in numbered]
    if len(lines) < 2 or len(lines[0]) < 2:
        raise UnmaskError(
            f"file {path.name!r} has no numbers, expected a line of names and lines of a name and numbers"
        )
    width = len(lines[0])
    wrong = next((i for i, line in enumerate(lines) if len(line) != width), None)
    if wrong is not None:
        raise UnmaskError(f"line {numbered[wrong][0]} of {path.name} has {len(lines[wrong])} cells, expected {width}")
    names = tuple(line[0].strip() for line in lines[1:])
    if len(set(names)) < len(names):
        raise UnmaskError(f"file {path.name!r} names a line twice, expected every name once")
    numbers = np.empty((len(names), width - 1))
    for i, line in enumerate(lines[1:]):
        try:
            numbers[i] = [float(cell) for cell in line[1:]]
        except ValueError:
            raise UnmaskError(
                f"line {numbered[i + 1][0]} of {path.name} has a cell that is no number, expected numbers"
            ) from None
    return tuple(name.strip() for name in lines[0][1:]), names, numbers


def _text(path: Path, folder: str) -> Path:
    """The file in UTF-8; what was guessed of it is said."""
    from unmask.engines.given import given
    from unmask.errors import UnmaskError

    file = given(path, folder)
    if file.form != "text" or path.name.lower().endswith(".gz"):
        raise UnmaskError(f"file {path.name!r} is no plain text, expected a CSV; export it as one")
    say_notes([file.note] if file.note else [])
    return file.path


def _written(secrets: tuple[str, ...], outputs: tuple[str, ...], table: NDArray[np.float64]) -> str:
    """A channel as CSV."""
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["", *outputs])
    writer.writerows([name, *map(repr, row)] for name, row in zip(secrets, table.tolist(), strict=True))
    return out.getvalue()
