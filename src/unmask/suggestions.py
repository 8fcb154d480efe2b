"""Suggested changes of a protection: their measured effect on the verdict, the people at risk, and the utility."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

from unmask.core.errors import UnmaskError
from unmask.core.pareto import find_pareto_front
from unmask.domains import read_domain_policies
from unmask.findings.sentences import select_distribution
from unmask.findings.verdict_words import find_limit
from unmask.languages import gettext as _
from unmask.languages import mark
from unmask.policy import Policy, Verdict, judge_result
from unmask.protecting import protect
from unmask.results import Result
from unmask.results.change import Change
from unmask.results.names import IDENTITY
from unmask.results.scope import Scope
from unmask.tables import Table
from unmask.tables.audit import audit
from unmask.tables.criteria import contributions

K_VALUES = (2, 3, 5, 7, 10, 12, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500)
"""Values of k that are tried."""

L_VALUES = (2, 3, 5)
"""Values of l that are tried."""

MAX_CHANGES = 3
"""Changes that are suggested."""

MAX_DROPPED = 2
"""Quasi-identifiers that are tried to be left out."""


def suggest(
    table: Table,
    policy: Policy | str | Sequence[Policy | str],
    *,
    k: int = 1,
    levels: Mapping[str, float | str] | None = None,
    **evidence: Any,
) -> tuple[Change, ...]:
    """Return up to three changes of a release, each protected by `protect` and audited as by `unmask.audit`.

    No change is worse than another in missed conditions, people at risk and utility alike. The effects are measured:
    protecting again gives the same release.

    A bisection finds the smallest k at which no condition is missed: with all quasi-identifiers, and without each of
    the two that contribute most to the risk, by their Shapley values. Another one makes the kept columns
    quasi-identifiers. If no k is enough, several values of each sensitive column are tried.

    table    : before protection
    policy   : as `unmask.audit` takes it
    k        : smallest class of the release now
    levels   : finest levels of quasi-identifiers, as `protect` takes them
    evidence : further arguments of `unmask.audit`: register, coverage, control, targets ...

    >>> import unmask
    >>> people = {"age": list(range(40)) * 5, "ill": list("abcde") * 40}
    >>> table = unmask.read_table(people, quasi_identifiers="age", sensitive="ill")
    >>> best, *_ = suggest(table, "ema-0.09", k=2)
    >>> best.missed, best.above
    (0, 0)
    """
    try_ = _Trial(table, read_domain_policies(policy, "tables"), levels or {}, evidence)
    raised = _find_smallest_k(try_, [value for value in K_VALUES if value > k])
    enough = raised.k if raised and not raised.missed else None
    if table.kept:
        protected = _find_smallest_k(try_, [value for value in K_VALUES if value >= k], protect_kept=True)
        if protected and not protected.missed and not enough:
            return _select_front(try_.changes)
        raised = min(filter(None, [raised, protected]), key=lambda change: change.missed, default=None)
    if raised and raised.missed and table.sensitive:
        for n_values in L_VALUES:
            try_(raised.k or k, l=n_values, protect_kept=raised.protects_kept)
    for column in _list_riskiest_columns(table)[:MAX_DROPPED]:
        _find_smallest_k(try_, [value for value in K_VALUES if k <= value <= (enough or value)], dropped=column)
    return _select_front(try_.changes)


def describe_release(result: Result, release: str) -> Change:
    """Return a release without any change, to compare changes with."""
    losses = result.table("utility").where(release=release).values("gcp")
    return _measure(mark("This release"), result, release, result.verdicts, 1 - losses[0] if losses else None)


@dataclass(frozen=True, eq=False)
class _Trial:
    """A table to protect with several settings, and to audit each time; None if no release has the settings."""

    table: Table
    policies: list[Policy]
    levels: Mapping[str, float | str]
    evidence: dict[str, Any]
    changes: list[Change] = field(default_factory=list)

    def __call__(
        self,
        k: int,
        l: int | None = None,  # noqa: E741
        *,
        dropped: str = "",
        protect_kept: bool = False,
    ) -> Change | None:
        columns, kept = self.table.quasi_identifiers, self.table.kept
        if protect_kept:
            columns, kept = (*columns, *kept), ()
        quasi_identifiers = tuple(column for column in columns if column.name != dropped)
        table = replace(self.table, quasi_identifiers=quasi_identifiers, kept=kept)
        levels = {name: level for name, level in self.levels.items() if name != dropped}
        try:
            protected = protect(table, k=k, l=l, levels=levels)
        except UnmaskError:
            return None
        evidence = self._select_evidence(dropped)
        result = audit(protected.release, original=table, origin=protected.origin, attack_original=False, **evidence)
        result = judge_result(result, self.policies)
        utility = (1 - protected.facts["gcp"]) * len(quasi_identifiers) / len(columns)
        change = _measure(_format_name(k, l, dropped, protect_kept), result, "release", result.verdicts, utility)
        self.changes.append(replace(change, k=k, l=l, without=dropped, protects_kept=protect_kept))
        return self.changes[-1]

    def _select_evidence(self, dropped: str) -> dict[str, Any]:
        """Return the evidence, whose parts of a record lack a dropped column."""
        parts = [[name for name in part if name != dropped] for part in self.evidence.get("parts") or ()]
        return self.evidence | ({"parts": tuple(map(tuple, parts)) if all(parts) else None} if parts else {})


def _measure(name: str, result: Result, release: str, verdicts: Iterable[Verdict], utility: float | None) -> Change:
    assessments = [item for verdict in verdicts if verdict.release == release for item in verdict.assessments]
    risk = select_distribution(release, Scope(result))
    return Change(
        name,
        missed=sum(assessment.state == "missed" for assessment in assessments),
        untested=sum(assessment.state == "untested" for assessment in assessments),
        above=None if risk is None else risk.above[find_limit(risk, assessments)[0]],
        people=0 if risk is None else risk.people,
        utility=utility,
    )


def _format_name(k: int, l: int | None, dropped: str, protect_kept: bool) -> str:  # noqa: E741
    if dropped:
        return _("Leave out {column}, k = {k}", column=dropped, k=k)
    if protect_kept:
        if l is None:
            return _("Also protect kept columns, k = {k}", k=k)
        return _("Also protect kept columns, k = {k} and l = {l}", k=k, l=l)
    return _("Protect with k = {k}", k=k) if l is None else _("Protect with k = {k} and l = {l}", k=k, l=l)


def _find_smallest_k(try_: _Trial, values: Sequence[int], **settings: Any) -> Change | None:
    """Return the change to the smallest k at which no condition is missed, or else that misses fewest, by bisection."""
    low, high, chosen = 0, len(values), None
    while low < high:
        middle = (low + high) // 2
        change = try_(values[middle], **settings)
        high, low = (middle, low) if change is None or not change.missed else (high, middle + 1)
        chosen = change if change and (chosen is None or change.missed <= chosen.missed) else chosen
    return chosen


def _select_front(changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return the first changes of the Pareto front: fewest missed conditions first, then the highest utility."""
    by_cost: dict[tuple[Any, ...], Change] = {}
    for change in sorted(changes, key=lambda change: -(change.k or 0)):  # of equal ones that with the smallest k
        by_cost[change.missed, change.untested, change.above or 0, -(change.utility or 0)] = change
    front = compress(by_cost.values(), find_pareto_front(list(by_cost)))
    return tuple(sorted(front, key=lambda change: (change.missed, -(change.utility or 0)))[:MAX_CHANGES])


def _list_riskiest_columns(table: Table) -> list[str]:
    """Return the quasi-identifiers by their contribution to the risk; none if there is only one."""
    if len(table.quasi_identifiers) < 2:
        return []
    return [item.column for item in contributions(table) if item.target == IDENTITY]
