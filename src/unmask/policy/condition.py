"""Conditions on what was found: one grammar, for audits, pipelines and choices."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from unmask.core.errors import UnmaskError, nearest
from unmask.measures.registry import described, quantity

QUANTILES = {"q05": 0, "q25": 1, "q50": 2, "q75": 3, "q95": 4}
"""Field of a quantile over targets -> its place in `Row.quantiles`."""

FIELDS = (
    "posterior", "prior", "gain", "low", "high", "worst", "control", "excess", "excess_low", "excess_high", *QUANTILES
)  # fmt: skip

BESIDE_CONTROL = frozenset({"control", "excess", "excess_low", "excess_high"})
"""Fields that only what control people stand beside has."""

OF_BELIEFS = frozenset({"worst", *QUANTILES})
"""Fields about single people, of whom a realized measure is 0 or 1."""

Sign = Literal["<=", ">=", "<", ">"]

_ENDS = {"posterior": ("low", "high"), "gain": ("gain_low", "gain_high"), "excess": ("excess_low", "excess_high")}
"""Field -> the fields of its interval."""

SAME = 1e-9
"""Values that differ by no more than this part are one value: 1 / 10 is not above 0.1."""

_CONDITION = re.compile(
    r"\s*(?:(?P<whom>.+):)?\s*(?P<measure>\w+(?:\.\d\w*)*)(?:\.(?P<field>[^\W\d]\w*))?"
    r"\s*(?P<sign><=|>=|<|>)\s*(?P<bound>[^\s<>=:]+)\s*"
)


class Stated(Protocol):
    """What a condition is about: a `Row`, a `Summary` of several, or a criterion."""

    @property
    def adversary(self) -> str:
        """Who attacks."""

    @property
    def target(self) -> str:
        """What they are after."""

    @property
    def measure(self) -> str:
        """What was measured."""


@dataclass(frozen=True)
class Condition:
    """A bound on one field of a measure, for every adversary and target that has it, or for those that are named.

    Written [ADVERSARY:][TARGET:]MEASURE[.FIELD]<=BOUND, with any of < <= > >=. FIELD is one of `FIELDS`, the posterior
    when left out; q95 is the value that 95 % of the targets do not exceed.

    whom              : what stands before the measure
    adversary, target : whom that means, see `named`; None for any

    >>> asked = Condition.parse("neighbor:diagnosis:success_probability.worst <= 0.5")
    >>> asked.whom, asked.measure, asked.field, asked.sign, asked.bound
    ('neighbor:diagnosis', 'success_probability', 'worst', '<=', 0.5)
    """

    measure: str
    sign: Sign
    bound: float
    whom: str | None = None
    field: str | None = None
    adversary: str | None = None
    target: str | None = None

    @classmethod
    def parse(cls, text: str) -> Condition:
        """From text; whom it names is not known yet."""
        found = _CONDITION.fullmatch(text)
        try:
            bound = float(found["bound"]) if found else math.nan
        except ValueError:
            bound = math.nan
        if found is None or math.isnan(bound):
            raise UnmaskError(f"the condition is {text!r}, expected for example success_probability.worst<=0.09")
        if found["field"] not in (None, *FIELDS):
            raise UnmaskError(f"a measure has no field {found['field']!r}; {nearest(found['field'], FIELDS)}")
        believed = quantity(found["measure"])
        if believed != found["measure"] and found["field"] in OF_BELIEFS:
            raise UnmaskError(
                f"{found['measure']} is right or wrong for each person, so that its {found['field']} tells nothing; "
                f"write {believed}.{found['field']}{found['sign']}{found['bound']}"
            )
        whom = None if found["whom"] is None else found["whom"].strip()
        return cls(found["measure"], found["sign"], bound, whom, found["field"])  # type: ignore[arg-type]

    def named(self, items: Collection[Stated]) -> Condition:
        """The same about the adversary and target of the items that `whom` stands for; an error for none or several.

        A name that contains a colon is found too: whole names are compared, nothing is taken apart.
        """
        if self.whom is None:
            return self
        names = _names(items)
        meanings = sorted(names.get(self.whom, ()), key=str)
        if not meanings:
            raise UnmaskError(f"{self.whom!r} is no adversary and no target; {nearest(self.whom, list(names))}")
        if len(meanings) > 1:
            raise UnmaskError(
                f"{self.whom!r} in {str(self)!r} may be {' or '.join(map(_spoken, meanings))}; write ADVERSARY:TARGET:"
            )
        adversary, target = meanings[0]
        return replace(self, adversary=adversary, target=target)

    def concerns(self, item: Stated) -> bool:
        """Whether it is about the adversary and the target of this item."""
        return self.adversary in (None, item.adversary) and self.target in (None, item.target)

    def about(self, item: Stated) -> bool:
        """Whether it is about this very item; what no control people stand beside has no excess to ask for."""
        has = self.field not in BESIDE_CONTROL or getattr(item, self.field, None) is not None
        return self.measure == item.measure and self.concerns(item) and has

    def value(self, item: Stated) -> float:
        """The field of what it is about; nan where that has none. Without an interval both ends are the value."""
        if self.field in QUANTILES:
            quantiles = getattr(item, "quantiles", ())
            return quantiles[QUANTILES[self.field]] if quantiles else math.nan
        value: Any = getattr(item, self.field or "posterior", None)
        if value is None and self.field in ("low", "high"):  # exact, or unbounded: the value is its own end
            value = getattr(item, "posterior", None)
        return math.nan if value is None else float(value)

    def ends(self, item: Stated) -> tuple[float, float]:
        """The interval of the field of what it is about; both ends are its value where it has none, as a worst-off."""
        value = self.value(item)
        if self.field == "gain" and not hasattr(item, "gain_low"):  # the prior of an audit is exact
            return _gained(item) or (value, value)
        found = (getattr(item, name, None) for name in _ENDS.get(self.field or "posterior", ()))
        low, high = tuple(value if end is None else float(end) for end in found) or (value, value)
        return low, high

    def holds(self, value: float) -> bool:
        """Whether a value keeps the bound, from which it differs when by more than 1e-9 of it; an unknown one does not.

        >>> Condition.parse("risk>0.1").holds(0.30000000000000004 - 0.2), Condition.parse("risk>0.1").holds(0.1001)
        (False, True)
        """
        if math.isclose(value, self.bound, rel_tol=SAME, abs_tol=SAME * SAME):
            return self.sign in ("<=", ">=")
        return value < self.bound if self.sign[0] == "<" else value > self.bound

    def __str__(self) -> str:
        whom = "" if self.whom is None else f"{self.whom}:"
        field = "" if self.field is None else f".{self.field}"
        return f"{whom}{self.measure}{field}{self.sign}{self.bound:g}"


def turned(asked: Condition) -> str:
    """The condition with its sign turned, where it asks for what the adversary wants; "" for others, as for a gain.

    >>> turned(Condition.parse("estimation_error.worst<=200")), turned(Condition.parse("estimation_error>=200"))
    ('estimation_error.worst>=200', '')
    """
    known = None if asked.field in ("gain", *BESIDE_CONTROL) else described(asked.measure)
    if known is None or known.direction != ("low" if asked.sign[0] == "<" else "high"):
        return ""
    signs: dict[Sign, Sign] = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
    return str(replace(asked, sign=signs[asked.sign]))


def _gained(item: Any) -> tuple[float, float] | None:
    """The interval of a gain over a prior that is known; None where the measure has no interval."""
    low, high = getattr(item, "low", None), getattr(item, "high", None)
    if low is None or high is None:
        return None
    return (low - item.prior, high - item.prior) if item.direction == "high" else (item.prior - high, item.prior - low)


_Whom = tuple[str | None, str | None]


def _names(items: Collection[Stated]) -> dict[str, set[_Whom]]:
    """What may stand before a measure -> the adversary and the target that it may mean, None for any."""
    found: dict[str, set[_Whom]] = {}
    for adversary, target in dict.fromkeys((item.adversary, item.target) for item in items):
        found.setdefault(adversary, set()).add((adversary, None))
        if target:  # a criterion of the release has none
            found.setdefault(target, set()).add((None, target))
            found.setdefault(f"{adversary}:{target}", set()).add((adversary, target))
    return found


def _spoken(whom: _Whom) -> str:
    adversary, target = whom
    parts = [f"the adversary {adversary!r}"] if adversary else []
    return " and ".join([*parts, *([f"the target {target!r}"] if target else [])])
