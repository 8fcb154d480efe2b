"""Linkage attacks on perturbed cells: Bayes' rule with an error model, and the nearest neighbor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.inference import from_likelihood
from unmask.core.posterior import Posterior
from unmask.ranges import Range, check_ranges
from unmask.tables.attacks.pairing import Pairing, pair, sum_column_tables
from unmask.tables.background import Background, Rng, people_of
from unmask.tables.column import Column
from unmask.tables.levels import Levels, Missing, on_one_scale
from unmask.tables.matching import compatible
from unmask.tables.table import Table

MAX_LOG_GAP = 18.0
"""Candidates that are less likely than the best one by a factor of more than exp(18), 6.6e7, are not listed."""

TIE_DISTANCE = 1e-9
"""Distances that differ by less are equal."""

IMPOSSIBLE = -1e6
"""Log-likelihood of an event that the error model excludes: finite, and below every possible one."""


@dataclass(frozen=True)
class CellError:
    """Error model of a released cell: unchanged, moved by a few units, or redrawn from the column.

    Parameters
    ----------
    redraw : float, optional
        Probability that the cell is replaced by a draw from the released column.
    jitter : float, optional
        Probability that a number that was not redrawn is moved by +-1 ... +-width, uniformly.
    width : int, optional
        Largest move, in units of the column.
    """

    redraw: Annotated[float, Range(0, 1)] = 0.0
    jitter: Annotated[float, Range(0, 1)] = 0.0
    width: int = 0

    def __post_init__(self) -> None:
        check_ranges(self)
        if (self.jitter > 0) != (self.width > 0):
            raise UnmaskError("jitter needs both a probability and a width of at least 1")


@dataclass(frozen=True)
class BayesAttack:
    """Linkage attack on perturbed cells: p(x given v) by Bayes' rule over all records.

        p(v given record r) = product over columns of (1 - redraw) J(r, v) / sum_v' J(r, v') + redraw q(v)

    q is the frequency of v in the released column, and J is the jitter. A generalized cell may be any value that it
    contains. Errors are independent between columns, and each of n records has the prior probability 1 / n.

    Assumes: errors occur independently in each column, with the rates of `error`.

    Fails when: the errors of a person are correlated (moving changes zip and phone), or cells depend on other cells, as
        in rank swapping. `MechanismAttack` then finds more.

    Parameters
    ----------
    error : CellError | Mapping[str, CellError], optional
        One error model for every column, or one for each by name.

    References
    ----------
    Fellegi & Sunter, "A theory for record linkage", 1969, normalized over candidates and "none of these".

    Examples
    --------
    >>> release = Table.read({"age": [30, 31, 52]}, quasi_identifiers="age")
    >>> known = Table.read({"age": [30]}, quasi_identifiers="age")
    >>> belief = BayesAttack(error=CellError(redraw=0.1))(release, Background(known))
    >>> [(record.candidate, round(record.probability, 2)) for record in belief.candidates(0)]
    [(0, 0.93), (1, 0.03), (2, 0.03)]
    """

    error: CellError | Mapping[str, CellError] = field(default_factory=lambda: CellError(redraw=0.05))

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """Return the belief about each known person."""
        pairing = pair(people_of(knowledge, self), release)
        tables = [self.log_table(*sides, missing=release.missing) for sides in pairing.columns]
        likely = select_sums(pairing, tables, lambda s: s > s.max(axis=1, keepdims=True) - MAX_LOG_GAP)
        return from_likelihood(
            *pairing.expand(*likely),
            n_candidates=pairing.n_candidates,
            observation=pairing.observation.astype(np.int64),
            status="model",
            provenance={"attack": repr(self), "missing": release.missing},
        )

    def log_table(self, known_column: Column, released: Column, *, missing: Missing) -> Floats:
        """Return (n_known_levels, n_released_levels) log p(true value given the record's released cell)."""
        error = self._error_of(known_column)
        unredrawn = _unredrawn_weight(known_column, released, error, missing)
        vague = known_column.levels.open(missing)
        spread = np.maximum(unredrawn[~vague].sum(axis=0, keepdims=True), 1e-300)
        log_redrawn = float(np.log(max(error.redraw, 1e-300))) + _log_marginal(known_column, released)
        with np.errstate(divide="ignore"):
            table = np.log((1 - error.redraw) * unredrawn / spread + np.exp(log_redrawn)[:, None])
        table = np.maximum(table, IMPOSSIBLE)
        table[vague] = 0.0
        return np.asarray(table)

    def _error_of(self, known_column: Column) -> CellError:
        return self.error if isinstance(self.error, CellError) else self.error.get(known_column.name, CellError())


def _unredrawn_weight(known_column: Column, released: Column, error: CellError, missing: Missing) -> Floats:
    """Return (n_known_levels, n_released_levels) weights of the known value for a cell that was not redrawn."""
    is_compatible = compatible(known_column.levels, released.levels, missing=missing).astype(np.float64)
    if not error.width or not known_column.levels.kind == released.levels.kind == "numeric":
        return is_compatible
    n_moves = np.zeros_like(is_compatible)
    known_levels, released_levels = on_one_scale(known_column.levels, released.levels)
    low, high = known_levels.low[:, None], known_levels.high[:, None]
    for step in range(1, error.width + 1):
        for move in (-step, step):
            n_moves += (low + move <= released_levels.high) & (high + move >= released_levels.low)
    return np.asarray((1 - error.jitter) * is_compatible + error.jitter * n_moves / (2 * error.width))


def _log_marginal(known_column: Column, released: Column) -> Floats:
    """Return (n_known_levels,) log share of the released cells that are compatible with each known value.

    A value that is never released counts as half a record.
    """
    counts = released.counts.astype(np.float64)
    is_compatible = compatible(known_column.levels, released.levels, missing="own").astype(np.float64)
    share = (is_compatible / np.maximum(is_compatible.sum(axis=0, keepdims=True), 1.0)) @ counts
    log_share = np.log(np.maximum(share, 0.5) / counts.sum())
    log_share[known_column.levels.open("own")] = 0.0
    return np.asarray(log_share)


@dataclass(frozen=True)
class NearestNeighbor:
    """Linkage attack that picks the nearest records in Gower's distance, with equal probability.

    The distance is a mean over columns: |v - cell| / range for numbers (0 inside a released interval), and 0 or 1 for
    categories (0 if the cell contains the value). The range is that of the released column. A missing cell has
    distance 1 from a value, or 0 if the release's rule is "wildcard". A value that the adversary does not know has
    distance 0. The status is `scores`, because a distance is not a probability.

    Assumes: the protection changes each column by a small part of its range.

    Fails when: columns were perturbed unequally, or many rows are almost equally near. `MechanismAttack` uses the
        protection and may find more.

    References
    ----------
    J. C. Gower, "A general coefficient of similarity and some of its properties", 1971.

    Examples
    --------
    >>> release = Table.read({"age": [30, 31, 52]}, quasi_identifiers="age")
    >>> belief = NearestNeighbor()(release, Background(Table.read({"age": [33]}, quasi_identifiers="age")))
    >>> belief.candidates(0), belief.status
    ((Candidate(candidate=1, probability=1.0),), 'scores')
    """

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """Return the belief about each known person: uniform over the nearest records."""
        pairing = pair(people_of(knowledge, self), release)
        tables = [gower(*sides, wildcard=release.missing == "wildcard") for sides in pairing.columns]
        row, klass, _ = select_sums(pairing, tables, lambda s: s <= s.min(axis=1, keepdims=True) + TIE_DISTANCE)
        indptr, candidate, _ = pairing.expand(row, klass, np.zeros(len(row)))
        return pairing.uniform_posterior(indptr, candidate, attack=repr(self))


def gower(known_column: Column, released: Column, *, wildcard: bool, span: float | None = None) -> Floats:
    """Return (n_known_levels, n_released_levels) Gower distances between cells, from 0 to 1.

    wildcard : a missing cell has distance 0 from every cell
    span     : difference of numbers with distance 1; by default the range of the released ones
    """
    is_compatible = compatible(known_column.levels, released.levels, missing="wildcard" if wildcard else "own")
    table = np.where(is_compatible, 0.0, 1.0)
    if known_column.levels.kind == released.levels.kind == "numeric":
        known_levels, released_levels = on_one_scale(known_column.levels, released.levels)
        span = find_span(released_levels) if span is None else span
        gap_below = released_levels.low - known_levels.high[:, None]
        gap_above = known_levels.low[:, None] - released_levels.high
        gap = np.nan_to_num(np.maximum(np.maximum(gap_below, gap_above), 0.0), nan=np.inf)
        table = np.where(is_compatible, 0.0, np.minimum(gap / span if span else 1.0, 1.0))
    return np.asarray(table)


def find_span(*levels: Levels) -> float:
    """Return the range of the numbers of numeric levels; 0 without numbers."""
    bounds = np.concatenate([ends for side in levels for ends in (side.low, side.high)])
    bounds = bounds[np.isfinite(bounds)]
    return float(np.ptp(bounds)) if len(bounds) else 0.0


def select_sums(
    pairing: Pairing, tables: list[Floats], is_selected: Callable[[Floats], Booleans]
) -> tuple[Integers, Integers, Floats]:
    """Return (observation, class, sum over columns of the tables) of the pairs that `is_selected` selects.

    tables      : for each column (n_observed_levels, n_candidate_levels)
    is_selected : function from (n_rows, J) sums to a mask of the same shape
    """
    rows, columns, values = [], [], []
    for start, total in sum_column_tables(tables, pairing.observed, pairing.classes, width=len(pairing.classes)):
        row, column = np.nonzero(is_selected(total))
        rows.append(row + start)
        columns.append(column)
        values.append(total[row, column])
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
