"""What a study keeps: one row for each measure of each adversary on each release."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Row:
    """One measure of one adversary on one release.

    release, adversary : who attacked what, as the caller named them
    target             : what he is after: "identity", or the name of a sensitive column
    measure, unit      : the quantity
    direction          : whether the adversary wants it "high" or "low"
    prior, posterior   : its mean over the targets before and after he saw the release
    gain               : what the release gave him, positive when he profits, whatever the direction
    low, high          : 95 % interval of `posterior`, None where there is none
    interval           : what the interval is over, and how it was made
    n, n_observations  : targets, and distinct observations they produced
    worst              : the value at the worst-off target, and the observation that attains it
    quantiles          : of the value over targets, at 5, 25, 50, 75 and 95 %
    status, note       : what the belief has earned, see `Posterior.status`, or `refuted` where the truth took it away;
                         what a reader must know about this number
    linked_to          : the other data about people that names are taken from, such as "register"; "" for none
    """

    release: str
    adversary: str
    target: str
    measure: str
    unit: str
    direction: Literal["high", "low"]
    prior: float
    posterior: float
    gain: float
    low: float | None
    high: float | None
    interval: str
    n: int
    n_observations: int
    worst: float
    worst_observation: int
    quantiles: tuple[float, ...]
    status: str
    note: str = ""
    linked_to: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The row as plain values, ready for JSON (infinities are written as the text "inf")."""
        return {key: _plain(value) for key, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
