"""Mondrian on the combinations of a table: the boxes of the table in memory, without its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.errors import UnmaskError
from unmask.tables import mondrian as kernel
from unmask.tables.constraints import Constraint
from unmask.tables.counts import group
from unmask.tables.demands import Secret, check_whole, demands_of, secrets_of
from unmask.tables.large.reduce import Combinations
from unmask.tables.protections import Mondrian
from unmask.tables.recoding import axis, merged
from unmask.tables.release import Column, Table
from unmask.tables.utility.columns import Cells
from unmask.tables.utility.evaluation import average_class_size, discernibility


@dataclass(frozen=True, eq=False)
class Generalised:
    """What a protection made of the combinations of a table.

    before : the combinations of the table; kept : those that take part, all but under the rule "excluded".
    columns : the released cell of each that takes part, a code per quasi-identifier.
    release : the combinations of the release. box : the class of the release that each one that takes part is in.
    """

    before: Combinations
    kept: NDArray[np.intp]
    columns: tuple[Column, ...]
    release: Combinations
    box: NDArray[np.int32]


def generalise(table: Combinations, protection: Mondrian) -> Generalised:
    """The boxes that `protection` cuts the table into, by the same rule and with the same cells as in memory.

    A strict cut separates values, so rows that agree never part and a combination is a point with its rows as weight.
    The relaxed form parts them at random and needs the rows themselves; it is refused.
    """
    if not protection.strict:
        raise UnmaskError("the relaxed Mondrian parts equal rows and needs them in memory; use the strict form")
    kept = table.complete()
    k, demands = demands_of(protection.k, protection.l, protection.t, protection.constraints)
    secrets = _secrets(kept, demands)
    check_whole(kept, k, demands, [secret for secret, _ in secrets])
    codes = [column.codes for column in kept.quasi_identifiers]
    axes = [axis(column, code) for column, code in zip(kept.quasi_identifiers, codes, strict=True)]
    box = kernel.mondrian(
        np.stack([place[code] for (place, _), code in zip(axes, codes, strict=True)], axis=1),
        kept.counts,
        k=k,
        histograms=[histogram for _, histogram in secrets],
        allows=[secret.allows(demands) for secret, _ in secrets],
        trees=[tree for _, tree in axes],
    )
    columns = []
    for column, code in zip(kept.quasi_identifiers, codes, strict=True):
        levels, cell = merged(column, box, code, None)
        columns.append(replace(column, codes=cell, levels=levels))
    release = kept.recoded(columns)
    of, _, _ = group([column.codes for column in columns], [len(column.levels) for column in columns])
    return Generalised(table, table.kept, tuple(columns), release, of)


def _secrets(table: Combinations, demands: Sequence[Constraint]) -> list[tuple[Secret, csr_array]]:
    """The sensitive columns as the constraints see them, and their histograms with the values in that order."""
    if demands and not table.sensitive:
        secrets_of(table, demands)  # says what is missing
    found = []
    for column, histogram in zip(table.sensitive, table.histograms, strict=True) if demands else ():
        listed = Column("value", column.codes, column.levels)
        (secret,) = secrets_of(Table((listed,), (column,)), demands)
        overall = np.zeros(len(column.levels), dtype=np.int64)
        overall[secret.codes] = np.asarray(histogram.sum(axis=0), dtype=np.int64)
        moved = csr_array((histogram.data, secret.codes[histogram.indices], histogram.indptr), shape=histogram.shape)
        found.append((replace(secret, overall=overall), moved))
    return found


@dataclass(frozen=True)
class Loss:
    """What a release has lost, as far as cells and classes tell; the quantities are those of `utility.Utility`."""

    rows: int
    released_rows: int
    suppressed_rows: int
    suppressed_cells: int
    ncp: Mapping[str, float]
    gcp: float
    discernibility: int
    class_size: int
    average_class_size: float
    precision: Mapping[str, float | None]
    distortion: Mapping[str, float]


def loss(made: Generalised) -> Loss:
    """The loss of a release; rows that are not released count as suppressed.

    The comparisons of distributions and the random queries of `utility.evaluate` need rows and are not among them.
    """
    cells = {
        column.name: _Weighed.of_counts(column, released, made)
        for column, released in zip(made.before.quasi_identifiers, made.columns, strict=True)
    }
    ncp = {name: column.ncp() for name, column in cells.items()}
    sizes, rows, released_rows = made.release.counts, made.before.n_rows, made.release.n_rows
    smallest = int(sizes.min())
    return Loss(
        rows=rows,
        released_rows=released_rows,
        suppressed_rows=rows - released_rows,
        suppressed_cells=sum(column.suppressed() for column in cells.values()),
        ncp=ncp,
        gcp=float(np.mean(list(ncp.values()))),
        discernibility=discernibility(sizes, suppressed_rows=rows - released_rows, rows=rows),
        class_size=smallest,
        average_class_size=average_class_size(sizes, k=smallest),
        precision={name: column.precision() for name, column in cells.items()},
        distortion={name: column.distortion() for name, column in cells.items()},
    )


@dataclass(frozen=True, eq=False)
class _Weighed(Cells):
    """One column of table and release, cell against cell, by combinations; weight : (J,) rows of each."""

    weight: NDArray[np.int64]

    @classmethod
    def of_counts(cls, original: Column, released: Column, made: Generalised) -> _Weighed:
        """Compare the cells of the combinations that are released with what became of them."""
        weight, kept = made.before.counts, made.kept
        lost = np.ones(len(weight), dtype=np.bool_)
        lost[kept] = False
        cells = Cells.of(original, released, kept, lost)
        shape = (len(original.levels), len(released.levels))
        pairs = csr_array((weight[kept], (original.codes[kept], released.codes)), shape=shape)
        known = {item.name: getattr(cells, item.name) for item in fields(Cells)}
        return cls(**{**known, "pairs": pairs}, weight=weight)

    @property
    def n_lost(self) -> int:
        """Rows that are not released."""
        return int(self.weight[self.lost].sum())

    def mean(self, loss: NDArray[np.float64], suppressed: float) -> float:
        """Mean over all rows of a loss per pair; a suppressed row costs `suppressed`."""
        _, _, count = self.met()
        return float((np.sum(loss * count) + suppressed * self.n_lost) / self.weight.sum())

    def distortion(self) -> float:
        """As in memory, with the rows of the combinations that are not released put in one by one."""
        lost = np.bincount(self.before[self.lost], self.weight[self.lost], len(self.source.missing))
        at = np.flatnonzero((lost > 0) & ~self.source.missing)
        away = self._distance(self.source, at, self._everything(), np.zeros(len(at), dtype=np.int64))
        total = float(np.sum(away * lost[at])) + float(lost[self.source.missing].sum())
        none_lost = replace(self, lost=np.zeros(len(self.lost), dtype=np.bool_))
        return super(_Weighed, none_lost).distortion() + total / float(self.weight.sum())
