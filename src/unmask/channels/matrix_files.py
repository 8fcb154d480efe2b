"""Files of channels, priors and losses: numbers whose lines and columns have names."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.channels.channel import Channel
from unmask.channels.evidence.forms import (
    COLUMNS,
    MAX_ROUNDING,
    PERCENT,
    SECRET_NAMES,
    Form,
    check_secrets,
    is_list,
    recognize_form,
)
from unmask.core.errors import UnmaskError
from unmask.data.event_logs import Lines, check_widths, is_number, read_lines

SAMPLE_FORM = "expected a line secret,output, then a line for each run; or secret,output,count"

CHANNEL_FORMS: tuple[Form, ...] = ("channel", "counts", "samples")
"""Forms of files that are read as channels."""


class Prior(NamedTuple):
    """Secrets, their probabilities, and a note on rounded probabilities."""

    secrets: tuple[str, ...]
    probability: NDArray[np.float64]
    note: str


class Joint(NamedTuple):
    """Secrets, values of the data, and the probability of each pair of them, (n_secrets, n_data)."""

    secrets: tuple[str, ...]
    data: tuple[str, ...]
    table: NDArray[np.float64]


class Matrix(NamedTuple):
    """Column names, line names, numbers, and the cell above the line names."""

    columns: tuple[str, ...]
    lines: tuple[str, ...]
    table: NDArray[np.float64]
    corner: str


def read_channel_file(path: Path, prior: Path | None = None) -> Channel:
    """Read the channel of a file, whose form is recognized, with the prior of another file; uniform without one.

    Counts and samples become channels with their number of samples.
    """
    lines, chances = read_lines(path), None if prior is None else read_prior(prior)
    return read_channel(path, lines, recognize_form(path, lines), chances, None)[0]


def read_channel(
    path: Path, lines: Lines, form: Form, prior: Prior | None, order: tuple[str, ...] | None
) -> tuple[Channel, str]:
    """Return the channel of a file of a form, and a note on how it was read.

    Secrets are in this order, and outputs in the order of the secrets if their names are the same.
    """
    if form not in CHANNEL_FORMS:
        raise UnmaskError(f"{path.name} has {form}, expected a channel, counts or samples; name such a file")
    outputs, secrets, table, note = _read_evidence(path, lines, form)
    if len(set(outputs)) < len(outputs):
        raise UnmaskError(f"file {path.name!r} names a column twice, expected every output once")
    if form == "channel":
        table, note = _normalize(table, path, "rows")
    if order is not None:
        table, secrets = table[match_names(order, secrets, path, "secrets")], order
    if set(outputs) == set(secrets):
        table, outputs = table[:, match_names(secrets, outputs, path, "outputs")], secrets
    if form != "channel" and prior is not None:
        raise UnmaskError(f"{path.name} has counts, whose shares are the prior; leave `prior` out")
    try:
        if form != "channel":
            size = f"{table.sum():,.0f} {note}, of {len(secrets):,} secrets and {len(outputs):,} outputs"
            note = f"{path.name} is read as {size}: what leaks is estimated."
            return Channel.from_counts(table, x_labels=secrets, y_labels=outputs), note
        probability = prior and prior.probability[match_names(secrets, prior.secrets, path, "secrets")]
        return Channel(table, probability, x_labels=secrets, y_labels=outputs), note
    except UnmaskError as error:
        raise UnmaskError(f"{path.name}: {error}") from None


def read_named(path: Path, secrets: tuple[str, ...], outputs: tuple[str, ...]) -> NDArray[np.float64]:
    """Read the (n_x, n_y) distortion of secrets in lines and outputs in columns, matched by name."""
    columns, lines, table, _ = read_matrix(path)
    by_secret = table[match_names(secrets, lines, path, "secrets")]
    return by_secret[:, match_names(outputs, columns, path, "outputs")]


def read_joint(path: Path) -> Joint:
    """Read the joint distribution of secrets in lines and data in columns, which sums to 1."""
    data, secrets, table, _ = read_matrix(path)
    check_secrets(path, data)
    total = float(table.sum())
    if not (table.min() >= 0 and abs(total - 1) <= MAX_ROUNDING):
        hint = "divide percentages by 100" if abs(total - PERCENT) <= PERCENT * MAX_ROUNDING else "give every pair"
        raise UnmaskError(f"the probabilities in {path.name} sum to {total:.6g}, expected 1, none below 0: {hint}")
    return Joint(secrets, data, table / total)


def read_prior(path: Path) -> Prior:
    """Read secrets and their probabilities; a first line whose second cell is a number is not a header."""
    columns, secrets, table, corner = read_matrix(path)
    if table.shape[1] != 1:
        raise UnmaskError(f"{path.name} has {table.shape[1]} columns of numbers, expected one: secret and probability")
    chance = table[:, 0]
    if is_number(columns[0]):
        check_secrets(path, (corner, *secrets))
        secrets, chance = (corner, *secrets), np.concatenate([[float(columns[0])], chance])
    table, note = _normalize(chance[None], path, "probabilities")
    return Prior(secrets, table[0], note)


def read_matrix(path: Path) -> Matrix:
    """Read a file whose first line and first column are names, and all other cells numbers."""
    return _parse_matrix(path, read_lines(path))


def match_names(expected: tuple[str, ...], names: tuple[str, ...], path: Path, noun: str) -> NDArray[np.int64]:
    """Return the place of each expected name in a file, which must have the same names in any order."""
    place = {name: i for i, name in enumerate(names)}
    if set(place) != set(expected) or len(names) != len(expected):
        raise UnmaskError(f"{path.name} has other {noun} than the file before it, expected the same names")
    return np.array([place[name] for name in expected])


# --- channels ---


def _read_evidence(path: Path, lines: Lines, form: Form) -> Matrix:
    """Return the numbers of a channel, counts or samples; the noun of counts in the place of the corner."""
    head = [cell.strip().casefold() for cell in lines[0][1]] if lines else []
    if form == "samples" or (form == "counts" and (set(COLUMNS["counts"]) <= set(head) or is_list(head))):
        return _count_samples(path, lines)
    columns, secrets, table, corner = _parse_matrix(path, lines)
    if corner and (is_number(corner) or _lacks_names(secrets, table, corner, counted=form == "counts")):
        raise UnmaskError(
            f"the first column of {path.name} is secret names or an output; begin the first line with an empty cell, "
            "and every other line with the name of a secret"
        )
    return Matrix(columns, secrets, table, "runs")


def _lacks_names(secrets: tuple[str, ...], table: NDArray[np.float64], corner: str, *, counted: bool) -> bool:
    """Return whether the column of secret names may be the first output."""
    if corner.lower() in SECRET_NAMES or not all(map(is_number, secrets)):
        return False
    total = np.array(secrets, dtype=np.float64) + table.sum(axis=1)
    return counted or bool(np.abs(total - 1).max() <= MAX_ROUNDING)


def _count_samples(path: Path, lines: Lines) -> Matrix:
    """Count lines secret, output, or secret, output, count, below a line of these names."""
    head = [cell.strip() for cell in lines[0][1]] if lines else []
    names = [name.casefold() for name in head]
    place = [names.index(name) for name in COLUMNS["counts"] if name in names]
    place = place if len(place) >= 2 else list(range(len(head)))
    cells = [[line[i].strip() for i in place] for _, line in lines[1:] if len(line) == len(head)]
    if not cells or len(cells) < len(lines) - 1 or len(place) not in (2, 3):
        raise UnmaskError(f"{path.name} does not contain samples; {SAMPLE_FORM}")
    if not all(line[2].isdecimal() for line in cells if line[2:]):
        raise UnmaskError(f"{path.name} has a count that is not a whole number from 0 on; {SAMPLE_FORM}")
    (secrets, x), (outputs, y) = (np.unique([line[i] for line in cells], return_inverse=True) for i in (0, 1))
    secret_name, output_name = (head[place[i]] for i in (0, 1))
    if secret_name in secrets and output_name in outputs:
        raise UnmaskError(f"{path.name} has no line of column names; {SAMPLE_FORM}")
    table = np.zeros((len(secrets), len(outputs)))
    np.add.at(table, (x, y), [float(line[2]) if line[2:] else 1.0 for line in cells])
    form = f"samples with the secret in column {secret_name!r} and the output in column {output_name!r}"
    return Matrix(tuple(outputs.tolist()), tuple(secrets.tolist()), table, form)


def _normalize(table: NDArray[np.float64], path: Path, noun: str) -> tuple[NDArray[np.float64], str]:
    """Divide each row by its sum if that is 1 but for rounding, with a note; leave other numbers as they are."""
    total = table.sum(axis=1)
    difference = np.abs(total - 1)
    if not 1e-9 < difference.max() < math.inf or table.min() < 0:
        return table, ""
    is_off = difference > MAX_ROUNDING + 1e-9
    if is_off.any():
        row = int(np.argmax(is_off))
        secret = f" of secret number {row + 1}" if len(table) > 1 else ""
        question = f"the probabilities{secret} in {path.name} sum to {total[row]:.6g}, expected 1"
        raise UnmaskError(f"{question}: {_advise(table, total)}")
    low, high = f"{total.min():.6g}", f"{total.max():.6g}"
    sums = low if low == high else f"{low} to {high}"
    return table / total[:, None], f"The {noun} of {path.name} sum to {sums}; they were divided by their sum."


def _advise(table: NDArray[np.float64], total: NDArray[np.float64]) -> str:
    """Return what to do with rows that do not sum to 1, by what else they may be; total : their sums."""
    if not total.all():
        return "leave that secret out"
    if len(table) > 1 and abs(total.sum() - 1) <= MAX_ROUNDING:
        return "the whole file does; divide each line by its sum, and give the sums with `prior`"
    if len(table) > 1 and np.abs(table.sum(axis=0) - 1).max() <= MAX_ROUNDING:
        return "its columns do; write secrets in lines and outputs in columns"
    if np.abs(total - PERCENT).max() <= PERCENT * MAX_ROUNDING:
        return "divide percentages by 100"
    return "give every probability" if len(table) == 1 else "give every output, or whole numbers, which are counts"


# --- cells ---


def _parse_matrix(path: Path, numbered: Lines) -> Matrix:
    """Return the matrix of lines, each with its number in the file."""
    if len(numbered) < 2 or len(numbered[0][1]) < 2:
        raise UnmaskError(
            f"file {path.name!r} has no numbers, expected a line of names and lines of a name and numbers"
        )
    head = numbered[0][1]
    check_widths(path, numbered)
    names = tuple(line[0].strip() for _, line in numbered[1:])
    check_secrets(path, names)
    table = np.empty((len(names), len(head) - 1))
    for i, (number, line) in enumerate(numbered[1:]):
        try:
            table[i] = [float(cell) for cell in line[1:]]
        except ValueError:
            raise UnmaskError(f"line {number} of {path.name} has a cell that is not a number") from None
    return Matrix(tuple(name.strip() for name in head[1:]), names, table, head[0].strip())
