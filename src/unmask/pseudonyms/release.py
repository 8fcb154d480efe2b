"""Items under pseudonyms: what is published, and what of it an adversary may compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError, visible
from unmask.core.partition import Partition
from unmask.pseudonyms.reading import read_columns

Kind = Literal["numeric", "categorical", "text"]


@dataclass(frozen=True, eq=False)
class Numeric:
    """A feature that is a number; NaN where it is missing, never infinite."""

    name: str
    values: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"Numeric({self.name!r}, {len(self.values)} cells)"

    @property
    def missing(self) -> NDArray[np.bool_]:
        """(n,) where the cell is missing."""
        return np.isnan(self.values)

    def take(self, rows: NDArray[np.integer[Any]]) -> Numeric:
        """The feature at these rows, in their order."""
        return replace(self, values=self.values[rows])


@dataclass(frozen=True, eq=False)
class Coded:
    """A feature that is one of some texts: row i holds `labels[codes[i]]`, or is missing where the code is -1.

    kind : "categorical" (equal or not) or "text" (may also be similar); labels are distinct and ascending.
    """

    name: str
    codes: NDArray[np.int32]
    labels: NDArray[Any]
    kind: Literal["categorical", "text"] = "categorical"

    def __repr__(self) -> str:
        return f"Coded({self.name!r}, {len(self.codes)} cells, {len(self.labels)} {self.kind} labels)"

    @property
    def missing(self) -> NDArray[np.bool_]:
        """(n,) where the cell is missing."""
        return self.codes < 0

    def take(self, rows: NDArray[np.integer[Any]]) -> Coded:
        """The feature at these rows, in their order; the labels stay."""
        return replace(self, codes=self.codes[rows])


Feature = Numeric | Coded


@dataclass(frozen=True, eq=False)
class Items:
    """Items with features, each under a pseudonym.

    ids       : (n,) what the evaluation knows an item by, each once; no attack reads them
    features  : what an adversary may compare, each with n cells
    pseudonym : (n,) the label an item is published under; items of one pseudonym are linked for free. None: every item
                stands alone. In a population that is still to be protected it is the user.
    time      : (n,) when, in a unit of your choice, or None
    context   : (n,) where an item appeared (a shop, a device, a file), or None

    >>> items = Items.read({"shop": ["a", "b", "a"], "sum": [1.5, 2, 1.5]}, features=["shop", "sum"])
    >>> items
    Items(3 items, features=shop+sum)
    >>> items.features[0].codes
    array([0, 1, 0], dtype=int32)
    """

    ids: NDArray[Any]
    features: tuple[Feature, ...]
    pseudonym: NDArray[Any] | None = None
    time: NDArray[np.float64] | None = None
    context: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if not len(self.ids):
            raise UnmaskError("the release has 0 items, expected at least 1")
        if len(np.unique(self.ids)) != len(self.ids):
            raise UnmaskError("an item id occurs twice, expected every item once")
        names = [feature.name for feature in self.features]
        if len(set(names)) != len(names):
            raise UnmaskError(f"the features are named {', '.join(names)}, expected every name once")
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
        """The items by pseudonym: what is linked for free in a release, the solution in a population.

        >>> Items.read({"who": ["b", "a", "b"]}, pseudonym="who").partition.sizes
        array([1, 2])
        """
        labels = np.arange(len(self)) if self.pseudonym is None else self.pseudonym
        return Partition(labels, items=self.ids)

    def feature(self, name: str) -> Feature:
        """The feature of that name.

        >>> Items.read({"shop": ["a"]}, features="shop").feature("sum")
        Traceback (most recent call last):
        unmask.core.errors.UnmaskError: feature 'sum' is not in the release; its features are shop
        """
        for feature in self.features:
            if feature.name == name:
                return feature
        known = ", ".join(feature.name for feature in self.features) or "none"
        raise UnmaskError(f"feature {name!r} is not in the release; its features are {known}")

    def chosen(self, names: Sequence[str] | str = ()) -> tuple[Feature, ...]:
        """The features of these names; all of them for none. A release without features is refused."""
        asked = (names,) if isinstance(names, str) else tuple(names)
        found = tuple(self.feature(name) for name in asked) if asked else self.features
        if not found:
            raise UnmaskError("the release has 0 features, expected at least 1 that an adversary can compare")
        return found

    def take(self, rows: ArrayLike) -> Items:
        """The items at these places, in their order."""
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
        """The features of each pseudonym, in the order of `partition`: what an adversary knows of it as a whole.

        Numeric: the mean over its items; categorical and text: the most frequent value, the first in order on ties.
        Missing cells are left out; a pseudonym without any other is missing. Where every item stands alone, the
        profiles are the items.

        >>> items = Items.read({"who": [7, 7, 3], "sum": [1, 3, 9]}, pseudonym="who", features="sum")
        >>> items.profiles[0].values
        array([9., 2.])
        """
        if self.pseudonym is None:
            return self.features
        owner, n = self.partition.code, self.partition.n_clusters
        return tuple(_profile(feature, owner, n) for feature in self.features)

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

        source   : path of a CSV, TSV (.gz) or Parquet file, or a mapping of column names to arrays
        item     : column of item ids, each once; their places 0, 1, ... when left out
        features : columns the adversary may compare. What `kinds` does not declare is numeric where every cell is a
                   number and categorical otherwise; "text" must be declared.
        time     : column of numbers, or of dates and times (seconds since 1970)
        na       : texts that stand for a missing cell, besides empty and NULL; only features may be missing

        >>> Items.read({"t": [0, 1], "who": ["x", "x"]}, time="t", pseudonym="who")
        Items(2 items, 1 pseudonyms)
        """
        asked = (features,) if isinstance(features, str) else tuple(features)
        roles = {"item": item, "pseudonym": pseudonym, "time": time, "context": context}
        single = {role: name for role, name in roles.items() if name is not None}
        names = [*single.values(), *asked]
        twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if twice is not None:
            raise UnmaskError(f"column {twice!r} is given two roles, expected one for each column")
        astray = next((name for name in kinds or {} if name not in asked), None)
        if astray is not None:
            raise UnmaskError(f"kinds names {astray!r}, which is no feature; the features are {', '.join(asked)}")
        gone = frozenset((na,) if isinstance(na, str) else na)
        columns = read_columns(source, names)
        n = len(next(iter(columns.values())))

        def role(name: str | None) -> NDArray[Any] | None:
            return None if name is None else _whole(name, columns[name], gone)

        ids = role(item)
        return cls(
            np.arange(n) if ids is None else ids,
            tuple(_feature(name, columns[name], (kinds or {}).get(name), gone) for name in asked),
            role(pseudonym),
            None if time is None else _times(time, _whole(time, columns[time], gone)),
            role(context),
        )


# --- columns ------------------------------------------------------------------------------------------------------


def _check_length(name: str, column: NDArray[Any], n: int) -> None:
    if column.shape != (n,):
        raise UnmaskError(f"column {name!r} has shape {column.shape} for {n} items, expected one cell for each")


def absent(cells: NDArray[Any], gone: frozenset[str] = frozenset()) -> NDArray[np.bool_]:
    """Where a cell is missing: None, NaN, an empty text, or one of the texts that stand for it."""
    if cells.dtype.kind == "f":
        return np.asarray(np.isnan(cells), dtype=np.bool_)
    if cells.dtype.kind == "O":
        found = (cell is None or cell != cell or cell == "" or cell in gone for cell in cells)
        return np.fromiter(found, dtype=np.bool_, count=len(cells))
    if cells.dtype.kind == "U":
        return np.isin(cells, ["", *gone])
    return np.isnat(cells) if cells.dtype.kind in "mM" else np.zeros(len(cells), dtype=np.bool_)


def _whole(name: str, cells: NDArray[Any], gone: frozenset[str]) -> NDArray[Any]:
    missing = absent(cells, gone)
    if missing.any():
        raise UnmaskError(
            f"column {name!r} is missing at {int(missing.sum())} items, the first in row {int(missing.argmax())}; "
            "only features may be missing"
        )
    return cells


def _feature(name: str, cells: NDArray[Any], kind: Kind | None, gone: frozenset[str]) -> Feature:
    if kind not in (None, "numeric", "categorical", "text"):
        raise UnmaskError(f"the kind of {name!r} is {kind!r}, expected 'numeric', 'categorical' or 'text'")
    missing = absent(cells, gone)
    if kind in (None, "numeric"):
        values = _numbers(cells, missing)
        if values is not None:
            return Numeric(name, values)
        if kind == "numeric":
            raise UnmaskError(f"feature {name!r} has a cell that is no finite number; declare another kind for it")
    return _coded(name, cells, missing, "text" if kind == "text" else "categorical")


def _numbers(cells: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """The cells as finite numbers, NaN where missing; None if one is anything else, or nothing is there."""
    values = np.full(len(cells), np.nan)
    if cells.dtype.kind in "bmM" or missing.all():
        return None
    try:
        values[~missing] = cells[~missing].astype(np.float64)
    except (TypeError, ValueError):
        return None
    return values if np.isfinite(values[~missing]).all() else None


def _coded(name: str, cells: NDArray[Any], missing: NDArray[np.bool_], kind: Literal["categorical", "text"]) -> Coded:
    codes = np.full(len(cells), -1, dtype=np.int32)
    labels, found = np.unique(cells[~missing].astype(np.str_), return_inverse=True)
    codes[~missing] = found
    return Coded(name, codes, labels.astype(object), kind)


def _times(name: str, cells: NDArray[Any]) -> NDArray[np.float64]:
    if cells.dtype.kind == "M":
        return cells.astype("datetime64[us]").astype(np.int64) / 1e6
    values = _numbers(cells, np.zeros(len(cells), dtype=np.bool_))
    if values is not None:
        return values
    try:
        return cells.astype(np.str_).astype("datetime64[us]").astype(np.int64) / 1e6
    except ValueError:
        raise UnmaskError(f"column {name!r} holds no times, expected numbers or ISO dates such as 2001-02-03") from None


def _profile(feature: Feature, owner: NDArray[np.int32], n: int) -> Feature:
    there = ~feature.missing
    if isinstance(feature, Numeric):
        count = np.bincount(owner[there], minlength=n)
        total = np.bincount(owner[there], weights=feature.values[there], minlength=n)
        return replace(feature, values=np.where(count > 0, total / np.maximum(count, 1), np.nan))
    width = max(len(feature.labels), 1)
    cell, count = np.unique(owner[there].astype(np.int64) * width + feature.codes[there], return_counts=True)
    who, code = np.divmod(cell, width)
    order = np.lexsort((code, -count, who))
    first, at = np.unique(who[order], return_index=True)
    codes = np.full(n, -1, dtype=np.int32)
    codes[first] = code[order][at]
    return replace(feature, codes=codes)
