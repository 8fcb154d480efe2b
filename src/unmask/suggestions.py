"""Changes of a protection, tried: what each would do to the verdict, to the people at risk, and to the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

from unmask.core.errors import UnmaskError
from unmask.core.pareto import find_pareto_front
from unmask.domains import read_domain_policies
from unmask.policy import Policy, Verdict
from unmask.protecting import protect
from unmask.reports import ReportData
from unmask.reports.data import Scope
from unmask.reports.findings.rows import at_risk
from unmask.reports.findings.verdict import limit_of
from unmask.reports.words import IDENTITY
from unmask.results.change import Change
from unmask.tables import Table
from unmask.tables.audit import audit
from unmask.tables.criteria import contributions

LADDER = (2, 3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500)
"""Values of k that are tried."""

VALUES = (2, 3, 5)
"""Values of l that are tried."""

MOST = 3
"""Changes that are told."""

DROPPED = 2
"""Columns of which it is tried what leaving them out would do."""


def suggest(
    table: Table,
    policy: Policy | str | Sequence[Policy | str],
    *,
    k: int = 1,
    levels: Mapping[str, float | str] | None = None,
    **evidence: Any,
) -> tuple[Change, ...]:
    """Up to three changes of a release of this table, each made by `protect` and audited as `unmask.audit` does; none
    is worse than another in conditions missed, people at risk and utility alike.

    Tried are values of k from the one there is, halving towards the smallest at which no condition is missed, with
    every quasi-identifier and without each of the two that give most away, by their Shapley values on the table; where
    no k is enough, several values of each sensitive column, too, and without each of the two kept columns of most
    values. What is announced is what was measured: protecting again gives the same release.

    table    : before protection
    policy   : as `unmask.audit` takes it
    k        : the least rows of a class that the release has now
    levels   : finest levels of quasi-identifiers, as `protect` takes them
    evidence : what else `unmask.audit` is told: register, coverage, control, targets ...

    >>> import unmask
    >>> people = {"age": list(range(40)) * 5, "ill": list("abcde") * 40}
    >>> table = unmask.read_table(people, quasi_identifiers="age", sensitive="ill")
    >>> best, *_ = suggest(table, "ema-0.09", k=2)
    >>> best.missed, best.above
    (0, 0)
    """
    try_ = _Trial(table, read_domain_policies(policy, "tables"), levels or {}, evidence)
    raised = _least(try_, [one for one in LADDER if one > k])
    if raised and raised.missed and table.sensitive:
        for several in VALUES:
            try_(raised.k or k, l=several)
    enough = raised.k if raised and not raised.missed else None
    kept = [] if enough else _kept_columns(table)  # which utility does not count
    for column in (*_worst_columns(table)[:DROPPED], *kept[:DROPPED]):
        _least(try_, [one for one in LADDER if k <= one <= (enough or one)], without=column)
    return tuple(_undominated(try_.made)[:MOST])


def present(found: ReportData, release: str) -> Change:
    """The release as it is, as a change of nothing."""
    lost = () if found.result is None else found.result.table("utility").where(release=release).values("gcp")
    return _measured("This release", found, release, found.verdicts, 1 - lost[0] if lost else None)


@dataclass(frozen=True, eq=False)
class _Trial:
    """Protects a table with some settings and audits the release; None where no release has them."""

    table: Table
    policies: list[Policy]
    levels: Mapping[str, float | str]
    evidence: dict[str, Any]
    made: list[Change] = field(default_factory=list)

    def __call__(self, k: int, l: int | None = None, *, without: str = "") -> Change | None:  # noqa: E741
        known, kept = (
            tuple(column for column in columns if column.name != without)
            for columns in (self.table.quasi_identifiers, self.table.kept)
        )
        table = replace(self.table, quasi_identifiers=known, kept=kept)
        levels = {name: level for name, level in self.levels.items() if name != without}
        try:
            made = protect(table, k=k, l=l, levels=levels)
        except UnmaskError:
            return None
        found = ReportData.of(audit(made.release, original=table, origin=made.origin, **self._told(without)))
        found = found.under(found.judged(self.policies))
        left = (1 - made.facts["gcp"]) * len(known) / len(self.table.quasi_identifiers)
        change = _measured(_name(k, l, without), found, "release", found.verdicts, left)
        self.made.append(replace(change, k=k, l=l, without=without))
        return self.made[-1]

    def _told(self, without: str) -> dict[str, Any]:
        """The evidence, its parts of a record without a column that is left out."""
        parts = [[name for name in part if name != without] for part in self.evidence.get("parts") or ()]
        return self.evidence | ({"parts": tuple(map(tuple, parts)) if all(parts) else None} if parts else {})


def _measured(name: str, found: ReportData, release: str, verdicts: Iterable[Verdict], utility: float | None) -> Change:
    own = [one for verdict in verdicts if verdict.release == release for one in verdict.assessments]
    risk = at_risk(release, Scope(found))
    return Change(
        name,
        missed=sum(one.state == "missed" for one in own),
        untested=sum(one.state == "untested" for one in own),
        above=None if risk is None else risk.above[limit_of(risk, own)[0]],
        people=0 if risk is None else risk.people,
        utility=utility,
    )


def _name(k: int, l: int | None, without: str) -> str:  # noqa: E741
    raised = f"k = {k}" if l is None else f"k = {k} and l = {l}"
    return f"Leave out {without}, {raised}" if without else f"Protect with {raised}"


def _least(try_: _Trial, steps: Sequence[int], *, without: str = "") -> Change | None:
    """The change to the smallest k of these at which nothing is missed, found by halving; where there is none, to the
    one that misses fewest conditions.
    """
    low, high, best = 0, len(steps), None
    while low < high:
        middle = (low + high) // 2
        change = try_(steps[middle], without=without)
        high, low = (middle, low) if change is None or not change.missed else (high, middle + 1)
        best = change if change and (best is None or change.missed <= best.missed) else best
    return best


def _undominated(changes: Sequence[Change]) -> list[Change]:
    """Changes than which no other is at least as good in everything and better in something, the fewest conditions
    missed first, then the most utility.
    """
    by_cost: dict[tuple[Any, ...], Change] = {}
    for one in sorted(changes, key=lambda one: -(one.k or 0)):  # of equal ones that with the smallest k
        by_cost[one.missed, one.untested, one.above or 0, -(one.utility or 0)] = one
    kept = compress(by_cost.values(), find_pareto_front(list(by_cost)))
    return sorted(kept, key=lambda one: (one.missed, -(one.utility or 0)))


def _worst_columns(table: Table) -> list[str]:
    """The quasi-identifiers, those that give most away first; none of a single one, without which nothing is known."""
    several = len(table.quasi_identifiers) > 1
    return [one.column for one in contributions(table) if one.target == IDENTITY] if several else []


def _kept_columns(table: Table) -> list[str]:
    """Those that leave unchanged, whose values tell people apart, those of most values first."""
    return [one.name for one in sorted(table.kept, key=lambda one: -len(one.levels))]
