"""Files of channels, priors and losses: numbers whose lines and columns have names."""

from __future__ import annotations

import csv
import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, cast

import duckdb
import numpy as np
from numpy.typing import NDArray

from unmask.channels.channel import Channel
from unmask.core.errors import FailedError, UnmaskError
from unmask.data.databases import explain_failure, open_database
from unmask.data.encodings import open_text
from unmask.data.resources import temporary_folder
from unmask.data.source_files import prepare_file, read_head, scan_parquet

_log = logging.getLogger(__name__)

MAX_ROUNDING = 1e-3
"""Difference between 1 and the sum of rounded probabilities, which are divided by their sum, with a note."""

PERCENT = 100
"""Sum of percentages."""

COUNT_NAMES = ("count", "counts", "n", "freq", "frequency", "runs")
"""Names of a column that counts the runs of a secret and an output."""

SECRET_NAMES = ("secret", "secrets", "input", "x", "name", "id")
"""Headers of the column of secret names, in addition to an empty cell."""

SAMPLE_FORM = "expected a line secret,output, then a line for each run; or secret,output,count"

Evidence = Literal["auto", "channel", "counts", "samples"]
"""Form of a file: probabilities, counts of runs by secret and output, or a line for each run."""


class Prior(NamedTuple):
    """Secrets, their probabilities, and a note on rounded probabilities."""

    secrets: tuple[str, ...]
    probability: NDArray[np.float64]
    note: str


class Matrix(NamedTuple):
    """Column names, line names, numbers, and the cell above the line names."""

    columns: tuple[str, ...]
    lines: tuple[str, ...]
    table: NDArray[np.float64]
    corner: str


def read_channels(
    paths: Sequence[Path], prior: Path | None, *, evidence: Evidence = "auto"
) -> tuple[list[Channel], list[str]]:
    """Read channels of the same secrets, in the order of the first file, with one prior; uniform without a file.

    Counts and samples become channels with their number of samples. Also returns a note on each file of counts, and of
    rounded numbers.
    """
    chances = None if prior is None else read_prior(prior)
    notes = [] if chances is None else [chances.note]
    channels: list[Channel] = []
    for path in paths:
        order = channels[0].x_labels if channels else None
        channel, note = _read_channel(path, prior, chances, order, evidence)
        channels.append(channel)
        notes.append(note)
    return channels, [note for note in notes if note]


def read_named(path: Path, secrets: tuple[str, ...], outputs: tuple[str, ...]) -> NDArray[np.float64]:
    """Read the (n_x, n_y) distortion of secrets in lines and outputs in columns, matched by name."""
    columns, lines, table, _ = read_matrix(path)
    by_secret = table[match_names(secrets, lines, path, "secrets")]
    return by_secret[:, match_names(outputs, columns, path, "outputs")]


def read_prior(path: Path) -> Prior:
    """Read secrets and their probabilities; a first line whose second cell is a number is not a header."""
    columns, secrets, table, corner = read_matrix(path)
    if table.shape[1] != 1:
        raise UnmaskError(f"{path.name} has {table.shape[1]} columns of numbers, expected one: secret and probability")
    chance = table[:, 0]
    if _is_number(columns[0]):
        if corner in secrets:
            raise UnmaskError(f"file {path.name!r} names a line twice, expected every name once")
        secrets, chance = (corner, *secrets), np.concatenate([[float(columns[0])], chance])
    table, note = _normalize(chance[None], path, "probabilities")
    return Prior(secrets, table[0], note)


def read_matrix(path: Path) -> Matrix:
    """Read a file whose first line and first column are names, and all other cells numbers."""
    return _parse_matrix(path, _read_lines(path))


def match_names(expected: tuple[str, ...], names: tuple[str, ...], path: Path, noun: str) -> NDArray[np.int64]:
    """Return the place of each expected name in a file, which must have the same names in any order."""
    place = {name: i for i, name in enumerate(names)}
    if set(place) != set(expected) or len(names) != len(expected):
        raise UnmaskError(f"{path.name} has other {noun} than the file before it, expected the same names")
    return np.array([place[name] for name in expected])


# --- channels ---


def _read_channel(
    path: Path, prior: Path | None, chances: Prior | None, order: tuple[str, ...] | None, evidence: Evidence
) -> tuple[Channel, str]:
    """Return a channel with its secrets in this order, and outputs in the order of the secrets if they are the same."""
    (outputs, secrets, table, corner), form = _read_evidence(path, evidence)
    if len(set(outputs)) < len(outputs):
        raise UnmaskError(f"file {path.name!r} names a column twice, expected every output once")
    if corner and (_is_number(corner) or _lacks_names(secrets, table, corner, counted=bool(form))):
        raise UnmaskError(
            f"the first column of {path.name} is secret names or an output; begin the first line with an empty cell, "
            "and every other line with the name of a secret"
        )
    table, note = (table, "") if form else _normalize(table, path, "rows")
    if order is not None:
        table, secrets = table[match_names(order, secrets, path, "secrets")], order
    if set(outputs) == set(secrets):
        table, outputs = table[:, match_names(secrets, outputs, path, "outputs")], secrets
    if form and prior is not None:
        raise UnmaskError(f"{path.name} has counts, whose shares are the prior; leave --prior out")
    try:
        if form:
            size = f"{table.sum():,.0f} {form}, of {len(secrets):,} secrets and {len(outputs):,} outputs"
            note = f"{path.name} is read as {size}: what leaks is estimated."
            return Channel.from_counts(table, x_labels=secrets, y_labels=outputs), note
        probability = (
            chances and chances.probability[match_names(secrets, chances.secrets, cast(Path, prior), "secrets")]
        )
        return Channel(table, probability, x_labels=secrets, y_labels=outputs), note
    except UnmaskError as error:
        raise UnmaskError(f"{path.name}: {error}") from None


def _lacks_names(secrets: tuple[str, ...], table: NDArray[np.float64], corner: str, *, counted: bool) -> bool:
    """Return whether the column of secret names may be the first output."""
    if corner.lower() in SECRET_NAMES or not all(map(_is_number, secrets)):
        return False
    total = np.array(secrets, dtype=np.float64) + table.sum(axis=1)
    return counted or bool(np.abs(total - 1).max() <= MAX_ROUNDING)


def _read_evidence(path: Path, evidence: Evidence) -> tuple[Matrix, str]:
    """Return a file as a matrix, and the noun for its counts; "" for probabilities."""
    numbered = _read_lines(path)
    lines = [[cell.strip() for cell in line] for _, line in numbered]
    head, names = lines[0] if lines else [""], [line[0] for line in lines[1:]]
    is_list = head[0] and (len(head) == 2 or (len(head) == 3 and head[2].lower() in COUNT_NAMES))
    if evidence == "samples" or (evidence == "auto" and is_list and len(set(names)) < len(names)):
        return _count_samples(path, lines)
    matrix = _parse_matrix(path, numbered)
    total, is_whole = matrix.table.sum(axis=1), np.array_equal(matrix.table, np.floor(matrix.table))
    if evidence == "auto" and is_whole and np.all(total == PERCENT):
        raise UnmaskError(
            f"the lines of {path.name} sum to {PERCENT}: add --evidence counts if these are counts, or divide "
            "percentages by 100"
        )
    counted = evidence == "counts" or (evidence == "auto" and is_whole and np.any(total != 1))
    return matrix, "runs" if counted else ""


def _count_samples(path: Path, lines: Sequence[Sequence[str]]) -> tuple[Matrix, str]:
    """Count lines secret, output, or secret, output, count, below a line of these names."""
    width = {len(line) for line in lines}
    if len(lines) < 2 or width not in ({2}, {3}) or not all(line[2].isdecimal() for line in lines[1:] if line[2:]):
        raise UnmaskError(f"{path.name} does not contain samples; {SAMPLE_FORM}")
    order = (1, 0) if [name.lower() for name in lines[0][:2]] == ["output", "secret"] else (0, 1)
    (secrets, x), (outputs, y) = (np.unique([line[i] for line in lines[1:]], return_inverse=True) for i in order)
    secret_name, output_name = (lines[0][i] for i in order)
    if secret_name in secrets and output_name in outputs:
        raise UnmaskError(f"{path.name} has no line of column names; {SAMPLE_FORM}")
    table = np.zeros((len(secrets), len(outputs)))
    np.add.at(table, (x, y), [float(line[2]) if line[2:] else 1.0 for line in lines[1:]])
    form = f"samples with the secret in column {secret_name!r} and the output in column {output_name!r}"
    return Matrix(tuple(outputs.tolist()), tuple(secrets.tolist()), table, ""), form


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
        return "the whole file does; divide each line by its sum, and give the sums with --prior"
    if len(table) > 1 and np.abs(table.sum(axis=0) - 1).max() <= MAX_ROUNDING:
        return "its columns do; write secrets in lines and outputs in columns"
    if np.abs(total - PERCENT).max() <= PERCENT * MAX_ROUNDING:
        return "divide percentages by 100"
    return "divide them by their sum" if len(table) == 1 else "give every output, or whole numbers, which are counts"


# --- lines of cells ---


def _parse_matrix(path: Path, numbered: Sequence[tuple[int, list[str]]]) -> Matrix:
    """Return the matrix of lines, each with its number in the file."""
    if len(numbered) < 2 or len(numbered[0][1]) < 2:
        raise UnmaskError(
            f"file {path.name!r} has no numbers, expected a line of names and lines of a name and numbers"
        )
    head = numbered[0][1]
    for number, line in numbered:
        if len(line) != len(head):
            raise UnmaskError(f"line {number} of {path.name} has {len(line)} cells, expected {len(head)}")
    names = tuple(line[0].strip() for _, line in numbered[1:])
    if len(set(names)) < len(names):
        raise UnmaskError(f"file {path.name!r} names a line twice, expected every name once")
    table = np.empty((len(names), len(head) - 1))
    for i, (number, line) in enumerate(numbered[1:]):
        try:
            table[i] = [float(cell) for cell in line[1:]]
        except ValueError:
            raise UnmaskError(f"line {number} of {path.name} has a cell that is no number, expected numbers") from None
    return Matrix(tuple(name.strip() for name in head[1:]), names, table, head[0].strip())


def _read_lines(path: Path) -> list[tuple[int, list[str]]]:
    """Read the lines of a text file, a workbook or a Parquet file as cells of text, with their numbers."""
    with temporary_folder(None) as folder:
        file = prepare_file(path, folder)
        if file.note:
            _log.warning("%s", file.note)
        if file.kind == "parquet":
            return list(enumerate(_read_parquet(file.path), start=1))
        if not file.path.stat().st_size:
            return []
        delimiter = read_head(file.path).delimiter
        try:
            with open_text(file.path) as text:
                reader = csv.reader(text, delimiter=delimiter)
                numbered = [(reader.line_num, line) for line in reader if any(cell.strip() for cell in line)]
        except csv.Error:
            raise FailedError(f"file {path.name!r} is no CSV, or has an endless cell; check the file") from None
    if delimiter == ";":  # then numbers may have decimal commas
        return [(number, [line[0], *(cell.replace(",", ".") for cell in line[1:])]) for number, line in numbered]
    return numbered


def _read_parquet(path: Path) -> list[list[str]]:
    """Return the names of the columns and the cells of a Parquet file, as texts."""
    with open_database() as connection:
        try:
            result = connection.execute(f"select * from {scan_parquet([path])}")
            names = [column[0] for column in result.description or ()]
            return [names, *([str(cell) for cell in row] for row in result.fetchall())]
        except duckdb.Error as error:  # whose message may quote a cell
            raise explain_failure(
                error, f"file {path.name!r} is no readable Parquet file; it may be truncated"
            ) from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
