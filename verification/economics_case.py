"""The case study of "Process-driven data privacy" (Xia et al., CIKM 2015): settings, readings and records."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from unmask.economics import Attacker, ExploitationTable, exploitation_table

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

POPULATION: Final = 6_018_999
"""Voters of North Carolina without missing values, section 6.1."""

STATE: Final = 9_553_967
"""People of North Carolina by the census, section 6.1."""

N_RECORDS: Final = 32_561
"""Records of Adult, section 6.1."""

LARGEST: Final = 120
"""Largest group that is looked at; no reading attacks beyond 91."""

SETTINGS: Final = {"a": (math.inf, 0.0), "b": (1, 0.0), "b'": (1, 0.18), "c": (math.inf, 0.18)}
"""Fines at most and growth of detection. The paper's b leaves the growth open, as if it did not matter: b and b'."""

READINGS: Final[dict[str, dict[str, Any]]] = {
    "literal": {"profile": "literal"},
    "folded": {"profile": "folded"},
    "undiscounted": {"profile": "undiscounted"},
}
"""The paper does not state its discount; see `unmask.economics.attacker.PROFILES`."""


def case(setting: str, reading: str = "literal", **changes: Any) -> Attacker:
    """Return the attacker of section 7.2 in a setting and a reading."""
    max_fines, growth = SETTINGS[setting]
    amounts = {
        "gain": 8000,
        "access_cost": 100,
        "exploit_cost": 10,
        "fine": 10_000,
        "max_fines": max_fines,
        "detection_base": -4.59,
        "detection_growth": growth,
        "prior": POPULATION / STATE,
    }
    return Attacker(**{**amounts, **READINGS[reading], **changes})


def sensitivity_case(setting: str, reading: str, **changes: Any) -> Attacker:
    """Return the attacker of section 7.3: the target is surely in the data, a gain of 1,000, a fine of 20,000."""
    return case(setting, reading, **{"gain": 1000, "fine": 20_000, "prior": 1.0, **changes})


@cache
def table(setting: str, reading: str) -> ExploitationTable:
    """Return the case study by size of group."""
    return exploitation_table(case(setting, reading), LARGEST)


@dataclass(frozen=True, eq=False)
class Records:
    """A stand-in for the 32,561 records: sizes of their groups among the voters, and chances of their cells."""

    size: Counts
    probability: Floats


def draw_records(spread: float, *, seed: int = 2015, n: int = N_RECORDS) -> Records:
    """Return groups whose mean sizes are lognormal with this spread, sizes binomial, 64 % of the sizes above 55.

    The voter register of 2015 and the synthesised ZIP codes are not available, and the paper states only the share
    above 55. The median is set so that the share is met, to a fifth of a percent.
    """
    shape = np.exp(spread * np.random.default_rng([seed, 0]).standard_normal(n))

    def draw(median: float) -> Records:
        p = np.minimum(median * shape / POPULATION, 1.0)
        return Records(np.random.default_rng([seed, 1]).binomial(POPULATION, p), p)

    low, high = 1.0, 10_000.0
    while high / low > 1 + 1e-6:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if np.mean(draw(middle).size > 55) < 20_891 / N_RECORDS else (low, middle)
    return draw(high)


@cache
def oracle() -> ModuleType:
    """Return the solvers of the tests: explicit states, linear programs, a decision tree."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.economics import literal

    return literal
