"""Groups of candidates behind a list of sizes or a belief, and the targets that share each group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.csr_rows import segment_max
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.economics.attacker import Attacker, Floats, as_numbers, with_fines
from unmask.economics.plan import (
    CLEAN,
    TIE,
    VALUE,
    CandidateGroups,
    Stakes,
    refuse_too_large,
)
from unmask.economics.prices import (
    check_group_sizes,
    find_break_even,
    find_distinct_sizes,
    solve_linked_plans,
    solve_linked_plans_by_cap,
    solve_plans_by_size,
)

LOG_TIE: Final = 1e-5
"""Difference of log-probabilities below which candidates are equally likely: a few last digits of float32."""

NEGLIGIBLE: Final = 1e-9
"""Chance below which the candidates at the end of a list do not count."""

BLOCK_ENTRIES: Final = 2**24
"""Largest number of candidates of different chance in memory at once."""

TRY_BYTES: Final = 100.0
"""Memory of a listed try, with all that is needed to list it."""


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
        return np.full((8, self.n), otherwise) if result is None else result


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


# --- the targets of a campaign ----------------------------------------------------------------------------------------


class TryList(NamedTuple):
    """Groups try by try, one after another; each has an entry more than tries, which is its end.

    start     : (m + 1,) first entry of each group
    hit       : h_j, 0 at the end
    large     : S_j
    detection : (largest number of tries,) q_j of every group
    unfined   : S_j f(j), worth of the group from failure j on without any fine
    unfined_success, unfined_tries : success and tries of that
    """

    start: NDArray[np.int64]
    hit: Floats
    large: Floats
    detection: Floats
    unfined: Floats
    unfined_success: Floats
    unfined_tries: Floats


@dataclass(frozen=True, eq=False)
class Targets:
    """The distinct groups of a campaign that are worth something without any fine, and the targets of each.

    count    : (m,) targets of each group
    group    : (n_targets,) index of the group of each target, -1 for none
    original : targets of an attacker who differs only in fines and access, and shares the work without fines
    """

    attacker: Attacker
    parts: tuple[CandidateGroups, ...]
    count: NDArray[np.int64]
    group: NDArray[np.int64]
    original: Targets | None = field(default=None, repr=False)

    @classmethod
    def of(cls, attacker: Attacker, targets: TargetInput, people: ArrayLike | None) -> Targets:
        """Return the targets behind group sizes or a belief, `people` people behind each."""
        unfined = replace(attacker, fine=0.0, arrest=False, max_fines=0)
        grouping = group_targets(unfined, targets)
        of_member = targets.observation if isinstance(targets, Posterior) else np.arange(grouping.n)
        weights = check_people(people, len(of_member))
        is_target = np.bincount(of_member, weights=weights, minlength=grouping.n) > 0
        group, parts, m = np.full(grouping.n, -1), [], 0
        for part in grouping.parts:
            worth = solve_linked_plans(unfined, part.groups)[VALUE] > 0
            worth &= np.bincount(part.group, weights=is_target[part.member], minlength=len(worth)) > 0
            group[part.member] = np.where(worth, np.cumsum(worth) - 1 + m, -1)[part.group]
            parts.append(part.groups.take(np.flatnonzero(worth)))
            m += int(worth.sum())
        group = group[of_member]
        count = np.bincount(group[group >= 0], weights=weights[group >= 0], minlength=m)
        return cls(attacker, tuple(parts), np.rint(count).astype(np.int64), group)

    def with_attacker(self, **changes: float) -> Targets:
        """Return the targets of an attacker with another fine, cap, arrest or price of access."""
        attacker = replace(self.attacker, **changes)  # type: ignore[arg-type]
        return replace(self, attacker=attacker, original=self.original or self)

    def __len__(self) -> int:
        return len(self.count)

    def solve_alone(self, cap: float, fine: Floats | None = None, *, arrest: bool = False) -> Floats:
        """Return (8, m) the best plan of each group alone, with a cap and a fine of its own, linking included."""
        attacker = with_fines(self.attacker, cap, arrest)
        plans = [solve_linked_plans(attacker, *part) for part in self._pair_with_fines(fine)]
        return np.concatenate([np.zeros((8, 0)), *plans], axis=-1)

    def solve_alone_by_cap(self, cap: int, fine: Floats | None = None) -> Floats:
        """Return (cap + 1, 8, m) the same for every cap from 0 to this one."""
        attacker = with_fines(self.attacker, cap, False)
        plans = [solve_linked_plans_by_cap(attacker, *part) for part in self._pair_with_fines(fine)]
        return np.concatenate([np.zeros((cap + 1, 8, 0)), *plans], axis=-1)

    def _pair_with_fines(self, fine: Floats | None) -> Iterator[tuple[CandidateGroups, Stakes | None]]:
        for groups, part in self._list_parts():
            yield groups, None if fine is None else Stakes(fine=fine[part])

    def _list_parts(self) -> Iterator[tuple[CandidateGroups, slice]]:
        start = 0
        for groups in self.parts:
            yield groups, slice(start, start + len(groups.size))
            start += len(groups.size)

    @cached_property
    def unfined(self) -> Floats:
        """Return (8, m) the plan of each group without any fine."""
        return self.solve_alone(0) if self.original is None else self.original.unfined

    @cached_property
    def unfined_value(self) -> float:
        """Return F, the worth of all targets without any fine."""
        return float(self.count @ self.unfined[VALUE])

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """Return (m,) numbers of candidates."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(groups.size for groups in self.parts)])

    @cached_property
    def tries(self) -> NDArray[np.int64]:
        """Return (m,) largest numbers of tries."""
        limit = self.attacker.max_tries
        return self.size if limit is None else np.asarray(np.minimum(self.size, limit))

    @cached_property
    def inside(self) -> Floats:
        """Return (m,) chances that the target is one of the candidates that may be tried."""
        if self.original is not None:
            return self.original.inside
        chances = [
            float(1.0 - groups.at_large(j, slice(i, i + 1))[0] + groups.hit(j, slice(i, i + 1))[0])
            for groups, part in self._list_parts()
            for i, j in enumerate((self.tries[part] - 1).tolist())
        ]
        return np.asarray(np.minimum(np.array(chances), 1.0))

    @cached_property
    def try_list(self) -> TryList:
        """Return the groups try by try."""
        if self.original is not None:
            return self.original.try_list
        from unmask.economics._kernels import list_tries

        refuse_too_large(TRY_BYTES * float(self.tries.sum()), 0.0)
        attacker = self.attacker
        money = np.array([attacker.gain, attacker.exploit_cost, attacker.link_cost, TIE * attacker.gain])
        lists = [list_tries(self.tries[part], *groups.list_chances(), money) for groups, part in self._list_parts()]
        hit, large, unfined, success, tries = (np.concatenate(values) for values in zip(*lists, strict=True))
        start = np.concatenate(([0], np.cumsum(self.tries + 1)))
        return TryList(start, hit, large, attacker.detection_at(int(self.tries.max())), unfined, success, tries)

    @cached_property
    def stopping_fine(self) -> Floats:
        """Return (m,) the fines that just stop the attack on a group alone with a cap of 1; inf if no fine does."""
        if self.original is not None:
            return self.original.stopping_fine
        attacker = replace(self.attacker, access_cost=0.0, max_fines=1, arrest=False)
        fines = [find_break_even(attacker, groups, np.zeros(len(groups.size)), "fine") for groups in self.parts]
        return np.concatenate(fines)
