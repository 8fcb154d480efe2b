"""Files of items and their labels: a truth, and guesses in columns of one file or of several."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.partition import Missing, Partition, Unlabeled, View, refuse_gaps
from unmask.data.engine import Engine
from unmask.data.source_files import SUFFIXES
from unmask.pseudonyms.counting import Labeled, refuse_noise
from unmask.pseudonyms.reading import column_names, read_columns
from unmask.pseudonyms.release import absent


@dataclass(frozen=True)
class Files:
    """Where a truth and guesses are, and which columns say what.

    truth, guesses, stems  : paths, and the names of the guesses' files
    item, subject          : columns of the item's id, in every file, and of the subject, in the truth
    clusters               : columns of clusters or patterns of their names, in every guess; each column is a guess
    probability            : the column that makes a guess a view
    missing, unlabeled     : what an item is that has no label, see `unmask.core.partition`
    noise                  : label of items in no cluster, in every guess; "" for none, None to ask about such a label
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
        """The truth, the columns of its items that `own` names, and the guesses, in memory."""
        columns = self._labeled(self.truth, self.subject, tuple(own.values()), encoding, truth=True)
        truth = _partition(self.truth, columns[self.subject], columns[self.item])
        minds = {name: columns[column] for name, column in own.items()}
        known = {path: column_names(path, encoding=encoding) for path in self.guesses}
        named = self._named(known).items()
        guesses = {name: self._guess(path, column, known[path], encoding) for name, (path, column) in named}
        return truth, {name: numbers(name, values) for name, values in minds.items()}, guesses

    def countable(self, *, encoding: str | None = None) -> bool:
        """Whether an engine can count what the guesses share with the truth: it knows the files, and none is a view."""
        known = all(path.lower().endswith(SUFFIXES) for path in (self.truth, *self.guesses))
        return known and not any(self.probability in column_names(path, encoding=encoding) for path in self.guesses)

    def labeled(self, engine: Engine) -> tuple[Labeled, dict[str, Labeled]]:
        """The truth and the guesses where they lie; a view is refused, as it needs the items in memory."""
        known = {path: engine.names(path) for path in self.guesses}
        named = self._named(known).items()
        guesses = {name: Labeled(path, self.item, column, self.noise) for name, (path, column) in named}
        for guess in guesses.values():
            if self.probability in known[guess.source]:
                raise UnmaskError(
                    f"{guess.name} has a column {self.probability!r}: a view needs the items in memory; leave --engine "
                    "out, or name another column (--probability)"
                )
        return Labeled(self.truth, self.item, self.subject), guesses

    def _named(self, known: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, str]]:
        """Name -> file and column. A guess is called like its file; of several columns like the column, or both."""
        found = {}
        for stem, path in zip(self.stems, self.guesses, strict=True):
            others = (self.item, self.subject, self.probability, "partition")
            free = [one for one in known[path] if one not in others]
            columns = dict.fromkeys(
                one
                for cluster in self.clusters
                for one in ([cluster] if cluster in known[path] else _like(cluster, free))
            )
            for column in columns:
                both = column if len(self.guesses) == 1 else f"{stem} {column}"
                found[stem if len(columns) == 1 else both] = path, column
        return found

    def _guess(self, path: str, column: str, known: Sequence[str], encoding: str | None) -> Partition | View:
        """A partition; or a view, where there is a column of probabilities."""
        if self.probability not in known:
            columns = self._labeled(path, column, (), encoding)
            labels = noise_apart(Path(path).name, columns[column], columns[self.item], self.noise)
            return _partition(path, labels, columns[self.item])
        by = "partition" if "partition" in known else self.probability
        columns = self._labeled(path, column, (self.probability, by), encoding)
        chance = _probabilities(Path(path).name, columns[self.probability])
        parts, first, part = np.unique(columns[by].astype(str), return_index=True, return_inverse=True)
        if np.any(chance != chance[first][part]):
            raise UnmaskError(
                f"{Path(path).name}: a partition has several probabilities, expected one for all its rows"
            )
        hint = "" if by == "partition" else "; a column `partition` tells partitions of one probability apart"
        try:
            labels = noise_apart(Path(path).name, columns[column], columns[self.item], self.noise)
            each = [Partition(labels[part == i], columns[self.item][part == i]) for i in range(len(parts))]
            return View(each, chance[first])
        except UnmaskError as error:
            raise UnmaskError(f"{Path(path).name}: {error}{hint}") from None

    def _labeled(
        self, path: str, label: str, others: Sequence[str], encoding: str | None, *, truth: bool = False
    ) -> dict[str, NDArray[Any]]:
        """The rows of a file that have a label; a column in several roles is read once."""
        name, asked = Path(path).name, dict.fromkeys([self.item, label, *others])
        columns = read_columns(path, list(asked), encoding=encoding)
        there = ~absent(columns[label])
        gaps = int((~there).sum())
        refuse_gaps(name, gaps, truth=truth, missing=self.missing, unlabeled=self.unlabeled)
        if not there.any():
            raise UnmaskError(f"file {name!r} has no rows, expected at least 1 with a value of {label!r}")
        return columns if not gaps else {column: values[there] for column, values in columns.items()}


def noise_apart(name: str, labels: NDArray[Any], items: NDArray[Any], noise: str | None) -> NDArray[Any]:
    """Return the labels with a cluster of its own for each item whose label means that it is in no cluster."""
    texts = labels.astype(str)
    refuse_noise(name, np.unique(texts).tolist(), noise)
    return np.where(texts == noise, np.char.add("noise ", items.astype(str)), texts) if noise else labels


def _like(cluster: str, names: Sequence[str]) -> list[str]:
    """The columns that a pattern means; the name itself, which is refused when it is read, where it means none."""
    return fnmatch.filter(names, cluster) or [cluster]


def _partition(path: str, labels: NDArray[Any], items: NDArray[Any]) -> Partition:
    try:
        return Partition(labels, items)
    except UnmaskError as error:
        raise UnmaskError(f"{Path(path).name}: {error}") from None


def _probabilities(name: str, cells: NDArray[Any]) -> NDArray[np.float64]:
    try:
        chance = np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError):
        raise UnmaskError(f"{name}: a probability is no number, expected numbers above 0 that sum to 1") from None
    if not np.all(np.isfinite(chance)):
        raise UnmaskError(f"{name}: a probability is missing, expected numbers above 0 that sum to 1")
    return chance


_TRUTH = {"true": 1.0, "false": 0.0}


def numbers(name: str, cells: NDArray[Any]) -> NDArray[np.float64]:
    """Weights and shares, and 0 or 1 (true, false) for what is wanted."""
    try:
        values = np.array([_TRUTH.get(str(cell).lower(), cell) for cell in cells.tolist()], dtype=np.float64)
    except (TypeError, ValueError):
        raise UnmaskError(f"{name} has a cell that is no number, expected one for every item") from None
    least = np.nextafter(0, 1) if name == "beta" else 0  # a threshold of 0 is always reached
    if not np.all((values >= least) & (values <= 1)) or (name == "wanted" and not np.all(np.isin(values, (0, 1)))):
        expected = {"wanted": "0 or 1", "beta": "numbers above 0 up to 1"}.get(name, "numbers from 0 to 1")
        raise UnmaskError(f"{name} has a cell that is missing or out of range, expected {expected} for every item")
    return values
