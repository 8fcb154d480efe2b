"""The criteria of a table that does not fit the memory: part by part over its combinations, the weakest kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.engines import sql
from unmask.errors import UnmaskError
from unmask.tables.criteria import Criteria, Disclosure, Histograms, journalist, marketer
from unmask.tables.criteria.evaluation import LOWER_IS_WEAKER, Frame, disclosure, weakest
from unmask.tables.criteria.risk import Risk, fitting_cells, fitting_people
from unmask.tables.criteria.wildcards import merge
from unmask.tables.large.reduce import Combinations, Reduced


@dataclass(frozen=True, eq=False)
class Examined:
    """What one part of the classes contributes.

    named : sum of 1 / candidates over its rows. sizes, in_size : the sizes of its classes that occur, ascending, and
    the rows in classes of each. against : (2, J) rows of each class, and people of the population who fit it.
    """

    rows: int
    rows_missing: int
    sizes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    in_size: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    classes: int = 0
    k: int = 0
    unique: int = 0
    named: float = 0.0
    columns: Mapping[str, Disclosure] = field(default_factory=dict)
    against: NDArray[np.int64] | None = None


def evaluate(reduced: Reduced, *, population: Combinations | None = None, parts: int = 1) -> Criteria:
    """All criteria, as `unmask.tables.criteria.evaluate` would find them for the table in memory.

    Every criterion is a function of one class and of the distribution q of the whole table, so classes are taken in
    `parts`, one after the other; averages are sums over rows. Equal up to the order of summation (1e-12).
    population : the combinations of everybody who could be in the release, on the same quasi-identifiers.
    Missing cells that are compatible with every value make classes overlap, which needs all of them at once.
    """
    totals = reduced.totals()
    return together(reduced, [examine(part, totals, population=population) for part in reduced.parts(parts)])


def examine(
    part: Combinations, totals: Mapping[str, NDArray[np.int64]], *, population: Combinations | None = None
) -> Examined:
    """The criteria of one part. totals : rows of each value of each sensitive column in all parts."""
    gap = int(part.counts[part.has_gap].sum())
    if part.missing == "excluded" and part.has_gap.all():
        return Examined(0, gap)
    frame = cast("_Counted", _Counted.of(part))
    columns = {
        column.name: disclosure(column, replace(frame, histogram=histogram, overall=totals[column.name]))
        for column, histogram in zip(part.sensitive, part.histograms, strict=True)
    }
    sizes, classes = np.unique(frame.rows, return_counts=True)
    people = None if population is None else population_sizes(part, population)[frame.kept]
    return Examined(
        rows=int(frame.rows.sum()),
        rows_missing=gap,
        sizes=sizes,
        in_size=sizes * classes,
        classes=len(frame.rows),
        k=int(frame.sizes.min()),
        unique=int(frame.rows[frame.sizes == 1].sum()),
        named=float(np.sum(frame.rows / frame.sizes)),
        columns=columns,
        against=None if people is None else np.stack((frame.rows, people)),
    )


def together(reduced: Reduced, found: Sequence[Examined]) -> Criteria:
    """The criteria of a table from those of all its parts."""
    used = [part for part in found if part.rows]
    if not used:
        raise UnmaskError("every row has a missing quasi-identifier cell and is excluded; choose missing='own'")
    rows, k = sum(part.rows for part in used), min(part.k for part in used)
    columns = {
        name: _merged([part.columns[name] for part in used], [part.rows for part in used]) for name in used[0].columns
    }
    against = _against(used)
    return Criteria(
        rows=rows,
        classes=sum(part.classes for part in used),
        k=k,
        unique_rows=sum(part.unique for part in used),
        prosecutor_average=sum(part.named for part in used) / rows,
        prosecutor_max=1 / k,
        journalist_average=None if against is None else against[0].average,
        journalist_max=None if against is None else against[0].maximum,
        marketer=None if against is None else against[1],
        sample_weight_average=None,
        sample_weight_max=None,
        reference="release",
        missing=reduced.missing,
        rows_missing=sum(part.rows_missing for part in found),
        rows_excluded=reduced.n_rows - rows,
        columns=columns,
        **{f.name: weakest(f.name, columns) for f in fields(Disclosure)},  # type: ignore[arg-type]
    )


def rows_by_size(
    parts: Iterable[tuple[NDArray[np.int64], NDArray[Any]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sizes of sets of candidates that occur in any part, ascending, and the rows of each.

    parts : sizes, and the rows of each; a size may occur several times.
    """
    every, rows = (np.concatenate(of) for of in zip(*parts, strict=True))
    sizes, at = np.unique(every, return_inverse=True)
    return sizes, np.bincount(at, rows).astype(np.int64)


def named(part: Combinations, left_out: str | None = None) -> Counter[str]:
    """How many rows an adversary names who sees their class, without one of the quasi-identifiers.

    Identity: one row of each class; a sensitive column: the rows that have the most frequent value of their class.
    """
    if left_out is not None:
        part = part.recoded([column for column in part.quasi_identifiers if column.name != left_out])
    values = zip(part.sensitive, part.histograms, strict=True)
    return Counter({"identity": len(part.counts), **{column.name: int(of.max(axis=1).sum()) for column, of in values}})


def named_in_engine(reduced: Reduced, left_out: str) -> Counter[str]:
    """The same of all rows that take part, where classes that differ in this column only are in several parts."""
    quasi = [short for short in reduced.short[0] if reduced.columns[short] != left_out]
    found: Counter[str] = Counter()
    for secret in reduced.short[1] or [""]:
        statement = sql.largest(f"{reduced.name}_coded", reduced.words, quasi, secret, where=reduced.complete)
        rows = reduced.engine.rows(statement)
        found["identity"] = int(rows["classes"][0])
        if secret:
            found[reduced.columns[secret]] = int(rows["n"][0])
    return found


def population_sizes(release: Combinations, population: Combinations) -> NDArray[np.int64]:
    """People N_c of the population who fit each class of the release, (J,); see `criteria.population_sizes`."""
    known = np.stack([population.column(c.name).codes for c in release.quasi_identifiers], axis=1)
    return fitting_people(release.classes.levels, known, population.counts, fitting_cells(release, population))


@dataclass(frozen=True, eq=False)
class _Counted(Frame):
    """The classes of a part, and the histogram of one sensitive column in them."""

    histogram: csr_array[Any, Any] | None = None
    overall: NDArray[np.int64] | None = None

    def histograms(self, codes: NDArray[np.int32], n_levels: int) -> Histograms:
        """The histogram with its values at the places `codes`, (L,)."""
        assert self.histogram is not None
        assert self.overall is not None
        counts = self.histogram[self.kept] if len(self.kept) < self.histogram.shape[0] else self.histogram
        moved = csr_array((counts.data, codes[counts.indices], counts.indptr), shape=(counts.shape[0], n_levels))
        moved.sort_indices()
        overall = np.zeros(n_levels, dtype=np.int64)
        overall[codes] = self.overall
        return Histograms.of(self.merged(moved), overall=overall)

    def merged(self, counts: csr_array[Any, Any]) -> csr_array[Any, Any]:
        """Summed over the classes that each may be, where they overlap."""
        return merge(self.meetings, counts) if self.meetings else counts


def _against(found: Sequence[Examined]) -> tuple[Risk, float] | None:
    pairs = [part.against for part in found if part.against is not None]
    if not pairs:
        return None
    rows, people = np.concatenate(pairs, axis=1)
    return journalist(rows, people), marketer(rows, people)


_MEANS = {"map_error", "information_bits"}


def _merged(found: Sequence[Disclosure], rows: Sequence[int]) -> Disclosure:
    """The weakest of several parts; means over rows are means of the parts, by rows."""
    merged: dict[str, Any] = {}
    for item in fields(Disclosure):
        values = [getattr(one, item.name) for one in found]
        if item.name in _MEANS:
            merged[item.name] = float(np.dot(values, rows) / np.sum(rows)) if len(values) > 1 else values[0]
        elif None in values:
            merged[item.name] = None
        else:
            merged[item.name] = min(values) if item.name in LOWER_IS_WEAKER else max(values)
    merged["average_privacy_risk"] = 1 - merged["map_error"]
    return Disclosure(**merged)
