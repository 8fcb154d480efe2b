"""Files of items and labels: the columns of a truth and of guesses."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats
from unmask.core.errors import UnmaskError
from unmask.core.partition import Missing, Partition, Unlabeled, View, check_labels
from unmask.data.columns import check_names
from unmask.data.engine import Engine
from unmask.data.source_files import detect_kind
from unmask.data.sql import Arrays, Kind, quote_text
from unmask.linkage.link_files import (
    LinkFile,
    LinkThreshold,
    find_ends,
    find_score,
    name_clusters,
    parse_numbers,
    shorten_source,
)
from unmask.measures.clustering.overlap import Override

NOISE_LABELS = ("-1", "-1.0", "noise", "outlier", "outliers", "unclustered")
"""Labels that programs use for items without a cluster."""


@dataclass(frozen=True)
class LabelFile:
    """A file of items and labels.

    Parameters
    ----------
    source : str
        Path, pattern or table that an engine reads.
    item : str
        Column of item ids.
    label : str
        Column of labels.
    noise : str or None
        Label of items without a cluster. "": no such label. None: raise if a label may have this meaning.
    further : mapping
        New name -> further column.
    """

    source: str
    item: str
    label: str
    noise: str | None = ""
    further: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the name of the file without its folder."""
        return shorten_source(self.source)

    def scan(self, engine: Engine, table: str) -> Kind:
        """Create a lazy table (item, label, further columns) from the rows; return the type of the ids."""
        columns = {"item": self.item, "label": self.label, **self.further}
        check_names(list(columns.values()), engine.names(self.source), f"file {self.name!r}")
        # labels, too, are so many that a typed file stores each of them in full
        return engine.table(table, self.source, columns, ids=("item", "label"))["item"]

    def load(self, engine: Engine, table: str) -> Kind:
        """Create the table of `scan`; each item with the noise label gets a unique label.

        Rows of a text file are stored, so they are read and trimmed once.
        """
        kind = self.scan(engine, table)
        text, label = "cast(label as string)", "label"
        if self.noise:
            label = f"case when {text} = {quote_text(self.noise)} then 'noise ' || cast(item as string) else {text} end"
        is_text_file = Path(self.source).is_file() and detect_kind(Path(self.source)) == "text"
        if self.noise or is_text_file:
            columns = ", ".join(("item", f"{label} as label", *self.further))
            engine.keep(f"kept_{table}", f"select {columns} from {table}")
            engine.view(table, f"select * from kept_{table}")
        return kind

    def count_rows(
        self, engine: Engine, table: str, missing: Missing, unlabeled: Unlabeled, *, is_truth: bool
    ) -> tuple[int, int]:
        """Return the number of rows with a label and without; raise for the latter if no treatment is set."""
        counts = engine.rows(f"select count(label) as n, count(*) - count(label) as gaps from {table}")
        n_labeled, n_gaps = int(counts["n"][0]), int(counts["gaps"][0])
        check_labels(self.name, n_gaps, truth=is_truth, missing=missing, unlabeled=unlabeled)
        return n_labeled, n_gaps

    def check_noise(self, engine: Engine, table: str) -> None:
        """Raise for a label that may denote items without a cluster: a word, or -1 among whole numbers from 0.

        table : table with the labels; distinct labels suffice
        """
        if self.noise is not None:
            return
        text = "cast(label as string)"
        is_word = f"lower({text}) in {NOISE_LABELS}"
        is_doubtful = f"label is not null and ({is_word} or coalesce(try_cast({text} as double), -2) < 0)"
        distinct = f"(select distinct label from {table}) labels"
        rows = f"select {text} as label from {distinct} where {is_doubtful} order by not {is_word} limit 9"
        labels = engine.rows(rows)["label"].tolist()
        doubtful = [label for label in labels if label.lower() in NOISE_LABELS]
        if doubtful and not (len(doubtful) < len(labels) and doubtful[0].startswith("-1")):
            raise UnmaskError(
                f"{self.name} has the label {doubtful[0]}, which may mean no cluster: add `noise`={doubtful[0]} to "
                "make each of its items a cluster, or `noise`= if the label is a cluster"
            )


class LinkageData(NamedTuple):
    """A truth, values of its items, guesses by name, and the thresholds of guesses that are links."""

    truth: Partition
    values: dict[str, NDArray[Any]]
    overrides: list[Override]
    guesses: dict[str, Partition | View]
    thresholds: dict[str, LinkThreshold]


@dataclass(frozen=True)
class LinkageFiles:
    """Files of a truth and of guesses, and the roles of their columns.

    Parameters
    ----------
    truth : str
        Path of the truth.
    guesses : sequence of str
        Paths of the guesses.
    stems : sequence of str
        File names of the guesses.
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
        Label of items without a cluster, see `LabelFile`.
    thresholds : sequence of float
        Smallest scores of accepted links, see `LinkFile`.
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
    thresholds: Sequence[float] = ()

    def locate(self, engine: Engine) -> tuple[LabelFile, dict[str, LabelFile | LinkFile]]:
        """Return the files of the truth and of the guesses; files of views have two further columns."""
        truth, guesses = LabelFile(self.truth, self.item, self.subject), dict(self._name_guesses(engine))
        scored = [guess for guess in guesses.values() if isinstance(guess, LinkFile) and guess.score]
        if self.thresholds and not scored:
            raise UnmaskError(
                "a threshold was given, but no guess has scored links; give a file with item_l, item_r and score"
            )
        return truth, guesses

    def _name_guesses(self, engine: Engine) -> Iterator[tuple[str, LabelFile | LinkFile]]:
        """Yield the name of each guess and its file.

        The name is that of the file. If several columns are guesses, it is that of the column, or both names.
        """
        for stem, path in zip(self.stems, self.guesses, strict=True):
            names = engine.names(path)
            if self.item not in names and (ends := find_ends(names, self.item)) is not None:
                yield stem, LinkFile(path, ends, find_score(names), tuple(self.thresholds))
                continue
            reserved = (self.item, self.subject, self.probability, "partition")
            free = [name for name in names if name not in reserved]
            columns = dict.fromkeys(
                name
                for cluster in self.clusters
                for name in ([cluster] if cluster in names else fnmatch.filter(free, cluster) or [cluster])
            )
            key_column = "partition" if "partition" in names else self.probability
            view = {"chance": self.probability, "part": key_column} if self.probability in names else {}
            for column in columns:
                full_name = column if len(self.guesses) == 1 else f"{stem} {column}"
                yield stem if len(columns) == 1 else full_name, LabelFile(path, self.item, column, self.noise, view)

    def read(self, engine: Engine, own: Mapping[str, str]) -> LinkageData:
        """Read the truth, the values in `own`, and the guesses into memory.

        own : name -> column of the truth; for the weight also a file with weights of single subjects
        """
        truth, guesses = self.locate(engine)
        weights = _find_file(own.get("weight", ""), self.truth, engine.names(self.truth))
        columns = {name: column for name, column in own.items() if name != "weight" or weights is None}
        places = {f"own{i}": column for i, column in enumerate(columns.values())}
        rows = self._read_rows(engine, replace(truth, further=places), is_truth=True)
        values = {name: parse_shares(name, rows[place]) for name, place in zip(columns, places, strict=True)}
        solution = _make_partition(truth, rows)
        overrides = [] if weights is None else self._read_overrides(engine, weights)
        data = LinkageData(solution, values, overrides, {}, {})
        for name, guess in guesses.items():
            if isinstance(guess, LabelFile):
                data.guesses[name] = self._read_guess(engine, guess)
                continue
            clusters, thresholds = name_clusters(name, guess.read(engine, solution), alone=len(guesses) == 1)
            data.guesses.update(clusters)
            data.thresholds.update(thresholds)
        return data

    def _read_overrides(self, engine: Engine, path: Path) -> list[Override]:
        """Read weights that apply to one subject only: a line subject,item,weight for each."""
        columns = {"subject": self.subject, "item": self.item, "weight": "weight"}
        check_names(list(columns.values()), engine.names(str(path)), f"file {path.name!r}")
        engine.table("weights", str(path), columns, ids=("item",))
        rows = engine.rows("select * from weights where subject is not null and item is not null")
        weights = parse_shares("weight", rows["weight"])
        return list(zip(rows["subject"].tolist(), rows["item"].tolist(), weights.tolist(), strict=True))

    def _read_guess(self, engine: Engine, file: LabelFile) -> Partition | View:
        """Read a partition; with a column of probabilities, a view."""
        rows = self._read_rows(engine, file)
        if not file.further:
            return _make_partition(file, rows)
        chance = parse_numbers(f"{file.name}: a probability", rows["chance"], "positive numbers that sum to 1")
        parts, first, part = np.unique(rows["part"].astype(str), return_index=True, return_inverse=True)
        if np.any(chance != chance[first][part]):
            raise UnmaskError(f"{file.name}: a partition has several probabilities, expected one for all its rows")
        hint = "; a column `partition` distinguishes partitions with the same probability"
        try:
            partitions = [Partition(rows["label"][part == i], rows["item"][part == i]) for i in range(len(parts))]
            return View(partitions, chance[first])
        except UnmaskError as error:
            raise UnmaskError(f"{file.name}: {error}{hint * (file.further['part'] != 'partition')}") from None

    def _read_rows(self, engine: Engine, file: LabelFile, *, is_truth: bool = False) -> Arrays:
        """Read the rows of a file that have a label."""
        file.load(engine, "labels")
        file.check_noise(engine, "labels")
        n_labeled, _ = file.count_rows(engine, "labels", self.missing, self.unlabeled, is_truth=is_truth)
        if not n_labeled:
            raise UnmaskError(f"file {file.name!r} has no rows, expected at least 1 with a value of {file.label!r}")
        # sorted, so that files with the same items are aligned without a join
        return engine.rows("select * from labels where label is not null order by item")


def _find_file(name: str, truth: str, columns: Sequence[str]) -> Path | None:
    """Return the file with this name, in this folder or next to the truth; None for a column of the truth or no
    file.
    """
    if not name or name in columns:
        return None
    return next((path for path in (Path(name), Path(truth).parent / name) if path.is_file()), None)


def _make_partition(file: LabelFile, rows: Arrays) -> Partition:
    try:
        return Partition(rows["label"], rows["item"])
    except UnmaskError as error:
        raise UnmaskError(f"{file.name}: {error}") from None


def parse_shares(name: str, cells: NDArray[Any]) -> Floats:
    """Return weights and shares as numbers; `wanted` as 0 or 1 (true, false)."""
    words = {"true": 1.0, "false": 0.0}
    try:
        values = np.array([words.get(str(cell).lower(), cell) for cell in cells.tolist()], dtype=np.float64)
    except (TypeError, ValueError):
        raise UnmaskError(f"{name} has a cell that is not a number, expected a number for each item") from None
    low = np.nextafter(0, 1) if name == "beta" else 0  # a threshold of 0 is always reached
    if not np.all((values >= low) & (values <= 1)) or (name == "wanted" and not np.all(np.isin(values, (0, 1)))):
        expected = {"wanted": "0 or 1", "beta": "numbers above 0 up to 1"}.get(name, "numbers from 0 to 1")
        raise UnmaskError(f"{name} has a cell that is missing or out of range, expected {expected} for each item")
    return values
