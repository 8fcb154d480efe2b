"""Files of items and their labels: columns as arrays, and the columns that hold a truth and guesses."""

from __future__ import annotations

import fnmatch
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import FailedError, UnmaskError
from unmask.core.partition import Missing, Partition, Unlabeled, View, refuse_gaps
from unmask.data.databases import explain_failure, open_database
from unmask.data.engine import Engine
from unmask.data.resources import temporary_folder
from unmask.data.source_files import (
    SUFFIXES,
    check_distinct_names,
    explain_csv_error,
    prepare_file,
    read_head,
    scan_parquet,
    scan_text,
)
from unmask.data.sql import clean_column

_log = logging.getLogger(__name__)

NOISE_LABELS = ("-1", "-1.0", "noise", "outlier", "outliers", "unclustered")
"""Labels that programs give to items in no cluster."""


@dataclass(frozen=True)
class LabelFile:
    """A file of items and their labels.

    Parameters
    ----------
    source : str
        Path, pattern or table that an engine reads.
    item : str
        Column of item ids.
    label : str
        Column of labels.
    noise : str or None
        Label of items in no cluster. "" for none; None refuses a label that may be one.
    """

    source: str
    item: str
    label: str
    noise: str | None = ""

    @property
    def name(self) -> str:
        """Return the name of the file without its folder."""
        return Path(self.source.rpartition("::")[2] if "::" in self.source else self.source).name


@dataclass(frozen=True)
class LinkageFiles:
    """The files of a truth and of guesses, and the roles of their columns.

    Parameters
    ----------
    truth : str
        Path of the truth.
    guesses : sequence of str
        Paths of the guesses.
    stems : sequence of str
        Names of the guesses' files.
    item : str
        Column of item ids, in every file.
    subject : str
        Column of subjects, in the truth.
    clusters : sequence of str
        Columns of clusters, or patterns of their names, in every guess. Each column is a guess.
    probability : str
        Column that makes a guess a view.
    missing : str
        Treatment of items that a guess lacks, see `unmask.core.partition`.
    unlabeled : str
        Treatment of items that the truth lacks.
    noise : str or None
        Label of items in no cluster, see `LabelFile`.
    """

    truth: str
    guesses: Sequence[str]
    stems: Sequence[str]
    item: str
    subject: str
    clusters: Sequence[str]
    probability: str = "probability"
    missing: Missing = "error"
    unlabeled: Unlabeled = "error"
    noise: str | None = None

    def read(
        self, own: Mapping[str, str], *, encoding: str | None = None
    ) -> tuple[Partition, dict[str, NDArray[Any]], dict[str, Partition | View]]:
        """Read the truth, the columns of its items that `own` names, and the guesses into memory."""
        columns = self._read_labels(self.truth, self.subject, tuple(own.values()), encoding, truth=True)
        truth = _make_partition(self.truth, columns[self.subject], columns[self.item])
        values = {name: parse_shares(name, columns[column]) for name, column in own.items()}
        names = {path: list_columns(path, encoding=encoding) for path in self.guesses}
        guesses = {
            name: self._read_guess(path, column, names[path], encoding)
            for name, (path, column) in self._name_guesses(names).items()
        }
        return truth, values, guesses

    def can_count(self, *, encoding: str | None = None) -> bool:
        """Return whether an engine can count the items: it can read the files, and no guess is a view."""
        readable = all(path.lower().endswith(SUFFIXES) for path in (self.truth, *self.guesses))
        return readable and not any(self.probability in list_columns(path, encoding=encoding) for path in self.guesses)

    def locate(self, engine: Engine) -> tuple[LabelFile, dict[str, LabelFile]]:
        """Return the files of the truth and of the guesses; refuse a view, which needs the items in memory."""
        names = {path: engine.names(path) for path in self.guesses}
        guesses = {
            name: LabelFile(path, self.item, column, self.noise)
            for name, (path, column) in self._name_guesses(names).items()
        }
        for guess in guesses.values():
            if self.probability in names[guess.source]:
                raise UnmaskError(
                    f"{guess.name} has a column {self.probability!r}: a view needs the items in memory; leave --engine "
                    "out, or name another column (--probability)"
                )
        return LabelFile(self.truth, self.item, self.subject), guesses

    def _name_guesses(self, names: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, str]]:
        """Map the name of each guess to its file and column.

        A guess has the name of its file. If several columns are guesses, it has that of the column, or both names.
        """
        guesses = {}
        for stem, path in zip(self.stems, self.guesses, strict=True):
            reserved = (self.item, self.subject, self.probability, "partition")
            free = [name for name in names[path] if name not in reserved]
            columns = dict.fromkeys(
                name
                for cluster in self.clusters
                for name in ([cluster] if cluster in names[path] else fnmatch.filter(free, cluster) or [cluster])
            )
            for column in columns:
                full_name = column if len(self.guesses) == 1 else f"{stem} {column}"
                guesses[stem if len(columns) == 1 else full_name] = path, column
        return guesses

    def _read_guess(self, path: str, column: str, names: Sequence[str], encoding: str | None) -> Partition | View:
        """Read a partition; or a view, if there is a column of probabilities."""
        if self.probability not in names:
            columns = self._read_labels(path, column, (), encoding)
            return _make_partition(path, self._separate_noise(path, columns, column), columns[self.item])
        by = "partition" if "partition" in names else self.probability
        columns = self._read_labels(path, column, (self.probability, by), encoding)
        chance = _parse_probabilities(Path(path).name, columns[self.probability])
        parts, first, part = np.unique(columns[by].astype(str), return_index=True, return_inverse=True)
        if np.any(chance != chance[first][part]):
            raise UnmaskError(
                f"{Path(path).name}: a partition has several probabilities, expected one for all its rows"
            )
        hint = "" if by == "partition" else "; a column `partition` tells partitions of one probability apart"
        try:
            labels, items = self._separate_noise(path, columns, column), columns[self.item]
            return View([Partition(labels[part == i], items[part == i]) for i in range(len(parts))], chance[first])
        except UnmaskError as error:
            raise UnmaskError(f"{Path(path).name}: {error}{hint}") from None

    def _read_labels(
        self, path: str, label: str, more: Sequence[str], encoding: str | None, *, truth: bool = False
    ) -> dict[str, NDArray[Any]]:
        """Read the rows of a file that have a label."""
        name, names = Path(path).name, dict.fromkeys([self.item, label, *more])
        columns = read_columns(path, list(names), encoding=encoding)
        labeled = ~is_missing(columns[label])
        gaps = int((~labeled).sum())
        refuse_gaps(name, gaps, truth=truth, missing=self.missing, unlabeled=self.unlabeled)
        if not labeled.any():
            raise UnmaskError(f"file {name!r} has no rows, expected at least 1 with a value of {label!r}")
        return columns if not gaps else {column: values[labeled] for column, values in columns.items()}

    def _separate_noise(self, path: str, columns: Mapping[str, NDArray[Any]], label: str) -> NDArray[Any]:
        """Return the labels, with a cluster of its own for each item in no cluster."""
        texts = columns[label].astype(str)
        refuse_noise(Path(path).name, np.unique(texts).tolist(), self.noise)
        if not self.noise:
            return columns[label]
        return np.where(texts == self.noise, np.char.add("noise ", columns[self.item].astype(str)), texts)


def refuse_noise(name: str, labels: Sequence[str], noise: str | None) -> None:
    """Refuse a label that may mean no cluster, unless `noise` answers it: a word, or -1 among whole numbers from 0."""
    doubtful = [label for label in labels if label.lower() in NOISE_LABELS]
    has_words = any(not label.replace(".0", "").isdecimal() for label in labels if label not in doubtful)
    if noise is None and doubtful and not (has_words and doubtful[0].startswith("-1")):
        raise UnmaskError(
            f"{name} has the label {doubtful[0]}, which may mean no cluster: add --noise={doubtful[0]}, so that each "
            "of its items is alone, or --noise= if it is a cluster"
        )


def _make_partition(path: str, labels: NDArray[Any], items: NDArray[Any]) -> Partition:
    try:
        return Partition(labels, items)
    except UnmaskError as error:
        raise UnmaskError(f"{Path(path).name}: {error}") from None


def _parse_probabilities(name: str, cells: NDArray[Any]) -> NDArray[np.float64]:
    try:
        chance = np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError):
        raise UnmaskError(f"{name}: a probability is no number, expected numbers above 0 that sum to 1") from None
    if not np.all(np.isfinite(chance)):
        raise UnmaskError(f"{name}: a probability is missing, expected numbers above 0 that sum to 1")
    return chance


def parse_shares(name: str, cells: NDArray[Any]) -> NDArray[np.float64]:
    """Return weights and shares as numbers, and 0 or 1 (true, false) for `wanted`."""
    words = {"true": 1.0, "false": 0.0}
    try:
        values = np.array([words.get(str(cell).lower(), cell) for cell in cells.tolist()], dtype=np.float64)
    except (TypeError, ValueError):
        raise UnmaskError(f"{name} has a cell that is no number, expected one for every item") from None
    low = np.nextafter(0, 1) if name == "beta" else 0  # a threshold of 0 is always reached
    if not np.all((values >= low) & (values <= 1)) or (name == "wanted" and not np.all(np.isin(values, (0, 1)))):
        expected = {"wanted": "0 or 1", "beta": "numbers above 0 up to 1"}.get(name, "numbers from 0 to 1")
        raise UnmaskError(f"{name} has a cell that is missing or out of range, expected {expected} for every item")
    return values


# --- columns as arrays ---


def read_columns(
    source: str | PathLike[str] | Mapping[str, ArrayLike],
    names: Sequence[str],
    *,
    header: Sequence[str] = (),
    encoding: str | None = None,
) -> dict[str, NDArray[Any]]:
    """Read columns of a file or a mapping, of equal length; at least one name.

    Cells of a text file are texts, trimmed, None if empty; those of a Parquet file or a mapping keep their type.

    header : the names of all columns of a text file that has none in its first line
    encoding : of a text file that is not UTF-8; by default recognized, and logged as a warning

    >>> read_columns({"a": [1, 2], "b": ["x", "y"]}, ["b"])
    {'b': array(['x', 'y'], dtype='<U1')}
    """
    if not names:
        raise UnmaskError("the selection has 0 columns, expected an item, a pseudonym or a feature")
    if isinstance(source, Mapping):
        return _read_mapping(source, names)
    path = Path(os.fspath(source))
    with open_database() as connection, temporary_folder(None) as folder:
        relation, cells = _scan(connection, path, folder, header, encoding)
        _check_names(names, list(cells), f"file {path.name!r}")
        selected = ", ".join(f"{cells[name]} as n{place}" for place, name in enumerate(names))
        try:
            arrays = list(connection.execute(f"select {selected} from {relation}").fetchnumpy().values())
        except duckdb.Error as error:
            raise _explain(path, error) from None
    if not len(arrays[0]):
        raise UnmaskError(f"file {path.name!r} has no rows, expected at least 1")
    return {name: _fill_masked(array) for name, array in zip(names, arrays, strict=True)}


def list_columns(source: str | PathLike[str], *, encoding: str | None = None) -> list[str]:
    """Return the names of the columns of a file."""
    with open_database() as connection, temporary_folder(None) as folder:
        return list(_scan(connection, Path(os.fspath(source)), folder, (), encoding)[1])


def is_missing(cells: NDArray[Any], na: frozenset[str] = frozenset()) -> NDArray[np.bool_]:
    """Return a mask of the missing cells: None, NaN, an empty text, or one of the texts `na`."""
    if cells.dtype.kind == "f":
        return np.asarray(np.isnan(cells), dtype=np.bool_)
    if cells.dtype.kind == "O":
        missing = (cell is None or cell != cell or cell == "" or cell in na for cell in cells)
        return np.fromiter(missing, dtype=np.bool_, count=len(cells))
    if cells.dtype.kind == "U":
        return np.isin(cells, ["", *na])
    return np.isnat(cells) if cells.dtype.kind in "mM" else np.zeros(len(cells), dtype=np.bool_)


def _scan(
    connection: duckdb.DuckDBPyConnection, path: Path, folder: str, header: Sequence[str], encoding: str | None
) -> tuple[str, dict[str, str]]:
    """Return the SQL of the rows of a file, and of the cells of each of its columns by trimmed name."""
    file = prepare_file(path, folder, encoding=encoding)
    if file.note:
        _log.warning("%s", file.note)
    if file.kind == "parquet":
        relation = scan_parquet([file.path])
        try:
            described = connection.execute(f"describe from {relation}").fetchall()
        except duckdb.Error as error:
            raise _explain(path, error) from None
        names = [str(row[0]).strip() for row in described]
        cells = [clean_column(f"c{i}", "text") if row[1] == "VARCHAR" else f"c{i}" for i, row in enumerate(described)]
    else:
        head = read_head(file.path)
        names = list(header or head.names)
        relation = scan_text([file.path], replace(head, names=tuple(names)), header=not header)
        cells = [clean_column(f"c{i}", "untyped") for i in range(len(names))]
    check_distinct_names(names, f"file {path.name!r}")
    columns = ", ".join(f"c{i}" for i in range(len(names)))
    return f"{relation} as source({columns})", dict(zip(names, cells, strict=True))


def _explain(path: Path, error: duckdb.Error) -> FailedError:
    """Return the error of a file without the engine's own message, which quotes the row."""
    cause = explain_csv_error(str(error)) or "expected CSV or TSV (.gz) with a header, or Parquet"
    return explain_failure(error, f"file {path.name!r} cannot be read: {cause}")


def _read_mapping(source: Mapping[str, ArrayLike], names: Sequence[str]) -> dict[str, NDArray[Any]]:
    _check_names(names, [str(name) for name in source], "the mapping")
    columns = {name: _fill_masked(np.ma.asarray(source[name])) for name in names}
    shapes = {column.shape for column in columns.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise UnmaskError(f"the columns have shapes {sorted(shapes)}, expected one dimension and equal lengths")
    if shapes == {(0,)}:
        raise UnmaskError("the mapping has no rows, expected at least 1")
    return columns


def _fill_masked(cells: NDArray[Any]) -> NDArray[Any]:
    """Return an array without its mask: None, or NaN for floats, in masked cells."""
    masked = np.ma.getmaskarray(cells)
    values = np.asarray(np.ma.getdata(cells))
    if values.dtype.kind == "T":
        values = values.astype(object)
    if not masked.any():
        return values
    filled = values.astype(np.float64 if values.dtype.kind == "f" else object)
    filled[masked] = np.nan if values.dtype.kind == "f" else None
    return filled


def _check_names(names: Sequence[str], columns: Sequence[str], source: str) -> None:
    unknown = next((name for name in names if name not in columns), None)
    if unknown is not None:
        raise UnmaskError(f"column {unknown!r} is not in {source}; its columns are {', '.join(columns)}")
