"""How a report speaks of a channel: how far off the adversary is, and against what that is to be held."""

from __future__ import annotations

import math
from collections.abc import Mapping

from unmask.measures.registry import SHARES
from unmask.reports.data import Scope
from unmask.reports.facts.channel import BEST, ROUNDING, BoundRow, ChannelRisk, MechanismRisk, ObservationRisk
from unmask.reports.words import SPACE, number, percent, release_name

ADVERSARIES = {
    "gibbs": "answers with a draw from the posterior",
    "map": "answers with the likeliest secret",
    "median": "answers with the median of the posterior",
    "mean": "answers with the mean of the posterior",
    "prior": "ignores the observation",
    "naive": "takes what is released for the truth",
    "identity": "takes what is released for the truth",
}
"""Adversaries beside the best one -> words that complete "an adversary who ..."; others show their names."""

LOW_PRIOR = 0.05
"""Up to this chance of being wrong without any observation, an average of wrong answers says little."""

LIKELIEST = 5
"""Secrets that are shown for an observation."""

ALIKE = 1e-6
"""Values that differ by less, relatively, count as equal."""

BLIND = (
    "Without seeing anything they would be wrong in only {prior} of cases, and an average of wrong answers is blind "
    "there: it hardly moves even where some observations give the secret away. Read the worst observation instead."
)


def figure(value: float, unit: str) -> str:
    """A loss without the name of its unit; shares in percent.

    >>> figure(1.2378, "km"), figure(0.25, "probability").replace(SPACE, " "), figure(-1e-17, "km")
    ('1.24', '25.0 %', '0')
    """
    kept = 0.0 if -ROUNDING < value < 1e-12 else value
    return percent(kept) if unit in SHARES else number(kept)


BARE = ("", "distance")
"""Units that tell nobody anything: a loss between numbers has none."""


def quantity(value: float, unit: str) -> str:
    """A loss with its unit, if that says something.

    >>> quantity(1.2378, "km").replace(SPACE, " ")
    '1.24 km'
    """
    bare = unit in SHARES or unit in BARE or not math.isfinite(value)
    return figure(value, unit) if bare else f"{figure(value, unit)}{SPACE}{unit}"


def titled(name: str, unit: str) -> str:
    """A title with the unit of its values, which percent have with them.

    >>> titled("Distortion", "km"), titled("Distortion", "share")
    ('Distortion (km)', 'Distortion')
    """
    return name if unit in SHARES or not unit else f"{name} ({unit})"


def off(value: float, unit: str) -> str:
    """How far off: "off by 1.24 km", or "wrong in 12.0 % of cases" where the loss is a chance."""
    return f"wrong in {figure(value, unit)} of cases" if unit in SHARES else f"off by {quantity(value, unit)}"


def alike(a: float, b: float) -> bool:
    """Whether two values are equal but for rounding, infinite ones included."""
    return a == b or math.isclose(a, b, rel_tol=ALIKE, abs_tol=1e-12)


def who(adversary: str, words: Mapping[str, str]) -> str:
    """Words that complete "an adversary who ...", the caller's before our own; "" where there are none."""
    given = words.get(adversary, adversary)
    return given if given != adversary else ADVERSARIES.get(adversary, "")


def findings(channel: ChannelRisk, scope: Scope) -> list[str]:
    """What the mechanism in detail leaves, then what this is to be held against, the strongest contrast first."""
    contrasts = [
        found
        for found in (_limit(channel), _rivals(channel), _others(channel, scope))
        if found is not None and not math.isnan(found[0])
    ]
    contrasts.sort(key=lambda found: -found[0])
    return [_left(channel), *(sentence for _, sentence in contrasts), *_blind(channel)]


def _left(channel: ChannelRisk) -> str:
    """The best adversary on average and at the worst observation, against one who sees nothing."""
    item, unit = channel.spoken_of, channel.unit
    start, before = f"Behind {release_name(item.name)} the best adversary is", off(channel.prior_error, unit)
    average = "" if unit in SHARES else " on average"
    if figure(item.privacy, unit) == figure(channel.prior_error, unit):
        as_much = "as much as" if alike(item.privacy, channel.prior_error) else "hardly less than"
        return f"{start} {before}{average}, {as_much} without seeing anything. {_worst(item, unit)}"
    if figure(item.privacy, unit) == figure(0.0, unit):
        return f"{start} never wrong; without seeing anything they would be {before}."
    return f"{start} {off(item.privacy, unit)}{average}; without seeing anything they would be {before}. " + (
        _worst(item, unit)
    )


def _worst(item: MechanismRisk, unit: str) -> str:
    if math.isnan(item.worst):
        return "What the worst observation gives away was not run."
    if alike(item.worst, item.privacy):
        return "No observation gives more away than another."
    if figure(item.worst, unit) == figure(0.0, unit):
        return "At the observation that gives most away they are never wrong."
    return f"At the observation that gives most away they are {off(item.worst, unit)}."


def _limit(channel: ChannelRisk) -> tuple[float, str] | None:
    """What an optimal mechanism would do at the same distortion, and how many times as much that is."""
    item, unit = channel.spoken_of, channel.unit
    best = channel.limit_at(item.distortion)
    if best is None or math.isnan(item.privacy):
        return None
    does = f"{release_name(item.name)} distorts by {quantity(item.distortion, channel.distortion_unit)}"
    if best <= item.privacy or figure(best, unit) == figure(item.privacy, unit):
        return 1.0, f"{does}; no mechanism does better at that distortion."
    said = f"{does}; at that distortion an optimal one would leave them {off(best, unit)}."
    return _ratio(best, item.privacy), said


def _rivals(channel: ChannelRisk) -> tuple[float, str] | None:
    """The mechanisms behind which the adversary is most and least off, and their ratio."""
    known = [item for item in channel.mechanisms if math.isfinite(item.privacy)]
    if len(known) < 2:
        return None
    most, least = (pick(known, key=lambda item: item.privacy) for pick in (max, min))
    unit = channel.unit
    if figure(most.privacy, unit) == figure(least.privacy, unit):
        return 1.0, f"Behind all {len(known)} mechanisms they are {off(most.privacy, unit)}."
    high, low = (f"{release_name(item.name)}{_cost(item, channel)}" for item in (most, least))
    said = (
        f"Of {len(known)} mechanisms, {high} leaves them {off(most.privacy, unit)}, more than any other; {low} "
        f"only {off(least.privacy, unit)}."
    )
    return _ratio(most.privacy, least.privacy), said


def _cost(item: MechanismRisk, channel: ChannelRisk) -> str:
    """A clause about its distortion, if that is known."""
    if math.isnan(item.distortion):
        return ""
    return f", which distorts by {quantity(item.distortion, channel.distortion_unit)},"


def _others(channel: ChannelRisk, scope: Scope) -> tuple[float, str] | None:
    """The other adversaries behind the mechanism in detail, and how many times as far off the farthest is."""
    item = channel.spoken_of
    errors = {name: error for name, error in item.errors.items() if name != BEST and error is not None}
    errors = {name: error for name, error in errors.items() if not math.isnan(error)}
    if not errors:
        return None
    said = [
        f"{_rival(name, who(name, scope.words), i)} is {off(error, channel.unit)}"
        for i, (name, error) in enumerate(errors.items())
    ]
    said[0] = f"Behind {release_name(item.name)} {said[0]}"
    return _ratio(max(errors.values()), item.privacy), "; ".join(said) + "."


def _rival(name: str, words: str, i: int) -> str:
    if not words:
        return f"another adversary ({name})" if i == 0 else f"one more ({name})"
    return f"another adversary, who {words}," if i == 0 else f"one who {words}"


def _ratio(high: float, low: float) -> float:
    if high <= 0:
        return 1.0
    return math.inf if low <= 0 else high / low


def _blind(channel: ChannelRisk) -> list[str]:
    """The warning that averages of wrong answers say little where hardly any answer is wrong to begin with."""
    if channel.unit not in SHARES or not 0 < channel.prior_error <= LOW_PRIOR:
        return []
    return [BLIND.format(prior=percent(channel.prior_error))]


def likeliest(item: ObservationRisk) -> str:
    """The likeliest secrets with their chances, and what is left to the others."""
    shown = item.likeliest[:LIKELIEST]
    rest = 1 - sum(chance for _, chance in shown)
    said = [f"{label or '(empty)'}{SPACE}{percent(chance)}" for label, chance in shown]
    if shown and rest > 5e-5:
        said.append(f"others{SPACE}{percent(rest)}")
    return ", ".join(said) or "\u2013"


def bound_ratio(row: BoundRow) -> str:
    """The bound divided by the truth: "unbounded" over nothing, a dash where that has no meaning.

    >>> bound_ratio(BoundRow("a", 3.0, 2.0, "km")), bound_ratio(BoundRow("a", 3.0, 0.0, "km"))
    ('1.50', 'unbounded')
    """
    if math.isnan(row.bound) or math.isnan(row.truth) or math.isinf(row.truth):
        return "\u2013"
    if row.truth == 0:
        return "\u2013" if row.bound == 0 else number(math.copysign(math.inf, row.bound))
    return number(row.bound / row.truth, 2)
