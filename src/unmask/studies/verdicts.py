"""The protections of a study under the policy of its document, as its page shows them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from unmask.errors import UnmaskError
from unmask.policy import Condition, Policy, judge
from unmask.reports.facts.study import Missing, Option
from unmask.results import Row
from unmask.studies.summary import Results, Summary

UTILITY = "utility"
"""The measure that decides among those that are acceptable."""


def options(results: Results, rows: Sequence[tuple[str, Row]], policy: Policy) -> tuple[Option, ...]:
    """Every protection of each dataset that the policy is about: the acceptable ones first, those of most utility
    first, then those that miss fewest conditions. The first one of a dataset is what `choose` names, if it is met.

    Of those that miss as many, the one comes first that is nearest to its limits.

    As `choose` does, an adversary who was not run against a protection leaves nothing open; one who failed does.

    rows : (dataset, row), the release of a row is the protection
    """
    found = [one for dataset in _datasets(results) for one in _of_dataset(dataset, results, rows, policy)]
    order = {dataset: place for place, dataset in enumerate(_datasets(results))}
    return tuple(sorted(found, key=lambda one: (order[one.dataset], *_rank(one))))


def _rank(one: Option) -> tuple[bool, int, float, float]:
    lost = math.inf if math.isnan(one.utility) else -one.utility
    return one.state != "met", one.missed, one.farthest if one.missed else 0.0, lost


def _datasets(results: Results) -> list[str]:
    return list(dict.fromkeys([*(one.dataset for one in results.summaries), *(one.dataset for one in results.gaps)]))


def _of_dataset(dataset: str, results: Results, rows: Sequence[tuple[str, Row]], policy: Policy) -> Iterator[Option]:
    own = [row for name, row in rows if name == dataset]
    found = [one for one in results.summaries if one.dataset == dataset]
    meant = {one: _meant(one.require, results) for one in policy.requirements}
    asked = tuple(one for one, require in meant.items() if require.whom is None or any(map(require.concerns, own)))
    verdicts = {one.release: one for one in judge(replace(policy, requirements=asked), own)}
    gaps = [gap for gap in results.gaps if gap.dataset == dataset]
    for name in dict.fromkeys((*(one.protection for one in found), *(gap.protection for gap in gaps))):
        summaries = [one for one in found if one.protection == name]
        about = [one for one in summaries if any(require.about(one) for require in meant.values())]
        utility, unit = _utility(summaries)
        why = _open(about, [gap for gap in gaps if gap.protection == name], utility)
        judged = tuple(replace(one, silent=()) for one in verdicts[name].judged) if name in verdicts else ()
        if asked:
            yield Option(dataset, name, utility, unit, judged, why)


def _meant(require: Condition, results: Results) -> Condition:
    """A condition about whom it names; one that names nobody here is about no row, and could not be tested."""
    try:
        return require.named(results.summaries)
    except UnmaskError:
        return replace(require, whom=None, adversary="")


def _utility(summaries: Sequence[Summary]) -> tuple[float, str]:
    """The mean over adversaries, and its unit; nan where nobody took it, or in several units."""
    taken = [one for one in summaries if one.measure == UTILITY]
    units = {one.unit for one in taken}
    if len(units) != 1:
        return math.nan, ""
    return sum(one.posterior for one in taken) / len(taken), next(iter(units))


def _open(about: Sequence[Summary], gaps: Sequence[Missing], utility: float) -> str:
    """Why it is not known to meet everything; "" where it is."""
    failed = [f"{gap.cells} {gap.status} against {gap.adversary}" for gap in gaps if gap.status != "not run"]
    short = [f"{one.seeds} of {one.cells} seeds against {one.adversary}" for one in about if one.seeds < one.cells]
    return next(iter([*failed, *short]), "utility is not known" if math.isnan(utility) else "")
