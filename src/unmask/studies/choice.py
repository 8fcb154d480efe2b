"""The choice of a protection: those that meet every requirement, the best of them, and why the others fail."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.core.errors import UnmaskError, nearest
from unmask.policy import Assessment, Condition, Policy
from unmask.policy.verdict import describe_item
from unmask.reports.facts.study import Option
from unmask.studies.summary import Results
from unmask.studies.verdicts import UTILITY, options


@dataclass(frozen=True)
class Verdict:
    """One protection of one dataset: its score, and every requirement that it fails, in words.

    score   : mean over adversaries of the measure that is maximized; nan if it is unknown
    narrow  : requirements that hold for the mean and not at the far end of its interval: more seeds would tell
    judged  : whether a requirement is about its dataset at all
    ratio   : worst requirement as a multiple of its limit; 0 if that is unknown or infinitely below it
    """

    dataset: str
    protection: str
    score: float
    failures: tuple[str, ...]
    narrow: tuple[str, ...]
    judged: bool = True
    ratio: float = 0.0

    @property
    def satisfied(self) -> bool:
        """Whether every requirement holds, and there is one."""
        return self.judged and not self.failures


def choose(results: Results, requirements: Sequence[Condition], *, maximize: str = UTILITY) -> tuple[Verdict, ...]:
    """Judge every protection as `options` does: those that meet all requirements first, the best score first.

    A requirement is judged by the mean over seeds (its field `worst` by the worst of any seed), against each adversary
    and target that has the measure. A protection of a dataset that no requirement is about is not judged, and never
    chosen.
    """
    known = list(dict.fromkeys(row.measure for row in results.rows))
    if maximize not in known and known:
        raise UnmaskError(f"the study has no measure {maximize!r}; {nearest(maximize, known)}")
    found = options(results, Policy.of(requirements, title="the requirements"), maximize=maximize)
    return tuple(sorted(map(_verdict, found), key=lambda one: (not one.satisfied, math.isnan(one.score), -one.score)))


def _verdict(option: Option) -> Verdict:
    failures = (*option.open, *(line for one in option.judged for line in _failures(one)))
    narrow = tuple(line for one in option.judged for line in _narrow(one))
    is_judged = bool(option.judged)
    return Verdict(option.dataset, option.protection, option.utility, failures, narrow, is_judged, option.farthest)


def _failures(one: Assessment) -> Iterator[str]:
    require = one.requirement.require
    field = "" if require.field is None else f".{require.field}"
    for missed in one.violations:
        side = f" expected, {one.realized.value:.4g} realized" if one.realized and missed == one.values[0] else ""
        yield f"{require} fails: {describe_item(missed.item)}{field} is {missed.value:.4g}{side}"
    if one.unknown_reason:
        yield f"{require} could not be tested: {one.unknown_reason}"


def _narrow(one: Assessment) -> Iterator[str]:
    require = one.requirement.require
    if one.state != "met":
        return
    if one.realized is not None and not require.holds(one.realized.value):
        expected, realized = one.values[0].value, one.realized.value
        yield f"{require} holds as expected alone: {expected:.4g} expected, {realized:.4g} realized"
    elif one.interval_end is not None:
        yield f"{require} holds narrowly: the interval reaches {one.interval_end:.4g}"
