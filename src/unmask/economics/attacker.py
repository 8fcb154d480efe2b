"""The rational attacker: what they gain and pay, when they are caught, and how the clock runs."""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass, fields, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError

Floats = NDArray[np.float64]
Ties = Literal["walk_away", "attack"]

FROM_PROFILE: Final[Any] = None
"""A timing switch left to the profile."""

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


@dataclass(frozen=True, kw_only=True)
class Attacker:
    """A planner who may access outside data, link a target to it, try the candidates one by one, and stop at any time.

    gain             : G, what re-identifying one target is worth
    access_cost      : C_d, paid once for the outside data
    link_cost        : C_l, paid to link a target to it
    exploit_cost     : C_e, paid for every candidate that is tried
    fine             : C_p, paid when an exploit is detected
    max_fines        : fines at most in a campaign, or for one target attacked alone: a whole number, or math.inf. No
                       default: a capped and an uncapped fine differ in kind, see `warnings`.
    detection_base   : h0 of the probability q_j = 1 / (1 + exp(-(h0 + h1 j))) that exploit j is detected, j from 0
    detection_growth : h1 of the same; 0 for a constant probability
    detection        : q_0, q_1, ... instead of h0 and h1; the last one holds for all later exploits
    audit_rate       : alpha above 0, every q_j becomes min(1, alpha q_j): how much harder is looked than usual
    audit_every      : T, only every T-th exploit is looked at: q_{T-1}, q_{2T-1}, ... stay, the others become 0
    arrest           : the attack ends when it is detected (after the fine)
    prior            : probability that the target is in the outside data at all, above 0. A target alike with g people
                       there is one of N = g / prior people, so that every try succeeds with probability 1 / N.
    confirmation     : v, probability that a success is noticed; v < 1 acts like N = g / (prior v)
    detection_prior  : (a, b) instead of `detection`: nobody knows the probability that a try is detected, the belief is
                       Beta(a, b), as if a tries had been detected and b had not; they learn from every try
    false_alarms     : f, probability that a wrong candidate looks right. They then claim one candidate who looked
                       right, at once or after more tries, and that ends the attack on the target.
    false_claim_cost : C_f, paid for claiming a wrong one
    max_tries        : exploits for one target at most; None: as many as there are candidates
    ties             : what is done when attacking and walking away are worth the same: "walk_away" (strict profit is
                       needed) or "attack" (the prudent publisher's reading)
    discount         : gamma, the worth of one unit a step later, in (0, 1]
    gain_delay, fine_delay : steps from an exploit to its gain and to its fine, 0 or 1
    link_delay       : whether linking takes a step of time, 0 or 1
    profile          : fills the four timing switches that are not given; see `PROFILES`

    All money is in one currency, which is never named. W. Xia et al., "Process-driven data privacy", 2015, section 4.

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

    gain: float
    access_cost: float = 0.0
    link_cost: float = 0.0
    exploit_cost: float = 0.0
    fine: float = 0.0
    max_fines: float = None  # type: ignore[assignment]
    detection_base: float | None = None
    detection_growth: float | None = None
    detection: tuple[float, ...] | None = None
    audit_rate: float = 1.0
    audit_every: int = 1
    arrest: bool = False
    prior: float = 1.0
    confirmation: float = 1.0
    detection_prior: tuple[float, ...] | None = None
    false_alarms: float = 0.0
    false_claim_cost: float = 0.0
    max_tries: int | None = None
    ties: Ties = "walk_away"
    discount: float = FROM_PROFILE
    gain_delay: int = FROM_PROFILE
    fine_delay: int = FROM_PROFILE
    link_delay: int = FROM_PROFILE
    profile: InitVar[str] = "undiscounted"

    def __post_init__(self, profile: str) -> None:
        if profile not in list(PROFILES):
            raise UnmaskError(f"profile is {profile!r}, expected one of {', '.join(PROFILES)}")
        for switch, value in PROFILES[profile].items():
            if getattr(self, switch) is FROM_PROFILE:
                object.__setattr__(self, switch, value)
        object.__setattr__(self, "detection", _schedule(self.detection))
        object.__setattr__(self, "detection_prior", _schedule(self.detection_prior, "detection_prior"))
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, item.name, value.item())
        _check_money(self)
        _check_counts(self)
        _check_chances(self)
        _check_detection(self)
        _check_doubt(self)

    def detection_at(self, n_tries: int) -> NDArray[np.float64]:
        """(n_tries,) q_j: probability that the exploit after j failed ones is detected, equation (4) or as given.

        Of a `detection_prior` its mean: what is believed before the first try.
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
        """Whether every exploit is detected with the same probability."""
        if self.audit_every > 1:
            return False
        return len(set(self.detection)) == 1 if self.detection is not None else not self.detection_growth

    @property
    def mean_detection(self) -> float:
        """a / (a + b), the mean of `detection_prior`; UnmaskError without one."""
        if self.detection_prior is None:
            raise UnmaskError("detection_prior is not given; give it, or use detection_at")
        return self.detection_prior[0] / sum(self.detection_prior)

    @property
    def learns(self) -> bool:
        """Whether tries tell how likely detection is, and that matters."""
        return self.detection_prior is not None and self.max_fines > 0

    @property
    def in_doubt(self) -> bool:
        """Whether they learn, or may take a wrong candidate for the right one."""
        return self.learns or self.false_alarms > 0

    @property
    def capped(self) -> bool:
        """Whether fines can run out: then being caught buys immunity."""
        return 0 < self.max_fines < math.inf and not self.arrest

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before trusting that more protection means less risk."""
        found = []
        if self.capped and self.fine > 0:
            times = "once" if self.max_fines == 1 else f"at most {self.max_fines:.0f} times"
            found.append(
                f"Fines are paid {times}, in a campaign or for a target attacked alone: being caught early buys "
                "immunity, so the risk may rise with the size of a group, and with more detection."
            )
        if self._detection_falls and (self.arrest or (self.fine > 0 and self.max_fines > 0)):
            found.append(
                "Some tries are detected less than those before them: a larger group gets the attacker there, so the "
                "risk may rise with its size."
            )
        return tuple(found)

    @property
    def _detection_falls(self) -> bool:
        if self.detection is not None:
            return self.audit_every > 1 or any(a > b for a, b in pairwise(self.detection))
        return self.detection_growth is not None and (self.audit_every > 1 or self.detection_growth < 0)


@lru_cache(maxsize=64)
def fined_at_most(attacker: Attacker, max_fines: float, arrest: bool) -> Attacker:
    """The attacker with these fines; kept, as one is checked for as long as an arm is reckoned."""
    return replace(attacker, max_fines=max_fines, arrest=arrest)


_SUCH: Final = {"detection": "[0.05]", "detection_prior": "[1, 19], 1 try in 20 detected so far"}


def _schedule(detection: object, name: str = "detection") -> Any:
    """The probabilities of detection as a tuple, whatever sequence they were given as."""
    if detection is None:
        return None
    if name == "detection" and isinstance(detection, int | float) and not isinstance(detection, bool):
        return (detection,)
    if not isinstance(detection, list | tuple | np.ndarray):
        raise UnmaskError(f"{name} is {detection!r}, expected a list of numbers, such as {_SUCH[name]}")
    return tuple(q.item() if isinstance(q, np.generic) else q for q in detection)


def _check_money(attacker: Attacker) -> None:
    for name in ("gain", "access_cost", "link_cost", "exploit_cost", "fine", "false_claim_cost"):
        value = as_number(name, getattr(attacker, name))
        if not 0 <= value < math.inf:
            raise UnmaskError(f"{name} is {value:g}, expected a finite amount of at least 0")


def _check_counts(attacker: Attacker) -> None:
    if attacker.max_fines is None:
        raise UnmaskError(
            "max_fines is missing: give the number of fines after which nothing more is fined, or math.inf "
            '("unlimited" in a file)'
        )
    fines = as_number("max_fines", attacker.max_fines)
    if not (fines >= 0 and (fines == math.inf or fines == int(fines))):
        raise UnmaskError(f"max_fines is {fines:g}, expected a whole number of at least 0, or math.inf")
    for name in ("audit_every", "max_tries"):
        value = getattr(attacker, name)
        if not (name == "max_tries" and value is None) and not is_whole(value, at_least=1):
            raise UnmaskError(f"{name} is {value!r}, expected a whole number of at least 1")
    for name in ("gain_delay", "fine_delay", "link_delay"):
        if getattr(attacker, name) not in (0, 1):
            raise UnmaskError(f"{name} is {getattr(attacker, name)!r}, expected 0 or 1 steps")
    if not isinstance(attacker.arrest, bool):
        raise UnmaskError(f"arrest is {attacker.arrest!r}, expected true or false")
    if attacker.ties not in get_args(Ties):
        raise UnmaskError(f"ties is {attacker.ties!r}, expected one of {', '.join(get_args(Ties))}")


def _check_chances(attacker: Attacker) -> None:
    for name in ("prior", "confirmation", "discount"):
        value = as_number(name, getattr(attacker, name))
        if not 0 < value <= 1:
            raise UnmaskError(f"{name} is {value:g}, expected a number above 0 and at most 1")
    if not 0 < as_number("audit_rate", attacker.audit_rate) < math.inf:
        raise UnmaskError(f"audit_rate is {attacker.audit_rate:g}, expected a finite number above 0")


def _check_detection(attacker: Attacker) -> None:
    base, growth, given = attacker.detection_base, attacker.detection_growth, attacker.detection
    if given is not None and (base is not None or growth is not None):
        raise UnmaskError("detection is given twice: give detection, or detection_base and detection_growth")
    if (base is None) != (growth is None):
        missing = "detection_growth" if growth is None else "detection_base"
        raise UnmaskError(f"{missing} is missing: base and growth go together, growth 0 for a constant one")
    ways = given, base, attacker.detection_prior
    if all(one is None for one in ways) and (attacker.arrest or (attacker.fine > 0 and attacker.max_fines > 0)):
        raise UnmaskError(
            "a detected exploit has a consequence, and nothing says how likely detection is: give detection_base and "
            "detection_growth, or detection"
        )
    for name, value in (("detection_base", base), ("detection_growth", growth)):
        if value is not None and not math.isfinite(as_number(name, value)):
            raise UnmaskError(f"{name} is {value}, expected a finite number")
    if given is not None and not (given and all(0 <= as_number("detection", q) <= 1 for q in given)):
        raise UnmaskError(f"detection has {len(given)} numbers, expected at least 1, each from 0 to 1")


def _check_doubt(attacker: Attacker) -> None:
    """What is believed of detection and of candidates who look right, and what does not go with it."""
    prior, false = attacker.detection_prior, as_number("false_alarms", attacker.false_alarms)
    if not 0 <= false < attacker.confirmation:
        raise UnmaskError(
            f"false_alarms is {false:g}, expected at least 0 and below confirmation, {attacker.confirmation:g}: a "
            "wrong candidate looks right less often than the right one"
        )
    if prior is not None:
        if attacker.detection is not None or attacker.detection_base is not None:
            raise UnmaskError("detection is given twice: give detection, or detection_prior")
        if (
            len(prior) != 2
            or not all(0 <= as_number("detection_prior", one) < math.inf for one in prior)
            or not sum(prior)
        ):
            raise UnmaskError("detection_prior is not two numbers of at least 0; give [1, 19] for 1 try in 20 detected")
        if attacker.audit_rate != 1 or attacker.audit_every != 1:
            raise UnmaskError(
                "audits change a detection_prior in no way that is known; leave audits out, or give detection"
            )
    named = "detection_prior" if prior is not None else "false_alarms" if false else ""
    if named and (attacker.arrest or attacker.discount != 1):
        raise UnmaskError(
            f"{named} is weighed for attacks that go on after a fine, with discount 1; leave out the other"
        )


def is_whole(value: object, *, at_least: int) -> bool:
    """Whether a value is a whole number, truth values excepted, and large enough."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= at_least


def as_number(name: str, value: object) -> float:
    """A number, NaN excepted; UnmaskError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise UnmaskError(f"{name} is {value!r}, expected a number")
    try:
        number = float(value)
    except OverflowError:
        raise UnmaskError(f"{name} is too large, expected a number below 1e308") from None
    if math.isnan(number):
        raise UnmaskError(f"{name} is nan, expected a number")
    return number


def numbers(name: str, values: object) -> Floats:
    """Values as numbers, whatever they are given as; UnmaskError for a text or a ragged list."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UnmaskError(f"{name} is not made of numbers; give one number for each") from None


def amounts(name: str, values: object, n: int) -> Floats:
    """(n,) amounts of at least 0, from one number or n of them; UnmaskError for anything else."""
    found = numbers(name, values)
    if found.shape not in ((), (n,)):
        raise UnmaskError(f"{name} has shape {found.shape}, expected one number or {n}")
    if not (np.isfinite(found) & (found >= 0)).all():
        raise UnmaskError(
            f"{name} is not a finite amount of at least 0 everywhere; give what is lost as a positive cost"
        )
    return np.broadcast_to(found, (n,))


def parameters(attacker: Attacker) -> dict[str, Any]:
    """What the attacker is made of, by name: every field that is set."""
    values = {item.name: getattr(attacker, item.name) for item in fields(attacker)}
    return {name: value for name, value in values.items() if value is not None}


# --- the attackers that other tools assume, as corner cases of this one -----------------------------------------------


def one_shot(attacker: Attacker) -> Attacker:
    """The same attacker who may try one candidate only and does not discount: the one-shot game, equation (7).

    They attack where gain prior / g - q_0 fine - access_cost - link_cost - exploit_cost is above 0, and then
    re-identify the target with probability prior / g. Z. Wan et al., "A game theoretic framework for analyzing
    re-identification risk", 2015.
    """
    return replace(attacker, max_tries=1, discount=1.0)


def prosecutor() -> Attacker:
    """Knows that the target is in the data, pays nothing, tries one candidate: success 1 / g in a group of g.

    The mean of it over the records of a file is the marketer's risk.
    """
    return journalist(1.0)


def journalist(prior: float) -> Attacker:
    """Pays nothing and tries one candidate; the target is in the data with probability `prior`: success prior / g.

    >>> from unmask.economics import price_records
    >>> price_records(journalist(0.5), [1, 2, 5]).success_probability
    array([0.5 , 0.25, 0.1 ])
    """
    return Attacker(gain=1.0, max_fines=0, max_tries=1, prior=prior)
