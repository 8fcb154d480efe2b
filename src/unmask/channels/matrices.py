"""Files of a channel: matrices whose lines and columns have names, in whatever format a table may be in."""

from __future__ import annotations

import csv
import gzip
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
from unmask.data.resources import temporary_folder
from unmask.data.source_files import prepare_file, read_head, scan_parquet
from unmask.databases import failure
from unmask.files import engine

_log = logging.getLogger(__name__)

ROUNDED = 1e-3
"""Rows that sum to 1 within this are numbers that were rounded: they are divided by their sum, which is said."""


PERCENT = 100
"""Sum of percentages."""

COUNTED = ("count", "counts", "n", "freq", "frequency", "runs")
"""Words above a column that counts the runs of a secret and an output."""

CORNERS = ("secret", "secrets", "input", "x", "name", "id")
"""Words above a column of secret names, besides an empty cell."""

LISTED = "expected a line secret,output, then a line for each run; or secret,output,count"

Evidence = Literal["auto", "channel", "counts", "samples"]
"""Form of a file: probabilities, counts of runs by secret and output, or a line for each run."""


class Prior(NamedTuple):
    """Secrets and their probabilities, and a sentence where these were rounded."""

    secrets: tuple[str, ...]
    chance: NDArray[np.float64]
    note: str


def read_channels(
    paths: Sequence[Path], prior: Path | None, *, evidence: Evidence = "auto"
) -> tuple[list[Channel], list[str]]:
    """Read channels of the same secrets, in the order of the first file's, with one prior; uniform without a file.

    Counts and samples become channels that know their number of samples. Also returns a sentence for each file whose
    numbers were rounded or counted.
    """
    known = None if prior is None else read_prior(prior)
    notes = [] if known is None else [known.note]
    channels: list[Channel] = []
    for path in paths:
        channel, note = _channel(path, prior, known, channels[0].x_labels if channels else None, evidence)
        channels.append(channel)
        notes.append(note)
    return channels, [note for note in notes if note]


def _channel(
    path: Path, prior: Path | None, known: Prior | None, order: tuple[str, ...] | None, evidence: Evidence
) -> tuple[Channel, str]:
    """Return a channel, its secrets in this order, its outputs in that of the secrets if they are the secrets."""
    (outputs, secrets, table, corner), form = _evidence(path, evidence)
    if len(set(outputs)) < len(outputs):
        raise UnmaskError(f"file {path.name!r} names a column twice, expected every output once")
    if corner and (_is_number(corner) or _is_nameless(secrets, table, corner, counted=bool(form))):
        raise UnmaskError(
            f"the first column of {path.name} is secret names or an output; begin the first line with an empty cell, "
            "and every other line with the name of a secret"
        )
    table, note = (table, "") if form else _summing_to_1(table, path, "rows")
    if order is not None:
        table, secrets = table[places(order, secrets, path, "secrets")], order
    if set(outputs) == set(secrets):
        table, outputs = table[:, places(secrets, outputs, path, "outputs")], secrets
    if form and prior is not None:
        raise UnmaskError(f"{path.name} has counts, whose shares are the prior; leave --prior out")
    try:
        if form:
            size = f"{table.sum():,.0f} {form}, of {len(secrets):,} secrets and {len(outputs):,} outputs"
            said = f"{path.name} is read as {size}: what leaks is estimated."
            return Channel.from_counts(table, x_labels=secrets, y_labels=outputs), said
        chance = known and known.chance[places(secrets, known.secrets, cast(Path, prior), "secrets")]
        return Channel(table, chance, x_labels=secrets, y_labels=outputs), note
    except UnmaskError as error:
        raise UnmaskError(f"{path.name}: {error}") from None


def _is_nameless(secrets: tuple[str, ...], table: NDArray[np.float64], corner: str, *, counted: bool) -> bool:
    """Return whether what is read as names of secrets may be the first output."""
    if corner.lower() in CORNERS or not all(map(_is_number, secrets)):
        return False
    total = np.array(secrets, dtype=np.float64) + table.sum(axis=1)
    return counted or bool(np.abs(total - 1).max() <= ROUNDED)


def _evidence(path: Path, evidence: Evidence) -> tuple[Matrix, str]:
    """Return a file as a matrix, and the form of evidence that its cells count; "" if they are probabilities."""
    numbered = _numbered(path)
    lines = [[cell.strip() for cell in line] for _, line in numbered]
    head, names = lines[0] if lines else [""], [line[0] for line in lines[1:]]
    is_list = head[0] and (len(head) == 2 or (len(head) == 3 and head[2].lower() in COUNTED))
    if evidence == "samples" or (evidence == "auto" and is_list and len(set(names)) < len(names)):
        return _tallied(path, lines)
    matrix = _matrix(path, numbered)
    total, whole = matrix.table.sum(axis=1), np.array_equal(matrix.table, np.floor(matrix.table))
    if evidence == "auto" and whole and np.all(total == PERCENT):
        raise UnmaskError(
            f"the lines of {path.name} sum to {PERCENT}: add --evidence counts if these are counts, or divide "
            "percentages by 100"
        )
    counted = evidence == "counts" or (evidence == "auto" and whole and np.any(total != 1))
    return matrix, "runs" if counted else ""


def _tallied(path: Path, lines: Sequence[Sequence[str]]) -> tuple[Matrix, str]:
    """Return the counts of lines secret, output, or secret, output, count, below a line of these names."""
    width = {len(line) for line in lines}
    if len(lines) < 2 or width not in ({2}, {3}) or not all(line[2].isdecimal() for line in lines[1:] if line[2:]):
        raise UnmaskError(f"{path.name} is no list of samples; {LISTED}")
    at = (1, 0) if [name.lower() for name in lines[0][:2]] == ["output", "secret"] else (0, 1)
    (secrets, x), (outputs, y) = (np.unique([line[i] for line in lines[1:]], return_inverse=True) for i in at)
    head = [lines[0][i] for i in at]
    if head[0] in secrets and head[1] in outputs:
        raise UnmaskError(f"{path.name} has no line of column names; {LISTED}")
    table = np.zeros((len(secrets), len(outputs)))
    np.add.at(table, (x, y), [float(line[2]) if line[2:] else 1.0 for line in lines[1:]])
    form = f"samples with the secret in column {head[0]!r} and the output in column {head[1]!r}"
    return Matrix(tuple(outputs.tolist()), tuple(secrets.tolist()), table, ""), form


def places(wanted: tuple[str, ...], names: tuple[str, ...], path: Path, what: str) -> NDArray[np.int64]:
    """Return the index of each wanted name in a file that must have the same names, in any order."""
    place = {name: i for i, name in enumerate(names)}
    if set(place) != set(wanted) or len(names) != len(wanted):
        raise UnmaskError(f"{path.name} has other {what} than the file before it, expected the same names")
    return np.array([place[name] for name in wanted])


def read_named(path: Path, secrets: tuple[str, ...], outputs: tuple[str, ...]) -> NDArray[np.float64]:
    """(n_x, n_y) a distortion, secrets in lines and outputs in columns, matched by name."""
    columns, lines, table, _ = read_matrix(path)
    by_secret = table[places(secrets, lines, path, "secrets")]
    return by_secret[:, places(outputs, columns, path, "outputs")]


def read_prior(path: Path) -> Prior:
    """Read secrets and their probabilities; a first line whose second cell is a number is no header."""
    columns, secrets, table, corner = read_matrix(path)
    if table.shape[1] != 1:
        raise UnmaskError(f"{path.name} has {table.shape[1]} columns of numbers, expected one: secret and probability")
    chance = table[:, 0]
    if _is_number(columns[0]):
        if corner in secrets:
            raise UnmaskError(f"file {path.name!r} names a line twice, expected every name once")
        secrets, chance = (corner, *secrets), np.concatenate([[float(columns[0])], chance])
    table, note = _summing_to_1(chance[None], path, "probabilities")
    return Prior(secrets, table[0], note)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


class Matrix(NamedTuple):
    """Column names, line names, numbers, and what stands above the line names."""

    columns: tuple[str, ...]
    lines: tuple[str, ...]
    table: NDArray[np.float64]
    corner: str


def read_matrix(path: Path) -> Matrix:
    """Read a file whose first line and first column are names, and all other cells numbers."""
    return _matrix(path, _numbered(path))


def _numbered(path: Path) -> list[tuple[int, list[str]]]:
    """Return the lines of a file with their numbers."""
    try:
        return _rows(path)
    except csv.Error:
        raise FailedError(f"file {path.name!r} is no CSV, or has an endless cell; check the file") from None


def _matrix(path: Path, numbered: Sequence[tuple[int, list[str]]]) -> Matrix:
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
    return Matrix(tuple(name.strip() for name in lines[0][1:]), names, numbers, lines[0][0].strip())


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the numbered lines of a text file (.gz too), a workbook or a Parquet file as texts."""
    with temporary_folder(None) as folder:
        file = prepare_file(path, folder)
        if file.note:
            _log.warning("%s", file.note)
        if file.kind == "parquet":
            return list(enumerate(_parquet_rows(file.path), start=1))
        if not file.path.stat().st_size:
            return []
        delimiter = read_head(file.path).delimiter
        opened = gzip.open if file.path.suffix.lower() == ".gz" else open
        with opened(file.path, "rt", newline="", encoding="utf-8-sig") as text:
            reader = csv.reader(text, delimiter=delimiter)
            numbered = [(reader.line_num, line) for line in reader if any(cell.strip() for cell in line)]
    if delimiter == ";":  # where commas stand before the decimals
        return [(number, [line[0], *(cell.replace(",", ".") for cell in line[1:])]) for number, line in numbered]
    return numbered


def _parquet_rows(path: Path) -> list[list[str]]:
    """Return the names of the columns and the cells of a Parquet file as texts."""
    with engine() as connection:
        try:
            found = connection.execute(f"select * from {scan_parquet([path])}")
            names = [column[0] for column in found.description or ()]
            return [names, *([str(cell) for cell in row] for row in found.fetchall())]
        except duckdb.Error as error:  # whose message may quote a cell
            raise failure(error, f"file {path.name!r} is no readable Parquet file; it may be truncated") from None


def _summing_to_1(table: NDArray[np.float64], path: Path, what: str) -> tuple[NDArray[np.float64], str]:
    """Return rows that sum to 1 within rounding, divided by their sum, and a note; other numbers without change."""
    total = table.sum(axis=1)
    away = np.abs(total - 1)
    off = float(away.max())
    if not 1e-9 < off < math.inf or table.min() < 0:
        return table, ""
    if off > ROUNDED + 1e-9:
        row = int(np.argmax(away > ROUNDED + 1e-9))
        which = f" of secret number {row + 1}" if len(table) > 1 else ""
        said = f"the probabilities{which} in {path.name} sum to {total[row]:.6g}, expected 1"
        raise UnmaskError(f"{said}: {_instead(table, total)}")
    least, most = f"{total.min():.6g}", f"{total.max():.6g}"
    sums = least if least == most else f"{least} to {most}"
    return table / total[:, None], f"The {what} of {path.name} sum to {sums}; they were divided by their sum."


def _instead(table: NDArray[np.float64], total: NDArray[np.float64]) -> str:
    """Return what to do with rows that do not sum to 1, by what else they may be; total : their sums."""
    if not total.all():
        return "leave that secret out"
    if len(table) > 1 and abs(total.sum() - 1) <= ROUNDED:
        return "the whole file does; divide each line by its sum, and give the sums with --prior"
    if len(table) > 1 and np.abs(table.sum(axis=0) - 1).max() <= ROUNDED:
        return "its columns do; write secrets in lines and outputs in columns"
    if np.abs(total - PERCENT).max() <= PERCENT * ROUNDED:
        return "divide percentages by 100"
    return "divide them by their sum" if len(table) == 1 else "give every output, or whole numbers, which are counts"
