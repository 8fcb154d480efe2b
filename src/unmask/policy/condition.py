"""Conditions on results: one grammar, for audits, pipelines and choices."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from unmask.core.errors import UnmaskError, nearest
from unmask.core.tolerances import LIMIT_TIE
from unmask.measures.registry import described, quantity

QUANTILES = {"q05": 0, "q25": 1, "q50": 2, "q75": 3, "q95": 4}
"""Field of a quantile over targets -> its position in `Row.quantiles`."""

FIELDS = (
    "posterior", "prior", "gain", "low", "high", "worst", "control", "excess", "excess_low", "excess_high", *QUANTILES
)  # fmt: skip

CONTROL_FIELDS = frozenset({"control", "excess", "excess_low", "excess_high"})
"""Fields of results that have a control group."""

PERSON_FIELDS = frozenset({"worst", *QUANTILES})
"""Fields about single people: a realized measure is 0 or 1 for each."""

Sign = Literal["<=", ">=", "<", ">"]

_REVERSED_SIGNS: dict[Sign, Sign] = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}

_INTERVAL_FIELDS = {
    "posterior": ("low", "high"),
    "gain": ("gain_low", "gain_high"),
    "excess": ("excess_low", "excess_high"),
}
"""Field -> the fields of its interval."""

_CONDITION = re.compile(
    r"\s*(?:(?P<scope>.+):)?\s*(?P<measure>\w+(?:\.\d\w*)*)(?:\.(?P<field>[^\W\d]\w*))?"
    r"\s*(?P<sign><=|>=|<|>)\s*(?P<bound>[^\s<>=:]+)\s*"
)


class MeasuredItem(Protocol):
    """An item that a condition may be about: a `Row`, a `Summary` of several, or a criterion."""

    @property
    def adversary(self) -> str:
        """Name of the adversary."""

    @property
    def target(self) -> str:
        """Target of the adversary, such as a column."""

    @property
    def measure(self) -> str:
        """Name of the measure."""


@dataclass(frozen=True)
class Condition:
    """A bound on one field of a measure, for all adversaries and targets that have it, or for those of its scope.

    Written [ADVERSARY:][TARGET:]MEASURE[.FIELD]<=BOUND, with any of < <= > >=. FIELD is one of `FIELDS`, the posterior
    by default; q95 is the value that 95 % of the targets do not exceed.

    scope             : text before the measure
    adversary, target : meaning of the scope, see `resolve`; None for any

    >>> condition = Condition.parse("neighbor:diagnosis:success_probability.worst <= 0.5")
    >>> condition.scope, condition.measure, condition.field, condition.sign, condition.bound
    ('neighbor:diagnosis', 'success_probability', 'worst', '<=', 0.5)
    """

    measure: str
    sign: Sign
    bound: float
    scope: str | None = None
    field: str | None = None
    adversary: str | None = None
    target: str | None = None

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Return the condition of a text; its scope is not resolved yet."""
        match = _CONDITION.fullmatch(text)
        try:
            bound = float(match["bound"]) if match else math.nan
        except ValueError:
            bound = math.nan
        if match is None or math.isnan(bound):
            raise UnmaskError(f"the condition is {text!r}, expected for example success_probability.worst<=0.09")
        if match["field"] not in (None, *FIELDS):
            raise UnmaskError(f"a measure has no field {match['field']!r}; {nearest(match['field'], FIELDS)}")
        self_assessed = quantity(match["measure"])
        if self_assessed != match["measure"] and match["field"] in PERSON_FIELDS:
            raise UnmaskError(
                f"{match['measure']} is right or wrong for each person, so that its {match['field']} tells nothing; "
                f"write {self_assessed}.{match['field']}{match['sign']}{match['bound']}"
            )
        scope = None if match["scope"] is None else match["scope"].strip()
        return cls(match["measure"], match["sign"], bound, scope, match["field"])  # type: ignore[arg-type]

    def resolve(self, items: Collection[MeasuredItem]) -> Condition:
        """Return the condition about the adversary and target that its scope means among these items.

        Whole names are compared, so that a name may contain a colon. Raise an error for no meaning or several.
        """
        if self.scope is None:
            return self
        meanings_by_name = _collect_scopes(items)
        meanings = sorted(meanings_by_name.get(self.scope, ()), key=str)
        if not meanings:
            hint = nearest(self.scope, list(meanings_by_name))
            raise UnmaskError(f"{self.scope!r} is neither an adversary nor a target; {hint}")
        if len(meanings) > 1:
            options = " or ".join(map(_describe_scope, meanings))
            raise UnmaskError(f"{self.scope!r} in {str(self)!r} may be {options}; write ADVERSARY:TARGET:")
        adversary, target = meanings[0]
        return replace(self, adversary=adversary, target=target)

    def concerns(self, item: MeasuredItem) -> bool:
        """Return whether the condition is about the adversary and the target of an item."""
        return self.adversary in (None, item.adversary) and self.target in (None, item.target)

    def applies_to(self, item: MeasuredItem) -> bool:
        """Return whether the condition is about an item; an excess needs a control group."""
        has_field = self.field not in CONTROL_FIELDS or getattr(item, self.field, None) is not None
        return self.measure == item.measure and self.concerns(item) and has_field

    def value(self, item: MeasuredItem) -> float:
        """Return the field of an item, nan without one. Without an interval both ends are the posterior."""
        if self.field in QUANTILES:
            quantiles = getattr(item, "quantiles", ())
            return quantiles[QUANTILES[self.field]] if quantiles else math.nan
        value: Any = getattr(item, self.field or "posterior", None)
        if value is None and self.field in ("low", "high"):  # exact, or unbounded
            value = getattr(item, "posterior", None)
        return math.nan if value is None else float(value)

    def ends(self, item: MeasuredItem) -> tuple[float, float]:
        """Return the interval of the field of an item; both ends are its value without an interval."""
        value = self.value(item)
        if self.field == "gain" and not hasattr(item, "gain_low"):  # the prior of an audit is exact
            return _gain_interval(item) or (value, value)
        ends = (getattr(item, name, None) for name in _INTERVAL_FIELDS.get(self.field or "posterior", ()))
        low, high = tuple(value if end is None else float(end) for end in ends) or (value, value)
        return low, high

    def holds(self, value: float) -> bool:
        """Return whether a value is within the bound; an unknown value is not.

        Values that differ by at most 1e-9 of the bound are equal to it.

        >>> Condition.parse("risk>0.1").holds(0.30000000000000004 - 0.2), Condition.parse("risk>0.1").holds(0.1001)
        (False, True)
        """
        if math.isclose(value, self.bound, rel_tol=LIMIT_TIE, abs_tol=LIMIT_TIE * LIMIT_TIE):
            return self.sign in ("<=", ">=")
        return value < self.bound if self.sign[0] == "<" else value > self.bound

    def __str__(self) -> str:
        scope = "" if self.scope is None else f"{self.scope}:"
        field = "" if self.field is None else f".{self.field}"
        return f"{scope}{self.measure}{field}{self.sign}{self.bound:g}"


def reverse_sign(condition: Condition) -> str:
    """Return the condition with the opposite sign if it asks for what the adversary wants; "" otherwise.

    >>> reverse_sign(Condition.parse("estimation_error.worst<=200"))
    'estimation_error.worst>=200'
    >>> reverse_sign(Condition.parse("estimation_error>=200"))
    ''
    """
    measure = None if condition.field in ("gain", *CONTROL_FIELDS) else described(condition.measure)
    if measure is None or measure.direction != ("low" if condition.sign[0] == "<" else "high"):
        return ""
    return str(replace(condition, sign=_REVERSED_SIGNS[condition.sign]))


def _gain_interval(item: Any) -> tuple[float, float] | None:
    """Return the interval of a gain over a known prior; None if the measure has no interval."""
    low, high = getattr(item, "low", None), getattr(item, "high", None)
    if low is None or high is None:
        return None
    return (low - item.prior, high - item.prior) if item.direction == "high" else (item.prior - high, item.prior - low)


_Scope = tuple[str | None, str | None]
"""Adversary and target, None for any."""


def _collect_scopes(items: Collection[MeasuredItem]) -> dict[str, set[_Scope]]:
    """Return the meanings of each text that may stand before a measure."""
    scopes: dict[str, set[_Scope]] = {}
    for adversary, target in dict.fromkeys((item.adversary, item.target) for item in items):
        scopes.setdefault(adversary, set()).add((adversary, None))
        if target:  # a criterion of the release has none
            scopes.setdefault(target, set()).add((None, target))
            scopes.setdefault(f"{adversary}:{target}", set()).add((adversary, target))
    return scopes


def _describe_scope(scope: _Scope) -> str:
    adversary, target = scope
    parts = [f"the adversary {adversary!r}"] if adversary else []
    return " and ".join([*parts, *([f"the target {target!r}"] if target else [])])
