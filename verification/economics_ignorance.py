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
    draw_records,
    oracle,
    table,
)
from economics_register import read_census
from scipy.stats import binom
from show import Section, Verdict

from unmask.economics import price_records

SPREADS: Final = (0.5, 1.0, 1.25)
"""Spreads of the mean sizes: the paper does not state them, and its counts depend on them."""

PLACES: Final = (("b", "literal"), ("a", "folded"), ("b", "folded"), ("b", "undiscounted"))
"""Settings of constant detection and readings; the first two are those whose threshold is the paper's 48."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """The risk of each record if the size of its group is known before access, and if it is not."""

    records: Records
    known_size: Floats
    unknown_size: Floats

    @property
    def lower(self) -> Counts:
        """Sizes of the groups of records whose risk ignorance lowers."""
        return self.records.size[self.unknown_size < self.known_size - 1e-12]

    @property
    def higher(self) -> Counts:
        """Sizes of the groups of records whose risk ignorance raises."""
        return self.records.size[self.unknown_size > self.known_size + 1e-12]

    @property
    def share_equal(self) -> float:
        """Share of the records whose risk is equal."""
        return 1 - (len(self.lower) + len(self.higher)) / len(self.known_size)

    @property
    def share_large(self) -> float:
        """Share of the records in groups above 55."""
        return float(np.mean(self.records.size > 55))


Comparisons = dict[tuple[str, tuple[str, str]], Comparison]
"""Comparison by population, and by setting and reading."""


def compare(records: Records, setting: str, reading: str) -> Comparison:
    """Compare risks (section 7.2.2): belief by equation (6), then the outcome at the actual size."""
    attacker = case(setting, reading)
    options = {"population": POPULATION, "cell_probability": records.probability, "belief": "binomial"}
    prices = price_records(attacker, records.size), price_records(attacker, records.size, **options)
    return Comparison(records, *(price.success_probability for price in prices))


def verify_ignorance() -> Section:
    """Check both directions, the sizes concerned, and the counts by the spread of the sizes."""
    populations = {f"spread {spread}": draw_records(spread) for spread in SPREADS}
    census = read_census()
    if census is not None:
        populations["census"] = census
    comparisons = {(name, place): compare(records, *place) for name, records in populations.items() for place in PLACES}
    header = ("same", "lower", "higher", "sizes lower", "sizes higher", "access below")
    return Section(
        "Findings 4 and 5: section 7.2.2, Figure 9",
        ("records", "above 55", "setting", "reading", *header),
        (
            (
                *(name, f"{c.share_large:.1%}", *place, f"{c.share_equal:.1%}", len(c.lower), len(c.higher)),
                *(f"{sizes.min()} to {sizes.max()}" for sizes in (c.lower, c.higher)),
                f"{_break_even_mean(*place):.2f}",
            )
            for (name, place), c in comparisons.items()
        ),
        (
            f"{N_RECORDS:,} records. spread: lognormal mean sizes, binomial sizes, calibrated to 64 % above 55.",
            "census: Adult with ZIP codes by Census 2000, nothing calibrated (needs UNMASK_DATA).",
            "The voter register of 2015 and its ZIP codes are not available, so its counts cannot be reproduced.",
            "They depend on the records whose groups are near the threshold, which the paper does not state.",
            "access below: mean size under which the attacker pays; above the threshold of a known size, as",
            "quitting is cheap.",
        ),
        (*_directions(comparisons), *_sizes(comparisons), *_counts(comparisons), *_arithmetic()),
    )


def _worth_by_tree(setting: str, reading: str, mean: float) -> float:
    """Return the worth of access if only the mean size is known: sizes binomial, each solved by a decision tree."""
    attacker, sizes = case(setting, reading), np.arange(1, LARGEST + 1)
    worth = np.array([oracle().decision_tree(attacker, int(size)).payoff_sunk for size in sizes])
    probability = binom.pmf(sizes, POPULATION, mean / POPULATION)
    return float(attacker.discount * (probability @ worth) - attacker.access_cost)


def _break_even_mean(setting: str, reading: str) -> float:
    """Return the mean size at which access is worth its price under a binomial belief, by bisection."""
    attacker = case(setting, reading)
    low, high = 1.0, 400.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        p = [middle / POPULATION]
        price = price_records(attacker, [0], population=POPULATION, cell_probability=p, belief="binomial")
        low, high = (middle, high) if price.access[0] else (low, middle)
    return high


def _directions(comparisons: Comparisons) -> Iterator[Verdict]:
    every = f"in {len(comparisons)} of {len(comparisons)} populations and readings"
    lowers, raises = (all(len(getattr(c, way)) for c in comparisons.values()) for way in ("lower", "higher"))
    yield Verdict("4: not knowing the size can lower the risk", "lowers", every, lowers)
    yield Verdict("5: not knowing the size can raise the risk", "raises", every, raises)
    flips = {
        round(float(value), 2)
        for c in comparisons.values()
        for values in (c.known_size, c.unknown_size)
        for value in values[c.known_size != c.unknown_size]
    }
    yield Verdict("4, 5: the risk goes from 0.63 to 0 or back", "0.63, 0", str(sorted(flips)), flips == {0.0, 0.63})


def _sizes(comparisons: Comparisons) -> Iterator[Verdict]:
    thresholds = {place: table(*place).thresholds for place in PLACES}
    between = all(
        set(c.higher.tolist()) == set(range(thresholds[place].attacked or 0, thresholds[place].sunk or 0))
        for (_, place), c in comparisons.items()
    )
    literal, folded = (set(comparisons["spread 1.0", place].higher.tolist()) for place in PLACES[:2])
    exact = literal == set(range(48, 54)) and folded == set(range(48, 51))
    claim = "5: it rises exactly between the two thresholds"
    yield Verdict(claim, "from 48 to 51", "48..53 literal b, 48..50 folded a", between and exact)
    below = all(c.lower.max() < (thresholds[place].attacked or 0) for (_, place), c in comparisons.items())
    yield Verdict("4: it falls only below the known threshold", "below 48", "below it everywhere", below)
    mean = _break_even_mean(*PLACES[0])
    worth = _worth_by_tree(*PLACES[0], mean) / case(*PLACES[0]).gain
    claim = f"access, literal b: worth nothing at a mean size of {mean:.2f}, by decision trees"
    yield Verdict(claim, "0", f"{worth:.0e} gains", abs(worth) < 1e-6)
    never = all(
        c.unknown_size[c.records.size > 55].max() == 0
        for (_, place), c in comparisons.items()
        if place[1] != "undiscounted"
    )
    yield Verdict("larger than 55: no risk, even unknown [literal, folded]", "0", "0" if never else "some", never)
    sunk = thresholds["b", "undiscounted"].sunk
    ours, holds = f"attacked up to {sunk - 1 if sunk else LARGEST}", sunk is not None and sunk <= 56
    yield Verdict("larger than 55: no risk, even unknown [undiscounted]", "0", ours, holds, required=False)


def _counts(comparisons: Comparisons) -> Iterator[Verdict]:
    """Compare counts, which depend on the register."""
    for way, published in (("lower", 1118), ("higher", 802)):
        counts = [len(getattr(c, way)) for c in comparisons.values()]
        claim, ours = f"records with {way} risk (depends on the register)", f"{min(counts):,} to {max(counts):,}"
        yield Verdict(claim, published, ours, published in counts, required=False)
    by_name = {name: c for (name, place), c in comparisons.items() if place == PLACES[0]}
    if "census" in by_name:
        share = by_name["census"].share_large
        claim = "records in groups above 55, census, not calibrated"
        yield Verdict(claim, "64 %", f"{share:.1%}", abs(share - 0.64) < 0.05)
    ours = ", ".join(f"{c.share_equal:.1%} {name}" for name, c in by_name.items())
    holds = all(round(c.share_equal, 2) == 0.94 for c in by_name.values())
    claim = "records with the same risk (depends on the register)"
    yield Verdict(claim, "94 %", ours, holds, required=False)


def _arithmetic() -> Iterator[Verdict]:
    """Compare the paper's numbers with each other."""
    prior, q = POPULATION / STATE, case("c").detection_at(2)
    yield Verdict("prior: 6,018,999 of 9,553,967", "0.63", f"{prior:.4f}", round(prior, 2) == 0.63)
    ours = f"{q[0]:.5f}, {q[1]:.5f}"
    yield Verdict("detection of the first two tries", "0.01, 0.012", ours, bool(np.all(q.round(3) == (0.01, 0.012))))
    yield Verdict("30,641 same + 1,920 other", N_RECORDS, 30_641 + 1920, N_RECORDS == 30_641 + 1920)
    yield Verdict("1,118 lower + 802 higher", 1920, 1118 + 802, 1118 + 802 == 1920)
    for part, whole, published in ((1118, 1920, 58), (802, 1920, 42), (30_641, N_RECORDS, 94), (20_891, N_RECORDS, 64)):
        holds = round(100 * part / whole) == published
        yield Verdict(f"{part:,} of {whole:,}", f"{published} %", f"{part / whole:.1%}", holds)
    yield Verdict("13,444 s / 616 s", "about 21", f"{13_444 / 616:.1f}", int(13_444 / 616) == 21)
