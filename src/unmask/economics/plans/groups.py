"""Groups of candidates behind a list of sizes or a belief."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import as_numbers
from unmask.core.csr_rows import segment_max
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.economics.attacker import Attacker, Floats
from unmask.economics.plans.plan import (
    CLEAN,
    CandidateGroups,
)
from unmask.economics.plans.prices import (
    check_group_sizes,
    find_distinct_sizes,
    solve_plans_by_size,
)

LOG_TIE: Final = 1e-5
"""Difference of log-probabilities below which candidates are equally likely: a few last digits of float32."""

NEGLIGIBLE: Final = 1e-9
"""Chance below which the candidates at the end of a list do not count."""

BLOCK_ENTRIES: Final = 2**24
"""Largest number of candidates of different chance in memory at once."""


@dataclass(frozen=True, eq=False)
class UniformTargets:
    """Targets that are each one of equally likely candidates.

    size, inside : (n,) candidates, at least 1; probability that the target is one of them
    """

    size: NDArray[np.int64]
    inside: Floats


TargetInput = ArrayLike | Posterior | UniformTargets
"""Targets of an attack: (n,) group sizes, or a belief. Results of a belief are (n_observations,) for attacks on one
target at a time, and (n_targets,) for one campaign against all.
"""


@dataclass(frozen=True, eq=False)
class GroupMembers:
    """Groups of one class, and their members: member[i] of the list has group[i]."""

    groups: CandidateGroups
    member: NDArray[np.int64]
    group: NDArray[np.int64]

    def spread(self, of_member: NDArray[np.int64]) -> GroupMembers:
        """Return the same groups for other members: of_member[i] is the member here whose group member i shares."""
        group = np.full(int(of_member.max(initial=-1)) + 1, -1)
        group[self.member] = self.group
        group_of_member = group[of_member]
        member = np.flatnonzero(group_of_member >= 0)
        return GroupMembers(self.groups, member, group_of_member[member])


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups behind a list of n members; a member without a group is worth nothing to the attacker."""

    n: int
    parts: tuple[GroupMembers, ...]

    def spread(self, compute: Callable[[CandidateGroups], Floats], *, otherwise: float = 0.0) -> Floats:
        """Return (k, n) values of the members from a function that computes (k, n_groups) values of groups."""
        result: Floats | None = None
        for part in self.parts:
            values = compute(part.groups)
            result = np.full((len(values), self.n), otherwise) if result is None else result
            result[:, part.member] = values[:, part.group]
        return np.full((6, self.n), otherwise) if result is None else result


def group_targets(attacker: Attacker, targets: TargetInput) -> Grouping:
    """Return the distinct groups behind group sizes (with the attacker's prior), or behind a belief's observations.

    Groups so large that the attacker would leave them alone even if the target were surely inside are left out.
    """
    if isinstance(targets, Posterior):
        return _group_belief(attacker, targets)
    if isinstance(targets, UniformTargets):
        n = len(targets.size)
        return Grouping(n, _group_uniform(attacker, np.arange(n), targets.size, targets.inside))
    distinct, of_member = find_distinct_sizes(check_group_sizes(targets))
    parts = _group_uniform(attacker, np.arange(len(distinct)), distinct, np.full(len(distinct), attacker.prior))
    return Grouping(len(of_member), tuple(part.spread(of_member) for part in parts))


def merge_equal_targets(targets: TargetInput, people: ArrayLike | None) -> tuple[TargetInput, ArrayLike | None]:
    """Return each distinct group of a belief once, and the number of people with it; other targets unchanged.

    It needs a belief with equally likely candidates in every row.

    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]]))
    >>> merged, people = merge_equal_targets(belief, None)
    >>> merged.size, people
    (array([1, 2]), array([1, 2]))
    """
    if not isinstance(targets, Posterior) or targets.status == "scores" or not find_uniform_rows(targets).all():
        return targets, people
    pairs = np.stack([count_candidates(targets).astype(np.float64), compute_inside_probability(targets)])
    (size, inside), of_target = np.unique(pairs[:, targets.observation], axis=1, return_inverse=True)
    weights = check_people(people, len(of_target))
    count = np.bincount(of_target, weights=weights, minlength=len(size)).astype(np.int64)
    is_candidate = size > 0
    if not is_candidate.any():
        return targets, people
    return UniformTargets(size[is_candidate].astype(np.int64), inside[is_candidate]), count[is_candidate]


def check_people(people: ArrayLike | None, n_targets: int) -> Floats:
    """Return (n_targets,) the number of people behind each target; raise UnmaskError if these are not counts."""
    if people is None:
        return np.ones(n_targets)
    counts = as_numbers("people", people)
    if counts.ndim and counts.shape != (n_targets,):
        raise UnmaskError(f"people has the shape {counts.shape}, expected one count for each of {n_targets} targets")
    counts = np.broadcast_to(counts, (n_targets,))
    if not (np.all(counts >= 0) and np.all(counts == np.rint(counts)) and np.all(counts < 2**53)):
        raise UnmaskError("the counts of people are not whole numbers of at least 0, one for each target")
    return counts


def count_people_per_target(belief: Posterior, people: float | None) -> Floats | None:
    """Return the number of people behind each target of a belief, so that `people` people are behind all.

    The counts are whole numbers in proportion to the weights, within one of it. The same holds for all targets
    together with equally many, equally likely candidates, in any order: of a thousand targets with half a person each,
    five hundred count.

    Parameters
    ----------
    belief : Posterior
        The belief, with the weights of its targets.
    people : float or None
        Number of people in all; None for one each.

    Returns
    -------
    (n_targets,) array or None
        Counts; None for one each.
    """
    if people is None:
        return None
    row = belief.observation
    order = np.lexsort((row, compute_inside_probability(belief)[row], count_candidates(belief)[row]))
    counts = np.empty(len(row))
    counts[order] = np.diff(np.rint(np.cumsum(belief.weight[order]) * people), prepend=0.0)
    return counts


def count_candidates(belief: Posterior) -> NDArray[np.int64]:
    """Return (n_observations,) the candidates of a row: those listed, and those who share the unlisted belief."""
    return belief.row_length + np.where(_shares_unlisted(belief), belief.n_unlisted, 0)


def compute_inside_probability(belief: Posterior) -> Floats:
    """Return (n_observations,) the probability of the candidates that can be tried; the rest is "none of these"."""
    inside = np.where(belief.row_length > 0, 1.0 - belief.unlisted, 0.0)
    return np.asarray(np.clip(inside + np.where(_shares_unlisted(belief), belief.unlisted, 0.0), 0.0, 1.0))


def find_uniform_rows(belief: Posterior) -> NDArray[np.bool_]:
    """Return (n_observations,) a mask of the rows with equally likely candidates."""
    log_p = belief.log_probability.astype(np.float64)
    highest = segment_max(log_p, belief.indptr, empty=0.0)
    is_uniform = highest + segment_max(-log_p, belief.indptr, empty=0.0) <= LOG_TIE
    return np.asarray(is_uniform & ((belief.row_length == 0) | ~_shares_unlisted(belief)))


def _shares_unlisted(belief: Posterior) -> NDArray[np.bool_]:
    return (belief.n_unlisted > 0) & (belief.unlisted > 0)


def _group_uniform(
    attacker: Attacker, member: NDArray[np.int64], size: NDArray[np.int64], inside: Floats
) -> tuple[GroupMembers, ...]:
    """Return the groups of equal candidates, each distinct pair of size and chance once."""
    pairs, group = np.unique(np.stack([size.astype(np.float64), inside]), axis=1, return_inverse=True)
    distinct = np.unique(size)
    fines = attacker.max_fines if attacker.fine > 0 or attacker.arrest else 0  # counting fines of 0 would cost time
    certain = solve_plans_by_size(replace(attacker, prior=1.0, max_fines=fines), distinct)[CLEAN] > 0
    is_worthwhile = certain[np.searchsorted(distinct, pairs[0].astype(np.int64))]
    has_group = is_worthwhile[group]
    groups = CandidateGroups.uniform(
        pairs[0, is_worthwhile].astype(np.int64), pairs[1, is_worthwhile] * attacker.confirmation
    )
    if not has_group.any():
        return ()
    return (GroupMembers(groups, member[has_group], (np.cumsum(is_worthwhile) - 1)[group[has_group]]),)


def _group_belief(attacker: Attacker, belief: Posterior) -> Grouping:
    """Return pairs of size and chance for rows of equal candidates; the others are sorted, likeliest first.

    The unlisted belief is "none of these" if it is not known how many candidates share it.
    """
    if belief.status == "scores":
        raise UnmaskError(
            "an attack that gives scores cannot be priced, a price needs probabilities: calibrate it first"
        )
    is_uniform = find_uniform_rows(belief)
    rows = np.flatnonzero(is_uniform)
    sizes, inside = count_candidates(belief)[rows], compute_inside_probability(belief)[rows]
    parts = _group_uniform(attacker, rows, sizes, inside)
    return Grouping(belief.n_observations, (*parts, *_group_sorted(attacker, belief, np.flatnonzero(~is_uniform))))


def _group_sorted(attacker: Attacker, belief: Posterior, rows: NDArray[np.int64]) -> list[GroupMembers]:
    """Return the groups of unequal candidates, in blocks that fit in memory."""
    parts: list[GroupMembers] = []
    chances: list[Floats] = []
    members: list[int] = []
    n_entries = 0
    for row in rows.tolist():
        chances.append(_sort_chances(attacker, belief, row))
        members.append(row)
        n_entries += len(chances[-1])
        if n_entries > BLOCK_ENTRIES or row == rows[-1]:
            parts.append(_make_sorted(chances, members))
            chances, members, n_entries = [], [], 0
    return parts


def _sort_chances(attacker: Attacker, belief: Posterior, row: int) -> Floats:
    """Return the chances of a row's candidates, descending, until no later one is worth its cost without a fine."""
    entries = slice(belief.indptr[row], belief.indptr[row + 1])
    p = np.exp(belief.log_probability[entries].astype(np.float64))
    p = p if belief.multiplicity is None else np.repeat(p, belief.multiplicity[entries])
    p *= (1.0 - belief.unlisted[row]) / p.sum()
    if (n := int(belief.n_unlisted[row])) > 0 and belief.unlisted[row] > 0:
        p = np.concatenate([p, np.full(n, belief.unlisted[row] / n)])
    p = attacker.confirmation * np.sort(p)[::-1]
    total = np.cumsum(p)
    p = p[: int(np.searchsorted(total, total[-1] - NEGLIGIBLE)) + 1]
    at_large = 1.0 - np.concatenate(([0.0], total[: len(p) - 1]))
    profit = np.cumsum(attacker.gain * p - attacker.exploit_cost * at_large)
    best_later = np.maximum.accumulate(profit[::-1])[::-1]
    profit_so_far = np.concatenate(([0.0], profit[:-1]))
    worthwhile = np.flatnonzero(best_later >= profit_so_far)
    return p[: int(worthwhile[-1]) + 1 if len(worthwhile) else 0]


def _make_sorted(chances: list[Floats], members: list[int]) -> GroupMembers:
    index: dict[bytes, int] = {}
    group = np.array([index.setdefault(chance.tobytes(), len(index)) for chance in chances])
    chances = [np.frombuffer(data) for data in index]
    size = np.array([len(chance) for chance in chances])
    order = np.argsort(size, kind="stable")
    chance = np.concatenate([chances[i] for i in order])
    start = np.concatenate(([0], np.cumsum(size[order])[:-1]))
    total = np.concatenate(([0.0], np.cumsum(chance)))
    previous = total[:-1] - np.repeat(total[start], size[order])
    return GroupMembers(
        CandidateGroups(size[order], start, chance, previous), np.asarray(members), np.argsort(order)[group]
    )
