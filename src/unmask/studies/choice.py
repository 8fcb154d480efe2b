"""Which protection to take: those that meet every requirement, the best of them, and why the others fail."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from unmask.errors import UnmaskError
from unmask.studies.summary import Results, Summary

_REQUIREMENT = re.compile(
    r"\s*(?:(?P<adversary>.+):)?\s*(?P<measure>\w+)\s*(?P<sign><=|>=|<|>)\s*(?P<bound>[^\s<>=:]+)\s*"
)


@dataclass(frozen=True)
class Requirement:
    """A bound that a measure has to keep, against every adversary who has it or against one.

    >>> Requirement.parse("neighbour: success_probability <= 0.05")
    Requirement(measure='success_probability', sign='<=', bound=0.05, adversary='neighbour')
    """

    measure: str
    sign: Literal["<=", ">=", "<", ">"]
    bound: float
    adversary: str | None = None

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """From MEASURE>=NUMBER, with ADVERSARY: before it where it is about one."""
        found = _REQUIREMENT.fullmatch(text)
        try:
            bound = float(found["bound"]) if found else math.nan
        except ValueError:
            bound = math.nan
        if found is None or math.isnan(bound):
            raise UnmaskError(f"the requirement is {text!r}, expected for example estimation_error>=0.9")
        who = found["adversary"]
        return cls(found["measure"], found["sign"], bound, None if who is None else who.strip())  # type: ignore[arg-type]

    def holds(self, value: float) -> bool:
        """Whether a value keeps the bound; what is unknown does not."""
        if self.sign[0] == "<":
            return value <= self.bound if self.sign == "<=" else value < self.bound
        return value >= self.bound if self.sign == ">=" else value > self.bound

    def __str__(self) -> str:
        return f"{self.measure}{self.sign}{self.bound:g}"


@dataclass(frozen=True)
class Verdict:
    """One protection of one dataset: what it scores, and every requirement that it fails, in words.

    score   : mean over adversaries of the measure that is maximised; nan where it is unknown
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


def choose(results: Results, requirements: Sequence[Requirement], *, maximize: str = "utility") -> tuple[Verdict, ...]:
    """Every protection judged: those that meet all requirements first, the best score first, then the others.

    A requirement is judged by the mean over seeds, against each adversary and target that has the measure. A protection
    fails where a cell has no result, nobody took a measure that is asked for, some seed lacks it, or the score is not
    known: what is not known is not safe. One that no requirement is about is not judged, and never chosen.
    """
    known = list(dict.fromkeys(summary.measure for summary in results.summaries))
    for name in [maximize, *(requirement.measure for requirement in requirements)]:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise UnmaskError(f"the study has no measure {name!r}; {hint}")
    _check_adversaries(results, requirements)
    groups: dict[tuple[str, str], list[Summary]] = {}
    for summary in results.summaries:
        groups.setdefault((summary.dataset, summary.protection), []).append(summary)
    for gap in results.gaps:
        groups.setdefault((gap.dataset, gap.protection), [])
    missing = _missing(results)
    verdicts = [_judge(key, found, requirements, maximize, missing.get(key, ())) for key, found in groups.items()]
    return tuple(sorted(verdicts, key=lambda one: (not one.satisfied, math.isnan(one.score), -one.score)))


def _check_adversaries(results: Results, requirements: Sequence[Requirement]) -> None:
    known = list(dict.fromkeys(summary.adversary for summary in results.summaries))
    for requirement in requirements:
        if requirement.adversary is not None and requirement.adversary not in known:
            near = get_close_matches(requirement.adversary, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
            raise UnmaskError(f"the study has no adversary {requirement.adversary!r}; {hint}")


def _missing(results: Results) -> Mapping[tuple[str, str], tuple[str, ...]]:
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for gap in results.gaps:
        key = (gap.dataset, gap.protection)
        told = f"{gap.cells} {'cell' if gap.cells == 1 else 'cells'} {gap.status} against {gap.adversary}: {gap.reason}"
        found[key] = (*found.get(key, ()), told)
    return found


def _judge(
    key: tuple[str, str],
    found: Sequence[Summary],
    requirements: Sequence[Requirement],
    maximize: str,
    missing: tuple[str, ...],
) -> Verdict:
    score, failures, narrow = _score(found, maximize), list(missing), []
    adversaries = {summary.adversary for summary in found}
    about = [requirement for requirement in requirements if requirement.adversary in (None, *adversaries)]
    for requirement in about:
        judged = list(_judged(found, requirement))
        if not judged:
            failures.append(f"{requirement} fails: nobody took this measure")
        for summary in judged:
            whom = f"{summary.adversary}, {summary.target}"
            if summary.seeds < summary.cells:
                failures.append(f"{requirement} fails: {summary.seeds} of {summary.cells} seeds have it against {whom}")
            elif not requirement.holds(summary.posterior):
                failures.append(f"{requirement} fails: {summary.posterior:.4g} against {whom}")
            elif not requirement.holds(_far_end(summary, requirement)):
                narrow.append(f"{requirement} holds narrowly: {summary.posterior:.4g} against {whom}")
    if math.isnan(score):
        failures.append(f"{maximize} is not known")
    return Verdict(*key, score=score, failures=tuple(failures), narrow=tuple(narrow), judged=bool(about))


def _score(found: Sequence[Summary], maximize: str) -> float:
    """The mean over adversaries; they must measure in one unit."""
    taken = [summary for summary in found if summary.measure == maximize]
    units = list(dict.fromkeys(summary.unit for summary in taken))
    if len(units) > 1:
        raise UnmaskError(f"{maximize} is measured in {' and '.join(units)}; maximize something of one unit")
    return sum(summary.posterior for summary in taken) / len(taken) if taken else math.nan


def _judged(found: Sequence[Summary], requirement: Requirement) -> Iterator[Summary]:
    for summary in found:
        if summary.measure == requirement.measure and requirement.adversary in (None, summary.adversary):
            yield summary


def _far_end(summary: Summary, requirement: Requirement) -> float:
    """The end of the interval that speaks against the requirement; the value itself where there is no interval."""
    end = summary.high if requirement.sign[0] == "<" else summary.low
    return summary.posterior if end is None else end
