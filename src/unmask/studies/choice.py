"""Which protection to take: those that meet every requirement, the best of them, and why the others fail."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unmask.errors import UnmaskError, nearest
from unmask.measures.registry import realized_by
from unmask.policy.condition import Condition
from unmask.policy.coverage import coverage_gap
from unmask.studies.summary import Results, Summary


@dataclass(frozen=True)
class Verdict:
    """One protection of one dataset: what it scores, and every requirement that it fails, in words.

    score   : mean over adversaries of the measure that is maximized; nan where it is unknown
    narrow  : requirements that hold for the mean and not at the far end of its interval: more seeds would tell
    judged  : whether a requirement is about its dataset at all
    """

    dataset: str
    protection: str
    score: float
    failures: tuple[str, ...]
    narrow: tuple[str, ...]
    judged: bool = True

    @property
    def satisfied(self) -> bool:
        """Whether every requirement holds, and there is one."""
        return self.judged and not self.failures


def choose(results: Results, requirements: Sequence[Condition], *, maximize: str = "utility") -> tuple[Verdict, ...]:
    """Every protection judged: those that meet all requirements first, the best score first, then the others.

    A requirement is judged by the mean over seeds (its field `worst` by the worst of any seed), against each adversary
    and target that has the measure. A protection fails where a cell has no result, nobody took a measure that is asked
    for, some seed lacks it, or the score is not known: what is not known is not safe. One that no requirement is about
    is not judged, and never chosen.
    """
    known = list(dict.fromkeys(summary.measure for summary in results.summaries))
    for name in [maximize, *(requirement.measure for requirement in requirements)]:
        if name not in known:
            raise UnmaskError(f"the study has no measure {name!r}; {nearest(name, known)}")
    groups: dict[tuple[str, str], list[Summary]] = {}
    for summary in results.summaries:
        groups.setdefault((summary.dataset, summary.protection), []).append(summary)
    for gap in results.gaps:
        groups.setdefault((gap.dataset, gap.protection), [])
    missing = _missing(results)
    asked = [requirement.named(results.summaries) for requirement in requirements]
    verdicts = [_judge(key, found, asked, maximize, missing.get(key, ())) for key, found in groups.items()]
    return tuple(sorted(verdicts, key=lambda one: (not one.satisfied, math.isnan(one.score), -one.score)))


def _missing(results: Results) -> Mapping[tuple[str, str], tuple[str, ...]]:
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for gap in (gap for gap in results.gaps if gap.status != "not run"):
        key = (gap.dataset, gap.protection)
        told = f"{gap.cells} {'cell' if gap.cells == 1 else 'cells'} {gap.status} against {gap.adversary}: {gap.reason}"
        found[key] = (*found.get(key, ()), told)
    return found


def _judge(
    key: tuple[str, str],
    found: Sequence[Summary],
    requirements: Sequence[Condition],
    maximize: str,
    missing: tuple[str, ...],
) -> Verdict:
    score, failures, narrow = _score(found, maximize), list(missing), []
    about = [one for one in requirements if one.whom is None or any(map(one.concerns, found))]
    for requirement in about:
        judged = [summary for summary in found if requirement.about(summary)]
        if not judged:
            failures.append(f"{requirement} fails: nobody took this measure")
        for summary in judged:
            value, against = requirement.value(summary), f"{summary.adversary}, {summary.target}"
            came = _realized(requirement, summary, found)
            if summary.seeds < summary.cells:
                failures.append(
                    f"{requirement} fails: {summary.seeds} of {summary.cells} seeds have it against {against}"
                )
            elif gap := coverage_gap(requirement, summary):
                failures.append(f"{requirement} has no verdict: {gap} (against {against})")
            elif not requirement.holds(value):
                failures.append(f"{requirement} fails: {_sides(value, came)} against {against}")
            elif came is not None and not requirement.holds(came):
                narrow.append(f"{requirement} holds as expected alone: {_sides(value, came)} against {against}")
            elif not requirement.holds(requirement.ends(summary)[requirement.sign[0] == "<"]):
                narrow.append(f"{requirement} holds narrowly: {value:.4g} against {against}")
    if math.isnan(score):
        failures.append(f"{maximize} is not known")
    return Verdict(*key, score=score, failures=tuple(failures), narrow=tuple(narrow), judged=bool(about))


def _realized(requirement: Condition, summary: Summary, found: Sequence[Summary]) -> float | None:
    """What came true of what an adversary expects, on average; None where nothing says it."""
    side = realized_by(summary.measure) if requirement.field in (None, "posterior") else ""
    whose = (summary.adversary, summary.target, side)
    return next((one.posterior for one in found if (one.adversary, one.target, one.measure) == whose), None)


def _sides(value: float, realized: float | None) -> str:
    """A value, and which is which where what came true is known too."""
    return f"{value:.4g}" if realized is None else f"{value:.4g} expected, {realized:.4g} realized,"


def _score(found: Sequence[Summary], maximize: str) -> float:
    """The mean over adversaries; they must measure in one unit."""
    taken = [summary for summary in found if summary.measure == maximize]
    units = list(dict.fromkeys(summary.unit for summary in taken))
    if len(units) > 1:
        raise UnmaskError(f"{maximize} is measured in {' and '.join(units)}; maximize something of one unit")
    return sum(summary.posterior for summary in taken) / len(taken) if taken else math.nan
