"""The rational attacker: gains, costs, detection, fines and the clock."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import InitVar, dataclass, fields, replace
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import as_numbers
from unmask.core.errors import UnmaskError
from unmask.ranges import Range, check_type, list_hints

Floats = NDArray[np.float64]
Ties = Literal["walk_away", "attack"]

UNSET: Final[Any] = None
"""A timing switch that the profile sets."""

PROFILES: Final = {
    "undiscounted": {"discount": 1.0, "gain_delay": 1, "fine_delay": 1, "link_delay": 1},
    "literal": {"discount": 0.9, "gain_delay": 1, "fine_delay": 1, "link_delay": 1},
    "folded": {"discount": 1 / 1.07, "gain_delay": 1, "fine_delay": 0, "link_delay": 0},
}
"""Readings of the paper, which never states its discount.

undiscounted : the default: an attack takes minutes to days, and then the delays are irrelevant
literal      : reward on the state before the action (equation 2), so gain and fine arrive one step after the exploit;
               discount 0.9. Gives the paper's 14, 29 and 48.
folded       : the fine is folded into the exploit as an expected cost, the free link takes no step; discount 1 / 1.07.
               Gives all of the paper's thresholds (14, 29, 48, 51), but was found by search.
"""

LARGEST: Final = 1e300
"""Largest amount: sums of amounts stay finite."""

Amount = Annotated[float, Range(0, LARGEST)]
Number = Annotated[float, Range(-LARGEST, LARGEST)]
Chance = Annotated[float, Range(0, 1, above=True)]
Share = Annotated[float, Range(0, 1)]
Whole = Annotated[int, Range(1)]
Steps = Annotated[int, Range(0, 1)]


@dataclass(frozen=True, kw_only=True)
class Attacker:
    """A planner who may access outside data, link a target to it, try the candidates one by one, and stop at any time.

    All money is in one currency, which is never named.

    Parameters
    ----------
    gain : float
        G, worth of re-identifying one target.
    access_cost : float
        C_d, paid once for the outside data.
    link_cost : float
        C_l, paid to link a target to it.
    exploit_cost : float
        C_e, paid for every candidate that is tried.
    fine : float
        C_p, paid for a detected exploit.
    max_fines : float
        Largest number of fines in a campaign, or for one target attacked alone: a whole number, or math.inf. No
        default: a capped and an uncapped fine differ in kind, see `warnings`.
    detection_base : float, optional
        h0 of the probability q_j = 1 / (1 + exp(-(h0 + h1 j))) that exploit j is detected, j from 0.
    detection_growth : float, optional
        h1 of the same; 0 for a constant probability.
    detection : tuple of float, optional
        q_0, q_1, ... instead of h0 and h1. The last one holds for all later exploits.
    audit_rate : float
        alpha above 0: every q_j becomes min(1, alpha q_j).
    audit_every : int
        T: only every T-th exploit can be detected. q_{T-1}, q_{2T-1}, ... stay, the others become 0.
    arrest : bool
        The attack ends with the first detection, after the fine.
    prior : float
        Probability above 0 that the target is in the outside data at all. A target alike with g people there is one
        of N = g / prior people, so that every try succeeds with probability 1 / N.
    confirmation : float
        v, probability that a success is noticed; v < 1 acts like N = g / (prior v).
    detection_prior : tuple of float, optional
        (a, b) instead of `detection`: the belief about the probability of detection is Beta(a, b), as if a tries had
        been detected and b had not. The attacker learns from every try.
    false_alarms : float
        f, probability that a wrong candidate looks right. The attacker then claims one candidate who looked right, at
        once or after more tries. The claim ends the attack on the target.
    false_claim_cost : float
        C_f, paid for a wrong claim.
    max_tries : int, optional
        Largest number of exploits for one target; None for as many as there are candidates.
    ties : {"walk_away", "attack"}
        Choice between an attack and a retreat of equal worth. "attack" is the prudent publisher's reading.
    discount : float
        gamma in (0, 1], worth of one unit a step later.
    gain_delay, fine_delay : int
        Steps from an exploit to its gain and to its fine, 0 or 1.
    link_delay : int
        Steps of time that linking takes, 0 or 1.
    profile : str
        Name in `PROFILES` that sets the timing switches left out.

    References
    ----------
    W. Xia et al., "Process-driven data privacy", 2015, section 4.

    Examples
    --------
    >>> attacker = Attacker(
    ...     gain=8000,
    ...     access_cost=100,
    ...     exploit_cost=10,
    ...     fine=10_000,
    ...     max_fines=1,
    ...     detection_base=-4.59,
    ...     detection_growth=0.18,
    ...     prior=0.63,
    ... )
    >>> attacker.detection_at(3).round(4)
    array([0.0101, 0.012 , 0.0143])
    """

    gain: Amount
    access_cost: Amount = 0.0
    link_cost: Amount = 0.0
    exploit_cost: Amount = 0.0
    fine: Amount = 0.0
    max_fines: Annotated[float, Range(0)] = None  # type: ignore[assignment]
    detection_base: Number | None = None
    detection_growth: Number | None = None
    detection: tuple[Share, ...] | None = None
    audit_rate: Annotated[float, Range(0, LARGEST, above=True)] = 1.0
    audit_every: Whole = 1
    arrest: bool = False
    prior: Chance = 1.0
    confirmation: Chance = 1.0
    detection_prior: tuple[Amount, Amount] | None = None
    false_alarms: Share = 0.0
    false_claim_cost: Amount = 0.0
    max_tries: Whole | None = None
    ties: Ties = "walk_away"
    discount: Chance = UNSET
    gain_delay: Steps = UNSET
    fine_delay: Steps = UNSET
    link_delay: Steps = UNSET
    profile: InitVar[str] = "undiscounted"

    def __post_init__(self, profile: str) -> None:
        if profile not in list(PROFILES):
            raise UnmaskError(f"profile is {profile!r}, expected one of {', '.join(PROFILES)}")
        for switch, value in PROFILES[profile].items():
            if getattr(self, switch) is UNSET:
                object.__setattr__(self, switch, value)
        for item in fields(self):
            object.__setattr__(self, item.name, _to_plain(item.name, getattr(self, item.name)))
        if self.max_fines is None:
            raise UnmaskError(
                "max_fines is missing; give the largest number of fines in one attack, such as 1, or no limit: "
                '"unlimited" in a file, math.inf in Python'
            )
        check_fields(self)
        for message in _list_conflicts(self):
            raise UnmaskError(message)

    def detection_at(self, n_tries: int) -> Floats:
        """Return q_j, the probability that the exploit after j failures is detected: equation (4) or as given.

        With a `detection_prior` it is the mean belief before the first try.

        Parameters
        ----------
        n_tries : int
            Number of exploits.

        Returns
        -------
        (n_tries,) array
            Probabilities.
        """
        j = np.arange(n_tries)
        if self.detection is not None:
            q = np.asarray(self.detection, dtype=np.float64)[np.minimum(j, len(self.detection) - 1)]
        elif self.detection_base is not None and self.detection_growth is not None:
            q = np.exp(-np.logaddexp(0.0, -(self.detection_base + self.detection_growth * j)))
        else:
            q = np.full(n_tries, 0.0 if self.detection_prior is None else self.mean_detection)
        return np.where((j + 1) % self.audit_every == 0, np.minimum(self.audit_rate * q, 1.0), 0.0)

    @property
    def constant_detection(self) -> bool:
        """Return True if every exploit is detected with the same probability."""
        if self.audit_every > 1:
            return False
        return len(set(self.detection)) == 1 if self.detection is not None else not self.detection_growth

    @property
    def mean_detection(self) -> float:
        """Return a / (a + b), the mean of `detection_prior`; raise UnmaskError without one."""
        if self.detection_prior is None:
            raise UnmaskError("detection_prior is not given; give it, or use detection_at")
        return self.detection_prior[0] / sum(self.detection_prior)

    @property
    def learns(self) -> bool:
        """Return True if tries change the belief about detection, and fines make that matter."""
        return self.detection_prior is not None and self.max_fines > 0

    @property
    def is_uncertain(self) -> bool:
        """Return True if the attacker learns about detection, or may claim a wrong candidate."""
        return self.learns or self.false_alarms > 0

    @property
    def capped(self) -> bool:
        """Return True if fines can run out: an early detection then buys immunity."""
        return 0 < self.max_fines < math.inf and not self.arrest

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the reasons why more protection may not mean less risk."""
        warnings = []
        if self.capped and self.fine > 0:
            times = "once" if self.max_fines == 1 else f"at most {self.max_fines:.0f} times"
            warnings.append(
                f"Fines are paid {times} in a campaign or for a single target. Early detection then brings immunity: "
                "larger groups and more detection can raise the risk."
            )
        if self._detection_falls and (self.arrest or (self.fine > 0 and self.max_fines > 0)):
            warnings.append(
                "Some tries are detected less than those before them: a larger group gets the attacker there, so the "
                "risk may rise with its size."
            )
        if self.ties == "attack":
            warnings.append(
                "With ties = \u201cattack\u201d, one person is attacked even if that is worth nothing. A campaign "
                "that is worth nothing is not made: ask a little more than the fine or price that stops it."
            )
        return tuple(warnings)

    @property
    def _detection_falls(self) -> bool:
        if self.detection is not None:
            return self.audit_every > 1 or any(a > b for a, b in pairwise(self.detection))
        return self.detection_growth is not None and (self.audit_every > 1 or self.detection_growth < 0)


@lru_cache(maxsize=1024)
def with_fines(attacker: Attacker, max_fines: float, arrest: bool) -> Attacker:
    """Return the attacker with another cap on fines and another arrest; cached, as each new one is checked."""
    return replace(attacker, max_fines=max_fines, arrest=arrest)


def _to_plain(name: str, value: object) -> Any:
    """Return lists as tuples, numbers of NumPy as those of Python, and one number of `detection` as a schedule."""
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(_to_plain("", item) for item in value)
    if name == "detection" and isinstance(value, int | float) and not isinstance(value, bool):
        return (value,)
    return value.item() if isinstance(value, np.generic) else value


def check_fields(owner: Any) -> None:
    """Raise an error for a field of another type, or outside its range; defaults are not checked."""
    hints = list_hints(owner.__class__)
    for item in fields(owner):
        value = getattr(owner, item.name)
        if value is not item.default:
            check_type(item.name, value, hints[item.name])


def _list_conflicts(attacker: Attacker) -> Iterator[str]:
    """Yield a message for parameters that exclude each other, or that lack a companion."""
    schedule, prior = attacker.detection, attacker.detection_prior
    if attacker.max_fines not in (math.inf, math.floor(min(attacker.max_fines, LARGEST))):
        yield f"max_fines is {attacker.max_fines:g}, expected a whole number, or math.inf"
    if not attacker.false_alarms < attacker.confirmation:
        yield (
            f"false_alarms is {attacker.false_alarms:g}, expected below confirmation, {attacker.confirmation:g}: a "
            "wrong candidate looks right less often than the right one"
        )
    has_base, has_growth = attacker.detection_base is not None, attacker.detection_growth is not None
    if schedule is not None and (has_base or has_growth):
        yield "detection is given twice: give detection, or detection_base and detection_growth"
    if has_base != has_growth:
        missing = "detection_growth" if has_base else "detection_base"
        yield f"{missing} is missing: base and growth go together, growth 0 for a constant one"
    has_consequence = attacker.arrest or (attacker.fine > 0 and attacker.max_fines > 0)
    if has_consequence and schedule is None and prior is None and not has_base:
        yield (
            "a detected exploit has a consequence, and nothing says how likely detection is: give detection_base and "
            "detection_growth, or detection"
        )
    if schedule == ():
        yield "detection is an empty list, expected at least 1 number from 0 to 1"
    if prior is not None:
        if schedule is not None or has_base:
            yield "detection is given twice: give detection, or detection_prior"
        if not sum(prior):
            yield "detection_prior is two numbers 0, expected one above 0: [1, 19] for 1 try in 20 detected"
        if attacker.audit_rate != 1 or attacker.audit_every != 1:
            yield "audits change a detection_prior in no way that is known; leave audits out, or give detection"
    name = "detection_prior" if prior is not None else "false_alarms" if attacker.false_alarms else ""
    if name and (attacker.arrest or attacker.discount != 1):
        yield f"{name} is weighed for attacks that go on after a fine, with discount 1; leave out the other"


def is_whole(value: object, *, at_least: int) -> bool:
    """Return True for a whole number that is large enough; a truth value is not a number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= at_least


def as_number(name: str, value: object) -> float:
    """Return a value as a number; raise UnmaskError for anything else, and for NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise UnmaskError(f"{name} is {value!r}, expected a number")
    try:
        number = float(value)
    except OverflowError:
        raise UnmaskError(f"{name} is too large, expected a number below 1e308") from None
    if math.isnan(number):
        raise UnmaskError(f"{name} is nan, expected a number")
    return number


def as_amounts(name: str, values: object, n: int) -> Floats:
    """Return (n,) finite amounts of at least 0, from one number or n of them; raise UnmaskError for anything else."""
    amounts = as_numbers(name, values)
    if amounts.shape not in ((), (n,)):
        raise UnmaskError(f"{name} has shape {amounts.shape}, expected one number or {n}")
    if not (np.isfinite(amounts) & (amounts >= 0)).all():
        raise UnmaskError(
            f"{name} is not a finite amount of at least 0 everywhere; give what is lost as a positive cost"
        )
    return np.broadcast_to(amounts, (n,))


def list_parameters(attacker: Attacker) -> dict[str, Any]:
    """Return the fields that are set, by name."""
    values = {item.name: getattr(attacker, item.name) for item in fields(attacker)}
    return {name: value for name, value in values.items() if value is not None}


def one_shot(attacker: Attacker) -> Attacker:
    """Return the same attacker with one try and no discount: the one-shot game, equation (7).

    The attack pays where gain prior / g - q_0 fine - access_cost - link_cost - exploit_cost is above 0. It then
    re-identifies the target with probability prior / g.

    Parameters
    ----------
    attacker : Attacker
        The attacker of several tries.

    Returns
    -------
    Attacker
        The attacker of one try.

    References
    ----------
    Z. Wan et al., "A game theoretic framework for analyzing re-identification risk", 2015.

    Examples
    --------
    >>> one_shot(Attacker(gain=100, max_fines=0)).max_tries
    1
    """
    return replace(attacker, max_tries=1, discount=1.0)
