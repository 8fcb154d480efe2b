"""Sentences about a study: strongest adversaries, effects of protections, Pareto front, rational attackers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from unmask.findings.row_words import row_estimate, row_value
from unmask.findings.sentences import describe_result, severity
from unmask.measures.registry import SHARES
from unmask.results import StudyRow
from unmask.results.formats import number, percent
from unmask.results.rows import ERRORS
from unmask.results.words import plural, release_name
from unmask.studies.choice import UTILITY
from unmask.studies.facts import StudyFacts, Tradeoff

ACCESS, PAYOFF, CAMPAIGN = "rational_access", "rational_payoff", "campaign_success"
"""Measures of a rational attacker: an attack pays (0 or 1), payoff, a campaign pays (0 or 1)."""

STOPPED, FAILED = 0.1, 0.5
"""Shares of the unprotected gain. A protection stops an adversary if at most the first share remains, and fails if at
least the second remains.
"""

N_LISTED = 8
"""Largest number of protections of a Pareto front in a sentence."""

Remaining = tuple[StudyRow, StudyRow]
"""Rows of one adversary with a protection and without it."""


def describe_setting(facts: StudyFacts) -> str:
    """Describe the numbers of adversaries, protections, datasets and seeds."""
    adversaries = plural(len(facts.adversaries), "adversary attacks", "adversaries attack")
    protections, datasets = plural(len(facts.protections), "protection"), plural(len(facts.datasets), "dataset")
    return f"{adversaries} {protections} of {datasets}, with {plural(len(facts.seeds), 'seed')}."


def describe_dataset(facts: StudyFacts, dataset: str) -> list[str]:
    """Return the findings about a dataset, one or two sentences each."""
    mentioned = facts.mentioned[dataset]
    if not mentioned:
        return ["Nothing is known: no cell has a result with a measure of success or error."]
    sentences = []
    for target in dict.fromkeys(target for _, _, target in mentioned):
        sentences += [describe_target(facts, dataset, target), *describe_stopped(facts, dataset, target)]
    sentences += map(_describe_front, [facts] * len(facts.tradeoffs_of(dataset)), facts.tradeoffs_of(dataset))
    return sentences + describe_rational(facts, dataset)


def describe_target(facts: StudyFacts, dataset: str, target: str) -> str:
    """Describe the strongest adversary on the riskiest protection, the best protection, and the unprotected value."""
    rows = [row for key, row in facts.mentioned[dataset].items() if key[2] == target]
    protected = [row for row in rows if row.release not in facts.unprotected] or rows
    worst = max(protected, key=severity)
    is_error = worst.measure in ERRORS
    text = f"From {release_name(worst.release)}, the adversary {worst.adversary} {describe_result(worst)}."
    if worst.shows_no_gain:
        text += " No gain is shown compared with what they reach without the release."
    text += _describe_best(facts, dataset, protected, is_error=is_error)
    bare = None if worst.release in facts.unprotected else facts.find_unprotected(worst)
    if bare is not None:
        text += f" Unprotected {'they are off by' if is_error else 'it is'} {row_estimate(bare)}."
    return text


def _describe_best(facts: StudyFacts, dataset: str, rows: Sequence[StudyRow], *, is_error: bool) -> str:
    """Describe the protection with the least risk; "" if results are missing, or if the intervals of the best two
    overlap.
    """
    mentioned, target = facts.mentioned[dataset], rows[0].target
    adversaries = {adversary for _, adversary, row_target in mentioned if row_target == target}
    complete = {
        name for name, *_ in mentioned if {(name, adversary, target) for adversary in adversaries} <= mentioned.keys()
    }
    ranked = sorted((row for row in rows if row.release in complete), key=severity)
    strongest = {row.release: row for row in ranked}  # the last row of a protection is the strongest
    if len(strongest) < 2:
        return ""
    safest, second = sorted(strongest.values(), key=severity)[:2]
    if _overlap(safest, second):
        return ""
    verb = "is off by" if is_error else "reaches"
    reached = f"the strongest adversary {verb} {row_estimate(safest)}"
    return f" Of {len(strongest)} protections {release_name(safest.release)} is the best here: {reached}."


def _overlap(first: StudyRow, second: StudyRow) -> bool:
    """Return True if the intervals of two values overlap."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return False
    return first.low <= second.high and second.low <= first.high


# --- effects of protections ------------------------------------------------------------------------------------------


def describe_stopped(facts: StudyFacts, dataset: str, target: str) -> Iterator[str]:
    """Yield the protections that stop all adversaries, that fail against all, and that stop only some.

    Only adversaries who gain from the unprotected release count. A protection needs at least two of them.
    """
    names = dict.fromkeys(name for name, _, _ in facts.mentioned[dataset])
    remaining = {name: _list_remaining(facts, dataset, name, target) for name in names}
    adversaries = {row.adversary for name in facts.unprotected for row, _ in remaining.get(name, ())}
    several = {name: pairs for name, pairs in remaining.items() if len(pairs) > 1 and name not in facts.unprotected}
    complete = {name: pairs for name, pairs in several.items() if adversaries <= {row.adversary for row, _ in pairs}}
    yield from _describe_alike(complete, "every adversary")
    incomplete = {name: pairs for name, pairs in several.items() if name not in complete}
    yield from _describe_alike(incomplete, "every adversary that was run against them")
    for name, pairs in several.items():
        if min(map(_remaining_share, pairs)) <= STOPPED and max(map(_remaining_share, pairs)) >= FAILED:
            yield _describe_mixed(name, pairs)


def _list_remaining(facts: StudyFacts, dataset: str, protection: str, target: str) -> list[Remaining]:
    rows = [row for key, row in facts.mentioned[dataset].items() if (key[0], key[2]) == (protection, target)]
    pairs = [(row, facts.find_unprotected(row)) for row in rows if row.direction == "high" and not math.isnan(row.gain)]
    return [(row, bare) for row, bare in pairs if bare is not None and bare.gain > 0]


def _remaining_share(pair: Remaining) -> float:
    """Return the gain over guessing with a protection, as a share of the gain without it."""
    return max(pair[0].gain, 0.0) / pair[1].gain


def _describe_alike(remaining: Mapping[str, Sequence[Remaining]], adversaries: str) -> Iterator[str]:
    """Yield the protections that stop all adversaries, and those that fail against all."""
    stops = [name for name, pairs in remaining.items() if max(map(_remaining_share, pairs)) <= STOPPED]
    fails = [name for name, pairs in remaining.items() if min(map(_remaining_share, pairs)) >= FAILED]
    gain = "of what is reached beyond guessing without them"
    for share, names in (("at most a tenth", stops), ("half or more", fails)):
        if names:
            joined = ", ".join(map(release_name, names))
            yield f"Against {adversaries}, these leave {share} {gain}: {joined}."


def _describe_mixed(protection: str, pairs: Sequence[Remaining]) -> str:
    """Describe the strongest adversary that a protection stops, and the strongest that it does not stop."""
    stopped, stopped_bare = min(pairs, key=lambda pair: (_remaining_share(pair) > STOPPED, -pair[1].posterior))
    strong, strong_bare = max(pairs, key=lambda pair: (_remaining_share(pair) >= FAILED, pair[0].posterior))
    return (
        f"{release_name(protection)} stops the adversary {stopped.adversary} ({row_value(stopped)} instead of "
        f"{row_value(stopped_bare)}) and fails against {strong.adversary}: {row_value(strong)} instead of "
        f"{row_value(strong_bare)}."
    )


# --- risk against utility --------------------------------------------------------------------------------------------


def _describe_front(facts: StudyFacts, tradeoff: Tradeoff) -> str:
    """Describe the protections on the Pareto front, and the number that could not be compared."""
    front, n_compared = tradeoff.front, len(tradeoff.compared)
    names = ", ".join(map(release_name, front[:N_LISTED])) or "none"
    remainder = f" and {len(front) - N_LISTED} more" if len(front) > N_LISTED else ""
    failed = [gap.protection for gap in facts.gaps if gap.dataset == tradeoff.dataset]
    n_missing = len({*tradeoff.utility, *failed} - {*tradeoff.compared})
    missing = f" Not compared, because results are missing: {n_missing} more." if n_missing else ""
    risk = "success" if tradeoff.direction == "high" else "error"
    return (
        f"{len(front)} of {n_compared} protections {'is' if len(front) == 1 else 'are'} on the Pareto front of utility "
        f"and {risk} of the strongest adversary: {names}{remainder}.{missing}"
    )


def format_utility(unit: str, value: float) -> str:
    """Write a utility with sufficient digits."""
    return percent(value) if unit in SHARES else number(value)


# --- rational attackers ----------------------------------------------------------------------------------------------


def describe_rational(facts: StudyFacts, dataset: str) -> list[str]:
    """Describe for each rational attacker the payoff of an attack, and whether one pays with any protection."""
    rows = facts.rows_of(dataset)
    adversaries = dict.fromkeys(row.adversary for row in rows if row.measure == ACCESS)
    return [
        _describe_attacker(facts, adversary, [row for row in rows if row.adversary == adversary])
        for adversary in adversaries
    ]


def _describe_attacker(facts: StudyFacts, adversary: str, rows: Sequence[StudyRow]) -> str:
    """Describe campaigns against all people; without a campaign, attacks on single people."""
    has_campaign = any(row.measure == CAMPAIGN for row in rows)
    measures = (CAMPAIGN if has_campaign else ACCESS, PAYOFF, UTILITY)
    attacked, payoff, utility = ({row.release: row for row in rows if row.measure == name} for name in measures)
    attack = "campaign against all people" if has_campaign else "attack on one person"
    bare = next((row for name, row in payoff.items() if name in facts.unprotected), None)
    worth = "" if bare is None else (
        f"To the rational attacker {adversary} an attack on one person in the unprotected data is worth "
        f"{row_estimate(bare)} on average. "
    )  # fmt: skip
    against = "" if worth else f" for the rational attacker {adversary}"
    protected = [name for name in attacked if name not in facts.unprotected]
    stopping = [name for name in protected if attacked[name].posterior == 0]
    if stopping:
        most_useful = max(stopping, key=lambda name: utility[name].posterior if name in utility else -math.inf)
        row = utility.get(most_useful)
        useful = "" if row is None else f", which keeps a utility of {format_utility(row.unit, row.posterior)}"
        prefix = "the most useful of them is " if len(stopping) > 1 else ""
        n_stopping = f"With {len(stopping)} of {len(protected)} protections no {attack} pays{against}"
        return f"{worth}{n_stopping}: {prefix}{release_name(most_useful)}{useful}."
    payoffs = (row for name, row in payoff.items() if name in protected)
    lowest = min(payoffs, key=lambda row: row.posterior, default=None)
    lowest_loss = "" if lowest is None else f": {release_name(lowest.release)} leaves {row_estimate(lowest)}"
    return f"{worth}With every protection some {attack} pays{against}{lowest_loss}."


def describe_intervals(rows: Sequence[StudyRow]) -> str:
    """Describe the source of the intervals."""
    kinds = {row.interval if row.seeds == 1 else "seeds" for row in rows if row.low is not None}
    if not kinds:
        return "No interval was computed: values are of one seed."
    seeds = ["seeds, by Student's t"] if "seeds" in kinds else []
    return f"Brackets are 95 % intervals over {'; '.join([*seeds, *sorted(kinds - {'seeds'})])}."
