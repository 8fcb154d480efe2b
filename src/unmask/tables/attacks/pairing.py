"""What every attack on a table starts from: distinct observations, distinct candidates, and how their cells relate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.inference import by_class
from unmask.posterior import Posterior, equal_weights, stored
from unmask.tables.counts import group
from unmask.tables.release import Column, Table

CHUNK = 1 << 22
"""Pairs of observation and candidate class that are held at once."""


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two tables reduced to their distinct rows on the columns that both have.

    columns     : pairs (observed column, candidate column), in the order of the candidates' table
    observation : (n_targets,) distinct row of each target;        observed : (O, d) its codes
    klass       : (n_candidates,) distinct row of each candidate;  classes  : (J, d) its codes
    members, first : candidates sorted by class; class j is members[first[j]:first[j + 1]]
    """

    columns: tuple[tuple[Column, Column], ...]
    observation: NDArray[np.int32]
    observed: NDArray[np.int32]
    klass: NDArray[np.int32]
    classes: NDArray[np.int32]
    members: NDArray[np.int32]
    first: NDArray[np.int64]

    @property
    def n_candidates(self) -> int:
        """Number of candidate records."""
        return len(self.klass)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(J,) candidates in each class."""
        return np.diff(self.first)

    def expand(
        self, row: NDArray[np.int64], klass: NDArray[np.int64], value: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Entries (observation, class, value), rows ascending, written out as CSR over candidates, ascending in each
        row.
        """
        sizes = self.sizes[klass]
        start = np.repeat(self.first[klass], sizes)
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        candidate, values, rows = self.members[start + within], np.repeat(value, sizes), np.repeat(row, sizes)
        order = np.lexsort((candidate, rows))
        indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(self.observed)))))
        return indptr, candidate[order], values[order]

    def all_alike(self, indptr: NDArray[np.int64], candidate: NDArray[np.int32], *, attack: str) -> Posterior:
        """The belief that holds all listed candidates of an observation alike; its status is `scores`."""
        sizes = np.diff(indptr)
        return Posterior(
            indptr=indptr,
            candidate=candidate,
            log_probability=stored(np.repeat(-np.log(sizes), sizes)),
            unlisted=np.zeros(len(sizes)),
            n_unlisted=np.zeros(len(sizes), dtype=np.int64),
            observation=self.observation.astype(np.int64),
            weight=equal_weights(len(self.observation)),
            n_candidates=self.n_candidates,
            log_prior=-float(np.log(self.n_candidates)),
            status="scores",
            provenance={"attack": attack},
        )


def shared_columns(observed: Table, candidates: Table) -> tuple[tuple[Column, Column], ...]:
    """The quasi-identifiers that two tables share, by name: (observed column, candidate column), in the order of the
    candidates' table.
    """
    names = {column.name for column in observed.quasi_identifiers}
    shared = [column for column in candidates.quasi_identifiers if column.name in names]
    if not shared:
        raise UnmaskError(
            f"the two tables share no quasi-identifier: one has {', '.join(sorted(names))}, the other "
            f"{', '.join(column.name for column in candidates.quasi_identifiers)}; name at least one column alike"
        )
    return tuple((observed.column(column.name), column) for column in shared)


def pair(observed: Table, candidates: Table) -> Pairing:
    """Reduce two tables to distinct rows over the quasi-identifiers that they share, by name."""
    columns = shared_columns(observed, candidates)
    observation, _, distinct = group([known.codes for known, _ in columns], [len(known.levels) for known, _ in columns])
    klass, sizes, classes = group([c.codes for _, c in columns], [len(c.levels) for _, c in columns])
    return Pairing(
        columns=columns,
        observation=observation,
        observed=distinct,
        klass=klass,
        classes=classes,
        members=by_class(klass, len(sizes)),
        first=np.concatenate(([0], np.cumsum(sizes))),
    )


@dataclass(frozen=True, eq=False)
class Same:
    """Two columns of exact values: cells go together when they are one value. For columns too wide for a table.

    observed, candidate : number of the value of each level, counted over both columns
    """

    observed: NDArray[np.int32]
    candidate: NDArray[np.int32]

    @classmethod
    def of(cls, observed: Column, candidate: Column) -> Same:
        """The values of two columns, by label."""
        labels = dict.fromkeys(observed.levels.labels + candidate.levels.labels)
        number = {label: at for at, label in enumerate(labels)}
        sides = ([number[label] for label in column.levels.labels] for column in (observed, candidate))
        return cls(*(np.array(side, dtype=np.int32) for side in sides))


Fit = NDArray[np.bool_] | Same
"""Which levels of two columns go together: (n_observed_levels, n_candidate_levels), or equal values."""


def pairs_where(pairing: Pairing, fits: Sequence[Fit]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(observation, class) of every pair that all columns allow, ordered by observation then class; fits : by column.

    Tables work on bits: for each column and observed level, the set of classes it allows, eight to a byte. Columns of
    equal values are joined first, and the others asked for the pairs that are left.
    """
    if any(isinstance(fit, Same) for fit in fits):
        return _joined(pairing, fits)
    packed = [
        np.packbits(fit[:, pairing.classes[:, i]], axis=1, bitorder="little")
        for i, fit in enumerate(fits)
        if not isinstance(fit, Same)
    ]
    step = max(1, 8 * CHUNK // max(len(pairing.classes), 1))
    rows, columns = [], []
    for start in range(0, len(pairing.observed), step):
        part = pairing.observed[start : start + step]
        bits = packed[0][part[:, 0]]
        for i in range(1, len(packed)):
            bits &= packed[i][part[:, i]]
        row, byte = np.divmod(np.flatnonzero(bits), bits.shape[1])
        which, bit = np.nonzero(np.unpackbits(bits[row, byte][:, None], axis=1, bitorder="little"))
        rows.append(row[which] + start)
        columns.append(8 * byte[which] + bit)
    return np.concatenate(rows), np.concatenate(columns)


def _joined(pairing: Pairing, fits: Sequence[Fit]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    observed, candidate = _keys(pairing, fits)
    order = np.argsort(candidate, kind="stable")
    first = np.searchsorted(candidate[order], observed, side="left")
    size = np.searchsorted(candidate[order], observed, side="right") - first
    rows, columns = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    ends = np.cumsum(size)
    cuts = np.unique(np.searchsorted(ends, np.arange(0, int(ends[-1]) + CHUNK, CHUNK)))
    for start, stop in zip(cuts, [*cuts[1:], len(observed)], strict=True):
        part = size[start:stop]
        row = np.repeat(np.arange(start, stop), part)
        column = order[np.repeat(first[start:stop] - (np.cumsum(part) - part), part) + np.arange(part.sum())]
        for i, fit in enumerate(fits):
            if not isinstance(fit, Same):
                good = fit[pairing.observed[row, i], pairing.classes[column, i]]
                row, column = row[good], column[good]
        rows.append(row)
        columns.append(column)
    return np.concatenate(rows), np.concatenate(columns)


def _keys(pairing: Pairing, fits: Sequence[Fit]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What observations and classes hold in the columns of equal values, as one number each."""
    sides = [
        np.concatenate([fit.observed[pairing.observed[:, i]], fit.candidate[pairing.classes[:, i]]])
        for i, fit in enumerate(fits)
        if isinstance(fit, Same)
    ]
    key, _, _ = group(sides, [int(side.max()) + 1 for side in sides])
    return key[: len(pairing.observed)], key[len(pairing.observed) :]


def sums_over(
    pairing: Pairing, tables: list[NDArray[np.float64]], keep: Callable[[NDArray[np.float64]], NDArray[np.bool_]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """(observation, class, sum over columns of the tables) of every pair that `keep` lets through, in chunks of
    observations.

    tables : for each column (n_observed_levels, n_candidate_levels); keep : (rows, J) sums -> (rows, J) bool.
    """
    step = max(1, CHUNK // max(len(pairing.classes), 1))
    rows, columns, values = [], [], []
    for start in range(0, len(pairing.observed), step):
        part = pairing.observed[start : start + step]
        total = np.zeros((len(part), len(pairing.classes)))
        for i, table in enumerate(tables):
            total += table[part[:, i]][:, pairing.classes[:, i]]
        row, column = np.nonzero(keep(total))
        rows.append(row + start)
        columns.append(column)
        values.append(total[row, column])
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
