"""Items under pseudonyms, with features that an adversary may compare."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Booleans, Floats
from unmask.core.errors import UnmaskError, visible
from unmask.core.partition import Partition
from unmask.data.columns import read_columns
from unmask.ranges import check_type

Kind = Literal["numeric", "categorical", "text"]


@dataclass(frozen=True, eq=False)
class Feature:
    """A column of numbers, or of texts: row i has the text `labels[values[i]]`.

    Parameters
    ----------
    name : str
        Name of the feature.
    values : (n_items,) array
        Numbers, NaN for a missing cell and never infinite; or indices in the labels, -1 for a missing cell.
    kind : {"numeric", "categorical", "text"}
        Texts of a categorical feature are equal or different; texts of a text feature may also be similar.
    labels : (n_labels,) array of str, optional
        Texts, distinct and ascending; none for numbers.
    """

    name: str
    values: NDArray[Any]
    kind: Kind = "numeric"
    labels: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=object))

    def __repr__(self) -> str:
        return f"Feature({self.name!r}, {len(self.values)} {self.kind} cells)"

    @property
    def missing(self) -> Booleans:
        """Return the (n,) mask of missing cells."""
        return np.asarray(np.isnan(self.values) if self.kind == "numeric" else self.values < 0)

    def take(self, rows: NDArray[np.integer[Any]]) -> Feature:
        """Return the feature at these rows, in this order, with the same labels."""
        return replace(self, values=self.values[rows])


@dataclass(frozen=True, eq=False)
class Items:
    """Items with features, each under a pseudonym.

    Parameters
    ----------
    ids : (n,) array
        Distinct ids of the items, for the evaluation. No attack reads them.
    features : tuple of Feature
        Features that an adversary may compare, each with n cells.
    pseudonym : (n,) array or None
        Label under which an item is published. Items with the same pseudonym are linked without an attack. None: each
        item has a different pseudonym. In an unprotected population it is the user.
    time : (n,) array or None
        Time of each item, in any unit.
    context : (n,) array or None
        Context of each item, such as a shop, a device or a file.

    Examples
    --------
    >>> items = Items.read({"shop": ["a", "b", "a"], "sum": [1.5, 2, 1.5]}, features=["shop", "sum"])
    >>> items
    Items(3 items, features=shop+sum)
    >>> items.features[0].values
    array([0, 1, 0], dtype=int32)
    """

    ids: NDArray[Any]
    features: tuple[Feature, ...]
    pseudonym: NDArray[Any] | None = None
    time: Floats | None = None
    context: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if not len(self.ids):
            raise UnmaskError("the release has 0 items, expected at least 1")
        if len(np.unique(self.ids)) != len(self.ids):
            raise UnmaskError("an item id occurs twice, expected every item once")
        names = [feature.name for feature in self.features]
        if len(set(names)) != len(names):
            raise UnmaskError(f"two features have the same name ({', '.join(names)}), expected every name once")
        for feature in self.features:
            _check_length(feature.name, feature.missing, len(self.ids))
        for name, column in (("pseudonym", self.pseudonym), ("time", self.time), ("context", self.context)):
            if column is not None:
                _check_length(name, column, len(self.ids))

    def __repr__(self) -> str:
        text = f", features={'+'.join(feature.name for feature in self.features)}" if self.features else ""
        if self.pseudonym is not None:
            text += f", {self.partition.n_clusters} pseudonyms"
        return visible(f"Items({len(self)} items{text})")

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def partition(self) -> Partition:
        """Return the items by pseudonym: linked without an attack in a release, the true users in a population.

        >>> Items.read({"who": ["b", "a", "b"]}, pseudonym="who").partition.sizes
        array([1, 2])
        """
        labels = np.arange(len(self)) if self.pseudonym is None else self.pseudonym
        return Partition(labels, items=self.ids)

    def feature(self, name: str) -> Feature:
        """Return the feature with this name.

        >>> Items.read({"shop": ["a"]}, features="shop").feature("sum")
        Traceback (most recent call last):
        unmask.core.errors.UnmaskError: feature 'sum' is not in the release; its features are shop
        """
        for feature in self.features:
            if feature.name == name:
                return feature
        available = ", ".join(feature.name for feature in self.features) or "none"
        raise UnmaskError(f"feature {name!r} is not in the release; its features are {available}")

    def select(self, names: Sequence[str] | str = ()) -> tuple[Feature, ...]:
        """Return the features with these names (default: all); raise for a release without features."""
        selected = (names,) if isinstance(names, str) else tuple(names)
        features = tuple(self.feature(name) for name in selected) if selected else self.features
        if not features:
            raise UnmaskError("the release has 0 features, expected at least 1 that an adversary can compare")
        return features

    def take(self, rows: ArrayLike) -> Items:
        """Return the items with these indices, in this order."""
        places = np.arange(len(self))[np.asarray(rows)]
        return Items(
            self.ids[places],
            tuple(feature.take(places) for feature in self.features),
            None if self.pseudonym is None else self.pseudonym[places],
            None if self.time is None else self.time[places],
            None if self.context is None else self.context[places],
        )

    @cached_property
    def profiles(self) -> tuple[Feature, ...]:
        """Return the features of each pseudonym, in the order of `partition`.

        Numeric: the mean over its items. Categorical and text: the most frequent value; ties go to the first label.
        Missing cells are skipped. A pseudonym without other cells has a missing cell. Without pseudonyms, profiles are
        the items.

        >>> items = Items.read({"who": [7, 7, 3], "sum": [1, 3, 9]}, pseudonym="who", features="sum")
        >>> items.profiles[0].values
        array([9., 2.])
        """
        if self.pseudonym is None:
            return self.features
        owner, n = self.partition.code, self.partition.n_clusters
        return tuple(_summarize(feature, owner, n) for feature in self.features)

    @classmethod
    def read(
        cls,
        source: str | PathLike[str] | Mapping[str, ArrayLike],
        *,
        item: str | None = None,
        pseudonym: str | None = None,
        features: str | Sequence[str] = (),
        time: str | None = None,
        context: str | None = None,
        kinds: Mapping[str, Kind] | None = None,
        na: str | Sequence[str] = (),
    ) -> Self:
        """Read items and give the columns their roles.

        Parameters
        ----------
        source : path or mapping of column names to arrays
            CSV, TSV (.gz), Parquet or Excel file, or columns.
        item : str, optional
            Column of distinct item ids. Default: row numbers 0, 1, ...
        pseudonym : str, optional
            Column of pseudonyms.
        features : str or sequence of str
            Columns that the adversary may compare.
        time : str, optional
            Column of numbers, or of dates and times (converted to seconds since 1970).
        context : str, optional
            Column of contexts.
        kinds : mapping, optional
            Feature -> "numeric", "categorical" or "text". Default: numeric if all cells are numbers, otherwise
            categorical.
        na : str or sequence of str
            Texts of a missing cell, in addition to empty and NULL. Only features may have missing cells.

        Examples
        --------
        >>> Items.read({"t": [0, 1], "who": ["x", "x"]}, time="t", pseudonym="who")
        Items(2 items, 1 pseudonyms)
        """
        feature_names = (features,) if isinstance(features, str) else tuple(features)
        roles = {"item": item, "pseudonym": pseudonym, "time": time, "context": context}
        names = [*(name for name in roles.values() if name is not None), *feature_names]
        _check_roles(names, feature_names, kinds or {})
        na_texts = frozenset((na,) if isinstance(na, str) else na)
        columns = read_columns(source, names)
        cells = {
            role: None if name is None else _require_complete(name, columns[name], na_texts)
            for role, name in roles.items()
        }
        n = len(next(iter(columns.values())))
        return cls(
            np.arange(n) if cells["item"] is None else cells["item"],
            tuple(_read_feature(name, columns[name], (kinds or {}).get(name), na_texts) for name in feature_names),
            cells["pseudonym"],
            None if cells["time"] is None else _parse_times(str(time), cells["time"]),
            cells["context"],
        )


# --- columns ---


def _check_roles(names: Sequence[str], features: Sequence[str], kinds: Mapping[str, Kind]) -> None:
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if repeated is not None:
        raise UnmaskError(f"column {repeated!r} is given two roles, expected one for each column")
    unknown = next((name for name in kinds if name not in features), None)
    if unknown is not None:
        raise UnmaskError(f"kinds names {unknown!r}, which is not a feature; the features are {', '.join(features)}")


def _check_length(name: str, column: NDArray[Any], n: int) -> None:
    if column.shape != (n,):
        raise UnmaskError(f"column {name!r} has shape {column.shape} for {n} items, expected one cell for each")


def _find_missing(cells: NDArray[Any], na: frozenset[str]) -> Booleans:
    """Return a mask of the missing cells: None, NaN, an empty text, or one of the texts `na`."""
    if cells.dtype.kind == "f":
        return np.asarray(np.isnan(cells), dtype=np.bool_)
    if cells.dtype.kind == "O":
        missing = (cell is None or cell != cell or cell == "" or cell in na for cell in cells)
        return np.fromiter(missing, dtype=np.bool_, count=len(cells))
    if cells.dtype.kind == "U":
        return np.isin(cells, ["", *na])
    return np.isnat(cells) if cells.dtype.kind in "mM" else np.zeros(len(cells), dtype=np.bool_)


def _require_complete(name: str, cells: NDArray[Any], na: frozenset[str]) -> NDArray[Any]:
    missing = _find_missing(cells, na)
    if missing.any():
        raise UnmaskError(
            f"column {name!r} is missing at {int(missing.sum())} items, the first in row {int(missing.argmax())}; "
            "only features may be missing"
        )
    return cells


def _read_feature(name: str, cells: NDArray[Any], kind: Kind | None, na: frozenset[str]) -> Feature:
    check_type(f"the kind of {name!r}", kind or "numeric", Kind)
    missing = _find_missing(cells, na)
    if kind in (None, "numeric"):
        values = _parse_numbers(cells, missing)
        if values is not None:
            return Feature(name, values)
        if kind == "numeric":
            raise UnmaskError(f"feature {name!r} has a cell that is not a finite number; declare another kind for it")
    return _encode(name, cells, missing, "text" if kind == "text" else "categorical")


def _parse_numbers(cells: NDArray[Any], missing: Booleans) -> Floats | None:
    """Return the cells as finite numbers, NaN if missing; None if another cell occurs, or if all are missing."""
    values = np.full(len(cells), np.nan)
    if cells.dtype.kind in "bmM" or missing.all():
        return None
    try:
        values[~missing] = cells[~missing].astype(np.float64)
    except (TypeError, ValueError):
        return None
    return values if np.isfinite(values[~missing]).all() else None


def _encode(name: str, cells: NDArray[Any], missing: Booleans, kind: Kind) -> Feature:
    codes = np.full(len(cells), -1, dtype=np.int32)
    labels, present = np.unique(cells[~missing].astype(np.str_), return_inverse=True)
    codes[~missing] = present
    return Feature(name, codes, kind, labels.astype(object))


def _parse_times(name: str, cells: NDArray[Any]) -> Floats:
    if cells.dtype.kind == "M":
        return cells.astype("datetime64[us]").astype(np.int64) / 1e6
    values = _parse_numbers(cells, np.zeros(len(cells), dtype=np.bool_))
    if values is not None:
        return values
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # about UTC offsets, which are applied
            return cells.astype(np.str_).astype("datetime64[us]").astype(np.int64) / 1e6
    except ValueError:
        raise UnmaskError(f"column {name!r} is not a time, expected numbers or ISO dates such as 2001-02-03") from None


def _summarize(feature: Feature, owner: NDArray[np.int32], n: int) -> Feature:
    present = ~feature.missing
    if feature.kind == "numeric":
        count = np.bincount(owner[present], minlength=n)
        total = np.bincount(owner[present], weights=feature.values[present], minlength=n)
        return replace(feature, values=np.where(count > 0, total / np.maximum(count, 1), np.nan))
    n_labels = max(len(feature.labels), 1)
    pair, count = np.unique(owner[present].astype(np.int64) * n_labels + feature.values[present], return_counts=True)
    pseudonym, code = np.divmod(pair, n_labels)
    order = np.lexsort((code, -count, pseudonym))
    first, place = np.unique(pseudonym[order], return_index=True)
    codes = np.full(n, -1, dtype=np.int32)
    codes[first] = code[order][place]
    return replace(feature, values=codes)
