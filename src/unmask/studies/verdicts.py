"""The protections of a study under the policy of its document, as its page shows them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from unmask.core.errors import UnmaskError
from unmask.policy import Assessment, Condition, Criterion, Policy, judge
from unmask.policy.verdict import CRITERION
from unmask.reports.facts.study import Missing, Option
from unmask.results import Row, StudyRow
from unmask.studies.summary import Results

UTILITY = "utility"
"""The measure that decides among those that are acceptable."""


def options(results: Results, policy: Policy, *, maximize: str = UTILITY) -> tuple[Option, ...]:
    """Return every protection of each dataset under a policy: the acceptable ones first, those of most utility first.

    Then come those that miss fewest conditions; of as many, the one nearest to its limits. A condition that names an
    adversary or a target is about the datasets that have it. What is not known is not safe: a cell without a result, a
    seed without a value and an unknown utility leave a protection open, but not a cell that was not run.

    maximize : the measure that decides among those that are acceptable
    """
    names = dict.fromkeys([*(one.dataset for one in results.rows), *(one.dataset for one in results.gaps)])
    found = [sorted(_of_dataset(name, results, policy, maximize), key=_rank) for name in names]
    return tuple(one for own in found for one in own)


def _rank(one: Option) -> tuple[bool, int, float, float]:
    lost = math.inf if math.isnan(one.utility) else -one.utility
    return one.state != "met", one.missed, one.farthest if one.missed else 0.0, lost


def _of_dataset(dataset: str, results: Results, policy: Policy, maximize: str) -> Iterator[Option]:
    found, gaps = results.of(dataset), [gap for gap in results.gaps if gap.dataset == dataset]
    meant = {one: _meant(one.require, results) for one in policy.requirements}
    asked = tuple(one for one, require in meant.items() if require.scope is None or any(map(require.concerns, found)))
    verdicts = {one.release: one.assessments for one in judge(replace(policy, requirements=asked), _items(found))}
    untested = tuple(Assessment(one, ()) for one in asked)
    for name in dict.fromkeys((*(one.release for one in found), *(gap.protection for gap in gaps))):
        own = [one for one in found if one.release == name]
        about = [one for one in own if any(require.applies_to(one) for require in meant.values())]
        utility, unit = _score(maximize, own)
        why = [*_open(about, [gap for gap in gaps if gap.protection == name])]
        why += [f"{maximize} is not known in one unit"] if math.isnan(utility) else []
        judged = tuple(replace(one, silent_adversaries=()) for one in verdicts.get(name, untested))
        yield Option(dataset, name, utility, unit, judged, tuple(why))


def _meant(require: Condition, results: Results) -> Condition:
    """Return a condition about the adversary and target that it names; about none if no result has that name."""
    try:
        return require.resolve((*results.rows, *results.criteria))
    except UnmaskError:
        return replace(require, scope=None, adversary="")


def _items(found: Sequence[StudyRow]) -> list[Row | Criterion]:
    """Return the rows, and every criterion of every protection: nan for a protection that lacks it."""
    rows = [one for one in found if one.adversary != CRITERION]
    values = {(one.release, one.measure): one.posterior for one in found if one.adversary == CRITERION}
    pairs = product(dict.fromkeys(one.release for one in found), dict.fromkeys(name for _, name in values))
    return [*rows, *(Criterion(*pair, values.get(pair, math.nan)) for pair in pairs)]


def _score(measure: str, found: Sequence[StudyRow]) -> tuple[float, str]:
    """Return the mean of a measure over adversaries, and its unit; nan if none has it, or several units."""
    taken = [one for one in found if one.measure == measure]
    units = {one.unit for one in taken}
    if len(units) != 1:
        return math.nan, ""
    return sum(one.posterior for one in taken) / len(taken), next(iter(units))


def _open(about: Sequence[StudyRow], gaps: Sequence[Missing]) -> Iterator[str]:
    """Yield why it is not known that a protection meets everything."""
    for gap in (gap for gap in gaps if gap.status != "not run"):
        yield f"{gap.cells} {'cell' if gap.cells == 1 else 'cells'} {gap.status} against {gap.adversary}: {gap.reason}"
    for one in (one for one in about if one.seeds < one.cells):
        yield f"{one.measure}: {one.seeds} of {one.cells} seeds have it against {one.adversary}, {one.target}"
