"""Verdicts: what was found, held against a policy, condition by condition."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Protocol

from unmask.core.errors import UnmaskError, nearest
from unmask.measures.registry import CRITERIA, MEASURES, described, realized_by
from unmask.policy.condition import BESIDE_CONTROL, Condition, Stated
from unmask.policy.coverage import coverage_gap
from unmask.policy.policies import Policy, Requirement
from unmask.results import Row

State = Literal["met", "missed", "untested"]

Outcome = Literal["acceptable", "not acceptable", "not decided"]

CRITERION = "criterion"
"""What stands before the name of a criterion where a measure has the same."""


@dataclass(frozen=True)
class Criterion:
    """A criterion of a release in the place of a measure; nan where it was not run."""

    release: str
    measure: str
    posterior: float
    adversary: str = CRITERION
    target: str = ""


class Found(Stated, Protocol):
    """What was found of a release: a row or a criterion."""

    @property
    def release(self) -> str:
        """Of which release."""


class Valued(NamedTuple):
    """What a condition is about, and its value there; nan where that is not known."""

    item: Found
    value: float


@dataclass(frozen=True)
class Judged:
    """A requirement, and how a release stands to it.

    values : what the requirement is about, those that break it most first, those not known last
    silent : adversaries it is about who have no result on the release
    why    : why it could not be tested, where nothing is known that it is about
    realized : where it asks what an adversary expects, what came true of the first of its values; None elsewhere
    """

    requirement: Requirement
    values: tuple[Valued, ...]
    silent: tuple[str, ...] = ()
    why: str = ""
    realized: Valued | None = None

    @property
    def missed(self) -> tuple[Valued, ...]:
        """What breaks it; of too few people only the worst-off, who stays so among more."""
        require = self.requirement.require
        known = (one for one in self.values if not (math.isnan(one.value) or require.holds(one.value)))
        return tuple(one for one in known if require.field == "worst" or not coverage_gap(require, one.item))

    @property
    def state(self) -> State:
        """Missed where anything breaks it; met where everything is known and keeps it."""
        if self.missed:
            return "missed"
        return "untested" if self.unknown else "met"

    @property
    def nearest(self) -> Valued | None:
        """What breaks it most, or is nearest to breaking it; None where nothing is known."""
        return next((one for one in self.values if not math.isnan(one.value)), None)

    @property
    def across(self) -> float | None:
        """The end of an interval beyond the limit: of what is nearest to breaking it, where it is met; where it is
        missed and all that breaks it might keep it, the other end. None where the interval decides as the value does.
        """
        asked, up = self.requirement.require, self.requirement.require.sign[0] == "<"
        if self.state == "met":
            ends = [asked.ends(one.item)[up] for one in self.values]
            return next(iter(sorted((one for one in ends if not asked.holds(one)), reverse=up)), None)
        ends = [asked.ends(one.item)[not up] for one in self.missed]
        return ends[0] if ends and all(map(asked.holds, ends)) else None

    @property
    def unit(self) -> str:
        """The unit of its values and of its limit."""
        measure = self.requirement.require.measure
        known = described(measure) or CRITERIA.get(measure)
        units = (str(item.unit) for item, _ in self.values if isinstance(item, Row))
        return next(units, known.unit if known else "")

    @property
    def unknown(self) -> str:
        """What is not known and would have to be, in words; "" where all is."""
        nan = [spoken(one.item) for one in self.values if math.isnan(one.value)]
        parts = [f"{'; '.join(nan)} is not known"] if nan else []
        parts += [f"{', '.join(self.silent)} has no result"] if self.silent else []
        gaps = (coverage_gap(self.requirement.require, one.item) for one in self.values)
        parts += list(dict.fromkeys(filter(None, gaps)))
        untaken = "" if self.values else "nobody took this measure of it"
        return self.why or "; ".join(parts) or untaken


def state_of(states: Collection[State]) -> Outcome:
    """What conditions in these states make of a release."""
    return "not acceptable" if "missed" in states else "not decided" if "untested" in states else "acceptable"


@dataclass(frozen=True)
class Verdict:
    """A release under a policy."""

    release: str
    policy: Policy
    judged: tuple[Judged, ...]

    @property
    def state(self) -> Outcome:
        """Acceptable where every condition is met; not decided where none is missed and some could not be tested."""
        return state_of([one.state for one in self.judged])

    def lines(self) -> tuple[Line, ...]:
        """Its conditions, as a table has them."""
        return tuple(line_of(self.release, self.policy, one) for one in self.judged)

    def count(self, state: State) -> int:
        """How many conditions are in a state."""
        return sum(one.state == state for one in self.judged)


@dataclass(frozen=True)
class Line:
    """A condition of a verdict, as a table has it.

    value  : of what breaks it most, or is nearest to breaking it; None where nothing is known
    unit   : of the value and of the limit
    times  : how many times the limit that is, above 1 where the condition is missed; None where that says nothing
    adversary, target : whose value it is; "" of a criterion
    why    : what is not known and would have to be
    """

    release: str
    policy: str
    condition: str
    name: str
    state: State
    value: float | None
    limit: float
    unit: str
    times: float | None
    adversary: str
    target: str
    source: str
    purpose: str
    why: str


def line_of(release: str, policy: Policy, one: Judged) -> Line:
    """A condition of a verdict as a line."""
    asked, found = one.requirement, one.nearest
    named = found is not None and not isinstance(found.item, Criterion)
    return Line(
        release,
        policy.title,
        str(asked.require),
        asked.name or str(asked.require),
        one.state,
        None if found is None else found.value,
        asked.require.bound,
        one.unit,
        None if found is None else times(found.value, asked.require),
        found.item.adversary if found and named else "",
        found.item.target if found and named else "",
        asked.source,
        asked.purpose,
        one.unknown,
    )


def times(value: float, condition: Condition) -> float | None:
    """How many times the limit a value is; of a floor, how many times below it. None unless both are above 0.

    >>> times(0.18, Condition.parse("k <= 0.09")), times(4, Condition.parse("k >= 8"))
    (2.0, 2.0)
    """
    if not (value > 0 and condition.bound > 0):
        return None
    return value / condition.bound if condition.sign[0] == "<" else condition.bound / value


def judge(
    policy: Policy,
    found: Iterable[Found],
    *,
    apart: frozenset[str] = frozenset(),
    not_run: Sequence[tuple[str, str]] = (),
) -> tuple[Verdict, ...]:
    """A verdict on each release, in the order of what was found.

    A condition that names nobody is about every adversary and target that has its measure, but those `apart`, who know
    to begin with what others are to learn. What is not known is not safe: a condition is met only where every value
    that it is about is known, and every adversary that it is about has a result.

    found   : rows and criteria of releases, the table before protection not among them
    not_run : what was left out, and why: the reason of a measure that nobody took and that is named there
    """
    items = list(found)
    asked = [_asked(one, items, apart, not_run) for one in policy.requirements]
    return tuple(
        Verdict(release, policy, tuple(_judged(one, release, items) for one in asked if one.concerns(release)))
        for release in dict.fromkeys(item.release for item in items)
        if any(one.concerns(release) for one in asked)
    )


class _Asked(NamedTuple):
    """A requirement, and what it is about in all releases; why it is about nothing."""

    requirement: Requirement
    items: list[Found]
    why: str

    def concerns(self, release: str) -> bool:
        """Whether a release is asked; what has no such criterion, such as a mechanism beside a table, is not."""
        return not any(isinstance(one, Criterion) for one in self.items) or any(
            one.release == release for one in self.items
        )


def _asked(
    requirement: Requirement, items: Sequence[Found], apart: frozenset[str], not_run: Sequence[tuple[str, str]]
) -> _Asked:
    try:
        meant = requirement.require.named(items)
    except UnmaskError as error:
        return _Asked(requirement, [], str(error))
    about = [one for one in items if meant.about(one) and (meant.adversary or one.adversary not in apart)]
    if not about and meant.field in BESIDE_CONTROL and any(replace(meant, field=None).about(one) for one in items):
        return _Asked(requirement, [], "it needs control people, and none were given")
    reasons = (why for what, why in not_run if meant.measure in re.findall(r"\w+", what))
    return _Asked(requirement, *_checked(meant, about, next(reasons, "")))


def unanswered(condition: Condition, items: Sequence[Found]) -> str:
    """Return why none of these items answers a condition; "" if one does."""
    return _asked(Requirement(condition), items, frozenset(), ()).why


def _checked(meant: Condition, about: list[Found], reason: str) -> tuple[list[Found], str]:
    """What a condition is about, or why that is nothing."""
    kinds = {isinstance(one, Criterion) for one in about}
    if not kinds:
        return [], f"nobody took this measure{f': {reason}' if reason else _words(meant.measure)}"
    if len(kinds) > 1:
        name = meant.measure
        return [], f"{name} is a measure and a criterion; write ADVERSARY:{name} or {CRITERION}:{name}"
    if kinds == {True} and meant.field is not None:
        return [], f"a criterion is one number; leave .{meant.field} out"
    return about, ""


def _words(measure: str) -> str:
    """What a measure is, if it is one, or the one whose name is nearest."""
    known = described(measure) or CRITERIA.get(measure)
    hint = nearest(measure, [*MEASURES, *CRITERIA])
    return f", {known.meaning}" if known else f"; {hint}" if hint.startswith("did") else ""


def spoken(item: Found) -> str:
    """Whose value it is, in words: the measure, after the adversary and the target where it has them."""
    whom = () if isinstance(item, Criterion) else (item.adversary, item.target)
    return ", ".join((*whom, item.measure))


def _judged(asked: _Asked, release: str, items: Sequence[Found]) -> Judged:
    condition = asked.requirement.require
    own = [Valued(one, condition.value(one)) for one in asked.items if one.release == release]
    high = condition.sign[0] == "<"  # the higher, the nearer to breaking it
    own.sort(key=lambda one: (math.isnan(one.value), -one.value if high else one.value))
    there = {one.adversary for one in items if one.release == release}
    silent = dict.fromkeys(one.adversary for one in asked.items if one.adversary not in there | {CRITERION})
    return Judged(asked.requirement, tuple(own), tuple(silent), asked.why, _realized(condition, own, items))


def _realized(condition: Condition, own: Sequence[Valued], items: Sequence[Found]) -> Valued | None:
    """What came true of what an adversary expects, on average over the same people."""
    side = realized_by(condition.measure) if condition.field in (None, "posterior") and own else ""
    whose = [(one.release, one.adversary, one.target, side) for one, _ in own[:1]]
    found = (one for one in items if side and (one.release, one.adversary, one.target, one.measure) in whose)
    return next((Valued(one, condition.value(one)) for one in found), None)
