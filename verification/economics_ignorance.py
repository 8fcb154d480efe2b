"""Findings 4 and 5 of section 7.2.2 on a stand-in for the voters, and the paper's own arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from economics_case import (
    LARGEST,
    N_RECORDS,
    POPULATION,
    STATE,
    Counts,
    Floats,
    Records,
    case,
    oracle,
    surrogate,
    table,
)
from economics_register import from_census
from scipy.stats import binom
from show import Section, Verdict

from unmask.economics import price_records

SPREADS: Final = (0.5, 1.0, 1.25)
"""Spreads of the mean sizes: what the paper does not say, and what its counts depend on."""

PLACES: Final = (("b", "literal"), ("a", "folded"), ("b", "folded"), ("b", "undiscounted"))
"""Settings of constant detection and readings; the first two are those whose threshold is the paper's 48."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """The risk of each record when the size of its group is known before access, and when it is not."""

    records: Records
    known: Floats
    unknown: Floats

    @property
    def lower(self) -> Counts:
        """Sizes of the groups of those whose risk ignorance lowers."""
        return self.records.size[self.unknown < self.known - 1e-12]

    @property
    def higher(self) -> Counts:
        """Sizes of the groups of those whose risk ignorance raises."""
        return self.records.size[self.unknown > self.known + 1e-12]

    @property
    def same(self) -> float:
        """Share of the records whose risk is the same."""
        return 1 - (len(self.lower) + len(self.higher)) / len(self.known)


def compare(records: Records, setting: str, reading: str) -> Comparison:
    """Section 7.2.2: belief by equation (6), then what happens at the actual size."""
    attacker = case(setting, reading)
    known = price_records(attacker, records.size)
    unknown = price_records(
        attacker, records.size, population=POPULATION, cell_probability=records.probability, belief="binomial"
    )
    return Comparison(records, known.success_probability, unknown.success_probability)


def ignorance() -> Section:
    """Both directions, the sizes concerned, and how the counts follow the spread of the sizes."""
    populations = {f"spread {spread}": surrogate(spread) for spread in SPREADS}
    census = from_census()
    if census is not None:
        populations["census"] = census
    found = {(name, place): compare(records, *place) for name, records in populations.items() for place in PLACES}
    rows = [
        (
            name,
            f"{np.mean(comparison.records.size > 55):.1%}",
            reading,
            setting,
            f"{comparison.same:.1%}",
            f"{len(comparison.lower):,}",
            f"{len(comparison.higher):,}",
            f"{comparison.lower.min()} to {comparison.lower.max()}",
            f"{comparison.higher.min()} to {comparison.higher.max()}",
            f"{_break_even_mean(setting, reading):.2f}",
        )
        for (name, (setting, reading)), comparison in found.items()
    ]
    notes = (
        f"{N_RECORDS:,} records. spread: lognormal mean sizes, binomial sizes, calibrated to 64 % above 55 (seeded).",
        "census: Adult with ZIP codes by Census 2000, nothing calibrated (needs UNMASK_DATA).",
        "The voter register of 2015 and the paper's ZIP codes cannot be had, so its counts cannot be reproduced: they",
        "follow the number of records whose groups are near the threshold, which the paper does not state.",
        "access below: mean size under which he pays; above the known threshold, as he may still quit at little cost.",
    )
    return Section(
        "Findings 4 and 5: section 7.2.2, Figure 9",
        (
            "records",
            "above 55",
            "reading",
            "setting",
            "same",
            "lower",
            "higher",
            "sizes lower",
            "sizes higher",
            "access below",
        ),
        tuple(rows),
        notes,
        (*_verdicts(found), *_arithmetic()),
    )


def _worth_by_tree(setting: str, reading: str, mean: float) -> float:
    """What access is worth to who only knows the mean size: sizes binomial, each solved by a decision tree."""
    attacker, sizes = case(setting, reading), np.arange(1, LARGEST + 1)
    worth = np.array([oracle().decision_tree(attacker, int(size)).payoff_sunk for size in sizes])
    chance = binom.pmf(sizes, POPULATION, mean / POPULATION)
    return float(attacker.discount * (chance @ worth) - attacker.access_cost)


def _break_even_mean(setting: str, reading: str) -> float:
    """The mean size at which access is worth its price under a binomial belief, by bisection."""
    attacker = case(setting, reading)
    low, high = 1.0, 400.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        belief = price_records(
            attacker, [0], population=POPULATION, cell_probability=[middle / POPULATION], belief="binomial"
        )
        low, high = (middle, high) if belief.access[0] else (low, middle)
    return high


def _verdicts(found: dict[tuple[str, tuple[str, str]], Comparison]) -> Iterator[Verdict]:
    lower, higher = ([len(getattr(one, way)) for one in found.values()] for way in ("lower", "higher"))
    every = f"{len(found)} of {len(found)} populations and readings"
    yield Verdict("4: not knowing the size can lower the risk", "lowers", f"in {every}", min(lower) > 0)
    yield Verdict("5: not knowing the size can raise the risk", "raises", f"in {every}", min(higher) > 0)
    flips = {
        round(float(value), 2)
        for one in found.values()
        for values in (one.known, one.unknown)
        for value in values[one.known != one.unknown]
    }
    yield Verdict("4, 5: the risk goes from 0.63 to 0 or back", "0.63, 0", str(sorted(flips)), flips == {0.0, 0.63})
    between = {
        place: set(one.higher.tolist()) == set(range(table(*place).thresholds.attacked, table(*place).thresholds.sunk))
        for (_, place), one in found.items()
    }
    yield Verdict(
        "5: it rises exactly between the two thresholds",
        "from 48 to 51",
        "48..53 literal b, 48..50 folded a",
        all(between.values())
        and set(found["spread 1.0", PLACES[0]].higher.tolist()) == set(range(48, 54))
        and set(found["spread 1.0", PLACES[1]].higher.tolist()) == set(range(48, 51)),
    )
    below = all(one.lower.max() < table(*place).thresholds.attacked for (_, place), one in found.items())
    yield Verdict("4: it falls only below the known threshold", "below 48", "below it everywhere", below)
    mean = _break_even_mean(*PLACES[0])
    left = _worth_by_tree(*PLACES[0], mean) / case(*PLACES[0]).gain
    text = f"access, literal b: worth nothing at a mean size of {mean:.2f}, by decision trees"
    yield Verdict(text, "0", f"{left:.0e} gains", abs(left) < 1e-6)
    never = all(
        one.unknown[one.records.size > 55].max() == 0 for (_, place), one in found.items() if place[1] != "undiscounted"
    )
    yield Verdict("larger than 55: no risk, even unknown [literal, folded]", "0", "0" if never else "some", never)
    last = table("b", "undiscounted").thresholds.sunk
    yield Verdict(
        "larger than 55: no risk, even unknown [undiscounted]",
        "0",
        f"attacked up to {last - 1 if last else LARGEST}",
        last is not None and last <= 56,
        required=False,
    )
    for name, published, values in (
        ("records with lower risk", 1118, lower),
        ("records with higher risk", 802, higher),
    ):
        yield Verdict(
            f"{name} (depends on the register)",
            f"{published:,}",
            f"{min(values):,} to {max(values):,}",
            published in values,
            required=False,
        )
    above = {name: float(np.mean(one.records.size > 55)) for (name, place), one in found.items() if place == PLACES[0]}
    if "census" in above:
        yield Verdict(
            "records in groups above 55, census, not calibrated",
            "64 %",
            f"{above['census']:.1%}",
            abs(above["census"] - 0.64) < 0.05,
        )
    shares = {name: one.same for (name, place), one in found.items() if place == PLACES[0]}
    yield Verdict(
        "records with the same risk (depends on the register)",
        "94 %",
        ", ".join(f"{share:.1%} {name}" for name, share in shares.items()),
        all(round(share, 2) == 0.94 for share in shares.values()),
        required=False,
    )


def _arithmetic() -> Iterator[Verdict]:
    """What the paper's numbers say of each other."""
    prior = POPULATION / STATE
    yield Verdict("prior: 6,018,999 of 9,553,967", "0.63", f"{prior:.4f}", round(prior, 2) == 0.63)
    q = case("c").detection_at(2)
    yield Verdict(
        "detection of the first two tries",
        "0.01, 0.012",
        f"{q[0]:.5f}, {q[1]:.5f}",
        bool(np.all(q.round(3) == (0.01, 0.012))),
    )
    yield Verdict("30,641 same + 1,920 other", f"{N_RECORDS:,}", f"{30_641 + 1920:,}", N_RECORDS == 30_641 + 1920)
    yield Verdict("1,118 lower + 802 higher", "1,920", f"{1118 + 802:,}", 1118 + 802 == 1920)
    for text, part, whole, published in (
        ("1,118 of 1,920", 1118, 1920, 58),
        ("802 of 1,920", 802, 1920, 42),
        ("30,641 of 32,561", 30_641, N_RECORDS, 94),
        ("20,891 of 32,561", 20_891, N_RECORDS, 64),
    ):
        yield Verdict(text, f"{published} %", f"{part / whole:.1%}", round(100 * part / whole) == published)
    yield Verdict("13,444 s / 616 s", "about 21", f"{13_444 / 616:.1f}", int(13_444 / 616) == 21)
