"""What a synthetic release repeats of the original, as synthpop counts it: companions of attacks, no verdicts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.tables.attacks.pairing import Same, shared_columns
from unmask.tables.column import Column
from unmask.tables.counts import class_counts, group
from unmask.tables.release import Table

Keys = NDArray[np.int32]


def replicated_uniques(release: Table, original: Table) -> float:
    """Share of the people of the original who are unique there by their quasi-identifiers, and whose combination one
    released row has: repU.

    >>> people = Table.read({"q": list("abcc"), "s": list("uvuv")}, quasi_identifiers="q", sensitive="s")
    >>> release = Table.read({"q": list("accd"), "s": list("uvvu")}, quasi_identifiers="q", sensitive="s")
    >>> replicated_uniques(release, people)
    0.25

    G. M. Raab, B. Nowok & C. Dibben, "Practical privacy metrics for synthetic data", 2024, section 3; synthpop 1.9.
    """
    people, rows, n = _keys(release, original)
    alone = [np.bincount(side, minlength=n) == 1 for side in (people, rows)]
    return float((alone[0] & alone[1])[people].mean())


def correctly_disclosed(release: Table, original: Table, sensitive: str) -> float:
    """Share of the people of the original whose combination of quasi-identifiers is released with one single value of a
    sensitive column, and that value is theirs: DiSCO.

    >>> people = Table.read({"q": list("abcc"), "s": list("uvuv")}, quasi_identifiers="q", sensitive="s")
    >>> release = Table.read({"q": list("accd"), "s": list("uvvu")}, quasi_identifiers="q", sensitive="s")
    >>> correctly_disclosed(release, people, "s")
    0.5

    G. M. Raab, B. Nowok & C. Dibben, "Practical privacy metrics for synthetic data", 2024, section 4; synthpop 1.9.
    """
    people, rows, n = _keys(release, original)
    (theirs, shown), n_values = _alike(original.column(sensitive), release.column(sensitive))
    counts = class_counts(rows, n, shown, n_values)
    single = np.diff(counts.indptr) == 1
    value = np.full(n, -1)
    value[single] = counts.indices[counts.indptr[:-1][single]]
    return float((value[people] == theirs).mean())


def _keys(release: Table, original: Table) -> tuple[Keys, Keys, int]:
    """The combination of each person and of each released row, numbered over both, and how many there are."""
    pairs = [_alike(*both) for both in shared_columns(original, release)]
    of, sizes, _ = group([np.concatenate(both) for both, _ in pairs], [n for _, n in pairs])
    return of[: original.n_rows], of[original.n_rows :], len(sizes)


def _alike(known: Column, released: Column) -> tuple[tuple[Keys, Keys], int]:
    """The values of two columns under the same numbers, and how many there are."""
    same = Same.of(known, released)
    ours, theirs = same.observed + 1, same.candidate + 1  # `*` is a value of its own here
    n = int(max(ours.max(initial=-1), theirs.max(initial=-1))) + 1
    return (ours[known.codes], theirs[released.codes]), n
