"""Linkage attacks by equivalence class, on the release (prosecutor) or with a register (journalist, marketer)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import FailedError, UnmaskError
from unmask.core.grouping import rank_keys
from unmask.core.inference import from_classes, from_likelihood
from unmask.core.posterior import MAX_DOUBLE_ENTRIES, Posterior
from unmask.ranges import CheckedParameters, Range
from unmask.tables.attacks.comparisons import (
    Comparison,
    compare_known_levels,
    compare_levels,
)
from unmask.tables.attacks.pairing import (
    Pairing,
    find_compatible_pairs,
    iterate_compatible_pairs,
    pair,
    pair_classes,
    require_rows,
)
from unmask.tables.attacks.register import compute_owner_belief
from unmask.tables.attacks.relation import classes_intersect, relation_of, stated_cells_overlap
from unmask.tables.background import Background, Rng, people_of
from unmask.tables.column import Column
from unmask.tables.levels import Missing
from unmask.tables.table import Table


@dataclass(frozen=True)
class ClassAttack:
    """Linkage attack of a prosecutor, who knows people's quasi-identifiers and compares cells by containment.

    A record is compatible with a person if each released cell, as a set of values, contains the known value.
    Values are assumed to be uniformly distributed within a cell. Therefore p(record given person) is proportional to 1
    / volume over the compatible records. The volume is the number of combinations of cell values that occur among the
    known people. If classes are disjoint (strict recodings), the probability is 1 / n in a class of n. It is exact if
    the adversary cannot distinguish the people of a class. Overlapping classes (relaxed recodings, sets from several
    tools) give a `model`.

    An open cell may be any value: `*`, and a missing cell under "wildcard". For an open cell, the frequency f(v) of the
    known value v replaces 1 / volume. f counts the other cells of the column, each distributed over its values, and
    at least half a cell. This is Bayes' rule if suppression does not depend on the value. A record that contains
    the known value is thus more likely than a record that hides it. Under the other rules, a missing cell is
    compatible only with people without a value. Suppressed people are then looked for among other records, and the
    status is also `model`.

    Without known people, the attack uses the people of the release, known by their released cells. A record is
    compatible if its cells contain these cells. The record is then compatible with every person who may have these
    cells, and no risk is understated. Values that the adversary does not know (`Knowledge(missing=...)`) and suppressed
    cells are compatible with everything. A person without a compatible record is believed to be absent.

    Assumes: released cells contain the true values, the knowledge has no errors, and values are uniform within a cell.

    Fails when: cells were perturbed or the knowledge is wrong, because the true record is then incompatible
        (`BayesAttack`); or people of a class can be distinguished by other columns or classes.

    References
    ----------
    Rebollo-Monedero et al. 2012, section V-A1; K. El Emam & F. K. Dankar, "Protecting privacy using k-anonymity", 2008.

    Examples
    --------
    >>> rows = {"age": ["[20, 29]", "[20, 29]", "[30, 39]"], "ill": ["flu", "none", "flu"]}
    >>> release = Table.read(rows, quasi_identifiers="age", sensitive="ill")
    >>> belief = ClassAttack()(release, Background(Table.read({"age": [24]}, quasi_identifiers="age")))
    >>> [(record.candidate, record.probability) for record in belief.candidates(0)]
    [(0, 0.5), (1, 0.5)]
    """

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """Return the belief about each known person; without known people, about the person of each record."""
        return self.of_classes(release, knowledge).expand_classes()

    def of_classes(self, release: Table, knowledge: Background | None = None) -> Posterior:
        """Return the same belief with one record per class. The memory depends on the number of distinct rows."""
        people, provenance = Background.of(knowledge).people, self._provenance(release)
        if release.counts is not None:
            if people is not None:
                require_rows(release)
            return self.target_classes(release)
        if people is None:
            people = release
        if people is release and not classes_intersect(release):
            classes = release.classes
            return from_classes(classes.of_row, classes.of_row, n_classes=len(classes.sizes), provenance=provenance)
        pairing = pair(people, release)
        tables = compare_known_levels(pairing.columns, missing=release.missing)
        row, klass = find_compatible_pairs(pairing, tables)
        several = bool(np.bincount(row, minlength=1).max() > 1) or _meets_several(pairing, release.missing)
        pairing, row, klass = pairing.merge_single_class_observations(row, klass)
        log_stated = np.zeros(len(row))
        for i, ((known_column, cell), table) in enumerate(zip(pairing.columns, tables, strict=True)):
            pairs = pairing.observed[row, i], pairing.classes[klass, i]
            log_stated += _log_share(known_column, cell, table, pairs, missing=release.missing)
        indptr, candidate, log_likelihood = pairing.expand_to_representatives(row, klass, log_stated)
        return from_likelihood(
            indptr,
            candidate,
            log_likelihood,
            n_candidates=pairing.n_candidates,
            observation=pairing.observation.astype(np.int64),
            status="model" if several or _suppressed(pairing.columns) else "exact",
            provenance=provenance,
            representative=pairing.representative,
        )

    def target_classes(self, release: Table) -> Posterior:
        """Return the belief about the person of each record, where each class is one target, weighted by its rows."""
        if relation_of(release) is not None:
            raise UnmaskError(
                "a person may be in several classes, because cells are suppressed (`*`), wildcards or overlapping "
                "sets, and an engine counts each class separately; leave --engine out"
            )
        sizes, n = release.classes.sizes, release.n_rows
        return from_sizes(sizes, sizes / n, n_candidates=n, provenance=self._provenance(release))

    def _provenance(self, release: Table) -> dict[str, Any]:
        return {"attack": repr(self), "missing": release.missing}


def _meets_several(pairing: Pairing, missing: Missing) -> bool:
    """Return whether the cells of a person intersect the cells of several classes."""
    if not stated_cells_overlap((column for column, _ in pairing.columns), missing=missing):
        return False
    row, _ = find_compatible_pairs(pairing, compare_levels(pairing.columns, missing=missing))
    return bool(np.bincount(row, minlength=1).max() > 1)


def _suppressed(columns: Iterable[tuple[Column, Column]]) -> bool:
    """Return whether released cells are missing in a column in which every person has a value.

    columns : pairs (known, released)
    """
    return any(
        known_column.levels.missing < 0 <= cell.levels.missing and bool((cell.codes == cell.levels.missing).any())
        for known_column, cell in columns
    )


def _log_share(
    known_column: Column,
    cell: Column,
    comparison: Comparison,
    pairs: tuple[NDArray[np.int32], NDArray[np.int32]],
    *,
    missing: Missing,
) -> Floats:
    """Return (n_pairs,) log p(value given the cell), 0 for open values; see `ClassAttack`.

    pairs      : known level and released level of each compatible pair
    """
    known_cell, released_cell = pairs
    is_stated, anything = ~known_column.levels.open(missing), cell.levels.open(missing)
    log_volume = np.log(np.maximum(comparison.n_compatible(is_stated), 1))
    share = np.where(is_stated[known_cell], -log_volume[released_cell], 0.0)
    if not anything.any() or not is_stated.any():
        return share
    cells, share_of_any = np.where(anything, 0.0, cell.counts), np.zeros(len(is_stated))
    shared = comparison.sum_compatible(np.exp(-log_volume) * cells)
    share_of_any[is_stated] = _log_part(shared[is_stated], cells)
    return np.where(anything[released_cell], share_of_any[known_cell], share)


def _log_part(shared: Floats, cells: Floats) -> Floats:
    """Return the log share of each value among the cells, from counts of at least half a cell.

    shared : (n_values,) cells with each value, fractional for sets
    """
    weight = np.maximum(shared, 0.5)
    return np.asarray(np.log(weight / (cells.sum() + (weight - shared).sum())))


@dataclass(frozen=True)
class RegisterAttack(CheckedParameters):
    """Linkage attack that links released records to a register of named people.

    The targets are the released records, and the candidates are the people of the register. The n records and the N
    people of a class compete: if E[I] of the n owners are expected to be in the register, each of the N people owns
    each record with probability E[I] / (n N). `register.compute_owner_belief` has the formula, also for overlapping
    classes. The beliefs about similar records therefore never add up to more people than the register has. The
    owner of a record with a unique match is in the register with a higher probability than `coverage`.

    An impossible input is refused, such as a coverage of 1 for 20,000 records and a register of 16,000 people. A record
    without a compatible person has no candidate.

    Assumes: the register has no errors, and inclusion in the register does not depend on the person.

    Fails when: the register is outdated, or lists the people of some classes more completely than those of others.

    Parameters
    ----------
    coverage : float, optional
        Probability that the person behind a record is in the register.

    References
    ----------
    K. El Emam & F. K. Dankar 2008; the population is counted, not estimated.

    Examples
    --------
    >>> rows = {"age": ["[20, 29]", "[20, 29]", "[30, 39]"], "ill": ["flu", "none", "flu"]}
    >>> release = Table.read(rows, quasi_identifiers="age", sensitive="ill")
    >>> register = Table.read({"age": [24, 26, 27, 35]}, quasi_identifiers="age")
    >>> belief = RegisterAttack()(release, Background(register))
    >>> [(person.candidate, round(person.probability, 2)) for person in belief.candidates(0)]
    [(0, 0.33), (1, 0.33), (2, 0.33)]
    >>> belief.candidates(2)
    (Candidate(candidate=3, probability=1.0),)
    """

    coverage: Annotated[float, Range(0, 1, above=True)] = 1.0

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """Return the belief about the person behind each released record; the known people are the register."""
        people, provenance = people_of(knowledge, self), {"attack": repr(self), "missing": release.missing}
        if release.counts is not None or people.counts is not None:
            return link_combinations(release, people, coverage=self.coverage, provenance=provenance)
        pairing = pair(release, people)
        row, klass = find_compatible_pairs(pairing, compare_levels(pairing.columns, missing=release.missing))
        belief = compute_owner_belief(
            np.bincount(pairing.observation), pairing.sizes, row, klass, coverage=self.coverage
        )
        likely = belief.probability > MIN_LISTED_PROBABILITY
        indptr, candidate, log_p = pairing.expand(row[likely], klass[likely], np.log(belief.probability[likely]))
        return Posterior.from_entries(
            indptr,
            candidate,
            log_p,
            unlisted=1.0 - belief.in_register,
            observation=pairing.observation,
            n_candidates=pairing.n_candidates,
            log_prior=float(np.log(self.coverage / pairing.n_candidates)),
            status="exact" if self.coverage == 1.0 and not belief.overlaps.any() else "model",
            provenance=provenance,
        )


MIN_LISTED_PROBABILITY = 1e-34
"""Smallest probability that is listed. Its logarithm is still distinguishable in single precision."""


# --- each class is one target with the weight of its people -----------------------------------------------------------


def from_sizes(
    sizes: Integers, weight: Floats, *, n_candidates: int, provenance: dict[str, Any] | None = None
) -> Posterior:
    """Return the belief of `inference.from_classes` with each class as one target and without listed candidates.

    sizes  : (J,) candidates in each class, which the adversary cannot distinguish; 0 if the target is known to be
        absent
    weight : (J,) share of the people in each class, sum 1

    >>> belief = from_sizes(np.array([3, 1, 3]), np.array([3, 1, 3]) / 7, n_candidates=7)
    >>> belief.n_unlisted, belief.observation
    (array([1, 3]), array([1, 0, 1]))
    """
    observation, _, example = rank_keys(sizes, int(sizes.max()) + 1)
    candidates = sizes[example]
    return Posterior.from_entries(
        np.zeros(len(candidates) + 1, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
        np.zeros(0),
        n_unlisted=candidates,
        observation=observation,
        weight=weight,
        n_candidates=n_candidates,
        provenance=provenance or {},
    )


def link_combinations(
    release: Table, register: Table, *, coverage: float, provenance: dict[str, Any] | None = None
) -> Posterior:
    """Return the belief about the register's person behind each distinct record.

    Candidates are listed if they differ, and if the owner may be outside the register. Their numbers have no meaning
    outside a target. Targets with the same number of equal candidates share a row.
    """
    records, people, row, klass = _pairs(release, register)
    belief = compute_owner_belief(records, people, row, klass, coverage=coverage)
    n_compatible = np.bincount(row, people[klass], len(records)).astype(np.int64)
    weight = records / records.sum()
    if coverage == 1.0 and not belief.overlaps.any():
        return from_sizes(n_compatible, weight, n_candidates=register.n_rows, provenance=provenance)
    unequal = belief.overlaps[row]
    rows, number_of_row = np.unique(row[unequal], return_inverse=True)
    n_entries, probability = people[klass[unequal]], belief.probability[unequal]
    alike = np.setdiff1d(np.arange(len(records)), rows)
    cases, case_of_class = np.unique(
        np.stack([n_compatible[alike], belief.in_register[alike]]), axis=1, return_inverse=True
    )
    size, p_in_register = cases[0].astype(np.int64), cases[1]
    _check_entries(
        int(size.sum() + n_entries.sum()),
        "candidates must be listed, because of a coverage below 1 or overlapping classes",
    )
    observation = np.empty(len(records), dtype=np.int64)
    observation[alike], observation[rows] = case_of_class.ravel(), len(size) + np.arange(len(rows))
    length = np.concatenate([size, np.bincount(number_of_row, n_entries, len(rows)).astype(np.int64)])
    indptr = np.concatenate(([0], np.cumsum(length)))
    p = np.concatenate([np.repeat(p_in_register / np.maximum(size, 1), size), np.repeat(probability, n_entries)])
    return Posterior.from_entries(
        indptr,
        np.arange(indptr[-1]) - np.repeat(indptr[:-1], length),
        np.log(p),
        unlisted=1.0 - np.concatenate([p_in_register, belief.in_register[rows]]),
        observation=observation,
        weight=weight,
        n_candidates=register.n_rows,
        log_prior=float(np.log(coverage / register.n_rows)),
        status="model",
        provenance=provenance or {},
    )


def _pairs(release: Table, register: Table) -> tuple[Integers, Integers, Integers, Integers]:
    """Return the sizes of observations and classes, and the observation and class of each compatible pair."""
    pairing = pair_classes(release, register)
    chunks, n = [], 0
    for chunk in iterate_compatible_pairs(pairing, compare_levels(pairing.columns, missing=release.missing)):
        n += len(chunk[0])
        _check_entries(n - len(pairing.observed), "pairs of cells of the register and of the release overlap")
        chunks.append(chunk)
    row, klass = (np.concatenate(side) for side in zip(*chunks, strict=True))
    records = release.count_rows(pairing.observation, len(pairing.observed))
    return records, register.count_rows(pairing.klass, len(pairing.classes)), row, klass


def _check_entries(n: int, subject: str) -> None:
    if n > MAX_DOUBLE_ENTRIES:
        raise FailedError(
            f"more than {MAX_DOUBLE_ENTRIES:,} {subject}, expected fewer; coarsen a column of the register"
        )
