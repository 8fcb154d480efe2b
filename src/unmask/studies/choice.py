"""Choice of a protection under a policy: protections that meet it, their order, and reasons for failures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from unmask.core.errors import UnmaskError, nearest
from unmask.policy import Assessment, Condition, Criterion, Policy, judge
from unmask.policy.verdict import CRITERION, State, describe_item
from unmask.results import Row, StudyRow
from unmask.results.words import plural
from unmask.studies.results_file import MissingCells, Results, as_criterion

UTILITY = "utility"
"""Default measure that ranks the protections that meet a policy."""


@dataclass(frozen=True)
class Option:
    """A protection of one dataset under a policy.

    Parameters
    ----------
    utility, unit : float, str
        Mean over adversaries of the maximized measure, nan if it is unknown; and its unit.
    assessments : tuple of Assessment
        Assessments of the conditions that apply to the dataset.
    gaps : tuple of str
        Reasons for unknown results: a cell or a seed without a result, or an unknown utility.
    """

    dataset: str
    protection: str
    utility: float
    unit: str
    assessments: tuple[Assessment, ...] = ()
    gaps: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[str, ...]:
        """Return the reasons why it does not meet all conditions."""
        return (*self.gaps, *(line for item in self.assessments for line in _describe_failures(item)))

    @property
    def narrow(self) -> tuple[str, ...]:
        """Return conditions that the mean meets, but not the end of its interval; more seeds would decide."""
        return tuple(line for item in self.assessments for line in _describe_narrow(item))

    @property
    def n_missed(self) -> int:
        """Return the number of missed conditions."""
        return sum(assessment.state == "missed" for assessment in self.assessments)

    @property
    def worst_ratio(self) -> float:
        """Return the largest ratio of a value to its limit; 0 if no ratio is defined."""
        return max((item.ratio or 0.0 for item in self.assessments), default=0.0)

    @property
    def state(self) -> State:
        """Return "met" if there are conditions, all are met, and all results are known."""
        states = {assessment.state for assessment in self.assessments}
        return "missed" if "missed" in states else "met" if states == {"met"} and not self.gaps else "untested"


def list_options(results: Results, policy: Policy, *, maximize: str = UTILITY) -> tuple[Option, ...]:
    """Return all protections of each dataset under a policy, the best first.

    First come protections that meet the policy, by descending utility. Then come the others, by number of missed
    conditions and by distance to the limits. A condition that names an adversary or a target applies to the datasets
    that have it. Unknown results are not safe: a cell without a result, a seed without a value, or an unknown utility
    leaves a protection undecided. Cells with the status "not run" are exempt.

    Parameters
    ----------
    maximize : str
        Measure that ranks protections that meet the policy.
    """
    datasets = dict.fromkeys([*(row.dataset for row in results.rows), *(gap.dataset for gap in results.gaps)])
    ranked = (sorted(_judge_dataset(dataset, results, policy, maximize), key=_rank) for dataset in datasets)
    return tuple(option for options in ranked for option in options)


def _rank(option: Option) -> tuple[bool, int, float, float]:
    loss = math.inf if math.isnan(option.utility) else -option.utility
    return option.state != "met", option.n_missed, option.worst_ratio if option.n_missed else 0.0, loss


def _judge_dataset(dataset: str, results: Results, policy: Policy, maximize: str) -> Iterator[Option]:
    rows, gaps = results.rows_of(dataset), [gap for gap in results.gaps if gap.dataset == dataset]
    resolved = {requirement: _resolve(requirement.require, results) for requirement in policy.requirements}
    requirements = tuple(
        requirement
        for requirement, condition in resolved.items()
        if condition.scope is None or any(map(condition.concerns, rows))
    )
    verdicts = judge(replace(policy, requirements=requirements), _list_items(rows))
    assessments = {verdict.release: verdict.assessments for verdict in verdicts}
    untested = tuple(Assessment(requirement, ()) for requirement in requirements)
    for name in dict.fromkeys((*(row.release for row in rows), *(gap.protection for gap in gaps))):
        protection_rows = [row for row in rows if row.release == name]
        judged_rows = [
            row for row in protection_rows if any(condition.applies_to(row) for condition in resolved.values())
        ]
        utility, unit = _mean_over_adversaries(maximize, protection_rows)
        unknown = [*_describe_gaps(judged_rows, [gap for gap in gaps if gap.protection == name])]
        unknown += [f"{maximize} is unknown: it was not measured, or in several units"] if math.isnan(utility) else []
        heard = tuple(replace(item, silent_adversaries=()) for item in assessments.get(name, untested))
        yield Option(dataset, name, utility, unit, heard, tuple(unknown))


def _resolve(condition: Condition, results: Results) -> Condition:
    """Return the condition with the adversary and target that it names; unchanged names if no result has them."""
    try:
        return condition.resolve((*results.rows, *results.criteria))
    except UnmaskError:
        return replace(condition, scope=None, adversary="")


def _list_items(rows: Sequence[StudyRow]) -> list[Row | Criterion]:
    """Return the rows and all criteria of all protections; criteria that a protection lacks are nan."""
    criteria = [as_criterion(row) for row in rows if row.adversary == CRITERION]
    values = {(criterion.release, criterion.measure): criterion.posterior for criterion in criteria}
    pairs = product(dict.fromkeys(row.release for row in rows), dict.fromkeys(name for _, name in values))
    measures: list[Row | Criterion] = [row for row in rows if row.adversary != CRITERION]
    return [*measures, *(Criterion(*pair, values.get(pair, math.nan)) for pair in pairs)]


def _mean_over_adversaries(measure: str, rows: Sequence[StudyRow]) -> tuple[float, str]:
    """Return the mean of a measure over adversaries, and its unit; nan without rows, or with several units."""
    values = [row for row in rows if row.measure == measure]
    units = {row.unit for row in values}
    if len(units) != 1:
        return math.nan, ""
    return sum(row.posterior for row in values) / len(values), next(iter(units))


def _describe_gaps(rows: Sequence[StudyRow], gaps: Sequence[MissingCells]) -> Iterator[str]:
    """Yield reasons why the state of a protection is unknown."""
    for gap in (gap for gap in gaps if gap.status != "not run"):
        yield f"{plural(gap.cells, 'cell')} {gap.status} against {gap.adversary}: {gap.reason}"
    for row in (row for row in rows if row.seeds < row.cells):
        yield f"{row.measure}: {row.seeds} of {row.cells} seeds have it against {row.adversary}, {row.target}"


# --- choose ----------------------------------------------------------------------------------------------------------


def choose(results: Results, requirements: Sequence[Condition], *, maximize: str = UTILITY) -> tuple[Option, ...]:
    """Judge all protections as `list_options` does, the best first.

    A requirement applies to the mean over seeds (its field `worst`: the worst of any seed), for each adversary and
    target with the measure. Protections of a dataset without a requirement are not judged and never chosen.

    Parameters
    ----------
    results : Results
        Results of the study.
    requirements : sequence of Condition
        Conditions that a protection must meet.
    maximize : str
        measure that ranks protections that meet all requirements

    Returns
    -------
    tuple of Option
        All protections of all datasets.

    Raises
    ------
    UnmaskError
        If no adversary has the measure that is maximized.
    """
    measures = list(dict.fromkeys(row.measure for row in results.rows))
    if maximize not in measures and measures:
        raise UnmaskError(f"the study has no measure {maximize!r}; {nearest(maximize, measures)}")
    options = list_options(results, Policy.of(requirements, title="the requirements"), maximize=maximize)
    return tuple(sorted(options, key=lambda item: (item.state != "met", math.isnan(item.utility), -item.utility)))


def _describe_failures(assessment: Assessment) -> Iterator[str]:
    require, realized = assessment.requirement.require, assessment.realized
    field = "" if require.field is None else f".{require.field}"
    for violation in assessment.violations:
        is_closest = violation == assessment.values[0]
        truth = f" expected, {realized.value:.4g} realized" if realized and is_closest else ""
        yield f"{require} is missed: {describe_item(violation.item)}{field} is {violation.value:.4g}{truth}"
    if assessment.unknown_reason:
        yield f"{require} could not be tested: {assessment.unknown_reason}"


def _describe_narrow(assessment: Assessment) -> Iterator[str]:
    require, realized = assessment.requirement.require, assessment.realized
    if assessment.state != "met":
        return
    if realized is not None and not require.holds(realized.value):
        expected = assessment.values[0].value
        yield f"{require} is met by the expected value only: {expected:.4g} expected, {realized.value:.4g} realized"
    elif assessment.interval_end is not None:
        yield f"{require} holds narrowly: the interval reaches {assessment.interval_end:.4g}"
