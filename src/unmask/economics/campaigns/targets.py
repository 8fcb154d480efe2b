"""Targets of a campaign: the distinct groups that are worth something without any fine, try by try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.posterior import Posterior
from unmask.economics.attacker import Attacker, Floats, with_fines
from unmask.economics.plans.groups import TargetInput, check_people, group_targets
from unmask.economics.plans.plan import TIE, VALUE, CandidateGroups, refuse_too_large
from unmask.economics.plans.prices import find_break_even_fine, solve_linked_plans, solve_linked_plans_by_cap

TRY_BYTES: Final = 100.0
"""Memory of a listed try, with all that is needed to list it."""


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
        """Return (6, m) the best plan of each group alone, with a cap and a fine of its own, linking included."""
        attacker = with_fines(self.attacker, cap, arrest)
        plans = [solve_linked_plans(attacker, *part) for part in self._pair_with_fines(fine)]
        return np.concatenate([np.zeros((6, 0)), *plans], axis=-1)

    def solve_alone_by_cap(self, cap: int, fine: Floats | None = None) -> Floats:
        """Return (cap + 1, 6, m) the same for every cap from 0 to this one."""
        attacker = with_fines(self.attacker, cap, False)
        plans = [solve_linked_plans_by_cap(attacker, *part) for part in self._pair_with_fines(fine)]
        return np.concatenate([np.zeros((cap + 1, 6, 0)), *plans], axis=-1)

    def _pair_with_fines(self, fine: Floats | None) -> Iterator[tuple[CandidateGroups, Floats | None]]:
        for groups, part in self._list_parts():
            yield groups, None if fine is None else fine[part]

    def _list_parts(self) -> Iterator[tuple[CandidateGroups, slice]]:
        start = 0
        for groups in self.parts:
            yield groups, slice(start, start + len(groups.size))
            start += len(groups.size)

    @cached_property
    def unfined(self) -> Floats:
        """Return (6, m) the plan of each group without any fine."""
        return self.solve_alone(0) if self.original is None else self.original.unfined

    @cached_property
    def unfined_value(self) -> float:
        """Return F, the worth of all targets without any fine."""
        return float(self.count @ self.unfined[VALUE])

    @cached_property
    def all_fines(self) -> dict[int, float]:
        """Return what `bounds.expect_all_fines` found by cap, which does not depend on the fine."""
        return {} if self.original is None else self.original.all_fines

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
        from unmask.economics.plans._kernels import list_tries

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
        fines = [find_break_even_fine(attacker, groups) for groups in self.parts]
        return np.concatenate(fines)
